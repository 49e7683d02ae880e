"""Files are read as written, in order, and every refusal names file, column, value and line."""

import gzip
import io
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nofluke as nf
from nofluke.data import paths
from nofluke.data import tables as layout
from nofluke.data.columns import UtcTimes
from nofluke.data.files import read_columns, read_list, read_times
from nofluke.data.paths import check_place, expanded, is_same_file, write_file
from nofluke.dates import likely_format
from nofluke.errors import InputError


@pytest.fixture
def write(tmp_path):
    """Write bytes or text to a file of that name, and return its path."""

    def write_file(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


def scores_of(path, column="score", **kwargs):
    return read_columns(path, columns={"scores": column}, **kwargs).values["scores"]


# ---- what is read


def test_every_role_gets_its_column(write):
    """Values, names, rows and source come back per role, with the types as written."""
    path = write("a.csv", "t,id,e,z,ok\n2020-01-01,007,0,1.5,true\n2020-01-02,b,1,2,False\n")
    table = read_columns(path, columns={"time": "t", "series": "id", "truth": "e", "scores": 3, "mask": "4"})
    assert table.names == {"time": "t", "series": "id", "truth": "e", "scores": "z", "mask": "ok"}
    assert (table.n_rows, table.source) == (2, str(path))
    assert table.values["time"].dtype == "datetime64[us]"
    assert table.values["time"].astype(str).tolist() == ["2020-01-01T00:00:00.000000", "2020-01-02T00:00:00.000000"]
    assert table.values["series"].tolist() == ["007", "b"]
    assert (table.values["truth"].dtype, table.values["truth"].tolist()) == (np.int64, [0, 1])
    assert (table.values["scores"].dtype, table.values["scores"].tolist()) == (np.float64, [1.5, 2.0])
    assert (table.values["mask"].dtype, table.values["mask"].tolist()) == (np.bool_, [True, False])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "t,score\n1,0.5\n2,-3e2\n"),
        ("a.tsv", "t\tscore\n1\t0.5\n2\t-3e2\n"),
        ("a.csv", "t;score\r\n1;0.5\r\n2;-3e2"),
        ("a.csv", "t|score\n1|0.5\n\n2|-3e2\n\n"),
        ("a.csv", b'\xef\xbb\xbf"t","score"\n1,0.5\n2,-3e2\n'),
        ("a.csv", 't,"the\nscore",score\n1,,0.5\n2,"x\ny",-3e2\n'),
        ("a.csv", 'sep=;\n"t";score\n1;0.5\n2;-3e2\n'),
        ("a.csv", '# made by "me\n\nt,score\n1,0.5\n2,-3e2\n'),
        ("a.txt", "  t   score\n  1   0.5\n 2  -3e2  \n"),
        ("a.dat", '"t" "score"\n1 0.5\n\n2 -3e2\n'),
        ("a.CSV", "t, score\n1, 0.5 \n2, -3e2\n"),
        ("a.csv.gz", gzip.compress(b"t,score\n1,0.5\n2,-3e2\n", mtime=0)),
        ("no_ending", "t,score\n1,0.5\n2,-3e2\n"),
        ("a.unknown", gzip.compress(b"t score\n1 0.5\n2 -3e2\n", mtime=0)),
        ("a [1]*?.csv", "t,score\n1,0.5\n2,-3e2\n"),
        ("it's;--.csv", "t,score\n1,0.5\n2,-3e2\n"),
    ],
)
def test_delimiters_endings_and_preambles_do_not_change_the_values(write, name, content):
    """The same two rows come out of every way of writing them."""
    assert scores_of(write(name, content)).tolist() == [0.5, -300.0]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.dat", "0.5e+00\n-3.0e+02\n"),
        ("a.csv", "0.5\n-300\n\n\n"),
        ("a.csv", b"\xef\xbb\xbf0.5\n-300\n"),
        ("a.txt", "0.5 2020-01-01\n-300 2020-01-02\n"),
        ("a.csv", "0.5,true\n-300,false\n"),
        ("a.csv", "0.5,A\n-300,A\n"),
        ("a.csv", "0.5,2020-01-01T10:00:00Z,A\n-300,2020-01-01T10:00:00Z,B\n"),
        ("a.csv", "0.5,31/12/2020\n-300,01/01/2021\n"),
        ("a.csv", "0.5,\n-300,5\n"),
    ],
)
def test_a_first_row_of_data_is_no_header(write, name, content):
    """Where the first row holds data it is kept, and columns go by position."""
    table = read_columns(write(name, content), columns={"scores": "0"})
    assert table.values["scores"].tolist() == [0.5, -300.0]
    assert table.names == {"scores": "column 0"}


@pytest.mark.parametrize(("content", "n"), [("nan\n0.5\nnan\n", 3), ("NA,null\n0.5,1\n", 2), (",\n0.5,1\n", 1)])
def test_a_first_row_of_missing_values_is_no_header(write, content, n):
    """As of scores that windows left without their first; names may be missing, too."""
    assert len(read_columns(write("a.csv", content), columns={"scores": 0}).values["scores"]) == n


def test_digits_name_a_column_before_they_count_as_a_position(write):
    """A column called "1" wins over the position 1; the number 1 is always a position."""
    path = write("a.csv", "1,x\n5,6\n7,8\n")
    assert scores_of(path, "1").tolist() == [5, 7]
    assert scores_of(path, 1).tolist() == [6, 8]


