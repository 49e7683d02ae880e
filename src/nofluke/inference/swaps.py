"""Are two detectors alike? Swap their contributions unit by unit, and rank the studentised difference among the swaps.

Were neither detector better, each unit might as well have been told with their names exchanged. All sums over units
that the difference and its linearised variance need are linear in the signs of the units, so that units which differ in
the same way need one number together: how many of them are exchanged.

The section "Comparing detectors" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, FloatArray, IntArray
from nofluke.inference.interval import ALARMS, EVENTS, FOUND, HITS, MEASURES

Counts = IntArray | FloatArray

MOST_LISTED = 2**15  # swaps that are enumerated, rather than drawn
FEW = 20  # swaps as extreme as the data, below which more are drawn
BLOCK = 1_000_000  # numbers of units in memory at a time
SLACK = 1e-9  # squares of statistics that are mathematically equal differ by less
NO_VARIANCE = 1e-13  # of the squares that it is summed from: the rest is rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class Swapped:
    """Differences of precision, recall and F1 of two detectors: arrays of three.

    Attributes
    ----------
    difference : float array
        The first detector's value less the second's; NaN where one of them is undefined.
    squares : float array
        Σ d_i² of the linear terms d_i of the difference, unit by unit; NaN likewise.
    pvalue : float array
        Share of swaps whose |difference| / √Σd² is at least the observed one; NaN likewise.
    differing : int array
        Units in which the two detectors differ in what the measure counts; with K of them no p-value is below 2^(1 -
        K).
    smallest : float array
        The smallest p-value that could have come out.
    n_resamples : int array
        Swaps drawn; 0 where all were enumerated.
    """

    difference: FloatArray
    squares: FloatArray = field(repr=False)
    pvalue: FloatArray
    differing: IntArray
    smallest: FloatArray
    n_resamples: IntArray


def swap_test(first: Counts, second: Counts, *, n_resamples: int, most: int, seed: int) -> Swapped:
    """Exchange the counts of two detectors (K x 4) unit by unit: all swaps if there are few kinds, else random ones.

    Counts need not be whole: cuts that follow the scores move parts of them (`nofluke.inference.compare`).

    A measure that fewer than 20 of ``n_resamples`` swaps reach is drawn on for, up to ``most`` of them in all or until
    20 do (Besag and Clifford 1991): p is then 20 over the draws, else (b + 1)/(n + 1). A swap after which a measure is
    undefined, since one detector is left without alarms, counts as extreme: p can only become larger by it.

    >>> a, b = np.array([[1, 1, 1, 1]] * 5), np.array([[1, 0, 1, 0]] * 5)
    >>> found = swap_test(a, b, n_resamples=99, most=99, seed=0)
    >>> found.difference, found.pvalue  # two of 2^5 swaps: as it is, and with all units exchanged
    (array([1., 1., 1.]), array([0.0625, 0.0625, 0.0625]))
    """
    kinds = _kinds(first, second)
    observed, difference, squares = kinds.statistics(kinds.observed[None].astype(kinds.linear.dtype))
    bar = np.where(np.isnan(difference[0]), np.nan, observed[0] * (1 - SLACK))
    differing = np.array([(first != second)[:, used].any(axis=1).sum() for used in _USED])
    least = 2.0 ** (1 - np.maximum(differing, 1).astype(np.float64))
    if kinds.n_listed <= MOST_LISTED:
        kept, weights = kinds.listed()
        pvalue = weights @ (kinds.statistics(kept)[0] >= bar)
        drawn = np.zeros(3, dtype=np.int64)
    else:
        pvalue, drawn = _drawn(kinds, bar, n_resamples, most, seed)
        least = np.maximum(least, 1 / (max(most, n_resamples) + 1))
    return Swapped(
        difference=difference[0],
        squares=squares[0],
        pvalue=np.where(np.isnan(bar), np.nan, np.minimum(pvalue, 1.0)),
        differing=differing,
        smallest=least,
        n_resamples=drawn,
    )


_USED = ([ALARMS, HITS], [EVENTS, FOUND], [ALARMS, HITS, EVENTS, FOUND])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kinds:
    """Units that differ, by how: how many there are of each kind, how many are not turned round, what sums are made of.

    With x = a + b and y = a - b of a unit's counts, exchanging it turns y round. ``linear`` has y and the products x y
    of each kind; ``total``, ``alike`` and ``apart`` are Σ x, Σ x xᵀ and Σ y yᵀ over all units, which no swap changes.
    """

    sizes: IntArray
    observed: FloatArray
    linear: AnyArray
    total: FloatArray
    alike: FloatArray
    apart: FloatArray

    @property
    def n_listed(self) -> float:
        """How many swaps there are to go through."""
        return math.prod(float(n + 1) for n in self.sizes.tolist())

    def listed(self) -> tuple[AnyArray, FloatArray]:
        """All swaps, and how likely each is: the units of a kind that are not exchanged are binomial."""
        kept = np.indices(tuple(self.sizes + 1)).reshape(len(self.sizes), int(self.n_listed)).T
        weights = np.ones(len(kept))
        for n, k in zip(self.sizes.tolist(), kept.T, strict=True):
            weights *= np.array([math.comb(n, i) / 2**n for i in range(n + 1)])[k]
        return kept.astype(self.linear.dtype), weights

    def draw(self, rng: np.random.Generator, n: int) -> AnyArray:
        """Random swaps: for each kind, how many units are not exchanged."""
        kept = np.empty((n, len(self.sizes)), dtype=self.linear.dtype)
        single = int(np.count_nonzero(self.sizes == 1))
        bits = np.frombuffer(rng.bytes(-(-n * single // 8)), dtype=np.uint8)
        kept[:, :single] = np.unpackbits(bits, count=n * single).reshape(n, -1)
        for g in range(single, len(self.sizes)):
            kept[:, g] = rng.binomial(self.sizes[g], 0.5, n)
        return kept

    def statistics(self, kept: AnyArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Of each swap, difference² / Σ d², the difference and Σ d², for three measures; infinite where undefined."""
        # of those kept less those exchanged
        sums = 2 * (kept @ self.linear).astype(np.float64) - self.sizes @ self.linear.astype(np.float64)
        crossed = sums[:, 4:].reshape(-1, 4, 4)
        with np.errstate(divide="ignore", invalid="ignore"):  # a detector without alarms, or units that all agree
            values, slopes = zip(*(_sloped((self.total + side * sums[:, :4]) / 2) for side in (1, -1)), strict=True)
            difference = values[0] - values[1]
            # d_i is half of (g_A - g_B) x_i + s_i (g_A + g_B) y_i, with g the slopes of a measure in its four sums
            minus, plus = slopes[0] - slopes[1], slopes[0] + slopes[1]
            squares = _form(minus, self.alike) + _form(plus, self.apart) + 2 * ((minus @ crossed) * plus).sum(-1)
            rounding = NO_VARIANCE * _form(np.abs(slopes[0]) + np.abs(slopes[1]), self.alike)
            squares = np.where(squares <= rounding, 0.0, squares / 4)
            ranked = np.where(np.abs(difference) <= SLACK, 0.0, difference**2 / squares)
        return np.where(np.isnan(difference), np.inf, ranked), difference, squares


