"""Where pages and the files beside them are written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nofluke.data.paths import check_place, expanded, write_file
from nofluke.errors import InputError


@contextmanager
def prepared(output: str | Path) -> Iterator[Path]:
    """The directory, made if it does not exist, and known to take a page: before the work, not after it.

    What was made goes again if the work fails before anything is written.
    """
    directory = expanded(output, "output")
    new = [place for place in (directory, *directory.parents) if not os.path.exists(place)]
    try:
        _make(directory, output)
        check_place(directory / "index.html", str(directory / "index.html"))
        yield directory
    except BaseException:
        for place in new:
            with suppress(OSError):  # it may hold something by now, or was never made
                place.rmdir()
        raise


def _make(directory: Path, output: str | Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            argument="output",
            value=str(output),
            problem=f"is not a writable directory ({error.strerror})",
            remedy="choose another",
        ) from None


def written(directory: Path, contents: dict[str, bytes]) -> tuple[str, ...]:
    """Write all files; return their names, sorted."""
    for name, data in contents.items():
        write_file(directory / name, data, str(directory / name))
    return tuple(sorted(contents))
