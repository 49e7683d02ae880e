"""The leaderboard of a study: detectors best first, with intervals, chance, corrected p-values and verdicts."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nofluke.arrays import ByValue, FloatArray
from nofluke.errors import InputError, joined, say
from nofluke.inference.compare import Comparison
from nofluke.inference.interval import MEASURES as COMPARED
from nofluke.inference.verdict import Verdict
from nofluke.plain import check_word, finite_or_none
from nofluke.studies.pooled_row import (
    MEASURES,
    Pooled,
    PooledByGroup,
    breaks_of,
    check_measures,
    headings,
    name_of,
)
from nofluke.studies.store import missing_in_words
from nofluke.text.exports import Exports
from nofluke.text.signs import VERDICTS
from nofluke.text.tables import SCHEMA, Table, noted, plural, stacked

OF = "(of x): chance covers only the series on which a null holds, where the value is x"
OF_MEANS = (
    "means over the series on which they are defined; corrected is (mean - chance) / (perfect - chance); p is the share of "
    "draws of all series whose mean is at least as good"
)
MOST_NAMED = 8  # detectors in a sentence


# ---- every detector against every other: differences of pooled measures, as square matrices

_NUMBERS = ("difference", "low", "high", "pvalue", "corrected")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairMatrix(ByValue):
    """Differences of one measure, row minus column, and how far chance goes; NaN on the diagonal and where unknown.

    Attributes
    ----------
    difference, low, high, pvalue, corrected : array, D x D
        ``corrected`` is Holm's over all pairs. ``low`` and ``high`` change sign and places across the diagonal.
    """

    difference: FloatArray = field(repr=False)
    low: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)
    pvalue: FloatArray = field(repr=False)
    corrected: FloatArray = field(repr=False)

    def ordered(self, order: list[int]) -> PairMatrix:
        """The same with rows and columns in another order."""
        at = np.ix_(order, order)
        return PairMatrix(**{name: getattr(self, name)[at] for name in _NUMBERS})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairs(ByValue):
    """All pairs of detectors, for each measure: "f1", and "precision", "recall" and metrics where they were compared.

    Examples
    --------
    >>> nan = np.full((2, 2), np.nan)
    >>> difference = np.array([[np.nan, 0.2], [-0.2, np.nan]])
    >>> f1 = PairMatrix(difference=difference, low=nan, high=nan, pvalue=nan, corrected=nan)
    >>> pairs = Pairs(detectors=("a", "b"), measures={"f1": f1})
    >>> pairs.ordered(("b", "a")).measures["f1"].difference[0, 1]
    np.float64(-0.2)
    """

    detectors: tuple[str, ...]
    measures: Mapping[str, PairMatrix] = field(repr=False)

    @classmethod
    def of(cls, found: Comparison) -> Pairs:
        """From a comparison of all pairs."""
        n, measures = len(found.detectors), {}
        for measure in ("f1", "precision", "recall", *found.measures[len(COMPARED) :]):
            numbers = {name: np.full((n, n), np.nan) for name in _NUMBERS}
            for i, j in itertools.permutations(range(n), 2):
                one = found.difference(found.detectors[i], found.detectors[j], measure)
                told = (one.value, one.low, one.high, one.pvalue, one.corrected)
                for name, value in zip(_NUMBERS, told, strict=True):
                    numbers[name][i, j] = value
            measures[measure] = PairMatrix(**numbers)
        return cls(detectors=found.detectors, measures=measures)

    def ordered(self, detectors: tuple[str, ...]) -> Pairs:
        """The same for these detectors in this order."""
        order = [self.detectors.index(name) for name in detectors]
        return Pairs(detectors=detectors, measures={m: matrix.ordered(order) for m, matrix in self.measures.items()})

    def to_list(self) -> list[dict[str, Any]]:
        """Each pair once, with the numbers of every measure."""
        n = len(self.detectors)
        return [
            {
                "detectors": [self.detectors[i], self.detectors[j]],
                **{
                    measure: {name: finite_or_none(float(getattr(matrix, name)[i, j])) for name in _NUMBERS}
                    for measure, matrix in self.measures.items()
                },
            }
            for i in range(n)
            for j in range(i + 1, n)
        ]


# ---- detectors best first


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a reader of a leaderboard has to know of its study.

    Attributes
    ----------
    title : str
    null, tolerance, threshold : str
        What was asked for, in words.
    n_series, n_groups : int
        As many groups as series where none were named.
    n_truths : int, optional
        Different truths, where groups share some, so that intervals and comparisons use both.
    noun : str
        What such a unit is called: "group", "independent unit" where series were lumped by what they share, or
        "series".
    missing : tuple of (str, int)
        Why cells have no result and how many, from `nofluke.studies.store.count_reasons`.
    alpha, level : float
        Of the verdicts and of the intervals.
    notes : tuple of str
    """

    title: str
    null: str
    tolerance: str
    threshold: str
    n_series: int
    n_groups: int
    noun: str = "group"
    missing: tuple[tuple[str, int], ...] = ()
    alpha: float = 0.05
    level: float = 0.95
    notes: tuple[str, ...] = ()
    n_truths: int | None = None

    @property
    def grouped(self) -> bool:
        """Whether groups, not series, are the units."""
        return self.noun != "series" and self.n_groups < self.n_series

    @property
    def units(self) -> str:
        """The units, counted."""
        truths = "" if self.n_truths is None else f", and {plural(self.n_truths, 'different truth')}"
        return (
            plural(self.n_groups, self.noun) if self.grouped else plural(self.n_groups, "series", "series")
        ) + truths


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What detectors are ranked by where not all of them have all series.

    Attributes
    ----------
    values : mapping of str to float
        The measure on the series that all ranked detectors have; those without one are not ranked, and come last.
    n_common : int
        How many series these are.
    """

    values: Mapping[str, float]
    n_common: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Leaderboard(Exports, ByValue):
    """The detectors of a study, best first by pooled F1, or by another measure; those without one come last.

    Attributes
    ----------
    rows : tuple of Pooled
    pairs : Pairs or None
        All pairs of detectors, in the same order; None where they were not compared: then no row is not told from the
        best.
    about : About
    rank_by : str
        "f1", "precision", "recall" or a metric of the study.
    standing : Standing or None
        Where detectors lack series: what they are ranked by instead of their own values, which are of other series.
    by_group : PooledByGroup or None
        Which detectors are better than chance in which groups, where groups were named.

    Examples
    --------
    >>> from nofluke.studies.pooled_row import PooledMeasure
    >>> chance = {"expected": 0.2, "std": 0.05, "pvalue": 1e-4, "corrected": 2e-4, "method": "exact"}
    >>> half = PooledMeasure(value=0.5, low=0.4, high=0.6, **chance)
    >>> rest = {"n_series": 9, "n_failed": 1, "n_told": 9, "share_yes": 0.4, "skill_in": 2, "n_groups": 5, "best": True}
    >>> row = Pooled(detector="a", precision=half, recall=half, f1=half, verdict="yes", reason="", **rest)
    >>> about = About(title="Two", null="auto", tolerance="2 steps", threshold="budget 1%", n_series=10, n_groups=5,
    ...     missing=(("No scores.", 1),))
    >>> print(str(Leaderboard(rows=(row,), pairs=None, about=about)).split("Null")[0].strip())
    1 of 10 cells is missing:
    1: No scores.
    <BLANKLINE>
    Two: 1 detector on 10 series in 5 groups
    <BLANKLINE>
    detector              F1 [95%]  F1 chance     F1 p     verdict  series ✓  skill in   series
    a         0.500 [0.400, 0.600]      0.200  2.0e-04  ✓ no fluke     0.400  ≥ 2 of 5  9 of 10
    <BLANKLINE>
    detector               P [95%]  P chance      P p               R [95%]  R chance      R p
    a         0.500 [0.400, 0.600]     0.200  2.0e-04  0.500 [0.400, 0.600]     0.200  2.0e-04
    """

    rows: tuple[Pooled, ...]
    pairs: Pairs | None = field(repr=False)
    about: About = field(repr=False)
    rank_by: str = "f1"
    standing: Standing | None = field(repr=False, default=None)
    by_group: PooledByGroup | None = field(repr=False, default=None)

    def __post_init__(self) -> None:
        for row in self.rows[:1]:
            check_word(self.rank_by, "rank_by", row.measures)
        names = [row.detector for row in self.rows]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(
                argument="rows", problem=f"has the detector {twice!r} twice", remedy="pass one row for each detector"
            )
        if self.pairs is not None and sorted(self.pairs.detectors) != sorted(names):
            raise InputError(
                argument="pairs", problem="must have the detectors of rows", remedy="compare all of them, or pass None"
            )
        rows = self.rows if self.pairs is not None else [replace(row, best=False) for row in self.rows]
        ranked = sorted(rows, key=self._place)
        object.__setattr__(self, "rows", tuple(ranked))
        if self.pairs is not None:
            object.__setattr__(self, "pairs", self.pairs.ordered(self.detectors))

    def _place(self, row: Pooled) -> tuple[bool, float, float]:
        """What rows are sorted by: comparable ones first, then better ones, and those without a value last."""
        own = row.measure(self.rank_by)
        sign = 1.0 if self.rank_by in self.lower else -1.0
        common = None if self.standing is None else self.standing.values.get(row.detector)
        values = (own.value if common is None else common, own.value)
        first, second = (math.inf if math.isnan(value) else sign * value for value in values)
        return self.standing is not None and common is None, first, second

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics that the study was asked for."""
        return tuple(metric.name for row in self.rows[:1] for metric in row.metrics)

    @property
    def lower(self) -> frozenset[str]:
        """Metrics of which lower values are better."""
        return frozenset(metric.name for row in self.rows[:1] for metric in row.metrics if metric.better == "lower")

    @property
    def drawn(self) -> str:
        """What a plot shows: the measure that ranks, or F1 where its values are no shares."""
        own = [row.measure(self.rank_by) for row in self.rows]
        ends = [end for one in own for end in (one.value, one.low, one.high, one.expected) if not math.isnan(end)]
        return self.rank_by if all(0 <= end <= 1 for end in ends) else "f1"

    @property
    def ranked_by(self) -> str:
        """What detectors are ranked by, as tables call it."""
        return name_of(self.rank_by)

    @property
    def detectors(self) -> tuple[str, ...]:
        """Names, best first."""
        return tuple(row.detector for row in self.rows)

    @property
    def title(self) -> str:
        """What the study is, and its size."""
        return f"{self.about.title}: {self._size}" if self.about.title else self._size

    @property
    def _size(self) -> str:
        groups = f" in {plural(self.about.n_groups, self.about.noun)}" if self.about.grouped else ""
        return f"{plural(len(self.rows), 'detector')} on {plural(self.about.n_series, 'series', 'series')}{groups}"

    def missing_in_words(self) -> tuple[str, ...]:
        """How many cells are missing and why, a line each; nothing where none is."""
        return missing_in_words(self.about.missing, self.about.n_series * len(self.rows))

    def verdict_in_words(self) -> str:
        """How many detectors are better than chance, and which are not significantly worse than the best."""
        told = _counted(row.verdict for row in self.rows)
        best = [row.label for row in self.rows if row.best]
        group = f" Not significantly worse than the best: {_few(best)}." if best else ""
        metrics = "".join(f" By {name}: {self._told_by(name)}." for name in self.metrics)
        hits = " by precision and recall" if metrics else ""
        return f"Verdicts{hits}, corrected for {plural(len(self.rows), 'detector')}: {told}.{metrics}{group}"

    def _told_by(self, metric: str) -> str:
        """How many detectors have each verdict by a metric."""
        return _counted(one.verdict for row in self.rows for one in row.metrics if one.name == metric)

    def facts(self) -> tuple[tuple[str, str], ...]:
        """How the table came about: names and values."""
        about = self.about
        every = (*MEASURES, *self.metrics)
        methods = {name_of(m): sorted({row.measure(m).method for row in self.rows} - {""}) for m in every}
        tests = plural(len(self.rows), "detector")
        metrics = f"; of metrics, for {tests} and {plural(len(self.metrics), 'metric')}" if self.metrics else ""
        return (
            ("Null", about.null),
            ("Tolerance", about.tolerance),
            ("Alarms", about.threshold),
            ("Measures", "F1, precision P and recall R of sums over series"),
            *((("Metrics", OF_MEANS),) if self.metrics else ()),
            *((("Ranked by", self.ranked_by),) if self.rank_by != "f1" else ()),
            ("Intervals", f"{about.level:.3g} level, units: {about.units}"),
            ("Chance", "; ".join(f"{name} {', '.join(how)}" for name, how in methods.items() if how) or "not computed"),
            ("p", f"chance does at least as well, corrected for {tests} (Holm){metrics}"),
        )

    def table(self, measures: tuple[str, ...] | None = None) -> Table:
        """One line for each detector; renders as text, Markdown, LaTeX or HTML."""
        measures = check_measures(measures, (*MEASURES, *self.metrics))
        series = any(row.n_failed for row in self.rows)
        interval = f"{100 * self.about.level:.3g}%"
        columns = headings(measures, interval, series=series)
        star = (
            f"* {self.ranked_by} not significantly worse than the best, at the {self.about.alpha:.3g} level with all pairs "
            "compared (Holm).",
        ) * any(row.best for row in self.rows)
        apart = (f"{OF}.",) * any(row.measure(m).told_apart for row in self.rows for m in measures)
        return Table(
            title=self.title,
            columns=columns,
            rows=tuple(row.line(measures, series=series) for row in self.rows),
            breaks=breaks_of(measures, series=series),
            heads=headings(measures, interval, series=series, short=True),
            notes=(
                *star,
                *apart,
                *self.standing_in_words(),
                *self.undefined_in_words(),
                " ".join(f"{name}: {value}." for name, value in self.facts()),
                *self._missing_note(),
                *noted(self.about.notes),
                *self._untold(),
                *self._of_rows(),
            ),
        )

    def standing_in_words(self) -> tuple[str, ...]:
        """On which series detectors are ranked, where not all have all; nothing where they do."""
        if self.standing is None:
            return ()
        if self.standing.n_common == 0:
            return (
                "No series has a result of all detectors: each is ranked by its own series, and they are not alike.",
            )
        n, last = len(self.standing.values), [row for row in self.rows if row.detector not in self.standing.values]
        ranked = (
            f"Ranked by {self.ranked_by} on the {self.standing.n_common:,} of "
            f"{plural(self.about.n_series, 'series', 'series')} that {'both' if n == 2 else f'all {n:,}'} detectors have"
        )
        named = _few([f"{row.label} ({row.n_series:,})" for row in last])
        rest = f". Last, since fewer than half of the series have a result: {named}" if last else ""
        return (f"{ranked}; values are of all series that each has{rest}.",)

    def undefined_in_words(self) -> Iterator[str]:
        """Metrics that have no value, or no chance, on some series."""
        for name in self.metrics:
            own = [(row.label, one) for row in self.rows for one in row.metrics if one.name == name]
            gone = [f"{label} {one.n_undefined:,}" for label, one in own if one.n_undefined]
            if gone:
                yield f"{name} is undefined on some series, which its mean leaves out: {_few(gone)}."
            some = [
                f"{label} {one.n_told:,} of {one.n_series:,}" for label, one in own if 0 < one.n_told < one.n_series
            ]
            if some:
                yield f"Chance and p of {name} are those of fewer series than its mean: {_few(some)}."

    def _untold(self) -> Iterator[str]:
        """Why nothing can be told of some detectors, each reason once; notes on them may have said it."""
        why: dict[str, list[str]] = {}
        for row in self.rows:
            if row.verdict == "cannot tell" and row.reason and row.reason not in row.notes:
                why.setdefault(row.reason, []).append(row.label)
        for reason, labels in why.items():
            yield say("Note on {}: {}. {}", self._whose(labels), VERDICTS["cannot tell"].words, reason)

    def _of_rows(self) -> Iterator[str]:
        """The notes on detectors, each once, with all that it is about."""
        about: dict[str, list[str]] = {}
        for row in self.rows:
            for note in row.notes:
                about.setdefault(note, []).append(row.label)
        for note, labels in about.items():
            yield say("Note on {}: {}", self._whose(labels), note)

    def _whose(self, labels: list[str]) -> str:
        """Some of the detectors in a sentence, or all of them."""
        if len(labels) < max(len(self.rows), 2):
            return _few(labels)
        return "both detectors" if len(labels) == 2 else f"all {len(labels):,} detectors"

    def _missing_note(self) -> tuple[str, ...]:
        return (joined(" ", self.missing_in_words()),) if self.about.missing else ()

    def _latex_tables(self, measures: tuple[str, ...] | None = None) -> dict[str, Table]:
        """One for each measure: all of them in one would be wider than a page."""
        found = check_measures(measures, (*MEASURES, *self.metrics))
        return {name_of(measure): self.table((measure,)) for measure in found}

    def columns(self) -> dict[str, list[Any]]:
        """A row for each detector, by column name."""
        return stacked(row.columns() for row in self.rows)

    def _record(self) -> dict[str, Any]:
        about = self.about
        return {
            "schema": SCHEMA,
            **{name: getattr(about, name) for name in ("title", "null", "tolerance", "threshold", "alpha", "level")},
            **{"n_series": about.n_series, "n_groups": about.n_groups},
            "missing": [{"reason": reason, "cells": count} for reason, count in about.missing],
            "rank_by": self.rank_by,
            "ranked_on": about.n_series if self.standing is None else self.standing.n_common,
            "detectors": [row._record() for row in self.rows],
            "pairs": None if self.pairs is None else self.pairs.to_list(),
            "notes": list(about.notes),
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw pooled F1 with intervals, with chance (matplotlib); returns the Axes."""
        from nofluke.plot import leaderboard as plot_leaderboard

        return plot_leaderboard(self, ax)

    def __str__(self) -> str:
        missing, table = self.missing_in_words(), self.table()
        rest = replace(table, notes=tuple(note for note in table.notes if note not in self._missing_note()))
        return "\n".join([*missing, *([""] if missing else []), rest.text()])


def _counted(verdicts: Iterable[Verdict]) -> str:
    """How often each verdict was given, the good ones first."""
    counts: Counter[str] = Counter(verdicts)
    return ", ".join(f"{sign.words} {counts[verdict]}" for verdict, sign in VERDICTS.items() if verdict in counts)


def _few(told: list[str]) -> str:
    """The first of many, in a sentence."""
    more = f" and {len(told) - MOST_NAMED:,} more" if len(told) > MOST_NAMED else ""
    return f"{', '.join(told[:MOST_NAMED])}{more}"
