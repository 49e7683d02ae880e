"""Metrics by the order of scores: against transcriptions of their definitions, on rotations, and where undefined."""

import itertools
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn import metrics as peer

import nofluke as nf
import oracles
from nofluke import InputError, metrics
from nofluke.metrics.draws import Draws
from nofluke.metrics.labelled import read_labelled
from nofluke.metrics.ranking import ascending, chance_average_precision, places_from_above, twice_midranks
from nofluke.series.tolerance import Ranges

BETAS = (Fraction(1), Fraction(0), Fraction(1, 2), Fraction(3))
WAYS = {
    "auc-roc": [("auc-roc", oracles.slow_auc_roc)],
    "average-precision": [("average-precision", oracles.slow_average_precision)],
    **{
        name: [
            (f"{name}:beta={float(beta)}", partial(oracles.slow_best_f1, beta=beta, adjust="pa" in name))
            for beta in BETAS
        ]
        for name in ("best-f1", "best-pa-f1")
    },
}
"""Of each metric, all settings that are tried, each with its transcription."""


def a_case(rng, longest=14):
    """Runs that may touch and lie at both borders, and scores with ties or without."""
    n = int(rng.integers(1, longest))
    edges = np.flatnonzero(np.concatenate([[True], rng.random(n - 1) < rng.choice([0.2, 0.6]), [True]])).tolist()
    chosen = rng.choice([0.3, 0.5, 1.0])
    runs = [pair for pair in itertools.pairwise(edges) if rng.random() < chosen]
    scores = rng.normal(size=n) if rng.random() < 0.3 else rng.integers(-1, rng.choice([0, 1, 4]), n) / 2
    return runs, n, scores


def as_ranges(runs):
    return Ranges(
        starts=np.array([a for a, _ in runs], dtype=np.int64), stops=np.array([b for _, b in runs], dtype=np.int64)
    )


def on_rotations(metric, runs, n, scores):
    """Values for the detector begun at each of its steps, through one call."""
    some = read_labelled(np.arange(n) == 0, scores)
    tables = metric.tables(np.concatenate([scores, scores]), some)
    return metric.values(tables, Draws.moving(as_ranges(runs), n, np.arange(n)))


def same(value, expected):
    return math.isnan(value) if expected is None else value == pytest.approx(float(expected), rel=1e-14, abs=0)


@pytest.mark.parametrize("name", WAYS)
def test_values_are_those_of_the_definition_on_every_rotation(name):
    """1,200 small series with ties, runs at both borders, touching runs, single steps, no label and all labels.

    Every ninth has all of its rotations looked at, the others two of them.
    """
    rng, ways = np.random.default_rng(7), [(metrics.get(text), slow) for text, slow in WAYS[name]]
    for case in range(1_200):
        runs, n, scores = a_case(rng)
        begins = np.arange(n) if case % 9 == 0 else rng.integers(0, n, 2)
        metric, slow = ways[case % len(ways)]
        found = on_rotations(metric, runs, n, scores)
        for begin in begins.tolist():
            expected = slow(runs, n, np.roll(scores, -begin).tolist())
            assert same(found[begin], expected), (runs, scores, begin)


def test_all_rotations_of_auc_roc_at_once_are_those_one_by_one():
    """By a Fourier transform, to the last bit but that of one division."""
    rng = np.random.default_rng(9)
    for n in (2, 3, 97, 1_000):
        truth, scores = np.arange(n) % 7 == 1, rng.integers(0, n // 2 + 1, n) / 2
        series, metric = read_labelled(truth, scores), metrics.AUCROC()
        one_by_one = metric.values(
            metric.tables(np.concatenate([scores, scores]), series), Draws.moving(series.runs, n, np.arange(n))
        )
        np.testing.assert_allclose(metric.every_rotation(scores, series), one_by_one, rtol=0, atol=1e-15)


@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from([-2.5, -0.0, 0.0, 1e-300, 0.1, 0.1 + 2e-17, 7.0])), min_size=1)
)
def test_average_precision_and_auc_are_scikit_learns(pairs):
    """Where that has an answer."""
    truth, scores = (np.array(column) for column in zip(*pairs, strict=True))
    if truth.any():
        expected = peer.average_precision_score(truth, scores)
        assert metrics.AveragePrecision()(truth, scores) == pytest.approx(expected, rel=1e-13)
    if truth.any() and not truth.all():
        assert metrics.AUCROC()(truth, scores) == pytest.approx(peer.roc_auc_score(truth, scores), rel=1e-13)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9)), min_size=1), st.integers(1, 5))
def test_only_the_order_of_the_scores_counts(pairs, shift):
    """A rising function of the scores changes nothing, not in the last bit."""
    truth, scores = (np.array(column) for column in zip(*pairs, strict=True))
    for name in WAYS:
        metric = metrics.get(name)
        np.testing.assert_equal(metric(truth, np.exp(scores / shift) - 20), metric(truth, scores))


def test_best_values_are_no_lower_than_at_any_threshold():
    """And adjusting never lowers them; perfect scores have 1."""
    rng = np.random.default_rng(1)
    truth, scores = rng.random(300) < 0.2, rng.integers(0, 40, 300)
    best = metrics.BestF1()(truth, scores)
    assert best == max(peer.f1_score(truth, scores >= threshold) for threshold in range(40))
    assert metrics.BestPAF1()(truth, scores) >= best
    for name in WAYS:
        assert metrics.get(name)(truth, truth * 2.0) == 1.0


