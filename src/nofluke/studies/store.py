"""The folder of a study: its tables as plain Parquet, part by part, and sums of every file, checked when it is opened.

From the bottom up: the columns of all tables; tables as Parquet; a part, which is what came out of one chunk; JSON that
carries its own checksum; what a study was made of; the lock of a folder; and the folder. What is read from it follows:
laws, single cells, and the reasons of those that have no result.

``study.json`` is written first and says what the study is made of. A part appears whole, with the number of rows, the
size and the checksum of each of its tables in a ``part.json`` of its own. At the end the parts are joined in their
order, and ``manifest.json`` is written last: it lists every file. So a study can stop anywhere and go on later, its
results do not tell who computed which part, nor when, and what has been damaged since is found.
"""

from __future__ import annotations

import atexit
import difflib
import hashlib
import json
import math
import os
import platform
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from nofluke.arrays import AnyArray, BoolArray
from nofluke.data.paths import Lock, expanded, write_file
from nofluke.data.tables import one_line, unglobbed
from nofluke.errors import InputError, in_one_line, kind_of, named, packed, say, shown, spoken, unpacked, verb
from nofluke.extras import needed
from nofluke.laws.law import SMALLEST, How, Law, Tail, TailSide
from nofluke.laws.tables import TRUSTED, LogTable
from nofluke.plain import check_word
from nofluke.text.tables import plural

# ---- the tables of a study: what each column holds, and its type in Parquet
#
# A table in memory is a mapping of column to values, all of one length; missing numbers are NaN, missing text is "".

Values = Mapping[str, Any]  # lists or arrays, all of one length
Schema = Mapping[str, str]

MEASURES = ("precision", "recall")
STEPS = "steps"  # the grid of all series without a clock

_TESTED: dict[str, str] = {
    "": "DOUBLE",
    "_hits": "BIGINT",
    "_expected": "DOUBLE",
    "_std": "DOUBLE",
    "_pvalue": "DOUBLE",
    "_log10_pvalue": "DOUBLE",
    "_method": "VARCHAR",
}

CELLS: Schema = {
    "series": "VARCHAR",
    "group": "VARCHAR",
    "detector": "VARCHAR",
    "n": "BIGINT",
    "n_events": "BIGINT",
    "n_predictions": "BIGINT",
    "threshold": "DOUBLE",
    "tolerance": "VARCHAR",
    "count_events": "VARCHAR",
    **{f"{measure}{end}": kind for measure in MEASURES for end, kind in _TESTED.items()},
    "f1": "DOUBLE",
    "f1_at_chance": "DOUBLE",
    "near_events": "BIGINT",
    "near_predictions": "BIGINT",
    "false_alarms": "BIGINT",
    "delay": "DOUBLE",
    "null": "VARCHAR",
    "holds": "BOOLEAN",
    "doubts": "BIGINT",
    "verdict": "VARCHAR",
    "reason": "VARCHAR",
    "n_resamples": "BIGINT",
    "seed": "BIGINT",
    "notes": "VARCHAR[]",
}
"""One row a cell, a detector on a series. ``f1_at_chance`` is F1 of the expected hits; ``holds`` whether the null is
one that the data allow, ``doubts`` how much they say against one that was asked for; ``delay`` the median of found
events, in steps or seconds; ``n_resamples`` is 0 and ``seed`` -1 where nothing was drawn."""

FAILED: Schema = {"series": "VARCHAR", "group": "VARCHAR", "detector": "VARCHAR", "reason": "VARCHAR"}
"""One row a cell that has no result; ``detector`` is "" where the whole series has none."""

TIMINGS: Schema = {"series": "VARCHAR", "detector": "VARCHAR", "seconds": "DOUBLE"}

LAWS: Schema = {
    "series": "VARCHAR",
    "detector": "VARCHAR",
    "measure": "VARCHAR",
    "size": "BIGINT",
    "mean": "DOUBLE",
    "var": "DOUBLE",
    "kind": "VARCHAR",
    "name": "VARCHAR",
    "n_resamples": "BIGINT",
    "first": "BIGINT",
    "logs": "DOUBLE[]",
}
"""Chance in each cell: log P(X = first), log P(X = first + 1), ..., as `nofluke.laws.law.Law.log_bulk` gives it."""

JOINTS: Schema = {
    "series": "VARCHAR",
    "detector": "VARCHAR",
    "pairs": "BIGINT[]",
    "listed": "BOOLEAN",
}
"""Placements of the events of each cell whose null holds: hits of precision, hits of recall, how many placements have
them, and so on for all pairs of hits; ``listed`` if these are all placements."""

SHIFTS: Schema = {
    "group": "VARCHAR",
    "detector": "VARCHAR",
    "precision": "BIGINT[]",
    "recall": "BIGINT[]",
    "known": "BOOLEAN",
}
"""Hits with all events shifted by ..., -1, 0, 1, ... steps, summed over the cells of a part whose null holds; not
``known`` where some of them cannot be shifted."""

TRUTHS: Schema = {
    "series": "VARCHAR",
    "group": "VARCHAR",
    "axis": "VARCHAR",
    "in_time": "BOOLEAN",
    "grid": "VARCHAR",
    "n": "BIGINT",
    "reach": "BIGINT",
    "starts": "BIGINT[]",
    "stops": "BIGINT[]",
    "notes": "VARCHAR[]",
    "moments": "BIGINT[]",
    "length": "BIGINT",
    "begin": "BIGINT",
    "watched": "VARCHAR",
    "placed": "BIGINT[]",
    "exchangeable": "BOOLEAN",
}
"""The events of each series among its steps (``stops`` are past the end), and how many steps the tolerance reaches at
most; ``in_time`` says whether events are at their own times. Two series share ``axis`` if their steps are the same
moments, and ``grid`` if their clocks tick alike, whenever they began and whatever they missed; ``moments`` are the
first steps of events in absolute time, counted in steps of the grid. ``length`` has all steps, those too that do not
count, ``begin`` the first that does, and ``placed`` the first steps of events among all of them. Two series share
``watched`` if the same of their steps count; ``exchangeable`` says whether events are where their steps are."""


