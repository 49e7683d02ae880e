"""Shifts of events at their own times: hits are constant over stretches of shifts, which are counted as one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from nofluke.arrays import AnyArray, IntArray
from nofluke.laws.counts import CountLaw
from nofluke.laws.law import How, Law
from nofluke.nulls.base import Joint
from nofluke.nulls.interior import common, out_of, share_of
from nofluke.nulls.pieces import MOST_PAIRS, Pieces, affordable, hits_around, pieces_of
from nofluke.series.counting import nonempty, union
from nofluke.series.timed import TimedCell
from nofluke.series.tolerance import Ranges


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



# ---- shifts of events at their own times: hits are constant over stretches of shifts, which are counted as one

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

    def _recall(self, cell: TimedCell) -> Pieces:
        """Recall's hits, out of the observed number of events that count."""
        if self.counted is None:
            return self.recall
        hits, counted = self.recall.joined(self.counted)
        return replace(hits, values=out_of(hits.values, counted.values, cell.n_counted))

    def laws(self, cell: TimedCell, how: How) -> dict[str, Law]:
        """The laws of both hits."""
        precision = self.of_precision.counts(self.precision, cell.n_predictions)
        recall = self.of_recall.counts(self._recall(cell), cell.n_counted)
        return {"precision": CountLaw.of(precision, how), "recall": CountLaw.of(recall, how)}

    def every_shift(self, cell: TimedCell) -> tuple[IntArray, IntArray]:
        """Recall's and precision's hits of all shifts that count, the identity first."""
        return self._recall(cell).at(self.of_recall.listed()), self.precision.at(self.of_precision.listed())

    def _found(self, cell: TimedCell, shifts: IntArray) -> AnyArray:
        """Recall's hits at some shifts, out of the observed number of events that count, and not rounded down."""
        hits = self.recall.at(shifts)
        return hits if self.counted is None else share_of(hits, self.counted.at(shifts), cell.n_counted)

    def joint(self, cell: TimedCell, how: How) -> Joint:
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

    return _kept(cell, ("around", circle, periods, every, guard), found)


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

    return _kept(cell, ("nearby", reach, every), found)


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


def _kept(cell: TimedCell, key: tuple[object, ...], find: Callable[[], ByShift | None]) -> ByShift | None:
    """What is known of a cell already, or is worked out now."""
    known: dict[tuple[object, ...], ByShift | None] = cell.__dict__.setdefault("_by_shift", {})
    if key not in known:
        known[key] = find()
    return known[key]

