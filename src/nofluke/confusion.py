"""Confusion matrices with tolerance on one side, and every standard measure of them, with a word on what it means.

Two matrices, not one: tolerance in the truth (Table 1 of the paper) gives precision, tolerance in the predictions (Table
2) gives recall. Both partition the steps, but widening one side changes what its entries count, so that most
measures lose their usual meaning. Each measure therefore says whether it can be read as usual, and why.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nofluke.errors import InputError
from nofluke.plain import as_number, as_whole, check_word

Side = Literal["neither", "truth", "predictions"]
FloatArray = npt.NDArray[np.float64]
TIE_SLACK = 1e-12  # shares and p-values that are mathematically equal differ by less


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """Counts of steps by what was predicted and what was true, with the tolerance on one side or on neither.

    Attributes
    ----------
    tp, fp, fn, tn : int
        Steps predicted and true, predicted only, true only, neither; they partition the steps that count.
    tolerance_in : {"neither", "truth", "predictions"}
        Where the tolerance was allowed: "truth" reads *true* as "an event within the tolerance" (Table 1 of the
        paper), "predictions" reads *predicted* as "a prediction within the tolerance" (Table 2).

    Notes
    -----
    Matrices of the same kind add up, so that ``sum(matrices)`` pools sequences. Ratios are NaN where their
    denominator is 0.

    References
    ----------
    Scharwächter and Müller (2020), section 2.2. Powers (2007), Evaluation: from precision, recall and F-factor to ROC,
    informedness, markedness and correlation.

    Examples
    --------
    >>> import nofluke as nf
    >>> one = nf.Confusion(tp=3, fp=1, fn=2, tn=4, tolerance_in="truth")
    >>> one.measure("precision"), one.predicted, one.total
    (0.75, 4, 10)
    >>> sum([one, one]).tp
    6
    """

    tp: int
    fp: int
    fn: int
    tn: int
    tolerance_in: Side = "neither"

    def __post_init__(self) -> None:
        check_word(self.tolerance_in, "tolerance_in", ("neither", "truth", "predictions"))
        for name in ("tp", "fp", "fn", "tn"):
            # plain integers: products of NumPy's would overflow in silence
            object.__setattr__(self, name, as_whole(getattr(self, name), name, 0, 2**63 - 1))

    @classmethod
    def from_marginals(cls, tp: int, predicted: int, actual: int, total: int, tolerance_in: Side) -> Confusion:
        """The matrix from its hits and marginal sums."""
        return cls(
            tp=tp, fp=predicted - tp, fn=actual - tp, tn=total - predicted - actual + tp, tolerance_in=tolerance_in
        )

    @property
    def predicted(self) -> int:
        """Row sum PA (PAδ with tolerance in the predictions)."""
        return self.tp + self.fp

    @property
    def not_predicted(self) -> int:
        """Row sum PnA (PnAδ with tolerance in the predictions)."""
        return self.fn + self.tn

    @property
    def actual(self) -> int:
        """Column sum AA (AAδ with tolerance in the truth)."""
        return self.tp + self.fn

    @property
    def not_actual(self) -> int:
        """Column sum AnA (AnAδ with tolerance in the truth)."""
        return self.fp + self.tn

    @property
    def total(self) -> int:
        """T, the number of steps that count."""
        return self.tp + self.fp + self.fn + self.tn

    def __add__(self, other: object) -> Confusion:
        if not isinstance(other, Confusion):
            return NotImplemented
        if other.tolerance_in != self.tolerance_in:
            raise InputError(
                f"cannot add a matrix with tolerance in {other.tolerance_in} to one with tolerance in {self.tolerance_in}: "
                "their entries count different things."
            )
        return Confusion(
            tp=self.tp + other.tp,
            fp=self.fp + other.fp,
            fn=self.fn + other.fn,
            tn=self.tn + other.tn,
            tolerance_in=self.tolerance_in,
        )

    def __radd__(self, other: object) -> Confusion:
        return self if other == 0 else self.__add__(other)  # sum() starts with 0

    def measure(self, name: str, *, zero_division: float = math.nan) -> float:
        """One standard measure by name; ``zero_division`` where its denominator is 0. See :meth:`measures`."""
        check_word(name, "name", MEASURES)
        undefined = check_zero_division(zero_division)
        value = MEASURES[name].of(self)
        return undefined if math.isnan(value) else value

    def measures(self, *, zero_division: float = math.nan) -> dict[str, float]:
        """All standard measures, by name."""
        return {name: self.measure(name, zero_division=zero_division) for name in MEASURES}

    def interpretable(self, name: str) -> bool:
        """Whether the measure can be read as usual in this matrix (section 2.2 of the paper)."""
        return self.why(name)[0]

    def why(self, name: str) -> tuple[bool, str]:
        """Whether a measure can be read as usual in this matrix, and the reason."""
        check_word(name, "name", MEASURES)
        if self.tolerance_in == "neither":
            return True, "Without tolerance this is the ordinary confusion matrix."
        return MEASURES[name].reading[self.tolerance_in]


def check_zero_division(value: object) -> float:
    """What scikit-learn accepts, less its warning, as a plain float: 0, 1 or NaN."""
    return as_number(value, "zero_division", "be 0, 1 or nan", lambda number: number in (0, 1) or math.isnan(number))


def divide(numerator: float, denominator: float) -> float:
    """A ratio that is NaN where it is undefined."""
    return numerator / denominator if denominator else math.nan


def f_beta(precision: float, recall: float, beta: float = 1.0) -> float:
    """F_β = (1 + β²) P R / (β² P + R); NaN where P or R is, 0 where both are 0; F_0 is P."""
    if math.isnan(precision) or math.isnan(recall):
        return math.nan
    if beta == 0:  # also where R is 0 and P is not, as zero_division may have it
        return precision
    of_recall, of_precision = f_weights(beta)
    below = of_recall * precision + of_precision * recall
    return (of_recall + of_precision) * precision * recall / below if below else 0.0


def f_weights(beta: float) -> tuple[float, float]:
    """Weights of recall and precision in F_β, as β² is to 1: the larger one is 1, so that no β overflows."""
    return (beta**2, 1.0) if beta <= 1 else (1.0, (1 / beta) ** 2)


def f_of_hits(precision_hits: Any, recall_hits: Any, n_predictions: Any, n_events: float, beta: float) -> FloatArray:
    """F_β = (1 + β²) C R / (β² C m + R n) of arrays of hits C of n predictions and R of m events; 0 without hits."""
    hits, found = np.asarray(precision_hits, dtype=np.float64), np.asarray(recall_hits, dtype=np.float64)
    of_recall, of_precision = f_weights(beta)
    below = of_recall * hits * n_events + of_precision * found * n_predictions
    above = (of_recall + of_precision) * hits * found
    return np.asarray(np.divide(above, below, out=np.zeros(below.shape), where=below > 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A standard measure: its formula in words, its function, and how to read it in each tolerant matrix."""

    formula: str
    of: Callable[[Confusion], float]
    reading: dict[str, tuple[bool, str]]


