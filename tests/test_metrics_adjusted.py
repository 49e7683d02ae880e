"""F after point adjustment and F of runs, against transcriptions of their definitions."""

import math
import pickle
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import nofluke as nf
import oracles
from nofluke import InputError, metrics
from nofluke.metrics.draws import Draws
from nofluke.metrics.labelled import read_labelled

FAMILY = {
    "f1": (oracles.slow_f1, [{}]),
    "pa-f1": (oracles.slow_pa_f1, [{}]),
    "pak-f1": (oracles.slow_pak_f1, [{}, {"k": 0}, {"k": 50}, {"k": 100}, {"k": 12.5}]),
    "pak-auc": (oracles.slow_pak_auc, [{}]),
    "delay-pa-f1": (oracles.slow_delay_pa_f1, [{}, {"delay": 0}, {"delay": 1}, {"delay": 2}]),
    "composite-f1": (oracles.slow_composite_f1, [{}]),
    "event-f1": (oracles.slow_event_f1, [{}]),
    "event-far-f1": (oracles.slow_event_far_f1, [{}]),
}
BETAS = (1.0, 0.5, 2.0, 0.0)


def random_runs(generator, n):
    """Runs that may touch, at the borders too; now and then none, or one over everything."""
    shape = generator.integers(10)
    if shape < 2:
        return [[], [(0, n)]][shape]
    edges = np.unique(generator.integers(0, n + 1, size=generator.integers(2, 7))).tolist()
    pieces = list(pairwise(edges))
    return [piece for piece in pieces if generator.random() < 0.7]


def random_alarms(generator, n):
    """Few, many, none or all."""
    return (generator.random(n) < generator.choice([0.0, 0.15, 0.4, 0.8, 1.0], p=[0.05, 0.35, 0.3, 0.2, 0.1])).tolist()


@cache
def cases():
    """1,200 random series: runs, alarms, and the series as read; shared by all metrics, as reading takes longest."""
    generator = np.random.default_rng(13)
    drawn = []
    for _ in range(1_200):
        n = int(generator.integers(1, 13))
        runs, alarms = random_runs(generator, n), random_alarms(generator, n)
        drawn.append((runs, n, alarms, as_read(runs, n)))
    return drawn


def as_read(runs, n):
    """Ranges as positions, of which both ends belong to them."""
    ranges = [(a, b - 1) for a, b in runs]
    return read_labelled(ranges, predictions=[False] * n, truth_as="ranges", count_events="steps")


def of_windows(metric, series, detector, begins):
    """The metric on windows of a longer detector."""
    tables = metric.tables(np.array(detector, dtype=np.bool_), series)
    return metric.values(tables, Draws.moving(series.runs, series.n_steps, np.array(begins)))


def same(value, expected):
    """A float against a fraction; None is NaN."""
    return math.isnan(value) if expected is None else value == pytest.approx(float(expected), rel=1e-14, abs=1e-15)


@pytest.mark.parametrize("name", FAMILY)
def test_the_metric_is_its_definition(name):
    """1,200 random series: runs that touch, at borders, of one step; no or all alarms, one step, all labelled."""
    slow, every = FAMILY[name]
    seen = set()
    for case, (runs, n, alarms, series) in enumerate(cases()):
        settings = {**every[case % len(every)], "beta": BETAS[case % 4]}
        (value,) = of_windows(type(metrics.get(name))(**settings), series, alarms, [0])
        expected = slow(runs, n, list(map(int, alarms)), **settings)
        assert same(value, expected), (runs, alarms, settings, value, expected)
        seen.add(expected)
    assert len(seen) > 20


