"""The exact joint law of both kinds of hits against enumeration and rational arithmetic."""

import os
from contextlib import nullcontext
from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exact_oracles import Joint, as_array, enumerate_joint, hits_law, rational_joint
from nofluke.errors import InputError
from nofluke.laws.exact import programme
from nofluke.laws.exact.moments import precision_moments
from nofluke.laws.exact.programme import (
    hypergeometric_pmf,
    joint_pmf,
    precision_pmf,
    programme_bytes,
    programme_cost,
)
from nofluke.series.counting import Windows


def around(positions, tolerance: int, n_steps: int) -> Windows:
    """Windows of `tolerance` steps to either side of each position."""
    positions = np.asarray(positions, dtype=np.int64)
    return Windows(
        starts=np.maximum(positions - tolerance, 0),
        stops=np.minimum(positions + tolerance + 1, n_steps),
        n_steps=n_steps,
    )


@st.composite
def any_windows(draw, most_steps: int) -> Windows:
    """Windows of any widths, several with the same start or stop among them."""
    n_steps = draw(st.integers(1, most_steps))
    widest = draw(st.integers(1, n_steps))
    starts = sorted(draw(st.lists(st.integers(0, n_steps - 1), max_size=10)))
    stops, latest = [], 0
    for start in starts:
        latest = max(latest, draw(st.integers(start + 1, min(start + widest, n_steps))))
        stops.append(latest)
    return Windows(starts=np.array(starts, dtype=np.int64), stops=np.array(stops, dtype=np.int64), n_steps=n_steps)


def assert_same_law(windows: Windows, n_events: int, joint: Joint, rel: float = 1e-12) -> None:
    """Joint and marginal law equal the exact one: each entry relatively, and zero where nothing can be."""
    got = joint_pmf(windows, n_events)
    assert got.shape == (min(n_events, windows.covered) + 1, windows.n + 1)
    np.testing.assert_allclose(got, as_array(joint, got.shape), rtol=rel, atol=0)
    hits = np.zeros(windows.n + 1)
    for c, probability in hits_law(joint).items():
        hits[c] = float(probability)
    np.testing.assert_allclose(precision_pmf(windows, n_events), hits, rtol=rel, atol=0)


def test_every_small_case_equals_enumeration():
    """All prediction patterns, tolerances and numbers of events on up to five steps."""
    for n_steps in range(1, 6):
        for n in range(n_steps + 1):
            for positions in combinations(range(n_steps), n):
                for tolerance in range(3):
                    windows = around(positions, tolerance, n_steps)
                    for n_events in range(n_steps + 1):
                        joint = enumerate_joint(windows.starts, windows.stops, n_steps, n_events)
                        assert_same_law(windows, n_events, joint)


@settings(max_examples=60)
@given(windows=any_windows(12), share=st.floats(0, 1))
def test_windows_of_any_shape_equal_enumeration(windows, share):
    """Whatever the widths, equal starts and equal stops."""
    n_events = round(share * windows.n_steps)
    assert_same_law(windows, n_events, enumerate_joint(windows.starts, windows.stops, windows.n_steps, n_events))


@settings(max_examples=60)
@given(
    windows=any_windows(60),
    share=st.floats(0, 1),
    spare=st.integers(1, 3),
    growth=st.sampled_from([0.01, 3.0]),
    small=st.sampled_from([0, 10**9]),
)
def test_tables_laid_out_anew_at_any_time_change_nothing(windows, share, spare, growth, small):
    """Widening and rescaling the tables often, cluster by cluster or all at once, leaves the law as it is."""
    n_events = round(share * windows.n_steps)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(programme, "engine", lambda _seconds: nullcontext((programme.walk, programme.times)))
        patch.setattr(programme, "_SMALL_TABLE", small)
        patch.setattr(programme, "_SPARE_COLUMNS", spare)
        patch.setattr(programme, "LOG_GROWTH_ALLOWED", growth)
        joint = rational_joint(windows.starts, windows.stops, windows.n_steps, n_events)
        assert_same_law(windows, n_events, joint)


@pytest.mark.parametrize(
    ("n_steps", "n", "n_events", "tolerance"),
    [(60, 25, 12, 1), (120, 30, 15, 3), (150, 20, 70, 2), (200, 40, 20, 0), (200, 30, 25, 12), (90, 90, 9, 2)],
)
def test_upper_tails_keep_their_digits(n_steps, n, n_events, tolerance):
    """P(C >= c) and P(R >= r) have a relative error below 1e-12 wherever the tail is not zero."""
    positions = np.sort(np.random.default_rng(n_steps + n).choice(n_steps, n, replace=False))
    windows = around(positions, tolerance, n_steps)
    joint = rational_joint(windows.starts, windows.stops, n_steps, n_events)
    assert_same_law(windows, n_events, joint, rel=1e-12)
    got = joint_pmf(windows, n_events)
    exact_hits = hits_law(joint)
    for c in range(n + 1):
        tail = float(sum(p for value, p in exact_hits.items() if value >= c))
        assert got[:, c:].sum() == pytest.approx(tail, rel=1e-12, abs=0)


def test_probabilities_of_1e_250_keep_their_digits():
    """Entries far below anything that could be simulated: relative error below 1e-11 down to 1e-250."""
    windows = around(np.arange(1_000, 400_000, 8_000), 1, 4 * 10**6)
    joint = rational_joint(windows.starts, windows.stops, windows.n_steps, 55)
    assert 0 < min(joint.values()) < 1e-250
    got, hits = joint_pmf(windows, 55), precision_pmf(windows, 55)
    for (r, c), probability in joint.items():
        if probability > 1e-290:
            assert got[r, c] == pytest.approx(float(probability), rel=1e-11, abs=0)
    for c, probability in hits_law(joint).items():
        if probability > 1e-290:
            assert hits[c] == pytest.approx(float(probability), rel=1e-11, abs=0)


