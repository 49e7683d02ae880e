"""Every number of the paper's study, computed once: the measures, chance, and what the exact nulls add."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import numpy as np

from nofluke.arrays import BoolArray, FloatArray, IntArray
from nofluke.datasets import Quakes, load_earthquakes, simulate_quakes
from nofluke.detectors import energy_transient
from nofluke.errors import InputError
from nofluke.inference.chance import ChanceTest
from nofluke.inference.evaluate import Evaluation, evaluate
from nofluke.inference.sweep import FamilywiseTest, Sweep, sweep
from nofluke.laws.counts import SimulatedLaw
from nofluke.laws.law import Law
from nofluke.laws.tables import TableLaw, binomial
from nofluke.lazy import lazy
from nofluke.measures.confusion import Confusion
from nofluke.nulls.permutation import donges
from nofluke.nulls.stationary import GevFit, Stationary
from nofluke.series.trial import Cell
from nofluke.text.tables import show_share

# ---- every number of the paper's study, computed once: the measures, chance, and what the exact nulls add

SIDES = ("recall", "precision")  # in the paper's order
TOLERANCES = (0, 1, 2, 4)
NULL = "permutation"  # the test of the paper, whatever the data allow
QUANTILES = np.arange(50) / 50  # 0, .02, ..., .98
QUANTILE, TOLERANCE = 0.9, 2  # section 3.2
THE_QUANTILE, THE_TOLERANCE = 45, 2  # their positions in the sweep
Reading = Literal["absolute", "relative", "standardised"]  # of the gap between observed and chance
READINGS: tuple[Reading, ...] = ("absolute", "relative", "standardised")
CURVES = 100  # permuted sequences drawn in Figure 3
LAGS = range(-7, 8)
NEARBY = (2, 7)  # days: is one event followed by another within so many more often than by chance?


def test_of(result: Evaluation, side: str) -> ChanceTest:
    """The test of recall or of precision."""
    return result.recall_test if side == "recall" else result.precision_test


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustering:
    """Successive events at most ``days`` apart: how many, what chance gives, and its Monte Carlo p-value."""

    days: int
    pairs: int
    expected: float
    pvalue: float


@dataclass(frozen=True, kw_only=True)
class Study:
    """Everything the figures, tables and statements are made from, each number worked out when it is first asked for.

    Attributes
    ----------
    quakes, scores : the data and its energy transient (3 days over 14)
    seed, permutations : of all that is simulated
    curve : the sweep over 50 quantiles and four tolerances; ``curve.chance`` is exact
    """

    quakes: Quakes
    scores: FloatArray = field(repr=False)
    seed: int
    permutations: int
    curve: Sweep = field(repr=False)

    @lazy
    def result(self) -> Evaluation:
        """Both matrices and exact tests at δ = 2 and the .9-quantile."""
        return evaluate(self.quakes.truth, self.scores, quantile=QUANTILE, tolerance=TOLERANCE, null=NULL)

    @lazy
    def simulated(self) -> dict[str, SimulatedLaw]:
        """The null distributions of Figure 4 by measure, at δ = 2 and the .9-quantile."""
        drawn = evaluate(
            self.quakes.truth,
            self.scores,
            quantile=QUANTILE,
            tolerance=TOLERANCE,
            null=NULL,
            method="montecarlo",
            n_resamples=self.permutations,
            rng=self.seed,
        )
        return {side: cast("SimulatedLaw", test_of(drawn, side).law) for side in SIDES}

    @lazy
    def permuted(self) -> dict[str, FloatArray]:
        """Recall and precision of the first of the simulated placements, (sequences, tolerances, thresholds)."""
        from nofluke.laws.montecarlo import Problem, hits_of, placements

        curve, sequences = self.curve, min(self.permutations, CURVES)
        blocks = placements(curve.n, curve.n_events, n_resamples=sequences, rng=self.seed)
        hits = hits_of(Problem.of(curve.trial), np.concatenate(list(blocks)))
        return {"recall": hits.recall / curve.n_events, "precision": hits.precision / curve.n_predictions}

    @lazy
    def lags(self) -> dict[int, Evaluation]:
        """The result after moving all predictions by so many days (negative: earlier); those moved out are lost."""
        alarms, found = self.scores >= np.quantile(self.scores, QUANTILE), {}
        for shift in LAGS:
            moved = np.zeros_like(alarms)
            at = np.flatnonzero(alarms) + shift
            moved[at[(at >= 0) & (at < len(alarms))]] = True
            found[shift] = evaluate(self.quakes.truth, predictions=moved, tolerance=TOLERANCE, null=NULL)
        return found

    @lazy
    def familywise(self) -> FamilywiseTest:
        """The test of the whole sweep."""
        return self.curve.familywise(n_resamples=self.permutations, rng=self.seed)

    @lazy
    def clustering(self) -> tuple[Clustering, ...]:
        """Whether events follow one another more often than by chance: placements at random."""
        from nofluke.laws.montecarlo import p_value, placements

        events, found = np.flatnonzero(self.quakes.truth), []
        blocks = placements(len(self.quakes.truth), len(events), n_resamples=self.permutations, rng=self.seed)
        apart = np.concatenate([np.diff(block.astype(np.int64), axis=1) for block in blocks])
        for days in NEARBY:
            pairs, drawn = int((np.diff(events) <= days).sum()), (apart <= days).sum(axis=1)
            pvalue = float(p_value(int((drawn >= pairs).sum()), self.permutations))
            found.append(Clustering(days=days, pairs=pairs, expected=float(drawn.mean()), pvalue=pvalue))
        return tuple(found)

    @lazy
    def noise(self) -> tuple[Evaluation, ...]:
        """For each tolerance, a score that knows nothing, judged as the detector is: one random number a day."""
        score = np.random.default_rng([self.seed, len(TOLERANCES)]).random(len(self.scores))  # a stream of its own
        return tuple(
            evaluate(self.quakes.truth, score, quantile=QUANTILE, tolerance=delta, null=NULL) for delta in TOLERANCES
        )

    @property
    def cell(self) -> Cell:
        """That of section 3.2."""
        return self.curve.trial.cell(THE_TOLERANCE, THE_QUANTILE)

    @lazy
    def donges(self) -> dict[str, Law]:
        """By measure, the binomial of Donges et al. (2016), for events and predictions that fall independently."""
        return donges(self.cell)

    @lazy
    def fit(self) -> GevFit:
        """The extreme value distribution of a stationary score."""
        return Stationary().fit(self.cell)

    @lazy
    def extreme(self) -> TableLaw:
        """The binomial of Scharwächter and Müller (2020a) behind that fit, for recall: there is none for precision."""
        return binomial(self.cell.n_events, self.fit.success)

    @lazy
    def scattered(self) -> dict[str, IntArray]:
        """By measure, how often each number of hits came where events and predictions were both placed at random.

        Both sides fall on random steps, as two independent Bernoulli processes do, given their numbers.
        """
        from nofluke.laws.montecarlo import placements

        n, events, alarms = self.cell.n_steps, self.cell.n_events, self.cell.n_predictions
        counts = {"precision": np.zeros(alarms + 1, dtype=np.int64), "recall": np.zeros(events + 1, dtype=np.int64)}
        # two streams of their own: those of the seed itself place the events of the other figures
        sides = [
            placements(n, size, n_resamples=self.permutations, rng=np.random.default_rng([self.seed, i]))
            for i, size in enumerate((events, alarms), 1)
        ]
        for events_at, alarms_at in zip(*sides, strict=True):
            for measure, at, others in (("precision", alarms_at, events_at), ("recall", events_at, alarms_at)):
                hits = np.take_along_axis(_near(others, n), at.astype(np.int64), axis=1).sum(axis=1)
                counts[measure] += np.bincount(hits, minlength=len(counts[measure]))
        return counts

    @property
    def matrices(self) -> tuple[Confusion, Confusion]:
        """Tables 1 and 2, which are there wherever steps are counted."""
        return cast("tuple[Confusion, Confusion]", (self.result.tolerant_truth, self.result.tolerant_predictions))

    @lazy
    def perfect(self) -> tuple[Confusion, Confusion]:
        """Both tables of a detector that predicts the events and nothing else."""
        truth = self.quakes.truth
        result = evaluate(truth, predictions=truth, tolerance=TOLERANCE, null=NULL)
        return cast("tuple[Confusion, Confusion]", (result.tolerant_truth, result.tolerant_predictions))

    @lazy
    def counted(self) -> tuple[Counted, Counted]:
        """What a count of every step finds, in the data and in short random sequences."""
        return count(self.quakes.truth, self.scores, self.curve), count_short(self.seed)

    @property
    def note(self) -> str:
        """What each figure says of the data."""
        return "simulated data" if self.quakes.simulated else ""

    def measure(self, side: str) -> FloatArray:
        """Observed recall or precision of every cell."""
        return np.asarray(getattr(self.curve, side))

    def trials(self, side: str) -> IntArray:
        """What the hits of each threshold are counted from: the events, or the predictions."""
        curve = self.curve
        return curve.n_predictions if side == "precision" else np.full(len(curve.thresholds), curve.n_events)

    def chance(self, side: str, name: str = "mean") -> FloatArray:
        """Exact mean (or low, high) of chance's recall or precision in every cell."""
        return np.asarray(getattr(getattr(self.curve.chance, side), name) / self.trials(side))

    def gap(self, side: str, reading: Reading = "absolute") -> FloatArray:
        """How far observed and chance are apart, in every cell.

        Their difference, their ratio, or the difference in chance's standard deviations; NaN where the divisor is 0.
        """
        observed, chance = self.measure(side), self.chance(side)
        if reading == "absolute":
            return observed - chance
        if reading == "relative":
            return _divided(observed, chance, chance > 0)
        cells = getattr(self.curve.chance, side)
        return _divided((observed - chance) * self.trials(side), cells.std, cells.std > 1e-6)

    def explained(self, side: str) -> FloatArray:
        """The share of the observed measure that chance alone explains, in every cell; NaN where nothing was hit."""
        observed = self.measure(side)
        return _divided(self.chance(side), observed, observed > 0)

    def dispersion(self, side: str) -> FloatArray:
        """Exact variance of chance's hits over that of a binomial with the same mean; NaN where hits cannot vary."""
        cells, trials = getattr(self.curve.chance, side), self.trials(side)
        share = cells.mean / trials
        independent = trials * share * (1 - share)
        # where everything is hit for sure, rounding leaves a variance of 1e-14 to divide by
        return _divided(cells.std**2, independent, independent > 1e-9)

    def fitted_binomial(self, side: str) -> TableLaw:
        """The binomial with the success probability estimated from the simulations, as in the paper's Figure 4."""
        counts = self.simulated[side].counts
        hits = np.arange(len(counts))
        return binomial(len(hits) - 1, float(hits @ counts) / (counts.sum() * (len(hits) - 1)))


