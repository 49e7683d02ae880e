"""How early or late a prediction may be, and what it reaches on each step."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from datetime import timedelta
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, IntArray
from nofluke.dates import Lasting, as_duration, format_duration, said_duration
from nofluke.errors import InputError, arg, passed, say, spoken
from nofluke.lazy import lazy
from nofluke.plain import check_word, exact_fraction, number_or_none, whole_or_none
from nofluke.series.clock import Clock

Length = int | float | str | timedelta | np.timedelta64
Unit = Literal["steps", "ns", "clock"]
UNITS = get_args(Unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranges:
    """For each step t, the half-open range ``starts[t]:stops[t]`` of steps that its window reaches; may be empty."""

    starts: IntArray = field(repr=False)
    stops: IntArray = field(repr=False)

    @property
    def typical(self) -> int:
        """The median of their lengths, rounded down; 0 where there are none."""
        lengths = np.sort(self.stops - self.starts)
        return int(lengths[(len(lengths) - 1) // 2] + lengths[len(lengths) // 2]) // 2 if len(lengths) else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """How many steps, or how much time, a prediction may be early or late.

    A prediction at p counts for an event at q if ``q - early <= p <= q + late``: closed at both ends.

    Parameters
    ----------
    early, late : int, str, timedelta or timedelta64, or float with ``unit="clock"``
        Whole numbers are steps. Durations ("2h", "1h30min", ``timedelta``) need data with a clock of dates; the
        window is then in time, however many steps that is. One may be negative, as long as something is left between
        them: ``early="3h", late="-1h"`` asks for an alarm between 1 h and 3 h before the event.
    unit : {"steps", "ns", "clock"}, optional
        What the numbers count; inferred except on a clock of plain numbers (seconds, sample numbers), where
        ``unit="clock"`` reads them in the clock's own unit. Durations are kept as nanoseconds, ``unit="ns"``.

    See Also
    --------
    nofluke.evaluate : takes one, or a plain number of steps.
    nofluke.sweep : takes several.
    nofluke.coincidence : takes one in time.

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
    >>> print(nf.Tolerance(early="3h", late="-1h"))
    1h to 3h early
    >>> print(nf.Tolerance(early="3h", late=0))
    0 to 3h early
    >>> nf.evaluate([0, 1, 0, 0], [0, 0, 0, 1], threshold=1, tolerance=nf.Tolerance(early=0, late=2)).recall
    1.0
    """

    early: Length
    late: Length
    unit: Unit | None = None

    def __post_init__(self) -> None:
        if self.unit is not None:
            check_word(self.unit, "unit", UNITS)
        early, early_unit = as_side(self.early, "early", self.unit)
        late, late_unit = as_side(self.late, "late", self.unit)
        if early_unit != late_unit and early and late:
            raise InputError(
                argument="early",
                value=self.early,
                problem=say("and {} must both be steps or both be durations", passed("late", self.late)),
            )
        # sums of decimal fractions miss 0 by a few units in the last place
        slack = 4 * math.ulp(max(abs(early), abs(late))) if isinstance(early + late, float) else 0
        if early + late < -slack:
            raise InputError(
                argument="early",
                value=self.early,
                problem=say("and {} leave no window", passed("late", self.late)),
                remedy=say(
                    "early + late must be at least 0, such as {} and {} for alarms from 3 h to 1 h before the event",
                    arg("early", "3h"),
                    arg("late", "-1h"),
                ),
            )
        late = max(late, -early)
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

    def lagged(self, lag: Length) -> Tolerance:
        """The window moved later by a lag: q + lag - early <= p <= q + lag + late; earlier for a negative lag.

        >>> print(Tolerance(early="1h", late="1h").lagged("2h"))
        1h to 3h late
        """
        by, unit = self._lag(lag)
        if by == 0:
            return self
        if unit != self.unit and any(self._numbers):
            wanted = {"steps": "a whole number of steps", "ns": "a duration such as '2h'", "clock": "a plain number"}
            raise InputError(
                argument="lag",
                value=lag,
                problem=f"does not fit the tolerance of {self}",
                remedy=f"pass {wanted[self.unit or 'steps']}",
            )
        return replace(self, unit=unit).by(by)

    def by(self, lag: int | float) -> Tolerance:
        """The same for a number in the tolerance's own unit, nanoseconds or steps or units of the clock."""
        early, late = self._numbers
        if self.unit == "clock":  # by their digits: 0.3 - 0.1 is 0.2
            before, after, move = (exact_fraction(number) for number in (early, late, lag))
            return Tolerance(early=_plainly(before - move), late=_plainly(after + move), unit="clock")
        return Tolerance(early=early - lag, late=late + lag, unit=self.unit)

    def moved_by(self, lag: Length) -> int | float:
        """A lag as the number that `lagged` moves both sides by: nanoseconds, steps or units of the clock."""
        return self._lag(lag)[0]

    def _lag(self, lag: Length) -> tuple[int | float, Unit]:
        # no tolerance at all has no unit: "2d" moves it as well as 2 does
        plain = self.unit == "clock" and (any(self._numbers) or number_or_none(lag) is not None)
        if plain and as_duration(lag, "lag", signed=True) is not None:
            raise InputError(
                argument="lag",
                value=lag,
                problem=f"is a duration, but the tolerance of {self} is a number",
                remedy="pass both as durations, or both as numbers",
            )
        return as_side(lag, "lag", "clock" if plain else None)

    @property
    def _numbers(self) -> tuple[Any, Any]:
        """Both sides, which are numbers once they are checked."""
        return self.early, self.late

    @property
    def aside(self) -> str:
        """Where the whole window lies: "early", before the event; "late", after it; else empty."""
        early, late = self._numbers
        return "early" if late < 0 else "late" if early < 0 else ""

    @property
    def side(self) -> str:
        """The only side of the event where alarms count, "early" or "late", besides its own time; else empty."""
        early, late = self._numbers
        return "early" if late <= 0 < early else "late" if early <= 0 < late else ""

    @property
    def distance(self) -> str:
        """How far from the event a window on one side of it lies: "1h to 3h", "0 to 3 steps"; or one instant."""
        near, far = sorted(abs(side) for side in self._numbers)
        if near == far:
            return self._show(far)
        return say("{} to {}", self._show(near) if self.unit == "ns" else f"{near:g}", self._show(far))

    def __str__(self) -> str:
        return str(self.in_words())

    def in_words(self) -> str:
        """The tolerance for a sentence."""
        if self.side:
            return say("{} {}", self.distance, self.side)
        if self.early == self.late:
            return self._show(self.early)
        return say("{} early to {} late", self._show(self.early), self._show(self.late))

    def plain(self) -> Any:
        """For JSON: a number of steps or clock units, or a duration as text; early and late apart if they differ."""
        sides: tuple[Any, Any] = (self.early, self.late)
        early, late = (format_duration(side) if self.unit == "ns" else side for side in sides)
        return early if early == late else {"early": early, "late": late}

    def _show(self, value: Any) -> str:
        if self.unit == "ns":  # no length at all has no unit: seconds would be odd for days
            return say("{}", Lasting(value, said_duration(value))) if value else "0"
        unit = {"steps": "step", "clock": "time unit"}[self.unit or "steps"]
        return f"{value:g} {unit}" if value == 1 else f"{value:g} {unit}s"

    def event_ranges(self, n: int, clock: Clock | None) -> Ranges:
        """For each step seen as a prediction, the steps whose events make it a hit: [p - late, p + early]."""
        if self.unit == "steps":
            return self._ranges(n, clock, before=self.late, after=self.early)
        # the same relation read the other way, not computed again: on a clock of floats that could round differently
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
            back, ahead = (min(max(side, -n), n) for side in (before, after))
            return Ranges(starts=np.clip(steps - back, 0, n), stops=np.clip(steps + (ahead + 1), 0, n))
        self.check(clock)
        starts, stops = clock.windows(before, after)  # type: ignore[union-attr]  # checked
        return Ranges(starts=starts, stops=stops)

    def check(self, clock: Clock | None) -> None:
        """Refuse a clock that this tolerance does not fit."""
        if self.unit == "steps":
            return
        if clock is None:
            raise InputError(
                argument="tolerance",
                problem=f"of {self} is a length of time, but the data has no clock",
                remedy=say("pass {}, or a number of steps", arg("times")),
            )
        if clock.is_dates is not (self.unit == "ns"):
            remedy = (
                'a clock of dates needs a duration such as "2h"'
                if clock.is_dates
                else say(
                    "a clock of plain numbers needs a plain number, with {}",
                    spoken('Tolerance(early=..., late=..., unit="clock")', shell="--unit clock"),
                )
            )
            raise InputError(argument="tolerance", problem=f"of {self} does not fit the clock", remedy=remedy)


