"""The permutation null of whole evaluations: against enumeration of all placements, by every method."""

import itertools
import math
from collections import Counter
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nofluke as nf
from nofluke.nulls import permutation

evaluate = partial(nf.evaluate, null="permutation")


def placements(open_steps, m):
    """All ways to place m events on the open steps, as label arrays."""
    positions = np.flatnonzero(open_steps)
    for chosen in itertools.combinations(positions, m):
        labels = np.zeros(len(open_steps), dtype=bool)
        labels[list(chosen)] = True
        yield labels


def enumerated(truth, **arguments):
    """Counts of (recall hits, precision hits) over all placements, by evaluating every one of them."""
    mask = np.asarray(arguments.get("mask", np.zeros(len(truth), dtype=bool)))
    m = int((np.asarray(truth, dtype=bool) & ~mask).sum())
    pairs = Counter()
    for labels in placements(~mask, m):
        result = evaluate(labels, **arguments)
        pairs[result.recall_hits, result.precision_hits] += 1
    return pairs


@st.composite
def problems(draw):
    """A short sequence with alarms, a mask, an asymmetric tolerance and perhaps an irregular clock."""
    n = draw(st.integers(1, 9))
    flags = st.lists(st.booleans(), min_size=n, max_size=n)
    mask = np.array(draw(flags)) & draw(st.booleans())
    if mask.all():
        mask[0] = False
    arguments = {"predictions": draw(flags), "mask": mask}
    if draw(st.booleans()):
        gaps = draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
        arguments["times"] = np.cumsum(gaps)
        unit = "clock"
    else:
        unit = "steps"
    early, late = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    arguments["tolerance"] = nf.Tolerance(early=early, late=late, unit=unit)
    return draw(flags), arguments


class TestAgainstEnumeration:
    @settings(max_examples=60)
    @given(problems())
    def test_both_nulls_and_the_joint_one(self, problem):
        """Null tables, means, variances, p-values and F1's p-value equal those of all placements."""
        truth, arguments = problem
        pairs = enumerated(truth, **arguments)
        total = sum(pairs.values())
        result = evaluate(truth, **arguments, method="exact")
        for test, side in ((result.recall_test, 0), (result.precision_test, 1)):
            hits = np.array([pair[side] for pair in pairs])
            weights = np.array(list(pairs.values())) / total
            table = np.bincount(hits, weights, minlength=test.of + 1)
            np.testing.assert_allclose(test.law.table, table, atol=1e-12)
            mean = float(hits @ weights)
            assert test.expected == pytest.approx(mean, abs=1e-12)
            assert test.law.var == pytest.approx(float((hits - mean) ** 2 @ weights), abs=1e-11)
            assert test.pvalue == pytest.approx(weights[hits >= test.hits].sum(), rel=1e-10)
            assert test.pvalue_for("less") == pytest.approx(weights[hits <= test.hits].sum(), rel=1e-10)

        def f1(r, c):
            below = c * result.n_events + r * result.n_predictions
            return 2 * c * r / below if below else 0.0

        test = result.f_test()
        if math.isnan(test.value):
            assert test.pvalue == 1.0
        else:
            observed = f1(result.recall_hits, result.precision_hits)
            reached = sum(count for pair, count in pairs.items() if f1(*pair) >= observed - 1e-12)
            assert test.value == pytest.approx(observed)
            assert test.pvalue == pytest.approx(reached / total, rel=1e-10)
            assert test.expected == pytest.approx(sum(f1(*p) * c for p, c in pairs.items()) / total, abs=1e-12)


def quakes(**how):
    data = nf.datasets.simulate_quakes(rng=0)
    z = nf.detectors.energy_transient(data.counts)
    return evaluate(data.truth, z, quantile=0.9, tolerance=2, **how)


