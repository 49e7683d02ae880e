"""Precision's law under permutation: which engine answers, and that what it says of the answer is true."""

import math
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nofluke as nf
from exact_oracles import joint_by_blocks
from nofluke.laws import precision
from nofluke.laws.exact import fourier, kernels, programme
from nofluke.laws.exact.moments import expected_misses, precision_moments
from nofluke.laws.precision import PrecisionFourier, PrecisionTable
from nofluke.series.counting import Windows

evaluate = partial(nf.evaluate, null="permutation")


def at_random(n_steps, n, tolerance, seed):
    """Windows around n predictions on random steps."""
    at = np.sort(np.random.default_rng(seed).choice(n_steps, n, replace=False)).astype(np.int64)
    return Windows(starts=np.maximum(at - tolerance, 0), stops=np.minimum(at + tolerance + 1, n_steps), n_steps=n_steps)


def flags(n_steps, count, rng):
    """0/1 for each step, 1 on so many random ones."""
    chosen = np.zeros(n_steps, dtype=np.int8)
    chosen[rng.choice(n_steps, count, replace=False)] = 1
    return chosen


def by_fourier(windows, m, *, insist=False):
    return PrecisionFourier(windows, m, insist=insist)


class TestSparseData:
    """Ordinary sparse data, on which the programme for few events divided 0 by 0."""

    def test_f_test_of_sparse_random_alarms(self):
        """T = 10⁵, 300 events, 1,000 predictions: F1 has a p-value, near that of simulation."""
        rng = np.random.default_rng(0)
        result = evaluate(flags(100_000, 300, rng), predictions=flags(100_000, 1_000, rng), tolerance=1)
        test = result.f_test()
        drawn = evaluate(
            result.sequence.truth, predictions=result.sequence.predictions, tolerance=1, method="montecarlo", rng=1
        )
        assert test.method == "exact (dynamic programme)"
        assert test.expected == pytest.approx(0.013787, abs=1e-6)
        assert abs(test.pvalue - 0.28) < 0.02
        assert drawn.precision_test.pvalue == pytest.approx(result.precision_test.pvalue, abs=0.02)

    def test_a_cell_of_a_sparse_sweep(self):
        """T = 10⁶, 200 events, quantile .9998, tolerance 3: a number in every cell."""
        rng = np.random.default_rng(0)
        truth, scores = flags(1_000_000, 200, rng), rng.random(1_000_000)
        chance = nf.sweep(truth, scores, quantiles=[0.9998], tolerances=[3]).chance
        assert np.isfinite(chance.precision.pvalue).all()
        assert np.isfinite(chance.precision.mean).all()

    @pytest.mark.parametrize("n_steps", [10**5, 10**7])
    def test_the_joint_law_of_random_windows_sums_to_one(self, n_steps):
        """50 to 400 events and 50 to 1,500 alarms: no entry is lost, and recall's margin is hypergeometric."""
        rng = np.random.default_rng(n_steps)
        for _ in range(5):
            m, n, delta = rng.integers(50, 400), rng.integers(50, 1_500), rng.integers(0, 4)
            windows = at_random(n_steps, int(n), int(delta), int(rng.integers(10**6)))
            table = programme.joint_pmf(windows, int(m))
            assert np.isfinite(table).all()
            assert table.sum() == pytest.approx(1.0, abs=1e-10)
            mean = float(table.sum(axis=0) @ np.arange(table.shape[1]))
            assert mean == pytest.approx(precision_moments(windows, int(m)).mean, rel=1e-9)

    @pytest.mark.slow
    def test_dense_events_do_not_overflow(self):
        """Odds of an event of 19 to 1 on long blocks: the law of rational arithmetic, entry by entry."""
        windows = at_random(2_000, 12, 60, 3)
        table = programme.joint_pmf(windows, 1_900)
        for (r, c), chance in joint_by_blocks(windows.starts, windows.stops, 2_000, 1_900).items():
            assert table[r, c] == pytest.approx(float(chance), rel=1e-11, abs=1e-280)


