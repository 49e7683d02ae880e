"""What is said about one detector over all series of a study: a line of the leaderboard."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from nofluke.inference.chance import significant
from nofluke.inference.verdict import Verdict
from nofluke.metrics.base import Better
from nofluke.plain import check_word, finite_or_none, one_or_several
from nofluke.ratios import corrected, divide
from nofluke.text.exports import Exports
from nofluke.text.numbers import p_is, show_p
from nofluke.text.signs import VERDICTS
from nofluke.text.tables import SCHEMA, Table, noted, show_number, show_share

MEASURES = ("f1", "precision", "recall")
NAMES = {"f1": "F1", "precision": "precision", "recall": "recall"}
SHORT = {"f1": "F1", "precision": "P", "recall": "R"}  # long headings would make wide columns of short numbers
OF_METRIC = ("chance", "corrected", "p", "verdict")  # what stands beside the value of a metric


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

    def shown(self, value: float) -> str:
        """A value as tables have it."""
        return show_share(value)

    def in_words(self) -> str:
        """The value with its interval, if it has one.

        >>> PooledMeasure(value=0.5664, low=0.51, high=0.6123).in_words(), PooledMeasure(value=0.5).in_words()
        ('0.566 [0.510, 0.612]', '0.500')
        """
        if math.isnan(self.low) or math.isnan(self.high):
            return self.shown(self.value)
        return f"{self.shown(self.value)} [{self.shown(self.low)}, {self.shown(self.high)}]"

    @property
    def told_apart(self) -> bool:
        """Whether chance is about fewer series than the value, and the value on these reads differently."""
        return not math.isnan(self.told) and self.shown(self.told) != self.shown(self.value)

    def chance_in_words(self) -> str:
        """What chance scores, with the value on the same series if that differs; a dash if it was not computed.

        >>> some = PooledMeasure(value=0.9, told=0.787, expected=0.388)
        >>> some.chance_in_words(), PooledMeasure(value=0.9).chance_in_words()
        ('0.388 (of 0.787)', '–')
        """
        if math.isnan(self.expected):
            return "–"
        return self.shown(self.expected) + (f" (of {self.shown(self.told)})" if self.told_apart else "")

    def cells(self) -> tuple[str, ...]:
        """Its cells in a line, under `headings`."""
        return self.in_words(), self.chance_in_words(), p_or_dash(self.corrected)

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
class PooledMetric(PooledMeasure):
    """A metric of one detector over all series: the mean of those on which it has a value, beside chance.

    Attributes
    ----------
    name : str
        As it was asked for.
    better : {"higher", "lower"}
    perfect : float or None
    n_series, n_undefined, n_told : int
        Series with a finite value, series with a result and without one, and those of the first that chance is about.
    verdict : {"yes", "no", "cannot tell"}
        Of the p-value that is corrected for all detectors and metrics of the study (Holm).
    reason : str
    value, low, high, expected, std, pvalue, corrected, method, told
        As in `PooledMeasure`, of the mean over series.
    """

    name: str
    better: Better = "higher"
    perfect: float | None = 1.0
    n_series: int = 0
    n_undefined: int = 0
    n_told: int = 0
    verdict: Verdict = "cannot tell"
    reason: str = ""

    @property
    def above_chance(self) -> float:
        """(told - expected) / (perfect - expected): 1 is perfect, 0 is chance; NaN where unknown."""
        return math.nan if self.perfect is None else corrected(self.told, self.expected, self.perfect)

    def shown(self, value: float) -> str:
        """A value as tables have it: never rounded to 0 or 1 where these are its ends."""
        return show_share(value) if self.perfect == 1.0 and not abs(value) > 1 else show_number(value)

    def cells(self) -> tuple[str, ...]:
        """Its cells in a line, under `headings`."""
        value, chance, p = PooledMeasure.cells(self)
        return value, chance, share_or_dash(self.above_chance), p, str(VERDICTS[self.verdict])

    def to_dict(self) -> dict[str, Any]:
        """Plain values; None for what is undefined."""
        return {
            "metric": self.name,
            "n_series": self.n_series,
            "n_undefined": self.n_undefined,
            "n_told": self.n_told,
            **PooledMeasure.to_dict(self),
            "chance_corrected": finite_or_none(self.above_chance),
            "better": self.better,
            "perfect": self.perfect,
            "verdict": self.verdict,
            "reason": self.reason,
        }

    @classmethod
    def of_dict(cls, told: Mapping[str, Any]) -> PooledMetric:
        """From what `to_dict` gives."""
        given: dict[str, Any] = {
            "name" if name == "metric" else name: math.nan if value is None and name != "perfect" else value
            for name, value in told.items()
            if name != "chance_corrected"
        }
        return cls(**given)


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
    metrics : tuple of PooledMetric
        Those that the study was asked for.
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
    metrics: tuple[PooledMetric, ...] = ()

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

    def reconciled(self, alpha: float) -> str:
        """What a small p over all series says beside skill in none of them; empty where these do not meet."""
        p = min((p for p in (self.precision.corrected, self.recall.corrected) if not math.isnan(p)), default=1.0)
        if self.skill_in or self.n_groups < 2 or not significant(p, alpha):
            return ""
        return (
            f"All series together have more hits than chance gives ({p_is(p)}). That skill is in {self.skill_in_words()} means "
            "that it can be shown of none by itself, corrected for looking at all, not that there is none."
        )

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of all measures, and of metrics behind them."""
        return (*MEASURES, *(metric.name for metric in self.metrics))

    def measure(self, name: str) -> PooledMeasure:
        """The measure or metric of a name in `measures`."""
        own = {metric.name: metric for metric in self.metrics}
        found: PooledMeasure = own[name] if name in own else getattr(self, name)
        return found

    def table(self, measures: tuple[str, ...] | None = None) -> Table:
        """The line of the leaderboard as a table of its own."""
        measures = check_measures(measures, self.measures)
        columns = headings(measures, "interval", series=self.n_failed > 0)
        reasons = (self.reason, *(metric.reason for metric in self.metrics if metric.name in measures))
        return Table(
            title=f"{self.label} on {self.n_series:,} series",
            columns=columns,
            rows=(self.line(measures, series=self.n_failed > 0),),
            notes=(*filter(None, reasons), *noted(self.notes)),
            breaks=breaks_of(measures, series=self.n_failed > 0),
            heads=headings(measures, "interval", series=self.n_failed > 0, short=True),
        )

    def _latex_tables(self, measures: tuple[str, ...] | None = None) -> dict[str, Table]:
        """One for each measure, as of the leaderboard."""
        found = check_measures(measures, self.measures)
        return {name_of(measure): self.table((measure,)) for measure in found}

    def line(self, measures: tuple[str, ...] = MEASURES, *, series: bool = False) -> tuple[str, ...]:
        """The cells of a line, under `headings`."""
        hits, metrics = parted(measures)
        told = [str(VERDICTS[self.verdict]), share_or_dash(self.share_yes), self.skill_in_words()]
        tried = [f"{self.n_series:,} of {self.n_series + self.n_failed:,}"] if series else []
        cells = {name: self.measure(name).cells() for name in measures}
        return (
            self.name,
            *(text for name in hits[:1] for text in (*cells[name], *told)),
            *tried,
            *(text for name in (*hits[1:], *metrics) for text in cells[name]),
        )

    def columns(self) -> dict[str, list[Any]]:
        """One row, by column name; measures have columns of their own, such as f1, f1_low and f1_pvalue."""
        record = self._record()
        metrics = {told.pop("metric"): told for told in record.pop("metrics")}
        return {name: [value] for name, value in _flat(record | metrics)}

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
            "metrics": [metric.to_dict() for metric in self.metrics],
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
            metrics=tuple(map(PooledMetric.of_dict, told["metrics"])),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class InGroup:
    """One detector on the series of one group.

    Attributes
    ----------
    detector, group : str
    n_series, n_told : int
        Series with a result, and those of them whose null holds: chance and p are theirs.
    precision, recall, f1 : PooledMeasure
        Without intervals: a group is a single unit.
    verdict : {"yes", "partly", "no", "cannot tell"}
        Of p-values that are corrected for all detectors in all groups.
    reason : str
    notes : tuple of str
    """

    detector: str
    group: str
    n_series: int
    n_told: int
    precision: PooledMeasure
    recall: PooledMeasure
    f1: PooledMeasure
    verdict: Verdict
    reason: str
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values; None for what is undefined."""
        return {
            **{name: getattr(self, name) for name in ("detector", "group", "n_series", "n_told")},
            **{name: getattr(self, name).to_dict() for name in MEASURES},
            **{name: getattr(self, name) for name in ("verdict", "reason")},
            "notes": list(self.notes),
        }

    @classmethod
    def of_dict(cls, told: Mapping[str, Any]) -> InGroup:
        """From what `to_dict` gives."""
        measures: dict[str, Any] = {name: PooledMeasure.of_dict(told[name]) for name in MEASURES}
        rest = {name: told[name] for name in ("detector", "group", "n_series", "n_told", "verdict", "reason")}
        return cls(**rest, **measures, notes=tuple(told["notes"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledByGroup(Exports):
    """Which detectors are better than chance in which groups: what ``Study.pooled(by="group")`` returns.

    Attributes
    ----------
    title : str
    rows : tuple of InGroup
        One for each detector and each group that it has a result in.
    alpha : float
        The level of verdicts, of p-values that are corrected for all rows (Holm).

    See Also
    --------
    nofluke.Study : makes it.
    """

    title: str
    rows: tuple[InGroup, ...]
    alpha: float

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[InGroup]:
        return iter(self.rows)

    def __getitem__(self, at: int) -> InGroup:
        return self.rows[at]

    @property
    def detectors(self) -> tuple[str, ...]:
        """In the order of the study."""
        return tuple(dict.fromkeys(row.detector for row in self.rows))

    @property
    def groups(self) -> tuple[str, ...]:
        """In the order of the study."""
        return tuple(dict.fromkeys(row.group for row in self.rows))

    def better_in(self, detector: str) -> tuple[str, ...]:
        """The groups in which a detector is better than chance by both measures."""
        check_word(detector, "detector", self.detectors)
        return tuple(row.group for row in self.rows if (row.detector, row.verdict) == (detector, "yes"))

    def table(self) -> Table:
        """A line for each detector and group."""
        columns = ("detector", "group", "series", "verdict")
        heads = tuple(text for m in MEASURES for text in (SHORT[m], f"{SHORT[m]} chance", f"{SHORT[m]} p"))
        lines = []
        for row in self.rows:
            told = (text for m in MEASURES for text in getattr(row, m).cells())
            lines.append((row.detector, row.group, f"{row.n_series:,}", str(VERDICTS[row.verdict]), *told))
        n_yes = sum(row.verdict == "yes" for row in self.rows)
        many = f"{len(self.detectors):,} detectors in {len(self.groups):,} groups"
        return Table(
            title=f"{self.title or 'Study'}: by group",
            columns=(*columns, *heads),
            left=2,
            breaks=tuple(range(len(columns), len(columns) + len(heads), 3)),
            rows=tuple(tuple(" ".join(text.split()) for text in line) for line in lines),
            notes=(
                f"{n_yes:,} of {len(self.rows):,} are better than chance. P-values are corrected for all of them, {many} "
                f"(Holm), at the {self.alpha:.3g} level.",
            ),
        )

    def columns(self) -> dict[str, list[Any]]:
        """A row for each detector and group; measures have columns such as f1, f1_expected and f1_pvalue."""
        found: dict[str, list[Any]] = {}
        for row in self.rows:
            for name, value in _flat(row.to_dict()):
                found.setdefault(name, []).append(value)
        return found

    def _record(self) -> dict[str, Any]:
        told = {"schema": SCHEMA, "title": self.title, "alpha": self.alpha}
        return {**told, "rows": [row.to_dict() for row in self.rows]}


def _flat(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Columns of a record and their values: a measure has one of its name, and others such as f1_low."""
    for name, told in record.items():
        for key, value in told.items() if isinstance(told, dict) else [("value", told)]:
            yield (name if key == "value" else f"{name}_{key}"), value


