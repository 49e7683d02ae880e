"""Metrics that depend only on the order of the scores, over all thresholds at once.

The section "Random scores and known means" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nofluke.arrays import AnyArray, FloatArray, IntArray
from nofluke.metrics.base import Metric, Needs, kernel
from nofluke.metrics.draws import Draws, Plain
from nofluke.metrics.labelled import Labelled
from nofluke.series.counting import flags_of

WordArray = NDArray[np.uint64]

# ---- scores by their order: sorted once for a detector, so that no draw has to compare two scores

DIGIT = 11  # bits that one pass sorts by: a table of 2048 counts stays in the fastest cache


def ascending(scores: FloatArray) -> IntArray:
    """Steps in the order of their scores, which are finite, tied ones in the order of time.

    >>> ascending(np.array([0.5, -1.0, 0.0, -0.0]))
    array([1, 2, 3, 0])
    """
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


@kernel
def sort_from_bit(words: WordArray, low: int) -> WordArray:
    """The words sorted by all but their lowest bits, digit by digit from below; what is equal stays in its order."""
    other = np.empty_like(words)
    mask = np.uint64(2**DIGIT - 1)
    for bit in range(low, 64, DIGIT):
        shift = np.uint64(bit)
        places = np.zeros(2**DIGIT, dtype=np.int64)
        for i in range(words.size):
            places[(words[i] >> shift) & mask] += 1
        if words.size == 0 or places[(words[0] >> shift) & mask] == words.size:
            continue  # all have the same digit
        before = 0
        for digit in range(places.size):
            count = places[digit]
            places[digit] = before
            before += count
        for i in range(words.size):
            digit = (words[i] >> shift) & mask
            other[places[digit]] = words[i]
            places[digit] += 1
        words, other = other, words
    return words


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
        found = np.empty(len(draws))
        sums_of_runs(tables, draws.plain, found)
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


@kernel
def sums_of_runs(sums: IntArray, draws: Plain, found: FloatArray) -> None:
    """AUC-ROC of each draw, from sums of twice the midranks before each step."""
    starts, stops, first, last, begins, n_steps = draws
    for i in range(begins.size):
        total, labelled, begin = np.int64(0), np.int64(0), begins[i]
        for run in range(first[i], last[i]):
            total += sums[begin + stops[run]] - sums[begin + starts[run]]
            labelled += stops[run] - starts[run]
        pairs = 2.0 * labelled * (n_steps - labelled)
        found[i] = (total - labelled * (labelled + 1)) / pairs if pairs > 0 else np.nan


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
        found = np.empty(len(draws))
        average_precisions(*tables, draws.plain, found)
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


# ---- places in order: marked in a bitmap, one bit for each step, and read off by one pass over T/64 words

# whole numbers without a sign stay such only among themselves
NONE, ONE, TWO, FOUR, TOP = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)
PAIRS, QUARTERS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
HALVES, BYTES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


@kernel
def ones(word: np.uint64) -> np.uint64:
    """How many bits of a word are set."""
    word -= (word >> ONE) & PAIRS
    word = (word & QUARTERS) + ((word >> TWO) & QUARTERS)
    return (((word + (word >> FOUR)) & HALVES) * BYTES) >> TOP


@kernel
def mark(bits: WordArray, place: int) -> None:
    """Set one bit."""
    bits[place >> 6] |= ONE << np.uint64(place & 63)


@kernel
def read_off(bits: WordArray, ordered: IntArray) -> int:
    """Write the places of all bits that are set, and clear them."""
    n = 0
    for at in range(bits.size):
        word = bits[at]
        if word == NONE:
            continue
        bits[at] = NONE
        while word != NONE:
            ordered[n] = (at << 6) + np.int64(ones(~word & (word - ONE)))
            word &= word - ONE
            n += 1
    return n


@kernel
def labelled_in_order(places: IntArray, draws: Plain, i: int, bits: WordArray, ordered: IntArray) -> int:
    """Write the places of the labelled steps of a draw, the first first, and say how many they are."""
    starts, stops, first, last, begins, _ = draws
    for run in range(first[i], last[i]):
        for step in range(begins[i] + starts[run], begins[i] + stops[run]):
            mark(bits, places[step])
    labelled: int = read_off(bits, ordered)
    return labelled


@kernel
def average_precisions(places: IntArray, reach: IntArray, draws: Plain, found: FloatArray) -> None:
    """Average precision of each draw; ``reach`` has for each place how many scores are at least as high."""
    bits = np.zeros((reach.size >> 6) + 1, dtype=np.uint64)
    ordered = np.empty(reach.size, dtype=np.int64)
    for i in range(found.size):
        labelled = labelled_in_order(places, draws, i, bits, ordered)
        total, hits = 0.0, 0
        while hits < labelled:
            alarms, before = reach[ordered[hits]], hits
            hits += 1
            while hits < labelled and ordered[hits] < alarms:  # labels of tied scores are found together
                hits += 1
            total += (hits - before) * (hits / alarms)
        found[i] = total / labelled if labelled else np.nan
