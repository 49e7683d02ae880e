"""Ticks: the resolution of lists of times, in which everything is counted as whole numbers.

Public lists are rounded to days, minutes or milliseconds. A closed window of ± δ holds 2δ + 1 ticks but lasts only 2δ,
so a chance that placed events between the ticks would find fewer of them than the data can. Where times are plainly
unrounded, ticks are as fine as the numbers themselves, which is the continuous limit.

The section "Events at their own times" of docs/explanation/theory.md has the mathematics.
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

    def show(self, at: int) -> str:
        """The time of one tick, as text."""
        time = self.times(np.array([at]))[0]
        if self.unit is None:
            if isinstance(time, np.floating):
                return (
                    f"{time:.10g}" if abs(time) >= float(self.raw) else "0"
                )  # as near to 0 as ticks are to each other
            return str(time)
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
