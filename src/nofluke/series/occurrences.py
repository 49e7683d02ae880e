"""Two lists of times, read: what they hold, in which ticks, and the span that was watched."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nofluke.arrays import ByValue, IntArray
from nofluke.data.columns import Column, Pairs, as_column, as_pairs
from nofluke.dates import NANOSECONDS, as_duration, for_heading, format_duration, is_day
from nofluke.errors import THINGS, InputError, Remark, Shown, arg, named, say, verb
from nofluke.plain import as_number, check_word, exact_fraction, number_or_none
from nofluke.series.clock import Clock, Zone, check_finite, listing
from nofluke.series.counting import in_ranges, nonempty, union
from nofluke.series.names import NONE, Names
from nofluke.series.reading import HigherIs, LeftOut
from nofluke.series.ticks import MOST_TICKS, Number, Ticks, WatchedTime, common_unit, less_gaps, raw_numbers, resolution
from nofluke.series.tolerance import Length, Ranges, Tolerance, as_tolerance


def tolerance_of_times(value: Length | Tolerance, name: str = "tolerance") -> Tolerance:
    """A tolerance in time: plain numbers count the unit of the times, whatever that is; durations are for dates."""
    found = as_tolerance(value, name, None if isinstance(value, Tolerance) or not _is_plain(value) else "clock")
    if found.unit != "steps":
        return found
    return Tolerance(early=found.early, late=found.late, unit="clock")


def in_kind(tolerance: Tolerance, dates: bool) -> Tolerance:
    """A tolerance of 0 in the unit of the times, whatever it was given in: "0s" for dates."""
    return Tolerance(early=0, late=0, unit="ns" if dates else "clock") if tolerance.zero else tolerance


def _is_plain(value: object) -> bool:
    return number_or_none(value) is not None


def as_list(value: Any, name: str) -> Column:
    if as_pairs(value, name) is not None:
        raise InputError(
            argument=name,
            problem="holds pairs, which are ranges",
            remedy="pass one time for each range, such as its start",
        )
    column = as_column(value, name)
    values = column.values
    labels = name in ("events", "alarms") and len(values) > 2 and values.dtype.kind in "iuf"
    if values.dtype.kind == "b" or (labels and np.isin(values, (0, 1)).all()):
        raise InputError(
            argument=name,
            problem="holds zeros and ones, not times",
            remedy=say("pass times, or labels to {}", verb("evaluate")),
        )
    check_finite(values, name, "remove them")
    return column


def as_span(span: Any) -> tuple[Column, bool]:
    """Both ends of the span, and whether its last one is a date without a time of day, which means all of that day."""
    try:
        both = hasattr(span, "left") and hasattr(span, "right")
        items = [span.left, span.right] if both else list(itertools.islice(span, 3))
    except Exception:  # what has no items, or raises what it likes when it is asked for them
        items = []
    if len(items) != 2:
        raise InputError(
            argument="span", value=span, problem="must be two times, the start and the end of the watched time"
        )
    end = items[1].as_py() if hasattr(items[1], "as_py") else items[1]
    return as_list(span if hasattr(span, "__array__") else items, "span"), is_day(end)


def as_gaps(gaps: Any) -> Pairs:
    pairs = as_pairs(gaps, "gaps")
    if pairs is None:
        if gaps.size == 0 if isinstance(gaps, np.ndarray) else isinstance(gaps, list | tuple) and not gaps:
            return Pairs(starts=np.zeros(0), ends=np.zeros(0))
        raise InputError(argument="gaps", value=gaps, problem="must be (start, end) pairs of time that was not watched")
    for side in (pairs.starts, pairs.ends):
        as_list(side, "gaps")
    back = pairs.starts > pairs.ends
    if back.any():
        at = int(np.flatnonzero(back)[0])
        raise InputError(
            argument="gaps",
            problem=f"has {int(back.sum())} gap(s) that end before they start, first {pairs.starts[at]} to "
            f"{pairs.ends[at]}",
            remedy="swap their ends",
        )
    return pairs


def one_kind(columns: dict[str, Column]) -> tuple[bool, bool]:
    """Whether all are dates, and whether they have a time zone; a mixture is refused."""
    kinds = {name: column.values.dtype.kind == "M" for name, column in columns.items()}
    if len(set(kinds.values())) > 1:
        dates, numbers = (next(name for name, is_dates in kinds.items() if is_dates is kind) for kind in (True, False))
        raise InputError(
            problem=say("{} holds dates but {} holds numbers", named(dates), named(numbers)),
            remedy="give both as the same kind",
        )
    zones = {name: column.aware for name, column in columns.items()}
    if len(set(zones.values())) > 1:
        aware, naive = (next(name for name, has in zones.items() if has is kind) for kind in (True, False))
        raise InputError(
            problem=say("{} has a time zone but {} has none", named(aware), named(naive)),
            remedy="give both a time zone, or neither",
        )
    return next(iter(kinds.values())), next(iter(zones.values()))


def lengths_of(tolerances: tuple[Tolerance, ...], dates: bool) -> list[Number]:
    found: list[Number] = []
    for tolerance in tolerances:
        sides: tuple[Any, Any] = (tolerance.early, tolerance.late)
        if any(sides) and (tolerance.unit == "ns") is not dates:
            remedy = 'a duration such as "2h"' if dates else "a plain number, in the unit of the times"
            kind = "dates" if dates else "plain numbers"
            raise InputError(
                argument="tolerance",
                problem=f"of {tolerance} does not fit times that are {kind}",
                remedy=f"pass {remedy}",
            )
        found.extend(sides)
    return found


def as_tick(value: Any, dates: bool) -> Any:
    duration = as_duration(value, "tick")
    if (duration is not None) is not dates:
        remedy = 'a duration such as "1d"' if dates else "a plain number"
        raise InputError(argument="tick", value=value, problem="does not fit the times", remedy=f"pass {remedy}")
    size = exact_fraction(
        duration if duration is not None else as_number(value, "tick", "be positive", lambda x: 0 < x < math.inf)
    )
    if not 0 < size < 10**30:
        raise InputError(argument="tick", value=value, problem="must be positive and finite")
    return size


# ---- two lists of times, the span and the gaps as numbers of one kind, in the ticks that they have in common

DAY = 86_400 * 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """Both lists, the span and the gaps as numbers of one kind, and the ticks that they make."""

    raw: dict[str, npt.NDArray[Any]]
    of: dict[str, npt.NDArray[Any]]
    border: npt.NDArray[Any]
    ticks: Ticks
    stride: int
    gaps: Ranges


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What comes with two lists of times."""

    span: tuple[Column, bool] | None
    gaps: Pairs | None
    tolerances: tuple[Tolerance, ...]
    tick: Any

    @property
    def whole_day(self) -> bool:
        """Whether the span ends on a date without a time of day."""
        return self.span is not None and self.span[1]

    def numbers(self, lists: dict[str, Column]) -> Numbers:
        """Both lists, sorted, in ticks of their own or of the length that was asked for."""
        columns, pairs = dict(lists), self.gaps
        if self.span is not None:
            columns["span"] = self.span[0]
        if pairs is not None and len(pairs):
            columns["gaps"] = Column(values=np.concatenate([pairs.starts, pairs.ends]), aware=pairs.aware)
        known = {name: column for name, column in columns.items() if len(column)}
        if not known.keys() & {"events", "alarms", "span"}:
            raise InputError(
                problem=say("{} and {} are both empty and there is no span", named("events"), named("alarms")),
                remedy=say("pass {}, the time that was watched", arg("span")),
            )
        dates, aware = one_kind(known)
        unit = common_unit([column.values for column in known.values()]) if dates else None
        raw = {name: raw_numbers(column.values, unit, name) for name, column in known.items()}
        if any(values.dtype.kind == "f" for values in raw.values()):
            raw = {name: values.astype(np.float64) for name, values in raw.items()}
        nothing = next(iter(raw.values()))[:0]
        of = {name: np.sort(raw.get(name, nothing)) for name in ("events", "alarms")}
        border = raw.get("span", nothing)
        lengths = lengths_of(self.tolerances, dates)
        if self.tick is None:
            ends_of_days = border[1:] + DAY // NANOSECONDS[unit] if unit is not None and self.whole_day else nothing
            marks = np.concatenate([border, ends_of_days, raw.get("gaps", nothing)])
            ticks, stride = resolution(of["events"], of["alarms"], lengths, marks, unit, aware)
        else:
            size = as_tick(self.tick, dates)
            ticks, stride = Ticks(origin=_origin(of, border, size), size=size, unit=unit, aware=aware), 1
        ticks = replace(ticks, zone=_zone_of(lists))
        _refuse_long(np.concatenate([of["events"], of["alarms"], border]), ticks)
        gaps = _in_ticks(pairs, raw.get("gaps"), ticks)
        return Numbers(raw=raw, of=of, border=border, ticks=ticks, stride=stride, gaps=gaps)

    def outside_gaps(self, lists: dict[str, Column], read: Numbers) -> tuple[dict[str, Column], Numbers]:
        """The lists without the times in gaps, read as if those had never been there: ticks and span may change."""
        kept = {name: ~in_ranges(read.ticks.of(read.raw[name]), read.gaps) for name in lists.keys() & read.raw.keys()}
        if all(flags.all() for flags in kept.values()):
            return lists, read
        left = {
            name: replace(
                column,
                values=column.values[kept[name]],
                index=None,
                east=None if column.east is None else column.east[kept[name]],
            )
            if name in kept
            else column
            for name, column in lists.items()
        }
        return self.outside_gaps(left, self.numbers(left))


