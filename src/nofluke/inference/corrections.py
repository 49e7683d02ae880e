"""Corrections of p-values for having looked at many of them.

The section "Many thresholds and tolerances" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.errors import InputError


def holm(pvalues: Any) -> FloatArray:
    """P-values corrected for their number by Holm's step-down method: familywise error, whatever the dependence.

    Sorted ascending, p_(i) becomes max_{j ≤ i} min(1, (n - j + 1) p_(j)). NaN are no tests and stay NaN.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    return _corrected(pvalues, lambda p: np.maximum.accumulate(p * np.arange(len(p), 0, -1)))


def benjamini_hochberg(pvalues: Any) -> FloatArray:
    """P-values corrected by Benjamini and Hochberg's step-up method: the expected share of false discoveries.

    Sorted ascending, p_(i) becomes min_{j ≥ i} min(1, n p_(j) / j). Proven for independent and positively dependent
    tests; for the thresholds of one sweep that is plausible, not proven. NaN are no tests and stay NaN.

    References
    ----------
    Benjamini and Hochberg (1995), Controlling the false discovery rate.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    array([0.03, 0.04, 0.04])
    """
    return _corrected(pvalues, lambda p: np.minimum.accumulate((p * len(p) / np.arange(1, len(p) + 1))[::-1])[::-1])


def _corrected(pvalues: Any, adjust: Any) -> FloatArray:
    try:
        if np.asarray(pvalues).dtype.kind not in "biufO":
            raise TypeError
        p = np.asarray(pvalues, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            argument="pvalues",
            value=pvalues,
            problem="must be numbers between 0 and 1",
            remedy="pass an array, with NaN where there is no test",
        ) from None
    if isinstance(pvalues, np.ma.MaskedArray):
        p = np.where(np.ma.getmaskarray(pvalues), np.nan, p)  # masked: no test
    if ((p < 0) | (p > 1)).any():
        raise InputError(argument="pvalues", problem="must lie between 0 and 1")
    result = np.full(p.shape, np.nan)
    tested = ~np.isnan(p)
    flat = p[tested]
    order = np.argsort(flat, kind="stable")
    corrected = np.empty(len(flat))
    corrected[order] = np.minimum(adjust(flat[order]), 1.0)
    result[tested] = corrected
    return result
