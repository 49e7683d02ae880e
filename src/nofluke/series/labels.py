"""What events and alarms were passed as (labels, positions or times), each checked and turned into one flag a step."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from nofluke.arrays import AnyArray, BoolArray, FloatArray
from nofluke.data.columns import Column
from nofluke.errors import InputError, arg, named, passed, say, spoken
from nofluke.series.clock import Clock, listing
from nofluke.series.own_times import in_gaps, own_ticks

TruthKind = Literal["auto", "labels", "positions", "times", "ranges"]
TRUTH_KINDS = get_args(TruthKind)
Missing = Literal["error", "mask"]
HigherIs = Literal["anomalous", "normal"]


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
    return values.dtype.kind == "b" or bool(np.isin(values[~np.isnan(values.astype(np.float64))], (0, 1)).all())


def kind_on_clock(column: Column, kind: Any, clock: Clock | None, asked: TruthKind) -> Any:
    """Positions or times, for numbers that could be either because the clock is not 0, 1, 2, ..."""
    if kind != "positions" or asked == "positions" or column.ilocs or len(column) == 0:
        return kind
    if clock is None or clock.is_dates:
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
        return as_flags(column, name, ignore=~open_steps)
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
            notes.append(f"{merged} {what} time(s) fall on a step that already has one; each step counts once.")
        flags[steps] = True
    return flags


def off_steps(count: int, what: str) -> list[str]:
    """A note on what lies in gaps of the clock, where only steps count."""
    return [f"{count} {what}(s) lie in gaps of the clock: they are on no step, and were left out."] if count else []


def own_times(column: Column, clock: Clock, open_steps: BoolArray, name: str) -> AnyArray | None:
    """Times in ticks of the clock, those on steps that count; None where all are the times of their steps."""
    steps, ticks = steps_of_times(column, clock, name), own_ticks(clock, column.values)
    there = clock.ticks[steps]
    same = np.abs(ticks - there) <= 2 * clock.slack if clock.slack else ticks == there
    return None if same.all() else np.where(same, there, ticks)[open_steps[steps]]


def as_flags(column: Column, name: str, ignore: BoolArray | None = None) -> BoolArray:
    """0/1 values as booleans; anything else, outside of what is ignored, is an error that shows where."""
    values = column.values
    if values.dtype.kind == "b":
        return values.astype(np.bool_)
    if values.dtype.kind == "M":
        raise InputError(
            argument=name, problem="must be 0 or 1 for each step, got dates", remedy="turn them into 0 and 1"
        )
    wrong = (values != 0) & (values != 1)
    if ignore is not None:
        wrong &= ~ignore
    if wrong.any():
        where = np.flatnonzero(wrong)
        counted = values if ignore is None else values[~ignore]
        if np.isin(counted, (-1, 1)).all():
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
            remedy=_remedy(counted, name),
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
            remedy="pass one 0/1 label for each step, or positions within them",
        )
    _no_duplicates(
        values,
        f"{name} has {len(values)} values for {n} steps, and as positions it",
        "keep each once, or pass one 0/1 label for each step",
    )
    return values.astype(np.int64)


def steps_of_times(column: Column, clock: Clock | None, name: str) -> npt.NDArray[np.int64]:
    values = column.values
    clock = fitting_clock(clock, values.dtype.kind == "M", column.aware, name)
    missing = np.isnat(values) if values.dtype.kind == "M" else ~np.isfinite(values.astype(np.float64))
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


def _no_duplicates(values: npt.NDArray[Any], name: str, remedy: str = "keep each once") -> None:
    ordered, counts = np.unique(values, return_counts=True)
    twice = ordered[counts > 1]
    if len(twice):
        raise InputError(
            argument=name, problem=f"lists {len(twice)} item(s) more than once: {listing(twice)}", remedy=remedy
        )


def check_absent(column: Column, name: str, missing: Missing, waived: BoolArray) -> BoolArray:
    """Which values are NaN; an error unless they are to be masked (or are under the mask anyway)."""
    values = column.values
    absent = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=np.bool_)
    counted = absent & ~waived
    if missing == "error" and counted.any():
        where = np.flatnonzero(counted)
        raise InputError(
            argument=name,
            problem=f"has {len(where)} NaN at position(s) {listing(where)}",
            remedy=say("drop them, or pass {}", arg("missing", "mask")),
        )
    return absent


def check_finite(values: FloatArray, name: str, open_steps: BoolArray) -> None:
    """Refuse infinite values; finite ones in their place must keep the order, or alarms would come and go."""
    infinite = np.isinf(values) & open_steps
    where = np.flatnonzero(infinite)
    if len(where):
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
