"""Folders of files: which of them a study is made of, and archives that arrange theirs by series, detector and group.

An archive is a row of `LAYOUTS`: the pattern of its files of scores, the columns that are read, where its labels are.
`folders` is the one whose patterns the user gives. Every file of a folder is used, or named with the reason why not.

References: Lavin and Ahmad (2015), https://github.com/numenta/NAB; Liu and Paparrizos (2024),
https://github.com/TheDatumOrg/TSB-AD; Wenig, Schmidl and Papenbrock (2022), https://github.com/TimeEval/TimeEval.
"""

from __future__ import annotations

import difflib
import glob
import os
import re
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from csv import DictReader
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray
from nofluke.data.columns import Pairs, absent
from nofluke.data.files import IS_MISSING, labels_of, numbers_of
from nofluke.data.paths import expanded
from nofluke.data.tables import FileTable, connected, kept_connection, open_table, unzipped
from nofluke.errors import InputError, Remark, arg, joined, kind_of, named, say, shortened, shown
from nofluke.studies.cases import Case, Fault, reason_of
from nofluke.studies.sources.chunks import (
    NO_SCORES,
    Block,
    Chunks,
    Events,
    Read,
    below,
    cut,
    faulty,
    sum_of_files,
    wide_case,
)
from nofluke.studies.sources.events import Listed, listed_events
from nofluke.studies.sources.names import FOLDER, Roles, group_of, names_of_files
from nofluke.studies.sources.tables import TableFile, column_at, columns_of

# ---- which files there are: one, a folder, a glob, or a list of these; and what is said of those that are not used


class Unused:
    """Files that are not used, by reason."""

    def __init__(self) -> None:
        self.files: dict[str, list[str]] = defaultdict(list)

    def add(self, reason: str, files: Iterable[str]) -> None:
        """Name files with the reason that they share."""
        self.files[reason].extend(files)

    def __iter__(self) -> Iterator[Remark]:
        """A sentence for each reason, that of most files first."""
        for reason, files in sorted(self.files.items(), key=lambda item: -len(item[1])):
            if files:
                told = "{:,} file{} not used, since {}: {}."
                are, example = "s are" if len(files) > 1 else " is", "such as " if len(files) > 1 else ""
                some = f"{example}{shortened(min(files), 120)}"
                yield Remark(f"unused: {reason}", told, len(files), are, reason, some)


def files_below(folder: Path) -> list[Path]:
    """All files in a folder and in those in it, sorted; without what programs hide, or leave as _SUCCESS."""
    every = (Path(place) / name for place, _, names in os.walk(folder) for name in names)
    return sorted(file for file in every if not _is_hidden(file.relative_to(folder)))


def _is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)


def found_files(source: Any, unused: Unused) -> tuple[list[Path], Path]:
    """The tables of a source, sorted by path, each once, and the folder that all of them are below."""
    several = source if isinstance(source, list | tuple) else [source]
    if not several:
        raise InputError(argument="source", problem="is an empty list", remedy="pass a file, a folder or a glob")
    paths: dict[Path, None] = {}
    for one in several:
        paths.update(dict.fromkeys(_of_one(one, unused)))
    every = sorted(paths)
    if len(several) == 1 and (root := expanded(several[0], "source").absolute()).is_dir():
        return every, root
    return every, Path(os.path.commonpath([path.parent for path in every]))


def _of_one(source: Any, unused: Unused) -> list[Path]:
    path = expanded(source, "source").absolute()
    if path.is_dir():
        every = files_below(path)
        found = [file for file in every if is_table(file)]
        if not found:
            names = {file.name for file in every} | {file.suffix for file in every}
            fitting = next((layout for name, layout in _SIGNS.items() if name in names), None)
            remedy: str = say("pass {}", arg("layout", fitting)) if fitting else "pass a folder of Parquet or CSV files"
            if fitting is None and ".txt" in names:
                remedy = f"name its text files by a pattern, {shown(f'{source}/*.txt')}"
            raise InputError(argument="source", value=str(source), problem="has no table in it", remedy=remedy)
        unused.add("their names do not end as those of tables do", (below(f, path) for f in every if not is_table(f)))
        return found
    if path.exists():
        return [path]
    if glob.has_magic(str(path)):
        if not (matching := [Path(name) for name in glob.glob(str(path), recursive=True)]):
            raise InputError(
                argument="source",
                value=str(source),
                problem="matches no file",
                remedy="check the pattern and the folder",
            )
        return [file for file in matching if file.is_file()]
    raise InputError(problem=f"{shortened(str(source), 300)}: there is no such file", remedy="check the path")


_SIGNS = {
    "anomaly_scores.ts": "timeeval",
    "combined_windows.json": "nab",
    "combined_labels.json": "nab",
    ".npy": "tsb-ad",
    ".zip": "folders",
}
"""Of which layout a folder is that has files of these names in it."""


