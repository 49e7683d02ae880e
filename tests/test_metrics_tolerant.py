"""Precision, recall and F within a tolerance, as metrics: the definition, `evaluate`, and draws on masks and clocks."""

import math
import pickle
from datetime import timedelta
from itertools import pairwise

import numpy as np
import pytest

import nofluke as nf
import oracles
from nofluke import InputError, Tolerance, metrics
from nofluke.metrics.draws import Draws
from nofluke.metrics.labelled import read_labelled
from nofluke.series.counting import flags_of
from nofluke.series.tolerance import Ranges

SIDES = ((0, 0), (1, 1), (2, 0), (0, 3), (3, -1), (-1, 2), (20, 20), (-2, 2))
START = np.datetime64("2024-03-01T00:00:00")


def random_runs(generator, n):
    """Runs that may touch, at the borders too; now and then none, or one over everything."""
    shape = generator.integers(10)
    if shape < 2:
        return [[], [(0, n)]][shape]
    edges = np.unique(generator.integers(0, n + 1, size=generator.integers(2, 7))).tolist()
    return [piece for piece in pairwise(edges) if generator.random() < 0.6]


def random_alarms(generator, n):
    """Few, many, none or all."""
    return (generator.random(n) < generator.choice([0.0, 0.15, 0.4, 1.0], p=[0.1, 0.5, 0.3, 0.1])).tolist()


def three(**settings):
    """The three metrics at one tolerance."""
    return metrics.Precision(**settings), metrics.Recall(**settings), metrics.F1(beta=2, **settings)


def expected_of(runs, n, alarms, early, late, ranges):
    """The three by definition, NaN for None."""
    precision, recall = oracles.slow_tolerant(runs, n, alarms, early, late, ranges=ranges)
    both = (precision, recall, oracles.slow_f(precision, recall, 2))
    return [math.nan if value is None else float(value) for value in both]


def read(runs, n, count_events, **given):
    """Ranges as positions, of which both ends belong to them."""
    return read_labelled(
        [(a, b - 1) for a, b in runs], predictions=[0] * n, truth_as="ranges", count_events=count_events, **given
    )


def on_windows(metric, series, detector, begins):
    """The metric on windows of a longer detector."""
    tables = metric.tables(np.array(detector, dtype=np.bool_), series)
    return metric.values(tables, Draws.moving(series.runs, series.n_steps, np.array(begins)))


