"""Tests against chance: an observed number of hits beside its null distribution, and corrections for many tests."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nofluke.confusion import TIE_SLACK, divide, f_of_hits
from nofluke.distributions import SMALLEST, EmpiricalNull, NullDistribution, Side, Tail
from nofluke.errors import InputError
from nofluke.nulls.base import Joint
from nofluke.plain import as_number, check_word

FloatArray = npt.NDArray[np.float64]
Alternative = Literal["greater", "less", "two-sided"]
Ties = Literal["full", "mid"]
Verdict = Literal["no", "partly", "yes"]
VERDICTS: tuple[Verdict, ...] = ("no", "partly", "yes")
ALTERNATIVES: tuple[Alternative, ...] = ("greater", "less", "two-sided")


def show_p(value: float, log10: float | None = None) -> str:
    """A p-value in two digits, never rounded to 0: from its logarithm where a double cannot hold it.

    >>> show_p(4.063e-12), show_p(0.0312), show_p(1.0), show_p(0.0), show_p(5e-324, -437.12)
    ('4.1e-12', '0.031', '1', '< 1e-300', '7.6e-438')
    """
    if value < 1e-300:
        if log10 is None:
            return "< 1e-300"
        digits, power = f"{10 ** (log10 % 1):.1f}", math.floor(log10)
        return f"1.0e{power + 1}" if digits == "10.0" else f"{digits}e{power}"
    if value < 0.001:
        return f"{value:.1e}"
    return f"{value:.2g}" if value < 0.9995 else f"{value:.4g}"


def p_is(value: float, log10: float | None = None) -> str:
    """A p-value as it stands in a sentence.

    >>> p_is(4.063e-12), p_is(0.0)
    ('p = 4.1e-12', 'p < 1e-300')
    """
    shown = show_p(value, log10)
    return f"p {shown}" if shown.startswith("<") else f"p = {shown}"


def show_chance(mean: float, std: float) -> str:
    """Mean ± standard deviation: the deviation in two digits, the mean to the same place.

    >>> show_chance(71.49893, 10.1114), show_chance(39.91396, 5.309), show_chance(3.0, 0.0)
    ('71 ± 10', '39.9 ± 5.3', '3 ± 0')
    """
    if std == 0:
        return f"{mean:.6g} ± 0"
    places = max(1 - math.floor(math.log10(std)), 0)
    return f"{mean:,.{places}f} ± {std:,.{places}f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChanceTest:
    """How an observed number of hits compares with what chance scores.

    Attributes
    ----------
    measure : str
        "precision" or "recall".
    hits, of : int
        Observed hits, and the predictions or events they are counted from.
    null : NullDistribution
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
    >>> result = nf.evaluate([0, 1, 0, 0, 0, 0, 1, 0], predictions=[0, 1, 0, 0, 0, 0, 1, 0])
    >>> round(result.recall_test.pvalue, 6)  # one way in 28 to place two events
    0.035714
    >>> result.recall_test.expected, result.recall_test.excess
    (0.5, 1.5)
    """

    measure: str
    hits: int
    of: int
    null: NullDistribution = field(repr=False)
    model: str
    alternative: Alternative = "greater"
    ties: Ties = "full"

    @property
    def pvalue(self) -> float:
        """Probability that chance does at least as well (or as the alternative says); 1 where there is nothing to test.

        Never 0: where no double can hold it, the smallest positive one; `log10_pvalue` is right there too.
        """
        return self.pvalue_for(self.alternative, self.ties)

    @property
    def log10_pvalue(self) -> float:
        """The p-value's logarithm to base 10, right also where the p-value itself underflows."""
        return self._tail_for(self.alternative, self.ties).log_p / math.log(10)

    def pvalue_for(self, alternative: Alternative, ties: Ties = "full") -> float:
        """The p-value for any alternative; two-sided is twice the smaller one, at most 1."""
        return self._tail_for(alternative, ties).p

    def _tail_for(self, alternative: Alternative, ties: Ties) -> Tail:
        check_alternative(alternative, ties)
        sides: dict[Alternative, tuple[Side, ...]] = {
            "greater": ("upper",),
            "less": ("lower",),
            "two-sided": ("upper", "lower"),
        }
        tails = [self._tied(side, ties) for side in sides[alternative]]
        least = min(tails, key=lambda tail: tail.log_p)
        p, log_p = least.p, least.log_p
        if len(tails) == 2:
            p, log_p = min(2 * p, 1.0), min(log_p + math.log(2), 0.0)
        # a table of doubles knows nothing below the smallest one
        return Tail(
            p=max(p, SMALLEST), log_p=max(log_p, math.log(SMALLEST)) if p == 0.0 else log_p, method=least.method
        )

    def _tied(self, side: Side, ties: Ties) -> Tail:
        """A tail that counts hits equal to the observed fully, or by half."""
        tail = self.null.tail(self.hits, side)
        if ties == "full":
            return tail
        beyond = self.null.tail(self.hits + (1 if side == "upper" else -1), side)
        halved = float(np.logaddexp(tail.log_p, beyond.log_p)) - math.log(2)
        return Tail(p=(tail.p + beyond.p) / 2 or SMALLEST, log_p=halved, method=tail.method)

    @property
    def pvalue_error(self) -> float:
        """Monte Carlo standard error of the p-value, sqrt(p(1-p)/n); 0 where it is computed without simulation."""
        if not isinstance(self.null, EmpiricalNull):
            return 0.0
        p, sides = self.pvalue, 2 if self.alternative == "two-sided" else 1  # two-sided is twice the smaller tail
        return sides * math.sqrt(p / sides * (1 - p / sides) / self.null.n_resamples)

    @property
    def method(self) -> str:
        """How the p-value was computed."""
        return self._tail_for(self.alternative, self.ties).method

    @property
    def value(self) -> float:
        """The measure itself: hits over trials; NaN without trials."""
        return divide(self.hits, self.of)

    @property
    def expected(self) -> float:
        """Hits that chance is expected to score."""
        return self.null.mean

    @property
    def std(self) -> float:
        """Standard deviation of chance's hits."""
        return self.null.std

    @property
    def excess(self) -> float:
        """Hits above what chance is expected to score."""
        return self.hits - self.null.mean

    @property
    def zscore(self) -> float:
        """Excess in standard deviations of chance; NaN where chance always scores the same."""
        return divide(self.excess, self.null.std)

    @property
    def chance_corrected(self) -> float:
        """(hits - expected)/(trials - expected): 0 for chance, 1 for perfect, as Cohen's κ; NaN if chance is perfect."""
        return divide(self.excess, self.of - self.null.mean)

    def critical_value(self, alpha: float) -> int | None:
        """The smallest number of hits with P(X ≥ hits) ≤ alpha; None where no number of hits reaches it."""
        return self.null.critical_value(alpha)

    def in_words(self) -> str:
        """What chance gives and the p-value, as the end of a sentence."""
        chance = f"chance gives {show_chance(self.expected, self.std)}"
        error = self.pvalue_error
        return f"{chance}; {p_is(self.pvalue, self.log10_pvalue)}" + (f" ± {error:.1g}" if error else "")

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
            "zscore": None if math.isnan(self.zscore) else self.zscore,
            "chance_corrected": None if math.isnan(self.chance_corrected) else self.chance_corrected,
            **(
                {"n_resamples": self.null.n_resamples, "seed": self.null.seed, "pvalue_error": self.pvalue_error}
                if isinstance(self.null, EmpiricalNull)
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
    """

    beta: float
    value: float
    pvalue: float
    expected: float
    std: float
    method: str
    n_resamples: int | None = None
    seed: int | None = None

    @property
    def pvalue_error(self) -> float:
        """Monte Carlo standard error of the p-value; 0 where it is exact."""
        return math.sqrt(self.pvalue * (1 - self.pvalue) / self.n_resamples) if self.n_resamples else 0.0


def f_test(value: float, joint: Joint, n_predictions: int, n_events: int, beta: float = 1.0) -> FTest:
    """P(F_β ≥ value) with F_β = (1 + β²) C R / (β² C m + R n), and 0 without hits, from the joint law of both hits."""
    beta = check_beta(beta)
    chance = f_of_hits(joint.precision_hits, joint.recall_hits, n_predictions, n_events, beta)
    total = float(joint.weights.sum())
    mean = float(joint.weights @ chance) / total
    reached = float(joint.weights[chance >= value * (1 - TIE_SLACK)].sum())
    if math.isnan(value):
        pvalue = 1.0
    elif joint.n_resamples is None:
        pvalue = min(max(reached, SMALLEST), 1.0)
    else:
        pvalue = (reached + 1) / (joint.n_resamples + 1)
    return FTest(
        beta=beta,
        value=value,
        pvalue=pvalue,
        expected=mean,
        std=math.sqrt(max(float(joint.weights @ (chance - mean) ** 2) / total, 0.0)),
        method=joint.method,
        n_resamples=joint.n_resamples,
        seed=joint.seed,
    )


def significant(pvalue: float, alpha: float) -> bool:
    """Whether a p-value is at most alpha, be it by rounding a bit above."""
    return pvalue <= alpha * (1 + TIE_SLACK)


def check_beta(beta: object) -> float:
    """The β of F_β as a plain float; refuses what is none."""
    return as_number(beta, "beta", "be finite and not negative", lambda number: 0 <= number < math.inf)


def check_alpha(alpha: object) -> float:
    """The level as a plain float; refuses what is none."""
    return as_number(alpha, "alpha", "be between 0 and 1", lambda number: 0 < number < 1)


def check_alternative(alternative: object, ties: object) -> None:
    """Refuse what is not an alternative or a way to treat ties."""
    check_word(alternative, "alternative", ALTERNATIVES)
    check_word(ties, "ties", ("full", "mid"))


def holm(pvalues: Any) -> FloatArray:
    """P-values corrected for their number by Holm's step-down method: familywise error, whatever the dependence.

    Sorted ascending, p_(i) becomes max_{j ≤ i} min(1, (n - j + 1) p_(j)). NaN are no tests and stay NaN.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    return _corrected(pvalues, lambda p: np.maximum.accumulate(p * np.arange(len(p), 0, -1)))


def benjamini_hochberg(pvalues: Any) -> FloatArray:
    """P-values corrected by Benjamini and Hochberg's step-up method: the expected share of false discoveries.

    Sorted ascending, p_(i) becomes min_{j ≥ i} min(1, n p_(j) / j). Proven for independent and
    positively dependent tests; for the thresholds of one sweep that is plausible, not proven. NaN are no tests and stay NaN.

    References
    ----------
    Benjamini and Hochberg (1995), Controlling the false discovery rate.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    array([0.03, 0.04, 0.04])
    """
    return _corrected(pvalues, lambda p: np.minimum.accumulate((p * len(p) / np.arange(1, len(p) + 1))[::-1])[::-1])


def _corrected(pvalues: Any, adjust: Any) -> FloatArray:
    p = np.asarray(pvalues, dtype=np.float64)
    if ((p < 0) | (p > 1)).any():
        raise InputError("pvalues must lie between 0 and 1.")
    result = np.full(p.shape, np.nan)
    tested = ~np.isnan(p)
    flat = p[tested]
    order = np.argsort(flat, kind="stable")
    corrected = np.empty(len(flat))
    corrected[order] = np.minimum(adjust(flat[order]), 1.0)
    result[tested] = corrected
    return result
