"""Tables as Parquet files, by duckdb alone: the same values give the same bytes, and a file is there whole or not at all.

A table in memory is a mapping of column to values (`nofluke.studies.schema`). In files what is missing is NULL, as other programs
expect it; back in memory it is NaN among numbers, "" among text and an empty list among lists.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray
from nofluke.data.table import one_line, unglobbed
from nofluke.errors import InputError
from nofluke.studies.outcome import NoRoom
from nofluke.studies.schema import Schema, Values

Columns = dict[str, AnyArray]

KEPT = "free some space or choose another place; what is finished is kept, and the same call again goes on from there"
_DTYPES = {"DOUBLE[]": np.float64, "BIGINT[]": np.int64}
_PARQUET = "(FORMAT parquet, COMPRESSION zstd)"


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
    columns = {name: _column(values.get(name, ()), kind) for name, kind in schema.items()}
    if len(lengths := {len(column) for column in columns.values()}) != 1:
        raise ValueError(f"columns of {path.name} have lengths {sorted(lengths)}")
    picked = ", ".join(f"{_as_kind(name, kind)} AS {quoted(name)}" for name, kind in schema.items())
    cursor = _cursor()
    cursor.register("given", columns)  # a view of this cursor alone
    _atomically(path, lambda beside: cursor.execute(f"COPY (SELECT {picked} FROM given) TO '{beside}' {_PARQUET}"))


def join_tables(path: Path, parts: Sequence[Path], as_format: str = _PARQUET) -> None:
    """Write the rows of tables that have the same columns, one table after another, with no more of them in memory than a few."""
    query = f"COPY (SELECT * FROM {_PARTS}) TO '%s' {as_format}"
    names = list(map(unglobbed, parts))
    _atomically(path, lambda beside: _cursor().execute(query % beside, [names]))


def read_table(
    path: Path | Sequence[Path], columns: Sequence[str] | None = None, where: Mapping[str, str] | None = None
) -> Columns:
    """Columns of one table, or of several one after another: all of them, or those named; all rows, or those of certain words.

    Text and lists come as arrays of objects, a list as an array of its own.
    """
    import duckdb

    names = [unglobbed(each) for each in ([path] if isinstance(path, Path) else path)]
    picked = "*" if columns is None else ", ".join(map(quoted, columns))
    kept = " AND ".join(f"{quoted(name)} = ?" for name in where or ()) or "true"
    try:
        cursor = _cursor().execute(f"SELECT {picked} FROM {_PARTS} WHERE {kept}", [names, *(where or {}).values()])
        kinds = {name: str(kind) for name, kind, *_ in cursor.description}
        return {name: _plain(column, kinds[name]) for name, column in cursor.fetchnumpy().items()}
    except duckdb.Error as error:
        raise InputError(f"{names[0]} cannot be read ({one_line(str(error))}): check the file.") from None


# folders called day=1 are no columns
_PARTS = "read_parquet(?, hive_partitioning=false)"


def quoted(name: str) -> str:
    """A column's name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'


def _as_kind(name: str, kind: str) -> str:
    return f"coalesce({quoted(name)}::{kind}, [])" if kind.endswith("[]") else f"{quoted(name)}::{kind}"


def _column(values: Sequence[Any], kind: str) -> AnyArray:
    """Values as duckdb takes them without a look at each: arrays of numbers, or of objects that are text or typed lists."""
    if kind.endswith("[]"):
        dtype = _DTYPES.get(kind)
        # none for empty: duckdb tells the type of all lists by the first that is there
        cells = [None if len(v) == 0 else list(v) if dtype is None else np.asarray(v, dtype) for v in values]
        column = np.empty(len(cells), dtype=object)
        column[:] = cells
        return column
    if kind == "VARCHAR":
        return np.array([_encodable(value) for value in values], dtype=object)
    array = np.asarray(values)
    return array.astype(np.float64) if array.size == 0 else array


def _encodable(text: Any) -> Any:
    """Text; names of files may hold bytes that are none."""
    return text if text is None or text.isascii() else text.encode(errors="replace").decode()


def _plain(column: Any, kind: str) -> AnyArray:
    """A column with what memory has in place of NULL."""
    mask = np.ma.getmask(column)
    data: AnyArray = np.ma.getdata(column)
    if kind.endswith("[]"):
        data[:] = [np.ma.filled(cell, np.nan) if np.ma.is_masked(cell) else np.ma.getdata(cell) for cell in data]
    if not np.any(mask):
        return data
    missing: Any = "" if kind == "VARCHAR" else None if kind == "BOOLEAN" else np.nan
    data = data.astype(object if kind in ("VARCHAR", "BOOLEAN") else np.float64)
    data[mask] = missing
    return data


@lru_cache(maxsize=1)
def _connection(_process: int) -> Any:
    import duckdb

    # one thread: rows stay in order, and workers do not crowd each other out
    settings: dict[str, Any] = {
        "threads": "1",
        "preserve_insertion_order": "true",
        "autoinstall_known_extensions": "false",
    }
    connection = duckdb.connect(":memory:", config=settings)
    connection.execute("SET enable_progress_bar = false")
    return connection


def _cursor() -> Any:
    """A connection of one's own: making the first takes 20 ms, more of the same .1 ms. A forked process makes its own."""
    return _connection(os.getpid()).cursor()


def _atomically(path: Path, write: Callable[[str], object]) -> None:
    """Write under another name in the same folder, and rename: whoever looks sees the old file or the new one."""
    import duckdb

    beside = path.with_name(f".nofluke-{secrets.token_hex(8)}")
    try:
        write(str(beside.absolute()).replace("'", "''"))
        with open(beside, "rb+") as file:
            os.fsync(file.fileno())  # a full disk may say so only now
        os.replace(beside, path)
    except (duckdb.IOException, OSError) as error:
        raise NoRoom(f"{path} cannot be written ({_cause(error)}): {KEPT}.") from None
    finally:
        beside.unlink(missing_ok=True)


def _cause(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    number = re.search(r'"errno":"(\d+)"', str(error))  # duckdb writes its cause as JSON
    return os.strerror(int(number[1])) if number else one_line(str(error))
