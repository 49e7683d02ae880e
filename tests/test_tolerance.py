"""Tolerance: what it may be made of, what it refuses, and the windows it makes."""

import json
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nofluke as nf
from nofluke import InputError, Tolerance
from nofluke.series.clock import make_clock
from nofluke.series.tolerance import as_tolerance

HOUR = 3600 * 10**9


def reached(ranges):
    return [list(range(a, b)) for a, b in zip(ranges.starts.tolist(), ranges.stops.tolist(), strict=True)]


@pytest.mark.parametrize("value", [3, 3.0, np.int64(3), np.uint8(3), np.float32(3), np.array(3)])
def test_whole_numbers_of_any_kind_are_steps(value):
    """3 and 3.0, from Python or NumPy, mean three steps, kept as a plain int."""
    tolerance = as_tolerance(value)
    assert tolerance == Tolerance(early=3, late=3, unit="steps")
    assert type(tolerance.early) is int


@pytest.mark.parametrize(
    "value", ["2h", "120min", timedelta(hours=2), np.timedelta64(2, "h"), pd.Timedelta(hours=2), pd.Timedelta("2h")]
)
def test_durations_of_any_kind_are_time(value):
    """Text, Python's, NumPy's and pandas' durations mean the same nanoseconds."""
    assert as_tolerance(value) == Tolerance(early=2 * HOUR, late=2 * HOUR, unit="ns")
    assert Tolerance(early=value, late=value) == as_tolerance(value)


def test_a_tolerance_is_passed_through():
    """What is a Tolerance already stays as it is."""
    tolerance = Tolerance(early=1, late=2)
    assert as_tolerance(tolerance) is tolerance


@pytest.mark.parametrize("value", [2.5, True, np.bool_(False), None, (1, 2), [2], 1j, {}, float("nan"), float("inf")])
def test_what_is_neither_steps_nor_time_is_refused_with_the_remedies(value):
    """Fractions, booleans, pairs and such: the message names the argument, the value and what to pass instead."""
    with pytest.raises(
        InputError, match=r"^tolerance=.* must be a whole number of steps, or a duration such as '2h'"
    ) as e:
        as_tolerance(value)
    assert repr(value) in str(e.value)
    assert "Tolerance(early=..., late=...)" in str(e.value)


@pytest.mark.parametrize("value", [-1, -1.0, np.int8(-3), timedelta(hours=-1), np.timedelta64(-1, "s")])
def test_negative_lengths_are_refused(value):
    """One length is for both sides, which cannot both be negative; the message says so and shows the value."""
    with pytest.raises(InputError, match=r"^tolerance=.* must be finite and not negative"):
        as_tolerance(value)


@pytest.mark.parametrize("side", ["early", "late"])
def test_errors_name_the_side(side):
    """An asymmetric tolerance says which of its ends is wrong."""
    sides = {"early": 1, "late": 1}
    with pytest.raises(InputError, match=f"^{side}=inf must be"):
        Tolerance(**sides | {side: float("inf")}, unit="clock")
    with pytest.raises(InputError, match=f"^{side}='2 hours' is not a duration"):
        Tolerance(**sides | {side: "2 hours"})


def test_steps_and_time_do_not_mix():
    """One side in steps and the other in hours has no meaning; a plain 0 goes with both."""
    with pytest.raises(InputError, match="early=1 and late='2h' must both be steps or both be durations"):
        Tolerance(early=1, late="2h")
    assert Tolerance(early=0, late="2h") == Tolerance(early="0s", late="2h")
    assert Tolerance(early="2h", late=0) == Tolerance(early="2h", late="0s")
    assert Tolerance(early="0s", late=2) == Tolerance(early=0, late=2)
    assert Tolerance(early=2, late="0s").unit == "steps"
    assert Tolerance(early=0, late=0).unit == "steps"
    assert Tolerance(early="0s", late=0).unit == Tolerance(early=0, late="0s").unit == "ns"


