"""Reading two lists of times: when events happened, when alarms were raised, and when anybody watched."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nofluke.arrays import ByValue, IntArray
from nofluke.data.columns import Column, as_column
from nofluke.data.pairs import Pairs, as_pairs
from nofluke.dates import NANOSECONDS, as_duration, format_duration
from nofluke.errors import InputError, shown
from nofluke.plain import as_number, check_word, exact_fraction, number_or_none
from nofluke.series.clock import Clock, listing
from nofluke.series.counting import nonempty
from nofluke.series.labels import HigherIs
from nofluke.series.reading import LeftOut
from nofluke.series.ticks import MOST_TICKS, Number, Ticks, common_unit, raw_numbers, resolution
from nofluke.series.tolerance import Length, Ranges, Tolerance, as_tolerance
from nofluke.series.watch import Watch, less_gaps

Duplicates = Literal["error", "merge", "count"]
DAY = 86_400 * 10**9
DATE_ONLY = re.compile(r"\s*\d{4}-\d\d-\d\d\s*")
MOSTLY = 0.8  # of the times are whole units of a kind: then the others may be the exception
ENOUGH = 10  # times, for that to mean anything
FEWER = 0.1  # of the places of a day, hour, minute or second are used by so many of the times by chance, at most


@dataclass(frozen=True, kw_only=True, eq=False)
class Occurrences(ByValue):
    """Two lists of times as they were read: in ticks, ascending, and checked against what was watched.

    Attributes
    ----------
    events, alarms : int arrays
        Ticks; a time may come more than once where that counts.
    watch : Watch
        The span less the gaps.
    first, last : int
        The first and the last tick of the span.
    guessed : bool
        Whether the span was taken from the times, since none was given.
    """

    events: IntArray = field(repr=False)
    alarms: IntArray = field(repr=False)
    watch: Watch
    first: int
    last: int
    guessed: bool
    notes: tuple[str, ...]
    left_out: LeftOut = field(default_factory=LeftOut)
    higher_is: HigherIs = "anomalous"

    @property
    def ticks(self) -> Ticks:
        """What a tick is."""
        return self.watch.ticks

    @property
    def gaps(self) -> Ranges:
        """Half-open stretches of ticks within the span in which nobody watched."""
        starts = np.concatenate([[self.first], self.watch.stops])
        stops = np.concatenate([self.watch.starts, [self.last + 1]])
        kept = stops > starts
        return Ranges(starts=starts[kept], stops=stops[kept])


def read_times(
    events: Any,
    alarms: Any,
    *,
    tolerances: tuple[Tolerance, ...],
    span: Any = None,
    gaps: Any = None,
    tick: Any = None,
    duplicates: Duplicates = "error",
) -> Occurrences:
    """Read, sort and check two lists of times and the time that was watched."""
    check_word(duplicates, "duplicates", ("error", "merge", "count"))
    columns = {"events": _column(events, "events"), "alarms": _column(alarms, "alarms")}
    ends, whole_day = (None, False) if span is None else _span(span)
    pairs = None if gaps is None else _gaps(gaps)
    if ends is not None:
        columns["span"] = ends
    if pairs is not None and len(pairs):
        columns["gaps"] = Column(values=np.concatenate([pairs.starts, pairs.ends]), aware=pairs.aware)
    known = {name: column for name, column in columns.items() if len(column)}
    if not known.keys() & {"events", "alarms", "span"}:
        raise InputError(
            "events and alarms are both empty and there is no span: pass span=, the time that was watched."
        )
    dates, aware = _one_kind(known)
    unit = common_unit([column.values for column in known.values()]) if dates else None
    raw = {name: raw_numbers(column.values, unit, name) for name, column in known.items()}
    if any(values.dtype.kind == "f" for values in raw.values()):
        raw = {name: values.astype(np.float64) for name, values in raw.items()}
    nothing = next(iter(raw.values()))[:0]
    of = {name: np.sort(raw.get(name, nothing)) for name in ("events", "alarms")}
    border = raw.get("span", nothing)
    lengths = _lengths(tolerances, dates)
    notes: list[str] = []
    if tick is None:
        ticks, stride = resolution(of["events"], of["alarms"], lengths, border, unit, aware)
    else:
        size = _tick(tick, dates)
        ticks, stride = Ticks(origin=_origin(of, border, size), size=size, unit=unit, aware=aware), 1
    _refuse_long(np.concatenate([of["events"], of["alarms"], border]), ticks)
    if tick is not None:
        _note_rounded(of, ticks, notes)
    at = {name: ticks.of(values) for name, values in of.items()}
    first, last = _ends(at, border, whole_day, ticks, notes)
    stretches = less_gaps(first, last, _in_ticks(pairs, raw.get("gaps"), ticks))
    if len(stretches.starts) == 0:
        raise InputError("gaps leave nothing of the span that was watched: pass shorter ones, or a longer span.")
    watch = Watch(ticks=ticks, starts=stretches.starts, stops=stretches.stops, stride=stride, begin=first)
    for name, times in at.items():
        _refuse_unwatched(times, name, watch, first, last)
        at[name] = _apart(times, name, duplicates, ticks, notes)
    if watch.n == 0:
        raise InputError("no tick of the events' resolution was watched: pass a longer span, or tick=.")
    if tick is None:
        _note_mostly(of, ticks, unit, notes)
    return Occurrences(
        events=at["events"],
        alarms=at["alarms"],
        watch=watch,
        first=first,
        last=last,
        guessed=span is None,
        notes=tuple(notes),
    )


def tolerance_of_times(value: Length | Tolerance, name: str = "tolerance") -> Tolerance:
    """A tolerance in time: plain numbers count the unit of the times, whatever that is; durations are for dates."""
    found = as_tolerance(value, name, None if isinstance(value, Tolerance) or not _is_plain(value) else "clock")
    if found.unit != "steps":
        return found
    return Tolerance(early=found.early, late=found.late, unit="clock")


def _is_plain(value: object) -> bool:
    return number_or_none(value) is not None


def lag_of_times(value: Any, dates: bool) -> Number:
    """A lag in nanoseconds or in the unit of the times; it may be negative."""
    duration = as_duration(value, "lag", signed=True)
    if duration is not None:
        if not dates:
            raise InputError(f"lag={shown(value)} is a duration, but times are plain numbers: pass a plain number.")
        return duration
    number = as_number(value, "lag", "be a finite number or a duration", np.isfinite)
    if dates and number:
        raise InputError(f"lag={shown(value)} is a plain number, but times are dates: pass a duration such as '2d'.")
    return int(number) if number == int(number) else number


def _column(value: Any, name: str) -> Column:
    if as_pairs(value, name) is not None:
        raise InputError(f"{name} holds pairs, which are ranges: pass one time for each, such as their starts.")
    column = as_column(value, name)
    values = column.values
    labels = name in ("events", "alarms") and len(values) > 2 and values.dtype.kind in "iuf"
    if values.dtype.kind == "b" or (labels and np.isin(values, (0, 1)).all()):
        raise InputError(f"{name} holds zeros and ones, not times: pass times, or labels to nf.evaluate.")
    missing = np.isnat(values) if values.dtype.kind == "M" else ~np.isfinite(values.astype(np.float64))
    if missing.any():
        where = np.flatnonzero(missing)
        raise InputError(
            f"{name} has {len(where)} missing or infinite time(s) at position(s) {listing(where)}: remove them."
        )
    return column


def _span(span: Any) -> tuple[Column, bool]:
    """Both ends of the span, and whether its last one is a date without a time of day, which means all of that day."""
    try:
        items = [span.left, span.right] if hasattr(span, "left") and hasattr(span, "right") else list(span)
    except TypeError:
        items = []
    if len(items) != 2:
        raise InputError(f"span={shown(span)} must be two times, the first and the last that were watched.")
    end = items[1].as_py() if hasattr(items[1], "as_py") else items[1]
    return _column(span if hasattr(span, "__array__") else items, "span"), _is_day(end)


def _gaps(gaps: Any) -> Pairs:
    pairs = as_pairs(gaps, "gaps")
    if pairs is None:
        if isinstance(gaps, list | tuple | np.ndarray) and np.size(gaps) == 0:
            return Pairs(starts=np.zeros(0), ends=np.zeros(0))
        raise InputError(f"gaps={shown(gaps)} must be pairs of a start and an end, between which nobody watched.")
    for side in (pairs.starts, pairs.ends):
        _column(side, "gaps")
    back = pairs.starts > pairs.ends
    if back.any():
        at = int(np.flatnonzero(back)[0])
        raise InputError(
            f"gaps has {int(back.sum())} gap(s) that end before they start, first {pairs.starts[at]} to {pairs.ends[at]}: swap "
            "their ends."
        )
    return pairs


def _one_kind(columns: dict[str, Column]) -> tuple[bool, bool]:
    """Whether all are dates, and whether they have a time zone; a mixture is refused."""
    kinds = {name: column.values.dtype.kind == "M" for name, column in columns.items()}
    if len(set(kinds.values())) > 1:
        dates, numbers = (next(name for name, is_dates in kinds.items() if is_dates is kind) for kind in (True, False))
        raise InputError(f"{dates} holds dates but {numbers} holds numbers: give both in the same kind.")
    # a span or a gap that is written without a zone is meant in that of the lists
    zones = {name: column.aware for name, column in columns.items()}
    if len(set(zones.values())) > 1:
        aware, naive = (next(name for name, has in zones.items() if has is kind) for kind in (True, False))
        raise InputError(f"{aware} has a time zone but {naive} has none: give both one, or neither.")
    return next(iter(kinds.values())), next(iter(zones.values()))


def _lengths(tolerances: tuple[Tolerance, ...], dates: bool) -> list[Number]:
    found: list[Number] = []
    for tolerance in tolerances:
        sides: tuple[Any, Any] = (tolerance.early, tolerance.late)
        if any(sides) and (tolerance.unit == "ns") is not dates:
            remedy = 'a duration such as "2h"' if dates else "a plain number, in the unit of the times"
            kind = "dates" if dates else "plain numbers"
            raise InputError(f"tolerance of {tolerance} does not fit times that are {kind}: pass {remedy}.")
        found.extend(sides)
    return found


def _tick(value: Any, dates: bool) -> Any:
    duration = as_duration(value, "tick")
    if (duration is not None) is not dates:
        remedy = 'a duration such as "1d"' if dates else "a plain number"
        raise InputError(f"tick={shown(value)} does not fit the times: pass {remedy}.")
    size = exact_fraction(
        duration if duration is not None else as_number(value, "tick", "be positive", lambda x: 0 < x < math.inf)
    )
    if not 0 < size < 10**30:
        raise InputError(f"tick={shown(value)} must be positive and finite.")
    return size


def _origin(of: dict[str, npt.NDArray[Any]], border: npt.NDArray[Any], size: Fraction) -> int | float:
    """Where tick 0 lies if a tick is given: at 0, but for times so far from it that sums with them leave 64 bits."""
    every = np.concatenate([of["events"], of["alarms"], border])
    if every.dtype.kind == "f":
        return 0.0
    first = int(every.min())
    far = max(abs(first), abs(int(every.max()))) > MOST_TICKS and size.denominator == 1
    return first // int(size) * int(size) if far else 0


def _note_rounded(of: dict[str, npt.NDArray[Any]], ticks: Ticks, notes: list[str]) -> None:
    every = np.concatenate([of["events"], of["alarms"]])
    off = int(np.count_nonzero(ticks.of(every) != ticks.at_or_after(every)))
    if off:
        notes.append(f"{off:,} time(s) were rounded down to whole ticks of {ticks.length(1)}.")


def _refuse_long(every: npt.NDArray[Any], ticks: Ticks) -> None:
    if len(every) and Fraction(float(every.max()) - float(every.min())) / ticks.raw > MOST_TICKS:
        raise InputError(
            f"the span is longer than 2**60 ticks of {ticks.length(1)}: pass a coarser tick=, or leave out times that are far off."
        )


def _ends(
    at: dict[str, IntArray], border: npt.NDArray[Any], whole_day: bool, ticks: Ticks, notes: list[str]
) -> tuple[int, int]:
    """The first and the last tick of the span."""
    if len(border) == 0:
        every = np.concatenate([at["events"], at["alarms"]])
        first, last = int(every.min()), int(every.max())
        notes.append(
            f"The span is a guess: from the first to the last of both lists, {ticks.show(first)} to {ticks.show(last)}. What chance "
            "scores depends on it: pass the time that was watched."
        )
        return first, last
    told = " to ".join(_told(end, ticks) for end in border)
    if border[0] > border[1]:
        raise InputError(f"span ends before it starts, {told}: swap its ends.")
    end = border[1:]
    if ticks.unit is not None and whole_day:
        end = end + (DAY // NANOSECONDS[ticks.unit] - 1)  # all of the last day
    first, last = int(ticks.at_or_after(border[:1])[0]), int(ticks.of(end)[0])
    if first > last:
        raise InputError(f"span holds no tick of {ticks.length(1)}, {told}: pass a longer one, or tick=.")
    return first, last


def _told(end: Any, ticks: Ticks) -> str:
    """An end of the span as it was given."""
    if ticks.unit is None:
        return f"{end:.10g}"
    return Clock(ticks=np.zeros(1, dtype=np.int64), unit=ticks.unit, aware=ticks.aware).show(end)


def _is_day(end: Any) -> bool:
    """Whether the end of a span is a date without a time of day, and so means all of that day."""
    if isinstance(end, str):
        return DATE_ONLY.fullmatch(end) is not None
    if isinstance(end, np.datetime64):
        return np.datetime_data(end.dtype)[0] == "D"
    return isinstance(end, date) and not isinstance(end, datetime)


def _in_ticks(pairs: Pairs | None, raw: npt.NDArray[Any] | None, ticks: Ticks) -> Ranges:
    """Gaps as half-open, ascending stretches of ticks; both ends belong to a gap unless it says otherwise."""
    if pairs is None or raw is None:
        return Ranges(starts=np.zeros(0, dtype=np.int64), stops=np.zeros(0, dtype=np.int64))
    starts, ends = raw[: len(pairs)], raw[len(pairs) :]
    begin = ticks.at_or_after(starts) if pairs.closed in ("both", "left") else ticks.of(starts) + 1
    behind = ticks.of(ends) + 1 if pairs.closed in ("both", "right") else ticks.at_or_after(ends)
    order = np.argsort(begin, kind="stable")
    return nonempty(Ranges(starts=begin[order], stops=behind[order]))  # one between two ticks is none


def _refuse_unwatched(at: IntArray, name: str, watch: Watch, first: int, last: int) -> None:
    ticks = watch.ticks
    outside = at[(at < first) | (at > last)]
    if len(outside):
        raise InputError(
            f"{name} has {len(outside)} time(s) outside the span ({ticks.show(first)} to {ticks.show(last)}): "
            f"{listing(outside, ticks.show)}: remove them, or pass a longer span."
        )
    inside = at[~watch.holds(at)]
    if len(inside):
        raise InputError(
            f"{name} has {len(inside)} time(s) inside a gap, when nobody watched: {listing(inside, ticks.show)}: remove them, or "
            "pass a shorter gap."
        )


def _apart(at: IntArray, name: str, duplicates: Duplicates, ticks: Ticks, notes: list[str]) -> IntArray:
    """Each time once, or as often as it comes, as asked."""
    once, counts = np.unique(at, return_counts=True)
    twice = once[counts > 1]
    if len(twice) == 0:
        return at
    if duplicates == "error":
        raise InputError(
            f"{name} has {len(twice)} time(s) more than once: {listing(twice, ticks.show)}: pass duplicates='merge' to count each "
            "time once, or duplicates='count' to count all."
        )
    if duplicates == "merge":
        notes.append(
            f"{len(at) - len(once):,} of the {len(at):,} {name} come at a time that has one already, and were merged."
        )
        return once
    return at


def _note_mostly(of: dict[str, npt.NDArray[Any]], ticks: Ticks, unit: str | None, notes: list[str]) -> None:
    """A note where nearly all times are whole days, hours, minutes or seconds, but the tick is finer because of the others."""
    every = np.concatenate([of["events"], of["alarms"]])
    if unit is None or len(every) < ENOUGH:
        return
    for length, noun in ((DAY, "days"), (DAY // 24, "hours"), (60 * 10**9, "minutes"), (10**9, "seconds")):
        if ticks.size > FEWER * length or length % NANOSECONDS[unit]:
            continue
        whole = int(np.count_nonzero(every % (length // NANOSECONDS[unit]) == 0))
        if MOSTLY * len(every) <= whole < len(every):
            notes.append(
                f"{whole:,} of {len(every):,} times are whole {noun}, but the tick is {ticks.length(1)}, since the others are not: "
                f"if times are rounded, pass tick={format_duration(length)!r}."
            )
            return
