"""Hits as a function of the shift, where there are too many shifts to look at one by one: they are piecewise constant.

Hits change only at a shift that brings a point to an edge of a window. So the break points are sorted, one for each
pair of a point and an edge, and the shifts between them are counted. The cost depends on the number of pairs and not on
that of shifts, of which there may be up to 2**62: no array here is as long as the circle. Everything is counted in
whole numbers.

The section "Shifts in pieces" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from nofluke.arrays import ByValue, IntArray
from nofluke.errors import InputError
from nofluke.series.counting import nonempty, union, within
from nofluke.series.tolerance import Ranges

MOST_PAIRS = 10**7  # pairs of a window and a point whose break points are sorted: about two seconds, and 1 GB


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pieces(ByValue):
    """A whole number for each of the shifts 0..n-1, constant from each start up to the next.

    Attributes
    ----------
    starts : array of int
        The first shift of each piece, ascending from 0.
    values : array of int
        The number that all shifts of a piece have.
    n : int
        The number of shifts.

    Examples
    --------
    >>> hits = Pieces(starts=np.array([0, 2, 10**17]), values=np.array([1, 0, 2]), n=10**18)
    >>> hits.at(np.array([0, 2, -1]))
    array([1, 0, 2])
    >>> hits.counts(2)
    array([ 99999999999999998,                  2, 900000000000000000])
    """

    starts: IntArray = field(repr=False)
    values: IntArray = field(repr=False)
    n: int

    @property
    def ends(self) -> IntArray:
        """Where each piece ends: the next one's start, or n."""
        return np.append(self.starts[1:], self.n)

    @property
    def lengths(self) -> IntArray:
        """The number of shifts in each piece."""
        return self.ends - self.starts

    def at(self, shifts: IntArray) -> IntArray:
        """The numbers at given shifts, of which those outside of 0..n-1 are taken around the circle."""
        return self.values[np.searchsorted(self.starts, shifts % self.n, side="right") - 1]

    def every_shift(self) -> IntArray:
        """The number of each shift, written out: for small n only."""
        return np.repeat(self.values, self.lengths)

    def counts(self, size: int) -> IntArray:
        """How many shifts have each of the numbers 0..size."""
        return self.counts_at_multiples(1, size)

    def counts_at_multiples(
        self, every: int | float, size: int, *, origin: int = 0, first: int = 0, stop: int | None = None
    ) -> IntArray:
        """How many of the shifts origin + k·every have each of the numbers 0..size, for all whole k.

        A stride that is not whole is rounded, each multiple for itself. ``first`` and ``stop`` leave out the shifts
        before the one and from the other on: a guard.

        >>> Pieces(starts=np.array([0, 4]), values=np.array([0, 1]), n=10).counts_at_multiples(3, 1)  # 0, 3; 6, 9
        array([2, 2])
        """
        last = self.n if stop is None else min(stop, self.n)
        edges = np.clip(np.append(self.starts, self.n), first, max(last, first)) - origin
        counts = np.zeros(size + 1, dtype=np.int64)
        np.add.at(counts, self.values, np.diff(_multiples_before(edges, every)))  # bincount would add up floats
        return counts

    def reversed(self) -> Pieces:
        """The same from the last shift to the first."""
        return Pieces(starts=(self.n - self.ends)[::-1], values=self.values[::-1], n=self.n)

    def joined(self, other: Pieces) -> tuple[Pieces, Pieces]:
        """Both with the starts that either has: their values then stand side by side, for a joint law."""
        if self.n != other.n:
            raise InputError(
                problem=f"other has {other.n:,} shifts, and this has {self.n:,}", remedy="join pieces of one circle"
            )
        starts = np.concatenate([self.starts, other.starts])
        starts.sort(kind="stable")
        starts = starts[np.append(True, starts[1:] > starts[:-1])]
        one, two = (Pieces(starts=starts, values=pieces.at(starts), n=self.n) for pieces in (self, other))
        return one, two

    def __add__(self, other: Pieces | int) -> Pieces:
        """Shift by shift the sum with another, or with one number for all."""
        if isinstance(other, Pieces):
            one, two = self.joined(other)
            return Pieces(starts=one.starts, values=one.values + two.values, n=self.n)
        return Pieces(starts=self.starts, values=self.values + other, n=self.n)

    __radd__ = __add__


def affordable(n_windows: int, n_points: int) -> bool:
    """Whether the break points of so many windows and points are few enough to be sorted."""
    return n_windows * n_points <= MOST_PAIRS


def count_around(points: IntArray, zone: Ranges, n: int) -> Pieces:
    """How many points lie in the zone, for the points shifted by 0..n-1 around the circle.

    Points ascend, and may come twice; the ranges of the zone ascend, do not overlap, and do not wrap.

    >>> zone = Ranges(starts=np.array([0, 4]), stops=np.array([2, 5]))
    >>> count_around(np.array([0, 3]), zone, 6).every_shift()
    array([1, 2, 0, 1, 2, 0])
    """
    zone = union(zone)
    begins, ends = _turns(zone.starts, points, n), _turns(zone.stops, points, n)
    return pieces_of(int(within(points, zone).sum()), begins, ends, n)