@pytest.mark.parametrize(
    ("content", "asked", "values", "taken"),
    [
        ("0,1\n0,0.5\n1,0.7\n", "1", [0.5, 0.7], "header"),
        ("0,1\n0,0.5\n1,0.7\n", 1, [0.5, 0.7], "header"),
        (",0,1\n0,5,0.5\n1,6,0.7\n", "1", [0.5, 0.7], "header"),
        (",0\n0,0.5\n1,0.7\n", "0", [0.5, 0.7], "header"),
        ("0,1,2\n5,0,3\n6,1,4\n", "2", [3, 4], "header"),
        ("0,1\n0,0\n1,1\n", "1", [1, 0, 1], "data"),
        (",0\n,0\n0.5,1\n", "1", [0, 0, 1], "data"),
        ("0\n5\n", 0, [0, 5], "data"),
    ],
)
def test_a_first_row_of_0_1_2_is_noted_whatever_it_is_taken_for(write, content, asked, values, taken):
    """pandas writes 0,1,2 above unnamed columns; data may look the same, so such a row is never read silently."""
    table = read_columns(write("a.csv", content), columns={"scores": asked})
    assert table.values["scores"].tolist() == values
    assert len(table.notes) == 1
    assert f"was read as {'its header' if taken == 'header' else 'data'}: if it is" in table.notes[0]


def test_a_number_that_is_no_position_is_a_name(write):
    """Columns named 10 and 20 are found by these names, and their row is no data; other files have no notes."""
    table = read_columns(write("a.csv", "10,20\n0,0.5\n1,0.7\n"), columns={"scores": "20"})
    assert (table.values["scores"].tolist(), table.names, table.notes) == ([0.5, 0.7], {"scores": "20"}, ())
    assert read_columns(write("b.csv", "0,1.5\n1,0.5\n"), columns={"scores": 1}).notes == ()


def test_missing_numbers_become_nan(write):
    """Empty cells, NA, NaN, null and None are missing in any case, among numbers and among true/false."""
    path = write("a.csv", "score,flag\n1,true\n,NA\nNA,\nnan,False\nNaN,n/a\nnull,none\nNone,true\n2,true\n")
    values = read_columns(path, columns={"scores": "score", "mask": "flag"}).values
    nan = np.nan
    np.testing.assert_array_equal(values["scores"], [1, nan, nan, nan, nan, nan, nan, 2])
    np.testing.assert_array_equal(values["mask"], [1, nan, nan, 0, nan, nan, 1, 1])


def test_a_blank_line_inside_one_column_is_missing_and_at_its_end_nothing(write):
    """Blank lines shift no value: inside they are NaN, at the end they are not there."""
    np.testing.assert_array_equal(scores_of(write("a.dat", "1\n\n3\n\n\n"), 0), [1, np.nan, 3])


def test_types_are_not_guessed_from_the_first_rows(write):
    """A value in row 30,001 that needs another type is still read right."""
    path = write("a.csv", "score\n" + "1\n" * 30_000 + "0.5\n")
    assert scores_of(path)[-1] == 0.5
    with pytest.raises(InputError, match=r"line 30002: column 'score' has 'x'"):
        scores_of(write("b.csv", "score\n" + "1\n" * 30_000 + "x\n"))


def test_a_large_file_keeps_its_order(write):
    """Several threads read a big file; rows still come in the order of the file."""
    n = 600_000
    path = write("a.csv", "i,score\n" + "".join(f"{i},{i}.25\n" for i in range(n)))
    values = read_columns(path, columns={"time": "i", "scores": "score"}).values
    np.testing.assert_array_equal(values["time"], np.arange(n))
    np.testing.assert_array_equal(values["scores"], np.arange(n) + 0.25)


@settings(max_examples=40)
@given(st.lists(st.floats(allow_nan=False) | st.none(), min_size=1, max_size=30), st.sampled_from(",;\t|"))
def test_written_numbers_are_read_back_exactly(tmp_path_factory, numbers, delimiter):
    """Python's shortest decimal of any double, infinities and gaps included, comes back bit by bit."""
    path = tmp_path_factory.mktemp("numbers") / "a.csv"
    lines = [f"{i}{delimiter}{'' if z is None else repr(z)}" for i, z in enumerate(numbers)]
    path.write_text("\n".join([f"i{delimiter}score", *lines]))
    expected = np.array([np.nan if z is None else z for z in numbers])
    np.testing.assert_array_equal(scores_of(path).astype(np.float64), expected)


@pytest.mark.parametrize("delta", [2**53 + 1, 1_600_000_000_000_000_001, 2**63 - 4, 2**63, 2**64 - 4, -(2**63)])
def test_whole_numbers_of_64_bits_are_read_exactly(write, delta):
    """Scores, times, event times and series, from text and Parquet: no two of them become one."""
    numbers = [delta + k for k in range(4)]
    kind = np.uint64 if numbers[-1] >= 2**63 else np.int64
    text = write("a.csv", "\n".join(["score", *map(str, numbers)]))
    packed = write("a.parquet", parquet_bytes({"score": pa.array(numbers, pa.from_numpy_dtype(kind))}))
    for path in (text, packed):
        found = read_columns(path, columns={"scores": "score", "time": 0}).values
        for values in (*found.values(), read_times(path)):
            assert (values.dtype, values.tolist()) == (kind, numbers)
    assert read_columns(packed, columns={"series": 0}).values["series"].tolist() == numbers


