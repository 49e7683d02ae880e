"""The clock of a sequence: when each step happened, and what a duration means on it.

A step owns the time from its own stamp up to the next one; the last step lasts as long as the median step. Dates are
kept as whole ticks of their own unit, so that comparisons are exact; clocks of plain numbers may be floats.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from nofluke.errors import InputError

Duration = int
"""A length of time in nanoseconds, as a Python integer: no overflow, no rounding."""

_NANOSECONDS: dict[str, int] = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
_UNITS: dict[str, int] = {
    **_NANOSECONDS,
    "µs": 10**3,
    "sec": 10**9,
    "min": 60 * 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
    "d": 86400 * 10**9,
    "w": 7 * 86400 * 10**9,
}
_PART = re.compile(r"\s*(\d+)(?:\.(\d+))?\s*([a-zµ]+)")


def parse_duration(text: str, name: str) -> Duration:
    """Read ``"2h"``, ``"1h30min"``, ``"1.5 s"``, ``"3d"`` as nanoseconds.

    >>> parse_duration("1h30min", "tolerance") == 90 * 60 * 10**9
    True
    """
    total, end = 0, 0
    for part in _PART.finditer(text.lower()):
        whole, fraction, unit = part.groups()
        if part.start() != end or unit not in _UNITS:
            break
        fraction = fraction or ""
        total += int(whole + fraction) * _UNITS[unit] // 10 ** len(fraction)
        end = part.end()
    if end == 0 or text[end:].strip():
        raise InputError(
            f"{name}={text!r} is not a duration: write a number and a unit "
            f'({", ".join(u for u in _UNITS if u not in ("µs", "sec", "m"))}), such as "2h" or "1h30min".'
        )
    return total


def as_duration(value: object, name: str) -> Duration | None:
    """Nanoseconds of a string, ``timedelta`` or ``timedelta64``; None for anything that is no duration."""
    if isinstance(value, str):
        return parse_duration(value, name)
    if isinstance(value, np.timedelta64):
        if np.isnat(value):
            raise InputError(f"{name} is not a time (NaT): pass a duration such as '2h'.")
        return int(value.astype("timedelta64[ns]").astype(np.int64))
    if isinstance(value, timedelta):
        return (value.days * 86400 + value.seconds) * 10**9 + value.microseconds * 10**3
    return None


def format_duration(nanoseconds: float) -> str:
    """Write a duration the way people say it: ``2h``, ``90s``, ``1.5d``.

    >>> format_duration(90 * 60 * 10**9), format_duration(-36 * 3600 * 10**9)
    ('1.5h', '-1.5d')
    """
    size = abs(nanoseconds)
    fitting = [u for u in ("d", "h", "min", "s", "ms", "us") if size >= _UNITS[u]]
    unit = fitting[0] if fitting else "ns"
    return f"{nanoseconds / _UNITS[unit]:.6g}{unit}" if size else "0s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Strictly increasing times of the steps.

    Attributes
    ----------
    ticks : array
        int64 ticks of ``unit`` for dates; int64 or float64 for a clock of plain numbers.
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
        return float(np.median(np.diff(self.ticks))) if len(self.ticks) > 1 else 0.0

    def lasting(self, steps: npt.NDArray[np.bool_]) -> float:
        """Time that the given steps last together: nanoseconds on a clock of dates, else its own unit."""
        lengths = np.append(np.diff(self.ticks).astype(np.float64), self.step)
        return float(lengths[steps].sum()) * self.tick_size

    @property
    def tick_size(self) -> int:
        """Nanoseconds of a tick; 1 on a clock of plain numbers."""
        return _NANOSECONDS[self.unit] if self.unit is not None else 1

    def show(self, tick: Any) -> str:
        """One time of this clock, as text."""
        if self.unit is None:
            return f"{tick:g}"
        text = str(np.datetime64(int(tick), self.unit)).removesuffix("T00:00:00")
        return text + ("Z" if self.aware else "")

    def between(self, early: Duration | float, late: Duration | float) -> tuple[Any, Any]:
        """The two tolerances in ticks, cut to the clock's span so that no sum can overflow."""
        span = self.ticks[-1] - self.ticks[0]
        if self.unit is not None:
            # all times are whole ticks, so a tolerance that ends between two ticks reaches the lower one
            return tuple(np.int64(min(int(d) // self.tick_size, int(span))) for d in (early, late))  # type: ignore[return-value]
        slack = 0.0
        if self.ticks.dtype.kind == "f":
            # 0.8 - 0.7 exceeds 0.1 by rounding alone: closed windows need a few units in the last place
            slack = 4 * float(np.spacing(np.abs(self.ticks).max()))
        return min(float(early) + slack, float(span)), min(float(late) + slack, float(span))

    def steps_at(self, times: npt.NDArray[Any], name: str) -> npt.NDArray[np.int64]:
        """Step of each time: the last step at or before it. Times outside the clock are an error that lists them."""
        last = self.ticks[-1]
        end = last + self.step
        inside = (times >= self.ticks[0]) & ((times < end) | (times == last))
        if not inside.all():
            outside = times[~inside]
            raise InputError(
                f"{name} has {len(outside)} time(s) outside the clock ({self.show(self.ticks[0])} to {self.show(last)}): "
                f"{listing(outside, self.show)}: remove them, or pass the scores of that time too."
            )
        return np.searchsorted(self.ticks, times, side="right").astype(np.int64) - 1


def as_ticks(values: npt.NDArray[Any], unit: str | None = None) -> tuple[npt.NDArray[Any], str | None]:
    """Ticks and their unit, of dates or numbers; dates are brought to ``unit`` (rounded down to it) where it is given."""
    if values.dtype.kind != "M":
        return values, None
    own = np.datetime_data(values.dtype)[0]
    target = unit or (own if own in _NANOSECONDS else "s")
    return values.astype(f"datetime64[{target}]").astype(np.int64), target


def make_clock(values: npt.NDArray[Any], name: str, aware: bool = False) -> Clock:
    """A clock from checked, one-dimensional dates or numbers: no gaps in it, strictly increasing."""
    missing = np.isnat(values) if values.dtype.kind == "M" else ~np.isfinite(values.astype(np.float64))
    if missing.any():
        where = np.flatnonzero(missing)
        raise InputError(
            f"{name} has {len(where)} missing or infinite time(s) at position(s) {listing(where)}: every step needs a time."
        )
    ticks, unit = as_ticks(values)
    clock = Clock(ticks=ticks, unit=unit, aware=aware)
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
