"""Ranges as truth: every form they take, what is refused, what is noted, and their counts against a slow oracle."""

import datetime as dt
import json
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nofluke as nf
from nofluke import InputError
from nofluke.cli import main
from nofluke.data.columns import as_column
from nofluke.data.files import read_ranges, read_times
from nofluke.nulls.base import NullModel
from nofluke.series.reading import prepare
from nofluke.series.tolerance import Tolerance
from nofluke.series.trial import Trial
from pages import unpacked

DAYS = np.arange("2024-03-01", "2024-03-11", dtype="datetime64[D]")
SCORES = [0.0, 0, 5, 0, 0, 0, 6, 0, 0, 7]


def spans_of(truth, **how):
    """Starts and last steps of the ranges, over all steps, as pairs."""
    spans = prepare(truth, SCORES, **how).spans
    return list(zip(spans.starts.tolist(), (spans.stops - 1).tolist(), strict=True))


def cell_of(truth, scores=SCORES, tolerance=0, threshold=5, **how):
    tolerance = tolerance if isinstance(tolerance, Tolerance) else Tolerance(early=tolerance, late=tolerance)
    return Trial.of(prepare(truth, scores, **how), (tolerance,), np.array([float(threshold)])).cell(0, 0)


@pytest.fixture
def any_null(monkeypatch):
    """Laws of single steps in place of those of ranges, which are tested elsewhere: here they only have to be there."""
    monkeypatch.setattr(NullModel, "check", lambda *_: None)


