"""A statistic beside precision and recall against chance, by simulation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from nofluke.measures.statistics import point_statistic
from nofluke.nulls.base import NullModel
from nofluke.nulls.simulation import alone, simulate
from nofluke.plain import finite_or_none
from nofluke.series.trial import Cell
from nofluke.text.numbers import p_is, show_chance
from nofluke.text.tables import show_number


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticTest:
    """An observed statistic against what chance scores.

    Attributes
    ----------
    name, title : str
        As it is asked for, and in words.
    value : float
        NaN without events or alarms.
    pvalue : float
        (b + 1)/(n + 1), b the resamples that reach the value; 1 where it is undefined.
    expected, std : float
        Mean and standard deviation over the resamples in which it is defined.
    details : dict
        What else belongs to it: the delay behaviour of event synchronisation, precision, recall and F1 of a matching.
    null : str
    n_resamples : int
    seed : int or None
    """

    name: str
    title: str
    value: float
    pvalue: float
    expected: float
    std: float
    details: dict[str, float]
    null: str
    n_resamples: int
    seed: int | None

    @property
    def pvalue_error(self) -> float:
        """Monte Carlo standard error of the p-value."""
        return math.sqrt(self.pvalue * (1 - self.pvalue) / self.n_resamples)

    def in_words(self) -> str:
        """The test as a sentence."""
        beside = "".join(f", {name} {show_number(value)}" for name, value in self.details.items())
        return (
            f"{self.title}: {show_number(self.value)}{beside}; chance gives {show_chance(self.expected, self.std)}; "
            f"{p_is(self.pvalue)} ({self.n_resamples:,} resamples, seed {self.seed})."
        )

    def to_dict(self) -> dict[str, Any]:
        """The test as plain values, for JSON. Undefined values are None."""
        return {
            "value": finite_or_none(self.value),
            "pvalue": self.pvalue,
            "pvalue_error": self.pvalue_error,
            "expected": finite_or_none(self.expected),
            "std": finite_or_none(self.std),
            **{name: finite_or_none(value) for name, value in self.details.items()},
            "null": self.null,
            "n_resamples": self.n_resamples,
            "seed": self.seed,
        }


def statistic_test(cell: Cell, null: NullModel, name: str, *, n_resamples: int, rng: Any) -> StatisticTest:
    """One statistic of a cell under a null."""
    statistic, trial = point_statistic(name), alone(cell)
    found = simulate(trial, statistic, null, n_resamples=n_resamples, rng=rng)
    values, value = found.values[:, 0, 0], float(found.observed[0, 0])
    defined = values[~np.isnan(values)]
    return StatisticTest(
        name=statistic.name,
        title=statistic.title,
        value=value,
        pvalue=float(found.pvalue[0, 0]),
        expected=float(defined.mean()) if len(defined) else math.nan,
        std=float(defined.std()) if len(defined) else math.nan,
        details={} if math.isnan(value) else statistic.details(trial.cell(0, 0), value),
        null=null.text,
        n_resamples=n_resamples,
        seed=found.method.seed,
    )