def as_side(value: Length, name: str, unit: Unit | None, *, signed: bool = True) -> tuple[int | float, Unit]:
    """One end of the window, checked: a number and what it counts; both ends at once where no sign is allowed."""
    duration = as_duration(value, name, signed=signed)
    number: int | float
    if duration is not None:
        if unit in ("steps", "clock"):
            raise InputError(
                argument=name,
                value=value,
                problem=say("is a duration, but {} asks for a plain number", passed("unit", unit)),
            )
        number, unit = duration, "ns"
    elif unit == "clock":
        number = _number(value, name)
    else:
        number, unit = _whole(value, name), unit or "steps"
    size = number_or_none(number)  # None for a whole number beyond all floats
    if not signed and (size is None or not 0 <= size < math.inf):
        raise InputError(
            argument=name,
            value=value,
            problem="must be finite and not negative",
            remedy="0 or more, counted away from the event",
        )
    if size is None or not math.isfinite(size):
        raise InputError(
            argument=name,
            value=value,
            problem="must be finite",
            remedy="positive away from the event, negative to its other side",
        )
    return number + 0, unit  # no negative zero


def _number(value: Any, name: str) -> int | float:
    number = None if isinstance(value, bool | np.bool_) else number_or_none(value)
    if number is None:
        raise InputError(argument=name, value=value, problem="must be a number in the clock's unit")
    whole = whole_or_none(value)
    return number if whole is None or whole == number else whole  # a whole clock counts further than floats do


