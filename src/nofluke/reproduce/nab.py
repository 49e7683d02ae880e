"""NAB: its published detectors compared with chance, pooled over series."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nofluke import __version__
from nofluke.data.paths import expanded
from nofluke.data.tables import open_table
from nofluke.errors import InputError
from nofluke.inference.chance import significant
from nofluke.lazy import lazy
from nofluke.plain import as_whole
from nofluke.plot.style import PALETTE, tidy
from nofluke.reproduce.claim import OPEN, Claim, Claims, Found, Reproduced, tally
from nofluke.reproduce.page import Article, Drawn, Records, Topic, drawn_on, figure, key_above, listed, table
from nofluke.studies.cases import Fault
from nofluke.studies.pooled_row import MEASURES, NAMES, Pooled, p_or_dash, share_or_dash
from nofluke.studies.result import Study
from nofluke.studies.sources import read_source
from nofluke.studies.study import study
from nofluke.text.numbers import show_p
from nofluke.text.signs import VERDICTS
from nofluke.text.tables import Table, plural, show_share

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# ---- every number, computed once

WHOLE = 58  # series of numenta/NAB
BUDGET, TOLERANCE, QUANTILE, MANY = "1%", "1%", 0.99, 0.05
NOT_SCORES = ("series", "timestamp", "value", "event", "window", "label")
NULLS = {"permutation": "the paper's null", "auto": "the null that fits the data"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ties:
    """What ties do to one detector at the .99 quantile: the cells with alarms on more than 5% of steps, or on all.

    ``constant`` counts the cells in which all scores are equal, so that no budget below 100% has an alarm.
    """

    detector: str
    cells: int
    many: int
    everywhere: int
    constant: int


@dataclass(frozen=True, kw_only=True, eq=False)
class NabStudy:
    """Everything the tables and statements are made from.

    Attributes
    ----------
    source : str
        What the scores were read from, a name without its folders.
    clock : bool
        Whether series come with times.
    points : mapping of str to Study
        Point labels as events, by null.
    windows : Study or None
        Windows as events, without a tolerance; None where the source has none.
    ties : tuple of Ties
        One a detector.
    seed, n_resamples : int
    """

    source: str
    clock: bool
    points: Mapping[str, Study] = field(repr=False)
    windows: Study | None = field(repr=False)
    ties: tuple[Ties, ...] = field(repr=False)
    seed: int
    n_resamples: int

    @property
    def studies(self) -> dict[str, Study]:
        """All of them, by the names of their folders."""
        return {**self.points, **({} if self.windows is None else {"windows": self.windows})}

    @property
    def n_series(self) -> int:
        """Series that were read."""
        return self.points["auto"].n_series

    @property
    def whole(self) -> bool:
        """Whether these are all series of NAB."""
        return self.n_series == WHOLE

    @property
    def size(self) -> str:
        """How much of NAB this is, in words."""
        return f"the whole of NAB ({WHOLE} series)" if self.whole else f"{self.n_series} of NAB's {WHOLE} series"

    @lazy
    def rows(self) -> dict[str, dict[str, Pooled]]:
        """Pooled rows by study and detector."""
        return {name: {row.detector: row for row in one.pooled()} for name, one in self.studies.items()}

    @lazy
    def detectors(self) -> tuple[str, ...]:
        """Names, the highest F1 first."""
        return self.points["auto"].leaderboard().detectors

    def row(self, null: str, detector: str) -> Pooled | None:
        """One detector on point labels; None where the source does not have it."""
        return self.rows[null].get(detector)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where NAB's scores and labels are: arguments of `nofluke.study` for points, and for windows if there are any."""

    name: str
    path: Path
    points: Mapping[str, Any] = field(repr=False)
    windows: Mapping[str, Any] | None = field(repr=False)

    @classmethod
    def of(cls, source: str | Path) -> Source:
        """Of a table with a column a detector, or of the folder of a clone of numenta/NAB."""
        path = expanded(source, "source")
        return cls._folder(path, source) if path.is_dir() else cls._table(path)

    @classmethod
    def _folder(cls, path: Path, given: str | Path) -> Source:
        labels, windows = (path / "labels" / f"combined_{kind}.json" for kind in ("labels", "windows"))
        if not labels.is_file() or not (path / "results").is_dir():
            raise InputError(
                argument="source",
                value=str(given),
                problem="has no labels/combined_labels.json, or no results",
                remedy="pass the folder of a clone of numenta/NAB, or a table with the columns series and event",
            )
        points, found = ({"layout": "nab", "ranges": file} for file in (labels, windows))
        return cls(name=path.resolve().name, path=path, points=points, windows=found if windows.is_file() else None)

    @classmethod
    def _table(cls, path: Path) -> Source:
        with open_table(path, [], None) as table:
            names = list(table.names)
        scores = [name for name in names if name not in NOT_SCORES]
        columns = {"series": "series", "scores": scores}
        return cls(
            name=path.name,
            path=path,
            points={**columns, "truth": "event"},
            windows={**columns, "truth": "window"} if "window" in names else None,
        )


