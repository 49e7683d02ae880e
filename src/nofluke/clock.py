"""The clock of a sequence: when each step happened, and what a duration means on it.

A step owns the time from its own stamp up to the next one; the last step lasts as long as the median step. Dates are
kept as whole ticks of their own unit, so that comparisons are exact; clocks of plain numbers may be floats.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from nofluke.errors import InputError, shown
from nofluke.plain import exact_floats

IntArray = npt.NDArray[np.int64]
Duration = int
"""A length of time in nanoseconds, as a Python integer: no overflow, no rounding."""

_LAST_TICK = int(np.iinfo(np.int64).max)
_NANOSECONDS: dict[str, int] = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
_UNITS: dict[str, int] = {
    **_NANOSECONDS,
    "µs": 10**3,  # the micro sign; the Greek letter is the same to the eye
    "μs": 10**3,
    "sec": 10**9,
    "min": 60 * 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
    "d": 86400 * 10**9,
    "w": 7 * 86400 * 10**9,
}
_MONTH = 'may be minutes or months: write "1min" or "30d"'
_YEAR = 'is in years, which have no fixed length: write "365d"'
_MEGA = 'may be milliseconds or months: write "1ms" or "30d"'  # or megaseconds
_AMBIGUOUS = {"M": _MONTH, "Ms": _MEGA, "MS": _MEGA, "Y": _YEAR, "y": _YEAR}
_PART = re.compile(r"\s*(\d*)(?:\.(\d+))?\s*([A-Za-zµμ]+)")
_MOST_DIGITS = 300  # of a number in a duration: more than any float holds

UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")
"""Units of NumPy's dates, from coarse to fine."""


def parse_duration(text: str, name: str) -> Duration:
    """Read ``"2h"``, ``"1h30min"``, ``"1.5 s"``, ``"3d"`` as nanoseconds.

    >>> parse_duration("1h30min", "tolerance") == 90 * 60 * 10**9
    True
    """
    total, end = 0, 0
    for part in _PART.finditer(text):
        whole, fraction, unit = part[1], part[2] or "", part[3].lower()
        if part.start() == end and part[3] in _AMBIGUOUS:
            raise InputError(f"{name}={shown(text)} {_AMBIGUOUS[part[3]]}.")
        if part.start() != end or unit not in _UNITS or not 0 < len(whole + fraction) <= _MOST_DIGITS:
            break
        total += int(whole + fraction) * _UNITS[unit] // 10 ** len(fraction)
        end = part.end()
    if end == 0 or text[end:].strip():
        sign = " is negative" if re.match(r"\s*-\s*[\d.]", text) else " is not a duration"
        raise InputError(
            f"{name}={shown(text)}{sign}: write a number and a unit "
            f'({", ".join(u for u in _UNITS if u not in ("µs", "μs", "sec", "m"))}), such as "2h" or "1h30min".'
        )
    return total


def as_duration(value: object, name: str) -> Duration | None:
    """Nanoseconds of a string, ``timedelta`` or ``timedelta64``; None for anything that is no duration."""
    if isinstance(value, str):
        return parse_duration(value, name)
    if isinstance(value, np.timedelta64):
        if np.isnat(value):
            raise InputError(f"{name} is not a time (NaT): pass a duration such as '2h'.")
        return _of_timedelta64(value, name)
    if isinstance(value, timedelta):
        # pandas' own timedelta is one of these, with a few nanoseconds on top
        rest = int(getattr(value, "nanoseconds", 0))
        return (value.days * 86400 + value.seconds) * 10**9 + value.microseconds * 10**3 + rest
    return None


def _of_timedelta64(value: np.timedelta64, name: str) -> Duration:
    """Nanoseconds by whole numbers: NumPy's own conversion overflows in silence, and makes up a length for months."""
    unit, many = np.datetime_data(value.dtype)
    finer = {"ps": 10**3, "fs": 10**6, "as": 10**9}
    if unit.lower() in _UNITS and unit != "M":
        return int(value.astype(np.int64)) * many * _UNITS[unit.lower()]
    if unit in finer:
        return int(value.astype(np.int64)) * many // finer[unit]
    raise InputError(
        f"{name}={shown(value)} has no fixed length: pass a duration in days or smaller units, such as '30d'."
    )


