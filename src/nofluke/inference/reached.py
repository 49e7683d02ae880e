"""How often chance reaches a value: p-values of numbers of any scale, with ties but for rounding.

The section "Values that chance reaches" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from nofluke.arrays import BoolArray, FloatArray
from nofluke.inference.smallest import adjusted, smallest_p

Side = Literal["greater", "less"]
FAR = 4.0  # units of scale by which an infinite number is above all others
SLACK = 1e-10  # of the largest of the numbers: metrics are sums of many roundings


def reaching(values: FloatArray, bar: float, side: Side, scale: float = 0.0) -> BoolArray:
    """Which values are as far out as the bar, undefined ones included; numbers of this scale have been rounded.

    >>> reaching(np.array([0.1 + 0.2, 0.2, np.nan]), 0.3, "greater")
    array([ True, False,  True])
    """
    signed, level = (values, bar) if side == "greater" else (-values, -bar)
    slack = SLACK * max(abs(bar), scale) if math.isfinite(bar) else 0.0
    return np.asarray(np.isnan(values) | (signed >= level - slack))


def scale_of(values: FloatArray) -> float:
    """The largest of the finite numbers."""
    sizes = np.abs(values)
    return float(np.max(sizes, initial=0.0, where=np.isfinite(sizes)))


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
