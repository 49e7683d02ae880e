"""Several detectors on one page: side by side in an overview, each with the report that it would have alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nofluke.data.paths import write_file
from nofluke.errors import InputError
from nofluke.inference.compare import error_of
from nofluke.inference.report import SideBySide
from nofluke.show.report import Parts, Source, check_page, check_target, parts_of
from nofluke.show.several.origin import own_calls, own_source
from nofluke.show.several.page import render
from nofluke.show.several.rows import best_in_words, chance_in_words, rows_of

__all__ = ["check_page", "check_target", "make_several_page", "verdict_in_words", "write_several"]


def write_several(
    found: SideBySide,
    path: str | Path,
    *,
    title: str | None = None,
    source: Source | None = None,
    metrics: Any = (),
) -> Path:
    """Write a page about several detectors; `nofluke.report` has what the arguments mean."""
    target = check_target(path)
    page = make_several_page(found, title=title, source=source, metrics=metrics)
    write_file(target, page, f"path={str(path)!r}")
    return target


def make_several_page(
    found: SideBySide,
    *,
    title: str | None = None,
    source: Source | None = None,
    metrics: Any = (),
) -> str:
    """The page that `write_several` writes, as text."""
    check_page(title)
    rows = rows_of(found)
    parts: dict[str, Parts] = {}
    for row in rows:
        try:
            own = own_source(source, row.detector)
            made = parts_of(row.result, title=title, source=own, metrics=metrics, label=row.detector)
        except InputError as error:
            raise error_of(row.detector, error) from None
        made.payload["next"] = own_calls(made.payload["next"], row.detector)
        parts[row.detector] = made
    return render(found, rows, parts, title=title, source=source)


def verdict_in_words(found: SideBySide) -> str:
    """Which detector is best, and which are better than chance."""
    return f"{best_in_words(found)}\n{chance_in_words(rows_of(found))}"
