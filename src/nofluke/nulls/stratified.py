"""Nulls that place events within strata: windows, phases, labels."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nofluke.arrays import IntArray
from nofluke.errors import InputError, arg, passed, say
from nofluke.laws.counts import CountLaw
from nofluke.laws.exact.hypergeometric import hypergeometric_pmf
from nofluke.laws.exact.moments import recall_moments
from nofluke.laws.law import Law, exactly
from nofluke.laws.montecarlo import Draw
from nofluke.laws.montecarlo.in_time import uniform
from nofluke.laws.tables import TableLaw
from nofluke.nulls.base import SIMULATED_FLOOR, Method, NullModel, floor_of
from nofluke.series.counting import newly_hit
from nofluke.series.timed import TimedCell, TimedTruth
from nofluke.series.tolerance import Ranges
from nofluke.series.trial import Cell
from nofluke.series.truth import Truth

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

    def crossed(self, other: Strata) -> Strata:
        """Strata of both: steps are in one where they are in the same of these and in the same of the others."""
        edges = np.sort(np.concatenate([self.edges, other.edges]), kind="stable")
        edges = edges[np.append(True, edges[1:] > edges[:-1])]  # np.unique counts by hashes, which takes much longer
        starts, many = edges[:-1], int(other.labels.max(initial=0)) + 1
        return Strata.of(starts, self.of_steps(starts) * many + other.of_steps(starts), int(edges[-1]))

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


def in_windows(side: TimedTruth, windows: int) -> Strata:
    """So many windows of nearly as many places each."""
    begins = np.array([-(-k * side.watch.n // windows) for k in range(windows)], dtype=np.int64) * side.slots
    return Strata.of(begins, np.arange(windows), side.n_steps)


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


# ---- nulls that permute events within strata: what they have in common, and the laws that follow from it

MOST_PLACEMENTS = 200_000  # up to here precision's null is enumerated
MOST_STEPS_LISTED = 10_000_000  # and up to so many steps, which have to be looked at one by one
ROWS = 10_000  # placements at a time


class Stratified(NullModel):
    """What nulls that permute events within strata have in common.

    Recall's hits are exact: a sum of independent hypergeometric numbers, one for each stratum. Precision's hits are
    exact where there are at most 200,000 placements, else simulated.
    """

    methods: ClassVar[tuple[Method, ...]] = ("auto", "exact", "montecarlo")

    takes_times: ClassVar[bool] = True

    @abstractmethod
    def strata_of(self, side: Truth) -> IntArray:
        """The stratum of each step that counts, numbered from 0."""

    @abstractmethod
    def strata_in_time(self, side: TimedTruth) -> Strata:
        """The same where events are at their own times."""

    def fits(self, side: Truth) -> None:
        """Refuse a series that has no such strata."""
        side.by_axis(steps=self.strata_of, ticks=self.strata_in_time)

    def _labels(self, side: Truth) -> IntArray:
        """The stratum of each step, where there are few enough of them to go through."""
        return side.by_axis(steps=self.strata_of, ticks=lambda side: self.strata_in_time(side).dense())

    def _counts(self, cell: Cell) -> list[tuple[int, int, int]]:
        """Of each stratum, the steps, those on which an event is found, and the events."""

        def on_steps(cell: Cell) -> tuple[IntArray, IntArray, IntArray]:
            strata = self.strata_of(cell.truth)
            sizes = np.bincount(strata)
            near, events = (np.bincount(strata[on], minlength=len(sizes)) for on in (cell.near_alarm, cell.truth.flags))
            return sizes, near, events

        def in_time(cell: TimedCell) -> tuple[IntArray, IntArray, IntArray]:
            strata = self.strata_in_time(cell.truth)
            return strata.sizes, strata.covered(cell.zone), strata.count(cell.truth.starts)

        counts = cell.by_axis(steps=on_steps, ticks=in_time)
        return list(zip(*(values.tolist() for values in counts), strict=True))

    def enumerable(self, cell: Cell, times: int = 1) -> bool:
        """Whether there are few enough placements to go through them all, so many times, for precision's null."""
        if cell.n_steps > MOST_STEPS_LISTED:
            return False
        return _placements(self._counts(cell)) * times <= MOST_PLACEMENTS

    def recall(self, cell: Cell) -> Law:
        """Recall's null, exactly: a sum of one hypergeometric number for each stratum."""
        return _recall(cell.n_events, self._counts(cell))

    def draw(self, side: Truth) -> Draw:
        """So many events in each stratum, on random steps of it."""
        return side.by_axis(steps=self._draw_steps, ticks=lambda side: self.strata_in_time(side).draw(side.starts))

    def _draw_steps(self, side: Truth) -> Draw:
        from nofluke.laws.montecarlo import kernels

        strata = self.strata_of(side)
        sizes = np.bincount(strata)
        wanted, begins = np.bincount(strata[side.flags], minlength=len(sizes)), np.cumsum(sizes) - sizes
        steps, busy = kernels.by_stratum(strata, begins), wanted > 0
        tables = (steps, begins[busy], sizes[busy], wanted[busy])

        def within(generator: np.random.Generator, size: int) -> npt.NDArray[Any]:
            rows = np.empty((size, int(wanted.sum())), dtype=np.uint32)
            seeds = generator.integers(2**64, size=np.count_nonzero(busy), dtype=np.uint64)
            kernels.draw_in_strata(seeds, *tables, rows)
            return rows

        return within

    def known_laws(self, cell: Cell, method: Method) -> dict[str, Law]:
        sides = self.exact_sides(cell)
        if method == "exact" and "recall" not in sides:
            raise InputError(
                argument="method",
                value="exact",
                problem=say(
                    "is not available for recall under {} where not all events count ({})",
                    passed("null", self.text),
                    passed("edges", "interior"),
                ),
                remedy=say("use {}, which simulates it", arg("method", "auto")),
            )
        if method == "exact" and "precision" not in sides:
            raise InputError(
                argument="method",
                value="exact",
                problem=f"is affordable for precision only up to {MOST_PLACEMENTS:,} placements",
                remedy=say("use {}, which simulates it", arg("method", "auto")),
            )
        return {side: self.law_of(cell, side) for side in sides}

    def exact_sides(self, cell: Cell, times: int = 1) -> tuple[str, ...]:
        # where not all events count, recall is a ratio of two sums over the strata: that is simulated
        recall = () if cell.counted is not None else ("recall",)
        return ("precision", *recall) if self.enumerable(cell, times) else recall

    def law_of(self, cell: Cell, side: str) -> Law:
        return self.recall(cell) if side == "recall" else self._enumerated(cell)

    def _enumerated(self, cell: Cell) -> Law:
        return _enumerated(cell, self._labels(cell.truth), int(_placements(self._counts(cell))))

    def smallest_pvalues(self, cell: Cell) -> dict[str, float | None]:
        exact = self.exact_sides(cell)
        return {
            side: floor_of(self.law_of(cell, side)) if side in exact else SIMULATED_FLOOR
            for side in ("precision", "recall")
        }


