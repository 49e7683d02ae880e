"""Nulls of events at their own times against everything that chance could have done, one placement after the other."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import nofluke as nf
from oracles import Lists, share_of

DAY = 86_400


@st.composite
def few(draw: st.DrawFn, twice: bool = False) -> Lists:
    """Short spans with few events, so that all placements can be written down."""
    first = 40  # three times at 0 would look like labels
    last = first + draw(st.integers(7, 13))
    gaps = draw(st.lists(st.tuples(st.integers(first, last), st.integers(0, 2)), max_size=2))
    gaps = tuple((begin, min(begin + more, last)) for begin, more in gaps)
    early, late = draw(st.tuples(st.integers(-2, 3), st.integers(-2, 3)).filter(lambda sides: sum(sides) >= 0))
    known = Lists(events=[], alarms=[], early=early, late=late, first=first, last=last, gaps=gaps)
    assume(len(known.watched) > 4)
    at = st.lists(st.sampled_from(known.watched), min_size=1, max_size=4, unique=not twice)
    events = draw(at)
    if twice:  # for certain: most draws have no time twice
        events = [*events[:3], events[0]]
    return Lists(**vars(known) | {"events": sorted(events), "alarms": sorted(draw(at))})


def asked(lists, null, **more):
    """The result of `nf.coincidence`."""
    return nf.coincidence(
        lists.events,
        lists.alarms,
        tolerance=nf.Tolerance(early=lists.early, late=lists.late, unit="clock"),
        span=(lists.first, lists.last),
        gaps=list(lists.gaps),
        tick=1,
        null=null,
        **{"n_resamples": 4_000, "rng": 1, **more},
    )


def check(found, lists, placements):
    """Both p-values are the shares of the placements that do as well, and both means their means."""
    hits = [lists.hits(events) for events in placements]
    for side, values in zip(("recall", "precision"), zip(*hits, strict=True), strict=True):
        test, observed = getattr(found, f"{side}_test"), lists.hits()[side == "precision"]
        assert test.hits == observed
        slack = {"abs": 0.04} if test.how.kind == "simulated" else {"rel": 1e-9}
        assert test.pvalue == pytest.approx(float(share_of(values, observed)), **slack)
        assert test.expected == pytest.approx(sum(values) / len(values), abs=0.1 if "abs" in slack else 1e-9)


class TestEveryPlacement:
    """The p-value is the share of placements that do as well."""

    @given(few())
    def test_uniform_placements_on_watched_ticks(self, lists):
        """The permutation null, gaps left out."""
        check(asked(lists, "permutation"), lists, lists.strata())

    @given(few(), st.sampled_from([1, 2, 3]))
    def test_rotations_over_watched_ticks(self, lists, every):
        """Gaps are passed over as if they were not there; with a period, by whole ones."""
        assume(len(lists.watched) // every > 1)
        null = "circular-shift" if every == 1 else f"circular-shift:every={every}"
        check(asked(lists, null), lists, lists.rotations(every))

    @given(few(), st.integers(2, 5))
    def test_phases_of_a_period_are_counted_from_the_beginning_of_the_span(self, lists, period):
        """One phase for each tick of the period."""
        check(
            asked(lists, f"seasonal:period={period}"), lists, lists.strata(lambda tick: (tick - lists.first) % period)
        )

    @given(few(), st.integers(1, 6))
    def test_jitter_within_fixed_windows(self, lists, window):
        """Windows last as long in and beside gaps."""
        check(asked(lists, f"jitter:window={window}"), lists, lists.strata(lambda tick: (tick - lists.first) // window))

    @given(few(), st.integers(1, 4))
    def test_windows_of_as_many_watched_ticks(self, lists, windows):
        """Local permutations cut the watched time into parts of nearly the same length."""
        free = lists.watched
        placements = lists.strata(lambda tick: free.index(tick) * windows // len(free))
        check(asked(lists, f"local-permutation:windows={windows}"), lists, placements)

    @pytest.mark.slow
    @pytest.mark.parametrize("null", ["permutation", "jitter:window=4", "local-permutation:windows=2"])
    @given(lists=few())
    def test_random_placements_have_the_same_law(self, lists, null):
        """Draws agree with what is counted out."""
        drawn, known = (asked(lists, null, method=method) for method in ("montecarlo", "auto"))
        for side in ("recall_test", "precision_test"):
            assert getattr(drawn, side).pvalue == pytest.approx(getattr(known, side).pvalue, abs=0.04)

    @given(few(twice=True))
    @pytest.mark.slow
    def test_times_that_count_several_times_fall_independently(self, lists):
        """Where several events may share a time, each falls on any tick, nearly as if the others were not there."""
        found = asked(lists, "permutation", duplicates="count")
        hits = [lists.hits(events) for events in itertools.product(lists.watched, repeat=len(lists.events))]
        for side, values in zip(("recall", "precision"), zip(*hits, strict=True), strict=True):
            test, observed = getattr(found, f"{side}_test"), lists.hits()[side == "precision"]
            assert test.hits == observed
            assert test.pvalue == pytest.approx(float(share_of(values, observed)), abs=0.003)
            assert test.expected == pytest.approx(sum(values) / len(values), abs=0.01)

    @pytest.mark.slow
    @given(few(twice=True))
    def test_random_placements_of_times_that_count_several_times(self, lists):
        """Drawn as they are counted out."""
        known = asked(lists, "permutation", duplicates="count")
        for method in ("montecarlo", "saddlepoint"):
            other = asked(lists, "permutation", duplicates="count", method=method)
            assert other.recall_test.pvalue == pytest.approx(known.recall_test.pvalue, abs=0.04)
            if method == "montecarlo":
                assert other.precision_test.pvalue == pytest.approx(known.precision_test.pvalue, abs=0.04)

    @given(
        st.lists(st.integers(0, 9), min_size=4, max_size=5, unique=True),
        st.lists(st.integers(0, 9 * DAY + DAY // 2), min_size=1, max_size=4, unique=True),
        st.tuples(st.integers(-DAY, 2 * DAY), st.integers(-DAY, 2 * DAY)).filter(lambda sides: sum(sides) >= 0),
        st.sampled_from(["permutation", "circular-shift", "jitter"]),
    )
    def test_events_of_a_coarser_resolution_stay_on_it(self, days, alarms, sides, null):
        """Events on whole days beside alarms in seconds: chance leaves them on whole days, and sees every second."""
        assume(np.gcd.reduce(np.diff(sorted(days))) == 1)
        assume(np.gcd.reduce([*alarms, DAY]) < DAY)
        events = [day * DAY for day in days]
        lists = Lists(events=events, alarms=alarms, early=sides[0], late=sides[1], first=0, last=9 * DAY + DAY // 2)
        found = nf.coincidence(
            events,
            alarms,
            tolerance=nf.Tolerance(early=sides[0], late=sides[1], unit="clock"),
            span=(lists.first, lists.last),
            null=f"jitter:window={3 * DAY}" if null == "jitter" else null,
            rng=1,
        )
        assume(found.n == 10)  # few seconds may have a common divisor with the day that makes strides short
        places = Lists(events=days, alarms=[], early=0, late=0, first=0, last=9)
        placed = {
            "permutation": places.strata,
            "circular-shift": places.rotations,
            "jitter": lambda: places.strata(lambda day: day // 3),
        }[null]()
        check(found, lists, [[day * DAY for day in row] for row in placed])

    @given(few(twice=True))
    def test_rotations_keep_events_at_one_time_together(self, lists):
        """They move as one."""
        check(asked(lists, "circular-shift", duplicates="count"), lists, lists.rotations())


def ratio(found, counted):
    """Hits out of those that count; nothing where none does."""
    return Fraction(found, counted) if counted else Fraction(0)


class TestInterior:
    """Only what has its whole window in the watched time counts, and the ratio is tested."""

    @given(few())
    def test_what_counts_is_what_a_double_loop_counts(self, lists):
        """Events, alarms and hits."""
        found = asked(lists, "permutation", edges="interior")
        hits, counted, alarms_hit = lists.inner_hits()
        assert (found.recall_hits, found.n_events) == (hits, counted)
        assert (found.precision_hits, found.n_predictions) == (alarms_hit, len(lists.inner_alarms()))

    @staticmethod
    def _check(lists, null, placements, **more):
        found = asked(lists, null, edges="interior", **more)
        hits, counted, alarms_hit = lists.inner_hits()
        assume(counted)
        made = [lists.inner_hits(events) for events in placements]
        wanted = share_of([ratio(one[0], one[1]) for one in made], ratio(hits, counted))
        exactly = {"rel": 1e-9}
        test = found.recall_test
        assert test.pvalue == pytest.approx(
            float(wanted), **({"abs": 0.04} if test.how.kind == "simulated" else exactly)
        )
        test, wanted = found.precision_test, share_of([one[2] for one in made], alarms_hit)
        assert test.pvalue == pytest.approx(
            float(wanted), **({"abs": 0.04} if test.how.kind == "simulated" else exactly)
        )

    @given(few())
    def test_the_ratio_under_uniform_placements(self, lists):
        """The number of events that count is up to chance too."""
        self._check(lists, "permutation", lists.strata())

    @given(few())
    def test_the_ratio_under_rotations(self, lists):
        """The same, over all rotations."""
        self._check(lists, "circular-shift", lists.rotations())

    @pytest.mark.parametrize("null", ["seasonal:period=4", "jitter:window=4"])
    @given(lists=few())
    def test_the_ratio_within_strata(self, lists, null):
        """Nulls that place events within strata know that not all of them count."""
        label = (
            (lambda tick: (tick - lists.first) % 4)
            if null.startswith("seasonal")
            else (lambda tick: (tick - lists.first) // 4)
        )
        self._check(lists, null, lists.strata(label))

    def test_exact_recall_within_strata_is_refused(self):
        """It is simulated: who asks for an exact one is told so."""
        lists = Lists(events=[3, 8], alarms=[4], early=1, late=1, first=0, last=20)
        with pytest.raises(nf.InputError, match="edges='interior'"):
            asked(lists, "jitter:window=5", edges="interior", method="exact")

    @given(few())
    def test_without_a_tolerance_nothing_is_at_an_edge(self, lists):
        """Windows of one tick lie where the event does."""
        plain = Lists(**vars(lists) | {"early": 0, "late": 0})
        one, other = (asked(plain, "permutation", edges=edges) for edges in ("zero", "interior"))
        assert (one.recall, one.precision) == (other.recall, other.precision)
        assert one.recall_test.pvalue == pytest.approx(other.recall_test.pvalue, rel=1e-9)

    def test_a_gap_between_two_ticks_cuts_nothing(self):
        """Nobody could have seen anything in it anyway."""
        told = {"tolerance": 2, "span": (0, 40), "tick": 1, "edges": "interior", "null": "permutation"}
        one = nf.coincidence([5, 20], [6, 30], gaps=[(5.2, 5.8)], **told)
        assert (one.n_events, one.n_predictions, one.recall_hits) == (2, 2, 1)


class TestInteriorF1:
    """F1 is made of the ratio itself, not of hits that are rounded down to whole ones."""

    @given(few())
    def test_every_rotation_has_its_own_ratio(self, lists):
        """Rounded down, chance would look worse than it is, and p-values would be too small."""
        found = asked(lists, "circular-shift", edges="interior")
        assume(found.n_events and found.n_predictions)
        alarms = len(lists.inner_alarms())

        def f1(events):
            recall_hits, events_that_count, precision_hits = lists.inner_hits(events)
            if not recall_hits or not precision_hits:
                return Fraction(0)
            recall, precision = Fraction(recall_hits, events_that_count), Fraction(precision_hits, alarms)
            return 2 * precision * recall / (precision + recall)

        expected = share_of([f1(row) for row in lists.rotations()], f1(lists.events))
        assert found.f_test().pvalue == pytest.approx(float(expected))


class TestLongSpans:
    """Up to 10¹⁸ ticks, without anything of that length."""

    SPAN = 30 * 365 * 86_400 * 10**9
    NULLS = (
        "permutation",
        "circular-shift",
        "circular-shift:every=1d",
        "local-shift:reach=30d",
        "local-permutation:windows=20",
        "seasonal:period=hour of day",
        "seasonal:period=7d",
        "jitter:window=90d",
        "interval-shuffle",
        "segments",
        "auto",
    )

    @staticmethod
    def _lists(rng):
        at = rng.integers(0, TestLongSpans.SPAN, (2, 80))
        at[1, :20] = at[0, :20] + rng.integers(-(10**12), 10**12, 20)
        return (np.datetime64("1990-01-01", "ns") + np.sort(row).astype("timedelta64[ns]") for row in at)

    @pytest.mark.slow
    @pytest.mark.parametrize("null", NULLS)
    @pytest.mark.parametrize("edges", ["zero", "interior"])
    def test_nanoseconds_over_thirty_years_find_what_is_there(self, null, edges):
        """A quarter of the events have an alarm within half an hour, which chance never does; memory stays small."""
        import tracemalloc

        events, alarms = self._lists(np.random.default_rng(4))
        tracemalloc.start()
        found = nf.coincidence(
            events,
            alarms,
            tolerance="30min",
            span=("1989-12-31", "2020-01-10"),
            null=null,
            edges=edges,
            rng=1,
            n_resamples=499,
        )
        f_test = found.f_test(rng=1, n_resamples=199)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert found.n > 9 * 10**17
        assert (found.tick, found.recall_hits) == ("1ns", 20)
        assert found.recall_test.pvalue <= 0.01
        assert found.precision_test.pvalue <= 0.01
        assert f_test.pvalue <= 0.01
        assert peak < 400 * 2**20

    @pytest.mark.parametrize("null", ["permutation", "circular-shift"])
    def test_exact_tails_agree_with_those_of_coarser_ticks(self, null):
        """Ticks so fine that windows are as good as continuous have p-values that no longer change with them."""
        rng = np.random.default_rng(8)
        events, alarms = (np.sort(rng.choice(10**7, 40, replace=False)) for _ in range(2))
        scales = (10**4, 10**10)
        found = [
            nf.coincidence(
                events * scale, alarms * scale, tolerance=5 * 10**4 * scale, span=(0, 10**7 * scale), tick=1, null=null
            )
            for scale in scales
        ]
        for side in ("recall_test", "precision_test"):
            assert getattr(found[0], side).pvalue == pytest.approx(getattr(found[1], side).pvalue, rel=1e-6)

    def test_random_placements_on_many_ticks_are_uniform(self):
        """As many of 10¹⁷ ticks in one half as in the other, no two on the same."""
        from nofluke.laws.montecarlo.in_time import Sparse

        rows = Sparse(10**17, 50)(np.random.default_rng(1), 2_000)
        assert (np.diff(rows, axis=1) > 0).all()
        assert np.mean(rows < 10**17 // 2) == pytest.approx(0.5, abs=0.01)

    def test_crowded_random_placements_are_all_sets_alike(self):
        """Where times would meet, every set of different ones is still as likely as any other."""
        from collections import Counter

        from nofluke.laws.montecarlo.in_time import Sparse

        sets = Counter(map(tuple, Sparse(5, 3)(np.random.default_rng(1), 20_000).tolist()))
        assert len(sets) == 10
        assert max(sets.values()) - min(sets.values()) < 250

    def test_a_stride_of_many_ticks_keeps_events_on_it(self):
        """Events in days beside alarms in seconds: chance leaves them at midnight."""
        rng = np.random.default_rng(3)
        days = np.datetime64("2015-01-01") + np.sort(rng.choice(1_000, 30, replace=False))
        seconds = np.datetime64("2015-01-01", "s") + np.sort(rng.integers(0, 1_000 * 86_400, 40))
        found = nf.coincidence(days, seconds, tolerance="6h", span=("2015-01-01", "2017-09-26"), null="permutation")
        assert (found.tick, found.n) == ("1d", 1_000)
        lists = Lists(
            events=(days - days[0]).astype(int).tolist(),
            alarms=[],
            early=0,
            late=0,
            first=0,
            last=0,
        )
        near = sum(
            any(abs(int((day - second).astype(int))) <= 21_600 for second in seconds)
            for day in days.astype("datetime64[s]")
        )
        assert found.recall_hits == near
        free = np.datetime64("2015-01-01", "s") + np.arange(1_000) * np.timedelta64(86_400, "s")
        covered = (np.abs((free[:, None] - seconds[None, :]).astype(int)) <= 21_600).any(axis=1).sum()
        assert found.recall_test.expected == pytest.approx(len(lists.events) * covered / 1_000)
