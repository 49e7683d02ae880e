"""From the user's input to one checked sequence: alignment, three kinds of truth, clocks, masks, every bad input."""

import datetime as dt
import json
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import nofluke as nf
from nofluke import InputError
from nofluke.series.reading import prepare

DAYS = pd.date_range("2020-01-01", periods=5, freq="D")
HOUR = pd.Timedelta(hours=1)
quick = settings(max_examples=60)


def series(values, index=DAYS):
    return pd.Series(values, index=index)


TRUTH = series([0, 1, 0, 0, 1])
SCORES = series([0.5, 1.5, 2.5, 3.5, 4.5])


def events_of(sequence):
    return np.flatnonzero(sequence.truth).tolist()


def alarms_of(sequence):
    return np.flatnonzero(sequence.predictions).tolist()


# alignment by index


@quick
@given(
    st.permutations(range(6)), st.permutations(range(6)), st.permutations(range(6)), st.sampled_from(["dates", "text"])
)
def test_the_order_of_rows_does_not_matter_where_both_have_an_index(truth_order, score_order, mask_order, kind):
    """Truth and mask follow the scores' index, however each of them is ordered."""
    labels = pd.date_range("2020-01-01", periods=6) if kind == "dates" else pd.Index(list("abcdef"))
    truth, scores = pd.Series([0, 1, 0, 0, 1, 1], index=labels), pd.Series(np.arange(6.0), index=labels)
    mask = pd.Series([1, 0, 0, 0, 0, 1], index=labels)
    if kind == "dates":
        score_order = range(6)  # a clock must increase
    shuffled = scores.iloc[list(score_order)]
    found = prepare(truth.iloc[list(truth_order)], shuffled, mask=mask.iloc[list(mask_order)])
    assert found.scores.tolist() == shuffled.tolist()
    assert found.truth.tolist() == (truth.astype(bool) & ~mask.astype(bool))[shuffled.index].tolist()
    assert found.open_steps.tolist() == (mask == 0)[shuffled.index].tolist()


def test_pandas_and_xarray_align_with_one_another():
    """An index is an index, whoever brings it, in whatever unit or zone."""
    reversed_truth = xr.DataArray(TRUTH.to_numpy()[::-1], dims="t", coords={"t": DAYS[::-1]})
    assert events_of(prepare(reversed_truth, SCORES)) == [1, 4]
    assert events_of(prepare(reversed_truth, xr.DataArray(SCORES.to_numpy(), dims="t", coords={"t": DAYS}))) == [1, 4]
    assert events_of(prepare(TRUTH.set_axis(DAYS.as_unit("ns")), SCORES.set_axis(DAYS.as_unit("s")))) == [1, 4]
    berlin = SCORES.tz_localize("UTC").tz_convert("Europe/Berlin")
    assert events_of(prepare(TRUTH.tz_localize("UTC"), berlin)) == [1, 4]


def test_without_two_indices_rows_are_aligned_by_position():
    """A list, an array, a polars Series or a plain Index beside a Series, and two Series that nobody gave an index."""
    for truth in ([0, 1, 0, 0, 1], np.array([0, 1, 0, 0, 1]), pl.Series([0, 1, 0, 0, 1]), pd.Index([0, 1, 0, 0, 1])):
        assert events_of(prepare(truth, SCORES)) == [1, 4]
    assert events_of(prepare(TRUTH.reset_index(drop=True), SCORES.reset_index(drop=True))) == [1, 4]


def test_an_index_that_nobody_gave_is_none_beside_dates():
    """Detectors drop the dates and count 0, 1, 2, ...: rows are matched by position, and the dates are the clock."""
    for truth, scores in ((TRUTH.reset_index(drop=True), SCORES), (TRUTH, SCORES.reset_index(drop=True))):
        found = prepare(truth, scores)
        assert events_of(found) == [1, 4]
        assert found.clock is not None
        assert found.clock.is_dates


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        (
            series([0, 1, 0, 0, 1], DAYS + pd.Timedelta(days=1)),
            "truth and scores do not share their index: 1 label.s. only in scores, first 2020-01-01 00:00:00; "
            "1 label.s. only in truth, first 2020-01-06 00:00:00: reindex one to the other",
        ),
        (TRUTH.iloc[:3], "2 label.s. only in scores, first 2020-01-04 00:00:00: reindex .* or pass .to_numpy"),
        (TRUTH.reset_index(drop=True).iloc[:4], "4 label.s. only in truth, first 0: reindex"),
        (TRUTH.tz_localize("UTC"), "5 label.s. only in truth, first 2020-01-01 00:00:00.00:00: reindex"),
        (TRUTH.set_axis(list("abcde")), "5 label.s. only in truth, first a: reindex"),
        (
            series([0, 1, 0, 0, 1], DAYS[[0, 0, 2, 3, 4]]),
            "the index of truth has 1 duplicate.s., first 2020-01-01 00:00:00: truth and scores cannot be aligned by it",
        ),
    ],
)
def test_a_mismatch_of_indices_says_where(truth, message):
    """How many labels are only on one side, the first of them, and what to do."""
    with pytest.raises(InputError, match=message):
        prepare(truth, SCORES)


