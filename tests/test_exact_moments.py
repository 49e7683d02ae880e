"""Closed-form mean and variance of both kinds of hits against enumeration, integers and many digits."""

import os
from itertools import combinations
from math import comb
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exact_oracles import enumerate_joint, hits_law, mean_and_variance, rational_joint
from nofluke.errors import InputError
from nofluke.laws.exact import moments
from nofluke.laws.exact.moments import precision_moments, recall_moments
from nofluke.series.counting import Windows


def around(positions, before: int, after: int, n_steps: int) -> Windows:
    """Windows from `before` steps before each position to `after` steps after it."""
    positions = np.asarray(positions, dtype=np.int64)
    return Windows(
        starts=np.maximum(positions - before, 0), stops=np.minimum(positions + after + 1, n_steps), n_steps=n_steps
    )


@st.composite
def any_windows(draw, most_steps: int = 30) -> Windows:
    """Windows of any widths, several with the same start or stop among them."""
    n_steps = draw(st.integers(1, most_steps))
    widest = draw(st.integers(1, n_steps))
    starts = sorted(draw(st.lists(st.integers(0, n_steps - 1), max_size=12)))
    stops, latest = [], 0
    for start in starts:
        latest = max(latest, draw(st.integers(start + 1, min(start + widest, n_steps))))
        stops.append(latest)
    return Windows(starts=np.array(starts, dtype=np.int64), stops=np.array(stops, dtype=np.int64), n_steps=n_steps)


def earthquake_windows() -> Windows:
    """The paper's predictions at the 0.9 quantile, two days of tolerance."""
    folder = os.environ.get("NOFLUKE_DATA")
    if folder is None:
        pytest.skip("NOFLUKE_DATA is unset: it names the directory of the data")
    x = np.loadtxt(Path(folder) / "anomaly-eval" / "twitter-earthquakes.dat")
    z = np.zeros(len(x))
    for t in range(13, len(x)):
        z[t] = x[t - 2 : t + 1].mean() / (x[t - 13 : t + 1].mean() + 1)
    return around(np.flatnonzero(z >= np.quantile(z, 0.9)), 2, 2, len(x))


