"""What people hold in memory, read into columns: arrays, data frames, dates, and pairs of a start and an end."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nofluke.dates import UNITS, in_unit
from nofluke.errors import InputError, shown
from nofluke.plain import MOST_STEPS, check_length, exact_floats, refuse_lost, whole_or_none


def is_a(package: str, kind: str, value: Any) -> bool:
    """Whether a value is of a class of a package, or of one derived from it; the package is not imported for this."""
    return isinstance(value, getattr(sys.modules.get(package), kind, ()))


def ilocs_of(value: Any) -> Any:
    """The column ``ilocs`` of a frame of events, as sktime's detectors return it; None for anything else.

    It holds positions, or left-closed intervals of them, even if it happens to have one row for each step.
    """
    if is_a("pandas", "DataFrame", value) and list(value.columns).count("ilocs") == 1:
        return value["ilocs"]
    return value if is_a("pandas", "Series", value) and value.name == "ilocs" else None


def frame_columns(value: Any) -> list[tuple[str, Any]] | None:
    """Name and series of each column of a data frame; None for anything else, and for a frame that is not read yet."""
    if is_a("pandas", "DataFrame", value):  # by position: narwhals refuses names that occur twice
        return [(str(name), value.iloc[:, at]) for at, name in enumerate(value.columns)]
    if isinstance(value, str | bytes | int | float | dict | set):  # what is plainly none needs no library
        return None
    import narwhals as nw

    try:
        frame = nw.from_native(value, eager_only=True)
    except Exception:  # a TypeError, or whatever the value itself raises when it is looked at
        return None
    return [(name, frame.get_column(name).to_native()) for name in frame.columns]


# ---- whatever a user brings as one column of data, as a plain NumPy array with its index

_ISO = re.compile(
    r"\s*(\d{4}-\d\d(?:-\d\d(?:[T ]\d\d(?::?\d\d(?::?\d\d(?:\.(\d+))?)?)?)?)?)\s*(Z|[+-]\d\d:?(?:\d\d)?)?\s*"
)


East = npt.NDArray[np.int64] | None
"""Seconds by which local time is ahead of UTC, for each of some dates; None for dates without a time zone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One-dimensional values (bool, number or datetime64), the index they came with, and their time zone's fate.

    ``index`` is a pandas Index or None; ``aware`` says that the values are dates that had a time zone (now in UTC), and
    ``east`` by how many seconds local time was ahead of UTC at each of them, where that is known; ``ilocs`` says that
    they are positions of events, whatever they look like.
    """

    values: npt.NDArray[Any] = field(repr=False)
    index: Any = field(repr=False, default=None)
    aware: bool = False
    east: East = field(repr=False, default=None)
    ilocs: bool = False

    def __len__(self) -> int:
        return len(self.values)


class UtcTimes(np.ndarray[Any, np.dtype[np.datetime64]]):
    """Dates in UTC that had a time zone. As plain datetime64 they could be compared with dates that have none.

    ``east`` says by how many seconds local time was ahead at each of them; None where nobody knows. What is taken out
    of them by an index keeps it, and so does what is sent to another process.

    >>> dates = UtcTimes.of(np.arange(2).astype("datetime64[h]"), np.array([0, 3600]))
    >>> dates[1:].east
    array([3600])
    """

    east: East

    @classmethod
    def of(cls, dates: npt.NDArray[Any], east: East = None) -> UtcTimes:
        """Dates in UTC with what is known of their local time."""
        found = np.asarray(dates).view(cls)
        found.east = east
        return found

    @classmethod
    def joined(cls, parts: list[UtcTimes]) -> UtcTimes:
        """One after the other; local time is known where it is known of all of them."""
        east = [part.east for part in parts if part.east is not None]
        return cls.of(np.concatenate(parts), np.concatenate(east) if len(east) == len(parts) else None)

    def __array_finalize__(self, made_of: Any) -> None:
        self.east = None

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if isinstance(found, UtcTimes) and self.east is not None:
            found.east = self.east[key]
        return found

    def __reduce__(self) -> Any:
        return UtcTimes.of, (np.asarray(self), self.east)


def is_plain(value: Any) -> bool:
    """Whether it is a column already: an array of numbers or booleans that NumPy's kernels take as they are."""
    return type(value) is np.ndarray and value.ndim == 1 and value.dtype.str in PLAIN and 0 < len(value) <= MOST_STEPS


