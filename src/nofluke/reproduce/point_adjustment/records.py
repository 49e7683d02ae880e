"""The numbers behind every figure and table, as comma-separated values with full digits."""

from __future__ import annotations

from typing import Any

from nofluke.reproduce.point_adjustment.figures import histogram, left_edge, rows_of
from nofluke.reproduce.point_adjustment.study import AdjustmentStudy
from nofluke.text.tables import csv_text

Rows = list[tuple[Any, ...]]
BAND = ("chance_2.5%", "chance_97.5%")


def records(study: AdjustmentStudy) -> dict[str, str]:
    """The text of each file, by its name without ".csv"."""
    made: dict[str, tuple[tuple[str, ...], Rows]] = {
        "figure-1": (("benchmark", "from", "to", "draws"), _bins(study)),
        "figure-2": (_OTHERWISE, _otherwise(study)),
        "table-1": (("benchmark", "steps", "entities", "ranges", "labelled", "source"), _labels(study)),
        "table-2": (_CHANCE, _chance(study)),
        "table-3": (_OTHERWISE, _otherwise(study)),
        "table-4": (("detector", "value", "chance_mean", "chance_sd", *BAND, "p", "rotations"), _rotated(study)),
    }
    return {name: csv_text(columns, rows) for name, (columns, rows) in made.items()}


_CHANCE = (
    "benchmark",
    "best_f1_mean",
    "best_f1_everywhere",
    "best_pa_f1_mean",
    "best_pa_f1_sd",
    *BAND,
    "published",
    "reached",
    "draws",
    "p",
    "chance_corrected",
)
_OTHERWISE = ("benchmark", "assumed", "mean", "sd", *BAND, "reached", "draws")


def _bins(study: AdjustmentStudy) -> Rows:
    left, rows = left_edge(study), []
    for case in study.cases:
        edges, counts = histogram(case, left)
        cells = zip(edges[:-1].round(6).tolist(), edges[1:].round(6).tolist(), counts.tolist(), strict=True)
        rows += [(case.name, low, high, count) for low, high, count in cells]
    return rows


def _labels(study: AdjustmentStudy) -> Rows:
    return [
        (
            case.name,
            len(case.labels.truth),
            len(case.labels.entities),
            case.labels.n_ranges,
            int(case.labels.truth.sum()),
            case.labels.source,
        )
        for case in study.cases
    ]


def _chance(study: AdjustmentStudy) -> Rows:
    return [
        (
            case.name,
            case.plain.expected,
            case.everywhere,
            case.random.expected,
            case.random.std,
            *(case.random.band or ("", "")),
            case.published,
            case.reached(),
            case.random.n_resamples,
            case.pvalue,
            case.corrected,
        )
        for case in study.cases
    ]


def _otherwise(study: AdjustmentStudy) -> Rows:
    return [
        (
            case.name,
            words,
            level.expected,
            level.std,
            *(level.band or ("", "")),
            case.reached(level),
            level.n_resamples,
        )
        for case in study.cases
        for _, words, level in rows_of(case)
    ]


def _rotated(study: AdjustmentStudy) -> Rows:
    return [
        (
            one.words,
            one.result.value,
            one.result.expected,
            one.result.std,
            *(one.result.band or ("", "")),
            one.result.pvalue,
            one.result.n_resamples,
        )
        for one in study.rotated
    ]
