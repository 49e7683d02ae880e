"""The figure of hits by shift: where the events would have to be for the most hits, at every slider position."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nofluke.arrays import IntArray
from nofluke.inference.evaluation import Evaluation
from nofluke.series.timed import TimedCell
from nofluke.series.trial import Cell
from nofluke.show.report.cells import events_before, hits_by_lag
from nofluke.show.report.grid import Grid
from nofluke.show.report.windows import lags_around
from nofluke.text.numbers import as_people_say
from nofluke.text.tables import plural

Hits = tuple[list[int], list[int]]
FAR = 6  # shifts go as many tolerances away, enough to tell a peak from a hill
MOST_SHIFTS = 61


@dataclass(frozen=True, slots=True, kw_only=True)
class Shifts:
    """Shifts of the events: places on the axis, its title, the text for each, and hits of precision and recall."""

    at: list[float]
    title: str
    told: list[str]
    hits: Callable[[int, int, Cell], Hits]


def shifts_of(result: Evaluation, grid: Grid, lags: IntArray) -> Shifts:
    """On steps, shifts around the circle by each lag; in time, windows that move. Where lags are on a slider, none."""
    noun = result.cell.truth.noun
    if grid.lags:
        return Shifts(at=[], title="", told=[], hits=lambda *_: ([], []))
    if not isinstance(result.cell, TimedCell):
        before = events_before(result.cell)
        lags = _wide(lags, result.cell)
        return Shifts(
            at=lags.tolist(),
            title=f"shift of the {noun}s, in steps",
            told=[plural(abs(lag), "step") for lag in lags.tolist()],
            hits=lambda _d, _k, cell: hits_by_lag(cell, lags, before),
        )
    moves = lags_around(result.tolerance, 0, result.cell.trial.watch)
    at, unit = as_people_say(np.array([move.length for move in moves], dtype=np.float64), moves[0].dates)
    moved = [
        grid.trial.over(tuple(window.by(move.length) if move.length else window for move in moves), grid.thresholds)
        for window in grid.tolerances
    ]
    return Shifts(
        at=at.tolist(),
        title=f"shift of the {noun}s{unit}",
        told=[move.short.removeprefix("-") for move in moves],
        hits=lambda d, k, _: (moved[d].precision_hits[:, k].tolist(), moved[d].recall_hits[:, k].tolist()),
    )


def _wide(lags: IntArray, cell: Cell) -> IntArray:
    """Shifts of some tolerances to both sides, at most a third of the series, thinned to what a figure shows."""
    some = np.arange(0, cell.n_steps, max(cell.n_steps // 100, 1))
    windows = cell.trial.reaches[cell.d].around_events(some, some)
    window = int(np.median(windows.stops - windows.starts))
    reach = min(max(int(lags[-1]), FAR * (window - 1) // 2), max(cell.n_steps // 3, int(lags[-1])))
    return np.unique(np.round(np.linspace(-reach, reach, min(2 * reach + 1, MOST_SHIFTS))).astype(np.int64))
