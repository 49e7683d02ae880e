"""Columns out of CSV, TSV, whitespace-separated and Parquet files, read by duckdb.

Conventions: text is read as text and every type is decided here, never by a guess from the first rows; values
keep the order of the file; line numbers in errors count from 1, as editors do.
"""

from __future__ import annotations

import csv
import difflib
import itertools
import re
import sys
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from nofluke.data import delimited as layouts
from nofluke.data.columns import UtcTimes
from nofluke.data.delimited import MISSING_WORDS, Layout, check_text, is_position, sniff, text_query, too_large
from nofluke.data.paths import expanded
from nofluke.errors import InputError, shortened, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROLES = ("truth", "scores", "predictions", "time", "mask", "series")
_MISSING = f"(c IS NULL OR lower(trim(c)) IN {MISSING_WORDS})"
# duckdb would also take 'epoch' and 'infinity' for times: a time begins with a digit
_INSTANT = "try_cast(CASE WHEN ltrim(c) BETWEEN '0' AND ':' THEN c END AS TIMESTAMPTZ)"
_ZONED = "regexp_matches(c, '\\d[^\\d]*[A-Za-z]\\s*$|:\\d\\d(\\.\\d+)?\\s*[+-]\\d\\d(:?\\d\\d)?\\s*$')"
_WHOLE = "regexp_full_match(c, '\\s*[+-]?\\d+\\s*')"
_WHOLE_TYPES = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_REAL_TYPES = ("HUGEINT", "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL")
# duckdb would take a folder called day=1 for a column
_PARQUET = "read_parquet(?, hive_partitioning=false)"
_NAT = int(np.iinfo(np.int64).min)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns:
    """The columns read from one file.

    Attributes
    ----------
    values : dict of str to ndarray
        One array per role: bool, int64, uint64 or float64 (NaN where missing) for numbers, datetime64 (NaT where missing; a
        `UtcTimes` where they had a time zone) or numbers for "time", text or whole numbers for "series".
    names : dict of str to str
        The column's name in the file per role; "column 0", "column 1" and so on where there is no header.
    n_rows : int
        Rows, the same for all columns.
    source : str
        The file, or "standard input".
    notes : tuple of str
        What a reader should know: whether a first row of 0, 1, 2, ... was taken for a header or for data.
    """

    values: dict[str, NDArray[Any]] = field(repr=False)
    names: dict[str, str]
    n_rows: int
    source: str
    notes: tuple[str, ...] = ()


def read_columns(source: str | Path, *, columns: Mapping[str, str | int], time_format: str | None = None) -> Columns:
    """Read columns of a delimited text or Parquet file.

    Text may be separated by commas, tabs, semicolons, bars or (not in .csv and .tsv files) blanks, and may be
    gzipped. Leading lines that begin with ``#`` are skipped. The first row is a header if it has a name asked
    for; it is data if it has nothing but numbers, times and true/false, or a time, or a text that the second row
    repeats. A first row of 0, 1, 2, ..., which is how pandas names columns without a name, is a header, unless there
    are no more than two columns and the rows below are written alike; a note says which it was taken for. Without a
    header columns go by position. Empty cells, NA, NaN, null and None are missing.

    Parameters
    ----------
    source : str or Path
        A path (a leading ``~`` is your home), or "-" for standard input. Pipes are read up to 8 GiB.
    columns : mapping of role to column
        Roles are "truth", "scores", "predictions", "time", "mask" and "series". A column is a name or a
        position from 0; digits in a string are a position unless a column has that name.
    time_format : str, optional
        As of `strptime`, such as ``"%d/%m/%Y"``. Without it times are ISO 8601 or plain numbers. Times
        with an offset become UTC, and are not compared with those without one, which stay as they are.

    Raises
    ------
    InputError
        Where the file or a value in it cannot be read; the message names file, column, value and line.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "detector.csv"
    ...     _ = path.write_text("day,quake,score\\n2020-01-01,0,0.5\\n2020-01-02,1,2.5\\n")
    ...     table = read_columns(path, columns={"truth": "quake", "scores": 2, "time": "day"})
    >>> table.values["scores"], table.names["scores"], table.n_rows
    (array([0.5, 2.5]), 'score', 2)
    """
    if unknown := [role for role in columns if role not in _ROLES]:
        raise InputError(f"columns has the role {unknown[0]!r}: it must be one of {', '.join(_ROLES)}.")
    if not columns:
        raise InputError(f"columns is empty: name a column for at least one of {', '.join(_ROLES)}.")
    with _open_table(source, list(columns.values()), time_format) as table:
        picked = {role: table.position(column, role) for role, column in columns.items()}
        table.load(sorted(set(picked.values())))
        values: dict[str, NDArray[Any]] = {}
        for role, position in picked.items():
            if role == "time":
                values[role] = _times(table, position, time_format)
            elif role == "series":
                values[role] = _labels(table, position)
            else:
                values[role] = _numbers(table, position)
        names = {role: table.names[position] for role, position in picked.items()}
        return Columns(values=values, names=names, n_rows=table.n_rows, source=table.label, notes=table.notes)


