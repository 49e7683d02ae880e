"""Whatever a user brings as one column of data, as a plain NumPy array with its index.

Lists and NumPy arrays, pandas and polars Series, pyarrow arrays, xarray DataArrays: narwhals reads most of them. No
such library is imported here unless the user brought it.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from nofluke.errors import InputError

_ISO = re.compile(
    r"\s*(\d{4}-\d\d(?:-\d\d(?:[T ]\d\d(?::?\d\d(?::?\d\d(?:\.(\d+))?)?)?)?)?)\s*(Z|[+-]\d\d:?(?:\d\d)?)?\s*"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One-dimensional values (bool, number or datetime64), the index they came with, and their time zone's fate.

    ``index`` is a pandas Index or None; ``aware`` says that the values are dates that had a time zone (now in UTC).
    """

    values: npt.NDArray[Any] = field(repr=False)
    index: Any = field(repr=False, default=None)
    aware: bool = False

    def __len__(self) -> int:
        return len(self.values)


class UtcTimes(np.ndarray[Any, np.dtype[np.datetime64]]):
    """Dates in UTC that had a time zone; plain datetime64 forgets it, and would be compared with dates that have none."""


def as_column(value: Any, name: str) -> Column:
    """Read one argument; anything that is not one column of numbers, booleans or dates is an error."""
    if value is None:
        raise InputError(f"{name} is None: pass an array, a Series or a list.")
    if _is_a("xarray", "DataArray", value):
        if value.ndim != 1:
            raise InputError(f"{name} has {value.ndim} dimensions {tuple(value.dims)}: select one sequence first.")
        values, aware = _array_values(np.asarray(value.values), name)
        return Column(values=values, index=value.indexes.get(value.dims[0]), aware=aware)
    index = value.index if _is_a("pandas", "Series", value) else None
    if _is_a("pyarrow", "Array", value):
        value = sys.modules["pyarrow"].chunked_array([value])
    elif _is_a("pandas", "Index", value):
        value = value.to_series()
    if isinstance(value, np.ma.MaskedArray):
        value = _unmasked(value)
    series = None if isinstance(value, np.ndarray | list | tuple | range) else _as_series(value)
    values, aware = _array_values(value, name) if series is None else _series_values(series, name)
    return Column(values=values, index=index, aware=aware or isinstance(value, UtcTimes))


def _is_a(package: str, kind: str, value: Any) -> bool:
    """Whether a value is of a class of a package, or of one derived from it; the package is not imported for this."""
    return isinstance(value, getattr(sys.modules.get(package), kind, ()))


def _unmasked(value: Any) -> npt.NDArray[Any]:
    """A masked array's values, the masked ones missing."""
    if not np.ma.is_masked(value):
        return np.asarray(value.data)
    if value.dtype.kind in "biuf":
        return np.asarray(value.astype(np.float64).filled(np.nan))
    if value.dtype.kind == "M":
        return np.asarray(value.filled(np.datetime64("NaT")))
    items = np.array(value.data, dtype=object)
    items[np.ma.getmaskarray(value)] = None
    return items


def _as_series(value: Any) -> Any:
    import narwhals as nw

    try:
        return nw.from_native(value, series_only=True)
    except TypeError:
        return None


def _series_values(series: Any, name: str) -> tuple[npt.NDArray[Any], bool]:
    import narwhals as nw

    dtype = series.dtype
    if isinstance(dtype, nw.Datetime):
        aware = dtype.time_zone is not None
        if aware:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return np.asarray(series.to_numpy()).astype(f"datetime64[{dtype.time_unit}]"), aware
    if dtype == nw.Date:
        return np.asarray(series.cast(nw.Datetime("ms")).to_numpy()).astype("datetime64[ms]"), False
    if dtype == nw.Boolean or dtype.is_numeric():
        if series.is_null().any() or dtype.is_decimal():
            series = series.cast(nw.Float64)
        return np.asarray(series.to_numpy()), False
    values = np.empty(len(series), dtype=object)  # filled, not converted: items may be sequences themselves
    values[:] = series.to_list()
    return _array_values(values, name)