class TestDenseEvents:
    """Events nearly everywhere, so that a prediction is missed once in 10¹⁵⁰ times."""

    def law(self):
        at = np.arange(64) * 104
        windows = Windows(starts=np.maximum(at - 101, 0), stops=np.minimum(at + 117, 6_684), n_steps=6_684)
        return windows, by_fourier(windows, 6_310)

    def test_nothing_overflows(self):
        """Quantiles, tails and the table answer: all predictions are hit, but for less than any double shows."""
        windows, law = self.law()
        assert (law.quantile(0.5), law.quantile(0.025), law.critical_value(0.05)) == (64, 64, None)
        assert law.lower(60) == 0.0  # four windows that can be missed together hold more steps than are free of events
        assert law.upper(64) == 1.0
        assert law.table[64] == pytest.approx(1.0, abs=1e-9)
        widths = windows.stops - windows.starts
        missed = sum(math.comb(6_684 - int(w), 6_310) / math.comb(6_684, 6_310) for w in widths)
        assert expected_misses(windows, 6_310) == pytest.approx(missed, rel=1e-9)
        assert law.lower(63) == pytest.approx(missed, rel=1e-9)  # two at a time are far less likely still

    def test_the_sweep_of_the_report(self):
        """The same as people meet it: `evaluate`, and chance in a sweep."""
        rng = np.random.default_rng(0)
        alarms = np.zeros(6_684)
        alarms[np.arange(64) * 104] = 1
        tolerance = nf.Tolerance(early=116, late=101)
        truth = flags(6_684, 6_310, rng)
        assert evaluate(truth, predictions=alarms, tolerance=tolerance).precision_test.law.quantile(0.5) == 64
        chance = nf.sweep(truth, alarms, thresholds=[1], tolerances=[tolerance]).chance
        assert (chance.precision.low[0, 0], chance.precision.high[0, 0]) == (64, 64)


def test_an_attained_level_is_attained():
    """Five of ten placements have at most three hits: the median is 3, though the sum in doubles is below a half."""
    null = evaluate([1, 1, 0, 0, 0], predictions=[1, 1, 1, 1, 0], tolerance=1).precision_test.law
    hits = [sum(any(abs(p - e) <= 1 for e in placed) for p in range(4)) for placed in combinations(range(5), 2)]
    assert sum(h <= 3 for h in hits) == 5
    assert null.quantile(0.5) == 3


