"""The NAB score against its definition, its authors' values, and in every window of a longer detector."""

import math
from itertools import pairwise

import numpy as np
import pytest

import nofluke.metrics as metrics
from nofluke import InputError
from nofluke.metrics import NAB
from nofluke.metrics.draws import Draws
from nofluke.metrics.labelled import read_labelled
from nofluke.series.tolerance import Ranges
from oracles import random_runs, slow_nab

COSTS = {"standard": (1.0, 0.11), "low-fp": (1.0, 0.22), "low-fn": (2.0, 0.11)}


def fast(runs, n, detector, begins=(0,), profile="standard"):
    """Scores of all windows."""
    metric, detector = NAB(profile=profile), np.asarray(detector, dtype=bool)
    starts, stops = np.array(runs, dtype=np.int64).reshape(-1, 2).T
    draws = Draws.moving(Ranges(starts=starts, stops=stops), n, np.array(begins))
    return metric.values(metric.tables(detector, None), draws)


def slow(runs, n, detector, profile="standard"):
    """The same from the definition, NaN for None."""
    score = slow_nab(runs, n, detector, *COSTS[profile])
    return math.nan if score is None else score


def test_it_is_what_the_definition_says():
    """1,500 small series: windows that touch, reach borders or last a step; none or all labelled, no or all alarms."""
    rng = np.random.default_rng(1)
    for case in range(1_500):
        n = int(rng.integers(1, 41)) if case % 10 else 1
        runs, alarms = random_runs(rng, n), rng.random(n) < rng.choice([0.0, 0.1, 0.5, 1.0])
        profile = list(COSTS)[case % 3]
        want = slow(runs, n, alarms.tolist(), profile)
        assert fast(runs, n, alarms, profile=profile)[0] == pytest.approx(want, rel=1e-12, abs=1e-11, nan_ok=True)


LABELS = [0] * 10 + [1] * 5 + [0] * 8 + [1] * 2 + [0] * 2 + [1] * 6 + [0] * 7
ALARMS = [0] * 4 + [1] * 2 + [0] * 6 + [1, 0, 1, 1] + [0] * 4 + [1] * 3 + [0] * 3 + [1] + [0] * 11 + [1] * 2


def test_the_benchmarks_own_scorer_gives_the_same():
    """Values of NAB's sweeper, no probationary period, scaled as by its runner; tsadmetrics 1.0.16 has the first."""
    got = [NAB(profile=profile)(LABELS, ALARMS) for profile in COSTS]
    assert got == pytest.approx([16.28905936096264, 0.6209740481184797, 21.970484018419533], rel=1e-13)


def test_a_window_of_one_step():
    """An alarm on it earns all, one after it costs all: the benchmark divides by 0, tsadmetrics by 1 (89.074)."""
    assert NAB()([0, 1, 0, 0, 0], [0, 1, 0, 0, 0]) == 100
    assert NAB()([0, 1, 0, 0, 0], [0, 1, 1, 1, 0]) == pytest.approx(100 * (2 - 2 * 0.11) / 2)


def test_only_the_first_alarm_in_a_window_counts():
    """Later ones neither add nor cost."""
    labels = [0, 1, 1, 1, 1, 0]
    assert NAB()(labels, [0, 0, 1, 0, 0, 0]) == NAB()(labels, [0, 0, 1, 1, 1, 0]) < NAB()(labels, [0, 1, 0, 0, 0, 0])


def test_alarms_before_any_window_cost_all():
    """However close they are."""
    assert NAB()([0, 0, 1, 1], [1, 0, 0, 0]) == NAB()([0, 0, 1, 1], [0, 1, 0, 0]) == pytest.approx(-100 * 0.11 / 2)
    assert NAB(profile="low-fn")([0, 0, 1, 1], [1, 0, 0, 0]) == pytest.approx(-100 * 0.11 / 3)


def test_alarms_far_behind_a_window_cost_all():
    """From more than three widths less a step on; up to there less, but ever more."""
    labels = np.arange(30) < 5
    costs = [-NAB()(labels, np.arange(30) == i) for i in range(5, 30)]
    assert costs[12:] == [5.5] * 13
    assert all(a < b for a, b in pairwise(costs[:13]))


def test_what_is_perfect_what_is_none_and_what_is_undefined():
    """Exactly 100 for the first steps of all windows, exactly 0 without alarms, NaN without windows."""
    rng = np.random.default_rng(4)
    for profile in COSTS:
        for _ in range(20):
            labels = (rng.random(50) < 0.5).astype(int)
            starts = np.diff(labels, prepend=0) > 0
            assert NAB(profile=profile)(labels, starts) == NAB.perfect == 100
            assert NAB(profile=profile)(labels, np.zeros(50, dtype=int)) == 0
    assert math.isnan(NAB()([0, 0, 0], [0, 1, 0], truth_as="labels"))


def test_it_is_known_by_name_and_its_profile_is_checked():
    """With settings, there and back; an unknown profile is named beside those there are."""
    assert metrics.get("nab") == NAB()
    assert metrics.get("nab:profile=low-fp") == NAB(profile="low-fp")
    assert NAB(profile="low-fn").text == "nab:profile=low-fn"
    for profile in ("low", None, 1):
        with pytest.raises(InputError, match=r"profile=.*must be one of 'standard', 'low-fp', 'low-fn'"):
            NAB(profile=profile)


def test_reach_and_work():
    """Alarms up to three widths behind the longest window cost less than others, and have to be gone through."""
    for labels, reach in (([0, 1, 1, 1, 0, 1], 6), ([0, 1, 0], 0), ([0, 0], 0)):
        series = read_labelled(labels, predictions=labels, truth_as="labels")
        assert NAB().reach(series) == reach
        assert NAB().work(series) >= 100
    assert NAB().work(read_labelled([0, 1, 0], [0.1, 0.9, 0.2])) == 160