def run_nab_study(
    source: str | Path, *, directory: Path, seed: int, n_resamples: int, workers: int | None, detectors: Any = None
) -> NabStudy:
    """Compute the study of NAB's published scores; each part of it has its own folder in the directory.

    ``detectors`` are all of them if left out.
    """
    as_whole(seed, "seed", 0)
    found = Source.of(source)
    chosen = {} if detectors is None else {"scores": detectors}

    def run(about: Mapping[str, Any], folder: str, **how: Any) -> Study:
        return study(
            found.path,
            **{**about, **chosen},
            **how,
            budget=BUDGET,
            rng=seed,
            n_resamples=n_resamples,
            workers=workers,
            resume=False,
            out=directory / folder,
        )

    points = {
        null: run(found.points, null, tolerance=TOLERANCE, null=null, title=f"NAB, point labels, {words}")
        for null, words in NULLS.items()
    }
    windows = None
    if found.windows is not None:
        windows = run(found.windows, "windows", count_events="ranges", title="NAB, windows")
    return NabStudy(
        source=found.name,
        clock="layout" in found.points,
        points=points,
        windows=windows,
        ties=ties_of(found, **chosen),
        seed=seed,
        n_resamples=n_resamples,
    )


def ties_of(found: Source, **chosen: Any) -> tuple[Ties, ...]:
    """Alarms at the quantile counted, without the laws of so many."""
    read = read_source(found.path, **{**found.points, **chosen})
    counts = {name: np.zeros(4, dtype=np.int64) for name in read.detectors}
    for chunk in read.parts:
        for case in chunk.read():
            for name, column in case.detectors.items():
                if not isinstance(column, Fault):
                    scores = np.asarray(column, dtype=np.float64)
                    share = np.mean(scores >= np.quantile(scores, QUANTILE))
                    counts[name] += np.array([True, share > MANY, share == 1, scores.min() == scores.max()])
    return tuple(
        Ties(detector=name, cells=int(n), many=int(many), everywhere=int(every), constant=int(same))
        for name, (n, many, every, same) in counts.items()
    )


# ---- statements

RANDOM, CONSTANT, BAYES = "random", "null", "bayesChangePt"
NO_DETECTORS = (RANDOM, CONSTANT)  # among NAB's detectors, to compare with
SEEN_ON_ALL = (0.89, 0.61)  # recall of bayesChangePt, and what chance gives of it
TIED_ON_ALL = (338, 928)
ABSENT = "There is no detector of that name here."
NAB: Claims[NabStudy] = Claims()


def told(row: Pooled) -> str:
    """Recall, and how much of it chance gives: "recall 0.942, of which chance gives 0.735"."""
    found = row.measure("recall")
    value = f"recall {show_share(found.value)}"
    if row.n_told < row.n_series:
        value += f" ({show_share(found.told)} on the {row.n_told} series whose null holds)"
    return f"{value}, of which chance gives {show_share(found.expected)}"


@NAB.said("all series", "Tables 1 to 3 and 5")
def random_is_chance(study: NabStudy) -> Found:
    """Random scores are never better than chance, pooled over series and corrected for all detectors (Holm)."""
    rows = {name: rows[RANDOM] for name, rows in study.rows.items() if RANDOM in rows}
    if not rows:
        return OPEN, ABSENT
    lowest = {
        name: min((row.measure(m).corrected, m) for m in MEASURES if not math.isnan(row.measure(m).corrected))
        for name, row in rows.items()
    }
    finding = "; ".join(
        f"{_words(name)}: {told(rows[name])}, smallest corrected p {show_p(p)} ({NAMES[m]}), verdict: {VERDICTS[rows[name].verdict].words}"
        for name, (p, m) in lowest.items()
    )
    alpha = study.points["auto"].alpha
    return not any(significant(p, alpha) for p, _ in lowest.values()), f"{finding}."


