"""Spans of up to 10**18 steps, and windows as wide as that: every law to all its digits, at no cost by the step."""

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exact_oracles import enumerate_joint, hits_law, joint_by_blocks, mean_and_variance
from nofluke.laws.approximate import saddlepoint_tail
from nofluke.laws.exact import fourier, moments, programme
from nofluke.laws.exact.binomial import log_choose_ratio, log_pmf
from nofluke.laws.exact.hypergeometric import hypergeometric_log_pmf
from nofluke.laws.exact.moments import (
    expected_misses,
    log_missed,
    log_together,
    lost,
    precision_moments,
    recall_moments,
)
from nofluke.laws.montecarlo import drawn
from nofluke.laws.montecarlo.run import Uniform, sparse_placements
from nofluke.laws.precision import PrecisionFourier, PrecisionTable, precision_law
from nofluke.laws.tables import hypergeometric
from nofluke.series.counting import Windows

HUGE = 10**18


def windows_at(starts, stops, n_steps: int) -> Windows:
    return Windows(starts=np.asarray(starts, dtype=np.int64), stops=np.asarray(stops, dtype=np.int64), n_steps=n_steps)


def scattered(rng: np.random.Generator, n: int, width: int, n_steps: int, *, equal: bool = True) -> Windows:
    """Windows around random places, clipped at both ends; or of any width up to the given one."""
    at = np.sort(rng.integers(0, n_steps, n))
    if equal:
        return windows_at(np.maximum(at - width // 2, 0), np.minimum(at + width // 2 + 1, n_steps), n_steps)
    return windows_at(at, np.maximum.accumulate(np.minimum(at + rng.integers(1, width, n), n_steps)), n_steps)


@st.composite
def few_windows(draw) -> Windows:
    """A handful of windows, near each other or far apart, on a span of any length up to 10**18."""
    n_steps = draw(st.integers(100, HUGE))
    place = st.one_of(st.integers(0, n_steps - 1), st.integers(n_steps // 3, n_steps // 2), st.integers(40, 60))
    starts = sorted(draw(st.lists(place, min_size=1, max_size=5)))
    widest = draw(st.sampled_from([1, 7, n_steps // 100, n_steps // 3]))
    stops, latest = [], 0
    for start in starts:
        latest = max(latest, min(start + draw(st.integers(1, max(widest, 1))), n_steps))
        stops.append(latest)
    return windows_at(starts, stops, n_steps)


def missed(n_steps: int, n_events: int, x: int) -> mpmath.mpf:
    """π(x), in many digits."""
    if x > n_steps - n_events:
        return mpmath.mpf(0)
    log = [mpmath.loggamma(z + 1) for z in (n_steps - x, n_steps - x - n_events, n_steps, n_steps - n_events)]
    return mpmath.exp(log[0] - log[1] - log[2] + log[3])


@settings(max_examples=300)
@given(n_steps=st.integers(10_000, HUGE), data=st.data())
def test_chances_of_a_miss_keep_all_digits(n_steps, data):
    """log π, the relation of two windows, and differences of π: at least 14 digits, for the long spans that use it."""
    n_events = data.draw(st.one_of(st.integers(1, n_steps - 1), st.integers(1, min(n_steps - 1, 10**4))))
    left = n_steps - n_events
    x, y = (
        data.draw(st.one_of(st.integers(1, left), st.integers(1, min(left, 100)), st.integers(max(1, left - 20), left)))
        for _ in range(2)
    )
    with mpmath.workdps(120):
        log_x, log_y = mpmath.log(missed(n_steps, n_events, x)), mpmath.log(missed(n_steps, n_events, y))
        assert float(log_missed(n_steps, n_events, x)) == pytest.approx(float(log_x), rel=2e-14)
        if x + y <= left:
            both = mpmath.log(missed(n_steps, n_events, x + y))
            assert float(log_together(n_steps, n_events, x, y)) == pytest.approx(float(both - log_x - log_y), rel=2e-14)
            difference = float(mpmath.exp(log_x) - mpmath.exp(both))
            slack = 2e-14 * (1.0 - float(log_x))  # the exponential of a logarithm of that size
            assert float(lost(n_steps, n_events, x, y)) == pytest.approx(difference, rel=slack, abs=1e-290)
        else:
            assert float(log_together(n_steps, n_events, x, y)) == -math.inf


@settings(max_examples=40)
@given(windows=few_windows(), n_events=st.integers(1, 5))
def test_moments_agree_with_exact_fractions(windows, n_events):
    """Mean and variance to 12 digits, by tables or without, against the law counted out in integers."""
    law = hits_law(joint_by_blocks(windows.starts, windows.stops, windows.n_steps, n_events))
    mean, var = (float(value) for value in mean_and_variance(law))
    with pytest.MonkeyPatch.context() as patch:
        for widest in (moments._TABLE_WIDTH, -1):
            patch.setattr(moments, "_TABLE_WIDTH", widest)
            got = precision_moments(windows, n_events)
            assert got.mean == pytest.approx(mean, rel=1e-13)
            assert got.var == pytest.approx(var, rel=1e-12, abs=1e-30)
            assert expected_misses(windows, n_events) == pytest.approx(
                float(sum((windows.n - c) * chance for c, chance in law.items())), rel=1e-13
            )


@pytest.mark.slow
@pytest.mark.parametrize("n_events", [2, 60, 5_000])
@pytest.mark.parametrize("equal", [True, False])
def test_many_pairs_by_interpolation_are_the_pairs_one_by_one(monkeypatch, n_events, equal):
    """Sums over pairs in linear time give the sum that looks at each pair, to 12 digits."""
    windows = scattered(np.random.default_rng(n_events), 2_000, HUGE // 20, HUGE, equal=equal)
    fast = precision_moments(windows, n_events)
    monkeypatch.setattr(moments, "_PAIRS_PER_WINDOW", math.inf)
    monkeypatch.setattr(moments, "_WIDTHS_ONE_BY_ONE", math.inf)
    slow = precision_moments(windows, n_events)
    assert fast.mean == slow.mean
    assert fast.var == pytest.approx(slow.var, rel=1e-12)


def test_interpolation_is_what_sums_many_pairs(monkeypatch):
    """At 2 · 10**8 pairs nobody looks at each."""
    monkeypatch.setattr(moments, "index_pairs", lambda *_: pytest.fail("looked at pairs"))
    at = np.sort(np.random.default_rng(0).integers(0, HUGE - HUGE // 10, 50_000))
    got = precision_moments(windows_at(at, at + HUGE // 10, HUGE), 40)
    assert 0 < got.mean < 50_000
    assert got.var > 50_000


def test_a_corner_is_seen_and_not_smoothed_over():
    """Where a function has a corner, interpolation says that it cannot, rather than something wrong."""
    x = np.sort(np.random.default_rng(1).integers(0, HUGE, 500))
    first, end = np.arange(1, 501), np.full(500, 500)
    assert moments.sum_over_ranges(x, x, first, end, lambda lag: np.maximum(lag - HUGE / 3, 0.0)) is None
    assert moments.sum_over_sums(x, first, end, lambda both: np.maximum(both - HUGE / 3, 0.0)) is None


def test_windows_wider_than_half_of_the_span_are_right(monkeypatch):
    """Two of them leave no room for the events: π has its corner there."""
    rng = np.random.default_rng(5)
    windows = scattered(rng, 40, HUGE + HUGE // 5, HUGE, equal=True)
    monkeypatch.setattr(moments, "_PAIRS_PER_WINDOW", 0)
    monkeypatch.setattr(moments, "_WIDTHS_ONE_BY_ONE", 10)
    law = hits_law(joint_by_blocks(windows.starts, windows.stops, HUGE, 2))
    mean, var = (float(value) for value in mean_and_variance(law))
    got = precision_moments(windows, 2)
    assert (got.mean, got.var) == pytest.approx((mean, var), rel=1e-11)


def test_one_event_and_windows_of_one_step_are_counted_in_integers():
    """Products of 10**18 and squares of covers do not overflow."""
    at = np.arange(1_000) * 10**12
    windows = windows_at(at, at + 8 * 10**17, HUGE)
    got = precision_moments(windows, 1)
    law = hits_law(joint_by_blocks(windows.starts, windows.stops, HUGE, 1))
    mean, var = mean_and_variance(law)
    assert (got.mean, got.var) == (float(mean), float(var))
    ones = precision_moments(windows_at(at, at + 1, HUGE), 10)
    same = recall_moments(HUGE, 1_000, 10)
    assert (ones.mean, ones.var) == pytest.approx((same.mean, same.var), rel=1e-15)


@settings(max_examples=25)
@given(windows=few_windows(), n_events=st.integers(1, 6))
def test_joint_laws_agree_with_exact_fractions(windows, n_events):
    """The dynamic programme: every entry to 12 digits."""
    exact = joint_by_blocks(windows.starts, windows.stops, windows.n_steps, n_events)
    table = programme.joint_pmf(windows, n_events)
    assert table.sum() == pytest.approx(1.0, rel=1e-12)
    for (r, c), chance in exact.items():
        assert table[r, c] == pytest.approx(float(chance), rel=1e-12, abs=1e-290)
    assert np.count_nonzero(table) <= len(exact)


@settings(max_examples=25)
@given(windows=few_windows(), n_events=st.integers(2, 6))
def test_inverted_tails_agree_with_exact_fractions(windows, n_events):
    """Fourier inversion, tail by tail, within the error that it states, and to 12 digits where events are few."""
    law = hits_law(joint_by_blocks(windows.starts, windows.stops, windows.n_steps, n_events))
    for hits in range(1, windows.n + 1):
        found = fourier.tail(windows, n_events, hits)
        exact = sum((chance for c, chance in law.items() if c >= hits), Fraction(0))
        if not math.isinf(found.method.error):
            assert found.p == pytest.approx(float(exact), rel=1e-12)


def test_a_hit_that_hardly_ever_happens_has_a_certified_chance():
    """Two events on 10**18 steps, one of which counts: 2e-18, although one less that is one."""
    windows = windows_at([5], [6], HUGE)
    some = fourier.tail(windows, 2, 1)
    assert (some.p, math.exp(some.log_p)) == pytest.approx((2e-18, 2e-18), rel=1e-14)
    assert some.method.error < 1e-15
    assert fourier.tail(windows, 2, 0, side="lower").p == 1.0
    assert PrecisionFourier(windows, 2, insist=True).upper(1) == pytest.approx(2e-18, rel=1e-14)


def test_engines_agree_where_no_fraction_can_follow():
    """Hundreds of events on 10**18 steps: the programme, the inversion, and the saddlepoint to its own accuracy."""
    rng = np.random.default_rng(11)
    windows = scattered(rng, 60, HUGE // 100, HUGE)
    law = precision_law(windows, 150, "exact", 1e9)
    assert isinstance(law, PrecisionTable)
    inverted = PrecisionFourier(windows, 150, insist=True)
    for hits in (30, 45, 55):
        assert law.upper(hits) == pytest.approx(inverted.upper(hits), rel=1e-12)
        assert law.lower(hits) == pytest.approx(inverted.lower(hits), rel=1e-12)
        assert saddlepoint_tail(windows, 150, hits).p == pytest.approx(law.upper(hits), rel=0.02)
    k = np.arange(61)
    mean = float(law.table @ k)
    assert (law.mean, law.var) == pytest.approx((mean, float(law.table @ (k - mean) ** 2)), rel=1e-12)
    assert law.quantile([0.05, 0.5, 0.95]).tolist() == inverted.quantile([0.05, 0.5, 0.95]).tolist()
    assert law.critical_value(0.05) == inverted.critical_value(0.05)
    assert law.critical_value(1e-9) == inverted.critical_value(1e-9)
    first, bulk = inverted.bulk(3.0)
    assert bulk == pytest.approx(law.table[first : first + len(bulk)], abs=1e-12)


def test_tails_hardly_change_from_a_long_span_to_a_longer_one():
    """The same problem on 10**15 and on 10**18 steps differs by about m²/T: nothing else goes by the length."""
    rng = np.random.default_rng(2)
    short = scattered(rng, 3_000, 10**15 // 3_000, 10**15)
    long = windows_at(short.starts * 1_000, short.stops * 1_000, HUGE)
    for hits in (1_500, 1_600):
        one, other = (PrecisionFourier(windows, 2_000, insist=True).tail(hits) for windows in (short, long))
        assert one.log_p == pytest.approx(other.log_p, rel=1e-8)


@pytest.mark.parametrize(("covered", "n_events"), [(3 * 10**17, 7), (10**18 - 5, 9), (12, 9 * 10**17), (10**9, 5)])
def test_recall_is_hypergeometric_to_all_digits(covered, n_events):
    """Against binomial coefficients in integers; logarithms too, and the chance of no hit at all."""

    def choose(n: int, k: int) -> int:
        return math.comb(n, min(k, n - k)) if 0 <= k <= n and min(k, n - k) < 100 else 0

    if n_events < 100:
        total = choose(HUGE, n_events)
        ways = [choose(covered, r) * choose(HUGE - covered, n_events - r) for r in range(n_events + 1)]
    else:  # the other way around: covered steps that hold an event
        total = choose(HUGE, covered)
        ways = [choose(n_events, r) * choose(HUGE - n_events, covered - r) for r in range(covered + 1)]
    exact = [Fraction(count, total) for count in ways]
    law = hypergeometric(HUGE, covered, n_events) if n_events < 100 else hypergeometric(HUGE, n_events, covered)
    for r, chance in enumerate(exact):
        assert law.pmf(r) == pytest.approx(float(chance), rel=1e-13)
        assert law.upper(r) == pytest.approx(float(sum(exact[r:])), rel=1e-13)
    possible = np.array([r for r, chance in enumerate(exact) if chance])
    logs = hypergeometric_log_pmf(*law._law, possible)
    assert np.exp(logs) == pytest.approx([float(exact[r]) for r in possible], rel=1e-12)
    none = log_choose_ratio(HUGE - covered, HUGE, n_events) if n_events < 100 else None
    if none is not None and exact[0]:
        assert none == pytest.approx(
            float(mpmath.log(mpmath.mpf(exact[0].numerator) / exact[0].denominator)), rel=1e-14
        )
    mean = sum(r * chance for r, chance in enumerate(exact))
    var = sum(r * r * chance for r, chance in enumerate(exact)) - mean**2
    assert (law.mean, law.var) == pytest.approx((float(mean), float(var)), rel=1e-15)


@pytest.mark.parametrize("k", [10**5, 10**6 + 999, 3 * 10**6])
def test_binomial_logarithms_keep_their_digits_far_from_the_mean(k):
    """Both outcomes' deviances come from the rarer one: the other has more digits than a double."""
    n, p = HUGE, 1e-12
    with mpmath.workdps(80):
        exact = mpmath.loggamma(n + 1) - mpmath.loggamma(k + 1) - mpmath.loggamma(n - k + 1)
        exact += k * mpmath.log(mpmath.mpf(p)) + (n - k) * mpmath.log1p(-mpmath.mpf(p))
    assert log_pmf(k, n, p) == pytest.approx(float(exact), rel=2e-15)


def test_small_spans_by_blocks_are_small_spans_by_enumeration():
    """The oracle itself: integers by stretches against looking at every placement."""
    starts, stops = [0, 1, 4, 4, 9], [3, 5, 6, 8, 11]
    assert joint_by_blocks(starts, stops, 13, 4) == enumerate_joint(starts, stops, 13, 4)


@pytest.mark.parametrize("n_events", [1, 2, 4, 6])
def test_every_set_of_steps_is_equally_likely(n_events):
    """Chi-square over all sets of 7 steps, drawn as they are on 10**18: below the 99.9% quantile."""
    rows = sparse_placements(np.random.default_rng(3), 7, n_events, 7_000)
    seen = Counter(map(tuple, rows.tolist()))
    sets = list(combinations(range(7), n_events))
    assert set(seen) <= set(sets)
    expected = len(rows) / len(sets)
    statistic = sum((seen[one] - expected) ** 2 / expected for one in sets)
    degrees = len(sets) - 1
    assert statistic < degrees * (1 - 2 / (9 * degrees) + 3.09 * math.sqrt(2 / (9 * degrees))) ** 3  # Wilson-Hilferty


@pytest.mark.parametrize("n_steps", [2**27 + 1, 10**18, 2**62])
def test_uniform_places_events_on_any_number_of_steps(n_steps):
    """Distinct, ascending, within the span and all over it; a seed gives the same rows, in blocks or at once."""
    draw = Uniform(n_steps, 5_000)
    rows = draw.placed(np.uint64(2**63 + 5), 20)
    assert rows.dtype == np.int64
    assert rows.shape == (20, 5_000)
    assert (np.diff(rows, axis=1) > 0).all()
    assert rows.min() >= 0
    assert rows.max() < n_steps
    assert abs(rows.mean() / n_steps - 0.5) < 5 / math.sqrt(12 * rows.size)
    assert (rows == draw.placed(np.uint64(2**63 + 5), 20)).all()
    assert (rows[:7] == draw.placed(np.uint64(2**63 + 5), 7)).all()
    assert not (rows == draw.placed(np.uint64(6), 20)).all()
    blocks = list(drawn(Uniform(n_steps, 9_000), n_steps, n_resamples=300, rng=4))
    again = np.concatenate(list(drawn(Uniform(n_steps, 9_000), n_steps, n_resamples=256, rng=4)))
    assert (np.concatenate(blocks)[:256] == again).all()
    assert max(map(len, blocks)) < 256


def test_uniform_redraws_what_it_drew_twice():
    """Half of all steps, or more, or all of them: still distinct."""
    for n_events in (0, 50, 51, 100):
        rows = sparse_placements(np.random.default_rng(0), 100, n_events, 5)
        assert rows.shape == (5, n_events)
        assert (np.diff(rows, axis=1) > 0).all()
