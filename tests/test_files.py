"""Files are read as written, in order, and every refusal names file, column, value and line."""

import gzip
import io
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nofluke.errors import InputError
from nofluke.files import read_columns, read_times


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
        ("a.csv.gz", gzip.compress(b"t,score\n1,0.5\n2,-3e2\n")),
        ("no_ending", "t,score\n1,0.5\n2,-3e2\n"),
        ("a.unknown", gzip.compress(b"t score\n1 0.5\n2 -3e2\n")),
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


def test_digits_name_a_column_before_they_count_as_a_position(write):
    """A column called "1" wins over the position 1; the number 1 is always a position."""
    path = write("a.csv", "1,x\n5,6\n7,8\n")
    assert scores_of(path, "1").tolist() == [5, 7]
    assert scores_of(path, 1).tolist() == [6, 8]


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


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(allow_nan=False) | st.none(), min_size=1, max_size=30), st.sampled_from(",;\t|"))
def test_written_numbers_are_read_back_exactly(tmp_path_factory, numbers, delimiter):
    """Python's shortest decimal of any double, infinities and gaps included, comes back bit by bit."""
    path = tmp_path_factory.mktemp("numbers") / "a.csv"
    lines = [f"{i}{delimiter}{'' if z is None else repr(z)}" for i, z in enumerate(numbers)]
    path.write_text("\n".join([f"i{delimiter}score", *lines]))
    expected = np.array([np.nan if z is None else z for z in numbers])
    np.testing.assert_array_equal(scores_of(path).astype(np.float64), expected)


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
    code = f"from nofluke.files import read_times; print(read_times({str(path)!r})[0])"
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
        "float": (np.float64, [0.5, np.nan]),
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
        "import sys, nofluke.files as f; assert 'duckdb' not in sys.modules;"
        f"f.read_columns({str(path)!r}, columns=dict(time='t', scores='score', series='t'));"
        "assert not {'pandas', 'polars', 'pyarrow'} & set(sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")


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
            r"no column 'scor' \(for scores\); did you mean 'score'\? .*'t', 'score'",
        ),
        ("t,score\n1,2\n", {"scores": "SCORE"}, "did you mean 'score'"),
        ("t,score\n1,2\n", {"scores": "xyz"}, r"no column 'xyz' \(for scores\)\. The columns are 't', 'score'\."),
        ("1,2\n3,4\n", {"scores": "score"}, "has no header: give a position from 0 to 1"),
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
        (b"t,score\n1,\xe9\n", {"scores": "score"}, "not UTF-8 text"),
        ("t,score\n1,2\n".encode("utf-16"), {"scores": "score"}, "neither UTF-8 text nor Parquet"),
        (b"PK\x03\x04 a spreadsheet", {"scores": 0}, "neither UTF-8 text nor Parquet"),
        (b"\x1f\x8b broken", {"scores": 0}, r"a\.csv cannot be read"),
        (gzip.compress(b"score\n" + b"1\n" * 99)[:-12], {"scores": 0}, r"a\.csv cannot be read"),
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
            r"line 2: column 't' has '01/02/2020', no ISO 8601 time: .*--time-format \"%d/%m/%Y\"",
        ),
        ("01/02/2020\n", None, "line 1: column 'column 0' has '01/02/2020'"),
        ("t\n2020-01-01\n2020-13-01\n", None, "line 3: column 't' has '2020-13-01', no ISO 8601"),
        ("t\n2020-01-01\ninfinity\n", None, "line 3: column 't' has 'infinity', no ISO"),
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


def test_columns_cannot_smuggle_sql(write):
    """A name full of quotes is a name like any other, in text and in Parquet."""
    evil = 'x"; DROP TABLE picked; --'
    assert scores_of(write("a.csv", '"x""; DROP TABLE picked; --",b\n1,2\n'), evil).tolist() == [1]
    assert scores_of(write("a.parquet", parquet_bytes({evil: [1, 2]})), evil).tolist() == [1, 2]


def test_the_papers_files_are_columns_without_a_header():
    """The authors' files give 2,557 rows each, the first one included."""
    if not (root := os.environ.get("NOFLUKE_DATA")):
        pytest.skip("NOFLUKE_DATA is unset: it names the directory of the paper's data")
    counts = scores_of(f"{root}/anomaly-eval/twitter-earthquakes.dat", "0")
    np.testing.assert_array_equal(counts, np.loadtxt(f"{root}/anomaly-eval/twitter-earthquakes.dat"))
    truth = read_columns(f"{root}/anomaly-eval/earthquakes.dat", columns={"truth": 0}).values["truth"]
    assert (truth.size, truth.sum()) == (2557, 162)
    table = read_columns(
        f"{root}/nab/nab.parquet",
        columns={"series": "series", "time": "timestamp", "truth": "event", "scores": "random"},
    )
    assert len(set(table.values["series"])) == 28
