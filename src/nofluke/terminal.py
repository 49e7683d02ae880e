"""A result on a terminal, with a little colour; rich is imported only here."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from nofluke.tables import Table


def show(table: Table, console: Console | None = None) -> None:
    """Print a table with its title above and its notes below."""
    console = console or Console(highlight=False)
    grid = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for i, name in enumerate(table.columns):
        grid.add_column(Text(name), justify="left" if i == 0 else "right")
    for row in table.rows:
        grid.add_row(*(Text(cell, style="bold cyan" if i == 1 else "") for i, cell in enumerate(row)))
    if table.title:
        console.print(Text(table.title, style="dim"))
    console.print(grid)
    for note in table.notes:
        console.print(Text(note, style="yellow" if note.startswith("Note:") else ""))
