"""The paper's statements, each checked by a computation: it holds, it does not hold, or it cannot be checked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from nofluke.reproduce import chance_claims, claims, law_claims, matrix_claims
from nofluke.reproduce.claim import DELTAS, Claim, by_tolerance, outcome_of
from nofluke.reproduce.definition import count, count_short
from nofluke.reproduce.study import READINGS, SIDES, THE_QUANTILE, Study
from nofluke.text.tables import show_share


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



# ---- the paper's statements, each checked by a computation: it holds, it does not hold, or it cannot be checked

def check_claims(study: Study) -> tuple[Claim, ...]:
    """All statements, in the paper's order."""
    counted = count(study.quakes.truth, study.scores, study.curve), count_short(study.seed)
    ideal = matrix_claims.perfect(study)
    checks: tuple[Callable[[Study], Claim], ...] = (
        claims.period,
        claims.low_thresholds,
        claims.recall_falls,
        claims.precision_not_monotone,
        claims.zero_is_classical,
        lambda _: matrix_claims.equation(counted, 0),
        lambda _: matrix_claims.equation(counted, 1),
        claims.both_rise,
        claims.vary,
        lambda _: matrix_claims.partition(counted),
        matrix_claims.from_tables,
        lambda s: matrix_claims.entries_of_truth(s, ideal[0]),
        lambda s: matrix_claims.entries_of_predictions(s, ideal[1]),
        lambda s: matrix_claims.uninformative(s, ideal),
        law_claims.bernoulli_binomial,
        law_claims.stationary_binomial,
        law_claims.no_derivation,
        chance_claims.not_clustered,
        chance_claims.above_chance,
        *(partial(chance_claims.gap_shrinks, side=side, reading=reading) for side in SIDES for reading in READINGS),
        chance_claims.overstated,
        chance_claims.worst_case,
        lambda s: chance_claims.section_numbers(s, "recall", 80, ".49"),
        lambda s: chance_claims.section_numbers(s, "precision", 145, ".56"),
        chance_claims.significant,
        law_claims.recall_binomial,
        law_claims.precision_overdispersed,
        law_claims.overdispersed_everywhere,
        law_claims.overdispersed_upper,
        law_claims.recall_binomial_everywhere,
    )
    return tuple(check(study) for check in checks)

