"""The command line: every command, every format, and one clear line for everything that is wrong."""

import csv
import io
import json
import os
import re
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

import nofluke as nf
from nofluke.cli import FORMATS, main
from nofluke.tables import Table
from nofluke.terminal import show

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
def run(data, capsys):
    """Run the command line in this process; returns exit code, output and errors."""

    def call(*arguments):
        with pytest.raises(SystemExit) as stopped:
            main(list(arguments))
        captured = capsys.readouterr()
        return stopped.value.code, captured.out, captured.err

    return call


@pytest.fixture
def run_json(run):
    """Run a command with --format json, and read what it prints as strictly as JSON is written."""

    def call(*arguments):
        code, out, err = run(*arguments, "--format", "json")
        assert (code, err) == (0, "")
        return json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))

    return call


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


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("command", ["evaluate", "sweep"])
def test_every_format_shows_the_same_measures(run, command, form):
    """Text, JSON, CSV, Markdown and LaTeX of both commands, without escape codes, ending in one newline."""
    code, out, err = run(command, "data.csv", *AT_HALF, "--tolerance", "1", "--format", form)
    assert (code, err) == (0, "")
    assert "\x1b" not in out
    assert out.endswith("\n")
    assert not out.endswith("\n\n")
    assert re.search("precision", out, re.IGNORECASE)
    marks = {"json": "{\n", "csv": "measure,value" if command == "evaluate" else "tolerance,threshold,"}
    marks |= {"latex": r"\begin{table}", "markdown": "**6 steps", "text": "6 steps, 2 events"}
    assert out.startswith(marks[form])


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
    starts = {"a.json": "{", "a.csv": "measure,", "a.md": "**", "a.tex": r"\begin", "a.txt": "6 steps", "a": "6 steps"}
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
    assert found["left_out"] == {"missing": 0, "masked": 1, "events": 1}
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


# what is wrong


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (DATA, ("--truth", "lable", "--scores", "z"), "data.csv has no column 'lable'.*did you mean 'label'"),
        (DATA, ("--truth", "label", "--scores", "9"), "data.csv has no column at position 9"),
        ("", BASE, "data.csv is empty: there is nothing to evaluate"),
        ("day,label,z\n", BASE, "data.csv has a header but no rows"),
        (DATA.replace("0.3", "high"), BASE, "data.csv, line 4: column 'z' has 'high' where a number belongs"),
        (DATA.replace("0.3", ""), BASE, r"scores has 1 NaN at position\(s\) 2: drop them, or pass --missing mask"),
        (DATA.replace("0.3", "inf"), BASE, r"scores has 1 infinite value\(s\) at position\(s\) 2: replace them"),
        (DATA.replace("03,0", "03,2"), BASE, r"truth must be 0 or 1 \(or bool\), got 2 at position 2: turn them"),
        (DATA.replace("-03,", "-07,"), (*BASE, "--time", "day"), "times must increase, but 2020-01-04 at position 3"),
        (DATA.replace("-03,", "-02,"), (*BASE, "--time", "day"), r"times has 1 duplicate time\(s\), first 2020-01-02"),
        (DATA.replace("2020-01-03,", ","), (*BASE, "--time", "day"), r"times has 1 missing or infinite time\(s\)"),
        (DATA.replace("0.3,0", "0.3"), BASE, "data.csv, line 4 has 5 cells where the first row has 6"),
        (DATA, (*BASE, "--mask", "z"), r"mask must be 0 or 1 \(or bool\), got 0.1 at position 0 and 5 more"),
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
        (DATA, (*BASE, "--threshold", "high"), "Invalid value for '--threshold': 'high' is not a valid float"),
        (DATA, (*BASE, "--format", "yaml"), "Invalid value for '--format': 'yaml' is not one of"),
        (DATA, (*BASE, "--tolerence", "1"), "No such option.*--tolerence.*--tolerance"),
        (DATA, ("--scores", "z"), "name the labels: --truth COLUMN, or --truth-file FILE"),
        (DATA, ("--truth", "label"), "name the detector's output: --scores COLUMN"),
        (
            DATA,
            (*BASE, "-o", "nowhere/out.csv"),
            "--output nowhere/out.csv cannot be written .No such file.*: choose another",
        ),
        (DATA, (*BASE, "-o", "."), "Invalid value for '-o' / '--output': File '.' is a directory"),
        (DATA, (*BASE, "another.csv"), "Got unexpected extra argument .another.csv"),
        (DATA, ("--scores", "z", "--truth-file", "gone.csv"), "gone.csv: there is no such file"),
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
        (BASE, "pass either threshold or quantile, got neither"),
        ((*AT_HALF, "--quantile", "0.5"), "pass either threshold or quantile, got both"),
        ((*BASE, "--quantile", "1.5"), "quantile=1.5 must be between 0 and 1"),
        (
            (*AT_HALF, "--predictions", "alarm"),
            "name the detector's output: --scores COLUMN or --predictions COLUMN, one",
        ),
        (("--truth", "label", "--predictions", "z"), r"predictions must be 0 or 1 \(or bool\), got 0.1 at position 0"),
        ((*AT_HALF, "--tolerance", "1", "--late", "2"), "pass either --tolerance, or --early and --late"),
        ((*AT_HALF, "--early", "x"), "--early='x' is not a duration"),
        ((*AT_HALF, "--late", "-3"), "--late=-3 must be finite and not negative"),
        ((*AT_HALF, "--early", "1", "--late", "2h"), "early=1 and late='2h' must both be steps or both be durations"),
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
            r"truth has 1 time\(s\) outside the clock .*: 2021-01-01: remove",
        ),
        ("2020-01-02\n", (), "events.csv holds dates, but data.csv has no clock: name its column of times by --time"),
        ("2\n9\n", (), r"truth has 2 values for 6 steps, and as positions 9 lie outside 0\.\.5"),
        ("1.5\n", (), r"truth must be 0/1 labels .*, got 1.5: .* pass --time COLUMN"),
        ("5\n", ("--time", "day"), "the clock shows dates but truth holds numbers: give both in the same kind"),
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


def test_an_unknown_command_is_one_line(run):
    """So is a forgotten file."""
    assert run("evalute") == (2, "", run("evalute")[2])
    assert re.fullmatch(r"nofluke: No such command 'evalute'.*\n", run("evalute")[2])
    assert run("evaluate") == (2, "", "nofluke: Missing argument 'FILE'.\n")


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
    """Where the table is too wide, its cells come one a line: a number without its end is another number."""
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
