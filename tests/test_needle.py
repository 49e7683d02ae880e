"""Hits of a whole study at other shifts: what they say about skill, seasons and slow changes."""

import numpy as np
import pytest

import nofluke as nf
from nofluke.series.detector import AlarmRule
from nofluke.series.reading import prepare
from nofluke.series.tolerance import Tolerance
from nofluke.series.trial import Trial
from nofluke.studies.draws import farthest, hits_at_shifts
from nofluke.studies.pooled import look
from nofluke.studies.rows import add_middle


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("count", ["steps", "episodes"])
@pytest.mark.parametrize("ranges", [False, True])
def test_hits_at_shifts_are_those_of_rotated_events(ranges, count, known):
    """Counted one by one, either way around the circle; whether or not all rotations have been counted before."""
    rng = np.random.default_rng(0)
    truth, alarms = rng.random(60) < 0.1, rng.random(60) < 0.15
    if ranges:
        truth[30:36] = True
    tolerance = Tolerance(early=1, late=2)
    sequence = prepare(truth, predictions=alarms, count_events="steps")
    cell = Trial.of(sequence, (tolerance,), None, AlarmRule.of(count_alarms=count)).cell(0, 0)
    if known:
        nf.nulls.CircularShift().distributions(cell)
    found = hits_at_shifts(cell)
    assert len(found) == 2 * 29 + 1
    wanted = []
    for shift in range(-29, 30):
        rolled = np.roll(truth, shift)
        result = nf.evaluate(
            rolled,
            predictions=alarms,
            tolerance=tolerance,
            null="circular-shift",
            count_events="steps",
            count_alarms=count,
        )
        wanted.append((result.precision_hits, result.recall_hits))
    np.testing.assert_array_equal(found, wanted)


def test_shifts_are_less_than_half_of_the_shortest_series():
    """And at most some hundred; of several series, those that all of them have."""
    assert farthest(60) == 29
    assert farthest(10**6) == 500
    assert farthest(1) == 0
    one, other = np.arange(14).reshape(7, 2), np.arange(6).reshape(3, 2)
    np.testing.assert_array_equal(add_middle(one, other), one[2:5] + other)
    np.testing.assert_array_equal(add_middle(other, one), one[2:5] + other)


class TestShapes:
    """Simulated hits at shifts -400..400; chance gives 20 with a standard deviation of 4.5."""

    def hits(self, more=0.0, own=None, seed=0):
        rng = np.random.default_rng(seed)
        found = rng.poisson(20, 801) + more
        if own is not None:
            found[400] = own
        return np.asarray(found, dtype=float)

    def test_skill_alone_is_a_needle(self):
        """Other shifts are as chance has them."""
        one = look(self.hits(own=60), 20, 20**0.5, 1)
        assert (one.shape, one.stands_out(0.05)) == ("needle", True)

    def test_skill_that_reaches_some_steps_is_a_needle_too(self):
        """Wide alarms find events at neighbouring shifts; these are left out."""
        wide = 40.0 * np.exp(-((np.arange(-400, 401) / 8.0) ** 2))
        one = look(self.hits(wide), 20, 20**0.5, 5)
        assert one.stands_out(0.05)
        assert one.guard > 8

    def test_waves_are_a_hill_though_the_data_lie_on_a_crest(self):
        """Other crests are as high."""
        waves = 12 * np.cos(np.arange(-400, 401) * 2 * np.pi / 48)
        one = look(self.hits(waves, own=36), 20, 20**0.5, 3)
        assert (one.shape, one.stands_out(0.05)) == ("hill", False)

    def test_a_slow_change_does_not_stand_out(self):
        """Hits fall with the distance, and those of the data are on the line."""
        slow = 16 * (1 - np.abs(np.arange(-400, 401)) / 400)
        assert not look(self.hits(slow, own=36), 20, 20**0.5, 3).stands_out(0.05)
        assert look(self.hits(slow, own=80), 20, 20**0.5, 3).stands_out(0.05)

    def test_too_few_shifts_say_nothing(self):
        """And nothing is held against the data."""
        one = look(self.hits()[390:411], 20, 20**0.5, 3)
        assert (one.shape, one.stands_out(0.05)) == ("unseen", True)

    def test_without_anything_few_doubts_arise(self):
        """Lenient as it is, at most a third of noise is called a hill or unclear."""
        shapes = [look(self.hits(seed=i, own=60), 20, 20**0.5, 1).shape for i in range(200)]
        assert shapes.count("needle") > 130


@pytest.mark.slow
def test_a_season_that_no_series_shows_is_seen_in_all_of_them():
    """Three events a series say nothing of a season of 24 steps; forty series do, and the verdict uses it."""
    rng = np.random.default_rng(3)
    parts = {"name": [], "label": [], "d": []}
    for i in range(40):
        weights = 1 + np.cos(2 * np.pi * (np.arange(480) / 24 + rng.random()))
        for column, n in (("label", 3), ("d", 20)):
            flags = np.zeros(480)
            flags[rng.choice(480, n, replace=False, p=weights / weights.sum())] = 1
            parts[column].append(flags)
        parts["name"].append(np.full(480, f"s{i}"))
    table = {name: np.concatenate(columns) for name, columns in parts.items()}
    study = nf.study(table, series="name", truth="label", scores="d", threshold=0.5, tolerance=2, workers=1)
    row = study.pooled(n_resamples=49)[0]
    assert max(row.precision.pvalue, row.recall.pvalue) < 0.01  # which do not know of it
    assert row.verdict == "cannot tell"
    assert "share a season or a slow change" in row.reason
    asked = nf.study(
        table, series="name", truth="label", scores="d", threshold=0.5, tolerance=2, workers=1, null="circular-shift"
    ).pooled(n_resamples=49)[0]
    assert asked.verdict == "yes"  # as asked for, with a note that says what it takes for granted
    assert any("does not keep that" in note for note in asked.notes)
