"""Range-based precision, recall and F, held against the paper's definition."""

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nofluke import metrics
from nofluke.errors import InputError
from nofluke.metrics import RangeF1, RangePrecision, RangeRecall, ranged
from nofluke.metrics.draws import Draws
from nofluke.series.tolerance import Ranges
from oracles import labelled_cases, slow_ranged

TRUTH = [0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0, 0]
ALARMS = [1, 1, 0, 1, 0, 0, 1, 0, 0, 1, 1, 1, 1, 1, 0, 0, 1, 0, 1, 0]


def series_of(runs: list[tuple[int, int]], n: int) -> Any:
    """As much of a series as these metrics look at."""
    starts, stops = (np.array([run[side] for run in runs], dtype=np.int64) for side in (0, 1))
    return SimpleNamespace(
        n_steps=n, runs=Ranges(starts=starts, stops=stops), truth=SimpleNamespace(starts=starts, stops=stops)
    )


def three(rng: np.random.Generator) -> tuple[list[metrics.Metric], dict[str, Any]]:
    """The metrics with random settings, and these for the transcription."""
    shape: dict[str, Any] = {
        "bias": str(rng.choice(ranged.BIASES)),
        "cardinality": str(rng.choice(ranged.CARDINALITIES)),
    }
    alpha, beta = int(rng.integers(5)) / 4, float(rng.choice([0, 0.5, 1, 2]))
    made = [RangePrecision(**shape), RangeRecall(alpha=alpha, **shape), RangeF1(alpha=alpha, beta=beta, **shape)]
    return made, {**shape, "alpha": Fraction(alpha), "beta": Fraction(beta)}


def test_values_are_those_of_the_definition_in_every_window() -> None:
    """Runs at both borders, touching runs, single steps, all or nothing labelled: a draw is its slice, nothing else."""
    rng = np.random.default_rng(13)
    for runs, n, detector in labelled_cases(rng, 1_300):
        begins = np.arange(len(detector) - n + 1)
        series, (made, settings) = series_of(runs, n), three(rng)
        draws = Draws.moving(series.runs, n, begins)
        values = np.array([metric.values(metric.tables(detector, series), draws) for metric in made])
        for begin, value in zip(begins.tolist(), values.T, strict=True):
            window = detector[begin : begin + n].tolist()
            expected = slow_ranged(runs, n, window, **settings)
            assert value == pytest.approx(list(map(float, expected)), rel=1e-13, nan_ok=True), (runs, window, settings)


def test_a_window_of_a_long_detector_is_its_slice_to_the_last_digit() -> None:
    """Ties between rotations stay ties, however many runs of alarms lie before them."""
    rng = np.random.default_rng(7)
    n = 100_000
    alarms = rng.random(n) < 0.3
    twice, series = np.tile(alarms, 2), series_of([(t, t + 700) for t in range(300, n, 1_000)], n)
    begins = np.concatenate([[0, n - 1, n], rng.integers(0, n, 7)])
    for metric in (RangePrecision(), RangeRecall(bias="middle"), RangeF1(bias="back", cardinality="reciprocal")):
        values = metric.values(metric.tables(twice, series), Draws.moving(series.runs, n, begins))
        only = Draws.moving(series.runs, n, np.zeros(1))
        assert values.tolist() == [
            metric.values(metric.tables(twice[begin : begin + n], series), only)[0] for begin in begins
        ]
        assert values[0] == values[2]


def test_all_rotations_at_once_are_those_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Fourier transforms, with the seam within a run of alarms and without, and alarms everywhere or nowhere."""
    rng = np.random.default_rng(5)
    monkeypatch.setattr(ranged, "FEW", -1)
    for runs, n, detector in labelled_cases(rng, 300):
        if not runs:
            continue
        series, twice = series_of(runs, n), np.tile(detector[:n], 2)
        draws = Draws.moving(series.runs, n, np.arange(n))
        for metric in (RangePrecision(), RangeRecall(), RangeF1(), RangeF1(beta=3)):
            at_once = metric.every_rotation(detector, series)
            assert metric.at_once(series)
            one_by_one = metric.values(metric.tables(twice, series), draws)
            assert at_once == pytest.approx(one_by_one, abs=1e-13, nan_ok=True), (runs, detector[:n])


def test_rotations_at_once_are_for_flat_metrics_and_many_runs_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere they are enumerated, which is exact."""
    series = series_of([(1, 3)], 6)
    assert not RangeF1().at_once(series)
    monkeypatch.setattr(ranged, "FEW", -1)
    for metric in (RangeF1(bias="front"), RangeF1(cardinality="reciprocal"), RangeRecall(alpha=0.5)):
        assert not metric.at_once(series)


