"""Two lists of times on the command line: every option reaches the library, and what is wrong is one line."""

import json
import re
import shlex

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nofluke as nf
from nofluke.cli import FORMATS, cli
from nofluke.cli.options import STATISTICS
from nofluke.inference.coincidence import NOT_OF_LISTS
from nofluke.measures.statistics import POINT_STATISTICS
from test_docs import documented, fits, flat_keys, only_for, section, table_rows

QUAKES = ["2010-03-02", "2011-07-19", "2012-01-05", "2014-06-30"]
TWEETS = ["2011-07-18", "2010-03-01", "2011-02-11", "2012-01-04", "2013-09-09"]  # in no order
SPAN = ("2010-01-01", "2016-12-31")
STIMULI, SPIKES = [10, 40, 70], [11.5, 41, 90]
DATES = ("quakes.csv", "tweets.csv", "--tolerance", "2d", "--span", *SPAN)
NUMBERS = ("stimuli.txt", "spikes.txt", "--tolerance", "2", "--span", "0", "99")


@pytest.fixture
def run(tmp_path, monkeypatch, run):
    """Run the command in a directory with the files above; returns exit code, output and errors."""
    monkeypatch.chdir(tmp_path)
    for name, lines in {
        "quakes.csv": ["day", *QUAKES],
        "tweets.csv": ["day", *TWEETS],
        "many.csv": ["n,day,hour", *(f"{n},{day},0" for n, day in enumerate(TWEETS))],
        "stimuli.txt": STIMULI,
        "spikes.txt": SPIKES,
        "twice.txt": [*STIMULI, 40],
        "none.csv": ["day"],
        "european.csv": ["day", *("/".join(day.split("-")[::-1]) for day in QUAKES)],
        "zoned.csv": ["time", *(f"{day}T00:00:00Z" for day in QUAKES)],
        "outages.csv": ["from,to,why", "2015-02-01,2015-03-01,power", "2013-01-01,2013-01-31,move"],
        "outage.csv": ["start,end", "2014-06-30,2014-07-01"],
        "bare": ["start,end", "2014-06-30,2014-07-01"],
        "unnamed.csv": ["a,b", "2015-02-01,2015-03-01"],
    }.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    pq.write_table(pa.table({"id": [1, 2, 3, 4], "at": np.array(QUAKES, "datetime64[us]")}), "quakes.parquet")
    pq.write_table(pa.table({"at": [float(time) for time in SPIKES]}), "spikes.parquet")

    def call(*arguments, command="coincidence"):
        return run(command, *arguments)

    return call


def plain(result):
    """What a result is as JSON."""
    return json.loads(json.dumps(result.to_dict()))


def of_dates(**arguments):
    return nf.coincidence(QUAKES, TWEETS, **{"tolerance": "2d", "span": SPAN, **arguments})


def of_numbers(**arguments):
    return nf.coincidence(STIMULI, SPIKES, **{"tolerance": 2, "span": (0, 99), **arguments})


# what reaches the library

GAPS = [("2015-02-01", "2015-03-01"), ("2013-01-01", "2013-01-31")]
REPLACED = [
    (("--gaps", "outages.csv"), {"gaps": GAPS}),
    (("--gaps", "outage.csv", "--in-gaps", "drop"), {"gaps": [("2014-06-30", "2014-07-01")], "in_gaps": "drop"}),
    (("--lag", "-1d"), {"lag": "-1d"}),
    (("--edges", "interior"), {"edges": "interior"}),
    (("--leads", "events"), {"leads": "events"}),
    (("--tick", "12h"), {"tick": "12h"}),
    (("--null", "permutation"), {"null": "permutation"}),
    (("--null", "jitter:window=30d", "--seed", "5"), {"null": "jitter:window=30d", "rng": 5}),
    (
        ("--method", "montecarlo", "--resamples", "99", "--seed", "3"),
        {"method": "montecarlo", "n_resamples": 99, "rng": 3},
    ),
    (("--alternative", "two-sided", "--ties", "mid"), {"alternative": "two-sided", "ties": "mid"}),
    (("--alpha", "0.01"), {"alpha": 0.01}),
]


