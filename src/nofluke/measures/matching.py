"""One-to-one matching: each alarm counts for one event at most, and each event for one alarm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nofluke.arrays import AnyArray, IntArray
from nofluke.measures.points import as_pair, as_sides, check_ascending
from nofluke.ratios import divide, f_beta


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
