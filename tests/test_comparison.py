"""Detectors compared: swaps against going through all of them, all pairs with Holm, and what is said about them."""

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

import nofluke as nf
from comparing import compare_units, linear_terms
from nofluke.errors import InputError
from nofluke.inference import compare
from nofluke.inference.compare import draws_needed, gain_of, given_back, read_several, swap_test
from nofluke.inference.corrections import holm
from nofluke.inference.interval import MEASURES, linearise
from nofluke.measures.episodes import units_and_steps
from oracles import slow_swap_p


@st.composite
def rivals(draw, most=7):
    """Counts of two detectors in up to so many units, small enough for ties and for detectors without alarms."""
    n = draw(st.integers(1, most))
    events = [draw(st.integers(0, 2)) for _ in range(n)]

    def rows():
        for e in events:
            a = draw(st.integers(0, 3))
            yield a, draw(st.integers(0, a)), e, draw(st.integers(0, e))

    return list(rows()), list(rows())


def simulated(rng, n, recall=(0.5, 0.5), false=(0.5, 0.5)):
    """Units of two detectors with so many events each, found and missed at random; and false alarms."""
    events = rng.integers(1, 6, n)
    pair = []
    for r, f in zip(recall, false, strict=True):
        hits = rng.binomial(events, r)
        pair.append(np.stack([hits + rng.poisson(f * events), hits, events, hits], axis=1))
    return pair


@settings(max_examples=60)
@given(rivals())
@example(([(1, 1, 1, 1)] * 3, [(1, 0, 1, 0)] * 3))
@example(([(1, 1, 0, 0), (0, 0, 1, 0)], [(0, 0, 0, 0), (1, 0, 1, 1)]))
def test_swaps_are_those_of_going_through_all_of_them(pair):
    """p of all three measures, with ties, repeated kinds of units, and swaps that leave a detector without alarms."""
    found = swap_test(*map(np.array, pair), n_resamples=9, most=9, seed=0)
    expected = [math.nan if p is None else float(p) for p in slow_swap_p(*pair)]
    np.testing.assert_allclose(found.pvalue, expected, rtol=1e-12)
    assert (found.n_resamples == 0).all()


@settings(max_examples=60)
@given(rivals(most=12))
def test_differences_and_their_squares_are_the_linearised_ones(pair):
    """What swaps sum up by kinds of units is what each unit adds by itself."""
    found = swap_test(*map(np.array, pair), n_resamples=9, most=9, seed=0)
    one, other = (linearise(np.array(rows)) for rows in pair)
    np.testing.assert_allclose(found.difference, one.values - other.values, atol=1e-12)
    squares = (np.subtract(*map(linear_terms, pair)) ** 2).sum(axis=0)
    np.testing.assert_allclose(found.squares, np.where(np.isnan(found.difference), found.squares, squares), atol=1e-12)


@settings(max_examples=30)
@given(rivals(), st.randoms(use_true_random=False))
def test_neither_the_order_nor_which_comes_first_matters(pair, random):
    """Units have no order; a reversed difference is as extreme; units where both are alike change no bound."""
    first, second = pair
    order = random.sample(range(len(first)), len(first))
    how = {"n_resamples": 99, "most": 99, "seed": 3}
    found = swap_test(np.array(first), np.array(second), **how)
    turned = swap_test(np.array([second[i] for i in order]), np.array([first[i] for i in order]), **how)
    np.testing.assert_allclose(turned.difference, -found.difference, atol=1e-12)
    np.testing.assert_array_equal(turned.pvalue, found.pvalue)
    assert (found.pvalue[~np.isnan(found.pvalue)] >= found.smallest[~np.isnan(found.pvalue)] * (1 - 1e-12)).all()


def test_drawn_swaps_agree_with_all_of_them(monkeypatch):
    """Random swaps estimate the share that going through all gives, with + 1; kinds of one unit and of several."""
    found, missed = [(2, 2, 1, 1)] * 9, [(1, 0, 1, 0)] * 9
    first = np.array([*found[:6], *missed[:3], (3, 1, 2, 1), (2, 2, 4, 1), (5, 1, 0, 0)])
    second = np.array([*missed[:6], *found[:3], (4, 2, 2, 0), (1, 0, 4, 0), (1, 1, 0, 0)])
    exact = swap_test(first, second, n_resamples=9, most=9, seed=0)
    monkeypatch.setattr(compare, "MOST_LISTED", 1)
    drawn = swap_test(first, second, n_resamples=20_000, most=20_000, seed=0)
    assert (drawn.n_resamples == 20_000).all()
    np.testing.assert_allclose(drawn.pvalue, exact.pvalue, atol=5 * np.sqrt(0.25 / 20_000))
    np.testing.assert_allclose(drawn.pvalue * 20_001, np.round(drawn.pvalue * 20_001), rtol=1e-9)


