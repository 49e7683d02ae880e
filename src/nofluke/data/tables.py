"""Files as tables: finding and opening them, how text is split into cells, and errors that name the line."""

from __future__ import annotations

import atexit
import csv
import datetime
import difflib
import errno
import gzip
import io
import itertools
import os
import re
import sys
import tempfile
import threading
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np

from nofluke.data.alerts import as_ranges
from nofluke.data.paths import expanded
from nofluke.errors import InputError, Remark, named, say, shortened, shown
from nofluke.extras import needed

if TYPE_CHECKING:
    from numpy.typing import NDArray


@contextmanager
def open_table(
    source: str | Path,
    wanted: list[str | int],
    time_format: str | None,
    connection: Any = None,
    label: str | None = None,
    *,
    alerts: bool = False,
    alone: bool = False,
) -> Iterator[FileTable]:
    """Find out what the file is, and connect to it.

    To read many files, pass one connection for all, and what to call a file in messages. ``alerts`` says that it may be
    an export of an alerting system, and ``alone`` that it needs a database of its own, as a condition does.
    """
    piped = isinstance(source, str) and source == "-"
    path = expanded(source, "source")
    label = label or ("standard input" if piped else shortened(str(source), 300))
    with ExitStack() as stack:
        try:
            if not piped and not path.exists():
                raise InputError(problem=f"{label}: there is no such file", remedy="check the path")
            if not piped and path.is_dir():
                raise InputError(problem=f"{label} is a directory", remedy="name a file in it")
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            if piped or not path.is_file():  # pipes can be read only once, so they are copied first
                stream = _standard_input() if piped else stack.enter_context(path.open("rb"))
                path = folder / "piped"
                with path.open("wb") as copy:
                    _copy_stream(stream, copy, label)
            path = unzipped(path, label, folder)
            with path.open("rb") as file:
                magic = file.read(4)
            if alerts and magic != b"PAR1":
                with _open_bytes(path, magic[:2]) as opened:
                    made = as_ranges(opened, label, folder)
                path, magic = (path, magic) if made is None else (made, b"")
            layout = None if magic == b"PAR1" else sniff(path, label, folder, wanted, time_format)
        except (OSError, EOFError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or one_line(str(error))
            if getattr(error, "errno", None) == errno.ENOSPC:
                raise InputError(
                    problem=f"{label} cannot be copied to {tempfile.gettempdir()} ({reason})",
                    remedy="name a folder with more room by the variable TMPDIR",
                ) from None
            raise InputError(problem=f"{label} cannot be read ({reason})", remedy="check the file") from None
        connection = stack.enter_context(connected(alone=alone)) if connection is None else connection
        yield FileTable(connection, label, path, layout, folder)


@contextmanager
def connected(*, alone: bool = True) -> Iterator[Any]:
    """A connection to duckdb, in memory, that keeps the order of rows.

    It is to a database ``alone``, as it must be where settings change; else to one for all tables of the process.
    """
    duckdb = needed("duckdb", "reading a file needs")  # late: it takes longer to load than most evaluations to run
    with _database(duckdb) if alone else _shared(duckdb, os.getpid()).cursor() as connection:
        connection.execute("SET enable_progress_bar = false; SET TimeZone = 'UTC'")
        yield connection


def _database(duckdb: Any) -> Any:
    settings: dict[str, Any] = {"autoinstall_known_extensions": "false", "preserve_insertion_order": "true"}
    return duckdb.connect(":memory:", config=settings)


@lru_cache(maxsize=1)
def _shared(duckdb: Any, _process: int) -> Any:
    """Opened once, which takes 20 ms, and connected to in 0.2 ms. A forked process opens its own."""
    atexit.register(_shared.cache_clear)  # before the interpreter ends: duckdb complains of what is left
    return _database(duckdb)


_KEPT = threading.local()


@contextmanager
def kept_connection() -> Iterator[Any]:
    """The connection of this process and thread, opened once, for those who read many files one after another.

    It uses one thread, since workers are what runs at once, and takes less time than opening one, 12 ms, each time.
    """
    if getattr(_KEPT, "process", None) != os.getpid():  # a forked process cannot use that of its parent
        _KEPT.stack = ExitStack()
        _KEPT.connection, _KEPT.process = _KEPT.stack.enter_context(connected()), os.getpid()
        _KEPT.connection.execute("SET threads = 1; SET parquet_metadata_cache = true")
    try:
        yield _KEPT.connection
    finally:
        _KEPT.connection.execute("DROP TABLE IF EXISTS picked")


_ZIP = b"PK\x03\x04"


def unzipped(path: Path, label: str, folder: Path) -> Path:
    """The one member of a zip, copied to a folder; any other file as it is."""
    with path.open("rb") as file:
        if file.read(4) not in (_ZIP, b"PK\x05\x06"):  # the second is that of an empty one
            return path
    try:
        with zipfile.ZipFile(path) as packed:
            members = [one for one in packed.namelist() if not one.endswith("/") and not one.startswith("__MACOSX/")]
            if "[Content_Types].xml" in members:  # a spreadsheet: it is refused as such
                return path
            if len(members) != 1:
                raise InputError(
                    problem=f"{label} holds {len(members):,} files where one belongs", remedy="unpack it first"
                )
            copied = folder / f"member-{Path(members[0]).name}"
            with packed.open(members[0]) as stream, copied.open("wb") as copy:
                while chunk := stream.read(1 << 20):
                    copy.write(chunk)
                    if copy.tell() > MOST_BYTES:
                        raise too_large(label, MOST_BYTES)
    except (zipfile.BadZipFile, RuntimeError, zlib.error, EOFError) as error:  # RuntimeError: it has a password
        raise InputError(
            problem=f"{label} cannot be unpacked ({one_line(str(error))})", remedy="check the file"
        ) from None
    return copied


def _standard_input() -> IO[bytes]:
    stream: IO[bytes] | None = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise InputError(problem="standard input is closed", remedy="pass a file, or open standard input")
    return stream


def _copy_stream(stream: IO[bytes], copy: IO[bytes], label: str) -> None:
    """Copy a stream up to the limit; one that is no text is refused at its start, since it may have no end."""
    chunk = stream.read(1 << 16)
    if not chunk.startswith((b"PAR1", b"\x1f\x8b", _ZIP)):
        check_text(chunk, label)
    while chunk:
        copy.write(chunk)
        if copy.tell() > MOST_BYTES:
            raise too_large(label, MOST_BYTES)
        chunk = stream.read(1 << 20)


# ---- how a text file is cut into cells: its delimiter, its header and where its rows begin

MOST_BYTES = 8 << 30
"""How much of a pipe or of a packed file is copied; without a limit an endless one would fill the disk."""
LONGEST_LINE = 32 << 20
MOST_COLUMNS = 100_000  # at a million, duckdb takes minutes and more than 5 GB
_SAMPLE_BYTES = 1 << 16
_SAMPLE_ROWS = 3  # however long they are: the first may be the header, the second tells
_MOST_SAMPLED = 200  # however short they are
_GZIP = b"\x1f\x8b"
MISSING_WORDS = ("", "na", "n/a", "nan", "null", "none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a text file is cut into cells; a delimiter of " " stands for any run of blanks."""

    delimiter: str
    names: list[str]
    has_header: bool
    body: Path  # the file, or a copy without its preamble
    lines_before_body: int
    notes: tuple[Remark, ...]

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield line number and cells of every row, as duckdb would see them; for errors, since it is slow."""
        with self.body.open(encoding="utf-8-sig", newline="") as file:
            yield from _split(file, self.delimiter, self.lines_before_body)

    def header_in(self, encoding: str) -> list[str]:
        """The first row as it reads in an encoding; empty where it is in another."""
        with self.body.open("rb") as file:
            line = file.readline(LONGEST_LINE)
        try:
            first = line.decode(encoding).splitlines()[:1]  # a carriage return alone ends a line, too
            return next(_split(iter(first), self.delimiter), (0, []))[1]
        except UnicodeDecodeError:
            return []

    def evened(self, folder: Path) -> Layout:
        """The same layout of a copy whose lines all end alike: duckdb takes no mixture."""
        body = folder / "evened"
        with _open_lines(self.body, newline=None) as text, body.open("wb") as copy:
            _copy_lines(text, copy)
        return replace(self, body=body)


def text_query(layout: Layout, positions: list[int], width: int) -> str:
    # told what the file is, since duckdb would go by its name: x.gz is packed, day=1/x.csv has a column "day"
    how = f"auto_detect=false, header=false, compression='none', hive_partitioning=false, \
        max_line_size={LONGEST_LINE}, buffer_size={2 * LONGEST_LINE}"
    if layout.delimiter == " ":
        split = f"SELECT string_split_regex(trim(line), '\\s+') AS cells FROM read_csv(?, {how}, \
            delim='\x01', quote='', escape='', columns={{'line': 'VARCHAR'}}) WHERE trim(line) <> ''"
        ragged = f"CASE WHEN len(cells) <> {width} THEN error('ragged') ELSE "
        cells = ", ".join(f"{ragged}trim(cells[{i + 1}], '\"') END AS c{i}" for i in positions)
        source = f"({split})"
    else:
        kinds = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(width))
        cells = ", ".join(f"c{i}" for i in positions)
        source = f"read_csv(?, {how}, delim='{layout.delimiter}', quote='\"', escape='\"', columns={{{kinds}}})"
    return f"SELECT {cells} FROM {source}" + (" OFFSET 1" if layout.has_header else "")


def sniff(path: Path, label: str, folder: Path, wanted: list[str | int], time_format: str | None) -> Layout:
    """Find delimiter, header and the first row of a text file."""
    with path.open("rb") as file:
        magic = file.read(2)
    with _open_bytes(path, magic) as file:
        start = file.read(_SAMPLE_BYTES)
    if not start.strip():
        raise InputError(problem=f"{label} is empty", remedy="there is nothing to evaluate")
    check_text(start, label)
    with _open_lines(path, magic) as text:
        lines, before, declared = _sample(text, label)
    try:
        delimiter = declared or _delimiter(lines, path.name.lower().split(".")[1:], time_format)
        rows = [[cell.strip() for cell in cells] for _, cells in _split(iter(lines), delimiter)]
    except csv.Error as error:
        raise InputError(
            problem=f"{label} cannot be split into cells ({error})", remedy="shorten its longest cell"
        ) from None
    first = rows[0]
    if len(first) > MOST_COLUMNS:
        raise InputError(
            problem=f"{label} has {len(first):,} columns, and at most {MOST_COLUMNS:,} are read",
            remedy="turn it around if its rows are series, since here a row is a step; or keep the columns that you need",
        )
    has_header = _is_header(rows, wanted, time_format)
    body = path
    if before or magic == _GZIP:  # duckdb counts quotes in the lines it skips, so it gets none to skip
        body = folder / "body"
        with _open_lines(path, magic, newline=None) as text, body.open("wb") as copy:
            _copy_lines(text, copy, skip=before, most=MOST_BYTES if magic == _GZIP else None, label=label)
    return Layout(
        delimiter=delimiter,
        names=[cell if has_header else f"column {i}" for i, cell in enumerate(first)],
        has_header=has_header,
        body=body,
        lines_before_body=before,
        notes=_notes(first, has_header, wanted, label),
    )


def check_text(start: bytes, label: str) -> None:
    """Refuse what by its first bytes is no text: a spreadsheet, UTF-16, an endless run of zeros."""
    if b"\0" in start or start[:2] in (b"PK", b"\xff\xfe", b"\xfe\xff"):
        raise InputError(
            problem=f"{label} is neither UTF-8 text nor Parquet", remedy="save it as CSV (UTF-8) or Parquet"
        )


def too_large(label: str, most: int) -> InputError:
    return InputError(problem=f"{label} does not end within {most:,} bytes", remedy="pass less of it, or a plain file")


def _sample(text: IO[str], label: str) -> tuple[list[str], int, str | None]:
    """The first lines after the preamble, how many lines that has, and the delimiter it declares."""
    lines: list[str] = []
    size = before = 0
    declared = None
    for number, line in enumerate(_lines(text, label)):
        if number == 0 and (match := re.match(r"sep=([,;|:\t])\s*$", line)):
            declared = match[1]
        if not lines and ((declared and number == 0) or not line.strip() or line.startswith("#")):
            before += 1
            continue
        size += len(line)
        if (size > _SAMPLE_BYTES and len(lines) >= _SAMPLE_ROWS) or len(lines) == _MOST_SAMPLED:
            break
        lines.append(line)
    if not lines:
        raise InputError(problem=f"{label} has no rows", remedy="there is nothing to evaluate")
    return lines, before, declared


def _lines(text: IO[str], label: str) -> Iterator[str]:
    for number in itertools.count(1):
        line = text.readline(LONGEST_LINE)
        if not line:
            return
        if len(line) == LONGEST_LINE:
            raise InputError(
                problem=f"{label}, line {number} is longer than {LONGEST_LINE:,} bytes", remedy="shorten it"
            )
        yield line.encode("latin-1").decode("utf-8-sig" if number == 1 else "utf-8", errors="replace")


def _copy_lines(text: IO[str], copy: IO[bytes], *, skip: int = 0, most: int | None = None, label: str = "") -> None:
    """Copy all lines but the first few."""
    for _ in range(skip):
        text.readline()
    while chunk := text.read(1 << 20):
        copy.write(chunk.encode("latin-1"))
        if most is not None and copy.tell() > most:
            raise too_large(label, most)


def _delimiter(lines: list[str], endings: list[str], time_format: str | None) -> str:
    """Return the delimiter that cuts all lines into equally many cells, else one of the first row, else a comma."""
    # commas last but blanks: in 1,5;2,5 they are decimal commas, and cut as evenly as the semicolons
    candidates = ["\t"] if "tsv" in endings else ["\t", ";", "|", ","]
    last = [line for line in lines if line.strip()][-1]
    if _is_time(last.strip(), time_format):
        return "\x1f"  # no delimiter at all: blanks or commas are part of the time
    if not {"csv", "tsv"} & set(endings):
        candidates.append(" ")
    candidates = [d for d in candidates if d == " " or any(d in line for line in lines)]
    widths = {d: [len(cells) for _, cells in _split(iter(lines), d) if cells] for d in candidates}
    even = [d for d in candidates if len(set(widths[d])) == 1 and widths[d][0] > 1]
    torn = [d for d in candidates if d != " " and widths[d][0] > 1]
    return (even or torn or [","])[0]


def _is_header(rows: list[list[str]], wanted: list[str | int], time_format: str | None) -> bool:
    """Whether the first row names the columns: it has a wanted name, or cells unlike data."""
    first, second = rows[0], rows[1] if len(rows) > 1 else []
    # digits are a position first, where there is one: a cell 1 in a row of data is no column "1"
    if any(isinstance(name, str) and name in first and not is_position(name, len(first)) for name in wanted):
        return True
    if _is_numbered(first):
        return len(first) > 2 or (len(first) == 2 and _is_unlike(first, rows[1:]))
    filled = [cell for cell in first if cell.lower() not in MISSING_WORDS]
    if all(_looks_like_data(cell, time_format) for cell in filled):
        return not any(first)  # a value may be missing in the first row; names may be, too, if all are empty
    # a date, or text that comes again in the next row, is no name either
    dated = any(_is_time(cell, time_format) for cell in first)
    return not dated and not any(a == b and a in filled for a, b in zip(first, second, strict=False))


def is_position(name: str, width: int) -> bool:
    """Whether digits are the position of one of so many columns."""
    return name.isdecimal() and len(name) < 19 and int(name) < width


def _is_numbered(first: list[str]) -> bool:
    """Whether a row is 0, 1, 2, ..., which pandas writes for unnamed columns, maybe after an unnamed index."""
    names = first[1:] if first[0] == "" else first
    return bool(names) and names == [str(i) for i in range(len(names))]


def _is_unlike(first: list[str], others: list[list[str]]) -> bool:
    """Whether a cell is written unlike all below it: a whole number above decimals, or nothing above numbers."""
    written = [{_writing(cell) for cell in column} for column in zip(*others, strict=False)]
    return any(_writing(cell) not in below for cell, below in zip(first, written, strict=False))


def _writing(cell: str) -> str:
    return "none" if cell.lower() in MISSING_WORDS else "whole" if re.fullmatch(r"[-+]?\d+", cell) else "other"


def _notes(first: list[str], has_header: bool, wanted: list[str | int], label: str) -> tuple[Remark, ...]:
    """What to tell about a first row of 0, 1, 2, ...: it may be names or data."""
    if not _is_numbered(first) or any(isinstance(name, str) and not name.isdecimal() for name in wanted):
        return ()
    row = shortened(", ".join(first), 40)
    if has_header:
        told = "The first row of {} ({}) was read as its header: if it is data, put names above it."
        return (Remark("row read as header", told, label, row),)
    told = "The first row of {} ({}) was read as data: if it is the header, give the columns other names."
    return (Remark("row read as data", told, label, row),)


def _looks_like_data(cell: str, time_format: str | None) -> bool:
    """Whether a cell is a number, a time or true/false; digits without letters, such as 31/12/2020, are data too."""
    number = r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|[-+]?inf(inity)?|true|false"
    if re.fullmatch(number, cell, re.IGNORECASE) or _is_time(cell, time_format):
        return True
    return bool(re.search(r"\d", cell)) and not re.search(r"[^\W\d_]", cell)


def _is_time(text: str, time_format: str | None) -> bool:
    if time_format is None:
        return bool(re.fullmatch(r"\d{4}([-/]\d\d?){2}([T ][\d:.]+\s*(Z|UTC|[-+][\d:]+)?)?", text))
    try:
        datetime.datetime.strptime(text, time_format)
    except ValueError:
        return False
    return True


def _split(lines: Iterator[str] | IO[str], delimiter: str, before: int = 0) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and cells of each row, leaving out blank lines where rows have several cells."""
    if delimiter == " ":
        for number, line in enumerate(lines, before + 1):
            if line.strip():
                yield number, [cell.strip('"') for cell in line.split()]
        return
    reader = csv.reader(lines, delimiter=delimiter)
    width = 0
    for cells in reader:
        width = width or len(cells)
        if cells or width == 1:
            yield before + reader.line_num, cells


def _open_bytes(path: Path, magic: bytes) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path)) if magic == _GZIP else path.open("rb")


