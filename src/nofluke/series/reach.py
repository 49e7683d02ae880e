"""How far one tolerance reaches on one series: which predictions find which events, told in the steps that count."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, IntArray
from nofluke.errors import InputError
from nofluke.lazy import lazy
from nofluke.series.clock import Clock
from nofluke.series.tolerance import Ranges, Tolerance


@dataclass(frozen=True, kw_only=True, eq=False)
class Reach:
    """A tolerance on a series with a mask and a clock, as ranges of the steps that count.

    One relation, seen from both sides: a prediction at p counts for an event at q if q - early <= p <= q + late. Ranges
    may be empty: a tolerance whose sides are negative reaches past the event, and then past the border.

    Attributes
    ----------
    tolerance : Tolerance
    open_steps : bool array
        Which of all steps count.
    clock : Clock or None
        Of all steps.
    """

    tolerance: Tolerance
    open_steps: BoolArray = field(repr=False)
    clock: Clock | None = field(repr=False, default=None)

    def __post_init__(self) -> None:
        self.tolerance.check(self.clock)

    @lazy
    def n_steps(self) -> int:
        """T, the steps that count."""
        return int(np.count_nonzero(self.open_steps))

    @lazy
    def _plain(self) -> bool:
        """Whether windows are sums of step numbers: no mask, no clock."""
        return self.tolerance.unit == "steps" and self.n_steps == len(self.open_steps)

    def around_events(self, first: IntArray, last: IntArray) -> Ranges:
        """The predictions that find each event from ``first`` to ``last``: from first - early to last + late."""
        if self._plain:
            return self._sums(first, last, self.tolerance.early, self.tolerance.late)
        return Ranges(starts=self.cover.starts[first], stops=self.cover.stops[last])

    def around_times(self, begins: AnyArray, ends: AnyArray, opens: BoolArray | None = None) -> Ranges:
        """The predictions that find each event, from its own begin - early to its own end + late, on a clock."""
        if self.clock is None or self.tolerance.unit == "steps":
            raise InputError(argument="tolerance", problem=f"of {self.tolerance} is not a length of time on a clock")
        sides: tuple[Any, Any] = (self.tolerance.early, self.tolerance.late)
        starts, stops = self.clock.windows_around(begins, ends, *sides, opens)
        if self.n_steps < len(self.open_steps):
            rank = np.concatenate([[0], np.cumsum(self.open_steps)])
            starts, stops = rank[starts], rank[stops]
        return Ranges(starts=starts, stops=stops)

    def around_alarms(self, at: IntArray) -> Ranges:
        """The steps on which an event makes a hit of each prediction: from p - late to p + early."""
        if self._plain:
            return self._sums(at, at, self.tolerance.late, self.tolerance.early)
        return Ranges(starts=self._hit_by.starts[at], stops=self._hit_by.stops[at])

    def _sums(self, first: IntArray, last: IntArray, before: object, after: object) -> Ranges:
        n = self.n_steps
        back, ahead = (min(max(int(side), -n), n) for side in (before, after))  # type: ignore[call-overload]
        # past one border only, unless a side is negative: then what lies past the other one is cut off too
        starts, stops = first - back, last + (ahead + 1)
        np.maximum(starts, 0, out=starts)
        np.minimum(stops, n, out=stops)
        if back < 0 or ahead < 0:
            starts = np.minimum(starts, n)
            stops = np.maximum(stops, starts)  # nothing, not less than nothing
        return Ranges(starts=starts, stops=stops)

    @lazy
    def cover(self) -> Ranges:
        """For every step, seen as an event, the predictions that find it."""
        if self._plain:
            every = np.arange(self.n_steps, dtype=np.int64)
            return self._sums(every, every, self.tolerance.early, self.tolerance.late)
        return self._among_open(self.tolerance.prediction_ranges(len(self.open_steps), self.clock))

    @lazy
    def _hit_by(self) -> Ranges:
        """For every step, seen as a prediction, the steps whose events make it a hit."""
        return self._among_open(self.tolerance.event_ranges(len(self.open_steps), self.clock))

    def _among_open(self, ranges: Ranges) -> Ranges:
        if self.n_steps == len(self.open_steps):
            return ranges
        rank = np.concatenate([[0], np.cumsum(self.open_steps)])
        return Ranges(starts=rank[ranges.starts[self.open_steps]], stops=rank[ranges.stops[self.open_steps]])
