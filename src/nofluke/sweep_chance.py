"""What chance scores in every cell of a sweep, and what that means when hundreds of cells are looked at."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nofluke.counting import FloatArray, IntArray
from nofluke.distributions import NullDistribution
from nofluke.errors import InputError
from nofluke.inputs import Sequence
from nofluke.nulls.base import Method, NullModel, as_seed, check_resamples
from nofluke.nulls.circular import CircularShift
from nofluke.nulls.permutation import Permutation
from nofluke.nulls.seasonal import Seasonal
from nofluke.nulls.setting import OpenRanges, Setting, make_setting, open_ranges
from nofluke.progress import progress_bar
from nofluke.tables import show_share
from nofluke.testing import TIE_SLACK, benjamini_hochberg, check_alpha, check_beta, holm, p_is, show_p
from nofluke.tolerance import Tolerance

BAND = (0.025, 0.975)
EXACT_CELL_STEPS = 2e7  # thresholds times steps up to which the maximum test standardises by exact moments
CELL_OPERATIONS = 5e7  # in a sweep of many cells the dynamic programme must be faster than in a single test


@dataclass(frozen=True, slots=True, kw_only=True)
class CellChance:
    """One measure's chance in every cell, as arrays of shape (tolerances, thresholds).

    ``mean`` and ``std`` are of the hits; ``low`` and ``high`` bound the central 95% of chance's hits; ``pvalue`` is the
    probability of at least the observed hits.
    """

    mean: FloatArray = field(repr=False)
    std: FloatArray = field(repr=False)
    low: IntArray = field(repr=False)
    high: IntArray = field(repr=False)
    pvalue: FloatArray = field(repr=False)

    @property
    def holm(self) -> FloatArray:
        """P-values corrected for all cells by Holm."""
        return holm(self.pvalue)

    @property
    def benjamini_hochberg(self) -> FloatArray:
        """P-values corrected for all cells by Benjamini and Hochberg."""
        return benjamini_hochberg(self.pvalue)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepChance:
    """Chance in every cell of a sweep, for both measures, and how it was computed."""

    precision: CellChance
    recall: CellChance
    model: str
    methods: tuple[str, ...]
    n_resamples: int | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilywiseTest:
    """Is the best of a whole sweep better than the best that chance finds in such a sweep?

    Attributes
    ----------
    precision, recall, both : float
        Familywise p-values: how often chance's most significant cell of a sweep is at least as far above its expectation,
        in its standard deviations, as the observed one; for precision, for recall, for either.
    best_f : float
        How often chance's best F_β over all cells reaches the observed best F_β.
    observed_best_f, beta : float
    precision_adjusted, recall_adjusted : arrays of shape (tolerances, thresholds)
        P-value of each cell, corrected for having looked at all cells of its measure (single-step Westfall and Young).
    precision_band, recall_band : arrays of shape (tolerances, thresholds)
        Hits above which a cell is significant at ``alpha`` after that correction: chance exceeds them anywhere in the
        sweep with probability at most ``alpha``.
    n_resamples, seed, method, alpha
        Resamples and their seed; for circular shifts every rotation is counted and nothing is drawn.
    """

    precision: float
    recall: float
    both: float
    best_f: float
    observed_best_f: float
    beta: float
    alpha: float
    precision_adjusted: FloatArray = field(repr=False)
    recall_adjusted: FloatArray = field(repr=False)
    precision_band: FloatArray = field(repr=False)
    recall_band: FloatArray = field(repr=False)
    n_resamples: int
    seed: int | None
    method: str = "montecarlo"

    def how(self) -> str:
        """What chance's best was taken from."""
        drawn = f"{self.n_resamples:,} resamples, seed {self.seed}"
        return drawn if self.method == "montecarlo" else f"{self.n_resamples:,} rotations, none left to chance"

    def in_words(self) -> str:
        """The test of the best F_β as a sentence."""
        name = "F1" if self.beta == 1 else f"F{self.beta:g}"
        return (
            f"Best {name} of the whole sweep {show_share(self.observed_best_f)}; chance's best reaches it with "
            f"{p_is(self.best_f)}. Familywise p over all cells: precision {show_p(self.precision)}, recall "
            f"{show_p(self.recall)} ({self.how()})."
        )

    def to_dict(self) -> dict[str, Any]:
        """The test as plain values, for JSON; adjusted p-values are in the cells."""
        return {
            "precision": self.precision,
            "recall": self.recall,
            "both": self.both,
            "best_f": self.best_f,
            "observed_best_f": None if np.isnan(self.observed_best_f) else self.observed_best_f,
            "beta": self.beta,
            "n_resamples": self.n_resamples,
            "seed": self.seed,
        }