class TestForms:
    def test_one_interval_is_one_range(self):
        """A pandas Interval by itself, its closed side honoured."""
        assert spans_of(pd.Interval(1, 4, closed="left")) == [(1, 3)]

    @pytest.mark.parametrize(
        ("truth", "noted"),
        [
            ([("2024-03-01", "2024-03-02")], True),
            ([("2024-03-01", "2024-03-02T05:00")], False),
            (
                pd.IntervalIndex.from_tuples([(pd.Timestamp("2024-03-01"), pd.Timestamp("2024-03-02"))], closed="left"),
                False,
            ),
        ],
        ids=["days", "times", "open end"],
    )
    def test_days_on_a_clock_of_hours_are_noted_as_midnights(self, truth, noted):
        """Who lists days may mean the whole last one; on a clock of days there is no doubt."""
        hours = np.arange("2024-03-01", "2024-03-03", dtype="datetime64[h]")
        found = prepare(truth, np.arange(48.0), times=hours)
        assert any("means midnight" in note for note in found.notes) is noted
        assert not prepare([("2024-03-01", "2024-03-02")], SCORES, times=DAYS).notes

    @pytest.mark.parametrize(
        "truth",
        [
            [(1, 3), (6, 6)],
            [[6, 6], [1, 3]],
            ((1, 3), (6, 6)),
            [np.array([1, 3]), np.array([6, 6])],
            np.array([[1, 3], [6, 6]]),
            np.array([[1.0, 3.0], [6.0, 6.0]]),
            np.array([[1, 3], [6, 6]], dtype=np.uint8),
            np.array([[1, 3], [6, 6]], dtype=object),
            np.ma.array([[1, 3], [6, 6]]),
            pd.DataFrame({"start": [1, 6], "end": [3, 6]}),
            pd.DataFrame({"Stop": [3, 6], "cause": ["disk", "rain"], "Begin": [1, 6]}),
            pl.DataFrame({"from": [1, 6], "to": [3, 6]}),
            pl.DataFrame({"START": [1, 6], "stop": [3, 6], "n": [0, 0]}),
            pa.table({"begin": [1, 6], "end": [3, 6]}),
            pd.Series([(1, 3), (6, 6)]),
            pd.IntervalIndex.from_arrays([1, 6], [3, 6], closed="both"),
            pd.IntervalIndex.from_arrays([0, 5], [3, 6], closed="right"),
            pd.IntervalIndex.from_arrays([1, 6], [4, 7], closed="left").array,
            pd.Series(pd.IntervalIndex.from_arrays([0, 5], [4, 7], closed="neither")),
            [pd.Interval(1, 3, closed="both"), pd.Interval(6, 6, closed="both")],
        ],
        ids=lambda truth: type(truth).__name__,
    )
    def test_positions_come_in_every_dress(self, truth):
        """The same two ranges of steps, sorted, both ends within; an interval's open ends are left out."""
        assert spans_of(truth) == [(1, 3), (6, 6)]
        assert spans_of(truth, truth_as="ranges") == [(1, 3), (6, 6)]
        assert spans_of(truth, truth_as="positions", times=DAYS) == [(1, 3), (6, 6)]

    @pytest.mark.parametrize(
        "truth",
        [
            [("2024-03-02", "2024-03-04"), ("2024-03-07", "2024-03-07")],
            [("2024-03-02T00:00:00", "2024-03-04 12:00"), ("2024-03-06T23:59", "2024-03-07")],
            [(dt.date(2024, 3, 2), dt.date(2024, 3, 4)), (dt.date(2024, 3, 7), dt.date(2024, 3, 7))],
            [
                (dt.datetime(2024, 3, 2), dt.datetime(2024, 3, 4, 23)),
                (dt.datetime(2024, 3, 7), dt.datetime(2024, 3, 7)),
            ],
            [(DAYS[1], DAYS[3]), (DAYS[6], DAYS[6])],
            DAYS[[[1, 3], [6, 6]]],
            DAYS[[[1, 3], [6, 6]]].astype("datetime64[ns]"),
            [(pd.Timestamp(DAYS[1]), pd.Timestamp(DAYS[3])), (pd.Timestamp(DAYS[6]), pd.Timestamp(DAYS[6]))],
            pd.DataFrame({"start": pd.to_datetime(DAYS[[1, 6]]), "end": pd.to_datetime(DAYS[[3, 6]])}),
            pd.DataFrame({"start": ["2024-03-02", "2024-03-07"], "end": ["2024-03-04", "2024-03-07"]}),
            pl.DataFrame({"start": DAYS[[1, 6]], "end": DAYS[[3, 6]]}),
            pd.IntervalIndex.from_arrays(pd.to_datetime(DAYS[[1, 6]]), pd.to_datetime(DAYS[[4, 7]]), closed="left"),
            pd.IntervalIndex.from_arrays(pd.to_datetime(DAYS[[0, 5]]), pd.to_datetime(DAYS[[3, 6]]), closed="right"),
        ],
        ids=lambda truth: type(truth).__name__,
    )
    def test_dates_come_in_every_dress(self, truth):
        """The same two ranges of days, of whatever type, in whatever unit."""
        assert spans_of(truth, times=DAYS) == [(1, 3), (6, 6)]
        assert spans_of(truth, times=DAYS, truth_as="times") == [(1, 3), (6, 6)]

    def test_zones_are_as_for_all_dates(self):
        """Zones on both sides are compared as instants; on one side they are an error, as is a mixture."""
        berlin = pd.date_range("2024-03-01", periods=10, tz="Europe/Berlin")
        assert spans_of([("2024-03-01T23:00Z", "2024-03-03T23:00Z")], times=berlin) == [(1, 3)]
        with pytest.raises(InputError, match="the clock has a time zone but truth has none"):
            spans_of([("2024-03-02", "2024-03-04")], times=berlin)
        with pytest.raises(InputError, match="truth has a time zone but the clock has none"):
            spans_of([("2024-03-02T00:00Z", "2024-03-04T00:00Z")], times=DAYS)
        mixed = pd.DataFrame({"start": ["2024-03-02T00:00Z"], "end": ["2024-03-04T00:00"]})
        with pytest.raises(InputError, match="truth mixes dates with and without a time zone"):
            spans_of(mixed, times=berlin)

    def test_numbers_are_times_where_there_is_a_clock_of_numbers(self):
        """Else positions, also on a clock of dates; `truth_as` says otherwise."""
        tens = np.arange(10) * 10
        assert spans_of([(10, 30)], times=tens) == [(1, 3)]
        assert spans_of([(1, 3)], times=tens, truth_as="positions") == [(1, 3)]
        assert spans_of([(9.5, 30.5)], times=tens) == [(1, 3)]
        assert spans_of([(1, 3)], times=DAYS) == [(1, 3)]
        with pytest.raises(InputError, match="the clock shows dates but truth holds numbers"):
            spans_of([(1, 3)], times=DAYS, truth_as="times")

    @pytest.mark.parametrize("truth", [[], (), np.zeros((0, 2)), pd.DataFrame({"start": [], "end": []})])
    @pytest.mark.parametrize("times", [None, DAYS, np.arange(10)])
    def test_no_ranges_are_no_events(self, truth, times):
        """An empty list has to be called ranges; an array of two columns has not."""
        how = {"truth_as": "ranges"} if isinstance(truth, list | tuple) else {}
        sequence = prepare(truth, SCORES, times=times, **how)
        assert (sequence.n_events, sequence.count_events, sequence.truth.any()) == (0, "ranges", False)
        result = nf.evaluate(truth, SCORES, threshold=5, times=times, **how)
        assert math.isnan(result.recall)
        assert "There are no events: recall is undefined." in result.notes

    @pytest.mark.parametrize(
        "one",
        [
            np.array([[0], [1], [1]]),
            pd.DataFrame({"a": [0, 1, 1]}),
            pl.DataFrame({"a": [0, 1, 1]}),
            pa.table({"a": [0, 1, 1]}),
        ],
        ids=lambda one: type(one).__name__,
    )
    def test_one_column_is_one_column(self, one):
        """(n, 1) arrays and data frames of one column, for every argument."""
        assert as_column(one, "scores").values.tolist() == [0, 1, 1]
        assert nf.evaluate(one, one, threshold=1, times=[[5], [6], [7]] and np.array([[5], [6], [7]])).recall == 1.0
        assert nf.evaluate(one, predictions=one, mask=1 - np.asarray(one)).n == 2

    def test_a_frame_of_one_column_keeps_its_index(self):
        """It is aligned as a Series is."""
        frame = pd.DataFrame({"a": [1, 0, 0]}, index=[2, 0, 1])
        scores = pd.Series([0.0, 0, 9], index=[0, 1, 2])
        assert nf.evaluate(frame, scores, threshold=9).recall == 1.0


