"""What changes whenever the inputs of a study do: sums of small files and of arrays, sizes and times of large files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray
from nofluke.data.columns import Pairs
from nofluke.studies.sources.naming import check_name

HASHED = 512 << 20
"""Up to this many bytes in all, files are compared by content: touching or copying them is not a change."""
LISTED = 1_000


def of_files(paths: Sequence[Path], root: Path) -> dict[str, Any]:
    """Files by their paths below a folder; one sum for all of them where there are many."""
    sizes = [path.stat().st_size for path in paths]
    told = _by_content if sum(sizes) <= HASHED else _by_time
    each = {below(path, root): told(path) for path in paths}
    for name in each:
        check_name(name, "source")
    listed: dict[str, Any] = each if len(each) <= LISTED else {"sum": _sum(repr(sorted(each.items())).encode())}
    return {"count": len(paths), "bytes": sum(sizes), "files": listed}


def of_arrays(arrays: Mapping[str, AnyArray]) -> dict[str, Any]:
    """A sum for each column of a frame."""
    return {"columns": {name: _of_array(values) for name, values in arrays.items()}}


def of_values(values: Mapping[str, Any]) -> str:
    """A sum of arrays and ranges by name."""
    told = [
        (name, value.starts.tolist(), value.ends.tolist(), value.aware)
        if isinstance(value, Pairs)
        else (name, np.asarray(value).tolist())
        for name, value in values.items()
    ]
    return _sum(repr(told).encode("utf-8", "replace"))


def below(path: Path, root: Path) -> str:
    """The path from a folder on, written alike everywhere."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def _by_content(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _by_time(path: Path) -> str:
    found = path.stat()
    return f"{found.st_size} bytes, changed at {found.st_mtime_ns}"


def _of_array(values: AnyArray) -> str:
    if values.dtype.kind == "O":
        return _sum("\0".join(map(repr, values.tolist())).encode("utf-8", "replace"))
    return _sum(f"{values.dtype} {len(values)} ".encode(), np.ascontiguousarray(values).view(np.uint8))


def _sum(*parts: Any) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()
