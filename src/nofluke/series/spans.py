"""Events that are ranges, over all steps: where they start and stop, and on a clock also when."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, ByValue, IntArray
from nofluke.series.alarms import runs
from nofluke.series.clock import Clock
from nofluke.series.counting import flags_of
from nofluke.series.own_times import in_gaps
from nofluke.series.tolerance import Ranges


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spans(ByValue):
    """Ranges that ascend and do not overlap, though they may touch.

    Attributes
    ----------
    starts, stops : int arrays
        Each covers the steps from ``starts`` up to, not including, ``stops``; none, where it lies between two steps.
    begins, ends : arrays of ticks, or None
        Its own ends on the clock; None where there is no clock.
    opens : bool array of two rows, or None
        Which of the begins and of the ends do not belong to their range; None where all do.
    """

    starts: IntArray = field(repr=False)
    stops: IntArray = field(repr=False)
    begins: AnyArray | None = field(repr=False, default=None)
    ends: AnyArray | None = field(repr=False, default=None)
    opens: BoolArray | None = field(repr=False, default=None)

    @classmethod
    def of_runs(cls, flags: BoolArray, clock: Clock | None) -> Spans:
        """Each run of flagged steps as one range.

        >>> found = Spans.of_runs(np.array([0, 1, 1, 0, 1], dtype=bool), None)
        >>> found.starts, found.stops
        (array([1, 4]), array([3, 5]))
        """
        found = runs(np.flatnonzero(flags))
        return cls.of_steps(found.starts, found.stops, clock)

    @classmethod
    def of_steps(cls, starts: IntArray, stops: IntArray, clock: Clock | None) -> Spans:
        """Ranges of steps, at least one each, whose ends are the times of their first and last step."""
        if clock is None:
            return cls(starts=starts, stops=stops)
        return cls(starts=starts, stops=stops, begins=clock.ticks[starts], ends=clock.ticks[stops - 1])

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def between(self) -> BoolArray:
        """Which of them lie between two steps."""
        return np.asarray(self.starts == self.stops)

    def in_gaps(self, clock: Clock | None) -> BoolArray:
        """Which of them begin and end in a gap of the clock: none of their time is that of a step."""
        found = self.between
        if clock is not None and self.begins is not None and found.any():
            found[found] = in_gaps(clock, self.begins[found], self.starts[found] - 1)
        return found

    def only(self, kept: BoolArray) -> Spans:
        """Some of them."""
        begins, ends, opens = (None if own is None else own[..., kept] for own in (self.begins, self.ends, self.opens))
        return Spans(starts=self.starts[kept], stops=self.stops[kept], begins=begins, ends=ends, opens=opens)

    def flags(self, n_steps: int) -> BoolArray:
        """Which of so many steps belong to a range."""
        return flags_of(Ranges(starts=self.starts, stops=self.stops), n_steps)

    def among(self, open_steps: BoolArray, clock: Clock | None) -> Spans:
        """Those that have an open step, each from its first to its last one.

        One between two steps belongs to the step before it, as all times do.
        """
        if open_steps.all():
            return self
        at = np.flatnonzero(open_steps)
        rank = np.concatenate([[0], np.cumsum(open_steps)])
        kept = np.where(self.between, open_steps[np.maximum(self.starts - 1, 0)], rank[self.stops] > rank[self.starts])
        starts, stops = self.starts[kept], self.stops[kept]
        some = stops > starts
        first, last = starts.copy(), stops.copy()
        first[some], last[some] = at[rank[starts[some]]], at[rank[stops[some]] - 1] + 1

        def moved(own: AnyArray | None, changed: Any, to: IntArray) -> AnyArray | None:
            return None if own is None or clock is None else np.where(changed, clock.ticks[to], own[kept])

        return Spans(
            starts=first,
            stops=last,
            begins=moved(self.begins, first > starts, np.minimum(first, len(open_steps) - 1)),
            ends=moved(self.ends, last < stops, np.maximum(last - 1, 0)),
            # an end that was cut off at a masked step leaves one that belongs to the range
            opens=None if self.opens is None else self.opens[:, kept] & np.stack([first == starts, last == stops]),
        )