class TestRefusals:
    @pytest.mark.parametrize(
        ("truth", "how", "message"),
        [
            (
                [(5, 3), (9, 8)],
                {},
                r"truth has 2 range\(s\) that end before they start: 5 to 3, 9 to 8: swap their ends",
            ),
            ([("2024-03-05", "2024-03-04")], {"times": DAYS}, "end before they start: 2024-03-05 to 2024-03-04: swap"),
            (
                [(0, 4), (1, 2), (2, 6)],
                {},
                r'truth has 2 range\(s\) that overlap another, first 0 to 4 and 1 to 2: fix them, or pass overlaps="merge"',
            ),
            ([(3, 5), (5, 8)], {}, 'first 3 to 5 and 5 to 8: fix them, or pass overlaps="merge"'),
            ([(3, 5), (3, 5)], {}, "first 3 to 5 and 3 to 5"),
            ([(3, 3), (3, 3)], {"times": np.arange(10)}, "first 3 to 3 and 3 to 3"),
            ([(1, 3), (2, 4)], {"times": np.arange(10.0)}, "first 1 to 3 and 2 to 4"),
            (
                [("2024-03-01", "2024-03-05"), ("2024-03-04T12:00", "2024-03-06")],
                {"times": DAYS},
                "first 2024-03-01 to 2024-03-05 and 2024-03-04T12:00:00 to 2024-03-06",
            ),
            (
                [(2, 3), (10, 12), (-5, -1)],
                {},
                r"truth has 2 range\(s\) outside the steps 0 to 9: -5 to -1, 10 to 12: remove them, or pass more steps",
            ),
            (
                [("2023-01-01", "2023-01-02"), ("2024-03-11", "2024-03-12")],
                {"times": DAYS},
                r"truth has 2 range\(s\) outside the clock \(2024-03-01 to 2024-03-10\): 2023-01-01 to 2023-01-02, 2024-03-11 to",
            ),
            ([(20.5, 30)], {"times": np.arange(10) / 10}, r"outside the clock \(0 to 0.9\): 20.5 to 30"),
            (
                [(1, None)],
                {},
                r"truth has 1 range\(s\) without a finite end, at position\(s\) 0: write the end of the data if",
            ),
            (
                [(np.nan, 2), (3, 4)],
                {},
                r"without a finite start, at position\(s\) 0: write the start of the data if the range began before it",
            ),
            ([(1, math.inf)], {"times": np.arange(10)}, "without a finite end"),
            ([("2024-03-05", None)], {"times": DAYS}, "without a finite end"),
            (np.array([["2024-03-05", "NaT"]], dtype="datetime64[D]"), {"times": DAYS}, "without a finite end"),
            (
                [(1.5, 3)],
                {},
                "truth has ranges that end at 1.5, which are not whole steps: pass whole positions, or times=",
            ),
            ([(True, False)], {}, "truth holds pairs of booleans: pass one label for each step"),
            ([("2024-03-05", "2024-03-06")], {}, "truth holds times, but the data has no clock: pass times="),
            ([(1, 3)], {"truth_as": "times"}, "truth holds times, but the data has no clock"),
            (
                [(1, 3)],
                {"truth_as": "labels"},
                "truth holds pairs, but truth_as='labels': pass one label for each step",
            ),
            (
                [(DAYS[0], DAYS[1])],
                {"times": DAYS, "truth_as": "positions"},
                "truth holds dates, but truth_as='positions'",
            ),
            ([1, 3], {"truth_as": "ranges"}, "truth is one column, but truth_as='ranges': pass pairs"),
            ([(1, 2, 3)], {}, r"truth must have one dimension, got shape \(1, 3\)"),
            ([(1, 2), (1, 2, 3)], {}, "nested sequences of unequal length"),
            (
                pd.DataFrame({"a": [1], "b": [2]}),
                {},
                "truth has the columns 'a', 'b', of which none is called start or begin",
            ),
            (pd.DataFrame({"start": [1], "b": [2]}), {}, "of which none is called end or stop or to: call two of them"),
            (
                pd.DataFrame([[1, 1, 2]], columns=["start", "Start", "end"]),
                {},
                "of which more than one is called start",
            ),
            (
                pd.DataFrame({"start": [1], "end": DAYS[:1]}),
                {},
                "starts and ends of different kinds, dates and numbers",
            ),
            (
                pd.IntervalIndex.from_arrays([3], [3], closed="left"),
                {},
                r"truth has 1 empty interval\(s\), closed='left': 3 to 3: remove them",
            ),
            ([pd.Interval(1, 2, closed="left"), pd.Interval(4, 5)], {}, "intervals of different kinds"),
            ([(1, 3)], {"overlaps": "join"}, "overlaps='join' must be one of 'error', 'merge'"),
            ([(1, 3)], {"count_events": "all"}, "count_events='all' must be one of 'steps', 'ranges'"),
            ([(1, 3)], {"truth_as": "range"}, "truth_as='range' must be one of .*'ranges'"),
        ],
    )
    def test_every_error_names_the_ranges_and_the_remedy(self, truth, how, message):
        """The same for `evaluate`, `sweep`, `diagnose` and the timeline, since all read alike."""
        with pytest.raises(InputError, match=message):
            nf.evaluate(truth, SCORES, threshold=5, **how)
        with pytest.raises(InputError, match=message):
            nf.sweep(truth, SCORES, **how)
        with pytest.raises(InputError, match=message):
            nf.diagnose(truth, SCORES, **how)
        with pytest.raises(InputError, match=message):
            nf.plot.timeline(truth, SCORES, threshold=5, **how)

    def test_alarm_times_need_a_clock_also_beside_ranges(self):
        """Ranges have no index that could be one."""
        with pytest.raises(InputError, match="predictions holds times, but the data has no clock: pass times="):
            nf.evaluate([(DAYS[0], DAYS[2])], predictions=DAYS[:1])


