"""Event synchronisation, tiling and matching of two lists of times: oracles, invariances, other software's numbers.

What other software says was recorded with pyunicorn 1.0.0, elephant 1.2.1 (neo 0.14.6) and mir_eval 0.8.2 on NumPy 2.4.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching

from nofluke.errors import InputError
from nofluke.measures.points import (
    Matching,
    event_synchronisation,
    event_synchronisation_rows,
    match,
    match_on_steps,
    match_rows,
    tiling,
    tiling_coefficient,
    tiling_rows,
)
from oracles import coincalc_eca, pyunicorn_eca, slow_synchronisation, slow_tiling

LAST = 30
times = st.lists(st.integers(0, LAST), max_size=9).map(sorted)
"""Short lists with ties within and across; empty ones and single ones among them."""
spaced = st.tuples(st.integers(0, 4), st.lists(st.sampled_from([2, 4, 4, 8]), min_size=1, max_size=5)).map(
    lambda drawn: np.cumsum([drawn[0], *drawn[1]]).tolist()
)
"""A few gaps only, so that many events lie exactly in the middle between two others."""
sides = st.tuples(st.integers(-6, 8), st.integers(-6, 8)).filter(lambda pair: sum(pair) >= 0)
taumaxes = st.one_of(st.none(), st.integers(0, 6), st.sampled_from([0.5, 1.5, 2.25]))
ends = st.sampled_from(["kept", "dropped"])
shared = st.sampled_from(["counted", "halved"])
kinds = st.sampled_from([np.int64, np.float64])


# Event synchronisation


@example([0, 10], [5], None, "kept", "halved", np.int64)
@given(st.one_of(times, spaced), st.one_of(times, spaced), taumaxes, ends, shared, kinds)
def test_event_synchronisation_is_that_of_all_pairs(x, y, taumax, ends, shared, kind):
    """The sweep finds what the formula says of every pair, in ticks and in floats."""
    found = event_synchronisation(np.array(x, kind), np.array(y, kind), taumax=taumax, ends=ends, shared=shared)
    cap = None if taumax is None else Fraction(taumax)
    late, early = slow_synchronisation(x, y, cap, dropped=ends == "dropped", halved=shared == "halved")
    assert (found.late, found.early) == (late, early)
    less = 2 * (ends == "dropped")
    n = max(len(x) - less, 0) * max(len(y) - less, 0)
    if n == 0 or (len(x) == len(y) == 1 and taumax is None):
        assert math.isnan(found.strength)
        assert math.isnan(found.delay)
    else:
        assert found.strength == pytest.approx(float(late + early) / n**0.5)
        assert found.delay == pytest.approx(float(late - early) / n**0.5)


@given(st.one_of(times, spaced), st.one_of(times, spaced), st.integers(0, 8), shared)
def test_event_synchronisation_knows_no_origin_unit_or_order(x, y, taumax, shared):
    """Shifted or in another unit all stays; mirrored, or with both lists exchanged, late and early change places."""
    x, y = np.array(x, np.int64), np.array(y, np.int64)
    found = event_synchronisation(x, y, taumax=taumax, shared=shared)
    assert event_synchronisation(x + 10**18, y + 10**18, taumax=taumax, shared=shared) == found
    assert event_synchronisation(x * 3600, y * 3600, taumax=taumax * 3600, shared=shared) == found
    mirrored = event_synchronisation(-x[::-1], -y[::-1], taumax=taumax, shared=shared)
    exchanged = event_synchronisation(y, x, taumax=taumax, shared=shared)
    for other in (mirrored, exchanged):
        assert (other.late, other.early) == (found.early, found.late)


@given(st.sets(st.integers(0, LAST), min_size=2), st.sets(st.integers(0, LAST), min_size=2))
def test_halved_strength_is_one_at_most_and_that_of_a_list_with_itself(x, y):
    """Halved pairs give every event a weight of 1 at most; without ties within a list it is synchronous with itself."""
    x, y = sorted(x), sorted(y)
    assert event_synchronisation(x, y, shared="halved").strength <= 1 + 1e-12
    itself = event_synchronisation(x, x)
    assert (itself.strength, itself.delay) == (pytest.approx(1), 0)


def test_the_formula_as_it_stands_exceeds_one_on_rounded_times():
    """Events in the middle between two alarms are synchronous with both: halved on request."""
    assert event_synchronisation([5, 15], [0, 10, 20]).strength == pytest.approx(4 / 6**0.5)
    assert event_synchronisation([5, 15], [0, 10, 20], shared="halved").strength == pytest.approx(2 / 6**0.5)


def test_delay_is_positive_where_alarms_follow_events():
    """q = 1 if and only if every alarm comes shortly after its event."""
    events = np.array([10, 30, 50, 70])
    assert event_synchronisation(events, events + 3).delay == 1
    assert event_synchronisation(events, events - 3).delay == -1
    assert event_synchronisation(events, events).delay == 0


def test_one_event_and_one_alarm_have_no_window_of_their_own():
    """Nothing sets τ, so nothing can be said; a limit says how far is near."""
    assert math.isnan(event_synchronisation([3], [90]).strength)
    assert math.isnan(event_synchronisation_rows([[3]], [90])[0])
    assert event_synchronisation([3], [5], taumax=2).strength == 1
    assert event_synchronisation([3], [6], taumax=2).strength == 0


def test_half_of_an_odd_gap_is_not_rounded():
    """τ is 2.5 for gaps of 5 ticks: 2 is within it, 3 is not, also for times that floats cannot hold."""
    for start in (0, 2**60):
        assert event_synchronisation([start, start + 5], [start + 2, start + 90]).late == 1
        assert event_synchronisation([start + 3, start + 90], [start, start + 5]).late == 1
        assert event_synchronisation([start, start + 5], [start - 3, start + 90]).early == 0


A = [2, 5, 9, 14, 20, 27, 33, 40], [3, 5, 10, 15, 19, 28, 30, 41]
TIES = [0, 5, 15, 25, 35], [0, 10, 20, 30, 40]
FAR = [1, 4, 9, 30, 31, 47], [6, 12, 22, 29, 33, 48, 49]
DRAWN = (
    [0, 2, 3, 9, 13, 15, 25, 29, 30, 36, 37, 39, 45, 52],
    [0, 1, 4, 7, 8, 16, 22, 23, 26, 28, 33, 34, 39, 43, 50, 52, 57],
)
DRAWN_AGAIN = (
    [1, 7, 13, 16, 17, 22, 24, 37, 43, 47, 49, 51, 57, 59],
    [1, 3, 5, 6, 10, 13, 14, 16, 19, 20, 21, 27, 34, 43, 46, 47, 52],
)
STAMPED_X = [0.15, 10.23, 14.63, 28.42, 29.2, 29.27, 29.82, 29.84, 37.42, 39.12, 43.31, 47.97, 56.18, 64.85, 66.05]
STAMPED_X += [70.7, 72.22, 73.78, 75.87, 77.33, 82.01, 82.99, 84.98, 87.85]
STAMPED_Y = [10.23, 14.63, 15.97, 20.72, 27.54, 29.2, 29.82, 29.84, 39.39, 39.97, 43.06, 43.31, 47.13, 47.91, 47.97]
STAMPED_Y += [58.22, 64.85, 68.28, 69.84, 73.78, 74.18, 80.13, 84.98, 87.85, 89.17]
STAMPED = STAMPED_X, STAMPED_Y
BEYOND_16_BITS = [32700, 32750, 32790, 32900, 33000], [32705, 32760, 32780, 32890, 33001]


@pytest.mark.parametrize(
    ("lists", "taumax", "lag", "said"),
    [
        (A, None, 0, (0.25, 0.5833333333333334)),
        (A, None, 2, (0.3333333333333333, 0.16666666666666666)),
        (A, 1, 2, (0.16666666666666666, 0.16666666666666666)),
        (TIES, None, 0, (0.3333333333333333, 0.3333333333333333)),
        (TIES, None, 2, (0.6666666666666666, 0.0)),
        (TIES, 1, 2, (0.0, 0.0)),
        (FAR, None, 0, (0.0, 0.0)),
        (FAR, None, 2, (0.11180339887498948, 0.11180339887498948)),
        (DRAWN, None, 0, (0.11180339887498948, 0.18633899812498247)),
        (DRAWN, 1, 0, (0.037267799624996496, 0.18633899812498247)),
        (DRAWN, None, 3, (0.14907119849998599, 0.22360679774997896)),
        (DRAWN_AGAIN, None, 0, (0.22360679774997896, 0.14907119849998599)),
        (DRAWN_AGAIN, None, 3, (0.40994579587496144, 0.2608745973749754)),
        (STAMPED, None, 0, (0.20004940101347418, 0.28896024590835157)),
        (STAMPED, 0.5, 0, (0.20004940101347418, 0.24450482346091287)),
        (BEYOND_16_BITS, None, 0, (0.6666666666666666, 0.3333333333333333)),  # with ts1=, ts2=; else 1/3 and 0
    ],
)
def test_event_synchronisation_is_pyunicorn_s_with_ends_dropped_and_shared_pairs_halved(lists, taumax, lag, said):
    """`event_synchronization(x, y, taumax=, lag=)` returns c(x|y) and c(y|x), y moved by lag, each normalised."""
    found = event_synchronisation(lists[0], np.add(lists[1], lag), taumax=taumax, ends="dropped", shared="halved")
    norm = (found.n_events * found.n_alarms) ** 0.5
    assert (found.early / norm, found.late / norm) == pytest.approx(said)


def test_lists_too_short_for_pyunicorn_are_undefined_here():
    """It says 0 of two events, where no event has two neighbours; that is no measurement."""
    assert math.isnan(event_synchronisation([3, 10], [4, 10, 19], ends="dropped").strength)


# Spike time tiling coefficient


def watched_pieces(gaps):
    """Ticks from 0 to LAST less those of the gaps, as pieces and one by one."""
    ticks = [t for t in range(LAST + 1) if t not in gaps]
    begins = [t for t in ticks if t - 1 not in ticks]
    ends = [t + 1 for t in ticks if t + 1 not in ticks]
    return ticks, begins, ends


@given(times, times, sides, st.sets(st.integers(0, LAST), max_size=LAST))
def test_tiling_is_that_of_all_ticks(x, y, sides, gaps):
    """The four shares, tick by tick, with gaps not watched, asymmetric windows and negative sides."""
    ticks, begins, ends = watched_pieces(gaps)
    x, y = ([t for t in z if t in ticks] for z in (x, y))
    found = tiling(x, y, early=sides[0], late=sides[1], begins=begins, ends=ends)
    expected = slow_tiling(x, y, *sides, ticks)
    if expected is None:
        assert math.isnan(found.coefficient)
        return
    shares = (found.precision, found.recall, found.near_alarms, found.near_events)
    assert shares == pytest.approx([float(share) for share in expected])
    p_alarms, p_events, t_alarms, t_events = expected
    halves = [(p_alarms, t_events), (p_events, t_alarms)]
    both = [Fraction(1) if p * t == 1 else (p - t) / (1 - p * t) for p, t in halves]
    assert found.coefficient == pytest.approx(float(sum(both) / 2))


@given(times, times, sides)
def test_tiling_knows_no_origin_and_is_the_same_from_both_sides(x, y, sides):
    """Shifted it stays; with lists exchanged, or mirrored, and sides swapped, so does the coefficient."""
    x, y = np.array(x, np.int64), np.array(y, np.int64)
    early, late = sides
    found = tiling(x, y, early=early, late=late, begins=0, ends=LAST + 1)
    far = 10**17
    shifted = tiling(x + far, y + far, early=early, late=late, begins=far, ends=LAST + 1 + far)
    mirrored = tiling(LAST - x[::-1], LAST - y[::-1], early=late, late=early, begins=0, ends=LAST + 1)
    for same in (shifted, mirrored):
        np.testing.assert_equal(same.coefficient, found.coefficient)
    exchanged = tiling(y, x, early=late, late=early, begins=0, ends=LAST + 1)
    expected = (found.recall, found.precision, found.near_events, found.near_alarms)
    np.testing.assert_equal(
        (exchanged.precision, exchanged.recall, exchanged.near_alarms, exchanged.near_events), expected
    )


@given(times, times, sides, st.sampled_from([0.25, 2.0, 1024.0]))
def test_tiling_of_floats_knows_no_unit(x, y, sides, unit):
    """In continuous time windows have lengths, and lengths scale."""
    x, y = np.array(x, np.float64), np.array(y, np.float64)
    found = tiling(x, y, early=sides[0], late=sides[1], begins=0.0, ends=LAST + 0.5)
    scaled = tiling(x * unit, y * unit, early=sides[0] * unit, late=sides[1] * unit, begins=0, ends=(LAST + 0.5) * unit)
    np.testing.assert_equal(scaled.coefficient, found.coefficient)


def test_nothing_as_long_as_the_span_is_made():
    """10¹⁸ ticks are as many as 10."""
    found = tiling([5, 10**17], [7, 10**18 - 1], early=3, late=3, begins=0, ends=10**18)
    assert (found.precision, found.recall) == (0.5, 0.5)
    assert found.near_alarms == pytest.approx(11 / 10**18, rel=1e-15)
    assert found.coefficient == pytest.approx(0.5)


ELEPHANT = [
    # events, alarms, t_start, t_stop, dt, what it said
    (
        [1.3, 7.56, 15.87, 28.23, 30.9, 34.2, 38.2, 43.2],
        [1.02, 2.71, 18.82, 28.46, 28.79, 43.6],
        0,
        50,
        5,
        0.4958601655933762,
    ),
    (
        [1.3, 7.56, 15.87, 28.23, 30.9, 34.2, 38.2, 43.2],
        [1.02, 2.71, 18.82, 28.46, 28.79, 43.6],
        0,
        50,
        0.5,
        0.3245706350491325,
    ),
    ([1.5, 9.25, 20.0, 33.0], [2.0, 12.0, 20.5, 39.75], 0, 40, 1, 0.34192439862542956),
    ([1.5, 9.25, 20.0, 33.0], [2.0, 12.0, 20.5, 39.75], -10, 60, 3, 0.548076923076923),
    ([5.0, 15.0, 25.0, 35.0, 45.0], [10.0, 20.0, 30.0, 40.0], 0, 50, 5, 1.0),  # one half is 0/0
    ([5.0, 15.0, 25.0, 35.0, 45.0], [5.0, 15.0, 25.0, 35.0, 45.0], 0, 50, 5, 1.0),  # both halves are
    ([5.0, 15.0, 25.0, 35.0, 45.0], [10.0, 20.0, 30.0], 0, 50, 5, 0.6923076923076924),
    ([5.0, 15.0, 25.0, 35.0, 45.0], [11.0, 48.0], 0, 50, 5, 0.5347222222222222),
    ([5.0, 15.0], [30.0, 40.0], 0, 50, 2, -0.16),
    ([10.0], [12.0], 0, 50, 3, 1.0),
]


@pytest.mark.parametrize(("x", "y", "start", "stop", "dt", "said"), ELEPHANT)
def test_tiling_of_floats_is_elephant_s(x, y, start, stop, dt, said):
    """`spike_time_tiling_coefficient(x, y, dt)`, the value in its documentation among them; 0/0 is 1 there too."""
    found = tiling(x, y, early=dt, late=dt, begins=start, ends=stop)
    assert found.coefficient == pytest.approx(said, rel=1e-12)


def test_elephant_s_window_grows_with_the_time_itself():
    """It says 1.0 of two spikes 2 apart, at 100,000, within ± 1.5: `isclose` adds 1e-5 of the time."""
    found = tiling([100_000.0], [100_002.0], early=1.5, late=1.5, begins=0.0, ends=200_000.0)
    assert (found.precision, found.recall) == (0, 0)
    assert found.coefficient == pytest.approx(-3 / 200_000)


def test_tiling_coefficient_of_shares_says_where_it_is_undefined():
    """0/0 is 1, the limit for P = 1; T = 1 with P < 1 is -1; without events or alarms it is NaN."""
    values = tiling_coefficient(
        precision=[1, 1, 0.5, math.nan, 0],
        recall=[1, 0.5, 0.5, 0, math.nan],
        near_alarms=[1, 0.5, 1, 0, 0.5],
        near_events=[1, 1, 1, 0.5, 0],
    )
    np.testing.assert_equal(values, [1, 0.5, -1, math.nan, math.nan])


# One-to-one matching


def largest(near):
    """Size of a maximum matching of a table of who may be matched to whom, by an algorithm for any bipartite graph."""
    return int((maximum_bipartite_matching(csr_matrix(near)) >= 0).sum()) if near.size else 0


@given(times, times, sides, kinds)
def test_the_sweep_finds_a_maximum_matching(x, y, sides, kind):
    """No matching is larger than the one that takes the first alarm left; with ties, negative sides, empty lists."""
    early, late = sides
    found = match(np.array(x, kind), np.array(y, kind), early=early, late=late)
    near = np.array([[q - early <= p <= q + late for p in y] for q in x], dtype=np.int8).reshape(len(x), len(y))
    assert found == Matching(size=largest(near), n_events=len(x), n_alarms=len(y))


@given(st.data())
def test_the_sweep_is_maximum_for_any_windows_whose_ends_ascend(data):
    """An irregular clock gives windows of every width; some hold no alarm at all."""
    n_steps, n_alarms = data.draw(st.integers(1, 9)), data.draw(st.integers(0, 7))
    edges = st.lists(st.integers(0, n_alarms), min_size=n_steps, max_size=n_steps).map(sorted)
    starts, stops = data.draw(edges), data.draw(edges)
    rows = data.draw(st.lists(st.lists(st.integers(0, n_steps - 1), min_size=4, max_size=4).map(sorted), min_size=1))
    expected = []
    for row in rows:
        near = [[starts[t] <= a < stops[t] for a in range(n_alarms)] for t in row]
        expected.append(largest(np.array(near, dtype=np.int8).reshape(4, n_alarms)))
    assert match_on_steps(rows, starts, stops).tolist() == expected


@given(times, times, sides)
def test_matching_knows_no_origin_unit_or_direction(x, y, sides):
    """Shifted, in another unit, mirrored or with lists exchanged and sides swapped: the same size."""
    x, y = np.array(x, np.int64), np.array(y, np.int64)
    early, late = sides
    size = match(x, y, early=early, late=late).size
    assert match(x + 10**18, y + 10**18, early=early, late=late).size == size
    assert match(x * 60, y * 60, early=early * 60, late=late * 60).size == size
    assert match(-x[::-1], -y[::-1], early=late, late=early).size == size
    assert match(y, x, early=late, late=early).size == size


MIR_EVENTS = [0, 8, 17, 18, 19, 24, 45, 49, 56, 69, 72, 90, 101, 103, 105, 108, 142, 152, 154, 167, 171, 188, 195, 213]
MIR_EVENTS += [231, 242, 248, 249, 264, 269, 287, 291, 294, 311, 330, 350, 361, 377, 379, 398]
MIR_ALARMS = [
    5,
    21,
    32,
    52,
    60,
    76,
    80,
    84,
    86,
    88,
    92,
    103,
    105,
    114,
    116,
    122,
    138,
    141,
    152,
    158,
    170,
    183,
    184,
    188,
]
MIR_ALARMS += [203, 214, 245, 254, 255, 257, 260, 261, 263, 268, 282, 283, 284, 288, 315, 316, 324, 346, 354, 358, 360]
MIR_ALARMS += [364, 370, 383, 388, 391]


@pytest.mark.parametrize(("window", "said"), [(0, 4), (1, 11), (2, 13), (3, 17), (5, 24), (8, 33)])
def test_a_matching_is_as_large_as_mir_eval_s(window, said):
    """`len(util.match_events(events, alarms, window))`."""
    assert match(MIR_EVENTS, MIR_ALARMS, early=window, late=window).size == said


@pytest.mark.parametrize(
    ("events", "alarms", "said"),
    [
        (
            [0.5, 1.0, 1.04, 2.0, 3.0],
            [0.46, 0.52, 1.02, 1.08, 2.06, 2.99],
            (0.7272727272727272, 0.6666666666666666, 0.8),
        ),
        ([1.0, 1.03], [1.02], (0.6666666666666666, 1.0, 0.5)),
        ([1.0, 1.04, 1.08], [0.96, 1.0, 1.04, 1.12], (0.8571428571428571, 0.75, 1.0)),
    ],
)
def test_f_precision_and_recall_of_a_matching_are_mir_eval_s(events, alarms, said):
    """`onset.f_measure(events, alarms, window=0.05)` returns F, precision and recall."""
    found = match(events, alarms, early=0.05, late=0.05)
    assert (found.f(), found.precision, found.recall) == pytest.approx(said)


def test_a_matching_of_nothing_is_undefined_where_mir_eval_has_zeros():
    """No alarms: nothing says how many are right. mir_eval has 0, 0, 0."""
    nothing = match([1, 2], [], early=1, late=1)
    assert math.isnan(nothing.precision)
    assert nothing.recall == 0
    assert math.isnan(nothing.f())
    assert math.isnan(match([], [], early=1, late=1).recall)


# Many placements at once


@given(st.data())
def test_rows_have_the_values_of_their_own_lists(data):
    """A row of a table is a list of events, for all three measures, in ticks and in floats."""
    m, kind, (early, late) = data.draw(st.integers(0, 6)), data.draw(kinds), data.draw(sides)
    row = st.lists(st.integers(0, LAST), min_size=m, max_size=m).map(sorted)
    rows = np.array(data.draw(st.lists(row, min_size=1, max_size=5)), dtype=kind)
    alarms = np.array(data.draw(times), dtype=kind)
    how = {"shared": data.draw(shared)}
    expected = [event_synchronisation(one, alarms, **how).strength for one in rows]
    np.testing.assert_equal(event_synchronisation_rows(rows, alarms, **how), expected)
    window = {"early": early, "late": late}
    watched = {"begins": [0, 20], "ends": [12, LAST + 1]}
    expected = [tiling(one, alarms, **window, **watched).coefficient for one in rows]
    np.testing.assert_equal(tiling_rows(rows, alarms, **window, **watched), expected)
    assert match_rows(rows, alarms, **window).tolist() == [match(one, alarms, **window).size for one in rows]


# Event coincidence analysis of other software, to compare with


@pytest.mark.parametrize(
    ("lists", "taumax", "lag", "said"),
    [
        (A, 0, 0, [0.125, 0.125, 0.125, 0.125]),
        (A, 1, 2, [0.1666666716337204, 0.2857142984867096, 0.1666666716337204, 0.2857142984867096]),
        (A, 3, 0, [0.3333333432674408, 0.5714285969734192, 0.8333333134651184, 0.7142857313156128]),
        (A, 3, 2, [0.6666666865348816, 0.8571428656578064, 0.5, 0.5714285969734192]),
        (TIES, 3, 0, [0.0, 0.25, 0.0, 0.25]),
        (FAR, 0, 2, [0.20000000298023224, 0.20000000298023224, 0.3333333432674408, 0.4000000059604645]),
        (FAR, 3, 2, [0.5, 0.4000000059604645, 0.5, 1.0]),
        (DRAWN, 2, 0, [0.75, 0.6875, 0.3333333432674408, 0.5384615659713745]),
        (DRAWN, 1, 3, [0.4545454680919647, 0.3125, 0.5, 0.6153846383094788]),
        (DRAWN_AGAIN, 1, 3, [0.7692307829856873, 0.6875, 0.6428571343421936, 0.6666666865348816]),
        (STAMPED, 2.0, 0.5, [0.47826087, 0.39130434, 0.5, 0.4347826]),
    ],
)
def test_the_oracle_of_coincidence_rates_counts_as_pyunicorn(lists, taumax, lag, said):
    """`event_coincidence_analysis(x, y, taumax, lag=)`, whose rates are 32-bit floats."""
    rates = [hits / total for hits, total in pyunicorn_eca(*lists, taumax, lag)]
    assert rates == pytest.approx(said, rel=1e-6)


def test_the_oracle_of_coincidence_rates_leaves_out_what_coincalc_does():
    """By hand: an effect at 2 has its window of 3 before the span, one at 3 just inside; causes likewise at the end."""
    effects, causes = [2, 3, 12, 19], [1, 7, 17, 18]
    assert coincalc_eca(effects, causes, (0, 20), 3) == [(2, 3), (2, 3)]
    assert coincalc_eca(effects, causes, (0, 20), 3, edges=False) == [(3, 4), (3, 4)]


# Errors


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: match([2, 1], [3], early=1, late=1), "events must ascend, but 2 is followed by 1: sort them"),
        (lambda: match([1, 2], [3, 1], early=1, late=1), "alarms must ascend, but 3 is followed by 1"),
        (lambda: match([1, math.nan], [3], early=1, late=1), "events holds NaN or infinity: drop"),
        (lambda: match(["a"], [3], early=1, late=1), r"events=\['a'\] must be a list of numbers"),
        (lambda: match([[1]], [3], early=1, late=1), r"events=\[\[1\]\] must be a list of numbers"),
        (lambda: match_rows([1], [3], early=1, late=1), r"events=\[1\] must be rows of numbers"),
        (lambda: match([2**62], [3], early=1, late=1), r"events holds ticks beyond 2\*\*61: subtract"),
        (lambda: match([2**60 + 1], [3.5], early=1, late=1), "events has 1 whole number"),
        (lambda: match([1], [3], early=0.5, late=1), "early=0.5 must be a whole number of ticks"),
        (lambda: match([1.0], [3.5], early=1, late=math.inf), "late=inf must be a finite number"),
        (lambda: match([1], [3], early=-2, late=1), "early=-2 and late=1 leave no window"),
        (lambda: match_on_steps([[0]], [1, 0], [1, 1]), "starts must ascend"),
        (lambda: event_synchronisation([1], [3], taumax=-1), "taumax=-1 must be 0 or more"),
        (lambda: event_synchronisation([1], [3], ends="cut"), "ends='cut' must be one of 'kept', 'dropped'"),
        (lambda: event_synchronisation([1], [3], shared="no"), "shared='no' must be one of 'counted', 'halved'"),
        (lambda: tiling([1], [3], early=1, late=1, begins=[0, 5], ends=[6, 9]), "begins and ends must ascend"),
        (lambda: tiling([1], [3], early=1, late=1, begins=[0, 5], ends=[6]), "begins has 2 and ends 1 times"),
        (lambda: tiling([1], [3], early=1, late=1, begins=[4], ends=[4]), "cover no time"),
        (lambda: tiling([1], [3], early=1, late=1, begins=[0.5], ends=[4]), "the times are ticks: pass whole numbers"),
    ],
)
def test_errors_say_what_to_do(call, words):
    """Argument, value and remedy."""
    with pytest.raises(InputError, match=words):
        call()
