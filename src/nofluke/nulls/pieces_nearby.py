"""Hits as a function of a small shift, with mirrored borders: what `nearby` counts, in pieces of constant hits.

Only windows within reach of a point are looked at, so that the cost does not depend on the length of the series or of
the reach.
"""

from __future__ import annotations

import numpy as np

from nofluke.arrays import IntArray
from nofluke.nulls.pieces import Pieces, pieces_of
from nofluke.series.counting import nonempty, union
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
