"""Dates and durations: whole numbers of their own unit, so that nothing is rounded and nothing overflows in silence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from nofluke.errors import InputError, Nameable, Naming

Duration = int
"""A length of time in nanoseconds, as a Python integer: no overflow, no rounding."""

NANOSECONDS: dict[str, int] = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
_UNITS: dict[str, int] = {
    **NANOSECONDS,
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
_MINUS = re.compile(r"\s*-")
_DATE_ONLY = re.compile(r"\s*\d{4}-\d\d-\d\d\s*")
_MOST_DIGITS = 300  # of a number in a duration: more than any float holds
_LONG = 3_600.0  # seconds between two times of a heading, of which nobody reads fractions

UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")
"""Units of NumPy's dates, from coarse to fine."""


def parse_duration(text: str, name: str, *, signed: bool = False) -> Duration:
    """Read ``"2h"``, ``"1h30min"``, ``"1.5 s"``, ``"3d"`` as nanoseconds; ``"-2h"`` only where a sign is allowed.

    >>> parse_duration("1h30min", "tolerance") == 90 * 60 * 10**9
    True
    >>> parse_duration("-1s", "late", signed=True)
    -1000000000
    """
    minus = _MINUS.match(text) if signed else None
    total, begin = 0, minus.end() if minus else 0
    end = begin
    for part in _PART.finditer(text, begin):
        whole, fraction, unit = part[1], part[2] or "", part[3].lower()
        if part.start() == end and part[3] in _AMBIGUOUS:
            raise InputError(argument=name, value=text, problem=_AMBIGUOUS[part[3]])
        if part.start() != end or unit not in _UNITS or not 0 < len(whole + fraction) <= _MOST_DIGITS:
            break
        total += int(whole + fraction) * _UNITS[unit] // 10 ** len(fraction)
        end = part.end()
    if end == begin or text[end:].strip():
        negative = not signed and re.match(r"\s*-\s*[\d.]", text)
        sign = "is negative" if negative else "is not a duration"
        raise InputError(
            argument=name,
            value=text,
            problem=sign,
            remedy=f"write a number and a unit ({', '.join(u for u in _UNITS if u not in ('µs', 'μs', 'sec', 'm'))}"
            '), such as "2h" or "1h30min"',
        )
    return -total if minus else total


def as_duration(value: object, name: str, *, signed: bool = False) -> Duration | None:
    """Nanoseconds of a string, ``timedelta`` or ``timedelta64``; None for anything that is no duration.

    Text has a minus only where ``signed`` allows it; objects have their own sign, for the caller to check.
    """
    if isinstance(value, str):
        return parse_duration(value, name, signed=signed)
    if isinstance(value, np.timedelta64):
        if np.isnat(value):
            raise InputError(argument=name, problem="is not a time (NaT)", remedy="pass a duration such as '2h'")
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
        argument=name,
        value=value,
        problem="has no fixed length",
        remedy="pass a duration in days or smaller units, such as '30d'",
    )


def format_duration(nanoseconds: float) -> str:
    """Write a duration as people say it, ``2h`` or ``1.5d``, with whole nanoseconds to be read back exactly.

    >>> format_duration(90 * 60 * 10**9), format_duration(-36 * 3600 * 10**9), format_duration(100_001 * 10**9)
    ('1.5h', '-1.5d', '100001s')
    >>> format_duration(-97e9)
    '-97s'
    """
    if isinstance(nanoseconds, float) and nanoseconds.is_integer():
        nanoseconds = int(nanoseconds)
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


YEAR = 365.2425 * 86_400e9
NEARLY = 1e-4  # of a year: periods and tolerances of 365.24 days are meant to be one


def said_duration(nanoseconds: float) -> str:
    """A duration for sentences: as it is written, or in years where that takes hours or minutes.

    >>> said_duration(525_946 * 60 * 10**9), said_duration(-2 * 525_949 * 60 * 10**9), said_duration(97 * 10**9)
    ('a year', '-2 years', '97s')
    >>> said_duration(365 * 86_400 * 10**9), said_duration(365.25 * 86_400e9), said_duration(100_001 * 10**9)
    ('365d', '365.25d', '100001s')
    """
    text, years = format_duration(nanoseconds), abs(nanoseconds) / YEAR
    if text.endswith("d") or round(years) < 1 or abs(years - round(years)) > NEARLY * years:
        return text
    sign = "-" if nanoseconds < 0 else ""
    return f"{sign}a year" if round(years) == 1 else f"{sign}{round(years):,} years"