def test_a_mask_and_times_are_aligned_too():
    """Every column with an index is, and its name is in the message."""
    with pytest.raises(InputError, match="mask and scores do not share their index: 1 label"):
        prepare(TRUTH, SCORES, mask=series([0] * 4, DAYS[:4]))
    stamps = pd.Series(DAYS + HOUR, index=DAYS).iloc[::-1]
    assert prepare(TRUTH, SCORES, times=stamps).clock.show(prepare(TRUTH, SCORES, times=stamps).clock.ticks[0]) == (
        "2020-01-01T01:00:00"
    )
    alarms = [DAYS[1], DAYS[3] + HOUR]
    found = prepare(TRUTH, predictions=alarms, mask=series([1, 0, 0, 0, 0]).iloc[::-1])
    assert (found.open_steps.tolist(), alarms_of(found)) == ([False, True, True, True, True], [1, 3])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"truth": [0, 1]}, r"truth has 2 values but scores has 3: pass one label for each score, or event positions"),
        ({"mask": [0, 1]}, "mask has 2 values but scores has 3: pass one for each step"),
        ({"times": [1, 2]}, "times has 2 values but scores has 3: pass one for each step"),
        ({"truth": [0, 1, 0, 1], "truth_as": "labels"}, "truth has 4 values but scores has 3"),
    ],
)
def test_unequal_lengths_are_an_error_with_both_lengths(arguments, message):
    """Which column, how many values, how many there should be."""
    with pytest.raises(InputError, match=message):
        prepare(**{"truth": [0, 1, 0], "scores": [1, 2, 3]} | arguments)


def test_unequal_lengths_of_labels_and_alarms():
    """0/1 alarms stand for steps; a list of alarms needs a clock."""
    with pytest.raises(
        InputError, match=r"truth has 4 values but predictions has 2: .* or times= with a list of alarm"
    ):
        prepare([0, 1, 0, 1], predictions=[1, 0])
    with pytest.raises(InputError, match="truth has 2 values but times has 5: pass one label for each step"):
        prepare([0, 1], predictions=[DAYS[0]], times=DAYS)
    with pytest.raises(InputError, match="times has 5 values but predictions has 3: pass one for each step"):
        prepare([DAYS[0]], predictions=[0, 1, 0], times=DAYS)


# labels, positions, times


@pytest.mark.parametrize(
    "truth",
    [
        [0, 1, 0, 0, 1],
        [0.0, 1.0, 0.0, 0.0, 1.0],
        [False, True, False, False, True],
        [1, 4],
        (4, 1),
        [4.0, 1.0],
        np.array([1, 4], dtype=np.uint8),
        ["2020-01-02", "2020-01-05"],
        [dt.date(2020, 1, 5), dt.date(2020, 1, 2)],
        DAYS[[1, 4]],
        pl.Series([DAYS[1], DAYS[4]]),
    ],
    ids=str,
)
def test_labels_positions_and_times_mean_the_same_events(truth):
    """What truth is, is found by itself, in any order of events."""
    assert events_of(prepare(truth, SCORES)) == [1, 4]


def test_truth_as_settles_what_is_in_doubt():
    """Two small numbers may be labels of a sequence of two, or positions."""
    assert events_of(prepare([0, 1], [1, 2, 3], truth_as="positions")) == [0, 1]
    assert events_of(prepare([0, 1], [1, 2])) == [1]
    assert events_of(prepare([0, 1], [1, 2], truth_as="positions")) == [0, 1]
    assert events_of(prepare([2.5], [1, 2, 3], times=[0, 2, 4], truth_as="times")) == [1]
    assert events_of(prepare([1], [1, 2, 3], times=[0, 2, 4], truth_as="positions")) == [1]
    assert events_of(prepare([], [1, 2, 3], truth_as="times", times=[0, 2, 4])) == []


def test_numbers_that_may_be_positions_or_times_are_not_guessed():
    """On a clock of numbers the user says which; where the clock counts the steps, both are the same."""
    with pytest.raises(
        InputError, match=r'truth has 1 numbers for 3 steps, .*: pass truth_as="positions" or truth_as="tim'
    ):
        prepare([2], [1, 2, 3], times=[0, 2, 4])
    assert events_of(prepare([2], [1, 2, 3], times=[0, 1, 2])) == [2]
    assert events_of(prepare([], [1, 2, 3], times=[0, 2, 4])) == []


