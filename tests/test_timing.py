"""Delays and false alarms against slow loops, on every clock."""

import math
import re
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from statistics import mean, median

import numpy as np
import pytest
from hypothesis import given

import nofluke as nf
from nofluke.measures.delays import Delays, FalseAlarms, show_time
from oracles import Case, cases


def ask(case: Case) -> nf.Evaluation:
    """Put a random case to `evaluate`."""
    return nf.evaluate(
        case.truth,
        case.scores,
        threshold=case.threshold,
        tolerance=nf.Tolerance(**case.tolerance_arguments),
        times=case.times_argument,
        mask=case.mask_argument,
    )


def unit_of(case: Case) -> str:
    """The unit results come in."""
    if case.times_argument is None:
        return "steps"
    return "seconds" if case.times_argument.dtype.kind == "M" else "clock"


@given(case=cases(clocks=("none", "dates", "ints")))
def test_delays_are_those_of_a_slow_search(case):
    """For each event the nearest prediction that counts, else the nearest of all; the float nearest the exact delay."""
    delays = ask(case).delays
    expected = [math.nan if delay is None else float(delay) for delay in case.delays()]
    np.testing.assert_array_equal(delays.values, expected)
    assert delays.found.tolist() == case.found()
    assert delays.unit == unit_of(case)
    assert not np.signbit(delays.values[delays.values == 0]).any()


@given(case=cases(clocks=("floats",)))
def test_delays_on_a_clock_of_floats_are_right_up_to_rounding(case):
    """Which events are found is exact; of two equally near predictions rounding may pick either: the size is equal."""
    delays = ask(case).delays
    expected = [math.nan if delay is None else float(abs(delay)) for delay in case.delays()]
    np.testing.assert_allclose(np.abs(delays.values), expected, rtol=0, atol=1e-9)
    assert delays.found.tolist() == case.found()


@given(case=cases(clocks=("none", "dates", "ints")))
def test_summaries_are_of_the_events_that_were_found(case):
    """Median, mean and counts leave missed events out, and are NaN where all were missed."""
    delays = ask(case).delays
    found = [float(delay) for delay, is_found in zip(case.delays(), case.found(), strict=True) if is_found]
    if found:
        assert delays.median == pytest.approx(median(found), rel=1e-12)
        assert delays.mean == pytest.approx(mean(found), rel=1e-12, abs=1e-12)
        assert (delays.quantile(0), delays.quantile(1)) == (min(found), max(found))
    else:
        assert math.isnan(delays.median)
        assert math.isnan(delays.mean)
        assert str(delays) == "no event was found"
    assert delays.counts() == {
        "early": sum(value < 0 for value in found),
        "on_time": sum(value == 0 for value in found),
        "late": sum(value > 0 for value in found),
        "missed": len(case.events) - len(found),
    }


@given(case=cases(clocks=("none", "dates", "ints")))
def test_false_alarms_are_those_without_an_event_over_the_time_watched(case):
    """FP of the matrix with tolerance in the truth; the time is that of open steps, the last as long as the median."""
    alarms = ask(case).false_alarms
    assert alarms.count == case.tables()[0][1]
    assert alarms.unit == unit_of(case)
    assert alarms.duration == float(case.duration())


@given(case=cases())
def test_rates_are_counts_over_time(case):
    """The default rate per day, per 1,000 steps or per unit of the clock; NaN where no time was watched."""
    alarms = ask(case).false_alarms
    per = {"steps": 1000, "seconds": 86400, "clock": 1}[alarms.unit]
    if alarms.unit == "clock" and case.times_argument.dtype.kind == "f":
        # tenths are no floats: the time watched is that between the floats that were given
        case = replace(case, stamps=[Fraction(float(time)) for time in case.times_argument], per_unit=1)
    duration = case.duration()
    if duration:
        assert alarms.rate() == pytest.approx(float(Fraction(alarms.count * per) / duration), rel=1e-12)
    else:
        assert math.isnan(alarms.rate())


def test_of_two_equally_near_predictions_the_earlier_is_taken():
    """A tie goes to the past, in steps and in time."""
    truth, alarms = [0, 0, 1, 0, 0], [1, 0, 0, 0, 1]
    assert nf.evaluate(truth, predictions=alarms, tolerance=2).delays.values.tolist() == [-2]
    days = np.array(["2020-01-01", "2020-01-02", "2020-01-08", "2020-01-09", "2020-01-15"], dtype="datetime64[D]")
    assert nf.evaluate(truth, predictions=alarms, times=days, tolerance="7d").delays.values.tolist() == [-7 * 86400]


@pytest.mark.parametrize(("early", "late", "delay"), [(0, 3, 3), (0, 2, -1), (1, 3, -1), (1, 0, -1), (5, 5, -1)])
def test_a_prediction_that_counts_goes_before_a_nearer_one_that_does_not(early, late, delay):
    """One step early or three late: what the tolerance admits decides, distance only among equals."""
    result = nf.evaluate(
        [0, 0, 1, 0, 0, 0], predictions=[0, 1, 0, 0, 0, 1], tolerance=nf.Tolerance(early=early, late=late)
    )
    assert result.delays.values.tolist() == [delay]


def test_nearness_is_in_time_not_in_steps():
    """Two steps back may be nearer than one step ahead."""
    hours = np.array([0, 1, 2, 50], dtype="datetime64[h]")
    result = nf.evaluate([0, 0, 1, 0], predictions=[1, 0, 0, 1], times=hours, tolerance="2d")
    assert result.delays.values.tolist() == [-7200]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_whole_seconds_are_whole_in_every_unit(unit):
    """A week is 604,800 s in delays and rates, not 604,800.0000000001."""
    days = np.array(["2020-01-01", "2020-01-08", "2020-01-15"], dtype=f"datetime64[{unit}]")
    result = nf.evaluate([1, 0, 0], predictions=[0, 1, 0], times=days, tolerance="1d")
    assert result.delays.values.tolist() == [604800]
    assert result.false_alarms.duration == 3 * 604800
    assert result.false_alarms.rate(per="3w") == 1


