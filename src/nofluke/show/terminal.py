"""A result on a terminal: tables that fit its width, verdicts in their colours; rich is imported only here."""

from __future__ import annotations

from dataclasses import replace

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from nofluke.errors import WIDTH
from nofluke.text.signs import VERDICTS
from nofluke.text.tables import Table

GAP = 2  # columns between two cells
LEAST_NAME = 20  # letters that a name keeps on any terminal
_STYLES = {str(sign): f"bold {sign.terminal}" for sign in VERDICTS.values()}


def show(table: Table, console: Console | None = None) -> None:
    """Print a table with its title above and its notes below."""
    console = console or Console(highlight=False)
    prose = min(WIDTH, console.width)
    if table.title:
        console.print(Text(table.title, style="dim"), width=prose)
    console.print()
    for part in _shortened(table, max(console.width // 2, LEAST_NAME)).parts(console.width, GAP, anywhere=True):
        _show_part(part.within(prose, gap=GAP), console)
        console.print()
    for i, note in enumerate(table.notes):
        if table.verdict and i == 0:
            sign = VERDICTS[table.verdict]
            told = Text(f"{sign.symbol} {note}", style=f"bold {sign.terminal}")
        else:
            told = Text(note, style="yellow" if note.startswith("Note:") else "")
        console.print(told, width=prose)


def _shortened(table: Table, longest: int) -> Table:
    """The table with names that leave room for their numbers; numbers are never cut, or they would be others."""

    def short(name: str) -> str:
        return name if len(name) <= longest else f"{name[: longest - 1]}…"

    return replace(table, rows=tuple((*map(short, row[: table.left]), *row[table.left :]) for row in table.rows))


def _show_part(table: Table, console: Console) -> None:
    """Lines of cells under their heads."""
    lines = [table.columns, *table.rows]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    for number, row in enumerate(lines):
        line = Text(no_wrap=True, overflow="ignore")
        muted = table.muted(row) if number else ()
        for i, (cell, width) in enumerate(zip(row, widths, strict=True)):
            emphasis = "bold" if number == 0 or i == table.left else ""
            told = Text(cell, style="dim" if i in muted else _STYLES.get(cell, emphasis))
            told.align("left" if table.to_left(i) else "right", width)
            line.append_text(told)
            line.append(" " * GAP if i + 1 < len(row) else "")
        line.rstrip()
        console.print(line, crop=False)
        if number == 0:
            console.print(Text("─" * min(sum(widths) + GAP * (len(widths) - 1), console.width), style="dim"))