def _form(slopes: FloatArray, matrix: FloatArray) -> FloatArray:
    """The quadratic form of a matrix in each of many slopes."""
    flat = slopes.reshape(-1, 4)  # one product, where a stack would make one each
    return np.asarray(((flat @ matrix) * flat).sum(axis=1).reshape(slopes.shape[:-1]))


def _kinds(first: Counts, second: Counts) -> _Kinds:
    x, y = (np.asarray(first) + second).astype(np.float64), (np.asarray(first) - second).astype(np.float64)
    differs = y.any(axis=1)
    apart = y[differs]
    # a unit and the same one exchanged are of one kind: the first count that differs is turned to be larger
    turn = np.sign(np.take_along_axis(apart, (apart != 0).argmax(axis=1)[:, None], axis=1))
    rows, which, sizes = np.unique(
        np.hstack([x[differs], apart * turn]), axis=0, return_inverse=True, return_counts=True
    )
    observed = np.bincount(which.ravel(), turn[:, 0] > 0, len(sizes))
    order = np.argsort(sizes, kind="stable")  # kinds of one unit come first
    rows, sizes = rows[order], sizes[order]
    linear = np.hstack([rows[:, 4:], (rows[:, :4, None] * rows[:, None, 4:]).reshape(len(rows), 16)])
    # whole numbers up to 2^24 are exact in short floats, which are faster
    short = (sizes @ np.abs(linear)).max(initial=0.0) < 2**24 and not (linear % 1).any()
    return _Kinds(
        sizes=sizes,
        observed=observed[order].astype(np.float64),
        linear=linear.astype(np.float32 if short else np.float64),
        total=x.sum(axis=0),
        alike=x.T @ x,
        apart=y.T @ y,
    )


