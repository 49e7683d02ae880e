"""The compiled loop of affiliation; imported late, since numba takes a second to load.

Places are counted in half steps, so that the middle between two events, where one zone ends and the next begins, is a
whole number; and integrals are multiplied until they are whole numbers too. So only the last division of each zone
rounds.
"""

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.compiled import compiled

kernel = compiled(error_model="numpy")


@kernel
def _before(
    place: int, latest: IntArray, begins: IntArray, ends: IntArray, held: IntArray, squares: IntArray
) -> tuple[int, int]:
    """Over alarms before a place: how long they are, and twice the integral of the place."""
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
def affiliations(
    latest: IntArray,
    begins: IntArray,
    ends: IntArray,
    held: IntArray,
    squares: IntArray,
    gaps: IntArray,
    starts: IntArray,
    stops: IntArray,
    first: IntArray,
    last: IntArray,
    moves: IntArray,
    n_steps: int,
    precisions: FloatArray,
    recalls: FloatArray,
) -> None:
    """Affiliation precision and recall of each draw, from the runs of alarms of `affiliation.alarm_runs`."""
    for i in range(moves.size):
        origin = 2 * moves[i]
        precision, recall, zones = 0.0, 0.0, 0
        zone_start = origin
        held_start, squares_start = _before(zone_start, latest, begins, ends, held, squares)
        for run in range(first[i], last[i]):
            start, stop = origin + 2 * starts[run], origin + 2 * stops[run]
            zone_stop = origin + (stops[run] + starts[run + 1] if run + 1 < last[i] else 2 * n_steps)
            held_stop, squares_stop = _before(zone_stop, latest, begins, ends, held, squares)
            zone, event, alarmed = zone_stop - zone_start, stop - start, held_stop - held_start
            if alarmed > 0:
                # precision: twice the integral, over alarms outside the event, of how much of the zone is as near to it
                held_left, squares_left = _before(start, latest, begins, ends, held, squares)
                held_right, squares_right = _before(stop, latest, begins, ends, held, squares)
                n_left, n_right = held_left - held_start, held_stop - held_right
                left = 2 * start * n_left - (squares_left - squares_start)
                right = (squares_stop - squares_right) - 2 * stop * n_right
                if start - zone_start <= zone_stop - stop:
                    margin = start - zone_start
                    held_margin, squares_margin = _before(stop + margin, latest, begins, ends, held, squares)
                    other = left + (squares_margin - squares_right) - 2 * stop * (held_margin - held_right)
                    other += 2 * margin * (held_stop - held_margin)
                else:
                    margin = zone_stop - stop
                    held_margin, squares_margin = _before(start - margin, latest, begins, ends, held, squares)
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
