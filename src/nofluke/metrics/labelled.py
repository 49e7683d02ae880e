"""A labelled series as metrics take it: labels in runs, beside scores or alarms, on the steps that count."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Unpack, get_args

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, FloatArray
from nofluke.errors import InputError, named, say, spoken
from nofluke.plain import check_word
from nofluke.series.arguments import About, AboutMetric
from nofluke.series.detector import Cuts, choose_cut
from nofluke.series.reading import Sequence, prepare
from nofluke.series.tolerance import Ranges
from nofluke.series.trial import Trial
from nofluke.series.truth import CountEvents, Truth


@dataclass(frozen=True, kw_only=True, eq=False)
class Labelled:
    """One series, read and checked.

    Attributes
    ----------
    truth : Truth
        Its labelled ranges. Labels that follow one another are one range; ranges that were passed as such and only
        touch stay two.
    scores : float array or None
        One for each step that counts, turned so that higher ones are anomalous.
    alarms : bool array or None
        Given, or by a threshold on the scores; None where neither is there.
    count_events : {"steps", "ranges"}
        What the tolerant recall counts.
    sequence : Sequence
        As it was read.
    cuts : Cuts or None
        The threshold.
    notes : tuple of str
        What was left out or merged.
    """

    truth: Truth
    scores: FloatArray | None = field(repr=False)
    alarms: BoolArray | None = field(repr=False)
    count_events: CountEvents
    sequence: Sequence = field(repr=False)
    cuts: Cuts | None
    notes: tuple[str, ...] = ()

    @property
    def n_steps(self) -> int:
        """T, the steps that count."""
        return self.truth.n_steps

    @property
    def runs(self) -> Ranges:
        """The labelled runs."""
        return Ranges(starts=self.truth.starts, stops=self.truth.stops)

    @property
    def n_labelled(self) -> int:
        """Steps that are labelled."""
        return int((self.truth.stops - self.truth.starts).sum())

    def detector(self, needs: str, who: str) -> AnyArray:
        """Scores or alarms, as a metric needs them."""
        found = self.scores if needs == "scores" else self.alarms
        if found is not None:
            return found
        if needs == "scores":
            raise InputError(
                argument="metric",
                value=who,
                problem=say("needs scores, and {} were passed", named("predictions")),
                remedy=spoken("pass scores instead", shell="pass --scores COLUMN instead"),
            )
        raise InputError(
            argument="metric",
            value=who,
            problem="needs alarms",
            remedy=spoken(
                "pass predictions, or scores with a threshold, a quantile or a budget",
                shell="pass --predictions COLUMN, or --scores with --threshold, --quantile or --budget",
            ),
        )


def read_labelled(truth: Any, scores: Any = None, **about: Unpack[AboutMetric]) -> Labelled:
    """Read everything that a user can pass about one series."""
    given, count_events = About.of(about), about.get("count_events")
    if count_events is not None:
        check_word(count_events, "count_events", get_args(CountEvents))
    sequence = prepare(truth, scores, **{**given.reading, "count_events": "ranges"})
    cut = scores is None or any(way is not None for way in given.cut.values())
    return labelled_of(sequence, choose_cut(sequence, **given.cut) if cut else None, count_events)


def labelled_of(sequence: Sequence, cuts: Cuts | None, count_events: CountEvents | None) -> Labelled:
    """A sequence of ranges that was read, with the threshold on its scores, if there is one."""
    trial = Trial.of(sequence, (), cuts)
    notes = [*sequence.notes, *sequence.on_steps, *sequence.alarms_on_steps, *(() if cuts is None else cuts.notes)]
    held = trial.truth.stops > trial.truth.starts
    found = trial.truth
    if not held.all():
        notes.append(say("{} {range_s} between two steps contain no step and were left out.", int((~held).sum())))
        found = _only(found, held)
    alarms = None if sequence.scores is not None and cuts is None else trial.alarm_flags(0)
    return Labelled(
        truth=found,
        scores=None if sequence.scores is None else np.ascontiguousarray(trial.detector, dtype=np.float64),
        alarms=alarms,
        count_events=count_events or ("ranges" if sequence.truth_as == "ranges" else "steps"),
        sequence=sequence,
        cuts=cuts,
        notes=tuple(notes),
    )


def _only(truth: Truth, kept: BoolArray) -> Truth:
    def some(values: AnyArray | None) -> AnyArray | None:
        return None if values is None else values[..., kept]

    return replace(
        truth,
        starts=truth.starts[kept],
        stops=truth.stops[kept],
        begins=some(truth.begins),
        ends=some(truth.ends),
        opens=some(truth.opens),
    )
