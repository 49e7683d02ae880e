"""Sums of independent laws, against convolution in fractions: both tails, however far out."""

import math
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nofluke.errors import InputError
from nofluke.laws.counts import SimulatedLaw
from nofluke.laws.law import How, exactly
from nofluke.laws.precision import PrecisionFourier, PrecisionTable
from nofluke.laws.sums import SumLaw
from nofluke.laws.tables import TableLaw, binomial, hypergeometric
from nofluke.series.counting import Windows


def fractions_of(weights):
    total = sum(weights)
    return [Fraction(w, total) for w in weights]


def convolved(parts):
    def once(a, b):
        out = [Fraction(0)] * (len(a) + len(b) - 1)
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                out[i + j] += x * y
        return out

    return reduce(once, parts)


def law_of(weights):
    table = np.array([float(f) for f in fractions_of(weights)])
    k = np.arange(len(table))
    mean = float(table @ k)
    return TableLaw(table, mean=mean, var=float(table @ (k - mean) ** 2), method=exactly("test"))


weights = st.lists(st.integers(0, 10**6), min_size=1, max_size=7).filter(any)


@settings(max_examples=80)
@given(st.lists(weights, min_size=1, max_size=5))
def test_tails_are_those_of_the_convolution(parts):
    """Every tail of the sum, to ten digits; mean and variance add."""
    expected = convolved([fractions_of(p) for p in parts])
    total = reduce(lambda a, b: a + b, map(law_of, parts))
    assert total.size == len(expected) - 1
    assert total.mean == pytest.approx(float(sum(k * p for k, p in enumerate(expected))), abs=1e-9)
    for k in range(-1, len(expected) + 1):
        upper, lower = sum(expected[max(k, 0) :], Fraction(0)), sum(expected[: max(k + 1, 0)], Fraction(0))
        assert total.upper(k) == pytest.approx(float(upper), rel=1e-10, abs=1e-300), k
        assert total.lower(k) == pytest.approx(float(lower), rel=1e-10, abs=1e-300), k
    np.testing.assert_allclose(total.table, [float(p) for p in expected], atol=1e-12)


def test_far_tails_keep_their_digits():
    """Thirty hypergeometric laws, a sum forty standard deviations out, against whole numbers."""
    urns = [(1_000 + 7 * i, 60 + i, 12) for i in range(30)]
    total = reduce(lambda a, b: a + b, (hypergeometric(*urn) for urn in urns))
    exact = convolved(
        [
            [Fraction(math.comb(c, r) * math.comb(t - c, m - r), math.comb(t, m)) for r in range(m + 1)]
            for t, c, m in urns
        ]
    )
    for hits in (25, 60, 120, 250, 355, 360):
        upper = sum(exact[hits:], Fraction(0))
        log = math.log(upper.numerator) - math.log(upper.denominator)
        assert total.tail(hits).log_p == pytest.approx(log, rel=1e-10), hits
    assert total.method == exactly("sum of independent laws")
    assert total.quantile(0.5) == next(k for k in range(361) if sum(exact[: k + 1]) >= Fraction(1, 2))


def test_a_sum_of_binomials_is_a_binomial():
    """With the same chance: one law of all trials."""
    total = binomial(7, 0.3) + binomial(13, 0.3) + binomial(1, 0.3)
    np.testing.assert_allclose(total.table, binomial(21, 0.3).table, atol=1e-14)
    assert total.method.kind == "approximate"
    assert len(total.parts) == 3


def test_a_sum_is_as_good_as_its_worst_part():
    """With a simulated part no p-value is below 1/(n + 1)."""
    drawn = SimulatedLaw(np.array([60, 39, 0]), mean=0.4, var=0.24, n_resamples=99, seed=1)
    total = drawn + hypergeometric(1_000, 10, 5)
    assert total.method == How(kind="simulated", name="sum of independent laws", n_resamples=99)
    assert total.upper(6) >= 1 / 100


def test_only_laws_add_up():
    """Anything else is a TypeError, as for numbers; no parts are an input error."""
    with pytest.raises(TypeError):
        _ = binomial(3, 0.5) + 1
    with pytest.raises(InputError, match="parts is empty"):
        SumLaw(())