def test_the_metrics_are_their_definitions():
    """On 1,000 random series, with tolerances of all kinds, for steps and for ranges."""
    generator = np.random.default_rng(4)
    for case in range(1_000):
        n = int(generator.integers(1, 13))
        runs, alarms = random_runs(generator, n), random_alarms(generator, n)
        early, late = SIDES[case % len(SIDES)]
        count_events = ("steps", "ranges")[case // len(SIDES) % 2]
        series = read(runs, n, count_events)
        values = [on_windows(metric, series, alarms, [0])[0] for metric in three(early=early, late=late)]
        expected = expected_of(runs, n, alarms, early, late, count_events == "ranges")
        np.testing.assert_allclose(values, expected, rtol=1e-14, err_msg=f"{runs} {alarms} {early} {late}")


@pytest.mark.parametrize("layout", ["doubled", "mirrored"])
def test_a_window_of_a_longer_detector_is_the_slice(layout):
    """All windows: alarms beyond the border of the window find nothing."""
    generator = np.random.default_rng(6)
    for case in range(4 * len(SIDES)):
        n = int(generator.integers(1, 15))
        runs, alarms = random_runs(generator, n), random_alarms(generator, n)
        long = alarms + alarms if layout == "doubled" else alarms[::-1] + alarms + alarms[::-1]
        begins = range(len(long) - n + 1)
        early, late = SIDES[case % len(SIDES)]
        count_events = ("steps", "ranges")[case // len(SIDES) % 2]
        series = read(runs, n, count_events)
        values = [on_windows(metric, series, long, begins) for metric in three(early=early, late=late)]
        expected = [expected_of(runs, n, long[b : b + n], early, late, count_events == "ranges") for b in begins]
        np.testing.assert_allclose(np.transpose(values), expected, rtol=1e-14)


def random_input(generator):
    """Labels or ranges in time, alarms, mask and clock: what `evaluate` and the metrics are both given."""
    n = int(generator.integers(2, 30))
    longest = 40 if generator.random() < 0.5 else 1
    times = START + np.cumsum(generator.integers(1, longest + 1, size=n)) * np.timedelta64(600, "s")
    given = {"mask": generator.random(n) < 0.2} if generator.random() < 0.6 else {}
    if generator.random() < 0.4:  # ends between two steps, now and then both between the same two
        edges = np.sort(generator.choice(np.arange(1, 4 * n), size=4, replace=False)) * np.timedelta64(777, "s")
        truth = [
            (str(times[0] + edges[0]), str(times[0] + edges[1])),
            (str(times[0] + edges[2]), str(times[0] + edges[3])),
        ]
        truth = [pair for pair in truth if np.datetime64(pair[1]) <= times[-1]]
        given["truth_as"] = "ranges"
    else:
        table = np.array(random_runs(generator, n), dtype=np.int64).reshape(-1, 2)
        truth = flags_of(Ranges(starts=table[:, 0], stops=table[:, 1]), n)
    if not np.any(~np.asarray(given.get("mask", False))):
        given.pop("mask")
    return truth, random_alarms(generator, n), {**given, "times": times}


TOLERANCES = (
    0,
    3,
    "1h",
    "5h",
    Tolerance(early="2h", late=0),
    Tolerance(early="3h", late="-1h"),
    Tolerance(early=-1, late=4),
)


@pytest.mark.parametrize("count_events", [None, "steps", "ranges"])
def test_they_equal_evaluate(count_events):
    """On labels and ranges with ends in time, masks, uneven clocks, steps and durations; F is 0 without alarms."""
    generator = np.random.default_rng(11)
    compared = 0
    for case in range(105):
        truth, alarms, given = random_input(generator)
        tolerance = TOLERANCES[case % len(TOLERANCES)]
        given["count_events"] = count_events
        result = nf.evaluate(truth, predictions=alarms, tolerance=tolerance, null="circular-shift", **given)
        precision, recall, f = (metric(truth, alarms, **given) for metric in three(tolerance=tolerance))
        if result.n_events == 0:
            assert np.isnan([precision, recall, f]).all()
            continue
        series = read_labelled(truth, predictions=alarms, **given)
        if (
            result.count_events == "ranges" and series.truth.n < result.n_events
        ):  # one between two steps has no step to move
            assert any("between two steps" in note for note in series.notes)
            continue
        compared += 1
        np.testing.assert_equal((precision, recall), (result.precision, result.recall))
        assert f == (0 if result.n_predictions == 0 else pytest.approx(result.f_beta(2), rel=1e-14))
    assert compared > 40


@pytest.mark.parametrize("count_events", ["steps", "ranges"])
def test_moved_labels_and_rotated_alarms_are_those_of_series_that_have_them(count_events):
    """With masks and uneven clocks: windows are those of the steps to which labels move, and stay where alarms move."""
    generator = np.random.default_rng(12)
    for case in range(21):
        n = int(generator.integers(3, 25))
        times = START + np.cumsum(generator.integers(1, 30, size=n)) * np.timedelta64(600, "s")
        mask = generator.random(n) < 0.2
        mask[:2] = False
        given = {"times": times, "mask": mask, "count_events": count_events}
        kept = np.flatnonzero(~mask)
        runs, alarms = random_runs(generator, len(kept)), np.array(random_alarms(generator, len(kept)))

        def everywhere(flags, n=n, kept=kept):
            full = np.zeros(n, dtype=bool)
            full[kept] = flags
            return full

        if not runs:
            continue
        truth = [(int(kept[a]), int(kept[b - 1])) for a, b in runs]
        series = read_labelled(truth, predictions=everywhere(alarms), **given)
        other = read_labelled([(int(kept[0]), int(kept[1]))], predictions=everywhere(alarms), **given)
        moved = Draws(
            n_steps=len(kept),
            starts=series.runs.starts,
            stops=series.runs.stops,
            first=np.array([0]),
            last=np.array([len(runs)]),
            begins=np.array([0]),
        )
        for metric in three(tolerance=TOLERANCES[case % len(TOLERANCES)]):
            value = metric.values(metric.tables(alarms, other), moved)[0]
            np.testing.assert_equal(value, metric(truth, everywhere(alarms), **given))
            begins = range(0, len(kept), 2)
            rotated = on_windows(metric, series, np.tile(alarms, 2), begins)
            one_by_one = [metric(truth, everywhere(np.roll(alarms, -b)), **given) for b in begins]
            np.testing.assert_equal(rotated, one_by_one)


def test_undefined_cases():
    """NaN without labels; without alarms precision is NaN, recall and F are 0."""
    precision, recall, f = three(tolerance=2)
    assert all(math.isnan(metric([0, 0, 0], [0, 1, 0])) for metric in (precision, recall, f))
    assert math.isnan(precision([0, 1, 0], [0, 0, 0]))
    assert recall([0, 1, 0], [0, 0, 0]) == f([0, 1, 0], [0, 0, 0]) == 0
    assert precision([1], [1]) == recall([1], [1]) == f([1], [1]) == 1


def test_the_tolerance_is_written_as_it_is_read():
    """In one word if both sides are equal, else each side; names, JSON and pickles bring back the same metric."""
    for settings, text in (
        ({}, "recall"),
        ({"tolerance": 5}, "recall:tolerance=5"),
        ({"tolerance": "120min"}, "recall:tolerance=2h"),
        ({"tolerance": timedelta(hours=2)}, "recall:tolerance=2h"),
        ({"tolerance": Tolerance(early=0, late=3)}, "recall:early=0,late=3"),
        ({"late": 3}, "recall:early=0,late=3"),
        ({"early": "3h", "late": "-1h"}, "recall:early=3h,late=-1h"),
        ({"tolerance": Tolerance(early=0.5, late=0.5, unit="clock")}, "recall:tolerance=0.5,unit=clock"),
        ({"early": 0.5, "late": 2, "unit": "clock"}, "recall:early=0.5,late=2,unit=clock"),
        ({"tolerance": "0s"}, "recall:tolerance=0s"),
    ):
        metric = metrics.Recall(**settings)
        assert metric.text == text
        assert metrics.get(text) == metric == pickle.loads(pickle.dumps(metric))
        assert hash(metrics.get(text)) == hash(metric)
    assert metrics.get("f1:tolerance=2,beta=0.5") == metrics.F1(tolerance=2, beta=0.5)
    assert metrics.get("recall:tolerance=2,unit=clock")([0, 1, 0], [0, 0, 1], times=[0, 10, 12]) == 1


def test_settings_are_checked():
    """Errors name the setting, its value and the remedy."""
    for settings, words in (
        ({"tolerance": -1}, "tolerance=-1 must be finite and not negative"),
        ({"tolerance": 1.5}, "tolerance=1.5 must be a whole number of steps"),
        ({"tolerance": 2, "late": 3}, "tolerance=2 sets both sides: leave it out with early= or late="),
        ({"early": 1, "late": "2h"}, "early=1 and late='2h' must both be steps or both be durations"),
        ({"beta": -1}, "beta=-1 must be finite"),
    ):
        with pytest.raises(InputError, match=words):
            metrics.F1(**settings)
    with pytest.raises(InputError, match="tolerance of 2h is a length of time, but the data has no clock"):
        metrics.Recall(tolerance="2h")([0, 1], [0, 1])


def test_the_reach_is_how_far_windows_go():
    """In steps, on clocks too; chance must move further than that."""
    times = START + np.array([0, 1, 2, 3, 8, 9, 10]) * np.timedelta64(1, "h")
    series = read_labelled([0, 0, 0, 1, 0, 0, 0], predictions=[0] * 7, times=times)
    for settings, expected in (({}, 0), ({"tolerance": 2}, 2), ({"tolerance": "2h"}, 2), ({"early": 1, "late": 3}, 3)):
        assert metrics.Recall(**settings).reach(series) == expected
    assert metrics.Recall(early="4h", late="-2h").reach(series) == 3
    assert metrics.F1().reach(series) == 0
