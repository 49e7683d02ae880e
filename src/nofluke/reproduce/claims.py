"""The statements of the paper, each with the computation that decides it."""

from __future__ import annotations

import math

import numpy as np

from nofluke.arrays import BoolArray, FloatArray
from nofluke.laws.tables import Hypergeometric, binomial
from nofluke.measures.confusion import MEASURES, Confusion
from nofluke.reproduce.claim import OPEN, Claims, Found
from nofluke.reproduce.study import (
    DELTAS,
    QUANTILES,
    READINGS,
    SEQUENCES,
    SIDES,
    THE_QUANTILE,
    THE_TOLERANCE,
    TOLERANCE,
    TOLERANCES,
    Reading,
    Study,
    by_tolerance,
    test_of,
)
from nofluke.text.numbers import show_p
from nofluke.text.tables import show_share

PAPER: Claims[Study] = Claims()
UPPER = slice(25, None)  # thresholds from the median of the score on
LOWER = slice(None, 25)
PAPERS_PERMUTATIONS = 10_000
MEDIAN = len(QUANTILES) // 2  # position of the .5-quantile


# ---- section 1: the data, and the measures by threshold


@PAPER.said("1.1", "Figure 1")
def period(study: Study) -> Found:
    """The data are daily tweets posted in Germany between 2010 and 2017."""
    days = len(study.quakes.counts)
    return OPEN, (
        f"The series has {days:,} days, which is the length of 2010 to 2016; "
        + ("it is simulated." if study.quakes.simulated else "the published files carry no dates.")
    )


@PAPER.said("1.2", "Figure 2")
def low_thresholds(study: Study) -> Found:
    """Without tolerance, recall is acceptable only at low thresholds, where precision is unacceptably low."""
    recall, precision = study.curve.recall[0], study.curve.precision[0]
    enough = recall >= 0.8
    return OPEN, (
        "The paper does not say what is acceptable. Where recall is at least 0.8, precision is at most "
        f"{show_share(float(precision[enough].max()))}; the best precision of all, {show_share(float(precision.max()))}, "
        f"comes with a recall of {show_share(float(recall[int(precision.argmax())]))}."
    )


@PAPER.said("1.2", "Figure 2")
def recall_falls(study: Study) -> Found:
    """Recall is a monotonically decreasing function of the threshold τ."""
    rises = int((np.diff(study.curve.recall_hits, axis=1) > 0).sum())
    steps = study.curve.recall_hits[:, 1:].size
    return (
        rises == 0,
        f"From one threshold to the next recall rises {rises} times in {steps} steps (it may stay equal).",
    )


@PAPER.said("1.2", "Figure 2")
def precision_not_monotone(study: Study) -> Found:
    """Precision is a non-monotone function of the threshold τ."""
    change = np.diff(study.curve.precision, axis=1)
    rises, falls = (change > 0).sum(axis=1), (change < 0).sum(axis=1)
    return ((rises > 0) & (falls > 0)).all(), (
        f"For {DELTAS}, precision rises {by_tolerance(rises, str)} times and falls "
        f"{by_tolerance(falls, str)} times in {change.shape[1]} steps."
    )


# ---- section 2.1: equations 2 and 3, counted step by step


@PAPER.said("2.1", "Figure 2")
def zero_is_classical(study: Study) -> Found:
    """For δ = 0 the tolerant measures are equivalent to the classical ones."""
    truth, scores, curve = study.quakes.truth, study.scores, study.curve
    both = np.array([(truth & (scores >= threshold)).sum() for threshold in curve.thresholds])
    same = (curve.precision_hits[0] == both).all() and (curve.recall_hits[0] == both).all()
    matrices = [curve.matrices(0, k) for k in range(len(curve.thresholds))]
    same &= all(first == second for first, second in matrices)
    return same, (
        f"Hits equal those of equation 1 at all {len(both)} thresholds, and the two confusion matrices are the same."
        if same
        else "Hits or matrices differ from equation 1."
    )