def _zone_of(lists: dict[str, Column]) -> Zone | None:
    """Local time, as the longer of the lists knows it."""
    column = max(lists.values(), key=len)
    if column.east is None or not len(column):
        return None
    seconds = column.values.astype("datetime64[s]").astype(np.int64)
    order = np.argsort(seconds, kind="stable")
    return Zone.of(seconds[order], column.east[order])


def _origin(of: dict[str, npt.NDArray[Any]], border: npt.NDArray[Any], size: Fraction) -> int | float:
    """Where tick 0 lies if a tick is given: at 0, but for times so far from it that sums with them leave 64 bits."""
    every = np.concatenate([of["events"], of["alarms"], border])
    if every.dtype.kind == "f":
        return 0.0
    first = int(every.min())
    far = max(abs(first), abs(int(every.max()))) > MOST_TICKS and size.denominator == 1
    return first // int(size) * int(size) if far else 0


def _refuse_long(every: npt.NDArray[Any], ticks: Ticks) -> None:
    if every.dtype.kind != "f" and ticks.raw >= 2**63:
        raise InputError(
            argument="tick",
            value=Shown(ticks.length(1)),
            problem="is longer than any span",
            remedy="pass a shorter one",
        )
    if len(every) and Fraction(float(every.max()) - float(every.min())) / ticks.raw > MOST_TICKS:
        raise InputError(
            problem=f"the span is longer than 2**60 ticks of {ticks.length(1)}",
            remedy=say("pass a coarser {}, or leave out outlying times", arg("tick")),
        )


