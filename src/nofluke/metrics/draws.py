"""What a null makes of a series, as metrics see it: labels in runs, and the detector's step at which a draw begins.

A rotation moves the detector and leaves the truth whole. The detector is then laid out twice, or mirrored at its
borders, and a draw is a window of it as long as the series; so that nothing as long as the series is made for a draw.

The section "Windows of a detector" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, IntArray
from nofluke.metrics.labelled import Labelled
from nofluke.series.counting import flags_of
from nofluke.series.tolerance import Ranges

Plain = tuple[IntArray, IntArray, IntArray, IntArray, IntArray, int]
"""Starts, stops, first, last and begins of draws, and the steps of each: as compiled loops take them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Draws:
    """Several draws of one series.

    Attributes
    ----------
    n_steps : int
        T, the steps of each draw.
    starts, stops : int arrays
        Labelled runs of all draws, one draw after another: ascending and without overlap within a draw, of at least one
        step; runs may touch.
    first, last : int arrays, one entry for each draw
        The runs of draw i are ``starts[first[i]:last[i]]``. Draws may share them.
    begins : int array, one entry for each draw
        Draw i sees ``detector[begins[i]:begins[i] + n_steps]`` of a detector that may be laid out longer than the
        series.
    still : bool
        Whether the labels of every draw are the data's own, so that only the detector moves.
    """

    n_steps: int
    starts: IntArray = field(repr=False)
    stops: IntArray = field(repr=False)
    first: IntArray = field(repr=False)
    last: IntArray = field(repr=False)
    begins: IntArray = field(repr=False)
    still: bool = False

    def __len__(self) -> int:
        return len(self.begins)

    @property
    def plain(self) -> Plain:
        """What compiled loops take."""
        return self.starts, self.stops, self.first, self.last, self.begins, self.n_steps

    @classmethod
    def moving(cls, runs: Ranges, n_steps: int, begins: AnyArray) -> Draws:
        """The same labels before a detector that begins at these steps."""
        begins = _plain(begins)
        return cls(
            n_steps=n_steps,
            starts=_plain(runs.starts),
            stops=_plain(runs.stops),
            first=np.zeros(len(begins), dtype=np.int64),
            last=np.full(len(begins), len(runs.starts), dtype=np.int64),
            begins=begins,
            still=True,
        )

    @classmethod
    def of_steps(cls, rows: AnyArray, n_steps: int) -> Draws:
        """Labels as rows of labelled steps, in any order; adjacent steps form one run, equal ones are one step."""
        rows = np.sort(_plain(rows), axis=1)
        n, width = rows.shape
        if width == 0:
            none = np.zeros(0, dtype=np.int64)
            return cls._from(none, none, np.zeros(n, dtype=np.int64), n_steps)
        apart = np.diff(rows, axis=1) > 1
        edge = np.ones((n, 1), dtype=np.bool_)
        starts = rows[np.hstack([edge, apart])]
        stops = rows[np.hstack([apart, edge])] + 1
        return cls._from(starts, stops, apart.sum(axis=1) + 1, n_steps)

    @classmethod
    def of_ranges(cls, rows: AnyArray, lengths: IntArray, n_steps: int) -> Draws:
        """Whole ranges of these lengths, as rows of their first steps."""
        rows = _plain(rows)
        order = np.argsort(rows, axis=1, kind="stable")
        starts = np.take_along_axis(rows, order, axis=1)
        stops = starts + _plain(lengths)[order]
        return cls._from(starts.ravel(), stops.ravel(), np.full(len(rows), rows.shape[1]), n_steps)

    @classmethod
    def of_runs(cls, runs: Sequence[Ranges], n_steps: int) -> Draws:
        """Labels of other series, one draw each: their runs, ascending and without overlap."""
        starts, stops = (np.concatenate([_plain(getattr(one, end)) for one in runs]) for end in ("starts", "stops"))
        return cls._from(starts, stops, np.array([len(one.starts) for one in runs], dtype=np.int64), n_steps)

    @classmethod
    def _from(cls, starts: IntArray, stops: IntArray, counts: IntArray, n_steps: int) -> Draws:
        last = np.cumsum(counts, dtype=np.int64)
        return cls(
            n_steps=n_steps,
            starts=starts,
            stops=stops,
            first=last - counts,
            last=last,
            begins=np.zeros(len(counts), dtype=np.int64),
        )

    def only(self, i: int, begin: int | None = None) -> Draws:
        """One of the draws, or its labels before a detector of its own that begins elsewhere."""
        part = slice(i, i + 1)
        begins = self.begins[part] if begin is None else np.full(1, begin, dtype=np.int64)
        return replace(self, first=self.first[part], last=self.last[part], begins=begins)

    def only_runs(self, i: int) -> Ranges:
        """The labelled runs of one draw."""
        part = slice(self.first[i], self.last[i])
        return Ranges(starts=self.starts[part], stops=self.stops[part])

    def flags(self, i: int) -> BoolArray:
        """The labels of one draw, step by step."""
        return flags_of(self.only_runs(i), self.n_steps)


