"""Tests against chance and corrections for many of them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import nofluke as nf
from nofluke.inference.chance import ChanceTest
from nofluke.inference.corrections import benjamini_hochberg, holm
from nofluke.laws.counts import SimulatedLaw
from nofluke.laws.tables import binomial
from nofluke.text.numbers import show_p


def make(hits, size=10, chance=0.3, **how):
    return ChanceTest(measure="recall", hits=hits, of=size, law=binomial(size, chance), model="test", **how)


class TestPValues:
    @pytest.mark.parametrize("ties", ["full", "mid"])
    @pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
    def test_without_trials_there_is_nothing_to_test(self, alternative, ties):
        """No prediction, or no event: p is 1, also the mid-p-value, so that silence is never called skill."""
        assert make(0, 0, 0.5).pvalue_for(alternative, ties) == 1.0
        result = nf.evaluate([0, 1, 0, 0], predictions=[0] * 4, alternative=alternative, ties=ties, alpha=0.6)
        assert result.precision_test.pvalue == 1.0
        assert result.verdict == "cannot tell"

    @given(st.integers(1, 12), st.floats(0.05, 0.95), st.integers(0, 12))
    def test_alternatives_agree_with_scipy(self, size, chance, hits):
        """Greater and less are scipy's tails; two-sided is twice the smaller, at most 1."""
        hits = min(hits, size)
        test = make(hits, size, chance)
        upper = stats.binom.sf(hits - 1, size, chance)
        lower = stats.binom.cdf(hits, size, chance)
        assert test.pvalue == pytest.approx(upper, rel=1e-9)
        assert test.pvalue_for("less") == pytest.approx(lower, rel=1e-9)
        assert test.pvalue_for("two-sided") == pytest.approx(min(1, 2 * min(upper, lower)), rel=1e-9)
        mid = upper - stats.binom.pmf(hits, size, chance) / 2
        assert test.pvalue_for("greater", "mid") == pytest.approx(mid, rel=1e-9, abs=1e-12)

    def test_p_of_f1_is_not_shown_beside_those_of_another_alternative(self):
        """It is always the upper one."""
        rng = np.random.default_rng(3)
        truth, scores = rng.random(400) < 0.05, rng.random(400)
        for alternative, cells in (("greater", 2), ("less", 0), ("two-sided", 0)):
            result = nf.evaluate(truth, scores, quantile=0.9, tolerance=1, alternative=alternative)
            assert sum(map(bool, result.table().rows[2][-2:])) == cells

    def test_the_result_takes_the_alternative_asked_for(self):
        """alternative= and ties= of evaluate reach the p-value."""
        data = {"truth": [0, 1, 0, 0, 1, 0, 0, 0], "predictions": [0, 1, 0, 0, 0, 0, 0, 1]}
        truth, predictions = data["truth"], data["predictions"]
        plain = nf.evaluate(truth, predictions=predictions).recall_test
        for alternative in ("greater", "less", "two-sided"):
            for ties in ("full", "mid"):
                test = nf.evaluate(truth, predictions=predictions, alternative=alternative, ties=ties).recall_test
                assert test.pvalue == plain.pvalue_for(alternative, ties)

    def test_bad_choices_are_refused(self):
        """An unknown alternative, way with ties, level, null or method is an error that lists the choices."""
        for bad, message in (
            ({"alternative": "more"}, "alternative='more' must be one of 'greater'"),
            ({"ties": "half"}, "ties='half' must be one of 'full', 'mid'"),
            ({"alpha": 1}, "alpha=1 must be between 0 and 1"),
            ({"null": "bootstrap"}, "null='bootstrap' must be"),
            ({"method": "fast"}, "method='fast' must be one of 'auto'"),
        ):
            with pytest.raises(nf.InputError, match=message):
                nf.evaluate([0, 1], predictions=[0, 1], **bad)

    def test_derived_numbers(self):
        """Excess, z-score, chance-corrected value and critical value follow from hits and null."""
        test = make(7)
        assert test.expected == pytest.approx(3.0)
        assert test.excess == pytest.approx(4.0)
        assert test.zscore == pytest.approx(4 / math.sqrt(2.1))
        assert test.chance_corrected == pytest.approx(4 / 7)
        assert test.value == 0.7
        critical = test.critical_value(0.05)
        assert stats.binom.sf(critical - 1, 10, 0.3) <= 0.05 < stats.binom.sf(critical - 2, 10, 0.3)

    def test_monte_carlo_says_its_error(self):
        """The standard error is sqrt(p(1-p)/n) for simulated nulls and 0 for computed ones."""
        null = SimulatedLaw(np.array([50, 30, 20]), mean=0.7, var=0.6, n_resamples=100, seed=4)
        test = ChanceTest(measure="recall", hits=2, of=2, law=null, model="test")
        assert test.pvalue == 21 / 101
        assert test.pvalue_error == pytest.approx(math.sqrt(test.pvalue * (1 - test.pvalue) / 100))
        assert make(3).pvalue_error == 0
        assert {"n_resamples": 100, "seed": 4}.items() <= test.to_dict().items()

    def test_p_values_are_never_shown_as_zero(self):
        """However small, a p-value is written with its size."""
        assert show_p(1e-250) == "1.0e-250"
        assert show_p(0.0) == "< 1e-300"


pvalue_lists = st.lists(st.floats(0, 1), min_size=1, max_size=20)


class TestCorrections:
    @given(pvalue_lists)
    def test_holm_by_its_definition(self, p):
        """Holm's adjusted value is the largest of (n - rank) p over all smaller ones."""
        order = sorted(range(len(p)), key=lambda i: p[i])
        largest, expected = 0.0, [0.0] * len(p)
        for rank, i in enumerate(order):
            largest = max(largest, (len(p) - rank) * p[i])
            expected[i] = min(largest, 1.0)
        np.testing.assert_allclose(holm(p), expected)

    @given(pvalue_lists)
    def test_benjamini_hochberg_equals_scipy(self, p):
        """The step-up values are scipy's."""
        np.testing.assert_allclose(benjamini_hochberg(p), stats.false_discovery_control(p), atol=1e-15)

    def test_shape_stays_and_nan_is_no_test(self):
        """Arrays keep their shape; NaN is left out of the count."""
        p = np.array([[0.01, np.nan], [0.04, 0.5]])
        assert holm(p)[0, 0] == pytest.approx(0.03)
        assert np.isnan(benjamini_hochberg(p)[0, 1])
        with pytest.raises(nf.InputError, match="between 0 and 1"):
            holm([1.2])


class TestCorrectionsOfOddInput:
    @pytest.mark.parametrize("correct", [holm, benjamini_hochberg])
    def test_masked_values_are_no_tests(self, correct):
        """They stay out of the number of tests, as NaN do."""
        masked = np.ma.array([0.1, 0.2], mask=[0, 1])
        np.testing.assert_array_equal(correct(masked), correct([0.1, np.nan]))

    @pytest.mark.parametrize("correct", [holm, benjamini_hochberg])
    @pytest.mark.parametrize("wrong", ["x", ["0.1"], [None, "a"], [1j], [[0.1], [0.1, 0.2]], {}])
    def test_what_is_no_number_is_refused(self, correct, wrong):
        """In one line that shows it."""
        with pytest.raises(nf.InputError, match=r"^pvalues"):
            correct(wrong)
