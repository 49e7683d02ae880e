"""Hits in pieces of the shift against dense counts of every shift, plain loops, and problems too large for either."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nofluke as nf
from nofluke.laws.counts import CountLaw
from nofluke.laws.law import exactly
from nofluke.nulls import CircularShift, LocalShift, shifts
from nofluke.nulls.timed_shifts import (
    MOST_PAIRS,
    Pieces,
    affordable,
    constant,
    count_around,
    count_nearby,
    hits_around,
    mirrored,
    pairs_nearby,
    touched_around,
)
from nofluke.series.counting import flags_of, runs
from nofluke.series.reading import prepare
from nofluke.series.tolerance import Ranges
from nofluke.series.trial import Trial

HUGE = 10**18


def as_ranges(pairs):
    """Ranges from a list of (start, stop)."""
    both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return Ranges(starts=both[:, 0], stops=both[:, 1])


def ints(values):
    """An ascending array of whole numbers."""
    return np.array(sorted(values), dtype=np.int64)


@st.composite
def zones(draw, n):
    """Disjoint ascending ranges, some empty, some touching."""
    edges = sorted(draw(st.lists(st.integers(0, n), max_size=10)))
    return as_ranges(list(zip(edges[::2], edges[1::2], strict=False)))


@st.composite
def windows(draw, n):
    """Windows whose ends ascend: they may overlap, come twice and be empty."""
    k = draw(st.integers(0, 6))
    ends = [sorted(draw(st.lists(st.integers(0, n), min_size=k, max_size=k))) for _ in range(2)]
    return as_ranges([(min(a, b), b) for a, b in zip(*ends, strict=True)])


@st.composite
def problems(draw, most=16):
    """A circle, points on it of which some come twice, a zone and windows."""
    n = draw(st.integers(1, most))
    points = ints(draw(st.lists(st.integers(0, n - 1), max_size=8)))
    return n, points, draw(zones(n)), draw(windows(n))


@st.composite
def cells(draw, most=30):
    """One cell of events that are points and alarms that are steps, on a mask or not."""
    n = draw(st.integers(2, most))
    bits = st.lists(st.booleans(), min_size=n, max_size=n).map(np.array)
    tolerance = nf.Tolerance(early=draw(st.integers(0, 5)), late=draw(st.integers(0, 5)))
    mask = draw(bits) if draw(st.booleans()) else np.zeros(n, dtype=bool)
    sequence = prepare(draw(bits).astype(int), predictions=draw(bits).astype(int), mask=mask & (np.arange(n) > 1))
    return Trial.of(sequence, (tolerance,), None).cell(0, 0)


def sparse(cell):
    """What the pieces are made from: windows of the alarms, the zone near alarms, the zone near events."""
    of_alarms = Ranges(starts=cell.windows.starts, stops=cell.windows.stops)
    near_alarms = runs(np.flatnonzero(cell.near_alarm))
    return of_alarms, near_alarms, runs(np.flatnonzero(cell.trial.near_flags(cell.d)))


def loop_count(points, zone, n, shift):
    """Points in the zone after one shift."""
    held = {t for a, b in zip(zone.starts, zone.stops, strict=True) for t in range(a, b)}
    return sum((int(p) + shift) % n in held for p in points)


def loop_touched(found, points, n, shift):
    """Windows with a point after one shift."""
    moved = {(int(p) + shift) % n for p in points}
    return sum(any(t in moved for t in range(a, b)) for a, b in zip(found.starts, found.stops, strict=True))


def loop_mirrored(zone, n, at):
    """Whether a position lies in the zone, looked up beyond the borders in its mirror image."""
    at = -1 - at if at < 0 else 2 * n - 1 - at if at >= n else at
    return any(a <= at < b for a, b in zip(zone.starts, zone.stops, strict=True))


def check_form(pieces):
    """Starts ascend from 0 and stay below n."""
    assert pieces.starts[0] == 0
    assert (np.diff(pieces.starts) > 0).all()
    assert pieces.starts[-1] < pieces.n
    assert pieces.starts.dtype == pieces.values.dtype == np.int64
    assert pieces.lengths.sum() == pieces.n


def hits_nearby(events, near_alarms, alarms, near_events, n, reach):
    """Recall moves events over the zone near alarms; precision moves alarms the other way over the zone near events."""
    return count_nearby(events, near_alarms, n, reach), count_nearby(alarms, near_events, n, reach).reversed()


class TestPieces:
    @settings(max_examples=150)
    @given(data=st.data(), n=st.integers(1, 40))
    def test_everything_asked_is_what_the_written_out_numbers_say(self, data, n):
        """Values, counts, sums, reversal and joint starts against one number for each shift."""
        dense = [np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))) for _ in range(2)]
        one, two = (Pieces(starts=(at := np.flatnonzero(np.diff(x, prepend=-1))), values=x[at], n=n) for x in dense)
        asked = np.array(data.draw(st.lists(st.integers(-100, 100), max_size=8)), dtype=np.int64)
        np.testing.assert_array_equal(one.every_shift(), dense[0])
        np.testing.assert_array_equal(one.at(asked), dense[0][asked % n])
        np.testing.assert_array_equal(one.counts(5), np.bincount(dense[0], minlength=6))
        np.testing.assert_array_equal(one.reversed().every_shift(), dense[0][::-1])
        np.testing.assert_array_equal((one + two).every_shift(), dense[0] + dense[1])
        np.testing.assert_array_equal((2 + one).every_shift(), dense[0] + 2)
        left, right = one.joined(two)
        np.testing.assert_array_equal(left.starts, right.starts)
        np.testing.assert_array_equal(left.every_shift(), dense[0])
        np.testing.assert_array_equal(right.every_shift(), dense[1])
        for pieces in (one, one.reversed(), one + two, left, right):
            check_form(pieces)

    @settings(max_examples=150)
    @given(data=st.data(), n=st.integers(1, 60), every=st.one_of(st.integers(1, 9), st.floats(1, 9)))
    def test_multiples_of_a_stride_are_counted_as_if_listed(self, data, n, every):
        """Whole strides and rounded ones, from any origin, between a first shift and a last."""
        dense = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
        at = np.flatnonzero(np.diff(dense, prepend=-1))
        origin, first = data.draw(st.integers(0, n)), data.draw(st.integers(0, n))
        stop = data.draw(st.one_of(st.none(), st.integers(0, n + 3)))
        listed = [origin + round(k * every) for k in range(-n, n + 1)]
        inside = [s for s in listed if first <= s < (n if stop is None else min(stop, n))]
        found = Pieces(starts=at, values=dense[at], n=n).counts_at_multiples(
            every, 3, origin=origin, first=first, stop=stop
        )
        np.testing.assert_array_equal(found, np.bincount(dense[inside], minlength=4))

    def test_counts_of_a_huge_circle_lose_nothing(self):
        """Every shift of 2**62 is counted, to the last."""
        n = 2**62
        pieces = Pieces(starts=np.array([0, 1, n - 1]), values=np.array([2, 0, 2]), n=n)
        assert pieces.counts(2).tolist() == [n - 2, 0, 2]
        assert pieces.counts_at_multiples(7, 2).tolist() == [
            -(-n // 7) - 1 - ((n - 1) % 7 == 0),
            0,
            1 + ((n - 1) % 7 == 0),
        ]
        assert pieces.reversed().starts.tolist() == [0, 1, n - 1]

    def test_pieces_of_different_circles_are_not_joined(self):
        """The message names both."""
        with pytest.raises(nf.InputError, match="other has 5 shifts, and this has 1,000: join pieces of one circle"):
            constant(0, 1000).joined(constant(0, 5))

    def test_what_is_affordable(self):
        """Up to so many pairs, however they are shared out; beyond 64 bits too."""
        assert affordable(1, MOST_PAIRS)
        assert affordable(10, MOST_PAIRS // 10)
        assert not affordable(2, MOST_PAIRS)
        assert not affordable(10**12, 10**12)

    def test_equal_pieces_are_equal(self):
        """By value, arrays and all."""
        assert constant(1, 5) == constant(1, 5)
        assert constant(1, 5) != constant(2, 5)


class TestAround:
    @settings(max_examples=300)
    @given(problem=problems())
    def test_every_rotation_is_counted_as_by_a_loop(self, problem):
        """Points in a zone and windows touched, with points that come twice and empty lists among them."""
        n, points, zone, found = problem
        count, touched = count_around(points, zone, n), touched_around(found, points, n)
        assert count.every_shift().tolist() == [loop_count(points, zone, n, s) for s in range(n)]
        assert touched.every_shift().tolist() == [loop_touched(found, points, n, s) for s in range(n)]
        check_form(count)
        check_form(touched)
        for pieces in (count, touched):  # no start without a change
            assert (np.diff(pieces.values) != 0).all()

    @settings(max_examples=150)
    @given(cell=cells(), data=st.data())
    def test_hits_are_those_of_the_dense_shifts(self, cell, data):
        """Of a circle, and of its first part with the rest where it is."""
        circle = data.draw(st.integers(1, cell.n_steps))
        of_alarms, near_alarms, _ = sparse(cell)
        recall, precision = hits_around(of_alarms, near_alarms, cell.truth.starts, circle)
        dense = shifts.around(cell, circle)
        np.testing.assert_array_equal(recall.every_shift(), dense[0])
        np.testing.assert_array_equal(precision.every_shift(), dense[1])
        asked = np.arange(-3, circle + 3)
        for found, whole in zip((recall.at(asked), precision.at(asked)), dense, strict=True):
            np.testing.assert_array_equal(found, whole[asked % circle])

    @settings(max_examples=100)
    @given(cell=cells(), every=st.one_of(st.integers(1, 6), st.floats(1, 8)), guard=st.integers(0, 4))
    def test_laws_of_strides_and_guards_are_those_of_the_null(self, cell, every, guard):
        """Counted in pieces: whole periods, and all but the smallest shifts."""
        model = CircularShift(every=every, guard=guard)
        circle, asked = model._circle(cell.truth)[0], model.shifts(cell.truth)
        of_alarms, near_alarms, _ = sparse(cell)
        recall, _ = hits_around(of_alarms, near_alarms, cell.truth.starts, circle)
        law = model.distributions(cell).recall
        np.testing.assert_array_equal(np.bincount(recall.at(asked), minlength=cell.n_events + 1), law.counts)
        if cell.n_steps / every >= 2:  # a circle of one period has the identity alone
            counts = recall.counts_at_multiples(every, cell.n_events, first=max(guard, 1), stop=circle - guard + 1)
            counts[recall.values[0]] += 1  # the identity
            np.testing.assert_array_equal(counts, law.counts)

    def test_dense_and_sparse_agree_on_a_long_series(self):
        """20,000 steps, 300 events that cluster, 500 alarms."""
        rng = np.random.default_rng(5)
        truth = np.zeros(20_000, dtype=int)
        truth[(rng.choice(20_000, 100)[:, None] + [0, 1, 5]).ravel() % 20_000] = 1
        alarms = np.zeros(20_000, dtype=int)
        alarms[rng.choice(20_000, 500)] = 1
        cell = nf.evaluate(truth, predictions=alarms, tolerance=nf.Tolerance(early=3, late=12)).cell
        of_alarms, near_alarms, _ = sparse(cell)
        recall, precision = hits_around(of_alarms, near_alarms, cell.truth.starts, 20_000)
        dense = shifts.around(cell, 20_000)
        np.testing.assert_array_equal(recall.every_shift(), dense[0])
        np.testing.assert_array_equal(precision.every_shift(), dense[1])
        touched = shifts.touched_by_shift(of_alarms, runs(cell.truth.starts), 20_000)
        np.testing.assert_array_equal(touched_around(of_alarms, cell.truth.starts, 20_000).every_shift(), touched)

    @settings(max_examples=100)
    @given(problem=problems())
    def test_a_circle_a_trillion_times_as_long_has_the_same_pieces(self, problem):
        """Positions scaled: every point and every edge at its multiple, and the pieces' starts at theirs."""
        n, points, zone, found = problem
        scale = HUGE // 16
        wide_zone, wide_windows = (Ranges(starts=x.starts * scale, stops=x.stops * scale) for x in (zone, found))
        for small, large in (
            (count_around(points, zone, n), count_around(points * scale, wide_zone, n * scale)),
            (touched_around(found, points, n), touched_around(wide_windows, points * scale, n * scale)),
        ):
            np.testing.assert_array_equal(large.starts, small.starts * scale)
            np.testing.assert_array_equal(large.values, small.values)
            np.testing.assert_array_equal(large.counts(8), small.counts(8) * scale)

    def test_a_huge_circle_is_counted_to_the_last_shift(self):
        """Two points and a window of 10**6 positions in 10**18, by hand."""
        points, window = ints([5, HUGE - 1]), as_ranges([(10**17, 10**17 + 10**6)])
        touched = touched_around(window, points, HUGE)
        count = count_around(points, window, HUGE)
        # the last point lies 6 before the first, around the circle: both are in the window for all but 6 of its shifts
        assert touched.counts(2).tolist() == [HUGE - 10**6 - 6, 10**6 + 6, 0]
        assert count.counts(2).tolist() == [HUGE - 10**6 - 6, 12, 10**6 - 6]
        assert touched.starts.tolist() == [0, 10**17 - 5, 10**17 + 10**6 + 1]

    def test_the_longest_circle_does_not_overflow(self):
        """2**62 positions, and what lies at both ends of them."""
        n = 2**62
        points, window = ints([0, n - 1]), as_ranges([(0, 1), (n - 1, n)])
        assert count_around(points, window, n).counts(2).tolist() == [n - 3, 2, 1]
        assert touched_around(window, points, n).counts(2).tolist() == [n - 3, 2, 1]
        asked = np.array([0, 1, 2, n - 1])
        assert count_around(points, window, n).at(asked).tolist() == [2, 1, 0, 1]
        assert touched_around(window, points, n).at(asked).tolist() == [2, 1, 0, 1]

    def test_either_list_may_be_the_longer(self):
        """Pairs are laid out along the longer list, and the answer does not depend on it."""
        rng = np.random.default_rng(2)
        for n_points, n_windows in ((3, 60), (60, 3)):
            points = ints(rng.integers(0, 500, n_points))
            starts = ints(rng.integers(0, 480, n_windows))
            found = Ranges(starts=starts, stops=starts + 7)
            assert touched_around(found, points, 500).every_shift().tolist() == [
                loop_touched(found, points, 500, s) for s in range(500)
            ]


