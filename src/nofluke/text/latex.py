"""Text and tables as LaTeX sets them: special characters escaped, booktabs rules, notes outside the float."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

PACKAGES = r"% requires \usepackage{booktabs}"
NOT_ASCII = "% has characters beyond ASCII: compile with XeLaTeX or LuaLaTeX, and a font that has them"

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


def latex_float(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, left: int, caption: str = "", label: str = ""
) -> str:
    """One table environment: the first ``left`` columns to the left, the others to the right, sentences in lines."""
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            *([rf"\caption{{{escaped(caption)}}}"] if caption else []),
            *([rf"\label{{{label}}}"] if label else []),
            r"\smallskip",  # or the rule would touch a caption above it
            *([r"\footnotesize\setlength{\tabcolsep}{3pt}"] if _points(columns, rows) > TEXT_WIDTH else []),
            rf"\begin{{tabular}}{{{_alignment(columns, rows, left)}}}",
            r"\toprule",
            _row(columns),
            r"\midrule",
            *map(_row, rows),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def latex_part(floats: Iterable[str], notes: Iterable[str]) -> str:
    """What goes into a paper: the packages needed as a comment, the tables, then each note as a paragraph."""
    body = "\n\n".join([*floats, *map(escaped, notes)])
    return "\n".join([PACKAGES, *([] if body.isascii() else [NOT_ASCII]), body])


def _alignment(columns: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    return "".join(
        r"p{0.3\linewidth}" if width > SENTENCE else "l" if i < left else "r"
        for i, width in enumerate(_widths(columns, rows))
    )


def _widths(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(columns, *rows, strict=True)]


def _points(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> float:
    """About how wide a table comes out in ten-point type, in points: 4.8 a character, and 12 between columns."""
    return sum(4.8 * min(width, SENTENCE) + 12 for width in _widths(columns, rows))


def _row(cells: Sequence[str]) -> str:
    return " & ".join(map(escaped, cells)) + r" \\"
