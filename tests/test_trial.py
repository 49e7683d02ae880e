"""A trial against the paper's equations, and what the core carries beyond single steps: ranges, gaps, empty windows."""

import pickle
import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nofluke as nf
from nofluke.errors import InputError
from nofluke.nulls.seasons import least_of_period
from nofluke.nulls.seen import Look
from nofluke.series.counting import largest_within, union, within
from nofluke.series.detector import AlarmRule
from nofluke.series.reading import prepare
from nofluke.series.tolerance import Ranges, Reach, Tolerance
from nofluke.series.trial import Trial, judge_together
from nofluke.series.truth import Truth


def trial_of(truth, scores, tolerances, thresholds, **how):
    return Trial.of(prepare(truth, scores, **how), tuple(tolerances), np.asarray(thresholds, dtype=float))


def core_trial(truth, detector, thresholds, tolerance, open_steps=None):
    """A trial of the core, without a clock."""
    every = np.ones(truth.n_steps, dtype=bool) if open_steps is None else open_steps
    return Trial(
        truth=truth,
        detector=np.asarray(detector),
        tolerances=(tolerance,),
        thresholds=np.asarray(thresholds, dtype=float),
        reaches=(Reach(tolerance=tolerance, open_steps=every),),
    )


class TestCells:
    @settings(max_examples=80)
    @given(st.data())
    def test_many_cells_are_what_single_ones_are(self, data):
        """D × K cells counted together (sorted scores) equal each counted alone (positions), with masks and clocks."""
        n = data.draw(st.integers(2, 14))
        truth = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
        scores = data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
        mask = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
        mask[0] = False
        times = np.cumsum(data.draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)))
        unit = data.draw(st.sampled_from(["steps", "clock"]))
        sides = st.integers(0, 5)
        tolerances = [Tolerance(early=data.draw(sides), late=data.draw(sides), unit=unit) for _ in range(2)]
        cuts = [0.5, 1.5, 3.5]
        whole = trial_of(truth, scores, tolerances, cuts, mask=mask, times=times)
        for d, tolerance in enumerate(tolerances):
            for k, cut in enumerate(cuts):
                alone = trial_of(truth, scores, [tolerance], [cut], mask=mask, times=times)
                for name in ("precision_hits", "recall_hits", "near_predictions"):
                    assert getattr(whole, name)[d, k] == getattr(alone, name)[0, 0], name
                assert whole.n_predictions[k] == alone.n_predictions[0]
                assert whole.near_events[d] == alone.near_events[0]
                np.testing.assert_array_equal(whole.cell(d, k).found, alone.cell(0, 0).found)
                np.testing.assert_array_equal(whole.cell(d, k).windows.starts, alone.cell(0, 0).windows.starts)

    @settings(max_examples=200)
    @given(st.data())
    def test_detectors_judged_together_are_what_each_is_alone(self, data):
        """Alarms at the borders of one do not meet those of the next; steps or episodes, single events or ranges."""
        n = data.draw(st.integers(2, 12))
        truth = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
        scores = st.lists(st.integers(0, 2), min_size=n, max_size=n).map(lambda values: np.array(values, dtype=float))
        mask = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
        mask[0] = False
        sides = st.tuples(st.integers(-3, 4), st.integers(-3, 4)).filter(lambda both: sum(both) >= 0)
        within = tuple(
            Tolerance(early=early, late=late) for early, late in data.draw(st.lists(sides, min_size=1, max_size=2))
        )
        rule = AlarmRule.of(data.draw(st.sampled_from(["steps", "episodes"])))
        first = prepare(truth, np.zeros(n), mask=mask, count_events=data.draw(st.sampled_from([None, "ranges"])))
        every = [first.with_scores(data.draw(scores)) for _ in range(data.draw(st.integers(2, 4)))]
        together, alone = ([Trial.of(one, within, np.ones(1), rule) for one in every] for _ in range(2))
        judge_together(together)
        assert together[0].batch is together[-1].batch
        for one, other in zip(together, alone, strict=True):
            for name in ("n_alarm_steps", "n_predictions", "precision_hits", "recall_hits", "near_predictions"):
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
            for d in range(len(within)):
                mine, theirs = one.cell(d, 0), other.cell(d, 0)
                np.testing.assert_array_equal(mine.alarms, theirs.alarms)
                np.testing.assert_array_equal(mine.alarm_flags, theirs.alarm_flags)
                np.testing.assert_array_equal(mine.found, theirs.found)
                np.testing.assert_array_equal(mine.episodes.starts, theirs.episodes.starts)
                np.testing.assert_array_equal(mine.episodes.stops, theirs.episodes.stops)
                one_side, other_side = (Look.of(cell, 0.05).alarms for cell in (mine, theirs))
                np.testing.assert_array_equal(one_side.powers, other_side.powers)
                assert least_of_period(one_side, one_side, 2) == least_of_period(other_side, other_side, 2)
            np.testing.assert_array_equal(pickle.loads(pickle.dumps(one)).precision_hits, other.precision_hits)

    def test_a_long_series_is_not_judged_with_all_others(self, monkeypatch):
        """So that what is worked out of a batch takes some 10 MB, and no more."""
        monkeypatch.setattr("nofluke.series.trial.MOST_AT_ONCE", 10)
        first = prepare([0, 1, 0, 0, 1], np.zeros(5))
        trials = [
            Trial.of(first.with_scores(np.full(5, float(i))), (Tolerance(early=0, late=0),), np.ones(1))
            for i in range(5)
        ]
        judge_together(trials)
        assert [len(trial.batch.detectors) for trial in trials] == [2, 2, 2, 2, 1]
        assert [int(trial.n_predictions[0]) for trial in trials] == [0, 5, 5, 5, 5]

    def test_detectors_side_by_side_share_their_events(self):
        """What is worked out for events is worked out once for all detectors, and another's alarms are its own."""
        told = {"times": [0, 1, 2, 3, 5], "mask": [0, 0, 0, 0, 1]}
        within, cut = (Tolerance(early=1, late=1, unit="clock"),), np.ones(1)
        series = prepare([0, 1, 0, 1, 0], [0, 2, 1, 2, 0], **told)
        other = series.with_scores(np.array([1.0, 0.0, 1.0, 2.0, 0.0]))
        one, beside, alone = (
            Trial.of(sequence, within, cut)
            for sequence in (series, other, prepare([0, 1, 0, 1, 0], [1, 0, 1, 2, 0], **told))
        )
        assert beside.zones is one.zones is not alone.zones
        assert (beside.precision_hits, beside.recall_hits) == (alone.precision_hits, alone.recall_hits)
        assert beside.near_predictions == alone.near_predictions
        assert one.with_truth(alone.truth).zones.truth is alone.truth

    @pytest.mark.parametrize(
        "scores",
        [
            np.array([1.0, np.nan, 0.0]),
            np.array([1.0, np.inf, 0.0]),
            np.array([1.0, 2.0]),
            np.array([[1.0, 2.0, 3.0]]),
            np.array([1, 2, 3]),
            [1.0, 2.0, 3.0],
        ],
    )
    def test_scores_that_are_not_plain_are_read_with_the_series(self, scores):
        """Only finite floats, one for each step, can be taken without another look at the series."""
        assert prepare([0, 1, 0], [1.0, 2.0, 3.0]).with_scores(scores) is None

    def test_scores_taken_for_a_series_are_as_if_they_were_read_with_it(self):
        """Masked steps, the kind of floats, and a series of which a step is missing or that has alarms."""
        series = prepare([0, 1, 0, 0], [1.0, 2.0, 3.0, 0.0], mask=[0, 0, 0, 1])
        for kind in (np.float64, np.float32):
            scores = np.array([3.0, 0.1, 2.0, 7.0], dtype=kind)
            assert series.with_scores(scores) == prepare([0, 1, 0, 0], scores, mask=[0, 0, 0, 1])
        missing = prepare([0, 1, 0, 0], [1.0, np.nan, 3.0, 0.0], missing="mask")
        assert missing.with_scores(np.zeros(4)) is None
        assert prepare([0, 1, 0, 0], [1.0, 3.0], align="end").with_scores(np.zeros(4)) is None
        assert prepare([0, 1, 0], predictions=[0, 1, 0]).with_scores(np.zeros(3)) is None

    def test_alarms_may_be_asked_for_by_several_threads(self):
        """Between two looks at what is kept, another thread may have kept more: that is no error."""
        trial = Trial.of(prepare([0, 1, 0, 0], [0, 2, 1, 2]), (Tolerance(early=1, late=1),), np.array([0.0, 1.0, 2.0]))

        class Meanwhile:
            def __len__(self):
                trial._kept.setdefault(1, np.array([1, 2, 3]))
                return 0

        trial._kept[2] = Meanwhile()
        assert trial.alarms(0).tolist() == [0, 1, 2, 3]
        assert trial.alarms(1).tolist() == [1, 2, 3]

    def test_what_is_derived_is_worked_out_once(self, monkeypatch):
        """A sweep over four tolerances makes four reaches, and asks each for its ranges once."""
        calls = []
        original = Tolerance.prediction_ranges
        monkeypatch.setattr(Tolerance, "prediction_ranges", lambda self, *a: calls.append(self) or original(self, *a))
        rng = np.random.default_rng(0)
        curve = nf.sweep(
            rng.random(300) < 0.1, rng.random(300), quantiles=[0.7, 0.9], tolerances=["1h", "2h", "3h", "4h"],
            times=np.datetime64("2020-01-01T00:00") + np.arange(300) * np.timedelta64(1, "h"),
        )  # fmt: skip
        assert curve.chance.precision.pvalue.shape == (4, 2)
        curve.familywise(n_resamples=99, rng=1)
        _ = curve.near_predictions
        # seen from the prediction the same relation is read the other way round: once more each
        assert len(calls) == 8

    def test_threads_do_not_work_out_the_same_ranges(self, monkeypatch):
        """Cells of one tolerance run at the same time: its ranges are there before them."""
        calls = []
        original = Tolerance.event_ranges

        def slowly(self, *arguments):
            calls.append(self)
            time.sleep(0.05)
            return original(self, *arguments)

        monkeypatch.setattr(Tolerance, "event_ranges", slowly)
        monkeypatch.setattr("nofluke.inference.sweep.os.cpu_count", lambda: 4)
        rng = np.random.default_rng(0)
        curve = nf.sweep(
            rng.random(99) < 0.1, rng.random(99), quantiles=[0.5, 0.7, 0.9], tolerances=[nf.Tolerance(early="1h", late="2h")],
            times=np.datetime64("2020-01-01T00:00") + np.arange(99) * np.timedelta64(1, "h"),
        )  # fmt: skip
        assert curve.chance.precision.pvalue.shape == (1, 3)
        assert len(calls) == 1

    def test_a_pickled_trial_leaves_out_what_can_be_worked_out_again(self):
        """Caches do not travel; the numbers are the same at the other end."""
        trial = trial_of([0, 1, 0, 0, 1], [1, 2, 3, 4, 5], [Tolerance(early=1, late=1)], [2, 4])
        before = trial.precision_hits, trial.recall_hits
        again = pickle.loads(pickle.dumps(trial))
        assert "precision_hits" not in again.__dict__
        np.testing.assert_array_equal(again.precision_hits, before[0])
        np.testing.assert_array_equal(again.cell(0, 1).windows.starts, trial.cell(0, 1).windows.starts)

    def test_another_detector_is_judged_on_the_same_events(self):
        """Several detectors on one truth: the events and what the tolerance reaches are shared."""
        trial = trial_of([0, 1, 0, 0, 1], [1, 2, 3, 4, 5], [Tolerance(early=0, late=0)], [4])
        other = trial.with_detector(np.array([9.0, 9, 0, 0, 0]))
        assert other.truth is trial.truth
        assert other.reaches is trial.reaches
        assert (trial.precision_hits[0, 0], other.precision_hits[0, 0]) == (1, 1)
        with pytest.raises(InputError, match="one value for each of the 5 steps that count, got 3"):
            trial.with_detector(np.ones(3))


