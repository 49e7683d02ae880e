"""Enhanced time-series aware precision and recall: overlaps count only between what is found and what is right."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from nofluke.arrays import AnyArray, FloatArray, IntArray
from nofluke.metrics.alarm_runs import AlarmRuns, sums_before
from nofluke.metrics.base import Metric
from nofluke.metrics.draws import Draws
from nofluke.metrics.labelled import Labelled
from nofluke.plain import as_number, check_beta
from nofluke.ratios import f_weights

MEASURES = ("precision", "recall", "f")


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
        from nofluke.metrics.etapr_kernels import etapr

        found, runs = np.empty(len(draws)), tables.runs
        etapr(
            *(runs.opens, runs.closes, runs.at, runs.steps, tables.roots, tables.scale),
            *(draws.starts, draws.stops, draws.first, draws.last, draws.begins, draws.n_steps),
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
class ETaPRF1(_ETaPR):
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

    beta: float = 1.0

    name: ClassVar[str] = "etapr-f1"
    title: ClassVar[str] = "F of enhanced time-series aware precision and recall (Hwang et al. 2022)"
    measure = "f"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "beta", check_beta(self.beta))
