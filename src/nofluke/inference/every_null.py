"""What every null says about one result: the p-values of those that fit the data, and why the others are ruled out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from nofluke.errors import InputError, joined, say
from nofluke.inference.evaluate import Evaluation
from nofluke.nulls.base import NullModel
from nofluke.nulls.circular import CircularShift
from nofluke.nulls.levels import SHOWN_REACH
from nofluke.nulls.local import LocalPermutation, LocalShift
from nofluke.nulls.permutation import Permutation
from nofluke.nulls.seen import Look, against, tidy
from nofluke.nulls.shuffles import IntervalShuffle, Segments

FEW_RESAMPLES = 1_999  # where steps are many: what is shown beside a verdict may be coarse
MANY_STEPS = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderNull:
    """A null: whether the result uses it, why it is ruled out (else empty), and both p-values where it holds."""

    model: NullModel
    used: bool
    against: str = ""
    precision: float | None = None
    recall: float | None = None
    method: str = ""


def every_null(result: Evaluation, *, seed: int = 0) -> tuple[UnderNull, ...]:
    """The null that was used, then the others that keep what the data show, then those that do not, with the reason.

    A null is ruled out by what auto sees in the events and in the alarms; what it would say is not computed.
    """
    choice = result.settings.choice
    # a null that was insisted on is shown with what speaks against it
    objection = joined(" ", choice.doubts) or ("" if choice.holds else choice.why)
    used = UnderNull(
        model=choice.model,
        used=True,
        against=objection,
        precision=result.precision_test.pvalue,
        recall=result.recall_test.pvalue,
        method=result.recall_test.method,
    )
    if 0 in (result.n_events, result.n_predictions):
        return (used,)
    look = Look.of(result.cell, result.alpha)
    others = (_under(model, result, look, seed) for model in _others(result, look))
    return (used, *sorted((one for one in others if one is not None), key=lambda one: bool(one.against)))


def _others(result: Evaluation, look: Look) -> Iterator[NullModel]:
    """Nulls that need no settings beyond what the data give."""
    models: list[NullModel] = [Permutation(), LocalPermutation(windows=look.windows), CircularShift()]
    models.append(LocalShift(reach=look.length(SHOWN_REACH)) if look.sketch is not None else LocalShift())
    season = look.season
    if season is not None:
        models.append(look.null_of(season, look.eras))
        if season.steps is not None:
            models.append(CircularShift(every=look.length(tidy(season.steps))))
    models += [Segments(), IntervalShuffle()]
    known = {result.null.text}
    for model in models:
        if model.text not in known:
            known.add(model.text)
            yield model


def _under(model: NullModel, result: Evaluation, look: Look, seed: int) -> UnderNull | None:
    """A null beside the one that was used; None for one that has nothing to say about such events."""
    cell = result.cell
    reason = against(model, look)
    if cell.in_time and not model.takes_times:
        reason = say("It needs a grid of steps, but these {events} have their own times.")
    elif not cell.truth.points and not model.takes_ranges:
        reason = say("It places single steps, but these {events} are ranges.")
    if reason:
        return UnderNull(model=model, used=False, against=result.names.said(reason))
    many = result.settings.n_resamples if cell.trial.size <= MANY_STEPS else FEW_RESAMPLES
    try:
        laws = model.hurried().distributions(cell, "auto", n_resamples=many, rng=seed)
        tests = [
            replace(test, law=law, model=model.text)
            for test, law in ((result.precision_test, laws.precision), (result.recall_test, laws.recall))
        ]
        precision, recall = (test.pvalue for test in tests)
    except InputError:
        return None
    return UnderNull(model=model, used=False, precision=precision, recall=recall, method=tests[1].method)
