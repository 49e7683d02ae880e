"""Any metric against chance: what it gets beside chance (a level, a test, several of either), and the two questions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Unpack, overload

import numpy as np

from nofluke.arrays import ByValue, FloatArray
from nofluke.errors import THINGS, InputError, arg, joined, say, verb
from nofluke.inference.chance import ALTERNATIVES, Alternative, FLaw, Side, error_of, significant
from nofluke.inference.corrections import familywise, scale_of
from nofluke.inference.evaluate import TURNED, Question, Settings, offered_ranges, remarks
from nofluke.inference.metric_laws import (
    Drawn,
    Given,
    OfF,
    OfHits,
    Stop,
    Values,
    affordable,
    measure,
    on_one_line,
    stopped_at,
)
from nofluke.inference.verdict import Verdict, headline
from nofluke.laws.law import How
from nofluke.lazy import lazy
from nofluke.metrics import get
from nofluke.metrics.base import Metric, Needs
from nofluke.metrics.draws import highest
from nofluke.metrics.functions import Function, OnEvents
from nofluke.metrics.labelled import Labelled, labelled_of, read_labelled
from nofluke.metrics.tolerant import F1, Hits, Tolerant
from nofluke.nulls import Null
from nofluke.nulls.base import SEED, NullModel, check_resamples, drawing
from nofluke.nulls.choice import AUTO, Choice, choose
from nofluke.nulls.placements import Moves, moves_of
from nofluke.nulls.whole_series import as_series_null, choose_for_series, edges_of, perfect_detectors
from nofluke.plain import as_rng, as_share, as_whole, check_alpha, check_word, finite_or_none, number_or_none
from nofluke.ratios import TIE_SLACK, corrected
from nofluke.series.arguments import About, AboutMetric, AboutSeries, takes
from nofluke.series.between import Made, trial_of
from nofluke.series.detector import Cuts, choose_cut
from nofluke.series.names import NONE, Names
from nofluke.series.reading import Sequence, length_of, prepare
from nofluke.series.tolerance import Tolerance
from nofluke.series.trial import Cell
from nofluke.series.truth import CountEvents
from nofluke.text.exports import Exports
from nofluke.text.numbers import p_is, show_chance, show_p
from nofluke.text.tables import ALL_EQUAL, SCHEMA, Table, noted, plural, show_number, show_share, stacked, there_are_no


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


# ---- a metric beside what chance gives on the same labels


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BesideChance(Exports, ByValue):
    """What chance gives in a metric: all that a level and a test of a value have in common."""

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
    def better(self) -> Side:
        """On which side values are better."""
        return better_side(self.metric)

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

    @property
    def critical_value(self) -> float | None:
        """What a value has to exceed (or stay below, where lower is better) for p ≤ alpha; None where no value does."""
        return self.chance.critical(self.alpha, self.better)

    def how(self) -> str:
        """Which null, which method: the fine print of every result."""
        drawn = draws_of(self.chance.n_random, self.seed)
        return say("{} Method: {}.{}", self.choice.in_words(), self.method, drawn)

    def shown(self, value: float) -> str:
        """A value of the metric, never rounded to 0 or 1 where these are its ends."""
        return show_share(value) if self.metric.perfect == 1.0 and not abs(value) > 1 else show_number(value)

    def chance_in_words(self) -> str:
        """Mean ± standard deviation."""
        return "undefined" if math.isnan(self.expected) else show_chance(self.expected, self.std)

    def _band_in_words(self) -> str:
        return "" if self.band is None else "{} to {}".format(*map(self.shown, self.band))

    def _of_chance(self) -> dict[str, Any]:
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

    def _row_of_chance(self) -> dict[str, Any]:
        low, high = self.band or (math.nan, math.nan)
        return {
            "metric": self.name,
            "expected": self.expected,
            "std": self.std,
            "low": low,
            "high": high,
            "critical_value": self.critical_value,
            "null": self.choice.model.text,
            "method": str(self.method),
        }


def better_side(metric: Metric) -> Side:
    """On which side values of a metric are better."""
    return "greater" if metric.better == "higher" else "less"


def draws_of(n: int | None, seed: int | None) -> str:
    """How many random draws, as a sentence after another; nothing where there are none."""
    return "" if n is None else f" {n:,} draws{'' if seed is None else f', seed {seed}'}."


def between(alpha: float) -> str:
    """The heading of the band."""
    return f"{100 * (1 - alpha):.3g}% of chance"


# ---- what chance gives in a metric on given labels: draws, their mean and band


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ChanceLevel(BesideChance):
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
            rows=((self.name, self.chance_in_words(), self._band_in_words(), "" if bar is None else self.shown(bar)),),
            notes=(self.in_words(), self.how(), *noted(self.notes)),
        )
        return told.called(self.names)

    def _record(self) -> dict[str, Any]:
        return {"schema": SCHEMA, **self._of_chance(), **self._common()}

    def columns(self) -> dict[str, list[Any]]:
        """One row, by column name."""
        return {name: [value] for name, value in self._row_of_chance().items()}

    def plot(self, ax: Any = None) -> Any:
        """Draw what chance gives, beside the perfect value (matplotlib); returns the Axes."""
        from nofluke.plot import chance_level

        return chance_level(self, ax)

    def __repr__(self) -> str:
        return f"<ChanceLevel of {self.name}: {self.chance_in_words()};\n null {self.choice.label}: {self.method}>"


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
class Significance(BesideChance):
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
        return error_of(self.pvalue, self.chance.n_random, len(self._sides))

    @property
    def critical_value(self) -> float | None:
        """What a value has to exceed (or stay below) for p ≤ alpha; None for two sides, and with early stopping."""
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
        told = super().how()
        if self.stop_after is None:
            return told
        stopped = self.chance.stopped(self.value, self._sides[0])
        many = f"Stopped when {self.stop_after} draws had" if stopped else f"Fewer than {self.stop_after} draws"
        return f"{told} {many} reached the value."

    def _record(self) -> dict[str, Any]:
        return {"schema": SCHEMA, **self._plain(), **self._common()}

    def _plain(self) -> dict[str, Any]:
        return {
            **self._of_chance(),
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
        found = self._row_of_chance() | {name: getattr(self, name) for name in own}
        return {name: [found[name]] for name in COLUMNS}

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


# ---- metrics of a series that was read, against chance: choose the null, measure its draws

FAST_CHUNK, SLOW_CHUNK = 4096, 64  # draws to a chunk: of kernels; of functions, and where draws may stop early
ROWS = 2**22  # steps of all labels that are drawn in a chunk


def judge(
    metrics: tuple[Metric, ...],
    series: Labelled,
    *,
    several: bool,
    null: Null,
    n_resamples: int,
    stop_after: int | None,
    alternative: Alternative | None,
    workers: int | None,
    rng: Any,
    alpha: float,
    edges: tuple[int, ...] | None,
    counted: Counted | None = None,
) -> Any:
    """Metrics of a series that was read, against chance.

    Several are measured on common draws. Of these, metrics within a tolerance have the laws of the series ``counted``
    as `nofluke.evaluate` does, under the null of all.
    """
    if edges is not None:
        series = replace(series, truth=series.truth.cut_at(edges))
    observed = [_observed(metric, series) for metric in metrics]
    choice = choose_for_series(
        null,
        series,
        reach=max(metric.reach(series) for metric in metrics),
        alpha=alpha,
        by_scores=any(metric.needs == "scores" for metric in metrics),
        edges=edges,
    )
    slow = stop_after is not None or not all(metric.compiled for metric in metrics)
    moves = moves_of(
        choice.model,
        series,
        n_resamples=n_resamples,
        rng=rng,
        chunk=SLOW_CHUNK if slow else max(min(FAST_CHUNK, ROWS // max(series.n_labelled, 1)), SLOW_CHUNK),
        affordable=affordable(metrics, series, None if stop_after is not None else n_resamples),
        edges=edges,
    )
    if moves.listed:
        stop_after = None  # all shifts at once take less than any draw
    sides: list[Alternative] = [alternative or better_side(metric) for metric in metrics]
    stop = None
    if stop_after is not None:
        side: Side = "less" if sides[0] == "less" else "greater"
        stop = Stop(after=stop_after, bar=observed[0], side=side, scale=abs(metrics[0].perfect or 0.0))
    found, more = measure(metrics, series, moves, workers=workers, stop=stop)
    more += _given(metrics, series) + _odd_draws(found, metrics, observed)
    labels = labels_of(series)
    notes = (*series.notes, *_remarks(series, labels), *more, *choice.notes)

    def tested(metric: Metric, value: float, values: Values, side: Alternative) -> Significance:
        if counted is not None and isinstance(metric, Tolerant):
            question = Question(alternative=side, n_resamples=n_resamples, rng=rng, alpha=alpha)
            result = _beside_others(metric, counted, question, null, choice, labels, notes)
            if result is not None:
                return result
        drawn, scale = values.values, max(scale_of(values.values), abs(metric.perfect or 0.0))
        if stop is not None:
            scale = stop.scale
            drawn = drawn[: stopped_at(stop.reached(drawn), stop.after)]
        result = Significance(
            metric=metric,
            value=value,
            chance=Drawn(
                values=drawn,
                how=moves.method,
                known_mean=metric.mean_by_permutation(series) if choice.model.permutes else None,
                scale=scale,
                stop_after=None if stop is None else stop.after,
            ),
            labels=labels,
            choice=choice,
            alternative=side,
            alpha=alpha,
            notes=notes,
        )
        turned = _turned(result, series)
        result = replace(result, notes=(*notes, turned)) if turned else result
        return _entitled(result, series, moves, workers) if moves.listed else result

    results = tuple(map(tested, metrics, observed, found, sides))
    if not several:
        return results[0]
    draws = [values.values for values in found]
    better = _corrected(results, observed, draws, [(result.better,) for result in results], moves.listed)
    asked = [sides_of(side) for side in sides]
    same = all(own == (result.better,) for own, result in zip(asked, results, strict=True))
    corrected = better if same else _corrected(results, observed, draws, asked, moves.listed)
    return Significances(
        results=results,
        corrected=np.maximum(corrected, [result.pvalue for result in results]),
        corrected_better=np.maximum(better, [result.pvalue_better for result in results]),
        method=moves.method,
    )


def _entitled(result: Significance, series: Labelled, moves: Moves, workers: int | None) -> Significance:
    """A "no" with the p-value of a perfect detector, which shifts that are short against the ranges leave large."""
    chance = result.chance
    if result.verdict != "no" or not result.metric.compiled or not isinstance(chance, Drawn):
        return result
    found = []
    for perfect in perfect_detectors(series):
        (values,), _ = measure((result.metric,), perfect, moves, workers=workers, stop=None)
        best = float(values.values[0])  # the identity comes first
        found.append(replace(chance, values=values.values).tail(best, result.better))
    return replace(result, perfect_pvalue=min(found))


def _corrected(
    results: tuple[Significance, ...],
    observed: list[float],
    draws: list[FloatArray],
    sides: list[tuple[Side, ...]],
    listed: bool,
) -> FloatArray:
    """For each metric, how often chance has a p-value as small in any of them, on any side that counts."""
    columns = [(k, 1.0 if side == "greater" else -1.0) for k, some in enumerate(sides) for side in some]
    own = np.array([sign * observed[k] for k, sign in columns])
    found = familywise(
        np.where(np.isnan(own), -np.inf, own), np.column_stack([sign * draws[k] for k, sign in columns]), listed=listed
    )
    best = [min(p for (k, _), p in zip(columns, found.tolist(), strict=True) if k == j) for j in range(len(results))]
    return np.array([1.0 if np.isnan(result.value) else p for result, p in zip(results, best, strict=True)])


# ---- metrics within a tolerance: the laws of hits and of F that `nofluke.evaluate` has


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A series read as `nofluke.evaluate` reads it, by what counts as an event, at one threshold."""

    sequence: Sequence
    cuts: Cuts | None
    asked: CountEvents | None

    @classmethod
    def read(cls, truth: Any, scores: Any, about: AboutMetric) -> Counted:
        """From what a user passes."""
        given = About.of(about)
        sequence = prepare(truth, scores, **given.reading)
        return cls(sequence=sequence, cuts=choose_cut(sequence, **given.cut), asked=about.get("count_events"))

    def within(self, tolerance: Tolerance) -> Made:
        """Its trial within a tolerance."""
        return trial_of(self.sequence, (tolerance,), self.cuts)


