"""Every cell of a report, evaluated as `nofluke.evaluate` does it, and what chance looks like there."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from nofluke.counting import FloatArray, IntArray
from nofluke.distributions import EmpiricalNull, NullDistribution, binomial
from nofluke.evaluating import count
from nofluke.evaluation import Evaluation
from nofluke.familywise import FamilywiseTest, familywise_test
from nofluke.nulls.base import Method, Nulls
from nofluke.nulls.permutation import Permutation
from nofluke.nulls.setting import OpenRanges, Setting, make_setting, open_ranges
from nofluke.report.grid import Grid
from nofluke.sweep_chance import BAND, CELL_OPERATIONS, Cells

NEARLY_NOTHING = 1e-6  # hits less likely than this share of the most likely ones are not drawn
DRAWN = 3.0  # standard deviations around the mean that are enough where a whole distribution costs much
MOST_POINTS = 160  # of a distribution that is drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A null distribution to be drawn: P(X = k) at k = first, first + step, ..., and the binomial of the same mean there."""

    first: int
    step: int
    chance: FloatArray
    binomial: FloatArray
    low: int
    high: int


Evaluator = Callable[[int, int], Evaluation]


def evaluator(result: Evaluation, grid: Grid, seed: int) -> Evaluator:
    """A function that evaluates the cell of a tolerance and a threshold, the chosen one as it was given."""
    nulls_of, ranges = _nulls_of(result, grid, seed), _ranges(result, grid)
    sequence = result.sequence

    def evaluated(d: int, k: int) -> Evaluation:
        if (d, k) == grid.chosen:
            return result
        threshold = float(grid.thresholds[k])
        with np.errstate(invalid="ignore"):  # NaN under the mask compares as not predicted
            alarms = (grid.levels >= threshold) & sequence.open_steps
        cut = None if sequence.scores is None else threshold
        setting = make_setting(sequence, alarms[sequence.open_steps], ranges[d], cut)
        return count(
            sequence,
            alarms,
            grid.tolerances[d],
            nulls_of(d, k, setting),
            setting=setting,
            model=result.null,
            alternative=result.precision_test.alternative,
            ties=result.precision_test.ties,
            threshold=cut,
            quantile=grid.quantiles[k],
            zero_division=result.zero_division,
            alpha=result.alpha,
        )

    return evaluated


def _ranges(result: Evaluation, grid: Grid) -> list[OpenRanges]:
    sequence = result.sequence
    return [open_ranges(t, sequence.open_steps, sequence.clock) for t in grid.tolerances]


def seed_of(result: Evaluation) -> int:
    """The seed of the result where it has one, else 0: a report is the same each time."""
    for test in (result.precision_test, result.recall_test):
        if isinstance(test.null, EmpiricalNull) and test.null.seed is not None:
            return test.null.seed
    return 0


def method_of(result: Evaluation) -> Method:
    """The method that gave the result, or "auto" for the exact ones, which "auto" takes wherever it can."""
    methods = {test.method.partition(" ")[0] for test in (result.precision_test, result.recall_test)}
    if methods == {"montecarlo"}:
        return "montecarlo"
    for name in ("saddlepoint", "binomial"):
        if name in methods and name in result.null.methods:
            return name
    return "auto"


def resamples_of(result: Evaluation) -> int:
    """Resamples of the result, where it has any."""
    null = result.precision_test.null
    return null.n_resamples if isinstance(null, EmpiricalNull) else 10_000


def _nulls_of(result: Evaluation, grid: Grid, seed: int) -> Callable[[int, int, Setting], Nulls]:
    """How the nulls of a cell are found: out of one simulation of all cells, or cell by cell."""
    method, model, n_resamples = method_of(result), result.null, resamples_of(result)
    if method == "montecarlo" or set(model.methods) == {"auto", "montecarlo"}:
        return _simulated(result, grid, n_resamples, seed)
    if isinstance(model, Permutation):
        model = Permutation(programme_operations=min(model.programme_operations, CELL_OPERATIONS))

    def one(_d: int, _k: int, setting: Setting) -> Nulls:
        return model.distributions(setting, method, n_resamples=n_resamples, rng=seed)

    return one


