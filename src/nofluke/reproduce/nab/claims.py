"""Statements about NAB's published detectors, each checked by a computation on its scores."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from nofluke.inference.chance import significant
from nofluke.reproduce.claim import Claim, Outcome, outcome_of
from nofluke.reproduce.markup import listed
from nofluke.reproduce.nab.study import MANY, NULLS, QUANTILE, WHOLE, NabStudy
from nofluke.studies.pooled_row import MEASURES, NAMES, Pooled
from nofluke.text.numbers import show_p
from nofluke.text.tables import plural, show_share

RANDOM, CONSTANT, BAYES = "random", "null", "bayesChangePt"
NO_DETECTORS = (RANDOM, CONSTANT)  # among NAB's detectors, to compare with
SEEN_ON_ALL = (0.89, 0.61)  # recall of bayesChangePt, and what chance gives of it
TIED_ON_ALL = (338, 928)
ABSENT = "There is no detector of that name here."


def check_nab_claims(study: NabStudy) -> tuple[Claim, ...]:
    """All statements: those about detectors that know nothing, then about the others, then about thresholds."""
    checks: tuple[Callable[[NabStudy], Claim], ...] = (
        random_is_chance,
        constant_cannot_be_told,
        others_are_better,
        recall_of_bayes,
        ranks_by_recall,
        whatever_the_null,
        single_series_tell,
        ties_at_the_quantile,
    )
    return tuple(check(study) for check in checks)


def told(row: Pooled) -> str:
    """Recall, and how much of it chance gives: "recall 0.942, of which chance gives 0.735"."""
    found = row.measure("recall")
    value = f"recall {show_share(found.value)}"
    if row.n_told < row.n_series:
        value += f" ({show_share(found.told)} on the {row.n_told} series whose null holds)"
    return f"{value}, of which chance gives {show_share(found.expected)}"


def random_is_chance(study: NabStudy) -> Claim:
    """The control: uniform noise."""
    rows = {name: rows[RANDOM] for name, rows in study.rows.items() if RANDOM in rows}
    lowest = {
        name: min((row.measure(m).corrected, m) for m in MEASURES if not math.isnan(row.measure(m).corrected))
        for name, row in rows.items()
    }
    finding = "; ".join(
        f"{_words(name)}: {told(rows[name])}, smallest corrected p {show_p(p)} ({NAMES[m]}), verdict {rows[name].verdict}"
        for name, (p, m) in lowest.items()
    )
    alpha = study.points["auto"].alpha
    return Claim(
        key="random-is-chance",
        section="all series",
        statement="Random scores are never better than chance, pooled over series and corrected for all detectors (Holm).",
        outcome=outcome_of(not any(significant(p, alpha) for p, _ in lowest.values())) if rows else _OPEN,
        finding=f"{finding}." if rows else ABSENT,
        decided_by="Tables 1 to 3 and 5",
    )


def constant_cannot_be_told(study: NabStudy) -> Claim:
    """The other control: a constant."""
    ties = next((one for one in study.ties if one.detector == CONSTANT), None)
    row = study.row("auto", CONSTANT)
    if ties is None or row is None:
        outcome, finding = _OPEN, ABSENT
    else:
        cells = study.points["auto"].cells
        alarms = int(np.sum(cells["n_predictions"][cells["detector"] == CONSTANT]))
        outcome = outcome_of(ties.constant == ties.cells and alarms == 0 and row.verdict == "cannot tell")
        finding = (
            f"All scores are equal in {ties.constant} of {plural(ties.cells, 'series', 'series')}, so all of them are "
            f"tied at the cut of any budget below 100%; at 1% there are {alarms:,} alarms, and the verdict is "
            f"“{row.verdict}”. The {QUANTILE:g} quantile turns all steps into alarms in {ties.everywhere}."
        )
    return Claim(
        key="constant-cannot-be-told",
        section="all series",
        statement="Constant scores raise no alarm at any budget: there is no telling whether they are better than chance.",
        outcome=outcome,
        finding=finding,
        decided_by="Table 4",
    )


def others_are_better(study: NabStudy) -> Claim:
    """What the field may be glad of."""
    verdicts = {
        null: {name: row.verdict for name, row in study.rows[null].items() if name not in NO_DETECTORS}
        for null in NULLS
    }
    yes = {null: sum(word == "yes" for word in found.values()) for null, found in verdicts.items()}
    n = len(verdicts["auto"])
    return Claim(
        key="others-are-better",
        section="all series",
        statement="Every detector that looks at the data is better than chance, pooled, by precision and by recall.",
        outcome=outcome_of(all(count == n for count in yes.values())) if n else _OPEN,
        finding="; ".join(f"{_words(null)}: {count} of {n}" for null, count in yes.items()) + ".",
        decided_by="Tables 1 and 2",
    )


def recall_of_bayes(study: NabStudy) -> Claim:
    """The number that is known of the whole of NAB."""
    row = study.row("permutation", BAYES)
    found = None if row is None else (row.recall.value, row.recall.expected)
    known = study.whole and found is not None
    close = found is not None and all(abs(a - b) < 0.005 for a, b in zip(found, SEEN_ON_ALL, strict=True))
    both = [f"{told(one)} ({_words(null)})" for null in NULLS if (one := study.row(null, BAYES)) is not None]
    return Claim(
        key="recall-of-bayes",
        section="whole of NAB",
        statement=f"On all {WHOLE} series, bayesChangePt has a recall of .89, of which chance gives .61.",
        outcome=outcome_of(close) if known else _OPEN,
        finding=f"On {study.size}: {'; '.join(both)}." if both else ABSENT,
        decided_by="Table 1",
    )


def ranks_by_recall(study: NabStudy) -> Claim:
    """What a table without chance suggests."""
    rows = [row for row in study.rows["auto"].values() if not math.isnan(row.recall.expected) and row.recall.expected]
    value = {row.detector: row.recall.value for row in rows}
    above = {row.detector: row.recall.told - row.recall.expected for row in rows}
    fallen = {name: _rank(above, name) - _rank(value, name) for name in value}
    finding = ABSENT
    if rows:
        worst, best = max(rows, key=lambda row: fallen[row.detector]), max(rows, key=lambda row: above[row.detector])
        finding = (
            f"{worst.detector} falls furthest, from {_rank(value, worst.detector)} to {_rank(above, worst.detector)} of {len(rows)}: "
            f"{told(worst)}. Furthest above chance is {best.detector}: {told(best)}."
        )
    return Claim(
        key="ranks-by-recall",
        section="all series",
        statement="Detectors rank by recall as they do by how far it is above chance.",
        outcome=outcome_of(not any(fallen.values())) if rows else _OPEN,
        finding=finding,
        decided_by="Figure 1",
    )


def _rank(values: dict[str, float], name: str) -> int:
    return 1 + sum(value > values[name] for value in values.values())


def whatever_the_null(study: NabStudy) -> Claim:
    """Alarms that keep to the part of a series in which events lie have an easier time, even by chance."""
    paper, entitled = (study.rows[null] for null in NULLS)
    gaps = {
        name: row.precision.expected - paper[name].precision.expected
        for name, row in entitled.items()
        if not math.isnan(row.precision.expected)
    }
    cells = study.points["auto"].cells
    nearby = sum(str(null).startswith("local") for null in cells["null"])
    name = max(gaps, key=lambda name: abs(gaps[name]), default=None)
    return Claim(
        key="whatever-the-null",
        section="all series",
        statement="What chance gives to precision is the same by permutation and by the null that fits the data (within .01).",
        outcome=_OPEN if name is None else outcome_of(abs(gaps[name]) <= 0.01),
        finding=ABSENT
        if name is None
        else f"They differ most for {name}: {show_share(paper[name].precision.expected)} by permutation, "
        f"{show_share(entitled[name].precision.expected)} by auto, at a precision of {show_share(entitled[name].precision.value)}. "
        f"In {nearby} of {len(cells['null']):,} cells auto moves events only nearby, since rates change along the series.",
        decided_by="Table 2",
    )


def single_series_tell(study: NabStudy) -> Claim:
    """What pooling is for."""
    one = study.points["auto"]
    found = {m: int(np.count_nonzero(one.corrected(m) <= one.alpha)) for m in ("precision", "recall")}
    n = len(one.cells["series"])
    smallest = float(min(np.nanmin(one.cells[f"{m}_pvalue"]) for m in found))
    return Claim(
        key="single-series-tell",
        section="single series",
        statement="Some single series show that a detector is better than chance, by the null that fits the data, at a false discovery rate of .05.",
        outcome=outcome_of(any(found.values())),
        finding=f"Of {n:,} cells {found['precision']} by precision and {found['recall']} by recall; the smallest p-value of all is "
        f"{show_p(smallest)}. With a tolerance of 1% to either side, 2% of all rotations leave an event near its "
        "alarm, so p is seldom far below .02.",
        decided_by="auto/leaderboard.html",
    )


def ties_at_the_quantile(study: NabStudy) -> Claim:
    """Why studies have a budget."""
    many, n = sum(one.many for one in study.ties), sum(one.cells for one in study.ties)
    every = sum(one.everywhere for one in study.ties)
    cells = study.points["auto"].cells
    most = float(np.max(cells["n_predictions"] / cells["n"]))
    worst = [one.detector for one in study.ties if one.many == one.cells]
    named = f" In every series: {listed(worst)}." if worst else ""
    return Claim(
        key="ties-at-the-quantile",
        section="whole of NAB",
        statement=f"At the {QUANTILE:g} quantile, {TIED_ON_ALL[0]} of all {TIED_ON_ALL[1]} cells have alarms on more than {MANY:.0%} of the "
        "steps, since scores are tied.",
        outcome=outcome_of((many, n) == TIED_ON_ALL) if study.whole else _OPEN,
        finding=f"On {study.size}: {many} of {n} cells, of which {every} have an alarm at every step.{named} With "
        f"a budget of 1% no cell has more than {100 * most:.2g}%.",
        decided_by="Table 4",
    )


_OPEN: Outcome = "cannot be checked"


def _words(name: str) -> str:
    return {"permutation": "by permutation", "auto": "by auto", "windows": "windows, by auto"}[name]