@pytest.mark.parametrize("other", ["", "NA", "0.5", "1e3", str(2**64)])
def test_whole_numbers_that_floats_would_merge_are_refused(write, other):
    """Beside what only floats can hold, whole numbers beyond 2**53 must be floats too; those that can be are."""
    path = write("a.csv", f"t,score\n1,{other}\n2,{2**53 + 2}\n3,{2**53 + 1}\n")
    message = f"a.csv, line 4: column 'score' has {2**53 + 1}, which 64-bit floats cannot hold.* below 2\\*\\*53"
    with pytest.raises(InputError, match=message):
        scores_of(path)
    kept = scores_of(write("b.csv", f"t,score\n1,{other}\n2,{2**53 + 2}\n3,{10**22}\n4,{int(1e300)}\n"))
    assert kept.tolist()[1:] == [2**53 + 2, 1e22, 1e300]


def test_missing_whole_numbers_of_parquet_are_no_reason_to_merge_others(write):
    """As of text."""
    path = write("a.parquet", parquet_bytes({"score": pa.array([None, 2**53 + 1], pa.int64())}))
    with pytest.raises(InputError, match=f"a.parquet, row 2: column 'score' has {2**53 + 1}, which 64-bit floats"):
        scores_of(path)


# ---- times


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2020-01-02", "2020-01-02T00:00:00.000000"),
        ("2020-01-02 03:04", "2020-01-02T03:04:00.000000"),
        ("2020-01-02T03:04:05.5", "2020-01-02T03:04:05.500000"),
        ("2020-01-02T03:04:05Z", "2020-01-02T03:04:05.000000"),
        ("2020-01-02 03:04:05+02:00", "2020-01-02T01:04:05.000000"),
        ("2020-01-02T03:04:05-0330", "2020-01-02T06:34:05.000000"),
        ("2020-01-02 03:04:05.123456789", "2020-01-02T03:04:05.123456789"),
        ("2020-01-02 03:04:05.123456789+02:00", "2020-01-02T01:04:05.123456789"),
        ("1066-10-14", "1066-10-14T00:00:00.000000"),
    ],
)
def test_iso_times_are_read_to_the_last_digit_in_utc(write, text, expected):
    """Offsets are applied, fractions kept, with and without a header."""
    assert read_times(write("a.csv", f"when\n{text}\n"), "when").astype(str).tolist() == [expected]
    assert read_times(write("b.txt", f"{text}\n{text}\n")).astype(str).tolist() == [expected] * 2


def test_times_do_not_depend_on_the_machines_time_zone(write):
    """Times without an offset stay as they are wherever the program runs."""
    path = write("a.csv", "when\n2020-07-01 12:00\n")
    code = f"from nofluke.data.files import read_times; print(read_times({str(path)!r})[0])"
    environment = {**os.environ, "TZ": "America/New_York"}
    answer = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "2020-07-01T12:00:00.000000"


def test_numbers_are_a_clock(write):
    """A time column of nothing but numbers stays numbers."""
    assert read_times(write("a.txt", "1.5\n2\n10\n")).tolist() == [1.5, 2.0, 10.0]
    assert read_times(write("b.csv", "s\n3\n1\n")).tolist() == [3, 1]


def test_a_time_format_settles_ambiguous_dates(write):
    """The format is applied with and without header, to text and to numbers, offsets included."""
    expected = ["2020-02-01", "2020-12-31"]
    for name, content, time_format in [
        ("a.csv", "day\n01/02/2020\n31/12/2020\n", "%d/%m/%Y"),
        ("b.csv", "01/02/2020\n31/12/2020\n", "%d/%m/%Y"),
        ("c.csv", "day\n20200201\n20201231\n", "%Y%m%d"),
        ("d.txt", "1 Feb 2020\n31 Dec 2020\n", "%d %b %Y"),
        ("f.csv", "Feb 1, 2020\nDec 31, 2020\n", "%b %d, %Y"),
        ("e.csv", "day\n2020-02-01 01:00 +0100\n2020-12-31 01:00 +0100\n", "%Y-%m-%d %H:%M %z"),
    ]:
        times = read_times(write(name, content), time_format=time_format)
        assert times.astype("datetime64[D]").astype(str).tolist() == expected, name


def test_missing_times_are_nat_among_rows_and_an_error_among_events(write):
    """A row may lack its time, an event may not."""
    path = write("a.csv", "t,score\n2020-01-01,1\n,2\n2020-01-03,3\n")
    assert np.isnat(read_columns(path, columns={"time": "t"}).values["time"]).tolist() == [False, True, False]
    with pytest.raises(InputError, match=r"line 3: column 't' has no time: remove the row"):
        read_times(path, "t")


@pytest.mark.parametrize(
    ("text", "time_format", "zoned"),
    [
        ("2020-01-02T03:04Z", None, True),
        ("2020-01-02 03:04:05+02:00", None, True),
        ("2020-01-02 03:04:05.123456789+02:00", None, True),
        ("2020-01-02 03:04", None, False),
        ("02.01.2020 03:04 +0100", "%d.%m.%Y %H:%M %z", True),
        ("02.01.2020 03:04", "%d.%m.%Y %H:%M", False),
        ("5", None, False),
    ],
)
def test_times_from_files_remember_that_they_had_a_zone(write, text, time_format, zoned):
    """So that the library can refuse to compare them with times that have none."""
    path = write("a.csv", f"when\n{text}\n")
    assert isinstance(read_times(path, "when", time_format), UtcTimes) is zoned
    column = read_columns(path, columns={"time": "when"}, time_format=time_format).values["time"]
    assert isinstance(column, UtcTimes) is zoned