def in_many_digits(windows: Windows, n_events: int) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Mean and variance summed pair by pair (equal pairs together) in 60 digits."""
    n_steps = windows.n_steps
    total = comb(n_steps, n_events)
    cache: dict[int, mpmath.mpf] = {}

    def missed(w: int) -> mpmath.mpf:
        if w not in cache:
            cache[w] = mpmath.mpf(comb(n_steps - w, n_events)) / total if w <= n_steps else mpmath.mpf(0)
        return cache[w]

    with mpmath.workdps(60):
        widths = windows.stops - windows.starts
        kinds = [(int(w), int(k)) for w, k in zip(*np.unique(widths, return_counts=True), strict=True)]
        mean = sum(k * (1 - missed(w)) for w, k in kinds)
        var = mpmath.mpf(0)
        for w, k in kinds:
            var += k * (missed(w) - missed(2 * w))
            var += sum(k * k2 * (missed(w + w2) - missed(w) * missed(w2)) for w2, k2 in kinds)
        for apart in range(1, windows.n):
            near = np.flatnonzero(windows.starts[apart:] < windows.stops[:-apart])
            if len(near) == 0:
                break
            union = (windows.stops[apart:] - windows.starts[:-apart])[near]
            both = (widths[apart:] + widths[:-apart])[near]
            for values, sign in ((union, 2), (both, -2)):
                for w, k in zip(*np.unique(values, return_counts=True), strict=True):
                    var += sign * int(k) * missed(int(w))
        return mean, var


def test_every_small_case_equals_enumeration():
    """All prediction patterns, tolerances and numbers of events on up to five steps."""
    for n_steps in range(1, 6):
        for n in range(n_steps + 1):
            for positions in combinations(range(n_steps), n):
                for tolerance in range(3):
                    windows = around(positions, tolerance, tolerance, n_steps)
                    for n_events in range(n_steps + 1):
                        joint = enumerate_joint(windows.starts, windows.stops, n_steps, n_events)
                        mean, var = mean_and_variance(hits_law(joint))
                        got = precision_moments(windows, n_events)
                        assert got.mean == pytest.approx(float(mean), rel=1e-13, abs=0)
                        assert got.var == pytest.approx(float(var), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("pairs_per_step", [2, -1])
@pytest.mark.parametrize("widths_for_a_table", [1000, 0])
def test_every_way_of_summing_gives_the_same(monkeypatch, pairs_per_step, widths_for_a_table):
    """Pairs one by one or by correlation, widths by table or by convolution, many or few: all give the same."""
    monkeypatch.setattr(moments, "_PAIRS_PER_STEP", pairs_per_step)
    monkeypatch.setattr(moments, "_WIDTHS_FOR_A_TABLE", widths_for_a_table)
    monkeypatch.setattr(moments, "_FEW", widths_for_a_table)
    monkeypatch.setattr(moments, "PAIRS_AT_ONCE", 7)
    monkeypatch.setattr(moments, "_LAGS_AT_ONCE", 8)

    @settings(max_examples=60)
    @given(windows=any_windows(), share=st.floats(0, 1))
    def check(windows: Windows, share: float) -> None:
        n_events = round(share * windows.n_steps)
        joint = rational_joint(windows.starts, windows.stops, windows.n_steps, n_events)
        mean, var = mean_and_variance(hits_law(joint))
        got = precision_moments(windows, n_events)
        assert got.mean == pytest.approx(float(mean), rel=1e-13, abs=0)
        assert got.var == pytest.approx(float(var), rel=1e-11, abs=1e-14)

    check()


@pytest.mark.parametrize(
    ("n_steps", "n", "n_events", "before", "after"),
    [
        (10**6, 10**5, 3, 2, 2),  # hardly any event
        (10**4, 10**3, 5_000, 3, 0),  # every other step an event
        (10**6, 10**6, 50, 1, 1),  # every step predicted: nearly everything cancels
        (10**5, 300, 200, 2000, 1000),  # long windows
        (10**4, 100, 30, 4000, 4500),  # windows that nearly always hit
    ],
)
def test_variance_keeps_nine_digits_on_long_sequences(n_steps, n, n_events, before, after):
    """Relative error of mean and variance at most 1e-9, also where plain differences would have lost most digits."""
    positions = np.sort(np.random.default_rng(5).choice(n_steps, n, replace=False))
    windows = around(positions, before, after, n_steps)
    mean, var = in_many_digits(windows, n_events)
    got = precision_moments(windows, n_events)
    assert got.mean == pytest.approx(float(mean), rel=1e-13)
    assert got.var == pytest.approx(float(var), rel=1e-9)


def test_correlation_counts_long_windows_like_pairs_do(monkeypatch):
    """Many overlapping windows of 401 steps: lags counted by FFT equal pairs looked at one by one."""
    positions = np.sort(np.random.default_rng(2).choice(40_000, 8_000, replace=False))
    windows = around(positions, 200, 200, 40_000)
    by_lags = precision_moments(windows, 70)
    monkeypatch.setattr(moments, "_PAIRS_PER_STEP", 10**9)
    by_pairs = precision_moments(windows, 70)
    assert by_lags.mean == by_pairs.mean
    assert by_lags.var == pytest.approx(by_pairs.var, rel=1e-13)


def test_windows_of_many_widths():
    """More distinct widths than a table is made for: the convolution keeps the digits."""
    rng = np.random.default_rng(3)
    starts = np.sort(rng.integers(0, 400_000, 1_500))
    stops = np.maximum.accumulate(np.minimum(starts + rng.integers(1, 9_000, len(starts)), 400_000))
    windows = Windows(starts=starts, stops=stops, n_steps=400_000)
    assert len(np.unique(stops - starts)) > moments._WIDTHS_FOR_A_TABLE
    widths, log = stops - starts, moments._Miss(400_000, 60, 9_000).log
    assert np.all(widths < 9_001)
    union = np.maximum(stops, stops[:, np.newaxis]) - np.minimum(starts, starts[:, np.newaxis])
    union = np.minimum(union, widths + widths[:, np.newaxis])
    both = log[widths] + log[widths][:, np.newaxis]
    var = np.sum(np.exp(both) * np.expm1(log[union] - both))
    assert precision_moments(windows, 60).var == pytest.approx(var, rel=1e-10)


def test_no_variance_where_hits_cannot_vary():
    """Exactly zero: no prediction, no event, an event on every step, windows that cannot be missed, all predicted."""
    empty = around([], 1, 1, 10)
    some = around([2, 5], 1, 1, 10)
    every = around(np.arange(10), 0, 0, 10)
    assert precision_moments(empty, 4) == moments.Moments(mean=0.0, var=0.0)
    assert precision_moments(some, 0) == moments.Moments(mean=0.0, var=0.0)
    assert precision_moments(some, 10) == moments.Moments(mean=2.0, var=0.0)
    assert precision_moments(around([0, 9], 9, 9, 10), 3) == moments.Moments(mean=2.0, var=0.0)
    assert precision_moments(around([2, 5], 2, 2, 10), 6) == moments.Moments(mean=2.0, var=0.0)
    for n_events in range(11):
        got = precision_moments(every, n_events)
        assert got.mean == pytest.approx(n_events, rel=1e-15)
        assert got.var == 0.0
    assert precision_moments(around(np.arange(2, 100, 5), 2, 2, 100), 1) == moments.Moments(mean=1.0, var=0.0)


@given(st.integers(1, 60), st.floats(0, 1), st.floats(0, 1))
def test_recall_moments_equal_the_sum_over_the_hypergeometric_law(n_steps, covered_share, event_share):
    """Mean and variance of R from the counts of placements, in integers."""
    covered, n_events = round(covered_share * n_steps), round(event_share * n_steps)
    ways = [comb(covered, r) * comb(n_steps - covered, n_events - r) for r in range(n_events + 1)]
    total = comb(n_steps, n_events)
    mean = sum(r * k for r, k in enumerate(ways)) / total
    square = sum(r * r * k for r, k in enumerate(ways)) * total - sum(r * k for r, k in enumerate(ways)) ** 2
    got = recall_moments(n_steps, covered, n_events)
    assert got.mean == pytest.approx(mean, rel=1e-14)
    assert got.var == pytest.approx(square / total**2, rel=1e-14, abs=0)


def test_recall_of_nothing():
    """No step at all: no hit, no variance."""
    assert recall_moments(0, 0, 0) == moments.Moments(mean=0.0, var=0.0)


def test_impossible_counts_are_refused():
    """More events, or more covered steps, than there are steps."""
    with pytest.raises(InputError, match=r"n_events must be from 0 to the 10 steps, got 11"):
        precision_moments(around([1], 1, 1, 10), 11)
    with pytest.raises(InputError, match=r"covered must be from 0 to the 10 steps, got -1"):
        recall_moments(10, -1, 3)


def test_earthquakes():
    """The figures of the design note for the paper's data."""
    windows = earthquake_windows()
    got = precision_moments(windows, 162)
    assert windows.n == 256
    assert got.mean == pytest.approx(71.498930, abs=5e-7)
    assert got.var == pytest.approx(102.240238, abs=5e-7)
