"""The statements of the paper, each with the computation that decides it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import cast

import numpy as np

from nofluke.arrays import BoolArray, FloatArray, IntArray
from nofluke.errors import InputError
from nofluke.inference.evaluate import evaluate
from nofluke.inference.sweep import Sweep, sweep
from nofluke.laws.tables import Hypergeometric, binomial
from nofluke.measures.confusion import MEASURES, Confusion
from nofluke.reproduce.claim import Claim, Outcome, outcome_of
from nofluke.reproduce.study import (
    DELTAS,
    NULL,
    QUANTILES,
    READINGS,
    SIDES,
    THE_QUANTILE,
    THE_TOLERANCE,
    TOLERANCE,
    TOLERANCES,
    Reading,
    Study,
    by_tolerance,
)
from nofluke.text.numbers import show_p
from nofluke.text.tables import show_share

# ---- what is said about chance

UPPER = slice(25, None)  # thresholds from the median of the score on
LOWER = slice(None, 25)


def not_clustered(study: Study) -> Claim:
    """The assumption of the permutation null."""
    share = study.quakes.truth.mean()
    found = "; ".join(
        f"{c.pairs} pairs of successive events lie within {c.days} days, chance gives {c.expected:.1f} (p = {show_p(c.pvalue)})"
        for c in study.clustering
    )
    return Claim(
        key="not-clustered",
        section="3",
        statement="Ground-truth anomalies occur rarely and are not clustered, so a Bernoulli process describes them.",
        outcome=outcome_of(study.clustering[0].pvalue > 0.05),
        finding=f"{share:.1%} of the days have an event; {found}. Decided at two days, the tolerance of section 3.2, "
        "at the .05 level: no sign of clusters is not proof that there are none.",
        decided_by="Figure 1",
    )


def above_chance(study: Study) -> Claim:
    """Observed against chance, cell by cell."""
    above = {side: study.gap(side) > 1e-12 for side in SIDES}
    most = all(cells.mean() > 0.5 and cells[:, UPPER].mean() > cells[:, LOWER].mean() for cells in above.values())
    found = "; ".join(
        f"{side} in {cells.sum()} of {cells.size} cells ({cells[:, LOWER].sum()} of {cells[:, LOWER].size} below the "
        f"median threshold, {cells[:, UPPER].sum()} of {cells[:, UPPER].size} from there on)"
        for side, cells in above.items()
    )
    return Claim(
        key="above-chance",
        section="3.1",
        statement="Observed values are generally higher than on permuted sequences, especially at larger thresholds.",
        outcome=outcome_of(most),
        finding=f"The observed value exceeds chance's exact mean: {found}.",
        decided_by="Figure 3",
    )


_GAPS: dict[Reading, str] = {
    "absolute": "Observed minus chance",
    "relative": "Observed over chance",
    "standardised": "Observed minus chance, in standard deviations of chance",
}


def gap_shrinks(study: Study, side: str, reading: Reading) -> Claim:
    """Observed against chance by tolerance: their difference, their ratio, or the difference in standard deviations."""
    gap = study.gap(side, reading)
    mean, upper = np.nanmean(gap, axis=1), np.nanmean(gap[:, UPPER], axis=1)
    change = gap[-1] - gap[0]
    shrinks, grows = (change < -1e-12), (change > 1e-12)
    where = f" ({_stretches(grows)})" if grows.any() else ""
    form = show_share if reading == "absolute" else "{:.2f}".format
    whole, half, at = (by_tolerance(values, lambda v: form(float(v))) for values in (mean, upper, gap[:, THE_QUANTILE]))
    return Claim(
        key=f"gap-{side}" if reading == "absolute" else f"gap-{side}-{reading}",
        section="3.1",
        statement=f"As δ grows, the gap between observed and simulated {side} tends to shrink ({reading} reading).",
        outcome=outcome_of(mean[-1] < mean[0]),
        finding=f"{_GAPS[reading]}, for {DELTAS}: {whole} on average over the thresholds, of which first and last "
        f"decide; {half} from the median threshold on; {at} at the .9-quantile. From δ = {TOLERANCES[0]} to "
        f"{TOLERANCES[-1]} it shrinks at {shrinks.sum()} of {gap.shape[1]} thresholds and grows at {grows.sum()}{where}."
        + ("" if (np.diff(mean) < 0).all() else " The average does not fall at every step.")
        + (" So it depends on the thresholds." if min(shrinks.sum(), grows.sum()) > 5 else ""),
        decided_by="Figure 3",
    )


def _stretches(chosen: BoolArray) -> str:
    """Quantiles as stretches of neighbours: "0.02, 0.88 to 0.98"."""
    ends = np.flatnonzero(np.diff(chosen, prepend=False, append=False)).reshape(-1, 2)
    return ", ".join(
        f"{QUANTILES[first]:g}" + (f" to {QUANTILES[stop - 1]:g}" if stop - first > 1 else "") for first, stop in ends
    )


def overstated(study: Study) -> Claim:
    """The share that chance explains, by tolerance."""
    share = {side: study.explained(side)[:, THE_QUANTILE] for side in SIDES}
    mean = {side: np.nanmean(study.explained(side), axis=1) for side in SIDES}
    rises = all((np.diff(values) > 0).all() for values in (*share.values(), *mean.values()))
    found = "; ".join(
        f"{side} {by_tolerance(share[side])} at the .9-quantile, {by_tolerance(mean[side])} on average"
        for side in SIDES
    )
    return Claim(
        key="overstated",
        section="3.1",
        statement="With a high tolerance, precision and recall may not reflect the actual performance of the detector.",
        outcome=outcome_of(rises),
        finding=f"The share of the measure that chance alone explains grows with δ ({DELTAS}): {found}."
        if rises
        else f"The share of the measure that chance explains does not grow throughout ({DELTAS}): {found}.",
        decided_by="Figure 7",
    )


def worst_case(study: Study) -> Claim:
    """A score that is independent of the events, at the widest tolerance."""
    noise, detector = study.noise[-1], study.result
    tests = noise.recall_test, noise.precision_test
    found = "; ".join(
        f"{t.measure} {show_share(t.value)} (chance: {show_share(t.expected / t.of)}), p = {show_p(t.pvalue)}"
        for t in tests
    )
    return Claim(
        key="worst-case",
        section="3.1",
        statement="In the worst case, a score seems to detect anomalies that are statistically independent of it.",
        outcome=outcome_of(noise.recall > detector.recall and min(t.pvalue for t in tests) > 0.05),
        finding=f"A score of random numbers, one a day, has at its .9-quantile and δ = {TOLERANCES[-1]}: {found}. Its recall is "
        f"{'above' if noise.recall > detector.recall else 'not above'} that of the detector at δ = {TOLERANCE}, "
        f"{show_share(detector.recall)}; its F1 is {show_share(noise.f1)}, the detector's {show_share(detector.f1)}. The p-values "
        f"{'give it away' if min(t.pvalue for t in tests) > 0.05 else 'are small by luck'}.",
        decided_by="Table 3",
    )


def section_numbers(study: Study, side: str, hits: int, value: str) -> Claim:
    """The hits of section 3.2."""
    test = getattr(study.result, f"{side}_test")
    name = {"recall": "PAδ-AA", "precision": "PA-AAδ"}[side]
    cut = f".{math.floor(100 * test.value):02d}"  # the paper cuts: 145/256 is .5664
    found = f"{test.hits} of {test.of:,}, which is {test.value:.4f}"
    if study.quakes.simulated:
        outcome: Outcome = "cannot be checked"
        found += "; these are simulated data, not the paper's"
    else:
        outcome = outcome_of(test.hits == hits and cut == value)
        found += f"; the paper prints {value}, cut after two digits" if round(test.value, 2) != float(value) else ""
    return Claim(
        key=f"numbers-{side}",
        section="3.2",
        statement=f"At δ = 2 and the .9-quantile, {name} = {hits} ({side} {value}).",
        outcome=outcome,
        finding=found + ".",
        decided_by="Table 2" if side == "recall" else "Table 1",
    )


def significant(study: Study) -> Claim:
    """The p-values of section 3.2."""
    tests = (study.result.recall_test, study.result.precision_test)
    reached = [int(study.simulated(t.measure).counts[t.hits :].sum()) for t in tests]
    found = "; ".join(
        f"{t.measure}: {b} of {study.permutations:,} permutations reach {t.hits} hits, the exact p is {show_p(t.pvalue)}"
        for t, b in zip(tests, reached, strict=True)
    )
    return Claim(
        key="significant",
        section="3.2",
        statement="No permutation reaches the observed hits, so p < .0001 for both measures.",
        outcome=outcome_of(not any(reached) and all(t.pvalue < 1e-4 for t in tests)),
        finding=found + ".",
        decided_by="Figure 4",
    )


# ---- all others


# ---- statements of sections 2.3 and 3.2 on the shape of the null distributions: binomial, overdispersed


PAPERS_PERMUTATIONS = 10_000
MEDIAN = len(QUANTILES) // 2  # position of the .5-quantile


def unseen(simulations: int) -> float:
    """The largest distance of two distribution functions that so many simulations leave unseen, at the .05 level."""
    return 1.358 / math.sqrt(simulations)


def distance(table: FloatArray, other: FloatArray) -> float:
    """The largest distance between two distribution functions, from their probabilities."""
    return float(np.abs(np.cumsum(table) - np.cumsum(other)).max())


def _from_binomial(table: FloatArray) -> float:
    """The distance of a law from the binomial with the same mean."""
    size = len(table) - 1
    return distance(table, binomial(size, min(float(np.arange(size + 1) @ table) / size, 1.0)).table)


def bernoulli_binomial(study: Study) -> Claim:
    """The binomials of Donges et al., where their assumption holds, and on these data."""
    book = study.literature
    shares = {side: book.scattered[side] / book.scattered[side].sum() for side in SIDES}
    off = {side: _from_binomial(shares[side]) for side in SIDES}
    least = unseen(study.permutations)
    runs = int((np.diff(study.scores >= study.curve.thresholds[THE_QUANTILE], prepend=False, append=False)).sum()) // 2
    placed = {side: float(np.arange(len(shares[side])) @ shares[side]) for side in SIDES}
    here = "; ".join(
        f"{side} {book.donges[side].mean:.1f} (both placed at random: {placed[side]:.1f}; exact: {test.expected:.1f}), "
        f"p = {show_p(book.donges[side].upper(test.hits))} (exact: {show_p(test.pvalue)})"
        for side, test in ((side, getattr(study.result, f"{side}_test")) for side in SIDES)
    )
    return Claim(
        key="bernoulli-binomial",
        section="2.3",
        statement="If events and predictions are independent Bernoulli processes, both hits are binomial (Donges et al. 2016).",
        outcome=outcome_of(max(off.values()) < least),
        finding=f"With both sides placed at random {study.permutations:,} times, the distribution functions differ from binomial "
        f"ones with the same mean by {off['recall']:.4f} (recall) and {off['precision']:.4f} (precision); this many "
        f"simulations show differences from {least:.4f} on. The predictions of the detector come in {runs:,} runs "
        f"instead. Expected hits by the binomials of Donges et al.: {here}.",
        decided_by="Figure 4",
    )


def stationary_binomial(study: Study) -> Claim:
    """The success probability from extreme value theory, beside the exact one."""
    book, test = study.literature, study.result.recall_test
    exact = test.expected / test.of
    error = math.sqrt(exact * (1 - exact) / book.fit.n_blocks)
    return Claim(
        key="stationary-binomial",
        section="2.3",
        statement="For a stationary score PAδ-AA is binomial, and extreme value theory approximates its success probability.",
        outcome=outcome_of(abs(book.fit.success - exact) < 2 * error),
        finding=f"The fit to the maxima of {book.fit.n_blocks:,} blocks gives {show_share(book.fit.success)}, and a share of so "
        f"many has a standard error of {error:.3f}; exactly, {show_share(exact)} of the days are near a prediction. "
        f"p = {show_p(book.extreme.upper(test.hits))} (exact: {show_p(test.pvalue)}).",
        decided_by="Figure 4",
    )


def no_derivation(study: Study) -> Claim:
    """What was open, and is known now."""
    test = study.result.precision_test
    counts = study.simulated("precision").counts
    off = distance(counts / counts.sum(), test.law.table)
    least = 2.23 / math.sqrt(study.permutations)  # at the .0001 level
    return Claim(
        key="no-derivation",
        section="2.3",
        statement="There is no analogous derivation for PA-AAδ under strict stationarity, and its exact form is future work.",
        outcome=outcome_of(off >= least),
        finding="No longer so. Given the predictions, whatever process they come from, the law of PA-AAδ for permuted events "
        f"follows from a generating function ({test.law.method.name}): variance {test.law.var:.2f}, p = {show_p(test.pvalue)}. The "
        f"{study.permutations:,} permutations differ from it by {off:.4f}, and chance explains up to {least:.4f}."
        if off < least
        else f"The exact law differs from the {study.permutations:,} permutations by {off:.4f}, more than chance explains.",
        decided_by="Figure 4",
    )


def recall_binomial(study: Study) -> Claim:
    """Recall's null beside the binomial."""
    off, least = _from_binomial(study.result.recall_test.law.table), unseen(PAPERS_PERMUTATIONS)
    ratio = study.dispersion("recall")[THE_TOLERANCE, THE_QUANTILE]
    return Claim(
        key="recall-binomial",
        section="3.2",
        statement="The null distribution of recall's hits looks binomial.",
        outcome=outcome_of(off < least),
        finding=f"It is hypergeometric, with {ratio:.3f} times the binomial's variance. The distribution functions differ by "
        f"at most {off:.4f}; {PAPERS_PERMUTATIONS:,} simulations show differences from {least:.4f} on.",
        decided_by="Figure 4",
    )