class TestOrder:
    def test_touching_ranges_stay_two(self):
        """Steps 1 to 3 and 4 to 5 are two events, in whichever order they come."""
        assert spans_of([(4, 5), (1, 3)]) == [(1, 3), (4, 5)]
        assert prepare([(4, 5), (1, 3)], SCORES).notes == ()

    def test_overlapping_ranges_are_merged_if_asked_to(self):
        """Chains and nested ones too; the note says how many became how many; touching ones stay two."""
        sequence = prepare([(0, 5), (1, 2), (5, 6), (7, 8), (8, 8)], SCORES, overlaps="merge")
        assert list(zip(sequence.spans.starts, sequence.spans.stops, strict=True)) == [(0, 7), (7, 9)]
        assert sequence.notes == ("Overlapping ranges were merged: 5 became 2.",)
        hours = [("2024-03-01", "2024-03-03"), ("2024-03-02", "2024-03-02T12:00"), ("2024-03-03", "2024-03-04")]
        assert spans_of(hours, times=DAYS, overlaps="merge") == [(0, 2), (3, 3)]

    def test_ranges_that_share_an_instant_touch(self):
        """The step there belongs to the earlier one; the later starts at the next or between steps; it is noted."""
        how = {"times": DAYS}
        sequence = prepare([("2024-03-02", "2024-03-03"), ("2024-03-03", "2024-03-05")], SCORES, **how)
        assert list(zip(sequence.spans.starts, sequence.spans.stops, strict=True)) == [(1, 3), (3, 5)]
        (note,) = sequence.notes
        assert note.startswith(
            "1 range(s) begin on the step on which the previous one ends; that step counts for the earlier range: "
            "2024-03-03"
        )
        shared = [("2024-03-02", "2024-03-03"), ("2024-03-03", "2024-03-05")]
        assert cell_of(shared, **how).found.tolist() == [
            True,
            False,
        ]  # in steps, the alarm on the third is the first one's
        assert cell_of(shared, tolerance="0s", **how).found.tolist() == [
            True,
            True,
        ]  # in time, both have it within their ends
        sequence = prepare([("2024-03-02", "2024-03-03"), ("2024-03-03", "2024-03-03T05:00")], SCORES, **how)
        assert list(zip(sequence.spans.starts, sequence.spans.stops, strict=True)) == [(1, 3), (3, 3)]
        between = prepare([("2024-03-02", "2024-03-03T05:00"), ("2024-03-03T05:00", "2024-03-05")], SCORES, **how)
        assert between.notes == ()  # no step there, nothing to tell

    def test_rounding_makes_no_overlap(self):
        """0.1 + 0.2 is a little more than 0.3: on a clock of floats these touch."""
        tenths = np.arange(10) / 10
        assert spans_of([(0.1, 0.1 + 0.2), (0.3, 0.5)], times=tenths) == [(1, 3), (4, 5)]

    def test_a_range_between_two_steps_stays_an_event(self):
        """It has no step, but ends of its own: a tolerance in time is measured from these."""
        night = [("2024-03-03T18:00", "2024-03-03T20:00")]
        sequence = prepare(night, SCORES, times=DAYS)
        assert (sequence.n_events, sequence.truth.any()) == (1, False)
        assert not cell_of(night, tolerance=Tolerance(early="17h", late="3h"), times=DAYS).found.any()
        assert cell_of(night, tolerance=Tolerance(early="18h", late="0s"), times=DAYS).found.all()
        assert cell_of(night, tolerance=Tolerance(early="18h", late="0s"), times=DAYS).delays().tolist() == [-18 * 3600]
        after = [("2024-03-10T18:00", "2024-03-10T20:00")]  # while the last step lasts
        assert cell_of(after, tolerance=Tolerance(early="18h", late="0s"), times=DAYS).found.all()
        assert cell_of(after, tolerance=0, times=DAYS).recall_hits == 1

    def test_a_range_cut_by_the_border_is_noted(self):
        """What lies within counts; a date beyond what the clock's unit holds is just as far outside."""
        sequence = prepare([(-3, 1), (8, 99)], SCORES)
        assert list(zip(sequence.spans.starts, sequence.spans.stops, strict=True)) == [(0, 2), (8, 10)]
        assert sequence.notes == ("2 range(s) reach beyond the steps 0 to 9 and are cut there: -3 to 1, 8 to 99.",)
        sequence = prepare([("2024-03-09", "9999-12-31")], SCORES, times=DAYS.astype("datetime64[ns]"))
        assert sequence.spans.starts.tolist() == [8]
        assert "reach beyond the clock (2024-03-01 to 2024-03-10) and are cut there" in sequence.notes[0]
        early = cell_of([("2024-02-01", "2024-03-04")], times=DAYS)
        assert early.delays().tolist() == [2 * 86400]  # from where the data begin

    def test_ends_finer_than_the_clock_are_not_rounded(self):
        """A clock of seconds beside ends with nanoseconds: half a second before the stamp does not reach it."""
        seconds = np.datetime64("2024-03-01T00:00:00") + np.arange(10)
        end = "2024-03-01T00:00:01.999999999"
        assert spans_of([("2024-03-01T00:00:00.000000001", end)], times=seconds) == [(1, 1)]
        cell = cell_of([(end, end)], tolerance=Tolerance(early="0s", late="1ns"), times=seconds)
        assert cell.found.all()
        assert not cell_of([(end, end)], tolerance=Tolerance(early="1s", late="0s"), times=seconds).found.any()
        assert spans_of([(0.5, 2.5)], times=np.arange(10)) == [(1, 2)]
        assert spans_of([(2**60, 2**60 + 1)], times=2**60 + np.arange(10)) == [(0, 1)]


class TestMasks:
    def test_a_range_partly_masked_keeps_its_open_steps(self):
        """Still one event, from its first to its last open step, also in time."""
        mask = np.isin(np.arange(10), (2, 4, 5))
        sequence = prepare([(2, 5)], SCORES, mask=mask)
        assert (sequence.spans.starts.tolist(), sequence.spans.stops.tolist()) == ([3], [4])
        assert sequence.left_out.events == 0
        cell = cell_of([(2, 5)], mask=mask, tolerance=Tolerance(early=1, late=3), threshold=6)
        assert cell.found.tolist() == [True]
        for late, found in (("2d", False), ("3d", True)):
            cell = cell_of([(2, 5)], mask=mask, tolerance=Tolerance(early="0s", late=late), threshold=6, times=DAYS)
            assert cell.found.tolist() == [found]

    def test_a_range_wholly_masked_is_left_out(self):
        """And counted, and noted; so is one between two steps of which the first is masked."""
        mask = np.isin(np.arange(10), (2, 3))
        sequence = prepare([(2, 3), (6, 7)], SCORES, mask=mask)
        assert (sequence.n_events, sequence.left_out.events) == (1, 1)
        assert "1 range(s) on those steps were left out." in sequence.notes
        between = [
            ("2024-03-03T18:00", "2024-03-03T20:00"),
            ("2024-03-04T18:00", "2024-03-04T20:00"),
            (DAYS[6], DAYS[6]),
        ]
        sequence = prepare([tuple(map(str, pair)) for pair in between], SCORES, mask=mask, times=DAYS)
        assert (sequence.n_events, sequence.left_out.events) == (1, 2)


