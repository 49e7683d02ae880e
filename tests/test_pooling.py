"""Hits pooled over series: stored laws, exact sums, Mantel and Haenszel's exact test, and skill in at least k of K."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nofluke as nf
from exact_oracles import at_least_k_with_skill, convolved, mantel_haenszel
from nofluke.errors import InputError
from nofluke.laws.approximate import PrecisionSaddlepoint
from nofluke.laws.counts import SimulatedLaw
from nofluke.laws.law import SMALLEST, How, exactly
from nofluke.laws.precision import PrecisionFourier, PrecisionTable
from nofluke.laws.sums import comonotone
from nofluke.laws.tables import TableLaw, binomial, hypergeometric, with_data
from nofluke.nulls import as_null
from nofluke.series.counting import Windows
from nofluke.studies.draws import Joint, joint_of, summed_draws
from nofluke.studies.pooled import method_of, partial_conjunction, pool, pooled_f1, skill_in
from nofluke.studies.store import StoredLaw, law_row


def again(law, measure="recall"):
    """The law after it was stored."""
    return StoredLaw.of_row(law_row(law, measure))


def windows_of(rng, n_steps, n_alarms, reach):
    at = np.sort(rng.choice(n_steps, n_alarms, replace=False))
    return Windows(starts=np.maximum(at - reach, 0), stops=np.minimum(at + reach + 1, n_steps), n_steps=n_steps)


def evaluated(generator, null, n_steps=120, n_events=5, n_alarms=14, **how):
    truth, alarms = np.zeros((2, n_steps), dtype=bool)
    truth[generator.choice(n_steps, n_events, replace=False)] = True
    alarms[generator.choice(n_steps, n_alarms, replace=False)] = True
    return nf.evaluate(truth, predictions=alarms, tolerance=2, null=null, **how)


LAWS = {
    "hypergeometric": lambda _: hypergeometric(1_000, 60, 12),
    "far hypergeometric": lambda _: hypergeometric(100_000, 400, 400),
    "programme": lambda rng: PrecisionTable(windows_of(rng, 200, 20, 2), 6),
    "few events": lambda rng: PrecisionTable(windows_of(rng, 2_000, 60, 5), 3),
    "Fourier": lambda rng: PrecisionFourier(windows_of(rng, 400, 40, 3), 9, insist=False),
    "rotations": lambda rng: evaluated(rng, "circular-shift").precision_test.law,
    "rotations, recall": lambda rng: evaluated(rng, "circular-shift").recall_test.law,
    "simulated": lambda rng: (
        evaluated(rng, "permutation", method="montecarlo", n_resamples=499, rng=1).precision_test.law
    ),
    "constant": lambda _: hypergeometric(10, 0, 3),
    "certain": lambda _: hypergeometric(10, 10, 3),
}


@pytest.mark.parametrize("name", LAWS)
def test_a_stored_law_says_what_the_law_said(name):
    """Every tail to twelve digits, moments and method as they were, whatever made the law."""
    law = LAWS[name](np.random.default_rng(5))
    stored = again(law)
    assert (stored.size, stored.mean, stored.var, str(stored.method)) == (
        law.size,
        law.mean,
        law.var,
        str(law.method),
    )
    for hits in range(-1, law.size + 2):
        for side in ("upper", "lower"):
            kept, was = stored.tail(hits, side), law.tail(hits, side)
            if was.log_p > -690:
                assert kept.p == pytest.approx(was.p, rel=1e-12, abs=0), (hits, side)
            elif name == "far hypergeometric":  # the others end where doubles do
                assert kept.log_p == pytest.approx(was.log_p, rel=1e-12), (hits, side)
    np.testing.assert_allclose(stored.table, law.table, rtol=1e-11, atol=1e-290)


@settings(max_examples=60)
@given(st.integers(1, 60), st.data())
def test_stored_laws_of_random_problems_say_what_the_laws_said(n_steps, data):
    """Hypergeometric laws of any size, and histograms of whole numbers."""
    covered, events = (data.draw(st.integers(0, n_steps)) for _ in range(2))
    law = hypergeometric(n_steps, covered, events)
    hits = data.draw(st.integers(-1, n_steps + 1))
    assert again(law).upper(hits) == pytest.approx(law.upper(hits), rel=1e-12, abs=0)
    counts = np.array(data.draw(st.lists(st.integers(0, 50), min_size=1, max_size=8).filter(any)))
    drawn = SimulatedLaw(counts, mean=0.0, var=0.0, n_resamples=int(counts.sum()), seed=1)
    assert again(drawn).upper(hits) == pytest.approx(drawn.upper(hits), rel=1e-12)
    assert again(drawn).lower(hits) == pytest.approx(drawn.lower(hits), rel=1e-12)


def test_a_table_that_ends_early_gives_a_bound():
    """Beyond what doubles hold, or an approximation was worked out for, nothing is called exact and nothing is 0."""
    faint = TableLaw(np.array([1.0, 1e-300, 0.0]), mean=0.0, var=0.0, method=exactly("dynamic programme"))
    assert again(faint).tail(2).method.kind == "bound"
    assert SMALLEST <= again(faint).tail(2).p <= 1e-299
    rough = PrecisionSaddlepoint(windows_of(np.random.default_rng(3), 400, 60, 3), 12)
    stored = again(rough)
    assert stored.tail(stored.ends[1] + 1).method.kind == "bound"
    assert rough.upper(stored.ends[1] + 1) <= stored.upper(stored.ends[1] + 1) < 1e-9
    assert again(hypergeometric(10, 2, 3)).upper(3) == 0.0  # only two steps: never three


urns = st.integers(2, 12).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(0, min(n, 3))))


@settings(max_examples=60)
@given(st.lists(urns, min_size=1, max_size=6))
def test_the_pooled_p_of_recall_is_that_of_plain_convolution(problems):
    """Stored hypergeometric laws, all hits that there can be, against fractions."""
    exact = convolved(
        [
            [Fraction(math.comb(c, r) * math.comb(n - c, m - r), math.comb(n, m)) for r in range(m + 1)]
            for n, c, m in problems
        ]
    )
    laws = [again(hypergeometric(*problem)) for problem in problems]
    for hits in range(len(exact)):
        test = pool(laws, hits, measure="recall")
        expected = float(sum(exact[hits:]))
        if expected and test.of:
            assert test.pvalue == pytest.approx(expected, rel=1e-10), hits
            assert test.log10_pvalue == pytest.approx(math.log10(expected), abs=1e-10)
        assert test.expected == pytest.approx(float(sum(k * p for k, p in enumerate(exact))), abs=1e-12)
    assert test.how.kind == "exact"


def test_the_pooled_p_of_precision_is_that_of_plain_convolution():
    """Laws of the dynamic programme, whose enumeration other tests check, summed in fractions."""
    rng = np.random.default_rng(8)
    made = [PrecisionTable(windows_of(rng, 40, 6, 1), 2) for _ in range(4)]
    exact = convolved([[Fraction(p) for p in law.table] for law in made])
    for hits in range(1, 13):
        p = pool([again(law) for law in made], hits, measure="precision").pvalue
        assert p == pytest.approx(float(sum(exact[hits:])), rel=1e-10, abs=1e-300)


RABBITS = [(0, 6, 0, 5), (3, 3, 0, 6), (6, 0, 2, 4), (5, 1, 6, 0), (2, 0, 5, 0)]


def test_pooled_recall_is_mantel_and_haenszels_exact_test():
    """R's example of penicillin and rabbits: S = 16, two-sided p = 0.03994 by mantelhaen.test(exact = TRUE)."""
    exact = mantel_haenszel(RABBITS)
    laws = [hypergeometric(sum(table), table[0] + table[2], table[0] + table[1]) for table in RABBITS]
    assert sum(table[0] for table in RABBITS) == 16
    upper = float(sum(p for k, p in exact.items() if k >= 16))
    assert pool(laws, 16, measure="recall").pvalue == pytest.approx(upper, rel=1e-12)
    two_sided = sum(p for p in exact.values() if p <= exact[16])
    assert round(float(two_sided), 5) == 0.03994