def slow_hits(starts, stops, alarms, early, late):
    """Ranges by the relation itself: a prediction between start - early and end + late."""
    found = [any(s - early <= p <= e - 1 + late for p in alarms) for s, e in zip(starts, stops, strict=True)]
    hit = [any(s - early <= p <= e - 1 + late for s, e in zip(starts, stops, strict=True)) for p in alarms]
    return sum(hit), sum(found)


class TestRanges:
    @settings(max_examples=120)
    @given(st.data())
    def test_whole_ranges_count_once(self, data):
        """Recall counts each range once, precision the predictions near any; touching ranges stay two."""
        n = data.draw(st.integers(1, 16))
        cuts = sorted(data.draw(st.lists(st.integers(0, n), min_size=0, max_size=8)))
        pairs = [(a, b) for a, b in zip(cuts[::2], cuts[1::2], strict=False) if a < b]
        starts, stops = (np.array([p[i] for p in pairs], dtype=np.int64) for i in (0, 1))
        alarms = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
        early, late = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 4))
        truth = Truth(starts=starts, stops=stops, n_steps=n, open_steps=np.ones(n, dtype=bool))
        tolerance = Tolerance(early=early, late=late)
        trial = core_trial(truth, alarms, [1.0], tolerance)
        expected = slow_hits(starts, stops, np.flatnonzero(alarms), early, late)
        assert (trial.precision_hits[0, 0], trial.recall_hits[0, 0]) == expected
        # with scores in place of alarms, by sorting
        scored = core_trial(truth, alarms.astype(float), [0.5, 2.0], tolerance)
        assert (scored.precision_hits[0, 0], scored.recall_hits[0, 0]) == expected
        assert (scored.precision_hits[0, 1], scored.recall_hits[0, 1]) == (0, 0)

    def test_touching_ranges_stay_two(self):
        """Labels would merge them; starts and stops do not."""
        truth = Truth(starts=np.array([2, 5]), stops=np.array([5, 7]), n_steps=9, open_steps=np.ones(9, dtype=bool))
        assert (truth.n, truth.points) == (2, False)
        np.testing.assert_array_equal(np.flatnonzero(truth.flags), [2, 3, 4, 5, 6])
        moved = truth.moved(np.array([6, 0]))
        np.testing.assert_array_equal(moved.starts, [0, 6])
        np.testing.assert_array_equal(moved.stops, [2, 9])

    @pytest.mark.parametrize(
        ("starts", "stops", "message"),
        [
            ([3, 1], [4, 2], "ascending ranges"),
            ([1, 2], [4, 5], "do not overlap"),
            ([5], [4], "ascending ranges"),
            ([8], [11], "within the 9 steps"),
        ],
    )
    def test_what_is_no_range_is_refused(self, starts, stops, message):
        """Unordered, overlapping, reversed or outside."""
        with pytest.raises(InputError, match=message):
            Truth(starts=np.array(starts), stops=np.array(stops), n_steps=9, open_steps=np.ones(9, dtype=bool))

    def test_an_event_between_two_steps_stays_one(self):
        """It covers no step, and is found from the steps beside it."""
        truth = Truth(starts=np.array([3]), stops=np.array([3]), n_steps=6, open_steps=np.ones(6, dtype=bool))
        assert truth.n == 1
        assert not truth.flags.any()
        alarms = np.array([0, 0, 1, 0, 0, 0], dtype=bool)
        trial = core_trial(truth, alarms, [1.0], Tolerance(early=1, late=1))
        assert (trial.recall_hits[0, 0], trial.precision_hits[0, 0]) == (1, 1)


