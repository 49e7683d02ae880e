"""Precision, recall and F with a tolerance in time: the paper's, as :func:`nofluke.evaluate` has them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import InitVar, dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from nofluke.arrays import AnyArray, FloatArray, IntArray
from nofluke.errors import InputError, arg, say
from nofluke.metrics.alarm_runs import sums_before
from nofluke.metrics.base import Metric, kernel
from nofluke.metrics.draws import Draws, Plain
from nofluke.metrics.labelled import Labelled
from nofluke.plain import check_beta, check_word
from nofluke.ratios import f_of_shares
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
            steps = np.arange(n)
            near = sums_before(sums[np.clip(steps + (late + 1), 0, n)] > sums[np.clip(steps - early, 0, n)])
        trial = self._trial(series)
        reach: Reach = trial.reaches[0]
        own = _plainly(trial.event_windows[0]) if ranges else None
        return Near(sums=sums, cover=_plainly(reach.cover), own=own, near=near, inner=inner, outer=outer)

    def values(self, tables: Near, draws: Draws) -> FloatArray:
        sums, cover, counts = tables.sums, tables.cover, np.empty((len(draws), 3), dtype=np.int64)
        first, last, begins = draws.first, draws.last, draws.begins
        if tables.own is None:
            looked_up = tables.near, cover.starts, cover.stops, tables.inner, tables.outer
            near_steps(sums, *looked_up, draws.plain, counts)
        else:
            opens, closes = tables.own.starts, tables.own.stops
            if draws.still:
                first, last = np.zeros_like(first), np.full_like(last, len(opens))
            else:
                opens, closes = cover.starts[draws.starts], cover.stops[draws.stops - 1]
            near_ranges(sums, opens, closes, first, last, begins, counts)
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


@dataclass(frozen=True, kw_only=True)
class Precision(Tolerant):
    r"""Precision with a tolerance in time: the share of the alarms that are near an event.

    .. math::
        P_\delta = \frac{\#\{\text{alarms } p: q - \text{early} \le p \le q + \text{late for some event }
        q\}}{\#\{\text{alarms}\}}

    as in :func:`nofluke.evaluate`. NaN where no step is labelled, and where there is no alarm. Many labels and a wide
    tolerance flatter it: most steps are then near an event.

    Parameters
    ----------
    tolerance : int, str, timedelta or Tolerance
        Steps, or a duration such as "2h" where the data has a clock of dates.
    early, late : int, str or timedelta, optional
        Its two sides, instead of ``tolerance``.
    unit : {"steps", "ns", "clock"}, optional
        "clock" reads plain numbers in the unit of a clock of plain numbers.

    See Also
    --------
    nofluke.metrics.Recall : the other side.
    nofluke.metrics.F1 : both in one number.
    nofluke.evaluate : both in one verdict, with intervals.

    Notes
    -----
    Called as a function, and in draws, events that are times between two steps belong to the step before, where
    `evaluate` and `significance` let them keep their own times; ranges between two steps have no step to count, and are
    left out.
    Without labels `evaluate` gives 0: without events there are no hits.

    References
    ----------
    Scharwächter and Müller (2020), Statistical Evaluation of Anomaly Detectors for Sequences, equation 2.

    Examples
    --------
    >>> Precision(tolerance=1)([0, 1, 0, 0, 0, 1], [1, 0, 0, 1, 0, 0])
    0.5
    """

    name: ClassVar[str] = "precision"
    title: ClassVar[str] = "precision with a tolerance in time (Scharwächter and Müller 2020)"

    def _ratio(self, of: Hits) -> FloatArray:
        return np.asarray(of.hits / of.alarms)


@dataclass(frozen=True, kw_only=True)
class Recall(Tolerant):
    r"""Recall with a tolerance in time: the share of the events that are near an alarm.

    .. math::
        R_\delta = \frac{\#\{\text{events } q: q - \text{early} \le p \le q + \text{late for some alarm }
        p\}}{\#\{\text{events}\}}

    as in :func:`nofluke.evaluate`: each labelled step is an event, or each range where ``count_events`` says so. NaN
    where no step is labelled; 0 where there is no alarm. Many alarms and a wide tolerance flatter it: alarms on every
    step find everything.

    Parameters
    ----------
    tolerance : int, str, timedelta or Tolerance
        Steps, or a duration such as "2h" where the data has a clock of dates.
    early, late : int, str or timedelta, optional
        Its two sides, instead of ``tolerance``.
    unit : {"steps", "ns", "clock"}, optional
        "clock" reads plain numbers in the unit of a clock of plain numbers.

    See Also
    --------
    nofluke.metrics.Precision : the other side.
    nofluke.metrics.F1 : both in one number.
    nofluke.evaluate : both in one verdict, with intervals.

    Notes
    -----
    Called as a function, and in draws, events that are times between two steps belong to the step before, where
    `evaluate` and `significance` let them keep their own times; ranges between two steps have no step to count, and are
    left out.

    References
    ----------
    Scharwächter and Müller (2020), Statistical Evaluation of Anomaly Detectors for Sequences, equation 3.

    Examples
    --------
    >>> Recall(tolerance=1)([0, 1, 0, 0, 0, 1], [1, 0, 0, 1, 0, 0])
    0.5
    >>> Recall(early=0, late=2)([0, 1, 0, 0, 0, 1], [1, 0, 0, 1, 0, 0]), Recall(early=0, late=2).text
    (0.5, 'recall:early=0,late=2')
    """

    name: ClassVar[str] = "recall"
    title: ClassVar[str] = "recall with a tolerance in time (Scharwächter and Müller 2020)"

    def _ratio(self, of: Hits) -> FloatArray:
        return np.asarray(of.found / of.events)


@dataclass(frozen=True, kw_only=True)
class F1(Tolerant):
    r"""F_β with a tolerance in time, of :class:`Precision` and :class:`Recall`; without one, F_β of the steps.

    .. math:: F_\beta = \frac{(1 + \beta^2) P_\delta R_\delta}{\beta^2 P_\delta + R_\delta}

    as in :func:`nofluke.evaluate`: each labelled step is an event, or each range where ``count_events`` says so. NaN
    where no step is labelled; 0 where there is no alarm near an event, or none at all. A wide tolerance flatters it,
    and many labels: both fill the series with steps on which any alarm is right.

    Parameters
    ----------
    tolerance : int, str, timedelta or Tolerance
        Steps, or a duration such as "2h" where the data has a clock of dates.
    early, late : int, str or timedelta, optional
        Its two sides, instead of ``tolerance``.
    unit : {"steps", "ns", "clock"}, optional
        "clock" reads plain numbers in the unit of a clock of plain numbers.
    beta : float
        Recall counts β² times as much as precision.

    See Also
    --------
    nofluke.metrics.Precision, nofluke.metrics.Recall : its parts.
    nofluke.metrics.BestF1 : of the steps, at the best threshold.
    nofluke.metrics.PAF1 : after point adjustment.
    nofluke.evaluate : both in one verdict, with intervals.

    Notes
    -----
    Without alarms :func:`nofluke.evaluate` leaves F undefined; here it is 0, as for all F of this module's kin.

    References
    ----------
    Scharwächter and Müller (2020), Statistical Evaluation of Anomaly Detectors for Sequences. van Rijsbergen (1979),
    Information Retrieval.

    Examples
    --------
    >>> F1(tolerance=1)([0, 1, 0, 0, 0, 1], [1, 0, 0, 1, 0, 0])
    0.5
    """

    name: ClassVar[str] = "f1"
    title: ClassVar[str] = "F with a tolerance in time (Scharwächter and Müller 2020)"

    beta: float = 1.0

    def __post_init__(self, early: Length | None, late: Length | None, unit: Unit | None) -> None:
        super().__post_init__(early, late, unit)
        object.__setattr__(self, "beta", check_beta(self.beta))

    def _ratio(self, of: Hits) -> FloatArray:
        return f_of_shares(of.hits / of.alarms, of.found / of.events, self.beta)


# ---- alarms near events and events near alarms, of each draw


@kernel
def near_ranges(
    sums: IntArray,
    opens: IntArray,
    closes: IntArray,
    first: IntArray,
    last: IntArray,
    begins: IntArray,
    counts: IntArray,
) -> None:
    """For each draw: alarms near an event, events found, events; each has one window, from ``opens`` up to ``closes``.

    Both ends of the windows of a draw ascend. ``sums`` are alarms before each step.
    """
    for i in range(begins.size):
        hits, found, covered = np.int64(0), np.int64(0), np.int64(0)
        begin = begins[i]
        for event in range(first[i], last[i]):
            inside = sums[begin + closes[event]] - sums[begin + opens[event]]
            if inside > 0:
                found += 1
                # windows may overlap: an alarm counts once
                shared = max(opens[event], covered)
                if closes[event] > shared:
                    hits += sums[begin + closes[event]] - sums[begin + shared]
            covered = max(covered, closes[event])
        counts[i, 0] = hits
        counts[i, 1] = found
        counts[i, 2] = last[i] - first[i]


@kernel
def near_steps(
    sums: IntArray,
    near: IntArray,
    opens: IntArray,
    closes: IntArray,
    inner: int,
    outer: int,
    draws: Plain,
    counts: IntArray,
) -> None:
    """The same where each labelled step is an event; ``opens`` and ``closes`` are the windows of all steps.

    The steps from ``inner`` up to ``outer`` have windows that no border cuts, alike for all of them: how many of a run
    are found is looked up in ``near``, steps found before each step. All others are looked at one by one.
    """
    starts, stops, first, last, begins, _ = draws
    for i in range(begins.size):
        hits, found, labelled, covered = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        begin = begins[i]
        for run in range(first[i], last[i]):
            start, stop = starts[run], stops[run]
            labelled += stop - start
            low, high = max(start, inner), min(stop, outer)
            step = start
            while step < stop:
                if step == low and high > low:
                    till, more = high, near[begin + high] - near[begin + low]
                else:
                    till = step + 1
                    more = np.int64(sums[begin + closes[step]] > sums[begin + opens[step]])
                if more > 0:
                    found += more
                    shared = max(opens[step], covered)
                    if closes[till - 1] > shared:
                        hits += sums[begin + closes[till - 1]] - sums[begin + shared]
                covered = max(covered, closes[till - 1])
                step = till
        counts[i, 0] = hits
        counts[i, 1] = found
        counts[i, 2] = labelled