def test_no_events_is_a_list_like_any_other():
    """An empty list of events is a result with a note, not an error."""
    assert events_of(prepare([], SCORES)) == []
    result = nf.evaluate([], SCORES, threshold=1)
    assert np.isnan(result.recall)
    assert "There are no events: recall is undefined." in result.notes


def test_an_event_belongs_to_the_last_step_at_or_before_it():
    """Between steps, on a step, and within the last step, which lasts as long as the median one."""
    truth = [DAYS[0] + HOUR, DAYS[2], DAYS[4] + 23 * HOUR]
    assert events_of(prepare(truth, SCORES)) == [0, 2, 4]
    assert events_of(prepare([2.9, 4.0], [1, 2, 3], times=[0, 2, 4], truth_as="times")) == [1, 2]


@pytest.mark.parametrize(
    "late", [DAYS[0] - pd.Timedelta(1, "ns"), DAYS[4] + pd.Timedelta(days=1), pd.Timestamp("1890-01-01")]
)
def test_events_outside_the_clock_are_listed(late):
    """One just before, one just after the last step has ended, one long ago."""
    message = r"truth has 1 time\(s\) outside the clock \(2020-01-01 to 2020-01-05\): \d+-\d\d-\d\d.*: remove them"
    with pytest.raises(InputError, match=message) as error:
        prepare([DAYS[1], late], SCORES)
    assert str(late.date()) in str(error.value)


def test_event_times_on_one_step_count_once_and_are_noted():
    """Two quakes on a day are one day with a quake; nothing is lost in silence."""
    found = prepare([DAYS[1], DAYS[1] + HOUR, DAYS[1] + 2 * HOUR], SCORES)
    assert events_of(found) == [1]
    assert found.on_steps == ("2 event time(s) fall on a step that already has one; each step counts once.",)
    assert nf.evaluate([DAYS[1], DAYS[1] + HOUR], SCORES, quantile=0.5, tolerance=1).n_events == 1
    assert nf.evaluate([DAYS[1], DAYS[1] + HOUR], SCORES, quantile=0.5, tolerance="1h").n_events == 2


def test_zones_must_be_on_both_or_on_neither():
    """UTC is not assumed for dates without a zone; with zones on both sides, any will do."""
    with pytest.raises(
        InputError, match="truth has a time zone but the clock has none: give both a time zone, or neither"
    ):
        prepare([DAYS[1].tz_localize("UTC")], SCORES)
    with pytest.raises(
        InputError, match="the clock has a time zone but truth has none: give both a time zone, or neither"
    ):
        prepare([DAYS[1]], SCORES.tz_localize("UTC"))
    zoned = ["2020-01-02T00:30+01:00", "2020-01-04T01:00:00Z"]
    assert events_of(prepare(zoned, SCORES.tz_localize("UTC"))) == [0, 3]


@pytest.mark.parametrize(
    ("truth", "options", "message"),
    [
        ([DAYS[0]], {"truth_as": "labels"}, "truth holds dates, but truth_as='labels': pass truth_as=\"times\""),
        ([1.5], {}, r'truth must be 0/1 labels \(5 of them\) or whole positions, got 1.5: .*truth_as="times"'),
        ([2, np.nan], {}, r"truth must be 0/1 labels \(5 of them\) or whole positions, got nan"),
        (
            [2, 7, 9],
            {},
            r"truth has 3 values for 5 steps, and as positions 7, 9 lie outside 0\.\.4: pass one 0/1 label",
        ),
        ([-1], {}, r"as positions -1 lie outside 0\.\.4"),
        (
            [2, 2],
            {},
            r"truth has 2 values for 5 steps, and as positions it lists 1 item\(s\) more than once: 2: keep each",
        ),
        ([True, False], {"truth_as": "positions"}, "truth has 2 booleans for 5 steps: positions must be whole numbers"),
        ([DAYS[0], DAYS[0]], {}, r"truth lists 1 item\(s\) more than once: 2020-01-01"),
        ([DAYS[0], pd.NaT], {}, r"truth has 1 missing time\(s\): remove them"),
        ([1, 2], {"truth_as": "times"}, "the clock shows dates but truth holds numbers: give both as the same kind"),
        ([0, 1, 2, 0, 1], {}, r"truth must be 0 or 1 \(or bool\), got 2 at position 2: turn them into 0 and 1"),
        ([0, 1, 2, 0.5, 7], {}, r"truth must be 0 or 1 \(or bool\), got 2.0 at position 2 and 2 more: turn"),
        ([0, 1], {"truth_as": "event"}, "truth_as='event' must be one of 'auto', 'labels', 'positions', 'times'"),
    ],
)
def test_truth_that_cannot_be_read_says_why(truth, options, message):
    """Each message has the value and the way out."""
    with pytest.raises(InputError, match=message):
        prepare(truth, SCORES, **options)


