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
        """Whole ticks in a length: nanoseconds for dates, else the times' own unit."""
        return math.floor(exact_fraction(length) / self.size)

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
    if stride <= 1 or (n_events - 1) * math.log(stride) < math.log(ACCIDENT):
        return 1
    return stride


def _of_floats(events: FloatArray, every: FloatArray, lengths: list[Number], span: FloatArray) -> tuple[Ticks, int]:
    """The same for floats: decimals, else whatever they are multiples of, else what floats can tell apart."""
    among = np.concatenate([every, span])
    slack = 4 * float(np.spacing(np.abs(among).max()))
    for digits in range(DECIMALS + 1):
        if slack * 10**digits > 0.05:
            break
        scaled = among * 10.0**digits
        if (np.abs(scaled - np.rint(scaled)) <= slack * 10**digits).all():
            whole = np.rint(scaled).astype(np.int64)
            mine = whole[: len(every)]
            sides = [exact_fraction(length) * 10**digits for length in lengths]
            origin = int(mine[0])
            tick = Fraction(_divisor(whole, origin))
            for side in sides:
                tick = _common(tick, side)
            tick = (tick or Fraction(1)) / 10**digits
            stride = _stride(Fraction(_divisor(mine[: len(events)], origin), 10**digits) / tick, len(events))
            return Ticks(origin=float(every[0]), size=tick), stride
    origin_time = float(every[0])
    measured = np.concatenate([among - origin_time, np.array([float(length) for length in lengths])])
    common = _float_divisor(np.abs(measured), slack)
    if common is None:
        return Ticks(origin=origin_time, size=Fraction(slack / 4), rounded=False), 1
    own = _float_divisor(np.abs(events - origin_time), slack) if len(events) else None
    stride = 1 if own is None else _stride(Fraction(round(own / common)), len(events))
    return Ticks(origin=origin_time, size=Fraction(common)), stride


def _float_divisor(lengths: FloatArray, slack: float) -> float | None:
    """What all lengths are multiples of but for rounding, by Euclid's algorithm; None where there is nothing of the kind."""
    lengths = np.sort(lengths[lengths > slack])
    if len(lengths) == 0:
        return None
    found, error = float(lengths[0]), slack
    while found > PLAINLY * slack:
        # a multiple is off by so many times the error of the divisor: longer ones can only be judged by a better one
        judged = lengths[lengths <= max(found * found / (8 * error), found)]
        if len(judged) == 0:
            return None
        rest = np.abs(judged - np.rint(judged / found) * found)
        wrong = rest > 2 * slack + error * np.rint(judged / found)
        if wrong.any():
            found, error = float(rest[wrong].min()), 2 * slack
            continue
        times = round(float(judged[-1]) / found)
        found, better = float(judged[-1]) / times, slack / times
        if len(judged) == len(lengths):
            return found
        if better >= error:
            return None
        error = better
    return None


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