def by_law(metric: Tolerant, counted: Counted, question: Question) -> Significance:
    """A metric within a tolerance against the null that `nofluke.evaluate` takes, and by its laws."""
    made = counted.within(metric.window)
    cell = made.trial.cell(0, 0)
    settings = question.settled(cell, made.doubt)
    notes = (
        *counted.sequence.notes,
        *made.notes,
        *offered_ranges(counted.sequence, cell.truth, counted.asked),
        *(() if counted.cuts is None else counted.cuts.notes),
        *remarks(cell),
        *settings.choice.notes,
    )
    ranges = labelled_of(counted.sequence.as_ranges(), counted.cuts, counted.asked)
    return _tested(metric, cell, settings, labels_of(ranges), notes)


def _beside_others(
    metric: Tolerant,
    counted: Counted,
    question: Question,
    null: Null,
    choice: Choice,
    labels: Labels,
    notes: tuple[str, ...],
) -> Significance | None:
    """The same under the null of several metrics; None where that has no law of these hits, so that draws must do."""
    made = counted.within(metric.window)
    cell, model = made.trial.cell(0, 0), choice.model
    if cell.in_time or model.moves == "detector" or not (cell.truth.points or model.takes_ranges):
        return None
    settings = question.under(choice)
    if choice.is_auto:
        alone = choose(null, cell, question.alpha, made.doubt)
        if (alone.model.text, alone.holds) != (model.text, choice.holds):
            notes += (f"{metric.text} alone would be tested under {alone.label}; several metrics share one null.",)
    try:
        return _tested(metric, cell, settings, labels, notes)
    except InputError:  # of a null without a joint law of both hits
        return None


