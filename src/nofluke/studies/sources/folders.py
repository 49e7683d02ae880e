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
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from csv import DictReader
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nofluke.arrays import AnyArray
from nofluke.data.columns import Pairs, absent
from nofluke.data.files import IS_MISSING, labels_of, numbers_of
from nofluke.data.paths import expanded
from nofluke.data.tables import FileTable, connected, is_position, kept_connection, open_table, unzipped
from nofluke.errors import InputError, Remark, arg, joined, kind_of, named, passed, say, shortened, shown
from nofluke.extras import needed
from nofluke.studies.cases import Case, Fault, reason_of
from nofluke.studies.sources.chunks import (
    NO_SCORES,
    Block,
    Chunks,
    Events,
    Read,
    cut,
    faulty,
    sizes_of,
    sum_of_files,
    wide_case,
)
from nofluke.studies.sources.events import Listed
from nofluke.studies.sources.names import FOLDER, Roles, group_of, matching, names_of_files, no_column
from nofluke.studies.sources.tables import column_at, columns_of

# ---- which files there are: one, a folder, a glob, or a list of these; and what is said of those that are not used


class Unused:
    """Files, columns and series that are not used, by reason."""

    def __init__(self) -> None:
        self.named: dict[tuple[str, str], list[str]] = defaultdict(list)

    def add(self, reason: str, names: Iterable[str], what: Literal["file", "column", "series"] = "file") -> None:
        """Name some with the reason that they share."""
        self.named[what, reason].extend(names)

    def __iter__(self) -> Iterator[Remark]:
        """A sentence for each reason, that of most names first."""
        for (what, reason), names in sorted(self.named.items(), key=lambda item: -len(item[1])):
            if names:
                told = "{:,} {} not used, since {}: {}{}."
                several = "series are" if what == "series" else f"{what}s are"
                are, example = (several, "such as ") if len(names) > 1 else (f"{what} is", "")
                yield Remark(f"unused: {reason}", told, len(names), are, reason, example, shortened(min(names), 120))


def files_below(folder: Path) -> dict[str, str]:
    """All files in a folder and in those in it, also where links lead, each folder once: name and real path of each.

    Names are paths from the folder on, in the order of paths. What programs hide, or leave as _SUCCESS, is not among
    them.
    """
    found: dict[str, str] = {}
    seen: set[str] = set()
    inside, linked = [""], list[str]()  # links come last: a folder is called by where it is, if that is below as well
    while inside or linked:
        at = inside.pop() if inside else linked.pop(0)
        place = os.path.realpath(os.path.join(folder, at))
        if place in seen:
            continue
        seen.add(place)
        with suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                if entry.name.startswith((".", "_")):
                    continue
                if _leads_to_folder(entry):
                    (linked if entry.is_symlink() else inside).append(f"{at}{entry.name}/")
                else:
                    own = os.path.join(place, entry.name)
                    found[at + entry.name] = os.path.realpath(own) if entry.is_symlink() else own
    return {name: found[name] for name in sorted(found, key=in_order)}


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # links in a circle
        return False


def in_order(name: str) -> list[str]:
    """What sorts paths folder by folder, as `Path` does."""
    return name.split("/")


def _apart(ranges: Any) -> set[str]:
    """Where the file of ranges really is, which holds no scores, by whatever path it is named."""
    return {os.path.realpath(expanded(ranges, "ranges"))} if isinstance(ranges, str | Path) else set()


def found_files(source: Any, ranges: Any, unused: Unused) -> tuple[list[str], Path]:
    """The tables of a source but that of ranges, each once, by their sorted names below a folder; and that folder."""
    several = source if isinstance(source, list | tuple) else [source]
    if not several:
        raise InputError(argument="source", problem="is an empty list", remedy="pass a file, a folder or a glob")
    apart = _apart(ranges)
    found = {one: None for each in several for one in _of_one(each, apart, unused)}
    if len(several) == 1 and (folder := expanded(several[0], "source").absolute()).is_dir():
        root = folder
    else:
        root = Path(os.path.commonpath([os.path.dirname(path) for path in found]))
    start = len(os.path.join(root, ""))
    return sorted((path[start:].replace(os.sep, "/") for path in found), key=in_order), root


