"""Many thresholds and tolerances: the cells, their chance, and whether the best of them beats the best of chance.

The section "Many thresholds and tolerances" of docs/explanation/theory.md has the mathematics."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Unpack

import numpy as np

from nofluke.arrays import ByValue, FloatArray, IntArray
from nofluke.errors import InputError, say, shown, spoken
from nofluke.inference.corrections import adjusted, bands, benjamini_hochberg, holm, smallest_p
from nofluke.inference.evaluate import NO_EVENTS, Settings, offered_ranges, untold
from nofluke.inference.molchan import Molchan, molchan
from nofluke.laws.law import SMALLEST, How, Law
from nofluke.lazy import lazy
from nofluke.measures.confusion import Confusion, both_matrices
from nofluke.nulls import Null
from nofluke.nulls.base import Method, NullModel, Placed, check_resamples, drawing
from nofluke.nulls.choice import choose
from nofluke.nulls.placements import SIDES, draws, laws_of_ranges, listed, placed_ranges, simulate_hits
from nofluke.plain import as_rng, as_whole, check_alpha, check_beta, check_word, finite_or_none, several
from nofluke.progress import progress_bar
from nofluke.ratios import TIE_SLACK, f_of_hits, f_weights, largest
from nofluke.series.arguments import About, AboutScores, takes
from nofluke.series.between import trial_of
from nofluke.series.detector import AlarmRule, choose_cuts
from nofluke.series.names import NONE, Names
from nofluke.series.reading import HigherIs, LeftOut, prepare
from nofluke.series.timed import TimedTrial
from nofluke.series.tolerance import Length, Tolerance, as_tolerance
from nofluke.series.trial import Cell, Trial
from nofluke.text.exports import Exports
from nofluke.text.numbers import p_is, show_p
from nofluke.text.tables import ALL_EQUAL, SCHEMA, Table, by_column, noted, plural, show_number, show_share

# ---- many thresholds and tolerances: the cells, their chance, and whether the best of them beats the best of chance

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


def chance_of_cells(trial: Trial, settings: Settings) -> SweepChance:
    """Null mean, band and p-value of both hits in every cell of a trial."""
    model, method, n_resamples, rng = settings.null, settings.method, settings.n_resamples, settings.rng
    if model.is_drawn(method) and trial.truth.points:
        return _simulated(trial, model, n_resamples, rng)
    model = model.hurried()
    if method == "auto":
        exact = model.exact_sides(trial.cell(0, 0), times=len(trial.tolerances) * len(trial.distinct[0]))
        if len(exact) == 1 and trial.truth.points:  # the other side in all cells from the same resamples
            known = _each_cell(trial, lambda cell: {side: model.law_of(cell, side) for side in exact})
            drawn = _simulated(trial, model, n_resamples, rng)
            return SweepChance(**{"precision": drawn.precision, "recall": drawn.recall, **known}, model=drawn.model)

    of_ranges = laws_of_ranges(trial, model, method, n_resamples, rng)

    def both(cell: Cell) -> dict[str, Law]:
        if of_ranges is not None:
            nulls = of_ranges(cell)
        else:
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


Moments = dict[str, dict[str, FloatArray]]
"""By measure, mean and standard deviation of the hits in every cell."""


def _exact_moments(trial: Trial, model: NullModel) -> Moments | None:
    """In closed form, where the null has them."""
    (first, inverse), found = trial.distinct, []
    for d, k in itertools.product(range(len(trial.tolerances)), first):
        known = model.moments(trial.cell(d, int(k)))
        if known is None:
            return None
        found.append(known)

    def numbers(side: str, name: str) -> FloatArray:
        return np.array([getattr(one[side], name) for one in found]).reshape(-1, len(first))[:, inverse]

    return {side: {"mean": numbers(side, "mean"), "std": np.sqrt(numbers(side, "var"))} for side in SIDES}


def _simulated_moments(simulation: Any) -> Moments:
    """From resamples."""
    tallies = {side: getattr(simulation, side) for side in SIDES}
    return {s: {"mean": t.mean, "std": np.sqrt(np.nan_to_num(t.variance))} for s, t in tallies.items()}


def _simulated(trial: Trial, model: NullModel, n_resamples: int, rng: Any) -> SweepChance:
    rng, how = drawing(n_resamples, rng)
    simulation = simulate_hits(trial, model, n_resamples, rng, histograms="all")
    moments = _exact_moments(trial, model) or _simulated_moments(simulation)
    sides = {}
    for side in SIDES:
        tally = getattr(simulation, side)
        ends = [
            np.searchsorted(np.cumsum(tally.histograms[cell]), np.array(BAND) * n_resamples)
            for cell in np.ndindex(trial.shape)
        ]
        low, high = np.reshape(ends, (*trial.shape, 2)).transpose(2, 0, 1)
        sides[side] = CellChance(
            **moments[side],
            low=low,
            high=high,
            pvalue=tally.p_upper,
            log10_pvalue=np.log10(tally.p_upper),
            methods=(how,),
        )
    return SweepChance(**sides, model=model.text)


# ---- the test of the best of a whole sweep


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FamilywiseTest(Exports, ByValue):
    """Is the best of a whole sweep better than the best that chance finds in such a sweep?

    Attributes
    ----------
    precision, recall, both : float
        Familywise p-values: how often chance's most significant cell of a sweep is at least as far above its
        expectation, in its standard deviations, as the observed one; for precision, for recall, for either. For windows
        on two lists of times: how often chance's smallest p-value is as small as the observed one.
    best_f : float
        How often chance's best F_β over all cells reaches the observed best F_β.
    observed_best_f, beta : float
    observed_best_at : pair of int or None
        Where that is: numbers of the tolerance and of the threshold, the first where several are equal; None where no
        cell has an F_β.
    precision_adjusted, recall_adjusted : arrays of shape (tolerances, thresholds)
        P-value of each cell, corrected for having looked at all cells of its measure (single-step Westfall and Young);
        never below the cell's own p-value, where that is known.
    precision_band, recall_band : arrays of shape (tolerances, thresholds)
        Hits above which a cell is significant at ``alpha`` after that correction: chance exceeds them anywhere in the
        sweep with probability at most ``alpha``.
    n_resamples, seed, method, alpha
        Resamples and their seed; for circular shifts every rotation is counted and nothing is drawn.
    obstacle : str
        Why nothing can be told, where no null holds for the data; all p-values are NaN then. Else empty.
    """

    precision: float
    recall: float
    both: float
    best_f: float
    observed_best_f: float
    observed_best_at: tuple[int, int] | None
    beta: float
    alpha: float
    precision_adjusted: FloatArray = field(repr=False)
    recall_adjusted: FloatArray = field(repr=False)
    precision_band: FloatArray = field(repr=False)
    recall_band: FloatArray = field(repr=False)
    n_resamples: int
    seed: int | None
    method: How
    obstacle: str = ""

    @property
    def smallest(self) -> float:
        """The smallest possible p-value: the observed labels are one of the rotations, but not one of the resamples."""
        return 1 / (self.n_resamples + (self.method.kind == "simulated"))

    def how(self) -> str:
        """The draws that chance's best comes from."""
        drawn = f"{self.n_resamples:,} resamples, seed {self.seed}"
        return drawn if self.method.kind == "simulated" else f"{self.n_resamples:,} rotations, all of them"

    def in_words(self, where: str = "") -> str:
        """The test of the best F_β as a sentence; ``where`` says at which threshold and tolerance that is."""
        if not isinstance(where, str):
            raise InputError(argument="where", value=where, problem="must be text")
        place = say(", at {}", where) if where and self.observed_best_at is not None else ""
        if self.obstacle:
            best = say("The best {} of the whole sweep is {}{}.", self._f, show_share(self.observed_best_f), place)
            return say("{} Whether chance's best reaches it cannot be told. {}", best, self.obstacle)
        return say(
            "The best {} of the whole sweep is {}{}; chance's best reaches it with {}. Familywise p over all cells: "
            "precision {}, recall {} ({}).",
            self._f,
            show_share(self.observed_best_f),
            place,
            p_is(self.best_f),
            show_p(self.precision),
            show_p(self.recall),
            self.how(),
        )

    @property
    def _f(self) -> str:
        return "F1" if self.beta == 1 else f"F{self.beta:g}"

    def table(self) -> Table:
        """The familywise p-values as a small table, which renders as text, Markdown, LaTeX or HTML."""
        rows = zip(*self.columns().values(), strict=True)
        return Table(
            title="The best of a whole sweep beside the best that chance finds",
            columns=("best", "value", "familywise p"),
            rows=tuple(
                (name, "" if value is None else show_share(value), "cannot tell" if p is None else show_p(p))
                for name, value, p in rows
            ),
            notes=(self.in_words(),),
        )

    def columns(self) -> dict[str, list[Any]]:
        """A row for each test, by column name; adjusted p-values of cells are columns of the sweep."""
        rows = [(name, None, finite_or_none(getattr(self, name))) for name in ("precision", "recall", "both")]
        best = (self._f, self.observed_best_f, finite_or_none(self.best_f))
        return by_column(("best", "value", "pvalue"), [*rows, best])

    def _record(self) -> dict[str, Any]:
        at = self.observed_best_at
        return {
            "precision": finite_or_none(self.precision),
            "recall": finite_or_none(self.recall),
            "both": finite_or_none(self.both),
            "best_f": finite_or_none(self.best_f),
            "observed_best_f": finite_or_none(self.observed_best_f),
            "observed_best_at": None if at is None else at[0] * self.precision_adjusted.shape[1] + at[1],
            "beta": self.beta,
            "n_resamples": self.n_resamples,
            "seed": self.seed,
            "obstacle": self.obstacle or None,
        }


