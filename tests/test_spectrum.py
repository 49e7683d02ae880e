"""Spectra of events and alarms: slow changes and common periods, found where present, at their level where absent."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from nofluke import levels
from nofluke.nulls import seasons
from nofluke.nulls.evidence import evenness
from nofluke.nulls.seasons import Side

STEPS = 2_000
TIME = np.arange(STEPS)


def side(flags):
    """All steps count."""
    return Side.of_steps(np.flatnonzero(flags), np.ones(len(flags), dtype=bool))


def sample(rng, weight=0.0, m=100, n=STEPS):
    """m of n steps, with chances in proportion to e^weight."""
    flags = np.zeros(n, dtype=bool)
    flags[np.argsort(rng.gumbel(size=n) + weight)[-m:]] = True
    return flags


def bursts(rng, n=STEPS):
    """Twenty bursts of five flags."""
    flags = np.zeros(n, dtype=bool)
    flags[(np.repeat(rng.integers(n, size=20), 5) + rng.integers(0, 12, size=100)) % n] = True
    return flags


def wave(period, strength, phase=0.0):
    return strength * np.cos(2 * np.pi * (TIME / period + phase))


def share_at_most(shares, level, n, errors=4):
    """A share of n samples that is no more than its level, but for so many standard errors."""
    return shares <= level + errors * math.sqrt(level * (1 - level) / n)


class TestSide:
    @settings(max_examples=60)
    @given(data=st.data(), n=st.integers(3, 60))
    def test_powers_are_those_of_the_transform(self, data, n):
        """Steps that do not count take the mean of the others; ordinates start at one cycle and omit the last."""
        bits = st.lists(st.booleans(), min_size=n, max_size=n).map(np.array)
        flags, counts = data.draw(bits), data.draw(bits.filter(np.any))
        values = np.where(counts, flags, flags[counts].mean())
        expected = [
            abs(sum(v * np.exp(-2j * np.pi * k * t / n) for t, v in enumerate(values - values.mean()))) ** 2
            for k in range(1, (n + 1) // 2)
        ]
        centred = np.where(counts, flags - flags[counts].mean(), 0.0)[counts]
        for made in (Side.of_steps(np.flatnonzero(flags[counts]), counts), Side.of_values(centred, counts)):
            np.testing.assert_allclose(made.powers, expected, atol=1e-9 * n**2)

    def test_very_long_series_are_added_up(self, monkeypatch):
        """The full spectrum then has the frequencies that steps of three show."""
        monkeypatch.setattr(seasons, "MOST_BINS", 700)
        flags = np.random.default_rng(1).random(STEPS) < 0.1
        coarse = side(flags)
        assert seasons.coarse_of(STEPS) == 3
        assert len(coarse.powers) == (667 + 1) // 2 - 1
        exact = np.abs(np.fft.rfft(flags - flags.mean())[1:21]) ** 2
        np.testing.assert_allclose(coarse.powers[:20], exact, rtol=0.05, atol=0.05 * exact.mean())

    @settings(max_examples=40)
    @given(seed=st.integers(0, 2**32), n=st.integers(8, 3_000), shift=st.integers(0, 3_000))
    def test_a_rotation_changes_no_power(self, seed, n, shift):
        """So that what is seen does not depend on how events and alarms lie to each other."""
        flags = np.random.default_rng(seed).random(n) < 0.2
        np.testing.assert_allclose(side(flags).powers, side(np.roll(flags, shift)).powers, atol=1e-9 * n**2)


class TestDrift:
    def test_it_keeps_its_level(self):
        """Random steps in 400 steps: P(p ≤ u) is at most u, within four standard errors, and not far below."""
        rng = np.random.default_rng(2)
        n = 400
        found = np.array(
            [seasons.drift(side(sample(rng, m=40, n=400)), side(sample(rng, m=60, n=400))).pvalue for _ in range(n)]
        )
        for level in (0.05, 0.2):
            assert share_at_most((found <= level).mean(), level, n)
        assert (found <= 0.2).mean() > 0.05

    def test_clusters_are_no_drift(self):
        """Bursts of a few steps raise all low frequencies alike."""
        rng = np.random.default_rng(3)
        n = 300
        found = np.array([seasons.drift(side(bursts(rng)), side(bursts(rng))).pvalue for _ in range(n)])
        for level in (0.05, 0.2):
            assert share_at_most((found <= level).mean(), level, n)

    @settings(max_examples=100)
    @given(seed=st.integers(0, 2**32), first=st.integers(0, 4), size=st.integers(1, 8), scale=st.floats(0.01, 50))
    def test_the_tail_is_that_of_an_f_distribution(self, seed, first, size, scale):
        """The ratio of two means of exponentials, with twice as many degrees of freedom as powers."""
        from scipy.stats import f

        last = first + size
        power = np.random.default_rng(seed).exponential(size=5 * last)
        power[first:last] *= scale
        p, ratio = seasons._slow(power, first, last)
        m = 4 * last
        assert ratio == pytest.approx(power[first:last].mean() / power[last : 5 * last].mean())
        assert p == pytest.approx(f.sf(ratio, 2 * size, 2 * m), rel=1e-8, abs=1e-14)

    @settings(max_examples=100)
    @given(one=st.floats(1e-12, 1), other=st.floats(1e-12, 1))
    def test_two_p_values_are_combined_by_fishers_method(self, one, other):
        """As SciPy does."""
        from scipy.stats import combine_pvalues

        assert seasons.fisher(one, other, 0.0) == pytest.approx(combine_pvalues([one, other]).pvalue, rel=1e-9)

    @settings(max_examples=50)
    @given(p=st.floats(1e-12, 1), alike=st.floats(0, 1))
    def test_the_same_evidence_twice_is_no_more_than_once(self, p, alike):
        """If a detector copies the events, two equal p-values combine to no less than one; similar ones weigh less."""
        assert seasons.fisher(p, p, 1.0) >= p * (1 - 1e-12)
        assert seasons.fisher(p, p, alike) >= seasons.fisher(p, p, 0.0) * (1 - 1e-12)

    def test_a_trend_is_found(self):
        """Rates that rise by a factor of e⁴ on both sides."""
        rng = np.random.default_rng(4)
        for _ in range(20):
            weight = 4 * TIME / STEPS
            assert seasons.drift(side(sample(rng, weight)), side(sample(rng, weight, m=200))).pvalue < 0.01

    def test_faster_changes_have_more_cycles(self):
        """Waves of one, three and seven cycles (too weak for harmonics) are distinguished by their octave."""
        rng = np.random.default_rng(5)
        for cycles, expected in ((1, 2), (3, 4), (7, 8)):
            seen = []
            for _ in range(20):
                weight = wave(STEPS / cycles, 0.8, rng.random())
                seen.append(seasons.drift(side(sample(rng, weight)), side(sample(rng, weight, m=200))).cycles)
            assert np.median(seen) == expected

    def test_nothing_to_see_is_no_drift(self):
        """No flags, all flags, or hardly any steps."""
        for flags in (np.zeros(50), np.ones(50), np.array([1.0]), np.array([0.0, 1, 0])):
            found = seasons.drift(side(flags), side(flags))
            assert (found.pvalue, found.cycles) == (1.0, 2)


class TestCombs:
    @pytest.mark.parametrize("m", [6, 60, 200])
    def test_each_period_keeps_its_level(self, m):
        """Random steps: every p-value is as small as its level or less no more often (four standard errors)."""
        rng = np.random.default_rng(m)
        n = 800
        tails = np.array([side(sample(rng, m=m)).combs[0] for _ in range(n)])
        for level in (0.2, 0.01, 0.001):
            # neighbouring periods share hardly any harmonic, but multiples do: as if they were half as many
            assert share_at_most((tails >= -math.log(level)).mean(), level, n * len(seasons.SHORT.periods) / 2)

    @pytest.mark.parametrize(
        ("period", "m", "used"), [(3, 100, 1), (7, 100, 3), (10, 100, 4), (31, 100, 15), (31, 40, 8)]
    )
    def test_they_are_fishers_sum_over_harmonics(self, period, m, used):
        """Each harmonic from the nearest frequency and its 40 neighbours, by definition; one for five flags or more.

        What is too large for any period to be found by is not told.
        """
        flags = sample(np.random.default_rng(period), 1.0 * (TIME[:500] % period == 1), m=m, n=500)
        powers = {
            k: abs(sum(np.exp(-2j * np.pi * k * t / 500) for t in np.flatnonzero(flags))) ** 2 for k in range(1, 250)
        }
        total = 0.0
        for h in range(1, used + 1):
            at = round(h * 500 / period)
            near = [power for k, power in powers.items() if 3 <= abs(k - at) <= 22]
            total += len(near) * math.log1p(powers[at] / sum(near))
        expected = -chi2.logsf(2 * total, 2 * used)
        told = expected if expected >= -math.log(0.1) else 0.0
        assert side(flags).combs[0][period - seasons.SHORT.periods[0]] == pytest.approx(told, rel=1e-9)


class TestCommonPeriod:
    @pytest.mark.parametrize("kind", ["random", "bursts"])
    def test_it_keeps_its_level(self, kind):
        """Random steps and clusters have no period in common, but for the level (four standard errors)."""
        rng = np.random.default_rng(6)
        n, make = 300, sample if kind == "random" else bursts
        found = [seasons.common_period(side(make(rng)), side(make(rng)), 3, 0.05).found for _ in range(n)]
        assert share_at_most(np.mean(found), 0.05, n)

    @pytest.mark.parametrize("period", [7, 24.3, 100, 365])
    def test_a_common_period_is_found(self, period):
        """Within 2%, wherever both sides are in it."""
        rng = np.random.default_rng(int(period))
        for _ in range(10):
            sides = [side(sample(rng, wave(period, 2.0, rng.random()), m=m)) for m in (150, 200)]
            found = seasons.common_period(*sides, 3, 0.05)
            assert found.found
            assert found.steps == pytest.approx(period, rel=0.02)
            assert found.cycles == pytest.approx(STEPS / found.steps)
            assert found.pvalue <= 0.05

    def test_the_fundamental_is_found_and_not_a_harmonic(self):
        """Sharp peaks have strong harmonics: the period is that of the peaks."""
        rng = np.random.default_rng(8)
        weight = 4.0 * (TIME % 50 < 5)
        for _ in range(10):
            found = seasons.common_period(side(sample(rng, weight)), side(sample(rng, weight, m=200)), 3, 0.05)
            assert found.found
            assert found.steps == pytest.approx(50, rel=0.02)

    @pytest.mark.parametrize("period", [7, 12, 24])
    def test_a_narrow_season_is_found_by_all_of_its_harmonics(self, period):
        """One busy step of each period: whole periods are found, and not a harmonic such as 3.5 steps for 7."""
        rng = np.random.default_rng(period)
        found = []
        for _ in range(20):
            weight = 2.0 * ((TIME + rng.integers(period)) % period == 0)
            found.append(seasons.common_period(side(sample(rng, weight)), side(sample(rng, weight, m=200)), 3, 0.1))
        assert np.mean([one.found and one.steps % period == 0 for one in found]) >= 0.9

    def test_a_period_of_half_steps_is_one_of_whole_steps(self):
        """3.5 steps meet the same steps again after 7; 9.3 steps only after 93, too long for phases of one step."""
        rng = np.random.default_rng(35)
        for period, expected in ((3.5, 7), (9.3, 9.3)):
            weight = wave(period, 2.0)
            found = seasons.common_period(side(sample(rng, weight, m=150)), side(sample(rng, weight, m=200)), 3, 0.05)
            assert found.steps == pytest.approx(expected, rel=0.005)

    @pytest.mark.parametrize("kind", ["trend", "walk"])
    def test_slow_changes_are_no_period(self, kind):
        """A shared trend or random walk passes for a period no more often than chance (four standard errors)."""
        rng = np.random.default_rng(9)
        n, found = 300, 0
        for _ in range(n):
            walk = np.cumsum(rng.normal(size=STEPS))
            weight = 4 * TIME / STEPS if kind == "trend" else 1.5 * (walk - walk.mean()) / walk.std()
            found += seasons.common_period(side(sample(rng, weight)), side(sample(rng, weight, m=200)), 3, 0.05).found
        assert share_at_most(found / n, 0.05, n)

    def test_few_cycles_must_exceed_all_slower_ones(self):
        """Else they are part of a slow change; those beside it, into which it leaks, and many cycles need not."""
        power = np.ones(30)
        power[[0, 4, 14]] = 9, 5, 5
        assert not seasons._stands_out(power, 5)
        assert seasons._stands_out(power, 15)
        power[0], power[3] = 4, 9
        assert seasons._stands_out(power, 5)

    def test_a_season_of_one_side_only_is_not_common(self):
        """The other side must show it too, at its own level."""
        rng = np.random.default_rng(10)
        n = 60
        found = [
            seasons.common_period(side(sample(rng, wave(100, 2.0), m=150)), side(sample(rng)), 3, 0.05).found
            for _ in range(n)
        ]
        assert share_at_most(np.mean(found), levels.OTHER_SIDE, n)

    def test_what_was_searched_is_told(self):
        """From the shortest asked for to a quarter of the series; nothing where that leaves no period."""
        rng = np.random.default_rng(11)
        found = seasons.common_period(side(sample(rng)), side(sample(rng)), 6, 0.05)
        assert (found.shortest, found.longest) == (6, STEPS / 4)
        short = seasons.common_period(side(sample(rng, n=30, m=5)), side(sample(rng, n=30, m=5)), 10, 0.05)
        assert (short.found, short.pvalue) == (False, 1.0)
        none = seasons.common_period(side(np.zeros(STEPS)), side(sample(rng)), 3, 0.05)
        assert (none.found, none.pvalue) == (False, 1.0)

    def test_a_rotation_of_one_side_changes_nothing(self):
        """Neither what is found nor how surely, but for rounding."""
        rng = np.random.default_rng(12)
        events, alarms = (sample(rng, wave(24.3, 1.5), m=m) for m in (100, 200))
        first = seasons.common_period(side(events), side(alarms), 3, 0.05)
        for shift in (1, 500, 1_999):
            moved = seasons.common_period(side(events), side(np.roll(alarms, shift)), 3, 0.05)
            assert moved.found == first.found
            assert moved.pvalue == pytest.approx(first.pvalue, rel=1e-6)
            assert moved.steps == pytest.approx(first.steps, rel=0.01)


class TestEvenness:
    @pytest.mark.parametrize(("n", "m"), [(8, 2), (9, 3), (10, 4), (7, 7), (5, 1), (6, 0)])
    def test_it_is_enumeration(self, n, m):
        """The share of all placements whose smallest gap is no smaller."""
        placements = list(itertools.combinations(range(n), m))
        gaps = [min(np.diff(p), default=n) for p in placements]
        for placement, gap in zip(placements, gaps, strict=True):
            found = evenness(np.array(placement, dtype=np.int64), n)
            assert found.statistic == gap
            assert found.pvalue == pytest.approx(sum(other >= gap for other in gaps) / len(gaps))
