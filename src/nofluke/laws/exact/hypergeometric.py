"""The hypergeometric distribution, with full relative accuracy in both tails.

The section "Recall" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal

import numpy as np

from nofluke.arrays import FloatArray, IntArray
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
