"""Event synchronisation: how often two lists of times nearly coincide, within a window that adapts to their gaps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nofluke.arrays import AnyArray, FloatArray, IntArray
from nofluke.measures.points import MOST_TICKS, as_pair
from nofluke.plain import as_number, check_word
from nofluke.ratios import divide

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
