"""What chance scores in every cell of a sweep, and what that means when hundreds of cells are looked at."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nofluke.counting import FloatArray, IntArray
from nofluke.distributions import NullDistribution
from nofluke.inputs import Sequence
from nofluke.nulls.base import Method, NullModel, as_seed
from nofluke.nulls.permutation import Permutation
from nofluke.nulls.seasonal import Seasonal
from nofluke.nulls.setting import OpenRanges, Setting, make_setting, open_ranges
from nofluke.progress import progress_bar
from nofluke.testing import benjamini_hochberg, holm
from nofluke.tolerance import Tolerance

BAND = (0.025, 0.975)
CELL_OPERATIONS = 5e7  # in a sweep of many cells the dynamic programme must be faster than in a single test


@dataclass(frozen=True, slots=True, kw_only=True)
class CellChance:
    """One measure's chance in every cell, as arrays of shape (tolerances, thresholds).

    ``mean`` and ``std`` are of the hits; ``low`` and ``high`` bound the central 95% of chance's hits; ``pvalue`` is the
    probability of at least the observed hits. ``holm`` and ``benjamini_hochberg`` correct for all cells of this measure: who
    looks at both measures for the best cell has twice as many tests, and halves the level.
    """

    mean: FloatArray = field(repr=False)
    std: FloatArray = field(repr=False)
    low: IntArray = field(repr=False)
    high: IntArray = field(repr=False)
    pvalue: FloatArray = field(repr=False)

    @property
    def holm(self) -> FloatArray:
        """P-values corrected for all cells of the measure by Holm."""
        return holm(self.pvalue)

    @property
    def benjamini_hochberg(self) -> FloatArray:
        """P-values corrected for all cells of the measure by Benjamini and Hochberg."""
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

    def methods_of(self, side: str) -> tuple[str, ...]:
        """The methods of one measure: those that name it, and those that name none."""
        other = "recall " if side == "precision" else "precision "
        return tuple(method.removeprefix(f"{side} ") for method in self.methods if not method.startswith(other))


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
    with progress_bar("chance", len(todo)) as advance, ThreadPoolExecutor(os.cpu_count()) as pool:
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


def exact_moments(cells: Cells) -> dict[str, dict[str, FloatArray]]:
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


def simulate_cells(cells: Cells, model: NullModel, n_resamples: int, rng: Any, **asked: Any) -> tuple[Any, int | None]:
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


def simulated_moments(simulation: Any) -> dict[str, dict[str, FloatArray]]:
    """Mean and standard deviation in every cell, from resamples."""
    tallies = {side: getattr(simulation, side) for side in ("precision", "recall")}
    return {s: {"mean": t.mean, "std": np.sqrt(np.nan_to_num(t.variance))} for s, t in tallies.items()}


def _simulated(cells: Cells, model: NullModel, n_resamples: int, rng: Any) -> SweepChance:
    simulation, seed = simulate_cells(cells, model, n_resamples, rng, histograms="all")
    moments = exact_moments(cells) if isinstance(model, Permutation) else simulated_moments(simulation)
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
