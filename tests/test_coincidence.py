"""Two lists of times: the grid's numbers for whole times, whatever the unit, container or direction of time."""

import datetime as dt
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import nofluke as nf
from oracles import Lists

COUNTED = (
    "permutation",
    "circular-shift",
    "circular-shift:every=7",
    "circular-shift:guard=5",
    "circular-shift:every=3.5",
    "local-shift:reach=8",
    "local-shift:reach=9,every=3",
    "local-permutation:windows=5",
    "seasonal:period=12",
    "seasonal:period=6,bins=3,windows=2",
    "jitter:window=9",
)
"""Nulls whose recall, at least, is counted out or computed."""
DRAWN = ("interval-shuffle", "segments")


@st.composite
def lists(draw: st.DrawFn, least: int = 20, most: int = 120, some: int = 1) -> Lists:
    """Random lists on a short span, with gaps, windows on either side of the event, and nothing in the gaps."""
    last = draw(st.integers(least, most)) - 1
    gaps = draw(st.lists(st.tuples(st.integers(0, last), st.integers(0, 6)), max_size=3))
    gaps = tuple((begin, min(begin + more, last)) for begin, more in gaps)
    early, late = draw(st.tuples(st.integers(-4, 8), st.integers(-4, 8)).filter(lambda sides: sum(sides) >= 0))
    known = Lists(events=[], alarms=[], early=early, late=late, first=0, last=last, gaps=gaps)
    free = known.watched
    assume(len(free) > 12)
    at = st.lists(st.sampled_from(free), min_size=some, max_size=9, unique=True)
    return Lists(**vars(known) | {"events": draw(at), "alarms": draw(at)})


def arguments(lists, **more):
    """What `nf.coincidence` is told about these lists."""
    return {
        "events": lists.events,
        "alarms": lists.alarms,
        "tolerance": nf.Tolerance(early=lists.early, late=lists.late, unit="clock"),
        "span": (lists.first, lists.last),
        "gaps": list(lists.gaps),
        "tick": 1,
        "n_resamples": 200,
        "rng": 1,
        **more,
    }


def flags(at, n):
    """One label for each step."""
    found = np.zeros(n, dtype=int)
    found[list(at)] = 1
    return found


def on_grid(lists, **more):
    """The same asked of `nf.evaluate`: gaps are masked."""
    n = lists.last + 1
    mask = np.ones(n, dtype=bool)
    mask[lists.watched] = False
    return nf.evaluate(
        flags(lists.events, n),
        predictions=flags(lists.alarms, n),
        mask=mask,
        **{"n_resamples": 200, "rng": 1, "tolerance": nf.Tolerance(early=lists.early, late=lists.late), **more},
    )


def agree(one, other, drawn=0.25):
    """Both results have the same numbers, and the same p-values unless these are simulated."""
    assert (one.n, one.n_events, one.n_predictions) == (other.n, other.n_events, other.n_predictions)
    np.testing.assert_array_equal(one.delays.values, other.delays.values)
    for side in ("precision", "recall"):
        mine, theirs = getattr(one, f"{side}_test"), getattr(other, f"{side}_test")
        assert (mine.hits, mine.of) == (theirs.hits, theirs.of)
        assert mine.how.kind == theirs.how.kind
        slack = {"abs": drawn} if mine.how.kind == "simulated" else {"rel": 1e-9, "abs": 1e-15}
        assert mine.pvalue == pytest.approx(theirs.pvalue, **slack), side
        if mine.how.kind != "simulated":
            assert (mine.expected, mine.std) == pytest.approx((theirs.expected, theirs.std), rel=1e-9, abs=1e-9)
    assert one.f1 == pytest.approx(other.f1, nan_ok=True)


