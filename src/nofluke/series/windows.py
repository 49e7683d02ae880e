"""Windows of the predictions, the steps they cover together, and the blocks the exact null is computed from.

Everything is in *open steps*: the steps on which an event could fall, numbered 0..T-1. Masked steps, clocks and
asymmetric tolerances are dealt with before this point; all that is left of them is where a window starts and stops.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from nofluke.arrays import IntArray
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
