"""From scores to predictions: the threshold that a number or a quantile asks for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nofluke.counting import BoolArray
from nofluke.errors import InputError
from nofluke.inputs import Sequence


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
        try:
            value = float(threshold)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"threshold={threshold!r} must be a number.") from None
        if math.isnan(value):
            raise InputError("threshold is NaN: pass a number.")
        return value
    return quantile_thresholds(sequence, [quantile])[0]


def quantile_thresholds(sequence: Sequence, quantiles: Any) -> list[float]:
    """Thresholds at quantiles of the scores of the steps that count."""
    try:
        levels = np.array([float(q) for q in quantiles])
    except (TypeError, ValueError):
        raise InputError(f"quantile={quantiles[0]!r} must be a number.") from None
    wrong = levels[~((levels >= 0) & (levels <= 1))]
    if len(wrong):
        raise InputError(f"quantile={wrong[0]:g} must be between 0 and 1.")
    return [float(value) for value in np.quantile(sequence.open_scores(), levels)]


def choose_alarms(
    sequence: Sequence, threshold: float | None, quantile: float | None
) -> tuple[float | None, BoolArray]:
    """The threshold, if there are scores to put one on, and the predictions on the steps that count."""
    cut = choose_threshold(sequence, threshold, quantile)
    if cut is not None:
        return cut, predicted(sequence, cut)
    if sequence.predictions is None:
        raise InputError("pass either scores or predictions.")
    return None, sequence.predictions


def predicted(sequence: Sequence, threshold: float) -> BoolArray:
    """The predictions z ≥ τ on the steps that count."""
    if sequence.scores is None:
        raise InputError("there are no scores to put a threshold on: pass scores, not predictions.")
    with np.errstate(invalid="ignore"):  # NaN under the mask compares as not predicted
        return np.asarray((sequence.scores >= threshold) & sequence.open_steps)
