"""Exact tails and probabilities of the number of predictions hit, for problems too large for a dynamic programme.

The coefficient of x^m y^c in the generating function F is a mean over circles of angles phi (of x) and psi (of y). The
radii are chosen so that the tilted law has its mean near (m, c): then nothing cancels, whatever the size of the answer.
The mean over finitely many angles is exact but for aliases of the law, which Chernoff's bound keeps negligible. All
angles are looked at; those left out come with a proof that they do not matter (`kernels.invert`).

A tail needs one sum, not one per hit: summing e^{-i c psi} y^{-c} over c, c+1, ... gives a geometric series. With M
angles psi_j and q = y^-M, the mean over j of G(psi_j) e^{-i c psi_j} / (1 - e^{-i psi_j} / y) is exactly

    (1 - q)^-1  sum_k  q^-k P(c + k M <= C < c + (k+1) M),  k = ..., -1, 0, 1, ...

so that the part below c is a known multiple of its total, and the rest is bounded.

The section "Tilted Fourier inversion" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nofluke.arrays import FloatArray, inner
from nofluke.errors import InputError
from nofluke.laws.exact.binomial import log_choose_ratio, log_pmf
from nofluke.laws.exact.generating import Point, Structure, evaluate, structure_of, tilt, untilted
from nofluke.laws.exact.moments import check_count, expected_misses
from nofluke.laws.law import How, Tail, TailSide
from nofluke.series.counting import Windows

# ---- how many angles an inversion needs so that aliases of the tilted law, by Chernoff's bound


_PRECISION = 2e-13  # what each source of error may contribute, relative to the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Angles:
    """How many angles, how far their mean can be from the integral, and which form the tail's aliases take."""

    n_phi: int
    n_psi: int
    alias: float
    subtract: bool
    tau: float


def tail_grid(point: Point, n_events: int, hits: int, sign: int, log_scale: float) -> Angles:
    """Enough angles that aliases of the tilted law cannot change the answer."""
    structure = point.structure
    pole = -math.expm1(-abs(point.t))
    spread = math.sqrt(point.var_given_events)
    # the answer in units of exp(log_scale), roughly and rather too small
    answer = 0.2 / (_width(math.sqrt(point.var_events)) * max(pole * _width(spread), 1.0))
    log_goal = math.log(_PRECISION * answer)

    n_psi, alias, subtract = structure.n + 1, 0.0, True
    outward = _reach(point, n_events, hits, sign, log_goal, spread)
    inward = _reach(point, n_events, hits, -sign, log_goal, spread)
    if outward is not None and inward is not None:
        needed = max(outward.needed(log_goal), inward.needed(log_goal))
        # aliases from below c are a known multiple of their total if that is nearly 1, small on their own if not
        below_all = (point.t - sign * inward.step) * sign < 0.0
        if below_all:
            needed = max(needed, math.ceil((2.0 - log_scale - math.log(answer)) / abs(point.t)))
        if needed < n_psi:
            n_psi, subtract = needed, below_all
            alias = outward.bound(n_psi) + inward.bound(n_psi) / -math.expm1(-abs(point.t) * n_psi)
    n_phi, alias_phi = _phi_angles(point, n_events, log_goal + math.log(pole))
    return Angles(n_phi=n_phi, n_psi=n_psi, alias=alias + alias_phi / pole, subtract=subtract, tau=_PRECISION * answer)


