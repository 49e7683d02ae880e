"""What a permutation Monte Carlo returns: integer counts, and p-values as views of them."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nofluke.arrays import FloatArray, IntArray
from nofluke.errors import InputError
from nofluke.laws.montecarlo.problem import At


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tally:
    """One kind of hits over all placements, by (tolerance, threshold)."""

    n_resamples: int
    observed: IntArray = field(repr=False)
    at_least: IntArray = field(repr=False)
    at_most: IntArray = field(repr=False)
    total: IntArray = field(repr=False)
    total_squares: NDArray[np.object_] = field(repr=False)  # Python integers: no overflow
    histograms: dict[At, IntArray] = field(repr=False)

    @property
    def p_upper(self) -> FloatArray:
        """P-value of at least the observed hits: (b + 1) / (n + 1), never 0."""
        return p_value(self.at_least, self.n_resamples)

    @property
    def mean(self) -> FloatArray:
        """Mean hits over the placements."""
        return np.asarray(self.total / self.n_resamples)

    @property
    def variance(self) -> FloatArray:
        """Unbiased variance, from exact integers; NaN for a single placement."""
        n = self.n_resamples
        if n < 2:
            return np.full(self.total.shape, np.nan)
        total = self.total.astype(object)
        return np.asarray((n * self.total_squares - total * total) / (n * (n - 1)), dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointCounts:
    """Joint histogram of both hits in one cell: the pairs that occurred, ascending, and how often."""

    recall_hits: IntArray = field(repr=False)
    precision_hits: IntArray = field(repr=False)
    counts: IntArray = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MaximumTest:
    """A statistic of every cell against its maximum over all cells (single-step Westfall and Young).

    ``observed`` is NaN, and the p-value 1, in cells whose hits cannot vary. ``maxima`` are those of the first
    million placements.
    """

    n_resamples: int
    observed: FloatArray = field(repr=False)
    at_least: IntArray = field(repr=False)
    maxima: FloatArray = field(repr=False)

    @property
    def p_values(self) -> FloatArray:
        """P-values adjusted for having looked at all cells."""
        return p_value(self.at_least, self.n_resamples)

    @property
    def p_best(self) -> float:
        """P-value of the best cell."""
        return float(self.p_values.min())

    def critical_value(self, alpha: float) -> float:
        """What a cell must exceed for an adjusted p-value of at most `alpha`; infinite where none can be."""
        if not 0 < alpha < 1:
            raise InputError(argument="alpha", problem=f"must lie between 0 and 1, got {alpha}")
        n = self.maxima.size
        allowed = int(alpha * (n + 1)) + 1
        while allowed / (n + 1) > alpha:  # the very comparison of p = (b + 1) / (n + 1) with alpha
            allowed -= 1
        if allowed < 1 or np.isnan(self.observed).all():
            return float("inf")
        return float(np.partition(self.maxima, n - allowed)[n - allowed])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FamilyWise:
    """Maximum tests of the standardised hits (each kind alone, and both together) and of F_beta.

    The tables of ``both`` hold precision first: their shape is (2, tolerances, thresholds).
    """

    precision: MaximumTest
    recall: MaximumTest
    both: MaximumTest
    f_beta: MaximumTest


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulation:
    """What :func:`simulate` found."""

    n_resamples: int
    precision: Tally
    recall: Tally
    joint: dict[At, JointCounts] = field(repr=False)
    family_wise: FamilyWise | None = field(repr=False)


def p_value(count: ArrayLike, n_resamples: int) -> FloatArray:
    """Monte Carlo p-values (count + 1) / (n + 1): the data are one of the placements (Phipson and Smyth 2010)."""
    return np.asarray((np.asarray(count) + 1) / (n_resamples + 1), dtype=np.float64)
