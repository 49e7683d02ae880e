"""The cells of one case in the way that suits all data: an evaluation each, sharing what depends only on the truth."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray
from nofluke.errors import InputError, Words
from nofluke.inference.evaluate import Evaluation, evaluate_trial
from nofluke.inference.significance import significance
from nofluke.metrics.labelled import Labelled, read_labelled
from nofluke.series.between import Made, trial_of
from nofluke.series.detector import Cuts, break_ties, choose_cut
from nofluke.series.reading import Known, Sequence, first_step, prepare
from nofluke.series.trial import MOST_AT_ONCE, Cell, judge_together
from nofluke.studies.asked import Asked
from nofluke.studies.cases import Case, Fault, reason_of
from nofluke.studies.rows import Row


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ready:
    """A detector of a case, read and cut: what is left is to judge it. ``seconds`` is how long that took."""

    name: str
    scores: AnyArray
    sequence: Sequence
    cuts: Cuts | None
    made: Made
    seconds: float


class Cells:
    """The detectors of one case; the first reads the series, others share what is known of it."""

    def __init__(self, case: Case, asked: Asked) -> None:
        self.case, self.asked = case, asked
        self.truth: Any = case.truth  # with what is known of it, from the first detector on

    def scores_of(self, detector: str) -> AnyArray:
        """The scores of one detector, with ties at the cut of a budget broken if that was asked for."""
        scores, asked = np.asarray(self.case.detectors[detector]), self.asked
        if asked.cut_ties == "drop" or scores.dtype.kind == "b":
            return scores
        try:
            seed = asked.seed_of(self.case.series, detector)
            broken = break_ties(self.sequence(scores), asked.about.cut["budget"], seed)
            if len(scores) == len(broken):
                return broken
            first = first_step(asked.about.reading["align"], len(scores), len(broken))
            return broken[first : first + len(scores)]  # as few as they were, to be placed again
        except InputError:  # which is said where the cell is judged
            return scores

    def sequence(self, scores: AnyArray) -> Sequence:
        """The series with one detector's scores, read and checked; what is known of the truth serves all of them."""
        truth, passed = self.truth, self._passed(scores)
        sequence = prepare(truth, **passed)
        if not isinstance(truth, Known):
            self.truth = Known.of(truth, sequence, **passed)
        return sequence

    def _passed(self, scores: AnyArray) -> dict[str, Any]:
        """One detector and what is said of the case, as arguments of functions; alarms have no direction."""
        case, alarms = self.case, scores.dtype.kind == "b"
        about = {
            **self.asked.about.reading,
            "times": case.times,
            "truth_as": case.truth_as,
            "test_part": case.test_part,
            "warmup": case.warmup,
        }
        if alarms:
            del about["higher_is"]
        return {"predictions" if alarms else "scores": scores, **about}

    def cuts(self, sequence: Sequence) -> Cuts | None:
        """Where scores become alarms; None where they are alarms."""
        return None if sequence.scores is None else choose_cut(sequence, **self.asked.cut)

    def made(self, sequence: Sequence, cuts: Cuts | None) -> Made:
        """The trial of a sequence."""
        return trial_of(sequence, (self.asked.within(len(sequence.open_steps)),), cuts, self.asked.alarms)

    def judged(self, scores: AnyArray) -> Cell:
        """The cell of one detector, without any judgement."""
        sequence = self.sequence(scores)
        return self.made(sequence, self.cuts(sequence)).trial.cell(0, 0)

    def ready(self) -> Iterator[tuple[str, Ready | Words]]:
        """Each detector in turn, or why it cannot be judged; as many together as their steps allow."""
        some: list[tuple[str, Ready | Words]] = []
        n_steps = 0
        for name, given in self.case.detectors.items():
            found = given.reason if isinstance(given, Fault) else self._read(name)
            some.append((name, found))
            n_steps += found.made.trial.n_steps if isinstance(found, Ready) else 0
            if n_steps >= MOST_AT_ONCE:
                yield from _together(some)
                some, n_steps = [], 0
        yield from _together(some)

    def _read(self, name: str) -> Ready | Words:
        begun = time.perf_counter()
        try:
            scores = self.scores_of(name)
            sequence = self.sequence(scores)
            cuts = self.cuts(sequence)
            made = self.made(sequence, cuts)
        except Exception as error:  # whatever it is, the other cells go on
            return reason_of(error)
        taken = time.perf_counter() - begun
        return Ready(name=name, scores=scores, sequence=sequence, cuts=cuts, made=made, seconds=taken)

    def evaluation(self, one: Ready) -> Evaluation:
        """The evaluation of one detector, as `nofluke.evaluate` makes it."""
        asked, seed = self.asked, self.asked.seed_of(self.case.series, one.name)
        counted = asked.about.reading["count_events"]
        return evaluate_trial(one.made, one.sequence, one.cuts, asked.question, counted, seed)

    def metrics(self, detector: str, scores: AnyArray) -> Row:
        """The columns of the metrics that were asked for."""
        asked, case = self.asked, self.case
        if not asked.metrics:
            return {}
        found = significance(
            asked.tested,
            **self._cut(scores),
            null=asked.null,
            n_resamples=asked.n_resamples,
            workers=1,
            rng=asked.seed_of(case.series, detector),
            alpha=asked.alpha,
        )
        choice = found[0].choice  # several metrics share one null
        row: Row = {
            "metrics_null": choice.label,
            "metrics_holds": choice.holds,
            "metrics_doubts": len(choice.doubts),
        }
        for name, one in zip(asked.metrics, found, strict=True):
            row |= {name: one.value, f"{name}_expected": one.expected, f"{name}_std": one.std}
            row |= {
                f"{name}_pvalue": one.pvalue,
                f"{name}_smallest": one.smallest_pvalue,
                f"{name}_verdict": one.verdict,
            }
        return row

    def labelled(self, scores: AnyArray) -> Labelled:
        """The series with one detector's scores as metrics take it."""
        return read_labelled(**self._cut(scores))

    def _cut(self, scores: AnyArray) -> dict[str, Any]:
        """The same with the truth, and with where scores become alarms."""
        return {
            "truth": self.truth,
            **self._passed(scores),
            **({} if scores.dtype.kind == "b" else self.asked.about.cut),
        }


def _together(some: list[tuple[str, Ready | Words]]) -> list[tuple[str, Ready | Words]]:
    """The same, with the trials of those that can be judged joined in one batch."""
    judge_together(one.made.trial for _, one in some if isinstance(one, Ready))
    return some
