"""The generating function of (number of events, number of predictions hit), its logarithm, and where to tilt it.

With x marking events and y marking hits, F(x, y) is the sum over all placements of events of x^N y^C. It factorises
over clusters of overlapping windows, so equal clusters are worked out once and raised to a power. A cluster that is a
single block (an isolated window, above all) has the closed form z^k + (1+x)^L - 1, with z = 1/y and a factor y^k left
out.

kappa(s, t) = log F(e^s, e^t) is convex; its gradient is the mean of (N, C) under the tilted law, its Hessian their
covariance.

The section "Precision: the whole distribution" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nofluke.arrays import FloatArray, IntArray, weighted_sum
from nofluke.series.counting import Windows, cut

_CLOSED_FORM_FROM = 4  # so many equal single-block clusters are worth a logarithm per angle
_GROWTH = 40.0  # blocks are cut so that (1+x)^L is about e^40 at most, and never above e^100:
_MOST_GROWTH = 100.0  # the kernels' sums of weights must not overflow, whatever the tilt
_UNDERFLOW = 420.0  # |t| times the number of windows open at once: beyond it, weights could under- or overflow


_LN2_HEAD = math.floor(math.log(2.0) * 2**20) / 2**20  # few bits, so that its product with an exponent is exact
_LN2_TAIL = float(Fraction("0.69314718055994530941723212145817656807") - Fraction(_LN2_HEAD))


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """The distinct clusters of a set of windows and how often each occurs; frequent single-block ones apart."""

    windows: Windows
    n: int
    n_steps: int
    free: int
    open_at_once: int
    single_length: FloatArray = field(repr=False)
    single_size: IntArray = field(repr=False)
    single_count: IntArray = field(repr=False)
    first: IntArray = field(repr=False)
    size: IntArray = field(repr=False)
    length: IntArray = field(repr=False)
    g: IntArray = field(repr=False)
    h: IntArray = field(repr=False)
    count: IntArray = field(repr=False)
    covered: IntArray = field(repr=False)
    lengths: FloatArray = field(repr=False)
    capacity: int

    @property
    def clusters(self) -> tuple[IntArray, ...]:
        """What the kernels take: where blocks start, predictions, blocks' length index, g, h, and multiplicity."""
        return self.first, self.size, self.length, self.g, self.h, self.count

    @property
    def most_tilt(self) -> float:
        """Largest |t| for which no weight that matters can underflow in the recurrence."""
        return _UNDERFLOW / max(self.open_at_once, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """kappa, its gradient and its Hessian at (s, t), and what the complex recurrence needs to know from there.

    ``log_mean`` is kappa - T log(1 + e^s): the log of the mean of y^C if each step held an event with chance p.
    ``counted_by_misses`` predictions enter the complex recurrence by e^{-i psi} for a miss, the others by e^{i psi} for
    a hit.
    """

    structure: Structure = field(repr=False)
    s: float
    t: float
    ell: float
    p: float
    log_mean: float
    events: float
    hits: float
    var_events: float
    cov: float
    var_hits: float
    run: tuple[npt.NDArray[np.generic], ...] = field(repr=False)
    singles: tuple[npt.NDArray[np.generic], ...] = field(repr=False)
    counted_by_misses: int

    @property
    def slope(self) -> float:
        """How far s must fall when t rises by one, to keep the mean number of events."""
        return self.cov / self.var_events if self.var_events > 0.0 else 0.0

    @property
    def var_given_events(self) -> float:
        """Variance of C once the number of events is known, in the normal approximation."""
        return max(self.var_hits - self.cov * self.slope, 0.0)

    def objective(self, n_events: float, hits: float) -> float:
        """kappa - m s - c t: an upper bound on the log of the number of placements with N = m and C = c."""
        return self.log_mean + self.structure.n_steps * self.ell - n_events * self.s - hits * self.t


def structure_of(windows: Windows) -> Structure:
    """The distinct clusters of ``windows``, worked out once."""
    return windows.once("structure", lambda: _cut_structure(windows, longest_block=2**62))


class Clusters(NamedTuple):
    """Windows that hang together, in time order, and which of them are equal but for their place in time."""

    first: IntArray  # block of each cluster, and the end of the last
    size: IntArray  # predictions of each
    g: IntArray  # of each block, counted from its cluster's first prediction
    h: IntArray
    member: IntArray  # one cluster of each kind, by the number of its blocks
    copies: IntArray  # clusters of each kind


def distinct_clusters(windows: Windows) -> Clusters:
    """The clusters of ``windows``, sorted into kinds."""
    blocks, starts = windows.blocks, windows.cluster_starts
    owner = np.searchsorted(starts, blocks.g, side="right") - 1
    first = np.searchsorted(owner, np.arange(len(starts) + 1))
    g, h = blocks.g - starts[owner], blocks.h - starts[owner]
    n_blocks = np.diff(first)
    members: list[IntArray] = [np.zeros(0, dtype=np.int64)]
    counts: list[IntArray] = [np.zeros(0, dtype=np.int64)]
    for b in np.unique(n_blocks):
        same = np.flatnonzero(n_blocks == b)
        at = first[same][:, None] + np.arange(b)
        signature = np.concatenate([blocks.length[at], g[at], h[at]], axis=1)
        as_bytes = np.ascontiguousarray(signature).view(np.dtype((np.void, signature.itemsize * 3 * b)))
        _, one_of_each, how_often = np.unique(as_bytes.ravel(), return_index=True, return_counts=True)
        members.append(same[one_of_each])
        counts.append(how_often.astype(np.int64))
    size = np.diff(np.append(starts, windows.n))
    return Clusters(first, size, g, h, np.concatenate(members), np.concatenate(counts))


def _cut_structure(windows: Windows, *, longest_block: int) -> Structure:
    """Sort the clusters of ``windows`` into distinct ones, with blocks cut to ``longest_block`` steps."""
    blocks = windows.blocks
    first, size, g, h, member, count = distinct_clusters(windows)
    n_blocks = np.diff(first)
    owner = np.repeat(np.arange(len(size)), n_blocks)
    closed = (n_blocks[member] == 1) & (count >= _CLOSED_FORM_FROM)
    single, single_count = member[closed], count[closed]
    # few blocks shared by many clusters first: they tell soonest that an angle does not matter
    order = np.argsort(n_blocks[member] / count, kind="stable")
    order = order[~closed[order]]
    member, count = member[order], count[order]

    rank = np.full(len(size), len(member))
    rank[member] = np.arange(len(member))
    kept = np.argsort(rank[owner], kind="stable")[: n_blocks[member].sum()]
    of, length = cut(blocks.length[kept], longest_block)
    kept = kept[of]
    owner, g, h = rank[owner[kept]], g[kept], h[kept]
    lengths, index = np.unique(length, return_inverse=True)
    covered = np.zeros(len(member), dtype=np.int64)  # in integers: sums may have more digits than a double
    np.add.at(covered, owner, length)
    # entries of the queue still alive at a block: those of its cluster that reach beyond g
    apart = owner * (windows.n + 1)
    oldest = np.searchsorted(h + apart, g + apart, side="right")
    return Structure(
        windows=windows,
        n=windows.n,
        n_steps=windows.n_steps,
        free=windows.n_steps - windows.covered,
        open_at_once=int((blocks.h - blocks.g).max(initial=0)),
        single_length=blocks.length[first[single]].astype(np.float64),
        single_size=size[single].astype(np.int64),
        single_count=single_count,
        first=np.searchsorted(owner, np.arange(len(member) + 1)),
        size=size[member].astype(np.int64),
        length=index.astype(np.int64),
        g=g,
        h=h,
        count=count,
        covered=covered,
        lengths=lengths.astype(np.float64),
        capacity=int((np.arange(len(owner)) - oldest).max(initial=0)) + 1,
    )


def evaluate(structure: Structure, s: float, t: float) -> Point:
    """kappa and its derivatives at log x = s, log y = t."""
    from nofluke.laws.exact import kernels

    ell = float(np.logaddexp(0.0, s))
    p = -math.expm1(-ell)
    if structure.lengths.max(initial=1.0) * ell > max(_MOST_GROWTH, ell):
        structure = _cut_structure(structure.windows, longest_block=max(int(_GROWTH / ell), 1))

    lengths = structure.lengths
    grown = np.exp(lengths * ell)
    mean, second = lengths * p, lengths * p * (1.0 - p) + (lengths * p) ** 2
    u = np.stack([np.expm1(lengths * ell), mean * grown, second * grown], axis=1)
    n_clusters, n_blocks = len(structure.size), len(structure.length)
    moments = np.zeros((n_clusters, 6))
    exponent = np.zeros(n_clusters, dtype=np.int64)
    run = (
        np.zeros(n_clusters),
        np.zeros(n_blocks, dtype=np.int64),
        np.zeros(n_blocks, dtype=np.int64),
        np.zeros(n_blocks // 4 + 1),
    )
    z = math.exp(-t)
    kernels.reference(structure.clusters, u, z, structure.capacity, moments, exponent, run)
    count, size = structure.count, structure.size
    sums = weighted_sum(count, moments)

    # single-block clusters: uncovered with weight z^k, covered with weight (1+x)^L - 1, both over (1+x)^L
    length, k, times = structure.single_length, structure.single_size, structure.single_count
    empty, struck = np.exp(-k * t - length * ell), -np.expm1(-length * ell)
    total = empty + struck
    hit = struck / total
    miss = empty / total
    # where the odds underflow, a window that is hit holds one event
    per_hit = np.divide(length * p, struck, out=np.ones_like(struck), where=struck > 0)
    events = hit * per_hit
    squares = (length * p * (1.0 - p) + (length * p) ** 2) / total

    # angles add up over what is counted: count the rarer of hits and misses, to lose fewer digits
    by_hits = hit < 0.5

    # n t, D log(1+x) and log f nearly cancel in large clusters: sum products that are exact
    exponents, sizes = (float(count @ a) for a in (exponent, size))
    covered = divmod(int(count @ structure.covered), 2**31)  # both parts have few bits, too
    log_mean = math.fsum(
        [
            *(times * _log_mean_of_hit(struck, total, k.astype(np.float64) * t)),
            *(count * moments[:, 0]),
            *(exponents * part for part in (_LN2_HEAD, _LN2_TAIL)),
            *(sizes * part for part in (*_split(t), -_log_error(z, -t))),
            *(-whole * part for part in _split(ell) for whole in (float(2**31 * covered[0]), float(covered[1]))),
        ]
    )
    return Point(
        structure=structure,
        s=s,
        t=t,
        ell=ell,
        p=p,
        log_mean=log_mean,
        events=float(structure.free * p + sums[1] + times @ events),
        hits=float(count @ size - sums[2] + times @ (k * hit)),
        var_events=float(structure.free * p * (1.0 - p) + sums[3] + times @ (squares - events**2)),
        cov=float(-sums[4] + times @ (k * hit * miss * per_hit)),
        var_hits=float(sums[5] + times @ (k**2 * hit * miss)),
        run=run,
        singles=(length, k, times, by_hits, np.where(by_hits, hit, miss), total),
        counted_by_misses=structure.n - int(times[by_hits] @ k[by_hits]),
    )


def _split(value: float) -> tuple[float, float]:
    """The leading bits of a number, whose product with an integer is exact, and the rest."""
    head = float(np.float32(value))
    return head, value - head


def _log_error(value: float, exponent: float) -> float:
    """log(value) - exponent, to full accuracy where value is the rounded exp(exponent).

    Missed predictions multiply as many factors z: at 10,000 of them z's rounding error alone would cost 4 digits.
    """
    with localcontext() as context:
        context.prec = 40
        return float(Decimal(value).ln() - Decimal(exponent))


def _log_mean_of_hit(struck: FloatArray, total: FloatArray, kt: FloatArray) -> FloatArray:
    """log(1 + struck (e^kt - 1)), where total = struck + (1 - struck) e^-kt: both forms are exact where used."""
    near = np.abs(kt) < 1.0
    return np.where(near, np.log1p(struck * np.expm1(np.where(near, kt, 0.0))), kt + np.log(total))


def untilted(structure: Structure, n_events: int) -> Point:
    """kappa where each step holds an event with chance m / T, whatever it hits."""
    return evaluate(structure, math.log(n_events) - math.log(structure.n_steps - n_events), 0.0)


def tilt(structure: Structure, n_events: int, hits: float, *, side: int, tolerance: float = 0.01) -> Point | None:
    """Where kappa - m s - c t, less the log of a tail's pole, is smallest; None if no placement has so many hits.

    Parameters
    ----------
    side : int
        +1 for an upper tail (t > 0, with the pole 1 / (1 - e^-t)), -1 for a lower one (t < 0, pole 1 / (1 - e^t)), 0
        for neither.
    tolerance : float
        Stop when a Newton step would lower the objective by less than half of this. The inversion is exact at any
        point and only fastest at the best one, so that a loose tolerance does no harm there.

    Notes
    -----
    A number of placements is 0 or at least 1, and exp(kappa - m s - c t) bounds it for every s and t (t of the sign of
    the tail): as soon as that is below 1, no such placement exists.
    """
    start = untilted(structure, n_events)
    spread = max(math.sqrt(start.var_given_events), 1e-3)
    bound = structure.most_tilt
    t = (hits - start.hits) / spread**2
    if side != 0:
        t = side * max(side * t, 1.0 / spread)
    t = math.copysign(min(abs(t), 1.0, bound), t)
    point = evaluate(start.structure, start.s - start.slope * t, t)
    for _ in range(100):
        if point.objective(n_events, hits) < -0.01:
            return None
        ds, dt, decrease = _newton_step(point, n_events, hits, side, bound)
        if decrease < tolerance:
            break
        value = point.objective(n_events, hits) + _pole(point.t, side)
        for _ in range(40):
            t = max(min(point.t + dt, bound), -bound)
            if side != 0:
                t = side * max(side * t, 0.2 * abs(point.t))
            candidate = evaluate(point.structure, point.s + ds, t)
            gain = value - candidate.objective(n_events, hits) - _pole(t, side)
            if gain > 1e-4 * decrease or abs(gain) < 1e-9 * (1.0 + abs(value)):
                break
            ds, dt, decrease = 0.3 * ds, 0.3 * dt, 0.3 * decrease
        point = candidate
        if gain < 1e-9 * (1.0 + abs(value)):
            break
    return point


def _newton_step(point: Point, n_events: int, hits: float, side: int, bound: float) -> tuple[float, float, float]:
    """Newton's step in (s, t), and twice the decrease of the objective it promises."""
    slope_s = point.events - n_events
    slope_t = point.hits - hits
    curve_t = point.var_hits
    if side != 0:
        grown = math.expm1(abs(point.t))
        slope_t -= side / grown
        curve_t += (1.0 + grown) / (grown * grown)
    curve_s = max(point.var_events, 1e-12)
    rest = max(curve_t - point.cov**2 / curve_s, 1e-9 * curve_t, 1e-12)
    dt = -(slope_t - point.cov / curve_s * slope_s) / rest
    if abs(point.t) >= bound and dt * point.t > 0.0:
        dt = 0.0
    ds = -(slope_s + point.cov * dt) / curve_s
    # where kappa is all but straight the step is far too long: at most double the distance from the origin
    shrink = min(1.0, (3.0 + abs(point.s)) / max(abs(ds), 1e-300), (3.0 + abs(point.t)) / max(abs(dt), 1e-300))
    return shrink * ds, shrink * dt, -shrink * (slope_s * ds + slope_t * dt)


def _pole(t: float, side: int) -> float:
    """-log(1 - e^-|t|): the price of summing a tail from here."""
    return -math.log(-math.expm1(-abs(t))) if side != 0 else 0.0
