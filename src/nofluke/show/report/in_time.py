"""The timeline of events and alarms at their own times: a column for each time, and what it shows at every slider position.

Times that a page could not tell apart, however far it zooms, share a column. A column of several shows every kind of mark among
them, as columns of steps do.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nofluke.arrays import BoolArray, FloatArray, IntArray
from nofluke.dates import NANOSECONDS
from nofluke.inference.coincidences import Coincidence
from nofluke.series.counting import largest_within
from nofluke.series.marks import alarm_hits, alarms_counted, events_counted
from nofluke.series.ticks import Ticks
from nofluke.series.timed import TimedCell, TimedTrial
from nofluke.series.tolerance import Tolerance
from nofluke.show.report.grid import Grid

NO_EVENT = 255
MOST_TIMES = 40_000
MOST_MARKS = 4_000_000  # of all slider positions together: each is a byte of the page
MOST_GAPS = 1_000
LEAST_VIEW = 8  # ticks


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Groups of ascending times: where each begins among them, and its time on the axis of the page."""

    starts: IntArray
    at: FloatArray

    @classmethod
    def of(cls, times: IntArray, ticks: Ticks, rows: int) -> Columns:
        """One for each different tick; where they are too many for so many rows, one for each stretch of time."""
        most = min(MOST_TIMES, max(MOST_MARKS // (4 * rows), 1))
        starts = np.unique(times, return_index=True)[1]
        if len(starts) > most:
            since = (times - times[0]).astype(np.float64) / (float(times[-1] - times[0]) + 1)
            starts = np.unique((since * most).astype(np.int64), return_index=True)[1]
        return cls(starts=starts, at=on_axis(times[starts], ticks))

    def largest(self, values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        """The largest value of each group."""
        return np.asarray(np.maximum.reduceat(values, self.starts) if len(values) else values, dtype=np.uint8)

    def smallest(self, values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        """The smallest value of each group."""
        return np.asarray(np.minimum.reduceat(values, self.starts) if len(values) else values, dtype=np.uint8)


def lists_in_time(result: Coincidence, grid: Grid) -> dict[str, Any]:
    """Both lists, each with its own columns; the span, and when nobody watched."""
    trial: Any = grid.trial
    read, ticks = result.sequence, result.sequence.ticks
    columns = Columns.of(trial.at, ticks, len(trial.tolerances))
    hit, false = [], []
    for row in range(len(trial.tolerances)):
        cell = trial.cell(row, 0)
        hits = alarm_hits(cell)
        hit.append(columns.largest(hits))
        false.append(columns.largest(alarms_counted(cell) & ~hits))
    ends = on_axis(np.array([read.first, read.last]), ticks)
    return {
        "n": len(trial.at),
        "per": 1,
        "points": True,
        "columns": len(columns.at),
        "x": {"kind": "dates" if ticks.is_dates else "clock", "each": packed(columns.at)},
        "span": ends.tolist(),
        "least": LEAST_VIEW * float(ticks.raw) * _axis_scale(ticks),
        "away": _away(result),
        "gaps": [],
        "scores": None,
        "closed": None,
        "hit": packed(_joined(hit)),
        "false": packed(_joined(false)),
        **event_lanes(trial),
        "windows": [reach_of(tolerance) for tolerance in trial.tolerances],
    }


def event_lanes(trial: TimedTrial) -> dict[str, Any]:
    """Columns of the events at their own times: the best and the worst level that finds one of them."""
    columns = Columns.of(trial.truth.at, trial.watch.ticks, len(trial.tolerances))
    found, missed = [], []
    for d in range(len(trial.tolerances)):
        best = np.maximum(largest_within(trial.levels, trial.finders(d)), 0).astype(np.uint8)
        counts = _counted(trial, d)
        found.append(columns.largest(np.where(counts, best, 0)))
        missed.append(columns.smallest(np.where(counts, best, NO_EVENT)))
    each = {"x": {"each": packed(columns.at)}, "columns": len(columns.at)}
    return {"events": each, "found": packed(_joined(found)), "missed": packed(_joined(missed))}


def _counted(trial: TimedTrial, d: int) -> BoolArray:
    return events_counted(TimedCell(trial=trial, d=d, k=0))


def _joined(rows: list[npt.NDArray[np.uint8]]) -> npt.NDArray[np.uint8]:
    return np.concatenate(rows) if rows else np.zeros(0, dtype=np.uint8)


def _away(result: Coincidence) -> list[list[float]]:
    """The longest gaps, in which nobody watched, as stretches of the axis."""
    gaps = result.sequence.gaps
    longest = np.sort(np.argsort(gaps.starts - gaps.stops, kind="stable")[:MOST_GAPS])
    ticks = result.sequence.ticks
    starts, stops = (on_axis(ends[longest], ticks).tolist() for ends in (gaps.starts, gaps.stops))
    return [[start, stop] for start, stop in zip(starts, stops, strict=True)]


def on_axis(at: IntArray, ticks: Ticks) -> FloatArray:
    """Ticks on the axis of the page: milliseconds since 1970, or the times' own numbers."""
    times = ticks.times(at)
    return (times.astype(np.int64) if ticks.is_dates else times).astype("<f8") * _axis_scale(ticks)


def _axis_scale(ticks: Ticks) -> float:
    return NANOSECONDS[ticks.unit] / 1e6 if ticks.unit is not None else 1.0


def reach_of(tolerance: Tolerance) -> dict[str, Any]:
    """How far a tolerance reaches to both sides of an event, in steps or in the unit of the axis."""
    in_steps = tolerance.unit == "steps"
    scale = 1e-6 if tolerance.unit == "ns" else 1.0
    early, late = (float(side) * scale for side in (tolerance.early, tolerance.late))  # type: ignore[arg-type]
    return {"in": "steps" if in_steps else "axis", "early": early, "late": late}


def packed(values: npt.NDArray[Any]) -> str:
    """Numbers as text, for a page to unpack."""
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")
