"""One small table, rendered as text, Markdown, LaTeX, HTML or CSV; and how numbers are written in all of them."""

from __future__ import annotations

import csv
import html
import io
import math
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from nofluke.errors import THINGS, WIDTH, say
from nofluke.series.names import NONE, Names
from nofluke.text.signs import VERDICTS

PACKAGES = r"% requires \usepackage{booktabs}"
NOT_ASCII = "% has characters beyond ASCII: compile with XeLaTeX or LuaLaTeX, and a font that has them"

LEAST_PROSE = 24  # characters of a column of sentences, which are set in lines
SENTENCE = 40  # characters of a cell beyond which its column is set in lines
TEXT_WIDTH = 345  # points of LaTeX's article class

_DASHES = re.compile("-(?=-)")
_POWER = re.compile(r"\b(\d+(?:\.\d+)?)e([+-]\d+)\b")
_SPECIAL = str.maketrans(
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
        "[": "{[}",  # bare, at the start of a row, these two would be arguments of the line break before it
        "*": "{*}",
        "–": r"\textendash{}",
        "✓": r"$\surd$",
        "✗": r"$\times$",
        "◐": r"$\circ$",
        "<": r"$<$",
        ">": r"$>$",
    }
)


def escaped(text: str) -> str:
    r"""Text as LaTeX prints it, in one line; 4.1e-12 becomes a power of ten, as papers write it.

    >>> print(escaped("50% of my_x, p < 1e-300"))
    50\% of my\_x, p $<$ $1 \times 10^{-300}$
    """
    line = _DASHES.sub("-{}", " ".join(text.split()).translate(_SPECIAL))  # or --null would begin with one long dash
    return _POWER.sub(lambda m: rf"${m[1]} \times 10^{{{int(m[2])}}}$", line)


def latex_part(floats: Iterable[str], notes: Iterable[str]) -> str:
    """What goes into a paper: the packages needed as a comment, the tables, then each note as a paragraph."""
    body = "\n\n".join([*floats, *map(escaped, notes)])
    return "\n".join([PACKAGES, *([] if body.isascii() else [NOT_ASCII]), body])


def _row(cells: Sequence[str]) -> str:
    return " & ".join(map(escaped, cells)) + r" \\"


# ---- one small table, rendered as text, Markdown, LaTeX, HTML or CSV

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


ALL_EQUAL = "All scores are equal: no threshold can separate the steps."


def there_are_no(noun: str, so: str = "") -> str:
    """That something is not there at all, and what follows from it.

    >>> there_are_no("events", "recall is undefined")
    'There are no events: recall is undefined.'
    """
    things = THINGS.get(noun, noun)
    return say("There are no {}: {}.", things, so) if so else say("There are no {}.", things)


def noted(notes: Iterable[str]) -> tuple[str, ...]:
    """Notes as they stand under a table.

    >>> noted(["2 steps were left out."])
    ('Note: 2 steps were left out.',)
    """
    return tuple(say("Note: {}", note) for note in notes)