def test_small_p_are_drawn_on_until_twenty_swaps_reach_them(monkeypatch):
    """Beyond n_resamples, p is 20 over the draws at which the twentieth came, or (b + 1)/(n + 1) at the end."""
    monkeypatch.setattr(compare, "MOST_LISTED", 1)
    rng = np.random.default_rng(1)
    first, second = simulated(rng, 40, recall=(0.72, 0.5))
    found = swap_test(first, second, n_resamples=199, most=100_000, seed=0)
    short = swap_test(first, second, n_resamples=199, most=199, seed=0)
    went_on = short.pvalue * 200 - 1 < compare.FEW - 0.5
    assert went_on[1], "the example has to have a small p of recall"
    assert 199 < found.n_resamples[1] < 100_000
    assert found.pvalue[1] == compare.FEW / found.n_resamples[1]
    np.testing.assert_array_equal(found.pvalue[~went_on], short.pvalue[~went_on])
    stopped = swap_test(first, second, n_resamples=199, most=300, seed=0)
    assert stopped.n_resamples[1] == 300
    assert stopped.pvalue[1] * 301 == pytest.approx(round(stopped.pvalue[1] * 301))


def test_blocks_of_draws_only_bound_the_memory(monkeypatch):
    """The same swaps in blocks of eight: the twentieth that counts is found where it is."""
    monkeypatch.setattr(compare, "MOST_LISTED", 1)
    rng = np.random.default_rng(6)
    alarms, events = 20 + np.arange(16), np.full(16, 5)  # no two units alike: one bit each
    pair = [np.stack([alarms, rng.binomial(alarms, p), events, rng.binomial(events, p)], axis=1) for p in (0.7, 0.6)]
    whole = swap_test(*pair, n_resamples=64, most=8_000, seed=0)
    assert (whole.n_resamples[:2] > 64).all(), "the example has to be drawn on"
    monkeypatch.setattr(compare, "BLOCK", 8 * 16)
    parts = swap_test(*pair, n_resamples=64, most=8_000, seed=0)
    np.testing.assert_array_equal(parts.pvalue, whole.pvalue)
    np.testing.assert_array_equal(parts.n_resamples, whole.n_resamples)


def test_binomial_numbers_are_those_in_which_uniform_ones_fall():
    """For every number of units that is looked up: at random, in the tails, and where a cell holds several numbers."""
    uniform = np.concatenate([np.random.default_rng(0).random(2_000), [0.0, 2**-53, 1e-12, 1 - 1e-12]])
    sizes = np.arange(1, compare.LOOKED_UP + 1)
    found = compare._looked_up(sizes, np.tile(uniform, (len(sizes), 1)))
    expected = np.maximum(stats.binom.ppf(uniform, sizes[:, None], 0.5), 0)  # that of 0 is -1
    np.testing.assert_array_equal(found, expected)


def test_drawn_units_are_those_of_a_fair_coin():
    """Kinds of one unit, of a few, which are looked up, and of many: means and variances are those of halves."""
    rng, sizes = np.random.default_rng(3), [1] * 5 + [2] * 3 + [7, 59, 60, 61, 400]
    alarms = np.repeat(np.arange(len(sizes)) + 2, sizes)
    kinds = compare._kinds(*(np.stack([alarms, n * alarms, alarms, alarms], axis=1) for n in (1, 0)))
    assert kinds.sizes.tolist() == sizes
    kept = kinds.draw(rng, 20_000).astype(float)
    np.testing.assert_allclose((kept.mean(axis=0) - kinds.sizes / 2) / np.sqrt(kinds.sizes / 4 / 20_000), 0, atol=4.5)
    np.testing.assert_allclose(kept.var(axis=0) / (kinds.sizes / 4), 1, atol=0.06)
    assert np.abs(np.corrcoef(kept.T) - np.eye(len(sizes))).max() < 0.04


def test_a_swap_has_the_same_numbers_whichever_others_there_are():
    """The data are one of the swaps: were their squares rounded in another way, no swap would reach them."""
    rng = np.random.default_rng(4)
    for _ in range(100):
        events = rng.integers(1_000, 4_000, 3)
        hits = rng.binomial(events, [[0.3], [0.6]])
        alarms = hits + rng.poisson([[0.02], [30]] * events)
        first, second = (np.stack([alarms[i], hits[i], events, hits[i]], axis=1) for i in range(2))
        kinds = compare._kinds(first, second)
        kept = kinds.listed()[0]
        every = kinds.statistics(kept)
        for i in range(len(kept)):
            for one, own in zip(every, kinds.statistics(kept[i : i + 1]), strict=True):
                np.testing.assert_array_equal(own[0], one[i])
        found = swap_test(first, second, n_resamples=9, most=9, seed=0)
        assert (found.pvalue >= found.smallest).all()


