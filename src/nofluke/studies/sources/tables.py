"""Files with a column that tells series apart: Parquet is read in ranges of rows, each chunk its own.

One look at the columns that name them tells where the rows of each series lie. Where these lie apart, or in text, they
are copied to Parquet in the order of the series, so that a chunk is a few ranges of rows. Groups of rows outside of
them are not read: all chunks together read a file about once.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from nofluke.arrays import AnyArray
from nofluke.data.files import numbers_of, times_of
from nofluke.data.tables import FileTable, connected, kept_connection, open_table, quoted, text_query, unglobbed
from nofluke.errors import InputError, Remark, Words, shown
from nofluke.studies.cases import Case, Chunk, Fault, reason_of
from nofluke.studies.sources.chunks import (
    Block,
    CasesChunk,
    Chunks,
    Events,
    Read,
    Slices,
    cut,
    faulty,
    joined,
    long_case,
    sizes_of,
    sum_of_files,
    typed,
    unused_columns,
    wide_case,
)
from nofluke.studies.sources.events import Listed
from nofluke.studies.sources.names import (
    FOLDER,
    NAMELESS,
    OF_NAMES,
    OF_ROWS,
    Roles,
    columns_to_read,
    group_of,
    in_places,
    nameless,
)

T = TypeVar("T")

# ---- where the rows of each series lie in Parquet files: one look at the columns that name them


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFile:
    """A Parquet file, what it is called in messages, and its folder's name; or a frame in memory, called so."""

    path: Path
    label: str
    folder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Rows of one series (in long tables, of one detector) in one file: ``start`` up to, not including, ``stop``."""

    file: TableFile
    start: int
    stop: int
    count: int
    detector: str | None = None
    groups: tuple[str | None, ...] = ()

    @property
    def together(self) -> bool:
        """Whether no row of another lies among them."""
        return self.stop - self.start == self.count


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Entry:
    """One series and where it lies; or why it cannot be read."""

    series: str
    group: str
    pieces: tuple[Piece, ...] = field(repr=False, default=())
    events: Events | None = field(repr=False, default=None)
    notes: tuple[Remark, ...] = ()
    fault: Words | None = None


Index = dict[str | None, list[Piece]]
"""Where each series lies, in order of appearance, None for unnamed rows."""


def indexed(files: Iterable[TableFile], roles: Roles, connection: Any) -> tuple[Index, dict[TableFile, Words]]:
    """Where the series of files lie, and the files that cannot be read."""
    each, broken = _of_each(files, lambda _, file: [*_pieces(file, roles, connection)])
    found: Index = {}
    for series, piece in chain.from_iterable(each.values()):
        found.setdefault(series, []).append(piece)
    return found, broken


def _of_each(
    files: Iterable[TableFile], do: Callable[[int, TableFile], T]
) -> tuple[dict[TableFile, T], dict[TableFile, Words]]:
    """What is done with each file, by its number; and why it cannot be done with some."""
    done: dict[TableFile, T] = {}
    broken: dict[TableFile, Words] = {}
    for at, file in enumerate(files):
        try:
            done[file] = do(at, file)
        except (InputError, OSError) as error:
            broken[file] = reason_of(error, where=False)
    return done, broken


def entries_of(
    found: Index, roles: Roles, places: Mapping[str, int], events: Listed | None, *, all_known: bool = True
) -> list[Entry]:
    """All series that were found, each with its events; ``places`` has in how many places the rows of some lie."""
    entries = [
        _entry_of(series, pieces, roles, in_places(places.get(str(series), 1))) for series, pieces in found.items()
    ]
    if events is None:
        return entries
    events.check((series for series in found if series is not None), all_known=all_known)
    return [entry if entry.fault else replace(entry, events=events(entry.series)) for entry in entries]


def _entry_of(series: str | None, pieces: Sequence[Piece], roles: Roles, notes: tuple[Remark, ...]) -> Entry:
    """A series from its pieces."""
    if series is None:
        rows = sum(piece.count for piece in pieces)
        return Entry(series=NAMELESS, group=NAMELESS, fault=nameless(rows, roles.series))
    group: str | Fault = series
    if roles.group == FOLDER:
        group = group_of({piece.file.folder for piece in pieces}, "folder")
    elif roles.group is not None:
        group = group_of({name for piece in pieces for name in piece.groups}, roles.group)
    if isinstance(group, Fault):
        return Entry(series=series, group=series, fault=group.reason)
    if roles.detector is not None and (rows := sum(piece.count for piece in pieces if piece.detector is None)):
        return Entry(series=series, group=group, fault=nameless(rows, roles.detector, "detector"))
    return Entry(series=series, group=group, pieces=tuple(pieces), notes=notes)


def detectors_of(found: Index, columns: tuple[str, ...], roles: Roles) -> tuple[str, ...]:
    """The columns of scores; in long tables the names that rows have."""
    if roles.detector is None:
        return columns
    return tuple(dict.fromkeys(piece.detector for pieces in found.values() for piece in pieces if piece.detector))


def scores_in(entries: Sequence[Entry], columns: Sequence[str]) -> list[int]:
    """How many scores each series has."""
    return [sum(piece.count for piece in entry.pieces) * len(columns) for entry in entries]


def block_of(piece: Piece, read: Mapping[str, Read], columns: Sequence[str], roles: Roles) -> Block:
    """What was read of a piece, by column, with what each column is."""
    scores = {piece.detector or name: read[name] for name in columns}
    return Block(scores=scores, **{role: read[column] for role, column in roles.of_rows.items()})


def case_of(entry: Entry, blocks: Mapping[Piece, Block], detectors: Sequence[str], roles: Roles) -> Case:
    """The case of a series, from what was read of its pieces."""
    if entry.fault is not None:
        return faulty(entry.series, entry.group, detectors, entry.fault)
    own: dict[str, list[Block]] = {}
    for piece in entry.pieces:
        own.setdefault(piece.detector or "", []).append(blocks[piece])
    files = list(dict.fromkeys(piece.file.label for piece in entry.pieces))
    notes = entry.notes
    if len(files) > 1:
        told = "Its rows come from {} files: {}."
        notes = (Remark("several files", told, len(files), shown(files)[1:-1]), *notes)
    whole = {name: _whole(found) for name, found in own.items()}
    if roles.detector is None:
        return wide_case(entry.series, entry.group, whole[""], detectors, roles, entry.events, notes)
    return long_case(entry.series, entry.group, whole, detectors, roles, entry.events, notes)


def _whole(blocks: Sequence[Block]) -> Block:
    """Pieces of one series, one behind another."""
    if len(blocks) == 1:
        return blocks[0]
    scores = {name: joined([block.scores[name] for block in blocks]) for name in blocks[0].scores}
    return Block(
        scores={name: part for name, part in scores.items() if part is not None},
        **{role: joined([getattr(block, role) for block in blocks]) for role in OF_ROWS},
    )


def places_of(file: TableFile, roles: Roles, connection: Any) -> dict[str, int]:
    """In how many places of a file each series' rows lie; rows of its other detectors may lie in between."""
    with open_table(file.path, [], None, connection, file.label) as table:
        series = f"{_field(table, str(roles.series))}::VARCHAR"
        detector = "NULL" if roles.detector is None else _field(table, roles.detector)
        # a row's number less its rank in the series is the same within a place, and grows from one to the next
        rows = table.ask(
            f"""WITH named AS (SELECT file_row_number AS step, {series} AS s, {detector} AS d FROM read_parquet(?, hive_partitioning=false)),
            runs AS (SELECT s, d, step - row_number() OVER (PARTITION BY s ORDER BY step) AS run FROM named WHERE s IS NOT NULL),
            counted AS (SELECT s, count(DISTINCT run) AS places FROM runs GROUP BY s, d)
            SELECT s, max(places) FROM counted GROUP BY s""",
            [unglobbed(file.path)],
        )
    return dict(rows)


