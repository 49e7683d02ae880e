"""Two lists of times: event synchronisation, the spike time tiling coefficient and one-to-one matching.

Events and alarms are ascending times, int64 ticks or floats, and each measure visits each once: O(n + m). The forms
ending in ``_rows`` take many placements of the events, rows of ascending times, against the same alarms. Ticks
compare exactly; floats compare as they are, so pass ticks where windows end on times.

Windows are closed and measured from the event: an alarm at p and an event at q are near if q - early <= p <= q + late.
A side may be negative, as long as early + late is not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nofluke.arrays import AnyArray, FloatArray, IntArray
from nofluke.errors import InputError, passed, say, shown
from nofluke.plain import as_number, check_word, exact_floats, whole_or_none
from nofluke.ratios import divide, f_beta

# ---- lists of times as they are passed: read and checked

MOST_TICKS = 2**61  # sums of a time and two sides stay within 64 bits


def as_pair(events: npt.ArrayLike, alarms: npt.ArrayLike, dims: int = 1) -> tuple[AnyArray, AnyArray]:
    """Both lists as ticks, or both as floats where one is."""
    x, y = as_times(events, "events", dims), as_times(alarms, "alarms")
    if x.dtype != y.dtype:
        x, y = exact_floats(x, "events"), exact_floats(y, "alarms")
    if dims == 1:  # a null's own placements are in order
        check_ascending(x, "events")
    check_ascending(y, "alarms")
    return x, y


def as_times(values: npt.ArrayLike, name: str, dims: int = 1) -> AnyArray:
    """Finite times as int64 ticks or as floats, a list or rows of them."""
    array = np.asarray(values)
    if array.size == 0:
        array = array.astype(np.int64)  # nothing has no type of its own
    if array.ndim != dims or array.dtype.kind not in "iuf":
        raise InputError(
            argument=name,
            value=values,
            problem=f"must be {'rows' if dims == 2 else 'a list'} of numbers",
            remedy="pass ticks or floats",
        )
    if array.dtype.kind == "f":
        if not np.isfinite(array).all():
            raise InputError(argument=name, problem="holds NaN or infinity", remedy="drop such times")
        return np.ascontiguousarray(array, dtype=np.float64)
    if array.size and max(abs(int(array.min())), abs(int(array.max()))) > MOST_TICKS:
        raise InputError(
            argument=name, problem="holds ticks beyond 2**61", remedy="subtract the same number from all times"
        )
    return np.ascontiguousarray(array, dtype=np.int64)


def check_ascending(times: AnyArray, name: str) -> None:
    """Refuse times that are not in order."""
    falls = np.flatnonzero(times[1:] < times[:-1])
    if len(falls):
        at = int(falls[0])
        raise InputError(
            argument=name, problem=f"must ascend, but {times[at]} is followed by {times[at + 1]}", remedy="sort them"
        )


def as_sides(early: float, late: float, dtype: Any) -> tuple[Any, Any]:
    """Both sides of a window in the type of the times; refuses a window that ends before it starts."""
    sides = []
    for name, value in (("early", early), ("late", late)):
        side = whole_or_none(value)
        if dtype.kind == "f":
            sides.append(as_number(value, name, "be a finite number", math.isfinite))
        elif side is None or abs(side) > MOST_TICKS:
            raise InputError(
                argument=name,
                value=value,
                problem="must be a whole number of ticks of at most 2**61",
                remedy="round it",
            )
        else:
            sides.append(side)
    if sides[0] + sides[1] < 0:
        raise InputError(
            argument="early",
            value=early,
            problem=say("and {} leave no window", passed("late", late)),
            remedy="their sum must not be negative",
        )
    return dtype.type(sides[0]), dtype.type(sides[1])


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


def event_synchronisation_rows(rows: npt.ArrayLike, alarms: npt.ArrayLike, *, shared: Shared = "counted") -> FloatArray:
    """The strength Q of `event_synchronisation` for each row of events.

    >>> event_synchronisation_rows([[10, 30, 50, 90], [11, 28, 50, 70]], [11, 28, 50, 70])
    array([0.75, 1.  ])
    """
    x, y = as_pair(rows, alarms, dims=2)
    both = _synchronised(x, y, None, "kept", shared).sum(axis=1) / 2
    n = x.shape[1] * len(y)  # of one event and one alarm, nothing sets a window
    return both / math.sqrt(n) if n > 1 else np.full(len(x), math.nan)


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


# ---- tiling: both rates of two lists of times, each against the time that is near the other


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiling:
    """The four shares of the spike time tiling coefficient.

    Attributes
    ----------
    precision, recall : float
        Share of alarms near an event and of events near an alarm: P_A and P_B for trains A = alarms, B = events.
    near_alarms, near_events : float
        Share of the watched time at which an event would be near an alarm, T_A, and an alarm near an event, T_B.
    """

    precision: float
    recall: float
    near_alarms: float
    near_events: float

    @property
    def coefficient(self) -> float:
        """STTC, see `tiling_coefficient`."""
        return float(
            tiling_coefficient(
                precision=self.precision, recall=self.recall, near_alarms=self.near_alarms, near_events=self.near_events
            )
        )


def tiling_coefficient(
    *, precision: npt.ArrayLike, recall: npt.ArrayLike, near_alarms: npt.ArrayLike, near_events: npt.ArrayLike
) -> FloatArray:
    r"""The spike time tiling coefficient of its four shares, from -1 to 1; 0 is what chance gives.

    .. math:: STTC = \frac12\left(\frac{P_A - T_B}{1 - P_A T_B} + \frac{P_B - T_A}{1 - P_B T_A}\right)

    Parameters
    ----------
    precision, recall : array_like
        P_A, the share of alarms near an event, and P_B, the share of events near an alarm.
    near_alarms, near_events : array_like
        T_A and T_B, the share of the watched time near an alarm, and near an event. The relation "near" is the same
        from both sides: with asymmetric windows time t is near an event if an alarm at t would be, and near an alarm
        if an event at t would be, so that the window of an alarm is the mirror image of that of an event.

    Returns
    -------
    float array of the shape of the arguments
        Half of it is 1 where P T = 1: 0/0 there, but 1 for P = 1 and every smaller T. So has elephant; the authors' own
        code, and the formula, have NaN. NaN where a share is: without events or alarms.

    Notes
    -----
    elephant 1.2.1's ``spike_time_tiling_coefficient(i, j, dt)`` is the same for floats and windows of ±
    dt, but for P it asks ``numpy.isclose(j, i, atol=dt)``, which widens the window by 1e-5 of the time itself: at a
    time of 100,000 by 1. In ticks a window of ± dt covers 2 dt + 1 ticks of N, in continuous time 2 dt of the span.

    References
    ----------
    C. S. Cutts and S. J. Eglen, Detecting pairwise correlations in spike trains: an objective comparison of methods and
    application to the study of retinal waves, Journal of Neuroscience 34, 14288-14303 (2014).

    Examples
    --------
    >>> float(tiling_coefficient(precision=0.5, recall=1, near_alarms=0.25, near_events=0.2))
    0.6666666666666666
    """
    shares = (np.asarray(value, dtype=np.float64) for value in (precision, recall, near_alarms, near_events))
    p_alarms, p_events, t_alarms, t_events = shares
    return np.asarray((_half_tiling(p_alarms, t_events) + _half_tiling(p_events, t_alarms)) / 2)


def tiling(
    events: npt.ArrayLike,
    alarms: npt.ArrayLike,
    *,
    early: float,
    late: float,
    begins: npt.ArrayLike,
    ends: npt.ArrayLike,
) -> Tiling:
    """The four shares, and with them the spike time tiling coefficient, of two lists of times.

    Parameters
    ----------
    events, alarms : array_like
        Ascending times within the watched time.
    early, late : number
        An alarm at p is near an event at q if q - early <= p <= q + late. Whole numbers where times are ticks.
    begins, ends : array_like
        The pieces of the watched time, in order and apart. Ticks belong to a piece from its begin up to before its end,
        and a window covers early + late + 1 of them; of floats, it is lengths that count.

    Returns
    -------
    Tiling
        Recall is NaN without events, precision without alarms.

    Examples
    --------
    >>> found = tiling([10, 50], [11, 30, 48], early=2, late=2, begins=[0], ends=[100])
    >>> found
    Tiling(precision=0.6666666666666666, recall=1.0, near_alarms=0.15, near_events=0.1)
    >>> round(found.coefficient, 6)
    0.803571
    """
    x, y = as_pair(events, alarms)
    hits, near_events, near_alarms = _near(x[None, :], y, early, late, begins, ends)
    return Tiling(
        precision=divide(int(hits[0, 0]), len(y)),
        recall=divide(int(hits[0, 1]), len(x)),
        near_alarms=near_alarms,
        near_events=float(near_events[0]),
    )


def tiling_rows(
    rows: npt.ArrayLike, alarms: npt.ArrayLike, *, early: float, late: float, begins: npt.ArrayLike, ends: npt.ArrayLike
) -> FloatArray:
    """The spike time tiling coefficient for each row of events; NaN without events or alarms.

    >>> tiling_rows([[10, 50], [20, 60]], [11, 30, 48], early=2, late=2, begins=[0], ends=[100]).round(6)
    array([ 0.803571, -0.125   ])
    """
    x, y = as_pair(rows, alarms, dims=2)
    hits, near_events, near_alarms = _near(x, y, early, late, begins, ends)
    if x.shape[1] == 0 or len(y) == 0:
        return np.full(len(x), math.nan)
    return tiling_coefficient(
        precision=hits[:, 0] / len(y), recall=hits[:, 1] / x.shape[1], near_alarms=near_alarms, near_events=near_events
    )


def _half_tiling(share: FloatArray, tiled: FloatArray) -> FloatArray:
    below = 1 - share * tiled
    with np.errstate(invalid="ignore"):
        return np.where(below == 0, 1.0, (share - tiled) / np.where(below == 0, 1.0, below))


def _near(
    x: AnyArray, y: AnyArray, early: float, late: float, begins: npt.ArrayLike, ends: npt.ArrayLike
) -> tuple[IntArray, FloatArray, float]:
    """Hits of alarms and of events in each row, the share of time near its events, and the share near the alarms."""
    from nofluke.measures.points_kernels import covered, near_rows

    edges = [as_times(np.atleast_1d(np.asarray(edge)), name) for name, edge in (("begins", begins), ("ends", ends))]
    if len(edges[0]) != len(edges[1]):
        raise InputError(
            problem=f"begins has {len(edges[0])} and ends {len(edges[1])} times",
            remedy="pass one of each for every piece",
        )
    pieces = np.stack(edges, axis=1)
    if x.size + y.size == 0:
        x, y = x.astype(pieces.dtype), y.astype(pieces.dtype)
    if x.dtype.kind == "i" and pieces.dtype.kind == "f":
        raise InputError(
            problem="begins and ends are floats, but the times are ticks",
            remedy="pass whole numbers, or floats for all",
        )
    before, after = as_sides(early, late, x.dtype)
    pieces = pieces.astype(x.dtype)
    # a piece ends where the next one begins at the latest: then all edges ascend
    check_ascending(pieces.ravel(), "begins and ends")
    first, last = (np.ascontiguousarray(edge) for edge in pieces.T)
    watched = float((last - first).sum())
    if not watched:
        raise InputError(
            argument="begins",
            value=begins,
            problem=f"and ends={shown(ends)} cover no time",
            remedy="pass a piece with a length above 0",
        )
    unit = x.dtype.type(x.dtype.kind == "i")  # a tick lasts until the next one
    hits, near = near_rows(x, y, before, after, unit, first, last)
    return hits, near / watched, float(covered(y, after, before, unit, first, last)) / watched


# ---- one-to-one matching: each alarm counts for one event at most, and each event for one alarm


@dataclass(frozen=True, slots=True, kw_only=True)
class Matching:
    """A maximum one-to-one matching of alarms to events.

    Attributes
    ----------
    size : int
        Pairs: each alarm counts for one event at most, and each event for one alarm.
    n_events, n_alarms : int
    """

    size: int
    n_events: int
    n_alarms: int

    @property
    def precision(self) -> float:
        """Share of the alarms that are matched; NaN without alarms."""
        return divide(self.size, self.n_alarms)

    @property
    def recall(self) -> float:
        """Share of the events that are matched; NaN without events."""
        return divide(self.size, self.n_events)

    def f(self, beta: float = 1.0) -> float:
        """F_β of both; 0 where nothing is matched, NaN without events or alarms."""
        return f_beta(self.precision, self.recall, beta)


def match(events: npt.ArrayLike, alarms: npt.ArrayLike, *, early: float, late: float) -> Matching:
    """The largest set of pairs of an event and an alarm near each other in which each is used once.

    Parameters
    ----------
    events, alarms : array_like
        Ascending times: ticks or floats. Equal times within a list are as many events.
    early, late : number
        An alarm at p may be matched to an event at q if q - early <= p <= q + late.

    Returns
    -------
    Matching

    Notes
    -----
    Events in time order, each takes the first alarm in its window that is left; as both ends of the windows ascend, no
    matching is larger. mir_eval 0.8.2's ``util.match_events(events, alarms, window)`` finds one of the same size for
    ``early=late=window``, though not always the same pairs; its ``onset.f_measure`` has 0 instead of NaN without events
    or alarms.

    References
    ----------
    C. Raffel et al., mir_eval: a transparent implementation of common MIR metrics, ISMIR (2014).

    Examples
    --------
    >>> found = match([10, 12, 40], [11, 13, 14, 90], early=2, late=2)
    >>> found
    Matching(size=2, n_events=3, n_alarms=4)
    >>> found.precision, round(found.f(), 6)
    (0.5, 0.571429)
    """
    x, y = as_pair(events, alarms)
    return Matching(size=int(_matched(x[None, :], y, early, late)[0]), n_events=len(x), n_alarms=len(y))


def match_rows(rows: npt.ArrayLike, alarms: npt.ArrayLike, *, early: float, late: float) -> IntArray:
    """The size of a maximum matching for each row of events.

    >>> match_rows([[10, 12, 40], [11, 13, 88]], [11, 13, 14, 90], early=2, late=2)
    array([2, 3])
    """
    x, y = as_pair(rows, alarms, dims=2)
    return _matched(x, y, early, late)


def match_on_steps(rows: npt.ArrayLike, starts: npt.ArrayLike, stops: npt.ArrayLike) -> IntArray:
    """The size of a maximum matching for each row of events on steps, whatever clock and tolerance made their windows.

    Parameters
    ----------
    rows : array_like of int, (R, m)
        Ascending steps of the events.
    starts, stops : array_like of int, one for each step
        An event on step t can take the alarms number ``starts[t]`` up to before ``stops[t]``. Both must not descend.

    Examples
    --------
    >>> match_on_steps([[0, 1, 2], [0, 1, 3]], starts=[0, 0, 0, 1], stops=[1, 1, 2, 2])
    array([2, 2])
    """
    from nofluke.measures.points_kernels import matched_on_steps

    first, behind = (np.ascontiguousarray(edge, dtype=np.int64) for edge in (starts, stops))
    for name, edge in (("starts", first), ("stops", behind)):
        check_ascending(edge, name)
    return np.asarray(matched_on_steps(np.ascontiguousarray(rows, dtype=np.int64), first, behind))


def _matched(x: AnyArray, y: AnyArray, early: float, late: float) -> IntArray:
    from nofluke.measures.points_kernels import matched_rows

    return np.asarray(matched_rows(x, y, *as_sides(early, late, x.dtype)))
