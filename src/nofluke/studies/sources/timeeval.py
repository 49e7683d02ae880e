"""TimeEval's folders: <algorithm>/<hyper-parameters>/<collection>/<dataset>/<repetition>/anomaly_scores.ts.

Labels are in the data sets that the file datasets.csv of a folder of data lists.

Reference: Wenig, Schmidl and Papenbrock (2022), https://github.com/TimeEval/TimeEval.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from csv import DictReader
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nofluke.errors import InputError, arg, say
from nofluke.studies.cases import Case, Fault
from nofluke.studies.sources import fingerprints
from nofluke.studies.sources.assembling import NO_SCORES, Block, Events, Read, wide_case
from nofluke.studies.sources.chunks import Chunks, readers_in_chunks
from nofluke.studies.sources.files import folder_of
from nofluke.studies.sources.layouts import chosen, columns_in, fitting
from nofluke.studies.sources.ranges import Listed
from nofluke.studies.sources.roles import Roles

_SCORES, _INDEX = "anomaly_scores.ts", "datasets.csv"
_BYTES_A_SCORE = 10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TimeEvalReader:
    """Reads one data set: its labels, and the scores of each run on it."""

    series: str
    group: str
    path: Path | None
    scores: dict[str, Path] = field(repr=False)
    roles: Roles
    events: Events | None = field(repr=False, default=None)

    def case(self, detectors: Sequence[str], connection: Any) -> Case:
        """The case."""
        if self.path is None:
            raise InputError(
                problem=f"{_INDEX} of the folder of data does not list this series", remedy=say("check {}", arg("data"))
            )
        truth, times = self.roles.truth or "is_anomaly", self.roles.times
        wanted, form = [truth, *([times] if times else [])], self.roles.time_format
        labels, *clock = columns_in(self.path, self.path.name, wanted, times, connection, form)
        scores: dict[str, Read] = {}
        for name in detectors:
            path = self.scores.get(name)
            if path is None:
                scores[name] = Fault(reason=NO_SCORES)
                continue
            label = f"{name}/{self.series}/{_SCORES}"
            try:
                (values,) = columns_in(path, label, ["0"], None, connection)
                scores[name] = fitting(values, len(labels), label)
            except (InputError, OSError) as error:
                scores[name] = Fault.of(error)
        block = Block(scores=scores, truth=labels, times=clock[0] if clock else None)
        return wide_case(self.series, self.group, block, detectors, self.roles.truth_as, self.events)


def timeeval_source(source: Any, roles: Roles, data: Any, events: Listed | None, per_chunk: Any) -> Chunks:
    """The data sets that a run of TimeEval has scores for."""
    root = folder_of(source, "source", "pass the folder of one run, with a folder for each algorithm")
    folder = folder_of(data, "data", f"pass TimeEval's folder of data, with {_INDEX} in it")
    tables = _tables(folder)
    runs = _named(root)
    detectors = chosen(sorted({name for found in runs.values() for name in found}), roles.scores, str(source))
    if events is not None:
        events.check(runs)
    readers = [
        TimeEvalReader(
            series=name,
            group=name.split("/")[0],
            path=tables.get(name),
            scores={one: path for one, path in found.items() if one in detectors},
            roles=roles,
            events=None if events is None else events(name),
        )
        for name, found in sorted(runs.items())
    ]
    used = [path for reader in readers for path in reader.scores.values()]
    labels = [path for reader in readers if (path := reader.path) is not None and path.is_file()]
    sizes = [sum(path.stat().st_size for path in reader.scores.values()) // _BYTES_A_SCORE for reader in readers]
    told = {
        "kind": "timeeval",
        "roles": roles.to_dict(),
        "scores": fingerprints.of_files(used, root),
        "data": fingerprints.of_files(labels, folder),
    }
    return Chunks(detectors=detectors, fingerprint=told, parts=readers_in_chunks(readers, sizes, detectors, per_chunk))


def _named(root: Path) -> dict[str, dict[str, Path]]:
    """Scores by series and detector: the algorithm, with hyper-parameters and repetition if a data set has several."""
    paths = sorted(root.glob(f"*/*/*/*/*/{_SCORES}"))
    several: dict[tuple[str, str], set[str]] = defaultdict(set)
    for path in paths:
        algorithm, setting, collection, dataset, repetition, _ = path.relative_to(root).parts
        several[algorithm, f"{collection}/{dataset}"].add(setting)
        several[f"{algorithm}/{setting}", f"{collection}/{dataset}"].add(repetition)
    varied = {name for (name, _), found in several.items() if len(found) > 1}
    runs: dict[str, dict[str, Path]] = {}
    for path in paths:
        algorithm, setting, collection, dataset, repetition, _ = path.relative_to(root).parts
        # hyper-parameters that follow from the data have another name on each data set: one algorithm all the same
        name = f"{algorithm}/{setting}" if algorithm in varied else algorithm
        if any(varying.startswith(f"{algorithm}/") for varying in varied):
            name = f"{name}/{repetition}"
        runs.setdefault(f"{collection}/{dataset}", {})[name] = path
    return runs


def _tables(folder: Path) -> dict[str, Path]:
    """The CSV with the labels of each data set."""
    index = folder / _INDEX
    try:
        with index.open(encoding="utf-8", newline="") as file:
            rows = list(DictReader(file))
    except (OSError, ValueError) as error:
        raise InputError(
            argument="data",
            value=str(folder),
            problem=f"has no {_INDEX} that can be read ({error})",
            remedy="pass TimeEval's folder of data",
        ) from None
    try:
        return {f"{row['collection_name']}/{row['dataset_name']}": folder / row["test_path"] for row in rows}
    except (KeyError, TypeError):
        raise InputError(
            argument="data",
            value=str(folder),
            problem=f"has another {_INDEX}",
            remedy="it must have the columns collection_name, dataset_name and test_path, as TimeEval writes them",
        ) from None