def _pieces(file: TableFile, roles: Roles, connection: Any) -> Iterator[tuple[str | None, Piece]]:
    with open_table(file.path, [], None, connection, file.label) as table:
        text = {
            role: f"CASE WHEN trim({_field(table, column)}::VARCHAR) <> '' THEN {_field(table, column)}::VARCHAR END"
            for role, column in roles.others.items()
            if role in OF_NAMES
        }
        group = text.get("group", "NULL")
        # nulls are no values to min and max: they are counted; by position, since a column may be called s or d, too
        query = f"""SELECT {text["series"]} AS s, {text.get("detector", "NULL")} AS d, min(file_row_number), max(file_row_number), count(*),
            min({group}), max({group}), count({group}) FROM read_parquet(?, hive_partitioning=false) GROUP BY 1, 2 ORDER BY 3"""
        rows = table.ask(query, [unglobbed(file.path)])
    if not rows:
        raise InputError(problem=f"{file.label} has no rows", remedy="there is nothing to evaluate")
    for series, detector, first, last, count, low, high, grouped in rows:
        groups = (low, high, *(() if grouped == count else (None,))) if "group" in text else ()
        yield series, Piece(file=file, start=first, stop=last + 1, count=count, detector=detector, groups=groups)


def _field(table: FileTable, column: str) -> str:
    return quoted(table.fields[position_of(table, column)])


