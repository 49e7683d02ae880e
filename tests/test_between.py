"""Events given as times between time stamps keep their own times: in hits, in chance, in sweeps and in diagnoses."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nofluke as nf
from nofluke.series.timed import TimedCell, TimedTrial

START = np.datetime64("2024-01-01T00:00:00")
MINUTE = np.timedelta64(60, "s")


@st.composite
def irregular(draw, most=40):
    """Stamps in whole minutes with uneven steps and no gap, events between them, alarms and a mask."""
    steps = draw(st.lists(st.integers(1, 8), min_size=4, max_size=most))
    stamps = np.cumsum([0, *steps])
    n = len(stamps)
    alarms = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    end = int(stamps[-1]) + int(np.ceil(np.median(np.diff(stamps))))
    events = draw(st.lists(st.integers(0, end - 1), min_size=1, max_size=8, unique=True))
    masked = np.zeros(n, dtype=bool)
    if draw(st.booleans()):
        masked[draw(st.integers(0, n - 1))] = True
    early, late = draw(st.integers(-3, 12)), draw(st.integers(-3, 12))
    late = max(late, -early)
    return stamps, alarms, np.array(sorted(events)), masked, early, late


def dates(minutes):
    return START + np.asarray(minutes) * MINUTE


def counted(stamps, alarms, events, masked, early, late):
    """Hits by a double loop over times; events in the time of a masked step are left out, as are its alarms."""
    owner = np.searchsorted(stamps, events, side="right") - 1
    events = events[~masked[owner]]
    at = stamps[alarms & ~masked]
    near = [[q - early <= p <= q + late for q in events] for p in at]
    return sum(map(any, near)), len(at), sum(any(row[j] for row in near) for j in range(len(events))), len(events)


@given(case=irregular())
def test_hits_are_those_of_the_raw_times(case):
    """On an irregular clock with a mask, both hits are those of a double loop over the times as they were given."""
    stamps, alarms, events, masked, early, late = case
    if masked.all():
        return
    result = nf.evaluate(
        dates(events),
        predictions=alarms,
        times=dates(stamps),
        mask=masked,
        tolerance=nf.Tolerance(early=f"{early}min", late=f"{late}min"),
        null="permutation",
    )
    told = (result.precision_hits, result.n_predictions, result.recall_hits, result.n_events)
    assert told == counted(stamps, alarms, events, masked, early, late)
    on_stamps = np.isin(events, stamps).all()
    assert isinstance(result.cell, TimedCell) is not on_stamps
    if not on_stamps:
        assert result.tolerant_truth is None
        assert result.tolerant_predictions is None


def test_the_event_before_the_alarm_is_found():
    """Stamps at 00:00, 06:00, 06:10, ..., an event at 05:59 and an alarm at 06:00: within an hour of each other."""
    times = np.concatenate([[START], START + np.timedelta64(6, "h") + 10 * np.arange(30) * MINUTE])
    alarms = np.arange(31) == 1
    result = nf.evaluate([START + 359 * MINUTE], predictions=alarms, times=times, tolerance="1h")
    assert (result.precision_hits, result.recall_hits, result.delays.median) == (1, 1, 60.0)
    assert any("lie in gaps of the clock" in note for note in result.notes)
    assert nf.evaluate([START + 359 * MINUTE], predictions=alarms, times=times, tolerance=0).recall_hits == 0


@settings(max_examples=40)
@given(case=irregular(most=7), null=st.sampled_from(["permutation", "circular-shift"]))
def test_chance_places_events_on_every_minute_that_was_watched(case, null):
    """Both p-values are those of all placements, or all rotations, over the minutes of the steps that count."""
    stamps, alarms, events, masked, early, late = case
    masked = masked & False
    events = events[:3]
    if np.isin(events, stamps).all():
        return
    tolerance = nf.Tolerance(early=f"{early}min", late=f"{late}min")
    result = nf.evaluate(
        dates(events), predictions=alarms, times=dates(stamps), tolerance=tolerance, null=null, method="exact"
    )
    ticks = result.cell.trial.watch
    unit = int(ticks.ticks.size // (60 * 10**9)) * ticks.stride  # few times may have a coarser tick than a minute
    end = int(stamps[-1]) + int(np.ceil(np.median(np.diff(stamps))))
    places = [t for t in range(end) if (t - events[0]) % unit == 0]
    assert ticks.n == len(places)
    if null == "permutation":
        placements = list(itertools.combinations(places, len(events)))
    else:
        index = [places.index(q) for q in events]
        placements = [[places[(i + s) % len(places)] for i in index] for s in range(len(places))]
    found = [counted(stamps, alarms, np.array(sorted(p)), masked, early, late) for p in placements]
    for at, test in ((0, result.precision_test), (2, result.recall_test)):
        as_well = sum(one[at] >= test.hits for one in found)
        assert test.pvalue == pytest.approx(as_well / len(found), rel=1e-9)


class TestSweeps:
    """Many thresholds and tolerances on events between stamps."""

    @staticmethod
    def data(rng=0, n=300, m=20):
        generator = np.random.default_rng(rng)
        stamps = np.cumsum(generator.integers(5, 40, n))
        scores = generator.random(n)
        events = np.sort(generator.choice(int(stamps[-1] - stamps[0]), m, replace=False)) + int(stamps[0])
        scores[np.searchsorted(stamps, events[::2])] += 0.5
        return stamps, scores, events

    @pytest.mark.parametrize("how", [{}, {"count_alarms": "episodes"}, {"higher_is": "normal"}])
    def test_each_cell_is_an_evaluation(self, how):
        """Counts and p-values of a sweep are those of evaluate at its thresholds, whatever alarms are counted as."""
        stamps, scores, events = self.data()
        given = {"times": dates(stamps), "null": "permutation", **how}
        curve = nf.sweep(dates(events), scores, quantiles=[0.6, 0.8, 0.95], tolerances=["5min", "20min"], **given)
        assert isinstance(curve.trial, TimedTrial)
        assert curve.n == len(stamps)
        for (d, delta), (k, quantile) in itertools.product(enumerate(["5min", "20min"]), enumerate([0.6, 0.8, 0.95])):
            one = nf.evaluate(dates(events), scores, quantile=quantile, tolerance=delta, **given)
            assert curve.precision_hits[d, k] == one.precision_hits
            assert curve.recall_hits[d, k] == one.recall_hits
            assert curve.n_predictions[k] == one.n_predictions
            assert curve.near_predictions[d, k] == one.cell.covered
            assert curve.chance.precision.pvalue[d, k] == pytest.approx(one.precision_test.pvalue, rel=1e-9)
            assert curve.chance.recall.pvalue[d, k] == pytest.approx(one.recall_test.pvalue, rel=1e-9)
        assert 0 < curve.familywise(n_resamples=199, rng=1).best_f <= 1

    def test_every_score_is_a_threshold(self):
        """Without thresholds there is one at each distinct score, and the counts are those of a double loop."""
        stamps, scores, events = self.data(n=60, m=6)
        curve = nf.sweep(dates(events), scores, times=dates(stamps), tolerances=["10min"])
        assert len(curve.thresholds) == len(np.unique(scores))
        for k, cut in enumerate(curve.thresholds):
            hits = counted(stamps, scores >= cut, events, np.zeros(60, dtype=bool), 10, 10)
            assert (curve.precision_hits[0, k], curve.n_predictions[k], curve.recall_hits[0, k]) == hits[:3]

    def test_steps_and_times_do_not_mix(self):
        """Events between stamps have no distance in steps: a mixture of tolerances is refused."""
        stamps, scores, events = self.data(n=60, m=6)
        with pytest.raises(nf.InputError, match="give all of them in time"):
            nf.sweep(dates(events), scores, times=dates(stamps), tolerances=[1, "10min"], quantiles=[0.9])

    @pytest.mark.parametrize(
        "null",
        [
            "local-shift:reach=2h",
            "local-permutation:windows=5",
            "seasonal:period=hour of day",
            "interval-shuffle",
            "auto",
        ],
    )
    def test_other_nulls_take_them(self, null):
        """With lengths in time; and results can be sent to another process."""
        stamps, scores, events = self.data()
        result = nf.evaluate(
            dates(events),
            scores,
            times=dates(stamps),
            quantile=0.9,
            tolerance="15min",
            null=null,
            n_resamples=299,
            rng=1,
        )
        assert 0 < result.recall_test.pvalue <= 1
        again = pickle.loads(pickle.dumps(result))
        assert again.recall_test.pvalue == result.recall_test.pvalue
        assert again.to_dict() == result.to_dict()

    def test_a_null_of_steps_is_refused(self):
        """With those that take times."""
        stamps, scores, events = self.data(n=60, m=6)
        with pytest.raises(nf.InputError, match="needs a grid of steps, but these events have their own times: use"):
            nf.evaluate(
                dates(events), scores, times=dates(stamps), quantile=0.9, tolerance="15min", null="blocks:length=5"
            )

    def test_a_diagnosis_recommends_a_null_that_evaluate_takes(self):
        """In lengths of time, with a note on what was looked at."""
        stamps, scores, events = self.data()
        found = nf.diagnose(dates(events), scores, times=dates(stamps), quantile=0.9, tolerance="15min")
        assert any("analysed on a grid" in note for note in found.notes)
        result = nf.evaluate(
            dates(events), scores, times=dates(stamps), quantile=0.9, tolerance="15min", null=found.recommended, rng=1
        )
        auto = nf.evaluate(dates(events), scores, times=dates(stamps), quantile=0.9, tolerance="15min", rng=1)
        assert result.null == auto.null


def test_an_episode_that_rotations_hit_in_several_places_counts_once():
    """Between its alarms an event is no hit: rotations of events off the stamps are those of a loop over raw times."""
    stamps, n = np.arange(0, 200, 10), 200
    episodes = [[30, 40, 50], [90, 100], [150]]
    alarms, events = np.isin(stamps, list(itertools.chain(*episodes))), np.array([33, 38, 71, 101, 149])

    def hit(at):
        return sum(any(abs(p - q) <= 2 for p in episode for q in at) for episode in episodes)

    result = nf.evaluate(
        dates(events),
        predictions=alarms,
        times=dates(stamps),
        tolerance="2min",
        count_alarms="episodes",
        null="circular-shift",
        n_resamples=20_000,
        rng=1,
    )
    assert result.cell.trial.watch.n == n
    every = [hit((events + s) % n) for s in range(n)]
    assert result.precision_hits == every[0] == 3
    share = np.mean([hits >= 3 for hits in every])
    assert result.precision_test.pvalue == pytest.approx(share, abs=4 * np.sqrt(share / 20_000))


def test_events_in_milliseconds_against_stamps_in_seconds():
    """The clock becomes as fine as the events, so that nothing is rounded."""
    stamps = START + np.arange(0, 600, 10).astype("timedelta64[s]")
    events = stamps[[5, 20, 40]].astype("datetime64[ms]") + np.timedelta64(1, "ms")
    alarms = np.isin(np.arange(60), [5, 20, 40])
    for tolerance, hits in (("0s", 0), ("1ms", 3)):
        result = nf.evaluate(events, predictions=alarms, times=stamps, tolerance=tolerance)
        assert (result.recall_hits, result.precision_hits) == (hits, hits)
    assert result.delays.values == pytest.approx([-0.001] * 3)


def test_numbers_as_times():
    """Events between stamps of floats, with a tolerance in the clock's unit: 0.3 is within 0.1 of 0.2 and 0.4."""
    stamps = np.arange(50) * 0.2
    events = [0.3, 2.5, 7.7]
    alarms = np.isin(np.arange(50), [1, 12, 30])
    tolerance = nf.Tolerance(early=0.1, late=0.1, unit="clock")
    result = nf.evaluate(events, predictions=alarms, times=stamps, truth_as="times", tolerance=tolerance)
    assert (result.recall_hits, result.precision_hits) == (2, 2)
    assert result.cell.trial.watch.n == 100  # places of a tenth


