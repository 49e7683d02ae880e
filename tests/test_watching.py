"""What is watched: the warm-up and gaps are not; and a series split in two."""

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

import nofluke as nf
from nofluke.errors import InputError
from nofluke.series.clock import make_clock


def series(n=40):
    rng = np.random.default_rng(1)
    return rng.random(n) < 0.2, rng.random(n)


@pytest.mark.parametrize(
    ("warmup", "steps"),
    [(0, 0), (6, 6), (0.15, 6), ("15%", 6), ("29%", 11), ("2d", 2), (timedelta(days=2, hours=1), 3), ("36h", 2)],
)
def test_a_warmup_is_a_mask_over_the_first_part(warmup, steps):
    """As steps, as a share rounded down, or as time; everything else is as if they were masked."""
    truth, scores = series()
    times = pd.date_range("2024-01-01", periods=40)
    mask = np.arange(40) < steps
    masked = nf.evaluate(truth, scores, quantile=0.8, tolerance=1, mask=mask, times=times)
    result = nf.evaluate(truth, scores, quantile=0.8, tolerance=1, warmup=warmup, times=times)
    for name in ("n", "n_events", "threshold", "precision_hits", "recall_hits"):
        assert getattr(result, name) == getattr(masked, name), name
    assert (result.left_out.warmup, result.left_out.masked, result.left_out.steps) == (steps, 0, steps)
    assert result.precision_test.pvalue == masked.precision_test.pvalue
    assert (f"The first {steps} steps (warm-up) were left out." in result.notes) is (steps > 1)
    assert result.to_dict()["left_out"]["warmup"] == steps
    curve = nf.sweep(truth, scores, quantiles=[0.8], warmup=warmup, times=times)
    assert curve.n == nf.diagnose(truth, scores, warmup=warmup, times=times).n == 40 - steps


def test_steps_are_left_out_for_one_reason_each():
    """Missing warm-up values, as rolling detectors make them, need no mask; masked ones count as warm-up."""
    result = nf.evaluate(
        [1, 0, 0, 1, 0, 1],
        [None, None, 1, 2, None, 3],
        threshold=2,
        warmup=2,
        mask=[0, 1, 0, 1, 0, 0],
        missing="mask",
    )
    out = result.left_out
    assert (out.warmup, out.masked, out.missing, out.events, out.steps, result.n) == (2, 1, 1, 2, 4, 2)
    assert nf.evaluate([1, 0, 0], [None, 1, 2], threshold=2, warmup=1).n == 2


@pytest.mark.parametrize(
    ("warmup", "message"),
    [
        (3, r"warmup=3 leaves none of the 3 steps"),
        (-1, r"warmup=-1 must be a number of steps, a share such as '15%', or a duration"),
        (1.5, r"warmup=1.5 must be a share above 0 and below 1"),
        ("120%", r"warmup='120%' must be a share"),
        ("2d", r"warmup='2d' is a length of time, but the data has no clock of dates: pass times="),
        ("soon", r"warmup='soon' is not a duration"),
        (None, None),
    ],
)
def test_a_warmup_that_makes_no_sense_says_why(warmup, message):
    """One line with the argument, the value and the remedy."""
    if message is None:
        assert nf.evaluate([0, 1, 0], [1, 2, 3], threshold=2, warmup=None).n == 3
        return
    with pytest.raises(InputError, match=message):
        nf.evaluate([0, 1, 0], [1, 2, 3], threshold=2, warmup=warmup)


def days(*numbers):
    return np.array(numbers, dtype="datetime64[D]").astype("datetime64[s]")


