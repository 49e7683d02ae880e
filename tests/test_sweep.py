"""`sweep` gives in one go what `evaluate`, and the slow oracle, give one threshold at a time."""

import csv
import io
import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nofluke as nf
from oracles import Case, cases

TRUTH = [0, 1, 0, 0, 0, 1, 0]
SCORES = [1.0, 2.0, 2.0, 0.5, 3.0, 0.5, 1.0]


def entries(matrix: nf.Confusion) -> tuple[int, int, int, int]:
    """The four entries in the oracle's order."""
    return matrix.tp, matrix.fp, matrix.fn, matrix.tn


def ask(case: Case, **other) -> nf.Sweep:
    """Put a random case to `sweep`; ``other`` replaces arguments."""
    arguments = {
        "tolerances": [nf.Tolerance(**case.tolerance_arguments)],
        "times": case.times_argument,
        "mask": case.mask_argument,
    }
    return nf.sweep(case.truth, case.scores, **(arguments | other))


def assert_cells_are_the_oracles(curve: nf.Sweep, case: Case, row: int = 0) -> None:
    """Every count of a row, and both matrices, by the oracle."""
    for k, threshold in enumerate(curve.thresholds.tolist()):
        truth_side, prediction_side = case.tables(threshold)
        assert curve.n_predictions[k] == truth_side[0] + truth_side[1]
        assert curve.precision_hits[row, k] == truth_side[0]
        assert curve.recall_hits[row, k] == prediction_side[0]
        assert curve.near_events[row] == truth_side[0] + truth_side[2]
        assert curve.near_predictions[row, k] == prediction_side[0] + prediction_side[1]
        assert tuple(map(entries, curve.matrices(row, k))) == (truth_side, prediction_side)


@given(case=cases())
def test_every_distinct_score_is_a_threshold_with_the_oracles_counts(case):
    """By default one column for each distinct score of the open steps, ascending; ties, masks, clocks, any window."""
    curve = ask(case)
    distinct = sorted({z for z, is_open in zip(case.scores, case.open_steps, strict=True) if is_open})
    assert curve.thresholds.tolist() == distinct
    assert curve.shape == (1, len(distinct))
    assert (curve.n, curve.n_events) == (sum(case.open_steps), len(case.events))
    assert curve.left_out.masked == case.n - curve.n
    assert_cells_are_the_oracles(curve, case)


@given(case=cases(), thresholds=st.lists(st.floats(-4, 6), min_size=1, max_size=6))
def test_thresholds_may_lie_anywhere(case, thresholds):
    """thresholds= on scores, between them, below all and above all, with repeats and in any order."""
    curve = ask(case, thresholds=[*thresholds, 5, -math.inf, math.inf])
    assert curve.thresholds.tolist() == sorted([*thresholds, 5, -math.inf, math.inf])
    assert curve.quantiles is None
    assert_cells_are_the_oracles(curve, case)


