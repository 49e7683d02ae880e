"""Which files a study is made of: one, a folder, a glob, or a list of these."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nofluke.data.paths import expanded
from nofluke.errors import InputError, arg, say, shortened, shown
from nofluke.studies.sources.naming import without_ending

_LAYOUTS = {
    "anomaly_scores.ts": "timeeval",
    "combined_windows.json": "nab",
    "combined_labels.json": "nab",
    ".npy": "tsb-ad",
}


def found_files(source: Any) -> tuple[list[Path], Path]:
    """The files, sorted by path, each once, and the folder that all of them are below."""
    several = source if isinstance(source, list | tuple) else [source]
    if not several:
        raise InputError(argument="source", problem="is an empty list", remedy="pass a file, a folder or a glob")
    paths: dict[Path, None] = {}
    for one in several:
        paths.update(dict.fromkeys(_of_one(one)))
    every = sorted(paths)
    if len(several) == 1 and (root := expanded(several[0], "source").absolute()).is_dir():
        return every, root
    return every, Path(os.path.commonpath([path.parent for path in every]))


def _of_one(source: Any) -> list[Path]:
    path = expanded(source, "source").absolute()
    if path.is_dir():
        every = [Path(folder) / name for folder, _, names in os.walk(path) for name in names]
        found = [file for file in every if is_table(file) and not _is_hidden(file.relative_to(path))]
        if not found:
            names = {file.name for file in every} | {file.suffix for file in every}
            fitting = next((layout for name, layout in _LAYOUTS.items() if name in names), None)
            remedy: str = say("pass {}", arg("layout", fitting)) if fitting else "pass a folder of Parquet or CSV files"
            if fitting is None and ".txt" in names:
                remedy = f"name its text files by a pattern, {shown(f'{source}/*.txt')}"
            raise InputError(argument="source", value=str(source), problem="has no table in it", remedy=remedy)
        return found
    if path.exists():
        return [path]
    if glob.has_magic(str(path)):
        if not (matching := [Path(name) for name in glob.glob(str(path), recursive=True)]):
            raise InputError(
                argument="source",
                value=str(source),
                problem="matches no file",
                remedy="check the pattern and the folder",
            )
        return [file for file in matching if file.is_file()]
    raise InputError(problem=f"{shortened(str(source), 300)}: there is no such file", remedy="check the path")


def is_table(path: Path) -> bool:
    """Whether a file's name ends as tables do; text may be anything, and must be named."""
    name = path.name.lower()
    return without_ending(name) != name and not name.removesuffix(".gz").endswith((".json", ".txt"))


def _is_hidden(path: Path) -> bool:
    """What programs leave beside their files: _SUCCESS, .part.crc, and all in folders that begin so."""
    return any(part.startswith((".", "_")) for part in path.parts)


def check_apart(out: Any, source: Any) -> None:
    """Refuse to write into a folder that is read: the next run would read the results as series."""
    if out is None:
        return
    place = expanded(out, "out").resolve()
    for one in source if isinstance(source, list | tuple) else [source]:
        if isinstance(one, str | Path) and place.is_relative_to(expanded(one, "source").resolve()):
            raise InputError(
                argument="out",
                value=str(out),
                problem=f"lies in the source {shown(str(one))}, where it would be read as data",
                remedy="choose another place",
            )


def folder_of(source: Any, name: str, remedy: str) -> Path:
    """A folder that must be there."""
    if source is None:
        raise InputError(argument=name, problem="is missing", remedy=remedy)
    path = expanded(source, name).absolute()
    if not path.is_dir():
        raise InputError(argument=name, value=str(source), problem="is not a folder", remedy=remedy)
    return path


def subfolders(path: Path) -> Sequence[Path]:
    """Folders in a folder, sorted."""
    return sorted(found for found in path.iterdir() if found.is_dir() and not _is_hidden(Path(found.name)))
