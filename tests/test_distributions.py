"""Null distributions: tails, quantiles and tables against scipy and against each other."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nofluke.distributions import EmpiricalNull, NullDistribution, TableNull, Tail, binomial, hypergeometric
from nofluke.errors import InputError, NumericalError


@st.composite
def urns(draw):
    n_steps = draw(st.integers(1, 60))
    return n_steps, draw(st.integers(0, n_steps)), draw(st.integers(0, n_steps))


class TestHypergeometric:
    @given(urns())
    def test_agrees_with_scipy(self, urn):
        """Table, tails, mean and variance equal scipy's hypergeometric."""
        null, other = hypergeometric(*urn), stats.hypergeom(*urn)
        k = np.arange(-1, urn[2] + 2)
        np.testing.assert_allclose(null.pmf(k), other.pmf(k), atol=1e-13)
        np.testing.assert_allclose(null.sf(k), other.sf(k), atol=1e-13)
        np.testing.assert_allclose(null.cdf(k), other.cdf(k), atol=1e-13)
        mean = float(k @ other.pmf(k))
        assert null.mean == pytest.approx(mean)
        assert null.var == pytest.approx(float((k - mean) ** 2 @ other.pmf(k)), abs=1e-12)

    def test_far_tail_keeps_its_digits(self):
        """A tail of 1e-60 has the value of rational arithmetic, not just its size."""
        from fractions import Fraction
        from math import comb

        t, d, m, r = 2557, 630, 162, 140
        exact = sum(Fraction(comb(d, k) * comb(t - d, m - k), comb(t, m)) for k in range(r, m + 1))
        assert exact < Fraction(1, 10**50)
        assert hypergeometric(t, d, m).upper(r) == pytest.approx(float(exact), rel=1e-12)


class TestBinomial:
    @given(st.integers(0, 80), st.one_of(st.sampled_from([0.0, 1.0]), st.floats(1e-9, 1 - 1e-9)))
    def test_agrees_with_scipy(self, size, chance):
        """Table and upper tails equal scipy's binomial, also for impossible and certain hits."""
        null = binomial(size, chance)
        k = np.arange(size + 1)
        np.testing.assert_allclose(null.pmf(k), stats.binom.pmf(k, size, chance), atol=1e-13)
        np.testing.assert_allclose(null.sf(k), stats.binom.sf(k, size, chance), atol=1e-13)


tables = st.lists(st.integers(0, 50), min_size=1, max_size=30).filter(any).map(lambda w: np.array(w) / sum(w))


def of_table(table):
    mean = float(np.arange(len(table)) @ table)
    return TableNull(table, mean=mean, var=0.0, method="test")


class TestTails:
    @given(tables, st.integers(-3, 35))
    def test_upper_and_lower_are_sums_of_the_table(self, table, k):
        """P(X ≥ k) and P(X ≤ k) are what the table says, and 0 or 1 outside of it."""
        null = of_table(table)
        assert null.upper(k) == pytest.approx(table[max(k, 0) :].sum(), abs=1e-12)
        assert null.lower(k) == pytest.approx(table[: max(k + 1, 0)].sum(), abs=1e-12)
        assert 0 <= null.upper(k) <= 1
        assert 0 <= null.lower(k) <= 1

    @given(tables, st.floats(0, 1))
    def test_quantile_is_the_smallest_value_that_reaches_the_level(self, table, q):
        """P(X ≤ quantile) ≥ q, and not one below, up to rounding."""
        null = of_table(table)
        k = null.quantile(q)
        assert k in null.support
        assert null.cdf(k) >= q - 1e-12
        assert k == null.support[0] or null.cdf(k - 1) < q + 1e-12

    @given(tables, st.floats(0.001, 0.999))
    def test_critical_value_is_the_smallest_significant_one(self, table, alpha):
        """At the critical value the p-value is at most alpha, one below it is larger."""
        null = of_table(table)
        critical = null.critical_value(alpha)
        if critical is None:
            assert null.upper(null.size) > alpha
        else:
            assert null.upper(critical) <= alpha
            assert null.upper(critical - 1) > alpha

    def test_only_whole_numbers_have_a_probability(self):
        """Between whole numbers, outside of the table and at NaN the probability is 0."""
        null = binomial(5, 0.5)
        np.testing.assert_array_equal(null.pmf([1.5, -1, 6, float("nan")]), 0.0)
        assert null.pmf(2.0) == null.table[2]

    def test_bad_levels_are_refused(self):
        """Quantiles and levels outside of 0..1 are errors that show the value."""
        null = binomial(5, 0.5)
        with pytest.raises(InputError, match=r"q=1.5 must be between 0 and 1"):
            null.quantile(1.5)
        with pytest.raises(InputError, match=r"alpha=0 must be between 0 and 1"):
            null.critical_value(0)

    def test_random_values_follow_the_table(self):
        """rvs draws from the distribution, reproducibly."""
        null = binomial(10, 0.3)
        drawn = null.rvs(20_000, rng=1)
        np.testing.assert_array_equal(drawn, null.rvs(20_000, rng=1))
        assert (
            stats.chisquare(
                np.bincount(drawn, minlength=11)[:8],
                20_000 * null.table[:8] / null.table[:8].sum() * (drawn < 8).mean(),
            ).pvalue
            > 0.001
        )
        assert isinstance(null.rvs(rng=1), int)


