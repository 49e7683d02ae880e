"""Events on steps: ranges of them, and what counts as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, ByValue, IntArray
from nofluke.errors import InputError
from nofluke.lazy import Keeper, lazy
from nofluke.series.clock import Clock, in_gaps
from nofluke.series.counting import flags_of, runs
from nofluke.series.tolerance import Ranges

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spans(ByValue):
    """Ranges that ascend and do not overlap, though they may touch.

    Attributes
    ----------
    starts, stops : int arrays
        Each covers the steps from ``starts`` up to, not including, ``stops``; none, where it lies between two steps.
    begins, ends : arrays of ticks, or None
        Its own ends on the clock; None where there is no clock.
    opens : bool array of two rows, or None
        Which of the begins and of the ends do not belong to their range; None where all do.
    pieces : int array, or None
        For each the number of the range that it is a piece of; None where none was split.
    """

    starts: IntArray = field(repr=False)
    stops: IntArray = field(repr=False)
    begins: AnyArray | None = field(repr=False, default=None)
    ends: AnyArray | None = field(repr=False, default=None)
    opens: BoolArray | None = field(repr=False, default=None)
    pieces: IntArray | None = field(repr=False, default=None)

    @classmethod
    def of_runs(cls, flags: BoolArray, clock: Clock | None) -> Spans:
        """Each run of flagged steps as one range.

        >>> found = Spans.of_runs(np.array([0, 1, 1, 0, 1], dtype=bool), None)
        >>> found.starts, found.stops
        (array([1, 4]), array([3, 5]))
        """
        found = runs(np.flatnonzero(flags))
        return cls.of_steps(found.starts, found.stops, clock)

    @classmethod
    def of_steps(cls, starts: IntArray, stops: IntArray, clock: Clock | None) -> Spans:
        """Ranges of steps, at least one each, whose ends are the times of their first and last step."""
        if clock is None:
            return cls(starts=starts, stops=stops)
        return cls(starts=starts, stops=stops, begins=clock.ticks[starts], ends=clock.ticks[stops - 1])

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def between(self) -> BoolArray:
        """Which of them lie between two steps."""
        return np.asarray(self.starts == self.stops)

    def in_gaps(self, clock: Clock | None) -> BoolArray:
        """Which of them begin and end in a gap of the clock: none of their time is that of a step."""
        found = self.between
        if clock is not None and self.begins is not None and found.any():
            found[found] = in_gaps(clock, self.begins[found], self.starts[found] - 1)
        return found

    def only(self, kept: BoolArray) -> Spans:
        """Some of them."""
        rest = {name: getattr(self, name) for name in ("begins", "ends", "opens", "pieces")}
        some = {name: None if own is None else own[..., kept] for name, own in rest.items()}
        return Spans(starts=self.starts[kept], stops=self.stops[kept], **some)

    def merged(self, near: BoolArray) -> Spans:
        """With each that is ``near`` the one before it merged into that."""
        first = ~near
        last = np.append(first[1:], True) if len(first) else first
        opens = None if self.opens is None else np.stack([self.opens[0][first], self.opens[1][last]])
        begins, ends = (
            (None if self.begins is None else self.begins[first]),
            (None if self.ends is None else self.ends[last]),
        )
        return Spans(starts=self.starts[first], stops=self.stops[last], begins=begins, ends=ends, opens=opens)

    def split(self, length: Any, behind: AnyArray, clock: Clock | None) -> Spans:
        """With those that last longer than a length of ticks, or of steps, cut into pieces of that length and a rest.

        ``behind`` is where each of them ends.

        >>> found = Spans(starts=np.array([0, 9]), stops=np.array([7, 10])).split(3, np.array([7, 10]), None)
        >>> found.starts, found.stops, found.pieces
        (array([0, 3, 6, 9]), array([ 3,  6,  7, 10]), array([0, 0, 0, 1]))
        """
        begins = self.starts if clock is None or self.begins is None else self.begins
        many = np.maximum(np.ceil((behind - begins) / length), 1).astype(np.int64)
        if not (many > 1).any():
            return self
        of = np.repeat(np.arange(len(self)), many)
        number = np.arange(len(of)) - np.repeat(np.cumsum(many) - many, many)
        first, last = number == 0, number == many[of] - 1
        cuts = begins[of] + number * length  # where each piece begins
        if clock is None or self.begins is None or self.ends is None:
            starts = np.where(first, self.starts[of], np.ceil(cuts)).astype(np.int64)
            return Spans(starts=starts, stops=np.where(last, self.stops[of], np.append(starts[1:], 0)), pieces=of)
        steps = np.clip(np.searchsorted(clock.ticks, cuts, side="left"), self.starts[of], self.stops[of])
        starts = np.where(first, self.starts[of], steps)
        opens = (
            np.zeros((2, len(of)), dtype=np.bool_)
            if self.opens is None
            else self.opens[:, of] & np.stack([first, last])
        )
        opens[1] |= ~last
        return Spans(
            starts=starts,
            stops=np.where(last, self.stops[of], np.append(starts[1:], 0)),
            begins=np.where(first, begins[of], cuts).astype(begins.dtype),
            ends=np.where(last, self.ends[of], np.append(cuts[1:], 0)).astype(begins.dtype),
            opens=opens,
            pieces=of,
        )

    def flags(self, n_steps: int) -> BoolArray:
        """Which of so many steps belong to a range."""
        return flags_of(Ranges(starts=self.starts, stops=self.stops), n_steps)

    def among(self, open_steps: BoolArray, clock: Clock | None) -> Spans:
        """Those that have an open step, each from its first to its last one.

        One between two steps belongs to the step before it, as all times do.
        """
        if open_steps.all():
            return self
        at = np.flatnonzero(open_steps)
        rank = np.concatenate([[0], np.cumsum(open_steps)])
        kept = np.where(self.between, open_steps[np.maximum(self.starts - 1, 0)], rank[self.stops] > rank[self.starts])
        starts, stops = self.starts[kept], self.stops[kept]
        some = stops > starts
        first, last = starts.copy(), stops.copy()
        first[some], last[some] = at[rank[starts[some]]], at[rank[stops[some]] - 1] + 1

        def moved(own: AnyArray | None, changed: Any, to: IntArray) -> AnyArray | None:
            return None if own is None or clock is None else np.where(changed, clock.ticks[to], own[kept])

        return Spans(
            starts=first,
            stops=last,
            begins=moved(self.begins, first > starts, np.minimum(first, len(open_steps) - 1)),
            ends=moved(self.ends, last < stops, np.maximum(last - 1, 0)),
            # an end that was cut off at a masked step leaves one that belongs to the range
            opens=None if self.opens is None else self.opens[:, kept] & np.stack([first == starts, last == stops]),
            pieces=None if self.pieces is None else self.pieces[kept],
        )


# ---- the events of a series, in the steps that count: single steps, whole ranges, or times between two steps

CountEvents = Literal["steps", "ranges"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Truth(Keeper):
    """Where the events are, and what a null may know of the series besides: its length and its clock.

    Attributes
    ----------
    starts, stops : int arrays, ascending
        Each event covers the steps from ``starts`` up to, not including, ``stops``: one step for a point, several for a
        range, none for an event between two steps. Events do not overlap, but may touch.
    n_steps : int
        T, the steps that count.
    clock : Clock or None
        Times of these steps.
    open_steps : bool array
        Which of all steps count: masked steps take up time, and phases of a season in steps are counted over them too.
    begins, ends : arrays of ticks, or None
        On a clock, the events' own ends, from which a tolerance in time is measured; None where they are those of their
        steps.
    opens : bool array of two rows, or None
        Which begins and which ends do not belong to their events; None where all do.
    count_events : {"steps", "ranges"}
        What an event is: a step, or a range, which may happen to be one step long.
    pieces : int array, or None
        For each event the number of the range that it is a piece of: pieces of one range move together. None where no
        range was split.
    n : int
        m, the number of events.

    Examples
    --------
    >>> truth = Truth.of_flags(np.array([0, 1, 1, 0, 1], dtype=bool))
    >>> truth.n, truth.starts, truth.points
    (3, array([1, 2, 4]), True)
    """

    starts: IntArray = field(repr=False)
    stops: IntArray = field(repr=False)
    n_steps: int
    clock: Clock | None = field(repr=False, default=None)
    open_steps: BoolArray = field(repr=False)
    begins: AnyArray | None = field(repr=False, default=None)
    ends: AnyArray | None = field(repr=False, default=None)
    opens: BoolArray | None = field(repr=False, default=None)
    count_events: CountEvents = "steps"
    pieces: IntArray | None = field(repr=False, default=None)
    n: int = field(init=False, repr=False)

    in_time: ClassVar[bool] = False  # whether events are at their own times, on ticks, and not on steps
    place: ClassVar[str] = "step"  # what a place is called

    def by_axis(self, *, steps: Callable[[Truth], Answer], ticks: Callable[[Any], Answer]) -> Answer:
        """The answer of the function for this axis, asked with this object: for what differs on steps and in time."""
        return ticks(self) if self.in_time else steps(self)

    def __post_init__(self) -> None:
        starts, stops = self.starts, self.stops
        object.__setattr__(self, "n", len(starts))
        ordered = bool((starts[1:] >= stops[:-1]).all() and (starts <= stops).all()) if len(starts) else True
        if len(starts) != len(stops) or not ordered:
            raise InputError(
                argument="events",
                problem="must be ascending ranges of steps that do not overlap",
                remedy="merge those that do",
            )
        if len(starts) and not (starts[0] >= 0 and stops[-1] <= self.n_steps):
            raise InputError(argument="events", problem=f"must lie within the {self.n_steps} steps that count")

    def __getstate__(self) -> dict[str, object]:
        """Without what can be worked out again."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @classmethod
    def of_flags(cls, flags: BoolArray, clock: Clock | None = None, open_steps: BoolArray | None = None) -> Truth:
        """Points, from one flag for each step that counts."""
        at = np.flatnonzero(flags)
        every = np.ones(len(flags), dtype=np.bool_) if open_steps is None else open_steps
        return cls(starts=at, stops=at + 1, n_steps=len(flags), clock=clock, open_steps=every)

    @classmethod
    def of_spans(cls, spans: Spans, clock: Clock | None, open_steps: BoolArray) -> Truth:
        """Ranges, given over all steps, on those that count; the clock is of these."""
        starts, stops, n_steps = spans.starts, spans.stops, len(open_steps)
        if not open_steps.all():
            rank = np.concatenate([[0], np.cumsum(open_steps)]).astype(np.int64)
            starts, stops, n_steps = rank[starts], rank[stops], int(rank[-1])
        return cls(
            starts=starts,
            stops=stops,
            n_steps=n_steps,
            clock=clock,
            open_steps=open_steps,
            begins=spans.begins,
            ends=spans.ends,
            opens=spans.opens,
            count_events="ranges",
            pieces=spans.pieces,
        )

    @property
    def noun(self) -> str:
        """What an event is called: "event" for a step, "range" for a range."""
        return "range" if self.count_events == "ranges" else "event"

    @property
    def places(self) -> IntArray:
        """Where events are, among what can be shifted: the steps; ticks, where events keep their own times."""
        return self.starts

    @property
    def n_places(self) -> int:
        """How many places there are."""
        return self.n_steps

    def steps_of(self, places: AnyArray) -> AnyArray:
        """The steps of places."""
        return places

    @lazy
    def points(self) -> bool:
        """Whether every event is a single step, and on a clock has no ends of its own beside it."""
        if not (self.stops - self.starts == 1).all():
            return False
        if self.begins is None or self.ends is None or self.clock is None:
            return True
        when = self.clock.ticks[self.starts]
        return bool((self.begins == when).all() and (self.ends == when).all())

    @lazy
    def flags(self) -> BoolArray:
        """Which steps belong to an event."""
        flags = flags_of(Ranges(starts=self.starts, stops=self.stops), self.n_steps)
        flags.setflags(write=False)  # kept, and given to functions of the user's
        return flags

    @lazy
    def runs(self) -> Ranges:
        """Points that follow one another, as ranges."""
        return runs(self.starts)

    @property
    def first_steps(self) -> IntArray:
        """The first step of each event; for one between two steps, the one before it."""
        return np.minimum(self.starts, self.last_steps)

    @property
    def last_steps(self) -> IntArray:
        """The last step of each event; for one between two steps, the one before it."""
        return np.maximum(self.stops - 1, 0)

    @lazy
    def wholes(self) -> tuple[IntArray, IntArray]:
        """For each event, the first and the last event of the range that it is a piece of: itself where it is whole."""
        own = np.arange(self.n)
        if self.pieces is None:
            return own, own
        first = np.searchsorted(self.pieces, self.pieces, side="left")
        return first, np.searchsorted(self.pieces, self.pieces, side="right") - 1

    def moved(self, starts: IntArray) -> Truth:
        """The same events, as long as they are, from other steps on (in any order); points that meet are one."""
        if self.points:
            at = np.unique(np.asarray(starts, dtype=np.int64))
            return replace(self, starts=at, stops=at + 1, begins=None, ends=None, opens=None, pieces=None)
        lengths = self.stops - self.starts
        order = np.lexsort((lengths, starts))  # one without a step lies before the step that it shares
        begin = np.asarray(starts, dtype=np.int64)[order]
        stops = begin + lengths[order]
        return replace(self, starts=begin, stops=stops, begins=None, ends=None, opens=None, pieces=None)

    def cut_at(self, edges: Sequence[int]) -> Truth:
        """The same labels, with ranges that reach over one of these steps cut in two there.

        >>> flags = np.ones(4, dtype=bool)
        >>> whole = Truth(starts=np.array([1]), stops=np.array([4]), n_steps=4, open_steps=flags)
        >>> whole.cut_at([2]).starts
        array([1, 2])
        """
        inner = np.asarray(edges, dtype=np.int64)
        inside = inner[
            np.searchsorted(self.starts, inner, side="left") > np.searchsorted(self.stops, inner, side="right")
        ]
        if not len(inside):
            return self
        starts, stops = (np.sort(np.concatenate([ends, inside])) for ends in (self.starts, self.stops))
        return replace(self, starts=starts, stops=stops, begins=None, ends=None, opens=None, pieces=None)
