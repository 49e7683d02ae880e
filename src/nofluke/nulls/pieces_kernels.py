"""Compiled loops over given shifts: both lists ascend, so that one walk along the circle counts a shift.

Each step of the walk goes on in one list or in the other, by adding a comparison instead of branching on it: a processor cannot
guess which it will be.
"""

from __future__ import annotations

import numpy as np

from nofluke.arrays import IntArray
from nofluke.compiled import compiled


@compiled()
def count_rotated(points: IntArray, starts: IntArray, stops: IntArray, n: int, shifts: IntArray) -> IntArray:
    """Points in one of the disjoint ranges, for shifts of the points by 0..n-1."""
    found = np.zeros(len(shifts), dtype=np.int64)
    for i in range(len(shifts)):
        first = np.searchsorted(points, n - shifts[i])  # from here on they come round to the beginning
        at = 0
        for comes_round in (True, False):
            j, end = (first, len(points)) if comes_round else (0, first)
            by = shifts[i] - n if comes_round else shifts[i]
            while j < end and at < len(stops):
                t = points[j] + by
                past = stops[at] <= t
                found[i] += (not past) & (starts[at] <= t)
                at += past
                j += not past
    return found


@compiled()
def touched_rotated(starts: IntArray, stops: IntArray, points: IntArray, n: int, shifts: IntArray) -> IntArray:
    """Windows with a point, for shifts of the points by 0..n-1: the windows turn the other way."""
    found = np.zeros(len(shifts), dtype=np.int64)
    for i in range(len(shifts)):
        first = np.searchsorted(starts, shifts[i])  # those before it come round to the end
        at = 0
        for comes_round in (False, True):
            j, end = (0, first) if comes_round else (first, len(starts))
            by = n - shifts[i] if comes_round else -shifts[i]
            while j < end and at < len(points):
                before = points[at] < starts[j] + by
                found[i] += (not before) & (points[at] < stops[j] + by)
                at += before
                j += not before
            for rest in range(j, end):  # behind the last point the first comes next
                found[i] += points[0] + n < stops[rest] + by
    return found