def test_a_simulated_part_makes_the_pooled_test_simulated():
    """And says so; no p-value is below 1/(n + 1)."""
    drawn = again(SimulatedLaw(np.array([90, 9, 0]), mean=0.1, var=0.1, n_resamples=99, seed=3))
    test = pool([drawn, hypergeometric(1_000, 2, 1)], 3, measure="recall")
    assert (test.method, test.how.n_resamples) == ("montecarlo", 99)
    assert test.pvalue == pytest.approx(1 / 100, rel=1e-3)


def test_parts_that_rise_and_fall_together_have_the_law_of_their_quantiles():
    """Sums of quantiles at the middles of a fine grid, of laws of eighths; and the largest variance there is."""
    eighths = [np.array([1, 4, 2, 1]) / 8, np.array([6, 0, 2]) / 8, np.array([3, 5]) / 8]
    parts = [
        TableLaw(p, mean=float(p @ np.arange(len(p))), var=float(p @ np.arange(len(p)) ** 2), method=exactly("test"))
        for p in eighths
    ]
    law = comonotone(parts)
    levels = (np.arange(8) + 0.5) / 8
    sums = sum(np.searchsorted(np.cumsum(p), levels) for p in eighths)
    np.testing.assert_allclose(law.table, np.bincount(sums, minlength=law.size + 1) / 8, atol=1e-14)
    assert law.mean == pytest.approx(sums.mean())
    assert law.var == pytest.approx(sums.var())
    assert law.method.kind == "approximate"
    far = comonotone([hypergeometric(100_000, 400, 400)] * 3)
    assert far.tail(900).log_p == pytest.approx(hypergeometric(100_000, 400, 400).tail(300).log_p, rel=1e-12)
    drawn = SimulatedLaw(np.array([9, 0]), mean=0.0, var=0.0, n_resamples=9, seed=1)
    assert comonotone([drawn, parts[0]]).upper(4) == pytest.approx(1 / 10)
    with pytest.raises(InputError, match="parts is empty"):
        comonotone([])