@pytest.mark.parametrize(("options", "arguments"), REPLACED, ids=[" ".join(options) for options, _ in REPLACED])
def test_options_reach_the_library(run_json, options, arguments):
    """The numbers are those of nofluke.coincidence."""
    found, expected = run_json(*DATES, *options), plain(of_dates(**arguments))
    # where a process ends with the call other engines are taken, which differ in the last digit
    for key in ("pvalue", "log10_pvalue"):
        assert found["precision"].pop(key) == pytest.approx(expected["precision"].pop(key))
    assert found == expected


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        (("quakes.parquet", "many.csv", "--event-time", "at", "--alarm-time", "day"), {}),
        (("quakes.parquet", "many.csv", "--event-time", "1", "--alarm-time", "1"), {}),
        (("quakes.csv", "tweets.csv"), {}),
    ],
    ids=["names", "positions", "one column"],
)
def test_columns_are_found_by_name_and_position(run_json, line, arguments):
    """CSV and Parquet alike; a file of one column needs none."""
    assert run_json(*line, *DATES[2:]) == plain(of_dates(**arguments))


@pytest.mark.parametrize("alarms", ["spikes.txt", "spikes.parquet"])
def test_numbers_are_times_in_their_own_unit(run_json, alarms):
    """So are tolerance, lag, span and tick."""
    found = run_json("stimuli.txt", alarms, *NUMBERS[2:], "--lag", "0.5", "--tick", "0.5")
    assert found == plain(of_numbers(lag=0.5, tick=0.5))
    assert (found["tick"], found["span"], found["recall"]["hits"]) == ("0.5", ["0", "99"], 2)


def test_sides_may_differ_and_be_negative(run_json):
    """As for evaluate: alarms between one and three days before."""
    found = run_json("quakes.csv", "tweets.csv", "--early", "3d", "--late", "-1d", "--span", *SPAN)
    assert found == plain(of_dates(tolerance=nf.Tolerance(early="3d", late="-1d")))
    assert found["tolerance"] == {"early": "3d", "late": "-1d"}
    follow = run_json("stimuli.txt", "spikes.txt", "--late", "1.5", "--span", "0", "99", "--leads", "events")
    assert follow == plain(of_numbers(tolerance=nf.Tolerance(early=0, late=1.5, unit="clock"), leads="events"))


def test_no_tolerance_can_have_a_lag_of_dates(run_json):
    """0 is 0 in any unit."""
    found = run_json("quakes.csv", "tweets.csv", "--tolerance", "0", "--lag", "-1d", "--span", *SPAN)
    assert found == plain(of_dates(tolerance=0, lag="-1d"))
    assert found["recall"]["hits"] == 3


@pytest.mark.parametrize("span", [("01/01/2010", "31/12/2016"), SPAN])
def test_a_format_is_for_files_and_span(run_json, span):
    """The span may be in it or in ISO 8601, and its last day belongs to it."""
    options = ("--tolerance", "2d", "--time-format", "%d/%m/%Y", "--span", *span)
    found = run_json("european.csv", "european.csv", *options)
    assert found == plain(nf.coincidence(QUAKES, QUAKES, tolerance="2d", span=SPAN))


def test_the_last_day_of_a_span_is_whole_with_hours_too(run_json):
    """A day without a time of day is all of that day; with one it ends there."""
    found = run_json("quakes.csv", "tweets.csv", "--tolerance", "12h", "--span", *SPAN)
    assert found["span"][1] == "2016-12-31T12:00:00"
    found = run_json("quakes.csv", "tweets.csv", "--tolerance", "12h", "--span", SPAN[0], "2016-12-31T00:00")
    assert found["span"][1] == "2016-12-31"


def test_a_span_in_a_format_with_hours_ends_at_that_hour(run_json, tmp_path):
    """And is not taken for a whole day."""
    (tmp_path / "log.csv").write_text("t\n03.02.2020 10:00\n03.02.2020 15:00\n")
    options = ("--time-format", "%d.%m.%Y %H:%M", "--span", "03.02.2020 00:00", "04.02.2020 00:00")
    found = run_json("log.csv", "log.csv", "--tolerance", "1h", *options)
    assert found["n"] == 25


def test_zones_are_kept_apart_but_work(run_json):
    """Times with an offset need a span with one."""
    span = (f"{SPAN[0]}T00:00Z", f"{SPAN[1]}T00:00Z")
    found = run_json("zoned.csv", "zoned.csv", "--tolerance", "1d", "--span", *span)
    assert (found["recall"]["hits"], found["n"]) == (4, 2557)


def test_duplicates_count_once_or_each(run_json):
    """As is asked for; else they are an error."""
    line = ("twice.txt", *NUMBERS[1:], "--duplicates")
    assert run_json(*line, "merge")["recall"]["of"] == 3
    assert run_json(*line, "count")["recall"]["of"] == 4