# ---- is the best of a whole sweep better than the best that chance finds in such a sweep? (Westfall and

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
    method: How


def _by_enumeration(
    trial: Trial, placements: Callable[[Cell], Placed | None], beta: float, alpha: float
) -> _Maxima | None:
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
        method=method,
    )


def _by_resampling(trial: Trial, model: NullModel, beta: float, alpha: float, n_resamples: int, rng: Any) -> _Maxima:
    """The maximum test over random placements, standardised by exact moments where these are affordable."""
    from nofluke.laws.montecarlo import Standardisation

    rng, how = drawing(n_resamples, rng)
    affordable = len(trial.distinct[0]) * trial.size <= EXACT_CELL_STEPS
    moments = _exact_moments(trial, model) if affordable else None
    if moments is None:
        # what to standardise by comes from resamples of its own, so that it does not depend on those that are ranked
        pilot_rng = rng if how.seed is None else np.random.SeedSequence([how.seed, 1])
        moments = _simulated_moments(simulate_hits(trial, model, n_resamples, pilot_rng))
    standards = Standardisation(
        precision_mean=moments["precision"]["mean"],
        precision_std=moments["precision"]["std"],
        recall_mean=moments["recall"]["mean"],
        recall_std=moments["recall"]["std"],
        beta=beta,
    )
    simulation = simulate_hits(trial, model, n_resamples, rng, histograms="none", standardisation=standards)
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
        method=how,
    )