def test_what_cannot_vary_adds_up_in_one_way_only():
    """However constants depend on each other, and on one part that varies, their sum has the same law: it is exact."""
    certain = TableLaw(np.array([0.0, 0.0, 1.0]), mean=2.0, var=0.0, method=exactly("test"))
    varies = hypergeometric(10, 3, 2)
    both = comonotone([certain, varies, certain])
    assert both.method.kind == "exact"
    np.testing.assert_allclose(both.table[4:], varies.table, atol=1e-15)
    assert comonotone([varies, varies]).method.kind == "approximate"


@settings(max_examples=100)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.data())
def test_partial_conjunction_is_the_worst_case_over_who_has_no_skill(pvalues, data):
    """Simes on the largest p-values is the largest Simes p-value over all sets of so many groups."""
    k = data.draw(st.integers(1, len(pvalues)))
    assert partial_conjunction(pvalues, k) == pytest.approx(at_least_k_with_skill(pvalues, k), rel=1e-12)
    alpha = data.draw(st.floats(0.001, 0.5))
    rejected = [at_least_k_with_skill(pvalues, k + 1) <= alpha * (1 + 1e-9) for k in range(len(pvalues))]
    assert skill_in(pvalues, alpha) == (rejected.index(False) if False in rejected else len(pvalues))


def test_p_values_that_are_no_tests_are_left_out_of_conjunctions():
    """NaN is no group; without any, there is no skill to be seen; what is no p-value is refused."""
    assert skill_in([0.001, math.nan, 0.01]) == 2
    assert (skill_in([]), skill_in([math.nan])) == (0, 0)
    for wrong in ([0.5, 1.5], [-0.1], ["a"]):
        with pytest.raises(InputError, match="pvalues"):
            skill_in(wrong)
    with pytest.raises(InputError, match="pass at least one p-value"):
        partial_conjunction([], 1)
    with pytest.raises(InputError, match="k=3"):
        partial_conjunction([0.1, 0.2], 3)