def precision_overdispersed(study: Study) -> Claim:
    """Precision's null beside the binomial."""
    null = study.result.precision_test.law
    ratio = study.dispersion("precision")[THE_TOLERANCE, THE_QUANTILE]
    return Claim(
        key="precision-overdispersed",
        section="3.2",
        statement="The null distribution of precision's hits is overdispersed with respect to the binomial.",
        outcome=outcome_of(ratio > 1),
        finding=f"The exact variance is {null.var:.2f}, the binomial's {null.var / ratio:.2f}: {ratio:.2f} times as much. "
        f"The distribution functions differ by up to {_from_binomial(null.table):.3f}.",
        decided_by="Figure 4",
    )


def overdispersed_everywhere(study: Study) -> Claim:
    """Overdispersion in every cell."""
    over = study.dispersion("precision") > 1
    return Claim(
        key="overdispersed-everywhere",
        section="3.2",
        statement="Other thresholds and tolerances behave in the same way: precision's hits are overdispersed in every cell.",
        outcome=outcome_of(over.all()),
        finding=f"They are in {over.sum()} of {over.size} cells: {_by_row(over)}. Where most days are predicted, or δ is 0, "
        "the hits vary less than binomial ones. The authors do not say which cells they tried.",
        decided_by="Figure 5",
    )


