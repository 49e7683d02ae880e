"""The command line: every command, every format, and one clear line for everything that is wrong."""

import csv
import html
import io
import json
import os
import re
import shlex
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

import nofluke as nf
from nofluke.cli import main
from nofluke.cli.printing import show
from nofluke.text.signs import VERDICTS
from nofluke.text.tables import Table

DATA = """day,label,z,alarm,hidden,second
2020-01-01,0,0.1,0,0,0
2020-01-02,1,0.9,1,0,10
2020-01-03,0,0.3,0,0,20
2020-01-04,0,0.8,1,0,30
2020-01-05,1,0.2,0,1,40
2020-01-08,0,0.4,0,0,70
"""
TRUTH, SCORES = [0, 1, 0, 0, 1, 0], [0.1, 0.9, 0.3, 0.8, 0.2, 0.4]
BASE = ("--truth", "label", "--scores", "z")
AT_HALF = (*BASE, "--threshold", "0.5")


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A small file in a directory of its own, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(DATA)
    return tmp_path


@pytest.fixture
def run(data, run):
    """The command line, beside these files."""
    return run


def fresh(*arguments, text=None, encoding="utf-8", **environment):
    """Run the command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "nofluke", *arguments],
        input=text,
        capture_output=True,
        encoding=encoding,
        timeout=120,
        env={**os.environ, **environment},
    )


# what it prints


def test_json_has_the_promised_keys_and_the_librarys_numbers(run_json):
    """The keys are an interface; the values are those of nofluke.evaluate."""
    found = run_json("evaluate", "data.csv", *AT_HALF, "--tolerance", "1")
    expected = nf.evaluate(TRUTH, SCORES, threshold=0.5, tolerance=1)
    assert found == json.loads(json.dumps(expected.to_dict()))
    plain = {key: found[key] for key in ("n", "n_events", "n_predictions", "threshold", "tolerance")}
    assert plain == {"n": 6, "n_events": 2, "n_predictions": 2, "threshold": 0.5, "tolerance": 1}
    assert {key: found["precision"][key] for key in ("value", "hits", "of")} == {"value": 1.0, "hits": 2, "of": 2}
    assert {key: found["recall"][key] for key in ("value", "hits", "of")} == {"value": 1.0, "hits": 2, "of": 2}


@pytest.mark.parametrize("threshold", ["2", "-1"])
def test_json_is_valid_where_values_are_undefined(run_json, data, threshold):
    """Undefined values are null, in evaluations and sweeps without events, with no or only predictions."""
    (data / "quiet.csv").write_text(DATA.replace(",1,0.", ",0,0."))
    options = (*BASE, "--threshold", threshold)
    found = run_json("evaluate", "quiet.csv", *options)
    assert found["recall"]["value"] is None
    assert found["f1"] is None
    assert (found["precision"]["value"] is None) is (threshold == "2")
    assert "There are no events: recall is undefined." in found["notes"]
    swept = run_json("sweep", "quiet.csv", *options, "--tolerance", "1")
    assert swept["cells"]["recall"] == [None]


@pytest.mark.parametrize(("word", "value"), [("nan", None), ("0", 0.0), ("1", 1.0)])
def test_undefined_values_are_what_zero_division_says(run_json, word, value):
    """As in scikit-learn."""
    found = run_json("evaluate", "data.csv", *BASE, "--threshold", "2", "--zero-division", word)
    assert found["precision"]["value"] == value


def test_csv_of_an_evaluation_has_full_digits(run):
    """One line a measure, numbers as they are."""
    _, out, _ = run("evaluate", "data.csv", *BASE, "--threshold", "0.3", "--format", "csv")
    rows = {row["measure"]: row for row in csv.DictReader(io.StringIO(out))}
    assert (rows["precision"]["value"], rows["precision"]["hits"], rows["precision"]["of"]) == ("0.25", "1", "4")
    assert (rows["recall"]["value"], rows["recall"]["hits"], rows["recall"]["of"]) == ("0.5", "1", "2")
    assert float(rows["f1"]["value"]) == pytest.approx(1 / 3, abs=1e-15)


def test_csv_of_a_sweep_has_a_row_for_every_cell(run, data):
    """Every distinct score at every tolerance, written to a file; nothing is printed then."""
    code, out, err = run("sweep", "data.csv", *BASE, "--tolerance", "0", "--tolerance", "2", "-o", "sweep.csv")
    assert (code, out, err) == (0, "", "")
    rows = list(csv.DictReader(io.StringIO((data / "sweep.csv").read_text())))
    expected = nf.sweep(TRUTH, SCORES, tolerances=(0, 2))
    assert [float(row["threshold"]) for row in rows] == [*expected.thresholds, *expected.thresholds]
    assert [int(row["recall_hits"]) for row in rows] == expected.recall_hits.ravel().tolist()
    assert [row["tolerance"] for row in rows] == ["0"] * 6 + ["2"] * 6


def test_the_ending_of_the_output_file_says_the_format(run, data):
    """.json, .csv, .md and .tex; --format goes before it, and any other ending means text."""
    starts = {
        "a.json": "{",
        "a.csv": "measure,",
        "a.md": "**",
        "a.tex": "% requires",
        "a.txt": "6 steps",
        "a": "6 steps",
    }
    for name, start in starts.items():
        assert run("evaluate", "data.csv", *AT_HALF, "-o", name) == (0, "", "")
        assert (data / name).read_text(encoding="utf-8").startswith(start)
    run("evaluate", "data.csv", *AT_HALF, "-o", "a.json", "--format", "csv")
    assert (data / "a.json").read_text().startswith("measure,")


def test_sweeps_take_thresholds_or_quantiles(run_json):
    """Repeated options, in any order."""
    found = run_json("sweep", "data.csv", *BASE, "--threshold", "0.8", "--threshold", "0.2")
    assert found["cells"]["threshold"] == [0.2, 0.8]
    found = run_json("sweep", "data.csv", *BASE, "--quantile", "0", "--quantile", "1")
    assert (found["cells"]["threshold"], found["cells"]["quantile"]) == ([0.1, 0.9], [0.0, 1.0])


# what it reads


def test_columns_by_position_and_files_of_every_kind(run_json, data):
    """Names or positions; CSV, TSV, Parquet, and files without a header give the same answer."""
    expected = run_json("evaluate", "data.csv", *AT_HALF, "--tolerance", "1")
    by_position = ("--truth", "1", "--scores", "2", "--threshold", "0.5", "--tolerance", "1")
    (data / "data.tsv").write_text(DATA.replace(",", "\t"))
    (data / "bare.csv").write_text(DATA.split("\n", 1)[1])
    rows = list(csv.DictReader(io.StringIO(DATA)))
    columns = {"day": [r["day"] for r in rows], "label": TRUTH, "z": SCORES}
    pq.write_table(pa.table(columns), data / "data.parquet")
    for name in ("data.csv", "data.tsv", "bare.csv", "data.parquet"):
        assert run_json("evaluate", name, *by_position) == expected


def test_standard_input_is_a_file_too(run_json, monkeypatch):
    """A dash stands for it."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(DATA.encode())))
    assert run_json("evaluate", "-", *AT_HALF)["n"] == 6


