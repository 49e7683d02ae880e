"""Where pages and the files beside them are written."""

from __future__ import annotations

from pathlib import Path

from nofluke.data.paths import check_place, expanded, write_file
from nofluke.errors import InputError


def prepared(output: str | Path) -> Path:
    """The directory, made if it does not exist, and known to take a page: before the work, not after it."""
    directory = expanded(output, "output")
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"output={str(output)!r} is no directory to write to ({error.strerror}): choose another."
        ) from None
    check_place(directory / "index.html", str(directory / "index.html"))
    return directory


def written(directory: Path, contents: dict[str, bytes]) -> tuple[str, ...]:
    """Write all files; return their names, sorted."""
    for name, data in contents.items():
        write_file(directory / name, data, str(directory / name))
    return tuple(sorted(contents))