@dataclass(frozen=True, kw_only=True)
class Cells:
    """What the cells of a sweep are made of: the data, thresholds and tolerances, and the observed hits."""

    sequence: Sequence = field(repr=False)
    thresholds: FloatArray = field(repr=False)
    tolerances: tuple[Tolerance, ...]
    n_predictions: IntArray = field(repr=False)
    precision_hits: IntArray = field(repr=False)
    recall_hits: IntArray = field(repr=False)

    def ranges(self) -> list[OpenRanges]:
        """The ranges of each tolerance, in open steps."""
        return [open_ranges(t, self.sequence.open_steps, self.sequence.clock) for t in self.tolerances]

    @property
    def distinct(self) -> tuple[IntArray, IntArray]:
        """Thresholds that predict different steps, and which of them each threshold equals."""
        # sets of predictions are nested, so equal numbers of predictions are equal predictions
        _, first, inverse = np.unique(self.n_predictions, return_index=True, return_inverse=True)
        return first, inverse


def chance_of_cells(cells: Cells, model: NullModel, method: Method, *, n_resamples: int, rng: Any) -> SweepChance:
    """Null mean, band and p-value of both hits in every cell."""
    if method == "montecarlo" or set(model.methods) == {"auto", "montecarlo"}:
        return _simulated(cells, model, n_resamples, rng)
    if isinstance(model, Permutation):
        model = replace(model, programme_operations=min(model.programme_operations, CELL_OPERATIONS))
    if isinstance(model, Seasonal) and method == "auto" and not _enumerable(cells, model):
        # precision in all cells from the same resamples, recall exactly
        recall = _each_cell(cells, lambda setting: {"recall": model.recall(setting)})
        drawn = _simulated(cells, model, n_resamples, rng)
        return replace(drawn, recall=recall.sides["recall"], methods=("precision montecarlo", *recall.methods))

    def both(setting: Setting) -> dict[str, NullDistribution]:
        nulls = model.distributions(setting, method, n_resamples=n_resamples, rng=rng)
        return {"precision": nulls.precision, "recall": nulls.recall}

    found = _each_cell(cells, both)
    sides = found.sides
    return SweepChance(precision=sides["precision"], recall=sides["recall"], model=model.text, methods=found.methods)


def _enumerable(cells: Cells, model: Seasonal) -> bool:
    some = make_setting(cells.sequence, np.zeros(cells.sequence.n, dtype=np.bool_), cells.ranges()[0])
    return model.enumerable(some, times=len(cells.tolerances) * len(cells.distinct[0]))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """Chance by measure, and the methods it came by."""

    sides: dict[str, CellChance]
    methods: tuple[str, ...]


def _each_cell(cells: Cells, nulls_of: Callable[[Setting], dict[str, NullDistribution]]) -> _Found:
    """Null distributions cell by cell; thresholds that predict the same steps share theirs."""
    scores = cells.sequence.open_scores()
    first, inverse = cells.distinct
    ranges = cells.ranges()

    def numbers(cell: tuple[int, int]) -> dict[str, dict[str, Any]]:
        d, k = cell
        cut = cells.thresholds[k]
        nulls = nulls_of(make_setting(cells.sequence, scores >= cut, ranges[d], float(cut)))
        hits = {"precision": cells.precision_hits, "recall": cells.recall_hits}
        return {side: _numbers(null, int(hits[side][d, k])) for side, null in nulls.items()}

    todo = [(d, int(k)) for d in range(len(ranges)) for k in first]
    with progress_bar("exact chance", len(todo)) as advance, ThreadPoolExecutor(os.cpu_count()) as pool:
        # the compiled inversion runs without the interpreter's lock, so threads share the work
        found = []
        for done, cell in enumerate(pool.map(numbers, todo), start=1):
            found.append(cell)
            advance(done)
    shape = (len(ranges), len(first))
    sides = {
        side: CellChance(**{n: np.array([c[side][n] for c in found]).reshape(shape)[:, inverse] for n in _FIELDS})
        for side in found[0]
    }
    methods = dict.fromkeys(f"{side} {cell[side]['method']}" for cell in found for side in cell)
    return _Found(sides=sides, methods=tuple(methods))


