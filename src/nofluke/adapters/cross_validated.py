"""The result of a cross-validation: counts of each fold, and all folds together against chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nofluke.inference.chance import ChanceTest, FTest
from nofluke.inference.evaluate import Evaluation
from nofluke.inference.verdict import Verdict
from nofluke.plain import finite_or_none
from nofluke.ratios import divide, f_of_shares
from nofluke.text.exports import Exports
from nofluke.text.numbers import p_is, show_p
from nofluke.text.tables import SCHEMA, Table, noted, plural, show_share

COUNTS = ("n_train", "n_test", "n_events", "n_predictions", "precision_hits", "recall_hits")
MEASURES = ("precision", "recall", "f1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """One fold by itself: what a scorer would see of it.

    Attributes
    ----------
    number : int
        From 1 on.
    n_train, n_test : int
        Steps.
    n_events, n_predictions, precision_hits, recall_hits : int
        On the test steps.
    failed : str
        Why the fold does not count: what the estimator raised, or that there was nothing to learn from.
    ties : tuple of str
        What equal scores do to the threshold, as `nofluke.evaluate` says it.
    """

    number: int
    n_train: int
    n_test: int
    n_events: int
    n_predictions: int
    precision_hits: int
    recall_hits: int
    failed: str = ""
    ties: tuple[str, ...] = ()

    @property
    def precision(self) -> float:
        """The share of alarms with an event within the tolerance; NaN without alarms."""
        return divide(self.precision_hits, self.n_predictions)

    @property
    def recall(self) -> float:
        """The share of events with an alarm within the tolerance; NaN without events."""
        return divide(self.recall_hits, self.n_events)

    @property
    def f1(self) -> float:
        """Their harmonic mean; 0 without hits, also where there are no alarms, and NaN without events."""
        return _f1(self.precision, self.recall)

    def to_dict(self) -> dict[str, Any]:
        """The fold as plain values; None for what is undefined."""
        numbers = {name: finite_or_none(getattr(self, name)) for name in (*COUNTS, *MEASURES)}
        return {"fold": self.number, **numbers, "failed": self.failed, "ties": list(self.ties)}


@dataclass(frozen=True, kw_only=True, repr=False)
class CrossValidation(Exports):
    """A detector on the test parts of all folds: precision, recall and F1 of all of them together, against chance.

    Attributes
    ----------
    pooled : Evaluation
        Of the alarms of all folds in order of time: tests, intervals, plots and pages as `nofluke.evaluate` gives them.
    folds : tuple of Fold
        The counts of each, without p-values: single folds have few events.
    estimator : str
    cut : mapping
        Which scores are alarms, as {"budget": "3%"}; empty where the estimator's own predictions are.
    notes : tuple of str
        On the folds; those on the data are in ``pooled.notes``.

    See Also
    --------
    nofluke.cross_val_evaluate : the function that makes it.
    nofluke.Evaluation : what ``pooled`` is.
    nofluke.make_scorer : one number a fold, for model selection.

    Examples
    --------
    >>> import nofluke as nf, numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(1)
    >>> y = (rng.random(600) < 0.1).astype(int)
    >>> X = y[:, None] + rng.normal(size=(600, 2))
    >>> result = nf.cross_val_evaluate(LogisticRegression(), X, y, cv=4, budget="10%", tolerance=1)
    >>> result.verdict, result.pooled.n, [fold.n_events for fold in result.folds]
    ('yes', 480, [8, 23, 6, 11])
    """

    pooled: Evaluation
    folds: tuple[Fold, ...]
    estimator: str
    cut: Mapping[str, Any]
    notes: tuple[str, ...]

    @property
    def precision(self) -> float:
        """Of all folds together."""
        return self.pooled.precision

    @property
    def recall(self) -> float:
        """Of all folds together."""
        return self.pooled.recall

    @property
    def f1(self) -> float:
        """Of all folds together; 0 without alarms, as in a fold."""
        return _f1(self.precision, self.recall)

    @property
    def precision_test(self) -> ChanceTest:
        """The hits of all alarms against chance."""
        return self.pooled.precision_test

    @property
    def recall_test(self) -> ChanceTest:
        """The events found in all folds against chance."""
        return self.pooled.recall_test

    @property
    def verdict(self) -> Verdict:
        """ "yes", "partly", "no" or "cannot tell", as of `nofluke.Evaluation`."""
        return self.pooled.verdict

    @property
    def reason(self) -> str:
        """Why the verdict is what it is."""
        return self.pooled.reason

    def table(self) -> Table:
        """Each fold, all of them together, and what chance gives; renders as text, Markdown, LaTeX or HTML."""
        pooled, f1 = self.pooled, self.pooled._f1_test("auto")
        tests: tuple[ChanceTest | FTest | None, ...] = (pooled.precision_test, pooled.recall_test, f1)
        empty = ("",) * 4
        rows = [(str(fold.number), *_counts(fold), *_shares(fold)) for fold in self.folds if not fold.failed]
        total = (f"{pooled.n:,}", f"{pooled.n_events:,}", f"{pooled.n_predictions:,}")
        rows.append(("all", "", *total, *_shares(self)))
        rows.append(("chance", *empty, *(_expected(test) for test in tests)))
        rows.append(("p", *empty, *("" if test is None else show_p(test.pvalue) for test in tests)))
        return Table(
            title=f"{self._who}; {self._alarms()}; tolerance {pooled.tolerance}",
            columns=("fold", "training steps", "test steps", "events", "alarms", "precision", "recall", "F1"),
            rows=tuple(rows),
            notes=(
                pooled.verdict_in_words(),
                *filter(None, [pooled.advice]),
                *pooled.sentences(),
                pooled._how(f1),
                *noted((*self.notes, *pooled.notes)),
            ),
        )

    @property
    def _who(self) -> str:
        return f"{self.estimator}, {plural(len(self.folds), 'fold')}"

    def _alarms(self) -> str:
        if not self.cut:
            return "alarms as predicted"
        ((name, value),) = self.cut.items()
        aside = ", ties aside" if any(fold.ties for fold in self.folds) else ""
        return f"alarms by {name} {value} in each fold{aside}"

    def columns(self) -> dict[str, list[Any]]:
        """A row for each fold and one for all of them, by column name; p-values and chance are those of all."""
        pooled = self.pooled
        rows: list[dict[str, Any]] = [
            {name: getattr(fold, name) for name in (*COUNTS, *MEASURES)} | {"fold": str(fold.number)}
            for fold in self.folds
        ]
        whole: dict[str, Any] = {"fold": "all", "n_test": pooled.n}
        whole |= {name: getattr(pooled, name) for name in COUNTS[2:]} | {name: getattr(self, name) for name in MEASURES}
        for test in (pooled.precision_test, pooled.recall_test):
            whole |= {f"{test.measure}_expected": divide(test.expected, test.of), f"{test.measure}_pvalue": test.pvalue}
        names = ("fold", *COUNTS, *MEASURES, *(name for name in whole if name.endswith(("_expected", "_pvalue"))))
        return {name: [row.get(name) for row in (*rows, whole)] for name in names}

    def _record(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "estimator": self.estimator,
            "cut": {
                name: value if isinstance(value, str) else finite_or_none(value) for name, value in self.cut.items()
            },
            "verdict": self.verdict,
            "reason": self.reason,
            "pooled": self.pooled.to_dict(),
            "folds": [fold.to_dict() for fold in self.folds],
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        told = "; ".join(
            f"{test.measure} {show_share(test.value)} ({test.hits:,} of {test.of:,}), "
            + p_is(test.pvalue, test.log10_pvalue)
            for test in (self.precision_test, self.recall_test)
        )
        return f"<CrossValidation of {self._who}: {told};\n null {self.pooled.null.text}>"


def of_folds(folds: Sequence[Fold]) -> tuple[str, ...]:
    """What a mean over folds would hide: folds without events or alarms, with tied scores, and those left out."""
    said = []
    judged = [fold for fold in folds if not fold.failed]
    for name, what in (("n_events", "events"), ("n_predictions", "alarms")):
        without = sum(getattr(fold, name) == 0 for fold in judged)
        if without:
            said.append(f"{without:,} of {plural(len(judged), 'fold')} {'has' if without == 1 else 'have'} no {what}.")
    tied = [fold for fold in judged if fold.ties]
    if tied:
        others = f" There are ties in {plural(len(tied) - 1, 'other fold')} too." if len(tied) > 1 else ""
        said.append(f"Fold {tied[0].number}: {' '.join(tied[0].ties)}{others}")
    said.extend(f"Fold {fold.number} was left out: {fold.failed}" for fold in folds if fold.failed)
    return tuple(said)


def _counts(fold: Fold) -> tuple[str, ...]:
    return tuple(f"{number:,}" for number in (fold.n_train, fold.n_test, fold.n_events, fold.n_predictions))


def _f1(precision: float, recall: float) -> float:
    """As `nofluke.make_scorer` has it: without alarms there are no hits, and F1 is 0."""
    return float(f_of_shares(np.array([precision]), np.array([recall]), 1.0)[0])


def _shares(one: Fold | CrossValidation) -> tuple[str, ...]:
    return tuple(show_share(getattr(one, name)) for name in MEASURES)


def _expected(test: ChanceTest | FTest | None) -> str:
    if test is None or math.isnan(test.value):
        return ""
    return show_share(test.expected if isinstance(test, FTest) else divide(test.expected, test.of))
