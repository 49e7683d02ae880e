"""The hypergeometric distribution, with full relative accuracy in both tails.

The section "Recall" of docs/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.laws.exact.binomial import log_pmf


def hypergeometric_pmf(n_steps: int, covered: int, n_events: int) -> FloatArray:
    """P(R = r) for r = 0 .. min(m, D), R the number of m events that fall on D given steps out of T.

    ``binom(D, r) binom(T-D, m-r) / binom(T, m)``, by the ratio of neighbours from the mode outwards: no logarithms,
    so that the relative error stays near the rounding of a double times the square root of the distance from the mode.

    Examples
    --------
    >>> hypergeometric_pmf(4, 2, 2).round(4)
    array([0.1667, 0.6667, 0.1667])
    """
    free = n_steps - covered
    lowest, highest = max(0, n_events - free), min(n_events, covered)
    mode = (n_events + 1) * (covered + 1) // (n_steps + 2)
    up = np.arange(mode, highest, dtype=np.float64)
    down = np.arange(mode, lowest, -1, dtype=np.float64)
    pmf = np.zeros(highest + 1)
    pmf[mode] = 1.0
    pmf[mode + 1 :] = np.cumprod((covered - up) / (up + 1) * ((n_events - up) / (free - n_events + up + 1)))
    fall = np.cumprod(down / (covered - down + 1) * ((free - n_events + down) / (n_events - down + 1)))
    pmf[lowest:mode] = fall[::-1]
    pmf /= pmf.sum()
    return pmf


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