def window_of(n_steps: int, windows: int, null: str) -> IntArray:
    """The window of each step, of so many of nearly equal length."""
    refuse_windows(windows, n_steps, null)
    edges = -(-np.arange(windows + 1, dtype=np.int64) * n_steps // windows)
    return np.repeat(np.arange(windows), np.diff(edges))


def refuse_windows(windows: int, n_steps: int, null: str) -> None:
    """Refuse more windows than steps."""
    if windows > n_steps:
        raise InputError(
            argument="null",
            value=null,
            problem=f"cuts the sequence into {windows:,} windows, but it has only {n_steps:,} steps",
            remedy="pass fewer",
        )


def _recall(n_events: int, counts: list[tuple[int, int, int]]) -> Law:
    """Sum of one hypergeometric number for each stratum: their tables are convolved, all terms positive."""
    counts = [row for row in counts if row[2]]  # strata without an event add nothing, and there may be many
    moments = [recall_moments(*row) for row in counts]
    parts = [hypergeometric_pmf(*row) for row in counts]
    table = np.zeros(n_events + 1)
    summed = reduce(np.convolve, parts, np.ones(1))
    table[: len(summed)] = summed
    return TableLaw(
        table,
        mean=sum((m.mean for m in moments), 0.0),
        var=sum((m.var for m in moments), 0.0),
        method=exactly("hypergeometric in each phase"),
    )


def _placements(counts: list[tuple[int, int, int]]) -> float:
    """How many ways there are to place the events within their strata."""
    total = 1
    for size, _, events in counts:
        total *= math.comb(size, events)
        if total > MOST_PLACEMENTS:
            return math.inf
    return total


def _enumerated(cell: Cell, strata: IntArray, total: int) -> Law:
    """Precision's null from all placements.

    An event covers a range of predictions, from ``first`` to ``last``, and later events cover later ranges: a
    placement's hits are what each of its events adds to those before it.
    """
    first, last = cell.stretches.hit_from(np.arange(cell.n_steps))
    choices = [
        itertools.combinations(np.flatnonzero(strata == s).tolist(), int(cell.truth.flags[strata == s].sum()))
        for s in range(strata.max() + 1)
    ]
    placements = itertools.chain.from_iterable(map(itertools.chain.from_iterable, itertools.product(*choices)))
    size = cell.n_events
    counts = np.zeros(cell.n_predictions + 1, dtype=np.int64)
    for begin in range(0, total, ROWS):
        rows = min(ROWS, total - begin)
        events = np.fromiter(itertools.islice(placements, rows * size), dtype=np.int64, count=rows * size)
        events = np.sort(events.reshape(rows, size), axis=1)
        counts += np.bincount(newly_hit(first[events], last[events]), minlength=len(counts))
    hits = np.arange(len(counts))
    mean = float(hits @ counts) / total
    var = float((hits - mean) ** 2 @ counts) / total
    return CountLaw(counts, exactly("all placements"), mean=mean, var=var)
