"""The time that was watched: a span less its gaps, in whole ticks, and the places in it on which an event can fall."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np

from nofluke.arrays import BoolArray, IntArray
from nofluke.lazy import lazy
from nofluke.series.counting import in_ranges
from nofluke.series.ticks import Ticks
from nofluke.series.tolerance import Ranges


@dataclass(frozen=True, kw_only=True, eq=False)
class Watch:
    """Stretches of watched time, and the places of events in them, numbered from 0.

    Places are the ticks, or every so many of them where events have a coarser resolution than alarms. Time in between
    passes, but was not watched: it has no places.

    Attributes
    ----------
    ticks : Ticks
    starts, stops : int arrays
        Half-open stretches of ticks, ascending, apart and not empty.
    stride : int
        Ticks between two places, of which one is tick 0.
    begin : int, optional
        Tick from which windows and phases are counted; by default the first that was watched.

    Examples
    --------
    >>> from fractions import Fraction
    >>> watch = Watch(ticks=Ticks(origin=0, size=Fraction(1)), starts=np.array([0, 20]), stops=np.array([10, 30]))
    >>> watch.n, watch.places_before(np.array([5, 12, 25])), watch.at(np.array([9, 10]))
    (20, array([ 5, 10, 15]), array([ 9, 20]))
    """

    ticks: Ticks
    starts: IntArray = field(repr=False)
    stops: IntArray = field(repr=False)
    stride: int = 1
    begin: int | None = None

    def __getstate__(self) -> dict[str, object]:
        """Without what can be worked out again."""
        return {known.name: getattr(self, known.name) for known in fields(self)}

    @property
    def first(self) -> int:
        """The tick from which windows and phases are counted."""
        return int(self.starts[0]) if self.begin is None else self.begin

    @lazy
    def _first(self) -> IntArray:
        """Of each stretch, its first place, counted in strides from tick 0."""
        return -(-self.starts // self.stride)

    @lazy
    def _before(self) -> IntArray:
        """Places before each stretch, and all of them."""
        behind = -(-self.stops // self.stride)
        return np.concatenate([[0], np.cumsum(behind - self._first)]).astype(np.int64)

    @property
    def n(self) -> int:
        """How many places there are."""
        return int(self._before[-1])

    @property
    def watched(self) -> int:
        """Ticks that were watched."""
        return int((self.stops - self.starts).sum())

    def places_before(self, ticks: IntArray) -> IntArray:
        """How many places lie before each tick."""
        at = -(-ticks // self.stride)
        stretch = np.maximum(np.searchsorted(self._first, at, side="right") - 1, 0)
        own = np.diff(self._before)[stretch]
        return np.asarray(self._before[stretch] + np.clip(at - self._first[stretch], 0, own), dtype=np.int64)

    def places(self, first: IntArray, last: IntArray) -> Ranges:
        """The places within each closed window of ticks; those that hold none are empty."""
        starts = self.places_before(first)
        return Ranges(starts=starts, stops=np.maximum(self.places_before(last + 1), starts))

    def at(self, places: IntArray) -> IntArray:
        """The ticks of places."""
        stretch = np.searchsorted(self._before, places, side="right") - 1
        return np.asarray((self._first[stretch] + places - self._before[stretch]) * self.stride, dtype=np.int64)

    def holds(self, ticks: IntArray) -> BoolArray:
        """Whether each tick was watched."""
        return in_ranges(ticks, Ranges(starts=self.starts, stops=self.stops))

    def holds_all(self, first: IntArray, last: IntArray) -> BoolArray:
        """Whether each closed window of ticks was watched from its first tick to its last."""
        stretch = np.searchsorted(self.starts, first, side="right") - 1
        return np.asarray((stretch >= 0) & (last < self.stops[np.maximum(stretch, 0)]))


def less_gaps(first: int, last: int, gaps: Ranges) -> Ranges:
    """The closed span of ticks from first to last without gaps, which are half-open, ascending and may overlap.

    >>> left = less_gaps(0, 9, Ranges(starts=np.array([-5, 3, 4]), stops=np.array([1, 5, 7])))
    >>> left.starts, left.stops
    (array([1, 7]), array([ 3, 10]))
    """
    closed = np.maximum.accumulate(np.concatenate([[first], gaps.stops]))
    starts, stops = closed, np.concatenate([gaps.starts, [last + 1]])
    stops = np.minimum(stops, last + 1)
    kept = stops > starts
    return Ranges(starts=starts[kept].astype(np.int64), stops=stops[kept].astype(np.int64))
