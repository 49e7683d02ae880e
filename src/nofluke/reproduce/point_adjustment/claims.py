"""Statements about point-adjusted F1, each checked by a computation on public labels."""

from __future__ import annotations

from collections.abc import Iterable

from nofluke.reproduce.claim import Claim, Outcome, outcome_of
from nofluke.reproduce.markup import listed
from nofluke.reproduce.point_adjustment.study import MEMORIES, AdjustmentStudy, Case
from nofluke.text.numbers import show_chance, show_p
from nofluke.text.tables import show_share

LEVEL = 0.05
ALL = "all benchmarks"


def check_adjustment_claims(study: AdjustmentStudy) -> tuple[Claim, ...]:
    """All statements: one for each published value, then those about all."""
    return (
        *(better_than_random(case) for case in study.cases),
        turns_into_state_of_the_art(study),
        above_nine_tenths(study),
        no_better_than_everywhere(study),
        by_the_threshold(study),
        level_at_the_share(study),
        whatever_the_memory(study),
    )


def verdict_on(case: Case) -> Outcome:
    """Whether the published value is better than random scores; open where so many draws cannot tell."""
    if abs(case.pvalue - LEVEL) < 2 * case.pvalue_error:
        return "cannot be checked"
    return outcome_of(case.pvalue <= LEVEL)


def better_than_random(case: Case) -> Claim:
    """One published value against random scores."""
    outcome = verdict_on(case)
    close = " That is too close to .05 for this many draws to decide." if outcome == "cannot be checked" else ""
    return Claim(
        key=f"better-than-random-{case.name.lower()}",
        section=case.name,
        statement=f"On {case.name}, the published point-adjusted F1 is better than that of random scores at their best "
        "thresholds.",
        outcome=outcome,
        finding=f"Random scores have {show_chance(case.random.expected, case.random.std)}; "
        f"{case.reached():,} of {case.random.n_resamples:,} reach the published {case.published} "
        f"(p = {show_p(case.pvalue)} ± {show_p(case.pvalue_error)}).{close} Corrected for chance it is "
        f"{show_share(case.corrected)}.",
        decided_by="Figure 1",
    )


def turns_into_state_of_the_art(study: AdjustmentStudy) -> Claim:
    """Kim et al.'s warning."""
    level = [case.name for case in study.cases if verdict_on(case) == "does not hold"]
    return Claim(
        key="random-state-of-the-art",
        section="Kim et al. 2022",
        statement="With point adjustment, even random scores become state of the art.",
        outcome=outcome_of(bool(level)),
        finding=f"At their best thresholds, more than one in twenty random scores reach the published value on "
        f"{listed(level) or 'none of them'}; the "
        f"shares are {_each(study.cases, [show_p(case.pvalue) for case in study.cases])}.",
        decided_by="Table 2",
    )


def above_nine_tenths(study: AdjustmentStudy) -> Claim:
    """What a high value is taken for."""
    shares = [float((case.random.values > 0.9).mean()) for case in study.cases]
    return Claim(
        key="above-0.9",
        section=ALL,
        statement="A point-adjusted F1 above .9 shows that a detector works.",
        outcome=outcome_of(max(shares) <= LEVEL),
        finding=f"Random scores are above .9 in {_each(study.cases, [f'{share:.0%}' for share in shares])} of all draws.",
        decided_by="Figure 1",
    )


def no_better_than_everywhere(study: AdjustmentStudy) -> Claim:
    """What the same scores have without adjustment."""
    gaps = [abs(case.plain.expected - case.everywhere) for case in study.cases]
    return Claim(
        key="without-adjustment",
        section=ALL,
        statement="Without point adjustment, random scores do no better than an alarm at every step.",
        outcome=outcome_of(max(gaps) < 0.01),
        finding="The best F1 of random scores is "
        f"{_each(study.cases, [show_share(case.plain.expected) for case in study.cases])}; with an alarm at every step F1 is "
        f"{_each(study.cases, [show_share(case.everywhere) for case in study.cases])}.",
        decided_by="Table 2",
    )


def by_the_threshold(study: AdjustmentStudy) -> Claim:
    """Whether the best threshold is to blame."""
    fixed = [case.variant("fixed-share").expected for case in study.cases]
    lost = [case.random.expected - mean for case, mean in zip(study.cases, fixed, strict=True)]
    return Claim(
        key="by-the-threshold",
        section=ALL,
        statement="It is the choice of the best threshold that lifts random scores so high.",
        outcome=outcome_of(min(lost) > 0.05),
        finding="With alarms on the share of steps that the published threshold aims at, random scores still have "
        f"{_each(study.cases, [show_share(mean) for mean in fixed])}, which is "
        f"{_each(study.cases, [f'{loss:.3f}' for loss in lost])} less than at their best thresholds.",
        decided_by="Table 3",
    )


def level_at_the_share(study: AdjustmentStudy) -> Claim:
    """Chance with no more choice of a threshold than the published detector had."""
    levels = [case.variant("fixed-share") for case in study.cases]
    level = level_at_fixed_share(study)
    alone = " alone" if len(level) == 1 else ""
    return Claim(
        key="level-at-the-share",
        section=ALL,
        statement="With alarms on the share of steps that the published thresholds aim at, random scores are level with the published values as well.",
        outcome=outcome_of(len(level) == len(study.cases)),
        finding=f"Of {levels[0].n_resamples} draws "
        f"{_each(study.cases, [f'{case.reached(one)}' for case, one in zip(study.cases, levels, strict=True)])} reach the "
        f"published value: level on {listed(level) or 'none of them'}{alone}. The number of published alarms in the "
        "test parts is not known here.",
        decided_by="Table 3",
    )


def level_at_fixed_share(study: AdjustmentStudy) -> list[str]:
    """The benchmarks on which random alarms on a fixed share of the steps are level with the published value."""
    return [case.name for case in study.cases if case.variant("fixed-share").pvalue_of(case.published) > LEVEL]


def whatever_the_memory(study: AdjustmentStudy) -> Claim:
    """The other side: scores that follow one another have fewer tries."""
    by_memory = {phi: [case.variant(f"memory-{phi:g}").expected for case in study.cases] for phi in MEMORIES}
    falls = any(
        case.random.expected - mean > 2 * case.random.std
        for means in by_memory.values()
        for case, mean in zip(study.cases, means, strict=True)
    )
    found = "; ".join(
        f"{_each(study.cases, [show_share(mean) for mean in means])} at φ = {phi:g}" for phi, means in by_memory.items()
    )
    return Claim(
        key="whatever-the-memory",
        section=ALL,
        statement="Random scores reach as much if they have a memory, as those of sliding windows do.",
        outcome=outcome_of(not falls),
        finding=f"They reach {found}. What chance gives a detector depends on the memory of its scores, so only its own scores, rotated, can tell.",
        decided_by="Table 3",
    )


def _each(cases: Iterable[Case], values: list[str]) -> str:
    return ", ".join(f"{value} ({case.name})" for case, value in zip(cases, values, strict=True))
