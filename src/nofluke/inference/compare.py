"""Several detectors on one series: swaps, differences with intervals, and the comparison.

The section "Comparing detectors" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal, Unpack

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, ByValue, FloatArray, IntArray, inner, product
from nofluke.data.columns import frame_columns
from nofluke.errors import InputError, say, shown
from nofluke.inference.chance import f_test, significant
from nofluke.inference.corrections import holm
from nofluke.inference.interval import (
    ALARMS,
    EVENTS,
    FEWEST,
    FOUND,
    HITS,
    LIGHTEST,
    MEASURES,
    NAMES,
    UNITS,
    Interval,
    Intervals,
    Kind,
    check_level,
    few_hold_most,
    intervals_of,
    linearise,
    weighed,
)
from nofluke.inference.needed import NeededToCompare, needed_to_compare
from nofluke.measures.episodes import units_and_steps, units_of
from nofluke.nulls.base import check_resamples, some_seed
from nofluke.nulls.choice import choose
from nofluke.plain import check_alpha, check_word, finite_or_none
from nofluke.progress import progress_bar
from nofluke.series.arguments import About, AboutDetector, takes
from nofluke.series.between import Made, trial_of
from nofluke.series.counting import reaching
from nofluke.series.detector import AlarmRule, Cuts, choose_cut
from nofluke.series.names import NONE, Names
from nofluke.series.reading import HigherIs, Known, Sequence, nothing_shared, prepare, read_given
from nofluke.series.tolerance import Length, Tolerance, as_tolerance
from nofluke.series.trial import Cell, judge_together
from nofluke.text.exports import Exports
from nofluke.text.numbers import show_p
from nofluke.text.tables import SCHEMA, Table, noted, plural, show_share, there_are_no

Counts = IntArray | FloatArray

MOST_LISTED = 2**15  # swaps that are enumerated, rather than drawn
FEW = 20  # swaps as extreme as the data, below which more are drawn
BLOCK = 1_000_000  # numbers of units in memory at a time
PIECE = 2**12  # swaps whose statistics are computed at a time: they stay in the processor's cache
LOOKED_UP = 60  # units of a kind up to which binomial numbers are looked up
CELLS = 2**12  # of uniform numbers, in a table of binomial ones
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
        pvalue = weights @ kinds.reaching(bar, kept)
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


_USED = (slice(ALARMS, HITS + 1), slice(EVENTS, FOUND + 1), slice(ALARMS, FOUND + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kinds:
    """Units that differ, by how: how many there are of each kind, how many are not turned round, what sums are made of.

    With x = a + b and y = a - b of a unit's counts, exchanging it turns y round. ``linear`` has y and the products x y
    of each kind, less products that are 0 in all; ``used`` says which of the 20 it has, and ``every`` has the sums of
    all 20 over all units. ``total``, ``alike`` and ``apart`` are Σ x, Σ x xᵀ and Σ y yᵀ, which no swap changes.
    """

    sizes: IntArray
    observed: FloatArray
    linear: AnyArray
    used: BoolArray
    every: FloatArray
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
            weights *= _halves(n)[k]
        return kept.astype(self.linear.dtype), weights

    def draw(self, rng: np.random.Generator, n: int) -> AnyArray:
        """Random swaps: for each kind, how many units are not exchanged."""
        kept = np.empty((n, len(self.sizes)), dtype=self.linear.dtype)
        single, few = np.searchsorted(self.sizes, [1, LOOKED_UP], side="right").tolist()
        bits = np.frombuffer(rng.bytes(-(-n * single // 8)), dtype=np.uint8)
        kept[:, :single] = np.unpackbits(bits, count=n * single).reshape(n, -1)
        step = max(4 * PIECE // n, 1)
        for begin in range(single, few, step):
            end = min(begin + step, few)
            kept[:, begin:end] = _looked_up(self.sizes[begin:end], rng.random((end - begin, n))).T
        kept[:, few:] = rng.binomial(self.sizes[few:, None], 0.5, (len(self.sizes) - few, n)).T
        return kept

    def reaching(self, bar: FloatArray, kept: AnyArray) -> BoolArray:
        """Which swaps are as extreme as the data in each measure."""
        pieces = range(0, len(kept), PIECE)
        return np.concatenate([self.statistics(kept[begin : begin + PIECE])[0] >= bar for begin in pieces])

    def statistics(self, kept: AnyArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Of each swap, difference² / Σ d², the difference and Σ d², for three measures; infinite where undefined.

        Sums along swaps are of two or four terms, so that a swap has the same numbers whichever others there are.
        """
        # of those kept less those exchanged; sums are rows, so that all that follows runs along swaps
        sums = np.zeros((len(self.used), len(kept)))
        sums[self.used] = product(kept, self.linear).T
        sums *= 2
        sums -= self.every[:, None]
        crossed = sums[4:].reshape(4, 4, -1)
        sides = (self.total[:, None, None] + np.array([[1.0], [-1.0]]) * sums[:4, None]) / 2
        with np.errstate(divide="ignore", invalid="ignore"):  # a detector without alarms, or units that all agree
            values, of_shares, of_f1 = _sloped(sides)
            difference = values[:, 0] - values[:, 1]
            squares = np.empty_like(difference)
            squares[:2] = _squares(of_shares, *map(_of_shares, (self.alike, crossed, self.apart)))
            squares[2] = _squares(of_f1, self.alike, crossed, self.apart)
            ranked = np.where(np.abs(difference) <= SLACK, 0.0, difference**2 / squares)
        return np.where(np.isnan(difference), np.inf, ranked).T, difference.T, squares.T


def _halves(n: int) -> FloatArray:
    """How likely each number of n units is to be kept, if each is with probability 1/2.

    >>> _halves(2)
    array([0.25, 0.5 , 0.25])
    """
    return np.array([math.comb(n, k) / 2**n for k in range(n + 1)])


@lru_cache(maxsize=1)
def _tables() -> tuple[FloatArray, AnyArray]:
    """For each n where binomial numbers end on the unit interval, and the number of each cell: -1 if it has several."""
    ends, numbers = np.ones((LOOKED_UP + 1, LOOKED_UP)), np.empty((LOOKED_UP + 1, CELLS), dtype=np.float32)
    edges = np.arange(CELLS + 1) / CELLS
    for n in range(LOOKED_UP + 1):
        ends[n, :n] = np.cumsum(_halves(n)[:-1])
        low, high = np.searchsorted(ends[n], edges[:-1], side="right"), np.searchsorted(ends[n], edges[1:])
        numbers[n] = np.where(low == high, low, -1)
    return ends, numbers.ravel()


