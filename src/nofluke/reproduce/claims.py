"""The paper's statements, each checked by a computation: it holds, it does not hold, or it cannot be checked."""

from __future__ import annotations

from collections.abc import Callable

from nofluke.reproduce import chance_claims, measure_claims
from nofluke.reproduce.claim import Claim
from nofluke.reproduce.study import Study


def check_claims(study: Study) -> tuple[Claim, ...]:
    """All statements, in the paper's order."""
    checks: tuple[Callable[[Study], Claim], ...] = (
        measure_claims.period,
        measure_claims.low_thresholds,
        measure_claims.recall_falls,
        measure_claims.precision_not_monotone,
        measure_claims.zero_is_classical,
        measure_claims.both_rise,
        measure_claims.vary,
        measure_claims.partition,
        chance_claims.not_clustered,
        chance_claims.above_chance,
        lambda s: chance_claims.gap_shrinks(s, "recall"),
        lambda s: chance_claims.gap_shrinks(s, "precision"),
        chance_claims.overstated,
        lambda s: chance_claims.section_numbers(s, "recall", 80, ".49"),
        lambda s: chance_claims.section_numbers(s, "precision", 145, ".56"),
        chance_claims.significant,
        chance_claims.recall_binomial,
        chance_claims.precision_overdispersed,
        chance_claims.everywhere,
    )
    return tuple(check(study) for check in checks)
