"""Scores that windows made shorter: placed by ``align``, they are what padding by hand and a mask make of them."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import nofluke as nf
from nofluke.cli import main
from nofluke.errors import InputError

ALIGN = ("start", "end", "center")


def padded(scores, n, align, fill=0.0):
    """By hand: a value for each step, and which of them are none, one step after another."""
    before = {"start": 0, "end": n - len(scores), "center": (n - len(scores)) // 2}[align]
    values, mask = [], []
    for step in range(n):
        inside = before <= step < before + len(scores)
        values.append(scores[step - before] if inside else fill)
        mask.append(not inside)
    return np.array(values), np.array(mask)


@st.composite
def short(draw):
    """Labels, fewer scores, where they belong, and some of the other arguments."""
    n = draw(st.integers(4, 60))
    k = draw(st.integers(2, n))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    labels = (rng.random(n) < draw(st.sampled_from([0.1, 0.4]))).astype(int)
    kind = draw(st.sampled_from(["f8", "f4", "i8", "bool"]))
    scores = np.round(rng.random(k) * 8) if kind != "bool" else rng.random(k) < 0.3
    scores = scores.astype(kind)
    mask = rng.random(n) < 0.2 if draw(st.booleans()) else None
    times = np.datetime64("2024-01-01") + np.cumsum(rng.integers(1, 3, n)) if draw(st.booleans()) else None
    warmup = draw(st.sampled_from([None, 1, "20%"]))
    ranges = draw(st.booleans())
    return labels, scores, draw(st.sampled_from(ALIGN)), mask, times, warmup, ranges


def runs(labels):
    """Runs of ones as pairs of first and last step."""
    steps = np.flatnonzero(labels)
    groups = np.split(steps, np.flatnonzero(np.diff(steps) > 1) + 1)
    return [(int(group[0]), int(group[-1])) for group in groups if len(group)]


@given(short())
def test_placed_scores_are_padded_scores_with_a_mask(drawn):
    """The same counts, thresholds, p-values, verdict and steps left out, with times, masks, warm-ups and ranges."""
    labels, scores, align, mask, times, warmup, ranges = drawn
    n = len(labels)
    whole, hidden = padded(scores, n, align, fill=scores.dtype.type(0))
    both = hidden if mask is None else hidden | mask
    given_truth = runs(labels) if ranges else labels
    about = {"times": times, "warmup": warmup, "tolerance": 1, "rng": 0}
    about |= {"truth_as": "positions", "count_events": "ranges"} if ranges else {}
    # ranges say nothing of how many steps there are
    steps = {"n_steps": n} if ranges and times is None else {}
    alarms = scores.dtype.kind == "b"
    name = "predictions" if alarms else "scores"
    about |= {} if alarms else {"quantile": 0.8}
    if ranges:
        about["truth_as"] = "ranges"
        assume(times is None)
    try:
        expected = nf.evaluate(given_truth, **{name: whole.astype(scores.dtype)}, mask=both, **about, **steps)
    except InputError as error:
        assume("no step is left" not in str(error))
        raise
    found = nf.evaluate(given_truth, **{name: scores}, mask=mask, align=align, **about, **steps)
    assert found.left_out == expected.left_out
    for what in ("n", "n_events", "n_predictions", "precision_hits", "recall_hits", "verdict", "threshold"):
        one, other = getattr(found, what), getattr(expected, what)
        assert one == other or (one != one and other != other), what
    for test in ("precision_test", "recall_test"):
        one, other = getattr(found, test).pvalue, getattr(expected, test).pvalue
        assert one == other or (one != one and other != other)


@pytest.mark.parametrize("align", ALIGN)
def test_every_verb_that_reads_scores_places_them(align):
    """Sweep, compare, significance, diagnose and a `Series` read through the same door."""
    rng = np.random.default_rng(3)
    labels, short, full = (rng.random(80) < 0.1).astype(int), rng.random(71), rng.random(80)
    whole, mask = padded(short, 80, align)
    one = nf.sweep(labels, short, align=align, tolerances=[0, 2])
    other = nf.sweep(labels, whole, mask=mask, tolerances=[0, 2])
    assert np.array_equal(one.thresholds, other.thresholds)
    assert np.array_equal(one.recall, other.recall, equal_nan=True)
    one, other = (
        nf.significance("auc-roc", labels, z, rng=1, **how)
        for z, how in ((short, {"align": align}), (whole, {"mask": mask}))
    )
    assert (one.value, one.pvalue) == (other.value, other.pvalue)
    one = nf.compare(labels, {"short": short, "full": full}, align=align, quantile=0.9, rng=1)
    other = nf.compare(labels, {"short": whole, "full": full}, mask=mask, quantile=0.9, rng=1)
    assert one.difference("full", "short").value == other.difference("full", "short").value
    held = nf.Series(labels, warmup=5).evaluate(short, align=align, quantile=0.9)
    assert held.n == nf.evaluate(labels, whole, mask=mask, warmup=5, quantile=0.9).n
    one, other = (
        nf.diagnose(labels, short, align=align, quantile=0.9),
        nf.diagnose(labels, whole, mask=mask, quantile=0.9),
    )
    assert one.recommended == other.recommended


def test_where_scores_belong_is_told():
    """Which steps they cover, in a note; nothing where they cover all."""
    labels = [0, 1, 0, 0, 1, 0, 0, 0, 1]
    found = nf.evaluate(labels, [1.0, 2, 3, 4], threshold=2, align="center")
    assert found.notes[0] == (
        "There are 4 scores for 9 steps: by align='center' they belong to the steps 2 to 5, and the others do not count."
    )
    assert found.left_out.masked == 5
    assert not any("belong" in note for note in nf.evaluate(labels, range(9), threshold=2, align="end").notes)


def test_an_index_must_agree_with_where_scores_are_placed():
    """Scores with dates are at those dates; by position only where they have none of their own."""
    days = pd.date_range("2024-01-01", periods=8)
    labels = pd.Series([0, 1, 0, 0, 0, 1, 0, 0], index=days)
    scores = pd.Series([1.0, 2, 3, 4, 5], index=days[3:])
    found = nf.evaluate(labels, scores, threshold=3, align="end")
    assert found.n == 5
    assert found.n_events == 1
    assert nf.evaluate(labels, scores.to_numpy(), threshold=3, align="start").n_events == 1
    with pytest.raises(InputError, match="scores has an index of its own, which is not that of the steps 0 to 4"):
        nf.evaluate(labels, scores, threshold=3, align="start")
    with pytest.raises(InputError, match="has an index of its own"):
        nf.evaluate(labels.to_numpy(), scores, threshold=3, align="end")


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (
            {"scores": [1.0] * 3},
            r"truth has 5 values but scores has 3: .*; if windows made scores shorter, pass align=\"end\"",
        ),
        ({"predictions": [1, 0, 1]}, r"if windows made predictions shorter, pass align=\"end\""),
        ({"scores": [1.0] * 3, "times": range(5), "truth": [0, 1, 0]}, r"times has 5 .*pass align=\"end\""),
        ({"scores": [1.0] * 3, "n_steps": 5, "truth": [2], "truth_as": "positions"}, r"n_steps=5.*pass align=\"end\""),
        (
            {"scores": [1.0] * 6},
            "truth has 5 values but scores has 6: pass one label for each score, or event positions",
        ),
        ({"scores": [1.0] * 6, "align": "end"}, "truth has 5 values but scores has 6"),
        (
            {"scores": [1.0] * 3, "n_steps": 6, "align": "end"},
            "truth has 5 values for 6 steps: pass one for each step",
        ),
        (
            {"scores": [1.0] * 3, "times": range(3), "align": "end"},
            "truth has 5 values for 3 steps: pass one for each step",
        ),
        (
            {"scores": [1.0] * 3, "times": range(9), "n_steps": 5, "align": "end"},
            "times has 9 values for 5 steps: pass one for each step",
        ),
        ({"scores": [1.0] * 5, "truth": [0, 2, 0, 2, 0], "align": "end"}, "truth must be 0 or 1"),
        ({"scores": [1.0] * 3, "align": "left"}, "align='left' must be one of"),
        ({"predictions": [3], "align": "end"}, "align='end' is for values of each step, but predictions lists alarms"),
        ({"predictions": [(1, 3)], "align": "end"}, "align='end' is for values of each step"),
        (
            {"scores": [1.0] * 3, "truth": [4], "truth_as": "positions"},
            r"4 lie outside 0..2: .*; if windows made the scores .* pass n_steps= and align=\"end\"",
        ),
        (
            {"scores": [1.0] * 3, "truth": [(4, 5)]},
            r"1 range\(s\) outside the steps 0 to 2: .* pass n_steps= and align=\"end\"",
        ),
    ],
)
def test_other_lengths_are_errors_that_offer_it(passed, words):
    """Fewer scores offer ``align``; more of them stay an error, with it too."""
    asked = {"truth": [0, 1, 0, 1, 0], **passed}
    cut = {} if "predictions" in asked else {"threshold": 1}
    with pytest.raises(InputError, match=words):
        nf.evaluate(asked.pop("truth"), **asked, **cut)
    if len(asked.get("scores", ())) == 6:
        with pytest.raises(InputError) as caught:
            nf.evaluate([0, 1, 0, 1, 0], **asked, threshold=1)
        assert "align=" not in str(caught.value)


@pytest.mark.parametrize("detector", ["scores", "predictions"])
@pytest.mark.parametrize("truth", [[6], [(6, 7)], []])
@pytest.mark.parametrize("align", ALIGN)
def test_events_in_a_list_need_the_number_of_steps_to_be_placed_by(truth, detector, align):
    """The length of the scores is not that of the series: n_steps or times say it, and else nothing is counted."""
    values = np.array([0, 0, 0, 0, 1, 0, 0, 1])
    asked = {detector: values, "align": align} | ({"threshold": 1} if detector == "scores" else {})
    with pytest.raises(
        InputError, match=rf"align='{align}' needs the number of steps, and truth .*: pass n_steps=, or"
    ):
        nf.evaluate(truth, **asked)
    labels = np.isin(np.arange(10), np.ravel(truth))
    expected = nf.evaluate(labels, **asked)
    for known in ({"n_steps": 10}, {"times": range(10)}):
        found = nf.evaluate(truth, **asked, **known)
        assert (found.n, found.n_events, found.recall_hits) == (expected.n, found.n_events, expected.recall_hits)
        assert found.notes[0] == expected.notes[0]


def test_the_command_line_places_a_column_that_ends_in_empty_cells(tmp_path, capsys):
    """In a table every column has as many rows: a shorter one ends in empty cells."""
    rng = np.random.default_rng(0)
    labels, scores = (rng.random(50) < 0.2).astype(int), rng.random(44)
    pd.DataFrame({"y": labels, "z": [*scores, *[None] * 6]}).to_csv(tmp_path / "t.csv", index=False)
    asked = ["evaluate", str(tmp_path / "t.csv"), "--truth", "y", "--scores", "z", "--threshold", "0.5"]
    with pytest.raises(SystemExit) as ended:
        main([*asked, "--align", "end", "--format", "json"])
    assert ended.value.code == 0
    told = json.loads(capsys.readouterr().out)
    expected = nf.evaluate(labels, scores, threshold=0.5, align="end")
    assert told["recall"]["value"] == expected.recall
    assert told["left_out"] == expected.left_out.to_dict()
    assert "belong to the steps 6 to 49" in told["notes"][0]


@pytest.mark.parametrize(
    ("columns", "truth", "align", "words"),
    [
        (
            "y,z",
            None,
            [],
            "--scores has 6 empty cells at the end of column 'z': if .*, pass --align end, else --missing mask",
        ),
        ("z", [48], [], "48 lie outside 0..43: .* give FILE a row for each step, with empty cells .* --align end"),
        (
            "z",
            [48],
            ["--align", "end"],
            "--align end needs the number of steps, .* row for each step, .* leave --align",
        ),
        ("z", [0, 1] * 25, [], "has 0/1 labels where --truth-file lists events: .* pass --align end"),
    ],
)
def test_the_command_line_offers_it_too(tmp_path, capsys, columns, truth, align, words):
    """By its option, and with what a file has to look like."""
    table = pd.DataFrame({"y": [0, 1] * 25, "z": [*np.linspace(0, 1, 44), *[None] * 6]})[columns.split(",")]
    table[: 50 if "y" in columns else 44].to_csv(tmp_path / "t.csv", index=False)
    pd.DataFrame({"event": truth or []}).to_csv(tmp_path / "events.csv", index=False)
    whose = ["--truth", "y"] if truth is None else ["--truth-file", str(tmp_path / "events.csv")]
    with pytest.raises(SystemExit) as ended:
        main(["evaluate", str(tmp_path / "t.csv"), *whose, "--scores", "z", "--threshold", "0.5", *align])
    assert ended.value.code == 2
    assert re.search(words, capsys.readouterr().err)


def test_the_command_line_knows_the_steps_by_the_rows_of_the_file(tmp_path, capsys):
    """Events in a file of their own are steps of a column that ends in empty cells."""
    scores = np.random.default_rng(0).random(44)
    pd.DataFrame({"step": range(50), "z": [*scores, *[None] * 6]}).to_csv(tmp_path / "t.csv", index=False)
    pd.DataFrame({"event": [3, 20, 48]}).to_csv(tmp_path / "events.csv", index=False)
    asked = ["evaluate", str(tmp_path / "t.csv"), "--truth-file", str(tmp_path / "events.csv"), "--scores", "z"]
    with pytest.raises(SystemExit):
        main([*asked, "--threshold", "0.5", "--align", "end", "--format", "json"])
    told = json.loads(capsys.readouterr().out)
    expected = nf.evaluate([3, 20, 48], scores, threshold=0.5, align="end", n_steps=50)
    assert (told["n_events"], told["recall"]["hits"]) == (expected.n_events, expected.recall_hits)
