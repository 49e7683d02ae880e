"""Hits at given shifts, such as random ones, one by one: for where there are too many pairs to find all break points.

No array is as long as the circle, and shifts are looked at in chunks.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nofluke.arrays import AnyArray, IntArray
from nofluke.nulls.pieces import cut
from nofluke.nulls.pieces_nearby import mirrored
from nofluke.series.counting import nonempty, union, within
from nofluke.series.tolerance import Ranges

AT_ONCE = 1_000_000  # shifts times points looked at together
LOOKED_UP = (
    50_000_000  # and how many are looked up one by one: more are worth a compiled loop, unless one list is far longer
)


def hits_at(windows: Ranges, near: Ranges, points: IntArray, n: int, shifts: IntArray) -> tuple[IntArray, IntArray]:
    """Recall's and precision's hits at the given shifts of `hits_around`."""
    moved, stays = points[points < n], points[points >= n]
    always = within(stays, windows) > 0
    moving = cut(Ranges(starts=windows.starts[~always], stops=windows.stops[~always]), n)
    recall = count_at(moved, cut(near, n), n, shifts) + int(within(stays, near).sum())
    return recall, touched_at(moving, moved, n, shifts) + int(np.count_nonzero(always))


def count_at(points: IntArray, zone: Ranges, n: int, shifts: IntArray) -> IntArray:
    """How many points lie in the zone, at each of the given shifts of the points around the circle.

    >>> zone = Ranges(starts=np.array([0]), stops=np.array([10**17]))
    >>> count_at(np.array([5, 10**17]), zone, 10**18, np.array([0, -1, 10**18 - 6]))
    array([1, 2, 1])
    """
    zone, shifts = union(zone), shifts % n
    if _worth_a_loop(len(points), len(zone.starts), len(shifts)):
        from nofluke.nulls.pieces_kernels import count_rotated

        return np.asarray(count_rotated(points, zone.starts, zone.stops, n, shifts))
    edges = _edges(zone)

    def inside(shift: IntArray) -> AnyArray:
        moved = points + shift  # below 2n
        moved -= n * (moved >= n)
        return np.searchsorted(edges, moved, side="right") & 1

    return _for_each(shifts, len(points), inside)


def touched_at(windows: Ranges, points: IntArray, n: int, shifts: IntArray) -> IntArray:
    """How many windows hold at least one point, at each of the given shifts of the points around the circle.

    >>> window = Ranges(starts=np.array([0]), stops=np.array([2]))
    >>> touched_at(window, np.array([3]), 5, np.arange(5))
    array([0, 0, 1, 1, 0])
    """
    windows, shifts = nonempty(windows), shifts % n
    if len(points) == 0:
        return np.zeros(len(shifts), dtype=np.int64)
    if _worth_a_loop(len(windows.starts), len(points), len(shifts)):
        from nofluke.nulls.pieces_kernels import touched_rotated

        return np.asarray(touched_rotated(windows.starts, windows.stops, points, n, shifts))
    onwards = np.append(points, points[0] + n)  # around the circle
    width = windows.stops - windows.starts

    def touched(shift: IntArray) -> AnyArray:
        begins = windows.starts - shift  # the windows move the other way
        begins += n * (begins < 0)
        return onwards[np.searchsorted(points, begins)] < begins + width

    return _for_each(shifts, len(width), touched)


def count_nearby_at(points: IntArray, zone: Ranges, n: int, shifts: IntArray) -> IntArray:
    """How many points lie in the zone or its mirror image, at each of the given small shifts to either side.

    >>> zone = Ranges(starts=np.array([1]), stops=np.array([3]))
    >>> count_nearby_at(np.array([0]), zone, 6, np.array([-3, -2, -1, 0, 1, 2, 3]))
    array([1, 1, 0, 0, 1, 1, 0])
    """
    edges = _edges(mirrored(zone, n, int(np.abs(shifts).max(initial=0))))
    return _for_each(shifts, len(points), lambda shift: np.searchsorted(edges, points + shift, side="right") & 1)


def _edges(zone: Ranges) -> IntArray:
    """Starts and stops in turn: behind an odd number of them lies the zone, whose ranges are apart."""
    return np.stack([zone.starts, zone.stops], axis=1).ravel()


def _worth_a_loop(n_moved: int, n_fixed: int, n_shifts: int) -> bool:
    """Whether a compiled walk along both lists is so much faster than looking up one in the other that numba may be loaded."""
    return n_moved * n_shifts > LOOKED_UP and n_fixed < 10 * n_moved


def _for_each(shifts: IntArray, width: int, hit: Callable[[IntArray], AnyArray]) -> IntArray:
    """How often each shift hits, a chunk of them at a time."""
    found = np.zeros(len(shifts), dtype=np.int64)
    rows = max(AT_ONCE // max(width, 1), 1)
    for first in range(0, len(shifts), rows):
        chunk = slice(first, first + rows)
        found[chunk] = np.count_nonzero(hit(shifts[chunk, None]), axis=1)
    return found
