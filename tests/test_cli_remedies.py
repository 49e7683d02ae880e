"""Remedies of the command line: what was typed comes back with the option, and with what to type instead."""

import json
import re

import numpy as np
import pytest

N = 200


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A series of days with labels and scores, and its events and alarms as lists of days."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    days = np.datetime64("2024-01-01") + np.arange(N)
    truth = (np.arange(N) % 19 == 3).astype(int)
    scores = (2 * truth + rng.normal(size=N)).round(3)
    rows = [f"{day},{y},{z},{n}" for day, y, z, n in zip(days, truth, scores, rng.normal(size=N), strict=True)]
    (tmp_path / "data.csv").write_text("\n".join(["day,label,z,noise", *rows]) + "\n")
    (tmp_path / "counts.csv").write_text("t\n1\n5\n9\n")
    for name, found in (("events", truth == 1), ("alarms", scores > 1)):
        (tmp_path / f"{name}.csv").write_text("\n".join(["day", *map(str, days[found])]) + "\n")
    return tmp_path


@pytest.fixture
def run(files, run):
    """Run the command line; returns exit code, output and errors."""

    def call(line):
        return run(*line.split())

    return call


EVALUATE = "evaluate data.csv --truth label --scores z --quantile 0.9"
LISTS = "coincidence events.csv alarms.csv"
REMEDIES = {
    f"{EVALUATE} --null local-shift:rech=3": "--null local-shift:rech=3 has no setting 'rech', but reach and every: did you "
    "mean 'reach'[?]",
    f"{EVALUATE} --null seasonal": "--null seasonal needs the setting period: write it as 'seasonal:period=24'.",
    f"{EVALUATE} --null local-shift:reach=abc": "--null local-shift:reach=abc: reach='abc' is not a duration: write .*",
    f"{EVALUATE} --null circular": "--null circular must be one of .*: did you mean 'circular-shift'[?]",
    f"{LISTS} --tolerance 2d --null seasonal:period=24,bins=12": "--null seasonal:period=24,bins=12: period=24 does not fit "
    "the times: pass a duration such as '24d'.",
    f"{LISTS} --tolerance 1,3 --lag -2d:2d:3": "--lag='-2d' is a duration, but the tolerance of 1 time unit is a number: pass "
    "both as durations, or both as numbers.",
    "significance data.csv --truth label --scores z --metric auc": "--metric auc must be one of .*: did you mean 'auc-roc'[?] "
    "See nofluke metrics.",
    "power --recall .6 --share-alarms 2% --early 3h --late -1h": "--early='3h' and --late='-1h' must be in steps, such as 2: "
    "there is no clock here.",
    "power --recall .6 --coverage 20% --tolerance 50": "a coverage already includes the tolerance: leave the tolerance out, or "
    "pass --share-alarms SHARE instead of --coverage SHARE.",
    "power --recall 0,6 --coverage 20%": "--recall 0,6 is not a number: write 0.6 if you meant a decimal comma.",
    "compare data.csv --truth label --scores z,noise --quantile .9": "--scores z,noise names one column: repeat the option for "
    "each detector, --scores z --scores noise.",
    "evaluate data.csv --truth label --scores z,noise --quantile .9": "data.csv has no column 'z,noise' [(]for --scores[)]: name "
    "one column at a time. The columns are .*",
    f"{EVALUATE} --refractory inf": "--refractory=inf must be a whole number of steps, 1 or more, or a duration such as "
    "'10min'.",
    f"{LISTS} --tolerance 2d --tick 300000000d": "--tick=300000000d is longer than any span: pass a shorter one.",
    "coincidence counts.csv counts.csv --tolerance 1 --tick 9223372036854775808": "--tick=9.223372037e[+]18 is longer than "
    "any span: pass a shorter one.",
    f"{LISTS} --tolerance 1d:200d:200 --lag 0:99d:100": "200 tolerances at 100 lags are 20,000 windows, and 10,000 are the "
    "most: pass fewer of them, further apart.",
    f"{EVALUATE} --time-format %Y": "--time-format is for --time: name the column of times too, or leave it out.",
    "study data.csv --truth label --scores z --quantile .9 -o st.csv": "--out st.csv looks like a file, but results go into a "
    "folder: name one, such as st/; --format csv prints such a file.",
    "reproduce --simulated -o page.html": "--output page.html looks like a file, but results go into a folder: name one, such "
    "as page/.",
}


