"""The score of the Numenta Anomaly Benchmark: rewards early alarms in windows, forgives those shortly after."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from nofluke.arrays import AnyArray, FloatArray, IntArray
from nofluke.metrics.alarm_runs import sums_before
from nofluke.metrics.base import Metric, kernel
from nofluke.metrics.draws import Draws, Plain
from nofluke.metrics.labelled import Labelled
from nofluke.plain import check_word

Profile = Literal["standard", "low-fp", "low-fn"]
COSTS: dict[str, tuple[float, float]] = {"standard": (1.0, 0.11), "low-fp": (1.0, 0.22), "low-fn": (2.0, 0.11)}
"""What a missed window and a false alarm cost, where a window found at once is worth 1."""


@dataclass(frozen=True, kw_only=True)
class NAB(Metric):
    r"""Score of the Numenta Anomaly Benchmark: 100 for a perfect detector, 0 for none, and below for a poor one.

    Each labelled run is a window. Its first alarm, with a share y of the window left (1 at its first step, 1/w at its
    last), is worth

    .. math:: \sigma(y) / \sigma(1), \qquad \sigma(y) = \frac{2}{1 + e^{-5y}} - 1;

    further alarms in it change nothing, and a window without one costs :math:`A_{FN}`. Every alarm outside, k steps
    behind the last step of the latest window, of w steps, costs :math:`A_{FP} \, \sigma(k / (w - 1))`, and all of
    :math:`A_{FP}` if that ratio is above 3, or there is no window before. The sum S over n windows becomes :math:`100
    (S + n A_{FN}) / (n + n A_{FN})`.

    NaN where no step is labelled. What flatters it: wide windows, in which any alarm will do, and alarms close behind
    them, which cost little.

    Parameters
    ----------
    profile : {"standard", "low-fp", "low-fn"}
        :math:`A_{FN}` and :math:`A_{FP}` are 1 and .11; a false alarm costs .22 with "low-fp", and a missed window 2
        with "low-fn".

    See Also
    --------
    nofluke.metrics.EventF1 : found runs, without a reward for early alarms.
    nofluke.metrics.DelayPAF1 : only early alarms count.

    Notes
    -----
    As the benchmark's own scorer, but: behind a window of one step false alarms cost all, where that divides by zero
    (and tsadmetrics by 1); and no first part of the series is left out, for which ``warmup`` and ``mask`` are there.
    The paper has no limit of 3, which changes a cost by less than 1e-6 of it.

    References
    ----------
    Lavin and Ahmad (2015), Evaluating real-time anomaly detection algorithms: the Numenta anomaly benchmark, ICMLA.

    Examples
    --------
    >>> round(NAB()([0, 0, 1, 1, 1, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0, 0]), 2)
    100.0
    >>> round(NAB()([0, 0, 1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 1, 0, 1, 0]), 2)
    79.15
    """

    profile: Profile = "standard"

    name: ClassVar[str] = "nab"
    title: ClassVar[str] = "score of the Numenta Anomaly Benchmark (Lavin and Ahmad 2015)"
    perfect: ClassVar[float | None] = 100.0

    def __post_init__(self) -> None:
        check_word(self.profile, "profile", COSTS)

    def reach(self, series: Labelled) -> int:
        """As far as alarms behind the longest run cost less than others."""
        lengths = series.truth.stops - series.truth.starts
        return 3 * max(int(lengths.max(initial=1)) - 1, 0)

    def work(self, series: Labelled) -> float:
        alarmed = 0.0 if series.alarms is None else float(series.alarms.mean())
        return 60.0 * len(series.truth.starts) + 20.0 * alarmed * series.n_labelled + 100.0

    def tables(self, detector: AnyArray, series: Labelled) -> tuple[IntArray, IntArray]:
        """Alarms before each step, and their steps."""
        del series
        return sums_before(detector), np.flatnonzero(detector)

    def values(self, tables: tuple[IntArray, IntArray], draws: Draws) -> FloatArray:
        found = np.empty(len(draws))
        nab_scores(*tables, draws.plain, *COSTS[self.profile], found)
        return found


@kernel
def nab_scores(
    before: IntArray, alarms: IntArray, draws: Plain, missed: float, false: float, found: FloatArray
) -> None:
    """NAB score of each draw, from the steps with alarms and their number before each step.

    The scaled sigmoid 2 / (1 + exp(5 y)) - 1 is -tanh(2.5 y); a window found at its first step has tanh(2.5) /
    tanh(2.5) = 1.
    """
    starts, stops, first, last, begins, n_steps = draws
    full = math.tanh(2.5)
    for i in range(begins.size):
        begin, n_windows = begins[i], last[i] - first[i]
        if n_windows == 0:
            found[i] = np.nan
            continue
        gained, cost = 0.0, 0.0
        # false alarms at full cost: no window, or far behind it
        costly = before[begin + starts[first[i]]] - before[begin]
        for run in range(first[i], last[i]):
            start, stop = begin + starts[run], begin + stops[run]
            until = begin + (starts[run + 1] if run + 1 < last[i] else n_steps)
            within, behind = before[start], before[stop]
            if behind > within:
                gained += math.tanh(2.5 * (stop - alarms[within]) / (stop - start)) / full + missed
            width = stop - start - 1
            far = before[min(until, stop + 3 * width)]
            costly += before[until] - far
            for alarm in range(behind, far):
                cost += 1.0 - 2.0 / (1.0 + math.exp(5.0 * (alarms[alarm] - stop + 1) / width))
        found[i] = 100.0 * (gained - false * (costly + cost)) / (n_windows * (1.0 + missed))
