"""Exact tails by Fourier inversion, against enumeration, rational arithmetic and closed forms."""

import math
import os
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exact_oracles import enumerate_joint, hits_law, rational_joint
from nofluke.errors import InputError
from nofluke.laws.exact import binomial
from nofluke.laws.exact.fourier import _invert_tail, estimate_cost, pmf, tail
from nofluke.laws.exact.generating import evaluate, structure_of
from nofluke.laws.exact.moments import precision_moments
from nofluke.laws.exact.programme import precision_pmf
from nofluke.series.counting import Windows

Law = dict[int, Fraction]


def around(positions, tolerance: int, n_steps: int) -> Windows:
    """Windows of `tolerance` steps to either side of each position."""
    positions = np.asarray(positions, dtype=np.int64)
    return Windows(
        starts=np.maximum(positions - tolerance, 0),
        stops=np.minimum(positions + tolerance + 1, n_steps),
        n_steps=n_steps,
    )


def at_random(n_steps: int, n: int, tolerance: int, seed: int) -> Windows:
    """Windows around n distinct random steps."""
    rng = np.random.default_rng(seed)
    return around(np.sort(rng.choice(n_steps, n, replace=False)), tolerance, n_steps)


def in_runs(n_steps: int, every: int, run: int, tolerance: int) -> Windows:
    """Windows around runs of predictions that start every so many steps: as regular as a pattern can be."""
    starts = range(5, n_steps, every)
    return around(np.concatenate([np.arange(a, min(a + run, n_steps)) for a in starts]), tolerance, n_steps)


@st.composite
def any_windows(draw, most_steps: int) -> Windows:
    """Windows of any widths, overlapping in any way, some of them equal, some at a border."""
    n_steps = draw(st.integers(1, most_steps))
    n = draw(st.integers(1, 8))
    starts = sorted(draw(st.lists(st.integers(0, n_steps - 1), min_size=n, max_size=n)))
    widths = draw(st.lists(st.integers(1, 5), min_size=n, max_size=n))
    stops = np.maximum.accumulate(np.minimum(np.add(starts, widths), n_steps))
    return Windows(starts=np.array(starts, dtype=np.int64), stops=stops.astype(np.int64), n_steps=n_steps)


def exact_law(windows: Windows, n_events: int) -> Law:
    """P(C = c) in rational arithmetic."""
    return hits_law(rational_joint(windows.starts, windows.stops, windows.n_steps, n_events))


def exact_tail(law: Law, hits: int, side: str) -> Fraction:
    """P(C >= hits) or P(C <= hits) from the whole law."""
    return sum((p for c, p in law.items() if (c >= hits if side == "upper" else c <= hits)), Fraction(0))


def law_of_disjoint(n: int, width: int, n_steps: int, n_events: int) -> Law:
    """P(C = c) for n disjoint windows of one width, by inclusion and exclusion in integers."""
    law = {}
    for c in range(n + 1):
        count = sum(
            (-1) ** j * math.comb(c, j) * math.comb(n_steps - (n - c + j) * width, n_events) for j in range(c + 1)
        )
        if count:
            law[c] = Fraction(math.comb(n, c) * count, math.comb(n_steps, n_events))
    return law


