"""NAB's folders: results/<detector>/<group>/<detector>_<file>.csv, and labels as windows or points in JSON.

Reference: Lavin and Ahmad (2015), https://github.com/numenta/NAB.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray
from nofluke.data.columns import Pairs
from nofluke.errors import InputError, Remark, arg, joined, kind_of, say
from nofluke.studies.cases import Case, Fault
from nofluke.studies.sources import fingerprints
from nofluke.studies.sources.assembling import Block, Events, Read, wide_case
from nofluke.studies.sources.chunks import Chunks, readers_in_chunks
from nofluke.studies.sources.files import folder_of, subfolders
from nofluke.studies.sources.layouts import NO_FILE, chosen, columns_in, fitting
from nofluke.studies.sources.ranges import listed_events
from nofluke.studies.sources.roles import Roles

_TIMES, _SCORES = "timestamp", "anomaly_score"
_BYTES_A_ROW = 60


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NabReader:
    """Reads one series: a file for each detector that has one."""

    series: str
    group: str
    paths: dict[str, Path] = field(repr=False)
    truth: str | None
    truth_as: str
    events: Events | None = field(repr=False, default=None)

    def case(self, detectors: Sequence[str], connection: Any) -> Case:
        """The case; steps, times and a column of labels are those of the first detector whose file can be read."""
        lead: list[AnyArray] | None = None
        scores: dict[str, Read] = {}
        for name, path in self.paths.items():
            shared = [] if lead is not None else [_TIMES, *([] if self.truth is None else [self.truth])]
            label = f"{name}/{self.group}/{path.name}"
            try:
                scores[name], *rest = columns_in(path, label, [_SCORES, *shared], _TIMES, connection)
                lead = rest if lead is None else lead
                scores[name] = fitting(scores[name], len(lead[0]), label)
            except (InputError, OSError) as error:
                scores[name] = Fault.of(error)
        if lead is None:
            why = [fault.reason for fault in scores.values() if isinstance(fault, Fault)]
            raise InputError(problem=Remark("; ".join(kind_of(one) for one in why), "{}", joined("; ", why)))
        missing = Fault(reason=NO_FILE)
        events, times = self.events, lead[0]
        notes: tuple[Remark, ...] = ()
        if not (times[1:] > times[:-1]).all():  # clocks that were turned back in autumn
            events = None if events is None else on_steps(events, times)
            notes = (Remark("no clock", "Its times do not always increase: it was read in steps, without a clock."),)
        block = Block(
            scores={name: scores.get(name, missing) for name in detectors},
            truth=lead[1] if self.truth is not None else None,
            times=None if notes else times,
        )
        return wide_case(self.series, self.group, block, detectors, self.truth_as, events, notes)


def on_steps(events: Events, times: AnyArray) -> Events:
    """Events by the steps that have their times, for a clock that does not increase."""
    truth = events.truth
    if isinstance(truth, Pairs) and truth.starts.dtype.kind == times.dtype.kind:
        inside = [
            np.flatnonzero((times >= start) & (times <= end))
            for start, end in zip(truth.starts, truth.ends, strict=True)
        ]
        ends = [(at[0], at[-1]) for at in inside if len(at)]
        starts, stops = (np.array([pair[side] for pair in ends], dtype=np.int64) for side in (0, 1))
        return Events(truth=Pairs(starts=starts, ends=stops), truth_as="auto", notes=events.notes)
    if isinstance(truth, np.ndarray) and truth.dtype.kind == times.dtype.kind:
        first = [np.flatnonzero(times == moment)[:1] for moment in truth]
        return Events(
            truth=np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *first])),
            truth_as="positions",
            notes=events.notes,
        )
    return events


def nab_source(source: Any, roles: Roles, ranges: Any, per_chunk: Any) -> Chunks:
    """The series of NAB's results folder, or of the folder above it."""
    root = folder_of(source, "source", "pass NAB's folder, or the results folder in it")
    results = root / "results" if (root / "results").is_dir() else root
    found: dict[str, dict[str, Path]] = {}
    for folder in subfolders(results):
        for group in subfolders(folder):
            for path in sorted(group.glob(f"{folder.name}_*.csv")):
                name = f"{group.name}/{path.stem.removeprefix(f'{folder.name}_')}"
                found.setdefault(name, {})[folder.name] = path
    detectors = chosen(sorted({name for paths in found.values() for name in paths}), roles.scores, str(source))
    if ranges is None and roles.truth is None:
        ranges = results.parent / "labels" / "combined_windows.json"
        if not ranges.is_file():
            raise InputError(
                argument="ranges",
                problem="is missing",
                remedy=say(
                    "pass NAB's combined_windows.json, or {} for the column of its results", arg("truth", "label")
                ),
            )
    events = None if ranges is None else listed_events(ranges, roles.truth_as, roles.series, clock=True)
    if events is not None:
        events.check(found)
    readers = [
        NabReader(
            series=name,
            group=name.split("/")[0],
            paths={one: path for one, path in paths.items() if one in detectors},
            truth=roles.truth,
            truth_as=roles.truth_as,
            events=None if events is None else events(name),
        )
        for name, paths in sorted(found.items())
    ]
    every = [path for reader in readers for path in reader.paths.values()]
    sizes = [sum(path.stat().st_size for path in reader.paths.values()) // _BYTES_A_ROW for reader in readers]
    told = {"kind": "nab", "roles": roles.to_dict(), **fingerprints.of_files(every, results)}
    told |= {} if events is None else {"ranges": events.fingerprint}
    return Chunks(detectors=detectors, fingerprint=told, parts=readers_in_chunks(readers, sizes, detectors, per_chunk))