class TestCountEvents:
    labels = (0, 1, 1, 0, 0, 0, 1, 1, 0, 0)

    def test_labels_are_steps_unless_ranges_are_asked_for(self):
        """Each run of ones is then a range, also where a masked step is among its ones."""
        assert prepare(self.labels, SCORES).count_events == "steps"
        sequence = prepare(self.labels, SCORES, count_events="ranges")
        assert list(zip(sequence.spans.starts, sequence.spans.stops, strict=True)) == [(1, 3), (6, 8)]
        sequence = prepare([1, 1, 1, 0], [1, 2, 3, 4], count_events="ranges", mask=[0, 1, 0, 0])
        assert sequence.n_events == 1
        assert prepare([2, 3, 7], SCORES, count_events="ranges").n_events == 2  # positions next to each other

    def test_every_step_of_a_range_is_an_event_if_asked_for(self):
        """The same as labels of these steps: every number of the result."""
        ranges = nf.evaluate([(1, 2), (6, 7)], SCORES, threshold=5, tolerance=1, count_events="steps")
        labels = nf.evaluate(self.labels, SCORES, threshold=5, tolerance=1, count_events="steps")
        assert ranges.to_dict() == labels.to_dict()
        assert ranges.to_dict()["count_events"] == "steps"
        note = "1 range(s) between two steps contain no step and were left out."
        assert (
            note in prepare([("2024-03-03T18:00", "2024-03-03T20:00")], SCORES, times=DAYS, count_events="steps").notes
        )

    def test_labels_in_runs_get_an_offer(self):
        """Once, with the number of runs; not where it was said what to count, nor where labels are single steps."""
        runs = np.zeros(400, dtype=int)
        runs[50:60] = runs[200:230] = 1
        scores = np.arange(400) % 17
        offer = (
            "Labels come in 2 run(s) of 20 steps on average, and each step counts as an event: "
            'pass count_events="ranges" to count each run once.'
        )
        result = nf.evaluate(runs, scores, threshold=15)
        assert result.notes.count(offer) == 1
        assert nf.sweep(runs, scores, quantiles=[0.9]).notes.count(offer) == 1
        assert offer not in nf.evaluate(runs, scores, threshold=15, count_events="steps").notes
        assert not any("count_events" in n for n in nf.evaluate(np.arange(400) % 50 == 0, scores, threshold=15).notes)
        assert not any(
            "count_events" in n for n in nf.evaluate([(3, 9)], scores, threshold=15, count_events="steps").notes
        )


def slow(ranges, times, open_steps, alarms, early, late, in_steps, closed="both"):
    """Found ranges, hits of the alarms and delays, by the relation itself.

    Times are whole numbers. A step at the instant in which two ranges touch is the earlier one's; a range keeps its
    open steps, from the first to the last, and goes where it has none; one between two steps belongs to the step before
    it.
    """
    kept, owned = [], set()

    def holds(time, begin, end, begin_too=closed in ("both", "left"), end_too=closed in ("both", "right")):
        return (begin <= time if begin_too else begin < time) and (time <= end if end_too else time < end)

    for begin, end in sorted(ranges):
        steps = [t for t in range(len(times)) if holds(times[t], begin, end)]
        if steps and steps[0] in owned:
            steps = steps[1:]
        owned |= set(steps)
        alive, before = [t for t in steps if open_steps[t]], None
        if steps and not alive:
            continue
        if not steps:
            at = max(t for t in range(len(times)) if times[t] <= begin)
            if not open_steps[at]:
                continue
            before = at
        if alive:
            begin = times[alive[0]] if alive[0] != steps[0] else begin
            end = times[alive[-1]] if alive[-1] != steps[-1] else end
        # an end that was cut off at a masked step leaves one that belongs to the range
        belongs = closed in ("both", "left"), closed in ("both", "right")
        cut = [alive and alive[0] != steps[0], alive and alive[-1] != steps[-1]]
        kept.append((begin, end, alive, before, belongs[0] or cut[0], belongs[1] or cut[1]))

    def counts(alarm, one):
        begin, end, alive, before, *belongs = one
        if not in_steps:
            return holds(times[alarm], begin - early, end + late, *belongs)
        first, last = (alive[0], alive[-1]) if alive else (before, before)
        return first - early <= alarm <= last + late

    found = [[a for a in alarms if counts(a, one)] for one in kept]
    hits = sum(any(counts(a, one) for one in kept) for a in alarms)
    delays = []
    for one, those in zip(kept, found, strict=True):
        away = [times[a] - one[0] for a in alarms]
        delays.append(times[those[0]] - one[0] if those else min(away, key=lambda d: (abs(d), d), default=math.nan))
    return hits, [bool(those) for those in found], delays, kept


@st.composite
def ranges_on_a_clock(draw):
    """Times, ranges that may touch or lie between steps, open steps, alarms, and a tolerance."""
    n = draw(st.integers(1, 10))
    times = np.cumsum(draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)))
    last = int(times[-1])
    cuts = sorted(draw(st.lists(st.integers(int(times[0]), last), min_size=0, max_size=10)))
    ranges = []
    for begin, end in zip(cuts[::2], cuts[1::2], strict=False):
        if not ranges or (begin, end) != ranges[-1]:
            ranges.append((begin, end))
    open_steps = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    open_steps[draw(st.integers(0, n - 1))] = True
    alarms = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    return times, ranges, open_steps, alarms, draw(st.integers(0, 4)), draw(st.integers(0, 4)), draw(st.booleans())