@pytest.mark.parametrize("hits", [5, 20, 100, 300, 400])
def test_a_sum_of_one_part_is_that_part(hits):
    """However far out: where a table of doubles ends, the law behind it goes on."""
    part = hypergeometric(100_000, 400, 400)
    assert SumLaw((part,)).tail(hits).log_p == pytest.approx(part.tail(hits).log_p, rel=1e-12)


def test_a_wide_part_takes_no_digits_from_the_far_tail():
    """One law of 20,000 trials beside five of three: the tail at 200 against a plain convolution, to ten digits."""
    wide, narrow = binomial(20_000, 0.001), binomial(3, 0.5)
    table = reduce(np.convolve, [narrow.table] * 5, wide.table[:600])
    total = SumLaw((wide, *[narrow] * 5))
    for hits in (60, 100, 200):
        assert total.upper(hits) == pytest.approx(float(table[hits:600].sum()), rel=1e-10, abs=0)


def test_tails_between_peaks_far_apart_are_not_rounding():
    """One part is 0, or 3,000 once in 10¹⁰⁰: between the peaks the tail is the small one's, not what rounding left."""
    peaks = np.zeros(3_001)
    peaks[0], peaks[-1] = 1.0, 1e-100
    rare = TableLaw(peaks, mean=3e-97, var=9e-94, method=exactly("test"))
    total = rare + binomial(2_000, 0.5, exactly("test"))
    assert total.upper(2_500) == pytest.approx(1e-100, rel=1e-9, abs=0)


def test_what_the_tables_of_the_parts_leave_out_is_a_bound():
    """A part whose table stops at 10⁻¹⁶ gives a sum that is called a bound there, and is one."""

    class Cut(TableLaw):
        def log_bulk(self):
            return 0, np.log(self.table[:42])

        def bulk(self, deviations):
            del deviations
            return 0, self.table[:42]

    whole = binomial(100, 0.1, exactly("test"))
    assert whole.table[41] > 1e-16 > whole.table[42]
    cut = Cut(whole.table, mean=whole.mean, var=whole.var, method=whole.method)
    total, truth = cut + cut, binomial(200, 0.1)
    assert total.tail(30).method.kind == "exact"
    assert total.tail(30).p == pytest.approx(truth.upper(30), rel=1e-9)
    for hits in (75, 85, 120):
        assert total.tail(hits).method.kind == "bound"
        assert truth.upper(hits) <= total.tail(hits).p < 1e-14


def test_a_thousand_parts():
    """A thousand laws of different sizes, five deviations out, against one convolution after the other."""
    generator = np.random.default_rng(1)
    sizes, chances = generator.integers(1, 40, 1_000), generator.random(1_000)
    parts = tuple(binomial(int(n), float(p)) for n, p in zip(sizes, chances, strict=True))
    total, table = SumLaw(parts), reduce(np.convolve, (part.table for part in parts))
    hits = int(total.mean + 5 * total.std)
    assert total.upper(hits) == pytest.approx(float(table[hits:].sum()), rel=1e-10, abs=0)
    assert total.quantile(0.975) == int(np.searchsorted(np.cumsum(table), 0.975))


def test_sum_adds_up_a_list_of_laws():
    """As people write it; a sum of one law is that law, and numbers are no laws."""
    laws = [binomial(3, 0.5), binomial(4, 0.5), binomial(5, 0.5)]
    assert sum(laws).parts == tuple(laws)
    assert sum(laws).upper(12) == pytest.approx(2**-12, rel=1e-12)
    assert sum(laws[:1]) is laws[0]
    with pytest.raises(TypeError):
        3 + laws[0]


def test_sums_of_inverted_laws_keep_their_digits():
    """Laws that are inverted and not tabulated add up as well as tables do, far beyond where their own tables end."""
    rng = np.random.default_rng(3)
    parts = []
    for _ in range(3):
        at = np.sort(rng.choice(2_000, 120, replace=False)).astype(np.int64)
        windows = Windows(starts=np.maximum(at - 3, 0), stops=np.minimum(at + 4, 2_000), n_steps=2_000)
        parts.append((windows, 60))
    inverted = sum(PrecisionFourier(w, m, insist=True) for w, m in parts)
    tabled = sum(PrecisionTable(w, m) for w, m in parts)
    for hits in (40, 75, 110, 150, 200):
        one, other = inverted.tail(hits), tabled.tail(hits)
        assert one.method.kind == other.method.kind == "exact"
        assert one.log_p == pytest.approx(other.log_p, abs=1e-6)
    assert tabled.upper(200) < 1e-30