def cells_with(metrics: Sequence[str]) -> dict[str, str]:
    """The columns of `CELLS`, the null of metrics if there are any, and six columns for each.

    ``_smallest`` is the smallest p that any detector could have reached in the cell.
    """
    numbers = ("", "_expected", "_std", "_pvalue", "_smallest")
    ends = {**dict.fromkeys(numbers, "DOUBLE"), "_verdict": "VARCHAR"}
    null = {"metrics_null": "VARCHAR", "metrics_holds": "BOOLEAN", "metrics_doubts": "BIGINT"} if metrics else {}
    return {**CELLS, **null, **{f"{metric}{end}": kind for metric in metrics for end, kind in ends.items()}}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """What came out of one chunk: the rows of each table, in the order of its series and the study's detectors."""

    cells: Values = field(repr=False)
    failed: Values = field(repr=False)
    timings: Values = field(repr=False)
    laws: Values = field(repr=False)
    truths: Values = field(repr=False)
    joints: Values = field(repr=False, default_factory=dict)
    shifts: Values = field(repr=False, default_factory=dict)


# ---- tables as Parquet, by duckdb alone: equal values give equal bytes, and a file is there whole or not at all
#
# In files what is missing is NULL, as other programs expect it; back in memory it is NaN among numbers, "" among text
# and an empty list among lists.

Columns = dict[str, AnyArray]

RESUMES = spoken("the same call resumes from there", shell="the same command resumes from there")
RESUME = say("call {} again with the same arguments, which resumes it", verb("study"))
KEPT = say("free some space or choose another place; finished work is kept, and {}", RESUMES)
_LISTS = {"DOUBLE[]": np.float64, "BIGINT[]": np.int64}
_ROW = " row"  # a name that no column has
_PARQUET = "(FORMAT parquet, COMPRESSION zstd)"
_JSON = "(FORMAT json)"
_FROM_FILES = "read_parquet(?, hive_partitioning=false)"  # folders called day=1 are no columns


def write_table(path: Path, values: Values, schema: Schema) -> None:
    """Write a table of these columns; a table without rows may lack them.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.parquet"
    ...     write_table(path, {"name": ["a", "b"], "x": [0.5, np.nan]}, {"name": "VARCHAR", "x": "DOUBLE"})
    ...     {name: column.tolist() for name, column in read_table(path).items()}
    {'name': ['a', 'b'], 'x': [0.5, nan]}
    """
    with _replacing(path) as beside:
        put_table(beside, values, schema)


def put_table(path: Path, values: Values, schema: Schema) -> None:
    """The same straight into the file, for a file that nothing else reads meanwhile; errors are duckdb's."""
    if len(lengths := {len(values.get(name, ())) for name in schema}) != 1:
        raise ValueError(f"columns have lengths {sorted(lengths)}")
    cursor = _cursor()
    given: Columns = {_ROW: np.arange(*lengths)}
    joined = ordered = ""
    for i, (name, kind) in enumerate(schema.items()):
        column = values.get(name, ())
        if kind in _LISTS:
            # as one array: duckdb would ask each of many for its type
            cells = [np.asarray(cell, _LISTS[kind]) for cell in column]
            rows = np.repeat(given[_ROW], [len(cell) for cell in cells])
            cursor.register(f"list{i}", {"v": np.concatenate([*cells, np.empty(0, _LISTS[kind])]), "owner": rows})
            lists = f"SELECT owner AS owner{i}, list(v) AS {_quoted(name)} FROM list{i} GROUP BY owner"
            joined += f" LEFT JOIN ({lists}) ON owner{i} = {_quoted(_ROW)}"
            ordered = f" ORDER BY {_quoted(_ROW)}"
        else:
            given[name] = _column(column, kind)
    cursor.register("given", given)  # views of this cursor alone
    picked = ", ".join(f"{_cast(name, kind)} AS {_quoted(name)}" for name, kind in schema.items())
    cursor.execute(f"COPY (SELECT {picked} FROM given{joined}{ordered}) TO {_literal(path)} {_PARQUET}")


def join_tables(path: Path, parts: Sequence[Path], columns: Sequence[str] | None = None) -> None:
    """Write the rows of tables with the same columns, one table after another, with few of them in memory at a time.

    As Parquet; or as lines of JSON, if the path ends in ``.jsonl``. All columns, or those named.
    """
    names, kind = list(map(unglobbed, parts)), _JSON if path.suffix == ".jsonl" else _PARQUET
    with _replacing(path) as beside:
        _cursor().execute(f"COPY (SELECT {_picked(columns)} FROM {_FROM_FILES}) TO {_literal(beside)} {kind}", [names])


def read_table(
    path: Path | Sequence[Path], columns: Sequence[str] | None = None, where: Mapping[str, str] | None = None
) -> Columns:
    """Columns of one table, or of several in turn: all, or those named; all rows, or those with certain words.

    Text and lists come as arrays of objects, a list as an array of its own.
    """
    import duckdb

    names = [unglobbed(each) for each in ([path] if isinstance(path, Path) else path)]
    kept = " AND ".join(f"{_quoted(name)} = ?" for name in where or ()) or "true"
    query = f"SELECT {_picked(columns)} FROM {_FROM_FILES} WHERE {kept}"
    try:
        cursor = _cursor().execute(query, [names, *(where or {}).values()])
        kinds = {name: str(kind) for name, kind, *_ in cursor.description}
        return {name: _plain(column, kinds[name]) for name, column in cursor.fetchnumpy().items()}
    except duckdb.Error as error:
        raise InputError(
            problem=f"{names[0]} cannot be read ({one_line(str(error))})", remedy="check the file"
        ) from None


def _picked(columns: Sequence[str] | None) -> str:
    return "*" if columns is None else ", ".join(map(_quoted, columns))


