"""Results on the terminal, in a pipe or in a file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nofluke.data.paths import expanded, write_file
from nofluke.errors import InputError
from nofluke.progress import is_watched

if TYPE_CHECKING:
    from nofluke.text.tables import Table

_ENDINGS = {".json": "json", ".csv": "csv", ".md": "markdown", ".tex": "latex"}


def form_of(output: str | None) -> str:
    """The format that the ending of a file asks for; text where it asks for none."""
    return _ENDINGS.get(Path(output).suffix.lower(), "text") if output else "text"


def rendered(result: Any, form: str, **more: Any) -> str:
    if form == "json":
        return json.dumps(result.to_dict(**more), indent=2, ensure_ascii=False)
    if form == "csv":
        return str(result.to_csv(**more)).rstrip("\n")
    return str(getattr(result.table(**more), form)())


def write(text: str, output: str | None, terminal: Table | None = None) -> None:
    """Print, in colour where a person looks on; or write to a file."""
    if output is not None:
        write_file(expanded(output, "--output"), text + "\n", f"--output {output}")
    elif getattr(sys.stdout, "closed", sys.stdout is None):
        raise InputError("standard output is closed, so the result cannot be printed: pass -o FILE.")
    elif terminal is not None and is_watched(sys.stdout):
        from nofluke.show.terminal import show

        show(terminal)
    else:
        click.echo(text)
