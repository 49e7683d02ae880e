"""The dynamic programme for few events, against enumeration, the other programme and the hypergeometric law."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nofluke as nf
from exact_oracles import enumerate_joint
from nofluke.laws import costs
from nofluke.laws.exact import few, programme
from nofluke.series.counting import Windows

evaluate = partial(nf.evaluate, null="permutation")


@st.composite
def problems(draw):
    """Nondecreasing, unequal, perhaps equal windows, and any number of events."""
    n_steps = draw(st.integers(1, 9))
    n = draw(st.integers(0, 8))
    starts = np.sort(np.array(draw(st.lists(st.integers(0, n_steps - 1), min_size=n, max_size=n)), dtype=np.int64))
    widths = np.array(draw(st.lists(st.integers(1, 5), min_size=n, max_size=n)), dtype=np.int64)
    stops = np.maximum.accumulate(np.minimum(starts + widths, n_steps))
    return Windows(starts=starts, stops=stops, n_steps=n_steps), draw(st.integers(0, n_steps))


@settings(max_examples=150, deadline=None)
@given(problems())
def test_joint_law_is_that_of_all_placements(problem):
    """Every entry equals the share of placements with so many events covered and predictions hit."""
    windows, m = problem
    table = few.joint_pmf(windows, m)
    expected = np.zeros((m + 1, windows.n + 1))
    for (r, c), weight in enumerate_joint(windows.starts, windows.stops, windows.n_steps, m).items():
        expected[r, c] = float(weight)
    whole = np.zeros_like(expected)
    whole[: table.shape[0], : table.shape[1]] = table
    np.testing.assert_allclose(whole, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("n_steps", "delta", "m"), [(400, 2, 3), (300, 20, 6), (200, 0, 5)])
def test_agrees_with_the_other_programme(n_steps, delta, m):
    """Where every step is predicted, hits and misses counted give the same law, to every digit that matters."""
    steps = np.arange(n_steps)
    windows = Windows(
        starts=np.maximum(steps - delta, 0), stops=np.minimum(steps + delta + 1, n_steps), n_steps=n_steps
    )
    one, other = few.joint_pmf(windows, m), programme.joint_pmf(windows, m)
    np.testing.assert_allclose(one, other[:, : one.shape[1]], rtol=1e-10, atol=1e-300)
    assert other[:, one.shape[1] :].sum() < 1e-300


def constant(n_steps, m, **how):
    """A detector that always fires, with a tolerance of two steps."""
    truth = np.zeros(n_steps, dtype=bool)
    truth[np.linspace(0, n_steps - 1, m).astype(int)] = True
    return evaluate(truth, np.ones(n_steps), threshold=1, tolerance=2, **how)


def test_a_constant_detector_on_a_long_sequence_answers_at_once():
    """Every step predicted and three events: no Fourier inversion would decay, the programme has a few entries."""
    result = constant(15_851, 3)
    assert result.precision_test.method == "exact (dynamic programme)"
    assert 0 < result.precision_test.pvalue <= 1
    assert result.precision_test.law.table.sum() == pytest.approx(1)
    assert result.recall_test.pvalue == 1.0
    mean = np.arange(len(result.precision_test.law.table)) @ result.precision_test.law.table
    assert result.precision_test.expected == pytest.approx(mean, rel=1e-12)


def test_concentrated_hits_are_simulated_where_nothing_else_is_affordable(monkeypatch):
    """When even few events are too many, "auto" says that it simulated; its p-value agrees with the exact one."""
    exact = constant(4_000, 4)
    for limit in ("FEW_OPERATIONS", "FEW_PATIENCE", "FOURIER_SECONDS"):
        monkeypatch.setattr(costs, limit, 0)
    drawn = constant(4_000, 4, rng=1, null=nf.nulls.Permutation(programme_operations=0))
    assert drawn.precision_test.method == "montecarlo"
    error = drawn.precision_test.pvalue_error + 1e-3
    assert drawn.precision_test.pvalue == pytest.approx(exact.precision_test.pvalue, abs=4 * error)


def test_hits_far_below_chance_have_p_one_at_once():
    """Events in one long run, a detector that always fires: chance is certain to do better, which is quick to see."""
    truth = np.zeros(4_000, dtype=bool)
    truth[1_000:1_400] = True
    result = evaluate(truth, np.ones(4_000), threshold=1, tolerance=2)
    assert result.precision_hits == 404
    assert result.precision_test.expected > 1_500
    assert result.precision_test.pvalue == 1.0


def test_an_inversion_that_gives_up_says_so(monkeypatch):
    """Beyond its limit the inversion returns a bound that holds, and the result calls it one."""
    from nofluke.laws.exact import fourier

    data = nf.datasets.simulate_quakes(rng=0)
    z = nf.detectors.energy_transient(data.counts)
    exact = evaluate(data.truth, z, quantile=0.9, tolerance=2).precision_test
    monkeypatch.setattr(fourier, "MOST_BLOCKS", 0)
    monkeypatch.setattr(costs, "PROGRAMME_PATIENCE", 0)
    monkeypatch.setattr(costs, "FEW_OPERATIONS", 0)
    null = nf.nulls.Permutation(programme_operations=0)
    bound = evaluate(data.truth, z, quantile=0.9, tolerance=2, null=null).precision_test
    assert exact.pvalue < bound.pvalue < 1e6 * exact.pvalue
    assert bound.method.startswith("upper bound")


def test_what_is_left_of_an_uncertified_bound_is_called_one(monkeypatch):
    """Hits below the mean, inversion given up: the upper tail is not made from an upper bound of the lower one."""
    from nofluke.laws.exact import fourier

    data = nf.datasets.simulate_quakes(rng=0)
    result = evaluate(data.truth, np.random.default_rng(8).random(2557), quantile=0.9, tolerance=2)
    windows, m = result.cell.windows, result.n_events
    exact = fourier.tail(windows, m, 69)
    assert 0.5 < exact.p < 0.7
    monkeypatch.setattr(fourier, "MOST_BLOCKS", 0)
    bound = fourier.tail(windows, m, 69)
    assert bound.p == 1.0
    assert bound.relative_error_bound == np.inf
