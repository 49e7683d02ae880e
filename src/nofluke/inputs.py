"""Align and validate: from what the user passed to one checked, labelled sequence.

The result holds an event flag and a score (or alarm) for every step, which steps count, the clock if there is one,
and notes on everything that was left out or merged, so that nothing is lost in silence.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nofluke.clock import Clock, listing, make_clock
from nofluke.columns import Column, as_column
from nofluke.errors import InputError
from nofluke.plain import check_word, exact_floats

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

TruthKind = Literal["auto", "labels", "positions", "times"]
Missing = Literal["error", "mask"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """What was left out of everything, and why: steps without a score or label, steps under the mask, events on either."""

    missing: int = 0
    masked: int = 0
    events: int = 0

    @property
    def steps(self) -> int:
        """Steps left out, each counted once."""
        return self.missing + self.masked


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequence:
    """A labelled sequence, checked and aligned; closed steps hold no event and no prediction."""

    truth: BoolArray = field(repr=False)
    scores: FloatArray | None = field(repr=False)
    predictions: BoolArray | None = field(repr=False)
    open_steps: BoolArray = field(repr=False)
    clock: Clock | None
    left_out: LeftOut
    notes: tuple[str, ...]

    @property
    def n(self) -> int:
        """Steps that count."""
        return int(self.open_steps.sum())

    @property
    def n_events(self) -> int:
        """Events on steps that count."""
        return int(self.truth.sum())

    def open_scores(self) -> FloatArray:
        """Scores of the steps that count."""
        if self.scores is None:
            raise InputError("there are no scores to put a threshold on: pass scores, not predictions.")
        return self.scores[self.open_steps]


def prepare(
    truth: Any,
    scores: Any = None,
    *,
    predictions: Any = None,
    times: Any = None,
    mask: Any = None,
    truth_as: TruthKind = "auto",
    missing: Missing = "error",
) -> Sequence:
    """Read, align and check everything a user can pass about one sequence."""
    check_word(truth_as, "truth_as", ("auto", "labels", "positions", "times"))
    check_word(missing, "missing", ("error", "mask"))
    if (scores is None) is (predictions is None):
        raise InputError(f"pass either scores or predictions, got {'neither' if scores is None else 'both'}.")
    name = "scores" if predictions is None else "predictions"
    given = as_column(scores if predictions is None else predictions, name)
    events = as_column(truth, "truth")
    stamps = None if times is None else as_column(times, "times")
    n = _length(given, name, stamps, events)
    given_kind = "labels" if name == "scores" else _kind_of(given, n, "auto", name)
    truth_kind = _kind_of(events, n, truth_as, "truth")
    reference, whose = _reference(given, given_kind, name, events, truth_kind, n)
    if truth_kind == "labels":
        events = _aligned(events, reference, "truth", whose)
    if stamps is not None:
        stamps = _aligned(stamps, reference, "times", whose)
    clock = _find_clock(stamps, reference, events if truth_kind == "labels" else None, whose)
    given_kind = _on_clock(given, given_kind, clock, "times")  # a list of alarms is of times, where there is a clock
    truth_kind = _on_clock(events, truth_kind, clock, truth_as)

    masked = np.zeros(n, dtype=np.bool_)
    if mask is not None:
        masked = _flags(_aligned(as_column(mask, "mask"), reference, "mask", whose), "mask")
    absent = np.zeros(n, dtype=np.bool_)
    for column, kind, argument in ((given, given_kind, name), (events, truth_kind, "truth")):
        if kind == "labels":
            absent |= _absent(column, argument, missing, waived=masked)
    open_steps = ~(absent | masked)
    if not open_steps.any():
        raise InputError(
            f"no step is left to evaluate: all {n} are masked or missing: mask fewer, or pass the values that are missing."
        )

    notes: list[str] = []
    labels = _read_flags(events, truth_kind, "truth", open_steps, clock, notes)
    left_out = LeftOut(
        missing=int((absent & ~masked).sum()),
        masked=int(masked.sum()),
        events=int((labels & ~open_steps).sum()),
    )
    values = alarms = None
    if name == "scores":
        values = exact_floats(given.values, name, open_steps)
        _finite(values, name, open_steps)
    else:
        alarms = _read_flags(given, given_kind, name, open_steps, clock, notes) & open_steps
    return Sequence(
        truth=labels & open_steps,
        scores=values,
        predictions=alarms,
        open_steps=open_steps,
        clock=clock,
        left_out=left_out,
        notes=(*_left_out_notes(left_out), *notes),
    )


def _length(given: Column, name: str, stamps: Column | None, events: Column) -> int:
    """T: one step for each score or 0/1 alarm; for a list of alarm times, one for each time of the clock."""
    dates = given.values.dtype.kind == "M"
    if dates and name == "scores":
        raise InputError("scores must be numbers, got dates: pass the dates as times=.")
    if name == "predictions" and stamps is not None:
        n = len(stamps)
    elif dates or (name == "predictions" and len(given) == 0 and _has_dates(events)):
        n = len(events)  # its index is the clock, or there is none and that is said later
    else:
        n = len(given)
    if n == 0:
        raise InputError(f"{name} is empty: there is nothing to evaluate: pass one value for each step.")
    return n


def _has_dates(column: Column) -> bool:
    """Whether the index of a column shows dates: then it is a clock."""
    return getattr(getattr(column.index, "dtype", None), "kind", "") == "M"


def _read_flags(
    column: Column, kind: str, name: str, open_steps: BoolArray, clock: Clock | None, notes: list[str]
) -> BoolArray:
    """One flag for each step, from 0/1 labels, positions or times."""
    if kind == "labels":
        return _flags(column, name, ignore=~open_steps)
    flags = np.zeros(len(open_steps), dtype=np.bool_)
    if len(column):
        steps = (
            _positions(column.values, len(flags), name) if kind == "positions" else _steps_of_times(column, clock, name)
        )
        merged = len(steps) - len(np.unique(steps))
        if merged:
            what = "event" if name == "truth" else "alarm"
            notes.append(f"{merged} {what} time(s) fall on a step that already has one; each step counts once.")
        flags[steps] = True
    return flags


def _kind_of(column: Column, n: int, asked: TruthKind, name: str) -> str:
    """Labels, positions or times: by what was asked, else by type and length; 0/1 of a wrong length are no positions."""
    dates = column.values.dtype.kind == "M"
    if asked != "auto":
        if dates and asked != "times":
            raise InputError(f"{name} holds dates, but {name}_as={asked!r}: pass {name}_as='times'.")
        return asked
    if dates:
        return "times"
    values = column.values
    binary = values.dtype.kind == "b" or bool(np.isin(values[~np.isnan(values.astype(np.float64))], (0, 1)).all())
    return "labels" if len(values) == n or (binary and len(values) > 0) else "positions"


def _reference(
    given: Column, given_kind: str, name: str, events: Column, truth_kind: str, n: int
) -> tuple[Column, str]:
    """What everything is aligned with, and whose it is: scores or 0/1 alarms, else 0/1 labels, else nothing."""
    if given_kind == "labels":
        return given, name
    if truth_kind != "labels":
        return Column(values=np.zeros(n, dtype=np.bool_)), name
    if len(events) != n:
        raise InputError(f"truth has {len(events)} values but times has {n}: pass one label for each step.")
    return events, "truth"


def _on_clock(column: Column, kind: str, clock: Clock | None, asked: TruthKind) -> str:
    """Positions or times, for a list of numbers on a clock of other numbers than 0, 1, 2, ..., where both could be meant."""
    if kind != "positions" or asked == "positions" or clock is None or clock.is_dates or len(column) == 0:
        return kind
    if np.array_equal(clock.ticks, np.arange(len(clock))):
        return kind
    if asked == "auto":
        raise InputError(
            f"truth has {len(column)} numbers for {len(clock)} steps, which may be positions or times on the clock: "
            "pass truth_as='positions' or truth_as='times'."
        )
    return "times"


def _aligned(column: Column, reference: Column, name: str, other: str) -> Column:
    """The column in the order of the reference: by index where both have one, else by position."""
    n = len(reference)
    mine, theirs = column.index, reference.index
    if mine is None or theirs is None or (_default(mine) and _default(theirs)):
        if len(column) != n:
            remedy = {
                ("truth", "scores"): "one label for each score, or event positions (truth_as='positions')",
                ("truth", "predictions"): "one label and one alarm for each step, or times= with a list of alarm times",
            }.get((name, other), "one for each step")
            raise InputError(f"{name} has {len(column)} values but {other} has {n}: pass {remedy}.")
        return column
    if len(mine) == n and mine.equals(theirs):
        return column
    if mine.nlevels != theirs.nlevels:  # pandas compares no tuples with single labels
        raise InputError(
            f"the index of {name} has {mine.nlevels} level(s) but that of {other} has {theirs.nlevels}: give both the same, or "
            "pass .to_numpy() to align by position."
        )
    for index, whose in ((mine, name), (theirs, other)):
        if index.has_duplicates:
            twice = index[index.duplicated()]
            raise InputError(
                f"the index of {whose} has {len(twice)} duplicate(s), first {twice[0]}: {name} and {other} cannot be aligned "
                "by it: keep one row for each, or pass .to_numpy() to align by position."
            )
    lacking, extra = theirs[~theirs.isin(mine)], mine[~mine.isin(theirs)]
    if len(lacking) or len(extra):
        parts = [
            f"{len(labels)} label(s) only in {whose}, first {labels[0]}"
            for labels, whose in ((lacking, other), (extra, name))
            if len(labels)
        ]
        raise InputError(
            f"{name} and {other} do not share their index: {'; '.join(parts)}: reindex one to the other, or pass .to_numpy() "
            "to align by position."
        )
    order = mine.get_indexer(theirs)
    return Column(values=column.values[order], index=theirs, aware=column.aware)


def _default(index: Any) -> bool:
    """Whether an index is the 0, 1, 2, ... that pandas makes by itself."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def _find_clock(stamps: Column | None, reference: Column, labels: Column | None, name: str) -> Clock | None:
    if stamps is not None:
        return make_clock(stamps.values, "times", stamps.aware)
    for column, whose in ((reference, name), (labels, "truth")):
        if column is not None and _has_dates(column):
            own = as_column(column.index, f"the index of {whose}")
            return make_clock(own.values, f"the index of {whose}", own.aware)
    return None