def plural(count: int, thing: str, things: str | None = None) -> str:
    """A count and its noun; an event or an alarm by its name, where it has one.

    >>> plural(1, "event"), plural(2557, "step")
    ('1 event', '2,557 steps')
    """
    if thing in THINGS:
        return say("{:,} {}", count, THINGS[thing].of(count))
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of cells already written as text, under headings; the first column names the row.

    The first ``left`` columns are set to the left, the others to the right. With ``prose`` the last column has
    sentences: set to the left, and in several lines where the table would be too wide. ``breaks`` are columns before
    which a table that is too wide may continue below, with its first columns again, under ``heads`` if these are
    shorter. ``verdict`` is that of the whole result, which the first note tells.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    notes: tuple[str, ...] = ()
    left: int = 1
    prose: bool = False
    breaks: tuple[int, ...] = ()
    heads: tuple[str, ...] = ()
    verdict: str = ""

    def called(self, names: Names) -> Table:
        """The table in the names that events and alarms have, all of its text.

        >>> Table(columns=("", say("{alarms}")), rows=()).called(Names.of(alarm_name="alert")).columns
        ('', 'alerts')
        """
        if names == NONE:
            return self
        return replace(
            self,
            title=names.said(self.title),
            columns=names.all_said(self.columns),
            heads=names.all_said(self.heads),
            rows=tuple(map(names.all_said, self.rows)),
            notes=names.all_said(self.notes),
        )

    def parts(self, width: int = WIDTH, gap: int = 2, *, anywhere: bool = False) -> tuple[Table, ...]:
        """The table without notes, or, where it is too wide, those that stand below one another.

        It breaks where it says that it may, else nowhere, or before any column.

        >>> table = Table(columns=("", "one", "two", "three"), rows=(), breaks=(2, 3))
        >>> [part.columns for part in table.parts(10)]
        [('', 'one', 'two'), ('', 'three')]
        """
        bounds = self.breaks or (tuple(range(self.left + 1, len(self.columns))) if anywhere else ())
        whole = (range(self.left, len(self.columns)),)
        if not bounds or self._fits(self.columns, whole[0], width, gap):
            return (self._part(self.columns, whole[0]),)
        heads = self.heads or self.columns
        if self._fits(heads, whole[0], width, gap):
            return (self._part(heads, whole[0]),)
        chosen: list[range] = []
        for begin, end in pairwise((self.left, *bounds, len(self.columns))):
            longer = range(chosen[-1].start, end) if chosen else range(0)
            if chosen and self._fits(heads, longer, width, gap):
                chosen[-1] = longer
            else:
                chosen.append(range(begin, end))
        parts = [self._part(heads, some) for some in chosen]
        return (parts[0], *(replace(part, title="") for part in parts[1:]))

    def _fits(self, heads: Sequence[str], some: range, width: int, gap: int) -> bool:
        """Whether these columns fit the width, behind the first ones; prose is set in lines."""
        every = [max(map(_width, column)) for column in zip(heads, *self.rows, strict=True)]
        if self.prose:
            every[-1] = min(every[-1], LEAST_PROSE)
        chosen = every[: self.left] + [every[i] for i in some]
        return sum(chosen) + gap * (len(chosen) - 1) <= width

    def _part(self, heads: tuple[str, ...], some: range) -> Table:
        def of(cells: tuple[str, ...]) -> tuple[str, ...]:
            return (*cells[: self.left], *cells[some.start : some.stop])

        last = some.stop == len(self.columns)
        return replace(
            self, columns=of(heads), rows=tuple(map(of, self.rows)), notes=(), prose=self.prose and last, breaks=()
        )

    def within(self, width: int, gap: int = 2) -> Table:
        """The table with each cell in one line, and prose in as many rows as it takes to fit the width.

        >>> table = Table(columns=("", "why"), rows=(("a", "one two three"),), prose=True)
        >>> table.within(13).rows
        (('a', 'one two'), ('', 'three'))
        """
        rows = tuple(tuple(" ".join(cell.splitlines()) for cell in row) for row in self.rows)
        if self.prose:
            others = list(zip(self.columns, *rows, strict=True))[:-1]
            room = max(width - sum(max(map(_width, column)) + gap for column in others), 10)
            parts = [textwrap.wrap(row[-1], room) or [""] for row in rows]
            rows = tuple(
                (*(row[:-1] if i == 0 else [""] * len(others)), part)
                for row, wrapped in zip(rows, parts, strict=True)
                for i, part in enumerate(wrapped)
            )
        return replace(self, rows=rows)

    def to_left(self, column: int) -> bool:
        """Whether a column is set to the left."""
        return column < self.left or (self.prose and column == len(self.columns) - 1)

    def muted(self, row: tuple[str, ...]) -> tuple[int, ...]:
        """Which cells of a row are p-values from which nothing can be told: they are there, but not to be looked at.

        >>> Table(columns=("", "value", "p"), rows=(), verdict="cannot tell").muted(("recall", "0.5", "0.01"))
        (2,)
        """
        if self.verdict != "cannot tell" and str(VERDICTS["cannot tell"]) not in row:
            return ()
        return tuple(i for i, name in enumerate(self.columns) if i and "p" in (*name.split(), row[0]))

    def text(self) -> str:
        """Aligned plain text."""
        if self.breaks:
            parts = "\n\n".join(part.text() for part in self.parts())
            return "\n".join([parts, *([""] if self.notes else []), *self.notes])
        lines = [self.columns, *self.within(WIDTH).rows]
        widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
        body = [
            "  ".join(
                _pad(cell, width, left=self.to_left(i)) for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in lines
        ]
        return "\n".join([*([self.title, ""] if self.title else []), *body, *([""] if self.notes else []), *self.notes])

    def markdown(self) -> str:
        """A table in GitHub's Markdown; names that look like markup stay text."""
        rows = [self.columns, ("---",) * self.left + ("---:",) * (len(self.columns) - self.left), *self.rows]
        body = ["| " + " | ".join(_plain(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
        head = [f"**{_plain(self.title)}**", ""] if self.title else []
        return "\n".join([*head, *body, *(line for note in self.notes for line in ("", _plain(note)))])

    def latex(self, label: str = "") -> str:
        """A booktabs table to paste into a paper, with its notes as text below it."""
        return latex_part([self.latex_float(self.title, label)], self.notes)

    def latex_float(self, caption: str, label: str) -> str:
        """The table environment alone, with sentences in lines; in small print where it would be too wide."""
        widths = [max(map(len, column)) for column in zip(self.columns, *self.rows, strict=True)]
        sides = "".join(
            r"p{0.3\linewidth}" if width > SENTENCE else "l" if i < self.left else "r" for i, width in enumerate(widths)
        )
        points = sum(4.8 * min(width, SENTENCE) + 12 for width in widths)  # of a character, and between columns
        return "\n".join(
            [
                r"\begin{table}",
                r"\centering",
                *([rf"\caption{{{escaped(caption)}}}"] if caption else []),
                *([rf"\label{{{label}}}"] if label else []),
                r"\smallskip",  # or the rule would touch a caption above it
                *([r"\footnotesize\setlength{\tabcolsep}{3pt}"] if points > TEXT_WIDTH else []),
                rf"\begin{{tabular}}{{{sides}}}",
                r"\toprule",
                _row(self.columns),
                r"\midrule",
                *map(_row, self.rows),
                r"\bottomrule",
                r"\end{tabular}",
                r"\end{table}",
            ]
        )

    def html(self) -> str:
        """A table for a notebook."""
        head, pale = "".join(f"<th>{html.escape(c)}</th>" for c in self.columns), " style='opacity:.5'"
        body = "".join(
            "<tr>"
            + "".join(
                f"<th style='text-align:left'>{html.escape(c)}</th>"
                if i == 0
                else f"<td{pale * (i in self.muted(row))}>{html.escape(c)}</td>"
                for i, c in enumerate(row)
            )
            + "</tr>"
            for row in self.rows
        )
        caption = f"<caption style='text-align:left'>{html.escape(self.title)}</caption>" if self.title else ""
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return f"<div><table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}</div>"


def csv_text(columns: tuple[str, ...], rows: Iterable[Sequence[Any]]) -> str:
    """Comma-separated values with full digits; a missing or undefined number is an empty field.

    >>> print(csv_text(("a", "b", "c"), [(0.1, True, ["One.", "Two."]), (math.nan, None, [])]), end="")
    a,b,c
    0.1,true,One. Two.
    ,,
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(map(_field, row) for row in rows)
    return out.getvalue()


def csv_columns(columns: Mapping[str, Any]) -> str:
    """The same of columns by name."""
    values = [column.tolist() if isinstance(column, np.ndarray) else column for column in columns.values()]
    return csv_text(tuple(columns), zip(*values, strict=True))


def _field(cell: Any) -> Any:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    return " ".join(cell) if isinstance(cell, list | tuple | np.ndarray) else cell


def by_column(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """Rows as columns by name.

    >>> by_column(("a", "b"), [(1, "x"), (2, "y")]), by_column(("a",), [])
    ({'a': [1, 2], 'b': ['x', 'y']}, {'a': []})
    """
    return {name: [row[i] for row in rows] for i, name in enumerate(columns)}


def stacked(parts: Iterable[Mapping[str, list[Any]]]) -> dict[str, list[Any]]:
    """Rows of several results under the same columns.

    >>> stacked([{"a": [1]}, {"a": [2, 3]}])
    {'a': [1, 2, 3]}
    """
    first, *rest = parts
    return {name: [*column, *(value for part in rest for value in part[name])] for name, column in first.items()}


def _width(text: str) -> int:
    """Columns a text takes on a terminal: combining marks take none."""
    return sum(unicodedata.combining(c) == 0 for c in text)


def _pad(text: str, width: int, left: bool) -> str:
    space = " " * (width - _width(text))
    return text + space if left else space + text


_MARKUP = re.compile(r"[\\`*<$~]|(?<![^\W_])_|_(?![^\W_])|\](?=\()")
"""What Markdown may take for markup, but no underscore within a word, and no brackets of intervals."""


def _plain(text: str) -> str:
    return _MARKUP.sub(lambda found: "\\" + found[0], " ".join(text.split()))
