"""Statements of section 2 about equations 2 and 3 and the two confusion matrices: counted step by step."""

from __future__ import annotations

from typing import cast

from nofluke.inference.evaluate import evaluate
from nofluke.measures.confusion import MEASURES, Confusion
from nofluke.reproduce.claim import Claim, outcome_of
from nofluke.reproduce.definition import SEQUENCES, Counted
from nofluke.reproduce.study import NULL, TOLERANCE, Study
from nofluke.text.tables import show_share

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