class TestCertainty:
    def hard(self):
        """An inversion that is given no time: nothing can be certified by it."""
        return at_random(3_000, 250, 4, 5), 200

    def test_exact_certifies_or_fails(self, monkeypatch):
        """Where neither the inversion nor a programme answers, "exact" says so and names what does."""
        windows, m = self.hard()
        monkeypatch.setattr(fourier, "MOST_BLOCKS", 0)
        monkeypatch.setattr(precision, "PROGRAMME_PATIENCE", 0)
        law = by_fourier(windows, m, insist=True)
        with pytest.raises(nf.InputError, match=r"method='exact' cannot certify .* use method=\"auto\""):
            law.upper(round(law.mean) + 20)

    def test_what_is_too_small_for_a_table_is_certified_or_a_bound(self, monkeypatch):
        """A perfect detector's p has no double; if its log is not certified, "exact" says so and "auto" bounds it."""
        truth = flags(100_000, 400, np.random.default_rng(0))
        alarms = np.roll(truth, 1)
        sure = evaluate(truth, predictions=alarms, tolerance=1).precision_test
        monkeypatch.setattr(fourier, "MOST_BLOCKS", 0)
        bound = evaluate(truth, predictions=alarms, tolerance=1).precision_test
        assert bound.method.startswith("upper bound")
        assert bound.log10_pvalue >= sure.log10_pvalue
        with pytest.raises(nf.InputError, match="cannot certify"):
            evaluate(truth, predictions=alarms, tolerance=1, method="exact")

    def test_auto_calls_a_bound_a_bound(self, monkeypatch):
        """The tail, the test and its JSON say "upper bound" from the start, and other tails do not change that."""
        monkeypatch.setattr(precision, "FEW_OPERATIONS", 0)
        monkeypatch.setattr(precision, "PROGRAMME_PATIENCE", 0)
        rng = np.random.default_rng(2)
        truth, alarms = flags(3_000, 200, rng), flags(3_000, 250, rng)
        null = nf.nulls.Permutation(programme_operations=0)
        certified = evaluate(truth, predictions=alarms, tolerance=4, null=null).precision_test
        assert certified.method == "exact (Fourier)"
        monkeypatch.setattr(fourier, "MOST_BLOCKS", 0)
        bound = evaluate(truth, predictions=alarms, tolerance=4, null=null).precision_test
        assert bound.method.startswith("upper bound")
        assert bound.to_dict()["method"] == bound.method
        assert bound.pvalue >= certified.pvalue
        bound.law.upper(250)
        assert bound.method.startswith("upper bound")
        with pytest.raises(nf.InputError, match="cannot certify"):
            evaluate(truth, predictions=alarms, tolerance=4, null=null, method="exact")

    def test_a_bound_is_one(self, monkeypatch):
        """What stands for a tail that was not certified is never below it, at any size of the problem."""
        true = {}
        for seed in range(8):
            rng = np.random.default_rng(seed)
            n_steps, m, n = int(10 ** rng.uniform(3, 7)), int(rng.integers(20, 500)), int(rng.integers(20, 800))
            windows = at_random(n_steps, n, int(rng.integers(1, 6)), seed)
            moments = precision_moments(windows, m)
            for z in (-3, -1, 0, 1, 3, 6):
                k = max(round(moments.mean + z * math.sqrt(moments.var)), 1)
                for side in ("upper", "lower"):
                    true[seed, m, k, side] = windows, fourier.tail(windows, m, k, side=side)
        monkeypatch.setattr(fourier, "MOST_BLOCKS", 0)
        seen = 0
        for (_, m, k, side), (windows, certified) in true.items():
            if certified.method.error < 1e-9:
                bound = fourier.tail(windows, m, k, side=side)
                if math.isinf(bound.method.error):
                    seen += 1
                    assert bound.log_p >= certified.log_p
        assert seen > 20

    def test_nearly_everything_hit_is_answered_without_an_inversion(self):
        """Where each alarm is all but certain to be hit, p is told from the few that may be missed."""
        rng = np.random.default_rng(0)
        alarms, truth = flags(10_000, 8_000, rng), flags(10_000, 1_000, rng)
        result = evaluate(truth, predictions=alarms, tolerance=1_000)
        assert result.precision_test.pvalue == pytest.approx(1.0, abs=1e-12)
        windows = at_random(600, 480, 60, 1)
        exact = by_fourier(windows, 12).upper(480)
        assert exact == pytest.approx(programme.precision_pmf(windows, 12)[480], rel=1e-9)


class TestFewMissed:
    @settings(max_examples=60)
    @given(st.integers(4, 60), st.integers(1, 12), st.integers(0, 6), st.integers(0, 10**6), st.data())
    def test_is_the_upper_end_of_the_law(self, n_steps, n, delta, seed, data):
        """Lumping the states with more misses changes nothing of those with fewer."""
        windows = at_random(n_steps, min(n, n_steps), delta, seed)
        m = data.draw(st.integers(1, n_steps - 1))
        most = data.draw(st.integers(0, windows.n - 1))
        law = programme.joint_pmf(windows, m).sum(axis=0)
        np.testing.assert_allclose(
            programme.few_missed_pmf(windows, m, most), law[::-1][: most + 1], rtol=1e-11, atol=1e-290
        )


