"""Alarms: whether each predicted step counts, or each episode of them, and which alarms are one.

An episode is a run of predicted steps that follow one another among the steps that count. A refractory time makes one
of alarms that are closer to each other than that: the steps between them are filled. Filling the holes of a set is a
morphological closing, and closing the scores does it for every threshold at once, since both commute.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, IntArray
from nofluke.errors import InputError, arg, passed, say
from nofluke.plain import check_word, number_or_none
from nofluke.series.clock import Clock
from nofluke.series.counting import window_maxima
from nofluke.series.tolerance import Ranges, Tolerance, as_tolerance

CountAlarms = Literal["steps", "episodes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmRule:
    """How alarms are counted, and the refractory time that merges them: a Tolerance, of which one side is used."""

    count: CountAlarms = "steps"
    refractory: Tolerance | None = None

    @classmethod
    def of(cls, count_alarms: object = None, refractory: Any = None) -> AlarmRule:
        """The rule that two arguments ask for; a refractory time alone asks for episodes."""
        if count_alarms is not None:
            check_word(count_alarms, "count_alarms", ("steps", "episodes"))
        if refractory is None:
            return cls(count="steps" if count_alarms is None else count_alarms)  # type: ignore[arg-type]  # checked
        if count_alarms == "steps":
            raise InputError(
                problem=say(
                    "{} merges several alarms into one, but {} counts each step",
                    arg("refractory"),
                    passed("count_alarms", "steps"),
                ),
                remedy=say("leave one of them out, or pass {}", arg("count_alarms", "episodes")),
            )
        if isinstance(refractory, Tolerance):
            raise InputError(
                argument="refractory",
                value=refractory,
                problem="has two sides",
                remedy="pass one length, such as 3 or '2h'",
            )
        steps = number_or_none(refractory)
        if steps is not None and not (1 <= steps < math.inf and steps.is_integer()):
            raise InputError(
                argument="refractory",
                value=refractory,
                problem="must be a whole number of steps, 1 or more, or a duration such as '10min'",
            )
        return cls(count="episodes", refractory=as_tolerance(refractory, "refractory"))

    def closed(self, detector: AnyArray, open_steps: BoolArray, clock: Clock | None) -> AnyArray:
        """Scores or alarms of the steps that count with their holes filled; ``clock`` is of these steps."""
        length = None if self.refractory is None else int(self.refractory.late)  # type: ignore[arg-type]
        if self.refractory is None or not length:
            return detector
        if self.refractory.unit == "steps":
            # masked steps take up time
            clock, length = Clock(ticks=np.flatnonzero(open_steps), unit=None), min(length, len(open_steps))
        elif clock is None or not clock.is_dates:
            raise InputError(
                argument="refractory",
                value=self.refractory,
                problem="is a length of time, but the data has no clock of dates",
                remedy=say("pass {}, or a number of steps", arg("times")),
            )
        return closing(detector, clock, length)


STEPS = AlarmRule()


def closing(values: AnyArray, clock: Clock, length: int) -> AnyArray:
    """At each step t the largest min(z_a, z_b) of steps a ≤ t ≤ b less than ``length`` apart: O(T log T) on any clock.

    A hole stays at t where some stretch of steps around it, from i to j, is low, and its neighbours i - 1 and j + 1 are
    at least ``length`` apart (or one of them lies outside). So the closing is the smallest of the maxima of all such
    stretches. It is enough to look at those that are as short as they can be on one side: from each i to the first j,
    and from the last i to each j.

    >>> closing(np.array([3.0, 0, 2, 0, 0, 5]), Clock(ticks=np.arange(6), unit=None), 3)
    array([3., 2., 2., 0., 0., 5.])
    """
    n = len(values)
    steps = np.arange(n, dtype=np.int64)
    heights: AnyArray = values.astype(np.int8) if values.dtype.kind == "b" else values
    # closer than `length` is up to length - 1 whole ticks (or nanoseconds) away
    too_late, too_early = clock.windows(0, length - 1)[1], clock.windows(length - 1, 0)[0]
    first_j = np.maximum(np.append(0, too_late[:-1] - 1), steps)
    last_i = np.minimum(np.append(too_early[1:], n - 1), steps)
    from_each = window_maxima(heights, Ranges(starts=steps, stops=first_j + 1))
    to_each = window_maxima(heights, Ranges(starts=last_i, stops=steps + 1))
    # stretches that hold t: both ends ascend, so that they follow one another
    holding = Ranges(starts=np.searchsorted(first_j, steps), stops=steps + 1)
    ending = Ranges(starts=steps, stops=np.searchsorted(last_i, steps, side="right"))
    lowest = np.minimum(-window_maxima(-from_each, holding), -window_maxima(-to_each, ending))
    return np.asarray(lowest, dtype=values.dtype)


def runs(alarms: IntArray) -> Ranges:
    """The runs of ascending steps that follow one another.

    >>> found = runs(np.array([1, 2, 5, 7, 8]))
    >>> found.starts, found.stops
    (array([1, 5, 7]), array([3, 6, 9]))
    """
    if len(alarms) == 0:
        return Ranges(starts=alarms, stops=alarms)
    apart = np.diff(alarms) > 1
    return Ranges(starts=alarms[np.append(True, apart)], stops=alarms[np.append(apart, True)] + 1)