@pytest.mark.parametrize(
    ("n_steps", "n", "n_events", "tolerance"),
    [(3_000, 100, 200, 5), (30_000, 20, 3_000, 900), (1_000, 60, 900, 1), (20_000, 30, 19_950, 3), (400, 5, 200, 150)],
)
def test_larger_cases_agree_with_the_closed_forms(n_steps, n, n_events, tolerance):
    """Sum, mean and variance of C, and the law of R, where the exact law is out of the oracle's reach."""
    positions = np.sort(np.random.default_rng(n).choice(n_steps, n, replace=False))
    windows = around(positions, tolerance, n_steps)
    joint, hits = joint_pmf(windows, n_events), precision_pmf(windows, n_events)
    assert joint.sum() == pytest.approx(1, rel=1e-12)
    np.testing.assert_allclose(hits, joint.sum(axis=0), rtol=1e-11, atol=1e-300)
    closed = precision_moments(windows, n_events)
    c = np.arange(n + 1)
    assert np.dot(hits, c) == pytest.approx(closed.mean, rel=1e-12)
    # a sum of squares over up to 1 - 1e-16 of the mass knows no variance below that
    assert np.dot(hits, (c - closed.mean) ** 2) == pytest.approx(closed.var, rel=1e-9, abs=1e-14)
    covered = windows.covered
    for r in range(0, len(joint), max(len(joint) // 7, 1)):
        exact = comb(covered, r) * comb(n_steps - covered, n_events - r)
        probability = exact / comb(n_steps, n_events)
        if probability > 1e-290:
            assert joint[r].sum() == pytest.approx(probability, rel=1e-11, abs=0)


@given(st.integers(1, 400), st.floats(0, 1), st.floats(0, 1))
def test_hypergeometric_law_equals_binomials(n_steps, covered_share, event_share):
    """Every entry to 1e-13, relatively, and zero where it is impossible."""
    covered, n_events = round(covered_share * n_steps), round(event_share * n_steps)
    pmf = hypergeometric_pmf(n_steps, covered, n_events)
    exact = [comb(covered, r) * comb(n_steps - covered, n_events - r) for r in range(min(n_events, covered) + 1)]
    np.testing.assert_allclose(pmf, [k / comb(n_steps, n_events) for k in exact], rtol=1e-13, atol=0)


def test_degenerate_cases_are_exact():
    """No prediction, no event, an event on every step, a single step, everything covered by every window."""
    assert joint_pmf(around([], 1, 7), 3).tolist() == [[1.0]]
    assert precision_pmf(around([], 1, 7), 3).tolist() == [1.0]
    assert joint_pmf(around([2, 4], 1, 7), 0).tolist() == [[1.0, 0.0, 0.0]]
    full = joint_pmf(around([2, 4], 1, 7), 7)
    assert full.shape == (6, 3)
    assert full[5, 2] == full.sum() == 1.0
    assert joint_pmf(around([0], 0, 1), 1).tolist() == [[0.0, 0.0], [0.0, 1.0]]
    assert joint_pmf(around([0], 0, 1), 0).tolist() == [[1.0, 0.0]]
    whole = joint_pmf(around([1, 3, 4], 5, 5), 2)
    assert whole[2, 3] == pytest.approx(1.0, rel=1e-15)
    assert whole.sum() == whole[2, 3]


def test_cost_grows_with_the_work_and_is_nothing_without_it():
    """The count on which the choice of a method rests: zero where the answer is known, larger for larger problems."""
    positions = np.arange(10, 1_000, 17)
    small, wide = around(positions, 1, 1_000), around(positions, 6, 1_000)
    assert programme_cost(small, 0) == programme_cost(small, 1_000) == programme_cost(around([], 1, 9), 3) == 0
    assert 0 < programme_cost(small, 5) < programme_cost(small, 50) < programme_cost(wide, 50)
    assert programme_bytes(wide, 50) > programme_bytes(small, 5) > 0


def test_impossible_numbers_of_events_are_refused():
    """More events than steps."""
    for function in (joint_pmf, precision_pmf, programme_cost, programme_bytes):
        with pytest.raises(InputError, match=r"n_events must be from 0 to the 10 steps, got 11"):
            function(around([1], 1, 10), 11)


def test_earthquakes():
    """The paper's data: 145 of 256 predictions hit, 80 of 162 events inside a window."""
    folder = os.environ.get("NOFLUKE_DATA")
    if folder is None:
        pytest.skip("NOFLUKE_DATA is unset: it names the directory of the data")
    x = np.loadtxt(Path(folder) / "anomaly-eval" / "twitter-earthquakes.dat")
    z = np.zeros(len(x))
    for t in range(13, len(x)):
        z[t] = x[t - 2 : t + 1].mean() / (x[t - 13 : t + 1].mean() + 1)
    windows = around(np.flatnonzero(z >= np.quantile(z, 0.9)), 2, len(x))
    joint = joint_pmf(windows, 162)
    assert joint[:, 145:].sum() == pytest.approx(4.0629826642e-12, rel=1e-10)
    assert precision_pmf(windows, 162)[145:].sum() == pytest.approx(4.0629826642e-12, rel=1e-10)
    assert joint[80:].sum() == pytest.approx(1.5655777749e-12, rel=1e-10)
