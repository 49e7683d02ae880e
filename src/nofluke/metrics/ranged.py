"""Precision and recall of whole ranges: each run of alarms, and each labelled run, counts once, however long it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, FloatArray, IntArray
from nofluke.metrics.alarm_runs import AlarmRuns
from nofluke.metrics.base import FBeta, Metric, kernel
from nofluke.metrics.draws import Draws, Plain
from nofluke.metrics.labelled import Labelled
from nofluke.plain import as_number, check_word
from nofluke.ratios import f_of_shares, f_weights
from nofluke.series.counting import flags_of

Bias = Literal["flat", "front", "middle", "back"]
Cardinality = Literal["one", "reciprocal"]
BIASES = ("flat", "front", "middle", "back")  # but for flat, half as many lengths of a run before its heaviest step
FLAT = 0
CARDINALITIES = ("one", "reciprocal")
MEASURES = ("precision", "recall", "f")
PRECISION, RECALL = 0, 1  # as the loop numbers them; anything else is F
FEW = 1_000_000  # pairs of a rotation and a labelled run, above which Fourier transforms are faster


@dataclass(frozen=True, kw_only=True)
class _Ranged(Metric):
    """What the three have in common; those that have no α or β of their own need none."""

    bias: Bias = "flat"
    cardinality: Cardinality = "one"

    measure: ClassVar[Literal["precision", "recall", "f"]]

    def __post_init__(self) -> None:
        check_word(self.bias, "bias", BIASES)
        check_word(self.cardinality, "cardinality", CARDINALITIES)

    def work(self, series: Labelled) -> float:
        """Runs of alarms are looked up for each labelled run."""
        return (40.0 if self.measure == "f" else 30.0) * len(series.truth.starts) + 100.0

    def tables(self, detector: AnyArray, series: Labelled) -> AlarmRuns:
        """The runs of alarms."""
        del series
        return AlarmRuns.of(detector)

    def values(self, tables: AlarmRuns, draws: Draws) -> FloatArray:
        found = np.empty(len(draws))
        ranged(
            *(tables.opens, tables.closes, tables.at, tables.steps, tables.places),
            draws.plain,
            MEASURES.index(self.measure),
            BIASES.index(self.bias),
            CARDINALITIES.index(self.cardinality),
            getattr(self, "alpha", 0.0),
            *f_weights(getattr(self, "beta", 1.0)),
            found,
        )
        return found

    def at_once(self, series: Labelled) -> bool:
        """Where all steps weigh the same and one by one would take long."""
        plain = self.bias == "flat" and self.cardinality == "one" and getattr(self, "alpha", 0.0) == 0
        return plain and len(series.truth.starts) * series.n_steps > FEW

    def every_rotation(self, detector: AnyArray, series: Labelled) -> FloatArray:
        """By Fourier transforms where that is faster."""
        if not self.at_once(series):
            return super().every_rotation(detector, series)
        precision, recall = flat_rotations(np.asarray(detector[: series.n_steps], dtype=np.bool_), series)
        if self.measure != "f":
            return precision if self.measure == "precision" else recall
        return f_of_shares(precision, recall, getattr(self, "beta", 1.0))


@dataclass(frozen=True, kw_only=True)
class RangePrecision(_Ranged):
    r"""Range-based precision: what share of a run of alarms is labelled, on average over the runs of alarms.

    .. math::

        P = \frac1{N_p} \sum_j \gamma(x_j)\, \omega(P_j), \qquad
        \omega(P_j) = \frac{\sum_{t \in P_j,\ \mathrm{labelled}} \delta(t, P_j)}{\sum_{t \in P_j} \delta(t, P_j)}

    over the :math:`N_p` runs of alarms :math:`P_j`, of which each meets :math:`x_j` labelled runs. NaN where no step is
    labelled or has an alarm. What flatters it: a false alarm costs the same whether it lasts one step or a day, so many
    short alarms within labelled runs outweigh long ones elsewhere.

    Parameters
    ----------
    bias : {"flat", "front", "middle", "back"}
        Which steps of a run weigh more: :math:`\delta` of the i-th of L steps is 1, L − i + 1 (front), the smaller of i
        and L − i + 1 (middle), or i (back).
    cardinality : {"one", "reciprocal"}
        :math:`\gamma(x)`: 1, or 1/x where a run meets x > 1 others.

    See Also
    --------
    nofluke.metrics.RangeRecall : the other side.
    nofluke.metrics.RangeF1 : both in one number.

    Notes
    -----
    Ranges that touch are two. The existence weight α of recall is 0 in precision, as the paper has it; prts and aeon
    let one set it. aeon's default is ``cardinality="reciprocal"``, and it returns 0 where all steps have alarms.

    References
    ----------
    Tatbul, Lee, Zdonik, Alam and Gottschlich (2018), Precision and recall for time series.

    Examples
    --------
    >>> RangePrecision()([0, 1, 1, 1, 0, 0], [1, 1, 0, 1, 0, 1])
    0.5
    """

    name: ClassVar[str] = "range-precision"
    title: ClassVar[str] = "range-based precision (Tatbul et al. 2018)"
    measure = "precision"


@dataclass(frozen=True, kw_only=True)
class _WithExistence(_Ranged):
    """What has a recall in it."""

    alpha: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        alpha = as_number(self.alpha, "alpha", "be between 0 and 1", lambda number: 0 <= number <= 1)
        object.__setattr__(self, "alpha", alpha)


@dataclass(frozen=True, kw_only=True)
class RangeRecall(_WithExistence):
    r"""Range-based recall: what share of a labelled run has alarms, on average over the labelled runs.

    .. math::

        R = \frac1{N_r} \sum_i \alpha\, [x_i \ge 1] + (1 - \alpha)\, \gamma(x_i)\, \omega(R_i), \qquad
        \omega(R_i) = \frac{\sum_{t \in R_i,\ \mathrm{alarm}} \delta(t, R_i)}{\sum_{t \in R_i} \delta(t, R_i)}

    over the :math:`N_r` labelled runs :math:`R_i`, of which each meets :math:`x_i` runs of alarms. NaN where no step is
    labelled, 0 without alarms. What flatters it: alarms everywhere, and the more so the larger α is: with α = 1 a
    single step of each run is enough.

    Parameters
    ----------
    alpha : float
        Weight of touching a run at all, from 0 to 1.
    bias, cardinality
        As in :class:`RangePrecision`.

    See Also
    --------
    nofluke.metrics.RangePrecision : the other side.
    nofluke.metrics.RangeF1 : both in one number.

    Notes
    -----
    aeon's default is ``cardinality="reciprocal"``, and it returns 0 where all steps have alarms.

    References
    ----------
    Tatbul, Lee, Zdonik, Alam and Gottschlich (2018), Precision and recall for time series.

    Examples
    --------
    >>> RangeRecall(alpha=0.5)([0, 1, 1, 1, 1, 0], [1, 1, 0, 0, 0, 1])
    0.625
    """

    name: ClassVar[str] = "range-recall"
    title: ClassVar[str] = "range-based recall (Tatbul et al. 2018)"
    measure = "recall"


@dataclass(frozen=True, kw_only=True)
class RangeF1(FBeta, _WithExistence):
    r"""F of range-based precision and recall.

    .. math:: F_\beta = \frac{(1 + \beta^2) P R}{\beta^2 P + R}

    NaN where no step is labelled, 0 without alarms or where no alarm is labelled. What flatters it: short alarms and
    few long ones, since each run counts once; with α = 1, a single alarm in each labelled run makes it 1.

    Parameters
    ----------
    alpha : float
        Weight of touching a labelled run at all, in recall only.
    bias, cardinality
        As in :class:`RangePrecision`, in both.
    beta : float
        How many times as much recall counts as precision.

    See Also
    --------
    nofluke.metrics.RangePrecision, nofluke.metrics.RangeRecall : its parts.
    nofluke.metrics.ETaPRF1 : another F of ranges.

    Notes
    -----
    The default, α = 0, flat and one, is the setting in which the paper's measures become the classical ones where all
    ranges are single steps. aeon's ``range_f_score`` has α = 0.5 and ``cardinality="reciprocal"`` instead, and with β
    other than 1 the denominator β² (P + R).

    References
    ----------
    Tatbul, Lee, Zdonik, Alam and Gottschlich (2018), Precision and recall for time series.

    Examples
    --------
    >>> RangeF1()([0, 1, 1, 1, 0, 0], [1, 1, 0, 1, 0, 1])  # of precision 1/2 and recall 2/3
    0.571428571428571...
    """

    name: ClassVar[str] = "range-f1"
    title: ClassVar[str] = "F of range-based precision and recall (Tatbul et al. 2018)"
    measure = "f"


# ---- all rotations at once


def flat_rotations(alarms: BoolArray, series: Labelled) -> tuple[FloatArray, FloatArray]:
    """Precision and recall, all steps of a run weighing the same, of alarms begun at each of their steps in turn.

    Recall, and precision of alarms on a circle, are sums over steps, so that a Fourier transform has them for all
    rotations. The seam then cuts at most one run of alarms in two.
    """
    n, runs = len(alarms), series.runs
    lengths = runs.stops - runs.starts
    shares = np.zeros(n)
    shares[_steps_of(runs.starts, lengths)] = np.repeat(1.0 / lengths, lengths)
    recall = _rotated_sums(alarms.astype(np.float64), shares) / len(lengths)
    if alarms.all() or not alarms.any():
        precision = np.full(n, len(_steps_of(runs.starts, lengths)) / n if alarms.any() else np.nan)
        return precision, recall
    turned = int(np.flatnonzero(~alarms)[0])  # begun at a step without an alarm, no run of the circle is cut
    found = AlarmRuns.of(np.roll(alarms, -turned))
    sizes = found.closes - found.opens
    worth, steps = np.zeros(n), _steps_of(found.opens, sizes)
    worth[(steps + turned) % n] = np.repeat(1.0 / sizes, sizes)
    labels = flags_of(runs, n)
    sums = _rotated_sums(worth, labels.astype(np.float64))
    # of the run that a seam cuts: steps before the seam, which come last, and steps from it on, which come first
    before = steps - np.repeat(found.opens, sizes)
    cut, size = before > 0, np.repeat(sizes, sizes)
    seam, before, size = (steps[cut] + turned) % n, before[cut], size[cut]
    behind = size - before
    counts = np.concatenate([[0], np.cumsum(labels)])
    last, first = counts[n] - counts[n - before], counts[behind]
    sums[seam] += last / before + first / behind - (last + first) / size
    parts = np.full(n, len(sizes))
    parts[seam] += 1
    return sums / parts, recall


def _steps_of(starts: IntArray, lengths: IntArray) -> IntArray:
    """All steps of runs, one after another."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - ends + lengths, lengths)