def test_the_level_holds_where_neither_detector_is_better():
    """Of 400 comparisons of detectors with the same F1 and unlike precision and recall, about one in twenty rejects."""
    rng = np.random.default_rng(14)
    pairs = (simulated(rng, 40, recall=(0.42, 0.7), false=(0.18, 0.7 * 0.58 / 0.42)) for _ in range(400))
    p = [swap_test(*pair, n_resamples=199, most=199, seed=i).pvalue[2] for i, pair in enumerate(pairs)]
    assert 0.02 <= np.mean(np.array(p) <= 0.05) <= 0.085


def test_skill_is_found():
    """A much better detector is told from the other most of the time."""
    rng = np.random.default_rng(2)
    pairs = (simulated(rng, 40, recall=(0.7, 0.5)) for _ in range(50))
    p = [swap_test(*pair, n_resamples=199, most=199, seed=i).pvalue[1] for i, pair in enumerate(pairs)]
    assert np.mean(np.array(p) <= 0.05) > 0.8


def test_intervals_hold_the_true_difference():
    """Of 200 intervals of level .95 for a difference in recall of .2, at least nine in ten hold it."""
    rng = np.random.default_rng(7)
    held = []
    for _ in range(200):
        a, b = simulated(rng, 30, recall=(0.7, 0.5))
        one = compare_units({"a": a, "b": b}, n_resamples=9, alpha=0.5).difference("a", "b", "recall")
        held.append(one.low <= 0.2 <= one.high)
    assert np.mean(held) >= 0.9


def test_intervals_hold_where_series_are_of_unlike_size():
    """Of those told in 250 runs at least 91% hold the difference, 0; those of plain linear terms were 81 to 88%."""
    rng, held = np.random.default_rng(5), []
    for _ in range(250):
        sizes = np.exp(rng.normal(0, 1.5, 30))
        events, pair = rng.poisson(4 * sizes) + 1, {}
        for name in "ab":
            alarms, own = rng.poisson(5 * sizes), rng.beta(2, 2, (2, 30))
            pair[name] = np.stack([alarms, rng.binomial(alarms, own[0]), events, rng.binomial(events, own[1])], axis=1)
        found = compare_units(pair, n_resamples=9, alpha=0.5).differences
        held.append([math.nan if one.low is None else one.low <= 0 <= one.high for one in found])
    assert (np.nanmean(held, axis=0) >= 0.91).all()
    assert (np.isnan(held).mean(axis=0) < 0.25).all()


@settings(max_examples=40)
@given(st.lists(st.tuples(*[st.integers(0, 9)] * 6), min_size=10, max_size=14))
def test_intervals_of_differences_are_those_of_leaving_units_out(rows):
    """The jackknife of precision and recall, written out; t with Kish's number of units of the more uneven detector."""
    a, b = (np.array([[r[i], min(r[i + 1], r[i]), r[4], min(r[5], r[4]) if i else 0] for r in rows]) for i in (0, 2))
    found = compare_units({"a": a, "b": b}, n_resamples=9, alpha=0.5)
    for column, measure in ((0, "precision"), (2, "recall")):
        one = found.difference("a", "b", measure)
        k = min((side[:, column] > 0).sum() for side in (a, b))
        kish = min(side[:, column].sum() ** 2 / max((side[:, column] ** 2).sum(), 1) for side in (a, b))
        if k < 10 or kish < 5:
            assert one.low is None
        if one.low is None:
            continue
        without = [np.delete(side, i, axis=0).sum(axis=0) for i in range(len(rows)) for side in (a, b)]
        rest = np.array([total[column + 1] / total[column] for total in without]).reshape(-1, 2) @ [1, -1]
        reach = stats.t.isf(0.025, kish - 1) * math.sqrt((k - 1) / k * ((rest - one.value) ** 2).sum())
        assert (one.low, one.high) == pytest.approx((max(one.value - reach, -1), min(one.value + reach, 1)))


def few_against_many(rng, few, many, precision, n=60):
    """Units of two detectors of the same precision with so many alarms, anywhere, and an event in each."""
    units = {}
    for name, alarms in (("few", few), ("many", many)):
        at = rng.multinomial(alarms, np.full(n, 1 / n))
        hits = rng.binomial(at, precision)
        units[name] = np.stack([at, hits, np.ones(n, dtype=int), hits > 0], axis=1)
    return units