@settings(max_examples=60)
@given(case=irregular(), seed=st.integers(0, 99))
def test_alarms_given_as_times_keep_theirs_too(case, seed):
    """Both lists between the stamps: hits are those of a double loop over the raw times."""
    stamps, _, events, masked, early, late = case
    end = int(stamps[-1]) + int(np.ceil(np.median(np.diff(stamps))))
    alarms = np.sort(np.random.default_rng(seed).choice(end, min(end, 6), replace=False))
    if masked.all():
        return
    result = nf.evaluate(
        dates(events),
        predictions=dates(alarms),
        times=dates(stamps),
        mask=masked,
        tolerance=nf.Tolerance(early=f"{early}min", late=f"{late}min"),
        null="permutation",
    )
    kept, raised = (times[~masked[np.searchsorted(stamps, times, side="right") - 1]] for times in (events, alarms))
    near = [[q - early <= p <= q + late for q in kept] for p in raised]
    told = (result.precision_hits, result.n_predictions, result.recall_hits, result.n_events)
    assert told == (
        sum(map(any, near)),
        len(raised),
        sum(any(row[j] for row in near) for j in range(len(kept))),
        len(kept),
    )


class TestRunsOfAlarms:
    def test_runs_of_time_stamps_are_no_slow_change(self):
        """A long run of alarms is one alarm to auto, whether events lie on the stamps or between them."""
        rng = np.random.default_rng(2)
        times = np.datetime64("2024-01-01", "s") + np.arange(16_000) * np.timedelta64(300, "s")
        scores = rng.random(len(times))
        scores[:600] += 2.0  # a detector that has to warm up
        for start in rng.choice(np.arange(1_000, 15_000), 12, replace=False):
            scores[start : start + 25] += 2.0
        on = times[np.sort(rng.choice(len(times), 4, replace=False))]
        asked = {"times": times, "threshold": 1.5, "tolerance": "6h"}
        there, between = (nf.evaluate(truth, scores, **asked) for truth in (on, on + np.timedelta64(97, "s")))
        assert between.null.text == there.null.text == "circular-shift"
        assert between.recall_test.pvalue == pytest.approx(there.recall_test.pvalue, abs=0.02)


