"""Numbers to put beside those of a result when it is shown: F1 against chance, and what the permutation would say."""

from __future__ import annotations

from contextlib import suppress
from typing import Literal

from nofluke.errors import InputError
from nofluke.inference.chance import ChanceTest, FTest, f_test
from nofluke.inference.settings import Settings
from nofluke.nulls.permutation import Permutation
from nofluke.plain import check_word
from nofluke.ratios import divide, f_beta
from nofluke.series.trial import Cell
from nofluke.text.numbers import p_is

F1 = Literal["auto", "test", "value"]
MOST_STEPS = 100_000  # up to here F1's p is shown unasked
MOST_SECONDS = 1.0  # that the permutation's p-values may take
FEW_RESAMPLES = 999  # for a null that is simulated and nothing else: what is shown takes a tenth of what was computed


def shown_f1(cell: Cell, settings: Settings, tests: tuple[ChanceTest, ChanceTest], f1: F1) -> FTest | None:
    """F1 against chance; None where it is not asked for, undefined, or has no law under this null.

    The same each time it is asked for: simulated with the seed of the result, else with 0.
    """
    check_word(f1, "f1", ("auto", "test", "value"))
    if f1 == "value" or 0 in (cell.n_counted, cell.n_predictions):
        return None
    if f1 == "auto" and (cell.trial.size > MOST_STEPS or settings.alternative != "greater"):
        return None  # too long, or beside p-values of another alternative: F1's is always the upper one
    n_resamples = settings.n_resamples
    if f1 == "auto" and settings.null.is_drawn(settings.method):
        n_resamples = min(n_resamples, FEW_RESAMPLES)
    seeds = (test.how.seed for test in tests)
    seed = next((seed for seed in seeds if seed is not None), settings.rng if isinstance(settings.rng, int) else 0)
    value = f_beta(divide(cell.precision_hits, cell.n_predictions), divide(cell.recall_hits, cell.n_counted), 1.0)
    with suppress(InputError):  # of a null that has no joint law of both hits
        joint = settings.null.hurried().joint(cell, n_resamples=n_resamples, rng=seed)
        return f_test(value, joint, cell.n_predictions, cell.n_counted)
    return None


def permutation_would_say(cell: Cell, tests: tuple[ChanceTest, ChanceTest]) -> str:
    """Both p-values under the permutation, in a sentence, if they are quick and differ from those of the null used."""
    model = Permutation().hurried()
    if 0 in (cell.n_events, cell.n_predictions) or not cell.truth.points or model.text == tests[0].model:
        return ""
    if model.exact_seconds(cell) > MOST_SECONDS:
        return ""
    laws = model.distributions(cell)
    theirs = (
        ChanceTest(
            measure=test.measure,
            hits=test.hits,
            of=test.of,
            law=law,
            model=model.text,
            alternative=test.alternative,
            ties=test.ties,
        )
        for test, law in zip(tests, (laws.precision, laws.recall), strict=True)
    )
    said = [(p_is(test.pvalue, test.log10_pvalue), test.measure) for test in theirs]
    if [p for p, _ in said] == [p_is(test.pvalue, test.log10_pvalue) for test in tests]:
        return ""
    return "Permutation would say {} ({}) and {} ({}).".format(*said[0], *said[1])
