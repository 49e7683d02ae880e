"""Thresholds that mean what they say: budgets, ties, precision of scores, reversed scores, advice on non-scores."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nofluke as nf
from nofluke.errors import InputError

TRUTH = [0, 0, 1, 0, 0, 0, 0, 1, 0, 0]
SCORES = [0, 1, 0, 9, 0, 0, 8, 0, 1, 7]


# budgets


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=30),
    st.sampled_from([0.01, 0.1, 0.29, "29%", 0.5, "33.3%", 0.99]),
    st.sampled_from(["anomalous", "normal"]),
)
def test_a_budget_is_never_exceeded_and_used_as_far_as_ties_allow(scores, budget, higher_is):
    """The least threshold among the scores that no more than this share of the steps reach."""
    share = {"29%": 29, "33.3%": 33.3}.get(budget, 100 * budget if not isinstance(budget, str) else None)
    allowed = int(round(share * len(scores), 6) // 100)
    sign = 1 if higher_is == "anomalous" else -1
    turned = [sign * z for z in scores]
    fits = [z for z in sorted(set(turned)) if sum(other >= z for other in turned) <= allowed]
    result = nf.evaluate([0] * len(scores), scores, budget=budget, higher_is=higher_is, truth_as="labels")
    assert result.n_predictions == (sum(z >= fits[0] for z in turned) if fits else 0)
    assert result.threshold == (sign * fits[0] if fits else sign * np.inf)
    assert any("leaves no prediction" in note for note in result.notes) is (not fits)


def test_a_budget_is_told_in_words_and_json():
    """In the title, in JSON and in code that makes the same report."""
    result = nf.evaluate(TRUTH, SCORES, budget="20%")
    assert (result.budget, result.threshold, result.n_predictions, result.quantile) == (0.2, 8.0, 2, None)
    assert "2 predictions (score ≥ 8, a budget of 20%)" in result.table().title
    assert result.to_dict()["budget"] == 0.2
    assert nf.evaluate(TRUTH, SCORES, threshold=8).budget is None


def test_a_budget_that_leaves_nothing_says_why():
    """Ties at the top, or less than one step."""
    tied = nf.evaluate(TRUTH, [5] * 4 + [0] * 6, budget=0.3)
    assert "A budget of 30% of 10 steps leaves no prediction: 4 of them are tied at the highest score." in tied.notes
    assert (tied.n_predictions, tied.threshold, tied.to_dict()["threshold"]) == (0, np.inf, None)
    small = nf.evaluate(TRUTH, SCORES, budget="1%")
    assert "A budget of 1% of 10 steps leaves no prediction: that is less than one." in small.notes


def test_budgets_of_a_sweep():
    """From the largest to the smallest, so that thresholds ascend; in the long form too."""
    curve = nf.sweep(TRUTH, SCORES, budgets=["10%", 0.3])
    assert (curve.budgets.tolist(), curve.thresholds.tolist()) == ([0.3, 0.1], [7.0, 9.0])
    assert curve.n_predictions.tolist() == [3, 1]
    assert curve.columns()["budget"].tolist() == [0.3, 0.1]
    assert nf.sweep(TRUTH, SCORES, budgets="30%").thresholds.tolist() == [7.0]
    assert nf.diagnose(TRUTH, SCORES, budget=0.3).n_predictions == 3


@pytest.mark.parametrize("budget", [0, 1, -0.1, 1.5, "0%", "100%", "many", float("nan"), True, [0.1]])
def test_a_budget_that_is_no_share_says_so(budget):
    """Above 0 and below 1."""
    with pytest.raises(InputError, match=r"budget=.* must be a share above 0 and below 1, such as 0.01 or '1%'"):
        nf.evaluate(TRUTH, SCORES, budget=budget)


def test_exactly_one_of_three_ways_to_choose():
    """Two are an error that names them."""
    with pytest.raises(InputError, match="got quantile and budget"):
        nf.evaluate(TRUTH, SCORES, quantile=0.9, budget=0.1)
    with pytest.raises(InputError, match="only apply to scores: leave them out with predictions"):
        nf.evaluate(TRUTH, predictions=TRUTH, budget=0.1)


def test_ties_at_a_quantile_are_noted():
    """Where they make more than twice the predictions that were asked for, and not where they do not."""
    scores = [0] * 80 + [1] * 20
    truth = [0, 1] * 50
    notes = nf.evaluate(truth, scores, quantile=0.95).notes
    assert (
        "Ties make 20 predictions at the 0.95 quantile, which should give 5: a budget leaves out scores tied at the "
        "cut." in notes
    )
    assert not [note for note in nf.evaluate(truth, scores, quantile=0.9).notes if "Ties" in note]
    assert not [note for note in nf.evaluate(truth, range(100), quantile=0.99).notes if "Ties" in note]
    assert not [note for note in nf.evaluate([0, 1, 0], [1, 2, 3], quantile=1.0).notes if "Ties" in note]
    assert [
        note for note in nf.sweep(truth, scores, quantiles=[0.5, 0.95, 0.99]).notes if "1 other quantile(s)" in note
    ]


# precision of the scores


@pytest.mark.parametrize("kind", [np.float32, np.float16])
@pytest.mark.parametrize(
    "wrap",
    [np.asarray, pd.Series, pl.Series, pa.array, lambda z: pd.Series(z).astype(z.dtype), list],
    ids=["numpy", "pandas", "polars", "pyarrow", "pandas typed", "list"],
)
def test_short_floats_are_compared_as_numpy_does(kind, wrap):
    """`scores >= 0.7` of 32-bit scores; the threshold that is reported stays the number that was passed."""
    scores = (np.arange(1000) % 10 / 10).astype(kind)
    if kind is np.float16 and wrap in (pl.Series, pa.array):
        pytest.skip("they have no such type that narwhals reads")
    expected = int((scores >= 0.7).sum())
    assert expected == 300
    truth = np.arange(1000) % 7 == 0
    result = nf.evaluate(truth, wrap(scores), threshold=0.7)
    assert (result.n_predictions, result.threshold) == (expected, 0.7)
    assert (int((scores.astype(np.float64) >= 0.7).sum()) != expected) is (kind is np.float32)
    curve = nf.sweep(truth, wrap(scores), thresholds=[0.7, 0.3])
    assert curve.n_predictions.tolist() == [int((scores >= 0.3).sum()), expected]
    assert curve.thresholds.tolist() == [0.3, 0.7]
    below = nf.evaluate(truth, wrap(scores), threshold=0.7, higher_is="normal")
    assert (below.n_predictions, below.threshold) == (int((scores <= kind(0.7)).sum()), 0.7)


def test_short_floats_with_gaps_stay_short():
    """Missing values do not make 64-bit scores of 32-bit ones."""
    scores = pd.Series([0.7, None, 0.1, 0.7], dtype="float32")
    assert nf.evaluate([0, 1, 0, 1], scores, threshold=0.7, missing="mask").n_predictions == 2
    scores = pl.Series([0.7, None, 0.1, 0.7], dtype=pl.Float32)
    assert nf.evaluate([0, 1, 0, 1], scores, threshold=0.7, missing="mask").n_predictions == 2


def test_short_floats_in_files(tmp_path):
    """A column of 32-bit floats of a Parquet file."""
    from nofluke.data.files import read_columns

    table = pa.table({"y": [0, 1, 0], "z": pa.array([0.7, 0.1, 0.7], pa.float32())})
    pq.write_table(table, tmp_path / "data.parquet")
    data = read_columns(tmp_path / "data.parquet", columns={"truth": "y", "scores": "z"}).values
    assert nf.evaluate(data["truth"], data["scores"], threshold=0.7).n_predictions == 2


# turned scores


@given(
    st.lists(st.integers(0, 6), min_size=2, max_size=20),
    st.lists(st.booleans(), min_size=20, max_size=20),
    st.integers(-1, 7),
    st.sampled_from([0.0, 0.5, 0.9, 1.0]),
)
def test_where_higher_is_normal_low_scores_are_predictions(scores, truth, threshold, level):
    """As if all scores had the other sign, but for the threshold, which stays in the scores' own numbers."""
    truth = truth[: len(scores)]
    turned = [-z for z in scores]
    options = {"tolerance": 1, "truth_as": "labels"}
    here = nf.evaluate(truth, scores, threshold=threshold, higher_is="normal", **options)
    there = nf.evaluate(truth, turned, threshold=-threshold, **options)
    assert here.n_predictions == there.n_predictions == sum(z <= threshold for z in scores)
    assert (here.precision_hits, here.recall_hits) == (there.precision_hits, there.recall_hits)
    assert here.threshold == threshold
    here = nf.evaluate(truth, scores, quantile=level, higher_is="normal", **options)
    there = nf.evaluate(truth, turned, quantile=level, **options)
    assert (here.n_predictions, here.threshold) == (there.n_predictions, -there.threshold)
    curve = nf.sweep(truth, scores, higher_is="normal", truth_as="labels")
    assert curve.thresholds.tolist() == sorted(set(scores), reverse=True)
    assert curve.n_predictions.tolist() == [sum(z <= cut for z in scores) for cut in curve.thresholds]


