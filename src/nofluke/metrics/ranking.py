"""Metrics that depend only on the order of the scores, over all thresholds at once.

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
from nofluke.series.counting import flags_of

# ---- scores by their order: sorted once for a detector, so that no draw has to compare two scores


def ascending(scores: FloatArray) -> IntArray:
    """Steps in the order of their scores, which are finite, tied ones in the order of time.

    >>> ascending(np.array([0.5, -1.0, 0.0, -0.0]))
    array([1, 2, 3, 0])
    """
    from nofluke.metrics.ranking_kernels import sort_from_bit

    n = len(scores)
    scores = scores + 0.0  # -0.0 becomes 0.0, which has other bits
    keys = scores.view(np.int64)
    keys = keys ^ ((keys >> 63) & np.int64(2**63 - 1))  # the bits of negative numbers ascend the other way
    # the leading bits of a score and its step in one word; differences are modulo 2**64, so that none overflows
    keys = (keys - keys.min(initial=2**63 - 1)).view(np.uint64)
    low = (n - 1).bit_length() if n else 0
    lost = max(0, int(keys.max(initial=0)).bit_length() + low - 64)
    words = (keys >> np.uint64(lost) << np.uint64(low)) | np.arange(n, dtype=np.uint64)
    words = sort_from_bit(words, low)
    order: IntArray = (words & np.uint64(2**low - 1)).astype(np.int64)
    ordered = scores[order]
    if lost and (ordered[1:] < ordered[:-1]).any():  # some scores differ in the bits that were left out only
        same = np.diff(words >> np.uint64(low)) == 0
        at = np.flatnonzero(np.append(same, False) | np.append(False, same))
        unsure = order[at]
        order[at] = unsure[np.argsort(scores[unsure], kind="stable")]
    return order


def tie_edges(scores: AnyArray, order: IntArray) -> IntArray:
    """Where in the order each group of tied scores begins, and at last where all end."""
    ordered = scores[order]
    return np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1, [len(order)]])


def twice_midranks(scores: AnyArray) -> IntArray:
    """Twice the rank of each score from below, from 1; tied scores share the mean of their ranks.

    >>> twice_midranks(np.array([3.0, 1.0, 3.0]))
    array([5, 2, 5])
    """
    order = ascending(scores)
    edges = tie_edges(scores, order)
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[order] = np.repeat(edges[1:] + edges[:-1] + 1, np.diff(edges))
    return ranks


def places_from_above(scores: AnyArray) -> tuple[IntArray, IntArray]:
    """Place of each step from the highest score down, from 0; and for each place, how many scores are at least as high.

    >>> places_from_above(np.array([3.0, 1.0, 3.0]))
    (array([1, 2, 0]), array([2, 2, 3]))
    """
    order = ascending(scores)
    edges = tie_edges(scores, order)
    places = np.empty(len(scores), dtype=np.int64)
    places[order[::-1]] = np.arange(len(scores))
    return places, np.repeat(len(scores) - edges[:-1], np.diff(edges))[::-1].copy()


# ---- metrics that depend only on the order of the scores, over all thresholds at once

MOST_TRANSFORMED = 2**25  # steps: rounding to whole numbers is then sure by far


@dataclass(frozen=True, kw_only=True)
class AUCROC(Metric):
    r"""Area under the ROC curve: the probability that a labelled step scores higher than another, ties counting half.

    .. math:: \mathrm{AUC} = \frac{\#\{(i, j): z_i > z_j\} + \tfrac12 \#\{(i, j): z_i = z_j\}}{A (T - A)}

    over labelled steps i and other steps j, A of T steps being labelled. Chance gives ½ under rotation and
    permutation. NaN where no step or every step is labelled.

    See Also
    --------
    nofluke.metrics.AveragePrecision : for rare labels.
    nofluke.metrics.VUS : with a buffer around labelled runs.

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
class ByPlace(Metric):
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
class AveragePrecision(ByPlace):
    r"""Average precision: the precision at each threshold, weighted by the recall that the threshold adds.

    .. math:: \mathrm{AP} = \sum_k (R_k - R_{k-1}) P_k, \qquad R_0 = 0,

    over all distinct scores as thresholds, from the highest down; P and R are the precision and recall of the steps
    that reach the k-th. Tied scores are one threshold. NaN where no step is labelled; 1 where all are.

    More labels flatter it: chance gives a little more than the share of labelled steps, see
    :func:`chance_average_precision`.

    See Also
    --------
    nofluke.metrics.AUCROC : area under the ROC curve.
    nofluke.metrics.VUS : with a buffer around labelled runs.

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
