"""Tables as Parquet files, by duckdb alone: equal values give equal bytes, and a file is there whole or not at all.

A table in memory is a mapping of column to values (`nofluke.studies.schema`). In files what is missing is NULL, as
other programs expect it; back in memory it is NaN among numbers, "" among text and an empty list among lists.
"""

from __future__ import annotations

import atexit
import os
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray
from nofluke.data.tables import one_line, unglobbed
from nofluke.errors import InputError, say, spoken
from nofluke.studies.outcome import NoRoom
from nofluke.studies.schema import Schema, Values

Columns = dict[str, AnyArray]

RESUMES = spoken("the same call resumes from there", shell="the same command resumes from there")
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
        data[:] = [np.ma.filled(cell, np.nan) if np.ma.is_masked(cell) else np.ma.getdata(cell) for cell in data]
    elif np.any(mask):
        data = data.astype(object if kind in ("VARCHAR", "BOOLEAN") else np.float64)
        data[mask] = "" if kind == "VARCHAR" else None if kind == "BOOLEAN" else np.nan
    if kind == "VARCHAR":
        words: dict[str, str] = {}
        data[:] = [words.setdefault(word, word) for word in data]
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
