"""Options of thresholds and alarms on the command line: they reach the library, and errors name them."""

import json

import numpy as np
import pytest

import nofluke as nf
from nofluke.cli import main

RNG = np.random.default_rng(4)
TRUTH, SCORES = (RNG.random(60) < 0.2).astype(int), RNG.integers(0, 9, 60)
TIMES = np.arange("2024-01-01", "2024-03-01", dtype="datetime64[D]")
LATER = np.arange(60) >= 20


@pytest.fixture
def run(tmp_path, monkeypatch, run):
    """Call the command line on a file of labels, scores and days; the code, what was printed, and what was said."""
    monkeypatch.chdir(tmp_path)
    rows = zip(TIMES.astype(str), TRUTH, SCORES, LATER.astype(int), strict=True)
    (tmp_path / "data.csv").write_text("day,y,z,later\n" + "".join(f"{d},{y},{z},{p}\n" for d, y, z, p in rows))

    def call(command, *options):
        return run(command, "data.csv", "--truth", "y", "--time", "day", *options)

    return call


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        (("--budget", "10%"), {"budget": 0.1}),
        (("--budget", "0.1"), {"budget": 0.1}),
        (("--threshold", "2", "--higher-is", "normal"), {"threshold": 2, "higher_is": "normal"}),
        (("--quantile", "0.8", "--warmup", "10"), {"quantile": 0.8, "warmup": 10}),
        (("--quantile", "0.8", "--warmup", "15%"), {"quantile": 0.8, "warmup": 9}),
        (("--quantile", "0.8", "--warmup", "0.15"), {"quantile": 0.8, "warmup": 9}),
        (("--quantile", "0.8", "--warmup", "5d"), {"quantile": 0.8, "warmup": 5}),
        (("--quantile", "0.8", "--test-part", "15%"), {"quantile": 0.8, "test_part": 9}),
        (("--quantile", "0.8", "--test-part", "10,40"), {"quantile": 0.8, "test_part": (10, 40)}),
        (("--quantile", "0.8", "--test-part", "later"), {"quantile": 0.8, "test_part": LATER}),
        (("--threshold", "6", "--count-alarms", "episodes"), {"threshold": 6, "count_alarms": "episodes"}),
        (("--threshold", "6", "--refractory", "3"), {"threshold": 6, "refractory": 3}),
        (("--threshold", "6", "--refractory", "3d"), {"threshold": 6, "refractory": "3d"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_options_of_alarms_reach_the_library(run, options, arguments):
    """What JSON has is what the library says."""
    code, out, err = run("evaluate", "--scores", "z", "--tolerance", "1", "--format", "json", *options)
    assert (code, err) == (0, "")
    found, expected = json.loads(out), nf.evaluate(TRUTH, SCORES, times=TIMES, tolerance=1, **arguments).to_dict()
    # where a process ends with the call other engines are taken, which differ in the last digit
    for side in ("precision", "recall"):
        assert found[side].pop("pvalue") == pytest.approx(expected[side].pop("pvalue"))
        assert found.pop(side)["hits"] == expected.pop(side)["hits"]
    assert found == json.loads(json.dumps(expected))


def test_options_of_alarms_in_a_sweep(run):
    """Budgets may be repeated."""
    options = ("--budget", "10%", "--budget", "0.3", "--higher-is", "normal", "--warmup", "10", "--refractory", "2")
    code, out, err = run("sweep", "--scores", "z", "--format", "json", *options)
    assert (code, err) == (0, "")
    expected = nf.sweep(
        TRUTH, SCORES, times=TIMES, budgets=[0.1, 0.3], higher_is="normal", warmup=10, refractory=2
    ).to_dict()
    found = json.loads(out)
    assert found["cells"]["budget"] == [0.3, 0.1]
    assert found == json.loads(json.dumps(expected))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--budget", "2"), "--budget='2' must be a share above 0 and below 1"),
        (
            ("--budget", "1%", "--quantile", "0.9"),
            "pass either --threshold or --quantile or --budget, got --quantile and --budget",
        ),
        (("--quantile", "0.9", "--warmup", "60"), "--warmup=60 leaves none of the 60 steps"),
        (
            ("--quantile", "0.9", "--refractory", "2", "--count-alarms", "steps"),
            "--refractory LENGTH merges several alarms into one, but --count-alarms steps counts",
        ),
    ],
)
def test_errors_of_alarms_name_the_options(run, options, message):
    """One line, exit code 2."""
    code, out, err = run("evaluate", "--scores", "z", *options)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_advice_on_turned_scores_can_be_typed(run, tmp_path):
    """The note names the option."""
    events = np.random.default_rng(1).random(300) < 1 / 3  # every third step would be a season
    rows = "".join(f"{event:d},{-event:.1f}\n" for event in events.astype(int))
    (tmp_path / "data.csv").write_text("y,z\n" + rows)
    with pytest.raises(SystemExit):
        main(["evaluate", "data.csv", "--truth", "y", "--scores", "z", "--threshold", "0", "-o", "out.txt"])
    assert "if it is, pass --higher-is normal." in (tmp_path / "out.txt").read_text()


@pytest.mark.parametrize("option", ["--predictions", "--scores"])
def test_outliers_of_sklearn_are_explained_in_words_for_a_file(tmp_path, capsys, option):
    """No Python in the remedy of a command."""
    path = tmp_path / "outliers.csv"
    path.write_text("y,alarm\n0,1\n1,-1\n0,1\n")
    with pytest.raises(SystemExit) as end:
        main(["evaluate", str(path), "--truth", "y", option, "alarm"])
    said = capsys.readouterr().err
    assert end.value.code == 2
    assert "-1" in said
    assert "write 1 for an" in said
    assert "==" not in said