@pytest.mark.parametrize("text", ["pa-f1", "pak-f1:k=30", "delay-pa-f1:delay=4", "composite-f1", "event-f1"])
def test_all_rotations_of_a_longer_series_are_those_one_by_one(text):
    """Over several blocks of the loop that counts them together, the last one not full."""
    generator = np.random.default_rng(9)
    n = 2_500
    series = as_read([(s, s + int(generator.integers(1, 40))) for s in range(0, n - 40, 100)], n)
    twice = np.tile(np.repeat(generator.random(n // 5) < 0.1, 5), 2)
    metric, begins = metrics.get(text), np.arange(n)
    order = generator.permutation(n)
    values = of_windows(metric, series, twice, begins)
    np.testing.assert_array_equal(values[order], of_windows(metric, series, twice, begins[order]))
    assert len(np.unique(values)) > 50


@pytest.mark.parametrize("name", FAMILY)
def test_undefined_cases_and_extremes(name):
    """NaN without labels; 0 without alarms; 1 for alarms that are the labels; runs and alarms on one step."""
    metric = metrics.get(name)
    assert math.isnan(metric([0, 0, 0], [0, 1, 0]))
    assert math.isnan(metric([0], [0]))
    assert metric([0, 1, 1], [0, 0, 0]) == 0
    assert metric([0, 1, 1, 0, 1], [0, 1, 1, 0, 1]) == metric.perfect == 1
    assert metric([1], [1]) == metric([1, 1, 1], [1, 1, 1]) == 1
    assert metric([1, 0], [0, 1]) == 0


def test_peers_that_follow_the_definitions_agree():
    """Values of tsadmetrics 1.0.16, whose delay limit k counts from 1, and of dtaianomaly 0.5.1 for event-far-f1."""
    truth, alarms = [1, 1, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1], [0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0]
    for text, value in (
        ("f1", 0.4444444444444444),
        ("pa-f1", 0.88),
        ("pa-f1:beta=0.5", 0.8208955223880596),
        ("pak-f1", 0.88),
        ("delay-pa-f1:delay=1", 0.6),
        ("composite-f1", 0.7272727272727273),
        ("event-f1", 0.8571428571428571),
        ("event-far-f1", 0.46153846153846156),
        ("event-far-f1:beta=0.5", 0.34883720930232565),
        ("f1:tolerance=2", 0.9523809523809523),
    ):
        assert metrics.get(text)(truth, alarms) == pytest.approx(value, rel=1e-14), text


def test_a_run_that_is_found_too_late_is_missed_whole():
    """Its alarms are neither right nor wrong; those behind the run are wrong."""
    truth, alarms = [1, 1, 1, 1, 0, 0, 1, 0], [0, 0, 1, 1, 1, 0, 1, 0]
    assert metrics.DelayPAF1(delay=2)(truth, alarms) == 10 / 11
    assert metrics.DelayPAF1(delay=1)(truth, alarms) == 2 / 7  # one step of five found, two alarms left


def test_touching_ranges_stay_two_runs():
    """One alarm finds one of them; one run of alarms across both finds two, and none of it is false."""
    alarms = [0, 1, 0, 0, 0, 0]
    assert metrics.PAF1()([(0, 1), (2, 3)], alarms) == 2 / 3
    assert metrics.PAF1()([(0, 3)], alarms) == 1
    assert metrics.EventF1()([(0, 1), (2, 3)], [0, 1, 1, 0, 0, 1]) == 4 / 5


def test_a_share_of_exactly_k_percent_is_enough():
    """In whole numbers: 7 of 100 are 7 percent, and a third is 100/3 percent, whatever floats make of them."""
    truth = [1] * 100 + [0]
    assert metrics.PAKF1(k=7)(truth, [1] * 7 + [0] * 94) == 1
    assert metrics.PAKF1(k=7.000001)(truth, [1] * 7 + [0] * 94) == 14 / 107
    assert metrics.PAKF1(k=100 / 3)([1, 1, 1], [1, 0, 0]) == 1
    for alarms in range(1, 101):
        assert metrics.PAKF1(k=alarms)(truth, [1] * alarms + [0] * (101 - alarms)) == 1


def test_pa_k_lies_between_f1_and_point_adjustment():
    """k = 0 is point adjustment, k = 100 none; the area is between the two."""
    generator = np.random.default_rng(3)
    truth, alarms = np.repeat(generator.random(40) < 0.3, 5), generator.random(200) < 0.3
    values = [metrics.PAKF1(k=k)(truth, alarms) for k in (0, 20, 40, 60, 80, 100)]
    assert values[0] == metrics.PAF1()(truth, alarms) > values[-1] == metrics.F1()(truth, alarms)
    assert values == sorted(values, reverse=True)
    # runs have five or ten steps or more: between whole percents F changes at few places
    every = [metrics.PAKF1(k=k)(truth, alarms) for k in np.arange(0.05, 100, 0.1)]
    assert metrics.PAKAUC()(truth, alarms) == pytest.approx(np.mean(every), abs=1e-3)


def test_delay_is_a_duration_where_there_is_a_regular_clock():
    """Whole steps of it count; without a clock, or with an uneven one, steps must be passed."""
    times = np.datetime64("2024-01-01") + np.arange(8) * np.timedelta64(10, "m")
    truth, alarms = [0, 1, 1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0, 0]
    for delay, expected in (("20min", 1), ("25min", 1), ("19min", 0), ("5min", 0), (2, 1), (1, 0)):
        assert metrics.DelayPAF1(delay=delay)(truth, alarms, times=times) == expected
    with pytest.raises(InputError, match="delay='20min' is a length of time, but the data has no clock"):
        metrics.DelayPAF1(delay="20min")(truth, alarms)
    with pytest.raises(InputError, match="delay='20min' is a length of time, but the clock is not regular: pass steps"):
        metrics.DelayPAF1(delay="20min")(truth, alarms, times=times, mask=[0, 0, 0, 0, 0, 0, 1, 0])


def test_settings_are_checked_and_written():
    """Errors name the setting, its value and what it must be; texts are read back."""
    for settings, words in (
        ({"k": 101}, "k=101 must be a percentage from 0 to 100"),
        ({"k": -1}, "k=-1 must be a percentage"),
        ({"k": "x"}, "k='x' must be a percentage"),
        ({"k": math.nan}, "k=nan must be a percentage"),
        ({"beta": -1}, "beta=-1 must be finite and not negative"),
    ):
        with pytest.raises(InputError, match=words):
            metrics.PAKF1(**settings)
    for delay, words in ((-1, "delay=-1 must be a whole number of at least 0"), (1.5, "delay=1.5 must be a whole")):
        with pytest.raises(InputError, match=words):
            metrics.DelayPAF1(delay=delay)
    for text in ("pak-f1", "pak-f1:k=50", "pak-f1:beta=0.5,k=12.5", "delay-pa-f1:delay=3", "delay-pa-f1:delay=10min"):
        metric = metrics.get(text)
        assert metric.text == text
        assert metrics.get(metric.text) == metric == pickle.loads(pickle.dumps(metric))
    assert metrics.PAKF1(k=np.float64(20.0)).text == "pak-f1"
    with pytest.raises(InputError, match="metric='pa-f1:k=3' has no setting 'k', but beta"):
        metrics.get("pa-f1:k=3")


def test_scores_need_a_threshold_and_masks_leave_steps_out():
    """What `evaluate` takes: scores with a quantile, masks, missing values."""
    scores = [0.1, 0.9, 0.8, 0.2, 0.7, math.nan]
    assert metrics.F1()([0, 1, 1, 0, 0, 0], scores, threshold=0.7, missing="mask") == 0.8
    assert metrics.F1()([0, 1, 1, 0, 0, 0], [*scores[:5], 0], threshold=0.7, mask=[0, 0, 0, 0, 1, 0]) == 1
    assert nf.evaluate([0, 1, 1, 0], [0, 1, 0, 1], threshold=1).f1 == metrics.F1()([0, 1, 1, 0], [0, 1, 0, 1])


def test_whole_numbers_keep_ties_exact():
    """Two draws with the same counts in other runs have the very same value."""
    generator = np.random.default_rng(2)
    lengths = np.array([3, 5, 7, 7])
    alarms = np.zeros(100, dtype=bool)
    for start, length in zip((10, 30, 50, 70), lengths, strict=True):
        alarms[start : start + generator.integers(1, length)] = True
    rows = Draws.of_ranges(np.array([[10, 30, 50, 70], [70, 50, 30, 10]]), lengths, 100)
    series = read_labelled([0] * 100, predictions=alarms)
    for name in FAMILY:
        metric = metrics.get(name)
        one = metric.values(metric.tables(alarms, series), rows)[0]
        assert one == metric.values(metric.tables(alarms[::-1].copy(), series), _reversed(rows))[0], name


def _reversed(draws):
    order = np.s_[3::-1]
    return Draws(
        n_steps=100,
        starts=np.ascontiguousarray(100 - draws.stops[order]),
        stops=np.ascontiguousarray(100 - draws.starts[order]),
        first=draws.first[:1],
        last=draws.last[:1],
        begins=draws.begins[:1],
    )
