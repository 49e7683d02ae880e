"""Is the best of a whole sweep better than the best that chance finds in such a sweep? (Westfall and Young 1993.)

The section "Many thresholds and tolerances" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.errors import InputError
from nofluke.inference import smallest
from nofluke.inference.cells import exact_moments, simulated_moments
from nofluke.inference.familywise_result import FamilywiseTest
from nofluke.laws.law import How
from nofluke.nulls.base import NullModel, as_seed, check_resamples
from nofluke.nulls.simulation import SIDES, Placements, placed_ranges, simulate_hits
from nofluke.plain import as_rng, check_alpha, check_beta
from nofluke.progress import progress_bar
from nofluke.ratios import TIE_SLACK, f_of_hits, largest
from nofluke.series.timed import TimedTrial
from nofluke.series.trial import Trial

EXACT_CELL_STEPS = 2e7  # thresholds times steps up to which the maximum test standardises by exact moments


@dataclass(frozen=True, slots=True, kw_only=True)
class _Maxima:
    """Adjusted p-values and hits to exceed, for every cell. The first axis of ``both`` is the measure."""

    adjusted: dict[str, FloatArray]
    both: FloatArray
    band: dict[str, FloatArray]
    best_f: float
    observed_f: FloatArray
    n_resamples: int
    seed: int | None
    method: How


def _by_enumeration(trial: Trial, placements: Placements, beta: float, alpha: float) -> _Maxima | None:
    """The maximum test over all the placements, the data's own first. None where they are too many to go through."""
    first, inverse = trial.distinct
    shape = (len(trial.tolerances), len(first))
    statistic = {side: np.full(shape, np.nan) for side in ("precision", "recall")}
    moments = {side: {"mean": np.zeros(shape), "std": np.zeros(shape)} for side in statistic}
    best: dict[str, Any] = dict.fromkeys(("precision", "recall"), -np.inf)
    f_values, best_f = np.full(shape, np.nan), np.zeros(1)
    with progress_bar("rotations", len(trial.tolerances) * len(first)) as advance:
        for done, (d, i) in enumerate(np.ndindex(shape), start=1):
            cell = trial.cell(d, int(first[i]))
            found = placements(cell)
            if found is None:
                return None
            recall, precision, method = found
            for side, hits in (("precision", precision), ("recall", recall)):
                mean, std = float(hits.mean()), float(hits.std())
                moments[side]["mean"][d, i], moments[side]["std"][d, i] = mean, std
                if std > 0:
                    standard = (hits - mean) / std
                    statistic[side][d, i] = standard[0]  # the data come first
                    best[side] = np.maximum(best[side], standard)
            f = f_of_hits(precision, recall, cell.n_predictions, cell.n_events, beta)
            f_values[d, i], best_f = f[0], np.maximum(best_f, f)
            advance(done)
    n = len(best_f)

    def adjusted(maxima: Any, values: FloatArray) -> FloatArray:
        """Share of rotations whose maximum reaches each value; 1 where there is nothing to test."""
        ordered = np.sort(np.broadcast_to(maxima, n))
        bars = values - TIE_SLACK * np.maximum(np.abs(values), 1)
        return np.where(np.isnan(values), 1.0, (n - np.searchsorted(ordered, bars, side="left")) / n)

    def band(side: str) -> FloatArray:
        """Hits that a cell must exceed for an adjusted p-value of at most alpha."""
        allowed = math.floor(alpha * n * (1 + TIE_SLACK))
        ordered = np.sort(np.broadcast_to(best[side], n))[::-1]
        critical = ordered[allowed] if 0 < allowed < n else np.inf
        with np.errstate(invalid="ignore"):
            return np.asarray(moments[side]["mean"] + critical * moments[side]["std"])[:, inverse]

    both = np.maximum(best["precision"], best["recall"])
    return _Maxima(
        adjusted={side: adjusted(best[side], values)[:, inverse] for side, values in statistic.items()},
        both=np.stack([adjusted(both, values)[:, inverse] for values in statistic.values()]),
        band={side: band(side) for side in statistic},
        best_f=float(adjusted(best_f, f_values).min()),
        observed_f=f_values[:, inverse],
        n_resamples=n if method.n_resamples is None else method.n_resamples,
        seed=method.seed,
        method=method,
    )


def _by_resampling(trial: Trial, model: NullModel, beta: float, alpha: float, n_resamples: int, rng: Any) -> _Maxima:
    """The maximum test over random placements, standardised by exact moments where these are affordable."""
    from nofluke.laws.montecarlo import Standardisation

    seed = as_seed(rng)
    affordable = len(trial.distinct[0]) * trial.size <= EXACT_CELL_STEPS
    moments = exact_moments(trial, model) if affordable else None
    if moments is None:
        # what to standardise by comes from resamples of its own, so that it does not depend on those that are ranked
        pilot_rng = rng if seed is None else np.random.SeedSequence([seed, 1])
        moments = simulated_moments(simulate_hits(trial, model, n_resamples, pilot_rng))
    standards = Standardisation(
        precision_mean=moments["precision"]["mean"],
        precision_std=moments["precision"]["std"],
        recall_mean=moments["recall"]["mean"],
        recall_std=moments["recall"]["std"],
        beta=beta,
    )
    run_rng = rng if seed is None else seed
    simulation = simulate_hits(trial, model, n_resamples, run_rng, histograms="none", standardisation=standards)
    family = simulation.family_wise

    def band(side: str) -> FloatArray:
        critical = getattr(family, side).critical_value(alpha)
        with np.errstate(invalid="ignore"):
            return np.asarray(moments[side]["mean"] + critical * moments[side]["std"])

    return _Maxima(
        adjusted={side: getattr(family, side).p_values for side in SIDES},
        both=family.both.p_values,
        band={side: band(side) for side in SIDES},
        best_f=family.f_beta.p_best,
        observed_f=family.f_beta.observed,
        n_resamples=n_resamples,
        seed=seed,
        method=How(kind="simulated", n_resamples=n_resamples, seed=seed),
    )