def read_times(source: str | Path, column: str | int | None = None, time_format: str | None = None) -> NDArray[Any]:
    """Read a list of event times, one a line, with or without a header.

    Parameters
    ----------
    source : str or Path
        A path, or "-" for standard input; text or Parquet as in `read_columns`.
    column : str or int, optional
        The column's name or position; may be left out where there is only one.
    time_format : str, optional
        As in `read_columns`.

    Returns
    -------
    ndarray
        datetime64 (a `UtcTimes` where they have a time zone) or numbers, in the order of the file. A missing time is
        an error.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "events.txt"
    ...     _ = path.write_text("2020-01-05\\n2020-02-01 12:30\\n")
    ...     read_times(path)
    array(['2020-01-05T00:00:00.000000', '2020-02-01T12:30:00.000000'],
          dtype='datetime64[us]')
    """
    return read_events(source, column, time_format).values["time"]


def read_events(source: str | Path, column: str | int | None = None, time_format: str | None = None) -> Columns:
    """As `read_times`, with what there is to tell about the file."""
    with _open_table(source, [] if column is None else [column], time_format) as table:
        if column is None and len(table.names) > 1:
            raise InputError(f"{table.label} has {len(table.names)} columns: name one of {table.listing()}.")
        position = 0 if column is None else table.position(column, "time")
        table.load([position])
        times = _times(table, position, time_format)
        missing = np.isnat(times) if times.dtype.kind == "M" else np.isnan(times)
        if missing.any():
            row = int(missing.argmax())
            raise InputError(f"{table.at(row)}: column {shown(table.names[position])} has no time: remove the row.")
        names = {"time": table.names[position]}
        return Columns(values={"time": times}, names=names, n_rows=table.n_rows, source=table.label, notes=table.notes)


