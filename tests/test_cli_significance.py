"""Metrics on the command line: prints what the library says, for every option; errors name the options."""

import csv
import io
import json

import numpy as np
import pytest

import nofluke as nf
from nofluke.cli import FORMATS

N = 300
RUNS = ((0, 8), (60, 84), (150, 150), (220, 249))


def labels_and_scores():
    """Labelled runs, and scores with a memory that know a little about them."""
    labels = np.zeros(N, dtype=int)
    for start, end in RUNS:
        labels[start : end + 1] = 1
    noise = np.random.default_rng(2).standard_normal(N + 9)
    return labels, np.round(np.convolve(noise, np.ones(10) / 3, "valid") + labels, 3)


LABELS, SCORES = labels_and_scores()
ALARMS = (SCORES > 1).astype(int)
HIDDEN = np.isin(np.arange(N), [70, 71, 200])
DAYS = np.datetime64("2020-01-01") + np.arange(N)
PARTS = np.where(np.arange(N) < 140, "north", "south")
BASE = ("--truth", "label", "--scores", "z")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Data and lists of ranges in the working directory."""
    monkeypatch.chdir(tmp_path)
    rows = zip(DAYS, LABELS, SCORES, ALARMS, HIDDEN.astype(int), PARTS, strict=True)
    lines = [",".join(map(str, row)) for row in rows]
    (tmp_path / "data.csv").write_text("\n".join(["day,label,z,alarm,hidden,part", *lines]) + "\n")
    (tmp_path / "gaps.csv").write_text(
        "\n".join(
            ["label,z", *(f"{y},{'' if i == 9 else z}" for i, (y, z) in enumerate(zip(LABELS, SCORES, strict=True)))]
        )
        + "\n"
    )
    (tmp_path / "days.csv").write_text("start,end\n" + "".join(f"{DAYS[a]},{DAYS[b]}\n" for a, b in RUNS))
    (tmp_path / "steps.csv").write_text("from,to\n" + "".join(f"{a},{b}\n" for a, b in RUNS))
    (tmp_path / "places.csv").write_text("3\n17\n90\n")
    return tmp_path


@pytest.fixture
def run(folder, run):
    """The command line, beside these files."""
    return run


def plain(result):
    return json.loads(json.dumps(result.to_dict()))


def in_options(told):
    """The same, with the two pieces of advice that these cases give in the words of the command line."""
    text = json.dumps(told).replace('null=\\"circular-shift\\"', "--null circular-shift")
    return json.loads(text.replace('higher_is=\\"anomalous\\"', "--higher-is anomalous"))


# significance

CASES = {
    "scores": ("--metric auc-roc", ("auc-roc",), {}),
    "several": ("--metric auc-roc --metric nab --budget 5%", ["auc-roc", "nab"], {"budget": "5%"}),
    "settings": (
        "--metric nab:profile=low-fp --metric affiliation-f1:beta=2 --threshold 1",
        ["nab:profile=low-fp", "affiliation-f1:beta=2"],
        {"threshold": 1},
    ),
    "quantile": ("--metric affiliation-f1 --quantile 0.9", ("affiliation-f1",), {"quantile": 0.9}),
    "null": (
        "--metric auc-roc --null score-permutation --resamples 99 --seed 5 --alpha 0.1 --workers 2",
        ("auc-roc",),
        {"null": "score-permutation", "n_resamples": 99, "rng": 5, "alpha": 0.1},
    ),
    "early stopping": (
        "--metric auc-roc --null random-scores:phi=0.9 --stop-after 7 --seed 1",
        ("auc-roc",),
        {"null": "random-scores:phi=0.9", "stop_after": 7, "rng": 1},
    ),
    "alternative": ("--metric auc-roc --alternative two-sided", ("auc-roc",), {"alternative": "two-sided"}),
    "turned": ("--metric auc-roc --higher-is normal", ("auc-roc",), {"higher_is": "normal"}),
    "mask": ("--metric auc-roc --mask hidden --warmup 5%", ("auc-roc",), {"mask": HIDDEN, "warmup": "5%"}),
    "clock": ("--metric auc-roc --time day --warmup 20d", ("auc-roc",), {"times": DAYS, "warmup": "20d"}),
    "groups": ("--metric auc-roc --groups part --seed 3", ("auc-roc",), {"groups": PARTS, "rng": 3}),
}


@pytest.mark.parametrize("name", CASES)
def test_json_is_what_the_library_says(run_json, name):
    """One metric has keys of its own; several have a list, and p-values corrected for all."""
    options, metrics, how = CASES[name]
    found = run_json("significance", "data.csv", *BASE, *options.split())
    metric = metrics if isinstance(metrics, list) else metrics[0]
    assert found == in_options(plain(nf.significance(metric, LABELS, SCORES, **how)))
    assert ("metrics" in found) is isinstance(metrics, list)


def test_alarms_and_lists_of_ranges_are_read_as_evaluate_reads_them(run_json):
    """Ranges by dates or by steps, beside alarms."""
    by_label = run_json("significance", "data.csv", "--truth", "label", "--predictions", "alarm", "--metric", "nab")
    assert by_label == plain(nf.significance("nab", LABELS, predictions=ALARMS))
    alarms = ("--predictions", "alarm", "--metric", "nab")
    steps = run_json("significance", "data.csv", "--truth-file", "steps.csv", *alarms)
    days = run_json("significance", "data.csv", "--truth-file", "days.csv", "--time", "day", *alarms)
    named = run_json(
        "significance", "data.csv", "--truth-file", "steps.csv", "--truth-start", "from", "--truth-end", "to", *alarms
    )
    for found in (steps, days, named):
        assert (found["value"], found["pvalue"], found["n_ranges"]) == (by_label["value"], by_label["pvalue"], 4)


def test_missing_scores_are_left_out_where_asked(run, run_json):
    """And an error that names the option where not."""
    code, _, err = run("significance", "gaps.csv", *BASE, "--metric", "auc-roc")
    assert code == 2
    assert "--missing mask" in err
    found = run_json("significance", "gaps.csv", *BASE, "--metric", "auc-roc", "--missing", "mask")
    assert found["n"] == N - 1


def test_the_ending_of_the_output_says_the_format(run, folder):
    """As everywhere, and the place is found fit before the work."""
    assert run("significance", "data.csv", *BASE, "--metric", "auc-roc", "-o", "found.csv") == (0, "", "")
    (row,) = csv.DictReader(io.StringIO((folder / "found.csv").read_text()))
    assert float(row["value"]) == nf.significance("auc-roc", LABELS, SCORES).value
    code, _, err = run("significance", "data.csv", *BASE, "--metric", "auc-roc", "-o", "data.csv")
    assert code == 2
    assert "is the input data.csv" in err


@pytest.mark.parametrize("metrics", [("nab",), ("nab", "affiliation-f1")])
def test_notes_about_files_are_told(run_json, folder, metrics):
    """With one metric, and once with several."""
    rows = "\n".join(f"{y},{a}" for y, a in zip(LABELS, ALARMS, strict=True))
    (folder / "bare.csv").write_text(f"0,1\n{rows}\n")
    asked = [word for name in metrics for word in ("--metric", name)]
    found = run_json("significance", "bare.csv", "--truth", "0", "--predictions", "1", *asked)
    assert sum("read as" in note for note in found["notes"]) == 1


@pytest.mark.parametrize(
    ("options", "code", "why"),
    [
        ("--metric auc-roc --alternative greater --alpha 0.5", 0, ""),
        (
            "--metric auc-roc --higher-is normal",
            1,
            "nofluke: gate: the verdict is no. auc-roc is not significantly better than chance",
        ),
        (
            "--metric auc-roc --metric best-f1 --higher-is normal",
            1,
            "nofluke: gate: the verdict is no. No metric is significantly better",
        ),
        (
            "--metric auc-roc --resamples 5 --null segments",
            3,
            "nofluke: gate: cannot tell. No value could have reached",
        ),
        ("--metric nab", 2, "nofluke: --metric nab needs alarms: pass --predictions COLUMN, or"),
    ],
)
def test_the_gate_answers_by_the_verdict(run, options, code, why):
    """0, 1 and 3 as of evaluate; 2 is for what is wrong."""
    found, out, err = run("significance", "data.csv", *BASE, *options.split(), "--gate", "--format", "csv")
    assert found == code
    assert err.startswith(why)
    assert err.count("\n") == (1 if why else 0)
    assert out.startswith("metric,value") is (code != 2)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("", "name a metric: --metric NAME, such as auc-roc. nofluke metrics lists them."),
        ("--metric auc", "--metric auc must be one of 'auc-roc', "),
        ("--metric nab:profile=odd", "--metric nab:profile=odd: profile='odd' must be one of 'standard', "),
        ("--metric nab:alpha=1", "--metric nab:alpha=1 has no setting 'alpha', but profile. See nofluke metrics."),
        ("--metric affiliation-f1:beta=-1", "--metric affiliation-f1:beta=-1: beta=-1 must be"),
        ("--metric auc-roc --metric auc-roc", "--metric auc-roc is there twice"),
        ("--metric auc-roc --metric nab --budget 1% --stop-after 9", "--stop-after needs a single metric"),
        (
            "--metric auc-roc --stop-after 9 --alternative two-sided",
            "--stop-after needs one side: pass --alternative greater or less, or leave",
        ),
        ("--metric auc-roc --stop-after 0", "--stop-after=0 must be"),
        ("--metric auc-roc --resamples 0", "--resamples=0 must be"),
        ("--metric auc-roc --workers 0", "--workers=0 must be"),
        ("--metric auc-roc --alpha 2", "--alpha=2.0 must be"),
        ("--metric auc-roc --null nothing", "--null nothing must be one of"),
        ("--metric auc-roc --groups alarm", "--groups must be contiguous"),
        (
            "--metric auc-roc --groups part --null permutation",
            "--groups are rotated separately: pass --null circular-shift or auto, or leave --groups out.",
        ),
        (
            "--metric auc-roc --null bernoulli",
            "--null bernoulli only knows laws of hits and cannot draw for a metric: use --null auto, circular-shift, "
            "local-shift or segments.",
        ),
        ("--metric auc-roc --groups nowhere", "data.csv has no column 'nowhere' (for --groups)"),
        ("--metric auc-roc --threshold 1 --budget 1%", "pass either --threshold or --quantile or --budget"),
    ],
)
def test_errors_are_one_line_that_names_the_option(run, options, said):
    """And code 2."""
    code, out, err = run("significance", "data.csv", *BASE, *options.split())
    assert (code, out) == (2, "")
    assert err.startswith(f"nofluke: {said}")
    assert err.count("\n") == 1


def test_a_ranking_metric_of_alarms_says_what_to_pass(run):
    """In the words of the command line."""
    _, _, err = run("significance", "data.csv", "--truth", "label", "--predictions", "alarm", "--metric", "auc-roc")
    assert (
        err == "nofluke: --metric auc-roc needs scores, and --predictions were passed: pass --scores COLUMN instead.\n"
    )


# chance


def test_chance_is_what_the_library_says(run_json):
    """From labels, ranges on a clock, and lists of steps with the length of the series."""
    asked = ("--metric", "auc-roc", "--resamples", 99, "--seed", 1, "--alpha", 0.2)
    how = {"n_resamples": 99, "rng": 1, "alpha": 0.2}
    expected = plain(nf.chance("auc-roc", LABELS, **how))
    assert run_json("chance", "data.csv", "--truth", "label", *asked) == expected
    assert run_json("chance", "data.csv", "--truth-file", "days.csv", "--time", "day", *asked) == expected
    assert run_json("chance", "steps.csv", "--n-steps", N, *asked) == expected
    assert (
        run_json("chance", "steps.csv", "--n-steps", N, "--truth-start", "from", "--truth-end", "to", *asked)
        == expected
    )
    masked = run_json("chance", "data.csv", "--truth", "label", "--mask", "hidden", "--warmup", "10", *asked)
    assert masked == plain(nf.chance("auc-roc", LABELS, mask=HIDDEN, warmup=10, **how))
    places = run_json("chance", "places.csv", "--n-steps", 100, *asked)
    assert places == plain(nf.chance("auc-roc", [3, 17, 90], n_steps=100, truth_as="positions", **how))


@pytest.mark.parametrize("form", FORMATS)
def test_chance_prints_every_format(run, form):
    """A metric of alarms, with a budget and a memory."""
    words = ("--metric", "nab", "--budget", "5%", "--null", "random-scores:phi=0.9", "--resamples", 50, "--seed", 1)
    code, out, err = run("chance", "data.csv", "--truth", "label", *words, "--format", form)
    assert (code, err) == (0, "")
    assert "nab" in out
    expected = nf.chance("nab", LABELS, budget=0.05, null="random-scores:phi=0.9", n_resamples=50, rng=1)
    if form == "csv":
        (row,) = csv.DictReader(io.StringIO(out))
        assert (float(row["expected"]), float(row["low"])) == (expected.expected, expected.band[0])
        assert (float(row["critical_value"]), row["null"]) == (expected.critical_value, "random-scores:phi=0.9")


@pytest.mark.parametrize("form", FORMATS)
def test_chance_of_several_metrics_has_a_line_each(run, run_json, form):
    """Each is what it is alone; one that is named twice is there once."""
    asked = ("data.csv", "--truth", "label", "--resamples", 50, "--seed", 1)
    two = ("--metric", "auc-roc", "--metric", "best-pa-f1", "--metric", "auc-roc")
    code, out, err = run("chance", *asked, *two, "--format", form)
    assert (code, err) == (0, "")
    assert out.index("auc-roc") < out.index("best-pa-f1")
    each = [plain(nf.chance(name, LABELS, n_resamples=50, rng=1)) for name in ("auc-roc", "best-pa-f1")]
    assert run_json("chance", *asked, *two)["metrics"] == each
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(out)))
        assert [float(row["expected"]) for row in rows] == [one["expected"] for one in each]
    if form == "text":
        assert out.count("Method: montecarlo") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("data.csv --truth label", "name a metric: --metric NAME"),
        ("data.csv --truth label --metric nab", "--metric nab needs alarms: pass --budget SHARE"),
        (
            "data.csv --truth label --metric auc-roc --null circular-shift",
            "--null circular-shift needs a detector to compare with: pass --null random-scores, or call nofluke significance.",
        ),
        ("data.csv --metric auc-roc", "name the labels: --truth COLUMN"),
        ("data.csv --truth-file steps.csv --metric auc-roc", "--truth-file needs --time COLUMN"),
        ("steps.csv --n-steps 300 --time day --metric auc-roc", "--n-steps is for a FILE that lists events"),
        ("days.csv --n-steps 300 --metric auc-roc", "days.csv holds dates: with --n-steps, list the steps"),
        ("steps.csv --n-steps 0 --metric auc-roc", "--n-steps=0 must be"),
    ],
)
def test_errors_of_chance_name_the_option(run, words, said):
    """One line, and code 2."""
    code, out, err = run("chance", *words.split())
    assert (code, out) == (2, "")
    assert err.startswith(f"nofluke: {said}")
    assert err.count("\n") == 1


# metrics


def test_all_metrics_are_listed_with_a_line_each(run):
    """Aligned to the left, the name first."""
    code, out, err = run("metrics")
    assert (code, err) == (0, "")
    title, _, head, *lines = out.splitlines()
    listed = lines[: lines.index("")]
    assert title == f"{len(listed)} metrics"
    assert [line.split()[0] for line in listed] == list(nf.metrics.names())
    assert all(line[head.index("what it is") :] == nf.metrics.get(line.split()[0]).title for line in listed)


def test_listed_settings_are_those_that_the_name_takes(run_json, run):
    """Each metric with all its settings as listed is the metric by its plain name."""
    for one in run_json("metrics")["metrics"]:
        metric = nf.metrics.get(one["name"])
        assert (one["needs"], one["better"], one["perfect"]) == (metric.needs, metric.better, metric.perfect)
        assert type(metric)(**{**metric.__dict__, **one["settings"]}) == metric
    for row in csv.DictReader(io.StringIO(run("metrics", "--format", "csv")[1])):
        written = {pair.split("=")[1] for pair in row["settings"].split(",") if pair}
        if "None" not in written:
            assert nf.metrics.get(f"{row['name']}:{row['settings']}") == nf.metrics.get(row["name"])
