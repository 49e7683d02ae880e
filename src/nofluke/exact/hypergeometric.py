"""The hypergeometric distribution, with full relative accuracy in both tails."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


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
