"""Without tolerance nofluke's numbers are scikit-learn's: counts exactly, ratios to the last digits."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn import metrics

import nofluke as nf

pairs = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 6)), min_size=1, max_size=40)


def split(rows: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Truth and scores."""
    return np.array([e for e, _ in rows]), np.array([z for _, z in rows])


@given(rows=pairs, threshold=st.integers(-1, 7), zero_division=st.sampled_from([0.0, 1.0]))
def test_precision_recall_and_f_are_scikit_learns(rows, threshold, zero_division):
    """precision_score, recall_score, f1_score and fbeta_score, with zero_division where they are undefined."""
    truth, scores = split(rows)
    alarms = (scores >= threshold).astype(int)
    result = nf.evaluate(truth, scores, threshold=threshold, zero_division=zero_division)
    options = {"zero_division": zero_division}
    assert result.precision == metrics.precision_score(truth, alarms, **options)
    assert result.recall == metrics.recall_score(truth, alarms, **options)
    assert result.f1 == pytest.approx(metrics.f1_score(truth, alarms, **options), rel=1e-14)
    for beta in (0, 0.5, 2):
        expected = metrics.fbeta_score(truth, alarms, beta=beta, **options)
        assert result.f_beta(beta) == pytest.approx(expected, rel=1e-14)


@given(rows=pairs, threshold=st.integers(-1, 7))
def test_undefined_is_nan_as_in_scikit_learn(rows, threshold):
    """zero_division=nan, the default here: both precisions are NaN together, and so are both recalls."""
    truth, scores = split(rows)
    alarms = (scores >= threshold).astype(int)
    result = nf.evaluate(truth, scores, threshold=threshold)
    np.testing.assert_array_equal(
        [result.precision, result.recall],
        [
            metrics.precision_score(truth, alarms, zero_division=np.nan),
            metrics.recall_score(truth, alarms, zero_division=np.nan),
        ],
    )


@given(rows=pairs, threshold=st.integers(-1, 7))
def test_both_matrices_are_the_confusion_matrix(rows, threshold):
    """δ = 0: the two matrices coincide with confusion_matrix, and say that no side is tolerant."""
    truth, scores = split(rows)
    (tn, fp), (fn, tp) = metrics.confusion_matrix(truth, scores >= threshold, labels=[0, 1]).tolist()
    result = nf.evaluate(truth, scores, threshold=threshold)
    expected = nf.Confusion(tp=tp, fp=fp, fn=fn, tn=tn)
    assert result.tolerant_truth == result.tolerant_predictions == expected
    assert expected.tolerance_in == "neither"


@given(rows=pairs, threshold=st.integers(0, 6))
def test_measures_of_the_matrix_are_scikit_learns(rows, threshold):
    """MCC, Jaccard, balanced accuracy, kappa, accuracy, Hamming loss, informedness, likelihood ratios, if defined."""
    truth, scores = split(rows)
    alarms = (scores >= threshold).astype(int)
    matrix = nf.evaluate(truth, scores, threshold=threshold).tolerant_truth
    assert matrix.measure("accuracy") == metrics.accuracy_score(truth, alarms)
    assert matrix.measure("error_rate") == pytest.approx(metrics.hamming_loss(truth, alarms), rel=1e-13)
    if matrix.tp + matrix.fp + matrix.fn:
        assert matrix.measure("jaccard") == metrics.jaccard_score(truth, alarms)
        assert matrix.measure("f1") == metrics.f1_score(truth, alarms, zero_division=0)
    assume(0 < matrix.actual < matrix.total)
    expected = metrics.balanced_accuracy_score(truth, alarms)
    assert matrix.measure("balanced_accuracy") == pytest.approx(expected, rel=1e-13)
    adjusted = metrics.balanced_accuracy_score(truth, alarms, adjusted=True)
    assert matrix.measure("informedness") == pytest.approx(adjusted, rel=1e-13, abs=1e-15)
    kappa = metrics.cohen_kappa_score(truth, alarms)
    assert matrix.measure("kappa") == pytest.approx(kappa, rel=1e-12, abs=1e-15)
    if 0 < matrix.predicted < matrix.total:
        mcc = metrics.matthews_corrcoef(truth, alarms)
        assert matrix.measure("mcc") == pytest.approx(mcc, rel=1e-12, abs=1e-15)
    if matrix.fp and matrix.tn:
        ratios = metrics.class_likelihood_ratios(truth, alarms)
        found = (matrix.measure("positive_likelihood_ratio"), matrix.measure("negative_likelihood_ratio"))
        assert found == pytest.approx(ratios, rel=1e-13)


@given(rows=pairs)
def test_a_sweep_is_the_precision_recall_curve(rows):
    """Every distinct threshold of precision_recall_curve, with its precision and recall; its last point has none."""
    truth, scores = split(rows)
    assume(truth.any())
    precision, recall, thresholds = metrics.precision_recall_curve(truth, scores)
    curve = nf.sweep(truth, scores)
    assert curve.thresholds.tolist() == thresholds.tolist()
    assert curve.precision[0].tolist() == precision[:-1].tolist()
    assert curve.recall[0].tolist() == recall[:-1].tolist()


def test_a_long_sweep_is_the_precision_recall_curve():
    """Ten thousand floats with ties among them: the same curve to the last bit."""
    rng = np.random.default_rng(11)
    truth, scores = rng.random(10_000) < 0.1, np.round(rng.normal(size=10_000), 3)
    precision, recall, thresholds = metrics.precision_recall_curve(truth, scores)
    curve = nf.sweep(truth, scores)
    np.testing.assert_array_equal(curve.thresholds, thresholds)
    np.testing.assert_array_equal(curve.precision[0], precision[:-1])
    np.testing.assert_array_equal(curve.recall[0], recall[:-1])


def test_where_scikit_learn_disagrees_with_itself_we_are_undefined():
    """Without events scikit-learn's curve says recall 1, its score 0 (both warn); we say NaN in both places."""
    truth, scores = [0, 0, 0], [1, 2, 3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert metrics.precision_recall_curve(truth, scores)[1][0] == 1
        assert metrics.recall_score(truth, [1, 1, 1]) == 0
    assert np.isnan(nf.evaluate(truth, scores, threshold=1).recall)
    assert np.isnan(nf.sweep(truth, scores).recall).all()
