"""How many more events, and how much more time, it takes until a detector like this one is told from chance.

A series that goes on at present rates has in every year as many events and alarms, and as much of it covered by alarms.
Hits of chance, and those of the detector, then add up from years that have little to do with each other: means and
variances grow with the length. Both are known of the series at hand, under its own null.

The section "Power" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from nofluke.errors import InputError, arg, say
from nofluke.inference.power import MOST_SEARCHED, as_measure, as_power
from nofluke.laws.law import first_true
from nofluke.plain import finite_or_none
from nofluke.text.exports import Exports
from nofluke.text.numbers import span_in_words
from nofluke.text.tables import SCHEMA, Table, noted, plural, show_share

Target = Literal["recall", "verdict", "yes"]
At = Literal["estimate", "lower limit", "stated"]
TARGETS: dict[Target, str] = {
    "recall": "recall's p",
    "verdict": "verdict no fluke or partly",
    "yes": "verdict no fluke",
}
PLACES: dict[At, str] = {
    "estimate": "At the estimates",
    "lower limit": "At the lower limits",
    "stated": "With the values stated",
}
NODES = np.polynomial.legendre.leggauss(24)


# ---- what a series says of a longer one: plain numbers, of a result or of its JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """Precision or recall: what it is a share of, its chance, and what the detector has.

    Attributes
    ----------
    of : int
        Alarms, or events.
    expected, std : float
        Mean and standard deviation of chance's hits, under the result's null.
    value, low : float
        The measure, and the lower limit of its interval; NaN where there is none.
    size : float
        The number of independent alarms or events with the same variance; NaN where it is not known.
    """

    of: int
    expected: float
    std: float
    value: float
    low: float
    size: float

    @property
    def chance(self) -> float:
        """The share that chance hits."""
        return self.expected / self.of

    @property
    def trials(self) -> float:
        """The number of independent trials with the variance of chance's hits, where these vary."""
        return self.of**2 * self.chance * (1 - self.chance) / self.std**2


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """Rates of a series: both measures, how their hits go together, and how long it was watched."""

    precision: Side
    recall: Side
    correlation: float
    watched: float
    unit: str
    alpha: float
    null: str
    level: float

    @property
    def n_events(self) -> int:
        """Events there are."""
        return self.recall.of