@PAPER.said(
    "2.1",
    "Figure 2",
    each={
        "equation-2": {"number": 2, "side": "precision", "hit": "a predicted anomaly with an actual anomaly"},
        "equation-3": {"number": 3, "side": "recall", "hit": "an actual anomaly with a predicted anomaly"},
    },
)
def equation(study: Study, number: int, side: str, **_words: str) -> Found:
    """Equation {number}: a true positive of {side} is {hit} within [t−δ, t+δ]."""
    (long, short), i = study.counted, number - 2
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
    return holds, found


@PAPER.said("2.1", "Figure 2")
def both_rise(study: Study) -> Found:
    """The higher the tolerance δ, the higher both precision and recall."""
    falls = {side: int((np.diff(getattr(study.curve, f"{side}_hits"), axis=0) < 0).sum()) for side in SIDES}
    at = {side: by_tolerance(study.measure(side)[:, THE_QUANTILE]) for side in SIDES}
    return not any(falls.values()), (
        f"Neither falls at any threshold as δ grows. At the .9-quantile, for {DELTAS}: "
        f"recall {at['recall']}; precision {at['precision']}."
        if not any(falls.values())
        else f"Recall falls in {falls['recall']} cells as δ grows, precision in {falls['precision']}."
    )


@PAPER.said("2.1", "Figure 2")
def vary(study: Study) -> Found:
    """Depending on threshold and tolerance, the reported values vary drastically."""
    ends = {
        side: f"{show_share(float(study.measure(side).min()))} to {show_share(float(study.measure(side).max()))}"
        for side in SIDES
    }
    return (
        OPEN,
        f"What counts as drastic is up to the reader: recall ranges over {ends['recall']}, precision over {ends['precision']}.",
    )


# ---- section 2.2: the two confusion matrices


@PAPER.said("2.2", "Tables 1 and 2")
def partition(study: Study) -> Found:
    """Both tolerant confusion matrices partition the observations."""
    long, short = study.counted
    whole = long + short
    holds = not whole.not_in_one and not whole.matrices_differ
    return holds, (
        f"With each of the four entries counted by its own condition and none by subtraction, every step falls into exactly one of them, and they add up to the number of steps: in {2 * long.cells} matrices of the data and {2 * short.cells:,} "
        "of short random sequences."
        if holds
        else f"{whole.not_in_one:,} steps fall into none or several of the four entries; {whole.matrices_differ:,} of "
        f"{2 * whole.cells:,} matrices have an entry that a count does not confirm, or do not add up."
    )


@PAPER.said("2.2", "Tables 1 and 2")
def measures_from_tables(study: Study) -> Found:
    """Precision is PA-AAδ of Table 1 over its row sum PA, recall PAδ-AA of Table 2 over its column sum AA."""
    first, second = study.matrices
    ratios = first.tp / first.predicted, second.tp / second.actual
    return ratios == (study.result.precision, study.result.recall), (
        f"{first.tp:,} of {first.predicted:,} is {show_share(ratios[0])}, and {second.tp:,} of {second.actual:,} is "
        f"{show_share(ratios[1])}: the precision and recall of Figure 2."
    )


@PAPER.said("2.2", "Table 1")
def entries_truth(study: Study) -> Found:
    """Not all entries and marginals have straightforward interpretations (Table 1: PnA-AAδ, PnA-AnAδ, AAδ, AnAδ)."""
    (first, second), (ideal, _) = study.matrices, study.perfect
    return ideal.fn > 0 and first.actual != second.actual, (
        f"PnA-AAδ counts {first.fn:,} days without a prediction near an event, but {second.fn:,} events are missed; "
        f"with the events themselves as predictions none would be, and PnA-AAδ would be {ideal.fn:,}. AAδ counts "
        f"{first.actual:,} days, but there are {second.actual:,} events; PnA-AnAδ and AnAδ shrink as it grows."
    )