@pytest.mark.parametrize("per", ["1d", "24h", timedelta(days=1), np.timedelta64(1, "D")])
def test_rates_per_any_duration(per):
    """Six false alarms in two days are three a day, however the day is written."""
    assert FalseAlarms(count=6, duration=2 * 86400.0, unit="seconds").rate(per) == 3


@pytest.mark.parametrize(
    ("unit", "per", "message"),
    [
        ("seconds", 3, "per=3 does not fit the data's clock: pass a duration"),
        ("steps", "1h", "per='1h' does not fit the data's clock: pass a number of steps"),
        ("clock", timedelta(1), "does not fit the data's clock: pass a number of clock"),
        ("seconds", "0s", "per='0s' must be positive and finite"),
        ("steps", -1, "per=-1 must be positive and finite"),
        ("steps", math.inf, "per=inf must be positive and finite"),
        ("steps", math.nan, "per=nan must be positive and finite"),
        ("steps", [1], "must be a number of steps"),
    ],
)
def test_a_rate_per_nonsense_is_refused(unit, per, message):
    """A unit of time that does not fit, or is none, is an error that names it."""
    with pytest.raises(nf.InputError, match=message.replace("[", r"\[")):
        FalseAlarms(count=1, duration=10.0, unit=unit).rate(per)


@pytest.mark.parametrize("q", [-0.1, 1.1, math.nan])
def test_a_quantile_of_delays_is_between_0_and_1(q):
    """Anything else is refused."""
    delays = Delays(values=np.array([1.0]), found=np.array([True]), unit="steps")
    with pytest.raises(nf.InputError, match=r"q=.* must be between 0 and 1"):
        delays.quantile(q)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (2.0, "steps", "2 steps"),
        (1.0, "steps", "1 step"),
        (-1.0, "steps", "-1 step"),
        (0.0, "steps", "0 steps"),
        (5400.0, "seconds", "1.5h"),
        (-86400.0, "seconds", "-1d"),
        (0.3, "clock", "0.3 time units"),
        (math.nan, "seconds", "undefined"),
    ],
)
def test_lengths_of_time_in_words(value, unit, text):
    """Steps, durations and plain units, singular and plural, early with a minus."""
    assert show_time(value, unit) == text


def test_delays_are_told_in_the_units_of_the_data():
    """No "0s" for daily data, no minutes with five digits behind the point."""
    days = np.datetime64("2020-01-01") + np.arange(6)
    found = nf.evaluate([0, 1, 0, 0, 1, 0], predictions=[0, 1, 0, 0, 1, 0], times=days, tolerance="1d").delays
    assert str(found) == "median 0d (middle half 0d to 0d)"
    late = Delays(values=np.array([-97.0, 5_400.0, 93_600.0]), found=np.ones(3, dtype=bool), unit="seconds", step=60.0)
    assert [show_time(value, "seconds", late.step) for value in late.values] == ["-97s", "1.5h", "26h"]
    alarms = [days[1] + np.timedelta64(1, "D")]
    assert str(nf.coincidence(days[[1, 4]], alarms, tolerance="1d", span=(days[0], days[5])).delays).startswith(
        "median 1d"
    )


def test_the_printed_rate_and_delay():
    """What a result says about false alarms and delays, in words."""
    result = nf.evaluate([0, 1, 0, 0, 0, 1], predictions=[1, 0, 1, 0, 1, 0], tolerance=1)
    assert str(result.false_alarms) == "0 in 6 steps"
    assert str(result.delays) == "median -1 step (middle half -1 step to -1 step)"


@pytest.mark.parametrize("times", [[5.0], ["2020-01-01"]])
def test_where_no_time_was_watched_that_is_said(times):
    """A single step on a clock has no length: there is no rate, and nothing that prints as nan."""
    for truth, alarms in (([0], [1]), ([1], [0]), ([0], [0]), ([1], [1])):
        result = nf.evaluate(truth, predictions=alarms, times=times, truth_as="labels")
        assert str(result.false_alarms) == f"{int(alarms > truth)} (no time was watched)"
        assert not re.search(r"\bnan\b", f"{result} {result.delays} {result._repr_html_()}")
        assert result.to_dict()["false_alarms"]["rate"] is None


@pytest.mark.parametrize("unit", ["ns", "us", "s"])
def test_delays_of_centuries_do_not_wrap_around(unit):
    """A difference of nanoseconds may be longer than the 292 years that they reach on one side."""
    days = np.array(["1680-01-01", "1970-01-01", "2260-01-01"], dtype=f"datetime64[{unit}]")
    century = float((days[2].astype("datetime64[s]") - days[0].astype("datetime64[s]")).astype(int))
    assert nf.evaluate([1, 0, 0], predictions=[0, 0, 1], times=days).delays.values.tolist() == [century]
    assert nf.evaluate([0, 0, 1], predictions=[1, 0, 0], times=days).delays.values.tolist() == [-century]


def test_per_may_be_any_number_but_not_too_large_a_one():
    """Fractions and NumPy's; what no float holds is refused."""
    alarms = FalseAlarms(count=3, duration=600, unit="steps")
    assert [alarms.rate(per=per) for per in (100, np.int64(100), Fraction(100), np.float32(100))] == [0.5] * 4
    for wrong in (10**400, [100], math.inf, 0):
        with pytest.raises(nf.InputError, match="per="):
            alarms.rate(per=wrong)