def _open_lines(path: Path, magic: bytes = b"", newline: str | None = "") -> io.TextIOWrapper:
    """Open a file of lines, however they end: as they are, or (newline=None) all made to end alike."""
    # latin-1 maps bytes to letters one to one, so that nothing is lost whatever the encoding of the cells is
    return io.TextIOWrapper(_open_bytes(path, magic), encoding="latin-1", newline=newline)


# ---- one file behind duckdb: its columns by name or position, its cells by query, its lines for errors

# duckdb would take a folder called day=1 for a column
_PARQUET = "read_parquet(?, hive_partitioning=false)"


class FileTable:
    """One file behind a duckdb connection; `load` puts the picked columns into a table of that name."""

    def __init__(self, connection: Any, label: str, path: Path, layout: Layout | None, folder: Path) -> None:
        self.connection, self.label, self.path, self.layout, self.folder = connection, label, path, layout, folder
        self.n_rows = self.first_row = 0
        self.kept: NDArray[Any] | None = None
        self.notes = () if layout is None else layout.notes
        if layout is None:
            query = f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM {_PARQUET})"
            described = self.ask(query, [unglobbed(path)])
            self.fields, self.types = [name for name, _ in described], [kind for _, kind in described]
            self.names = self.parquet_names()
        else:
            self.names, self.types = layout.names, ["VARCHAR"] * len(layout.names)

    def parquet_names(self) -> list[str]:
        """Return the columns' names as written: duckdb renames the second of two that are alike."""
        nodes = iter(self.ask("SELECT name, coalesce(num_children, 0) FROM parquet_schema(?)", [unglobbed(self.path)]))
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
            return InputError(
                problem=f"{self.label} cannot be read as Parquet ({one_line(text)})", remedy="write it again"
            )
        if "unicode" in text.lower() or "utf-8" in text.lower():
            return self.not_utf8() or InputError(problem=f"{self.label} is not UTF-8 text", remedy="save it as UTF-8")
        width = len(self.names)
        try:
            for line, cells in self.layout.rows():
                if cells and len(cells) != width:
                    counts = f"has {len(cells)} cells where the first row has {width}"
                    return InputError(
                        problem=f"{self.label}, line {line} {counts}", remedy="correct it, or quote its cells"
                    )
        except (csv.Error, UnicodeDecodeError, OSError, EOFError) as other:
            text = str(other)
        return InputError(
            problem=f"{self.label} cannot be read as delimited text ({one_line(text)})",
            remedy="check its quotes and its longest cells",
        )

    def at(self, row: int) -> str:
        """Say where a row of the table is in the file."""
        row = row if self.kept is None else int(self.kept[row])
        if self.layout is None:
            return f"{self.label}, row {self.first_row + row + 1}"
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
                raise InputError(
                    problem=f"{self.label} has {count} columns named {asked}", remedy="give the position of one"
                )
            if not column.isdecimal():
                raise self.no_column(column, role)
        elif isinstance(column, bool) or not isinstance(column, int | np.integer):
            raise InputError(problem=f"columns[{role!r}]={asked} must be the name of a column, or its position from 0")
        if not (is_position(column, width) if isinstance(column, str) else 0 <= column < width):
            bounds = f"positions run from 0 to {width - 1} ({self.listing()})"
            raise InputError(
                problem=say("{} has no column at position {} (for {})", self.label, asked.strip("'"), named(role)),
                remedy=bounds,
            )
        return int(column)

    def no_column(self, column: str, role: str) -> InputError:
        """The error for a name that no column has: what the columns are, and which of them may be meant."""
        if wrong := self.not_utf8():
            return wrong
        close = difflib.get_close_matches(column, self.names, n=1, cutoff=0.5)
        lowered = [name for name in self.names if name.lower() == column.lower()]
        hint = f"did you mean {shown((lowered or close)[0])}? " if lowered or close else ""
        parts = [part.strip() for part in column.split(",")]
        if len(parts) > 1 and set(parts) <= set(self.names):
            hint = "name one column at a time. "
        where = f"{'The' if hint else 'the'} columns are {self.listing()}"
        if self.layout is not None and not self.layout.has_header:
            where = f"{'The' if hint else 'the'} file has no header, so give a position from 0 to {len(self.names) - 1}"
        return InputError(
            problem=Remark("no column", "{} has no column {} (for {})", self.label, shown(column), named(role)),
            remedy=f"{hint}{where}",
        )

    def not_utf8(self) -> InputError | None:
        """What to do about a header in another encoding, since nobody can type what is made of it; None for others."""
        if self.layout is None or self.layout.header_in("utf-8"):
            return None
        told = ", ".join(map(shown, self.layout.header_in("cp1252")[:20]))
        if not told:
            return InputError(problem=f"{self.label} is not UTF-8 text", remedy="save it as UTF-8")
        return InputError(
            problem=f"{self.label} is not UTF-8 text",
            remedy=f"in Windows-1252 its first row would read {told}. Save it as UTF-8, as by iconv -f WINDOWS-1252 "
            "-t UTF-8",
        )

    def load(self, positions: list[int], empty: bool = False, rows: tuple[int, int] | None = None) -> None:
        """Copy the columns at these positions into a table in memory, in file order; ``empty`` permits no rows.

        Of Parquet, ``rows`` may be a first row and the one past the last: other groups of rows are then not read.
        """
        create = "CREATE OR REPLACE TEMP TABLE picked AS"
        if self.layout is None:
            self.first_row, stop = rows or (0, 0)
            cells = ", ".join(f"{quoted(self.fields[i])} AS c{i}" for i in positions)
            within = f" WHERE file_row_number BETWEEN {self.first_row} AND {stop - 1}" if rows else ""
            self.ask(f"{create} SELECT {cells} FROM {_PARQUET}{within}", [unglobbed(self.path)])
        else:
            self.load_text(f"{create} {text_query(self.layout, positions, len(self.names))}")
        # blank lines at the end of a one-column file are no rows; elsewhere duckdb skips blank lines itself
        alone = self.layout is not None and len(self.names) == 1
        kept = "coalesce(1 + max(rowid) FILTER (c0 IS NOT NULL), 0)" if alone else "count(*)"
        n_lines, self.n_rows = self.ask(f"SELECT count(*), {kept} FROM picked")[0]
        if self.n_rows < n_lines:
            self.ask(f"DELETE FROM picked WHERE rowid >= {self.n_rows}")
        if self.n_rows == 0 and not empty:
            raise InputError(problem=f"{self.label} has a header but no rows", remedy="there is nothing to evaluate")

    def keep(self, flags: NDArray[Any]) -> None:
        """Keep some of the rows that were loaded; messages still count those of the file."""
        self.kept = np.flatnonzero(flags)
        self.ask("CREATE OR REPLACE TEMP TABLE kept AS SELECT unnest(?::BIGINT[]) AS r", [self.kept.tolist()])
        self.ask(
            "CREATE OR REPLACE TEMP TABLE filtered AS SELECT p.* FROM picked p JOIN kept ON p.rowid = r ORDER BY r"
        )
        self.ask("DROP TABLE picked")
        self.ask("ALTER TABLE filtered RENAME TO picked")
        self.n_rows = len(self.kept)

    def load_text(self, query: str) -> None:
        import duckdb

        assert self.layout is not None
        with suppress(duckdb.Error):
            self.connection.execute(query, [unglobbed(self.layout.body)])
            return
        # most files that fail mix the ends of lines; what is wrong with others is said of the copy just as well
        self.layout = self.layout.evened(self.folder)
        self.run(query, [unglobbed(self.layout.body)])


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    return '"{}"'.format(name.replace('"', '""'))


def unglobbed(path: Path) -> str:
    """Return the path so that duckdb takes * ? [ and ~ in it literally."""
    return re.sub(r"([*?\[])", r"[\1]", str(path.absolute()))


def one_line(text: str) -> str:
    return " ".join(text.split("\n")[0].split())[:120]