@NAB.said("all series", "Table 4")
def constant_cannot_be_told(study: NabStudy) -> Found:
    """Constant scores raise no alarm at any budget: there is no telling whether they are better than chance."""
    ties = next((one for one in study.ties if one.detector == CONSTANT), None)
    row = study.row("auto", CONSTANT)
    if ties is None or row is None:
        return OPEN, ABSENT
    cells = study.points["auto"].cells
    alarms = int(np.sum(cells["n_predictions"][cells["detector"] == CONSTANT]))
    return ties.constant == ties.cells and alarms == 0 and row.verdict == "cannot tell", (
        f"All scores are equal in {ties.constant} of {plural(ties.cells, 'series', 'series')}, so all of them are "
        f"tied at the cut of any budget below 100%; at 1% there are {alarms:,} alarms, and the verdict is "
        f"“{VERDICTS[row.verdict].words}”. The {QUANTILE:g} quantile turns all steps into alarms in {ties.everywhere}."
    )


@NAB.said("all series", "Tables 1 and 2")
def others_are_better(study: NabStudy) -> Found:
    """Every detector that looks at the data is better than chance, pooled, by precision and by recall."""
    verdicts = {
        null: {name: row.verdict for name, row in study.rows[null].items() if name not in NO_DETECTORS}
        for null in NULLS
    }
    yes = {null: sum(word == "yes" for word in found.values()) for null, found in verdicts.items()}
    n = len(verdicts["auto"])
    finding = "; ".join(f"{_words(null)}: {count} of {n}" for null, count in yes.items())
    return all(count == n for count in yes.values()) if n else OPEN, f"{finding}."


@NAB.said("whole of NAB", "Table 1")
def recall_of_bayes(study: NabStudy) -> Found:
    """On all 58 series, bayesChangePt has a recall of .89, of which chance gives .61."""
    rows = {null: row for null in NULLS if (row := study.row(null, BAYES)) is not None}
    if not rows:
        return OPEN, ABSENT
    recall = rows["permutation"].recall
    close = np.abs(np.subtract((recall.value, recall.expected), SEEN_ON_ALL)).max() < 0.005
    both = "; ".join(f"{told(row)} ({_words(null)})" for null, row in rows.items())
    return close if study.whole else OPEN, f"On {study.size}: {both}."


@NAB.said("all series", "Figure 1")
def ranks_by_recall(study: NabStudy) -> Found:
    """Detectors rank by recall as they do by how far it is above chance."""
    rows = [row for row in study.rows["auto"].values() if not math.isnan(row.recall.expected) and row.recall.expected]
    value = {row.detector: row.recall.value for row in rows}
    above = {row.detector: row.recall.told - row.recall.expected for row in rows}
    fallen = {name: _rank(above, name) - _rank(value, name) for name in value}
    if not rows:
        return OPEN, ABSENT
    worst, best = max(rows, key=lambda row: fallen[row.detector]), max(rows, key=lambda row: above[row.detector])
    ranks = f"from {_rank(value, worst.detector)} to {_rank(above, worst.detector)} of {len(rows)}"
    falls = f"{worst.detector} falls furthest, {ranks}: {told(worst)}." if fallen[worst.detector] else "None falls."
    return not any(fallen.values()), f"{falls} Furthest above chance is {best.detector}: {told(best)}."


def _rank(values: dict[str, float], name: str) -> int:
    return 1 + sum(value > values[name] for value in values.values())


@NAB.said("all series", "Table 2")
def whatever_the_null(study: NabStudy) -> Found:
    """What chance gives to precision is the same by permutation and by the null that fits the data (within .01)."""
    paper, entitled = (study.rows[null] for null in NULLS)
    gaps = {
        name: row.precision.expected - paper[name].precision.expected
        for name, row in entitled.items()
        if not math.isnan(row.precision.expected)
    }
    cells = study.points["auto"].cells
    nearby = sum(str(null).startswith("local") for null in cells["null"])
    if not gaps:
        return OPEN, ABSENT
    name = max(gaps, key=lambda name: abs(gaps[name]))
    return abs(gaps[name]) <= 0.01, (
        f"They differ most for {name}: {show_share(paper[name].precision.expected)} by permutation, "
        f"{show_share(entitled[name].precision.expected)} by auto, at a precision of {show_share(entitled[name].precision.value)}. "
        f"In {nearby} of {len(cells['null']):,} cells auto moves events only nearby, since rates change along the series."
    )


