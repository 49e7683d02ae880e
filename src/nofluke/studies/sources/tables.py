"""Parquet tables of many series: where the rows of each lie, and chunks that read no others.

Rows of a series must lie together (`copying` sees to it), so that a chunk is a few ranges of rows. Groups of rows outside of them
are not read: all chunks together read a file about once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray
from nofluke.data.sources import connected, open_table
from nofluke.data.table import FileTable, quoted, unglobbed
from nofluke.data.times import times_of
from nofluke.data.values import numbers_of
from nofluke.errors import InputError, shown
from nofluke.studies.cases import Case, Fault
from nofluke.studies.sources.assembling import Block, Events, Read, faulty, joined, long_case, typed, wide_case
from nofluke.studies.sources.naming import NAMELESS, group_of, nameless
from nofluke.studies.sources.roles import FOLDER, Roles


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFile:
    """A Parquet file, what it is called in messages, and its folder's name."""

    path: Path
    label: str
    folder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Rows of one series, in long tables of one detector, in one file: from ``start`` up to, not including, ``stop``."""

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
    fault: str | None = None


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

    def read(self) -> Iterator[Case]:
        """The cases, one after another."""
        pieces = [piece for entry in self.entries for piece in entry.pieces]
        blocks: dict[Piece, Block] = {}
        with connected() as connection:
            connection.execute(
                "SET threads = 1; SET parquet_metadata_cache = true"
            )  # the workers are what runs at once
            for file in dict.fromkeys(piece.file for piece in pieces):
                blocks.update(self._blocks(file, [piece for piece in pieces if piece.file == file], connection))
        return map(partial(self._case, blocks), self.entries)

    def _blocks(self, file: TableFile, pieces: Sequence[Piece], connection: Any) -> dict[Piece, Block]:
        """What was read of each piece of one file."""
        wanted = [*self.columns, *(name for name in (self.roles.truth, self.roles.times) if name is not None)]
        read: dict[tuple[str, Piece], Read] = {}
        try:
            with open_table(file.path, [], None, connection) as table:
                table.label = file.label
                for run in _runs(pieces):
                    for name in wanted:
                        parts = typed(
                            partial(_column, table, name, name == self.roles.times), [(p.start, p.stop) for p in run]
                        )
                        read.update({(name, piece): part for piece, part in zip(run, parts, strict=True)})
        except (InputError, OSError) as error:
            read = {(name, piece): Fault(reason=str(error)) for name in wanted for piece in pieces}
        return {piece: _block(read, piece, self.columns, self.roles) for piece in pieces}

    def _case(self, blocks: Mapping[Piece, Block], entry: Entry) -> Case:
        if entry.fault is not None:
            return faulty(entry.series, entry.group, self.detectors, entry.fault)
        own: dict[str, list[Block]] = {}
        for piece in entry.pieces:
            own.setdefault(piece.detector or "", []).append(blocks[piece])
        files = list(dict.fromkeys(piece.file.label for piece in entry.pieces))
        notes = (f"Its rows come from {len(files)} files: {shown(files)[1:-1]}.",) if len(files) > 1 else ()
        whole = {name: _whole(found) for name, found in own.items()}
        common = (self.detectors, self.roles.truth_as, entry.events, notes)
        if self.roles.detector is None:
            return wide_case(entry.series, entry.group, whole[""], *common)
        return long_case(entry.series, entry.group, whole, *common)


def indexed(
    files: Sequence[TableFile], roles: Roles, connection: Any
) -> tuple[dict[str | None, list[Piece]], dict[TableFile, str]]:
    """Where each series lies, in the order in which they appear, None for rows without a name; and the files that cannot be read."""
    found: dict[str | None, list[Piece]] = {}
    broken: dict[TableFile, str] = {}
    for file in files:
        try:
            for series, piece in _pieces(file, roles, connection):
                found.setdefault(series, []).append(piece)
        except (InputError, OSError) as error:
            broken[file] = str(error)
    return found, broken


def entry_of(series: str | None, pieces: Sequence[Piece], roles: Roles) -> Entry:
    """A series from its pieces."""
    if series is None:
        rows = sum(piece.count for piece in pieces)
        return Entry(series=NAMELESS, group=NAMELESS, fault=nameless(rows, roles.series))
    named = tuple(piece for piece in pieces if roles.detector is None or piece.detector is not None)
    if not named:
        rows = sum(piece.count for piece in pieces)
        return Entry(series=series, group=series, fault=nameless(rows, roles.detector, "detector"))
    group: str | Fault = series
    if roles.group == FOLDER:
        group = group_of({piece.file.folder for piece in pieces}, "folder")
    elif roles.group is not None:
        group = group_of({name for piece in pieces for name in piece.groups}, roles.group)
    if isinstance(group, Fault):
        return Entry(series=series, group=series, fault=group.reason)
    return Entry(series=series, group=group, pieces=named)


def _pieces(file: TableFile, roles: Roles, connection: Any) -> Iterator[tuple[str | None, Piece]]:
    with open_table(file.path, [], None, connection) as table:
        table.label = file.label
        text = {
            role: f"nullif({_field(table, column)}::VARCHAR, '')"
            for role, column in roles.others.items()
            if role in ("series", "group", "detector")
        }
        group = text.get("group", "NULL")
        # nulls are no values to min and max: they are counted
        query = f"""SELECT {text["series"]} AS s, {text.get("detector", "NULL")} AS d, min(file_row_number), max(file_row_number), count(*),
            min({group}), max({group}), count({group}) FROM read_parquet(?, hive_partitioning=false) GROUP BY s, d ORDER BY 3"""
        rows = table.ask(query, [unglobbed(file.path)])
    if not rows:
        raise InputError(f"{file.label} has no rows: there is nothing to evaluate.")
    for series, detector, first, last, count, low, high, grouped in rows:
        groups = (low, high, *(() if grouped == count else (None,))) if "group" in text else ()
        yield series, Piece(file=file, start=first, stop=last + 1, count=count, detector=detector, groups=groups)


def _field(table: FileTable, column: str) -> str:
    return quoted(table.fields[_position(table, column)])


def _position(table: FileTable, column: str) -> int:
    if column not in table.names:
        raise InputError(f"{table.label} has no column {shown(column)}.")
    return table.names.index(column)


def _runs(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Pieces of one file that lie behind one another, to be read at once."""
    runs: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda piece: piece.start):
        if runs and runs[-1][-1].stop == piece.start:
            runs[-1].append(piece)
        else:
            runs.append([piece])
    return runs