def _tested(metric: Tolerant, cell: Cell, settings: Settings, labels: Labels, notes: tuple[str, ...]) -> Significance:
    """A metric against the law of a cell; a "no" with the p-value of perfect alarms."""
    value, chance = _law(metric, cell, settings)
    result = Significance(
        metric=metric,
        value=value,
        chance=chance,
        labels=labels,
        choice=settings.choice,
        alpha=settings.alpha,
        alternative=settings.alternative,
        notes=notes,
    )
    _ = result.pvalue  # what cannot be computed fails now
    if result.verdict != "no":
        return result
    # shifts that are short against the events may leave perfect alarms insignificant
    again = replace(settings, rng=SEED)
    perfect = (_law(metric, best, again) for best in settings.null.perfect_alarms(cell))
    found = (chance.tail(best, "greater") for best, chance in perfect)
    return replace(result, perfect_pvalue=min(found, default=0.0))


def _law(metric: Tolerant, cell: Cell, settings: Settings) -> tuple[float, Given]:
    """Its value in a cell, and what chance gives."""
    counts = cell.precision_hits, cell.recall_hits, cell.n_predictions, cell.n_counted
    value = float(metric.of_hits(Hits(*(np.array([n]) for n in counts)))[0])
    if isinstance(metric, F1):
        joint = settings.null.joint(cell, n_resamples=settings.n_resamples, rng=settings.rng)
        return value, OfF(law=FLaw.of(joint, cell.n_predictions, cell.n_counted, metric.beta), observed=value)
    precision, recall = settings.tests(cell, settings.laws(cell))
    return value, OfHits(test=precision if metric.name == "precision" else recall)