class TestTheGrid:
    """Whole times on a grid give the grid's numbers."""

    @given(lists(), st.sampled_from([*COUNTED, *DRAWN]))
    def test_whole_times_give_the_numbers_of_the_grid(self, lists, null):
        """Hits, delays and p-values under every null that both have, with gaps as a mask."""
        found = nf.coincidence(**arguments(lists, null=null))
        agree(found, on_grid(lists, null=null))
        assert found.false_alarms.duration == len(lists.watched)

    @pytest.mark.parametrize("method", ["auto", "exact", "saddlepoint", "binomial", "montecarlo"])
    @given(lists=lists())
    def test_every_method_of_the_permutation_null_is_the_grids(self, lists, method):
        """Exact, saddlepoint and binomial; draws within their error."""
        agree(*(ask(lists, method) for ask in (self._timed, self._stepped)))

    @staticmethod
    def _timed(lists, method):
        return nf.coincidence(**arguments(lists, null="permutation", method=method))

    @staticmethod
    def _stepped(lists, method):
        return on_grid(lists, null="permutation", method=method)

    @pytest.mark.parametrize("null", ["permutation", "circular-shift", "circular-shift:every=7", "local-shift:reach=8"])
    @given(lists=lists())
    def test_the_test_of_f_is_the_grids(self, lists, null):
        """The joint law of both hits is the same, so that F's is."""
        mine = nf.coincidence(**arguments(lists, null=null)).f_test(rng=1)
        theirs = on_grid(lists, null=null).f_test(rng=1)
        slack = {"abs": 0.05} if "simulated" in mine.method + theirs.method else {"rel": 1e-9}
        assert mine.pvalue == pytest.approx(theirs.pvalue, **slack)

    @pytest.mark.parametrize("seed", range(8))
    def test_auto_takes_the_same_null_and_says_the_same(self, seed):
        """Clusters, a season, a trend or nothing of the kind: what the grid shows is what times show."""
        rng = np.random.default_rng(seed)
        weight = [np.zeros(2_000), 2 * np.cos(np.arange(2_000) / 24 * 2 * np.pi), 4 * np.arange(2_000) / 2_000][
            seed % 3
        ]
        events, alarms = (np.sort(np.argsort(rng.gumbel(size=2_000) + weight)[-90:]) for _ in range(2))
        if seed > 5:
            events = np.unique((np.repeat(events[::5], 5) + rng.integers(0, 7, 90)) % 2_000)
        mine = nf.coincidence(events, alarms, tolerance=2, span=(0, 1_999), rng=3)
        labels = flags(events, 2_000), flags(alarms, 2_000)
        theirs = nf.evaluate(labels[0], predictions=labels[1], tolerance=2, rng=3)
        assert mine.verdict == theirs.verdict
        assert mine.null.name == theirs.null.name
        agree(mine, theirs, 0.03)

    @pytest.mark.parametrize("null", ["permutation", "circular-shift:every=7d", "seasonal:period=day of week", "seasonal:period=month", "seasonal:period=7d", "jitter:window=10d", "local-shift:reach=30d", "auto"])  # fmt: skip
    def test_daily_dates_give_the_numbers_of_a_daily_clock(self, null):
        """Rules of the calendar and lengths of time mean the same."""
        days = np.datetime64("2019-11-05") + np.arange(700)
        rng = np.random.default_rng(2)
        events, alarms = (np.sort(rng.choice(700, 40, replace=False)) for _ in range(2))
        tolerance = nf.Tolerance(early="3d", late="-1d")
        mine = nf.coincidence(
            days[events], days[alarms], tolerance=tolerance, span=(days[0], days[-1]), null=null, rng=1
        )
        theirs = nf.evaluate(
            flags(events, 700), predictions=flags(alarms, 700), times=days, tolerance=tolerance, null=null, rng=1
        )
        assert mine.tick == "1d"
        agree(mine, theirs, 0.03)
        assert mine.false_alarms.duration == theirs.false_alarms.duration == 700 * 86_400

    @given(lists())
    def test_hits_and_delays_are_those_of_a_double_loop(self, lists):
        """Every pair of an event and an alarm looked at."""
        found = nf.coincidence(**arguments(lists, null="permutation"))
        assert (found.recall_hits, found.precision_hits) == lists.hits()
        assert found.delays.values.tolist() == lists.delays()
        assert found.n == len(lists.watched)


