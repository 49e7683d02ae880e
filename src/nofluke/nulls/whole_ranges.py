"""Hits of whole ranges that a null has placed."""

from __future__ import annotations

from typing import Any

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, IntArray
from nofluke.series.counting import newly_hit
from nofluke.series.trial import Cell

HALF = 32  # bits: predictions are fewer than 2**31


def hits_of_ranges(cell: Cell, placements: AnyArray) -> dict[str, IntArray]:
    """Both hits for each placement of whole ranges: rows of first steps, in the order of the truth."""
    rows = np.asarray(placements, dtype=np.int64)
    first, last, found = predictions_near(cell, rows, slice(None))
    return {"precision": hit_by_any(first, last), "recall": np.count_nonzero(found, axis=1).astype(np.int64)}


def hit_by_any(first: IntArray, last: IntArray) -> IntArray:
    """Predictions hit, for each row of events in any order that hit those from ``first`` up to ``last``."""
    pairs = np.sort((first << HALF) | last, axis=1)  # whole numbers are sorted much faster than their order is found
    return newly_hit(pairs >> HALF, pairs & ((1 << HALF) - 1))


def predictions_near(cell: Cell, rows: IntArray, events: Any) -> tuple[IntArray, IntArray, BoolArray]:
    """Of these events, placed from these steps on, the predictions that each makes hits, and whether it is found.

    What ranges have on a clock beyond their first and last step, in steps, they keep wherever they are placed.
    Predictions are counted from the first one up to, not including, the last one; or 0, 0.
    """
    (starts, stops), own = _windows_of_ranges(cell, rows, events), cell.trial.event_windows[cell.d]
    here = _windows_of_ranges(cell, cell.truth.starts[events][None], events)
    starts, stops = (
        np.clip(at + kept[events] - there, 0, cell.n_steps)
        for at, kept, there in ((starts, own.starts, here[0]), (stops, own.stops, here[1]))
    )
    stops = np.maximum(stops, starts)
    before = cell.once("alarms before each step", lambda: np.concatenate([[0], np.cumsum(cell.alarm_flags)]))
    begin, behind = before[starts], before[stops]
    found = behind > begin
    if cell.trial.count_alarms == "episodes":
        counted = cell.episodes
        begin = np.searchsorted(counted.stops, starts, side="right")
        behind = np.where(stops > starts, np.searchsorted(counted.starts, stops, side="left"), begin)
    some = behind > begin
    return np.where(some, begin, 0), np.where(some, behind, 0), found


def _windows_of_ranges(cell: Cell, rows: IntArray, events: Any) -> tuple[IntArray, IntArray]:
    """Steps within the tolerance of each placed range, from its first to its last step."""
    end = cell.n_steps - 1
    last = np.clip(rows + (cell.truth.stops - cell.truth.starts)[events] - 1, 0, end)
    return cell.cover.starts[np.minimum(rows, last)], cell.cover.stops[last]
