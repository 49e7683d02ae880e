"""Statements of section 3: the detector against chance, and the shape of the null distributions."""

from __future__ import annotations

import math

import numpy as np

from nofluke.laws.tables import binomial
from nofluke.reproduce.claim import DELTAS, Claim, Outcome, by_tolerance, outcome_of
from nofluke.reproduce.study import QUANTILES, SIDES, THE_QUANTILE, THE_TOLERANCE, TOLERANCES, Study
from nofluke.text.numbers import show_p

PAPERS_PERMUTATIONS = 10_000
# the largest distance of two distribution functions that so many simulations leave unseen, at the .05 level
UNSEEN = 1.358 / math.sqrt(PAPERS_PERMUTATIONS)
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
        statement="Ground-truth anomalies occur rarely and are not clustered, so that a Bernoulli process describes them.",
        outcome=outcome_of(study.clustering[0].pvalue > 0.05),
        finding=f"{share:.1%} of the days have an event; {found}. Decided at two days, the tolerance of section 3.2, "
        "at the .05 level: no sign of clusters is not a proof of none.",
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


def gap_shrinks(study: Study, side: str) -> Claim:
    """Observed minus chance, by tolerance."""
    gap = study.gap(side)
    mean = gap.mean(axis=1)
    return Claim(
        key=f"gap-{side}",
        section="3.1",
        statement=f"As δ grows, the gap between observed and simulated {side} tends to shrink: chance gains more than "
        "the detector.",
        outcome=outcome_of((np.diff(mean) < 0).all()),
        finding=f"Observed minus chance, for {DELTAS}: {by_tolerance(mean)} on average over the thresholds, which decides; "
        f"{by_tolerance(gap[:, THE_QUANTILE])} at the .9-quantile.",
        decided_by="Figure 3",
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
        statement="No permutation reaches the observed hits, so that p < .0001 for both measures.",
        outcome=outcome_of(not any(reached) and all(t.pvalue < 1e-4 for t in tests)),
        finding=found + ".",
        decided_by="Figure 4",
    )


def _distance(study: Study, side: str) -> float:
    """The largest distance between the exact and the binomial distribution function (the same mean)."""
    null = getattr(study.result, f"{side}_test").law
    other = binomial(null.size, null.mean / null.size)
    return float(np.abs(np.cumsum(null.table) - np.cumsum(other.table)).max())


def recall_binomial(study: Study) -> Claim:
    """Recall's null beside the binomial."""
    distance = _distance(study, "recall")
    ratio = study.dispersion("recall")[THE_TOLERANCE, THE_QUANTILE]
    return Claim(
        key="recall-binomial",
        section="3.2",
        statement="The null distribution of recall's hits looks binomial.",
        outcome=outcome_of(distance < UNSEEN),
        finding=f"It is hypergeometric, with {ratio:.3f} times the binomial's variance. The distribution functions differ by "
        f"at most {distance:.4f}; {PAPERS_PERMUTATIONS:,} simulations show differences from {UNSEEN:.4f} on.",
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
        f"The distribution functions differ by up to {_distance(study, 'precision'):.3f}.",
        decided_by="Figure 4",
    )


def everywhere(study: Study) -> Claim:
    """Overdispersion in every cell."""
    over = study.dispersion("precision") > 1
    where = [
        f"{row.sum()} of {row.size} thresholds for δ = {t}"
        + (f" (from the quantile {QUANTILES[int(row.argmax())]:g} on)" if row.any() else "")
        for t, row in zip(TOLERANCES, over, strict=True)
    ]
    return Claim(
        key="overdispersed-everywhere",
        section="3.2",
        statement="Other thresholds and tolerances behave in the same way (precision's hits are overdispersed).",
        outcome=outcome_of(over.all()),
        finding=f"They are in {over.sum()} of {over.size} cells: {', '.join(where)}. Where most days are predicted, or δ is 0, "
        "the hits vary less than binomial ones. Which cells the authors tried is not said.",
        decided_by="Figure 5",
    )