def _whole(value: Any, name: str) -> int:
    whole = whole_or_none(value)
    if whole is not None:
        return whole
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return int(value)
    raise InputError(
        argument=name,
        value=value,
        problem=say(
            "must be a whole number of steps, or a duration such as '2h' where the data has a clock; {}",
            spoken(
                "for two different sides pass Tolerance(early=..., late=...), on a clock of plain numbers with "
                'unit="clock"',
                shell="for two different sides pass --early and --late, on a clock of plain numbers with --unit clock",
                needs="early",
                otherwise="on a clock of plain numbers pass --unit clock",
            ),
        ),
    )


def as_tolerance(value: Length | Tolerance, name: str = "tolerance", unit: Unit | None = None) -> Tolerance:
    """A tolerance from a number of steps, a duration or a Tolerance; one value is used on both sides."""
    if isinstance(value, Tolerance):
        return value
    number, found = as_side(value, name, unit, signed=False)
    return Tolerance(early=number, late=number, unit=found)


def _plainly(number: Fraction) -> int | float:
    return int(number) if number.denominator == 1 else float(number)


# ---- how far one tolerance reaches on one series: which predictions find which events


@dataclass(frozen=True, kw_only=True, eq=False)
class Reach:
    """A tolerance on a series with a mask and a clock, as ranges of the steps that count.

    One relation, seen from both sides: a prediction at p counts for an event at q if q - early <= p <= q + late. Ranges
    may be empty: a tolerance whose sides are negative reaches past the event, and then past the border.

    Attributes
    ----------
    tolerance : Tolerance
    open_steps : bool array
        Which of all steps count.
    clock : Clock or None
        Of all steps.
    """

    tolerance: Tolerance
    open_steps: BoolArray = field(repr=False)
    clock: Clock | None = field(repr=False, default=None)

    def __post_init__(self) -> None:
        self.tolerance.check(self.clock)

    @lazy
    def n_steps(self) -> int:
        """T, the steps that count."""
        return int(np.count_nonzero(self.open_steps))

    def around_events(self, first: IntArray, last: IntArray) -> Ranges:
        """The predictions that find each event from ``first`` to ``last``: from first - early to last + late."""
        if self._sides is not None:
            return self._sums(first, last, *self._sides)
        return Ranges(starts=self.cover.starts[first], stops=self.cover.stops[last])

    def around_times(self, begins: AnyArray, ends: AnyArray, opens: BoolArray | None = None) -> Ranges:
        """The predictions that find each event, from its own begin - early to its own end + late, on a clock."""
        if self.clock is None or self.tolerance.unit == "steps":
            raise InputError(argument="tolerance", problem=f"of {self.tolerance} is not a length of time on a clock")
        sides: tuple[Any, Any] = (self.tolerance.early, self.tolerance.late)
        starts, stops = self.clock.windows_around(begins, ends, *sides, opens)
        if self.n_steps < len(self.open_steps):
            rank = np.concatenate([[0], np.cumsum(self.open_steps)])
            starts, stops = rank[starts], rank[stops]
        return Ranges(starts=starts, stops=stops)

    def around_alarms(self, at: IntArray) -> Ranges:
        """The steps on which an event makes a hit of each prediction: from p - late to p + early."""
        if self._sides is not None:
            early, late = self._sides
            return self._sums(at, at, late, early)
        return Ranges(starts=self._hit_by.starts[at], stops=self._hit_by.stops[at])

    @lazy
    def typical(self) -> int:
        """Steps around an event on one of the steps that find it: their median, of up to two thousand events."""
        sides = self._sides
        if sides is not None and 4 * sum(map(abs, sides)) < self.n_steps:  # so few are cut off at the borders
            return sum(sides) + 1
        some = np.arange(0, self.n_steps, max(self.n_steps // 1000, 1))
        return self.around_events(some, some).typical

    @lazy
    def _sides(self) -> tuple[int, int] | None:
        """Early and late in steps, no further than the series is long, where windows are sums of step numbers.

        None where a clock or masked steps take part in them.
        """
        n, sides = self.n_steps, (self.tolerance.early, self.tolerance.late)
        if self.tolerance.unit != "steps" or n < len(self.open_steps):
            return None
        early, late = (min(max(int(side), -n), n) for side in sides)  # type: ignore[arg-type]  # numbers, of steps
        return early, late

    def _sums(self, first: IntArray, last: IntArray, back: int, ahead: int) -> Ranges:
        n = self.n_steps
        # past one border only, unless a side is negative: then what lies past the other one is cut off too
        starts, stops = first - back, last + (ahead + 1)
        np.maximum(starts, 0, out=starts)
        np.minimum(stops, n, out=stops)
        if back < 0 or ahead < 0:
            starts = np.minimum(starts, n)
            stops = np.maximum(stops, starts)  # nothing, not less than nothing
        return Ranges(starts=starts, stops=stops)

    @lazy
    def cover(self) -> Ranges:
        """For every step, seen as an event, the predictions that find it."""
        if self._sides is not None:
            every = np.arange(self.n_steps, dtype=np.int64)
            return self._sums(every, every, *self._sides)
        return self._among_open(self.tolerance.prediction_ranges(len(self.open_steps), self.clock))

    @lazy
    def _hit_by(self) -> Ranges:
        """For every step, seen as a prediction, the steps whose events make it a hit."""
        return self._among_open(self.tolerance.event_ranges(len(self.open_steps), self.clock))

    def _among_open(self, ranges: Ranges) -> Ranges:
        if self.n_steps == len(self.open_steps):
            return ranges
        rank = np.concatenate([[0], np.cumsum(self.open_steps)])
        return Ranges(starts=rank[ranges.starts[self.open_steps]], stops=rank[ranges.stops[self.open_steps]])
