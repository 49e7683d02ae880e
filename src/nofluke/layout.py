"""How a text file is cut into cells: its delimiter, its header and where its rows begin."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from nofluke.errors import InputError

_SAMPLE_BYTES = 1 << 16
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

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield line number and cells of every row, as duckdb would see them; for errors, since it is slow."""
        with self.body.open(encoding="utf-8-sig", newline="") as file:
            yield from _split(file, self.delimiter, self.lines_before_body)


def text_query(layout: Layout, positions: list[int], width: int) -> str:
    if layout.delimiter == " ":
        split = "SELECT string_split_regex(trim(line), '\\s+') AS cells FROM read_csv(?, auto_detect=false, \
            header=false, delim='\x01', quote='', escape='', columns={'line': 'VARCHAR'}) WHERE trim(line) <> ''"
        ragged = f"CASE WHEN len(cells) <> {width} THEN error('ragged') ELSE "
        cells = ", ".join(f"{ragged}trim(cells[{i + 1}], '\"') END AS c{i}" for i in positions)
        source = f"({split})"
    else:
        kinds = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(width))
        cells = ", ".join(f"c{i}" for i in positions)
        source = f"read_csv(?, auto_detect=false, header=false, delim='{layout.delimiter}', quote='\"', \
            escape='\"', columns={{{kinds}}})"
    return f"SELECT {cells} FROM {source}" + (" OFFSET 1" if layout.has_header else "")


def sniff(path: Path, label: str, folder: Path, wanted: list[str | int], time_format: str | None) -> Layout:
    """Find delimiter, header and the first row of a text file."""
    with path.open("rb") as file:
        magic = file.read(2)
    with _open_bytes(path, magic) as file:
        sample = file.read(_SAMPLE_BYTES)
    if not sample.strip():
        raise InputError(f"{label} is empty: there is nothing to evaluate.")
    if b"\0" in sample or sample[:2] in (b"PK", b"\xff\xfe", b"\xfe\xff"):
        raise InputError(f"{label} is neither UTF-8 text nor Parquet: save it as CSV (UTF-8) or Parquet.")
    lines = list(io.StringIO(sample.decode("utf-8-sig", errors="replace"), newline=""))
    if len(sample) == _SAMPLE_BYTES and len(lines) > 1:
        lines.pop()  # cut off in the middle
    declared = re.match(r"sep=([,;|:\t])\s*$", lines[0])
    before = 1 if declared else 0
    while before < len(lines) and (not lines[before].strip() or lines[before].startswith("#")):
        before += 1
    if before == len(lines):
        raise InputError(f"{label} has no rows: there is nothing to evaluate.")
    delimiter = declared[1] if declared else _delimiter(lines[before:], path.name.lower().split(".")[1:], time_format)
    first, second, *_ = [cells for _, cells in _split(iter(lines[before:]), delimiter)] + [[], []]
    first = [cell.strip() for cell in first]
    has_header = _is_header(first, second, wanted, time_format)
    body = path
    if before or magic == _GZIP:  # duckdb counts quotes in the lines it skips, so it gets none to skip
        body = folder / "body"
        with _open_bytes(path, magic) as file, body.open("wb") as copy:
            for _ in range(before):
                file.readline()
            shutil.copyfileobj(file, copy)
    names = [cell if has_header else f"column {i}" for i, cell in enumerate(first)]
    return Layout(delimiter=delimiter, names=names, has_header=has_header, body=body, lines_before_body=before)


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


def _is_header(first: list[str], second: list[str], wanted: list[str | int], time_format: str | None) -> bool:
    """Whether the first row names the columns: it has a wanted name, or cells unlike data."""
    if any(isinstance(name, str) and not name.isdecimal() and name in first for name in wanted):
        return True
    filled = [cell for cell in first if cell.lower() not in MISSING_WORDS]
    if all(_looks_like_data(cell, time_format) for cell in filled) and filled:
        return False
    # a date, or text that comes again in the next row, is no name either
    dated = any(_is_time(cell, time_format) for cell in first)
    return not dated and not any(a == b and a in filled for a, b in zip(first, second, strict=False))


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
