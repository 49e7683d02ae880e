"""Every cell of a report, evaluated as `nofluke.evaluate` does it, and what chance looks like there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.errors import InputError, joined, say
from nofluke.inference.coincidence import Coincidence
from nofluke.inference.evaluate import Evaluation, Settings, result_of
from nofluke.inference.sweep import BAND, FamilywiseTest, familywise_test
from nofluke.laws.law import Law
from nofluke.laws.tables import binomial
from nofluke.levels import SHOWN_REACH
from nofluke.nulls.base import NullModel, Nulls
from nofluke.nulls.choice import Choice
from nofluke.nulls.circular import CircularShift
from nofluke.nulls.local import LocalPermutation, LocalShift
from nofluke.nulls.permutation import Permutation
from nofluke.nulls.placements import laws_of_ranges, laws_of_tally, simulate_hits
from nofluke.nulls.seen import Look, against, tidy
from nofluke.nulls.shuffles import IntervalShuffle, Segments
from nofluke.series.trial import Cell
from nofluke.show.report.grid import Grid, is_slow

NEARLY_NOTHING = 1e-6  # hits less likely than this share of the most likely ones are not drawn
DRAWN = 3.0  # standard deviations around the mean that are enough where a whole distribution costs much
ENOUGH_RESAMPLES = 1_999  # for a p-value that can only raise another one, or of which a glance is enough
MOST_POINTS = 160  # of a distribution that is drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A null distribution to draw: P(X = k) at k = first, first + step, ..., and the binomial with the same mean."""

    first: int
    step: int
    chance: FloatArray
    binomial: FloatArray
    low: int
    high: int


Evaluator = Callable[[int, int], Evaluation]


def evaluator(result: Evaluation, grid: Grid, seed: int) -> Evaluator:
    """A function that evaluates the cell of a tolerance and a threshold, the chosen one as it was given."""
    nulls_of = _nulls_of(result, grid, seed)

    def evaluated(d: int, k: int) -> Evaluation:
        if (d, k) == grid.chosen:
            return result
        return _evaluation(result, grid, (d, k), nulls_of(grid.cell(d, k)), result.settings)

    return evaluated


def evaluator_under(result: Evaluation, grid: Grid, seed: int) -> Callable[[int, int, Choice], Evaluation]:
    """A function that evaluates a cell under another null than that of the result."""

    def evaluated(d: int, k: int, choice: Choice) -> Evaluation:
        settings = replace(result.settings, choice=choice)
        method = settings.method if settings.method in choice.model.methods else "auto"
        many = min(settings.n_resamples, ENOUGH_RESAMPLES)
        laws = choice.model.hurried().distributions(grid.cell(d, k), method, n_resamples=many, rng=seed)
        return _evaluation(result, grid, (d, k), laws, settings)

    return evaluated


def _evaluation(result: Evaluation, grid: Grid, at: tuple[int, int], laws: Nulls, settings: Settings) -> Evaluation:
    cell: Any = grid.cell(*at)
    if isinstance(result, Coincidence):
        how: dict[str, Any] = {"leads": result.leads, "lag": grid.lags[at[1]].length}
        return result_of(Coincidence, cell, result.sequence, laws, settings, **how)
    return result_of(Evaluation, cell, result.sequence, laws, settings, cuts=grid.cuts(at[1]))


def seed_of(result: Evaluation) -> int:
    """The seed of the result where it has one, else 0: a report is the same each time."""
    seeds = (test.how.seed for test in (result.precision_test, result.recall_test))
    return next((seed for seed in seeds if seed is not None), 0)


def _nulls_of(result: Evaluation, grid: Grid, seed: int) -> Callable[[Cell], Nulls]:
    """How the nulls of a cell are found: out of one simulation of all cells, or cell by cell."""
    settings = result.settings
    model, method, n_resamples = settings.null, settings.method, settings.n_resamples
    exact: tuple[str, ...] = ()
    together = model.is_drawn(method)
    if method == "auto" and not together:
        exact = model.exact_sides(result.cell, times=grid.shape[0] * grid.shape[1])
        together = len(exact) == 1
    if together and grid.trial.truth.points and not _interior(grid):
        # the same random placements as for a single cell, counted for all cells at once
        found = simulate_hits(grid.trial, model, n_resamples, seed, histograms="all")

        def drawn(cell: Cell) -> Nulls:
            laws = laws_of_tally(found, (cell.d, cell.k), cell, model, seed)
            return replace(laws, **{side: model.law_of(cell, side) for side in exact})

        return drawn
    of_ranges = laws_of_ranges(grid.trial, model, method, n_resamples, seed)
    if of_ranges is not None:
        return of_ranges
    hurried = model.hurried()

    def alone(cell: Cell) -> Nulls:
        how: Any = "montecarlo" if method == "auto" and is_slow(model, cell) else method
        return hurried.distributions(cell, how, n_resamples=n_resamples, rng=seed)

    return alone


def _interior(grid: Grid) -> bool:
    """Whether the number of events that count is up to chance, and another one in every cell."""
    return grid.trial.cell(0, 0).counted is not None


