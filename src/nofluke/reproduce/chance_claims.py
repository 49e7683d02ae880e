"""Statements of sections 3, 3.1 and 3.2: the detector against chance."""

from __future__ import annotations

import math

import numpy as np

from nofluke.arrays import BoolArray
from nofluke.reproduce.claim import DELTAS, Claim, Outcome, by_tolerance, outcome_of
from nofluke.reproduce.study import QUANTILES, SIDES, THE_QUANTILE, TOLERANCE, TOLERANCES, Reading, Study
from nofluke.text.numbers import show_p
from nofluke.text.tables import show_share

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
