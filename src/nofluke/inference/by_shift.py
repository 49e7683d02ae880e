"""Both hits with the events shifted: a narrow peak where alarms keep one distance from them, or a hill."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.nulls.shifts import around
from nofluke.series.timed import TimedCell
from nofluke.series.tolerance import Tolerance
from nofluke.series.trial import Cell
from nofluke.text.numbers import as_people_say

FEWEST, WINDOWS = 20, 5  # steps to each side at least, and windows of the tolerance, if the series is long enough
PER_WINDOW = 4  # shifts in time in which a window moves by its own length


@dataclass(frozen=True, slots=True, kw_only=True)
class ByShift:
    """Hits of the events moved later by each shift, in steps or in time: most at a positive shift if alarms are late.

    ``at`` counts ``unit``: steps, or a unit of time as people say it, which is empty for plain numbers.
    """

    at: FloatArray = field(repr=False)
    unit: str
    precision: IntArray = field(repr=False)
    recall: IntArray = field(repr=False)


def hits_by_shift(cell: Cell) -> ByShift:
    """On steps, events shifted around the circle; in time, windows that move.

    >>> import nofluke as nf
    >>> truth = [i % 50 == 7 for i in range(1000)]
    >>> found = hits_by_shift(nf.evaluate(truth, predictions=[False] * 3 + truth[:-3]).cell)
    >>> int(found.at[found.recall.argmax()]), int(found.recall.max()), found.unit
    (3, 20, ', steps')
    """
    return cell.by_axis(steps=_on_steps, ticks=_in_time)


def _on_steps(cell: Cell) -> ByShift:
    tolerance = cell.trial.tolerances[cell.d]
    sides: tuple[Any, Any] = (tolerance.early, tolerance.late)
    wide = WINDOWS * int(sides[0] + sides[1]) if tolerance.unit == "steps" else 0
    reach = min(max(FEWEST, wide), (cell.n_steps - 1) // 2)
    shifts = np.arange(-reach, reach + 1)
    recall, precision = around(cell, cell.n_steps)
    return ByShift(at=shifts.astype(np.float64), unit=", steps", precision=precision[shifts], recall=recall[shifts])


def _in_time(cell: TimedCell) -> ByShift:
    """Windows moved by a quarter of their length, and never by less than a tick."""
    watch, reach = cell.trial.watch, cell.reach
    step = max(round((reach.early + reach.late) / PER_WINDOW), 1)
    half = min(WINDOWS * PER_WINDOW, max(watch.watched // 4 // step, 1))
    shifts = np.arange(-half, half + 1)
    lengths = [_number(int(j) * step * watch.ticks.size) for j in shifts]
    window: Tolerance = cell.trial.tolerances[cell.d]
    moved = cell.trial.over(
        tuple(window.by(length) if length else window for length in lengths),
        cell.trial.thresholds[cell.k : cell.k + 1],
    )
    at, unit = as_people_say(np.array(lengths, dtype=np.float64), watch.ticks.is_dates)
    return ByShift(at=at, unit=unit, precision=moved.precision_hits[:, 0], recall=moved.recall_hits[:, 0])


def _number(length: Any) -> int | float:
    return int(length) if length.denominator == 1 else float(f"{float(length):.12g}")
