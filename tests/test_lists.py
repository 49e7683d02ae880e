"""Alerts and incidents in files: what is read, which rows, and that two lists and a span are as good as a fine grid."""

import gzip
import html
import json
import re
import shlex
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nofluke as nf
from nofluke.data.files import kept_rows, read_alarms, read_events, read_ranges, read_times
from nofluke.data.tables import open_table
from nofluke.errors import InputError
from nofluke.series.grid import steps_over
from nofluke.show.report.origin import Source
from nofluke.show.several import own_source

EXPORTS = Path(__file__).parent.parent / "docs" / "howto" / "exports"
ALERTS = (
    "rule,severity,team,start,end,note\n"
    "cpu,1,web,2026-01-01 10:00,2026-01-01 10:10,x\n"
    "cpu,3,db,2026-01-02 10:00,,y\n"
    "disk,2,web,2026-01-03 10:00,2026-01-03 11:00,\n"
)


# ---- exports

LATENCY = [("01T10:00", "01T10:04"), ("02T01:00", "02T01:03"), ("01T10:02", "01T10:05")]
INCIDENTS = [("01T10:02", "01T10:40"), ("01T15:00", "01T16:30"), ("02T01:01", "02T01:25")]


@pytest.mark.parametrize(
    ("name", "expected", "columns"),
    [
        ("prometheus.json", [*LATENCY, ("01T23:20", "01T23:22")], {"alertname", "instance", "severity"}),
        ("prometheus.csv", [*LATENCY, ("01T23:20", "01T23:22")], {"alertname", "instance", "severity"}),
        ("alertmanager.json", [("02T01:00", None), ("01T23:20", None)], {"alertname", "instance", "severity", "state"}),
        ("webhook.jsonl", [("01T10:00", "01T10:05"), ("01T23:20", None)], {"alertname", "severity", "state"}),
        ("pagerduty.csv", INCIDENTS, {"urgency", "service_name"}),
        ("pagerduty.json", INCIDENTS, {"urgency", "service", "title"}),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_exports_are_ranges_with_labels_as_columns(name, expected, columns, packed, tmp_path):
    """What fires has no end; pending is no alarm; an alert that is reported twice is one; all of it gzipped, too."""
    path = EXPORTS / name
    if packed:
        path = tmp_path / f"{name}.gz"
        path.write_bytes(gzip.compress((EXPORTS / name).read_bytes()))
    found = read_alarms(path)
    times = [np.datetime64("NaT") if t is None else np.datetime64(f"2026-01-{t}") for pair in expected for t in pair]
    both = np.stack([found.starts, found.ends], axis=1).ravel()
    assert np.array_equal(both, np.array(times), equal_nan=True)
    assert found.aware
    with open_table(path, [], None, alerts=True) as table:
        assert columns <= set(table.names)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be read as JSON"),
        ("[" * 100_000, "cannot be read as JSON"),
        ('{"a": 1}', "item 0 has neither 'startsAt', 'created_at' nor 'metric'"),
        ("[1, 2]", "item 0 has neither"),
        ('{"data": {"result": [{"metric": {}, "values": [7]}]}}', "not pairs of a time and a number"),
        ('{"data": {"result": [{"metric": {}, "values": [[1, "x"]]}]}}', "not pairs of a time and a number"),
        ('{"data": {"result": [{"metric": {}}]}}', "not pairs of a time and a number"),
        ("time,alertname,alertstate\nyesterday,a,firing\n", "line 2: 'yesterday' is neither an ISO 8601 time"),
    ],
)
def test_what_is_no_export_is_one_line(text, message, tmp_path):
    """It names the file and what is wrong in it."""
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_alarms(path)


def test_an_export_without_alerts_is_an_empty_list(tmp_path):
    """No alert is an answer, too."""
    path = tmp_path / "x.json"
    path.write_text('{"status": "success", "data": {"resultType": "matrix", "result": []}}')
    assert len(read_alarms(path)) == 0


# ---- conditions on rows