def touched_around(windows: Ranges, points: IntArray, n: int) -> Pieces:
    """How many windows hold at least one point, for the points shifted by 0..n-1 around the circle.

    Points ascend, and may come twice; windows may overlap and be empty, and do not wrap.

    >>> touched_around(Ranges(starts=np.array([0]), stops=np.array([2])), np.array([3]), 5).every_shift()
    array([0, 0, 1, 1, 0])
    """
    windows = nonempty(windows)
    if len(points) == 0:
        return constant(0, n)
    points = points[np.append(True, points[1:] > points[:-1])]
    # how far behind each point the next to come here is, around the circle
    behind = np.diff(points, prepend=points[-1] - n)
    ahead = np.append(behind[1:], behind[0])
    # where the next point arrives before one has left, or with it, the window stays touched: neither is a break point
    width = windows.stops - windows.starts
    begins = _turns(windows.starts, points, n, apart=ahead, more_than=width)
    ends = _turns(windows.stops, points, n, apart=behind, more_than=width)
    return pieces_of(int(np.count_nonzero(within(points, windows))), begins, ends, n)


def hits_around(windows: Ranges, near: Ranges, points: IntArray, n: int) -> tuple[Pieces, Pieces]:
    """Recall's and precision's hits for events shifted by 0..n-1 around the circle of the first n positions.

    Recall's are the points within ``near``, the zone near any alarm; precision's are the alarms' windows that hold a
    point. What lies behind the circle stays where it is.
    """
    moved, stays = points[points < n], points[points >= n]
    always = within(stays, windows) > 0
    recall = count_around(moved, cut(near, n), n) + int(within(stays, near).sum())
    moving = cut(Ranges(starts=windows.starts[~always], stops=windows.stops[~always]), n)
    return recall, touched_around(moving, moved, n) + int(np.count_nonzero(always))


def cut(ranges: Ranges, n: int) -> Ranges:
    """What of the ranges lies before n; ranges of which nothing does are left out."""
    return nonempty(Ranges(starts=ranges.starts, stops=np.minimum(ranges.stops, n)))


def constant(value: int, n: int) -> Pieces:
    """The same number for every shift."""
    return Pieces(starts=np.zeros(1, dtype=np.int64), values=np.array([value], dtype=np.int64), n=n)


def pieces_of(at_first: int, begins: IntArray, ends: IntArray, n: int) -> Pieces:
    """The pieces of a number that is known at shift 0, rises by one at each begin and falls by one at each end.

    What happens at 0 is known by then, and from n on nothing is asked.

    >>> pieces_of(2, np.array([7, 3]), np.array([3, 4, 5]), 10).every_shift()
    array([2, 2, 2, 2, 1, 0, 0, 1, 1, 1])
    """
    begins, ends = (edges[(edges > 0) & (edges < n)] for edges in (begins, ends))
    # position and sign in one number, in place: an indirect sort takes half as long again. Stable, since what comes
    # here are long ascending runs, and that sort makes use of them
    changes = np.concatenate([np.zeros(1, dtype=np.int64), begins, ends]).view(np.uint64)  # the first piece begins at 0
    changes <<= np.uint64(1)
    changes[1 + len(begins) :] |= np.uint64(1)
    changes.sort(kind="stable")
    values = np.cumsum(1 - 2 * (changes & np.uint64(1)).astype(np.int8), dtype=np.int64)
    values += at_first - 1
    changes >>= np.uint64(1)
    starts = changes.view(np.int64)
    last = np.append(starts[1:] > starts[:-1], True)  # of several changes at one shift
    starts, values = starts[last], values[last]
    changed = np.append(True, values[1:] != values[:-1])
    return Pieces(starts=starts[changed], values=values[changed], n=n)


def _turns(
    edges: IntArray, points: IntArray, n: int, *, apart: IntArray | None = None, more_than: IntArray | None = None
) -> IntArray:
    """The shift that takes each point to each edge, if the point is ``apart`` by ``more_than`` the edge's number."""
    wide = len(edges) >= len(points)  # the longer list makes the ascending runs
    turns = edges - points[:, None] if wide else edges[:, None] - points[::-1]
    turns += (turns >> 63) & n  # those below 0: the remainder, without a division
    if apart is None or more_than is None:
        return turns.ravel()
    return np.asarray(turns[apart[:, None] > more_than if wide else apart[::-1] > more_than[:, None]])


def _multiples_before(edges: IntArray, every: int | float) -> IntArray:
    """The smallest k whose k·every, rounded, is at or after each edge; differences count multiples between edges."""
    if every == int(every):
        return -(-edges // int(every))
    found = np.ceil(edges / every).astype(np.int64)
    while (too_far := np.rint((found - 1) * every) >= edges).any():
        found -= too_far
    while (too_near := np.rint(found * every) < edges).any():
        found += too_near
    return found
