"""`nofluke compare`, and options that were typed twice."""

import json

import numpy as np
import pytest

import nofluke as nf
from nofluke.cli import cli

RNG = np.random.default_rng(4)
TRUTH = (RNG.random(300) < 0.1).astype(int)
A, B = RNG.integers(0, 9, 300) + 5 * TRUTH, RNG.integers(0, 9, 300)


@pytest.fixture
def run(tmp_path, monkeypatch, run):
    """Call the command line on a file of labels and two detectors; the code, what was printed, and what was said."""
    monkeypatch.chdir(tmp_path)
    rows = zip(TRUTH, A, B, strict=True)
    (tmp_path / "data.csv").write_text("y,a,b\n" + "".join(f"{y},{a},{b}\n" for y, a, b in rows))

    def call(command, *options):
        return run(command, "data.csv", "--truth", "y", *options)

    return call


def test_compare_prints_what_the_library_says(run, tmp_path):
    """In text, JSON and CSV; a column of alarms stands beside one of scores."""
    found = nf.compare(TRUTH, {"a": A, "b": B}, budget="10%", tolerance=1)
    options = ("--scores", "a", "--scores", "b", "--budget", "10%", "--tolerance", "1")
    code, out, err = run("compare", *options)
    assert (code, out.split(), err) == (0, str(found).split(), "")  # in shorter lines
    assert json.loads(run("compare", *options, "--format", "json")[1]) == found.to_dict()
    assert run("compare", *options, "-o", "found.csv")[0] == 0
    assert (tmp_path / "found.csv").read_text() == found.to_csv()
    mixed = nf.compare(TRUTH, {"a": A}, predictions={"y": TRUTH}, threshold=8, n_resamples=99, rng=5, level=0.9)
    words = [
        "--scores",
        "a",
        "--predictions",
        "y",
        "--threshold",
        "8",
        "--resamples",
        "99",
        "--seed",
        "5",
        "--level",
        "0.9",
    ]
    code, out, err = run("compare", *words)
    assert (code, out.split(), err) == (0, str(mixed).split(), "")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--scores", "a"), "name two detectors or more: repeat --scores COLUMN"),
        (("--scores", "a", "--scores", "a", "--scores", "b"), "column 'a' was named twice"),
        (("--scores", "a", "--scores", "c"), "has no column 'c' (for --scores)"),
        (("--scores", "a", "--scores", "b"), "detector 'a': pass either --threshold or --quantile or --budget"),
    ],
)
def test_what_compare_cannot_do_is_one_line(run, options, said):
    """Exit code 2, and the remedy in options."""
    code, out, err = run("compare", *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


@pytest.mark.parametrize("command", ["evaluate", "sweep", "diagnose", "significance"])
@pytest.mark.parametrize("option", ["--scores", "--predictions"])
def test_two_detectors_where_one_is_meant_are_an_error(run, command, option):
    """They were once one, the last; now the error names the command that takes several."""
    if not any(option in parameter.opts for parameter in cli.commands[command].params):
        pytest.skip("no such option")
    code, out, err = run(command, option, "a", option, "b")
    assert (code, out) == (2, "")
    assert f"{option} was passed 2 times, but {command} judges one detector" in err
    assert "nofluke compare" in err


def test_any_single_option_may_be_typed_once(run):
    """The first would be dropped in silence; flags and options that repeat are free."""
    assert run("evaluate", "--truth", "b", "--scores", "a", "--threshold", "8") == (
        *(2, ""),
        "nofluke: --truth was passed 2 times: pass it once.\n",
    )
    assert run("sweep", "--scores", "a", "--tolerance", "0", "--tolerance", "1", "--quantile", "0.9")[0] == 0
    assert run("evaluate", "--scores", "a", "--threshold", "8", "--test-f1", "--test-f1")[0] == 0
