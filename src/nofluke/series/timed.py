"""A trial of events and alarms at their own times, without a grid: steps are ticks, and there may be 10¹⁸ of them.

Nothing here is as long as the time that was watched. The places on which an event can fall are numbered as steps that
count are (`Watch`); everything derived from a trial is in these numbers, so laws and nulls need not know.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, FloatArray, IntArray
from nofluke.errors import InputError
from nofluke.lazy import lazy
from nofluke.series.alarms import runs
from nofluke.series.counting import in_ranges, nearest_alarms, nonempty, total, union, within
from nofluke.series.timed_truth import TimedReach, TimedTruth
from nofluke.series.tolerance import Ranges, Tolerance
from nofluke.series.trial import Cell, Trial
from nofluke.series.watch import Watch
from nofluke.series.windows import Stretches

Edges = Literal["zero", "interior"]


@dataclass(frozen=True, kw_only=True, eq=False)
class TimedTrial(Trial):
    """Tolerances and thresholds on events and alarms at their own times: as a `Trial`, but for ``at``.

    Attributes
    ----------
    truth : TimedTruth
    detector : array
        One value for each of ``at``: scores, or booleans for given alarms.
    at : int array, ascending
        Ticks at which the detector has a value.
    edges : {"zero", "interior"}
        Whether all events and alarms count, or only those whose whole window was watched.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from nofluke.series.ticks import Ticks
    >>> watch = Watch(ticks=Ticks(origin=0, size=Fraction(1)), starts=np.array([0]), stops=np.array([100]))
    >>> trial = TimedTrial.of(
    ...     TimedTruth.of(np.array([20, 50]), watch), np.array([22, 80]), (Tolerance(early=0, late=3, unit="clock"),)
    ... )
    >>> trial.precision_hits, trial.recall_hits, trial.near_predictions
    (array([[1]]), array([[1]]), array([[8]]))
    """

    truth: TimedTruth
    reaches: tuple[TimedReach, ...] = field(repr=False)  # type: ignore[assignment]
    at: IntArray = field(repr=False)
    edges: Edges = "zero"

    @classmethod
    def of(  # type: ignore[override]
        cls,
        truth: TimedTruth,
        alarms: IntArray,
        tolerances: tuple[Tolerance, ...],
        *,
        detector: AnyArray | None = None,
        thresholds: FloatArray | None = None,
        told: FloatArray | None = None,
        edges: Edges = "zero",
        **more: Any,
    ) -> TimedTrial:
        """Events against alarms, or against scores at given ticks."""
        return cls(
            truth=truth,
            detector=np.ones(len(alarms), dtype=np.bool_) if detector is None else detector,
            at=alarms,
            tolerances=tolerances,
            thresholds=np.ones(1) if thresholds is None else thresholds,
            reaches=tuple(TimedReach.of(tolerance, truth.watch.ticks) for tolerance in tolerances),
            edges=edges,
            told=told,
            **more,
        )

    def __post_init__(self) -> None:
        if np.shape(self.detector) != np.shape(self.at):
            raise InputError(
                problem=f"a detector has one value for each of the {len(self.at)} times, got {len(self.detector)}"
            )

    def over(
        self, tolerances: tuple[Tolerance, ...], thresholds: FloatArray, told: FloatArray | None = None
    ) -> TimedTrial:
        reaches = tuple(TimedReach.of(tolerance, self.watch.ticks) for tolerance in tolerances)
        return replace(self, tolerances=tolerances, thresholds=thresholds, told=told, reaches=reaches)

    @property
    def watch(self) -> Watch:
        """The time that was watched."""
        return self.truth.watch

    @property
    def size(self) -> int:
        """What work on a cell grows with: events and alarms, each of which costs as much as some steps do."""
        return 10 * (self.n_events + len(self.at))

    def prepare(self) -> None:
        """Work out what all cells share, before threads ask for it."""
        _ = self.alarm_windows

    def chosen(self, k: int) -> IntArray:
        """Which of the times threshold k predicts."""
        flags = self.detector if not self.scored else self.detector >= np.float64(self.thresholds[k])
        return np.flatnonzero(flags)

    def alarms(self, k: int) -> IntArray:
        """The steps of the alarms: those of the places at or before them."""
        found = self._kept.get(k)
        if found is None:
            places = self.watch.places_before(self.at[self.chosen(k)] + 1) - 1
            found = self._kept[k] = np.maximum(places, 0) * self.truth.slots
        return found

    @lazy
    def n_predictions(self) -> IntArray:
        """Alarms, or episodes of them, by threshold."""
        if self.count_alarms == "steps":
            return self.n_alarm_steps
        first, inverse = self.distinct
        return np.array([len(runs(self.chosen(int(k))).starts) for k in first])[inverse]

    @lazy
    def alarm_windows(self) -> tuple[Ranges, ...]:
        """For each tolerance and time of the detector, the steps on which an event makes a hit of an alarm there."""
        found = (self.watch.places(self.at - r.late, self.at + r.early) for r in self.reaches)
        return tuple(Ranges(starts=r.starts * self.truth.slots, stops=r.stops * self.truth.slots) for r in found)

    @lazy
    def event_windows(self) -> tuple[Ranges, ...]:
        """For each tolerance and event, the places at which an alarm finds it."""
        found = (self.watch.places(self.truth.at - r.early, self.truth.at + r.late) for r in self.reaches)
        return tuple(Ranges(starts=r.starts * self.truth.slots, stops=r.stops * self.truth.slots) for r in found)

    def finders(self, d: int) -> Ranges:
        """For each event, which of the times of the detector are near it."""
        reach, events = self.reaches[d], self.truth.at
        return Ranges(
            starts=np.searchsorted(self.at, events - reach.early, side="left").astype(np.int64),
            stops=np.searchsorted(self.at, events + reach.late, side="right").astype(np.int64),
        )

    @lazy
    def precision_hits(self) -> IntArray:
        """PA-AAδ by cell: alarms near an event."""
        if self._by_cell:
            return self._of_cells(lambda cell: cell.stretches.count(_hit(self.truth.starts, cell.stretches)))
        near = (within(self.truth.starts, windows) > 0 for windows in self.alarm_windows)
        return np.stack([self._reaching(self.detector[flags]) for flags in near])

    @lazy
    def recall_hits(self) -> IntArray:
        """PAδ-AA by cell: events near an alarm."""
        if self._by_cell:
            return self._of_cells(lambda cell: int(np.count_nonzero(cell.found)))
        return np.stack([self._held(self.finders(d)) for d in range(len(self.reaches))])

    @property
    def _by_cell(self) -> bool:
        """Whether cells are counted one by one: episodes, and what depends on the tolerance."""
        return self.count_alarms == "episodes" or self.edges == "interior"

    def _of_cells(self, count: Any) -> IntArray:
        first, inverse = self.distinct
        found = [[count(self.cell(d, int(k))) for k in first] for d in range(len(self.reaches))]
        return np.array(found, dtype=np.int64).reshape(len(self.reaches), len(first))[:, inverse]

    @lazy
    def near_predictions(self) -> IntArray:
        """PAδ by cell: steps on which an event would be found."""
        return self._of_cells(lambda cell: total(cell.zone))

    def cell(self, d: int, k: int) -> TimedCell:
        """The detector at threshold k within tolerance d."""
        if self.shape != (1, 1):
            return TimedCell(trial=self, d=d, k=k)
        return self._only

    @lazy
    def _only(self) -> TimedCell:
        return TimedCell(trial=self, d=0, k=0)


@dataclass(frozen=True, kw_only=True, eq=False)
class TimedCell(Cell):
    """One cell of a timed trial."""

    trial: TimedTrial = field(repr=False)

    @property
    def truth(self) -> TimedTruth:
        """The events."""
        return self.trial.truth

    @property
    def reach(self) -> TimedReach:
        """The tolerance in ticks."""
        return self.trial.reaches[self.d]

    @property
    def n_predictions(self) -> int:
        """n, the alarms that count, or episodes of them."""
        return int(self.trial.n_predictions[self.k]) if self.trial.edges == "zero" else self.windows.n

    @lazy
    def at(self) -> IntArray:
        """The ticks of the alarms, ascending, whether they count or not."""
        return self.trial.at[self.trial.chosen(self.k)]

    @lazy
    def episodes(self) -> Ranges:
        """The runs of alarms among the times of the detector."""
        return runs(self.trial.chosen(self.k))

    def with_perfect_alarms(self) -> tuple[Cell, ...]:
        """The same events with an alarm at each, in the middle of its window."""
        at = np.unique(self.truth.at + (self.reach.late - self.reach.early) // 2)
        at = at[self.trial.watch.holds(at)]
        return (self._with_alarms(at=at, detector=np.ones(len(at), dtype=np.bool_)),)

    @lazy
    def stretches(self) -> Stretches:
        """The steps on which an event makes a hit of each alarm that counts, or of any alarm of an episode."""
        every, alarms = self.trial.alarm_windows[self.d], self.trial.chosen(self.k)
        starts, stops = every.starts[alarms], every.stops[alarms]
        if self.trial.count_alarms == "episodes":
            of = np.cumsum(np.diff(alarms, prepend=alarms[:1]) > 1, dtype=np.int64)
            return Stretches.joined(starts, stops, of)
        if self.trial.edges == "interior":
            kept = self.trial.watch.holds_all(self.at - self.reach.late, self.at + self.reach.early)
            starts, stops = starts[kept], stops[kept]
        return Stretches(starts=starts, stops=stops, of=np.arange(len(starts)))

    @lazy
    def zone(self) -> Ranges:
        """The stretches of steps on which an event would be found: by an alarm, whatever the alarms are counted as."""
        windows, alarms = self.trial.alarm_windows[self.d], self.trial.chosen(self.k)
        return union(Ranges(starts=windows.starts[alarms], stops=windows.stops[alarms]))

    @property
    def covered(self) -> int:
        """PAδ: steps on which an event would be found."""
        return total(self.zone)

    @lazy
    def counted(self) -> Ranges | None:
        """The stretches of steps on which an event counts; None where it does on all of them."""
        if self.trial.edges == "zero":
            return None
        watch, slots = self.trial.watch, self.truth.slots
        first, last = watch.starts + self.reach.early, watch.stops - 1 - self.reach.late
        inner = last >= first
        found = nonempty(watch.places(first[inner], last[inner]))
        return Ranges(starts=found.starts * slots, stops=found.stops * slots)

    @property
    def counts(self) -> BoolArray:
        """Whether each event counts."""
        if self.counted is None:
            return np.ones(self.n_events, dtype=np.bool_)
        return in_ranges(self.truth.starts, self.counted)

    @property
    def n_counted(self) -> int:
        """The events that count, of which recall is a share."""
        return self.n_events if self.counted is None else int(within(self.truth.starts, self.counted).sum())

    @lazy
    def found(self) -> BoolArray:
        """Whether each event has an alarm near it, and counts."""
        near = in_ranges(self.truth.starts, self.zone)
        return near if self.counted is None else near & in_ranges(self.truth.starts, self.counted)

    @property
    def mean_width(self) -> float:
        """Mean watched ticks in the window of an event on a random tick; with interior edges, the whole window."""
        fine, reach = replace(self.trial.watch, stride=1), self.reach
        if self.trial.edges == "interior":
            return float(min(max(reach.early + reach.late + 1, 0), fine.watched))
        ends = np.concatenate([fine.starts, fine.stops])
        edges = np.unique(np.concatenate([ends, ends + reach.early, ends - reach.late - 1]))
        first, last = edges[:-1][fine.holds(edges[:-1])], edges[1:][fine.holds(edges[:-1])] - 1
        # between two edges the width changes by as much from tick to tick
        wide = sum(
            (last - first + 1) / 2.0 * (fine.places_before(at + reach.late + 1) - fine.places_before(at - reach.early))
            for at in (first, last)
        )
        return float(np.sum(wide)) / fine.watched

    def delays(self) -> FloatArray:
        """Ticks from each event to its nearest alarm, one that counts for it before others; NaN where there is none."""
        first = min(int(self.truth.at.min(initial=0)), int(self.at.min(initial=0)))
        events, alarms = self.truth.at - first, self.at - first
        windows = Ranges(starts=events - self.reach.early, stops=events + self.reach.late + 1)
        return nearest_alarms(events, alarms, None, windows)


def _hit(steps: IntArray, ranges: Any) -> BoolArray:
    return within(steps, Ranges(starts=ranges.starts, stops=ranges.stops)) > 0
