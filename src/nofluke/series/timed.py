"""Events and alarms at their own times: truth, trial and cells in ticks, what a timeline shows of them, and lengths."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, FloatArray, IntArray
from nofluke.dates import Lasting, as_duration, format_duration, said_duration
from nofluke.errors import InputError, arg, say
from nofluke.lazy import lazy
from nofluke.plain import MOST_STEPS, as_number, as_whole, whole_or_none
from nofluke.series.counting import (
    Stretches,
    in_ranges,
    last_alarms,
    nearest_alarms,
    nonempty,
    runs,
    total,
    union,
    within,
)
from nofluke.series.ticks import MOST_TICKS, Ticks, WatchedTime
from nofluke.series.tolerance import Ranges, Tolerance
from nofluke.series.trial import FARTHEST, Cell, Marks, TimeUnit, Timing, Trial, Zones, as_episodes, both_sides
from nofluke.series.truth import Truth

ROOM = 1_000  # times as many places for events as there are events, where several may share a time
MOST_FLAGS = 2**27


@dataclass(frozen=True, kw_only=True, eq=False)
class TimedTruth(Truth):
    """Events at their own times, on the places of a watch.

    Attributes
    ----------
    watch : WatchedTime
    slots : int
        Events that a place can hold: 1, or, where several events at the same time count, so many that each of them
        falls nearly independently of the others. Each place is then so many steps, and events at one time are on
        different ones.

    Examples
    --------
    >>> from fractions import Fraction
    >>> watch = WatchedTime(ticks=Ticks(origin=0, size=Fraction(1)), starts=np.array([0]), stops=np.array([10]))
    >>> truth = TimedTruth.of(np.array([2, 7, 7]), watch)
    >>> truth.slots, truth.n_steps, truth.starts, truth.places
    (300, 3000, array([ 600, 2100, 2250]), array([2, 7, 7]))
    """

    watch: WatchedTime = field(repr=False)
    slots: int = 1

    in_time: ClassVar[bool] = True
    place: ClassVar[str] = "tick"

    @classmethod
    def of(cls, at: IntArray, watch: WatchedTime) -> TimedTruth:
        """Events at ascending ticks, each of which is a place; some may come more than once."""
        places = watch.places_before(at)
        first = np.searchsorted(places, places, side="left")
        nth = np.arange(len(places)) - first
        most = int(nth.max(initial=0)) + 1
        # room for many more than there are: one event then hardly keeps another from its place
        slots = max(most, -(-ROOM * len(places) // max(watch.n, 1))) if most > 1 else 1
        if watch.n * slots > 2 * MOST_TICKS:
            raise InputError(
                argument="duplicates",
                value="count",
                problem=f"needs room for {slots:,} events at one time on each of {watch.n:,} ticks, which is more than 64 "
                "bits hold",
                remedy=say("pass {}, or a coarser {}", arg("duplicates", "merge"), arg("tick")),
            )
        many = np.searchsorted(places, places, side="right") - first
        starts = places * slots + nth * slots // np.maximum(many, 1)
        return cls(
            starts=starts,
            stops=starts + 1,
            n_steps=watch.n * slots,
            open_steps=np.zeros(0, dtype=np.bool_),
            watch=watch,
            slots=slots,
        )

    @property
    def places(self) -> IntArray:
        """The place of each event, ascending."""
        return self.starts // self.slots

    @property
    def n_places(self) -> int:
        """How many places there are."""
        return self.watch.n

    def steps_of(self, places: AnyArray) -> AnyArray:
        """A step of each place."""
        return places * self.slots

    @lazy
    def at(self) -> IntArray:
        """The tick of each event."""
        return self.watch.at(self.places)

    def ticks_of(self, steps: IntArray) -> IntArray:
        """The ticks of steps, as a null draws them."""
        return self.watch.at(np.asarray(steps, dtype=np.int64) // self.slots)

    @lazy
    def flags(self) -> BoolArray:
        """One flag for each step, where there are not too many."""
        if self.n_steps > MOST_FLAGS:
            raise InputError(
                problem=f"{self.n_steps:,} ticks are too many for one flag each", remedy="pass a coarser tick"
            )
        flags = np.zeros(self.n_steps, dtype=np.bool_)
        flags[self.starts] = True
        return flags


@dataclass(frozen=True, kw_only=True, eq=False)
class TimedReach:
    """One tolerance in ticks: an alarm at p counts for an event at q if q - early <= p <= q + late."""

    early: int
    late: int

    @classmethod
    def of(cls, tolerance: Tolerance, ticks: Ticks) -> TimedReach:
        """Rounded down to whole ticks, which loses nothing since times are whole ticks; capped beyond any span."""
        sides: tuple[Any, Any] = (tolerance.early, tolerance.late)
        early, late = (max(min(ticks.floor(side), 2 * MOST_TICKS), -2 * MOST_TICKS) for side in sides)
        return cls(early=early, late=late)


# ---- a trial of events and alarms at their own times, without a grid: steps are ticks


@dataclass(frozen=True, kw_only=True, eq=False)
class TimedZones(Zones):
    """What lies around events at their own times."""

    truth: TimedTruth
    reaches: tuple[TimedReach, ...]  # type: ignore[assignment]

    @lazy
    def event_windows(self) -> tuple[Ranges, ...]:
        """For each tolerance and event, the places at which an alarm finds it."""
        found = (self.truth.watch.places(self.truth.at - r.early, self.truth.at + r.late) for r in self.reaches)
        return tuple(Ranges(starts=r.starts * self.truth.slots, stops=r.stops * self.truth.slots) for r in found)


Edges = Literal["zero", "interior"]


@dataclass(frozen=True, kw_only=True, eq=False)
class TimedTrial(Trial):
    """Tolerances and thresholds on events and alarms at their own times: as a `Trial`, but for ``at``.

    Attributes
    ----------
    truth : TimedTruth
    detector : array
        One value for each of ``at``: scores, or booleans for given alarms.
    at : int array, ascending
        Ticks at which the detector has a value.
    edges : {"zero", "interior"}
        Whether all events and alarms count, or only those whose whole window was watched.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from nofluke.series.ticks import Ticks
    >>> watch = WatchedTime(ticks=Ticks(origin=0, size=Fraction(1)), starts=np.array([0]), stops=np.array([100]))
    >>> trial = TimedTrial.of(
    ...     TimedTruth.of(np.array([20, 50]), watch), np.array([22, 80]), (Tolerance(early=0, late=3, unit="clock"),)
    ... )
    >>> trial.precision_hits, trial.recall_hits, trial.near_predictions
    (array([[1]]), array([[1]]), array([[8]]))
    """

    truth: TimedTruth
    reaches: tuple[TimedReach, ...] = field(repr=False)  # type: ignore[assignment]
    at: IntArray = field(repr=False)
    edges: Edges = "zero"

    @classmethod
    def of(  # type: ignore[override]
        cls,
        truth: TimedTruth,
        alarms: IntArray,
        tolerances: tuple[Tolerance, ...],
        *,
        detector: AnyArray | None = None,
        thresholds: FloatArray | None = None,
        told: FloatArray | None = None,
        edges: Edges = "zero",
        **more: Any,
    ) -> TimedTrial:
        """Events against alarms, or against scores at given ticks."""
        return cls(
            truth=truth,
            detector=np.ones(len(alarms), dtype=np.bool_) if detector is None else detector,
            at=alarms,
            tolerances=tolerances,
            thresholds=np.ones(1) if thresholds is None else thresholds,
            reaches=tuple(TimedReach.of(tolerance, truth.watch.ticks) for tolerance in tolerances),
            edges=edges,
            told=told,
            **more,
        )

    def _check(self) -> None:
        if np.shape(self.detector) != np.shape(self.at):
            raise InputError(
                problem=f"a detector has one value for each of the {len(self.at)} times, got {len(self.detector)}"
            )

    def over(
        self, tolerances: tuple[Tolerance, ...], thresholds: FloatArray, told: FloatArray | None = None
    ) -> TimedTrial:
        reaches = tuple(TimedReach.of(tolerance, self.watch.ticks) for tolerance in tolerances)
        return replace(self, tolerances=tolerances, thresholds=thresholds, told=told, reaches=reaches)

    @property
    def watch(self) -> WatchedTime:
        """The time that was watched."""
        return self.truth.watch

    @property
    def size(self) -> int:
        """What work on a cell grows with: events and alarms, each of which costs as much as some steps do."""
        return 10 * (self.n_events + len(self.at))

    @property
    def row(self) -> int:
        """What a random placement takes in memory: its events."""
        return max(self.n_events, 1)

    def prepare(self) -> None:
        """Work out what all cells share, before threads ask for it."""
        _ = self.alarm_windows

    def chosen(self, k: int) -> IntArray:
        """Which of the times threshold k predicts."""
        flags = self.detector if not self.scored else self.detector >= np.float64(self.thresholds[k])
        return np.flatnonzero(flags)

    def alarms(self, k: int) -> IntArray:
        """The steps of the alarms: those of the places at or before them."""
        found = self._kept.get(k)
        if found is None:
            places = self.watch.places_before(self.at[self.chosen(k)] + 1) - 1
            found = self._kept[k] = np.maximum(places, 0) * self.truth.slots
        return found

    @lazy
    def n_predictions(self) -> IntArray:
        """Alarms, or episodes of them, by threshold."""
        if self.count_alarms == "steps":
            return self.n_alarm_steps
        first, inverse = self.distinct
        return np.array([len(runs(self.chosen(int(k))).starts) for k in first])[inverse]

    @lazy
    def alarm_windows(self) -> tuple[Ranges, ...]:
        """For each tolerance and time of the detector, the steps on which an event makes a hit of an alarm there."""
        found = (self.watch.places(self.at - r.late, self.at + r.early) for r in self.reaches)
        return tuple(Ranges(starts=r.starts * self.truth.slots, stops=r.stops * self.truth.slots) for r in found)

    def _zones(self) -> Zones:
        return TimedZones(truth=self.truth, reaches=self.reaches)

    def finders(self, d: int) -> Ranges:
        """For each event, which of the times of the detector are near it."""
        reach, events = self.reaches[d], self.truth.at
        return Ranges(
            starts=np.searchsorted(self.at, events - reach.early, side="left").astype(np.int64),
            stops=np.searchsorted(self.at, events + reach.late, side="right").astype(np.int64),
        )

    @lazy
    def precision_hits(self) -> IntArray:
        """PA-AAδ by cell: alarms near an event."""
        if self._by_cell:
            return self._of_cells(lambda cell: cell.stretches.count(_hit(self.truth.starts, cell.stretches)))
        near = (within(self.truth.starts, windows) > 0 for windows in self.alarm_windows)
        return np.stack([self._reaching(self.detector[flags]) for flags in near])

    @lazy
    def recall_hits(self) -> IntArray:
        """PAδ-AA by cell: events near an alarm."""
        if self._by_cell:
            return self._of_cells(lambda cell: int(np.count_nonzero(cell.found)))
        return np.stack([self._held(self.finders(d)) for d in range(len(self.reaches))])

    @property
    def _by_cell(self) -> bool:
        """Whether cells are counted one by one: episodes, and what depends on the tolerance."""
        return self.count_alarms == "episodes" or self.edges == "interior"

    def _of_cells(self, count: Any) -> IntArray:
        first, inverse = self.distinct
        found = [[count(self.cell(d, int(k))) for k in first] for d in range(len(self.reaches))]
        return np.array(found, dtype=np.int64).reshape(len(self.reaches), len(first))[:, inverse]

    @lazy
    def near_predictions(self) -> IntArray:
        """PAδ by cell: steps on which an event would be found."""
        return self._of_cells(lambda cell: total(cell.zone))

    def cell(self, d: int, k: int) -> TimedCell:
        """The detector at threshold k within tolerance d."""
        if self.shape != (1, 1):
            return TimedCell(trial=self, d=d, k=k)
        return self._only

    @lazy
    def _only(self) -> TimedCell:
        return TimedCell(trial=self, d=0, k=0)


@dataclass(frozen=True, kw_only=True, eq=False)
class TimedCell(Cell):
    """One cell of a timed trial."""

    trial: TimedTrial = field(repr=False)
    truth: TimedTruth = field(init=False, repr=False)
    reach: TimedReach = field(init=False, repr=False)  # type: ignore[assignment]

    @lazy
    def n_predictions(self) -> int:
        """n, the alarms that count, or episodes of them."""
        return int(self.trial.n_predictions[self.k]) if self.trial.edges == "zero" else self.windows.n

    @property
    def chosen(self) -> IntArray:
        """Which of the times of the detector are alarms."""
        return self.trial.chosen(self.k)

    @lazy
    def at(self) -> IntArray:
        """The ticks of the alarms, ascending, whether they count or not."""
        return self.trial.at[self.chosen]

    @property
    def n_labelled(self) -> int:
        """Each event is one tick."""
        return self.n_events

    @property
    def timing(self) -> Timing:
        """In ticks, of dates or of numbers."""
        ticks, watch = self.trial.watch.ticks, self.trial.watch
        # divided by, for times 1e-9 would make a week 604800.0000000001 s
        per_unit = float((10**9 if ticks.is_dates else 1) / ticks.size)
        unit: TimeUnit = "seconds" if ticks.is_dates else "clock"
        return Timing(unit=unit, per_unit=per_unit, watched=ticks.span(watch.watched), step=ticks.span(1))

    def times(self, rows: IntArray) -> tuple[AnyArray, AnyArray]:
        """Ticks of placed events and of the alarms."""
        return self.truth.ticks_of(rows), self.at

    def alone(self) -> TimedTrial:
        """The trial of this cell only."""
        trial = self.trial
        if trial.shape == (1, 1):
            return trial
        return replace(
            trial,
            detector=trial.detector >= trial.thresholds[self.k] if trial.scored else trial.detector,
            thresholds=np.ones(1),
            told=None,
            tolerances=(self.tolerance,),
            reaches=(self.reach,),
        )

    @lazy
    def episodes(self) -> Ranges:
        """The runs of alarms among the times of the detector."""
        return runs(self.trial.chosen(self.k))

    def with_perfect_alarms(self) -> Iterator[Cell]:
        """The same events with an alarm at each, in the middle of its window."""

        def in_the_middle() -> Cell:
            at = np.unique(self.truth.at + (self.reach.late - self.reach.early) // 2)
            at = at[self.trial.watch.holds(at)]
            return self._with_alarms(at=at, detector=np.ones(len(at), dtype=np.bool_))

        yield self.once("perfect alarms", in_the_middle)  # both measures are asked for, one after the other

    @lazy
    def stretches(self) -> Stretches:
        """The steps on which an event makes a hit of each alarm that counts, or of any alarm of an episode."""
        every, alarms = self.trial.alarm_windows[self.d], self.trial.chosen(self.k)
        starts, stops = every.starts[alarms], every.stops[alarms]
        if self.trial.count_alarms == "episodes":
            of = np.cumsum(np.diff(alarms, prepend=alarms[:1]) > 1, dtype=np.int64)
            return Stretches.joined(starts, stops, of)
        if self.trial.edges == "interior":
            kept = self.trial.watch.holds_all(self.at - self.reach.late, self.at + self.reach.early)
            starts, stops = starts[kept], stops[kept]
        return Stretches(starts=starts, stops=stops, of=np.arange(len(starts)))

    @lazy
    def zone(self) -> Ranges:
        """The stretches of steps on which an event would be found: by an alarm, whatever the alarms are counted as."""
        windows, alarms = self.trial.alarm_windows[self.d], self.trial.chosen(self.k)
        return union(Ranges(starts=windows.starts[alarms], stops=windows.stops[alarms]))

    @property
    def alarms_counted(self) -> BoolArray:
        """Whether each alarm counts: all of them, or those whose whole window was watched."""
        if self.trial.edges == "zero":
            return np.ones(len(self.at), dtype=np.bool_)
        return self.trial.watch.holds_all(self.at - self.reach.late, self.at + self.reach.early)

    @property
    def alarm_hits(self) -> BoolArray:
        """Whether each alarm counts and has an event near it, or any alarm of its episode has.

        >>> import nofluke as nf
        >>> nf.coincidence([10, 40], [11, 12, 70], tolerance=2, span=(0, 99)).cell.alarm_hits
        array([ True,  True, False])
        """
        every, chosen = self.trial.alarm_windows[self.d], self.chosen
        near = np.asarray(within(self.truth.starts, Ranges(starts=every.starts[chosen], stops=every.stops[chosen])) > 0)
        return (as_episodes(near, chosen) if self.trial.count_alarms == "episodes" else near) & self.alarms_counted

    @property
    def marks(self) -> tuple[Marks, Marks]:
        """Events and alarms at their own times; those that do not count still hold an episode together."""
        trial, at, events, stretches = self.trial, self.at, self.truth.at, self.stretches
        hit_of = stretches.of[within(self.truth.starts, Ranges(starts=stretches.starts, stops=stretches.stops)) > 0]
        first, last, counts = at, at, self.alarms_counted
        if trial.count_alarms == "episodes":
            first, last = trial.at[self.episodes.starts], trial.at[self.episodes.stops - 1]
            counts = np.ones(len(first), dtype=np.bool_)
        hit = np.zeros(len(first), dtype=np.bool_)
        hit[np.flatnonzero(counts)[hit_of]] = True
        return (
            Marks(first=events, last=events, counts=self.counts, scores=self.found),
            Marks(first=first, last=last, counts=counts, scores=hit),
        )

    @property
    def apart(self) -> np.uint64 | np.float64:
        """How far apart marks of one episode may lie, in ticks."""
        return np.uint64(min(both_sides(self.reach), FARTHEST))

    @property
    def covered(self) -> int:
        """PAδ: steps on which an event would be found."""
        return total(self.zone)

    @lazy
    def counted(self) -> Ranges | None:
        """The stretches of steps on which an event counts; None where it does on all of them."""
        if self.trial.edges == "zero":
            return None
        watch, slots = self.trial.watch, self.truth.slots
        first, last = watch.starts + self.reach.early, watch.stops - 1 - self.reach.late
        inner = last >= first
        found = nonempty(watch.places(first[inner], last[inner]))
        return Ranges(starts=found.starts * slots, stops=found.stops * slots)

    @property
    def counts(self) -> BoolArray:
        """Whether each event counts."""
        if self.counted is None:
            return np.ones(self.n_events, dtype=np.bool_)
        return in_ranges(self.truth.starts, self.counted)

    @property
    def n_counted(self) -> int:
        """The events that count, of which recall is a share."""
        return self.n_events if self.counted is None else int(within(self.truth.starts, self.counted).sum())

    @lazy
    def found(self) -> BoolArray:
        """Whether each event has an alarm near it, and counts."""
        near = in_ranges(self.truth.starts, self.zone)
        return near if self.counted is None else near & in_ranges(self.truth.starts, self.counted)

    @property
    def mean_share(self) -> float:
        """Mean share of the watched ticks in the window of an event on a random one; a whole one if interior."""
        return self._mean_width / self.trial.watch.watched

    @property
    def _mean_width(self) -> float:
        fine, reach = replace(self.trial.watch, stride=1), self.reach
        if self.trial.edges == "interior":
            return float(min(max(reach.early + reach.late + 1, 0), fine.watched))
        ends = np.concatenate([fine.starts, fine.stops])
        edges = np.unique(np.concatenate([ends, ends + reach.early, ends - reach.late - 1]))
        first, last = edges[:-1][fine.holds(edges[:-1])], edges[1:][fine.holds(edges[:-1])] - 1
        # between two edges the width changes by as much from tick to tick
        wide = sum(
            (last - first + 1) / 2.0 * (fine.places_before(at + reach.late + 1) - fine.places_before(at - reach.early))
            for at in (first, last)
        )
        return float(np.sum(wide)) / fine.watched

    def delays(self) -> FloatArray:
        """Ticks from each event to its nearest alarm, one that counts for it before others; NaN where there is none."""
        first = min(int(self.truth.at.min(initial=0)), int(self.at.min(initial=0)))
        events, alarms = self.truth.at - first, self.at - first
        windows = Ranges(starts=events - self.reach.early, stops=events + self.reach.late + 1)
        return nearest_alarms(events, alarms, None, windows, within(alarms, windows) > 0)

    def resets(self) -> FloatArray:
        """Ticks from each event to the last alarm that finds it; NaN where none does."""
        windows = Ranges(starts=self.truth.at - self.reach.early, stops=self.truth.at + self.reach.late + 1)
        return last_alarms(self.truth.at, self.at, np.arange(len(self.at)), self.at, windows)


def _hit(steps: IntArray, ranges: Any) -> BoolArray:
    return within(steps, Ranges(starts=ranges.starts, stops=ranges.stops)) > 0


def event_reaches(cell: TimedCell) -> tuple[IntArray, IntArray]:
    """The first and the last tick of the time in which an alarm finds each event; windows that overlap are one."""
    starts, ends = cell.truth.at - cell.reach.early, cell.truth.at + cell.reach.late
    new = np.ones(len(starts), dtype=np.bool_)
    new[1:] = starts[1:] > np.maximum.accumulate(ends)[:-1]
    return starts[new], ends[np.append(np.flatnonzero(new)[1:] - 1, len(ends) - 1)] if len(ends) else ends


# ---- lengths that nulls use: steps on a grid, or a time, converted to the places where events can fall

Length = int | float | str
MOST_LONG = 2**60  # of one in the unit of the times
UNEVEN = 0.01  # by how much of itself a step of a regular clock may vary


def as_length(value: object, name: str, least: int, *, whole: bool = False, most: int = MOST_LONG) -> Length:
    """A number of steps (or of the times' own unit), or a duration as it is written.

    Whole numbers are at least ``least``; others may be as short as times are, and on a grid are looked at when used.
    """
    if isinstance(value, str):
        if not as_duration(value, name):
            raise InputError(argument=name, value=value, problem="must be longer than 0")
        return value.strip()
    if whole or whole_or_none(value) is not None:
        return as_whole(value, name, least, most)
    return as_number(value, name, f"be a number of at least {least} steps", lambda x: 0 < x <= MOST_LONG)


def as_period(value: object, name: str, least: int, words: Collection[str]) -> Length:
    """The length of a period, as `as_length` takes one, or a word of the calendar, one of these."""
    if isinstance(value, str) and value in words:
        return value
    try:
        return as_length(value, name, least)
    except InputError:
        if not isinstance(value, str):
            raise
        problem = f"must be a number of steps, a duration such as '1d', or one of {', '.join(map(repr, words))}"
        raise InputError(argument=name, value=value, problem=problem) from None


def in_places(value: Length, side: Truth, name: str, least: int = 1) -> float:
    """A length in places of events: steps on a grid; whole or not."""

    def steps(side: Truth) -> float:
        steps = _in_steps(value, side, name)
        if steps < least:
            raise InputError(argument=name, value=value, problem=f"must be a number of at least {least} steps")
        if steps > MOST_STEPS:
            told = f"must be a whole number of at least {least} and at most {MOST_STEPS:,} on a grid of steps"
            raise InputError(argument=name, value=value, problem=told)
        return steps

    return side.by_axis(steps=steps, ticks=lambda side: _in_ticks(value, side, name, least))


def _in_ticks(value: Length, side: TimedTruth, name: str, least: int) -> float:
    ticks = side.watch.ticks
    if isinstance(value, str) is not ticks.is_dates:
        remedy = "a number, in the unit of the times"
        if not isinstance(value, str):
            unit = format_duration(int(ticks.size)).lstrip("0123456789.")  # that of the times' resolution
            remedy = f"a duration such as '{value:g}{unit}'"
        raise InputError(argument=name, value=value, problem="does not fit the times", remedy=f"pass {remedy}")
    length = as_duration(value, name) if isinstance(value, str) else Fraction(repr(value))
    places = Fraction(length or 0) / ticks.size / side.watch.stride
    if places < least:
        raise InputError(
            argument=name,
            value=value,
            problem=f"must be at least {least} of the times' resolution, {ticks.length(side.watch.stride)}",
        )
    return int(places) if places.denominator == 1 else float(places)


def whole_places(value: Length, side: Truth, name: str) -> int:
    """A length in whole places, at least one."""
    return max(round(in_places(value, side, name)), 1)


def _in_steps(value: Length, side: Truth, name: str) -> float:
    if not isinstance(value, str):
        return value
    clock = side.clock
    if clock is None or not clock.is_dates or len(clock) < 2:
        raise InputError(
            argument=name,
            value=value,
            problem="is a length of time, but the data has no clock of dates",
            remedy=say("pass {}, or a number of steps", arg("times")),
        )
    step = clock.step
    if np.ptp(np.diff(clock.ticks)) > UNEVEN * step:
        raise InputError(
            argument=name, value=value, problem="is a length of time, but the clock is not regular", remedy="pass steps"
        )
    steps = Fraction(as_duration(value, name) or 0) / Fraction(step * clock.tick_size)
    return int(steps) if steps.denominator == 1 else float(steps)


def in_words(value: Length, in_time: bool = False) -> str:
    """A length for sentences: "3d" as it is, a number with its unit, which is a step unless times are numbers.

    >>> in_words(3), in_words(1, in_time=True), in_words("3d", in_time=True)
    ('3 steps', '1 time unit', '3d')
    """
    if isinstance(value, str):
        long = as_duration(value, "length") or 0
        said = said_duration(long)
        return say("{}", Lasting(long, value if said == format_duration(long) else said))  # as it was passed, but years
    return f"{value:,} {'steps' if not in_time else 'time unit' if value == 1 else 'time units'}"