def is_table(path: Path) -> bool:
    """Whether a file's name ends as tables do; text may be anything, and must be named."""
    return (
        path.name.lower().removesuffix(".gz").removesuffix(".zip").endswith((".csv", ".tsv", ".dat", ".parquet", ".pq"))
    )


def check_apart(out: Any, source: Any) -> None:
    """Refuse to write into a folder that is read: the next run would read the results as series."""
    if out is None:
        return
    place = expanded(out, "out").resolve()
    for one in source if isinstance(source, list | tuple) else [source]:
        if isinstance(one, str | Path) and place.is_relative_to(expanded(one, "source").resolve()):
            raise InputError(
                argument="out",
                value=str(out),
                problem=f"lies in the source {shown(str(one))}, where it would be read as data",
                remedy="choose another place",
            )


def folder_of(source: Any, name: str, remedy: str) -> Path:
    """A folder that must be there."""
    if source is None:
        raise InputError(argument=name, problem="is missing", remedy=remedy)
    path = expanded(source, name).absolute()
    if not path.is_dir():
        raise InputError(argument=name, value=str(source), problem="is not a folder", remedy=remedy)
    return path


# ---- patterns of paths: {series}, {detector} and {group} are names, * is anything but another folder

_FIELDS = ("series", "detector", "group")
_ENDS = r"(?:\.(?:npy|csv|tsv|txt|dat|ts|parquet|pq|zip|gz))+"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A path with names in it."""

    text: str
    fields: frozenset[str]
    regex: re.Pattern[str]

    @classmethod
    def of(cls, text: str, fields: Collection[str] = _FIELDS, argument: str = "pattern") -> Pattern:
        """The pattern; what stands in braces must be a name that is known.

        >>> Pattern.of("{detector}/{series}.*").match("lof/a.out.csv.zip")
        {'detector': 'lof', 'series': 'a.out'}
        """
        whole, ends = (text[:-2], _ENDS) if text.endswith(".*") else (text, "")
        parts, found = [], list[str]()
        for part in re.split(r"(\{[^{}]*\}|\*)", whole):
            name = part[1:-1] if part.startswith("{") and part.endswith("}") else ""
            if part == "*":
                parts.append("[^/]*")
            elif name in fields:
                parts.append(f"(?P={name})" if name in found else f"(?P<{name}>[^/]+?)")
                found.append(name)
            elif name or "{" in part or "}" in part:
                raise InputError(
                    argument=argument,
                    value=text,
                    problem=f"has {shown(part)} in it, which is none of {', '.join(f'{{{one}}}' for one in _FIELDS)}",
                    remedy="write * for a part of the path that has no meaning",
                )
            else:
                parts.append(re.escape(part))
        return cls(text, frozenset(found), re.compile("".join(parts) + ends))

    def match(self, path: str) -> dict[str, str] | None:
        """The names in a path, None where it does not fit."""
        found = self.regex.fullmatch(path)
        return None if found is None else found.groupdict()

    def sort(self, files: Iterable[Path], root: Path) -> tuple[dict[Path, dict[str, str]], list[str]]:
        """Files that fit, with the names in their paths, and what the others are called."""
        fitting: dict[Path, dict[str, str]] = {}
        others: list[str] = []
        for file in files:
            names = self.match(label := below(file, root))
            if names is None:
                others.append(label)
            else:
                fitting[file] = names
        return fitting, others


# ---- the files of one series: which column of which file is what


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the files of all series of a source have in common.

    ``column`` is that of scores, None for the only one there is; ``columns`` says that detectors are columns of one
    file. ``root`` and ``labels_root`` are the folders from which files are called by their paths.
    """

    roles: Roles
    root: Path
    labels_root: Path
    column: str | None = None
    columns: bool = False
    skips_gaps: bool = False  # detectors never saw rows with a gap
    clock_may_turn: bool = False  # as clocks are turned back in autumn: then there is none
    missing: Remark = NO_SCORES
    bytes_a_score: int | None = None

    def size(self, path: Path) -> int:
        """About how many scores are in a file."""
        known = {".npy": 8, ".parquet": 8, ".zip": 1, ".gz": 2}
        return path.stat().st_size // (self.bytes_a_score or known.get(path.suffix.lower(), 10))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SeriesFiles:
    """The files of one series, to be read wherever they are sent.

    ``scores`` has a file for each detector, or one, called "", where detectors are its columns. ``labels`` is a file,
    the labels themselves, or None where they are in the files of scores; ``fault`` is why there are none.
    """

    series: str
    group: str
    scores: Mapping[str, Path] = field(repr=False)
    labels: Path | AnyArray | None = field(repr=False, default=None)
    events: Events | None = field(repr=False, default=None)
    fault: InputError | None = None
    rules: Rules

    def case(self, detectors: Sequence[str], connection: Any) -> Case:
        """The case; what cannot be read at all is an `InputError` or an `OSError`."""
        rules, roles = self.rules, self.rules.roles
        if self.fault is not None:
            raise self.fault
        read: dict[str, Read] = {}
        unused: dict[str, None] = {}
        shared = {} if self.labels is None else self._labels(connection, unused)
        lead = None if self.labels is None else ""
        notes: tuple[Remark, ...] = ()
        for name, path in self.scores.items():
            wanted = dict.fromkeys(detectors) if rules.columns else {name: rules.column}
            wanted |= {one: one for one in wanted} if rules.columns else {}
            others = roles.of_rows if lead is None else {}
            groups = {"group": roles.others["group"]} if rules.columns and "group" in roles.others else {}
            try:
                file = File(path, below(path, rules.root), roles, connection)
                found = file.read([*wanted.values(), *others.values(), *groups.values()], unused)
            except (InputError, OSError) as error:
                if rules.columns:
                    raise
                read[name] = Fault.of(error)
                continue
            read |= dict(zip(wanted, found.columns, strict=False))
            rest = dict(zip((*others, *groups), found.columns[len(wanted) :], strict=True))
            notes = found.notes if rules.columns else ()
            if lead is None and (rules.columns or not any(isinstance(one, Fault) for one in rest.values())):
                lead, shared = name, rest
            elif lead is None:
                read[name] = next(one for one in rest.values() if isinstance(one, Fault))
        if lead is None:
            why = [fault.reason for fault in read.values() if isinstance(fault, Fault)]
            raise InputError(problem=Remark("; ".join(map(kind_of, why)), "{}", joined("; ", why)))
        return self._assembled(read, shared, detectors, notes, unused, connection)

    def _labels(self, connection: Any, unused: dict[str, None]) -> dict[str, Read]:
        """The truth, and what else has a value for each step, from the file of labels."""
        if not isinstance(self.labels, Path):
            return {} if self.labels is None else {"truth": self.labels}
        roles = self.rules.roles
        wanted: dict[str, str | None] = {"truth": None, **roles.of_rows} if self.events is None else {**roles.of_rows}
        file = File(self.labels, below(self.labels, self.rules.labels_root), roles, connection)
        return dict(zip(wanted, file.read(list(wanted.values()), unused, "truth").columns, strict=True))

    def _assembled(
        self,
        scores: dict[str, Read],
        shared: dict[str, Any],
        detectors: Sequence[str],
        notes: tuple[Remark, ...],
        unused: dict[str, None],
        connection: Any,
    ) -> Case:
        rules, roles, events, group = self.rules, self.rules.roles, self.events, self.group
        if "group" in shared:
            named = shared.pop("group")
            one = named if isinstance(named, Fault) else group_of(set(named.tolist()), str(roles.group))
            if isinstance(one, Fault):
                raise InputError(problem=one.reason)
            group = one
        lengths = {len(one) for one in scores.values() if not isinstance(one, Fault)}
        truth, times = shared.get("truth"), shared.get("times")
        if rules.skips_gaps and isinstance(truth, np.ndarray) and lengths and len(truth) not in lengths:
            kept = self._without_gaps(truth, connection)
            if roles.align is None or len(kept) in lengths:
                shared["truth"] = truth = kept
        steps = next((len(one) for one in (truth, times) if isinstance(one, np.ndarray)), 0)
        if not steps and lengths:
            first = next(one for one in scores.values() if not isinstance(one, Fault))
            steps = len(first) if roles.align is None else max(lengths)
        fitted = {name: self._fitted(name, found, steps) for name, found in scores.items()}
        if rules.clock_may_turn and isinstance(times, np.ndarray) and not (times[1:] > times[:-1]).all():
            events, shared["times"] = None if events is None else on_steps(events, times), None
            told = "Its times do not always increase: it was read in steps, without a clock."
            notes = (*notes, Remark("no clock", told))
        if unused:
            told = "Its files have columns that are not used: {}."
            notes = (*notes, Remark("unused columns", told, shown(list(unused))[1:-1]))
        missing = Fault(reason=rules.missing)
        block = Block(scores={name: fitted.get(name, missing) for name in detectors}, **shared)
        return wide_case(self.series, group, block, detectors, roles, events, notes)

    def _fitted(self, detector: str, scores: Read, steps: int) -> Read:
        """Scores of a detector, unless they are of another number of steps."""
        if isinstance(scores, Fault) or len(scores) == steps:
            return scores
        shorter, align = len(scores) < steps, self.rules.roles.align
        if shorter and align is not None:
            return scores
        offer = say(", or pass {}", arg("align", "end")) if shorter else ""
        label = below(self.scores.get(detector, self.rules.root / detector), self.rules.root)
        told = "{} has {:,} scores for {:,} steps: give each step one{}."
        return Fault(reason=Remark("other steps", told, label, len(scores), steps, offer))

    def _without_gaps(self, labels: AnyArray, connection: Any) -> AnyArray:
        assert isinstance(self.labels, Path)
        with open_table(self.labels, list(self.rules.roles.of_rows.values()), None, connection) as table:
            table.load(list(range(len(table.names))))
            gaps = " OR ".join(
                IS_MISSING.replace("(c ", f"(c{at} ").replace("(c)", f"(c{at})") for at in range(len(table.names))
            )
            kept = ~np.array([bool(row[0]) for row in table.ask(f"SELECT {gaps} FROM picked")])
        return labels[kept & ~absent(labels)]