def overdispersed_upper(study: Study) -> Claim:
    """Overdispersion where there is a tolerance and at most half of the days are predicted."""
    ratio = study.dispersion("precision")[1:, MEDIAN:]
    over = ratio > 1
    return Claim(
        key="overdispersed-upper",
        section="3.2",
        statement="The same for δ ≥ 1 and thresholds from the .5-quantile on: precision's hits are overdispersed.",
        outcome=outcome_of(over.all()),
        finding=f"They are in {over.sum()} of {over.size} cells, with {np.nanmin(ratio):.2f} to {np.nanmax(ratio):.2f} times "
        "the binomial's variance.",
        decided_by="Figure 5",
    )


def recall_binomial_everywhere(study: Study) -> Claim:
    """Recall's null beside the binomial, in every cell."""
    trial, least = study.curve.trial, unseen(PAPERS_PERMUTATIONS)
    laws = (Hypergeometric(trial.n_steps, int(d), trial.n_events, trial.n_events) for d in trial.near_predictions.flat)
    off = np.array([_from_binomial(law.table) for law in laws]).reshape(trial.near_predictions.shape)
    ratio = study.dispersion("recall")
    return Claim(
        key="recall-binomial-everywhere",
        section="3.2",
        statement="Other thresholds and tolerances behave in the same way: recall's hits look binomial in every cell.",
        outcome=outcome_of((off < least).all()),
        finding=f"The distribution functions differ by less than {least:.4f} in {(off < least).sum()} of {off.size} cells, by at most "
        f"{off.max():.4f}; for δ ≥ 1 and from the .5-quantile on by at most {off[1:, MEDIAN:].max():.4f}. The variance is "
        f"{np.nanmin(ratio):.3f} times the binomial's wherever hits can vary, so they are never overdispersed.",
        decided_by="Figure 5",
    )


