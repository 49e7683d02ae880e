"""What metrics get beside chance: a level, a test, several of either."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, overload

from nofluke.arrays import ByValue, FloatArray
from nofluke.errors import THINGS, InputError, joined, say
from nofluke.inference.chance import Alternative, Side, significant
from nofluke.inference.metric_laws import Given
from nofluke.inference.verdict import Verdict, headline
from nofluke.laws.law import How
from nofluke.lazy import lazy
from nofluke.metrics.base import Metric
from nofluke.nulls.choice import Choice
from nofluke.plain import finite_or_none, number_or_none
from nofluke.ratios import TIE_SLACK, corrected
from nofluke.series.names import NONE, Names
from nofluke.text.exports import Exports
from nofluke.text.numbers import p_is, show_chance, show_p
from nofluke.text.tables import SCHEMA, Table, noted, plural, show_number, show_share, stacked, there_are_no


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What a metric was measured on: steps, labelled ranges and steps of them, alarms, and where those come from."""

    n: int
    n_ranges: int
    n_labelled: int
    n_alarms: int | None
    threshold: float | None = None
    names: Names = field(repr=False, compare=False, default=NONE)

    @property
    def obstacle(self) -> str:
        """Why no metric can tell anything; empty where nothing is in the way."""
        if self.n_labelled == 0:
            return "No step is labelled: there is nothing to find."
        return "Every step is labelled: there is nothing to tell apart." if self.n_labelled == self.n else ""

    @property
    def no_choice(self) -> str:
        """Why no metric of alarms can tell anything."""
        if self.n_alarms == 0:
            return there_are_no("alarms", "nothing could have been found")
        told = say("There is {an_alarm} on every step, which takes no knowledge of the labels.")
        return told if self.n_alarms == self.n else ""

    def in_words(self) -> str:
        """The counts."""
        alarms: str = "" if self.n_alarms is None else say(", {}", plural(self.n_alarms, "alarm"))
        if self.threshold is not None:
            alarms = say("{} (threshold {})", alarms, show_number(self.threshold))
        share, ranges = (
            100 * self.n_labelled / self.n,
            say("{:,} labelled {}", self.n_ranges, THINGS["range"].of(self.n_ranges)),
        )
        told = "{}, {} ({}, {:.3g}%){}"
        return say(told, plural(self.n, "step"), ranges, plural(self.n_labelled, "step"), share, alarms)

    def to_dict(self) -> dict[str, Any]:
        """The counts as plain values, for JSON."""
        return {
            "n": self.n,
            "n_ranges": self.n_ranges,
            "n_labelled": self.n_labelled,
            "n_alarms": self.n_alarms,
            "threshold": finite_or_none(self.threshold),
        }


# ---- what chance gives in a metric on given labels: draws, their mean and band


