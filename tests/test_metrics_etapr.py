"""Enhanced time-series aware precision, recall and F, held against the definition."""

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nofluke import metrics
from nofluke.errors import InputError
from nofluke.metrics import ETaPRF1, ETaPRPrecision, ETaPRRecall
from nofluke.metrics.draws import Draws
from nofluke.series.tolerance import Ranges
from oracles import labelled_cases, runs_of, slow_etapr

THREE = (ETaPRPrecision, ETaPRRecall, ETaPRF1)


def series_of(runs: list[tuple[int, int]], n: int) -> Any:
    """As much of a series as these metrics look at."""
    starts, stops = (np.array([run[side] for run in runs], dtype=np.int64) for side in (0, 1))
    return SimpleNamespace(n_steps=n, runs=Ranges(starts=starts, stops=stops))


def three(detector: Any, series: Any, draws: Draws, **settings: float) -> list[list[float]]:
    """Precision, recall and F1 of draws, draw by draw."""
    made = [metric(**settings) for metric in THREE]
    return np.array([metric.values(metric.tables(detector, series), draws) for metric in made]).T.tolist()


def test_values_are_those_of_the_definition_in_every_window() -> None:
    """Runs at both borders, touching runs, single steps, all or nothing labelled: a draw is its slice, nothing else."""
    rng = np.random.default_rng(13)
    for runs, n, detector in labelled_cases(rng, 1_300):
        series, begins = series_of(runs, n), np.arange(len(detector) - n + 1)
        settings = {"theta_p": int(rng.integers(1, 11)) / 10, "theta_r": int(rng.integers(1, 11)) / 10}
        found = three(detector, series, Draws.moving(series.runs, n, begins), **settings)
        exact = {name: Fraction(repr(theta)) for name, theta in settings.items()}
        for begin, values in zip(begins.tolist(), found, strict=True):
            window = detector[begin : begin + n].tolist()
            assert values == pytest.approx(slow_etapr(runs, n, window, **exact), rel=1e-13, nan_ok=True), (
                runs,
                window,
                settings,
            )


def test_what_falls_takes_others_with_it_however_far() -> None:
    """Chains of labelled runs and alarms that hang on each other fall from either end, or stand."""
    rng = np.random.default_rng(2)
    for _ in range(150):
        n = 90
        labels, alarms = (np.repeat(rng.random(n) < 0.6, rng.integers(1, 5, n))[:n] for _ in range(2))
        runs = runs_of(labels.tolist())
        settings = {"theta_p": int(rng.integers(4, 10)) / 10, "theta_r": int(rng.integers(4, 10)) / 10}
        series = series_of(runs, n)
        found = three(alarms, series, Draws.moving(series.runs, n, np.zeros(1)), **settings)[0]
        exact = {name: Fraction(repr(theta)) for name, theta in settings.items()}
        assert found == pytest.approx(slow_etapr(runs, n, alarms.tolist(), **exact), rel=1e-13), (runs, alarms)
    # 40 labelled runs of 6 steps; each alarm has 2 steps in one of them and 1 in the next, the last one only those 2
    labels, alarms = ([(9 * k + side, 9 * k + side + 6) for k in range(40)] for side in (0, 4))
    n = 9 * 40 + 9
    hit = np.zeros(n, dtype=bool)
    for start, stop in alarms:
        hit[start:stop] = True
    series = series_of(labels, n)
    whole = Draws.moving(series.runs, n, np.zeros(1))
    assert three(hit, series, whole, theta_r=0.5)[0] == [0, 0, 0]  # the first labelled run falls, and all behind it
    assert three(hit, series, whole, theta_r=0.3)[0] == [0, 0, 0]  # the last alarm falls, and all before it
    standing = slow_etapr(labels, n, hit.tolist())
    assert three(hit, series, whole)[0] == pytest.approx(standing, rel=1e-13)
    assert standing[1] > 0.7  # only the last alarm falls


def test_a_window_of_a_long_detector_is_its_slice_to_the_last_digit() -> None:
    """Roots of lengths are added as whole numbers: ties between rotations stay ties, and the sums lose nothing."""
    rng = np.random.default_rng(7)
    n = 100_000
    alarms = rng.random(n) < 0.7
    series = series_of([(t, t + 700) for t in range(300, n, 1_000)], n)
    twice, begins = np.tile(alarms, 2), np.concatenate([[0, n - 1, n], rng.integers(0, n, 7)])
    values = three(twice, series, Draws.moving(series.runs, n, begins))
    only = Draws.moving(series.runs, n, np.zeros(1))
    assert values == [three(twice[begin : begin + n], series, only)[0] for begin in begins]
    assert values[0] == values[2]
    # every labelled run is found, so that an alarm is right if half of it is labelled
    labels = np.zeros(n, dtype=int)
    for start, stop in zip(series.runs.starts, series.runs.stops, strict=True):
        labels[start:stop] = 1
    before = np.concatenate([[0], np.cumsum(labels)]).tolist()
    spans = [(stop - start, before[stop] - before[start]) for start, stop in runs_of(alarms.tolist())]
    above = math.fsum(math.sqrt(size) * (1 + hit / size) / 2 for size, hit in spans if 2 * hit >= size)
    assert values[0][0] == pytest.approx(above / math.fsum(math.sqrt(size) for size, _ in spans), rel=1e-12)


