"""Methods ranked by a table of values: which differences hold, for new sources of series or for more of these series.

The section "Ranking by values" of docs/explanation/theory.md has the mathematics, and what was measured.
"""

from __future__ import annotations

import glob
import itertools
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from nofluke import metrics
from nofluke.arrays import AnyArray, BoolArray, ByValue, FloatArray, IntArray
from nofluke.data.columns import frame_columns
from nofluke.data.files import numbers_of
from nofluke.data.tables import FileTable, open_table
from nofluke.errors import InputError, arg, joined, say, shown
from nofluke.inference.corrections import holm
from nofluke.inference.verdict import Verdict
from nofluke.metrics.spelling import known_as
from nofluke.nulls.base import check_resamples, some_seed
from nofluke.plain import check_alpha, check_word, exact_floats, finite_or_none, meant, several
from nofluke.progress import progress_bar
from nofluke.ratios import TIE_SLACK
from nofluke.studies.result import Study, check_finished
from nofluke.studies.sources.names import items_of, matching, names_in, names_of_files, numbers_in
from nofluke.text.exports import Exports
from nofluke.text.numbers import p_is, show_p
from nofluke.text.tables import SCHEMA, Table, by_column, noted, plural, show_share

# ---- tables of values as boards publish them: one row a series, one column a method, and where the series come from
#
# Wide (a column for each method), long (a row for each series and method), one file for each method, or a study.

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
        check_finished(table)
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
    count = columns.names.count(name) if isinstance(name, str) else 0
    if count == 1:
        return columns.names.index(name)
    problem, remedy = f"names {count} columns of {columns.label}", "rename all but one"
    if not count:
        problem, remedy = (
            f"is no column of {columns.label}",
            meant(name, columns.names) if isinstance(name, str) else "",
        )
        remedy = remedy or f"the columns are {', '.join(map(shown, columns.names[:20]))}"
    raise InputError(argument=role, value=name, problem=problem, remedy=remedy)


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
    names = [f"row {i + 1}" for i in range(columns.n_rows)] if series is None else _names(columns, series, "series")
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
    notes = (f"Text, and so no method: {_some(text)}.",) if text else ()
    return ValueTable(
        series=tuple(names),
        methods=tuple(kept),
        values=np.stack([*kept.values()], axis=1) if kept else np.empty((len(names), 0)),
        sources=_sources(columns, names, source),
        notes=notes,
    )


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
        + (f": name one of {_some([columns.names[at] for at in others])}" if others else ""),
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
        notes.append(f"Without any value, and so left out: {_some(empty)}.")
        full = [name not in empty for name in kept]
        values, kept = values[:, full], tuple(name for name in kept if name not in empty)
    _refuse_foreign(read, kept, values, wide=wide and methods is None)
    if len(kept) < 2:
        raise InputError(
            argument="table",
            problem=f"has {len(kept)} method(s) ({_some(kept)})" if kept else "has no method",
            remedy="a ranking needs two or more, each with a column of numbers",
        )
    return replace(read, methods=kept, values=values, notes=tuple(notes))


def _chosen(names: tuple[str, ...], asked: str | Sequence[str] | None) -> tuple[str, ...]:
    """Methods by names or patterns; those after an exclamation mark are left out."""
    if asked is None:
        return names
    words = several(asked, "methods")
    for word in words:
        plain = word.removeprefix("!") if isinstance(word, str) else word
        if not isinstance(plain, str) or not matching(names, plain):
            raise InputError(
                argument="methods",
                value=word,
                problem="names no method",
                remedy=(isinstance(plain, str) and meant(plain, names)) or f"there are {_some(names)}",
            )
    wanted = [name for word in words if not word.startswith("!") for name in matching(names, word)]
    out = {name for word in words if word.startswith("!") for name in matching(names, word[1:])}
    return tuple(name for name in (dict.fromkeys(wanted) if wanted else names) if name not in out)


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
        problem=f"has columns unlike the others, whose values are between 0 and 1: {_some(odd)}",
        remedy=joined(
            " ",
            [
                say("if they describe series, leave out all that do, as by {};", arg("methods", f"!{odd[0]}")),
                say("if they are methods, name all of them by {}", arg("methods")),
            ],
        ),
    )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(map(shown, names[:MOST_NAMED])) + more


Kind = Literal["sources", "series"]
KINDS: tuple[Kind, ...] = ("sources", "series")
BETTER = ("higher", "lower")
ROWS = ("methods", "pairs")
SPEAKS = {
    "sources": "series of new sources, such as other archives (values are exchanged between methods source by source)",
    "series": "more series of the same sources, in the same proportions (values are exchanged series by series)",
}

MOST_LISTED = 2**15  # exchanges that are enumerated, rather than drawn
FEW_UNITS = 15  # in which two methods differ, for all flips of a pair to be enumerated
POWER = 0.8  # of the number of units that would tell the first from the second
SLACK = 1e-9  # squares of statistics that are mathematically equal differ by less
NOTHING = 1e-20  # and those that are 0 come out below
ROUNDING = 1e-12  # of the values that it is summed from: a difference below is none
MOST_KEPT = 2_000_000  # differences of pairs in units that are kept, where sums will do
PER_CHUNK = 50  # exchanges


