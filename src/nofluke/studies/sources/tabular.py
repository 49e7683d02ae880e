"""Files with a column that tells series apart, as a source: indexed, copied where they must be, and cut into chunks."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from nofluke.data.tables import connected, open_table, quoted, text_query, unglobbed
from nofluke.errors import InputError, Words, shown
from nofluke.studies.cases import Chunk
from nofluke.studies.outcome import reason_of
from nofluke.studies.sources import fingerprints
from nofluke.studies.sources.chunks import CasesChunk, Chunks, cut
from nofluke.studies.sources.indexing import Entry, Piece, TableFile, entry_of, indexed, places_of
from nofluke.studies.sources.naming import in_places
from nofluke.studies.sources.ranges import Listed
from nofluke.studies.sources.roles import Roles, columns_to_read
from nofluke.studies.sources.tables import TableChunk

# ---- tables that cannot be read in pieces (text, scattered rows) become Parquet in the order of their series


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


# ---- files with a column that tells series apart, as a source: indexed, copied where they must be


def table_source(paths: Sequence[Path], root: Path, roles: Roles, events: Listed | None, per_chunk: Any) -> Chunks:
    """The series of one or more tables."""
    files = [TableFile(path=path, label=fingerprints.below(path, root), folder=path.parent.name) for path in paths]
    folder = Scratch()
    places: Counter[str] = Counter()
    with connected() as connection:
        connection.execute(f"SET memory_limit = '512MB'; SET temp_directory = '{literal(folder.path)}'")
        columns = columns_of(files, roles, connection)
        used = (*columns, *dict.fromkeys(roles.others.values()))
        readable, broken = _as_parquet(files, used, folder.path, connection)
        found, unread = indexed(readable, roles, connection)
        if scattered([piece for pieces in found.values() for piece in pieces]):
            places = _places(found, roles, connection)
            readable, torn = _together(readable, found, used, roles, folder.path, connection)
            found, unread = indexed(readable, roles, connection)
            unread |= torn
    broken |= unread
    entries = [entry_of(series, pieces, roles) for series, pieces in found.items()]
    entries = [replace(entry, notes=in_places(places[entry.series])) for entry in entries]
    if events is not None:
        # a file that cannot be read may hold any series
        events.check((entry.series for entry in entries), all_known=not broken)
        entries = [entry if entry.fault else replace(entry, events=events(entry.series)) for entry in entries]
    entries += [
        Entry(series=_apart(file, found), group=_apart(file, found), fault=reason) for file, reason in broken.items()
    ]
    detectors = columns
    if roles.detector is not None:
        detectors = tuple(
            dict.fromkeys(piece.detector for pieces in found.values() for piece in pieces if piece.detector)
        )
    if not found or not detectors:
        faults = (entry.fault for entry in entries if entry.fault is not None)
        raise InputError(problem=next(iter(broken.values()), next(faults, "source has no scores: check the columns.")))
    sizes = [sum(piece.count for piece in entry.pieces) * len(columns) for entry in entries]
    chunks: tuple[Chunk, ...] = tuple(
        TableChunk(entries=tuple(entries[part]), detectors=detectors, columns=columns, roles=roles)
        for part in cut(sizes, per_chunk)
    )
    copied = any(piece.file.path.is_relative_to(folder.path) for entry in entries for piece in entry.pieces)
    if copied and sum(sizes) <= SMALL:
        chunks = tuple(CasesChunk(cases=tuple(chunk.read())) for chunk in chunks)
    if not copied or sum(sizes) <= SMALL:
        folder.cleanup()
    told = {"kind": "tables", "roles": roles.to_dict(), **fingerprints.of_files(paths, root)}
    return Chunks(detectors=detectors, fingerprint=told, parts=chunks, keeps=folder)


def columns_of(files: Sequence[TableFile], roles: Roles, connection: Any) -> tuple[str, ...]:
    """The score columns; opens files until all that is asked for is found, and every file if there are patterns."""
    wanted = [*roles.others.values(), *roles.scores]
    names: dict[str, None] = {}
    errors: list[InputError] = []
    for file in files:
        try:
            with open_table(file.path, list(wanted), roles.time_format, connection, file.label) as table:
                names.update(dict.fromkeys(table.names))
                if table.layout is not None and not table.layout.has_header:
                    names.update(dict.fromkeys(str(at) for at in range(len(table.names))))
        except InputError as error:
            errors.append(error)
        if not roles.by_pattern and set(wanted) <= set(names):
            return roles.scores
    if not names:
        raise errors[0]
    where = files[0].label if len(files) == 1 else f"source ({len(files):,} files)"
    return columns_to_read(roles, list(names), where)


def _as_parquet(
    files: Sequence[TableFile], used: Sequence[str], folder: Path, connection: Any
) -> tuple[list[TableFile], dict[TableFile, Words]]:
    done: list[TableFile] = []
    broken: dict[TableFile, Words] = {}
    for at, file in enumerate(files):
        try:
            done.append(parquet_of_text(file, used, folder / f"text-{at}.parquet", connection))
        except (InputError, OSError) as error:
            broken[file] = reason_of(error, where=False)
    return done, broken


def _places(found: dict[str | None, list[Piece]], roles: Roles, connection: Any) -> Counter[str]:
    """In how many places of files with scattered rows each series lies; empty if a clock orders the rows."""
    places: Counter[str] = Counter()
    if roles.times is None:
        for file in _torn(found):
            with suppress(InputError, OSError):  # what cannot be read is said where the rows are put together
                places.update(places_of(file, roles, connection))
    return places


def _torn(found: dict[str | None, list[Piece]]) -> list[TableFile]:
    return list(dict.fromkeys(piece.file for pieces in found.values() for piece in pieces if not piece.together))


def _together(
    files: Sequence[TableFile],
    found: dict[str | None, list[Piece]],
    used: Sequence[str],
    roles: Roles,
    folder: Path,
    connection: Any,
) -> tuple[list[TableFile], dict[TableFile, Words]]:
    torn = _torn(found)
    done: list[TableFile] = []
    broken: dict[TableFile, Words] = {}
    for at, file in enumerate(files):
        try:
            to = folder / f"together-{at}.parquet"
            done.append(
                regrouped(file, used, str(roles.series), roles.detector, to, connection) if file in torn else file
            )
        except (InputError, OSError) as error:
            broken[file] = reason_of(error, where=False)
    return done, broken


def _apart(file: TableFile, found: dict[str | None, list[Piece]]) -> str:
    """What a file is called that cannot be read: by its path, unless a series is called so."""
    return file.label if file.label not in found else f"{file.label} (file)"
