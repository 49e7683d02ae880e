"""Counting: which steps are near an event or a prediction, for one threshold or for all of them at once.

Every count of a sweep is the number of values that reach a threshold, in one of four sets of values: all scores, the
scores of steps near an event, the best score near each event, the best score near each step. Four sorts give every
threshold; nothing depends on how long the tolerance is but a logarithm.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from nofluke.arrays import AnyArray, BoolArray, FloatArray, IntArray
from nofluke.series.clock import rounding
from nofluke.series.tolerance import Ranges

Number = TypeVar("Number", np.float64, np.int64)

WINDOWS_AT_A_TIME = 2**18  # at least, for which tables are made


def window_maxima(values: npt.NDArray[Number], ranges: Ranges) -> npt.NDArray[Number]:
    """The largest value in each window, 0 in an empty one, by doubling: O(T log(width)). Both ends ascend."""
    result = np.zeros(len(ranges.starts), dtype=values.dtype)
    at_a_time = max(WINDOWS_AT_A_TIME, int((ranges.stops - ranges.starts).max(initial=0)))
    for part in (slice(first, first + at_a_time) for first in range(0, len(result), at_a_time)):
        starts, stops, largest = ranges.starts[part], ranges.stops[part], result[part]
        # table[i] is the maximum of values[low + i : low + i + 2**k]
        low, table = starts[0], values[starts[0] : stops[-1]]
        level = np.frexp((stops - starts).astype(np.float64))[1] - 1  # exact floor(log2) for widths below 2**53
        for k in range(int(level.max(initial=-1)) + 1):
            if k > 0:
                table = np.maximum(table[: -(2 ** (k - 1))], table[2 ** (k - 1) :])
            here = np.flatnonzero(level == k)
            largest[here] = np.maximum(table[starts[here] - low], table[stops[here] - low - 2**k])
    return result


def reaching(values: FloatArray, thresholds: FloatArray) -> IntArray:
    """How many values are at least each of the ascending thresholds."""
    if len(thresholds) == 1:
        return np.array([np.count_nonzero(values >= thresholds[0])], dtype=np.int64)
    if len(values) < len(thresholds) // 4:  # few values: each is looked up among the thresholds
        reached = np.bincount(np.searchsorted(thresholds, values, side="right"), minlength=len(thresholds) + 1)
        return np.cumsum(reached[:0:-1])[::-1].astype(np.int64)
    return len(values) - np.searchsorted(np.sort(values), thresholds, side="left").astype(np.int64)


def flags_of(ranges: Ranges, n_steps: int) -> BoolArray:
    """Which of so many steps lie in one of the ranges; these do not overlap, but may touch or be empty.

    >>> flags_of(Ranges(starts=np.array([0, 2, 4]), stops=np.array([2, 3, 4])), 5).astype(int)
    array([1, 1, 1, 0, 0])
    """
    change = np.zeros(n_steps + 1, dtype=np.int8)
    np.add.at(change, ranges.starts, 1)  # edges may come twice: add, do not set
    np.subtract.at(change, ranges.stops, 1)
    return np.asarray(np.cumsum(change[:-1], dtype=np.int8) > 0)


def nonempty(ranges: Ranges) -> Ranges:
    """Without the ranges that hold no step."""
    some = ranges.stops > ranges.starts
    return ranges if some.all() else Ranges(starts=ranges.starts[some], stops=ranges.stops[some])


def union(ranges: Ranges) -> Ranges:
    """Merge ranges into ones that neither overlap nor touch; both ends of the given ones ascend, empty ones vanish.

    >>> merged = union(Ranges(starts=np.array([0, 2, 7, 9]), stops=np.array([3, 4, 7, 11])))
    >>> merged.starts, merged.stops
    (array([0, 9]), array([ 4, 11]))
    """
    ranges = nonempty(ranges)
    starts, stops = ranges.starts, ranges.stops
    if len(starts) == 0:
        return ranges
    apart = starts[1:] > stops[:-1]
    return Ranges(starts=starts[np.append(True, apart)], stops=stops[np.append(apart, True)])


def total(ranges: Ranges) -> int:
    """Steps in ranges that do not overlap."""
    return int((ranges.stops - ranges.starts).sum())


def in_ranges(steps: AnyArray, ranges: Ranges) -> BoolArray:
    """Whether each step lies in one of the ranges, which ascend and do not overlap."""
    if len(ranges.starts) == 0:
        return np.zeros(np.shape(steps), dtype=np.bool_)
    before = np.searchsorted(ranges.starts, steps, side="right") - 1
    return np.asarray((before >= 0) & (steps < ranges.stops[np.maximum(before, 0)]))


def within(steps: IntArray, ranges: Ranges) -> IntArray:
    """How many of the ascending steps lie in each range."""
    found = np.searchsorted(steps, ranges.stops) - np.searchsorted(steps, ranges.starts)
    return np.asarray(np.maximum(found, 0), dtype=np.int64)


def touching(ranges: Ranges, others: Ranges) -> BoolArray:
    """Whether each range shares a step with any of the others, all of them ascending, apart and not empty."""
    before_end = np.searchsorted(others.starts, ranges.stops, side="left")
    return np.asarray(before_end > np.searchsorted(others.stops, ranges.starts, side="right"))


def largest_within(values: npt.NDArray[Any], ranges: Ranges) -> npt.NDArray[Any]:
    """The largest value in each range, minus infinity in an empty one; both ends of the ranges ascend.

    One pass over the values that lie in any range, if ranges overlap little; by doubling, if they overlap much.
    """
    out = np.full(len(ranges.starts), -np.inf, dtype=np.result_type(values.dtype, np.float32))
    some = ranges.stops > ranges.starts
    if not some.any():
        return out
    inner = Ranges(starts=ranges.starts[some], stops=ranges.stops[some])
    if int((inner.stops - inner.starts).sum()) > 4 * len(values):
        out[some] = window_maxima(values, inner)
        return out
    # reduceat takes pairs of ends; an end behind the last value cannot be named, so that one is cut off there
    edges = np.stack([inner.starts, inner.stops], axis=1).ravel()
    padded = values if edges[-1] < len(values) else np.append(values, values[-1])
    out[some] = np.maximum.reduceat(padded, edges)[::2]
    return out


def nearest_alarms(events: IntArray, alarms: IntArray, when: npt.NDArray[Any] | None, ranges: Ranges) -> FloatArray:
    """Signed distance from each event to its nearest prediction, prediction minus event, in the unit of ``when``.

    ``when`` has the time of each step; without it the steps themselves are the time.

    A prediction that counts for the event goes before one that does not (they differ only when the tolerance is
    asymmetric); of two equally near ones the earlier is taken. NaN where there is no prediction at all.
    """
    if len(alarms) == 0:
        return np.full(len(events), np.nan)
    counts = within(alarms, ranges) > 0
    # those that count, and all of them where none does
    starts, stops = np.where(counts, ranges.starts, 0), np.where(counts, ranges.stops, alarms[-1] + 1)
    last = np.searchsorted(alarms, np.minimum(events, stops)) - 1
    first = np.searchsorted(alarms, np.maximum(events, starts))
    earlier, later = alarms[np.maximum(last, 0)], alarms[np.minimum(first, len(alarms) - 1)]
    has_earlier, has_later = (last >= 0) & (earlier >= starts), (first < len(alarms)) & (later < stops)
    at, before, after_it = (steps if when is None else when[steps] for steps in (events, earlier, later))
    lead = np.where(has_earlier, _elapsed(before, at), np.inf)
    lag = np.where(has_later, _elapsed(at, after_it), np.inf)
    take_earlier = lead <= lag + (0.0 if when is None else rounding(when))
    return np.where(take_earlier, -lead, lag) + 0.0  # no negative zero


def first_alarms(begins: AnyArray, alarms: IntArray, when: AnyArray, ranges: Ranges) -> FloatArray:
    """Signed time from each event's start to the first prediction in its range of steps, or else to the nearest one.

    ``when`` has the time of each step. Of two equally near predictions the earlier is taken; NaN where there is none at
    all.
    """
    if len(alarms) == 0:
        return np.full(len(begins), np.nan)
    first = np.searchsorted(alarms, ranges.starts)
    inside = first < np.searchsorted(alarms, ranges.stops)
    times = when[alarms]
    after = np.searchsorted(times, begins)
    earlier, later = times[np.maximum(after - 1, 0)], times[np.minimum(after, len(times) - 1)]
    lead = _elapsed(earlier, begins) <= _elapsed(begins, later) + rounding(when)
    near = np.where((after > 0) & ((after == len(times)) | lead), earlier, later)
    taken = np.where(inside, times[np.minimum(first, len(times) - 1)], near)
    return np.where(taken < begins, -_elapsed(taken, begins), _elapsed(begins, taken)) + 0.0


def _elapsed(since: npt.NDArray[Any], until: npt.NDArray[Any]) -> FloatArray:
    if since.dtype.kind == "i":  # differences modulo 2**64 are right even where int64 overflows, beyond 292 years of ns
        return np.asarray(until.view(np.uint64) - since.view(np.uint64), dtype=np.float64)
    return np.asarray(until - since, dtype=np.float64)