def test_times_with_and_without_a_zone_are_not_compared(write):
    """Neither way round, from text or from Parquet; two with a zone are compared as instants."""
    stamps = np.array(["2020-01-01", "2020-01-02", "2020-01-03"], dtype="datetime64[us]")
    clocks = {
        "zoned.csv": "t\n2020-01-01T00:00Z\n2020-01-02T00:00Z\n2020-01-03T00:00Z\n",
        "zoned.parquet": parquet_bytes({"t": pa.array(stamps, pa.timestamp("us", tz="Europe/Berlin"))}),
        "bare.csv": "t\n2020-01-01\n2020-01-02\n2020-01-03\n",
    }
    times = {name: read_columns(write(name, c), columns={"time": "t"}).values["time"] for name, c in clocks.items()}
    bare, zoned = read_times(write("a.txt", "2020-01-02\n")), read_times(write("b.txt", "2020-01-02T01:00+01:00\n"))

    def evaluate(events, name):
        return nf.evaluate(events, [1, 2, 3], threshold=2, times=times[name], truth_as="times")

    for name in ("zoned.csv", "zoned.parquet"):
        assert evaluate(zoned, name).sequence.truth.tolist() == [False, True, False]
        with pytest.raises(InputError, match="the clock has a time zone but truth has none"):
            evaluate(bare, name)
    assert evaluate(bare, "bare.csv").n_events == 1
    with pytest.raises(InputError, match="truth has a time zone but the clock has none"):
        evaluate(zoned, "bare.csv")


# ---- Parquet and standard input


def parquet_bytes(columns):
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns) if isinstance(columns, dict) else columns, buffer)
    return buffer.getvalue()


def test_parquet_types_are_kept(write):
    """Whole numbers, reals, flags, gaps, times with zone and nanoseconds come out as they went in."""
    ticks = np.array(["2020-01-01T00:00:00.000000001", "2020-01-02"], dtype="datetime64[ns]")
    zoned = pa.array(ticks.astype("datetime64[us]"), pa.timestamp("us", tz="Europe/Berlin"))
    path = write(
        "a.parquet",
        parquet_bytes(
            {
                'a "quoted" name': pa.array([1, 2], pa.int8()),
                "float": pa.array([0.5, None], pa.float32()),
                "flag": [True, False],
                "gap": pa.array([True, None]),
                "ns": ticks,
                "zoned": zoned,
                "day": pa.array([18262, None], pa.date32()),
                "text": ["1.5", "NA"],
                "id": ["x", "y"],
            }
        ),
    )
    numbers = {
        'a "quoted" name': (np.int64, [1, 2]),
        "float": (np.float32, [0.5, np.nan]),
        "flag": (np.bool_, [True, False]),
        "gap": (np.float64, [1, np.nan]),
        "text": (np.float64, [1.5, np.nan]),
    }
    for name, (dtype, expected) in numbers.items():
        values = scores_of(path, name)
        assert values.dtype == dtype, name
        np.testing.assert_array_equal(values, expected, err_msg=name)
    np.testing.assert_array_equal(read_times(path, "ns"), ticks)
    np.testing.assert_array_equal(read_times(path, "zoned"), ticks.astype("datetime64[us]"))
    days = read_columns(path, columns={"time": "day", "series": "id"}).values
    assert days["time"].astype("datetime64[D]").astype(str).tolist() == ["2020-01-01", "NaT"]
    assert days["series"].tolist() == ["x", "y"]


@pytest.mark.parametrize("packed", [parquet_bytes({"score": [1.5, 2.5]}), b"score\n1.5\n2.5\n"])
def test_standard_input_may_be_parquet_or_text(monkeypatch, packed):
    """The format of a stream is told by its first bytes."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(packed)))
    table = read_columns("-", columns={"scores": "score"})
    assert table.source == "standard input"
    assert table.values["scores"].tolist() == [1.5, 2.5]


def test_parquet_is_told_by_its_bytes_not_its_name(write):
    """A wrong ending does no harm, either way."""
    assert scores_of(write("a.csv", parquet_bytes({"score": [1.5]}))).tolist() == [1.5]
    assert scores_of(write("a.parquet", "score\n1.5\n")).tolist() == [1.5]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
@pytest.mark.parametrize("group", [None, 7])
def test_nanoseconds_with_a_zone_are_read_from_parquet(tmp_path, group):
    """As pandas writes its frames: no digit is lost, a missing time is one, and every reader of files takes them."""
    began, step = 1_577_833_200_000_000_001, 3_600_000_000_000
    moments = pa.array([began + step * i for i in range(20)], pa.timestamp("ns", tz="Europe/Berlin"))
    labels = [int(i % 5 == 0) for i in range(20)]
    path, gappy = tmp_path / "a.parquet", tmp_path / "gappy.parquet"
    table = pa.table({"t": moments, "y": labels, "z": [2.0 * y for y in labels], "name": ["s"] * 20})
    pq.write_table(table, path, row_group_size=group)
    pq.write_table(pa.table({"t": pa.concat_arrays([moments[:1], pa.nulls(1, moments.type)]), "z": [1, 2]}), gappy)
    found = read_columns(path, columns={"time": "t", "scores": "z"}).values["time"]
    assert isinstance(found, UtcTimes)
    assert found.dtype == "datetime64[ns]"
    assert found.astype(np.int64).tolist() == moments.cast(pa.int64()).to_pylist()
    assert np.isnat(read_columns(gappy, columns={"time": "t"}).values["time"]).tolist() == [False, True]
    study = nf.study(path, series="name", truth="y", scores="z", times="t", threshold=1, tolerance="1h", workers=1)
    assert study.pooled()[0].recall.value == 1


def test_a_pipe_is_read_like_a_file(tmp_path):
    """What can be read only once, such as <(command), is read once."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = subprocess.Popen([sys.executable, "-c", f"open({str(pipe)!r}, 'w').write('score\\n1\\n2\\n')"])
    assert scores_of(pipe).tolist() == [1, 2]
    assert writer.wait() == 0


