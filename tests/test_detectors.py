"""The energy transient score against its literal definition, and the input it refuses."""

import os
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nofluke.detectors import Detector, energy_transient
from nofluke.errors import InputError


def exact_scores(x, short, long):
    """The definition, in rational numbers."""
    scores = []
    for t in range(len(x)):
        if t < long - 1:
            scores.append(Fraction(0))
            continue
        sta = sum(map(Fraction, x[t - short + 1 : t + 1])) / short
        lta = sum(map(Fraction, x[t - long + 1 : t + 1])) / long
        scores.append(sta / (lta + 1))
    return scores


@st.composite
def windows(draw, elements):
    x = draw(st.lists(elements, min_size=1, max_size=40))
    long = draw(st.integers(1, len(x)))
    return x, draw(st.integers(1, long)), long


@given(windows(st.integers(0, 10**9)))
def test_counts_score_as_defined_to_the_last_digits(case):
    """Whole numbers give the defined score up to the rounding of two divisions and one sum."""
    expected = np.array([float(z) for z in exact_scores(*case)])
    assert np.all(np.abs(energy_transient(*case) - expected) <= 3 * np.spacing(expected))


@given(windows(st.floats(0, 1e12)))
def test_real_values_score_as_defined(case):
    """Other values agree to a relative error of the order of the window times the machine precision."""
    expected = np.array([float(z) for z in exact_scores(*case)])
    np.testing.assert_allclose(energy_transient(*case), expected, rtol=1e-14, atol=1e-300)


def test_small_values_after_large_ones_keep_their_digits():
    """A huge burst leaves no trace once it has left the window."""
    rng = np.random.default_rng(1)
    quiet = rng.random(300)
    burst = np.concatenate([np.full(50, 1e16), quiet])
    np.testing.assert_array_max_ulp(energy_transient(burst)[64:], energy_transient(quiet)[14:], maxulp=8)


def test_scores_are_zero_until_the_long_window_is_full():
    """The first long - 1 steps score 0, the next one does not."""
    scores = energy_transient(np.ones(20, dtype=np.int64))
    assert not scores[:13].any()
    assert np.all(scores[13:] == 0.5)


def test_a_score_uses_only_the_past():
    """Changing the future changes no score before it."""
    x = np.arange(60) % 7
    changed = x.copy()
    changed[40:] = 1000
    np.testing.assert_array_equal(energy_transient(x)[:40], energy_transient(changed)[:40])


def test_the_series_is_left_alone():
    """The caller's array is not written to, even if it is float64 already."""
    x = np.arange(20.0)
    energy_transient(x)
    np.testing.assert_array_equal(x, np.arange(20.0))


def test_any_function_from_series_to_scores_is_a_detector():
    """The protocol is met by a partial function and by a lambda."""
    detectors: list[Detector] = [partial(energy_transient, short=1, long=2), lambda x: np.abs(np.asarray(x))]
    assert [len(np.asarray(detect([1, 2, 3]))) for detect in detectors] == [3, 3]


@pytest.mark.parametrize(
    ("x", "settings", "message"),
    [
        ([1, 2, 3], {"short": 0}, "short=0 must be a whole number of at least 1"),
        ([1, 2, 3], {"short": 1.5}, "short=1.5 must be a whole number of at least 1"),
        ([1, 2, 3], {"short": 3, "long": 2}, "short=3 must not exceed long=2"),
        ([1, 2, 3], {"long": 4}, "long=4 exceeds the 3 steps of x"),
        ([], {}, "exceeds the 0 steps"),
        ([[1, 2], [3, 4]], {"short": 1, "long": 1}, r"x must have one dimension, got shape \(2, 2\)"),
        ([[1, 2], [3]], {"short": 1, "long": 1}, "x must be one column of plain items, got nested sequences"),
        (["a", "b"], {"short": 1, "long": 1}, "x must hold numbers, booleans or dates, got text 'a'"),
        ([1, np.nan, np.inf], {"short": 1, "long": 1}, "not finite at 2 of 3 steps, first nan at position 1"),
        (
            [1, -2, 3],
            {"short": 1, "long": 1},
            r"first -2 at position 1: pass its energy",
        ),
        ([1e308, 1e308], {"short": 1, "long": 2}, "overflows: rescale"),
    ],
)
def test_bad_input_is_named(x, settings, message):
    """Every refusal names the argument, the value and the remedy."""
    with pytest.raises(InputError, match=message):
        energy_transient(x, **settings)


def test_the_papers_threshold_gives_256_predictions():
    """On the paper's data the .9-quantile of the score makes exactly the authors' 256 predictions."""
    if not (root := os.environ.get("NOFLUKE_DATA")):
        pytest.skip("NOFLUKE_DATA is unset: it names the directory of the data")
    counts = np.loadtxt(Path(root) / "anomaly-eval" / "twitter-earthquakes.dat")
    scores = energy_transient(counts)
    assert int((scores >= np.quantile(scores, 0.9)).sum()) == 256
    expected = np.array([float(z) for z in exact_scores([int(c) for c in counts], 3, 14)])
    np.testing.assert_array_max_ulp(scores, expected, maxulp=2)


def test_masked_values_are_missing():
    """What is under the mask of a masked array is no measurement, whatever number stands there."""
    x = np.ma.array([1, 2, 1000, 4], mask=[0, 0, 1, 0])
    with pytest.raises(InputError, match="x is not finite at 1 of 4 steps, first nan at position 2: fill or drop"):
        energy_transient(x, short=1, long=2)
    np.testing.assert_array_equal(energy_transient(x.filled(3), 1, 2), energy_transient([1, 2, 3, 4], 1, 2))


@pytest.mark.parametrize(
    "make", [pd.Series, pl.Series, pa.array, tuple, np.ma.array, lambda x: pd.array(x, dtype="Int64")]
)
def test_series_of_every_library_are_scored(make):
    """As everywhere else in nofluke."""
    x = [0, 0, 0, 9, 0, 0]
    assert energy_transient(make(x), short=1, long=3).tolist() == energy_transient(x, short=1, long=3).tolist()


def test_dates_are_no_measurements():
    """They are refused in words of their own."""
    with pytest.raises(InputError, match="x must be numbers, got dates"):
        energy_transient(np.arange(20).astype("datetime64[D]"))