HOSTILE = (
    "severity <= 2; DROP TABLE picked",
    "severity <= 2) OR (1 = 1",
    "(SELECT count(*) FROM picked) > 1",
    "severity IN (SELECT 1)",
    "EXISTS (FROM '/etc/passwd')",
    "severity <= 2 FROM read_csv('/etc/passwd')",
    "read_text('/etc/passwd') = ''",
    "content LIKE '%' FROM read_blob('/etc/passwd')",
    "glob('/*') = ''",
    "getenv('HOME') = 'x'",
    "current_setting('threads') = '1'",
    "getvariable('x') = 1",
    "query('SELECT 1') = 1",
    "nextval('s') = 1",
    "pg_read_file('x') = ''",
    "main.lower(team) = 'db'",
    "sum(severity) > 1",
    "count(*) > 1",
    "count(*) FILTER (severity > 1) > 1",
    "row_number() OVER () > 1",
    "lower(team) OVER () = 'db'",
    "severity <= 2 LIMIT 1",
    "severity <= 2 ORDER BY 1",
    "severity <= 2 WHERE true",
    "severity <= 2 GROUP BY 1",
    "severity <= 2 USING SAMPLE 1",
    "DISTINCT severity <= 2",
    "severity <= 2 UNION SELECT true",
    "severity <= 2 AS x",
    "severity <= 2, true",
    "*",
    "COLUMNS('.*') = 1",
    "picked.severity = 1",
    "severity = ?",
    "severity = $1",
    "list_transform([1], x -> x)[1] = 1",
    "severity::STRUCT(a INT) = 1",
    "rowid = 0",
    "random() < 0.5",
    "now() > start",
    "repeat('x', 1000000000) = ''",
    "error('x')",
    "install_extension('httpfs')",
    "severity",
    "1",
    "",
    "-- nothing",
    "/*",
    "'",
    "nope = 1",
    "severity <= 'high'",
    "a" * 3_000,
    " AND ".join(["true"] * 200),
)


@pytest.fixture
def alerts(tmp_path):
    path = tmp_path / "alerts.csv"
    path.write_text(ALERTS)
    return path


@pytest.mark.parametrize("condition", HOSTILE[:-1])
def test_what_is_not_one_condition_is_refused(condition, alerts):
    """With the option, the value and the remedy, in one line of a moderate length."""
    with pytest.raises(InputError) as refused:
        read_alarms(alerts, where=condition)
    assert refused.value.argument == "where"
    assert str(refused.value).startswith("where=")
    assert len(str(refused.value)) < 600
    assert alerts.read_text() == ALERTS


@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        ("severity <= 2", [0, 2]),
        ("SEVERITY <= 2 -- and nothing else", [0, 2]),
        ("NOT severity <= 2", [1]),
        ("team = 'web' AND note IS NOT NULL", [0]),
        ("note = 'x' OR note <> 'x'", [0, 1]),  # unknown is not true
        ("start >= '2026-01-02' AND \"end\" IS NULL", [1]),
        ("rule LIKE 'c%' AND lower(team) IN ('db', 'web')", [0, 1]),
        ("severity BETWEEN 2 AND 3", [1, 2]),
        ("date_part('hour', start) = 10 AND start::DATE = DATE '2026-01-03'", [2]),
        ("CASE WHEN rule = 'disk' THEN severity > 1 ELSE false END", [2]),
        ("regexp_matches(rule, '^d') OR coalesce(note, '') = 'y'", [1, 2]),
        (HOSTILE[-1], [0, 1, 2]),
    ],
)
def test_a_condition_keeps_the_rows_for_which_it_is_true(condition, rows, alerts):
    """The same rows that someone would pick by hand, with as many in the note."""
    found = read_events(alerts, where=(condition, "where"), open_ends=True)
    assert np.flatnonzero(np.isin(read_alarms(alerts).starts, found.values["start"])).tolist() == rows
    assert found.notes[-1].startswith(f"{len(rows)} of the 3 rows of ")


