"""Nulls that shuffle pieces of the event sequence: gaps, blocks, or whole runs. All by Monte Carlo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nofluke.errors import arg, say
from nofluke.laws.montecarlo import Draw
from nofluke.nulls.base import Kept, NullModel
from nofluke.plain import MOST_STEPS, as_whole
from nofluke.series.truth import Truth


class _Shuffle(NullModel):
    """What they have in common: pieces stay whole, their order and so a season do not."""

    takes_times: ClassVar[bool] = True

    @property
    def keeps(self) -> frozenset[Kept]:
        return frozenset({"runs", "clusters"})


def _untrusted(what: str) -> str:
    return say(
        "{}: p-values of range-based metrics cannot be trusted. Use {} or {}.",
        what,
        arg("null", "circular-shift"),
        arg("null", "segments"),
    )


@dataclass(frozen=True, kw_only=True)
class IntervalShuffle(_Shuffle):
    """The gaps between events are shuffled around the circle, and the result is rotated to a random step.

    Keeps the distribution of the gaps (a renewal process) and so the tendency of events to follow each other; destroys
    the order of the gaps, hence longer swarms and seasons. The gap over the end joins the last event with the first.

    See Also
    --------
    nofluke.nulls.Segments : the same for ranges.
    nofluke.nulls.CircularShift : also keeps the order of the gaps.

    References
    ----------
    Luen and Stark (2008), Testing earthquake predictions.
    """

    name: ClassVar[str] = "interval-shuffle"

    @property
    def assumption(self) -> str:
        return say(
            "Chance shuffles the gaps between {events}, which keeps pairs of close {events}; the {predictions} stay in place."
        )

    @property
    def on_ranges(self) -> str:
        return _untrusted("The null interval-shuffle keeps the number of labelled ranges, but not their lengths")

    def draw(self, side: Truth) -> Draw:
        events, n = side.places, side.n_places
        gaps = np.diff(events, append=events[:1] + n)

        def shuffled(generator: np.random.Generator, size: int) -> npt.NDArray[Any]:
            rows = generator.permuted(np.tile(gaps, (size, 1)), axis=1)
            return np.asarray(side.steps_of((np.cumsum(rows, axis=1) + generator.integers(n, size=(size, 1))) % n))

        return shuffled


@dataclass(frozen=True, kw_only=True)
class Segments(_Shuffle):
    """Whole runs of events, and the gaps between them, are shuffled around the circle and rotated to a random step.

    For events that are ranges, or labels that come as runs of ones. Keeps the lengths of the runs and of the gaps;
    destroys their order. No range is ever cut in two. With single events it is the interval shuffle.

    See Also
    --------
    nofluke.nulls.IntervalShuffle : for single events.
    nofluke.nulls.CircularShift : keeps the order of runs and gaps.
    """

    name: ClassVar[str] = "segments"
    takes_ranges: ClassVar[bool] = True

    @property
    def assumption(self) -> str:
        return say(
            "Chance moves whole runs of {events} and shuffles the gaps between them; the {predictions} stay in place."
        )

    def draw(self, side: Truth) -> Draw:
        if not side.points:
            return _whole_ranges(side)
        if len(np.unique(side.places)) < side.n:  # several events at one time: gaps of nothing keep them together
            return IntervalShuffle().draw(side)
        n_events, n_steps = side.n, side.n_places
        runs, gaps = runs_and_gaps(side.places, n_steps)

        def shuffled(generator: np.random.Generator, size: int) -> npt.NDArray[Any]:
            lengths = generator.permuted(np.tile(runs, (size, 1)), axis=1)
            free = generator.permuted(np.tile(gaps, (size, 1)), axis=1)
            starts = np.cumsum(lengths + free, axis=1) - lengths - free
            # each event of a run lies as many steps behind the run's start as it is events behind it
            first = np.cumsum(lengths, axis=1) - lengths
            rows = np.repeat((starts - first).ravel(), lengths.ravel()).reshape(size, n_events) + np.arange(n_events)
            return np.asarray(side.steps_of((rows + generator.integers(n_steps, size=(size, 1))) % n_steps))

        return shuffled


def _whole_ranges(side: Truth) -> Draw:
    """Ranges in random order with shuffled gaps, around a circle that is cut at a random place outside them."""
    # pieces of one range move together, as far behind its first as they are
    first, of = np.unique(side.wholes[0], return_inverse=True)
    offsets, n_steps, n = side.starts - side.starts[first][of], side.n_steps, len(first)
    starts, ends = side.starts[first], side.stops[np.unique(side.wholes[1])]
    lengths = ends - starts
    gaps = np.append(starts[1:], starts[0] + n_steps) - ends

    def shuffled(generator: np.random.Generator, size: int) -> npt.NDArray[Any]:
        order = generator.permuted(np.tile(np.arange(n), (size, 1)), axis=1)
        free = generator.permuted(np.tile(gaps, (size, 1)), axis=1)
        stops = np.cumsum(lengths[order] + free, axis=1) - free
        # a gap of g steps can be cut at g + 1 places
        places = np.cumsum(free + 1, axis=1)
        cut = generator.integers(places[:, -1:], size=(size, 1))
        gap = (cut >= places).sum(axis=1, keepdims=True)
        into = cut - np.take_along_axis(places - free - 1, gap, axis=1)
        seam = np.take_along_axis(stops, gap, axis=1) + into
        rows = np.empty_like(order)
        np.put_along_axis(rows, order, (stops - lengths[order] - seam) % n_steps, axis=1)
        return np.asarray(rows[:, of] + offsets)

    return shuffled


def runs_and_gaps(events: npt.NDArray[np.int64], n: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Lengths of the runs of ascending events on n steps, around the circle, and of the gaps after them.

    >>> runs_and_gaps(np.array([0, 3, 4, 6]), 7)
    (array([2, 2]), array([1, 2]))
    """
    behind = np.diff(events, append=events[:1] + n) - 1  # free steps behind each event
    last = np.flatnonzero(behind)
    if len(last) == 0:
        return np.array([len(events)]), np.array([n - len(events)])
    # a run ends where free steps follow: as many events as since the end of the run before, around the circle
    lengths = np.diff(last, prepend=last[-1] - len(events))
    first = int(events[-1] == n - 1 and events[0] == 0)  # a run over the end stands last, where it begins
    return np.roll(lengths, -first), np.roll(behind[last], -first)


