"""Tables of values as boards publish them: one row a series, one column a method, and where the series come from.

Wide (a column for each method), long (a row for each series and method), one file for each method, or a study.
"""

from __future__ import annotations

import fnmatch
import glob
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from nofluke import metrics
from nofluke.arrays import FloatArray
from nofluke.data.columns import frame_columns
from nofluke.data.files import numbers_of
from nofluke.data.tables import FileTable, open_table
from nofluke.errors import InputError, arg, joined, say, shown
from nofluke.metrics.spelling import known_as
from nofluke.plain import exact_floats, meant, several
from nofluke.studies.result import Study
from nofluke.studies.sources.names import items_of, names_in, names_of_files, numbers_in

UNBOUNDED = ("nab",)  # metrics with values outside of 0 to 1
FOREIGN = 10  # what is mostly beyond, where most columns are between 0 and 1, is no such value
MOST_NAMED = 8  # columns in a message
Source = str | Mapping[str, Any] | Callable[[str], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueTable:
    """Values of a metric, and what they belong to.

    Attributes
    ----------
    series, methods : tuple of str
    values : float array, series x methods
        NaN where a method has no value.
    sources : tuple of str or None
        Of each series, where it comes from; None if that is not known.
    metric : str
        What the values are, if a column says so.
    notes : tuple of str
    """

    series: tuple[str, ...]
    methods: tuple[str, ...]
    values: FloatArray = field(repr=False)
    sources: tuple[str, ...] | None = None
    metric: str = ""
    notes: tuple[str, ...] = ()


def read_values(
    table: Any,
    *,
    series: str | None,
    method: str | None,
    value: str | None,
    source: Source | None,
    methods: str | Sequence[str] | None,
) -> ValueTable:
    """Read a table of whatever kind; see `nofluke.rank` for the arguments."""
    if isinstance(table, str | PathLike) and _exists(Path(table) / "study.json"):
        table = Study.open(Path(table))
    if isinstance(table, Study):
        cells, grouped = table.cells, table.cells["group"].tolist() != table.cells["series"].tolist()
        series, method, value = series or "series", method or "detector", value or "f1"
        source = "group" if source is None and grouped else source
        for role, name in (("series", series), ("method", method), ("value", value)):
            if name not in cells:
                raise InputError(
                    argument=role, value=name, problem="is no column of a study's cells", remedy=meant(name, cells)
                )
        table = {name: cells[name] for name in cells if name in (series, method, value, source)}
    parts = _parts(table)
    if isinstance(table, list | tuple) and len(table) == 1:
        table = table[0]
    if parts is None:
        with _opened(table) as columns:
            long = method is not None
            read = _long(columns, series, method, value, source) if long else _wide(columns, series, value, source)
    else:
        read = _one_each(parts, series, method, value, source)
    return _checked(read, methods, wide=parts is None and method is None)


# ---- columns by name, of a frame in memory or of a file


class _Frame:
    """The columns of a frame, or of a dict of columns."""

    def __init__(self, value: Any) -> None:
        pairs = list(value.items()) if isinstance(value, Mapping) else frame_columns(value)
        if pairs is None:
            raise InputError(
                argument="table",
                problem=f"must be a data frame, a dict of columns, a path, a study, or several files, got a "
                f"{type(value).__name__}",
                remedy="collect lazy frames first",
            )
        self.label, self.names, self._columns = "the table", [str(name) for name, _ in pairs], [one for _, one in pairs]
        sizes = {len(one) if hasattr(one, "__len__") else -1 for one in self._columns}
        if len(sizes) > 1 or -1 in sizes:
            raise InputError(
                argument="table", problem="has columns of unequal length", remedy="give every row all of them"
            )
        self.n_rows = sizes.pop() if sizes else 0

    def text(self, at: int, role: str) -> list[str | None]:
        return names_in(self._columns[at], role)

    def numbers(self, at: int) -> FloatArray | None:
        """A column as floats; None where it holds nothing but text."""
        try:
            found = numbers_in(self._columns[at], self.names[at])
        except InputError:
            if any(_is_number(item) for item in items_of(self._columns[at])):
                raise
            return None
        return None if found.dtype.kind == "M" else exact_floats(found, self.names[at])


class _File:
    """The columns of a file that is open."""

    def __init__(self, table: FileTable) -> None:
        self.label, self.names, self._table = table.label, table.names, table
        table.load(list(range(len(table.names))))
        self.n_rows = table.n_rows

    def text(self, at: int, _role: str) -> list[str | None]:
        found = self._table.array("coalesce(trim(c::VARCHAR), '')", at)
        return [str(name) or None for name in found.tolist()]

    def numbers(self, at: int) -> FloatArray | None:
        try:
            return numbers_of(self._table, at).astype(np.float64)
        except InputError:
            if any(map(_is_number, self.text(at, ""))):
                raise
            return None


_Columns = _Frame | _File


@contextmanager
def _opened(table: Any) -> Iterator[_Columns]:
    if isinstance(table, str | PathLike):
        with open_table(table if isinstance(table, str) else Path(table), [], None) as file:
            yield _File(file)
    else:
        yield _Frame(table)


def _is_number(item: Any) -> bool:
    try:
        return not isinstance(item, bool) and np.isfinite(float(item))
    except (TypeError, ValueError, OverflowError):
        return False


def _place(columns: _Columns, name: Any, role: str) -> int:
    """Where a column is; refuses a name that no column has, or two have."""
    if not isinstance(name, str) or columns.names.count(name) != 1:
        many = isinstance(name, str) and columns.names.count(name) > 1
        listed = ", ".join(map(shown, columns.names[:20]))
        raise InputError(
            argument=role,
            value=name,
            problem=f"names {columns.names.count(name)} columns of {columns.label}"
            if many
            else f"is no column of {columns.label}",
            remedy="rename all but one"
            if many
            else (isinstance(name, str) and meant(name, columns.names)) or f"the columns are {listed}",
        )
    return columns.names.index(name)


def _names(columns: _Columns, name: str, role: str) -> list[str]:
    """A column of names, all there."""
    found = columns.text(_place(columns, name, role), role)
    if None in found:
        raise InputError(
            argument=role,
            value=name,
            problem=f"has no value in {found.count(None):,} row(s) of {columns.label}, first in row "
            f"{found.index(None) + 1:,}",
            remedy=f"name the {role} of every row",
        )
    return [str(one) for one in found]


def _numbers(columns: _Columns, name: str) -> FloatArray:
    found = columns.numbers(_place(columns, name, "value"))
    if found is None:
        raise InputError(argument="value", value=name, problem="holds text", remedy="name a column of numbers")
    return found


# ---- the kinds of tables


def _wide(columns: _Columns, series: str | None, value: str | None, source: Source | None) -> ValueTable:
    """A row for each series, a column for each method."""
    if value is not None:
        raise InputError(
            argument="value",
            value=value,
            problem="is for tables with a row for each series and method",
            remedy=say("pass {} too, or leave it out", arg("method")),
        )
    names = _row_names(columns, series)
    if twice := sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []:
        raise InputError(
            argument="series",
            value=series,
            problem=f"has {shown(twice[0])} in {names.count(twice[0])} rows",
            remedy=say(
                "give each series one row, or pass {} and {} if it has one for each", arg("method"), arg("value")
            ),
        )
    about = {one for one in (series, source) if isinstance(one, str)}
    read = {name: columns.numbers(at) for at, name in enumerate(columns.names) if name not in about}
    if len(read) < sum(name not in about for name in columns.names):
        twice = sorted({name for name in columns.names if columns.names.count(name) > 1})
        raise InputError(
            argument="table", problem=f"has several columns named {shown(twice[0])}", remedy="rename all but one"
        )
    text = [name for name, found in read.items() if found is None]
    kept = {name: found for name, found in read.items() if found is not None}
    notes = (f"Text, and so no method: {_listed(text)}.",) if text else ()
    return ValueTable(
        series=tuple(names),
        methods=tuple(kept),
        values=np.stack([*kept.values()], axis=1) if kept else np.empty((len(names), 0)),
        sources=_sources(columns, names, source),
        notes=notes,
    )


def _row_names(columns: _Columns, series: str | None) -> list[str]:
    if series is not None:
        return _names(columns, series, "series")
    return [f"row {i + 1}" for i in range(columns.n_rows)]


def _long(
    columns: _Columns, series: str | None, method: str | None, value: str | None, source: Source | None
) -> ValueTable:
    """A row for each series and method."""
    if series is None or method is None or value is None:
        raise InputError(
            argument="series" if series is None else "value",
            problem="is missing",
            remedy="name its column, of a table with a row for each series and method",
        )
    rows, whose = _names(columns, series, "series"), _names(columns, method, "method")
    return _pivoted(rows, whose, _numbers(columns, value), _sources(columns, rows, source), value)


def _pivoted(
    rows: list[str], whose: list[str], found: FloatArray, sources: tuple[str, ...] | None, value: str
) -> ValueTable:
    series, methods = tuple(dict.fromkeys(rows)), tuple(dict.fromkeys(whose))
    i = {name: at for at, name in enumerate(series)}
    j = {name: at for at, name in enumerate(methods)}
    at = np.array([i[name] for name in rows]) * len(methods) + np.array([j[name] for name in whose])
    _, first, count = np.unique(at, return_index=True, return_counts=True)
    if (count > 1).any():
        twice = int(first[count > 1][0])
        raise InputError(
            argument="table",
            problem=f"has {int(count.max())} values of {shown(whose[twice])} on {shown(rows[twice])}",
            remedy="give each method one value a series",
        )
    values = np.full(len(series) * len(methods), np.nan)
    values[at] = found
    own: dict[str, str] = {}
    for name, one in zip(rows, sources or (), strict=False):
        if own.setdefault(name, one) != one:
            raise InputError(
                argument="source",
                problem=f"puts {shown(name)} into {shown(own[name])} and {shown(one)}",
                remedy="a series has one source",
            )
    return ValueTable(
        series=series,
        methods=methods,
        values=values.reshape(len(series), len(methods)),
        sources=None if sources is None else tuple(own[name] for name in series),
        metric=value,
    )


def _parts(table: Any) -> dict[str, Any] | None:
    """Tables of one method each by its name, from a dict or from a list of files; None for one table."""
    if isinstance(table, Mapping):
        each = bool(table) and all(
            isinstance(one, str | PathLike) or frame_columns(one) is not None for one in table.values()
        )
        return {str(name): one for name, one in table.items()} if each else None
    listed = [table] if isinstance(table, str | PathLike) else table
    if isinstance(listed, list | tuple) and listed and all(isinstance(one, str | PathLike) for one in listed):
        paths = [path for one in listed for path in _expanded(one)]
        return dict(zip(names_of_files([str(one) for one in paths]), paths, strict=True)) if len(paths) > 1 else None
    return None


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name that no system can have
        return False


def _expanded(path: str | PathLike[str]) -> list[str | PathLike[str]]:
    """The files that a pattern stands for, in order; a path without one, or to a file of that very name, as it is."""
    text = str(path)
    return [path] if _exists(Path(text)) or not glob.has_magic(text) else [*sorted(glob.glob(text))] or [path]


def _one_each(
    parts: Mapping[str, Any], series: str | None, method: str | None, value: str | None, source: Source | None
) -> ValueTable:
    """A table for each method, as boards keep their results."""
    if method is not None:
        raise InputError(
            argument="method",
            value=method,
            problem="is for one table",
            remedy="of several tables each is a method, which has the name of its file",
        )
    if series is None:
        raise InputError(
            argument="series",
            problem="is missing",
            remedy="name the column by which rows of several tables belong together",
        )
    rows: list[str] = []
    whose: list[str] = []
    sources: list[str] = []
    found, metric = [], value
    for name, part in parts.items():
        with _opened(part) as columns:
            own = _names(columns, series, "series")
            metric = metric or _only_numbers(columns, {series, source})
            found.append(_numbers(columns, metric))
            sources += _sources(columns, own, source) or ()
            rows, whose = rows + own, whose + [name] * len(own)
    return _pivoted(rows, whose, np.concatenate(found), tuple(sources) if source is not None else None, metric or "")


def _only_numbers(columns: _Columns, about: set[Any]) -> str:
    """The one column of numbers that a table has."""
    others = [at for at, name in enumerate(columns.names) if name not in about and columns.numbers(at) is not None]
    if len(others) == 1:
        return columns.names[others[0]]
    raise InputError(
        argument="value",
        problem="is missing",
        remedy=f"{columns.label} has {len(others)} columns of numbers"
        + (f": name one of {_listed([columns.names[at] for at in others])}" if others else ""),
    )


def _sources(columns: _Columns, series: Sequence[str], source: Source | None) -> tuple[str, ...] | None:
    """The source of each row: by a column, by what the name of its series says, or by a function or dict of those."""
    if source is None:
        return None
    if isinstance(source, str) and (source in columns.names or not re.search(r"(?<!\\)\((?!\?)", source)):
        return tuple(_names(columns, source, "source"))
    found: dict[str, Any] = {}
    if isinstance(source, str):
        try:
            pattern = re.compile(source)
        except re.error as error:
            raise InputError(
                argument="source", value=source, problem=f"is neither a column nor a pattern ({error})"
            ) from None
        found = {name: match[1] for name in set(series) if (match := pattern.search(name))}
    elif isinstance(source, Mapping):
        found = {str(name): one for name, one in source.items()}
    elif callable(source):
        try:
            found = {name: source(name) for name in dict.fromkeys(series)}
        except Exception as error:  # of the user's own function
            raise InputError(
                argument="source", value=source, problem=f"cannot be called with a name of a series ({error})"
            ) from None
    else:
        raise InputError(
            argument="source",
            value=source,
            problem="must be a column, a pattern with a group, a dict or a function of the series' names",
        )
    if without := [name for name in series if found.get(name) is None]:
        raise InputError(
            argument="source",
            value=source,
            problem=f"gives no source for {len(set(without)):,} series, such as {shown(without[0])}",
            remedy="name a column, or a pattern whose group is in every name",
        )
    return tuple(str(found[name]) for name in series)


# ---- which columns are methods, and whether their values can be


def _checked(read: ValueTable, methods: str | Sequence[str] | None, *, wide: bool) -> ValueTable:
    kept = _chosen(read.methods, methods)
    values = read.values[:, [read.methods.index(name) for name in kept]]
    if not len(read.series):
        raise InputError(argument="table", problem="has no rows", remedy="there is nothing to rank")
    if np.isinf(values).any():
        i, j = (int(at[0]) for at in np.nonzero(np.isinf(values)))
        raise InputError(
            argument="table",
            problem=f"has an infinite value, of {shown(kept[j])} on {shown(read.series[i])}",
            remedy="leave it empty if there is none",
        )
    notes = list(read.notes)
    empty = [name for name, one in zip(kept, values.T, strict=True) if np.isnan(one).all()]
    if empty:
        notes.append(f"Without any value, and so left out: {_listed(empty)}.")
        full = [name not in empty for name in kept]
        values, kept = values[:, full], tuple(name for name in kept if name not in empty)
    _refuse_foreign(read, kept, values, wide=wide and methods is None)
    if len(kept) < 2:
        raise InputError(
            argument="table",
            problem=f"has {len(kept)} method(s) ({_listed(kept)})" if kept else "has no method",
            remedy="a ranking needs two or more, each with a column of numbers",
        )
    return ValueTable(
        series=read.series, methods=kept, values=values, sources=read.sources, metric=read.metric, notes=tuple(notes)
    )


def _chosen(names: tuple[str, ...], asked: str | Sequence[str] | None) -> tuple[str, ...]:
    """Methods by names or patterns; those after an exclamation mark are left out."""
    if asked is None:
        return names
    words = several(asked, "methods")
    for word in words:
        plain = word.removeprefix("!") if isinstance(word, str) else word
        if not isinstance(plain, str) or not _matching(names, plain):
            raise InputError(
                argument="methods",
                value=word,
                problem="names no method",
                remedy=(isinstance(plain, str) and meant(plain, names)) or f"there are {_listed(names)}",
            )
    wanted = [name for word in words if not word.startswith("!") for name in _matching(names, word)]
    out = {name for word in words if word.startswith("!") for name in _matching(names, word[1:])}
    return tuple(name for name in (dict.fromkeys(wanted) if wanted else names) if name not in out)


def _matching(names: Sequence[str], word: str) -> list[str]:
    return [word] if word in names else [name for name in names if fnmatch.fnmatchcase(name, word)]


def _refuse_foreign(read: ValueTable, kept: tuple[str, ...], values: FloatArray, *, wide: bool) -> None:
    """Refuse values that the metric cannot have, and columns that describe series and are no methods."""
    outside = [name for name, one in zip(kept, values.T, strict=True) if np.nanmin(one) < 0 or np.nanmax(one) > 1]
    metric = known_as(read.metric, metrics.names()) if read.metric else None
    if metric in metrics.names() and metric not in UNBOUNDED and outside:
        worst = values[:, kept.index(outside[0])]
        at = int(np.nanargmax(np.abs(worst - 0.5)))
        raise InputError(
            argument="value",
            value=read.metric,
            problem=f"is {worst[at]:g} for {shown(outside[0])} on {shown(read.series[at])}, but {metric} is between 0 "
            "and 1",
            remedy="correct it, or leave it empty if it is missing",
        )
    large = any(np.nanmedian(np.abs(values[:, kept.index(name)])) > FOREIGN for name in outside)
    if not wide or not large or 2 * len(outside) >= len(kept):
        return
    whole = [name for name, one in zip(kept, values.T, strict=True) if not (one[~np.isnan(one)] % 1).any()]
    odd = [name for name in kept if name in outside or name in whole]
    raise InputError(
        argument="table",
        problem=f"has columns unlike the others, whose values are between 0 and 1: {_listed(odd)}",
        remedy=joined(
            " ",
            [
                say("if they describe series, leave out all that do, as by {};", arg("methods", f"!{odd[0]}")),
                say("if they are methods, name all of them by {}", arg("methods")),
            ],
        ),
    )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(map(shown, names[:MOST_NAMED])) + more
