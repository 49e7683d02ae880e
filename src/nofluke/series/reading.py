"""The door: from what the user passed to one checked, labelled sequence.

What events and alarms were passed as; which part of a series is watched; what aligns the arguments, and the clock that
they share; ranges; and the one function that reads everything, in steps that follow each other. The result holds an
event flag and a score (or alarm) for every step, which steps count, the clock if there is one, and notes on everything
that was left out or merged, so that nothing is lost in silence.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from fractions import Fraction
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from nofluke.arrays import AnyArray, BoolArray, ByValue, FloatArray, IntArray, not_finite, same
from nofluke.data.columns import OPEN, Column, Pairs, as_column, as_pairs, ilocs_of, is_plain, no_pairs
from nofluke.dates import as_duration, is_day, rounded_duration
from nofluke.errors import THINGS, InputError, Shown, arg, named, passed, say, spoken
from nofluke.lazy import Shared
from nofluke.plain import (
    MOST_STEPS,
    as_share,
    as_whole,
    check_length,
    check_word,
    exact_floats,
    number_or_none,
    whole_or_none,
)
from nofluke.series.clock import Clock, in_gaps, listing, make_clock, own_ticks, refined, step_ends
from nofluke.series.names import NONE, Names
from nofluke.series.tolerance import Tolerance, as_tolerance
from nofluke.series.truth import CountEvents, Spans

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
    given; ``higher_is`` says which of them are anomalous, ``score_type`` what floats they were. ``test_part`` has the
    first and the last step of the part that was asked for; it is empty where each step was flagged. ``shared`` is
    what is worked out of the series for all detectors that are read against it.
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
    test_part: tuple[int, ...] | None = None
    names: Names = field(repr=False, compare=False, default=NONE)
    shared: Shared = field(repr=False, compare=False, default_factory=Shared)

    def as_ranges(self) -> Sequence:
        """The same with each range, or run of labels, as one event."""
        if self.spans is not None:
            return self
        marked = self.truth if self.marked is None else self.marked
        every = marked if isinstance(marked, Spans) else Spans.of_runs(marked, self.clock)
        ranges = every.among(self.open_steps, self.clock)
        return replace(self, spans=ranges, instants=None, alarm_instants=None, shared=Shared())

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
        return int(np.count_nonzero(self.open_steps))

    @property
    def n_events(self) -> int:
        """Events on steps that count."""
        return int(self.truth.sum()) if self.spans is None else len(self.spans)

    def with_scores(self, scores: Any, higher_is: HigherIs | None = None) -> Sequence | None:
        """The same series with the scores of another detector, as `prepare` would read them.

        None where these have to be read with the series: all but plain, finite floats, one for each step; and where
        there are not as many of the own ones, or there were alarms.
        """
        plain = type(scores) is np.ndarray and scores.dtype in (np.float64, np.float32)
        if not plain or scores.shape != self.truth.shape or self.scores is None or self.left_out.missing:
            return None
        if np.count_nonzero(np.isfinite(scores)) < len(scores):
            return None
        if self.left_out.steps and not np.isfinite(self.scores).all():  # they may have been fewer than the steps
            return None
        values = scores.astype(np.float64, copy=False)
        return replace(self, scores=values, score_type=score_type(scores), higher_is=higher_is or self.higher_is)

    def is_beside(self, other: Sequence) -> bool:
        """Whether the other is of the same events on the same steps, so that what is known of them serves both."""
        parts = ("truth", "open_steps", "clock", "spans", "instants")
        return all(same(getattr(self, part), getattr(other, part)) for part in parts)

    def open_scores(self, *, turned: bool = True) -> FloatArray:
        """Scores of the steps that count; unless asked for as they are, turned so that higher ones are anomalous."""
        if self.scores is None:
            raise InputError(problem="there are no scores to threshold", remedy="pass scores, not predictions")
        whole = np.count_nonzero(self.open_steps) == len(self.open_steps)
        scores = self.scores if whole else self.scores[self.open_steps]
        return scores if self.sign == 1 or not turned else -scores


OF_DETECTOR = ("scores", "predictions", "higher_is", "align")  # arguments of `prepare` that the series has no part in


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """A truth that was read before, and what was said of it then: to be passed to `prepare` in its place.

    Detectors are then read beside it: what is worked out of its events is worked out once.
    """

    truth: Any
    about: Mapping[str, Any]
    sequence: Sequence

    @classmethod
    def of(cls, truth: Any, sequence: Sequence, **passed: Any) -> Known:
        """From a truth, what `prepare` made of it, and what else was passed for that."""
        about = {name: value for name, value in passed.items() if name not in OF_DETECTOR}
        return cls(truth.truth if isinstance(truth, Known) else truth, about, sequence)

    def holds(self, about: Mapping[str, Any]) -> bool:
        """Whether the very same is said of it now."""
        return about.keys() == self.about.keys() and all(value is self.about[name] for name, value in about.items())


def prepare(
    truth: Any,
    scores: Any = None,
    *,
    predictions: Any = None,
    higher_is: HigherIs = "anomalous",
    align: Align | None = None,
    **about: Any,
) -> Sequence:
    """Everything a user can pass about one sequence, as `read` does it; beside a truth that is `Known`."""
    own: dict[str, Any] = {"predictions": predictions, "higher_is": higher_is, "align": align}
    if not isinstance(truth, Known):
        return read(truth, scores, **own, **about)
    check_word(higher_is, "higher_is", ("anomalous", "normal"))
    if not truth.holds(about):
        return read(truth.truth, scores, **own, **about)
    beside = truth.sequence.with_scores(scores, higher_is) if predictions is None and align is None else None
    if beside is not None:
        return beside
    sequence = read(truth.truth, scores, **own, **about)
    return replace(sequence, shared=truth.sequence.shared) if truth.sequence.is_beside(sequence) else sequence


def read(
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
    test_part: Any = None,
    higher_is: HigherIs = "anomalous",
    align: Align | None = None,
    event_name: str | None = None,
    alarm_name: str | None = None,
    time_unit: str | None = None,
    delay_name: str | None = None,
    reset_name: str | None = None,
    merge_gap: Any = None,
    split_longer: Any = None,
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
    if align is not None:
        check_word(align, "align", get_args(Align))
    names = Names.of(event_name, alarm_name, time_unit, delay_name, reset_name)
    detector = _detector(scores, predictions, higher_is)
    column, pairs = read_given(truth, "truth", truth_as)
    steps = _steps(detector, Passed(name="truth", column=column, pairs=pairs), times, truth_as, n_steps, align)
    watched = _watched(steps, mask, warmup, test_part, missing)
    shape = Shape.of(merge_gap, split_longer, count_events)
    found = _events(steps, watched.open_steps, truth_as, count_events, overlaps, shape)
    says = _says(steps.detector, watched.open_steps, found)
    left_out = LeftOut(missing=watched.missing, masked=watched.masked, warmup=watched.warmup, events=found.lost)
    return Sequence(
        truth=found.truth,
        scores=says.scores,
        predictions=says.alarms,
        open_steps=watched.open_steps,
        clock=says.clock,
        left_out=left_out,
        notes=(
            *steps.notes,
            *_left_out_notes(left_out, watched.uncovered, "event" if found.spans is None else "range", test_part),
            *found.notes,
            *says.notes,
            *(() if says.clock is None else gap_notes(says.clock, watched.open_steps)),
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
        test_part=watched.test_part,
        names=names,
    )


# ---- what an argument holds


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """An argument: one column, or pairs of a start and an end, and then the column is empty."""

    name: str
    column: Column
    pairs: Pairs | None = None
    kind: Any = None


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
    if predictions is not None:
        column, pairs = read_given(predictions, "predictions")
        return Passed(name="predictions", column=column, pairs=pairs)
    if not is_plain(scores) and ilocs_of(scores) is not None:
        raise InputError(
            argument="scores",
            problem="has a column 'ilocs', which lists events",
            remedy=say("pass it as {}, or one score for each step", arg("predictions")),
        )
    return Passed(name="scores", column=as_column(scores, "scores"), kind="labels")


# ---- the steps that both share


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """How many steps there are, what aligns with them, their clock; and both arguments, aligned and of a known kind.

    ``uncovered`` flags the steps that shorter scores do not reach, where these were placed by ``align``.
    """

    n: int
    reference: Column
    whose: str
    clock: Clock | None
    detector: Passed
    events: Passed
    uncovered: BoolArray | None = None
    notes: tuple[str, ...] = ()


def _steps(
    detector: Passed, events: Passed, times: Any, truth_as: TruthKind, n_steps: int | None, align: Align | None
) -> Steps:
    stamps = None if times is None else as_column(times, "times")
    uncovered: BoolArray | None = None
    notes: tuple[str, ...] = ()
    if align is not None:
        detector, uncovered, notes = _placed(detector, align, n_steps, stamps, events, truth_as)
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
                    remedy="leave it out"
                    if whose == "times" or len(column) > n
                    else say("leave it out; if windows made them shorter, pass {}", arg("align", "end")),
                )
    kind = detector.kind
    if kind is None:
        kind = "ranges" if detector.pairs is not None else kind_of(given, n, "auto", name)
    labels = events.column
    truth_kind = kind_of(labels, n, truth_as, "truth") if events.pairs is None else "ranges"
    # everything is aligned with scores or 0/1 alarms, else with 0/1 labels, else there is nothing to align it with
    reference, whose = given, name
    if kind != "labels" and truth_kind == "labels":
        reference, whose = labels, "truth"
        if len(labels) != n:
            raise InputError(
                argument="truth",
                problem=f"has {len(labels)} values but times has {n}",
                remedy="pass one label for each step",
            )
    elif kind != "labels":
        reference = Column(values=np.zeros(n, dtype=np.bool_))
    if truth_kind == "labels":
        labels = aligned(labels, reference, "truth", whose)
    clock: Clock | None = None
    if stamps is not None:
        stamps = aligned(stamps, reference, "times", whose)
        clock = make_clock(stamps.values, "times", stamps.aware, stamps.east)
    elif has_dates(reference):
        clock = _clock_of_index(reference, whose)
    elif truth_kind == "labels" and has_dates(labels):
        clock = _clock_of_index(labels, "truth")
    if clock is not None and not clock.is_dates:  # numbers may be positions or times; a list of alarms is of times
        kind = kind_on_clock(given, kind, clock, "times")
        truth_kind = kind_on_clock(labels, truth_kind, clock, truth_as)
    return Steps(
        n=n,
        reference=reference,
        whose=whose,
        clock=clock,
        detector=Passed(name=name, column=given, pairs=detector.pairs, kind=kind),
        events=Passed(name="truth", column=labels, pairs=events.pairs, kind=truth_kind),
        uncovered=uncovered,
        notes=notes,
    )


def _clock_of_index(column: Column, whose: str) -> Clock:
    name = f"the index of {whose}"
    own = as_column(column.index, name)
    return make_clock(own.values, name, own.aware, own.east)


_ROW_FOR_EACH = "give FILE a row for each step, with empty cells behind the last score"
_IF_SHORTER = say(
    "; if windows made the scores fewer than the steps, {}",
    spoken(say("pass {} and {}", arg("n_steps"), arg("align", "end")), shell=f"{_ROW_FOR_EACH}, and pass --align end"),
)
"""What to do about events that lie behind the last of so many scores."""


def first_step(align: Align, scores: int, steps: int) -> int:
    """The step that the first of fewer scores belongs to.

    >>> [first_step(align, 4, 9) for align in ("start", "end", "center")]
    [0, 5, 2]
    """
    return {"start": 0, "end": steps - scores, "center": (steps - scores) // 2}[align]


def _placed(
    detector: Passed,
    align: Align,
    n_steps: int | None,
    stamps: Column | None,
    events: Passed,
    truth_as: TruthKind,
) -> tuple[Passed, BoolArray | None, tuple[str, ...]]:
    """The detector with a value for each step, the steps that shorter scores do not reach, and a note on them."""
    given, labels = detector.column, as_labels(events.column, truth_as)
    listed = detector.pairs is not None or given.ilocs or given.values.dtype.kind == "M"
    if listed or (detector.name == "predictions" and not is_binary(given.values)):
        raise InputError(
            argument="align",
            value=align,
            problem=say("is for values of each step, but {} lists alarms", named(detector.name)),
            remedy="leave it out",
        )
    k, lengths = len(given), dict[str, int]()
    if n_steps is not None:
        lengths["n_steps"] = as_whole(n_steps, "n_steps", 1, MOST_STEPS)
    if stamps is not None:
        lengths["times"] = len(stamps)
    if len(labels) and (truth_as == "labels" or are_labels(labels.values)):
        lengths["truth"] = len(labels)
    n = next(iter(lengths.values()), len(labels))
    if not lengths and n != k:
        raise InputError(
            argument="align",
            value=align,
            problem=say("needs the number of steps, and {} is not 0 or 1 for each of them", named("truth")),
            remedy=say(
                "{}, or leave {} out",
                spoken(say("pass {}, or {}, one for each step", arg("n_steps"), arg("times")), shell=_ROW_FOR_EACH),
                named("align"),
            ),
        )
    for whose, size in lengths.items():
        if size != n:
            raise InputError(
                argument=whose, problem=f"has {size:,} values for {n:,} steps", remedy="pass one for each step"
            )
    if not 0 < k < n:
        return detector, None, ()
    first = first_step(align, k, n)
    covered = slice(first, first + k)
    index = None
    if given.index is not None and not _default(given.index):
        indices = [one.index for one in (labels, stamps) if one is not None and len(one) == n and one.index is not None]
        index = next((one for one in indices if one[covered].equals(given.index)), None)
        if index is None:
            raise InputError(
                argument=detector.name,
                problem=say("has an index of its own, which is not that of the steps {} to {}", first, first + k - 1),
                remedy="reindex it to the truth, or pass .to_numpy() to align by position",
            )
    if detector.name == "scores":
        values = exact_floats(given.values, "scores", np.ones(k, dtype=np.bool_))
        values = values.astype(score_type(given.values))
        padded = np.full(n, np.nan, dtype=values.dtype)
    else:
        values, padded = given.values, np.zeros(n, dtype=given.values.dtype)
    padded[covered] = values
    uncovered = np.ones(n, dtype=np.bool_)
    uncovered[covered] = False
    told = "There are {:,} {} for {:,} steps: by {} they belong to the steps {:,} to {:,}, and the others do not count."
    note = say(told, k, detector.name, n, passed("align", align), first, first + k - 1)
    return replace(detector, column=Column(values=padded, index=index)), uncovered, (note,)


# ---- those of them that count


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Which steps count, and how many were left out, each for one reason."""

    open_steps: BoolArray
    missing: int
    masked: int
    warmup: int
    uncovered: int
    test_part: tuple[int, ...] | None = None