def test_the_number_of_groups_with_skill_is_overstated_at_most_as_often_as_alpha_says():
    """Ten groups, three with strong skill: more than three are claimed in at most 5% of 2,000 runs, three in most."""
    rng = np.random.default_rng(2)
    p = rng.uniform(size=(2_000, 10))
    p[:, :3] **= 200
    claimed = np.array([skill_in(row) for row in p])
    assert (claimed > 3).mean() <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 2_000)
    assert (claimed == 3).mean() > 0.8
    none = np.array([skill_in(row) for row in rng.uniform(size=(2_000, 10))])
    assert 0.035 < (none > 0).mean() < 0.065


def test_two_events_a_series_are_enough_for_a_pooled_test_that_keeps_its_level():
    """30 series of 2 events, hits of random placements counted step by step: about 5% rejected, never much more."""
    rng = np.random.default_rng(6)
    n_series, n_steps, reach, runs = 30, 150, 2, 1_000
    hits, laws = np.zeros((2, runs), dtype=int), ([], [])
    for _ in range(n_series):
        alarms = np.sort(rng.choice(n_steps, 12, replace=False))
        near = np.abs(np.arange(n_steps)[:, None] - alarms) <= reach  # step by alarm
        placed = np.argsort(rng.uniform(size=(runs, n_steps)), axis=1)[:, :2]
        hits[0] += near[placed].any(axis=1).sum(axis=1)
        hits[1] += near.any(axis=1)[placed].sum(axis=1)
        windows = Windows(
            starts=np.maximum(alarms - reach, 0), stops=np.minimum(alarms + reach + 1, n_steps), n_steps=n_steps
        )
        laws[0].append(again(PrecisionTable(windows, 2)))
        laws[1].append(again(hypergeometric(n_steps, int(near.any(axis=1).sum()), 2)))
    for side, parts, found in zip(("precision", "recall"), laws, hits, strict=True):
        law = pool(parts, 0, measure=side).law
        level = np.mean([law.upper(int(k)) <= 0.05 for k in found])
        assert 0.02 < level <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs), side
        assert found.mean() == pytest.approx(law.mean, abs=5 * law.std / math.sqrt(runs))


def test_the_pooled_f1_is_tested_against_drawn_pairs_of_hits():
    """(b + 1)/(n + 1), b the resamples whose F1 reaches the observed one; 1 without alarms or events."""
    rng = np.random.default_rng(4)
    draws = np.stack([rng.integers(0, 9, 99), rng.integers(0, 5, 99)], axis=1)
    test = pooled_f1(draws, hits=(5, 3), of=(10, 6), seed=4)
    f1 = [2 * (c / 10) * (r / 6) / (c / 10 + r / 6) if c and r else 0.0 for c, r in draws]
    assert test.value == pytest.approx(0.5)
    assert test.pvalue == pytest.approx((sum(f >= 0.5 - 1e-12 for f in f1) + 1) / 100)
    assert test.expected == pytest.approx(np.mean(f1))
    assert (test.method, test.n_resamples, test.seed) == ("montecarlo", 99, 4)
    empty = pooled_f1(draws[:, :] * 0, hits=(0, 0), of=(0, 6))
    assert math.isnan(empty.value)
    assert empty.pvalue == 1.0


def test_ten_thousand_series_are_pooled():
    """Their laws are read and summed at once; the normal approximation, which is right at that size, agrees."""
    rows = [law_row(hypergeometric(1_000, 20 + i % 180, 3), "recall") for i in range(300)]
    laws = [StoredLaw.of_row(rows[i % 300]) for i in range(10_000)]
    test = pool(laws, 3_500, measure="recall")
    z = (3_499.5 - test.expected) / test.std
    assert test.pvalue == pytest.approx(0.5 * math.erfc(z / math.sqrt(2)), rel=0.05)
    assert test.how == How(kind="exact", name="sum of independent laws")