_FIELDS = ("mean", "std", "low", "high", "pvalue")


def _numbers(null: NullDistribution, hits: int) -> dict[str, Any]:
    low, high = null.quantile(BAND)
    values = (null.mean, null.std, low, high, null.upper(hits))
    return {**dict(zip(_FIELDS, values, strict=True)), "method": null.method}


def _exact_moments(cells: Cells) -> dict[str, dict[str, FloatArray]]:
    """Exact mean and standard deviation of both hits in every cell."""
    scores = cells.sequence.open_scores()
    first, inverse = cells.distinct
    found: dict[str, dict[str, list[float]]] = {s: {"mean": [], "std": []} for s in ("precision", "recall")}
    for ranges in cells.ranges():
        for k in first:
            setting = make_setting(cells.sequence, scores >= cells.thresholds[k], ranges, float(cells.thresholds[k]))
            for side, moments in (("precision", setting.precision_moments), ("recall", setting.recall_moments)):
                found[side]["mean"].append(moments.mean)
                found[side]["std"].append(float(np.sqrt(moments.var)))
    shape = (len(cells.tolerances), len(first))
    return {s: {n: np.array(v).reshape(shape)[:, inverse] for n, v in part.items()} for s, part in found.items()}


def _run(cells: Cells, model: NullModel, n_resamples: int, rng: Any, **asked: Any) -> tuple[Any, int | None]:
    """Simulate all cells at once."""
    from nofluke import montecarlo

    seed = as_seed(rng)
    ranges = cells.ranges()
    levels = np.searchsorted(cells.thresholds, cells.sequence.open_scores(), side="right")
    problem = montecarlo.Problem(
        level=levels.astype(np.int64),
        n_thresholds=len(cells.thresholds),
        n_events=cells.sequence.n_events,
        cover_start=np.stack([r.predictions.starts for r in ranges]),
        cover_stop=np.stack([r.predictions.stops for r in ranges]),
    )
    observed = montecarlo.Hits(precision=cells.precision_hits, recall=cells.recall_hits)
    with progress_bar("resamples", n_resamples) as advance:
        simulation = montecarlo.simulate(
            problem,
            n_resamples=n_resamples,
            observed=observed,
            rng=rng if seed is None else seed,
            workers=os.cpu_count() or 1,
            progress=advance,
            draw=model.draw(make_setting(cells.sequence, levels > 0, ranges[0])),
            **asked,
        )
    return simulation, seed


def _simulated_moments(simulation: Any) -> dict[str, dict[str, FloatArray]]:
    """Mean and standard deviation in every cell, from resamples."""
    tallies = {side: getattr(simulation, side) for side in ("precision", "recall")}
    return {s: {"mean": t.mean, "std": np.sqrt(np.nan_to_num(t.variance))} for s, t in tallies.items()}


def _simulated(cells: Cells, model: NullModel, n_resamples: int, rng: Any) -> SweepChance:
    simulation, seed = _run(cells, model, n_resamples, rng, histograms="all")
    moments = _exact_moments(cells) if isinstance(model, Permutation) else _simulated_moments(simulation)
    shape = cells.precision_hits.shape
    sides = {}
    for side in ("precision", "recall"):
        tally = getattr(simulation, side)
        bands = {
            cell: np.searchsorted(np.cumsum(histogram), np.array(BAND) * n_resamples, side="left")
            for cell, histogram in tally.histograms.items()
        }
        low, high = (np.array([bands[cell][i] for cell in np.ndindex(shape)]).reshape(shape) for i in (0, 1))
        sides[side] = CellChance(**moments[side], low=low, high=high, pvalue=tally.p_upper)
    return SweepChance(**sides, model=model.text, methods=("montecarlo",), n_resamples=n_resamples, seed=seed)


def _best_f(cells: Cells, values: FloatArray) -> float:
    """The largest F_β over the cells in which it is defined; NaN if there is none."""
    defined = (cells.n_predictions > 0) & (cells.sequence.n_events > 0) & ~np.isnan(values)
    return float(values[defined].max()) if defined.any() else float("nan")


