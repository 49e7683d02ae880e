"""A metric against chance: its value beside the draws of a null, the verdict, and how it prints itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from nofluke.errors import joined
from nofluke.inference.chance import Alternative, significant
from nofluke.inference.chance_level import ChanceLevel, between
from nofluke.inference.reached import Side
from nofluke.inference.verdict import Verdict, headline
from nofluke.lazy import lazy
from nofluke.plain import finite_or_none
from nofluke.ratios import TIE_SLACK, corrected
from nofluke.text.numbers import p_is, show_p
from nofluke.text.tables import Table, noted, show_share

COLUMNS = (
    *("metric", "value", "expected", "std", "low", "high", "pvalue", "pvalue_error"),
    *("standardised", "chance_corrected", "critical_value", "null", "method"),
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Significance(ChanceLevel):
    """A metric on one series, against what chance gives.

    Attributes
    ----------
    metric : Metric
    value : float
        NaN where it is undefined.
    alternative : {"greater", "less", "two-sided"}
    stop_after : int or None
        With early stopping, how many draws had to reach the value.
    perfect_pvalue : float
        The p-value of a perfect detector, where shifts may be too short for it to be small; else 0.
    values, labels, choice, method, alpha, known_mean, notes
        As in `ChanceLevel`; alpha is the level of the verdict too.

    See Also
    --------
    nofluke.significance : makes it.
    nofluke.Significances : several metrics at once.
    nofluke.ChanceLevel : chance without a detector.
    nofluke.plot.significance : draws it.

    Examples
    --------
    >>> import nofluke as nf
    >>> truth, scores = [0] * 10 + [1] * 4 + [0] * 6, [0.1] * 9 + [0.9] * 3 + [0.1] * 8
    >>> result = nf.significance("auc-roc", truth, scores, null="circular-shift")
    >>> round(result.value, 3), result.pvalue, result.expected  # four of twenty rotations do as well
    (0.719, 0.2, 0.5)
    """

    value: float
    alternative: Alternative = "greater"
    stop_after: int | None = None
    perfect_pvalue: float = 0.0

    @lazy
    def pvalue(self) -> float:
        """How often chance does as well: b of all shifts, or (b + 1)/(n + 1) of random draws; 1 if undefined.

        With early stopping h/l, the h-th draw that reached the value being the l-th. Draws on which the metric is
        undefined count as reaching it. Two-sided is twice the smaller one, at most 1.
        """
        if math.isnan(self.value):
            return 1.0
        return min(min(self._tail(self.value, side) for side in self._sides) * len(self._sides), 1.0)

    def _tail(self, value: float, side: Side) -> float:
        reached = self._reached(self.values, value, side)
        return reached / len(self.values) if self._stopped(reached) else super()._tail(value, side)

    def _stopped(self, reached: int) -> bool:
        return self.stop_after is not None and reached >= self.stop_after

    @property
    def pvalue_error(self) -> float:
        """Monte Carlo standard error of the p-value; 0 where all shifts were enumerated."""
        if self.listed:
            return 0.0
        p, sides = self.pvalue, 2 if self.alternative == "two-sided" else 1
        return sides * math.sqrt(p / sides * (1 - p / sides) / len(self.values))

    @property
    def band(self) -> tuple[float, float] | None:
        """As of `ChanceLevel`; None with early stopping, since it needs a fixed number of draws."""
        return None if self.stop_after is not None else super().band

    @property
    def critical_value(self) -> float | None:
        """As of `ChanceLevel`, by the alternative; None for two sides, and with early stopping."""
        if self.stop_after is not None or self.alternative == "two-sided":
            return None
        return self._critical(self.alternative)

    @property
    def standardised(self) -> float:
        """(value - expected)/std; NaN where chance always gives the same."""
        std = self.std
        return (self.value - self.expected) / std if std > TIE_SLACK * abs(self.expected) else math.nan

    @property
    def chance_corrected(self) -> float:
        """(value - expected)/(perfect - expected): 0 for chance under this null, 1 for perfect.

        NaN where the perfect value is unknown, or chance is nearly perfect itself.
        """
        perfect = self.metric.perfect
        return math.nan if perfect is None else corrected(self.value, self.expected, perfect)

    @property
    def smallest_pvalue(self) -> float:
        """The smallest possible p-value.

        It depends on the number of draws, how often they reach the perfect value, and on how many the metric is
        undefined; where all shifts were enumerated, it is that of the shift with the best value, or of a perfect
        detector if that is larger.
        """
        sides = self._sides
        return min(max(min(map(self._floor, sides)), self.perfect_pvalue) * len(sides), 1.0)

    def _floor(self, side: Side) -> float:
        if self.stop_after is not None:
            return 1 / (1 + (self.method.n_resamples or len(self.values)))
        best = self.metric.perfect if side == self.better else None
        if self.listed:
            known = self.values[~np.isnan(self.values)]
            if not len(known):
                return 1.0
            best = float(known.max() if side == "greater" else known.min())
            return self._reached(self.values, best, side) / len(self.values)
        as_good = int(np.isnan(self.values).sum()) if best is None else self._reached(self.values, best, side)
        return (1 + as_good) / (1 + len(self.values))

    @property
    def _sides(self) -> tuple[Side, ...]:
        return ("greater", "less") if self.alternative == "two-sided" else (self.alternative,)

    @lazy
    def obstacle(self) -> str:
        """What rules out any conclusion, whatever the p-value; empty where nothing does."""
        degenerate = self.labels.obstacle or (self.labels.no_choice if self.metric.needs == "alarms" else "")
        if degenerate:
            return degenerate
        if math.isnan(self.value):
            return f"{self.name} is undefined on these data."
        if not self.choice.holds:
            return self.choice.why or "No null holds for these data."
        smallest = self.smallest_pvalue
        if not significant(smallest, self.alpha):
            return f"No value could have reached the {self.alpha:.3g} level: the smallest possible p is {show_p(smallest)}."
        return ""

    @property
    def pvalue_better(self) -> float:
        """The p-value of being better than chance, whatever the alternative is: what the verdict uses."""
        return 1.0 if math.isnan(self.value) else self._tail(self.value, self.better)

    @property
    def pvalue_worse(self) -> float:
        """The p-value of being worse than chance."""
        return (
            1.0 if math.isnan(self.value) else self._tail(self.value, "less" if self.better == "greater" else "greater")
        )

    @property
    def verdict(self) -> Verdict:
        """ "yes" if the value beats chance at level alpha, else "no"; "cannot tell" if there is an obstacle."""
        if self.obstacle:
            return "cannot tell"
        return "yes" if significant(self.pvalue_better, self.alpha) else "no"

    @property
    def reason(self) -> str:
        """Why the verdict is what it is."""
        if self.obstacle:
            return self.obstacle
        one_sided = "" if self.alternative == self.better else f" (one-sided: {p_is(self.pvalue_better)})"
        which = "" if self.verdict == "yes" else "not "
        return f"{self.name} is {which}significantly better than chance at the {self.alpha:.3g} level{one_sided}."

    def in_words(self) -> str:
        """The value, what chance gives, and the p-value, as a sentence."""
        if math.isnan(self.value):
            return self.obstacle
        error, corrected = self.pvalue_error, self.chance_corrected
        beyond = "" if math.isnan(corrected) else f"; corrected for chance {show_share(corrected)}"
        return (
            f"{self.name} is {self.shown(self.value)}; chance gives {self.chance_in_words()} under "
            f"{self.choice.model.text}; {p_is(self.pvalue)}{f' ± {error:.1g}' if error else ''}{beyond}."
        )

    def verdict_in_words(self) -> str:
        """The verdict and its reason; the first words say if the data contradict the requested null."""
        return joined(" ", [headline(self.verdict, self.choice, "data"), self.reason])

    def row(self) -> tuple[str, ...]:
        """A line of the table."""
        corrected = self.chance_corrected
        return (
            self.name,
            self.shown(self.value),
            self.chance_in_words(),
            self._band_in_words(),
            "" if math.isnan(corrected) else show_share(corrected),
            show_p(self.pvalue),
        )

    def table(self) -> Table:
        """The result as a small table, which renders as text, Markdown, LaTeX or HTML."""
        return Table(
            title=self.labels.in_words(),
            columns=table_columns(self.alpha),
            rows=(self.row(),),
            notes=(self.verdict_in_words(), self.in_words(), self.how(), *noted(self.notes)),
        )

    def how(self) -> str:
        """Which null, which method: the fine print of every result."""
        if self.stop_after is None:
            return super().how()
        stopped = self._stopped(self._reached(self.values, self.value, self._sides[0]))
        many = f"Stopped when {self.stop_after} draws had" if stopped else f"Fewer than {self.stop_after} draws"
        return f"{super().how()} {many} reached the value."

    def _plain(self) -> dict[str, Any]:
        return {
            **super()._plain(),
            "value": finite_or_none(self.value),
            "pvalue": self.pvalue,
            "pvalue_error": self.pvalue_error,
            "standardised": finite_or_none(self.standardised),
            "chance_corrected": finite_or_none(self.chance_corrected),
            "pvalue_better": self.pvalue_better,
            "smallest_pvalue": self.smallest_pvalue,
            "alternative": self.alternative,
            "stop_after": self.stop_after,
            "verdict": self.verdict,
            "reason": self.reason,
        }

    def columns(self) -> dict[str, list[Any]]:
        """One row, by column name."""
        own = ("value", "pvalue", "pvalue_error", "standardised", "chance_corrected")
        found = super().columns() | {name: [getattr(self, name)] for name in own}
        return {name: found[name] for name in COLUMNS}

    def plot(self, ax: Any = None) -> Any:
        """Draw what chance gives, the value and the perfect one (matplotlib); returns the Axes."""
        from nofluke.plot import significance as plot_significance

        return plot_significance(self, ax)

    def __repr__(self) -> str:
        return (
            f"<Significance of {self.name}: {self.shown(self.value)}, chance {self.chance_in_words()}, "
            f"{p_is(self.pvalue)};\n null {self.choice.label}: {self.method}>"
        )


def table_columns(alpha: float) -> tuple[str, ...]:
    """Headings of the table."""
    return ("metric", "value", "chance", between(alpha), "corrected", "p")
