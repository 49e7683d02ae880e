"""Hits with the events shifted: a narrow peak where alarms keep one distance from them, or a hill."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.errors import THINGS, say
from nofluke.inference.evaluate import Evaluation
from nofluke.inference.sweep import BAND
from nofluke.nulls.shifts import around
from nofluke.plain import exact_fraction, plain_fraction
from nofluke.plot.curves import SIDES, draw_band
from nofluke.plot.panels import CHANCE, by_name, make_panels, one_legend, short
from nofluke.plot.style import AxesArray, chance_of, few_ticks, in_words, ink, label, of_detector, tidy
from nofluke.series.ticks import WatchedTime
from nofluke.series.timed import TimedCell
from nofluke.series.tolerance import Tolerance
from nofluke.series.trial import Cell
from nofluke.text.numbers import as_people_say

FEWEST, WINDOWS = 20, 5  # steps to each side at least, and windows of the tolerance, if the series is long enough
PER_WINDOW = 4  # shifts in time, or steps of a lag, in which a window moves by its own length
MOVES_PER_STEP = 10  # of events and alarms, up to which a few shifts of a long series are faster one by one

Number = int | float


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
    precision, recall = hits_around(cell, shifts)
    return ByShift(at=shifts.astype(np.float64), unit=", steps", precision=precision, recall=recall)


def _in_time(cell: TimedCell) -> ByShift:
    trial, watch = cell.trial, cell.trial.watch
    window: Tolerance = trial.tolerances[cell.d]
    lengths = lengths_around(window, 0, watch, WINDOWS * PER_WINDOW)
    moved = trial.over(windows_moved(window, lengths), trial.thresholds[cell.k : cell.k + 1])
    at, unit = as_people_say(np.array(lengths, dtype=np.float64), watch.ticks.is_dates)
    return ByShift(at=at, unit=unit, precision=moved.precision_hits[:, 0], recall=moved.recall_hits[:, 0])


def hits_around(cell: Cell, shifts: IntArray) -> tuple[IntArray, IntArray]:
    """Hits of precision and of recall with the events shifted around the circle by each number of steps."""
    moves = len(shifts) * (cell.n_events + len(cell.alarms))
    if cell.truth.points and moves < MOVES_PER_STEP * cell.n_steps:
        return _one_by_one(cell, shifts)
    reach = int(np.abs(shifts).max(initial=0))
    recall, precision = around(cell, cell.n_steps, range(-reach, reach + 1))
    return precision[reach + shifts], recall[reach + shifts]


def _one_by_one(cell: Cell, shifts: IntArray) -> tuple[IntArray, IntArray]:
    """The same for points, shift by shift."""
    n, events, near_alarm = cell.n_steps, cell.truth.starts, cell.near_alarm
    # events before each step of the sequence laid out three times: windows reach beyond its ends once shifted
    before = np.concatenate([[0], np.cumsum(np.tile(cell.truth.flags, 3))])
    starts, stops = cell.stretches.starts + n, cell.stretches.stops + n
    hits = [cell.stretches.count(before[stops - shift] > before[starts - shift]) for shift in shifts.tolist()]
    found = [int(np.count_nonzero(near_alarm[(events + shift) % n])) for shift in shifts.tolist()]
    return np.array(hits, dtype=np.int64), np.array(found, dtype=np.int64)


def lengths_around(window: Tolerance, chosen: Number, watch: WatchedTime, half: int) -> tuple[Number, ...]:
    """Lags on both sides of the chosen one, a quarter window apart, at most a quarter of the watched time away."""
    ticks = watch.ticks
    sides: tuple[Any, Any] = (window.early, window.late)
    step = max(round((ticks.floor(sides[0]) + ticks.floor(sides[1])) / PER_WINDOW), 1)
    half = min(half, max(watch.watched // 4 // step, min(half, 1)))
    apart = step * ticks.size
    return tuple(
        chosen if j == 0 else plain_fraction(exact_fraction(chosen) + j * apart) for j in range(-half, half + 1)
    )


def windows_moved(window: Tolerance, lengths: Iterable[Number]) -> tuple[Tolerance, ...]:
    """The window later by each length of time."""
    return tuple(window.by(length) if length else window for length in lengths)


# ---- hits with the events shifted: a narrow peak where alarms keep one distance from them, or a hill


def lag(results: Any, ax: Any = None) -> AxesArray:
    """Draw precision and recall with the events shifted, and chance: a narrow peak near 0, one elsewhere, or a hill.

    A detector that is on time peaks at 0, one that is late at a positive shift. The peak is about as wide as the
    tolerance and the detector's delay. A hill much wider than that means that alarms and events share slow changes,
    such as busy and quiet times, rather than single events.

    Parameters
    ----------
    results : Evaluation, or mapping of str to Evaluation
        From :func:`nofluke.evaluate` or :func:`nofluke.coincidence`; several detectors by their names.
    ax : two matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    array of two matplotlib Axes
        Precision, recall. On steps the series is a circle; in time, windows move, and whatever they reach beyond the
        watched time is lost. Chance's mean and central 95% are those of the result's null; for several detectors only
        the means are drawn. Nothing is drawn where a measure is undefined.

    See Also
    --------
    nofluke.plot.lags : many lags of two lists of times.
    nofluke.plot.timeline : what was hit and missed.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import nofluke as nf
    >>> truth = [i % 50 == 7 for i in range(1000)]
    >>> late = nf.evaluate(truth, predictions=[False] * 3 + truth[:-3], tolerance=1)
    >>> left, right = nf.plot.lag(late, Figure().subplots(1, 2))
    >>> left.get_xlabel(), left.get_ylabel()
    ('shift of the events, steps', 'precision')
    """
    every = by_name("results", results, Evaluation, "nofluke.evaluate")
    found = {name: hits_by_shift(one.cell) for name, one in every.items()}
    panels = make_panels(ax, (2,), width=4.2, height=2.8)
    first = next(iter(every))
    for panel, side in zip(panels, SIDES, strict=True):
        top = 0.0
        for i, (name, result) in enumerate(every.items()):
            test, at = getattr(result, f"{side}_test"), found[name].at
            if not test.of:
                continue
            ends = np.array([*test.law.quantile(BAND), test.expected]) / test.of
            low, high, mean = (np.full(len(at), end) for end in ends)
            style = of_detector(i, len(every))
            if len(every) == 1:
                draw_band(panel, at, low, mean, high, how=in_words([result.precision_test.how, result.recall_test.how]))
            else:
                panel.plot(at[[0, -1]], mean[[0, -1]], **chance_of(style), label=CHANCE)
            shares = getattr(found[name], side) / test.of
            every_tenth = max(len(at) // 10, 1)
            panel.plot(at, shares, **style, label=short(name) or "observed", markevery=every_tenth)
            top = max(top, float(shares.max()), float(ends[1]))
        panel.axvline(0, color=ink(), linewidth=0.8, zorder=0.5)
        panel.set_ylim(0, min(1.1 * top, 1.02) or 1)
        tidy(panel)
        few_ticks(panel, whole="" if every[first].cell.in_time else "x")
        moved = say("shift of the {}{}", THINGS[f"{every[first].cell.truth.noun}s"], found[first].unit)
        label(panel, every[first].names.said(moved), side)
    one_legend(panels)
    return panels
