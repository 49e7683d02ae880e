"""Endings of files to write: they say the format, and an unknown one is refused before any work."""

from __future__ import annotations

from pathlib import Path

import click

from nofluke.cli.completion import PAGE
from nofluke.errors import InputError

FORMATS = ("text", "json", "csv", "markdown", "latex")
ENDINGS = {".txt": "text", ".json": "json", ".csv": "csv", ".md": "markdown", ".tex": "latex", ".xml": "junit"}
FILES = (*ENDINGS, ".html", ".htm", ".tsv", ".parquet", ".xlsx", ".pdf", ".zip", ".gz", ".jsonl")
"""Endings of files, which no folder for results is likely to have."""
_PAGE = (".html", ".htm")


def form_of(output: str | None) -> str:
    """The format that the ending of a file asks for; text where it has none."""
    return ENDINGS.get(Path(output).suffix.lower(), "text") if output else "text"


def check_ending(context: click.Context) -> None:
    """Refuse an ending that stands for no format of the command, unless --format says what to write."""
    options = {option.name: option for option in context.command.params}
    forms = getattr(options["form"].type, "choices", ()) if "form" in options else ()
    for name in ("output", "report"):
        place = context.params.get(name)
        page = name in options and options[name].type is PAGE
        known = _PAGE if page else tuple(ending for ending, form in ENDINGS.items() if form in forms)
        if known and isinstance(place, str) and (page or not context.params["form"]):
            ending = Path(place).suffix
            if ending and ending.lower() not in known:
                who = context.info_name if name == "output" else options[name].opts[-1]
                more = "" if page else ", or pass --format"
                raise InputError(
                    problem=f"{options[name].opts[-1]} {place}: {who} cannot write {ending}",
                    remedy=f"use {', '.join(known[:-1])} or {known[-1]}{more}",
                )
