"""Hits of both sides for shifts of one against the other: around a circle, or a little way with mirrored borders.

A shift by s moves the events s steps later. Points move themselves; whole ranges stay where they are, so that none is
ever cut in two, and the alarms move s steps earlier instead. Everything is counted in whole numbers.

The section "Rotations of ranges" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, IntArray
from nofluke.compiled import Patience
from nofluke.series.counting import flags_of, in_ranges, nonempty, runs, touching, union, within
from nofluke.series.tolerance import Ranges
from nofluke.series.trial import Cell

FEW_PAIRS = 0.5  # for each step: up to so many, pairs of ranges are counted sooner than by a transform
PAIRS_PER_STEP = 10  # a Fourier transform of T steps costs about as much as this many intervals for each step
COMPILED_PAIRS_PER_STEP = 30
LARGEST_FACTOR = 150  # prime factor of a length up to which its transform is fast
AT_ONCE = 4_000_000  # pairs of ranges looked at together
FEW_MET = 20_000  # pairs of ranges, and steps, up to which small shifts are counted as on a circle
LOOPS = Patience.of_module("nofluke.nulls.shifts_kernels")


def around(cell: Cell, circle: int, shifts: range | None = None) -> tuple[IntArray, IntArray]:
    """Recall's and precision's hits for shifts around the circle of the first so many steps: by 0, 1, ..., or by some.

    What lies behind the circle stays where it is. Windows do not wrap: a rotated sequence is evaluated like any other.
    The shifts follow one another; one by -1 is that by all steps of the circle but one.
    """
    shifts = range(circle) if shifts is None else shifts
    if cell.n_events == 0 or len(cell.alarms) == 0:
        return np.zeros(len(shifts), dtype=np.int64), np.zeros(len(shifts), dtype=np.int64)
    if cell.truth.points:
        return _recall_of_points(cell, circle, shifts), _precision_of_points(cell, circle, shifts)
    return _recall_of_ranges(cell, circle, shifts), _precision_of_ranges(cell, circle, shifts)


def _recall_of_points(cell: Cell, n: int, shifts: range) -> IntArray:
    """Events that land near a prediction."""
    zone, events = cell.zone, cell.truth.starts
    if n == cell.n_steps:
        return _overlap(cell.truth.runs, zone, n, shifts)
    behind = int(np.count_nonzero(in_ranges(events[events >= n], zone)))
    return behind + _overlap(runs(events[events < n]), _before(zone, n), n, shifts)


def _precision_of_points(cell: Cell, n: int, shifts: range) -> IntArray:
    """Predictions, or episodes of them, that an event lands near."""
    events, found = cell.truth.starts, cell.stretches
    if n == cell.n_steps and found.single:  # nothing stays behind
        return touched_by_shift(nonempty(Ranges(starts=found.starts, stops=found.stops)), cell.truth.runs, n, shifts)
    # what an event behind the circle hits, every rotation does
    hit = within(events[events >= n], Ranges(starts=found.starts, stops=found.stops)) > 0
    stops = np.minimum(found.stops, n)
    moving = ~np.isin(found.of, found.of[hit]) & (stops > found.starts)
    starts, stops, of = found.starts[moving], stops[moving], found.of[moving]
    alone = np.bincount(of)[of] == 1 if len(of) else moving[:0]
    hits = touched_by_shift(Ranges(starts=starts[alone], stops=stops[alone]), runs(events[events < n]), n, shifts)
    for one in np.unique(of[~alone]):  # episodes whose windows leave holes
        hits += _of_these(_touched_together(starts[of == one], stops[of == one], events[events < n], n), shifts)
    return found.count(hit) + hits


def _recall_of_ranges(cell: Cell, n: int, shifts: range) -> IntArray:
    """Ranges with a prediction near them, the predictions rotated the other way."""
    alarms, windows, other_way = cell.alarms, cell.trial.event_windows[cell.d], range(1 - shifts.stop, 1 - shifts.start)
    if n == cell.n_steps:  # nothing stays behind
        return touched_by_shift(nonempty(windows), cell.episodes, n, other_way)[::-1]
    always = within(alarms[alarms >= n], windows) > 0
    fixed = nonempty(Ranges(starts=windows.starts[~always], stops=np.minimum(windows.stops[~always], n)))
    return int(np.count_nonzero(always)) + touched_by_shift(fixed, _before(cell.episodes, n), n, other_way)[::-1]


def _precision_of_ranges(cell: Cell, n: int, shifts: range) -> IntArray:
    """Predictions near a range; or episodes, of which one that is cut at the seam counts once."""
    near, alarms, episodes = cell.trial.zones.near[cell.d], cell.alarms, cell.episodes
    if cell.trial.count_alarms == "steps":
        if n == cell.n_steps:
            return _overlap(near, episodes, n, shifts)
        fixed = int(np.count_nonzero(in_ranges(alarms[alarms >= n], near)))
        return fixed + _overlap(_before(near, n), _before(episodes, n), n, shifts)
    moving = episodes.stops <= n
    staying = Ranges(starts=episodes.starts[~moving], stops=episodes.stops[~moving])
    rotated = Ranges(starts=episodes.starts[moving], stops=episodes.stops[moving])
    return int(np.count_nonzero(touching(staying, near))) + touched_by_shift(rotated, _before(near, n), n, shifts)


def _before(ranges: Ranges, n: int) -> Ranges:
    """What of ranges lies on the first n steps."""
    return nonempty(Ranges(starts=ranges.starts, stops=np.minimum(ranges.stops, n)))


def _of_these(hits: AnyArray, shifts: range) -> AnyArray:
    """Hits of some shifts, out of those of all around the circle.

    >>> _of_these(np.array([0, 1, 2, 3]), range(-1, 2))
    array([3, 0, 1])
    """
    n = len(hits)
    if len(shifts) == n and shifts.start == 0:
        return hits
    return np.take(hits, np.arange(shifts.start, shifts.stop), mode="wrap")


def _overlap(moved: Ranges, fixed: Ranges, n: int, shifts: range) -> IntArray:
    """How many steps of the moved ranges lie in a fixed one, for shifts around the circle.

    Neither of them overlap each other. What two of them share is a trapezoid over the shifts, whose slope changes at
    four of these.

    >>> one, two = Ranges(starts=np.array([0]), stops=np.array([2])), Ranges(starts=np.array([3]), stops=np.array([5]))
    >>> _overlap(one, two, 5, range(5)), _overlap(one, two, 5, range(-1, 1))
    (array([0, 0, 1, 2, 1]), array([1, 0]))
    """
    if len(moved.starts) * len(fixed.starts) > FEW_PAIRS * n:
        return _of_these(_correlation(flags_of(moved, n), flags_of(fixed, n)), shifts)
    loops = LOOPS.loops(_seconds(len(moved.starts) * len(fixed.starts), n), "overlaps")
    if loops is not None:
        given = (moved.starts, moved.stops, fixed.starts, fixed.stops)  # in one layout: each is compiled by itself
        return np.asarray(loops.overlaps(*map(np.ascontiguousarray, given), n, shifts.start % n, len(shifts)))
    begins, ends = fixed.starts[:, None], fixed.stops[:, None]
    slope = np.zeros(n, dtype=np.int64)
    for bend, at in (
        (1, begins - moved.stops),
        (-1, begins - moved.starts),
        (-1, ends - moved.stops),
        (1, ends - moved.starts),
    ):
        slope += bend * np.bincount((at % n).ravel(), minlength=n)
    np.cumsum(slope, out=slope)
    slope -= slope.sum() // n  # around the circle, what rises falls
    shared = np.minimum(ends, moved.stops) - np.maximum(begins, moved.starts)
    hits = np.empty(n, dtype=np.int64)
    hits[0] = np.maximum(shared, 0).sum()
    np.cumsum(slope[:-1], out=hits[1:])
    hits[1:] += hits[0]
    return _of_these(hits, shifts)


def touched_by_shift(fixed: Ranges, moved: Ranges, n: int, shifts: range | None = None) -> IntArray:
    """How many of the fixed ranges meet a moved one, for the moved ones shifted around the circle: by 0..n-1, or some.

    Fixed ranges of the same length share one transform. Lengths that few have are counted as intervals of shifts
    instead, one for each pair. The moved ranges ascend and do not touch; neither are empty.

    >>> one, two = Ranges(starts=np.array([0]), stops=np.array([2])), Ranges(starts=np.array([3]), stops=np.array([4]))
    >>> touched_by_shift(one, two, 5)  # step 3 comes to 0 and 1 by shifts of 2 and 3
    array([0, 0, 1, 1, 0])
    """
    shifts = range(n) if shifts is None else shifts
    if len(fixed.starts) == 0 or len(moved.starts) == 0:
        return np.zeros(len(shifts), dtype=np.int64)
    if len(fixed.starts) * len(moved.starts) <= PAIRS_PER_STEP * n:
        return _by_intervals(fixed.starts, fixed.stops, moved, n, shifts)
    hits = np.zeros(n, dtype=np.int64)
    lengths, which = np.unique(fixed.stops - fixed.starts, return_inverse=True)
    pairs = np.bincount(which) * len(moved.starts)
    many = pairs > PAIRS_PER_STEP * n
    if pairs[~many].sum() > AT_ONCE:  # then they are counted by a compiled loop, which is faster
        many = pairs > COMPILED_PAIRS_PER_STEP * n
    flags = flags_of(moved, n) if many.any() else np.zeros(0, dtype=np.bool_)
    for at in np.flatnonzero(many):
        members = np.bincount(fixed.starts[which == at], minlength=n)
        hits += _correlation(_ahead(flags, int(lengths[at])), members)
    few = ~many[which]
    return _of_these(hits, shifts) + _by_intervals(fixed.starts[few], fixed.stops[few], moved, n, shifts)


def hits_by_rotation(fixed: Ranges, moved: Ranges, n: int) -> tuple[int, IntArray, IntArray]:
    """The hits as they are, all numbers of hits that rotations give, and by how many of the n each is given.

    The same as `touched_by_shift`, counted; of few ranges on many steps, only at the shifts where hits change.

    >>> one, two = Ranges(starts=np.array([0]), stops=np.array([2])), Ranges(starts=np.array([3]), stops=np.array([4]))
    >>> hits_by_rotation(one, two, 5)
    (0, array([0, 1]), array([3, 2]))
    """
    pairs = len(fixed.starts) * len(moved.starts)
    if pairs == 0 or 8 * pairs > n:
        hits = touched_by_shift(fixed, moved, n)
        counts = np.bincount(hits)
        own = int(hits[0])
    else:
        begins, ends = _intervals(fixed.starts, fixed.stops, moved, n)
        over = ends > n  # these go on from 0
        passed = int(np.count_nonzero(over))
        own = passed + int(np.count_nonzero((begins == 0) & ~over))
        at = np.concatenate([begins, np.minimum(ends, n), np.zeros(passed, dtype=np.int64), ends[over] - n])
        change = np.repeat([1, -1, 1, -1], [len(begins), len(ends), passed, passed])
        order = np.argsort(at, kind="stable")
        edges = np.concatenate([[0], at[order], [n]])
        height = np.concatenate([[0], np.cumsum(change[order])])
        counts = np.bincount(height, np.diff(edges)).astype(np.int64)
    values = np.flatnonzero(counts)
    return own, values, counts[values]


def _intervals(starts: IntArray, stops: IntArray, moved: Ranges, n: int) -> tuple[IntArray, IntArray]:
    """Shifts of one range onto another, pair by pair: an interval, cut where that of the next begins; it may pass n."""
    lengths, gaps = moved.stops - moved.starts, np.diff(moved.stops, prepend=moved.stops[-1] - n)
    begins = (starts[:, None] - moved.stops + 1) % n
    return begins.ravel(), (begins + np.minimum((stops - starts)[:, None] - 1 + lengths, gaps)).ravel()


def _by_intervals(starts: IntArray, stops: IntArray, moved: Ranges, n: int, shifts: range) -> IntArray:
    """The same, pair by pair: shifts of one range onto another form an interval, cut where the next begins."""
    pairs = len(starts) * len(moved.starts)
    loops = LOOPS.loops(_seconds(pairs, n), "touched") if pairs <= AT_ONCE else None
    if loops is not None:
        given = map(np.ascontiguousarray, (starts, stops, moved.starts, moved.stops))
        return np.asarray(loops.touched(*given, n, shifts.start % n, len(shifts)))
    # a range further back comes here later: its interval begins as many shifts later as it ends earlier
    lengths, gaps = moved.stops - moved.starts, np.diff(moved.stops, prepend=moved.stops[-1] - n)
    if pairs <= AT_ONCE:
        begins, ends = _intervals(starts, stops, moved, n)
        # intervals may run over the end once: folded below
        change = np.bincount(begins, minlength=2 * n + 1) - np.bincount(ends, minlength=2 * n + 1)
    else:
        from nofluke.nulls.shifts_kernels import count_changes

        change = np.zeros(2 * n + 1, dtype=np.int64)
        round_trip = np.concatenate([moved.stops[-1:] - 2 * n, moved.stops - n, moved.stops])
        count_changes(starts, stops, round_trip, _twice(lengths), _twice(gaps), n, change)
    hits = np.cumsum(change[:-1], out=change[:-1])
    return _of_these(hits[:n] + hits[n:], shifts)


def _seconds(pairs: int, n: int) -> float:
    """What NumPy takes for pairs of ranges, about."""
    return 1e-4 + 2e-8 * pairs + 1e-8 * n


def _twice(values: IntArray) -> IntArray:
    """Of a circle, the last value and then all of them twice."""
    return np.concatenate([values[-1:], values, values])


def _touched_together(starts: IntArray, stops: IntArray, moved: IntArray, n: int) -> BoolArray:
    """Whether any of a few ranges holds a moved step, for the steps shifted by 0..n-1 around the circle."""
    flags = np.bincount(moved, minlength=n) > 0
    pairs = zip(starts.tolist(), stops.tolist(), strict=True)
    hits = [_ahead(flags, stop - start)[(start - np.arange(n)) % n] for start, stop in pairs]
    return np.asarray(np.any(hits, axis=0))


def nearby(cell: Cell, shifts: IntArray) -> tuple[IntArray, IntArray]:
    """Both hits for small shifts without wrapping: what leaves at a border meets the mirror image of what is there.

    Recall moves the events over the steps near a prediction, precision the predictions over the steps near an event, so
    that both keep their number.
    """
    n, reach, truth = cell.n_steps, int(np.abs(shifts).max(initial=0)), cell.truth
    if truth.points:
        events, near_alarm = Ranges(starts=truth.starts, stops=truth.stops), cell.zone
    else:
        events, near_alarm = nonempty(cell.trial.event_windows[cell.d]), cell.episodes
    alarms, near_event = cell.episodes, cell.trial.zones.near[cell.d]
    if cell.trial.count_alarms == "steps":
        alarms = Ranges(starts=cell.alarms, stops=cell.alarms + 1)
    recall = _met(events, _mirrored(near_alarm, n, reach), reach)
    precision = _met(alarms, _mirrored(near_event, n, reach), reach)
    return recall[reach - shifts], precision[reach + shifts]


def _mirrored(ranges: Ranges, n: int, reach: int) -> Ranges:
    """Ranges on n steps, with so many steps of their mirror image before the first and behind the last.

    >>> found = _mirrored(Ranges(starts=np.array([0, 4]), stops=np.array([1, 5])), 6, 2)
    >>> found.starts, found.stops
    (array([-1,  4,  7]), array([1, 5, 8]))
    """
    before, behind = int(ranges.starts.searchsorted(reach)), int(ranges.stops.searchsorted(n - reach, side="right"))
    if before == 0 and behind == len(ranges.starts):  # none is near a border
        return ranges
    near = slice(before), slice(behind, None)
    first, last = (Ranges(starts=ranges.starts[part][::-1], stops=ranges.stops[part][::-1]) for part in near)
    starts = np.concatenate([np.maximum(-first.stops, -reach), ranges.starts, 2 * n - last.stops])
    stops = np.concatenate([-first.starts, ranges.stops, np.minimum(2 * n - last.starts, n + reach)])
    return union(Ranges(starts=starts, stops=stops))


def _met(ranges: Ranges, zone: Ranges, reach: int) -> IntArray:
    """How many of the ranges meet a stretch of the zone, for the zone shifted by -reach, ..., reach.

    Shifts of a stretch onto a range form an interval, cut where that of the stretch before it begins.

    >>> zone = Ranges(starts=np.array([0, 5]), stops=np.array([1, 6]))
    >>> _met(Ranges(starts=np.array([2]), stops=np.array([4])), zone, 3)
    array([1, 1, 0, 0, 0, 1, 1])
    """
    circle = int(max(ranges.stops.max(initial=0), zone.stops.max(initial=0))) + 4 * reach
    if max(len(ranges.starts) * len(zone.starts), circle) <= FEW_MET:  # as on a circle, of which nothing comes around
        fixed = Ranges(starts=ranges.starts + reach, stops=ranges.stops + reach)
        moved = Ranges(starts=zone.starts + reach, stops=zone.stops + reach)
        return touched_by_shift(fixed, moved, circle, range(-reach, reach + 1))
    size = 2 * reach + 2
    change = np.zeros(size, dtype=np.int64)
    first = zone.stops.searchsorted(ranges.starts - reach, side="right")  # of those that come near
    many = zone.starts.searchsorted(ranges.stops + reach) - first
    at_a_time = max(AT_ONCE // int(many.max(initial=1)), 1)
    for part in (slice(begin, begin + at_a_time) for begin in range(0, len(many), at_a_time)):
        each, near = np.repeat(np.arange(len(many))[part], many[part]), many[part].cumsum()
        at = np.arange(len(each)) + np.repeat(first[part] - near + many[part], many[part])
        begins, ends = ranges.starts[each] - zone.stops[at] + 1, ranges.stops[each] - zone.starts[at]
        follows = each[1:] == each[:-1]
        ends[1:][follows] = np.minimum(ends[1:], begins[:-1])[follows]
        for edges, by in ((begins, 1), (ends, -1)):
            change += by * np.bincount(np.minimum(np.maximum(edges + reach, 0), size - 1), minlength=size)
    return np.cumsum(change[:-1])


def _ahead(flags: BoolArray, length: int) -> BoolArray:
    """Whether any flag lies in [t, t + length) around the circle."""
    n = len(flags)
    total = np.concatenate([[0], np.cumsum(np.concatenate([flags, flags[: min(length, n)]]))])
    t = np.arange(n)
    return np.asarray(total[t + min(length, n)] > total[t])


def _correlation(moved: AnyArray, fixed: AnyArray) -> IntArray:
    """For each shift s, at how many steps the moved flags meet the fixed ones: sum over t of moved[t - s] fixed[t]."""
    from scipy import fft

    n = len(moved)
    # a large prime factor makes a transform slow, and its work large: one of twice the length is folded instead
    size = n if _largest_factor(n) <= LARGEST_FACTOR else fft.next_fast_len(2 * n, real=True)
    values = np.zeros(size)
    values[:n] = moved
    spectrum = fft.rfft(values)
    np.conj(spectrum, out=spectrum)
    values[:n] = fixed
    spectrum *= fft.rfft(values)
    del values  # of long circles each of these takes a hundred megabytes
    counts = fft.irfft(spectrum, n=size, overwrite_x=True)
    if size > n:
        counts[1:n] += counts[size - n + 1 :]
    return np.asarray(np.rint(counts[:n]), dtype=np.int64)


def _largest_factor(n: int) -> int:
    """The largest prime factor."""
    divisor = 2
    while divisor * divisor <= n:
        if n % divisor:
            divisor += 1
        else:
            n //= divisor
    return n
