"""F of alarms after point adjustment of runs with alarms on enough of their steps, PA%K: at one k, and over all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.metrics.adjusted import PAF1, OfRuns, adjusted_counts, as_runs
from nofluke.metrics.draws import Draws
from nofluke.metrics.labelled import Labelled
from nofluke.plain import as_number, exact_fraction
from nofluke.ratios import f_weights

FINEST = 1_000_000  # parts of a percent: shares of runs are then compared in whole numbers of 64 bits


@dataclass(frozen=True, kw_only=True)
class PAKF1(PAF1):
    r"""F_β after point adjustment of the runs that have alarms on at least k percent of their steps, PA%K.

    .. math::
        F_\beta = \frac{(1 + \beta^2)\, TP_k}{\beta^2 A + TP_k + FP}, \qquad TP_k = \sum_{\text{runs}} \begin{cases}
        \text{length} & \text{alarms} \ge 1,\ 100\, \text{alarms} \ge k\, \text{length} \\ \text{alarms} & \text{else}
        \end{cases}

    with A labelled steps and FP alarms outside of them: k = 0 is point adjustment, k = 100 none. NaN where no step is
    labelled; 0 where there is no alarm in a run. A small k and short runs flatter it: of five steps, one is 20 percent.

    Parameters
    ----------
    k : float
        Percent, from 0 to 100. Shares are compared as whole numbers, with k rounded to the nearest millionth.
    beta : float
        Recall counts β² times as much as precision.

    See Also
    --------
    nofluke.metrics.PAKAUC : over all k.
    nofluke.metrics.PAF1 : one alarm is enough.

    Notes
    -----
    A share of exactly k percent is enough, as in most packages; in tadpak, the authors' own, it must be larger.

    References
    ----------
    Kim et al. (2022), Towards a Rigorous Evaluation of Time-Series Anomaly Detection.

    Examples
    --------
    >>> PAKF1(k=50)([0, 1, 1, 1, 0], [0, 0, 1, 0, 0]), PAKF1(k=50)([0, 1, 1, 1, 0], [0, 1, 1, 0, 0])
    (0.5, 1.0)
    """

    name: ClassVar[str] = "pak-f1"
    title: ClassVar[str] = "F after point adjustment of runs with alarms on k percent of their steps (Kim et al. 2022)"

    k: float = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        k = as_number(self.k, "k", "be a percentage from 0 to 100", lambda percent: 0 <= percent <= 100)
        object.__setattr__(self, "k", int(k) if k.is_integer() else k)

    def _counts(self, tables: Any, draws: Draws) -> IntArray:
        return adjusted_counts(tables, draws, share=exact_fraction(self.k).limit_denominator(FINEST) / 100)


@dataclass(frozen=True, kw_only=True)
class PAKAUC(OfRuns):
    r"""Area under F_β after PA%K over k from 0 to 100 percent.

    .. math:: \int_0^1 F_\beta(100 \kappa)\, d\kappa

    of :class:`PAKF1`, exactly: F falls in steps, where k passes the share of alarms in a run. NaN where no step is
    labelled; 0 where there is no alarm in a run. Short runs flatter it: one alarm on a few steps keeps the adjustment
    up to a large k.

    Parameters
    ----------
    beta : float
        Recall counts β² times as much as precision.

    See Also
    --------
    nofluke.metrics.PAKF1 : at one k.
    nofluke.metrics.PAF1 : one alarm is enough.

    Notes
    -----
    tadpak, the authors' own, looks for the threshold that is best at each k, and leaves the sum over k to its user;
    here alarms are the same at every k.

    References
    ----------
    Kim et al. (2022), Towards a Rigorous Evaluation of Time-Series Anomaly Detection.

    Examples
    --------
    >>> round(PAKAUC()([0, 1, 1, 1, 0], [0, 0, 1, 0, 0]), 4)  # 1 up to k = 33.3, then 0.5
    0.6667
    """

    name: ClassVar[str] = "pak-auc"
    title: ClassVar[str] = "area under F after PA%K over all k (Kim et al. 2022)"

    def work(self, series: Labelled) -> float:
        """The runs of each draw are sorted by their shares of alarms."""
        return 60.0 * len(series.truth.starts) + 100.0

    def values(self, tables: Any, draws: Draws) -> FloatArray:
        from nofluke.metrics.adjusted_kernels import areas_over_shares

        areas = np.empty(len(draws))
        areas_over_shares(tables, *as_runs(draws), *f_weights(self.beta), areas)
        return areas