# ---- units: what is exchanged, and the sums of a pair's differences over them


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """What the tests and the intervals of all pairs need, methods x methods, of K units.

    With d the weighted sum of a pair's differences in a unit, over the series that both have, and w the sum of the
    weights: Σ d, Σ d², Σ w, Σ d w, Σ w², and in how many units d is not 0. ``units`` and ``present`` are K x methods.
    Where methods have only a part of a unit (``partly``), a pair's d is no difference of two sums: ``between`` has all
    of them, K x methods x methods, as it does where that is not much.
    """

    units: FloatArray
    present: BoolArray
    between: FloatArray
    partly: bool
    total: FloatArray
    squares: FloatArray
    weight: FloatArray
    crossed: FloatArray
    weights: FloatArray
    differing: IntArray

    def of_pair(self, i: int, j: int) -> FloatArray:
        """The differences of a pair, unit by unit."""
        if len(self.between):
            return self.between[:, i, j]
        both = self.present[:, i] & self.present[:, j]
        return np.where(both, self.units[:, i] - self.units[:, j], 0.0)

    def of_unit(self, u: int) -> FloatArray:
        """The differences of all pairs in a unit."""
        if len(self.between):
            return np.asarray(self.between[u])
        both = self.present[u][:, None] & self.present[u]
        return np.where(both, self.units[u][:, None] - self.units[u], 0.0)

    @property
    def statistics(self) -> FloatArray:
        """(Σ d)² / Σ d² of all pairs; 0 where two methods agree in all units."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.squares > 0, self.total**2 / self.squares, 0.0)


def summed(values: FloatArray, weights: FloatArray, unit: IntArray) -> Sums:
    """Sums over units of a table of values, series x methods; ``unit`` has the number of each series' unit."""
    order = np.argsort(unit, kind="stable")
    v, w = values[order], weights[order][:, None]
    starts = np.flatnonzero(np.diff(unit[order], prepend=-1))
    there = ~np.isnan(v)
    n, n_units = v.shape[1], len(starts)

    def grouped(x: AnyArray) -> AnyArray:
        return x if n_units == len(v) else np.add.reduceat(x, starts, axis=0)

    held = grouped(there.astype(np.int64))
    present = held > 0
    partly = bool((present & (held < np.diff(starts, append=len(v))[:, None])).any())
    keep = partly or n_units * n * n <= MOST_KEPT
    between, told = [], []
    scale = grouped(np.nan_to_num(np.abs(w * v)))
    for i in range(n):
        both = there & there[:, [i]]
        d = grouped(np.where(both, w * (v[:, [i]] - v), 0.0))
        d = np.where(np.abs(d) <= ROUNDING * (scale + scale[:, [i]]), 0.0, d)
        own = grouped(w * both)
        sums_of_pairs = [d.sum(0), (d * d).sum(0), own.sum(0), (d * own).sum(0), (own * own).sum(0)]
        told.append(np.stack([*sums_of_pairs, np.count_nonzero(d, axis=0)]))
        if keep:
            between.append(d)
    total, squares, weight, crossed, weights2, differing = np.stack(told, axis=1)
    return Sums(
        units=grouped(np.nan_to_num(w * v)),
        present=present,
        between=np.stack(between, axis=1) if keep else np.empty((0, n, n)),
        partly=partly,
        total=total,
        squares=squares,
        weight=weight,
        crossed=crossed,
        weights=weights2,
        differing=differing.astype(np.int64),
    )


# ---- exchanges of all methods within units, and the largest statistic of any pair


def largest_by_exchange(sums: Sums, n_resamples: int, seed: int) -> tuple[FloatArray, bool]:
    """Largest statistic of all pairs after each exchange: all exchanges if they are few, else random ones."""
    if n_exchanges(sums) <= math.log(MOST_LISTED):
        return _listed(sums), True
    return _drawn(sums, n_resamples, seed), False


def n_exchanges(sums: Sums) -> float:
    """The logarithm of how many exchanges there are; the methods of one unit may keep their places if all have all."""
    counts = sums.present[_differing(sums)].sum(1)
    many = sum(math.lgamma(int(m) + 1) for m in counts)
    return many - (math.lgamma(sums.units.shape[1] + 1) if sums.present.all() and len(counts) else 0.0)


def smallest_p(sums: Sums) -> float:
    """The least p that the maximum could have: an exchange that treats all units alike changes names, and no maximum.

    Of the different arrangements, as many have the largest maximum as there are ways to name the methods, where those
    with the same units and those with the same values are not told apart.
    """
    logs = 0.0
    for row, present in zip(sums.units, sums.present, strict=True):
        held = row[present]
        ties = {} if sums.partly else Counter(held.tolist())
        logs += math.lgamma(len(held) + 1) - sum(math.lgamma(k + 1) for k in ties.values())
    patterns = Counter(map(bytes, np.ascontiguousarray(sums.present.T)))
    copies = Counter(map(bytes, np.ascontiguousarray(np.where(sums.present, sums.units, np.nan).T)))
    names = sum(math.lgamma(k + 1) for k in patterns.values())
    names -= 0.0 if sums.partly else sum(math.lgamma(k + 1) for k in copies.values())
    return math.exp(min(names - logs, 0.0))


def _differing(sums: Sums) -> IntArray:
    """Units in which some methods differ."""
    if len(sums.between):
        return np.flatnonzero(sums.between.any(axis=(1, 2)))
    spread = np.where(sums.present, sums.units, -np.inf).max(1) - np.where(sums.present, sums.units, np.inf).min(1)
    return np.flatnonzero(spread > 0)


def _listed(sums: Sums) -> FloatArray:
    n = sums.units.shape[1]
    total, squares = np.zeros((1, n, n)), np.zeros((1, n, n))
    fixed = sums.present.all()
    for at, u in enumerate(_differing(sums)):
        own = np.flatnonzero(sums.present[u])
        orders = [own.tolist()] if fixed and at == 0 else [*map(list, itertools.permutations(own.tolist()))]
        d, seen = np.zeros((len(orders), n, n)), sums.of_unit(int(u))
        for k, order in enumerate(orders):
            d[k][np.ix_(own, own)] = seen[np.ix_(order, order)]
        total = (total[:, None] + d).reshape(-1, n, n)
        squares = (squares[:, None] + d * d).reshape(-1, n, n)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(squares > 0, total**2 / squares, 0.0).max(axis=(1, 2)))


