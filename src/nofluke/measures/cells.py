"""Counts and measures of every cell of a trial: what is known about a sweep without chance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.measures.confusion import Confusion
from nofluke.measures.matrices import both_matrices
from nofluke.plain import as_whole, check_beta
from nofluke.ratios import f_weights
from nofluke.series.tolerance import Tolerance
from nofluke.series.trial import Trial


@dataclass(frozen=True, kw_only=True, eq=False)
class CellMeasures:
    """Counts and measures of a trial, for every tolerance (rows) and every threshold (columns, ascending)."""

    trial: Trial = field(repr=False)

    @property
    def n(self) -> int:
        """Steps that count."""
        return self.trial.n_told

    @property
    def n_events(self) -> int:
        """Events on them."""
        return self.trial.n_events

    @property
    def thresholds(self) -> FloatArray:
        """K thresholds in the caller's own numbers, from the most predictions to the fewest."""
        return self.trial.thresholds if self.trial.told is None else self.trial.told

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        """D tolerances."""
        return self.trial.tolerances

    @property
    def n_predictions(self) -> IntArray:
        """Predictions, by threshold: steps, or episodes of them."""
        return self.trial.n_predictions

    @property
    def precision_hits(self) -> IntArray:
        """PA-AAδ, of shape (D, K)."""
        return self.trial.precision_hits

    @property
    def recall_hits(self) -> IntArray:
        """PAδ-AA, of shape (D, K)."""
        return self.trial.recall_hits

    @property
    def near_events(self) -> IntArray:
        """AAδ by tolerance: steps within the tolerance of an event."""
        return self.trial.near_events

    @property
    def near_predictions(self) -> IntArray:
        """PAδ, of shape (D, K): steps within the tolerance of a prediction. Counted when first asked for."""
        return self.trial.near_predictions

    @property
    def shape(self) -> tuple[int, int]:
        """Number of tolerances and of thresholds."""
        return len(self.tolerances), len(self.thresholds)

    @property
    def precision(self) -> FloatArray:
        """P_δ for each cell; NaN where nothing is predicted."""
        return _ratio(self.precision_hits, self.n_predictions)

    @property
    def recall(self) -> FloatArray:
        """R_δ for each cell; NaN where there are no events."""
        return _ratio(self.recall_hits, np.int64(self.n_events))

    @property
    def f1(self) -> FloatArray:
        """F1 for each cell; NaN where precision or recall is."""
        return self.f_beta(1.0)

    def f_beta(self, beta: float) -> FloatArray:
        """F_β = (1 + β²) P_δ R_δ / (β² P_δ + R_δ) for each cell; 0 where both are 0."""
        of_recall, of_precision = f_weights(check_beta(beta))
        precision, recall = self.precision, self.recall
        below = of_recall * precision + of_precision * recall
        return np.where(below == 0, 0.0, _ratio((of_recall + of_precision) * precision * recall, below))

    def matrices(self, tolerance: int, threshold: int) -> tuple[Confusion | None, Confusion | None]:
        """Both confusion matrices of a cell, by the positions of its tolerance and threshold: (truth, predictions).

        Matrices count steps: the first is None where alarms count as episodes, the second where ranges are counted.
        """
        d, k = self.shape
        return both_matrices(
            self.trial, as_whole(tolerance, "tolerance", 0, d - 1), as_whole(threshold, "threshold", 0, k - 1)
        )

    def best(self, beta: float = 1.0) -> list[tuple[int, int]]:
        """For each tolerance, the indices (tolerance, threshold) of the largest F_β; left out where all are NaN."""
        values = self.f_beta(beta)
        return [(d, int(np.nanargmax(row))) for d, row in enumerate(values) if not np.isnan(row).all()]


def _ratio(numerator: Any, denominator: Any) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominator == 0, np.nan, np.divide(numerator, denominator))
