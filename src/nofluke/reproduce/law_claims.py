"""Statements of sections 2.3 and 3.2 on the shape of the null distributions: binomial, overdispersed, or neither."""

from __future__ import annotations

import math

import numpy as np

from nofluke.arrays import BoolArray, FloatArray
from nofluke.laws.tables import Hypergeometric, binomial
from nofluke.reproduce.claim import Claim, outcome_of
from nofluke.reproduce.study import QUANTILES, SIDES, THE_QUANTILE, THE_TOLERANCE, TOLERANCES, Study
from nofluke.text.numbers import show_p
from nofluke.text.tables import show_share

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