@pytest.mark.parametrize(("precision", "kind"), [(0.1, "hits"), (0.9, "misses")])
def test_few_alarms_are_compared_with_many_by_recall_alone(precision, kind):
    """By chance they may be no hits or only hits, so no variance: a reason, no p or interval; Holm still counts it."""
    units = few_against_many(np.random.default_rng(1), 15, 300, precision)
    units["much"] = units["many"][::-1]
    found = compare_units(units, n_resamples=99)
    why = f"few has only 15 alarms, of which fewer than 5 {kind} are expected"
    for measure in ("precision", "f1"):
        one = found.difference("many", "few", measure)
        assert (one.why_no_pvalue, one.why_no_interval, one.low, one.n_units) == (why, why, None, 60)
        assert abs(one.value) < 1
        assert np.isnan([one.pvalue, one.corrected]).all()
        other = found.difference("many", "much", measure)
        assert other.corrected == min(3 * other.pvalue, 1)
    assert f"{why}: precision and F1 are not tested against many, much, with more than twice as many." in found.notes
    assert "few (not tested)" in found.verdict_in_words()
    assert not math.isnan(found.difference("many", "few", "recall").pvalue)


def incidents(found_by_few, false, n=18):
    """Alarms on so many of 18 incidents, against alarms on all of them and so many false ones."""
    truth = np.zeros(n * 500, dtype=bool)
    at = 250 + 500 * np.arange(n)
    few, many = truth.copy(), truth.copy()
    truth[at] = many[at] = few[at[:found_by_few]] = True
    many[20 + 40 * np.arange(false)] = True
    return nf.compare(truth, predictions={"few": few, "many": many}, tolerance=3)


def test_a_few_incidents_never_give_the_p_of_many_alarms():
    """Each false alarm doubles the swaps, 2e-17 with 55: F1 is not tested if precision is not, else Student's p counts.

    It is that of an error with as many degrees of freedom as there are incidents, as the interval has it.
    """
    assert math.isnan(incidents(11, 200).difference("few", "many").pvalue)
    one = incidents(18, 55).difference("few", "many")
    assert one.method == "swaps and t"
    error = (one.high - one.value) / stats.t.isf(0.025, 17)
    assert one.pvalue == pytest.approx(2 * stats.t.sf(one.value / error, 17))
    assert 1e-9 < one.pvalue < 1e-6


def test_one_false_alarm_does_not_make_a_precision_worse():
    """A detector that finds fewer events and has the only false alarm was told by precision at p = 2e-6."""
    found, missed, wrong = [1, 1, 1, 1], [0, 0, 1, 0], [1, 0, 0, 0]
    worse = np.array([found] * 81 + [missed] * 19 + [wrong])
    better = np.array([found] * 100 + [[0, 0, 0, 0]])
    result = compare_units({"better": better, "worse": worse})
    precision, f1 = (result.difference("better", "worse", measure) for measure in ("precision", "f1"))
    assert (precision.method, f1.method) == ("swaps and t", "swaps")
    assert precision.pvalue > 0.3
    assert f1.pvalue < 1e-4


def test_precision_keeps_its_level_where_misses_are_few_and_recall_is_not_the_same():
    """Of 150 comparisons of detectors with precision .97 and recall .7 and 1, at most one in twenty rejects."""
    rng, p = np.random.default_rng(8), []
    for _ in range(150):
        units = {}
        for name, recall, at in (("a", 0.7, 0), ("b", 1.0, 1)):
            hits = (rng.random(40) < recall).astype(int)
            wrong = np.zeros((6, 4), dtype=int)
            wrong[3 * at : 3 * at + min(rng.poisson(1.2 * recall), 3), 0] = 1
            units[name] = np.vstack([np.stack([hits, hits, np.ones(40, dtype=int), hits], axis=1), wrong])
        p.append(compare_units(units, n_resamples=99, alpha=0.5).difference("a", "b", "precision").pvalue)
    assert np.nanmean(np.array(p) <= 0.05) <= 0.05


@pytest.mark.parametrize(("few", "many", "told"), [(49, 491, False), (50, 490, True), (15, 30, True), (15, 31, False)])
def test_five_hits_must_be_expected_where_alarms_differ_more_than_twofold(few, many, told):
    """At the precision of both together: 5 of 50 are enough, and 1.5 of 15 are against 30."""
    units = few_against_many(np.random.default_rng(1), few, many, 0)
    units["many"][:, 1] = 0
    left = (few + many) // 10
    for row in units["many"]:
        row[1] = min(row[0], left)
        left -= row[1]
    assert bool(compare_units(units, n_resamples=9).difference("few", "many", "precision").why_no_pvalue) != told


