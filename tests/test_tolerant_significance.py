"""Precision, recall and F within a tolerance: `significance` of them is `evaluate`, to the last digit."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nofluke as nf
from nofluke import InputError

NULLS = (
    *(
        "auto",
        "permutation",
        "circular-shift",
        "circular-shift:guard=3",
        "seasonal:period=6",
        "local-permutation:windows=4",
    ),
    *("local-shift:reach=5", "segments"),
)
ON_RANGES = ("auto", "circular-shift", "circular-shift:guard=3", "local-shift:reach=5", "segments")
FEW = {"n_resamples": 60, "rng": 7}
quick = settings(max_examples=60)


@st.composite
def problems(draw):
    """Labels or ranges with a detector, a tolerance, what counts as an event, and a null."""
    n = draw(st.integers(24, 70))
    generator = np.random.default_rng(draw(st.integers(0, 10_000)))
    labels = generator.random(n) < draw(st.sampled_from([0.05, 0.2]))
    labels[draw(st.integers(0, n - 2))] = True
    if draw(st.booleans()):  # in runs
        labels |= np.roll(labels, 1)
    scores = generator.random(n) + draw(st.sampled_from([0.0, 0.6])) * labels
    tolerance = draw(st.sampled_from([0, 1, 3, nf.Tolerance(early=2, late=0), nf.Tolerance(early=-1, late=3)]))
    about = {"count_events": draw(st.sampled_from([None, "steps", "ranges"]))}
    truth = labels
    if draw(st.booleans()):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], labels, [0]])))
        truth, about["truth_as"] = (
            [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)],
            "ranges",
        )
    if draw(st.booleans()):
        about["mask"] = generator.random(n) < 0.1
    about |= draw(st.sampled_from([{"quantile": 0.9}, {"budget": "20%"}, {"threshold": 0.7}]))
    ranges = about["count_events"] == "ranges" or ("truth_as" in about and about["count_events"] is None)
    about["null"] = draw(st.sampled_from(ON_RANGES if ranges else NULLS))
    about["alpha"] = draw(st.sampled_from([0.05, 0.3]))
    return truth, scores, tolerance, about


def defined(result):
    """Whether there is anything to count."""
    return result.n_events > 0 and result.n_predictions > 0


@quick
@given(problems(), st.sampled_from(["greater", "less", "two-sided"]))
def test_precision_and_recall_are_those_of_evaluate(problem, alternative):
    """Value, null and why it is taken, p-value, chance, critical value, method and seed: the same numbers."""
    truth, scores, tolerance, about = problem
    about["alternative"] = alternative
    expected = nf.evaluate(truth, scores, tolerance=tolerance, **about, **FEW)
    for metric, test in (
        (nf.metrics.Precision(tolerance=tolerance), expected.precision_test),
        (nf.metrics.Recall(tolerance=tolerance), expected.recall_test),
    ):
        found = nf.significance(metric, truth, scores, **about, **FEW)
        if not defined(expected):
            assert (found.pvalue, found.verdict) == (1.0, "cannot tell")
            continue
        assert found.value == test.value
        assert (found.pvalue, found.pvalue_error) == (test.pvalue, test.pvalue_error)
        assert (found.expected, found.std) == (test.expected / test.of, test.std / test.of)
        assert (str(found.method), found.seed) == (test.method, test.how.seed)
        choice = expected.settings.choice
        assert (found.choice.label, found.choice.why, found.choice.holds) == (choice.label, choice.why, choice.holds)
        assert found.choice.doubts == choice.doubts
        assert (found.pvalue_better, found.pvalue_worse) == (test.pvalue_for("greater"), test.pvalue_for("less"))
        if alternative == "greater":
            least = test.critical_value(expected.alpha)
            assert found.critical_value == (None if least is None else (least - 1) / test.of)
            if not found.perfect_pvalue:  # what was observed can come out, even if no resample had as many hits
                assert found.smallest_pvalue <= found.pvalue
            if found.obstacle.startswith("No value"):
                assert test.pvalue > expected.alpha
            floor = expected.floor_above(test.measure, expected.alpha)
            if found.verdict == "no":
                assert floor is None
            elif found.verdict == "yes":
                assert test.pvalue <= expected.alpha


@quick
@given(problems(), st.sampled_from([0.5, 1.0, 2.0]))
def test_f_is_that_of_evaluate(problem, beta):
    """From the same joint law, or the same draws of the same seed."""
    truth, scores, tolerance, about = problem
    result = nf.evaluate(truth, scores, tolerance=tolerance, **about, **FEW)
    found = nf.significance(nf.metrics.F1(tolerance=tolerance, beta=beta), truth, scores, **about, **FEW)
    if not defined(result):
        assert (found.pvalue, found.verdict) == (1.0, "cannot tell")
        return
    expected = result.f_test(beta, **FEW)
    assert found.value == expected.value == result.f_beta(beta)
    assert (found.pvalue, found.pvalue_error) == (expected.pvalue, expected.pvalue_error)
    assert (found.expected, found.std, str(found.method)) == (expected.expected, expected.std, expected.method)
    assert (found.n_resamples, found.seed) == (expected.n_resamples or 0, expected.seed)
    assert found.choice.label == result.settings.choice.label
    if found.obstacle.startswith("No value"):
        assert max(expected.smallest, found.perfect_pvalue) > result.alpha


@quick
@given(problems(), st.sampled_from(["greater", "two-sided"]))
def test_in_a_list_each_keeps_its_p_and_corrected_ones_are_no_smaller(problem, alternative):
    """Under the null of the list, which may be another one than auto takes for a tolerance: then a note says so."""
    truth, scores, tolerance, about = problem
    names = ("precision", "recall", "f1")
    kinds = {"precision": nf.metrics.Precision, "recall": nf.metrics.Recall, "f1": nf.metrics.F1}
    asked = [*(kinds[name](tolerance=tolerance) for name in names), nf.metrics.get("auc-roc"), nf.metrics.get("pa-f1")]
    found = nf.significance(asked, truth, scores, alternative=alternative, **about, **FEW)
    assert (found.corrected >= [one.pvalue for one in found]).all()
    assert (found.corrected_better >= [one.pvalue_better for one in found]).all()
    assert len({one.choice.label for one in found}) == 1
    for metric, one in zip(asked[:3], found, strict=False):
        alone = nf.significance(metric, truth, scores, alternative=alternative, **about, **FEW)
        noted = any(note.startswith(f"{metric.text} alone") for note in found.notes)
        if about["null"] == "auto":
            other = (alone.choice.model.text, alone.choice.holds) != (one.choice.model.text, one.choice.holds)
            assert noted == (other and not len(one.values))
            alone = (
                nf.significance(
                    metric, truth, scores, alternative=alternative, **{**about, "null": one.choice.model}, **FEW
                )
                if not len(one.values)
                else one
            )
        else:
            assert not noted
        if alone.labels.n_labelled and not math.isnan(one.value):
            assert (one.value, one.pvalue, one.expected, one.std) == (
                alone.value,
                alone.pvalue,
                alone.expected,
                alone.std,
            )


def example(n=400, seed=3):
    """A detector with some skill."""
    generator = np.random.default_rng(seed)
    truth = np.zeros(n, dtype=int)
    truth[generator.choice(n, 16, replace=False)] = 1
    return truth, generator.random(n) + 0.4 * np.convolve(truth, [1, 1, 1], "same")


class TestALaw:
    """What a result is whose chance is a law."""

    @pytest.mark.parametrize("name", ["precision", "recall", "f1"])
    def test_it_has_no_draws(self, name):
        """Nothing is random, and nothing was drawn."""
        truth, scores = example()
        found = nf.significance(f"{name}:tolerance=2", truth, scores, quantile=0.9, null="permutation")
        assert (len(found.values), found.n_resamples, found.seed, found.listed) == (0, 0, None, True)
        assert "draws" not in found.how()

    @pytest.mark.parametrize("name", ["precision", "recall", "f1"])
    @pytest.mark.parametrize("null", ["permutation", "circular-shift", "segments"])
    def test_values_beyond_the_critical_one_are_significant_and_others_are_not(self, name, null):
        """On both sides; and the band leaves out no more than alpha."""
        truth, scores = example()
        for alternative in ("greater", "less"):
            found = nf.significance(
                f"{name}:tolerance=2", truth, scores, quantile=0.8, null=null, alternative=alternative, rng=1, alpha=0.1
            )
            bar, sign = found.critical_value, 1 if alternative == "greater" else -1
            assert found.chance.tail(bar, alternative) > 0.1
            assert found.chance.tail(bar + sign * 1e-6, alternative) <= 0.1
            low, high = found.band
            assert low < found.expected < high
            assert found.chance.tail(low - 1e-6, "less") <= 0.05 + 1e-3
            assert found.chance.tail(high + 1e-6, "greater") <= 0.05 + 1e-3

    @pytest.mark.parametrize("name", ["precision", "recall", "f1"])
    def test_it_is_drawn_as_probabilities(self, name):
        """Bars hold all of the law, its mean among them; of draws they are shares."""
        from matplotlib.figure import Figure

        truth, scores = example()
        found = nf.significance(f"{name}:tolerance=2", truth, scores, quantile=0.8, null="permutation")
        heights, edges = found.chance.bars()
        assert heights.sum() == pytest.approx(1, abs=1e-4)
        assert heights @ ((edges[1:] + edges[:-1]) / 2) == pytest.approx(found.expected, abs=0.01)
        assert nf.plot.significance(found, Figure().subplots()).get_ylabel() == "probability"
        drawn = nf.significance("pa-f1", truth, scores, quantile=0.8, null="permutation", n_resamples=50)
        assert nf.plot.significance(drawn, Figure().subplots()).get_ylabel() == "share of draws"

    def test_stopping_early_has_no_effect(self):
        """Except under a null that can only draw."""
        truth, scores = example()
        asked = {"quantile": 0.9, "rng": 1}
        for null in ("auto", "permutation", "circular-shift", "seasonal:period=24"):
            found, whole = (
                nf.significance("recall:tolerance=2", truth, scores, null=null, stop_after=after, **asked)
                for after in (3, None)
            )
            assert (found.pvalue, found.stop_after) == (whole.pvalue, None)
        drawn = nf.significance("recall:tolerance=2", truth, scores, null="segments", stop_after=3, **asked)
        assert drawn.stop_after == 3

    def test_groups_and_nulls_of_scores_draw(self):
        """They have no law; the value is the same."""
        truth, scores = example()
        whole = nf.significance("f1:tolerance=2", truth, scores, quantile=0.9)
        groups = np.repeat(["a", "b"], 200)
        for more in ({"groups": groups}, {"null": "random-scores"}, {"null": "score-permutation"}):
            found = nf.significance("f1:tolerance=2", truth, scores, quantile=0.9, n_resamples=50, rng=1, **more)
            assert (found.value, len(found.values)) == (whole.value, 50)

    def test_ranges_are_refused_where_evaluate_refuses_them(self):
        """A null of single steps has no law of ranges."""
        with pytest.raises(InputError, match="places events of one step each, but these are ranges"):
            nf.significance("recall", [(3, 5)], predictions=[0, 1] * 20, null="permutation")

    def test_alarms_are_needed(self):
        """As for every metric of alarms."""
        with pytest.raises(InputError, match="needs alarms: pass predictions, or scores with a threshold"):
            nf.significance("precision:tolerance=1", *example())

    def test_events_between_steps_keep_their_times(self):
        """As in evaluate, with a tolerance in time."""
        clock = np.datetime64("2024-01-01T00:00") + np.arange(200) * np.timedelta64(10, "m")
        events = clock[[20, 60, 100, 150]] + np.timedelta64(7, "m")
        alarms = np.zeros(200, dtype=int)
        alarms[[21, 61, 90, 120, 150]] = 1
        given = {"times": clock, "null": "circular-shift"}
        expected = nf.evaluate(events, predictions=alarms, tolerance="4m", **given)
        for name, test in (("precision", expected.precision_test), ("recall", expected.recall_test)):
            found = nf.significance(f"{name}:tolerance=4m", events, predictions=alarms, **given)
            assert (found.value, found.pvalue, found.expected) == (test.value, test.pvalue, test.expected / test.of)
            assert (found.choice, str(found.method)) == (expected.settings.choice, test.method)

    def test_a_list_says_how_each_was_computed(self):
        """Laws by their names, the rest and the correction by draws."""
        truth, scores = example()
        found = nf.significance(
            ["recall:tolerance=2", "pa-f1"], truth, scores, quantile=0.9, null="permutation", n_resamples=99, rng=1
        )
        said = "Method: recall:tolerance=2 exact (hypergeometric); the rest and the correction montecarlo. 99 draws, seed 1."
        assert said in found.how()
        told = found.to_dict()
        assert [one["method"] for one in told["metrics"]] == ["exact (hypergeometric)", "montecarlo"]
        assert (told["method"], told["seed"]) == ("montecarlo", 1)