def position_of(table: FileTable, column: str) -> int:
    """The position of a column that must be there."""
    if column not in table.names:
        raise InputError(problem=f"{table.label} has no column {shown(column)}")
    return table.names.index(column)


_OUT_OF_REACH = (
    "is out of this worker's reach: keep it where all workers can read it, and text, or series whose rows are mixed, as Parquet in the "
    "order of its series."
)
_FLOATS = ("DOUBLE", "FLOAT")
_WHOLE = dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"), "BIGINT") | {
    "BOOLEAN": "BOOLEAN"
}
"""Whole numbers as one kind, and what needs no check."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TableChunk:
    """Some series of Parquet files, read where the chunk is."""

    entries: tuple[Entry, ...] = field(repr=False)
    detectors: tuple[str, ...]
    columns: tuple[str, ...]
    roles: Roles

    @property
    def series(self) -> tuple[str, ...]:
        """Names of the series in it."""
        return tuple(entry.series for entry in self.entries)

    def read(self, some: Container[str] | None = None) -> Iterator[Case]:
        """The cases, one after another."""
        entries = [entry for entry in self.entries if some is None or entry.series in some]
        pieces = [piece for entry in entries for piece in entry.pieces]
        blocks: dict[Piece, Block] = {}
        with kept_connection() as connection:
            for file in dict.fromkeys(piece.file for piece in pieces):
                blocks.update(self._blocks(file, [piece for piece in pieces if piece.file == file], connection))
        return (case_of(entry, blocks, self.detectors, self.roles) for entry in entries)

    def _blocks(self, file: TableFile, pieces: Sequence[Piece], connection: Any) -> dict[Piece, Block]:
        """What was read of each piece of one file."""
        wanted = [*self.columns, *self.roles.of_rows.values()]
        blocks: dict[Piece, Block] = {}
        try:
            if not file.path.exists():
                raise InputError(problem=f"{file.label} {_OUT_OF_REACH}")
            with open_table(file.path, [], None, connection, file.label) as table:
                for run in _runs(pieces):
                    slices = [(piece.start, piece.stop) for piece in run]
                    at_once = _numbers(table, [name for name in wanted if name != self.roles.times], slices)
                    for name in wanted:
                        if name not in at_once:
                            at_once[name] = typed(partial(_column, table, name, self.roles), slices)
                    for at, piece in enumerate(run):
                        read = {name: parts[at] for name, parts in at_once.items()}
                        blocks[piece] = block_of(piece, read, self.columns, self.roles)
        except (InputError, OSError) as error:
            fault = dict.fromkeys(wanted, Fault.of(error))
            return {piece: block_of(piece, fault, self.columns, self.roles) for piece in pieces}
        return blocks


def _runs(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Pieces of one file that lie behind one another, to be read at once."""
    runs: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda piece: piece.start):
        if runs and runs[-1][-1].stop == piece.start:
            runs[-1].append(piece)
        else:
            runs.append([piece])
    return runs