def _in_ticks(pairs: Pairs | None, raw: npt.NDArray[Any] | None, ticks: Ticks) -> Ranges:
    """Gaps as half-open stretches of ticks, ascending and apart; both ends belong to a gap unless it says otherwise."""
    if pairs is None or raw is None:
        return Ranges(starts=np.zeros(0, dtype=np.int64), stops=np.zeros(0, dtype=np.int64))
    starts, ends = raw[: len(pairs)], raw[len(pairs) :]
    begin = ticks.at_or_after(starts) if pairs.closed in ("both", "left") else ticks.of(starts) + 1
    behind = ticks.of(ends) + 1 if pairs.closed in ("both", "right") else ticks.at_or_after(ends)
    order = np.argsort(begin, kind="stable")
    some = nonempty(Ranges(starts=begin[order], stops=behind[order]))  # one between two ticks is none
    return union(Ranges(starts=some.starts, stops=np.maximum.accumulate(some.stops)))  # one may lie within another


# ---- reading two lists of times: when events happened, when alarms were raised, and when anybody watched

Duplicates = Literal["error", "merge", "count"]
InGaps = Literal["error", "drop"]
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
    watch : WatchedTime
        The span less the gaps.
    first, last : int
        The first and the last tick of the span.
    guessed : bool
        Whether the span was taken from the times, since none was given.
    in_gaps : {"error", "drop"}
        What was asked for times inside gaps.
    names : Names
        What events and alarms are called.
    """

    events: IntArray = field(repr=False)
    alarms: IntArray = field(repr=False)
    watch: WatchedTime
    first: int
    last: int
    guessed: bool
    notes: tuple[str, ...]
    in_gaps: InGaps = "error"
    left_out: LeftOut = field(default_factory=LeftOut)
    higher_is: HigherIs = "anomalous"
    names: Names = field(repr=False, compare=False, default=NONE)

    @property
    def ticks(self) -> Ticks:
        """What a tick is."""
        return self.watch.ticks

    @property
    def ends(self) -> tuple[str, str]:
        """The first and the last time of the span, for a heading; the last names the zone of both."""
        ticks, length = self.ticks, self.ticks.span(self.last - self.first)
        first, last = for_heading(
            ticks.told(self.first), ticks.told(self.last), seconds=length if ticks.is_dates else 0.0
        )
        return first, last if ticks.zone is None else f"{last} ({ticks.zone.name})"

    @property
    def gaps(self) -> Ranges:
        """Half-open stretches of ticks within the span that were not watched."""
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
    in_gaps: InGaps = "error",
    event_name: str | None = None,
    alarm_name: str | None = None,
    time_unit: str | None = None,
    delay_name: str | None = None,
    reset_name: str | None = None,
) -> Occurrences:
    """Read, sort and check two lists of times and the time that was watched."""
    check_word(duplicates, "duplicates", ("error", "merge", "count"))
    check_word(in_gaps, "in_gaps", ("error", "drop"))
    names = Names.of(event_name, alarm_name, time_unit, delay_name, reset_name)
    lists = {"events": as_list(events, "events"), "alarms": as_list(alarms, "alarms")}
    given = Given(
        span=None if span is None else as_span(span),
        gaps=None if gaps is None else as_gaps(gaps),
        tolerances=tolerances,
        tick=tick,
    )
    read = given.numbers(lists)
    notes: list[str] = []
    if in_gaps == "drop":
        watched, read = given.outside_gaps(lists, read)
        for name, column in lists.items():
            dropped = len(column) - len(watched[name])
            if dropped:
                why = (
                    "was dropped, because it lies in a gap"
                    if dropped == 1
                    else "were dropped, because they lie in gaps"
                )
                notes.append(say("{:,} of the {:,} {} {}.", dropped, len(column), THINGS[name], why))
    of, border, ticks, unit, pairs = read.of, read.border, read.ticks, read.ticks.unit, given.gaps
    if tick is not None:
        _note_rounded(of, ticks, notes)
    at = {name: ticks.of(values) for name, values in of.items()}
    first, last = _ends(at, border, given.whole_day, ticks, notes)
    stretches = less_gaps(first, last, read.gaps)
    if len(stretches.starts) == 0:
        raise InputError(argument="gaps", problem="cover the whole span", remedy="pass shorter ones, or a longer span")
    watch = WatchedTime(ticks=ticks, starts=stretches.starts, stops=stretches.stops, stride=read.stride, begin=first)
    for name, times in at.items():
        _refuse_unwatched(times, name, watch, first, last)
        at[name] = _apart(times, name, duplicates, ticks, notes)
    if watch.n == 0:
        raise InputError(
            problem="no tick at the events' resolution was watched",
            remedy=say("pass a longer span, or {}", arg("tick")),
        )
    if tick is None:
        _note_mostly(of, watch, unit, notes)
    if pairs is not None:
        _note_midnights(pairs, ticks, notes)
    return Occurrences(
        events=at["events"],
        alarms=at["alarms"],
        watch=watch,
        first=first,
        last=last,
        guessed=span is None,
        notes=tuple(notes),
        in_gaps=in_gaps,
        names=names,
    )


def _note_rounded(of: dict[str, npt.NDArray[Any]], ticks: Ticks, notes: list[str]) -> None:
    every = np.concatenate([of["events"], of["alarms"]])
    off = int(np.count_nonzero(ticks.of(every) != ticks.at_or_after(every)))
    if off:
        notes.append(f"{off:,} time(s) were rounded down to whole ticks of {ticks.length(1)}.")


def _ends(
    at: dict[str, IntArray], border: npt.NDArray[Any], whole_day: bool, ticks: Ticks, notes: list[str]
) -> tuple[int, int]:
    """The first and the last tick of the span."""
    if len(border) == 0:
        every = np.concatenate([at["events"], at["alarms"]])
        first, last = int(every.min()), int(every.max())
        notes.append(
            say(
                "The span is a guess: from the first to the last of both lists, {} to {}. What chance scores depends on it: "
                "pass {}, the time that was watched.",
                ticks.show(first),
                ticks.show(last),
                arg("span"),
            )
        )
        return first, last
    told = " to ".join(_told(end, ticks) for end in border)
    if border[0] > border[1]:
        raise InputError(argument="span", problem=f"ends before it starts, {told}", remedy="swap its ends")
    end = border[1:]
    if ticks.unit is not None and whole_day:
        end = end + (DAY // NANOSECONDS[ticks.unit] - 1)  # all of the last day
    first, last = int(ticks.at_or_after(border[:1])[0]), int(ticks.of(end)[0])
    if first > last:
        raise InputError(
            argument="span",
            problem=f"holds no tick of {ticks.length(1)}, {told}",
            remedy=say("pass a longer one, or {}", arg("tick")),
        )
    return first, last


def _told(end: Any, ticks: Ticks) -> str:
    """An end of the span as it was given."""
    if ticks.unit is None:
        return f"{end:.10g}"
    return Clock(ticks=np.zeros(1, dtype=np.int64), unit=ticks.unit, aware=ticks.aware).show(end)


def _refuse_unwatched(at: IntArray, name: str, watch: WatchedTime, first: int, last: int) -> None:
    ticks = watch.ticks
    outside = at[(at < first) | (at > last)]
    if len(outside):
        raise InputError(
            argument=name,
            problem=f"has {len(outside)} time(s) outside the span ({ticks.show(first)} to {ticks.show(last)}): "
            f"{listing(outside, ticks.show)}",
            remedy="remove them, or pass a longer span",
        )
    inside = at[~watch.holds(at)]
    if len(inside):
        raise InputError(
            argument=name,
            problem=f"has {len(inside)} time(s) inside a gap, which was not watched: {listing(inside, ticks.show)}",
            remedy=say("pass {} to leave them out, or a shorter gap", arg("in_gaps", "drop")),
        )


def _apart(at: IntArray, name: str, duplicates: Duplicates, ticks: Ticks, notes: list[str]) -> IntArray:
    """Each time once, or as often as it comes, as asked."""
    if not (at[1:] == at[:-1]).any():  # they ascend: no need to sort or hash them once more
        return at
    once, counts = np.unique(at, return_counts=True)
    twice = once[counts > 1]
    if duplicates == "error":
        raise InputError(
            argument=name,
            problem=f"has {len(twice)} time(s) more than once: {listing(twice, ticks.show)}",
            remedy=say(
                "pass {} to count each time once, or {} to count all",
                arg("duplicates", "merge"),
                arg("duplicates", "count"),
            ),
        )
    if duplicates == "merge":
        told = "{:,} of the {:,} {} share a time with another, and were merged."
        notes.append(Remark("merged", told, len(at) - len(once), len(at), THINGS[name]))
        return once
    return at


def _note_midnights(pairs: Pairs, ticks: Ticks, notes: list[str]) -> None:
    """Note where gaps are given in days and times are finer: a gap ends at 00:00 of its last day."""
    ends, last_belongs = pairs.ends, pairs.closed in ("both", "right")
    if not last_belongs or len(pairs) == 0 or ends.dtype.kind != "M" or ticks.size >= DAY:
        return
    if all((side == side.astype("datetime64[D]")).all() for side in (pairs.starts, ends)):
        notes.append(
            "Gaps end on dates without a time of day, which means midnight: if the last day belongs to the gap, write "
            "when it ends, such as 2024-03-02T23:59:59."
        )


def _note_mostly(of: dict[str, npt.NDArray[Any]], watch: WatchedTime, unit: str | None, notes: list[str]) -> None:
    """Note where nearly all times are whole days, hours, minutes or seconds, but the rest make the tick finer."""
    every, ticks = np.concatenate([of["events"], of["alarms"]]), watch.ticks
    if unit is None or len(every) < ENOUGH:
        return
    for length, noun in ((DAY, "days"), (DAY // 24, "hours"), (60 * 10**9, "minutes"), (10**9, "seconds")):
        if ticks.size * watch.stride > FEWER * length or length % NANOSECONDS[unit]:
            continue
        whole = int(np.count_nonzero(every % (length // NANOSECONDS[unit]) == 0))
        if MOSTLY * len(every) <= whole < len(every):
            notes.append(
                say(
                    "{:,} of {:,} times are whole {}, but the tick is {}, because the others are not: if times are rounded, "
                    "pass {}.",
                    whole,
                    len(every),
                    noun,
                    ticks.length(1),
                    arg("tick", format_duration(length)),
                )
            )
            return