# ---- the paper's definitions, counted step by step. Nothing here is shared with the code that it checks

SEQUENCES = 100  # short random ones beside the paper's: borders are near, and events or predictions may be missing
LONGEST = 12
OUT_OF_REACH = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What a count of every step found, in all cells of one sweep or several; a sum of such counts is one.

    Attributes
    ----------
    cells : int
        Tolerances times thresholds.
    terms : int
        Summands compared in each equation.
    terms_differ : (int, int)
        Summands of equations 2 and 3 that are not what the definition says of their step.
    sums_differ : (int, int)
        Cells in which the sum of equation 2 or 3 is not the hits of the sweep.
    not_in_one : int
        Steps that belong to none or to several of the four cells of a matrix.
    matrices_differ : int
        Matrices with an entry that is not the one of the sweep, or that do not add up to all steps.
    """

    cells: int = 0
    terms: int = 0
    terms_differ: tuple[int, int] = (0, 0)
    sums_differ: tuple[int, int] = (0, 0)
    not_in_one: int = 0
    matrices_differ: int = 0

    def __add__(self, other: Counted) -> Counted:
        return Counted(
            cells=self.cells + other.cells,
            terms=self.terms + other.terms,
            terms_differ=_sum(self.terms_differ, other.terms_differ),
            sums_differ=_sum(self.sums_differ, other.sums_differ),
            not_in_one=self.not_in_one + other.not_in_one,
            matrices_differ=self.matrices_differ + other.matrices_differ,
        )


def count(truth: BoolArray, scores: FloatArray, curve: Sweep) -> Counted:
    """Count every cell of a sweep: both equations summand by summand, all four entries of both matrices."""
    return sum(_cells(truth, scores, curve), Counted())


def count_short(seed: int) -> Counted:
    """The same for short random sequences, scores of few values, and thresholds from below all of them to above."""
    rng = np.random.default_rng([seed, SEQUENCES])
    found = Counted()
    for _ in range(SEQUENCES):
        n = int(rng.integers(1, LONGEST + 1))
        truth, scores = rng.random(n) < 0.3, rng.integers(0, 3, n).astype(np.float64)
        curve = sweep(truth, scores, thresholds=(0.0, 1.0, 2.0, 3.0), tolerances=TOLERANCES, null=NULL)
        found += count(truth, scores, curve)
    return found


def _cells(truth: BoolArray, scores: FloatArray, curve: Sweep) -> Iterator[Counted]:
    n, from_event = len(truth), distances(np.flatnonzero(truth), len(truth))
    for k, threshold in enumerate(curve.thresholds):
        alarms = scores >= threshold
        from_alarm = distances(np.flatnonzero(alarms), n)
        for d, delta in enumerate(TOLERANCES):
            precision = (windowed(truth, delta) > 0) * alarms  # summands of the formulas
            recall = truth * (windowed(alarms, delta) > 0)
            defined = alarms & (from_event <= delta), truth & (from_alarm <= delta)
            # each side of a table is asked for by itself: no condition is another's negation
            entries = (
                _four(scores >= threshold, scores < threshold, from_event <= delta, from_event > delta),
                _four(from_alarm <= delta, from_alarm > delta, truth == 1, truth == 0),
            )
            matrices = zip(entries, _matrices(curve, d, k), strict=True)
            yield Counted(
                cells=1,
                terms=n,
                terms_differ=(int((precision != defined[0]).sum()), int((recall != defined[1]).sum())),
                sums_differ=(
                    int(precision.sum() != curve.precision_hits[d, k]),
                    int(recall.sum() != curve.recall_hits[d, k]),
                ),
                not_in_one=sum(int((four.sum(axis=0) != 1).sum()) for four in entries),
                matrices_differ=sum(
                    matrix is None
                    or four.sum() != n
                    or four.sum(axis=1).tolist() != [matrix.tp, matrix.fp, matrix.fn, matrix.tn]
                    for four, matrix in matrices
                ),
            )


def distances(at: IntArray, n: int) -> IntArray:
    """The distance of each of n steps from the nearest of those, by looking at all of them.

    >>> distances(np.array([0, 4]), 6)
    array([0, 1, 2, 1, 0, 1], dtype=int32)
    """
    steps = np.arange(n, dtype=np.int32)
    return np.asarray(np.abs(steps[:, None] - at.astype(np.int32)).min(axis=1, initial=OUT_OF_REACH))


def windowed(flags: BoolArray, delta: int) -> IntArray:
    """The inner sum of equations 2 and 3, from t−δ to t+δ for each t, with zeros beyond the ends.

    >>> windowed(np.array([True, False, False, True]), 1)
    array([1, 1, 1, 1])
    """
    padded = np.pad(flags.astype(np.int64), delta)
    return np.asarray(sum(padded[i : i + len(flags)] for i in range(2 * delta + 1)))


def _matrices(curve: Sweep, d: int, k: int) -> tuple[Confusion | None, Confusion | None]:
    """The matrices of the sweep; None where its hits are more than a matrix can hold."""
    try:
        return curve.matrices(d, k)
    except InputError:
        return None, None


def _four(predicted: BoolArray, silent: BoolArray, actual: BoolArray, calm: BoolArray) -> IntArray:
    """For each step, whether it is TP, FP, FN, TN: four rows."""
    return np.array([predicted & actual, predicted & calm, silent & actual, silent & calm])


def _sum(first: tuple[int, int], second: tuple[int, int]) -> tuple[int, int]:
    return first[0] + second[0], first[1] + second[1]


# ---- the study


def run_study(*, simulated: bool, seed: int, permutations: int) -> Study:
    """Compute the study on the paper's data, or on simulated data shaped like it.

    Parameters
    ----------
    simulated : bool
        Take ``simulate_quakes(rng=seed)`` instead of the paper's data.
    seed : int
        Of the permutations (and of the simulated data).
    permutations : int
        Random placements for Figure 4 and the familywise test; the first 100 of them are drawn in Figure 3.
    """
    quakes = simulate_quakes(rng=seed) if simulated else load_earthquakes()
    scores = energy_transient(quakes.counts)
    curve = sweep(quakes.truth, scores, quantiles=QUANTILES, tolerances=TOLERANCES, null=NULL)
    return Study(quakes=quakes, scores=scores, seed=seed, permutations=permutations, curve=curve)


def _near(at: IntArray, n: int) -> BoolArray:
    """For each row of positions, which of n steps are within δ = 2 of one."""
    near = np.zeros((len(at), n + 2 * TOLERANCE), dtype=bool)
    for shift in range(2 * TOLERANCE + 1):
        np.put_along_axis(near, at.astype(np.int64) + shift, True, axis=1)
    return near[:, TOLERANCE : TOLERANCE + n]


def _divided(above: FloatArray, below: FloatArray, where: BoolArray) -> FloatArray:
    """A ratio in every cell, NaN elsewhere."""
    return np.asarray(np.divide(above, below, out=np.full(above.shape, np.nan), where=where))


def by_tolerance(values: Any, form: Callable[[Any], str] = lambda v: show_share(float(v))) -> str:
    """One number for each tolerance: "0.035, 0.062, 0.086, 0.064"."""
    return ", ".join(form(value) for value in values)


DELTAS = f"δ = {', '.join(map(str, TOLERANCES[:-1]))} and {TOLERANCES[-1]}"