def _by_smallest_p(
    trial: TimedTrial, model: NullModel, beta: float, alpha: float, n_resamples: int, rng: Any
) -> _Maxima | None:
    """The test of the smallest p-value over windows on lists of times, whose widths differ by orders of magnitude.

    None where cells are not such windows, or too many to keep the hits of all placements.
    """
    windows = len(trial.tolerances)
    if (
        trial.count_alarms != "steps"
        or trial.shape != (windows, 1)
        or windows * max(n_resamples, MOST_PLACEMENTS) > MOST_VALUES
        or 0 in (trial.n_events, len(trial.at))
    ):
        return None
    found = placed(trial, model, n_resamples, rng)
    p = {side: smallest_p(getattr(found, side)) for side in SIDES}
    either = np.minimum(p["precision"][1], p["recall"][1])
    reached, values = best_f(found, trial, beta)
    how = found.how
    return _Maxima(
        adjusted={side: adjusted(*p[side])[:, None] for side in SIDES},
        both=np.stack([adjusted(p[side][0], either)[:, None] for side in SIDES]),
        band={side: bands(getattr(found, side), *p[side], alpha)[:, None] for side in SIDES},
        best_f=reached,
        observed_f=values[:, None],
        n_resamples=len(found.recall) if how.n_resamples is None else how.n_resamples,
        method=how,
    )


# ---- hits of all windows on lists of times, on the same placements

MOST_PLACEMENTS = 20_000  # that are enumerated, rather than drawn
MOST_VALUES = 50_000_000  # hits kept: placements times windows


def placed(trial: TimedTrial, model: NullModel, n_resamples: int, rng: Any) -> Placed:
    """Both hits of all windows: of all placements where they are few, else of random ones."""
    from nofluke.laws.montecarlo.kernels import hits_of_windows

    found = listed(model, (trial.cell(d, 0) for d in range(len(trial.tolerances))), MOST_PLACEMENTS)
    if found is not None:
        return found
    rng, how = drawing(n_resamples, rng)
    alarms = np.flatnonzero(trial.levels)
    starts, stops = (np.array([getattr(w, end)[alarms] for w in trial.alarm_windows]) for end in ("starts", "stops"))
    recall, precision = [trial.recall_hits.T], [trial.precision_hits.T]
    for rows in draws(model, trial, n_resamples, rng):
        near, found_by = np.zeros((2, len(rows), len(starts)), dtype=np.int64)
        hits_of_windows(np.sort(rows.astype(np.int64), axis=1), starts, stops, near, found_by)
        precision.append(near)
        recall.append(found_by)
    return Placed(np.concatenate(recall), np.concatenate(precision), how)


def best_f(found: Placed, trial: TimedTrial, beta: float) -> tuple[float, FloatArray]:
    """How often chance's best F_β reaches the observed best one, and the observed F_β of each window."""
    f = f_of_hits(found.precision, found.recall, trial.n_predictions[0], trial.n_events, beta)
    best = np.nan_to_num(f, nan=0.0).max(axis=1)
    return float((best >= best[0] * (1 - TIE_SLACK)).mean()), f[0]


def _without_null(trial: Trial, beta: float) -> _Maxima:
    """Where no null holds: the observed values, without p-values."""
    nothing = np.full(trial.shape, np.nan)
    return _Maxima(
        adjusted=dict.fromkeys(SIDES, nothing),
        both=nothing,
        band=dict.fromkeys(SIDES, nothing),
        best_f=math.nan,
        observed_f=f_of_hits(trial.precision_hits, trial.recall_hits, trial.n_predictions, trial.n_events, beta),
        n_resamples=0,
        method=How(kind="simulated", n_resamples=0),
    )