@PAPER.said("2.2", "Table 2")
def entries_predictions(study: Study) -> Found:
    """Not all entries and marginals have straightforward interpretations (Table 2: PAδ-AnA, PnAδ-AnA, PAδ, PnAδ)."""
    (first, second), (_, ideal) = study.matrices, study.perfect
    return ideal.fp > 0 and second.predicted != first.predicted, (
        f"PAδ-AnA counts {second.fp:,} days without an event near a prediction, but {first.fp:,} predictions are false "
        f"alarms; with the events themselves as predictions none would be, and PAδ-AnA would be {ideal.fp:,}. PAδ counts "
        f"{second.predicted:,} days, but there are {first.predicted:,} predictions; PnAδ-AnA and PnAδ shrink as it grows."
    )


@PAPER.said("2.2", "Tables 1 and 2")
def uninformative_measures(study: Study) -> Found:
    """Some of the measures usually computed from confusion matrices are therefore uninformative."""
    days, events = len(study.quakes.truth), study.curve.n_events
    ordinary = Confusion(tp=events, fp=0, fn=0, tn=days - events)
    names = [name for name in MEASURES if ordinary.measure(name) == 1]
    short = [{name: m.measure(name) for name in names if m.measure(name) < 1} for m in study.perfect]
    some = [
        ", ".join(f"{name} {show_share(values[name])}" for name in wanted if name in values)
        for values, wanted in zip(short, (("recall", "accuracy"), ("precision", "accuracy")), strict=True)
    ]
    return any(short), (
        f"A detector that predicts the events and nothing else has 1 in {len(names)} usual measures without tolerance. "
        f"With δ = {TOLERANCE} it falls short in {len(short[0])} of them by Table 1 ({some[0]}) and in {len(short[1])} by Table 2 "
        f"({some[1]})."
    )


# ---- section 2.3: what the literature takes the null distributions for


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


@PAPER.said("2.3", "Figure 4")
def bernoulli_binomial(study: Study) -> Found:
    """If events and predictions are independent Bernoulli processes, both hits are binomial (Donges et al. 2016)."""
    shares = {side: study.scattered[side] / study.scattered[side].sum() for side in SIDES}
    off = {side: _from_binomial(shares[side]) for side in SIDES}
    least = unseen(study.permutations)
    runs = int((np.diff(study.scores >= study.curve.thresholds[THE_QUANTILE], prepend=False, append=False)).sum()) // 2
    placed = {side: float(np.arange(len(shares[side])) @ shares[side]) for side in SIDES}
    here = "; ".join(
        f"{side} {study.donges[side].mean:.1f} (both placed at random: {placed[side]:.1f}; exact: {test.expected:.1f}), "
        f"p = {show_p(study.donges[side].upper(test.hits))} (exact: {show_p(test.pvalue)})"
        for side, test in ((side, test_of(study.result, side)) for side in SIDES)
    )
    return max(off.values()) < least, (
        f"With both sides placed at random {study.permutations:,} times, the distribution functions differ from binomial "
        f"ones with the same mean by {off['recall']:.4f} (recall) and {off['precision']:.4f} (precision); this many "
        f"simulations show differences from {least:.4f} on. The predictions of the detector come in {runs:,} runs "
        f"instead. Expected hits by the binomials of Donges et al.: {here}."
    )


@PAPER.said("2.3", "Figure 4")
def stationary_binomial(study: Study) -> Found:
    """For a stationary score PAδ-AA is binomial, and extreme value theory approximates its success probability."""
    fit, test = study.fit, study.result.recall_test
    exact = test.expected / test.of
    error = math.sqrt(exact * (1 - exact) / fit.n_blocks)
    return abs(fit.success - exact) < 2 * error, (
        f"The fit to the maxima of {fit.n_blocks:,} blocks gives {show_share(fit.success)}, and a share of so "
        f"many has a standard error of {error:.3f}; exactly, {show_share(exact)} of the days are near a prediction. "
        f"p = {show_p(study.extreme.upper(test.hits))} (exact: {show_p(test.pvalue)})."
    )


