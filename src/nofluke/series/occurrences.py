"""Reading two lists of times: when events happened, when alarms were raised, and when anybody watched."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nofluke.arrays import ByValue, IntArray
from nofluke.data.pairs import Pairs
from nofluke.dates import NANOSECONDS, for_heading, format_duration
from nofluke.errors import InputError, arg, say
from nofluke.plain import check_word
from nofluke.series.clock import Clock, listing
from nofluke.series.in_ticks import DAY, Given
from nofluke.series.labels import HigherIs
from nofluke.series.lists import as_gaps, as_list, as_span
from nofluke.series.reading import LeftOut
from nofluke.series.ticks import Ticks
from nofluke.series.tolerance import Ranges, Tolerance
from nofluke.series.watch import Watch, less_gaps

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
    watch : Watch
        The span less the gaps.
    first, last : int
        The first and the last tick of the span.
    guessed : bool
        Whether the span was taken from the times, since none was given.
    in_gaps : {"error", "drop"}
        What was asked for times inside gaps.
    """

    events: IntArray = field(repr=False)
    alarms: IntArray = field(repr=False)
    watch: Watch
    first: int
    last: int
    guessed: bool
    notes: tuple[str, ...]
    in_gaps: InGaps = "error"
    left_out: LeftOut = field(default_factory=LeftOut)
    higher_is: HigherIs = "anomalous"

    @property
    def ticks(self) -> Ticks:
        """What a tick is."""
        return self.watch.ticks

    @property
    def ends(self) -> tuple[str, str]:
        """The first and the last time of the span, for a heading."""
        ticks, length = self.ticks, self.ticks.span(self.last - self.first)
        first, last = for_heading(
            ticks.show(self.first), ticks.show(self.last), seconds=length if ticks.is_dates else 0.0
        )
        return first, last

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
) -> Occurrences:
    """Read, sort and check two lists of times and the time that was watched."""
    check_word(duplicates, "duplicates", ("error", "merge", "count"))
    check_word(in_gaps, "in_gaps", ("error", "drop"))
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
                notes.append(f"{dropped:,} of the {len(column):,} {name} {why}.")
    of, border, ticks, unit, pairs = read.of, read.border, read.ticks, read.ticks.unit, given.gaps
    if tick is not None:
        _note_rounded(of, ticks, notes)
    at = {name: ticks.of(values) for name, values in of.items()}
    first, last = _ends(at, border, given.whole_day, ticks, notes)
    stretches = less_gaps(first, last, read.gaps)
    if len(stretches.starts) == 0:
        raise InputError(argument="gaps", problem="cover the whole span", remedy="pass shorter ones, or a longer span")
    watch = Watch(ticks=ticks, starts=stretches.starts, stops=stretches.stops, stride=read.stride, begin=first)
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


def _refuse_unwatched(at: IntArray, name: str, watch: Watch, first: int, last: int) -> None:
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
        notes.append(f"{len(at) - len(once):,} of the {len(at):,} {name} share a time with another, and were merged.")
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


def _note_mostly(of: dict[str, npt.NDArray[Any]], watch: Watch, unit: str | None, notes: list[str]) -> None:
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
