"""F of alarms, step by step, with or without point adjustment, which counts a run with an alarm as found in full."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from nofluke.arrays import AnyArray, FloatArray, IntArray
from nofluke.metrics.alarm_runs import sums_before
from nofluke.metrics.base import FBeta, kernel
from nofluke.metrics.draws import Draws, Plain
from nofluke.metrics.labelled import Labelled
from nofluke.plain import as_number, exact_fraction
from nofluke.ratios import f_of_hits, f_weights
from nofluke.series.timed import Length, as_length, in_places

BLOCK = 1024  # windows that are counted together


@dataclass(frozen=True, kw_only=True)
class OfRuns(FBeta):
    """F_β of alarms that are counted run by run."""

    def work(self, series: Labelled) -> float:
        """Two steps are looked up for each run; those of rotations one after another lie side by side."""
        return 3.0 * len(series.truth.starts) + 50.0

    def tables(self, detector: AnyArray, series: Labelled) -> Any:
        """Alarms before each step."""
        del series
        return sums_before(detector)


@dataclass(frozen=True, kw_only=True)
class OfCounts(OfRuns):
    """One that is a ratio of counts."""

    def values(self, tables: Any, draws: Draws) -> FloatArray:
        found = f_of_hits(*self._hits(self._counts(tables, draws)), self.beta)
        return np.where(draws.last > draws.first, found, np.nan)

    def _counts(self, tables: Any, draws: Draws) -> IntArray:
        """Rows of one entry for each draw, as `adjusted_counts` has them."""
        return adjusted_counts(tables, draws)

    @abstractmethod
    def _hits(self, counts: IntArray) -> tuple[Any, Any, Any, Any]:
        """Hits of precision, hits of recall, and what each is a share of."""


def adjusted_counts(
    sums: IntArray, draws: Draws, *, share: Fraction = Fraction(0), delay: int | None = None
) -> IntArray:
    """Rows of one entry for each draw: alarms, labelled steps, runs, labelled steps with an alarm, runs found, and
    labelled steps with an alarm once those runs are adjusted: with alarms on this share of their steps, or one at most
    so many steps late.
    """
    counts = np.empty((len(draws), 6), dtype=np.int64)
    within = draws.n_steps if delay is None else min(delay, draws.n_steps)
    rule = (within, share.numerator, share.denominator, int(delay is None))
    begins = draws.begins
    if draws.still and len(begins) > 1 and bool((np.diff(begins) == 1).all()):
        runs = slice(draws.first[0], draws.last[0])
        same = (draws.starts[runs], draws.stops[runs], int(begins[0]), draws.n_steps)
        count_consecutive(sums, *same, *rule, counts)
    else:
        count_adjusted(sums, draws.plain, *rule, counts)
    return counts.T


@kernel
def count_adjusted(
    sums: IntArray, draws: Plain, delay: int, above: int, below: int, keeps: int, counts: IntArray
) -> None:
    """For each draw: alarms, labelled steps, runs, labelled steps with an alarm, runs found, adjusted labelled steps.

    A run is found if it has an alarm in its first ``delay`` + 1 steps and alarms on at least ``above`` / ``below`` of
    its steps; one that is not keeps the alarms that it has, or loses them where ``keeps`` is 0. ``sums`` are alarms
    before each step.
    """
    starts, stops, first, last, begins, n_steps = draws
    for i in range(begins.size):
        labelled, hit, found, adjusted = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        begin = begins[i]
        for run in range(first[i], last[i]):
            start, stop = begin + starts[run], begin + stops[run]
            length, before = stop - start, sums[start]
            inside = sums[stop] - before
            in_time = inside if delay >= length else sums[start + delay + 1] - before
            labelled += length
            hit += inside
            if in_time > 0 and inside * below >= length * above:
                found += 1
                adjusted += length
            else:
                adjusted += keeps * inside
        counts[i, 0] = sums[begin + n_steps] - sums[begin]
        counts[i, 1] = labelled
        counts[i, 2] = last[i] - first[i]
        counts[i, 3] = hit
        counts[i, 4] = found
        counts[i, 5] = adjusted


@kernel
def count_consecutive(
    sums: IntArray,
    starts: IntArray,
    stops: IntArray,
    begin: int,
    n_steps: int,
    delay: int,
    above: int,
    below: int,
    keeps: int,
    counts: IntArray,
) -> None:
    """The same for the same runs in windows that begin on consecutive steps: several times as fast for all rotations.

    In blocks that stay in the fastest memory, and without branches, so that several windows are counted at once.
    """
    labelled = np.int64(0)
    for run in range(starts.size):
        labelled += stops[run] - starts[run]
    hit, found, adjusted = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    for low in range(0, len(counts), BLOCK):
        size = min(BLOCK, len(counts) - low)
        hit[:], found[:], adjusted[:] = 0, 0, 0
        for run in range(starts.size):
            length = stops[run] - starts[run]
            least = max((length * above + below - 1) // below, 1)
            first = begin + low + starts[run]
            before, behind = sums[first : first + size], sums[first + length : first + length + size]
            in_time = sums[first + min(delay + 1, length) : first + min(delay + 1, length) + size]
            for i in range(size):
                inside = behind[i] - before[i]
                is_found = np.int64((inside >= least) & (in_time[i] > before[i]))
                hit[i] += inside
                found[i] += is_found
                adjusted[i] += length * is_found + (1 - is_found) * keeps * inside
        for i in range(size):
            at = begin + low + i
            counts[low + i, 0] = sums[at + n_steps] - sums[at]
            counts[low + i, 1] = labelled
            counts[low + i, 2] = starts.size
            counts[low + i, 3] = hit[i]
            counts[low + i, 4] = found[i]
            counts[low + i, 5] = adjusted[i]


@dataclass(frozen=True, kw_only=True)
class PAF1(OfCounts):
    r"""F_β after point adjustment: a labelled run with one alarm counts as found on all of its steps.

    .. math::
        F_\beta = \frac{(1 + \beta^2)\, TP}{\beta^2 A + TP + FP}, \qquad TP = \sum_{\text{runs with an alarm}}
        \text{length}

    with A labelled steps and FP alarms outside of them. NaN where no step is labelled; 0 where there is no alarm in a
    run. Long runs flatter it: a few random alarms find them, and each is worth a whole run.

    Parameters
    ----------
    beta : float
        Recall counts β² times as much as precision.

    See Also
    --------
    nofluke.metrics.F1 : without adjustment.
    nofluke.metrics.PAKF1, nofluke.metrics.DelayPAF1 : stricter adjustments.
    nofluke.metrics.BestPAF1 : at the best threshold.

    Notes
    -----
    Runs that touch are adjusted each on its own. TSB-AD 1.5 leaves step 0 unadjusted.

    References
    ----------
    Xu et al. (2018), Unsupervised Anomaly Detection via Variational Auto-Encoder for Seasonal KPIs in Web Applications.

    Examples
    --------
    >>> PAF1()([0, 1, 1, 1, 0], [0, 0, 1, 0, 0])
    1.0
    """

    name: ClassVar[str] = "pa-f1"
    title: ClassVar[str] = "F after point adjustment (Xu et al. 2018)"

    def _hits(self, counts: IntArray) -> tuple[Any, Any, Any, Any]:
        alarms, labelled, _, hit, _, adjusted = counts
        return adjusted, adjusted, adjusted + alarms - hit, labelled


@dataclass(frozen=True, kw_only=True)
class DelayPAF1(PAF1):
    r"""F_β after point adjustment of the runs with an alarm within their first k + 1 steps; the others are missed.

    .. math::
        F_\beta = \frac{(1 + \beta^2)\, TP}{\beta^2 A + TP + FP}, \qquad
        TP = \sum_{\text{runs with an alarm at most k steps after their start}} \text{length}

    with A labelled steps and FP alarms outside of them. Alarms in a run that is found too late are neither right nor
    wrong: all steps of it are missed. NaN where no step is labelled; 0 where no run is found in time. Long runs and a
    long delay flatter it: one early alarm is worth a whole run.

    Parameters
    ----------
    delay : int or str
        k, in steps, or a duration such as "10min" on a regular clock of dates, of which whole steps count.
    beta : float
        Recall counts β² times as much as precision.

    See Also
    --------
    nofluke.metrics.PAF1 : without a limit on the delay.
    nofluke.metrics.NAB : early alarms count more.

    Notes
    -----
    Ren et al. use 7 steps for data by the minute and 3 for data by the hour. tsadmetrics 1.0.16 counts
    from 1: its k = 3 is a delay of 2.

    References
    ----------
    Ren et al. (2019), Time-Series Anomaly Detection Service at Microsoft.

    Examples
    --------
    >>> DelayPAF1(delay=1)([0, 1, 1, 1, 0], [0, 0, 1, 0, 0]), DelayPAF1(delay=0)([0, 1, 1, 1, 0], [0, 0, 1, 0, 0])
    (1.0, 0.0)
    """

    name: ClassVar[str] = "delay-pa-f1"
    title: ClassVar[str] = "F after point adjustment of runs with an alarm in time (Ren et al. 2019)"

    delay: Length = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "delay", as_length(self.delay, "delay", 0, whole=True))

    def tables(self, detector: AnyArray, series: Labelled) -> tuple[IntArray, int]:
        """Alarms before each step, and the delay in steps."""
        return super().tables(detector, series), int(in_places(self.delay, series.truth, "delay", least=0))

    def _counts(self, tables: Any, draws: Draws) -> IntArray:
        sums, delay = tables
        return adjusted_counts(sums, draws, delay=delay)


# ---- runs with alarms on enough of their steps, PA%K: at one k, and over all

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
        areas = np.empty(len(draws))
        areas_over_shares(tables, draws.plain, *f_weights(self.beta), areas)
        return areas


@kernel
def areas_over_shares(sums: IntArray, draws: Plain, of_recall: float, of_precision: float, areas: FloatArray) -> None:
    """For each draw, the area of F over the share of its steps that a run must have alarms on to be adjusted.

    F only falls where that share passes the share of some run, whose steps without an alarm are then lost.
    """
    starts, stops, first, last, begins, n_steps = draws
    most = np.int64(1)
    for i in range(begins.size):
        most = max(most, last[i] - first[i])
    shares, losses = np.empty(most), np.empty(most, np.int64)
    for i in range(begins.size):
        labelled, hit, adjusted, n = np.int64(0), np.int64(0), np.int64(0), 0
        begin = begins[i]
        for run in range(first[i], last[i]):
            start, stop = begin + starts[run], begin + stops[run]
            length, inside = stop - start, sums[stop] - sums[start]
            labelled += length
            hit += inside
            if inside > 0:
                adjusted += length
                if inside < length:
                    shares[n], losses[n] = inside / length, length - inside
                    n += 1
        if labelled == 0:
            areas[i] = np.nan
            continue
        false = sums[begin + n_steps] - sums[begin] - hit
        area, share = 0.0, 0.0
        if adjusted > 0:
            order = np.argsort(shares[:n])
            for k in range(n + 1):
                reached = shares[order[k]] if k < n else 1.0
                if reached > share:
                    f = (of_recall + of_precision) * adjusted
                    f /= of_recall * labelled + of_precision * (adjusted + false)
                    area += (reached - share) * f
                    share = reached
                adjusted -= losses[order[k]] if k < n else 0
        areas[i] = area