@NAB.said("single series", "auto/leaderboard.html")
def single_series_tell(study: NabStudy) -> Found:
    """Some single series show that a detector is better than chance, by the null that fits the data, at a false
    discovery rate of .05.
    """
    one = study.points["auto"]
    found = {m: int(np.count_nonzero(one.corrected(m) <= one.alpha)) for m in ("precision", "recall")}
    n = len(one.cells["series"])
    smallest = float(min(np.nanmin(one.cells[f"{m}_pvalue"]) for m in found))
    return any(found.values()), (
        f"Of {n:,} cells {found['precision']} by precision and {found['recall']} by recall; the smallest p-value of all is "
        f"{show_p(smallest)}. With a tolerance of 1% to either side, 2% of all rotations leave an event near its "
        "alarm, so p is seldom far below .02."
    )


@NAB.said("whole of NAB", "Table 4")
def ties_at_the_quantile(study: NabStudy) -> Found:
    """At the 0.99 quantile, 338 of all 928 cells have alarms on more than 5% of the steps, since scores are tied."""
    many, n = sum(one.many for one in study.ties), sum(one.cells for one in study.ties)
    every = sum(one.everywhere for one in study.ties)
    cells = study.points["auto"].cells
    most = float(np.max(cells["n_predictions"] / cells["n"]))
    worst = [one.detector for one in study.ties if one.many == one.cells]
    named = f" In every series: {listed(worst)}." if worst else ""
    return (many, n) == TIED_ON_ALL if study.whole else OPEN, (
        f"On {study.size}: {many} of {n} cells, of which {every} have an alarm at every step.{named} With "
        f"a budget of 1% no cell has more than {100 * most:.2g}%."
    )


def _words(name: str) -> str:
    return {"permutation": "by permutation", "auto": "by auto", "windows": "windows, by auto"}[name]


# ---- tables

SHORT = {"permutation": "perm.", "auto": "auto"}
_ENDS = ("value", "low", "high", "told", "expected", "std", "pvalue", "corrected")


def beside_chance(study: NabStudy, measure: str) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Headings and rows: a value with its interval, then chance and corrected p by both nulls."""
    heads = [f"{word} {of}" for of in SHORT.values() for word in ("chance,", "p,")]
    rows = []
    for name in study.detectors:
        both = [study.rows[null][name] for null in NULLS]
        rows.append((name, both[0].measure(measure).in_words(), *_chances(both, measure)))
    return ("detector", measure, *heads), rows


def _chances(rows: list[Pooled], measure: str) -> list[str]:
    found = [row.measure(measure) for row in rows]
    return [
        text for one in found for text in (share_or_dash(one.expected), p_or_dash(one.corrected).replace("e-", "e−"))
    ]  # a hyphen would break lines


def on_windows(study: NabStudy) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Headings and rows: recall and precision on windows, each beside chance."""
    columns = ("detector", "recall", "chance", "p", "precision", "chance", "p", "verdict")
    rows = [study.rows["windows"][name] for name in study.detectors]
    return columns, [
        (row.detector, *(text for m in ("recall", "precision") for text in _tested(row, m)), str(VERDICTS[row.verdict]))
        for row in rows
    ]


def _tested(row: Pooled, measure: str) -> tuple[str, ...]:
    return (show_share(row.measure(measure).value), *_chances([row], measure))