def _numbers(table: FileTable, names: Sequence[str], slices: Slices) -> dict[str, list[Read]]:
    """Columns of nothing but numbers, in one query: five times as fast as reading them one by one."""
    positions = {name: table.names.index(name) for name in names if name in table.names}
    plain = {name: at for name, at in positions.items() if table.types[at] in (*_FLOATS, *_WHOLE)}
    if not plain:
        return {}
    cells = [
        f"{quoted(table.fields[at])}::{_WHOLE.get(table.types[at], table.types[at])} AS c{at}" for at in plain.values()
    ]
    start, stop = slices[0][0], slices[-1][1]
    within = f"file_row_number BETWEEN {start} AND {stop - 1}"
    query = f"SELECT {', '.join(cells)} FROM read_parquet(?, hive_partitioning=false) WHERE {within}"
    try:
        columns = table.run(query, [unglobbed(table.path)]).fetchnumpy()
    except InputError:  # one after another they tell which of them cannot be read
        return {}
    whole: dict[str, AnyArray] = {}
    for name, at in plain.items():
        values = columns[f"c{at}"]
        if not np.ma.is_masked(values):
            whole[name] = np.asarray(values)
        elif table.types[at] in _FLOATS:
            whole[name] = values.filled(np.nan)
    return {name: [values[a - start : b - start] for a, b in slices] for name, values in whole.items()}


def _column(table: FileTable, name: str, roles: Roles, start: int, stop: int) -> AnyArray:
    """One column of some rows, typed as single files are."""
    position = position_of(table, name)
    table.load([position], rows=(start, stop))
    return column_at(table, position, name == roles.times, roles.time_format)


def column_at(table: FileTable, position: int, is_clock: bool, time_format: str | None) -> AnyArray:
    """A column that is loaded, as times or as numbers."""
    if is_clock:
        return times_of(table, position, time_format)
    values = numbers_of(table, position)
    # thresholds depend on the type of the scores
    return values.astype(np.float32) if table.types[position] == "FLOAT" else values


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


def parquet_of_text(
    file: TableFile, columns: Sequence[str], to: Path, connection: Any
) -> tuple[TableFile, Sequence[str]]:
    """A text table as Parquet, its cells as text: what they are is decided series by series; and all of its columns."""
    with open_table(file.path, list(columns), None, connection, file.label) as table:
        if table.layout is None:
            packed = table.path != file.path
            return replace(file, path=Path(shutil.copy(table.path, to))) if packed else file, table.names
        there = [name for name in columns if name in table.names or name.isdecimal()]
        _check_case(there, file.label)
        positions = {name: table.position(name, "columns") for name in there}
        inner = text_query(table.layout, sorted(set(positions.values())), len(table.names))
        cells = ", ".join(f"c{at} AS {quoted(name)}" for name, at in positions.items())
        table.load_text(f"COPY (SELECT {cells} FROM ({inner})) TO '{literal(to)}' (FORMAT parquet)")
        names = table.names if table.layout.has_header else list(map(str, range(len(table.names))))
    return replace(file, path=to), names


def regrouped(file: TableFile, columns: Sequence[str], roles: Roles, to: Path, connection: Any) -> TableFile:
    """The same rows, those of each series, and of each detector in it, together."""
    with open_table(file.path, [], None, connection, file.label) as table:
        by = ", ".join(f"{_field(table, name)}::VARCHAR" for name in (roles.series, roles.detector) if name is not None)
        fields = {name: table.fields[table.names.index(name)] for name in columns if name in table.names}
        _check_case(list(fields), file.label)
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


def literal(path: Path) -> str:
    """A path between quotes of SQL, which takes no parameter there."""
    return str(path).replace("'", "''")


# ---- files with a column that tells series apart, as a source: indexed, copied where they must be