class TestInvariances:
    """What must change nothing."""

    @given(lists(), st.integers(-(2**58), 2**58), st.sampled_from(COUNTED))
    def test_a_shift_of_all_times_changes_nothing(self, lists, by, null):
        """However far."""
        told = arguments(lists, null=null)
        moved = told | {
            "events": [q + by for q in lists.events],
            "alarms": [p + by for p in lists.alarms],
            "span": (lists.first + by, lists.last + by),
            "gaps": [(begin + by, end + by) for begin, end in lists.gaps],
        }
        self._same(nf.coincidence(**told), nf.coincidence(**moved))

    @staticmethod
    def _same(one, other):
        agree(one, other)
        assert (one.precision_test.pvalue, one.recall_test.pvalue) == pytest.approx(
            (other.precision_test.pvalue, other.recall_test.pvalue), rel=1e-9
        )
        assert one.verdict == other.verdict

    @given(lists(), st.sampled_from([2, 60, 86_400, 10**9, 10**15, 0.1, 0.001, 1 / 44_100, 1 / 30, 1e-7]), st.sampled_from(["permutation", "circular-shift", "local-permutation:windows=5", "auto"]))  # fmt: skip
    def test_a_change_of_unit_changes_nothing(self, lists, unit, null):
        """The tick is given in the new unit, or found: the times are dense enough to show it."""
        told = arguments(lists, null=null)
        scaled = told | {
            "events": [q * unit for q in lists.events],
            "alarms": [p * unit for p in lists.alarms],
            "span": (lists.first * unit, lists.last * unit),
            "gaps": [(begin * unit, end * unit) for begin, end in lists.gaps],
            "tolerance": nf.Tolerance(early=lists.early * unit, late=lists.late * unit, unit="clock"),
            "tick": unit,
        }
        one, other = nf.coincidence(**told), nf.coincidence(**scaled)
        agree_but_for_unit(one, other, unit)

    @given(lists(), st.sampled_from(["permutation", "circular-shift", "local-shift:reach=8", "interval-shuffle"]))
    def test_mirrored_time_with_the_sides_swapped_changes_nothing(self, lists, null):
        """Early is late when time runs backwards."""
        told, n = arguments(lists, null=null), lists.last
        mirrored = told | {
            "events": [n - q for q in lists.events],
            "alarms": [n - p for p in lists.alarms],
            "gaps": [(n - end, n - begin) for begin, end in lists.gaps],
            "tolerance": nf.Tolerance(early=lists.late, late=lists.early, unit="clock"),
        }
        one, other = nf.coincidence(**told), nf.coincidence(**mirrored)
        assert (one.recall_hits, one.precision_hits) == (other.recall_hits, other.precision_hits)
        for side in ("precision_test", "recall_test"):
            p, q = getattr(one, side), getattr(other, side)
            assert p.pvalue == pytest.approx(
                q.pvalue, **({"abs": 0.25} if p.how.kind == "simulated" else {"rel": 1e-9})
            )

    @given(lists(), st.integers(-5, 5))
    def test_a_lag_is_a_shift_of_the_alarms(self, lists, lag):
        """Windows moved later by the lag are alarms moved earlier by it, but for the ends of the span."""
        told = arguments(lists, null="permutation")
        lagged = nf.coincidence(**told | {"lag": lag})
        sides = nf.Tolerance(early=lists.early - lag, late=lists.late + lag, unit="clock")
        agree(lagged, nf.coincidence(**told | {"tolerance": sides}))
        assert lagged.recall_hits == Lists(**vars(lists) | {"alarms": [p - lag for p in lists.alarms]}).hits()[0]

    @given(lists(), st.randoms())
    def test_the_order_of_the_lists_changes_nothing(self, lists, random):
        """Unsorted lists are sorted without complaint, gaps too."""
        told = arguments(lists, null="permutation")
        shuffled = {name: random.sample(told[name], len(told[name])) for name in ("events", "alarms", "gaps")}
        one, other = nf.coincidence(**told), nf.coincidence(**told | shuffled)
        assert one.to_dict() == other.to_dict()

    @pytest.mark.parametrize("edges", ["zero", "interior"])
    def test_swapping_the_lists_swaps_the_rates(self, edges):
        """Events for alarms, with the sides of the tolerance swapped."""
        events, alarms, sides = [3, 17, 40, 41, 77], [5, 18, 60, 79], {"early": 0, "late": 3, "unit": "clock"}
        told = {"span": (0, 99), "tick": 1, "null": "permutation", "edges": edges}
        one = nf.coincidence(events, alarms, tolerance=nf.Tolerance(**sides), **told)
        sides = {"early": 3, "late": 0, "unit": "clock"}
        other = nf.coincidence(alarms, events, tolerance=nf.Tolerance(**sides), **told)
        assert (one.recall, one.precision) == (other.precision, other.recall)
        assert (one.precursor_rate, one.trigger_rate) == (one.recall, one.precision)
        leads = nf.coincidence(events, alarms, tolerance=nf.Tolerance(**sides), leads="events", **told)
        assert (leads.precursor_rate, leads.trigger_rate) == (leads.precision, leads.recall)