def test_the_unit_must_be_known_and_fit():
    """unit= takes three words, and a duration is no plain number."""
    with pytest.raises(InputError, match="unit='hours' must be one of 'steps', 'ns', 'clock'"):
        Tolerance(early=1, late=1, unit="hours")
    with pytest.raises(InputError, match="early='2h' is a duration, but unit='clock' asks for a plain number"):
        Tolerance(early="2h", late="2h", unit="clock")
    with pytest.raises(InputError, match="early=None must be a number in the clock's unit"):
        Tolerance(early=None, late=1, unit="clock")
    with pytest.raises(InputError, match="early=nan must be finite"):
        Tolerance(early=float("nan"), late=1, unit="clock")
    with pytest.raises(InputError, match=r"late=0.5 must be a whole number"):
        Tolerance(early=1, late=0.5, unit="steps")


@pytest.mark.parametrize(
    ("tolerance", "text", "plain"),
    [
        (Tolerance(early=1, late=1), "1 step", 1),
        (Tolerance(early=0, late=3), "0 to 3 steps late", {"early": 0, "late": 3}),
        (Tolerance(early="90min", late="90min"), "1.5h", "1.5h"),
        (Tolerance(early=0, late="1d"), "0 to 1d late", {"early": "0s", "late": "1d"}),
        (Tolerance(early=0.5, late=0.5, unit="clock"), "0.5 time units", 0.5),
        (Tolerance(early="100001s", late="100001s"), "100001s", "100001s"),
    ],
)
def test_a_tolerance_prints_what_can_be_read_back(tolerance, text, plain):
    """The words for people, and the plain value for JSON, which makes the same tolerance again."""
    assert str(tolerance) == text
    assert tolerance.plain() == plain
    sides = plain if isinstance(plain, dict) else {"early": plain, "late": plain}
    assert Tolerance(**sides, unit="clock" if tolerance.unit == "clock" else None) == tolerance


def test_a_tolerance_is_a_frozen_value():
    """It can be a key, is equal by value, cannot be changed, and swaps its sides."""
    tolerance = Tolerance(early=1, late=2)
    assert {tolerance: 1}[Tolerance(early=1, late=2)] == 1
    assert tolerance.swapped() == Tolerance(early=2, late=1)
    assert not tolerance.zero
    assert Tolerance(early="0s", late=0).zero
    with pytest.raises(AttributeError):
        tolerance.early = 5


@given(
    st.integers(1, 12),
    st.integers(0, 15) | st.just(10**30),
    st.integers(0, 15) | st.just(10**30),
)
def test_step_windows_are_closed_and_clipped(n, early, late):
    """A prediction p counts for an event q if q - early <= p <= q + late, seen from either; no length is too long."""
    tolerance = Tolerance(early=early, late=late)
    counts = [[p for p in range(n) if q - early <= p <= q + late] for q in range(n)]
    assert reached(tolerance.prediction_ranges(n, None)) == counts
    assert reached(tolerance.event_ranges(n, None)) == [[q for q in range(n) if p in counts[q]] for p in range(n)]


@given(
    st.lists(st.integers(-100, 100), min_size=1, max_size=8, unique=True),
    st.integers(0, 150),
    st.integers(0, 150),
    st.sampled_from(["s", "ms", "us", "ns", "clock", "tenths"]),
)
def test_time_windows_are_the_same_relation_on_every_clock(stamps, early, late, kind):
    """Dates in every unit, whole numbers and tenths give the windows of the definition, irregular steps included."""
    stamps = np.array(sorted(stamps))
    counts = [[i for i, p in enumerate(stamps) if q - early <= p <= q + late] for q in stamps]
    if kind in ("clock", "tenths"):
        scale = 1 if kind == "clock" else 10
        clock = make_clock(stamps if kind == "clock" else stamps / 10, "times")
        tolerance = Tolerance(early=early / scale, late=late / scale, unit="clock")
    else:
        clock = make_clock(stamps.astype(f"datetime64[{kind}]"), "times")
        tolerance = Tolerance(early=f"{early}{kind}", late=f"{late}{kind}")
    n = len(stamps)
    assert reached(tolerance.prediction_ranges(n, clock)) == counts
    assert reached(tolerance.event_ranges(n, clock)) == [[q for q in range(n) if p in counts[q]] for p in range(n)]


