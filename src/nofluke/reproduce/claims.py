"""The paper's statements, each checked by a computation: it holds, it does not hold, or it cannot be checked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from nofluke.reproduce import chance_claims, law_claims, matrix_claims, measure_claims
from nofluke.reproduce.claim import Claim
from nofluke.reproduce.definition import count, count_short
from nofluke.reproduce.study import READINGS, SIDES, Study


def check_claims(study: Study) -> tuple[Claim, ...]:
    """All statements, in the paper's order."""
    counted = count(study.quakes.truth, study.scores, study.curve), count_short(study.seed)
    ideal = matrix_claims.perfect(study)
    checks: tuple[Callable[[Study], Claim], ...] = (
        measure_claims.period,
        measure_claims.low_thresholds,
        measure_claims.recall_falls,
        measure_claims.precision_not_monotone,
        measure_claims.zero_is_classical,
        lambda _: matrix_claims.equation(counted, 0),
        lambda _: matrix_claims.equation(counted, 1),
        measure_claims.both_rise,
        measure_claims.vary,
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
