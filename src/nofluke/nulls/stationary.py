"""The null of Scharwächter and Müller (2020a): a stationary score, whose window maxima follow extreme value theory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.errors import InputError, say
from nofluke.laws.law import How
from nofluke.laws.montecarlo import Uniform
from nofluke.laws.tables import binomial
from nofluke.nulls.base import Kept, Method, NullModel, Nulls
from nofluke.nulls.permutation import Permutation
from nofluke.series.trial import Cell
from nofluke.series.truth import Truth


@dataclass(frozen=True, slots=True, kw_only=True)
class GevFit:
    """A generalised extreme value distribution fitted to the maxima of disjoint blocks, and how well it fits.

    ``success`` is the fitted chance that a window reaches the threshold, ``observed`` the share of blocks that do;
    ``pvalue`` is of a Kolmogorov-Smirnov test of the fit (too large, as the parameters are fitted: only a small one
    says something, namely that the fit is poor).
    """

    shape: float
    location: float
    scale: float
    n_blocks: int
    success: float
    observed: float
    pvalue: float


@dataclass(frozen=True, kw_only=True)
class Stationary(NullModel):
    """Recall's hits are binomial, with a success probability from extreme value theory; for comparison.

    The score is assumed to be a strictly stationary process: the maximum of a window follows a generalised extreme
    value distribution, fitted to the maxima of disjoint blocks of the window's length. There is no such result for
    precision, whose null is the permutation one. Since the hypergeometric null of recall is exact for permuted events,
    this one is only useful to compare with the literature.

    See Also
    --------
    nofluke.nulls.Permutation : exact, given the alarms.
    nofluke.nulls.Bernoulli : another binomial from the literature.

    References
    ----------
    Scharwächter and Müller (2020a), Does terrorism trigger online hate speech? On the association of events and time
    series. Coles (2001), An introduction to statistical modeling of extreme values.
    """

    name: ClassVar[str] = "stationary"
    methods: ClassVar[tuple[Method, ...]] = ("auto", "binomial")

    @property
    def assumption(self) -> str:
        return say(
            "The score is a stationary process and {events} fall independently of it; recall's chance comes from a fit to "
            "window maxima, precision's from permuted {events}."
        )

    @property
    def keeps(self) -> frozenset[Kept]:
        return frozenset({"runs", "clusters"})

    @property
    def caveat(self) -> str:
        return (
            "The null stationary rests on a fit to window maxima (the method names the p-value of the fit) and on "
            "independent events: use it to compare with the literature, not to draw conclusions."
        )

    def draw(self, side: Truth) -> Uniform:
        """Uniformly, as the permutation does."""
        return Uniform(side.n_steps, side.n)

    def distributions(
        self, cell: Cell, method: Method = "auto", *, n_resamples: int = 10_000, rng: Any = None
    ) -> Nulls:
        self.check(method, cell)
        if cell.n_events == cell.n_steps:  # nowhere else to fall: every null says the same
            return Permutation().distributions(cell)
        fit = self.fit(cell)
        how = How(kind="approximate", name=f"binomial (extreme value fit, p of the fit {fit.pvalue:.2g})")
        recall = binomial(cell.n_events, fit.success, how)
        precision = Permutation().distributions(cell, "auto", n_resamples=n_resamples, rng=rng).precision
        return Nulls(precision=precision, recall=recall)

    def fit(self, cell: Cell) -> GevFit:
        """The extreme value distribution of the window maxima, with its fit check."""
        from scipy.stats import genextreme, kstest

        if cell.scores is None:
            raise InputError(
                problem="the stationary null needs scores and a threshold", remedy="alarms alone have no maxima"
            )
        maxima = self._maxima(cell.scores, cell)
        if len(np.unique(maxima)) < 3:
            raise InputError(
                problem=f"the stationary null cannot be fitted to {len(maxima)} block maxima with {len(np.unique(maxima))}"
                " distinct values",
                remedy="use another null",
            )
        cut = float(cell.trial.thresholds[cell.k])  # in the scale of the scores as they are compared
        shape, location, scale = (float(v) for v in genextreme.fit(maxima))
        return GevFit(
            shape=-shape,  # scipy's sign is the opposite of the literature's
            location=location,
            scale=scale,
            n_blocks=len(maxima),
            success=float(genextreme.sf(cut, shape, location, scale)),
            observed=float((maxima >= cut).mean()),
            pvalue=float(kstest(maxima, genextreme(shape, location, scale).cdf).pvalue),
        )

    @staticmethod
    def _maxima(scores: FloatArray, cell: Cell) -> FloatArray:
        """Maxima of disjoint blocks, as long as the usual window."""
        width = max(int(np.median(cell.cover.stops - cell.cover.starts)), 1)
        n_blocks = len(scores) // width
        return np.asarray(scores[: n_blocks * width].reshape(n_blocks, width).max(axis=1))