@dataclass(frozen=True, slots=True)
class FileRead:
    """Columns of a file as they were asked for, each of which may be a fault, and what there is to say of the file."""

    columns: list[Any]
    notes: tuple[Remark, ...] = ()


@dataclass(frozen=True, slots=True)
class File:
    """A file of columns: text, Parquet or an array of NumPy, packed or not."""

    path: Path
    label: str
    roles: Roles
    connection: Any

    def read(self, wanted: Sequence[str | None], unused: dict[str, None], role: str = "score_column") -> FileRead:
        """The columns by name or position, None for the only one; what else there is goes to ``unused``."""
        with tempfile.TemporaryDirectory() as folder:
            path = unzipped(self.path, self.label, Path(folder)) if self.path.is_file() else self.path
            if _is_array(path):
                return FileRead([_from_array(path, self.label, name, role, unused) for name in wanted])
            names = [name for name in wanted if name is not None]
            with open_table(path, list(names), self.roles.time_format, self.connection, self.label) as table:
                places = [self._place(table, name, role) for name in wanted]
                there = sorted({at for at in places if not isinstance(at, Fault)})
                if not there:
                    if len(wanted) == 1 and isinstance(fault := places[0], Fault):
                        return FileRead([fault])
                    raise InputError(
                        problem=f"{self.label} has none of the columns asked for", remedy=f"it has {table.listing()}"
                    )
                table.load(there)
                unused |= dict.fromkeys(name for at, name in enumerate(table.names) if at not in there)
                columns = [self._column(table, at, name) for at, name in zip(places, wanted, strict=True)]
                return FileRead(columns, table.notes)

    def _place(self, table: FileTable, name: str | None, role: str) -> int | Fault:
        if name is None and len(table.names) > 1:
            told = "{} has the columns {}: name the one that counts by {}."
            return Fault(reason=Remark("several columns", told, self.label, table.listing(), arg(role)))
        at = 0 if name is None else found_at(table, name)
        if at is None:
            return Fault(reason=Remark("no column", "{} has no column {}.", self.label, shown(name)))
        return at

    def _column(self, table: FileTable, at: int | Fault, name: str | None) -> Any:
        if isinstance(at, Fault):
            return at
        try:
            if name is not None and name == self.roles.group:
                return np.array(
                    [one for (one,) in table.ask(f"SELECT DISTINCT c{at}::VARCHAR FROM picked")], dtype=object
                )
            return column_at(table, at, name is not None and name == self.roles.times, self.roles.time_format)
        except InputError as error:
            return Fault.of(error)


