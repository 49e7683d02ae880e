"""Shifts of events at their own times, all of them, piece by piece.

The section "Shifts in pieces" of docs/explanation/theory.md has the mathematics.
The section "The interior ratio" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from nofluke.arrays import AnyArray, ByValue, FloatArray, IntArray
from nofluke.errors import InputError
from nofluke.laws.counts import CountLaw
from nofluke.laws.exact.hypergeometric import hypergeometric_pmf
from nofluke.laws.law import How, Law, exactly
from nofluke.laws.tables import TableLaw
from nofluke.nulls.base import Joint
from nofluke.series.counting import in_ranges, newly_hit, nonempty, total, union, within
from nofluke.series.timed import TimedCell
from nofluke.series.tolerance import Ranges
from nofluke.series.trial import Cell

NEGLIGIBLE = 1e-18  # numbers of events that count with a smaller probability are left out


def out_of(hits: AnyArray, counted: AnyArray, observed: int) -> IntArray:
    """Hits out of the observed number of events, where chance has so many of another number; 0 where no event counts.

    >>> out_of(np.array([2, 0, 3]), np.array([4, 0, 3]), 6)
    array([3, 0, 6])
    """
    there = np.maximum(counted, 1)
    return np.where(counted > 0, hits * observed // there, 0).astype(np.int64)


def share_of(hits: AnyArray, counted: AnyArray, observed: int) -> FloatArray:
    """The same, not rounded down: for what is made of the ratio, such as F_β.

    >>> share_of(np.array([1, 0]), np.array([4, 0]), 6)
    array([1.5, 0. ])
    """
    return np.asarray(hits * observed / np.maximum(counted, 1), dtype=np.float64)  # without events that count, no hits


def common(one: Ranges, other: Ranges) -> Ranges:
    """What two sets of ranges have in common, each of them ascending and apart.

    >>> one = Ranges(starts=np.array([0, 8]), stops=np.array([5, 9]))
    >>> both = common(one, Ranges(starts=np.array([3]), stops=np.array([20])))
    >>> both.starts, both.stops
    (array([3, 8]), array([5, 9]))
    """
    edges = np.unique(np.concatenate([one.starts, one.stops, other.starts, other.stops]))
    left = edges[:-1]
    inside = [
        np.searchsorted(r.starts, left, side="right") > np.searchsorted(r.stops, left, side="right")
        for r in (one, other)
    ]
    kept = inside[0] & inside[1]
    return union(Ranges(starts=left[kept], stops=edges[1:][kept]))


def permuted(cell: Cell, counted: Ranges) -> TableLaw:
    """The ratio's law where events are permuted: hypergeometric hits among a hypergeometric number that count."""
    inner, found = total(counted), total(common(counted, cell.zone))
    n_events, observed = cell.n_events, cell.n_counted
    number = hypergeometric_pmf(cell.n_steps, inner, n_events)
    table, mean, square = np.zeros(observed + 1), 0.0, 0.0
    for many in np.flatnonzero(number > NEGLIGIBLE):
        weight = float(number[many])
        if many == 0:
            table[0] += weight
            continue
        pmf: FloatArray = weight * hypergeometric_pmf(inner, found, int(many))
        hits = np.arange(len(pmf))
        table += np.bincount(hits * observed // int(many), weights=pmf, minlength=observed + 1)[: observed + 1]
        mean += float(pmf @ hits) / int(many) * observed
        square += float(pmf @ (hits / int(many) * observed) ** 2)
    return TableLaw(
        table / table.sum(), mean=mean, var=max(square - mean**2, 0.0), method=exactly("hypergeometric ratio")
    )


def hits_of_counted(
    cell: TimedCell, placements: AnyArray, out_of: Callable[[AnyArray, AnyArray, int], AnyArray] = out_of
) -> dict[str, AnyArray]:
    """Both hits for each placement of the events, recall's out of the observed number of events that count."""
    rows = np.sort(np.asarray(placements, dtype=np.int64), axis=1)
    precision = newly_hit(*cell.stretches.hit_from(rows))
    counts = in_ranges(rows, cell.counted) if cell.counted is not None else np.ones(rows.shape, dtype=np.bool_)
    hits = np.count_nonzero(counts & in_ranges(rows, cell.zone), axis=1)
    return {"precision": precision, "recall": out_of(hits, np.count_nonzero(counts, axis=1), cell.n_counted)}


# ---- hits as a function of the shift, where there are too many shifts to look at one by one

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


# ---- hits as a function of a small shift, with mirrored borders: what `nearby` counts


def count_nearby(points: IntArray, zone: Ranges, n: int, reach: int) -> Pieces:
    """How many points lie in the zone or its mirror image when shifted by -reach..reach: shift 0 here is -reach.

    Points ascend in 0..n-1, and may come twice; the ranges of the zone ascend and do not overlap. The reach is below n.

    >>> zone = Ranges(starts=np.array([1]), stops=np.array([3]))
    >>> count_nearby(np.array([0]), zone, 6, 3).every_shift()  # the zone is 1 and 2, and -2 and -3 in the mirror
    array([1, 1, 0, 0, 1, 1, 0])
    """
    zone = mirrored(zone, n, reach)
    first, stop = _in_reach(points, zone, reach)
    many = stop - first
    which = np.repeat(np.arange(len(points)), many)
    at = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many - first, many)
    begins, ends = (
        zone.starts[at] - points[which] + reach,
        np.minimum(zone.stops[at] - points[which], reach + 1) + reach,
    )
    return pieces_of(int(np.count_nonzero(begins <= 0)), begins, ends, 2 * reach + 1)