def _simulated(result: Evaluation, grid: Grid, n_resamples: int, seed: int) -> Callable[[int, int, Setting], Nulls]:
    """The same random placements as for a single cell, counted for all cells at once."""
    from nofluke import montecarlo

    ranges = _ranges(result, grid)
    levels = _levels(result, grid)
    nothing = np.zeros(grid.shape, dtype=np.int64)
    problem = montecarlo.Problem(
        level=levels,
        n_thresholds=len(grid.thresholds),
        n_events=result.n_events,
        cover_start=np.stack([r.predictions.starts for r in ranges]),
        cover_stop=np.stack([r.predictions.stops for r in ranges]),
    )
    found = montecarlo.simulate(
        problem,
        n_resamples=n_resamples,
        observed=montecarlo.Hits(precision=nothing, recall=nothing),
        rng=seed,
        workers=os.cpu_count() or 1,
        histograms="all",
        draw=result.null.draw(result.setting),
    )
    permuted = isinstance(result.null, Permutation)

    def one(d: int, k: int, setting: Setting) -> Nulls:
        made = {}
        for side, size in (("precision", setting.n_predictions), ("recall", setting.n_events)):
            tally = getattr(found, side)
            counts = np.zeros(size + 1, dtype=np.int64)
            counts[: len(tally.histograms[d, k])] = tally.histograms[d, k]
            mean, var = float(tally.mean[d, k]), float(np.nan_to_num(tally.variance[d, k]))
            if permuted:  # known exactly
                moments = getattr(setting, f"{side}_moments")
                mean, var = moments.mean, moments.var
            made[side] = EmpiricalNull(counts, mean=mean, var=var, n_resamples=n_resamples, seed=seed)
        return Nulls(**made)

    return one


def _levels(result: Evaluation, grid: Grid) -> IntArray:
    """How many of the thresholds each open step reaches."""
    values = grid.levels[result.sequence.open_steps]
    return np.searchsorted(grid.thresholds, values, side="right").astype(np.int64)


def familywise_of(
    result: Evaluation, grid: Grid, seed: int, *, hits: dict[str, IntArray], single: dict[str, FloatArray]
) -> FamilywiseTest | None:
    """The maximum test over all cells; None where there is nothing to test, or another alternative than "greater"."""
    levels = _levels(result, grid)
    if result.n_events == 0 or not levels.any() or result.precision_test.alternative != "greater":
        return None
    cells = Cells(
        sequence=replace(result.sequence, scores=grid.levels, predictions=None),
        thresholds=grid.thresholds,
        tolerances=grid.tolerances,
        n_predictions=np.array([(levels > k).sum() for k in range(len(grid.thresholds))]),
        precision_hits=hits["precision"],
        recall_hits=hits["recall"],
    )
    return familywise_test(
        cells, result.null, beta=1.0, alpha=result.alpha, n_resamples=_family_resamples(result), rng=seed, single=single
    )


def _family_resamples(result: Evaluation) -> int:
    """9,999 for short sequences, fewer for long ones, never fewer than 499."""
    work = result.n_events * 40 + result.n / 50
    return 9_999 if work < 20_000 else 1_999 if work < 100_000 else 499


def hits_by_lag(setting: Setting, lags: IntArray) -> tuple[list[int], list[int]]:
    """Both hits with the events shifted by each lag around the circle: positive where predictions come late."""
    n = setting.n_steps
    events = np.flatnonzero(setting.truth)
    total = np.concatenate([[0], np.cumsum(np.tile(setting.truth, 3))])
    before = np.concatenate([[0], np.cumsum(setting.alarms)])
    near_alarm = before[setting.cover.stops] > before[setting.cover.starts]
    starts, stops = setting.windows.starts + n, setting.windows.stops + n
    hits = [int((total[stops - lag] > total[starts - lag]).sum()) for lag in lags.tolist()]
    found = [int(near_alarm[(events + lag) % n].sum()) for lag in lags.tolist()]
    return hits, found


def picture_of(null: NullDistribution) -> Picture:
    """A null distribution where it has any height, thinned to what a screen shows, and its central 95%."""
    first, law = null.bulk(DRAWN)
    low, high = null.quantile(BAND).tolist()
    drawn = np.flatnonzero(law > NEARLY_NOTHING * law.max())
    begin, end = int(drawn[0]), int(drawn[-1]) + 1
    step = -(-(end - begin) // MOST_POINTS)
    hits = np.arange(first + begin, first + end, step)
    other = binomial(null.size, null.mean / null.size).table if null.size else np.ones(1)
    return Picture(first=int(hits[0]), step=step, chance=law[begin:end:step], binomial=other[hits], low=low, high=high)