def disjoint(n: int, width: int, n_steps: int) -> Windows:
    """n windows of one width, evenly spread."""
    starts = np.arange(n, dtype=np.int64) * (n_steps // n)
    return Windows(starts=starts, stops=starts + width, n_steps=n_steps)


def log_of(p: Fraction) -> float:
    """log p, whatever the size of p."""
    with mpmath.workdps(60):
        return float(mpmath.log(mpmath.mpf(p.numerator)) - mpmath.log(mpmath.mpf(p.denominator)))


def assert_tail(windows: Windows, n_events: int, hits: int, side: str, law: Law, relative: float) -> None:
    """The tail is right to `relative`, and no farther off than it says itself."""
    expected = exact_tail(law, hits, side)
    found = tail(windows, n_events, hits, side=side)
    if expected in (0, 1):
        assert found.p == float(expected)
        assert found.log_p == (0.0 if expected == 1 else -math.inf)
        return
    error = abs(math.expm1(found.log_p - log_of(expected)))
    assert error < relative
    assert error <= found.method.error + 4e-16 * (1.0 + abs(found.log_p))  # the logarithm itself is rounded
    assert found.p == pytest.approx(float(expected), rel=relative, abs=0.0 if expected > 1e-290 else 1e-290)


@settings(max_examples=40)
@given(windows=any_windows(11), data=st.data())
def test_all_tails_agree_with_enumeration(windows, data):
    """Every tail of every small problem is the one found by looking at all placements; 0 and 1 are exact."""
    n_events = data.draw(st.integers(0, windows.n_steps))
    law = hits_law(enumerate_joint(windows.starts, windows.stops, windows.n_steps, n_events))
    for hits in range(-1, windows.n + 2):
        for side in ("upper", "lower"):
            assert_tail(windows, n_events, hits, side, law, 1e-10)


@pytest.mark.parametrize(
    ("n_steps", "n", "tolerance", "n_events"), [(150, 30, 2, 12), (160, 40, 0, 40), (140, 60, 6, 20), (120, 50, 1, 90)]
)
def test_tails_agree_with_rational_arithmetic_far_out(n_steps, n, tolerance, n_events):
    """Relative accuracy holds from the middle to the ends of the support, below 1e-20 as well as at 0.5."""
    windows = at_random(n_steps, n, tolerance, seed=n_events)
    law = exact_law(windows, n_events)
    for hits in range(0, windows.n + 2, 4):
        for side in ("upper", "lower"):
            assert_tail(windows, n_events, hits, side, law, 1e-9)


@pytest.mark.parametrize(
    ("n_steps", "every", "run", "tolerance"),
    [
        (200, 10, 5, 2),
        (180, 20, 4, 1),
        (200, 25, 10, 4),
        (180, 60, 15, 0),
        (150, 6, 1, 2),
        (160, 40, 8, 6),
        (130, 1, 1, 3),
    ],
)
def test_regular_patterns_with_secondary_peaks_are_right(n_steps, every, run, tolerance):
    """Equal runs make the characteristic function large far from the origin: these angles must not be missed."""
    windows = in_runs(n_steps, every, run, tolerance)
    for n_events in (1, 3, 17, 60):
        law = exact_law(windows, n_events)
        for hits in sorted(law)[1 :: max(1, len(law) // 5)]:
            assert_tail(windows, n_events, hits, "upper", law, 1e-9)
            assert_tail(windows, n_events, hits - 1, "lower", law, 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "hits", "least_log"), [(60, 55, -200.0), (300, 240, -400.0), (300, 290, -1_000.0)])
def test_log_p_is_right_where_p_underflows(n, hits, least_log):
    """Far below the smallest double, log_p keeps its digits."""
    windows = disjoint(n, 4, 100 * n)
    n_events = n
    found = tail(windows, n_events, hits)
    expected = log_of(exact_tail(law_of_disjoint(n, 4, 100 * n, n_events), hits, "upper"))
    assert found.log_p == pytest.approx(expected, rel=1e-12)
    assert found.log_p < least_log
    assert found.p == math.exp(expected) or found.p == pytest.approx(math.exp(expected), rel=1e-9)


def test_long_windows_and_many_events_do_not_overflow():
    """(1+x)^L beyond the largest double is dealt with: windows of 500 steps, half of all steps with an event."""
    windows = disjoint(3, 500, 3_000)
    law = law_of_disjoint(3, 500, 3_000, 1_500)
    assert exact_tail(law, 2, "lower") < Fraction(1, 10**140)
    assert_tail(windows, 1_500, 2, "lower", law, 1e-9)
    overlapping = Windows(starts=np.array([0, 100, 250]), stops=np.array([200, 300, 400]), n_steps=900)
    # inclusion and exclusion by hand over which windows hold no event, from the sizes of their unions
    free = {w: math.comb(900 - w, 450) for w in (150, 200, 300, 350, 400)}
    missed_any = free[200] + free[200] + free[150] - free[300] - free[300] - free[350] + free[400]
    expected = Fraction(missed_any, math.comb(900, 450))
    assert tail(overlapping, 450, 2, side="lower").log_p == pytest.approx(log_of(expected), rel=1e-12)


def test_thousands_of_hits_and_misses_keep_twelve_digits():
    """Windows of one step make C hypergeometric: rounding must not add up over ten thousand hits and as many misses."""
    starts = np.arange(0, 40_000, 2)
    windows = Windows(starts=starts, stops=starts + 1, n_steps=40_000)
    for hits in (10_001, 10_150, 10_400):
        first = math.comb(20_000, hits) * math.comb(20_000, 20_000 - hits)
        total, term = first, first
        for c in range(hits, hits + 800):  # ratio of neighbouring terms; beyond, nothing is left
            term = term * (20_000 - c) ** 2 // (c + 1) ** 2
            total += term
        expected = log_of(Fraction(total, math.comb(40_000, 20_000)))
        assert tail(windows, 20_000, hits).log_p == pytest.approx(expected, rel=0.0, abs=6e-13)


def test_the_two_tails_and_the_probability_between_add_up():
    """P(C >= c) + P(C <= c) = 1 + P(C = c), and differences of tails are probabilities."""
    windows = at_random(20_000, 600, 6, seed=3)
    lo, probabilities = pmf(windows, 150)
    for hits in (40, 48, 52, 60, 75):
        upper, lower = tail(windows, 150, hits).p, tail(windows, 150, hits, side="lower").p
        assert upper + lower == pytest.approx(1.0 + probabilities[hits - lo], abs=1e-12)
        assert upper - tail(windows, 150, hits + 1).p == pytest.approx(probabilities[hits - lo], abs=1e-12)
        assert upper == pytest.approx(probabilities[hits - lo :].sum(), rel=1e-11)


def test_both_tails_of_a_large_problem_make_up_one():
    """C >= c and C < c are inverted at tilts of opposite sign on different angles: their sum is 1 to twelve digits."""
    windows = at_random(400_000, 10_000, 10, seed=1)
    structure = structure_of(windows)
    middle = round(precision_moments(windows, 1_000).mean)
    for reached in range(middle - 6, middle + 7, 3):
        upper, lower = (_invert_tail(structure, 1_000, reached, side, 10**9) for side in ("upper", "lower"))
        assert upper.p + lower.p == pytest.approx(1.0, abs=1e-12)


def whole_law(windows: Windows, n_events: int) -> np.ndarray:
    """P(C = c) for c = 0 .. n: what the law leaves out is 0."""
    whole = np.zeros(windows.n + 1)
    first, probabilities = pmf(windows, n_events)
    whole[first : first + len(probabilities)] = probabilities
    return whole


@settings(max_examples=25)
@given(windows=any_windows(60), data=st.data())
def test_the_law_agrees_with_rational_arithmetic(windows, data):
    """The law is right to 1e-13 absolutely, and 0 where there is no placement."""
    n_events = data.draw(st.integers(0, windows.n_steps))
    law = exact_law(windows, n_events)
    probabilities = whole_law(windows, n_events)
    expected = np.array([float(law.get(c, 0)) for c in range(windows.n + 1)])
    assert np.abs(probabilities - expected).max() < 1e-13
    assert (probabilities[expected == 0.0] == 0.0).all()


@pytest.mark.parametrize(
    ("n_steps", "n", "tolerance", "n_events"), [(150, 30, 2, 12), (140, 60, 6, 20), (300, 60, 0, 40)]
)
def test_the_law_keeps_relative_accuracy_in_its_tails(n_steps, n, tolerance, n_events):
    """From the middle to the last hit, each probability has at least seven digits."""
    windows = at_random(n_steps, n, tolerance, seed=n)
    law = exact_law(windows, n_events)
    probabilities = whole_law(windows, n_events)
    expected = np.array([float(law.get(c, 0)) for c in range(n + 1)])
    assert expected[expected > 0].min() < 1e-11
    np.testing.assert_allclose(probabilities, expected, rtol=1e-7, atol=0.0)


def test_the_law_has_the_closed_form_mean_and_variance():
    """On a problem too large for any oracle, mean and variance are those of the closed form."""
    windows = at_random(100_000, 2_000, 5, seed=8)
    lo, probabilities = pmf(windows, 500, floor=1e-20)
    hits = lo + np.arange(len(probabilities))
    moments = precision_moments(windows, 500)
    mean = float(hits @ probabilities)
    assert probabilities.sum() == pytest.approx(1.0, abs=1e-12)
    assert mean == pytest.approx(moments.mean, rel=1e-11)
    assert float((hits - mean) ** 2 @ probabilities) == pytest.approx(moments.var, rel=1e-10)


@pytest.mark.parametrize("windows", [at_random(1_500, 60, 2, seed=1), in_runs(1_200, 100, 6, 3)])
def test_tails_agree_with_the_dynamic_programme(windows):
    """Two exact methods that share nothing but the windows give the same tails."""
    law = precision_pmf(windows, 50)
    for hits in range(2, windows.n, 9):
        assert tail(windows, 50, hits).p == pytest.approx(law[hits:].sum(), rel=1e-9)
        assert tail(windows, 50, hits, side="lower").p == pytest.approx(law[: hits + 1].sum(), rel=1e-9)


def test_a_probability_lost_in_rounding_is_bounded_from_above():
    """Few, large clusters far in the lower tail (1e-413 and 1e-42): beyond reach, said so, never taken for smaller."""
    empty_windows = disjoint(3, 500, 3_000), 1_500, 1, law_of_disjoint(3, 500, 3_000, 1_500)
    runs = in_runs(160, 40, 8, 10)
    for windows, n_events, hits, law in (empty_windows, (runs, 60, 7, exact_law(runs, 60))):
        found = tail(windows, n_events, hits, side="lower")
        assert found.method.error == math.inf
        assert found.log_p >= log_of(exact_tail(law, hits, "lower"))


@pytest.mark.parametrize("side", ["upper", "lower"])
def test_what_cannot_fail_or_happen_has_probability_one_or_zero(side):
    """Out of the support the answer is 0 or 1 exactly: no events, events everywhere, no predictions, too many hits."""
    windows = disjoint(4, 3, 40)
    empty = Windows(starts=np.zeros(0, np.int64), stops=np.zeros(0, np.int64), n_steps=40)
    certain, impossible = (1.0, 0.0) if side == "upper" else (0.0, 1.0)
    assert tail(windows, 0, 1, side=side).p == impossible
    assert tail(windows, 40, 4, side=side).p == 1.0
    assert tail(windows, 40, 5, side=side).p == impossible
    assert tail(empty, 7, 1, side=side).p == impossible
    assert tail(windows, 3, 5, side=side).p == impossible
    assert tail(windows, 3, -1, side=side).p == certain
    assert tail(windows, 2, 3, side=side).p == impossible  # two events reach two windows
    assert tail(empty, 7, 0, side=side).p == 1.0
    assert pmf(empty, 7)[1].tolist() == [1.0]
    assert pmf(windows, 40)[0] == 4


def test_a_certain_tail_inside_the_support_is_exactly_one():
    """One event always falls in six of these seven windows: P(C >= 6) is 1, not 1 less a rounding error."""
    starts, stops = np.zeros(7, dtype=np.int64), np.array([1, 2, 2, 2, 2, 2, 2])
    windows = Windows(starts=starts, stops=stops, n_steps=2)
    assert tail(windows, 1, 6).p == 1.0
    assert tail(windows, 1, 5, side="lower").p == 0.0
    assert tail(windows, 1, 7).p == pytest.approx(0.5, rel=1e-13)


def test_hits_that_come_in_pairs_leave_odd_numbers_impossible():
    """Equal windows are hit together: C is even, and the law says so with exact zeros."""
    starts = np.repeat(np.arange(0, 60, 6), 2)
    windows = Windows(starts=starts, stops=starts + 3, n_steps=60)
    assert (whole_law(windows, 8)[1::2] == 0.0).all()
    assert tail(windows, 8, 11).log_p == pytest.approx(tail(windows, 8, 12).log_p, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("n_events", [1, 40, 300, 399])
def test_everything_covered_is_no_exception(n_events):
    """Where windows cover every step there is no free step to help: still right, to the last hit."""
    windows = around(np.arange(0, 400, 4), 3, 400)
    law = exact_law(windows, n_events)
    for hits in (min(law), min(law) + 1, (min(law) + max(law)) // 2, max(law), max(law) + 1):
        assert_tail(windows, n_events, hits, "upper", law, 1e-9)
        assert_tail(windows, n_events, hits, "lower", law, 1e-9)


def test_the_papers_example():
    """P(C >= 145) of the earthquake data at tolerance 2 and the .9 quantile is 4.063e-12."""
    folder = os.environ.get("NOFLUKE_DATA")
    if not folder:
        pytest.skip("NOFLUKE_DATA is unset: it names the directory of the data")
    x = np.loadtxt(Path(folder) / "anomaly-eval" / "twitter-earthquakes.dat", usecols=-1)
    sums = np.concatenate([[0.0], np.cumsum(x)])
    z = np.zeros(len(x))
    z[13:] = ((sums[14:] - sums[11:-3]) / 3) / ((sums[14:] - sums[:-14]) / 14 + 1)
    windows = around(np.flatnonzero(z >= np.quantile(z, 0.9)), 2, len(x))
    assert (windows.n, windows.n_steps) == (256, 2557)
    found = tail(windows, 162, 145)
    assert f"{found.p:.3e}" == "4.063e-12"
    assert found.method.error < 1e-11
    assert found.p == pytest.approx(precision_pmf(windows, 162)[145:].sum(), rel=1e-10)


@settings(max_examples=40)
@given(windows=any_windows(300), s=st.floats(-8.0, 3.0))
def test_without_tilt_the_generating_function_counts_all_placements(windows, s):
    """F(x, 1) = (1+x)^T, whatever the windows: the mean of y^C is 1 and every step holds an event with chance p."""
    point = evaluate(structure_of(windows), s, 0.0)
    assert point.log_mean == pytest.approx(0.0, abs=1e-12)
    assert point.events == pytest.approx(windows.n_steps * point.p, rel=1e-12)
    assert point.var_events == pytest.approx(windows.n_steps * point.p * (1 - point.p), rel=1e-9)


@settings(max_examples=20)
@given(windows=any_windows(80), s=st.floats(-4.0, 2.0), t=st.floats(-2.0, 2.0))
def test_gradient_and_hessian_are_derivatives(windows, s, t):
    """Means and covariances carried through the recurrence are what finite differences of kappa give."""
    structure = structure_of(windows)
    step = 1e-4

    def kappa(s: float, t: float) -> float:
        point = evaluate(structure, s, t)
        return point.log_mean + windows.n_steps * point.ell

    point = evaluate(structure, s, t)
    up, down = evaluate(structure, s, t + step), evaluate(structure, s, t - step)
    assert point.hits == pytest.approx((kappa(s, t + step) - kappa(s, t - step)) / (2 * step), abs=1e-5)
    assert point.events == pytest.approx((kappa(s + step, t) - kappa(s - step, t)) / (2 * step), abs=1e-5)
    assert point.var_hits == pytest.approx((up.hits - down.hits) / (2 * step), abs=1e-4)
    assert point.cov == pytest.approx((up.events - down.events) / (2 * step), abs=1e-3)


def test_equal_clusters_are_worked_out_once():
    """A thousand equal isolated windows and ten equal pairs are one closed form and one cluster of three blocks."""
    starts = np.sort(
        np.concatenate([np.arange(0, 50_000, 50), np.arange(50_000, 50_500, 50), np.arange(50_003, 50_500, 50)])
    )
    structure = structure_of(Windows(starts=starts, stops=starts + 5, n_steps=60_000))
    assert structure.single_count.tolist() == [1_000]
    assert structure.count.tolist() == [10]
    assert len(structure.length) == 3


def test_a_hard_problem_is_known_to_be_hard():
    """Everything covered and few events costs more than isolated windows, though predictions are fewer."""
    hard, easy = around(np.arange(5_000), 50, 5_000), at_random(1_000_000, 10_000, 2, seed=0)
    assert estimate_cost(hard, 60) > 3 * estimate_cost(easy, 1_000)
    assert estimate_cost(easy, 0) == 0.0


@settings(max_examples=60)
@given(n=st.integers(1, 10**8), share=st.floats(0.0, 1.0), p=st.floats(1e-9, 1.0 - 1e-9))
def test_binomial_probabilities_keep_their_digits(n, share, p):
    """Loader's form agrees with 50-digit arithmetic at any size."""
    with mpmath.workdps(50):
        for k in {round(share * n), round(p * n), min(round(p * n) + 3, n)}:
            exact = mpmath.log(mpmath.binomial(n, k)) + k * mpmath.log(p) + (n - k) * mpmath.log1p(-mpmath.mpf(p))
            assert binomial.log_pmf(k, n, p) == pytest.approx(float(exact), rel=3e-13, abs=3e-12)


def test_binomial_edges():
    """Certain and impossible outcomes, and arrays, which give what single numbers give."""
    assert binomial.log_pmf(0, 0, 0.3) == 0.0
    assert binomial.log_pmf(3, 3, 1.0) == 0.0
    assert binomial.log_pmf(0, 3, 0.0) == 0.0
    assert binomial.log_pmf(2, 3, 1.0) == -np.inf
    k = np.arange(-1, 12)
    together = binomial.log_pmf(k, 10, 0.3)
    assert together == pytest.approx([binomial.log_pmf(int(i), 10, 0.3) for i in k], rel=1e-14)
    assert np.exp(together).sum() == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda w: tail(w, 41, 1), "n_events must be from 0 to the 40 steps, got 41"),
        (lambda w: tail(w, 3, 1, side="both"), 'side must be "upper" or "lower", got \'both\''),
        (lambda w: pmf(w, -1), "n_events must be from 0 to the 40 steps, got -1"),
        (lambda _: binomial.log_pmf(1, 3, 1.5), "p must be between 0 and 1, got 1.5"),
        (lambda _: binomial.log_pmf(1, -3, 0.5), "n must be at least 0, got -3"),
    ],
)
def test_errors_name_argument_and_value(call, message):
    """Input that makes no sense is refused with its name and value."""
    with pytest.raises(InputError, match=message):
        call(disjoint(4, 3, 40))


def test_a_gap_in_the_law_is_not_its_end():
    """No hit or at least three, nothing in between: the law goes on behind the gap, and its table sums to one."""
    windows = Windows(starts=np.array([1, 1, 1, 1, 5]), stops=np.array([2, 6, 6, 6, 6]), n_steps=24)
    lo, probabilities = pmf(windows, 19)
    assert lo == 0
    np.testing.assert_array_equal(probabilities[1:3], 0.0)
    assert probabilities[0] == pytest.approx(float(tail(windows, 19, 0, side="lower").p), rel=1e-9)
    assert probabilities.sum() == pytest.approx(1.0, abs=1e-12)
