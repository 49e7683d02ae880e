"""Series that share one truth, or nearly so: their chance hits are not independent.

Sensors of one machine are often labelled once. Treated as independent, their pooled test rejects far too often; one placement of
the events has to serve them all. Two series share a truth if their steps are the same moments and

- their events are the same; or
- at least half of the events of each lie within the tolerance's reach of one of the other's, and chance brings that many together
  with a probability of at most .001, or of .1 for all other truths on the axis together where there are more than a hundred.

Sharing goes on: what shares with a series that shares with a third shares with both. Lumping truths that are independent of each
other stays valid: they, too, are as likely after one common move as before. It costs exactness where the law must then be simulated,
and power where their alarms are alike.

The section "Pooling over series" of docs/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nofluke.arrays import IntArray
from nofluke.laws.exact.hypergeometric import hypergeometric_log_tail
from nofluke.laws.law import first_true
from nofluke.lazy import lazy
from nofluke.series.counting import total, union
from nofluke.series.tolerance import Ranges
from nofluke.studies.schema import Values

RARE = 1e-3  # so many events together are no accident
PARTNERS = 0.1  # nor are they where fewer than this many of all truths would meet one by accident
MOST_LOOKS = 1e9  # pairs of events in neighbouring blocks, some half a minute: beyond, only equal truths are found
MOST_BLOCKS = 1_000_000
ROWS = 64  # truths held against all others at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """Series that share one truth.

    Attributes
    ----------
    series : tuple of str
        Their names, in the order of the study.
    identical : bool
        Whether all of them have the same events; else some have nearly the same.
    """

    series: tuple[str, ...]
    identical: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Truth:
    """Events on an axis, how far the tolerance reaches, and which series have them."""

    events: Ranges = field(repr=False)
    reach: int
    members: list[int] = field(repr=False)

    @property
    def n(self) -> int:
        return len(self.events.starts)

    @property
    def length(self) -> int:
        """Of an event, on average."""
        return math.ceil(float((self.events.stops - self.events.starts).mean()))


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedTruths:
    """What was found.

    Attributes
    ----------
    clusters : tuple of Shared
        Sets of two or more series that share one truth, in the order of their first series.
    unsearched : tuple of str
        Axes with so many events beside one another that only equal truths were looked for, not nearly equal ones.
    """

    clusters: tuple[Shared, ...]
    unsearched: tuple[str, ...] = ()


def shared_truths(truths: Values) -> SharedTruths:
    """The sets of two or more series that share one truth.

    Parameters
    ----------
    truths : mapping
        The columns of `nofluke.studies.schema.TRUTHS`. Series without events share nothing.

    Examples
    --------
    >>> shared_truths({"series": ["a", "b", "c"], "axis": ["x", "x", "y"], "n": [90, 90, 90], "reach": [0, 0, 0],
    ...                "starts": [[5], [5], [5]], "stops": [[6], [6], [6]]}).clusters
    (Shared(series=('a', 'b'), identical=True),)
    """
    alike: dict[tuple[str, int, bytes], list[int]] = defaultdict(list)
    starts, stops = ([np.asarray(row, dtype=np.int64) for row in truths[name]] for name in ("starts", "stops"))
    for i, (axis, n) in enumerate(zip(truths["axis"], truths["n"], strict=True)):
        if len(starts[i]):
            alike[str(axis), int(n), starts[i].tobytes() + stops[i].tobytes()].append(i)
    axes: dict[tuple[str, int], list[_Truth]] = defaultdict(list)
    for (axis, n, _), members in alike.items():
        one = members[0]
        events = Ranges(starts=starts[one], stops=np.maximum(stops[one], starts[one] + 1))
        reach = max(int(truths["reach"][i]) for i in members)
        axes[axis, n].append(_Truth(events=events, reach=reach, members=members))
    clusters: list[tuple[list[int], bool]] = []
    unsearched = []
    for (name, n), found in axes.items():
        axis = _Axis(found, n)
        if axis.looks > MOST_LOOKS:
            unsearched.append(name)
        clusters += axis.clusters([] if axis.looks > MOST_LOOKS else axis.candidates())
    return SharedTruths(
        clusters=tuple(
            Shared(series=tuple(str(truths["series"][i]) for i in members), identical=identical)
            for members, identical in sorted(clusters)
            if len(members) > 1
        ),
        unsearched=tuple(unsearched),
    )


class _Axis:
    """Truths on the same steps, and when events of one lie so near another's that it is no accident."""

    def __init__(self, truths: list[_Truth], n: int) -> None:
        self.truths, self.n = truths, n
        self.rare = math.log(min(RARE, PARTNERS / max(len(truths) - 1, 1)))
        self._zones: dict[tuple[int, int, int], int] = {}
        self._fewest: dict[tuple[int, int], int] = {}

    def clusters(self, candidates: Iterable[tuple[int, int]]) -> list[tuple[list[int], bool]]:
        """The series of each cluster, and whether they have one truth; some are alone."""
        cluster = list(range(len(self.truths)))

        def root(i: int) -> int:
            while cluster[i] != i:
                cluster[i] = i = cluster[cluster[i]]
            return i

        for i, j in candidates:
            if root(i) != root(j) and self.near(i, j) and self.near(j, i):
                cluster[root(j)] = root(i)
        together: dict[int, list[_Truth]] = defaultdict(list)
        for i, truth in enumerate(self.truths):
            together[root(i)].append(truth)
        return [(sorted(i for one in found for i in one.members), len(found) == 1) for found in together.values()]

    def near(self, i: int, j: int) -> bool:
        """Whether enough events of one truth lie near the other's."""
        one, other = self.truths[i], self.truths[j]
        reach = max(one.reach, other.reach)
        begin = np.searchsorted(other.events.stops, one.events.starts - reach, side="right")
        end = np.searchsorted(other.events.starts, one.events.stops + reach, side="left")
        return int(np.count_nonzero(end > begin)) >= self.fewest(one.n, self._zone(j, reach, one.length))

    def _zone(self, j: int, reach: int, length: int) -> int:
        """On how many steps an event of this length may begin to be near one of that truth."""
        if (j, reach, length) not in self._zones:
            events = self.truths[j].events
            begin, end = np.maximum(events.starts - reach - length + 1, 0), np.minimum(events.stops + reach, self.n)
            self._zones[j, reach, length] = total(union(Ranges(starts=begin, stops=end)))
        return self._zones[j, reach, length]

    def fewest(self, events: int, zone: int) -> int:
        """At least half of the events, and so many that chance seldom brings them into the zone, placed one by one."""
        if (events, zone) not in self._fewest:
            rarely = first_true(
                lambda k: hypergeometric_log_tail(self.n, zone, events, k, "upper") <= self.rare, 0, 0, events + 1
            )
            self._fewest[events, zone] = max(-(-events // 2), rarely)
        return self._fewest[events, zone]

    def _least(self) -> IntArray:
        """The same for each truth and the smallest zone there is: no smaller one has what the tolerance reaches around events."""
        zone = min(min(truth.n + truth.reach, self.n) for truth in self.truths)
        return np.array([self.fewest(truth.n, zone) for truth in self.truths])

    @lazy
    def _blocks(self) -> tuple[Any, Any]:
        """How many events of each truth are in each block of steps; and whether one is in or beside it."""
        from scipy import sparse

        truths = self.truths
        reach, length = max(truth.reach for truth in truths), max(truth.length for truth in truths)
        width = max(reach + 1, length, -(-self.n // MOST_BLOCKS))
        of = np.repeat(np.arange(len(truths)), [truth.n for truth in truths])
        first = np.concatenate([truth.events.starts for truth in truths]) // width + 1
        last = (np.concatenate([truth.events.stops for truth in truths]) - 1) // width + 1

        def blocks(beside: int) -> Any:
            many = last - first + 1 + 2 * beside
            within = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
            at = np.repeat(of, many), np.repeat(first - beside, many) + within
            ones = np.ones(len(within), dtype=np.int32)
            return sparse.csr_matrix((ones, at), shape=(len(truths), self.n // width + 3))

        held, near = blocks(0), blocks(1)
        near.data[:] = 1
        return held, near.T.tocsr()

    @property
    def looks(self) -> float:
        """Pairs of events in the same or neighbouring blocks."""
        if len(self.truths) == 1:
            return 0.0
        held, near = self._blocks
        sums = (np.asarray(one, dtype=np.float64).ravel() for one in (held.sum(axis=0), near.sum(axis=1)))
        return float(np.dot(*sums))

    def candidates(self) -> Iterator[tuple[int, int]]:
        """Pairs of truths with enough events in the same or neighbouring blocks; each is still to be looked at."""
        if len(self.truths) == 1:
            return
        (held, near), least = self._blocks, self._least()
        for begin in range(0, len(self.truths), ROWS):
            found = (held[begin : begin + ROWS] @ near).tocoo()
            rows = begin + found.row
            kept = (found.data >= least[rows]) & (found.col > rows)
            yield from zip(rows[kept].tolist(), found.col[kept].tolist(), strict=True)
