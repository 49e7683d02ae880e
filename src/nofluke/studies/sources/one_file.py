"""A file a series: its name is the file's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nofluke.data.tables import FileTable, connected, open_table
from nofluke.errors import InputError, Remark, arg, say, shown
from nofluke.studies.cases import Case, Fault
from nofluke.studies.sources import fingerprints
from nofluke.studies.sources.assembling import Block, Events, Read, wide_case
from nofluke.studies.sources.chunks import Chunks, readers_in_chunks
from nofluke.studies.sources.indexing import TableFile
from nofluke.studies.sources.naming import group_of, names_of_files
from nofluke.studies.sources.ranges import Listed
from nofluke.studies.sources.roles import FOLDER, Roles
from nofluke.studies.sources.tables import column_at
from nofluke.studies.sources.tabular import columns_of

_BYTES_A_SCORE = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FileReader:
    """Reads the one series of a file."""

    series: str
    group: str
    path: Path
    label: str
    roles: Roles
    events: Events | None = field(repr=False, default=None)

    def case(self, detectors: Sequence[str], connection: Any) -> Case:
        """The case, with a fault for each column that is not as it should be."""
        roles, wanted = self.roles, [*detectors, *self.roles.others.values()]
        with open_table(self.path, list(wanted), roles.time_format, connection, self.label) as table:
            there = {name: at for name in wanted if (at := found_at(table, name)) is not None}
            if not there:
                raise InputError(
                    problem=f"{self.label} has none of the columns asked for", remedy=f"it has {table.listing()}"
                )
            table.load(sorted(set(there.values())))
            read = {name: self._column(table, name, there.get(name)) for name in wanted if name != roles.group}
            group = self.group if roles.group in (None, FOLDER) else self._group(table, there.get(str(roles.group)))
            block = Block(
                scores={name: read[name] for name in detectors},
                truth=None if roles.truth is None else read[roles.truth],
                times=None if roles.times is None else read[roles.times],
                test_part=None if roles.test_part is None else read[roles.test_part],
            )
            return wide_case(self.series, group, block, detectors, roles.truth_as, self.events, table.notes)

    def _column(self, table: FileTable, name: str, position: int | None) -> Read:
        if position is None:
            return Fault(reason=Remark("no column", "{} has no column {}.", self.label, shown(name)))
        try:
            return column_at(table, position, name == self.roles.times, self.roles.time_format)
        except InputError as error:
            return Fault.of(error)

    def _group(self, table: FileTable, position: int | None) -> str:
        if position is None:
            raise InputError(problem=f"{self.label} has no column {shown(self.roles.group)}")
        values = {name for (name,) in table.ask(f"SELECT DISTINCT c{position}::VARCHAR FROM picked")}
        if isinstance(group := group_of(values, str(self.roles.group)), Fault):
            raise InputError(problem=group.reason)
        return group


def found_at(table: FileTable, name: str) -> int | None:
    """The position of a column, if there is one of this name, or the file has no header and it is a position."""
    if name in table.names:
        return table.position(name, "columns")
    bare = table.layout is not None and not table.layout.has_header
    return int(name) if bare and name.isdecimal() and int(name) < len(table.names) else None


def files_source(paths: Sequence[Path], root: Path, roles: Roles, events: Listed | None, per_chunk: Any) -> Chunks:
    """A source of files that hold a series each."""
    if roles.detector is not None:
        raise InputError(
            argument="detector",
            value=roles.detector,
            problem=say("is for long tables, which also need {}", arg("series")),
            remedy="name that column",
        )
    labels = [fingerprints.below(path, root) for path in paths]
    names = names_of_files(labels)
    if events is not None:
        events.check(names)
    files = [
        TableFile(path=path, label=label, folder=path.parent.name) for path, label in zip(paths, labels, strict=True)
    ]
    with connected() as connection:
        detectors = columns_of(files, roles, connection)
    readers = [
        FileReader(
            series=name,
            group=file.folder if roles.group == FOLDER else name,
            path=file.path,
            label=file.label,
            roles=roles,
            events=None if events is None else events(name),
        )
        for name, file in zip(names, files, strict=True)
    ]
    sizes = [path.stat().st_size // _BYTES_A_SCORE for path in paths]
    told = {"kind": "files", "roles": roles.to_dict(), **fingerprints.of_files(paths, root)}
    return Chunks(detectors=detectors, fingerprint=told, parts=readers_in_chunks(readers, sizes, detectors, per_chunk))