@dataclass(frozen=True, kw_only=True)
class Blocks(_Shuffle):
    """The labels, rotated to a random step, are cut into blocks of a given length, which are shuffled.

    Keeps whatever events do within a block; destroys everything beyond. Choose a length above that of the clusters and
    well below that of the sequence.

    Parameters
    ----------
    length : int
        Steps of a block; the last block may be shorter.

    See Also
    --------
    nofluke.nulls.Segments : moves whole runs.
    nofluke.nulls.CircularShift : keeps all distances between events.
    """

    length: int

    name: ClassVar[str] = "blocks"
    takes_times: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", as_whole(self.length, "length", 1, MOST_STEPS))

    @property
    def assumption(self) -> str:
        return say(
            "Chance shuffles blocks of {:,} steps of the labels, which keeps clusters within a block; the {predictions} stay "
            "in place.",
            self.length,
        )

    @property
    def on_ranges(self) -> str:
        return _untrusted("The null blocks cuts labelled ranges at block borders, so chance has more and shorter ones")

    def draw(self, side: Truth) -> Draw:
        events, n_steps = side.starts, side.n_steps
        n_blocks = -(-n_steps // self.length)
        lengths = np.full(n_blocks, self.length)
        lengths[-1] = n_steps - (n_blocks - 1) * self.length

        def shuffled(generator: np.random.Generator, size: int) -> npt.NDArray[Any]:
            rotated = (events + generator.integers(n_steps, size=(size, 1))) % n_steps
            order = generator.permuted(np.tile(np.arange(n_blocks), (size, 1)), axis=1)
            begins = np.cumsum(lengths[order], axis=1) - lengths[order]
            moved = np.empty_like(begins)
            np.put_along_axis(moved, order, begins, axis=1)
            return np.asarray(np.take_along_axis(moved, rotated // self.length, axis=1) + rotated % self.length)

        return shuffled