def _watched(steps: Steps, mask: Any, warmup: Any, test_part: Any, missing: Missing) -> Watched:
    n = steps.n
    open_steps = np.ones(n, dtype=np.bool_) if mask is None else ~_flags(mask, "mask", steps)
    warm = 0 if warmup is None else warmup_steps(warmup, n, steps.clock)
    ends: tuple[int, ...] | None = None
    if test_part is not None:
        tested, ends = _tested(test_part, steps)
        warm = max(warm, int(np.argmax(tested)))
        open_steps &= tested
    behind = open_steps[warm:]
    n_masked = len(behind) - int(np.count_nonzero(behind))
    n_uncovered = 0
    if steps.uncovered is not None:
        n_uncovered = int(np.count_nonzero(behind & steps.uncovered[warm:]))
        open_steps &= ~steps.uncovered
    open_steps[:warm] = False
    n_missing = 0
    for given in (steps.detector, steps.events):
        if given.kind != "labels" or given.column.values.dtype.kind != "f":
            continue
        absent = np.isnan(given.column.values)
        if not np.count_nonzero(absent):
            continue
        absent &= open_steps
        where = absent.nonzero()[0]
        if missing == "error" and len(where):
            raise InputError(
                argument=given.name,
                problem=f"has {len(where)} NaN at position(s) {listing(where)}",
                remedy=say("drop them, or pass {}", arg("missing", "mask")),
            )
        open_steps &= ~absent
        n_missing += len(where)
    if warm + n_masked + n_uncovered + n_missing == n:
        raise InputError(
            problem=f"no step is left to evaluate, since all {n} are masked or missing",
            remedy="mask fewer, or pass the missing values",
        )
    return Watched(
        open_steps=open_steps,
        missing=n_missing,
        masked=n_masked + n_uncovered,
        warmup=warm,
        uncovered=n_uncovered,
        test_part=ends,
    )