def test_gaps_do_not_count_as_watched():
    """A step before a gap lasts as long as the median step; false alarms are per day that was watched."""
    times = days(0, 1, 2, 3, 103, 104, 105, 165, *range(166, 190))
    clock = make_clock(times, "times")
    assert clock.gaps.tolist() == [3, 6]
    every = np.ones(32, dtype=bool)
    day = 86400 * 10**9
    assert (clock.lasting(every), clock.not_watched(every)) == (32 * day, 158 * day)
    alarms = np.arange(32) % 4 == 0
    result = nf.evaluate(np.zeros(32), predictions=alarms, times=times, truth_as="labels")
    assert "2 gaps in the times, 158d in all, do not count as watched." in result.notes
    assert result.false_alarms.rate("1d") == 8 / 32
    masked = nf.evaluate(np.zeros(32), predictions=alarms, times=times, truth_as="labels", mask=np.arange(32) == 3)
    assert "1 gap in the times, 59d, does not count as watched." in masked.notes
    numbers = nf.evaluate(np.zeros(32), predictions=alarms, times=times.astype(int), truth_as="labels")
    assert [note for note in numbers.notes if note.startswith("2 gaps in the times, 1.36512e+07 time unit(s)")]


def test_irregular_clocks_have_no_gaps_by_nature():
    """Exponential waiting times, weekends and clocks of two paces are no gaps; a month without data is one."""
    rng = np.random.default_rng(2)
    waits = rng.exponential(size=100_000)
    assert len(make_clock(np.cumsum(waits), "times").gaps) == 0
    weekdays = np.flatnonzero(np.arange(3650) % 7 < 5)
    assert len(make_clock(weekdays, "times").gaps) == 0
    assert len(make_clock(np.cumsum([1, 100] * 50), "times").gaps) == 0
    assert make_clock(np.append(weekdays, weekdays[-1] + 31), "times").gaps.tolist() == [len(weekdays) - 1]
    assert len(make_clock(np.array([0, 1, 100]), "times").gaps) == 0
    assert len(make_clock(np.array([5]), "times").gaps) == 0


def test_a_timeline_is_broken_at_gaps():
    """The score is not drawn where there was none, in plots and in pages."""
    figure = pytest.importorskip("matplotlib.figure")
    times = days(0, 1, 2, 3, 103, 104, 105)
    scores = [1.0, 2, 3, 4, 5, 6, 7]
    ax = nf.plot.timeline([0, 0, 1, 0, 0, 1, 0], scores, threshold=5, times=times, ax=figure.Figure().subplots())
    line = next(line for line in ax.lines if line.get_label() == "score")
    drawn = np.asarray(line.get_ydata(), dtype=float)
    assert np.isnan(drawn).tolist() == [False] * 4 + [True] + [False] * 3
    from nofluke.show.report.grid import make_grid
    from nofluke.show.report.timeline import timeline

    result = nf.evaluate([0, 0, 1, 0, 0, 1, 0], scores, threshold=5, times=times)
    assert timeline(result, make_grid(result))["gaps"] == [4]


def test_a_split_leaves_each_part_to_one_use():
    """Masks for the first and the second part in time, of any share or number of steps."""
    calibration, evaluation = nf.split(10, at=0.3)
    assert evaluation.tolist() == [True] * 3 + [False] * 7
    assert (calibration ^ evaluation).all()
    assert nf.split([5] * 10, at="29%").evaluation.sum() == 2
    assert nf.split(np.zeros(10), at=4).evaluation.sum() == 4
    assert nf.split(10).evaluation.sum() == 5


@pytest.mark.parametrize(
    ("series", "at", "message"),
    [
        (10, 0, "at=0 leaves one part of the 10 steps empty"),
        (10, 10, "at=10 leaves one part of the 10 steps empty"),
        (10, "2d", "at='2d' must be a number of steps, or a share"),
        (10, 1.5, "at=1.5 must be a share above 0 and below 1"),
        (10**400, 0.5, "series=.* must be a whole number of at least 2"),
        (None, 0.5, "series=None must be a number of steps, or have as many items"),
    ],
)
def test_a_split_that_makes_no_sense_says_why(series, at, message):
    """One line with the argument, the value and the remedy."""
    with pytest.raises(InputError, match=message):
        nf.split(series, at=at)