def _quoted(name: str) -> str:
    """A column's name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'


def _literal(path: Path) -> str:
    return "'" + str(path.absolute()).replace("'", "''") + "'"


def _cast(name: str, kind: str) -> str:
    return f"coalesce({_quoted(name)}::{kind}, [])" if kind.endswith("[]") else f"{_quoted(name)}::{kind}"


def _column(values: Sequence[Any], kind: str) -> AnyArray:
    """Values as duckdb takes them without a look at each: an array of numbers, of text, or of lists of text."""
    if kind == "VARCHAR":
        if all(word is None or word.isascii() for word in set(values)):  # words that are the same are looked at once
            return np.array(values, dtype=object)
        return np.array([_encodable(value) for value in values], dtype=object)
    if kind == "VARCHAR[]":
        column = np.empty(len(values), dtype=object)
        # none for empty: the first list that is there tells the type of all
        column[:] = [[_encodable(value) for value in cell] if len(cell) else None for cell in values]
        return column
    array = np.asarray(values)
    return array if array.size else array.astype(np.float64)


def _encodable(text: Any) -> Any:
    """Text; names of files may hold bytes that are none."""
    return text if text is None or text.isascii() else text.encode(errors="replace").decode()


def _plain(column: Any, kind: str) -> AnyArray:
    """A column with what memory has instead of NULL, and words that are the same kept once."""
    mask = np.ma.getmask(column)
    data: AnyArray = np.ma.getdata(column)
    if kind.endswith("[]"):
        data[:] = [
            cell
            if type(cell) is np.ndarray
            else np.ma.filled(cell, np.nan)
            if np.ma.is_masked(cell)
            else np.ma.getdata(cell)
            for cell in data
        ]
    elif np.any(mask):
        data = data.astype(object if kind in ("VARCHAR", "BOOLEAN") else np.float64)
        data[mask] = "" if kind == "VARCHAR" else None if kind == "BOOLEAN" else np.nan
    if kind == "VARCHAR":
        words: dict[str, str] = {}
        data[:] = list(map(words.setdefault, data, data))
    return data


@lru_cache(maxsize=1)
def _connection(_process: int) -> Any:
    import duckdb

    # one thread, also to write: rows stay in order, workers do not compete, and small files never need eight
    settings: dict[str, Any] = {"threads": 1, "preserve_insertion_order": True, "autoinstall_known_extensions": False}
    connection = duckdb.connect(":memory:", config=settings)
    connection.execute("SET enable_progress_bar = false; SET async_threads = 1")
    atexit.register(_connection.cache_clear)  # before the interpreter ends: duckdb complains of what is left
    return connection


def _cursor() -> Any:
    """A separate connection. The first takes 20 ms, later ones 0.01 ms. A forked process makes its own."""
    return _connection(os.getpid()).cursor()


class NoRoom(InputError):
    """Nothing can be written any more: no fault of a task's, so that the others need not be tried."""


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """Another name in the same folder, and the right one at the end: a reader sees the old file or the new one."""
    beside = path.with_name(f".nofluke-{secrets.token_hex(8)}")
    try:
        with explained(path):
            yield beside
            with open(beside, "rb+") as file:
                os.fsync(file.fileno())  # a full disk may say so only now
            os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what keeps duckdb from writing into one line."""
    import duckdb

    try:
        yield
    except (duckdb.IOException, OSError) as error:
        raise NoRoom(problem=f"{path} cannot be written ({_cause(error)})", remedy=KEPT) from None


def _cause(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    number = re.search(r'"errno":"(\d+)"', str(error))  # duckdb writes its cause as JSON
    return os.strerror(int(number[1])) if number else one_line(str(error))


# ---- a part: packed as bytes where it was computed, stored where the study is

_SAID = "said"  # in files, a reason with its kind and its parts, beside its text
TABLES: Mapping[str, Schema] = {
    "cells": CELLS,
    "failed": {**FAILED, _SAID: "VARCHAR"},
    "timings": TIMINGS,
    "laws": LAWS,
    "truths": TRUTHS,
    "joints": JOINTS,
    "shifts": SHIFTS,
}
"""The tables in files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """The tables of a part as Parquet, and how many rows each has."""

    tables: Mapping[str, bytes] = field(repr=False)
    rows: Mapping[str, int]


def pack(part: Part, cells: Schema = CELLS) -> Packed:
    """The part as bytes that travel well: written where it was computed, so that the study's process only stores them.

    ``cells`` are the columns of its first table, with those of metrics.
    """
    tables, rows = {}, {}
    with tempfile.TemporaryDirectory(prefix="nofluke-") as folder:
        for name, schema in {**TABLES, "cells": cells}.items():
            values = getattr(part, name)
            rows[name] = len(next(iter(values.values()), ()))
            tables[name] = (
                _parquet(Path(folder, name), _for_files(name, values), schema)
                if rows[name]
                else _empty(tuple(schema.items()))
            )
    return Packed(tables=tables, rows=rows)


def _for_files(table: str, values: Values) -> Values:
    """A table with its sentences as files have them."""
    if table == "failed":
        return {**values, _SAID: list(map(packed, values["reason"]))}
    if table == "truths":
        return {**values, "notes": [list(map(packed, notes)) for notes in values["notes"]]}
    return values


def from_files(table: str, values: Columns) -> Columns:
    """A table that was read from files, with its sentences as they were written."""
    if table == "failed" and _SAID in values:
        values["reason"][:] = list(map(unpacked, values.pop(_SAID)))
    if table == "truths" and "notes" in values:
        values["notes"][:] = [list(map(unpacked, notes)) if len(notes) else [] for notes in values["notes"]]
    return values


def _parquet(path: Path, values: Values, schema: Schema) -> bytes:
    with explained(path):
        put_table(path, values, schema)
        return path.read_bytes()


@lru_cache(maxsize=16)
def _empty(schema: tuple[tuple[str, str], ...]) -> bytes:
    """A table without rows, as what failed mostly is."""
    with tempfile.TemporaryDirectory(prefix="nofluke-") as folder:
        return _parquet(Path(folder, "empty"), {}, dict(schema))


# ---- JSON that carries its own checksum


def sealed(content: Mapping[str, Any]) -> str:
    """The text of a JSON file whose last entry is the checksum of the others.

    >>> print(sealed({"parts": 3}))
    {
     "parts": 3,
     "sha256": "..."
    }
    <BLANKLINE>
    """
    return json.dumps({**content, "sha256": digest(content)}, indent=1, ensure_ascii=False) + "\n"