def test_times_without_a_clock_are_an_error():
    """Dates need to be laid against something."""
    with pytest.raises(
        InputError, match="truth holds times, but the data has no clock: pass times=, one for each step"
    ):
        prepare(["2020-01-01"], [1, 2, 3])
    with pytest.raises(InputError, match="predictions holds times, but the data has no clock: pass times="):
        prepare([0, 1, 0], predictions=["2020-01-01"])
    with pytest.raises(InputError, match="the clock shows numbers but truth holds dates"):
        prepare(["2020-01-01"], [1, 2, 3], times=[1, 2, 3])


# alarms instead of scores


@pytest.mark.parametrize(
    "predictions",
    [
        [0, 1, 0, 1, 0],
        [False, True, False, True, False],
        series([0, 1, 0, 1, 0]),
        [DAYS[1] + HOUR, DAYS[3]],
        ["2020-01-04", "2020-01-02T12:00"],
    ],
    ids=str,
)
def test_alarms_are_labels_or_times(predictions):
    """0/1 for each step, or a list of times on the clock that the truth's index shows."""
    assert alarms_of(prepare(TRUTH, predictions=predictions)) == [1, 3]


def test_alarm_times_on_a_clock_of_numbers_are_times():
    """Not positions: the documentation says that a list of alarms is of times."""
    assert alarms_of(prepare([0, 1, 0], predictions=[2.5, 4], times=[0, 2, 4])) == [1, 2]
    assert alarms_of(prepare([0, 1, 0], predictions=[2], times=[0, 2, 4])) == [1]


def test_events_and_alarms_may_both_be_times():
    """Then times= is the clock."""
    found = prepare([DAYS[2]], predictions=[DAYS[1], DAYS[1] + HOUR], times=DAYS)
    assert (events_of(found), alarms_of(found)) == ([2], [1])
    assert found.alarms_on_steps == ("1 alarm time(s) fall on a step that already has one; each step counts once.",)


def test_a_detector_that_never_fires_is_evaluated():
    """An empty list of alarms, where a clock says how long it was silent."""
    assert alarms_of(prepare(TRUTH, predictions=[])) == []
    assert alarms_of(prepare([0, 1], predictions=[], times=[1, 2])) == []
    with pytest.raises(InputError, match="predictions is empty, so there is nothing to evaluate"):
        prepare([0, 1], predictions=[])


def test_alarms_that_are_scores_say_so():
    """Scores passed as predictions are the likely mistake."""
    with pytest.raises(
        InputError, match=r"predictions must be 0 or 1 .*, got 0.5 at position 0 .*or pass them as scores"
    ):
        prepare(TRUTH, predictions=SCORES)
    with pytest.raises(InputError, match=r"predictions has 1 time\(s\) outside the clock"):
        prepare(TRUTH, predictions=["2021-01-01"])


def test_scores_or_predictions_but_not_both():
    """One of them is the detector's output."""
    with pytest.raises(InputError, match="pass either scores or predictions, got neither"):
        prepare([0, 1])
    with pytest.raises(InputError, match="pass either scores or predictions, got both"):
        prepare([0, 1], [1, 2], predictions=[0, 1])


# what is left out


def test_missing_values_are_an_error_unless_masked():
    """NaN in scores, labels and alarms; None and NA are the same."""
    message = r'scores has 2 NaN at position\(s\) 0, 2: drop them, or pass missing="mask"'
    with pytest.raises(InputError, match=message):
        prepare([0, 1, 0], [None, 1.0, np.nan])
    with pytest.raises(InputError, match=r"truth has 1 NaN at position\(s\) 1"):
        prepare(pd.Series([0, None, 1], dtype="Int64"), [1.0, 2.0, 3.0])
    with pytest.raises(InputError, match=r"predictions has 1 NaN at position\(s\) 2"):
        prepare([0, 1, 0], predictions=[0, 1, None])
    found = prepare([0, None, 1, 1], [np.nan, 1.0, 2.0, 3.0], missing="mask", mask=[0, 0, 0, 1])
    assert (found.n, found.n_events) == (1, 1)
    assert (found.left_out.missing, found.left_out.masked, found.left_out.events, found.left_out.steps) == (2, 1, 1, 3)
    assert found.notes == (
        "2 step(s) without a score or label were left out.",
        "1 masked step(s) were left out.",
        "1 event(s) on those steps were left out.",
    )
    with pytest.raises(InputError, match="missing='drop' must be one of 'error', 'mask'"):
        prepare([0, 1], [1, 2], missing="drop")