@pytest.mark.parametrize(
    ("theta_p", "theta_r", "precision", "recall", "f1"),
    [
        (0.5, 0.1, 0.6339001419103631, 0.7611111111111111, 0.69170544724697),
        (0.7, 0.1, 0.2614282872566323, 0.4083333333333334, 0.3187697851934044),
        (0.6, 0.5, 0, 0, 0),
    ],
)
def test_values_are_those_of_the_authors_package(
    theta_p: float, theta_r: float, precision: float, recall: float, f1: float
) -> None:
    """eTaPR_pkg gives these, as faster-eTaPR 0.1.2 does."""
    truth = [0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0, 0]
    alarms = [1, 1, 0, 1, 0, 0, 1, 0, 0, 1, 1, 1, 1, 1, 0, 0, 1, 0, 1, 0]
    values = [metric(theta_p=theta_p, theta_r=theta_r)(truth, alarms) for metric in THREE]
    assert values == pytest.approx([precision, recall, f1], rel=1e-14)


@pytest.mark.parametrize(("end", "precision"), [(57, 0.3876823062996395), (17, 0.535329416677799)])
def test_values_are_those_of_the_authors_example(end: int, precision: float) -> None:
    """The README of their package: a longer false alarm lowers precision, and not recall."""
    truth = [(1, 4), (59, 60), (62, 64), (67, 96)]
    alarms = np.zeros(100, dtype=int)
    for first, last in [(2, end), (59, 60), (62, 64), (66, 69)]:
        alarms[first : last + 1] = 1
    settings = {"theta_p": 0.5, "theta_r": 0.01}
    assert ETaPRPrecision(**settings)(truth, alarms, truth_as="ranges") == pytest.approx(precision, rel=1e-14)
    assert ETaPRRecall(**settings)(truth, alarms, truth_as="ranges") == pytest.approx(0.6375, rel=1e-14)


def test_a_share_of_exactly_theta_is_enough() -> None:
    """Also where floats of the share and of θ are no round numbers: 3 of 10 steps are 0.3, and 7 of 10 are 0.7."""
    truth, alarms = [1] * 10 + [0] * 10, [0] * 7 + [1] * 3 + [0] * 10
    assert ETaPRRecall(theta_r=0.3)(truth, alarms) == pytest.approx(0.65)
    assert ETaPRRecall(theta_r=0.31)(truth, alarms) == 0
    truth, alarms = [0] * 3 + [1] * 17, [1] * 10 + [0] * 10
    assert ETaPRPrecision(theta_p=0.7)(truth, alarms) == pytest.approx(0.85)
    assert ETaPRPrecision(theta_p=0.71)(truth, alarms) == 0


@pytest.mark.parametrize("truth", [[0, 0, 0], [1, 1, 0], [1, 1, 1]])
@pytest.mark.parametrize("alarms", [[0, 0, 0], [1, 1, 1]])
def test_undefined_cases(truth: list[int], alarms: list[int]) -> None:
    """All are NaN without labels; without alarms precision is NaN, recall and F are 0."""
    precision, recall, f = (metric()(truth, alarms) for metric in THREE)
    if not any(truth):
        assert all(map(math.isnan, (precision, recall, f)))
    elif not any(alarms):
        assert math.isnan(precision)
        assert (recall, f) == (0, 0)
    else:
        expected = (1 + sum(truth) / 3) / 2
        assert (precision, recall, f) == pytest.approx((expected, 1, 2 * expected / (expected + 1)))


def test_beta_weighs_recall() -> None:
    """F_0 is precision, a large β gives recall, and no β overflows."""
    truth, alarms = [0, 1, 1, 1, 1, 0, 0, 0], [0, 1, 1, 0, 0, 0, 0, 1]
    precision, recall = ETaPRPrecision()(truth, alarms), ETaPRRecall()(truth, alarms)
    assert ETaPRF1(beta=0)(truth, alarms) == pytest.approx(precision)
    assert ETaPRF1(beta=1e200)(truth, alarms) == pytest.approx(recall)
    assert ETaPRF1(beta=2)(truth, alarms) == pytest.approx(5 * precision * recall / (4 * precision + recall))


def test_settings_that_are_none_are_refused() -> None:
    """By name and value, with what would do; a θ of 0 would find what has no alarm."""
    with pytest.raises(InputError, match="theta_p=0 must be above 0 and at most 1"):
        ETaPRPrecision(theta_p=0)
    with pytest.raises(InputError, match=r"theta_r=1\.1 must be above 0 and at most 1"):
        metrics.get("etapr-recall:theta_r=1.1")
    with pytest.raises(InputError, match="beta=-1 must be finite and not negative"):
        ETaPRF1(beta=-1)