def digest(content: Mapping[str, Any]) -> str:
    """The checksum of plain values, however they are laid out in a file."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read_sealed(path: Path) -> dict[str, Any] | None:
    """The content of such a file; None where there is none, or where it does not say what was written."""
    try:
        content = json.loads(path.read_bytes())
        told = content.pop("sha256")
        return content if told == digest(content) else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def damaged(path: Path, what: str = "is damaged") -> InputError:
    """That a file of a study is not as it was written."""
    again = say("calling {} again with the same arguments recomputes it", verb("study"))
    return InputError(problem=f"{path} {what}", remedy=again)


# ---- what a study was made of (study.json): settings, fingerprint of the inputs, versions; and what changed since

STUDY, MANIFEST, POOLED, INDEX = "study.json", "manifest.json", "pooled.json", "part.json"
FORMAT = "nofluke study 2"
_PACKAGES = ("nofluke", "numpy", "scipy", "numba", "duckdb")
_MOST = 5  # changes that are told


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """All that study.json says: plain values, as JSON has them.

    Attributes
    ----------
    settings, inputs : mapping
        Any change in them makes it another study.
    parts : tuple of int
        How many series each part has.
    versions : mapping of str to str
        Of Python and packages. Another nofluke makes it another study.
    unused : tuple of str
        What of the inputs is not used, and why, each packed; a change in that is no other study.
    """

    settings: Mapping[str, Any]
    inputs: Mapping[str, Any]
    parts: tuple[int, ...]
    versions: Mapping[str, str]
    unused: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, settings: Mapping[str, Any], inputs: Mapping[str, Any], parts: Sequence[int], unused: Sequence[str] = ()
    ) -> Origin:
        """Of a study that begins now, as it reads back: tuples as lists."""
        plain = json.loads(json.dumps({"settings": settings, "inputs": inputs}, allow_nan=False))
        versions = {"python": platform.python_version(), **{name: _version(name) for name in _PACKAGES}}
        return cls(**plain, parts=tuple(map(int, parts)), versions=versions, unused=tuple(map(packed, unused)))

    @classmethod
    def read(cls, path: Path) -> Origin | None:
        """From a study.json; None where it is none, or was damaged. That of another format is refused."""
        told = read_sealed(path) or {}
        form = told.pop("format", None)
        with suppress(KeyError, TypeError, AttributeError):
            if form == FORMAT:
                return cls(**{**told, "parts": tuple(told["parts"]), "unused": tuple(told["unused"])})
            if str(form).startswith(FORMAT.rstrip("0123456789")):
                raise InputError(
                    problem=f"{path} is in the format {form}, and this version reads {FORMAT}",
                    remedy=f"use nofluke {told['versions']['nofluke']}, which wrote it, or choose another folder",
                )
        return None

    def text(self) -> str:
        """The file."""
        told = {"settings": self.settings, "inputs": self.inputs, "parts": self.parts, "versions": self.versions}
        return sealed({"format": FORMAT, **told, "unused": self.unused})

    @property
    def identity(self) -> str:
        """What parts must have been made of to belong together."""
        ours = self.versions.get("nofluke")
        return digest({"settings": self.settings, "inputs": self.inputs, "parts": self.parts, "nofluke": ours})


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # run from a source tree
        return "unknown"


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """What is not the same in two of them, one line each.

    >>> changes({"budget": "1%", "files": {"a.csv": {"size": 10}}}, {"budget": "2%", "files": {"b.csv": {"size": 10}}})
    ["budget was '1%' and is now '2%'", 'files a.csv size is gone (was 10)', 'files b.csv size is new (10)']
    """
    before, after = dict(_leaves(old)), dict(_leaves(new))
    told = []
    for name in [*before, *(name for name in after if name not in before)]:
        if name not in after:
            told.append(f"{name} is gone (was {shown(before[name])})")
        elif name not in before:
            told.append(f"{name} is new ({shown(after[name])})")
        elif before[name] != after[name]:
            told.append(f"{name} was {shown(before[name])} and is now {shown(after[name])}")
    return told


def in_short(told: list[str]) -> str:
    """The first few of many, in one line.

    >>> in_short(["a", "b"]), in_short(list("abcdefgh"))
    ('a; b', 'a; b; c; d; e; and 3 more')
    """
    return "; ".join([*told[:_MOST], *([f"and {len(told) - _MOST} more"] if len(told) > _MOST else [])])


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every plain value, by the way that leads to it; things in a list that have a path go by that."""
    if isinstance(value, list) and value and all(isinstance(each, dict) and "path" in each for each in value):
        value = {str(each["path"]): {key: what for key, what in each.items() if key != "path"} for each in value}
    if isinstance(value, Mapping) and value:
        for key, below in value.items():
            yield from _leaves(below, f"{name} {key}".strip())
    else:
        yield name, value


# ---- the folder of a study


def _lock(folder: Path) -> Lock:
    """One study at a time writes into a folder."""
    return Lock(folder / ".lock", argument="out", value=str(folder), user="study", place="folder")


_PAGES = ("leaderboard.csv", "leaderboard.md", "leaderboard.tex", "leaderboard.html")
_JOINED = {"results.parquet": "cells", "timings.parquet": "timings", "failed.jsonl": "failed"}
_ROWS_AT_ONCE = 100_000


@dataclass(frozen=True, slots=True)
class Sum:
    """What a file is recognised by, and how many rows it has, if it is a table."""

    size: int
    sha256: str
    rows: int | None = None

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**({} if self.rows is None else {"rows": self.rows}), "size": self.size, "sha256": self.sha256}

    def is_of(self, other: Sum | None) -> bool:
        """Whether a file with that sum is the same."""
        return other is not None and (self.size, self.sha256) == (other.size, other.sha256)


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """What a part.json says: sums of the part's tables, and whether a resumed study should compute it again."""

    again: bool
    tables: Mapping[str, Sum]