class TestCounts:
    @settings(max_examples=400)
    @given(
        ranges_on_a_clock(),
        st.sampled_from(["whole", "float", "seconds", "hours"]),
        st.sampled_from(["both", "both", "left", "right", "neither"]),
    )
    def test_hits_found_and_delays_are_the_oracles(self, case, kind, closed):
        """On clocks of integers, floats and dates, with masks, in steps and in time, for one threshold and several."""
        times, ranges, open_steps, alarms, early, late, in_steps = case
        ranges = [pair for pair in ranges if closed == "both" or pair[0] < pair[1]]
        at = np.flatnonzero(alarms & open_steps).tolist()
        hits, found, delays, kept = slow(ranges, times.tolist(), open_steps, at, early, late, in_steps, closed)
        tick = {"seconds": np.timedelta64(1, "s"), "hours": np.timedelta64(1, "h")}.get(kind)
        clock, truth, scale = times, np.array(ranges).reshape(-1, 2), 1.0
        unit = "steps" if in_steps else "clock"
        if kind == "float":
            clock, truth, scale = times / 10, truth / 10, 10.0
            early, late = (early, late) if in_steps else (early / 10, late / 10)
        elif tick is not None:
            epoch = np.datetime64("2024-03-01T00:00:00")
            clock, truth = epoch + times * tick, epoch + truth.astype(np.int64) * tick
            early, late = (early, late) if in_steps else (early * tick, late * tick)
            unit, scale = None, 1 / (tick / np.timedelta64(1, "s"))
        if closed != "both":
            truth = pd.IntervalIndex.from_arrays(truth[:, 0], truth[:, 1], closed=closed)
        sequence = prepare(truth, alarms.astype(float), mask=~open_steps, times=clock)
        tolerance = Tolerance(early=early, late=late, unit=unit)
        for cuts in ([1.0], [0.5, 2.0]):
            trial = Trial.of(sequence, (tolerance,), np.array(cuts))
            cell = trial.cell(0, 0)
            assert trial.precision_hits[0, 0] == hits
            assert cell.found.tolist() == found
            assert trial.recall_hits[0, 0] == sum(found)
            np.testing.assert_allclose(cell.delays() * scale, delays, atol=1e-9)
        assert sequence.n_events == trial.n_events == len(kept)
        assert sequence.left_out.events == len(ranges) - len(kept)
        assert np.flatnonzero(sequence.truth).tolist() == [t for one in kept for t in one[2]]
        assert trial.near_events[0] == trial.near_flags(0).sum()

    @settings(max_examples=150)
    @given(st.data())
    def test_ranges_of_steps_are_the_oracles(self, data):
        """Positions without a clock: delays in steps, masked ones counted."""
        n = data.draw(st.integers(1, 12))
        cuts = sorted(data.draw(st.sets(st.integers(0, n), max_size=8)))
        ranges = [(a, b - 1) for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
        flags = st.lists(st.booleans(), min_size=n, max_size=n)
        open_steps, alarms = np.array(data.draw(flags)), np.array(data.draw(flags))
        open_steps[0] = True
        early, late = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 4))
        at = np.flatnonzero(alarms & open_steps).tolist()
        hits, found, delays, kept = slow(ranges, list(range(n)), open_steps, at, early, late, True)
        cell = cell_of(
            ranges, alarms.astype(float), Tolerance(early=early, late=late), 1, mask=~open_steps, truth_as="ranges"
        )
        assert (cell.precision_hits, cell.found.tolist()) == (hits, found)
        np.testing.assert_array_equal(cell.delays(), delays)
        assert cell.n_events == len(kept)

    @settings(max_examples=60)
    @given(
        st.lists(st.booleans(), min_size=1, max_size=12),
        st.lists(st.integers(0, 2), min_size=12, max_size=12),
        st.integers(0, 3),
    )
    def test_a_run_of_labels_is_the_range_of_its_ends(self, labels, scores, tolerance):
        """Labels counted as ranges equal the same ranges as pairs."""
        n = len(labels)
        edges = [i for i in range(n + 1) if (i < n and labels[i]) != (i > 0 and labels[i - 1])]
        pairs = [(a, b - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]
        one = cell_of(labels, scores[:n], tolerance, 1, count_events="ranges", truth_as="labels")
        other = cell_of(pairs, scores[:n], tolerance, 1, truth_as="ranges")
        assert (one.precision_hits, one.found.tolist()) == (other.precision_hits, other.found.tolist())
        np.testing.assert_array_equal(one.delays(), other.delays())

    def test_a_delay_is_from_the_start_to_the_first_alarm(self):
        """Not to the nearest one; early where an alarm before the start counts; to the nearest where none counts."""
        alarms = [0, 1, 0, 0, 0, 1, 1, 0, 0, 0]
        assert cell_of([(3, 8)], alarms, 0, 1).delays().tolist() == [2]
        assert cell_of([(3, 8)], alarms, 2, 1).delays().tolist() == [-2]
        assert cell_of([(8, 9)], alarms, 0, 1).delays().tolist() == [-2]
        assert cell_of([(4, 4)], alarms, 3, 1).delays().tolist() == [-3]  # a range of one step is a range
        assert cell_of([4], alarms, 3, 1).delays().tolist() == [1]  # a point has the nearest one
        assert np.isnan(cell_of([(4, 5)], np.zeros(10), 0, 1).delays()).all()

    def test_a_trial_travels_with_its_ranges(self):
        """Pickled, moved to other tolerances, given another detector."""
        cell = cell_of(
            [("2024-03-03T18:00", "2024-03-04T20:00")], tolerance=Tolerance(early="18h", late="0s"), times=DAYS
        )
        again = pickle.loads(pickle.dumps(cell.trial)).cell(0, 0)
        assert again.found.tolist() == cell.found.tolist() == [True]
        wider = cell.trial.over((Tolerance(early="1h", late="1h"),), np.array([5.0]))
        assert wider.recall_hits.tolist() == [[0]]
        moved = cell.truth.moved(np.array([0]))
        assert (moved.begins, moved.n) == (None, 1)


@pytest.mark.usefixtures("any_null")
class TestResults:
    truth = ((1, 3), (6, 6), (8, 9))

    def test_the_second_matrix_is_absent(self):
        """It counts events as steps: None, null in JSON; the first matrix stays, and recall comes from the ranges."""
        result = nf.evaluate(self.truth, SCORES, threshold=5, tolerance=1)
        assert result.tolerant_predictions is None
        assert result.tolerant_truth.tp == result.precision_hits == 3
        assert (result.n_events, result.recall_hits, result.recall) == (3, 3, 1.0)
        plain = json.loads(json.dumps(result.to_dict()))
        assert plain["tolerant_predictions"] is None
        assert (plain["count_events"], plain["n_events"], plain["recall"]["of"]) == ("ranges", 3, 3)
        assert plain["false_alarms"]["count"] == 0
        curve = nf.sweep(self.truth, SCORES, thresholds=5, tolerances=1)
        assert curve.matrices(0, 0) == (result.tolerant_truth, None)

    def test_words_are_of_ranges(self):
        """Titles and sentences, with and without a tolerance."""
        result = nf.evaluate(self.truth, SCORES, threshold=6, tolerance=1)
        assert "10 steps, 3 ranges, 2 predictions" in str(result)
        assert "2 of 2 predictions are within 1 step of a range" in str(result)
        assert "2 of 3 ranges have a prediction within 1 step of them" in str(result)
        result = nf.evaluate(self.truth, SCORES, threshold=7)
        assert "1 of 1 prediction is in a range" in str(result)
        assert "1 of 3 ranges has a prediction inside" in str(result)

    def test_sweeps_count_ranges(self):
        """Every threshold at once equals each by itself; the table and JSON say what is counted."""
        curve = nf.sweep(self.truth, SCORES, tolerances=(0, 1))
        for d, tolerance in enumerate((0, 1)):
            for k, threshold in enumerate(curve.thresholds):
                alone = cell_of(self.truth, SCORES, tolerance, threshold)
                assert curve.recall_hits[d, k] == alone.recall_hits
                assert curve.precision_hits[d, k] == alone.precision_hits
        assert curve.n_events == 3
        assert "10 steps, 3 ranges" in str(curve)
        assert curve.to_dict()["count_events"] == "ranges"

    def test_every_step_in_a_range_is_noted(self):
        """What is degenerate is said of ranges too."""
        notes = nf.evaluate([(0, 9)], SCORES, threshold=5).notes
        assert "Every step is an event: precision says nothing about the detector." in notes
        notes = nf.evaluate([(1, 8)], SCORES, threshold=5, tolerance=1).notes
        assert "Every step is within the tolerance of an event: any prediction would be a hit." in notes

    def test_a_timeline_draws_ranges_as_ranges(self):
        """One line from begin to end for each, on the clock by its own ends; the legend counts ranges."""
        from matplotlib.figure import Figure

        night = [("2024-03-03T18:00", "2024-03-05T20:00"), ("2024-03-07T18:00", "2024-03-07T20:00")]
        for truth, how, spans in (
            (self.truth, {}, [[1, 3], [6, 6], [8, 9]]),
            (night, {"times": DAYS, "tolerance": "1d"}, None),
            (np.zeros((0, 2)), {}, []),
        ):
            ax = nf.plot.timeline(truth, SCORES, threshold=6, ax=Figure().subplots(), **how)
            lines = [
                segment[:, 0].tolist()
                for c in ax.collections
                if hasattr(c, "get_segments")
                for segment in c.get_segments()
            ]
            assert spans is None or sorted(lines) == spans
            texts = [text.get_text() for text in ax.get_legend().get_texts()]
            assert sum(int(t.rsplit(" ", 1)[1]) for t in texts if t.startswith("ranges")) == len(truth)

    def test_a_page_draws_ranges_as_ranges(self):
        """Its timeline has the first and the last step of each range, and the steps whose alarms find it."""
        from nofluke.show.report.grid import make_grid
        from nofluke.show.report.timeline import timeline

        result = nf.evaluate(self.truth, SCORES, threshold=6, tolerance=1, null="circular-shift")
        grid = make_grid(result)
        page = timeline(result, grid)
        first, last, steps = (unpacked(page["events"][name]).tolist() for name in ("first", "last", "steps"))
        assert (first, last, steps) == ([1, 6, 8], [3, 6, 9], [3, 1, 2])
        base = unpacked(page["finders"]["base"])
        starts, lengths = (unpacked(page["finders"][name]).reshape(-1, 3) for name in ("starts", "lengths"))
        d, k = grid.chosen
        assert (base + starts[d]).tolist() == [0, 5, 7]
        assert lengths[d].tolist() == [5, 3, 3]
        assert np.flatnonzero(unpacked(page["levels"]) > k).tolist() == np.flatnonzero(np.array(SCORES) >= 6).tolist()


def run(capsys, *arguments):
    """Exit code, output and errors of one call of the command line."""
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    return stopped.value.code, printed.out, printed.err


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Ten days of scores, and lists of ranges under several names."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{day},{score},{int(i in (2, 3, 6))}" for i, (day, score) in enumerate(zip(DAYS, SCORES, strict=True))]
    (tmp_path / "data.csv").write_text("\n".join(["day,z,label", *rows]) + "\n")
    (tmp_path / "found.csv").write_text(
        "cause,Start,End\ndisk,2024-03-02,2024-03-04\nrain,2024-03-07,2024-03-07T12:00\n"
    )
    (tmp_path / "named.csv").write_text("id,first,last\n1,2024-03-02,2024-03-04\n2,2024-03-07,2024-03-07T12:00\n")
    (tmp_path / "steps.tsv").write_text("from\tto\n1\t3\n6\t6\n")
    (tmp_path / "over.csv").write_text("begin,stop\n2024-03-02,2024-03-05\n2024-03-04,2024-03-07\n")
    (tmp_path / "back.csv").write_text("start,end\n2024-03-01,2024-03-02\n2024-03-05,2024-03-04\n")
    (tmp_path / "open.csv").write_text("start,end\n2024-03-02,\n")
    return tmp_path


