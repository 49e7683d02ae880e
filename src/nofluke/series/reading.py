"""Align and validate: from what the user passed to one checked, labelled sequence.

The result holds an event flag and a score (or alarm) for every step, which steps count, the clock if there is one,
and notes on everything that was left out or merged, so that nothing is lost in silence.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, ByValue, FloatArray
from nofluke.data.columns import Column, as_column
from nofluke.data.pairs import Pairs
from nofluke.errors import InputError, arg, named, say
from nofluke.plain import MOST_STEPS, as_whole, check_word, exact_floats
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
    is_binary,
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
    n_steps: int | None = None,
    missing: Missing = "error",
    count_events: CountEvents | None = None,
    overlaps: Overlaps = "error",
    warmup: Any = None,
    higher_is: HigherIs = "anomalous",
) -> Sequence:
    """Read, align and check everything a user can pass about one sequence: the door of the house.

    What both arguments hold; the steps that they share, and their clock; which of the steps count; the events; and what
    the detector says of each step.
    """
    check_word(truth_as, "truth_as", TRUTH_KINDS)
    check_word(overlaps, "overlaps", ("error", "merge"))
    if count_events is not None:
        check_word(count_events, "count_events", ("steps", "ranges"))
    check_word(missing, "missing", ("error", "mask"))
    check_word(higher_is, "higher_is", ("anomalous", "normal"))
    detector = _detector(scores, predictions, higher_is)
    events = Passed.of(truth, "truth", truth_as)
    steps = _steps(detector, events, times, truth_as, n_steps)
    watched = _watched(steps, mask, warmup, missing)
    found = _events(steps, watched.open_steps, truth_as, count_events, overlaps)
    says = _says(steps.detector, watched.open_steps, found)
    left_out = replace(watched.left_out, events=found.lost)
    return Sequence(
        truth=found.labels & watched.open_steps,
        scores=says.scores,
        predictions=says.alarms,
        open_steps=watched.open_steps,
        clock=says.clock,
        left_out=left_out,
        notes=(
            *_left_out_notes(left_out, "event" if found.spans is None else "range"),
            *found.notes,
            *says.notes,
            *gap_notes(says.clock, watched.open_steps),
        ),
        spans=found.spans,
        instants=says.instants,
        alarm_instants=says.alarm_instants,
        on_steps=found.on_steps,
        alarms_on_steps=says.on_steps,
        truth_as=steps.events.kind,
        higher_is=higher_is,
        score_type=score_type(detector.column.values),
        marked=found.marked,
    )


# ---- what an argument holds


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """An argument: one column, or pairs of a start and an end, and then the column is empty."""

    name: str
    column: Column
    pairs: Pairs | None = None
    kind: Any = None

    @classmethod
    def of(cls, value: Any, name: str, asked: TruthKind = "auto") -> Passed:
        """Events or alarms: a value for each step, or a list of positions, times, or ranges of either."""
        column, pairs = read_given(value, name, asked)
        return cls(name=name, column=column, pairs=pairs)


def _detector(scores: Any, predictions: Any, higher_is: HigherIs) -> Passed:
    """Scores, or alarms in their place."""
    if predictions is not None and higher_is == "normal":
        raise InputError(
            argument="higher_is",
            value="normal",
            problem="flips scores",
            remedy=say("leave it out with {}, where 1 is an alarm", named("predictions")),
        )
    if (scores is None) is (predictions is None):
        got = "neither" if scores is None else "both"
        raise InputError(problem=say("pass either {} or {}, got {}", named("scores"), named("predictions"), got))
    if predictions is None:
        return Passed(name="scores", column=read_scores(scores), kind="labels")
    return Passed.of(predictions, "predictions")


# ---- the steps that both share


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """How many steps there are, what aligns with them, their clock; and both arguments, aligned and of a known kind."""

    n: int
    reference: Column
    whose: str
    clock: Clock | None
    detector: Passed
    events: Passed


def _steps(detector: Passed, events: Passed, times: Any, truth_as: TruthKind, n_steps: int | None) -> Steps:
    stamps = None if times is None else as_column(times, "times")
    name, given = detector.name, detector.column
    if n_steps is None:
        n = length(given, name, stamps, as_labels(events.column, truth_as), ranges=detector.pairs is not None)
    else:
        n = as_whole(n_steps, "n_steps", 1, MOST_STEPS)
        for column, whose in ((given if name == "scores" else None, name), (stamps, "times")):
            if column is not None and len(column) != n:
                raise InputError(
                    argument="n_steps",
                    value=n_steps,
                    problem=say("does not fit {}, which has {:,} values", named(whose), len(column)),
                    remedy="leave it out",
                )
    kind = detector.kind
    if kind is None:
        kind = "ranges" if detector.pairs is not None else kind_of(given, n, "auto", name)
    truth_kind = kind_of(events.column, n, truth_as, "truth") if events.pairs is None else "ranges"
    reference, whose = reference_of(given, kind, name, events.column, truth_kind, n)
    labels = aligned(events.column, reference, "truth", whose) if truth_kind == "labels" else events.column
    if stamps is not None:
        stamps = aligned(stamps, reference, "times", whose)
    clock = find_clock(stamps, reference, labels if truth_kind == "labels" else None, whose)
    return Steps(
        n=n,
        reference=reference,
        whose=whose,
        clock=clock,
        # a list of alarms is of times, where there is a clock
        detector=replace(detector, kind=kind_on_clock(given, kind, clock, "times")),
        events=replace(events, column=labels, kind=kind_on_clock(labels, truth_kind, clock, truth_as)),
    )


# ---- those of them that count


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Which steps count, and what was left out."""

    open_steps: BoolArray
    left_out: LeftOut