def test_words_of_turned_scores():
    """A title says which side is predicted; alarms have no such side."""
    result = nf.evaluate(TRUTH, SCORES, threshold=0, higher_is="normal")
    assert "(score ≤ 0)" in result.table().title
    assert result.to_dict()["higher_is"] == "normal"
    with pytest.raises(InputError, match="higher_is='normal' flips scores: leave it out with predictions"):
        nf.evaluate(TRUTH, predictions=TRUTH, higher_is="normal")
    with pytest.raises(InputError, match="higher_is='low' must be one of 'anomalous', 'normal'"):
        nf.sweep(TRUTH, SCORES, higher_is="low")


def test_a_detector_that_is_turned_round_is_noticed():
    """Far fewer hits than chance: the note says what to pass, in either direction, and for alarms."""
    rng = np.random.default_rng(0)
    truth = rng.random(1000) < 0.3
    scores = truth + 0.1 * rng.random(1000)

    def told(**options):
        notes = nf.evaluate(truth, tolerance=0, **options).notes
        return [note for note in notes if "as if the detector were inverted" in note]

    assert 'pass higher_is="normal"' in told(scores=-scores, quantile=0.8)[0]
    assert told(scores=-scores, quantile=0.8, higher_is="normal") == []
    assert 'pass higher_is="anomalous"' in told(scores=scores, quantile=0.8, higher_is="normal")[0]
    assert "pass predictions= with 1 for an alarm" in told(predictions=~truth)[0]
    assert told(scores=rng.random(1000), quantile=0.8) == []


