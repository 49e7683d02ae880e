"""How a null that moves the detector lays it out: so long that a draw is a window of it, or again for each draw.

A draw is identified by one whole number, its start. For windows that is where it begins; where each draw has a detector
of its own, a shift or a seed.

The section "Windows of a detector" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nofluke.arrays import AnyArray, IntArray
from nofluke.metrics.labelled import Labelled


class Layout(ABC):
    """What becomes of the detector in a draw."""

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
