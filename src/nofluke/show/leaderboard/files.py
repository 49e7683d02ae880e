"""A leaderboard as files: for spreadsheets, for Markdown, for a paper, and as a page."""

from __future__ import annotations

from pathlib import Path

from nofluke.data.paths import write_file
from nofluke.errors import InputError
from nofluke.show.kit import has_kit
from nofluke.show.leaderboard import make_leaderboard_page
from nofluke.studies.leaderboard import Leaderboard
from nofluke.studies.store import Values


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