@pytest.mark.slow
def test_precision_keeps_its_level_where_few_alarms_meet_many():
    """Of 150 comparisons with the fewest alarms that are tested, and of equally few, about one in twenty rejects."""
    for few, many in ((60, 1_200), (15, 15)):
        rng = np.random.default_rng(4)
        pairs = (few_against_many(rng, few, many, 0.1) for _ in range(150))
        found = [
            compare_units(pair, n_resamples=99, alpha=0.5).difference("few", "many", "precision") for pair in pairs
        ]
        p = np.array([one.pvalue for one in found])
        assert np.nanmean(p <= 0.05) <= 0.09
        assert np.isnan(p).mean() < 0.1


def scored_ranges(rng, steps=1_000, n=12):
    """Labels in ranges, and the scores of two detectors, each of which finds some of them well and others hardly."""
    starts = np.linspace(0, steps - 21, n).astype(int)
    ranges = [slice(at, at + length) for at, length in zip(starts, rng.integers(5, 21, n), strict=True)]
    truth, scores = np.zeros(steps, dtype=bool), {}
    for name in "ab":
        scores[name] = rng.normal(size=steps)
        for own in ranges:
            truth[own] = True
            scores[name][own] += 2 + 1.5 * rng.normal()
    return truth, scores


@pytest.mark.parametrize(
    "cut",
    [
        {"quantile": 0.9},
        pytest.param({"budget": "10%"}, marks=pytest.mark.slow),
        pytest.param({"quantile": 0.95, "count_alarms": "episodes"}, marks=pytest.mark.slow),
    ],
)
def test_cuts_that_follow_the_scores_keep_the_level(cut):
    """Of 120 comparisons of detectors that are alike, precision was told in .29 by exchange alone, and recall never."""
    rng, p, held = np.random.default_rng(3), [], []
    for _ in range(120):
        truth, scores = scored_ranges(rng)
        found = nf.compare(truth, scores, **cut, tolerance=2, n_resamples=99, alpha=0.5)
        p.append([one.pvalue for one in found.differences])
        held += [one.low <= 0 <= one.high for one in found.differences if one.low is not None]
    assert (np.nanmean(np.array(p) <= 0.05, axis=0) <= 0.085).all()
    assert np.mean(held) >= 0.92


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from([None, "episodes"]), st.integers(0, 2))
def test_exchanging_episodes_leaves_the_number_of_predicted_steps(seed, count, decimals):
    """What the cuts give back makes up for the steps that an exchange moves; without one, nothing changes."""
    rng = np.random.default_rng(seed)
    truth, scores = scored_ranges(rng, steps=300, n=4)
    scores = {name: own.round(decimals) for name, own in scores.items()}
    how = {"tolerance": 2, "quantile": 0.9, "count_alarms": count}
    detectors, _ = read_several(truth, scores, **how)
    pair = tuple(detectors.values())
    counts, steps = units_and_steps(tuple(one.cell for one in pair), tuple(one.predicted for one in pair))
    assert steps.sum(axis=1).tolist() == [one.predicted.sum() for one in pair]
    gains = [gain_of(one) for one in pair]
    back = given_back(steps, (gains[0].each + gains[1].each) / 2)
    np.testing.assert_allclose(back.sum(axis=0), 0, atol=1e-9)
    if count is None and steps.sum(axis=1).min() == steps.sum(axis=1).max() and not gains[0].tied | gains[1].tied:
        np.testing.assert_allclose((counts[0] - back)[:, 0], (counts[1] + back)[:, 0])
    raw = nf.compare(truth, predictions={name: one.cell.alarm_flags for name, one in detectors.items()}, tolerance=2)
    if count is None:
        found = nf.compare(truth, scores, **how, n_resamples=9)
        assert found.values.tolist() == raw.values.tolist()
        assert [one.value for one in found.differences] == [one.value for one in raw.differences]


@pytest.mark.parametrize("higher_is", ["anomalous", "normal"])
@pytest.mark.parametrize("how", [{}, {"count_alarms": "episodes"}, {"refractory": 4}])
def test_what_a_lower_cut_gains_is_counted_between_two_cuts(how, higher_is):
    """As `evaluate` counts at thresholds that leave so many steps fewer and more; per step before holes are filled."""
    truth, scores = scored_ranges(np.random.default_rng(5))
    sign = 1 if higher_is == "anomalous" else -1
    scores = {name: sign * own for name, own in scores.items()}
    asked = {"tolerance": 2, "higher_is": higher_is, **how}
    detectors, _ = read_several(truth, scores, budget=0.1, **asked)
    one = detectors["a"]
    _, steps = units_and_steps((one.cell,), (one.predicted,))
    assert steps.sum() == 100
    far = round(math.sqrt((steps**2).sum()))
    order = np.sort(sign * scores["a"])[::-1]
    more, fewer = (
        nf.evaluate(truth, scores["a"], threshold=sign * order[n - 1], **asked) for n in (100 + far, 100 - far)
    )
    names = ("n_predictions", "precision_hits", "n_events", "recall_hits")
    gained = [(getattr(more, name) - getattr(fewer, name)) / (2 * far) for name in names]
    assert gain_of(one).each == pytest.approx(gained)
    assert not gain_of(one).tied


