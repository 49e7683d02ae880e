"""How a text file is cut into cells: its delimiter, its header and where its rows begin."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, cast

from nofluke.errors import InputError, shortened

MOST_BYTES = 8 << 30
"""How much of a pipe or of a packed file is copied; without a limit an endless one would fill the disk."""
LONGEST_LINE = 32 << 20
_SAMPLE_BYTES = 1 << 16
_SAMPLE_ROWS = 3  # however long they are: the first may be the header, the second tells
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
    notes: tuple[str, ...]

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield line number and cells of every row, as duckdb would see them; for errors, since it is slow."""
        with self.body.open(encoding="utf-8-sig", newline="") as file:
            yield from _split(file, self.delimiter, self.lines_before_body)

    def header_in(self, encoding: str) -> list[str]:
        """The first row as it reads in an encoding; empty where it is in another."""
        with self.body.open("rb") as file:
            line = file.readline(LONGEST_LINE)
        try:
            return next(_split(iter([line.decode(encoding)]), self.delimiter))[1]
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
        if size > _SAMPLE_BYTES and len(lines) >= _SAMPLE_ROWS:
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
    if all(_looks_like_data(cell, time_format) for cell in filled) and filled:
        return False
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


def _notes(first: list[str], has_header: bool, wanted: list[str | int], label: str) -> tuple[str, ...]:
    """What to tell about a first row of 0, 1, 2, ...: it may be names or data."""
    if not _is_numbered(first) or any(isinstance(name, str) and not name.isdecimal() for name in wanted):
        return ()
    row = shortened(", ".join(first), 40)
    if has_header:
        return (f"The first row of {label} ({row}) was read as its header: if it is data, put names above it.",)
    return (f"The first row of {label} ({row}) was read as data: if it is the header, give the columns other names.",)


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
