"""The hypergeometric distribution, with full relative accuracy in both tails; and that of events on weighted steps.

The section "Recall" of docs/explanation/theory.md has the mathematics; that of weighted steps is in "Pooling over
series".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

import numpy as np

from nofluke.arrays import AnyArray, FloatArray, IntArray, weighted_sum
from nofluke.errors import InputError
from nofluke.laws.exact.binomial import log_pmf
from nofluke.ratios import TIE_SLACK

MOST_KEPT = 10_000  # hits up to which a law is kept until others are asked for
FEW = 50  # hits up to which many are: the series of a study ask for the same again and again


def hypergeometric_pmf(n_steps: int, covered: int, n_events: int) -> FloatArray:
    """P(R = r) for r = 0 .. min(m, D), R the number of m events that fall on D given steps out of T.

    ``binom(D, r) binom(T-D, m-r) / binom(T, m)``, by the ratio of neighbours from the mode outwards: no logarithms,
    so that the relative error stays near the rounding of a double times the square root of the distance from the mode.

    Examples
    --------
    >>> hypergeometric_pmf(4, 2, 2).round(4)
    array([0.1667, 0.6667, 0.1667])
    """
    most = min(n_events, covered)
    return (_few_pmf if most <= FEW else _kept_pmf if most <= MOST_KEPT else _pmf)(n_steps, covered, n_events)


def _pmf(n_steps: int, covered: int, n_events: int) -> FloatArray:
    first, weights = _weights(n_steps, covered, n_events, n_events)
    pmf = np.zeros(min(n_events, covered) + 1)
    pmf[first:] = weights
    pmf /= pmf.sum()
    pmf.flags.writeable = False
    return pmf


_few_pmf = lru_cache(maxsize=2048)(_pmf)
_kept_pmf = lru_cache(maxsize=16)(_pmf)  # both laws of a cell ask for the same


def critical_hits(n_steps: int, covered: int, n_events: int, alpha: float) -> int | None:
    """The smallest r that comes out at all and has P(R >= r) <= alpha; None where not even the largest has.

    Only as many hits around the mode are looked at as leave out a share of e^-40 of alpha (Hoeffding 1963, whose bound
    holds without replacement too): the cost grows with the square root of the number of events.

    Examples
    --------
    >>> critical_hits(2_000, 400, 10, 0.05), critical_hits(2_000, 400, 1, 0.05)
    (5, None)
    """
    reach = math.ceil(math.sqrt(n_events * (40.0 - math.log(alpha)) / 2)) + 1
    first, weights = _weights(n_steps, covered, n_events, reach)
    tails = np.cumsum(weights[::-1])[::-1]
    small = np.flatnonzero(tails <= alpha * (1 + TIE_SLACK) * tails[0])
    return first + int(small[0]) if len(small) else None


def _weights(n_steps: int, covered: int, n_events: int, reach: int) -> tuple[int, FloatArray]:
    """Some r, and P(R = r), P(R = r + 1), ... relative to that of the mode, up to ``reach`` hits from it."""
    free = n_steps - covered
    lowest, highest = max(0, n_events - free), min(n_events, covered)
    mode = (n_events + 1) * (covered + 1) // (n_steps + 2)
    up = np.arange(mode, min(highest, mode + reach), dtype=np.float64)
    down = np.arange(mode, max(lowest, mode - reach), -1, dtype=np.float64)
    rise = np.cumprod((covered - up) / (up + 1) * ((n_events - up) / (free - n_events + up + 1)))
    fall = np.cumprod(down / (covered - down + 1) * ((free - n_events + down) / (n_events - down + 1)))
    return mode - len(down), np.concatenate([fall[::-1], [1.0], rise])


def hypergeometric_log_pmf(n_steps: int, covered: int, n_events: int, hits: IntArray) -> FloatArray:
    """log P(R = r) for each r in ``hits``, from three binomial ones, however small.

    Examples
    --------
    >>> np.exp(hypergeometric_log_pmf(4, 2, 2, np.arange(3))).round(4)
    array([0.1667, 0.6667, 0.1667])
    """
    if n_events in (0, n_steps):
        return np.where(hits == (covered if n_events else 0), 0.0, -np.inf)
    p, q = n_events / n_steps, (n_steps - n_events) / n_steps
    free = n_steps - covered
    return np.asarray(
        log_pmf(hits, covered, p, q) + log_pmf(n_events - hits, free, p, q) - log_pmf(n_events, n_steps, p, q)
    )


def hypergeometric_log_tail(
    n_steps: int, covered: int, n_events: int, hits: int, side: Literal["upper", "lower"]
) -> float:
    """log P(R >= hits) or log P(R <= hits), however small: minus infinity only where no placement has so many.

    The log of the first probability, from three binomial ones, and the sum of its neighbours' ratios to it.

    Examples
    --------
    >>> round(math.exp(hypergeometric_log_tail(10, 4, 3, 2, "upper")), 12)  # (6 * 6 + 4) / 120
    0.333333333333
    >>> round(hypergeometric_log_tail(10**6, 500, 500, 500, "upper"), 3)
    -4296.3
    """
    free = n_steps - covered
    lowest, highest = max(0, n_events - free), min(n_events, covered)
    if hits > highest if side == "upper" else hits < lowest:
        return -math.inf
    if hits <= lowest if side == "upper" else hits >= highest:
        return 0.0
    p, q = n_events / n_steps, (n_steps - n_events) / n_steps
    log_first = log_pmf(hits, covered, p, q) + log_pmf(n_events - hits, free, p, q) - log_pmf(n_events, n_steps, p, q)
    if side == "upper":
        r = np.arange(hits, highest, dtype=np.float64)
        ratios = (covered - r) / (r + 1) * ((n_events - r) / (free - n_events + r + 1))
    else:
        r = np.arange(hits, lowest, -1, dtype=np.float64)
        ratios = r / (covered - r + 1) * ((free - n_events + r) / (n_events - r + 1))
    return min(log_first + math.log1p(float(np.cumprod(ratios).sum())), 0.0)


# ---- events that fall on weighted steps: how much they weigh together, when every placement of them is equally likely
#
# Series that share one truth also share its placements. An event then finds as many of the detector's series as have an
# alarm near it: the step's weight. With N_k steps of weight k, the number of placements of m events that weigh s
# together is the coefficient of y^m x^s in Π_k (1 + y x^k)^{N_k}.

KEPT = 1e-250  # probabilities above this keep all their digits, whatever was added up to make them
STEEPEST = 700.0  # logarithm of the largest odds that a double holds


def weighted_cost(counts: AnyArray, n_events: int) -> float:
    """Multiplications of one pass of the programme, at most; ``counts[k]`` steps have weight k."""
    drawn = np.minimum(counts[1:], n_events)  # steps without weight are put in at the end
    return float(drawn.sum() + 1) * (n_events + 1) * (_heaviest(counts, n_events) + 1)


def weighted_log_pmf(counts: AnyArray, n_events: int) -> tuple[int, FloatArray]:
    """Some s, and log P(S = s), log P(S = s + 1), ..., S the weight of events on distinct, uniformly drawn steps.

    A dynamic programme over the weights adds only positive numbers, so that each probability keeps its digits; where
    one pass underflows, another is tilted to where it ends, P(S = s) ∝ P(S = s) e^{θs}.

    Parameters
    ----------
    counts : array of int
        ``counts[k]`` steps have weight k; they add up to the number of steps.
    n_events : int
        Events, at most as many as steps.

    Examples
    --------
    Two of four steps: one of weight 2, one of weight 1, two of none.

    >>> first, logs = weighted_log_pmf(np.array([2, 1, 1]), 2)
    >>> first, (6 * np.exp(logs)).round(9)
    (0, array([1., 2., 2., 1.]))
    """
    steps = np.asarray(counts, dtype=np.int64)
    n_steps, most = int(steps.sum()), len(steps) - 1
    if (steps < 0).any() or not 0 <= n_events <= n_steps:
        raise InputError(argument="n_events", value=n_events, problem=f"must lie in 0..{n_steps}, the steps in counts")
    low, high = n_events * most - _heaviest(steps[::-1], n_events), _heaviest(steps, n_events)
    if low == high:
        return low, np.zeros(1)
    logs = _pass(steps, n_events, high, 0.0)
    logs -= math.log(float(np.exp(logs).sum()))
    for end, step in ((low, -1), (high, 1)):
        known = _reached(logs, step)
        while known != end:
            tilted = _pass(steps, n_events, high, _tilt_to(steps, n_events, known + step))
            further = _reached(tilted, step)
            if not (further - known) * step > 0 or tilted[known] == -np.inf:
                break  # rounding: nothing that could be told is left
            beyond = slice(known + 1, further + 1) if step > 0 else slice(further, known)
            logs[beyond] = tilted[beyond] + (logs[known] - tilted[known])
            known = further
    return low, logs[low : high + 1]


def weighted_moments(counts: AnyArray, n_events: int) -> tuple[float, float]:
    """Mean and variance: m w̄ and m (T - m)/(T - 1) times the variance of the steps' weights.

    >>> weighted_moments(np.array([2, 1, 1]), 2)
    (1.5, 0.9166666666666666)
    """
    steps = [int(count) for count in counts]
    n_steps, first = sum(steps), sum(k * count for k, count in enumerate(steps))
    second = sum(k * k * count for k, count in enumerate(steps))
    if n_steps < 2:
        return float(first * n_events), 0.0
    spread = n_events * (n_steps - n_events) * (n_steps * second - first * first)
    return n_events * first / n_steps, spread / (n_steps * n_steps * (n_steps - 1))


def _heaviest(counts: AnyArray, n_events: int) -> int:
    """The largest weight of so many events."""
    left, heaviest = n_events, 0
    for k in range(len(counts) - 1, 0, -1):
        taken = min(left, int(counts[k]))
        left, heaviest = left - taken, heaviest + k * taken
    return heaviest


def _reached(logs: FloatArray, step: int) -> int:
    """The last weight that a pass tells, upwards or downwards."""
    return int(np.flatnonzero(logs > -np.inf)[-1 if step > 0 else 0])


def _pass(steps: IntArray, n_events: int, high: int, theta: float) -> FloatArray:
    """log P(S = s) + θs + constant, for s = 0..high; minus infinity where digits may be lost.

    Each step holds an event by itself, with odds that grow with its weight by e^θ. Given their number, placements of
    the same weight are all alike, whatever the odds.
    """
    log_odds = np.clip(_base(steps, n_events, theta) + theta * np.arange(len(steps)), -STEEPEST, STEEPEST)
    held, empty = 1 / (1 + np.exp(-log_odds)), 1 / (1 + np.exp(log_odds))
    table = np.zeros((n_events + 1, high + 1))
    table[0, 0] = 1.0
    most = top = 0  # events and weight so far
    for k in (np.flatnonzero(steps[1:]) + 1).tolist():
        drawn = np.arange(min(int(steps[k]), n_events) + 1)
        chances = np.exp(log_pmf(drawn, int(steps[k]), held[k], empty[k]))
        grown = table * chances[0]
        for j in (np.flatnonzero(chances[1:]) + 1).tolist():
            rows, columns = min(most, n_events - j) + 1, min(top, high - k * j) + 1
            if columns > 0:
                grown[j : j + rows, k * j : k * j + columns] += chances[j] * table[:rows, :columns]
        table, most, top = grown, min(most + len(drawn) - 1, n_events), min(top + k * (len(drawn) - 1), high)
    left = np.exp(log_pmf(n_events - np.arange(n_events + 1), int(steps[0]), held[0], empty[0]))
    law = weighted_sum(left, table)
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(law > KEPT, np.log(law), -np.inf) - theta * np.arange(high + 1))


def _base(steps: IntArray, n_events: int, theta: float) -> float:
    """Log-odds of a step without weight, such that as many events are expected as there are."""
    weights, n_steps = np.arange(len(steps)), int(steps.sum())
    centre = math.log(max(n_events, 0.5) / max(n_steps - n_events, 0.5))
    if theta == 0.0:
        return centre
    reach = abs(theta) * len(steps) + 1.0

    def expected(base: float) -> float:
        return float(steps @ (1 / (1 + np.exp(-np.clip(base + theta * weights, -STEEPEST, STEEPEST)))))

    return _where(expected, n_events, centre - reach, centre + reach)


def _tilt_to(steps: IntArray, n_events: int, target: int) -> float:
    """The θ under which so much weight is expected."""
    weights = np.arange(len(steps))

    def expected(theta: float) -> float:
        base = _base(steps, n_events, theta)
        held = 1 / (1 + np.exp(-np.clip(base + theta * weights, -STEEPEST, STEEPEST)))
        return float((steps * weights) @ held)

    return _where(expected, target, -60.0, 60.0)


def _where(rising: Callable[[float], float], target: float, low: float, high: float) -> float:
    """Where a rising function has a value, to some digits: halving is all that a tilt needs."""
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < target else (low, middle)
    return (low + high) / 2