def test_reading_loads_no_data_frame_library_and_prints_nothing(write):
    """duckdb comes with the first read, and brings neither pandas, polars nor pyarrow."""
    path = write("a.csv", "t,score\n2020-01-01,1\n")
    code = (
        "import sys, nofluke.data.files as f; assert 'duckdb' not in sys.modules;"
        f"f.read_columns({str(path)!r}, columns=dict(time='t', scores='score', series='t'));"
        "assert not {'pandas', 'polars', 'pyarrow'} & set(sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")


# ---- odd but readable files


SMALL = "label,score\n0,1.5\n1,2.5\n0,3.5\n1,4.5\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("first.csv", SMALL.replace("\n", "\r\n", 1)),
        ("last.csv", SMALL.replace("\n", "\r\n")[:-2] + "\n"),
        ("all.csv", "label,score\r0,1.5\n1,2.5\r\n0,3.5\r1,4.5\n"),
        ("blanks.txt", SMALL.replace(",", " ").replace("\n", "\r\n", 2)),
        ("old.csv", "# made by\r# me\r" + SMALL.replace("\n", "\r")),
        ("packed.csv.gz", gzip.compress(SMALL.replace("\n", "\r\n", 2).encode(), mtime=0)),
        ("comments.csv", "# a long story\n" * 10_000 + SMALL),
        ("comment.csv", "#" + "x" * 3_000_000 + "\n" + SMALL),
        ("text.csv.gz", SMALL),
        ("text.csv.zst", SMALL),
        ("packed.csv", gzip.compress(SMALL.encode(), mtime=0)),
        ("~strange.csv", SMALL),
        ("-o.csv", SMALL),
        ("cell.csv", SMALL.replace("score", "score,words").replace(".5", ".5,a") + f"0,5.5,{'x' * 3_000_000}\n"),
        (
            "wide.csv",
            ",".join(f"column{i:05}" for i in range(6_500))
            + ",score\n"
            + "".join("0," * 6_500 + f"{i}.5\n" for i in (1, 2, 3, 4)),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 20 else "",
)
def test_line_ends_names_and_sizes_do_not_change_the_values(tmp_path, monkeypatch, name, content):
    """Mixed line ends, long headers, preambles and cells, and names that mean something to duckdb or a shell."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert scores_of(name)[:4].tolist() == [1.5, 2.5, 3.5, 4.5]


def test_a_folder_called_like_a_setting_adds_no_column(tmp_path):
    """day=1/a.parquet has the columns it has."""
    (tmp_path / "day=1").mkdir()
    (tmp_path / "day=1" / "a.parquet").write_bytes(parquet_bytes({"score": [1.5]}))
    (tmp_path / "day=1" / "a.csv").write_text(SMALL)
    for name in ("a.parquet", "a.csv"):
        with pytest.raises(InputError, match="no column 'day'"):
            scores_of(tmp_path / "day=1" / name, "day")


def test_a_leading_tilde_is_the_home_of_a_user(tmp_path, monkeypatch):
    """As in shells; ./~x and a name that no user has are taken as they are."""
    home, here = tmp_path / "home", tmp_path / "here"
    for number, folder in enumerate((home, here)):
        folder.mkdir()
        (folder / "a.csv").write_text(f"score\n{number}.5\n")
        (folder / "~").mkdir()
        (folder / "~" / "a.csv").write_text("score\n7.5\n")
        (folder / "~nobody at all.csv").write_text("score\n8.5\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.chdir(here)
    assert [scores_of(name)[0] for name in ("~/a.csv", "a.csv", "./~/a.csv", "~nobody at all.csv")] == [
        0.5,
        1.5,
        7.5,
        8.5,
    ]


# ---- what is written


def test_a_file_is_replaced_whole(tmp_path):
    """A new file has the usual permissions, an old one keeps its own, and nothing else is in the directory."""
    path, umask = tmp_path / "a.txt", os.umask(0)
    os.umask(umask)
    write_file(path, "né", "it")
    assert path.read_bytes() == "né".encode()
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask
    path.chmod(0o640)
    write_file(path, b"new", "it")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o640)
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("old", ["old", None])
def test_a_failed_write_leaves_what_was_there(tmp_path, monkeypatch, error, old):
    """On a full disk or after Ctrl-C the old file is whole, and no half of a new one is left."""
    path = tmp_path / "a.txt"
    if old is not None:
        path.write_text(old)

    def fail(_descriptor):
        raise error

    monkeypatch.setattr(paths.os, "fsync", fail)
    if isinstance(error, OSError):
        with pytest.raises(
            InputError, match=r"^it cannot be written \(No space left on device\): choose another place"
        ):
            write_file(path, "new", "it")
    else:
        with pytest.raises(KeyboardInterrupt):
            write_file(path, "new", "it")
    assert [file.read_text() for file in tmp_path.iterdir()] == ([] if old is None else [old])


@pytest.mark.skipif(os.name != "posix", reason="links and devices of POSIX")
def test_links_are_followed_and_devices_written_to(tmp_path):
    """A link stays one, also to a file that is yet to be; a pipe and a device are no files to replace."""
    for name in ("old", "new"):
        (tmp_path / f"{name} link").symlink_to(name)
    (tmp_path / "old").write_text("old")
    for name in ("old", "new"):
        write_file(tmp_path / f"{name} link", "text", "it")
        assert (tmp_path / f"{name} link").is_symlink()
        assert (tmp_path / name).read_text() == "text"
    with pytest.raises(InputError, match=r"it cannot be written \(No space left on device\)"):
        write_file(expanded("/dev/full", "it"), "text", "it")
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_file(tmp_path / "pipe", "text", "it")
    assert os.read(reader, 10) == b"text"
    os.close(reader)


def test_where_nothing_can_be_put_beside_a_file_it_is_written_in_place(tmp_path, monkeypatch):
    """A writable file in a directory that is not, or one mounted by itself, is written; a new one is an error."""
    (tmp_path / "old").write_text("old")

    def busy(*_paths):
        raise OSError(16, "Device or resource busy")

    monkeypatch.setattr(paths.os, "replace", busy)
    write_file(tmp_path / "old", "new", "it")
    with pytest.raises(InputError, match="Device or resource busy"):
        write_file(tmp_path / "other", "new", "it")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("old", "new")]


def test_a_protected_file_is_not_replaced(tmp_path, monkeypatch):
    """Though renaming would ask only the directory."""
    (tmp_path / "old").write_text("old")
    monkeypatch.setattr(paths.os, "access", lambda *_arguments: False)
    with pytest.raises(InputError, match="Permission denied"):
        write_file(tmp_path / "old", "new", "it")
    assert (tmp_path / "old").read_text() == "old"


@pytest.mark.skipif(os.name != "posix", reason="links and devices of POSIX")
def test_a_place_is_checked_without_making_or_changing_anything(tmp_path, monkeypatch):
    """New and old files, devices and what dangling links lead to are fine; the rest is refused as writing would be."""
    (tmp_path / "old").write_text("old")
    (tmp_path / "link").symlink_to("new")
    (tmp_path / "lost").symlink_to("nowhere/new")
    (tmp_path / "loop").symlink_to("loop")
    before = sorted(path.name for path in tmp_path.iterdir())
    for fine in (tmp_path / "old", tmp_path / "new", tmp_path / "link", Path(os.devnull)):
        check_place(fine, "it")
    for name, reason in [
        ("nowhere/new", "No such file"),
        ("lost", "No such file"),
        ("old/new", "Not a directory"),
        ("loop", "Too many levels"),
        (".", "Is a directory"),
        ("x" * 300, "File name too long"),
    ]:
        with pytest.raises(InputError, match=f"^it cannot be written .{reason}.*: choose another place"):
            check_place(tmp_path / name, "it")
    monkeypatch.setattr(os, "access", lambda *_: False)
    for name in ("old", "new"):
        with pytest.raises(InputError, match="Permission denied"):
            check_place(tmp_path / name, "it")
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert (tmp_path / "old").read_text() == "old"


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_one_file_is_known_by_any_of_its_names(tmp_path):
    """Links, hard links, spellings; but not two files alike, a device, or what is not there."""
    (tmp_path / "a").write_text("x")
    (tmp_path / "b").write_text("x")
    (tmp_path / "soft").symlink_to("a")
    os.link(tmp_path / "a", tmp_path / "hard")
    for name in ("a", "soft", "hard", f"../{tmp_path.name}/a"):
        assert is_same_file(tmp_path / name, tmp_path / "a")
    assert not is_same_file(tmp_path / "b", tmp_path / "a")
    assert not is_same_file(tmp_path / "none", tmp_path / "a")
    assert not is_same_file(expanded("/dev/null", "it"), expanded("/dev/null", "it"))


# ---- refusals


@pytest.mark.parametrize(
    ("content", "columns", "message"),
    [
        ("", {"scores": 0}, r"a\.csv is empty"),
        (" \n\n", {"scores": 0}, r"a\.csv is empty"),
        ("# nothing\n", {"scores": 0}, r"a\.csv has no rows"),
        ("t,score\n", {"scores": "score"}, r"a\.csv has a header but no rows"),
        (
            "t,score\n1,2\n",
            {"scores": "scor"},
            r"no column 'scor' \(for scores\): did you mean 'score'\? .*'t', 'score'",
        ),
        ("t,score\n1,2\n", {"scores": "SCORE"}, "did you mean 'score'"),
        ("t,score\n1,2\n", {"scores": "xyz"}, r"no column 'xyz' \(for scores\): the columns are 't', 'score'\."),
        ("1,2\n3,4\n", {"scores": "score"}, "has no header, so give a position from 0 to 1"),
        ("t,score\n1,2\n", {"scores": 2}, r"no column at position 2 \(for scores\): positions run from 0 to 1"),
        ("t,score\n1,2\n", {"scores": "-1"}, "no column '-1'"),
        ("t,score\n1,2\n", {"scores": -1}, "no column at position -1"),
        ("s,s\n1,2\n", {"scores": "s"}, "has 2 columns named 's': give the position"),
        ("t,score\n1,2\n\n3,oops\n", {"scores": "score"}, r"a\.csv, line 4: column 'score' has 'oops' where a number"),
        ('t,score\n"1\n",2\n3,oops\n', {"scores": "score"}, "line 4: column 'score' has 'oops'"),
        ("# c\nt,score\n1,2\n3,oops\n", {"scores": "score"}, "line 4: column 'score' has 'oops'"),
        ("t;score\n1;0,5\n", {"scores": "score"}, "has '0,5' where a number belongs: use decimal points"),
        ("1,5;2,5\n3,5;4,5\n", {"scores": 1}, "line 1: column 'column 1' has '2,5' .*: use decimal points"),
        ("e,f\ntrue,1\n1,1\n", {"truth": "e"}, "line 3: column 'e' has '1' where a number belongs"),
        ("t,score\n1,2\n3\n", {"scores": "score"}, r"a\.csv, line 3 has 1 cells where the first row has 2"),
        ("t,score\n1,2\n3,4,5\n", {"scores": "score"}, "line 3 has 3 cells where the first row has 2"),
        (b"t,score\n1,\xe9\n", {"scores": "score"}, r"a\.csv is not UTF-8 text: save it as UTF-8\.$"),
        (
            "t,größe\n1,2\n".encode("latin-1"),
            {"scores": "größe"},
            "is not UTF-8 text: in Windows-1252 its first row would read 't', 'größe'. Save it as UTF-8, as by iconv",
        ),
        ("t,größe\n1,2\n".encode("cp1252"), {"scores": 1}, "is not UTF-8 text: in Windows-1252 .*'größe'. Save it as"),
        (
            gzip.compress("# ü\nzähler\n1\n".encode("cp1252"), mtime=0),
            {"scores": "z"},
            "in Windows-1252 .* 'zähler'. Save it as",
        ),
        ("時刻,値\n1,2\n".encode("shift-jis"), {"scores": "値"}, r"a\.csv is not UTF-8 text: save it as UTF-8\.$"),
        ("t,score\n1,2\n".encode("utf-16"), {"scores": "score"}, "neither UTF-8 text nor Parquet"),
        (b"PK\x03\x04 cut off", {"scores": 0}, r"cannot be unpacked \(File is not a zip file\): check the file"),
        (b"\x1f\x8b broken", {"scores": 0}, r"a\.csv cannot be read"),
        (gzip.compress(b"score\n" + b"1\n" * 99, mtime=0)[:-12], {"scores": 0}, r"a\.csv cannot be read"),
        ('t,score\n1,"2\n', {"scores": "score"}, r"a\.csv cannot be read as delimited text"),
        (b"PAR1 and no more", {"scores": 0}, r"a\.csv cannot be read as Parquet"),
        ("id,score\na,1\n,2\n", {"series": "id"}, "line 3: column 'id' has no value: name the series"),
        ("score\n1\n", {"score": "score"}, "columns has the role 'score': it must be one of truth, scores"),
        ("score\n1\n", {}, "columns is empty"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_one_line(write, content, columns, message):
    """File, line, column, value and remedy, in one line and without a word of duckdb's advice."""
    with pytest.raises(InputError, match=message) as caught:
        read_columns(write("a.csv", content), columns=columns)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value).replace(str(write("a.csv", "")), "a.csv")) < 300


