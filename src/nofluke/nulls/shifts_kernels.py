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
def touched(starts, stops, moved_starts, moved_stops, n):  # type: ignore[no-untyped-def]
    """How many of the fixed ranges meet a moved one, for the moved ones shifted by 0..n-1: `shifts._by_intervals`."""
    hits = np.zeros(n, dtype=np.int64)
    last = moved_stops.size - 1
    for moved in range(last + 1):
        gap = moved_stops[moved] - (moved_stops[moved - 1] if moved > 0 else moved_stops[last] - n)
        length = moved_stops[moved] - moved_starts[moved]
        for fixed in range(starts.size):
            begin = starts[fixed] - moved_stops[moved] + 1
            begin += n if begin < 0 else 0
            end = begin + min(stops[fixed] - starts[fixed] - 1 + length, gap)
            hits[begin] += 1
            if end > n:  # it goes on from 0
                hits[0] += 1
                end -= n
            if end < n:
                hits[end] -= 1
    for shift in range(1, n):
        hits[shift] += hits[shift - 1]
    return hits


@compiled()
def overlaps(moved_starts, moved_stops, starts, stops, n):  # type: ignore[no-untyped-def]
    """How many steps of the moved ranges lie in a fixed one, for shifts by 0..n-1: `shifts._overlap` of few pairs."""
    slope = np.zeros(n, dtype=np.int64)
    own = 0
    for moved in range(moved_starts.size):
        for fixed in range(starts.size):
            own += max(min(stops[fixed], moved_stops[moved]) - max(starts[fixed], moved_starts[moved]), 0)
            slope[(starts[fixed] - moved_stops[moved]) % n] += 1
            slope[(starts[fixed] - moved_starts[moved]) % n] -= 1
            slope[(stops[fixed] - moved_stops[moved]) % n] -= 1
            slope[(stops[fixed] - moved_starts[moved]) % n] += 1
    total = 0
    for shift in range(1, n):
        slope[shift] += slope[shift - 1]
    for shift in range(n):
        total += slope[shift]
    rise = total // n  # around the circle, what rises falls
    hits = np.empty(n, dtype=np.int64)
    hits[0] = own
    for shift in range(1, n):
        hits[shift] = hits[shift - 1] + slope[shift - 1] - rise
    return hits
