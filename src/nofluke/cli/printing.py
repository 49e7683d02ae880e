"""Results on the terminal, in a pipe or in a file."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from nofluke.cli.wording import advice
from nofluke.data.paths import expanded, write_file
from nofluke.errors import InputError
from nofluke.progress import is_watched

_ENDINGS = {".json": "json", ".csv": "csv", ".md": "markdown", ".tex": "latex", ".xml": "junit"}


def form_of(output: str | None) -> str:
    """The format that the ending of a file asks for; text where it asks for none."""
    return _ENDINGS.get(Path(output).suffix.lower(), "text") if output else "text"


def extras(options: dict[str, Any]) -> dict[str, Any]:
    """What a result is asked to tell beside itself."""
    asked = {"f1": "test"} if options["test_f1"] else {}
    return asked | ({"statistics": options["statistics"]} if options["statistics"] else {})


def write_result(result: Any, form: str | None, output: str | None, **more: Any) -> None:
    """A result in the form asked for, else the one that the ending of the file asks for; ``more`` goes into it."""
    from nofluke.text.exports import render

    form = form or form_of(output)
    if form == "junit":
        from nofluke.cli.junit import as_junit

        table = result.table(**more)
        table = replace(table, notes=tuple(map(advice, table.notes)))
        write(as_junit(result, click.get_current_context(), table.text(), **more), output)
        return
    if form != "text":
        write(render(result, form, said=advice, **more).rstrip("\n"), output)
        return
    table = result.table(**more)
    table = replace(table, notes=tuple(map(advice, table.notes)))
    if output is None and is_watched(sys.stdout):
        from nofluke.show.terminal import show

        show(table)
    else:
        write(table.text(), output)


def write(text: str, output: str | None) -> None:
    """Print, or write to a file."""
    if output is not None:
        write_file(expanded(output, "--output"), text + "\n", f"--output {output}")
    elif getattr(sys.stdout, "closed", sys.stdout is None):
        raise InputError("standard output is closed, so the result cannot be printed: pass -o FILE.")
    else:
        click.echo(text)


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
        click.echo(f"nofluke: gate: {found.why}", err=True)
    return int(found.code)