def format_duration(nanoseconds: float) -> str:
    """Write a duration the way people say it: ``2h``, ``1.5d``; whole nanoseconds so that they can be read back exactly.

    >>> format_duration(90 * 60 * 10**9), format_duration(-36 * 3600 * 10**9), format_duration(100_001 * 10**9)
    ('1.5h', '-1.5d', '100001s')
    """
    size = abs(nanoseconds)
    if size == 0:
        return "0s"
    fitting = [u for u in ("d", "h", "min", "s", "ms", "us", "ns") if size >= _UNITS[u]] or ["ns"]
    if isinstance(nanoseconds, int):
        for unit in fitting:
            whole, rest = divmod(size * 1000, _UNITS[unit])
            if rest == 0:  # at most three digits after the point
                text = f"{whole // 1000}.{whole % 1000:03d}".rstrip("0").rstrip(".")
                return f"{'-' if nanoseconds < 0 else ''}{text}{unit}"
    return f"{nanoseconds / _UNITS[fitting[0]]:.6g}{fitting[0]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Strictly increasing times of the steps.

    Attributes
    ----------
    ticks : array
        int64 ticks of ``unit`` for dates; int64 or floats for a clock of plain numbers.
    unit : {"s", "ms", "us", "ns"} or None
        Unit of a tick; None for a clock of plain numbers.
    aware : bool
        Whether the dates came with a time zone (they are then in UTC).
    """

    ticks: npt.NDArray[Any] = field(repr=False)
    unit: str | None
    aware: bool = False

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
        lengths = np.append(np.diff(self.elapsed()).astype(np.float64), self.step)
        return float(lengths[steps].sum()) * self.tick_size

    @property
    def tick_size(self) -> int:
        """Nanoseconds of a tick; 1 on a clock of plain numbers."""
        return _NANOSECONDS[self.unit] if self.unit is not None else 1

    def show(self, tick: Any) -> str:
        """One time of this clock, as text."""
        if self.unit is None:
            return str(tick).removesuffix(".0")
        text = str(np.int64(tick).astype(f"datetime64[{self.unit}]"))
        text = text.rstrip("0").removesuffix(".") if "." in text else text
        return text + "Z" if self.aware else text.removesuffix("T00:00:00")

    def elapsed(self) -> npt.NDArray[Any]:
        """Ticks since the first step: unsigned for whole ticks, so that no clock is too long for them; else float64."""
        if self.ticks.dtype.kind == "i":
            # differences modulo 2**64 are right even where int64 overflows
            return self.ticks.view(np.uint64) - self.ticks[:1].view(np.uint64)
        return self.ticks.astype(np.float64) - float(self.ticks[0])

    @property
    def slack(self) -> float:
        """What rounding may do to a time: a few units in the last place on a clock of floats, else nothing."""
        return 4 * float(np.spacing(np.abs(self.ticks).max())) if self.ticks.dtype.kind == "f" else 0.0

    def windows(self, before: Duration | float, after: Duration | float) -> tuple[IntArray, IntArray]:
        """For each step, the half-open range of steps from ``before`` before it to ``after`` after it, closed in time."""
        since = self.elapsed()
        if since.dtype.kind == "u":
            # all times are whole ticks, so a window that ends between two ticks reaches the lower one; each side is
            # cut to what the clock holds before it is added, so that no sum can overflow
            low, high = (np.uint64(min(int(d) // self.tick_size, int(since[-1]))) for d in (before, after))
            earliest, latest = since - np.minimum(since, low), since + np.minimum(since[-1] - since, high)
        else:
            # 0.8 - 0.7 exceeds 0.1 by rounding alone: closed windows need slack, but no length stays none
            reach = [float(d) + (self.slack if d else 0.0) for d in (before, after)]
            earliest, latest = since - min(reach[0], 2 * since[-1]), since + min(reach[1], 2 * since[-1])
        starts = np.searchsorted(since, earliest, side="left")
        stops = np.searchsorted(since, latest, side="right")
        return starts.astype(np.int64), stops.astype(np.int64)

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
            fits = np.abs(times) < float(_LAST_TICK)
            ticks = np.floor(np.where(fits, times, 0)).astype(np.int64)
        else:
            ticks, _ = as_ticks(times, name)
        if self.unit is None and not whole:
            # a time that should equal a step's but was rounded otherwise belongs to that step, not to the one before
            own = 4 * np.spacing(np.abs(times)) if times.dtype.kind == "f" else 0.0
            ticks = times.astype(np.float64) + np.maximum(self.slack, own)
        end = min(int(last) + math.ceil(self.step), _LAST_TICK) if whole else float(last) + self.step
        inside = fits & (ticks >= first) & ((ticks < end) | (ticks <= (last if whole else last + 2 * self.slack)))
        if not inside.all():
            outside = times[~inside]
            raise InputError(
                f"{name} has {len(outside)} time(s) outside the clock ({self.show(first)} to {self.show(last)}): "
                f"{listing(outside, self._show_time)}: remove them, or pass the steps of that time too."
            )
        return np.searchsorted(self.ticks, ticks, side="right").astype(np.int64) - 1

    def _show_time(self, time: Any) -> str:
        if self.unit is None:
            return self.show(time)
        unit = np.datetime_data(time.dtype)[0]
        own = unit if unit in _NANOSECONDS else "s"
        return Clock(ticks=self.ticks, unit=own, aware=self.aware).show(
            time.astype(f"datetime64[{own}]").astype(np.int64)
        )


def as_ticks(values: npt.NDArray[Any], name: str) -> tuple[npt.NDArray[Any], str | None]:
    """Ticks and their unit, of dates or numbers."""
    if values.dtype.kind != "M":
        if values.dtype.kind == "f":
            # a copy of their own, since chance is computed later, when the user may have changed theirs
            return values.astype(values.dtype.newbyteorder("=")), None
        # one kind of whole numbers, so that none is compared through floats; those beyond it have to be floats
        beyond = values.max(initial=0) > _LAST_TICK
        return exact_floats(values, name) if beyond else values.astype(np.int64), None
    own = np.datetime_data(values.dtype)[0]
    target = own if own in _NANOSECONDS else "ns" if own in ("ps", "fs", "as") else "s"
    return in_unit(values, target, name).astype(np.int64), target


def converted(dates: npt.NDArray[Any], unit: str) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """Dates in another unit, rounded down to it, and which of them it can hold: beyond its reach NumPy's wrap around."""
    there = dates.astype(f"datetime64[{unit}]")
    if UNITS.index(np.datetime_data(dates.dtype)[0]) > UNITS.index(unit):
        return there, np.ones(len(dates), dtype=np.bool_)  # a coarser unit reaches further
    return there, np.asarray((there.astype(dates.dtype) == dates) | np.isnat(dates))