def test_binomial_laws_are_stored_as_what_they_are():
    """An approximation stays one."""
    assert again(binomial(5, 0.3)).method == How(kind="approximate", name="binomial")


# parts that were drawn


def every_outcome(exact, drawn, n_draws):
    """All outcomes of a small study with their probabilities: hits of an exact part, hits and draws of a drawn one."""
    for a, p in enumerate(exact):
        for numbers in itertools.product(range(len(drawn)), repeat=n_draws + 1):
            weight = p * math.prod((drawn[b] for b in numbers), start=Fraction(1))
            yield a, numbers[0], numbers[1:], weight


@pytest.mark.parametrize("n_draws", [1, 2, 4])
def test_a_pooled_p_with_a_drawn_part_keeps_its_level_at_every_alpha(n_draws):
    """An exact part and one of which there are only some draws: P(p ≤ α) ≤ α, by going through all outcomes."""
    exact, drawn = [Fraction(k, 10) for k in (6, 3, 1)], [Fraction(k, 6) for k in (3, 2, 1)]
    table = np.array([float(p) for p in exact])
    law = TableLaw(table, mean=0.5, var=0.45, method=exactly("test"))
    found = {}
    for a, b, draws, weight in every_outcome(exact, drawn, n_draws):
        counts = np.bincount(draws, minlength=3)
        part = SimulatedLaw(counts, mean=0.5, var=0.5, n_resamples=n_draws, seed=1)
        p = pool([law, part], [a, b], measure="recall").pvalue
        by_hand = sum(sum(exact[max(a + b - k, 0) :]) for k in (b, *draws)) / (n_draws + 1)
        assert p == pytest.approx(float(by_hand), rel=1e-9)
        found[by_hand] = found.get(by_hand, 0) + weight
    assert sum(found.values()) == 1
    total = Fraction(0)
    for p in sorted(found):
        total += found[p]
        assert total <= p


def test_a_drawn_part_is_no_floor_of_the_sum():
    """99 draws of one cluster, and exact series with strong skill: p is far below 1/100, and its method says why."""
    drawn = again(SimulatedLaw(np.array([90, 9, 0]), mean=0.1, var=0.1, n_resamples=99, seed=3))
    exact = [hypergeometric(1_000, 10, 2)] * 5
    test = pool([drawn, *exact], [1, 2, 2, 2, 2, 2], measure="recall")
    alone = pool(exact, 10, measure="recall").pvalue
    assert alone / 100 < test.pvalue < 1e-10
    assert (test.how.kind, test.how.n_resamples, test.how.with_data) == ("simulated", 99, True)
    assert method_of(test) == "simulated (99 draws for 1 of 6 parts)"
    assert test.expected == pytest.approx(0.1 + 5 * 0.02)


@settings(max_examples=40)
@given(st.lists(st.integers(0, 20), min_size=1, max_size=6).filter(any), st.integers(0, 5))
def test_a_law_with_its_data_is_the_histogram_with_one_more(counts, hits):
    """Counts out of n + 1, with mean and variance as they were."""
    law = SimulatedLaw(np.array(counts), mean=1.0, var=2.0, n_resamples=sum(counts), seed=1)
    hits = min(hits, law.size)
    more = np.array(counts)
    more[hits] += 1
    for one in (law, again(law)):
        full = with_data(one, hits)
        np.testing.assert_allclose(full.table, more / more.sum(), atol=1e-12)
        assert (full.mean, full.var, with_data(full, hits)) == (1.0, 2.0, full)
    exact = hypergeometric(10, 3, 2)
    assert with_data(exact, 1) is exact


def pairs_of(joint):
    """Probabilities of pairs in fractions."""
    total = int(joint.counts.sum())
    return {
        (int(p), int(r)): Fraction(int(c), total)
        for p, r, c in zip(joint.precision, joint.recall, joint.counts, strict=True)
    }