def agree_but_for_unit(one, other, unit):
    """As `agree`, with delays and lengths in another unit."""
    assert (one.n, one.recall_hits, one.precision_hits) == (other.n, other.recall_hits, other.precision_hits)
    np.testing.assert_allclose(np.asarray(one.delays.values) * unit, other.delays.values, rtol=1e-6, atol=1e-9 * unit)
    assert one.watched * unit == pytest.approx(other.watched)
    assert one.verdict == other.verdict
    for side in ("precision_test", "recall_test"):
        p, q = getattr(one, side), getattr(other, side)
        assert p.pvalue == pytest.approx(q.pvalue, **({"abs": 0.25} if p.how.kind == "simulated" else {"rel": 1e-9}))


DAYS = ["2019-12-30", "2020-01-02", "2020-02-29", "2020-03-01", "2020-12-31"]
OTHERS = ["2020-01-01", "2020-02-28", "2020-07-04"]
CLOTHES = {
    "text": lambda days: days,
    "text with a time of day": lambda days: [f"{day}T00:00" for day in days],
    "date": lambda days: [dt.date.fromisoformat(day) for day in days],
    "datetime": lambda days: [dt.datetime.fromisoformat(day) for day in days],
    "Timestamp": lambda days: [pd.Timestamp(day) for day in days],
    "datetime64[D]": lambda days: np.array(days, dtype="datetime64[D]"),
    "datetime64[s]": lambda days: np.array(days, dtype="datetime64[s]"),
    "datetime64[ms]": lambda days: np.array(days, dtype="datetime64[ms]"),
    "datetime64[us]": lambda days: np.array(days, dtype="datetime64[us]"),
    "datetime64[ns]": lambda days: np.array(days, dtype="datetime64[ns]"),
    "Series": lambda days: pd.Series(pd.to_datetime(days), index=np.arange(len(days))[::-1]),
    "DatetimeIndex": lambda days: pd.DatetimeIndex(days),
    "DataFrame": lambda days: pd.DataFrame({"when": pd.to_datetime(days)}),
    "polars": lambda days: pl.Series([dt.date.fromisoformat(day) for day in days]),
    "polars datetimes": lambda days: pl.Series([dt.datetime.fromisoformat(day) for day in days]),
    "polars frame": lambda days: pl.DataFrame({"when": [dt.date.fromisoformat(day) for day in days]}),
    "arrow": lambda days: pa.array([dt.datetime.fromisoformat(day) for day in days]),
}