PLAIN = {np.dtype(kind).str for kind in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")}


def as_column(value: Any, name: str) -> Column:
    """Read one argument; anything that is not one column of numbers, booleans or dates is an error."""
    if is_plain(value):
        return Column(values=value)
    if value is None:
        raise InputError(argument=name, problem="is None", remedy="pass an array, a Series or a list")
    check_length(value, name)
    if isinstance(value, bytearray):  # text, not the codes of its letters
        value = bytes(value)
    if is_a("xarray", "DataArray", value):
        if value.ndim != 1:
            raise InputError(
                argument=name,
                problem=f"has {value.ndim} dimensions {tuple(value.dims)}",
                remedy="select one sequence first",
            )
        values, east = _array_values(np.asarray(value.values), name)
        return Column(values=values, index=value.indexes.get(value.dims[0]), aware=east is not None, east=east)
    if not isinstance(value, np.ndarray | list | tuple | range):
        columns = frame_columns(value)
        if columns is not None and len(columns) == 1:
            value = columns[0][1]
    elif isinstance(value, np.ndarray) and value.ndim == 2 and value.shape[1] == 1:
        value = value[:, 0]
    index = value.index if is_a("pandas", "Series", value) else None
    if is_a("pyarrow", "Array", value):
        value = sys.modules["pyarrow"].chunked_array([value])
    elif is_a("pandas", "Index", value):
        value = value.to_series()
    if isinstance(value, np.ma.MaskedArray):
        value = _unmasked(value, name)
    value = without_masked(value)
    series = None if isinstance(value, np.ndarray | list | tuple | range) else _as_series(value)
    values, east = _array_values(value, name) if series is None else _series_values(series, name)
    if isinstance(value, UtcTimes):
        return Column(values=values, index=index, aware=True, east=value.east)
    return Column(values=values, index=index, aware=east is not None, east=east)


def _unmasked(value: Any, name: str) -> npt.NDArray[Any]:
    """A masked array's values, the masked ones missing."""
    if not np.ma.is_masked(value):
        return np.asarray(value.data)
    if value.dtype.kind in "biuf":
        return _with_gaps(value.filled(0), np.ma.getmaskarray(value), name)
    if value.dtype.kind == "M":
        return np.asarray(value.filled(np.array("NaT", dtype=value.dtype)))
    items = np.array(value.data, dtype=object)
    items[np.ma.getmaskarray(value)] = None
    return items


def without_masked(value: Any) -> Any:
    """A list with None for the masked items of NumPy's, which NumPy itself takes for NaN with a warning."""
    if isinstance(value, list | tuple) and any(item is np.ma.masked for item in value):
        return [None if item is np.ma.masked else item for item in value]
    return value


def _with_gaps(values: npt.NDArray[Any], missing: npt.NDArray[np.bool_], name: str) -> npt.NDArray[Any]:
    """Numbers as floats, with NaN for missing ones; short floats stay short, since thresholds depend on their type."""
    short = values.dtype.kind == "f" and values.dtype.itemsize < 8
    floats = values.copy() if short else exact_floats(values, name, ~missing)
    floats[missing] = np.nan
    return floats


def _as_series(value: Any) -> Any:
    import narwhals as nw

    try:
        return nw.from_native(value, series_only=True)
    except Exception:  # a TypeError, or whatever the value itself raises when it is looked at
        return None


def _series_values(series: Any, name: str) -> tuple[npt.NDArray[Any], East]:
    import narwhals as nw

    dtype = series.dtype
    if isinstance(dtype, nw.Datetime):
        if dtype.time_zone is None:
            return _moments(series, dtype.time_unit), None
        local = _moments(series.dt.replace_time_zone(None), dtype.time_unit)
        dates = _moments(series.dt.convert_time_zone("UTC").dt.replace_time_zone(None), dtype.time_unit)
        return dates, np.where(np.isnat(dates), 0, (local - dates).astype("timedelta64[s]").astype(np.int64))
    if dtype == nw.Date:
        return np.asarray(series.cast(nw.Datetime("ms")).to_numpy()).astype("datetime64[ms]"), None
    if dtype == nw.Boolean or dtype.is_numeric():
        if dtype.is_decimal():
            return np.asarray(series.cast(nw.Float64).to_numpy()), None
        missing = series.is_null()
        if not missing.any():
            return np.asarray(series.to_numpy()), None
        filled = series.fill_null(False if dtype == nw.Boolean else 0)
        return _with_gaps(np.asarray(filled.to_numpy()), np.asarray(missing.to_numpy()), name), None
    values = np.empty(len(series), dtype=object)  # filled, not converted: items may be sequences themselves
    values[:] = series.to_list()
    return _array_values(values, name)


def _moments(series: Any, unit: str) -> npt.NDArray[Any]:
    return np.asarray(series.to_numpy()).astype(f"datetime64[{unit}]")


def _array_values(value: Any, name: str) -> tuple[npt.NDArray[Any], East]:
    try:
        values = np.asarray(value)
    except ValueError:
        raise InputError(
            argument=name,
            problem="must be one column of plain items, got nested sequences of unequal length",
            remedy="pass one column",
        ) from None
    except Exception:  # what refuses to be an array, such as a Dataset
        raise InputError(
            argument=name,
            problem=f"must be one column of values, got a {type(value).__name__}",
            remedy="pass one of its columns",
        ) from None
    if values.ndim == 0:
        got = shown(value) if isinstance(value, str | int | float) else f"a {type(value).__name__}"
        raise InputError(
            argument=name,
            problem=f"must be one column of values, got {got}",
            remedy="pass an array, a Series or a list",
        )
    if values.ndim != 1:
        which = ", such as [:, 1] of predict_proba" if values.ndim == 2 and values.shape[1] == 2 else ""
        raise InputError(
            argument=name,
            problem=f"must have one dimension, got shape {values.shape}",
            remedy=f"pass one column{which}",
        )
    if len(values) == 0:
        return values.astype(np.float64) if values.dtype.kind not in "M" else values, None
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        return exact_floats(values, name), None
    # NumPy makes floats of whole numbers next to floats, even where different ones become equal
    merged = (
        values.dtype.kind == "f"
        and not isinstance(value, np.ndarray)
        and bool((np.abs(values) >= np.float64(2**53)).any())
    )
    if (values.dtype.kind in "biuf" and not merged) or (values.dtype.kind == "M" and isinstance(value, np.ndarray)):
        return values, None
    if values.dtype.kind in "OUSMf":
        # NumPy also writes numbers next to text as text, and lets dates of different units wrap around: what the user
        # passed is looked at instead
        return _object_values(values if isinstance(value, np.ndarray) else np.array(value, dtype=object), name)
    raise InputError(
        argument=name, problem=f"must hold numbers, booleans or dates, got {values.dtype}", remedy="convert it first"
    )


def _object_values(values: npt.NDArray[Any], name: str) -> tuple[npt.NDArray[Any], East]:
    """Python objects: dates with or without a zone, numbers with None for a missing one, ISO 8601 text."""
    items = [None if _is_missing(v) else v.decode("utf-8", "replace") if isinstance(v, bytes) else v for v in values]
    kinds = {type(v) for v in items if v is not None}
    if kinds and all(issubclass(k, date | np.datetime64) for k in kinds):
        return _dates(items, name)
    if kinds and all(issubclass(k, str) for k in kinds):
        return _parsed_dates(items, name)
    for at, item in enumerate(items):
        try:
            number = item is None or (float(item) is not None and not isinstance(item, str))
        except Exception:  # no number, or one of a class that raises what it likes
            number = False
        if not number:
            raise InputError(
                argument=name,
                problem=f"must hold numbers, booleans or dates, got {type(item).__name__} {shown(item)} at position {at}",
                remedy="convert it first",
            )
    wholes = [whole_or_none(item) for item in items]
    if None not in wholes:
        numbers = np.array(wholes)
        if numbers.dtype.kind in "iu":
            return numbers, None
    floats = np.array([np.nan if item is None else float(item) for item in items])
    refuse_lost([at for at, whole in enumerate(wholes) if whole is not None and int(floats[at]) != whole], items, name)
    return floats, None


def absent(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which values of an array, of whatever kind, are missing ones."""
    if values.dtype.kind == "O":
        return np.array([_is_missing(item) for item in values.ravel()], dtype=np.bool_).reshape(values.shape)
    if values.dtype.kind in "fcmM":
        return np.asarray(values != values)  # NaN and NaT
    return np.zeros(values.shape, dtype=np.bool_)


def _is_missing(item: Any) -> bool:
    """None, and what NumPy and pandas write for it among objects."""
    if item is None or item is np.ma.masked or type(item).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(item, float | np.datetime64) and bool(item != item)


def _dates(items: list[Any], name: str) -> tuple[npt.NDArray[Any], East]:
    zones = {isinstance(v, datetime) and v.tzinfo is not None for v in items if v is not None}
    if len(zones) > 1:
        raise InputError(argument=name, problem="mixes dates with and without a time zone", remedy="use one kind")
    stamps = [None if v is None else _stamp(v) for v in items]
    # all in the finest unit that any of them has, so that none loses its last digits
    unit = max((np.datetime_data(stamp.dtype)[0] for stamp in stamps if stamp is not None), key=UNITS.index)
    dates = np.full(len(items), "NaT", dtype=f"datetime64[{unit}]")
    for dtype in {stamp.dtype for stamp in stamps if stamp is not None}:
        alike = [at for at, stamp in enumerate(stamps) if stamp is not None and stamp.dtype == dtype]
        dates[alike] = in_unit(np.array([stamps[at] for at in alike]), unit, name)
    return dates, np.array([_ahead(v) for v in items], dtype=np.int64) if zones == {True} else None


def _ahead(value: Any) -> int:
    """Seconds by which the local time of a date is ahead of UTC."""
    ahead = None if value is None else value.utcoffset()
    return 0 if ahead is None else int(ahead.total_seconds())


def _stamp(value: Any) -> np.datetime64:
    """One date in UTC: pandas' own in its own unit, down to nanoseconds."""
    if isinstance(value, np.datetime64):
        return value
    if hasattr(value, "to_datetime64"):
        return np.datetime64(value.to_datetime64())
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(value)


def _parsed_dates(items: list[str | None], name: str) -> tuple[npt.NDArray[Any], East]:
    """ISO 8601 text as dates; any other text is an error that shows the first of it."""
    found = [None if text is None else _ISO.fullmatch(text) for text in items]
    zones = {match[3] is not None for match in found if match}
    try:
        bare = np.array([None if match is None else _to_microseconds(match) for match in found], dtype="datetime64[us]")
        wrong = next((at for at, match in enumerate(found) if match is None and items[at] is not None), None)
    except ValueError:  # the form of a date, but none: the 31st of June
        wrong = next(at for at, match in enumerate(found) if match and not _is_date(match[1]))
        bare = np.array([], dtype="datetime64[us]")
    if wrong is not None:
        raise InputError(
            argument=name,
            problem=f"must hold numbers, booleans or dates, got text {shown(items[wrong])} at position {wrong}",
            remedy="convert it first (dates as text must look like 2020-01-31 or 2020-01-31T12:00)",
        )
    if len(zones) > 1:
        raise InputError(argument=name, problem="mixes dates with and without a time zone", remedy="use one kind")
    offsets = np.array([_offset(match[3]) if match else 0 for match in found], dtype="timedelta64[m]")
    dates = bare - offsets
    rest = np.array([int(f"{(match[2] or '')[6:9]:0<3}") if match else 0 for match in found], dtype="timedelta64[ns]")
    # nanoseconds only where there are any: they do not reach beyond 1677 and 2262
    dates = in_unit(dates, "ns", name) + rest if rest.any() else dates
    return dates, 60 * offsets.astype(np.int64) if zones == {True} else None


def _to_microseconds(match: re.Match[str]) -> str:
    """The date without what comes after six decimals."""
    return match[1][: len(match[1]) - max(len(match[2] or "") - 6, 0)]


def _is_date(text: str) -> bool:
    try:
        np.datetime64(text)
    except ValueError:
        return False
    return True


def _offset(zone: str | None) -> int:
    """Minutes east of Greenwich of Z, +01, +0100 or +01:00."""
    if zone is None or zone == "Z":
        return 0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    return (int(digits[:2]) * 60 + int(digits[2:])) * (-1 if zone[0] == "-" else 1)


# ---- pairs of a start and an end, however the user passes them: lists, two columns, data frames

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
    if is_plain(value):
        return None
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