def _rotated_sums(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Weighted sums of values that begin at each of their steps in turn."""
    from scipy import fft

    spectrum = fft.rfft(values, workers=-1) * np.conj(fft.rfft(weights, workers=-1))
    return np.asarray(np.maximum(fft.irfft(spectrum, n=len(values), workers=-1), 0.0))


# ---- all three of each draw


@kernel
def weight_between(low: int, high: int, start: int, stop: int, bias: int) -> int:
    """Weight of the steps from start to stop in a run from low to high: whole numbers, so that nothing is rounded."""
    if bias == FLAT:
        return stop - start
    peak = low + (high - low) * (bias - 1) // 2
    rising, falling = min(stop, peak) - low, high - max(start, peak)
    total = 0
    if start < peak:
        total += rising * (rising + 1) // 2 - (start - low) * (start - low + 1) // 2
    if stop > peak:
        total += falling * (falling + 1) // 2 - (high - stop) * (high - stop + 1) // 2
    return total


@kernel
def ranged(
    opens: IntArray,
    closes: IntArray,
    at: IntArray,
    steps: IntArray,
    places: IntArray,
    draws: Plain,
    measure: int,
    bias: int,
    reciprocal: int,
    existence: float,
    of_recall: float,
    of_precision: float,
    found: FloatArray,
) -> None:
    """Range-based precision, recall or F of each draw.

    A run of alarms within one labelled run is worth 1. Only those that reach over a border of one, or of the draw,
    are looked at: each labelled run has at most two of them, and passes the last one on to the next labelled run.
    """
    starts, stops, first, last, begins, n_steps = draws
    for i in range(begins.size):
        begin = begins[i]
        end = begin + n_steps
        labelled = last[i] - first[i]
        runs = (at[end] >> 1) + (at[end] & 1) - (at[begin] >> 1)
        if labelled == 0 or runs == 0:
            found[i] = np.nan if labelled == 0 or measure == PRECISION else 0.0
            continue
        whole, part, met, share = np.int64(0), 0.0, np.int64(0), 0.0
        held, cover, size, times = np.int64(-1), np.int64(0), np.int64(1), np.int64(0)
        for label in range(first[i], last[i]):
            start, stop = begin + starts[label], begin + stops[label]
            before, behind = at[start] >> 1, at[stop] >> 1
            after = behind + (at[stop] & 1)
            if before == after:
                continue
            met += 1
            if measure != PRECISION:
                count = steps[behind] - steps[before]
                count -= start - opens[before] if at[start] & 1 else 0
                count += stop - opens[behind] if at[stop] & 1 else 0
                length = stop - start
                if bias != FLAT:
                    peak = start + length * (bias - 1) // 2
                    count = np.int64(0)
                    k, u = before, start
                    for side in range(2):
                        v = peak if side == 0 else stop
                        m = at[v] >> 1
                        n, place = steps[m] - steps[k], places[m] - places[k]
                        if at[u] & 1:
                            n -= u - opens[k]
                            place -= (u - opens[k]) * (u + opens[k] - 1) // 2
                        if at[v] & 1:
                            n += v - opens[m]
                            place += (v - opens[m]) * (v + opens[m] - 1) // 2
                        count += place - (start - 1) * n if side == 0 else stop * n - place
                        k, u = m, v
                    length = weight_between(start, stop, start, stop, bias)
                share += count / (length * (after - before if reciprocal else 1))
            if measure != RECALL:
                left, right = opens[before] < start, closes[after - 1] > stop
                if left and right and after - before == 1:
                    right = False
                whole += after - before - left - right
                for side in range(2):
                    if not (left if side == 0 else right):
                        continue
                    run = before if side == 0 else after - 1
                    low, high = max(opens[run], begin), min(closes[run], end)
                    if run != held:
                        part += cover / (size * (times if reciprocal and times else 1))
                        held, cover, times = run, np.int64(0), np.int64(0)
                        size = weight_between(low, high, low, high, bias)
                    cover += weight_between(low, high, max(start, low), min(stop, high), bias)
                    times += 1
        part += cover / (size * (times if reciprocal and times else 1))
        precision = (whole + part) / runs
        recall = (existence * met + (1.0 - existence) * share) / labelled
        if measure == PRECISION:
            found[i] = precision
        elif measure == RECALL:
            found[i] = recall
        else:
            below = of_recall * precision + of_precision * recall
            found[i] = (of_recall + of_precision) * precision * recall / below if below > 0 else 0.0