class _Table:
    """One file behind a duckdb connection; `load` puts the picked columns into a table of that name."""

    def __init__(self, connection: Any, label: str, path: Path, layout: Layout | None, folder: Path) -> None:
        self.connection, self.label, self.path, self.layout, self.folder = connection, label, path, layout, folder
        self.n_rows = 0
        self.notes = () if layout is None else layout.notes
        if layout is None:
            query = f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM {_PARQUET})"
            described = self.ask(query, [_unglobbed(path)])
            self.fields, self.types = [name for name, _ in described], [kind for _, kind in described]
            self.names = self.parquet_names()
        else:
            self.names, self.types = layout.names, ["VARCHAR"] * len(layout.names)

    def parquet_names(self) -> list[str]:
        """Return the columns' names as written: duckdb renames the second of two that are alike."""
        nodes = iter(self.ask("SELECT name, coalesce(num_children, 0) FROM parquet_schema(?)", [_unglobbed(self.path)]))
        names = []
        for _ in range(next(nodes)[1]):
            name, below = next(nodes)
            names.append(name)
            while below:  # fields of a nested column
                below += next(nodes)[1] - 1
        return names

    def run(self, query: str, parameters: list[Any] | None = None) -> Any:
        import duckdb

        try:
            return self.connection.execute(query, parameters or [])
        except duckdb.Error as error:
            raise self.explain(error) from None

    def ask(self, query: str, parameters: list[Any] | None = None) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = self.run(query, parameters).fetchall()
        return rows

    def array(self, expression: str, position: int, parameters: list[Any] | None = None) -> NDArray[Any]:
        query = f"SELECT {expression} AS v FROM (SELECT c{position} AS c FROM picked)"
        return np.asarray(self.run(query, parameters).fetchnumpy()["v"])

    def first(self, condition: str, position: int, parameters: list[Any] | None = None) -> tuple[int, str] | None:
        """Return row and text of the first cell c for which the condition holds."""
        # no ORDER BY: duckdb keeps the order as set, and so stops at the first
        rows = f"(SELECT rowid AS r, c{position}::VARCHAR AS c FROM picked)"
        found = self.ask(f"SELECT r, c FROM {rows} WHERE {condition} LIMIT 1", parameters)
        return (int(found[0][0]), str(found[0][1])) if found else None

    def explain(self, error: Exception) -> InputError:
        """Turn duckdb's paragraph into our sentence."""
        text = str(error)
        if self.layout is None:
            return InputError(f"{self.label} cannot be read as Parquet ({_one_line(text)}): write it anew.")
        if "unicode" in text.lower() or "utf-8" in text.lower():
            return InputError(f"{self.label} is not UTF-8 text: save it in that encoding.")
        width = len(self.names)
        try:
            for line, cells in self.layout.rows():
                if cells and len(cells) != width:
                    counts = f"has {len(cells)} cells where the first row has {width}"
                    return InputError(f"{self.label}, line {line} {counts}: correct it, or quote its cells.")
        except (csv.Error, UnicodeDecodeError, OSError, EOFError) as other:
            text = str(other)
        return InputError(
            f"{self.label} cannot be read as delimited text ({_one_line(text)}): check its quotes and its longest cells."
        )

    def at(self, row: int) -> str:
        """Say where a row of the table is in the file."""
        if self.layout is None:
            return f"{self.label}, row {row + 1}"
        rows = itertools.islice(self.layout.rows(), row + self.layout.has_header, None)
        with suppress(csv.Error):  # a cell too long for this way of counting
            return f"{self.label}, line {next(rows)[0]}"
        return f"{self.label}, row {row + 1}"

    def listing(self) -> str:
        listed = ", ".join(shown(name) for name in self.names[:20])
        return listed + (f" and {len(self.names) - 20} more" if len(self.names) > 20 else "")

    def position(self, column: str | int, role: str) -> int:
        """Return the position of a column given by name or position."""
        width, asked = len(self.names), shown(column)
        if isinstance(column, str):
            if (count := self.names.count(column)) == 1:
                return self.names.index(column)
            if count > 1:
                raise InputError(f"{self.label} has {count} columns named {asked}: give the position of one.")
            if not column.isdecimal():
                close = difflib.get_close_matches(column, self.names, n=1, cutoff=0.5)
                lowered = [name for name in self.names if name.lower() == column.lower()]
                hint = f"; did you mean {shown((lowered or close)[0])}?" if lowered or close else "."
                where = f"The columns are {self.listing()}."
                if self.layout is not None and not self.layout.has_header:
                    where = f"The file has no header: give a position from 0 to {width - 1}."
                raise InputError(f"{self.label} has no column {asked} (for {role}){hint} {where}")
        elif isinstance(column, bool) or not isinstance(column, int | np.integer):
            raise InputError(f"columns[{role!r}]={asked} must be the name of a column, or its position from 0.")
        if not (is_position(column, width) if isinstance(column, str) else 0 <= column < width):
            bounds = f"positions run from 0 to {width - 1} ({self.listing()})"
            raise InputError(f"{self.label} has no column at position {asked.strip(chr(39))} (for {role}): {bounds}.")
        return int(column)

    def load(self, positions: list[int]) -> None:
        """Copy the columns at these positions into a table in memory, in the order of the file."""
        if self.layout is None:
            cells = ", ".join('"{}" AS c{}'.format(self.fields[i].replace('"', '""'), i) for i in positions)
            self.ask(f"CREATE TEMP TABLE picked AS SELECT {cells} FROM {_PARQUET}", [_unglobbed(self.path)])
        else:
            self.load_text(f"CREATE TEMP TABLE picked AS {text_query(self.layout, positions, len(self.names))}")
        if self.layout is not None and len(self.names) == 1:
            # blank lines at the end of a one-column file are no rows; elsewhere duckdb skips blank lines itself
            last = "coalesce((SELECT max(rowid) FROM picked WHERE c0 IS NOT NULL), -1)"
            self.ask(f"DELETE FROM picked WHERE rowid > {last}")
        self.n_rows = int(self.ask("SELECT count(*) FROM picked")[0][0])
        if self.n_rows == 0:
            raise InputError(f"{self.label} has a header but no rows: there is nothing to evaluate.")

    def load_text(self, query: str) -> None:
        import duckdb

        assert self.layout is not None
        with suppress(duckdb.Error):
            self.connection.execute(query, [_unglobbed(self.layout.body)])
            return
        # most files that fail mix the ends of lines; what is wrong with others is said of the copy just as well
        self.layout = self.layout.evened(self.folder)
        self.run(query, [_unglobbed(self.layout.body)])