def of_ties(study: NabStudy) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Headings and rows: in how many series ties make alarms of more than 5% of the steps, and of all."""
    ties = {one.detector: one for one in study.ties}
    rows: list[tuple[str, ...]] = [
        (name, f"{one.cells}", f"{one.many}", f"{one.everywhere}", f"{one.constant}")
        for name in study.detectors
        if (one := ties.get(name))
    ]
    return ("detector", "series", "alarms on more than 5%", "on every step", "constant scores"), rows


def summary(study: NabStudy) -> Table:
    """One line a detector for a terminal: values, chance by both nulls, verdicts."""
    measures = {"recall": "R", "precision": "P", "f1": "F1"}
    heads = [text for short in measures.values() for text in (short, *SHORT.values())]
    rows = []
    for name in study.detectors:
        both = [study.rows[null][name] for null in NULLS]
        cells = [
            text
            for m in measures
            for text in (
                show_share(both[0].measure(m).value),
                *(share_or_dash(row.measure(m).expected) for row in both),
            )
        ]
        rows.append((name, *cells, *(str(VERDICTS[row.verdict]) for row in both)))
    size = f"{plural(len(study.detectors), 'detector')} on {study.size}"
    return Table(
        title=f"NAB compared with chance: {size}; alarms on at most 1% of the steps, tolerance 1% of each length",
        columns=("detector", *heads, *(f"verdict, {of}" for of in SHORT.values())),
        rows=tuple(rows),
        notes=(
            "Recall R, precision P and F1 of sums over series, each followed by what chance gives: by permutation of "
            "the events, and by the null that fits the data. Verdicts are corrected for all detectors (Holm).",
        ),
    )


def records(study: NabStudy) -> Records:
    """Rows of each file, by its name without ".csv"."""
    folders = {name: ("windows", "auto") if name == "windows" else ("points", name) for name in study.studies}
    return {
        "figure-1": [
            {"detector": name, "measure": m, "value": study.rows["permutation"][name].measure(m).value}
            | {f"chance_{null}": study.rows[null][name].measure(m).expected for null in NULLS}
            for m in ("recall", "precision")
            for name in study.detectors
        ],
        "table": [
            {"events": events, "null": null, **_full(study.rows[name][detector])}
            for name, (events, null) in folders.items()
            for detector in study.detectors
        ],
        "ties": [asdict(one) for one in study.ties],
    }


def _full(row: Pooled) -> dict[str, Any]:
    numbers = {f"{m}_{end}": getattr(row.measure(m), end) for m in MEASURES for end in _ENDS}
    rest = {name: getattr(row, name) for name in ("verdict", "share_yes", "skill_in", "n_told", "n_series")}
    return {"detector": row.detector, **numbers, **rest}


# ---- the figure

_WORDS = {"permutation": "chance by permutation", "auto": "chance by the null that fits the data"}
_MARKERS = {"permutation": "|", "auto": "o"}


def _dots(figure: Figure, study: NabStudy) -> None:
    axes: Any = figure.subplots(1, 2, sharey=True)
    for ax, measure in zip(axes, ("recall", "precision"), strict=True):
        for i, name in enumerate(study.detectors):
            rows = {null: study.rows[null][name].measure(measure) for null in NULLS}
            value = rows["auto"].value
            if math.isnan(value):
                continue
            chances = [row.expected for row in rows.values() if not math.isnan(row.expected)]
            ax.plot([min([value, *chances]), value], [i, i], color=PALETTE["observed"], linewidth=1, alpha=0.5)
            ax.plot([value], [i], "o", color=PALETTE["observed"], markersize=5, label="detector" if i == 0 else None)
            for null, row in rows.items():
                ax.plot(
                    [row.expected],
                    [i],
                    _MARKERS[null],
                    color=PALETTE["chance"],
                    markerfacecolor="none",
                    markersize=7 if null == "permutation" else 5,
                    markeredgewidth=1.6,
                    label=_WORDS[null] if i == 0 else None,
                )
        ax.set_xlim(-0.02, 1.02)
        ax.set_xlabel(measure)
        tidy(ax)
        ax.grid(False, axis="y")
    axes[0].set_yticks(range(len(study.detectors)), study.detectors)
    axes[0].invert_yaxis()
    key_above(figure, drawn_on(axes[0]), 3)


# ---- the page

NUMBERS = {"recall": 1, "precision": 2, "f1": 3}


def article(study: NabStudy, claims: tuple[Claim, ...], figures: dict[str, Drawn]) -> Article:
    """The whole page."""
    return Article(
        title="NAB's published detectors compared with chance",
        about=f"{len(study.detectors)} detectors on {study.size}, read from {study.source}, by nofluke {__version__}.",
        sentence=_verdicts(study),
        picture=figure(
            figures["figure-1"],
            1,
            "Recall and precision of sums over series (dots), and what chance gives by permutation (bars) and by the null "
            "that fits the data (rings). What counts is the distance.",
        ),
        before=[_abstract(study, claims), _compared(study), *_points(study)],
        after=[_quantile(study), _windows(study), _TEACHES],
        command=f"nofluke reproduce --nab {study.source} --seed {study.seed} --permutations {study.n_resamples} -o out/",
        made=f"Anything without an exact law is simulated with seed {study.seed}. The same data, "
        "seed and versions give the same bytes. Next to this page are the figure as SVG, PDF and PNG, the numbers of all "
        'tables in <a href="table.csv">table.csv</a> and <a href="ties.csv">ties.csv</a>, and a folder for each study. '
        "Data: Lavin and Ahmad (2015), Evaluating real-time anomaly detection algorithms, github.com/numenta/NAB.",
    )


def _verdicts(study: NabStudy) -> str:
    """How many detectors have which verdict, under the null that fits the data."""
    found: Counter[str] = Counter(row.verdict for row in study.rows["auto"].values())
    told = ", ".join(f"{found[verdict]} {sign.words}" for verdict, sign in VERDICTS.items() if found[verdict])
    return f"{plural(len(study.detectors), 'detector')} over all series, by the null that fits the data: {told}."


def _abstract(study: NabStudy, claims: tuple[Claim, ...]) -> str:
    named = [row for name in (BAYES, RANDOM) if (row := study.row("permutation", name)) is not None]
    told_of = " ".join(f"{escape(row.detector)} has a {told(row)}." for row in named)
    return (
        "<p>The Numenta Anomaly Benchmark publishes the scores of its detectors, two of which know nothing: "
        f"<code>{RANDOM}</code>, uniform noise, and <code>{CONSTANT}</code>, a constant. Here every detector is "
        f"compared with what chance gives, pooled over series. {told_of} {tally(claims)}.</p>"
    )


def _compared(study: NabStudy) -> str:
    clock = (
        "Series come with their clocks, except those whose times do not increase, so daily and weekly seasons are "
        "visible."
        if study.clock
        else "Series are read without a clock, since some have times that do not increase: daily or weekly seasons are visible only as periods of steps."
    )
    return (
        "<h2>What is compared</h2>"
        "<p><strong>Events and alarms.</strong> Events are NAB's point labels. Alarms are the highest scores, on at most 1% of the steps of a "
        "series; scores tied at the cut are left out. An alarm finds an event within 1% of the series' length, before or after it. "
        f"{clock}</p>"
        "<p><strong>Chance.</strong> There are two nulls. By <em>permutation</em>, the paper's null, events fall "
        "anywhere, independently of each other. By <em>auto</em> they move in a way that fits the data: mostly by "
        "rotating the series, which keeps runs of alarms and nearby events together, or only locally, where rates "
        "change along the series. Hits are summed over series, and chance is the law of that sum. P-values are "
        "corrected for the number of detectors (Holm).</p>"
    )


def _points(study: NabStudy) -> list[str]:
    tables = [
        table(
            f"Table {i}. {NAMES[m].capitalize()} [95%], chance and corrected p by both nulls.", *beside_chance(study, m)
        )
        for m, i in NUMBERS.items()
    ]
    left = {row.detector: row.n_series - row.n_told for row in study.rows["auto"].values()}
    gone = ", ".join(f"{escape(name)} {n}" for name, n in left.items() if n)
    note = f"<p>On some series no null holds for some detectors, and chance by auto covers only the others. Left out: {gone}.</p>"
    boards = ", ".join(f'<a href="{name}/leaderboard.html">{name}</a>' for name in study.studies)
    return [
        "<h2>Detectors compared with chance</h2>",
        *tables,
        note if gone else "",
        f"<p>Verdicts, comparisons of all pairs, and every single series are on the leaderboards: {boards}.</p>",
    ]


def _quantile(study: NabStudy) -> str:
    many, n = sum(one.many for one in study.ties), sum(one.cells for one in study.ties)
    return (
        "<h2>A quantile is not a budget</h2>"
        "<p>Many published scores are tied: most steps have the lowest score, or the highest. The .99 quantile then falls on a tie, and all "
        f"tied steps become alarms: in {many} of {plural(n, 'cell')} more than 5% of all steps. A budget leaves out scores tied at the cut.</p>"
        + table("Table 4. Alarms at the .99 quantile: in how many series.", *of_ties(study))
    )


def _windows(study: NabStudy) -> str:
    if study.windows is None:
        return ""
    return (
        "<h2>Windows instead of points</h2>"
        "<p>NAB itself scores by windows around its labels. Here each window is one event, found by any alarm within it, without a tolerance, since the window already is one. Windows are moved whole, which permutation cannot do: chance is by the null that fits the data.</p>"
        + table("Table 5. Windows as events, alarms on at most 1% of the steps.", *on_windows(study))
    )


_TEACHES = (
    "<h2>What it teaches</h2><ul>"
    "<li>A recall means little by itself. Alarms scattered over a long series find every event within a generous tolerance, whatever "
    "they know. Ask how much of a recall is due to chance.</li>"
    "<li>The null matters. Where alarms keep to the part of a series in which the events lie, chance scores more "
    "if events move only locally than if they can fall anywhere; and a run of alarms is one try, not many, which "
    "makes chance vary more. The verdicts over all series are the same either way; p-values and the distance from "
    "chance are not.</li><li>A single series of NAB has one to five events, which is hardly enough to tell a "
    "detector from chance. All of them together are enough: pool first, then ask.</li><li>State alarms as a "
    "budget. With tied scores a quantile decides nothing.</li><li>Put a detector that knows nothing into every "
    "table. It shows what the other numbers are worth.</li></ul>"
)


# ---- all of it

TOPIC: Topic[NabStudy] = Topic(
    claims=NAB,
    figures=lambda study: {"figure-1": (_dots, 1.3 + 0.2 * len(study.detectors), None)},
    records=records,
    article=article,
    about=lambda study: {
        "data": study.source,
        "series": study.n_series,
        "seed": study.seed,
        "n_resamples": study.n_resamples,
    },
)
BOARDS = tuple(f"leaderboard.{form}" for form in ("csv", "md", "tex", "html"))


@dataclass(frozen=True, slots=True, kw_only=True)
class NabTable(Reproduced):
    """What was written about NAB, and what was found; ``study`` has every number.

    The folders of the studies have more files than their leaderboards, which ``files`` names.
    """

    study: NabStudy = field(repr=False)

    def _on(self) -> str:
        return f"; measured on {self.study.size}"

    def table(self) -> Table:
        """One line a detector: recall, precision and F1 with chance by both nulls, and both verdicts."""
        return summary(self.study)


def reproduce_nab(
    source: str | Path,
    output: str | Path,
    *,
    detectors: Sequence[str] | None = None,
    seed: int = 0,
    n_resamples: int = 10_000,
    workers: int | None = None,
) -> NabTable:
    """Compare the published detectors of the Numenta Anomaly Benchmark with chance, and write a page about it.

    Alarms are on at most 1% of the steps, the tolerance is 1% of each series' length, events are NAB's point labels.
    Chance is by permutation and by ``null="auto"``. NAB's windows, each as one event, make a second table.

    Parameters
    ----------
    source : path
        The folder of a clone of numenta/NAB, or a table (Parquet or text) with the columns series and event, for the
        second table window, and one column of scores a detector.
    output : path
        A directory; made if it does not exist, and a leading ``~`` is your home. Files of an earlier run are replaced.
    detectors : sequence of str, optional
        Which ones, by name or pattern; all if left out.
    seed : int
        Of everything simulated. Same data, seed and versions, same bytes.
    n_resamples : int
        Draws where a cell has no exact law.
    workers : int, optional
        Processes; as many as there are cores if left out. Results do not depend on it.

    Returns
    -------
    NabTable

    Raises
    ------
    InputError
        If matplotlib is missing, the source is neither of both, or the directory cannot be written.

    References
    ----------
    Lavin and Ahmad (2015), Evaluating real-time anomaly detection algorithms: the Numenta Anomaly Benchmark, ICMLA.

    Examples
    --------
    >>> from nofluke.reproduce import reproduce_nab
    >>> done = reproduce_nab("NAB", "out")  # doctest: +SKIP
    >>> print(done.table().text())  # doctest: +SKIP
    """
    done = TOPIC.write(
        output,
        lambda directory: run_nab_study(
            source, directory=directory, seed=seed, n_resamples=n_resamples, workers=workers, detectors=detectors
        ),
        NabTable,
    )
    return replace(done, files=tuple(sorted((*done.files, *(f"{a}/{b}" for a in done.study.studies for b in BOARDS)))))
