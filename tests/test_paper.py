"""The numbers of the paper, on the paper's data."""

import os

import numpy as np
import pytest

import nofluke as nf

pytestmark = pytest.mark.skipif(
    not os.environ.get("NOFLUKE_DATA"), reason="NOFLUKE_DATA is unset: it names the directory of the data"
)
HITS = {0: (39, 39), 1: (63, 97), 2: (80, 145), 4: (92, 178)}
"""By δ: events found (PAδ-AA) and predictions that hit (PA-AAδ), at the .9-quantile of the score."""


@pytest.fixture(scope="module")
def quakes():
    """Truth and energy transient score of the running example."""
    data = nf.datasets.load_earthquakes()
    return data.truth, nf.detectors.energy_transient(data.counts, short=3, long=14)


@pytest.mark.parametrize("delta", HITS)
def test_hits_at_the_09_quantile(quakes, delta):
    """2,557 days, 162 earthquakes, 256 predictions, and the hits of both kinds for each tolerance of Figure 2."""
    truth, scores = quakes
    result = nf.evaluate(truth, scores, quantile=0.9, tolerance=delta)
    assert (result.n, result.n_events, result.n_predictions) == (2557, 162, 256)
    assert (result.recall_hits, result.precision_hits) == HITS[delta]


@pytest.mark.parametrize("dated", [False, True])
@pytest.mark.parametrize("delta", HITS)
def test_auto_comes_to_the_null_of_the_paper(quakes, delta, dated):
    """Without a clock and with one, and in a sweep: what is printed is the paper's test, and says why."""
    truth, scores = quakes
    times = np.datetime64("2010-01-01") + np.arange(len(truth)) if dated else None
    result = nf.evaluate(truth, scores, quantile=0.9, tolerance=delta, times=times)
    assert result.settings.choice.label == "permutation (auto)"
    assert nf.sweep(truth, scores, quantiles=[0.5, 0.9], tolerances=delta, times=times).null.text == "permutation"


def test_precision_and_recall_as_printed(quakes):
    """δ = 2: the paper prints R = .49 and P = .56, digits cut and not rounded (.4938 and .5664)."""
    truth, scores = quakes
    result = nf.evaluate(truth, scores, quantile=0.9, tolerance=2)
    assert (result.recall, result.precision) == (80 / 162, 145 / 256)
    assert (int(100 * result.recall), int(100 * result.precision)) == (49, 56)


def test_both_tables_at_two_days(quakes):
    """Tables 1 and 2 by hand-made dilation: every entry, and both sums T."""
    truth, scores = quakes
    alarms = scores >= np.quantile(scores, 0.9)
    ones = np.ones(5, dtype=int)
    event_near = np.convolve(truth, ones, mode="same") > 0
    alarm_near = np.convolve(alarms, ones, mode="same") > 0
    result = nf.evaluate(truth, scores, quantile=0.9, tolerance=2)
    for matrix, rows, columns in (
        (result.tolerant_truth, alarms, event_near),
        (result.tolerant_predictions, alarm_near, truth),
    ):
        assert matrix.tp == (rows & columns).sum()
        assert matrix.fp == (rows & ~columns).sum()
        assert matrix.fn == (~rows & columns).sum()
        assert matrix.tn == (~rows & ~columns).sum()
        assert matrix.total == 2557


def test_the_figure_from_one_sweep(quakes):
    """Figure 2: quantiles 0, .02, ... .98 and δ = 0, 1, 2, 4; recall falls with the threshold, both rise with δ."""
    truth, scores = quakes
    curve = nf.sweep(truth, scores, tolerances=tuple(HITS), quantiles=np.arange(50) / 50)
    column = 45
    assert curve.quantiles[column] == 0.9
    for row, hits in enumerate(HITS.values()):
        assert (curve.recall_hits[row, column], curve.precision_hits[row, column]) == hits
    assert (np.diff(curve.recall_hits, axis=1) <= 0).all()
    assert (np.diff(curve.recall_hits, axis=0) >= 0).all()
    assert (np.diff(curve.precision_hits, axis=0) >= 0).all()


def test_every_threshold_of_a_sweep_is_an_evaluation(quakes):
    """All distinct scores at once: a sample of columns against evaluate, δ = 2."""
    truth, scores = quakes
    curve = nf.sweep(truth, scores, tolerances=2)
    assert len(curve.thresholds) == len(np.unique(scores))
    for k in range(0, len(curve.thresholds), 211):
        one = nf.evaluate(truth, scores, threshold=curve.thresholds[k], tolerance=2)
        assert curve.matrices(0, k) == (one.tolerant_truth, one.tolerant_predictions)


def test_exact_p_values_and_moments(quakes):
    """δ = 2, .9-quantile: p-values to six digits, exact means and variances, where the paper can only say p < .0001."""
    truth, scores = quakes
    result = nf.evaluate(truth, scores, quantile=0.9, tolerance=2)
    assert f"{result.recall_test.pvalue:.5e}" == "1.56558e-12"
    assert f"{result.precision_test.pvalue:.5e}" == "4.06298e-12"
    assert result.precision_test.law.mean == pytest.approx(71.49893, abs=5e-6)
    assert result.precision_test.law.var == pytest.approx(102.24024, abs=5e-6)
    assert result.recall_test.law.mean == pytest.approx(39.91396, abs=5e-6)


def test_recall_is_nearly_binomial_and_precision_overdispersed(quakes):
    """Section 3.2: recall's null has nearly the binomial's variance (no replacement), precision's twice that."""
    truth, scores = quakes
    result = nf.evaluate(truth, scores, quantile=0.9, tolerance=2)
    for test, least, most in ((result.recall_test, 0.9, 1.0), (result.precision_test, 1.9, 2.1)):
        binomial = test.expected * (1 - test.expected / test.of)
        assert least < test.law.var / binomial < most


@pytest.mark.slow
def test_monte_carlo_agrees_with_exact_in_every_cell(quakes):
    """50 quantiles, four tolerances, both measures: 10,000 permutations agree with the exact p within their error."""
    truth, scores = quakes
    settings = {"quantiles": np.arange(50) / 50, "tolerances": (0, 1, 2, 4)}
    exact = nf.sweep(truth, scores, **settings).chance
    n = 10_000
    drawn = nf.sweep(truth, scores, **settings, method="montecarlo", n_resamples=n, rng=1).chance
    for side in ("precision", "recall"):
        p, q = getattr(exact, side).pvalue, getattr(drawn, side).pvalue
        assert p.shape == (4, 50)
        assert (np.abs(p - q) <= 4.5 * np.sqrt(p * (1 - p) / n) + 2 / n).all()
