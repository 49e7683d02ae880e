"""Times inside a gap of the watched span: refused, or left out as if nobody had listed them, and counted in a note."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import nofluke as nf
from nofluke.series.occurrences import read_times, tolerance_of_times
from nofluke.show.report.origin import call_of

SPAN = (0, 120)
GAPS = [(20, 30), (28, 41), (31, 33), (90, 95)]  # two overlap, one lies within another


def outside(times, gaps, closed="both"):
    """The times that lie in no gap, by looking at every pair."""
    first, last = closed in ("both", "left"), closed in ("both", "right")
    return [t for t in times if not any((a <= t if first else a < t) and (t <= b if last else t < b) for a, b in gaps)]


def note(dropped, many, name):
    """What a list is said to have lost."""
    why = "was dropped, because it lies in a gap" if dropped == 1 else "were dropped, because they lie in gaps"
    return f"{dropped} of the {many} {name} {why}."


def told(result):
    """All that is written down, but for the notes that count what was left out."""
    record = result.to_dict()
    return {**record, "notes": [line for line in result.notes if "dropped" not in line]}


ticks = st.lists(st.integers(0, 120), min_size=1, max_size=14, unique=True)


class TestDropped:
    @given(
        events=ticks,
        alarms=ticks,
        unit=st.sampled_from([1, 3, 0.1, 0.5, "D", "h"]),
        span=st.booleans(),
        tick=st.booleans(),
        duplicates=st.sampled_from(["error", "merge", "count"]),
    )
    def test_they_are_as_deleted_by_hand(self, events, alarms, unit, span, tick, duplicates):
        """All that is read and noted, whatever the unit, with a span and with one that is guessed from what is left."""
        left = [outside(times, GAPS) for times in (events, alarms)]
        assume(span or any(left))
        assume(not any(len(one) > 1 and max(one) <= 10 for one in (events, alarms)))  # might be zeros and ones
        if duplicates != "error":
            events, left[0] = [*events, *left[0][:2]], [*left[0], *left[0][:2]]
            alarms = [*alarms, 25, 25]

        def of(values):
            if isinstance(unit, str):
                return np.datetime64("2020-01-01", "s") + np.array(values, dtype=np.int64) * np.timedelta64(1, unit)
            return np.array(values, dtype=np.int64 if isinstance(unit, int) else float) * unit

        def long(many):
            return f"{many}{unit.lower()}" if isinstance(unit, str) else many * unit

        asked = {
            "tolerances": (tolerance_of_times(long(3)),),
            "span": of(SPAN) if span else None,
            "gaps": [tuple(of(pair)) for pair in GAPS],
            "tick": long(1) if tick else None,
            "duplicates": duplicates,
        }
        found = read_times(of(events), of(alarms), in_gaps="drop", **asked)
        notes = tuple(
            note(len(times) - len(kept), len(times), name)
            for name, times, kept in (("events", events, left[0]), ("alarms", alarms, left[1]))
            if len(kept) < len(times)
        )
        by_hand = read_times(*map(of, left), **asked)
        assert found == replace(by_hand, in_gaps="drop", notes=(*notes, *by_hand.notes))

    @pytest.mark.parametrize("closed", ["both", "left", "right", "neither"])
    def test_an_open_end_of_a_gap_was_watched(self, closed):
        """A time there stays."""
        events, alarms = [5, 20, 25, 30, 70], [6, 20, 30, 80]
        gaps = pd.IntervalIndex.from_arrays([20], [30], closed=closed)
        found = nf.coincidence(events, alarms, tolerance=2, span=SPAN, gaps=gaps, in_gaps="drop")
        left = [outside(times, [(20, 30)], closed) for times in (events, alarms)]
        assert told(found) == told(nf.coincidence(*left, tolerance=2, span=SPAN, gaps=gaps))
        assert (found.n_events, found.n_predictions) == tuple(map(len, left))

    def test_those_that_stay_have_a_tick_of_their_own(self):
        """Seconds in a gap do not make the tick of days finer."""
        days = pd.date_range("2024-01-01", periods=31, freq="D")
        events = [*days[[0, 1, 4, 9, 11, 12, 16, 20, 22, 27, 28]], pd.Timestamp("2024-02-10T11:22:33")]
        asked = {"tolerance": "2d", "span": ("2024-01-01", "2024-03-31"), "gaps": [("2024-02-10", "2024-02-11")]}
        found = nf.coincidence(events, days[1::2], in_gaps="drop", **asked)
        assert (found.tick, found.n_events) == ("1d", 11)

    def test_with_a_tick_of_their_own_they_are_judged_where_they_are_rounded_to(self):
        """Those that are refused are those that are left out."""
        events = ["2024-01-05T06:00", "2024-01-10T18:00", "2024-01-20T01:00"]
        asked = {"tolerance": "1d", "span": ("2024-01-01", "2024-01-31"), "tick": "1d"}
        asked["gaps"] = [("2024-01-09T12:00", "2024-01-10T12:00")]
        with pytest.raises(
            nf.InputError, match=r'events has 1 time\(s\) inside a gap.*: 2024-01-10: pass in_gaps="drop"'
        ):
            nf.coincidence(events, [], **asked)
        assert nf.coincidence(events, [], in_gaps="drop", **asked).n_events == 2

    def test_sums_that_miss_the_end_of_a_gap_by_rounding_are_in_it(self):
        """0.1 + 0.2 is a little more than 0.3, where the gap ends."""
        events = [0.1, 0.1 + 0.2, 0.7]
        asked = {"tolerance": 0.1, "span": (0, 1), "gaps": [(0.2, 0.3)]}
        with pytest.raises(nf.InputError, match="inside a gap"):
            nf.coincidence(events, [0.5], **asked)
        assert nf.coincidence(events, [0.5], in_gaps="drop", **asked).n_events == 2

    @pytest.mark.parametrize(("events", "alarms"), [([25], [3, 50]), ([3, 50], [25]), ([25], [26])])
    def test_a_list_that_is_all_in_gaps_is_empty(self, events, alarms):
        """Nothing can be told then; without a span, no time at all is an error."""
        found = nf.coincidence(events, alarms, tolerance=1, span=SPAN, gaps=GAPS, in_gaps="drop")
        assert found.verdict == "cannot tell"
        assert (found.n_events, found.n_predictions) == tuple(len(outside(one, GAPS)) for one in (events, alarms))
        if found.n_events == found.n_predictions == 0:
            with pytest.raises(nf.InputError, match="there is no span"):
                nf.coincidence(events, alarms, tolerance=1, gaps=GAPS, in_gaps="drop")

    def test_a_sweep_drops_them_too(self):
        """Every window has what one coincidence has."""
        events, alarms = [3, 22, 50, 70, 93, 110], [5, 29, 52, 100]
        swept = nf.sweep_tolerances(
            events, alarms, tolerances=[1, 4], lags=[0, 2], span=SPAN, gaps=GAPS, in_gaps="drop", null="permutation"
        )
        for d, (width, lag) in enumerate(itertools.product((1, 4), (0, 2))):
            one = nf.coincidence(
                outside(events, GAPS), outside(alarms, GAPS), tolerance=width, lag=lag, span=SPAN, gaps=GAPS
            )
            assert (swept.recall_hits[d, 0], swept.precision_hits[d, 0]) == (one.recall_hits, one.precision_hits)
        assert swept.notes[:2] == (
            "2 of the 6 events were dropped, because they lie in gaps.",
            "1 of the 4 alarms was dropped, because it lies in a gap.",
        )

    def test_the_code_on_a_page_drops_them_too(self):
        """It makes the same result from the lists as they were."""
        found = nf.coincidence([3, 22, 50, 70], [5, 52, 100], tolerance=2, span=SPAN, gaps=GAPS, in_gaps="drop")
        code = call_of(found)
        assert 'in_gaps="drop"' in code
        again = eval(code, {"nf": nf, "events": [3, 22, 50, 70], "alarms": [5, 52, 100]})
        assert again.to_dict() == found.to_dict()


class TestRefused:
    def test_by_default_they_are_an_error_with_the_remedy(self):
        """One line that names the list, the times and what to pass."""
        with pytest.raises(nf.InputError) as error:
            nf.coincidence([3, 22, 93], [5], tolerance=1, span=SPAN, gaps=GAPS)
        assert str(error.value) == (
            'events has 2 time(s) inside a gap, which was not watched: 22, 93: pass in_gaps="drop" to leave them out, '
            "or a shorter gap."
        )
        with pytest.raises(nf.InputError, match=r"in_gaps='keep' must be one of 'error', 'drop'"):
            nf.coincidence([3], [5], tolerance=1, span=SPAN, in_gaps="keep")

    def test_times_outside_the_span_stay_an_error(self):
        """Only those inside a gap are left out."""
        with pytest.raises(nf.InputError, match=r"events has 1 time\(s\) outside the span"):
            nf.coincidence([3, 22, 130], [5], tolerance=1, span=SPAN, gaps=GAPS, in_gaps="drop")
