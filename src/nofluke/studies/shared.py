"""Series that share one truth, or nearly so: their chance hits are not independent.

Sensors of one machine are often labelled once. Treated as independent, their pooled test rejects far too often; one
placement of the events has to serve them all. Two series share a truth if their clocks tick alike and

- their events are at the same moments, and chance would hardly bring that many series together: k of K series, with m
  events in n steps each, with a probability of at most C(K, k) (C(n, m) / q^m)^(1 - k), where two events are as long as
  each other with probability q; or
- at least a third of the events of each lie near one of the other's, and chance would hardly bring that many together.

Events that touch count as one. Both are looked at across all series, so that accidents are rare in the whole study: at
most one in twenty studies of independent series has any (`LEVEL`). Pairs are corrected by Benjamini and Hochberg's rule
over all pairs and looks. Without sharing it is Simes's test of all of them; where many pairs share, it lets weaker ones
in.

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

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.laws.exact.binomial import log_choose
from nofluke.laws.exact.hypergeometric import critical_hits, hypergeometric_log_tail
from nofluke.lazy import lazy
from nofluke.ratios import TIE_SLACK
from nofluke.series.counting import total, union
from nofluke.series.tolerance import Ranges
from nofluke.studies.store import STEPS, Values
from nofluke.text.numbers import show_p
from nofluke.text.tables import plural, show_share

LEVEL = 0.05  # of all looks at all pairs: where no series share events, so many studies have a pair that seems to
RARE = 1e-2  # no pair is taken for sharing that chance brings together more often
PARTNERS = 0.1  # nor where a truth would meet more than so many of all others by accident
MOST_LOOKS = 1e9  # pairs of events in neighbouring blocks, some half a minute: no wider look is taken beyond
COLUMNS = 32  # sizes of zones that are told apart before pairs are looked at
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


@dataclass(frozen=True, kw_only=True, eq=False)
class _Truth:
    """Events on a grid, how far the tolerance reaches, and which series have them."""

    events: Ranges = field(repr=False)
    reach: int
    members: list[int] = field(repr=False)

    @property
    def n(self) -> int:
        return len(self.events.starts)

    @lazy
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
        The columns of `nofluke.studies.store.TRUTHS`. Series without events share nothing.

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
    runs, begins = stretches(truths, at="moments")
    labelled = {
        i: Ranges(
            starts=runs.starts[begins[i] : begins[i + 1]],
            # clocks may be irregular: an event of many steps in a short time may seem to outlast the next one
            stops=np.maximum.accumulate(runs.stops[begins[i] : begins[i + 1]]),
        )
        for i, *_ in alike.values()
    }
    same = {grid: _same_length(labelled, alike, grid) for grid in lengths}
    typical = {grid: int(np.median(own)) for grid, own in lengths.items()}
    for (grid, *_), members in alike.items():
        events = labelled[members[0]]
        no_accident = _no_accident(len(lengths[grid]), len(members), typical[grid], len(events.starts), same[grid])
        for own in [members] if no_accident else [[i] for i in members]:
            reach = max(int(truths["reach"][i]) for i in own)
            grids[grid].append(_Truth(events=events, reach=reach, members=own))
    searches = {grid: _Search(found, typical[grid]) for grid, found in grids.items()}
    bar = _corrected(
        np.array([log for one in searches.values() for log in one.pairs.values()]),
        sum(one.tests for one in searches.values()),
    )
    clusters = [members for one in searches.values() for members in one.clusters(bar)]
    unsearched = [grid for grid, one in searches.items() if not one.searched]

    def told(members: list[int]) -> Shared:
        events = {(axes[i], starts[i].tobytes(), stops[i].tobytes()) for i in members}
        aligned = len({axis for axis, *_ in events}) == 1
        return Shared(series=tuple(names[i] for i in members), identical=len(events) == 1, aligned=aligned)

    return SharedTruths(
        clusters=tuple(told(members) for members in sorted(clusters) if len(members) > 1), unsearched=tuple(unsearched)
    )


def _same_length(runs: Mapping[int, Ranges], alike: Mapping[tuple[str, str, bytes], list[int]], grid: str) -> float:
    """How often two events of a grid are as long as each other."""
    own = [runs[members[0]] for (where, *_), members in alike.items() if where == grid]
    shares = np.unique(np.concatenate([one.stops - one.starts for one in own]), return_counts=True)[1]
    return float(((shares / shares.sum()) ** 2).sum())


def _no_accident(n_series: int, k: int, n_steps: int, n_events: int, same_length: float) -> bool:
    """Whether chance hardly brings all events of so many series to the same steps, whichever series they are."""
    if k == 1:
        return True
    ways, sets = (log_choose(*pair) for pair in ((max(n_steps, n_events), n_events), (n_series, k)))
    return sets + (k - 1) * (n_events * math.log(same_length) - ways) <= math.log(LEVEL) + TIE_SLACK


def _corrected(logs: FloatArray, tests: int) -> float:
    """The largest of the logarithms of p-values that Benjamini and Hochberg's rule rejects, -inf for none.

    >>> round(math.exp(_corrected(np.log([1e-3, 1e-2, 0.5]), 4)), 9), _corrected(np.log([0.5]), 4)
    (0.01, -inf)
    """
    ordered = np.sort(logs)
    kept = np.flatnonzero(ordered <= math.log(LEVEL / max(tests, 1)) + np.log(np.arange(1, len(logs) + 1)) + TIE_SLACK)
    return float(ordered[kept[-1]]) if len(kept) else -math.inf


class _Search:
    """Pairs of truths on one grid with the logarithm of how often chance brings them as near in the best of all looks.

    ``tests`` are pairs and looks that could be taken, and ``searched`` says whether all of them were.
    """

    def __init__(self, truths: list[_Truth], n: int) -> None:
        self.truths = truths
        self.pairs: dict[tuple[int, int], float] = {}
        self.searched = True
        own = [truth.reach for truth in truths]
        reaches = list(dict.fromkeys([(0,) * len(own), tuple(own), tuple(map(widened, own))]))
        self.tests = len(reaches) * len(truths) * (len(truths) - 1) // 2
        spent = 0.0
        for reach in reaches:
            look = _Look(truths, reach, n)
            if len(truths) == 1 or not look.possible(look.rare):
                continue
            if spent + look.looks > MOST_LOOKS:
                self.searched = not look.possible(math.log(LEVEL / self.tests))
                break
            spent += look.looks
            for i, j, log in look.pairs():
                self.pairs[i, j] = min(log, self.pairs.get((i, j), math.inf))

    def clusters(self, bar: float) -> list[list[int]]:
        """The series of each cluster, some of them alone, of pairs whose logarithm is at most ``bar``."""
        cluster = list(range(len(self.truths)))

        def root(i: int) -> int:
            while cluster[i] != i:
                cluster[i] = i = cluster[cluster[i]]
            return i

        for (i, j), log in self.pairs.items():
            if log <= bar:
                cluster[root(j)] = root(i)
        together: dict[int, list[int]] = defaultdict(list)
        for i, truth in enumerate(self.truths):
            together[root(i)] += truth.members
        return [sorted(members) for members in together.values()]


class _Look:
    """Truths on one grid, and when events of one lie so near another's that it is no accident."""

    def __init__(self, truths: list[_Truth], reach: Sequence[int], n: int) -> None:
        """Near is within ``reach`` steps, given for each truth; ``n`` is how many steps a series has."""
        self.truths, self.reach = truths, reach
        self.n = max(n, *(truth.n for truth in truths))
        self.rare = math.log(min(RARE, PARTNERS / max(len(truths) - 1, 1)))
        self._reaches = np.array(reach, dtype=np.int64)
        self._numbers = np.array([truth.n for truth in truths], dtype=np.int64)
        self._zones: dict[tuple[int, int, int], int] = {}
        self._tails: dict[tuple[int, int, int], float] = {}

    @lazy
    def _events(self) -> tuple[IntArray, IntArray, IntArray]:
        """Of all truths one behind another: where the events of each begin, and the first and last steps of events."""
        begins = np.append(0, np.cumsum(self._numbers))
        ends = (np.concatenate([getattr(one.events, side) for one in self.truths]) for side in ("starts", "stops"))
        starts, stops = (np.asarray(side, dtype=np.int64) for side in ends)
        return begins, starts, stops

    def _zone(self, j: int, reach: int, length: int) -> int:
        """On how many steps an event of this length may begin to be near one of that truth."""
        if (j, reach, length) not in self._zones:
            events = self.truths[j].events
            zone = union(Ranges(starts=events.starts - reach - length + 1, stops=events.stops + reach))
            self._zones[j, reach, length] = min(total(zone), self.n)
        return self._zones[j, reach, length]

    def _tail(self, events: int, zone: int, hits: int) -> float:
        """The logarithm of how often chance brings so many events into the zone, placed one by one."""
        if (events, zone, hits) not in self._tails:
            self._tails[events, zone, hits] = hypergeometric_log_tail(self.n, zone, events, hits, "upper")
        return self._tails[events, zone, hits]

    def _least(self, bar: float) -> tuple[IntArray, IntArray, IntArray]:
        """The fewest events that suffice, by number of events and zone; and the row and column of each truth in it.

        Zones around truths that are about as large have one column, that of the smallest of them.
        """
        zones = np.array([self._zone(j, reach, 1) for j, reach in enumerate(self.reach)])
        columns = np.unique(np.quantile(zones, np.linspace(0, 1, COLUMNS), method="lower"))
        numbers = np.unique([truth.n for truth in self.truths])

        def fewest(events: int, zone: int) -> int:
            found = critical_hits(self.n, zone, events, math.exp(bar))
            return max(-(-events // 3), min(events, zone) + 1 if found is None else found)

        table = np.array([[fewest(events, zone) for zone in columns.tolist()] for events in numbers.tolist()])
        row = np.searchsorted(numbers, [truth.n for truth in self.truths])
        return table, row, np.searchsorted(columns, zones, side="right") - 1

    def possible(self, bar: float) -> bool:
        """Whether any truth has enough events for a probability as small as that, if all of them met another's."""
        around = zip(self.truths, self.reach, strict=True)
        zone = min(min(truth.n + 2 * reach for truth, reach in around), self.n)  # at least, if all were beside another
        return any(self._tail(n, max(zone, n), n) <= bar + TIE_SLACK for n in {truth.n for truth in self.truths})

    @lazy
    def _blocks(self) -> tuple[tuple[IntArray, IntArray, IntArray], tuple[IntArray, IntArray]]:
        """The blocks that the events of each truth are in, with how many; and the truths in or beside each block."""
        begins, starts, stops = self._events
        width = max(max(self.reach) + 1, *(truth.length for truth in self.truths))
        of = np.repeat(np.arange(len(self.truths)), self._numbers)
        first, last = starts // width, (stops - 1) // width

        def places(beside: int) -> tuple[IntArray, IntArray]:
            many = last - first + 1 + 2 * beside
            within = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
            return np.repeat(of, many), np.repeat(first - beside, many) + within

        # moments may be years apart: only blocks in or beside an event are numbered
        rows, around = places(1)
        blocks, at = np.unique(around, return_inverse=True)
        near = np.unique(at.ravel() * len(begins) + rows)
        near_begins = np.searchsorted(near, np.arange(len(blocks) + 1) * len(begins))
        rows, held = places(0)
        held, many = np.unique(rows * len(blocks) + np.searchsorted(blocks, held), return_counts=True)
        of_truth = np.searchsorted(held, np.arange(len(begins)) * len(blocks))
        return (of_truth, held % len(blocks), many), (near_begins, near % len(begins))

    @property
    def looks(self) -> float:
        """Pairs of events in the same or neighbouring blocks."""
        (_, blocks, many), (near_begins, _) = self._blocks
        return float(np.bincount(blocks, many, len(near_begins) - 1) @ np.diff(near_begins))

    def pairs(self) -> Iterator[tuple[int, int, float]]:
        """Pairs of truths that chance seldom brings so near each other, and the logarithm of how often it does: of
        events of either near the other's the larger."""
        from nofluke.studies.draws_kernels import meeting, met

        (held, near), (least, row, column) = self._blocks, self._least(self.rare)
        counts, found = np.zeros(len(self.truths), dtype=np.int64), np.empty((2, ROWS * len(self.truths)), np.int64)
        for begin in range(0, len(self.truths), ROWS):
            end = min(begin + ROWS, len(self.truths))
            some = found[:, : meeting(begin, end, *held, *near, least, row, column, counts, *found)]
            hits = np.zeros_like(some)
            reach = self._reaches[some].max(axis=0, initial=0)
            for (one, other), own in zip((some, some[::-1]), hits, strict=True):
                met(one, other, reach, *self._events, own)
            enough = (hits >= least[row[some], column[some[::-1]]]).all(axis=0)
            for (i, j), both, within in zip(
                some.T[enough].tolist(), hits.T[enough].tolist(), reach[enough].tolist(), strict=True
            ):
                log = max(self._log_p(i, j, both[0], within), self._log_p(j, i, both[1], within))
                if log <= self.rare + TIE_SLACK:
                    yield i, j, log

    def _log_p(self, i: int, j: int, hits: int, reach: int) -> float:
        """The logarithm of how often chance brings so many events of one truth near those of another."""
        truth = self.truths[i]
        return self._tail(truth.n, self._zone(j, reach, truth.length), hits)


# ---- where events lie in their series: archives cut their series so that events share their places
#
# A detector that fires at such a place on every series finds events without looking at the data, and a null that moves
# events within each series calls that skill. So the starts of events are looked at across series: as steps, and as
# shares of the length, from the beginning of the series and from that of the part that counts. They never look at the
# alarms.
#
# Without anything shared, the events of a series may be rotated as a whole. Then
#
# - an event begins on a given step with a probability of at most m/n, so that the number of series whose first event
#   does is at most about Poisson;
# - an event taken at random begins anywhere with the same probability (Kolmogorov and Smirnov's test).

PLACES_LEVEL = 1e-3  # of all looks together: without reason, one study in a thousand is pooled by the other null
FEWEST_AT_A_PLACE = 5  # series that have to share a place
SHARES = 1_000  # shares of the length are told apart to a thousandth


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """What the starts of events say.

    Attributes
    ----------
    coincide : bool
        Whether they coincide more than chance allows.
    told : str
        Where they do, and in how many series; "" where they do not.
    """

    coincide: bool = False
    told: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Starts:
    """The events of series that are independent of each other, as far as their places go: one number for each."""

    first: IntArray = field(repr=False)  # step of the first event
    begin: IntArray = field(repr=False)  # step at which the part that counts begins
    length: IntArray = field(repr=False)  # all steps
    counted: IntArray = field(repr=False)  # steps that count
    rates: FloatArray = field(repr=False)  # events for each step that counts
    shares: FloatArray = field(repr=False)  # where some event is, as a share of where it could be
    many: IntArray = field(repr=False)  # series that have these events


def units_of(truths: Values, shared: Sequence[Shared]) -> list[list[int]]:
    """Series by their truths: those that share one, as sensors of one machine do, belong together.

    That is so if all of several events are the same, or, on clocks, nearly the same. Without a clock, one event at the
    same place may be the work of an archive, and so may be events that are nearly the same. Series without events are
    in none.
    """
    names = [str(name) for name in truths["series"]]
    clusters = {name: one.series[0] for one in shared for name in one.series}
    found: dict[tuple[str, ...], list[int]] = {}
    numbers = np.diff(stretches(truths)[1]).tolist()
    for i, (name, grid, many) in enumerate(zip(names, map(str, truths["grid"]), numbers, strict=True)):
        if many and grid == STEPS:
            same = *(str(truths[word][i]) for word in ("axis", "watched")), events_of(truths, i)
            found.setdefault(same if many > 1 else (*same, name), []).append(i)
        elif many:
            found.setdefault((clusters.get(name, name),), []).append(i)
    return list(found.values())


def stretches(truths: Values, at: str = "starts") -> tuple[Ranges, IntArray]:
    """The events of all series one behind another, those that touch as one, and where those of each series begin.

    A run of labels is one, however events are counted: its steps do not come together by accident. They are at their
    steps, or ``at`` their "moments".
    """
    many = [len(own) for own in truths["starts"]]
    nothing = np.empty(0, dtype=np.int64)
    starts, stops, places = (
        np.concatenate([nothing, *truths[end]]).astype(np.int64) for end in ("starts", "stops", at)
    )
    of, stops = np.repeat(np.arange(len(many)), many), np.maximum(stops, starts + 1)
    apart = (starts[1:] > stops[:-1]) | (of[1:] != of[:-1])
    first, last = (np.flatnonzero(ends) for ends in (np.append(True, apart), np.append(apart, True)))
    first, last = first[: len(starts)], last[: len(starts)]
    begin = places[first]
    found = Ranges(starts=begin, stops=begin + stops[last] - starts[first])
    return found, np.searchsorted(of[first], np.arange(len(many) + 1))


def events_of(truths: Values, i: int) -> str:
    """A word that series share if they have the same events on their steps."""
    both = (np.asarray(truths[end][i], dtype=np.int64).tobytes() for end in ("starts", "stops"))
    return hashlib.sha256(b"".join(both)).hexdigest()


def places_of(truths: Values, shared: Sequence[Shared]) -> Places:
    """Whether events of many series begin at the same places."""
    starts = _starts(truths, shared)
    if len(starts.first) < FEWEST_AT_A_PLACE:
        return Places()
    looks = [
        *_ties(starts, starts.first, "at step {:,}"),
        *_ties(starts, starts.first, "at {} of their length", of=starts.length),
    ]
    if starts.begin.any():
        since = starts.first - starts.begin
        looks += [
            *_ties(starts, since, "{:,} steps after the begin of the part that counts"),
            *_ties(starts, since, "at {} of the part that counts", of=starts.counted),
        ]
    looks.append(_uneven(starts))
    pvalue, told = min(looks)
    pvalue = min(1.0, len(looks) * pvalue)
    return Places(coincide=True, told=f"{told} (p = {show_p(pvalue)})") if pvalue <= PLACES_LEVEL else Places()


def _starts(truths: Values, shared: Sequence[Shared]) -> _Starts:
    rows: list[tuple[float, ...]] = []
    events, begins = stretches(truths)
    names, placed, *columns = (truths[name] for name in ("series", "placed", "begin", "length", "n"))
    for unit in units_of(truths, shared):
        i = unit[0]
        many = int(begins[i + 1] - begins[i])
        some = int.from_bytes(hashlib.sha256(str(names[i]).encode()).digest()[:8], "big") % many + begins[i]
        start, stop = int(events.starts[some]), int(events.stops[some])
        begin, length, n = (int(column[i]) for column in columns)
        share = min((start + 0.5) / max(n - (stop - start) + 1, 1), 1.0)
        rows.append((int(placed[i][0]), begin, length, n, many / max(n, 1), share, len(unit)))
    kinds = {"first": int, "begin": int, "length": int, "counted": int, "rates": float, "shares": float, "many": int}
    found = list(zip(*rows, strict=True)) or [()] * len(kinds)
    return _Starts(**{name: np.array(own, dtype=kind) for (name, kind), own in zip(kinds.items(), found, strict=True)})


def _ties(starts: _Starts, steps: IntArray, where: str, of: IntArray | None = None) -> list[tuple[float, str]]:
    """How often chance has so many first events at one place, and what is said of it; nothing where they are few.

    Places are steps, or shares ``of`` a length.
    """
    from scipy.special import gammainc

    if of is None:
        at, rates, size = steps, starts.rates, int(starts.length.max())
    else:
        size = min(SHARES, int(of.min()))
        at, rates = steps * size // of, starts.rates * (of // size + 1)
    values, counts = np.unique(at, return_counts=True)
    most = int(np.argmax(counts))
    if counts[most] < FEWEST_AT_A_PLACE:
        return []
    tail = size * float(gammainc(counts[most], rates.sum()))  # of a Poisson variable with that mean
    place = int(values[most])
    told = where.format(place if of is None else show_share(place / size))
    every = plural(int(starts.many.sum()), "series", "series")
    return [(min(tail, 1.0), f"{int(starts.many[at == place].sum()):,} of {every} have their first event {told}")]


def _uneven(starts: _Starts) -> tuple[float, str]:
    """Kolmogorov and Smirnov's p-value of places that are as likely as each other, and what is said of them."""
    from scipy.special import kolmogorov

    x, k = np.sort(starts.shares), len(starts.shares)
    away = float(max((np.arange(1, k + 1) / k - x).max(), (x - np.arange(k) / k).max()))
    scaled = away * (math.sqrt(k) + 0.12 + 0.11 / math.sqrt(k))
    tail = float(kolmogorov(scaled))
    low, middle, high = (show_share(float(np.quantile(x, q))) for q in (0.1, 0.5, 0.9))
    told = (
        f"Events of {plural(int(starts.many.sum()), 'series', 'series')} lie at alike places: a tenth before {low}, half "
        f"before {middle} and nine tenths before {high} of the steps that count"
    )
    return tail, told