def _watched(steps: Steps, mask: Any, warmup: Any, missing: Missing) -> Watched:
    n = steps.n
    masked = np.zeros(n, dtype=np.bool_)
    if mask is not None:
        masked = as_flags(aligned(as_column(mask, "mask"), steps.reference, "mask", steps.whose), "mask")
    warm = warmup_steps(warmup, n, steps.clock)
    closed = masked.copy()
    closed[:warm] = True
    absent = np.zeros(n, dtype=np.bool_)
    for given in (steps.detector, steps.events):
        if given.kind == "labels":
            absent |= check_absent(given.column, given.name, missing, waived=closed)
    open_steps = ~(absent | closed)
    if not open_steps.any():
        raise InputError(
            problem=f"no step is left to evaluate, since all {n} are masked or missing",
            remedy="mask fewer, or pass the missing values",
        )
    left_out = LeftOut(missing=int((absent & ~closed).sum()), masked=int(masked[warm:].sum()), warmup=warm)
    return Watched(open_steps=open_steps, left_out=left_out)


# ---- the events


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """Events as flags of steps, as ranges where these are counted, and as times where they lie between steps."""

    labels: BoolArray
    marked: BoolArray | Spans
    spans: Spans | None
    column: Column
    instants: AnyArray | None
    clock: Clock | None
    lost: int
    notes: tuple[str, ...]
    on_steps: tuple[str, ...]


def _events(
    steps: Steps,
    open_steps: BoolArray,
    truth_as: TruthKind,
    count_events: CountEvents | None,
    overlaps: Overlaps,
) -> Events:
    events, pairs, clock = steps.events.column, steps.events.pairs, steps.clock
    notes: list[str] = []
    on_steps: list[str] = []
    spans: Spans | None = None
    instants: AnyArray | None = None
    if pairs is not None:
        spans, clock = read_ranges(pairs, "positions" if pairs.ilocs else truth_as, steps.n, clock, overlaps, notes)
        labels = spans.flags(steps.n)
        refuse_segmentation(pairs, labels)
    else:
        labels = read_flags(events, steps.events.kind, "truth", open_steps, clock, on_steps)
        if steps.events.kind == "times" and len(events) and clock is not None and count_events != "ranges":
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
    return Events(
        labels=labels,
        marked=marked,
        spans=spans,
        column=events,
        instants=instants,
        clock=clock,
        lost=lost,
        notes=tuple(notes),
        on_steps=tuple(on_steps),
    )


# ---- what the detector says


@dataclass(frozen=True, slots=True, kw_only=True)
class Says:
    """Scores or alarms of all steps; and the clock, as fine as the times of events and alarms between steps are."""

    scores: FloatArray | None = None
    alarms: BoolArray | None = None
    alarm_instants: AnyArray | None = None
    instants: AnyArray | None
    clock: Clock | None
    notes: tuple[str, ...] = ()
    on_steps: tuple[str, ...] = ()


def _says(detector: Passed, open_steps: BoolArray, events: Events) -> Says:
    name, given, clock, instants = detector.name, detector.column, events.clock, events.instants
    if name == "scores":
        scores = exact_floats(given.values, name, open_steps)
        check_finite(scores, name, open_steps)
        return Says(scores=scores, instants=instants, clock=clock)
    notes: list[str] = []
    if detector.pairs is not None:
        alarms = alarms_in_ranges(detector.pairs, len(open_steps), clock, notes) & open_steps
        return Says(alarms=alarms, instants=instants, clock=clock, notes=tuple(notes))
    alarms = read_flags(given, detector.kind, name, open_steps, clock, notes) & open_steps
    own = None
    if detector.kind == "times" and len(given) and clock is not None and events.spans is None:
        clock = refined(clock, given.values)
        own = own_times(given, clock, open_steps, name)
        if own is not None and instants is not None:  # both in ticks of the same clock
            instants = own_times(events.column, clock, open_steps, "truth")
    return Says(alarms=alarms, alarm_instants=own, instants=instants, clock=clock, on_steps=tuple(notes))


def length_of(truth: Any, truth_as: TruthKind, n_steps: int | None, times: Any) -> int:
    """The steps of a series of which only labels are there."""
    check_word(truth_as, "truth_as", TRUTH_KINDS)
    if n_steps is not None:
        return as_whole(n_steps, "n_steps", 1, MOST_STEPS)
    if times is not None:
        return len(as_column(times, "times"))
    column, pairs = read_given(truth, "truth", truth_as)
    listed = "ranges" if pairs is not None else "positions" if column.ilocs else truth_as
    if listed == "auto" and (column.values.dtype.kind == "M" or not is_binary(column.values)):
        listed = "times" if column.values.dtype.kind == "M" else "positions"
    if listed not in ("auto", "labels"):
        raise InputError(
            argument="truth",
            problem=f"holds {listed}, which do not say how long the series is",
            remedy=say("pass {} or {}", arg("n_steps"), arg("times")),
        )
    return len(column)


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
