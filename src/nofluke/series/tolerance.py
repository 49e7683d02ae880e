"""Tolerance: how far from an event a prediction may lie and still count.

One relation serves both measures: a prediction at p counts for an event at q if q - early <= p <= q + late, closed at
both ends. Seen from the event, predictions in [q - early, q + late] find it; seen from the prediction, events in
[p - late, p + early] make it a hit. Steps, clocks and masks all end up as index ranges, and everything after this
module works on those.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal

import numpy as np

from nofluke.arrays import IntArray
from nofluke.dates import as_duration, format_duration
from nofluke.errors import InputError, shown
from nofluke.plain import check_word, number_or_none, whole_or_none
from nofluke.series.clock import Clock

Length = int | float | str | timedelta | np.timedelta64
Unit = Literal["steps", "ns", "clock"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranges:
    """For each step t, the half-open range of steps ``starts[t]:stops[t]`` that its window reaches; empty if none does."""

    starts: IntArray = field(repr=False)
    stops: IntArray = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """How many steps, or how much time, a prediction may be early or late.

    A prediction at p counts for an event at q if ``q - early <= p <= q + late``: closed at both ends.

    Parameters
    ----------
    early, late : int, str, timedelta or timedelta64, or float with ``unit="clock"``
        Whole numbers are steps. Durations ("2h", "1h30min", ``timedelta``) need data with a clock of dates; the
        window is then in time, however many steps that is. Neither may be negative.
    unit : {"steps", "ns", "clock"}, optional
        What the numbers count; found by itself except on a clock of plain numbers (seconds, sample numbers), where
        ``unit="clock"`` reads them in the clock's own unit. Durations are kept as nanoseconds, ``unit="ns"``.

    References
    ----------
    Scharwächter and Müller (2020), equations 2 and 3, for the symmetric case early = late = δ.

    Examples
    --------
    >>> import nofluke as nf
    >>> nf.Tolerance(early=0, late=3)
    Tolerance(early=0, late=3, unit='steps')
    >>> print(nf.Tolerance(early="30min", late="2h"))
    30min early to 2h late
    >>> nf.evaluate([0, 1, 0, 0], [0, 0, 0, 1], threshold=1, tolerance=nf.Tolerance(early=0, late=2)).recall
    1.0
    """

    early: Length
    late: Length
    unit: Unit | None = None

    def __post_init__(self) -> None:
        if self.unit is not None:
            check_word(self.unit, "unit", ("steps", "ns", "clock"))
        early, early_unit = _side(self.early, "early", self.unit)
        late, late_unit = _side(self.late, "late", self.unit)
        if early_unit != late_unit and early and late:
            raise InputError(
                f"early={shown(self.early)} and late={shown(self.late)} must both be steps or both be durations."
            )
        # a plain 0 goes with any unit: early=0, late="2h"; where both are 0, a duration says more than a 0
        unit = late_unit if early == 0 and (late or early_unit == "steps") else early_unit
        object.__setattr__(self, "early", early)
        object.__setattr__(self, "late", late)
        object.__setattr__(self, "unit", unit)

    @property
    def zero(self) -> bool:
        """Whether only a prediction on the event's own step counts."""
        return self.early == self.late == 0

    def swapped(self) -> Tolerance:
        """Early and late exchanged: the tolerance of the sequence reversed in time."""
        return Tolerance(early=self.late, late=self.early, unit=self.unit)

    def __str__(self) -> str:
        if self.early == self.late:
            return self._show(self.early)
        return f"{self._show(self.early)} early to {self._show(self.late)} late"

    def plain(self) -> Any:
        """For JSON: a number of steps or of the clock's units, a duration as text; early and late apart if they differ."""
        sides: tuple[Any, Any] = (self.early, self.late)
        early, late = (format_duration(side) if self.unit == "ns" else side for side in sides)
        return early if early == late else {"early": early, "late": late}

    def _show(self, value: Any) -> str:
        if self.unit == "ns":
            return format_duration(value)
        unit = {"steps": "step", "clock": "time unit"}[self.unit or "steps"]
        return f"{value:g} {unit}" if value == 1 else f"{value:g} {unit}s"

    def event_ranges(self, n: int, clock: Clock | None) -> Ranges:
        """For each step seen as a prediction, the steps whose events make it a hit: [p - late, p + early]."""
        if self.unit == "steps":
            return self._ranges(n, clock, before=self.late, after=self.early)
        # the same relation read the other way, not reckoned anew: on a clock of floats that could round otherwise
        found_by = self.prediction_ranges(n, clock)
        steps = np.arange(n, dtype=np.int64)
        return Ranges(
            starts=np.searchsorted(found_by.stops, steps, side="right").astype(np.int64),
            stops=np.searchsorted(found_by.starts, steps, side="right").astype(np.int64),
        )

    def prediction_ranges(self, n: int, clock: Clock | None) -> Ranges:
        """For each step seen as an event, the steps whose predictions find it: [q - early, q + late]."""
        return self._ranges(n, clock, before=self.early, after=self.late)

    def _ranges(self, n: int, clock: Clock | None, before: Any, after: Any) -> Ranges:
        if self.unit == "steps":
            steps = np.arange(n, dtype=np.int64)
            return Ranges(
                starts=np.clip(steps - min(before, n), 0, n),
                stops=np.clip(steps + (min(after, n) + 1), 0, n),
            )
        self.check(clock)
        starts, stops = clock.windows(before, after)  # type: ignore[union-attr]  # checked
        return Ranges(starts=starts, stops=stops)

    def check(self, clock: Clock | None) -> None:
        """Refuse a clock that this tolerance does not fit."""
        if self.unit == "steps":
            return
        if clock is None:
            raise InputError(
                f"tolerance of {self} is a length of time, but the data has no clock: pass times=, or a number of steps."
            )
        if clock.is_dates is not (self.unit == "ns"):
            remedy = (
                'a clock of dates needs a duration such as "2h"'
                if clock.is_dates
                else 'a clock of plain numbers needs a plain number, with Tolerance(early=..., late=..., unit="clock")'
            )
            raise InputError(f"tolerance of {self} does not fit the clock: {remedy}.")