class TestUnderflow:
    def perfect(self, **how):
        """A perfect detector: 400 events among 10⁵ steps, each predicted."""
        truth = flags(100_000, 400, np.random.default_rng(0))
        return evaluate(truth, predictions=truth, **how)

    def test_p_is_never_zero_and_its_logarithm_is_exact(self):
        """Without tolerance one placement of binom(T, m) does as well: log10 p is minus the log of that."""
        result = self.perfect()
        expected = -sum(math.log10((100_000 - i) / (400 - i)) for i in range(400))
        for test in (result.precision_test, result.recall_test):
            assert test.pvalue == math.ulp(0.0)
            assert test.log10_pvalue == pytest.approx(expected, rel=1e-12)
            assert test.to_dict()["log10_pvalue"] == test.log10_pvalue
        assert "e-1" in str(result)
        assert "< 1e-300" not in result.table(f1="value").text()
        assert result.f_test().pvalue > 0

    def test_the_tail_beyond_a_table_is_inverted(self):
        """400 windows of three steps apart from each other, 400 events, all hit: one event in each, 3⁴⁰⁰ placements."""
        truth = np.zeros(100_000, dtype=np.int8)
        truth[125::250] = 1
        test = evaluate(truth, predictions=np.roll(truth, 1), tolerance=1).precision_test
        placements = sum(math.log10((100_000 - i) / (400 - i)) for i in range(400))
        assert test.pvalue == math.ulp(0.0)
        assert test.log10_pvalue == pytest.approx(400 * math.log10(3) - placements, rel=1e-11)
        assert test.method == "exact (dynamic programme)"

    def test_corrected_p_values_are_never_zero(self):
        """Holm and Benjamini–Hochberg of a perfect sweep."""
        truth = flags(100_000, 400, np.random.default_rng(0))
        chance = nf.sweep(truth, truth.astype(float), thresholds=[0.5, 1.0], tolerances=[0, 1]).chance
        for cells in (chance.precision, chance.recall):
            assert (cells.pvalue > 0).all()
            assert (cells.holm > 0).all()
            assert (cells.benjamini_hochberg > 0).all()

    def test_mid_p_and_two_sided_in_logarithms(self):
        """Half and twice of what a double cannot hold."""
        full, mid, both = (
            self.perfect(**how).recall_test.log10_pvalue for how in ({}, {"ties": "mid"}, {"alternative": "two-sided"})
        )
        assert mid == pytest.approx(full - math.log10(2), rel=1e-12)
        assert both == pytest.approx(full + math.log10(2), rel=1e-12)


class TestQuantiles:
    def test_agree_with_the_table(self):
        """From one inversion of the bulk, or tails far out: the smallest k whose cumulative table reaches the level."""
        windows = at_random(4_000, 300, 5, 7)
        law = by_fourier(windows, 80)
        table = PrecisionTable(windows, 80)
        levels = [1e-6, 0.001, 0.025, 0.3, 0.5, 0.8, 0.975, 0.999, 1 - 1e-7]
        np.testing.assert_array_equal(law.quantile(levels), table.quantile(levels))
        for alpha in (0.5, 0.05, 0.01, 1e-4, 1e-8):
            assert law.critical_value(alpha) == table.critical_value(alpha)

    def test_cost_no_more_than_three_inversions(self, monkeypatch):
        """The band of a sweep: the bulk and what lies on either side of it, whatever the number of levels."""
        windows = at_random(20_000, 1_500, 20, 3)
        law = by_fourier(windows, 150)
        calls = []
        original = kernels.invert
        monkeypatch.setattr(kernels, "invert", lambda *a: calls.append(1) or original(*a))
        law.quantile([0.025, 0.1, 0.5, 0.9, 0.975])
        law.critical_value(0.05)
        assert 1 <= len(calls) <= 3


class TestChoice:
    @pytest.mark.parametrize(
        ("n_steps", "n", "m", "kind"),
        [
            (2_557, 256, 162, PrecisionTable),  # tables of misses are small
            (100_000, 20_000, 5, PrecisionTable),  # tables of hits are
            (100_000, 2_000, 500, PrecisionFourier),
        ],
    )
    def test_a_table_is_made_where_it_is_affordable(self, n_steps, n, m, kind):
        """It is, where predictions are few, or events are."""
        assert type(precision.precision_law(at_random(n_steps, n, 2, 0), m, "auto", 1e9)) is kind


