"""The clock: durations as text and as objects, windows in time, and the step that a time belongs to."""

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nofluke import InputError
from nofluke.dates import as_duration, format_duration, parse_duration
from nofluke.series.clock import as_ticks, listing, make_clock

SECOND = 10**9
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def dates(*texts, unit="s"):
    return np.array(texts, dtype=f"datetime64[{unit}]")


def windows_pair_by_pair(ticks, before, after):
    """The definition: every step no more than `before` earlier and `after` later, in Python's own integers."""
    ticks = [int(t) for t in ticks]
    reached = [[j for j, u in enumerate(ticks) if t - before <= u <= t + after] for t in ticks]
    return [r[0] for r in reached], [r[-1] + 1 for r in reached]


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("2h", 7200 * SECOND),
        ("1h30min", 5400 * SECOND),
        ("1h 30min", 5400 * SECOND),
        (" 90 s ", 90 * SECOND),
        ("90sec", 90 * SECOND),
        ("1.5s", 1_500_000_000),
        (".5h", 1800 * SECOND),
        ("3D", 3 * 86400 * SECOND),
        ("2w", 14 * 86400 * SECOND),
        ("5m", 300 * SECOND),
        ("250ms", 250 * 10**6),
        ("7us", 7000),
        ("7µs", 7000),  # the micro sign
        ("7μs", 7000),  # the Greek letter
        ("3ns", 3),
        ("0s", 0),
        ("0.1ns", 0),
        ("100000000000w", 100_000_000_000 * 7 * 86400 * SECOND),
    ],
)
def test_durations_are_read_as_people_write_them(text, nanoseconds):
    """A number and a unit, several of them, fractions, capitals, blanks; no size is too large."""
    assert parse_duration(text, "tolerance") == nanoseconds


@pytest.mark.parametrize(
    "text", ["", "h", "2", "2 hours", "2h-", "2h 3", "two h", "1e3s", "2.h", "1,5h", "2h30", "inf"]
)
def test_text_that_is_no_duration_is_an_error_with_an_example(text):
    """The message names the argument, shows the text, and says how to write a duration."""
    with pytest.raises(InputError, match=r'^tolerance=.* is not a duration: write a number and a unit .*"2h"'):
        parse_duration(text, "tolerance")


def test_a_negative_duration_is_called_negative():
    """-2h is understood, and refused for what it is."""
    with pytest.raises(InputError, match="early='-2h' is negative"):
        parse_duration("-2h", "early")


@given(st.integers(0, 10**24))
def test_a_printed_duration_reads_back_exactly(nanoseconds):
    """What is printed, and what JSON holds, is the duration itself and not a rounding of it."""
    assert parse_duration(format_duration(nanoseconds), "tolerance") == nanoseconds
    if nanoseconds:
        assert format_duration(-nanoseconds) == "-" + format_duration(nanoseconds)


def test_lengths_that_are_measured_are_printed_in_six_digits():
    """A mean delay is no whole number of anything, and is printed in the largest unit that fits."""
    assert format_duration(1e9 / 3) == "333.333ms"
    assert format_duration(float(86400 * SECOND) * 1.5) == "1.5d"
    assert format_duration(0.5) == "0.5ns"


@pytest.mark.parametrize(
    ("value", "nanoseconds"),
    [
        (timedelta(hours=2), 7200 * SECOND),
        (timedelta(microseconds=-1), -1000),
        (timedelta.max, ((timedelta.max.days * 86400 + 86399) * 10**6 + 999_999) * 1000),
        (pd.Timedelta("1us") + pd.Timedelta("1ns"), 1001),
        (np.timedelta64(2, "h"), 7200 * SECOND),
        (np.timedelta64(3, "W"), 21 * 86400 * SECOND),
        (np.timedelta64(5, "m"), 300 * SECOND),
        (np.timedelta64(10**10, "D"), 10**10 * 86400 * SECOND),  # more nanoseconds than 64 bits hold
        (np.timedelta64(2500, "ps"), 2),
        (2, None),
        (2.5, None),
        (None, None),
    ],
)
def test_duration_objects_keep_every_nanosecond(value, nanoseconds):
    """Python's, NumPy's and pandas' durations are exact and cannot overflow; anything else is no duration."""
    assert as_duration(value, "tolerance") == nanoseconds


@pytest.mark.parametrize("value", [np.timedelta64(1, "Y"), np.timedelta64(1, "M"), np.array(2).view("m8")[()]])
def test_durations_without_a_fixed_length_are_errors(value):
    """A month is not 30.436875 days, and a number without a unit is nothing; NumPy would make up a length."""
    with pytest.raises(InputError, match=r"tolerance=.* no fixed length: pass a duration in days"):
        as_duration(value, "tolerance")