def found_at(table: FileTable, name: str) -> int | None:
    """The position of a column, if there is one of this name, or the file has no header and it is a position."""
    if name in table.names:
        return table.position(name, "columns")
    bare = table.layout is not None and not table.layout.has_header
    return int(name) if bare and name.isdecimal() and int(name) < len(table.names) else None


def _is_array(path: Path) -> bool:
    if path.suffix.lower() == ".npy":
        return True
    with path.open("rb") as file:
        return file.read(6) == b"\x93NUMPY"


def _from_array(path: Path, label: str, name: str | None, role: str, unused: dict[str, None]) -> Read:
    """One column of an array as NumPy wrote it; nothing in it is run."""
    try:
        values = np.asarray(np.load(path, allow_pickle=False))
    except (OSError, ValueError, EOFError) as error:
        told = "{} cannot be read as an array of NumPy ({})."
        return Fault(reason=Remark("no array", told, label, " ".join(str(error).split())[:120]))
    if values.ndim == 2 and values.shape[1]:
        width = values.shape[1]
        at = 0 if name is None and width == 1 else int(name) if name is not None and name.isdecimal() else width
        if at < width:
            unused |= dict.fromkeys(f"column {other}" for other in range(width) if other != at)
            values = values[:, at]
        elif name is None:
            told = "{} has {} columns: name the one that counts by {}, from 0 on."
            return Fault(reason=Remark("several columns", told, label, width, arg(role)))
    if values.ndim != 1 or values.dtype.kind not in "biuf":
        told = "{} has shape {} and holds {}: it must hold one number for each step."
        return Fault(reason=Remark("another array", told, label, values.shape, values.dtype))
    return values


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
        steps = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *first]))
        return Events(truth=steps, truth_as="positions", notes=events.notes)
    return events


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FilesChunk:
    """Some series, each with files of its own."""

    files: tuple[SeriesFiles, ...] = field(repr=False)
    detectors: tuple[str, ...]

    @property
    def series(self) -> tuple[str, ...]:
        """Names of the series in it."""
        return tuple(one.series for one in self.files)

    def read(self) -> Iterator[Case]:
        """The cases, one after another."""
        for one in self.files:
            try:
                with kept_connection() as connection:
                    case = one.case(self.detectors, connection)
            except (InputError, OSError) as error:
                case = faulty(one.series, one.group, self.detectors, reason_of(error, where=False))
            yield case