def _plain(values: AnyArray) -> IntArray:
    """What compiled loops are compiled for: one type, one layout."""
    return np.ascontiguousarray(values, dtype=np.int64)


# ---- what becomes of the detector in a draw


class Layout(ABC):
    """How a null that moves the detector lays it out: so long that a draw is a window of it, or again for each draw.

    A draw is identified by one whole number, its start. For windows that is where it begins; where each draw has a
    detector of its own, a shift or a seed.
    """

    windows: ClassVar[bool] = True  # whether draws are windows of one long detector
    rotates: ClassVar[bool] = True  # whether every window holds the same values

    def long(self, detector: AnyArray) -> AnyArray:
        """The detector of which draws are windows."""
        return detector

    @abstractmethod
    def moved(self, detector: AnyArray, begin: int) -> AnyArray:
        """The detector of one draw."""

    def of(self, series: Labelled, needs: str, begin: int) -> AnyArray:
        """The scores or the alarms of one draw."""
        return self.moved(series.detector(needs, needs), begin)


@dataclass(frozen=True, slots=True)
class Still(Layout):
    """The detector stays, and the labels move."""

    def moved(self, detector: AnyArray, begin: int) -> AnyArray:
        del begin
        return detector


@dataclass(frozen=True, slots=True)
class Circle(Layout):
    """Laid out twice: windows are rotations."""

    def long(self, detector: AnyArray) -> AnyArray:
        return np.concatenate([detector, detector])

    def moved(self, detector: AnyArray, begin: int) -> AnyArray:
        return np.roll(detector, -begin)


@dataclass(frozen=True, slots=True)
class Mirrored(Layout):
    """Continued by its mirror image at both borders; begins count from the first step of that."""

    reach: int

    rotates: ClassVar[bool] = False

    def long(self, detector: AnyArray) -> AnyArray:
        return np.pad(detector, self.reach, mode="symmetric")

    def moved(self, detector: AnyArray, begin: int) -> AnyArray:
        return self.long(detector)[begin : begin + len(detector)]


@dataclass(frozen=True, slots=True)
class Periods(Layout):
    """Rotated around the circle of so many steps; what lies behind stays. Begins are shifts."""

    circle: int

    windows: ClassVar[bool] = False

    def moved(self, detector: AnyArray, begin: int) -> AnyArray:
        return np.concatenate([np.roll(detector[: self.circle], -begin), detector[self.circle :]])


@dataclass(frozen=True, slots=True)
class Within(Layout):
    """Each group of steps is rotated within itself; begins are seeds, and 0 moves nothing."""

    edges: tuple[int, ...]

    windows: ClassVar[bool] = False

    def moved(self, detector: AnyArray, begin: int) -> AnyArray:
        if begin == 0:
            return detector
        edges: IntArray = np.asarray(self.edges)
        shifts = np.random.default_rng(begin).integers(np.diff(edges))
        parts = zip(np.split(detector, edges[1:-1]), shifts.tolist(), strict=True)
        return np.concatenate([np.roll(part, -shift) for part, shift in parts])


@dataclass(frozen=True, slots=True)
class Redrawn(Layout):
    """Redrawn by a null that moves the detector; begins are seeds. Alarms are those of the drawn scores."""

    null: Any

    windows: ClassVar[bool] = False

    def moved(self, detector: AnyArray, begin: int) -> AnyArray:
        return np.asarray(self.null.draw(detector)(np.random.default_rng(begin), 1)[0])

    def of(self, series: Labelled, needs: str, begin: int) -> AnyArray:
        given = series.alarms if series.scores is None else series.scores
        if given is None:
            return super().of(series, needs, begin)
        row = self.moved(given, begin)
        if needs == "scores" or row.dtype.kind == "b":
            return row
        n_alarms = 0 if series.alarms is None else int(series.alarms.sum())
        return highest(row, n_alarms)


def highest(scores: AnyArray, n: int) -> AnyArray:
    """Alarms on the n highest scores; of tied ones, those that come first."""
    flags = np.zeros(len(scores), dtype=np.bool_)
    flags[np.argsort(-scores, kind="stable")[:n]] = True
    return flags
