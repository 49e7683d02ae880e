"""One file behind duckdb: its columns by name or position, its cells by query, its lines for errors."""

from __future__ import annotations

import csv
import difflib
import itertools
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nofluke.data.delimited import Layout, is_position, text_query
from nofluke.errors import InputError, named, say, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

# duckdb would take a folder called day=1 for a column
_PARQUET = "read_parquet(?, hive_partitioning=false)"


class FileTable:
    """One file behind a duckdb connection; `load` puts the picked columns into a table of that name."""

    def __init__(self, connection: Any, label: str, path: Path, layout: Layout | None, folder: Path) -> None:
        self.connection, self.label, self.path, self.layout, self.folder = connection, label, path, layout, folder
        self.n_rows = self.first_row = 0
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
                if wrong := self.not_utf8():
                    raise wrong
                close = difflib.get_close_matches(column, self.names, n=1, cutoff=0.5)
                lowered = [name for name in self.names if name.lower() == column.lower()]
                hint = f"did you mean {shown((lowered or close)[0])}? " if lowered or close else ""
                parts = [part.strip() for part in column.split(",")]
                if len(parts) > 1 and set(parts) <= set(self.names):
                    hint = "name one column at a time. "
                where = f"{'The' if hint else 'the'} columns are {self.listing()}"
                if self.layout is not None and not self.layout.has_header:
                    where = f"{'The' if hint else 'the'} file has no header, so give a position from 0 to {width - 1}"
                raise InputError(
                    problem=say("{} has no column {} (for {})", self.label, asked, named(role)), remedy=f"{hint}{where}"
                )
        elif isinstance(column, bool) or not isinstance(column, int | np.integer):
            raise InputError(problem=f"columns[{role!r}]={asked} must be the name of a column, or its position from 0")
        if not (is_position(column, width) if isinstance(column, str) else 0 <= column < width):
            bounds = f"positions run from 0 to {width - 1} ({self.listing()})"
            raise InputError(
                problem=say("{} has no column at position {} (for {})", self.label, asked.strip("'"), named(role)),
                remedy=bounds,
            )
        return int(column)

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
        if self.layout is not None and len(self.names) == 1:
            # blank lines at the end of a one-column file are no rows; elsewhere duckdb skips blank lines itself
            last = "coalesce((SELECT max(rowid) FROM picked WHERE c0 IS NOT NULL), -1)"
            self.ask(f"DELETE FROM picked WHERE rowid > {last}")
        self.n_rows = int(self.ask("SELECT count(*) FROM picked")[0][0])
        if self.n_rows == 0 and not empty:
            raise InputError(problem=f"{self.label} has a header but no rows", remedy="there is nothing to evaluate")

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
