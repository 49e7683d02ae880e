"""Tables that cannot be read in pieces (text, scattered rows) become Parquet in the order of their series.

The copy lies in a temporary folder, or is read at once where it is small: its chunks then carry their values. Workers
on other machines cannot read the copy of a large one.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nofluke.data.tables import open_table, quoted, text_query, unglobbed
from nofluke.errors import InputError, shown
from nofluke.studies.sources.indexing import Piece, TableFile

SMALL = 4_000_000
"""Cells up to which a copy is read at once."""


class Scratch:
    """A temporary folder that goes when its owner does, or the process that made it ends."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="nofluke-"))
        self.cleanup = weakref.finalize(self, _remove, self.path, os.getpid())


def _remove(path: Path, process: int) -> None:
    if os.getpid() == process:  # a forked worker has the owner too
        shutil.rmtree(path, ignore_errors=True)


def parquet_of_text(file: TableFile, columns: Sequence[str], to: Path, connection: Any) -> TableFile:
    """A text table as Parquet, its cells as text: what they are is decided series by series."""
    with open_table(file.path, list(columns), None, connection, file.label) as table:
        if table.layout is None:
            return file
        there = [name for name in columns if name in table.names or name.isdecimal()]
        _check_case(there, file.label)
        positions = {name: table.position(name, "columns") for name in there}
        inner = text_query(table.layout, sorted(set(positions.values())), len(table.names))
        cells = ", ".join(f"c{at} AS {quoted(name)}" for name, at in positions.items())
        table.load_text(f"COPY (SELECT {cells} FROM ({inner})) TO '{literal(to)}' (FORMAT parquet)")
    return replace(file, path=to)


def regrouped(
    file: TableFile, columns: Sequence[str], series: str, detector: str | None, to: Path, connection: Any
) -> TableFile:
    """The same rows, those of each series, and of each detector in it, together."""
    with open_table(file.path, [], None, connection, file.label) as table:
        missing = [name for name in (series, detector) if name is not None and name not in table.names]
        if missing:
            raise InputError(problem=f"{file.label} has no column {shown(missing[0])}")
        fields = {name: table.fields[table.names.index(name)] for name in columns if name in table.names}
        _check_case(list(fields), file.label)
        by = ", ".join(f"{quoted(fields[name])}::VARCHAR" for name in (series, detector) if name is not None)
        cells = ", ".join(f"{quoted(field)} AS {quoted(name)}" for name, field in fields.items())
        query = f"SELECT {cells} FROM read_parquet(?, hive_partitioning=false) ORDER BY {by}, file_row_number"
        table.ask(f"COPY ({query}) TO '{literal(to)}' (FORMAT parquet)", [unglobbed(file.path)])
    return replace(file, path=to, label=f"{file.label} (in the order of its series)")


def _check_case(names: Sequence[str], label: str) -> None:
    """Refuse columns that duckdb takes for the same: in a copy it would give one of them another name."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise InputError(
                problem=f"{label} has columns {shown(other)} and {shown(name)}, which differ only in case",
                remedy="rename one",
            )


def scattered(pieces: Sequence[Piece]) -> bool:
    """Whether rows of others lie among those of some series."""
    return not all(piece.together for piece in pieces)


def literal(path: Path) -> str:
    """A path between quotes of SQL, which takes no parameter there."""
    return str(path).replace("'", "''")
