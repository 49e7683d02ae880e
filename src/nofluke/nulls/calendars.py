"""Rules of the calendar: where a time lies in its hour, day, week, month or year, by the clock on the wall.

A rule cuts time into cycles, such as days, and each cycle into phases, such as hours. Cycles of a fixed length may be
cut more finely; months are as long as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nofluke.arrays import IntArray
from nofluke.dates import NANOSECONDS
from nofluke.errors import InputError, arg, say
from nofluke.series.clock import Clock, Zone

MINUTE, HOUR, A_DAY, WEEK = 60, 3_600, 86_400, 7 * 86_400  # seconds
MONDAY = 3 * A_DAY  # 1970 began on a Thursday
Dates = npt.NDArray[np.datetime64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of the calendar.

    Attributes
    ----------
    seconds : float
        After which it repeats, on average.
    phases : int
        Of a cycle, unless others are asked for.
    widths : tuple of int
        Lengths of phases that people keep: seconds, or days or months where cycles are not of one length.
    dated : function or None
        From days to the cycle and the phase of each, where cycles are not of one length.
    begins : str
        Unit of NumPy's in which such phases begin.
    share : int
        Of the level at which all rules are looked for: more for those that most data follow.
    """

    seconds: float
    phases: int
    widths: tuple[int, ...]
    dated: Callable[[Dates], tuple[IntArray, IntArray]] | None = None
    begins: str = "s"
    share: int = 1

    @property
    def regular(self) -> bool:
        """Whether all cycles and phases are of one length."""
        return self.dated is None

    def unit_of(self, unit: str) -> tuple[int, int]:
        """What widths are counted in, in places of a cycle; and how many of these a cycle has."""
        if not self.regular:
            return 1, self.phases
        a_second = NANOSECONDS["s"] // NANOSECONDS[unit]
        return a_second, int(self.seconds) * a_second

    def places(self, local: IntArray, unit: str) -> tuple[IntArray, IntArray]:
        """The cycle of each time, as a number, and its place in it; times are ticks of local time."""
        if self.dated is not None:
            days = local // (A_DAY * (NANOSECONDS["s"] // NANOSECONDS[unit]))
            first, last = int(days.min()), int(days.max())
            if last - first > len(days):
                return self.dated(days.astype("datetime64[D]"))
            cycle, phase = self.dated(np.arange(first, last + 1).astype("datetime64[D]"))  # few days have many times
            return cycle[days - first], phase[days - first]
        a_second, length = self.unit_of(unit)
        since = local + MONDAY * a_second
        cycle = since // length
        return cycle, np.asarray(since - cycle * length)

    def phase(self, local: IntArray, unit: str, bins: int | None = None) -> IntArray:
        """The phase of each time."""
        place = self.places(local, unit)[1]
        return np.asarray(place // (self.unit_of(unit)[1] // (bins or self.phases)))

    def bounds(self, first: int, last: int, bins: int | None = None) -> IntArray:
        """Where phases begin in local time, in seconds, from at or before the first to at or before the last."""
        if self.dated is None:
            width = int(self.seconds) // (bins or self.phases)
            return np.arange((first + MONDAY) // width, (last + MONDAY) // width + 1) * width - MONDAY
        low, high = np.array([first, last]).astype("datetime64[s]").astype(f"datetime64[{self.begins}]")
        begins = np.arange(low, high + np.array(1, dtype=f"timedelta64[{self.begins}]"))
        return begins.astype("datetime64[s]").astype(np.int64)

    def finest(self, most: float, step: float = 0.0) -> int:
        """As many phases as people would keep, at most so many, none shorter than a step of so many seconds."""
        fits = [self.seconds // width for width in self.widths if self.regular and width >= step]
        return int(max((many for many in fits if self.phases < many <= most), default=self.phases))


def _months(days: Dates) -> tuple[Dates, IntArray]:
    months = days.astype("datetime64[M]")
    return months, months.astype(np.int64)


def _day_of_month(days: Dates) -> tuple[IntArray, IntArray]:
    months, number = _months(days)
    return number, (days - months.astype("datetime64[D]")).astype(np.int64)


def _day_from_end(days: Dates) -> tuple[IntArray, IntArray]:
    months, number = _months(days)
    return number, ((months + 1).astype("datetime64[D]") - days).astype(np.int64) - 1


def _month_of_year(days: Dates) -> tuple[IntArray, IntArray]:
    years, months = np.divmod(_months(days)[1], 12)
    return years, months


_JOBS = tuple(MINUTE * minutes for minutes in (1, 5, 10, 15, 20, 60, 120, 240, 480))
_MONTH: dict[str, Any] = {"seconds": 365.2425 / 12 * A_DAY, "phases": 31, "widths": (1, 2, 4), "begins": "D"}

RULES: dict[str, Rule] = {
    "hour of day": Rule(seconds=A_DAY, phases=24, widths=_JOBS, share=4),
    "day of week": Rule(seconds=WEEK, phases=7, widths=(A_DAY,), share=2),
    "month": Rule(seconds=365.2425 * A_DAY, phases=12, widths=(1, 2, 3), dated=_month_of_year, begins="M"),
    "hour of week": Rule(seconds=WEEK, phases=168, widths=tuple(MINUTE * minutes for minutes in (15, 60, 240, 480))),
    "minute of hour": Rule(seconds=HOUR, phases=60, widths=(MINUTE, 5 * MINUTE, 10 * MINUTE, 20 * MINUTE)),
    "minute of quarter hour": Rule(seconds=15 * MINUTE, phases=15, widths=(MINUTE, 5 * MINUTE)),
    "day of month": Rule(dated=_day_of_month, **_MONTH),
    "day of month from its end": Rule(dated=_day_from_end, **_MONTH),
}
"""What `Seasonal` takes as a period, and what is looked for."""


def check_bins(rule: str, bins: int | None, name: str = "bins") -> None:
    """Refuse a number of phases that does not cut a cycle into whole seconds."""
    known = RULES[rule]
    if bins is None or (known.regular and known.seconds % bins == 0):
        return
    raise InputError(
        argument=name,
        value=bins,
        problem=f"does not go with {rule!r}, which "
        + (f"lasts {int(known.seconds):,} seconds" if known.regular else "has phases of its own"),
        remedy="pass a number that divides them" if known.regular else "leave it out",
    )


def calendar_phase(clock: Clock | None, rule: str, bins: int | None = None) -> IntArray:
    """The phase of each time of a clock of dates: days of the week from Monday on, all from 0."""
    if clock is None or not clock.is_dates:
        raise InputError(
            argument="period",
            value=rule,
            problem="needs a clock of dates",
            remedy=say("pass {}, or a period in steps", arg("times")),
        )
    return RULES[rule].phase(clock.local, str(clock.unit), bins)


def phase_bounds(rule: str, first: int, last: int, zone: Zone | None, bins: int | None = None) -> tuple[Any, Any]:
    """Where phases begin, in seconds of UTC, from at or before the first second to the last; and the phase of each.

    Where local time changes, a phase begins anew: an hour that comes twice is one phase, cut in two.
    """
    known = RULES[rule]
    since, east = (np.array([first]), np.array([0])) if zone is None else (zone.since, zone.east)
    stops = np.append(since[1:], max(last + 1, int(since[-1]) + 1))
    starts = np.append(min(first, int(since[0])), since[1:])
    begins, phases = [], []
    for start, stop, ahead in zip(starts.tolist(), stops.tolist(), east.tolist(), strict=True):
        if stop <= first or start > last:
            continue
        local = known.bounds(max(start, first) + ahead, min(stop, last + 1) - 1 + ahead, bins)
        begins.append(np.maximum(local - ahead, start) if start > first else local - ahead)
        phases.append(known.phase(local, "s", bins))
    return np.concatenate(begins), np.concatenate(phases)
