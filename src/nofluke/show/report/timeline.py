"""The timeline of a report: at most so many columns of steps, each with what its steps hold at every slider position.

A column keeps the smallest and the largest score of its steps, and, for each tolerance, numbers of thresholds (levels) that
say at once what it shows at any threshold: at the k-th, a column has a hit if its best level near an event is above k, a false
alarm if its best level elsewhere is, an event found if the best of its events' best levels is, an event missed if
the worst of them is not. So nothing is dropped, however many steps share a column, and a page need not count anything.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nofluke.arrays import IntArray
from nofluke.inference.coincidences import Coincidence
from nofluke.inference.evaluation import Evaluation
from nofluke.plot.style import MOST_DRAWN
from nofluke.series.counting import largest_within, within
from nofluke.series.timed import TimedTrial
from nofluke.series.truth import Truth
from nofluke.show.report.grid import Grid
from nofluke.show.report.in_time import NO_EVENT, event_lanes, lists_in_time, packed, reach_of

MOST_COLUMNS = 40_000


def timeline(result: Evaluation, grid: Grid) -> dict[str, Any]:
    """Columns of the whole sequence, packed for a page; events that lie between its steps have columns of their own."""
    if isinstance(result, Coincidence):
        return lists_in_time(result, grid)
    sequence = result.sequence
    n = len(sequence.truth)
    per = -(-n // MOST_COLUMNS)
    timed = isinstance(grid.trial, TimedTrial)
    lanes = _timed_lanes(result, grid, per) if timed else _lanes(result, grid, per)
    closed = _largest((~sequence.open_steps).astype(np.uint8), per)
    return {
        "n": n,
        "per": per,
        "points": timed and per == 1,
        "columns": -(-n // per),
        "x": _times(result, per),
        "gaps": [] if sequence.clock is None else np.unique((sequence.clock.gaps + per) // per).tolist(),
        "scores": None if sequence.scores is None else _scores(sequence.scores, per),
        "closed": packed(closed) if closed.any() else None,
        **lanes,
        "windows": [reach_of(tolerance) for tolerance in grid.tolerances],
    }


def _timed_lanes(result: Evaluation, grid: Grid, per: int) -> dict[str, Any]:
    """Alarms on the steps, and events at their own times."""
    trial: Any = grid.trial
    is_open = result.sequence.open_steps
    levels = np.zeros(len(is_open), dtype=np.uint8)
    levels[is_open] = trial.levels
    rows: dict[str, list[npt.NDArray[np.uint8]]] = {"hit": [], "false": []}
    for windows in trial.alarm_windows:
        near = np.zeros(len(is_open), dtype=np.bool_)
        near[is_open] = within(trial.truth.starts, windows) > 0
        rows["hit"].append(_largest(np.where(near, levels, 0), per))
        rows["false"].append(_largest(np.where(near, 0, levels), per))
    return {**{name: packed(np.concatenate(row)) for name, row in rows.items()}, **event_lanes(trial)}


def _lanes(result: Evaluation, grid: Grid, per: int) -> dict[str, Any]:
    """Alarms and events on the steps, at every threshold."""
    sequence = result.sequence
    n = len(sequence.truth)
    levels = np.zeros(n, dtype=np.uint8)  # the page shows all steps, closed ones too
    levels[sequence.open_steps] = grid.trial.levels
    lanes: dict[str, list[npt.NDArray[np.uint8]]] = {"hit": [], "false": [], "found": [], "missed": []}
    event, step = _steps_of_events(grid.trial.truth)
    for d in range(len(grid.tolerances)):
        near = np.zeros(n, dtype=np.bool_)
        near[sequence.open_steps] = grid.trial.near_flags(d)
        best = np.maximum(largest_within(grid.trial.levels, grid.trial.event_windows[d]), 0).astype(np.uint8)
        found, missed = np.zeros(n, dtype=np.uint8), np.full(n, NO_EVENT, dtype=np.uint8)
        np.maximum.at(found, step, best[event])
        np.minimum.at(missed, step, best[event])
        lanes["hit"].append(_largest(np.where(near, levels, 0), per))
        lanes["false"].append(_largest(np.where(near, 0, levels), per))
        lanes["found"].append(_largest(found, per))
        lanes["missed"].append(_smallest(missed, per))
    return {name: packed(np.concatenate(rows)) for name, rows in lanes.items()}


def _steps_of_events(truth: Truth) -> tuple[IntArray, IntArray]:
    """Each event as often as it has steps, from its first to its last one, and these steps among all.

    A range that lies between two steps is drawn on the one behind it.
    """
    at, end = np.flatnonzero(truth.open_steps), truth.n_steps - 1
    first = at[np.minimum(truth.starts, end)]
    lengths = at[np.minimum(np.maximum(truth.stops - 1, truth.starts), end)] - first + 1
    event = np.repeat(np.arange(truth.n), lengths)
    place = np.arange(len(event)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return event, first[event] + place


def _largest(values: npt.NDArray[Any], per: int) -> npt.NDArray[np.uint8]:
    return np.asarray(np.maximum.reduceat(values, np.arange(0, len(values), per)), dtype=np.uint8)


def _smallest(values: npt.NDArray[Any], per: int) -> npt.NDArray[np.uint8]:
    return np.asarray(np.minimum.reduceat(values, np.arange(0, len(values), per)), dtype=np.uint8)


def _scores(scores: npt.NDArray[np.float64], per: int) -> dict[str, Any]:
    """Smallest and largest score of each column; missing ones leave a gap."""
    starts = np.arange(0, len(scores), per)
    drawn = np.clip(scores, -MOST_DRAWN, MOST_DRAWN).astype("<f8")
    high, low = np.fmax.reduceat(drawn, starts), np.fmin.reduceat(drawn, starts)
    return {"high": packed(high), "low": packed(low) if per > 1 else None}


def _times(result: Evaluation, per: int) -> dict[str, Any]:
    """Where each column begins: step numbers, milliseconds since 1970, or the clock's own numbers."""
    clock = result.sequence.clock
    n = len(result.sequence.truth)
    if clock is None:
        return {"kind": "steps", "first": 0, "step": per}
    ticks = clock.ticks[::per].astype(np.float64) * (clock.tick_size / 1e6 if clock.is_dates else 1.0)
    kind = "dates" if clock.is_dates else "clock"
    gaps = np.diff(ticks)
    if n > 1 and len(gaps) and np.ptp(gaps) <= 1e-9 * abs(gaps[0]):
        return {"kind": kind, "first": float(ticks[0]), "step": float(gaps[0])}
    return {"kind": kind, "each": packed(ticks.astype("<f8"))}