def _of_one(source: Any, apart: set[str], unused: Unused) -> Iterable[str]:
    """Whole paths of the tables that one path or glob leads to."""
    path = expanded(source, "source").absolute()
    if path.is_dir():
        every = [name for name, place in files_below(path).items() if place not in apart]
        found = [name for name in every if is_table(name)]
        if not found:
            names = {os.path.basename(name) for name in every} | {os.path.splitext(name)[1] for name in every}
            fitting = next((layout for name, layout in _SIGNS.items() if name in names), None)
            remedy: str = say("pass {}", arg("layout", fitting)) if fitting else "pass a folder of Parquet or CSV files"
            if fitting is None and ".txt" in names:
                remedy = f"name its text files by a pattern, {shown(f'{source}/*.txt')}"
            raise InputError(argument="source", value=str(source), problem="has no table in it", remedy=remedy)
        unused.add("their names do not end as those of tables do", (name for name in every if not is_table(name)))
        return [os.path.join(path, name) for name in found]
    if path.exists():
        return [str(path)]
    if glob.has_magic(str(path)):
        matching = [str(Path(name)) for name in glob.glob(str(path), recursive=True) if os.path.isfile(name)]
        if not matching:
            raise InputError(
                argument="source",
                value=str(source),
                problem="matches no file",
                remedy="check the pattern and the folder",
            )
        return [file for file in matching if os.path.realpath(file) not in apart]
    raise InputError(problem=f"{shortened(str(source), 300)}: there is no such file", remedy="check the path")


_SIGNS = {
    "anomaly_scores.ts": "timeeval",
    "combined_windows.json": "nab",
    "combined_labels.json": "nab",
    ".npy": "tsb-ad",
    ".zip": "folders",
}
"""Of which layout a folder is that has files of these names in it."""


def is_table(name: str) -> bool:
    """Whether a file's name ends as tables do; text may be anything, and must be named."""
    return name.lower().removesuffix(".gz").removesuffix(".zip").endswith((".csv", ".tsv", ".dat", ".parquet", ".pq"))


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
                    problem=f"has {shown(part)} in it, which is none of {', '.join(f'{{{one}}}' for one in fields)}",
                    remedy="write * for a part of the path that has no meaning",
                )
            else:
                parts.append(re.escape(part))
        return cls(text, frozenset(found), re.compile("".join(parts) + ends))

    def match(self, path: str) -> dict[str, str] | None:
        """The names in a path, None where it does not fit."""
        found = self.regex.fullmatch(path)
        return None if found is None else found.groupdict()

    def sort(self, files: Iterable[str]) -> tuple[dict[str, dict[str, str]], list[str]]:
        """Paths that fit, with the names in them, and the others."""
        found = {file: self.match(file) for file in files}
        others = [file for file, names in found.items() if names is None]
        return {file: names for file, names in found.items() if names is not None}, others


# ---- layouts: a table of how archives arrange their files