class TestConstantLaws:
    def test_the_saddlepoint_of_a_law_that_cannot_vary(self):
        """Chance always scores the same: p is 1, and the distribution is a single value."""
        test = evaluate(
            [0, 0, 0, 1, 1, 0, 0, 0, 0, 0], predictions=[1] * 10, tolerance=20, method="saddlepoint"
        ).precision_test
        assert test.pvalue == 1.0
        np.testing.assert_array_equal(test.law.cdf([8, 9, 10]), [0, 0, 1])

    @pytest.mark.parametrize("how", [{"null": "bernoulli"}, {"null": "permutation", "method": "binomial"}])
    def test_a_binomial_that_is_certain(self, how):
        """Every window is as wide as the sequence: tails are 0 or 1, and nothing is divided by 0."""
        test = evaluate([0, 1, 0, 0], predictions=[1, 1, 0, 1], tolerance=9, **how).precision_test
        assert (test.law.lower(0), test.law.lower(3), test.law.upper(3)) == (0.0, 1.0, 1.0)
        assert test.pvalue_for("less", "mid") == 1.0
        chance = nf.sweep([1], [0], thresholds=[0], truth_as="labels", **how).chance
        assert chance.precision.pvalue[0, 0] == 1.0


class TestArguments:
    @pytest.mark.parametrize(
        "ask",
        [
            lambda law: law.cdf("x"),
            lambda law: law.pmf("1M"),
            lambda law: law.cdf(None),
            lambda law: law.quantile(1j),
            lambda law: law.quantile("x"),
            lambda law: law.critical_value(None),
            lambda law: law.critical_value("x"),
            lambda law: law.critical_value(np.array([0.1, 0.2])),
            lambda law: law.rvs(rng=-1),
            lambda law: law.rvs(rng="x"),
            lambda law: law.rvs(-1),
            lambda law: law.rvs(10**15, rng=1),
        ],
    )
    def test_what_a_law_cannot_be_asked_is_refused(self, ask):
        """In one line, whatever the law."""
        windows = at_random(40, 6, 1, 0)
        for law in (by_fourier(windows, 4), PrecisionTable(windows, 4)):
            with pytest.raises(nf.InputError):
                ask(law)


def test_windows_of_one_step_may_be_the_same_step():
    """One event there is two hits: alarms that are told apart more finely than the events, or at the same time."""
    one = nf.evaluate(
        [0, 0, 1, 0],
        predictions=[1, 1, 1, 1],
        times=[0, 1, 3, 4],
        mask=[0, 0, 0, 1],
        tolerance=nf.Tolerance(early=3.0, late=-1.5, unit="clock"),
        null="permutation",
    )
    np.testing.assert_allclose(one.precision_test.law.table, [2 / 3, 0, 1 / 3, 0])
    counted = nf.coincidence([3], [5, 5], tolerance=0, span=(0, 9), duplicates="count", null="permutation")
    np.testing.assert_allclose(counted.precision_test.law.table, [0.9, 0, 0.1])


def test_where_every_step_is_predicted_a_large_law_is_simulated():
    """Nothing can be told from it, and its exact law would take minutes; a small one stays exact."""
    truth = np.zeros(15_902, dtype=int)
    truth[[100, 5000, 9000, 14_000]] = 1
    large = nf.evaluate(
        truth, np.zeros(15_902), quantile=0.99, tolerance=159, null="permutation", n_resamples=99, rng=1
    )
    assert (large.precision_test.method, large.verdict) == ("montecarlo", "cannot tell")
    small = nf.evaluate(truth[:120], np.zeros(120), quantile=0.99, tolerance=2, null="permutation")
    assert small.precision_test.method.startswith("exact")