class TestNearby:
    @settings(max_examples=300)
    @given(problem=problems(), data=st.data())
    def test_every_small_shift_is_counted_as_by_a_loop(self, problem, data):
        """Over the zone and its mirror image at both borders; pairs are those within reach."""
        n, points, zone, _ = problem
        reach = data.draw(st.integers(0, n - 1))
        found = count_nearby(points, zone, n, reach)
        wanted = [sum(loop_mirrored(zone, n, p + s) for p in points.tolist()) for s in range(-reach, reach + 1)]
        assert found.every_shift().tolist() == wanted
        check_form(found)
        image = mirrored(zone, n, reach)
        close = [
            a <= p + reach and b > p - reach
            for p in points.tolist()
            for a, b in zip(image.starts.tolist(), image.stops.tolist(), strict=True)
        ]
        assert pairs_nearby(points, zone, n, reach) == sum(close)

    @settings(max_examples=150)
    @given(cell=cells(), data=st.data())
    def test_hits_are_those_of_the_dense_shifts(self, cell, data):
        """Both hits, with the signs of the dense ones."""
        reach = data.draw(st.integers(0, cell.n_steps - 1))
        _, near_alarms, near_events = sparse(cell)
        recall, precision = hits_nearby(cell.truth.starts, near_alarms, cell.alarms, near_events, cell.n_steps, reach)
        dense = shifts.nearby(cell, np.arange(-reach, reach + 1))
        np.testing.assert_array_equal(recall.every_shift(), dense[0])
        np.testing.assert_array_equal(precision.every_shift(), dense[1])

    @settings(max_examples=60)
    @given(cell=cells(), data=st.data())
    def test_whole_strides_are_those_of_the_null(self, cell, data):
        """Multiples of a stride to either side of no shift at all."""
        if cell.n_steps < 3:
            return
        reach = data.draw(st.integers(1, cell.n_steps - 1))
        every = data.draw(st.integers(1, reach))
        _, near_alarms, near_events = sparse(cell)
        _, precision = hits_nearby(cell.truth.starts, near_alarms, cell.alarms, near_events, cell.n_steps, reach)
        law = LocalShift(reach=reach, every=every).distributions(cell).precision
        counts = precision.counts_at_multiples(every, cell.n_predictions, origin=reach)
        np.testing.assert_array_equal(counts, law.counts)

    def test_the_mirror_image_is_that_of_flags(self):
        """Against the flags of a zone padded symmetrically."""
        zone, n = as_ranges([(0, 2), (5, 6), (9, 10)]), 10
        for reach in range(n):
            image = mirrored(zone, n, reach)
            padded = flags_of(Ranges(starts=image.starts + reach, stops=image.stops + reach), n + 2 * reach)
            np.testing.assert_array_equal(padded, np.pad(flags_of(zone, n), reach, mode="symmetric"))

    def test_a_huge_reach_does_not_overflow(self):
        """Nearly 2**62 either way; the mirror doubles what lies at the border."""
        n = 2**62
        found = count_nearby(ints([0, n - 1]), as_ranges([(0, 10)]), n, n - 1)
        # the first point meets the zone or its image at -10..9; the last meets the zone at -(n-1)..-(n-10), and the
        # image behind the end at n-9..n-1
        assert found.n == 2 * n - 1
        assert found.counts(2).tolist() == [2 * n - 1 - 39, 39, 0]
        whole = count_nearby(ints([0, 5, n - 1]), as_ranges([(0, n)]), n, n - 1)
        assert whole == constant(3, 2 * n - 1)


