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
from typing import ClassVar

import numpy as np

from nofluke.arrays import BoolArray, IntArray
from nofluke.dates import format_duration, parse_duration, rounded_duration
from nofluke.errors import arg, say, verb
from nofluke.lazy import lazy
from nofluke.nulls import levels
from nofluke.nulls.base import Kept, NullModel
from nofluke.nulls.evidence import (
    Clusters,
    Evidence,
    adjacency,
    cluster_scales,
    clustering,
    clusters_against,
    evenness,
    in_runs,
)
from nofluke.nulls.local import LocalPermutation
from nofluke.nulls.seasonal import Seasonal
from nofluke.nulls.seasons import (
    CALENDAR_PERIODS,
    CommonPeriod,
    Drift,
    Period,
    SeasonSeen,
    Side,
    common_period,
    drift,
    look_for_seasons,
    strongest,
)
from nofluke.nulls.stratified import Stratified
from nofluke.series.clock import Clock
from nofluke.series.counting import runs
from nofluke.series.timed import TimedCell, TimedTruth
from nofluke.series.tolerance import Reach, Tolerance
from nofluke.series.trial import Cell, Trial
from nofluke.series.truth import Truth
from nofluke.text.numbers import p_is, people_unit
from nofluke.text.tables import plural


@dataclass(frozen=True, slots=True, kw_only=True)
class Season:
    """A season that a null has to keep: a rule of the calendar or a number of steps, and the steps if known.

    ``cycles`` is how often it comes back among ``n_steps``, ``pvalue`` how often chance shows as much of one.
    """

    period: Period
    steps: float | None
    label: str
    cycles: float
    n_steps: int
    pvalue: float

    @property
    def seen(self) -> str:
        """That it is there, as the beginning of a sentence: evidence, no fact."""
        return f"It looks like a season ({self.label}, {p_is(self.pvalue)})"

    def null(self, windows: int = 1) -> Seasonal:
        """The null that keeps it, in so many windows: as many phases as leave each some steps to choose from."""
        if isinstance(self.period, str):
            return Seasonal(period=self.period, windows=windows)
        phases = max(self.n_steps // (levels.IN_PHASE * windows), levels.FEWEST_PHASES)
        return Seasonal(period=self.period, bins=min(phases, int(self.period)), windows=windows)


@dataclass(frozen=True, kw_only=True, eq=False)
class Events:
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

    @lazy
    def side(self) -> Side:
        """Their spectrum."""
        return Side.of_steps(self.starts, self.truth.open_steps)


# ---- events and alarms at their own times, drawn on a grid: what spectra and seasons are looked for on

MOST_STEPS = 2**20  # up to here every place is a step: what is seen is what the grid shows
ENOUGH_STEPS = 2**17  # beyond, so many are enough: clusters are looked at in the times themselves
COARSE = (60 * 10**9, 10**9, 10**6, 10**3)  # a minute, a second, ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sketch:
    """A cell on a grid whose steps are so many places long each, gaps masked; several events on a step are one.

    ``whole`` says that steps are the places themselves, so that nothing is lost. ``alarm_runs`` are the steps on which
    runs of alarms begin, where these are runs of time stamps; None where alarms are a list of times.
    """

    cell: Cell
    truth: TimedTruth
    width: int
    alarm_runs: IntArray | None = None

    @property
    def whole(self) -> bool:
        """Whether steps are the places, with one event each."""
        return self.width == 1 and self.truth.slots == 1

    def length(self, steps: float) -> int | float | str:
        """A number of steps as a length of time: a duration for dates, else a number in the unit of the times."""
        ticks = self.truth.watch.ticks
        long = Fraction(steps) * self.width * self.truth.watch.stride * ticks.size
        if not ticks.is_dates:
            return int(long) if long.denominator == 1 else float(f"{float(long):.12g}")
        # without meaningless digits, and enough for a period to stay in phase over thousands of cycles
        coarse = next((size for size in COARSE if long >= 100_000 * size), 1)
        return format_duration(max(round(long / coarse) * coarse, 1))


def sketch(cell: TimedCell) -> Sketch:
    """The grid on which a cell is looked at."""
    watch, stride = cell.trial.watch, cell.trial.watch.stride
    first, last = -(-watch.first // stride), -(-int(watch.stops[-1]) // stride)
    every = max(last - first, 1)
    width = 1 if every <= MOST_STEPS else -(-every // ENOUGH_STEPS)
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
        clock = Clock(ticks=times.astype(np.int64), unit=watch.ticks.unit, aware=watch.ticks.aware)
    early, late = (-(-side // (stride * width)) for side in (cell.reach.early, cell.reach.late))
    tolerance = Tolerance(early=early, late=max(late, -early))  # a window that lies between two ticks holds none
    among = None if clock is None else Clock(ticks=clock.ticks[open_steps], unit=clock.unit, aware=clock.aware)
    trial = Trial(
        truth=Truth.of_flags(flags(cell.truth.at), among, open_steps),
        detector=flags(cell.at),
        tolerances=(tolerance,),
        thresholds=np.ones(1),
        reaches=(Reach(tolerance=tolerance, open_steps=open_steps, clock=clock),),
    )
    alarm_runs = np.flatnonzero(flags(stamps[runs(chosen).starts])) if on_stamps else None
    return Sketch(cell=trial.cell(0, 0), truth=cell.truth, width=width, alarm_runs=alarm_runs)


# ---- what is seen in the events and in the alarms, looked at separately: clusters, runs, seasons


@dataclass(frozen=True, kw_only=True, eq=False)
class Look:
    """What is seen in the events and the alarms of one cell of a trial, each looked at by itself."""

    cell: Cell
    alpha: float
    period: Period | None = None
    sketch: Sketch | None = None
    wide: int = 1  # steps around an event in which alarms count, where they are more than those within the tolerance

    @classmethod
    def of(cls, cell: Cell, alpha: float, period: Period | None = None, *, wide: int = 1) -> Look:
        """A look at a cell of any trial; at events without a grid, through a sketch on one."""
        drawn = cell.by_axis(steps=lambda _: None, ticks=sketch)
        if drawn is None:
            return cls(cell=cell, alpha=alpha, period=period, wide=wide)
        return cls(cell=drawn.cell, alpha=alpha, period=period, sketch=drawn)

    @property
    def _own(self) -> TimedTruth | None:
        """Events at their own times, where the sketch loses something of them."""
        return None if self.sketch is None or self.sketch.whole else self.sketch.truth

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
        if self.sketch is None or isinstance(season.period, str):
            return null
        return replace(null, period=self.sketch.length(season.period))

    @property
    def events(self) -> Events:
        """What is seen in the events alone."""
        return Events.of(self.cell.truth, self._own)

    @lazy
    def alarm_starts(self) -> IntArray:
        """Where alarms begin, or their runs where these are long: the length of a run is no slow change."""
        steps = self.cell.alarms
        known = None if self.sketch is None else self.sketch.alarm_runs
        found = runs(steps).starts if known is None else known
        return found if len(steps) >= levels.LONG_RUNS * len(found) else steps

    @lazy
    def longest_alarm(self) -> int:
        """Steps of the longest run of alarms."""
        found = self.cell.episodes
        return int((found.stops - found.starts).max(initial=1))

    @lazy
    def alarms(self) -> Side:
        """The spectrum of the alarms."""
        return Side.of_steps(self.alarm_starts, self.cell.truth.open_steps)

    @lazy
    def window(self) -> int:
        """Steps within the tolerance of an event, typically."""
        some = np.arange(0, self.cell.n_steps, max(self.cell.n_steps // 1000, 1))
        found = self.cell.trial.reaches[self.cell.d].around_events(some, some)
        widths = np.sort(found.stops - found.starts)
        return max(int(widths[(len(widths) - 1) // 2] + widths[len(widths) // 2]) // 2, 1) if len(widths) else 1

    @lazy
    def calendar(self) -> tuple[SeasonSeen, ...]:
        """Seasons of the calendar, or the one whose period is known."""
        return look_for_seasons(self.cell, self.period, levels.SEASON)

    @lazy
    def search(self) -> CommonPeriod | None:
        """Any period that both sides have in common; None where the period is known."""
        if self.period is not None:
            return None
        return common_period(self.events.side, self.alarms, self.window + 1, 2 * levels.SEASON)

    @lazy
    def first(self) -> Season | None:
        """The season that shows best, if there is one."""
        seen = strongest(self.calendar)
        if seen is not None:
            sides = 2 * len(self.calendar)  # each was looked at
            return self._season(seen.period, seen.label, min(sides * seen.pvalue, 1.0))
        if self.search is not None and self.search.found:
            steps = tidy(self.search.steps)
            return self._season(steps, f"period {self.told(steps)}", self.search.pvalue)
        return None

    def _season(self, period: Period, label: str, pvalue: float) -> Season:
        steps = self._steps_of(period)
        n = len(self.cell.truth.open_steps)
        cycles = n / steps if steps else n / period if not isinstance(period, str) else 0.0
        n_steps = self.cell.n_steps
        return Season(period=period, steps=steps, label=label, cycles=cycles, n_steps=n_steps, pvalue=pvalue)

    @lazy
    def second(self) -> CommonPeriod | None:
        """Another period that both follow, beyond what the first season explains."""
        if self.first is None or not self.first.cycles:
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
        if first is None or second is None or not first.steps:
            return first
        long, short = max(first.steps, second.steps), min(first.steps, second.steps)
        times = round(long / short)
        if (
            times > 1 and abs(long / short / times - 1) <= levels.SAME_PERIOD
        ):  # the shorter one is known better, having more cycles
            steps = tidy(short * times)
            if len(self.cell.truth.open_steps) / steps >= levels.LEAST_CYCLES:
                label = f"periods of {self.told(tidy(short))} and {self.told(steps)}"
                return self._season(steps, label, first.pvalue)
        return first

    @lazy
    def entangled(self) -> bool:
        """Whether two seasons are there that no single period keeps."""
        return self.second is not None and self.season is self.first

    @lazy
    def _beyond_first(self) -> tuple[Side, Side]:
        """Both sides less what the first season explains: looked at for a second one and for slow changes."""
        return self._beyond(self.first)  # type: ignore[arg-type]  # asked for only where there is one

    def _beyond(self, season: Season) -> tuple[Side, Side]:
        """Both sides less what a season explains."""
        strata = season.null().strata_of(self.cell.truth)
        sizes = np.bincount(strata)

        def rest(steps: IntArray) -> Side:
            flags = np.bincount(steps, minlength=len(strata))
            means = np.bincount(strata, weights=flags) / sizes
            return Side.of_values(flags - means[strata], self.cell.truth.open_steps)

        return rest(self.events.starts), rest(self.alarm_starts)

    def _steps_of(self, period: Period) -> float | None:
        """The period in steps that count; None on an irregular clock or under a mask."""
        if not self.cell.truth.open_steps.all():
            return None
        if not isinstance(period, str):
            return period
        clock = self.cell.clock
        if clock is None or np.ptp(np.diff(clock.ticks)) > 0.01 * clock.step:
            return None
        return float(CALENDAR_PERIODS[period] / (clock.step * clock.tick_size))

    @lazy
    def drift(self) -> Drift:
        """Slow changes of both rates, beyond what a season explains."""
        if self.season is None:
            return drift(self.events.side, self.alarms, self.events.longest)
        sides = self._beyond_first if self.season is self.first else self._beyond(self.season)
        return drift(*sides, self.events.longest)

    @lazy
    def drifts(self) -> bool:
        """Whether rates change slowly."""
        return self.drift.pvalue <= (levels.SLOW_CHANGE if self.season is None else levels.SLOW_BESIDE_SEASON)

    @property
    def changes(self) -> str:
        """That rates change slowly, as the beginning of a sentence: evidence, no fact."""
        return f"Events and alarms seem to change slowly with time (a trend or a drift, {p_is(self.drift.pvalue)})"

    @lazy
    def few(self) -> bool:
        """Whether there are too few events to show clusters."""
        return self.events.n < levels.FEW_EVENTS

    @lazy
    def within(self) -> Clusters:
        """Clusters within the phases of the season or the windows of a slow change."""
        own = self._own
        if self.season is None:
            null: Stratified = LocalPermutation(windows=self.windows)
        else:
            null = self.season.null(self.eras) if own is None else self.null_of(self.season, self.eras)
        return clusters_against(self.cell.truth if own is None else own, null.draw)

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
        if self.drifts:
            return max(min(levels.MOST_ERAS_OF_CHANGE, int(cycles / levels.CYCLES_OF_ERA_OF_CHANGE)), 1)
        return max(min(levels.MOST_ERAS, int(cycles / levels.CYCLES_OF_ERA)), 1)

    @lazy
    def spaced(self) -> bool:
        """Whether events keep a distance from each other."""
        return self.events.evenness.pvalue <= levels.SPACED

    @lazy
    def clustered(self) -> bool:
        """Whether events come in clusters, against random steps."""
        return self.events.clusters.pvalue <= levels.CLUSTERED

    @lazy
    def together(self) -> str:
        """Why events cannot be moved one by one; empty where they can."""
        if self.events.ranges:
            return "events come as runs" if self.cell.truth.points else "events are ranges"
        if self.few:
            return "there are too few events to tell whether they cluster"
        if self.spaced:
            return "events seem to keep a distance from each other"
        if self.season is not None or self.drifts:
            clustered = min(self.within.counts.pvalue, self.within.gaps.pvalue) <= levels.CLUSTERED_WITHIN
            return "events come in clusters" if clustered else ""
        if self.clustered:
            return "events may come in clusters"
        return ""


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
    def seen(self, look: Look) -> str:
        """That auto has to keep it, as the beginning of a sentence; empty where it is not seen."""

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

    def seen(self, look: Look) -> str:
        return "" if look.season is None else look.season.seen

    def doubt(self, null: NullModel, look: Look) -> str:
        """A season that events and alarms both follow."""
        if look.cell.n_events < levels.ENOUGH_EVENTS or len(look.cell.alarms) == 0:
            return ""
        tried = len(CALENDAR_PERIODS)
        for season in look.calendar:
            pvalue = tried * max(season.events.pvalue, season.alarms.pvalue)
            if pvalue <= levels.DOUBT:
                return say(
                    "Events and alarms both seem to follow a season ({}, {}), which the null {} does not keep: it calls "
                    "that skill. Use {}.",
                    str(season.period),
                    p_is(pvalue),
                    null.name,
                    arg("null", f"seasonal:period={season.period}"),
                )
        if look.cell.n_steps > levels.SEARCHED_UNASKED:
            return ""
        if look.search is None or not look.search.found or look.search.pvalue > levels.DOUBT or look.season is None:
            return ""
        return say(
            "{} that events and alarms may share, which the null {} does not keep: it would call that skill. Use {}.",
            look.season.seen,
            null.name,
            arg("null", "auto"),
        )

    def findings(self, look: Look) -> tuple[Finding, ...]:
        """Of the calendar or of a known period, and the search for any other."""
        found = tuple(
            Finding(
                name=f"season of {side}: {season.label}",
                found=seen,
                statistic=evidence.statistic,
                pvalue=evidence.pvalue,
                looked_at="spectrum at the period and its harmonics, over its neighbours (largest)",
                sentence=f"{side.capitalize()} seem to follow a season ({season.label}, {p_is(evidence.pvalue)}): a null must keep it."
                if seen
                else f"{side.capitalize()} show no season ({season.label}).",
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
                sentence=f"Events and alarms seem to share a period of about {period:,.4g} {unit}: a null must keep it."
                if searched.found
                else "Events or alarms have a period of their own or change slowly, but share no period."
                if other
                else "No period that events and alarms share was found.",
            ),
        )


class SlowChange(Trait):
    """The rates of events and alarms change slowly with time."""

    kept = "drift"

    def seen(self, look: Look) -> str:
        return look.changes if look.drifts else ""

    def beside(self, look: Look) -> str:
        return "rates also seem to change slowly" if look.drifts else ""

    def doubt(self, null: NullModel, look: Look) -> str:
        """A change that both rates share."""
        few = look.cell.n_events < levels.ENOUGH_EVENTS or len(look.cell.alarms) == 0
        if few or look.drift.pvalue > levels.DOUBT:
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
                looked_at="spectra of events and alarms below 8 cycles, over the rest (largest ratio)",
                sentence=f"{look.changes}: only local nulls keep that."
                if look.drifts
                else "No slow change that events and alarms share was found.",
            ),
        )


class Together(Trait):
    """Events cannot be moved one by one: they come as runs, in clusters, or at a distance from each other."""

    kept = "clusters"
    ignored = "but it moves each one independently"

    def seen(self, look: Look) -> str:
        return f"{look.together[:1].upper()}{look.together[1:]}"

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
                "Events come as runs of {:.3g} steps on average, which the null {} tears apart: its p-values cannot be "
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
            "Events come in clusters (variance over mean of counts up to {:.3g}), which the null {} tears apart: p-values "
            "of recall come out too small. Use {}, or see {}.",
            clusters.statistic,
            null.name,
            arg("null", "circular-shift"),
            verb("diagnose"),
        )

    def findings(self, look: Look) -> tuple[Finding, ...]:
        """Clusters, even spacing and runs."""
        events, cell = look.events, look.cell
        inner = not (events.ranges or look.few) and (look.season is not None or look.drifts)
        within = "" if not inner else ", within phases" if look.season is not None else ", within windows of time"
        clusters = look.within.counts if inner else events.clusters
        level = levels.CLUSTERED_WITHIN if inner else levels.CLUSTERED
        clustered, even = not look.few and clusters.pvalue <= level, not look.few and look.spaced
        scales = cluster_scales(cell.n_steps)
        looked = f"{look.told(int(scales[0]))} to {look.told(int(scales[-1]))}" if len(scales) else "no scale"
        if look.sketch is None and len(scales):
            looked = f"{scales[0]} to {scales[-1]:,} steps"
        # gaps are between places, of which a step of the sketch may hold many
        gap, unit = look.measured(events.evenness.statistic / (1 if look.sketch is None else look.sketch.width))
        on = "Labelled steps" if look.sketch is None else "Events on neighbouring ticks"
        return (
            Finding(
                name="clusters of events",
                found=clustered,
                statistic=clusters.statistic,
                pvalue=clusters.pvalue,
                looked_at=f"largest variance over mean of counts in {looked}{within}",
                sentence="Events may come in clusters: placing them independently would understate what chance does."
                if clustered
                else f"{plural(cell.n_events, 'event')} {'are' if cell.n_events != 1 else 'is'} too few to show clusters."
                if look.few
                else "No clusters of events were found.",
            ),
            Finding(
                name="evenly spaced events",
                found=even,
                statistic=gap,
                pvalue=events.evenness.pvalue,
                looked_at=f"smallest gap between two events, in {unit}",
                sentence="Events seem to keep a distance from each other: placing them independently would understate what they cover."
                if even
                else "Events keep no more distance from each other than random ones.",
            ),
            Finding(
                name="runs of events",
                found=events.in_runs,
                statistic=events.runs.statistic,
                pvalue=events.runs.pvalue,
                looked_at=f"mean length of runs of {on[0].lower()}{on[1:]}",
                sentence=f"{on} come in runs (ranges): a permutation would tear them apart."
                if events.in_runs
                else f"{on} do not come in runs."
                if look.sketch is None
                else "Events do not come in runs.",
            ),
        )


SEASONS, SLOW_CHANGE, TOGETHER = Seasons(), SlowChange(), Together()
TRAITS: tuple[Trait, ...] = (SEASONS, SLOW_CHANGE, TOGETHER)  # first what is worst to ignore


def traits_of(look: Look) -> tuple[Trait, ...]:
    """Those that are seen, and that a null has to keep."""
    return tuple(trait for trait in TRAITS if trait.seen(look))


def against(null: NullModel, look: Look) -> str:
    """What is seen that a null does not keep, in a sentence; empty where it keeps all of it."""
    for trait in traits_of(look):
        if trait.kept not in null.keeps:
            return f"{trait.seen(look)}, {trait.ignored}."
    return ""