class TestEmptyWindows:
    @settings(max_examples=60)
    @given(st.data())
    def test_laws_of_predictions_that_nothing_can_hit(self, data):
        """Both laws under permutation, with windows cut to nothing at the border, equal those of all placements."""
        n = data.draw(st.integers(2, 9))
        alarms = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
        m = data.draw(st.integers(1, n - 1))
        early, late = data.draw(st.sampled_from([(-1, 2), (-2, 2), (-2, 3), (2, -1), (3, -2), (-3, 5)]))
        trial = core_trial(Truth.of_flags(np.arange(n) < m), alarms, [1.0], Tolerance(early=early, late=late))
        at = np.flatnonzero(alarms)
        pairs = [slow_hits(np.array(e), np.array(e) + 1, at, early, late) for e in combinations(range(n), m)]
        for engine in (1e9, 0):
            laws = nf.nulls.Permutation(programme_operations=engine).distributions(trial.cell(0, 0))
            for law, hits in ((laws.precision, [p[0] for p in pairs]), (laws.recall, [p[1] for p in pairs])):
                expected = np.bincount(hits, minlength=law.size + 1) / len(pairs)
                np.testing.assert_allclose(law.table, expected, atol=1e-12)
                assert law.mean == pytest.approx(np.mean(hits), abs=1e-12)
                assert law.var == pytest.approx(np.var(hits), abs=1e-11)

    def test_merging_and_counting_skip_empty_ranges(self):
        """Ranges whose ends cross hold nothing."""
        ranges = Ranges(starts=np.array([0, 3, 6]), stops=np.array([2, 2, 9]))
        np.testing.assert_array_equal(union(ranges).starts, [0, 6])
        np.testing.assert_array_equal(within(np.array([1, 2, 7]), ranges), [1, 0, 1])
        np.testing.assert_array_equal(largest_within(np.arange(9.0), ranges), [1.0, -np.inf, 8.0])

    @settings(max_examples=150)
    @given(
        st.lists(st.tuples(st.booleans(), st.integers(0, 3), st.booleans()), min_size=1, max_size=20),
        st.integers(1, 4),
        st.integers(0, 3),
        st.booleans(),
    )
    def test_every_count_of_every_cell(self, steps, gap, width, late):
        """Windows that lie wholly beside the event, with masked steps, at thresholds from minus infinity on."""
        open_steps = np.array([is_open for _, _, is_open in steps])
        at = np.flatnonzero(open_steps)
        truth = Truth.of_flags(np.array([event for event, _, _ in steps])[at], None, open_steps)
        scores = np.array([score for _, score, _ in steps], dtype=float)[at]
        early, late = (-gap, gap + width) if late else (gap + width, -gap)
        thresholds = [-np.inf, 0.0, 1.0, 3.0]
        trial = core_trial(truth, scores, thresholds, Tolerance(early=early, late=late), open_steps)

        def counts(alarm, event):
            return at[event] - early <= at[alarm] <= at[event] + late

        for k, threshold in enumerate(thresholds):
            alarms = np.flatnonzero(scores >= threshold)
            assert trial.precision_hits[0, k] == sum(any(counts(p, q) for q in truth.starts) for p in alarms)
            assert trial.recall_hits[0, k] == sum(any(counts(p, q) for p in alarms) for q in truth.starts)
            assert trial.near_predictions[0, k] == sum(any(counts(p, q) for p in alarms) for q in range(len(at)))
            assert trial.cell(0, k).found.sum() == trial.recall_hits[0, k]
        assert trial.near_events[0] == sum(any(counts(p, q) for q in truth.starts) for p in range(len(at)))