@pytest.mark.parametrize(
    ("content", "time_format", "message"),
    [
        (
            "t\n01/02/2020\n",
            None,
            r"line 2: column 't' has '01/02/2020', which is not an ISO 8601 time: .*time_format=\"%d/%m/%Y\"",
        ),
        ("01/02/2020\n", None, "line 1: column 'column 0' has '01/02/2020'"),
        (
            "t\n01.12.2024 00:00\n",
            None,
            r"'01.12.2024 00:00', which .*: give the format, as in time_format=\"%d.%m.%Y %H:%M\"",
        ),
        ("t\n2020-01-01\n2020-13-01\n", None, "line 3: column 't' has '2020-13-01', which is not an ISO 8601 time"),
        ("t\n2020-01-01\ninfinity\n", None, "line 3: column 't' has 'infinity', which is not an ISO"),
        ("t\n5\n2020-01-01\n", None, "line 3: column 't' has '2020-01-01' after numbers such as '5'"),
        ("t\n2020-01-01 00:00Z\n2020-01-01 00:00\n", None, "line 3: .* without a time zone but '2020-01-01 00:00Z'"),
        ("t\n20200131\n20200201\n", None, r"line 2: column 't' has 20200131, which is a date: .*%Y%m%d"),
        ("t\n01/02/2020\n13/14/2020\n", "%d/%m/%Y", r"line 3: column 't' has '13/14/2020', which does not match"),
        ("t\n01/02/2020\n", "%Q", "time_format='%Q' is not a format"),
        ("a,b\n1,2\n", None, "has 2 columns: name one of 'a', 'b'"),
    ],
)
def test_times_that_cannot_be_told_are_refused(write, content, time_format, message):
    """An ambiguous or broken time is an error that shows the way out, never a guess."""
    with pytest.raises(InputError, match=message):
        read_times(write("a.csv", content), time_format=time_format)