def test_whatever_is_under_the_mask_is_not_looked_at():
    """NaN, infinity and labels that are none do no harm on steps that do not count."""
    found = prepare([0, 1, 7, 0], [np.nan, 1.0, np.inf, 2.0], mask=[1, 0, 1, 0])
    assert found.open_scores().tolist() == [1.0, 2.0]
    assert (found.left_out.missing, found.left_out.masked) == (0, 2)


def test_a_mask_must_be_a_mask():
    """0/1 for each step; a missing value in it has no meaning."""
    with pytest.raises(
        InputError, match=r"mask must be 0 or 1 \(or bool\), got 0.5 at position 1: turn them into 0 and 1"
    ):
        prepare([0, 1], [1, 2], mask=[0, 0.5])
    with pytest.raises(InputError, match=r"mask must be 0 or 1 .*, got nan at position 1"):
        prepare([0, 1], [1, 2], mask=[0, None])
    with pytest.raises(InputError, match="mask must be 0 or 1 for each step, got dates: turn them into 0 and 1"):
        prepare(TRUTH, SCORES, mask=DAYS)
    with pytest.raises(InputError, match="no step is left to evaluate, since all 2 are masked or missing: mask fewer"):
        prepare([0, 1], [1, np.nan], mask=[1, 0], missing="mask")


# scores, times, thresholds


@pytest.mark.parametrize(
    ("truth", "scores", "message"),
    [
        (
            [0, 1, 0],
            [1, np.inf, -np.inf],
            r"scores has 2 infinite value\(s\) at position\(s\) 1, 2: replace -inf by the smallest finite score, or one below it \(1\) "
            r"and inf by the largest finite score, or one above it \(1\)",
        ),
        ([0, 1], ["2020-01-01", "2020-01-02"], "scores must be numbers, got dates: pass the dates as times="),
        ([0, 1], ["high", "low"], "scores must hold numbers, booleans or dates, got text 'high' at position 0"),
        ([], [], "scores is empty, so there is nothing to evaluate: pass one value for each step"),
        ([0, 1], np.zeros((2, 2)), r"scores must have one dimension, got shape \(2, 2\): pass one column"),
        ([0.1, 0.9], [0, 1], r"truth must be 0 or 1 \(or bool\), got 0.1 at position 0 and 1 more"),
    ],
)
def test_scores_that_are_no_scores_say_why(truth, scores, message):
    """Infinite, dates, text, nothing, tables, and truth and scores exchanged."""
    with pytest.raises(InputError, match=message):
        prepare(truth, scores)


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([1, 3, 2], "times must increase, but 2 at position 2 comes after 3: sort the data by time first"),
        ([1, 2, 2], r"times has 1 duplicate time\(s\), first 2 at positions 1 and 2: keep one row for each time"),
        ([1, 2, None], r"times has 1 missing or infinite time\(s\) at position\(s\) 2: every step needs a time"),
        (["2020-01-01", "2020-01-02", None], r"times has 1 missing or infinite time\(s\) at position\(s\) 2"),
        (["Monday", "Tuesday", "Friday"], "times must hold numbers, booleans or dates, got text 'Monday'"),
        ([False, True, True], "times must be dates or numbers, got booleans: pass one increasing time"),
    ],
)
def test_times_that_are_no_clock_say_where(times, message):
    """Unsorted, duplicate, missing, text."""
    with pytest.raises(InputError, match=message):
        prepare([0, 1, 0], [1, 2, 3], times=times)


def test_the_index_is_the_clock_and_must_be_one():
    """Dates in an index are used as the clock by themselves, and checked as such; times= goes before them."""
    assert prepare(TRUTH, SCORES).clock.is_dates
    assert prepare(TRUTH, SCORES.to_numpy()).clock.is_dates
    assert prepare(TRUTH.to_numpy(), SCORES.reset_index(drop=True)).clock is None
    assert not prepare(TRUTH, SCORES, times=[1, 2, 3, 4, 5]).clock.is_dates
    with pytest.raises(InputError, match="the index of scores must increase, but 2020-01-04 at position 1 comes after"):
        prepare(TRUTH, SCORES.iloc[::-1])
    twice = DAYS[[0, 0, 2, 3, 4]]
    with pytest.raises(
        InputError, match=r"the index of scores has 1 duplicate time\(s\), first 2020-01-01 at positions"
    ):
        prepare(TRUTH.set_axis(twice), SCORES.set_axis(twice))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "pass either threshold or quantile or budget, got none: it decides which scores are predictions"),
        ({"threshold": 1, "quantile": 0.5}, "pass either threshold or quantile or budget, got threshold and quantile"),
        ({"threshold": float("nan")}, "threshold=nan must be a number"),
        ({"quantile": 1.5}, "quantile=1.5 must be between 0 and 1"),
        ({"quantile": -0.1}, "quantile=-0.1 must be between 0 and 1"),
        ({"quantile": float("nan")}, "quantile=nan must be between 0 and 1"),
        ({"threshold": 1, "tolerance": -1}, "tolerance=-1 must be finite and not negative"),
        ({"threshold": 1, "tolerance": 1.5}, "tolerance=1.5 must be a whole number of steps"),
        ({"threshold": 1, "tolerance": "2h"}, "tolerance of 2h is a length of time, but the data has no clock"),
        ({"threshold": 1, "tolerance": "2 hours"}, "tolerance='2 hours' is not a duration: write a number and a unit"),
        ({"threshold": 1, "zero_division": 0.5}, "zero_division=0.5 must be"),
    ],
)
def test_settings_that_make_no_sense_say_why(options, message):
    """Thresholds, quantiles, tolerances: the argument, its value and the remedy."""
    with pytest.raises(InputError, match=message):
        nf.evaluate([0, 1, 0], [1, 2, 3], **options)


