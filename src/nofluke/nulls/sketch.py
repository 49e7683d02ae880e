"""Events and alarms at their own times, drawn on a grid: what spectra and seasons are looked for on."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nofluke.arrays import BoolArray, IntArray
from nofluke.dates import format_duration
from nofluke.series.clock import Clock
from nofluke.series.counting import runs
from nofluke.series.timed import TimedCell, TimedTruth
from nofluke.series.tolerance import Reach, Tolerance
from nofluke.series.trial import Cell, Trial
from nofluke.series.truth import Truth

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