_INDEX = "datasets.csv"
_NO_FILE = Remark("no file", "there is no file of this detector.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How files are arranged: the pattern of scores below ``source``, and what is in them.

    ``source`` and ``data`` say what to pass for these arguments; ``data`` is None where labels are not in a folder of
    their own.
    """

    scores: str
    source: str = "pass the folder that the pattern is of"
    inside: str = ""  # the folder of scores in the source, where it is there
    data: str | None = None
    no_labels: str = "there are no labels of this series"
    truth: str | None = None
    times: str | None = None
    column: str | None = None  # of scores; None for the only one there is
    column_by: str = "scores"  # the argument that names it
    columns: bool = False  # detectors are columns of one file
    by_group: bool = False  # series are called group/series
    group_in_name: str = ""  # an expression that finds the group in the name of a series
    skips_gaps: bool = False  # detectors never saw rows with a gap
    clock_may_turn: bool = False  # as clocks are turned back in autumn: then there is none
    missing: Remark = _NO_FILE
    bytes_a_score: int | None = None

    def group_of(self, series: str) -> str:
        """What a series belongs to, by its name; some are their own."""
        found = re.match(self.group_in_name, series) if self.group_in_name else None
        return found[1] if found else series


FILES = Layout(scores="{series}.*", columns=True, missing=NO_SCORES, bytes_a_score=8)
"""A file for each series, with a column for each detector: the layout "wide" of files without ``series``."""

LAYOUTS = {
    "nab": Layout(
        scores="{detector}/{group}/{detector}_{series}.csv",
        source="pass NAB's folder, or the results folder in it",
        inside="results",
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
        group_in_name=r"\d+_(.+?)_id_\d",  # 001_NAB_id_1_Facility_tr_1007_1st_2014 is of NAB
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


# ---- the files of one series: which column of which file is what


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the files of all series of a source have in common.

    ``root`` and ``labels_root`` are the folders from which files are called by their paths.
    """

    roles: Roles
    root: Path
    labels_root: Path
    layout: Layout

    def scores_in(self, name: str, size: int) -> int:
        """About how many scores are in a file of so many bytes."""
        known = {".npy": 8, ".parquet": 8, ".zip": 1, ".gz": 2}
        return size // (self.layout.bytes_a_score or known.get(os.path.splitext(name)[1].lower(), 10))


Labels = str | Mapping[str, Read] | InputError
"""The file of a series' labels, what was read already of those that share one, or why there are none."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SeriesFiles:
    """The files of one series, to be read wherever they are sent.

    ``scores`` has a file for each detector, or one, called "", where detectors are its columns. ``labels`` is None
    where they are in the files of scores.
    """

    series: str
    group: str
    scores: Mapping[str, str] = field(repr=False)
    labels: Labels | None = field(repr=False, default=None)
    events: Events | None = field(repr=False, default=None)
    rules: Rules

    def case(self, detectors: Sequence[str]) -> Case:
        """The case; what cannot be read at all is an `InputError`."""
        roles, layout = self.rules.roles, self.rules.layout
        read: dict[str, Read] = {}
        unused: dict[str, None] = {}
        shared = self._labels(unused)
        lead = None if self.labels is None else ""
        notes: tuple[Remark, ...] = ()
        for name, file in self.scores.items():
            asked = {one: one for one in detectors} if layout.columns else {name: layout.column}
            wanted = {one: (column, layout.column_by) for one, column in asked.items()}
            others = roles.of_rows if lead is None else {}
            groups = {"group": roles.others["group"]} if layout.columns and "group" in roles.others else {}
            try:
                besides = [(column, role) for role, column in {**others, **groups}.items()]
                columns, told = File(self.rules.root, file, roles).read([*wanted.values(), *besides], unused)
            except InputError as error:
                if layout.columns:
                    raise
                read[name] = Fault.of(error)
                continue
            read |= dict(zip(wanted, columns, strict=False))
            rest = dict(zip((*others, *groups), columns[len(wanted) :], strict=True))
            notes = told if layout.columns else ()
            if lead is None and (layout.columns or not any(isinstance(one, Fault) for one in rest.values())):
                lead, shared = name, rest
            elif lead is None:
                read[name] = next(one for one in rest.values() if isinstance(one, Fault))
        if lead is None:
            why = [fault.reason for fault in read.values() if isinstance(fault, Fault)]
            raise InputError(problem=Remark("; ".join(map(kind_of, why)), "{}", joined("; ", why)))
        return self._assembled(read, shared, detectors, notes, unused)

    def _labels(self, unused: dict[str, None]) -> dict[str, Read]:
        """The truth, and what else has a value for each step, from the file of labels."""
        if isinstance(self.labels, InputError):
            raise self.labels
        if not isinstance(self.labels, str):
            return {**(self.labels or {})}
        file = File(self.rules.labels_root, self.labels, self.rules.roles)
        columns, _ = file.read([(column, role) for role, column in self.of_labels.items()], unused)
        return dict(zip(self.of_labels, columns, strict=True))

    @property
    def of_labels(self) -> dict[str, str | None]:
        """Role and column of what a file of labels has, None for the only column."""
        return {**({"truth": None} if self.events is None else {}), **self.rules.roles.of_rows}

    def _assembled(
        self,
        scores: dict[str, Read],
        shared: dict[str, Any],
        detectors: Sequence[str],
        notes: tuple[Remark, ...],
        unused: dict[str, None],
    ) -> Case:
        roles, layout, events, group = self.rules.roles, self.rules.layout, self.events, self.group
        if "group" in shared:
            named = shared.pop("group")
            one = named if isinstance(named, Fault) else group_of(set(named.tolist()), str(roles.group))
            if isinstance(one, Fault):
                raise InputError(problem=one.reason)
            group = one
        lengths = [len(one) for one in scores.values() if not isinstance(one, Fault)]
        truth, times = shared.get("truth"), shared.get("times")
        if layout.skips_gaps and isinstance(truth, np.ndarray) and lengths and len(truth) not in lengths:
            kept = self._without_gaps(truth)
            if roles.align is None or len(kept) in lengths:
                shared["truth"] = truth = kept
        steps = next((len(one) for one in (truth, times) if isinstance(one, np.ndarray)), 0)
        if not steps and lengths:
            steps = lengths[0] if roles.align is None else max(lengths)
        fitted = {name: self._fitted(name, found, steps) for name, found in scores.items()}
        if layout.clock_may_turn and isinstance(times, np.ndarray) and not (times[1:] > times[:-1]).all():
            events, shared["times"] = None if events is None else on_steps(events, times), None
            told = "Its times do not always increase: it was read in steps, without a clock."
            notes = (*notes, Remark("no clock", told))
        if unused:
            told = "Its files have columns that are not used: {}."
            notes = (*notes, Remark("unused columns", told, shown(list(unused))[1:-1]))
        missing = Fault(reason=layout.missing)
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
        label = self.scores.get(detector, detector)
        told = "{} has {:,} scores for {:,} steps: give each step one{}."
        return Fault(reason=Remark("other steps", told, label, len(scores), steps, offer))

    def _without_gaps(self, labels: AnyArray) -> AnyArray:
        assert isinstance(self.labels, str)
        wanted: list[str | int] = [*self.rules.roles.of_rows.values()]
        path = self.rules.labels_root / self.labels
        with kept_connection() as connection, open_table(path, wanted, None, connection) as table:
            table.load(list(range(len(table.names))))
            gaps = " OR ".join(
                IS_MISSING.replace("(c ", f"(c{at} ").replace("(c)", f"(c{at})") for at in range(len(table.names))
            )
            kept = ~np.array([bool(row[0]) for row in table.ask(f"SELECT {gaps} FROM picked")])
        return labels[kept & ~absent(labels)]


FileRead = tuple[list[Any], tuple[Remark, ...]]
"""Columns of a file as they were asked for, each of which may be a fault, and what there is to say of the file."""


@dataclass(frozen=True, slots=True)
class File:
    """A file of columns: text, Parquet or an array of NumPy, packed or not."""

    root: Path
    label: str  # its path from there on
    roles: Roles

    def read(self, wanted: Sequence[tuple[str | None, str]], unused: dict[str, None]) -> FileRead:
        """Columns by name or position, None for the only one, each with the argument that asks for it.

        What else there is goes to ``unused``.
        """
        try:
            with tempfile.TemporaryDirectory() as folder:
                path = unzipped(self.root / self.label, self.label, Path(folder))
                if _is_array(path):
                    return [_from_array(path, self.label, *asked, unused) for asked in wanted], ()
                return self._table(path, wanted, unused)
        except OSError as error:
            raise InputError(
                problem=f"{self.label} cannot be read ({error.strerror or error})", remedy="check the file"
            ) from None

    def _table(self, path: Path, wanted: Sequence[tuple[str | None, str]], unused: dict[str, None]) -> FileRead:
        names: list[str | int] = [name for name, _ in wanted if name is not None]
        with (
            kept_connection() as connection,
            open_table(path, names, self.roles.time_format, connection, self.label) as table,
        ):
            places = [self._place(table, name, role) for name, role in wanted]
            there = sorted({at for at in places if not isinstance(at, Fault)})
            if not there:
                if len(wanted) == 1 and isinstance(fault := places[0], Fault):
                    return [fault], ()
                raise InputError(
                    problem=f"{self.label} has none of the columns asked for", remedy=f"it has {table.listing()}"
                )
            table.load(there)
            unused |= dict.fromkeys(name for at, name in enumerate(table.names) if at not in there)
            columns = [self._column(table, at, name) for at, (name, _) in zip(places, wanted, strict=True)]
            return columns, table.notes

    def _place(self, table: FileTable, name: str | None, role: str) -> int | Fault:
        if name is None and len(table.names) > 1:
            return _several_columns(self.label, f"has the columns {table.listing()}", role)
        at = 0 if name is None else found_at(table, name)
        return Fault.of(table.no_column(str(name), role)) if at is None else at

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
    shape, values = values.shape, values[:, None] if values.ndim == 1 else values
    width = values.shape[1] if values.ndim == 2 else 0
    if not width or values.dtype.kind not in "biuf":
        told = "{} has shape {} and holds {}: it must hold one number for each step."
        return Fault(reason=Remark("another array", told, label, shape, values.dtype))
    if name is None and width > 1:
        return _several_columns(label, f"has {width} columns, from 0 on", role)
    if name is not None and not is_position(name, width):
        return Fault.of(no_column(label, [*map(str, range(width))], name, role))
    at = int(name or 0)
    unused |= dict.fromkeys(f"column {other}" for other in range(width) if other != at)
    return values[:, at]


def _several_columns(label: str, has: str, role: str) -> Fault:
    remedy = "keep that of scores" if role == "scores" else say("name the one that counts by {}", arg(role))
    return Fault(reason=Remark("several columns", "{} {}: {}.", label, has, remedy))


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

    def read(self, some: Container[str] | None = None) -> Iterator[Case]:
        """The cases, one after another."""
        for one in self.files:
            if some is not None and one.series not in some:
                continue
            try:
                case = one.case(self.detectors)
            except InputError as error:
                case = faulty(one.series, one.group, self.detectors, reason_of(error, where=False))
            yield case


def _in_chunks(
    kind: str,
    every: Sequence[SeriesFiles],
    detectors: tuple[str, ...],
    rules: Rules,
    unused: Unused,
    labels: Sequence[str] = (),
) -> Chunks:
    """A source of series that have files of their own, and the files with their labels."""
    sizes = sizes_of((name for one in every for name in one.scores.values()), rules.root)
    told: dict[str, Any] = {"kind": kind, "roles": rules.roles.to_dict()}
    told["scores"] = sum_of_files(sizes, rules.root)
    told["labels"] = sum_of_files(sizes_of(labels, rules.labels_root), rules.labels_root)
    n_scores = [sum(rules.scores_in(name, sizes[name]) for name in one.scores.values()) for one in every]
    parts = tuple(FilesChunk(files=tuple(every[part]), detectors=detectors) for part in cut(n_scores))
    return Chunks(detectors=detectors, fingerprint=told, parts=parts, unused=tuple(unused))


def files_source(files: Sequence[str], root: Path, roles: Roles, events: Listed | None, unused: Unused) -> Chunks:
    """A source of files that hold a series each, with a column for each detector."""
    if roles.detector is not None:
        raise InputError(
            argument="detector",
            value=roles.detector,
            problem=say("is for long tables, which also need {}", arg("series")),
            remedy="name that column",
        )
    names = names_of_files(files)
    if events is not None:
        events.check(names)
    with connected() as connection:
        detectors = columns_of(files, root, roles, connection)
    rules = Rules(roles=roles, root=root, labels_root=root, layout=FILES)
    every = [
        SeriesFiles(
            series=name,
            group=(os.path.basename(os.path.dirname(file)) or root.name) if roles.group == FOLDER else name,
            scores={"": file},
            events=None if events is None else events(name),
            rules=rules,
        )
        for name, file in zip(names, files, strict=True)
    ]
    return _in_chunks("files", every, detectors, rules, unused)


# ---- archives, and the one reader for all of them

Key = tuple[str, str]  # group and series; without groups these are ""


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
    root = scores_folder(source, layout)
    pattern = Pattern.of(layout.scores, (*_FIELDS, "setting", "repetition") if name in LAYOUTS else _FIELDS)
    unused = Unused()
    truths = _label_files(name, layout, places)
    apart = _apart(ranges)
    if truths is not None:
        apart |= {truths.places[file] for file, _ in truths.files}
    every = files_below(root)
    found, other = pattern.sort(file for file, place in every.items() if place not in apart)
    if not found and name not in LAYOUTS and every:
        where = shown(str(source))
        problem = f"fits no file in {where} other than those that hold events"
        if other:
            problem = f"fits none of the {len(other):,} files in {where}, such as {shown(other[0])}"
        raise InputError(
            argument="pattern",
            value=layout.scores,
            problem=problem,
            remedy="write it as their paths in that folder are",
        )
    unused.add(f"their paths do not fit {layout.scores}", other)
    cells = _cells(found, _detectors(found, root), unused)
    detectors = chosen(sorted({one for files in cells.values() for one in files}), roles.scores, str(source))
    for files in cells.values():
        dropped = [one for one in files if one not in detectors]
        unused.add(f"{named('scores')} does not name their detectors", map(files.pop, dropped))
    cells = {key: files for key, files in cells.items() if files}
    _check_installed(root, cells, truths)
    labels, labels_read = ({}, ()) if truths is None else _labels(truths, roles, cells, unused)
    if truths is not None:
        below_source = set(every.values())
        beside = (file for file in truths.others if truths.places[file] not in below_source)
        unused.add(f"they do not fit {truths.pattern}, the labels", beside)
    if "group" not in pattern.fields and any(group for group, _ in labels):  # labels know the groups
        groups = {series: group for group, series in labels}
        cells = {(groups.get(series, ""), series): files for (_, series), files in cells.items()}
    names = _names(cells, layout.by_group)
    if events is not None:
        events.check(names[key] for key in cells)
    roles = replace(
        roles, truth=roles.truth or (layout.truth if events is None else None), times=roles.times or layout.times
    )
    rules = Rules(roles=roles, root=root, labels_root=root if truths is None else truths.folder, layout=layout)
    without = None if truths is None else InputError(problem=layout.no_labels, remedy=say("check {}", arg(truths.by)))
    series = [
        SeriesFiles(
            series=names[key],
            group=key[0] or layout.group_of(names[key]),
            scores=files,
            labels=labels.get(key, without),
            events=None if events is None else events(names[key]),
            rules=rules,
        )
        for key, files in sorted(cells.items(), key=lambda item: names[item[0]])
    ]
    if name not in LAYOUTS:
        _check_columns(series[0], rules)
    return _in_chunks(name, series, detectors, rules, unused, labels_read)


def scores_folder(source: Any, layout: Layout) -> Path:
    """The folder of scores that a source is, or has in it."""
    root = folder_of(source, "source", layout.source)
    return root / layout.inside if (root / layout.inside).is_dir() else root


def nab_windows(source: Any) -> Path:
    """The file of NAB's windows, which is beside its results."""
    found = scores_folder(source, LAYOUTS["nab"]).parent / "labels" / "combined_windows.json"
    if not found.is_file():
        raise InputError(
            argument="ranges",
            problem="is missing",
            remedy=say("pass NAB's combined_windows.json, or {} for the column of its results", arg("truth", "label")),
        )
    return found


def _as_asked(roles: Roles, places: Places, events: Listed | None) -> Layout:
    """The layout "folders": its patterns are those of the user."""
    pattern, labels = places.pattern, places.labels
    example = "such as '{detector}/{series}.csv'"
    if not isinstance(pattern, str):
        told: dict[str, Any] = {} if pattern is None else {"value": pattern}
        raise InputError(
            argument="pattern",
            **told,
            problem="is missing" if pattern is None else "must be text",
            remedy=f"say how the paths of scores are made, {example}",
        )
    if {"", ".", ".."} & set(pattern.split("/")):
        raise InputError(
            argument="pattern",
            value=pattern,
            problem=say("is no path below {}", named("source")),
            remedy=f"begin with a folder or file in it, {example}",
        )
    if "series" not in Pattern.of(pattern).fields:
        raise InputError(
            argument="pattern",
            value=pattern,
            problem="has no {series} in it",
            remedy=f"say which part of a path names the series, {example}",
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
    if roles.series is not None and events is None and (labels is None or "{series}" in str(labels)):
        raise InputError(
            argument="series",
            value=roles.series,
            problem=say("names a column of one table of labels, or of {}, and there is none", arg("ranges")),
            remedy="leave it out",
        )
    return Layout(scores=pattern, column=places.score_column, column_by="score_column")


def _detectors(found: Mapping[str, Mapping[str, str]], root: Path) -> dict[str, str]:
    """The detector of each file of scores; in TimeEval's runs with hyper-parameters and repetition where they vary."""
    several: dict[tuple[str, str], set[str]] = defaultdict(set)
    for names in found.values():
        if "setting" in names:
            algorithm, series = names["detector"], f"{names['group']}/{names['series']}"
            several[algorithm, series].add(names["setting"])
            several[f"{algorithm}/{names['setting']}", series].add(names["repetition"])
    varied = {name for (name, _), ways in several.items() if len(ways) > 1}
    called: dict[str, str] = {}
    for file, names in found.items():
        name = names.get("detector", root.name)
        # hyper-parameters that follow from the data have another name on each data set: one algorithm all the same
        full = f"{name}/{names['setting']}" if name in varied else name
        again = any(varying.startswith(f"{name}/") for varying in varied)
        called[file] = f"{full}/{names['repetition']}" if again else full
    return called


def _cells(
    found: Mapping[str, Mapping[str, str]], called: Mapping[str, str], unused: Unused
) -> dict[Key, dict[str, str]]:
    """Files of scores by series and detector, of which each cell has one: an array of NumPy before text."""
    cells: dict[Key, dict[str, str]] = {}
    for file in sorted(found, key=lambda file: not file.lower().endswith(".npy")):
        key = found[file].get("group", ""), found[file]["series"]
        if cells.setdefault(key, {}).setdefault(called[file], file) != file:
            unused.add("another file has scores of the same detector and series", [file])
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
        fitting = matching(every, name)
        if not fitting:
            close = difflib.get_close_matches(name, every, n=1, cutoff=0.5)
            hint = f"did you mean {shown(close[0])}" if close else "use one of them"
            raise InputError(
                argument="scores", value=name, problem=f"is not one of the detectors {shown(every)[1:-1]}", remedy=hint
            )
        found.update(dict.fromkeys(fitting))
    return tuple(found)


# ---- where the labels of an archive are


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelFiles:
    """The files with labels, each with the names in its path, and what else is in their folder.

    ``places`` has where each of them really is, ``by`` is the argument that says where they are, and ``remedy`` what to
    do if it says it wrongly.
    """

    by: Literal["labels", "data"]
    value: str
    folder: Path
    files: Sequence[tuple[str, Mapping[str, str]]]
    places: Mapping[str, str]
    pattern: str = ""
    others: Sequence[str] = ()
    remedy: str

    def wrong(self, problem: str, remedy: str = "") -> InputError:
        """The error that what was passed has this problem."""
        return InputError(argument=self.by, value=self.value, problem=problem, remedy=remedy or self.remedy)


def _label_files(name: str, layout: Layout, places: Places) -> LabelFiles | None:
    """The files with labels; None where files of scores have them, or events are ranges."""
    if layout.data is not None:
        folder, value = folder_of(places.data, "data", layout.data), str(places.data)
        if name == "timeeval":
            files = _timeeval_tables(folder)
            real = {file: os.path.realpath(folder / file) for file, _ in files}
            return LabelFiles(by="data", value=value, folder=folder, files=files, places=real, remedy=layout.data)
        # TSB-AD names its arrays by what stands before the first dot
        return _fitting(Pattern.of("{series}.*csv"), folder, "data", value, layout.data)
    if places.labels is None:
        return None
    example, same = "such as 'labels/{series}.csv'", "use the same names in both"
    if not isinstance(places.labels, str | Path):
        raise InputError(
            argument="labels", value=places.labels, problem="must be a path", remedy=f"say where labels are, {example}"
        )
    text, path = str(places.labels), expanded(places.labels, "labels")
    fixed = next((at for at, part in enumerate(path.parts) if set(part) & set("{*")), None)
    if fixed is None:
        if path.is_dir():
            remedy = f"say how the paths in it are made, {example}"
            raise InputError(argument="labels", value=text, problem="is a folder", remedy=remedy)
        if not path.exists():
            raise InputError(argument="labels", value=text, problem="is no file that is there", remedy="check the path")
        table = path.absolute()
        return LabelFiles(
            by="labels",
            value=text,
            folder=table.parent,
            files=[(table.name, {})],
            places={table.name: os.path.realpath(table)},
            remedy=same,
        )
    folder = folder_of(Path(*path.parts[:fixed]), "labels", "name a folder that is there")
    pattern = Pattern.of("/".join(path.parts[fixed:]), ("series", "group"), "labels")
    if not pattern.fields:
        raise InputError(
            argument="labels",
            value=text,
            problem="names neither {series} nor {group}",
            remedy=f"write {{series}} where paths have its name, {example}, or name one table",
        )
    return _fitting(pattern, folder, "labels", text, same)


def _fitting(pattern: Pattern, folder: Path, by: Literal["labels", "data"], value: str, remedy: str) -> LabelFiles:
    places = files_below(folder)
    files, others = pattern.sort(places)
    return LabelFiles(
        by=by,
        value=value,
        folder=folder,
        files=[*files.items()],
        places=places,
        pattern=pattern.text,
        others=others,
        remedy=remedy,
    )


def _labels(
    truths: LabelFiles, roles: Roles, cells: Collection[Key], unused: Unused
) -> tuple[dict[Key, Labels], Sequence[str]]:
    """Labels of series that have scores, and the files that they are from.

    Where scores have no groups, those of the labels count.
    """
    keys: dict[str, list[Key]] = defaultdict(list)
    for group, series in cells:
        for name in {series, f"{group}/{series}"} if group else {series}:
            keys[name].append((group, series))

    def among(group: str, name: str) -> list[Key]:
        return [key for key in keys.get(name, ()) if not group or key[0] in ("", group)]

    found: dict[Key, Labels] = {}
    files: dict[Key, str] = {}
    lone: list[str] = []
    for file, names in truths.files:
        group = names.get("group", "")
        wanted = [name for name in ([names["series"]] if "series" in names else keys) if among(group, name)]
        if not wanted:
            lone.append(file)
            continue
        read: Mapping[str, Labels] = {wanted[0]: file}
        if "series" not in names:
            read = _labels_by_series(truths.folder / file, file, roles, wanted, unused)
        for name, labels in read.items():
            own, *others = among(group, name)
            if others:
                full = [shown("/".join(one)) for one in (own, *others)]
                raise truths.wrong(
                    f"has labels of {shown(name)} once, but there are {' and '.join(full[:3])}",
                    "write {group} where paths have it" if "series" in names else "call them so",
                )
            if own in files:
                pair = f"{shown(files[own])} and {shown(file)}"
                raise truths.wrong(f"has {pair}, both of series {shown(own[1])}", "rename one")
            found[group or own[0], own[1]], files[own] = labels, file
    unused.add("they are labels of series without scores", lone)
    if not found:
        raise truths.wrong(f"has no labels of a series that has scores, such as {shown(next(iter(cells))[1])}")
    return found, [*dict.fromkeys(files.values())]


def _labels_by_series(path: Path, label: str, roles: Roles, wanted: Sequence[str], unused: Unused) -> dict[str, Labels]:
    """Labels of many series in one table: by rows that name their series, else by columns that are called like them."""
    names: list[str | int] = [*wanted] if roles.series is None else [roles.series, *roles.of_rows.values()]
    with kept_connection() as connection, open_table(path, names, roles.time_format, connection, label) as table:
        read = _labels_in_columns if roles.series is None else _labels_in_rows
        return read(table, roles, wanted, unused)


def _labels_in_columns(table: FileTable, roles: Roles, wanted: Collection[str], unused: Unused) -> dict[str, Labels]:
    if roles.of_rows:
        raise InputError(
            argument="series",
            problem=say("is missing, which {} needs in a table of labels", passed(*next(iter(roles.of_rows.items())))),
            remedy=f"name the column of {table.label} that names the series",
        )
    places = {name: at for at, name in enumerate(table.names) if name in wanted}
    again = next((name for name in places if table.names.count(name) > 1), None)
    if again is not None:
        raise InputError(problem=f"{table.label} has several columns named {shown(again)}", remedy="keep one")
    others = (f"{shown(name)} of {table.label}" for name in table.names if name not in wanted)
    unused.add("no series with scores is called so", others, "column")
    found: dict[str, Labels] = {}
    if places:
        table.load([*places.values()])
    for name, at in places.items():
        try:
            values = numbers_of(table, at)
        except InputError as error:
            found[name] = error
        else:  # a shorter column ends in empty cells
            found[name] = {"truth": values[: len(values) - int(np.argmax(~absent(values)[::-1]))]}
    return found


def _labels_in_rows(table: FileTable, roles: Roles, wanted: Collection[str], unused: Unused) -> dict[str, Labels]:
    if roles.truth is None:
        raise InputError(argument="truth", problem="is missing", remedy=f"name the column of labels in {table.label}")
    roles_of = {"series": str(roles.series), **roles.of_rows}
    places = {role: table.position(column, role) for role, column in roles_of.items()}
    others = (f"{shown(name)} of {table.label}" for at, name in enumerate(table.names) if at not in places.values())
    unused.add("no argument names such a column", others, "column")
    table.load(sorted(places.values()))
    series = labels_of(table, places.pop("series")).astype(str)
    kept = np.isin(series, [*wanted])
    lost = (f"{shown(name)} of {table.label}" for name in dict.fromkeys(series[~kept].tolist()))
    unused.add("there are no scores under that name", lost, "series")
    if not kept.any():
        return {}
    table.keep(kept)
    columns = {role: column_at(table, at, role == "times", roles.time_format) for role, at in places.items()}
    names, own = np.unique(series[kept], return_inverse=True)
    rows = np.split(np.argsort(own, kind="stable"), np.cumsum(np.bincount(own))[:-1])
    return {
        str(name): {role: values[at] for role, values in columns.items()} for name, at in zip(names, rows, strict=True)
    }


def _check_installed(root: Path, cells: Mapping[Key, Mapping[str, str]], truths: LabelFiles | None) -> None:
    """Say before all else that duckdb is missing, which any file but an array of NumPy needs."""
    try:
        needed("duckdb", "reading a file needs")
    except InputError:
        labels = [] if truths is None else [truths.folder / file for file, _ in truths.files]
        scores = (root / file for files in cells.values() for file in files.values())
        if not all(map(_holds_an_array, (*scores, *labels))):
            raise


def _holds_an_array(file: Path) -> bool:
    with tempfile.TemporaryDirectory() as folder, suppress(InputError, OSError):
        return _is_array(unzipped(file, file.name, Path(folder)))
    return True  # what cannot be read is said where it is


def _check_columns(first: SeriesFiles, rules: Rules) -> None:
    """Refuse columns that no file of the first series has, and files of several of which none was named, at once."""
    scores = [File(rules.root, file, rules.roles) for file in first.scores.values()]
    labels = scores if first.labels is None else []
    if isinstance(first.labels, str):
        labels = [File(rules.labels_root, first.labels, rules.roles)]
    asked = [(labels, column, role) for role, column in first.of_labels.items()]
    for files, column, role in [(scores, rules.layout.column, rules.layout.column_by), *asked]:
        faults: list[Any] = []
        for file in files:
            with suppress(InputError):  # said where it is read
                faults += file.read([(column, role)], {})[0]
        kinds = {kind_of(one.reason) if isinstance(one, Fault) else "" for one in faults}
        if kinds and kinds <= {"several columns", "no column"}:
            raise InputError(problem=faults[0].reason)


def _timeeval_tables(folder: Path) -> list[tuple[str, dict[str, str]]]:
    """The CSV with the labels of each data set, whose collection is its group."""
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
        return [
            (Path(row["test_path"]).as_posix(), {"group": row["collection_name"], "series": row["dataset_name"]})
            for row in rows
        ]
    except (KeyError, TypeError):
        raise InputError(
            argument="data",
            value=str(folder),
            problem=f"has another {_INDEX}",
            remedy="it must have the columns collection_name, dataset_name and test_path, as TimeEval writes them",
        ) from None