def test_alarms_masks_and_missing_values(run_json, data):
    """--predictions instead of scores; --mask and --missing leave steps out, and say so."""
    found = run_json("evaluate", "data.csv", "--truth", "label", "--predictions", "alarm", "--mask", "hidden")
    assert (found["n"], found["n_events"], found["n_predictions"], found["threshold"]) == (5, 1, 2, None)
    assert found["left_out"] == {"missing": 0, "masked": 1, "warmup": 0, "events": 1}
    (data / "gap.csv").write_text(DATA.replace("0.3", ""))
    assert run_json("evaluate", "gap.csv", *AT_HALF, "--missing", "mask")["left_out"]["missing"] == 1


def test_durations_on_a_clock_of_dates(run_json):
    """A day is a day of the clock, not a step: the 8th is three days after the 5th."""
    options = ("evaluate", "data.csv", *BASE, "--threshold", "0.4", "--time", "day")
    found = run_json(*options, "--tolerance", "1d")
    assert (found["tolerance"], found["precision"]["hits"], found["precision"]["of"]) == ("1d", 2, 3)
    assert found["delay"]["unit"] == "seconds"
    assert run_json(*options, "--tolerance", "3d")["precision"]["hits"] == 3
    found = run_json(*options, "--early", "0", "--late", "3d")
    assert (found["tolerance"], found["precision"]["hits"]) == ({"early": "0s", "late": "3d"}, 3)


def test_a_clock_of_plain_numbers(run_json):
    """--unit clock reads the tolerance in the clock's own unit, fractions included."""
    options = ("evaluate", "data.csv", *BASE, "--threshold", "0.4", "--time", "second", "--unit", "clock")
    assert run_json(*options, "--tolerance", "29.5")["precision"]["hits"] == 2
    assert run_json(*options, "--tolerance", "30")["precision"]["hits"] == 3
    assert run_json(*options, "--early", "10", "--late", "0")["tolerance"] == {"early": 10.0, "late": 0.0}


def test_asymmetric_tolerances_in_steps(run_json):
    """--early and --late; what is not given is 0."""
    options = ("evaluate", "data.csv", *AT_HALF)
    assert run_json(*options, "--early", "1")["recall"]["hits"] == 2
    assert run_json(*options, "--late", "1")["recall"]["hits"] == 1
    assert run_json(*options, "--early", "1")["tolerance"] == {"early": 1, "late": 0}
    assert run_json(*options, "--tolerance", "1.0")["tolerance"] == 1


def test_event_times_in_a_file_of_their_own(run_json, data):
    """Times against the clock, or positions where there is no clock; --truth names the column then."""
    (data / "events.csv").write_text("place,when\nA,2020-01-02\nB,2020-01-05 17:30\n")
    expected = run_json("evaluate", "data.csv", *AT_HALF, "--time", "day")
    times = ("--truth-file", "events.csv", "--truth", "when", "--scores", "z", "--threshold", "0.5", "--time", "day")
    assert run_json("evaluate", "data.csv", *times) == expected
    (data / "positions.txt").write_text("1\n4\n")
    positions = ("--truth-file", "positions.txt", "--scores", "z", "--threshold", "0.5")
    assert run_json("evaluate", "data.csv", *positions) == run_json("evaluate", "data.csv", *AT_HALF)


def test_dates_in_other_orders_need_a_format(run, run_json, data):
    """--time-format reads what is not ISO 8601, and the error without it says so."""
    days = re.sub(r"2020-01-0(\d)", r"0\1/01/2020", DATA)
    (data / "days.csv").write_text(days)
    code, _, err = run("evaluate", "days.csv", *AT_HALF, "--time", "day")
    assert code == 2
    assert "--time-format" in err
    found = run_json("evaluate", "days.csv", *AT_HALF, "--time", "day", "--time-format", "%d/%m/%Y")
    assert found["delay"]["unit"] == "seconds"


# the program itself


def test_the_demo_runs_and_says_that_its_data_is_simulated(run):
    """The main job on built-in data, with a readable answer, the same for the same seed."""
    code, out, err = run("demo")
    assert (code, err) == (0, "")
    assert out.startswith("Simulated data")
    assert "2,557 steps" in out
    assert "\x1b" not in out
    assert run("demo", "--seed", "0")[1] == out
    assert run("demo", "--seed", "1")[1] != out


