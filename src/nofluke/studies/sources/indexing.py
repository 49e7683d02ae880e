"""Where the rows of each series lie in Parquet files: one look at the columns that name them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nofluke.data.tables import FileTable, open_table, quoted, unglobbed
from nofluke.errors import InputError, Remark, Words, shown
from nofluke.studies.cases import Fault
from nofluke.studies.outcome import reason_of
from nofluke.studies.sources.assembling import Events
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


def indexed(
    files: Sequence[TableFile], roles: Roles, connection: Any
) -> tuple[dict[str | None, list[Piece]], dict[TableFile, Words]]:
    """Where each series lies, in order of appearance, None for unnamed rows; and the files that cannot be read."""
    found: dict[str | None, list[Piece]] = {}
    broken: dict[TableFile, Words] = {}
    for file in files:
        try:
            for series, piece in _pieces(file, roles, connection):
                found.setdefault(series, []).append(piece)
        except (InputError, OSError) as error:
            broken[file] = reason_of(error, where=False)
    return found, broken


def entry_of(series: str | None, pieces: Sequence[Piece], roles: Roles) -> Entry:
    """A series from its pieces."""
    if series is None:
        rows = sum(piece.count for piece in pieces)
        return Entry(series=NAMELESS, group=NAMELESS, fault=nameless(rows, roles.series))
    if roles.detector is not None and (rows := sum(piece.count for piece in pieces if piece.detector is None)):
        return Entry(series=series, group=series, fault=nameless(rows, roles.detector, "detector"))
    group: str | Fault = series
    if roles.group == FOLDER:
        group = group_of({piece.file.folder for piece in pieces}, "folder")
    elif roles.group is not None:
        group = group_of({name for piece in pieces for name in piece.groups}, roles.group)
    if isinstance(group, Fault):
        return Entry(series=series, group=series, fault=group.reason)
    return Entry(series=series, group=group, pieces=tuple(pieces))


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
            if role in ("series", "group", "detector")
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
