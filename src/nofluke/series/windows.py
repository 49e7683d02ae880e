"""Windows of the predictions, the steps they cover together, and the blocks the exact null is computed from.

Everything is in *open steps*: the steps on which an event could fall, numbered 0..T-1. Masked steps, clocks and
asymmetric tolerances are dealt with before this point; all that is left of them is where a window starts and stops.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from nofluke.arrays import BoolArray, IntArray
from nofluke.lazy import lazy


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowBlocks:
    """Maximal stretches of steps on which an event covers the same predictions ``g, g+1, ..., h-1`` (h > g)."""

    length: IntArray
    g: IntArray
    h: IntArray


def cut(length: IntArray, longest: int) -> tuple[IntArray, IntArray]:
    """Blocks cut into nearly equal pieces of at most ``longest`` steps: of which block each piece is, and its length.

    >>> cut(np.array([2, 7]), 3)
    (array([0, 1, 1, 1]), array([2, 3, 2, 2]))
    """
    pieces = -(-length // longest)
    block = np.repeat(np.arange(len(length)), pieces)
    place = np.arange(len(block)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    return block, length[block] // pieces[block] + (place < length[block] % pieces[block])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stretches:
    """Where an event makes a hit of a prediction: half-open ranges of steps, of which a prediction may have several.

    Attributes
    ----------
    starts, stops : int64 arrays, both nondecreasing
    of : int64 array, nondecreasing
        Which prediction each belongs to. Between two of the same prediction lies no step of any other.
    """

    starts: IntArray = field(repr=False)
    stops: IntArray = field(repr=False)
    of: IntArray = field(repr=False)

    @classmethod
    def joined(cls, starts: IntArray, stops: IntArray, of: IntArray) -> Stretches:
        """Ranges of the same prediction that overlap or touch made one.

        >>> made = Stretches.joined(np.array([0, 1, 4, 5]), np.array([2, 3, 6, 7]), np.array([0, 0, 0, 1]))
        >>> made.starts, made.stops, made.of
        (array([0, 4, 5]), array([3, 6, 7]), array([0, 0, 1]))
        """
        if len(of) == 0:
            return cls(starts=starts, stops=stops, of=of)
        apart = (of[1:] > of[:-1]) | (starts[1:] > stops[:-1])
        first, last = np.append(True, apart), np.append(apart, True)
        return cls(starts=starts[first], stops=stops[last], of=of[first])

    @property
    def single(self) -> bool:
        """Whether each prediction has one."""
        return len(self.of) == 0 or len(self.of) == int(self.of[-1]) + 1

    def windows(self, n_steps: int) -> Windows:
        """One window for each prediction.

        Steps between two stretches of a prediction hold no window at all: they are counted behind all others, which is
        the same to events that fall on any step alike.
        """
        if self.single:
            return Windows(starts=self.starts, stops=self.stops, n_steps=n_steps)
        same = self.of[1:] == self.of[:-1]
        holes = np.append(0, np.cumsum(np.where(same, self.starts[1:] - self.stops[:-1], 0)))
        first, last = np.append(True, ~same), np.append(~same, True)
        return Windows(starts=(self.starts - holes)[first], stops=(self.stops - holes)[last], n_steps=n_steps)

    def hit_from(self, steps: IntArray) -> tuple[IntArray, IntArray]:
        """The predictions that an event on each step turns into hits: first up to, not including, last; or 0, 0."""
        first = np.searchsorted(self.stops, steps, side="right")
        last = np.searchsorted(self.starts, steps, side="right")
        some = last > first
        owners = np.append(self.of, 0)
        return np.where(some, owners[first], 0), np.where(some, owners[last - 1] + 1, 0)

    def count(self, hit: BoolArray) -> int:
        """How many predictions have a stretch that is hit."""
        return int(np.count_nonzero(hit)) if self.single else len(np.unique(self.of[hit]))


def newly_hit(first: IntArray, last: IntArray) -> IntArray:
    """Predictions hit, for each row of ascending events that hit those from ``first`` to ``last``: what each adds.

    >>> newly_hit(np.array([[0, 1, 0, 2]]), np.array([[2, 3, 0, 3]]))
    array([3])
    """
    before = np.zeros_like(last)
    before[:, 1:] = np.maximum.accumulate(last, axis=1)[:, :-1]
    return np.asarray(np.maximum(last - np.maximum(first, before), 0).sum(axis=1), dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class Windows:
    """For each prediction, the half-open range of steps on which an event makes it a hit.

    Parameters
    ----------
    starts, stops : int64 arrays of length n
        Prediction i is a hit if an event falls on a step t with ``starts[i] <= t < stops[i]``. Both arrays are
        nondecreasing, as every tolerance gives them for predictions in time order. The exact laws are those of windows
        that are not empty: see `hittable`.
    n_steps : int
        T, the number of steps an event could fall on.
    """

    starts: IntArray = field(repr=False)
    stops: IntArray = field(repr=False)
    n_steps: int

    def __getstate__(self) -> dict[str, object]:
        """Without what can be worked out again."""
        return {"starts": self.starts, "stops": self.stops, "n_steps": self.n_steps}

    @property
    def n(self) -> int:
        """Number of predictions."""
        return len(self.starts)

    @lazy
    def hittable(self) -> Windows:
        """Without the windows that hold no step, and whose predictions nothing can hit."""
        some = self.stops > self.starts
        if some.all():
            return self
        return Windows(starts=self.starts[some], stops=self.stops[some], n_steps=self.n_steps)

    @lazy
    def blocks(self) -> WindowBlocks:
        """The blocks, in time order: at most 2n, however long the sequence and the tolerance are."""
        edges = np.unique(np.concatenate([self.starts, self.stops]))
        left = edges[:-1]
        g = np.searchsorted(self.stops, left, side="right").astype(np.int64)
        h = np.searchsorted(self.starts, left, side="right").astype(np.int64)
        kept = h > g
        return WindowBlocks(length=np.diff(edges)[kept], g=g[kept], h=h[kept])

    @lazy
    def reach(self) -> int:
        """The most predictions that one event can hit."""
        return int((self.blocks.h - self.blocks.g).max(initial=0))

    @lazy
    def covered(self) -> int:
        """D, the number of steps inside the union of all windows."""
        if self.n == 0:
            return 0
        gaps = np.maximum(self.starts[1:] - self.stops[:-1], 0).sum()
        return int(self.stops[-1] - self.starts[0] - gaps)

    @lazy
    def cluster_starts(self) -> IntArray:
        """First prediction of each cluster: windows of different clusters share no step."""
        if self.n == 0:
            return np.zeros(0, dtype=np.int64)
        breaks = np.flatnonzero(self.starts[1:] >= self.stops[:-1]) + 1
        return np.concatenate([[0], breaks]).astype(np.int64)