def test_a_list_of_times_may_be_empty_and_is_never_ranges(write):
    """A header without rows is a list of none; columns called start and end are two columns like others."""
    assert read_list(write("none.csv", "t\n")).values["time"].shape == (0,)
    ranges = write("ranges.csv", "start,end\n3,5\n9,9\n")
    assert read_list(ranges, "start").values["time"].tolist() == [3, 9]
    with pytest.raises(InputError, match=r"has 2 columns \('start', 'end'\): name the one with the times by --at\."):
        read_list(ranges, by="--at")
    with pytest.raises(InputError, match="line 3: column 'a' has no time: remove the row"):
        read_list(write("holes.csv", "a,b\n1,2\n,3\n"), "a")


def test_wrong_kinds_of_parquet_columns_are_refused(write):
    """Times where numbers belong and flags where times belong are named by their kind."""
    times = np.array(["2020-01-01"], dtype="datetime64[us]")
    path = write("a.parquet", parquet_bytes({"t": times, "flag": [True], "text": ["x"], "list": [[1]]}))
    for column, message in [
        ("t", "'t' holds TIMESTAMP values"),
        ("text", "row 1: column 'text' has 'x'"),
        ("list", "INTEGER|BIGINT"),
    ]:
        with pytest.raises(InputError, match=message):
            scores_of(path, column)
    with pytest.raises(InputError, match="'flag' holds BOOLEAN values where times belong"):
        read_times(path, "flag")


def test_a_parquet_name_that_comes_twice_is_refused(write):
    """Of two columns of one name neither is silently taken."""
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["s", "s"])
    with pytest.raises(InputError, match="2 columns named 's'"):
        scores_of(write("a.parquet", parquet_bytes(twice)), "s")