def _observed(metric: Metric, series: Labelled) -> float:
    """The value itself: what fails here fails before any draw is made."""
    try:
        return metric.value(series)
    except InputError:
        raise
    except Exception as error:
        if metric.compiled:
            raise
        by_scores = metric.needs == "scores"
        ways = map(arg, ("threshold", "quantile", "budget", "predictions"))
        raise InputError(
            argument="metric",
            value=metric.text,
            problem=f"failed on the data with {on_one_line(error)}. It was given {'scores' if by_scores else 'alarms'}",
            remedy=say("for alarms pass {}, {}, {} or {}", *ways) if by_scores else "",
        ) from error


def _given(metrics: tuple[Metric, ...], series: Labelled) -> tuple[str, ...]:
    """A word on functions that were given alarms where there are scores as well."""
    if series.scores is None:
        return ()
    return tuple(
        f"{metric.text} was given the alarms: for scores pass nf.metrics.Function(function=..., name={metric.text!r}, needs='scores')."
        for metric in metrics
        if metric.needs == "alarms" and not metric.compiled and not metric.declared
    )


def _odd_draws(found: list[Values], metrics: tuple[Metric, ...], observed: list[float]) -> tuple[str, ...]:
    """Notes on metrics that have a value on the data, and none or an infinite one on some draws."""
    notes = []
    for values, metric, value in zip(found, metrics, observed, strict=True):
        undefined, infinite = (int(odd(values.values).sum()) for odd in (np.isnan, np.isinf))
        of = f"of {len(values.values):,} draws"
        if undefined > values.failed and not np.isnan(value):
            notes.append(
                f"{metric.text} is undefined on {undefined - values.failed:,} {of}; these count as draws that do as "
                "well as the data."
            )
        if infinite:
            notes.append(f"{metric.text} is infinite on {infinite:,} {of}; mean, deviation and band leave these out.")
    return tuple(notes)