class TestLaw:
    def test_a_law_of_huge_counts_loses_nothing(self):
        """Tails and moments are those of fractions, each rounded once."""
        counts = np.array([HUGE - 10**9 - 12_345, 10**9, 12_344, 0, 1])
        law = CountLaw(counts, exactly("all rotations"))
        total = Fraction(HUGE)
        mean = sum(Fraction(k * int(c)) for k, c in enumerate(counts)) / total
        assert law.total == HUGE
        assert law.mean == float(mean)
        assert law.var == float(sum(int(c) * (k - mean) ** 2 for k, c in enumerate(counts)) / total)
        for k in range(1, 5):
            assert law.upper(k) == float(Fraction(int(counts[k:].sum()), HUGE))
            assert law.lower(k - 1) == float(Fraction(int(counts[:k].sum()), HUGE))
        assert law.upper(4) == law.upper(3) == 1 / HUGE
        assert law.quantile(1.0) == 4
        assert law.critical_value(1e-17) == 3
        np.testing.assert_allclose(law.table, counts / 1e18, rtol=1e-15)

    @settings(max_examples=60)
    @given(counts=st.lists(st.integers(0, 2**58), min_size=1, max_size=12).filter(any))
    def test_moments_are_those_of_fractions(self, counts):
        """Whatever the counts are, up to 2**62 together."""
        law = CountLaw(np.array(counts, dtype=np.int64), exactly("all rotations"))
        mean = Fraction(sum(k * c for k, c in enumerate(counts)), sum(counts))
        assert law.mean == float(mean)
        assert law.var == float(sum(c * (k - mean) ** 2 for k, c in enumerate(counts)) / sum(counts))
