"""Volumes under surfaces: areas under curves, averaged over the widths of a buffer around labelled runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from nofluke.arrays import AnyArray, FloatArray, IntArray
from nofluke.errors import InputError
from nofluke.metrics.base import Metric, Needs, kernel
from nofluke.metrics.draws import Draws, Plain
from nofluke.metrics.labelled import Labelled
from nofluke.plain import as_whole, check_word
from nofluke.series.timed import as_length, whole_places

Curve = Literal["roc", "pr"]
WIDEST = 10_000  # steps of a window, and thresholds: what is counted for a draw is as large as their product


@dataclass(frozen=True, kw_only=True, eq=False)
class Levels:
    """What is worked out once for a detector.

    Attributes
    ----------
    levels : int array
        For each step the first threshold, from above, that it reaches; laid out as long as the detector.
    alarms : int array
        Steps that reach each threshold.
    roots : float array
        Square roots of 0 up to the widest buffer, of which weights are made.
    """

    levels: IntArray = field(repr=False)
    alarms: IntArray = field(repr=False)
    roots: FloatArray = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class VUS(Metric):
    r"""Volume under the surface of ROC or precision-recall curves, over widths of a buffer around labelled runs.

    Within ℓ/2 steps (rounded down) of a run, a step at distance d from it weighs

    .. math:: w_\ell(d) = \sqrt{1 - d / \ell},

    labelled steps weigh 1, and where buffers overlap, weights add up to at most 1. At a threshold, let N steps of T
    have alarms, TP be the sum of their weights, B the part of it in buffers, A the number of labelled steps, and E the
    share of runs that have an alarm in themselves or their buffers (runs whose buffers share a step are one). Then

    .. math:: \mathrm{TPR} = E \min\left(\frac{\mathrm{TP}}{A + B/2}, 1\right),\quad
        \mathrm{FPR} = \frac{N - \mathrm{TP}}{T - A - B/2},\quad \mathrm{precision} = \frac{\mathrm{TP}}{N}.

    The thresholds are scores at evenly spaced ranks, from the highest to the lowest. The area under TPR over FPR is
    that of trapezoids from (0, 0) to (1, 1); the area under precision over TPR is that of steps, each as high as the
    precision at its right end. The volume is the mean of the areas for ℓ = 0, 1, …, window.

    NaN where no step is labelled, and for ``curve="roc"`` where every step is.

    Parameters
    ----------
    curve : {"pr", "roc"}
        "vus-pr" and "vus-roc" by name.
    window : int or str
        The widest buffer, half of it on either side: steps or, with regular times, a duration such as "2h"; at most
        10,000 steps.
    n_thresholds : int
        How many ranks thresholds are taken at, 2 to 10,000.

    See Also
    --------
    nofluke.metrics.AUCROC, nofluke.metrics.AveragePrecision : without a buffer.
    nofluke.metrics.RangeF1 : ranges at one threshold.

    References
    ----------
    Paparrizos, Boniol, Palpanas, Tsay, Elmore and Franklin (2022), Volume under the surface: a new accuracy evaluation
    measure for time-series anomaly detection, PVLDB 15.

    Notes
    -----
    Wide buffers flatter it: a step beside a run counts as found with an alarm, but not as missed without one. With one
    run of 20 to 80 steps in 1,000, independent random scores have a VUS-ROC of .50 at window 0, .68 at 100, .84 at 400.

    This is what the authors' packages compute: vus (0.0.6, ``version="opt"``) and TSB-AD (1.5). Others differ:

    - vus with ``version="opt_time"`` has the whole buffers in the denominators, alarms or not, trapezoids under
      precision, and every run found at every threshold;
    - aeon (1.6) has whole buffers and trapezoids too; buffers behind a run are a step shorter than those before it, and
      if all scores are equal, the value is 0;
    - TimeEval (1.5) and dtaianomaly (0.5.1) do as aeon in their compatibility mode; else their weights fall linearly,
      the larger one counts where buffers overlap, and every run counts by itself.

    Ranges that touch are two runs here; packages that take labels see one.

    Examples
    --------
    >>> truth, scores = [0, 0, 1, 1, 0, 0, 0, 0], [0.1, 0.6, 0.9, 0.7, 0.8, 0.2, 0.3, 0.1]
    >>> round(VUS(curve="pr", window=4)(truth, scores), 4)
    0.908
    >>> VUS(curve="roc", window=50).text
    'vus-roc:window=50'
    """

    curve: Curve = "pr"
    window: int | str = 100
    n_thresholds: int = 250

    needs: ClassVar[Needs] = "scores"
    any_window: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_word(self.curve, "curve", ("roc", "pr"))
        object.__setattr__(self, "window", as_length(self.window, "window", 0, whole=True, most=WIDEST))
        object.__setattr__(self, "n_thresholds", as_whole(self.n_thresholds, "n_thresholds", 2, WIDEST))

    @property
    def name(self) -> str:  # type: ignore[override]
        """By its curve, "vus-roc" or "vus-pr"."""
        return f"vus-{self.curve}"

    @property
    def title(self) -> str:  # type: ignore[override]
        """In words."""
        return f"volume under the surface of {'ROC' if self.curve == 'roc' else 'precision-recall'} curves"

    @property
    def settings(self) -> dict[str, Any]:
        """Settings that are not the defaults; the curve is part of the name."""
        return {key: value for key, value in super().settings.items() if key != "curve"}

    def steps(self, series: Labelled) -> int:
        """The widest buffer in steps of the series."""
        if not isinstance(self.window, str):
            return self.window
        steps = whole_places(self.window, series.truth, "window")
        if steps > WIDEST:
            raise InputError(
                argument="window",
                value=self.window,
                problem=f"is {steps:,} steps",
                remedy=f"pass a window of at most {WIDEST:,} steps",
            )
        return steps

    def reach(self, series: Labelled) -> int:
        """Half of the widest buffer."""
        return self.steps(series) // 2

    def work(self, series: Labelled) -> float:
        """Once over labelled steps and buffers, then over all thresholds and windows."""
        window, runs = self.steps(series), len(series.truth.starts)
        cells = min(runs * window, self.n_thresholds * window // 2)
        return (
            2.0 * series.n_labelled + 5.0 * runs * window + cells * window / 10 + 3.0 * self.n_thresholds * window + 1e4
        )

    def tables(self, detector: AnyArray, series: Labelled) -> Levels:
        """Levels of all steps: a rotation leaves the ranks of scores, and so the thresholds, as they are."""
        scores = detector[: series.n_steps]
        # as the authors have it, to the last bit: where a rank is whole, floats may fall short of it
        ranks = np.linspace(0, len(scores) - 1, self.n_thresholds).astype(np.int64)
        # equal thresholds add no area, so one of them will do
        thresholds = np.unique(np.sort(scores)[len(scores) - 1 - ranks])
        levels = len(thresholds) - np.searchsorted(thresholds, scores, side="right")
        alarms = np.cumsum(np.bincount(levels, minlength=len(thresholds)))
        roots = np.sqrt(np.arange(self.steps(series) + 1.0))
        return Levels(levels=np.resize(levels, len(detector)), alarms=alarms, roots=roots)

    def values(self, tables: Levels, draws: Draws) -> FloatArray:
        found = np.empty(len(draws))
        volumes(tables.levels, tables.alarms, draws.plain, tables.roots, self.curve == "roc", found)
        return found


# ---- the volume of each draw: steps sorted by level, then one pass over the thresholds


@kernel
def volumes(levels: IntArray, alarms: IntArray, draws: Plain, roots: FloatArray, roc: bool, found: FloatArray) -> None:
    """Volume of each draw, from the first threshold that each step reaches and the steps that reach each threshold."""
    starts, stops, first, last, begins, n_steps = draws
    n_levels, n_halves = alarms.size, (roots.size + 1) // 2
    inside, groups = np.zeros(n_levels, dtype=np.int64), np.zeros(n_halves, dtype=np.int64)
    alone = np.zeros((n_levels, n_halves), dtype=np.int64)
    shared = np.zeros((n_levels, n_halves), dtype=np.int64)
    lowest = np.zeros((n_levels, n_halves), dtype=np.int64)
    slopes = np.zeros((n_levels, roots.size))
    for i in range(begins.size):
        labelled = 0
        for run in range(first[i], last[i]):
            labelled += stops[run] - starts[run]
        if labelled == 0 or (roc and labelled == n_steps):
            found[i] = np.nan
            continue
        seen = levels[begins[i] : begins[i] + n_steps]
        runs = (starts[first[i] : last[i]], stops[first[i] : last[i]])
        overlaps = sort_steps(seen, *runs, roots, inside, alone, shared, slopes, lowest, groups)
        found[i] = volume(
            alarms, labelled, n_steps, roc, overlaps, roots, inside, alone, shared, slopes, lowest, groups
        )


@kernel
def sort_steps(
    levels: IntArray,
    starts: IntArray,
    stops: IntArray,
    roots: FloatArray,
    inside: IntArray,
    alone: IntArray,
    shared: IntArray,
    slopes: FloatArray,
    lowest: IntArray,
    groups: IntArray,
) -> bool:
    """Count steps of runs and buffers by level, and groups of runs by their lowest level; whether any buffers overlap.

    A step in the buffers of two runs weighs 1, since what each of them gives is at least √½. So all that counts is how
    far the nearest run is, and at which distance a second one reaches the step. ``alone`` has the nearest, where no
    second one is within half a window; ``shared`` the second, and ``slopes`` the weights of such steps up to there,
    times the root of the window. ``groups`` are runs whose buffers share a step, for each half window.
    """
    half, n_runs, n_steps = groups.size - 1, starts.size, levels.size
    far = n_steps + 2 * half  # a run that is not there is nowhere near
    carried, nearby = np.zeros(half + 1, dtype=np.int64), np.empty(half + 1, dtype=np.int64)
    overlaps = False
    for run in range(n_runs):
        start, stop = starts[run], stops[run]
        before = stops[run - 1] if run > 0 else start - far
        behind = starts[run + 1] if run < n_runs - 1 else stop + far
        nearby.fill(inside.size)
        for step in range(start, stop):
            inside[levels[step]] += 1
            nearby[0] = min(nearby[0], levels[step])
        for side in range(2):
            # steps on this side to which the run is the nearest; halfway between two runs, that is the one before
            if side == 0:
                gap, passed, edge, way = start - before, behind - start, start, -1
                steps = min(half, gap // 2, start)
            else:
                gap, passed, edge, way = behind - stop, stop - before, stop - 1, 1
                steps = min(half, (gap + 1) // 2, n_steps - stop)
            for d in range(1, steps + 1):
                level = levels[edge + way * d]
                nearby[d] = min(nearby[d], level)
                second = min(gap + 1 - d, d + passed)
                if second > half:
                    alone[level, d] += 1
                else:
                    overlaps = True
                    shared[level, second] += 1
                    for w in range(2 * d, 2 * second):
                        slopes[level, w] += roots[w - d]
        low = nearby[0]
        meets = (start - before) // 2 + 1  # the half window from which on buffers of this run and the one before meet
        for h in range(half + 1):
            low = min(low, nearby[h])
            if h >= meets:
                carried[h] = min(carried[h], low)
            else:
                if run > 0:
                    lowest[carried[h], h] += 1
                groups[h] += 1
                carried[h] = low
    for h in range(half + 1):
        lowest[carried[h], h] += 1
    return overlaps


@kernel
def volume(
    alarms: IntArray,
    labelled: int,
    n_steps: int,
    roc: bool,
    overlaps: bool,
    roots: FloatArray,
    inside: IntArray,
    alone: IntArray,
    shared: IntArray,
    slopes: FloatArray,
    lowest: IntArray,
    groups: IntArray,
) -> float:
    """Mean area over all windows, by one pass over the thresholds; counts are zero again behind it."""
    half, window = groups.size - 1, roots.size - 1
    sloped, whole = np.zeros(window + 1), np.zeros(2 * half + 2)
    found, share = np.zeros(half + 1), np.zeros(2 * half + 2)
    x, y, area = np.zeros(window + 1), np.zeros(window + 1), np.zeros(window + 1)
    hits = 0.0
    for k in range(alarms.size):
        hits += inside[k]
        inside[k] = 0
        for d in range(1, half + 1):
            count = alone[k, d]
            if count > 0:
                alone[k, d] = 0
                part, roots_part = sloped[2 * d :], roots[d:]
                for w in range(part.size):
                    part[w] += count * roots_part[w]
        if overlaps:
            reached = 0.0
            for h in range(half + 1):
                reached += shared[k, h]
                shared[k, h] = 0
                whole[2 * h] += reached
                whole[2 * h + 1] += reached
            for w in range(window + 1):
                sloped[w] += slopes[k, w]
                slopes[k, w] = 0.0
        for h in range(half + 1):
            found[h] += lowest[k, h]
            lowest[k, h] = 0
            share[2 * h] = share[2 * h + 1] = found[h] / groups[h]
        for w in range(window + 1):
            buffer = sloped[w] / max(roots[w], 1.0) + whole[w]
            positives = labelled + 0.5 * buffer
            true = hits + buffer
            recall = min(true / positives, 1.0) * share[w]
            if roc:
                false = (alarms[k] - true) / (n_steps - positives)
                area[w] += 0.5 * (false - x[w]) * (recall + y[w])
                x[w] = false
            else:
                area[w] += (recall - y[w]) * (true / alarms[k])
            y[w] = recall
    total = 0.0
    for w in range(window + 1):
        groups[w // 2] = 0
        total += area[w]
        if roc:
            total += 0.5 * (1.0 - x[w]) * (1.0 + y[w])
    return float(total / (window + 1))
