"""Precision, recall and F with a tolerance in time: the paper's, as :func:`nofluke.evaluate` has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.metrics.near import Hits, Tolerant
from nofluke.plain import check_beta
from nofluke.ratios import f_of_shares
from nofluke.series.tolerance import Length, Unit


@dataclass(frozen=True, kw_only=True)
class Precision(Tolerant):
    r"""Precision with a tolerance in time: the share of the alarms that are near an event.

    .. math::
        P_\delta = \frac{\#\{\text{alarms } p: q - \text{early} \le p \le q + \text{late for some event }
        q\}}{\#\{\text{alarms}\}}

    as in :func:`nofluke.evaluate`. NaN where no step is labelled, and where there is no alarm. Many labels and a wide
    tolerance flatter it: most steps are then near an event.

    Parameters
    ----------
    tolerance : int, str, timedelta or Tolerance
        Steps, or a duration such as "2h" where the data has a clock of dates.
    early, late : int, str or timedelta, optional
        Its two sides, instead of ``tolerance``.
    unit : {"steps", "ns", "clock"}, optional
        "clock" reads plain numbers in the unit of a clock of plain numbers.

    See Also
    --------
    nofluke.metrics.Recall : the other side.
    nofluke.metrics.F1 : both in one number.
    nofluke.evaluate : both in one verdict, with intervals.

    Notes
    -----
    Called as a function, and in draws, events that are times between two steps belong to the step before, where
    `evaluate` and `significance` let them keep their own times; ranges between two steps have no step to count, and are
    left out.
    Without labels `evaluate` gives 0: without events there are no hits.

    References
    ----------
    Scharwächter and Müller (2020), Statistical Evaluation of Anomaly Detectors for Sequences, equation 2.

    Examples
    --------
    >>> Precision(tolerance=1)([0, 1, 0, 0, 0, 1], [1, 0, 0, 1, 0, 0])
    0.5
    """

    name: ClassVar[str] = "precision"
    title: ClassVar[str] = "precision with a tolerance in time (Scharwächter and Müller 2020)"

    def _ratio(self, of: Hits) -> FloatArray:
        return np.asarray(of.hits / of.alarms)


@dataclass(frozen=True, kw_only=True)
class Recall(Tolerant):
    r"""Recall with a tolerance in time: the share of the events that are near an alarm.

    .. math::
        R_\delta = \frac{\#\{\text{events } q: q - \text{early} \le p \le q + \text{late for some alarm }
        p\}}{\#\{\text{events}\}}

    as in :func:`nofluke.evaluate`: each labelled step is an event, or each range where ``count_events`` says so. NaN
    where no step is labelled; 0 where there is no alarm. Many alarms and a wide tolerance flatter it: alarms on every
    step find everything.

    Parameters
    ----------
    tolerance : int, str, timedelta or Tolerance
        Steps, or a duration such as "2h" where the data has a clock of dates.
    early, late : int, str or timedelta, optional
        Its two sides, instead of ``tolerance``.
    unit : {"steps", "ns", "clock"}, optional
        "clock" reads plain numbers in the unit of a clock of plain numbers.

    See Also
    --------
    nofluke.metrics.Precision : the other side.
    nofluke.metrics.F1 : both in one number.
    nofluke.evaluate : both in one verdict, with intervals.

    Notes
    -----
    Called as a function, and in draws, events that are times between two steps belong to the step before, where
    `evaluate` and `significance` let them keep their own times; ranges between two steps have no step to count, and are
    left out.

    References
    ----------
    Scharwächter and Müller (2020), Statistical Evaluation of Anomaly Detectors for Sequences, equation 3.

    Examples
    --------
    >>> Recall(tolerance=1)([0, 1, 0, 0, 0, 1], [1, 0, 0, 1, 0, 0])
    0.5
    >>> Recall(early=0, late=2)([0, 1, 0, 0, 0, 1], [1, 0, 0, 1, 0, 0]), Recall(early=0, late=2).text
    (0.5, 'recall:early=0,late=2')
    """

    name: ClassVar[str] = "recall"
    title: ClassVar[str] = "recall with a tolerance in time (Scharwächter and Müller 2020)"

    def _ratio(self, of: Hits) -> FloatArray:
        return np.asarray(of.found / of.events)


@dataclass(frozen=True, kw_only=True)
class F1(Tolerant):
    r"""F_β with a tolerance in time, of :class:`Precision` and :class:`Recall`; without one, F_β of the steps.

    .. math:: F_\beta = \frac{(1 + \beta^2) P_\delta R_\delta}{\beta^2 P_\delta + R_\delta}

    as in :func:`nofluke.evaluate`: each labelled step is an event, or each range where ``count_events`` says so. NaN
    where no step is labelled; 0 where there is no alarm near an event, or none at all. A wide tolerance flatters it,
    and many labels: both fill the series with steps on which any alarm is right.

    Parameters
    ----------
    tolerance : int, str, timedelta or Tolerance
        Steps, or a duration such as "2h" where the data has a clock of dates.
    early, late : int, str or timedelta, optional
        Its two sides, instead of ``tolerance``.
    unit : {"steps", "ns", "clock"}, optional
        "clock" reads plain numbers in the unit of a clock of plain numbers.
    beta : float
        Recall counts β² times as much as precision.

    See Also
    --------
    nofluke.metrics.Precision, nofluke.metrics.Recall : its parts.
    nofluke.metrics.BestF1 : of the steps, at the best threshold.
    nofluke.metrics.PAF1 : after point adjustment.
    nofluke.evaluate : both in one verdict, with intervals.

    Notes
    -----
    Without alarms :func:`nofluke.evaluate` leaves F undefined; here it is 0, as for all F of this module's kin.

    References
    ----------
    Scharwächter and Müller (2020), Statistical Evaluation of Anomaly Detectors for Sequences. van Rijsbergen (1979),
    Information Retrieval.

    Examples
    --------
    >>> F1(tolerance=1)([0, 1, 0, 0, 0, 1], [1, 0, 0, 1, 0, 0])
    0.5
    """

    name: ClassVar[str] = "f1"
    title: ClassVar[str] = "F with a tolerance in time (Scharwächter and Müller 2020)"

    beta: float = 1.0

    def __post_init__(self, early: Length | None, late: Length | None, unit: Unit | None) -> None:
        super().__post_init__(early, late, unit)
        object.__setattr__(self, "beta", check_beta(self.beta))

    def _ratio(self, of: Hits) -> FloatArray:
        return f_of_shares(of.hits / of.alarms, of.found / of.events, self.beta)
