"""Compiled loops of :mod:`nofluke.nulls.shifts`; imported late, since numba takes a while to load."""

from __future__ import annotations

import numpy as np

from nofluke.compiled import compiled

BLOCK = 1 << 14  # shifts looked at together: their counts stay in the cache, which far apart ones would not


@compiled()
def count_changes(starts, stops, moved_stops, lengths, gaps, n, change):  # type: ignore[no-untyped-def]
    """Add to ``change`` where intervals of shifts begin and end: one for each pair of a fixed and a moved range.

    The moved ranges are given around the circle: the last one two circles before, all of them one circle before, and
    all of them. As shifts grow, they meet a fixed range from the last one that ends before it backwards.
    """
    at = np.searchsorted(moved_stops, starts + 1, side="right") - 1
    for first in range(0, n, BLOCK):
        behind = min(first + BLOCK, n)
        for fixed in range(starts.size):
            moved = at[fixed]
            begin = starts[fixed] + 1 - moved_stops[moved]
            while begin < behind:
                end = begin + min(stops[fixed] - starts[fixed] - 1 + lengths[moved], gaps[moved])
                change[begin] += 1
                change[end] -= 1
                moved -= 1
                begin = starts[fixed] + 1 - moved_stops[moved]
            at[fixed] = moved


@compiled()
def touched(starts, stops, moved_starts, moved_stops, n, first, many):  # type: ignore[no-untyped-def]
    """How many of the fixed ranges meet a moved one, for so many shifts from the first on: `shifts._by_intervals`."""
    hits = np.zeros(many, dtype=np.int64)
    last = moved_stops.size - 1
    for moved in range(last + 1):
        gap = moved_stops[moved] - (moved_stops[moved - 1] if moved > 0 else moved_stops[last] - n)
        length = moved_stops[moved] - moved_starts[moved]
        for fixed in range(starts.size):
            begin = starts[fixed] - moved_stops[moved] + 1 - first
            while begin < 0:
                begin += n
            end = begin + min(stops[fixed] - starts[fixed] - 1 + length, gap)
            if begin < many:
                hits[begin] += 1
            if end > n:  # it goes on from the first
                hits[0] += 1
                end -= n
            if end < many:
                hits[end] -= 1
    for shift in range(1, many):
        hits[shift] += hits[shift - 1]
    return hits


@compiled()
def on_circle(step, n):  # type: ignore[no-untyped-def]
    """A step that lies less than two circles before the first one, or on the circle or just behind it: no division."""
    while step < 0:
        step += n
    return step if step < n else step - n


@compiled()
def overlaps(moved_starts, moved_stops, starts, stops, n, first, many):  # type: ignore[no-untyped-def]
    """How many steps of the moved ranges lie in a fixed one, for so many shifts from the first on: `shifts._overlap`.

    Counted out for the first two shifts; from then on, what a shift adds changes where ends of two ranges meet.
    """
    change = np.zeros(n, dtype=np.int64)
    hits = np.zeros(max(many, 2), dtype=np.int64)
    for moved in range(moved_starts.size):
        for fixed in range(starts.size):
            for i in range(2):
                for by in (first + i, first + i - n):
                    behind = min(stops[fixed], moved_stops[moved] + by)
                    hits[i] += max(behind - max(starts[fixed], moved_starts[moved] + by), 0)
            change[on_circle(starts[fixed] - moved_stops[moved] - first, n)] += 1
            change[on_circle(starts[fixed] - moved_starts[moved] - first, n)] -= 1
            change[on_circle(stops[fixed] - moved_stops[moved] - first, n)] -= 1
            change[on_circle(stops[fixed] - moved_starts[moved] - first, n)] += 1
    rise = hits[1] - hits[0]
    for i in range(2, many):
        rise += change[i - 1]
        hits[i] = hits[i - 1] + rise
    return hits[:many]