def test_counts_may_be_parts():
    """Measures are shares, so counts in quarters have the p-values of whole ones: listed, and drawn."""
    rng = np.random.default_rng(4)
    for n in (6, 40):
        first, second = simulated(rng, n)
        how = {"n_resamples": 199, "most": 199, "seed": 1}
        whole, parts = swap_test(first, second, **how), swap_test(first / 4, second / 4, **how)
        np.testing.assert_allclose(parts.pvalue, whole.pvalue)
        np.testing.assert_allclose(parts.squares, whole.squares)


def test_a_pair_of_given_alarms_is_the_same_beside_scores():
    """Only pairs in which a cut follows the scores have it moved; what is said covers the others too."""
    truth, scores = series_of_three()
    alarms = {"x": scores["good"] > 2, "y": scores["middling"] > 2}
    alone = nf.compare(truth, predictions=alarms, tolerance=1, n_resamples=199)
    beside = nf.compare(truth, {"z": scores["useless"]}, predictions=alarms, budget="5%", tolerance=1, n_resamples=199)
    for measure in MEASURES:
        one, other = (found.difference("x", "y", measure) for found in (alone, beside))
        assert (one.pvalue, one.low, one.method) == (other.pvalue, other.low, other.method)
    assert (alone.recut, beside.recut) == (False, True)
    assert "approximate, since cuts follow the scores" in beside.how()
    assert "approximate" not in alone.how()
    fixed = nf.compare(truth, scores, threshold=2, tolerance=1, n_resamples=199)
    assert not fixed.recut


def test_cuts_among_ties_are_said_to_be_rough():
    """Where scores are so coarse that the cut cannot follow, a note names the detector."""
    truth, scores = scored_ranges(np.random.default_rng(0))
    found = nf.compare(truth, {"a": scores["a"], "coarse": scores["b"].round()}, quantile=0.9, n_resamples=9)
    assert any(note.startswith("coarse: many scores are tied near the cut.") for note in found.notes)
    fine = nf.compare(truth, scores, quantile=0.9, n_resamples=9)
    assert fine.notes == ()


def test_a_note_names_its_detector_unless_it_is_of_all():
    """What was merged, left out or tied in one detector's data is not said of the others."""
    truth = np.zeros(200, dtype=bool)
    truth[::20] = True
    twice = pd.DataFrame({"start": [0, 3, 60], "end": [5, 8, 62]})
    once = pd.DataFrame({"start": [0, 60], "end": [8, 62]})
    found = nf.compare(truth, predictions={"once": once, "twice": twice}, n_resamples=9)
    assert "twice: Overlapping ranges were merged: 3 became 2." in found.notes
    both = nf.compare(truth, predictions={"x": twice, "y": twice}, n_resamples=9)
    assert "Overlapping ranges were merged: 3 became 2." in both.notes
    tied = nf.compare(truth, {"tied": np.arange(200) % 2, "z": np.arange(200.0)}, quantile=0.9, n_resamples=9)
    assert any(note.startswith("tied: Ties make 100 predictions") for note in tied.notes)
    few = found.difference("once", "twice", "precision")
    assert few.why_no_interval == "once: 2 episodes with alarms, fewer than 10"


def series_of_three(seed=0):
    """Labels and the scores of a good, a middling and a useless detector."""
    rng = np.random.default_rng(seed)
    truth = np.zeros(1_000, dtype=bool)
    truth[rng.choice(1_000, 40, replace=False)] = True
    noise = rng.normal(size=(3, 1_000))
    return truth, {"good": noise[0] + 3 * truth, "middling": noise[1] + 2.8 * truth, "useless": noise[2]}


def test_values_are_those_of_evaluate_and_differences_theirs():
    """Each detector is judged as `evaluate` judges it, by the same rule with a threshold of its own."""
    truth, scores = series_of_three()
    scores["turned"] = -scores["middling"]
    found = nf.compare(truth, scores, budget="5%", tolerance=1, n_resamples=99)
    for name, values, counts, intervals in zip(
        found.detectors, found.values, found.counts, found.intervals, strict=True
    ):
        alone = nf.evaluate(truth, scores[name], budget="5%", tolerance=1)
        np.testing.assert_allclose(values, [alone.precision, alone.recall, alone.f1])
        assert counts.tolist() == [alone.n_predictions, alone.precision_hits, alone.n_events, alone.recall_hits]
        assert intervals.f1.estimate == pytest.approx(alone.f1)
    assert found.detectors == ("good", "middling", "useless", "turned")
    for first, second in itertools.permutations(found.detectors, 2):
        for m, measure in enumerate(MEASURES):
            one = found.difference(first, second, measure)
            i, j = found.detectors.index(first), found.detectors.index(second)
            assert (one.first, one.second, one.measure) == (first, second, measure)
            assert one.value == pytest.approx(found.values[i, m] - found.values[j, m])
            assert one.low < one.value < one.high


