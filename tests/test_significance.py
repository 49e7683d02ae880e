"""Any metric against chance: values on every draw, p-values, early stopping, corrections, failures and messages."""

import itertools
import json
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nofluke as nf
from nofluke import InputError
from nofluke.inference import metric_laws
from nofluke.inference import significance as asking
from nofluke.inference.corrections import familywise
from nofluke.metrics.labelled import read_labelled
from nofluke.nulls.base import Moved, NullModel
from nofluke.nulls.placements import moves_of


def example(n=240, seed=0, phi=0.8):
    """Labelled runs at both borders and between, and scores with a memory that know a little about them."""
    generator = np.random.default_rng(seed)
    labels = np.zeros(n, dtype=int)
    for start, length in ((0, 7), (50, 20), (110, 1), (111 + n // 4, 12), (n - 5, 5)):
        labels[start : start + length] = 1
    scores = np.zeros(n)
    for t in range(1, n):
        scores[t] = phi * scores[t - 1] + generator.standard_normal()
    return labels, np.round(scores + 0.8 * labels, 1)


def share_above(labels, x):
    """A metric of one's own that pickles: how much higher labelled steps score on average."""
    return float(x[labels == 1].mean() - x[labels == 0].mean())


def shifted(x, begin):
    """The detector begun at another step, around the circle."""
    return np.roll(x, -begin)


def mirrored(x, reach, begin):
    """The detector continued by its mirror image, from another step on."""
    return np.concatenate([x[:reach][::-1], x, x[-reach:][::-1]])[begin : begin + len(x)]


METRICS = (
    "auc-roc",
    "average-precision",
    "best-pa-f1",
    "vus-pr:window=10",
    "pa-f1",
    "range-f1",
    "affiliation-f1",
    "nab",
)


class TestDraws:
    """Every draw is what the null says it is, whatever measures it."""

    @pytest.mark.parametrize("name", METRICS)
    def test_all_rotations_are_the_metric_on_rotated_detectors(self, name):
        """The truth stays whole; the data's own come first."""
        labels, scores = example()
        metric = nf.metrics.get(name)
        how = {} if metric.needs == "scores" else {"quantile": 0.85}
        result = nf.significance(metric, labels, scores, null="circular-shift", **how)
        slow = [metric(labels, shifted(scores, s), **how) for s in range(len(labels))]
        np.testing.assert_allclose(result.values, slow, atol=1e-10)
        assert result.value == result.values[0]
        assert result.pvalue == sum(v >= slow[0] - 1e-9 for v in slow) / len(slow)
        assert result.method.name == "all rotations"

    @pytest.mark.parametrize("name", METRICS)
    def test_local_shifts_meet_the_mirror_image(self, name):
        """Ranking metrics see other scores in every window, and are measured on them."""
        labels, scores = example()
        metric = nf.metrics.get(name)
        how = {} if metric.needs == "scores" else {"threshold": 1.5}
        result = nf.significance(metric, labels, scores, null="local-shift:reach=30", **how)
        begins = [30, *range(31, 61), *range(29, -1, -1)]
        slow = [metric(labels, mirrored(scores, 30, b), **how) for b in begins]
        np.testing.assert_allclose(result.values, slow, atol=1e-10)

    def test_shifts_by_whole_periods_leave_the_rest_where_it_is(self):
        """The circle is as many whole periods as there are."""
        labels, scores = example(250)
        result = nf.significance("auc-roc", labels, scores, null="circular-shift:every=24")
        metric = nf.metrics.get("auc-roc")
        slow = [metric(labels, np.concatenate([np.roll(scores[:240], -24 * k), scores[240:]])) for k in range(10)]
        np.testing.assert_allclose(result.values, slow, atol=1e-12)

    def test_permutations_of_few_steps_are_all_equally_likely(self):
        """Means over draws approach those over all placements, exactly known ones included."""
        labels, scores = np.array([0, 1, 1, 0, 0, 0, 1]), np.array([3.0, 1, 4, 1.5, 5, 9, 2])
        metric = nf.metrics.get("average-precision")
        every = []
        for chosen in itertools.combinations(range(7), 3):
            moved = np.zeros(7, dtype=int)
            moved[list(chosen)] = 1
            every.append(metric(moved, scores))
        result = nf.significance(metric, labels, scores, null="permutation", n_resamples=20_000, rng=1)
        assert result.expected == pytest.approx(np.mean(every), abs=1e-12)
        assert result.values.mean() == pytest.approx(np.mean(every), abs=0.01)
        assert result.pvalue == pytest.approx(np.mean(np.array(every) >= result.value - 1e-12), abs=0.02)

    @pytest.mark.parametrize(
        "null",
        ["segments", "permutation", "blocks:length=30", "interval-shuffle", "seasonal:period=24", "jitter:window=20"],
    )
    def test_draws_keep_what_the_null_keeps(self, null):
        """As many labelled steps, and for segments the lengths of the ranges."""
        labels, scores = example()
        series = read_labelled(labels, scores)
        moves = moves_of(nf.nulls.as_null(null), series, n_resamples=140, rng=3, chunk=64, affordable=lambda _: False)
        assert list(moves.chunks) == [0, 1, 2]
        lengths = sorted(series.truth.stops - series.truth.starts)
        for chunk in moves.chunks:
            draws = moves.draws(chunk)
            for i in range(len(draws)):
                part = slice(draws.first[i], draws.last[i])
                starts, stops = draws.starts[part], draws.stops[part]
                assert (stops > starts).all()
                assert (starts[1:] >= stops[:-1]).all()
                assert starts[0] >= 0
                assert stops[-1] <= len(labels)
                assert draws.flags(i).sum() == labels.sum()
                if null == "segments":
                    assert sorted(stops - starts) == lengths
                else:
                    assert (starts[1:] > stops[:-1]).all()  # steps that follow one another are one run

    def test_a_null_that_moves_the_detector_is_drawn_row_by_row(self):
        """Scores are drawn anew, and alarms are as many as there were."""

        class Reversed(NullModel):
            moves: Moved = "detector"
            assumption = "Chance reads the scores backwards."

            def draw(self, side):
                return lambda _, size: np.tile(side[::-1], (size, 1))

        labels, scores = example()
        result = nf.significance(["auc-roc", "f1"], labels, scores, threshold=1.5, null=Reversed(), n_resamples=3)
        assert set(result["auc-roc"].values) == {nf.metrics.get("auc-roc")(labels, scores[::-1])}
        assert set(result["f1"].values) == {nf.metrics.get("f1")(labels, (scores >= 1.5)[::-1])}

    def test_groups_are_rotated_each_within_itself(self):
        """No score of one entity is ever compared with labels of another."""
        labels, scores = np.array([0, 1, 1, 0, 0, 0, 0, 1]), np.array([1.0, 2, 3, 4, 10, 20, 30, 40])
        groups = ["a"] * 4 + ["b"] * 4
        result = nf.significance(
            lambda e, x: float((e * x).sum()), labels, scores, groups=groups, n_resamples=400, rng=1
        )
        one = {sum(np.roll(scores[:4], -s)[1:3]) for s in range(4)}
        other = {np.roll(scores[4:], -s)[3] for s in range(4)}
        assert set(result.values) == {a + b for a in one for b in other}
        assert "Each of the 2 groups is rotated within itself" in result.choice.why

    def test_groups_that_make_no_sense_are_refused(self):
        """In pieces, too short, or with a null that does not rotate."""
        labels, scores = [0, 1, 0, 0], [1, 2, 3, 4]
        with pytest.raises(InputError, match="groups must be contiguous"):
            nf.significance("auc-roc", labels, scores, groups=[1, 2, 1, 2])
        with pytest.raises(InputError, match=r"groups has shape \(3,\) and the series 4 steps"):
            nf.significance("auc-roc", labels, scores, groups=[1, 2, 2])
        with pytest.raises(InputError, match='pass null="circular-shift" or "auto"'):
            nf.significance("auc-roc", labels, scores, groups=[1, 1, 2, 2], null="segments")


class TestPvalues:
    """A p-value is the share of draws that do as well."""

    def test_drawn_ones_count_the_data_too(self):
        """(b + 1)/(n + 1)."""
        labels, scores = example()
        result = nf.significance("auc-roc", labels, scores, null="segments", n_resamples=300, rng=5)
        b = int((result.values >= result.value - 1e-9).sum())
        assert result.pvalue == (b + 1) / 301
        assert result.pvalue_error == pytest.approx(math.sqrt(result.pvalue * (1 - result.pvalue) / 300))
        assert result.smallest_pvalue == 1 / 301

    def test_alternatives(self):
        """The lower tail counts what is at most as high, two sides twice the smaller."""
        labels, scores = example()
        found = {
            side: nf.significance("auc-roc", labels, scores, null="circular-shift", alternative=side)
            for side in ("greater", "less", "two-sided")
        }
        values = found["greater"].values
        assert found["less"].pvalue == (values <= values[0] + 1e-9).mean()
        assert found["two-sided"].pvalue == min(1.0, 2 * min(found["greater"].pvalue, found["less"].pvalue))

    def test_a_lower_value_can_be_the_better_one(self):
        """Then small values count as extreme unless asked otherwise."""
        labels, scores = example()
        error = nf.metrics.Function(
            function=lambda e, x: -share_above(e, x), name="error", better="lower", perfect=None
        )
        plain = nf.significance(share_above, labels, scores, null="circular-shift")
        turned = nf.significance(error, labels, scores, null="circular-shift")
        assert turned.alternative == "less"
        assert turned.pvalue == plain.pvalue
        assert turned.critical_value == pytest.approx(-plain.critical_value)

    @given(st.integers(0, 10_000), st.sampled_from(["circular-shift", "segments"]), st.sampled_from([0.05, 0.2, 0.5]))
    def test_what_exceeds_the_critical_value_is_significant(self, seed, null, alpha):
        """And what does not is not."""
        labels, scores = example(120, seed)
        result = nf.significance("auc-roc", labels, scores, null=null, n_resamples=99, rng=1, alpha=alpha)
        if result.critical_value is None:
            assert result.smallest_pvalue > alpha
        elif abs(result.value - result.critical_value) > 1e-9:
            assert (result.value > result.critical_value) == (result.pvalue <= alpha)
        else:
            assert result.pvalue > alpha

    def test_a_perfect_detector_has_the_smallest_p_there_is(self):
        """One rotation of all is as good."""
        labels, _ = example()
        result = nf.significance("best-pa-f1", labels, labels + 0.0, null="circular-shift")
        assert (result.value, result.pvalue, result.verdict) == (1.0, 1 / 240, "yes")
        assert result.chance_corrected == 1.0

    @pytest.mark.parametrize("after", [1, 5, 20])
    def test_early_stopping_is_at_the_very_draw(self, after):
        """p = h/l whatever the chunks and the workers, and the draws are those of the full run."""
        labels, scores = example()
        ask = {"null": "segments", "n_resamples": 2_000, "rng": 9}
        every = nf.significance("auc-roc", labels, scores - 0.6 * labels, stop_after=10**6, **ask)
        reached = np.flatnonzero(every.values >= every.value - 1e-9)
        results = [
            nf.significance("auc-roc", labels, scores - 0.6 * labels, stop_after=after, workers=workers, **ask)
            for workers in (1, 2, 5)
        ]
        for result in results:
            assert result.n_resamples == reached[after - 1] + 1
            assert result.pvalue == after / result.n_resamples
            assert (result.band, result.critical_value) == (None, None)
            np.testing.assert_array_equal(result.values, every.values[: result.n_resamples])

    def test_early_stopping_that_never_stops_is_the_plain_p(self):
        """(b + 1)/(n + 1) of all draws."""
        labels, scores = example()
        result = nf.significance(
            "auc-roc", labels, labels + 0.1 * scores, null="segments", n_resamples=200, rng=1, stop_after=20
        )
        b = int((result.values >= result.value - 1e-9).sum())
        assert b < 20
        assert (result.n_resamples, result.pvalue) == (200, (b + 1) / 201)

    def test_early_stopping_needs_one_metric_and_one_side(self):
        """A corrected p-value needs a fixed number of draws."""
        with pytest.raises(InputError, match="stop_after needs a single metric"):
            nf.significance(["auc-roc"], [0, 1], [1, 2], stop_after=3)
        with pytest.raises(InputError, match="stop_after needs one side"):
            nf.significance("auc-roc", [0, 1], [1, 2], stop_after=3, alternative="two-sided")

    def test_corrected_for_chance_is_blank_where_chance_is_nearly_perfect(self):
        """A share of almost nothing says nothing."""
        labels = np.ones(400, dtype=int)
        labels[::100] = 0
        generator = np.random.default_rng(0)
        result = nf.significance("best-pa-f1", labels, generator.random(400), null="circular-shift")
        assert result.expected > 0.99
        assert math.isnan(result.chance_corrected)
        assert result.to_dict()["chance_corrected"] is None


class TestSeveral:
    """A list is measured on common draws, and corrected."""

    def test_the_corrected_p_is_by_the_smallest_p_of_each_draw(self):
        """Against a slow one: for each rotation the smallest share over all metrics."""
        labels, scores = example()
        names = ["auc-roc", "average-precision", "best-f1"]
        found = nf.significance(names, labels, scores, null="circular-shift")
        values = np.column_stack([one.values for one in found])
        own = np.array(
            [[Fraction(int((column >= v - 1e-9).sum()), len(values)) for v in column] for column in values.T]
        ).T
        slow = sum(min(row) <= min(own[0]) for row in own) / len(values)
        assert min(one.pvalue for one in found) <= found.pvalue
        assert found.pvalue == pytest.approx(slow, abs=0.02)  # equal p-values are told apart by their distance

    def test_one_metric_needs_no_correction(self):
        """Its corrected p is its p."""
        labels, scores = example()
        for null in ("circular-shift", "segments"):
            found = nf.significance(["auc-roc"], labels, scores, null=null, n_resamples=99, rng=2)
            assert found.pvalue == found[0].pvalue

    @pytest.mark.slow
    def test_the_best_of_many_settings_is_no_better_than_chance_allows(self):
        """Under the null the smallest p of six windows is small too often, and the corrected one is not."""
        generator = np.random.default_rng(4)
        small, corrected = 0, 0
        names = [f"f1:tolerance={t}" for t in (0, 1, 2, 4, 8, 16)]
        for _ in range(200):
            labels = generator.random(150) < 0.06
            alarms = generator.random(150) < 0.06
            if not labels.any() or not alarms.any():
                continue
            found = nf.significance(names, labels, predictions=alarms, null="permutation", n_resamples=99, rng=1)
            small += min(one.pvalue for one in found) <= 0.1
            corrected += found.pvalue <= 0.1
        assert small > 30
        assert corrected <= 33  # 20 expected, standard deviation 4.2

    def test_undefined_metrics_have_no_say(self):
        """Their corrected p is 1, and the others keep theirs."""
        labels, scores = example()
        nothing = nf.metrics.Function(function=lambda *_: math.nan, name="nothing")
        found = nf.significance(["auc-roc", nothing], labels, scores, null="circular-shift")
        alone = nf.significance("auc-roc", labels, scores, null="circular-shift")
        assert found.corrected[1] == 1.0
        assert found.pvalue == pytest.approx(alone.pvalue)
        assert found["nothing"].verdict == "cannot tell"

    def test_two_sides_are_corrected_for_both(self):
        """A metric that is far too low stands out as well."""
        values = np.array([[-9.0, 0.0], *np.random.default_rng(0).standard_normal((99, 2))])
        p = familywise(np.hstack([values[0], -values[0]]), np.hstack([values[1:], -values[1:]]), listed=False)
        assert p[2] == pytest.approx(0.01)
        assert min(p[0], p[1], p[3]) > 0.5

    def test_lists_that_make_no_sense_are_refused(self):
        """Empty, or the same metric twice."""
        with pytest.raises(InputError, match="metric is an empty list"):
            nf.significance([], [0, 1], [1, 2])
        with pytest.raises(InputError, match="metric='auc-roc' is there twice"):
            nf.significance(["auc-roc", "auc-roc"], [0, 1], [1, 2])


class TestFunctions:
    """Any function of labels and scores."""

    def test_scikit_learn_gives_the_same_as_the_native_metric(self):
        """On the same draws, in one process or two."""
        from sklearn.metrics import roc_auc_score

        labels, scores = example()
        ask = {"null": "segments", "n_resamples": 130, "rng": 3}
        native = nf.significance("auc-roc", labels, scores, **ask)
        for workers in (1, 2):
            found = nf.significance(["auc-roc", roc_auc_score], labels, scores, workers=workers, **ask)
            np.testing.assert_allclose(found["roc_auc_score"].values, found["auc-roc"].values, atol=1e-12)
            assert found["roc_auc_score"].pvalue == found["auc-roc"].pvalue
        assert native.value == pytest.approx(found["roc_auc_score"].value)

    def test_a_function_gets_alarms_where_there_are_some(self):
        """With a threshold, or predictions."""
        seen = []

        def look(labels, x):
            seen.append(x.dtype.kind)
            return float((labels * x).sum())

        labels, scores = example()
        nf.significance(look, labels, scores, n_resamples=2, null="segments", rng=1)
        assert set(seen) == {"f"}
        seen.clear()
        nf.significance(look, labels, scores, quantile=0.9, n_resamples=2, null="segments", rng=1)
        nf.significance(look, labels, predictions=scores > 1, n_resamples=2, null="segments", rng=1)
        assert set(seen) == {"i"}

    def test_an_object_with_compute_is_a_metric(self):
        """As tsadmetrics has them."""

        class Overlap:
            name = "overlap"

            def compute(self, labels, x):
                return (labels * x).sum()

        labels, scores = example()
        result = nf.significance(Overlap(), labels, scores, n_resamples=3, null="segments", rng=1)
        assert (result.name, result.value) == ("overlap", pytest.approx((labels * scores).sum()))

    def test_a_function_that_fails_now_and_then_is_told_about(self):
        """Such draws count as reaching the value: nothing is lost, nothing gained."""
        labels, scores = example()

        def moody(labels, x):
            if labels[10]:
                raise ZeroDivisionError("no step 10")
            return math.nan if labels[20] else share_above(labels, x)

        result = nf.significance(moody, labels, scores, null="segments", n_resamples=200, rng=1)
        calm = nf.significance(share_above, labels, scores, null="segments", n_resamples=200, rng=1)
        undefined = np.isnan(result.values)
        assert 0 < undefined.sum() < 100
        np.testing.assert_array_equal(result.values[~undefined], calm.values[~undefined])
        b = int((undefined | (calm.values >= calm.value)).sum())
        assert result.pvalue == (b + 1) / 201
        assert any("failed on" in note and "ZeroDivisionError: no step 10" in note for note in result.notes)
        assert any("is undefined on" in note for note in result.notes)

    def test_a_function_that_never_works_is_given_up_early(self):
        """After 20 draws, not after an hour."""
        calls = []

        def once(labels, x):
            calls.append(1)
            if len(calls) > 1:
                raise ValueError("only once")
            return 1.0

        labels, scores = example()
        with pytest.raises(
            InputError, match=r"metric='once' failed on each of the first 20 draws \(ValueError: only once\)"
        ):
            nf.significance(once, labels, scores, null="segments")
        assert len(calls) == 21

    def test_what_fails_on_the_data_fails_at_once(self):
        """With the metric's name and what went wrong."""
        labels, scores = example()

        def broken(labels, x):
            return 1 / 0

        with pytest.raises(InputError, match="metric='broken' failed on the data with ZeroDivisionError"):
            nf.significance(broken, labels, scores)
        with pytest.raises(InputError, match="metric='words' must return a number, got 'much'"):
            nf.significance(nf.metrics.Function(function=lambda *_: "much", name="words"), labels, scores)

    def test_what_cannot_be_pickled_is_done_by_one_process(self):
        """And the result says why it took so long."""
        labels, scores = example()
        result = nf.significance(
            lambda e, x: share_above(e, x), labels, scores, null="segments", n_resamples=30, rng=1, workers=2
        )
        assert any("cannot be sent to other processes" in note for note in result.notes)
        assert result.n_resamples == 30

    @pytest.mark.parametrize("value", [None, "x", [1.0], np.array([1.0, 2.0])], ids=repr)
    def test_what_is_no_number_is_refused(self, value):
        """By the metric's name, before any draw."""
        mine = nf.metrics.Function(function=lambda *_: value, name="mine")
        with pytest.raises(InputError, match="metric='mine' must return a number, got"):
            nf.significance(mine, [0, 1, 0, 0], [1, 2, 3, 4])

    @pytest.mark.parametrize("value", [np.inf, -np.inf, 0.0, 1e300])
    def test_what_never_changes_is_no_evidence(self, value):
        """p = 1 where every draw has the observed value, be it infinite."""
        labels, scores = example()
        found = nf.significance(lambda *_: value, labels, scores, null="segments", n_resamples=19, rng=1)
        assert found.pvalue == 1.0
        str(found), found.to_dict()

    @pytest.mark.parametrize("unit", [1e-15, 1e200])
    def test_the_unit_of_a_metric_does_not_matter(self, unit):
        """The same p-values, however small the numbers are, also corrected ones."""
        labels, scores = example()
        ask = {"null": "segments", "n_resamples": 99, "rng": 1}

        def scaled(labels, x):
            return unit * share_above(labels, x)

        plain = nf.significance([share_above, "auc-roc"], labels, scores, **ask)
        found = nf.significance([scaled, "auc-roc"], labels, scores, **ask)
        assert found[0].pvalue == plain[0].pvalue
        np.testing.assert_array_equal(found.corrected, plain.corrected)

    def test_functions_cannot_change_the_data(self):
        """Each call has copies of its own, to sort or to overwrite."""
        labels, scores = example()

        def vandal(labels, x):
            found = share_above(labels, x)
            x[:], labels[:] = 0, 0
            return found

        ask = {"null": "circular-shift", "n_resamples": 300}
        np.testing.assert_array_equal(
            nf.significance(vandal, labels, scores, **ask).values,
            nf.significance(share_above, labels, scores, **ask).values,
        )

    def test_a_function_that_fails_for_a_while_is_no_reason_to_give_up(self):
        """Only from the first draw on: an hour's work is not thrown away."""
        calls = []

        def tired(labels, x):
            calls.append(1)
            if 300 < len(calls) <= 400:
                raise OSError("not\nnow")
            return share_above(labels, x)

        labels, scores = example()
        result = nf.significance(tired, labels, scores, null="segments", n_resamples=500, rng=1)
        assert int(np.isnan(result.values).sum()) == 100
        assert any("failed on 100 of 500 draws (first: OSError: not now)" in note for note in result.notes)

    def test_a_function_that_gets_alarms_though_there_are_scores_is_told_about(self):
        """Nobody takes the AUC of alarms for that of scores."""
        from sklearn.metrics import f1_score, roc_auc_score

        labels, scores = example()
        ask = {"null": "segments", "n_resamples": 20, "rng": 1}
        found = nf.significance([roc_auc_score, "auc-roc"], labels, scores, quantile=0.9, **ask)
        assert any("roc_auc_score was given the alarms" in note for note in found.notes)
        asked = nf.metrics.Function(function=roc_auc_score, name="sk", needs="scores")
        found = nf.significance([asked, "auc-roc"], labels, scores, quantile=0.9, **ask)
        assert found["sk"].value == pytest.approx(found["auc-roc"].value)
        assert not any("was given" in note for note in found.notes)
        with pytest.raises(InputError, match="It was given scores: for alarms pass threshold="):
            nf.significance(f1_score, labels, scores, **ask)

    def test_results_of_functions_that_do_not_pickle_do(self):
        """The function stays behind; what it measured does not."""
        labels, scores = example()
        result = nf.significance(lambda e, x: share_above(e, x), labels, scores, null="segments", n_resamples=9, rng=1)
        copy = pickle.loads(pickle.dumps(result))
        assert (copy.value, copy.pvalue) == (result.value, result.pvalue)
        with pytest.raises(InputError, match="stayed in the process"):
            copy.metric(labels, scores)


class TestWorkers:
    """The answer depends on the seed, never on who computes it."""

    @pytest.mark.parametrize("null", ["segments", "permutation", "random-scores", "circular-shift"])
    def test_any_number_of_threads_gives_the_same(self, null, monkeypatch):
        """Also where chunks are many."""
        monkeypatch.setattr(asking, "FAST_CHUNK", 64)
        monkeypatch.setattr(metric_laws, "MOST_NANOSECONDS", 0.0)
        labels, scores = example()
        ask = {"null": null, "n_resamples": 150, "rng": 11, "quantile": 0.9}
        one, *others = (
            nf.significance(["auc-roc", "pa-f1", "vus-roc:window=8"], labels, scores, workers=workers, **ask)
            for workers in (1, 2, 7)
        )
        for other in others:
            for a, b in zip(one, other, strict=True):
                np.testing.assert_array_equal(a.values, b.values)

    def test_the_seed_is_told_and_repeats_the_result(self):
        """Also where none was given."""
        labels, scores = example()
        first = nf.significance("auc-roc", labels, scores, null="segments", n_resamples=50)
        again = nf.significance("auc-roc", labels, scores, null="segments", n_resamples=50, rng=first.seed)
        np.testing.assert_array_equal(first.values, again.values)

    def test_what_is_affordable_does_not_change_what_is_drawn(self, monkeypatch):
        """Where all rotations would take too long, random ones are drawn."""
        labels, scores = example()
        monkeypatch.setattr(metric_laws, "MOST_NANOSECONDS", 0.0)
        result = nf.significance("average-precision", labels, scores, null="circular-shift", n_resamples=100, rng=1)
        assert (result.n_resamples, result.method.kind) == (100, "simulated")
        metric = nf.metrics.get("average-precision")
        possible = np.array([metric(labels, shifted(scores, s)) for s in range(240)])
        assert all(np.abs(possible - value).min() < 1e-12 for value in result.values)

    def test_draws_do_not_depend_on_what_is_measured(self):
        """A function beside it, or a stop that never comes, changes nothing."""
        labels, scores = example()
        ask = {"null": "segments", "n_resamples": 300, "rng": 1}
        alone = nf.significance("best-f1", labels, scores, **ask)
        beside = nf.significance(["best-f1", share_above], labels, scores, **ask)["best-f1"]
        patient = nf.significance("best-f1", labels, scores, stop_after=10**6, **ask)
        np.testing.assert_array_equal(alone.values, beside.values)
        np.testing.assert_array_equal(alone.values, patient.values)


class TestVerdicts:
    """They are read, the notes are not."""

    @pytest.mark.parametrize("alternative", ["less", "two-sided"])
    def test_worse_than_chance_is_never_no_fluke(self, alternative):
        """Whatever the alternative, alone and in a list; and a hint is given."""
        labels, scores = example()
        ask = {"null": "circular-shift", "alternative": alternative}
        one = nf.significance("auc-roc", labels, -labels + 0.01 * scores, **ask)
        assert one.pvalue <= 0.05
        assert (one.verdict, one.reason.partition(" (")[0]) == (
            "no",
            "auc-roc is not significantly better than chance at the 0.05 level",
        )
        assert any('pass higher_is="normal"' in note for note in one.notes)
        several = nf.significance(["auc-roc", "average-precision"], labels, -labels + 0.01 * scores, **ask)
        assert several.pvalue <= 0.05
        assert several.verdict == "no"

    def test_better_than_chance_is_said_by_two_sides_too(self):
        """The verdict goes by the better side."""
        labels, scores = example()
        result = nf.significance(
            "auc-roc", labels, labels + 0.01 * scores, null="circular-shift", alternative="two-sided"
        )
        assert result.verdict == "yes"
        assert "(one-sided: p = 0.0042)" in result.reason

    def test_stopping_early_is_no_reason_not_to_tell(self):
        """The smallest p is that of all draws that were asked for."""
        labels, scores = example()
        result = nf.significance("best-f1", labels, -labels + 0.1 * scores, null="segments", stop_after=5, rng=1)
        assert result.n_resamples < 19
        assert (result.verdict, result.smallest_pvalue) == ("no", 1 / 10_001)
        assert "Stopped when 5 draws had reached the value." in result.how()
        never = nf.significance("best-f1", labels, labels + 0.0, null="segments", stop_after=50, n_resamples=60, rng=1)
        assert "Fewer than 50 draws reached the value." in never.how()

    def test_all_rotations_at_once_leave_nothing_to_stop(self):
        """They are exact, and faster."""
        labels, scores = example()
        result = nf.significance("auc-roc", labels, scores, null="circular-shift", stop_after=5)
        assert (result.listed, result.stop_after, result.n_resamples) == (True, None, 240)

    def test_the_smallest_p_of_two_sides_is_twice_that_of_one(self):
        """With 30 rotations nothing two-sided reaches the level."""
        labels = np.zeros(30, dtype=int)
        labels[10:13] = 1
        result = nf.significance("auc-roc", labels, labels + 0.0, null="circular-shift", alternative="two-sided")
        assert result.smallest_pvalue == pytest.approx(2 / 30)
        assert result.verdict == "cannot tell"

    def test_a_rotation_that_would_be_perfect_counts_once(self):
        """Had it been the data's own, it would have had the smallest p."""
        labels = np.zeros(30, dtype=int)
        labels[20:22] = 1
        result = nf.significance("auc-roc", labels, np.arange(30), null="circular-shift")
        assert result.smallest_pvalue == pytest.approx(1 / 30)
        assert result.verdict == "no"

    def test_undefined_draws_are_in_the_smallest_p(self):
        """They reach any value."""
        labels, scores = example()
        result = nf.significance(
            lambda e, x: math.nan if e[10] else share_above(e, x),
            labels,
            scores,
            null="segments",
            n_resamples=199,
            rng=1,
        )
        assert result.smallest_pvalue == (1 + np.isnan(result.values).sum()) / 200

    @pytest.mark.parametrize("name", ["affiliation-recall", "affiliation-f1", "nab", "f1", "pa-f1"])
    def test_where_everything_is_labelled_nothing_can_be_told(self, name):
        """Nor where there is an alarm on every step, or on none."""
        alarms = np.arange(100) == 50
        assert nf.significance(name, np.ones(100), predictions=alarms).verdict == "cannot tell"
        for same in (np.ones(100), np.zeros(100)):
            assert nf.significance(name, alarms, predictions=same).verdict == "cannot tell"

    def test_a_value_read_elsewhere_never_has_p_0(self):
        """Itself counted; NaN is no evidence."""
        labels, scores = example()
        result = nf.significance("auc-roc", labels, scores, null="circular-shift")
        assert result.pvalue_of(2.0) == 1 / 240
        assert result.pvalue_of(result.value) == result.pvalue
        assert result.pvalue_of(math.nan) == 1.0
        assert result.pvalue_of(result.critical_value) > 0.05
        with pytest.raises(InputError, match="value='x' must be a number"):
            result.pvalue_of("x")

    def test_values_equal_but_for_rounding_are_equal(self):
        """Three tenths are three tenths, in whatever order they are added up."""
        x = np.tile([0.1, 0.2, 0.3], 20)
        labels = np.zeros(60, dtype=int)
        labels[:3] = 1
        total = nf.metrics.Function(function=lambda e, x: 0.6 - 1 + x[e == 1].sum(), name="total")
        result = nf.significance(total, labels, x, null="circular-shift")
        assert len(set(result.values)) > 1
        assert result.pvalue == 1.0

    @pytest.mark.slow
    def test_a_long_range_among_single_steps_is_not_torn_apart(self):
        """Labels of which most stand alone are single steps only if neighbours are no more than by chance."""
        wrong = 0
        for seed in range(40):
            generator = np.random.default_rng(seed)
            labels = generator.random(1000) < 0.03
            start = generator.integers(100, 800)
            labels[start : start + 25] = True
            scores = np.zeros(1000)
            for t in range(1, 1000):
                scores[t] = 0.97 * scores[t - 1] + generator.standard_normal()
            result = nf.significance("best-pa-f1", labels, scores, n_resamples=199, rng=1)
            assert "runs" in result.choice.model.keeps
            wrong += result.verdict == "yes"
        assert wrong <= 6

    def test_groups_part_ranges(self):
        """A range that reaches over the border of two entities is two."""
        labels = np.zeros(200, dtype=int)
        labels[90:110] = 1
        groups = np.repeat([1, 2], 100)
        alarms = np.arange(200) == 95
        result = nf.significance("pa-f1", labels, predictions=alarms, groups=groups, n_resamples=20, rng=1)
        assert result.labels.n_ranges == 2
        assert result.value == pytest.approx(2 / 3)
        with pytest.raises(InputError, match="groups has missing entries"):
            nf.significance("pa-f1", labels, predictions=alarms, groups=np.where(groups == 1, np.nan, 2.0))

    @pytest.mark.slow
    def test_a_trend_within_groups_is_not_called_skill(self):
        """Labels and scores that both rise from the beginning of each group to its end."""
        told = 0
        for seed in range(30):
            generator = np.random.default_rng(seed)
            rise = np.tile(np.arange(100) / 100, 5)
            labels = generator.random(500) < 0.3 * rise**3
            scores = 3 * rise + generator.standard_normal(500)
            result = nf.significance(
                "auc-roc", labels, scores, groups=np.repeat(np.arange(5), 100), n_resamples=99, rng=1
            )
            told += result.verdict == "yes"
        assert told <= 4

    def test_a_season_of_the_detector_alone_is_kept_where_ranges_are_few(self):
        """Four ranges cannot show a season, and rotations by other than whole periods would call it skill."""
        generator = np.random.default_rng(0)
        wave = 2 * np.cos(2 * np.pi * np.arange(1200) / 24)
        labels = np.zeros(1200, dtype=int)
        for start in (100, 400, 700, 1000):
            labels[start : start + 6] = 1
        result = nf.significance("auc-roc", labels, wave + generator.standard_normal(1200))
        assert result.choice.model.settings["every"] == pytest.approx(24, abs=0.1)
        assert "a season (period 24 steps, of the alarms," in result.choice.why

    def test_a_guard_is_approximate(self):
        """Without the small shifts rotations do not form a group."""
        labels, scores = example()
        result = nf.significance("auc-roc", labels, scores, null="circular-shift:guard=20")
        assert result.method.kind == "approximate"
        assert any("rotations do not form a group" in note for note in result.notes)

    def test_random_scores_with_too_little_memory_are_doubted(self):
        """Whatever memory they have is compared with the detector's."""
        labels, scores = example(phi=0.95)
        doubted = nf.significance("auc-roc", labels, scores, null="random-scores:phi=0.1", n_resamples=20, rng=1)
        assert "Neighbouring scores are similar" in doubted.choice.doubts[0]
        fair = nf.significance("auc-roc", labels, scores, null="random-scores:phi=0.95", n_resamples=20, rng=1)
        assert fair.choice.doubts == ()


class TestTold:
    """What a result says."""

    def test_everything_is_told_as_plain_values(self):
        """JSON, CSV, tables, pickles."""
        labels, scores = example()
        found = nf.significance(["auc-roc", "vus-pr:window=20"], labels, scores, n_resamples=99, rng=1, null="segments")
        plain = json.loads(json.dumps(found.to_dict()))
        assert [one["metric"] for one in plain["metrics"]] == ["auc-roc", "vus-pr:window=20"]
        assert plain["pvalue"] == found.pvalue
        assert (plain["seed"], plain["method"], plain["null"]["name"]) == (1, "montecarlo", "segments")
        one = json.loads(json.dumps(found[0].to_dict()))
        assert {"value", "pvalue", "expected", "std", "band", "chance_corrected", "critical_value", "notes"} <= set(one)
        copy = pickle.loads(pickle.dumps(found))
        assert copy[0] == found[0]
        assert copy.pvalue == found.pvalue
        assert found.to_csv().splitlines()[0].startswith("metric,value,expected,std,low,high,pvalue")
        for text in (str(found), found.table().latex(), found.table().markdown(), found._repr_html_(), repr(found)):
            assert "auc-roc" in text
        assert "Null: segments." in str(found[0])

    def test_the_sentence_names_value_chance_null_and_p(self):
        """To be pasted into a paper."""
        labels, scores = example()
        result = nf.significance("auc-roc", labels, scores, null="circular-shift")
        said = result.in_words()
        assert said.startswith("auc-roc is 0.")
        assert "chance gives 0.500 ± " in said
        assert "under circular-shift; p = " in said
        assert "corrected for chance" in said

    def test_a_null_that_tears_ranges_apart_is_doubted_in_the_first_words(self):
        """Its p-value stands, and nobody is to believe it."""
        labels, scores = example()
        result = nf.significance("pa-f1", labels, scores, quantile=0.9, null="permutation", n_resamples=99, rng=1)
        assert result.verdict_in_words().startswith("Under permutation, which these data contradict: ")
        assert "tears apart" in result.choice.doubts[0]

    def test_a_doubt_is_said_once_though_scores_are_looked_at_as_alarms_of_several_levels(self):
        """A trend is seen at each of them, with a p-value of its own."""
        rng = np.random.default_rng(1)
        labels, scores = rng.random(400) < np.linspace(0, 0.2, 400), rng.normal(size=400) + np.linspace(0, 4, 400)
        result = nf.significance("auc-roc", labels, scores, null="permutation", n_resamples=9)
        assert sum("change slowly with time" in doubt for doubt in result.choice.doubts) == 1

    @pytest.mark.parametrize(
        ("null", "words"), [("blocks:length=30", "cuts labelled ranges"), ("interval-shuffle", "not their lengths")]
    )
    def test_nulls_that_change_ranges_say_so(self, null, words):
        """Blocks cut them, shuffled gaps change their lengths; single steps are none."""
        labels, scores = example()
        result = nf.significance("pa-f1", labels, scores, quantile=0.9, null=null, n_resamples=9, rng=1)
        assert words in result.choice.doubts[0]
        alone = np.isin(np.arange(240), [10, 50, 90, 200])
        result = nf.significance("pa-f1", alone, scores, quantile=0.9, null=null, n_resamples=9, rng=1)
        assert not any(words in doubt for doubt in result.choice.doubts)

    def test_a_function_is_called_as_often_as_asked(self):
        """All rotations are enumerated only where they are no more than the draws."""
        labels, scores = example()
        calls = []
        nf.significance(lambda *_: calls.append(1) or 0.5, labels, scores, null="circular-shift", n_resamples=30, rng=1)
        assert len(calls) == 31

    def test_scores_with_a_memory_speak_against_nulls_without(self):
        """Random and permuted scores have too many tries."""
        labels, scores = example(phi=0.95)
        for null in ("score-permutation", "random-scores"):
            result = nf.significance("auc-roc", labels, scores, null=null, n_resamples=50, rng=1)
            assert "Neighbouring scores are similar" in result.choice.doubts[0]
        fresh = np.random.default_rng(0).random(240)
        assert nf.significance("auc-roc", labels, fresh, null="score-permutation", n_resamples=50).choice.doubts == ()

    def test_what_cannot_be_told_is_not_told(self):
        """No labels, all labelled, too few rotations, no null that holds."""
        empty = nf.significance("auc-roc", [0, 0, 0, 0], [1, 2, 3, 4])
        assert (empty.pvalue, empty.verdict, empty.reason) == (
            1.0,
            "cannot tell",
            "No step is labelled: there is nothing to find.",
        )
        assert "No step is labelled: there is nothing to find." in empty.notes
        few = nf.significance("auc-roc", [0, 1, 0, 0], [1, 2, 0, 0], null="circular-shift")
        assert few.verdict == "cannot tell"
        assert "the smallest possible p is 0.25" in few.reason
        full = nf.significance(
            "recall:tolerance=4", [0, 0, 1, 0, 0, 0] * 20, predictions=[1, 0, 0, 0, 0, 0] * 20, null="circular-shift"
        )
        assert (full.value, full.verdict) == (1.0, "cannot tell")
        assert full.smallest_pvalue == pytest.approx(5 / 6)  # only rotations that cut a window at the border miss one
        same = nf.significance("auc-roc", [0, 1, 0, 0] * 20, [1.0] * 80, null="circular-shift")
        assert (same.pvalue, same.verdict) == (1.0, "cannot tell")

    def test_nulls_without_draws_are_refused(self):
        """Their laws are of hits alone."""
        with pytest.raises(InputError, match="null='bernoulli' only knows laws of hits"):
            nf.significance("auc-roc", [0, 1, 0, 0], [1, 2, 3, 4], null="bernoulli")

    @pytest.mark.parametrize(
        ("asked", "words"),
        [
            ({"alternative": "more"}, "alternative='more' must be one of 'greater', 'less', 'two-sided'"),
            ({"workers": 0}, "workers=0 must be a whole number of at least 1"),
            ({"stop_after": 0}, "stop_after=0 must be a whole number of at least 1"),
            ({"n_resamples": 0}, "n_resamples=0 must be a whole number of at least 1"),
            ({"alpha": 2}, "alpha=2"),
            ({"null": "random-scores:phi=1"}, "phi=1 must be at least 0 and below 1"),
            ({"null": "random-scores:rho=1"}, "null='random-scores:rho=1' has no setting 'rho', but phi"),
            ({"null": "nothing"}, "null='nothing' must be one of 'auto'"),
            ({"metric": "nothing"}, "metric='nothing' must be one of 'auc-roc'"),
            ({"metric": "pa-f1"}, "metric='pa-f1' needs alarms: pass predictions, or scores with a threshold"),
        ],
    )
    def test_bad_arguments_are_named(self, asked, words):
        """Argument, value, remedy."""
        given_ = {"metric": "auc-roc", "truth": [0, 1, 0, 0], "scores": [1, 2, 3, 4], **asked}
        with pytest.raises(InputError) as caught:
            nf.significance(**given_)
        assert words in str(caught.value)

    def test_scores_are_needed_where_they_are(self):
        """Alarms have no order."""
        with pytest.raises(InputError, match="metric='auc-roc' needs scores, and predictions were passed"):
            nf.significance("auc-roc", [0, 1, 0, 0], predictions=[0, 1, 0, 0])


class TestChance:
    """The level that labels and metric alone give to a detector that knows nothing."""

    def test_random_scores_reach_a_high_point_adjusted_f1(self):
        """One alarm in a long range is found by luck."""
        labels = ([0] * 900 + [1] * 100) * 20
        level = nf.chance("best-pa-f1", labels, n_resamples=300, rng=1)
        assert level.expected > 0.8
        assert nf.chance("best-f1", labels, n_resamples=50, rng=1).expected < 0.25
        assert level.pvalue_of(0.5) == 1.0
        assert level.pvalue_of(1.01) == 1 / 301
        assert level.critical_value > level.expected
        assert "a detector has to be above" in level.in_words()

    def test_memory_of_the_scores_matters(self):
        """Scores with a memory have fewer tries, and the spread of AUC-ROC shows it."""
        labels = ([0] * 90 + [1] * 10) * 10
        plain, slow = (
            nf.chance("auc-roc", labels, null=null, n_resamples=200, rng=1)
            for null in ("random-scores", "random-scores:phi=0.95")
        )
        assert slow.std > 2 * plain.std
        assert plain.expected == 0.5

    def test_alarms_are_on_the_share_of_steps_asked_for(self):
        """Rounded down; without a share there is an error with the remedy."""
        labels = ([0] * 90 + [1] * 10) * 10
        level = nf.chance(
            nf.metrics.Function(function=lambda _, x: x.sum(), name="many", needs="alarms"),
            labels,
            budget="2.55%",
            n_resamples=5,
        )
        assert set(level.values) == {25.0}
        assert level.labels.n_alarms == 25
        with pytest.raises(InputError, match="metric='pa-f1' needs alarms: pass budget="):
            nf.chance("pa-f1", labels)

    def test_functions_are_given_alarms_where_there_is_a_budget(self):
        """As in significance; a budget of nothing is refused."""
        from sklearn.metrics import f1_score

        labels = ([0] * 90 + [1] * 10) * 5
        level = nf.chance(f1_score, labels, budget=0.1, n_resamples=50, rng=1)
        assert level.expected == pytest.approx(0.1, abs=0.03)
        with pytest.raises(InputError, match=r"budget=0\.001 of 500 steps gives no alarm"):
            nf.chance("f1", labels, budget=0.001)
        with pytest.raises(InputError, match="failed on each of the first 20 draws"):
            nf.chance(f1_score, labels, n_resamples=50)

    def test_ranges_need_a_length(self):
        """They do not tell where the series ends."""
        level = nf.chance("auc-roc", [(10, 19), (50, 59)], n_steps=100, n_resamples=5, rng=1)
        assert (level.labels.n, level.labels.n_ranges, level.labels.n_labelled) == (100, 2, 20)
        with pytest.raises(InputError, match="pass n_steps= or times="):
            nf.chance("auc-roc", [(10, 19), (50, 59)])

    def test_other_nulls_need_a_detector(self):
        """What would they move?"""
        with pytest.raises(InputError, match="null='circular-shift' needs a detector to compare with"):
            nf.chance("auc-roc", [0, 1, 0], null="circular-shift")

    def test_it_is_told_as_plain_values(self):
        """JSON, text and pickles."""
        level = nf.chance("auc-roc", [0, 1, 0, 0] * 10, n_resamples=20, rng=1)
        assert json.loads(json.dumps(level.to_dict()))["expected"] == 0.5
        assert pickle.loads(pickle.dumps(level)) == level
        assert "critical value" in str(level)


def test_shifts_too_short_for_a_perfect_detector_cannot_tell():
    """Ranges of an hour and shifts of less than two: alarms amid each range have a large p, so *no* is not said."""
    labels, alarms = np.zeros(1_000, dtype=int), np.zeros(1_000, dtype=int)
    for first, last in [(60, 119), (300, 371), (500, 559), (700, 779)]:
        labels[first : last + 1] = 1
    for first in np.random.default_rng(59).choice(980, 9):
        alarms[first : first + 4] = 1
    found = nf.significance("event-f1", labels, predictions=alarms, null="local-shift:reach=100")
    assert found.perfect_pvalue > 0.05
    assert found.verdict == "cannot tell"
    assert "smallest possible p" in found.reason
    steps = nf.significance("f1", labels, predictions=alarms, null="local-shift:reach=100")
    assert steps.perfect_pvalue <= 0.05  # all steps of a range are no longer labelled after a short shift
    assert steps.verdict == "no"
