"""Every detector against every other: differences of pooled measures, as square matrices."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nofluke.arrays import ByValue, FloatArray
from nofluke.inference.compare import Comparison
from nofluke.inference.interval import MEASURES
from nofluke.plain import finite_or_none

_NUMBERS = ("difference", "low", "high", "pvalue", "corrected")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairMatrix(ByValue):
    """Differences of one measure, row minus column, and how far chance goes; NaN on the diagonal and where unknown.

    Attributes
    ----------
    difference, low, high, pvalue, corrected : array, D x D
        ``corrected`` is Holm's over all pairs. ``low`` and ``high`` change sign and places across the diagonal.
    """

    difference: FloatArray = field(repr=False)
    low: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)
    pvalue: FloatArray = field(repr=False)
    corrected: FloatArray = field(repr=False)

    def ordered(self, order: list[int]) -> PairMatrix:
        """The same with rows and columns in another order."""
        at = np.ix_(order, order)
        return PairMatrix(**{name: getattr(self, name)[at] for name in _NUMBERS})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairs(ByValue):
    """All pairs of detectors, for each measure: "f1", and "precision", "recall" and metrics where they were compared.

    Examples
    --------
    >>> nan = np.full((2, 2), np.nan)
    >>> difference = np.array([[np.nan, 0.2], [-0.2, np.nan]])
    >>> f1 = PairMatrix(difference=difference, low=nan, high=nan, pvalue=nan, corrected=nan)
    >>> pairs = Pairs(detectors=("a", "b"), measures={"f1": f1})
    >>> pairs.ordered(("b", "a")).measures["f1"].difference[0, 1]
    np.float64(-0.2)
    """

    detectors: tuple[str, ...]
    measures: Mapping[str, PairMatrix] = field(repr=False)

    @classmethod
    def of(cls, found: Comparison) -> Pairs:
        """From a comparison of all pairs."""
        n, measures = len(found.detectors), {}
        for measure in ("f1", "precision", "recall", *found.measures[len(MEASURES) :]):
            numbers = {name: np.full((n, n), np.nan) for name in _NUMBERS}
            for i, j in itertools.permutations(range(n), 2):
                one = found.difference(found.detectors[i], found.detectors[j], measure)
                told = (one.value, one.low, one.high, one.pvalue, one.corrected)
                for name, value in zip(_NUMBERS, told, strict=True):
                    numbers[name][i, j] = value
            measures[measure] = PairMatrix(**numbers)
        return cls(detectors=found.detectors, measures=measures)

    def ordered(self, detectors: tuple[str, ...]) -> Pairs:
        """The same for these detectors in this order."""
        order = [self.detectors.index(name) for name in detectors]
        return Pairs(detectors=detectors, measures={m: matrix.ordered(order) for m, matrix in self.measures.items()})

    def to_list(self) -> list[dict[str, Any]]:
        """Each pair once, with the numbers of every measure."""
        n = len(self.detectors)
        return [
            {
                "detectors": [self.detectors[i], self.detectors[j]],
                **{
                    measure: {name: finite_or_none(float(getattr(matrix, name)[i, j])) for name in _NUMBERS}
                    for measure, matrix in self.measures.items()
                },
            }
            for i in range(n)
            for j in range(i + 1, n)
        ]