def _turned(result: Significance, series: Labelled) -> str:
    """A word where scores are far worse than chance, as if they were upside down."""
    if result.metric.needs != "scores" or result.obstacle or result.stop_after is not None:
        return ""
    worse = result.pvalue_worse
    if worse > TURNED:
        return ""
    other = "normal" if series.sequence.higher_is == "anomalous" else "anomalous"
    return say(
        "{} is far worse than chance ({}): if scores are upside down, pass {}.",
        result.name,
        p_is(worse),
        arg("higher_is", other),
    )


def labels_of(series: Labelled) -> Labels:
    """What metrics are measured on, in numbers."""
    return Labels(
        n=series.n_steps,
        n_ranges=series.truth.n,
        n_labelled=series.n_labelled,
        n_alarms=None if series.alarms is None else int(series.alarms.sum()),
        threshold=None if series.cuts is None else float(series.cuts.told[0]),
        names=series.sequence.names,
    )


def _remarks(series: Labelled, labels: Labels) -> tuple[str, ...]:
    """What is degenerate about this input, in plain words."""
    remarks = [labels.obstacle] if labels.obstacle else []
    if series.scores is not None and series.n_steps > 1 and np.ptp(series.scores) == 0:
        remarks.append(ALL_EQUAL)
    if series.alarms is not None and not series.alarms.any():
        remarks.append(there_are_no("alarms"))
    elif series.alarms is not None and series.alarms.all():
        remarks.append(say("There is {an_alarm} on every step."))
    return tuple(remarks)


# ---- any metric against chance