@PAPER.said("2.3", "Figure 4")
def no_derivation(study: Study) -> Found:
    """There is no analogous derivation for PA-AAδ under strict stationarity, and its exact form is future work."""
    test = study.result.precision_test
    counts = study.simulated["precision"].counts
    off = distance(counts / counts.sum(), test.law.table)
    least = 2.23 / math.sqrt(study.permutations)  # at the .0001 level
    return off >= least, (
        "No longer so. Given the predictions, whatever process they come from, the law of PA-AAδ for permuted events "
        f"follows from a generating function ({test.law.method.name}): variance {test.law.var:.2f}, p = {show_p(test.pvalue)}. The "
        f"{study.permutations:,} permutations differ from it by {off:.4f}, and chance explains up to {least:.4f}."
        if off < least
        else f"The exact law differs from the {study.permutations:,} permutations by {off:.4f}, more than chance explains."
    )


# ---- sections 3 and 3.1: chance


@PAPER.said("3", "Figure 1")
def not_clustered(study: Study) -> Found:
    """Ground-truth anomalies occur rarely and are not clustered, so a Bernoulli process describes them."""
    share = study.quakes.truth.mean()
    found = "; ".join(
        f"{c.pairs} pairs of successive events lie within {c.days} days, chance gives {c.expected:.1f} (p = {show_p(c.pvalue)})"
        for c in study.clustering
    )
    return study.clustering[0].pvalue > 0.05, (
        f"{share:.1%} of the days have an event; {found}. Decided at two days, the tolerance of section 3.2, "
        "at the .05 level: no sign of clusters is not proof that there are none."
    )


@PAPER.said("3.1", "Figure 3")
def above_chance(study: Study) -> Found:
    """Observed values are generally higher than on permuted sequences, especially at larger thresholds."""
    above = {side: study.gap(side) > 1e-12 for side in SIDES}
    most = all(cells.mean() > 0.5 and cells[:, UPPER].mean() > cells[:, LOWER].mean() for cells in above.values())
    found = "; ".join(
        f"{side} in {cells.sum()} of {cells.size} cells ({cells[:, LOWER].sum()} of {cells[:, LOWER].size} below the "
        f"median threshold, {cells[:, UPPER].sum()} of {cells[:, UPPER].size} from there on)"
        for side, cells in above.items()
    )
    return most, f"The observed value exceeds chance's exact mean: {found}."


_GAPS: dict[Reading, str] = {
    "absolute": "Observed minus chance",
    "relative": "Observed over chance",
    "standardised": "Observed minus chance, in standard deviations of chance",
}


@PAPER.said(
    "3.1",
    "Figure 3",
    each={
        f"gap-{side}" if reading == "absolute" else f"gap-{side}-{reading}": {"side": side, "reading": reading}
        for side in SIDES
        for reading in READINGS
    },
)
def gap_shrinks(study: Study, side: str, reading: Reading) -> Found:
    """As δ grows, the gap between observed and simulated {side} tends to shrink ({reading} reading)."""
    gap = study.gap(side, reading)
    mean, upper = np.nanmean(gap, axis=1), np.nanmean(gap[:, UPPER], axis=1)
    change = gap[-1] - gap[0]
    shrinks, grows = (change < -1e-12), (change > 1e-12)
    where = f" ({_stretches(grows)})" if grows.any() else ""
    form = show_share if reading == "absolute" else "{:.2f}".format
    whole, half, at = (by_tolerance(values, lambda v: form(float(v))) for values in (mean, upper, gap[:, THE_QUANTILE]))
    return mean[-1] < mean[0], (
        f"{_GAPS[reading]}, for {DELTAS}: {whole} on average over the thresholds, of which first and last "
        f"decide; {half} from the median threshold on; {at} at the .9-quantile. From δ = {TOLERANCES[0]} to "
        f"{TOLERANCES[-1]} it shrinks at {shrinks.sum()} of {gap.shape[1]} thresholds and grows at {grows.sum()}{where}."
        + ("" if (np.diff(mean) < 0).all() else " The average does not fall at every step.")
        + (" So it depends on the thresholds." if min(shrinks.sum(), grows.sum()) > 5 else "")
    )


