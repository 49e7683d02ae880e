"""Shares and F_β, written once, and when two of them are equal but for rounding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nofluke.arrays import FloatArray

TIE_SLACK = 1e-12  # shares and p-values that are mathematically equal differ by less
NEARLY_PERFECT = 0.01  # of the perfect value: what chance leaves is then too little to be a share of


def divide(numerator: float, denominator: float) -> float:
    """A ratio that is NaN where it is undefined."""
    return numerator / denominator if denominator else math.nan


def corrected(value: float, chance: float, perfect: float = 1.0) -> float:
    """(value - chance)/(perfect - chance): 0 for chance, 1 for perfect; NaN where chance is nearly perfect itself."""
    left = perfect - chance
    return (value - chance) / left if abs(left) > NEARLY_PERFECT * max(abs(perfect), 1.0) else math.nan


def f_weights(beta: float) -> tuple[float, float]:
    """Weights of recall and precision in F_β, as β² is to 1: the larger one is 1, so that no β overflows."""
    return (beta**2, 1.0) if beta <= 1 else (1.0, (1 / beta) ** 2)


def f_beta(precision: float, recall: float, beta: float = 1.0) -> float:
    """F_β = (1 + β²) P R / (β² P + R); NaN where P or R is, 0 where both are 0; F_0 is P."""
    if math.isnan(precision) or math.isnan(recall):
        return math.nan
    if beta == 0:  # also where R is 0 and P is not, as zero_division may have it
        return precision
    of_recall, of_precision = f_weights(beta)
    below = of_recall * precision + of_precision * recall
    return (of_recall + of_precision) * precision * recall / below if below else 0.0


def f_of_hits(precision_hits: Any, recall_hits: Any, n_predictions: Any, n_events: Any, beta: float) -> FloatArray:
    """F_β = (1 + β²) C R / (β² C m + R n) of arrays of hits C of n predictions and R of m events; 0 without hits."""
    hits, found = np.asarray(precision_hits, dtype=np.float64), np.asarray(recall_hits, dtype=np.float64)
    of_recall, of_precision = f_weights(beta)
    below = of_recall * hits * n_events + of_precision * found * n_predictions
    above = (of_recall + of_precision) * hits * found
    return np.asarray(np.divide(above, below, out=np.zeros(below.shape), where=below > 0))


def f_of_shares(precision: FloatArray, recall: FloatArray, beta: float) -> FloatArray:
    """F_β of arrays of shares: NaN where recall is (nothing to find), 0 where precision is (no alarm) or both are 0.

    >>> f_of_shares(np.array([0.5, np.nan, 0.5]), np.array([0.5, 0.0, np.nan]), 1.0)
    array([0.5, 0. , nan])
    """
    precision = np.where(np.isnan(precision), 0.0, precision)
    if beta == 0:  # precision itself, without rounding
        return np.where(np.isnan(recall), recall, precision)
    of_recall, of_precision = f_weights(beta)
    below = of_recall * precision + of_precision * recall
    above = (of_recall + of_precision) * precision * recall
    return np.asarray(np.divide(above, below, out=np.zeros(len(below)), where=below != 0))


def largest(values: FloatArray) -> tuple[float, tuple[int, int] | None]:
    """The largest of a table of numbers, and where it stands first; NaN are skipped, and all NaN give nothing.

    >>> largest(np.array([[0.1, np.nan], [0.7, 0.7]])), largest(np.array([[np.nan]]))
    ((0.7, (1, 0)), (nan, None))
    """
    if np.isnan(values).all():
        return math.nan, None
    row, column = np.unravel_index(np.nanargmax(values), values.shape)
    return float(values[row, column]), (int(row), int(column))