@takes(AboutMetric, like="evaluate")
def significance(
    metric: Any,
    truth: Any,
    scores: Any = None,
    *,
    groups: Any = None,
    null: Null = "auto",
    n_resamples: int = 10_000,
    stop_after: int | None = None,
    alternative: Alternative | None = None,
    workers: int | None = None,
    rng: Any = None,
    alpha: float = 0.05,
    **about: Unpack[AboutMetric],
) -> Any:
    r"""The value of any metric, what chance gives on the same labels, and how often chance does as well.

    .. math:: p = \frac{\#\{\text{shifts } s : f(e, z_s) \ge f(e, z)\}}{\#\{\text{shifts}\}}
        \qquad\text{or}\qquad p = \frac{\#\{\text{draws that reach } f(e, z)\} + 1}{n + 1}

    Parameters
    ----------
    metric : str, Metric, callable, or a list of them
        A name with settings ("vus-pr:window=100", see :func:`nofluke.metrics.names`), a metric, or any function
        ``f(labels, x) -> float`` of 0/1 labels and scores (or alarms, where a threshold or predictions are passed),
        such as those of aeon and scikit-learn. Detection metrics of sktime are given lists of events. A list of metrics
        is measured on the same draws, and gets a p-value corrected for having looked at all of them: pass every window
        or tolerance among which you would have chosen.
    truth, scores
        As in :func:`nofluke.evaluate`. Consecutive labels are one range; ``count_events`` only matters for "recall" and
        "f1". A threshold that is chosen with the labels (the best F1) is part of the metric, and chosen again in
        every draw.
    <about>
    null : str, NullModel or callable
        What chance does. "auto" looks at labels and scores separately, and chooses the null that fits them. Rotations
        and local shifts move the detector and keep labelled ranges whole; so does "segments", which shuffles ranges and
        gaps. Nulls that place single steps tear ranges apart: the result then says so. "random-scores" and
        "score-permutation" move the scores.
    n_resamples : int
        Random draws, if not all shifts are enumerated. They are if there are no more than this, or if it takes only
        seconds.
    stop_after : int, optional
        Stop once this many draws have reached the value (Besag and Clifford 1991): few draws are needed if p is large.
        There is then no band and no critical value. It has no effect where all rotations are computed at once, or
        where the metric has a law.
    alternative : {"greater", "less", "two-sided"}, optional
        Which values count as extreme; by default the better ones.
    workers : int, optional
        Threads for nofluke's own metrics (by default as many as there are cores), processes for functions that can be
        pickled (by default one). The answer does not depend on it.
    rng : int, Generator, SeedSequence or None
        Randomness of the draws. The result names the seed.
    alpha : float
        The level of the verdict, the band and the critical value.
    groups : array-like, optional
        One entry for each step, if several series are concatenated: each is then rotated within itself.

    Returns
    -------
    Significance or Significances
        The latter for a list of metrics.

    Notes
    -----
    Precision, recall and F within a tolerance have laws: one of them gets the null, the p-value and all that chance
    gives as :func:`nofluke.evaluate` has it, with nothing drawn where that is exact. In a list it keeps that p-value,
    under the null of the list; draws only correct it.

    A draw on which a metric is undefined, or on which a function fails, counts as one that reaches the value, and is
    noted. The verdict says whether the value is better than chance, whatever the alternative. A rotation may cut a run
    of alarms in two at the end of the series: they then count as two.

    See Also
    --------
    nofluke.chance : the chance level from the labels alone.
    nofluke.metrics : the metrics.
    nofluke.evaluate : precision and recall within a tolerance, in one verdict.

    References
    ----------
    Besag and Clifford (1991), Sequential Monte Carlo p-values. Phipson and Smyth (2010), Permutation p-values should
    never be zero. Kim et al. (2022), Towards a rigorous evaluation of time-series anomaly detection.

    Examples
    --------
    >>> import nofluke as nf
    >>> truth, scores = [0] * 10 + [1] * 4 + [0] * 6, [0.1] * 9 + [0.9] * 3 + [0.1] * 8
    >>> nf.significance("auc-roc", truth, scores, null="circular-shift").pvalue
    0.2
    """
    several = isinstance(metric, list | tuple)
    alpha, n_resamples, rng = check_alpha(alpha), check_resamples(n_resamples), as_rng(rng)
    if alternative is not None:
        check_word(alternative, "alternative", ALTERNATIVES)
    if workers is not None:
        workers = as_whole(workers, "workers", 1)
    if stop_after is not None:
        stop_after = as_whole(stop_after, "stop_after", 1)
        if several:
            raise InputError(
                argument="stop_after",
                problem="needs a single metric, since several need a fixed number of draws",
                remedy="leave it out",
            )
        if alternative == "two-sided":
            raise InputError(
                argument="stop_after",
                problem="needs one side",
                remedy=say("pass {}, or leave it out", arg("alternative", "greater", "less")),
            )
    alarms = scores is None or any(about.get(way) is not None for way in ("threshold", "quantile", "budget"))
    metrics = as_metrics(metric, "alarms" if alarms else "scores")
    if alarms and not several and groups is None and isinstance(metrics[0], Tolerant) and _has_laws(null, stop_after):
        question = Question(null=null, n_resamples=n_resamples, rng=rng, alpha=alpha)
        question = replace(question, alternative=alternative or "greater")
        return by_law(metrics[0], Counted.read(truth, scores, about), question)
    series = read_labelled(truth, scores, **about)
    together = alarms and several and groups is None and any(isinstance(one, Tolerant) for one in metrics)
    return judge(
        metrics,
        series,
        several=several,
        null=null,
        n_resamples=n_resamples,
        stop_after=stop_after,
        alternative=alternative,
        workers=workers,
        rng=rng,
        alpha=alpha,
        edges=edges_of(groups, series),
        counted=Counted.read(truth, scores, about) if together else None,
    )


def _has_laws(null: Null, stop_after: int | None) -> bool:
    """Whether a null moves events, as those of `nofluke.evaluate` do, and has more than draws to stop early."""
    if isinstance(null, str) and null.strip() == AUTO:
        return True
    model = as_series_null(null)
    return model.moves == "truth" and (stop_after is None or not model.is_drawn("auto"))


def as_metrics(metric: Any, given: Needs) -> tuple[Metric, ...]:
    """The metrics asked for; functions are given what there is, scores or alarms."""
    found = []
    for asked in metric if isinstance(metric, list | tuple) else [metric]:
        one = get(asked)
        declared = isinstance(asked, str | Metric)
        if isinstance(one, Function) and not declared and not isinstance(one.function, OnEvents):
            one = Function(function=one.function, name=one.name, needs=given, declared=False)
        found.append(one)
    if not found:
        raise InputError(argument="metric", problem="is an empty list", remedy="pass a metric, or several")
    names = [one.text for one in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            argument="metric",
            value=twice,
            problem="is there twice",
            remedy="pass each once, and give functions names of their own",
        )
    return tuple(found)