def present_of(record: Mapping[str, Any]) -> Present:
    """From the plain values of an evaluation or a coincidence, as its JSON has them."""
    try:
        intervals = record["intervals"]
        sides = {
            name: Side(
                of=int(own["of"]),
                expected=float(own["expected"]),
                std=float(own["std"]),
                value=_number(own["value"]),
                low=_number(intervals[name]["low"]),
                size=_number(intervals[name]["effective_size"]),
            )
            for name, own in (("precision", record["precision"]), ("recall", record["recall"]))
        }
        return Present(
            **sides,
            correlation=_number(record["hits_correlation"]),
            watched=float(record["watched"]["value"]),
            unit=str(record["watched"]["unit"]),
            alpha=float(record["alpha"]),
            null=str(record["recall"]["null"]),
            level=float(intervals["level"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise _no_json("an evaluation or a coincidence", error) from None


def _no_json(what: str, error: Exception) -> InputError:
    return InputError(
        argument="like",
        problem=f"is not the JSON of {what} of this version ({type(error).__name__}: {error})",
        remedy=say("write it with {}", arg("format", "json")),
    )


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


# ---- the power of a longer series


@dataclass(frozen=True)
class Longer:
    """A series at present rates with so many events: how likely each measure, and both, come out significant.

    Hits of chance are taken for binomial with as many trials as have their variance, and so are those of the detector,
    which has these true values.
    """

    present: Present
    precision: float
    recall: float
    n_events: int
    stricter: int = 0  # hits more than are needed, for a bound that does not go up and down

    @cached_property
    def factor(self) -> float:
        """How many times as long as the present series."""
        return self.n_events / self.present.n_events

    def power(self, target: Target) -> float:
        """The probability of a recall with p ≤ α, or of a verdict."""
        alpha = self.present.alpha
        if target == "recall":
            return self._reaches("recall", alpha)
        for side, other in (("precision", "recall"), ("recall", "precision")):
            if self._critical(side, alpha) is None:  # the other one decides alone
                return self._reaches(other, alpha)
        (p, p_half), (r, r_half) = (
            tuple(self._reaches(side, level) for level in (alpha, alpha / 2)) for side in ("precision", "recall")
        )
        rho = 0.0 if math.isnan(self.present.correlation) else min(max(self.present.correlation, -0.99), 0.99)
        both = joint(p, r, rho)
        if target == "yes":
            return both
        # either at α/2, or both at α
        return p_half + r_half + both - joint(p_half, r, rho) - joint(p, r_half, rho)

    def _side(self, side: str) -> tuple[Side, int]:
        own: Side = getattr(self.present, side)
        return own, max(round(own.of * self.factor), 1)

    def _critical(self, side: str, level: float) -> int | None:
        """The smallest number of hits with a p-value of at most the level; None where no number has one."""
        own, of = self._side(side)
        if own.std == 0:
            return None
        trials = own.trials * self.factor
        found = first_true(lambda hits: _tail(hits, of, own.chance, trials) <= level, round(own.chance * of), 0, of + 1)
        return None if found > of else found

    def _reaches(self, side: str, level: float) -> float:
        """P(hits ≥ the critical number) of a detector with the true value."""
        own, of = self._side(side)
        critical = self._critical(side, level)
        if critical is None or critical + self.stricter > of:
            return 0.0
        trials = self.factor * (min(own.trials, own.of) if math.isnan(own.size) else own.size)
        return _tail(critical + self.stricter, of, getattr(self, side), trials)


def _tail(hits: int, of: int, share: float, trials: float) -> float:
    """P(X ≥ hits) for hits out of so many with the variance of so many trials, whole or not.

    With as many trials as hits are out of, the binomial's; with fewer, a hit is less than a trial, and the binomial's
    tail is taken in the middle between two hits.

    >>> from scipy.stats import binom
    >>> round(_tail(5, 10, 0.2, 10), 6), round(float(binom.sf(4, 10, 0.2)), 6)
    (0.032793, 0.032793)
    >>> round(_tail(10, 20, 0.2, 10), 3) < _tail(9, 20, 0.2, 10) < _tail(5, 10, 0.2, 10) * 2
    True
    """
    from scipy.special import betainc

    if hits <= 0 or share >= 1:
        return 1.0
    if share <= 0:
        return 0.0
    each = trials / of
    at = hits * each + (1 - each) / 2
    if at >= trials + 1:
        return 0.0
    return float(betainc(max(at, 1e-9), trials - at + 1, share))


def joint(first: float, second: float, rho: float) -> float:
    """P(both) of two things with these probabilities, and the correlation of normal variables behind them.

    Drezner and Wesolowsky (1990): the independent case, and an integral over the correlation.

    >>> joint(0.5, 0.5, 0.0), round(joint(0.5, 0.5, 0.5), 12), round(joint(0.9, 0.4, 0.99), 3)
    (0.25, 0.333333333333, 0.4)
    """
    from scipy.special import ndtri

    if min(first, second) <= 0 or max(first, second) >= 1:
        return first * second if min(first, second) <= 0 else min(first, second)
    h, k = float(ndtri(first)), float(ndtri(second))
    end = math.asin(rho)
    angle = end * (NODES[0] + 1) / 2
    inside = np.exp(-(h * h + k * k - 2 * h * k * np.sin(angle)) / (2 * np.cos(angle) ** 2))
    return first * second + end / 2 * float(NODES[1] @ inside) / (2 * math.pi)


# ---- how many events it takes


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one target takes, for a detector with these true values.

    Attributes
    ----------
    target : {"recall", "verdict", "yes"}
        Recall's p at the level; a verdict of no fluke or partly; one of no fluke.
    at : {"estimate", "lower limit", "stated"}
        Where the values come from.
    precision, recall : float
    n_events : int or None
        From this number of events on, at present rates, the power is never below the one asked for; None with a
        ``reason``.
    more_events : int or None
        How many of them are still to come.
    duration, more : float or None
        How long the whole series is then, and how much longer than now, in the unit of the result.
    power, power_now : float or None
        With that many events, and with those that there are.
    reason : str
        Why there is no such number; empty where there is.
    """

    target: Target
    at: At
    precision: float
    recall: float
    n_events: int | None = None
    more_events: int | None = None
    duration: float | None = None
    more: float | None = None
    power: float | None = None
    power_now: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Needed(Exports):
    """How many more events, and how much more time, it takes to tell a detector from chance.

    Attributes
    ----------
    answers : tuple of Answer
        For recall's p and for the verdict, at the estimates and at the lower limits of their intervals.
    asked : float
        The power asked for.
    alpha : float
    n_events : int
        Events there are.
    watched : float
        How long they were watched, in ``unit``.
    unit : {"steps", "seconds", "clock"}
    coverage : float
        The share of events that chance finds.
    null : str
        The null of the result, whose law is scaled to longer series.
    notes : tuple of str

    See Also
    --------
    nofluke.Evaluation.needed : makes it.
    nofluke.sample_size : for a detector that is not there yet.

    Examples
    --------
    >>> import nofluke as nf
    >>> quakes = nf.datasets.simulate_quakes(rng=0)
    >>> scores = nf.detectors.energy_transient(quakes.counts)
    >>> result = nf.evaluate(quakes.truth[:600], scores[:600], quantile=0.9, tolerance=2, null="permutation")
    >>> found = result.needed()
    >>> found.n_events, [(one.target, one.n_events) for one in found.answers if one.at == "estimate"]
    (32, [('recall', 173), ('verdict', 78), ('yes', 173)])
    """

    answers: tuple[Answer, ...]
    asked: float
    alpha: float
    n_events: int
    watched: float
    unit: str
    coverage: float
    null: str
    notes: tuple[str, ...] = ()

    def in_words(self) -> str:
        """The first answer as a sentence."""
        first = self.answers[0]
        told = f"At present rates and with a recall of {show_share(first.recall)}, "
        if first.n_events is None or first.more is None:
            return first.reason
        goal = f"{TARGETS[first.target]} to be at most {self.alpha:.3g} with a power of {self.asked:.4g}"
        if not first.more_events:
            return f"{told}{plural(first.n_events, 'event')} are enough for {goal}: there are {self.n_events:,}."
        return (
            f"{told}it takes {plural(first.n_events, 'event')} for {goal}: {first.more_events:,} more than there are, or "
            f"{span_in_words(first.more, self.unit)} more of data."
        )

    def table(self) -> Table:
        """All answers, which renders as text, Markdown, LaTeX or HTML."""

        def row(one: Answer) -> tuple[str, ...]:
            values = (show_share(one.recall), "" if one.target == "recall" else show_share(one.precision))
            head = (TARGETS[one.target], one.at, *values, "" if one.power_now is None else show_share(one.power_now))
            if one.n_events is None or one.more is None:
                return (*head, "none", "", "")
            more = span_in_words(one.more, self.unit) if one.more_events else "enough"
            return (*head, f"{one.n_events:,}", f"{one.more_events:,}", more)

        return Table(
            title=f"{plural(self.n_events, 'event')} in {span_in_words(self.watched, self.unit)}; chance finds "
            f"{show_share(self.coverage)} of them; null {self.null}; power {self.asked:.4g} at the {self.alpha:.3g} level",
            columns=("for", "at", "recall", "precision", "power now", "events", "more", "more time"),
            rows=tuple(map(row, self.answers)),
            notes=(
                self.in_words(),
                *dict.fromkeys(one.reason for one in self.answers[1:] if one.reason and one.reason != self.in_words()),
                *noted(self.notes),
            ),
        )

    def columns(self) -> dict[str, list[Any]]:
        """A row for each answer, by column name."""
        return _columns(Answer, self.answers)

    def _record(self) -> dict[str, Any]:
        answers = {"answers": [_plain(one) for one in self.answers], "notes": list(self.notes)}
        return (
            {"schema": SCHEMA} | {name: value for name, value in _plain(self).items() if name not in answers} | answers
        )

    def __repr__(self) -> str:
        told = "; ".join(f"{one.target} at {one.at} {one.n_events}" for one in self.answers)
        return f"<Needed for a power of {self.asked:.4g}, of {plural(self.n_events, 'event')} now: {told}>"


def _plain(one: Any) -> dict[str, Any]:
    """The fields of a dataclass; None for numbers that are undefined."""
    values = {field.name: getattr(one, field.name) for field in fields(one)}
    return {name: finite_or_none(value) if isinstance(value, float) else value for name, value in values.items()}


def _columns(made: Any, answers: tuple[Any, ...]) -> dict[str, list[Any]]:
    """The fields of answers, column by column."""
    rows = [_plain(one) for one in answers]
    return {field.name: [row[field.name] for row in rows] for field in fields(made)}


def needed(present: Present, power: float = 0.8, recall: float | None = None, precision: float | None = None) -> Needed:
    """For each target, at the estimates and at the lower limits, or at values that are stated."""
    asked = as_power(power)
    if present.n_events == 0 or present.precision.of == 0:
        raise InputError(
            problem=f"{plural(present.n_events, 'event')} and {plural(present.precision.of, 'alarm')} say nothing about a "
            "longer series",
            remedy=say("state rates, with {} and {}", arg("recall"), arg("coverage")),
        )
    places: list[tuple[At, float, float]] = [
        ("estimate", present.precision.value, present.recall.value),
        ("lower limit", present.precision.low, present.recall.low),
    ]
    if recall is not None or precision is not None:
        p = present.precision.value if precision is None else as_measure(precision, "precision")
        r = present.recall.value if recall is None else as_measure(recall, "recall")
        places = [("stated", p, r)]
    unknown = any(math.isnan(side.size) for side in (present.precision, present.recall))
    note = "Where there is no interval, the detector's hits are taken to depend on each other as chance's do."
    return Needed(
        answers=tuple(_answer(present, target, place, asked) for place in places for target in TARGETS),
        asked=asked,
        alpha=present.alpha,
        n_events=present.n_events,
        watched=present.watched,
        unit=present.unit,
        coverage=present.recall.chance,
        null=present.null,
        notes=(note,) if unknown else (),
    )


def _answer(present: Present, target: Target, place: tuple[At, float, float], asked: float) -> Answer:
    at, precision, recall = place
    known = Answer(target=target, at=at, precision=precision, recall=recall)
    values = {"recall": recall} if target == "recall" else {"recall": recall, "precision": precision}
    lacking = [name for name, value in values.items() if math.isnan(value)]
    if lacking:
        return replace(known, reason=f"There is no {at} of {' and '.join(lacking)}: an interval needs more episodes.")
    fixed = [name for name in values if getattr(present, name).std == 0]
    if len(fixed) == len(values):
        return replace(known, reason="Chance always has as many hits as here: no number of events is enough.")
    below = [name for name, value in values.items() if not value > getattr(present, name).chance]
    hopeless = len(below) == len(values) if target == "verdict" else bool(below)
    if hopeless:
        return replace(
            known,
            reason=f"{PLACES[at]}, {' and '.join(below)} {'are' if len(below) > 1 else 'is'} not above what chance has: no "
            "number of events is enough.",
        )
    series = Longer(present, precision, recall, present.n_events)
    now = series.power(target)
    found = events_for(lambda m, stricter: replace(series, n_events=m, stricter=stricter).power(target), asked)
    if found is None:
        return replace(known, power_now=now, reason=f"More than the {MOST_SEARCHED:,} events searched may be needed.")
    each = present.watched / present.n_events
    more = max(found - present.n_events, 0)
    return replace(
        known,
        n_events=found,
        more_events=more,
        duration=found * each,
        more=more * each,
        power=replace(series, n_events=found).power(target),
        power_now=now,
    )


def events_for(power: Callable[[int, int], float], asked: float) -> int | None:
    """The smallest number of events from which on the power is never below the one asked for; None if it is too large.

    ``power(m, 1)``, with one hit more than is needed, is below ``power(m, 0)`` and grows without going up and down.
    """
    last = 1
    while power(last, 1) < asked:
        if last == MOST_SEARCHED:
            return None
        last = min(2 * last, MOST_SEARCHED)
    found = first_true(lambda m: power(m, 1) >= asked, last, last // 2 + 1, last) if last > 1 else 1
    while found > 1 and power(found - 1, 0) >= asked:
        found -= 1
    return found


# ---- how many it takes to tell two detectors from each other


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceAnswer:
    """What it takes to tell one detector from another; ``n_units`` are episodes, series or groups, as compared."""

    first: str
    second: str
    at: At
    difference: float
    n_units: int | None = None
    n_events: int | None = None
    more_events: int | None = None
    more: float | None = None
    power_now: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NeededToCompare(Exports):
    """How many more events, and how much more time, it takes to tell detectors from the best one.

    Attributes
    ----------
    measure : str
        Of which the difference is.
    answers : tuple of DifferenceAnswer
        For each detector, at the difference as it is, and at the end of its interval nearer to 0.
    asked, alpha : float
        The power asked for, and the level, corrected for all pairs.
    n_units, n_events : int
        Units and events there are.
    units : str
        What was exchanged: "episodes", "series" or "groups".
    watched, unit
        How long the series was watched, and in which unit; None for many series.
    """

    measure: str
    answers: tuple[DifferenceAnswer, ...]
    asked: float
    alpha: float
    n_units: int
    n_events: int
    units: str
    watched: float | None
    unit: str | None

    def table(self) -> Table:
        """All answers, which renders as text, Markdown, LaTeX or HTML."""

        def row(one: DifferenceAnswer) -> tuple[str, ...]:
            now = "" if one.power_now is None else show_share(one.power_now)
            head = (f"{one.first} − {one.second}", one.at, show_share(one.difference), now)
            if one.n_units is None:
                return (*head, "none", "", "", "")
            more = "enough" if not one.more_events else ""
            if more == "" and one.more is not None and self.unit is not None:
                more = span_in_words(one.more, self.unit)
            return (*head, f"{one.n_units:,}", f"{one.n_events:,}", f"{one.more_events:,}", more)

        long = "" if self.watched is None or self.unit is None else f" in {span_in_words(self.watched, self.unit)}"
        return Table(
            title=f"{self.measure}: {self.n_units:,} {self.units}, {plural(self.n_events, 'event')}{long}; power "
            f"{self.asked:.4g} at the {self.alpha:.3g} level",
            columns=("", "at", "difference", "power now", self.units, "events", "more", "more time"),
            rows=tuple(map(row, self.answers)),
            notes=tuple(dict.fromkeys(one.reason for one in self.answers if one.reason)),
        )

    def columns(self) -> dict[str, list[Any]]:
        """A row for each answer, by column name."""
        return _columns(DifferenceAnswer, self.answers)

    def _record(self) -> dict[str, Any]:
        head = {name: getattr(self, name) for name in ("measure", "asked", "alpha", "n_units", "n_events", "units")}
        tail = {"watched": self.watched, "unit": self.unit, "answers": [_plain(one) for one in self.answers]}
        return {"schema": SCHEMA, **head, **tail}

    def __repr__(self) -> str:
        told = "; ".join(f"{one.first} − {one.second} at {one.at} {one.n_events}" for one in self.answers)
        return f"<NeededToCompare for a power of {self.asked:.4g}, of {plural(self.n_events, 'event')} now: {told}>"


def needed_to_compare(record: Mapping[str, Any], measure: str | None = None, power: float = 0.8) -> NeededToCompare:
    """From the plain values of a comparison, as its JSON has them."""
    asked = as_power(power)
    try:
        every = record["differences"]
        wanted = record["rank_by"] if measure is None else measure
        pairs = len({(one["first"], one["second"]) for one in every})
        best = record["best"]
        some = [one for one in every if one["measure"] == wanted and best in (one["first"], one["second"])]
        watched, level = record["watched"], float(record["alpha"]) / max(pairs, 1)
        n_events = max((int(one["n_events"]) for one in record["detectors"]), default=0)
        answers = tuple(answer for one in some for answer in _differences(one, best, level, asked, n_events, watched))
        return NeededToCompare(
            measure=wanted,
            answers=answers,
            asked=asked,
            alpha=float(record["alpha"]),
            n_units=max((int(one["n_units"]) for one in some), default=0),
            n_events=n_events,
            units=str(record["units"]),
            watched=None if watched is None else float(watched["value"]),
            unit=None if watched is None else str(watched["unit"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise _no_json("a comparison", error) from None


def _differences(
    one: Mapping[str, Any], best: str, level: float, asked: float, n_events: int, watched: Mapping[str, Any] | None
) -> Iterator[DifferenceAnswer]:
    from scipy.special import ndtr, ndtri

    turned = one["second"] == best
    value, low, high = (_number(one[name]) for name in ("difference", "low", "high"))
    if turned:
        value, low, high = -value, -high, -low
    names = {"first": best, "second": one["first"] if turned else one["second"]}
    nearer = math.nan if math.isnan(low) else max(low, 0.0) if value >= 0 else min(high, 0.0)
    error, units, z, more = _number(one["error"]), int(one["n_units"]), -float(ndtri(level / 2)), float(ndtri(asked))
    for at, size in (("estimate", value), ("lower limit", nearer)):
        known = DifferenceAnswer(**names, at=at, difference=size)  # type: ignore[arg-type]
        pair = f"{names['first']} − {names['second']}"
        if one["why_no_pvalue"] or math.isnan(size) or not error > 0:
            why = one["why_no_pvalue"] or one["why_no_interval"] or "units show no variation in the difference"
            yield replace(known, reason=f"{pair}: {why}.")
        elif size == 0:
            yield replace(
                known, reason=f"{pair}: the {'interval holds 0' if at == 'lower limit' else 'difference is 0'}."
            )
        else:
            swapped = math.sqrt(error**2 + size**2 / units)
            factor = ((z * swapped + more * error) / abs(size)) ** 2
            events = math.ceil(factor * n_events)
            yield replace(
                known,
                n_units=math.ceil(factor * units),
                n_events=events,
                more_events=max(events - n_events, 0),
                more=None if watched is None else max(factor - 1, 0.0) * float(watched["value"]),
                power_now=float(ndtr((abs(size) - z * swapped) / error)),
            )


def needed_like(record: Any, power: float, recall: float | None, precision: float | None) -> Needed | NeededToCompare:
    """What the JSON of any result says: of a comparison, or of one detector."""
    if isinstance(record, dict) and "differences" in record:
        if recall is not None or precision is not None:
            raise InputError(problem="a comparison has its own differences", remedy="leave recall and precision out")
        return needed_to_compare(record, None, power)
    return needed(present_of(record), power, recall, precision)