def check_measures(measures: Any, known: Sequence[str] = MEASURES) -> tuple[str, ...]:
    """Measures of a table by name, one or several; all of them for None."""
    names: dict[str, None] = {}
    for name in known if measures is None else one_or_several(measures):
        check_word(name, "measures", known)
        names[name] = None
    return tuple(names)


def name_of(measure: str) -> str:
    """What a measure or metric is called."""
    return NAMES.get(measure, measure)


def parted(measures: Sequence[str]) -> tuple[list[str], list[str]]:
    """Measures of hits, and metrics."""
    return [one for one in measures if one in MEASURES], [one for one in measures if one not in MEASURES]


def headings(measures: Sequence[str], interval: str, *, series: bool = False, short: bool = False) -> tuple[str, ...]:
    """What stands above the lines of a leaderboard; ``series`` if detectors lack some.

    With ``short``, only the first column of a metric has its name, for tables that break before each.
    """
    hits, metrics = parted(measures)
    heads = {m: (f"{SHORT[m]} [{interval}]", f"{SHORT[m]} chance", f"{SHORT[m]} p") for m in hits}
    told = ("verdict", f"series {VERDICTS['yes'].symbol}", "skill in")
    rest = {m: OF_METRIC if short else tuple(f"{m} {text}" for text in OF_METRIC) for m in metrics}
    of_metrics = [text for m in metrics for text in (f"{m} [{interval}]", *rest[m])]
    return (
        "detector",
        *(text for m in hits[:1] for text in (*heads[m], *told)),
        *(["series"] if series else []),
        *(text for m in hits[1:] for text in heads[m]),
        *of_metrics,
    )


def breaks_of(measures: Sequence[str], *, series: bool = False) -> tuple[int, ...]:
    """Where a table that is too wide continues below: behind the first verdict, and before each measure."""
    hits, metrics = parted(measures)
    sizes = [4, 2 + series, *(3 for _ in hits[1:])] if hits else [int(series)]
    sizes += [1 + len(OF_METRIC)] * len(metrics)
    ends = list(accumulate(sizes, initial=1))
    return tuple(at for at in ends[1:-1] if at > 1)


def share_or_dash(value: float) -> str:
    """A share, or a dash where it was not worked out."""
    return "–" if math.isnan(value) else show_share(value)


def p_or_dash(value: float) -> str:
    """A p-value, or a dash where it was not worked out."""
    return "–" if math.isnan(value) else show_p(value)
