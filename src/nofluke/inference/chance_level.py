"""What chance gives in a metric on given labels: draws, their mean and band, and what a detector must exceed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nofluke.arrays import ByValue, FloatArray
from nofluke.errors import InputError
from nofluke.inference.measured_on import Labels
from nofluke.inference.reached import Side, reaching
from nofluke.laws.law import How
from nofluke.lazy import lazy
from nofluke.metrics.base import Metric
from nofluke.nulls.choice import Choice
from nofluke.plain import finite_or_none, number_or_none
from nofluke.ratios import TIE_SLACK
from nofluke.text.exports import Exports
from nofluke.text.numbers import show_chance
from nofluke.text.tables import SCHEMA, Table, noted, show_number, show_share


@dataclass(frozen=True, kw_only=True, eq=False)
class ChanceLevel(Exports, ByValue):
    """What chance gives in a metric on one set of labels.

    Attributes
    ----------
    metric : Metric
    values : float array
        The metric on each draw, in order. Where all shifts were enumerated, the data's own value comes first.
    labels : Labels
        What it was measured on.
    choice : Choice
        Which null, and why.
    method : How
        Whether all shifts were counted, or draws simulated.
    alpha : float
        The level of the band and the critical value.
    known_mean : float or None
        The mean by chance, where it is known without any draw.
    scale : float
        The size of the numbers that were rounded: values within 1e-10 of it are equal.
    notes : tuple of str

    See Also
    --------
    nofluke.chance : makes it.
    nofluke.significance : the value of a detector against chance.
    nofluke.plot.chance_level : draws it.

    Examples
    --------
    >>> import nofluke as nf
    >>> level = nf.chance("auc-roc", [0] * 10 + [1] * 4 + [0] * 6, n_resamples=999, rng=1)
    >>> level.expected, round(level.std, 2)
    (0.5, 0.17)
    """

    metric: Metric
    values: FloatArray = field(repr=False)
    labels: Labels
    choice: Choice
    method: How
    alpha: float
    known_mean: float | None = None
    scale: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The metric's name with its settings."""
        return self.metric.text

    @property
    def listed(self) -> bool:
        """Whether all shifts were enumerated, so nothing is random."""
        return self.method.kind != "simulated"

    @property
    def n_resamples(self) -> int:
        """Draws made, or shifts enumerated."""
        return len(self.values)

    @property
    def seed(self) -> int | None:
        """The seed of the draws; None where nothing was drawn, or by a generator that was already running."""
        return self.method.seed

    @lazy
    def _defined(self) -> FloatArray:
        return self.values[np.isfinite(self.values)]

    @lazy
    def _moments(self) -> tuple[float, float]:
        """Mean and standard deviation of what is finite, in units in which no square overflows."""
        if not len(self._defined):
            return math.nan, math.nan
        unit = float(np.abs(self._defined).max()) or 1.0
        scaled = self._defined / unit
        return float(scaled.mean()) * unit, float(scaled.std()) * unit

    @property
    def expected(self) -> float:
        """What chance gives on average: over all shifts, over the draws, or exactly where that is known."""
        if self.known_mean is not None:
            return self.known_mean
        return self._moments[0]

    @property
    def std(self) -> float:
        """Standard deviation of what chance gives."""
        return self._moments[1]

    @property
    def band(self) -> tuple[float, float] | None:
        """Where chance lies, except for alpha/2 of the draws on either side; None where it is undefined."""
        if not len(self._defined):
            return None
        low, high = np.quantile(self._defined, [self.alpha / 2, 1 - self.alpha / 2])
        return float(low), float(high)

    @property
    def critical_value(self) -> float | None:
        """What a value has to exceed (or stay below, where lower is better) for p ≤ alpha; None where no value does."""
        return self._critical(self.better)

    @property
    def better(self) -> Side:
        """On which side values are better."""
        return "greater" if self.metric.better == "higher" else "less"

    def _critical(self, side: Side) -> float | None:
        others = self._others
        may = math.floor(self.alpha * (len(others) + 1) * (1 + TIE_SLACK)) - 1
        if not 0 <= may < len(others):
            return None
        sign = 1.0 if side == "greater" else -1.0
        ordered = np.sort(np.where(np.isnan(others), np.inf, sign * others))[::-1]
        return finite_or_none(sign * float(ordered[may]))

    def pvalue_of(self, value: float) -> float:
        """How often chance does as well as this value: (b + 1)/(n + 1) if b of the n other shifts or draws reach it.

        1 for NaN. Draws on which the metric is undefined count as reaching it.
        """
        number = number_or_none(value)
        if number is None:
            raise InputError(
                argument="value", value=value, problem="must be a number", remedy=f"a value of {self.name}"
            )
        return 1.0 if math.isnan(number) else self._tail(number, self.better)

    def _tail(self, value: float, side: Side) -> float:
        others = self._others
        return (1 + self._reached(others, value, side)) / (1 + len(others))

    @property
    def _others(self) -> FloatArray:
        """All draws, or all shifts but the data's own."""
        return self.values[1:] if self.listed else self.values

    def _reached(self, values: FloatArray, value: float, side: Side) -> int:
        return int(reaching(values, value, side, self.scale).sum())

    def how(self) -> str:
        """Which null, which method: the fine print of every result."""
        seed = "" if self.seed is None else f", seed {self.seed}"
        drawn = f" {self.n_resamples:,} draws{seed}." if not self.listed else ""
        return f"{self.choice.in_words()} Method: {self.method}.{drawn}"

    def in_words(self) -> str:
        """What chance gives, as a sentence."""
        if math.isnan(self.expected):
            return self.labels.obstacle or f"{self.name} is undefined on these labels."
        bar, level = self.critical_value, f"at the {self.alpha:.3g} level"
        better = "above" if self.better == "greater" else "below"
        needs = "" if bar is None else f"; a detector has to be {better} {self.shown(bar)} to be better {level}"
        if bar is not None and bar == self.metric.perfect:
            needs = f"; no detector can be better {level}, because chance is perfect that often"
        return f"Chance gives {self.chance_in_words()} in {self.name} under {self.choice.model.text}{needs}."

    def table(self) -> Table:
        """The result as a small table, which renders as text, Markdown, LaTeX or HTML."""
        bar = self.critical_value
        return Table(
            title=self.labels.in_words(),
            columns=("metric", "chance", between(self.alpha), "critical value"),
            rows=(
                (
                    self.name,
                    self.chance_in_words(),
                    self._band_in_words(),
                    "" if bar is None else self.shown(bar),
                ),
            ),
            notes=(self.in_words(), self.how(), *noted(self.notes)),
        )

    def shown(self, value: float) -> str:
        """A value of the metric, never rounded to 0 or 1 where these are its ends."""
        return show_share(value) if self.metric.perfect == 1.0 and not abs(value) > 1 else show_number(value)

    def chance_in_words(self) -> str:
        """Mean ± standard deviation."""
        return "undefined" if math.isnan(self.expected) else show_chance(self.expected, self.std)

    def _band_in_words(self) -> str:
        return "" if self.band is None else "{} to {}".format(*map(self.shown, self.band))

    def _record(self) -> dict[str, Any]:
        return {"schema": SCHEMA, **self._plain(), **self._common()}

    def _plain(self) -> dict[str, Any]:
        band = self.band
        return {
            "metric": self.name,
            "expected": finite_or_none(self.expected),
            "std": finite_or_none(self.std),
            "band": None if band is None else list(band),
            "critical_value": self.critical_value,
            "better": self.metric.better,
            "perfect": self.metric.perfect,
            "needs": self.metric.needs,
            "n_resamples": self.n_resamples,
        }

    def _common(self) -> dict[str, Any]:
        return {
            **self.labels.to_dict(),
            "null": self.choice.to_dict(),
            "doubts": list(self.choice.doubts),
            "method": str(self.method),
            "seed": self.seed,
            "alpha": self.alpha,
            "notes": list(self.notes),
        }

    def columns(self) -> dict[str, list[Any]]:
        """One row, by column name."""
        low, high = self.band or (math.nan, math.nan)
        found = {
            "metric": self.name,
            "expected": self.expected,
            "std": self.std,
            "low": low,
            "high": high,
            "critical_value": self.critical_value,
            "null": self.choice.model.text,
            "method": str(self.method),
        }
        return {name: [value] for name, value in found.items()}

    def plot(self, ax: Any = None) -> Any:
        """Draw what chance gives, beside the perfect value (matplotlib); returns the Axes."""
        from nofluke.plot import chance_level

        return chance_level(self, ax)

    def __repr__(self) -> str:
        return f"<ChanceLevel of {self.name}: {self.chance_in_words()};\n null {self.choice.label}: {self.method}>"


def between(alpha: float) -> str:
    """The heading of the band."""
    return f"{100 * (1 - alpha):.3g}% of chance"