@pytest.mark.parametrize(
    ("bias", "cardinality", "precision", "recall", "f2"),
    [
        ("flat", "one", 0.5166666666666667, 0.6416666666666667, 0.6120512820512821),
        ("flat", "reciprocal", 0.4666666666666666, 0.5291666666666667, 0.5153623188405797),
        ("front", "one", 0.5, 0.6416666666666667, 0.6072555205047319),
        ("front", "reciprocal", 0.4444444444444444, 0.5083333333333334, 0.4941271769947348),
        ("middle", "one", 0.49074074074074076, 0.6458333333333334, 0.607438627624963),
        ("middle", "reciprocal", 0.4537037037037037, 0.5416666666666666, 0.5214472822527833),
        ("back", "one", 0.5333333333333333, 0.6416666666666667, 0.6166166166166167),
        ("back", "reciprocal", 0.4888888888888889, 0.5499999999999999, 0.5365853658536585),
    ],
)
def test_values_are_those_of_prts(bias: Any, cardinality: Any, precision: float, recall: float, f2: float) -> None:
    """prts 1.0.0.3 gives these, as aeon 1.6 does, but for F2."""
    shape: dict[str, Any] = {"bias": bias, "cardinality": cardinality}
    assert RangePrecision(**shape)(TRUTH, ALARMS) == pytest.approx(precision, rel=1e-14)
    assert RangeRecall(alpha=0.25, **shape)(TRUTH, ALARMS) == pytest.approx(recall, rel=1e-14)
    assert RangeF1(alpha=0.25, beta=2, **shape)(TRUTH, ALARMS) == pytest.approx(f2, rel=1e-14)


def test_aeons_f_is_ours_at_beta_1_only() -> None:
    """aeon 1.6 divides by β² (P + R): its F2 is 5/8 of its F1 for any P and R, and F_½ may be above 1."""
    aeons = RangeF1(alpha=0.5, cardinality="reciprocal")(TRUTH, ALARMS)
    assert aeons == pytest.approx(0.5555020080321285, rel=1e-14)
    assert 5 / 8 * aeons == pytest.approx(0.3471887550200803, rel=1e-14)
    assert RangeF1(alpha=0.5, cardinality="reciprocal", beta=2)(TRUTH, ALARMS) > aeons


def test_single_steps_have_the_classical_measures() -> None:
    """Where all runs are single steps, the default is precision, recall and F1 of steps."""
    truth, alarms = [1, 0, 1, 0, 0, 1, 0, 0], [1, 0, 0, 0, 1, 0, 0, 0]
    assert [m(truth, alarms) for m in (RangePrecision(), RangeRecall(), RangeF1())] == pytest.approx(
        [1 / 2, 1 / 3, 2 / 5]
    )


def test_touching_ranges_are_two() -> None:
    """A run of alarms over both meets two, and each of them counts for itself."""
    ranges, alarms = [(0, 1), (2, 3)], [0, 1, 1, 1, 0, 0]
    assert RangeRecall()(ranges, alarms, truth_as="ranges") == 0.75
    assert RangePrecision()(ranges, alarms, truth_as="ranges") == 1
    assert RangePrecision(cardinality="reciprocal")(ranges, alarms, truth_as="ranges") == 0.5
    assert RangePrecision(cardinality="reciprocal")([1, 1, 1, 1, 0, 0], alarms) == 1


@pytest.mark.parametrize("truth", [[0, 0, 0], [1, 0, 0], [1, 1, 1]])
@pytest.mark.parametrize("alarms", [[0, 0, 0], [1, 1, 1]])
def test_undefined_cases(truth: list[int], alarms: list[int]) -> None:
    """All are NaN without labels; without alarms precision is NaN, recall and F are 0."""
    precision, recall, f = (metric(truth, alarms) for metric in (RangePrecision(), RangeRecall(alpha=0.5), RangeF1()))
    if not any(truth):
        assert all(map(math.isnan, (precision, recall, f)))
    elif not any(alarms):
        assert math.isnan(precision)
        assert (recall, f) == (0, 0)
    else:
        share = sum(truth) / 3
        assert (precision, recall, f) == pytest.approx((share, 1, 2 * share / (share + 1)))


def test_settings_that_are_none_are_refused() -> None:
    """By name and value, with what would do."""
    with pytest.raises(InputError, match=r"alpha=1\.5 must be between 0 and 1"):
        RangeRecall(alpha=1.5)
    with pytest.raises(InputError, match="alpha=nan must be between"):
        RangeF1(alpha=math.nan)
    with pytest.raises(InputError, match="bias='left' must be one of 'flat', 'front', 'middle', 'back'"):
        RangePrecision(bias="left")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="cardinality='two' must be one of 'one', 'reciprocal'"):
        metrics.get("range-f1:cardinality=two")
    with pytest.raises(InputError, match="beta=-1 must be finite and not negative"):
        RangeF1(beta=-1)
    with pytest.raises(InputError, match=r"range-precision:alpha=1.*alpha"):
        metrics.get("range-precision:alpha=1")