def _side(value: Length, name: str, unit: Unit | None) -> tuple[int | float, Unit]:
    """One end of the window, checked: a number and what it counts."""
    duration = as_duration(value, name)
    number: int | float
    if duration is not None:
        if unit in ("steps", "clock"):
            raise InputError(f"{name}={shown(value)} is a duration, but unit={unit!r} asks for a plain number.")
        number, unit = duration, "ns"
    elif unit == "clock":
        number = _number(value, name)
    else:
        number, unit = _whole(value, name), unit or "steps"
    size = number_or_none(number)  # None for a whole number beyond all floats
    if size is None or not 0 <= size < math.inf:
        raise InputError(
            f"{name}={shown(value)} must be finite and not negative: 0 or more, counted away from the event."
        )
    return number, unit


def _number(value: Any, name: str) -> int | float:
    number = None if isinstance(value, bool | np.bool_) else number_or_none(value)
    if number is None:
        raise InputError(f"{name}={shown(value)} must be a number in the clock's unit.")
    whole = whole_or_none(value)
    return number if whole is None or whole == number else whole  # a whole clock counts further than floats do


def _whole(value: Any, name: str) -> int:
    whole = whole_or_none(value)
    if whole is not None:
        return whole
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return int(value)
    raise InputError(
        f"{name}={shown(value)} must be a whole number of steps, or a duration such as '2h' where the data has a clock; for two "
        "different sides pass Tolerance(early=..., late=...), on a clock of plain numbers with unit='clock'."
    )


def as_tolerance(value: Length | Tolerance, name: str = "tolerance", unit: Unit | None = None) -> Tolerance:
    """A tolerance from a number of steps, a duration or a Tolerance; one value is used on both sides."""
    if isinstance(value, Tolerance):
        return value
    number, found = _side(value, name, unit)
    return Tolerance(early=number, late=number, unit=found)
