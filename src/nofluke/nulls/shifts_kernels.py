"""The compiled loop of :mod:`nofluke.nulls.shifts`; imported late, since numba takes a while to load."""

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
