"""Counting: windows of steps, maxima in them, and what lies within."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from nofluke.arrays import AnyArray, BoolArray, FloatArray, IntArray
from nofluke.lazy import Keeper, lazy
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
        reached = np.bincount(thresholds.searchsorted(values, side="right"), minlength=len(thresholds) + 1)
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


def runs(alarms: IntArray) -> Ranges:
    """The runs of ascending steps that follow one another.

    >>> found = runs(np.array([1, 2, 5, 7, 8]))
    >>> found.starts, found.stops
    (array([1, 5, 7]), array([3, 6, 9]))
    """
    if len(alarms) == 0:
        return Ranges(starts=alarms, stops=alarms)
    first, last = ends_of(alarms[1:] - alarms[:-1] > 1)
    return Ranges(starts=alarms[first], stops=alarms[last] + 1)


def ends_of(apart: BoolArray) -> tuple[BoolArray, BoolArray]:
    """Which of n + 1 things in a row are the first, and which the last of theirs; n tell where another one begins.

    >>> ends_of(np.array([True, False]))
    (array([ True,  True, False]), array([ True, False,  True]))
    """
    edges = np.empty(len(apart) + 2, dtype=np.bool_)
    edges[0] = edges[-1] = True
    edges[1:-1] = apart
    return edges[:-1], edges[1:]


def nonempty(ranges: Ranges) -> Ranges:
    """Without the ranges that hold no step."""
    some = ranges.stops > ranges.starts
    if np.count_nonzero(some) == len(some):
        return ranges
    return Ranges(starts=ranges.starts[some], stops=ranges.stops[some])


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
    first, last = ends_of(starts[1:] > stops[:-1])
    return Ranges(starts=starts[first], stops=stops[last])


def total(ranges: Ranges) -> int:
    """Steps in ranges that do not overlap."""
    return int((ranges.stops - ranges.starts).sum())


def in_ranges(steps: AnyArray, ranges: Ranges) -> BoolArray:
    """Whether each step lies in one of the ranges, which ascend and do not overlap."""
    if len(ranges.starts) == 0:
        return np.zeros(np.shape(steps), dtype=np.bool_)
    before = ranges.starts.searchsorted(steps, side="right") - 1
    return np.asarray((before >= 0) & (steps < ranges.stops[np.maximum(before, 0)]))


def within(steps: IntArray, ranges: Ranges) -> IntArray:
    """How many of the ascending steps lie in each range."""
    found = steps.searchsorted(ranges.stops) - steps.searchsorted(ranges.starts)
    return np.asarray(np.maximum(found, 0), dtype=np.int64)


def touching(ranges: Ranges, others: Ranges) -> BoolArray:
    """Whether each range shares a step with any of the others, all of them ascending, apart and not empty."""
    before_end = others.starts.searchsorted(ranges.stops, side="left")
    return np.asarray(before_end > others.stops.searchsorted(ranges.starts, side="right"))


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


def nearest_alarms(
    events: IntArray, alarms: IntArray, when: npt.NDArray[Any] | None, ranges: Ranges, found: BoolArray
) -> FloatArray:
    """Signed distance from each event to its nearest prediction, prediction minus event, in the unit of ``when``.

    ``when`` has the time of each step; without it the steps themselves are the time. ``found`` says whether each
    range, of steps on which a prediction counts for the event, holds one.

    A prediction that counts for the event goes before one that does not (they differ only when the tolerance is
    asymmetric); of two equally near ones the earlier is taken. NaN where there is no prediction at all.
    """
    if len(alarms) == 0:
        return np.full(len(events), np.nan)
    starts, stops = ranges.starts, ranges.stops
    if np.count_nonzero(found) < len(found):  # those that count, and all of them where none does
        starts, stops = np.where(found, starts, 0), np.where(found, stops, alarms[-1] + 1)
    last = alarms.searchsorted(np.minimum(events, stops)) - 1
    first = alarms.searchsorted(np.maximum(events, starts))
    earlier, later = alarms.take(last, mode="clip"), alarms.take(first, mode="clip")
    has_earlier, has_later = (last >= 0) & (earlier >= starts), (first < len(alarms)) & (later < stops)
    before: AnyArray
    behind: AnyArray
    if when is None:
        before, behind, close = events - earlier, later - events, 0.0
    else:
        at, close = when[events], rounding(when)
        before, behind = _elapsed(when[earlier], at), _elapsed(at, when[later])
    lead, lag = np.where(has_earlier, before, np.inf), np.where(has_later, behind, np.inf)
    return np.where(lead <= lag + close, -lead, lag) + 0.0  # no negative zero


def first_alarms(begins: AnyArray, alarms: IntArray, when: AnyArray, ranges: Ranges) -> FloatArray:
    """Signed time from each event's start to the first prediction in its range of steps, or else to the nearest one.

    ``when`` has the time of each step. Of two equally near predictions the earlier is taken; NaN where there is none at
    all.
    """
    if len(alarms) == 0:
        return np.full(len(begins), np.nan)
    first = alarms.searchsorted(ranges.starts)
    inside = first < alarms.searchsorted(ranges.stops)
    times = when[alarms]
    after = times.searchsorted(begins)
    earlier, later = times[np.maximum(after - 1, 0)], times[np.minimum(after, len(times) - 1)]
    lead = _elapsed(earlier, begins) <= _elapsed(begins, later) + rounding(when)
    near = np.where((after > 0) & ((after == len(times)) | lead), earlier, later)
    taken = np.where(inside, times[np.minimum(first, len(times) - 1)], near)
    return np.where(taken < begins, -_elapsed(taken, begins), _elapsed(begins, taken)) + 0.0


def last_alarms(ends: AnyArray, alarms: IntArray, last: AnyArray, when: AnyArray, ranges: Ranges) -> FloatArray:
    """Signed time from each event's end to the end of the last alarm in its range of steps; NaN where there is none.

    ``last`` has the step on which the alarm of each predicted step ends, ``when`` the time of each step.
    """
    found = alarms.searchsorted(ranges.stops) - 1
    inside = found >= alarms.searchsorted(ranges.starts)
    if not inside.any():
        return np.full(len(ends), np.nan)
    until = when[last[np.maximum(found, 0)]]
    signed = np.where(until < ends, -_elapsed(until, ends), _elapsed(ends, until)) + 0.0
    return np.where(inside, signed, np.nan)


def _elapsed(since: npt.NDArray[Any], until: npt.NDArray[Any]) -> FloatArray:
    if since.dtype.kind == "i":  # differences modulo 2**64 are right even where int64 overflows, beyond 292 years of ns
        return np.asarray(until.view(np.uint64) - since.view(np.uint64), dtype=np.float64)
    return np.asarray(until - since, dtype=np.float64)


# ---- windows of the predictions, the steps they cover together


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowBlocks:
    """Maximal stretches of steps on which an event covers the same predictions ``g, g+1, ..., h-1`` (h > g)."""

    length: IntArray
    g: IntArray
    h: IntArray


def cut(length: IntArray, longest: int) -> tuple[IntArray, IntArray]:
    """Blocks cut into nearly equal pieces of at most ``longest`` steps: of which block each piece is, and its length.

    >>> cut(np.array([2, 7]), 3)
    (array([0, 1, 1, 1]), array([2, 3, 2, 2]))
    """
    pieces = -(-length // longest)
    block = np.repeat(np.arange(len(length)), pieces)
    place = np.arange(len(block)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    return block, length[block] // pieces[block] + (place < length[block] % pieces[block])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stretches:
    """Where an event makes a hit of a prediction: half-open ranges of steps, of which a prediction may have several.

    Attributes
    ----------
    starts, stops : int64 arrays, both nondecreasing
    of : int64 array, nondecreasing
        Which prediction each belongs to. Between two of the same prediction lies no step of any other.
    """

    starts: IntArray = field(repr=False)
    stops: IntArray = field(repr=False)
    of: IntArray = field(repr=False)

    @classmethod
    def joined(cls, starts: IntArray, stops: IntArray, of: IntArray) -> Stretches:
        """Ranges of the same prediction that overlap or touch made one.

        >>> made = Stretches.joined(np.array([0, 1, 4, 5]), np.array([2, 3, 6, 7]), np.array([0, 0, 0, 1]))
        >>> made.starts, made.stops, made.of
        (array([0, 4, 5]), array([3, 6, 7]), array([0, 0, 1]))
        """
        if len(of) == 0:
            return cls(starts=starts, stops=stops, of=of)
        first, last = ends_of((of[1:] > of[:-1]) | (starts[1:] > stops[:-1]))
        return cls(starts=starts[first], stops=stops[last], of=of[first])

    @property
    def single(self) -> bool:
        """Whether each prediction has one."""
        return len(self.of) == 0 or len(self.of) == int(self.of[-1]) + 1

    def windows(self, n_steps: int) -> Windows:
        """One window for each prediction.

        Steps between two stretches of a prediction hold no window at all: they are counted behind all others, which is
        the same to events that fall on any step alike.
        """
        if self.single:
            return Windows(starts=self.starts, stops=self.stops, n_steps=n_steps)
        same = self.of[1:] == self.of[:-1]
        holes = np.append(0, np.cumsum(np.where(same, self.starts[1:] - self.stops[:-1], 0)))
        first, last = ends_of(~same)
        return Windows(starts=(self.starts - holes)[first], stops=(self.stops - holes)[last], n_steps=n_steps)

    def hit_from(self, steps: IntArray) -> tuple[IntArray, IntArray]:
        """The predictions that an event on each step turns into hits: first up to, not including, last; or 0, 0."""
        first = self.stops.searchsorted(steps, side="right")
        last = self.starts.searchsorted(steps, side="right")
        some = last > first
        owners = np.append(self.of, 0)
        return np.where(some, owners[first], 0), np.where(some, owners[last - 1] + 1, 0)

    def count(self, hit: BoolArray) -> int:
        """How many predictions have a stretch that is hit."""
        return int(np.count_nonzero(hit)) if self.single else len(np.unique(self.of[hit]))


def newly_hit(first: IntArray, last: IntArray) -> IntArray:
    """Predictions hit, for each row of ascending events that hit those from ``first`` to ``last``: what each adds.

    >>> newly_hit(np.array([[0, 1, 0, 2]]), np.array([[2, 3, 0, 3]]))
    array([3])
    """
    before = np.zeros_like(last)
    before[:, 1:] = np.maximum.accumulate(last, axis=1)[:, :-1]
    return np.asarray(np.maximum(last - np.maximum(first, before), 0).sum(axis=1), dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class Windows(Keeper):
    """For each prediction, the half-open range of steps on which an event makes it a hit.

    Parameters
    ----------
    starts, stops : int64 arrays of length n
        Prediction i is a hit if an event falls on a step t with ``starts[i] <= t < stops[i]``. Both arrays are
        nondecreasing, as every tolerance gives them for predictions in time order. The exact laws are those of windows
        that are not empty: see `hittable`.
    n_steps : int
        T, the number of steps an event could fall on.
    """

    starts: IntArray = field(repr=False)
    stops: IntArray = field(repr=False)
    n_steps: int

    def __getstate__(self) -> dict[str, object]:
        """Without what can be worked out again."""
        return {"starts": self.starts, "stops": self.stops, "n_steps": self.n_steps}

    @property
    def n(self) -> int:
        """Number of predictions."""
        return len(self.starts)

    @lazy
    def hittable(self) -> Windows:
        """Without the windows that hold no step, and whose predictions nothing can hit."""
        some = self.stops > self.starts
        if np.count_nonzero(some) == len(some):
            return self
        return Windows(starts=self.starts[some], stops=self.stops[some], n_steps=self.n_steps)

    @lazy
    def blocks(self) -> WindowBlocks:
        """The blocks, in time order: at most 2n, however long the sequence and the tolerance are."""
        edges = np.concatenate([self.starts, self.stops])
        edges.sort(kind="stable")  # merges the two, which ascend
        left = edges[:-1]
        length = edges[1:] - left
        g = self.stops.searchsorted(left, side="right").astype(np.int64, copy=False)
        h = self.starts.searchsorted(left, side="right").astype(np.int64, copy=False)
        kept = (h > g) & (length > 0)  # edges that coincide have no step between them
        return WindowBlocks(length=length[kept], g=g[kept], h=h[kept])

    @lazy
    def reach(self) -> int:
        """The most predictions that one event can hit."""
        return int((self.blocks.h - self.blocks.g).max(initial=0))

    @lazy
    def covered(self) -> int:
        """D, the number of steps inside the union of all windows."""
        if self.n == 0:
            return 0
        gaps = np.maximum(self.starts[1:] - self.stops[:-1], 0).sum()
        return int(self.stops[-1] - self.starts[0] - gaps)

    @lazy
    def cluster_starts(self) -> IntArray:
        """First prediction of each cluster: windows of different clusters share no step."""
        if self.n == 0:
            return np.zeros(0, dtype=np.int64)
        return ends_of(self.starts[1:] >= self.stops[:-1])[0].nonzero()[0]
