"""Alarms near an event and events near an alarm, on many draws at once: the base of metrics with a tolerance."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import InitVar, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from nofluke.arrays import AnyArray, FloatArray, IntArray
from nofluke.errors import InputError, arg, say
from nofluke.metrics.alarm_runs import sums_before
from nofluke.metrics.base import Metric
from nofluke.metrics.draws import Draws
from nofluke.metrics.labelled import Labelled
from nofluke.plain import check_word
from nofluke.series.tolerance import UNITS, Length, Ranges, Reach, Tolerance, Unit, as_tolerance
from nofluke.series.trial import Trial


@dataclass(frozen=True, kw_only=True, eq=False)
class Near:
    """What is worked out once for a detector and a tolerance.

    Attributes
    ----------
    sums : int array
        Alarms before each step of the detector.
    cover : Ranges
        For each step of the series, seen as an event, the steps whose alarms find it.
    own : Ranges or None
        The same for each of the data's own ranges, which may have their own ends in time; None where each step is an
        event.
    near : int array
        Steps of the detector with an alarm near them, before each step; for those from ``inner`` up to ``outer``, whose
        windows no border cuts.
    """

    sums: IntArray = field(repr=False)
    cover: Ranges
    own: Ranges | None
    near: IntArray = field(repr=False)
    inner: int
    outer: int


class Hits(NamedTuple):
    """Of each draw: alarms near an event, events near an alarm, alarms, events."""

    hits: IntArray
    found: IntArray
    alarms: IntArray
    events: IntArray


@dataclass(frozen=True, kw_only=True)
class Tolerant(Metric):
    """A ratio of alarms near an event and of events near an alarm."""

    tolerance: Length | Tolerance = 0
    early: InitVar[Length | None] = None
    late: InitVar[Length | None] = None
    unit: InitVar[Unit | None] = None

    def __post_init__(self, early: Length | None, late: Length | None, unit: Unit | None) -> None:
        if unit is not None:
            check_word(unit, "unit", UNITS)
        if early is None and late is None:
            window = as_tolerance(self.tolerance, unit=unit)
        elif isinstance(self.tolerance, int) and self.tolerance == 0:
            window = Tolerance(early=0 if early is None else early, late=0 if late is None else late, unit=unit)
        else:
            raise InputError(
                argument="tolerance",
                value=self.tolerance,
                problem="sets both sides",
                remedy=say("leave it out with {} or {}", arg("early"), arg("late")),
            )
        plain = window.plain()  # a number of steps or a duration where that says it all
        alike = window.unit != "clock" and not isinstance(plain, dict)
        object.__setattr__(self, "tolerance", plain if alike else window)

    @property
    def window(self) -> Tolerance:
        """The tolerance with its two sides."""
        return as_tolerance(self.tolerance)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that it was made with, where they are not the defaults: sides apart where they differ."""
        settings = super().settings
        if isinstance(self.tolerance, Tolerance):
            plain = settings.pop("tolerance").plain()
            settings |= plain if isinstance(plain, dict) else {"tolerance": plain}
            settings |= {"unit": "clock"} if self.window.unit == "clock" else {}
        return settings

    def reach(self, series: Labelled) -> int:
        """As far as the windows of the labelled runs go beyond them."""
        trial = self._trial(series)
        first, last, windows = trial.truth.starts, trial.truth.stops, trial.event_windows[0]
        beyond = np.maximum(first - windows.starts, windows.stops - last)
        return int(beyond[windows.stops > windows.starts].max(initial=0))

    def work(self, series: Labelled) -> float:
        """A few look-ups per run, or per labelled step where a mask or a clock makes windows differ."""
        if series.count_events == "ranges":
            return 25.0 * len(series.truth.starts) + 50.0
        return 50.0 + (60.0 * len(series.truth.starts) if self._plain(series) else 5.0 * series.n_labelled)

    def _plain(self, series: Labelled) -> bool:
        return self.window.unit == "steps" and bool(series.sequence.open_steps.all())

    def _trial(self, series: Labelled) -> Trial:
        return Trial.of(series.sequence, (self.window,), None).with_truth(series.truth)

    def tables(self, detector: AnyArray, series: Labelled) -> Near:
        """Alarms before each step, and the windows of the events."""
        n, sums = len(detector), sums_before(detector)
        near, inner, outer = sums[:1], 0, 0
        ranges = series.count_events == "ranges"
        if not ranges and self._plain(series):
            sides: tuple[Any, Any] = (self.window.early, self.window.late)
            early, late = (min(max(side, -series.n_steps), series.n_steps) for side in sides)
            inner, outer = max(early, 0), series.n_steps - max(late, 0)
            steps, near = np.arange(n), np.zeros(n + 1, dtype=np.int64)
            np.cumsum(
                sums[np.clip(steps + (late + 1), 0, n)] > sums[np.clip(steps - early, 0, n)],
                out=near[1:],
            )
        trial = self._trial(series)
        reach: Reach = trial.reaches[0]
        own = _plainly(trial.event_windows[0]) if ranges else None
        return Near(sums=sums, cover=_plainly(reach.cover), own=own, near=near, inner=inner, outer=outer)

    def values(self, tables: Near, draws: Draws) -> FloatArray:
        from nofluke.metrics import tolerant_kernels

        sums, cover, counts = tables.sums, tables.cover, np.empty((len(draws), 3), dtype=np.int64)
        first, last, begins = draws.first, draws.last, draws.begins
        if tables.own is None:
            middle = (tables.near, cover.starts, cover.stops, tables.inner, tables.outer, draws.starts, draws.stops)
            tolerant_kernels.near_steps(sums, *middle, first, last, begins, counts)
        else:
            opens, closes = tables.own.starts, tables.own.stops
            if draws.still:
                first, last = np.zeros_like(first), np.full_like(last, len(opens))
            else:
                opens, closes = cover.starts[draws.starts], cover.stops[draws.stops - 1]
            tolerant_kernels.near_ranges(sums, opens, closes, first, last, begins, counts)
        hits, found, events = counts.T
        return self.of_hits(Hits(hits, found, sums[begins + draws.n_steps] - sums[begins], events))

    def of_hits(self, of: Hits) -> FloatArray:
        """The metric of these counts; NaN without events."""
        with np.errstate(invalid="ignore"):  # shares of nothing are NaN
            return np.where(of.events > 0, self._ratio(of), np.nan)

    @abstractmethod
    def _ratio(self, of: Hits) -> FloatArray:
        """The metric, where there are events."""


def _plainly(ranges: Ranges) -> Ranges:
    """What compiled loops are compiled for: one type, one layout."""
    starts, stops = (np.ascontiguousarray(ends, dtype=np.int64) for ends in (ranges.starts, ranges.stops))
    return Ranges(starts=starts, stops=stops)