@dataclass(frozen=True, kw_only=True, eq=False)
class ChanceLevel(Exports, ByValue):
    """What chance gives in a metric on one set of labels.

    Attributes
    ----------
    metric : Metric
    chance : Drawn, OfHits or OfF
        What chance gives: the metric on each draw, or the law of hits or of F.
    labels : Labels
        What it was measured on.
    choice : Choice
        Which null, and why.
    alpha : float
        The level of the band and the critical value.
    notes : tuple of str

    See Also
    --------
    nofluke.chance : makes it.
    nofluke.significance : the value of a detector against chance.
    nofluke.plot.chance_level : draws it.

    Examples
    --------
    >>> import nofluke as nf
    >>> level = nf.chance("auc-roc", [0] * 10 + [1] * 4 + [0] * 6, n_resamples=999, rng=1)
    >>> level.expected, round(level.std, 2)
    (0.5, 0.17)
    """

    metric: Metric
    chance: Given = field(repr=False)
    labels: Labels
    choice: Choice
    alpha: float
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> Names:
        """What events and alarms are called."""
        return self.labels.names

    @property
    def name(self) -> str:
        """The metric's name with its settings."""
        return self.metric.text

    @property
    def values(self) -> FloatArray:
        """The metric on each draw, in order; empty where chance is a law.

        Where all shifts were enumerated, the data's own value comes first.
        """
        return self.chance.values

    @property
    def method(self) -> How:
        """Whether chance is a law, all shifts were counted, or draws simulated."""
        return self.chance.how

    @property
    def listed(self) -> bool:
        """Whether nothing is random: chance is an exact law, or all shifts were enumerated."""
        return self.method.kind != "simulated"

    @property
    def n_resamples(self) -> int:
        """Draws made, or shifts enumerated; 0 where chance is a law that takes neither."""
        return self.chance.n

    @property
    def seed(self) -> int | None:
        """The seed of the draws; None where nothing was drawn, or by a generator that was already running."""
        return self.method.seed

    @property
    def expected(self) -> float:
        """What chance gives on average: over all shifts, over the draws, or exactly where that is known."""
        return self.chance.mean

    @property
    def std(self) -> float:
        """Standard deviation of what chance gives."""
        return self.chance.std

    @property
    def band(self) -> tuple[float, float] | None:
        """Where chance lies, except for alpha/2 of it on either side; None where it is undefined.

        None with early stopping too, since it needs a fixed number of draws.
        """
        return self.chance.band(self.alpha)

    @property
    def critical_value(self) -> float | None:
        """What a value has to exceed (or stay below, where lower is better) for p ≤ alpha; None where no value does."""
        return self.chance.critical(self.alpha, self.better)

    @property
    def better(self) -> Side:
        """On which side values are better."""
        return "greater" if self.metric.better == "higher" else "less"

    def pvalue_of(self, value: float) -> float:
        """How often chance does as well as this value: (b + 1)/(n + 1) if b of the n other shifts or draws reach it.

        1 for NaN. Draws on which the metric is undefined count as reaching it.
        """
        number = number_or_none(value)
        if number is None:
            raise InputError(
                argument="value", value=value, problem="must be a number", remedy=f"a value of {self.name}"
            )
        return 1.0 if math.isnan(number) else self.chance.tail(number, self.better)

    def how(self) -> str:
        """Which null, which method: the fine print of every result."""
        drawn = draws_of(self.chance.n_random, self.seed)
        return say("{} Method: {}.{}", self.choice.in_words(), self.method, drawn)

    def in_words(self) -> str:
        """What chance gives, as a sentence."""
        if math.isnan(self.expected):
            return self.labels.obstacle or f"{self.name} is undefined on these labels."
        bar, level = self.critical_value, f"at the {self.alpha:.3g} level"
        better = "above" if self.better == "greater" else "below"
        needs = "" if bar is None else f"; a detector has to be {better} {self.shown(bar)} to be better {level}"
        if bar is not None and bar == self.metric.perfect:
            needs = f"; no detector can be better {level}, because chance is perfect that often"
        return f"Chance gives {self.chance_in_words()} in {self.name} under {self.choice.model.text}{needs}."

    def table(self) -> Table:
        """The result as a small table, which renders as text, Markdown, LaTeX or HTML."""
        bar = self.critical_value
        told = Table(
            title=self.labels.in_words(),
            columns=("metric", "chance", between(self.alpha), "critical value"),
            rows=(
                (
                    self.name,
                    self.chance_in_words(),
                    self._band_in_words(),
                    "" if bar is None else self.shown(bar),
                ),
            ),
            notes=(self.in_words(), self.how(), *noted(self.notes)),
        )
        return told.called(self.names)

    def shown(self, value: float) -> str:
        """A value of the metric, never rounded to 0 or 1 where these are its ends."""
        return show_share(value) if self.metric.perfect == 1.0 and not abs(value) > 1 else show_number(value)

    def chance_in_words(self) -> str:
        """Mean ± standard deviation."""
        return "undefined" if math.isnan(self.expected) else show_chance(self.expected, self.std)

    def _band_in_words(self) -> str:
        return "" if self.band is None else "{} to {}".format(*map(self.shown, self.band))

    def _record(self) -> dict[str, Any]:
        return {"schema": SCHEMA, **self._plain(), **self._common()}

    def _plain(self) -> dict[str, Any]:
        band = self.band
        return {
            "metric": self.name,
            "expected": finite_or_none(self.expected),
            "std": finite_or_none(self.std),
            "band": None if band is None else list(band),
            "critical_value": self.critical_value,
            "better": self.metric.better,
            "perfect": self.metric.perfect,
            "needs": self.metric.needs,
            "n_resamples": self.n_resamples,
        }

    def _common(self) -> dict[str, Any]:
        return {
            **self.labels.to_dict(),
            "null": self.choice.called(self.names).to_dict(),
            "doubts": list(self.choice.doubts),
            "method": str(self.method),
            "seed": self.seed,
            "alpha": self.alpha,
            "notes": list(self.names.all_said(self.notes)),
        }

    def columns(self) -> dict[str, list[Any]]:
        """One row, by column name."""
        low, high = self.band or (math.nan, math.nan)
        found = {
            "metric": self.name,
            "expected": self.expected,
            "std": self.std,
            "low": low,
            "high": high,
            "critical_value": self.critical_value,
            "null": self.choice.model.text,
            "method": str(self.method),
        }
        return {name: [value] for name, value in found.items()}

    def plot(self, ax: Any = None) -> Any:
        """Draw what chance gives, beside the perfect value (matplotlib); returns the Axes."""
        from nofluke.plot import chance_level

        return chance_level(self, ax)

    def __repr__(self) -> str:
        return f"<ChanceLevel of {self.name}: {self.chance_in_words()};\n null {self.choice.label}: {self.method}>"