def _array_values(value: Any, name: str) -> tuple[npt.NDArray[Any], bool]:
    try:
        values = np.asarray(value)
    except ValueError:
        raise InputError(
            f"{name} must be one column of plain items, got nested sequences of unequal length: pass one column."
        ) from None
    except TypeError:  # what refuses to be an array, such as a Dataset
        raise InputError(
            f"{name} must be one column of values, got a {type(value).__name__}: pass one of it."
        ) from None
    if values.ndim == 0:
        shown = repr(value) if isinstance(value, str | int | float) else f"a {type(value).__name__}"
        raise InputError(f"{name} must be one column of values, got {shown}: pass an array, a Series or a list.")
    if values.ndim != 1:
        raise InputError(f"{name} must have one dimension, got shape {values.shape}: pass one column.")
    if len(values) == 0:
        return values.astype(np.float64) if values.dtype.kind not in "M" else values, False
    if values.dtype.kind in "biufM":
        return values, False
    if values.dtype.kind in "OUS":
        # NumPy writes numbers next to text as text; what the user passed is looked at instead
        return _object_values(values if isinstance(value, np.ndarray) else np.array(value, dtype=object), name)
    raise InputError(f"{name} must hold numbers, booleans or dates, got {values.dtype}: convert it first.")


def _object_values(values: npt.NDArray[Any], name: str) -> tuple[npt.NDArray[Any], bool]:
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
        except (TypeError, ValueError, OverflowError):
            number = False
        if not number:
            raise InputError(
                f"{name} must hold numbers, booleans or dates, got {type(item).__name__} {item!r} at position {at}: "
                "convert it first."
            )
    return np.array([np.nan if item is None else float(item) for item in items]), False


def _is_missing(item: Any) -> bool:
    """None, and what pandas writes for it among objects."""
    return item is None or type(item).__name__ in ("NAType", "NaTType")


def _dates(items: list[Any], name: str) -> tuple[npt.NDArray[Any], bool]:
    zones = {isinstance(v, datetime) and v.tzinfo is not None for v in items if v is not None}
    if len(zones) > 1:
        raise InputError(f"{name} mixes dates with and without a time zone: use one kind.")
    aware = zones == {True}
    if all(v is None or hasattr(v, "to_datetime64") for v in items):  # pandas' own, down to nanoseconds and in UTC
        nat = np.datetime64("NaT")
        return np.array([nat if v is None else v.to_datetime64() for v in items]), aware
    if aware:
        items = [None if v is None else v.astimezone(UTC).replace(tzinfo=None) for v in items]
    return np.array(items, dtype="datetime64[us]"), aware


def _parsed_dates(items: list[str | None], name: str) -> tuple[npt.NDArray[Any], bool]:
    """ISO 8601 text as dates; any other text is an error that shows the first of it."""
    found = [None if text is None else _ISO.fullmatch(text) for text in items]
    zones = {match[3] is not None for match in found if match}
    unit = "ns" if any(match and len(match[2] or "") > 6 for match in found) else "us"
    try:
        bare = np.array([None if match is None else match[1] for match in found], dtype=f"datetime64[{unit}]")
        wrong = next((at for at, match in enumerate(found) if match is None and items[at] is not None), None)
    except ValueError:  # the form of a date, but none: the 31st of June
        wrong = next(at for at, match in enumerate(found) if match and not _is_date(match[1]))
        bare = np.array([], dtype="datetime64[us]")
    if wrong is not None:
        raise InputError(
            f"{name} must hold numbers, booleans or dates, got text {items[wrong]!r} at position {wrong}: convert it first "
            "(dates as text must look like 2020-01-31 or 2020-01-31T12:00)."
        )
    if len(zones) > 1:
        raise InputError(f"{name} mixes dates with and without a time zone: use one kind.")
    offsets = np.array([_offset(match[3]) if match else 0 for match in found], dtype="timedelta64[m]")
    return bare - offsets, zones == {True}


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
