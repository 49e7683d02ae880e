"""F at its best threshold, chosen with the labels in view: of steps, or after point adjustment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.metrics.base import FBeta, kernel
from nofluke.metrics.draws import Draws, Plain
from nofluke.metrics.labelled import Labelled
from nofluke.metrics.ranking import NONE, ONE, ByPlace, labelled_in_order, mark, ones, read_off
from nofluke.ratios import f_weights

AT_A_TIME = 2**22  # runs of all draws whose maxima are drawn together


@kernel
def best_fs(
    places: IntArray, reach: IntArray, draws: Plain, of_recall: float, of_precision: float, found: FloatArray
) -> None:
    """The best F of each draw over all thresholds, with weights as β² is to 1."""
    bits = np.zeros((reach.size >> 6) + 1, dtype=np.uint64)
    ordered = np.empty(reach.size, dtype=np.int64)
    for i in range(found.size):
        labelled, best = labelled_in_order(places, draws, i, bits, ordered), 0.0
        for k in range(labelled):
            # of tied scores the last label has the most hits, and the others' values are below its own
            best = max(best, (k + 1) / (of_recall * labelled + of_precision * reach[ordered[k]]))
        found[i] = (of_recall + of_precision) * best if labelled else np.nan


@kernel
def best_adjusted_fs(
    places: IntArray, reach: IntArray, draws: Plain, of_recall: float, of_precision: float, found: FloatArray
) -> None:
    """The best point-adjusted F of each draw over all thresholds, which is at the highest score of a run."""
    starts, stops, first, last, begins, _ = draws
    bits = np.zeros((reach.size >> 6) + 1, dtype=np.uint64)  # labelled places
    tops = np.zeros(bits.size, dtype=np.uint64)  # the highest place of each run
    ordered = np.empty(reach.size, dtype=np.int64)
    lengths = np.empty(reach.size, dtype=np.int64)  # of the run whose highest place it is
    for i in range(begins.size):
        labelled = 0
        for run in range(first[i], last[i]):
            top = reach.size
            for step in range(begins[i] + starts[run], begins[i] + stops[run]):
                mark(bits, places[step])
                top = min(top, places[step])
            mark(tops, top)
            lengths[top] = stops[run] - starts[run]
            labelled += lengths[top]
        at, inner, hits, best = 0, np.int64(0), 0, 0.0
        for k in range(read_off(tops, ordered)):
            hits += lengths[ordered[k]]
            alarms = reach[ordered[k]]
            while at < alarms >> 6:
                inner += np.int64(ones(bits[at]))
                bits[at] = NONE
                at += 1
            reached = inner + np.int64(ones(bits[at] & ((ONE << np.uint64(alarms & 63)) - ONE)))
            # of runs with tied maxima the last one has the most hits, and the others' values are below its own
            best = max(best, hits / (of_recall * labelled + of_precision * (hits + alarms - reached)))
        bits[at:] = NONE
        found[i] = (of_recall + of_precision) * best if labelled else np.nan


@dataclass(frozen=True, kw_only=True)
class BestF(FBeta, ByPlace):
    """One that is an F_β at its largest, over the thresholds that a compiled loop goes through."""

    _loop: ClassVar[Any]

    def values(self, tables: tuple[IntArray, IntArray], draws: Draws) -> FloatArray:
        found = np.empty(len(draws))
        self._loop(*tables, draws.plain, *f_weights(self.beta), found)
        return found


@dataclass(frozen=True, kw_only=True)
class BestF1(BestF):
    r"""The best F_β of steps over all thresholds, that is, with the threshold chosen with the labels.

    .. math:: \max_\tau \frac{(1 + \beta^2)\, h(\tau)}{\beta^2 A + n(\tau)}

    where n(τ) steps score at least τ, h(τ) of them are labelled, and A steps are labelled; τ is any of the scores, so
    there is always an alarm. NaN where no step is labelled; 1 where all are.

    The choice flatters it: alarms everywhere have F1 = 2A / (A + T), and no best value is below that. A null has to
    choose again on every draw, which it does here.

    Parameters
    ----------
    beta : float
        Recall counts β² times as much as precision.

    See Also
    --------
    nofluke.metrics.F1 : at a given threshold.
    nofluke.metrics.BestPAF1 : after point adjustment.

    Notes
    -----
    TSB-AD's "Standard-F1" is this one but for 1e-5 that it adds to P + R, which lowers it a little; a grid of
    thresholds, as many packages use, gives a lower value too.

    References
    ----------
    Lipton, Elkan and Naryanaswamy (2014), Optimal thresholding of classifiers to maximize F1 measure.

    Examples
    --------
    >>> BestF1()([0, 1, 1, 0], [0.1, 0.9, 0.3, 0.4])
    0.8
    """

    name: ClassVar[str] = "best-f1"
    title: ClassVar[str] = "best F_β of steps over all thresholds"
    _loop = best_fs


@dataclass(frozen=True, kw_only=True)
class BestPAF1(BestF):
    r"""The best point-adjusted F_β over all thresholds: a labelled run with one alarm counts as found in full.

    .. math:: \max_\tau \frac{(1 + \beta^2)\, h(\tau)}{\beta^2 A + h(\tau) + f(\tau)}

    where h(τ) is the length of all labelled runs whose highest score is at least τ, f(τ) counts the other steps that
    score at least τ, and A steps are labelled; τ is any of the scores. Only the highest score of a run can be the
    best threshold. NaN where no step is labelled; 1 where all are.

    Long runs flatter it: among many steps one scores high by chance, and random scores reach .9 and more on public
    data.

    Parameters
    ----------
    beta : float
        Recall counts β² times as much as precision.

    See Also
    --------
    nofluke.metrics.PAF1 : at a given threshold.
    nofluke.metrics.BestF1 : without point adjustment.

    Notes
    -----
    Labelled runs that touch are adjusted one by one where they were passed as ranges; packages that read labels step
    by step see one run. TSB-AD's adjustment misses a run at the first step, and its best value is over 100
    thresholds; other grids give lower values as well.

    References
    ----------
    Xu et al. (2018), Unsupervised anomaly detection via variational auto-encoder for seasonal KPIs in web
    applications. Kim et al. (2022), Towards a rigorous evaluation of time-series anomaly detection, on what random
    scores reach.

    Examples
    --------
    >>> BestPAF1()([0, 1, 1, 0], [0.1, 0.9, 0.3, 0.4])
    1.0
    """

    name: ClassVar[str] = "best-pa-f1"
    title: ClassVar[str] = "best point-adjusted F_β over all thresholds (Xu et al. 2018)"
    _loop = best_adjusted_fs

    def on_random_scores(self, series: Labelled, n: int, generator: np.random.Generator) -> FloatArray:
        """Only each run's highest score matters, and how many other steps score above it: no scores are drawn.

        The highest of L independent uniform numbers is U^(1/L); of the numbers below one bound, those above the next
        lower bound are binomial.
        """
        if series.truth.n == 0:
            return np.full(n, np.nan)
        rows = max(AT_A_TIME // series.truth.n, 1)
        return np.concatenate([self._random(series, min(rows, n - i), generator) for i in range(0, n, rows)])

    def _random(self, series: Labelled, n: int, generator: np.random.Generator) -> FloatArray:
        lengths = series.truth.stops - series.truth.starts
        highest = -generator.standard_exponential((n, len(lengths))) / lengths  # logarithms of the maxima
        order = np.argsort(-highest, axis=1)
        highest = np.take_along_axis(highest, order, axis=1)
        found = np.cumsum(lengths[order], axis=1)
        of_recall, of_precision = f_weights(self.beta)
        above, best = np.zeros(n, dtype=np.int64), np.zeros(n)
        others, bound = series.n_steps - series.n_labelled, np.zeros(n)
        for k in range(len(lengths)):
            above += generator.binomial(others - above, -np.expm1(highest[:, k] - bound))
            bound = highest[:, k]
            below = of_recall * series.n_labelled + of_precision * (found[:, k] + above)
            np.maximum(best, (of_recall + of_precision) * found[:, k] / below, out=best)
        return best