def test_help_and_version(run):
    """Without a command there is help, not an error; every command has its own."""
    code, out, err = run()
    assert (code, err) == (0, "")
    assert out == run("--help")[1]
    for word in ("evaluate", "sweep", "demo"):
        assert word in out
        assert run(word, "-h")[1].startswith(f"Usage: nofluke {word}")
    assert run("--version") == (0, f"nofluke, version {nf.__version__}\n", "")


def test_a_fresh_process_prints_plain_text_to_a_pipe(data):
    """python -m nofluke, from standard input, without escape codes even where colour is asked for."""
    done = fresh("evaluate", "-", *AT_HALF, text=DATA, FORCE_COLOR="1", TERM="xterm-256color")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("6 steps, 2 events, 2 predictions (score ≥ 0.5); tolerance 0 steps")
    assert "\x1b" not in done.stdout


def test_a_fresh_process_fails_in_one_line(data):
    """No traceback reaches a user."""
    done = fresh("evaluate", "nowhere.csv", *AT_HALF)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "nofluke: nowhere.csv: there is no such file: check the path.\n"


def test_a_pipe_that_knows_no_such_letter_gets_another(data):
    """Latin 1 has no ≥: the answer comes with a ? in its place."""
    done = fresh("evaluate", "data.csv", *AT_HALF, encoding="latin-1", PYTHONIOENCODING="latin-1", PYTHONUTF8="0")
    assert (done.returncode, done.stderr) == (0, "")
    assert "(score ? 0.5)" in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX shells")
def test_a_reader_that_has_seen_enough_is_no_error(data):
    """`nofluke sweep ... | head -1` ends in silence, without an error that nobody made."""
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "nofluke", "evaluate", "data.csv", *AT_HALF],
        stdout=writer,
        stderr=subprocess.PIPE,
        cwd=data,
    )
    os.close(reader)
    os.close(writer)
    _, errors = process.communicate(timeout=120)
    assert errors == b""
    assert process.returncode == 141  # as of other tools; 1 would be the gate's


@pytest.mark.skipif(os.name != "posix", reason="redirections of POSIX shells")
@pytest.mark.parametrize(
    ("redirection", "options", "code", "error"),
    [
        (">&-", "", 2, "nofluke: standard output is closed, so the result cannot be printed: pass -o FILE.\n"),
        pytest.param(">&- 2>&-", "", 2, "", marks=pytest.mark.slow),
        (">&- 2>&-", "-o out.csv", 0, ""),
        pytest.param("2>&-", "-o out.csv", 0, "", marks=pytest.mark.slow),
        ("2>/dev/full", "--alpha 7", 2, ""),
        (">/dev/full", "", 2, "nofluke: the result cannot be printed (No space left on device): pass -o FILE.\n"),
        pytest.param("<&-", "-o out.csv", 0, "", marks=pytest.mark.slow),
    ],
)
def test_closed_and_full_streams_are_no_traceback(data, redirection, options, code, error):
    """What can be said is said in one line, and a result with a place of its own gets there."""
    command = f"'{sys.executable}' -m nofluke evaluate data.csv {' '.join(AT_HALF)} {options} {redirection}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (code, error)
    if code == 0:
        assert (data / "out.csv").read_text().startswith("measure,value,hits")


@pytest.mark.parametrize("missing", ["stderr", "stdout"])
def test_a_service_without_streams_gets_its_results(data, monkeypatch, missing):
    """sys.stderr and sys.stdout are None there: bars, notices and errors go nowhere, files get written."""
    monkeypatch.setattr(sys, missing, None)
    options = ("--quantile", "0.5", "--method", "montecarlo", "--resamples", "20", "--seed", "1")
    for command in ("evaluate", "sweep"):
        with pytest.raises(SystemExit) as stopped:
            main([command, "data.csv", *BASE, *options, "-o", "out.csv"])
        assert stopped.value.code == 0
        assert (data / "out.csv").exists()
    with pytest.raises(SystemExit) as stopped:
        main(["evaluate", "nowhere.csv", *AT_HALF])
    assert stopped.value.code == 2


# files


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
@pytest.mark.parametrize("command", ["evaluate", "sweep", "diagnose", "report"])
@pytest.mark.parametrize("name", ["data", "./data", "soft", "hard", "events"])
def test_an_input_is_never_written_over(run, data, command, name):
    """By whatever name: it is an error, and both inputs are as they were."""
    (data / "data.csv").rename(data / "data")  # without an ending, which every command writes
    (data / "events").write_text("1\n4\n")
    (data / "soft").symlink_to("data")
    os.link(data / "data", data / "hard")
    events = ("--truth-file", "events", "--scores", "z", "--threshold", "0.5")
    code, out, err = run(command, "data", *events, "-o", name)
    assert (code, out) == (2, "")
    source = "events" if name == "events" else "data"
    assert err == f"nofluke: --output {name} is the input {source}, which it would destroy: choose another place.\n"
    assert ((data / "data").read_text(), (data / "events").read_text()) == (DATA, "1\n4\n")