def _by_row(over: BoolArray) -> str:
    """How many thresholds of each tolerance."""
    return ", ".join(
        f"{row.sum()} of {row.size} thresholds for δ = {t}"
        + (f" (from the quantile {QUANTILES[int(row.argmax())]:g} on)" if row.any() else "")
        for t, row in zip(TOLERANCES, over, strict=True)
    )


# ---- the paper's definitions, counted step by step. Nothing here is shared with the code that it checks

SEQUENCES = (
    100  # short random ones beside the paper's: there borders are near, and events or predictions may be missing
)
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
    return sum((cell for cell in _cells(truth, scores, curve)), Counted())


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


# ---- statements of section 2 about equations 2 and 3 and the two confusion matrices: counted step by step

_EQUATIONS = (
    (2, "precision", "a predicted anomaly with an actual anomaly"),
    (3, "recall", "an actual anomaly with a predicted anomaly"),
)


def equation(counted: tuple[Counted, Counted], i: int) -> Claim:
    """Equation 2 or 3, summand by summand."""
    number, side, hit = _EQUATIONS[i]
    long, short = counted
    whole = long + short
    holds = not whole.terms_differ[i] and not whole.sums_differ[i]
    found = (
        "Every summand agrees with the definition for its step, computed from distances instead of sums: "
        f"{long.terms:,} in {long.cells} cells, and {short.terms:,} in {SEQUENCES} short random sequences. "
        f"Their sums are the hits of {side} in all of these cells."
        if holds
        else f"{whole.terms_differ[i]:,} of {whole.terms:,} summands differ from the definition, and "
        f"{whole.sums_differ[i]:,} of {whole.cells:,} sums from the hits of {side}."
    )
    return Claim(
        key=f"equation-{number}",
        section="2.1",
        statement=f"Equation {number}: a true positive of {side} is {hit} within [t−δ, t+δ].",
        outcome=outcome_of(holds),
        finding=found,
        decided_by="Figure 2",
    )