def test_paths_that_are_no_files_are_refused(tmp_path):
    """A path that is not there, and one that is a directory."""
    with pytest.raises(InputError, match=r"nowhere\.csv: there is no such file"):
        scores_of(tmp_path / "nowhere.csv")
    with pytest.raises(InputError, match="is a directory: name a file in it"):
        scores_of(tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="devices of POSIX")
def test_input_without_an_end_is_refused(write, monkeypatch):
    """Zeros at once, as they are no text; endless lines, and a small file that unpacks to much, at a limit."""
    with pytest.raises(InputError, match="/dev/zero is neither UTF-8 text nor Parquet"):
        scores_of("/dev/zero")
    monkeypatch.setattr(layout, "MOST_BYTES", 1 << 21)

    class Endless(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, buffer):
            buffer[:] = (b"1\n" * len(buffer))[: len(buffer)]
            return len(buffer)

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(Endless())))
    with pytest.raises(InputError, match="standard input does not end within 2,097,152 bytes: pass less of it"):
        scores_of("-", 0)
    with pytest.raises(InputError, match=r"a\.csv does not end within 2,097,152 bytes"):
        scores_of(write("a.csv", gzip.compress(b"1\n" * 3_000_000, mtime=0)), 0)


@pytest.mark.parametrize("stream", [None, io.StringIO("score\n1\n")])
def test_standard_input_without_bytes_is_refused(monkeypatch, stream):
    """A service has none, and it may be closed."""
    monkeypatch.setattr("sys.stdin", stream)
    with pytest.raises(InputError, match="standard input is closed: pass a file"):
        scores_of("-")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"score\n1\n2\n3\n{'x' * 3_000_000}\n", "row 4: column 'score' has 'xxx.*xxx' where a number belongs"),
        (f"score,{'x' * 200_000}\n1,2\n", "cannot be split into cells .*: shorten its longest cell"),
        (f"score\n1\n2\n3\n{'x' * 40_000_000}\n", r"line 5 is longer than 33,554,432 bytes|check its .* longest cells"),
    ],
    ids=["value", "name", "beyond the limit"],
)
def test_a_cell_of_megabytes_is_not_printed(write, content, message):
    """It is cut in the middle, or its line is named, with a remedy."""
    with pytest.raises(InputError, match=message) as caught:
        scores_of(write("a.csv", content))
    assert len(str(caught.value)) <= 1_000


def test_more_columns_than_are_read_are_counted(write):
    """A table on its side is told how it should stand, before duckdb takes minutes to look at it."""
    row = ",".join(map(str, range(100_001)))
    with pytest.raises(InputError, match="has 100,001 columns, and at most 100,000 are read: turn it around"):
        scores_of(write("a.csv", f"{row}\n{row}\n"))
    wide = ",".join(["score", *(f"c{i}" for i in range(30_000))])  # a line beyond 131,072 characters
    assert scores_of(write("b.csv", f"{wide}\n1{',0' * 30_000}\n2{',0' * 30_000}\n")).tolist() == [1, 2]


@pytest.mark.parametrize("source", [5, None, b"a.csv", "", "a\0b", "\ud800"])
def test_what_is_no_path_is_refused(source):
    """A number, nothing, bytes, an empty name or one that no system allows."""
    with pytest.raises(InputError, match="source"):
        scores_of(source)


@pytest.mark.parametrize(
    "column", [1.5, None, True, "9" * 5000, 10**5000], ids=["fraction", "nothing", "flag", "digits", "number"]
)
def test_what_is_no_column_is_refused(write, column):
    """Neither a name nor a position, or one beyond all files."""
    with pytest.raises(InputError, match="scores"):
        scores_of(write("a.csv", "t,score\n1,2\n"), column)


def test_columns_cannot_smuggle_sql(write):
    """A name full of quotes is a name like any other, in text and in Parquet."""
    evil = 'x"; DROP TABLE picked; --'
    assert scores_of(write("a.csv", '"x""; DROP TABLE picked; --",b\n1,2\n'), evil).tolist() == [1]
    assert scores_of(write("a.parquet", parquet_bytes({evil: [1, 2]})), evil).tolist() == [1, 2]


def test_the_papers_files_are_columns_without_a_header():
    """The authors' files give 2,557 rows each, the first one included."""
    if not (root := os.environ.get("NOFLUKE_DATA")):
        pytest.skip("NOFLUKE_DATA is unset: it names the directory of the data")
    counts = scores_of(f"{root}/anomaly-eval/twitter-earthquakes.dat", "0")
    np.testing.assert_array_equal(counts, np.loadtxt(f"{root}/anomaly-eval/twitter-earthquakes.dat"))
    truth = read_columns(f"{root}/anomaly-eval/earthquakes.dat", columns={"truth": 0}).values["truth"]
    assert (truth.size, truth.sum()) == (2557, 162)
    table = read_columns(
        f"{root}/nab/nab.parquet",
        columns={"series": "series", "time": "timestamp", "truth": "event", "scores": "random"},
    )
    assert len(set(table.values["series"])) == 28


@pytest.mark.parametrize(
    "style", ["%d.%m.%Y", "%d-%m-%y", "%m/%d/%Y %H:%M:%S", "%d/%m/%Y %I:%M %p", "%d.%m.%YT%H:%M:%S.%f"]
)
def test_the_format_that_is_suggested_reads_the_date(style):
    """Day and month can be told apart on the 31st."""
    written = datetime(2024, 12, 31, 23, 58).strftime(style)
    assert likely_format(written) == style
