"""What is said about one detector over all series of a study: a line of the leaderboard."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nofluke.inference.verdict import Verdict
from nofluke.plain import check_word, finite_or_none, one_or_several
from nofluke.ratios import divide
from nofluke.text.exports import Exports
from nofluke.text.numbers import show_p
from nofluke.text.tables import Table, noted, show_share

MEASURES = ("f1", "precision", "recall")
NAMES = {"f1": "F1", "precision": "precision", "recall": "recall"}
SHORT = {"f1": "F1", "precision": "P", "recall": "R"}  # long headings would make wide columns of short numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledMeasure:
    """Precision, recall or F1 of sums over series, beside chance. What is undefined, or was not worked out, is NaN.

    Attributes
    ----------
    value, low, high : float
        The ratio of sums, and the ends of its interval.
    expected, std : float
        Mean and standard deviation of the same ratio under the null.
    pvalue, corrected : float
        P(chance does at least as well), and Holm's over all detectors of the study.
    method : str
        How chance was computed, such as "exact (sum)" or "simulated (9,999)".
    told : float
        The value on the series that chance is about, those whose null holds.
    """

    value: float
    low: float = math.nan
    high: float = math.nan
    expected: float = math.nan
    std: float = math.nan
    pvalue: float = math.nan
    corrected: float = math.nan
    method: str = ""
    told: float = math.nan

    @property
    def above_chance(self) -> float:
        """(told - expected) / (1 - expected): 1 is perfect, 0 is chance; NaN where chance is perfect."""
        return divide(self.told - self.expected, 1 - self.expected)

    def in_words(self) -> str:
        """The value with its interval, if it has one.

        >>> PooledMeasure(value=0.5664, low=0.51, high=0.6123).in_words(), PooledMeasure(value=0.5).in_words()
        ('0.566 [0.510, 0.612]', '0.500')
        """
        if math.isnan(self.low) or math.isnan(self.high):
            return show_share(self.value)
        return f"{show_share(self.value)} [{show_share(self.low)}, {show_share(self.high)}]"

    @property
    def told_apart(self) -> bool:
        """Whether chance is about fewer series than the value, and the value on these reads differently."""
        return not math.isnan(self.told) and show_share(self.told) != show_share(self.value)

    def chance_in_words(self) -> str:
        """What chance scores, with the value on the same series if that differs; a dash if it was not computed.

        >>> some = PooledMeasure(value=0.9, told=0.787, expected=0.388)
        >>> some.chance_in_words(), PooledMeasure(value=0.9).chance_in_words()
        ('0.388 (of 0.787)', '–')
        """
        if math.isnan(self.expected):
            return "–"
        return show_share(self.expected) + (f" (of {show_share(self.told)})" if self.told_apart else "")

    def to_dict(self) -> dict[str, Any]:
        """Plain values; None for what is undefined."""
        numbers = ("value", "low", "high", "told", "expected", "std", "pvalue", "corrected")
        return {name: finite_or_none(getattr(self, name)) for name in numbers} | {"method": self.method}

    @classmethod
    def of_dict(cls, told: Mapping[str, Any]) -> PooledMeasure:
        """From what `to_dict` gives."""
        values: dict[str, Any] = {name: math.nan if value is None else value for name, value in told.items()}
        return cls(**values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooled(Exports):
    """One detector over all series of a study.

    Attributes
    ----------
    detector : str
    n_series, n_failed, n_told : int
        Series with a result, series without one, and those of the first whose null holds: chance and p are theirs.
    precision, recall, f1 : PooledMeasure
    verdict : {"yes", "partly", "no", "cannot tell"}
        Of the corrected p-values.
    reason : str
    share_yes : float
        Share of the series with a result whose own verdict is yes.
    skill_in, n_groups : int
        Skill in at least so many of so many groups (partial conjunction).
    best : bool
        Whether it is not significantly worse than the best.
    notes : tuple of str
    """

    detector: str
    n_series: int
    n_failed: int
    n_told: int
    precision: PooledMeasure
    recall: PooledMeasure
    f1: PooledMeasure
    verdict: Verdict
    reason: str
    share_yes: float
    skill_in: int
    n_groups: int
    best: bool
    notes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The detector's name in one line."""
        return " ".join(self.detector.split())

    @property
    def name(self) -> str:
        """The same, with a star where it is not significantly worse than the best."""
        return self.label + (" *" if self.best else "")

    def skill_in_words(self) -> str:
        """In how many groups there is skill: at least so many."""
        return f"{'≥ ' if self.skill_in else ''}{self.skill_in:,} of {self.n_groups:,}"

    def measure(self, name: str) -> PooledMeasure:
        """The measure of a name in `MEASURES`."""
        found: PooledMeasure = getattr(self, name)
        return found

    def table(self, measures: tuple[str, ...] = MEASURES) -> Table:
        """The line of the leaderboard as a table of its own."""
        measures = check_measures(measures)
        return Table(
            title=f"{self.label} on {self.n_series:,} series",
            columns=headings(measures, "interval"),
            rows=(self.line(measures),),
            notes=(*([self.reason] if self.reason else []), *noted(self.notes)),
        )

    def _latex_tables(self, measures: tuple[str, ...] = MEASURES) -> dict[str, Table]:
        """One for each measure, as of the leaderboard."""
        return {NAMES[measure]: self.table((measure,)) for measure in check_measures(measures)}

    def line(self, measures: tuple[str, ...] = MEASURES) -> tuple[str, ...]:
        """The cells of a line, under `headings`."""
        found = [self.measure(name) for name in measures]
        cells = [text for m in found for text in (m.in_words(), m.chance_in_words(), p_or_dash(m.corrected))]
        return (self.name, *cells, self.verdict, share_or_dash(self.share_yes), self.skill_in_words())

    def columns(self) -> dict[str, list[Any]]:
        """One row, by column name; measures have columns of their own, such as f1, f1_low and f1_pvalue."""
        found: dict[str, list[Any]] = {}
        for name, told in self._record().items():
            inner = told.items() if name in MEASURES else [("value", told)]
            found |= {name if key == "value" else f"{name}_{key}": [value] for key, value in inner}
        return found

    def _record(self) -> dict[str, Any]:
        return {
            "detector": self.detector,
            "not_told_from_best": self.best,
            **{name: getattr(self, name) for name in ("n_series", "n_failed", "n_told")},
            **{name: self.measure(name).to_dict() for name in MEASURES},
            "verdict": self.verdict,
            "reason": self.reason,
            "share_yes": finite_or_none(self.share_yes),
            "skill_in": self.skill_in,
            "n_groups": self.n_groups,
            "notes": list(self.notes),
        }

    @classmethod
    def of_dict(cls, told: Mapping[str, Any]) -> Pooled:
        """From what `to_dict` gives."""
        measures: dict[str, Any] = {name: PooledMeasure.of_dict(told[name]) for name in MEASURES}
        names = ("detector", "n_series", "n_failed", "n_told", "verdict", "reason", "skill_in", "n_groups")
        return cls(
            **{name: told[name] for name in names},
            **measures,
            share_yes=math.nan if told["share_yes"] is None else told["share_yes"],
            best=told["not_told_from_best"],
            notes=tuple(told["notes"]),
        )


def check_measures(measures: Any) -> tuple[str, ...]:
    """Measures of a table by name, one or several."""
    names: dict[str, None] = {}
    for name in one_or_several(measures):
        check_word(name, "measures", MEASURES)
        names[name] = None
    return tuple(names)


def headings(measures: tuple[str, ...], interval: str) -> tuple[str, ...]:
    """What stands above the lines of a leaderboard."""
    heads = [text for m in measures for text in (f"{SHORT[m]} [{interval}]", f"{SHORT[m]} chance", f"{SHORT[m]} p")]
    return ("detector", *heads, "verdict", "series yes", "skill in")


def share_or_dash(value: float) -> str:
    """A share, or a dash where it was not worked out."""
    return "–" if math.isnan(value) else show_share(value)


def p_or_dash(value: float) -> str:
    """A p-value, or a dash where it was not worked out."""
    return "–" if math.isnan(value) else show_p(value)
