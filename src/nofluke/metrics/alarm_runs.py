"""The runs of alarms of a detector, found once, so that a draw looks up which of them lie in a labelled run."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from nofluke.arrays import AnyArray, IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class AlarmRuns:
    """Runs of alarms of a detector that may be laid out longer than the series.

    Attributes
    ----------
    opens, closes : int arrays
        First step of each run, and the step behind its last one.
    at : int array, one entry more than the detector has steps
        Twice the number of runs that close at or before a step, plus 1 where a run has opened before it and goes on.
    steps, places : int arrays, one entry more than there are runs
        Number and sum of the steps with an alarm in the runs before each.
    """

    opens: IntArray = field(repr=False)
    closes: IntArray = field(repr=False)
    at: IntArray = field(repr=False)
    steps: IntArray = field(repr=False)
    places: IntArray = field(repr=False)

    @classmethod
    def of(cls, detector: AnyArray) -> AlarmRuns:
        """Those of alarms as true and false."""
        alarms = np.zeros(len(detector) + 2, dtype=np.int8)
        alarms[1:-1] = detector
        edges = np.diff(alarms)
        closing = edges < 0
        opens, closes = np.flatnonzero(edges > 0), np.flatnonzero(closing)
        at = np.cumsum(closing, dtype=np.int64)
        at *= 2
        at += alarms[:-1] & alarms[1:]
        lengths = closes - opens
        return cls(
            opens=opens,
            closes=closes,
            at=at,
            steps=sums_before(lengths),
            places=sums_before((opens + closes - 1) * lengths // 2),
        )


def sums_before(values: AnyArray) -> IntArray:
    """Sums of the values before each, and of all of them."""
    sums = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(values, out=sums[1:])
    return sums
