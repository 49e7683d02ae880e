"""Whole periods that change places, against every exchange written down one after the other."""

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import nofluke as nf
from nofluke.laws.montecarlo import kernels
from nofluke.nulls import PeriodShuffle
from nofluke.nulls.periods import matching_table
from nofluke.series.reading import prepare
from nofluke.series.tolerance import Tolerance
from nofluke.series.trial import Trial
from nofluke.series.truth import Truth
from oracles import share_of

Runs = tuple[tuple[int, int], ...]


def hits_of(runs: Runs, alarms: set[int], delta: int) -> tuple[int, int]:
    """Recall's and precision's hits, by looking at every pair."""
    near = [{t for t in alarms if first - delta <= t <= last + delta} for first, last in runs]
    return sum(map(bool, near)), len(set().union(*near))


@st.composite
def whole_days(draw: st.DrawFn) -> tuple[int, int, Runs, set[int], int]:
    """Two to five days of some steps each, with ranges that keep clear of midnight, and any alarms."""
    length, n = draw(st.integers(4, 6)), draw(st.integers(2, 5))
    days = []
    for day in range(n):
        inside = draw(st.lists(st.integers(1, length - 1), min_size=0, max_size=4, unique=True))
        cuts = sorted(inside)
        days += [(day * length + a, day * length + b - 1) for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
    busy = (n - 1) * length  # on the last day something happens at any time but around midnight
    days = [run for run in days if run[0] < busy] + [(busy + 1, busy + length - 2)]
    alarms = draw(st.sets(st.integers(0, n * length - 1), max_size=8))
    return length, n, tuple(days), alarms, draw(st.integers(0, 2))


@given(whole_days())
def test_laws_are_those_of_all_orders_of_the_periods(days: Any) -> None:
    """Both p-values are shares of all orders of the days, each written down; exactly, or as drawn."""
    length, n, runs, alarms, delta = days
    assume(alarms)
    orders = [
        tuple(
            (order[first // length] * length + first % length, order[first // length] * length + last % length)
            for first, last in runs
        )
        for order in itertools.permutations(range(n))
    ]
    every = [hits_of(placed, alarms, delta) for placed in orders]
    flags = [t in alarms for t in range(n * length)]
    for method in ("auto", "montecarlo"):
        found = nf.evaluate(
            list(runs),
            predictions=flags,
            tolerance=delta,
            null=PeriodShuffle(period=length),
            method=method,
            n_resamples=3_000,
            rng=1,
        )
        for k, test in enumerate((found.recall_test, found.precision_test)):
            values = [hits[k] for hits in every]
            exact = test.how.kind == "exact"
            assert test.pvalue == pytest.approx(float(share_of(values, test.hits)), rel=1e-9, abs=0 if exact else 0.06)
            assert test.expected == pytest.approx(np.mean(values), abs=1e-9 if exact else 0.3)
        if method == "auto":
            assert found.recall_test.how.kind == "exact"


@given(st.integers(1, 4), st.integers(0, 3), st.randoms(use_true_random=False))
def test_programme_over_subsets_is_that_of_all_matchings(k: int, more: int, random: Any) -> None:
    """The table is the law of sums over all ways to give the rows different columns."""
    n = k + more
    hits = np.array([[random.choice((0, 0, 1, 2)) for _ in range(n)] for _ in range(k)])
    sums = [sum(hits[i, j] for i, j in enumerate(to)) for to in itertools.permutations(range(n), k)]
    table = matching_table(hits)
    assert table == pytest.approx(np.bincount(sums, minlength=len(table)) / len(sums), abs=1e-12)


def arrangements(null: PeriodShuffle, side: Truth) -> set[tuple[int, ...]]:
    """First steps of the events in all exchanges, as the null says they are."""
    found = null.exchange(side)
    every = [np.array(found.starts)]
    for one in found.classes:
        to = np.array(list(itertools.permutations(range(one.n), one.k)))
        placed = one.starts(to)
        rows = []
        for start in every:
            block = np.tile(start, (len(to), 1))
            block[:, one.events] = placed
            rows += list(block)
        every = rows
    return {tuple(sorted(zip(row.tolist(), (side.stops - side.starts).tolist(), strict=True))) for row in every}  # type: ignore[misc]


@st.composite
def watched(draw: st.DrawFn) -> tuple[Truth, PeriodShuffle]:
    """A short series with masked steps and ranges anywhere on it, across borders and into gaps too."""
    length, n = draw(st.integers(3, 6)), draw(st.integers(2, 4))
    steps = n * length + draw(st.integers(0, 2))
    closed = draw(st.sets(st.integers(0, steps - 1), max_size=4))
    at = sorted(draw(st.sets(st.integers(0, steps - 1), min_size=2, max_size=6)))
    runs = [(a, b - 1) for a, b in zip(at[::2], at[1::2], strict=False)]
    assume(runs)
    mask = np.zeros(steps, dtype=bool)
    mask[list(closed)] = True
    assume(not all(mask[a : b + 1].all() for a, b in runs))
    sequence = prepare(runs, predictions=np.zeros(steps, dtype=bool), mask=mask)
    trial = Trial.of(sequence, (Tolerance(early=0, late=0),), None)
    assume(PeriodShuffle(period=length).exchange(trial.truth).n_periods > 1)
    null = PeriodShuffle(period=length, windows=draw(st.integers(1, 2)), cycle=draw(st.integers(1, 2)))
    return trial.truth, null


@given(watched())
def test_exchanges_are_a_group(made: Any) -> None:
    """From every arrangement the same ones are reached: none is lost, and none leads elsewhere.

    This is what makes the p-value exact: the data are one of arrangements that are equally likely.
    """
    side, null = made
    first = arrangements(null, side)
    own = tuple(sorted(zip(side.starts.tolist(), (side.stops - side.starts).tolist(), strict=True)))
    assert own in first
    for other in list(first)[:20]:
        starts = np.array([start for start, _ in other])
        moved = Truth(
            starts=starts,
            stops=starts + np.array([length for _, length in other]),
            n_steps=side.n_steps,
            open_steps=side.open_steps,
            count_events=side.count_events,
        )
        assert arrangements(null, moved) == first


@given(watched(), st.integers(0, 2**32))
def test_draws_keep_events_whole_and_in_phase(made: Any, seed: int) -> None:
    """No draw loses, cuts or joins an event, or moves it to another phase or onto another one."""
    side, null = made
    at, long = np.flatnonzero(side.open_steps), side.stops - side.starts
    phase = at[side.first_steps] % null.period
    for row in null.draw(side)(np.random.default_rng(seed), 8):
        order = np.argsort(row)
        assert (row[order][1:] >= (row + long)[order][:-1]).all()
        assert row.min() >= 0
        assert (row + long).max() <= side.n_steps
        assert (at[np.minimum(row, side.n_steps - 1)] % null.period == phase).all() or (long == 0).any()


@pytest.mark.parametrize(("n", "k"), [(1, 1), (4, 2), (4, 4), (5, 3)])
def test_random_orders_are_all_equally_likely(n: int, k: int) -> None:
    """The first k of n in every order, as often as the others (four standard errors); the same for the same seed."""
    rows = np.empty((40_000, k), dtype=np.uint32)
    kernels.draw_orders(np.uint64(7), n, rows)
    found = Counter(map(tuple, rows.tolist()))
    every = list(itertools.permutations(range(n), k))
    assert found.keys() == set(every)
    expected = len(rows) / len(every)
    assert max(abs(found[one] - expected) for one in every) <= 4 * np.sqrt(expected)
    again = np.empty_like(rows)
    kernels.draw_orders(np.uint64(7), n, again)
    np.testing.assert_array_equal(rows, again)


class TestClocks:
    """Periods of a clock with gaps, of calendars, and of times between stamps."""

    def minutes(self, days: int, step: int = 60) -> Any:
        return np.datetime64("2024-03-04T00:00") + np.arange(0, days * 1440, step).astype("timedelta64[m]")

    def sides(self, times: Any, truth: Any, null: PeriodShuffle) -> Any:
        sequence = prepare(truth, predictions=np.zeros(len(times), dtype=bool), times=times)
        return null.exchange(Trial.of(sequence, (Tolerance(early=0, late=0),), None).truth)

    def ranges(self, times: Any, hours: list[tuple[int, int]]) -> list[tuple[Any, Any]]:
        begin = times[0]
        return [(begin + np.timedelta64(a, "h"), begin + np.timedelta64(b, "h")) for a, b in hours]

    def test_days_without_gaps_change_places_with_each_other(self) -> None:
        """Days with a gap where events lie stay; those with one at night take part."""
        times = self.minutes(10)
        gone = np.isin(np.arange(240), [3 * 24 + 10, 3 * 24 + 11, 5 * 24 + 2])
        truth = self.ranges(times, [(24 * day + 9, 24 * day + 12) for day in (0, 2, 6, 8)])
        found = self.sides(times[~gone], truth, PeriodShuffle(period="day"))
        # cut at night, between two such hours, so that both ends are incomplete
        assert [one.n for one in found.classes] == [9]
        assert found.n_eventful == 4
        assert len(found.moved) == 4

    def test_ranges_across_the_border_stay(self) -> None:
        """A range that lasts for more than a day keeps the days that it touches where they are."""
        times = self.minutes(10)
        truth = self.ranges(times, [(9, 12), (57, 60), (105, 108), (6 * 24 + 9, 7 * 24 + 12)])
        found = self.sides(times, truth, PeriodShuffle(period="day"))
        assert found.crossed.sum() == 2
        assert len(found.moved) == 3
        assert "2 with an event across a border" in PeriodShuffle(period="day").remark(
            Trial.of(
                prepare(truth, predictions=np.zeros(len(times), dtype=bool), times=times),
                (Tolerance(early=0, late=0),),
                None,
            ).truth
        )

    @pytest.mark.parametrize(("word", "n"), [("day", 28), ("week", 4)])
    def test_calendar_words_are_their_periods(self, word: str, n: int) -> None:
        """From a Monday on, four weeks are so many whole periods."""
        times = self.minutes(28)
        truth = [(t, t + np.timedelta64(2, "h")) for t in times[12 :: 7 * 24]]
        found = self.sides(times, truth, PeriodShuffle(period=word))
        assert found.n_moving in (n, n - 1)  # cut elsewhere, the first and the last are incomplete

    def test_months_change_places_up_to_their_common_days(self) -> None:
        """Of months of unequal length the days that all have move; the 31st stays."""
        times = np.arange(np.datetime64("2021-01-01"), np.datetime64("2022-01-01"))
        truth = np.isin(times, times[[4, 30, 63, 155, 211]])  # 5 and 31 January, 5 March, 5 June, 31 July
        found = self.sides(times, truth, PeriodShuffle(period="month"))
        assert sorted(found.moved.tolist()) == [0, 2, 3]
        assert found.n_moving == 12

    def test_cycle_keeps_weekdays(self) -> None:
        """With a cycle of 7 events stay on their weekday."""
        times = self.minutes(28)
        truth = [(t, t + np.timedelta64(2, "h")) for t in times[[9, 33, 9 * 24 + 9, 17 * 24 + 9]]]
        sequence = prepare(truth, predictions=np.zeros(len(times), dtype=bool), times=times)
        side = Trial.of(sequence, (Tolerance(early=0, late=0),), None).truth
        rows = PeriodShuffle(period="day", cycle=7).draw(side)(np.random.default_rng(1), 50)
        assert (rows // 24 % 7 == side.starts // 24 % 7).all()
        assert len(np.unique(rows[:, 0])) == 4

    def test_irregular_stamps_are_taken_at_their_places(self) -> None:
        """Stamps that come some seconds early or late are those of a regular clock."""
        rng = np.random.default_rng(3)
        times = self.minutes(10, 30).astype("datetime64[s]") + rng.integers(-200, 200, 480).astype("timedelta64[s]")
        truth = [(times[day * 48 + 20], times[day * 48 + 23]) for day in (1, 4, 8)]
        found = self.sides(times, truth, PeriodShuffle(period="1d"))
        assert found.n_eventful == 3
        assert found.n_moving >= 9

    def test_events_at_their_own_times_keep_their_time_of_day(self) -> None:
        """Times between stamps move by whole days, where these were watched."""
        day = np.timedelta64(86_400, "s")
        begin = np.datetime64("2024-03-04T00:00:00")
        events = [
            begin + d * day + np.timedelta64(s, "s") for d, s in ((0, 30_007), (3, 41_113), (6, 32_003), (8, 35_999))
        ]
        alarms = [begin + d * day + np.timedelta64(s, "s") for d, s in ((0, 30_017), (3, 41_100), (5, 32_003), (9, 1))]
        found = nf.coincidence(
            events,
            alarms,
            tolerance="1min",
            span=(begin, begin + 12 * day - np.timedelta64(1, "s")),
            gaps=[(begin + 4 * day + np.timedelta64(30_000, "s"), begin + 4 * day + np.timedelta64(50_000, "s"))],
            null="period-shuffle:period=day",
        )
        assert found.recall_test.how.kind == "exact"
        rows = PeriodShuffle(period="day").draw(found.cell.truth)(np.random.default_rng(1), 100)
        ticks = found.cell.truth.ticks_of(rows)
        per_day = (
            found.cell.truth.watch.ticks.at_or_after(np.array([(begin + day).astype(np.int64)]))[0]
            - found.cell.truth.watch.ticks.at_or_after(np.array([begin.astype(np.int64)]))[0]
        )
        assert (ticks % per_day == found.cell.truth.at % per_day).all()
        assert len(np.unique(ticks[:, 0] // per_day)) >= 9


def test_metrics_move_whole_periods() -> None:
    """A metric's law is that of its value over all orders of the days."""
    rng = np.random.default_rng(5)
    length, n = 8, 4
    runs, scores = [(1, 3), (10, 12), (18, 21)], rng.normal(size=length * n)
    found = nf.significance("auc-roc", runs, scores, null="period-shuffle:period=8", n_resamples=4_000, rng=1)
    values = []
    for order in itertools.permutations(range(n)):
        placed = [(order[a // length] * length + a % length, order[a // length] * length + b % length) for a, b in runs]
        values.append(nf.significance("auc-roc", placed, scores, null="circular-shift").value)
    share = np.mean([value >= found.value - 1e-12 for value in values])
    assert found.pvalue == pytest.approx(share, abs=0.05)


@pytest.mark.parametrize(
    ("null", "word"),
    [
        ("period-shuffle", "period"),
        ("period-shuffle:period=fortnight", "'fortnight'"),
        ("period-shuffle:period=1", "at least 2"),
        ("period-shuffle:period=day", "no clock"),
        ("period-shuffle:period=5,windows=9", "only 5 periods"),
    ],
)
def test_what_it_cannot_do_is_said(null: str, word: str) -> None:
    """Errors name the setting and what is wrong with it."""
    with pytest.raises(nf.InputError, match=word):
        nf.evaluate([0, 1, 0, 0, 1, 0, 0, 0, 1, 0] * 2, predictions=[0, 0, 0, 1, 0] * 4, null=null)


def test_sweeps_of_ranges_are_those_of_their_cells() -> None:
    """Every cell of a sweep over ranges has the p-values of its own evaluation, and all of them a familywise one."""
    rng = np.random.default_rng(4)
    truth, scores = [(24 * day + 9, 24 * day + 12) for day in (1, 4, 5, 9, 12)], rng.normal(size=14 * 24)
    asked: dict[str, Any] = {"null": "period-shuffle:period=24", "rng": 1}
    curve = nf.sweep(truth, scores, tolerances=[0, 3], quantiles=[0.8, 0.95], **asked)
    for d, tolerance in enumerate((0, 3)):
        for k, quantile in enumerate((0.8, 0.95)):
            one = nf.evaluate(truth, scores, tolerance=tolerance, quantile=quantile, **asked)
            assert curve.chance.recall.pvalue[d, k] == pytest.approx(one.recall_test.pvalue)
            slack = 1e-9 if one.precision_test.how.kind == "exact" else 0.02
            assert curve.chance.precision.pvalue[d, k] == pytest.approx(one.precision_test.pvalue, abs=slack)
    assert 0 < curve.familywise(rng=1).recall <= 1


def test_auto_never_refuses_what_the_user_did_not_ask_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Periods of too many phases are refused by name; auto takes something else, or says that nothing holds."""
    monkeypatch.setattr("nofluke.nulls.periods.MOST_CELLS", 100)
    rng = np.random.default_rng(4)
    season = np.tile(np.sin(2 * np.pi * np.arange(24) / 24), 14)
    truth = [(24 * day + 9, 24 * day + 12) for day in (1, 4, 5, 9, 12)]
    scores = 3 * season + rng.normal(size=14 * 24)
    assert nf.evaluate(truth, scores, quantile=0.9).verdict == "cannot tell"
    with pytest.raises(nf.InputError, match="more than can be looked at"):
        nf.evaluate(truth, scores, quantile=0.9, null="period-shuffle:period=24")


@pytest.mark.parametrize("alpha", [5e-324, 1e-300, 1e-9])
def test_a_level_that_no_series_can_reach_is_answered(alpha):
    """However many periods such a level asks for, they are counted without looking at them one by one."""
    rng = np.random.default_rng(3)
    labels, scores = np.zeros(24 * 30), rng.normal(size=24 * 30)
    for day in range(0, 30, 3):
        labels[24 * day + 9 : 24 * day + 12] = 1
    scores += 3 * (np.arange(24 * 30) % 24 == 10)
    result = nf.evaluate(labels, scores, budget="4%", tolerance=1, alpha=alpha, count_events="ranges")
    assert result.verdict == "cannot tell"
    assert result.reason