def test_p_values_are_corrected_for_the_pairs_of_their_measure():
    """By Holm; and what is best and not told from it follows."""
    truth, scores = series_of_three()
    found = nf.compare(truth, scores, budget="5%", tolerance=1)
    for measure in MEASURES:
        pairs = [one for one in found.differences if one.measure == measure]
        np.testing.assert_allclose([one.corrected for one in pairs], holm([one.pvalue for one in pairs]))
    assert found.best == "good"
    told = [found.difference("good", name).corrected <= 0.05 for name in ("middling", "useless")]
    assert told == [False, True], "the example has one of each"
    assert found.not_told_from_best == ("good", "middling")
    assert "not significantly worse at the 0.05 level, corrected for 3 pairs: middling." in str(found)


def test_a_pair_is_the_same_whoever_else_is_compared():
    """Episodes are those of the two, and the seed serves every pair; only the correction differs."""
    truth, scores = series_of_three()
    alone = nf.compare(truth, {name: scores[name] for name in ("middling", "good")}, budget="5%", n_resamples=1_999)
    found = nf.compare(truth, scores | {"always": np.arange(1_000)}, budget="5%", n_resamples=1_999)
    one, other = (result.difference("good", "middling") for result in (alone, found))
    assert (one.value, one.pvalue, one.n_units, one.low) == (other.value, other.pvalue, other.n_units, other.low)
    assert alone == nf.compare(
        truth, {name: scores[name] for name in ("middling", "good")}, budget="5%", n_resamples=1_999
    )


def test_alarms_stand_beside_scores():
    """A detector without scores is compared by its alarms; a frame has a detector in each column."""
    truth, scores = series_of_three()
    alarms = {"alarms": scores["middling"] > 2}
    found = nf.compare(truth, {"good": scores["good"]}, predictions=alarms, threshold=2, tolerance=1, n_resamples=99)
    frame = pd.DataFrame({"good": scores["good"], "alarms": scores["middling"]})
    both = nf.compare(truth, frame, threshold=np.nextafter(2, 3), tolerance=1, n_resamples=99)
    assert both.differences == found.differences


def test_a_step_that_one_detector_lacks_is_left_out_for_all():
    """With missing="mask" all are judged on the same steps, and it is said."""
    truth, scores = series_of_three()
    holes = scores["good"].copy()
    holes[::50] = np.nan
    found = nf.compare(truth, scores | {"good": holes}, threshold=2, missing="mask", n_resamples=99)
    masked = nf.compare(truth, scores, threshold=2, mask=np.isnan(holes), n_resamples=99)
    assert found.differences == masked.differences
    assert any("where a detector has no value were masked for all detectors" in note for note in found.notes)


def test_a_detector_without_alarms_is_compared_by_recall_alone():
    """Its precision and F1 are undefined, come last, count as tests and are told from nobody's."""
    truth, scores = series_of_three()
    found = nf.compare(truth, {"none": np.zeros(1_000), **scores}, threshold=2, n_resamples=199)
    assert found.detectors[-1] == "none"
    assert "none" not in found.not_told_from_best
    one = found.difference("good", "none")
    assert all(math.isnan(value) for value in (one.value, one.pvalue, one.corrected))
    assert one.low is None
    assert found.difference("good", "none", "recall").pvalue < 0.05
    assert "none has no alarms: its precision and F1 are undefined." in found.notes
    others = [one for one in found.differences if one.measure == "f1" and not math.isnan(one.value)]
    assert min(one.corrected for one in others) == pytest.approx(6 * min(one.pvalue for one in others))
    nothing = nf.compare(truth, predictions={"a": 0 * truth, "b": 0 * truth})
    assert nothing.best is None
    assert nothing.not_told_from_best == ()
    assert "No detector has an F1" in str(nothing)
    assert "undefined" in str(nothing)
    json.dumps(nothing.to_dict(), allow_nan=False)


def test_too_few_units_are_said():
    """With K units that differ no p is below 2^(1 - K); where that is above the level, a note says so."""
    better, worse = np.array([[1, 1, 1, 1]] * 4), np.array([[1, 0, 1, 0]] * 4)
    found = compare_units({"a": better, "b": worse})
    one = found.difference("a", "b")
    assert one.pvalue == one.smallest == 2**-3
    assert one.n_differing == 4
    assert found.notes[-1].startswith("Too few series to tell F1 of a from that of b: they differ in 4, so no p-value")
    assert one.low is None
    assert one.why_no_interval == "a: 4 series with alarms, fewer than 10"
    enough = compare_units({"a": np.vstack([better] * 2), "b": np.vstack([worse] * 2)})
    assert not any("Too few" in note for note in enough.notes)