def _drawn(sums: Sums, n_resamples: int, seed: int) -> FloatArray:
    """Random exchanges, in chunks with a stream each: the answer does not depend on how many run at once."""
    from nofluke.studies import rank_kernels as kernels

    n_units, n = sums.units.shape
    starts = range(0, n_resamples, PER_CHUNK)
    states = np.random.SeedSequence(seed).generate_state(len(starts), np.uint64) | np.uint64(1)
    largest = np.empty(n_resamples)
    counts = np.append(sums.present.sum(1), np.zeros(kernels.WIDTH, dtype=np.int64))
    present = np.argsort(~sums.present, axis=1, kind="stable")
    # less each unit's mean: fewer digits are lost in the squares of differences
    means = sums.units.sum(axis=1, keepdims=True) / np.maximum(counts[:n_units, None], 1)
    blocks, there = (_blocks(x, kernels) for x in (np.where(sums.present, sums.units - means, 0.0), sums.present))

    def draw(k: int) -> int:
        own = largest[starts[k] : starts[k] + PER_CHUNK]
        if sums.partly:
            kernels.exchange_partly(sums.between, present, counts, states[k], own)
        elif sums.present.all():
            kernels.exchange_complete(blocks, n, states[k], own)
        else:
            kernels.exchange_present(blocks, there, present, counts, n, states[k], own)
        return len(own)

    done = draw(0)  # compiles, once
    with progress_bar("exchanges", n_resamples) as advance, ThreadPoolExecutor(os.cpu_count()) as pool:
        for size in pool.map(draw, range(1, len(starts))):
            done += size
            advance(done)
    return largest


