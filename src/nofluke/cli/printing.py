"""Results on the terminal, in a pipe or in a file."""

from __future__ import annotations

import io
import re
import sys
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from nofluke.cli.command import advising, form_of
from nofluke.cli.options import PLOT
from nofluke.data.paths import expanded, write_file
from nofluke.errors import WIDTH, InputError
from nofluke.progress import has_rich, is_watched
from nofluke.text.signs import VERDICTS

if TYPE_CHECKING:
    from rich.console import Console

    from nofluke.text.tables import Table


def extras(options: dict[str, Any]) -> dict[str, Any]:
    """What a result is asked to tell beside itself."""
    asked = {"f1": "test"} if options["test_f1"] else {}
    return asked | ({"statistics": options["statistics"]} if options["statistics"] else {})


def write_result(result: Any, form: str | None, output: str | None, **more: Any) -> None:
    """A result in the form asked for, else the one that the ending of the file asks for; ``more`` goes into it.

    Where --plot asks for its figure, that is drawn first.
    """
    context = click.get_current_context()
    place = context.meta.get(PLOT)
    if place is not None:
        write_plot(result, place)
    _write_text(result, form or form_of(output), output, context, **more)
    if place is not None:
        click.echo(f"Wrote {place}", err=True)


def write_plot(result: Any, place: str) -> None:
    """The figure of a result, as a file of the kind that its ending says."""
    from nofluke.plot.panels import figure_of

    if not hasattr(result, "plot"):
        raise InputError(problem=f"--plot {place}: this result has no figure", remedy="leave --plot out")
    path, drawn = expanded(place, "--plot"), io.BytesIO()
    figure_of(result.plot).savefig(drawn, format=path.suffix[1:].lower(), dpi=200)
    write_file(path, drawn.getvalue(), f"--plot {place}")


def _write_text(result: Any, form: str, output: str | None, context: click.Context, **more: Any) -> None:
    from nofluke.text.exports import json_text, render, reworded, with_text

    said = advising(context)
    if form == "json":
        write(json_text(with_text(result._record(**more), said)), output)
        return
    if form not in ("text", "junit"):
        write(render(result, form, said=said, **more).rstrip("\n"), output)
        return
    table = reworded(result.table(**more), said)
    if form == "junit":
        from nofluke.cli.junit import as_junit

        write(as_junit(result, context, table.text(), **more), output)
    elif output is None and is_watched(sys.stdout) and has_rich():
        show(table)
    else:
        write(replace(reworded(table, wrapped), title=wrapped(table.title)).text(), output)


def wrapped(text: str, hanging: int = 0) -> str:
    """Prose in lines of at most 100 characters; ``hanging`` indents all but the first.

    It breaks between words, but neither in p = 0.005 nor between an option and its value.
    """
    glued = re.sub(r" (?=[=±] )|(?<= [=±]) ", "\0", re.sub(r"(--[a-z][\w-]*) (?=[\w'])", "\\1\0", text))
    indent = " " * hanging
    lines = textwrap.fill(glued, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return lines.replace("\0", " ")


def write(text: str, output: str | None) -> None:
    """Print, or write to a file."""
    if output is not None:
        write_file(expanded(output, "--output"), text + "\n", f"--output {output}")
    elif getattr(sys.stdout, "closed", sys.stdout is None):
        raise InputError(problem="standard output is closed, so the result cannot be printed", remedy="pass -o FILE")
    else:
        click.echo(text)


# ---- on a terminal: tables that fit its width, and verdicts in their colours, by rich

GAP = 2  # columns between two cells
LEAST_NAME = 20  # letters that a name keeps on any terminal
_STYLES = {str(sign): f"bold {sign.terminal}" for sign in VERDICTS.values()}


def show(table: Table, console: Console | None = None) -> None:
    """Print a table with its title above and its notes below."""
    from rich.console import Console
    from rich.text import Text

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
    from rich.cells import cell_len
    from rich.text import Text

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


# ---- exit codes of a gate


def gate_code(result: Any, options: dict[str, Any]) -> int:
    """The exit code that the gate asks for, with one line on standard error where it is not 0."""
    from nofluke.cli.junit import gate_checks, least
    from nofluke.inference.gate import first_problem

    asked = options["gate"] or options["gate_on"] or least(options)
    if not asked:
        return 0
    return _said(first_problem(check.found for check in gate_checks(result, options)))


def verdict_code(result: Any) -> int:
    """The exit code of a gate that looks at nothing but the verdict, of a study at that of every detector."""
    from nofluke.inference.gate import gate_by_verdict, gate_by_verdicts

    if hasattr(result, "rows"):
        return _said(gate_by_verdicts({row.label: row for row in result.rows}))
    return _said(gate_by_verdict(result))


def _said(found: Any) -> int:
    if found.code:
        click.echo(f"nofluke: gate: {advising(click.get_current_context())(found.why)}", err=True)
    return int(found.code)