def test_without_a_span_a_note_says_that_it_is_a_guess(run_json, run):
    """In every form."""
    found = run_json("stimuli.txt", "spikes.txt", "--tolerance", "2")
    assert found["span_guessed"] is True
    assert found["notes"][0].startswith("The span is a guess: from the first to the last of both lists, 10 to 90.")
    assert "Note: The span is a guess" in run("stimuli.txt", "spikes.txt", "--tolerance", "2")[1]


def test_notes_of_results_name_options(run):
    """Not arguments of the library."""
    code, out, _ = run(*DATES[:4], "--edges", "interior")
    assert code == 0
    assert "extend beyond the watched time (--edges interior)" in " ".join(out.split())


def test_notes_of_files_come_first(run_json, tmp_path):
    """What a first row was taken for is said, once for both files."""
    (tmp_path / "ambiguous.txt").write_text("0\n3\n7\n")
    found = run_json("ambiguous.txt", "ambiguous.txt", "--tolerance", "1", "--span", "0", "9")
    assert found["n_events"] == 3
    assert found["notes"][0].startswith("The first row of ambiguous.txt (0) was read as data")
    assert len(found["notes"]) == 1


def test_standard_input_is_one_of_the_lists(run_json, monkeypatch, tmp_path):
    """A dash stands for it."""
    with (tmp_path / "quakes.csv").open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert run_json("-", *DATES[1:])["recall"]["hits"] == 3


def test_output_goes_to_a_file(run, tmp_path):
    """In the form that its ending asks for, and nothing is printed."""
    assert run(*DATES, "-o", "found.json") == (0, "", "")
    assert json.loads((tmp_path / "found.json").read_text()) == plain(of_dates())


def test_a_page_is_written_beside_the_result(run, monkeypatch):
    """By the result's own report; where it lies is said apart from the result."""
    made = []
    monkeypatch.setattr(nf.Coincidence, "report", lambda self, path: made.append(self) or path)
    code, out, err = run(*DATES, "--report", "page.html", "--format", "json")
    assert (code, err) == (0, "Open page.html\n")
    assert json.loads(out) == plain(made[0])


def test_undefined_values_are_what_zero_division_says(run_json):
    """An empty list is no error: nothing can be told."""
    for word, value in (("nan", None), ("0", 0.0), ("1", 1.0)):
        found = run_json("none.csv", *DATES[1:], "--zero-division", word)
        assert (found["recall"]["value"], found["verdict"]) == (value, "cannot tell")
    assert "There are no events: recall is undefined." in found["notes"]


def test_f1_is_tested_if_asked(run_json):
    """As for evaluate."""
    assert "f1_test" not in run_json(*DATES)
    assert 0 < run_json(*DATES, "--test-f1")["f1_test"]["pvalue"] < 0.05


@pytest.mark.parametrize("form", FORMATS)
def test_other_statistics_are_told_in_every_format(run, form):
    """Each that was asked for."""
    more = (word for name in STATISTICS for word in ("--statistic", name))
    code, out, err = run(*DATES, *more, "--resamples", "99", "--seed", "1", "--format", form)
    assert (code, err) == (0, "")
    for test in (of_dates(n_resamples=99, rng=1).statistic_test(name) for name in STATISTICS):
        told = {"text": test.in_words(), "markdown": test.in_words(), "latex": f"{test.title}:"}.get(form, test.name)
        assert told in (" ".join(out.split()) if form == "text" else out)


def test_the_statistics_are_those_of_the_library(run_json):
    """Their names, and their keys as documented."""
    assert tuple(POINT_STATISTICS) == STATISTICS
    line = (*DATES, "--resamples", "99", "--seed", "1")
    keys = documented("Keys of evaluate")
    for name in STATISTICS:
        found = flat_keys({"statistics": run_json(*line, "--statistic", name)["statistics"]})
        types = {key.replace("NAME", name): kind for key, (kind, _) in keys.items()}
        assert set(found) == {key for key in types if key.startswith(f"statistics.{name}.")}
        assert all(fits(value, types[key]) for key, value in found.items())


