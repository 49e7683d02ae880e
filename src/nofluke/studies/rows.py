"""Rows of the tables of a study, gathered cell by cell."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray, IntArray
from nofluke.errors import Words
from nofluke.inference.evaluate import Evaluation
from nofluke.ratios import divide, f_beta
from nofluke.series.timed import TimedCell
from nofluke.series.trial import Cell
from nofluke.studies.cases import Case, sent
from nofluke.studies.store import (
    FAILED,
    JOINTS,
    LAWS,
    SHIFTS,
    STEPS,
    TIMINGS,
    TRUTHS,
    Part,
    Schema,
    Values,
    cells_with,
)

Row = dict[str, Any]
FARTHEST = 500  # steps by which events are shifted, at most
FAR = 2.0**61  # no sum or difference of two moments overflows


_ZERO: IntArray = np.zeros((2 * FARTHEST + 1, 2), dtype=np.int64)


class Shifts:
    """Hits at other shifts, summed over the series of a chunk by group, if there are any, and detector."""

    def __init__(self) -> None:
        self._sums: dict[tuple[str, str], IntArray | None] = {}

    def add(self, case: Case, detector: str, hits: IntArray | None) -> None:
        """Those of one more cell; None if it cannot be shifted, and with it the whole."""
        at = "" if case.group == case.series else case.group, detector
        known = self._sums.get(at, _ZERO)
        self._sums[at] = None if hits is None or known is None else add_middle(known, hits)

    def rows(self) -> list[Row]:
        """A row for each group and detector; without hits where some cell has none."""
        return [
            {
                "group": group,
                "detector": detector,
                "known": hits is not None,
                **{name: [] if hits is None else hits[:, i] for i, name in enumerate(("precision", "recall"))},
            }
            for (group, detector), hits in self._sums.items()
        ]


def add_middle(one: AnyArray, other: AnyArray) -> AnyArray:
    """The sum at shifts that both have: rows are shifts, 0 in the middle.

    >>> add_middle(np.array([1, 2, 3]), np.array([5, 1, 1, 1, 5]))
    array([2, 3, 4])
    """
    reach = min(len(one), len(other)) // 2
    return np.asarray(sum(rows[len(rows) // 2 - reach : len(rows) // 2 + reach + 1] for rows in (one, other)))


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one chunk, in the order in which they were added."""

    metrics: tuple[str, ...]
    cells: list[Row] = field(default_factory=list)
    failed: list[Row] = field(default_factory=list)
    timings: list[Row] = field(default_factory=list)
    laws: list[Row] = field(default_factory=list)
    truths: list[Row] = field(default_factory=list)
    joints: list[Row] = field(default_factory=list)
    shifts: Shifts = field(default_factory=Shifts)

    def fail(self, case: Case, detector: str, reason: Words) -> None:
        """A cell without a result, or, without a detector, a whole series."""
        self.failed.append({**named(case, detector), "reason": sent(reason)})

    def part(self) -> Part:
        """The rows as columns."""
        return Part(
            cells=_columns(self.cells, cells_with(self.metrics)),
            failed=_columns(self.failed, FAILED),
            timings=_columns(self.timings, TIMINGS),
            laws=_columns(self.laws, LAWS),
            truths=_columns(self.truths, TRUTHS),
            joints=_columns(self.joints, JOINTS),
            shifts=_columns(self.shifts.rows(), SHIFTS),
        )


def _columns(rows: Sequence[Row], schema: Schema) -> Values:
    return {name: [row[name] for row in rows] for name in schema}


def named(case: Case, detector: str) -> Row:
    """What identifies a cell."""
    return {"series": case.series, "group": case.group, "detector": detector}


def row_of(case: Case, detector: str, result: Evaluation) -> Row:
    """The row of a cell from its evaluation."""
    cell, tests = result.cell, (result.precision_test, result.recall_test)
    drawn = next((test.how for test in tests if test.how.kind == "simulated"), None)
    measured: Row = {}
    for test, value in zip(tests, (result.precision, result.recall), strict=True):
        names = ("hits", "expected", "std", "pvalue", "log10_pvalue", "method")
        measured |= {test.measure: value, **{f"{test.measure}_{name}": getattr(test, name) for name in names}}
    at_chance = [divide(test.expected, test.of) for test in tests]
    return {
        **named(case, detector),
        "n": result.n,
        "n_events": result.n_events,
        "n_predictions": result.n_predictions,
        "threshold": math.nan if result.threshold is None else result.threshold,
        "tolerance": str(result.tolerance),
        "count_events": result.count_events,
        **measured,
        "f1": result.f1,
        "f1_at_chance": f_beta(at_chance[0], at_chance[1], 1.0),
        "near_events": int(cell.trial.near_events[cell.d]),
        "near_predictions": int(cell.trial.near_predictions[cell.d, cell.k]),
        "false_alarms": result.false_alarms.count,
        "delay": result.delays.median,
        "null": result.settings.choice.label,
        "holds": result.settings.choice.holds,
        "doubts": len(result.settings.choice.doubts),
        "verdict": result.verdict,
        "reason": result.reason,
        "n_resamples": 0 if drawn is None or drawn.n_resamples is None else drawn.n_resamples,
        "seed": -1 if drawn is None or drawn.seed is None else drawn.seed,
        "notes": [*case.notes, *result.notes],
    }