def _in_chunks(
    kind: str, every: Sequence[SeriesFiles], detectors: tuple[str, ...], rules: Rules, unused: Unused
) -> Chunks:
    """A source of series that have files of their own."""
    sizes = [sum(map(rules.size, one.scores.values())) for one in every]
    scores = [path for one in every for path in one.scores.values()]
    labels = {path: None for one in every if isinstance(path := one.labels, Path) and path.is_file()}
    told: dict[str, Any] = {"kind": kind, "roles": rules.roles.to_dict()}
    told |= {"scores": sum_of_files(scores, rules.root), "labels": sum_of_files([*labels], rules.labels_root)}
    parts = tuple(FilesChunk(files=tuple(every[part]), detectors=detectors) for part in cut(sizes))
    return Chunks(detectors=detectors, fingerprint=told, parts=parts, unused=tuple(unused))


def files_source(paths: Sequence[Path], root: Path, roles: Roles, events: Listed | None, unused: Unused) -> Chunks:
    """A source of files that hold a series each, with a column for each detector."""
    if roles.detector is not None:
        raise InputError(
            argument="detector",
            value=roles.detector,
            problem=say("is for long tables, which also need {}", arg("series")),
            remedy="name that column",
        )
    labels = [below(path, root) for path in paths]
    names = names_of_files(labels)
    if events is not None:
        events.check(names)
    with connected() as connection:
        files = [
            TableFile(path=path, label=label, folder=path.parent.name)
            for path, label in zip(paths, labels, strict=True)
        ]
        detectors = columns_of(files, roles, connection)
    rules = Rules(roles=roles, root=root, labels_root=root, columns=True, bytes_a_score=8)
    every = [
        SeriesFiles(
            series=name,
            group=path.parent.name if roles.group == FOLDER else name,
            scores={"": path},
            events=None if events is None else events(name),
            rules=rules,
        )
        for name, path in zip(names, paths, strict=True)
    ]
    return _in_chunks("files", every, detectors, rules, unused)


# ---- archives: a table of how each arranges its files, and the one reader for all of them

NO_FILE = Remark("no file", "there is no file of this detector.")
_INDEX = "datasets.csv"
Key = tuple[str, str]  # group and series; without groups these are ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How an archive arranges its files: the pattern of scores below ``source``, and what is in them."""

    scores: str
    source: str = "pass the folder that the pattern is of"
    data: str | None = None  # what to pass, where labels are in a folder of their own
    no_labels: str = "there is no file of labels for this series"
    truth: str | None = None
    times: str | None = None
    column: str | None = None
    by_group: bool = False  # series are called group/series
    skips_gaps: bool = False
    clock_may_turn: bool = False
    missing: Remark = NO_FILE
    bytes_a_score: int | None = None