def pairs_nearby(points: IntArray, zone: Ranges, n: int, reach: int) -> int:
    """How many pairs of a point and a range :func:`count_nearby` looks at: its cost, to compare with ``MOST_PAIRS``."""
    first, stop = _in_reach(points, mirrored(zone, n, reach), reach)
    return int((stop - first).sum())


def mirrored(zone: Ranges, n: int, reach: int) -> Ranges:
    """The zone with its mirror image up to so far before 0 and behind n - 1; ranges that then touch are one.

    >>> found = mirrored(Ranges(starts=np.array([0, 3]), stops=np.array([1, 4])), 5, 2)
    >>> found.starts, found.stops
    (array([-1,  3,  6]), array([1, 4, 7]))
    """
    starts, stops = zone.starts, zone.stops
    before = Ranges(starts=np.maximum(-stops[::-1], -reach), stops=-starts[::-1])
    # cut before it is moved, since 2n may lie beyond 64 bits
    behind = nonempty(Ranges(starts=n + (n - stops[::-1]), stops=n + np.minimum(n - starts[::-1], reach)))
    parts = [before, zone, behind]
    whole = Ranges(
        starts=np.concatenate([part.starts for part in parts]), stops=np.concatenate([part.stops for part in parts])
    )
    return union(whole)


def _in_reach(points: IntArray, zone: Ranges, reach: int) -> tuple[IntArray, IntArray]:
    """The first range of the zone that each point can come to, and the first behind it that it cannot."""
    first = np.searchsorted(zone.stops, points - reach, side="right")
    return first, np.searchsorted(zone.starts, points + reach, side="right")


# ---- shifts of events at their own times: hits are constant over stretches of shifts

MOST_LISTED = 2_000_000  # shifts that are written out one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class Strides:
    """Which shifts of the pieces count: ``origin``, the identity, and rounded multiples of ``every`` around it.

    From ``first`` on and before ``stop``, but for the identity, which always counts.
    """

    every: int | float
    origin: int
    first: int
    stop: int

    def counts(self, pieces: Pieces, size: int) -> IntArray:
        """How many shifts have each of the values 0 to size."""
        counts = pieces.counts_at_multiples(self.every, size, origin=self.origin, first=self.first, stop=self.stop)
        if not self.first <= self.origin < self.stop:
            counts[pieces.at(np.array([self.origin]))] += 1
        return counts

    def listed(self) -> IntArray:
        """The shifts themselves, the identity first."""
        low, high = int((self.first - self.origin) / self.every) - 1, int((self.stop - self.origin) / self.every) + 1
        shifts = self.origin + np.rint(np.arange(low, high + 1) * self.every).astype(np.int64)
        others = shifts[(shifts >= self.first) & (shifts < self.stop) & (shifts != self.origin)]
        behind = others > self.origin
        return np.concatenate([[self.origin], others[behind], others[~behind][::-1]])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ByShift:
    """Both hits by shift, and which shifts count: one set of them for each side, of the same number.

    ``counted`` are the events that count, where not all of them do.
    """

    recall: Pieces
    precision: Pieces
    counted: Pieces | None
    of_recall: Strides
    of_precision: Strides

    @property
    def n_shifts(self) -> int:
        """How many shifts count, the identity among them."""
        one = Pieces(starts=np.zeros(1, dtype=np.int64), values=np.zeros(1, dtype=np.int64), n=self.recall.n)
        return int(self.of_recall.counts(one, 0)[0])

    @property
    def listable(self) -> bool:
        """Whether shifts are few enough to list them all."""
        return self.n_shifts <= MOST_LISTED

    def _recall(self, cell: Cell) -> Pieces:
        """Recall's hits, out of the observed number of events that count."""
        if self.counted is None:
            return self.recall
        hits, counted = self.recall.joined(self.counted)
        return replace(hits, values=out_of(hits.values, counted.values, cell.n_counted))

    def laws(self, cell: Cell, how: How) -> dict[str, Law]:
        """The laws of both hits."""
        precision = self.of_precision.counts(self.precision, cell.n_predictions)
        recall = self.of_recall.counts(self._recall(cell), cell.n_counted)
        return {"precision": CountLaw(precision, how), "recall": CountLaw(recall, how)}

    def every_shift(self, cell: Cell) -> tuple[IntArray, IntArray]:
        """Recall's and precision's hits of all shifts that count, the identity first."""
        return self._recall(cell).at(self.of_recall.listed()), self.precision.at(self.of_precision.listed())

    def _found(self, cell: Cell, shifts: IntArray) -> AnyArray:
        """Recall's hits at some shifts, out of the observed number of events that count, and not rounded down."""
        hits = self.recall.at(shifts)
        return hits if self.counted is None else share_of(hits, self.counted.at(shifts), cell.n_counted)

    def joint(self, cell: Cell, how: How) -> Joint:
        """Pairs of both hits, with the number of shifts that have them as weights."""
        if self.of_recall != self.of_precision or self.recall.n != self.precision.n:
            recall, precision = (
                self._found(cell, self.of_recall.listed()),
                self.precision.at(self.of_precision.listed()),
            )
            weights = np.full(len(recall), 1 / len(recall))
            return Joint(recall_hits=recall, precision_hits=precision, weights=weights, method=how)
        cut = self.recall if self.counted is None else self.recall.joined(self.counted)[0]
        both_cut, precision_hits = cut.joined(self.precision)
        numbered = replace(both_cut, values=np.arange(len(both_cut.values)))
        weights = self.of_recall.counts(numbered, len(both_cut.values) - 1)
        return Joint(
            recall_hits=self._found(cell, both_cut.starts),
            precision_hits=precision_hits.values,
            weights=weights / self.n_shifts,
            method=how,
        )


