"""What work and memory grow with: counted in calls, pairs and bytes, never in time."""

import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nofluke as nf
from nofluke.laws.exact import moments
from nofluke.laws.exact.moments import Moments, precision_moments
from nofluke.laws.montecarlo import Problem, kernels
from nofluke.nulls import shifts
from nofluke.nulls.seasonal import numbered
from nofluke.series.counting import Windows, runs
from nofluke.series.tolerance import Ranges


def calls(function):
    """How many functions, of Python and of C, are called meanwhile; once before, so that all is compiled."""
    function()
    count = 0

    def see(_frame, event, _argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(see)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def peak_bytes(function):
    """The most memory that is held at a time meanwhile; once before, so that all is compiled."""
    function()
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def truth_of(flags, **more):
    """The events of a series without alarms."""
    return nf.evaluate(flags, predictions=np.zeros(len(flags)), null="bernoulli", **more).cell.truth


class TestStrata:
    @settings(max_examples=60)
    @given(st.data())
    def test_draws_are_those_of_one_stratum_after_the_other(self, data):
        """One compiled call for all strata draws what one call for each of them does, from the same seed."""
        n = data.draw(st.integers(2, 150))
        rng = np.random.default_rng(data.draw(st.integers(0, 1_000)))
        flags, masked = rng.random(n) < data.draw(st.sampled_from([0.05, 0.4, 0.9])), rng.random(n) < 0.1
        truth = truth_of(flags, mask=masked & (np.arange(n) > 1))
        null = nf.nulls.Seasonal(period=data.draw(st.integers(2, n)), windows=data.draw(st.integers(1, 2)))
        strata, generator = null.strata_of(truth), np.random.default_rng(7)
        expected = []
        for stratum in range(strata.max() + 1):
            steps = np.flatnonzero(strata == stratum)
            chosen = np.empty((5, truth.flags[steps].sum()), dtype=np.uint32)
            if chosen.size:
                kernels.draw_placements(generator.integers(2**64, dtype=np.uint64), len(steps), chosen)
            expected.append(steps[chosen])
        drawn = null.draw(truth)(np.random.default_rng(7), 5)
        np.testing.assert_array_equal(drawn, np.sort(np.concatenate(expected, axis=1), axis=1))

    def test_calls_do_not_grow_with_the_strata(self):
        """Neither to prepare draws nor to draw is anything called for each stratum: 10⁷ steps may have 10⁵ of them."""
        rng = np.random.default_rng(0)
        truth = truth_of(rng.random(4_000) < 0.5)

        def drawn(windows):
            null = nf.nulls.LocalPermutation(windows=windows)
            return calls(lambda: null.draw(truth)(np.random.default_rng(0), 3))

        assert drawn(400) == drawn(4)

    @given(st.lists(st.integers(0, 30), min_size=1, max_size=20), st.sampled_from([1, 10**12]))
    def test_numbered_labels_are_their_ranks(self, labels, factor):
        """Labels without gaps, in the same order, however large the labels are."""
        labels = np.array(labels, dtype=np.int64) * factor
        np.testing.assert_array_equal(numbered(labels), np.unique(labels, return_inverse=True)[1])


class TestRotations:
    @pytest.mark.slow
    @settings(max_examples=60)
    @given(st.data())
    def test_many_pairs_are_counted_as_few_are(self, data):
        """The compiled loop, which takes over where there are many pairs of ranges, counts what a look at each does."""
        n = data.draw(st.integers(1, 40))
        moved = runs(np.flatnonzero(data.draw(st.lists(st.booleans(), min_size=n, max_size=n))))
        starts = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=5)))
        stops = np.array([data.draw(st.integers(start + 1, n)) for start in starts.tolist()])
        flags = np.zeros(n, dtype=bool)
        for start, stop in zip(moved.starts, moved.stops, strict=True):
            flags[start:stop] = True
        expected = [sum(np.roll(flags, s)[a:b].any() for a, b in zip(starts, stops, strict=True)) for s in range(n)]
        for at_once in (shifts.AT_ONCE, 0):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(shifts, "AT_ONCE", at_once)
                found = shifts.touched_by_shift(Ranges(starts=starts, stops=stops), moved, n)
            np.testing.assert_array_equal(found, expected)

    def test_memory_does_not_grow_with_pairs_of_ranges(self):
        """Ranges of many lengths against many alarms: some numbers for each step, not for each pair of them."""
        n, rng = 50_000, np.random.default_rng(0)
        moved = runs(np.sort(rng.choice(n, 4_000, replace=False)))
        starts = np.arange(0, n - 500, 40)
        fixed = Ranges(starts=starts, stops=starts + rng.integers(1, 400, len(starts)))
        assert len(starts) * len(moved.starts) > shifts.AT_ONCE
        assert peak_bytes(lambda: shifts.touched_by_shift(fixed, moved, n)) < 80 * n

    @pytest.mark.parametrize("n", [997, 2 * 1_009, 7 * 11 * 13, 1_024])
    def test_transforms_have_no_large_prime_factors(self, n, monkeypatch):
        """Circles of any length are correlated exactly, and by transforms that are fast whatever that length is."""
        from scipy import fft

        rng, lengths, transform = np.random.default_rng(n), [], fft.rfft
        moved, fixed = rng.random((2, n)) < 0.3

        def spied(values, n=None):
            lengths.append(len(values) if n is None else n)
            return transform(values, n=n)

        monkeypatch.setattr(fft, "rfft", spied)
        found = shifts.around(nf.evaluate(moved, predictions=fixed, null="bernoulli").cell, n)[0]
        np.testing.assert_array_equal(found, [(np.roll(moved, s) & fixed).sum() for s in range(n)])
        for length in lengths:
            assert all(length % prime for prime in (997, 1_009))

    @settings(max_examples=80)
    @given(st.data())
    def test_steps_near_alarms_are_those_whose_events_would_be_found(self, data):
        """From the windows of the alarms alone, on any clock, under any mask, with tolerances of any sign."""
        n = data.draw(st.integers(1, 25))
        rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
        early = data.draw(st.integers(-3, 6))
        tolerance = nf.Tolerance(early=early, late=data.draw(st.integers(max(-early, 0), 6)), unit="clock")
        cell = nf.evaluate(
            rng.random(n) < 0.3,
            predictions=rng.random(n) < 0.3,
            tolerance=tolerance,
            times=np.cumsum(rng.integers(1, 5, n)),
            mask=(rng.random(n) < 0.2) & (np.arange(n) > 0),
            count_alarms=data.draw(st.sampled_from(["steps", "episodes"])),
            null="circular-shift",
        ).cell
        cover = zip(cell.cover.starts, cell.cover.stops, strict=True)
        np.testing.assert_array_equal(cell.near_alarm, [cell.alarm_flags[a:b].any() for a, b in cover])