LAYOUTS = {
    "nab": Layout(
        scores="{detector}/{group}/{detector}_{series}.csv",
        source="pass NAB's folder, or the results folder in it",
        times="timestamp",
        column="anomaly_score",
        by_group=True,
        clock_may_turn=True,
        bytes_a_score=60,
    ),
    "tsb-ad": Layout(
        scores="{detector}/{series}.*",
        source="pass the folder of scores, with a folder for each detector",
        data="pass the folder of TSB-AD's series, such as Datasets/TSB-AD-U",
        no_labels="the folder of data has no CSV of this series",
        truth="Label",
        skips_gaps=True,
    ),
    "timeeval": Layout(
        scores="{detector}/{setting}/{group}/{series}/{repetition}/anomaly_scores.ts",
        source="pass the folder of one run, with a folder for each algorithm",
        data=f"pass TimeEval's folder of data, with {_INDEX} in it",
        no_labels=f"{_INDEX} of the folder of data does not list this series",
        truth="is_anomaly",
        column="0",
        by_group=True,
        missing=NO_SCORES,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where files are, as arguments say it: patterns of the layout "folders", or a folder of data."""

    pattern: Any = None
    labels: Any = None
    score_column: str | None = None
    data: Any = None


def archive_source(name: str, source: Any, roles: Roles, places: Places, ranges: Any, events: Listed | None) -> Chunks:
    """The series that detectors have scores for, in one of the layouts."""
    layout = LAYOUTS[name] if name in LAYOUTS else _as_asked(roles, places, events)
    root = folder_of(source, "source", layout.source)
    if name == "nab":
        root = root / "results" if (root / "results").is_dir() else root
        events = _nab_windows(root, roles, ranges)
    pattern = Pattern.of(layout.scores, (*_FIELDS, "setting", "repetition") if name in LAYOUTS else _FIELDS)
    unused = Unused()
    found, other = pattern.sort(files_below(root), root)
    if not found and name not in LAYOUTS and other:
        raise InputError(
            argument="pattern",
            value=layout.scores,
            problem=f"fits none of the {len(other):,} files in {shown(str(source))}, such as {shown(other[0])}",
            remedy="write it as their paths in that folder are",
        )
    unused.add(f"their paths do not fit {layout.scores}", other)
    cells = _cells(found, _detectors(found, root), root, unused)
    detectors = chosen(sorted({one for files in cells.values() for one in files}), roles.scores, str(source))
    for files in cells.values():
        dropped = [one for one in files if one not in detectors]
        unused.add(f"{named('scores')} does not name their detectors", (below(files.pop(one), root) for one in dropped))
    cells = {key: files for key, files in cells.items() if files}
    labels, labels_root = _labels(name, layout, root, roles, places, cells, unused)
    if not pattern.fields & {"group"} and any(group for group, _ in labels):  # labels know the groups
        groups = {series: group for group, series in labels}
        cells = {(groups.get(series, ""), series): files for (_, series), files in cells.items()}
    names = _names(cells, layout.by_group)
    if events is not None:
        events.check(names[key] for key in cells)
    roles = replace(
        roles, truth=roles.truth or (layout.truth if events is None else None), times=roles.times or layout.times
    )
    rules = Rules(
        roles=roles,
        root=root,
        labels_root=labels_root,
        column=places.score_column or layout.column,
        skips_gaps=layout.skips_gaps,
        clock_may_turn=layout.clock_may_turn,
        missing=layout.missing,
        bytes_a_score=layout.bytes_a_score,
    )
    apart = layout.data is not None or places.labels is not None
    every = [
        SeriesFiles(
            series=names[key],
            group=_dataset(key[1]) if name == "tsb-ad" else key[0] or names[key],
            scores=files,
            labels=labels.get(key),
            events=None if events is None else events(names[key]),
            fault=_no_labels(layout) if apart and key not in labels else None,
            rules=rules,
        )
        for key, files in sorted(cells.items(), key=lambda item: names[item[0]])
    ]
    if name not in LAYOUTS:
        _check_columns(every[0], rules)
    read = _in_chunks(name, every, detectors, rules, unused)
    return (
        read
        if name != "nab" or events is None
        else replace(read, fingerprint={**read.fingerprint, "ranges": events.fingerprint})
    )


def _as_asked(roles: Roles, places: Places, events: Listed | None) -> Layout:
    """The layout "folders": its patterns are those of the user."""
    pattern, labels = places.pattern, places.labels
    if not isinstance(pattern, str) or not pattern:
        told: dict[str, Any] = {} if pattern is None else {"value": pattern}
        raise InputError(
            argument="pattern",
            **told,
            problem="is missing" if pattern is None else "must be text",
            remedy="say how the paths of scores are made, such as '{detector}/{series}.csv'",
        )
    if "series" not in Pattern.of(pattern).fields:
        raise InputError(
            argument="pattern",
            value=pattern,
            problem="has no {series} in it",
            remedy="say which part of a path names the series, such as '{detector}/{series}.csv'",
        )
    if labels is not None and events is not None:
        raise InputError(problem=say("pass either {} or {}, not both", arg("labels"), arg("ranges")))
    if labels is None and events is None and roles.truth is None:
        raise InputError(
            argument="labels",
            problem="is missing",
            remedy=say(
                "say where labels are, such as 'labels/{{series}}.csv', or pass {} for a column of the files of scores, or {}",
                arg("truth"),
                arg("ranges"),
            ),
        )
    return Layout(scores=pattern)


def _detectors(found: Mapping[Path, Mapping[str, str]], root: Path) -> dict[Path, str]:
    """The detector of each file of scores; in TimeEval's runs with hyper-parameters and repetition where they vary."""
    several: dict[tuple[str, str], set[str]] = defaultdict(set)
    for names in found.values():
        if "setting" in names:
            algorithm, series = names["detector"], f"{names['group']}/{names['series']}"
            several[algorithm, series].add(names["setting"])
            several[f"{algorithm}/{names['setting']}", series].add(names["repetition"])
    varied = {name for (name, _), ways in several.items() if len(ways) > 1}
    called: dict[Path, str] = {}
    for path, names in found.items():
        name = names.get("detector", root.name)
        # hyper-parameters that follow from the data have another name on each data set: one algorithm all the same
        full = f"{name}/{names['setting']}" if name in varied else name
        again = any(varying.startswith(f"{name}/") for varying in varied)
        called[path] = f"{full}/{names['repetition']}" if again else full
    return called


def _cells(
    found: Mapping[Path, Mapping[str, str]], called: Mapping[Path, str], root: Path, unused: Unused
) -> dict[Key, dict[str, Path]]:
    """Files of scores by series and detector, of which each cell has one: an array of NumPy before text."""
    cells: dict[Key, dict[str, Path]] = {}
    for path in sorted(found, key=lambda path: (path.suffix.lower() != ".npy", path)):
        key = found[path].get("group", ""), found[path]["series"]
        if cells.setdefault(key, {}).setdefault(called[path], path) != path:
            unused.add("another file has scores of the same detector and series", [below(path, root)])
    return cells


def _names(keys: Collection[Key], by_group: bool) -> dict[Key, str]:
    """What each series is called: with its group where that is the custom, or other groups have one of that name."""
    groups: dict[str, set[str]] = defaultdict(set)
    for group, series in keys:
        groups[series].add(group)
    return {
        (g, series): f"{g}/{series}" if g and (by_group or len(groups[series]) > 1) else series for g, series in keys
    }


def chosen(detectors: Iterable[str], asked: Sequence[str], where: str) -> tuple[str, ...]:
    """The detectors that names and patterns ask for, in their order; all where nothing is asked."""
    every = list(dict.fromkeys(detectors))
    if not every:
        raise InputError(
            argument="source",
            value=where,
            problem="has no scores of a detector in it",
            remedy=say("check the folder and {}", arg("layout")),
        )
    found: dict[str, None] = {}
    for name in asked or ("*",):
        matching = [name] if name in every else [one for one in every if fnmatchcase(one, name)]
        if not matching:
            close = difflib.get_close_matches(name, every, n=1, cutoff=0.5)
            hint = f"did you mean {shown(close[0])}" if close else "use one of them"
            raise InputError(
                argument="scores", value=name, problem=f"is not one of the detectors {shown(every)[1:-1]}", remedy=hint
            )
        found.update(dict.fromkeys(matching))
    return tuple(found)


# ---- where the labels of an archive are


def _labels(
    name: str,
    layout: Layout,
    root: Path,
    roles: Roles,
    places: Places,
    cells: Mapping[Key, Any],
    unused: Unused,
) -> tuple[dict[Key, Path | AnyArray], Path]:
    """Labels of series, or the files that have them, and the folder of these; none where files of scores have them."""
    if name == "timeeval":
        folder = folder_of(places.data, "data", str(layout.data))
        tables = _timeeval_tables(folder)
        unused.add(
            "no run has scores of them", (below(path, folder) for key, path in tables.items() if key not in cells)
        )
        return {**tables}, folder
    if name == "tsb-ad":
        folder = folder_of(places.data, "data", str(layout.data))
        # TSB-AD names its arrays by what stands before the first dot
        return _label_files(Pattern.of("{series}.*csv"), folder, "data", places.data, cells, unused), folder
    if places.labels is None:
        return {}, root
    text = str(places.labels)
    parts = Path(text).parts
    fixed = next((at for at, part in enumerate(parts) if set(part) & set("{*")), len(parts) - 1)
    folder = folder_of(Path(*parts[:fixed]) if fixed else Path(), "labels", "name a folder that is there")
    pattern = Pattern.of("/".join(parts[fixed:]), ("series", "group"), "labels")
    if "series" in pattern.fields:
        return _label_files(pattern, folder, "labels", text, cells, unused), folder
    files, _ = pattern.sort(files_below(folder) if pattern.fields else [folder / parts[-1]], folder)
    found: dict[Key, Path | AnyArray] = {}
    for path, names in files.items():
        own = {series: key for key in cells if key[0] == names.get("group", key[0]) for series in [key[1]]}
        table = labels_by_series(path, below(path, folder), roles)
        found |= {own[series]: labels for series, labels in table.items() if series in own}
    if not found:
        raise _no_series("labels", text, cells)
    return found, folder


def _label_files(
    pattern: Pattern, folder: Path, argument: str, value: Any, cells: Mapping[Key, Any], unused: Unused
) -> dict[Key, Path | AnyArray]:
    """The file of labels of each series."""
    files, other = pattern.sort(files_below(folder), folder)
    by_group = "group" in pattern.fields and any(group for group, _ in cells)
    wanted = {(group if by_group else "", series): (group, series) for group, series in cells}
    found: dict[Key, Path | AnyArray] = {}
    taken: dict[Key, Path] = {}
    lone: list[str] = []
    for path, names in files.items():
        place = names.get("group", "") if by_group else "", names["series"]
        if taken.setdefault(place, path) != path:
            before = (
                "one series by what stands before the first dot" if argument == "data" else "two files of one series"
            )
            raise InputError(
                argument=argument,
                value=str(value),
                problem=f"has {shown(below(taken[place], folder))} and {shown(below(path, folder))}, {before}",
                remedy="rename one",
            )
        if place not in wanted:
            lone.append(below(path, folder))
            continue
        # where scores have no groups, those of the labels count
        found[names.get("group", wanted[place][0]), names["series"]] = path
    if not found:
        raise _no_series(argument, value, cells)
    unused.add(f"they do not fit {pattern.text}, the labels", other)
    unused.add("they are labels of series without scores", lone)
    return found


def _no_series(argument: str, value: Any, cells: Mapping[Key, Any]) -> InputError:
    what = (
        "has no CSV of a series that has scores" if argument == "data" else "has no labels of a series that has scores"
    )
    return InputError(
        argument=argument,
        value=str(value),
        problem=f"{what}, such as {shown(next(iter(cells))[1])}" if argument == "labels" else what,
        remedy="pass the folder of TSB-AD's series" if argument == "data" else "use the same names in both",
    )


def labels_by_series(path: Path, label: str, roles: Roles) -> dict[str, AnyArray]:
    """Labels of many series in one file: by rows that name their series, else by columns that are called like them."""
    wanted = [name for name in (roles.series, roles.truth) if name is not None]
    with open_table(path, list(wanted), None, None, label) as table:
        if roles.series is None:
            table.load(list(range(len(table.names))))
            columns = {name: numbers_of(table, at) for at, name in enumerate(table.names)}
            # a shorter column ends in empty cells
            return {
                name: values[: len(values) - int(np.argmax(~absent(values)[::-1]))] for name, values in columns.items()
            }
        if roles.truth is None:
            raise InputError(argument="truth", problem="is missing", remedy=f"name the column of labels in {label}")
        places = [table.position(name, role) for name, role in ((roles.series, "series"), (roles.truth, "truth"))]
        table.load(sorted(places))
        names, values = labels_of(table, places[0]).astype(str), numbers_of(table, places[1])
    return {str(name): values[names == name] for name in dict.fromkeys(names.tolist())}


def _no_labels(layout: Layout) -> InputError:
    where = arg("data") if layout.data is not None else arg("labels")
    return InputError(problem=layout.no_labels, remedy=say("check {}", where))


def _check_columns(first: SeriesFiles, rules: Rules) -> None:
    """Refuse files of several columns of which none was named, before all of them are read."""
    scores = next(iter(first.scores.values()))
    asked = [(scores, rules.root, rules.column, "score_column")]
    if isinstance(first.labels, Path):
        asked.append((first.labels, rules.labels_root, rules.roles.truth, "truth"))
    for path, root, column, role in asked:
        found: Any = None
        with suppress(InputError, OSError), kept_connection() as connection:  # said where it is read
            (found,) = File(path, below(path, root), rules.roles, connection).read([column], {}, role).columns
        if isinstance(found, Fault) and kind_of(found.reason) in ("several columns", "no column"):
            raise InputError(problem=found.reason)


def _nab_windows(results: Path, roles: Roles, ranges: Any) -> Listed | None:
    """NAB's windows, or what is passed in their place; none where a column of the results is the truth."""
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
    return None if ranges is None else listed_events(ranges, roles.truth_as, roles.series, clock=True)


def _dataset(series: str) -> str:
    """The data set in a name such as 001_NAB_id_1_Facility_tr_1007_1st_2014; other names are their own."""
    found = re.match(r"\d+_(.+?)_id_\d", series)
    return found[1] if found else series


def _timeeval_tables(folder: Path) -> dict[Key, Path]:
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
        return {(row["collection_name"], row["dataset_name"]): folder / row["test_path"] for row in rows}
    except (KeyError, TypeError):
        raise InputError(
            argument="data",
            value=str(folder),
            problem=f"has another {_INDEX}",
            remedy="it must have the columns collection_name, dataset_name and test_path, as TimeEval writes them",
        ) from None
