"""Statistics: what is measured in every cell of a trial, and what it would be on other events or with another detector.

Those here are of point events and alarms, beside the two rates. What is measured on a whole series, by any function of
labels and scores or alarms, is a metric.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from nofluke.arrays import AnyArray, FloatArray, IntArray
from nofluke.errors import InputError
from nofluke.measures import points
from nofluke.plain import check_word
from nofluke.ratios import divide
from nofluke.series.timed import TimedCell
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


@dataclass(frozen=True)
class Synchronisation(PointStatistic):
    """Event synchronisation Q (Quian Quiroga et al. 2002), whose window adapts to the gaps and needs no tolerance."""

    name: str = "event-synchronisation"
    title: str = "Event synchronisation"

    def of_rows(self, cell: Cell, rows: IntArray) -> FloatArray:
        return points.event_synchronisation_rows(*cell.times(rows), shared="halved")

    def details(self, cell: Cell, value: float) -> dict[str, float]:
        """The delay behaviour q: positive where alarms follow events."""
        del value
        return {"delay": points.event_synchronisation(*cell.times(cell.truth.starts), shared="halved").delay}


@dataclass(frozen=True)
class Tiling(PointStatistic):
    """The spike time tiling coefficient (Cutts and Eglen 2014), with the tolerance as its window."""

    name: str = "sttc"
    title: str = "Spike time tiling coefficient"

    def of_rows(self, cell: Cell, rows: IntArray) -> FloatArray:
        return cell.by_axis(
            steps=lambda cell: np.array([self._on_steps(cell, row) for row in rows]),
            ticks=lambda cell: self._in_time(cell, rows),
        )

    @staticmethod
    def _in_time(cell: TimedCell, rows: IntArray) -> FloatArray:
        (events, alarms), reach, watch = cell.times(rows), cell.reach, cell.trial.watch
        pieces = {"begins": watch.starts, "ends": watch.stops}
        return points.tiling_rows(events, alarms, early=reach.early, late=reach.late, **pieces)

    @staticmethod
    def _on_steps(cell: Cell, row: IntArray) -> float:
        moved = cell.trial.with_truth(cell.truth.moved(row)).cell(cell.d, cell.k)
        return points.Tiling(
            precision=divide(moved.precision_hits, moved.n_predictions),
            recall=divide(moved.recall_hits, moved.n_events),
            near_alarms=moved.covered / moved.n_steps,
            near_events=int(moved.trial.near_events[cell.d]) / moved.n_steps,
        ).coefficient


@dataclass(frozen=True)
class Matching(PointStatistic):
    """The most pairs of an event and an alarm within the tolerance of each other in which each is used once."""

    name: str = "matching"
    title: str = "One-to-one matching"

    def of_rows(self, cell: Cell, rows: IntArray) -> FloatArray:
        def on_steps(cell: Cell) -> IntArray:
            before = np.concatenate([[0], np.cumsum(cell.alarm_flags)])
            return points.match_on_steps(rows, before[cell.cover.starts], before[cell.cover.stops])

        def in_time(cell: TimedCell) -> IntArray:
            return points.match_rows(*cell.times(rows), early=cell.reach.early, late=cell.reach.late)

        return cell.by_axis(steps=on_steps, ticks=in_time).astype(np.float64)

    def details(self, cell: Cell, value: float) -> dict[str, float]:
        """Precision, recall and F1 of the pairs."""
        pairs = points.Matching(size=int(value), n_events=cell.n_events, n_alarms=len(cell.alarms))
        return {"precision": pairs.precision, "recall": pairs.recall, "f1": pairs.f()}


POINT_STATISTICS: dict[str, PointStatistic] = {one.name: one for one in (Tiling(), Synchronisation(), Matching())}


def point_statistic(name: object) -> PointStatistic:
    """The statistic of that name.

    >>> point_statistic("sttc").title
    'Spike time tiling coefficient'
    """
    check_word(name, "statistic", POINT_STATISTICS)
    return POINT_STATISTICS[str(name)]