@dataclass(frozen=True, slots=True)
class Lasting(Nameable):
    """A duration in a sentence, in the words for it or in the unit that is asked for."""

    nanoseconds: float
    words: str

    def __str__(self) -> str:
        return self.words

    def called(self, names: Naming) -> str:
        """In that unit."""
        if not names.time_unit:
            return self.words
        return f"{self.nanoseconds / _UNITS[names.time_unit]:.6g}{names.time_unit}"


def rounded_duration(nanoseconds: float) -> str:
    """A duration in four digits at most, for sentences.

    >>> rounded_duration(14_544_343_362), rounded_duration(90 * 60 * 10**9), rounded_duration(11.5782 * 86400e9)
    ('14.54s', '1.5h', '11.58d')
    """
    size = abs(nanoseconds)
    unit = next((u for u in ("d", "h", "min", "s", "ms", "us") if size >= _UNITS[u]), "ns")
    many = nanoseconds / _UNITS[unit]
    return f"{many:,.0f}{unit}" if abs(many) >= 1000 else f"{many:.4g}{unit}"


def for_heading(*times: str, seconds: float) -> tuple[str, ...]:
    """Times of dates as text, for a heading: without fractions of seconds where they are an hour apart or more.

    >>> for_heading("2020-01-01T00:00:00.123456789Z", "2020-01-08", seconds=7 * 86_400)
    ('2020-01-01T00:00:00Z', '2020-01-08')
    """
    return tuple(re.sub(r"(:\d\d)\.\d+", r"\1", time) if seconds >= _LONG else time for time in times)


def is_day(end: Any) -> bool:
    """Whether an end is a date without a time of day, and so means all of that day."""
    if isinstance(end, str):
        return _DATE_ONLY.fullmatch(end) is not None
    if isinstance(end, np.datetime64):
        return np.datetime_data(end.dtype)[0] == "D"
    return isinstance(end, date) and not isinstance(end, datetime)


def converted(dates: npt.NDArray[Any], unit: str) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """Dates in another unit, rounded down to it, and which of them it can hold.

    Beyond its reach NumPy's dates wrap around, up to NumPy 2.4, or one of them is an error for all, since 2.5.
    """
    dtype = np.dtype(f"datetime64[{unit}]")
    if UNITS.index(np.datetime_data(dates.dtype)[0]) > UNITS.index(unit):
        return dates.astype(dtype), np.ones(len(dates), dtype=np.bool_)  # a coarser unit reaches further
    try:
        there = dates.astype(dtype)
        return there, np.asarray((there.astype(dates.dtype) == dates) | np.isnat(dates))
    except OverflowError:
        there = np.array([_one_converted(date, dtype) for date in dates], dtype=dtype)
        return there, np.asarray(np.isnat(there) == np.isnat(dates))


def _one_converted(date: Any, dtype: np.dtype[Any]) -> Any:
    try:
        return date.astype(dtype)
    except OverflowError:
        return "NaT"


def in_unit(dates: npt.NDArray[Any], unit: str, name: str) -> npt.NDArray[Any]:
    """Dates in another unit, rounded down to it; those that it cannot hold are refused."""
    there, fits = converted(dates, unit)
    if not fits.all():
        at = int(np.flatnonzero(~fits)[0])
        reach = " (they reach from 1677 to 2262)" if unit == "ns" else ""
        raise InputError(
            argument=name,
            problem=f"has {int((~fits).sum())} date(s) too far away for times in {unit}{reach}, first {dates[at]} at "
            f"position {at}",
            remedy="round all times to a coarser unit, or leave those out",
        )
    return there


_DATE = re.compile(
    r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?:([ T]\s*)\d{1,2}:\d\d(:\d\d)?(\.\d+)?(\s?[AaPp][Mm])?)?"
)


def likely_format(text: str) -> str:
    """The format in which a date that is not ISO 8601 seems to be written; days come first where either may.

    >>> likely_format("01.12.2024 00:00"), likely_format("12/31/24 11:59:00 PM"), likely_format("soon")
    ('%d.%m.%Y %H:%M', '%m/%d/%y %I:%M:%S %p', '%d/%m/%Y')
    """
    match = _DATE.fullmatch(text.strip())
    if match is None:
        return "%d/%m/%Y"
    first, sep, second, year, blank, seconds, fraction, half = match.groups()
    days = ("%m", "%d") if int(second) > 12 >= int(first) else ("%d", "%m")
    date = sep.join((*days, "%Y" if len(year) == 4 else "%y"))
    if blank is None:
        return date
    time = ("%I" if half else "%H") + ":%M" + (":%S" if seconds else "") + (".%f" if fraction else "")
    return f"{date}{blank}{time}{(' %p' if half[0].isspace() else '%p') if half else ''}"
