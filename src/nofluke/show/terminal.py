"""A result on a terminal: tables that fit its width, verdicts in their colours; rich is imported only here."""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from nofluke.errors import WIDTH
from nofluke.text.signs import VERDICTS
from nofluke.text.tables import Table

GAP = 2  # columns between two cells
_STYLES = {str(sign): f"bold {sign.terminal}" for sign in VERDICTS.values()}
_UNTOLD = str(VERDICTS["cannot tell"])
_EMPHASIS = "bold"


def show(table: Table, console: Console | None = None) -> None:
    """Print a table with its title above and its notes below."""
    console = console or Console(highlight=False)
    prose = min(WIDTH, console.width)
    if table.title:
        console.print(Text(table.title, style="dim"), width=prose)
    console.print()
    for part in table.parts(console.width, GAP, anywhere=True):
        _show_part(part.within(prose, gap=GAP), console)
        console.print()
    for i, note in enumerate(table.notes):
        if table.verdict and i == 0:
            sign = VERDICTS[table.verdict]
            told = Text(f"{sign.symbol} {note}", style=f"bold {sign.terminal}")
        else:
            told = Text(note, style="yellow" if note.startswith("Note:") else "")
        console.print(told, width=prose)


def _show_part(table: Table, console: Console) -> None:
    """Lines of cells under their heads; names are shortened where they leave no room, numbers never."""
    lines = [table.columns, *table.rows]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    over = sum(widths) + GAP * (len(widths) - 1) - console.width
    widths[0] = max(min(widths[0], 12), widths[0] - max(over, 0))
    for number, row in enumerate(lines):
        line = Text(no_wrap=True, overflow="ignore")
        muted = number > 0 and (table.verdict == "cannot tell" or _UNTOLD in row)
        for i, (cell, width) in enumerate(zip(row, widths, strict=True)):
            cell = cell if cell_len(cell) <= width else f"{cell[: width - 1]}…"
            told = Text(cell, style=_style(table, number, i, muted=muted))
            told.align("left" if table.to_left(i) else "right", width)
            line.append_text(told)
            line.append(" " * GAP if i + 1 < len(row) else "")
        line.rstrip()
        console.print(line, crop=False)
        if number == 0:
            console.print(Text("─" * min(sum(widths) + GAP * (len(widths) - 1), console.width), style="dim"))


def _style(table: Table, number: int, i: int, *, muted: bool) -> str:
    """Heads are bold, verdicts have their colours; p-values are muted where nothing can be told from them."""
    if number == 0:
        return "bold"
    cell = table.rows[number - 1][i]
    if muted and "p" in (*table.columns[i].split(), table.rows[number - 1][0]):
        return "dim"
    return _STYLES.get(cell, _EMPHASIS if i == table.left else "")