def _numbers(table: _Table, position: int) -> NDArray[Any]:
    """Return a column as bool, int64, uint64 or float64, whichever it is written as; float64 where values are missing."""
    name, kind = table.names[position], table.types[position].split("(")[0]
    if kind not in (*_WHOLE_TYPES, *_REAL_TYPES, "BOOLEAN", "VARCHAR"):
        raise InputError(f"{table.label}: column {shown(name)} holds {kind} values where numbers belong.")
    if kind == "BOOLEAN" and not table.first("c IS NULL", position):
        return table.array("c", position)
    numbers = table.array("coalesce(try_cast(c AS DOUBLE), 'nan'::DOUBLE)", position)
    gaps = np.isnan(numbers).any()
    # other kinds hold nothing but numbers; true and false are none only as text
    wrong = f"try_cast(c AS DOUBLE) IS NULL AND NOT {_MISSING}"
    text = table.first(wrong, position) if gaps and kind == "VARCHAR" else None
    if text is None:
        whole = None if gaps else _whole_numbers(table, position)
        if whole is None:
            _refuse_lost(table, position, numbers)
        return numbers if whole is None else whole
    if text[1].strip().lower() in ("true", "false"):
        other = table.first(f"lower(trim(c)) NOT IN ('true', 'false') AND NOT {_MISSING}", position)
        if other is None:
            cases = "WHEN 'true' THEN 1::DOUBLE WHEN 'false' THEN 0::DOUBLE ELSE 'nan'::DOUBLE"
            truth = table.array(f"CASE lower(trim(c)) {cases} END", position)
            return truth if np.isnan(truth).any() else truth.astype(np.bool_)
        text = other
    comma = re.fullmatch(r"\s*[-+]?\d+,\d+\s*", text[1])
    remedy = "use decimal points" if comma else "correct it, or leave it empty if it is missing"
    raise InputError(
        f"{table.at(text[0])}: column {shown(name)} has {shown(text[1])} where a number belongs: {remedy}."
    )


def _whole_numbers(table: _Table, position: int) -> NDArray[Any] | None:
    """Return a column of nothing but whole numbers exactly; None of any other, and of numbers beyond 64 bits."""
    if table.types[position] not in _WHOLE_TYPES and table.first(f"NOT {_WHOLE}", position):
        return None
    for kind in ("BIGINT", "UBIGINT"):
        if not table.first(f"try_cast(c AS {kind}) IS NULL", position):
            return table.array(f"c::{kind}", position)
    return None


def _refuse_lost(table: _Table, position: int, floats: NDArray[np.float64]) -> None:
    """Refuse whole numbers that became others as floats; those of more than 38 digits are floats printed in full."""
    lost = f"{_WHOLE} AND try_cast(c AS HUGEINT) <> try_cast(try_cast(c AS DOUBLE) AS HUGEINT)"
    if (np.abs(floats) >= 2**53).any() and (found := table.first(lost, position)):
        raise InputError(
            f"{table.at(found[0])}: column {shown(table.names[position])} has {found[1].strip()}, which 64-bit floats cannot hold, "
            "and not only whole numbers of 64 bits: subtract the same number from all, so that they are below 2**53."
        )