def test_not_a_time_is_no_duration():
    """NaT names the argument and the remedy."""
    with pytest.raises(InputError, match=r"tolerance is not a time \(NaT\): pass a duration"):
        as_duration(np.timedelta64("NaT", "s"), "tolerance")


@pytest.mark.parametrize("unit", UNITS)
def test_windows_are_closed_and_exact_in_every_unit(unit):
    """A step exactly two ticks away is inside a window of two ticks, and outside one a nanosecond shorter."""
    size = UNITS[unit]
    start = 1_600_000_000 * SECOND // size  # far from zero, where floats of nanoseconds would lose 256 of them
    clock = make_clock((start + np.array([0, 1, 2, 4])).astype(f"datetime64[{unit}]"), "times")
    starts, stops = clock.windows(2 * size, size)
    assert starts.tolist() == [0, 0, 0, 2]
    assert stops.tolist() == [2, 3, 3, 4]
    starts, _ = clock.windows(2 * size - 1, 0)
    assert starts.tolist() == [0, 0, 1, 3]


@example([-(2**63) + 1, 0, 2**63 - 1], 2**62, 2**70)
@given(
    st.lists(st.integers(-(2**63) + 1, 2**63 - 1), min_size=1, max_size=8, unique=True),
    st.integers(0, 2**70),
    st.integers(0, 2**70),
)
def test_no_clock_and_no_duration_is_long_enough_to_overflow(times, before, after):
    """Nanosecond clocks over centuries, with tolerances longer than 64 bits, match Python's integers."""
    ticks = np.array(sorted(times), dtype=np.int64)
    for clock in (make_clock(ticks.astype("datetime64[ns]"), "times"), make_clock(ticks, "times")):
        starts, stops = clock.windows(before, after)
        assert (starts.tolist(), stops.tolist()) == windows_pair_by_pair(ticks, before, after)


def test_the_clock_of_small_integers_does_not_wrap_around():
    """int8 and uint8 hold the times, but not the sums of times and tolerances."""
    for times in (np.array([-120, 0, 120], dtype=np.int8), np.array([0, 120, 240], dtype=np.uint8)):
        starts, stops = make_clock(times, "times").windows(130, 130)
        assert (starts.tolist(), stops.tolist()) == ([0, 0, 1], [2, 3, 3])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 1000.0])
def test_windows_on_a_clock_of_floats_are_closed_in_spite_of_rounding(dtype, offset):
    """0.8 - 0.7 is more than 0.1 by rounding alone: all neighbours are within 0.1, and nothing farther is."""
    clock = make_clock((offset + np.arange(30) / 10).astype(dtype), "times")
    starts, stops = clock.windows(0.1, 0.2)
    assert starts.tolist() == [max(t - 1, 0) for t in range(30)]
    assert stops.tolist() == [min(t + 3, 30) for t in range(30)]


def test_no_tolerance_on_a_clock_of_floats_reaches_nobody_else():
    """The slack for rounding does not turn 0 into something, however close the steps are."""
    clock = make_clock(1.0 + np.arange(5) * np.spacing(1.0), "times")
    starts, stops = clock.windows(0, 0)
    assert (starts.tolist(), stops.tolist()) == ([0, 1, 2, 3, 4], [1, 2, 3, 4, 5])


def test_a_time_belongs_to_the_last_step_at_or_before_it():
    """On a step, between two steps, before 1970, and after the last stamp for as long as a step lasts."""
    clock = make_clock(dates("1969-12-30", "1969-12-31", "1970-01-01", unit="D"), "times")
    times = dates("1969-12-30", "1969-12-30T23:59:59.999999", "1969-12-31T00", "1970-01-01T23:59:59.999999", unit="us")
    assert clock.steps_at(times, "truth").tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize(
    "late",
    ["1970-01-02", "1969-12-29T23:59:59", "1500-01-01", "2554-07-21T23:34:33"],  # the last wraps around into the clock
)
def test_a_time_outside_the_clock_is_an_error_that_lists_it(late):
    """Also where the time is so far away that it would wrap around in the clock's nanoseconds."""
    clock = make_clock(dates("1969-12-30", "1969-12-31", "1970-01-01", unit="ns"), "times")
    message = rf"truth has 1 time\(s\) outside the clock \(1969-12-30 to 1970-01-01\): {late}: remove them"
    with pytest.raises(InputError, match=message):
        clock.steps_at(dates("1969-12-30", late), "truth")


