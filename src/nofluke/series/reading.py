"""Align and validate: from what the user passed to one checked, labelled sequence.

The result holds an event flag and a score (or alarm) for every step, which steps count, the clock if there is one,
and notes on everything that was left out or merged, so that nothing is lost in silence.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, ByValue, FloatArray
from nofluke.data.columns import as_column
from nofluke.errors import InputError, named, say
from nofluke.plain import check_word, exact_floats
from nofluke.series.alignment import aligned, find_clock, length, reference_of
from nofluke.series.clock import Clock
from nofluke.series.given import alarms_in_ranges, as_labels, read_given, read_scores, refuse_segmentation
from nofluke.series.labels import (
    TRUTH_KINDS,
    HigherIs,
    Missing,
    TruthKind,
    as_flags,
    check_absent,
    check_finite,
    kind_of,
    kind_on_clock,
    own_times,
    read_flags,
    score_type,
)
from nofluke.series.own_times import refined
from nofluke.series.ranges import Overlaps, read_ranges
from nofluke.series.spans import Spans
from nofluke.series.truth import CountEvents
from nofluke.series.watching import gap_notes, warmup_steps

Kind = Literal["labels", "positions", "times", "ranges"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """What was left out, and why: steps without a score or label, under the mask, of the warm-up, and their events."""

    missing: int = 0
    masked: int = 0
    warmup: int = 0
    events: int = 0

    @property
    def steps(self) -> int:
        """Steps left out, each counted once."""
        return self.missing + self.masked + self.warmup

    def to_dict(self) -> dict[str, int]:
        """The counts as plain values, for JSON."""
        return {"missing": self.missing, "masked": self.masked, "warmup": self.warmup, "events": self.events}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sequence(ByValue):
    """A labelled sequence, checked and aligned; closed steps hold no event and no prediction.

    ``truth`` flags the steps of events. Where ranges are counted, ``spans`` has them; ``truth_as`` says what was
    passed. Where events are times between steps, ``instants`` has them, in ticks of the clock, and ``alarm_instants``
    alarms that are; ``on_steps`` and ``alarms_on_steps`` are notes that hold only where they are moved to their steps.
    ``marked`` are the labels of all steps, closed ones too, or the ranges as they were given. Scores are as they were
    given; ``higher_is`` says which of them are anomalous, ``score_type`` what floats they were.
    """

    truth: BoolArray = field(repr=False)
    scores: FloatArray | None = field(repr=False)
    predictions: BoolArray | None = field(repr=False)
    open_steps: BoolArray = field(repr=False)
    clock: Clock | None
    left_out: LeftOut
    notes: tuple[str, ...]
    spans: Spans | None = None
    instants: AnyArray | None = field(repr=False, default=None)
    alarm_instants: AnyArray | None = field(repr=False, default=None)
    on_steps: tuple[str, ...] = ()
    alarms_on_steps: tuple[str, ...] = ()
    truth_as: Kind = "labels"
    higher_is: HigherIs = "anomalous"
    score_type: str = "float64"
    marked: BoolArray | Spans | None = field(repr=False, compare=False, default=None)

    def as_ranges(self) -> Sequence:
        """The same with each range, or run of labels, as one event."""
        if self.spans is not None:
            return self
        marked = self.truth if self.marked is None else self.marked
        every = marked if isinstance(marked, Spans) else Spans.of_runs(marked, self.clock)
        ranges = every.among(self.open_steps, self.clock)
        return replace(self, spans=ranges, instants=None, alarm_instants=None)

    @property
    def count_events(self) -> CountEvents:
        """What an event is: a step, or a range."""
        return "steps" if self.spans is None else "ranges"

    @property
    def sign(self) -> int:
        """What turns scores so that higher ones are anomalous: 1 or -1."""
        return 1 if self.higher_is == "anomalous" else -1

    def cut_in_words(self, threshold: str) -> str:
        """Which scores are predictions."""
        return f"score {'≥' if self.sign == 1 else '≤'} {threshold}"

    @property
    def n(self) -> int:
        """Steps that count."""
        return int(self.open_steps.sum())

    @property
    def n_events(self) -> int:
        """Events on steps that count."""
        return int(self.truth.sum()) if self.spans is None else len(self.spans)

    def open_scores(self, *, turned: bool = True) -> FloatArray:
        """Scores of the steps that count; unless asked for as they are, turned so that higher ones are anomalous."""
        if self.scores is None:
            raise InputError(problem="there are no scores to threshold", remedy="pass scores, not predictions")
        scores = self.scores[self.open_steps]
        return scores if self.sign == 1 or not turned else -scores


def prepare(
    truth: Any,
    scores: Any = None,
    *,
    predictions: Any = None,
    times: Any = None,
    mask: Any = None,
    truth_as: TruthKind = "auto",
    missing: Missing = "error",
    count_events: CountEvents | None = None,
    overlaps: Overlaps = "error",
    warmup: Any = None,
    higher_is: HigherIs = "anomalous",
) -> Sequence:
    """Read, align and check everything a user can pass about one sequence."""
    check_word(truth_as, "truth_as", TRUTH_KINDS)
    check_word(overlaps, "overlaps", ("error", "merge"))
    if count_events is not None:
        check_word(count_events, "count_events", ("steps", "ranges"))
    check_word(missing, "missing", ("error", "mask"))
    check_word(higher_is, "higher_is", ("anomalous", "normal"))
    if predictions is not None and higher_is == "normal":
        raise InputError(
            argument="higher_is",
            value="normal",
            problem="flips scores",
            remedy="leave it out with predictions, where 1 is an alarm",
        )
    if (scores is None) is (predictions is None):
        raise InputError(
            problem=say(
                "pass either {} or {}, got {}",
                named("scores"),
                named("predictions"),
                "neither" if scores is None else "both",
            )
        )
    name = "scores" if predictions is None else "predictions"
    given, alarm_pairs = (read_scores(scores), None) if predictions is None else read_given(predictions, name)
    events, pairs = read_given(truth, "truth", truth_as)
    stamps = None if times is None else as_column(times, "times")
    n = length(given, name, stamps, as_labels(events, truth_as), ranges=alarm_pairs is not None)
    given_kind = "ranges" if alarm_pairs is not None else "labels"
    if name == "predictions" and alarm_pairs is None:
        given_kind = kind_of(given, n, "auto", name)
    truth_kind = kind_of(events, n, truth_as, "truth") if pairs is None else "ranges"
    reference, whose = reference_of(given, given_kind, name, events, truth_kind, n)
    if truth_kind == "labels":
        events = aligned(events, reference, "truth", whose)
    if stamps is not None:
        stamps = aligned(stamps, reference, "times", whose)
    clock = find_clock(stamps, reference, events if truth_kind == "labels" else None, whose)
    # a list of alarms is of times, where there is a clock
    given_kind = kind_on_clock(given, given_kind, clock, "times")
    truth_kind = kind_on_clock(events, truth_kind, clock, truth_as)

    masked = np.zeros(n, dtype=np.bool_)
    if mask is not None:
        masked = as_flags(aligned(as_column(mask, "mask"), reference, "mask", whose), "mask")
    warm = warmup_steps(warmup, n, clock)
    closed = masked.copy()
    closed[:warm] = True
    absent = np.zeros(n, dtype=np.bool_)
    for column, kind, argument in ((given, given_kind, name), (events, truth_kind, "truth")):
        if kind == "labels":
            absent |= check_absent(column, argument, missing, waived=closed)
    open_steps = ~(absent | closed)
    if not open_steps.any():
        raise InputError(
            problem=f"no step is left to evaluate, since all {n} are masked or missing",
            remedy="mask fewer, or pass the missing values",
        )

    notes: list[str] = []
    on_steps: list[str] = []
    alarms_on_steps: list[str] = []
    spans: Spans | None = None
    instants: AnyArray | None = None
    alarm_instants: AnyArray | None = None
    if pairs is not None:
        spans, clock = read_ranges(pairs, "positions" if pairs.ilocs else truth_as, n, clock, overlaps, notes)
        labels = spans.flags(n)
        refuse_segmentation(pairs, labels)
    else:
        labels = read_flags(events, truth_kind, "truth", open_steps, clock, on_steps)
        if truth_kind == "times" and len(events) and clock is not None and count_events != "ranges":
            clock = refined(clock, events.values)
            instants = own_times(events, clock, open_steps, "truth")
    marked = labels if spans is None else spans
    if (count_events or ("steps" if pairs is None else "ranges")) == "ranges":
        every = Spans.of_runs(labels, clock) if spans is None else spans
        spans = every.among(open_steps, clock)
        lost = len(every) - len(spans)
    else:
        if spans is not None and spans.between.any():
            notes.append(f"{int(spans.between.sum())} range(s) between two steps contain no step and were left out.")
        lost, spans = int((labels & ~open_steps).sum()), None
    left_out = LeftOut(missing=int((absent & ~closed).sum()), masked=int(masked[warm:].sum()), warmup=warm, events=lost)
    values = alarms = None
    if name == "scores":
        values = exact_floats(given.values, name, open_steps)
        check_finite(values, name, open_steps)
    elif alarm_pairs is not None:
        alarms = alarms_in_ranges(alarm_pairs, n, clock, notes) & open_steps
    else:
        alarms = read_flags(given, given_kind, name, open_steps, clock, alarms_on_steps) & open_steps
        if given_kind == "times" and len(given) and clock is not None and spans is None:
            finer = refined(clock, given.values)
            alarm_instants = own_times(given, finer, open_steps, name)
            if alarm_instants is not None and instants is not None:  # both in ticks of the same clock
                instants = own_times(events, finer, open_steps, "truth")
            clock = finer
    return Sequence(
        truth=labels & open_steps,
        scores=values,
        predictions=alarms,
        open_steps=open_steps,
        clock=clock,
        left_out=left_out,
        notes=(
            *_left_out_notes(left_out, "event" if spans is None else "range"),
            *notes,
            *gap_notes(clock, open_steps),
        ),
        spans=spans,
        instants=instants,
        alarm_instants=alarm_instants,
        on_steps=tuple(on_steps),
        alarms_on_steps=tuple(alarms_on_steps),
        truth_as=truth_kind,
        higher_is=higher_is,
        score_type=score_type(given.values),
        marked=marked,
    )


def _left_out_notes(left_out: LeftOut, noun: str) -> tuple[str, ...]:
    notes = []
    if left_out.warmup:
        told = (
            "The first step (warm-up) was"
            if left_out.warmup == 1
            else f"The first {left_out.warmup:,} steps (warm-up) were"
        )
        notes.append(f"{told} left out.")
    if left_out.missing:
        notes.append(f"{left_out.missing} step(s) without a score or label were left out.")
    if left_out.masked:
        notes.append(f"{left_out.masked} masked step(s) were left out.")
    if left_out.events:
        notes.append(f"{left_out.events} {noun}(s) on those steps were left out.")
    return tuple(notes)