def draws_of(n: int | None, seed: int | None) -> str:
    """How many random draws, as a sentence after another; nothing where there are none."""
    return "" if n is None else f" {n:,} draws{'' if seed is None else f', seed {seed}'}."


def between(alpha: float) -> str:
    """The heading of the band."""
    return f"{100 * (1 - alpha):.3g}% of chance"


# ---- what chance gives in several metrics on one set of labels, as one table


@dataclass(frozen=True, slots=True, kw_only=True)
class ChanceLevels(Exports):
    """Chance levels of the same labels, a line each.

    Examples
    --------
    >>> import nofluke as nf
    >>> labels = [0] * 10 + [1] * 4 + [0] * 6
    >>> levels = [nf.chance(name, labels, n_resamples=99, rng=1) for name in ("auc-roc", "best-f1")]
    >>> print(ChanceLevels(results=tuple(levels)).to_csv().splitlines()[1][:11])
    auc-roc,0.5
    """

    results: tuple[ChanceLevel, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know, each once."""
        return tuple(dict.fromkeys(note for level in self.results for note in level.notes))

    @property
    def names(self) -> Names:
        """What events and alarms are called."""
        return self.results[0].names

    def table(self) -> Table:
        """One line for each metric; renders as text, Markdown, LaTeX or HTML."""
        tables = [level.table() for level in self.results]
        told = Table(
            title=tables[0].title,
            columns=tables[0].columns,
            rows=tuple(row for table in tables for row in table.rows),
            notes=(
                *(level.in_words() for level in self.results),
                *dict.fromkeys(level.how() for level in self.results),
                *noted(self.notes),
            ),
        )
        return told.called(self.names)

    def _record(self) -> dict[str, Any]:
        return {"schema": SCHEMA, "metrics": [level.to_dict() for level in self.results]}

    def columns(self) -> dict[str, list[Any]]:
        """A row for each metric, by column name."""
        return stacked(level.columns() for level in self.results)


# ---- a metric against chance: its value beside the draws of a null, the verdict, and how it prints itself

COLUMNS = (
    *("metric", "value", "expected", "std", "low", "high", "pvalue", "pvalue_error"),
    *("standardised", "chance_corrected", "critical_value", "null", "method"),
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Significance(ChanceLevel):
    """A metric on one series, against what chance gives.

    Attributes
    ----------
    metric : Metric
    value : float
        NaN where it is undefined.
    alternative : {"greater", "less", "two-sided"}
    perfect_pvalue : float
        The p-value of a perfect detector, where shifts may be too short for it to be small; else 0.
    chance, labels, choice, alpha, notes
        As in `ChanceLevel`; alpha is the level of the verdict too.

    See Also
    --------
    nofluke.significance : makes it.
    nofluke.Significances : several metrics at once.
    nofluke.ChanceLevel : chance without a detector.
    nofluke.plot.significance : draws it.

    Examples
    --------
    >>> import nofluke as nf
    >>> truth, scores = [0] * 10 + [1] * 4 + [0] * 6, [0.1] * 9 + [0.9] * 3 + [0.1] * 8
    >>> result = nf.significance("auc-roc", truth, scores, null="circular-shift")
    >>> round(result.value, 3), result.pvalue, result.expected  # four of twenty rotations do as well
    (0.719, 0.2, 0.5)
    """

    value: float
    alternative: Alternative = "greater"
    perfect_pvalue: float = 0.0

    @lazy
    def pvalue(self) -> float:
        """How often chance does as well: by its law, b of all shifts, or (b + 1)/(n + 1) of random draws.

        1 if undefined. With early stopping h/l, the h-th draw that reached the value being the l-th. Draws on which the
        metric is undefined count as reaching it. Two-sided is twice the smaller one, at most 1.
        """
        if math.isnan(self.value):
            return 1.0
        return min(min(self.chance.tail(self.value, side) for side in self._sides) * len(self._sides), 1.0)

    @property
    def stop_after(self) -> int | None:
        """With early stopping, how many draws had to reach the value."""
        return self.chance.stop_after

    @property
    def pvalue_error(self) -> float:
        """Monte Carlo standard error of the p-value; 0 where nothing is random."""
        if self.chance.n_random is None:
            return 0.0
        p, sides = self.pvalue, len(self._sides)
        return sides * math.sqrt(p / sides * (1 - p / sides) / self.chance.n_random)

    @property
    def critical_value(self) -> float | None:
        """As of `ChanceLevel`, by the alternative; None for two sides, and with early stopping."""
        return None if self.alternative == "two-sided" else self.chance.critical(self.alpha, self.alternative)

    @property
    def standardised(self) -> float:
        """(value - expected)/std; NaN where chance always gives the same."""
        std = self.std
        return (self.value - self.expected) / std if std > TIE_SLACK * abs(self.expected) else math.nan

    @property
    def chance_corrected(self) -> float:
        """(value - expected)/(perfect - expected): 0 for chance under this null, 1 for perfect.

        NaN where the perfect value is unknown, or chance is nearly perfect itself.
        """
        perfect = self.metric.perfect
        return math.nan if perfect is None else corrected(self.value, self.expected, perfect)

    @property
    def smallest_pvalue(self) -> float:
        """The smallest possible p-value.

        It depends on the number of draws, how often they reach the perfect value, and on how many the metric is
        undefined. Where all shifts were enumerated, it is that of the shift with the best value, and of a law that of
        its end; or of a perfect detector if that is larger.
        """
        floors = (self.chance.floor(side, self._perfect(side)) for side in self._sides)
        return min(max(min(floors), self.perfect_pvalue) * len(self._sides), 1.0)

    @property
    def _unable(self) -> float | None:
        """The smallest possible p-value where it is above alpha; None where it is not, without the whole of a law."""
        level = self.alpha / len(self._sides)
        floors = [self.chance.floor_above(level, side, self._perfect(side)) for side in self._sides]
        above = [floor for floor in floors if floor is not None]
        least = max(min(above) if len(above) == len(floors) else 0.0, self.perfect_pvalue)
        return None if significant(least, level) else min(least * len(floors), 1.0)

    def _perfect(self, side: Side) -> float | None:
        return self.metric.perfect if side == self.better else None

    @property
    def _sides(self) -> tuple[Side, ...]:
        return sides_of(self.alternative)

    @lazy
    def obstacle(self) -> str:
        """What rules out any conclusion, whatever the p-value; empty where nothing does."""
        degenerate = self.labels.obstacle or (self.labels.no_choice if self.metric.needs == "alarms" else "")
        if degenerate:
            return degenerate
        if math.isnan(self.value):
            return f"{self.name} is undefined on these data."
        if not self.choice.holds:
            return self.choice.why or "No null holds for these data."
        smallest = self._unable
        if smallest is not None:
            return f"No value could have reached the {self.alpha:.3g} level: the smallest possible p is {show_p(smallest)}."
        return ""

    @property
    def pvalue_better(self) -> float:
        """The p-value of being better than chance, whatever the alternative is: what the verdict uses."""
        return 1.0 if math.isnan(self.value) else self.chance.tail(self.value, self.better)

    @property
    def pvalue_worse(self) -> float:
        """The p-value of being worse than chance."""
        worse: Side = "less" if self.better == "greater" else "greater"
        return 1.0 if math.isnan(self.value) else self.chance.tail(self.value, worse)

    @property
    def verdict(self) -> Verdict:
        """ "yes" if the value beats chance at level alpha, else "no"; "cannot tell" if there is an obstacle."""
        if self.obstacle:
            return "cannot tell"
        return "yes" if significant(self.pvalue_better, self.alpha) else "no"

    @property
    def reason(self) -> str:
        """Why the verdict is what it is."""
        if self.obstacle:
            return self.names.said(self.obstacle)
        one_sided = "" if self.alternative == self.better else f" (one-sided: {p_is(self.pvalue_better)})"
        which = "" if self.verdict == "yes" else "not "
        return f"{self.name} is {which}significantly better than chance at the {self.alpha:.3g} level{one_sided}."

    def in_words(self) -> str:
        """The value, what chance gives, and the p-value, as a sentence."""
        if math.isnan(self.value):
            return self.obstacle
        error, corrected = self.pvalue_error, self.chance_corrected
        beyond = "" if math.isnan(corrected) else f"; corrected for chance {show_share(corrected)}"
        return (
            f"{self.name} is {self.shown(self.value)}; chance gives {self.chance_in_words()} under "
            f"{self.choice.model.text}; {p_is(self.pvalue)}{f' ± {error:.1g}' if error else ''}{beyond}."
        )

    def verdict_in_words(self) -> str:
        """The verdict and its reason; the first words say if the data contradict the requested null."""
        return self.names.said(joined(" ", [headline(self.verdict, self.choice, "data"), self.reason]))

    def row(self) -> tuple[str, ...]:
        """A line of the table."""
        corrected = self.chance_corrected
        return (
            self.name,
            self.shown(self.value),
            self.chance_in_words(),
            self._band_in_words(),
            "" if math.isnan(corrected) else show_share(corrected),
            show_p(self.pvalue),
        )

    def table(self) -> Table:
        """The result as a small table, which renders as text, Markdown, LaTeX or HTML."""
        told = Table(
            title=self.labels.in_words(),
            columns=table_columns(self.alpha),
            rows=(self.row(),),
            verdict=self.verdict,
            notes=(self.verdict_in_words(), self.in_words(), self.how(), *noted(self.notes)),
        )
        return told.called(self.names)

    def how(self) -> str:
        """Which null, which method: the fine print of every result."""
        if self.stop_after is None:
            return super().how()
        stopped = self.chance.stopped(self.value, self._sides[0])
        many = f"Stopped when {self.stop_after} draws had" if stopped else f"Fewer than {self.stop_after} draws"
        return f"{super().how()} {many} reached the value."

    def _plain(self) -> dict[str, Any]:
        return {
            **super()._plain(),
            "value": finite_or_none(self.value),
            "pvalue": self.pvalue,
            "pvalue_error": self.pvalue_error,
            "standardised": finite_or_none(self.standardised),
            "chance_corrected": finite_or_none(self.chance_corrected),
            "pvalue_better": self.pvalue_better,
            "smallest_pvalue": self.smallest_pvalue,
            "alternative": self.alternative,
            "stop_after": self.stop_after,
            "verdict": self.verdict,
            "reason": self.reason,
        }

    def columns(self) -> dict[str, list[Any]]:
        """One row, by column name."""
        own = ("value", "pvalue", "pvalue_error", "standardised", "chance_corrected")
        found = super().columns() | {name: [getattr(self, name)] for name in own}
        return {name: found[name] for name in COLUMNS}

    def plot(self, ax: Any = None) -> Any:
        """Draw what chance gives, the value and the perfect one (matplotlib); returns the Axes."""
        from nofluke.plot import significance as plot_significance

        return plot_significance(self, ax)

    def __repr__(self) -> str:
        return (
            f"<Significance of {self.name}: {self.shown(self.value)}, chance {self.chance_in_words()}, "
            f"{p_is(self.pvalue)};\n null {self.choice.label}: {self.method}>"
        )


def sides_of(alternative: Alternative) -> tuple[Side, ...]:
    """On which sides values count as extreme."""
    return ("greater", "less") if alternative == "two-sided" else (alternative,)


def table_columns(alpha: float) -> tuple[str, ...]:
    """Headings of the table."""
    return ("metric", "value", "chance", between(alpha), "corrected", "p")


# ---- several metrics on the same draws: a table of them, and one p-value for having looked at all


@dataclass(frozen=True, kw_only=True, eq=False)
class Significances(Exports, ByValue):
    """Several metrics of one detector, or one metric with several settings, on the same draws.

    Attributes
    ----------
    results : tuple of Significance
    corrected : float array
        For each metric, the p-value corrected for all metrics.
    corrected_better : float array
        The same for being better than chance, whatever the alternative is: what the verdict uses.
    method : How
        Whether all shifts were counted for the correction, or draws simulated.

    See Also
    --------
    nofluke.significance : makes it from a list of metrics.
    nofluke.Significance : one metric.
    nofluke.plot.significances : draws it.

    Examples
    --------
    >>> import nofluke as nf
    >>> truth, scores = [0] * 10 + [1] * 4 + [0] * 6, [0.1] * 9 + [0.9] * 3 + [0.1] * 8
    >>> found = nf.significance(["auc-roc", "average-precision"], truth, scores, null="circular-shift")
    >>> found["auc-roc"].pvalue, found.pvalue
    (0.2, 0.2)
    """

    results: tuple[Significance, ...]
    corrected: FloatArray = field(repr=False)
    corrected_better: FloatArray = field(repr=False)
    method: How

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[Significance]:
        return iter(self.results)

    @overload
    def __getitem__(self, which: int | str) -> Significance: ...
    @overload
    def __getitem__(self, which: slice) -> tuple[Significance, ...]: ...
    def __getitem__(self, which: int | str | slice) -> Significance | tuple[Significance, ...]:
        if not isinstance(which, str):
            return self.results[which]
        found = next((result for result in self.results if result.name == which), None)
        if found is None:
            raise InputError(
                argument="metric",
                value=which,
                problem=f"must be one of {', '.join(repr(one.name) for one in self.results)}",
            )
        return found

    @property
    def pvalue(self) -> float:
        """The familywise p-value: how often chance's smallest p over all metrics is as small as the observed one."""
        return float(self.corrected.min())

    @property
    def best(self) -> Significance:
        """The metric that stands out most."""
        return self.results[int(self.corrected.argmin())]

    @property
    def _first(self) -> Significance:
        return self.results[0]

    @property
    def alpha(self) -> float:
        """The level of the verdict."""
        return self._first.alpha

    @property
    def obstacle(self) -> str:
        """What rules out any conclusion by any of the metrics; empty where nothing does."""
        found = [result.obstacle for result in self.results]
        return found[0] if all(found) else ""

    @property
    def verdict(self) -> Verdict:
        """ "yes" if any metric, corrected for all of them, beats chance, else "no"; "cannot tell" if no metric can."""
        if self.obstacle:
            return "cannot tell"
        return "yes" if any(self._good) else "no"

    @property
    def _good(self) -> list[bool]:
        """Which metrics are better than chance; one that cannot tell is none of them."""
        pairs = zip(self.results, self.corrected_better.tolist(), strict=True)
        return [not result.obstacle and significant(p, self.alpha) for result, p in pairs]

    @property
    def reason(self) -> str:
        """Why the verdict is what it is."""
        if self.obstacle:
            return self.names.said(self.obstacle)
        p = float(self.corrected_better.min())
        level = f"at the {self.alpha:.3g} level, corrected for {plural(len(self.results), 'metric')} ({p_is(p)})"
        if self.verdict == "no":
            return f"No metric is significantly better than chance {level}."
        good = [one.name for one, is_good in zip(self.results, self._good, strict=True) if is_good]
        return f"Significantly better than chance {level}: {', '.join(good)}."

    def verdict_in_words(self) -> str:
        """The verdict and its reason."""
        return self.names.said(joined(" ", [headline(self.verdict, self._first.choice, "data"), self.reason]))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know, each once."""
        return tuple(dict.fromkeys(note for result in self.results for note in result.notes))

    @property
    def names(self) -> Names:
        """What events and alarms are called."""
        return self._first.names

    def table(self) -> Table:
        """One line for each metric; renders as text, Markdown, LaTeX or HTML."""
        rows = tuple((*result.row(), show_p(float(p))) for result, p in zip(self.results, self.corrected, strict=True))
        told = Table(
            title=self._first.labels.in_words(),
            columns=(*table_columns(self.alpha), "p corrected"),
            rows=rows,
            verdict=self.verdict,
            notes=(
                self.verdict_in_words(),
                "p corrected: how often chance has a p-value this small in any of these metrics.",
                self.how(),
                *noted(self.notes),
            ),
        )
        return told.called(self.names)

    def how(self) -> str:
        """Which null, and which methods: those of metrics that have a law of their own, and that of the draws."""
        drawn = draws_of(self.method.n_resamples, self.method.seed)
        own = [f"{one.name} {one.method}" for one in self.results if not len(one.values)]
        rest = "correction" if len(own) == len(self.results) else "the rest and the correction"
        methods = f"{'; '.join(own)}; {rest} {self.method}" if own else str(self.method)
        return say("{} Method: {}.{}", self._first.choice.in_words(), methods, drawn)

    def _record(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "metrics": [
                {**result._plain(), "method": str(result.method), "pvalue_corrected": float(p)}
                for result, p in zip(self.results, self.corrected, strict=True)
            ],
            "pvalue": self.pvalue,
            "verdict": self.verdict,
            "reason": self.reason,
            **self._first._common(),
            "method": str(self.method),
            "seed": self.method.seed,
            "notes": list(self.names.all_said(self.notes)),
        }

    def columns(self) -> dict[str, list[Any]]:
        """A row for each metric, by column name."""
        return stacked(result.columns() for result in self.results) | {"pvalue_corrected": self.corrected.tolist()}

    def plot(self, ax: Any = None) -> Any:
        """Draw what chance gives in each metric, with its value (matplotlib); returns the Axes."""
        from nofluke.plot import significances as plot_significances

        return plot_significances(self, ax)

    def __repr__(self) -> str:
        told = "; ".join(f"{one.name} {one.value:.4g} ({p_is(one.pvalue)})" for one in self.results)
        return f"<Significances: {told};\n corrected {p_is(self.pvalue)}; null {self._first.choice.label}>"
