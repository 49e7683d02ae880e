"""One column of data: everything a user may bring, and everything that is refused with a remedy."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr

from nofluke import InputError
from nofluke.data.columns import as_column

BERLIN = "Europe/Berlin"
MIDNIGHTS = ["2019-12-31T23:00", "2020-01-01T23:00"]
"""Two midnights in Berlin, in UTC."""


class OwnSeries(pd.Series):
    """What geopandas and others do: a Series by another name, from another module."""


@pytest.mark.parametrize(
    "value",
    [
        [1, 2, 4],
        (1, 2, 4),
        np.array([1, 2, 4], dtype=np.uint8),
        np.array([1, 2, 4], dtype=np.float32),
        np.array([1, 2, 4], dtype=object),
        np.ma.array([1, 2, 4]),
        pd.Series([1, 2, 4]),
        pd.Series([1, 2, 4], dtype="Int64"),
        pd.Series([1, 2, 4], dtype="int64[pyarrow]"),
        pd.Series([1, 2, 4], dtype="category"),
        pd.Series([1, 2, 4], dtype=object),
        pd.Series([1, 2, 4]).astype("Sparse[int]"),
        OwnSeries([1, 2, 4]),
        pd.Index([1, 2, 4]),
        pd.array([1, 2, 4], dtype="Int64"),
        pl.Series([1, 2, 4]),
        pl.Series([1, 2, 4]).cast(pl.Decimal(10, 2)),
        pa.array([1, 2, 4]),
        pa.chunked_array([[1], [2, 4]]),
        xr.DataArray([1, 2, 4]),
        xr.DataArray([1, 2, 4], dims="t", coords={"t": [5, 6, 7]}),
        [Decimal(1), Decimal(2), np.int8(4)],
    ],
    ids=lambda value: f"{type(value).__module__.partition('.')[0]}-{type(value).__name__}",
)
def test_numbers_come_in_every_dress(value):
    """The same three numbers from every library."""
    column = as_column(value, "scores")
    assert column.values.tolist() == [1, 2, 4]
    assert column.values.dtype.kind in "iuf"
    assert len(column) == 3
    assert not column.aware


def test_a_range_is_a_column():
    """range(3) is as good as a list."""
    assert as_column(range(3), "truth").values.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "value",
    [
        [True, False],
        pd.Series([True, False]),
        pd.Series([True, False], dtype="boolean"),
        pd.Series([True, False], dtype="bool[pyarrow]"),
        pl.Series([True, False]),
        pa.array([True, False]),
        xr.DataArray([True, False]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_booleans_stay_booleans(value):
    """They are not counted as missing or as text anywhere."""
    values = as_column(value, "truth").values
    assert values.dtype == np.bool_
    assert values.tolist() == [True, False]


@pytest.mark.parametrize(
    "value",
    [
        [1, None],
        [1.0, float("nan")],
        [True, None],
        np.ma.array([1, 2], mask=[False, True]),
        np.ma.array([True, True], mask=[False, True]),
        np.ma.array([1, "x"], mask=[False, True], dtype=object),
        pd.Series([1, None], dtype="Int64"),
        pd.Series([1, None], dtype="Float64"),
        pd.Series([True, None], dtype="boolean"),
        pd.Series([1, pd.NA], dtype=object),
        pd.Series([1, None], dtype="int64[pyarrow]"),
        pd.array([1, None], dtype="Int64"),
        pl.Series([1, None]),
        pl.Series([True, None]),
        pl.Series([1.0, float("nan")]),
        pa.array([1, None]),
        pa.array([True, None]),
        pa.array([Decimal(1), None]),
        pa.chunked_array([[1.0], [None]]),
    ],
    ids=lambda value: f"{type(value).__module__.partition('.')[0]}-{getattr(value, 'dtype', type(value).__name__)}",
)
def test_what_is_missing_becomes_nan(value):
    """None, NA, null and masked all mean the same."""
    values = as_column(value, "scores").values
    assert values.dtype.kind == "f"
    np.testing.assert_array_equal(values, [1.0, np.nan])


def test_nothing_but_nulls_is_missing():
    """A column of Nones is a column of NaN, whatever its type."""
    for value in ([None, None], pa.nulls(2), pl.Series([None, None]), pd.Series([None, None])):
        assert np.isnan(as_column(value, "scores").values).tolist() == [True, True]


@pytest.mark.parametrize(
    "value",
    [
        ["2020-01-01", "2020-01-02T12:30"],
        np.array(["2020-01-01", "2020-01-02 12:30"]),
        np.array([b"2020-01-01", b"2020-01-02 12:30"]),
        pd.Series(["2020-01-01", "2020-01-02T12:30"]),
        pd.Series(["2020-01-01", "2020-01-02T12:30"], dtype=object),
        pl.Series(["2020-01-01", "2020-01-02T12:30"]),
        pa.array(["2020-01-01", "2020-01-02T12:30"]),
        np.array(["2020-01-01", "2020-01-02T12:30"], dtype="datetime64[ms]"),
        [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2, 12, 30)],
        [dt.date(2020, 1, 1), dt.datetime(2020, 1, 2, 12, 30)],
        [np.datetime64("2020-01-01"), np.datetime64("2020-01-02T12:30")],
        [pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-02T12:30")],
        pd.Series(pd.to_datetime(["2020-01-01T00:00", "2020-01-02T12:30"])),
        pd.DatetimeIndex(["2020-01-01T00:00", "2020-01-02T12:30"]),
        pl.Series([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2, 12, 30)]),
        pa.array([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2, 12, 30)]),
        xr.DataArray(np.array(["2020-01-01", "2020-01-02T12:30"], dtype="datetime64[ns]")),
    ],
    ids=lambda value: f"{type(value).__module__.partition('.')[0]}-{getattr(value, 'dtype', type(value).__name__)}",
)
def test_dates_come_in_every_dress(value):
    """Dates without a zone stay as they are."""
    column = as_column(value, "times")
    assert column.values.dtype.kind == "M"
    assert column.values.astype("datetime64[s]").tolist() == [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2, 12, 30)]
    assert not column.aware


@pytest.mark.parametrize(
    "value",
    [
        ["2020-01-01T00:00+01:00", "2020-01-02T00:00+0100"],
        ["2019-12-31T23:00Z", "2020-01-01 23:00:00Z"],
        ["2019-12-31T18:30-04:30", "2020-01-02T00+01"],
        [dt.datetime(2019, 12, 31, 23, tzinfo=dt.UTC), dt.datetime(2020, 1, 1, 23, tzinfo=dt.UTC)],
        list(pd.date_range("2020-01-01", periods=2, tz=BERLIN)),
        pd.Series(pd.date_range("2020-01-01", periods=2, tz=BERLIN)),
        pd.Series(pd.date_range("2020-01-01", periods=2, tz=BERLIN), dtype=object),
        pd.date_range("2020-01-01", periods=2, tz=BERLIN),
        pl.Series([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2)]).dt.replace_time_zone(BERLIN),
        pa.array(pd.date_range("2020-01-01", periods=2, tz=BERLIN)),
    ],
    ids=lambda value: f"{type(value).__module__.partition('.')[0]}-{type(value).__name__}",
)
def test_dates_with_a_zone_become_utc_and_are_remembered(value):
    """A zone is not dropped in silence: the values are in UTC, and the column says that they had one."""
    column = as_column(value, "times")
    assert column.aware
    assert column.values.tolist() == np.array(MIDNIGHTS, dtype=column.values.dtype).tolist()


@pytest.mark.parametrize(
    "value",
    [
        pl.Series([dt.date(2020, 1, 1), None]),
        pa.array([dt.date(2020, 1, 1), None]),
        pa.array([dt.date(2020, 1, 1), None], type=pa.date64()),
        pl.Series([dt.datetime(2020, 1, 1), None]),
        [dt.date(2020, 1, 1), None],
        ["2020-01-01", None],
        pd.Series(["2020-01-01", None], dtype="string"),
        pd.Series([pd.Timestamp("2020-01-01"), pd.NaT]),
        [pd.Timestamp("2020-01-01"), pd.NaT],
        np.ma.array(["2020-01-01", "2020-01-02"], mask=[False, True], dtype="datetime64[D]"),
    ],
    ids=lambda value: f"{type(value).__module__.partition('.')[0]}-{getattr(value, 'dtype', type(value).__name__)}",
)
def test_a_missing_date_is_not_a_time(value):
    """Nulls among dates become NaT, to be refused where the column is used."""
    values = as_column(value, "times").values
    assert np.isnat(values).tolist() == [False, True]
    assert values.astype("datetime64[D]")[0] == np.datetime64("2020-01-01")


def test_a_missing_date_among_dates_with_a_zone_is_no_mixture():
    """NaT has no zone, but does not make the others lose theirs."""
    column = as_column([pd.Timestamp("2020-01-01", tz="UTC"), pd.NaT], "times")
    assert column.aware
    assert np.isnat(column.values).tolist() == [False, True]


@pytest.mark.parametrize(
    "value",
    [
        ["2020-01-01T00:00:00.000000001"],
        [pd.Timestamp("2020-01-01T00:00:00.000000001")],
        pd.Series(pd.to_datetime(["2020-01-01T00:00:00.000000001"])),
        pl.Series([1577836800000000001]).cast(pl.Datetime("ns")),
        np.array(["2020-01-01T00:00:00.000000001"], dtype="datetime64[ns]"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_nanoseconds_are_kept(value):
    """No detour through a coarser unit."""
    assert as_column(value, "times").values == np.datetime64("2020-01-01T00:00:00.000000001")


def test_the_index_of_pandas_and_xarray_is_kept_and_no_other():
    """A Series, even of a derived class, and a DataArray with coordinates have an index; an Index itself has none."""
    for series in (pd.Series([1, 2], index=["a", "b"]), OwnSeries([1, 2], index=["a", "b"])):
        assert list(as_column(series, "truth").index) == ["a", "b"]
    assert list(as_column(xr.DataArray([1, 2], dims="t", coords={"t": ["a", "b"]}), "truth").index) == ["a", "b"]
    for value in (
        xr.DataArray([1, 2]),
        pd.Index([1, 2]),
        pl.Series([1, 2]),
        pa.array([1, 2]),
        np.array([1, 2]),
        [1, 2],
    ):
        assert as_column(value, "truth").index is None


@pytest.mark.parametrize(
    "value", [[], (), np.array([]), pd.Series([], dtype=object), pl.Series([], dtype=pl.String), pa.array([])]
)
def test_an_empty_column_is_read(value):
    """No events at all is a list like any other; where values are needed, that is said later."""
    assert len(as_column(value, "truth")) == 0


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "^truth is None: pass an array, a Series or a list"),
        (np.zeros((3, 2)), r"^truth must have one dimension, got shape \(3, 2\): pass one column"),
        ([[0, 1], [1, 0]], r"^truth must have one dimension, got shape \(2, 2\)"),
        ([[0], [1, 0]], "^truth must be one column of plain items, got nested sequences of unequal length: pass one"),
        (
            pd.DataFrame({"a": [0, 1], "b": [1, 0]}),
            r"^truth must have one dimension, got shape \(2, 2\): pass one column",
        ),
        (
            pl.DataFrame({"a": [0, 1], "b": [1, 0]}),
            r"^truth must have one dimension, got shape \(2, 2\): pass one column",
        ),
        (pl.LazyFrame({"a": [0, 1]}), "^truth must be one column of values, got a LazyFrame: pass an array"),
        (pa.table({"a": [0, 1], "b": [1, 0]}), r"^truth must have one dimension, got shape \(2, 2\): pass one column"),
        (xr.DataArray(np.zeros((2, 2)), dims=("t", "x")), r"^truth has 2 dimensions \('t', 'x'\): select one sequence"),
        (xr.DataArray(1.0), r"^truth has 0 dimensions \(\): select one sequence"),
        (xr.Dataset({"a": ("t", [0, 1])}), "^truth must be one column of values, got a Dataset: pass one"),
        ("label", "^truth must be one column of values, got 'label': pass an array"),
        (3, "^truth must be one column of values, got 3: pass an array"),
        ({"a": 1}, "^truth must be one column of values, got a dict: pass an array"),
        ({0, 1}, "^truth must be one column of values, got a set: pass an array"),
        ((x for x in [0, 1]), "^truth must be one column of values, got a generator: pass an array"),
        (["yes", "no"], "^truth must hold numbers, booleans or dates, got text 'yes' at position 0: convert it first"),
        (["0", "1"], "^truth must hold numbers, booleans or dates, got text '0' at position 0: convert it first"),
        (["2020"], "^truth must hold .*, got text '2020' at position 0: .* must look like 2020-01-31"),
        (["2020-01-01", "soon"], "^truth must hold numbers, booleans or dates, got text 'soon' at position 1"),
        (
            ["2020-01-01", "2020-06-31"],
            "^truth must hold numbers, booleans or dates, got text '2020-06-31' at position 1",
        ),
        (["31/01/2020"], "^truth must hold .*, got text '31/01/2020' at position 0: .* must look like 2020-01-31"),
        ([1, "a"], "^truth must hold numbers, booleans or dates, got str 'a' at position 1: convert it first"),
        (np.array([1, "2"], dtype=object), "^truth must hold numbers, .*, got str '2' at position 1: convert"),
        (pd.Series(["a", "b"], dtype="category"), "^truth must hold numbers, booleans or dates, got text 'a'"),
        (pl.Series(["a", "b"]), "^truth must hold numbers, booleans or dates, got text 'a' at position 0"),
        (pa.array(["a", "b"]).dictionary_encode(), "^truth must hold numbers, booleans or dates, got text 'a'"),
        ([1j], "^truth must hold numbers, booleans or dates, got complex128: convert it first"),
        ([0, {}], "^truth must hold numbers, booleans or dates, got dict {} at position 1: convert it first"),
        ([dt.date(2020, 1, 1), 3], r"^truth must hold .*, got date datetime.date\(2020, 1, 1\) at position 0"),
        ([dt.timedelta(1)], r"^truth must hold .*, got timedelta datetime.timedelta\(days=1\) at position 0"),
        (np.array([1], dtype="timedelta64[s]"), r"^truth must hold numbers, booleans or dates, got timedelta64\[s\]"),
        (pl.Series([[1], [2]]), "^truth must hold .*, got list "),
        (pd.period_range("2020-01", periods=2, freq="M"), "^truth must hold .*, got Period .* at position 0"),
        (
            [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2, tzinfo=dt.UTC)],
            "^truth mixes dates with and without a time zone: use one kind",
        ),
        (["2020-01-01T00:00", "2020-01-02T00:00Z"], "^truth mixes dates with and without a time zone: use one kind"),
    ],
)
def test_what_is_no_column_is_refused_with_a_remedy(value, message):
    """The message names the argument, shows what came and where, and says what to pass; never another error."""
    with pytest.raises(InputError, match=message):
        as_column(value, "truth")


@pytest.mark.parametrize("year", [1, 1500, 1677, 2263, 2500, 9999])
def test_dates_with_seven_decimals_do_not_wrap_around(year):
    """Nanoseconds reach from 1677 to 2262; zeros after the sixth decimal are no nanoseconds."""
    zeros = [f"{year:04}-01-01T00:00:00.0000000", f"{year:04}-01-01T00:00:01.1234560000"]
    assert as_column(zeros, "times").values.astype(str).tolist() == [text[:26] for text in zeros]
    with pytest.raises(
        InputError, match=r"times has \d date\(s\) too far away for times in ns \(they reach from 1677 to 2262\)"
    ):
        as_column([f"{year:04}-01-01T00:00:00.1234567", "2000-01-01"], "times")


def test_dates_with_many_decimals_are_read_to_the_nanosecond():
    """With and without a zone; what is finer is cut off."""
    texts = ["2020-01-01T00:00:00.123456789", "2020-01-01 00:00:00.1234567Z", "2020-01-01T01:00:00.1234567891+01:00"]
    ends = ["2020-01-01T00:00:00.123456789", "2020-01-01T00:00:00.123456700", "2020-01-01T00:00:00.123456789"]
    for text, end in zip(texts, ends, strict=True):
        assert as_column([text, None], "times").values.astype(str).tolist() == [end, "NaT"]


@pytest.mark.parametrize(
    "make", [list, lambda items: np.array(items, dtype=object), lambda items: pd.Series(items, dtype=object)]
)
def test_dates_of_different_units_keep_their_digits_or_are_refused(make):
    """The finest unit holds them all, or the one that it cannot hold is shown."""
    fine = np.datetime64("2020-01-01T00:00:00.000000001")
    mixed = as_column(
        make([np.datetime64("2019-01-01"), fine, None, dt.datetime(2021, 1, 1), dt.date(2022, 1, 1)]), "times"
    )
    assert mixed.values.dtype == "datetime64[ns]"
    assert mixed.values[1] == fine
    assert mixed.values.astype("datetime64[Y]").astype(str).tolist() == ["2019", "2020", "NaT", "2021", "2022"]
    with pytest.raises(InputError, match=r"times has 1 date\(s\) too far away for times in ns .*, first 1500-01-01 at"):
        as_column(make([np.datetime64("1500-01-01"), fine]), "times")


def test_dates_may_have_gaps_of_any_kind():
    """None, NaT of NumPy and of pandas, and the NaN that pandas writes among objects."""
    day = np.datetime64("2020-01-01")
    column = as_column([day, None, np.datetime64("NaT", "s"), pd.NaT, float("nan")], "times")
    assert np.isnat(column.values).tolist() == [False, True, True, True, True]


@pytest.mark.parametrize(
    "value",
    [
        np.ma.array([1, 2, 3], mask=[0, 1, 0]),
        np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]),
        np.ma.array([True, True, True], mask=[0, 1, 0]),
        [1, np.ma.masked, 3],
        (1, np.ma.masked, 3),
    ],
    ids=["int", "float", "bool", "list", "tuple"],
)
def test_masked_values_are_missing_ones(value):
    """In a masked array and in a list, without a warning."""
    assert np.isnan(as_column(value, "scores").values).tolist() == [False, True, False]


def test_whole_numbers_among_objects_stay_whole():
    """Not rounded to floats where integers hold them."""
    large = [2**53 + 1, 2**62 + 1]
    column = as_column(np.array(large, dtype=object), "times")
    assert column.values.dtype == np.int64
    assert column.values.tolist() == large


@pytest.mark.parametrize("item", ["x" * 10**6, "a\nb" * 1000, ["y"] * 10**5], ids=["long", "lines", "list"])
def test_a_large_cell_is_not_shown_in_full(item):
    """One line that a terminal can show."""
    with pytest.raises(InputError, match="scores must hold numbers") as caught:
        as_column(np.array([1, item, None], dtype=object), "scores")
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)
