"""A result on a terminal, with a little colour; rich is imported only here."""

from __future__ import annotations

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from nofluke.errors import WIDTH
from nofluke.text.tables import Table

_EMPHASIS = "bold cyan"


def show(table: Table, console: Console | None = None) -> None:
    """Print a table with its title above and its notes below."""
    console = console or Console(highlight=False)
    if table.title:
        console.print(Text(table.title, style="dim"))
    for part in table.parts():
        _show_part(part.within(min(WIDTH, console.width), gap=3), console)
    for note in table.notes:
        console.print(Text(note, style="yellow" if note.startswith("Note:") else ""), width=min(WIDTH, console.width))


def _show_part(table: Table, console: Console) -> None:
    widths = [max(map(cell_len, column)) for column in zip(table.columns, *table.rows, strict=True)]
    if sum(widths) + 3 * len(widths) <= console.width:
        console.print(_grid(table))
    else:
        # rich would cut cells to fit, and a cut number reads as another number
        _stack(table, console)


def _grid(table: Table) -> RichTable:
    grid = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for i, name in enumerate(table.columns):
        grid.add_column(Text(name), justify="left" if table.to_left(i) else "right")
    for row in table.rows:
        grid.add_row(*(Text(cell, style=_EMPHASIS if i == 1 else "") for i, cell in enumerate(row)))
    return grid


def _stack(table: Table, console: Console) -> None:
    """One line for each cell, for a terminal too narrow for the table."""
    console.print()
    for row in table.rows:
        console.print(Text(f"{table.columns[0]} {row[0]}".strip(), style="bold"))
        for i, (name, cell) in enumerate(zip(table.columns, row, strict=True)):
            if i and cell:
                console.print(Text.assemble(f"  {name}: ", (cell, _EMPHASIS if i == 1 else "")))
    console.print()
