"""Where an axis has its ticks, and their text: steps of 1, 2 or 5, or the divisions of calendars and clocks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000  # milliseconds
CLOCK = (
    *(SECOND * n for n in (1, 2, 5, 10, 15, 30)),
    *(MINUTE * n for n in (1, 2, 5, 10, 15, 30)),
    *(HOUR * n for n in (1, 2, 3, 6, 12)),
    *(DAY * n for n in (1, 2, 7, 14)),
)
NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MONTHS = (1, 2, 3, 6)
SHORTEST, LONGEST = 1e-4, 1e7  # steps and numbers beyond are written with an exponent
MONTH = 30.44 * DAY  # on average


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on an axis, and what is written there."""

    at: float
    text: str


def number_ticks(low: float, high: float, *, most: int = 6, whole: bool = False) -> list[Tick]:
    """At most so many ticks from low to high; of whole numbers only whole ones.

    >>> [tick.text for tick in number_ticks(-0.03, 1.04)], [tick.text for tick in number_ticks(0, 3, whole=True)]
    (['0', '0.2', '0.4', '0.6', '0.8', '1'], ['0', '1', '2', '3'])
    """
    length = high / 2 - low / 2  # half of it: the whole may be more than a float holds
    if not (length > 0 and math.isfinite(length)):
        return [Tick(low, f"{low:.4g}".replace("-", "−"))] if math.isfinite(low) else []
    step = good_step(length, most / 2)
    step = max(step, 1.0) if whole else step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    if last - first > 2 * most:  # neighbouring floats, or no number is as long as the axis
        return []
    long = step < SHORTEST or max(-low, high) >= LONGEST
    # floats may be so coarse here that the last multiple lies beyond the axis
    places = (i * step for i in range(first, last + 1))
    slack = 1e-9 * step
    return [Tick(at, _number(at, step, long)) for at in places if low - slack <= at <= high + slack]


def good_step(length: float, most: float) -> float:
    """The smallest of 1, 2 or 5 times a power of ten that divides a length into at most so many parts.

    >>> good_step(1.0, 6), good_step(37, 5), good_step(0.3, 4)
    (0.2, 10.0, 0.1)
    """
    rough = length / max(most, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    return next((float(f"{n * power:.6g}") for n in (1, 2, 5) if n * power >= rough * (1 - 1e-9)), 10 * power)


def date_ticks(low: float, high: float, *, most: int = 8) -> list[Tick]:
    """Ticks between two times in milliseconds since 1970: whole years, months, days, hours, minutes or seconds.

    >>> [tick.text for tick in date_ticks(0, 3.2e11)]
    ['1970', '1972', '1974', '1976', '1978', '1980']
    >>> [tick.text for tick in date_ticks(0, 4e7)]
    ['00:00\\n1 Jan 1970', '02:00', '04:00', '06:00', '08:00', '10:00']
    """
    if not (math.isfinite(low) and math.isfinite(high)) or high - low < SECOND or max(-low, high) > 9e15:
        return []
    step = next((step for step in CLOCK if (high - low) / step <= most), None)
    if step is None:
        return _calendar_ticks(low, high, most)
    # weeks begin on Mondays, and the first day of 1970 was a Thursday
    origin = 4 * DAY if step >= 7 * DAY else 0
    places = [
        origin + i * step for i in range(math.ceil((low - origin) / step), math.floor((high - origin) / step) + 1)
    ]
    return _named(places, "day" if step >= DAY else "minute" if step >= MINUTE else "second")


def _calendar_ticks(low: float, high: float, most: int) -> list[Tick]:
    month = next((n for n in MONTHS if (high - low) / (n * MONTH) <= most), None)
    step = month or round(12 * max(good_step((high - low) / (12 * MONTH), most), 1.0))
    first, last = (int(np.datetime64(int(at), "ms").astype("datetime64[M]").astype(np.int64)) for at in (low, high))
    # months since 1970, in which years begin at multiples of 12; steps of years count from the year 0
    since = 0 if month else -1970 * 12
    months = range(first - (first - since) % step, last + 1, step)
    places = [int(np.datetime64(m, "M").astype("datetime64[ms]").astype(np.int64)) for m in months]
    return _named([at for at in places if low <= at <= high], "month" if month else "year")


def _named(places: list[int], unit: str) -> list[Tick]:
    """Each with as much of its date as needed: in full only where the day or year differs from the one before."""
    made, before = [], ""
    for at in places:
        date = np.datetime64(at, "ms")
        year, month, day = (int(part) for part in str(date.astype("datetime64[D]")).rsplit("-", 2))
        name = NAMES[month - 1]
        if unit == "year":
            made.append(Tick(at, str(year)))
            continue
        short, full = {
            "month": (name, str(year)),
            "day": (f"{day} {name}", str(year)),
        }.get(unit, (str(date)[11 : 16 if unit == "minute" else 19], f"{day} {name} {year}"))
        made.append(Tick(at, short if full == before else f"{short}\n{full}"))
        before = full
    return made


def _number(value: float, step: float, long: bool) -> str:
    """As many digits as tell it from its neighbours."""
    place = math.floor(math.log10(step) + 1e-9)
    if not long:
        text = f"{value + 0.0:,.{max(-place, 0)}f}"  # 0.0 more, or there were a negative zero
        return (text.rstrip("0").rstrip(".") if place < 0 else text).replace("-", "−")
    if value == 0:
        return "0"
    digits = max(math.floor(math.log10(abs(value)) + 1e-9) - place, 0)
    number, _, power = f"{value:.{digits}e}".partition("e")
    return f"{number.rstrip('0').rstrip('.') if digits else number}e{int(power)}".replace("-", "−")
