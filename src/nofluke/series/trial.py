"""A trial: one labelled series ready to be judged, at some thresholds and within some tolerances.

Everything that is derived from it (windows of the tolerances, counts, levels) is worked out once, when first asked for,
in one coordinate system: the steps that count, numbered from 0. Masked steps take up time but are not numbered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import InitVar, dataclass, field, fields, replace
from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, FloatArray, IntArray
from nofluke.errors import InputError
from nofluke.lazy import Keeper, lazy
from nofluke.series.clock import Clock
from nofluke.series.counting import (
    Stretches,
    Windows,
    first_alarms,
    flags_of,
    in_ranges,
    largest_within,
    last_alarms,
    nearest_alarms,
    nonempty,
    reaching,
    runs,
    total,
    touching,
    union,
)
from nofluke.series.detector import STEPS, AlarmRule, CountAlarms, Cuts
from nofluke.series.reading import Sequence
from nofluke.series.tolerance import Ranges, Reach, Tolerance
from nofluke.series.truth import Answer, Truth

KEPT_ALARMS = 8_000_000  # positions of predictions kept between cells: 64 MB
MOST_AT_ONCE = 2**18  # steps of all detectors of a batch, for some 10 MB: larger ones are no faster
SOME_STEPS = 1_000  # are enough to tell how long a step is
FARTHEST = 2**64 - 1
TimeUnit = Literal["steps", "seconds", "clock"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Zones(Keeper):
    """What lies around the events within each of D tolerances: the same for every detector that is judged on them."""

    truth: Truth
    reaches: tuple[Reach, ...]

    @lazy
    def event_windows(self) -> tuple[Ranges, ...]:
        """For each tolerance and event, the steps whose predictions find it."""
        first, last = self.truth.first_steps, self.truth.last_steps
        begins, ends = self.truth.begins, self.truth.ends
        return tuple(
            reach.around_events(first, last)
            if begins is None or ends is None or reach.tolerance.unit == "steps"
            else reach.around_times(begins, ends, self.truth.opens)
            for reach in self.reaches
        )

    @lazy
    def near(self) -> tuple[Ranges, ...]:
        """For each tolerance, the stretches of steps near an event."""
        return tuple(union(windows) for windows in self.event_windows)

    @lazy
    def near_events(self) -> IntArray:
        """AAδ by tolerance: steps near an event."""
        return np.array([total(near) for near in self.near], dtype=np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Batch(Keeper):
    """Detectors that are judged on the same steps, each at one cut: their alarms are found and counted all at once.

    Laid one behind another on a line, with a step between two that nobody predicts, their alarms are ascending steps,
    of which the functions of `nofluke.series.counting` take any number. A row is a detector; most batches have one.
    """

    zones: Zones
    detectors: tuple[AnyArray, ...]
    cuts: tuple[float, ...]
    count_alarms: CountAlarms

    @lazy
    def flags(self) -> tuple[BoolArray, ...]:
        """Whether each step is predicted, a row a detector."""
        return tuple(
            values if values.dtype.kind == "b" else np.asarray(values >= np.float64(cut))
            for values, cut in zip(self.detectors, self.cuts, strict=True)
        )

    @lazy
    def steps(self) -> tuple[IntArray, ...]:
        """The predicted steps, ascending."""
        return tuple(flags.nonzero()[0] for flags in self.flags)

    @lazy
    def offsets(self) -> IntArray:
        """Where each row begins on the line, and where the next one would."""
        return np.arange(len(self.detectors) + 1) * (self.zones.truth.n_steps + 1)

    def _on_line(self, steps: IntArray) -> IntArray:
        """The same steps of every row, on the line."""
        return steps if len(self.detectors) == 1 else (self.offsets[:-1, None] + steps).ravel()

    @lazy
    def line(self) -> IntArray:
        """The predicted steps of all rows."""
        if len(self.detectors) == 1:
            return self.steps[0]
        return np.concatenate([steps + begin for steps, begin in zip(self.steps, self.offsets.tolist(), strict=False)])

    @lazy
    def _runs(self) -> tuple[Ranges, list[int]]:
        """The runs of predicted steps on the line, and how many of them there are before each row."""
        found = runs(self.line)
        alone = len(self.detectors) == 1
        return found, [0, len(found.starts)] if alone else found.starts.searchsorted(self.offsets).tolist()

    @lazy
    def episodes(self) -> tuple[Ranges, ...]:
        """The runs of predicted steps, by row."""
        found, before = self._runs
        if len(self.detectors) == 1:
            return (found,)
        parts = [slice(first, behind) for first, behind in pairwise(before)]
        return tuple(
            Ranges(starts=found.starts[part] - begin, stops=found.stops[part] - begin)
            for part, begin in zip(parts, self.offsets.tolist(), strict=False)
        )

    @lazy
    def n_predictions(self) -> list[int]:
        """Predictions by row: predicted steps, or episodes of them."""
        each: Any = self.steps if self.count_alarms == "steps" else [found.starts for found in self.episodes]
        return list(map(len, each))

    @lazy
    def precision_hits(self) -> list[list[int]]:
        """PA-AAδ by tolerance and row: predictions near an event."""
        hits = []
        for near in self.zones.near:
            starts, stops = self._on_line(near.starts), self._on_line(near.stops)
            if self.count_alarms == "steps":
                inside = self.line.searchsorted(stops) - self.line.searchsorted(starts)
                hits.append(inside.reshape(len(self.detectors), len(near.starts)).sum(axis=1).tolist())
            else:
                every, before = self._runs
                hit = touching(every, Ranges(starts=starts, stops=stops))
                hits.append([int(np.count_nonzero(hit[first:behind])) for first, behind in pairwise(before)])
        return hits

    @lazy
    def found(self) -> list[BoolArray]:
        """By tolerance, whether each event has a prediction near it, a row a detector."""
        shape = len(self.detectors), self.zones.truth.n
        return [
            (
                self.line.searchsorted(self._on_line(windows.stops))
                > self.line.searchsorted(self._on_line(windows.starts))
            ).reshape(shape)
            for windows in self.zones.event_windows
        ]

    @lazy
    def recall_hits(self) -> list[list[int]]:
        """PAδ-AA by tolerance and row: events with a prediction near them."""
        return [[int(np.count_nonzero(row)) for row in found] for found in self.found]


@dataclass(frozen=True, kw_only=True, eq=False)
class Trial:
    """D tolerances and K thresholds on one series: cells (d, k), each a detector's alarms within a tolerance.

    Attributes
    ----------
    truth : Truth
        The events, on the steps that count.
    detector : array of one value for each of these steps
        Scores, turned so that higher ones are anomalous, or booleans for given alarms; a refractory time is in them
        already.
    tolerances : tuple of D Tolerance
    thresholds : float array of length K, ascending
        A step is predicted by threshold k if its score reaches it. For alarms, one threshold that they reach.
    reaches : tuple of D Reach
        What each tolerance reaches on this series.
    count_alarms : {"steps", "episodes"}
        Whether each predicted step is a prediction, or each run of them.
    zones : Zones
        What lies around the events; made from the truth and the reaches, unless it is known.
    told : float array of length K or None
        The thresholds in the caller's own numbers; None where they are the same.
    ranking : pair of int arrays, optional
        The steps by ascending score, and how many of them are below each threshold, where that is known.
    n_steps : int
        T, the steps that count.
    n_events : int
        m, the events on them.
    in_time : bool
        Whether events are at their own times, and not on steps.
    scored : bool
        Whether the detector gives scores rather than alarms.
    shape : pair of int
        Number of tolerances and of thresholds.

    Examples
    --------
    >>> from nofluke.series.reading import prepare
    >>> sequence = prepare([0, 1, 0, 0, 1, 0], [0, 2, 1, 2, 0, 0])
    >>> trial = Trial.of(sequence, (Tolerance(early=1, late=1),), np.array([1.0, 2.0]))
    >>> trial.shape, trial.precision_hits, trial.recall_hits
    ((1, 2), array([[3, 2]]), array([[2, 2]]))
    """

    truth: Truth
    detector: AnyArray = field(repr=False)
    tolerances: tuple[Tolerance, ...]
    thresholds: FloatArray = field(repr=False)
    reaches: tuple[Reach, ...] = field(repr=False)
    count_alarms: CountAlarms = "steps"
    told: FloatArray | None = field(repr=False, default=None)
    zones: Zones = field(repr=False, default=None)  # type: ignore[assignment]  # made below
    ranking: InitVar[tuple[IntArray, IntArray] | None] = None
    n_steps: int = field(init=False, repr=False)
    n_events: int = field(init=False, repr=False)
    in_time: bool = field(init=False, repr=False)
    scored: bool = field(init=False, repr=False)
    shape: tuple[int, int] = field(init=False, repr=False)

    @classmethod
    def of(
        cls,
        sequence: Sequence,
        tolerances: tuple[Tolerance, ...],
        thresholds: Cuts | FloatArray | None,
        alarms: AlarmRule = STEPS,
    ) -> Trial:
        """The trial of a sequence as it was read; thresholds are None where alarms are given.

        What lies around the events is the same for all detectors that were read against the same series.
        """
        kept, shared = sequence.open_steps, sequence.shared
        truth = shared.once("truth", lambda: truth_of(sequence))

        def zones() -> Zones:
            around = (Reach(tolerance=one, open_steps=kept, clock=sequence.clock) for one in tolerances)
            return Zones(truth=truth, reaches=tuple(around))

        around = shared.latest("zones", tolerances, zones)
        detector: AnyArray | None = sequence.predictions if sequence.scores is None else sequence.scores
        if detector is None:
            raise InputError(problem="pass either scores or predictions")
        if truth.n_steps < len(kept):
            detector = detector[kept]
        cuts, told = (thresholds.compared, thresholds.told) if isinstance(thresholds, Cuts) else (thresholds, None)
        return cls(
            truth=truth,
            detector=alarms.closed(detector if sequence.sign == 1 else -detector, kept, truth.clock),
            tolerances=tolerances,
            thresholds=np.ones(1) if cuts is None else cuts,
            reaches=around.reaches,
            count_alarms=alarms.count,
            told=told,
            zones=around,
        )

    def at_every_score(self, sign: int = 1) -> Self:
        """The same at every distinct score, in scores of that sign; the sort that finds them also counts."""
        order = np.argsort(self.detector)
        values = self.detector[order]
        below = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
        cuts = values[below].astype(np.float64)
        return replace(self, thresholds=cuts, told=None if sign == 1 else 0.0 - cuts, ranking=(order, below))

    def __post_init__(self, ranking: tuple[IntArray, IntArray] | None) -> None:
        truth, zones = self.truth, self.zones
        if zones is None or zones.truth is not truth or zones.reaches is not self.reaches:
            zones = self._zones()
        self.__dict__.update(
            zones=zones,
            n_steps=truth.n_steps,
            n_events=truth.n,
            in_time=truth.in_time,
            scored=self.detector.dtype.kind != "b",
            shape=(len(self.tolerances), len(self.thresholds)),
        )
        if ranking is not None:
            self.__dict__["_ranking"] = ranking
        self._check()

    @lazy
    def place(self) -> int:
        """Which row of the batch it is: the only one, unless `judge_together` has joined it to others."""
        return 0

    @lazy
    def batch(self) -> Batch | None:
        """The detectors that this one is judged together with; of many thresholds, and in time, there is none."""
        if self.in_time or len(self.thresholds) != 1:
            return None
        cuts = (float(self.thresholds[0]),)
        return Batch(zones=self.zones, detectors=(self.detector,), cuts=cuts, count_alarms=self.count_alarms)

    def _zones(self) -> Zones:
        return Zones(truth=self.truth, reaches=self.reaches)

    def _check(self) -> None:
        if np.shape(self.detector) != (self.n_steps,):
            got = len(self.detector) if np.ndim(self.detector) == 1 else f"shape {np.shape(self.detector)}"
            raise InputError(
                problem=f"a detector has one value for each of the {self.n_steps} steps that count, got {got}"
            )
        if len(self.thresholds) > 1 and not (self.thresholds[1:] >= self.thresholds[:-1]).all():
            raise InputError(problem="thresholds of a trial must ascend", remedy="sort them")

    def __getstate__(self) -> dict[str, Any]:
        """Without what can be worked out again."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "zones"} | {"zones": self._zones()}

    def by_axis(self, *, steps: Callable[[Trial], Answer], ticks: Callable[[Any], Answer]) -> Answer:
        """The answer of the function for this axis, asked with this object: for what differs on steps and in time."""
        return ticks(self) if self.in_time else steps(self)

    def over(self, tolerances: tuple[Tolerance, ...], thresholds: FloatArray, told: FloatArray | None = None) -> Trial:
        """The same series and detector at other tolerances and thresholds; keeps what is known of shared tolerances."""
        known, some = dict(zip(self.tolerances, self.reaches, strict=True)), self.reaches[0]
        made = (Reach(tolerance=t, open_steps=some.open_steps, clock=some.clock) for t in tolerances)
        reaches = tuple(known.get(reach.tolerance, reach) for reach in made)
        return replace(self, tolerances=tolerances, thresholds=thresholds, told=told, reaches=reaches)

    def with_truth(self, truth: Truth) -> Trial:
        """The same detector against other events on the same steps."""
        return replace(self, truth=truth)

    def with_detector(self, detector: AnyArray) -> Trial:
        """Another detector, or the same one moved, against the same events."""
        return replace(self, detector=detector)

    @property
    def n_told(self) -> int:
        """Steps to speak of: those on which the detector has a value."""
        return len(self.detector)

    @property
    def size(self) -> int:
        """What work on a cell grows with: the steps."""
        return self.n_steps

    @property
    def row(self) -> int:
        """What a random placement may take in memory, as steps."""
        return self.n_steps

    def prepare(self) -> None:
        """Work out what all cells share, before threads ask for it."""
        for reach in self.reaches:
            reach.around_alarms(np.zeros(0, dtype=np.int64))

    @property
    def event_windows(self) -> tuple[Ranges, ...]:
        """For each tolerance and event, the steps whose predictions find it."""
        return self.zones.event_windows

    @lazy
    def _kept(self) -> dict[int, IntArray]:
        return {}

    def alarms(self, k: int) -> IntArray:
        """The steps that threshold k predicts, ascending."""
        if self.batch is not None:
            return self.batch.steps[self.place]
        found = self._kept.get(k)
        if found is None:
            found = self.alarm_flags(k).nonzero()[0]
            kept = self._kept.copy()  # other threads add to it meanwhile
            if sum(map(len, kept.values())) + len(found) <= KEPT_ALARMS:
                self._kept[k] = found
        return found

    def alarm_flags(self, k: int) -> BoolArray:
        """Whether threshold k predicts each step."""
        if self.batch is not None:
            return self.batch.flags[self.place]
        if not self.scored:
            return self.detector
        return np.asarray(self.detector >= np.float64(self.thresholds[k]))

    @lazy
    def _ranking(self) -> tuple[IntArray, IntArray]:
        """The steps by ascending score, and how many of them are below each threshold: one sort for all cells."""
        order = np.argsort(self.detector)
        return order, np.searchsorted(self.detector[order], self.thresholds, side="left")

    @lazy
    def n_alarm_steps(self) -> IntArray:
        """Steps predicted, by threshold."""
        if len(self.thresholds) == 1:
            return np.array([len(self.alarms(0))])
        return len(self.detector) - self._ranking[1]

    @lazy
    def n_predictions(self) -> IntArray:
        """Predictions, by threshold: predicted steps, or episodes of them."""
        if self.count_alarms == "steps":
            return self.n_alarm_steps
        if self.batch is not None:
            return np.array([self.batch.n_predictions[self.place]])
        # a run has one step more than it has pairs of neighbours
        return self.n_alarm_steps - self._reaching(self._pairs)

    @lazy
    def precision_hits(self) -> IntArray:
        """PA-AAδ by cell: predictions near an event."""
        if self.batch is not None:
            return np.array([[hits[self.place]] for hits in self.batch.precision_hits])
        order, below = self._ranking
        counts = (np.concatenate([[0], np.cumsum(flags_of(near, self.n_steps)[order])]) for near in self.zones.near)
        hits = np.stack([count[-1] - count[below] for count in counts])
        return (
            hits if self.count_alarms == "steps" else hits - np.stack([self._joined(near) for near in self.zones.near])
        )

    @property
    def _pairs(self) -> AnyArray:
        """For each step but the last, what it and the next one both reach."""
        return np.minimum(self.detector[:-1], self.detector[1:])

    def _reaching(self, values: AnyArray) -> IntArray:
        return reaching(values.astype(np.float64, copy=False), self.thresholds)

    def _joined(self, near: Ranges) -> IntArray:
        """By threshold, how many predicted steps near an event are of the same episode as the one before them.

        That one is its neighbour, or, for the first step of a stretch near an event, the last step of the stretch
        before.
        """
        inside = flags_of(near, self.n_steps)
        beside = self._pairs[inside[:-1] & inside[1:]]
        between = Ranges(starts=near.stops[:-1] - 1, stops=near.starts[1:] + 1)
        return self._reaching(beside) + self._reaching(-largest_within(-self.detector, between))

    @lazy
    def recall_hits(self) -> IntArray:
        """PAδ-AA by cell: events with a prediction near them."""
        if self.batch is not None:
            return np.array([[hits[self.place]] for hits in self.batch.recall_hits])
        return np.stack([self._held(windows) for windows in self.event_windows])

    def finders(self, d: int) -> Ranges:
        """For each event, which of the values of the detector are near it, within tolerance d."""
        return self.event_windows[d]

    def near_flags(self, d: int) -> BoolArray:
        """Whether each step is near an event, within tolerance d."""
        return flags_of(self.zones.near[d], self.n_steps)

    @property
    def near_events(self) -> IntArray:
        """AAδ by tolerance: steps near an event."""
        return self.zones.near_events

    @lazy
    def near_predictions(self) -> IntArray:
        """PAδ by cell: steps on which an event would be found."""
        if len(self.thresholds) == 1:
            return np.array([[self.cell(d, 0).windows.covered] for d in range(len(self.reaches))])
        return np.stack([self._held(reach.cover) for reach in self.reaches])

    def _held(self, ranges: Ranges) -> IntArray:
        """How many ranges hold a prediction, by threshold; an empty one holds none, however low the threshold."""
        return reaching(largest_within(self.detector, nonempty(ranges)), self.thresholds)

    @lazy
    def levels(self) -> IntArray:
        """How many of the thresholds each step reaches."""
        if not self.scored:
            return self.detector.astype(np.int64)
        return np.searchsorted(self.thresholds, self.detector, side="right").astype(np.int64)

    @lazy
    def distinct(self) -> tuple[IntArray, IntArray]:
        """Thresholds that predict different steps, and which of them each threshold equals."""
        # sets of predicted steps are nested, so equal numbers of them are equal steps
        _, first, inverse = np.unique(self.n_alarm_steps, return_index=True, return_inverse=True)
        return first, inverse

    def cell(self, d: int, k: int) -> Cell:
        """The detector at threshold k within tolerance d."""
        if self.shape != (1, 1):
            return Cell(trial=self, d=d, k=k)
        return self._only

    @lazy
    def _only(self) -> Cell:
        """The cell of a trial that has one, with what is worked out for it."""
        return Cell(trial=self, d=0, k=0)


