"""Nulls that permute events within strata: what they have in common, and the laws that follow from it."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
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
from nofluke.laws.tables import TableLaw
from nofluke.nulls.base import SIMULATED_FLOOR, Method, NullModel, floor_of
from nofluke.nulls.strata import Strata
from nofluke.series.counting import newly_hit
from nofluke.series.timed import TimedCell, TimedTruth
from nofluke.series.trial import Cell
from nofluke.series.truth import Truth

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
        if isinstance(side, TimedTruth):
            self.strata_in_time(side)
        else:
            self.strata_of(side)

    def _labels(self, side: Truth) -> IntArray:
        """The stratum of each step, where there are few enough of them to go through."""
        return self.strata_in_time(side).dense() if isinstance(side, TimedTruth) else self.strata_of(side)

    def _counts(self, cell: Cell) -> list[tuple[int, int, int]]:
        """Of each stratum, the steps, those on which an event is found, and the events."""
        if isinstance(cell, TimedCell):
            timed = self.strata_in_time(cell.truth)
            counts = (timed.sizes, timed.covered(cell.zone), timed.count(cell.truth.starts))
        else:
            strata = self.strata_of(cell.truth)
            sizes = np.bincount(strata)
            counts = (
                sizes,
                np.bincount(strata[cell.near_alarm], minlength=len(sizes)),
                np.bincount(strata[cell.truth.flags], minlength=len(sizes)),
            )
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
        from nofluke.laws.montecarlo import kernels

        if isinstance(side, TimedTruth):
            return self.strata_in_time(side).draw(side.starts)
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
        recall = () if isinstance(cell, TimedCell) and cell.counted is not None else ("recall",)
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
    return CountLaw(counts, mean=mean, var=var, method=exactly("all placements"))
