"""What chance gives in several metrics on one set of labels, as one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nofluke.inference.chance_level import ChanceLevel
from nofluke.text.exports import Exports
from nofluke.text.tables import SCHEMA, Table, noted, stacked


@dataclass(frozen=True, slots=True, kw_only=True)
class ChanceLevels(Exports):
    """Chance levels of the same labels, a line each.

    Examples
    --------
    >>> import nofluke as nf
    >>> labels = [0] * 10 + [1] * 4 + [0] * 6
    >>> levels = [nf.chance(name, labels, n_resamples=99, rng=1) for name in ("auc-roc", "best-f1")]
    >>> print(ChanceLevels(results=tuple(levels)).to_csv().splitlines()[1][:11])
    auc-roc,0.5
    """

    results: tuple[ChanceLevel, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know, each once."""
        return tuple(dict.fromkeys(note for level in self.results for note in level.notes))

    def table(self) -> Table:
        """One line for each metric; renders as text, Markdown, LaTeX or HTML."""
        tables = [level.table() for level in self.results]
        return Table(
            title=tables[0].title,
            columns=tables[0].columns,
            rows=tuple(row for table in tables for row in table.rows),
            notes=(
                *(level.in_words() for level in self.results),
                *dict.fromkeys(level.how() for level in self.results),
                *noted(self.notes),
            ),
        )

    def _record(self) -> dict[str, Any]:
        return {"schema": SCHEMA, "metrics": [level.to_dict() for level in self.results]}

    def columns(self) -> dict[str, list[Any]]:
        """A row for each metric, by column name."""
        return stacked(level.columns() for level in self.results)
