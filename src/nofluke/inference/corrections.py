"""Corrections of p-values for having looked at many of them.

The section "Many thresholds and tolerances" of docs/explanation/theory.md has the mathematics.
The section "Values that chance reaches" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.errors import InputError
from nofluke.ratios import TIE_SLACK


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


# ---- the smallest p-value of many tests against chance's smallest, all from the same placements

# Westfall and Young (1993), min P; Ge, Dudoit and Speed (2003). A window that is hardly ever hit has one hit many
# standard deviations above its expectation, and would drown all others by that; its p-value is not small.


def smallest_p(hits: IntArray) -> tuple[FloatArray, FloatArray]:
    """P-values of all hits within their own column, and the smallest of each row.

    Of equal p-values, the one further above the mean of its column, in standard deviations, is smaller by less than
    half of the step between two p-values: else the largest hits of every window would all be as small as they can be.

    >>> p, smallest = smallest_p(np.array([[2, 0], [1, 1], [0, 0], [1, 0]]))
    >>> p.round(2).tolist(), smallest.round(2).tolist()
    ([[0.18, 1.0], [0.75, 0.17], [1.0, 1.0], [0.75, 1.0]], [0.18, 0.17, 1.0, 0.75])
    """
    p = np.empty(hits.shape)
    for column, values in enumerate(hits.T):
        _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
        above = np.maximum(values - values.mean(), 0.0) / (values.std() or 1.0)
        ties = above / (1 + above) / (2 * len(values))
        p[:, column] = (np.cumsum(counts[::-1])[::-1] / len(values))[inverse.ravel()] - ties
    return p, p.min(axis=1)


def adjusted(p: FloatArray, smallest: FloatArray) -> FloatArray:
    """For each window, the share of placements whose smallest p is as small as its own; row 0 is the data."""
    ordered = np.sort(smallest)
    return np.asarray(np.searchsorted(ordered, p[0] * (1 + TIE_SLACK), side="right") / len(smallest))


def bands(hits: IntArray, p: FloatArray, smallest: FloatArray, alpha: float) -> FloatArray:
    """Hits that a window must exceed for an adjusted p-value of at most alpha; infinite where none do."""
    ordered, allowed = np.sort(smallest), math.floor(alpha * len(smallest) * (1 + TIE_SLACK))
    # as many placements as are allowed may be at least as small: ties beyond them are not significant
    cut = ordered[allowed] if allowed < len(ordered) else math.inf
    return np.array(
        [
            float(values[own >= cut].max()) if (own >= cut).any() else float(values.min()) - 1
            for values, own in zip(hits.T, p.T, strict=True)
        ]
    )


FAR = 4.0  # units of scale by which an infinite number is above all others
SLACK = 1e-10  # of the largest of the numbers: metrics are sums of many roundings


def familywise(observed: FloatArray, values: FloatArray, *, listed: bool) -> FloatArray:
    """For each metric, how often the smallest p of all is as small as its own, on common draws as scales differ.

    Parameters
    ----------
    observed : float array, one for each metric
        Larger is further out.
    values : float array of shape (draws, metrics)
        With ``listed`` the data's own draw is the first of them.
    listed : bool

    References
    ----------
    Westfall and Young (1993), Resampling-based multiple testing; Ge, Dudoit and Speed (2003).
    """
    rows = values if listed else np.vstack([observed, values])
    return adjusted(*smallest_p(np.column_stack([_ranked(column) for column in rows.T])))


def _ranked(column: FloatArray) -> FloatArray:
    """Numbers in the same order, in units of their scale; equal up to rounding; undefined ones on top."""
    known = np.where(np.isnan(column), np.inf, column)
    order, scale = np.argsort(known, kind="stable"), scale_of(column) or 1.0
    with np.errstate(invalid="ignore"):  # infinite less infinite is no distance
        gaps = np.nan_to_num(np.diff(known[order]) / scale, nan=0.0, posinf=FAR)
    ranked = np.empty(len(column))
    ranked[order] = np.concatenate([[0.0], np.cumsum(np.where(gaps > SLACK, np.minimum(gaps, FAR), 0.0))])
    return ranked


def scale_of(values: FloatArray) -> float:
    """The largest of the finite numbers."""
    sizes = np.abs(values)
    return float(np.max(sizes, initial=0.0, where=np.isfinite(sizes)))
