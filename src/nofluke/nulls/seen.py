"""What is seen in events and alarms, and what is said of it: the table that auto, doubts, diagnosis and pages read.

`Look` is the record, worked out as far as it is asked for, in events and alarms separately and never in how they match:
a choice by it leaves the test that follows valid. `TRAITS` is the table: an entry for each thing that a null keeps or
does not, with its words. A new finding is one entry; what a null keeps is its own declaration.

The section "Which null to trust" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import ClassVar

import numpy as np

from nofluke import levels
from nofluke.arrays import AnyArray, BoolArray, IntArray
from nofluke.dates import format_duration, parse_duration, rounded_duration
from nofluke.errors import THINGS, InputError, arg, capitalised, say, verb
from nofluke.lazy import Keeper, lazy
from nofluke.nulls.base import Kept, NullModel
from nofluke.nulls.calendars import RULES
from nofluke.nulls.evidence import (
    FIRST_ORDERS,
    ORDERS,
    Clusters,
    Evidence,
    adjacency,
    cluster_scales,
    clustering,
    clusters_against,
    evenness,
    in_cycle,
    in_order,
    in_runs,
)
from nofluke.nulls.local import LocalPermutation
from nofluke.nulls.periods import PeriodShuffle
from nofluke.nulls.seasonal import Seasonal
from nofluke.nulls.seasons import (
    CALENDAR_PERIODS,
    CommonPeriod,
    Drift,
    Period,
    SeasonSeen,
    Side,
    Spectra,
    common_period,
    drift,
    fisher,
    least_of_drift,
    least_of_period,
    likeness,
    look_for_seasons,
    strongest,
)
from nofluke.nulls.stratified import Stratified
from nofluke.plain import plain_fraction
from nofluke.series.clock import Clock
from nofluke.series.counting import flags_of, runs
from nofluke.series.timed import TimedCell, TimedTruth
from nofluke.series.tolerance import Ranges, Reach, Tolerance
from nofluke.series.trial import Cell, Trial
from nofluke.series.truth import Truth
from nofluke.text.numbers import p_is, people_unit
from nofluke.text.tables import plural

UNIT_OF: dict[str, tuple[str, int]] = {
    "hour of day": ("day", 1),
    "day of week": ("day", 7),
    "hour of week": ("day", 7),
    "minute of hour": ("hour", 1),
    "minute of quarter hour": ("15min", 1),
    "day of month": ("month", 1),
    "month": ("year", 1),
}
"""The periods that follow a rule of the calendar: which are exchanged, and with those how many periods away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Season:
    """A season that a null has to keep: a rule of the calendar or a number of steps, and the steps if known.

    ``cycles`` is how often it comes back among ``n_steps``, ``pvalue`` how often chance shows as much of one. Where it
    consists of shorter periods that differ, such as the days of a week, ``inner`` says which, and how many there are.
    ``beside`` is a second season, in steps, that has no short multiple in common with it.
    """

    period: Period
    steps: float | None
    label: str
    cycles: float
    n_steps: int
    pvalue: float
    inner: tuple[Period, int] | None = None
    beside: float | None = None

    @property
    def seen(self) -> str:
        """That it is there, as the beginning of a sentence: evidence, no fact."""
        return say("It looks like a season ({}, {})", self.label, p_is(self.pvalue))

    def null(self, windows: int = 1) -> Seasonal:
        """The null that keeps it, in so many windows: as many phases as leave each some steps to choose from."""
        phases = max(self.n_steps // (levels.IN_PHASE * windows), levels.FEWEST_PHASES)
        if self.beside is not None:
            first = self._phases_beside(phases)
            bins = None if isinstance(self.period, str) else first
            second = min(max(phases // first, levels.FEWEST_OF_TWO), int(self.beside))
            return Seasonal(period=self.period, bins=bins, windows=windows, second=self.beside, second_bins=second)
        if isinstance(self.period, str):
            rule = RULES[self.period]
            fine = rule.finest(min(phases, self.steps or phases))
            return Seasonal(period=self.period, bins=fine if fine > rule.phases else None, windows=windows)
        return Seasonal(period=self.period, bins=min(phases, int(self.period)), windows=windows)

    def _phases_beside(self, phases: int) -> int:
        """Phases of the first of two seasons, of so many that both have together: those of the calendar, or a share."""
        if isinstance(self.period, str):
            return RULES[self.period].phases
        return min(max(math.isqrt(phases), levels.FEWEST_OF_TWO), int(self.period))

    @property
    def most_windows(self) -> int:
        """Windows of time in which the phases of two seasons leave some steps to choose from; 0 where none do."""
        least = self._phases_beside(0) * levels.FEWEST_OF_TWO
        return self.n_steps // (levels.IN_PHASE * least)


@dataclass(frozen=True, kw_only=True, eq=False)
class Events(Keeper):
    """What is seen in the events alone, worked out once for a truth, however many detectors are judged on it."""

    truth: Truth
    own: TimedTruth | None = None  # events at their own times, where the steps of the truth are coarser than these

    @classmethod
    def of(cls, truth: Truth, own: TimedTruth | None = None) -> Events:
        """What is known of this truth already, or will be."""
        return truth.once("seen", lambda: cls(truth=truth, own=own))

    @property
    def n(self) -> int:
        """How many there are."""
        return self.truth.n if self.own is None else self.own.n

    @lazy
    def labelled(self) -> IntArray:
        """The steps of events, ascending."""
        return self.truth.starts if self.truth.points else np.flatnonzero(self.truth.flags)

    @lazy
    def runs(self) -> Evidence:
        """Labelled steps in runs."""
        if self.own is not None:
            return adjacency(self.own.starts, self.own.n_steps)
        return adjacency(self.labelled, self.truth.n_steps)

    @lazy
    def in_runs(self) -> bool:
        """Whether labelled steps come as runs."""
        return in_runs(self.runs)

    @lazy
    def ranges(self) -> bool:
        """Whether events are whole ranges, or steps that come as such."""
        return not self.truth.points or self.in_runs

    @lazy
    def starts(self) -> IntArray:
        """Where events begin: the first step of each, or of each run of them."""
        if not self.truth.points:
            return np.unique(self.truth.first_steps)
        return runs(self.labelled).starts if self.in_runs else self.labelled

    @lazy
    def longest(self) -> int:
        """Steps of the longest range."""
        found = runs(self.labelled) if self.truth.points and self.in_runs else self.truth
        return int((found.stops - found.starts).max(initial=1))

    @property
    def few(self) -> bool:
        """Whether there are too few to show clusters."""
        return self.n < levels.FEW_EVENTS

    @lazy
    def clusters(self) -> Evidence:
        """Events in clusters of any length, against random steps."""
        if self.own is not None:
            return clustering(self.own.starts, self.own.n_steps)
        return clustering(self.starts, self.truth.n_steps)

    @lazy
    def evenness(self) -> Evidence:
        """Events that keep a distance from each other."""
        if self.own is not None:
            return evenness(self.own.starts, self.own.n_steps)
        return evenness(self.starts, self.truth.n_steps)

    @property
    def spaced(self) -> bool:
        """Whether they do."""
        return self.evenness.pvalue <= levels.SPACED

    @lazy
    def side(self) -> Side:
        """Their spectrum."""
        return Side.of_steps(self.starts, self.truth.open_steps)


# ---- events and alarms at their own times, drawn on a grid: what spectra and seasons are looked for on

MOST_PLACES = 2**20  # up to here every place is a step: what is seen is what the grid shows
ENOUGH_STEPS = 2**17  # beyond, so many are enough: clusters are looked at in the times themselves
COARSE = (60 * 10**9, 10**9, 10**6, 10**3)  # a minute, a second, ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sketch:
    """A cell on a grid whose steps are so many places long each, gaps masked; several events on a step are one.

    ``whole`` says that steps are the places themselves, so that nothing is lost. ``alarm_runs`` are the steps on which
    runs of alarms begin, where these are runs of time stamps; None where alarms are a list of times. ``apart`` is how
    many steps lie between two places that alarms, or events, can be on: within that there is no season to see.
    """

    cell: Cell
    truth: TimedTruth
    width: int
    alarm_runs: IntArray | None = None
    apart: float = 1.0

    @property
    def whole(self) -> bool:
        """Whether steps are the places, with one event each."""
        return self.width == 1 and self.truth.slots == 1

    def length(self, steps: float) -> int | float | str:
        """A number of steps as a length of time: a duration for dates, else a number in the unit of the times."""
        ticks = self.truth.watch.ticks
        long = Fraction(steps) * self.width * self.truth.watch.stride * ticks.size
        if not ticks.is_dates:
            return plain_fraction(long)
        # without meaningless digits, and enough for a period to stay in phase over thousands of cycles
        coarse = next((size for size in COARSE if long >= 100_000 * size), 1)
        return format_duration(max(round(long / coarse) * coarse, 1))


def sketch(cell: TimedCell) -> Sketch:
    """The grid on which a cell is looked at."""
    watch, stride = cell.trial.watch, cell.trial.watch.stride
    first, last = -(-watch.first // stride), -(-int(watch.stops[-1]) // stride)
    every = max(last - first, 1)
    width = 1 if every <= MOST_PLACES else -(-every // ENOUGH_STEPS)
    n = -(-every // width)
    edges = (first + np.arange(n + 1, dtype=np.int64) * width) * stride
    watched = np.diff(watch.places_before(edges))
    open_steps = np.asarray(2 * watched > width) if width > 1 else watched > 0

    def flags(at: IntArray) -> BoolArray:
        """Which steps hold one of these ticks, those that do not count left out."""
        found = np.zeros(n, dtype=np.bool_)
        found[np.clip((at // stride - first) // width, 0, n - 1)] = True
        return found[open_steps]

    stamps, chosen = cell.trial.at, cell.trial.chosen(cell.k)
    on_stamps = len(chosen) < len(stamps)  # else they are a list, or everything is an alarm

    times = watch.ticks.times(edges[:-1])
    clock = None
    if watch.ticks.unit is not None:
        clock = Clock(
            ticks=times.astype(np.int64), unit=watch.ticks.unit, aware=watch.ticks.aware, zone=watch.ticks.zone
        )
    early, late = (-(-side // (stride * width)) for side in (cell.reach.early, cell.reach.late))
    tolerance = Tolerance(early=early, late=max(late, -early))  # a window that lies between two ticks holds none
    among = None if clock is None else replace(clock, ticks=clock.ticks[open_steps])
    trial = Trial(
        truth=Truth.of_flags(flags(cell.truth.at), among, open_steps),
        detector=flags(cell.at),
        tolerances=(tolerance,),
        thresholds=np.ones(1),
        reaches=(Reach(tolerance=tolerance, open_steps=open_steps, clock=clock),),
    )
    alarm_runs = np.flatnonzero(flags(stamps[runs(chosen).starts])) if on_stamps else None
    # times are multiples of what they were rounded to; stamps may be irregular too
    rounded = [int(np.gcd.reduce(np.diff(np.unique(at)))) for at in (cell.at, cell.truth.at) if len(at) > 2]
    usual = float(np.median(np.diff(stamps))) if on_stamps and len(stamps) > 1 else 0.0
    apart = max([*rounded, usual, 1.0]) / (stride * width)
    return Sketch(cell=trial.cell(0, 0), truth=cell.truth, width=width, alarm_runs=alarm_runs, apart=apart)


# ---- stretches in which the score does not change: outages, which no null knows of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Flat:
    """Long stretches of equal scores below the threshold, in a score that has hardly any elsewhere."""

    steps: BoolArray
    n_stretches: int
    value: float
    events: int
    n_events: int

    @classmethod
    def of(cls, scores: AnyArray | None, alarms: BoolArray, truth: Truth) -> Flat | None:
        """What there is of them; None where there are no scores, or not enough such stretches."""
        if scores is None or len(scores) < 2 * levels.FLAT or truth.in_time:
            return None
        same = scores[1:] == scores[:-1]
        if np.count_nonzero(same) < max(levels.FLAT - 1, levels.FLAT_SHARE * len(scores)):
            return None
        found = runs(np.flatnonzero(same))
        long = found.stops - found.starts >= levels.FLAT - 1
        kept = Ranges(starts=found.starts[long], stops=found.stops[long] + 1)
        low = ~alarms[kept.starts]  # a score that stays at its top is no outage
        kept = Ranges(starts=kept.starts[low], stops=kept.stops[low])
        steps = flags_of(kept, len(scores))
        n_flat = int(np.count_nonzero(steps))
        others = int(np.count_nonzero(same & ~(steps[1:] & steps[:-1])))
        if n_flat < levels.FLAT_SHARE * len(scores) or others > levels.TIED * (len(scores) - n_flat):
            return None
        apart = np.diff(kept.starts)
        if n_flat > len(scores) / 2 or (len(apart) >= levels.RHYTHM and apart.std() <= apart.mean() / levels.RHYTHM):
            return None  # a rhythm, such as the hours in which a sensor is off: that is a season
        return cls(
            steps=steps,
            n_stretches=len(kept.starts),
            value=float(scores[kept.starts[0]]),
            events=int(np.count_nonzero(steps[truth.first_steps])),
            n_events=truth.n,
        )

    @property
    def seen(self) -> str:
        """That they are there, in a sentence that offers the mask."""
        n, of = int(np.count_nonzero(self.steps)), len(self.steps)
        where = f"in {plural(self.n_stretches, 'stretch', 'stretches')} ({n:,} of {of:,} steps)"
        said = say("no {event} begins")
        if self.events:
            said = say("{:,} of {} begin", self.events, plural(self.n_events, "event"))
        return say(
            "The score does not change {}, at {:g} in the first, and {} in them. If nothing was measured there, pass these steps as {}.",
            where,
            self.value,
            said,
            arg("mask"),
        )

    @property
    def avoided(self) -> bool:
        """Whether all events begin elsewhere, which chance would hardly do: it must not move them there."""
        share = float(np.count_nonzero(self.steps)) / len(self.steps)
        return self.events == 0 and (1 - share) ** self.n_events <= levels.AVOIDED


def without(cell: Cell, steps: BoolArray) -> Cell:
    """The same cell as if some steps had been masked; ranges that lose all of theirs go."""
    trial, truth, reach = cell.trial, cell.truth, cell.trial.reaches[cell.d]
    rank = np.concatenate([[0], np.cumsum(~steps)]).astype(np.int64)
    starts, stops = rank[truth.starts], rank[truth.stops]
    left = stops > starts
    among = truth.open_steps.copy()
    among[np.flatnonzero(among)[steps]] = False
    clock = None if truth.clock is None else replace(truth.clock, ticks=truth.clock.ticks[~steps])
    return replace(
        trial,
        truth=replace(
            truth,
            starts=starts[left],
            stops=stops[left],
            n_steps=int(rank[-1]),
            clock=clock,
            open_steps=among,
            begins=None,
            ends=None,
            opens=None,
        ),
        detector=cell.alarm_flags[~steps],
        thresholds=np.ones(1),
        told=None,
        tolerances=(reach.tolerance,),
        reaches=(replace(reach, open_steps=among),),
    ).cell(0, 0)


# ---- what is seen in the events and in the alarms, looked at separately: clusters, runs, seasons


def starts_of(alarms: IntArray, runs_of_them: IntArray) -> IntArray:
    """Alarms, or the steps on which runs of them begin where these are long."""
    return runs_of_them if len(alarms) >= levels.LONG_RUNS * len(runs_of_them) else alarms


@dataclass(frozen=True, kw_only=True, eq=False)
class Look:
    """What is seen in the events and the alarms of one cell of a trial, each looked at by itself."""

    cell: Cell
    alpha: float
    period: Period | None = None
    sketch: Sketch | None = None
    wide: int = 1  # steps around an event in which alarms count, where they are more than those within the tolerance
    either: bool = True  # whether the season of one side suffices

    @classmethod
    def of(cls, cell: Cell, alpha: float, period: Period | None = None, *, wide: int = 1) -> Look:
        """A look at a cell of any trial; at events without a grid, through a sketch on one."""
        drawn = cell.by_axis(steps=lambda _: None, ticks=sketch)
        if drawn is None:
            return cls(cell=cell, alpha=alpha, period=period, wide=wide)
        return cls(cell=drawn.cell, alpha=alpha, period=period, sketch=drawn)

    def length(self, steps: float) -> int | float | str:
        """A length as nulls take it: steps, or a length of time where events have no grid."""
        return steps if self.sketch is None else self.sketch.length(steps)

    def told(self, steps: float, *, alone: str = "") -> str:
        """A length in words; without its unit, where that is ``alone`` said elsewhere."""
        if self.sketch is None:
            number = f"{steps:,.5g}" if steps != int(steps) else f"{int(steps):,}"
            return number if alone == "steps" else f"{number} steps"
        long = self.sketch.length(steps)
        if isinstance(long, str):
            return rounded_duration(parse_duration(long, "length"))
        number, unit = (
            f"{long if isinstance(long, int) else float(f'{long:.4g}'):,}",
            f"time unit{'' if long == 1 else 's'}",
        )
        return number if alone == unit else f"{number} {unit}"

    def measured(self, steps: float) -> tuple[float, str]:
        """A length as a number, and what it counts: steps, or a unit of time that people would take."""
        if self.sketch is None:
            return steps, "steps"
        ticks = self.sketch.truth.watch.ticks
        long = steps * float(self.sketch.width * self.sketch.truth.watch.stride * ticks.size)
        size, unit = people_unit(np.array([long])) if ticks.is_dates else (1.0, "time units")
        return long / size, unit

    def null_of(self, season: Season, windows: int = 1) -> Seasonal:
        """The null that keeps a season, within so many windows of time."""
        null = season.null(windows)
        if self.sketch is None:
            return null
        period, second = (
            self.sketch.length(one) if isinstance(one, int | float) else one for one in (season.period, season.beside)
        )
        return replace(null, period=period, second=second)

    # ---- each side by itself

    @lazy
    def events(self) -> Events:
        """What is seen in the events alone; in their own times, where the sketch loses something of them."""
        own = None if self.sketch is None or self.sketch.whole else self.sketch.truth
        return Events.of(self.cell.truth, own)

    @lazy
    def alarms(self) -> Side:
        """The spectrum of the alarms, worked out for all detectors that are judged together."""
        batch, open_steps = self.cell.trial.batch, self.cell.truth.open_steps
        if batch is None or self.sketch is not None:
            return Side.of_steps(self.alarm_starts, open_steps)

        def of_all() -> tuple[Side, ...]:
            rows = (starts_of(own, found.starts) for own, found in zip(batch.steps, batch.episodes, strict=True))
            return Spectra.of_steps(rows, open_steps).sides

        return batch.once("spectra", of_all)[self.cell.trial.place]

    @lazy
    def alarm_starts(self) -> IntArray:
        """Where alarms begin, or their runs where these are long: the length of a run is no slow change."""
        known = None if self.sketch is None else self.sketch.alarm_runs
        return starts_of(self.cell.alarms, self.cell.episodes.starts if known is None else known)

    @lazy
    def longest_alarm(self) -> int:
        """Steps of the longest run of alarms."""
        found = self.cell.episodes
        return int((found.stops - found.starts).max(initial=1))

    @lazy
    def window(self) -> int:
        """Steps within the tolerance of an event, typically."""
        return max(self.cell.trial.reaches[self.cell.d].typical, 1)

    # ---- a season: of the calendar, or of any period that both sides share

    @lazy
    def calendar(self) -> tuple[SeasonSeen, ...]:
        """Seasons of the calendar, or the one whose period is known."""
        level = levels.CALENDAR if self.period is None else levels.SEASON
        starts = self.events.starts, self.cell.episodes.starts
        apart = 1.0 if self.sketch is None else self.sketch.apart
        return look_for_seasons(
            self.cell, self.period, level, starts, lambda: likeness(self.events.side, self.alarms), apart
        )

    @property
    def _search_level(self) -> float:
        return levels.SEASON if self.calendar else 2 * levels.SEASON

    @lazy
    def may_share_period(self) -> bool:
        """Whether a search may find a period, of both or, where events are too few to show one, of the alarms."""
        both, alone = least_of_period(self.events.side, self.alarms, self.window + 1)
        return both <= self._search_level or (self._few_ranges and alone <= levels.SEASON)

    @lazy
    def search(self) -> CommonPeriod | None:
        """Any period that both sides have in common; None where the period is known."""
        if self.period is not None:
            return None
        return common_period(self.events.side, self.alarms, self.window + 1, self._search_level)

    @property
    def _few_ranges(self) -> bool:
        return self.either and self.events.n < levels.FEW_RANGES and self.events.ranges

    @lazy
    def first(self) -> Season | None:
        """The season that shows best, if there is one."""
        seen = strongest(self.calendar, either=self.either)
        if seen is not None:
            return self._season(seen.period, seen.label, seen.pvalue)
        if self.period is not None or not self.may_share_period or self.search is None:
            return None
        if self.search.found:
            steps = tidy(self.search.steps)
            return self._season(steps, f"period {self.told(steps)}", self.search.pvalue)
        if self._few_ranges and self.search.of_alarms <= levels.SEASON:
            alone = common_period(self.events.side, self.alarms, self.window + 1, levels.SEASON, either=True)
            if alone.found:
                steps = tidy(alone.steps)
                return self._season(steps, say("period {}, of the {alarms}", self.told(steps)), alone.pvalue)
        return None

    def _season(self, period: Period, label: str, pvalue: float) -> Season:
        """A season of these data; its steps are known where all steps count, and time is regular."""
        clock, open_steps, steps = self.cell.clock, self.cell.truth.open_steps, None
        if not isinstance(period, str):
            steps = period if open_steps.all() else None
        elif clock is not None and open_steps.all() and not period.startswith("day of month"):
            regular = np.ptp(np.diff(clock.ticks)) <= 0.01 * clock.step
            steps = float(CALENDAR_PERIODS[period] / (clock.step * clock.tick_size)) if regular else None
        n, cycles = len(open_steps), 0.0
        if steps or not isinstance(period, str):
            cycles = n / (steps or float(period))
        n_steps = self.cell.n_steps
        return Season(period=period, steps=steps, label=label, cycles=cycles, n_steps=n_steps, pvalue=pvalue)

    @lazy
    def second(self) -> CommonPeriod | None:
        """Another period that both follow, beyond what the first season explains."""
        if self.first is None or not self.first.cycles:
            return None
        if least_of_period(*self._beyond_first, self.window + 1)[0] > levels.SEASON:
            return None
        found = common_period(*self._beyond_first, self.window + 1, levels.SEASON)
        if not found.found:
            return None
        # this near to 0 it is a slow change; this near to the first, or to what its phases keep, a change of strength
        times = round(found.cycles / self.first.cycles)
        known = (0, min(times, 1)) if isinstance(self.first.period, str) else (0, times)
        apart = min(abs(found.cycles - multiple * self.first.cycles) for multiple in known)
        return found if apart >= levels.CYCLES_OF_CHANGE[-1] else None

    @lazy
    def season(self) -> Season | None:
        """The season that a null has to keep: the longer of two, where it is a multiple of the shorter."""
        first, second = self.first, self.second
        if first is None:
            return None
        steps, n = first.steps or 0.0, len(self.cell.truth.open_steps)
        if second is None:
            if not self._weeks:
                return first
            return self._of_both(tidy(steps), tidy(steps * levels.CYCLE), (first.period, levels.CYCLE))
        for times in range(1, levels.MOST_TIMES + 1) if steps else ():  # of the first, until the second is a part of it
            long = steps * times
            parts, off = long / second.steps, levels.OFF_CYCLES * long / n
            if n / long < levels.LEAST_CYCLES - 0.5:
                break
            whole, missed = round(parts), abs(parts - round(parts))
            if times > 1 and whole > 0 and missed <= off:
                return self._of_both(tidy(steps), tidy(long), (first.period, times))
            if times == 1 and whole > 1 and missed <= min(max(levels.SAME_PERIOD, off) * whole, levels.OFF_CYCLES):
                if isinstance(first.period, str):  # its phases keep the second too
                    return first
                return self._of_both(tidy(second.steps), tidy(second.steps * whole), (tidy(second.steps), whole))
        other = tidy(second.steps)  # no single period keeps both
        return replace(first, label=f"{first.label} and period {self.told(float(f'{other:.4g}'))}", beside=other)

    @lazy
    def _weeks(self) -> bool:
        """Whether cycles of a season without a clock, days perhaps, differ by their place in seven of them."""
        first, n = self.first, len(self.cell.truth.open_steps)
        if first is None or isinstance(first.period, str) or not first.steps:
            return False
        cycles = int(n / first.steps)
        if not levels.LEAST_CYCLES * levels.CYCLE <= cycles <= levels.MOST_DAYS:
            return False
        edges, number = np.rint(np.arange(cycles + 1) * first.steps), np.arange(cycles)

        def pvalue(steps: IntArray, orders: int) -> float:
            return in_cycle(np.diff(np.searchsorted(steps, edges)), number, levels.CYCLE, orders=orders)

        events = alarms = 1.0
        for orders in (FIRST_ORDERS, ORDERS):
            known = partial(pvalue, self.events.starts, orders)  # by other detectors of the same period
            events = self.events.once(("weeks", first.steps, orders), known)
            alarms = pvalue(self.alarm_starts, orders)
            if fisher(events, alarms, 0.0) > levels.WEEKS:  # neither more orders nor likeness would lower it
                return False
        return fisher(events, alarms, likeness(self.events.side, self.alarms)) <= levels.WEEKS

    def _of_both(self, short: float, long: float, inner: tuple[Period, int]) -> Season:
        """The season of a short period and a long one."""
        label = f"periods of {self.told(short)} and {self.told(long)}"
        return replace(self._season(long, label, self.first.pvalue if self.first else 1.0), inner=inner)

    @property
    def entangled(self) -> bool:
        """Whether two seasons are there that no null keeps: single events can stay within the phases of both."""
        season = self.season
        if season is None or season.beside is None:
            return False
        return bool(self.together) or not season.most_windows

    def strict(self) -> Look:
        """The same where the season of one side does not suffice, with what has been worked out and stays the same."""
        strict = replace(self, either=False)
        same = ("events", "alarm_starts", "alarms", "longest_alarm", "window", "calendar", "search")
        strict.__dict__.update({name: self.__dict__[name] for name in same if name in self.__dict__})
        return strict

    @lazy
    def _beyond_first(self) -> tuple[Side, Side]:
        """Both sides less what the first season explains: looked at for a second one and for slow changes."""
        return self._beyond(self.first)  # type: ignore[arg-type]  # asked for only where there is one

    def _beyond(self, season: Season, weekdays: PeriodShuffle | None = None) -> tuple[Side, Side]:
        """Both sides less what a season explains, and what weekdays do where its periods are days.

        The events' is kept for the next detector, which may show the same season.
        """
        truth, nulls = self.cell.truth, [replace(season, beside=None).null()]
        if season.beside is not None:  # one after the other: the phases of both together would explain nearly all
            nulls.append(Seasonal(period=season.beside))

        def rest(steps: IntArray, strata: list[IntArray]) -> Side:
            values = np.bincount(steps, minlength=self.cell.n_steps).astype(np.float64)
            for one in strata:
                sizes = np.maximum(np.bincount(one), 1)
                values -= (np.bincount(one, weights=values) / sizes)[one]
            return Side.of_values(values, truth.open_steps)

        def of_events() -> tuple[list[IntArray], Side]:
            strata = [null.strata_of(truth) for null in nulls]
            if weekdays is not None:
                days = weekdays.exchange(truth)
                strata.insert(1, np.repeat(days.number % levels.CYCLE, np.diff(days.edges)))
            return strata, rest(self.events.starts, strata)

        key = (*(null.text for null in nulls), weekdays)
        name = "beyond the first season" if season is self.first else "beyond the season"
        strata, events = self.events.latest(name, key, of_events)
        return events, rest(self.alarm_starts, strata)

    # ---- slow changes, and windows of time in which these are slow

    @lazy
    def drift(self) -> Drift:
        """Slow changes of both rates, beyond what a season explains."""
        if self.season is None:
            sides = self.events.side, self.alarms
        elif self.weekday_pvalue <= levels.SLOW_BESIDE_SEASON:  # weekdays of a few weeks would look like a slow change
            sides = self._beyond(self.season, self._periods)
        else:
            sides = self._beyond_first if self.season is self.first else self._beyond(self.season)
        return drift(*sides, self.events.longest)

    def may_drift(self, level: float) -> bool:
        """Whether slow changes may be seen at the level, where there is no season to explain them."""
        return least_of_drift(self.events.side, self.alarms, self.events.longest) <= level

    @lazy
    def drifts(self) -> bool:
        """Whether rates change slowly."""
        if self.season is not None:
            return self.drift.pvalue <= levels.SLOW_BESIDE_SEASON
        return self.may_drift(levels.SLOW_CHANGE) and self.drift.pvalue <= levels.SLOW_CHANGE

    @lazy
    def changes(self) -> str:
        """That rates change slowly, as the beginning of a sentence: evidence, no fact."""
        told = "{Events} and {alarms} seem to change slowly with time (a trend or a drift, {})"
        return say(told, p_is(self.drift.pvalue))

    @lazy
    def windows(self) -> int:
        """Windows of time, each several tolerances long."""
        return max(
            min(
                levels.WINDOWS * self.drift.cycles // 2,
                self.cell.n_steps // (levels.WINDOW_OF_TOLERANCES * self.window),
            ),
            1,
        )

    @lazy
    def eras(self) -> int:
        """Windows of time of a season, each several cycles long."""
        cycles = 0.0 if self.season is None else self.season.cycles
        most, long = levels.MOST_ERAS, levels.CYCLES_OF_ERA
        if self.drifts:
            most, long = levels.MOST_ERAS_OF_CHANGE, levels.CYCLES_OF_ERA_OF_CHANGE
        if self.season is not None and self.season.beside is not None:  # what they leave goes into finer phases
            most = min(most, self.season.most_windows) if self.drifts else 1
        return max(min(most, int(cycles / long)), 1)

    # ---- whether events can be moved one by one

    @lazy
    def together(self) -> str:
        """Why they cannot; empty where they can."""
        if self.events.ranges:
            return say("{events} come as runs" if self.cell.truth.points else "{events} are ranges")
        if self.events.few:
            return say("there are too few {events} to tell whether they cluster")
        if self.events.spaced:
            return say("{events} seem to keep a distance from each other")
        if self.season is not None or self.drifts:
            clustered = min(self.within.counts.pvalue, self.within.gaps.pvalue) <= levels.CLUSTERED_WITHIN
            return say("{events} come in clusters") if clustered else ""
        if self.events.clusters.pvalue <= levels.CLUSTERED:
            return say("{events} may come in clusters")
        return ""

    @lazy
    def within(self) -> Clusters:
        """Clusters within the phases of the season or the windows of a slow change."""
        own = self.events.own
        if self.season is None:
            null: Stratified = LocalPermutation(windows=self.windows)
        else:
            null = self.season.null(self.eras) if own is None else self.null_of(self.season, self.eras)
        return self.events.once(null.text, lambda: clusters_against(self.cell.truth if own is None else own, null.draw))

    # ---- whole periods of the season, which may change places

    @lazy
    def _period(self) -> tuple[Period, int] | None:
        """These periods, and how many of them lie between two that may; None where there are none."""
        if self.season is None or self.season.beside is not None:
            return None
        period, times = self.season.inner or (self.season.period, 1)
        if not isinstance(period, str):
            return period, times
        if period not in UNIT_OF:
            return None
        unit, cycle = UNIT_OF[period]
        return unit, times * cycle

    @lazy
    def _periods(self) -> PeriodShuffle | None:
        """The null that exchanges them, on the steps that are looked at; None where there are none, or too many."""
        if self._period is None:
            return None
        try:
            null = PeriodShuffle(period=self._period[0], cycle=self._period[1])
            null.exchange(self.cell.truth)
        except InputError:
            return None
        return null

    @lazy
    def _counts_of_periods(self) -> tuple[IntArray, IntArray]:
        """Alarms of the periods that change places, and which these are."""
        if self._periods is None:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        found = self._periods.exchange(self.cell.truth)
        return found.counted(self.alarm_starts)[found.moving], found.number[found.moving]

    @lazy
    def weekday_pvalue(self) -> float:
        """How often alarms of days differ as much by weekday, where these mean nothing; 1 where periods are no days."""
        if self._period != ("day", 1) or self._periods is None:
            return 1.0
        return in_cycle(*self._counts_of_periods, levels.CYCLE)

    @lazy
    def differ_by_weekday(self) -> bool:
        """Whether alarms of days differ by weekday: days are then not exchangeable, but those of one weekday are."""
        # hardly anything keeps a slow change besides
        return self.weekday_pvalue <= (levels.SLOW_BESIDE_SEASON if self.drifts else levels.SHARED_CYCLE)

    @lazy
    def exchanged(self) -> PeriodShuffle | None:
        """The null that exchanges whole periods of the season: of one weekday or within windows, where these differ."""
        null = self._periods
        if null is None:
            return None
        if self.differ_by_weekday:
            null = replace(null, cycle=levels.CYCLE)
        counts, number = self._counts_of_periods
        two = 2 * levels.CYCLE
        enough = null.cycle == levels.CYCLE and len(counts) >= levels.LEAST_CYCLES * two
        if enough and in_cycle(counts, number, two, levels.CYCLE) <= levels.FORTNIGHTS:
            null = replace(null, cycle=two)
        if self.drift.pvalue <= levels.SLOW_CHANGE or in_order(counts) <= levels.FOLLOWING:
            long = levels.PERIODS_OF_WINDOW if null.cycle == 1 else levels.CYCLES_OF_WINDOW * null.cycle
            null = replace(null, windows=max(len(counts) // long, 1))
        if self.sketch is not None and not isinstance(null.period, str):
            null = replace(null, period=self.sketch.length(null.period))
        return null


def tidy(steps: float) -> int | float:
    """A period in steps without meaningless digits."""
    near = round(steps)
    return near if abs(steps - near) < 0.02 else float(f"{steps:.5g}")


# ---- the table: what may be seen, whether a null keeps it, and what is said of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at.

    Attributes
    ----------
    name : str
        Such as "clusters of events".
    found : bool
        Whether it is there, at the level of the diagnosis.
    statistic : float
        What was measured; ``looked_at`` says what it is.
    pvalue : float or None
        How often the statistic is that extreme where there is nothing to find; None where that was not tested.
    looked_at : str
        What the statistic is and where it was looked for.
    sentence : str
        What it means, in plain words.
    """

    name: str
    found: bool
    statistic: float
    pvalue: float | None
    looked_at: str
    sentence: str


class Trait(ABC):
    """An entry: a trait of events and alarms that chance must have too.

    Attributes
    ----------
    kept : str
        What nulls that keep it declare in `NullModel.keeps`.
    ignored : str
        The end of a sentence about a null that does not.
    """

    kept: ClassVar[Kept]
    ignored: ClassVar[str] = "which it does not keep"

    @abstractmethod
    def is_there(self, look: Look) -> bool:
        """Whether it is seen, so that auto has to keep it."""

    @abstractmethod
    def seen(self, look: Look) -> str:
        """That it is, as the beginning of a sentence."""

    def beside(self, look: Look) -> str:
        """The same behind another trait."""
        return self.seen(look)

    @abstractmethod
    def doubt(self, null: NullModel, look: Look) -> str:
        """What speaks against a null that was insisted on, with the remedy; only where the data are plain."""

    @abstractmethod
    def findings(self, look: Look) -> tuple[Finding, ...]:
        """What a diagnosis shows of it, found or not."""


class Seasons(Trait):
    """Events or alarms follow a period."""

    kept = "season"

    def is_there(self, look: Look) -> bool:
        return look.season is not None

    def seen(self, look: Look) -> str:
        return "" if look.season is None else look.season.seen

    def doubt(self, null: NullModel, look: Look) -> str:
        """A season that events and alarms both follow."""
        if look.cell.n_events < levels.ENOUGH_EVENTS or len(look.cell.alarms) == 0:
            return ""
        tried = len(look.calendar)
        for season in look.calendar:
            pvalue = tried * max(season.events.pvalue, season.alarms.pvalue)
            if pvalue <= levels.DOUBT:
                return say(
                    "{Events} and {alarms} both seem to follow a season ({}, {}), which the null {} does not keep: it calls "
                    "that skill. Use {}.",
                    str(season.period),
                    p_is(pvalue),
                    null.name,
                    arg("null", f"seasonal:period={season.period}"),
                )
        if look.cell.n_steps > levels.SEARCHED_UNASKED or not look.may_share_period:
            return ""
        if look.search is None or not look.search.found or look.search.pvalue > levels.DOUBT or look.season is None:
            return ""
        return say(
            "{} that {events} and {alarms} may share, which the null {} does not keep: it would call that skill. Use {}.",
            look.season.seen,
            null.name,
            arg("null", "auto"),
        )

    def findings(self, look: Look) -> tuple[Finding, ...]:
        """Of the calendar or of a known period, and the search for any other."""
        found = tuple(
            Finding(
                name=say("season of {}: {}", THINGS[side], season.label),
                found=seen,
                statistic=evidence.statistic,
                pvalue=evidence.pvalue,
                looked_at="spectrum at the period and its harmonics over its neighbours, or cycles with one in the busiest phase over chance (largest)",
                sentence=say(
                    "{} seem to follow a season ({}, {}): a null must keep it.",
                    THINGS[side.capitalize()],
                    season.label,
                    p_is(evidence.pvalue),
                )
                if seen
                else say("{} show no season ({}).", THINGS[side.capitalize()], season.label),
            )
            for season in look.calendar
            for side, evidence, seen in (
                ("events", season.events, season.events_found),
                ("alarms", season.alarms, season.alarms_found),
            )
        )
        searched = look.search
        if searched is None:
            return found
        period, unit = look.measured(searched.steps)
        short, long = (look.told(int(length), alone=unit) for length in (searched.shortest, searched.longest))
        # a small p of something else beside a "no" would read as a contradiction
        other = not searched.found and searched.pvalue <= 2 * levels.SEASON
        return (
            *found,
            Finding(
                name="season of any period",
                found=searched.found,
                statistic=period if searched.found else math.nan,
                pvalue=None if other else searched.pvalue,
                looked_at=f"period in {unit}, of {short} to {long}, that both spectra show"
                + ("; one side alone, or a slow change, has one" if other else ""),
                sentence=say(
                    "{Events} and {alarms} seem to share a period of about {:,.4g} {}: a null must keep it.",
                    period,
                    unit,
                )
                if searched.found
                else say("{Events} or {alarms} have a period of their own or change slowly, but share no period.")
                if other
                else say("No period that {events} and {alarms} share was found."),
            ),
        )


class SlowChange(Trait):
    """The rates of events and alarms change slowly with time."""

    kept = "drift"

    def is_there(self, look: Look) -> bool:
        return look.drifts

    def seen(self, look: Look) -> str:
        return look.changes

    def beside(self, look: Look) -> str:
        del look
        return "rates also seem to change slowly"

    def doubt(self, null: NullModel, look: Look) -> str:
        """A change that both rates share."""
        few = look.cell.n_events < levels.ENOUGH_EVENTS or len(look.cell.alarms) == 0
        if few or (look.season is None and not look.may_drift(levels.DOUBT)) or look.drift.pvalue > levels.DOUBT:
            return ""
        return say(
            "{}, which the null {} does not keep: it may call that skill. Use {}, or {}.",
            look.changes,
            null.name,
            arg("null", "local-shift"),
            arg("null", "auto"),
        )

    def findings(self, look: Look) -> tuple[Finding, ...]:
        return (
            Finding(
                name="slow change",
                found=look.drifts,
                statistic=look.drift.ratio,
                pvalue=look.drift.pvalue,
                looked_at=say("spectra of {events} and {alarms} below 8 cycles, over the rest (largest ratio)"),
                sentence=say("{}: only local nulls keep that.", look.changes)
                if look.drifts
                else say("No slow change that {events} and {alarms} share was found."),
            ),
        )


class Together(Trait):
    """Events cannot be moved one by one: they come as runs, in clusters, or at a distance from each other."""

    kept = "clusters"
    ignored = "but it moves each one independently"

    def is_there(self, look: Look) -> bool:
        return bool(look.together)

    def seen(self, look: Look) -> str:
        return capitalised(look.together)

    def beside(self, look: Look) -> str:
        return look.together

    def doubt(self, null: NullModel, look: Look) -> str:
        """Events in runs or clusters under a null that places them one by one."""
        n = look.cell.n_events
        if "runs" in null.keeps or n < 2 or not look.cell.truth.points:
            return ""
        runs = look.events.runs
        if in_runs(runs, levels.DOUBT):
            return say(
                "{Events} come as runs of {:.3g} steps on average, which the null {} tears apart: its p-values cannot be "
                "trusted. Use {} or {}.",
                runs.statistic,
                null.name,
                arg("null", "circular-shift"),
                arg("null", "segments"),
            )
        # a season makes clusters too, and so does a slow change: no reproach to the null that keeps it
        if null.keeps & {"clusters", "season", "drift"} or n < levels.ENOUGH_EVENTS:
            return ""
        clusters = look.events.clusters
        if clusters.pvalue > levels.DOUBT:
            return ""
        return say(
            "{Events} come in clusters (variance over mean of counts up to {:.3g}), which the null {} tears apart: p-values "
            "of recall come out too small. Use {}, or see {}.",
            clusters.statistic,
            null.name,
            arg("null", "circular-shift"),
            verb("diagnose"),
        )

    def findings(self, look: Look) -> tuple[Finding, ...]:
        """Clusters, even spacing and runs."""
        events, cell = look.events, look.cell
        inner = not (events.ranges or events.few) and (look.season is not None or look.drifts)
        within = "" if not inner else ", within phases" if look.season is not None else ", within windows of time"
        clusters = look.within.counts if inner else events.clusters
        level = levels.CLUSTERED_WITHIN if inner else levels.CLUSTERED
        clustered, even = not events.few and clusters.pvalue <= level, not events.few and events.spaced
        scales = cluster_scales(cell.n_steps)
        looked = f"{look.told(int(scales[0]))} to {look.told(int(scales[-1]))}" if len(scales) else "no scale"
        if look.sketch is None and len(scales):
            looked = f"{scales[0]} to {scales[-1]:,} steps"
        # gaps are between places, of which a step of the sketch may hold many
        gap, unit = look.measured(events.evenness.statistic / (1 if look.sketch is None else look.sketch.width))
        on = say("labelled steps" if look.sketch is None else "{events} on neighbouring ticks")
        return (
            Finding(
                name=say("clusters of {events}"),
                found=clustered,
                statistic=clusters.statistic,
                pvalue=clusters.pvalue,
                looked_at=f"largest variance over mean of counts in {looked}{within}",
                sentence=say(
                    "{Events} may come in clusters: placing them independently would understate what chance does."
                )
                if clustered
                else say(
                    "{} {} too few to show clusters.",
                    plural(cell.n_events, "event"),
                    "are" if cell.n_events != 1 else "is",
                )
                if events.few
                else say("No clusters of {events} were found."),
            ),
            Finding(
                name=say("evenly spaced {events}"),
                found=even,
                statistic=gap,
                pvalue=events.evenness.pvalue,
                looked_at=say("smallest gap between two {events}, in {}", unit),
                sentence=say(
                    "{Events} seem to keep a distance from each other: placing them independently would understate what "
                    "they cover."
                )
                if even
                else say("{Events} keep no more distance from each other than random ones."),
            ),
            Finding(
                name=say("runs of {events}"),
                found=events.in_runs,
                statistic=events.runs.statistic,
                pvalue=events.runs.pvalue,
                looked_at=say("mean length of runs of {}", on),
                sentence=say("{} come in runs (ranges): a permutation would tear them apart.", capitalised(on))
                if events.in_runs
                else say("{} do not come in runs.", capitalised(on))
                if look.sketch is None
                else say("{Events} do not come in runs."),
            ),
        )


SEASONS, SLOW_CHANGE, TOGETHER = Seasons(), SlowChange(), Together()
TRAITS: tuple[Trait, ...] = (SEASONS, SLOW_CHANGE, TOGETHER)  # first what is worst to ignore


def traits_of(look: Look) -> tuple[Trait, ...]:
    """Those that are seen, and that a null has to keep."""
    return tuple(trait for trait in TRAITS if trait.is_there(look))


def against(null: NullModel, look: Look) -> str:
    """What is seen that a null does not keep, in a sentence; empty where it keeps all of it."""
    for trait in traits_of(look):
        if trait.kept not in null.keeps:
            return say("{}, {}.", trait.seen(look), trait.ignored)
    return ""
