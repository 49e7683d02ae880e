"""Series that share one truth, or nearly so: their chance hits are not independent.

Sensors of one machine are often labelled once. Treated as independent, their pooled test rejects far too often; one
placement of the events has to serve them all. Two series share a truth if their clocks tick alike and

- their events are at the same moments; or
- at least a third of the events of each lie near one of the other's, and chance brings that many together with a
  probability of at
  most .01, or of .1 for all other truths on the grid together where there are more than ten.

Near is looked at in three ways: at the same moment, within the tolerance's reach, and within three times that and three
steps more, since a truth may follow another with a lag. A wide look alone would no longer tell copies from accidents
where events are dense.

Sharing goes on: what shares with a series that shares with a third shares with both. Lumping truths that are
independent of each other stays valid: they, too, are as likely after one common move as before. It costs exactness
where the law must then be simulated, or where series are not on the same moments, and power where their alarms are
alike.

The section "Pooling over series" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nofluke.arrays import IntArray
from nofluke.laws.exact.hypergeometric import hypergeometric_log_tail
from nofluke.laws.law import first_true
from nofluke.lazy import lazy
from nofluke.ratios import TIE_SLACK
from nofluke.series.counting import total, union
from nofluke.series.tolerance import Ranges
from nofluke.studies.schema import STEPS, Values

RARE = 1e-2  # so many events together are no accident
PARTNERS = 0.1  # nor are they where fewer than this many of all truths would meet one by accident
MOST_LOOKS = 1e9  # pairs of events in neighbouring blocks, some half a minute: no wider look is taken beyond
ROWS = 64  # truths held against all others at a time


def widened(reach: int) -> int:
    """How many steps away an event may be and still belong to the same one: a truth may follow another with a lag."""
    return 3 * reach + 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """Series that share one truth.

    Attributes
    ----------
    series : tuple of str
        Their names, in the order of the study.
    identical : bool
        Whether all of them have the same events on the same steps; else some have nearly the same.
    aligned : bool
        Whether their steps are the same moments, so that one placement of events can serve them all.
    """

    series: tuple[str, ...]
    identical: bool
    aligned: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Truth:
    """Events on a grid, how far the tolerance reaches, and which series have them."""

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
        Grids with so many events beside one another that not all nearly equal truths were looked for.
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
    >>> events = {"starts": [[5], [5], [5]], "stops": [[6], [6], [6]], "moments": [[5], [5], [5]]}
    >>> axis = ["90 steps", "90 steps", "80 steps"]
    >>> steps = {"axis": axis, "grid": ["steps"] * 3, "n": [90, 90, 80], "reach": [0, 0, 0]}
    >>> shared_truths({"series": ["a", "b", "c"], **steps, **events}).clusters
    (Shared(series=('a', 'b'), identical=True, aligned=True),)
    """
    names, axes = ([str(one) for one in truths[name]] for name in ("series", "axis"))
    moments, starts, stops = (
        [np.asarray(row, dtype=np.int64) for row in truths[name]] for name in ("moments", "starts", "stops")
    )
    alike: dict[tuple[str, str, bytes], list[int]] = defaultdict(list)
    lengths: dict[str, list[int]] = defaultdict(list)
    for i, grid in enumerate(map(str, truths["grid"])):
        if len(moments[i]):
            # without clocks, the same step in series of other lengths is hardly the same moment
            apart = axes[i] if grid == STEPS else ""
            alike[grid, apart, moments[i].tobytes() + (stops[i] - starts[i]).tobytes()].append(i)
            lengths[grid].append(int(truths["n"][i]))
    grids: dict[str, list[_Truth]] = defaultdict(list)
    for (grid, *_), members in alike.items():
        one = members[0]
        ends = moments[one] + np.maximum(stops[one] - starts[one], 1)
        # clocks may be irregular: an event of many steps in a short time may seem to outlast the next one
        events = Ranges(starts=moments[one], stops=np.maximum.accumulate(ends))
        grids[grid].append(_Truth(events=events, reach=max(int(truths["reach"][i]) for i in members), members=members))
    clusters: list[list[int]] = []
    unsearched = []
    for grid, found in grids.items():
        together, searched = _clusters(found, int(np.median(lengths[grid])))
        clusters += together
        unsearched += [] if searched else [grid]

    def told(members: list[int]) -> Shared:
        events = {(axes[i], starts[i].tobytes(), stops[i].tobytes()) for i in members}
        aligned = len({axis for axis, *_ in events}) == 1
        return Shared(series=tuple(names[i] for i in members), identical=len(events) == 1, aligned=aligned)

    return SharedTruths(
        clusters=tuple(told(members) for members in sorted(clusters) if len(members) > 1), unsearched=tuple(unsearched)
    )