def test_errors_count_the_rows_of_the_file_and_not_those_that_are_kept(alerts):
    """The second of those that are kept is on line 4."""
    alerts.write_text(ALERTS.replace("2026-01-03 10:00", ""))
    with pytest.raises(InputError, match="line 4: column 'start' has no start"):
        read_ranges(alerts, where="team = 'web'")
    assert len(read_times(alerts, "start", where="team = 'db'")) == 1


def test_the_connection_has_lost_its_access_before_a_condition_is_looked_at(alerts):
    """Whatever the lists of harmless parts have missed could read no file, and could not ask for access again."""
    import duckdb

    with open_table(alerts, [], None, alone=True) as table:
        table.load(list(range(len(table.names))))
        kept_rows(table, "severity <= 2", "where")
        for query in (
            f"FROM read_csv('{alerts}')",
            "SET enable_external_access = true",
            "LOAD httpfs",
            "INSTALL httpfs",
        ):
            with pytest.raises(duckdb.Error):
                table.connection.execute(query).fetchall()


@given(st.text(max_size=30) | st.lists(st.sampled_from(" ".join(HOSTILE[:40]).split()), max_size=8).map(" ".join))
@settings(max_examples=25)
def test_any_text_is_a_condition_or_an_error_of_ours(tmp_path_factory, text):
    """Nothing else is raised, whatever is typed."""
    path = tmp_path_factory.mktemp("rows") / "alerts.csv"
    path.write_text(ALERTS)
    with suppress(InputError):
        assert len(read_alarms(path, where=text)) <= 3


# ---- two lists and a span

DAY0 = np.datetime64("2026-01-01T00:00")