def partition(counted: tuple[Counted, Counted]) -> Claim:
    """All four entries of both matrices, each counted by its own condition."""
    long, short = counted
    whole = long + short
    holds = not whole.not_in_one and not whole.matrices_differ
    return Claim(
        key="partition",
        section="2.2",
        statement="Both tolerant confusion matrices partition the observations.",
        outcome=outcome_of(holds),
        finding=f"With each of the four entries counted by its own condition and none by subtraction, every step falls into exactly one of them, and they add up to the number of steps: in {2 * long.cells} matrices of the data and {2 * short.cells:,} "
        "of short random sequences."
        if holds
        else f"{whole.not_in_one:,} steps fall into none or several of the four entries; {whole.matrices_differ:,} of "
        f"{2 * whole.cells:,} matrices have an entry that a count does not confirm, or do not add up.",
        decided_by="Tables 1 and 2",
    )


def from_tables(study: Study) -> Claim:
    """Precision and recall as ratios of entries."""
    first, second = study.matrices
    ratios = first.tp / first.predicted, second.tp / second.actual
    return Claim(
        key="measures-from-tables",
        section="2.2",
        statement="Precision is PA-AAδ of Table 1 over its row sum PA, recall PAδ-AA of Table 2 over its column sum AA.",
        outcome=outcome_of(ratios == (study.result.precision, study.result.recall)),
        finding=f"{first.tp:,} of {first.predicted:,} is {show_share(ratios[0])}, and {second.tp:,} of {second.actual:,} is "
        f"{show_share(ratios[1])}: the precision and recall of Figure 2.",
        decided_by="Tables 1 and 2",
    )


def perfect(study: Study) -> tuple[Confusion, Confusion]:
    """Both matrices of a detector that predicts the events and nothing else, at δ = 2."""
    truth = study.quakes.truth
    result = evaluate(truth, predictions=truth, tolerance=TOLERANCE, null=NULL)
    return cast("tuple[Confusion, Confusion]", (result.tolerant_truth, result.tolerant_predictions))


def entries_of_truth(study: Study, ideal: Confusion) -> Claim:
    """Table 1: what the entries of its widened side count, also for a perfect detector."""
    first, second = study.matrices
    return Claim(
        key="entries-truth",
        section="2.2",
        statement="Not all entries and marginals have straightforward interpretations (Table 1: PnA-AAδ, PnA-AnAδ, AAδ, AnAδ).",
        outcome=outcome_of(ideal.fn > 0 and first.actual != second.actual),
        finding=f"PnA-AAδ counts {first.fn:,} days without a prediction near an event, but {second.fn:,} events are missed; "
        f"with the events themselves as predictions none would be, and PnA-AAδ would be {ideal.fn:,}. AAδ counts "
        f"{first.actual:,} days, but there are {second.actual:,} events; PnA-AnAδ and AnAδ shrink as it grows.",
        decided_by="Table 1",
    )


