"""What chance scores in every cell of a sweep, and what that means when hundreds of cells are looked at."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nofluke.arrays import ByValue, FloatArray, IntArray
from nofluke.inference.corrections import benjamini_hochberg, holm
from nofluke.laws.law import SMALLEST, How, Law
from nofluke.nulls.base import Method, NullModel, as_seed
from nofluke.nulls.simulation import SIDES, simulate_hits
from nofluke.progress import progress_bar
from nofluke.series.trial import Cell, Trial

BAND = (0.025, 0.975)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellChance(ByValue):
    """One measure's chance in every cell, as arrays of shape (tolerances, thresholds).

    ``mean`` and ``std`` are of the hits; ``low`` and ``high`` bound the central 95% of chance's hits; ``pvalue`` is the
    probability of at least the observed hits. ``holm`` and ``benjamini_hochberg`` correct for all cells of this
    measure. If you look for the best cell in both measures, that is twice as many tests: halve the level.
    """

    mean: FloatArray = field(repr=False)
    std: FloatArray = field(repr=False)
    low: IntArray = field(repr=False)
    high: IntArray = field(repr=False)
    pvalue: FloatArray = field(repr=False)
    log10_pvalue: FloatArray = field(repr=False)
    methods: tuple[How, ...] = ()

    @property
    def holm(self) -> FloatArray:
        """P-values corrected for all cells of the measure by Holm."""
        return holm(self.pvalue)

    @property
    def benjamini_hochberg(self) -> FloatArray:
        """P-values corrected for all cells of the measure by Benjamini and Hochberg."""
        return benjamini_hochberg(self.pvalue)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SweepChance(ByValue):
    """Chance in every cell of a sweep, for both measures, and how it was computed."""

    precision: CellChance
    recall: CellChance
    model: str

    @property
    def methods(self) -> tuple[str, ...]:
        """How both measures were computed, in words."""
        if self.precision.methods == self.recall.methods and self.precision.methods[0].kind == "simulated":
            return ("montecarlo",)
        sides = {"precision": self.precision, "recall": self.recall}
        return tuple(dict.fromkeys(f"{side} {how}" for side, cells in sides.items() for how in cells.methods))

    @property
    def drawn(self) -> How | None:
        """How the simulated cells were drawn; None where there are none."""
        return next((how for how in (*self.precision.methods, *self.recall.methods) if how.kind == "simulated"), None)

    @property
    def n_resamples(self) -> int | None:
        """Resamples of the simulated cells, if there are any."""
        return None if self.drawn is None else self.drawn.n_resamples

    @property
    def seed(self) -> int | None:
        """Their seed."""
        return None if self.drawn is None else self.drawn.seed


def chance_of_cells(trial: Trial, model: NullModel, method: Method, *, n_resamples: int, rng: Any) -> SweepChance:
    """Null mean, band and p-value of both hits in every cell of a trial."""
    if model.is_drawn(method) and trial.truth.points:
        return _simulated(trial, model, n_resamples, rng)
    model = model.hurried()
    if method == "auto":
        exact = model.exact_sides(trial.cell(0, 0), times=len(trial.tolerances) * len(trial.distinct[0]))
        if len(exact) == 1:  # the other side in all cells from the same resamples
            known = _each_cell(trial, lambda cell: {side: model.law_of(cell, side) for side in exact})
            drawn = _simulated(trial, model, n_resamples, rng)
            return SweepChance(**{"precision": drawn.precision, "recall": drawn.recall, **known}, model=drawn.model)

    def both(cell: Cell) -> dict[str, Law]:
        nulls = model.distributions(cell, method, n_resamples=n_resamples, rng=rng)
        return {"precision": nulls.precision, "recall": nulls.recall}

    return SweepChance(**_each_cell(trial, both), model=model.text)


def _each_cell(trial: Trial, laws_of: Callable[[Cell], dict[str, Law]]) -> dict[str, CellChance]:
    """Laws cell by cell; thresholds that predict the same steps share theirs."""
    first, inverse = trial.distinct
    hits = {"precision": trial.precision_hits, "recall": trial.recall_hits}
    todo = [(d, int(k)) for d in range(len(trial.tolerances)) for k in first]

    def numbers(at: tuple[int, int]) -> dict[str, dict[str, Any]]:
        return {side: _numbers(law, int(hits[side][at])) for side, law in laws_of(trial.cell(*at)).items()}

    trial.prepare()  # known before the threads ask: otherwise each of them works it out
    with progress_bar("chance", len(todo)) as advance, ThreadPoolExecutor(os.cpu_count()) as pool:
        # the compiled inversion runs without the interpreter's lock, so threads share the work
        found = []
        for done, cell in enumerate(pool.map(numbers, todo), start=1):
            found.append(cell)
            advance(done)
    shape = (len(trial.tolerances), len(first))
    return {
        side: CellChance(
            **{n: np.array([c[side][n] for c in found]).reshape(shape)[:, inverse] for n in _FIELDS},
            methods=tuple(dict.fromkeys(c[side]["method"] for c in found)),
        )
        for side in found[0]
    }


_FIELDS = ("mean", "std", "low", "high", "pvalue", "log10_pvalue")


def _numbers(law: Law, hits: int) -> dict[str, Any]:
    low, high = law.quantile(BAND)
    tail = law.tail(hits)
    values = (law.mean, law.std, low, high, max(tail.p, SMALLEST), tail.log_p / math.log(10))
    # the certified error differs from cell to cell; what they have in common is the engine
    return {**dict(zip(_FIELDS, values, strict=True)), "method": replace(tail.method, error=0.0)}


def exact_moments(trial: Trial, model: NullModel) -> dict[str, dict[str, FloatArray]] | None:
    """Mean and standard deviation of both hits in every cell in closed form, where the null has them."""
    first, inverse = trial.distinct
    found: dict[str, dict[str, list[float]]] = {side: {"mean": [], "std": []} for side in SIDES}
    for d in range(len(trial.tolerances)):
        for k in first:
            known = model.moments(trial.cell(d, int(k)))
            if known is None:
                return None
            for side, moments in known.items():
                found[side]["mean"].append(moments.mean)
                found[side]["std"].append(math.sqrt(moments.var))
    shape = (len(trial.tolerances), len(first))
    return {s: {n: np.array(v).reshape(shape)[:, inverse] for n, v in part.items()} for s, part in found.items()}


def simulated_moments(simulation: Any) -> dict[str, dict[str, FloatArray]]:
    """Mean and standard deviation in every cell, from resamples."""
    tallies = {side: getattr(simulation, side) for side in SIDES}
    return {s: {"mean": t.mean, "std": np.sqrt(np.nan_to_num(t.variance))} for s, t in tallies.items()}


def _simulated(trial: Trial, model: NullModel, n_resamples: int, rng: Any) -> SweepChance:
    seed = as_seed(rng)
    simulation = simulate_hits(trial, model, n_resamples, rng if seed is None else seed, histograms="all")
    moments = exact_moments(trial, model) or simulated_moments(simulation)
    sides = {}
    for side in SIDES:
        tally = getattr(simulation, side)
        bands = {
            cell: np.searchsorted(np.cumsum(histogram), np.array(BAND) * n_resamples, side="left")
            for cell, histogram in tally.histograms.items()
        }
        low, high = (
            np.array([bands[cell][i] for cell in np.ndindex(trial.shape)]).reshape(trial.shape) for i in (0, 1)
        )
        sides[side] = CellChance(
            **moments[side],
            low=low,
            high=high,
            pvalue=tally.p_upper,
            log10_pvalue=np.log10(tally.p_upper),
            methods=(How(kind="simulated", n_resamples=n_resamples, seed=seed),),
        )
    return SweepChance(**sides, model=model.text)