class TestRefusals:
    @pytest.mark.parametrize(
        "null", ["permutation", "interval-shuffle", "local-permutation:windows=2", "seasonal:period=2", "bernoulli"]
    )
    def test_laws_of_single_steps_are_not_those_of_ranges(self, null):
        """Two ranges of two steps are not two single steps: no law is better than a wrong one."""
        truth = Truth(starts=np.array([1, 4]), stops=np.array([3, 6]), n_steps=8, open_steps=np.ones(8, dtype=bool))
        cell = core_trial(truth, np.arange(8) % 3 == 0, [1.0], Tolerance(early=1, late=1)).cell(0, 0)
        with pytest.raises(InputError, match='places events of one step each, but these are ranges: use null="auto"'):
            nf.nulls.as_null(null).distributions(cell)

    def trial(self):
        truth = Truth.of_flags(np.array([0, 1, 0, 0, 1, 0, 0, 0], dtype=bool))
        return core_trial(truth, [0, 2, 1, 2, 0, 0, 1, 3.0], [1.0, 2.0], Tolerance(early=1, late=1))

    def test_sides_of_different_length_do_not_meet(self):
        """Events on other steps than the detector's, or a detector with two columns."""
        with pytest.raises(InputError, match="one value for each of the 5 steps that count, got 8"):
            self.trial().with_truth(Truth.of_flags(np.zeros(5, dtype=bool)))
        with pytest.raises(InputError, match=r"each of the 8 steps that count, got shape \(8, 2\)"):
            self.trial().with_detector(np.zeros((8, 2)))

    @pytest.mark.parametrize("thresholds", [[2.0, 1.0], [1.0, np.nan]])
    def test_thresholds_ascend(self, thresholds):
        """Counts by one sort need an order."""
        with pytest.raises(InputError, match="thresholds of a trial must ascend"):
            self.trial().over((Tolerance(early=1, late=1),), np.array(thresholds))