def in_unit(dates: npt.NDArray[Any], unit: str, name: str) -> npt.NDArray[Any]:
    """Dates in another unit, rounded down to it; those that it cannot hold are refused."""
    there, fits = converted(dates, unit)
    if not fits.all():
        at = int(np.flatnonzero(~fits)[0])
        reach = " (they reach from 1677 to 2262)" if unit == "ns" else ""
        raise InputError(
            f"{name} has {int((~fits).sum())} date(s) too far away for times in {unit}{reach}, first {dates[at]} at position "
            f"{at}: round all times to a coarser unit, or leave those out."
        )
    return there


def make_clock(values: npt.NDArray[Any], name: str, aware: bool = False) -> Clock:
    """A clock from checked, one-dimensional dates or numbers: no gaps in it, strictly increasing."""
    if values.dtype.kind == "b":
        raise InputError(f"{name} must be dates or numbers, got booleans: pass one increasing time for each step.")
    missing = np.isnat(values) if values.dtype.kind == "M" else ~np.isfinite(values.astype(np.float64))
    if missing.any():
        where = np.flatnonzero(missing)
        raise InputError(
            f"{name} has {len(where)} missing or infinite time(s) at position(s) {listing(where)}: every step needs a time."
        )
    ticks, unit = as_ticks(values, name)
    clock = Clock(ticks=ticks, unit=unit, aware=aware)
    if ticks.dtype.kind == "f" and math.isinf(4 * (float(ticks[-1]) - float(ticks[0]))):
        raise InputError(
            f"{name} goes from {clock.show(ticks[0])} to {clock.show(ticks[-1])}, longer than 64-bit floats can count: divide "
            "all times by the same number."
        )
    back = np.flatnonzero(ticks[1:] < ticks[:-1])
    if len(back):
        at = int(back[0]) + 1
        raise InputError(
            f"{name} must increase, but {clock.show(ticks[at])} at position {at} comes after {clock.show(ticks[at - 1])}: "
            "sort the data by time first."
        )
    same = np.flatnonzero(ticks[1:] == ticks[:-1])
    if len(same):
        raise InputError(
            f"{name} has {len(same)} duplicate time(s), first {clock.show(ticks[same[0]])} at positions {same[0]} and "
            f"{same[0] + 1}: keep one row for each time."
        )
    return clock


def listing(values: npt.NDArray[Any], show: Callable[[Any], str] = str, most: int = 5) -> str:
    """The first few values, and how many more there are.

    >>> listing(np.arange(7))
    '0, 1, 2, 3, 4 and 2 more'
    """
    text = ", ".join(show(v) for v in values[:most])
    return text if len(values) <= most else f"{text} and {len(values) - most} more"
