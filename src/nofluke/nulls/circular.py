"""The null that keeps everything but the alignment: the events as a whole are shifted around the circle."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nofluke.arrays import IntArray
from nofluke.errors import InputError
from nofluke.laws.counts import CountLaw
from nofluke.laws.law import How, Law, exactly
from nofluke.laws.montecarlo import Draw
from nofluke.nulls.base import MOST_STEPS, Joint, Method, NullModel, Trait
from nofluke.nulls.shifts import around
from nofluke.plain import as_number, as_whole, whole_or_none
from nofluke.series.trial import Cell
from nofluke.series.truth import Truth


class ShiftNull(NullModel):
    """What nulls that count out a list of shifts have in common: both hits of each, the data's own first."""

    methods: ClassVar[tuple[Method, ...]] = ("auto", "exact")
    takes_ranges: ClassVar[bool] = True

    @abstractmethod
    def hits_by_shift(self, cell: Cell) -> tuple[IntArray, IntArray]:
        """Recall's and precision's hits for every shift that counts, the identity first."""

    @abstractmethod
    def method(self, n_shifts: int) -> How:
        """How it is counted."""

    def known_laws(self, cell: Cell, method: Method) -> dict[str, Law]:
        del method  # all of them, whichever it is
        recall, precision, how = self.every_placement(cell)
        return {
            "precision": _counted(precision, cell.n_predictions, how),
            "recall": _counted(recall, cell.n_events, how),
        }

    def exact_sides(self, cell: Cell, times: int = 1) -> tuple[str, ...]:
        del cell, times
        return ("precision", "recall")

    def every_placement(self, cell: Cell) -> tuple[IntArray, IntArray, How]:
        recall, precision = self.hits_by_shift(cell)
        return recall, precision, self.method(len(recall))

    def joint(self, cell: Cell, *, n_resamples: int = 10_000, rng: Any = None) -> Joint:
        """Both hits of every shift."""
        del n_resamples, rng  # nothing is random
        recall, precision, how = self.every_placement(cell)
        weights = np.full(len(recall), 1 / len(recall))
        return Joint(recall_hits=recall, precision_hits=precision, weights=weights, method=how)


def as_stride(value: object) -> int | float:
    """Steps between two shifts, whole or not: a season need not be a whole number of steps."""
    whole = whole_or_none(value)
    if whole is not None:
        return as_whole(value, "every", 1, MOST_STEPS)
    return as_number(value, "every", f"be a number of steps from 1 to {MOST_STEPS:,}", lambda x: 1 <= x <= MOST_STEPS)


@dataclass(frozen=True, kw_only=True)
class CircularShift(ShiftNull):
    """All events are shifted together around the circle of steps; the predictions are fixed.

    Keeps the clustering of the events and the autocorrelation of the predictions, and destroys only their alignment. Use
    it where either of them clusters, and for ranges. It keeps neither a season nor a trend: a shift by half a year moves
    winter events into summer, and one by half the series moves the end of a trend to its start.

    All T rotations are counted, by Fourier transforms and exact integers, so nothing is random; the observed labels are
    one of them, so that p ≥ 1/T. Steps are the steps that count: with a mask, labels move over masked steps as if they
    were not there. Windows do not wrap around: a rotated sequence is evaluated like any other, with nothing outside of it.

    Events that are ranges stay where they are, so that none is ever cut in two, and the predictions rotate the other way; an
    episode of alarms that is cut at the seam counts once.

    Parameters
    ----------
    guard : int, default 0
        Leaves out shifts by fewer steps than this (but not the identity), which are too much like the observed labels.
        The p-value is then (1 + number of the other shifts that do as well)/(1 + number of them): no longer a test by a
        group of rotations, and exact only as far as small shifts are the reason for leaving them out.
    every : int or float, default 1
        Takes only shifts by multiples of this many steps (rounded). With the period of a season (in steps that count) they
        keep the season as well as the clusters, and p ≥ every/T. The circle is then as many whole periods as there are;
        what lies behind the last whole period stays where it is.

    References
    ----------
    Michael (1997), Testing prediction methods: earthquake clustering versus the Poisson model.
    """

    guard: int = 0
    every: int | float = 1

    name: ClassVar[str] = "circular-shift"
    methods: ClassVar[tuple[Method, ...]] = ("auto", "exact", "montecarlo")

    def __post_init__(self) -> None:
        object.__setattr__(self, "guard", as_whole(self.guard, "guard", 0, MOST_STEPS))
        object.__setattr__(self, "every", as_stride(self.every))

    @property
    def assumption(self) -> str:
        if self.every > 1:
            return (
                f"Chance shifts all events together by multiples of {self.every:,} steps around the circle, so that "
                "clusters and a season of that period stay; the predictions stay as they are."
            )
        guard = f" Shifts by fewer than {self.guard:,} steps are left out." if self.guard > 1 else ""
        return (
            "Chance shifts all events together around the circle of steps, so that clusters and ranges stay; the predictions "
            f"stay as they are. It allows neither for a season nor for a trend that both share.{guard}"
        )

    @property
    def keeps(self) -> frozenset[Trait]:
        """Runs and clusters; a season only where shifts are by whole periods."""
        return frozenset({"runs", "clusters", "season"} if self.every > 1 else {"runs", "clusters"})

    def draw(self, side: Truth) -> Draw:
        """Random rotations of the events, the guard band left out."""
        if not side.points:
            raise InputError(
                f"null={self.text!r} counts all rotations of ranges and draws none: use method='auto' or 'exact'."
            )
        circle, shifts = self._shifts(side.n_steps)
        events = side.starts

        def rotated(generator: np.random.Generator, size: int) -> npt.NDArray[Any]:
            moved = (events + generator.choice(shifts, size=(size, 1))) % circle
            return np.where(events < circle, moved, events)

        return rotated

    def _shifts(self, n_steps: int) -> tuple[int, IntArray]:
        """The circle, and the rotations of it that count, the identity first."""
        periods = max(int(n_steps / self.every), 1)
        circle = min(round(periods * self.every), n_steps) if periods > 1 else n_steps
        shifts = np.rint(np.arange(1, periods) * self.every).astype(np.int64)
        allowed = shifts[(shifts >= self.guard) & (shifts <= circle - self.guard)]
        return circle, np.concatenate([[0], allowed]).astype(np.int64)

    def method(self, n_shifts: int) -> How:
        """How it is counted: over all rotations, or over so many of them; rounded ones are a group within a step only."""
        if self.every != int(self.every):
            return How(kind="approximate", name=f"{n_shifts:,} rotations")
        return exactly("all rotations" if self.guard <= 1 and self.every == 1 else f"{n_shifts:,} rotations")

    def hits_by_shift(self, cell: Cell) -> tuple[IntArray, IntArray]:
        """Recall's and precision's hits for every rotation that counts, the identity first."""
        circle, shifts = self._shifts(cell.n_steps)
        recall, precision = around(cell, circle)
        return recall[shifts], precision[shifts]


def _counted(hits: IntArray, size: int, method: How) -> Law:
    counts = np.bincount(hits, minlength=size + 1)
    return CountLaw(counts, mean=float(hits.mean()), var=float(hits.var()), method=method)