def test_many_times_outside_the_clock_are_listed_in_short():
    """The first five, and how many more there are."""
    with pytest.raises(
        InputError, match=r"truth has 7 time\(s\) outside the clock \(0 to 9\): 20, .*, 24 and 2 more: "
    ):
        make_clock(np.arange(10), "times").steps_at(np.arange(20, 27), "truth")


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=10, unique=True), st.lists(st.integers(-60, 60), max_size=8))
def test_steps_of_times_match_a_search_by_hand(stamps, times):
    """Whole numbers, tenths and seconds agree with a search through all steps, errors included."""
    stamps = sorted(stamps)
    end = stamps[-1] + float(np.median(np.diff(stamps)))
    inside = [t for t in times if stamps[0] <= t < end]
    expected = [max(i for i, s in enumerate(stamps) if s <= t) for t in inside]
    for make in (
        np.asarray,
        lambda v: np.asarray(v) / 10,
        lambda v: np.asarray(v) * 0.1,  # not always the same float as a tenth
        lambda v: np.asarray(v, dtype="datetime64[s]"),
    ):
        kind = int if len(inside) == 0 else None
        clock = make_clock(make(stamps), "times")
        assert clock.steps_at(make(np.asarray(inside, dtype=kind)), "truth").tolist() == expected
        if len(inside) < len(times):
            with pytest.raises(InputError, match="outside the clock"):
                clock.steps_at(make(times), "truth")


def test_another_rounding_of_a_steps_time_belongs_to_that_step():
    """0.3 belongs to the step at 0.30000000000000004, in either precision; the first and the last step too."""
    clock = make_clock(np.arange(11) * 0.1, "times")
    tenths = np.arange(11) / 10
    assert clock.steps_at(tenths, "truth").tolist() == list(range(11))
    assert clock.steps_at(tenths.astype(np.float32), "truth").tolist() == list(range(11))
    single = make_clock(tenths.astype(np.float32), "times")
    assert single.steps_at(tenths, "truth").tolist() == list(range(11))


def test_large_whole_times_are_never_compared_as_floats():
    """Nanoseconds since 1970 as plain numbers, signed and unsigned, keep their last digit."""
    stamps = 10**18 + 1 + np.arange(5)
    for clock_type in (np.int64, np.uint64):
        clock = make_clock(stamps.astype(clock_type), "times")
        for times_type in (np.int64, np.uint64):
            assert clock.steps_at(stamps.astype(times_type), "truth").tolist() == [0, 1, 2, 3, 4]


def test_float_times_are_not_rounded_onto_a_clock_of_large_whole_numbers():
    """As a float 10**18 + 63 is 10**18: a time there belongs to the step before."""
    clock = make_clock(10**18 + np.array([-64, 63, 191]), "times")
    times = np.array([10**18, 10**18 + 128], dtype=np.float64)
    assert clock.steps_at(times, "truth").tolist() == [0, 1]
    assert make_clock(np.array([0, 2, 4]), "times").steps_at(np.array([1.5, 2.0, 5.9]), "truth").tolist() == [0, 1, 2]
    for beyond in (1e300, -1e300, 2.0**63):
        with pytest.raises(InputError, match=r"truth has 1 time\(s\) outside the clock"):
            clock.steps_at(np.array([beyond]), "truth")


def test_a_single_step_holds_only_its_own_time():
    """One step says nothing about how long it lasts."""
    clock = make_clock(dates("2020-01-01"), "times")
    assert clock.step == 0
    assert clock.steps_at(dates("2020-01-01"), "truth").tolist() == [0]
    with pytest.raises(InputError, match="outside the clock"):
        clock.steps_at(dates("2020-01-01T00:00:01"), "truth")


def test_steps_last_until_the_next_one():
    """The last lasts as long as the median step; nanoseconds for dates, the clock's own unit for numbers."""
    assert make_clock(np.array([0, 1, 3, 10]), "times").lasting(np.array([True, False, True, True])) == 1 + 7 + 2
    clock = make_clock(dates("2020-01-01", "2020-01-02", "2020-01-04"), "times")
    assert clock.lasting(np.array([True, True, True])) == 4.5 * 86400 * SECOND


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array([1, 3, 2]), "times must increase, but 2 at position 2 comes after 3: sort the data by time"),
        (np.array([0.5, 1.5, 1.25]), "times must increase, but 1.25 at position 2 comes after 1.5"),
        (dates("2020-01-02", "2020-01-01"), "2020-01-01 at position 1 comes after 2020-01-02: sort"),
        (np.array([1, 1, 2, 2]), r"times has 2 duplicate time\(s\), first 1 at positions 0 and 1: keep one row"),
        (np.array([1600000000, 1600000000]), "first 1600000000 at"),
        (
            np.array([0.0, np.nan, np.inf]),
            r"times has 2 missing or infinite time\(s\) at position\(s\) 1, 2: every step",
        ),
        (dates("2020-01-01", "NaT"), r"times has 1 missing or infinite time\(s\) at position\(s\) 1: every step"),
        (dates("2020-01-01T00:00:00.5", "2020-01-01", unit="us"), "after 2020-01-01T00:00:00.5: sort"),
    ],
)
def test_a_clock_that_is_no_clock_says_where(values, message):
    """Unsorted, duplicate and missing times name the position, the value and the remedy."""
    with pytest.raises(InputError, match=message):
        make_clock(values, "times")