def _flags(value: Any, name: str, steps: Steps) -> BoolArray:
    """0 or 1 for each step."""
    return as_flags(aligned(as_column(value, name), steps.reference, name, steps.whose), name)


def _tested(test_part: Any, steps: Steps) -> tuple[BoolArray, tuple[int, ...]]:
    """Which steps are in the test part, at least one of them; and its first and last, where these were passed."""
    ends = as_test_part(test_part)
    found: tuple[int, ...] = ()
    if ends is None:
        flags = _flags(test_part, "test_part", steps)
    else:
        begin, stop = ends.among(steps.n, steps.clock)
        flags = np.zeros(steps.n, dtype=np.bool_)
        flags[begin:stop] = True
        found = (begin, stop - 1)
    if not flags.any():
        told = {} if ends is None else {"value": test_part}
        raise InputError(
            argument="test_part", **told, problem=f"holds none of the {steps.n:,} steps", remedy="pass a longer one"
        )
    return flags, found


# ---- the events


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """Events as flags of steps that count, as ranges where these are counted, and as times if they lie between steps.

    ``marked`` is what was passed, on all steps.
    """

    truth: BoolArray
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
    shape: Shape | None,
) -> Events:
    events, pairs, clock = steps.events.column, steps.events.pairs, steps.clock
    by_ranges = shape is not None or count_events == "ranges" or (count_events is None and pairs is not None)
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
        if steps.events.kind == "times" and len(events) and clock is not None and not by_ranges:
            clock = refined(clock, events.values)
            instants = own_times(events, clock, open_steps, "truth")
    marked = labels if spans is None else spans
    if by_ranges:
        every = Spans.of_runs(labels, clock) if spans is None else spans
        if shape is not None:
            every = marked = shape.given(every, clock, spans is None, notes)
        truth, spans = every.flags(steps.n) & open_steps, every.among(open_steps, clock)
        lost = len(every) - len(spans)
    else:
        if spans is not None and spans.between.any():
            told = "{} {range_s} between two steps contain no step and were left out."
            notes.append(say(told, int(spans.between.sum())))
        truth, spans = labels & open_steps, None
        lost = int(np.count_nonzero(labels)) - int(np.count_nonzero(truth))
    return Events(
        truth=truth,
        marked=marked,
        spans=spans,
        column=events,
        instants=instants,
        clock=clock,
        lost=lost,
        notes=tuple(notes),
        on_steps=tuple(on_steps),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Ranges closer to each other than ``merge`` are one, and those longer than ``split`` several; one or both."""

    merge: Tolerance | None = None
    split: Tolerance | None = None

    @classmethod
    def of(cls, merge_gap: Any, split_longer: Any, count_events: CountEvents | None) -> Shape | None:
        """The shape that two arguments ask for, which steps do not have; None where they ask for none."""
        if merge_gap is None and split_longer is None:
            return None
        lengths = {"merge_gap": merge_gap, "split_longer": split_longer}
        for name, length in lengths.items():
            if length is not None and count_events == "steps":
                raise InputError(
                    argument=name,
                    value=length,
                    problem=say("is for ranges, but {} counts each step", passed("count_events", "steps")),
                    remedy=say("leave one of them out, or pass {}", arg("count_events", "ranges")),
                )
        merge, split = (None if length is None else one_length(length, name) for name, length in lengths.items())
        return cls(merge=merge, split=split)

    def given(self, spans: Spans, clock: Clock | None, runs: bool, notes: list[str]) -> Spans:
        """Ranges in this shape; ``runs`` of labels last until their last step ends, ranges until their own end."""
        for name, length in (("merge_gap", self.merge), ("split_longer", self.split)):
            if length is None or not len(spans):
                continue
            long: Any
            if length.unit == "steps":
                begins, ends, long = spans.starts, spans.stops, length.late
            elif clock is None or not clock.is_dates or spans.begins is None or spans.ends is None:
                raise InputError(
                    argument=name,
                    value=Shown(length),
                    problem="is a length of time, but the data has no clock of dates",
                    remedy=say("pass {}, or a number of steps", arg("times")),
                )
            else:
                ends = step_ends(clock, over_gaps=True)[spans.stops - 1] if runs else spans.ends
                begins, long = spans.begins, int(length.late) / clock.tick_size  # type: ignore[arg-type]  # checked
            n = len(spans)
            if name == "merge_gap":
                spans = spans.merged(np.append(False, begins[1:] - ends[:-1] < long))
                told = "{Ranges} less than {} apart were merged: {:,} became {:,}."
            else:
                pieces = float(np.ceil((ends - begins) / long).sum())
                if clock is not None and pieces > len(clock) + n:
                    raise InputError(
                        argument=name,
                        value=Shown(length),
                        problem=f"would cut the ranges into {pieces:,.0f} pieces, more than there are steps",
                        remedy="pass a longer one",
                    )
                spans = spans.split(long, ends, None if length.unit == "steps" else clock)
                told = "{Ranges} longer than {} were split: {:,} became {:,}."
                runs = False
            if len(spans) != n:
                notes.append(say(told, length.in_words(), n, len(spans)))
        return spans


def one_length(value: Any, name: str) -> Tolerance:
    """A positive number of steps, or a duration."""
    if isinstance(value, Tolerance):
        raise InputError(argument=name, value=Shown(value), problem="has two sides", remedy="pass one length")
    steps = number_or_none(value)
    if steps is not None and not (1 <= steps < math.inf and steps.is_integer()):
        raise InputError(
            argument=name,
            value=value,
            problem="must be a whole number of steps, 1 or more, or a duration such as '10min'",
        )
    found = as_tolerance(value, name)
    if not found.late:
        raise InputError(argument=name, value=value, problem="must be longer than nothing")
    return found


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
    if isinstance(truth, Known):
        return len(truth.sequence.truth)
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


def _left_out_notes(left_out: LeftOut, uncovered: int, noun: str, test_part: Any) -> tuple[str, ...]:
    """What was left out, but for the ``uncovered`` steps among the masked, which have a note of their own."""
    notes = []
    in_part, masked = test_part is not None, left_out.masked - uncovered
    if left_out.warmup:
        why = ", before the test part," if in_part else " (warm-up)"
        told = f"The first step{why} was" if left_out.warmup == 1 else f"The first {left_out.warmup:,} steps{why} were"
        notes.append(f"{told} left out.")
    if left_out.missing:
        notes.append(f"{left_out.missing} step(s) without a score or label were left out.")
    if masked:
        what = "step(s) that are masked or behind the test part" if in_part else "masked step(s)"
        notes.append(f"{masked} {what} were left out.")
    if left_out.events:
        notes.append(say("{} {} on those steps were left out.", left_out.events, THINGS[f"{noun}_s"]))
    return tuple(notes)


# ---- what events and alarms were passed as: labels, positions or times

TruthKind = Literal["auto", "labels", "positions", "times", "ranges"]
TRUTH_KINDS = get_args(TruthKind)
Missing = Literal["error", "mask"]
HigherIs = Literal["anomalous", "normal"]
Align = Literal["start", "end", "center"]


def kind_of(column: Column, n: int, asked: TruthKind, name: str) -> Any:
    """Labels, positions or times: as asked, else by type and length; 0/1 of a wrong length are never positions."""
    dates = column.values.dtype.kind == "M"
    if column.ilocs:
        return "positions"
    if asked != "auto":
        if dates and asked != "times":
            raise InputError(
                argument=name,
                problem=say("holds dates, but {}", passed(f"{name}_as", asked)),
                remedy=say("pass {}", arg(f"{name}_as", "times")),
            )
        return asked
    if dates:
        return "times"
    values = column.values
    if len(values) == n:
        return "labels"
    return "labels" if is_binary(values) and len(values) > 0 else "positions"


def is_binary(values: AnyArray) -> bool:
    """Whether numbers are nothing but 0, 1 and NaN."""
    other = (values != 0) & (values != 1) & (values == values)
    return not np.count_nonzero(other)


def kind_on_clock(column: Column, kind: Any, clock: Clock, asked: TruthKind) -> Any:
    """Positions or times, for numbers that could be either because the clock of numbers is not 0, 1, 2, ..."""
    if kind != "positions" or asked == "positions" or column.ilocs or len(column) == 0:
        return kind
    if np.array_equal(clock.ticks, np.arange(len(clock))):
        return kind
    if asked == "auto":
        raise InputError(
            argument="truth",
            problem=f"has {len(column)} numbers for {len(clock)} steps, which may be positions or times on the clock",
            remedy=say("pass {} or {}", arg("truth_as", "positions"), arg("truth_as", "times")),
        )
    return "times"


def read_flags(
    column: Column, kind: str, name: str, open_steps: BoolArray, clock: Clock | None, notes: list[str]
) -> BoolArray:
    """One flag for each step, from 0/1 labels, positions or times."""
    if kind == "labels":
        return as_flags(column, name, open_steps)
    flags = np.zeros(len(open_steps), dtype=np.bool_)
    if len(column):
        what = "event" if name == "truth" else "alarm"
        positions = kind == "positions"
        steps = _positions(column.values, len(flags), name) if positions else steps_of_times(column, clock, name)
        if clock is not None and not positions:
            # where the step before the gap is masked, they are left out with it
            lost = open_steps[steps] & in_gaps(clock, own_ticks(clock, column.values), steps)
            steps = steps[~lost]
            notes.extend(off_steps(int(lost.sum()), what))
        merged = len(steps) - len(np.unique(steps))
        if merged:
            told = "{} {} time(s) fall on a step that already has one; each step counts once."
            notes.append(say(told, merged, THINGS[what]))
        flags[steps] = True
    return flags


def off_steps(count: int, what: str) -> list[str]:
    """A note on what lies in gaps of the clock, where only steps count."""
    told = "{} {} lie in gaps of the clock: they are on no step, and were left out."
    return [say(told, count, THINGS[f"{what}_s"])] if count else []


def own_times(column: Column, clock: Clock, open_steps: BoolArray, name: str) -> AnyArray | None:
    """Times in ticks of the clock, those on steps that count; None where all are the times of their steps."""
    steps, ticks = steps_of_times(column, clock, name), own_ticks(clock, column.values)
    there = clock.ticks[steps]
    same = np.abs(ticks - there) <= 2 * clock.slack if clock.slack else ticks == there
    return None if same.all() else np.where(same, there, ticks)[open_steps[steps]]


def as_flags(column: Column, name: str, counted: BoolArray | None = None) -> BoolArray:
    """0/1 values as booleans; anything else, among those that count, is an error that shows where."""
    values = column.values
    if values.dtype.kind == "b":
        return values.astype(np.bool_)
    if values.dtype.kind == "M":
        raise InputError(
            argument=name, problem="must be 0 or 1 for each step, got dates", remedy="turn them into 0 and 1"
        )
    wrong = (values != 0) & (values != 1)
    if counted is not None and np.count_nonzero(wrong):
        wrong &= counted
    if np.count_nonzero(wrong):
        where, among = np.flatnonzero(wrong), values if counted is None else values[counted]
        if np.isin(among, (-1, 1)).all():
            raise InputError(
                argument=name,
                problem="must be 0 or 1 (or bool), got -1 and 1: outlier detectors of scikit-learn write -1 for an "
                "outlier and 1 for the rest",
                remedy=spoken(
                    f"pass {name}=(y == -1), or {name}=(y == 1) if yours is the other way round",
                    shell="write 1 for an outlier and 0 for the rest into the file",
                ),
            )
        raise InputError(
            argument=name,
            problem=f"must be 0 or 1 (or bool), got {listing(values[where[:1]])} at position {where[0]}"
            f"{f' and {len(where) - 1} more' if len(where) > 1 else ''}",
            remedy=_remedy(among, name),
        )
    return np.asarray(values == 1)


def _remedy(values: AnyArray, name: str) -> str:
    """What to do about labels other than 0 and 1, by what detectors write them."""
    if name == "predictions" and values.min() == -2 and np.isin(values, (-2, 0, 1)).all():
        return spoken(
            "where -2 stands for a prediction that was withheld, as in pyod, pass mask=(y == -2) too",
            shell="where -2 stands for a prediction that was withheld, as in pyod, pass --mask with 1 there, too",
        )
    if name != "mask" and values.min() == -1 and not (values % 1).any():
        return f"where they number segments and -1 lies outside, as in sktime, pass {name}=(y >= 0)"
    return "threshold them yourself or pass them as scores" if name == "predictions" else "turn them into 0 and 1"


def _positions(values: npt.NDArray[Any], n: int, name: str) -> npt.NDArray[np.int64]:
    if values.dtype.kind == "b":
        raise InputError(
            argument=name,
            problem=f"has {len(values)} booleans for {n} steps",
            remedy="positions must be whole numbers, labels one for each step",
        )
    wrong = ~np.isfinite(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=np.bool_)
    wrong |= np.where(wrong, 0, values) % 1 != 0
    if wrong.any():
        remedy = (
            say("for event times on a clock of plain numbers pass {}", arg("truth_as", "times"))
            if name == "truth"
            else say("pass scores as {}, one for each step", arg("scores"))
        )
        raise InputError(
            argument=name,
            problem=f"must be 0/1 labels ({n} of them) or whole positions, got {values[wrong][0]}",
            remedy=remedy,
        )
    outside = values[(values < 0) | (values >= n)]
    if len(outside):
        raise InputError(
            argument=name,
            problem=f"has {len(values)} values for {n} steps, and as positions {listing(outside)} lie outside 0.."
            f"{n - 1}",
            remedy=say(
                "pass one 0/1 label for each step, or positions within them{}", _IF_SHORTER if name == "truth" else ""
            ),
        )
    _no_duplicates(
        values,
        name,
        "keep each once, or pass one 0/1 label for each step",
        f"has {len(values)} values for {n} steps, and as positions it ",
    )
    return values.astype(np.int64)


def steps_of_times(column: Column, clock: Clock | None, name: str) -> npt.NDArray[np.int64]:
    values = column.values
    clock = fitting_clock(clock, values.dtype.kind == "M", column.aware, name)
    missing = not_finite(values)
    if missing.any():
        raise InputError(argument=name, problem=f"has {int(missing.sum())} missing time(s)", remedy="remove them")
    _no_duplicates(values, name)
    return clock.steps_at(values, name)


def fitting_clock(clock: Clock | None, dates: bool, aware: bool, name: str) -> Clock:
    """The clock, checked to match what is compared with it: dates or numbers, with a time zone or without."""
    if clock is None:
        raise InputError(
            argument=name,
            problem="holds times, but the data has no clock",
            remedy=say("pass {}, one for each step", arg("times")),
        )
    if clock.is_dates is not dates:
        kinds = ("dates", "numbers") if clock.is_dates else ("numbers", "dates")
        raise InputError(
            problem=say("the clock shows {} but {} holds {}", kinds[0], named(name), kinds[1]),
            remedy="give both as the same kind",
        )
    if clock.is_dates and clock.aware is not aware:
        zoned = ("the clock", named(name)) if clock.aware else (named(name), "the clock")
        raise InputError(
            problem=say("{} has a time zone but {} has none", *zoned), remedy="give both a time zone, or neither"
        )
    return clock


def _no_duplicates(values: npt.NDArray[Any], name: str, remedy: str = "keep each once", before: str = "") -> None:
    ordered, counts = np.unique(values, return_counts=True)
    twice = ordered[counts > 1]
    if len(twice):
        problem = f"{before}lists {len(twice)} item(s) more than once: {listing(twice)}"
        raise InputError(argument=name, problem=problem, remedy=remedy)


def check_finite(values: FloatArray, name: str, open_steps: BoolArray) -> None:
    """Refuse infinite values; finite ones in their place must keep the order, or alarms would come and go."""
    infinite = np.isinf(values)
    if np.count_nonzero(infinite) and (infinite := infinite & open_steps).any():
        where = np.flatnonzero(infinite)
        finite = values[open_steps & ~infinite & ~np.isnan(values)]
        sides = (
            (-np.inf, "-inf by the smallest finite score, or one below it", finite.min(initial=np.inf)),
            (np.inf, "inf by the largest finite score, or one above it", finite.max(initial=-np.inf)),
        )
        advice = " and ".join(
            f"{words}{f' ({end:g})' if len(finite) else ''}"
            for sign, words, end in sides
            if (values[where] == sign).any()
        )
        raise InputError(
            argument=name,
            problem=f"has {len(where)} infinite value(s) at position(s) {listing(where)}",
            remedy=f"replace {advice}",
        )


def score_type(values: npt.NDArray[Any]) -> str:
    """The kind of floats that scores are compared in: their own where it is a short one, else 64 bits."""
    short = values.dtype.kind == "f" and values.dtype.itemsize < 8
    return f"float{8 * values.dtype.itemsize}" if short else "float64"


# ---- what part of a series is watched: its test part, not its warm-up, not the gaps in its times


def warmup_steps(warmup: Any, n: int, clock: Clock | None) -> int:
    """How many of the first steps a warm-up is: given as steps, as a share of all, or as a duration on a clock."""
    steps = _part(warmup, "warmup", n, clock)
    if steps >= n:
        raise InputError(
            argument="warmup",
            value=warmup,
            problem=f"leaves none of the {n:,} steps",
            remedy="pass fewer, or a share such as '15%'",
        )
    return steps


def as_part(value: Any, name: str) -> tuple[Literal["steps", "share", "time"], int | Fraction]:
    """The first part of a series: whole numbers are steps; fractions and what has a % are shares; else nanoseconds."""
    whole, number = whole_or_none(value), number_or_none(value)
    if whole is not None and whole >= 0:
        return "steps", whole
    if whole is None and (number is not None or (isinstance(value, str) and value.strip().endswith("%"))):
        return "share", as_share(value, name)
    duration = None if whole is not None else as_duration(value, name)
    if duration is None or duration < 0:
        raise InputError(
            argument=name,
            value=value,
            problem="must be a number of steps, a share such as '15%', or a duration such as '2d' on a clock of dates",
        )
    return "time", duration


COLUMN = "column:"
"""Before the name of a column that would be read as something else, such as 150."""


def warmup_column(warmup: Any) -> str | None:
    """The column that a warm-up names: text that is nothing else, or whatever stands behind "column:"."""
    if not isinstance(warmup, str):
        return None
    if warmup.startswith(COLUMN):
        return warmup.removeprefix(COLUMN)
    try:
        as_part(warmup, "warmup")
    except InputError:
        return warmup if warmup.strip() and not re.match(r"[-+.\d]|.*%$", warmup.strip()) else None
    return None


def _part(value: Any, name: str, n: int, clock: Clock | None) -> int:
    """How many steps the first part has."""
    unit, size = as_part(value, name)
    if unit != "time":
        return math.floor(size * n) if unit == "share" else int(size)
    if clock is None or not clock.is_dates:
        raise InputError(
            argument=name,
            value=value,
            problem="is a length of time, but the data has no clock of dates",
            remedy=say("pass {}, or a number of steps", arg("times")),
        )
    # the times are whole ticks: those before the end of the part are those up to a nanosecond before it
    return int(clock.windows(0, int(size) - 1)[1][0]) if size > 0 else 0


NAMES = "names"
"""As a test part: where the names of series say that training ends."""


@dataclass(frozen=True, slots=True)
class PartEnds:
    """The ends of the part that counts, as they were passed; None where it goes on to the end of the series."""

    begin: Any = None
    end: Any = None

    @property
    def in_time(self) -> bool:
        """Whether it needs a clock of dates."""
        return any(one is not None and _end_of(one)[0] in ("time", "date") for one in (self.begin, self.end))

    def among(self, n: int, clock: Clock | None) -> tuple[int, int]:
        """The first step, and the one behind the last."""
        begin = 0 if self.begin is None else _step_of(self.begin, n, clock, is_end=False)
        return begin, n if self.end is None else _step_of(self.end, n, clock, is_end=True)


def as_test_part(value: Any) -> PartEnds | None:
    """Where the test part begins, and ends if it is a pair; None for what has a value for each step."""
    if isinstance(value, str) and value.strip() == NAMES:
        raise InputError(
            argument="test_part",
            value=NAMES,
            problem="is for the series of a study, which have names",
            remedy="pass where the test part begins, such as 35000",
        )
    both = [_plain_end(part) for part in value.split(",")] if isinstance(value, str) and "," in value else value
    if isinstance(both, list | tuple) and len(both) == 2 and not any(isinstance(one, bool) for one in both):
        part = PartEnds(*both)
    elif isinstance(both, str) or np.ndim(both) == 0:
        part = PartEnds(both)
    else:
        return None
    part.in_time  # refuses what is neither a step nor a share, nor a time  # noqa: B018
    return part


def test_part_column(test_part: Any) -> str | None:
    """The column that a test part names: text that is nothing else, or whatever stands behind "column:"."""
    if not isinstance(test_part, str) or test_part.strip() == NAMES:
        return None
    if test_part.startswith(COLUMN):
        return test_part.removeprefix(COLUMN)
    try:
        as_test_part(test_part)
    except InputError:
        return test_part
    return None


def _plain_end(text: str) -> Any:
    """One end of a pair that was written as text."""
    return int(text) if text.strip().isdecimal() else text.strip() or None


def _end_of(value: Any) -> tuple[Literal["steps", "share", "time", "date"], Any]:
    """One end of the test part: as `as_part` has them, or a date."""
    if isinstance(value, str) or not (
        number_or_none(value) is not None or isinstance(value, timedelta | np.timedelta64)
    ):
        with suppress(InputError):
            column = as_column([value], "test_part")
            if column.values.dtype.kind == "M":
                return "date", column
    try:
        return as_part(value, "test_part")
    except InputError as error:
        if "share" in str(error.problem) and number_or_none(value) is not None:
            raise
        raise InputError(
            argument="test_part",
            value=value,
            problem="must say where the test part begins: a step, a share such as '50%', or a time such as '2024-03-01'",
            remedy="or pass True for each step that counts",
        ) from None


def _step_of(value: Any, n: int, clock: Clock | None, *, is_end: bool) -> int:
    """The first step from an end of the test part on; of its last end, the one behind what belongs to it."""
    unit, size = _end_of(value)
    if unit == "date":
        clock = fitting_clock(clock, True, size.aware, "test_part")
        day = 10**9 * 86_400 // clock.tick_size - 1 if is_end and is_day(value) else 0
        at = int(own_ticks(clock, size.values)[0]) + day
        found = int(np.searchsorted(clock.ticks, at, side="right" if is_end else "left"))
    else:
        found = _part(value, "test_part", n, clock) + (unit == "steps" and is_end)
    if found > n or (found == n and not is_end):
        raise InputError(
            argument="test_part",
            value=value,
            problem=f"{'ends' if is_end else 'begins'} beyond the {n:,} steps",
            remedy="pass an earlier step, or a share such as '50%'",
        )
    return found


def gap_notes(clock: Clock, open_steps: BoolArray) -> tuple[str, ...]:
    """A note on gaps in the times behind steps that count."""
    count = int(np.count_nonzero(open_steps[clock.gaps]))
    if not count:
        return ()
    length = clock.not_watched(open_steps)
    told = rounded_duration(length) if clock.is_dates else f"{length:g} time unit(s)"
    gaps = "1 gap in the times, {}, does" if count == 1 else f"{count:,} gaps in the times, {{}} in all, do"
    return (f"{gaps.format(told)} not count as watched.",)


class Split(NamedTuple):
    """Two masks, each True where its part leaves a step out."""

    calibration: BoolArray
    evaluation: BoolArray


def split(series: Any, *, at: float | str | Fraction = 0.5) -> Split:
    """Two masks that cut a series in time: choose the threshold on the first part, test it on the second.

    A threshold tuned on the labels it is tested on makes p-values too small. This is the simple remedy; the other is
    ``sweep(...).familywise()``, which corrects for all thresholds that were tried.

    Parameters
    ----------
    series : int or sized
        The number of steps, or anything of that length: labels or scores.
    at : int, float or str, default 0.5
        Where the second part begins: a number of steps, or a share of them (0.3 or "30%", rounded down).

    Returns
    -------
    Split
        ``calibration`` and ``evaluation``, to be passed as ``mask=``: True is left out.

    See Also
    --------
    nofluke.evaluate : takes a mask as ``mask=``.
    nofluke.sweep : find a threshold on the first part.

    Examples
    --------
    >>> import nofluke as nf
    >>> quakes = nf.datasets.simulate_quakes(rng=0)
    >>> scores = nf.detectors.energy_transient(quakes.counts)
    >>> calibration, evaluation = nf.split(scores, at=0.3)
    >>> curve = nf.sweep(quakes.truth, scores, tolerances=2, mask=calibration)
    >>> (_, best), *_ = curve.best()
    >>> result = nf.evaluate(quakes.truth, scores, threshold=curve.thresholds[best], tolerance=2, mask=evaluation)
    >>> result.n, result.left_out.masked
    (1790, 767)
    """
    n = whole_or_none(series)
    if n is None:
        check_length(series, "series")
        try:
            n = len(series)
        except Exception:  # a TypeError, or what a class of the user's raises
            raise InputError(
                argument="series",
                value=series,
                problem="must be a number of steps, or have as many items",
                remedy="pass the scores",
            ) from None
    else:
        n = as_whole(n, "series", 2, MOST_STEPS)
    if isinstance(at, str) and not at.strip().endswith("%"):
        raise InputError(argument="at", value=at, problem="must be a number of steps, or a share such as 0.3 or '30%'")
    first = _part(at, "at", n, None)
    if not 0 < first < n:
        raise InputError(
            argument="at",
            value=at,
            problem=f"leaves one part of the {n:,} steps empty",
            remedy="each part needs at least one",
        )
    later = np.arange(n) >= first
    return Split(calibration=later, evaluation=~later)


# ---- one step for each value: how many there are, what aligns the arguments, and the clock they share


def length(given: Column, name: str, stamps: Column | None, labels: Column, *, ranges: bool) -> int:
    """T: one step for each score or 0/1 alarm; for a list of alarms, one for each time of the clock or 0/1 label.

    ``ranges`` says that alarms are ranges; ``labels`` is empty where events are listed too.
    """
    dates = given.values.dtype.kind == "M"
    if dates and name == "scores":
        raise InputError(
            argument="scores", problem="must be numbers, got dates", remedy=say("pass the dates as {}", arg("times"))
        )
    if name == "predictions" and stamps is not None:
        n = len(stamps)
    elif dates or (name == "predictions" and len(given) == 0 and has_dates(labels)):
        n = len(labels)  # its index is the clock, or there is none and that is said later
    elif name == "predictions" and (ranges or given.ilocs or _lists_positions(given.values, labels.values)):
        n = len(labels)
        if n == 0 or not are_labels(labels.values):
            raise InputError(
                problem="truth and predictions are both lists of events, which do not say how many steps there are",
                remedy=say("pass {}, or {}, one for each step", arg("n_steps"), arg("times")),
            )
    else:
        n = len(given)
    if n == 0 and dates:
        raise InputError(
            argument=name,
            problem="holds times, but the data has no clock",
            remedy=say("pass {}, one for each step", arg("times")),
        )
    if n == 0:
        raise InputError(
            argument=name, problem="is empty, so there is nothing to evaluate", remedy="pass one value for each step"
        )
    return n


def are_labels(values: npt.NDArray[Any]) -> bool:
    """Whether values may be labels of steps: nothing but 0, 1 and NaN."""
    return values.dtype.kind != "M" and is_binary(values)


def _lists_positions(values: npt.NDArray[Any], truth: npt.NDArray[Any]) -> bool:
    """Whether alarms are positions: fewer than the 0/1 labels, or distinct whole numbers if there are no labels."""
    if is_binary(values):
        return False
    if len(truth) and are_labels(truth):
        return len(values) < len(truth)
    return not (values % 1).any() and len(np.unique(values)) == len(values)


def has_dates(thing: Any) -> bool:
    """Whether the index of a column, or of anything of pandas, shows dates: then it is a clock."""
    index = getattr(thing, "index", None)
    return index is not None and _are_dates(index)


def _are_dates(index: Any) -> bool:
    return getattr(getattr(index, "dtype", None), "kind", "") == "M"


def clock_of(series: Any) -> Any:
    """The times of a series: its index of dates, else 0, 1, 2, ..."""
    return series.index if has_dates(series) else range(len(series))


def aligned(column: Column, reference: Column, name: str, other: str) -> Column:
    """The column in the order of the reference: by index where both have one, else by position."""
    n = len(reference)
    mine, theirs = column.index, reference.index
    if mine is None or theirs is None or (_default(mine) and _default(theirs)):
        if len(column) != n:
            positions = arg("truth_as", "positions")
            remedy = {
                ("truth", "scores"): say("pass one label for each score, or event positions ({})", positions),
                ("truth", "predictions"): say(
                    "pass one label and one alarm for each step, or {} with a list of alarm times", arg("times")
                ),
            }.get((name, other), "pass one for each step")
            if name in ("truth", "times") and other in ("scores", "predictions") and len(column) > n:
                remedy = say("{}; if windows made {} shorter, pass {}", remedy, named(other), arg("align", "end"))
            raise InputError(
                argument=name, problem=say("has {} values but {} has {}", len(column), named(other), n), remedy=remedy
            )
        return column
    if len(mine) == n and (mine.equals(theirs) or nothing_shared(mine, theirs)):
        return column
    if mine.nlevels != theirs.nlevels:  # pandas compares no tuples with single labels
        raise InputError(
            problem=f"the index of {name} has {mine.nlevels} level(s) but that of {other} has {theirs.nlevels}",
            remedy="give both the same, or pass .to_numpy() to align by position",
        )
    for index, whose in ((mine, name), (theirs, other)):
        if index.has_duplicates:
            twice = index[index.duplicated()]
            raise InputError(
                problem=f"the index of {whose} has {len(twice)} duplicate(s), first {twice[0]}: {name} and {other} cannot "
                "be aligned by it",
                remedy="keep one row for each, or pass .to_numpy() to align by position",
            )
    lacking, extra = theirs[~theirs.isin(mine)], mine[~mine.isin(theirs)]
    if len(lacking) or len(extra):
        parts = [
            f"{len(labels)} label(s) only in {whose}, first {labels[0]}"
            for labels, whose in ((lacking, other), (extra, name))
            if len(labels)
        ]
        raise InputError(
            argument=name,
            problem=f"and {other} do not share their index: {'; '.join(parts)}",
            remedy="reindex one to the other, or pass .to_numpy() to align by position",
        )
    order = mine.get_indexer(theirs)
    east = None if column.east is None else column.east[order]
    return Column(values=column.values[order], index=theirs, aware=column.aware, east=east)


def nothing_shared(mine: Any, theirs: Any) -> bool:
    """Whether one index has dates and the other is pandas' own 0, 1, 2, ..., as sktime's ``transform`` returns it."""
    return (_are_dates(mine) and _default(theirs)) or (_are_dates(theirs) and _default(mine))


def _default(index: Any) -> bool:
    """Whether an index is the 0, 1, 2, ... that pandas makes by itself."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


# ---- from pairs of a start and an end to ranges of steps: checked, in order, apart, and within the data

Overlaps = Literal["error", "merge"]
_DAY = 86_400 * 10**9


@dataclass(slots=True, kw_only=True)
class _Bounds:
    """Ends of ranges as comparable numbers, steps or ticks of a clock; and the pairs as given, for messages."""

    begins: AnyArray
    ends: AnyArray
    given: Pairs
    show: Callable[[Any], str]
    slack: float = 0.0

    def __getitem__(self, which: Any) -> _Bounds:
        given = replace(self.given, starts=self.given.starts[which], ends=self.given.ends[which])
        return replace(self, begins=self.begins[which], ends=self.ends[which], given=given)

    def words(self) -> str:
        """The ranges as they were given, the first few."""
        pairs = zip(self.given.starts, self.given.ends, strict=True)
        return listing(np.array([f"{self.show(start)} to {self.show(end)}" for start, end in pairs]))


def read_ranges(
    pairs: Pairs, asked: TruthKind, n_steps: int, clock: Clock | None, overlaps: Overlaps, notes: list[str]
) -> tuple[Spans, Clock | None]:
    """Ranges over all steps, and the clock, in a finer unit where the ends of the ranges need one."""
    if len(pairs) == 0:
        none = np.zeros(0, dtype=np.int64)
        return Spans.of_steps(none, none, clock), clock
    for side, values in (("start", pairs.starts), ("end", pairs.ends)):
        _check_present(values, side, pairs.name)
    dates = pairs.starts.dtype.kind == "M"
    if dates and asked == "positions":
        raise InputError(
            argument="truth",
            problem=say("holds dates, but {}", passed("truth_as", "positions")),
            remedy=say("pass {}", arg("truth_as", "times")),
        )
    if dates or asked == "times" or (asked != "positions" and clock is not None and not clock.is_dates):
        clock = fitting_clock(clock, dates, pairs.aware, pairs.name)
        return _on_clock(pairs, clock, overlaps, notes)
    return _on_steps(pairs, n_steps, clock, overlaps, notes), clock


def _check_present(values: AnyArray, side: str, name: str) -> None:
    if values.dtype.kind == "b":
        raise InputError(
            argument=name,
            problem="holds pairs of booleans",
            remedy="pass one label for each step, or pairs of a start and an end",
        )
    missing = not_finite(values)
    if missing.any():
        where = np.flatnonzero(missing)
        raise InputError(
            argument=name,
            problem=f"has {len(where)} range(s) without a finite {side}, at position(s) {listing(where)}",
            remedy=OPEN[side],
        )


def _on_steps(pairs: Pairs, n_steps: int, clock: Clock | None, overlaps: Overlaps, notes: list[str]) -> Spans:
    for values in (pairs.starts, pairs.ends):
        wrong = values[values % 1 != 0]
        if len(wrong):
            raise InputError(
                argument=pairs.name,
                problem=f"has ranges that end at {listing(wrong)}, which are not whole steps",
                remedy=say("pass whole positions, or {} for a clock", arg("times")),
            )

    def whole(values: AnyArray) -> IntArray:
        far = 2**62  # beyond all steps, and in reach of 64 bits
        return np.clip(values, 0 if values.dtype.kind == "u" else -far, far).astype(np.int64)

    bounds = _Bounds(begins=whole(pairs.starts), ends=whole(pairs.ends), given=pairs, show=_show_step)
    bounds = _apart(_in_order(bounds, 1), overlaps, notes, shared=False)
    last = n_steps - 1
    more = say("pass more steps{}", _IF_SHORTER if pairs.name == "truth" else "")
    _within(bounds, (bounds.ends < 0) | (bounds.begins > last), f"the steps 0 to {last}", more)
    _note_cut(bounds[(bounds.begins < 0) | (bounds.ends > last)], f"the steps 0 to {last}", notes)
    return Spans.of_steps(np.maximum(bounds.begins, 0), np.minimum(bounds.ends, last) + 1, clock)


def _on_clock(pairs: Pairs, clock: Clock, overlaps: Overlaps, notes: list[str]) -> tuple[Spans, Clock]:
    clock = refined(clock, pairs.starts, pairs.ends)
    begins, ends = own_ticks(clock, pairs.starts, up=True), own_ticks(clock, pairs.ends)
    bounds = _Bounds(begins=begins, ends=np.maximum(begins, ends), given=pairs, show=clock.show_time, slack=clock.slack)
    bounds = _apart(_in_order(bounds, 0), overlaps, notes, shared=True)
    first, last = clock.ticks[0], clock.ticks[-1]
    span = f"the clock ({clock.show(first)} to {clock.show(last)})"
    # times of floats are compared with room for rounding; ticks stay whole, since floats would merge them
    low, high = (first - clock.slack, last + clock.slack) if clock.slack else (first, last)
    early = bounds.ends < low if pairs.closed in ("both", "right") else bounds.ends <= first
    late = (bounds.begins > high) & (bounds.begins >= clock.end)
    _within(bounds, early | late, span, "pass the steps of that time too")
    _note_midnights(pairs, clock, notes)
    _note_cut(bounds[(bounds.begins < low) | ((bounds.ends > high) & (bounds.ends >= clock.end))], span, notes)
    ends = np.maximum.accumulate(bounds.ends)  # they ascend but for rounding
    opens = np.repeat(
        [[pairs.closed in ("right", "neither")], [pairs.closed in ("left", "neither")]], len(ends), axis=1
    )
    starts, stops = clock.windows_around(bounds.begins, ends, 0, 0, opens)
    # a step at the instant in which two ranges touch belongs to the earlier one
    before = np.concatenate([[0], np.maximum.accumulate(stops)[:-1]])
    taken = starts < before
    if taken.any():
        notes.append(
            say(
                "{} {range_s} begin on the step on which the previous one ends; that step counts for the earlier {range}: {}.",
                int(taken.sum()),
                bounds[taken].words(),
            )
        )
    starts = np.maximum(starts, before)
    spans = Spans(
        starts=starts,
        stops=np.maximum(stops, starts),
        begins=bounds.begins,
        ends=ends,
        opens=opens if opens.any() else None,
    )
    return spans, clock


def _in_order(bounds: _Bounds, least: int) -> _Bounds:
    """Ascending ranges, those of steps without the ends that are open; reversed and empty ones are refused."""
    # as they were given: rounded to ticks, those between two of them may cross
    back = bounds.given.starts > bounds.given.ends
    if back.any():
        raise InputError(
            argument=bounds.given.name,
            problem=f"has {int(back.sum())} range(s) that end before they start: {bounds[back].words()}",
            remedy="swap their ends",
        )
    closed = bounds.given.closed
    begins = bounds.begins if closed in ("both", "left") else bounds.begins + least
    ends = bounds.ends if closed in ("both", "right") else bounds.ends - least
    empty = (begins > ends) | ((begins == ends) & (closed != "both") & (least == 0))
    if empty.any():
        raise InputError(
            argument=bounds.given.name,
            problem=f"has {int(empty.sum())} empty interval(s), closed={closed!r}: {bounds[empty].words()}",
            remedy="remove them",
        )
    order = np.lexsort((ends, begins))
    return replace(bounds, begins=begins, ends=ends)[order]


def _apart(bounds: _Bounds, overlaps: Overlaps, notes: list[str], *, shared: bool) -> _Bounds:
    """Ranges that do not overlap: refused or merged. On a clock two may share an instant, if they are not the same."""
    begins, ends = bounds.begins, bounds.ends
    top = np.maximum.accumulate(ends)[:-1]
    same = (begins[1:] == begins[:-1]) & (ends[1:] == ends[:-1])
    over = (begins[1:] + bounds.slack < top) | same if bounds.slack else (begins[1:] < top) | same
    if not shared:
        over |= begins[1:] == top
    if not over.any():
        return bounds
    if overlaps == "error":
        at = int(np.flatnonzero(over)[0]) + 1
        reaching = int(np.argmax(ends[:at]))
        raise InputError(
            argument=bounds.given.name,
            problem=f"has {int(over.sum())} range(s) that overlap another, first "
            f"{bounds[[reaching]].words()} and {bounds[[at]].words()}",
            remedy=say("fix them, or pass {}", arg("overlaps", "merge")),
        )
    kept = np.flatnonzero(np.concatenate([[True], ~over]))
    merged = np.maximum.reduceat(ends, kept)
    last = np.array([lo + int(np.argmax(ends[lo:hi])) for lo, hi in zip(kept, [*kept[1:], len(ends)], strict=True)])
    notes.append(say("Overlapping {ranges} were merged: {:,} became {:,}.", len(ends), len(kept)))
    given = replace(bounds.given, starts=bounds.given.starts[kept], ends=bounds.given.ends[last])
    return replace(bounds, begins=begins[kept], ends=merged, given=given)


def _within(bounds: _Bounds, outside: BoolArray, span: str, remedy: str) -> None:
    if outside.any():
        raise InputError(
            argument=bounds.given.name,
            problem=f"has {int(outside.sum())} range(s) outside {span}: {bounds[outside].words()}",
            remedy=say("remove them, or {}", remedy),
        )


def _note_cut(bounds: _Bounds, span: str, notes: list[str]) -> None:
    if len(bounds.begins):
        told = "{} {range_s} reach beyond {} and are cut there: {}."
        notes.append(say(told, len(bounds.begins), span, bounds.words()))


def _note_midnights(pairs: Pairs, clock: Clock, notes: list[str]) -> None:
    """A note where lists of days meet a clock of hours: the last day of a range is its midnight, and not all of it."""
    if clock.unit is None or pairs.closed in ("left", "neither") or clock.step * clock.tick_size >= _DAY:
        return
    if all((values == values.astype("datetime64[D]")).all() for values in (pairs.starts, pairs.ends)):
        notes.append(
            "Ranges end on dates without a time of day, which means midnight: if the last day belongs to the range, "
            "write its last time, such as 2024-01-31T23:59:59."
        )


def _show_step(value: Any) -> str:
    return str(value).removesuffix(".0")


# ---- what an argument holds: one value for each step, or a list of events: positions, times


def read_given(value: Any, name: str, asked: TruthKind = "auto") -> tuple[Column, Pairs | None]:
    """Events or alarms as one column, or as pairs of a start and an end, and then an empty column."""
    if is_plain(value) and asked != "ranges":
        return Column(values=value), None
    ilocs = ilocs_of(value)
    listed = value if ilocs is None else ilocs
    pairs = as_pairs(listed, name)
    column = Column(values=np.zeros(0)) if pairs is not None else as_column(listed, name)
    if ilocs is not None:
        _check_ilocs(column.values if pairs is None else pairs.starts, name, asked)
        column = replace(column, index=None, ilocs=pairs is None)
    if asked == "ranges" and pairs is None:
        if len(column):
            raise InputError(
                argument=name,
                problem=say("is one column, but {}", passed(f"{name}_as", "ranges")),
                remedy="pass pairs of a start and an end",
            )
        pairs = no_pairs()
    if asked == "labels" and pairs is not None:
        raise InputError(
            argument=name,
            problem=say("holds pairs, but {}", passed(f"{name}_as", "labels")),
            remedy=say("pass one label for each step, or {}", arg(f"{name}_as", "ranges")),
        )
    return column, None if pairs is None else replace(pairs, name=name, ilocs=ilocs is not None)


def _check_ilocs(values: AnyArray, name: str, asked: TruthKind) -> None:
    if values.dtype.kind == "M":
        raise InputError(
            argument=name,
            problem="has dates in a column 'ilocs', where positions belong",
            remedy="pass the column by itself",
        )
    if asked in ("labels", "times"):
        raise InputError(
            argument=name,
            problem=say("has a column 'ilocs', which holds positions, but {}", passed(f"{name}_as", asked)),
            remedy=say("leave {} out", named(f"{name}_as")),
        )


def as_labels(events: Column, asked: TruthKind) -> Column:
    """Events if they may be a label for each step, by which steps are counted; else an empty column."""
    labels = asked in ("auto", "labels") and not events.ilocs
    return events if labels else Column(values=events.values[:0])


def alarms_in_ranges(pairs: Pairs, n_steps: int, clock: Clock | None, notes: list[str]) -> BoolArray:
    """One flag for each step that lies in a range of alarms; ranges may overlap, and last where they have no end.

    One between two steps belongs to the step before it, as all times do, but for those in gaps of the clock.
    """
    pairs = _lasting(pairs, n_steps, clock, notes)
    spans, clock = read_ranges(pairs, "positions" if pairs.ilocs else "auto", n_steps, clock, "merge", notes)
    flags, lost = spans.flags(n_steps), spans.in_gaps(clock)
    if lost.any():
        notes.append(say("{} range(s) of {alarms} in gaps of the clock were left out.", int(lost.sum())))
    flags[np.maximum(spans.starts[spans.between & ~lost] - 1, 0)] = True
    refuse_segmentation(pairs, flags)
    return flags


def _lasting(pairs: Pairs, n_steps: int, clock: Clock | None, notes: list[str]) -> Pairs:
    """Ranges without an end last to the end of the series."""
    dates = pairs.ends.dtype.kind == "M"
    still = not_finite(pairs.ends)
    if not still.any():
        return pairs
    last: Any = n_steps - 1
    if clock is not None and (clock.is_dates or not pairs.ilocs):
        last = clock.ticks[-1].astype(f"datetime64[{clock.unit}]") if clock.is_dates else clock.ticks[-1]
    if dates and (clock is None or not clock.is_dates):
        return pairs  # what is wrong with it is said where ranges are read
    ends = pairs.ends.copy()
    ends[still] = np.maximum(pairs.starts[still], last)
    notes.append(f"{int(still.sum())} range(s) of alarms have no end: they last to the end of the series.")
    return replace(pairs, ends=ends)


def refuse_segmentation(pairs: Pairs, flags: BoolArray) -> None:
    """Refuse segments that cover every step: such a list divides the series, and says nothing about anomalies."""
    if pairs.ilocs and len(pairs) > 1 and flags.all():
        raise InputError(
            argument=pairs.name,
            problem=f"has {len(pairs)} segments that cover all {len(flags)} steps, so every step is an event",
            remedy="pass the change points between them (predict_points), or only the segments that are anomalies",
        )
