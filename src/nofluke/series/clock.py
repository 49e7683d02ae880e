"""The clock of a series: one time for each step, how long steps last, and times that lie between them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from nofluke.arrays import BoolArray, ByValue, IntArray, not_finite
from nofluke.dates import NANOSECONDS, UNITS, Duration, converted, in_unit
from nofluke.errors import InputError
from nofluke.plain import exact_floats

LAST_TICK = int(np.iinfo(np.int64).max)
_MOST_ELAPSED = np.uint64(2**64 - 1)
MANY_STEPS = 10
"""A gap is longer than this many times both the median and the .9 quantile of the times between steps.

The quantile is for clocks that are irregular by nature: of exponential waiting times one in a thousand exceeds ten
times their median, but only one in ten thousand million ten times their .9 quantile.
"""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Zone(ByValue):
    """Local time: by how much it is ahead of UTC, and from when on. The first counts for all times before it too.

    Attributes
    ----------
    since : int array
        Seconds since 1970 in UTC, ascending.
    east : int array
        Seconds by which local time is ahead from then on.

    Examples
    --------
    >>> berlin = Zone(since=np.array([0, 1616893200]), east=np.array([3600, 7200]))
    >>> berlin.ahead(np.array([1616893199, 1616893200]), "s")
    array([3600, 7200])
    >>> berlin.name
    'UTC+1/+2'
    """

    since: IntArray = field(repr=False)
    east: IntArray

    @classmethod
    def of(cls, seconds: IntArray, east: npt.NDArray[np.int64] | None) -> Zone | None:
        """From what was ahead at each of some ascending times; None where that was nothing."""
        if east is None or not east.any():
            return None
        first = np.append(True, east[1:] != east[:-1])
        return cls(since=seconds[first], east=east[first])

    @property
    def name(self) -> str:
        """Its distances from UTC, the usual way to write a zone that has no other name."""
        apart = np.unique(self.east).tolist()
        return f"UTC{'/'.join(map(_offset, apart))}" if len(apart) <= MOST_OFFSETS else "local time"

    def ahead(self, ticks: IntArray, unit: str) -> IntArray:
        """What is ahead at each of these times, in ticks of the unit."""
        a_second = NANOSECONDS["s"] // NANOSECONDS[unit]
        if len(self.east) == 1:
            return np.full(len(ticks), self.east[0] * a_second)
        at = np.searchsorted(self.since, ticks // a_second, side="right") - 1
        return np.asarray(self.east[np.maximum(at, 0)] * a_second)

    def utc(self, local: IntArray, unit: str) -> IntArray:
        """Ticks of local time in UTC; of an hour that comes twice, the second time."""
        a_second = NANOSECONDS["s"] // NANOSECONDS[unit]
        at = np.searchsorted(self.since + self.east, local // a_second, side="right") - 1
        return np.asarray(local - self.east[np.maximum(at, 0)] * a_second)


MOST_OFFSETS = 3  # in a zone's name: standard time, summer time, and one more


def _offset(seconds: int) -> str:
    """Such as +2 or -3:30."""
    hours, minutes = divmod(abs(seconds) // 60, 60)
    return f"{'-' if seconds < 0 else '+'}{hours}{f':{minutes:02d}' if minutes else ''}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Clock(ByValue):
    """Strictly increasing times of the steps.

    Attributes
    ----------
    ticks : array
        int64 ticks of ``unit`` for dates; int64 or floats for a clock of plain numbers.
    unit : {"s", "ms", "us", "ns"} or None
        Unit of a tick; None for a clock of plain numbers.
    aware : bool
        Whether the dates came with a time zone (they are then in UTC).
    zone : Zone or None
        Local time, where dates had another than UTC: what the calendar is read in.
    """

    ticks: npt.NDArray[Any] = field(repr=False)
    unit: str | None
    aware: bool = False
    zone: Zone | None = None

    def __len__(self) -> int:
        return len(self.ticks)

    @property
    def is_dates(self) -> bool:
        """Whether the clock shows dates rather than plain numbers."""
        return self.unit is not None

    @property
    def step(self) -> float:
        """The median time between two steps, in ticks; 0 for a single step."""
        return float(np.median(np.diff(self.elapsed()))) if len(self.ticks) > 1 else 0.0

    def lasting(self, steps: npt.NDArray[np.bool_]) -> float:
        """Time that the given steps last together: nanoseconds on a clock of dates, else its own unit."""
        return float(self._lengths()[steps].sum()) * self.tick_size

    def _lengths(self) -> npt.NDArray[np.float64]:
        step = self.step
        lengths = np.append(np.diff(self.elapsed()).astype(np.float64), step)
        lengths[self.gaps] = step
        return lengths

    @property
    def gaps(self) -> IntArray:
        """The steps before a gap in the times: many times the usual step, which was not watched."""
        between = np.diff(self.elapsed()).astype(np.float64)
        if len(between) == 0 or between.max() <= MANY_STEPS * between.min():
            return np.zeros(0, dtype=np.int64)
        usual = max(float(np.median(between)), float(np.quantile(between, 0.9, method="lower")))
        return np.flatnonzero(between > MANY_STEPS * usual)

    def not_watched(self, steps: npt.NDArray[np.bool_]) -> float:
        """Time in the gaps behind the given steps, in the unit of `lasting`."""
        between = np.append(np.diff(self.elapsed()).astype(np.float64), self.step)
        return float((between - self._lengths())[steps].sum()) * self.tick_size

    @property
    def tick_size(self) -> int:
        """Nanoseconds of a tick; 1 on a clock of plain numbers."""
        return NANOSECONDS[self.unit] if self.unit is not None else 1

    def show(self, tick: Any) -> str:
        """One time of this clock, as text."""
        if self.unit is None:
            return str(tick).removesuffix(".0")
        text = str(np.int64(tick).astype(f"datetime64[{self.unit}]"))
        text = text.rstrip("0").removesuffix(".") if "." in text else text
        return text + "Z" if self.aware else text.removesuffix("T00:00:00")

    def told(self, tick: Any) -> str:
        """One time of this clock for people: in its zone, which `Zone.name` names, where it has one."""
        if self.zone is None or self.unit is None:
            return self.show(tick)
        ahead = self.zone.ahead(np.array([tick], dtype=np.int64), self.unit)[0]
        return replace(self, aware=False).show(tick + ahead)

    def elapsed(self) -> npt.NDArray[Any]:
        """Ticks since the first step: unsigned for whole ticks, so that no clock is too long for them; else float64."""
        if self.ticks.dtype.kind == "i":
            # differences modulo 2**64 are right even where int64 overflows
            return self.ticks.view(np.uint64) - self.ticks[:1].view(np.uint64)
        return self.ticks.astype(np.float64) - float(self.ticks[0])

    @property
    def local(self) -> npt.NDArray[Any]:
        """The ticks of local time, for dates: one hour may come twice, and one not at all, where clocks change."""
        if self.zone is None or self.unit is None:
            return self.ticks
        return np.asarray(self.ticks + self.zone.ahead(self.ticks, self.unit))

    @property
    def slack(self) -> float:
        """What rounding may do to a time: a few units in the last place on a clock of floats, else nothing."""
        return rounding(self.ticks)

    def windows(self, before: Duration | float, after: Duration | float) -> tuple[IntArray, IntArray]:
        """For each step, the half-open range of steps from ``before`` earlier to ``after`` later, closed in time."""
        since = self.elapsed()
        if since.dtype.kind == "u":
            return self.windows_around(self.ticks, self.ticks, before, after)
        # 0.8 - 0.7 exceeds 0.1 by rounding alone: closed windows need slack, but no length stays none
        most = 2 * since[-1] + 1  # further than any step is away
        back, ahead = (min(max(float(d) + (self.slack if d else 0.0), -most), most) for d in (before, after))
        earliest, latest = since - back, since + ahead
        starts = np.searchsorted(since, earliest, side="left")
        stops = np.searchsorted(since, latest, side="right")
        return starts.astype(np.int64), stops.astype(np.int64)

    def windows_around(
        self,
        begins: npt.NDArray[Any],
        ends: npt.NDArray[Any],
        before: Duration | float,
        after: Duration | float,
        opens: BoolArray | None = None,
    ) -> tuple[IntArray, IntArray]:
        """For each range of time in ticks, the half-open range of steps from ``before`` its start to ``after`` its end.

        Both belong to it, but for the begins and ends that ``opens`` flags, in two rows.
        """
        since, first = self.elapsed(), self.ticks[0]
        open_begin, open_end = np.zeros((2, len(begins)), dtype=np.bool_) if opens is None else opens
        earliest: npt.NDArray[Any]
        latest: npt.NDArray[Any]
        if since.dtype.kind == "u":
            # all times are whole ticks, so a window that ends between two ticks reaches the lower one
            low, high = (math.floor(d) // self.tick_size for d in (before, after))
            earliest, *begins_off = self._moved(begins, -low)
            latest, *ends_off = self._moved(ends, high)
        else:
            # an open end needs slack as a closed one does, but towards the other side
            earliest = begins - float(first) - (float(before) + np.where(open_begin, -self.slack, self.slack))
            latest = ends - float(first) + (float(after) + np.where(open_end, -self.slack, self.slack))
            begins_off, ends_off = ([at < 0, at > since[-1]] for at in (earliest, latest))
        starts, stops = np.searchsorted(since, earliest, side="left"), np.searchsorted(since, latest, side="right")
        if opens is not None:
            starts = np.where(open_begin, np.searchsorted(since, earliest, side="right"), starts)
            stops = np.where(open_end, np.searchsorted(since, latest, side="left"), stops)
        starts, stops = (
            np.where(off[0], 0, np.where(off[1], len(self), at)).astype(np.int64)
            for at, off in ((starts, begins_off), (stops, ends_off))
        )
        return starts, np.maximum(stops, starts)  # nothing, not less than nothing

    def _moved(self, at: IntArray, by: int) -> tuple[npt.NDArray[np.uint64], BoolArray, BoolArray]:
        """Whole ticks moved, since the first step: cut to what the clock holds, and which lie before and behind that.

        Sizes and signs apart, so that no difference and no sum can overflow.
        """
        first, last = self.ticks[:1].view(np.uint64), self.elapsed()[-1]
        before = at < self.ticks[0]
        size = np.where(before, first - at.view(np.uint64), at.view(np.uint64) - first)
        far = np.uint64(min(abs(by), int(_MOST_ELAPSED)))
        away = before == (by < 0)  # from the first step
        room = _MOST_ELAPSED - size
        moved = np.where(away, size + np.minimum(far, room), np.maximum(size, far) - np.minimum(size, far))
        before = np.where(~away & (far > size), by < 0, before) & (moved > 0)
        behind = ~before & ((moved > last) | (away & (far > room)))
        return np.where(before, np.uint64(0), np.minimum(moved, last)), before, behind

    @property
    def end(self) -> Any:
        """Where the last step ends, which lasts as long as the median step; not part of it, unless it lasts no time."""
        last = self.ticks[-1]
        if self.ticks.dtype.kind == "i":
            return min(int(last) + math.ceil(self.step), LAST_TICK)
        return float(last) + self.step

    def steps_at(self, times: npt.NDArray[Any], name: str) -> IntArray:
        """Step of each time: the last step at or before it. Times outside the clock are an error that lists them.

        ``times`` are dates (datetime64) or plain numbers, as the clock is.
        """
        first, last, whole = self.ticks[0], self.ticks[-1], self.ticks.dtype.kind == "i"
        # rounding a time down to the clock's unit cannot move it before its step: steps are whole ticks
        fits = np.ones(len(times), dtype=np.bool_)
        if self.unit is not None:
            dates, fits = converted(times, self.unit)
            ticks = dates.astype(np.int64)
        elif whole and times.dtype.kind == "f":
            # compared as floats, different ticks beyond 2**53 would be the same
            fits = np.abs(times) < float(LAST_TICK)
            ticks = np.floor(np.where(fits, times, 0)).astype(np.int64)
        else:
            ticks, _ = as_ticks(times, name)
        if self.unit is None and not whole:
            # a time that should equal a step's but was rounded otherwise belongs to that step, not to the one before
            own = 4 * np.spacing(np.abs(times)) if times.dtype.kind == "f" else 0.0
            ticks = times.astype(np.float64) + np.maximum(self.slack, own)
        inside = fits & (ticks >= first) & ((ticks < self.end) | (ticks <= (last if whole else last + 2 * self.slack)))
        if not inside.all():
            outside = times[~inside]
            raise InputError(
                argument=name,
                problem=f"has {len(outside)} time(s) outside the clock ({self.show(first)} to {self.show(last)}): "
                f"{listing(outside, self.show_time)}",
                remedy="remove them, or pass the steps of that time too",
            )
        return np.searchsorted(self.ticks, ticks, side="right").astype(np.int64) - 1

    def show_time(self, time: Any) -> str:
        """A time as it was given, a date of whatever unit or a number, as text."""
        if self.unit is None:
            return self.show(time)
        unit = np.datetime_data(time.dtype)[0]
        own = unit if unit in NANOSECONDS else "s"
        return Clock(ticks=self.ticks, unit=own, aware=self.aware).show(
            time.astype(f"datetime64[{own}]").astype(np.int64)
        )


def rounding(times: npt.NDArray[Any]) -> float:
    """By how much equal times, or distances between them, may differ: a few units in the last place of floats."""
    return 4 * float(np.spacing(np.abs(times).max())) if times.dtype.kind == "f" else 0.0


def as_ticks(values: npt.NDArray[Any], name: str) -> tuple[npt.NDArray[Any], str | None]:
    """Ticks and their unit, of dates or numbers."""
    if values.dtype.kind != "M":
        if values.dtype.kind == "f":
            # a copy of their own, since chance is computed later, when the user may have changed theirs
            return values.astype(values.dtype.newbyteorder("=")), None
        # one kind of whole numbers, so that none is compared through floats; those beyond it have to be floats
        beyond = values.max(initial=0) > LAST_TICK
        return exact_floats(values, name) if beyond else values.astype(np.int64), None
    own = np.datetime_data(values.dtype)[0]
    target = own if own in NANOSECONDS else "ns" if own in ("ps", "fs", "as") else "s"
    return in_unit(values, target, name).astype(np.int64), target


def make_clock(
    values: npt.NDArray[Any], name: str, aware: bool = False, east: npt.NDArray[np.int64] | None = None
) -> Clock:
    """A clock from checked, one-dimensional dates or numbers: no gaps in it, strictly increasing."""
    if values.dtype.kind == "b":
        raise InputError(
            argument=name,
            problem="must be dates or numbers, got booleans",
            remedy="pass one increasing time for each step",
        )
    check_finite(values, name, "every step needs a time")
    ticks, unit = as_ticks(values, name)
    clock = Clock(ticks=ticks, unit=unit, aware=aware)
    if ticks.dtype.kind == "f" and math.isinf(4 * (float(ticks[-1]) - float(ticks[0]))):
        raise InputError(
            argument=name,
            problem=f"goes from {clock.show(ticks[0])} to {clock.show(ticks[-1])}, longer than 64-bit floats can count",
            remedy="divide all times by the same number",
        )
    back = np.flatnonzero(ticks[1:] < ticks[:-1])
    if len(back):
        at = int(back[0]) + 1
        raise InputError(
            argument=name,
            problem=f"must increase, but {clock.show(ticks[at])} at position {at} comes after "
            f"{clock.show(ticks[at - 1])}",
            remedy="sort the data by time first",
        )
    same = np.flatnonzero(ticks[1:] == ticks[:-1])
    if len(same):
        raise InputError(
            argument=name,
            problem=f"has {len(same)} duplicate time(s), first {clock.show(ticks[same[0]])} at positions {same[0]} "
            f"and {same[0] + 1}",
            remedy="keep one row for each time",
        )
    if east is None or unit is None:
        return clock
    return replace(clock, zone=Zone.of(ticks // (NANOSECONDS["s"] // NANOSECONDS[unit]), east))


def listing(values: npt.NDArray[Any], show: Callable[[Any], str] = str, most: int = 5) -> str:
    """The first few values, and how many more there are.

    >>> listing(np.arange(7))
    '0, 1, 2, 3, 4 and 2 more'
    """
    text = ", ".join(show(v) for v in values[:most])
    return text if len(values) <= most else f"{text} and {len(values) - most} more"


def check_finite(times: npt.NDArray[Any], name: str, remedy: str) -> None:
    """Refuse times that are missing or infinite."""
    where = np.flatnonzero(not_finite(times))
    if len(where):
        raise InputError(
            argument=name,
            problem=f"has {len(where)} missing or infinite time(s) at position(s) {listing(where)}",
            remedy=remedy,
        )


# ---- times of events and alarms on a clock that need not be those of its steps, and how long each step lasts


def step_ends(clock: Clock, *, over_gaps: bool = False) -> npt.NDArray[Any]:
    """Where each step ends (exclusive): at the next one, or, before a gap and at the end, after a median step."""
    ends = np.append(clock.ticks[1:], clock.ticks[-1:])
    lasting = np.append(clock.gaps[:0] if over_gaps else clock.gaps, len(clock.ticks) - 1)
    if clock.ticks.dtype.kind == "i":
        ends[lasting] = np.minimum(clock.ticks[lasting], LAST_TICK - math.ceil(clock.step)) + math.ceil(clock.step)
    else:
        ends[lasting] = clock.ticks[lasting] + clock.step
    return ends


def in_gaps(clock: Clock, ticks: npt.NDArray[Any], steps: IntArray) -> BoolArray:
    """Which of these ticks lie in a gap of the clock, after the step at or before them has ended."""
    if not (ticks > clock.ticks[steps]).any():  # all on steps: gaps need not be looked for
        return np.zeros(len(steps), dtype=np.bool_)
    return np.asarray(np.isin(steps, clock.gaps) & (ticks >= step_ends(clock)[steps]))


def refined(clock: Clock, *times: npt.NDArray[Any]) -> Clock:
    """The clock in a unit that holds these times too, so that nothing is rounded."""
    for values in times:
        if clock.unit is None:
            # floats hold all steps of a clock this short
            if clock.ticks.dtype.kind == "i" and values.dtype.kind == "f" and (values % 1 != 0).any():
                short = max(abs(int(clock.ticks[0])), abs(int(clock.ticks[-1]))) < 2**53
                clock = replace(clock, ticks=clock.ticks.astype(np.float64)) if short else clock
            continue
        own = np.datetime_data(values.dtype)[0]
        finer = own if own in NANOSECONDS else "ns" if UNITS.index(own) > UNITS.index("ns") else clock.unit
        if UNITS.index(finer) > UNITS.index(clock.unit) and (converted(values, clock.unit)[0] != values).any():
            dates = clock.ticks.astype(f"datetime64[{clock.unit}]")
            clock = replace(clock, ticks=in_unit(dates, finer, "times").astype(np.int64), unit=finer)
    return clock


def own_ticks(clock: Clock, times: npt.NDArray[Any], *, up: bool = False) -> npt.NDArray[Any]:
    """Times as ticks of the clock, rounded down (or up); those that its ticks cannot tell become the last ones."""
    if clock.unit is not None:
        dates, fits = converted(times, clock.unit)
        far = np.where(times.astype(np.int64) > 0, LAST_TICK - 1, 1 - LAST_TICK)
        return np.where(fits, dates.astype(np.int64), far)
    if clock.ticks.dtype.kind == "f":
        return times.astype(np.float64)
    if times.dtype.kind == "i":
        return times.astype(np.int64)
    if times.dtype.kind == "u":
        return np.asarray(np.minimum(times, np.uint64(LAST_TICK - 1)).astype(np.int64))
    inner = np.ceil(times) if up else np.floor(times)
    near = np.abs(inner) < 2.0**63
    far = np.where(inner > 0, LAST_TICK - 1, 1 - LAST_TICK)
    return np.where(near, np.where(near, inner, 0).astype(np.int64), far)