def _stretches(chosen: BoolArray) -> str:
    """Quantiles as stretches of neighbours: "0.02, 0.88 to 0.98"."""
    ends = np.flatnonzero(np.diff(chosen, prepend=False, append=False)).reshape(-1, 2)
    return ", ".join(
        f"{QUANTILES[first]:g}" + (f" to {QUANTILES[stop - 1]:g}" if stop - first > 1 else "") for first, stop in ends
    )


@PAPER.said("3.1", "Figure 7")
def overstated(study: Study) -> Found:
    """With a high tolerance, precision and recall may not reflect the actual performance of the detector."""
    share = {side: study.explained(side)[:, THE_QUANTILE] for side in SIDES}
    mean = {side: np.nanmean(study.explained(side), axis=1) for side in SIDES}
    rises = all((np.diff(values) > 0).all() for values in (*share.values(), *mean.values()))
    found = "; ".join(
        f"{side} {by_tolerance(share[side])} at the .9-quantile, {by_tolerance(mean[side])} on average"
        for side in SIDES
    )
    return rises, (
        f"The share of the measure that chance alone explains grows with δ ({DELTAS}): {found}."
        if rises
        else f"The share of the measure that chance explains does not grow throughout ({DELTAS}): {found}."
    )


@PAPER.said("3.1", "Table 3")
def worst_case(study: Study) -> Found:
    """In the worst case, a score seems to detect anomalies that are statistically independent of it."""
    noise, detector = study.noise[-1], study.result
    tests = noise.recall_test, noise.precision_test
    found = "; ".join(
        f"{t.measure} {show_share(t.value)} (chance: {show_share(t.expected / t.of)}), p = {show_p(t.pvalue)}"
        for t in tests
    )
    return noise.recall > detector.recall and min(t.pvalue for t in tests) > 0.05, (
        f"A score of random numbers, one a day, has at its .9-quantile and δ = {TOLERANCES[-1]}: {found}. Its recall is "
        f"{'above' if noise.recall > detector.recall else 'not above'} that of the detector at δ = {TOLERANCE}, "
        f"{show_share(detector.recall)}; its F1 is {show_share(noise.f1)}, the detector's {show_share(detector.f1)}. The p-values "
        f"{'give it away' if min(t.pvalue for t in tests) > 0.05 else 'are small by luck'}."
    )


# ---- section 3.2: one cell, and the shape of its null distributions


@PAPER.said(
    "3.2",
    "{see}",
    each={
        "numbers-recall": {"side": "recall", "hits": 80, "value": ".49", "name": "PAδ-AA", "see": "Table 2"},
        "numbers-precision": {"side": "precision", "hits": 145, "value": ".56", "name": "PA-AAδ", "see": "Table 1"},
    },
)
def section_numbers(study: Study, side: str, hits: int, value: str, **_words: str) -> Found:
    """At δ = 2 and the .9-quantile, {name} = {hits} ({side} {value})."""
    test = test_of(study.result, side)
    cut = f".{math.floor(100 * test.value):02d}"  # the paper cuts: 145/256 is .5664
    found = f"{test.hits} of {test.of:,}, which is {test.value:.4f}"
    if study.quakes.simulated:
        return OPEN, f"{found}; these are simulated data, not the paper's."
    printed = f"; the paper prints {value}, cut after two digits" if round(test.value, 2) != float(value) else ""
    return test.hits == hits and cut == value, f"{found}{printed}."