def test_thresholds_belong_to_scores():
    """Alarms have been decided already."""
    with pytest.raises(
        InputError, match="threshold, quantile and budget only apply to scores: leave them out with predictions"
    ):
        nf.evaluate([0, 1], predictions=[0, 1], threshold=1)


@pytest.mark.parametrize(
    ("truth", "scores", "note"),
    [
        ([0, 0, 0], [1, 2, 3], "There are no events: recall is undefined."),
        ([1, 1, 1], [1, 2, 3], "Every step is an event: precision says nothing about the detector."),
        ([0, 1, 0], [0, 0, 1], "There are no predictions: precision is undefined."),
        ([0, 1, 0], [2, 3, 4], "Every step is predicted: recall says nothing about the detector."),
        ([0, 1, 0], [2, 2, 2], "All scores are equal: no threshold can separate the steps."),
    ],
)
def test_degenerate_input_is_evaluated_with_a_note(truth, scores, note):
    """No events, no predictions, everything predicted, constant scores: a result, and a word on what it means."""
    assert note in nf.evaluate(truth, scores, threshold=2).notes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"thresholds": [1], "quantiles": [0.5]},
            "pass either thresholds or quantiles or budgets, got thresholds and quantiles",
        ),
        ({"thresholds": [1, float("nan")]}, "thresholds must be one or more numbers without NaN, got"),
        ({"thresholds": []}, r"thresholds must be one or more numbers without NaN, got \[\]"),
        ({"quantiles": [0.5, 2]}, "quantile=2.0 must be between 0 and 1"),
        ({"tolerances": ()}, r"tolerances is empty: pass at least one, such as \(0, 1, 2\)"),
        ({"tolerances": (0, -1)}, "tolerances=-1 must be finite and not negative"),
        ({"tolerances": (0, "2 hours")}, "tolerances='2 hours' is not a duration"),
        ({"tolerances": "2h"}, "tolerance of 2h is a length of time, but the data has no clock"),
    ],
)
def test_a_sweep_checks_its_settings_too(options, message):
    """The same messages for many thresholds and tolerances."""
    with pytest.raises(InputError, match=message):
        nf.sweep([0, 1, 0], [1, 2, 3], **options)


# what is kept, and what numbers can hold


@pytest.mark.parametrize(
    "times",
    [
        None,
        np.arange(60) * 1.5,
        np.arange(60, dtype=np.float32),
        np.arange(60, dtype=">f8"),
        np.arange(60),
        np.arange(60).astype("datetime64[h]"),
        np.arange(60).astype("datetime64[ns]"),
    ],
    ids=lambda times: str(getattr(times, "dtype", None)),
)
def test_changing_the_arrays_afterwards_changes_nothing(times):
    """Chance is computed when it is asked for, from what was passed: not from what has become of it since."""

    def ask(change):
        generator = np.random.default_rng(1)
        arrays = {
            "truth": generator.random(60) < 0.2,
            "scores": generator.random(60),
            "mask": generator.random(60) < 0.1,
            "thresholds": np.array([0.6, 0.8]),
            "strata": np.arange(60) % 3,
        }
        if times is not None:
            arrays["times"] = times.copy()
        seeds = [1, 2]
        data = {name: array for name, array in arrays.items() if name not in ("thresholds", "strata")}
        unit = None if times is None else "clock" if times.dtype.kind != "M" else "ns"
        window = nf.Tolerance(early=2, late=3, unit=unit)
        by_season = {"null": nf.nulls.Seasonal(strata=arrays["strata"]), "n_resamples": 99, "rng": seeds}
        result = nf.evaluate(**data, threshold=0.8, tolerance=window)
        curves = [
            nf.sweep(**data, thresholds=arrays["thresholds"], tolerances=[window], **by) for by in ({}, by_season)
        ]
        if change:
            for array in arrays.values():
                array[:] = array[0]
            seeds[0] = 7
        return (
            str(result),
            str(result.f_test()),
            *(curve.to_csv() for curve in curves),
            *(str(curve.familywise(n_resamples=19, rng=1)) for curve in curves),
        )

    assert ask(change=True) == ask(change=False)