def band_grid(point: Point, n_events: int, low: int, high: int, precision: float) -> Angles:
    """Enough angles that every c from low to high is told from its aliases, to so much of the largest probability."""
    spread = math.sqrt(point.var_given_events)
    answer = 1.0 / (_width(math.sqrt(point.var_events)) * _width(spread))
    log_goal = math.log(precision * answer)
    n_psi, alias = point.structure.n + 1, 0.0
    sides = [_reach(point, n_events, c, way, log_goal, spread) for c, way in ((low, 1), (high, -1))]
    if sides[0] is not None and sides[1] is not None:
        needed = max(side.needed(log_goal) for side in sides if side is not None)
        if needed < n_psi:
            n_psi, alias = needed, sides[0].bound(needed) + sides[1].bound(needed)
    n_phi, alias_phi = _phi_angles(point, n_events, log_goal)
    return Angles(n_phi=n_phi, n_psi=n_psi, alias=alias + alias_phi, subtract=False, tau=precision * answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reach:
    """Chernoff's bound on the tilted law: mass M, 2M, ... away is at most exp(height - step M) and powers of that."""

    height: float
    step: float

    def needed(self, log_goal: float) -> int:
        """Smallest M whose bound is below exp(log_goal); more than any grid has where the bound cannot be told."""
        if not math.isfinite(self.height):
            return 2**62
        return max(math.ceil((self.height - log_goal) / self.step), math.ceil(1.0 / self.step), 1)

    def bound(self, n_angles: int) -> float:
        """Bound on everything at distance n_angles or more, on one side, whatever multiple of it."""
        return math.exp(self.height - self.step * n_angles) / -math.expm1(-self.step * n_angles)


def _reach(point: Point, n_events: int, hits: int, direction: int, log_goal: float, spread: float) -> _Reach | None:
    """How fast the tilted law of C, with N = m, falls off in one direction; None if that cannot be told."""
    room = point.structure.most_tilt - direction * point.t
    step = min(0.95 * math.sqrt(-2.0 * log_goal) / max(spread, 0.1), 8.0, room)
    if step <= 0.0:
        return None
    moved = direction * step
    s = point.s - point.slope * moved
    base = point.objective(n_events, hits)
    best = math.inf
    for _ in range(3):
        other = evaluate(point.structure, s, point.t + moved)
        height = other.objective(n_events, hits) - base
        best = min(best, height)
        miss = (other.events - n_events) / math.sqrt(max(other.var_events, 1e-12))
        if abs(miss) < 1.0:  # another step of Newton's in s would gain less than a half
            break
        s -= max(-2.0, min(2.0, (other.events - n_events) / max(other.var_events, 1e-12)))
    return _Reach(height=best, step=step) if best < math.inf else None


def _phi_angles(point: Point, n_events: int, log_goal: float) -> tuple[int, float]:
    """Number of angles phi, and a bound on the mass of the tilted law of N they cannot tell from N = m."""
    spread = math.sqrt(point.var_events)
    step = min(0.95 * math.sqrt(-2.0 * log_goal) / max(spread, 0.1), 8.0)
    base = point.objective(n_events, 0)
    sides = []
    for direction in (-1, 1):
        other = evaluate(point.structure, point.s + direction * step, point.t)
        sides.append(_Reach(height=other.objective(n_events, 0) - base, step=step))
    needed = max(side.needed(log_goal) for side in sides)
    if needed > point.structure.n_steps:
        return point.structure.n_steps + 1, 0.0
    return needed, sum(side.bound(needed) for side in sides)


def _width(spread: float) -> float:
    """One over the largest probability of a lattice law with this standard deviation, about."""
    return math.sqrt(1.0 + 2.0 * math.pi * spread * spread)


# ---- exact tails and probabilities of the number of predictions hit

#: An inversion is slow where hits have a smaller variance: their characteristic function hardly decays.
CONCENTRATED = 25.0
_LOG_NEGLIGIBLE = -45.0  # one less e^-45 is one
#: Blocks passed over, for 32 angles at a time, before an inversion gives up: some ten seconds.
MOST_BLOCKS = 200_000_000
_BAND = 3.0  # standard deviations on either side of a tilted mean from where probabilities are taken


def tail(
    windows: Windows,
    n_events: int,
    hits: int,
    *,
    side: TailSide = "upper",
    most_blocks: int | None = None,
) -> Tail:
    """Chance of at least (or at most) so many hits if events fell uniformly at random: P(C >= hits) or P(C <= hits).

    Parameters
    ----------
    windows : Windows
        Where an event makes each prediction a hit.
    n_events : int
        m, the number of events, on distinct steps, every placement equally likely.
    hits : int
        c, the number of hits the tail starts from. Out of 0..n the answer is 0 or 1 exactly.
    side : "upper" or "lower"
        P(C >= hits) or P(C <= hits).
    most_blocks : int, optional
        The effort after which it gives up, and returns an upper bound; by default `MOST_BLOCKS`.

    Returns
    -------
    Tail
        Exactly 0 or 1 where that is the exact answer; otherwise to about 12 digits, as ``method.error`` says: proven
        bounds on aliases and on angles left out, and an estimate of rounding errors. Where it is infinite the
        probability was lost in rounding (this takes a law with two separate peaks), or the inversion gave up; the tail
        is then an upper bound on it.

    Notes
    -----
    With F(x, y) the sum over placements of x^N y^C, and any y > 1,
    ``P(C >= c) = [x^m] (2 pi)^-1 int F(x, w) w^-c / (1 - 1/w) d psi / binom(T, m)`` on the circle w = y e^{i psi}.

    Examples
    --------
    >>> windows = Windows(starts=np.array([0, 4]), stops=np.array([2, 6]), n_steps=10)
    >>> round(tail(windows, 2, 2).p * 45, 9)  # 4 of the 45 placements hit both
    4.0
    """
    if side not in ("upper", "lower"):
        raise InputError(
            argument="side", problem=f'must be "upper" or "lower", got {side!r}', remedy="say which tail you want"
        )
    check_count("n_events", n_events, windows.n_steps)
    hits = int(hits)
    reached = hits if side == "upper" else hits + 1  # the two tails of this split are C >= reached and C < reached
    if reached <= 0 or n_events == windows.n_steps or windows.n == 0:
        least = windows.n if n_events == windows.n_steps else 0
        return _certain((reached <= least) == (side == "upper"))
    if reached > windows.n or n_events == 0:
        return _certain(side == "lower")
    if reached == 1:  # C = 0 means that all events fell on free steps
        none = log_choose_ratio(windows.n_steps - windows.covered, windows.n_steps, n_events)
        error = 2e-16 * (1.0 + abs(none)) if none > -math.inf else 0.0
        if side == "upper":  # from the logarithm, which knows how far from 1 the chance is, where a double does not
            some = -math.expm1(none)
            log_some = math.log(some) if some < 0.5 else math.log1p(-math.exp(none))
            return _within(error, log_some)
        return _within(error, none)
    structure = structure_of(windows)
    middle = untilted(structure, n_events)
    small = "upper" if reached - 0.5 > middle.hits else "lower"
    if small != side and _log_bound(middle.structure, n_events, reached, small) < _LOG_NEGLIGIBLE:
        return _within(math.exp(_LOG_NEGLIGIBLE), 0.0)
    effort = (MOST_BLOCKS if most_blocks is None else most_blocks) // 2  # there may be two inversions
    found = _invert_tail(middle.structure, n_events, reached, small, effort)
    # the guess was wrong if the tail is large: then its complement has the digits, or is exactly 0
    other: TailSide = "lower" if small == "upper" else "upper"
    if found.p > (0.5 if small != side else max(0.5, 1.0 - 10.0 * found.method.error)):
        small, found = other, _invert_tail(middle.structure, n_events, reached, other, effort)
    return found if small == side else _complement(found)


def pmf(windows: Windows, n_events: int, *, floor: float = 1e-300) -> tuple[int, FloatArray]:
    """P(C = c) for all c whose probability is not negligible.

    Parameters
    ----------
    windows, n_events
        As for `tail`.
    floor : float
        Probabilities below it may be given as 0: the larger it is, the less there is to do.

    Returns
    -------
    first : int
        The c of the first probability.
    probabilities : array
        To about 1e-13 absolutely. The law is put together from bands of c, each worked out at its own tilt: far in the
        tails the error is some 1e-12 of the largest probability within three standard deviations of the tilted law
        (1e-8 of the probability itself, at worst, where the law has one peak). What cannot be told from 0 is 0.

    Examples
    --------
    >>> windows = Windows(starts=np.array([0, 4]), stops=np.array([2, 6]), n_steps=10)
    >>> first, probabilities = pmf(windows, 2)
    >>> first, (45 * probabilities).round(9)  # of the 45 placements, 15 have no hit, 26 one and 4 both
    (0, array([15., 26.,  4.]))
    """
    check_count("n_events", n_events, windows.n_steps)
    out = np.zeros(windows.n + 1)
    if n_events in (0, windows.n_steps) or windows.n == 0:
        out[windows.n if n_events > 0 else 0] = 1.0
    else:
        _fill(out, windows, n_events, floor)
    if not out.any():
        return 0, out
    kept = np.flatnonzero(out)
    return int(kept[0]), out[kept[0] : kept[-1] + 1]


def bulk(windows: Windows, n_events: int, deviations: float) -> tuple[int, FloatArray]:
    """P(C = c) within so many standard deviations of the mean, from one inversion without tilt.

    Each is good to about 1e-12 of the largest: enough for quantiles and pictures, not for small tails.

    Examples
    --------
    >>> windows = Windows(starts=np.array([0, 4]), stops=np.array([2, 6]), n_steps=10)
    >>> lo, probabilities = bulk(windows, 2, 8.0)
    >>> lo, (45 * probabilities).round(9)
    (0, array([15., 26.,  4.]))
    """
    check_count("n_events", n_events, windows.n_steps)
    if n_events in (0, windows.n_steps) or windows.n == 0:
        return pmf(windows, n_events)
    middle = untilted(structure_of(windows), n_events)
    reach = deviations * math.sqrt(middle.var_given_events) + 1.0
    low = min(max(math.floor(middle.hits - reach), 0), windows.n)
    high = max(min(math.ceil(middle.hits + reach), windows.n), low)
    return low, _band(middle, n_events, low, high, 1e-12)


def estimate_cost(windows: Windows, n_events: int) -> float:
    """Seconds that `tail` will take, roughly (within a factor of three or so), once its kernels are compiled.

    Some hundreds of angles cost a pass over all distinct blocks. Where isolated windows are many they rule out all
    other angles at once; otherwise each of these takes a pass over as many blocks as hold some eighty events. The hard
    problems are those in which nearly every step is covered and events are few: they take all of a pass each.

    Examples
    --------
    >>> windows = Windows(starts=np.array([0, 4]), stops=np.array([2, 6]), n_steps=10)
    >>> estimate_cost(windows, 2) < 0.1
    True
    """
    check_count("n_events", n_events, windows.n_steps)
    if windows.n == 0 or n_events in (0, windows.n_steps):
        return 0.0
    structure = structure_of(windows)
    middle = untilted(structure, n_events)
    n_blocks = len(middle.structure.length)
    n_phi = min(9.0 * math.sqrt(middle.var_events) + 2.0, windows.n_steps + 1.0)
    n_psi = min(9.0 * math.sqrt(middle.var_given_events) + 2.0, windows.n + 1.0)
    free_variance = structure.free * middle.p * (1.0 - middle.p)
    strip = min(1.0, 8.0 / (math.pi * math.sqrt(free_variance + 1e-9)))
    hit = -np.expm1(-structure.single_length * middle.ell)
    decided = float(structure.single_count @ (hit * (1.0 - hit))) > 40.0
    inside = max(n_events - structure.free * middle.p, 1.0)
    others = 0.0 if decided else 0.5 * n_phi * n_psi * strip * n_blocks * min(1.0, 80.0 / inside)
    if middle.var_given_events < CONCENTRATED:  # nearly every angle counts
        others = 0.5 * n_phi * (windows.n + 1.0) * n_blocks
    return 2e-3 + 7e-7 * windows.n + 4e-7 * n_blocks + 1.7e-9 * (1_500.0 * n_blocks + others)


def _fill(out: FloatArray, windows: Windows, n_events: int, floor: float) -> None:
    """Put the probabilities of 0, 1, ... into ``out``, band by band away from the middle."""
    structure = structure_of(windows)
    middle = untilted(structure, n_events)
    structure = middle.structure
    last = windows.n
    centre = min(max(round(middle.hits), 0), last)
    point = tilt(structure, n_events, centre, side=0)
    if point is None:  # no placement has so many hits, or so few, and none farther from the middle either
        return
    half = _BAND * math.sqrt(point.var_given_events)
    low, high = max(centre - math.floor(half), 0), min(centre + math.floor(half), last)
    out[low : high + 1] = _band(point, n_events, low, high)
    for direction, edge in ((1, high + 1), (-1, low - 1)):
        step = 0.9 * half  # from the edge of what is filled to the next tilted mean
        while 0 <= edge <= last:
            point = tilt(structure, n_events, min(max(edge + direction * step, 0), last), side=0)
            if point is None and step == 0.0:
                break
            half_here = _BAND * math.sqrt(point.var_given_events) if point is not None else 0.0
            if point is None or step > half_here + 1.0:  # too far: the band would not reach back to the edge
                step = half_here if half_here < 0.7 * step else 0.0
                continue
            end = min(max(edge + direction * math.floor(step + half_here), 0), last)
            low, high = min(edge, end), max(edge, end)
            band = _band(point, n_events, low, high)
            out[low : high + 1] = band
            outer = band[len(band) // 2 :] if direction == 1 else band[: (len(band) + 1) // 2]
            # an empty band may be a gap in the law with something beyond: only a bound on that shows it is the end
            if outer.max() < floor and _log_beyond(structure, n_events, end, direction) < math.log(floor):
                break
            edge, step = end + direction, 0.9 * half_here


def _band(point: Point, n_events: int, low: int, high: int, precision: float = 1e-15) -> FloatArray:
    """P(C = c) for c from ``low`` to ``high``, from one tilt."""
    structure = point.structure
    grid = band_grid(point, n_events, low, high, precision)
    effort = MOST_BLOCKS // 2  # a law has many bands
    values, left_out, moduli = _characteristic(point, n_events, grid, np.ones(grid.n_psi), effort)
    c = np.arange(low, high + 1)
    terms = np.fft.ifft(values).real[(point.counted_by_misses - c) % grid.n_psi]
    error = grid.alias + left_out + _rounding(point, n_events) * moduli
    base = point.log_mean - log_pmf(n_events, structure.n_steps, point.p, math.exp(-point.ell))
    # less than one placement is none, and what cannot be told from 0 is given as 0
    possible = np.log(np.maximum(terms, 0.0) + error) + point.objective(n_events, 0) - c * point.t > -0.1
    with np.errstate(under="ignore", over="ignore"):
        return np.where(possible & (terms > error), terms * np.exp(base - c * point.t), 0.0)


def _log_bound(structure: Structure, n_events: int, reached: int, side: str) -> float:
    """A bound on the log of P(C >= reached) or P(C < reached): within milliseconds, however far out.

    Chernoff's, and Markov's on the number of predictions missed, which needs no tilt where misses are all but
    impossible.
    """
    markov = 0.0
    if side == "lower":
        missed = expected_misses(structure.windows, n_events)
        markov = math.log(missed) - math.log(structure.n - reached + 1) if missed > 0.0 else -math.inf
        if markov < _LOG_NEGLIGIBLE:
            return markov
    sign, hits = (1, reached) if side == "upper" else (-1, reached - 1)
    point = tilt(structure, n_events, hits, side=sign)
    return -math.inf if point is None else min(markov, _log_chernoff(point, n_events, hits))


def _log_beyond(structure: Structure, n_events: int, end: int, direction: int) -> float:
    """A bound on the log of the probability of everything beyond ``end``, upwards or downwards."""
    if direction == 1:
        return _log_bound(structure, n_events, end + 1, "upper") if end < structure.n else -math.inf
    return _log_bound(structure, n_events, end, "lower") if end > 0 else -math.inf


def _log_scale(point: Point, n_events: int, hits: int) -> tuple[float, float]:
    """log of E[y^(C - hits)] / P(N = m) under independent events with chance p, and how far rounding may have moved it.

    No lgamma: its differences lose eight digits at ten million steps.
    """
    log_events = log_pmf(n_events, point.structure.n_steps, point.p, math.exp(-point.ell))
    terms = point.log_mean, -hits * point.t, -log_events
    return sum(terms), 5e-16 * sum(map(abs, terms))


def _log_chernoff(point: Point, n_events: int, hits: int) -> float:
    """Chernoff's bound, P(C >= c | N = m) <= E[y^(C - c)] / P(N = m), raised by what rounding may have lost."""
    log_scale, rounding = _log_scale(point, n_events, hits)
    return min(log_scale + 10.0 * (rounding + _rounding(point, n_events)), 0.0) if math.isfinite(log_scale) else 0.0


def _invert_tail(structure: Structure, n_events: int, reached: int, side: str, most_blocks: int) -> Tail:
    """P(C >= reached) or P(C < reached) by tilted inversion; best for the smaller of the two."""
    sign, hits = (1, reached) if side == "upper" else (-1, reached - 1)
    point = tilt(structure, n_events, hits, side=sign)
    if point is None:
        return _certain(False)
    log_scale, scale_rounding = _log_scale(point, n_events, hits)
    grid = tail_grid(point, n_events, hits, sign, log_scale)
    j = np.arange(grid.n_psi)
    psi = 2.0 * np.pi * j / grid.n_psi
    pole = 1.0 / (1.0 - np.exp(-sign * (point.t + 1j * psi)))
    values, left_out, moduli = _characteristic(point, n_events, grid, np.abs(pole), most_blocks)
    at_most = _log_chernoff(point, n_events, hits)
    if not math.isfinite(left_out + moduli):  # it gave up: Chernoff's bound is what can be said
        return _within(math.inf, at_most)
    turns = np.exp(2j * np.pi * ((point.counted_by_misses - hits) * j % grid.n_psi) / grid.n_psi)
    terms = values * pole * turns
    total = math.fsum(terms.real) / grid.n_psi
    lost = abs(point.t) * grid.n_psi  # -log q
    below = math.exp(-lost - log_scale) / -math.expm1(-lost) if grid.subtract else 0.0
    total = total - below if grid.subtract else -math.expm1(-lost) * total
    rounding = _rounding(point, n_events) + scale_rounding
    error = grid.alias + left_out + rounding * (moduli + below)
    if math.log(max(total + error, 1e-300)) + point.objective(n_events, hits) < -0.1:
        return _certain(False)  # fewer than one placement: none
    if total <= error:  # lost in rounding: what can be said is that it is not above this, rounding being an estimate
        return _within(math.inf, min(log_scale + math.log(max(total, 0.0) + 10.0 * error), at_most))
    return _within(error / total, min(log_scale + math.log(total), 0.0))


def _characteristic(
    point: Point, n_events: int, grid: Angles, weight: FloatArray, most_blocks: int
) -> tuple[npt.NDArray[np.complex128], float, float]:
    """E[e^{i psi (C - n')}; N = m] of the tilted law, n' = counted_by_misses.

    Also what was left out at most, and the mean modulus of what was not.
    """
    from nofluke.laws.exact import kernels

    structure = point.structure
    slope = -point.cov / point.var_hits if point.var_hits > 0.0 else 0.0
    real, imaginary, left_out, moduli = kernels.invert(
        structure.clusters,
        point.run,
        point.singles,
        structure.lengths,
        structure.capacity,
        (point.ell, point.p, math.exp(-point.t), structure.free),
        n_events,
        grid.n_phi,
        grid.n_psi,
        slope,
        weight,
        grid.tau,
        most_blocks,
    )
    return real + 1j * imaginary, left_out / grid.n_psi, moduli / grid.n_psi


def _rounding(point: Point, n_events: int) -> float:
    """Estimate of the relative error of rounding in a term of the sum."""
    structure = point.structure
    # each block rounds on its own; errors of x and z, though small, add up over events and predictions
    apart = math.sqrt(len(structure.length) + 64.0 * min(n_events, structure.n_steps - n_events))
    together = 0.1 * inner(structure.count, structure.size + point.p * structure.covered)
    return 5e-16 * (10.0 + apart + together)


def _within(error: float, log_p: float) -> Tail:
    """A tail whose relative error is at most so much."""
    return Tail.of_log(log_p, How(kind="exact", name="Fourier", error=error))


def _certain(happens: bool) -> Tail:
    return _within(0.0, 0.0 if happens else -math.inf)


def _complement(other: Tail) -> Tail:
    error = other.method.error
    if math.isinf(error):  # between 0 and its bound: what is left of it is at most 1
        return _within(other.p / (1.0 - other.p) if other.p < 0.5 else math.inf, 0.0)
    p = -math.expm1(other.log_p)
    if p <= 0.0:
        return _certain(False)
    rounded = other.p * error / p + 1.2e-16 if 0.0 < other.p < 1.0 else 0.0
    return _within(rounded, math.log1p(-other.p) if p > 0.5 else math.log(p))