@pytest.mark.usefixtures("any_null", "files")
class TestCommandLine:
    base = ("evaluate", "data.csv", "--scores", "z", "--threshold", "5", "--format", "json")

    @pytest.mark.parametrize(
        "options",
        [
            "--time day --truth-file found.csv",
            "--time day --truth-file named.csv --truth-start first --truth-end last",
            "--time day --truth-file named.csv --truth-start 1 --truth-end 2",
            "--truth-file steps.tsv",
            "--truth-file steps.tsv --truth-start from",
        ],
    )
    def test_a_file_of_ranges_is_read(self, options, capsys):
        """Columns are found by their names, or named."""
        code, out, err = run(capsys, *self.base, *options.split())
        assert (code, err) == (0, "")
        told = json.loads(out)
        assert (told["n_events"], told["recall"]["hits"], told["count_events"]) == (2, 2, "ranges")

    def test_a_file_without_incidents_is_no_error(self, files, capsys):
        """A quiet month: no events, so nothing can be told, and the gate says so."""
        (files / "none.csv").write_text("start,end\n")
        for clock in ((), ("--time", "day")):
            code, out, err = run(capsys, *self.base, *clock, "--truth-file", "none.csv", "--gate")
            told = json.loads(out)
            assert (code, told["n_events"], told["verdict"]) == (3, 0, "cannot tell")
            assert "There are no events" in err

    def test_options_reach_the_library(self, capsys):
        """--count-events and --overlaps, for labels and for ranges, and in sweeps."""
        _, out, _ = run(capsys, *self.base, "--truth", "label", "--count-events", "ranges")
        assert json.loads(out)["n_events"] == 2
        _, out, _ = run(capsys, *self.base, "--truth-file", "steps.tsv", "--count-events", "steps")
        assert json.loads(out)["n_events"] == 4
        over = ("--time", "day", "--truth-file", "over.csv")
        _, out, _ = run(capsys, *self.base, *over, "--overlaps", "merge")
        assert json.loads(out)["n_events"] == 1
        _, out, _ = run(capsys, "sweep", "data.csv", "--scores", "z", *over, "--overlaps", "merge", "--format", "json")
        assert json.loads(out)["count_events"] == "ranges"

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ("--time day --truth-file over.csv", "overlap another, first 2024-03-02 to 2024-03-05 and 2024-03-04 to 2024-03-07: fix them, or pass --overlaps merge."),
            ("--truth-file found.csv", "found.csv holds dates, but data.csv has no clock: name its column of times by --time."),
            ("--time day --truth-file named.csv", "named.csv has 3 columns: name one of 'id', 'first', 'last', or two of them by --truth-start and --truth-end for ranges."),
            ("--time day --truth-file named.csv --truth-start first", "of which none is called end or stop or to: name them by --truth-start and --truth-end."),
            ("--time day --truth-file back.csv", "back.csv, line 3: the range 2024-03-05 to 2024-03-04 ends before it starts: swap its ends."),
            ("--time day --truth-file open.csv", "open.csv, line 2: column 'end' has no end: write the end of the data if the range is still open, or remove the range."),
            ("--time day --truth-file named.csv --truth-start first --truth-end first", "--truth-start and --truth-end are both 'first': name two columns."),
            ("--truth label --truth-start first", "--truth-start and --truth-end name columns of --truth-file: pass that, and no --truth."),
            ("--time day --truth-file steps.tsv", "the clock shows dates but --truth-file holds numbers: give both as the same kind."),
        ],
    )  # fmt: skip
    def test_errors_speak_of_options(self, options, message, capsys):
        """One line, exit code 2, and what to type instead."""
        code, out, err = run(capsys, *self.base, *options.split())
        assert (code, out) == (2, "")
        assert message in err
        assert len(err.splitlines()) == 1

    def test_an_offer_speaks_of_options(self, tmp_path, capsys):
        """Labels in runs: the note names the option."""
        rows = [f"{int(50 <= i < 90)},{i % 17}" for i in range(300)]
        (tmp_path / "runs.csv").write_text("\n".join(["y,z", *rows]) + "\n")
        _, out, _ = run(capsys, "evaluate", "runs.csv", "--truth", "y", "--scores", "z", "--threshold", "15")
        assert "pass --count-events ranges to count each run once" in " ".join(out.split())

    def test_files_are_read_in_python_too(self, files):
        """By `read_ranges`, whose result is a truth; two columns are no list of times."""
        pairs = read_ranges(files / "found.csv")
        assert prepare(pairs, SCORES, times=DAYS).n_events == 2
        with pytest.raises(InputError, match="has 3 columns: name one of 'id', 'first', 'last'"):
            read_times(files / "named.csv")
        assert read_times(files / "steps.tsv", "from").tolist() == [1, 6]