def around(cell: TimedCell, circle: int, periods: int, every: float, guard: int) -> ByShift | None:
    """Both hits for shifts around the circle of the first so many places; None where there are too many pairs."""

    def found() -> ByShift | None:
        where = cell.stretches
        if not where.single:  # an episode may be hit in several places, and counts once
            return None
        windows, zone = in_places(cell, Ranges(starts=where.starts, stops=where.stops)), in_places(cell, cell.zone)
        events = cell.truth.places
        if not affordable(max(len(windows.starts), len(zone.starts)), len(events)):
            return None
        recall, precision = hits_around(windows, zone, events, circle)
        counted = None
        if cell.counted is not None:
            recall = _count(events, both(cell), circle)
            counted = _count(events, in_places(cell, cell.counted), circle)
        last = circle - max(guard, 1) if periods > 1 else 0
        strides = Strides(every=every, origin=0, first=max(guard, 1), stop=last + 1)
        return ByShift(recall=recall, precision=precision, counted=counted, of_recall=strides, of_precision=strides)

    return cell.once(("around", circle, periods, every, guard), found)


def nearby(cell: TimedCell, reach: int, every: float) -> ByShift | None:
    """Both hits for shifts by up to so many places with mirrored borders; None where there are too many pairs.

    Recall moves the events over the steps near an alarm; precision the alarms, over the ticks near an event, so that
    both keep their number.
    """

    def found() -> ByShift | None:
        if cell.trial.count_alarms == "episodes":
            return None
        events, n = cell.truth.places, cell.truth.n_places
        fine, stride = replace(cell.trial.watch, stride=1), cell.trial.watch.stride
        alarms = cell.at
        if cell.trial.edges == "interior":
            alarms = alarms[fine.holds_all(alarms - cell.reach.late, alarms + cell.reach.early)]
        alarms, far = fine.places_before(alarms), reach * stride
        at = cell.truth.at
        near_event = union(fine.places(at - cell.reach.early, at + cell.reach.late))
        zone = in_places(cell, cell.zone) if cell.counted is None else both(cell)
        if far >= fine.n or pairs_nearby(events, zone, n, reach) > MOST_PAIRS:
            return None
        if pairs_nearby(alarms, near_event, fine.n, far) > MOST_PAIRS:
            return None
        recall = count_nearby(events, zone, n, reach)
        counted = None
        if cell.counted is not None:
            counted = count_nearby(events, in_places(cell, cell.counted), n, reach)
        # a shift of the events by s is one of the alarms by -s
        precision = count_nearby(alarms, near_event, fine.n, far).reversed()
        return ByShift(
            recall=recall,
            precision=precision,
            counted=counted,
            of_recall=_both_ways(reach, every),
            of_precision=_both_ways(far, every * stride),
        )

    return cell.once(("nearby", reach, every), found)


def _both_ways(reach: int, every: float) -> Strides:
    farthest = round(int(reach / every) * every)
    return Strides(every=every, origin=reach, first=reach - farthest, stop=reach + farthest + 1)


def in_places(cell: TimedCell, ranges: Ranges) -> Ranges:
    """Ranges of steps in places, of which each is as many steps."""
    slots = cell.truth.slots
    return Ranges(starts=ranges.starts // slots, stops=ranges.stops // slots)


def both(cell: TimedCell) -> Ranges:
    """Places on which an event counts and is found."""
    return in_places(cell, cell.zone if cell.counted is None else common(cell.counted, cell.zone))


def _count(events: IntArray, zone: Ranges, circle: int) -> Pieces:
    """Events in a zone by shift around the circle; what lies behind it stays."""
    recall, _ = hits_around(Ranges(starts=events[:0], stops=events[:0]), zone, events, circle)
    return recall
