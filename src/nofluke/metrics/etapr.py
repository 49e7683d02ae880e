"""Enhanced time-series aware precision and recall: overlaps count only between what is found and what is right."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from nofluke.arrays import AnyArray, FloatArray, IntArray
from nofluke.metrics.alarm_runs import AlarmRuns, sums_before
from nofluke.metrics.base import FBeta, Metric, kernel
from nofluke.metrics.draws import Draws, Plain
from nofluke.metrics.labelled import Labelled
from nofluke.plain import as_number
from nofluke.ratios import f_weights

MEASURES = ("precision", "recall", "f")
PRECISION, RECALL = 0, 1  # as the loop numbers them; anything else is F


@dataclass(frozen=True, kw_only=True, eq=False)
class _Tables:
    """Runs of alarms, and sums of the roots of their lengths: whole numbers, so that their order does not matter."""

    runs: AlarmRuns
    roots: IntArray = field(repr=False)
    scale: float


@dataclass(frozen=True, kw_only=True)
class _ETaPR(Metric):
    """What the three have in common; those that have no β of their own need none."""

    theta_p: float = 0.5
    theta_r: float = 0.1

    measure: ClassVar[Literal["precision", "recall", "f"]]

    def __post_init__(self) -> None:
        for name in ("theta_p", "theta_r"):
            # at 0 a labelled run without any alarm would be found
            theta = as_number(getattr(self, name), name, "be above 0 and at most 1", lambda number: 0 < number <= 1)
            object.__setattr__(self, name, theta)

    def work(self, series: Labelled) -> float:
        """Runs of alarms are looked up for each labelled run, and held against each other."""
        return 60.0 * len(series.truth.starts) + 100.0

    def tables(self, detector: AnyArray, series: Labelled) -> _Tables:
        """The runs of alarms, and the roots of their lengths."""
        runs = AlarmRuns.of(detector)
        # all roots of a draw add up to less than its steps, hence to less than 2**62
        scale = 2.0 ** (62 - series.n_steps.bit_length())
        roots = np.floor(np.sqrt(runs.closes - runs.opens) * scale + 0.5).astype(np.int64)
        return _Tables(runs=runs, roots=sums_before(roots), scale=scale)

    def values(self, tables: _Tables, draws: Draws) -> FloatArray:
        found, runs = np.empty(len(draws)), tables.runs
        etapr(
            *(runs.opens, runs.closes, runs.at, runs.steps, tables.roots, tables.scale),
            draws.plain,
            *(MEASURES.index(self.measure), self.theta_p, self.theta_r),
            *f_weights(getattr(self, "beta", 1.0)),
            found,
        )
        return found


@dataclass(frozen=True, kw_only=True)
class ETaPRPrecision(_ETaPR):
    r"""Enhanced time-series aware precision, eTaP: how much of the alarms is right, by the roots of their lengths.

    A labelled run :math:`A_i` is found where right runs of alarms cover at least :math:`\theta_r` of it, and a run of
    alarms :math:`P_j` is right where found labelled runs cover at least :math:`\theta_p` of it: the largest sets for
    which both hold.

    .. math::

        \mathrm{eTaP} = \sum_{j\ \mathrm{right}} \frac{\sqrt{|P_j|}}{\sum_k \sqrt{|P_k|}} \cdot
        \frac12 \left(1 + \sum_{i\ \mathrm{found}} \frac{|A_i \cap P_j|}{|P_j|}\right)

    NaN where no step is labelled or has an alarm, 0 where no run of alarms is right. What flatters it: a right alarm is
    worth ¾ even where half of it is wrong, and one long false alarm costs only the root of its length.

    Parameters
    ----------
    theta_p, theta_r : float
        Shares that must be covered, of a run of alarms and of a labelled run; above 0 and at most 1.

    See Also
    --------
    nofluke.metrics.ETaPRRecall : the other side.
    nofluke.metrics.ETaPRF1 : both in one number.

    Notes
    -----
    Touching labelled runs are two. The authors' package and faster-eTaPR 0.1.2 agree where there are labels and
    alarms, and return 0 or fail elsewhere. The package's command line has :math:`\theta_p` = 0.5, its function
    ``evaluate_w_streams`` 0.7; tsadmetrics has :math:`\theta_r` = 0.5. A θ of 0, which all of them allow, would count
    what meets nothing as found or right.

    References
    ----------
    Hwang, Yun, Kim and Min (2022), Do you know existing accuracy metrics overrate time-series anomaly detections?

    Examples
    --------
    >>> ETaPRPrecision()([0, 1, 1, 0, 0, 0, 0, 0], [0, 0, 1, 1, 0, 1, 0, 1])  # the first is right, half of it labelled
    0.31066017177982...
    """

    name: ClassVar[str] = "etapr-precision"
    title: ClassVar[str] = "enhanced time-series aware precision (Hwang et al. 2022)"
    measure = "precision"


@dataclass(frozen=True, kw_only=True)
class ETaPRRecall(_ETaPR):
    r"""Enhanced time-series aware recall, eTaR: how much of the labelled runs is found.

    .. math::

        \mathrm{eTaR} = \frac1N \sum_{i\ \mathrm{found}} \frac12
        \left(1 + \sum_{j\ \mathrm{right}} \frac{|A_i \cap P_j|}{|A_i|}\right)

    over N labelled runs :math:`A_i` and runs of alarms :math:`P_j`; found and right are as in :class:`ETaPRPrecision`.
    NaN where no step is labelled, 0 without alarms. What flatters it: a tenth of a labelled run already earns more than
    half of the credit.

    Parameters
    ----------
    theta_p, theta_r
        As in :class:`ETaPRPrecision`.

    See Also
    --------
    nofluke.metrics.ETaPRPrecision : the other side.
    nofluke.metrics.ETaPRF1 : both in one number.

    Notes
    -----
    As of :class:`ETaPRPrecision`.

    References
    ----------
    Hwang, Yun, Kim and Min (2022), Do you know existing accuracy metrics overrate time-series anomaly detections?

    Examples
    --------
    >>> ETaPRRecall()([0, 1, 1, 0, 0, 0], [0, 0, 1, 1, 0, 1])
    0.75
    """

    name: ClassVar[str] = "etapr-recall"
    title: ClassVar[str] = "enhanced time-series aware recall (Hwang et al. 2022)"
    measure = "recall"


@dataclass(frozen=True, kw_only=True)
class ETaPRF1(FBeta, _ETaPR):
    r"""F of enhanced time-series aware precision and recall.

    .. math:: F_\beta = \frac{(1 + \beta^2)\, \mathrm{eTaP}\, \mathrm{eTaR}}{\beta^2\, \mathrm{eTaP} + \mathrm{eTaR}}

    NaN where no step is labelled, 0 without alarms or where none is right. What flatters it: short alarms at the
    labelled runs, since a tenth of a run and half of an alarm are enough for most of the credit.

    Parameters
    ----------
    theta_p, theta_r
        As in :class:`ETaPRPrecision`.
    beta : float
        How many times as much recall counts as precision.

    See Also
    --------
    nofluke.metrics.ETaPRPrecision, nofluke.metrics.ETaPRRecall : its parts.
    nofluke.metrics.RangeF1 : another F of ranges.

    Notes
    -----
    As of :class:`ETaPRPrecision`.

    References
    ----------
    Hwang, Yun, Kim and Min (2022), Do you know existing accuracy metrics overrate time-series anomaly detections?

    Examples
    --------
    >>> ETaPRF1()([0, 1, 1, 1, 0, 0], [0, 1, 1, 1, 0, 0])
    1.0
    """

    name: ClassVar[str] = "etapr-f1"
    title: ClassVar[str] = "F of enhanced time-series aware precision and recall (Hwang et al. 2022)"
    measure = "f"


# ---- all three of each draw


@kernel
def etapr(
    opens: IntArray,
    closes: IntArray,
    at: IntArray,
    steps: IntArray,
    roots: IntArray,
    scale: float,
    draws: Plain,
    measure: int,
    theta_p: float,
    theta_r: float,
    of_recall: float,
    of_precision: float,
    found: FloatArray,
) -> None:
    """eTaP, eTaR or F of each draw.

    A run of alarms within one labelled run stands and falls with it. Those that reach over a border of one, or of the
    draw, are kept one by one ("edges"), with the labelled runs that they meet. What falls is put on a pile, and takes
    its overlap from what it meets, until the pile is empty: each pair is looked at once.
    """
    starts, stops, first, last, begins, n_steps = draws
    most = np.int64(1)
    for i in range(begins.size):
        most = max(most, last[i] - first[i])
    # labelled runs that meet an alarm: where they are, steps found, the edges at both ends, weight of the alarms within
    start_of, stop_of, got = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    left_of, right_of, within = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    kept = np.empty(most, np.bool_)
    # edges: where they are in the draw, steps labelled, the labelled runs that they meet
    low_of, high_of, hits = np.empty(2 * most, np.int64), np.empty(2 * most, np.int64), np.empty(2 * most, np.int64)
    from_of, to_of, run_of = np.empty(2 * most, np.int64), np.empty(2 * most, np.int64), np.empty(2 * most, np.int64)
    right = np.empty(2 * most, np.bool_)
    pile = np.empty(3 * most, np.int64)

    for i in range(begins.size):
        begin = begins[i]
        end = begin + n_steps
        labelled = last[i] - first[i]
        head, tail = at[begin] >> 1, (at[end] >> 1) + (at[end] & 1)
        if labelled == 0 or head == tail:
            found[i] = np.nan if labelled == 0 or measure == PRECISION else 0.0
            continue
        met, edges, top = np.int64(0), np.int64(0), np.int64(0)
        for label in range(first[i], last[i]):
            start, stop = begin + starts[label], begin + stops[label]
            before, behind = at[start] >> 1, at[stop] >> 1
            after = behind + (at[stop] & 1)
            if before == after:
                continue
            count = steps[behind] - steps[before]
            count -= start - opens[before] if at[start] & 1 else 0
            count += stop - opens[behind] if at[stop] & 1 else 0
            lower, upper = before, after  # the runs of alarms that lie within
            left_of[met], right_of[met] = -1, -1
            if opens[before] < start:
                lower += 1
                if edges == 0 or run_of[edges - 1] != before:
                    low_of[edges], high_of[edges] = max(opens[before], begin), min(closes[before], end)
                    run_of[edges], hits[edges], from_of[edges] = before, 0, met
                    edges += 1
                left_of[met] = edges - 1
                hits[edges - 1] += min(high_of[edges - 1], stop) - max(low_of[edges - 1], start)
                to_of[edges - 1] = met
            if closes[after - 1] > stop and lower < after:
                upper -= 1
                low_of[edges], high_of[edges] = opens[upper], min(closes[upper], end)
                run_of[edges], from_of[edges], to_of[edges] = upper, met, met
                hits[edges] = min(high_of[edges], stop) - low_of[edges]
                right_of[met] = edges
                edges += 1
            start_of[met], stop_of[met], got[met] = start, stop, count
            within[met] = roots[upper] - roots[lower]
            kept[met] = count / (stop - start) >= theta_r
            if not kept[met]:
                pile[top] = met
                top += 1
            met += 1
        for edge in range(edges):
            right[edge] = hits[edge] / (high_of[edge] - low_of[edge]) >= theta_p
            if not right[edge]:
                pile[top] = -1 - edge
                top += 1
        while top:
            top -= 1
            label = pile[top]
            if label >= 0:
                for edge in (left_of[label], right_of[label]):
                    if edge >= 0 and right[edge]:
                        hits[edge] -= min(high_of[edge], stop_of[label]) - max(low_of[edge], start_of[label])
                        if hits[edge] / (high_of[edge] - low_of[edge]) < theta_p:
                            right[edge] = False
                            pile[top] = -1 - edge
                            top += 1
            else:
                edge = -1 - label
                for label in range(from_of[edge], to_of[edge] + 1):
                    if kept[label]:
                        got[label] -= min(high_of[edge], stop_of[label]) - max(low_of[edge], start_of[label])
                        if got[label] / (stop_of[label] - start_of[label]) < theta_r:
                            kept[label] = False
                            pile[top] = label
                            top += 1

        detected, share, worth, rest = np.int64(0), 0.0, np.int64(0), 0.0
        for label in range(met):
            if kept[label]:
                detected += 1
                share += got[label] / (stop_of[label] - start_of[label])
                worth += within[label]
        recall = (detected + share) / (2 * labelled)
        if measure == RECALL:
            found[i] = recall
            continue
        for edge in range(edges):
            if right[edge]:
                length = high_of[edge] - low_of[edge]
                weight = np.int64(math.sqrt(length) * scale + 0.5)
                if hits[edge] == length:
                    worth += weight
                else:
                    rest += weight * (0.5 + hits[edge] / (2 * length))
        total = roots[tail] - roots[head]
        for run in (head, tail - 1):  # less what the borders of the draw cut off
            low, high = max(opens[run], begin), min(closes[run], end)
            if high - low < closes[run] - opens[run]:
                total += np.int64(math.sqrt(high - low) * scale + 0.5) - (roots[run + 1] - roots[run])
                if tail - head == 1:
                    break
        precision = (worth + rest) / total
        if measure == PRECISION:
            found[i] = precision
        else:
            below = of_recall * precision + of_precision * recall
            found[i] = (of_recall + of_precision) * precision * recall / below if below > 0 else 0.0
