"""The leaderboard of a study: detectors best first, with intervals, chance, corrected p-values and verdicts."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from nofluke.arrays import ByValue
from nofluke.errors import InputError, joined, say
from nofluke.inference.verdict import Verdict
from nofluke.studies.missing import missing_in_words
from nofluke.studies.pairs import Pairs
from nofluke.studies.pooled_row import MEASURES, NAMES, Pooled, check_measures, headings
from nofluke.text.exports import Exports
from nofluke.text.tables import SCHEMA, Table, noted, plural, stacked

VERDICTS: tuple[Verdict, ...] = ("yes", "partly", "no", "cannot tell")
OF = "(of x): chance covers only the series on which a null holds, where the value is x"
MOST_NAMED = 8  # detectors in a sentence


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
        Why cells have no result and how many, from `nofluke.studies.missing.count_reasons`.
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


@dataclass(frozen=True, kw_only=True, eq=False)
class Leaderboard(Exports, ByValue):
    """The detectors of a study, best first by pooled F1; those without one come last.

    Attributes
    ----------
    rows : tuple of Pooled
    pairs : Pairs or None
        All pairs of detectors, in the same order; None where they were not compared: then no row is not told from the
        best.
    about : About

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
    detector              F1 [95%]  F1 chance     F1 p               P [95%]  P chance  ...  verdict  series yes  skill
    in
    a         0.500 [0.400, 0.600]      0.200  2.0e-04  0.500 [0.400, 0.600]     0.200  ...      yes       0.400  ≥ 2 of
    5
    """

    rows: tuple[Pooled, ...]
    pairs: Pairs | None = field(repr=False)
    about: About = field(repr=False)

    def __post_init__(self) -> None:
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
        ranked = sorted(rows, key=lambda row: math.inf if math.isnan(row.f1.value) else -row.f1.value)
        object.__setattr__(self, "rows", tuple(ranked))
        if self.pairs is not None:
            object.__setattr__(self, "pairs", self.pairs.ordered(self.detectors))

    @property
    def detectors(self) -> tuple[str, ...]:
        """Names, best first."""
        return tuple(row.detector for row in self.rows)

    @property
    def title(self) -> str:
        """What the study is, and its size."""
        groups = f" in {plural(self.about.n_groups, self.about.noun)}" if self.about.grouped else ""
        size = f"{plural(len(self.rows), 'detector')} on {plural(self.about.n_series, 'series', 'series')}{groups}"
        return f"{self.about.title}: {size}" if self.about.title else size

    def missing_in_words(self) -> tuple[str, ...]:
        """How many cells are missing and why, a line each; nothing where none is."""
        return missing_in_words(self.about.missing, self.about.n_series * len(self.rows))

    def verdict_in_words(self) -> str:
        """How many detectors are better than chance, and which are not significantly worse than the best."""
        counts = Counter(row.verdict for row in self.rows)
        told = ", ".join(f"{verdict} {counts[verdict]}" for verdict in VERDICTS if counts[verdict])
        best = [row.label for row in self.rows if row.best]
        more = f" and {len(best) - MOST_NAMED:,} more" if len(best) > MOST_NAMED else ""
        group = f" Not significantly worse than the best: {', '.join(best[:MOST_NAMED])}{more}." if best else ""
        return f"Better than chance, corrected for {plural(len(self.rows), 'detector')}: {told}.{group}"

    def facts(self) -> tuple[tuple[str, str], ...]:
        """How the table came about: names and values."""
        about = self.about
        methods = {NAMES[m]: sorted({row.measure(m).method for row in self.rows} - {""}) for m in MEASURES}
        return (
            ("Null", about.null),
            ("Tolerance", about.tolerance),
            ("Alarms", about.threshold),
            ("Measures", "F1, precision P and recall R of sums over series"),
            ("Intervals", f"{about.level:.3g} level, units: {about.units}"),
            ("Chance", "; ".join(f"{name} {', '.join(how)}" for name, how in methods.items() if how) or "not computed"),
            ("p", f"chance does at least as well, corrected for {plural(len(self.rows), 'detector')} (Holm)"),
        )

    def table(self, measures: tuple[str, ...] = MEASURES) -> Table:
        """One line for each detector; renders as text, Markdown, LaTeX or HTML."""
        measures = check_measures(measures)
        star = (
            f"* F1 not significantly worse than the best, at the {self.about.alpha:.3g} level with all pairs compared "
            "(Holm).",
        ) * any(row.best for row in self.rows)
        apart = (f"{OF}.",) * any(row.measure(m).told_apart for row in self.rows for m in measures)
        return Table(
            title=self.title,
            columns=headings(measures, f"{100 * self.about.level:.3g}%"),
            rows=tuple(row.line(measures) for row in self.rows),
            notes=(
                *star,
                *apart,
                " ".join(f"{name}: {value}." for name, value in self.facts()),
                *self._missing_note(),
                *noted(self.about.notes),
                *(say("Note on {}: {}", row.label, note) for row in self.rows for note in row.notes),
            ),
        )

    def _missing_note(self) -> tuple[str, ...]:
        return (joined(" ", self.missing_in_words()),) if self.about.missing else ()

    def _latex_tables(self, measures: tuple[str, ...] = MEASURES) -> dict[str, Table]:
        """One for each measure: all of them in one would be wider than a page."""
        return {NAMES[measure]: self.table((measure,)) for measure in check_measures(measures)}

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
