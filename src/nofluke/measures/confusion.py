"""Confusion matrices with tolerance on one side, and every standard measure of them, with a word on what it means.

Two matrices, not one: tolerance in the truth (Table 1 of the paper) gives precision, tolerance in the predictions
(Table 2) gives recall. Both partition the steps, but widening one side changes what its entries count, and most
measures lose their usual meaning. Each measure says whether it can be read as usual, and why.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from nofluke.errors import InputError
from nofluke.plain import as_number, as_whole, check_word
from nofluke.ratios import divide
from nofluke.series.trial import Trial
from nofluke.text.exports import Exports
from nofluke.text.tables import Table

# ---- how a measure reads in a matrix with tolerance on one side: whether as usual, and the reason


Reading = dict[str, tuple[bool, str]]
"""For tolerance in the truth and in the predictions: whether the measure can be read as usual, and why."""

_SMEARED_FN = "FN counts silent steps near an event, even those next to an alarm that found it: they are not misses."
_SMEARED_FP = (
    "FP counts eventless steps near a prediction, even those next to an event that was found: they are not false "
    "alarms."
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
MIXED: Reading = {"truth": (False, _MIXED_TRUTH), "predictions": (False, _MIXED_PRED)}
PER_CALM: Reading = {"truth": (False, _WIDE_CALM), "predictions": (False, _SMEARED_FP)}
PER_SILENCE: Reading = {"truth": (False, _SMEARED_FN), "predictions": (False, _WIDE_SILENCE)}
PREVALENCE: Reading = {
    "truth": (False, "It is the share of steps near an event: what a random prediction would score as precision."),
    "predictions": (True, "The share of steps that are events."),
}
BIAS: Reading = {
    "truth": (True, "The share of steps that are predicted."),
    "predictions": (False, "It is the share of steps near a prediction: what a random event would score as recall."),
}
WARNING: Reading = {
    "truth": (False, "It leaves out the tolerance: the share of steps that are predicted."),
    "predictions": (
        True,
        "The share of steps within the tolerance of a prediction: what a random event would score as recall.",
    ),
}
IMPROVEMENT: Reading = {
    "truth": (False, _WIDE_TRUTH),
    "predictions": (True, "Recall less what events on random steps would score (PAδ / T)."),
}
LIFT: Reading = {
    "truth": (True, "Precision over what predictions on random steps would score (AAδ / T)."),
    "predictions": (True, "Recall over what events on random steps would score (PAδ / T)."),
}


def per_predicted(good: str) -> Reading:
    """As usual where predictions are counted, which tolerance in the truth leaves alone."""
    return {"truth": (True, good), "predictions": (False, _WIDE_ALARM)}


def per_actual(good: str) -> Reading:
    """As usual where events are counted, which tolerance in the predictions leaves alone."""
    return {"truth": (False, _WIDE_TRUTH), "predictions": (True, good)}


# ---- confusion matrices with tolerance on one side, and every standard measure of them

ToleranceIn = Literal["neither", "truth", "predictions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion(Exports):
    """Counts of steps by what was predicted and what was true, with the tolerance on one side or on neither.

    Attributes
    ----------
    tp, fp, fn, tn : int
        Steps predicted and true, predicted only, true only, neither; they partition the steps that count.
    tolerance_in : {"neither", "truth", "predictions"}
        Where the tolerance was allowed: "truth" reads *true* as "an event within the tolerance" (Table 1 of the
        paper), "predictions" reads *predicted* as "a prediction within the tolerance" (Table 2).

    See Also
    --------
    nofluke.Evaluation : has one for precision and one for recall.
    nofluke.Tolerance : what near means.

    Notes
    -----
    Matrices of the same kind add up: ``sum(matrices)`` pools sequences. Ratios with a denominator of 0 are NaN.

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
    tolerance_in: ToleranceIn = "neither"

    def __post_init__(self) -> None:
        check_word(self.tolerance_in, "tolerance_in", ("neither", "truth", "predictions"))
        for name in ("tp", "fp", "fn", "tn"):
            # plain integers: products of NumPy's would overflow in silence
            object.__setattr__(self, name, as_whole(getattr(self, name), name, 0, 2**63 - 1))

    @classmethod
    def from_marginals(cls, tp: int, predicted: int, actual: int, total: int, tolerance_in: ToleranceIn) -> Confusion:
        """The matrix from its hits and marginal sums."""
        sums = {"tp": tp, "predicted": predicted, "actual": actual, "total": total}
        tp, predicted, actual, total = (as_whole(value, name, 0, 2**63 - 1) for name, value in sums.items())
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
            kinds = f"{other.tolerance_in} to one with tolerance in {self.tolerance_in}"
            raise InputError(
                problem=f"cannot add a matrix with tolerance in {kinds}", remedy="their entries count different things"
            )
        tp, fp, fn, tn = self.tp + other.tp, self.fp + other.fp, self.fn + other.fn, self.tn + other.tn
        return Confusion(tp=tp, fp=fp, fn=fn, tn=tn, tolerance_in=self.tolerance_in)

    def __radd__(self, other: object) -> Confusion:
        return self if other == 0 else self.__add__(other)  # sum() starts with 0

    def table(self) -> Table:
        """The matrix with its sums, which renders as text, Markdown, LaTeX or HTML."""
        where = "neither side" if self.tolerance_in == "neither" else f"the {self.tolerance_in}"
        counts = {
            "predicted": (self.tp, self.fp, self.predicted),
            "not predicted": (self.fn, self.tn, self.not_predicted),
            "sum": (self.actual, self.not_actual, self.total),
        }
        rows = tuple((name, *(f"{count:,}" for count in row)) for name, row in counts.items())
        return Table(title=f"Tolerance in {where}", columns=("", "true", "not true", "sum"), rows=rows)

    def columns(self) -> dict[str, list[Any]]:
        """One row: the four entries, and where the tolerance was allowed."""
        return {name: [value] for name, value in (self._record() | {"tolerance_in": self.tolerance_in}).items()}

    def _record(self) -> dict[str, Any]:
        return {"tp": self.tp, "fp": self.fp, "fn": self.fn, "tn": self.tn}

    def measure(self, name: str, *, zero_division: float = math.nan) -> float:
        """One standard measure by any of its names; ``zero_division`` where it is undefined. See :meth:`measures`.

        >>> import nofluke as nf
        >>> matrix = nf.Confusion(tp=82, fp=38, fn=23, tn=222)  # Finley-like warnings of rain
        >>> round(matrix.measure("pod"), 2), round(matrix.measure("far"), 2), round(matrix.measure("csi"), 2)
        (0.78, 0.32, 0.57)
        """
        undefined = check_zero_division(zero_division)
        value = named_measure(name).of(self)
        return undefined if math.isnan(value) else value

    def chance(self, name: str) -> float:
        """A measure's chance level: its value with as many hits as predictions on random steps are expected to have.

        With the sums of rows and columns as they are, TP is expected to be (TP + FP)(TP + FN) / T. For measures that
        are linear in TP, such as precision, recall, Peirce's and Heidke's skill score, this is also chance's mean.

        >>> import nofluke as nf
        >>> matrix = nf.Confusion(tp=3, fp=1, fn=2, tn=4)
        >>> matrix.chance("precision"), matrix.chance("heidke"), round(matrix.chance("csi"), 3)
        (0.5, 0.0, 0.286)
        """
        expected = object.__new__(Confusion)  # unchecked: products of counts may be large
        entries = {
            "tp": self.predicted * self.actual,
            "fp": self.predicted * self.not_actual,
            "fn": self.not_predicted * self.actual,
            "tn": self.not_predicted * self.not_actual,
        }
        for entry, count in entries.items():
            object.__setattr__(expected, entry, count)
        return named_measure(name).of(expected)

    def measures(self, *, zero_division: float = math.nan) -> dict[str, float]:
        """All standard measures, by name."""
        return {name: self.measure(name, zero_division=zero_division) for name in MEASURES}

    def interpretable(self, name: str) -> bool:
        """Whether the measure can be read as usual in this matrix (section 2.2 of the paper)."""
        return self.why(name)[0]

    def why(self, name: str) -> tuple[bool, str]:
        """Whether a measure can be read as usual in this matrix, and the reason."""
        found = named_measure(name)
        if self.tolerance_in == "neither":
            return True, "Without tolerance this is the ordinary confusion matrix."
        return found.reading[self.tolerance_in]


