"""The cells of one case in the way that suits all data: an evaluation each, sharing what depends only on the truth."""

from __future__ import annotations

from typing import Any

import numpy as np

from nofluke.arrays import AnyArray
from nofluke.inference.evaluate import Asked as ChanceAsked
from nofluke.inference.evaluate import Evaluation, evaluate_trial
from nofluke.inference.significance import significance
from nofluke.series.between import Made, trial_of
from nofluke.series.detector import WAYS, Cuts, choose_cut
from nofluke.series.reading import Sequence, prepare
from nofluke.series.timed import TimedTrial
from nofluke.series.trial import Cell, Trial
from nofluke.studies.asked import Asked
from nofluke.studies.cases import Case
from nofluke.studies.rows import Row

_OF_TRUTH = ("event_windows", "_near", "near_events")  # what a trial keeps that does not depend on the detector


class Cells:
    """The detectors of one case, one after another."""

    def __init__(self, case: Case, asked: Asked) -> None:
        self.case, self.asked = case, asked
        self._trial: Trial | None = None
        self.cell: Cell  # of the latest trial that was made

    def sequence(self, scores: AnyArray) -> Sequence:
        """The series with one detector's scores, read and checked."""
        asked, case = self.asked, self.case
        alarms = scores.dtype.kind == "b"
        return prepare(
            case.truth,
            None if alarms else scores,
            predictions=scores if alarms else None,
            times=case.times,
            truth_as=case.truth_as,  # type: ignore[arg-type]  # checked there
            missing=asked.missing,
            count_events=asked.count_events,
            overlaps=asked.overlaps,
            warmup=asked.warmup,
            higher_is="anomalous" if alarms else asked.higher_is,
        )

    def cuts(self, sequence: Sequence) -> Cuts | None:
        """Where scores become alarms; None where they are alarms."""
        asked = self.asked
        return None if sequence.scores is None else choose_cut(sequence, asked.threshold, asked.quantile, asked.budget)

    def made(self, sequence: Sequence, cuts: Cuts | None) -> Made:
        """The trial of a sequence, with what is known of its truth already."""
        asked = self.asked
        made = trial_of(sequence, (asked.within(len(sequence.open_steps)),), cuts, asked.alarms)
        self.cell = made.trial.cell(0, 0)
        if not isinstance(made.trial, TimedTrial):
            self._share(made.trial)
        return made

    def _share(self, trial: Trial) -> None:
        """Give a trial the truth of the one before, if it is the same, and all that was worked out for it."""
        known = self._trial
        if known is not None and _same_truth(trial, known):
            for name in ("truth", "reaches"):
                object.__setattr__(trial, name, getattr(known, name))
            trial.__dict__.update({name: known.__dict__[name] for name in _OF_TRUTH if name in known.__dict__})
        else:
            self._trial = trial

    def evaluation(self, detector: str, scores: AnyArray) -> Evaluation:
        """The evaluation of one detector, as `nofluke.evaluate` makes it."""
        asked = self.asked
        sequence = self.sequence(scores)
        cuts = self.cuts(sequence)
        made = self.made(sequence, cuts)
        chance = ChanceAsked(
            null=asked.null,
            n_resamples=asked.n_resamples,
            rng=asked.seed_of(self.case.series, detector),
            alpha=asked.alpha,
            alarms=asked.alarms,
        )
        return evaluate_trial(made, sequence, cuts, chance, asked.count_events)

    def metrics(self, detector: str, scores: AnyArray) -> Row:
        """The columns of the metrics that were asked for."""
        asked, case = self.asked, self.case
        if not asked.metrics:
            return {}
        alarms = scores.dtype.kind == "b"
        cut: dict[str, Any] = {way: getattr(asked, way) for way in WAYS if not alarms}
        found = significance(
            asked.tested,
            case.truth,
            None if alarms else scores,
            predictions=scores if alarms else None,
            **cut,
            null=asked.null,
            n_resamples=asked.n_resamples,
            workers=1,
            rng=asked.seed_of(case.series, detector),
            alpha=asked.alpha,
            times=case.times,
            warmup=asked.warmup,
            truth_as=case.truth_as,  # type: ignore[arg-type]
            higher_is="anomalous" if alarms else asked.higher_is,
            missing=asked.missing,
            count_events=asked.count_events,
            overlaps=asked.overlaps,
        )
        row: Row = {}
        for name, one in zip(asked.metrics, found, strict=True):
            row |= {name: one.value, f"{name}_expected": one.expected, f"{name}_std": one.std}
            row |= {f"{name}_pvalue": one.pvalue, f"{name}_verdict": one.verdict}
        return row


def _same_truth(one: Trial, other: Trial) -> bool:
    """Whether two trials have the same events on the same steps, and the same tolerances."""
    a, b = one.truth, other.truth
    return (
        one.tolerances == other.tolerances
        and np.array_equal(a.starts, b.starts)
        and np.array_equal(a.stops, b.stops)
        and np.array_equal(a.open_steps, b.open_steps)
        and a.count_events == b.count_events
    )