def test_holm_gets_the_draws_that_it_needs():
    """Twenty over alpha for each pair, up to a limit; never fewer than asked for."""
    assert draws_needed(1, 0.05, 9_999) == 9_999
    assert draws_needed(100, 0.05, 99) == 40_000
    assert draws_needed(10_000, 0.01, 99) == 50_000
    rng = np.random.default_rng(0)
    a, b = simulated(rng, 60, recall=(0.9, 0.4))
    found = compare_units({"a": a, "b": b, "c": simulated(rng, 60)[0]}, n_resamples=99)
    assert found.most_resamples == 1_200
    assert max(one.n_resamples for one in found.differences) == 1_200
    assert "99 random swaps (up to 1,200 where p is small), seed 0." in found.how()


def test_what_is_printed_and_written_has_all_pairs():
    """CSV, JSON and frames have every pair; the table of many detectors those with the best, and says so."""
    truth, scores = series_of_three()
    scores["other"] = np.roll(scores["good"], 500)
    found = nf.compare(truth, scores, budget="5%", n_resamples=99)
    assert len(found.to_csv().splitlines()) == 1 + 6 * 3 == 1 + len(found.to_frame("pandas"))
    told = found.to_dict()
    assert [one["name"] for one in told["detectors"]] == list(found.detectors)
    assert len(json.loads(json.dumps(told, allow_nan=False))["differences"]) == 18
    text = str(found)
    assert "good − other" in text
    assert "middling − useless" not in text
    assert "all 6 pairs" in text
    assert "<table>" in found._repr_html_()
    assert repr(found).startswith("<Comparison: good F1")


def test_a_running_generator_gives_a_seed_to_repeat_with():
    """Whatever the randomness came from, the seed that is named gives the same again."""
    truth, scores = series_of_three()
    found = nf.compare(truth, scores, budget="5%", n_resamples=99, rng=np.random.default_rng(8))
    assert nf.compare(truth, scores, budget="5%", n_resamples=99, rng=found.seed) == found


ORDERED = pd.Series([0.0, 1.0, 2.0], index=[1, 2, 3])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scores": {"a": [0, 1, 2]}}, "scores has 1 detector: pass at least two"),
        ({"scores": [0, 1, 2]}, r"scores=\[0, 1, 2\] must be a dict of detectors"),
        ({"scores": {"a": [0, 1, 2], 3: [0, 1, 2]}}, "detector called 3: use text as names"),
        ({"scores": {"a": [0, 1, 2]}, "predictions": {"a": [0, 1, 1]}}, "called 'a', and so is another"),
        ({"scores": {"a": [0, 1, 2], "b": [0, 1, math.nan]}}, "detector 'b': scores has 1 NaN"),
        (
            {"scores": {"a": [0, 1, 2], "b": [0, 1, 2, 3]}, "truth": [1], "truth_as": "positions"},
            "detector 'b' has 4 steps but 'a' has 3",
        ),
        ({"scores": {"a": ORDERED, "b": ORDERED[::-1]}}, "'b' has a different index than 'a': reindex"),
        ({"scores": {"a": [0, 1, 2], "b": [0, 1, 2]}, "threshold": None}, "detector 'a': pass either threshold"),
        ({"predictions": {"a": [0, 1, 1], "b": [0, 1, 0]}}, "only apply to scores: leave them out"),
        ({"scores": {"a": [0, 1, 2], "b": [0, 1, 2]}, "level": 95}, "level=95 must be between 0 and 1"),
        ({"scores": {"a": [0, 1, 2], "b": [0, 1, 2]}, "alpha": 5}, "alpha=5 must be between 0 and 1"),
    ],
)
def test_what_cannot_be_compared_is_refused(arguments, message):
    """In one line that names the detector."""
    with pytest.raises(InputError, match=message):
        nf.compare(**{"truth": [0, 1, 0], "threshold": 1} | arguments)


def test_a_result_names_what_it_can_be_asked():
    """Detectors and measures that there are not."""
    truth, scores = series_of_three()
    found = nf.compare(truth, scores, threshold=2, n_resamples=9)
    with pytest.raises(InputError, match="second='best' must be one of 'good'"):
        found.difference("good", "best")
    with pytest.raises(InputError, match="measure='f2' must be one of"):
        found.difference("good", "useless", "f2")
    with pytest.raises(InputError, match="is also the first detector"):
        found.difference("good", "good")
