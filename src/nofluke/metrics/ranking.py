"""Metrics that only the order of the scores matters to: over all thresholds at once, or at the best of them.

The section "Random scores and known means" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nofluke.arrays import AnyArray, FloatArray, IntArray
from nofluke.metrics.base import Metric, Needs
from nofluke.metrics.draws import Draws
from nofluke.metrics.labelled import Labelled
from nofluke.metrics.ranks import places_from_above, twice_midranks
from nofluke.plain import check_beta
from nofluke.ratios import f_weights
from nofluke.series.counting import flags_of

MOST_TRANSFORMED = 2**25  # steps: rounding to whole numbers is then sure by far
AT_A_TIME = 2**22  # runs of all draws whose maxima are drawn together


@dataclass(frozen=True, kw_only=True)
class AUCROC(Metric):
    r"""Area under the ROC curve: the chance that a labelled step scores higher than another one, ties counted by half.

    .. math:: \mathrm{AUC} = \frac{\#\{(i, j): z_i > z_j\} + \tfrac12 \#\{(i, j): z_i = z_j\}}{A (T - A)}

    over labelled steps i and other steps j, A of T steps being labelled. Chance gives ½ under rotation and
    permutation. NaN where no step or every step is labelled.

    References
    ----------
    Hanley and McNeil (1982), The meaning and use of the area under a receiver operating characteristic curve.

    Examples
    --------
    >>> AUCROC()([0, 1, 1, 0], [0.1, 0.9, 0.3, 0.3])
    0.875
    """

    name: ClassVar[str] = "auc-roc"
    title: ClassVar[str] = "area under the ROC curve"
    needs: ClassVar[Needs] = "scores"
    any_window: ClassVar[bool] = False

    def at_once(self, series: Labelled) -> bool:
        """Up to the length at which the transform still tells whole numbers apart."""
        return series.n_steps <= MOST_TRANSFORMED

    def mean_by_permutation(self, series: Labelled) -> float | None:
        """½, with ties and without."""
        return 0.5 if 0 < series.n_labelled < series.n_steps else None

    def tables(self, detector: AnyArray, series: Labelled) -> IntArray:
        """Sums of twice the midranks before each step."""
        ranks = twice_midranks(detector[: series.n_steps])
        return np.concatenate([[0], np.cumsum(np.resize(ranks, len(detector)))])

    def values(self, tables: IntArray, draws: Draws) -> FloatArray:
        from nofluke.metrics.ranking_kernels import sums_of_runs

        found = np.empty(len(draws))
        sums_of_runs(tables, draws.starts, draws.stops, draws.first, draws.last, draws.begins, draws.n_steps, found)
        return found

    def every_rotation(self, detector: AnyArray, series: Labelled) -> FloatArray:
        """By one Fourier transform of whole numbers, rounded back to them."""
        from scipy import fft

        n, labelled = series.n_steps, series.n_labelled
        if not 0 < labelled < n:
            return np.full(n, np.nan)
        # centred, so that the transform loses nothing of the whole numbers
        ranks = twice_midranks(detector[:n]) - (n + 1)
        labels = flags_of(series.runs, n).astype(np.float64)
        spectrum = fft.rfft(ranks.astype(np.float64), workers=-1) * np.conj(fft.rfft(labels, workers=-1))
        sums = np.rint(fft.irfft(spectrum, n=n, workers=-1))
        return np.asarray(0.5 + sums / (2.0 * labelled * (n - labelled)))


@dataclass(frozen=True, kw_only=True)
class _ByPlace(Metric):
    """Metrics that are worked out from the places of the labelled steps, from the highest score down."""

    needs: ClassVar[Needs] = "scores"
    any_window: ClassVar[bool] = False

    def work(self, series: Labelled) -> float:
        """Each labelled step is put in its place."""
        return 10.0 * series.n_labelled + 0.05 * series.n_steps + 100.0

    def tables(self, detector: AnyArray, series: Labelled) -> tuple[IntArray, IntArray]:
        """The place of each step, and for each place how many scores are at least as high."""
        places, reach = places_from_above(detector[: series.n_steps])
        return np.resize(places, len(detector)), reach


@dataclass(frozen=True, kw_only=True)
class AveragePrecision(_ByPlace):
    r"""Average precision: the precision at each threshold, weighted by the recall that the threshold adds.

    .. math:: \mathrm{AP} = \sum_k (R_k - R_{k-1}) P_k, \qquad R_0 = 0,

    over all distinct scores as thresholds, from the highest down; P and R are the precision and recall of the steps
    that reach the k-th. Tied scores are one threshold. NaN where no step is labelled; 1 where all are.

    More labels flatter it: chance gives a little more than the share of labelled steps, see
    :func:`chance_average_precision`.

    Notes
    -----
    A sum of steps, as scikit-learn has it, which gives 0 where no step is labelled. The "AUC-PR" of aeon, TimeEval and
    dtaianomaly joins the points of the curve by straight lines, which is another number.

    References
    ----------
    Davis and Goadrich (2006), The relationship between precision-recall and ROC curves, on why points are not joined.

    Examples
    --------
    >>> AveragePrecision()([0, 1, 1, 0], [0.1, 0.9, 0.3, 0.4])
    0.8333333333333333
    """

    name: ClassVar[str] = "average-precision"
    title: ClassVar[str] = "average precision, the sum of steps under the precision-recall curve"

    def mean_by_permutation(self, series: Labelled) -> float | None:
        """Known where no scores are tied."""
        scores = series.scores
        if scores is None or not series.n_labelled or len(np.unique(scores)) < len(scores):
            return None
        return chance_average_precision(series.n_steps, series.n_labelled)

    def values(self, tables: tuple[IntArray, IntArray], draws: Draws) -> FloatArray:
        from nofluke.metrics.ranking_kernels import average_precisions

        found = np.empty(len(draws))
        average_precisions(*tables, draws.starts, draws.stops, draws.first, draws.last, draws.begins, found)
        return found


@dataclass(frozen=True, kw_only=True)
class BestF1(_ByPlace):
    r"""The best F_β of steps over all thresholds, that is, with the threshold chosen by the labels.

    .. math:: \max_\tau \frac{(1 + \beta^2)\, h(\tau)}{\beta^2 A + n(\tau)}

    where n(τ) steps score at least τ, h(τ) of them are labelled, and A steps are labelled; τ is any of the scores, so
    that there is always an alarm. NaN where no step is labelled; 1 where all are.

    The choice flatters it: alarms everywhere have F1 = 2A / (A + T), and no best value is below that. A null has to
    choose again on every draw, which it does here.

    Parameters
    ----------
    beta : float
        Recall counts β² times as much as precision.

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

    beta: float = 1.0

    name: ClassVar[str] = "best-f1"
    title: ClassVar[str] = "best F_β of steps over all thresholds"

    def __post_init__(self) -> None:
        object.__setattr__(self, "beta", check_beta(self.beta))

    def values(self, tables: tuple[IntArray, IntArray], draws: Draws) -> FloatArray:
        from nofluke.metrics.ranking_kernels import best_fs

        found, runs = np.empty(len(draws)), (draws.starts, draws.stops, draws.first, draws.last)
        best_fs(*tables, *runs, draws.begins, *f_weights(self.beta), found)
        return found


@dataclass(frozen=True, kw_only=True)
class BestPAF1(_ByPlace):
    r"""The best point-adjusted F_β over all thresholds: a labelled run with one alarm counts as wholly found.

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

    beta: float = 1.0

    name: ClassVar[str] = "best-pa-f1"
    title: ClassVar[str] = "best point-adjusted F_β over all thresholds (Xu et al. 2018)"

    def __post_init__(self) -> None:
        object.__setattr__(self, "beta", check_beta(self.beta))

    def values(self, tables: tuple[IntArray, IntArray], draws: Draws) -> FloatArray:
        from nofluke.metrics.ranking_kernels import best_adjusted_fs

        found, runs = np.empty(len(draws)), (draws.starts, draws.stops, draws.first, draws.last)
        best_adjusted_fs(*tables, *runs, draws.begins, *f_weights(self.beta), found)
        return found

    def on_random_scores(self, series: Labelled, n: int, generator: np.random.Generator) -> FloatArray:
        """Only the highest score of each run matters, and how many of the other steps score above it: no scores are drawn.

        The highest of L independent uniform numbers is U^(1/L); of the numbers below one bound, those above the next lower
        bound are binomial.
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


def chance_average_precision(n_steps: int, n_labelled: int) -> float:
    r"""The mean of average precision when steps are permuted and no scores are tied.

    .. math:: \frac{A - 1}{T - 1} + \left(1 - \frac{A - 1}{T - 1}\right) \frac{H_T}{T}, \quad H_T = \sum_{t=1}^T \frac1t

    since a labelled step is at place t with probability 1/T, and of the t − 1 steps above it a share of
    (A − 1)/(T − 1) is labelled on average. NaN where no step is labelled.

    >>> chance_average_precision(1_000, 50)
    0.05616...
    """
    if n_labelled == 0:
        return math.nan
    share = (n_labelled - 1) / max(n_steps - 1, 1)
    return share + (1 - share) * _harmonic(n_steps) / n_steps


def _harmonic(n: int) -> float:
    if n < 1_000:
        return math.fsum(1 / k for k in range(1, n + 1))
    return math.log(n) + np.euler_gamma + (1 - (1 - 0.1 / n**2) / (6 * n)) / (2 * n)  # the next term is below 1e-20