@given(case=cases(), levels=st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_quantiles_are_those_of_evaluate(case, levels):
    """quantiles= gives, column for column, evaluate's threshold and counts for that quantile."""
    curve = ask(case, quantiles=levels)
    assert curve.quantiles is not None
    assert curve.quantiles.tolist() == sorted(levels)
    for k, level in enumerate(sorted(levels)):
        one = nf.evaluate(
            case.truth,
            case.scores,
            quantile=level,
            tolerance=nf.Tolerance(**case.tolerance_arguments),
            times=case.times_argument,
            mask=case.mask_argument,
        )
        assert curve.thresholds[k] == one.threshold
        assert curve.n_predictions[k] == one.n_predictions
        assert curve.matrices(0, k) == (one.tolerant_truth, one.tolerant_predictions)
    assert_cells_are_the_oracles(curve, case)


@given(case=cases(clocks=("none",)), widths=st.lists(st.integers(0, 25), min_size=1, max_size=4))
def test_each_tolerance_has_a_row_of_its_own(case, widths):
    """Rows follow the tolerances as they were passed, and do not depend on one another."""
    curve = ask(case, tolerances=widths)
    assert curve.shape == (len(widths), len(curve.thresholds))
    assert [t.early for t in curve.tolerances] == widths
    for row, width in enumerate(widths):
        assert_cells_are_the_oracles(curve, replace(case, early=width, late=width), row)


@given(case=cases())
def test_ratios_of_cells_are_those_of_evaluate(case):
    """Precision, recall, F1 and F_β of each cell equal evaluate's, NaN for NaN."""
    curve = ask(case, thresholds=range(-3, 7))
    for k, threshold in enumerate(curve.thresholds.tolist()):
        one = nf.evaluate(
            case.truth,
            case.scores,
            threshold=threshold,
            tolerance=nf.Tolerance(**case.tolerance_arguments),
            times=case.times_argument,
            mask=case.mask_argument,
        )
        np.testing.assert_array_equal(
            [curve.precision[0, k], curve.recall[0, k], curve.f1[0, k]], [one.precision, one.recall, one.f1]
        )
        np.testing.assert_allclose(curve.f_beta(2.5)[0, k], one.f_beta(2.5), rtol=1e-15)


@given(case=cases(), data=st.data())
def test_missing_scores_are_masked_steps(case, data):
    """NaN with missing="mask" gives the cells that mask= gives; no threshold is NaN."""
    scores = np.array(case.scores, dtype=float)
    scores[~np.array(case.open_steps)] = np.nan
    curve = nf.sweep(
        case.truth,
        scores,
        tolerances=[nf.Tolerance(**case.tolerance_arguments)],
        times=case.times_argument,
        missing="mask",
    )
    assert_cells_are_the_oracles(curve, case)
    assert (curve.left_out.missing, curve.left_out.masked) == (case.n - curve.n, 0)


@given(case=cases())
def test_best_is_the_lowest_threshold_of_the_largest_f1(case):
    """best() names the first cell of the largest F1, by looking at all of them; nothing where recall is undefined."""
    curve = ask(case)
    best = curve.best()
    values = curve.f1[0].tolist()
    if not case.events:
        assert best == []
    else:
        assert best == [(0, values.index(max(values)))]


def test_a_long_sequence_agrees_with_evaluate_at_every_threshold():
    """Windows of many widths over a sequence longer than any power of two in them, with heavy ties."""
    rng = np.random.default_rng(5)
    truth, scores = rng.random(700) < 0.05, rng.integers(0, 40, 700)
    widths = (0, 1, 2, 3, 7, 8, 63, 64, 350, 699, 700, 10**6)
    curve = nf.sweep(truth, scores, tolerances=widths)
    for d, width in enumerate(widths):
        for k in range(0, len(curve.thresholds), 5):
            alarms = scores >= curve.thresholds[k]
            near_event = np.array([truth[max(t - width, 0) : t + width + 1].any() for t in range(700)])
            near_alarm = np.array([alarms[max(t - width, 0) : t + width + 1].any() for t in range(700)])
            assert curve.precision_hits[d, k] == (alarms & near_event).sum()
            assert curve.recall_hits[d, k] == (truth & near_alarm).sum()
            assert (curve.near_events[d], curve.near_predictions[d, k]) == (near_event.sum(), near_alarm.sum())


@pytest.mark.parametrize("tolerances", [2, "2h", nf.Tolerance(early=1, late=2), np.int64(2), np.timedelta64(2, "h")])
def test_one_tolerance_needs_no_list(tolerances):
    """A single tolerance of any kind is one row."""
    hours = np.arange(7).astype("datetime64[h]")
    assert nf.sweep(TRUTH, SCORES, tolerances=tolerances, times=hours).shape == (1, 4)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_holds_every_cell_in_long_form(backend):
    """to_frame() in each library: a row a cell, tolerances outermost, numbers as numbers."""
    curve = nf.sweep(TRUTH, SCORES, tolerances=(0, 2))
    frame = curve.to_frame(backend)
    assert type(frame) is {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}[backend]
    columns = {
        "pandas": lambda: frame.to_dict("list"),
        "polars": lambda: frame.to_dict(as_series=False),
        "pyarrow": lambda: frame.to_pydict(),
    }[backend]()
    assert columns["tolerance"] == [0] * 4 + [2] * 4
    assert columns["threshold"] == [0.5, 1, 2, 3] * 2
    assert columns["n_predictions"] == [7, 5, 3, 1] * 2
    assert columns["precision_hits"] == curve.precision_hits.ravel().tolist()
    assert columns["recall_hits"] == curve.recall_hits.ravel().tolist()
    assert columns["precision"] == curve.precision.ravel().tolist()
    assert columns["recall"] == curve.recall.ravel().tolist()
    assert columns["f1"] == curve.f1.ravel().tolist()
    assert "quantile" not in columns


def test_a_frame_names_quantiles_and_mixed_tolerances():
    """Quantiles have a column; asymmetric and time tolerances are words in theirs."""
    hours = np.arange(7).astype("datetime64[h]")
    windows = ["2h", nf.Tolerance(early="1h", late="90min"), "0s"]
    for backend in ("pandas", "polars"):
        frame = nf.sweep(TRUTH, SCORES, tolerances=windows, times=hours, quantiles=[0.9, 0.5]).to_frame(backend)
        assert list(frame["tolerance"]) == ["2h"] * 2 + ["1h early to 1.5h late"] * 2 + ["0s"] * 2
        assert list(frame["quantile"]) == [0.5, 0.9] * 3


def test_an_unknown_frame_library_is_named():
    """A backend that is none is an error that lists those there are."""
    with pytest.raises(nf.InputError, match="backend='excel' must be one of 'pandas', 'polars', 'pyarrow'"):
        nf.sweep(TRUTH, SCORES).to_frame("excel")
    for wrong in (np.array(["a", "b"]), pd.DataFrame({"a": [0, 1]}), pd.NA, "", 0, ["pandas"]):
        with pytest.raises(nf.InputError, match=r"backend=.* must be one of 'pandas', 'polars', 'pyarrow'"):
            nf.sweep(TRUTH, SCORES).to_frame(wrong)


def test_csv_reads_back_to_the_same_numbers():
    """to_csv() carries full digits: reading it gives the very floats; undefined ones are empty fields."""
    curve = nf.sweep(TRUTH, [0.1, 0.2, 0.7, 1 / 3, 0.9, 1e-17, 0.2], tolerances=(0, 1), thresholds=[1 / 3, 0.1, 5])
    rows = list(csv.DictReader(io.StringIO(curve.to_csv())))
    assert len(rows) == 6
    for name, values in (("threshold", np.tile(curve.thresholds, 2)), ("precision", curve.precision.ravel())):
        read = [math.nan if row[name] == "" else float(row[name]) for row in rows]
        np.testing.assert_array_equal(read, values)
    assert [int(row["recall_hits"]) for row in rows] == curve.recall_hits.ravel().tolist()
    assert rows[2]["precision"] == ""


def test_infinite_thresholds_are_none_in_plain_values():
    """JSON has no infinity."""
    plain = nf.sweep(TRUTH, SCORES, thresholds=[-np.inf, 2, np.inf]).to_dict()
    assert plain["cells"]["threshold"] == [None, 2.0, None]
    json.dumps(plain, allow_nan=False)


def test_plain_values_have_none_for_undefined():
    """to_dict() holds Python's own numbers, and None where a ratio is undefined."""
    plain = nf.sweep(TRUTH, SCORES, thresholds=[2, 9]).to_dict()
    assert (plain["n"], plain["n_events"]) == (7, 2)
    assert plain["cells"]["n_predictions"] == [3, 0]
    assert plain["cells"]["precision"] == [1 / 3, None]
    assert all(type(value) is int for value in plain["cells"]["precision_hits"])


def test_no_events_make_recall_undefined_and_say_so():
    """Without events recall and F1 are NaN in every cell, precision is 0, and a note tells why."""
    curve = nf.sweep([0, 0, 0], [1, 2, 3], tolerances=(0, 1))
    assert np.isnan(curve.recall).all()
    assert np.isnan(curve.f1).all()
    assert (curve.precision == 0).all()
    assert "There are no events: recall is undefined." in curve.notes
    assert curve.best() == []
    assert "no events" in str(curve)


def test_one_step_is_a_sequence():
    """T = 1: one threshold, one cell, both measures 1."""
    curve = nf.sweep([1], [0.3], tolerances=(0, 5))
    assert curve.shape == (2, 1)
    assert curve.precision.tolist() == curve.recall.tolist() == [[1], [1]]


def test_equal_scores_give_one_threshold():
    """A constant score has a single threshold at which everything is predicted."""
    curve = nf.sweep(TRUTH, [4.0] * 7, tolerances=(0,))
    assert curve.thresholds.tolist() == [4.0]
    assert curve.n_predictions.tolist() == [7]
    assert curve.precision[0, 0] == 2 / 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"thresholds": [1], "quantiles": [0.5]}, "either thresholds or quantiles"),
        ({"thresholds": []}, "thresholds must be one or more numbers"),
        ({"thresholds": [1, math.nan]}, "thresholds must be one or more numbers without NaN"),
        ({"quantiles": [0.5, 1.5]}, "quantile=1.5 must be between 0 and 1"),
        ({"tolerances": []}, "tolerances is empty"),
        ({"tolerances": [-1]}, "tolerances=-1 must be finite and not negative"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    """Each wrong argument is an error that names it."""
    with pytest.raises(nf.InputError, match=message):
        nf.sweep(TRUTH, SCORES, **arguments)


@pytest.mark.parametrize("beta", [-1, math.inf, math.nan])
def test_a_wrong_beta_is_named(beta):
    """F_β needs a finite β that is not negative."""
    with pytest.raises(nf.InputError, match=r"beta=.* must be finite and not negative"):
        nf.sweep(TRUTH, SCORES).f_beta(beta)


def test_text_and_html_show_the_best_threshold_of_each_tolerance():
    """The printed table has a row for each tolerance, with its threshold; HTML holds the same."""
    curve = nf.sweep(TRUTH, SCORES, tolerances=(0, 2))
    text = str(curve)
    assert "0 steps" in text
    assert "2 steps" in text
    assert "7 steps, 2 events, 4 thresholds, 2 tolerances" in text
    assert "<table>" in curve._repr_html_()