def truth_row(case: Case, cell: Cell) -> Row:
    """The events of a series."""
    truth = cell.truth
    reach = cell.by_axis(steps=_reach_in_steps, ticks=lambda cell: max(abs(cell.reach.early), abs(cell.reach.late)))
    # two series share it if their steps are the same moments; without a clock, if they are as many
    axis = cell.by_axis(steps=_axis_of_steps, ticks=_axis_of_ticks)
    grid, moments = moments_of(cell)
    return {
        "series": case.series,
        "group": case.group,
        "axis": axis,
        "in_time": cell.in_time,
        "grid": grid or axis,
        "n": truth.n_steps,
        "reach": reach,
        "starts": truth.starts,
        "stops": truth.stops,
        "notes": list(case.notes),
        "moments": moments,
        **cell.by_axis(steps=_places_on_steps, ticks=_places_in_time),
    }


def _reach_in_steps(cell: Cell) -> int:
    some = np.arange(0, cell.n_steps, max(cell.n_steps // 1000, 1))
    around = cell.trial.reaches[cell.d].around_events(some, some)
    return int(max((some - around.starts).max(), (around.stops - 1 - some).max(), 0))


def _places_on_steps(cell: Cell) -> Row:
    """Where events are among all steps, and whether the tolerance reaches from their steps."""
    truth, reach, own = cell.truth, cell.trial.reaches[cell.d], cell.trial.event_windows[cell.d]
    at = np.flatnonzero(reach.open_steps)
    there = reach.around_events(truth.first_steps, truth.last_steps)
    told = np.packbits(reach.open_steps).tobytes() + str(len(reach.open_steps)).encode()
    return {
        "length": len(reach.open_steps),
        "begin": int(at[0]),
        "watched": hashlib.sha256(told).hexdigest()[:16],
        "placed": at[truth.first_steps],
        "exchangeable": np.array_equal(own.starts, there.starts) and np.array_equal(own.stops, there.stops),
    }


def _places_in_time(cell: TimedCell) -> Row:
    """Of events that are at their own times, and cannot be those of another series."""
    n, starts = cell.truth.n_steps, cell.truth.starts
    return {"length": n, "begin": 0, "watched": _axis_of_ticks(cell), "placed": starts, "exchangeable": False}


def _axis_of_ticks(cell: TimedCell) -> str:
    watch = cell.trial.watch
    told = watch.starts, watch.stops, np.array([watch.stride, watch.ticks.origin, watch.ticks.size], dtype=object)
    return f"time {hashlib.sha256(repr([list(map(str, part)) for part in told]).encode()).hexdigest()[:16]}"


def _axis_of_steps(cell: Cell) -> str:
    clock = cell.clock
    if clock is None:
        return f"{cell.n_steps} steps"
    return hashlib.sha256(np.ascontiguousarray(clock.ticks).tobytes() + str(clock.unit).encode()).hexdigest()[:16]


def moments_of(cell: Cell) -> tuple[str, IntArray]:
    """A word that series share if their clocks tick alike, and the first steps of events in absolute time on that grid.

    Typical steps tick alike if they agree to two digits: clocks may be irregular. Events at their own times have no
    such word.
    """
    starts, clock = cell.truth.first_steps, cell.clock
    if cell.in_time:
        return "", starts
    if clock is None:
        return STEPS, starts
    step = float(f"{clock.step * clock.tick_size or 1.0:.2g}")  # dates: in nanoseconds, whatever their own unit
    moments = np.rint(clock.ticks[starts] / (step / clock.tick_size))
    return f"{'dates' if clock.is_dates else 'numbers'} {step:g}", moments.clip(-FAR, FAR).astype(np.int64)