# ---- what chance gives in a metric on one set of labels, before there is any detector

CHUNK = 64  # draws to a chunk: each makes scores as long as the series


@takes(AboutSeries, like="evaluate")
def chance(
    metric: Any,
    truth: Any,
    *,
    null: str | NullModel = "random-scores",
    budget: float | str | None = None,
    n_resamples: int = 1_000,
    workers: int | None = None,
    rng: Any = None,
    alpha: float = 0.05,
    **about: Unpack[AboutSeries],
) -> ChanceLevel:
    """What chance gives in a metric, from the labels alone: the level that a detector must exceed.

    Parameters
    ----------
    metric : str, Metric or callable
        As in :func:`nofluke.significance`.
    truth : array-like
        Labels, or, with ``n_steps`` or ``times``, positions or ranges.
    null : str or RandomScores
        "random-scores" draws a random number for each step, "random-scores:phi=0.9" gives them a memory, as detectors
        on sliding windows have.
    budget : float or str, optional
        For metrics of alarms, the share of steps with one (0.01 or "1%"): the highest scores, rounded down.
    n_resamples, workers, rng, alpha
        As in :func:`nofluke.significance`.
    <about>

    Returns
    -------
    ChanceLevel

    Notes
    -----
    What chance scores for a real detector depends on the memory of its own scores: see
    :func:`nofluke.significance`.

    See Also
    --------
    nofluke.significance : a detector's value against chance.
    nofluke.metrics : the metrics.

    Examples
    --------
    >>> import nofluke as nf
    >>> labels = ([0] * 80 + [1] * 20) * 20
    >>> level = nf.chance("auc-roc", labels, n_resamples=199, rng=1)
    >>> level.expected, level.critical_value < 0.55
    (0.5, True)
    """
    alpha, n_resamples, rng = check_alpha(alpha), check_resamples(n_resamples), as_rng(rng)
    workers = None if workers is None else as_whole(workers, "workers", 1)
    model = as_series_null(null)
    if model.needs_detector:
        raise InputError(
            argument="null",
            value=model.text,
            problem="needs a detector to compare with",
            remedy=say("pass {}, or call {}", arg("null", "random-scores"), verb("significance")),
        )
    n = length_of(truth, about.get("truth_as", "auto"), about.get("n_steps"), about.get("times"))
    # any scores without ties: others are drawn in their place
    series = read_labelled(truth, np.arange(n), **about)
    (wanted,) = as_metrics([metric], "scores" if budget is None else "alarms")
    if budget is not None:
        n_alarms = math.floor(as_share(budget, "budget") * series.n_steps)
        if n_alarms == 0:
            raise InputError(
                argument="budget",
                value=budget,
                problem=f"of {series.n_steps:,} steps gives no alarm",
                remedy="pass a larger share",
            )
        series = replace(series, alarms=highest(np.zeros(series.n_steps), n_alarms))
    elif wanted.needs == "alarms":
        raise InputError(
            argument="metric",
            value=wanted.text,
            problem="needs alarms",
            remedy=say("pass {}, the share of steps with one, such as 0.01", arg("budget")),
        )
    found, how, notes = _drawn(wanted, series, model, n_resamples, rng, workers)
    return ChanceLevel(
        metric=wanted,
        chance=Drawn(
            values=found.values,
            how=how,
            known_mean=wanted.mean_by_permutation(series) if model.permutes else None,
            scale=scale_of(found.values),
        ),
        labels=labels_of(series),
        choice=Choice(model=model, asked=model.text, why=""),
        alpha=alpha,
        notes=(*series.notes, *notes),
    )


def _drawn(
    metric: Metric, series: Labelled, model: NullModel, n_resamples: int, rng: Any, workers: int | None
) -> tuple[Values, How, tuple[str, ...]]:
    rng, how = drawing(n_resamples, rng)
    generator = np.random.default_rng(rng)
    short = metric.on_random_scores(series, n_resamples, generator) if model.permutes else None
    if short is not None:
        return Values(short), how, ()
    moves = moves_of(model, series, n_resamples=n_resamples, rng=rng, chunk=CHUNK, affordable=lambda _: False)
    (found,), notes = measure((metric,), series, moves, workers=workers)
    return found, how, notes
