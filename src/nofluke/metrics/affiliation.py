"""Affiliation: how near alarms are to their zone's event, and events to its alarms, against a random place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from nofluke.arrays import AnyArray, FloatArray, IntArray
from nofluke.metrics.alarm_runs import AlarmRuns, sums_before
from nofluke.metrics.base import FBeta, Metric, kernel
from nofluke.metrics.draws import Draws, Plain
from nofluke.metrics.labelled import Labelled
from nofluke.ratios import f_of_shares


class HalfSteps(NamedTuple):
    """Runs of alarms with sums over them, in half steps; an empty run stands before the first and after the last."""

    latest: IntArray
    """For each step, and the end: the last run that begins before it."""
    begins: IntArray
    ends: IntArray
    held: IntArray
    """Half steps in all runs before each."""
    squares: IntArray
    """Sum of ends² − begins², twice the integral of the place, over all runs before each."""
    gaps: IntArray
    """Sum of the squared lengths of the gaps between runs up to each."""


def in_half_steps(alarms: AnyArray) -> HalfSteps:
    """What affiliation needs to know of alarms.

    >>> in_half_steps(np.array([False, True, False, True]))[:3]
    (array([0, 0, 1, 1, 2]), array([0, 2, 6, 8]), array([0, 4, 8, 8]))
    """
    runs, end = AlarmRuns.of(alarms), [2 * len(alarms)]
    begins, ends = (np.concatenate([[0], 2 * steps, end]) for steps in (runs.opens, runs.closes))
    gaps = np.zeros(len(begins), dtype=np.int64)
    np.cumsum((begins[2:] - ends[1:-1]) ** 2, out=gaps[2:])
    held, squares = (sums_before(values[:-1]) for values in (ends - begins, ends**2 - begins**2))
    return HalfSteps((runs.at + 1) >> 1, begins, ends, held, squares, gaps)


@dataclass(frozen=True, kw_only=True)
class _Affiliation(Metric):
    """What the three of them share."""

    def reach(self, series: Labelled) -> int:
        """As far as the zones: alarms anywhere in an event's zone count for it."""
        starts, stops, n = series.truth.starts, series.truth.stops, series.n_steps
        if len(starts) == 0:
            return 0
        between = int((starts[1:] - stops[:-1]).max(initial=0))
        return max(int(starts[0]), n - int(stops[-1]), (between + 1) // 2)

    def work(self, series: Labelled) -> float:
        return 100.0 * len(series.truth.starts) + 100.0

    def tables(self, detector: AnyArray, series: Labelled) -> HalfSteps:
        del series
        return in_half_steps(detector)

    def _both(self, tables: HalfSteps, draws: Draws) -> tuple[FloatArray, FloatArray]:
        precisions, recalls = np.empty(len(draws)), np.empty(len(draws))
        affiliations(tuple(tables), draws.plain, precisions, recalls)
        return precisions, recalls


@dataclass(frozen=True, kw_only=True)
class AffiliationPrecision(_Affiliation):
    r"""Affiliation precision: how much closer alarms are to the event in their zone than random places in it.

    Step t is the time from t to t + 1. Each labelled run J has its zone E, which ends in the middle between two runs
    and at the borders of the series. With alarms X in it and U uniform on it, it has

    .. math:: P_E = \frac{1}{|X \cap E|} \int_{X \cap E} \Pr\bigl(d(U, J) \ge d(x, J)\bigr) \, dx,

    and the precision is the mean over zones with an alarm. NaN where there is no alarm, or no label. 1 where all alarms
    are on labelled steps. What flatters it: few alarms, since zones without one are left out; and random alarms have
    about ½, not 0.

    See Also
    --------
    nofluke.metrics.AffiliationRecall : the other side.
    nofluke.metrics.AffiliationF1 : both in one number.

    Notes
    -----
    The authors' package, TSB-AD's copy of it and tsadmetrics give the same; the first two refuse events that touch,
    which are two here if they were passed as ranges.

    References
    ----------
    Huet, Navarro and Rossi (2022), Local evaluation of time series anomaly detection algorithms, KDD.

    Examples
    --------
    >>> AffiliationPrecision()([0, 0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1, 0, 0])
    0.6875
    """

    name: ClassVar[str] = "affiliation-precision"
    title: ClassVar[str] = "affiliation precision (Huet et al. 2022)"

    def values(self, tables: HalfSteps, draws: Draws) -> FloatArray:
        return self._both(tables, draws)[0]


@dataclass(frozen=True, kw_only=True)
class AffiliationRecall(_Affiliation):
    r"""Affiliation recall: how much closer events are to the alarms in their zone than to random places in it.

    Zones E of labelled runs J as in :class:`AffiliationPrecision`. With alarms X in it and U uniform on it, a zone has

    .. math:: R_E = \frac{1}{|J|} \int_J \Pr\bigl(|U - y| \ge d(y, X \cap E)\bigr) \, dy,

    0 where it has no alarm, and the recall is the mean over all zones. 0 where there is no alarm, NaN where there is no
    label. 1 where all labelled steps have alarms. What flatters it: alarms all over the place; random ones on 1% of the
    steps have about .9 where there is an event in 1,000 steps.

    See Also
    --------
    nofluke.metrics.AffiliationPrecision : the other side.
    nofluke.metrics.AffiliationF1 : both in one number.

    Notes
    -----
    The authors' package, TSB-AD's copy of it and tsadmetrics give the same; the first two refuse events that touch,
    which are two here if they were passed as ranges.

    References
    ----------
    Huet, Navarro and Rossi (2022), Local evaluation of time series anomaly detection algorithms, KDD.

    Examples
    --------
    >>> AffiliationRecall()([0, 0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1, 0, 0])
    0.9375
    """

    name: ClassVar[str] = "affiliation-recall"
    title: ClassVar[str] = "affiliation recall (Huet et al. 2022)"

    def values(self, tables: HalfSteps, draws: Draws) -> FloatArray:
        return self._both(tables, draws)[1]


@dataclass(frozen=True, kw_only=True)
class AffiliationF1(FBeta, _Affiliation):
    r"""F_β of affiliation precision P and recall R.

    .. math:: F_\beta = (1 + \beta^2) \frac{P R}{\beta^2 P + R}

    0 where there is no alarm, NaN where there is no label. What flatters it: random alarms on 1% of the steps already
    have .62 to .68 on common benchmarks.

    Parameters
    ----------
    beta : float
        How many times as much recall counts as precision.

    See Also
    --------
    nofluke.metrics.AffiliationPrecision, nofluke.metrics.AffiliationRecall : its parts.
    nofluke.metrics.F1 : a fixed tolerance instead of distances.

    Notes
    -----
    Precision and recall are means over zones before they are combined, as in tsadmetrics and TSB-AD. Without alarms,
    TSB-AD's is NaN; without alarms given, its is the best over 100 thresholds.

    References
    ----------
    Huet, Navarro and Rossi (2022), Local evaluation of time series anomaly detection algorithms, KDD.

    Examples
    --------
    >>> round(AffiliationF1()([0, 0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1, 0, 0]), 4)
    0.7933
    """

    name: ClassVar[str] = "affiliation-f1"
    title: ClassVar[str] = "F of affiliation precision and recall (Huet et al. 2022)"

    def values(self, tables: HalfSteps, draws: Draws) -> FloatArray:
        return f_of_shares(*self._both(tables, draws), self.beta)


# ---- both of each draw
#
# Places are counted in half steps, so that the middle between two events, where one zone ends and the next begins, is a
# whole number; and integrals are multiplied until they are whole numbers too. So only the last division of each zone
# rounds.


@kernel
def _before(place: int, alarms: HalfSteps) -> tuple[int, int]:
    """Over alarms before a place: how long they are, and twice the integral of the place."""
    latest, begins, ends, held, squares, _ = alarms
    run = latest[(place + 1) >> 1]
    stop = min(place, ends[run])
    return held[run] + stop - begins[run], squares[run] + (stop - begins[run]) * (stop + begins[run])


@kernel
def _under_tent(left: int, right: int, place: int) -> int:
    """Four times the integral, from `left` to a place, of the distance to the nearer of `left` and `right`."""
    if place - left <= right - place:
        return int(2 * (place - left) ** 2)
    return int((right - left) ** 2 - 2 * (right - place) ** 2)


@kernel
def _worse(left: int, alarm_left: bool, right: int, alarm_right: bool, start: int, stop: int) -> int:
    """Four times the integral, over `start` to `stop`, of how much of the zone is nearer to a place than its alarm.

    `left` and `right` are the ends of the alarms around these places, or those of the zone where there is no such
    alarm.
    """
    tent = _under_tent(left, right, stop) - _under_tent(left, right, start)
    if alarm_left and alarm_right:
        return int(2 * tent)
    if alarm_right:
        return int(tent + 2 * ((right - start) ** 2 - (right - stop) ** 2))
    return int(tent + 2 * ((stop - left) ** 2 - (start - left) ** 2))


@kernel
def affiliations(alarms: HalfSteps, draws: Plain, precisions: FloatArray, recalls: FloatArray) -> None:
    """Affiliation precision and recall of each draw."""
    latest, begins, ends, _, _, gaps = alarms
    starts, stops, first, last, moves, n_steps = draws
    for i in range(moves.size):
        origin = 2 * moves[i]
        precision, recall, zones = 0.0, 0.0, 0
        zone_start = origin
        held_start, squares_start = _before(zone_start, alarms)
        for run in range(first[i], last[i]):
            start, stop = origin + 2 * starts[run], origin + 2 * stops[run]
            zone_stop = origin + (stops[run] + starts[run + 1] if run + 1 < last[i] else 2 * n_steps)
            held_stop, squares_stop = _before(zone_stop, alarms)
            zone, event, alarmed = zone_stop - zone_start, stop - start, held_stop - held_start
            if alarmed > 0:
                # precision: twice the integral, over alarms outside the event, of how much of the zone is as near to it
                held_left, squares_left = _before(start, alarms)
                held_right, squares_right = _before(stop, alarms)
                n_left, n_right = held_left - held_start, held_stop - held_right
                left = 2 * start * n_left - (squares_left - squares_start)
                right = (squares_stop - squares_right) - 2 * stop * n_right
                if start - zone_start <= zone_stop - stop:
                    margin = start - zone_start
                    held_margin, squares_margin = _before(stop + margin, alarms)
                    other = left + (squares_margin - squares_right) - 2 * stop * (held_margin - held_right)
                    other += 2 * margin * (held_stop - held_margin)
                else:
                    margin = zone_stop - stop
                    held_margin, squares_margin = _before(start - margin, alarms)
                    other = right + 2 * start * (held_left - held_margin) - (squares_left - squares_margin)
                    other += 2 * margin * (held_margin - held_start)
                near = left + right + other + 2 * event * (n_left + n_right)
                whole = 2 * alarmed * zone
                precision += (whole - near) / whole
                zones += 1

                # recall: the event lies before its first alarm, between alarms, and behind its last one
                before, behind = latest[start >> 1], latest[stop >> 1]
                previous = min(ends[before], start)
                covered = ends[before] > start
                following = start if covered else begins[before + 1]
                has_previous = previous > zone_start
                left_end = previous if has_previous else zone_start
                if following < stop:
                    final, after = min(ends[behind], stop), begins[behind + 1]
                    has_after = after < zone_stop
                    worse = 2 * (gaps[behind] - gaps[before if covered else before + 1])
                    worse += _worse(left_end, has_previous, following, True, start, following)
                    worse += _worse(final, True, after if has_after else zone_stop, has_after, final, stop)
                else:
                    has_after = following < zone_stop
                    right_end = following if has_after else zone_stop
                    worse = _worse(left_end, has_previous, right_end, has_after, start, stop)
                whole = 4 * event * zone
                recall += (whole - worse) / whole
            zone_start, held_start, squares_start = zone_stop, held_stop, squares_stop
        precisions[i] = precision / zones if zones > 0 else np.nan
        recalls[i] = recall / (last[i] - first[i]) if last[i] > first[i] else np.nan
