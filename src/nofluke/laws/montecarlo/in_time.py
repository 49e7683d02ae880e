"""Events at their own times for the compiled loops: steps where an event does the same share a place in a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from nofluke.arrays import AnyArray, IntArray
from nofluke.laws.montecarlo.problem import Episodes, Problem
from nofluke.laws.montecarlo.run import Draw, Uniform, make_distinct
from nofluke.series.counting import Stretches
from nofluke.series.timed import TimedTrial

MOST_FLAGGED = 2**20  # steps up to which each has a bit of its own


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Folded:
    """A problem whose steps are stretches of ticks, told apart by what an event on them finds and hits in any cell.

    The first steps of the problem are the alarms, on which no event falls; behind them come the stretches.

    Attributes
    ----------
    problem : Problem
    edges : int array
        Steps of the trial at which a stretch ends and the next begins.
    first : int
        The step of the problem that is the first stretch.
    """

    problem: Problem
    edges: IntArray
    first: int

    def fold(self, steps: AnyArray) -> AnyArray:
        """Steps of the problem, for events on steps of the trial."""
        return np.searchsorted(self.edges, np.asarray(steps, dtype=np.int64), side="right") + self.first

    def with_draw(self, draw: Draw) -> tuple[Problem, Draw]:
        """The problem, and what a null draws as the problem takes it."""

        def folded(generator: np.random.Generator, size: int) -> npt.NDArray[Any]:
            return self.fold(draw(generator, size))

        return self.problem, folded


def folded(trial: TimedTrial) -> Folded:
    """A timed trial for the compiled loops."""
    levels = trial.levels
    reached = np.flatnonzero(levels)
    windows = [(found.starts[reached], found.stops[reached]) for found in trial.alarm_windows]
    edges = np.unique(np.concatenate([np.concatenate(pair) for pair in windows]))
    inside = np.concatenate([[-1], edges])  # a step of each stretch: the first one is before all windows
    starts = np.array([np.searchsorted(stops, inside, side="right") for _, stops in windows])
    stops = np.maximum([np.searchsorted(begins, inside, side="right") for begins, _ in windows], starts)
    # a problem has at least as many steps as events: what is missing is as the last one is
    n, more = len(reached), max(trial.n_events - len(inside) - len(reached), 0)
    pad = ((0, 0), (n, 0))
    starts, stops = (np.pad(np.pad(table, pad), ((0, 0), (0, more)), mode="edge") for table in (starts, stops))
    problem = Problem(
        level=np.concatenate([levels[reached], np.zeros(len(inside) + more, dtype=np.int64)]),
        n_thresholds=len(trial.thresholds),
        n_events=trial.n_events,
        cover_start=starts,
        cover_stop=stops,
    )
    found = Folded(problem=problem, edges=edges, first=n)
    if trial.count_alarms == "steps":
        return found
    return replace(found, problem=replace(problem, episodes=_folded_episodes(trial, found)))


def _folded_episodes(trial: TimedTrial, found: Folded) -> Episodes:
    """Where an event makes a hit of each episode, in steps of the problem."""
    episodes = Episodes.of(trial)
    return replace(
        episodes,
        windows=tuple(
            tuple(Stretches(starts=found.fold(w.starts), stops=found.fold(w.stops), of=w.of) for w in row)
            for row in episodes.windows
        ),
    )


@dataclass(frozen=True, slots=True)
class Sparse:
    """Events on random steps, every set of them equally likely, of up to 2**63 steps.

    Examples
    --------
    >>> rows = Sparse(10**18, 3)(np.random.default_rng(1), 4)
    >>> rows.shape, bool((np.diff(rows, axis=1) > 0).all())
    ((4, 3), True)
    """

    n_steps: int
    n_events: int

    def __call__(self, generator: np.random.Generator, size: int) -> npt.NDArray[Any]:
        """So many placements, as rows of ascending steps."""
        rows = np.sort(generator.integers(self.n_steps, size=(size, self.n_events)), axis=1)
        for row in np.flatnonzero((np.diff(rows, axis=1) == 0).any(axis=1)):
            make_distinct(generator, self.n_steps, rows[row])
        return rows


def uniform(n_steps: int, n_events: int) -> Draw:
    """Events on random steps, however many of these there are."""
    return Uniform(n_steps, n_events) if n_steps <= MOST_FLAGGED else Sparse(n_steps, n_events)