class TestContainers:
    """Lists in any clothes are the same lists."""

    @pytest.mark.parametrize("mine", CLOTHES)
    @pytest.mark.parametrize("theirs", ["text", "datetime64[ns]", "polars"])
    def test_dates_of_any_kind_are_the_same_dates(self, mine, theirs):
        """Events in one kind, alarms in another."""
        wanted = nf.coincidence(DAYS, OTHERS, tolerance="1d", span=("2019-12-01", "2020-12-31"))
        found = nf.coincidence(
            CLOTHES[mine](DAYS), CLOTHES[theirs](OTHERS), tolerance="1d", span=("2019-12-01", "2020-12-31")
        )
        assert found.to_dict() == wanted.to_dict()
        assert (found.tick, found.n) == ("1d", 397)

    @pytest.mark.parametrize("make", [list, tuple, np.array, pd.Series, pd.Index, pl.Series, pa.array, lambda x: np.array(x, dtype=np.float32), lambda x: np.array(x, dtype=np.uint16), lambda x: pd.Series(x, dtype="Int64"), lambda x: np.array(x, dtype=object)])  # fmt: skip
    def test_numbers_of_any_kind_are_the_same_numbers(self, make):
        """Whole or not, in any container."""
        wanted = nf.coincidence([3, 17, 40, 77], [5, 18, 60], tolerance=2, span=(0, 99))
        found = nf.coincidence(make([3, 17, 40, 77]), make([5, 18, 60]), tolerance=2, span=(0, 99))
        assert found.to_dict() == wanted.to_dict()

    def test_times_with_zones_are_compared_in_utc(self):
        """The same moments in another zone."""
        zone = dt.timezone(dt.timedelta(hours=2))
        here = [dt.datetime(2020, 1, day, 2, tzinfo=zone) for day in (1, 5, 9)]
        there = [dt.datetime(2020, 1, day, 0, tzinfo=dt.UTC) for day in (1, 6, 9)]
        found = nf.coincidence(here, there, tolerance="1h")
        assert found.recall_hits == 2
        assert (found.tick, found.n) == ("1h", 193)

    @pytest.mark.parametrize("gaps", [[(10, 12), (30, 39)], np.array([[30, 39], [10, 12]]), pd.DataFrame({"start": [10, 30], "end": [12, 39]}), pl.DataFrame({"start": [10, 30], "end": [12, 39]}), pd.IntervalIndex.from_tuples([(10, 12), (30, 39)], closed="both"), pd.IntervalIndex.from_tuples([(10, 13), (30, 40)], closed="left"), pd.IntervalIndex.from_tuples([(9, 12), (29, 39)], closed="right"), [(10, 12), (30, 35), (33, 39)], [(10, 12), (30, 34), (35, 39)], [(10, 12), (30, 39), (200, 300), (-9, -1)]])  # fmt: skip
    def test_gaps_of_any_kind_are_the_same_gaps(self, gaps):
        """Pairs, frames, intervals closed on any side; overlapping, touching, or out of the span."""
        found = nf.coincidence([3, 17, 40, 77], [5, 18, 60], tolerance=2, span=(0, 99), gaps=gaps, tick=1)
        assert (found.n, found.watched) == (87, 87)
        assert found.to_dict()["gaps"] == [["10", "12"], ["30", "39"]]

    @pytest.mark.parametrize("span", [(0, 99), [0, 99], np.array([0, 99]), pd.Series([0, 99], index=[7, 3]), pd.Interval(0, 99), (end for end in (0, 99)), range(0, 100, 99)])  # fmt: skip
    def test_spans_of_any_kind_are_the_same_span(self, span):
        """Two times, both of them watched."""
        found = nf.coincidence([3, 17, 40, 77], [5, 18, 60], tolerance=2, span=span, tick=1)
        assert (found.n, found.span) == (100, (0, 99))

    @pytest.mark.parametrize("make", [str, dt.date.fromisoformat, np.datetime64])
    def test_a_span_that_ends_on_a_date_ends_with_that_day(self, make):
        """A date without a time of day is all of that day; one with it is that moment."""
        hours = ["2020-01-01T05:00", "2020-01-10T23:00"]
        span = (make("2020-01-01"), make("2020-01-10"))
        assert nf.coincidence(hours, hours, tolerance="1h", span=span).n == 240
        with pytest.raises(nf.InputError, match="outside the span"):
            nf.coincidence(hours, hours, tolerance="1h", span=("2020-01-01", "2020-01-10T00:00"))

    def test_dates_between_two_timestamps_are_a_span(self):
        """An interval of pandas, of moments."""
        span = pd.Interval(pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-30"), closed="both")
        assert nf.coincidence(["2020-01-02"], ["2020-01-03"], tolerance="1d", span=span).n == 30


class TestAnswers:
    """What else a result says."""

    def test_a_guessed_span_is_told(self):
        """It goes from the first to the last of both lists, with a note."""
        found = nf.coincidence([10, 20], [5, 30], tolerance=2, tick=1)
        assert (found.span, found.n) == ((5, 30), 26)
        assert any("guess" in note for note in found.notes)
        assert found.to_dict()["span_guessed"] is True
        assert not any("guess" in note for note in nf.coincidence([10, 20], [5], tolerance=2, span=(0, 99)).notes)

    @pytest.mark.parametrize(("events", "alarms"), [([], [3, 7]), ([3, 7], []), ([], [])])
    @pytest.mark.parametrize("edges", ["zero", "interior"])
    @pytest.mark.parametrize("null", ["auto", *COUNTED, *DRAWN])
    def test_empty_lists_cannot_tell(self, events, alarms, edges, null):
        """No error: an answer that says so, under every null."""
        found = nf.coincidence(
            events, alarms, tolerance=2, span=(0, 99), tick=1, edges=edges, null=null, rng=1, n_resamples=50
        )
        assert found.verdict == "cannot tell"
        assert math.isnan(found.recall) is (not events)
        assert math.isnan(found.precision) is (not alarms)
        assert (found.recall_test.pvalue, found.precision_test.pvalue) == (1, 1)
        assert str(found)

    @given(lists(some=0), st.sampled_from(["zero", "interior"]), st.sampled_from(["greater", "less", "two-sided"]))
    def test_an_answer_can_be_written_down(self, lists, edges, alternative):
        """Text, plain values, a table, and a test of F, whatever is empty."""
        found = nf.coincidence(**arguments(lists, null="auto", edges=edges, alternative=alternative))
        plain = found.to_dict()
        assert plain["tick"] == "1"
        assert plain["edges"] == edges
        assert str(found)
        assert repr(found)
        assert 0 < found.f_test(rng=1, n_resamples=50).pvalue <= 1

    @given(lists(), st.lists(st.integers(0, 6), min_size=1, max_size=3, unique=True), st.lists(st.integers(-4, 4), min_size=1, max_size=3, unique=True))  # fmt: skip
    def test_a_sweep_has_in_every_cell_what_one_coincidence_has(self, lists, tolerances, lags):
        """Hits, p-values and expectations of every tolerance at every lag."""
        told = {key: value for key, value in arguments(lists, null="permutation").items() if key != "tolerance"}
        swept = nf.sweep_tolerances(**told, tolerances=tolerances, lags=lags)
        at = 0
        for tolerance in tolerances:
            for lag in lags:
                one = nf.coincidence(**told, tolerance=tolerance, lag=lag)
                assert swept.recall_hits[at, 0] == one.recall_hits
                assert swept.precision_hits[at, 0] == one.precision_hits
                assert swept.chance.recall.pvalue[at, 0] == pytest.approx(one.recall_test.pvalue, rel=1e-9)
                assert swept.chance.precision.pvalue[at, 0] == pytest.approx(one.precision_test.pvalue, rel=1e-9)
                at += 1
        family = swept.familywise(n_resamples=99, rng=1)
        assert family.recall >= swept.chance.recall.pvalue.min() - 0.15


BOTH = {"events": [5, 6, 40], "alarms": [7, 50], "tolerance": 1}
DATES = {"events": ["2020-01-01", "2020-01-05"], "alarms": ["2020-01-02"], "tolerance": "1d"}
REFUSED = [
    (BOTH, {"events": [True, False, True]}, "events holds zeros and ones"),
    (BOTH, {"events": [0, 1, 0, 1]}, "events holds zeros and ones.*nf.evaluate"),
    (BOTH, {"alarms": [(1, 2), (3, 4)]}, "ranges need to know when anybody watched: pass span="),
    (BOTH, {"events": [1.0, math.nan, 3.0]}, r"events has 1 missing or infinite time.* 1:"),
    (BOTH, {"events": [1.0, math.inf]}, "events has 1 missing or infinite"),
    (BOTH, {"events": [None, 3]}, "events has 1 missing or infinite"),
    (BOTH, {"events": ["a", "b"]}, "events must hold numbers.*'a' at position 0"),
    (BOTH, {"events": None}, "events is None"),
    (BOTH, {"events": 5}, "events must be one column"),
    (BOTH, {"alarms": [1j]}, "alarms must hold numbers"),
    (BOTH, {"events": np.zeros((2, 2, 2))}, "events must have one dimension"),
    (BOTH, {"events": [5, 5, 6]}, 'events has 1 time.*more than once: 5: pass duplicates="merge".*duplicates="count"'),
    (BOTH, {"alarms": [7, 7, 7, 8, 8]}, "alarms has 2 time.*more than once: 7, 8"),
    (BOTH, {"events": [], "alarms": []}, "both empty and there is no span"),
    (BOTH, {"span": (0, 1, 2)}, "span=.* must be two times"),
    (BOTH, {"span": 5}, "span=5 must be two times"),
    (BOTH, {"span": (60, 0)}, "span ends before it starts, 60 to 0"),
    (BOTH, {"span": (0, math.nan)}, "span has 1 missing"),
    (BOTH, {"span": (None, 9)}, "span has 1 missing"),
    (BOTH, {"span": ("2020-01-01", "2020-02-01")}, "span holds dates but events holds numbers"),
    (BOTH, {"span": (6, 60)}, "events has 1 time.*outside the span .6 to 60.: 5"),
    (BOTH, {"span": (0, 45)}, "alarms has 1 time.*outside the span .0 to 45.: 50"),
    (BOTH, {"span": (0, 60), "gaps": [(6, 7)]}, "events has 1 time.*inside a gap.*: 6"),
    (BOTH, {"span": (0, 60), "gaps": [(-1, 61)]}, "gaps cover the whole span"),
    (BOTH, {"span": (0, 60), "gaps": [(20, 10)]}, "gaps has 1 gap.*end before they start, first 20 to 10"),
    (BOTH, {"span": (0, 60), "gaps": (10, 20)}, r"gaps=.* must be \(start, end\) pairs"),
    (BOTH, {"span": (0, 60), "gaps": [(10, math.nan)]}, "gaps has 1 missing"),
    (BOTH, {"tolerance": -1}, "tolerance=-1 must be finite and not negative"),
    (BOTH, {"tolerance": math.nan}, "tolerance=nan"),
    (BOTH, {"tolerance": math.inf}, "tolerance=inf"),
    (BOTH, {"tolerance": None}, "tolerance=None"),
    (BOTH, {"tolerance": "1d"}, "tolerance of 1d does not fit times that are plain numbers"),
    (BOTH, {"lag": "1d"}, "lag='1d' is a duration"),
    (BOTH, {"lag": math.nan}, "lag=nan must be finite"),
    (BOTH, {"lag": None}, "lag=None must be"),
    (BOTH, {"tick": 0}, "tick=0 must be positive"),
    (BOTH, {"tick": -1}, "tick=-1 must be positive"),
    (BOTH, {"tick": math.inf}, "tick=inf must be positive"),
    (BOTH, {"tick": math.nan}, "tick=nan must be positive"),
    (BOTH, {"tick": "1d"}, "tick='1d' does not fit the times"),
    (BOTH, {"tick": 100, "span": (1, 60)}, "span holds no tick of 100, 1 to 60"),
    (BOTH, {"leads": "both"}, "leads='both' must be one of"),
    (BOTH, {"edges": "wrap"}, "edges='wrap' must be one of"),
    (BOTH, {"duplicates": "drop"}, "duplicates='drop' must be one of"),
    (BOTH, {"null": "blocks:length=5"}, "needs a grid of steps"),
    (BOTH, {"null": "seasonal:period=1d"}, "period='1d' does not fit the times"),
    (BOTH, {"null": "seasonal:period=month"}, "period='month' needs dates"),
    (BOTH, {"null": "local-shift:reach=500"}, "local-shift:reach=500.*pass a shorter reach"),
    (BOTH, {"null": "local-permutation:windows=900"}, "900 windows"),
    (BOTH, {"null": "chance"}, "null='chance' must be one of"),
    (BOTH, {"method": "saddlepoint", "null": "jitter:window=9"}, "method='saddlepoint' must be one of"),
    (BOTH, {"alpha": 0}, "alpha=0 must be"),
    (BOTH, {"n_resamples": 0}, "n_resamples=0 must be"),
    (DATES, {"tolerance": 1}, "tolerance of 1 time unit does not fit times that are dates"),
    (DATES, {"tolerance": nf.Tolerance(early=2, late=0)}, "does not fit times that are dates"),
    (DATES, {"lag": 2}, "lag=2 does not fit the tolerance of 1d"),
    (DATES, {"tick": 1}, "tick=1 does not fit the times: pass a duration"),
    (DATES, {"alarms": [7]}, "events holds dates but alarms holds numbers"),
    (DATES, {"span": (0, 9)}, "events holds dates but span holds numbers"),
    (DATES, {"alarms": ["2020-01-02T00:00Z"]}, "alarms has a time zone but events has none"),
    (DATES, {"span": ("2020-01-01T00:00Z", "2020-02-01T00:00Z")}, "span has a time zone but events has none"),
    (DATES, {"events": ["2020-01-01", None]}, "events has 1 missing"),
    (DATES, {"events": np.array(["2020-01-01", "NaT"], dtype="datetime64[s]")}, "events has 1 missing"),
    (DATES, {"span": ("2020-01-02", "2020-02-01")}, "outside the span .2020-01-02 to 2020-02-01.: 2020-01-01"),
    (DATES, {"span": ("2020-02-01", "2020-01-01")}, "span ends before it starts, 2020-02-01 to 2020-01-01"),
    (DATES, {"null": "jitter:window=9"}, "window=9 does not fit the times"),
    (BOTH, {"events": [-(2**63), 2**63 - 1]}, r"longer than 2\*\*60 ticks of 1: pass a coarser tick="),
    (BOTH, {"events": [0, 2**61]}, r"longer than 2\*\*60 ticks"),
    (BOTH, {"tick": 1e-300}, r"longer than 2\*\*60 ticks"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "wrong", "message"), REFUSED)
def test_what_is_wrong_is_told_in_one_line(data, wrong, message):
    """Argument, value and remedy."""
    with pytest.raises(nf.InputError, match=message) as error:
        nf.coincidence(**data | wrong)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


class TestDuplicates:
    """Times that come more than once."""

    def test_merged_ones_count_once_and_are_told(self):
        """As if each had come once."""
        told = {"alarms": [5, 20], "tolerance": 1, "span": (0, 30), "tick": 1}
        merged = nf.coincidence([4, 4, 4, 9], duplicates="merge", **told)
        once = nf.coincidence([4, 9], **told)
        assert merged.recall_test.pvalue == once.recall_test.pvalue
        assert any("2 of the 4 events" in note for note in merged.notes)

    def test_counted_ones_count_each(self):
        """Hits of all of them."""
        found = nf.coincidence([4, 4, 4, 9], [5, 5, 20], tolerance=1, span=(0, 30), tick=1, duplicates="count")
        assert (found.recall_hits, found.n_events) == (3, 4)
        assert (found.precision_hits, found.n_predictions) == (2, 3)

    def test_rounding_to_a_tick_can_make_them(self):
        """Two times within a tick are the same time."""
        with pytest.raises(nf.InputError, match="more than once"):
            nf.coincidence([1.2, 1.7], [5], tolerance=1, tick=1)


class TestWhatGapsDoToSeasons:
    """Shifts go by watched time, in which the hours of a day that is not watched as a whole do not come round."""

    def test_shifts_by_whole_days_are_doubted_where_nights_are_gaps(self):
        """They move the morning of one day to the evening of another."""
        rng, nights = np.random.default_rng(0), [(day * 1440 + 390, day * 1440 + 1439) for day in range(60)]
        events, alarms = (np.unique(rng.integers(60, size=60) * 1440 + rng.integers(390, size=60)) for _ in range(2))
        asked = {"tolerance": 5, "span": (0, 86_399), "tick": 1, "rng": 1, "n_resamples": 99}
        for null in ("circular-shift:every=1440", "local-shift:reach=7200,every=1440"):
            found = nf.coincidence(events, alarms, gaps=nights, null=null, **asked)
            assert any("do not keep a season" in note and "seasonal:period=1440" in note for note in found.notes)
        whole_days = [(10 * 1440, 12 * 1440 - 1)]
        kept = (times[(times < 14_400) | (times >= 17_280)] for times in (events, alarms))
        found = nf.coincidence(*kept, gaps=whole_days, null="circular-shift:every=1440", **asked)
        assert not any("do not keep a season" in note for note in found.notes)


def test_more_events_at_one_time_than_64_bits_have_room_for_are_refused():
    """Thirty at the same nanosecond in 35 years: each tick would need as many places."""
    events = np.append(np.repeat(7, 30), [10**17, 10**18])
    with pytest.raises(nf.InputError, match=r'room for 30 events at one time.*duplicates="merge"'):
        nf.coincidence(events, [1, 5 * 10**17], tolerance=10, span=(0, 11 * 10**17), duplicates="count")