class TestMethods:
    def test_programme_and_fourier_agree(self):
        """The two exact ways give the same p-value, table and quantiles."""
        programme = quakes(method="exact").precision_test
        fourier = quakes(method="exact", null=nf.nulls.Permutation(programme_operations=0)).precision_test
        assert programme.method == "exact (dynamic programme)"
        assert fourier.method == "exact (Fourier)"
        assert fourier.pvalue == pytest.approx(programme.pvalue, rel=1e-9)
        assert fourier.pvalue_for("less") == pytest.approx(programme.pvalue_for("less"), rel=1e-9)
        np.testing.assert_allclose(fourier.law.table, programme.law.table, atol=1e-12)
        np.testing.assert_array_equal(fourier.law.quantile([0.025, 0.975]), programme.law.quantile([0.025, 0.975]))
        assert fourier.critical_value(0.01) == programme.critical_value(0.01)

    def test_saddlepoint_is_close_and_says_so(self):
        """The approximation is within a percent here, and calls itself approximate."""
        exact, near = quakes().precision_test, quakes(method="saddlepoint").precision_test
        assert near.pvalue == pytest.approx(exact.pvalue, rel=0.01)
        assert "approximate" in near.method
        assert near.expected == exact.expected

    def test_monte_carlo_agrees_within_its_error(self):
        """Where p is not tiny, 20,000 resamples come within four standard errors of the exact p-value."""
        data = nf.datasets.simulate_quakes(rng=0)
        noise = np.random.default_rng(5).random(len(data.counts))
        exact = evaluate(data.truth, noise, quantile=0.9, tolerance=2)
        drawn = evaluate(data.truth, noise, quantile=0.9, tolerance=2, method="montecarlo", n_resamples=20_000, rng=3)
        for one, other in ((exact.precision_test, drawn.precision_test), (exact.recall_test, drawn.recall_test)):
            assert 0.01 < one.pvalue < 0.99
            assert abs(one.pvalue - other.pvalue) < 4 * other.pvalue_error
            assert other.expected == one.expected
            assert other.law.seed == 3

    def test_monte_carlo_names_a_fresh_seed_that_repeats_it(self):
        """Without a seed one is drawn; passing the one named gives the same p-values."""
        first = quakes(method="montecarlo", n_resamples=500)
        again = quakes(method="montecarlo", n_resamples=500, rng=first.precision_test.law.seed)
        np.testing.assert_array_equal(first.precision_test.law.counts, again.precision_test.law.counts)
        assert quakes(method="montecarlo", n_resamples=100, rng=np.random.default_rng(1)).recall_test.law.seed is None

    def test_binomial_is_the_formula_of_donges(self):
        """The comparison uses 1 - (1 - w/T)^m, for windows of mean width w."""
        result = evaluate(
            [0, 1, 0, 0, 0, 1, 0, 0], predictions=[0, 0, 1, 0, 0, 0, 0, 0], tolerance=1, method="binomial"
        )
        width = (2 + 6 * 3 + 2) / 8
        assert result.precision_test.expected == pytest.approx(1 - (1 - width / 8) ** 2)
        assert result.recall_test.expected == pytest.approx(2 * (1 - (1 - width / 8) ** 1))
        assert result.precision_test.method == "binomial"

    def test_f_test_falls_back_to_monte_carlo(self, monkeypatch):
        """Where the joint law is not affordable, F is simulated, with its seed, and agrees within error."""
        data = nf.datasets.simulate_quakes(rng=0)
        noise = np.random.default_rng(5).random(len(data.counts))
        result = evaluate(data.truth, noise, quantile=0.9, tolerance=2)
        exact = result.f_test(beta=2.0)
        monkeypatch.setattr(permutation, "table_fits", lambda *_: False)
        drawn = result.f_test(beta=2.0, n_resamples=20_000, rng=1)
        assert (drawn.method, drawn.seed, drawn.n_resamples) == ("montecarlo", 1, 20_000)
        assert abs(exact.pvalue - drawn.pvalue) < 4 * drawn.pvalue_error
        assert drawn.expected == pytest.approx(exact.expected, rel=0.01)


class TestDegenerate:
    @pytest.mark.parametrize("method", ["auto", "exact", "montecarlo", "saddlepoint", "binomial"])
    @pytest.mark.parametrize(
        ("truth", "alarms", "tolerance"),
        [
            ([0, 0, 0, 0], [0, 1, 0, 0], 1),
            ([0, 1, 0, 0], [0, 0, 0, 0], 1),
            ([0, 0, 0, 0], [0, 0, 0, 0], 1),
            ([0, 1, 0, 0], [1, 1, 1, 1], 1),
            ([1, 1, 1, 1], [0, 1, 0, 0], 1),
            ([1, 1, 1, 1], [1, 1, 1, 1], 0),
            ([0, 1, 0, 0], [0, 0, 0, 1], 9),
            ([1], [1], 0),
            ([0], [1], 3),
            ([1], [0], 3),
        ],
    )
    def test_degenerate_input_has_an_exact_answer(self, truth, alarms, tolerance, method):
        """No events, no predictions, everything predicted, every step an event, δ ≥ T, one step: as by enumeration."""
        arguments = {"predictions": alarms, "tolerance": tolerance}
        pairs = enumerated(truth, **arguments)
        result = evaluate(truth, **arguments, method=method, n_resamples=50, rng=1)
        for test, side in ((result.recall_test, 0), (result.precision_test, 1)):
            reached = sum(count for pair, count in pairs.items() if pair[side] >= test.hits)
            exact = reached / sum(pairs.values())
            if method in ("auto", "exact") or (exact == 1.0 and method != "binomial"):
                assert test.pvalue == pytest.approx(exact)
            assert 0 < test.pvalue <= 1
            assert math.isfinite(test.expected)
            assert math.isfinite(test.std)
        assert result.verdict in ("no", "cannot tell")
        assert "undefined" in str(result) or (any(truth) and any(alarms))
        assert result.to_dict()["verdict"] == result.verdict


