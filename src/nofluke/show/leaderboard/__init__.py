"""The leaderboard: one self-contained page with the table, the map of cells and all pairs, to open, send or print."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from nofluke.data.paths import write_file
from nofluke.errors import InputError
from nofluke.show.kit import has_kit, written
from nofluke.show.leaderboard.page import render
from nofluke.studies.cell_map import CODES, CellMap, map_cells
from nofluke.studies.leaderboard import Leaderboard, Pairs
from nofluke.studies.store import Values

# ---- The numbers behind the map, for the page's script: what each cell was evaluated to, compactly

_PLACE = ("series", "group", "detector")  # which the map knows


def make_payload(board: Leaderboard, cells: Values, shown: CellMap) -> dict[str, Any]:
    """Plain values: names, the map, the columns of the cells that it shows, and pairs."""
    rows = [row for row in shown.rows.ravel().tolist() if row >= 0]
    place = {row: i for i, row in enumerate(rows)}
    texts: dict[str, int] = {}
    columns = {
        name: _column([values[row] for row in rows], texts) for name, values in cells.items() if name not in _PLACE
    }
    reasons = {f"{i},{j}": texts.setdefault(why, len(texts)) for (i, j), why in shown.reasons.items()}
    groups = list(dict.fromkeys(shown.groups))
    number = {name: i for i, name in enumerate(groups)}
    grouped = shown.kind == "groups"
    return {
        "alpha": board.about.alpha,
        "rank_by": board.rank_by,
        "lower": sorted(board.lower),
        "detectors": list(shown.detectors),
        "kind": shown.kind,
        "columns": list(shown.columns),
        "groups": groups,
        "group_of": [number[name] for name in shown.groups],
        "words": list(CODES),
        "codes": None if grouped else shown.codes.tolist(),
        "counts": shown.counts.tolist() if grouped else None,
        "values": [[_number(value) for value in row] for row in shown.values.tolist()],
        "rows": [[place.get(row, -1) for row in line] for line in shown.rows.tolist()],
        "cells": columns,
        "reasons": reasons,
        "texts": list(texts),
        "pairs": None if board.pairs is None else _pairs(board.pairs),
    }


def _column(values: list[Any], texts: dict[str, int]) -> dict[str, Any]:
    """Texts as places in one list for all, since most of them come again and again; numbers in six digits."""
    if any(isinstance(value, str) for value in values):
        return {"text": [texts.setdefault(str(value), len(texts)) for value in values]}
    if any(isinstance(value, list | tuple | np.ndarray) for value in values):
        return {"list": [[texts.setdefault(str(text), len(texts)) for text in value] for value in values]}
    return {"number": [_number(value) for value in values]}


def _number(value: Any) -> float | int | None:
    number = None if value is None else float(value)
    if number is None or not math.isfinite(number):
        return None
    return int(number) if number.is_integer() and abs(number) < 2**53 else float(f"{number:.6g}")


def _pairs(pairs: Pairs) -> dict[str, Any]:
    return {
        measure: {
            name: [[_number(value) for value in row] for row in getattr(matrix, name).tolist()]
            for name in ("difference", "low", "high", "pvalue", "corrected")
        }
        for measure, matrix in pairs.measures.items()
    }


__all__ = ["make_leaderboard_page", "write_leaderboard"]


def write_leaderboard(board: Leaderboard, path: str | Path, *, cells: Values, failed: Values) -> Path:
    """Write a page about a study: sortable table, dot plot, map of cells, pairs; a click on a cell opens its numbers.

    The page needs no network and no other package. Up to 12,000 cells are in it with all their numbers; of more, the
    map shows groups, or a sample of the series, and says so. The same input gives the same bytes.

    Parameters
    ----------
    board : Leaderboard
    path : str or Path
        The HTML file to write; a leading ``~`` is your home. An older page stays until the new one is complete.
    cells, failed : mapping of str to sequence
        The tables `nofluke.studies.store.CELLS` and ``FAILED`` of the study.

    Returns
    -------
    Path
        Where the page is.
    """
    return written(path, lambda: make_leaderboard_page(board, cells=cells, failed=failed))


def make_leaderboard_page(board: Leaderboard, *, cells: Values, failed: Values) -> str:
    """The page that `write_leaderboard` writes, as text."""
    if not isinstance(board, Leaderboard):
        raise InputError(
            argument="board",
            problem=f"must be a Leaderboard, got {type(board).__name__}",
            remedy="pass that of a study",
        )
    shown = map_cells(board.detectors, cells, failed)
    return render(board, failed, shown, make_payload(board, cells, shown))


# ---- A leaderboard as files: for spreadsheets, for Markdown, for a paper, and as a page


def write_files(board: Leaderboard, folder: Path, *, cells: Values, failed: Values) -> None:
    """Write leaderboard.csv, .md, .tex and .html to a folder, which is made where it is not there.

    Without the packages of the extra `report` there is no page; whoever installs them and resumes gets it.
    """
    files = {
        "leaderboard.csv": board.to_csv(),
        "leaderboard.md": board.to_markdown() + "\n",
        "leaderboard.tex": board.to_latex() + "\n",
    }
    if has_kit():
        files["leaderboard.html"] = make_leaderboard_page(board, cells=cells, failed=failed)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            argument="path",
            value=str(folder),
            problem=f"cannot be made ({error.strerror})",
            remedy="choose another place",
        ) from None
    for name, text in files.items():
        write_file(folder / name, text, str(folder / name))
