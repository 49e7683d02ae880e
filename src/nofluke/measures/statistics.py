"""Statistics: what is measured in every cell of a trial, and what it would be on other events or with another detector.

Those here are of point events and alarms, beside the two rates. What is measured on a whole series, by any function of
labels and scores or alarms, is a metric.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray, FloatArray, IntArray
from nofluke.errors import InputError
from nofluke.measures.matching import match_on_steps, match_rows
from nofluke.measures.synchronisation import event_synchronisation_rows
from nofluke.measures.tiling import tiling_coefficient, tiling_rows
from nofluke.plain import check_word
from nofluke.ratios import divide, f_beta
from nofluke.series.timed import TimedTrial
from nofluke.series.trial import Cell, Trial


class Statistic(ABC):
    """Something measured in every cell of a trial; larger is better."""

    name: str

    @abstractmethod
    def observed(self, trial: Trial) -> FloatArray:
        """Its value in every cell, of shape (tolerances, thresholds); NaN where it is undefined."""

    def on_truths(self, trial: Trial, placements: AnyArray) -> FloatArray:
        """Its value in every cell for each placement of the events: rows of first steps, as a null draws them."""
        return np.stack([self.observed(trial.with_truth(trial.truth.moved(row))) for row in placements])

    def on_detectors(self, trial: Trial, detectors: AnyArray) -> FloatArray:
        """Its value in every cell for each of several detectors: rows of one value for each step."""
        return np.stack([self.observed(trial.with_detector(row)) for row in detectors])


class PointStatistic(Statistic):
    """A statistic of two lists of points: times of their own, or steps."""

    title: str

    def observed(self, trial: Trial) -> FloatArray:
        values: FloatArray = self.on_truths(trial, trial.truth.starts[None])[0]
        return values

    def on_truths(self, trial: Trial, placements: AnyArray) -> FloatArray:
        if not trial.truth.points or trial.count_alarms != "steps":
            raise InputError(
                problem=f"the statistic {self.name!r} is for points",
                remedy="pass events that are not ranges, and count alarms as steps",
            )
        rows = np.sort(np.asarray(placements, dtype=np.int64), axis=1)
        found = np.empty((len(rows), *trial.shape))
        for d, k in np.ndindex(trial.shape):
            found[:, d, k] = self.of_rows(trial.cell(d, k), rows)
        return found

    @abstractmethod
    def of_rows(self, cell: Cell, rows: IntArray) -> FloatArray:
        """Its value for each row of ascending steps of the events."""

    def details(self, cell: Cell, value: float) -> dict[str, float]:
        """What else is told of its value."""
        del cell, value
        return {}


def times_of(cell: Cell, rows: IntArray) -> tuple[AnyArray, AnyArray]:
    """Times of placed events and of the alarms: ticks, those of a clock, or steps, masked ones counted."""
    trial: Any = cell.trial
    if isinstance(trial, TimedTrial):
        return trial.truth.ticks_of(rows), trial.at[trial.chosen(cell.k)]
    when = np.flatnonzero(cell.truth.open_steps) if cell.clock is None else cell.clock.ticks
    return when[rows], when[cell.alarms]


@dataclass(frozen=True)
class Synchronisation(PointStatistic):
    """Event synchronisation Q (Quian Quiroga et al. 2002), whose window adapts to the gaps and needs no tolerance."""

    name: str = "event-synchronisation"
    title: str = "Event synchronisation"

    def of_rows(self, cell: Cell, rows: IntArray) -> FloatArray:
        events, alarms = times_of(cell, rows)
        strength, _ = event_synchronisation_rows(events, alarms, shared="halved")
        return strength

    def details(self, cell: Cell, value: float) -> dict[str, float]:
        """The delay behaviour q: positive where alarms follow events."""
        del value
        events, alarms = times_of(cell, cell.truth.starts[None])
        return {"delay": float(event_synchronisation_rows(events, alarms, shared="halved")[1][0])}


@dataclass(frozen=True)
class Tiling(PointStatistic):
    """The spike time tiling coefficient (Cutts and Eglen 2014), with the tolerance as its window."""

    name: str = "sttc"
    title: str = "Spike time tiling coefficient"

    def of_rows(self, cell: Cell, rows: IntArray) -> FloatArray:
        trial: Any = cell.trial
        if isinstance(trial, TimedTrial):
            reach, watch = trial.reaches[cell.d], trial.watch
            events, alarms = times_of(cell, rows)
            return tiling_rows(
                events, alarms, early=reach.early, late=reach.late, begins=watch.starts, ends=watch.stops
            )
        return np.array([self._on_steps(cell, row) for row in rows])

    @staticmethod
    def _on_steps(cell: Cell, row: IntArray) -> float:
        if 0 in (cell.n_events, cell.n_predictions):
            return float("nan")
        moved = cell.trial.with_truth(cell.truth.moved(row)).cell(cell.d, cell.k)
        return float(
            tiling_coefficient(
                precision=moved.precision_hits / moved.n_predictions,
                recall=moved.recall_hits / moved.n_events,
                near_alarms=moved.covered / moved.n_steps,
                near_events=int(moved.trial.near_events[cell.d]) / moved.n_steps,
            )
        )


@dataclass(frozen=True)
class Matching(PointStatistic):
    """The most pairs of an event and an alarm within the tolerance of each other in which each is used once."""

    name: str = "matching"
    title: str = "One-to-one matching"

    def of_rows(self, cell: Cell, rows: IntArray) -> FloatArray:
        trial: Any = cell.trial
        if isinstance(trial, TimedTrial):
            events, alarms = times_of(cell, rows)
            reach = trial.reaches[cell.d]
            return match_rows(events, alarms, early=reach.early, late=reach.late).astype(np.float64)
        before = np.concatenate([[0], np.cumsum(cell.alarm_flags)])
        found = match_on_steps(rows, before[cell.cover.starts], before[cell.cover.stops])
        return found.astype(np.float64)

    def details(self, cell: Cell, value: float) -> dict[str, float]:
        """Precision, recall and F1 of the pairs."""
        precision, recall = divide(int(value), len(cell.alarms)), divide(int(value), cell.n_events)
        return {"precision": precision, "recall": recall, "f1": f_beta(precision, recall, 1.0)}


POINT_STATISTICS: dict[str, PointStatistic] = {one.name: one for one in (Tiling(), Synchronisation(), Matching())}


def point_statistic(name: object) -> PointStatistic:
    """The statistic of that name.

    >>> point_statistic("sttc").title
    'Spike time tiling coefficient'
    """
    check_word(name, "statistic", POINT_STATISTICS)
    return POINT_STATISTICS[str(name)]