def test_a_window_is_in_time_and_not_in_steps():
    """On an irregular clock two hours may be many steps or none."""
    times = pd.to_datetime(["2020-01-01 00:00", "2020-01-01 01:00", "2020-01-01 02:00", "2020-01-01 12:00"])
    result = nf.evaluate([1, 0, 0, 1], [0, 0, 1, 0], threshold=1, tolerance="2h", times=times)
    assert (result.recall_hits, result.precision_hits) == (1, 1)
    just_short = nf.evaluate([1, 0, 0, 1], [0, 0, 1, 0], threshold=1, tolerance="119.99min", times=times)
    assert just_short.recall_hits == 0


def test_time_needs_a_clock_and_the_right_one():
    """Durations need dates, plain numbers a clock of numbers; each message has the remedy."""
    with pytest.raises(InputError, match="tolerance of 2h is a length of time, but the data has no clock: pass times="):
        nf.evaluate([0, 1], [0, 1], threshold=1, tolerance="2h")
    with pytest.raises(InputError, match=r"tolerance of 2h does not fit the clock: .* unit=\"clock\""):
        nf.evaluate([0, 1], [0, 1], threshold=1, tolerance="2h", times=[0.5, 1.5])
    clock_units = Tolerance(early=1, late=1, unit="clock")
    with pytest.raises(
        InputError, match="tolerance of 1 time unit does not fit the clock: a clock of dates needs a dur"
    ):
        nf.evaluate([0, 1], [0, 1], threshold=1, tolerance=clock_units, times=["2020-01-01", "2020-01-02"])


def test_a_tolerance_of_many_clock_units_keeps_its_last_digit():
    """2**53 + 1 is no float, but a whole clock counts that far."""
    times = np.array([0, 2**53 + 1])
    for late, recall in ((2**53, 0), (2**53 + 1, 1)):
        tolerance = Tolerance(early=0, late=late, unit="clock")
        assert nf.evaluate([1, 0], predictions=[0, 1], times=times, tolerance=tolerance).recall == recall


def test_a_tolerance_longer_than_the_sequence_is_fine():
    """With an event and a prediction both measures are 1, in steps, in time and beyond 64 bits."""
    times = pd.date_range("2020-01-01", periods=4, freq="D")
    for tolerance in (10, 10**30, "1w", "100000000w", Tolerance(early=timedelta.max, late="5d")):
        result = nf.evaluate([1, 0, 0, 0], [0, 0, 0, 1], threshold=1, tolerance=tolerance, times=times)
        assert (result.precision, result.recall) == (1.0, 1.0)


@pytest.mark.parametrize(
    "length", [10**400, -(10**400), 10**5000, "9" * 299 + "d"], ids=["large", "small", "huge", "days"]
)
def test_a_length_that_no_float_holds_is_refused_in_a_short_message(length):
    """It could be neither shown nor compared with a clock."""
    for make in (as_tolerance, lambda value: Tolerance(early=value, late=0)):
        with pytest.raises(InputError, match="must be finite") as caught:
            make(length)
        assert len(str(caught.value)) < 250


@pytest.mark.parametrize("length", [2**70, 10**300, "99999999999d"])
def test_a_length_beyond_every_sequence_reaches_everything(length):
    """Large is not wrong, and is shown and written."""
    tolerance = as_tolerance(length)
    assert str(tolerance)
    assert json.dumps(tolerance.plain())
    times = np.arange(5).astype("datetime64[h]")
    assert nf.evaluate([1, 0, 0, 0, 0], predictions=[0, 0, 0, 0, 1], times=times, tolerance=tolerance).recall == 1


@pytest.mark.parametrize("value", [True, np.True_, "2", b"2", None, [2], 1j])
def test_lengths_in_the_clocks_unit_are_numbers(value):
    """Not booleans, not text."""
    with pytest.raises(InputError, match="early="):
        Tolerance(early=value, late=0, unit="clock")