def _column(table: FileTable, name: str, is_clock: bool, start: int, stop: int) -> AnyArray:
    """One column of some rows, typed as single files are."""
    position = _position(table, name)
    table.load([position], rows=(start, stop))
    return column_at(table, position, is_clock)


def column_at(table: FileTable, position: int, is_clock: bool) -> AnyArray:
    """A column that is loaded, as times or as numbers."""
    if is_clock:
        return times_of(table, position, None)
    values = numbers_of(table, position)
    # thresholds go by the type of the scores
    return values.astype(np.float32) if table.types[position] == "FLOAT" else values


def _block(read: Mapping[tuple[str, Piece], Read], piece: Piece, columns: Sequence[str], roles: Roles) -> Block:
    return Block(
        scores={piece.detector or name: read[name, piece] for name in columns},
        truth=None if roles.truth is None else read[roles.truth, piece],
        times=None if roles.times is None else read[roles.times, piece],
    )


def _whole(blocks: Sequence[Block]) -> Block:
    """Pieces of one series, one behind another."""
    if len(blocks) == 1:
        return blocks[0]
    names = blocks[0].scores
    scores = {name: joined([block.scores[name] for block in blocks]) for name in names}
    return Block(
        scores={name: part for name, part in scores.items() if part is not None},
        truth=joined([block.truth for block in blocks]),
        times=joined([block.times for block in blocks]),
    )