def _maxima(trial: Trial, model: NullModel, beta: float, alpha: float, n_resamples: int, rng: Any) -> _Maxima:
    found = trial.by_axis(
        steps=lambda _: None, ticks=lambda trial: _by_smallest_p(trial, model, beta, alpha, n_resamples, rng)
    )
    if found is None:
        found = _by_enumeration(trial, model.every_placement, beta, alpha)
    if found is None and not trial.truth.points:
        found = _by_enumeration(trial, placed_ranges(trial, model, n_resamples, rng), beta, alpha)
    return _by_resampling(trial, model, beta, alpha, n_resamples, rng) if found is None else found


def familywise_test(
    trial: Trial,
    model: NullModel,
    *,
    beta: float,
    alpha: float,
    n_resamples: int,
    rng: Any,
    single: dict[str, FloatArray] | None = None,
    obstacle: str = "",
) -> FamilywiseTest:
    """Westfall and Young's maximum test over all cells of a sweep; ``single`` holds each cell's own p-values.

    Where no null holds, ``obstacle`` says why.
    """
    if check_beta(beta) == 0:
        raise InputError(
            argument="beta", value=0, problem="turns F into precision", remedy="use the familywise test of precision"
        )
    alpha, beta, n_resamples, rng = check_alpha(alpha), check_beta(beta), check_resamples(n_resamples), as_rng(rng)
    found = _without_null(trial, beta) if obstacle else _maxima(trial, model, beta, alpha, n_resamples, rng)
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
        seed=found.method.seed,
        method=found.method,
        obstacle=obstacle,
    )


# ---- the result of a sweep: every cell, what chance scores there, and how it prints itself

MOST_CELL_STEPS = 20_000_000  # cells times steps up to which chance takes seconds
MOST_CELLS = 2_000  # above, or where every score is a threshold, chance is computed only when it is asked for