# what is no score, and no alarm


def test_alarms_of_minus_one_and_one_say_which_is_which():
    """As outlier detectors of scikit-learn return them, also where they are passed as scores."""
    outliers = [1, 1, -1, 1]
    message = r"got -1 and 1: .* -1 for an outlier .*: pass predictions=\(y == -1\)"
    with pytest.raises(InputError, match=message):
        nf.evaluate([0, 0, 1, 0], predictions=outliers)
    with pytest.raises(InputError, match=r"pass truth=\(y == -1\)"):
        nf.evaluate(outliers, [1, 2, 3, 4], threshold=2)
    with pytest.raises(InputError, match=r"all -1 or 1.*pass predictions=\(y == -1\)"):
        nf.evaluate([0, 0, 1, 0], outliers)
    assert nf.evaluate([0, 0, 1, 0], outliers, threshold=-1, higher_is="normal").recall == 1


@pytest.mark.parametrize("alarms", [[0, 0, 1, 0], [False, True, False, False], [0.0, 0, 0, 0]])
def test_alarms_in_the_place_of_scores_are_offered_theirs(alarms):
    """evaluate(y, y_pred), as one calls scikit-learn."""
    with pytest.raises(InputError, match=r"all 0 or 1: if these are alarms, pass them as predictions="):
        nf.evaluate([0, 0, 1, 0], alarms)
    with pytest.raises(InputError) as caught:
        nf.evaluate([0, 0, 1, 0], [1, 2, 3, 4])
    assert "predictions=" not in str(caught.value)


@pytest.mark.parametrize(
    ("scores", "advice"),
    [
        ([1, -np.inf, 3], r"replace -inf by the smallest finite score, or one below it \(1\)\.$"),
        ([1, np.inf, 3], r"replace inf by the largest finite score, or one above it \(3\)\.$"),
        ([1, np.inf, -np.inf], r"replace -inf by .* \(1\) and inf by .* \(1\)\.$"),
        ([-np.inf, -np.inf, -np.inf], r"replace -inf by the smallest finite score, or one below it\.$"),
    ],
)
def test_advice_on_infinite_scores_keeps_their_order(scores, advice):
    """The lowest must not become alarms."""
    with pytest.raises(InputError, match=advice):
        nf.evaluate([0, 1, 0], scores, threshold=2)
