"""The resolution of lists of times: found where times are rounded, as fine as floats if not, exact in between."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import nofluke as nf
from nofluke.series.ticks import Ticks, WatchedTime, less_gaps, resolution
from nofluke.series.tolerance import Ranges

STEPS = [
    1 / 44_100, 1 / 48_000, 1 / 22_050, 1 / 30, 1 / 29.97, 1_001 / 24_000, 1 / 7, 1 / 3, 1 / 12, 1 / 365.25,
    2 * math.pi / 100, 0.0123456789123, 1 / math.sqrt(2),
]  # fmt: skip
"""Steps between two samples that no decimal number is, and some that no short fraction is either."""


def samples(rng, top, many):
    """Two lists of sample numbers of the widest spread, whose common divisor is 1."""
    return (np.sort(rng.choice(top, many, replace=False)) for _ in range(2))


class TestResolution:
    """What a tick is."""

    @pytest.mark.parametrize("step", STEPS)
    @pytest.mark.parametrize("top", [10**4, 10**6])
    @pytest.mark.parametrize("many", [5, 10, 30, 1_000])
    def test_samples_are_seen_for_what_they_are(self, step, top, many):
        """Frames, sound and anything else sampled: the tick is a sample, and lengths are whole numbers of samples."""
        for seed in range(3):
            events, alarms = samples(np.random.default_rng([seed, many]), top, many)
            ticks, stride = resolution(events * step, alarms * step, [17 * step], np.array([0, top * step]))
            assert ticks.rounded
            assert stride == 1
            assert float(ticks.size) == pytest.approx(step, rel=1e-9)
            np.testing.assert_array_equal(ticks.of(events * step), events - events[0])
            np.testing.assert_array_equal(ticks.of(alarms * step), alarms - events[0])
            for length in range(1, 60):
                assert ticks.floor(length * step) == length

    @pytest.mark.slow
    @pytest.mark.parametrize("rate", [44_100, 48_000, 30, 25, 7])
    def test_samples_give_the_numbers_of_their_sample_numbers(self, rate):
        """p-values and all."""
        rng = np.random.default_rng(rate)
        events, alarms = samples(rng, 10**6, 200)
        for length in rng.integers(1, 3_000, 5):
            one = nf.coincidence(events, alarms, tolerance=int(length), span=(0, 10**6), null="permutation")
            other = nf.coincidence(
                events / rate, alarms / rate, tolerance=length / rate, span=(0, 10**6 / rate), null="permutation"
            )
            assert (one.n, one.recall_hits, one.precision_hits) == (other.n, other.recall_hits, other.precision_hits)
            assert one.recall_test.pvalue == other.recall_test.pvalue

    @pytest.mark.parametrize("offset", [0.0, 1e3, 1.6e9])
    @pytest.mark.parametrize("wide", [1.0, 100.0, 1e5])
    @pytest.mark.parametrize("many", [3, 10, 40])
    def test_times_without_a_resolution_have_none(self, offset, wide, many):
        """Then ticks are as fine as floats can tell apart."""
        for seed in range(10):
            rng = np.random.default_rng([seed, many])
            events, alarms = (np.sort(offset + rng.random(many) * wide) for _ in range(2))
            ticks, stride = resolution(events, alarms, [0.1], np.array([offset, offset + wide]))
            assert not ticks.rounded or ticks.size < 100 * np.spacing(offset + wide)
            assert stride == 1

    @pytest.mark.parametrize(("digits", "offset"), [(1, 0.0), (3, 1.6e9), (2, -5e6), (6, 0.5), (3, 1e11)])
    def test_decimals_are_found_far_from_zero_too(self, digits, offset):
        """Epoch seconds with milliseconds, and the like."""
        rng = np.random.default_rng(digits)
        events, alarms = (np.round(offset + np.sort(rng.choice(10**5, 30)) / 10**digits, digits) for _ in range(2))
        ticks, _ = resolution(events, alarms, [1.0], np.array([offset, offset + 10**5]))
        assert ticks.rounded
        assert ticks.size == Fraction(1, 10**digits)

    @given(st.lists(st.integers(-(10**6), 10**6), min_size=20, max_size=40, unique=True), st.integers(1, 10**6))
    def test_whole_times_have_their_common_divisor(self, times, unit):
        """Whatever the tolerance, where there are enough of them."""
        events = np.sort(np.array(times) * unit)
        ticks, stride = resolution(events, events[:5], [1], np.array([events[0], events[-1] + 1]))
        assert ticks.size == int(np.gcd.reduce(np.diff(events)))
        assert stride == 1
        np.testing.assert_array_equal(ticks.times(ticks.of(events)), events)

    def test_few_times_leave_the_tolerance_and_the_span_a_say(self):
        """A common divisor of three times may be an accident."""
        ticks, _ = resolution(np.array([0, 600]), np.array([1200]), [90], np.array([0, 3600]))
        assert ticks.size == 30
        assert nf.coincidence(["2020-01-01"], ["2020-03-01"], tolerance="7h").tick == "1h"

    @pytest.mark.parametrize("events", [[0, 1_234_567], [0, 6_000, 15_000], [0, 10**9]])
    def test_two_or_three_events_have_no_resolution_of_their_own(self, events):
        """Two of them always have a common divisor, which says nothing."""
        _, stride = resolution(np.array(events), np.array([5, 77, 1_001]), [5], np.array([0, 10**10]))
        assert stride == 1

    def test_events_in_days_beside_alarms_in_seconds_stay_in_days(self):
        """And are told so."""
        rng = np.random.default_rng(1)
        days = np.sort(rng.choice(1_000, 20, replace=False)) * 86_400
        ticks, stride = resolution(days, np.sort(rng.integers(0, 86_400_000, 50)), [60], np.array([0, 86_400_000]))
        assert (ticks.size, stride) == (1, 86_400)

    def test_a_dozen_events_at_noon_stay_there_beside_alarms_at_midnight(self):
        """Half of the ticks cannot hold events: chance that used them would find a third fewer than the data can."""
        rng = np.random.default_rng(1)
        noons, midnights = rng.choice(500, 12, replace=False) * 2 + 1, rng.choice(500, 40, replace=False) * 2
        found = nf.coincidence(noons, midnights, tolerance=1, span=(0, 999), null="permutation")
        assert (found.n, found.tick) == (500, "2")
        beside = {day for midnight in midnights for day in (midnight - 1, midnight + 1) if 0 <= day <= 999}
        assert found.recall_test.expected == pytest.approx(12 * len(beside) / 500)

    @pytest.mark.parametrize(("unit", "length"), [("s", 10**9), ("ms", 10**6), ("us", 1_000), ("ns", 1)])
    def test_dates_have_the_tick_of_what_they_are_rounded_to(self, unit, length):
        """In whatever unit they are stored: a day is a day, a minute a minute."""
        del length
        for rounded, words in (("D", "1d"), ("h", "1h"), ("m", "1min"), ("s", "1s")):
            rng = np.random.default_rng(7)
            at = np.datetime64("2013-05-05", rounded) + np.sort(rng.choice(5_000, 60, replace=False))
            found = nf.coincidence(
                at[::2].astype(f"M8[{unit}]"), at[1::2].astype(f"M8[{unit}]"), tolerance="5d", null="permutation"
            )
            assert found.tick == words

    def test_times_that_are_mostly_days_are_pointed_out(self):
        """One time with minutes among hundred days makes the tick a minute: the note offers tick='1d'."""
        days = (np.datetime64("2015-01-01") + np.arange(0, 900, 9)).astype("M8[m]")
        days[4] += 77
        found = nf.coincidence(days, days[::3] + np.timedelta64(1, "D"), tolerance="1d")
        assert any('tick="1d"' in note for note in found.notes)
        assert nf.coincidence(days, days[::3] + np.timedelta64(1, "D"), tolerance="1d", tick="1d").tick == "1d"


class TestTick:
    """A tick that is given."""

    @given(
        st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=9, unique=True),
        st.integers(1, 999),
        st.integers(0, 5_000),
    )
    def test_times_are_rounded_down_and_lengths_too(self, times, tick, tolerance):
        """As whole numbers divide, below zero as well."""
        once = sorted({time // tick for time in times})
        assume(len(once) == len(times))
        found = nf.coincidence(times, [0], tolerance=tolerance, tick=tick, null="permutation")
        assert found.sequence.events.tolist() == once
        assert found.recall_hits == sum(abs(time) <= tolerance // tick for time in once)

    @pytest.mark.parametrize("tick", [0.1, 0.3, 1 / 3, 0.7])
    def test_floats_on_a_tick_are_on_it(self, tick):
        """Multiples of a float are not rounded to the tick before."""
        times = np.arange(2, 500, 3) * tick
        found = nf.coincidence(times, times[::7], tolerance=3 * tick, tick=tick, null="permutation")
        np.testing.assert_array_equal(np.diff(found.sequence.events), 3)
        assert (found.cell.reach.early, found.cell.reach.late) == (3, 3)

    @given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(-(10**6), 10**6))
    def test_a_length_has_as_many_ticks_as_fit(self, number, rate, length):
        """Fractions of whole numbers are exact; floats on a tick are on it."""
        ticks = Ticks(origin=0, size=Fraction(number, rate))
        assert ticks.floor(Fraction(length, 7)) == math.floor(Fraction(length, 7) / Fraction(number, rate))
        assert ticks.floor(float(length * ticks.size)) == length
        assert ticks.floor(length) == length * rate // number

    def test_decimals_are_taken_at_their_word(self):
        """0.3 is three times 0.1, and a lag of 0.1 leaves 0.2 of it."""
        times = np.arange(40) / 10
        found = nf.coincidence(times, times[::9], tolerance=0.3, lag=0.1, null="permutation")
        assert (found.cell.reach.early, found.cell.reach.late) == (2, 4)

    def test_windows_that_hold_no_tick_find_nothing(self):
        """Between 0.2 and 0.4 after a whole number there is none."""
        times = np.arange(0, 300, 7)
        found = nf.coincidence(times, times, tolerance=0.1, lag=0.3, tick=1)
        assert (found.recall_hits, found.precision_hits) == (0, 0)
        assert found.recall_test.pvalue == 1


class TestLimits:
    """As far as 64 bits go, and no further."""

    @pytest.mark.parametrize("first", [-(2**62), 0, 2**62 - 2**60, -(2**59)])
    def test_spans_of_two_to_the_sixty_ticks_are_taken(self, first):
        """Wherever they lie."""
        events = [first + at for at in (1, 2**30, 2**59, 2**60 - 5)]
        alarms = [first + at for at in (3, 2**59 + 1, 2**60 - 4)]
        found = nf.coincidence(events, alarms, tolerance=2, span=(first, first + 2**60), tick=1, rng=1)
        assert (found.n, found.recall_hits, found.precision_hits) == (2**60 + 1, 3, 3)
        assert 0 < found.recall_test.pvalue < 1e-9

    @pytest.mark.parametrize("times", [[0, 2**61], [-(2**63), 2**63 - 1], [-(2.0**62), 2.0**62]])
    def test_longer_ones_are_refused_with_a_remedy(self, times):
        """A coarser tick makes them short."""
        with pytest.raises(nf.InputError, match=r"longer than 2\*\*60 ticks of 1: pass a coarser tick="):
            nf.coincidence(times, [1], tolerance=2, tick=1)
        assert nf.coincidence(times, [1], tolerance=2, tick=2**10).n >= 2**51

    @pytest.mark.parametrize("tolerance", [2**59, 2**62, 2**63, 10**25, 1e300])
    def test_windows_as_long_as_anything_hold_everything(self, tolerance):
        """A tolerance beyond 64 bits is as good as one as long as the span."""
        found = nf.coincidence([3, 80], [50], tolerance=tolerance, span=(0, 2**58), tick=1, null="permutation")
        assert (found.recall, found.precision) == (1, 1)
        assert found.recall_test.pvalue == 1

    @pytest.mark.parametrize("lag", [2**59, 2**62, 2**63, 10**25, 1e300, -(2**63), -1e300])
    def test_lags_beyond_anything_find_nothing(self, lag):
        """No alarm is that far off."""
        found = nf.coincidence([3, 80], [50], tolerance=1, lag=lag, span=(0, 2**58), tick=1, null="permutation")
        assert (found.recall, found.precision) == (0, 0)

    @pytest.mark.slow
    def test_a_hundred_thousand_times_need_memory_for_them_alone(self):
        """Reading and counting 10⁵ against 10⁵ unrounded times."""
        import tracemalloc

        rng = np.random.default_rng(1)
        events, alarms = (np.sort(rng.random(100_000)) * 1e5 for _ in range(2))
        tracemalloc.start()
        found = nf.coincidence(events, alarms, tolerance=0.5, span=(0.0, 1e5), null="permutation")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert found.n > 10**15
        assert 0.01 < found.recall_test.pvalue < 1
        assert peak < 500 * 2**20


@given(st.lists(st.tuples(st.integers(-5, 45), st.integers(0, 8)), max_size=5), st.integers(1, 5), st.data())
def test_places_are_what_lists_of_ticks_say(gaps, stride, data):
    """Watched ticks, places on every so many of them, and back."""
    gaps = sorted((begin, begin + long) for begin, long in gaps)
    left = less_gaps(0, 40, Ranges(starts=np.array([a for a, _ in gaps], dtype=np.int64), stops=np.array([b for _, b in gaps], dtype=np.int64)))  # fmt: skip
    watched = [t for t in range(41) if not any(a <= t < b for a, b in gaps)]
    assume(watched)
    watch = WatchedTime(ticks=Ticks(origin=0, size=Fraction(1)), starts=left.starts, stops=left.stops, stride=stride)
    places = [t for t in watched if t % stride == 0]
    assert (watch.n, watch.watched) == (len(places), len(watched))
    assume(places)
    every = np.arange(-5, 50)
    assert watch.places_before(every).tolist() == [sum(t < tick for t in places) for tick in every]
    assert watch.holds(every).tolist() == [tick in watched for tick in every]
    assert watch.at(np.arange(len(places))).tolist() == places
    first = data.draw(st.integers(-5, 45))
    last = first + data.draw(st.integers(0, 9))
    found = watch.places(np.array([first]), np.array([last]))
    assert list(range(found.starts[0], found.stops[0])) == [k for k, t in enumerate(places) if first <= t <= last]