@dataclass(frozen=True, kw_only=True, eq=False)
class Sweep(Exports, ByValue):
    """Counts and measures for every tolerance (rows) and every threshold (columns, ascending).

    Attributes
    ----------
    n, n_events : int
        Steps that count and events on them.
    thresholds : float array of length K
        In the numbers of the scores, from the most predictions to the fewest: they ascend, or descend where higher
        scores are normal.
    quantiles, budgets : float arrays of length K, or None
        The quantiles or budgets that were passed, if thresholds came from them.
    tolerances : tuple of D Tolerance
    n_predictions : int array of length K
        Predicted steps, or episodes of them.
    precision_hits, recall_hits : int arrays of shape (D, K)
        PA-AAδ and PAδ-AA.
    near_events : int array of length D
        AAδ, the steps within the tolerance of an event.
    near_predictions : int array of shape (D, K)
        PAδ, the steps within the tolerance of a prediction.
    left_out, notes
        What was left out, and what a reader should know.
    chance : SweepChance
        Null mean, band and p-value of every cell, computed when first asked for.

    See Also
    --------
    nofluke.sweep : makes it.
    nofluke.Evaluation : one threshold and tolerance.
    nofluke.plot.sweep : draws it by threshold.
    nofluke.plot.heatmap : draws every cell.

    Examples
    --------
    >>> import nofluke as nf
    >>> quakes = nf.datasets.simulate_quakes(rng=0)
    >>> curve = nf.sweep(quakes.truth, nf.detectors.energy_transient(quakes.counts), quantiles=[0.8, 0.9], tolerances=2)
    >>> curve.shape, curve.precision_hits
    ((1, 2), array([[221, 146]]))
    >>> bool((curve.chance.precision.pvalue < 1e-6).all())
    True
    """

    trial: Trial = field(repr=False)
    quantiles: FloatArray | None = field(repr=False)
    budgets: FloatArray | None = field(repr=False, default=None)
    higher_is: HigherIs = "anomalous"
    settings: Settings
    left_out: LeftOut
    notes: tuple[str, ...]
    chosen: bool = True
    names: Names = field(repr=False, compare=False, default=NONE)

    @property
    def n(self) -> int:
        """Steps that count."""
        return self.trial.n_told

    @property
    def n_events(self) -> int:
        """Events on them."""
        return self.trial.n_events

    @property
    def thresholds(self) -> FloatArray:
        """K thresholds in the caller's own numbers, from the most predictions to the fewest."""
        return self.trial.thresholds if self.trial.told is None else self.trial.told

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        """D tolerances."""
        return self.trial.tolerances

    @property
    def n_predictions(self) -> IntArray:
        """Predictions, by threshold: steps, or episodes of them."""
        return self.trial.n_predictions

    @property
    def precision_hits(self) -> IntArray:
        """PA-AAδ, of shape (D, K)."""
        return self.trial.precision_hits

    @property
    def recall_hits(self) -> IntArray:
        """PAδ-AA, of shape (D, K)."""
        return self.trial.recall_hits

    @property
    def near_events(self) -> IntArray:
        """AAδ by tolerance: steps within the tolerance of an event."""
        return self.trial.near_events

    @property
    def near_predictions(self) -> IntArray:
        """PAδ, of shape (D, K): steps within the tolerance of a prediction. Counted when first asked for."""
        return self.trial.near_predictions

    @property
    def shape(self) -> tuple[int, int]:
        """Number of tolerances and of thresholds."""
        return len(self.tolerances), len(self.thresholds)

    @property
    def precision(self) -> FloatArray:
        """P_δ for each cell; NaN where nothing is predicted."""
        return _ratio(self.precision_hits, self.n_predictions)

    @property
    def recall(self) -> FloatArray:
        """R_δ for each cell; NaN where there are no events."""
        return _ratio(self.recall_hits, np.int64(self.n_events))

    @property
    def f1(self) -> FloatArray:
        """F1 for each cell; NaN where precision or recall is."""
        return self.f_beta(1.0)

    def f_beta(self, beta: float) -> FloatArray:
        """F_β = (1 + β²) P_δ R_δ / (β² P_δ + R_δ) for each cell; 0 where both are 0."""
        of_recall, of_precision = f_weights(check_beta(beta))
        precision, recall = self.precision, self.recall
        below = of_recall * precision + of_precision * recall
        return np.where(below == 0, 0.0, _ratio((of_recall + of_precision) * precision * recall, below))

    def matrices(self, tolerance: int, threshold: int) -> tuple[Confusion | None, Confusion | None]:
        """Both confusion matrices of a cell, by the positions of its tolerance and threshold: (truth, predictions).

        Matrices count steps: the first is None where alarms count as episodes, the second where ranges are counted.
        """
        d, k = self.shape
        return both_matrices(
            self.trial, as_whole(tolerance, "tolerance", 0, d - 1), as_whole(threshold, "threshold", 0, k - 1)
        )

    def best(self, beta: float = 1.0) -> list[tuple[int, int]]:
        """For each tolerance, the indices (tolerance, threshold) of the largest F_β; left out where all are NaN."""
        values = self.f_beta(beta)
        return [(d, int(np.nanargmax(row))) for d, row in enumerate(values) if not np.isnan(row).all()]

    @property
    def null(self) -> NullModel:
        """What chance is assumed to do."""
        return self.settings.null

    @lazy
    def chance(self) -> SweepChance:
        """What chance scores in every cell: mean, band and p-value of both hits. Takes a few milliseconds a cell."""
        return chance_of_cells(self.trial, self.settings)

    @property
    def shows_chance(self) -> bool:
        """Whether tables carry the chance columns: for up to 2,000 chosen cells, or if chance was asked for before."""
        cells = self.precision_hits.size
        affordable = cells <= MOST_CELLS and cells * self.trial.size <= MOST_CELL_STEPS
        return (self.chosen and affordable) or "chance" in self.__dict__

    def familywise(
        self, *, beta: float = 1.0, alpha: float = 0.05, n_resamples: int | None = None, rng: Any = None
    ) -> FamilywiseTest:
        """Is the best of this sweep better than the best that chance finds in such a sweep?

        Permutes the events and takes, each time, the largest standardised hits and the largest F_β over all cells
        (Westfall and Young 1993). Monte Carlo: p = (b + 1)/(n + 1), by the sweep's own ``n_resamples`` and ``rng``
        unless others are given; under circular shifts all rotations instead. Where tables carry the chance columns, no
        adjusted p-value is below the cell's own. Where no null holds for the data, there are no p-values (NaN), and
        ``obstacle`` says why.

        Examples
        --------
        >>> import nofluke as nf
        >>> quakes = nf.datasets.simulate_quakes(rng=0)
        >>> z = nf.detectors.energy_transient(quakes.counts)
        >>> curve = nf.sweep(quakes.truth, z, quantiles=[0.8, 0.9, 0.95], tolerances=(0, 2))
        >>> curve.familywise(n_resamples=999, rng=1).best_f
        0.001
        """
        choice, settings = self.settings.choice, self.settings
        single = choice.holds and self.shows_chance
        return familywise_test(
            self.trial,
            self.null,
            beta=beta,
            alpha=alpha,
            n_resamples=settings.n_resamples if n_resamples is None else n_resamples,
            rng=settings.rng if rng is None else rng,
            single={side: getattr(self.chance, side).pvalue for side in SIDES} if single else None,
            obstacle="" if choice.holds else choice.obstacle,
        )

    def molchan(
        self,
        *,
        tolerance: Length | Tolerance | None = None,
        alpha: float = 0.05,
        n_resamples: int | None = None,
        rng: Any = None,
    ) -> Molchan:
        """Molchan's diagram: the share of events missed against the share of time covered, with what chance misses.

        Coverage is the share of events that chance finds, as the null measures it, so that the diagonal is chance under
        every null. The area skill score is the area above the curve; chance is expected to have 1/2.

        Parameters
        ----------
        tolerance : int, str, timedelta or Tolerance, optional
            One of those of the sweep; not needed where it has only one.
        alpha : float
            Chance stays in the band with probability 1 - alpha, at each threshold by itself and as a whole curve.
        n_resamples, rng
            Placements for the band of the whole curve and the area's p-value, by default those of the sweep; under
            circular shifts all rotations instead.

        Returns
        -------
        Molchan
            At thresholds that predict different steps; of more than 256, some that are evenly spaced in coverage.

        See Also
        --------
        nofluke.plot.molchan : draws it.

        References
        ----------
        Molchan (1991), Structure of optimal strategies in earthquake prediction. Zechar and Jordan (2010), The area
        skill score statistic for evaluating earthquake predictability experiments.

        Examples
        --------
        >>> import nofluke as nf
        >>> curve = nf.sweep([0, 1, 0, 0, 0, 0, 1, 0], [1, 5, 2, 2, 1, 3, 4, 1], null="permutation", rng=1)
        >>> found = curve.molchan()
        >>> found.coverage, found.missed
        (array([0.125, 0.25 , 0.375, 0.625, 1.   ]), array([0.5, 0. , 0. , 0. , 0. ]))
        >>> found.skill
        0.875
        """
        d = row_of(self, tolerance)
        return molchan(self.trial, d, self.settings, self.notes, alpha=alpha, n_resamples=n_resamples, rng=rng)

    def corrected(self, side: str, by: Literal["holm", "benjamini_hochberg"] = "holm") -> FloatArray:
        """P-values of a measure corrected for all cells; NaN where no null holds for the data."""
        check_word(side, "side", ("precision", "recall"))
        check_word(by, "by", ("holm", "benjamini_hochberg"))
        found: FloatArray = getattr(getattr(self.chance, side), by)
        return found if self.settings.choice.holds else np.full(found.shape, np.nan)

    def columns(self, familywise: FamilywiseTest | None = None) -> dict[str, Any]:
        """All cells in long form, one row a cell, by column name."""
        self._check_family(familywise)
        d, k = self.shape
        tolerances = [t.plain() if not isinstance(t.plain(), dict) else str(t) for t in self.tolerances]
        data: dict[str, Any] = {
            "tolerance": np.repeat(np.asarray(tolerances), k),
            "threshold": np.tile(self.thresholds, d),
        }
        if self.quantiles is not None:
            data["quantile"] = np.tile(self.quantiles, d)
        if self.budgets is not None:
            data["budget"] = np.tile(self.budgets, d)
        data |= {
            "n_predictions": np.tile(self.n_predictions, d),
            "precision_hits": self.precision_hits.ravel(),
            "recall_hits": self.recall_hits.ravel(),
            "precision": self.precision.ravel(),
            "recall": self.recall.ravel(),
            "f1": self.f1.ravel(),
        }
        for side in self._tested:
            cells = getattr(self.chance, side)
            data |= {f"{side}_{name}": getattr(cells, name).ravel() for name in _FIELDS}
            data[f"{side}_holm"] = self.corrected(side).ravel()
            data[f"{side}_benjamini_hochberg"] = self.corrected(side, "benjamini_hochberg").ravel()
        if familywise is not None:
            data["precision_familywise"] = familywise.precision_adjusted.ravel()
            data["recall_familywise"] = familywise.recall_adjusted.ravel()
        return data

    def _record(self, familywise: FamilywiseTest | None = None) -> dict[str, Any]:
        cells = {
            name: [None if isinstance(v, float) and not math.isfinite(v) else v for v in np.asarray(values).tolist()]
            for name, values in self.columns(familywise).items()
        }
        result: dict[str, Any] = {
            "schema": SCHEMA,
            "n": self.n,
            "n_events": self.n_events,
            "count_events": self.trial.truth.count_events,
            "higher_is": self.higher_is,
            "count_alarms": self.settings.alarms.count,
            "cells": cells,
            "null": self.settings.choice.to_dict(),
            "doubts": list(self.settings.choice.doubts),
            "notes": list(self.notes),
        }
        if self.shows_chance:
            result["methods"] = list(self.chance.methods)
            if self.chance.n_resamples:
                result |= {"n_resamples": self.chance.n_resamples, "seed": self.chance.seed}
        return result if familywise is None else result | {"familywise": familywise.to_dict()}

    def table(self, familywise: FamilywiseTest | None = None) -> Table:
        """The best F1 of each tolerance, as a small table."""
        rows = [
            (
                self.tolerances[d].in_words(),
                show_number(float(self.thresholds[k])),
                f"{self.n_predictions[k]:,}",
                *self._scored(d, k),
            )
            for d, k in self.best()
        ]
        alarms = say("{predictions}") if self.settings.alarms.count == "steps" else "episodes"
        measures, tested = ("precision", "recall", "F1"), self._tested
        title = say(
            "{}, {}, {}, {}; the threshold of the best F1 for each tolerance",
            plural(self.n, "step"),
            plural(self.n_events, self.trial.truth.noun),
            plural(len(self.thresholds), "threshold"),
            plural(len(self.tolerances), "tolerance"),
        )
        told = Table(
            title=title,
            columns=("tolerance", "threshold", alarms, *measures, *(f"p {side}" for side in tested)),
            heads=("tolerance", "threshold", "alarms", *measures, *("p prec.", "p rec.")[: len(tested)]),
            rows=tuple(rows),
            notes=(*self._how(familywise), *noted(self.notes)),
        )
        return told.called(self.names)

    @property
    def _tested(self) -> tuple[str, ...]:
        """Measures whose p-values tables carry."""
        return ("precision", "recall") if self.shows_chance else ()

    def _scored(self, d: int, k: int) -> tuple[str, ...]:
        """All three measures of a cell, and its p-values."""
        values = [show_share(float(own[d, k])) for own in (self.precision, self.recall, self.f1)]
        return *values, *(show_p(float(getattr(self.chance, side).pvalue[d, k])) for side in self._tested)

    def _check_family(self, familywise: FamilywiseTest | None) -> None:
        of_this = isinstance(familywise, FamilywiseTest) and familywise.precision_adjusted.shape == self.shape
        if familywise is not None and not of_this:
            raise InputError(
                argument="familywise",
                value=familywise,
                problem="must be the test of this sweep",
                remedy="pass its familywise()",
            )

    def _place(self, d: int, k: int) -> str:
        """A cell in words."""
        return f"threshold {show_number(float(self.thresholds[k]))} and tolerance {self.tolerances[d]}"

    def _how(self, familywise: FamilywiseTest | None) -> tuple[str, ...]:
        """Which null and method the p-values are from, and what they leave out."""
        self._check_family(familywise)
        if self.shows_chance:
            resamples = self.chance.n_resamples
            drawn = f" {resamples:,} resamples, seed {self.chance.seed}." if resamples else ""
            how = say("{} Method: {}.{}", self.settings.choice.in_words(), "; ".join(self.chance.methods), drawn)
        elif familywise is not None:
            ask = spoken("ask for curve.chance", shell="pass --chance")
            how = say("The p-values of the {:,} single cells were not computed: {}.", self.precision_hits.size, ask)
        else:
            python = "pass quantiles, thresholds or budgets, or ask for curve.chance"
            ask = spoken(python, shell="pass --quantile, --threshold, --budget or --chance")
            how = say("Chance was not computed for {:,} cells: {}.", self.precision_hits.size, ask)
        if familywise is not None:
            at = familywise.observed_best_at
            return how, familywise.in_words("" if at is None else self._place(*at))
        if not (self.shows_chance and self.settings.choice.holds):
            return (how,)
        best = "The p-values are of single cells; the best of many needs a familywise test: {}."
        return how, say(best, spoken("call familywise()", shell="pass --familywise"))

    def plot(self, ax: Any = None, *, chance: Literal["auto", "band", "none"] = "auto") -> Any:
        """Draw recall and precision by threshold, with the band of chance (matplotlib); returns the Axes."""
        from nofluke.plot import sweep as plot_sweep

        return plot_sweep(self, ax, chance=chance)

    def __repr__(self) -> str:
        best = max(self.best(), key=lambda at: self.f1[at], default=None)
        told = "F1 undefined"
        if best is not None:
            told = f"best F1 {show_share(float(self.f1[best]))} at tolerance {self.tolerances[best[0]]}"
        return (
            f"<Sweep of {plural(len(self.tolerances), 'tolerance')} × {plural(len(self.thresholds), 'threshold')}, "
            f"{plural(self.n_events, self.trial.truth.noun)} in {plural(self.n, 'step')}: {told}; null {self.null.text}>"
        )