def test_evaluate_has_the_statistics_too(run, tmp_path):
    """For steps as for times; ranges are no points."""
    truth, scores = [0, 1, 1, 0, 1, 0] * 5, [0, 0, 9, 0, 0, 0] * 5
    (tmp_path / "grid.csv").write_text("y,z\n" + "".join(f"{y},{z}\n" for y, z in zip(truth, scores, strict=True)))
    line = ("grid.csv", *shlex.split("--truth y --scores z --threshold 1 --tolerance 1 --resamples 99 --seed 1"))
    code, out, err = run(*line, "--statistic", "matching", "--format", "json", command="evaluate")
    assert (code, err) == (0, "")
    expected = nf.evaluate(truth, scores, threshold=1, tolerance=1, n_resamples=99, rng=1).statistic_test("matching")
    assert json.loads(out)["statistics"] == {"matching": json.loads(json.dumps(expected.to_dict()))}
    code, out, err = run(*line, "--statistic", "sttc", "--count-events", "ranges", command="evaluate")
    assert (code, out, err.count("\n")) == (2, "", 1)


# many windows


def test_several_windows_make_a_sweep(run_json):
    """Each tolerance with each lag, by nofluke.sweep_tolerances."""
    found = run_json(*DATES, "--tolerance", "0", "--lag", "0", "--lag", "-1d")
    swept = nf.sweep_tolerances(QUAKES, TWEETS, tolerances=["2d", 0], lags=[0, "-1d"], span=SPAN)
    assert found == plain(swept)
    assert found["cells"]["tolerance"] == ["2d", "2d", "0", "0"]
    assert found["cells"]["lag"] == ["0", "-1d", "0", "-1d"]
    assert found["cells"]["recall_hits"] == [3, 3, 0, 3]


def test_lags_move_a_window_with_two_sides(run_json):
    """--early and --late are one tolerance."""
    line = ("quakes.csv", "tweets.csv", "--early", "1d", "--late", "0", "--lag", "0", "--lag", "-1d", "--span", *SPAN)
    assert run_json(*line)["cells"]["recall_hits"] == [3, 3]


def test_familywise_tests_the_best_window(run_json, run):
    """With the seed and the resamples that were given; for a single window too."""
    line = (*DATES, "--null", "permutation", "--resamples", "199", "--seed", "1", "--familywise")
    found = run_json(*line, "--lag", "0", "--lag", "5d")
    assert (found["familywise"]["n_resamples"], found["familywise"]["seed"]) == (199, 1)
    assert found["familywise"]["best_f"] == 1 / 200
    assert run_json(*line)["cells"]["lag"] == ["0"]
    assert "chance's best reaches it with p = 0.005" in " ".join(run(*line)[1].split())


@pytest.mark.parametrize(
    "option",
    [
        ("--gate",),
        ("--gate-on", "recall"),
        ("--min-f1", "0.5"),
        ("--edges", "zero"),
        ("--leads", "events"),
        ("--alpha", "0.1"),
        ("--test-f1",),
        ("--statistic", "sttc"),
        ("--zero-division", "0"),
        ("--report", "page.html"),
    ],
    ids=lambda option: option[0],
)
def test_options_of_one_window_are_refused_for_many(run, option):
    """Rather than passed over in silence."""
    code, out, err = run(*DATES, "--tolerance", "1d", *option)
    assert (code, out) == (2, "")
    assert err.startswith(
        f"nofluke: {option[0]} is for one tolerance and one lag, without --familywise: pass one of each"
    )
    assert err.count("\n") == 1


# the gate


