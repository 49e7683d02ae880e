"""Statistics: what is measured on a trial, and what it would be on other events or with another detector.

A statistic has a value in every cell of a trial. Hits know compiled loops for many placements at once. What is measured
on a whole series, by any function of labels and scores or alarms, is a metric.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nofluke.arrays import AnyArray, FloatArray
from nofluke.laws.law import Law
from nofluke.ratios import f_of_hits
from nofluke.series.trial import Cell, Trial


class Statistic(ABC):
    """Something measured in every cell of a trial; larger is better."""

    name: str

    @abstractmethod
    def observed(self, trial: Trial) -> FloatArray:
        """Its value in every cell, of shape (tolerances, thresholds); NaN where it is undefined."""

    def law(self, cell: Cell, null: Any, **how: Any) -> Law | None:
        """The statistic's law in one cell, under a null that knows it; None where it must be simulated."""
        del cell, null, how
        return None

    def on_truths(self, trial: Trial, placements: AnyArray) -> FloatArray:
        """Its value in every cell for each placement of the events: rows of first steps, as a null draws them."""
        return np.stack([self.observed(trial.with_truth(trial.truth.moved(row))) for row in placements])

    def on_detectors(self, trial: Trial, detectors: AnyArray) -> FloatArray:
        """Its value in every cell for each of several detectors: rows of one value for each step."""
        return np.stack([self.observed(trial.with_detector(row)) for row in detectors])


@dataclass(frozen=True)
class Hits(Statistic):
    """Hits of one side: predictions near an event (precision) or events near a prediction (recall)."""

    side: Literal["precision", "recall"]

    @property
    def name(self) -> str:  # type: ignore[override]
        """ "precision hits" or "recall hits"."""
        return f"{self.side} hits"

    def observed(self, trial: Trial) -> FloatArray:
        hits: Any = getattr(trial, f"{self.side}_hits")
        return np.asarray(hits, dtype=np.float64)

    def law(self, cell: Cell, null: Any, **how: Any) -> Law | None:
        if self.side not in null.exact_sides(cell):
            return None
        law: Law = getattr(null.distributions(cell, **how), self.side)
        return law

    def on_truths(self, trial: Trial, placements: AnyArray) -> FloatArray:
        return _both_hits(trial, placements)[self.side]


def PrecisionHits() -> Hits:
    """PA-AAδ: predictions with an event within the tolerance."""
    return Hits("precision")


def RecallHits() -> Hits:
    """PAδ-AA: events with a prediction within the tolerance."""
    return Hits("recall")


@dataclass(frozen=True)
class FBeta(Statistic):
    """F_β = (1 + β²) C R / (β² C m + R n) of both hits; 0 without hits."""

    beta: float = 1.0

    @property
    def name(self) -> str:  # type: ignore[override]
        """ "F1", "F2", ..."""
        return f"F{self.beta:g}"

    def observed(self, trial: Trial) -> FloatArray:
        return self._of(trial, trial.precision_hits, trial.recall_hits)

    def on_truths(self, trial: Trial, placements: AnyArray) -> FloatArray:
        hits = _both_hits(trial, placements)
        return self._of(trial, hits["precision"], hits["recall"])

    def _of(self, trial: Trial, precision: AnyArray, recall: AnyArray) -> FloatArray:
        return f_of_hits(precision, recall, trial.n_predictions, trial.n_events, self.beta)


def _both_hits(trial: Trial, placements: AnyArray) -> dict[str, FloatArray]:
    """Both hits in every cell for each placement, by the compiled loops where events are points."""
    if not trial.truth.points:
        moved = [trial.with_truth(trial.truth.moved(row)) for row in placements]
        return {side: np.stack([getattr(one, f"{side}_hits") for one in moved]) for side in ("precision", "recall")}
    from nofluke.laws.montecarlo import Problem, hits_of

    found = hits_of(Problem.of(trial), placements)
    return {"precision": found.precision.astype(np.float64), "recall": found.recall.astype(np.float64)}