def _absent(column: Column, name: str, missing: Missing, waived: BoolArray) -> BoolArray:
    """Which values are NaN; an error unless they are to be masked (or are under the mask anyway)."""
    values = column.values
    absent = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=np.bool_)
    counted = absent & ~waived
    if missing == "error" and counted.any():
        where = np.flatnonzero(counted)
        raise InputError(
            f'{name} has {len(where)} NaN at position(s) {listing(where)}: drop them, or pass missing="mask".'
        )
    return absent


def _finite(values: FloatArray, name: str, open_steps: BoolArray) -> None:
    where = np.flatnonzero(np.isinf(values) & open_steps)
    if len(where):
        raise InputError(
            f"{name} has {len(where)} infinite value(s) at position(s) {listing(where)}: replace them by large finite numbers."
        )


def _flags(column: Column, name: str, ignore: BoolArray | None = None) -> BoolArray:
    """0/1 values as booleans; anything else, outside of what is ignored, is an error that shows where."""
    values = column.values
    if values.dtype.kind == "b":
        return values.astype(np.bool_)
    if values.dtype.kind == "M":
        raise InputError(f"{name} must be 0 or 1 for each step, got dates: turn them into 0 and 1.")
    wrong = ~np.isin(values, (0, 1))
    if ignore is not None:
        wrong &= ~ignore
    if wrong.any():
        where = np.flatnonzero(wrong)
        raise InputError(
            f"{name} must be 0 or 1 (or bool), got {listing(values[where[:1]])} at position {where[0]}"
            f"{f' and {len(where) - 1} more' if len(where) > 1 else ''}: "
            f"{'threshold them yourself or pass them as scores' if name == 'predictions' else 'turn them into 0 and 1'}."
        )
    return np.asarray(values == 1)