class TestLongTolerances:
    def test_memory_does_not_grow_with_events_times_draws(self):
        """Episodes are counted placement by placement: 200 placements of 5,000 events are held, and little beside."""
        n = 10_000
        truth, alarms = np.arange(n) % 2 == 1, np.arange(n) % 4 == 0
        cell = nf.evaluate(truth, predictions=alarms, tolerance=40, count_alarms="episodes", null="circular-shift").cell
        problem = Problem.of(cell.trial)
        rows = np.sort(np.random.default_rng(0).permuted(np.tile(np.arange(n), (200, 1)), axis=1)[:, :5_000], axis=1)
        rows = rows.astype(np.uint32)
        assert peak_bytes(lambda: problem.episodes.hits(rows)) < rows.nbytes

    @settings(max_examples=80)
    @given(st.data())
    def test_episodes_are_hit_by_events_on_any_of_their_stretches(self, data):
        """Counted by a walk along events and stretches, as one would by looking at each pair of them."""
        n = data.draw(st.integers(1, 30))
        rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
        early = data.draw(st.integers(-4, 6))
        cell = nf.evaluate(
            rng.random(n) < 0.3,
            predictions=rng.random(n) < 0.5,
            tolerance=nf.Tolerance(early=early, late=data.draw(st.integers(max(-early, 0), 6)), unit="clock"),
            times=np.cumsum(rng.integers(1, 5, n)),
            count_alarms="episodes",
            null="circular-shift",
        ).cell
        rows = np.sort(rng.integers(0, n, (4, data.draw(st.integers(1, 8)))), axis=1)
        found, hit_by = Problem.of(cell.trial).episodes.hits(rows), cell.stretches
        for row, hits in zip(rows, found[:, 0, 0], strict=True):
            touched = [(hit_by.starts <= event) & (event < hit_by.stops) for event in row]
            assert hits == len(set(hit_by.of[np.any(touched, axis=0)].tolist()))

    def test_windows_at_borders_are_no_pairs_to_look_at(self, monkeypatch):
        """Where windows are long, most overlapping pairs have one that a border cuts off: these are sums, not pairs."""
        looked, index_pairs = [], moments.index_pairs

        def spied(rows, first, end):
            looked.append(int(np.maximum(end - first, 0).sum()))
            return index_pairs(rows, first, end)

        monkeypatch.setattr("nofluke.laws.exact.moments.index_pairs", spied)
        at = np.arange(0, 20_000, 2)
        precision_moments(
            Windows(starts=np.maximum(at - 4_000, 0), stops=np.minimum(at + 4_001, 20_000), n_steps=20_000), 40
        )
        assert sum(looked) == 0

    def test_windows_that_hold_an_event_for_all_a_double_can_tell_are_certain(self, monkeypatch):
        """Half of the steps are events, and windows are thousands of steps long: no table of π, no pairs."""
        monkeypatch.setattr("nofluke.laws.exact.moments._Miss", None)
        at = np.arange(0, 20_000, 2)
        windows = Windows(starts=np.maximum(at - 4_000, 0), stops=np.minimum(at + 4_001, 20_000), n_steps=20_000)
        assert precision_moments(windows, 10_000) == Moments(mean=10_000.0, var=0.0)
