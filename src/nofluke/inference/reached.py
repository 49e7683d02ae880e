"""How often chance reaches a value: p-values of numbers of any scale, with ties but for rounding.

The section "Values that chance reaches" of docs/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from nofluke.arrays import BoolArray, FloatArray
from nofluke.inference.smallest import adjusted, smallest_p

Side = Literal["greater", "less"]
SLACK = 1e-10  # of the largest of the numbers: metrics are sums of many roundings


def reaching(values: FloatArray, bar: float, side: Side, perfect: float | None = None) -> BoolArray:
    """Which values are as far out as the bar, those among them that are undefined.

    >>> reaching(np.array([0.1 + 0.2, 0.2, np.nan]), 0.3, "greater")
    array([ True, False,  True])
    """
    signed, level = (values, bar) if side == "greater" else (-values, -bar)
    # a scale that no draw has a say in, so that stopping early changes nothing
    slack = SLACK * max(abs(bar), abs(perfect or 0.0)) if math.isfinite(bar) else 0.0
    return np.asarray(np.isnan(values) | (signed >= level - slack))


def familywise(observed: FloatArray, values: FloatArray, sides: tuple[Side, ...], *, listed: bool) -> FloatArray:
    """For each metric, how often the smallest p-value of all is as small as its own: on common draws, since scales differ.

    Parameters
    ----------
    observed : float array, one for each metric
    values : float array of shape (draws, metrics)
        With ``listed`` the data's own draw is the first of them.
    sides : tuple of {"greater", "less"}
        Which values count as extreme; both for a test of two sides.
    listed : bool

    References
    ----------
    Westfall and Young (1993), Resampling-based multiple testing; Ge, Dudoit and Speed (2003).
    """
    rows = values if listed else np.vstack([observed, values])
    columns = [_oriented(rows, side) for side in sides]
    p, smallest = smallest_p(np.hstack(columns))
    found = adjusted(p, smallest).reshape(len(sides), -1)
    return np.asarray(found.min(axis=0))


def _oriented(rows: FloatArray, side: Side) -> Any:
    """Larger is further out; undefined is as far out as anything, and what is equal but for rounding is equal."""
    signed = rows if side == "greater" else -rows
    sizes = np.abs(signed)
    scale = np.max(sizes, axis=0, initial=0.0, where=np.isfinite(sizes))
    step = np.where(scale > 0, scale, 1.0) * SLACK
    whole = np.rint(np.where(np.isfinite(signed), signed, 0.0) / step)
    top = np.max(whole, axis=0, initial=0.0) + 1
    whole = np.where(signed == -np.inf, -top, whole)
    return np.where(np.isnan(signed) | (signed == np.inf), top, whole)
