"""Strata of events at their own times: stretches of places, each with the number of its stratum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nofluke.arrays import IntArray
from nofluke.errors import InputError
from nofluke.laws.montecarlo import Draw
from nofluke.laws.montecarlo.in_time import uniform
from nofluke.series.timed import TimedTruth
from nofluke.series.tolerance import Ranges

MOST_STRETCHES = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Strata:
    """Every step belongs to a stretch, and every stretch to a stratum.

    Attributes
    ----------
    edges : int array
        Steps at which stretches begin, from 0, and the number of all steps at the end.
    labels : int array
        The stratum of each stretch, numbered from 0.

    Examples
    --------
    >>> strata = Strata.of(np.array([0, 4, 6]), np.array([7, 3, 7]), 10)
    >>> near = Ranges(starts=np.array([3]), stops=np.array([6]))
    >>> strata.sizes, strata.count(np.array([1, 5, 9])), strata.covered(near)
    (array([2, 8]), array([1, 2]), array([2, 1]))
    """

    edges: IntArray
    labels: IntArray

    @classmethod
    def of(cls, starts: IntArray, labels: IntArray, n_steps: int) -> Strata:
        """From ascending starts, some maybe equal or outside, and any labels; empty stretches are dropped."""
        edges = np.append(np.clip(starts, 0, n_steps), n_steps).astype(np.int64)
        kept = np.diff(edges) > 0
        return cls(
            edges=np.append(edges[:-1][kept], n_steps).astype(np.int64),
            labels=np.unique(labels[kept], return_inverse=True)[1].astype(np.int64),
        )

    @property
    def sizes(self) -> IntArray:
        """Steps of each stratum."""
        return self._summed(np.diff(self.edges))

    def of_steps(self, steps: IntArray) -> IntArray:
        """The stratum of each step."""
        return self.labels[np.searchsorted(self.edges, steps, side="right") - 1]

    def count(self, steps: IntArray) -> IntArray:
        """How many of the steps are in each stratum."""
        return np.bincount(self.of_steps(steps), minlength=int(self.labels.max()) + 1)

    def covered(self, zone: Ranges) -> IntArray:
        """Steps of each stratum that lie in the zone, whose ranges ascend and do not overlap."""
        before = np.concatenate([[0], np.cumsum(zone.stops - zone.starts)]).astype(np.int64)
        at = np.searchsorted(zone.starts, self.edges, side="right") - 1
        inside = np.minimum(self.edges - zone.starts[at], (zone.stops - zone.starts)[at]) if len(before) > 1 else 0
        return self._summed(np.diff(np.where(at >= 0, before[at] + inside, 0)))

    def _summed(self, lengths: IntArray) -> IntArray:
        total = np.zeros(int(self.labels.max()) + 1, dtype=np.int64)  # whole numbers: floats would merge large ones
        np.add.at(total, self.labels, lengths)
        return total

    def split(self, edges: IntArray) -> Strata:
        """Each stratum cut into those between edges, which are as those of a `Strata`."""
        every = np.unique(np.concatenate([self.edges, edges]))
        starts, many = every[:-1], len(edges)
        return Strata.of(
            starts, self.of_steps(starts) * many + np.searchsorted(edges, starts, side="right"), int(every[-1])
        )

    def dense(self) -> IntArray:
        """The stratum of every step, where there are few."""
        return np.repeat(self.labels, np.diff(self.edges))

    def draw(self, steps: IntArray) -> Draw:
        """As many events as there are in each stratum, on random steps of it."""
        wanted, sizes = self.count(steps), self.sizes
        order = np.argsort(self.labels, kind="stable")
        starts, lengths = self.edges[:-1][order], np.diff(self.edges)[order]
        begin = np.searchsorted(self.labels[order], np.arange(len(sizes) + 1))
        busy = np.flatnonzero(wanted)

        def drawn(generator: np.random.Generator, size: int) -> npt.NDArray[np.int64]:
            rows = [np.zeros((size, 0), dtype=np.int64)]
            for stratum in busy:
                own = slice(begin[stratum], begin[stratum + 1])
                before = np.cumsum(lengths[own]) - lengths[own]
                ranks = uniform(int(sizes[stratum]), int(wanted[stratum]))(generator, size).astype(np.int64)
                at = np.searchsorted(before, ranks, side="right") - 1
                rows.append(starts[own][at] + ranks - before[at])
            return np.concatenate(rows, axis=1)

        return drawn


def in_windows(side: TimedTruth, windows: int) -> IntArray:
    """Edges of so many windows of nearly as many places each, in steps."""
    n = side.watch.n
    return np.array([-(-k * n // windows) for k in range(windows + 1)], dtype=np.int64) * side.slots


def at_ticks(side: TimedTruth, ticks: IntArray, labels: IntArray) -> Strata:
    """Strata whose stretches begin at ascending ticks, the first at or before the time that was watched."""
    return Strata.of(side.watch.places_before(ticks) * side.slots, labels, side.n_steps)


def cut_every(side: TimedTruth, length: float, parts: int, name: str) -> tuple[IntArray, IntArray]:
    """Ticks where the ``parts`` of every ``length`` places begin, from the start of the span, and their numbers."""
    watch = side.watch
    first, last = watch.first, int(watch.stops[-1])
    span = (last - first) / watch.stride
    count = int(span / length * parts) + parts + 1
    if count > MOST_STRETCHES:
        raise InputError(
            argument=name,
            problem=f"cuts the time that was watched into {count:,} pieces, more than {MOST_STRETCHES:,}",
            remedy="pass a longer one",
        )
    k = np.arange(count, dtype=np.int64)
    if length == int(length) and count * int(length) < 2**62:
        edges = -(-k * int(length) // parts)
    else:
        edges = np.ceil(k * (length / parts)).astype(np.int64)
    # places are those ticks that are whole strides away from tick 0
    return (-(-first // watch.stride) + edges) * watch.stride, k % parts
