"""Nulls of scores: what a detector scores that draws its scores at random, or that has forgotten when they were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nofluke.arrays import AnyArray
from nofluke.laws.montecarlo import Draw
from nofluke.nulls.base import Kept, Moved, NullModel
from nofluke.plain import as_number


@dataclass(frozen=True, kw_only=True)
class RandomScores(NullModel):
    r"""Scores are random numbers: independent ones, or with a memory (an autoregression of first order).

    Their distribution does not matter to metrics that only use their order. It needs no detector: it shows what chance
    can reach with these labels and this metric.

    Parameters
    ----------
    phi : float, default 0
        Correlation of neighbouring scores, from 0 to below 1.

    See Also
    --------
    nofluke.nulls.ScorePermutation : the values of a given detector.
    nofluke.nulls.CircularShift : keeps the memory of the scores.
    nofluke.chance : uses it by default.
    """

    phi: float = 0.0

    name: ClassVar[str] = "random-scores"
    moves: ClassVar[Moved] = "detector"
    needs_detector: ClassVar[bool] = False

    def __post_init__(self) -> None:
        phi = as_number(self.phi, "phi", "be at least 0 and below 1", lambda value: 0 <= value < 1)
        object.__setattr__(self, "phi", phi)

    @property
    def assumption(self) -> str:
        memory = f", with a correlation of {self.phi:g} between neighbours" if self.phi else ""
        return f"Chance draws scores at random{memory}; the labels stay in place."

    @property
    def keeps(self) -> frozenset[Kept]:
        """The labels are not moved: what they do stays. What the scores do does not."""
        return frozenset({"runs", "clusters"})

    @property
    def permutes(self) -> bool:
        """Unless there is a memory."""
        return not self.phi

    def draw(self, side: AnyArray) -> Draw:
        n = len(side)

        def drawn(generator: np.random.Generator, size: int) -> npt.NDArray[Any]:
            if not self.phi:
                return generator.random((size, n))
            from scipy.signal import lfilter

            noise = generator.standard_normal((size, n))
            noise[:, 1:] *= np.sqrt(1 - self.phi**2)
            return np.asarray(lfilter([1.0], [1.0, -self.phi], noise, axis=1))

        return drawn


@dataclass(frozen=True, kw_only=True)
class ScorePermutation(NullModel):
    """The detector's scores are permuted step by step; the labels stay whole.

    Only fair to detectors whose scores have no memory: otherwise neighbouring scores are similar, and chance has fewer
    tries than there are steps.

    See Also
    --------
    nofluke.nulls.RandomScores : scores without a detector.
    nofluke.nulls.CircularShift : keeps the memory of the scores.
    """

    name: ClassVar[str] = "score-permutation"
    moves: ClassVar[Moved] = "detector"

    @property
    def assumption(self) -> str:
        return "Chance permutes the scores step by step, as if they had no memory; the labels stay in place."

    @property
    def keeps(self) -> frozenset[Kept]:
        """The labels; of the scores nothing."""
        return frozenset({"runs"})

    @property
    def caveat(self) -> str:
        return "The null score-permutation treats scores as independent of one another; p-values are too small where they are not."

    @property
    def permutes(self) -> bool:
        return True

    def draw(self, side: AnyArray) -> Draw:
        def permuted(generator: np.random.Generator, size: int) -> npt.NDArray[Any]:
            return generator.permuted(np.tile(side, (size, 1)), axis=1)

        return permuted
