"""Tables 1 and 2 on the page: their numbers, their formulas, and what each entry counts."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from nofluke.measures.confusion import Confusion
from nofluke.reproduce.formulas import PRECISION, RECALL, TABLE_1, TABLE_2, mathematics
from nofluke.reproduce.markup import matrix
from nofluke.reproduce.study import Study


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a table is headed and read: what each entry counts, and which can be read as usual."""

    caption: str
    rows: tuple[str, str]
    columns: tuple[str, str]
    formulas: dict[str, str]
    counts: dict[str, str]
    readable: frozenset[str]

    def name(self, entry: str) -> str:
        """An entry by its row and column, a marginal by the one of them that it sums."""
        (row, no_row), (column, no_column) = self.rows, self.columns
        return {
            "tp": f"{row}-{column}",
            "fp": f"{row}-{no_column}",
            "fn": f"{no_row}-{column}",
            "tn": f"{no_row}-{no_column}",
            "predicted": f"∑ {row}",
            "not_predicted": f"∑ {no_row}",
            "actual": f"∑ {column}",
            "not_actual": f"∑ {no_column}",
            "total": "T",
        }[entry]


FIRST = Layout(
    caption="Table 1. Tolerance in the ground truth, δ = 2, .9-quantile.",
    rows=("PA", "PnA"),
    columns=("AAδ", "AnAδ"),
    formulas=TABLE_1,
    counts={
        "tp": "predictions near an event: hits of precision",
        "fp": "predictions near no event: false alarms",
        "predicted": "predictions",
        "fn": "days without a prediction near an event, found or not: not misses",
        "tn": "days without a prediction far from all events: fewer as δ grows",
        "not_predicted": "days without a prediction",
        "actual": "days near an event, not events",
        "not_actual": "days far from all events: fewer as δ grows",
        "total": "days",
    },
    readable=frozenset({"tp", "fp", "predicted", "not_predicted", "total"}),
)
SECOND = Layout(
    caption="Table 2. Tolerance in the predictions, δ = 2, .9-quantile.",
    rows=("PAδ", "PnAδ"),
    columns=("AA", "AnA"),
    formulas=TABLE_2,
    counts={
        "tp": "events near a prediction: hits of recall",
        "fp": "days without an event near a prediction, right or wrong: not false alarms",
        "predicted": "days near a prediction, not predictions",
        "fn": "events near no prediction: misses",
        "tn": "days without an event far from all predictions: fewer as δ grows",
        "not_predicted": "days far from all predictions: fewer as δ grows",
        "actual": "events",
        "not_actual": "days without an event",
        "total": "days",
    },
    readable=frozenset({"tp", "fn", "actual", "not_actual", "total"}),
)


def definitions() -> str:
    """Equations 2 and 3."""
    return "\n".join(f'<p class="formula">{mathematics(ratio, "block")}</p>' for ratio in (PRECISION, RECALL))


def both_tables(study: Study) -> str:
    """The two matrices side by side, and every entry with its formula and its meaning."""
    pairs = tuple(zip(study.matrices, (FIRST, SECOND), strict=True))
    return "\n".join(
        [
            '<div class="pair">',
            *(matrix(counts, how.caption, how.rows, how.columns, set(how.readable)) for counts, how in pairs),
            "</div>",
            '<p class="small">PA, PnA: predicted, not predicted. AA, AnA: an anomaly, none. A δ marks the side that the '
            "tolerance widens. Steps outside the sequence hold neither. Below are the formulas of all entries and "
            "marginals, ✓ where one can be read as usual, – where it cannot.</p>",
            *(_entries(counts, how, i) for i, (counts, how) in enumerate(pairs, 1)),
        ]
    )


def _entries(matrix: Confusion, how: Layout, number: int) -> str:
    """Each entry in a row: name, formula, days, whether it can be read as usual, and what it counts."""
    rows = "".join(
        f'<tr class="{"read" if entry in how.readable else "unread"}"><th scope="row">{how.name(entry)}</th>'
        f'<td class="formula">{mathematics(formula)}</td><td class="count">{getattr(matrix, entry):,}</td>'
        f"<td>{'✓' if entry in how.readable else '–'} {escape(how.counts[entry])}</td></tr>\n"
        for entry, formula in how.formulas.items()
    )
    return (
        f'<table class="entries"><caption>Entries of Table {number}.</caption><thead><tr><th scope="col">entry</th>'
        f'<th scope="col">formula</th><th scope="col">days</th><th scope="col">counts</th></tr></thead><tbody>\n{rows}</tbody></table>'
    )