_SMEARED_FN = "FN counts silent steps near an event, also those beside an alarm that found it: they are no misses."
_SMEARED_FP = (
    "FP counts eventless steps near a prediction, also those beside an event that was found: they are no false alarms."
)
_WIDE_TRUTH = "It divides by steps near an event (AAδ), which grow with the tolerance; they are not the events."
_WIDE_CALM = "It divides by steps far from every event (AnAδ), which shrink as the tolerance grows."
_WIDE_ALARM = (
    "It divides by steps near a prediction (PAδ), which grow with the tolerance; they are not the predictions."
)
_WIDE_SILENCE = "It divides by steps far from every prediction (PnAδ), which shrink as the tolerance grows."
_MIXED_TRUTH = (
    "It mixes entries that count predictions (TP, FP) with entries that count steps near events (FN). " + _SMEARED_FN
)
_MIXED_PRED = (
    "It mixes entries that count events (TP, FN) with entries that count steps near predictions (FP). " + _SMEARED_FP
)
_MIXED = {"truth": (False, _MIXED_TRUTH), "predictions": (False, _MIXED_PRED)}


def _per_predicted(good: str) -> dict[str, tuple[bool, str]]:
    return {"truth": (True, good), "predictions": (False, _WIDE_ALARM)}


def _per_actual(good: str) -> dict[str, tuple[bool, str]]:
    return {"truth": (False, _WIDE_TRUTH), "predictions": (True, good)}


# whole numbers up to the last division (or root): chance is exactly 0, perfection exactly 1, and nothing exceeds it
def _determinant(c: Confusion) -> int:
    return c.tp * c.tn - c.fp * c.fn


def _informedness(c: Confusion) -> float:
    return divide(_determinant(c), c.actual * c.not_actual)


def _markedness(c: Confusion) -> float:
    return divide(_determinant(c), c.predicted * c.not_predicted)


def _balanced_accuracy(c: Confusion) -> float:
    return divide(c.tp * c.not_actual + c.tn * c.actual, 2 * c.actual * c.not_actual)


def _mcc(c: Confusion) -> float:
    product = c.predicted * c.not_predicted * c.actual * c.not_actual
    root = math.isqrt(product)  # a whole root is kept: beyond 2**53 a float's is off, and perfection would exceed 1
    return divide(_determinant(c), root if root * root == product else math.sqrt(product))


def _kappa(c: Confusion) -> float:
    below = c.predicted * c.not_actual + c.not_predicted * c.actual
    return divide(2 * _determinant(c), below)