def families(
    result: Evaluation, grid: Grid, seed: int, single: dict[str, FloatArray]
) -> Callable[[NullModel], FamilywiseTest | None]:
    """The maximum test over all cells under any null, with the cells' own p-values under that of the result.

    None where there is nothing to test, or where hits are ratios.
    """
    trial = grid.trial
    own = {side: values.reshape(trial.shape) for side, values in single.items()}
    nothing = result.n_events == 0 or not trial.n_predictions.any() or _interior(grid)

    def family(model: NullModel) -> FamilywiseTest | None:
        if nothing:
            return None
        how: dict[str, Any] = {"beta": 1.0, "alpha": result.alpha, "rng": seed}
        many = _family_resamples(result)
        if model is result.null:
            return familywise_test(trial, model, n_resamples=many, single=own, **how)
        return familywise_test(trial, model, n_resamples=min(many, ENOUGH_RESAMPLES), **how)

    return family


def _family_resamples(result: Evaluation) -> int:
    """9,999 for short sequences, fewer for long ones, never fewer than 499."""
    work = result.n_events * 40 + result.cell.trial.size / 50
    return 9_999 if work < 20_000 else 1_999 if work < 100_000 else 499


def picture_of(null: Law) -> Picture:
    """A null distribution where it has any height, thinned to what a screen shows, and its central 95%."""
    first, law = null.bulk(DRAWN)
    low, high = null.quantile(BAND).tolist()
    drawn = np.flatnonzero(law > NEARLY_NOTHING * law.max())
    begin, end = int(drawn[0]), int(drawn[-1]) + 1
    step = -(-(end - begin) // MOST_POINTS)
    hits = np.arange(first + begin, first + end, step)
    other = binomial(null.size, null.mean / null.size).table if null.size else np.ones(1)
    return Picture(first=int(hits[0]), step=step, chance=law[begin:end:step], binomial=other[hits], low=low, high=high)


# ---- what every null says of one result: p-values of those that fit the data, and why the others are ruled out

MANY_STEPS = 200_000  # where what is shown beside a verdict may be coarse


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderNull:
    """A null: whether the result uses it, why it is ruled out (else empty), and both p-values where it holds."""

    model: NullModel
    used: bool
    against: str = ""
    precision: float | None = None
    recall: float | None = None
    method: str = ""


def every_null(result: Evaluation, *, seed: int = 0) -> tuple[UnderNull, ...]:
    """The null that was used, then the others that keep what the data show, then those that do not, with the reason.

    A null is ruled out by what auto sees in the events and in the alarms; what it would say is not computed.
    """
    choice = result.settings.choice
    # a null that was insisted on is shown with what speaks against it
    objection = joined(" ", choice.doubts) or ("" if choice.holds else choice.why)
    used = UnderNull(
        model=choice.model,
        used=True,
        against=objection,
        precision=result.precision_test.pvalue,
        recall=result.recall_test.pvalue,
        method=result.recall_test.method,
    )
    if 0 in (result.n_events, result.n_predictions):
        return (used,)
    look = Look.of(result.cell, result.alpha)
    others = (_under(model, result, look, seed) for model in _others(result, look))
    return (used, *sorted((one for one in others if one is not None), key=lambda one: bool(one.against)))


def _others(result: Evaluation, look: Look) -> Iterator[NullModel]:
    """Nulls that need no settings beyond what the data give."""
    models: list[NullModel] = [Permutation(), LocalPermutation(windows=look.windows), CircularShift()]
    models.append(LocalShift(reach=look.length(SHOWN_REACH)) if look.sketch is not None else LocalShift())
    season = look.season
    if season is not None:
        models.append(look.null_of(season, look.eras))
        if season.steps is not None:
            models.append(CircularShift(every=look.length(tidy(season.steps))))
    models += [Segments(), IntervalShuffle()]
    known = {result.null.text}
    for model in models:
        if model.text not in known:
            known.add(model.text)
            yield model


def _under(model: NullModel, result: Evaluation, look: Look, seed: int) -> UnderNull | None:
    """A null beside the one that was used; None for one that has nothing to say about such events."""
    cell = result.cell
    reason = against(model, look)
    if cell.in_time and not model.takes_times:
        reason = say("It needs a grid of steps, but these {events} have their own times.")
    elif not cell.truth.points and not model.takes_ranges:
        reason = say("It places single steps, but these {events} are ranges.")
    if reason:
        return UnderNull(model=model, used=False, against=result.names.said(reason))
    many = result.settings.n_resamples if cell.trial.size <= MANY_STEPS else ENOUGH_RESAMPLES
    try:
        laws = model.hurried().distributions(cell, "auto", n_resamples=many, rng=seed)
        tests = [
            replace(test, law=law, model=model.text)
            for test, law in ((result.precision_test, laws.precision), (result.recall_test, laws.recall))
        ]
        precision, recall = (test.pvalue for test in tests)
    except InputError:
        return None
    return UnderNull(model=model, used=False, precision=precision, recall=recall, method=tests[1].method)
