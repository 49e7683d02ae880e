"""Nulls that only look nearby, for rates that change slowly: shifts by a little, and permutations within windows of time.

Skill is a sharp peak of the hits at shift 0; a trend or a drift that events and alarms share is a broad hill around it. A
null that moves events only a little way sees the first and not the second.

The section "Local shifts" of docs/theory.md has the mathematics.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nofluke.arrays import IntArray
from nofluke.errors import InputError
from nofluke.laws.law import How
from nofluke.laws.montecarlo import Draw
from nofluke.nulls.base import MOST_STEPS, Trait
from nofluke.nulls.circular import ShiftNull, as_stride
from nofluke.nulls.seasonal import Stratified, window_of
from nofluke.nulls.shifts import nearby
from nofluke.plain import as_whole
from nofluke.series.trial import Cell
from nofluke.series.truth import Truth


@dataclass(frozen=True, kw_only=True)
class LocalShift(ShiftNull):
    r"""All events are shifted together by at most a few steps; the predictions are fixed.

    Keeps clusters, ranges, and every change of the rates that is slow against the reach; destroys only the alignment. Use it
    where events and alarms both follow a trend or a drift.

    Every shift by :math:`|s| \le W` is counted: :math:`p = \#\{s : h(s) \ge h(0)\} / (2W + 1)`. Nothing wraps: what leaves at a
    border meets the mirror image of what is there. These shifts are no group, so that p is approximate. For a stationary
    series :math:`P(\text{among the } k \text{ best}) \le k/(W + 1)` (Harris 2020), about twice the level.

    Parameters
    ----------
    reach : int, default 100
        W, the longest shift in steps that count. It should be long against the tolerance and the length of clusters and ranges
        (else there is little power), and short against the time in which the rates change (else it is fooled by them).
    every : int or float, default 1
        Takes only shifts by multiples of this many steps (rounded): with the period of a season they keep that, too.

    References
    ----------
    Harris (2020), A shift test for independence in generic time series, arXiv:2012.06862.
    Amarasingham, Harrison, Hatsopoulos and Geman (2012), Conditional modeling and the jitter method of spike resampling.
    """

    reach: int = 100
    every: int | float = 1

    name: ClassVar[str] = "local-shift"

    def __post_init__(self) -> None:
        object.__setattr__(self, "reach", as_whole(self.reach, "reach", 1, MOST_STEPS))
        object.__setattr__(self, "every", as_stride(self.every))
        if self.every > self.reach:
            raise InputError(
                f"every={self.every} must be at most reach={self.reach}: else there is nothing to shift by."
            )

    @property
    def assumption(self) -> str:
        by = f" by multiples of {self.every:,} steps," if self.every > 1 else ""
        season = ", a season of that period" if self.every > 1 else ""
        return (
            f"Chance shifts all events together,{by} by at most {self.reach:,} steps to either side, so that clusters, "
            f"ranges{season} and slow changes of the rates stay; the predictions stay as they are."
        )

    @property
    def keeps(self) -> frozenset[Trait]:
        """Everything but a season, unless shifts are by whole periods."""
        kept: set[Trait] = {"runs", "clusters", "drift"}
        return frozenset(kept | {"season"} if self.every > 1 else kept)

    @property
    def caveat(self) -> str:
        """What is known about the level."""
        return (
            "Local shifts are approximate: in stationary series chance is among the k best of them with probability at most "
            f"k/{self.one_sided + 1:,} (Harris 2020)."
        )

    @property
    def one_sided(self) -> int:
        """Shifts to either side."""
        return int(self.reach / self.every)

    def shifts(self, n_steps: int) -> IntArray:
        """The shifts that count, the identity first."""
        if self.reach >= n_steps:
            raise InputError(
                f"null={self.text!r} shifts by up to {self.reach:,} steps, but the sequence has {n_steps:,}: pass a shorter reach."
            )
        away = np.rint(np.arange(1, self.one_sided + 1) * self.every).astype(np.int64)
        return np.concatenate([[0], away, -away])

    def fits(self, side: Truth) -> None:
        """Refuse a sequence that is shorter than the shifts."""
        self.shifts(side.n_steps)

    def draw(self, side: Truth) -> Draw:
        """Random shifts of the events, folded back at the borders; two that meet there are counted as one step."""
        if not side.points:
            raise InputError(f"null={self.text!r} counts all shifts of ranges and draws none: use method='auto'.")
        shifts, last = self.shifts(side.n_steps), side.n_steps - 1

        def shifted(generator: np.random.Generator, size: int) -> npt.NDArray[Any]:
            moved = side.starts + generator.choice(shifts, size=(size, 1))
            folded = np.where(moved < 0, -1 - moved, np.where(moved > last, 2 * last + 1 - moved, moved))
            return np.asarray(folded)

        return shifted

    def method(self, n_shifts: int) -> How:
        """Counted, but no group."""
        return How(kind="approximate", name=f"{n_shifts:,} local shifts")

    def hits_by_shift(self, cell: Cell) -> tuple[IntArray, IntArray]:
        """Recall's and precision's hits for every shift, the identity first."""
        return nearby(cell, self.shifts(cell.n_steps))


@dataclass(frozen=True, kw_only=True)
class LocalPermutation(Stratified):
    """Time is cut into windows, and events are placed at random within their own; the predictions are fixed.

    Keeps how many events fall into each window, and so every slow change of the rates; destroys everything within a window.
    Use it where events without clusters follow a trend or a drift: exact where their rate is constant within a window.

    Parameters
    ----------
    windows : int, default 40
        Number of windows, of nearly equal numbers of steps that count.

    References
    ----------
    Amarasingham, Harrison, Hatsopoulos and Geman (2012), Conditional modeling and the jitter method of spike resampling.
    """

    windows: int = 40

    name: ClassVar[str] = "local-permutation"

    def __post_init__(self) -> None:
        object.__setattr__(self, "windows", as_whole(self.windows, "windows", 1, MOST_STEPS))

    @property
    def assumption(self) -> str:
        return (
            f"Chance places each event on a random step of its own window of time, of {self.windows:,}, so that slow changes of "
            "the rate stay; the predictions stay as they are."
        )

    @property
    def keeps(self) -> frozenset[Trait]:
        """Slow changes, and nothing within a window."""
        return frozenset({"drift"})

    def strata_of(self, side: Truth) -> IntArray:
        """The window of each step that counts."""
        return window_of(side.n_steps, self.windows, self.text)