def _by_rotation(cells: Cells, model: CircularShift, beta: float, alpha: float) -> FamilywiseTest:
    """The maximum test over all rotations: nothing is drawn, so that no adjusted p-value is below its own."""
    scores, ranges = cells.sequence.open_scores(), cells.ranges()
    first, inverse = cells.distinct
    shape = (len(ranges), len(first))
    statistic = {side: np.full(shape, np.nan) for side in ("precision", "recall")}
    moments = {side: {"mean": np.zeros(shape), "std": np.zeros(shape)} for side in statistic}
    best: dict[str, Any] = dict.fromkeys(("precision", "recall"), -np.inf)
    f_values, best_f = np.full(shape, np.nan), np.zeros(1)
    with progress_bar("rotations", len(ranges) * len(first)) as advance:
        for done, (d, i) in enumerate(np.ndindex(shape), start=1):
            cut = cells.thresholds[first[i]]
            setting = make_setting(cells.sequence, scores >= cut, ranges[d], float(cut))
            recall, precision = model.hits_by_shift(setting)
            for side, hits in (("precision", precision), ("recall", recall)):
                mean, std = float(hits.mean()), float(hits.std())
                moments[side]["mean"][d, i], moments[side]["std"][d, i] = mean, std
                if std > 0:
                    standard = (hits - mean) / std
                    statistic[side][d, i] = standard[0]  # the identity comes first
                    best[side] = np.maximum(best[side], standard)
            below = beta**2 * precision * setting.n_events + recall * setting.n_predictions
            f = np.divide((1 + beta**2) * precision * recall, below, out=np.zeros(len(below)), where=below > 0)
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

    cell_p = {side: adjusted(best[side], values)[:, inverse] for side, values in statistic.items()}
    both = np.maximum(best["precision"], best["recall"])
    return FamilywiseTest(
        precision=float(cell_p["precision"].min()),
        recall=float(cell_p["recall"].min()),
        both=float(min(adjusted(both, values).min() for values in statistic.values())),
        best_f=float(adjusted(best_f, f_values).min()),
        observed_best_f=_best_f(cells, f_values[:, inverse]),
        beta=beta,
        alpha=alpha,
        precision_adjusted=cell_p["precision"],
        recall_adjusted=cell_p["recall"],
        precision_band=band("precision"),
        recall_band=band("recall"),
        n_resamples=n,
        seed=None,
        method=model.distributions(setting).recall.method,
    )


def familywise_test(
    cells: Cells, model: NullModel, *, beta: float, alpha: float, n_resamples: int, rng: Any
) -> FamilywiseTest:
    """Westfall and Young's maximum test over all cells of a sweep."""
    from nofluke.montecarlo import Standardisation

    check_alpha(alpha)
    check_beta(beta)
    if beta == 0:
        raise InputError("beta=0 makes F precision alone: its familywise test is the one of precision.")
    check_resamples(n_resamples)
    if isinstance(model, CircularShift):
        return _by_rotation(cells, model, beta, alpha)
    seed = as_seed(rng)
    pilot = None
    exact = isinstance(model, Permutation) and len(cells.distinct[0]) * cells.sequence.n <= EXACT_CELL_STEPS
    if not exact:
        # what to standardise by comes from resamples of its own, so that it does not depend on those that are ranked
        pilot, _ = _run(cells, model, n_resamples, rng if seed is None else np.random.SeedSequence([seed, 1]))
    moments = _exact_moments(cells) if exact else _simulated_moments(pilot)
    standards = Standardisation(
        precision_mean=moments["precision"]["mean"],
        precision_std=moments["precision"]["std"],
        recall_mean=moments["recall"]["mean"],
        recall_std=moments["recall"]["std"],
        beta=beta,
    )
    run_rng = rng if seed is None else seed
    simulation, _ = _run(cells, model, n_resamples, run_rng, histograms="none", standardisation=standards)
    family = simulation.family_wise

    def band(side: str) -> FloatArray:
        critical = getattr(family, side).critical_value(alpha)
        with np.errstate(invalid="ignore"):
            return np.asarray(moments[side]["mean"] + critical * moments[side]["std"])

    return FamilywiseTest(
        precision=family.precision.p_best,
        recall=family.recall.p_best,
        both=family.both.p_best,
        best_f=family.f_beta.p_best,
        observed_best_f=_best_f(cells, family.f_beta.observed),
        beta=beta,
        alpha=alpha,
        precision_adjusted=family.precision.p_values,
        recall_adjusted=family.recall.p_values,
        precision_band=band("precision"),
        recall_band=band("recall"),
        n_resamples=n_resamples,
        seed=seed,
    )
