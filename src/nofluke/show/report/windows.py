"""The sliders of a page about two lists of times: tolerances, and lags around the chosen one, all in whole ticks."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from nofluke.inference.coincidences import Coincidence
from nofluke.inference.evaluation import Evaluation
from nofluke.plain import exact_fraction
from nofluke.series.ticks import Ticks, Watch, length_in_words
from nofluke.series.tolerance import Tolerance
from nofluke.show.report.grid import FACTORS, FEW_FACTORS, Grid, make_grid, tolerances_around
from nofluke.show.report.positions import SECONDS, cell_seconds

HALVES = (8, 6, 4, 2, 1, 0)  # lags to each side of the chosen one, as many as there is time for
PER_WINDOW = 4  # steps of the lag in which a window moves by its own length
MANY = 12  # ticks of a tolerance from which on a window of one tick would hardly ever be hit
COARSE = 1_000  # ticks of a tolerance from which on its fractions need not be rounded to ticks


@dataclass(frozen=True, slots=True, kw_only=True)
class Lag:
    """A lag: nanoseconds for dates, else the unit of the times."""

    length: int | float
    dates: bool

    @property
    def short(self) -> str:
        """Such as "-2d"."""
        size = length_in_words(abs(exact_fraction(self.length)), dates=self.dates)
        return f"-{size}" if self.length < 0 else size

    def __str__(self) -> str:
        if self.length == 0:
            return "none"
        return f"alarms {self.short.removeprefix('-')} {'after' if self.length > 0 else 'before'} events"


def grid_of(result: Evaluation) -> Grid:
    """The grid of any result: tolerances by lags for two lists of times, else tolerances by thresholds."""
    return window_grid(result) if isinstance(result, Coincidence) else make_grid(result)


def window_grid(result: Coincidence) -> Grid:
    """Tolerances shaped like the chosen one, each moved by the same lags, that take a few seconds together."""
    makings = [(FACTORS, HALVES[0]), *((FEW_FACTORS, half) for half in HALVES)]
    for factors, half in makings:
        grid = _grid(result, factors, half)
        if _seconds(result, grid) <= SECONDS:
            break
    return grid


def _grid(result: Coincidence, factors: tuple[float, ...], half: int) -> Grid:
    ticks, watch = result.sequence.ticks, result.sequence.watch
    widths = _widths(result.width, ticks, watch.watched, factors)
    lags = lags_around(result.width, result.lag, watch, half)
    chosen = (widths.index(result.width), [lag.length for lag in lags].index(result.lag))
    windows = [[width.by(lag.length) if lag.length else width for lag in lags] for width in widths]
    windows[chosen[0]][chosen[1]] = result.tolerance
    left_out = (
        ""
        if half == HALVES[0] and factors == FACTORS
        else "Fewer windows than usual, because chance takes long to compute here."
    )
    return Grid(
        trial=result.cell.trial.over(tuple(window for row in windows for window in row), np.ones(1)),
        quantiles=(None,) * len(lags),
        chosen=chosen,
        left_out=left_out,
        widths=widths,
        lags=lags,
    )


def lags_around(width: Tolerance, chosen: int | float, watch: Watch, half: int = HALVES[0]) -> tuple[Lag, ...]:
    """Lags on both sides of the chosen one, a quarter window apart, at most a quarter of the watched time away."""
    ticks = watch.ticks
    sides: tuple[Any, Any] = (width.early, width.late)
    step = max(round((ticks.floor(sides[0]) + ticks.floor(sides[1])) / PER_WINDOW), 1)
    half = min(half, max(watch.watched // 4 // step, min(half, 1)))
    apart = step * ticks.size
    return tuple(
        Lag(length=chosen if j == 0 else _number(exact_fraction(chosen) + j * apart), dates=ticks.is_dates)
        for j in range(-half, half + 1)
    )


def _number(length: Fraction) -> int | float:
    return int(length) if length.denominator == 1 else float(f"{float(length):.12g}")


def _widths(chosen: Tolerance, ticks: Ticks, watched: int, factors: tuple[float, ...]) -> tuple[Tolerance, ...]:
    """Tolerances around the chosen one that differ by whole ticks."""
    sides: tuple[Any, Any] = (chosen.early, chosen.late)
    early, late = (ticks.floor(side) for side in sides)
    reach = max(abs(early), abs(late))
    if reach > MANY:  # one hit in so short a window is many standard deviations: it would drown the correction
        factors = tuple(factor for factor in factors if factor)
    if not ticks.rounded or reach > COARSE:
        return tolerances_around(chosen, watched, factors)
    own = Tolerance(early=early, late=late)

    def in_time(tolerance: Tolerance) -> Tolerance:
        both: tuple[Any, Any] = (tolerance.early, tolerance.late)
        lengths = [_number(side * ticks.size) for side in both]
        return Tolerance(early=lengths[0], late=lengths[1], unit=chosen.unit if ticks.is_dates else "clock")

    made = tolerances_around(own, watched, factors)
    return tuple(dict.fromkeys(chosen if one == own else in_time(one) for one in made))


def _seconds(result: Coincidence, grid: Grid) -> float:
    """About how long all cells take: the widest tolerances cost most."""
    rows, columns = grid.shape
    some = {rows // 2, rows - 1}
    each = [cell_seconds(result, grid.cell(d, grid.chosen[1])) for d in some]
    return sum(each) / len(each) * rows * columns
