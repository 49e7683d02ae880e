"""Both confusion matrices of a cell of a trial."""

from __future__ import annotations

from nofluke.measures.confusion import Confusion
from nofluke.series.trial import Trial


def both_matrices(trial: Trial, d: int, k: int) -> tuple[Confusion | None, Confusion | None]:
    """Both confusion matrices of a cell of a trial: with tolerance in the truth, and in the predictions.

    Matrices count steps: the first is None where alarms are episodes, the second where events are ranges.
    """
    zero, n = trial.tolerances[d].zero, trial.n_steps
    hits, found = int(trial.precision_hits[d, k]), int(trial.recall_hits[d, k])
    alarms, near, reach = map(int, (trial.n_predictions[k], trial.near_events[d], trial.near_predictions[d, k]))
    steps = trial.count_alarms == "steps"
    return (
        Confusion.from_marginals(hits, alarms, near, n, "neither" if zero else "truth") if steps else None,
        Confusion.from_marginals(found, reach, trial.n_events, n, "neither" if zero else "predictions")
        if trial.truth.count_events == "steps" and trial.truth.points
        else None,
    )
