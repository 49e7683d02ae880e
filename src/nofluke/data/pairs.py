"""Pairs of a start and an end, however the user passes them: lists, two columns, data frames, pandas intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nofluke.data.columns import Column, as_column
from nofluke.data.frames import frame_columns, is_a
from nofluke.errors import InputError, shown
from nofluke.plain import check_length

START_NAMES = ("start", "begin", "from")
END_NAMES = ("end", "stop", "to")
OPEN = {
    "start": "write the start of the data if the range began before it, or remove the range",
    "end": "write the end of the data if the range is still open, or remove the range",
}
"""What to do about a range that lacks one of them."""
Closed = Literal["both", "left", "right", "neither"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairs:
    """Starts and ends of ranges, as they were given: numbers or datetime64, and which of the ends belong to the range.

    ``aware`` says that the ends are dates that had a time zone (now in UTC); ``ilocs`` that they are positions,
    whatever the clock shows; ``name`` which argument they come from.
    """

    starts: npt.NDArray[Any] = field(repr=False)
    ends: npt.NDArray[Any] = field(repr=False)
    closed: Closed = "both"
    aware: bool = False
    ilocs: bool = False
    name: str = "truth"

    def __len__(self) -> int:
        return len(self.starts)


def as_pairs(value: Any, name: str) -> Pairs | None:
    """The starts and ends that an argument holds; None where it is one column, which `as_column` reads."""
    if isinstance(value, Pairs):
        return value
    check_length(value, name)
    value = _plain(value, name)
    closed = getattr(value, "closed", None)
    if closed is not None and hasattr(value, "left") and hasattr(value, "right"):
        return pairs_of_columns(as_column(value.left, name), as_column(value.right, name), name, closed)
    if isinstance(value, np.ndarray):
        two = value.ndim == 2 and value.shape[1] == 2
        return _of_flat(as_column(value.ravel(), name)) if two else None
    if isinstance(value, list | tuple):
        if not value or not all(map(_is_pair, value)):
            return None
        # one list of all ends, so that they are read alike
        return _of_flat(as_column([end for item in value for end in item], name))
    columns = None if isinstance(value, range) else frame_columns(value)
    if columns is None or len(columns) == 1:
        return None
    names, remedy = [column for column, _ in columns], "call two of them start and end, or pass one column"
    start, end = start_column(names, name, remedy), end_column(names, name, remedy)
    return pairs_of_columns(as_column(columns[start][1], name), as_column(columns[end][1], name), name)


def no_pairs() -> Pairs:
    """No ranges at all."""
    return Pairs(starts=np.zeros(0, dtype=np.int64), ends=np.zeros(0, dtype=np.int64))


def start_column(names: Sequence[str], where: str, remedy: str) -> int:
    """The position of the column that is called as starts are; an error where none is, or two are.

    >>> start_column(["Stop", "cause", "Begin"], "truth", "rename one")
    2
    """
    return _named(names, START_NAMES, where, remedy)


def end_column(names: Sequence[str], where: str, remedy: str) -> int:
    """The position of the column that is called as ends are."""
    return _named(names, END_NAMES, where, remedy)


def has_ends(names: Sequence[str]) -> bool:
    """Whether columns are called as starts and as ends are."""
    lowered = {name.strip().lower() for name in names}
    return not lowered.isdisjoint(START_NAMES) and not lowered.isdisjoint(END_NAMES)


def _named(names: Sequence[str], words: tuple[str, ...], where: str, remedy: str) -> int:
    lowered = [name.strip().lower() for name in names]
    found = [at for word in words for at, name in enumerate(lowered) if name == word]
    if not found or (len(found) > 1 and lowered[found[0]] == lowered[found[1]]):
        listed = ", ".join(shown(name) for name in names[:20])
        called = " or ".join(words)
        count = "none" if not found else "more than one"
        raise InputError(
            problem=f"{where} has the columns {listed}, of which {count} is called {called}", remedy=remedy
        )
    return found[0]


def _plain(value: Any, name: str) -> Any:
    """Series of intervals or of pairs as what they hold; masked arrays without their mask; all else as it is."""
    if is_a("pandas", "Series", value):
        if hasattr(value.array, "closed"):
            return value.array
        items = value.tolist() if value.dtype == object and len(value) else [None]
        if not isinstance(items[0], list | tuple) and not is_a("pandas", "Interval", items[0]):
            return value
        value = items
    value = [value] if is_a("pandas", "Interval", value) else value
    if isinstance(value, list | tuple) and value and all(is_a("pandas", "Interval", item) for item in value):
        import pandas as pd

        try:
            return pd.arrays.IntervalArray(list(value))
        except (TypeError, ValueError):
            raise InputError(
                argument=name, problem="holds intervals of different kinds", remedy="use one kind of ends throughout"
            ) from None
    if isinstance(value, np.ndarray) and value.dtype == object and value.ndim == 1:
        return value.tolist()
    return value


def _is_pair(item: Any) -> bool:
    return item.shape == (2,) if isinstance(item, np.ndarray) else isinstance(item, list | tuple) and len(item) == 2


def _of_flat(column: Column) -> Pairs:
    return Pairs(starts=column.values[::2], ends=column.values[1::2], aware=column.aware)


def pairs_of_columns(starts: Column, ends: Column, name: str, closed: Closed = "both") -> Pairs:
    """A column of starts and one of ends, both dates or both numbers."""
    if (starts.values.dtype.kind == "M") is not (ends.values.dtype.kind == "M") and len(starts):
        raise InputError(
            argument=name,
            problem="has starts and ends of different kinds, dates and numbers",
            remedy="give both as the same kind",
        )
    if starts.aware is not ends.aware and len(starts):
        raise InputError(argument=name, problem="mixes dates with and without a time zone", remedy="use one kind")
    return Pairs(starts=starts.values, ends=ends.values, closed=closed, aware=starts.aware)