def test_standard_input_is_not_written_over_either(data):
    """`nofluke evaluate - -o data.csv < data.csv` would."""
    with (data / "data.csv").open() as file:
        done = subprocess.run(
            [sys.executable, "-m", "nofluke", "evaluate", "-", *AT_HALF, "-o", "data.csv"],
            stdin=file,
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert (done.returncode, (data / "data.csv").read_text()) == (2, DATA)
    assert "--output data.csv is the input -, which it would destroy" in done.stderr


def test_standard_input_is_read_once(run):
    """It cannot be both files."""
    _, _, err = run("evaluate", "-", "--truth-file", "-", "--scores", "z", "--threshold", "0.5")
    assert err.startswith("nofluke: FILE and --truth-file are both standard input, which can be read once")


@pytest.mark.skipif(os.name != "posix", reason="devices of POSIX")
def test_output_to_a_stream_adds_to_it(data):
    """-o /dev/stdout goes where standard output goes, and empties no log that >> adds to."""
    (data / "log").write_text("old\n")
    with (data / "log").open("a") as log:
        subprocess.run(
            [sys.executable, "-m", "nofluke", "evaluate", "data.csv", *AT_HALF, "--format", "csv", "-o", "/dev/stdout"],
            stdout=log,
            timeout=120,
            check=True,
        )
    assert (data / "log").read_text().startswith("old\nmeasure,value,hits")


@pytest.mark.parametrize("command", ["evaluate", "sweep", "diagnose", "report"])
def test_a_dash_as_output_is_standard_output(run, data, command):
    """As in other tools; what is printed is then the result and nothing else. A file of that name is ./-."""
    code, out, err = run(command, "data.csv", *AT_HALF, "-o", "-")
    assert (code, err) == (0, "")
    assert [path.name for path in data.iterdir()] == ["data.csv"]
    if command == "report":
        assert out.startswith("<!doctype html>")
        assert out.endswith("</html>\n")
        assert f"nofluke report data.csv {shlex.join(AT_HALF)} --output -" in html.unescape(out)
    else:
        assert run(command, "data.csv", *AT_HALF) == (0, out, "")
    assert run(command, "data.csv", *AT_HALF, "-o", "./-")[0] == 0
    assert (data / "-").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (("demo", "--report", "-"), r"--report - would be standard output: name a file \(\./- if it is called that\)"),
        (("reproduce", "-o", "-"), "--output - would be standard output: name a directory"),
        (("evaluate", "data.csv", *AT_HALF, "-o", "a\0b"), r"--output='a\\x00b' names no file: pass the path of one"),
        (("report", "data.csv", *AT_HALF, "-o", "a\0b"), r"--output='a\\x00b' names no file: pass the path of one"),
        (("demo", "--report", "a\0b"), r"--report='a\\x00b' names no file: pass the path of one"),
        (("reproduce", "-o", "a\0b"), r"--output='a\\x00b' names no file: pass the path of one"),
        (("evaluate", "a\0b", *AT_HALF), r"FILE='a\\x00b' names no file: pass the path of one"),
        (("evaluate", "\ud800", *AT_HALF), r"FILE='\\ud800' names no file: pass the path of one"),
        (("sweep", "data.csv", *AT_HALF, "-o", "nodir/x"), "--output nodir/x cannot be written .No such file"),
        (("report", "data.csv", *AT_HALF, "-o", "nodir/x"), "--output nodir/x cannot be written .No such file"),
        (("demo", "--report", "nodir/x"), "--report nodir/x cannot be written .No such file"),
        (("diagnose", "data.csv", *AT_HALF, "-o", "data.csv/x"), "--output data.csv/x cannot be written .Not a dir"),
        (("evaluate", "data.csv", *AT_HALF, "-o", "x" * 300), "--output x+ cannot be written .File name too long"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_a_place_that_cannot_be_written_is_refused_before_any_work(run, data, monkeypatch, line, message):
    """Nothing is read or computed for it, and nothing is made there."""
    for function in ("evaluate", "sweep", "diagnose"):
        monkeypatch.setattr(nf, function, lambda *_, **__: pytest.fail("computed first"))
    code, out, err = run(*line)
    assert (code, out) == (2, "")
    assert re.fullmatch(rf"nofluke: {message}.*\n", err), err
    assert [path.name for path in data.iterdir()] == ["data.csv"]


def test_a_tilde_is_the_home_also_where_no_shell_saw_it(run, data, monkeypatch):
    """In FILE, --truth-file and -o; a report may be pasted anywhere, so it keeps what was typed."""
    (data / "home").mkdir()
    (data / "data.csv").rename(data / "home" / "data.csv")
    (data / "home" / "events.txt").write_text("1\n4\n")
    monkeypatch.setenv("HOME", str(data / "home"))
    monkeypatch.setenv("USERPROFILE", str(data / "home"))
    events = ("--truth-file", "~/events.txt", "--scores", "z", "--threshold", "0.5")
    assert run("evaluate", "~/data.csv", *events, "-o", "~/out.csv") == (0, "", "")
    assert (data / "home" / "out.csv").exists()
    code, out, _ = run("report", "~/data.csv", *events, "-o", "~/out.html")
    assert (code, out.splitlines()[-1]) == (0, f"Open {data / 'home' / 'out.html'}")
    assert run("evaluate", "~/data.csv", *events, "-o", "~/data.csv")[0] == 2


def test_the_line_in_a_report_can_be_pasted_whatever_the_file_is_called(run, data):
    """A name that begins with - stands after --."""
    (data / "-o.csv").write_text(DATA)
    code, _, err = run("report", *AT_HALF, "-o", "a.html", "--", "-o.csv")
    assert (code, err) == (0, "")
    page = html.unescape((data / "a.html").read_text(encoding="utf-8"))
    line = re.search(r"nofluke report --[^<\n]*", page)[0]
    assert line.endswith(" -- -o.csv")
    first = (data / "a.html").read_bytes()
    assert run(*shlex.split(line)[1:])[0] == 0
    assert (data / "a.html").read_bytes() == first


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
@pytest.mark.slow
def test_a_report_on_a_pipe_does_not_read_it_again(data):
    """Its SHA-256 is not known; a second reading would wait for ever, or see nothing."""
    os.mkfifo(data / "pipe")
    command = [sys.executable, "-m", "nofluke", "report", "pipe", *AT_HALF, "-o", "a.html"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        (data / "pipe").write_text(DATA)
        try:
            assert process.wait(timeout=100) == 0
        finally:
            process.kill()
    assert "not known, read from a pipe" in (data / "a.html").read_text(encoding="utf-8")


def test_times_with_and_without_a_zone_are_not_compared(run, data):
    """As in the library."""
    (data / "data.csv").write_text(re.sub(r"(2020-01-0\d)", r"\1T00:00Z", DATA))
    (data / "events.txt").write_text("2020-01-02\n")
    options = ("--truth-file", "events.txt", "--scores", "z", "--threshold", "0.5", "--time", "day")
    message = "nofluke: the clock has a time zone but --truth-file has none: give both a time zone, or neither.\n"
    assert run("evaluate", "data.csv", *options) == (2, "", message)
    (data / "events.txt").write_text("2020-01-02T01:00+01:00\n")
    assert run("evaluate", "data.csv", *options)[0] == 0


@pytest.mark.parametrize("command", ["evaluate", "sweep", "diagnose"])
def test_what_the_first_row_was_taken_for_is_in_the_notes(run_json, data, command):
    """pandas writes 0,1 above columns without a name; the numbers do not include that row."""
    (data / "unnamed.csv").write_text("0,1\n" + "".join(f"{y},{z}\n" for y, z in zip(TRUTH, SCORES, strict=True)))
    found = run_json(command, "unnamed.csv", "--truth", "0", "--scores", "1", "--threshold", "0.5")
    assert found["notes"][0] == (
        "The first row of unnamed.csv (0, 1) was read as its header: if it is data, put names above it."
    )
    if command != "diagnose":
        assert found["n"] == 6


def test_notes_on_a_file_are_in_the_report(run, data):
    """For every cell of its sliders."""
    (data / "unnamed.csv").write_text("0,1\n" + "".join(f"{y},{z}\n" for y, z in zip(TRUTH, SCORES, strict=True)))
    options = ("--truth", "0", "--scores", "1", "--threshold", "0.5", "-o", "a.html")
    assert run("report", "unnamed.csv", *options)[0] == 0
    assert "was read as its header" in (data / "a.html").read_text(encoding="utf-8")


def test_whole_numbers_that_are_no_floats_are_compared_exactly(run_json, data):
    """Nanoseconds since 1970 as a clock, as times of events, and thresholds between two floats."""
    (data / "ns.csv").write_text(
        "t,e,z\n1600000000000000001,0,1\n1600000000000000301,1,2\n1600000000000000601,0,9007199254740992\n"
    )
    (data / "events.txt").write_text("1600000000000000301\n")
    clock = ("--time", "t", "--scores", "z", "--unit", "clock")
    for truth in (("--truth", "e"), ("--truth-file", "events.txt")):
        for tolerance, hits in (("1", 0), ("299", 0), ("300", 1)):
            options = (*truth, *clock, "--threshold", "9007199254740992", "--tolerance", tolerance)
            assert run_json("evaluate", "ns.csv", *options)["recall"]["hits"] == hits
    (data / "scores.csv").write_text("e,z\n0,9007199254740992\n1,9007199254740994.0\n")
    options = ("scores.csv", "--truth", "e", "--scores", "z", "--threshold", "9007199254740993")
    assert run_json("evaluate", *options)["n_predictions"] == 1
    assert run_json("sweep", *options)["cells"]["n_predictions"] == [1]


# what is wrong


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (DATA, ("--truth", "lable", "--scores", "z"), "data.csv has no column 'lable'.*did you mean 'label'"),
        (DATA, ("--truth", "label", "--scores", "9"), "data.csv has no column at position 9"),
        ("", BASE, "data.csv is empty: there is nothing to evaluate"),
        ("day,label,z\n", BASE, "data.csv has a header but no rows"),
        (DATA.replace("0.3", "high"), BASE, "data.csv, line 4: column 'z' has 'high' where a number belongs"),
        (DATA.replace("0.3", ""), BASE, r"--scores has 1 NaN at position\(s\) 2: drop them, or pass --missing mask"),
        (
            DATA.replace("0.3", "inf"),
            BASE,
            r"--scores has 1 infinite value\(s\) at position\(s\) 2: replace inf by the",
        ),
        (DATA.replace("03,0", "03,2"), BASE, r"--truth must be 0 or 1 \(or bool\), got 2 at position 2: turn them"),
        (DATA.replace("-03,", "-07,"), (*BASE, "--time", "day"), "--time must increase, but 2020-01-04 at position 3"),
        (DATA.replace("-03,", "-02,"), (*BASE, "--time", "day"), r"--time has 1 duplicate time\(s\), first 2020-01-02"),
        (DATA.replace("2020-01-03,", ","), (*BASE, "--time", "day"), r"--time has 1 missing or infinite time\(s\)"),
        (DATA.replace("0.3,0", "0.3"), BASE, "data.csv, line 4 has 5 cells where the first row has 6"),
        (DATA, (*BASE, "--mask", "z"), r"--mask must be 0 or 1 \(or bool\), got 0.1 at position 0 and 5 more"),
        (DATA, (*BASE, "--tolerance", "2h"), "tolerance of 2h is a length of time, .* pass --time COLUMN"),
        (
            DATA,
            (*BASE, "--tolerance", "2h", "--time", "second"),
            "tolerance of 2h does not fit the clock: .*--unit clock",
        ),
        (DATA, (*BASE, "--tolerance", "-1"), "--tolerance=-1 must be finite and not negative"),
        (DATA, (*BASE, "--tolerance", "1.5"), "--tolerance=1.5 must be a whole number of steps"),
        (DATA, (*BASE, "--tolerance", "2 hours"), "--tolerance='2 hours' is not a duration: write a number and a unit"),
        (
            DATA,
            (*BASE, "--unit", "clock", "--tolerance", "2", "--time", "day"),
            "2 time units does not fit the clock: a clock",
        ),
        (DATA, (*BASE, "--threshold", "inf"), "--threshold inf must be finite"),
        (DATA, (*BASE, "--threshold", "nan"), "--threshold nan must be finite"),
        (DATA, (*BASE, "--threshold", "high"), "--threshold high is not a number: write it as 2.5"),
        (DATA, (*BASE, "--format", "yaml"), "Invalid value for '--format': 'yaml' is not one of"),
        (DATA, (*BASE, "--tolerence", "1"), "No such option.*--tolerence.*--tolerance"),
        (DATA, ("--scores", "z"), "name the labels: --truth COLUMN, or --truth-file FILE"),
        (DATA, ("--truth", "label"), "name the detector's output: --scores COLUMN"),
        (
            DATA,
            (*BASE, "-o", "nowhere/out.csv"),
            "--output nowhere/out.csv cannot be written .No such file.*: choose another",
        ),
        (DATA, (*BASE, "-o", "."), r"--output \. cannot be written .Is a directory.: choose another place"),
        (DATA, (*BASE, "another.csv"), "Got unexpected extra argument .another.csv"),
        (DATA, ("--scores", "z", "--truth-file", "gone.csv"), "gone.csv: there is no such file"),
        (DATA, ("--scores", "z", "--truth-file", ""), "--truth-file='' names no file: pass the path of one"),
        (DATA, (*BASE, "-o", ""), "--output='' names no file: pass the path of one"),
        (DATA, (*BASE, "--threshold", "1e999"), "--threshold inf must be finite"),
        (DATA, ("--truth", "9" * 5000, "--scores", "z"), "data.csv has no column at position 999.*999 .for --truth"),
        (
            DATA.replace("0.3", "x" * 3_000_000),
            BASE,
            "data.csv, row 3: column 'z' has 'xxx.*xxx' where a number belongs",
        ),
    ],
)
@pytest.mark.parametrize("command", ["evaluate", "sweep"])
def test_bad_input_is_one_clear_line_and_exit_code_2(run, data, command, content, options, message):
    """Exactly one line on standard error, in the words of the command line, and nothing else anywhere."""
    (data / "data.csv").write_text(content)
    threshold = () if "--threshold" in options else ("--threshold", "0.5")
    code, out, err = run(command, "data.csv", *options, *threshold)
    assert (code, out) == (2, "")
    assert re.fullmatch(rf"nofluke: .*{message}.*\n", err), err
    assert not re.search(r"Traceback|Errno|times=|truth_as|missing=|Tolerance\(|unit=", err)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (BASE, "pass either --threshold or --quantile or --budget, got none"),
        (
            (*AT_HALF, "--quantile", "0.5"),
            "pass either --threshold or --quantile or --budget, got --threshold and --quantile",
        ),
        ((*BASE, "--quantile", "1.5"), "--quantile=1.5 must be between 0 and 1"),
        (
            (*AT_HALF, "--predictions", "alarm"),
            "name the detector's output: --scores COLUMN or --predictions COLUMN, one",
        ),
        (
            ("--truth", "label", "--predictions", "z"),
            r"--predictions must be 0 or 1 \(or bool\), got 0.1 at position 0",
        ),
        ((*AT_HALF, "--tolerance", "1", "--late", "2"), "pass either --tolerance, or --early and --late"),
        ((*AT_HALF, "--early", "x"), "--early x is not a duration"),
        ((*AT_HALF, "--late", "-3"), "--early=0 and --late=-3 leave no window"),
        (
            (*AT_HALF, "--early", "1", "--late", "2h"),
            "--early=1 and --late='2h' must both be steps or both be durations",
        ),
        (("--truth", "label", "--scores", "z", "--threshold", "1", "--zero-division", "2"), "'2' is not one of"),
    ],
)
def test_bad_settings_of_an_evaluation(run, options, message):
    """What only this command can get wrong."""
    code, out, err = run("evaluate", "data.csv", *options)
    assert (code, out) == (2, "")
    assert re.fullmatch(rf"nofluke: .*{message}.*\n", err), err


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (
            "2020-01-02\n2021-01-01\n",
            ("--time", "day"),
            r"--truth-file has 1 time\(s\) outside the clock .*: 2021-01-01: remove",
        ),
        ("2020-01-02\n", (), "events.csv holds dates, but data.csv has no clock: name its column of times by --time"),
        ("2\n9\n", (), r"--truth-file has 2 values for 6 steps, and as positions 9 lie outside 0\.\.5"),
        ("1.5\n", (), r"--truth-file must be 0/1 labels .*, got 1.5: .* pass --time COLUMN"),
        ("5\n", ("--time", "day"), "the clock shows dates but --truth-file holds numbers: give both as the same kind"),
        ("", ("--time", "day"), "events.csv is empty"),
        ("soon\nlater\n", ("--time", "day"), "events.csv, line 2: .*'later'"),
    ],
)
def test_bad_lists_of_events(run, data, content, options, message):
    """The other file is named, or the events that do not fit are listed."""
    (data / "events.csv").write_text(content)
    code, out, err = run(
        "evaluate", "data.csv", "--truth-file", "events.csv", "--scores", "z", "--threshold", "1", *options
    )
    assert (code, out) == (2, "")
    assert re.fullmatch(rf"nofluke: .*{message}.*\n", err), err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (("evaluate", *AT_HALF, "--seed", "-1"), "--seed=-1 must be a whole number of 0 or more"),
        (("sweep", *AT_HALF, "--seed", "-1"), "--seed=-1 must be a whole number of 0 or more"),
        (("report", *AT_HALF, "--seed", "-1"), "--seed=-1 must be a whole number of 0 or more"),
        (("demo", "--seed", "-1"), "--seed=-1 must be a whole number of 0 or more"),
        (("reproduce", "--simulated", "-o", "x", "--seed", "-1"), "--seed=-1 must not be negative"),
        (("reproduce", "--simulated", "-o", "x", "--permutations", "0"), "--permutations=0 must be"),
        (("evaluate", *AT_HALF, "--resamples", "0"), "--resamples=0 must be a whole number of at least 1"),
        (("sweep", *AT_HALF, "--resamples", "-5", "--familywise"), "--resamples=-5 must be a whole number"),
        (("evaluate", *AT_HALF, "--alpha", "2"), "--alpha=2.0 must be"),
        (("diagnose", *AT_HALF, "--alpha", "nan"), "--alpha=nan must be"),
        (("report", *AT_HALF, "--alpha", "0"), "--alpha=0.0 must be"),
        (("sweep", *BASE, "--quantile", "1.5"), "--quantile=1.5 must be between 0 and 1"),
        (("sweep", *BASE, "--quantile", "nan"), "--quantile must be one or more numbers without NaN, got"),
        (
            ("sweep", *AT_HALF, "--quantile", "0.5"),
            "pass either --threshold or --quantile or --budget, got --threshold and --quantile",
        ),
        (
            ("evaluate", "--truth", "label", "--predictions", "alarm", "--quantile", "0.5"),
            "--threshold, --quantile and --budget only apply to scores: leave them out with --predictions",
        ),
        (("evaluate", *AT_HALF, "--null", "x"), "--null x must be one of 'auto', 'permutation', "),
        (("evaluate", *AT_HALF, "--null", "x y"), "--null='x y' must be one of 'auto', 'permutation', "),
        (("evaluate", *AT_HALF, "--null", "blocks"), "--null blocks needs the setting length: write it as 'blocks:"),
        (
            ("evaluate", *AT_HALF, "--null", "blocks:length=0"),
            "--null blocks:length=0: length=0 must be a whole number",
        ),
        (("evaluate", *AT_HALF, "--null", "segments", "--method", "exact"), "--method exact must be one of 'auto', "),
        (
            ("evaluate", *AT_HALF, "--null", "seasonal:period=month"),
            "--null seasonal:period=month: period='month' needs a clock of dates: pass --time COLUMN, or a period in steps",
        ),
        (("diagnose", *AT_HALF, "--period", "month"), "--period month needs a clock of dates: pass --time COLUMN, or"),
        (("diagnose", *AT_HALF, "--period", "1"), "--period=1 must be a number of at least 2 steps"),
        (("evaluate", *AT_HALF, "--time", "z", "--time-format", "%Q"), "--time-format='%Q' is not a format"),
        (("evaluate", *AT_HALF, "--time", "z", "--time-format", "%Y"), ".*does not match --time-format='%Y': correct"),
        (("evaluate", *BASE, "--threshold", "1", "--mask", "second"), "--mask must be 0 or 1"),
        (("evaluate", "--truth", "z", "--scores", "z", "--threshold", "1"), "--truth must be 0 or 1"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_errors_name_the_option_in_place_of_the_argument(run, line, message):
    """Whatever the library calls it, and in every command."""
    command, *options = line
    file = () if command in ("demo", "reproduce") else ("data.csv",)
    code, out, err = run(command, *file, *options)
    assert (code, out) == (2, "")
    assert re.fullmatch(rf"nofluke: {message}.*\n", err), err


def test_advice_names_options_too(run, data):
    """Whoever reads a note in a shell can type what it says, in every format."""
    (data / "runs.csv").write_text("y,z\n" + "".join(f"{int(i % 100 < 20)},{i * 7 % 41}\n" for i in range(400)))
    words = ("evaluate", "runs.csv", "--truth", "y", "--scores", "z", "--quantile", "0.9", "--tolerance", "1")
    insisting = (*words, "--null", "permutation")
    for form in ("text", "json", "markdown"):
        told = " ".join(run(*insisting, "--format", form)[1].split())
        assert "Use --null circular-shift or --null segments." in told
    assert ": pass --quantile, --threshold, --budget or --chance.\n" in run("sweep", "runs.csv", *words[2:6])[1]


@pytest.mark.parametrize("words", [("demo", "--report", "a.html"), ("report", "data.csv", *AT_HALF)])
def test_a_missing_package_is_said_before_any_work(run, monkeypatch, words):
    """Nothing is printed or computed for a page that cannot be made."""
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setattr("nofluke.evaluate", lambda *_args, **_more: pytest.fail("evaluated"))
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err == "nofluke: a report needs jinja2, which is not installed: pip install 'nofluke[report]'.\n"


def test_files_and_columns_called_like_an_argument_keep_their_names(run, data):
    """In front of the message and in quotes."""
    (data / "seed=1.csv").write_text("alpha=1,alpha=2\n0,1\n")
    _, _, err = run("evaluate", "seed=1.csv", "--truth", "x", "--scores", "alpha=2", "--threshold", "1")
    assert err.startswith("nofluke: seed=1.csv has no column 'x' (for --truth)")
    assert "'alpha=1', 'alpha=2'" in err
    (data / "seed=1.csv").write_text("alpha=1,alpha=2\n0,b\n")
    _, _, err = run("evaluate", "seed=1.csv", "--truth", "alpha=1", "--scores", "alpha=2", "--threshold", "1")
    assert err.startswith("nofluke: seed=1.csv, line 2: column 'alpha=2' has 'b' where a number belongs")


def test_an_unknown_command_is_one_line(run):
    """So is a forgotten file."""
    assert run("evalute") == (2, "", run("evalute")[2])
    assert re.fullmatch(r"nofluke: No such command 'evalute'.*\n", run("evalute")[2])
    remedy = "name it, or two lists by --predictions-file and --truth-file, with --span START/END"
    assert run("evaluate") == (2, "", f"nofluke: Missing argument 'FILE': {remedy}.\n")


@pytest.mark.parametrize("period", ["²", "9" * 5000, "", "1e999"])
def test_a_period_that_is_no_number_is_a_word(run, period):
    """And an unknown one: ² is a digit to Python, but no number."""
    code, out, err = run("diagnose", "data.csv", *BASE, "--period", period)
    assert (code, out) == (2, "")
    assert (
        re.match("nofluke: --period=.* must be a number of steps, a duration such as '1d', or one of ", err)
        or len(period) > 1000
    )
    assert len(err) <= 1_001
    assert err.count("\n") == 1


def test_names_with_codes_for_terminals_are_shown_without(run):
    """Line breaks and escape codes of a file's name do not reach the terminal."""
    code, _, err = run("evaluate", "a\nb\x1b[31m.csv", *AT_HALF)
    assert (code, err) == (2, "nofluke: a b?[31m.csv: there is no such file: check the path.\n")


def test_want_of_memory_is_one_line(run, monkeypatch):
    """A size that memory refuses is bad input, not a fault of the program."""

    def refuse(*_args, **_options):
        raise MemoryError("Unable to allocate 7 TiB")

    monkeypatch.setattr(nf, "evaluate", refuse)
    code, out, err = run("evaluate", "data.csv", *AT_HALF)
    assert (code, out) == (2, "")
    assert err == (
        "nofluke: this takes more memory than there is (Unable to allocate 7 TiB): pass fewer --resamples, or less data.\n"
    )


def test_an_interruption_is_no_traceback(run, monkeypatch):
    """Ctrl-C ends with the exit code of shells."""

    def interrupted(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(nf, "evaluate", interrupted)
    code, out, err = run("evaluate", "data.csv", *AT_HALF)
    assert (code, out, err.strip()) == (130, "", "nofluke: stopped")


# on a terminal


def shown(table, width):
    console = Console(record=True, width=width, file=io.StringIO())
    show(table, console)
    return console.export_text()


def test_a_terminal_shows_title_table_and_notes():
    """Everything that plain text has is there, in a table with a rule."""
    table = nf.evaluate(TRUTH, SCORES, threshold=0.5).table()
    text = " ".join(shown(table, 100).split())
    for part in (table.title, *table.notes, *table.columns, *(cell for row in table.rows for cell in row)):
        assert " ".join(part.split()) in text


@pytest.mark.parametrize("width", [20, 30, 40, 60])
def test_a_narrow_terminal_cuts_no_number(width):
    """Where the table is too wide, columns continue below: a number without its end is another number."""
    table = Table(
        title="wide",
        columns=("tolerance", "threshold", "precision", "p"),
        rows=(("0 steps", "123456.789", "0.123456", "1.4e-09"), ("1 step", "", "1", "< 1e-300")),
        notes=("Note: mind the width.",),
    )
    text = shown(table, width)
    assert "…" not in text
    for cell in (cell for row in table.rows for cell in row):
        assert cell in text
    assert max(map(len, text.splitlines())) <= width


def styled(table, width=80):
    """What a terminal gets, with its codes."""
    file = io.StringIO()
    show(table, Console(width=width, file=file, force_terminal=True, color_system="standard", highlight=False))
    return file.getvalue()


def test_tables_of_sweeps_and_studies_fit_80_columns():
    """Under shorter heads, or continued below; never as one line for each cell, and long names are shortened."""
    curve = nf.sweep(TRUTH, SCORES, thresholds=[0.5], tolerances=(0, 1)).table()
    lines = shown(curve, 80).splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith(("0 steps", "1 step")) for line in lines) == 2
    long = Table(columns=("detector", "F1", "p"), rows=(("x" * 200, "0.5", "0.01"), ("y", "0.25", "0.2")))
    lines = shown(long, 80).splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.split()[1:] for line in lines if line.startswith(("xxx", "y"))] == [["0.5", "0.01"], ["0.25", "0.2"]]