@pytest.mark.parametrize(
    "scores",
    [
        np.array([2**53, 2**53 + 1, 3]),
        np.array([2**63 - 1, 2**63 - 2, 3]),
        np.array([2**64 - 1, 2**64 - 2, 3], dtype=np.uint64),
        [2**53, 2**53 + 1, 3],
        [2**70, 2**70 + 1, 3],
        np.array([2**53, 2**53 + 1, 3], dtype=object),
        [2**53, 2**53 + 1, None],
        pd.Series([2**53, 2**53 + 1, None], dtype="Int64"),
        pl.Series([2**53, 2**53 + 1, None]),
        pa.array([2**53, 2**53 + 1, None]),
        np.ma.array([2**53, 2**53 + 1, 3], mask=[0, 0, 1]),
        [2**53, 2**53 + 1, 0.5],
        (2**53, 2**53 + 1, float("nan")),
    ],
    ids=lambda scores: f"{type(scores).__module__.partition('.')[0]}-{type(scores).__name__}",
)
def test_scores_that_would_become_equal_as_floats_are_refused(scores):
    """Beyond 2**53 not every whole number is a float: different scores are never merged in silence."""
    with pytest.raises(
        InputError, match=r"scores has \d whole number\(s\) that 64-bit floats cannot hold, first \d+ at"
    ):
        nf.evaluate([0, 1, 0], scores, threshold=1, missing="mask")


def test_large_scores_that_are_floats_are_kept():
    """Nanoseconds of whole seconds, and what the mask hides."""
    assert nf.evaluate([0, 1, 0], [2**60, 2**61, 2**70], threshold=2**61).n_predictions == 2
    hidden = nf.evaluate([0, 1, 0], np.array([2**53 + 1, 2**53, 1]), threshold=2, mask=[1, 0, 0])
    assert (hidden.n, hidden.n_predictions) == (2, 1)


def test_a_threshold_between_two_floats_is_reached_by_the_upper_one():
    """2**53 does not reach 2**53 + 1, which no float is."""
    scores = [2**53, 2**53 + 2, 0]
    for threshold, reached in ((2**53, 2), (2**53 + 1, 1), (np.int64(2**53 + 1), 1), (2**53 + 2, 1), (2**53 + 3, 0)):
        assert nf.evaluate([0, 1, 0], scores, threshold=threshold).n_predictions == reached
        assert nf.sweep([0, 1, 0], scores, thresholds=[threshold]).n_predictions.tolist() == [reached]
        assert nf.sweep([0, 1, 0], scores, thresholds=np.array([threshold])).n_predictions.tolist() == [reached]
        mixed = nf.sweep([0, 1, 0], scores, thresholds=(math.inf, threshold, 0.5))
        assert mixed.n_predictions.tolist() == [2, reached, 0]


@pytest.mark.parametrize("top", [1.7e308, np.finfo(np.float64).max])
def test_quantiles_of_the_largest_scores_are_right_and_silent(top):
    """Also where the difference of two scores is no float any more."""
    scores = np.array([-top, top, -top / 2, top / 2, 0.0, 1.0])
    levels = [0, 0.1, 0.3, 0.5, 0.77, 0.95, 1]
    exact = sorted(map(Fraction, scores.tolist()))
    expected = []
    for level in map(Fraction, levels):
        at = level * 5
        below = exact[math.floor(at)]
        expected.append(float(below + (at - math.floor(at)) * (exact[math.ceil(at)] - below)))
    found = nf.sweep([0, 1, 0, 0, 0, 1], scores, quantiles=levels).thresholds
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=0)
    for pair in ([-top, top], [-top, top, top]):
        middle = nf.evaluate([0, 1, 0][: len(pair)], pair, quantile=0.5).threshold
        assert middle == np.median([value / top for value in pair]) * top


