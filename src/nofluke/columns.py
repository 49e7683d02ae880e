"""Whatever a user brings as one column of data, as a plain NumPy array with its index.

Lists and NumPy arrays, pandas and polars Series, pyarrow arrays, xarray DataArrays: narwhals reads most of them. No
such library is imported here unless the user brought it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from nofluke.errors import InputError


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


def as_column(value: Any, name: str) -> Column:
    """Read one argument; anything that is not one column of numbers, booleans or dates is an error."""
    if value is None:
        raise InputError(f"{name} is None: pass an array, a Series or a list.")
    index = None
    module = type(value).__module__.partition(".")[0]
    if module == "xarray":
        index = _xarray_index(value, name)
        value = np.asarray(value.values)
    elif module == "pyarrow":
        value = _chunked(value)
    elif module == "pandas" and hasattr(value, "to_series"):  # a pandas Index is a column without an index
        value = value.to_series(index=range(len(value)))
    if isinstance(value, np.ma.MaskedArray):
        value = value.astype(np.float64).filled(np.nan) if value.dtype.kind in "biuf" else value.data
    if not isinstance(value, np.ndarray | list | tuple | range):
        series = _as_series(value)
        if series is not None:
            values, aware = _series_values(series, name)
            return Column(
                values=values,
                index=getattr(value, "index", None) if module == "pandas" else None,
                aware=aware,
            )
    values, aware = _array_values(value, name)
    return Column(values=values, index=index, aware=aware)


def _xarray_index(value: Any, name: str) -> Any:
    if value.ndim != 1:
        raise InputError(f"{name} has {value.ndim} dimensions {tuple(value.dims)}: select one sequence first.")
    return value.indexes.get(value.dims[0])


def _chunked(value: Any) -> Any:
    pyarrow = sys.modules["pyarrow"]  # the user brought it
    return pyarrow.chunked_array([value]) if isinstance(value, pyarrow.Array) else value


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
    return _array_values(np.asarray(series.to_list(), dtype=object), name)


def _array_values(value: Any, name: str) -> tuple[npt.NDArray[Any], bool]:
    try:
        values = np.asarray(value)
    except ValueError:
        raise InputError(f"{name} must be one column of equal items, got nested sequences of unequal length.") from None
    if values.ndim != 1:
        raise InputError(f"{name} must have one dimension, got shape {values.shape}: pass one column.")
    if len(values) == 0:
        return values.astype(np.float64) if values.dtype.kind not in "M" else values, False
    if values.dtype.kind in "biufM":
        return values, False
    if values.dtype.kind == "O":
        return _object_values(values, name)
    if values.dtype.kind in "US":
        return _parsed_dates(values, name), False
    raise InputError(f"{name} must hold numbers, booleans or dates, got {values.dtype}.")


def _object_values(values: npt.NDArray[Any], name: str) -> tuple[npt.NDArray[Any], bool]:
    """Python objects: dates with or without a zone, numbers with None for a missing one, text."""
    kinds = {type(v) for v in values if v is not None}
    if kinds and all(issubclass(k, date | np.datetime64) for k in kinds):
        zones = {isinstance(v, datetime) and v.tzinfo is not None for v in values if v is not None}
        if len(zones) > 1:
            raise InputError(f"{name} mixes dates with and without a time zone: use one kind.")
        if zones == {True}:
            from datetime import UTC

            naive = [None if v is None else v.astimezone(UTC).replace(tzinfo=None) for v in values]
            return np.array(naive, dtype="datetime64[us]"), True
        return values.astype("datetime64[us]"), False
    if kinds and all(issubclass(k, str) for k in kinds):
        return _parsed_dates(values, name), False
    try:
        return np.array([np.nan if v is None else v for v in values.tolist()], dtype=np.float64), False
    except (TypeError, ValueError):
        at, bad = next((i, v) for i, v in enumerate(values) if not isinstance(v, int | float | np.number | None))
        raise InputError(
            f"{name} must hold numbers, booleans or dates, got {type(bad).__name__} {bad!r} at position {at}."
        ) from None


def _parsed_dates(values: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """ISO 8601 text as dates; any other text is an error that shows the first of it."""
    try:
        return values.astype("datetime64[us]")
    except ValueError:
        bad = str(values[0])
        raise InputError(
            f"{name} must hold numbers, booleans or dates, got text such as {bad!r}: convert it first "
            "(dates as text must look like 2020-01-31 or 2020-01-31T12:00)."
        ) from None
