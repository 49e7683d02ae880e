"""Skovgaard's approximation against the exact tails it stands in for."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nofluke.errors import InputError
from nofluke.laws.approximate import saddlepoint_tail
from nofluke.laws.exact import fourier
from nofluke.series.counting import Windows


def at_random(n_steps: int, n: int, tolerance: int, seed: int) -> Windows:
    """Windows of `tolerance` steps to either side of n distinct random steps."""
    positions = np.sort(np.random.default_rng(seed).choice(n_steps, n, replace=False))
    return Windows(
        starts=np.maximum(positions - tolerance, 0),
        stops=np.minimum(positions + tolerance + 1, n_steps),
        n_steps=n_steps,
    )


@pytest.mark.parametrize(
    ("n_steps", "n", "tolerance", "n_events"), [(2_557, 256, 2, 162), (10_000, 500, 20, 300), (100_000, 2_000, 5, 500)]
)
@pytest.mark.parametrize("side", ["upper", "lower"])
def test_irregular_patterns_are_approximated_closely(n_steps, n, tolerance, n_events, side):
    """Within half a percent of the exact tail for random predictions, from the middle to 1e-20."""
    windows = at_random(n_steps, n, tolerance, seed=n)
    lo, law = fourier.pmf(windows, n_events, floor=1e-20)
    mean = lo + float(np.arange(len(law)) @ law)
    sd = math.sqrt(float((lo + np.arange(len(law)) - mean) ** 2 @ law))
    for z in (-5.0, -2.0, -0.4, 0.0, 0.1, 0.6, 3.0, 8.0):
        hits = round(mean + z * sd)
        exact = fourier.tail(windows, n_events, hits, side=side)
        approximate = saddlepoint_tail(windows, n_events, hits, side=side)
        assert approximate.method.kind == "approximate"
        assert approximate.p == pytest.approx(exact.p, rel=5e-3)
        assert approximate.log_p == pytest.approx(exact.log_p, rel=5e-3, abs=5e-3)


def test_regular_patterns_are_approximated_at_all():
    """Where the law is not smooth the approximation keeps the order of magnitude, and not much more is promised."""
    starts = np.concatenate([np.arange(a, a + 6) for a in range(0, 300, 30)])
    windows = Windows(starts=starts, stops=starts + 7, n_steps=320)
    for hits in (12, 25, 40):
        exact = fourier.tail(windows, 8, hits).p
        assert 0.5 < saddlepoint_tail(windows, 8, hits).p / exact < 2.0


def test_the_tail_passes_smoothly_through_the_middle():
    """The formula is 0/0 at the mean: it falls there from one hit to the next as the exact tail does."""
    windows = at_random(50_000, 1_000, 10, seed=2)
    middle = round(fourier.pmf(windows, 800, floor=1e-6)[1].argmax()) + fourier.pmf(windows, 800, floor=1e-6)[0]
    for hits in range(middle - 8, middle + 9):
        assert saddlepoint_tail(windows, 800, hits).p == pytest.approx(fourier.tail(windows, 800, hits).p, rel=1e-3)


@settings(max_examples=25)
@given(seed=st.integers(0, 1_000), n=st.integers(1, 40), n_events=st.integers(0, 200), hits=st.integers(-2, 42))
def test_probabilities_stay_between_zero_and_one_and_add_up(seed, n, n_events, hits):
    """Whatever is asked, p is a probability, log_p its logarithm, and C >= c and C < c make up nearly everything."""
    windows = at_random(200, n, 3, seed)
    upper = saddlepoint_tail(windows, n_events, hits)
    lower = saddlepoint_tail(windows, n_events, hits - 1, side="lower")
    for found in (upper, lower):
        assert 0.0 <= found.p <= 1.0
        assert found.p == pytest.approx(math.exp(found.log_p), rel=1e-12)
    assert upper.p + lower.p == pytest.approx(1.0, abs=1e-9)


def test_windows_that_all_hang_together_are_certified():
    """Most angles are left after a few blocks: those that were not walked through do not use up the effort."""
    at = np.arange(0, 100_000, 10)
    windows = Windows(starts=np.maximum(at - 10, 0), stops=np.minimum(at + 11, 100_000), n_steps=100_000)
    for hits in (8_906, 9_028, 9_212):
        exact = fourier.tail(windows, 10_000, hits)
        assert exact.method.error < 1e-11
        assert saddlepoint_tail(windows, 10_000, hits).p == pytest.approx(exact.p, rel=5e-3)


def test_what_is_known_exactly_is_said_to_be():
    """Hits out of reach give 0 or 1; no hit at all has a closed form."""
    windows = at_random(1_000, 20, 2, seed=4)
    impossible = saddlepoint_tail(windows, 0, 1)
    assert (impossible.log_p, impossible.p, impossible.method.kind) == (-math.inf, 0.0, "exact")
    assert saddlepoint_tail(windows, 1_000, 20).p == 1.0
    assert saddlepoint_tail(windows, 30, 21).p == 0.0
    assert saddlepoint_tail(windows, 30, 0).p == 1.0
    assert saddlepoint_tail(windows, 1, 15).p == 0.0  # one event does not reach fifteen windows of five steps
    none = saddlepoint_tail(windows, 30, 0, side="lower")
    assert none.method.kind == "exact"
    assert none.log_p == pytest.approx(fourier.tail(windows, 30, 0, side="lower").log_p, rel=1e-13)


@pytest.mark.parametrize(
    ("n_events", "side", "message"),
    [(31, "upper", "n_events must be from 0 to the 30 steps, got 31"), (3, "two", "side must be")],
)
def test_errors_name_argument_and_value(n_events, side, message):
    """Input that makes no sense is refused with its name and value."""
    with pytest.raises(InputError, match=message):
        saddlepoint_tail(at_random(30, 5, 1, seed=0), n_events, 2, side=side)