def _by_smallest_p(
    trial: TimedTrial, model: NullModel, beta: float, alpha: float, n_resamples: int, rng: Any
) -> _Maxima:
    """The test of the smallest p-value over windows on lists of times, whose widths differ by orders of magnitude."""
    found = smallest.placed(trial, model, n_resamples, rng)
    p = {side: smallest.smallest_p(getattr(found, side)) for side in SIDES}
    either = np.minimum(p["precision"][1], p["recall"][1])
    reached, values = smallest.best_f(found, trial, beta)
    how = found.how
    return _Maxima(
        adjusted={side: smallest.adjusted(*p[side])[:, None] for side in SIDES},
        both=np.stack([smallest.adjusted(p[side][0], either)[:, None] for side in SIDES]),
        band={side: smallest.bands(getattr(found, side), *p[side], alpha)[:, None] for side in SIDES},
        best_f=reached,
        observed_f=values[:, None],
        n_resamples=len(found.recall) if how.n_resamples is None else how.n_resamples,
        seed=how.seed,
        method=how,
    )


def _of_windows(trial: Trial, n_resamples: int) -> bool:
    """Whether the cells are windows on two lists of times, few enough to keep the hits of all placements."""
    windows = len(trial.tolerances)
    return (
        isinstance(trial, TimedTrial)
        and trial.count_alarms == "steps"
        and trial.shape == (windows, 1)
        and windows * max(n_resamples, smallest.MOST_PLACEMENTS) <= smallest.MOST_VALUES
        and trial.n_events > 0
        and len(trial.at) > 0
    )


def _checked(alpha: float, beta: float, n_resamples: int, rng: Any) -> tuple[float, float, int, Any]:
    if check_beta(beta) == 0:
        raise InputError(
            argument="beta", value=0, problem="turns F into precision", remedy="use the familywise test of precision"
        )
    return check_alpha(alpha), check_beta(beta), check_resamples(n_resamples), as_rng(rng)


def without_null(
    trial: Trial, obstacle: str, *, beta: float, alpha: float, n_resamples: int, rng: Any
) -> FamilywiseTest:
    """The best of a sweep where no null holds: without p-values, and with the reason."""
    alpha, beta, _, _ = _checked(alpha, beta, n_resamples, rng)
    f = f_of_hits(trial.precision_hits, trial.recall_hits, trial.n_predictions, trial.n_events, beta)
    observed, at = largest(np.where((trial.n_predictions > 0) & (trial.n_events > 0), f, np.nan))
    nothing = np.full(trial.shape, np.nan)
    return FamilywiseTest(
        **dict.fromkeys(("precision", "recall", "both", "best_f"), math.nan),
        observed_best_f=observed,
        observed_best_at=at,
        beta=beta,
        alpha=alpha,
        precision_adjusted=nothing,
        recall_adjusted=nothing,
        precision_band=nothing,
        recall_band=nothing,
        n_resamples=0,
        seed=None,
        method=How(kind="simulated", n_resamples=0),
        obstacle=obstacle,
    )


def familywise_test(
    trial: Trial,
    model: NullModel,
    *,
    beta: float,
    alpha: float,
    n_resamples: int,
    rng: Any,
    single: dict[str, FloatArray] | None = None,
) -> FamilywiseTest:
    """Westfall and Young's maximum test over all cells of a sweep; ``single`` holds each cell's own p-values."""
    alpha, beta, n_resamples, rng = _checked(alpha, beta, n_resamples, rng)
    if _of_windows(trial, n_resamples):
        found: _Maxima | None = _by_smallest_p(cast(TimedTrial, trial), model, beta, alpha, n_resamples, rng)
    else:
        found = _by_enumeration(trial, model.every_placement, beta, alpha)
    if found is None and not trial.truth.points:
        found = _by_enumeration(trial, placed_ranges(trial, model, n_resamples, rng), beta, alpha)
    if found is None:
        found = _by_resampling(trial, model, beta, alpha, n_resamples, rng)
    adjusted, both, band = found.adjusted, found.both, found.band
    observed, at = largest(np.where((trial.n_predictions > 0) & (trial.n_events > 0), found.observed_f, np.nan))
    if single is not None:
        # A correction for many cells only raises a p-value. Resamples may say otherwise, but only by their error.
        hits = {"precision": trial.precision_hits, "recall": trial.recall_hits}
        adjusted = {side: np.maximum(adjusted[side], single[side]) for side in SIDES}
        both = np.maximum(both, np.stack([single[side] for side in SIDES]))
        band = {side: np.where(single[side] > alpha, np.maximum(band[side], hits[side]), band[side]) for side in SIDES}
    return FamilywiseTest(
        precision=float(adjusted["precision"].min()),
        recall=float(adjusted["recall"].min()),
        both=float(both.min()),
        best_f=found.best_f,
        observed_best_f=observed,
        observed_best_at=at,
        beta=beta,
        alpha=alpha,
        precision_adjusted=adjusted["precision"],
        recall_adjusted=adjusted["recall"],
        precision_band=band["precision"],
        recall_band=band["recall"],
        n_resamples=found.n_resamples,
        seed=found.seed,
        method=found.method,
    )