def _sloped(total: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Measures of N x 4 sums, N x 3, and their slopes in each of the sums, N x 3 x 4; as `linearise` has them."""
    slopes = np.zeros((len(total), len(MEASURES), 4))
    # where cuts give back more than there is, a share ends at 0 or 1
    p, r = (np.clip(total[:, part] / total[:, of], 0.0, 1.0) for part, of in ((HITS, ALARMS), (FOUND, EVENTS)))
    f1 = np.where(p + r == 0, 0.0, 2 * p * r / (p + r))
    slopes[:, 0, HITS], slopes[:, 0, ALARMS] = 1 / total[:, ALARMS], -p / total[:, ALARMS]
    slopes[:, 1, FOUND], slopes[:, 1, EVENTS] = 1 / total[:, EVENTS], -r / total[:, EVENTS]
    by_p, by_r = (np.where(p + r == 0, 0.0, 2 * (x / (p + r)) ** 2)[:, None] for x in (r, p))
    slopes[:, 2] = by_p * slopes[:, 0] + by_r * slopes[:, 1]
    return np.stack([p, r, f1], axis=1), slopes


def _drawn(kinds: _Kinds, bar: FloatArray, n_resamples: int, most: int, seed: int) -> tuple[FloatArray, IntArray]:
    """P-values of three measures from random swaps, and how many were drawn for each."""
    pvalue, drawn = np.full(3, np.nan), np.zeros(3, dtype=np.int64)
    reached, done = np.zeros(3, dtype=np.int64), 0
    for extreme in _blocks(kinds, bar, n_resamples, most, seed):
        counts = reached + np.cumsum(extreme, axis=0)
        for m in np.flatnonzero(drawn == 0):
            if done >= n_resamples and counts[-1, m] >= FEW:
                at = done + int(np.searchsorted(counts[:, m], FEW)) + 1
                pvalue[m], drawn[m] = FEW / at, at
        reached, done = counts[-1], done + len(extreme)
        ended = (drawn == 0) & ((done >= most) | ((done == n_resamples) & (reached >= FEW)))
        pvalue[ended], drawn[ended] = (reached[ended] + 1) / (done + 1), done
        if (drawn > 0)[~np.isnan(bar)].all():
            break
    return pvalue, drawn


def _blocks(kinds: _Kinds, bar: FloatArray, n_resamples: int, most: int, seed: int) -> Iterator[BoolArray]:
    """Which random swaps are as extreme as the data, block by block; one block ends exactly at ``n_resamples``."""
    rng, rows = np.random.default_rng(seed), max(BLOCK // len(kinds.sizes), 1)
    for begin, end in ((0, n_resamples), (n_resamples, most)):
        for at in range(begin, end, rows):
            yield kinds.statistics(kinds.draw(rng, min(rows, end - at)))[0] >= bar