def test_summed_draws_have_the_law_of_independent_parts():
    """Three parts of a few pairs, within five standard errors of the convolution in fractions; the data are one."""
    rng = np.random.default_rng(3)
    joints = [Joint.of(rng.integers(0, 3, 7), rng.integers(0, 2, 7), listed=k == 0) for k in range(3)]
    own = [(2, 1), (2, 1), (0, 0)]
    n = 200_000
    total, without = summed_draws([(j, o, seed) for j, o, seed in zip(joints, own, (5, 6, 7), strict=True)], n)
    for rows, data in ((total, True), (without, False)):
        law = {(0, 0): Fraction(1)}
        for joint, pair in zip(joints, own, strict=True):
            part = pairs_of(joint)
            if data and not joint.listed:
                part = {k: p * Fraction(7, 8) for k, p in part.items()}
                part[pair] = part.get(pair, 0) + Fraction(1, 8)
            more = {}
            for (a, b), p in law.items():
                for (c, d), q in part.items():
                    more[a + c, b + d] = more.get((a + c, b + d), 0) + p * q
            law = more
        seen = Counter(map(tuple, rows.tolist()))
        assert set(seen) <= set(law)
        for pair, p in law.items():
            error = math.sqrt(float(p * (1 - p)) / n)
            assert seen[pair] / n == pytest.approx(float(p), abs=5 * error), (pair, data)
    again_total, _ = summed_draws([(joints[0], own[0], 5)], 50)
    np.testing.assert_array_equal(again_total, summed_draws([(joints[0], own[0], 5)], 50)[0])


def test_kept_pairs_are_those_of_the_null():
    """Permuted: near the exact joint law of the programme. Rotated: all rotations, counted one by one."""
    truth, alarms = np.zeros(60, dtype=int), np.zeros(60, dtype=bool)
    truth[[5, 20, 41]] = 1
    alarms[[4, 10, 22, 50]] = True
    cell = nf.evaluate(truth, predictions=alarms, tolerance=2, null="permutation").cell
    drawn = joint_of(cell, as_null("permutation"), 20_000, 3)
    exact = as_null("permutation").joint(cell)
    known = dict(zip(zip(exact.precision_hits, exact.recall_hits, strict=True), exact.weights, strict=True))
    assert (drawn.listed, int(drawn.counts.sum())) == (False, 20_000)
    for pair, p in pairs_of(drawn).items():
        assert float(p) == pytest.approx(known[pair], abs=5 * math.sqrt(known[pair] / 20_000))
    listed = joint_of(cell, as_null("circular-shift"), 20_000, 3)
    by_hand = Counter(
        (one.precision_hits, one.recall_hits)
        for one in (nf.evaluate(np.roll(truth, s), predictions=alarms, tolerance=2) for s in range(60))
    )
    assert listed.listed
    assert pairs_of(listed) == {pair: Fraction(count, 60) for pair, count in by_hand.items()}
    silent = nf.evaluate(truth, predictions=alarms * False, tolerance=2).cell
    assert pairs_of(joint_of(silent, as_null("permutation"), 20_000, 3)) == {(0, 0): 1}


def test_the_p_of_f1_keeps_its_level_with_few_kept_draws():
    """Forty series, nineteen draws of each: at most 5% of 600 studies without skill are rejected, and not far fewer."""
    rng = np.random.default_rng(11)
    rejected = 0
    for _ in range(600):
        hits = rng.binomial(5, 0.2, size=(40, 20))
        found = rng.binomial(hits, 0.6)
        parts = [
            (Joint.of(h[1:], f[1:], listed=False), (h[0], f[0]), i)
            for i, (h, f) in enumerate(zip(hits, found, strict=True))
        ]
        total, without = summed_draws(parts, 499)
        of = (hits[:, 0].sum(), found[:, 0].sum())
        rejected += pooled_f1(total, hits=of, of=(200, 200), without=without).pvalue <= 0.05
    assert 0.02 < rejected / 600 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 600)