def lists(seed, days, n, m):
    """Starts and ends of incidents and alerts, in minutes: some alerts follow incidents; neither overlap themselves."""
    rng = np.random.default_rng(seed)
    starts = np.sort(rng.choice(days * 24 - 2, n, replace=False)) * 60 + rng.integers(0, 20, n)
    ends = starts + rng.integers(0, 35, n)
    fired = np.unique(np.concatenate([starts[: n // 2] + rng.integers(-15, 40, n // 2), rng.choice(days * 1400, m)]))
    fired = fired[fired >= 0]
    fired = fired[np.diff(fired, prepend=-100) > 12]
    return starts, ends, fired, fired + rng.integers(0, 10, len(fired))


def written(path, starts, ends, **more):
    rows = zip(*(DAY0 + side for side in (starts, ends)), *more.values(), strict=True)
    path.write_text("\n".join([",".join(["start", "end", *more]), *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("tolerance", [{"tolerance": "10min"}, {"early": "30min", "late": "0min"}])
def test_two_files_and_a_span_are_as_good_as_labels_on_a_minute_grid(seed, tolerance, tmp_path, run):
    """Hits by brute force over pairs of ranges; laws and verdict those of 0/1 labels of every minute."""
    days = 20
    starts, ends, fired, cleared = lists(seed, days, 14, 20)
    incidents, alerts = (
        written(tmp_path / "incidents.csv", starts, ends),
        written(tmp_path / "alerts.csv", fired, cleared),
    )
    options = [word for name, value in tolerance.items() for word in (f"--{name}", value)]
    span = ("--span", "2026-01-01/2026-01-20")
    code, out, err = run(
        "evaluate",
        "--predictions-file",
        alerts,
        "--truth-file",
        incidents,
        *span,
        *options,
        "--format",
        "json",
        "--seed",
        1,
    )
    assert code == 0, err
    found = json.loads(out)
    early, late = (
        (10, 10)
        if "tolerance" in tolerance
        else (int(tolerance[side].removesuffix("min")) for side in ("early", "late"))
    )
    near = [
        [start - early <= b and a <= end + late for start, end in zip(starts, ends, strict=True)]
        for a, b in zip(fired, cleared, strict=True)
    ]
    assert found["recall"]["hits"] == np.any(near, axis=0).sum()
    assert found["precision"]["hits"] == np.any(near, axis=1).sum()
    assert (found["n"], found["n_events"], found["n_predictions"]) == (days * 1440, len(starts), len(fired))
    truth, alarms = np.zeros((2, days * 1440), dtype=int)
    for flags, begin, end in ((truth, starts, ends), (alarms, fired, cleared)):
        for a, b in zip(begin, end, strict=True):
            flags[a : b + 1] = 1
    times = DAY0 + np.arange(days * 1440)
    window = tolerance.get("tolerance") or nf.Tolerance(**tolerance)
    how = {"count_events": "ranges", "count_alarms": "episodes", "tolerance": window, "rng": 1}
    grid = nf.evaluate(truth, predictions=alarms, times=times, **how).to_dict()
    for key in ("precision", "recall", "f1", "verdict", "null", "false_alarms", "delay", "intervals"):
        assert found[key] == grid[key], key


@pytest.mark.parametrize(("seed", "tick", "step"), [(0, (), "1min"), (1, (), "1min"), (2, ("--tick", "1s"), "1s")])
def test_points_and_a_span_are_what_coincidence_says(seed, tick, step, tmp_path, run):
    """Without ranges the grid gives way to ticks: counts and p-values of both commands are the same."""
    starts, _, fired, _ = lists(seed, 20, 14, 20)
    paths = []
    for name, at in (("events", starts), ("alarms", fired)):
        paths.append(tmp_path / f"{name}.csv")
        seconds = (DAY0 + at).astype("datetime64[s]") + (13 if name == "alarms" else 0)
        paths[-1].write_text("\n".join(["time", *map(str, seconds)]) + "\n")
    how = ("--span", "2026-01-01", "2026-01-20", "--tolerance", "10min", "--null", "permutation", "--format", "json")
    one = run("coincidence", *paths, *how, *tick)
    other = run("evaluate", "--truth-file", paths[0], "--predictions-file", paths[1], *how, "--step", step)
    assert (one[0], other[0]) == (0, 0), one[2] + other[2]
    one, other = (json.loads(told[1]) for told in (one, other))
    for measure in ("precision", "recall"):
        for key in ("hits", "of", "pvalue", "expected", "std", "method"):
            assert one[measure][key] == other[measure][key], key


def test_coincidence_of_ranges_is_their_evaluation():
    """In Python and with a lag: the window is that of evaluate, moved."""
    starts, ends, fired, cleared = lists(1, 20, 14, 20)
    incidents, alerts = ([*zip(DAY0 + a, DAY0 + b, strict=True)] for a, b in ((starts, ends), (fired, cleared)))
    times = DAY0 + np.arange(20 * 1440)
    found = nf.coincidence(incidents, alerts, tolerance="10min", lag="-5min", span=("2026-01-01", "2026-01-20"), rng=0)
    same = nf.evaluate(
        incidents,
        predictions=alerts,
        times=times,
        tolerance=nf.Tolerance(early="15min", late="5min"),
        count_alarms="episodes",
        rng=0,
    )
    assert found.to_dict() == same.to_dict()
    points = nf.coincidence(DAY0 + starts, alerts, tolerance="10min", span=("2026-01-01", "2026-01-20"), rng=0)
    assert points.n_events == 14
    assert nf.coincidence([(3, 5), (20, 25)], [4, 50], tolerance=1, span=(0, 99)).recall_hits == 1
    gaps = [("2026-01-05T00:00", "2026-01-05T23:59")]
    less = nf.coincidence(DAY0 + starts[:2], alerts[:2], tolerance="5min", span=("2026-01-01", "2026-01-20"), gaps=gaps)
    assert less.n == 19 * 1440


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({}, "ranges need to know when anybody watched: pass span="),
        ({"span": (0, 99), "edges": "interior"}, "edges='interior' is for lists of times without ranges"),
        ({"span": (0, 99), "duplicates": "count"}, "duplicates='count' is for lists of times without ranges"),
        ({"span": (99, 0)}, "span=.* ends before it starts"),
        ({"span": (0, 4)}, r"events has 1 range\(s\) outside the clock"),
        ({"span": (0, 30)}, r"alarms has 1 range\(s\) outside the clock"),
    ],
)
def test_ranges_of_coincidence_that_cannot_be_judged(more, message):
    """The error names the argument."""
    with pytest.raises(InputError, match=message):
        nf.coincidence([(3, 5), (20, 25)], [(4, 6), (50, 51)], tolerance=1, **more)
    with pytest.raises(InputError, match="events holds pairs, which are ranges"):
        nf.sweep_tolerances([(3, 5), (20, 25)], [4, 6], tolerances=[1, 2], span=(0, 99))


# ---- the grid


def test_steps_are_as_long_as_times_and_tolerance_allow():
    """A day for days, a minute for minutes; a finer tolerance makes them finer, and too many make them coarser."""
    tolerance = (nf.Tolerance(early="90s", late="90s"),)
    span, day = ("2026-01-01", "2026-01-30"), [("2026-01-03", "2026-01-04")]
    for lists_, more, n in (
        ((day, day), {}, 30),
        ((day, ["2026-01-05T10:07"]), {}, 30 * 1440),
        ((day, day), {"tolerances": tolerance}, 30 * 86_400),
        ((day, ["2026-01-05T10:07:01"]), {}, 30 * 8_640),
        ((day, ["2026-01-05T10:07:01"]), {"step": "1s"}, 30 * 86_400),
        (([(3, 5)], [7, 8]), {}, 100),
        (([(3, 5)], [7, 8]), {"step": 0.5}, 199),
    ):
        found = steps_over((0, 99) if n in (100, 199) else span, *lists_, **more)
        if n == 30 * 86_400 and "step" not in more:
            n = 30 * 8_640  # 2.6 million seconds are more than a million
        assert len(found.times) == n
        assert bool(found.notes) is (n == 30 * 8_640)


def test_what_lies_outside_the_span_is_left_out_and_counted():
    """But not all of it: then the span is wrong."""
    incidents = [("2026-01-03", "2026-01-04"), ("2026-02-03", "2026-02-04"), ("2025-12-30", "2026-01-01")]
    found = steps_over(("2026-01-01", "2026-01-30"), incidents, ["2026-01-09", "2027-01-01"])
    assert (len(found.events), len(found.alarms)) == (2, 1)
    assert found.notes == (
        "1 of the 3 events lie outside the span and were left out.",
        "1 of the 2 alarms lie outside the span and were left out.",
    )
    with pytest.raises(InputError, match="span holds none of the 3 events in truth: check its ends"):
        steps_over(("2024-01-01", "2024-01-30"), incidents, ["2024-01-09"])


def test_an_alarm_without_an_end_lasts_to_the_end():
    """Of the steps, or of the clock; and one between two steps is on the step before it."""
    for clock in (None, DAY0 + np.arange(10), np.arange(10) * 5.0):
        at = (lambda step: step) if clock is None else (lambda step, clock=clock: clock[step])
        missing = None if clock is None or clock.dtype.kind == "M" else np.nan
        how = {"n_steps": 10} if clock is None else {"times": clock, "truth_as": "times"}
        result = nf.evaluate([(at(8), at(9))], predictions=[(at(2), at(3)), (at(7), missing)], **how)
        assert np.flatnonzero(result.sequence.predictions).tolist() == [2, 3, 7, 8, 9]
        assert "1 range(s) of alarms have no end: they last to the end of the series." in result.notes
    short = [(DAY0.astype("M8[s]") + 130, DAY0.astype("M8[s]") + 150)]
    result = nf.evaluate([(DAY0, DAY0 + 1)], predictions=short, times=DAY0 + np.arange(10))
    assert np.flatnonzero(result.sequence.predictions).tolist() == [2]


# ---- the commands


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Incidents, alerts of three rules, and metrics with missing minutes, in the working directory."""
    monkeypatch.chdir(tmp_path)
    starts, ends, fired, cleared = lists(4, 20, 14, 30)
    written(tmp_path / "incidents.csv", starts, ends, severity=np.arange(14) % 3)
    rules = np.array(["cpu", "disk", "net 'x'"])[np.arange(len(fired)) % 3]
    written(tmp_path / "alerts.csv", fired, cleared, rule=rules)
    minutes = np.delete(np.arange(20 * 1440), np.arange(3_000, 3_100))
    rows = [f"{DAY0 + m},{m % 97}" for m in minutes]
    (tmp_path / "metrics.csv").write_text("\n".join(["time,z", *rows]) + "\n")
    return starts, ends, fired, cleared, rules


LISTS = ("--predictions-file", "alerts.csv", "--truth-file", "incidents.csv", "--tolerance", "10min")
SPAN = ("--span", "2026-01-01/2026-01-20")


def test_each_value_of_a_column_is_a_detector(files, run):
    """compare counts what evaluate counts with a condition; evaluate takes one of them, or says what to use."""
    code, out, err = run("compare", *LISTS, *SPAN, "--by", "rule", "--format", "json")
    assert code == 0, err
    rules = files[-1]
    found = json.loads(out)["detectors"]
    assert {one["name"] for one in found} == set(rules)
    for one in found:
        where = "rule = '{}'".format(one["name"].replace("'", "''"))
        code, out, err = run("evaluate", *LISTS, *SPAN, "--where", where, "--format", "json")
        assert code == 0, err
        alone = json.loads(out)
        assert alone["n_predictions"] == one["n_predictions"] == (rules == one["name"]).sum()
        assert alone["precision"]["hits"] == one["precision_hits"]
    code, _, err = run("evaluate", *LISTS, *SPAN, "--by", "rule")
    assert (code, "--by found 3 detectors ('cpu', 'disk'" in err, "nofluke compare" in err) == (2, True, True)
    assert run("evaluate", *LISTS, *SPAN, "--by", "rule", "--where", "rule = 'cpu'")[0] == 0
    code, _, err = run("compare", *LISTS, *SPAN, "--by", "rule", "--where", "rule = 'cpu'")
    assert (code, "--by found one detector, 'cpu': judge it by nofluke evaluate" in err) == (2, True)


@pytest.mark.usefixtures("files")
def test_metrics_with_missing_minutes_are_the_clock(run):
    """What was not measured was not watched; scores can be compared with alerts."""
    how = ("metrics.csv", "--time", "time", *LISTS)
    code, out, err = run("evaluate", *how, "--format", "json")
    assert code == 0, err
    found = json.loads(out)
    assert found["n"] == 20 * 1440 - 100
    assert any("gap in the times" in note for note in found["notes"])
    code, out, err = run("compare", *how, "--scores", "z", "--budget", "1%", "--format", "json")
    assert code == 0, err
    assert {one["name"] for one in json.loads(out)["detectors"]} == {"alerts", "z"}
    for command, more in (("diagnose", ()), ("significance", ("--metric", "range-f1", "--resamples", "19"))):
        words = [word for word in how if command == "diagnose" or word not in ("--tolerance", "10min")]
        code, _, err = run(command, *words, *more)
        assert code == 0, err
        assert run(command, *words[3:], *SPAN, *more)[0] == 0


WRONG = (
    (LISTS, "there is no FILE with a clock: say when anybody watched by --span START/END"),
    ((*LISTS[:2], *SPAN), "name the labels|there is no FILE with labels"),
    ((*LISTS, *SPAN, "--time", "time"), "--time names a column of FILE, which is missing: name FILE too"),
    (("metrics.csv", "--time", "time", *LISTS, *SPAN), "--span is for lists without FILE"),
    (("metrics.csv", "--time", "time", *LISTS, "--step", "1s"), "--step is for lists without FILE"),
    ((*LISTS, "--span", "2026-01-01"), "--span 2026-01-01 must be two times, START/END"),
    ((*LISTS, "--span", "2026-01-20/2026-01-01"), "--span.* ends before it starts: swap its ends"),
    ((*LISTS, "--span", "2024-01-01/2024-01-02"), "--span holds none of the 14 events in --truth-file"),
    ((*LISTS, *SPAN, "--where", "nope = 1"), "--where=nope = 1 names 'nope', but alerts.csv has no column"),
    (
        (*LISTS, *SPAN, "--truth-where", "sum(1)"),
        r"--truth-where=sum\(1\) has the function sum, which a condition may not",
    ),
    ((*LISTS, *SPAN, "--by", "nope"), "alerts.csv has no column 'nope'"),
    ((*LISTS, *SPAN, "--step", "1ns"), "--step=.* makes .* steps of the span"),
    ((*LISTS, *SPAN, "--predictions", "start", "--predictions-end", "end"), "--predictions names a column of times"),
    ((*LISTS, *SPAN, "--predictions-start", "rule", "--predictions-end", "rule"), "are both 'rule': name two columns"),
    (
        ("metrics.csv", "--time", "time", "--truth-file", "incidents.csv", "--scores", "z", "--where", "z > 1"),
        "--where is for --predictions-file: pass that, or leave it out",
    ),
)


@pytest.mark.parametrize(("words", "message"), WRONG)
@pytest.mark.usefixtures("files")
def test_what_is_missing_or_too_much_is_one_line(words, message, run):
    """With a remedy, and without a traceback."""
    code, out, err = run("evaluate", *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert re.search(message, err), err


@pytest.mark.usefixtures("files")
def test_code_on_a_page_about_lists_gives_the_same_result(run, tmp_path, monkeypatch):
    """The program that the page prints reads the same rows on the same steps."""
    pages, short = [], ("--span", "2026-01-01", "2026-01-05")
    monkeypatch.setattr(nf.Evaluation, "report", lambda self, *_, **__: pages.append(self))
    where = ("--where", "rule = 'cpu'", "--truth-where", "severity < 2")
    code, out, err = run("report", *LISTS, *short, *where, "-o", tmp_path / "one.html")
    assert code == 0, err
    page = html.unescape((tmp_path / "one.html").read_text(encoding="utf-8"))
    (program,) = re.findall(r"<pre[^>]*>(import nofluke as nf\n.*?)</pre>", page, re.DOTALL)
    exec(re.sub(r"</?span[^>]*>", "", program), {})
    (again,) = pages
    _, out, _ = run("evaluate", *LISTS, *short, *where, "--format", "json")
    assert again.to_dict()["precision"] == json.loads(out)["precision"]
    assert again.to_dict()["recall"] == json.loads(out)["recall"]


def test_the_own_page_of_a_rule_is_about_that_rule_alone():
    """Its command has a condition in place of --by, which is added to one that was there."""
    command = "nofluke report --predictions-file a.csv --where 'severity <= 2' --by rule --truth-file b.csv"
    source = Source(file=None, columns={}, command=command, predictions_file="a.csv", where="severity <= 2", by="rule")
    own = own_source(source, "it's")
    where = "(severity <= 2) AND \"rule\" = 'it''s'"
    assert (own.by, own.where, own.files) == (None, where, ("a.csv",))
    words = ["nofluke", "report", "--predictions-file", "a.csv", "--where", where, "--truth-file", "b.csv"]
    assert shlex.split(own.command) == words
    plain = replace(source, where=None, command="nofluke report --predictions-file a.csv --by rule --truth-file b.csv")
    assert shlex.split(own_source(plain, "cpu").command)[4:6] == ["--where", "\"rule\" = 'cpu'"]


def test_lists_with_a_time_zone_and_without_one_are_not_mixed(tmp_path, run, monkeypatch):
    """The error names both options; a span without one is in UTC."""
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("start,end\n2026-01-01T10:00Z,2026-01-01T10:10Z\n")
    Path("b.csv").write_text("start,end\n2026-01-01T10:05,2026-01-01T10:20\n")
    Path("c.csv").write_text("start,end\n2026-01-01T12:05+02:00,2026-01-01T12:20+02:00\n")
    how = ("--span", "2026-01-01/2026-01-02", "--tolerance", "1min")
    code, _, err = run("evaluate", "--predictions-file", "a.csv", "--truth-file", "b.csv", *how)
    assert (code, "--predictions-file has a time zone but --truth-file has none" in err) == (2, True)
    code, out, _ = run("evaluate", "--predictions-file", "a.csv", "--truth-file", "c.csv", *how, "--format", "json")
    assert (code, json.loads(out)["recall"]["hits"]) == (0, 1)