def _clusters(truths: list[_Truth], n: int) -> tuple[list[list[int]], bool]:
    """The series of each cluster, some of them alone, and whether all looks could be taken."""
    cluster = list(range(len(truths)))

    def root(i: int) -> int:
        while cluster[i] != i:
            cluster[i] = i = cluster[cluster[i]]
        return i

    spent, searched = 0.0, True
    own = [truth.reach for truth in truths]
    for reach in dict.fromkeys([(0,) * len(own), tuple(own), tuple(map(widened, own))]):
        look = _Look(truths, reach, n)
        spent += look.looks
        searched = spent <= MOST_LOOKS
        if not searched:
            break
        for i, j in look.candidates():
            if root(i) != root(j) and look.near(i, j) and look.near(j, i):
                cluster[root(j)] = root(i)
    together: dict[int, list[int]] = defaultdict(list)
    for i, truth in enumerate(truths):
        together[root(i)] += truth.members
    return [sorted(members) for members in together.values()], searched


class _Look:
    """Truths on one grid, and when events of one lie so near another's that it is no accident."""

    def __init__(self, truths: list[_Truth], reach: Sequence[int], n: int) -> None:
        """Near is within ``reach`` steps, given for each truth; ``n`` is how many steps a series has."""
        self.truths, self.reach = truths, reach
        self.n = max(n, *(truth.n for truth in truths))
        self.rare = math.log(min(RARE, PARTNERS / max(len(truths) - 1, 1)))
        self._zones: dict[tuple[int, int, int], int] = {}
        self._rare: dict[tuple[int, int, int], bool] = {}

    def near(self, i: int, j: int) -> bool:
        """Whether enough events of one truth lie near the other's."""
        one, other = self.truths[i], self.truths[j]
        reach = max(self.reach[i], self.reach[j])
        begin = np.searchsorted(other.events.stops, one.events.starts - reach, side="right")
        end = np.searchsorted(other.events.starts, one.events.stops + reach, side="left")
        hits = int(np.count_nonzero(end > begin))
        return 3 * hits >= one.n and self._rarely(one.n, self._zone(j, reach, one.length), hits)

    def _zone(self, j: int, reach: int, length: int) -> int:
        """On how many steps an event of this length may begin to be near one of that truth."""
        if (j, reach, length) not in self._zones:
            events = self.truths[j].events
            zone = union(Ranges(starts=events.starts - reach - length + 1, stops=events.stops + reach))
            self._zones[j, reach, length] = min(total(zone), self.n)
        return self._zones[j, reach, length]

    def _rarely(self, events: int, zone: int, hits: int) -> bool:
        """Whether chance seldom brings so many events into the zone, placed one by one."""
        if (events, zone, hits) not in self._rare:
            tail = hypergeometric_log_tail(self.n, zone, events, hits, "upper")
            self._rare[events, zone, hits] = tail <= self.rare + TIE_SLACK  # of logarithms
        return self._rare[events, zone, hits]

    def _least(self) -> IntArray:
        """For each truth, the fewest events that suffice in the smallest zone around the events of any truth."""
        around = (
            len(np.unique(truth.events.starts)) + 2 * reach
            for truth, reach in zip(self.truths, self.reach, strict=True)
        )
        zone = min(min(around), self.n)
        numbers = np.array([truth.n for truth in self.truths])

        def fewest(events: int) -> int:
            third = -(-events // 3)
            return first_true(lambda k: self._rarely(events, zone, k), third, third, events + 1)

        known = {events: fewest(events) for events in np.unique(numbers).tolist()}
        return np.array([known[events] for events in numbers.tolist()])

    @lazy
    def _blocks(self) -> tuple[Any, Any]:
        """How many events of each truth are in each block of steps; and whether one is in or beside it."""
        from scipy import sparse

        truths = self.truths
        width = max(max(self.reach) + 1, *(truth.length for truth in truths))
        of = np.repeat(np.arange(len(truths)), [truth.n for truth in truths])
        first = np.concatenate([truth.events.starts for truth in truths]) // width
        last = (np.concatenate([truth.events.stops for truth in truths]) - 1) // width

        def places(beside: int) -> tuple[IntArray, IntArray]:
            many = last - first + 1 + 2 * beside
            within = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
            return np.repeat(of, many), np.repeat(first - beside, many) + within

        # moments may be years apart: only blocks in or beside an event are numbered
        blocks = np.unique(places(1)[1])

        def counted(beside: int) -> Any:
            rows, at = places(beside)
            held = np.ones(len(rows), dtype=np.int32), (rows, np.searchsorted(blocks, at))
            return sparse.csr_matrix(held, shape=(len(truths), len(blocks)))

        held, near = counted(0), counted(1)
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
