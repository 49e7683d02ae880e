"""One placement of events for all series that share a truth: their hits are summed, then compared with chance's.

Hits of a cluster are sums over its series, so that cases can come one after another, and from anywhere: what moves the
events depends on the null, the events and a seed, never on the case.

- A null that shifts all events together has a list of shifts. The same one serves all series, and all of them are
  counted.
- Series with the same events under a null that draws: the same seed draws the same placements.
- Nearly the same events that are permuted: those that lie near one another, at most one of each series, are placed
  together and
  keep their distances.

Anything else has no common placement; `nofluke.laws.comonotone` is then for the careful.

The section "Pooling over series" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from nofluke.arrays import AnyArray, IntArray
from nofluke.errors import InputError
from nofluke.laws.counts import CountLaw, SimulatedLaw
from nofluke.laws.law import How, Law
from nofluke.laws.montecarlo import Problem, Uniform, hits_of
from nofluke.laws.tables import weighted
from nofluke.nulls.base import NullModel
from nofluke.nulls.simulation import draws
from nofluke.nulls.whole_ranges import hits_of_ranges
from nofluke.series.trial import Cell

N_DRAWS = 10_000
Where = tuple[IntArray, IntArray]  # of each event: its group, and how far behind the group's first step it is


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Placements:
    """One placement of the events for a whole cluster, again and again.

    Attributes
    ----------
    null : NullModel
        What chance does, in all cells alike.
    n_draws, seed : int
        How many placements are drawn where they cannot all be listed, and from where on.
    groups : mapping or None
        Of nearly equal truths: which events are placed together; None where all series have the same events.
    """

    null: NullModel
    seed: int
    n_draws: int = N_DRAWS
    groups: dict[bytes, Where] | None = field(repr=False, default=None)

    @classmethod
    def of(
        cls, null: NullModel, truths: Sequence[AnyArray], reach: int, *, seed: int, n_draws: int = N_DRAWS
    ) -> Placements | None:
        """For series with these first steps of events; None if the null has no placement that serves them all."""
        apart = {np.asarray(starts, dtype=np.int64).tobytes() for starts in truths}
        if null.moves != "truth":
            return None
        if len(apart) > 1 and not null.shifts_all:
            if not null.permutes:
                return None
            return cls(null=null, seed=seed, n_draws=n_draws, groups=event_groups(truths, reach))
        return cls(null=null, seed=seed, n_draws=n_draws)

    def hits(self, cell: Cell) -> tuple[IntArray, How]:
        """Precision's and recall's hits of a cell, two columns: a row for each placement, the same one in all cells."""
        listed = self.null.every_placement(cell)
        if listed is not None:
            recall, precision, how = listed
            return np.stack([precision, recall], axis=1), how
        how = How(kind="simulated", n_resamples=self.n_draws, seed=self.seed)
        if cell.n_events == 0 or len(cell.alarms) == 0:
            return np.zeros((self.n_draws, 2), dtype=np.int64), how
        return np.concatenate([_hits(cell, rows) for rows in self._rows(cell)]), how

    def drawn(self, cell: Cell) -> IntArray:
        """The same of ``n_draws`` placements, whatever the null: for what is made of both hits, such as F1."""
        found, how = self.hits(cell)
        if how.kind == "simulated":
            return found
        which = np.random.default_rng(self.seed).integers(len(found), size=self.n_draws)
        return found[which]

    def _rows(self, cell: Cell) -> Sequence[AnyArray]:
        if self.groups is None:
            return list(draws(self.null, cell.trial, self.n_draws, self.seed))
        known = self.groups.get(np.asarray(cell.truth.starts, dtype=np.int64).tobytes())
        if known is None:
            raise InputError(
                argument="cell", problem="has other events than its placements were made for", remedy="pass all truths"
            )
        group, behind = known
        n_groups, n_steps = 1 + max(int(of.max()) for of, _ in self.groups.values()), cell.n_steps
        generator = np.random.default_rng(self.seed)
        if n_groups <= n_steps:  # in random order: which group goes where
            at = generator.permuted(Uniform(n_steps, n_groups)(generator, self.n_draws).astype(np.int64), axis=1)
        else:
            at = generator.integers(n_steps, size=(self.n_draws, n_groups))
        return [(at[:, group] + behind) % n_steps]


def seed_of(seed: int, series: str) -> int:
    """A seed for a cluster from that of the study and the name of its first series, the same wherever it is worked out.

    >>> seed_of(1, "a") == seed_of(1, "a") != seed_of(1, "b")
    True
    """
    return int.from_bytes(hashlib.blake2b(f"{seed} {series}".encode(), digest_size=7).digest(), "big")


def event_groups(truths: Sequence[AnyArray], reach: int) -> dict[bytes, Where]:
    """Which events of nearly equal truths belong together: chains of steps within reach, at most one event per truth.

    >>> one, other = np.array([10, 50]), np.array([12, 52, 90])
    >>> groups = event_groups([one, other], 3)
    >>> groups[other.tobytes()]
    (array([0, 1, 2]), array([2, 2, 0]))
    """
    apart = list({row.tobytes(): row for row in (np.asarray(starts, dtype=np.int64) for starts in truths)}.values())
    steps = np.concatenate(apart)
    of = np.repeat(np.arange(len(apart)), [len(row) for row in apart])
    group, behind = np.zeros((2, len(steps)), dtype=np.int64)
    growing: list[_Group] = []
    found = 0
    for i in np.argsort(steps, kind="stable").tolist():
        step, truth = int(steps[i]), int(of[i])
        growing = [one for one in growing if step - one.last <= reach]
        joined = next((one for one in reversed(growing) if truth not in one.truths), None)
        if joined is None:
            joined = _Group(number=found, first=step)
            growing.append(joined)
            found += 1
        joined.last = step
        joined.truths.add(truth)
        group[i], behind[i] = joined.number, step - joined.first
    return {row.tobytes(): (group[of == k], behind[of == k]) for k, row in enumerate(apart)}


@dataclass(slots=True, kw_only=True)
class _Group:
    """Events that are placed together, while they are looked for."""

    number: int
    first: int
    last: int = 0
    truths: set[int] = field(default_factory=set)


def _hits(cell: Cell, rows: AnyArray) -> IntArray:
    """Both hits of each placement: precision's, recall's."""
    if cell.truth.points:
        found = hits_of(Problem.of(cell.alone()), rows)
        return np.stack([found.precision.ravel(), found.recall.ravel()], axis=1)
    placed = hits_of_ranges(cell, rows)
    return np.stack([placed["precision"], placed["recall"]], axis=1)


def found_on(cell: Cell) -> IntArray:
    """1 on each step where an event would be found, else 0; over series that share a truth these add up to weights."""
    return cell.near_alarm.astype(np.int64)


def law_of_weights(weights: IntArray, n_events: int, n_series: int) -> Law | None:
    """Recall's pooled law of series with the same events, permuted, from the sum of `found_on`; None if it is slow.

    Every event falls on a random step, and finds as many series as the step weighs.

    >>> law = law_of_weights(np.array([2, 1, 0, 0]), 1, 2)  # two series, one event
    >>> law.table
    array([0.5 , 0.25, 0.25])
    """
    return weighted(np.bincount(weights, minlength=n_series + 1), n_events)


def laws_of_sums(hits: IntArray, of: tuple[int, int], how: How) -> dict[str, Law]:
    """The laws of both summed hits of a cluster, out of so many predictions and events."""
    laws: dict[str, Law] = {}
    for side, values, size in zip(("precision", "recall"), hits.T, of, strict=True):
        counts = np.bincount(values, minlength=size + 1)
        if how.n_resamples is None:
            laws[side] = CountLaw.of(counts, how)
        else:
            mean, var = float(values.mean()), float(values.var())
            laws[side] = SimulatedLaw(counts, mean=mean, var=var, n_resamples=how.n_resamples, seed=how.seed)
    return laws
