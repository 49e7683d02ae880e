"""Laws counted out: over all possibilities, such as all rotations, or over random resamples."""

from __future__ import annotations

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.laws.law import How, Law, Tail, TailSide
from nofluke.laws.tables import TableLaw
from nofluke.lazy import lazy
from nofluke.ratios import TIE_SLACK

EXACT = 2**53  # whole numbers below it are floats, too


class CountLaw(TableLaw):
    """Hits counted over all possibilities, such as all rotations: integers, so that ties stay exact.

    Counts may sum to 2**62: mean, variance and tails are whole numbers up to the last division.

    >>> law = CountLaw(np.array([10**18 - 1, 1]), How(kind="exact", name="all rotations"))
    >>> law.upper(1), law.mean, law.var
    (1e-18, 1e-18, 1e-18)
    """

    def __init__(self, counts: IntArray, method: How, *, mean: float | None = None, var: float | None = None) -> None:
        Law.__init__(self, size=len(counts) - 1, mean=mean, var=var, method=method)
        self.counts = counts
        self.total = int(counts.sum())

    def _moments(self) -> tuple[float, float]:
        total, fits = self.total, self.total * self.size * self.size < 2**63
        k = np.arange(self.size + 1, dtype=np.int64 if fits else object)
        first, second = int(k @ self.counts), int(k * k @ self.counts)
        return first / total, (total * second - first * first) / (total * total)

    def _table(self) -> FloatArray:
        return self.counts / self.total

    @lazy
    def _upper(self) -> FloatArray:
        return self._shares(np.cumsum(self.counts[::-1])[::-1])

    @lazy
    def _lower(self) -> FloatArray:
        return self._shares(np.cumsum(self.counts))

    def _shares(self, counts: IntArray) -> FloatArray:
        """Of all possibilities, each rounded once."""
        if self.total < EXACT:
            return counts / self.total
        return (counts.astype(object) / self.total).astype(np.float64)

    def _count(self, hits: int, side: TailSide) -> int:
        return int(self.counts[max(hits, 0) :].sum() if side == "upper" else self.counts[: max(hits + 1, 0)].sum())

    def _tail(self, hits: int, side: TailSide) -> Tail:
        return Tail.of(float((self._upper if side == "upper" else self._lower)[hits]), self.method)

    def _reaches(self, k: int, level: float) -> bool:
        return self._count(k, "lower") >= level * self.total * (1 - TIE_SLACK)


class SimulatedLaw(CountLaw):
    """Hits counted in random resamples. Tails count the observed sequence as one of them, so none is ever 0."""

    def __init__(self, counts: IntArray, *, mean: float, var: float, n_resamples: int, seed: int | None) -> None:
        drawn = How(kind="simulated", n_resamples=n_resamples, seed=seed)
        super().__init__(counts, drawn, mean=mean, var=var)
        self.n_resamples = n_resamples
        self.seed = seed

    def tail(self, hits: int, side: TailSide = "upper") -> Tail:
        """(b + 1)/(n + 1), with b the resamples that have at least (at most) as many hits."""
        return Tail.of((self._count(hits, side) + 1) / (self.n_resamples + 1), self.method)

    def _shares(self, counts: IntArray) -> FloatArray:
        return (counts + 1) / (self.n_resamples + 1)