class TestVerdict:
    def test_words_follow_the_p_values(self):
        """Yes, partly and no are told by the measures that beat chance."""
        skilled = quakes()
        assert skilled.verdict == "yes"
        assert "no fluke" in str(skilled)
        assert quakes(alpha=1e-11).verdict in ("partly", "no")
        noise = evaluate(nf.datasets.simulate_quakes(rng=0).truth, np.arange(2557) % 97, quantile=0.9, tolerance=2)
        assert noise.verdict == "no"
        assert "could be a fluke" in str(noise)

    def test_sentence_of_the_result(self):
        """The result says in words what chance gives."""
        text = str(quakes())
        assert "146 of 256 predictions are within 2 steps of an event; chance gives 71 ± 10; p = 1.0e-11." in text
        assert "Null: permutation." in text


class TestShortcuts:
    def test_without_tolerance_precision_is_hypergeometric(self):
        """At δ = 0 as many predictions are hit as events fall on them: one law for both measures, at any size."""
        rng = np.random.default_rng(1)
        truth, alarms = rng.random(200_000) < 0.01, rng.random(200_000) < 0.1
        result = evaluate(truth, predictions=alarms)
        assert result.precision_test.method == "exact (hypergeometric)"
        assert result.precision_test.pvalue == pytest.approx(result.recall_test.pvalue, rel=1e-12)
        assert result.precision_test.law.var == pytest.approx(result.recall_test.law.var, rel=1e-9)

    def test_a_tolerance_beyond_the_sequence_leaves_nothing_to_test(self):
        """δ ≥ T: every prediction is a hit for certain, and p is 1 exactly, at any size."""
        rng = np.random.default_rng(1)
        truth, alarms = rng.random(200_000) < 0.01, rng.random(200_000) < 0.1
        for method in ("auto", "exact"):
            result = evaluate(truth, predictions=alarms, tolerance=200_000, method=method)
            assert result.precision_test.method == "exact (constant)"
            assert result.precision_test.pvalue == 1.0
            assert result.precision_test.std == 0.0

    def test_few_alarms_among_many_events_are_exact(self):
        """A hundred alarms in a long sequence: their hits vary little, and are not simulated for that."""
        rng = np.random.default_rng(1)
        truth = rng.random(1_000_000) < 0.01
        alarms = np.zeros(1_000_000, dtype=bool)
        alarms[rng.choice(np.flatnonzero(truth), 60, replace=False)] = True
        alarms[rng.choice(1_000_000, 35, replace=False)] = True
        test = evaluate(truth, predictions=alarms, tolerance=50).precision_test
        assert test.law.var < 25
        assert test.method == "exact (Fourier)"
        assert test.pvalue < 1e-4  # which 10,000 resamples could not say


class TestReading:
    def test_verdict_goes_by_the_p_values_it_shows(self):
        """Mid-p is what the verdict looks at where mid-p is shown; a two-sided result names the one-sided p-values."""
        rng = np.random.default_rng(0)
        seen = set()
        for _ in range(300):
            truth, alarms = rng.random(40) < 0.2, rng.random(40) < 0.3
            result = evaluate(truth, predictions=alarms, tolerance=1, ties="mid", alpha=0.3)
            p = [getattr(result, f"{measure}_test").pvalue for measure in result.ruling.rests_on]
            assert result.verdict == ("yes" if max(p) <= 0.3 else "partly" if len(p) == 2 and min(p) <= 0.15 else "no")
            seen.add(result.verdict)
        assert len(seen) == 3
        both = evaluate(truth, predictions=alarms, tolerance=1, alternative="two-sided")
        assert "one-sided: p" in both.verdict_in_words()

    def test_a_p_value_of_exactly_alpha_is_significant(self):
        """Rounding does not decide: hits whose probability is alpha to the last digit reach it."""
        result = evaluate([0] * 19 + [1], predictions=[0] * 19 + [1], alpha=0.05)
        assert result.recall_test.pvalue == pytest.approx(0.05)
        assert result.verdict == "yes"
        assert result.recall_test.critical_value(0.05) == 1

    def test_two_sided_monte_carlo_error_is_that_of_twice_a_tail(self):
        """p = 2 min(tails), so its standard error is twice that of the tail."""
        truth, alarms = [0, 1, 0, 0, 1, 0, 0, 0, 0, 1], [0, 1, 0, 0, 0, 0, 1, 0, 0, 0]
        test = evaluate(
            truth, predictions=alarms, alternative="two-sided", method="montecarlo", n_resamples=400, rng=1
        ).recall_test
        tail = test.pvalue / 2
        assert test.pvalue_error == pytest.approx(2 * math.sqrt(tail * (1 - tail) / 400))

    @pytest.mark.parametrize(
        ("bad", "message"),
        [
            ({"rng": -1}, "rng=-1 must be a whole number of 0 or more"),
            ({"rng": "x"}, "rng='x' must be a whole number"),
            ({"n_resamples": 0}, "n_resamples=0 must be a whole number of at least 1"),
            ({"n_resamples": "10"}, "n_resamples='10' must be"),
            ({"alpha": "x"}, "alpha='x' must be between 0 and 1"),
        ],
    )
    def test_bad_randomness_is_refused(self, bad, message):
        """A seed or a number of resamples that is none is an error that shows it."""
        with pytest.raises(nf.InputError, match=message):
            evaluate([0, 1, 0], predictions=[0, 1, 0], method="montecarlo", **bad)
