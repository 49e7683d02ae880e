"""Statistics: what is measured in every cell of a trial, and what it would be on other events or with another detector.

Those here are of point events and alarms, beside the two rates. What is measured on a whole series, by any function of
labels and scores or alarms, is a metric.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nofluke.arrays import AnyArray, FloatArray, IntArray
from nofluke.errors import InputError
from nofluke.measures.matching import match_on_steps, match_rows
from nofluke.measures.points import MOST_TICKS, as_pair
from nofluke.measures.tiling import tiling_coefficient, tiling_rows
from nofluke.plain import as_number, check_word
from nofluke.ratios import divide, f_beta
from nofluke.series.timed import TimedCell
from nofluke.series.trial import Cell, Trial

# ---- event synchronisation: how often two lists of times nearly coincide


Ends = Literal["kept", "dropped"]
Shared = Literal["counted", "halved"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSynchronisation:
    """How often events and alarms come nearly together, and which of them come first.

    Attributes
    ----------
    late, early : float
        Alarms shortly after an event, c(alarms|events), and shortly before one; simultaneous ones are half of each.
    n_events, n_alarms : int
        How many were asked about: without the first and the last one of each list if ends are dropped.
    """

    late: float
    early: float
    n_events: int
    n_alarms: int

    @property
    def strength(self) -> float:
        """Q = (late + early) / sqrt(n_events n_alarms); NaN without events or alarms, or without any window."""
        return divide(self.late + self.early, math.sqrt(self.n_events * self.n_alarms))

    @property
    def delay(self) -> float:
        """q = (late - early) / sqrt(n_events n_alarms): 1 if alarms follow events, -1 if they precede; NaN as Q."""
        return divide(self.late - self.early, math.sqrt(self.n_events * self.n_alarms))


def event_synchronisation(
    events: npt.ArrayLike,
    alarms: npt.ArrayLike,
    *,
    taumax: float | None = None,
    ends: Ends = "kept",
    shared: Shared = "counted",
) -> EventSynchronisation:
    r"""Event synchronisation with its adaptive window.

    Event x_i and alarm y_j are synchronous if they are at most

    .. math:: \tau_{ij} = \min(x_{i+1}-x_i,\ x_i-x_{i-1},\ y_{j+1}-y_j,\ y_j-y_{j-1}) / 2

    apart. c(y|x) counts the pairs with 0 < y_j - x_i <= τ_ij as 1 and the simultaneous ones as 1/2, c(x|y) likewise,
    and Q = (c(y|x) + c(x|y)) / sqrt(m_x m_y), q = (c(y|x) - c(x|y)) / sqrt(m_x m_y).

    Parameters
    ----------
    events, alarms : array_like
        Ascending times: whole numbers (ticks) or floats. Equal times within a list have τ = 0: they are synchronous
        with simultaneous ones only, each pair of them counts.
    taumax : number, optional
        An upper limit for τ.
    ends : {"kept", "dropped"}
        The formula says nothing of the first and the last event, which lack a neighbour. "kept": a neighbour that
        does not exist limits nothing, so that Q of a list with itself is 1, as the authors say. "dropped": they only
        serve as neighbours of the others, and m - 2 takes the place of m, as in pyunicorn and CoinCalc.
    shared : {"counted", "halved"}
        An event exactly in the middle between two alarms may be synchronous with both, since τ is closed; then Q can
        exceed 1. On rounded times that is common. "counted" is the formula as it stands; "halved" gives each pair of
        which one is synchronous with another one too a weight of 1/2, as in pyunicorn, and then Q <= 1.

    Returns
    -------
    EventSynchronisation
        NaN in `strength` and `delay` without events or alarms; for one event and one alarm without taumax, where
        nothing sets a window; and with ends dropped for fewer than three events or alarms.

    Notes
    -----
    pyunicorn 1.0's ``event_synchronization(x, y, taumax=, lag=)`` returns c(x|y) and c(y|x), in this order, over
    sqrt((m_x - 2)(m_y - 2)): ``ends="dropped", shared="halved"`` with ``alarms + lag``. It has 0 instead of NaN for
    lists of one or two events, and without time stamps keeps positions in 16 bits, so that they are wrong from 32,768
    on. CoinCalc 3.0's, by its source and for tau = 0, is ``ends="dropped", shared="counted"``.

    References
    ----------
    R. Quian Quiroga, T. Kreuz and P. Grassberger, Event synchronization: a simple and fast method to measure
    synchronicity and time delay patterns, Physical Review E 66, 041904 (2002).

    Examples
    --------
    >>> found = event_synchronisation([10, 30, 50, 90], [11, 28, 50, 70])
    >>> found.late, found.early, found.strength, found.delay
    (1.5, 1.5, 0.75, 0.0)
    """
    x, y = as_pair(events, alarms)
    late, early = _synchronised(x[None, :], y, taumax, ends, shared)[0].tolist()
    less = 2 * (ends == "dropped")
    no_window = len(x) == len(y) == 1 and taumax is None
    n_events, n_alarms = (0 if no_window else max(len(times) - less, 0) for times in (x, y))
    return EventSynchronisation(late=late / 2, early=early / 2, n_events=n_events, n_alarms=n_alarms)


def event_synchronisation_rows(
    rows: npt.ArrayLike,
    alarms: npt.ArrayLike,
    *,
    taumax: float | None = None,
    ends: Ends = "kept",
    shared: Shared = "counted",
) -> tuple[FloatArray, FloatArray]:
    """Q and q of `event_synchronisation` for each row of events.

    >>> event_synchronisation_rows([[10, 30, 50, 90], [11, 28, 50, 70]], [11, 28, 50, 70])
    (array([0.75, 1.  ]), array([0., 0.]))
    """
    x, y = as_pair(rows, alarms, dims=2)
    found = _synchronised(x, y, taumax, ends, shared) / 2
    less = 2 * (ends == "dropped")
    n = max(x.shape[1] - less, 0) * max(len(y) - less, 0)
    norm = math.nan if n == 0 or (x.shape[1] == len(y) == 1 and taumax is None) else math.sqrt(n)
    return (found[:, 0] + found[:, 1]) / norm, (found[:, 0] - found[:, 1]) / norm


def _synchronised(x: AnyArray, y: AnyArray, taumax: float | None, ends: Ends, shared: Shared) -> IntArray:
    from nofluke.measures.points_kernels import synchronised_rows

    check_word(ends, "ends", ("kept", "dropped"))
    check_word(shared, "shared", ("counted", "halved"))
    cap: Any = x.dtype.type(np.inf if x.dtype.kind == "f" else np.iinfo(np.int64).max)
    if taumax is not None:
        limit = as_number(taumax, "taumax", "be 0 or more", lambda number: number >= 0)
        # distances in ticks are whole, and so is the longest one below a limit that is not
        cap = x.dtype.type(min(2 * limit if x.dtype.kind == "f" else 2 * math.floor(min(limit, MOST_TICKS)), cap))
    return np.asarray(synchronised_rows(x, y, cap, ends == "dropped", shared == "halved"))


# ---- statistics: what is measured in every cell of a trial


class Statistic(ABC):
    """Something measured in every cell of a trial; larger is better."""

    name: str

    @abstractmethod
    def observed(self, trial: Trial) -> FloatArray:
        """Its value in every cell, of shape (tolerances, thresholds); NaN where it is undefined."""

    def on_truths(self, trial: Trial, placements: AnyArray) -> FloatArray:
        """Its value in every cell for each placement of the events: rows of first steps, as a null draws them."""
        return np.stack([self.observed(trial.with_truth(trial.truth.moved(row))) for row in placements])

    def on_detectors(self, trial: Trial, detectors: AnyArray) -> FloatArray:
        """Its value in every cell for each of several detectors: rows of one value for each step."""
        return np.stack([self.observed(trial.with_detector(row)) for row in detectors])


class PointStatistic(Statistic):
    """A statistic of two lists of points: times of their own, or steps."""

    title: str

    def observed(self, trial: Trial) -> FloatArray:
        values: FloatArray = self.on_truths(trial, trial.truth.starts[None])[0]
        return values

    def on_truths(self, trial: Trial, placements: AnyArray) -> FloatArray:
        if not trial.truth.points or trial.count_alarms != "steps":
            raise InputError(
                problem=f"the statistic {self.name!r} is for points",
                remedy="pass events that are not ranges, and count alarms as steps",
            )
        rows = np.sort(np.asarray(placements, dtype=np.int64), axis=1)
        found = np.empty((len(rows), *trial.shape))
        for d, k in np.ndindex(trial.shape):
            found[:, d, k] = self.of_rows(trial.cell(d, k), rows)
        return found

    @abstractmethod
    def of_rows(self, cell: Cell, rows: IntArray) -> FloatArray:
        """Its value for each row of ascending steps of the events."""

    def details(self, cell: Cell, value: float) -> dict[str, float]:
        """What else is told of its value."""
        del cell, value
        return {}


@dataclass(frozen=True)
class Synchronisation(PointStatistic):
    """Event synchronisation Q (Quian Quiroga et al. 2002), whose window adapts to the gaps and needs no tolerance."""

    name: str = "event-synchronisation"
    title: str = "Event synchronisation"

    def of_rows(self, cell: Cell, rows: IntArray) -> FloatArray:
        events, alarms = cell.times(rows)
        strength, _ = event_synchronisation_rows(events, alarms, shared="halved")
        return strength

    def details(self, cell: Cell, value: float) -> dict[str, float]:
        """The delay behaviour q: positive where alarms follow events."""
        del value
        events, alarms = cell.times(cell.truth.starts[None])
        return {"delay": float(event_synchronisation_rows(events, alarms, shared="halved")[1][0])}


@dataclass(frozen=True)
class Tiling(PointStatistic):
    """The spike time tiling coefficient (Cutts and Eglen 2014), with the tolerance as its window."""

    name: str = "sttc"
    title: str = "Spike time tiling coefficient"

    def of_rows(self, cell: Cell, rows: IntArray) -> FloatArray:
        return cell.by_axis(
            steps=lambda cell: np.array([self._on_steps(cell, row) for row in rows]),
            ticks=lambda cell: self._in_time(cell, rows),
        )

    @staticmethod
    def _in_time(cell: TimedCell, rows: IntArray) -> FloatArray:
        (events, alarms), reach, watch = cell.times(rows), cell.reach, cell.trial.watch
        return tiling_rows(events, alarms, early=reach.early, late=reach.late, begins=watch.starts, ends=watch.stops)

    @staticmethod
    def _on_steps(cell: Cell, row: IntArray) -> float:
        if 0 in (cell.n_events, cell.n_predictions):
            return float("nan")
        moved = cell.trial.with_truth(cell.truth.moved(row)).cell(cell.d, cell.k)
        return float(
            tiling_coefficient(
                precision=moved.precision_hits / moved.n_predictions,
                recall=moved.recall_hits / moved.n_events,
                near_alarms=moved.covered / moved.n_steps,
                near_events=int(moved.trial.near_events[cell.d]) / moved.n_steps,
            )
        )


@dataclass(frozen=True)
class Matching(PointStatistic):
    """The most pairs of an event and an alarm within the tolerance of each other in which each is used once."""

    name: str = "matching"
    title: str = "One-to-one matching"

    def of_rows(self, cell: Cell, rows: IntArray) -> FloatArray:
        def on_steps(cell: Cell) -> IntArray:
            before = np.concatenate([[0], np.cumsum(cell.alarm_flags)])
            return match_on_steps(rows, before[cell.cover.starts], before[cell.cover.stops])

        def in_time(cell: TimedCell) -> IntArray:
            return match_rows(*cell.times(rows), early=cell.reach.early, late=cell.reach.late)

        return cell.by_axis(steps=on_steps, ticks=in_time).astype(np.float64)

    def details(self, cell: Cell, value: float) -> dict[str, float]:
        """Precision, recall and F1 of the pairs."""
        precision, recall = divide(int(value), len(cell.alarms)), divide(int(value), cell.n_events)
        return {"precision": precision, "recall": recall, "f1": f_beta(precision, recall, 1.0)}


POINT_STATISTICS: dict[str, PointStatistic] = {one.name: one for one in (Tiling(), Synchronisation(), Matching())}


def point_statistic(name: object) -> PointStatistic:
    """The statistic of that name.

    >>> point_statistic("sttc").title
    'Spike time tiling coefficient'
    """
    check_word(name, "statistic", POINT_STATISTICS)
    return POINT_STATISTICS[str(name)]
