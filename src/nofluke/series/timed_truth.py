"""Events at their own times, on the places of a watch, and tolerances in ticks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, IntArray
from nofluke.errors import InputError, arg, say
from nofluke.lazy import lazy
from nofluke.series.ticks import MOST_TICKS, Ticks
from nofluke.series.tolerance import Tolerance
from nofluke.series.truth import Truth
from nofluke.series.watch import Watch

ROOM = 1_000  # times as many places for events as there are events, where several may share a time
MOST_FLAGS = 2**27


@dataclass(frozen=True, kw_only=True, eq=False)
class TimedTruth(Truth):
    """Events at their own times, on the places of a watch.

    Attributes
    ----------
    watch : Watch
    slots : int
        Events that a place can hold: 1, or, where several events at the same time count, so many that each of them
        falls nearly independently of the others. Each place is then so many steps, and events at one time are on
        different ones.

    Examples
    --------
    >>> from fractions import Fraction
    >>> watch = Watch(ticks=Ticks(origin=0, size=Fraction(1)), starts=np.array([0]), stops=np.array([10]))
    >>> truth = TimedTruth.of(np.array([2, 7, 7]), watch)
    >>> truth.slots, truth.n_steps, truth.starts, truth.places
    (300, 3000, array([ 600, 2100, 2250]), array([2, 7, 7]))
    """

    watch: Watch = field(repr=False)
    slots: int = 1

    @classmethod
    def of(cls, at: IntArray, watch: Watch) -> TimedTruth:
        """Events at ascending ticks, each of which is a place; some may come more than once."""
        places = watch.places_before(at)
        first = np.searchsorted(places, places, side="left")
        nth = np.arange(len(places)) - first
        most = int(nth.max(initial=0)) + 1
        # room for many more than there are: one event then hardly keeps another from its place
        slots = max(most, -(-ROOM * len(places) // max(watch.n, 1))) if most > 1 else 1
        if watch.n * slots > 2 * MOST_TICKS:
            raise InputError(
                argument="duplicates",
                value="count",
                problem=f"needs room for {slots:,} events at one time on each of {watch.n:,} ticks, which is more than 64 "
                "bits hold",
                remedy=say("pass {}, or a coarser {}", arg("duplicates", "merge"), arg("tick")),
            )
        many = np.searchsorted(places, places, side="right") - first
        starts = places * slots + nth * slots // np.maximum(many, 1)
        return cls(
            starts=starts,
            stops=starts + 1,
            n_steps=watch.n * slots,
            open_steps=np.zeros(0, dtype=np.bool_),
            watch=watch,
            slots=slots,
        )

    @property
    def places(self) -> IntArray:
        """The place of each event, ascending."""
        return self.starts // self.slots

    @property
    def n_places(self) -> int:
        """How many places there are."""
        return self.watch.n

    def steps_of(self, places: AnyArray) -> AnyArray:
        """A step of each place."""
        return places * self.slots

    @lazy
    def at(self) -> IntArray:
        """The tick of each event."""
        return self.watch.at(self.places)

    def ticks_of(self, steps: IntArray) -> IntArray:
        """The ticks of steps, as a null draws them."""
        return self.watch.at(np.asarray(steps, dtype=np.int64) // self.slots)

    @lazy
    def flags(self) -> BoolArray:
        """One flag for each step, where there are not too many."""
        if self.n_steps > MOST_FLAGS:
            raise InputError(
                problem=f"{self.n_steps:,} ticks are too many for one flag each", remedy="pass a coarser tick"
            )
        flags = np.zeros(self.n_steps, dtype=np.bool_)
        flags[self.starts] = True
        return flags


@dataclass(frozen=True, kw_only=True, eq=False)
class TimedReach:
    """One tolerance in ticks: an alarm at p counts for an event at q if q - early <= p <= q + late."""

    early: int
    late: int

    @classmethod
    def of(cls, tolerance: Tolerance, ticks: Ticks) -> TimedReach:
        """Rounded down to whole ticks, which loses nothing since times are whole ticks; capped beyond any span."""
        sides: tuple[Any, Any] = (tolerance.early, tolerance.late)
        early, late = (max(min(ticks.floor(side), 2 * MOST_TICKS), -2 * MOST_TICKS) for side in sides)
        return cls(early=early, late=late)
