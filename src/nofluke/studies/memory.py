"""The tables of a study without a folder: in memory, with the columns and kinds that a folder's files read back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Any, Self

import numpy as np

from nofluke.arrays import AnyArray, BoolArray
from nofluke.plain import check_word
from nofluke.studies import store
from nofluke.studies.store import CELLS, FAILED, Columns, Part, Schema, Values, rows_named

TABLES: Mapping[str, Schema] = {**store.TABLES, "failed": FAILED}
_SENTENCES = {("failed", "reason"), ("truths", "notes")}  # which keep their kinds and parts
_KINDS = {"DOUBLE": np.float64, "BIGINT": np.int64, "BOOLEAN": np.bool_}


class Memory:
    """What a study keeps where it has no folder; it has the methods of `nofluke.studies.store.Folder`.

    Examples
    --------
    >>> memory = Memory()
    >>> seconds = {"series": ["s", "t"], "detector": ["a", "a"], "seconds": [0.5, 0.25]}
    >>> memory.write_part(0, Part(cells={}, failed={}, timings=seconds, laws={}, truths={}))
    >>> memory.read("timings", columns=["seconds"], where={"series": "t"})
    {'seconds': array([0.25])}
    """

    path = None
    notes: tuple[str, ...] = ()
    missing_parts: tuple[int, ...] = ()  # what is asked for is there

    def __init__(self) -> None:
        self.cells: Schema = CELLS
        self._parts: dict[int, Kept] = {}
        self._words: dict[str, str] = {}

    def begin(self, *, cells: Schema = CELLS, **_told: object) -> None:
        """Begin a study of these columns; nothing of an earlier one can be here."""
        self.cells = cells

    def have(self) -> set[int]:
        """Numbers of the parts that need not be computed."""
        return set(self._parts)

    def rows(self, name: str) -> int:
        """How many rows of a table there are by now."""
        return sum(part.rows[name] for part in self._parts.values())

    def packing(self) -> Callable[[Part], Kept]:
        """What a worker does with a part before it hands it over."""
        return partial(Kept.of, cells=self.cells)

    def write_part(self, i: int, part: Part | Kept, *, again: bool = False) -> None:  # noqa: ARG002
        """Keep part ``i``, words that are the same once; nothing is tried again here."""
        kept = part if isinstance(part, Kept) else Kept.of(part, self.cells)
        for table in kept.tables.values():
            for column in table.values():
                if isinstance(column, np.ndarray) and column.dtype == object:
                    column[:] = [self._words.setdefault(one, one) if type(one) is str else one for one in column]
        self._parts[i] = kept

    def finish(self) -> None:
        """Nothing is left to do."""

    def read(self, table: str, columns: Sequence[str] | None = None, where: Mapping[str, str] | None = None) -> Columns:
        """A table of all parts, in order, as `Folder.read` gives it."""
        check_word(table, "table", TABLES)
        schema = self.cells if table == "cells" else TABLES[table]
        found: dict[str, list[AnyArray]] = {name: [] for name in (schema if columns is None else columns)}
        for i in sorted(self._parts):
            part = self._parts[i].tables[table]
            rows = _rows_with(part, where or {})
            for name, pieces in found.items():
                whole = _plain(part[name])
                pieces.append(whole if rows is None else whole[rows])
        return {
            name: np.concatenate(pieces) if pieces else _plain(_column((), schema[name]))
            for name, pieces in found.items()
        }

    def stream(
        self, table: str, columns: Sequence[str] | None = None, where: Mapping[str, str] | None = None
    ) -> list[Columns]:
        """The same in one piece."""
        return [self.read(table, columns, where)]

    def close(self) -> None:
        """Nothing is locked."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Lists:
    """A column of lists of numbers, one after the other: an array for each cell would take many times the memory."""

    values: AnyArray
    ends: AnyArray

    def cells(self) -> AnyArray:
        """The lists, each an array."""
        column = np.empty(len(self.ends), dtype=object)
        starts = np.concatenate(([0], self.ends[:-1])) if len(self.ends) else self.ends
        column[:] = [self.values[start:end] for start, end in zip(starts.tolist(), self.ends.tolist(), strict=True)]
        return column


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The tables of a part, compact, and how many rows each has."""

    tables: Mapping[str, Mapping[str, Any]] = field(repr=False)
    rows: Mapping[str, int]

    @classmethod
    def of(cls, part: Part, cells: Schema = CELLS) -> Kept:
        """A part as its study keeps it; a table without rows may lack columns."""
        tables, rows = {}, {}
        for name, schema in {**TABLES, "cells": cells}.items():
            values: Values = getattr(part, name)
            tables[name] = {
                column: _column(values.get(column, ()), "" if (name, column) in _SENTENCES else kind)
                for column, kind in schema.items()
            }
            rows[name] = len(next(iter(values.values()), ()))
        return cls(tables=tables, rows=rows)


def _column(values: Sequence[Any], kind: str) -> Any:
    """Values as a folder's files give them back, "" for missing text, NaN for numbers; without a kind as they are."""
    if not kind:
        return _objects(list(values))
    if kind in ("DOUBLE[]", "BIGINT[]"):
        cells: list[AnyArray] = [np.asarray(cell, _KINDS[kind[:-2]]) for cell in values]
        ends = np.cumsum([len(cell) for cell in cells], dtype=np.int64)
        return Lists(values=np.concatenate([*cells, np.empty(0, _KINDS[kind[:-2]])]), ends=ends)
    if kind == "VARCHAR[]":
        return _objects([_objects([str(one) for one in cell]) for cell in values])
    if kind == "VARCHAR":
        return _objects(["" if one is None else str(one) for one in values])
    array = np.asarray(values)
    if kind == "BOOLEAN" and array.dtype == object:
        return array  # some are None
    return array.astype(_KINDS[kind])


def _plain(column: Any) -> AnyArray:
    whole: AnyArray = column.cells() if isinstance(column, Lists) else column
    return whole


def _objects(values: list[Any]) -> AnyArray:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _rows_with(part: Mapping[str, Any], where: Mapping[str, str]) -> BoolArray | None:
    """The rows in which columns are certain words; None for all."""
    if not where:
        return None
    rows = np.ones(len(next(iter(part.values()))), dtype=np.bool_)
    for name, word in where.items():
        rows &= rows_named(part[name], word)
    return rows