def _looked_up(sizes: IntArray, uniform: FloatArray) -> AnyArray:
    """How many units of each kind are kept, a row of each: the binomial numbers in which uniform ones fall."""
    ends, numbers = _tables()
    at = (uniform * CELLS).astype(np.int64)
    at += CELLS * sizes[:, None]
    found = numbers.take(at)
    several = np.flatnonzero(found < 0)
    found.flat[several] = (ends[sizes[several // uniform.shape[1]]] < uniform.flat[several][:, None]).sum(axis=1)
    return found


def _of_shares(matrix: FloatArray) -> FloatArray:
    """Of a matrix of all four sums, those of precision's two, and of recall's."""
    return matrix.reshape(2, 2, 2, 2, *matrix.shape[2:])[(0, 1), :, (0, 1)]


def _squares(slopes: FloatArray, alike: FloatArray, crossed: FloatArray, apart: FloatArray) -> FloatArray:
    """Σ d² of each swap by the slopes of a measure in its sums, those of both sides; 0 where it is but rounding.

    ``alike`` and ``apart`` are matrices of these sums, ``crossed`` has one for each swap. Several measures at once come
    first in each of them.
    """
    # d_i is half of (g_A - g_B) x_i + s_i (g_A + g_B) y_i, with g the slopes
    a, b = slopes[..., 0, :], slopes[..., 1, :]
    less, more = a - b, a + b
    by_x = _times(alike[..., None], less) + 2 * _times(crossed, more)
    both = (less * by_x + more * _times(apart[..., None], more)).sum(axis=-2)
    size = ((np.abs(a) + np.abs(b)) * np.sqrt(alike.diagonal(axis1=-2, axis2=-1))[..., None]).sum(axis=-2)
    return np.where(both <= NO_VARIANCE * size**2, 0.0, both / 4)


def _times(matrix: FloatArray, columns: FloatArray) -> FloatArray:
    """A matrix, or one for each column, times columns."""
    return np.asarray((matrix * columns[..., None, :, :]).sum(axis=-2))


def _kinds(first: Counts, second: Counts) -> _Kinds:
    x, y = (np.asarray(first) + second).astype(np.float64), (np.asarray(first) - second).astype(np.float64)
    differs = y.any(axis=1)
    apart = y[differs]
    # a unit and the same one exchanged are of one kind: the first count that differs is turned to be larger
    turn = np.sign(np.take_along_axis(apart, (apart != 0).argmax(axis=1)[:, None], axis=1))
    rows = np.hstack([x[differs], apart * turn])
    ascending = np.lexsort(rows.T[::-1])
    rows = rows[ascending]
    first_ones = np.flatnonzero(np.append(True, (rows[1:] != rows[:-1]).any(axis=1))[: len(rows)])
    sizes = np.diff(first_ones, append=len(rows))
    observed = np.add.reduceat(turn[ascending, 0] > 0, first_ones, dtype=np.float64)
    order = np.argsort(sizes, kind="stable")  # kinds of one unit come first
    rows, sizes = rows[first_ones[order]], sizes[order]
    linear = np.hstack([rows[:, 4:], (rows[:, :4, None] * rows[:, None, 4:]).reshape(len(rows), 16)])
    used = np.ones(linear.shape[1], dtype=np.bool_)
    used[4:] = linear[:, 4:].any(axis=0)  # where both have the same events, no product with their difference
    # whole numbers up to 2^24 are exact in short floats, which are faster
    short = (sizes[:, None] * np.abs(linear)).sum(axis=0).max(initial=0.0) < 2**24 and not (linear % 1).any()
    return _Kinds(
        sizes=sizes,
        observed=observed[order],
        linear=linear[:, used].astype(np.float32 if short else np.float64, order="C"),
        used=used,
        every=(sizes[:, None] * linear).sum(axis=0),
        total=x.sum(axis=0),
        alike=np.einsum("ki,kj->ij", x, x),
        apart=np.einsum("ki,kj->ij", y, y),
    )


def _sloped(total: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Measures of 4 x ... sums, 3 x ..., as `linearise` has them; and the slopes of both shares, 2 x 2 x ..., and of
    F1, 4 x ..., in the sums that they use."""
    whole, part = total[[ALARMS, EVENTS]], total[[HITS, FOUND]]
    # where cuts give back more than there is, a share ends at 0 or 1
    shares = np.minimum(np.maximum(part / whole, 0.0), 1.0)
    p, r = shares
    none = p + r == 0
    f1 = np.where(none, 0.0, 2 * p * r / (p + r))
    slopes = np.stack([-shares / whole, 1 / whole], axis=1)
    by_share = np.where(none, 0.0, 2 * (shares[::-1] / (p + r)) ** 2)
    return np.concatenate([shares, f1[None]]), slopes, np.concatenate(by_share[:, None] * slopes)


def _drawn(kinds: _Kinds, bar: FloatArray, n_resamples: int, most: int, seed: int) -> tuple[FloatArray, IntArray]:
    """P-values of three measures from random swaps, and how many were drawn for each."""
    pvalue, drawn = np.full(3, np.nan), np.zeros(3, dtype=np.int64)
    reached, done = np.zeros(3, dtype=np.int64), 0
    for extreme in _blocks(kinds, bar, n_resamples, most, seed):
        counts = reached + np.count_nonzero(extreme, axis=0)
        for m in np.flatnonzero((drawn == 0) & (counts >= FEW)) if done >= n_resamples else ():
            at = done + int(np.flatnonzero(extreme[:, m])[FEW - reached[m] - 1]) + 1
            pvalue[m], drawn[m] = FEW / at, at
        reached, done = counts, done + len(extreme)
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
            yield kinds.reaching(bar, kinds.draw(rng, min(rows, end - at)))


# ---- differences of detectors, pair by pair: with an interval, a p-value by swaps

MOST_DRAWN = 50_000  # swaps of a pair, whatever the number of pairs
EXPECTED = 5  # hits, and misses, of the detector with fewer alarms
ALIKE = 2  # times as many alarms: either detector could be the other

Pair = tuple[str, str]
Side = tuple[int, float, str, str]
Units = Callable[[Pair], tuple[Counts, ...]]
Method = Literal["swaps", "swaps and t"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How much better the first of two detectors is than the second in one measure.

    Attributes
    ----------
    first, second, measure : str
    value : float
        The first detector's value less the second's, on the units that both have; NaN where one is undefined.
    low, high : float or None
        Interval of the difference; None with ``why_no_interval``.
    pvalue, corrected : float
        Two-sided, by ``method``; and corrected by Holm for all pairs. NaN where the difference is undefined, or
        with ``why_no_pvalue``.
    smallest : float
        The smallest p-value that could have come out.
    n_units, n_differing : int
        Units that both have, and those of them in which they differ in what the measure counts.
    n_resamples : int
        Swaps that were drawn; 0 where all of them were enumerated.
    method : {"swaps", "swaps and t"}
        Whether p is that of the swaps, or Student's where that is larger.
    error : float
        The standard error of the difference, by the jackknife over units; NaN where it is not known.
    """

    first: str
    second: str
    measure: str
    value: float
    low: float | None
    high: float | None
    why_no_interval: str
    why_no_pvalue: str
    pvalue: float
    corrected: float
    smallest: float
    n_units: int
    n_differing: int
    n_resamples: int
    method: Method
    error: float = math.nan

    def turned(self) -> Difference:
        """The same with the detectors exchanged."""
        low, high = (None if end is None else 0.0 - end for end in (self.high, self.low))
        return replace(self, first=self.second, second=self.first, value=0.0 - self.value, low=low, high=high)

    def in_words(self) -> str:
        """The difference and its interval."""
        return with_ends(self.value, *(math.nan if end is None else end for end in (self.low, self.high)))

    def to_dict(self) -> dict[str, Any]:
        """The difference as plain values; undefined ones are None."""
        return {
            "first": self.first,
            "second": self.second,
            "measure": self.measure,
            "difference": finite_or_none(self.value),
            "low": self.low,
            "high": self.high,
            "why_no_interval": self.why_no_interval,
            "why_no_pvalue": self.why_no_pvalue,
            "pvalue": finite_or_none(self.pvalue),
            "pvalue_corrected": finite_or_none(self.corrected),
            "smallest_pvalue": self.smallest,
            "n_units": self.n_units,
            "n_differing": self.n_differing,
            "n_resamples": self.n_resamples,
            "method": self.method,
            "error": finite_or_none(self.error),
        }


def with_ends(value: float, low: float, high: float) -> str:
    """A value with its interval, if it has one.

    >>> with_ends(0.5, 0.25, 0.75), with_ends(0.5, math.nan, math.nan)
    ('0.500 [0.250, 0.750]', '0.500')
    """
    return show_share(value) + ("" if math.isnan(low) else f" [{show_share(low)}, {show_share(high)}]")


def draws_needed(n_pairs: int, alpha: float, n_resamples: int) -> int:
    """How many swaps of a pair to draw at most: enough for 20 at Holm's first step, if that is affordable.

    >>> draws_needed(3, 0.05, 999), draws_needed(435, 0.05, 9_999)
    (1200, 50000)
    """
    return max(n_resamples, math.ceil(min(FEW * n_pairs / alpha, MOST_DRAWN)))


def all_differences(
    pairs: Iterable[Pair],
    units: Units,
    *,
    noun: Kind,
    level: float,
    n_resamples: int,
    most: int,
    seed: int,
    advance: Callable[[int], None],
) -> tuple[Difference, ...]:
    """All pairs in all measures, with p-values corrected for the pairs of a measure; ``units`` has a pair's counts.

    Where the cut of either follows its scores, a third array has what cuts take from the first and give to the second
    as units are exchanged. Swaps then are not exact, so Student's p counts where it is larger.
    The same seed serves each pair: what comes out for one does not depend on which others there are.
    """
    n = len(MEASURES)
    found: list[Difference] = []
    for done, pair in enumerate(pairs, start=1):
        first, second, *back = units(pair)
        tested = swap_test(*_moved(first, second, back), n_resamples=n_resamples, most=most, seed=seed)
        found += _differences(pair, first, second, back, tested, noun, level)
        advance(done)
    # what is undefined could have been defined: it counts among the tests
    corrected = [holm(np.nan_to_num([one.pvalue for one in found[m::n]], nan=1.0)) for m in range(n)]
    return tuple(
        replace(one, corrected=math.nan if math.isnan(one.pvalue) else float(corrected[i % n][i // n]))
        for i, one in enumerate(found)
    )


def _moved(first: Counts, second: Counts, back: list[Counts]) -> tuple[Counts, Counts]:
    """Counts less what cuts that follow the scores take from the first, and give to the second."""
    return (first - back[0], second + back[0]) if back else (first, second)


def _differences(
    pair: Pair, first: Counts, second: Counts, back: list[Counts], tested: Swapped, noun: Kind, level: float
) -> Iterator[Difference]:
    """Those of a pair in all measures, with p-values that are not corrected yet."""
    one, other = linearise(first), linearise(second)
    values = one.values - other.values
    if back:
        one, other = map(linearise, _moved(first, second, back))
    changes = one.left_out - other.left_out
    unlike, rare = _alarms(pair, first, second)
    of_alarms, of_events = _sides(pair, first, second)
    sides = {"precision": of_alarms, "recall": of_events, "f1": [*of_alarms, *of_events]}
    for m, measure in enumerate(MEASURES):
        value, change = float(values[m]), changes[:, m]
        few = rare if unlike and measure != "recall" else ""
        student = bool(back) or (measure != "recall" and unlike) or (measure == "precision" and bool(rare))
        holding, weight, why = _holding(sides[measure], noun)
        error = math.sqrt(max(holding - 1, 0) / max(holding, 1) * inner(change, change))
        pvalue = math.nan if few else float(tested.pvalue[m])
        if student and not math.isnan(pvalue):
            pvalue = max(pvalue, _student(value, error, weight - 1))
        low = high = None
        if math.isnan(value):
            why = f"{measure} is undefined"
        elif few:
            why = few
        elif not why and tested.squares[m] == 0:
            why = f"{noun} show no variation in the difference"
        elif not why:
            from scipy.special import stdtrit

            reach = float(stdtrit(weight - 1, (1 + level) / 2)) * error
            low, high = max(value - reach, -1.0), min(value + reach, 1.0)
        yield Difference(
            first=pair[0],
            second=pair[1],
            measure=measure,
            value=value,
            low=low,
            high=high,
            why_no_interval=why,
            why_no_pvalue=few,
            pvalue=pvalue,
            corrected=math.nan,
            smallest=float(tested.smallest[m]),
            n_units=len(change),
            n_differing=int(tested.differing[m]),
            n_resamples=int(tested.n_resamples[m]),
            method="swaps and t" if student else "swaps",
            error=error,
        )


def _student(value: float, error: float, df: float) -> float:
    """The two-sided p-value of a difference with a standard error of so many degrees of freedom; 1 without any."""
    from scipy.special import stdtr

    if not (df > 0 and error >= 0):  # leaving out the one unit that holds all leaves nothing
        return 1.0
    return 2 * float(stdtr(df, -abs(value) / error)) if error else 0.0


def _alarms(pair: Pair, first: Counts, second: Counts) -> tuple[bool, str]:
    """Whether numbers of alarms are unlike, and why few of the hits or misses of the detector with fewer are expected.

    Then swaps may take for a difference what is none: a detector that happens to have no miss shows no variance.
    """
    totals = [side.sum(axis=0) for side in (first, second)]
    fewer, more = sorted((int(total[ALARMS]), name) for total, name in zip(totals, pair, strict=True))
    if fewer[0] == 0:
        return False, ""
    unlike, every = more[0] > ALIKE * fewer[0], fewer[0] + more[0]
    hits = sum(int(total[HITS]) for total in totals)
    least = min(hits, every - hits)
    if fewer[0] * least >= EXPECTED * every:  # in whole numbers: fewer alarms x the share of the rarer kind
        return unlike, ""
    kind, alarms = "hits" if least == hits else "misses", plural(fewer[0], "alarm")
    return unlike, say("{} has only {}, of which fewer than {} {} are expected", fewer[1], alarms, EXPECTED, kind)


def _sides(pair: Pair, first: Counts, second: Counts) -> tuple[list[Side], list[Side]]:
    """Of alarms, and of events, for both detectors: how many units hold any, how many units of equal size these weigh,
    and what is said of them."""
    alarms, events = [], []
    for side, whose in zip((first, second), pair, strict=True):
        of_alarms, of_events = weighed(side)
        alarms.append((int(np.count_nonzero(side[:, ALARMS])), of_alarms, "alarm", f"{whose}: "))
        events.append((int(np.count_nonzero(side[:, EVENTS])), of_events, "event", ""))
    return alarms, events


def _holding(sides: list[Side], noun: Kind) -> tuple[int, float, str]:
    """The number of units behind a measure, how many units of equal size they weigh, and why these are too few.

    A unit counts if it holds what the measure is a share of: alarms, events or both. The side with fewer decides.
    """
    n, _, fewest, whose = min(sides)
    held, weight, heaviest, its = min(sides, key=lambda side: side[1])
    if n < FEWEST:
        return n, weight, f"{whose}{plural(n, *UNITS[noun])} with {fewest}s, fewer than {FEWEST}"
    if weight < LIGHTEST:
        why = few_hold_most(held, f"{heaviest}s", weight, noun)
        return n, weight, f"{its}{why}"
    return n, weight, ""


# ---- several detectors of one series: read beside the same labels, on the same steps

Given = dict[str, tuple[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector:
    """One of several detectors: its data as read, its threshold, the trial of one cell, and what counts as an alarm."""

    sequence: Sequence = field(repr=False)
    cuts: Cuts | None
    made: Made = field(repr=False)
    alarms: AlarmRule

    @property
    def cell(self) -> Cell:
        """The only one."""
        return self.made.trial.cell(0, 0)

    @property
    def predicted(self) -> BoolArray:
        """Whether each step that counts is predicted, before alarms that are close to each other become one."""
        if self.cuts is None:
            return np.asarray(self.sequence.predictions)[self.sequence.open_steps]
        return np.asarray(self.sequence.open_scores() >= self.cuts.compared[0])


def read_several(
    truth: Any, scores: Any, *, tolerance: Length | Tolerance = 0, **about: Any
) -> tuple[dict[str, Detector], tuple[str, ...]]:
    """All detectors, and notes on them, from the arguments of `compare`."""
    window, given = as_tolerance(tolerance), About.of(about)
    alarms = AlarmRule.of(**given.alarms)
    sequences, notes = _read(truth, scores, **given.reading)
    detectors: dict[str, Detector] = {}
    for name, sequence in sequences.items():
        try:
            cuts = choose_cut(sequence, **({} if sequence.scores is None else given.cut))
            made = trial_of(sequence, (window,), cuts, alarms)
        except InputError as error:
            raise error_of(name, error) from None
        detectors[name] = Detector(sequence=sequence, cuts=cuts, made=made, alarms=alarms)
    judge_together(one.made.trial for one in detectors.values())
    notes += _named({name: one.made.notes for name, one in detectors.items()})
    notes += [f"{name}: {note}" for name, one in detectors.items() if one.cuts is not None for note in one.cuts.notes]
    if all(sequence.scores is None for sequence in sequences.values()):
        choose_cut(next(iter(sequences.values())), **given.cut)  # refuses those
    return detectors, tuple(notes)


def error_of(name: str, error: InputError) -> InputError:
    """The error of one detector, which it names."""
    return InputError(problem=f"detector {shown(name)}", remedy=error.words)


def detectors_of(scores: Any, predictions: Any) -> Given:
    """For each detector, which argument it is of, and its values."""
    found: Given = {}
    for argument, value in (("scores", scores), ("predictions", predictions)):
        if value is None:
            continue
        items = list(value.items()) if isinstance(value, Mapping) else frame_columns(value)
        if items is None:
            raise InputError(
                argument=argument,
                value=value,
                problem=f"must be a dict of detectors, such as {{'a': {argument}_a, 'b': {argument}_b}}, or a data frame "
                "with a column for each",
                remedy="for one detector call nf.evaluate",
            )
        for name, values in items:
            if not isinstance(name, str) or not name:
                raise InputError(
                    argument=argument, problem=f"has a detector called {shown(name)}", remedy="use text as names"
                )
            if name in found:
                raise InputError(
                    argument=argument,
                    problem=f"has a detector called {shown(name)}, and so is another",
                    remedy="give each its own name",
                )
            found[name] = (argument, values)
    if len(found) < 2:
        raise InputError(
            argument="scores",
            problem=f"has {plural(len(found), 'detector')}",
            remedy="pass at least two to compare, as a dict by their names",
        )
    return found


def _read(
    truth: Any, scores: Any, *, predictions: Any = None, mask: Any = None, higher_is: HigherIs = "anomalous", **how: Any
) -> tuple[dict[str, Sequence], list[str]]:
    """Each detector beside the same labels, on the same steps; ``how`` says how to read each one."""
    given = detectors_of(scores, predictions)

    def each(mask: Any) -> dict[str, Sequence]:
        found: dict[str, Sequence] = {}
        labels = truth
        for name, (argument, values) in given.items():
            turned: dict[str, Any] = {"higher_is": higher_is} if argument == "scores" else {}
            try:
                found[name] = prepare(labels, **{argument: values}, mask=mask, **turned, **how)
            except InputError as error:
                raise error_of(name, error) from None
            if labels is truth:  # from the second detector on, with what is known of it
                labels = Known.of(truth, found[name], mask=mask, **how)
        return found

    sequences = each(mask)
    first, *others = given
    kept = sequences[first].open_steps
    for other in others:
        if len(sequences[other].open_steps) != len(kept):
            raise InputError(
                problem=f"detector {shown(other)} has {len(sequences[other].open_steps)} steps but {shown(first)} has "
                f"{len(kept)}",
                remedy="pass one value for each step of the same series",
            )
        _same_order(given, first, other)
    notes: list[str] = []
    common = np.logical_and.reduce([sequence.open_steps for sequence in sequences.values()])
    if any(not np.array_equal(sequence.open_steps, common) for sequence in sequences.values()):
        lost = max(int((sequence.open_steps & ~common).sum()) for sequence in sequences.values())
        notes = [f"{plural(lost, 'step')} or more where a detector has no value were masked for all detectors."]
        sequences = each(~common)
    return sequences, notes + _named({name: sequence.notes for name, sequence in sequences.items()})


def _named(notes: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Each note once, after the names of its detectors unless it is of all of them."""
    of = {note: [name for name, own in notes.items() if note in own] for own in notes.values() for note in own}
    return [note if len(names) == len(notes) else f"{', '.join(names)}: {note}" for note, names in of.items()]


def _same_order(given: Given, first: str, other: str) -> None:
    """Refuse detectors whose indices differ: each is aligned with the labels, and thus not with the other."""
    mine, theirs = (read_given(given[name][1], given[name][0])[0].index for name in (other, first))
    if mine is None or theirs is None or len(mine) != len(theirs):
        return
    if not (mine.equals(theirs) or nothing_shared(mine, theirs)):
        raise InputError(
            problem=f"detector {shown(other)} has a different index than {shown(first)}",
            remedy="reindex one to the other, or pass .to_numpy() to align by position",
        )


# ---- what chance scores instead of each of several detectors: mean and standard deviation of a measure

N_RESAMPLES = 2_000  # where chance is simulated: for a picture


def chance_of(cell: Cell, measure: str, alpha: float, seed: int) -> tuple[float, float]:
    """Under the null that the data allow; NaN where the measure is undefined, or has no law under that null.

    >>> import nofluke as nf
    >>> result = nf.evaluate([0, 1, 0, 0] * 25, predictions=[0, 1, 0, 0] * 10 + [0] * 60, null="permutation")
    >>> mean, std = chance_of(result.cell, "recall", 0.05, 0)
    >>> round(mean, 3)
    0.1
    """
    of = {"precision": cell.n_predictions, "recall": cell.n_counted}
    needed = of.values() if measure == "f1" else [of[measure]]
    if 0 in needed:
        return math.nan, math.nan
    model = choose("auto", cell, alpha).model.hurried()
    with suppress(InputError):
        if measure == "f1":
            joint = model.joint(cell, n_resamples=N_RESAMPLES, rng=seed)
            test = f_test(math.nan, joint, *of.values())
            return test.expected, test.std
        law = getattr(model.distributions(cell, n_resamples=N_RESAMPLES, rng=seed), measure)
        return law.mean / of[measure], law.std / of[measure]
    return math.nan, math.nan


# ---- several detectors compared on the same units: the result, and how it is presented

MOST_PAIRS = 3  # that a table shows in full; of more, those with the best detector


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison(Exports, ByValue):
    """Several detectors on the same units, best first, and the differences of all pairs.

    Attributes
    ----------
    detectors : tuple of str
        Best first by the measure ``by``, F1 unless another was asked for; those without one are last.
    counts : int array, detectors x 4
        Alarms, hits among them, events, and found ones among those.
    values : float array, detectors x measures
        Precision, recall and F1, and means of metrics; NaN where undefined.
    intervals : tuple of Intervals
        The intervals of precision, recall and F1 of each detector, from its own units.
    differences : tuple of Difference
        For all pairs and measures; the first of a pair comes first in ``detectors``.
    noun : str
        What was exchanged: "episodes" of one series, "series" or "groups".
    alpha, level : float
        Level of the tests, corrected for all pairs, and of the intervals.
    n_resamples, most_resamples, seed : int
        Swaps drawn for each pair, up to how many where Holm's correction needs them, and their seed.
    recut : bool
        Whether a quantile or a budget made cuts follow the scores, so that p-values are approximate.
    title : str
    notes : tuple of str
        What a reader should know.
    cells : mapping of str to Cell
        The trial of each detector, what chance is computed from; empty where units are series or groups.
    measures : tuple of str
        "precision", "recall" and "f1", then the metrics of a study: columns of ``values``.
    metric_intervals : mapping of str to tuple of Interval
        Those of a study's metrics, of each detector.
    lower : frozenset of str
        Metrics of which lower values are better.
    by : str
        The measure that says which detector is best.
    names : Names
        What events and alarms are called.

    See Also
    --------
    nofluke.compare : makes it for one series.
    nofluke.Study.compare : makes it for many series.
    nofluke.plot.compare : draws it.

    Examples
    --------
    >>> import nofluke as nf, numpy as np
    >>> truth = np.arange(400) % 20 == 7
    >>> found = nf.compare(truth, predictions={"early": np.roll(truth, -1), "half": truth & (np.arange(400) < 200)})
    >>> found.best, found.not_told_from_best
    ('half', ('half',))
    >>> one = found.difference("half", "early", "recall")
    >>> one.value, one.pvalue < 0.01
    (0.5, True)
    """

    detectors: tuple[str, ...]
    counts: IntArray = field(repr=False)
    values: FloatArray = field(repr=False)
    intervals: tuple[Intervals, ...] = field(repr=False)
    differences: tuple[Difference, ...] = field(repr=False)
    noun: Kind
    alpha: float
    level: float
    n_resamples: int
    most_resamples: int
    seed: int
    recut: bool = False
    title: str = ""
    notes: tuple[str, ...] = ()
    cells: Mapping[str, Cell] = field(repr=False, compare=False, default_factory=dict)
    measures: tuple[str, ...] = MEASURES
    metric_intervals: Mapping[str, tuple[Interval, ...]] = field(repr=False, default_factory=dict)
    lower: frozenset[str] = frozenset()
    by: str = "f1"
    names: Names = field(repr=False, compare=False, default=NONE)

    @property
    def n_pairs(self) -> int:
        """How many pairs there are: what p-values are corrected for."""
        return len(self.differences) // len(self.measures)

    @property
    def _ranked(self) -> FloatArray:
        """The values of the measure that says which detector is best, turned so that larger ones are better."""
        own: FloatArray = self.values[:, self.measures.index(self.by)]
        return -own if self.by in self.lower else own

    @property
    def best(self) -> str | None:
        """The detector with the best F1 (or other measure) that none significantly exceeds on common units, or None.

        A detector that lacks the hard units may have the largest F1 and still be worse than another on the units it
        has. None if no detector has a value.
        """
        defined = [name for name, value in zip(self.detectors, self._ranked, strict=True) if not math.isnan(value)]
        return next((name for name in defined if not any(self._exceeds(other, name) for other in defined)), None)

    def _exceeds(self, one: str, other: str) -> bool:
        """Whether one is significantly better than another."""
        if one == other:
            return False
        found = self.difference(one, other, self.by)
        return (found.value < 0 if self.by in self.lower else found.value > 0) and self.told(found)

    def ranked_by(self, measure: str) -> Comparison:
        """The same, with the detectors in the order of another measure, which says which of them is best."""
        check_word(measure, "rank_by", self.measures)
        again = replace(self, by=measure)
        # sorted() keeps the order where values are the same, and NaN would compare with nothing
        order = sorted(range(len(self.detectors)), key=lambda i: -np.nan_to_num(again._ranked[i], nan=-np.inf))
        names = [self.detectors[i] for i in order]
        pairs = itertools.combinations(names, 2)
        return replace(
            again,
            detectors=tuple(names),
            counts=self.counts[order],
            values=self.values[order],
            intervals=tuple(self.intervals[i] for i in order),
            metric_intervals={name: tuple(own[i] for i in order) for name, own in self.metric_intervals.items()},
            differences=tuple(self.difference(*pair, one) for pair in pairs for one in self.measures),
        )

    @property
    def not_told_from_best(self) -> tuple[str, ...]:
        """The best detector and those that are not significantly worse, corrected for all pairs; best first."""
        if self.best is None:
            return ()
        rest = (self.difference(self.best, name, self.by) for name in self.detectors if name != self.best)
        return (self.best, *(one.second for one in rest if not math.isnan(one.value) and not self.told(one)))

    def told(self, one: Difference) -> bool:
        """Whether a difference is significant, corrected for all pairs."""
        return not math.isnan(one.corrected) and significant(one.corrected, self.alpha)

    def difference(self, first: str, second: str, measure: str = "f1") -> Difference:
        """The difference between two detectors: the first one's value minus the second's."""
        check_word(measure, "measure", self.measures)
        check_word(first, "first", self.detectors)
        check_word(second, "second", self.detectors)
        i, j = map(self.detectors.index, (first, second))
        if i == j:
            raise InputError(
                argument="second", value=second, problem="is also the first detector", remedy="name another"
            )
        # pairs are listed as itertools.combinations does
        low, high = sorted((i, j))
        at = low * len(self.detectors) - low * (low + 1) // 2 + high - low - 1
        one = self.differences[at * len(self.measures) + self.measures.index(measure)]
        return one if i < j else one.turned()

    def chance(self, measure: str = "f1") -> tuple[tuple[float, float], ...]:
        """Mean and standard deviation of what chance scores in place of each detector, under the null that fits it.

        NaN where the measure is undefined or no trial is known. Computed when asked for.
        """
        check_word(measure, "measure", MEASURES)
        unknown = (math.nan, math.nan)
        known = {name: chance_of(cell, measure, self.alpha, self.seed) for name, cell in self.cells.items()}
        return tuple(known.get(name, unknown) for name in self.detectors)

    def plot(self, ax: Any = None, *, measure: str = "f1") -> Any:
        """Draw values with intervals and chance, and differences with p-values (matplotlib); return both Axes."""
        from nofluke.plot import compare as plot_compare

        return plot_compare(self, ax, measure=measure)

    def verdict_in_words(self) -> str:
        """Which detector is best, and which are not significantly worse."""
        group, by = self.not_told_from_best, NAMES.get(self.by, self.by)
        if not group:
            return f"No detector has {'an F1' if self.by == 'f1' else by}, so none is best."
        level = f"at the {self.alpha:.3g} level" + (
            f", corrected for {plural(self.n_pairs, 'pair')}" if self.n_pairs > 1 else ""
        )
        if len(group) == 1:
            rest = " that has one" if math.isnan(self._ranked[-1]) else ""
            if not math.isnan(self._ranked[1]):
                return f"{group[0]} has the best {by}, significantly better than every other{rest} {level}."
            return f"{group[0]} is the only one with {'an F1' if self.by == 'f1' else by}."
        told = ", ".join(
            f"{name} (not tested)" if self.difference(group[0], name, self.by).why_no_pvalue else name
            for name in group[1:]
        )
        return f"{group[0]} has the best {by}; not significantly worse {level}: {told}."

    def how(self) -> str:
        """How p-values were computed."""
        drawn = {one.n_resamples for one in self.differences}
        text = f"p by exchanging {self.noun} between two detectors, two-sided"
        if any(one.method == "swaps and t" for one in self.differences):
            text += ", or by Student's t where that is larger"
        if self.recut:
            text += " (approximate, since cuts follow the scores)"
        if drawn == {0}:
            return f"{text}; all swaps were enumerated."
        listed = "all swaps, or " if 0 in drawn else ""
        more = f" (up to {self.most_resamples:,} where p is small)" if max(drawn) > self.n_resamples else ""
        return f"{text}; {listed}{self.n_resamples:,} random swaps{more}, seed {self.seed}."

    def table(self) -> Table:
        """Detectors, best first, then differences with intervals and p-values: all pairs, or those with the best."""
        rows: list[tuple[str, ...]] = []
        for i, (name, values) in enumerate(zip(self.detectors, self.values.tolist(), strict=True)):
            own = (*self.intervals[i], *(one[i] for one in self.metric_intervals.values()))
            rows.append((name, *(with_ends(value, one.low, one.high) for value, one in zip(values, own, strict=True))))
        n = len(self.measures)
        shown_pairs = [self.differences[i : i + n] for i in range(0, len(self.differences), n)]
        if self.n_pairs > MOST_PAIRS:
            shown_pairs = shown_pairs[: len(self.detectors) - 1]
        for pair in shown_pairs:
            rows.append((f"{pair[0].first} − {pair[0].second}", *(one.in_words() for one in pair)))
            rows.append(("  p" if self.n_pairs == 1 else "  p (corrected)", *map(self._shown_p, pair)))
        correction = f" Corrected by Holm for {plural(self.n_pairs, 'pair')} in each measure." * (self.n_pairs > 1)
        only = [f"JSON and CSV have the differences of all {self.n_pairs:,} pairs."] * (self.n_pairs > MOST_PAIRS)
        lacking = dict.fromkeys(one.why_no_interval for one in self.differences if not math.isnan(one.value))
        reasons = "; ".join([why for why in lacking if why][:2])
        without = f" Differences without one: {reasons}." if reasons else ""
        return Table(
            title=self.title,
            columns=("", *(NAMES.get(name, name) for name in self.measures)),
            rows=tuple(rows),
            notes=(
                self.verdict_in_words(),
                f"{self.how()}{correction}",
                *only,
                f"Intervals are {100 * self.level:g}% intervals.{without}",
                *noted(self.notes),
            ),
        )

    def _shown_p(self, one: Difference) -> str:
        if math.isnan(one.pvalue):
            return "not tested" if one.why_no_pvalue else "undefined"
        return show_p(one.pvalue) + ("" if self.n_pairs == 1 else f" ({show_p(one.corrected)})")

    def columns(self) -> dict[str, list[Any]]:
        """All pairs and measures in long form, by column name; undefined values are None."""
        rows = [one.to_dict() for one in self.differences]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def _record(self) -> dict[str, Any]:
        keys = ("n_predictions", "precision_hits", "n_events", "recall_hits")
        timing = next((cell.timing for cell in self.cells.values()), None)  # many series have none
        detectors = [
            {
                "name": name,
                **dict(zip(self.measures, map(finite_or_none, values), strict=True)),
                **dict(zip(keys, counts, strict=True)),
                "intervals": own.to_dict()
                | {metric: one[i].to_dict() for metric, one in self.metric_intervals.items()},
            }
            for i, (name, values, counts, own) in enumerate(
                zip(self.detectors, self.values.tolist(), self.counts.tolist(), self.intervals, strict=True)
            )
        ]
        return {
            "schema": SCHEMA,
            "detectors": detectors,
            "rank_by": self.by,
            "best": self.best,
            "not_told_from_best": list(self.not_told_from_best),
            "differences": [one.to_dict() for one in self.differences],
            "units": self.noun,
            "alpha": self.alpha,
            "level": self.level,
            "n_resamples": self.n_resamples,
            "most_resamples": self.most_resamples,
            "seed": self.seed,
            "recut": self.recut,
            "watched": None if timing is None else {"value": timing.watched, "unit": timing.unit},
            "notes": list(self.notes),
        }

    def needed(self, measure: str | None = None, *, power: float = 0.8) -> NeededToCompare:
        """How many more events, and how much more time, it takes to tell each detector from the best one.

        If the series goes on at present rates, at the level corrected for all pairs: at the difference as it is, and at
        the end of its interval that is nearer to 0.

        Parameters
        ----------
        measure : str, optional
            Of which the difference is; by default the one that detectors are ranked by.
        power : float
            The probability of a significant difference.

        Notes
        -----
        With a difference Δ of standard error s over k units, swaps have a standard deviation of s₀ = √(s² + Δ²/k), and
        f times as many units give the power Φ((|Δ| √f - z s₀)/s), with z the normal quantile of the level.

        Examples
        --------
        >>> import nofluke as nf
        >>> quakes = nf.datasets.simulate_quakes(rng=0)
        >>> scores = {"energy": nf.detectors.energy_transient(quakes.counts), "counts": quakes.counts.astype(float)}
        >>> found = nf.compare(quakes.truth, scores, quantile=0.9, tolerance=2, n_resamples=999, rng=1).needed()
        >>> found.n_events, found.answers[0].n_events
        (162, 963)
        """
        wanted = self.by if measure is None else measure
        check_word(wanted, "measure", self.measures)
        return needed_to_compare(self.to_dict(), wanted, power)

    def __repr__(self) -> str:
        by, own = NAMES.get(self.by, self.by), self.values[:, self.measures.index(self.by)]
        told = "; ".join(f"{name} {by} {show_share(one)}" for name, one in zip(self.detectors, own, strict=True))
        return f"<Comparison: {told};\n not significantly worse than the best: {', '.join(self.not_told_from_best) or 'none'}>"


# ---- the engine of comparisons: detectors on units that are treated as independent, of one series or of many

MOST_NAMED = 5  # detectors in a note


def compared(
    own: Mapping[str, IntArray],
    units: Units,
    *,
    recut: bool = False,
    noun: Kind,
    alpha: float,
    level: float,
    n_resamples: int,
    rng: Any,
    title: str,
    notes: tuple[str, ...],
    cells: Mapping[str, Cell] | None = None,
) -> Comparison:
    """Compare detectors: ``own`` holds the units each has alone, ``units`` gives those that two have together.

    With ``recut`` cuts follow the scores, and ``units`` also has what they give back: see `all_differences`.
    """
    if len(own) < 2:
        raise InputError(
            argument="scores", problem=f"has {plural(len(own), 'detector')}", remedy="pass at least two to compare"
        )
    alpha, level, n_resamples = check_alpha(alpha), check_level(level), check_resamples(n_resamples)
    seed = some_seed(rng)
    counts = {name: rows.sum(axis=0) for name, rows in own.items()}
    values = {name: linearise(total[None]).values for name, total in counts.items()}
    # sorted() keeps the order given where F1 is the same, and NaN would compare with nothing
    names = tuple(sorted(counts, key=lambda name: -np.nan_to_num(values[name][2], nan=-1.0)))
    pairs = list(itertools.combinations(names, 2))
    most = draws_needed(len(pairs), alpha, n_resamples)
    with progress_bar("pairs", len(pairs)) as advance:
        found = all_differences(
            pairs,
            units,
            noun=noun,
            level=level,
            n_resamples=n_resamples,
            most=most,
            seed=seed,
            advance=advance,
        )
    return Comparison(
        detectors=names,
        counts=np.stack([counts[name] for name in names]),
        values=np.stack([values[name] for name in names]),
        intervals=tuple(intervals_of(own[name], level, kind=noun) for name in names),
        differences=found,
        noun=noun,
        alpha=alpha,
        level=level,
        n_resamples=n_resamples,
        most_resamples=most,
        seed=seed,
        recut=recut,
        title=title,
        notes=(*notes, *_remarks({name: counts[name] for name, rows in own.items() if len(rows)}, found, noun, alpha)),
        cells=cells or {},
    )


def _remarks(
    counts: Mapping[str, IntArray], differences: tuple[Difference, ...], noun: str, alpha: float
) -> tuple[str, ...]:
    """What is undefined or cannot be tested, and which pairs nothing could have told apart.

    ``counts`` are those of detectors that have any units.
    """
    remarks: list[str] = []
    for name, total in counts.items():
        if total[ALARMS] == 0:
            remarks.append(say("{} has no {alarms}: its precision and F1 are undefined.", name))
    if counts and all(total[EVENTS] == 0 for total in counts.values()):
        remarks.append(there_are_no("events", "recall and F1 are undefined"))
    n_pairs = len(differences) // len(MEASURES)
    untested: dict[str, list[str]] = {}
    for one in differences:
        if one.why_no_pvalue and one.measure == "precision":
            few = counts[one.first][ALARMS] < counts[one.second][ALARMS]
            untested.setdefault(one.why_no_pvalue, []).append(one.second if few else one.first)
    for why, others in untested.items():
        more = f" and {len(others) - MOST_NAMED:,} more" if len(others) > MOST_NAMED else ""
        against = f"{', '.join(others[:MOST_NAMED])}{more}"
        told = "{}: precision and F1 are not tested against {}, with more than twice as many."
        remarks.append(say(told, why, against))
    hopeless = [one for one in differences if one.measure == "f1" and one.n_differing]
    hopeless = [one for one in hopeless if not math.isnan(one.value) and one.smallest * n_pairs > alpha]
    if hopeless:
        one = max(hopeless, key=lambda one: one.smallest)
        corrected = f", times {n_pairs} pairs" if n_pairs > 1 else ""
        more = f", and for {plural(len(hopeless) - 1, 'other pair')}" if len(hopeless) > 1 else ""
        remarks.append(
            f"Too few {noun} to tell F1 of {one.first} from that of {one.second}{more}: they differ in "
            f"{one.n_differing}, so no p-value is below {show_p(one.smallest)}{corrected}."
        )
    return tuple(remarks)


# ---- cuts that follow the scores: what a quantile or a budget does to a comparison of episodes

TIED = 2  # times as many steps as the cut should move by: its number of alarms then jumps


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """What a detector gains as its cut is lowered.

    Attributes
    ----------
    each : array of 4
        Alarms, hits, events and found events that each further predicted step adds.
    tied : bool
        Whether too many scores are tied for the cut to follow.
    """

    each: FloatArray = field(repr=False)
    tied: bool = False


def gain_of(detector: Detector) -> Gain:
    """Counted between two cuts, below and above the detector's own by as many steps as their number might vary.

    With a fixed threshold that is about the root of the sum of squares of the steps of its episodes.
    """
    trial, scores = detector.made.trial, np.sort(detector.sequence.open_scores())
    steps = units_and_steps((detector.cell,), (detector.predicted,))[1][0]
    n, far = int(steps.sum()), max(round(math.sqrt(float(steps @ steps))), 1)
    above = scores[len(scores) - n + far] if far < n else math.inf
    below = scores[max(len(scores) - n - far, 0)]
    cuts = np.array([below, above], dtype=np.float64)
    around, reached = trial.over(trial.tolerances, cuts), reaching(scores, cuts)
    counts = np.stack([around.n_predictions, around.precision_hits[0], np.zeros(2), around.recall_hits[0]])
    moved = int(reached[0] - reached[1])
    # where all these scores are tied, the cut stays where it is
    return Gain(each=(counts[:, 0] - counts[:, 1]) / max(moved, 1), tied=moved > TIED * 2 * far)


def given_back(steps: IntArray, each: FloatArray) -> FloatArray:
    """What the cuts take from the first detector in each unit, and give to the second: K x 4, which sum to nothing.

    ``steps`` are those that two detectors predict in each unit, 2 x K, and ``each`` is what a step adds.

    >>> given_back(np.array([[3, 1, 0], [1, 1, 2]]), np.array([1.0, 0.25, 0.0, 0.5]))
    array([[ 1.  ,  0.25,  0.  ,  0.5 ],
           [ 0.  ,  0.  ,  0.  ,  0.  ],
           [-1.  , -0.25, -0.  , -0.5 ]])
    """
    total = steps.sum(axis=1)
    if not total.all():  # no cut left an alarm: there is nothing to move
        return np.zeros((steps.shape[1], 4))
    # ties may leave the detectors with different numbers: each then has a share of the mean one
    half = steps * (total.mean() / (2 * total))[:, None]
    return np.outer(half[0] - half[1], each)


# ---- compare detectors on one series: read them all alike, cut each by the same rule

TIED_NEAR_CUT = say(
    "many scores are tied near the cut. The number of {alarms} jumps as it moves, so p-values and intervals of differences "
    "are rough."
)


@takes(AboutDetector, like="evaluate", own=("predictions", "threshold", "quantile", "budget", "higher_is", "missing"))
def compare(
    truth: Any,
    scores: Any = None,
    *,
    tolerance: Length | Tolerance = 0,
    alpha: float = 0.05,
    level: float = 0.95,
    n_resamples: int = 9_999,
    rng: Any = 0,
    **about: Unpack[AboutDetector],
) -> Comparison:
    r"""Which of several detectors is better on one sequence, and could that be luck?

    For each pair, an episode is a chain of events and alarms of both with gaps of at most early + late. If the two
    detectors were equally good, swapping their names in an episode would change nothing but luck. So names are swapped
    at random, and p is the share of swaps whose difference in precision, recall or F1, in standard errors, is at least
    the observed one. A quantile or a budget moves the cuts with every swap:

    .. math::
        t = \frac{|F_A - F_B|}{\sqrt{\sum_i (u_i^A - u_i^B)^2}}

    with :math:`u_i` the linear term of episode i in a detector's measure, less what the cut gives back.

    Parameters
    ----------
    truth, tolerance
        As in `evaluate`, the same for all detectors.
    <about>
    scores : mapping of str to array-like, or data frame, optional
        The scores of each detector, by name; in a data frame each column is a detector.
    predictions : mapping of str to array-like, or data frame, optional
        Alarms of detectors that have no scores. Both may be passed, with different names. They are treated as if their
        threshold had been fixed: if they are the highest of some scores, pass the scores.
    threshold, quantile, budget : optional
        One rule for all scores, as in `evaluate`; with a quantile or a budget each detector has its own threshold,
        which follows its scores, and p-values are approximate.
    higher_is : {"anomalous", "normal"}
        What high scores mean, the same for all detectors.
    missing : {"error", "mask"}
        With "mask", a step that lacks a label or the value of one detector is left out for all of them.
    alpha : float
        Level of the tests, which Holm's method corrects for all pairs of detectors, measure by measure.
    level : float
        Level of the intervals of differences: t, with the degrees of freedom of the episodes that hold alarms (of the
        detector with fewer), for precision, or events, for recall. There is no interval with fewer than ten, or if a
        few of them hold nearly all.
    n_resamples : int
        Random swaps, if there are too many to enumerate. If fewer than 20 of them reach the observed difference, a pair
        gets up to 20/``alpha`` times the number of pairs (50,000 at most), so that Holm's correction has enough draws.
    rng : int, Generator, SeedSequence or None
        Randomness of the swaps, as ``numpy.random.default_rng`` takes it. The same seed serves all pairs.

    Returns
    -------
    Comparison

    See Also
    --------
    nofluke.evaluate : one detector.
    nofluke.study : many detectors on many series.
    nofluke.report : a page about several detectors.
    nofluke.Comparison : the result.

    Notes
    -----
    A detector without alarms has no precision and no F1, and is compared by recall alone. With K episodes in which two
    detectors differ no p-value is below 2^(1 - K): the result says where that is too much for anything to be told.
    Precision and F1 have neither p-value nor interval where one detector has more than twice as many alarms as the
    other, and of those of the other fewer than 5 hits or fewer than 5 misses are expected: that it shows no variance
    may then be an accident. Where only one of the two holds, or a cut follows the scores, swaps are not exact, and
    Student's p counts where it is larger (``method``).

    References
    ----------
    Pauly, Brunner and Konietschke (2015), Asymptotic permutation tests in general factorial designs: why studentised.
    Holm (1979). Besag and Clifford (1991), Sequential Monte Carlo p-values.

    Examples
    --------
    >>> import nofluke as nf
    >>> quakes = nf.datasets.simulate_quakes(rng=0)
    >>> scores = {"energy": nf.detectors.energy_transient(quakes.counts), "counts": quakes.counts}
    >>> found = nf.compare(quakes.truth, scores, quantile=0.9, tolerance=2)
    >>> found.detectors, found.not_told_from_best
    (('counts', 'energy'), ('counts', 'energy'))
    >>> one = found.difference("counts", "energy")
    >>> round(one.value, 3), round(one.low, 3), round(one.high, 3), round(one.pvalue, 1)
    (0.035, -0.026, 0.097, 0.3)
    """
    detectors, notes = read_several(truth, scores, tolerance=tolerance, **about)
    return compare_read(detectors, notes, alpha=alpha, level=level, n_resamples=n_resamples, rng=rng)


def compare_read(
    detectors: dict[str, Detector], notes: tuple[str, ...], *, alpha: float, level: float, n_resamples: int, rng: Any
) -> Comparison:
    """The comparison of detectors that have been read, and what their reading has to tell."""
    cells = {name: one.cell for name, one in detectors.items()}
    gains = {name: gain_of(one) for name, one in detectors.items() if one.cuts is not None and one.cuts.by_number}

    def units(pair: Pair) -> tuple[Counts, ...]:
        one, other = (detectors[name] for name in pair)
        (first, second), steps = units_and_steps((one.cell, other.cell), (one.predicted, other.predicted))
        own = [gains[name].each for name in pair if name in gains]
        return (first, second, given_back(steps, np.sum(own, axis=0) / 2)) if own else (first, second)

    tied = [name for name, gain in gains.items() if gain.tied]
    first = next(iter(detectors.values()))
    cell, window = first.cell, first.made.trial.tolerances[0]
    found = compared(
        {name: units_of((cell,))[0] for name, cell in cells.items()},
        units,
        recut=bool(gains),
        noun="episodes",
        alpha=alpha,
        level=level,
        n_resamples=n_resamples,
        rng=rng,
        title=say(
            "{}, {}, {}; tolerance {}",
            plural(first.sequence.n, "step"),
            plural(cell.n_counted, cell.truth.noun),
            plural(len(cells), "detector"),
            window.in_words(),
        ),
        notes=notes if not tied else (*notes, say("{}: {}", ", ".join(tied), TIED_NEAR_CUT)),
        cells=cells,
    )
    names = first.sequence.names
    return replace(found, title=names.said(found.title), notes=names.all_said(found.notes), names=names)
