"""One small table, rendered as text, Markdown, LaTeX, HTML or CSV; and how numbers are written in all of them."""

from __future__ import annotations

import csv
import html
import io
import math
import re
import unicodedata
from dataclasses import dataclass

TableCell = str | int | float | None
WIDTH = 100  # of a line of prose, on a terminal and off it
SCHEMA = 2  # of the keys of JSON: a larger one where a key changes its meaning


def show_share(value: float) -> str:
    """A share in three digits, or as many as it takes not to read 0 or 1 where it is not exactly that.

    >>> show_share(0.5664), show_share(0.99996), show_share(1.0), show_share(float("nan"))
    ('0.566', '0.99996', '1', 'undefined')
    """
    if math.isnan(value):
        return "undefined"
    if value in (-1, 0, 1):
        return str(int(value))
    # an exponent tells a tiny share from 0, but only digits tell one from 1
    texts = (f"{value:.{digits}f}" for digits in range(3, 10 if abs(value) < 0.5 else 18))
    return next((text for text in texts if float(text) not in (-1, 0, 1)), f"{value:.2e}")


def show_number(value: float) -> str:
    """A count with separators, or a number in four digits.

    >>> show_number(2557), show_number(71.49893), show_number(1.0234e-7)
    ('2,557', '71.5', '1.023e-07')
    """
    if isinstance(value, int) or (float(value).is_integer() and abs(value) < 1e15):
        return f"{int(value):,}"
    if math.isnan(value):
        return "undefined"
    return f"{value:.1f}" if 10 <= abs(value) < 1e6 else f"{value:.4g}"


def plural(count: int, thing: str, things: str | None = None) -> str:
    """A count and its noun.

    >>> plural(1, "event"), plural(2557, "step")
    ('1 event', '2,557 steps')
    """
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of cells already written as text, under headings; the first column names the row.

    The first ``left`` columns are set to the left, the others to the right.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    notes: tuple[str, ...] = ()
    left: int = 1

    def text(self) -> str:
        """Aligned plain text."""
        lines = [self.columns, *self.rows]
        widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
        body = [
            "  ".join(
                _pad(cell, width, left=i < self.left) for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in lines
        ]
        return "\n".join([*([self.title, ""] if self.title else []), *body, *([""] if self.notes else []), *self.notes])

    def markdown(self) -> str:
        """A table in GitHub's Markdown."""
        rows = [self.columns, ("---",) * self.left + ("---:",) * (len(self.columns) - self.left), *self.rows]
        body = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
        head = [f"**{self.title}**", ""] if self.title else []
        return "\n".join([*head, *body, *(line for note in self.notes for line in ("", note))])

    def latex(self, label: str = "", see: str = "") -> str:
        """A booktabs table, ready to be pasted into a paper; ``see`` is the label of the table that has its notes."""
        body = [" & ".join(map(_latex, row)) + r" \\" for row in self.rows]
        notes = [_latex(note) + r"\par" for note in self.notes] + [rf"Notes: see Table~\ref{{{see}}}.\par"] * bool(see)
        return "\n".join(
            [
                r"\begin{table}",
                r"\centering",
                *([rf"\caption{{{_latex(self.title)}}}"] if self.title else []),
                *([rf"\label{{{label}}}"] if label else []),
                rf"\begin{{tabular}}{{{'l' * self.left}{'r' * (len(self.columns) - self.left)}}}",
                r"\toprule",
                " & ".join(map(_latex, self.columns)) + r" \\",
                r"\midrule",
                *body,
                r"\bottomrule",
                r"\end{tabular}",
                *([r"\par\medskip\footnotesize", *notes] if notes else []),
                r"\end{table}",
            ]
        )

    def html(self) -> str:
        """A table for a notebook."""
        head = "".join(f"<th>{html.escape(c)}</th>" for c in self.columns)
        body = "".join(
            "<tr>"
            + "".join(
                f"<th style='text-align:left'>{html.escape(c)}</th>" if i == 0 else f"<td>{html.escape(c)}</td>"
                for i, c in enumerate(row)
            )
            + "</tr>"
            for row in self.rows
        )
        caption = f"<caption style='text-align:left'>{html.escape(self.title)}</caption>" if self.title else ""
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return f"<div><table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}</div>"


def csv_text(columns: tuple[str, ...], rows: list[tuple[TableCell, ...]]) -> str:
    """Comma-separated values with full digits; a missing or undefined number is an empty field."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow("" if c is None or (isinstance(c, float) and math.isnan(c)) else c for c in row)
    return out.getvalue()


def _width(text: str) -> int:
    """Columns a text takes on a terminal: combining marks take none."""
    return sum(unicodedata.combining(c) == 0 for c in text)


def _pad(text: str, width: int, left: bool) -> str:
    space = " " * (width - _width(text))
    return text + space if left else space + text


_POWER = re.compile(r"\b(\d+(?:\.\d+)?)e([+-]\d+)\b")
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "δ": r"$\delta$",
        "β": r"$\beta$",
        "±": r"$\pm$",
        "≥": r"$\geq$",
        "≤": r"$\leq$",
        "×": r"$\times$",
        "µ": r"$\mu$",
        "τ": r"$\tau$",
        "α": r"$\alpha$",
        "²": r"$^2$",
        "−": r"$-$",
        "≈": r"$\approx$",
        "→": r"$\rightarrow$",
        "|": r"\textbar{}",
        "[": "{[}",  # bare, at the start of a row, it would be an argument of the line break before it
        "–": "--",
        "<": r"$<$",
        ">": r"$>$",
    }
)


def _latex(text: str) -> str:
    """Text as LaTeX prints it; 4.1e-12 becomes a power of ten, as papers write it."""
    return _POWER.sub(lambda m: rf"${m[1]} \times 10^{{{int(m[2])}}}$", text.translate(_LATEX))