class TestDenseStamps:
    """On a clock whose stamps come in dense and sparse stretches."""

    @staticmethod
    def clock():
        return np.cumsum(np.tile(np.repeat([1, 8], 60), 5))

    def ask(self, seed, follow, **how):
        generator = np.random.default_rng(seed)
        stamps = self.clock()
        if follow:
            at = stamps[np.sort(generator.choice(len(stamps) - 1, 40, replace=False))] * 60 + 7
        else:
            at = np.sort(generator.choice(np.arange(stamps[0], stamps[-1]) * 60 + 7, 40, replace=False))
        events = START + at.astype("timedelta64[s]")
        return nf.evaluate(
            events, generator.random(len(stamps)), times=dates(stamps), quantile=0.9, tolerance="5min", rng=1, **how
        )

    def test_events_that_follow_the_stamps_cannot_be_told_from_skill(self):
        """Alarms lie on stamps: events that do, too, meet them more often than events at any time would."""
        found = [self.ask(seed, follow=True, n_resamples=99) for seed in range(10)]
        assert {one.verdict for one in found} == {"cannot tell"}
        assert "Pass a tolerance in steps" in found[0].reason
        named = self.ask(0, follow=True, null="permutation")
        assert "time stamps are dense" in named.settings.choice.doubts[0]

    def test_events_at_any_time_are_told(self):
        """About one in twenty of them looks as if it followed the stamps, and no more."""
        found = [self.ask(seed, follow=False, n_resamples=99) for seed in range(20)]
        assert sum("time stamps are dense" in one.reason for one in found) <= 4
        assert sum(one.verdict == "no" for one in found) >= 12
