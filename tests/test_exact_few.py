"""The dynamic programme where events are few, against enumeration; run by Python and compiled."""

import subprocess
import sys
from contextlib import nullcontext
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nofluke as nf
from exact_oracles import enumerate_joint
from nofluke.laws import precision
from nofluke.laws.exact import programme
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


@settings(max_examples=150)
@given(problems())
def test_joint_law_is_that_of_all_placements(problem):
    """Every entry equals the share of placements with so many events covered and predictions hit."""
    windows, m = problem
    table = programme.joint_pmf(windows, m)
    expected = np.zeros((m + 1, windows.n + 1))
    for (r, c), weight in enumerate_joint(windows.starts, windows.stops, windows.n_steps, m).items():
        expected[r, c] = float(weight)
    whole = np.zeros_like(expected)
    whole[: table.shape[0], : table.shape[1]] = table
    np.testing.assert_allclose(whole, expected, rtol=1e-12, atol=1e-15)


def everywhere(n_steps, delta):
    """Every step is predicted."""
    steps = np.arange(n_steps)
    return Windows(starts=np.maximum(steps - delta, 0), stops=np.minimum(steps + delta + 1, n_steps), n_steps=n_steps)


@pytest.mark.parametrize(("n_steps", "delta", "m"), [(300, 2, 2), (90, 20, 3), (120, 0, 3), (400, 7, 1)])
def test_columns_that_few_events_cannot_reach_are_left_out_on_the_way(n_steps, delta, m):
    """Where every step is predicted, hits are the steps near an event: as many placements have each number of them."""
    at = np.array(list(combinations(range(n_steps), m)))
    near = np.zeros((len(at), n_steps), dtype=bool)
    for shift in range(-delta, delta + 1):
        rows, columns = np.nonzero((at + shift >= 0) & (at + shift < n_steps))
        near[rows, at[rows, columns] + shift] = True
    expected = np.bincount(near.sum(axis=1), minlength=n_steps + 1) / len(at)
    windows = everywhere(n_steps, delta)
    np.testing.assert_allclose(programme.precision_pmf(windows, m), expected, rtol=1e-12, atol=0)
    table = programme.joint_pmf(windows, m)
    np.testing.assert_allclose(table[m], expected[: table.shape[1]], rtol=1e-12, atol=0)
    assert expected[table.shape[1] :].sum() == 0


def scattered(n_steps, n, m, delta, seed):
    at = np.sort(np.random.default_rng(seed).choice(n_steps, n, replace=False))
    starts, stops = np.maximum(at - delta, 0), np.minimum(at + delta + 1, n_steps)
    return Windows(starts=starts, stops=stops, n_steps=n_steps), m


CASES = [(500, 60, 30, 2), (500, 60, 3, 2), (3_000, 400, 4, 3), (300, 150, 200, 1), (200, 100, 40, 4)]


@pytest.mark.parametrize("case", CASES)
def test_python_and_compiled_code_agree_to_the_last_bit(case, monkeypatch):
    """Which of the two runs depends on what a process did before; results must not."""
    windows, m = scattered(*case, seed=1)

    def laws():
        return (
            programme.joint_pmf(windows, m),
            programme.precision_pmf(windows, m),
            programme.few_missed_pmf(windows, m, 9),
        )

    monkeypatch.setattr(programme.WALKS, "_spent", np.inf)
    compiled = laws()
    monkeypatch.setattr(programme, "engine", lambda _seconds: nullcontext((programme.walk, programme.times)))
    for one, other in zip(compiled, laws(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_process_with_little_to_do_does_not_wait_for_the_compiler():
    """A first p-value of the paper's size leaves numba alone; a problem that takes Python long does not."""
    code = """
import sys
import nofluke as nf
data = nf.datasets.simulate_quakes(rng=0)
scores = nf.detectors.energy_transient(data.counts)
nf.evaluate(data.truth, scores, quantile=0.9, tolerance=2, null="permutation").precision_test.pvalue
print("numba" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


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
        monkeypatch.setattr(precision, limit, 0)
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
    monkeypatch.setattr(precision, "PROGRAMME_PATIENCE", 0)
    monkeypatch.setattr(precision, "FEW_OPERATIONS", 0)
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
    assert bound.method.error == np.inf