def test_a_terminal_shows_verdicts_in_their_colours_and_mutes_what_cannot_be_told():
    """Green, yellow, red or grey, of a result and of rows; p-values of what cannot be told are dim."""
    for verdict, sign in VERDICTS.items():
        code = {"green": "32", "yellow": "33", "red": "31", "bright_black": "90"}[sign.terminal]
        one = Table(columns=("", "value", "p"), rows=(("recall", "1", "0.04"),), verdict=verdict, notes=("So it is.",))
        text = styled(one)
        assert f"\x1b[1;{code}m{sign.symbol} So it is." in text
        assert ("\x1b[2m0.04" in text) == (verdict == "cannot tell")
        row = styled(Table(columns=("detector", "F1 p", "verdict"), rows=(("a", "0.04", str(sign)),)))
        assert f"\x1b[1;{code}m{sign}" in row
        assert ("\x1b[2m0.04" in row) == (verdict == "cannot tell")


def test_brackets_in_text_are_text():
    """Nothing that comes from the user is taken for markup."""
    table = Table(columns=("", "[bold]"), rows=(("[red]a", "1"),), title="[/] title", notes=("[link=x]",))
    for width in (80, 5):
        text = "".join(shown(table, width).split())
        assert all(part in text for part in ("[bold]", "[red]a", "[/]title", "[link=x]"))


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals of POSIX")
def test_a_person_at_a_terminal_sees_colour(data):
    """And only there: the same command in a pipe is plain."""
    import pty

    master, slave = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {
        "TERM": "xterm-256color",
        "COLUMNS": "100",
    }
    with subprocess.Popen(
        [sys.executable, "-m", "nofluke", "evaluate", "data.csv", *AT_HALF], stdout=slave, cwd=data, env=environment
    ) as process:
        os.close(slave)
        pieces = []
        while True:
            try:
                piece = os.read(master, 4096)
            except OSError:  # how Linux says that the other end is closed
                break
            if not piece:
                break
            pieces.append(piece)
    os.close(master)
    text = b"".join(pieces).decode()
    assert process.returncode == 0
    assert "\x1b[" in text
    assert "precision" in text