def judge_together(trials: Iterable[Trial]) -> None:
    """Have the alarms of these trials found, counted and looked at all at once, where they are on the same steps.

    As soon as they are made: before anything is asked of them.
    """
    alike: dict[Any, list[Trial]] = {}
    for trial in trials:
        if not trial.in_time and len(trial.thresholds) == 1:
            alike.setdefault((id(trial.zones), trial.count_alarms), []).append(trial)
    for group in alike.values():
        at_once = -(-MOST_AT_ONCE // max(group[0].n_steps, 1))  # as many as reach it
        for first in range(0, len(group), at_once):
            some = group[first : first + at_once]
            batch = Batch(
                zones=some[0].zones,
                detectors=tuple(trial.detector for trial in some),
                cuts=tuple(float(trial.thresholds[0]) for trial in some),
                count_alarms=some[0].count_alarms,
            )
            for place, trial in enumerate(some):
                trial.__dict__.update(batch=batch, place=place)


def truth_of(sequence: Sequence) -> Truth:
    """The events of a sequence, on the steps that count."""
    kept, clock = sequence.open_steps, sequence.clock
    whole = bool(kept.all())
    times = None if clock is None else clock if whole else replace(clock, ticks=clock.ticks[kept])
    if sequence.spans is None:
        return Truth.of_flags(sequence.truth if whole else sequence.truth[kept], times, kept)
    return Truth.of_spans(sequence.spans, times, kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The unit in which times are told, how many ticks make one, how much was watched, and how long a step is."""

    unit: TimeUnit
    per_unit: float
    watched: float
    step: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Marks:
    """Events, or a detector's alarms: where each begins and ends, whether it counts, and whether it is found or a hit.

    ``first`` and ``last`` are in the unit of the tolerance; ``steps`` are numbers of steps, where there are steps.
    """

    first: AnyArray = field(repr=False)
    last: AnyArray = field(repr=False)
    steps: Ranges | None = field(repr=False, default=None)
    counts: BoolArray = field(repr=False)
    scores: BoolArray = field(repr=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class Cell(Keeper):
    """One cell of a trial: fixed predictions, their windows, and the events that chance may move.

    Attributes
    ----------
    trial : Trial
    d, k : int
        Positions of its tolerance and its threshold.
    truth : Truth
        The events.
    tolerance : Tolerance
    reach : Reach
        What the tolerance reaches on this series.
    clock : Clock or None
        Times of the steps that count.
    n_steps : int
        T, the steps that count.
    n_events : int
        m, the events.
    in_time : bool
        Whether events are at their own times, and not on steps.
    """

    trial: Trial = field(repr=False)
    d: int
    k: int
    truth: Truth = field(init=False, repr=False)
    tolerance: Tolerance = field(init=False, repr=False)
    reach: Reach = field(init=False, repr=False)
    clock: Clock | None = field(init=False, repr=False)
    n_steps: int = field(init=False, repr=False)
    n_events: int = field(init=False, repr=False)
    in_time: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        trial, truth = self.trial, self.trial.truth
        self.__dict__.update(
            truth=truth,
            tolerance=trial.tolerances[self.d],
            reach=trial.reaches[self.d],
            clock=truth.clock,
            n_steps=truth.n_steps,
            n_events=truth.n,
            in_time=truth.in_time,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Without what can be worked out again."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def by_axis(self, *, steps: Callable[[Cell], Answer], ticks: Callable[[Any], Answer]) -> Answer:
        """The answer of the function for this axis, asked with this object: for what differs on steps and in time."""
        return ticks(self) if self.in_time else steps(self)

    @property
    def n_counted(self) -> int:
        """The events that recall is a share of: all of them."""
        return self.n_events

    @property
    def counted(self) -> Ranges | None:
        """The stretches of steps on which an event counts; None where it does on all of them."""
        return None

    @property
    def counts(self) -> BoolArray:
        """Whether each event counts."""
        return np.ones(self.n_events, dtype=np.bool_)

    @property
    def n_labelled(self) -> int:
        """How many steps belong to an event."""
        return int(np.count_nonzero(self.truth.flags))

    @lazy
    def timing(self) -> Timing:
        """In steps, or in the clock's own time."""
        clock = self.reach.clock
        if clock is None:
            return Timing(unit="steps", per_unit=1, watched=float(self.n_steps), step=1.0)
        watched, step = clock.lasting(self.truth.open_steps), replace(clock, ticks=clock.ticks[:SOME_STEPS]).step
        if not clock.is_dates:
            return Timing(unit="clock", per_unit=1, watched=watched, step=step)
        per_unit = 10**9 // clock.tick_size
        return Timing(unit="seconds", per_unit=per_unit, watched=watched / 1e9, step=step / per_unit)

    def times(self, rows: IntArray) -> tuple[AnyArray, AnyArray]:
        """Times of placed events and of the alarms: those of a clock, or steps, masked ones counted."""
        when = np.flatnonzero(self.truth.open_steps) if self.clock is None else self.clock.ticks
        return when[rows], when[self.alarms]

    def alone(self) -> Trial:
        """The trial of this cell only."""
        trial = self.trial
        if trial.shape == (1, 1):
            return trial
        return replace(
            trial,
            detector=self.alarm_flags,
            thresholds=np.ones(1),
            told=None,
            tolerances=(self.tolerance,),
            reaches=(self.reach,),
        )

    @lazy
    def n_predictions(self) -> int:
        """n, the predictions: predicted steps, or episodes of them."""
        batch = self.trial.batch
        return int(self.trial.n_predictions[self.k]) if batch is None else batch.n_predictions[self.trial.place]

    @property
    def threshold(self) -> float | None:
        """τ in the caller's own numbers, where there are scores to put it on."""
        told = self.trial.thresholds if self.trial.told is None else self.trial.told
        return float(told[self.k]) if self.trial.scored else None

    @property
    def scores(self) -> AnyArray | None:
        """Of the steps that count, where the predictions come from scores."""
        return self.trial.detector if self.trial.scored else None

    @lazy
    def alarms(self) -> IntArray:
        """The predicted steps, ascending."""
        return self.trial.alarms(self.k)

    @property
    def chosen(self) -> IntArray:
        """Which of the values of the detector are alarms: the predicted steps."""
        return self.alarms

    @property
    def alarms_counted(self) -> BoolArray:
        """Whether each alarm counts."""
        return np.ones(len(self.alarms), dtype=np.bool_)

    @property
    def alarm_hits(self) -> BoolArray:
        """Whether each alarm has an event near it, or any alarm of its episode has."""
        near = self.trial.near_flags(self.d)[self.alarms]
        return as_episodes(near, self.alarms) if self.trial.count_alarms == "episodes" else near

    @lazy
    def alarm_flags(self) -> BoolArray:
        """Whether each step is predicted."""
        return self.trial.alarm_flags(self.k)

    @lazy
    def episodes(self) -> Ranges:
        """The runs of predicted steps, whatever is counted."""
        batch = self.trial.batch
        return runs(self.alarms) if batch is None else batch.episodes[self.trial.place]

    @lazy
    def stretches(self) -> Stretches:
        """The steps on which an event makes each prediction a hit.

        For an episode, those of all its steps. Where a window holds the step itself, windows of neighbours leave no
        hole between them, whatever the clock and the mask; one that lies aside may, where neighbours are further apart
        than it is long.
        """
        reach, alarms = self.reach, self.alarms
        if self.trial.count_alarms == "steps":
            ranges, of = reach.around_alarms(alarms), np.arange(len(alarms))
        elif reach.tolerance.aside:
            ranges, of = reach.around_alarms(alarms), np.cumsum(np.diff(alarms, prepend=alarms[:1]) > 1)
            return Stretches.joined(ranges.starts, ranges.stops, of)
        else:
            first, last = self.episodes.starts, self.episodes.stops - 1
            ranges = Ranges(starts=reach.around_alarms(first).starts, stops=reach.around_alarms(last).stops)
            of = np.arange(len(first))
        return Stretches(starts=ranges.starts, stops=ranges.stops, of=of)

    @lazy
    def windows(self) -> Windows:
        """One window for each prediction, for laws of events that may fall on any step; `stretches` has true places."""
        return self.stretches.windows(self.n_steps)

    @property
    def covered(self) -> int:
        """PAδ: steps on which an event would be found."""
        return self.windows.hittable.covered

    @property
    def mean_share(self) -> float:
        """Mean share of the steps in the window of an event on a random step."""
        return float((self.cover.stops - self.cover.starts).mean()) / self.n_steps

    @property
    def marks(self) -> tuple[Marks, Marks]:
        """Events and alarms, or episodes of alarms, as the tolerance measures distances between them."""
        near, first, last = union(self.trial.event_windows[self.d]), self.truth.first_steps, self.truth.last_steps
        events = Ranges(starts=first, stops=last + 1)
        if self.trial.count_alarms == "steps":
            alarms, hit = Ranges(starts=self.alarms, stops=self.alarms + 1), in_ranges(self.alarms, near)
        else:
            alarms, hit = self.episodes, touching(self.episodes, near)
        return self._marks(events, self.found, own=True), self._marks(alarms, hit)

    def _marks(self, ranges: Ranges, scores: BoolArray, *, own: bool = False) -> Marks:
        truth, in_steps = self.truth, self.tolerance.unit == "steps"
        when = None if self.clock is None or in_steps else self.clock.ticks
        if own and when is not None and truth.begins is not None and truth.ends is not None:
            first, last = truth.begins, truth.ends
        else:
            first, last = ranges.starts, ranges.stops - 1
            if when is None and self.n_steps < len(truth.open_steps):
                when = np.flatnonzero(truth.open_steps)  # masked steps take up time
            if when is not None:
                first, last = when[first], when[last]
        return Marks(first=first, last=last, steps=ranges, counts=np.ones(len(scores), dtype=np.bool_), scores=scores)

    @property
    def apart(self) -> np.uint64 | np.float64:
        """How far apart marks of one episode may lie: the whole tolerance, or as far as a window off to one side."""
        tolerance, clock = self.tolerance, self.clock
        far = both_sides(tolerance)
        if tolerance.unit == "steps" or clock is None:
            return np.uint64(int(min(far, FARTHEST)))
        if clock.ticks.dtype.kind == "f":
            return np.float64(float(far) + 2 * clock.slack)
        return np.uint64(int(min(far, FARTHEST * clock.tick_size)) // clock.tick_size)

    @property
    def near_alarm(self) -> BoolArray:
        """Whether an event on each step would be found."""
        return flags_of(self.zone, self.n_steps)

    @property
    def zone(self) -> Ranges:
        """The stretches of steps on which an event would be found."""
        return union(Ranges(starts=self.stretches.starts, stops=self.stretches.stops))

    @property
    def cover(self) -> Ranges:
        """For each step seen as an event, the steps whose predictions it makes hits (and that find it)."""
        return self.reach.cover

    @lazy
    def precision_hits(self) -> int:
        """PA-AAδ: predictions near an event."""
        trial, batch = self.trial, self.trial.batch
        return int(trial.precision_hits[self.d, self.k]) if batch is None else batch.precision_hits[self.d][trial.place]

    @lazy
    def recall_hits(self) -> int:
        """PAδ-AA: events near a prediction."""
        trial, batch = self.trial, self.trial.batch
        return int(trial.recall_hits[self.d, self.k]) if batch is None else batch.recall_hits[self.d][trial.place]

    def with_perfect_alarms(self) -> Iterator[Cell]:
        """The same events with alarms that find them all and nothing else.

        One in the middle of each event's window, as long as alarms here mostly are; and, where alarms on time count,
        one on every step of an event.
        """
        n, length = self.n_steps, max(self.episodes.typical, 1)

        def in_the_middle() -> Cell:
            windows = nonempty(self.trial.event_windows[self.d])
            first = np.clip((windows.starts + windows.stops - length) // 2, 0, max(n - length, 0))
            on_each = union(Ranges(starts=first, stops=np.minimum(first + length, n)))
            return self._with_alarms(detector=flags_of(on_each, n))

        # another detector, or another one whose alarms are as long, has the same
        once, alike = self.trial.zones.once, ("perfect alarms", self.d, self.trial.count_alarms)
        yield once((*alike, length), in_the_middle)
        if not self.tolerance.aside:
            yield once(alike, lambda: self._with_alarms(detector=self.truth.flags))

    def _with_alarms(self, **other: Any) -> Cell:
        """The cell of other alarms against the same events within the same tolerance."""
        if len(self.trial.reaches) > 1:
            other |= {"tolerances": (self.tolerance,), "reaches": (self.reach,)}
        return replace(self.trial, thresholds=np.ones(1), told=None, **other).cell(0, 0)

    @lazy
    def found(self) -> BoolArray:
        """Whether each event has a prediction near it."""
        trial = self.trial
        if trial.batch is not None:
            return np.asarray(trial.batch.found[self.d][trial.place])
        windows = trial.event_windows[self.d]
        return np.asarray(self.alarms.searchsorted(windows.stops) > self.alarms.searchsorted(windows.starts))

    def delays(self) -> FloatArray:
        """Distance from each event's start to its nearest prediction, in clock ticks or in steps, masked ones included.

        For a range, to the first prediction that finds it; to the nearest one where none does.
        """
        truth, windows = self.truth, self.trial.event_windows[self.d]
        every = truth.open_steps
        when = None if len(every) == self.n_steps else np.flatnonzero(every)
        when = when if self.clock is None else self.clock.ticks
        if truth.count_events == "steps" and truth.points:
            return nearest_alarms(truth.starts, self.alarms, when, windows, self.found)
        starts = truth.first_steps
        begins = truth.begins if truth.begins is not None else starts if when is None else when[starts]
        clock = self.reach.clock
        if clock is not None:  # before that, nobody could have raised an alarm
            begins = np.maximum(begins, clock.ticks[0])
        return first_alarms(begins, self.alarms, np.arange(self.n_steps) if when is None else when, windows)

    def resets(self) -> FloatArray:
        """From each event's end to the end of the last alarm that finds it, a run of steps; NaN where none does."""
        truth = self.truth
        when = np.flatnonzero(truth.open_steps) if self.clock is None else self.clock.ticks
        ends = truth.ends if truth.ends is not None else when[truth.last_steps]
        lasting = np.repeat(self.episodes.stops - 1, self.episodes.stops - self.episodes.starts)
        return last_alarms(ends, self.alarms, lasting, when, self.trial.event_windows[self.d])


def both_sides(reach: Any) -> Any:
    """How far both sides of a tolerance reach together; as far as the longer one, where it lies off to one side."""
    return max(reach.early + reach.late, reach.early, reach.late)


def as_episodes(hits: BoolArray, alarms: IntArray) -> BoolArray:
    """Which alarms are hits where every alarm of an episode is, once one of them is.

    >>> as_episodes(np.array([True, False, False]), np.array([3, 4, 9]))
    array([ True,  True, False])
    """
    of = np.cumsum(np.diff(alarms, prepend=alarms[:1]) > 1)
    return np.isin(of, of[hits])
