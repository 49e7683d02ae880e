"""Metrics on the draws of one chunk: from tables made once, or from the detector of each draw.

A function that fails on a draw has no value there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.errors import InputError, shortened
from nofluke.metrics.base import Metric
from nofluke.metrics.draws import Draws
from nofluke.metrics.labelled import Labelled
from nofluke.nulls.layouts import Layout

MOST_SAID = 200  # characters of what a function said when it failed
HOPELESS = 20  # draws that a function may fail on, from the first on, before it is given up


@dataclass(slots=True)
class Values:
    """One metric on all draws: NaN where it is undefined, and what went wrong first where it failed."""

    values: FloatArray
    failed: int = 0
    failure: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Metrics on the draws of one chunk, from their tables or from the detector of each draw."""

    series: Labelled
    layout: Layout
    metrics: tuple[Metric, ...]
    tables: tuple[Any, ...] = field(repr=False)

    @classmethod
    def of(cls, metrics: tuple[Metric, ...], series: Labelled, layout: Layout) -> Part:
        """With the tables of all metrics that take windows of one long detector."""
        tables = [
            metric.tables(layout.long(series.detector(metric.needs, metric.text)), series)
            if by_windows(metric, layout)
            else None
            for metric in metrics
        ]
        return cls(series=series, layout=layout, metrics=metrics, tables=tuple(tables))

    def measure(self, draws: Draws, first: bool = False) -> list[Values]:
        """All metrics on these draws; on the first of all, a function that never works is given up."""
        return [
            self._by_rows(metric, draws, first) if tables is None else self._by_windows(metric, tables, draws, first)
            for metric, tables in zip(self.metrics, self.tables, strict=True)
        ]

    def _by_windows(self, metric: Metric, tables: Any, draws: Draws, first: bool) -> Values:
        if metric.compiled:
            return Values(metric.values(tables, draws))
        return _one_by_one(metric, lambda i: metric.values(tables, draws.only(i)), len(draws), first)

    def _by_rows(self, metric: Metric, draws: Draws, first: bool) -> Values:
        def value(i: int) -> FloatArray:
            detector = self.layout.of(self.series, metric.needs, int(draws.begins[i]))
            return metric.values(metric.tables(detector, self.series), draws.only(i, begin=0))

        if metric.compiled:
            return Values(np.array([value(i)[0] for i in range(len(draws))]))
        return _one_by_one(metric, value, len(draws), first)


def _one_by_one(metric: Metric, value: Callable[[int], FloatArray], n: int, first: bool) -> Values:
    found = Values(np.full(n, np.nan))
    for i in range(n):
        try:
            found.values[i] = value(i)[0]
        except Exception as error:  # whatever a function of the user's may raise
            found.failed += 1
            found.failure = found.failure or on_one_line(error)
            if first and found.failed == HOPELESS == i + 1:
                raise InputError(
                    argument="metric",
                    value=metric.text,
                    problem=f"failed on each of the first {HOPELESS} draws ({found.failure})",
                    remedy="it must accept any labels with the same number of labelled steps",
                ) from error
    return found


def on_one_line(error: Exception) -> str:
    """What went wrong, short enough for a note.

    >>> on_one_line(ValueError("two\\nlines"))
    'ValueError: two lines'
    """
    return shortened(f"{type(error).__name__}: {' '.join(str(error).split())}", MOST_SAID)


def by_windows(metric: Metric, layout: Layout) -> bool:
    """Whether a metric takes draws as windows of one long detector, so that tables are made once."""
    return layout.windows and (metric.any_window or layout.rotates)