def check_zero_division(value: object) -> float:
    """What scikit-learn accepts, less its warning, as a plain float: 0, 1 or NaN."""
    return as_number(value, "zero_division", "be 0, 1 or nan", lambda number: number in (0, 1) or math.isnan(number))


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A standard measure: its formula in words, its function, how to read it in each tolerant matrix.

    ``also`` are its names in other fields, ``undefined`` says where it has no value and ``chance`` what predictions on
    random steps are expected to have.
    """

    formula: str
    of: Callable[[Confusion], float]
    reading: Reading
    undefined: str
    chance: str
    also: tuple[str, ...] = ()


# whole numbers up to the last division (or root): chance is exactly 0, perfection exactly 1, and nothing exceeds it
def _determinant(c: Confusion) -> int:
    return c.tp * c.tn - c.fp * c.fn


def _mcc(c: Confusion) -> float:
    product = c.predicted * c.not_predicted * c.actual * c.not_actual
    root = math.isqrt(product)  # a whole root is kept: beyond 2**53 a float's is off, and perfection would exceed 1
    return divide(_determinant(c), root if root * root == product else math.sqrt(product))


def _sedi(c: Confusion) -> float:
    if 0 in (c.tp, c.fp, c.fn, c.tn):
        return math.nan
    # logarithms of ratios of whole numbers: their difference is exactly 0 at chance
    odds = math.log(c.fp * c.fn) - math.log(c.tp * c.tn)
    below = math.log(c.fp * c.tn) - 2 * math.log(c.not_actual) + math.log(c.tp * c.fn) - 2 * math.log(c.actual)
    return odds / below


def _kappa(c: Confusion) -> float:
    below = c.predicted * c.not_actual + c.not_predicted * c.actual
    return divide(2 * _determinant(c), below)


MEASURES: dict[str, Measure] = {
    "precision": Measure(
        formula="TP / (TP + FP)",
        of=lambda c: divide(c.tp, c.predicted),
        reading=per_predicted("The share of predictions with an event within the tolerance: P_δ."),
        undefined="nothing is predicted",
        chance="prevalence",
        also=("success_ratio", "positive_predictive_value"),
    ),
    "false_discovery_rate": Measure(
        formula="FP / (TP + FP)",
        of=lambda c: divide(c.fp, c.predicted),
        reading=per_predicted("The share of predictions with no event within the tolerance: false alarms."),
        undefined="nothing is predicted",
        chance="1 - prevalence",
        also=("false_alarm_ratio", "far"),
    ),
    "recall": Measure(
        formula="TP / (TP + FN)",
        of=lambda c: divide(c.tp, c.actual),
        reading=per_actual("The share of events with a prediction within the tolerance: R_δ."),
        undefined="there are no events",
        chance="bias",
        also=("probability_of_detection", "pod", "sensitivity", "hit_rate"),
    ),
    "miss_rate": Measure(
        formula="FN / (TP + FN)",
        of=lambda c: divide(c.fn, c.actual),
        reading=per_actual("The share of events with no prediction within the tolerance: misses."),
        undefined="there are no events",
        chance="1 - bias",
    ),
    "prevalence": Measure(
        formula="(TP + FN) / T",
        of=lambda c: divide(c.actual, c.total),
        reading=PREVALENCE,
        undefined="T = 0",
        chance="itself",
        also=("base_rate",),
    ),
    "bias": Measure(
        formula="(TP + FP) / T",
        of=lambda c: divide(c.predicted, c.total),
        reading=BIAS,
        undefined="T = 0",
        chance="itself",
    ),
    "specificity": Measure(
        formula="TN / (FP + TN)",
        of=lambda c: divide(c.tn, c.not_actual),
        reading=PER_CALM,
        undefined="every step is an event",
        chance="1 - bias",
    ),
    "false_positive_rate": Measure(
        formula="FP / (FP + TN)",
        of=lambda c: divide(c.fp, c.not_actual),
        reading=PER_CALM,
        undefined="every step is an event",
        chance="bias",
        also=("probability_of_false_detection", "pofd"),
    ),
    "negative_predictive_value": Measure(
        formula="TN / (FN + TN)",
        of=lambda c: divide(c.tn, c.not_predicted),
        reading=PER_SILENCE,
        undefined="every step is predicted",
        chance="1 - prevalence",
    ),
    "false_omission_rate": Measure(
        formula="FN / (FN + TN)",
        of=lambda c: divide(c.fn, c.not_predicted),
        reading=PER_SILENCE,
        undefined="every step is predicted",
        chance="prevalence",
    ),
    "accuracy": Measure(
        formula="(TP + TN) / T",
        of=lambda c: divide(c.tp + c.tn, c.total),
        reading=MIXED,
        undefined="T = 0",
        chance="b p + (1 - b)(1 - p)",
        also=("proportion_correct",),
    ),
    "error_rate": Measure(
        formula="(FP + FN) / T",
        of=lambda c: divide(c.fp + c.fn, c.total),
        reading=MIXED,
        undefined="T = 0",
        chance="b (1 - p) + (1 - b) p",
    ),
    "balanced_accuracy": Measure(
        formula="(recall + specificity) / 2",
        of=lambda c: divide(c.tp * c.not_actual + c.tn * c.actual, 2 * c.actual * c.not_actual),
        reading=MIXED,
        undefined="no step, or every step, is an event",
        chance="1/2",
    ),
    "f1": Measure(
        formula="2 TP / (2 TP + FP + FN)",
        of=lambda c: divide(2 * c.tp, 2 * c.tp + c.fp + c.fn),
        reading=MIXED,
        undefined="there are no events and nothing is predicted",
        chance="2 b p / (b + p)",
        also=("dice",),
    ),
    "g_measure": Measure(
        formula="TP / sqrt((TP + FP)(TP + FN))",
        of=lambda c: divide(c.tp, math.sqrt(c.predicted * c.actual)),
        reading=MIXED,
        undefined="there are no events, or nothing is predicted",
        chance="sqrt(b p)",
    ),
    "jaccard": Measure(
        formula="TP / (TP + FP + FN)",
        of=lambda c: divide(c.tp, c.tp + c.fp + c.fn),
        reading=MIXED,
        undefined="there are no events and nothing is predicted",
        chance="b p / (b + p - b p)",
        also=("critical_success_index", "csi", "threat_score"),
    ),
    "informedness": Measure(
        formula="recall + specificity - 1",
        of=lambda c: divide(_determinant(c), c.actual * c.not_actual),
        reading=MIXED,
        undefined="no step, or every step, is an event",
        chance="0",
        also=("peirce_skill_score", "peirce", "true_skill_statistic", "hanssen_kuipers", "youden"),
    ),
    "markedness": Measure(
        formula="precision + negative predictive value - 1",
        of=lambda c: divide(_determinant(c), c.predicted * c.not_predicted),
        reading=MIXED,
        undefined="no step, or every step, is predicted",
        chance="0",
        also=("clayton_skill_score",),
    ),
    "mcc": Measure(
        formula="(TP TN - FP FN) / sqrt((TP + FP)(FN + TN)(TP + FN)(FP + TN))",
        of=_mcc,
        reading=MIXED,
        undefined="no step, or every step, is an event or is predicted",
        chance="0",
        also=("phi",),
    ),
    "kappa": Measure(
        formula="(accuracy - chance accuracy) / (1 - chance accuracy)",
        of=_kappa,
        reading=MIXED,
        undefined="all steps are of one kind, TP or TN",
        chance="0",
        also=("heidke_skill_score", "heidke"),
    ),
    "weighted_relative_accuracy": Measure(
        formula="(TP TN - FP FN) / T²",
        of=lambda c: divide(_determinant(c), c.total**2),
        reading=MIXED,
        undefined="T = 0",
        chance="0",
    ),
    "lift": Measure(
        formula="precision / prevalence",
        of=lambda c: divide(c.tp * c.total, c.predicted * c.actual),
        reading=LIFT,
        undefined="there are no events, or nothing is predicted",
        chance="1",
        also=("probability_gain",),
    ),
    "positive_likelihood_ratio": Measure(
        formula="recall / false positive rate",
        of=lambda c: divide(c.tp * c.not_actual, c.fp * c.actual),
        reading=MIXED,
        undefined="there are no events or no false positives",
        chance="1",
    ),
    "negative_likelihood_ratio": Measure(
        formula="miss rate / specificity",
        of=lambda c: divide(c.fn * c.not_actual, c.tn * c.actual),
        reading=MIXED,
        undefined="there are no events or no true negatives",
        chance="1",
    ),
    "diagnostic_odds_ratio": Measure(
        formula="TP TN / (FP FN)",
        of=lambda c: divide(c.tp * c.tn, c.fp * c.fn),
        reading=MIXED,
        undefined="there are no false positives, or no misses",
        chance="1",
        also=("odds_ratio",),
    ),
    "equitable_threat_score": Measure(
        formula="(TP - r) / (TP + FP + FN - r), r = (TP + FP)(TP + FN) / T",
        of=lambda c: divide(_determinant(c), c.total * (c.tp + c.fp + c.fn) - c.predicted * c.actual),
        reading=MIXED,
        undefined="all steps are of one kind, TP or TN",
        chance="0",
        also=("ets", "gilbert_skill_score"),
    ),
    "sedi": Measure(
        formula="(ln F - ln R - ln(1 - F) + ln(1 - R)) / (ln F + ln R + ln(1 - F) + ln(1 - R)), F = FP / (FP + TN), R = recall",
        of=_sedi,
        reading=MIXED,
        undefined="TP, FP, FN or TN is 0",
        chance="0",
        also=("symmetric_extremal_dependence_index",),
    ),
    "frequency_bias": Measure(
        formula="(TP + FP) / (TP + FN)",
        of=lambda c: divide(c.predicted, c.actual),
        reading=MIXED,
        undefined="there are no events",
        chance="itself",
    ),
    "time_in_warning": Measure(
        formula="(TP + FP) / T, with the tolerance in the predictions",
        of=lambda c: divide(c.predicted, c.total),
        reading=WARNING,
        undefined="T = 0",
        chance="itself",
    ),
    "improvement_over_chance": Measure(
        formula="recall - (TP + FP) / T",
        of=lambda c: divide(_determinant(c), c.actual * c.total),
        reading=IMPROVEMENT,
        undefined="there are no events",
        chance="0",
    ),
}
"""Every standard measure of a confusion matrix (Powers 2007; Jolliffe and Stephenson 2012), by name."""

OTHER_NAMES = {other: name for name, one in MEASURES.items() for other in one.also}
"""What other fields call them."""


def named_measure(name: str) -> Measure:
    """The measure of that name, in any field."""
    check_word(name, "name", (*MEASURES, *OTHER_NAMES))
    return MEASURES[OTHER_NAMES.get(name, name)]


# ---- both matrices of a cell


def both_matrices(trial: Trial, d: int, k: int) -> tuple[Confusion | None, Confusion | None]:
    """Both confusion matrices of a cell of a trial: with tolerance in the truth, and in the predictions.

    Matrices count steps: the first is None where alarms are episodes, the second where events are ranges.
    """
    zero, n = trial.tolerances[d].zero, trial.n_steps
    hits, found = int(trial.precision_hits[d, k]), int(trial.recall_hits[d, k])
    alarms, near, reach = map(int, (trial.n_predictions[k], trial.near_events[d], trial.near_predictions[d, k]))
    steps = trial.count_alarms == "steps"
    return (
        Confusion.from_marginals(hits, alarms, near, n, "neither" if zero else "truth") if steps else None,
        Confusion.from_marginals(found, reach, trial.n_events, n, "neither" if zero else "predictions")
        if trial.truth.count_events == "steps" and trial.truth.points
        else None,
    )