def test_undefined_cases_have_an_answer():
    """No label: NaN. All labels, or one step: 1, but no area under a ROC curve. Equal scores: one threshold."""
    for name in WAYS:
        metric = metrics.get(name)
        assert math.isnan(metric([0, 0, 0], [1.0, 2.0, 3.0]))
        assert math.isnan(metric([0], [1.0]))
        assert metric([1], [0.0]) == 1.0 or name == "auc-roc"
        assert metric([1, 1], [0.0, 4.0]) == 1.0 or name == "auc-roc"
    assert math.isnan(metrics.AUCROC()([1, 1], [0.0, 4.0]))
    assert metrics.AveragePrecision()([0, 1, 0, 0], [5.0] * 4) == 0.25
    assert metrics.BestF1()([0, 1, 0, 0], [5.0] * 4) == metrics.BestPAF1()([0, 1, 0, 0], [5.0] * 4) == 0.4


def test_ranges_that_touch_are_adjusted_one_by_one():
    """Two ranges of two steps, the first with the highest score, the second with the lowest: labels cannot say so."""
    scores = [0.5, 9.0, 1.0, 0.1, 0.2, 5.0]
    assert metrics.BestPAF1()([(1, 2), (3, 4)], scores, truth_as="ranges") == pytest.approx(0.8)
    assert metrics.BestPAF1()([0, 1, 1, 1, 1, 0], scores) == 1.0


@pytest.mark.parametrize("beta", [-1, math.nan, math.inf, "two", None])
@pytest.mark.parametrize("kind", [metrics.BestF1, metrics.BestPAF1])
def test_a_beta_that_is_none_is_refused(kind, beta):
    """In one line that names it."""
    with pytest.raises(InputError, match=r"beta=.* must be finite and not negative"):
        kind(beta=beta)


def test_names_carry_the_settings():
    """By name as by class, and back; what needs scores says so."""
    assert metrics.get("best-pa-f1:beta=0.5") == metrics.BestPAF1(beta=0.5)
    assert metrics.BestF1(beta=np.float32(2)).text == "best-f1:beta=2"
    assert metrics.get("average-precision").text == "average-precision"
    with pytest.raises(InputError, match="'best-f1' needs scores, and predictions were passed"):
        metrics.BestF1()([0, 1], predictions=[0, 1])


def test_mean_average_precision_of_permuted_steps_is_that_of_all_permutations():
    """Every placement of the labels before scores without ties, as a fraction; and known values of harmonic numbers."""
    for n in range(1, 9):
        for labelled in range(1, n + 1):
            rows = [[(t, t + 1) for t in row] for row in itertools.combinations(range(n), labelled)]
            mean = sum(oracles.slow_average_precision(row, n, range(n)) for row in rows) / len(rows)
            assert chance_average_precision(n, labelled) == pytest.approx(float(mean), rel=1e-14)
    assert math.isnan(chance_average_precision(5, 0))
    for n in (
        999,
        1_000,
        1_001,
        20_000,
    ):  # with one label the mean is H_T / T; below and above where the sum is cut short
        exact = math.fsum(1 / k for k in range(1, n + 1)) / n
        assert chance_average_precision(n, 1) == pytest.approx(exact, rel=1e-15)


HARD = st.sampled_from([0.0, -0.0, 1.0, np.nextafter(1.0, 2), np.nextafter(1.0, 0), 5e-324, -5e-324, 1e308, -1e308])


@given(st.lists(HARD | st.floats(allow_nan=False, allow_infinity=False), min_size=0, max_size=200))
@example([0.0, -0.0])
@example([1e308, -8e307])
def test_sorting_is_that_of_a_stable_sort(values):
    """Of any finite floats: tiny, huge, of both signs, equal and next to one another; -0.0 equals 0.0."""
    scores = np.array(values, dtype=np.float64)
    np.testing.assert_array_equal(ascending(scores), np.argsort(scores, kind="stable"))


def test_sorting_sees_differences_in_the_last_bit():
    """Many numbers next to one another beside some far away: the leading bits of a word cannot tell them apart."""
    rng = np.random.default_rng(3)
    close = 1.0 + rng.integers(0, 2**12, 3_000) * 2.0**-52
    scores = rng.permutation(np.concatenate([close, -close, [-1e300, 1e300, 0.0, -0.0]]))
    order = np.argsort(scores, kind="stable")
    np.testing.assert_array_equal(ascending(scores), order)
    places, reach = places_from_above(scores)
    np.testing.assert_array_equal(np.sort(places), np.arange(len(scores)))
    np.testing.assert_array_equal(reach[places], [(scores >= score).sum() for score in scores])
    low, high = np.searchsorted(scores[order], scores), np.searchsorted(scores[order], scores, side="right")
    np.testing.assert_array_equal(twice_midranks(scores), low + high + 1)


def test_random_scores_need_not_be_drawn_for_their_best_adjusted_f(monkeypatch):
    """Draws of run maxima and counts above them have the metric's law on random scores: means, deviations, tails."""
    labels = np.zeros(400, dtype=int)
    for start, length in ((0, 60), (100, 1), (130, 25), (399, 1)):
        labels[start : start + length] = 1
    for beta in (1.0, 2.0):
        metric = metrics.BestPAF1(beta=beta)
        quick = nf.chance(metric, labels, n_resamples=20_000, rng=1)
        monkeypatch.setattr(metrics.BestPAF1, "on_random_scores", lambda *_: None)
        slow = nf.chance(metric, labels, n_resamples=4_000, rng=2)
        monkeypatch.undo()
        error = slow.std / np.sqrt(4_000)
        assert abs(quick.expected - slow.expected) < 4 * error
        assert abs(quick.std / slow.std - 1) < 0.06
        for level in (0.1, 0.5, 0.9):
            bar = np.quantile(slow.values, level)
            assert abs((quick.values <= bar).mean() - (slow.values <= bar).mean()) < 0.035