def test_times_with_a_zone_are_shown_with_it():
    """A message in UTC says so."""
    with pytest.raises(InputError, match="first 2020-01-01T00:00:00Z at"):
        make_clock(dates("2020-01-01", "2020-01-01", unit="ns"), "times", aware=True)


@pytest.mark.parametrize(("unit", "kept"), [("D", "s"), ("h", "s"), ("M", "s"), ("s", "s"), ("ms", "ms"), ("ps", "ns")])
def test_dates_become_whole_ticks_of_a_unit_that_holds_them(unit, kept):
    """Coarse units become seconds, finer ones than nanoseconds become those."""
    ticks, found = as_ticks(np.array(["1970-03-01"], dtype=f"datetime64[{unit}]"), "times")
    assert (found, ticks.tolist()) == (kept, [59 * 86400 * SECOND // UNITS[kept]])


def test_listing_shows_a_few_and_counts_the_rest():
    """Messages stay short, whatever the data."""
    assert listing(np.arange(3)) == "0, 1, 2"
    assert listing(np.arange(100), most=2) == "0, 1 and 98 more"


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("1M", r'may be minutes or months: write "1min" or "30d"'),
        ("1h30M", r'may be minutes or months: write "1min" or "30d"'),
        ("5MS", r'may be milliseconds or months: write "1ms" or "30d"'),
        ("5Ms", r'may be milliseconds or months: write "1ms" or "30d"'),
        ("1Y", r'is in years, which have no fixed length: write "365d"'),
        ("2y", r'is in years, which have no fixed length: write "365d"'),
    ],
)
def test_units_that_mean_different_things_to_different_people_are_refused(text, remedy):
    """A month is never taken for a minute."""
    with pytest.raises(InputError, match=f"^tolerance='{text}' {remedy}"):
        parse_duration(text, "tolerance")


def test_other_units_may_be_capital():
    """As pandas writes them, or wrote them once; a plain m is a minute."""
    assert [parse_duration(text, "x") for text in ("1H", "1D", "2W", "1MIN", "1Min", "1m", "1S", "1NS")] == [
        3600 * 10**9, 86400 * 10**9, 14 * 86400 * 10**9, 60 * 10**9, 60 * 10**9, 60 * 10**9, 10**9, 1
    ]  # fmt: skip


def test_a_duration_of_many_digits_is_refused():
    """More than Python itself would read, in a message that does not show them all."""
    with pytest.raises(InputError, match="is not a duration") as caught:
        parse_duration("9" * 5000 + "h", "tolerance")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            np.array([1, 10**12], dtype="datetime64[Y]"),
            r"times has 1 date\(s\) too far away for times in s, first 1\d+ at",
        ),
        (
            np.array([2**63, 2**63 + 1], dtype=np.uint64),
            r"times has 1 whole number\(s\) that 64-bit floats cannot hold",
        ),
        (
            np.array([-1.7e308, 1.7e308]),
            r"times goes from -1.7e\+308 to 1.7e\+308, longer than 64-bit floats can count",
        ),
    ],
    ids=["years", "uint64", "floats"],
)
def test_clocks_that_do_not_fit_their_numbers_are_refused(values, message):
    """They would wrap around, merge or become infinite."""
    with pytest.raises(InputError, match=message):
        make_clock(values, "times")


def test_a_clock_of_floats_is_a_copy():
    """Of the same precision, in the machine's own order of bytes."""
    for kind in ("<f8", ">f8", "f4", "f2"):
        times = np.array([0, 1.5, 4], dtype=kind)
        clock = make_clock(times, "times")
        times[:] = 0
        assert clock.ticks.tolist() == [0, 1.5, 4]
        assert clock.ticks.dtype == np.dtype(kind).newbyteorder("=")
