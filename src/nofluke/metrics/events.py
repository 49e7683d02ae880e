"""F of alarms in which labelled runs count once, however long they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nofluke.arrays import AnyArray, IntArray
from nofluke.metrics.adjusted import OfCounts
from nofluke.metrics.base import kernel
from nofluke.metrics.draws import Draws, Plain
from nofluke.metrics.labelled import Labelled


@dataclass(frozen=True, kw_only=True)
class CompositeF1(OfCounts):
    r"""F_β of the precision of steps and the recall of runs.

    .. math::
        P = \frac{\#\{\text{alarms in a run}\}}{\#\{\text{alarms}\}}, \qquad R = \frac{\#\{\text{runs with an
        alarm}\}}{\#\{\text{runs}\}}, \qquad F_\beta = \frac{(1 + \beta^2) P R}{\beta^2 P + R}

    NaN where no step is labelled; 0 where there is no alarm in a run. Long runs flatter it: random alarms find all of
    them, and precision is then the share of steps that are labelled.

    Parameters
    ----------
    beta : float
        Recall counts β² times as much as precision.

    See Also
    --------
    nofluke.metrics.EventF1 : runs on both sides.
    nofluke.metrics.F1 : steps on both sides.

    Notes
    -----
    TSB-AD 1.5 calls it "Event-based-F1", and overlooks the last step.

    References
    ----------
    Garg et al. (2021), An Evaluation of Anomaly Detection and Diagnosis in Multivariate Time Series.

    Examples
    --------
    >>> round(CompositeF1()([0, 1, 1, 0, 1], [1, 1, 0, 0, 1]), 4)  # P = 2/3, R = 1
    0.8
    """

    name: ClassVar[str] = "composite-f1"
    title: ClassVar[str] = "F of the precision of steps and the recall of runs (Garg et al. 2021)"

    def _hits(self, counts: IntArray) -> tuple[Any, Any, Any, Any]:
        alarms, _, runs, hit, found, _ = counts
        return hit, found, alarms, runs


@dataclass(frozen=True, kw_only=True)
class EventF1(OfCounts):
    r"""F_β of runs: labelled ones that are found, and runs of alarms that touch no label.

    .. math::
        F_\beta = \frac{(1 + \beta^2)\, TP}{\beta^2 m + TP + FP}, \qquad TP = \#\{\text{labelled runs with an alarm}\},
        \quad FP = \#\{\text{runs of alarms that touch no label}\}

    with m labelled runs. NaN where no step is labelled; 0 where no run is found. Long runs of alarms flatter it: alarms
    on all steps find everything, and none of them is false.

    Parameters
    ----------
    beta : float
        Recall counts β² times as much as precision.

    See Also
    --------
    nofluke.metrics.CompositeF1 : with the precision of steps.
    nofluke.metrics.EventFARF1 : with the false alarm rate of steps.

    Notes
    -----
    Labelled runs that touch are two, though one run of alarms may find both. TSB-AD's "Event-based-F1" is
    :class:`CompositeF1`.

    References
    ----------
    Hundman et al. (2018), Detecting Spacecraft Anomalies Using LSTMs and Nonparametric Dynamic Thresholding.

    Examples
    --------
    >>> round(EventF1()([0, 0, 1, 1, 0, 1], [1, 0, 1, 0, 0, 0]), 4)  # one run found, one missed, one alarm false
    0.5
    """

    name: ClassVar[str] = "event-f1"
    title: ClassVar[str] = "F of labelled runs found and runs of false alarms (Hundman et al. 2018)"

    def work(self, series: Labelled) -> float:
        """Two steps are looked up for each run, in a table twice as large."""
        return 35.0 * len(series.truth.starts) + 50.0

    def tables(self, detector: AnyArray, series: Labelled) -> IntArray:
        """Alarms, and runs of them that have begun, before each step."""
        del series
        sums = np.zeros((len(detector) + 1, 2), dtype=np.int64)
        np.cumsum(detector, out=sums[1:, 0])
        np.cumsum(np.diff(detector.astype(np.int8), prepend=np.int8(0)) > 0, out=sums[1:, 1])
        return sums

    def _counts(self, tables: Any, draws: Draws) -> IntArray:
        """As `count_events` has them."""
        counts = np.empty((len(draws), 7), dtype=np.int64)
        count_events(tables, draws.plain, counts)
        return counts.T

    def _hits(self, counts: IntArray) -> tuple[Any, Any, Any, Any]:
        _, _, runs, _, found, false, _ = counts
        return found, found, found + false, runs


@dataclass(frozen=True, kw_only=True)
class EventFARF1(EventF1):
    r"""F_β of runs, with a precision reduced by the false alarm rate of the steps.

    .. math::
        P = \frac{TP}{TP + FP} \left(1 - \frac{\#\{\text{alarms outside of runs}\}}{\#\{\text{steps outside of
        runs}\}}\right), \qquad R = \frac{TP}{m}, \qquad F_\beta = \frac{(1 + \beta^2) P R}{\beta^2 P + R}

    with TP of the m labelled runs found and FP runs of alarms that touch no label. NaN where no step is labelled; 0
    where no run is found; where every step is labelled, the rate is 0. Long runs flatter it: one alarm finds each, and
    long runs of alarms, which are seldom wholly false, cost no more than the steps that they cover.

    Parameters
    ----------
    beta : float
        Recall counts β² times as much as precision.

    See Also
    --------
    nofluke.metrics.EventF1 : without the false alarm rate.
    nofluke.metrics.CompositeF1 : with the precision of steps.

    Notes
    -----
    dtaianomaly 0.5.1 gives 0 where no step is labelled.

    References
    ----------
    El Amine Sehili and Zhang (2023), Multivariate Time Series Anomaly Detection: Fancy Algorithms and Flawed Evaluation
    Methodology.

    Examples
    --------
    >>> round(EventFARF1()([0, 0, 1, 1, 0, 1], [1, 0, 1, 0, 0, 0]), 4)  # P = 1/2 (1 - 1/3), R = 1/2
    0.4
    """

    name: ClassVar[str] = "event-far-f1"
    title: ClassVar[str] = "F of runs with the false alarm rate of steps (El Amine Sehili and Zhang 2023)"

    def _hits(self, counts: IntArray) -> tuple[Any, Any, Any, Any]:
        alarms, _, runs, hit, found, false, normal = counts
        quiet = normal - (alarms - hit)
        quiet, normal = np.where(normal > 0, quiet, 1), np.maximum(normal, 1)
        return found * quiet, found, (found + false) * normal, runs


@kernel
def count_events(sums: IntArray, draws: Plain, counts: IntArray) -> None:
    """For each draw: alarms, labelled steps, runs, labelled steps with an alarm, runs found, false runs, other steps.

    False are those that touch no label; other steps are those without one.

    ``sums`` are alarms, and runs of them that have begun, before each step: side by side, since both are looked up
    together.
    """
    starts, stops, first, last, begins, n_steps = draws
    for i in range(begins.size):
        labelled, hit, found = np.int64(0), np.int64(0), np.int64(0)
        begin = begins[i]
        end = begin + n_steps
        # a run of alarms that begins before the window counts from the window's first step
        false = sums[end, 1] - sums[begin + 1, 1] + sums[begin + 1, 0] - sums[begin, 0]
        before = begin
        for run in range(first[i], last[i]):
            start, stop = begin + starts[run], begin + stops[run]
            inside = sums[stop, 0] - sums[start, 0]
            labelled += stop - start
            hit += inside
            if inside > 0:
                found += 1
                false -= sums[stop, 1] - sums[start + 1, 1] + sums[start + 1, 0] - sums[start, 0]
                # one that reaches from the last step of the labelled run before into this one was taken off already
                if before > begin and sums[start + 1, 0] - sums[before - 1, 0] == start + 2 - before:
                    false += 1
            before = stop
        counts[i, 0] = sums[end, 0] - sums[begin, 0]
        counts[i, 1] = labelled
        counts[i, 2] = last[i] - first[i]
        counts[i, 3] = hit
        counts[i, 4] = found
        counts[i, 5] = false
        counts[i, 6] = n_steps - labelled
