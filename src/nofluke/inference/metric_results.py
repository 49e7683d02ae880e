"""Several metrics on the same draws: a table of them, and one p-value for having looked at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, overload

from nofluke.arrays import ByValue, FloatArray
from nofluke.errors import InputError, joined
from nofluke.inference.chance import significant
from nofluke.inference.metric_result import Significance, table_columns
from nofluke.inference.verdict import Verdict, headline
from nofluke.text.exports import Exports
from nofluke.text.numbers import p_is, show_p
from nofluke.text.tables import SCHEMA, Table, noted, plural, stacked


@dataclass(frozen=True, kw_only=True, eq=False)
class Significances(Exports, ByValue):
    """Several metrics of one detector, or one metric with several settings, on the same draws.

    Attributes
    ----------
    results : tuple of Significance
    corrected : float array
        For each metric, the p-value corrected for all metrics.
    corrected_better : float array
        The same for being better than chance, whatever the alternative is: what the verdict uses.

    See Also
    --------
    nofluke.significance : makes it from a list of metrics.
    nofluke.Significance : one metric.
    nofluke.plot.significances : draws it.

    Examples
    --------
    >>> import nofluke as nf
    >>> truth, scores = [0] * 10 + [1] * 4 + [0] * 6, [0.1] * 9 + [0.9] * 3 + [0.1] * 8
    >>> found = nf.significance(["auc-roc", "average-precision"], truth, scores, null="circular-shift")
    >>> found["auc-roc"].pvalue, found.pvalue
    (0.2, 0.2)
    """

    results: tuple[Significance, ...]
    corrected: FloatArray = field(repr=False)
    corrected_better: FloatArray = field(repr=False)

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[Significance]:
        return iter(self.results)

    @overload
    def __getitem__(self, which: int | str) -> Significance: ...
    @overload
    def __getitem__(self, which: slice) -> tuple[Significance, ...]: ...
    def __getitem__(self, which: int | str | slice) -> Significance | tuple[Significance, ...]:
        if not isinstance(which, str):
            return self.results[which]
        found = next((result for result in self.results if result.name == which), None)
        if found is None:
            raise InputError(
                argument="metric",
                value=which,
                problem=f"must be one of {', '.join(repr(one.name) for one in self.results)}",
            )
        return found

    @property
    def pvalue(self) -> float:
        """The familywise p-value: how often chance's smallest p over all metrics is as small as the observed one."""
        return float(self.corrected.min())

    @property
    def best(self) -> Significance:
        """The metric that stands out most."""
        return self.results[int(self.corrected.argmin())]

    @property
    def _first(self) -> Significance:
        return self.results[0]

    @property
    def alpha(self) -> float:
        """The level of the verdict."""
        return self._first.alpha

    @property
    def obstacle(self) -> str:
        """What rules out any conclusion by any of the metrics; empty where nothing does."""
        found = [result.obstacle for result in self.results]
        return found[0] if all(found) else ""

    @property
    def verdict(self) -> Verdict:
        """ "yes" if any metric, corrected for all of them, beats chance, else "no"; "cannot tell" if no metric can."""
        if self.obstacle:
            return "cannot tell"
        return "yes" if any(self._good) else "no"

    @property
    def _good(self) -> list[bool]:
        """Which metrics are better than chance; one that cannot tell is none of them."""
        pairs = zip(self.results, self.corrected_better.tolist(), strict=True)
        return [not result.obstacle and significant(p, self.alpha) for result, p in pairs]

    @property
    def reason(self) -> str:
        """Why the verdict is what it is."""
        if self.obstacle:
            return self.obstacle
        p = float(self.corrected_better.min())
        level = f"at the {self.alpha:.3g} level, corrected for {plural(len(self.results), 'metric')} ({p_is(p)})"
        if self.verdict == "no":
            return f"No metric is significantly better than chance {level}."
        good = [one.name for one, is_good in zip(self.results, self._good, strict=True) if is_good]
        return f"Significantly better than chance {level}: {', '.join(good)}."

    def verdict_in_words(self) -> str:
        """The verdict and its reason."""
        return joined(" ", [headline(self.verdict, self._first.choice, "data"), self.reason])

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know, each once."""
        return tuple(dict.fromkeys(note for result in self.results for note in result.notes))

    def table(self) -> Table:
        """One line for each metric; renders as text, Markdown, LaTeX or HTML."""
        rows = tuple((*result.row(), show_p(float(p))) for result, p in zip(self.results, self.corrected, strict=True))
        return Table(
            title=self._first.labels.in_words(),
            columns=(*table_columns(self.alpha), "p corrected"),
            rows=rows,
            notes=(
                self.verdict_in_words(),
                "p corrected: how often chance has a p-value this small in any of these metrics.",
                self._first.how(),
                *noted(self.notes),
            ),
        )

    def _record(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "metrics": [
                {**result._plain(), "pvalue_corrected": float(p)}
                for result, p in zip(self.results, self.corrected, strict=True)
            ],
            "pvalue": self.pvalue,
            "verdict": self.verdict,
            "reason": self.reason,
            **{**self._first._common(), "notes": list(self.notes)},
        }

    def columns(self) -> dict[str, list[Any]]:
        """A row for each metric, by column name."""
        return stacked(result.columns() for result in self.results) | {"pvalue_corrected": self.corrected.tolist()}

    def plot(self, ax: Any = None) -> Any:
        """Draw what chance gives in each metric, with its value (matplotlib); returns the Axes."""
        from nofluke.plot import significances as plot_significances

        return plot_significances(self, ax)

    def __repr__(self) -> str:
        told = "; ".join(f"{one.name} {one.value:.4g} ({p_is(one.pvalue)})" for one in self.results)
        return f"<Significances: {told};\n corrected {p_is(self.pvalue)}; null {self._first.choice.label}>"