def _blocks(x: AnyArray, kernels: Any) -> FloatArray:
    """Units x methods as blocks of methods x units, filled up with zeros."""
    n_units, n = x.shape
    width = min(kernels.WIDTH, -(-n_units // 8) * 8)
    n_blocks, rows = -(-n_units // width), -(-n // kernels.ALIGNED) * kernels.ALIGNED
    padded = np.zeros((n_blocks * width, rows))
    padded[:n_units, :n] = x
    return np.ascontiguousarray(padded.reshape(n_blocks, width, rows).transpose(0, 2, 1))


def flips(d: FloatArray) -> FloatArray:
    """(Σ ± d)² / Σ d² for all signs of a pair's differences that are not 0; the first keeps its sign, by symmetry."""
    d = d[d != 0]
    totals = d[:1] if len(d) else np.zeros(1)
    for one in d[1:].tolist():
        totals = np.concatenate([totals + one, totals - one])
    return totals**2 / float(d @ d) if len(d) else np.zeros(1)


# ---- the answer for one kind of units


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer(ByValue):
    """All pairs of methods, best first, by exchanges within units of one kind.

    Attributes
    ----------
    units : {"sources", "series"}
        What was exchanged, and so what the answer speaks for.
    n_units : int
    pvalue : float array, methods x methods
        Corrected for all pairs: how often the largest difference of any pair after an exchange, in standard units, is
        at least this one's. Not below the share of this pair's own flips where it differs in 15 units or fewer.
    low, high : float array, methods x methods
        Interval of the difference, row less column, for all pairs at once: 0 is outside where a pair is told apart. NaN
        where there is none: a few units have nearly all the weight, or nothing could be told.
    floor : float array, methods x methods
        The smallest p-value that could have come out.
    n_differing : int array, methods x methods
        Units in which the two differ.
    n_resamples : int
        Exchanges drawn; 0 where all were enumerated.
    needed : int or None
        About how many such units would tell the first method from the second with power 0.8, if their difference is as
        seen; None where it is 0 or unknown.
    enough : int
        The fewest units with which a pair can be told apart at all.
    alpha : float

    See Also
    --------
    nofluke.Ranking : has one, or two.
    """

    units: Kind
    n_units: int
    pvalue: FloatArray = field(repr=False)
    low: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)
    floor: FloatArray = field(repr=False)
    n_differing: IntArray = field(repr=False)
    n_resamples: int
    needed: int | None
    enough: int
    alpha: float

    @property
    def told(self) -> BoolArray:
        """Which pairs are told apart."""
        return _significant(self.pvalue, self.alpha)

    @property
    def n_told(self) -> int:
        """How many pairs are told apart."""
        return int(np.triu(self.told, 1).sum())

    @property
    def can_tell(self) -> bool:
        """Whether any outcome could have told a pair apart."""
        return bool(_significant(self.floor, self.alpha).any())

    @property
    def unit(self) -> str:
        """One of the units."""
        return "source" if self.units == "sources" else "series"

    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Sets of methods, by place, none of which is told from another; each pair that is not told apart is in one."""
        alike = ~self.told
        n, seen, found = len(alike), np.eye(len(alike), dtype=np.bool_), []
        for i, j in zip(*np.nonzero(np.triu(alike, 1)), strict=True):
            if not seen[i, j]:
                group = [int(i), int(j)]
                for k in range(n):
                    if k not in group and alike[k, group].all():
                        group.append(k)
                group.sort()
                seen[np.ix_(group, group)] = True
                found.append(tuple(group))
        return tuple(found)


def _significant(pvalues: FloatArray, alpha: float) -> BoolArray:
    """Which p-values are at most alpha, up to rounding."""
    return np.asarray(pvalues <= alpha * (1 + TIE_SLACK))


def _scale(values: FloatArray) -> float:
    """The largest value: p does not depend on the scale, but squares of very large or small values are no numbers."""
    return float(np.nanmax(np.abs(values))) or 1.0


def answered(
    values: FloatArray, weights: FloatArray, unit: IntArray, units: Kind, alpha: float, n: int, seed: int
) -> Answer:
    """Test all pairs of methods of a table, and find intervals of their differences."""
    scale = _scale(values)
    sums = summed(values / scale, weights, unit)
    largest, exact = largest_by_exchange(sums, n, seed)
    seen = sums.statistics
    more = 0 if exact else 1
    highest = np.sort(largest)
    reached = len(highest) - np.searchsorted(highest, seen * (1 - SLACK) - NOTHING, side="left")
    pvalue = np.where(sums.squares > 0, (reached + more) / (len(highest) + more), 1.0)
    least = smallest_p(sums) if exact else max(smallest_p(sums), 1 / (len(highest) + 1))
    floor = np.maximum(2.0 ** (1 - np.maximum(sums.differing, 1).astype(np.float64)), least)
    floor[sums.differing == 0] = 1.0
    bar = np.full(seen.shape, _bar(highest, alpha, more))
    if len(seen) > 2:  # two methods are exchanged as their differences are flipped
        for i, j in zip(*np.nonzero(np.triu((sums.differing > 0) & (sums.differing <= FEW_UNITS), 1)), strict=True):
            flipped = flips(sums.of_pair(i, j))
            own = float(np.mean(flipped >= seen[i, j] * (1 - SLACK) - NOTHING))
            pvalue[i, j] = pvalue[j, i] = max(pvalue[i, j], own)
            bar[i, j] = bar[j, i] = max(bar[i, j], _bar(np.sort(flipped), alpha, 0))
    floor = np.minimum(floor, pvalue)  # logarithms round
    low, high = _ends(sums, np.where(floor <= alpha * (1 + SLACK), bar, np.nan))
    return Answer(
        units=units,
        n_units=len(sums.units),
        pvalue=pvalue,
        low=scale * low,
        high=scale * high,
        floor=floor,
        n_differing=sums.differing,
        n_resamples=0 if exact else n,
        needed=_needed(sums, bar),
        enough=1 + math.ceil(-math.log2(alpha) - SLACK),
        alpha=alpha,
    )


def _bar(ascending: FloatArray, alpha: float, more: int) -> float:
    """The largest statistic that is not significant; infinite where every one is below."""
    allowed = math.floor(alpha * (len(ascending) + more) * (1 + SLACK)) - more  # that may be as large
    return float(ascending[len(ascending) - 1 - allowed]) if 0 <= allowed < len(ascending) else math.inf


def _ends(sums: Sums, bar: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Differences δ that (Σ d - δ w)² ≤ bar · Σ (d - δ w)² does not exclude: between the roots, if those are finite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        c = sums.weight
        a = c * c - bar * sums.weights
        b = sums.total * c - bar * sums.crossed
        root = np.sqrt(np.maximum(b * b - a * (sums.total**2 - bar * sums.squares), 0.0))
        # a pair that agrees in all units has a difference of 0, and no doubt about it that the units could show
        fine = np.isfinite(bar) & (a > ROUNDING * c * c) & (sums.squares > 0)
        return np.where(fine, (b - root) / a, np.nan), np.where(fine, (b + root) / a, np.nan)


def _needed(sums: Sums, bar: FloatArray) -> int | None:
    """Units for the first two methods: the noncentrality grows as their root."""
    effect, bar_of = float(sums.total[0, 1]), float(bar[0, 1])
    if not effect or not math.isfinite(bar_of):
        return None
    mean = effect / float(sums.weight[0, 1])
    rest = float(sums.squares[0, 1] - 2 * mean * sums.crossed[0, 1] + mean**2 * sums.weights[0, 1])
    wanted = math.sqrt(bar_of) + NormalDist().inv_cdf(POWER)
    return max(math.ceil(len(sums.units) * wanted**2 * max(rest, 0.0) / effect**2), 1)


# ---- the classical tests, which take series for independent


@dataclass(frozen=True, kw_only=True, eq=False)
class Classical(ByValue):
    """What is usually reported: tests that take series for independent, whatever sources they come from.

    Attributes
    ----------
    friedman : float
        p of Friedman's test that all methods have the same mean rank; NaN with fewer than three.
    nemenyi : float array, methods x methods
        p of Nemenyi's test of mean ranks.
    mean_ranks : float array
        1 for the best.
    critical_difference : float
        Of two mean ranks, by Nemenyi, at level alpha.
    wilcoxon : float array, methods x methods
        p of Wilcoxon's signed-rank tests, corrected by Holm for all pairs.
    n_series : int
        Series that all methods have, on which ranks are taken; Wilcoxon's test uses those of each pair.
    alpha : float

    See Also
    --------
    nofluke.Ranking.classical : makes it.
    """

    friedman: float
    nemenyi: FloatArray = field(repr=False)
    mean_ranks: FloatArray = field(repr=False)
    critical_difference: float
    wilcoxon: FloatArray = field(repr=False)
    n_series: int
    alpha: float

    def in_words(self) -> str:
        """What they say, and what they assume."""
        friedman = "" if math.isnan(self.friedman) else f"Friedman {p_is(self.friedman)}. "
        wilcoxon = f"{_significant(self.wilcoxon[0], self.alpha).sum()} of {len(self.wilcoxon) - 1} are told from the best mean"
        said = f"Tests that take series for independent, for comparison: {friedman}By Wilcoxon and Holm {wilcoxon}"
        if not self.n_series:
            return f"{said}; no series has all methods, so there are no ranks."
        told = _significant(self.nemenyi[self.mean_ranks.argmin()], self.alpha).sum()
        return (
            f"{said}; by Nemenyi {told} from the best mean rank (critical difference {self.critical_difference:.3g} of mean "
            f"ranks, {plural(self.n_series, 'series', 'series')})."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values; undefined ones are None."""
        return {
            "friedman": finite_or_none(self.friedman),
            "critical_difference": finite_or_none(self.critical_difference),
            "n_series": self.n_series,
        }


def classical_tests(values: FloatArray, ranks: FloatArray, alpha: float) -> Classical:
    """Friedman, Nemenyi and Wilcoxon with Holm's correction; ``ranks`` are those of complete series."""
    from scipy import stats

    n, k = ranks.shape
    friedman, nemenyi, critical, mean = math.nan, np.full((k, k), np.nan), math.nan, np.full(k, np.nan)
    if n:
        error = math.sqrt(k * (k + 1) / (6 * n))
        mean = ranks.mean(0)
        nemenyi = stats.studentized_range.sf(np.abs(mean[:, None] - mean) / error * math.sqrt(2), k, np.inf)
        critical = float(stats.studentized_range.isf(alpha, k, np.inf)) / math.sqrt(2) * error
        np.fill_diagonal(nemenyi, 1.0)
        if k > 2:
            with np.errstate(divide="ignore", invalid="ignore"):
                friedman = float(stats.friedmanchisquare(*ranks.T).pvalue)
    pairs = list(itertools.combinations(range(k), 2))
    found = []
    for i, j in pairs:
        d = values[:, i] - values[:, j]
        d = d[~np.isnan(d)]
        found.append(float(stats.wilcoxon(d).pvalue) if d.any() else 1.0)
    wilcoxon = np.ones((k, k))
    for (i, j), p in zip(pairs, holm(found).tolist(), strict=True):
        wilcoxon[i, j] = wilcoxon[j, i] = p
    return Classical(
        friedman=friedman,
        nemenyi=nemenyi,
        mean_ranks=mean,
        critical_difference=critical,
        wilcoxon=wilcoxon,
        n_series=n,
        alpha=alpha,
    )


# ---- a ranking: methods best first, and what is shown of their differences


@dataclass(frozen=True, kw_only=True, eq=False)
class Ranking(Exports, ByValue):
    """Methods by a table of values, best first, and which differences are shown to hold.

    Attributes
    ----------
    methods : tuple of str
        Best first: by the mean, or where cells are missing by the mean difference from all others on the series that
        both have.
    means : float array
        As published: each method's mean over the series that it has, by ``weigh``.
    mean_ranks : float array
        Of the series that all methods have, 1 for the best; NaN where there are none.
    n_series_of : int array
        Series on which each method has a value.
    differences : float array, methods x methods
        Row less column, on the series that both have; NaN where there are none.
    answer : Answer
        All pairs, for what the ranking speaks for.
    other : Answer or None
        The same for the other kind of units, where sources are known.
    n_series : int
    n_sources : int or None
    weigh : {"series", "sources"}
        What the mean gives the same weight to.
    better : {"higher", "lower"}
    metric : str
        What the values are, if known.
    alpha : float
    seed : int
    notes : tuple of str
        What a reader should know.
    values : float array, series x methods
        The table, with methods in this order.

    See Also
    --------
    nofluke.rank : makes it.
    nofluke.plot.ranking : draws it.
    nofluke.Comparison : the same question for the precision, recall and F1 of detectors.

    Examples
    --------
    >>> import nofluke as nf
    >>> table = {"series": list("abcdefgh"), "x": [5, 6, 7, 8, 7, 9, 8, 6], "y": [4, 5, 7, 6, 5, 8, 6, 5]}
    >>> found = nf.rank(table, series="series")
    >>> found.methods, float(found.answer.pvalue[0, 1]), found.verdict
    (('x', 'y'), 0.015625, 'yes')
    >>> print(found.verdict_in_words())
    x leads; the only other is shown to differ from it on more series like these.
    """

    methods: tuple[str, ...]
    means: FloatArray = field(repr=False)
    mean_ranks: FloatArray = field(repr=False)
    n_series_of: IntArray = field(repr=False)
    differences: FloatArray = field(repr=False)
    answer: Answer = field(repr=False)
    other: Answer | None = field(repr=False)
    n_series: int
    n_sources: int | None
    weigh: Kind
    better: str
    metric: str
    alpha: float
    seed: int
    notes: tuple[str, ...] = ()
    values: FloatArray = field(repr=False)

    @property
    def best(self) -> str:
        """The method that leads, shown to differ from the others or not."""
        return self.methods[0]

    @property
    def answers(self) -> tuple[Answer, ...]:
        """For what the ranking speaks for, then for the other kind of units where sources are known."""
        return (self.answer,) if self.other is None else (self.answer, self.other)

    @property
    def not_told_from_best(self) -> tuple[str, ...]:
        """The best method and those not shown to differ from it, corrected for all pairs."""
        return tuple(name for name, told in zip(self.methods, self.answer.told[0].tolist(), strict=True) if not told)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Sets of methods none of which is shown to differ from another; a method may be in several, or in none."""
        return tuple(tuple(self.methods[k] for k in group) for group in self.answer.groups())

    @property
    def verdict(self) -> Verdict:
        """Is the best shown to differ: from all others ("yes"), from some ("partly"), from none, or "cannot tell"."""
        if not self.answer.can_tell:
            return "cannot tell"
        told = self.answer.told[0, 1:]
        return "yes" if told.all() else "partly" if told.any() else "no"

    def verdict_in_words(self) -> str:
        """Who leads, and how many others are shown to differ; by both kinds of units where sources are known."""
        if len(self.methods) > 1 and self.differences[0, 1] == 0:
            lead = f"{self.methods[0]} and {self.methods[1]} lead with the same mean"
        else:
            lead = f"{self.best} leads"
        others = len(self.methods) - 1
        said = []
        for answer in self.answers:
            told = int(answer.told[0, 1:].sum())
            where = (
                "new sources"
                if answer.units == "sources"
                else "these series"
                if self.n_sources is not None
                else "more series like these"
            )
            if not answer.can_tell:
                said.append(
                    f"{plural(answer.n_units, answer.unit, answer.units)} cannot tell any pair apart at the {self.alpha:.3g} level "
                    f"(it takes {answer.enough})"
                )
            elif said:
                said.append(f"{told or 'none'} {'is' if told < 2 else 'are'} on {where}")
            else:
                whom = "the only other" if others == 1 else f"{told or 'none'} of {others} others"
                is_shown = "is not shown" if others == 1 and not told else "is shown" if told < 2 else "are shown"
                said.append(f"{whom} {is_shown} to differ from it on {where}")
        return f"{lead}; {', '.join(said)}."

    def difference(self, first: str, second: str) -> dict[str, Any]:
        """The difference of two methods: value, interval, p-value corrected for all pairs, and what it could have been.

        >>> import nofluke as nf
        >>> found = nf.rank({"x": [5, 6, 7, 8, 7, 9, 8, 6], "y": [4, 5, 7, 6, 5, 8, 6, 5]})
        >>> found.difference("y", "x")["difference"]
        -1.25
        """
        for name, argument in ((first, "first"), (second, "second")):
            check_word(name, argument, self.methods)
        i, j = self.methods.index(first), self.methods.index(second)
        return self._pair(i, j, self.answer)

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        """All pairs of methods, by place."""
        return list(itertools.combinations(range(len(self.methods)), 2))

    def _pair(self, i: int, j: int, answer: Answer) -> dict[str, Any]:
        return {
            "first": self.methods[i],
            "second": self.methods[j],
            "difference": finite_or_none(float(self.differences[i, j])),
            "low": finite_or_none(float(answer.low[i, j])),
            "high": finite_or_none(float(answer.high[i, j])),
            "pvalue": float(answer.pvalue[i, j]),
            "floor": float(answer.floor[i, j]),
            "n_differing": int(answer.n_differing[i, j]),
            "told": bool(answer.told[i, j]),
        }

    def classical(self) -> Classical:
        """Friedman, Nemenyi and Wilcoxon with Holm's correction, which take series for independent."""
        sign = 1 if self.better == "higher" else -1
        return classical_tests(sign * self.values, complete_ranks(sign * self.values), self.alpha)

    @property
    def title(self) -> str:
        """How much was ranked."""
        of = "" if self.n_sources is None else f" from {plural(self.n_sources, 'source')}"
        what = f" by {self.metric}" if self.metric else ""
        return f"{len(self.methods)} methods{what} on {plural(self.n_series, 'series', 'series')}{of}"

    def facts(self) -> tuple[tuple[str, str], ...]:
        """How the table came about: names and values."""
        answer = self.answer
        how = (
            "all exchanges" if not answer.n_resamples else f"{answer.n_resamples:,} random exchanges, seed {self.seed}"
        )
        return (
            ("Speaks for", SPEAKS[answer.units]),
            ("Mean", f"each {'series' if self.weigh == 'series' else 'source'} has the same weight"),
            ("Intervals", f"of the difference from the best, {100 * (1 - self.alpha):.3g}% for all pairs at once"),
            ("p", f"corrected for {plural(len(self._pairs), 'pair')} by the largest difference of any; {how}"),
            ("Units", plural(answer.n_units, answer.unit, answer.units)),
        )

    def remarks(self) -> Iterator[str]:
        """What else the numbers say: groups, pairs, units that would tell, and notes on the data."""
        if len(self.methods) > 2:
            told = ", ".join(f"{answer.n_told:,} by {answer.units}" for answer in self.answers)
            yield f"Pairs shown to differ, of {len(self._pairs):,}: {told}. Not shown to differ does not mean equal."
        for answer in self.answers:
            if answer.can_tell and not answer.told[0, 1] and answer.needed is not None:
                about = max(answer.needed, answer.enough)
                yield (
                    f"To tell {self.methods[0]} from {self.methods[1]}, if they differ as they do here, would take about "
                    f"{float(f'{about:.2g}'):,.0f} {answer.units} (power {POWER:g}); there are {answer.n_units:,}."
                )
        yield from self.notes

    def table(self, *, rows: str = "methods", classical: Classical | None = None) -> Table:
        """One line for each method, or for each pair; ``classical`` adds mean ranks and what those tests say."""
        _check_asked(rows, classical)
        level = f"{100 * (1 - self.alpha):.3g}%"
        ps = tuple(f"p {answer.units}" for answer in self.answers)
        lines: list[tuple[str, ...]] = []
        if rows == "pairs":
            heads = ("first", "second", f"difference [{level}]", *ps)
            for i, j in self._pairs:
                shown_p = tuple(show_p(float(answer.pvalue[i, j])) for answer in self.answers)
                lines.append((self.methods[i], self.methods[j], self._difference_in_words(i, j), *shown_p))
        else:
            # what the classical tests compare; without it the table fits a terminal of 80 columns
            ranks = () if classical is None else ("mean rank",)
            heads = ("method", "mean", *ranks, f"less the best [{level}]", *ps)
            for i, name in enumerate(self.methods):
                star = " *" if i and not self.answer.told[0, i] else ""
                own = tuple(show_p(float(answer.pvalue[i, 0])) if i else "" for answer in self.answers)
                rank = ("" if math.isnan(self.mean_ranks[i]) else f"{self.mean_ranks[i]:.2f}",) * len(ranks)
                difference = self._difference_in_words(i, 0) if i else ""
                lines.append((f"{name}{star}", show_share(float(self.means[i])), *rank, difference, *own))
        star = f"* not shown to differ from the best at the {self.alpha:.3g} level, all pairs compared."
        return Table(
            title=self.title,
            columns=heads,
            rows=tuple(lines),
            left=2 if rows == "pairs" else 1,
            notes=(
                self.verdict_in_words(),
                *((star,) if rows == "methods" and not self.answer.told[0, 1:].all() else ()),
                " ".join(f"{name}: {value}." for name, value in self.facts()),
                *noted(self.remarks()),
                *((classical.in_words(),) if classical is not None else ()),
            ),
        )

    def _difference_in_words(self, i: int, j: int) -> str:
        value, low, high = self.differences[i, j], self.answer.low[i, j], self.answer.high[i, j]
        if math.isnan(value):
            return "no series in common"
        ends = "" if math.isnan(low) else f" [{low:.3f}, {high:.3f}]"
        return f"{value:.3f}{ends}"

    def columns(self, *, rows: str = "methods", classical: Classical | None = None) -> dict[str, list[Any]]:
        """A row for each method, or for each pair and kind of units, by column name."""
        _check_asked(rows, classical)
        if rows == "pairs":
            told = [
                {**self._pair(i, j, answer), "units": answer.units} for answer in self.answers for i, j in self._pairs
            ]
            places = self._pairs * len(self.answers)
            if classical is not None:
                told = [
                    one | {"nemenyi": float(classical.nemenyi[at]), "wilcoxon": float(classical.wilcoxon[at])}
                    for one, at in zip(told, places, strict=True)
                ]
            return by_column(tuple(told[0]), [tuple(one.values()) for one in told])
        records = [self._method(i, classical) for i in range(len(self.methods))]
        return by_column(tuple(records[0]), [tuple(one.values()) for one in records])

    def _method(self, i: int, classical: Classical | None) -> dict[str, Any]:
        with_best = self._pair(i, 0, self.answer)
        told: dict[str, Any] = {
            "method": self.methods[i],
            "rank": i + 1,
            "mean": float(self.means[i]),
            "mean_rank": finite_or_none(float(self.mean_ranks[i])),
            "n_series": int(self.n_series_of[i]),
            **{name: with_best[name] for name in ("difference", "low", "high")},
            **{f"p_{answer.units}": float(answer.pvalue[i, 0]) for answer in self.answers},
            "told_from_best": with_best["told"],
        }
        if classical is not None:
            told |= {"p_nemenyi": finite_or_none(float(classical.nemenyi[i, 0]))}
            told |= {"p_wilcoxon": finite_or_none(float(classical.wilcoxon[i, 0]))}
        return told

    def _record(self, *, rows: str = "methods", classical: Classical | None = None) -> dict[str, Any]:
        _check_asked(rows, classical)
        return {
            "schema": SCHEMA,
            "verdict": self.verdict,
            "in_words": self.verdict_in_words(),
            "speaks_for": self.answer.units,
            "methods": [self._method(i, classical) for i in range(len(self.methods))],
            "answers": [self._answer(answer) for answer in self.answers],
            "classical": None if classical is None else classical.to_dict(),
            "metric": self.metric,
            "better": self.better,
            "weigh": self.weigh,
            "n_series": self.n_series,
            "n_sources": self.n_sources,
            "alpha": self.alpha,
            "seed": self.seed,
            "notes": list(self.notes),
        }

    def _answer(self, answer: Answer) -> dict[str, Any]:
        return {
            "units": answer.units,
            "n_units": answer.n_units,
            "enough": answer.enough,
            "can_tell": answer.can_tell,
            "n_told": answer.n_told,
            "n_told_from_best": int(answer.told[0].sum()),
            "needed": answer.needed,
            "n_resamples": answer.n_resamples,
            "groups": [[self.methods[k] for k in group] for group in answer.groups()],
            "pairs": [self._pair(i, j, answer) for i, j in self._pairs],
        }

    def plot(self, ax: Any = None, *, kind: Literal["groups", "dots"] = "groups") -> Any:
        """Draw the critical-difference diagram ("groups"), or means with intervals ("dots"); returns the Axes."""
        from nofluke.plot import ranking as plot_ranking

        return plot_ranking(self, ax, kind=kind)

    def report(self, path: Any, *, title: str | None = None) -> Any:
        """Write a page: the verdict, the table, both figures, all pairs and how they were made; returns the path."""
        from nofluke.show.ranking import write_ranking

        return write_ranking(self, path, title=title)

    def __repr__(self) -> str:
        return f"<Ranking of {self.title}: {self.verdict_in_words()}>"


def _check_asked(rows: object, classical: object) -> None:
    check_word(rows, "rows", ROWS)
    if classical is not None and not isinstance(classical, Classical):
        raise InputError(
            argument="classical", value=classical, problem="must be what classical() of a ranking returns, or None"
        )


def complete_ranks(values: FloatArray) -> FloatArray:
    """Ranks within series that have all values, 1 for the largest, ties in the middle.

    >>> complete_ranks(np.array([[0.5, 0.9, 0.5], [np.nan, 1.0, 2.0]]))
    array([[2.5, 1. , 2.5]])
    """
    v = values[~np.isnan(values).any(axis=1)]
    columns = [(v > v[:, [i]]).sum(1) + ((v == v[:, [i]]).sum(1) + 1) / 2 for i in range(v.shape[1])]
    return np.stack(columns, axis=1)


# ---- the verb


def rank(
    table: Any,
    *,
    series: str | None = None,
    method: str | None = None,
    value: str | None = None,
    source: Source | None = None,
    methods: str | Sequence[str] | None = None,
    weigh: Kind = "series",
    better: str = "higher",
    speaks_for: Kind | None = None,
    alpha: float = 0.05,
    n_resamples: int = 9_999,
    rng: Any = 0,
) -> Ranking:
    r"""Rank methods by a table of values, and say which differences would hold for other sources, or for more series.

    Series of one source are alike, so tests that take series for independent find differences where new sources would
    show none. Here the values of all methods are exchanged within each unit, a source or a series, and p is how often
    the largest difference of any pair is then at least the one seen:

    .. math::
        t_{ab} = \frac{|\sum_u d_u^{ab}|}{\sqrt{\sum_u (d_u^{ab})^2}} \qquad
        p_{ab} = P\Big(\max_{ij} t_{ij}^* \ge t_{ab}\Big)

    with :math:`d_u^{ab}` the weighted sum of the differences of a and b in unit u.

    Parameters
    ----------
    table : data frame, dict of columns, path, Study, or several tables
        Wide: a row for each series, a column for each method. Long, with ``method`` and ``value``: a row for each of
        both. A path is a CSV, TSV or Parquet file, or the folder of a study. A list of paths, or a dict of tables by
        name, has a table for each method, as boards keep them. Of a study the column ``value`` of its cells is ranked,
        F1 by default, and its groups are sources.
    series : str, optional
        The column that names the series; needed for long and for several tables.
    method, value : str, optional
        Of a long table, the columns with the names of methods and with their values. Of several tables ``value`` is the
        column of each; it may be left out where there is only one of numbers.
    source : str, mapping or callable, optional
        Where a series comes from: a column; or a pattern whose first group is the source in the series' name, as
        ``"_([^_]+)_"`` in 001_NAB_id_1; or a dict or function of these names.
    methods : str or list of str, optional
        Methods by name or pattern (``"Sub-*"``); those after an exclamation mark are left out (``"!ts_len"``).
    weigh : {"series", "sources"}
        What has the same weight in means: each series, as boards have it, or each source.
    better : {"higher", "lower"}
        Which values are better.
    speaks_for : {"sources", "series"}, optional
        New sources, or more series of the same sources in the same proportions. By default sources where they are
        known. Where they are, the other answer is computed, too.
    alpha : float
        Level of the tests, over all pairs.
    n_resamples : int
        Random exchanges, if there are too many to enumerate.
    rng : int, Generator, SeedSequence or None
        Randomness of the exchanges, as ``numpy.random.default_rng`` takes it.

    Returns
    -------
    Ranking

    See Also
    --------
    nofluke.study : makes such tables from scores, with chance.
    nofluke.compare : detectors on one series.
    nofluke.Ranking : the result.
    nofluke.plot.ranking : draws it.

    Notes
    -----
    Exchanges are exact if all methods are exchangeable within units. For methods of equal mean that are not, as with
    skewed effects of sources, they are approximate; docs/explanation/theory.md has what was measured. Where two methods
    differ in 15 units or fewer, p is not below the share of that pair's own flips, so K units have no p below
    2^(1 - K): the answer is *cannot tell* where that is above alpha for all pairs. A missing cell, NaN or empty, leaves
    a series out for pairs with that method, and only methods that are present are exchanged. Methods that agree
    everywhere have p = 1. Not shown to differ does not mean equal.

    References
    ----------
    Westfall and Young (1993), Resampling-based multiple testing. Demšar (2006), Statistical comparisons of classifiers
    over multiple data sets.

    Examples
    --------
    >>> import nofluke as nf
    >>> table = {"series": [f"{place}-{i}" for place in "abcdefgh" for i in range(2)],
    ...          "forest": [.6, .5, .7, .6, .4, .5, .8, .7, .6, .6, .5, .4, .7, .7, .6, .5],
    ...          "mean": [.5, .4, .7, .5, .3, .5, .6, .6, .5, .5, .4, .4, .6, .5, .5, .5]}
    >>> found = nf.rank(table, series="series", source=lambda name: name[0])
    >>> found.best, found.n_sources, float(found.answer.pvalue[0, 1])
    ('forest', 8, 0.0078125)
    >>> print(found.verdict_in_words())
    forest leads; the only other is shown to differ from it on new sources, 1 is on these series.
    """
    alpha, n = check_alpha(alpha), check_resamples(n_resamples)
    check_word(better, "better", BETTER)
    check_word(weigh, "weigh", KINDS)
    if speaks_for is not None:
        check_word(speaks_for, "speaks_for", KINDS)
    read = read_values(table, series=series, method=method, value=value, source=source, methods=methods)
    if read.sources is None and "sources" in (weigh, speaks_for):
        raise InputError(
            argument="weigh" if weigh == "sources" else "speaks_for",
            value="sources",
            problem="needs to know where series come from",
            remedy=say("pass {}", arg("source")),
        )
    seed = some_seed(rng)
    values, each = read.values, np.arange(len(read.values))
    origin, sizes = each, np.ones(len(values), dtype=np.int64)
    if read.sources is not None:
        _, origin, sizes = np.unique(np.array(read.sources), return_inverse=True, return_counts=True)
    weights = 1.0 / sizes[origin] if weigh == "sources" else np.ones(len(values))
    sign = 1.0 if better == "higher" else -1.0
    there = ~np.isnan(values)
    means = np.nansum(weights[:, None] * values, axis=0) / (weights @ there)
    scale = _scale(values)
    own = summed(sign * values / scale, weights, each)
    with np.errstate(divide="ignore", invalid="ignore"):
        differences = scale * np.where(own.weight > 0, own.total / own.weight, np.nan)
    # by differences on common series: who lacks the hard ones does not lead for that
    lead = np.nanmean(differences, axis=1) if not there.all() else sign * means
    order = np.argsort(-lead, kind="stable")
    found: dict[Kind, Answer] = {}
    units: dict[Kind, IntArray] = {"series": each} if read.sources is None else {"sources": origin, "series": each}
    for kind, unit in units.items():
        answer = answered(sign * values[:, order], weights, unit, kind, alpha, n, seed)
        # differences are those of the values as they are
        found[kind] = answer if better == "higher" else replace(answer, low=-answer.high, high=-answer.low)
    asked: Kind = next(iter(found)) if speaks_for is None else speaks_for
    ranks = complete_ranks(sign * values[:, order])
    return Ranking(
        methods=tuple(read.methods[k] for k in order),
        means=means[order],
        mean_ranks=ranks.mean(0) if len(ranks) else np.full(len(order), np.nan),
        n_series_of=there.sum(0)[order],
        differences=sign * differences[np.ix_(order, order)],
        answer=found[asked],
        other=next((answer for kind, answer in found.items() if kind != asked), None),
        n_series=len(values),
        n_sources=None if read.sources is None else len(sizes),
        weigh=weigh,
        better=better,
        metric=read.metric,
        alpha=alpha,
        seed=seed,
        notes=(*read.notes, *_remarks(read, there, found[asked], len(ranks))),
        values=values[:, order],
    )


def _remarks(read: ValueTable, there: BoolArray, answer: Answer, complete: int) -> Iterator[str]:
    """What a reader should know about the data."""
    if not there.all():
        gone = int((~there).sum())
        yield (
            f"{gone:,} of {there.size:,} cells are missing: pairs are compared on the series that both have, and methods "
            f"are ordered by these differences; mean ranks are of the {plural(complete, 'series', 'series')} that all "
            "methods have."
        )
    if read.sources is None:
        yield "No source is known, so series are taken for independent. If some come from one archive or machine, say which."
    constant = [name for name, one in zip(read.methods, read.values.T, strict=True) if np.nanmin(one) == np.nanmax(one)]
    if constant and len(read.series) > 1:
        yield f"The same value on every series: {', '.join(constant)}."
    least = answer.floor[np.triu_indices(len(answer.floor), 1)]
    some = int((~_significant(least, answer.alpha)).sum())
    if answer.can_tell and some:
        yield (
            f"{plural(some, 'pair')} could not have been told apart, whatever the values: they differ in fewer than "
            f"{answer.enough} {answer.units}."
        )
    if not answer.can_tell:
        yield (
            f"No pair could have been told apart: the smallest p-value that {plural(answer.n_units, answer.unit, answer.units)} can "
            f"give is {show_p(float(least.min()))}."
        )
    elif np.isnan(answer.low[0, 1:]).any() and answer.n_differing[0, 1:].all():
        yield f"Differences without an interval: a few {answer.units} hold nearly all of the weight."