def _times(table: _Table, position: int, time_format: str | None) -> NDArray[Any]:
    """Return a column as datetime64, or as numbers where it holds nothing but numbers."""
    name, kind = table.names[position], table.types[position].split("(")[0]
    if kind.startswith("TIMESTAMP") or kind == "DATE":
        instants = _instants(table, "c", position, unit="ns" if kind == "TIMESTAMP_NS" else "us")
        return instants.view(UtcTimes) if kind.endswith("TIME ZONE") else instants
    if kind not in (*_WHOLE_TYPES, *_REAL_TYPES, "VARCHAR"):
        raise InputError(f"{table.label}: column {shown(name)} holds {kind} values where times belong.")
    if time_format is not None:
        return _formatted_times(table, position, time_format)
    start = table.first(f"NOT {_MISSING}", position)
    if start is None or table.ask("SELECT try_cast(? AS DOUBLE) IS NOT NULL", [start[1]])[0][0]:
        if start and (text := table.first(f"try_cast(c AS DOUBLE) IS NULL AND NOT {_MISSING}", position)):
            mixed = f"has {shown(text[1])} after numbers such as {shown(start[1])}"
            raise InputError(f"{table.at(text[0])}: column {shown(name)} {mixed}: use one kind of time throughout.")
        numbers = _numbers(table, position)
        if start and _are_compact_dates(numbers):
            remedy = 'give the format, as in time_format="%Y%m%d"'
            raise InputError(
                f"{table.at(start[0])}: column {shown(name)} has {shown(start[1])[1:-1]}, which is a date: {remedy}."
            )
        return numbers
    return _iso_times(table, position)


def _iso_times(table: _Table, position: int) -> NDArray[Any]:
    name, instants = table.names[position], _instants(table, _INSTANT, position, unit="us")
    if np.isnat(instants).any() and (bad := table.first(f"{_INSTANT} IS NULL AND NOT {_MISSING}", position)):
        remedy = 'give the format, as in time_format="%d/%m/%Y"'
        raise InputError(f"{table.at(bad[0])}: column {shown(name)} has {shown(bad[1])}, no ISO 8601 time: {remedy}.")
    zoned = table.first(_ZONED, position)
    if zoned and (bare := table.first(f"NOT {_ZONED} AND NOT {_MISSING}", position)):
        mixed = f"has {shown(bare[1])} without a time zone but {shown(zoned[1])} with one"
        raise InputError(f"{table.at(bare[0])}: column {shown(name)} {mixed}: write all times alike.")
    fine = table.first("length(c) > 26 AND regexp_matches(c, '\\.\\d{7}')", position)
    if fine and not table.first(f"try_cast(c AS TIMESTAMP_NS) IS NULL AND NOT {_MISSING}", position):
        # duckdb has no zoned type this fine: the fraction from one cast, the offset from the other two
        offset = "epoch_us(try_cast(c AS TIMESTAMPTZ)) - epoch_us(try_cast(c AS TIMESTAMP))"
        exact = f"coalesce(epoch_ns(try_cast(c AS TIMESTAMP_NS)) + 1000 * ({offset}), ?)"
        instants = table.array(exact, position, [_NAT]).view("datetime64[ns]")
    return instants.view(UtcTimes) if zoned else instants


def _formatted_times(table: _Table, position: int, time_format: str) -> NDArray[Any]:
    import duckdb

    name, parsed = table.names[position], "try_strptime(c::VARCHAR, ?)"
    try:
        table.connection.execute("SELECT try_strptime('', ?)", [time_format]).fetchall()
    except duckdb.Error as error:
        reason = _one_line(str(error).split(": ", 1)[-1])
        raise InputError(
            f"time_format={shown(time_format)} is not a format ({reason}): use one of strptime's."
        ) from None
    if bad := table.first(f"{parsed} IS NULL AND NOT {_MISSING}", position, [time_format]):
        remedy = f"which does not match time_format={shown(time_format)}: correct either"
        raise InputError(f"{table.at(bad[0])}: column {shown(name)} has {shown(bad[1])}, {remedy}.")
    unit = "ns" if "%n" in time_format else "us"
    instants = _instants(table, parsed, position, unit=unit, parameters=[time_format])
    return instants.view(UtcTimes) if re.search("%[zZ]", time_format.replace("%%", "")) else instants


