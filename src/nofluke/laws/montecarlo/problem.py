"""The permutation problem in plain indices, and the hits of given events."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from nofluke.arrays import AnyArray, IntArray
from nofluke.errors import InputError
from nofluke.series.counting import Stretches
from nofluke.series.trial import Trial

At = tuple[int, int]

MOST_DRAWN_STEPS = 2**27  # keeps a chunk's sum of squared hits within the next line


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Episodes:
    """Where an event makes a hit of each episode, by tolerance and by threshold that predicts steps of its own."""

    windows: tuple[tuple[Stretches, ...], ...] = field(repr=False)
    which: IntArray
    n_predictions: IntArray

    @classmethod
    def of(cls, trial: Trial) -> Episodes:
        """Of all cells of a trial."""
        first, which = trial.distinct
        return cls(
            windows=tuple(tuple(trial.cell(d, int(k)).stretches for k in first) for d in range(len(trial.tolerances))),
            which=which,
            n_predictions=trial.n_predictions,
        )

    def hits(self, placements: AnyArray) -> IntArray:
        """Episodes near an event, for rows of ascending events: of shape (placement, tolerance, threshold)."""
        from nofluke.laws.montecarlo import kernels

        rows = np.ascontiguousarray(placements, dtype=np.uint32)
        found = np.empty((len(rows), len(self.windows), len(self.windows[0])), dtype=np.int64)
        for d, cells in enumerate(self.windows):
            for k, one in enumerate(cells):
                kernels.episode_hits(rows, one.starts, one.stops, one.of, found[:, d, k])
        return found[:, :, self.which]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problem:
    """What is fixed while the events are permuted.

    Parameters
    ----------
    level : (T,) int
        For each step, how many of the K ascending thresholds its score reaches (0..K): threshold k predicts
        step s if ``level[s] > k``.
    n_thresholds : int
        K.
    n_events : int
        m, the events that are placed uniformly at random on the T steps.
    cover_start, cover_stop : (T,) or (tolerances, T) int
        An event at step t makes predictions in ``cover_start[t] <= s < cover_stop[t]`` hits, and is found if
        there is one. Both nondecreasing in t; a range may be empty.
    episodes : Episodes, optional
        Runs of predicted steps, where these count as one prediction each.
    """

    level: IntArray = field(repr=False)
    n_thresholds: int
    n_events: int
    cover_start: IntArray = field(repr=False)
    cover_stop: IntArray = field(repr=False)
    episodes: Episodes | None = field(repr=False, default=None)

    def __post_init__(self) -> None:
        level = integers("level", self.level)
        starts = np.atleast_2d(integers("cover_start", self.cover_start))
        stops = np.atleast_2d(integers("cover_stop", self.cover_stop))
        n_steps = level.size
        if level.ndim != 1 or not 1 <= n_steps <= MOST_DRAWN_STEPS:
            raise InputError(
                argument="level", problem=f"must be one row of 1 to {MOST_DRAWN_STEPS} steps, got shape {level.shape}"
            )
        positive("n_thresholds", self.n_thresholds)
        if level.min() < 0 or level.max() > self.n_thresholds:
            raise InputError(
                argument="level",
                problem=f"must lie in 0..{self.n_thresholds} (n_thresholds), got {level.min()}..{level.max()}",
                remedy="count the thresholds that each score reaches",
            )
        if not isinstance(self.n_events, int | np.integer) or not 0 <= self.n_events <= n_steps:
            raise InputError(
                argument="n_events", problem=f"must be a whole number in 0..{n_steps} (steps), got {self.n_events!r}"
            )
        if starts.ndim != 2 or starts.shape != stops.shape or starts.shape[1] != n_steps or not starts.size:
            raise InputError(
                problem=f"cover_start and cover_stop must both have shape (tolerances, {n_steps}), got {starts.shape} and "
                f"{stops.shape}"
            )
        for name, ranges, wrong in (
            ("cover_start", starts, (starts < 0) | (starts > n_steps)),
            ("cover_stop", stops, (stops < starts) | (stops > n_steps)),
        ):
            if wrong.any():
                d, t = (int(i) for i in np.argwhere(wrong)[0])
                raise InputError(
                    problem=f"{name}[{d}, {t}] is {ranges[d, t]}",
                    remedy=f"the range must lie within 0..{n_steps} and not stop before it starts",
                )
            if (ranges[:, 1:] < ranges[:, :-1]).any():
                raise InputError(
                    argument=name,
                    problem="must be nondecreasing along the steps",
                    remedy="a later event covers no earlier range",
                )
        for name, value in (("level", level), ("cover_start", starts), ("cover_stop", stops)):
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, trial: Trial) -> Problem:
        """A trial in plain indices."""
        return cls(
            level=trial.levels,
            n_thresholds=len(trial.thresholds),
            n_events=trial.n_events,
            cover_start=_rows([reach.cover.starts for reach in trial.reaches]),
            cover_stop=_rows([reach.cover.stops for reach in trial.reaches]),
            episodes=None if trial.count_alarms == "steps" else Episodes.of(trial),
        )

    @property
    def shape(self) -> At:
        """Number of tolerances and of thresholds: the shape of every table of cells."""
        return len(self.cover_start), self.n_thresholds

    @property
    def n_predictions(self) -> IntArray:
        """Number of predicted steps, or of episodes of them, by threshold."""
        if self.episodes is not None:
            return self.episodes.n_predictions
        return above_each(self.level, self.n_thresholds)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hits:
    """Hits by (tolerance, threshold): predictions near an event, and events near a prediction."""

    precision: IntArray
    recall: IntArray


def above_each(levels: IntArray, n_thresholds: int) -> IntArray:
    """How many of the levels lie above each threshold."""
    return np.cumsum(np.bincount(levels, minlength=n_thresholds + 1)[:0:-1])[::-1].astype(np.int64)


def _rows(arrays: list[IntArray]) -> IntArray:
    """Arrays as rows of a table; a single long one is not copied."""
    return arrays[0][np.newaxis] if len(arrays) == 1 else np.stack(arrays)


def integers(name: str, values: ArrayLike) -> IntArray:
    array = np.asarray(values)
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise InputError(
            argument=name, problem=f"must be integers, got {array.dtype}", remedy="pass step indices or counts"
        )
    return array.astype(np.int64, copy=False)


def positive(name: str, value: int) -> int:
    if not isinstance(value, int | np.integer) or value < 1:
        raise InputError(argument=name, problem=f"must be a whole number of at least 1, got {value!r}")
    return int(value)
