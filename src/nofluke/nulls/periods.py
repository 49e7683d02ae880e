"""The null that keeps a season and all that happens within a period: whole periods change places.

A period is a day, a week, so many steps: the events of each go together to another one, at their own time of it, and so
ranges stay whole. Periods are cut where the fewest events lie. A period that was not watched as others were changes
places only with those of its kind, or with its phases that they all have watched; one with an event across its border
stays, and so does the one that this event enters. All of this depends on what was watched and on how many events each
phase has, which no exchange changes: exchanges are a group, and the test is exact if periods are exchangeable.

The section "Whole periods, exchanged" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nofluke.arrays import AnyArray, BoolArray, FloatArray, IntArray
from nofluke.dates import as_duration
from nofluke.errors import InputError, arg, joined, say
from nofluke.laws.law import Law, exactly
from nofluke.laws.montecarlo import Draw
from nofluke.laws.tables import TableLaw
from nofluke.nulls.base import Kept, Method, NullModel, as_operations
from nofluke.nulls.placements import hit_by_any, predictions_near
from nofluke.plain import MOST_STEPS, as_whole
from nofluke.series.counting import ends_of, in_ranges
from nofluke.series.timed import Length, TimedCell, TimedTruth, as_period, in_places, in_words
from nofluke.series.trial import Cell
from nofluke.series.truth import Truth
from nofluke.text.tables import plural

UNITS = {"hour": "h", "day": "D", "week": "W", "month": "M", "year": "Y"}
# why periods stay
INCOMPLETE, CROSSED, GAPS = "incomplete", say("with {an_event} across a border"), "with gaps"
ALONE = say("without another one with {events} to change places with")
UNEQUAL = ("month", "year")  # these begin where the calendar says, and are not cut elsewhere
PHASES_IN_TIME = 2_048  # of a period, where events have times of their own: gaps are told in these
MOST_CELLS = 2**25  # periods times phases: some hundred megabytes
MOST_CLASSES = 20  # of periods that were watched alike; what is left of many gaps stays
CELL_OPERATIONS = 2_000_000  # of one cell of many
OPERATIONS = 40_000_000  # of the programme over subsets: some hundredths of a second, as long as drawing takes


# ---- which periods there are, and where the events lie in them


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grid:
    """Positions in time as whole numbers: those of the events, and those where periods begin.

    Attributes
    ----------
    first, last : int arrays
        Positions of the first and the last step of each event.
    begins : int array
        Positions at which periods begin, from before the first step on, and where the last one ends.
    at : int array
        Positions of the steps; none where time has no steps.
    """

    first: IntArray
    last: IntArray
    begins: IntArray
    at: IntArray

    def cut_elsewhere(self, stride: int) -> Grid:
        """The same, cut where the fewest events lie: amid the longest stretch of such phases."""
        length = int(np.diff(self.begins).max())
        phase = (self.first - self.begins[np.searchsorted(self.begins, self.first, side="right") - 1]) % length
        long = np.minimum(self.last - self.first, length)
        width = 1 if len(self.at) else -(-length // PHASES_IN_TIME)
        n = -(-length // width)
        begin, end = phase // width, (phase + long) // width
        over = _summed(begin + 1, end + 1, n)  # events that a cut before each phase divides
        there = _summed(begin, end + 1, n)
        cost = over * (len(self.first) + 1) + there + np.roll(there, 1)
        cut = _middle(cost == cost.min()) * width // stride * stride
        before = self.begins[0] - (self.begins[1] - self.begins[0])
        begins = np.concatenate([[before], self.begins]) + cut
        return Grid(first=self.first, last=self.last, begins=begins, at=self.at)


def _summed(first: IntArray, stop: IntArray, n: int) -> IntArray:
    """How many of the ranges of phases, which may go around the circle of n, hold each phase."""
    changes = np.zeros(2 * n + 2, dtype=np.int64)
    np.add.at(changes, first, 1)
    np.add.at(changes, np.minimum(stop, first + n), -1)
    counts = np.cumsum(changes)
    return np.asarray(counts[:n] + counts[n : 2 * n])


def _middle(flags: BoolArray) -> int:
    """The middle of the longest run of flags around the circle."""
    n = len(flags)
    if flags.all():
        return 0
    rolled = np.roll(flags, -int(np.argmin(flags)))  # from one that is not flagged on
    edges = np.flatnonzero(np.diff(np.concatenate([[0], rolled.astype(np.int8), [0]])))
    begins, ends = edges[::2], edges[1::2]
    longest = int(np.argmax(ends - begins))
    return int((begins[longest] + ends[longest]) // 2 + np.argmin(flags)) % n


def _on_steps(side: Truth, period: Length) -> Grid:
    """Steps by their number, masked ones counted, or by the clock, which may have gaps."""
    first, last = side.first_steps[side.wholes[0]], side.last_steps[side.wholes[1]]
    if not isinstance(period, str):
        at = np.flatnonzero(side.open_steps)
        long = in_places(period, side, "period", 2)
        begins = np.rint(np.arange(int(len(side.open_steps) / long) + 2) * long).astype(np.int64)
        return Grid(first=at[first], last=at[last], begins=begins, at=at)
    clock = side.clock
    if clock is None or not clock.is_dates or len(clock) < 2:
        raise InputError(
            argument="period",
            value=period,
            problem="is a length of time, but the data has no clock of dates",
            remedy=say("pass {}, or a number of steps", arg("times")),
        )
    step, unit = clock.step, clock.unit
    ticks = clock.local if period in UNITS else clock.ticks
    since = (ticks - ticks[0]).astype(np.float64) / step
    # a clock whose steps come a little early or late has them around their places, not between two
    off = float(np.angle(np.exp(2j * np.pi * since).mean())) / (2 * np.pi)
    at = np.rint(since - off).astype(np.int64)
    dates = ticks[[0, -1]].astype(f"datetime64[{unit}]")
    if period in UNITS:
        when = _calendar(period, dates[0], dates[1]).astype(f"datetime64[{unit}]").astype(np.int64)
        begins = np.rint((when - ticks[0]) / step - off).astype(np.int64)
    else:
        long = float(as_duration(period, "period") or 0) / (step * clock.tick_size)
        _refuse_short(long, period)
        begins = np.rint(np.arange(int((at[-1] + 1) / long) + 2) * long).astype(np.int64)
    return Grid(first=at[first], last=at[last], begins=begins, at=at)


def _in_time(side: TimedTruth, period: Length) -> Grid:
    """Ticks, of which those a stride apart are places."""
    watch, ticks = side.watch, side.watch.ticks
    if period in UNITS:
        if ticks.unit is None:
            raise InputError(
                argument="period", value=period, problem="needs dates", remedy="pass a length in the unit of the times"
            )
        ends = ticks.times(np.array([watch.first, int(watch.stops[-1]) - 1])).astype(np.int64)
        ends = ends if ticks.zone is None else ends + ticks.zone.ahead(ends, ticks.unit)
        dates = ends.astype(f"datetime64[{ticks.unit}]")
        when = _calendar(str(period), dates[0], dates[1]).astype(f"datetime64[{ticks.unit}]").astype(np.int64)
        begins = ticks.at_or_after(when if ticks.zone is None else ticks.zone.utc(when, ticks.unit))
    else:
        long = in_places(period, side, "period", 2) * watch.stride
        count = int((int(watch.stops[-1]) - watch.first) / long) + 2
        begins = watch.first + np.rint(np.arange(count) * long).astype(np.int64)
    begins = -(-begins // watch.stride) * watch.stride  # so that an event moves from place to place
    return Grid(first=side.at, last=side.at, begins=begins, at=np.zeros(0, dtype=np.int64))


def _refuse_short(long: float, period: str) -> None:
    if long < 2:
        raise InputError(argument="period", value=period, problem="must be a number of at least 2 steps")


def _calendar(word: str, first: Any, last: Any) -> npt.NDArray[Any]:
    """Where hours, days, weeks (from Monday on), months or years begin, and where the last one ends."""
    if word == "week":
        day = first.astype("datetime64[D]").astype(np.int64)
        weeks = np.arange(day - (day + 3) % 7, last.astype("datetime64[D]").astype(np.int64) + 8, 7)
        return np.asarray(weeks.astype("datetime64[D]"))
    begin, end = (date.astype(f"datetime64[{UNITS[word]}]") for date in (first, last))
    return np.arange(begin, end + 2)


# ---- which of them may change places


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Alike:
    """Periods that change places with each other, and the events that they take along.

    Attributes
    ----------
    rows : int array
        Which of all periods these are.
    events : int array
        Which events of the truth move, those of one period together.
    own : int array
        Of each of them, which of the periods with events it belongs to, from 0.
    homes : int array
        These periods, among all n.
    table, column, back : int arrays
        Event j begins at ``table[v, column[j]] + back[j]`` where its period takes the place of period v.
    """

    rows: IntArray = field(repr=False)
    events: IntArray
    own: IntArray
    homes: IntArray
    table: IntArray = field(repr=False)
    column: IntArray = field(repr=False)
    back: IntArray = field(repr=False)

    @property
    def n(self) -> int:
        """How many periods there are."""
        return len(self.rows)

    @property
    def k(self) -> int:
        """How many of them have events."""
        return len(self.homes)

    def starts(self, to: AnyArray) -> IntArray:
        """First steps of the events, for rows of where each of the k periods goes."""
        return np.asarray(self.table[to[:, self.own], self.column] + self.back)

    def everywhere(self) -> IntArray:
        """First steps of the events in each of the n periods: a row a period."""
        return np.asarray(self.table[:, self.column] + self.back)

    def drawn(self, generator: np.random.Generator, size: int) -> IntArray:
        """Random places of the k periods, a row a draw: the first of a random order of all n."""
        from nofluke.laws.montecarlo import kernels

        orders = np.empty((size, self.k), dtype=np.uint32)
        kernels.draw_orders(generator.integers(2**64, dtype=np.uint64), self.n, orders)
        return orders.astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Exchange:
    """What changes places, and what stays.

    Attributes
    ----------
    starts : int array
        First steps of the events as they are.
    classes : tuple of Alike
    n_periods : int
        All periods of which something was watched.
    crossed : bool array
        Which of these an event enters or leaves over the border.
    alone : bool array
        Which of these are the only one in their window or place of the cycle, or there without any events.
    edges : int array
        On steps, the first step of each of these periods, and the number of steps.
    number : int array
        Which periods these are, counting also those of which nothing was watched.
    """

    starts: IntArray = field(repr=False)
    classes: tuple[Alike, ...]
    n_periods: int
    crossed: BoolArray = field(repr=False)
    alone: BoolArray = field(repr=False)
    edges: IntArray = field(repr=False)
    number: IntArray = field(repr=False)

    @property
    def n_moving(self) -> int:
        """Periods that change places."""
        return sum(one.n for one in self.classes)

    @property
    def n_eventful(self) -> int:
        """Those of them that have events."""
        return sum(one.k for one in self.classes)

    @property
    def moving(self) -> IntArray:
        """Which periods change places."""
        return np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *(one.rows for one in self.classes)]))

    def counted(self, steps: IntArray) -> IntArray:
        """How many of these ascending steps each period has."""
        return np.diff(np.searchsorted(steps, self.edges))

    @property
    def moved(self) -> IntArray:
        """Which events move."""
        return np.concatenate([np.zeros(0, dtype=np.int64), *(one.events for one in self.classes)])

    @property
    def log_arrangements(self) -> float:
        """Logarithm of how many there are: n!/(n - k)! in each class."""
        return sum(math.lgamma(one.n + 1) - math.lgamma(one.n - one.k + 1) for one in self.classes)

    def stay(self) -> IntArray:
        """Which events never move."""
        return np.setdiff1d(np.arange(len(self.starts)), self.moved)

    @property
    def staying(self) -> dict[str, int]:
        """How many periods stay, by the reason."""
        stay = np.ones(self.n_periods, dtype=np.bool_)
        stay[self.moving] = False
        ends = np.isin(np.arange(len(stay)), (0, len(stay) - 1)) & ~self.crossed
        inside = ~ends & ~self.crossed
        kinds = {INCOMPLETE: ends, CROSSED: self.crossed, GAPS: inside & ~self.alone, ALONE: inside & self.alone}
        return {said: n for said, which in kinds.items() if (n := int(np.count_nonzero(stay & which)))}


def _exchange(null: PeriodShuffle, side: Truth) -> Exchange:
    """What changes places on these data."""
    grid = side.by_axis(steps=lambda side: _on_steps(side, null.period), ticks=lambda side: _in_time(side, null.period))
    stride = side.by_axis(steps=lambda _: 1, ticks=lambda side: side.watch.stride)
    grid = grid if null.period in UNEQUAL or not len(grid.first) else grid.cut_elsewhere(stride)
    return side.by_axis(steps=lambda side: _of_steps(null, side, grid), ticks=lambda side: _of_ticks(null, side, grid))


def _of_steps(null: PeriodShuffle, side: Truth, grid: Grid) -> Exchange:
    at = grid.at
    # an hour of local time may come twice
    number = np.maximum.accumulate(np.searchsorted(grid.begins, at, side="right") - 1)
    new = ends_of(number[1:] != number[:-1])[0]
    there, period, begins = number[new], np.cumsum(new) - 1, np.flatnonzero(new)
    slot = np.maximum(at - grid.begins[there[period]], 0)
    width = int(np.diff(grid.begins).max())
    _refuse_cells(len(there), width, null)
    counts = np.bincount(period * width + slot, minlength=len(there) * width).reshape(len(there), width)
    first, last = side.first_steps, side.last_steps
    before = np.cumsum(counts, axis=1) - counts

    def places(rows: IntArray, events: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        slots, column = np.unique(slot[first[events]], return_inverse=True)
        table = begins[rows][:, None] + before[np.ix_(rows, slots)]
        own = np.searchsorted(rows, period[first[events]])
        return table, column, side.starts[events] - table[own, column]

    # a piece of a range that lies across a border stays as all of that range does
    whole = first[side.wholes[0]], last[side.wholes[1]]
    across = period[whole[0]] != period[whole[1]]
    ends_in = np.where(across, period[whole[0]], period[first]), np.where(across, period[whole[1]], period[last])
    ends = ends_in, (slot[first], slot[last])
    edges = np.append(begins, side.n_steps)
    return _classes(side, counts, *ends, null, there, places, edges)


def _of_ticks(null: PeriodShuffle, side: TimedTruth, grid: Grid) -> Exchange:
    watch, begins = side.watch, grid.begins
    longest = int(np.diff(begins).max())
    width = -(-longest // PHASES_IN_TIME)
    n = -(-longest // width)
    _refuse_cells(len(begins), n, null)
    edges = begins[:-1, None] + np.arange(n) * width
    stops = np.minimum(edges + width, begins[1:, None])
    whole = watch.holds_all(edges.ravel(), stops.ravel() - 1).reshape(edges.shape) & (stops > edges)
    counts = np.where(whole, stops - edges, 0)  # phases are alike if as much of them was watched: all
    kept = np.flatnonzero(counts.any(axis=1) | np.isin(np.arange(len(counts)), _period_of(begins, side.at)))
    counts = counts[kept]
    period = np.searchsorted(kept, _period_of(begins, side.at))
    slot = (side.at - begins[kept[period]]) // width

    def places(rows: IntArray, events: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        since = side.at[events] - begins[kept[period[events]]]
        ticks = begins[kept[rows]][:, None] + since
        table = watch.places_before(ticks.ravel()).reshape(ticks.shape) * side.slots
        return table, np.arange(len(events)), side.starts[events] - side.places[events] * side.slots

    return _classes(side, counts, (period, period), (slot, slot), null, kept, places, np.zeros(0, dtype=np.int64))


def _period_of(begins: IntArray, at: IntArray) -> IntArray:
    return np.searchsorted(begins, at, side="right") - 1


def _refuse_cells(n_periods: int, n_phases: int, null: PeriodShuffle) -> None:
    if n_periods * n_phases > MOST_CELLS:
        raise InputError(
            argument="null",
            value=null.text,
            problem=f"cuts the time into {n_periods:,} periods of {n_phases:,} phases, more than can be looked at",
            remedy="pass another period",
        )


def _labels(null: PeriodShuffle, number: IntArray) -> IntArray:
    """Periods that may change places have the same label: the window of time, and the place in the cycle.

    ``number`` counts all periods, also those that were not watched.
    """
    n = len(number)
    if null.windows > n:
        raise InputError(
            argument="null",
            value=null.text,
            problem=f"cuts the sequence into {null.windows:,} windows, but it has only {plural(n, 'period')}",
            remedy="pass fewer",
        )
    return np.asarray(np.arange(n) * null.windows // n * null.cycle + number % null.cycle)


def _classes(
    side: Truth,
    counts: IntArray,
    period: tuple[IntArray, IntArray],
    slot: tuple[IntArray, IntArray],
    null: PeriodShuffle,
    number: IntArray,
    places: Any,
    edges: IntArray,
) -> Exchange:
    """Classes of periods that were watched alike, and what moves among them."""
    labels = _labels(null, number)
    crossing = np.flatnonzero(period[0] != period[1])
    fixed = np.zeros(len(counts), dtype=np.bool_)
    for i in crossing.tolist():
        fixed[period[0][i] : period[1][i] + 1] = True
    inner = np.flatnonzero(~fixed[period[0]])
    phases = Phases.of(slot[0][inner], slot[1][inner], counts.shape[1])
    found, alone, eventful = [], np.zeros(len(counts), dtype=np.bool_), np.unique(labels[period[0][inner]])
    for label in np.unique(labels[~fixed]).tolist():
        mine = np.flatnonzero((labels == label) & ~fixed)
        alone[mine] = len(mine) < 2 or label not in eventful
        for rows, common in _alike(counts, phases, mine):
            found += _moving(rows, common, inner, period[0], slot, places)
    return Exchange(
        starts=side.starts,
        classes=tuple(found),
        n_periods=len(counts),
        crossed=fixed,
        alone=alone,
        edges=edges,
        number=number,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Phases:
    """The phases of the events that may move: of which each moves only among periods that have watched all of its own.

    Attributes
    ----------
    first, last, times : int arrays
        The first and the last phase of events, each pair once, and how many have it.
    weight : float array
        How many events each phase has, and a trifle for those that have none.
    mark : float array
        A number for each phase, whose sums tell patterns of phases apart, so that equal ones stand together.
    """

    first: IntArray
    last: IntArray
    times: IntArray
    weight: FloatArray
    mark: FloatArray

    @classmethod
    def of(cls, first: IntArray, last: IntArray, n: int) -> Phases:
        """Those of events, of n phases."""
        pairs, times = np.unique(first * n + last, return_counts=True)
        over = np.cumsum(np.bincount(first, minlength=n + 1) - np.bincount(last + 1, minlength=n + 1))[:n]
        mark = np.random.default_rng(0).random(n)
        return cls(first=pairs // n, last=pairs % n, times=times, weight=over + 1e-6 / n, mark=mark)


def _alike(counts: IntArray, phases: Phases, left: IntArray) -> Iterator[tuple[IntArray, BoolArray]]:
    """Classes of periods, and the phases that all of a class have watched: what leaves most events most places to go.

    Those that miss the fewest phases with events come first; a class ends where one more would cost its others more
    than it adds.
    """
    for _ in range(MOST_CLASSES):
        if len(left) < 2:
            return
        some = counts[left]
        if (some == some[0]).all():
            yield left, np.ones(counts.shape[1], dtype=np.bool_)
            return
        typical = np.sort(some, axis=0)[len(left) // 2]
        alike = some == typical
        order = np.lexsort((alike @ phases.mark, -(alike @ phases.weight).round(3)))
        common = np.logical_and.accumulate(alike[order], axis=0)
        # only the last of those with the same phases in common can be best
        ends = np.flatnonzero(np.append(np.diff(np.count_nonzero(common, axis=1)) != 0, True))
        missing = np.zeros((len(ends), counts.shape[1] + 1), dtype=np.int32)
        np.cumsum(~common[ends], axis=1, out=missing[:, 1:])
        inside = (missing[:, phases.last + 1] == missing[:, phases.first]) @ phases.times
        score = ends * (inside + common[ends].mean(axis=1) * 1e-6)
        best = int(ends[np.argmax(score)])
        if best == 0:
            return
        yield np.sort(left[order[: best + 1]]), common[best]
        left = np.sort(left[order[best + 1 :]])


def _moving(
    rows: IntArray, common: BoolArray, inner: IntArray, period: IntArray, slot: tuple[IntArray, IntArray], places: Any
) -> list[Alike]:
    """A class, less periods with an event that is partly in phases which others have not watched."""
    events = inner[_held(rows, period[inner])]
    if not common.all():
        missing = np.concatenate([[0], np.cumsum(~common)])
        off = missing[slot[1][events] + 1] - missing[slot[0][events]]
        partly = (off > 0) & (off <= slot[1][events] - slot[0][events])
        rows = np.setdiff1d(rows, period[events[partly]])
        events = events[off == 0]
        events = events[_held(rows, period[events])]
    if len(rows) < 2 or not len(events):
        return []
    home = np.searchsorted(rows, period[events])
    new = ends_of(home[1:] != home[:-1])[0]
    table, column, back = places(rows, events)
    return [
        Alike(rows=rows, events=events, own=np.cumsum(new) - 1, homes=home[new], table=table, column=column, back=back)
    ]


def _held(rows: IntArray, values: IntArray) -> BoolArray:
    """Which of the values are among ascending rows."""
    return np.asarray(np.searchsorted(rows, values, side="right") > np.searchsorted(rows, values))


# ---- both hits: what each period's events get in each place, and sums over random matchings of the two


def _hits(exchange: Exchange, cell: Cell) -> tuple[list[IntArray], list[IntArray] | None, int, int]:
    """Hits of recall and of precision of each period with events in each place, by class, and of what stays.

    Precision's are None where they do not add up: where the events of two periods may find the same prediction.
    """
    recall, precision, hulls = [], [], []
    for one in exchange.classes:
        first, last, found = _near(cell, one.everywhere(), one.events)
        edges = np.searchsorted(one.own, np.arange(one.k))
        recall.append(np.add.reduceat(found.astype(np.int64), edges, axis=1).T)
        parts = list(zip(np.split(first, edges[1:], axis=1), np.split(last, edges[1:], axis=1), strict=True))
        precision.append(np.array([hit_by_any(*part) for part in parts]))
        hulls.append(_hull(first, last))
    stay = exchange.stay()
    first, last, found = _near(cell, exchange.starts[stay][None], stay)
    hulls.append(_hull(first.T, last.T))
    apart = _apart(np.concatenate(hulls), len(hulls[-1]))
    return recall, precision if apart else None, int(found.sum()), int(hit_by_any(first, last)[0])


def _near(cell: Cell, rows: IntArray, events: IntArray) -> tuple[IntArray, IntArray, BoolArray]:
    """For each placed event, the predictions that it makes hits, from first up to last, and whether it is found."""

    def in_time(cell: TimedCell) -> tuple[IntArray, IntArray, BoolArray]:
        return *cell.stretches.hit_from(rows), in_ranges(rows, cell.zone)

    return cell.by_axis(steps=lambda cell: predictions_near(cell, rows, events), ticks=in_time)


def _hull(first: IntArray, last: IntArray) -> IntArray:
    """Of each row, the first prediction and the one behind the last, wherever events find some; few rows do not."""
    some = last > first
    low = np.where(some, first, np.iinfo(np.int64).max).min(axis=1, initial=np.iinfo(np.int64).max)
    return np.stack([low, np.where(some, last, 0).max(axis=1, initial=0)], axis=1)[some.any(axis=1)]


def _apart(hulls: IntArray, n_stay: int) -> bool:
    """Whether no two hulls overlap, but for the last ones, of events that stay."""
    stays = np.zeros(len(hulls), dtype=np.bool_)
    stays[len(hulls) - n_stay :] = True
    order = np.argsort(hulls[:, 0], kind="stable")
    low, high, stays = hulls[order, 0], hulls[order, 1], stays[order]
    reached, by_moving = 0, 0
    for one, (begin, end) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        if begin < (by_moving if stays[one] else reached):
            return False
        reached = max(reached, end)
        by_moving = by_moving if stays[one] else max(by_moving, end)
    return True


def matching_cost(hits: IntArray) -> float:
    """Operations of `matching_table`."""
    k = len(hits)
    return float(np.count_nonzero(hits.any(axis=0))) * k * 2.0 ** (k - 1) * (int(hits.max(axis=1).sum()) + 1)


def matching_table(hits: IntArray) -> FloatArray:
    """P(Σᵢ hits[i, σ(i)] = s) for a random injective σ of the k rows into the n columns, s from 0 on. Exact.

    A programme over subsets: column by column, F(S, s) is the number of ways to give the columns so far to the rows in
    S with s hits; a column stays free, or goes to one of the rows. Columns without hits are given out at the end.

    >>> matching_table(np.array([[1, 0, 0], [0, 1, 0]]))  # 6 ways: one has both, one each has one, and none twice more
    array([0.5       , 0.33333333, 0.16666667])
    """
    k, n = hits.shape
    most = int(hits.max(axis=1, initial=0).sum())
    ways = np.zeros((2**k, most + 1))
    ways[0, 0] = 1.0
    busy = np.flatnonzero(hits.any(axis=0))
    for column in hits[:, busy].T.tolist():
        before = ways.copy()
        for row, h in enumerate(column):
            old, new = (table.reshape(2 ** (k - 1 - row), 2, 2**row, most + 1) for table in (before, ways))
            new[:, 1, :, h:] += old[:, 0, :, : most + 1 - h]
    given = np.zeros(1, dtype=np.int64)
    for _ in range(k):  # bits that are set
        given = np.concatenate([given, given + 1])
    free = n - len(busy)
    rest = np.array([math.perm(free, k - g) / math.perm(n, k) for g in range(k + 1)])
    return np.asarray(rest[given] @ ways)


# ---- the null


@dataclass(frozen=True, kw_only=True)
class PeriodShuffle(NullModel):
    """Whole periods change places: the events of each go together to another one; the predictions are fixed.

    Keeps a season of that period, ranges, and everything that happens within a period; destroys on which of the periods
    it happens. Use it where events are ranges or come in clusters and both sides follow a season: days, most often. It
    takes the periods for exchangeable: bad days may be much worse than others, but may not follow each other.

    Periods are cut at the phase with the fewest events. Those with an event across their border, those that it enters,
    and those that were not watched as others were stay as they are, or change places only with their like: in classes
    of periods that were watched alike, on the phases that all of the class have watched. The test is exact given the
    period; where that was chosen from the data, its level is measured (docs/explanation/nulls.md).

    Recall's hits are exact where few periods have events (about 14): a sum over a random matching, by a programme over
    subsets. Precision's are too, where the events of two periods cannot find the same prediction. Else both are
    simulated.

    Parameters
    ----------
    period : int, float or str
        Steps; or a length of time on a clock ("1d", "36h"), which may have gaps; or "hour", "day", "week", "month" or
        "year" of a clock of dates.
    windows : int, default 1
        Periods change places only within each of so many windows of time: for rates that change slowly.
    cycle : int, default 1
        Periods change places only with those that lie a multiple of so many periods away: 7 for days of the same
        weekday.
    programme_operations : float
        Up to how many operations laws are worked out exactly.

    See Also
    --------
    nofluke.nulls.CircularShift : ``every=`` shifts by whole periods, and keeps their order too.
    nofluke.nulls.Seasonal : moves single events within their phase.

    Examples
    --------
    >>> import numpy as np, nofluke as nf
    >>> mornings = [(24 * day + 9, 24 * day + 11) for day in (1, 4, 5, 9, 12)]  # 9 to 12 o'clock, of fourteen days
    >>> alarms = np.zeros(14 * 24, dtype=bool)
    >>> alarms[[start + 1 for start, _ in mornings]] = True
    >>> result = nf.evaluate(mornings, predictions=alarms, null="period-shuffle:period=24")
    >>> float(round(result.recall_test.pvalue * 2002, 6))  # days can be chosen in 2,002 ways
    1.0

    References
    ----------
    Good (2005), Permutation, Parametric, and Bootstrap Tests of Hypotheses (restricted permutations).
    """

    period: Length
    windows: int = 1
    cycle: int = 1
    programme_operations: float = field(default=OPERATIONS, repr=False)

    name: ClassVar[str] = "period-shuffle"
    methods: ClassVar[tuple[Method, ...]] = ("auto", "exact", "montecarlo")
    takes_ranges: ClassVar[bool] = True
    takes_times: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "period", as_period(self.period, "period", 2, UNITS))
        for name in ("windows", "cycle"):
            object.__setattr__(self, name, as_whole(getattr(self, name), name, 1, MOST_STEPS))
        object.__setattr__(self, "programme_operations", as_operations(self.programme_operations))

    @property
    def assumption(self) -> str:
        return self.assumed(in_time=False)

    def assumed(self, *, in_time: bool) -> str:
        told = "Chance {}, so that ranges stay whole and keep their phase; the {predictions} stay in place."
        return say(told, self._exchanges(in_time))

    @property
    def assumption_of_series(self) -> str:
        told = "Chance {}, so that labelled ranges stay whole and keep their phase; the detector stays in place."
        return say(told, self._exchanges(False))

    def _exchanges(self, in_time: bool) -> str:
        """What it does, as the rest of a sentence."""
        what = f"whole {self.period}s" if self.period in UNITS else f"whole periods of {in_words(self.period, in_time)}"
        where = f" within each of {self.windows:,} windows of time" if self.windows > 1 else ""
        which = f", those a multiple of {self.cycle:,} apart," if self.cycle > 1 else ""
        return say("exchanges {}{} with all their {events}{}", what, which, where)

    @property
    def keeps(self) -> frozenset[Kept]:
        """A season and all within a period; slow changes within windows of time."""
        kept: set[Kept] = {"runs", "clusters", "season"}
        return frozenset(kept | {"drift"} if self.windows > 1 else kept)

    @property
    def settings(self) -> dict[str, Any]:
        """How much work is spent is no part of what chance does."""
        return {key: value for key, value in super().settings.items() if key != "programme_operations"}

    def hurried(self, operations: float = math.inf) -> PeriodShuffle:
        return replace(self, programme_operations=min(self.programme_operations, CELL_OPERATIONS, operations))

    @property
    def unit(self) -> str:
        """What is exchanged, as a word."""
        return str(self.period) if self.period in UNITS else "period"

    def exchange(self, side: Truth) -> Exchange:
        """What changes places on these data, worked out once."""
        return side.once(self.text, lambda: _exchange(self, side))

    def fits(self, side: Truth) -> None:
        """Refuse data without such periods."""
        self.exchange(side)

    def remark(self, side: Truth) -> str:
        """How many periods stay as they are, and why."""
        found = self.exchange(side)
        if not found.staying:
            return ""
        return say(
            "{:,} of {} change places, with {:,} of {}; the others stay as they are ({}).",
            found.n_moving,
            plural(found.n_periods, self.unit),
            len(found.moved),
            plural(len(found.starts), side.noun),
            joined(", ", (say("{:,} {}", n, said) for said, n in found.staying.items())),
        )

    def draw(self, side: Truth) -> Draw:
        """Each period with events in a random place of its class."""
        found = self.exchange(side)

        def exchanged(generator: np.random.Generator, size: int) -> npt.NDArray[Any]:
            rows = np.tile(found.starts, (size, 1))
            for one in found.classes:
                rows[:, one.events] = one.starts(one.drawn(generator, size))
            return rows

        return exchanged

    def perfect_alarms(self, cell: Cell) -> Iterable[Cell]:
        """In another period with events at the same phase, perfect alarms are found again."""
        return cell.with_perfect_alarms()

    def exact_sides(self, cell: Cell, times: int = 1) -> tuple[str, ...]:
        found = self.exchange(cell.truth)
        # where not all events count, recall is a ratio of two sums: that is simulated
        if cell.counted is not None or max((one.k for one in found.classes), default=0) > 30:
            return ()
        recall, precision, *_ = self._sums(cell)
        sides = {"precision": precision, "recall": recall}
        return tuple(
            side
            for side, hits in sides.items()
            if hits is not None and sum(map(matching_cost, hits)) * times <= self.programme_operations
        )

    def _sums(self, cell: Cell) -> tuple[list[IntArray], list[IntArray] | None, int, int]:
        return cell.once(self, lambda: _hits(self.exchange(cell.truth), cell))

    def law_of(self, cell: Cell, side: str) -> Law:
        recall, precision, *still = self._sums(cell)
        hits, kept, size = (
            (recall, still[0], cell.n_events) if side == "recall" else (precision or [], still[1], cell.n_predictions)
        )
        table = np.zeros(kept + 1)
        table[kept] = 1.0
        for one in hits:
            table = np.convolve(table, matching_table(one))
        table = np.concatenate([table, np.zeros(max(size + 1 - len(table), 0))])[: size + 1]
        values = np.arange(len(table))
        mean = float(values @ table)
        return TableLaw(table, mean=mean, var=float((values - mean) ** 2 @ table), method=exactly("all exchanges"))

    def known_laws(self, cell: Cell, method: Method) -> dict[str, Law]:
        sides = self.exact_sides(cell)
        if method == "exact" and len(sides) < 2:
            raise InputError(
                argument="method",
                value="exact",
                problem=f"is not affordable under the null {self.text} with so many periods that have events, or not "
                "available where two of them may find the same prediction",
                remedy=say("use {}, which simulates it", arg("method", "auto")),
            )
        return {side: self.law_of(cell, side) for side in sides}
