"""Laws counted out: over all possibilities, such as all rotations, or over random resamples."""

from __future__ import annotations

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.laws.law import How, Law, Tail, TailSide
from nofluke.ratios import TIE_SLACK


class CountLaw(Law):
    """Hits counted over all possibilities, such as all rotations: integers, so that ties stay exact."""

    def __init__(self, counts: IntArray, *, mean: float, var: float, method: How) -> None:
        super().__init__(size=len(counts) - 1, mean=mean, var=var, method=method)
        self.counts = counts
        self.total = int(counts.sum())

    @classmethod
    def of(cls, counts: IntArray, method: How) -> CountLaw:
        """With mean and variance of the counts, which may sum to 2**62: whole numbers up to the last division.

        >>> law = CountLaw.of(np.array([10**18 - 1, 1]), How(kind="exact", name="all rotations"))
        >>> law.upper(1), law.mean, law.var
        (1e-18, 1e-18, 1e-18)
        """
        total, some = int(counts.sum()), [(k, int(counts[k])) for k in np.flatnonzero(counts).tolist()]
        first = sum(k * count for k, count in some)
        second = sum(k * k * count for k, count in some)
        var = (total * second - first * first) / (total * total)
        return cls(counts, mean=first / total, var=var, method=method)

    def _table(self) -> FloatArray:
        return self.counts / self.total

    def _count(self, hits: int, side: TailSide) -> int:
        return int(self.counts[max(hits, 0) :].sum() if side == "upper" else self.counts[: max(hits + 1, 0)].sum())

    def _tail(self, hits: int, side: TailSide) -> Tail:
        return Tail.of(self._count(hits, side) / self.total, self.method)

    def _reaches(self, k: int, level: float) -> bool:
        return self._count(k, "lower") >= level * self.total * (1 - TIE_SLACK)


class SimulatedLaw(CountLaw):
    """Hits counted in random resamples. Tails count the observed sequence as one of them, so none is ever 0."""

    def __init__(self, counts: IntArray, *, mean: float, var: float, n_resamples: int, seed: int | None) -> None:
        drawn = How(kind="simulated", n_resamples=n_resamples, seed=seed)
        super().__init__(counts, mean=mean, var=var, method=drawn)
        self.n_resamples = n_resamples
        self.seed = seed

    def tail(self, hits: int, side: TailSide = "upper") -> Tail:
        """(b + 1)/(n + 1), with b the resamples that have at least (at most) as many hits."""
        return Tail.of((self._count(hits, side) + 1) / (self.n_resamples + 1), self.method)
