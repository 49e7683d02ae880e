"""Tables for the page and the terminal, and the numbers behind them as CSV with all digits."""

from __future__ import annotations

from typing import Any

from nofluke.reproduce.nab.study import NULLS, NabStudy
from nofluke.studies.pooled_row import MEASURES, Pooled, p_or_dash, share_or_dash
from nofluke.text.tables import Table, csv_text, plural, show_share

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
        (row.detector, *(text for m in ("recall", "precision") for text in _tested(row, m)), row.verdict)
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
        rows.append((name, *cells, *(row.verdict for row in both)))
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


def records(study: NabStudy) -> dict[str, str]:
    """The text of each file, by its name."""
    columns = ("events", "null", "detector", *(f"{m}_{end}" for m in MEASURES for end in _ENDS))
    rows: list[tuple[Any, ...]] = []
    for name in study.studies:
        of = ("windows", "auto") if name == "windows" else ("points", name)
        rows += [(*of, *_full(study.rows[name][detector])) for detector in study.detectors]
    ties: list[tuple[Any, ...]] = [(t.detector, t.cells, t.many, t.everywhere, t.constant) for t in study.ties]
    drawn: list[tuple[Any, ...]] = [
        (name, m, both[0].measure(m).value, *(row.measure(m).expected for row in both))
        for m in ("recall", "precision")
        for name in study.detectors
        if (both := [study.rows[null][name] for null in NULLS])
    ]
    return {
        "figure-1.csv": csv_text(("detector", "measure", "value", *(f"chance_{null}" for null in NULLS)), drawn),
        "table.csv": csv_text((*columns, "verdict", "share_yes", "skill_in", "n_told", "n_series"), rows),
        "ties.csv": csv_text(("detector", "cells", "many", "everywhere", "constant"), ties),
    }


def _full(row: Pooled) -> tuple[Any, ...]:
    numbers = [getattr(row.measure(m), end) for m in MEASURES for end in _ENDS]
    return (row.detector, *numbers, row.verdict, row.share_yes, row.skill_in, row.n_told, row.n_series)