class Folder:
    """A folder to write a study to, or to read it from.

    Parameters
    ----------
    out : path
        Where.

    Attributes
    ----------
    path : Path
    notes : tuple of str
        What the user should know about a resumed study.
    origin : Origin or None
        What the study is made of, once that is known.
    """

    def __init__(self, out: str | Path) -> None:
        needed("duckdb", "the folder of a study needs")
        self.path = expanded(out, "out")
        self.notes: tuple[str, ...] = ()
        self.cells: Schema = CELLS
        self.origin: Origin | None = None
        self._lock: Lock | None = None
        self._found: dict[int, Index] | None = None
        self._manifest: dict[str, Sum] | None = None
        self._sums: dict[str, Sum | None] = {}  # of files that were looked at, and have not been written since

    # -- to read a study

    @classmethod
    def opened(cls, path: str | Path) -> Folder:
        """The folder of a study that is there, finished or not, with every file checked.

        Raises
        ------
        InputError
            If there is no study, or if a file is missing, damaged or of another study.
        """
        folder = cls(expanded(path, "path"))
        place = folder.path / STUDY
        folder.origin = Origin.read(place)
        if folder.origin is None:
            with suppress(OSError):  # of a name that no folder can have
                if place.exists():
                    raise damaged(place)
                if (folder.path / MANIFEST).exists() or folder._places():
                    raise damaged(place, "is missing")
            raise InputError(
                argument="path",
                value=str(path),
                problem="holds no study",
                remedy="name the folder that was passed as out",
            )
        folder._manifest = folder._read_manifest()
        if folder._manifest is None and (folder.path / MANIFEST).exists():
            raise damaged(folder.path / MANIFEST)
        for name, expected in (folder._manifest or {}).items():
            if name not in _PAGES and not expected.is_of(folder._sum(name)):  # pages are for people, who may edit them
                raise damaged(folder.path / name, "is damaged" if folder._sum(name) else "is missing")
        folder._found = {i: folder._index(i) for i in folder._places()}
        return folder

    @property
    def finished(self) -> bool:
        """Whether the study was written to its end: all parts, tables, pooled rows, and the manifest."""
        return self._manifest is not None

    @property
    def missing_parts(self) -> tuple[int, ...]:
        """How many series each part has that is not there."""
        if self.origin is None:
            return ()
        have = self._indices()
        return tuple(n for i, n in enumerate(self.origin.parts) if i not in have)

    # -- to write one

    def begin(
        self,
        *,
        settings: Mapping[str, Any],
        inputs: Mapping[str, Any],
        parts: Sequence[int],
        cells: Schema = CELLS,
        resume: bool = True,
        unused: Sequence[str] = (),
    ) -> None:
        """Lock the folder, and write study.json, or make sure that it says the same.

        Parameters
        ----------
        settings, inputs : mapping
            Plain values, as JSON has them, in which any change makes it another study.
        parts : sequence of int
            How many series each part will have.
        cells : mapping
            Columns of the cells, with those of metrics.
        resume : bool
            Go on from the parts that are there; otherwise remove those of an earlier study, and start over.
        unused : sequence of str
            What of the inputs is not used, and why; a change in that is no other study.

        Raises
        ------
        InputError
            If the folder holds something else or another study, is in use, or cannot be written to.
        """
        self.cells = cells
        self.origin = Origin.of(settings, inputs, parts, unused)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            others = sorted(name for name in os.listdir(self.path) if not name.startswith("."))
            if STUDY not in others and others and not self._is_ours():
                raise InputError(
                    argument="out",
                    value=str(self.path),
                    problem=f"holds other files (first {shown(others[0])})",
                    remedy="name a folder that is new or empty",
                )
            self._lock = _lock(self.path)
        except OSError as error:
            raise InputError(
                argument="out",
                value=str(self.path),
                problem=f"cannot be written to ({error.strerror})",
                remedy="choose another",
            ) from None
        try:
            self._agree(resume)
        except BaseException:
            self.close()
            raise

    def _agree(self, resume: bool) -> None:
        """Make study.json say what this study is made of, unless it says something else."""
        assert self.origin is not None
        place = self.path / STUDY
        old = Origin.read(place)
        if old is None and place.exists() and not self._is_ours():
            raise InputError(
                problem=f"{place} is not a study's, or is damaged",
                remedy=say("choose another folder for {}, or remove that file", named("out")),
            )
        if not resume:
            self._clear()
            old = None
        if old is not None:
            self._same(old)
        if old is None or old.parts != self.origin.parts:
            write_file(place, self.origin.text(), str(place))
        try:
            (self.path / "parts").mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(
                problem=f"{self.path / 'parts'} cannot be made ({error.strerror})", remedy="remove what is there"
            ) from None
        self._sweep()
        self._manifest = self._read_manifest()

    def _is_ours(self) -> bool:
        """Whether what is in the folder was made of the same, whatever has become of its study.json."""
        if self._read_manifest() is not None:
            return True
        for i in self._places():
            with suppress(InputError):
                self._index(i, check=False)
                return True
        return False

    def _same(self, old: Origin) -> None:
        """Refuse to go on with what other settings, other inputs or another nofluke have begun."""
        assert self.origin is not None
        told_by = [{"nofluke": each.versions.get("nofluke")} for each in (old, self.origin)]
        changed = [
            *changes(old.settings, self.origin.settings),
            *changes(old.inputs, self.origin.inputs),
            *changes(*told_by),
        ]
        if changed:
            raise InputError(
                argument="out",
                value=str(self.path),
                problem="holds a study of something else",
                remedy=say(
                    "{}. Put it back, {} to start over",
                    in_short(changed),
                    spoken("choose another out, or pass resume=False", shell="choose another -o, or pass --restart"),
                ),
            )
        newer = changes(old.versions, self.origin.versions)
        if newer:
            self.notes = (f"resumed with other versions than it was started with: {in_short(newer)}.",)

    def _clear(self) -> None:
        """Remove what a study has written, and nothing else."""
        for name in (MANIFEST, STUDY, POOLED, *_JOINED, *(path.name for path in self.path.glob("leaderboard.*"))):
            (self.path / name).unlink(missing_ok=True)
        for place in (self.path / "parts").glob("[0-9]" * 6):
            shutil.rmtree(place, ignore_errors=True)

    def _sweep(self) -> None:
        """Remove what was being written when a process was killed."""
        for path in (*self.path.glob(".nofluke-*"), *(self.path / "parts").glob(".[0-9]*-*")):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

    def have(self) -> set[int]:
        """Numbers of the parts that need not be computed: they are there, whole, and not to be tried again."""
        self._found = {}
        for i in self._places():
            with suppress(InputError):  # damaged: computed again
                self._found[i] = self._index(i)
        return {i for i, index in self._found.items() if not index.again}

    def packing(self) -> Callable[[Part], Packed]:
        """What a worker does with a part before it hands it over."""
        return partial(pack, cells=self.cells)

    def write_part(self, i: int, part: Part | Packed, *, again: bool = False) -> None:
        """Keep part ``i``; ``again`` if it failed as a whole and a resumed study should compute it once more.

        It appears in one go, with the sums of its tables. It is not forced to the disk: what a power cut spoils, the
        sums tell.
        """
        assert self.origin is not None
        self.unseal()
        bundle = part if isinstance(part, Packed) else pack(part, self.cells)
        tables = {
            name: Sum(len(data), hashlib.sha256(data).hexdigest(), bundle.rows[name])
            for name, data in bundle.tables.items()
        }
        told = {"study": self.origin.identity, "part": i, "again": again}
        index = sealed({**told, "tables": {name: one.plain() for name, one in tables.items()}})
        place = self._place(i)
        beside = place.with_name(f".{place.name}-{secrets.token_hex(4)}")
        files = {f"{name}.parquet": data for name, data in bundle.tables.items()}
        try:
            beside.mkdir()
            for name, data in {**files, INDEX: index.encode()}.items():
                with open(beside / name, "xb") as file:
                    file.write(data)
            shutil.rmtree(place, ignore_errors=True)  # of an earlier try
            os.rename(beside, place)
        except OSError as error:
            raise NoRoom(problem=f"{place} cannot be written ({error.strerror or error})", remedy=KEPT) from None
        finally:
            shutil.rmtree(beside, ignore_errors=True)
        self._indices()[i] = Index(again=again, tables=tables)

    def finish(self) -> None:
        """Make results.parquet, timings.parquet and failed.jsonl of all parts, in order, unless they are there."""
        if self._manifest is not None and all(
            expected.is_of(self._sum(name))
            for name, expected in self._manifest.items()
            if name not in (POOLED, *_PAGES)
        ):
            return
        self.unseal()
        for name, table in _JOINED.items():
            place = self.path / name
            columns = tuple(FAILED) if table == "failed" else None
            if paths := self._paths(table):
                join_tables(place, paths, columns=columns)
            elif table == "failed":
                write_file(place, "", str(place))
            else:
                write_table(place, {}, self._schema(table))

    def is_intact(self, *names: str) -> bool:
        """Whether these files are as they were when the study was finished, and all that they were made of is too."""
        listed = self._manifest or {}
        return all(name in listed and listed[name].is_of(self._sum(name)) for name in names)

    def pages_are_intact(self) -> bool:
        """Whether the leaderboard's files are as they were written."""
        return self.is_intact(*_PAGES)

    def seal(self) -> None:
        """Write the manifest of all files, the last file of a finished study."""
        assert self.origin is not None
        self._sums.clear()
        held = self._lock
        lock = _lock(self.path) if held is None else None
        try:
            files: dict[str, Sum] = {}
            for name in (STUDY, *_JOINED, POOLED, *_PAGES):
                if (found := self._sum(name)) is not None:
                    rows = self.rows(_JOINED[name]) if name in _JOINED else None
                    files[name] = Sum(found.size, found.sha256, rows)
            for i, index in sorted(self._indices().items()):
                files |= {f"parts/{i:06d}/{name}.parquet": one for name, one in index.tables.items()}
                if (found := self._sum(f"parts/{i:06d}/{INDEX}")) is not None:
                    files[f"parts/{i:06d}/{INDEX}"] = found
            listed = [{"file": name, **one.plain()} for name, one in files.items()]
            told = {"format": FORMAT, "study": self.origin.identity, "n_files": len(listed), "files": listed}
            write_file(self.path / MANIFEST, sealed(told), str(self.path / MANIFEST))
            self._manifest = files
        finally:
            if lock is not None:
                lock.release()

    def unseal(self) -> None:
        """Remove the manifest before anything that it lists is written anew."""
        (self.path / MANIFEST).unlink(missing_ok=True)
        self._manifest = None
        self._sums.clear()

    def _read_manifest(self) -> dict[str, Sum] | None:
        """The files that this study's manifest lists; None without one, or if it is damaged or another study's."""
        told = read_sealed(self.path / MANIFEST)
        if told is None or self.origin is None or told.get("study") != self.origin.identity:
            return None
        return {one["file"]: Sum(one["size"], one["sha256"], one.get("rows")) for one in told["files"]}

    def _sum(self, name: str) -> Sum | None:
        """Size and checksum of a file; None where there is none, or none that can be read."""
        if name not in self._sums:
            self._sums[name] = None
            with suppress(OSError), open(self.path / name, "rb") as file:
                self._sums[name] = Sum(os.fstat(file.fileno()).st_size, hashlib.file_digest(file, "sha256").hexdigest())
        return self._sums[name]

    # -- parts

    def _place(self, i: int) -> Path:
        return self.path / "parts" / f"{i:06d}"

    def _places(self) -> list[int]:
        """Numbers of the parts that there are traces of, in order."""
        many = 10**6 if self.origin is None else len(self.origin.parts)
        with suppress(OSError):
            names = {path.name for path in (self.path / "parts").iterdir()}
            return sorted(int(name) for name in names if re.fullmatch("[0-9]{6}", name) and int(name) < many)
        return []

    def _index(self, i: int, check: bool = True) -> Index:
        """What part ``i`` says of itself; raises if it is another study's, or (if to be checked) a byte has changed."""
        assert self.origin is not None
        place = self._place(i) / INDEX
        told = read_sealed(place)
        if told is None:
            raise damaged(place, "is damaged" if place.exists() else "is missing")
        if (told.get("study"), told.get("part")) != (self.origin.identity, i):
            raise damaged(place, "is of another part, or of another study")
        tables = {name: Sum(one["size"], one["sha256"], one["rows"]) for name, one in told["tables"].items()}
        for name, expected in tables.items() if check else ():
            found = self._sum(f"parts/{i:06d}/{name}.parquet")
            if not expected.is_of(found):
                raise damaged(self._place(i) / f"{name}.parquet", "is damaged" if found else "is missing")
        return Index(again=told["again"], tables=tables)

    def _indices(self) -> dict[int, Index]:
        if self._found is None:
            self.have()
            assert self._found is not None
        return self._found

    # -- tables of all parts

    def rows(self, name: str) -> int:
        """How many rows of a table there are by now."""
        return sum(index.tables[name].rows or 0 for index in self._indices().values())

    def _paths(self, table: str, numbers: Sequence[int] | None = None) -> list[Path]:
        numbers = sorted(self._indices()) if numbers is None else numbers
        return [self._place(i) / f"{table}.parquet" for i in numbers]

    def read(self, table: str, columns: Sequence[str] | None = None, where: Mapping[str, str] | None = None) -> Columns:
        """A table of all parts that are there, in order: "cells", "failed", "timings", "laws" or "truths".

        ``columns`` picks some of them, ``where`` rows in which columns are certain words, such as ``{"detector":
        "a"}``.
        """
        # piece by piece: words come as one object for each row, and are few when those of a piece are kept once
        if pieces := list(self.stream(table, columns, where)):
            return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
        with tempfile.TemporaryDirectory(prefix="nofluke-") as folder:
            write_table(Path(folder, table), {}, self._schema(table))
            return from_files(table, read_table(Path(folder, table), columns))

    def _schema(self, table: str) -> Schema:
        return self.cells if table == "cells" else TABLES[table]

    def stream(
        self, table: str, columns: Sequence[str] | None = None, where: Mapping[str, str] | None = None
    ) -> Iterator[Columns]:
        """The same in pieces of some 100,000 rows, for what does not fit into memory."""
        check_word(table, "table", TABLES)
        numbers: list[int] = []
        rows = 0
        for i, index in sorted(self._indices().items()):
            numbers.append(i)
            rows += index.tables[table].rows or 0
            if rows >= _ROWS_AT_ONCE:
                yield from_files(table, read_table(self._paths(table, numbers), columns, where))
                numbers, rows = [], 0
        if numbers:
            yield from_files(table, read_table(self._paths(table, numbers), columns, where))

    def close(self) -> None:
        """Give the folder free for other processes."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


# ---- laws as rows of a table, and read from it again: what chance scores in a cell, long after the cell was judged
#
# A row has the logarithms of all probabilities that are known, so that tails keep their digits however small they are.

_CUT = "the stored table ends above this"


class StoredLaw(LogTable):
    """A law from its stored row.

    Parameters
    ----------
    first : int
        The smallest number that has any probability.
    logs : array
        log P(X = first), log P(X = first + 1), ...
    size, mean, var, method
        As of the law that was stored.

    Notes
    -----
    A table of doubles may end where they underflow, and that of an approximation where it was given up. What lies
    beyond such an end is at most what lies on it: tails there are called a bound.

    Examples
    --------
    >>> from nofluke.laws.tables import hypergeometric
    >>> law = hypergeometric(10, 4, 3)
    >>> stored = StoredLaw.of_row(law_row(law, "recall"))
    >>> stored, round(stored.upper(2), 12) == round(law.upper(2), 12)
    (<StoredLaw exact (hypergeometric): 0..3, mean 1.2, std 0.748331>, True)
    """

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> StoredLaw:
        """From the values of one row of `LAWS`, by column."""
        return next(cls.of_rows({name: [value] for name, value in row.items()}))

    @classmethod
    def of_rows(cls, columns: Values) -> Iterator[StoredLaw]:
        """From the columns of `LAWS`, row by row."""
        numbers = (np.asarray(columns[name]).tolist() for name in ("first", "size", "mean", "var", "n_resamples"))
        rows = zip(columns["logs"], columns["kind"], columns["name"], *numbers, strict=True)
        for logs, kind, name, first, size, mean, var, drawn in rows:
            yield cls(first, np.asarray(logs), size=size, mean=mean, var=var, method=_how(kind, name, drawn))

    def _past(self, side: TailSide) -> float:
        end = float(self._logs[-1 if side == "upper" else 0])
        return 0.0 if self._whole(end) else max(math.exp(end), SMALLEST)

    def _beyond(self, side: TailSide) -> Tail:
        p = self._past(side)
        return Tail.of(p, How(kind="bound", name=_CUT) if p else self.method)

    def _whole(self, end: float) -> bool:
        """Whether the table ends where the law does, rather than where its numbers could not be told any more."""
        if _is_whole(self.method.name):
            return True
        return self.method.name != "saddlepoint" and end > math.log(TRUSTED)


@lru_cache(maxsize=1024)
def _how(kind: Any, name: str, drawn: int) -> How:
    """How a law was computed: the same object for all laws alike, of which a study has many."""
    return How(kind=kind, name=name, n_resamples=drawn or None)


@lru_cache(maxsize=1024)
def _is_whole(name: str) -> bool:
    """Whether laws that were computed so end where their tables do."""
    return any(word in name for word in ("hypergeometric", "rotations", "shifts"))


def law_row(law: Law, measure: str) -> dict[str, Any]:
    """What the table of laws keeps of a law, but for the names of series and detector.

    >>> from nofluke.laws.tables import binomial
    >>> row = law_row(binomial(2, 0.5), "recall")
    >>> row["kind"], row["first"], np.exp(row["logs"]).round(2)
    ('approximate', 0, array([0.25, 0.5 , 0.25]))
    """
    first, logs = law.log_bulk()
    some = (logs > -np.inf).nonzero()[0]
    begin, end = (int(some[0]), int(some[-1]) + 1) if len(some) else (0, len(logs))
    return {
        "measure": measure,
        "size": law.size,
        "mean": law.mean,
        "var": law.var,
        "kind": law.method.kind,
        "name": law.method.name,
        "n_resamples": law.method.n_resamples or 0,
        "first": first + begin,
        "logs": logs[begin:end],
    }


# ---- one cell by its names


def rows_named(column: Any, name: str) -> BoolArray:
    """The rows of a column that hold a name; compared one by one, since NumPy drops NULs at the end of text."""
    sought = np.empty((), dtype=object)
    sought[()] = name
    return np.asarray(np.asarray(column, dtype=object) == sought, dtype=np.bool_)


def look_up(
    cells: Values, failed: Values, detectors: tuple[str, ...], series: str, detector: str, missing: str = ""
) -> dict[str, Any]:
    """The row of a cell as plain values; refuses names that are not there, and says why a cell has no result.

    ``missing`` says what an unfinished study lacks: nobody knows the names of those series.
    """
    check_word(detector, "detector", detectors)
    if not isinstance(series, str):
        raise InputError(
            argument="series", value=series, problem="must be the name of a series", remedy="see study.cells['series']"
        )
    found = np.flatnonzero(rows_named(cells["series"], series) & rows_named(cells["detector"], detector))
    if len(found):
        return {name: _plainly(values[found[0]]) for name, values in cells.items()}
    reasons = {(name, one): reason for name, one, reason in missing_cells(failed, detectors)}
    if (series, detector) in reasons:
        raise InputError(
            argument="series", value=series, problem=f"has no result for {detector}", remedy=reasons[series, detector]
        )
    if missing:
        raise InputError(
            argument="series",
            value=series,
            problem=f"is none of the series computed so far: {missing}",
            remedy=say("{}, or check the name", RESUME),
        )
    close = difflib.get_close_matches(series, cells["series"].tolist(), n=1)
    hint = f"did you mean {shown(close[0])}?" if close else "see study.cells['series']"
    raise InputError(argument="series", value=series, problem="is not in this study", remedy=hint)


def _plainly(value: Any) -> Any:
    """A cell of a table as a plain value."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value