class Quarter(NullDistribution):
    """A law whose every tail is a quarter, and that remembers what it was asked."""

    def __init__(self):
        super().__init__(size=4, mean=2.0, var=1.0, method="test")
        self.asked = []

    def _tail(self, hits, side):
        self.asked.append((hits, side))
        return Tail.of(0.25, self.method)

    def _table(self):
        return np.full(5, 0.2)


class TestTailsOneByOne:
    def test_asks_for_each_tail_once_and_knows_the_ends(self):
        """Tails are computed once each; outside of 0..size they are 0 or 1 without asking."""
        null = Quarter()
        assert (null.upper(0), null.upper(5), null.lower(4), null.lower(-1)) == (1.0, 0.0, 1.0, 0.0)
        assert null.asked == []
        assert null.upper(3) == null.upper(3) == 0.25
        assert null.lower(1) == 0.25
        assert null.asked == [(3, "upper"), (1, "lower")]

    @pytest.mark.parametrize("k", [math.inf, 1e300, 4, 4.5])
    def test_infinity_is_beyond_the_last_value(self, k):
        """P(X ≤ ∞) is 1 and P(X > ∞) is 0; so at minus infinity, the other way round."""
        null = binomial(4, 0.5)
        assert (null.cdf(k), null.sf(k)) == (1.0, 0.0)
        assert (null.cdf(-k - 1), null.sf(-k - 1)) == (0.0, 1.0)
        assert math.isnan(null.cdf(math.nan))
        np.testing.assert_array_equal(null.cdf([[k], [-1]]), [[1.0], [0.0]])


class TestNotANumber:
    @pytest.mark.parametrize("table", [[0.5, math.nan], [0.5, 0.4], [1.5, -0.5]])
    def test_no_such_table_leaves(self, table):
        """A table that is no law is an error where it is made, not a number further on."""
        null = TableNull(np.array(table), mean=0.5, var=0.25, method="test")
        for use in (lambda: null.table, lambda: null.upper(1), lambda: null.quantile(0.5), lambda: null.pmf(1)):
            with pytest.raises(NumericalError, match="could not be computed by the method test"):
                use()

    @pytest.mark.parametrize("moments", [(math.nan, 1.0), (1.0, math.inf)])
    def test_no_such_moment_leaves(self, moments):
        """A mean or variance that is no number is an error."""
        with pytest.raises(NumericalError, match="mean or variance"):
            TableNull(np.array([0.5, 0.5]), mean=moments[0], var=moments[1], method="test")

    def test_no_such_tail_leaves(self):
        """A tail that is no probability is an error."""

        class Broken(Quarter):
            def _tail(self, *_):
                return Tail(p=math.nan, log_p=math.nan, method="test")

        with pytest.raises(NumericalError, match=r"P.X ≥ 2."):
            Broken().upper(2)


class TestFarTails:
    """Where a double underflows, the logarithm stays right."""

    @pytest.mark.parametrize(("n_steps", "covered", "m", "hits"), [(10**5, 1_000, 400, 390), (5_000, 300, 400, 299)])
    def test_hypergeometric(self, n_steps, covered, m, hits):
        """Against sums of whole numbers."""
        ways = sum(math.comb(covered, r) * math.comb(n_steps - covered, m - r) for r in range(hits, m + 1))
        expected = log_ratio(ways, math.comb(n_steps, m))
        tail = hypergeometric(n_steps, covered, m).tail(hits)
        assert tail.log_p == pytest.approx(expected, rel=1e-12)
        assert tail.p > 0

    def test_lower_side_of_the_hypergeometric(self):
        """Events that all miss nearly everything."""
        ways = sum(math.comb(4_000, r) * math.comb(1_000, 900 - r) for r in range(31))
        assert hypergeometric(5_000, 4_000, 900).tail(30, "lower").log_p == pytest.approx(
            log_ratio(ways, math.comb(5_000, 900)), rel=1e-12
        )

    def test_binomial(self):
        """Both sides, against fractions."""
        chance = Fraction(1, 64)
        upper = sum(math.comb(500, k) * chance**k * (1 - chance) ** (500 - k) for k in range(400, 501))
        lower = sum(math.comb(900, k) * (1 - chance) ** k * chance ** (900 - k) for k in range(301))
        assert binomial(500, 1 / 64).tail(400).log_p == pytest.approx(log_ratio(upper.numerator, upper.denominator))
        assert binomial(900, 63 / 64).tail(300, "lower").log_p == pytest.approx(
            log_ratio(lower.numerator, lower.denominator)
        )


def log_ratio(above, below):
    """The logarithm of a ratio of whole numbers of any size."""
    with mpmath.workdps(40):
        return float(mpmath.log(above) - mpmath.log(below))


class TestEmpirical:
    def test_quantiles_are_those_of_the_resamples(self):
        """Half of ten resamples have no hit, eight at most one: no +1 here, which would make the band too wide."""
        null = EmpiricalNull(np.array([5, 3, 2, 0]), mean=0.7, var=0.6, n_resamples=10, seed=1)
        np.testing.assert_array_equal(null.quantile([0, 0.5, 0.51, 0.8, 0.81, 1]), [0, 0, 1, 1, 2, 2])

    def test_p_never_zero(self):
        """Monte Carlo tails count the observed sequence in: (b + 1)/(n + 1)."""
        null = EmpiricalNull(np.array([5, 3, 2, 0]), mean=0.7, var=0.6, n_resamples=10, seed=1)
        assert null.upper(3) == 1 / 11
        assert null.upper(2) == 3 / 11
        assert null.upper(0) == 1.0
        assert null.lower(0) == 6 / 11
        assert null.lower(-1) == 1 / 11
        assert null.pmf(1) == 0.3
