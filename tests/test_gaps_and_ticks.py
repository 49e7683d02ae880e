"""What the span, the gaps and the size of the numbers do to the tick, and how times and windows are told."""

import numpy as np
import pytest

import nofluke as nf

JANUARY = ("2024-01-01", "2024-01-31")


class TestFewTimes:
    def test_a_gap_between_coarse_ticks_is_not_lost(self):
        """Two times may be two days apart by accident; a gap of one day between them is still a gap."""
        found = nf.coincidence(
            ["2024-01-05"], ["2024-01-07"], tolerance="2d", span=JANUARY, gaps=[("2024-01-06", "2024-01-06")]
        )
        assert (found.tick, found.n, found.watched) == ("1d", 30, 30 * 86_400)
        found = nf.coincidence([10, 20], [20, 40], tolerance=10, span=(0, 100), gaps=[(53, 57)])
        assert (found.tick, found.n) == ("1", 96)

    def test_a_span_of_whole_days_is_watched_as_long_as_it_lasts(self):
        """January has 31 days, however far apart the times are."""
        found = nf.coincidence(["2024-01-05"], ["2024-01-07"], tolerance="2d", span=JANUARY)
        assert (found.tick, found.watched) == ("1d", 31 * 86_400)


class TestSizesOfNumbers:
    @pytest.mark.parametrize("size", [1e300, 1e-300, 5e-324])
    def test_floats_near_the_ends_of_their_range_are_refused(self, size):
        """Their squares are no numbers: another unit is the remedy."""
        with pytest.raises(nf.InputError, match="change their unit"):
            nf.coincidence(np.array([1, 2, 3.0]) * size, np.array([1, 2.0]) * size, tolerance=0)

    @pytest.mark.parametrize("size", [1e90, 1e-90])
    def test_other_units_change_nothing(self, size):
        """As long as numbers can be squared."""
        events, alarms = np.array([1, 2, 3.0]), np.array([1, 2.5])
        plain, scaled = (
            nf.coincidence(events * unit, alarms * unit, tolerance=0.1 * unit, span=(0, 5 * unit))
            for unit in (1.0, size)
        )
        assert (scaled.n, scaled.recall_test.pvalue) == (plain.n, plain.recall_test.pvalue)


class TestWords:
    def test_a_span_that_begins_at_0_says_so(self):
        """Though the first tick of unrounded times is only near it."""
        events, alarms = (np.random.default_rng(seed).random(30) * 100 for seed in (0, 1))
        found = nf.coincidence(events, alarms, tolerance=1, span=(0, 100))
        assert found.to_dict()["span"] == ["0", "100"]

    @pytest.mark.parametrize("tolerance", [0, "0s"])
    def test_a_tolerance_of_0_is_told_in_the_unit_of_the_times(self, tolerance):
        """Units for numbers, and none for dates: nothing is as long in days as in seconds."""
        found = nf.coincidence(JANUARY, JANUARY, tolerance=tolerance, span=JANUARY)
        assert (str(found.tolerance), found.to_dict()["tolerance"]) == ("0", "0s")
        assert str(nf.coincidence([3, 4], [4, 5], tolerance=tolerance, span=(0, 9)).tolerance) == "0 time units"

    def test_json_has_the_lag_and_the_width(self):
        """The tolerance is the window as it was moved."""
        told = nf.coincidence(JANUARY, JANUARY, tolerance="1d", lag="-2d", span=JANUARY).to_dict()
        assert (told["tolerance"], told["width"], told["lag"]) == ({"early": "3d", "late": "-1d"}, "1d", "-2d")
        told = nf.coincidence([3, 4], [4, 5], tolerance=0.1, lag=0.3, span=(0, 9)).to_dict()
        assert (told["width"], told["lag"]) == (0.1, 0.3)

    def test_a_prediction_between_stamps_is_on_no_step(self):
        """Without a tolerance it is at the very time of the event, or not."""
        clock = ["2024-01-01T00:00", "2024-01-01T01:00", "2024-01-01T02:00"]
        found = nf.evaluate(["2024-01-01T00:30"], predictions=[1, 0, 0], times=clock, tolerance="0s")
        assert "at the time of an event" in found.sentences()[0]
        assert "at the time of a prediction" in found.sentences()[1]


class TestNotes:
    def test_gaps_of_days_beside_finer_times_end_at_midnight(self):
        """As ranges do, and a note says so; not where ticks are days, or where gaps have times of day."""
        hours = (["2024-01-05T12:00"], ["2024-01-07T13:00"])
        days, moments = [("2024-01-06", "2024-01-06")], [("2024-01-06T00:00", "2024-01-06T23:59:59")]
        note = "Gaps end on dates without a time of day"
        told = [nf.coincidence(*hours, tolerance="2d", span=JANUARY, gaps=gaps).notes for gaps in (days, moments)]
        assert [any(line.startswith(note) for line in notes) for notes in told] == [True, False]
        whole = nf.coincidence(["2024-01-05"], ["2024-01-07"], tolerance="2d", span=JANUARY, gaps=days)
        assert not any(line.startswith(note) for line in whole.notes)

    def test_events_that_stay_on_their_hours_are_not_said_to_have_a_tick_of_a_second(self):
        """One note tells of their resolution, and no other one contradicts it."""
        events = np.datetime64("2024-01-01T00:00", "s") + np.cumsum(1 + np.arange(100) % 3) * np.timedelta64(3_600, "s")
        found = nf.coincidence(events, ["2024-01-02T03:04:05"], tolerance="1h", span=JANUARY)
        assert found.tick == "1h"
        assert not any("but the tick is" in note for note in found.notes)


def test_a_span_that_is_guessed_from_a_handful_of_times_tells_nothing():
    """Its ends are the times themselves; with the span, or with more times, there is an answer."""
    times = ["2024-01-01T05:59", "2024-01-03T07:13:20"]
    guessed = nf.coincidence(times, times, tolerance="1h")
    assert guessed.verdict == "cannot tell"
    assert "The span is a guess" in guessed.reason
    assert nf.coincidence(times, times, tolerance="1h", null="permutation").settings.choice.doubts
    known = nf.coincidence(times, times, tolerance="1h", span=("2024-01-01", "2024-01-31"))
    assert "guess" not in known.reason


def test_a_sweep_goes_by_its_widest_window():
    """The order of tolerances and lags does not change the null that auto takes."""
    rng = np.random.default_rng(1)
    events, alarms = (np.sort(rng.choice(2_000, k, replace=False)) for k in (40, 50))
    nulls = {
        nf.sweep_tolerances(events, alarms, tolerances=tolerances, lags=[-2, 0, 2], span=(0, 2_000)).null.text
        for tolerances in ([0, 2, 5], [5, 2, 0], [2, 5, 0])
    }
    assert len(nulls) == 1