@PAPER.said("3.2", "Figure 4")
def significant(study: Study) -> Found:
    """No permutation reaches the observed hits, so p < .0001 for both measures."""
    tests = (study.result.recall_test, study.result.precision_test)
    reached = [int(study.simulated[t.measure].counts[t.hits :].sum()) for t in tests]
    found = "; ".join(
        f"{t.measure}: {b} of {study.permutations:,} permutations reach {t.hits} hits, the exact p is {show_p(t.pvalue)}"
        for t, b in zip(tests, reached, strict=True)
    )
    return not any(reached) and all(t.pvalue < 1e-4 for t in tests), found + "."


@PAPER.said("3.2", "Figure 4")
def recall_binomial(study: Study) -> Found:
    """The null distribution of recall's hits looks binomial."""
    off, least = _from_binomial(study.result.recall_test.law.table), unseen(PAPERS_PERMUTATIONS)
    ratio = study.dispersion("recall")[THE_TOLERANCE, THE_QUANTILE]
    return off < least, (
        f"It is hypergeometric, with {ratio:.3f} times the binomial's variance. The distribution functions differ by "
        f"at most {off:.4f}; {PAPERS_PERMUTATIONS:,} simulations show differences from {least:.4f} on."
    )


@PAPER.said("3.2", "Figure 4")
def precision_overdispersed(study: Study) -> Found:
    """The null distribution of precision's hits is overdispersed with respect to the binomial."""
    null = study.result.precision_test.law
    ratio = study.dispersion("precision")[THE_TOLERANCE, THE_QUANTILE]
    return ratio > 1, (
        f"The exact variance is {null.var:.2f}, the binomial's {null.var / ratio:.2f}: {ratio:.2f} times as much. "
        f"The distribution functions differ by up to {_from_binomial(null.table):.3f}."
    )


@PAPER.said("3.2", "Figure 5")
def overdispersed_everywhere(study: Study) -> Found:
    """Other thresholds and tolerances behave in the same way: precision's hits are overdispersed in every cell."""
    over = study.dispersion("precision") > 1
    return over.all(), (
        f"They are in {over.sum()} of {over.size} cells: {_by_row(over)}. Where most days are predicted, or δ is 0, "
        "the hits vary less than binomial ones. The authors do not say which cells they tried."
    )


def _by_row(over: BoolArray) -> str:
    """How many thresholds of each tolerance."""
    return ", ".join(
        f"{row.sum()} of {row.size} thresholds for δ = {t}"
        + (f" (from the quantile {QUANTILES[int(row.argmax())]:g} on)" if row.any() else "")
        for t, row in zip(TOLERANCES, over, strict=True)
    )


@PAPER.said("3.2", "Figure 5")
def overdispersed_upper(study: Study) -> Found:
    """The same for δ ≥ 1 and thresholds from the .5-quantile on: precision's hits are overdispersed."""
    ratio = study.dispersion("precision")[1:, MEDIAN:]
    over = ratio > 1
    return over.all(), (
        f"They are in {over.sum()} of {over.size} cells, with {np.nanmin(ratio):.2f} to {np.nanmax(ratio):.2f} times "
        "the binomial's variance."
    )


@PAPER.said("3.2", "Figure 5")
def recall_binomial_everywhere(study: Study) -> Found:
    """Other thresholds and tolerances behave in the same way: recall's hits look binomial in every cell."""
    trial, least = study.curve.trial, unseen(PAPERS_PERMUTATIONS)
    laws = (Hypergeometric(trial.n_steps, int(d), trial.n_events, trial.n_events) for d in trial.near_predictions.flat)
    off = np.array([_from_binomial(law.table) for law in laws]).reshape(trial.near_predictions.shape)
    ratio = study.dispersion("recall")
    return (off < least).all(), (
        f"The distribution functions differ by less than {least:.4f} in {(off < least).sum()} of {off.size} cells, by at most "
        f"{off.max():.4f}; for δ ≥ 1 and from the .5-quantile on by at most {off[1:, MEDIAN:].max():.4f}. The variance is "
        f"{np.nanmin(ratio):.3f} times the binomial's wherever hits can vary, so they are never overdispersed."
    )
