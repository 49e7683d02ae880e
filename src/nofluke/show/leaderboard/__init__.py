"""The leaderboard: one self-contained page with the table, the map of cells and all pairs, to open, send or print."""

from __future__ import annotations

from pathlib import Path

from nofluke.data.paths import check_place, expanded, write_file
from nofluke.errors import InputError, passed
from nofluke.show.leaderboard.page import render
from nofluke.show.leaderboard.payload import make_payload
from nofluke.studies.cell_map import map_cells
from nofluke.studies.leaderboard import Leaderboard
from nofluke.studies.store import Values

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
    target = expanded(path, "path")
    check_place(target, passed("path", str(path)))
    write_file(target, make_leaderboard_page(board, cells=cells, failed=failed), passed("path", str(path)))
    return target


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
