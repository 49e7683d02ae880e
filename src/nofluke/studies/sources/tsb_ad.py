"""TSB-AD's folders: a CSV for each series with a column Label, and scores in <folder>/<detector>/<series>.npy.

Reference: Liu and Paparrizos (2024), https://github.com/TheDatumOrg/TSB-AD.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray
from nofluke.data.columns import absent
from nofluke.data.files import IS_MISSING
from nofluke.data.tables import open_table
from nofluke.errors import InputError, Remark, arg, say, shown
from nofluke.studies.cases import Case, Fault
from nofluke.studies.sources import fingerprints
from nofluke.studies.sources.assembling import Block, Events, Read, wide_case
from nofluke.studies.sources.chunks import Chunks, readers_in_chunks
from nofluke.studies.sources.files import folder_of, subfolders
from nofluke.studies.sources.layouts import NO_FILE, chosen, columns_in, fitting
from nofluke.studies.sources.ranges import Listed
from nofluke.studies.sources.roles import Roles

_BYTES_A_SCORE = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TsbReader:
    """Reads one series: its labels, and an array for each detector that has one."""

    series: str
    group: str
    path: Path | None
    scores: dict[str, Path] = field(repr=False)
    truth: str
    truth_as: str
    events: Events | None = field(repr=False, default=None)

    def case(self, detectors: Sequence[str], connection: Any) -> Case:
        """The case."""
        if self.path is None:
            raise InputError(
                problem="the folder of data has no CSV of this series", remedy=say("check {}", arg("data"))
            )
        scores = {name: _array(self.scores.get(name), name) for name in detectors}
        (labels,) = columns_in(self.path, self.path.name, [self.truth], None, connection)
        lengths = {len(found) for found in scores.values() if not isinstance(found, Fault)}
        if len(labels) not in lengths and lengths:  # detectors of TSB-AD never see rows with a gap
            labels = self._without_gaps(labels, connection)
        block = Block(
            scores={name: fitting(found, len(labels), f"{name}/{self.series}.npy") for name, found in scores.items()},
            truth=labels,
        )
        return wide_case(self.series, self.group, block, detectors, self.truth_as, self.events)

    def _without_gaps(self, labels: AnyArray, connection: Any) -> AnyArray:
        assert self.path is not None
        with open_table(self.path, [self.truth], None, connection, self.path.name) as table:
            table.load(list(range(len(table.names))))
            gaps = " OR ".join(
                IS_MISSING.replace("(c ", f"(c{at} ").replace("(c)", f"(c{at})") for at in range(len(table.names))
            )
            kept = ~np.array([bool(row[0]) for row in table.ask(f"SELECT {gaps} FROM picked")])
        return labels[kept & ~absent(labels)]


def _array(path: Path | None, name: str) -> Read:
    """An array of scores as NumPy wrote it."""
    if path is None:
        return Fault(reason=NO_FILE)
    label = f"{name}/{path.name}"
    try:
        values = np.asarray(np.load(path, allow_pickle=False))
    except (OSError, ValueError, EOFError) as error:
        told = "{} cannot be read as an array of NumPy ({})."
        return Fault(reason=Remark("no array", told, label, " ".join(str(error).split())[:120]))
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if values.ndim != 1 or values.dtype.kind not in "biuf":
        told = "{} has shape {} and holds {}: it must hold one number for each step."
        return Fault(reason=Remark("another array", told, label, values.shape, values.dtype))
    return values


def tsb_source(source: Any, roles: Roles, data: Any, events: Listed | None, per_chunk: Any) -> Chunks:
    """The series that detectors have scores for; the folder of data is where their labels are."""
    root = folder_of(source, "source", "pass the folder of scores, with a folder for each detector")
    folder = folder_of(data, "data", "pass the folder of TSB-AD's series, such as Datasets/TSB-AD-U")
    arrays: dict[str, dict[str, Path]] = {}
    for detector in subfolders(root):
        for path in sorted(detector.glob("*.npy")):
            arrays.setdefault(path.stem, {})[detector.name] = path
    detectors = chosen(sorted({name for found in arrays.values() for name in found}), roles.scores, str(source))
    # TSB-AD names its arrays by what stands before the first dot
    tables: dict[str, Path] = {}
    for path in sorted(folder.glob("*.csv")):
        other = tables.setdefault(path.name.split(".")[0], path)
        if other != path:
            raise InputError(
                argument="data",
                value=str(data),
                problem=f"has {shown(other.name)} and {shown(path.name)}, one series by what stands before the first dot",
                remedy="rename one",
            )
    if not set(tables) & set(arrays):
        raise InputError(
            argument="data",
            value=str(data),
            problem="has no CSV of a series that has scores",
            remedy="pass the folder of TSB-AD's series",
        )
    if events is not None:
        events.check(arrays)
    readers = [
        TsbReader(
            series=name,
            group=_dataset(name),
            path=tables.get(name),
            scores={one: path for one, path in found.items() if one in detectors},
            truth=roles.truth or "Label",
            truth_as=roles.truth_as,
            events=None if events is None else events(name),
        )
        for name, found in sorted(arrays.items())
    ]
    used = [path for reader in readers for path in reader.scores.values()]
    labels = [reader.path for reader in readers if reader.path is not None]
    sizes = [sum(path.stat().st_size for path in reader.scores.values()) // _BYTES_A_SCORE for reader in readers]
    told = {
        "kind": "tsb-ad",
        "roles": roles.to_dict(),
        "scores": fingerprints.of_files(used, root),
        "data": fingerprints.of_files(labels, folder),
    }
    return Chunks(detectors=detectors, fingerprint=told, parts=readers_in_chunks(readers, sizes, detectors, per_chunk))


def _dataset(series: str) -> str:
    """The data set in a name such as 001_NAB_id_1_Facility_tr_1007_1st_2014; other names are their own."""
    found = re.match(r"\d+_(.+?)_id_\d", series)
    return found[1] if found else series