def test_ordinary_quantiles_are_those_of_numpy():
    """To the last digit."""
    scores = np.random.default_rng(0).normal(size=501)
    levels = np.linspace(0, 1, 37)
    assert nf.sweep(np.arange(501) % 50 == 0, scores, quantiles=levels).thresholds.tolist() == (
        np.quantile(scores, levels).tolist()
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolerances": b"2h"}, "tolerances=b'2h' must be a whole number of steps"),
        ({"tolerances": bytearray(b"2h")}, r"tolerances=bytearray\(b'2h'\) must be a whole number of steps"),
        ({"tolerances": [b"2h"]}, "tolerances=b'2h' must be a whole number of steps"),
        ({"tolerances": {1, 2}}, "tolerances={1, 2} is unordered: pass a list"),
        ({"tolerances": {1: 2}}, "tolerances={1: 2} is unordered: pass a list"),
        ({"tolerances": np.array(0.5)}, "tolerances=.*0.5.* must be a whole number"),
        ({"tolerances": 10**400}, r"tolerances=10+\.\.\.0+ must be finite"),
        ({"thresholds": b"2"}, "thresholds must be one column of values, got a bytes"),
        ({"thresholds": "2"}, "thresholds must be one column of values, got '2'"),
        ({"thresholds": {1, 2}}, "thresholds must be one column of values, got a set"),
        ({"thresholds": ["2"]}, "thresholds must hold numbers, booleans or dates, got text '2'"),
        ({"thresholds": [10**400]}, "thresholds must hold numbers, booleans or dates, got int 1000"),
        ({"thresholds": np.ma.array([1.0, 2.0], mask=[0, 1])}, "thresholds must be one or more numbers without NaN"),
        ({"thresholds": pd.Series([1, None], dtype="Int64")}, "thresholds must be one or more numbers without NaN"),
        ({"thresholds": pd.date_range("2020", periods=2)}, "thresholds must be one or more numbers without NaN"),
        ({"quantiles": "0.5"}, "quantiles must be one column of values, got '0.5'"),
        ({"quantiles": [[0.5]]}, r"quantiles must have one dimension, got shape \(1, 1\)"),
        ({"quantiles": pl.Series([0.5, None])}, "quantiles must be one or more numbers without NaN"),
    ],
    ids=lambda part: "".join(part) if isinstance(part, dict) else "",
)
def test_lists_of_settings_are_lists(options, message):
    """Text, bytes and collections without an order are not taken apart; missing values are none."""
    with pytest.raises(InputError, match=message):
        nf.sweep([0, 1, 0], [1, 2, 3], **options)


def test_settings_may_come_in_any_column():
    """Generators, ranges and columns of every library where a list is meant."""
    for tolerances in ((n for n in (0, 1)), range(2), np.array([0, 1]), pd.Series([0, 1]), pl.Series([0, 1])):
        assert nf.sweep([0, 1, 0], [1, 2, 3], tolerances=tolerances).shape[0] == 2
    for thresholds in (range(1, 3), pd.Series([1, 2]), pl.Series([1.0, 2.0]), pa.array([1, 2]), (np.float32(1), 2)):
        assert nf.sweep([0, 1, 0], [1, 2, 3], thresholds=thresholds).thresholds.tolist() == [1, 2]


def test_an_infinite_threshold_of_a_sweep_is_null_in_json():
    """JSON has no infinity."""
    curve = nf.sweep([0, 1, 0], [1, 2, 3], thresholds=[2, math.inf])
    assert json.loads(json.dumps(curve.to_dict(), allow_nan=False))["cells"]["threshold"] == [2, None]


def test_an_index_of_several_levels_aligns_only_with_its_like():
    """pandas compares no tuples with single labels."""
    pairs = pd.MultiIndex.from_product([[1, 2], ["a", "b", "c"]])
    truth, scores = pd.Series([0, 1, 0, 0, 1, 0], index=pairs), pd.Series(np.arange(6.0), index=pairs)
    assert events_of(prepare(truth[::-1], scores)) == [1, 4]
    for other in (pd.RangeIndex(6), pd.date_range("2020", periods=6), list("abcdef")):
        with pytest.raises(
            InputError, match=r"index of truth has 1 level\(s\) but that of scores has 2: give both the same"
        ):
            prepare(pd.Series(truth.to_numpy(), index=other), scores)


def test_bytes_are_no_numbers():
    """The codes of letters are not taken for scores."""
    for text in (b"123", bytearray(b"123")):
        with pytest.raises(InputError, match="scores must be one column of values, got a bytes"):
            nf.evaluate([0, 1, 0], text, threshold=1)


@pytest.mark.skipif(np.finfo(np.longdouble).max == np.finfo(np.float64).max, reason="long doubles are doubles here")
def test_long_doubles_are_read_and_their_overflow_is_infinite():
    """Without a warning."""
    assert nf.evaluate([0, 1, 0], np.array([1, 2, 3], dtype=np.longdouble), threshold=2).n_predictions == 2
    for argument in ("truth", "scores", "times"):
        data = {"truth": [0, 1, 0], "scores": [1, 2, 3], "times": [1, 2, 3]}
        data[argument] = np.array(["0", "1", "1e4000"], dtype=np.longdouble)
        with pytest.raises(InputError, match=f"{argument} .*inf"):
            nf.evaluate(**data, threshold=1)