def _ratio(numerator: Any, denominator: Any) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominator == 0, np.nan, np.divide(numerator, denominator))


FEW = 8  # values that an error can name


def row_of(curve: Sweep, wanted: Length | Tolerance | None, name: str = "") -> int:
    """Which tolerance of a sweep is meant; ``name`` is the detector's, where there are several."""
    if wanted is None and len(curve.tolerances) == 1:
        return 0
    window = None if wanted is None else as_tolerance(wanted)
    if window in curve.tolerances:
        return curve.tolerances.index(window)
    raise none_of("tolerance", wanted, name, [str(t) for t in curve.tolerances])


def none_of(argument: str, wanted: Any, name: str, values: list[str]) -> InputError:
    """What to pass in place of what a sweep does not have."""
    told = ", ".join(values[:FEW]) + (f" and {len(values) - FEW:,} more" if len(values) > FEW else "")
    of = f" of {shown(name)}" if name else ""
    return InputError(argument=argument, value=wanted, problem=f"must be one of those of the sweep{of}", remedy=told)


# ---- sweep a detector over thresholds and tolerances: every count at once, never a loop over thresholds

LEVEL = 0.05  # of the evidence that auto goes by: a sweep has no level of its own


@takes(AboutScores, like="evaluate")
def sweep(
    truth: Any,
    scores: Any,
    *,
    tolerances: Any = (0,),
    thresholds: Any = None,
    quantiles: Any = None,
    budgets: Any = None,
    null: Null = "auto",
    method: Method = "auto",
    n_resamples: int = 10_000,
    rng: Any = None,
    **about: Unpack[AboutScores],
) -> Sweep:
    r"""Precision and recall for many thresholds and tolerances at once.

    A count at threshold τ is the number of values that reach τ: of all scores for the predictions, of the scores of
    steps near an event for precision's hits, of the best score near each event for recall's hits:

    .. math::
        \text{PA-AA}\delta(\tau) = \#\{t : z_t \ge \tau,\ \textstyle\sum_{|t'-t| \le \delta} e_{t'} > 0\} \qquad
        \text{PA}\delta\text{-AA}(\tau) = \#\{t : e_t = 1,\ \textstyle\max_{|t'-t| \le \delta} z_{t'} \ge \tau\}

    Parameters
    ----------
    truth, scores
        As in :func:`evaluate`.
    <about>
    tolerances : sequence of int, str, timedelta or Tolerance, default (0,)
        One or many tolerances.
    thresholds, quantiles, budgets : sequence of float, optional
        Which thresholds, as in :func:`evaluate`; by default every distinct score of the steps that count.
    null, method, n_resamples, rng
        As in :func:`evaluate`, for the p-values of the cells. "auto" chooses one null for all of them, from the events
        and from the alarms at the threshold that about a tenth of the steps reach.

    Returns
    -------
    Sweep
        Precision is NaN where nothing is predicted, recall where there are no events. ``.chance`` has the null mean,
        band and p-value of every cell, ``.familywise()`` the p-value of the best cell.

    See Also
    --------
    nofluke.evaluate : one threshold and tolerance.
    nofluke.sweep_tolerances : two lists of times.
    nofluke.plot.sweep : draws the result.
    nofluke.plot.heatmap : draws every cell.
    nofluke.Sweep : the result.

    Notes
    -----
    O(T log T) for each tolerance, however long it is, and for all thresholds together; memory O(T) for each tolerance.
    Chance is computed when it is first asked for, and shown in tables for up to 2,000 chosen thresholds and tolerances.

    References
    ----------
    Scharwächter and Müller (2020), Figure 2.

    Examples
    --------
    >>> import nofluke as nf
    >>> curve = nf.sweep([0, 1, 0, 0], [0.1, 0.4, 0.9, 0.4], tolerances=(0, 1))
    >>> curve.thresholds
    array([0.1, 0.4, 0.9])
    >>> curve.recall
    array([[1., 1., 0.],
           [1., 1., 1.]])
    """
    windows = as_tolerances(tolerances, as_tolerance)
    given = About.of(about)
    sequence = prepare(truth, scores, **given.reading)
    alarms, cuts = AlarmRule.of(**given.alarms), None
    every_score = thresholds is None and quantiles is None and budgets is None
    if not every_score:
        cuts = choose_cuts(sequence, thresholds, quantiles, budgets)
    made = trial_of(sequence, windows, cuts, alarms, every_score=every_score)
    trial = made.trial
    n_resamples, rng = check_resamples(n_resamples), as_rng(rng)
    # the threshold whose alarms decide on the null: nearest to a tenth of the steps, of those that have any
    distance = np.abs(trial.n_alarm_steps - len(trial.detector) / 10)
    typical = int(np.where(trial.n_alarm_steps > 0, distance, np.inf).argmin())
    choice = choose(null, trial.cell(0, typical), LEVEL, made.doubt).called(sequence.names)
    choice.check(method)
    choice.model.fits(trial.truth)
    notes = [
        *sequence.notes,
        *made.notes,
        *offered_ranges(sequence, trial.truth, about.get("count_events")),
        *(() if cuts is None else cuts.notes),
    ]
    if len(trial.detector) > 1 and trial.detector.min() == trial.detector.max():
        notes.append(ALL_EQUAL)
    if trial.n_events == 0:
        notes.append(NO_EVENTS)
    return Sweep(
        trial=trial,
        quantiles=None if cuts is None else cuts.quantiles,
        budgets=None if cuts is None else cuts.budgets,
        higher_is=sequence.higher_is,
        settings=Settings(choice=choice, method=method, n_resamples=n_resamples, rng=rng, alarms=alarms),
        left_out=sequence.left_out,
        notes=sequence.names.all_said((*notes, *untold(choice), *choice.notes)),
        names=sequence.names,
        chosen=cuts is not None,
    )


def as_tolerances(values: Any, read: Callable[[Any, str], Tolerance]) -> tuple[Tolerance, ...]:
    """One tolerance or many."""
    windows = tuple(read(value, "tolerances") for value in several(values, "tolerances"))
    if not windows:
        raise InputError(argument="tolerances", problem="is empty", remedy="pass at least one, such as (0, 1, 2)")
    return windows
