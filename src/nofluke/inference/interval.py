"""Intervals of precision, recall and F1 from units that are treated as independent: the units, and what they allow.

The section "Intervals" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.errors import InputError
from nofluke.plain import as_number, check_word, finite_or_none
from nofluke.text.tables import plural, show_share

NAMES = {"precision": "precision", "recall": "recall", "f1": "F1"}
MEASURES = tuple(NAMES)
ALARMS, HITS, EVENTS, FOUND = range(4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Linearised:
    """Three measures of summed units, and what each unit adds to them, to first order.

    Attributes
    ----------
    values : array of 3
        Precision, recall and F1; NaN where there are no alarms, no events, or either.
    left_out : array, K x 3
        How much each measure loses where the unit is left out: u_i / (1 - w_i), exactly for precision and recall, with
        u_i = (h_i - P a_i) / Σa and w_i = a_i / Σa, or (f_i - R e_i) / Σe and e_i / Σe; for F1 by the chain rule. NaN
        where nothing would remain.
    """

    values: FloatArray
    left_out: FloatArray = field(repr=False)


def linearise(units: IntArray | FloatArray) -> Linearised:
    """Measures and linear terms of K units, K x 4 counts.

    >>> found = linearise(np.array([[4, 2, 1, 1], [1, 1, 2, 1]]))
    >>> found.values.round(3)
    array([0.6  , 0.667, 0.632])
    >>> found.left_out[:, 0].round(3)  # without the first unit precision is 1, without the second .5
    array([-0.4,  0.1])
    """
    counts = np.asarray(units, dtype=np.float64)
    of, hits, total = counts[:, [ALARMS, EVENTS]], counts[:, [HITS, FOUND]], counts.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = total[[HITS, FOUND]] / total[[ALARMS, EVENTS]]
        p, r = shares
        f1 = np.where(p + r == 0, 0.0, 2 * p * r / (p + r))
        # at P = R = 0 F1 has no slope; nothing moves it there
        slopes = np.stack([np.where(p + r == 0, 0.0, 2 * (x / (p + r)) ** 2) for x in (r, p)])
        rest = total[[ALARMS, EVENTS]] - of
        both = np.where(rest > 0, (hits - shares * of) / rest, np.nan)
    left_out = np.concatenate([both, (both * slopes).sum(axis=1, keepdims=True)], axis=1)
    return Linearised(values=np.append(shares, f1), left_out=left_out)


def weighed(units: IntArray | FloatArray) -> tuple[float, float]:
    """Kish's number of units for precision and recall: (Σa)² / Σa² and (Σe)² / Σe², largest if even; 0 without any.

    >>> weighed(np.array([[4, 2, 1, 1]] * 12)), weighed(np.array([[90, 2, 1, 1], [10, 1, 0, 0]]))
    ((12.0, 12.0), (1.2195121951219512, 1.0))
    """
    sizes = np.asarray(units, dtype=np.float64)[:, [ALARMS, EVENTS]]
    squares = (sizes**2).sum(axis=0)
    alarms, events = np.divide(sizes.sum(axis=0) ** 2, squares, out=np.zeros(2), where=squares > 0).tolist()
    return alarms, events


# ---- intervals for precision, recall and F1, from units that are treated as independent: episodes

Kind = Literal["episodes", "series", "groups", "truths"]
Name = Literal["korn-graubard", "logit-t", "t", "none"]

FEWEST = 10
"""Units that hold what is counted, below which their scatter says too little of a variance."""

LIGHTEST = 5
"""Units of equal size that they must weigh as much as, or a few large ones decide."""

NEEDS = f", and an interval needs at least {FEWEST}"
UNITS = {
    "episodes": ("episode", "episodes"),
    "series": ("series", "series"),
    "groups": ("group", "groups"),
    "truths": ("truth", "truths"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Where a measure may lie in the long run.

    Attributes
    ----------
    low, high : float
        NaN where there is none.
    level : float
        How often such intervals hold the long-run value.
    estimate : float
        The measure itself; NaN where it is undefined.
    n_units : int
        Units that hold alarms (precision) or events (recall); for F1 the fewer of the two.
    effective_size : float
        The size of an independent sample with the same variance, at most the count; NaN where there is no interval.
    df : float
        Degrees of freedom of the variance: one less than Kish's number of units, which is that of the units where all
        have the same size, and smaller where few hold most.
    method : {"korn-graubard", "logit-t", "t", "none"}
    lacking : str
        What there is too little of for an interval, as a clause; empty where there is one.
    needs : str
        What an interval would need instead, where that is not said yet.
    """

    low: float
    high: float
    level: float
    estimate: float
    n_units: int
    effective_size: float
    df: float
    method: Name
    lacking: str = ""
    needs: str = ""

    @property
    def reason(self) -> str:
        """Why there is no interval; empty where there is one."""
        return f"{self.lacking[:1].upper()}{self.lacking[1:]}{self.needs}." if self.lacking else ""

    def __bool__(self) -> bool:
        return self.method != "none"

    def __str__(self) -> str:
        return f"{show_share(self.low)} to {show_share(self.high)}" if self else "none"

    def to_dict(self) -> dict[str, Any]:
        """As plain values; None for what there is not."""
        numbers = {name: finite_or_none(getattr(self, name)) for name in ("low", "high", "effective_size")}
        return numbers | {"n_units": self.n_units, "df": self.df, "method": self.method, "reason": self.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """Intervals for precision, recall and F1, each by itself at the level.

    Attributes
    ----------
    precision, recall, f1 : Interval
    kind : {"episodes", "series", "groups", "truths"}
        What units are.
    nouns : pair of str
        What alarms and events are called.
    """

    precision: Interval
    recall: Interval
    f1: Interval
    kind: Kind = "episodes"
    nouns: tuple[str, str] = ("alarms", "events")

    def __iter__(self) -> Iterator[Interval]:
        yield from (self.precision, self.recall, self.f1)

    @property
    def level(self) -> float:
        """How often each of them holds the long-run value."""
        return self.f1.level

    @property
    def heading(self) -> str:
        """What a column of them is called: "95% interval"."""
        return f"{100 * self.level:.10g}% interval"

    def __str__(self) -> str:
        return "; ".join(f"{name} {own}" for name, own in zip(NAMES.values(), self, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """The level, and each interval as plain values."""
        return {"level": self.level} | {name: own.to_dict() for name, own in zip(MEASURES, self, strict=True)}

    def in_words(self) -> str:
        """What they rest on, and why there is none where there is none."""
        names = [name for name, own in zip(NAMES.values(), self, strict=True) if not own]
        told = [f"{own.n_units:,} with {noun}" for own, noun in zip(self, self.nouns, strict=False) if own]
        lacking = dict.fromkeys(own.lacking for own in self if own.lacking)
        why = " and ".join(lacking) + max(own.needs for own in self)
        if not told:
            return f"No intervals: {why}."
        missing = f" None for {' and '.join(names)}: {why}." if names else ""
        return f"Intervals treat {self.kind} as independent, {' and '.join(told)}.{missing}"


def check_level(level: object) -> float:
    """The level of an interval as a plain float; refuses anything else."""
    return as_number(level, "level", "be between 0 and 1, such as 0.95", lambda number: 0 < number < 1)


def intervals_of(
    units: IntArray | FloatArray,
    level: float = 0.95,
    *,
    kind: Kind = "episodes",
    nouns: tuple[str, str] = ("alarms", "events"),
) -> Intervals:
    r"""Intervals from K units of four counts each: alarms, hits among them, events, found ones among those.

    The variance of precision :math:`P = \sum h_i / \sum a_i` is the jackknife's, :math:`v = \frac{k-1}{k} \sum_i (P -
    P_{-i})^2`, with the k units that hold alarms and :math:`P - P_{-i} = (h_i - P a_i) / \sum_{j \ne i} a_j` what
    leaving one out changes; recall's likewise with those that hold events, and F1's by the chain rule, with the fewer
    of both. Units of unlike size weigh as much as :math:`k^* = (\sum a_i)^2 / \sum a_i^2 \le k` of equal size (Kish
    1965); F1 has the smaller of both.

    - Korn and Graubard: that of Clopper and Pearson for :math:`P n^*` hits of :math:`n^* = \min(P (1 - P) / v, n)
      (t_{n-1} / t_{k^*-1})^2`
      with quantiles t of Student's law; for :math:`n^* = k^*` where P is 0 or 1.
    - Logit and t: :math:`\mathrm{logit} F \pm t_{k^*-1} \sqrt{v} / (F (1 - F))`.

    Episodes have the first for precision and recall and the second for F1; series, groups and truths have the second
    for all three. A value of 0 or 1 has the first in any case.

    Parameters
    ----------
    units : array of K x 4
        In the order above.
    level : float
        Above 0 and below 1.
    kind : {"episodes", "series", "groups", "truths"}
        What a unit is.
    nouns : pair of str
        What alarms and events are called where there is no interval.

    Returns
    -------
    Intervals
        None (NaN, with a reason in words) where fewer than ten units hold what is counted, where they weigh less than
        five of equal size, or where the measure is undefined.

    References
    ----------
    Korn and Graubard (1998), Confidence intervals for proportions with small expected number of positive counts
    estimated from survey data. Survey Methodology 24, 193-201. Kish (1965), Survey Sampling, Wiley.

    Examples
    --------
    >>> found = intervals_of(np.array([[2, 1, 1, 1], [1, 1, 2, 1], [1, 0, 0, 0], [2, 2, 1, 1]] * 5))
    >>> print(found)
    precision 0.465 to 0.832; recall 0.498 to 0.918; F1 0.550 to 0.825
    >>> print(intervals_of(np.array([[2, 1, 1, 1]] * 4)).recall.reason)
    Only 4 episodes hold events, and an interval needs at least 10.
    >>> print(intervals_of(np.array([[2, 1, 1, 1]] * 19 + [[50, 9, 1, 1]])).precision.reason)
    Few of the 20 episodes hold most of the alarms: they count for no more than 3.0 of equal size (an interval needs 5).
    """
    level = check_level(level)
    check_word(kind, "kind", UNITS)
    counts = np.asarray(units)
    if counts.ndim != 2 or counts.shape[1] != 4:
        raise InputError(
            argument="units", problem=f"has shape {counts.shape}, but needs a row of four counts for each unit"
        )
    linear, weights = linearise(units), weighed(units)
    values, squares = linear.values, (linear.left_out**2).sum(axis=0)
    held, sizes = ((counts > 0)[:, [ALARMS, EVENTS]]).sum(axis=0), counts[:, [ALARMS, EVENTS]].sum(axis=0)
    k, n, weight = [*held.tolist(), int(held.min())], [*sizes.tolist(), sizes.sum()], [*weights, min(weights)]
    reasons = [_why_none(*told, kind) for told in zip(nouns, k, sizes.tolist(), weights, strict=False)]
    fewer = int(np.argmin(held))
    reasons.append(reasons[fewer] if reasons[fewer][0] else reasons[1 - fewer])
    beta = [kind == "episodes"] * 2 + [False]
    made = (
        _interval(float(values[i]), float(squares[i]), k[i], weight[i], float(n[i]), level, reasons[i], beta[i])
        for i in range(3)
    )
    return Intervals(**dict(zip(MEASURES, made, strict=True)), kind=kind, nouns=nouns)


def interval_of_mean(sums: FloatArray, sizes: IntArray, level: float, *, kind: Kind, bounded: bool = True) -> Interval:
    """The interval of a mean Σs/Σn from K units with n_i values each that sum to s_i.

    As in `intervals_of`, with the jackknife's variance: logit and t for values between 0 and 1 (``bounded``), Korn and
    Graubard's where all of them are 0 or all are 1, and t itself for others.

    >>> values = np.array([1.5, 2.5, 3.5] * 5)
    >>> found = interval_of_mean(values, np.ones(15), 0.95, kind="series", bounded=False)
    >>> round(found.low, 2), round(found.high, 2), found.method
    (2.03, 2.97, 't')
    """
    none = np.zeros(len(sums))
    units = np.stack([none, none, sizes, sums], axis=1)
    linear, weight = linearise(units), weighed(units)[1]
    k, n, value = int(np.count_nonzero(sizes)), float(sizes.sum()), float(linear.values[1])
    lacking, needs = _why_none("values", k, n, weight, kind)
    low = high = size = math.nan
    method: Name = "none"
    if not lacking:
        variance = (k - 1) / k * float((linear.left_out[:, 1] ** 2).sum())
        spread, reach, size = value * (1 - value), _t(weight - 1, level) * math.sqrt(variance), weight
        method = "t" if not bounded else "logit-t" if spread > 0 else "korn-graubard"
        if method == "korn-graubard":
            low, high = _beta(value, weight, level)
        elif method == "logit-t" and variance > 0:
            low, high = _logit(value, spread / variance, weight - 1, level)
        else:
            low, high = value - reach, value + reach
    found = {"low": low, "high": high, "level": level, "estimate": value, "effective_size": size}
    return Interval(**found, n_units=k, df=max(weight - 1, 0.0), method=method, lacking=lacking, needs=needs)


def _why_none(noun: str, k: int, n: float, weight: float, kind: Kind) -> tuple[str, str]:
    """What there is too little of for an interval of a measure, and what it needs; empty where it has one."""
    if n == 0:
        return f"there are no {noun}", ""
    if k >= FEWEST:
        few = f"{few_hold_most(k, noun, weight, kind)} (an interval needs {LIGHTEST})"
        return "" if weight >= LIGHTEST else few, ""
    if kind == "episodes" and n >= FEWEST:
        return f"the {n:,.0f} {noun} form only {plural(k, 'episode')}", NEEDS
    return f"only {plural(k, *UNITS[kind])} {'holds' if k == 1 else 'hold'} {noun}", NEEDS


def few_hold_most(k: int, noun: str, weight: float, kind: Kind) -> str:
    """What is wrong with units of very unlike size, in words."""
    alike = f"{math.floor(10 * weight) / 10:.1f} of equal size"  # never rounded up to what is needed
    return f"few of the {plural(k, *UNITS[kind])} hold most of the {noun}: they count for no more than {alike}"


def _interval(
    value: float, square: float, k: int, weight: float, n: float, level: float, why: tuple[str, str], beta: bool
) -> Interval:
    """The interval of one measure from the jackknife: ``k`` units, which weigh ``weight``, and a count of ``n``."""
    low = high = size = math.nan
    method: Name = "none"
    if not why[0]:
        variance, spread = square * (k - 1) / k, value * (1 - value)
        size = weight if spread == 0 else n if variance * n <= spread else spread / variance
        method = "korn-graubard" if beta or spread == 0 else "logit-t"
        if method == "logit-t":
            low, high = _logit(value, size, weight - 1, level)
        else:
            # both quantiles are 0 where the level is, and nothing is left to correct
            wider = _t(weight - 1, level) / t if spread and (t := _t(n - 1, level)) else 1.0
            low, high = _beta(value, size / wider**2, level)
        low, high = min(low, value), max(high, value)  # rounding must not put the value outside
    found = {"low": low, "high": high, "level": level, "estimate": value, "effective_size": size}
    return Interval(**found, n_units=k, df=max(weight - 1, 0.0), method=method, lacking=why[0], needs=why[1])


def _t(df: float, level: float) -> float:
    from scipy.special import stdtrit

    return -float(stdtrit(df, (1 - level) / 2))  # of the tail, which 1 less a tiny one would lose


def _logit(value: float, size: float, df: float, level: float) -> tuple[float, float]:
    centre, wide = math.log(value / (1 - value)), _t(df, level) / math.sqrt(size * value * (1 - value))
    low, high = (1 / (1 + math.exp(-min(max(at, -700.0), 700.0))) for at in (centre - wide, centre + wide))
    return low, high


def _beta(value: float, size: float, level: float) -> tuple[float, float]:
    """Clopper and Pearson's interval of a share of so many, whole or not."""
    from scipy.special import betaincinv

    tail, hits, misses = (1 - level) / 2, value * size, (1 - value) * size
    low = float(betaincinv(hits, misses + 1, tail)) if hits > 0 else 0.0
    high = 1.0 - float(betaincinv(misses, hits + 1, tail)) if misses > 0 else 1.0
    return low, high
