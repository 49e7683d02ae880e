"""The spike time tiling coefficient: both rates of two lists of times, each against the time that is near the other."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nofluke.arrays import AnyArray, FloatArray, IntArray
from nofluke.errors import InputError, shown
from nofluke.measures.points import as_pair, as_sides, as_times, check_ascending
from nofluke.ratios import divide


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