def table_source(names: Sequence[str], root: Path, roles: Roles, events: Listed | None) -> Chunks:
    """The series of one or more tables, by their paths below a folder."""
    files = [TableFile(path=(path := root / name), label=name, folder=path.parent.name) for name in names]
    folder = Scratch()
    places: Counter[str] = Counter()
    with connected() as connection:
        connection.execute(f"SET memory_limit = '512MB'; SET temp_directory = '{literal(folder.path)}'")
        columns = columns_of(names, root, roles, connection)
        used = (*columns, *dict.fromkeys(roles.others.values()))

        def as_parquet(at: int, file: TableFile) -> tuple[TableFile, Sequence[str]]:
            return parquet_of_text(file, used, folder.path / f"text-{at}.parquet", connection)

        def together(at: int, file: TableFile) -> TableFile:
            to = folder.path / f"together-{at}.parquet"
            return regrouped(file, used, roles, to, connection) if file in torn else file

        copies, broken = _of_each(files, as_parquet)
        headers = [names for _, names in copies.values()]
        readable = [file for file, _ in copies.values()]
        found, unread = indexed(readable, roles, connection)
        # files in which rows of others lie among those of some series
        torn = {piece.file for pieces in found.values() for piece in pieces if not piece.together}
        if torn:
            if roles.times is None:  # else a clock orders the rows
                counts, _ = _of_each(torn, lambda _, file: places_of(file, roles, connection))
                for count in counts.values():
                    places.update(count)
            whole, lost = _of_each(readable, together)
            found, unread = indexed(whole.values(), roles, connection)
            unread |= lost
    broken |= unread
    # a file that cannot be read may hold any series
    entries = entries_of(found, roles, places, events, all_known=not broken)
    entries += [
        Entry(series=_apart(file, found), group=_apart(file, found), fault=reason) for file, reason in broken.items()
    ]
    detectors = detectors_of(found, columns, roles)
    if not found or not detectors:
        faults = (entry.fault for entry in entries if entry.fault is not None)
        raise InputError(problem=next(iter(broken.values()), next(faults, "source has no scores: check the columns.")))
    sizes = scores_in(entries, columns)
    chunks: tuple[Chunk, ...] = tuple(
        TableChunk(entries=tuple(entries[part]), detectors=detectors, columns=columns, roles=roles)
        for part in cut(sizes)
    )
    copied = any(piece.file.path.is_relative_to(folder.path) for entry in entries for piece in entry.pieces)
    if copied and sum(sizes) <= SMALL:
        chunks = tuple(CasesChunk(cases=tuple(chunk.read())) for chunk in chunks)
    if not copied or sum(sizes) <= SMALL:
        folder.cleanup()
    told = {"kind": "tables", "roles": roles.to_dict(), **sum_of_files(sizes_of(names, root), root)}
    unused = unused_columns(headers, used)
    return Chunks(detectors=detectors, fingerprint=told, parts=chunks, unused=unused, keeps=folder)


def columns_of(files: Sequence[str], root: Path, roles: Roles, connection: Any) -> tuple[str, ...]:
    """The score columns; opens files until all that is asked for is found, and every file if there are patterns."""
    wanted = [*roles.others.values(), *roles.scores]
    names: dict[str, None] = {}
    errors: list[InputError] = []
    for file in files:
        try:
            with open_table(root / file, list(wanted), roles.time_format, connection, file) as table:
                names.update(dict.fromkeys(table.names))
                if table.layout is not None and not table.layout.has_header:
                    names.update(dict.fromkeys(str(at) for at in range(len(table.names))))
        except InputError as error:
            errors.append(error)
        if not roles.by_pattern and set(wanted) <= set(names):
            return roles.scores
    if not names:
        raise errors[0]
    where = files[0] if len(files) == 1 else f"source ({len(files):,} files)"
    return columns_to_read(roles, list(names), where)


def _apart(file: TableFile, found: Index) -> str:
    """What a file is called that cannot be read: by its path, unless a series is called so."""
    return file.label if file.label not in found else f"{file.label} (file)"
