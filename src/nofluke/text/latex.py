"""Text and tables as LaTeX sets them: special characters escaped, booktabs rules, notes in the text around the float."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

PACKAGES = r"% requires \usepackage{booktabs}"
NOT_ASCII = "% has characters beyond ASCII: compile with XeLaTeX or LuaLaTeX, and a font that has them"

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
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, left: int, caption: str = "", label: str = ""
) -> str:
    """One table environment; the first ``left`` columns are set to the left, the others to the right."""
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            *([rf"\caption{{{escaped(caption)}}}"] if caption else []),
            *([rf"\label{{{label}}}"] if label else []),
            rf"\begin{{tabular}}{{{'l' * left}{'r' * (len(columns) - left)}}}",
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
    """What goes into a paper: the packages needed as a comment, the tables, then each note as a paragraph of the text."""
    body = "\n\n".join([*floats, *map(escaped, notes)])
    return "\n".join([PACKAGES, *([] if body.isascii() else [NOT_ASCII]), body])


def _row(cells: Sequence[str]) -> str:
    return " & ".join(map(escaped, cells)) + r" \\"