def entries_of_predictions(study: Study, ideal: Confusion) -> Claim:
    """Table 2: what the entries of its widened side count, also for a perfect detector."""
    first, second = study.matrices
    return Claim(
        key="entries-predictions",
        section="2.2",
        statement="Not all entries and marginals have straightforward interpretations (Table 2: PAδ-AnA, PnAδ-AnA, PAδ, PnAδ).",
        outcome=outcome_of(ideal.fp > 0 and second.predicted != first.predicted),
        finding=f"PAδ-AnA counts {second.fp:,} days without an event near a prediction, but {first.fp:,} predictions are false "
        f"alarms; with the events themselves as predictions none would be, and PAδ-AnA would be {ideal.fp:,}. PAδ counts "
        f"{second.predicted:,} days, but there are {first.predicted:,} predictions; PnAδ-AnA and PnAδ shrink as it grows.",
        decided_by="Table 2",
    )


def uninformative(study: Study, ideal: tuple[Confusion, Confusion]) -> Claim:
    """Measures of which perfection falls short."""
    days, events = len(study.quakes.truth), study.curve.n_events
    ordinary = Confusion(tp=events, fp=0, fn=0, tn=days - events)
    names = [name for name in MEASURES if ordinary.measure(name) == 1]
    short = [{name: m.measure(name) for name in names if m.measure(name) < 1} for m in ideal]
    some = [
        ", ".join(f"{name} {show_share(values[name])}" for name in wanted if name in values)
        for values, wanted in zip(short, (("recall", "accuracy"), ("precision", "accuracy")), strict=True)
    ]
    return Claim(
        key="uninformative-measures",
        section="2.2",
        statement="Some of the measures usually computed from confusion matrices are therefore uninformative.",
        outcome=outcome_of(any(short)),
        finding=f"A detector that predicts the events and nothing else has 1 in {len(names)} usual measures without tolerance. "
        f"With δ = {TOLERANCE} it falls short in {len(short[0])} of them by Table 1 ({some[0]}) and in {len(short[1])} by Table 2 "
        f"({some[1]}).",
        decided_by="Tables 1 and 2",
    )


# ---- statements of sections 1 and 2.1: the data, and the measures by threshold and tolerance


def period(study: Study) -> Claim:
    """Which days the data are from."""
    days = len(study.quakes.counts)
    return Claim(
        key="period",
        section="1.1",
        statement="The data are daily tweets posted in Germany between 2010 and 2017.",
        outcome="cannot be checked",
        finding=f"The series has {days:,} days, which is the length of 2010 to 2016; "
        + ("it is simulated." if study.quakes.simulated else "the published files carry no dates."),
        decided_by="Figure 1",
    )


def low_thresholds(study: Study) -> Claim:
    """Recall against precision without tolerance."""
    recall, precision = study.curve.recall[0], study.curve.precision[0]
    enough = recall >= 0.8
    return Claim(
        key="low-thresholds",
        section="1.2",
        statement="Without tolerance, recall is acceptable only at low thresholds, where precision is unacceptably low.",
        outcome="cannot be checked",
        finding="The paper does not say what is acceptable. Where recall is at least 0.8, precision is at most "
        f"{show_share(float(precision[enough].max()))}; the best precision of all, {show_share(float(precision.max()))}, "
        f"comes with a recall of {show_share(float(recall[int(precision.argmax())]))}.",
        decided_by="Figure 2",
    )


def recall_falls(study: Study) -> Claim:
    """Recall by threshold."""
    rises = int((np.diff(study.curve.recall_hits, axis=1) > 0).sum())
    steps = study.curve.recall_hits[:, 1:].size
    return Claim(
        key="recall-falls",
        section="1.2",
        statement="Recall is a monotonically decreasing function of the threshold τ.",
        outcome=outcome_of(rises == 0),
        finding=f"From one threshold to the next recall rises {rises} times in {steps} steps (it may stay equal).",
        decided_by="Figure 2",
    )