@pytest.mark.parametrize(("line", "message"), REMEDIES.items(), ids=list(REMEDIES))
def test_the_message_names_the_option_and_what_to_type(run, line, message):
    """In one line, with code 2."""
    code, out, err = run(line)
    assert (code, out) == (2, "")
    assert re.fullmatch(f"nofluke: {message}\n", err), err


def test_shares_may_be_percentages(run):
    """They give the same bytes as decimals do."""
    by_share = run(f"{EVALUATE} --alpha 0.007 --min-recall 0.5 --format json")
    assert by_share == run(f"{EVALUATE.replace('0.9', '90%')} --alpha 0.7% --min-recall 50% --format json")
    assert json.loads(by_share[1])["alpha"] == 0.007
    sweep = "sweep data.csv --truth label --scores z --quantile"
    assert run(f"{sweep} .5,.9") == run(f"{sweep} 50%,90%")
    assert run("power --recall 60% --coverage .2 --power 80%") == run("power --recall 0.6 --coverage 20% --power .8")


def test_a_folder_that_is_there_may_have_an_ending(run, files):
    """Only a new one is taken for a file by mistake."""
    (files / "st.csv").mkdir()
    code, _, err = run("study data.csv --truth label --scores z --quantile .9 --workers 1 -o st.csv")
    assert (code, err.startswith("Wrote st.csv")) == (0, True)


def test_notes_name_the_option_to_pass(run):
    """Which Python calls otherwise, or has as an argument."""
    swept = run("sweep data.csv --truth label --scores z --quantile .8,.9 --null permutation")[1]
    assert "the best of many needs a familywise test: pass --familywise." in swept
    told = " ".join(run(f"{LISTS} --tolerance 1d --null segments --resamples 2000 --seed 1")[1].split())
    assert "What chance scores depends on it: pass --span, the time that was watched." in told
    assert "F1 montecarlo (999 resamples, seed 1). Precision and recall: 2,000 resamples, seed 1." in told


def test_help_says_what_holds_for_its_command(run):
    """The seed of a report is 0, two lists have no grid, and power has no clock."""
    told = {name: " ".join(run(f"{name} --help")[1].split()) for name in ("report", "coincidence", "power", "evaluate")}
    assert "--seed INTEGER Random seed; the same seed gives identical output. [default: 0]" in told["report"]
    assert "fresh" not in told["report"]
    listed = re.search(r"after a colon: (.*?); lengths", told["coincidence"])[1].split(", ")
    for null in listed:
        assert "needs a grid" not in run(f"{LISTS} --tolerance 2d --resamples 99 --null {null}")[2], null
    assert "needs a grid" in run(f"{LISTS} --tolerance 2d --null bernoulli")[2]
    assert "blocks" in told["evaluate"]
    assert not {"blocks", "bernoulli", "stationary"} & {null.partition(":")[0] for null in listed}
    assert "--late -1 --early 3: between 1 and 3 steps before" in told["power"]
    assert run("power --recall .6 --share-alarms 2% --late -1 --early 3")[0] == 0


def test_a_diagnosis_fits_a_hundred_columns(run):
    """What was looked at goes on in the next line, and loses no word."""
    line = "diagnose data.csv --truth label --scores z --time day"
    out = run(line)[1]
    assert max(map(len, out.splitlines())) <= 100
    told = [finding["looked_at"] for finding in json.loads(run(f"{line} --format json")[1])["findings"]]
    table = out.split("\n\n")[1]
    at = table.index("looked at")
    assert " ".join(" ".join(row[at:] for row in table.splitlines()[1:]).split()) == " ".join(told)