@pytest.mark.parametrize(
    ("options", "code", "why"),
    [
        (("--gate",), 0, ""),
        (("--gate-on", "recall", "--min-precision", "0.6"), 0, ""),
        (("--min-precision", "0.7"), 1, "precision is 0.600, below 0.7."),
        (("--gate", "--alpha", "1e-6"), 3, "cannot tell. No outcome could have reached the 1e-06 level"),
        (("--gate", "--lag", "100d"), 1, "the verdict is no."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_the_gate_has_the_codes_of_evaluate(run, options, code, why):
    """0, 1, 3 and a line that says why; the result is printed all the same."""
    found, out, err = run(*DATES, *options, "--format", "csv")
    assert (found, out.count("\n")) == (code, 4)
    assert err.startswith(f"nofluke: gate: {why}") if why else err == ""


def test_the_gate_cannot_tell_without_events(run):
    """Which goes before everything."""
    code, _, err = run("none.csv", *DATES[1:], "--gate", "--min-recall", "1")
    assert (code, err) == (3, "nofluke: gate: cannot tell. There are no events: nothing could have been found.\n")


# what is wrong

WRONG = [
    (
        ("twice.txt", *NUMBERS[1:]),
        r"EVENTS has 1 time\(s\) more than once: 40: pass --duplicates merge to count each time ",
    ),
    (
        (*NUMBERS[:4], "--span", "20", "99"),
        r"EVENTS has 1 time\(s\) outside the span \(20 to 99\): 10: remove them, or pass",
    ),
    ((*NUMBERS[:4], "--span", "0", "80"), r"ALARMS has 1 time\(s\) outside the span \(0 to 80\): 90"),
    (
        (*DATES, "--gaps", "outage.csv"),
        r"EVENTS has 1 time\(s\) inside a gap, which was not watched: 2014-06-30: pass --in-gaps drop to leave ",
    ),
    ((*NUMBERS[:4], "--span", "99", "0"), "--span ends before it starts, 99 to 0: swap its ends"),
    (
        ("none.csv", "none.csv", "--tolerance", "2"),
        "EVENTS and ALARMS are both empty and there is no span: pass --span START/END",
    ),
    (("zoned.csv", *DATES[1:]), "EVENTS has a time zone but ALARMS has none: give both a time zone, or neither"),
    (
        ("zoned.csv", "zoned.csv", *DATES[2:]),
        "EVENTS has a time zone but --span has none: give both a time zone, or neither",
    ),
    (("quakes.csv", *NUMBERS[1:]), "EVENTS holds dates but ALARMS holds numbers: give both as the same kind"),
    ((*NUMBERS[:4], "--span", *SPAN), "--span holds dates but EVENTS holds numbers: give both as the same kind"),
    ((*NUMBERS, "--gaps", "outage.csv"), "--gaps holds dates but EVENTS holds numbers: give both as the same kind"),
    (
        (*DATES[:2], "--tolerance", "2"),
        '--tolerance of 2 time units does not fit times that are dates: pass a duration such as "2h"',
    ),
    (
        (*NUMBERS[:2], "--tolerance", "2h"),
        "--tolerance of 2h does not fit times that are plain numbers: pass a plain number",
    ),
    ((*DATES, "--lag", "3"), "--lag=3 does not fit the tolerance of 2d: pass a duration such as '2h'"),
    ((*DATES, "--lag", "soon"), "--lag soon is not a duration"),
    ((*DATES[:2], "--tolerance", "-2d"), "--tolerance='-2d' is negative"),
    ((*DATES[:2], "--early", "x"), "--early x is not a duration"),
    (
        (*DATES, "--statistic", "x"),
        "Invalid value for '--statistic': 'x' is not one of 'sttc', 'event-synchronisation', 'matching'",
    ),
    (DATES[:2], "name the tolerance: --tolerance LENGTH, such as 2d, or --early and --late"),
    ((*DATES, "--early", "2d"), "pass either --tolerance, or --early and --late"),
    ((*DATES, "--tick", "3"), '--tick=3 does not fit the times: pass a duration such as "1d"'),
    (
        (*DATES[:4], "--span", "2010-13-01", "2012-01-01"),
        "--span must hold numbers, booleans or dates, got text '2010-13-01'",
    ),
    (
        (*DATES[:4], "--span", "2010-01-01"),
        "--span 2010-01-01 must be two times, START/END: as in 2026-01-01/2026-03-31",
    ),
    (
        ("many.csv", *DATES[1:]),
        r"many.csv has 3 columns \('n', 'day', 'hour'\): name the one with the times by --event-time",
    ),
    (("quakes.csv", "many.csv", *DATES[2:]), r"many.csv has 3 columns .*: name the one with the times by --alarm-time"),
    ((*DATES, "--event-time", "when"), "quakes.csv has no column 'when' "),
    (
        (*DATES, "--gaps", "unnamed.csv"),
        "unnamed.csv has the columns 'a', 'b', of which none .*: call two of them start and end",
    ),
    (
        (*DATES, "--gaps", "quakes.csv"),
        "quakes.csv has the columns 'day', of which none .*: call two of them start and end",
    ),
    (
        ("european.csv", *DATES[1:]),
        "european.csv, line 2: .* not an ISO 8601 time: give the format, as in --event-time-format %d/%m/%Y",
    ),
    (("nowhere.csv", *DATES[1:]), "nowhere.csv: there is no such file: check the path"),
    (("-", "-", *DATES[2:]), "EVENTS and ALARMS are both standard input, which can be read once: pass a file for one"),
    (("-", *DATES[1:], "--gaps", "-"), "EVENTS and --gaps are both standard input"),
    ((*DATES, "-o", "tweets.csv"), "--output tweets.csv is the input tweets.csv, which it would destroy"),
    ((*DATES, "--gaps", "outages.csv", "-o", "./outages.csv"), "--output ./outages.csv is the input outages.csv"),
    ((*DATES, "--gaps", "bare", "--report", "./bare"), "--report ./bare is the input bare, which it would destroy"),
    ((*DATES, "--report", "quakes.csv"), "--report quakes.csv: --report cannot write .csv: use .html or .htm"),
    ((*DATES, "--report", "a", "-o", "./a"), "--output and --report are the same file: choose another place"),
    ((*DATES, "-o", "nodir/x"), "--output nodir/x cannot be written .No such file"),
    ((*DATES, "--null", "tides"), "--null tides must be one of 'auto', 'permutation'"),
    ((*DATES, "--resamples", "0"), "--resamples=0 must be a whole number of at least 1"),
    ((*DATES, "--alpha", "2"), "--alpha=2.0 must be between 0 and 1"),
    ((*DATES, "--min-recall", "2"), "--min-recall 2 must be between 0 and 1"),
]


@pytest.mark.parametrize(("line", "message"), WRONG, ids=[message[:40] for _, message in WRONG])
def test_what_is_wrong_is_one_line_that_names_options(run, tmp_path, line, message):
    """Exit code 2, nothing printed, and no file made."""
    before = sorted(tmp_path.iterdir())
    code, out, err = run(*line)
    assert (code, out) == (2, "")
    assert re.fullmatch(rf"nofluke: {message}.*\n", err), err
    assert sorted(tmp_path.iterdir()) == before


def test_zeros_and_ones_are_labels(run, tmp_path):
    """Which another command takes."""
    (tmp_path / "labels.csv").write_text("y\n0\n1\n0\n1\n")
    code, _, err = run("labels.csv", *NUMBERS[1:])
    assert code == 2
    assert err == "nofluke: EVENTS holds zeros and ones, not times: pass times, or labels to nofluke evaluate.\n"


# the page about it


def test_every_option_is_documented():
    """The table has the options that only this command has, with their choices; the rest are named below it."""
    text = section("reference/cli.md", "Coincidence")
    written = {cells[0].split("`")[1].split()[0]: cells[0] for cells in table_rows(text) if "`--" in cells[0]}
    options = {option.opts[-1]: option for option in cli.commands["coincidence"].params if option.opts[-1][0] == "-"}
    below = " ".join(text.split("|\n\n")[-1].split()).partition(" are those of `evaluate`")[0]
    shared = set(re.findall(r"`(--[a-z0-9-]+)`", below))
    assert set(written) | shared == set(options)
    assert not set(written) & shared
    for name, cell in written.items():
        choices = getattr(options[name].type, "choices", None)
        assert choices is None or "|".join(choices) in cell, name


@pytest.mark.parametrize(
    "options",
    [(), ("--gaps", "outages.csv", "--leads", "events"), ("--method", "montecarlo", "--seed", "1"), ("--test-f1",)],
)
def test_keys_are_documented(run_json, options):
    """Those of evaluate that lists have, and those of the table, with values of the types given there."""
    keys = {key: told for key, told in documented("Keys of evaluate").items() if key.split(".")[0] not in NOT_OF_LISTS}
    text = " ".join(section("reference/json.md", "Keys of coincidence").split())
    left = set(re.findall(r"`([a-z_]+)`", text.partition("without those of steps and scores:")[2].partition(".")[0]))
    assert left == set(NOT_OF_LISTS)
    absent = set() if "--seed" in options else only_for(keys, "Monte Carlo only")
    absent |= only_for(keys, "where it is simulated")
    absent |= set() if "--test-f1" in options else only_for(keys, "only with `--test-f1`")
    absent |= only_for(keys, "only with `--statistic`")
    keys |= documented("Keys of coincidence")
    found = flat_keys(run_json(*DATES, *options))
    assert set(found) == set(keys) - absent
    assert not {key: value for key, value in found.items() if not fits(value, keys[key][0])}


def test_keys_of_many_windows_are_documented(run_json):
    """Those of a sweep without thresholds, and the lag."""
    keys = set(documented("Keys of sweep"))
    keys -= {"count_events", "higher_is", "count_alarms", "cells.threshold", "cells.quantile", "cells.budget"}
    found = flat_keys(
        run_json(*DATES, "--lag", "0", "--lag", "1d", "--familywise", "--method", "montecarlo", "--seed", "1")
    )
    assert set(found) == keys | {"cells.lag"}