def precision_not_monotone(study: Study) -> Claim:
    """Precision by threshold."""
    change = np.diff(study.curve.precision, axis=1)
    rises, falls = (change > 0).sum(axis=1), (change < 0).sum(axis=1)
    return Claim(
        key="precision-not-monotone",
        section="1.2",
        statement="Precision is a non-monotone function of the threshold τ.",
        outcome=outcome_of(((rises > 0) & (falls > 0)).all()),
        finding=f"For {DELTAS}, precision rises {by_tolerance(rises, str)} times and falls "
        f"{by_tolerance(falls, str)} times in {change.shape[1]} steps.",
        decided_by="Figure 2",
    )


def zero_is_classical(study: Study) -> Claim:
    """Equation 1, term by term, beside the sweep and both matrices at δ = 0."""
    truth, scores, curve = study.quakes.truth, study.scores, study.curve
    both = np.array([(truth & (scores >= threshold)).sum() for threshold in curve.thresholds])
    same = (curve.precision_hits[0] == both).all() and (curve.recall_hits[0] == both).all()
    matrices = [curve.matrices(0, k) for k in range(len(curve.thresholds))]
    same &= all(first == second for first, second in matrices)
    return Claim(
        key="zero-is-classical",
        section="2.1",
        statement="For δ = 0 the tolerant measures are equivalent to the classical ones.",
        outcome=outcome_of(same),
        finding=f"Hits equal those of equation 1 at all {len(both)} thresholds, and the two confusion matrices are the same."
        if same
        else "Hits or matrices differ from equation 1.",
        decided_by="Figure 2",
    )


def both_rise(study: Study) -> Claim:
    """Both measures by tolerance."""
    falls = {side: int((np.diff(getattr(study.curve, f"{side}_hits"), axis=0) < 0).sum()) for side in SIDES}
    at = {side: by_tolerance(study.measure(side)[:, THE_QUANTILE]) for side in SIDES}
    return Claim(
        key="both-rise",
        section="2.1",
        statement="The higher the tolerance δ, the higher both precision and recall.",
        outcome=outcome_of(not any(falls.values())),
        finding=f"Neither falls at any threshold as δ grows. At the .9-quantile, for {DELTAS}: "
        f"recall {at['recall']}; precision {at['precision']}."
        if not any(falls.values())
        else f"Recall falls in {falls['recall']} cells as δ grows, precision in {falls['precision']}.",
        decided_by="Figure 2",
    )


def vary(study: Study) -> Claim:
    """How far the measures range."""
    ends = {
        side: f"{show_share(float(study.measure(side).min()))} to {show_share(float(study.measure(side).max()))}"
        for side in SIDES
    }
    return Claim(
        key="vary",
        section="2.1",
        statement="Depending on threshold and tolerance, the reported values vary drastically.",
        outcome="cannot be checked",
        finding=f"What counts as drastic is up to the reader: recall ranges over {ends['recall']}, precision over {ends['precision']}.",
        decided_by="Figure 2",
    )


# ---- the paper's statements, each checked by a computation: it holds, it does not hold


def check_claims(study: Study) -> tuple[Claim, ...]:
    """All statements, in the paper's order."""
    counted = count(study.quakes.truth, study.scores, study.curve), count_short(study.seed)
    ideal = perfect(study)
    checks: tuple[Callable[[Study], Claim], ...] = (
        period,
        low_thresholds,
        recall_falls,
        precision_not_monotone,
        zero_is_classical,
        lambda _: equation(counted, 0),
        lambda _: equation(counted, 1),
        both_rise,
        vary,
        lambda _: partition(counted),
        from_tables,
        lambda s: entries_of_truth(s, ideal[0]),
        lambda s: entries_of_predictions(s, ideal[1]),
        lambda s: uninformative(s, ideal),
        bernoulli_binomial,
        stationary_binomial,
        no_derivation,
        not_clustered,
        above_chance,
        *(partial(gap_shrinks, side=side, reading=reading) for side in SIDES for reading in READINGS),
        overstated,
        worst_case,
        lambda s: section_numbers(s, "recall", 80, ".49"),
        lambda s: section_numbers(s, "precision", 145, ".56"),
        significant,
        recall_binomial,
        precision_overdispersed,
        overdispersed_everywhere,
        overdispersed_upper,
        recall_binomial_everywhere,
    )
    return tuple(check(study) for check in checks)