# ---- cells that have no result: how many, and why

MOST_REASONS = 3  # of which a summary tells
MOST_NAMED = 3  # series, for each


def missing_cells(failed: Values, detectors: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """Series, detector and reason of each cell that has no result: a series without any has one for every detector.

    >>> failed = {"series": ["s", "t"], "group": ["", ""], "detector": ["", "b"], "reason": ["no file", "NaN"]}
    >>> list(missing_cells(failed, ("a", "b")))
    [('s', 'a', 'no file'), ('s', 'b', 'no file'), ('t', 'b', 'NaN')]
    """
    for series, detector, reason in zip(failed["series"], failed["detector"], failed["reason"], strict=True):
        for name in (str(detector),) if detector else detectors:
            yield str(series), name, reason


def count_reasons(failed: Values, detectors: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """Each kind of reason, where it came up, and how many cells it left without a result, most frequent first.

    Of reasons of one kind, the first is told.

    >>> from nofluke.errors import Remark
    >>> reasons = [Remark("NaN", "{} NaN at {}.", *values) for values in ((1, "145"), (2, "3 and 9"))]
    >>> failed = {"series": ["s", "t"], "group": ["", ""], "detector": ["b", "b"], "reason": reasons}
    >>> count_reasons(failed, ("a", "b"))
    (('1 NaN at 145. (b on s, t)', 2),)
    """
    kinds: dict[str, list[tuple[str, str, str]]] = {}
    for cell in missing_cells(failed, detectors):
        kinds.setdefault(kind_of(cell[2]), []).append(cell)
    found = sorted(kinds.values(), key=len, reverse=True)
    return tuple((say("{} ({})", cells[0][2], _where(cells)), len(cells)) for cells in found)


def failed_altogether(failed: Values, detectors: tuple[str, ...], with_results: Collection[str]) -> dict[str, str]:
    """What is said of each detector without a single result: that all its cells failed, and the most frequent reason.

    >>> failed = {"series": ["s", "t"], "group": ["", ""], "detector": ["b", ""], "reason": ["1 NaN.", "1 NaN."]}
    >>> failed_altogether(failed, ("a", "b"), ["a"])
    {'b': 'All of its 2 cells failed: 1 NaN.'}
    """
    lost: dict[str, dict[str, list[str]]] = {}
    for _, detector, reason in missing_cells(failed, detectors):
        if detector not in with_results:
            lost.setdefault(detector, {}).setdefault(kind_of(reason), []).append(reason)
    said: dict[str, str] = {}
    for detector, kinds in lost.items():
        n, reason = sum(map(len, kinds.values())), max(kinds.values(), key=len)[0]
        which = f"All of its {n:,} cells" if n > 1 else "Its only cell"
        said[detector] = say("{} failed: {}{}", which, reason, "" if reason.endswith(".") else ".")
    return said


def _where(cells: list[tuple[str, str, str]]) -> str:
    names, series = (list(dict.fromkeys(cell[i] for cell in cells)) for i in (1, 0))
    who = names[0] if len(names) == 1 else plural(len(names), "detector")
    more = f" and {len(series) - MOST_NAMED:,} more" if len(series) > MOST_NAMED else ""
    return f"{who} on {', '.join(series[:MOST_NAMED])}{more}"


def missing_in_words(reasons: tuple[tuple[str, int], ...], n_cells: int) -> tuple[str, ...]:
    """How many cells are missing and the most frequent reasons, a line each; nothing where none is missing.

    >>> missing_in_words((("scores has 3 NaN.", 5), ("no such file.", 1)), 448)
    ('6 of 448 cells are missing:', '5: scores has 3 NaN.', '1: no such file.')
    """
    if not reasons:
        return ()
    total = sum(count for _, count in reasons)
    told: tuple[str, ...] = tuple(say("{:,}: {}", count, in_one_line(why)) for why, count in reasons[:MOST_REASONS])
    rest = reasons[MOST_REASONS:]
    if rest:
        told += (f"{sum(count for _, count in rest):,}: {plural(len(rest), 'other reason')}.",)
    are = "is" if total == 1 else "are"
    return (f"{total:,} of {plural(n_cells, 'cell')} {are} missing:", *told)