def _positions(values: npt.NDArray[Any], n: int, name: str) -> npt.NDArray[np.int64]:
    if values.dtype.kind == "b":
        raise InputError(
            f"{name} has {len(values)} booleans for {n} steps: positions must be whole numbers, labels one for each step."
        )
    wrong = ~np.isfinite(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=np.bool_)
    wrong |= np.where(wrong, 0, values) % 1 != 0
    if wrong.any():
        raise InputError(
            f"{name} must be 0/1 labels ({n} of them) or whole positions, got {values[wrong][0]}: for event times on a "
            "clock of plain numbers pass truth_as='times'."
        )
    outside = values[(values < 0) | (values >= n)]
    if len(outside):
        raise InputError(
            f"{name} has {len(values)} values for {n} steps, and as positions {listing(outside)} lie outside 0..{n - 1}: "
            "pass one 0/1 label for each step, or positions within them."
        )
    _no_duplicates(values, f"{name} has {len(values)} values for {n} steps, and as positions it")
    return values.astype(np.int64)


def _steps_of_times(column: Column, clock: Clock | None, name: str) -> npt.NDArray[np.int64]:
    if clock is None:
        raise InputError(f"{name} holds times, but the data has no clock: pass times=, one for each step.")
    values = column.values
    missing = np.isnat(values) if values.dtype.kind == "M" else ~np.isfinite(values.astype(np.float64))
    if missing.any():
        raise InputError(f"{name} has {int(missing.sum())} missing time(s): remove them.")
    if clock.is_dates is not (values.dtype.kind == "M"):
        kinds = ("dates", "numbers") if clock.is_dates else ("numbers", "dates")
        raise InputError(f"the clock shows {kinds[0]} but {name} holds {kinds[1]}: give both in the same kind.")
    if clock.is_dates and clock.aware is not column.aware:
        zoned = ("the clock", name) if clock.aware else (name, "the clock")
        raise InputError(f"{zoned[0]} has a time zone but {zoned[1]} has none: give both one, or neither.")
    _no_duplicates(values, name)
    return clock.steps_at(values, name)


def _no_duplicates(values: npt.NDArray[Any], name: str) -> None:
    ordered, counts = np.unique(values, return_counts=True)
    twice = ordered[counts > 1]
    if len(twice):
        raise InputError(f"{name} lists {len(twice)} item(s) more than once: {listing(twice)}: keep each once.")


def _left_out_notes(left_out: LeftOut) -> tuple[str, ...]:
    notes = []
    if left_out.missing:
        notes.append(f"{left_out.missing} step(s) without a score or label were left out.")
    if left_out.masked:
        notes.append(f"{left_out.masked} masked step(s) were left out.")
    if left_out.events:
        notes.append(f"{left_out.events} event(s) on those steps were left out.")
    return tuple(notes)
