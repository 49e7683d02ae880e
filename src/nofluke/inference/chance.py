"""Tests against chance: an observed number of hits with its law under the null, and F_β with the joint law.

The section "P-values" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from nofluke.arrays import ByValue, FloatArray
from nofluke.errors import NumericalError
from nofluke.laws.law import SMALLEST, How, Law, Tail, TailSide
from nofluke.lazy import lazy
from nofluke.nulls.base import Joint
from nofluke.plain import check_beta, check_word, finite_or_none
from nofluke.ratios import TIE_SLACK, divide, f_of_hits
from nofluke.text.numbers import p_is, show_chance

Alternative = Literal["greater", "less", "two-sided"]
Side = Literal["greater", "less"]
Ties = Literal["full", "mid"]
ALTERNATIVES: tuple[Alternative, ...] = ("greater", "less", "two-sided")
SIDES: dict[Alternative, tuple[TailSide, ...]] = {
    "greater": ("upper",),
    "less": ("lower",),
    "two-sided": ("upper", "lower"),
}


@dataclass(frozen=True, kw_only=True, repr=False)
class ChanceTest:
    """How an observed number of hits compares with what chance scores.

    Attributes
    ----------
    measure : str
        "precision" or "recall".
    hits, of : int
        Observed hits, and the predictions or events they are counted from.
    law : Law
        The distribution of the hits under the null model.
    model : str
        The null model's name, such as "permutation".
    alternative : {"greater", "less", "two-sided"}
        Which hits count as extreme: at least as many (as in the paper), at most as many, or either.
    ties : {"full", "mid"}
        Whether hits equal to the observed count fully ("full", which guarantees P(p ≤ α) ≤ α) or by half (mid-p).

    Examples
    --------
    >>> import nofluke as nf
    >>> result = nf.evaluate([0, 1, 0, 0, 0, 0, 1, 0], predictions=[0, 1, 0, 0, 0, 0, 1, 0], null="permutation")
    >>> round(result.recall_test.pvalue, 6)  # one way in 28 to place two events
    0.035714
    >>> result.recall_test.expected, result.recall_test.excess
    (0.5, 1.5)
    """

    measure: str
    hits: int
    of: int
    law: Law
    model: str
    alternative: Alternative = "greater"
    ties: Ties = "full"

    @property
    def pvalue(self) -> float:
        """Probability that chance does at least as well (or as the alternative says); 1 where there is nothing to test.

        Never 0: where no double can hold it, the smallest positive one; `log10_pvalue` is right there too.
        """
        return self.tail.p

    @property
    def log10_pvalue(self) -> float:
        """The p-value's logarithm to base 10, right also where the p-value itself underflows."""
        return self.tail.log_p / math.log(10)

    @lazy
    def tail(self) -> Tail:
        """The p-value with its logarithm and how it was computed."""
        return self._tail_for(self.alternative, self.ties)

    def pvalue_for(self, alternative: Alternative, ties: Ties = "full") -> float:
        """The p-value for any alternative; two-sided is twice the smaller one, at most 1."""
        check_alternative(alternative, ties)
        asked = self.alternative, self.ties
        return self.tail.p if (alternative, ties) == asked else self._tail_for(alternative, ties).p

    def _tail_for(self, alternative: Alternative, ties: Ties) -> Tail:
        if self.of == 0:  # no prediction, or no event: there is nothing to test
            return Tail.of(1.0, self.law.method)
        exceeding = self.law.tail if ties == "full" else self._halved
        tails = [exceeding(self.hits, side) for side in SIDES[alternative]]
        least = min(tails, key=lambda tail: tail.log_p)
        p, log_p = least.p, least.log_p
        if len(tails) == 2:
            p, log_p = min(2 * p, 1.0), min(log_p + math.log(2), 0.0)
        # a table of doubles knows nothing below the smallest one
        return Tail(
            p=max(p, SMALLEST), log_p=max(log_p, math.log(SMALLEST)) if p == 0.0 else log_p, method=least.method
        )

    def _halved(self, hits: int, side: TailSide) -> Tail:
        """A tail that counts hits equal to these by half."""
        tail = self.law.tail(hits, side)
        if all(self.law.tail(hits, way).p == 1.0 for way in ("upper", "lower")):
            return tail  # where chance always scores the same there is nothing to test, and nothing to halve
        beyond = self.law.tail(hits + (1 if side == "upper" else -1), side)
        halved = float(np.logaddexp(tail.log_p, beyond.log_p)) - math.log(2)
        return Tail(p=(tail.p + beyond.p) / 2 or SMALLEST, log_p=halved, method=tail.method)

    @property
    def pvalue_error(self) -> float:
        """Monte Carlo standard error of the p-value, sqrt(p(1-p)/n); 0 where it is computed without simulation."""
        return error_of(self.pvalue, self.how.n_resamples, len(SIDES[self.alternative]))

    @property
    def how(self) -> How:
        """How the p-value was computed."""
        return self.tail.method

    @property
    def method(self) -> str:
        """How the p-value was computed, in words."""
        return str(self.how)

    @property
    def value(self) -> float:
        """The measure itself: hits over trials; NaN without trials."""
        return divide(self.hits, self.of)

    @property
    def expected(self) -> float:
        """Hits that chance is expected to score."""
        return self.law.mean

    @property
    def std(self) -> float:
        """Standard deviation of chance's hits."""
        return self.law.std

    @property
    def excess(self) -> float:
        """Hits above what chance is expected to score."""
        return self.hits - self.law.mean

    @property
    def zscore(self) -> float:
        """Excess in standard deviations of chance; NaN where chance always scores the same."""
        return divide(self.excess, self.law.std)

    @property
    def chance_corrected(self) -> float:
        """(hits - expected)/(trials - expected), like Cohen's κ: 0 is chance, 1 perfect, NaN if chance is perfect."""
        return divide(self.excess, self.of - self.law.mean)

    def critical_value(self, alpha: float) -> int | None:
        """The smallest number of hits with P(X ≥ hits) ≤ alpha; None where no number of hits reaches it."""
        return self.law.critical_value(alpha)

    def in_words(self) -> str:
        """What chance gives and the p-value, as the end of a sentence."""
        chance = f"chance gives {show_chance(self.expected, self.std)}"
        error = self.pvalue_error
        return f"{chance}; {p_is(self.pvalue, self.log10_pvalue)}" + (f" ± {error:.1g}" if error else "")

    def __repr__(self) -> str:
        asked = self.alternative + (", mid-p" if self.ties == "mid" else "")
        return (
            f"<ChanceTest of {self.measure}: {self.hits:,} of {self.of:,}, {self.in_words()} ({asked});\n"
            f" null {self.model}: {self.method}>"
        )

    def to_dict(self) -> dict[str, Any]:
        """The test as plain values, for JSON."""
        return {
            "pvalue": self.pvalue,
            "log10_pvalue": self.log10_pvalue,
            "expected": self.expected,
            "std": self.std,
            "method": self.method,
            "null": self.model,
            "alternative": self.alternative,
            "ties": self.ties,
            "zscore": finite_or_none(self.zscore),
            "chance_corrected": finite_or_none(self.chance_corrected),
            **(
                {"n_resamples": self.how.n_resamples, "seed": self.how.seed, "pvalue_error": self.pvalue_error}
                if self.how.kind == "simulated"
                else {}
            ),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class FTest:
    """An observed F_β against what chance scores.

    Attributes
    ----------
    beta, value : float
        β and the observed F_β; NaN where precision or recall is undefined.
    pvalue : float
        Probability that chance reaches at least this F_β; 1 where it is undefined.
    expected, std : float
        Mean and standard deviation of chance's F_β.
    method : str
        "exact (dynamic programme)" or "montecarlo".
    n_resamples, seed : int or None
        Of Monte Carlo.
    smallest : float
        The smallest p-value that can come out.
    """

    beta: float
    value: float
    pvalue: float
    expected: float
    std: float
    method: str
    n_resamples: int | None = None
    seed: int | None = None
    smallest: float = 0.0

    @property
    def pvalue_error(self) -> float:
        """Monte Carlo standard error of the p-value; 0 where it is exact."""
        return error_of(self.pvalue, self.n_resamples)

    def to_dict(self) -> dict[str, Any]:
        """The test as plain values, for JSON."""
        drawn = {"n_resamples": self.n_resamples, "seed": self.seed, "pvalue_error": self.pvalue_error}
        return {
            "pvalue": self.pvalue,
            "expected": self.expected,
            "std": self.std,
            "method": self.method,
            **(drawn if self.n_resamples else {}),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class FLaw(ByValue):
    """What chance scores in F_β: values with their weights, from the joint law of both hits.

    Weights are probabilities, or numbers of resamples.
    """

    values: FloatArray = field(repr=False)
    weights: FloatArray = field(repr=False)
    method: How

    @classmethod
    def of(cls, joint: Joint, n_predictions: int, n_events: int, beta: float) -> FLaw:
        """F_β = (1 + β²) C R / (β² C m + R n), and 0 without hits, for all pairs of hits (R, C)."""
        total = float(joint.weights.sum())
        if not total > 0.0 or not np.isfinite(total):
            raise NumericalError(
                f"the joint law of both hits could not be computed by the method {joint.method}: this is a bug, please "
                "report it."
            )
        values = f_of_hits(joint.precision_hits, joint.recall_hits, n_predictions, n_events, beta)
        return cls(values=values, weights=joint.weights, method=joint.method)

    @lazy
    def mean(self) -> float:
        """The expected F_β."""
        return float(self.weights @ self.values) / float(self.weights.sum())

    @lazy
    def std(self) -> float:
        """Its standard deviation."""
        variance = float(self.weights @ (self.values - self.mean) ** 2) / float(self.weights.sum())
        return math.sqrt(max(variance, 0.0))

    def tail(self, bar: float, side: Side = "greater") -> float:
        """P(F_β ≥ bar) or P(F_β ≤ bar), never 0."""
        low, high = bar * (1 - TIE_SLACK), bar * (1 + TIE_SLACK)
        weight = float(self.weights[self.values >= low if side == "greater" else self.values <= high].sum())
        if self.method.n_resamples is None:
            return min(max(weight, SMALLEST), 1.0)
        return (weight + 1) / (self.method.n_resamples + 1)

    @lazy
    def ordered(self) -> tuple[FloatArray, FloatArray]:
        """Each value once, ascending, with its weight."""
        order = np.argsort(self.values, kind="stable")
        values, weights = self.values[order], self.weights[order]
        first = np.flatnonzero(np.append(True, values[1:] > values[:-1] * (1 + TIE_SLACK)))
        return values[first], np.add.reduceat(weights, first)


def f_test(value: float, joint: Joint, n_predictions: int, n_events: int, beta: float = 1.0) -> FTest:
    """P(F_β ≥ value), from the joint law of both hits."""
    beta = check_beta(beta)
    law = FLaw.of(joint, n_predictions, n_events, beta)
    return FTest(
        beta=beta,
        value=value,
        pvalue=1.0 if math.isnan(value) else law.tail(value),
        expected=law.mean,
        std=law.std,
        method=str(joint.method),
        n_resamples=joint.method.n_resamples,
        seed=joint.method.seed,
        smallest=1.0 if math.isnan(value) else law.tail(max(float(law.values.max()), value)),
    )


def error_of(pvalue: float, n_resamples: int | None, sides: int = 1) -> float:
    """The Monte Carlo standard error of a p-value, 0 without resamples; that of two sides is twice the smaller one."""
    if not n_resamples:
        return 0.0
    one = pvalue / sides
    return sides * math.sqrt(one * (1 - one) / n_resamples)


def significant(pvalue: float, alpha: float) -> bool:
    """Whether a p-value is at most alpha, up to rounding."""
    return pvalue <= alpha * (1 + TIE_SLACK)


def check_alternative(alternative: object, ties: object) -> None:
    """Refuse what is not an alternative or a way to treat ties."""
    check_word(alternative, "alternative", ALTERNATIVES)
    check_word(ties, "ties", ("full", "mid"))
