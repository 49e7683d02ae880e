"""The tables of a study: what each column holds, and its type in Parquet.

A table in memory is a mapping of column to values, all of one length; missing numbers are NaN, missing text is "".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Values = Mapping[str, Any]  # lists or arrays, all of one length
Schema = Mapping[str, str]

MEASURES = ("precision", "recall")
STEPS = "steps"  # the grid of all series without a clock

_TESTED: dict[str, str] = {
    "": "DOUBLE",
    "_hits": "BIGINT",
    "_expected": "DOUBLE",
    "_std": "DOUBLE",
    "_pvalue": "DOUBLE",
    "_log10_pvalue": "DOUBLE",
    "_method": "VARCHAR",
}

CELLS: Schema = {
    "series": "VARCHAR",
    "group": "VARCHAR",
    "detector": "VARCHAR",
    "n": "BIGINT",
    "n_events": "BIGINT",
    "n_predictions": "BIGINT",
    "threshold": "DOUBLE",
    "tolerance": "VARCHAR",
    "count_events": "VARCHAR",
    **{f"{measure}{end}": kind for measure in MEASURES for end, kind in _TESTED.items()},
    "f1": "DOUBLE",
    "f1_at_chance": "DOUBLE",
    "near_events": "BIGINT",
    "near_predictions": "BIGINT",
    "false_alarms": "BIGINT",
    "delay": "DOUBLE",
    "null": "VARCHAR",
    "holds": "BOOLEAN",
    "doubts": "BIGINT",
    "verdict": "VARCHAR",
    "reason": "VARCHAR",
    "n_resamples": "BIGINT",
    "seed": "BIGINT",
    "notes": "VARCHAR[]",
}
"""One row a cell, a detector on a series. ``f1_at_chance`` is F1 of the expected hits; ``holds`` whether the null is
one that the data allow, ``doubts`` how much they say against one that was asked for; ``delay`` the median of found
events, in steps or seconds; ``n_resamples`` is 0 and ``seed`` -1 where nothing was drawn."""

FAILED: Schema = {"series": "VARCHAR", "group": "VARCHAR", "detector": "VARCHAR", "reason": "VARCHAR"}
"""One row a cell that has no result; ``detector`` is "" where the whole series has none."""

TIMINGS: Schema = {"series": "VARCHAR", "detector": "VARCHAR", "seconds": "DOUBLE"}

LAWS: Schema = {
    "series": "VARCHAR",
    "detector": "VARCHAR",
    "measure": "VARCHAR",
    "size": "BIGINT",
    "mean": "DOUBLE",
    "var": "DOUBLE",
    "kind": "VARCHAR",
    "name": "VARCHAR",
    "n_resamples": "BIGINT",
    "first": "BIGINT",
    "logs": "DOUBLE[]",
}
"""Chance in each cell: log P(X = first), log P(X = first + 1), ..., as `nofluke.laws.law.Law.log_bulk` gives it."""

TRUTHS: Schema = {
    "series": "VARCHAR",
    "group": "VARCHAR",
    "axis": "VARCHAR",
    "in_time": "BOOLEAN",
    "grid": "VARCHAR",
    "n": "BIGINT",
    "reach": "BIGINT",
    "starts": "BIGINT[]",
    "stops": "BIGINT[]",
    "notes": "VARCHAR[]",
    "moments": "BIGINT[]",
    "length": "BIGINT",
    "begin": "BIGINT",
    "watched": "VARCHAR",
    "placed": "BIGINT[]",
    "exchangeable": "BOOLEAN",
}
"""The events of each series among its steps (``stops`` are past the end), and how many steps the tolerance reaches at
most; ``in_time`` says whether events are at their own times. Two series share ``axis`` if their steps are the same
moments, and ``grid`` if their clocks tick alike, whenever they began and whatever they missed; ``moments`` are the
first steps of events in absolute time, counted in steps of the grid. ``length`` has all steps, those too that do not
count, ``begin`` the first that does, and ``placed`` the first steps of events among all of them. Two series share
``watched`` if the same of their steps count; ``exchangeable`` says whether events are where their steps are."""


def cells_with(metrics: Sequence[str]) -> dict[str, str]:
    """The columns of `CELLS`, the null of metrics if there are any, and six columns for each.

    ``_smallest`` is the smallest p that any detector could have reached in the cell.
    """
    numbers = ("", "_expected", "_std", "_pvalue", "_smallest")
    ends = {**dict.fromkeys(numbers, "DOUBLE"), "_verdict": "VARCHAR"}
    null = {"metrics_null": "VARCHAR", "metrics_holds": "BOOLEAN", "metrics_doubts": "BIGINT"} if metrics else {}
    return {**CELLS, **null, **{f"{metric}{end}": kind for metric in metrics for end, kind in ends.items()}}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """What came out of one chunk: the rows of each table, in the order of its series and the study's detectors."""

    cells: Values = field(repr=False)
    failed: Values = field(repr=False)
    timings: Values = field(repr=False)
    laws: Values = field(repr=False)
    truths: Values = field(repr=False)
