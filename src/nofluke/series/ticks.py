"""Time without steps: ticks, what was watched of them, and how fine they must be.

The section "Events at their own times" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from nofluke.arrays import BoolArray, FloatArray, IntArray
from nofluke.dates import NANOSECONDS, UNITS, format_duration, in_unit
from nofluke.errors import InputError
from nofluke.lazy import lazy
from nofluke.plain import exact_fraction
from nofluke.series.clock import Clock, Zone
from nofluke.series.counting import in_ranges
from nofluke.series.tolerance import Ranges

Number = int | float | Fraction

MOST_TICKS = 2**60  # of a span: sums of a few such numbers stay within 64 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticks:
    """What a tick is, and where tick 0 lies.

    Attributes
    ----------
    origin : int or float
        The time of tick 0, in ``unit`` since 1970 for dates, else in the times' own numbers.
    size : Fraction
        The length of a tick: in nanoseconds for dates, else in the times' own unit.
    unit : {"s", "ms", "us", "ns"} or None
        Unit of dates; None for plain numbers.
    aware : bool
        Whether dates came with a time zone (they are then in UTC).
    zone : Zone or None
        Local time, where dates had another than UTC.
    rounded : bool
        False where times are floats without a resolution: ticks are then as fine as floats are.

    Examples
    --------
    >>> ticks = Ticks(origin=10, size=Fraction(5))
    >>> ticks.of(np.array([10, 20, 35])), ticks.floor(12), ticks.length(60)
    (array([0, 2, 5]), 2, '300')
    """

    origin: int | float
    size: Fraction
    unit: str | None = None
    aware: bool = False
    zone: Zone | None = None
    rounded: bool = True

    @property
    def is_dates(self) -> bool:
        """Whether times are dates."""
        return self.unit is not None

    @property
    def raw(self) -> Fraction:
        """The length of a tick in the numbers that times are given in."""
        return self.size / (NANOSECONDS[self.unit] if self.unit is not None else 1)

    def of(self, times: npt.NDArray[Any]) -> IntArray:
        """Ticks of times in the origin's numbers, rounded down; floats on a tick up to rounding count as on it."""
        raw = self.raw
        if times.dtype.kind != "f" and not isinstance(self.origin, float):
            since = times.astype(object) - self.origin if raw.denominator > 1 else times - np.int64(self.origin)
            return np.asarray(since * raw.denominator // raw.numerator).astype(np.int64)
        since, near = self._near(times)
        return np.where(np.isnan(near), np.floor(since), near).astype(np.int64)

    def at_or_after(self, times: npt.NDArray[Any]) -> IntArray:
        """The first tick at or after each time."""
        raw = self.raw
        if times.dtype.kind != "f" and not isinstance(self.origin, float):
            until = self.origin - times.astype(object) if raw.denominator > 1 else np.int64(self.origin) - times
            return -np.asarray(until * raw.denominator // raw.numerator).astype(np.int64)
        since, near = self._near(times)
        return np.where(np.isnan(near), np.ceil(since), near).astype(np.int64)

    def _near(self, times: npt.NDArray[Any]) -> tuple[FloatArray, FloatArray]:
        """Ticks since the origin, between two ticks too; and the tick where there is one but for rounding, else NaN."""
        size = float(self.raw)
        since = (times.astype(np.float64) - float(self.origin)) / size
        near = np.rint(since)
        slack = np.maximum(8 * np.spacing(np.abs(times).max(initial=1.0)) / size, 8 * np.spacing(np.abs(since)))
        return since, np.where(np.abs(since - near) <= np.minimum(slack, 0.25), near, np.nan)

    def floor(self, length: Number) -> int:
        """Whole ticks in a length: nanoseconds for dates, else the times' unit; floats are rounded if close to a tick.

        >>> Ticks(origin=0.0, size=Fraction(1, 44100)).floor(17 / 44100)
        17
        """
        ticks = exact_fraction(length) / self.size
        near = round(ticks)
        slack = 16 * math.ulp(float(length)) if isinstance(length, float) else 0.0
        return near if abs(float((ticks - near) * self.size)) <= slack else math.floor(ticks)

    def times(self, at: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Times of ticks: datetime64, or numbers."""
        raw = self.raw
        if isinstance(self.origin, float) or (self.unit is None and raw.denominator > 1):
            return np.asarray(float(self.origin) + at.astype(np.float64) * float(raw))
        if raw.denominator == 1:
            since = at * np.int64(raw.numerator)
        else:
            since = np.asarray(at.astype(object) * raw.numerator // raw.denominator).astype(np.int64)
        moments = np.asarray(since + np.int64(self.origin), dtype=np.int64)
        return moments if self.unit is None else moments.astype(f"datetime64[{self.unit}]")

    def told(self, at: int) -> str:
        """The time of one tick for people, in its zone where it has one."""
        return self.show(at) if self.zone is None else self._clock.told(self.times(np.array([at]))[0].astype(np.int64))

    @property
    def _clock(self) -> Clock:
        return Clock(ticks=np.zeros(1, dtype=np.int64), unit=self.unit, aware=self.aware, zone=self.zone)

    def show(self, at: int) -> str:
        """The time of one tick, as text."""
        time = self.times(np.array([at]))[0]
        if self.unit is None:
            if isinstance(time, np.floating):
                return (
                    f"{time:.10g}" if abs(time) >= float(self.raw) else "0"
                )  # as near to 0 as ticks are to each other
            return str(time)
        return self._clock.show(time.astype(np.int64))

    def length(self, ticks: float | Fraction) -> str:
        """So many ticks as a length of time in words: "2d", "0.5"."""
        return length_in_words(Fraction(ticks) * self.size, dates=self.is_dates)

    def span(self, ticks: float) -> float:
        """So many ticks as a length of time: seconds for dates, else the times' own unit."""
        length = ticks * self.size if isinstance(ticks, int) else ticks * float(self.size)
        return float(length) / (1e9 if self.is_dates else 1.0)


def length_in_words(length: Fraction, *, dates: bool) -> str:
    """A length of time: nanoseconds as a duration, else a plain number."""
    whole = length.numerator if length.denominator == 1 else None
    if dates:
        return format_duration(float(length) if whole is None else whole)
    return f"{whole if whole is not None and whole < 10**15 else float(length):.10g}"


def common_unit(columns: Sequence[npt.NDArray[Any]]) -> str:
    """The coarsest unit of dates that holds all of these exactly: "s" for days."""
    own = [np.datetime_data(column.dtype)[0] for column in columns]
    finest = max((UNITS.index(unit) for unit in own if unit in UNITS), default=UNITS.index("s"))
    return UNITS[min(max(finest, UNITS.index("s")), UNITS.index("ns"))]


def raw_numbers(times: npt.NDArray[Any], unit: str | None, name: str) -> npt.NDArray[Any]:
    """Times as the numbers that ticks are made of: whole ones of the unit for dates, else as they are."""
    if unit is not None:
        return in_unit(times, unit, name).astype(np.int64)
    if times.dtype.kind == "f":
        return times.astype(np.float64)
    if times.dtype.kind == "u" and times.max(initial=0) > np.iinfo(np.int64).max:
        raise InputError(
            argument=name, problem="has whole numbers beyond 2**63", remedy="subtract the same number from all times"
        )
    return times.astype(np.int64)


# ---- the time that was watched: a span less its gaps, in whole ticks


@dataclass(frozen=True, kw_only=True, eq=False)
class WatchedTime:
    """Stretches of watched time, and the places of events in them, numbered from 0.

    Places are the ticks, or every so many of them where events have a coarser resolution than alarms. Time in between
    passes, but was not watched: it has no places.

    Attributes
    ----------
    ticks : Ticks
    starts, stops : int arrays
        Half-open stretches of ticks, ascending, apart and not empty.
    stride : int
        Ticks between two places, of which one is tick 0.
    begin : int, optional
        Tick from which windows and phases are counted; by default the first that was watched.

    Examples
    --------
    >>> from fractions import Fraction
    >>> watch = WatchedTime(ticks=Ticks(origin=0, size=Fraction(1)), starts=np.array([0, 20]), stops=np.array([10, 30]))
    >>> watch.n, watch.places_before(np.array([5, 12, 25])), watch.at(np.array([9, 10]))
    (20, array([ 5, 10, 15]), array([ 9, 20]))
    """

    ticks: Ticks
    starts: IntArray = field(repr=False)
    stops: IntArray = field(repr=False)
    stride: int = 1
    begin: int | None = None

    def __getstate__(self) -> dict[str, object]:
        """Without what can be worked out again."""
        return {known.name: getattr(self, known.name) for known in fields(self)}

    @property
    def first(self) -> int:
        """The tick from which windows and phases are counted."""
        return int(self.starts[0]) if self.begin is None else self.begin

    @lazy
    def _first(self) -> IntArray:
        """Of each stretch, its first place, counted in strides from tick 0."""
        return -(-self.starts // self.stride)

    @lazy
    def _before(self) -> IntArray:
        """Places before each stretch, and all of them."""
        behind = -(-self.stops // self.stride)
        return np.concatenate([[0], np.cumsum(behind - self._first)]).astype(np.int64)

    @property
    def n(self) -> int:
        """How many places there are."""
        return int(self._before[-1])

    @property
    def watched(self) -> int:
        """Ticks that were watched."""
        return int((self.stops - self.starts).sum())

    def places_before(self, ticks: IntArray) -> IntArray:
        """How many places lie before each tick."""
        at = -(-ticks // self.stride)
        stretch = np.maximum(np.searchsorted(self._first, at, side="right") - 1, 0)
        own = np.diff(self._before)[stretch]
        return np.asarray(self._before[stretch] + np.clip(at - self._first[stretch], 0, own), dtype=np.int64)

    def places(self, first: IntArray, last: IntArray) -> Ranges:
        """The places within each closed window of ticks; those that hold none are empty."""
        starts = self.places_before(first)
        return Ranges(starts=starts, stops=np.maximum(self.places_before(last + 1), starts))

    def at(self, places: IntArray) -> IntArray:
        """The ticks of places."""
        stretch = np.searchsorted(self._before, places, side="right") - 1
        return np.asarray((self._first[stretch] + places - self._before[stretch]) * self.stride, dtype=np.int64)

    def holds(self, ticks: IntArray) -> BoolArray:
        """Whether each tick was watched."""
        return in_ranges(ticks, Ranges(starts=self.starts, stops=self.stops))

    def holds_all(self, first: IntArray, last: IntArray) -> BoolArray:
        """Whether each closed window of ticks was watched from its first tick to its last."""
        stretch = np.searchsorted(self.starts, first, side="right") - 1
        return np.asarray((stretch >= 0) & (last < self.stops[np.maximum(stretch, 0)]))


def less_gaps(first: int, last: int, gaps: Ranges) -> Ranges:
    """The closed span of ticks from first to last without gaps, which are half-open, ascending and may overlap.

    >>> left = less_gaps(0, 9, Ranges(starts=np.array([-5, 3, 4]), stops=np.array([1, 5, 7])))
    >>> left.starts, left.stops
    (array([1, 7]), array([ 3, 10]))
    """
    closed = np.maximum.accumulate(np.concatenate([[first], gaps.stops]))
    starts, stops = closed, np.concatenate([gaps.starts, [last + 1]])
    stops = np.minimum(stops, last + 1)
    kept = stops > starts
    return Ranges(starts=starts[kept].astype(np.int64), stops=stops[kept].astype(np.int64))


# ---- the resolution of lists of times: the ticks that they have in common

MOST_SCALE = 10**7  # of fractions that floats are seen to be: 17/44100
SAMPLED = 1_000  # lengths from which the divisor of floats is worked out; all of them are held against it
ENOUGH_TIMES = 20  # fewer may have a common divisor by accident: tolerances and the span then have a say in it
ACCIDENT = 1e6  # how unlikely it must be that floats are multiples of something by accident
OWN_ACCIDENT = 1e3  # the same for a coarser resolution of the events, where an accident costs power but no level
FEWEST_OWN = 4  # events that can have one: the gaps of fewer have a common divisor more often than not
DECIMALS = 15  # of floats, looked at
SMALLEST, LARGEST = (
    1e-100,
    1e100,
)  # of the farthest of all times from 0, if they are floats: products of two stay floats
PLAINLY = 1e4  # ticks of floats are at least this many times as long as what rounding does to them


def resolution(
    events: npt.NDArray[Any],
    alarms: npt.NDArray[Any],
    lengths: Sequence[Number],
    span: npt.NDArray[Any],
    unit: str | None = None,
    aware: bool = False,
) -> tuple[Ticks, int]:
    """The ticks that two lists of times have in common, and how many of them lie between two places of events.

    The tick is the common divisor of the times. Where there are few of them, their divisor may be an accident, and the
    lengths (of tolerances and lags: nanoseconds or numbers) and the ends of the span and of gaps have to be whole ticks
    too. Events of a coarser resolution, such as days beside alarms in seconds, stay on it.

    >>> ticks, stride = resolution(np.arange(0, 600, 60), np.array([5, 13, 27]), [10], np.array([0, 600]))
    >>> ticks.size, stride
    (Fraction(1, 1), 60)
    """
    every = np.concatenate([events, alarms]) if len(events) or len(alarms) else span
    scale = NANOSECONDS[unit] if unit is not None else 1
    few = len(every) < ENOUGH_TIMES
    if every.dtype.kind == "f":
        return _of_floats(events, every, [*lengths] if few else [], span if few else span[:0])
    origin = int(events[0] if len(events) else every[0])
    tick = Fraction(scale * _divisor(every, origin))
    for length in lengths if few or not tick else ():
        tick = _common(tick, exact_fraction(length))
    if few or not tick:
        tick = _common(tick, Fraction(scale * _divisor(span, origin)))
    tick = tick or Fraction(scale)
    stride = _stride(_divisor(events, origin) * scale / tick, len(events))
    return Ticks(origin=origin, size=tick, unit=unit, aware=aware), stride


def _divisor(times: npt.NDArray[Any], origin: int) -> int:
    # differences modulo 2**64 are right even where int64 overflows: spans that long are refused later
    return int(np.gcd.reduce(np.abs(times - np.int64(origin)))) if len(times) else 0


def _common(one: Fraction, other: Fraction) -> Fraction:
    """The greatest common divisor of two lengths; 0 has them all."""
    below = math.lcm(one.denominator, other.denominator)
    return Fraction(math.gcd(int(one * below), int(other * below)), below)


def _stride(own: Fraction, n_events: int) -> int:
    """Ticks between two places of events, where events have a coarser resolution that is hardly an accident."""
    stride = int(own)
    # k random numbers have a common divisor of at least d with a chance of about d^(1 - k); n events have n - 1
    # differences. An accident makes no test wrong: given the common remainder, all its places are equally likely
    if stride <= 1 or n_events < FEWEST_OWN or (n_events - 2) * math.log(stride) < math.log(OWN_ACCIDENT):
        return 1
    return stride


def _of_floats(events: FloatArray, every: FloatArray, lengths: list[Number], span: FloatArray) -> tuple[Ticks, int]:
    """The same for floats: decimals, else fractions, else multiples of some unit, else the resolution of floats."""
    among = np.concatenate([every, span])
    most = float(np.abs(among).max())
    if not (most == 0 or SMALLEST <= most <= LARGEST):
        raise InputError(
            problem=f"times reach {most:.3g}, which is out of range",
            remedy=f"change their unit so that they lie between {SMALLEST:g} and {LARGEST:g}",
        )
    slack = 4 * float(np.spacing(most))
    origin, sides = float(every[0]), [exact_fraction(length) for length in lengths]
    for digits in range(DECIMALS + 1):
        if slack * 10**digits > (0.05 if len(among) < ENOUGH_TIMES else 0.2):  # many are not as near to it by accident
            break
        if _are_whole(among, 10**digits, slack):
            return _of_fractions(among - origin, 10**digits, len(events), sides, origin)
    since = among - origin
    for scale in (_scale(np.concatenate([since, np.array(lengths, dtype=np.float64)]), slack), _scale(since, slack)):
        if scale is not None:
            near = [Fraction(round(side * scale), scale) for side in sides]
            near = [one if abs(float(one - side)) <= slack else side for one, side in zip(near, sides, strict=True)]
            return _of_fractions(since, scale, len(events), near, origin)
    # short lengths know best what they are multiples of, and are there between neighbours
    measured = np.concatenate([since, np.diff(np.sort(since)), np.array(lengths, dtype=np.float64)])
    common = _float_divisor(np.abs(measured), 2 * slack)
    if common is None:
        return Ticks(origin=origin, size=Fraction(slack / 4), rounded=False), 1
    own = _float_divisor(np.abs(np.concatenate([events - origin, np.diff(events)])), 2 * slack) if len(events) else None
    stride = 1 if own is None else _stride(Fraction(round(own / common)), len(events))
    return Ticks(origin=origin, size=Fraction(common)), stride


def _are_whole(values: FloatArray, scale: int, slack: float) -> bool:
    scaled = values * float(scale)
    return bool((np.abs(scaled - np.rint(scaled)) <= slack * scale).all())


def _of_fractions(
    since: FloatArray, scale: int, n_events: int, sides: list[Fraction], origin: float
) -> tuple[Ticks, int]:
    """Ticks of times that are multiples of 1/scale from the origin, and how many lie between places of events."""
    whole = np.rint(since * float(scale)).astype(np.int64)
    tick = Fraction(_divisor(whole, 0), scale)
    for side in sides:
        tick = _common(tick, side)
    tick = tick or Fraction(1, scale)
    return Ticks(origin=origin, size=tick), _stride(Fraction(_divisor(whole[:n_events], 0), scale) / tick, n_events)


def _scale(values: FloatArray, slack: float) -> int | None:
    """The common denominator of values such as 17/44100, up to rounding; None if it could be an accident."""
    most = min(math.isqrt(int(0.5 / slack)), MOST_SCALE) if slack < 0.5 else 1  # such fractions are 2 slack apart
    scale, left = 1, values
    while len(left):
        # one of those that do not fit yet: it makes the scale a multiple of what it was
        scale = math.lcm(scale, Fraction(float(left[0])).limit_denominator(most).denominator)
        if scale > most:
            return None
        scaled = values * float(scale)
        wrong = np.abs(scaled - np.rint(scaled)) > slack * scale
        if wrong[values == left[0]].any():
            return None
        left = values[wrong]
    # n numbers anywhere are as near as that to multiples of 1/scale with a chance of (2 slack scale)^n
    chance = len(np.unique(values)) * math.log(2 * slack * scale) + math.log(scale)
    return scale if chance < -math.log(ACCIDENT) else None


def _float_divisor(lengths: FloatArray, slack: float) -> float | None:
    """What all lengths are multiples of but for rounding; None where there is nothing of the kind.

    From the shortest to the longest: each multiple makes the divisor better known, and anything else makes it a part of
    itself.
    """
    lengths = np.unique(lengths[lengths > slack])
    if len(lengths) == 0 or lengths[0] < PLAINLY * slack:
        return None
    some = lengths[np.unique(np.geomspace(1, len(lengths), SAMPLED, dtype=np.int64)) - 1]
    found, error = float(some[0]), slack
    for length in some[1:].tolist():
        times = length / found
        off = (slack + error * times) / found  # of times
        if off > 0.01:
            return None
        near = Fraction(times).limit_denominator(max(math.isqrt(int(0.02 / off)), 1))
        if abs(times - near) > off:
            return None
        found = length / near.numerator
        error = slack / near.numerator
        if found < PLAINLY * slack:
            return None
    wrong = np.abs(lengths - np.rint(lengths / found) * found) > slack + error * lengths / found
    return None if wrong.any() else found
