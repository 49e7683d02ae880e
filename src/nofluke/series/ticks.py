"""Ticks: the resolution of lists of times, in which everything is counted as whole numbers.

Public lists are rounded to days, minutes or milliseconds. A closed window of ± δ holds 2δ + 1 ticks but lasts only 2δ, so a
chance that placed events between the ticks would find fewer of them than the data can. Where times are plainly unrounded,
ticks are as fine as the numbers themselves, which is the continuous limit.

The section "Events at their own times" of docs/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from nofluke.arrays import FloatArray, IntArray
from nofluke.dates import NANOSECONDS, UNITS, format_duration, in_unit
from nofluke.errors import InputError
from nofluke.plain import exact_fraction
from nofluke.series.clock import Clock

Number = int | float | Fraction

MOST_TICKS = 2**60  # of a span: sums of a few such numbers stay within 64 bits
ENOUGH_TIMES = 20  # fewer may have a common divisor by accident: tolerances and the span then have a say in it
ACCIDENT = 1e6  # how unlikely an accident must be for events to have a coarser resolution of their own
DECIMALS = 15  # of floats, looked at
MOST_SCALE = 10**7  # of fractions that floats are seen to be: 17/44100
SAMPLED = 1_000  # lengths from which the divisor of floats is worked out; all of them are held against it
PLAINLY = 1e4  # ticks of floats are at least this many times as long as what rounding does to them


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
        """Ticks of times in the numbers of the origin, rounded down; floats that lie on a tick but for rounding are on it."""
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
        """Whole ticks in a length: nanoseconds for dates, else the times' own unit; floats as near to a tick as they can be are on it.

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

    def show(self, at: int) -> str:
        """The time of one tick, as text."""
        time = self.times(np.array([at]))[0]
        if self.unit is None:
            return f"{time:.10g}" if isinstance(time, np.floating) else str(time)
        clock = Clock(ticks=np.zeros(1, dtype=np.int64), unit=self.unit, aware=self.aware)
        return clock.show(time.astype(np.int64))

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


def resolution(
    events: npt.NDArray[Any],
    alarms: npt.NDArray[Any],
    lengths: Sequence[Number],
    span: npt.NDArray[Any],
    unit: str | None = None,
    aware: bool = False,
) -> tuple[Ticks, int]:
    """The ticks that two lists of times have in common, and how many of them lie between two places of events.

    The tick is the common divisor of the times. Where there are few of them, their divisor may be an accident, and the lengths
    (of tolerances and lags: nanoseconds or numbers) and the ends of the span have to be whole ticks too. Events of a coarser
    resolution, such as days beside alarms in seconds, stay on it.

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
    """Ticks between two places of events, where these have a coarser resolution of their own, and hardly by accident."""
    stride = int(own)
    # of k random numbers the common divisor reaches d with a chance of about d^(1 - k); n events have n - 1 differences
    if stride <= 1 or (n_events - 2) * math.log(stride) < math.log(ACCIDENT):
        return 1
    return stride


def _of_floats(events: FloatArray, every: FloatArray, lengths: list[Number], span: FloatArray) -> tuple[Ticks, int]:
    """The same for floats: decimals, else fractions, else whatever they are multiples of, else what floats can tell apart."""
    among = np.concatenate([every, span])
    slack = 4 * float(np.spacing(np.abs(among).max()))
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
    """Ticks of times that are whole numbers of 1/scale since the origin, and how many lie between two places of events."""
    whole = np.rint(since * float(scale)).astype(np.int64)
    tick = Fraction(_divisor(whole, 0), scale)
    for side in sides:
        tick = _common(tick, side)
    tick = tick or Fraction(1, scale)
    return Ticks(origin=origin, size=tick), _stride(Fraction(_divisor(whole[:n_events], 0), scale) / tick, n_events)


def _scale(values: FloatArray, slack: float) -> int | None:
    """The common denominator of values such as 17/44100, but for rounding; None where there is none that is no accident."""
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

    From the shortest to the longest: each multiple makes the divisor better known, and what is none makes it a part of itself.
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
        raise InputError(f"{name} has whole numbers beyond 2**63: subtract the same number from all times.")
    return times.astype(np.int64)