def _instants(
    table: _Table, expression: str, position: int, *, unit: str, parameters: list[Any] | None = None
) -> NDArray[Any]:
    # whole numbers travel better than time stamps, which duckdb would hand over through other packages
    whole = table.array(f"coalesce(epoch_{unit}({expression}), ?)", position, [*(parameters or []), _NAT])
    return whole.view(f"datetime64[{unit}]")


def _are_compact_dates(numbers: NDArray[Any]) -> bool:
    """Whether all numbers are days written as 20200131: as a clock they would jump at each month's end."""
    if numbers.dtype.kind != "i" or numbers.size < 2 or numbers.min() < 19000101 or numbers.max() > 21001231:
        return False
    month, day = numbers // 100 % 100, numbers % 100
    return bool(np.all((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)))


def _labels(table: _Table, position: int) -> NDArray[Any]:
    """Return the names of series: text as text (007 stays 007), whole numbers as such."""
    name = table.names[position]
    if bad := table.first("c IS NULL OR trim(c) = ''", position):
        raise InputError(f"{table.at(bad[0])}: column {shown(name)} has no value: name the series of every row.")
    whole = _whole_numbers(table, position) if table.types[position] in _WHOLE_TYPES else None
    return table.array("c::VARCHAR", position) if whole is None else whole


@contextmanager
def _open_table(source: str | Path, wanted: list[str | int], time_format: str | None) -> Iterator[_Table]:
    """Find out what the file is, and connect to it."""
    import duckdb  # imported late: it takes longer to load than most evaluations to run

    piped = isinstance(source, str) and source == "-"
    path, label = expanded(source, "source"), "standard input" if piped else shortened(str(source), 300)
    with ExitStack() as stack:
        try:
            if not piped and not path.exists():
                raise InputError(f"{label}: there is no such file: check the path.")
            if not piped and path.is_dir():
                raise InputError(f"{label} is a directory: name a file in it.")
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            if piped or not path.is_file():  # pipes can be read only once, so they are copied first
                stream = _standard_input() if piped else stack.enter_context(path.open("rb"))
                path = folder / "piped"
                with path.open("wb") as copy:
                    _copy_stream(stream, copy, label)
            with path.open("rb") as file:
                magic = file.read(4)
            layout = None if magic == b"PAR1" else sniff(path, label, folder, wanted, time_format)
        except (OSError, EOFError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or _one_line(str(error))
            raise InputError(f"{label} cannot be read ({reason}): check the file.") from None
        settings: dict[str, Any] = {"autoinstall_known_extensions": "false", "preserve_insertion_order": "true"}
        connection = stack.enter_context(duckdb.connect(":memory:", config=settings))
        connection.execute("SET enable_progress_bar = false; SET TimeZone = 'UTC'")
        yield _Table(connection, label, path, layout, folder)


def _standard_input() -> IO[bytes]:
    stream: IO[bytes] | None = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise InputError("standard input is closed: pass a file, or open it.")
    return stream


def _copy_stream(stream: IO[bytes], copy: IO[bytes], label: str) -> None:
    """Copy a stream up to the limit; one that is no text is refused at its start, since it may have no end."""
    chunk = stream.read(1 << 16)
    if not chunk.startswith((b"PAR1", b"\x1f\x8b")):
        check_text(chunk, label)
    while chunk:
        copy.write(chunk)
        if copy.tell() > layouts.MOST_BYTES:
            raise too_large(label, layouts.MOST_BYTES)
        chunk = stream.read(1 << 20)


def _unglobbed(path: Path) -> str:
    """Return the path so that duckdb takes * ? [ and ~ in it literally."""
    return re.sub(r"([*?\[])", r"[\1]", str(path.absolute()))


def _one_line(text: str) -> str:
    return " ".join(text.split("\n")[0].split())[:120]