MEASURES: dict[str, Measure] = {
    "precision": Measure(
        formula="TP / (TP + FP)",
        of=lambda c: divide(c.tp, c.predicted),
        reading=_per_predicted("The share of predictions with an event within the tolerance: P_δ."),
    ),
    "false_discovery_rate": Measure(
        formula="FP / (TP + FP)",
        of=lambda c: divide(c.fp, c.predicted),
        reading=_per_predicted("The share of predictions with no event within the tolerance: false alarms."),
    ),
    "recall": Measure(
        formula="TP / (TP + FN)",
        of=lambda c: divide(c.tp, c.actual),
        reading=_per_actual("The share of events with a prediction within the tolerance: R_δ."),
    ),
    "miss_rate": Measure(
        formula="FN / (TP + FN)",
        of=lambda c: divide(c.fn, c.actual),
        reading=_per_actual("The share of events with no prediction within the tolerance: misses."),
    ),
    "prevalence": Measure(
        formula="(TP + FN) / T",
        of=lambda c: divide(c.actual, c.total),
        reading={
            "truth": (
                False,
                "It is the share of steps near an event: what a random prediction would score as precision.",
            ),
            "predictions": (True, "The share of steps that are events."),
        },
    ),
    "bias": Measure(
        formula="(TP + FP) / T",
        of=lambda c: divide(c.predicted, c.total),
        reading={
            "truth": (True, "The share of steps that are predicted."),
            "predictions": (
                False,
                "It is the share of steps near a prediction: what a random event would score as recall.",
            ),
        },
    ),
    "specificity": Measure(
        formula="TN / (FP + TN)",
        of=lambda c: divide(c.tn, c.not_actual),
        reading={"truth": (False, _WIDE_CALM), "predictions": (False, _SMEARED_FP)},
    ),
    "false_positive_rate": Measure(
        formula="FP / (FP + TN)",
        of=lambda c: divide(c.fp, c.not_actual),
        reading={"truth": (False, _WIDE_CALM), "predictions": (False, _SMEARED_FP)},
    ),
    "negative_predictive_value": Measure(
        formula="TN / (FN + TN)",
        of=lambda c: divide(c.tn, c.not_predicted),
        reading={"truth": (False, _SMEARED_FN), "predictions": (False, _WIDE_SILENCE)},
    ),
    "false_omission_rate": Measure(
        formula="FN / (FN + TN)",
        of=lambda c: divide(c.fn, c.not_predicted),
        reading={"truth": (False, _SMEARED_FN), "predictions": (False, _WIDE_SILENCE)},
    ),
    "accuracy": Measure(formula="(TP + TN) / T", of=lambda c: divide(c.tp + c.tn, c.total), reading=_MIXED),
    "error_rate": Measure(formula="(FP + FN) / T", of=lambda c: divide(c.fp + c.fn, c.total), reading=_MIXED),
    "balanced_accuracy": Measure(formula="(recall + specificity) / 2", of=_balanced_accuracy, reading=_MIXED),
    "f1": Measure(
        formula="2 TP / (2 TP + FP + FN)",
        of=lambda c: divide(2 * c.tp, 2 * c.tp + c.fp + c.fn),
        reading=_MIXED,
    ),
    "g_measure": Measure(
        formula="TP / sqrt((TP + FP)(TP + FN))",
        of=lambda c: divide(c.tp, math.sqrt(c.predicted * c.actual)),
        reading=_MIXED,
    ),
    "jaccard": Measure(formula="TP / (TP + FP + FN)", of=lambda c: divide(c.tp, c.tp + c.fp + c.fn), reading=_MIXED),
    "informedness": Measure(formula="recall + specificity - 1", of=_informedness, reading=_MIXED),
    "markedness": Measure(formula="precision + negative predictive value - 1", of=_markedness, reading=_MIXED),
    "mcc": Measure(formula="(TP TN - FP FN) / sqrt((TP + FP)(FN + TN)(TP + FN)(FP + TN))", of=_mcc, reading=_MIXED),
    "kappa": Measure(formula="(accuracy - chance accuracy) / (1 - chance accuracy)", of=_kappa, reading=_MIXED),
    "weighted_relative_accuracy": Measure(
        formula="(TP TN - FP FN) / T²", of=lambda c: divide(_determinant(c), c.total**2), reading=_MIXED
    ),
    "lift": Measure(
        formula="precision / prevalence",
        of=lambda c: divide(c.tp * c.total, c.predicted * c.actual),
        reading={
            "truth": (True, "Precision over what predictions on random steps would score (AAδ / T)."),
            "predictions": (True, "Recall over what events on random steps would score (PAδ / T)."),
        },
    ),
    "positive_likelihood_ratio": Measure(
        formula="recall / false positive rate",
        of=lambda c: divide(c.tp * c.not_actual, c.fp * c.actual),
        reading=_MIXED,
    ),
    "negative_likelihood_ratio": Measure(
        formula="miss rate / specificity",
        of=lambda c: divide(c.fn * c.not_actual, c.tn * c.actual),
        reading=_MIXED,
    ),
    "diagnostic_odds_ratio": Measure(
        formula="TP TN / (FP FN)", of=lambda c: divide(c.tp * c.tn, c.fp * c.fn), reading=_MIXED
    ),
}
"""Every standard measure of a confusion matrix (Powers 2007), by name."""
