"""Hits of whole ranges that a null has placed."""

from __future__ import annotations

import numpy as np

from nofluke.arrays import AnyArray, IntArray
from nofluke.series.trial import Cell


def hits_of_ranges(cell: Cell, placements: AnyArray) -> dict[str, IntArray]:
    """Both hits for each placement of whole ranges: rows of first steps, in the order of the truth.

    What ranges have on a clock beyond their first and last step, in steps, they keep wherever they are placed.
    """
    rows = np.asarray(placements, dtype=np.int64)
    starts, stops = _windows_of_ranges(cell, rows)
    here, own = _windows_of_ranges(cell, cell.truth.starts[None]), cell.trial.event_windows[cell.d]
    starts, stops = (
        np.clip(at + kept - there, 0, cell.n_steps)
        for at, kept, there in ((starts, own.starts, here[0]), (stops, own.stops, here[1]))
    )
    order = np.argsort(starts, axis=1, kind="stable")
    starts = np.take_along_axis(starts, order, axis=1)
    stops = np.maximum(np.take_along_axis(stops, order, axis=1), starts)
    before = np.concatenate([[0], np.cumsum(cell.alarm_flags)])
    counted = cell.episodes if cell.trial.count_alarms == "episodes" else None
    if counted is None:
        begin, behind = before[starts], before[stops]
    else:
        begin = np.searchsorted(counted.stops, starts, side="right")
        behind = np.where(stops > starts, np.searchsorted(counted.starts, stops, side="left"), begin)
    # windows ascend: each adds what lies behind those before it
    known = np.maximum.accumulate(behind, axis=1)
    known = np.concatenate([np.zeros((len(rows), 1), dtype=np.int64), known[:, :-1]], axis=1)[:, : behind.shape[1]]
    return {
        "precision": np.maximum(behind - np.maximum(begin, known), 0).sum(axis=1),
        "recall": np.count_nonzero(before[stops] > before[starts], axis=1).astype(np.int64),
    }


def _windows_of_ranges(cell: Cell, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Steps within the tolerance of each placed range, from its first to its last step."""
    end = cell.n_steps - 1
    last = np.clip(rows + (cell.truth.stops - cell.truth.starts) - 1, 0, end)
    return cell.cover.starts[np.minimum(rows, last)], cell.cover.stops[last]
