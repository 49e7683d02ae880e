"""From scores to predictions: the threshold that a number or a quantile asks for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.data.columns import as_column
from nofluke.errors import InputError, shown
from nofluke.plain import as_number, number_or_none, whole_or_none
from nofluke.series.reading import Sequence


def choose_threshold(sequence: Sequence, threshold: float | None, quantile: float | None) -> float | None:
    """τ from a threshold or a quantile; None where alarms are given instead of scores."""
    if sequence.scores is None:
        if threshold is not None or quantile is not None:
            raise InputError("threshold and quantile belong to scores: leave them out with predictions.")
        return None
    if (threshold is None) is (quantile is None):
        raise InputError(
            f"pass either threshold or quantile, got {'neither' if threshold is None else 'both'}: "
            "one of them says which scores are predictions."
        )
    if threshold is not None:
        return as_threshold(threshold)
    return quantile_thresholds(sequence, [as_quantile(quantile)])[0]


def choose_thresholds(sequence: Sequence, thresholds: Any, quantiles: Any) -> tuple[FloatArray, FloatArray | None]:
    """Ascending thresholds, and the quantiles they come from, if they do."""
    if thresholds is not None and quantiles is not None:
        raise InputError("pass either thresholds or quantiles, got both.")
    if thresholds is not None:
        return np.sort(_numbers(thresholds, "thresholds")), None
    levels = np.sort(_numbers(quantiles, "quantiles"))
    for outermost in (levels[0], levels[-1]):
        as_quantile(outermost)
    return np.array(quantile_thresholds(sequence, levels)), levels


def as_threshold(value: object) -> float:
    """τ as a plain float."""
    return _least_score(value, as_number(value, "threshold", "be a number", lambda number: not math.isnan(number)))


def _least_score(value: object, cut: float) -> float:
    """The least score that reaches a number: for a whole one between two floats the upper, since scores are floats."""
    whole = whole_or_none(value)
    return math.nextafter(cut, math.inf) if whole is not None and cut < whole else cut


def as_quantile(value: object) -> float:
    """A quantile's level as a plain float."""
    return as_number(value, "quantile", "be between 0 and 1", lambda number: 0 <= number <= 1)


def _numbers(given: Any, name: str) -> FloatArray:
    """One number or a column of them, as floats that scores are to reach."""
    items: Any = given if isinstance(given, list | tuple) else [given]
    numbers = [number_or_none(item) for item in items]
    if None in numbers:  # a column from a library, or none at all
        items = as_column(given, name).values
        numbers = [math.nan] if items.dtype.kind == "M" else items
    floats = np.array(numbers, dtype=np.float64)
    if len(floats) == 0 or np.isnan(floats).any():
        raise InputError(f"{name} must be one or more numbers without NaN, got {shown(given)}.")
    for at in np.flatnonzero(np.abs(floats) >= 2**53):
        floats[at] = _least_score(items[at], float(floats[at]))
    return floats


def quantile_thresholds(sequence: Sequence, levels: Any) -> list[float]:
    """Thresholds at quantiles of the scores of the steps that count: linear interpolation, as ``numpy.quantile``."""
    scores = sequence.open_scores()
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.quantile(scores, levels)
        # where the difference of two scores is too large for a float, that of their halves is not
        halves = found if np.isfinite(found).all() else 2 * np.quantile(scores / 2, levels)
    return [float(value) for value in np.where(np.isfinite(found), found, halves)]


def chosen_thresholds(sequence: Sequence, threshold: float | None, quantile: float | None) -> FloatArray | None:
    """The one threshold of an evaluation, as a trial takes it; None where alarms are given."""
    cut = choose_threshold(sequence, threshold, quantile)
    return None if cut is None else np.array([cut])
