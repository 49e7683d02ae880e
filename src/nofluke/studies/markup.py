"""Tables of a leaderboard for a README and for a paper."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from nofluke.text.tables import Table

_MARKUP = re.compile(r"[\\`*<$~]|(?<![^\W_])_|_(?![^\W_])|\](?=\()")
"""What Markdown may take for markup. Not an underscore within a word, nor brackets of intervals: they are text as they
are."""


def as_markdown(table: Table) -> str:
    r"""A table in GitHub's Markdown, where every name and note stays text.

    >>> print(as_markdown(Table(columns=("detector", "F1"), rows=(("my_x$ *", "0.5 [0.4, 0.6]"),), notes=("* best",))))
    | detector | F1 |
    | --- | ---: |
    | my_x\$ \* | 0.5 [0.4, 0.6] |
    <BLANKLINE>
    \* best
    """
    plain = replace(
        table,
        title=_escaped(table.title),
        rows=tuple(tuple(map(_escaped, row)) for row in table.rows),
        notes=tuple(map(_escaped, table.notes)),
    )
    return plain.markdown()


def _escaped(text: str) -> str:
    return _MARKUP.sub(lambda found: "\\" + found[0], " ".join(text.split()))


def as_latex(tables: Mapping[str, Table]) -> str:
    r"""Tables of one study in one file; notes stand below the first, and the others refer to it.

    >>> one = Table(title="Two", columns=("detector", "F1"), rows=(("a", "0.5"),), notes=("Null: auto.",))
    >>> lines = as_latex({"F1": one, "recall": one}).splitlines()
    >>> print("\n".join(line for line in lines if "tab:" in line or "%" in line))
    % \usepackage{booktabs}
    \label{tab:leaderboard}
    \label{tab:leaderboard-recall}
    Notes: see Table~\ref{tab:leaderboard}.\par
    """
    found = [r"% \usepackage{booktabs}"]
    for i, (name, table) in enumerate(tables.items()):
        titled = replace(table, title=f"{table.title}, {name}", notes=() if i else table.notes)
        label = f"tab:leaderboard-{name}" if i else "tab:leaderboard"
        found.append(titled.latex(label, see="tab:leaderboard" if i else ""))
    return "\n\n".join(found)
