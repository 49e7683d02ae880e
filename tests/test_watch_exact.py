"""E-values have expectation 1 under each null, by enumeration with fractions; what bounded shares allow to conclude."""

from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nofluke.inference.blocks import Block, Stretch, Timeline
from nofluke.laws.betting import (
    BETS,
    RATES,
    TILTS,
    found_by_e_bh,
    log_evalues,
    log_evalues_of_orders,
    log_evalues_of_placements,
    losses,
    running_means,
)
from nofluke.nulls.shifts import hits_by_rotation, touched_by_shift
from nofluke.series.counting import runs, union
from nofluke.series.tolerance import Ranges

N = 9


def block_of(events, n=N, long=1):
    """Events that begin on these steps and last so many."""
    first = np.array(sorted(events), dtype=np.int64)
    return Block(at=np.arange(n), first=first, last=first + long - 1)


def zone_of(alarms):
    return union(block_of([]).windows(np.array(alarms), 1, 1))


def stretch_of(events, alarms, open_steps=((0, 12),), long=1):
    """Events that begin on these steps and last so many, in twelve steps."""
    begins = np.array(sorted(events), dtype=np.int64)
    starts, stops = np.array(open_steps).T
    return Stretch(
        begins=begins, ends=begins + long - 1, alarms=np.array(alarms), open=Ranges(starts=starts, stops=stops), over=begins + long - 1
    )  # fmt: skip


STEPS = Timeline(dates=False, aware=False, step=1, resolution=1, early=1, late=1)


def exact_mean(hits, tilt):
    """E[exp(tilt H)] over equally likely placements: weights are fractions, so nothing is lost in adding them up."""
    base = Fraction(float(np.exp(tilt)))
    return sum(base**h for h in hits) / len(hits)


def slow_hits(events, alarms, long=1, n=N, early=1, late=1):
    """Events, around the circle, with an alarm near any of their steps."""
    near = {t for t in range(n) for a in alarms if t - early <= a <= t + late}
    return sum(any((e + i) % n in near for i in range(long)) for e in events)


def slow_right(events, alarms, n=N, early=1, late=1):
    return sum(any(e - early <= a <= e + late for e in events) for a in alarms)


ALARMS = [(4,), (0, 5), (2, 3, 8), (0, 8)]


@pytest.mark.parametrize("alarms", ALARMS)
@pytest.mark.parametrize("m", [1, 2, 3])
def test_events_permuted_in_a_block_have_evalues_with_expectation_one(alarms, m):
    """Every placement of m events on nine steps, each e-value as the enumeration gives it; their mean is 1 to 1e-12."""
    placements = list(combinations(range(N), m))
    hits = [slow_hits(events, alarms) for events in placements]
    found = np.array([block_of(e).recall(zone_of(alarms), "permutation") for e in placements])
    for i, tilt in enumerate(TILTS):
        mean, base = exact_mean(hits, tilt), Fraction(float(np.exp(tilt)))
        exact = [float(base**h / mean) for h in hits]
        np.testing.assert_allclose(np.exp(found[:, i]), exact, rtol=1e-12)
        assert abs(np.exp(found[:, i]).mean() - 1) <= 1e-12


@pytest.mark.parametrize("alarms", ALARMS)
@pytest.mark.parametrize(("events", "long"), [((0, 4), 1), ((1, 2, 7), 1), ((0, 5), 3), ((3,), 4)])
def test_rotations_of_a_block_have_evalues_with_expectation_one(alarms, events, long):
    """All nine rotations, of points and of ranges, which stay whole around the circle; recall and precision."""
    orbit = [tuple((e + s) % N for e in events) for s in range(N)]
    hits = [slow_hits(one, alarms, long) for one in orbit]
    found = block_of(events, long=long).recall(zone_of(alarms), "circular-shift")
    for i, tilt in enumerate(TILTS):
        base = Fraction(float(np.exp(tilt)))
        exact = float(base ** hits[0] / exact_mean(hits, tilt))
        assert np.exp(found[i]) == pytest.approx(exact, rel=1e-12)
    own = np.array([log_evalues_of_placements(np.roll(hits, -s)) for s in range(N)])
    np.testing.assert_allclose(np.exp(own).mean(axis=0), 1, rtol=1e-12)
    steps = [sorted({(e + i) % N for e in one for i in range(long)}) for one in orbit]
    right = [slow_right(one, alarms) for one in steps]
    block = block_of(events, long=long)
    found = block.precision(block.windows(np.array(alarms), 1, 1))
    for i, tilt in enumerate(TILTS):
        base = Fraction(float(np.exp(tilt)))
        assert np.exp(found[i]) == pytest.approx(float(base ** right[0] / exact_mean(right, tilt)), rel=1e-12)


PERIODS = [(0, 2), (1,), (), (0,)]  # events of four periods of three steps
EDGES = np.arange(0, 13, 3)


def in_order(order):
    return sorted(place * 3 + e for place, i in enumerate(order) for e in PERIODS[i])


@pytest.mark.parametrize("alarms", [(1, 6, 10), (0, 11), (5,)])
@pytest.mark.parametrize("alike", [1, 2])
def test_whole_periods_in_any_order_have_evalues_with_expectation_one(alarms, alike):
    """Four periods of three steps, with two, one, no and one event: all 24 orders; every other one alike: all 4."""
    orders = [one for one in permutations(range(4)) if all((i - k) % alike == 0 for k, i in enumerate(one))]
    hits = [slow_hits(in_order(order), alarms, n=12) for order in orders]
    found = np.array([stretch_of(in_order(one), alarms).exchanged(EDGES, alike, STEPS, 0) for one in orders])
    assert len(orders) == {1: 24, 2: 4}[alike]
    for i, tilt in enumerate(TILTS):
        mean, base = exact_mean(hits, tilt), Fraction(float(np.exp(tilt)))
        np.testing.assert_allclose(np.exp(found[:, i]), [float(base**h / mean) for h in hits], rtol=1e-12)
        assert abs(np.exp(found[:, i]).mean() - 1) <= 1e-12


@pytest.mark.parametrize("raised", [(1, 6, 10), (0, 2, 3, 5, 8, 11), tuple(range(12))])
@pytest.mark.parametrize("mute", [1, 2])
def test_whole_periods_with_muting_have_evalues_with_expectation_one_at_most(raised, mute):
    """Alarms are held back after each event, so they depend on the order that came true; nothing is gained by that."""
    about = Timeline(dates=False, aware=False, step=1, resolution=1, early=1, late=0)
    found = []
    for order in permutations(range(4)):
        events = in_order(order)
        held = {e + i for e in events for i in range(1, mute + 1)}
        seen = [a for a in raised if a not in held]
        found.append(stretch_of(events, seen).exchanged(EDGES, 1, about, mute + 1))
    assert np.exp(found).mean(axis=0).max() <= 1 + 1e-12


def test_periods_change_places_at_the_times_that_all_of_them_have_watched():
    """Of four periods one lacks a step, one was hardly watched: three change places, without what is at that step."""
    open_steps = ((0, 6), (7, 10))
    events = [0, 4, 5, 10]  # at their periods' first, second and third step; and where nothing else is looked at
    found = stretch_of(events, [0, 7], open_steps).exchanged(EDGES, 1, STEPS, 0)
    # steps 0, 1 and 6 to 8 have an alarm near them; the first of each period is not looked at, since step 6 is closed
    hits = np.array([[0, 0, 0], [1, 0, 2], [0, 0, 0]])
    np.testing.assert_allclose(found, log_evalues_of_orders(hits), rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_whole_periods_with_gaps_have_evalues_with_expectation_one(seed):
    """Gaps that hide events wherever these would be: all orders of four periods, each seen through them."""
    rng = np.random.default_rng(seed)
    closed = np.sort(rng.choice(12, 3, replace=False))
    open_steps = tuple((int(a), int(b)) for a, b in zip([0, *(closed + 1)], [*closed, 12], strict=True) if b > a)
    alarms = [a for a in (1, 4, 6, 10) if a not in closed]
    found = []
    for order in permutations(range(4)):
        events = [e for e in in_order(order) if e not in closed]
        found.append(stretch_of(events, alarms, open_steps).exchanged(EDGES, 1, STEPS, 0))
    np.testing.assert_allclose(np.exp(found).mean(axis=0), 1, rtol=1e-12)


def test_many_periods_are_rotated():
    """Of eleven items, the eleven orders that a rotation gives are counted, as by hand."""
    rng = np.random.default_rng(0)
    hits = rng.integers(0, 3, (11, 11))
    sums = np.array([sum(hits[i, (i + s) % 11] for i in range(11)) for s in range(11)])
    expected = np.exp(TILTS * sums[0]) / np.exp(TILTS[:, None] * sums).mean(axis=1)
    np.testing.assert_allclose(np.exp(log_evalues_of_orders(hits)), expected, rtol=1e-12)


@given(st.lists(st.integers(0, 4), min_size=4, max_size=4).map(tuple), st.integers(0, 2**16))
def test_orders_agree_with_going_through_all_of_them(row, seed):
    """The permanent by subsets is the sum over all orders."""
    hits = np.random.default_rng(seed).permutation(np.array([row] * 4).ravel()).reshape(4, 4)
    sums = np.array([sum(hits[i, p] for i, p in enumerate(order)) for order in permutations(range(4))])
    expected = np.exp(TILTS * np.trace(hits)) / np.exp(TILTS[:, None] * sums).mean(axis=1)
    np.testing.assert_allclose(np.exp(log_evalues_of_orders(hits)), expected, rtol=1e-10)


def test_large_hits_do_not_overflow():
    """A thousand hits of a thousand are finite evidence."""
    found = log_evalues(1000, np.array([0, 1000]), np.log([0.5, 0.5]))
    np.testing.assert_allclose(found, np.log(2), rtol=1e-12)


def test_events_found_by_alarms_of_the_neighbouring_blocks():
    """An alarm right before a block, or right after it, finds events at its border."""
    block = block_of([0, 8])
    for alarms, starts, stops in (([-1], [0], [1]), ([9], [8], [9]), ([-2], [], [])):
        zone = block.windows(np.array(alarms), 1, 1)
        assert zone.starts.tolist() == starts
        assert zone.stops.tolist() == stops


# ---- shares


def test_confidence_sequences_rest_on_a_supermartingale():
    """E exp(λ(X - μ) - ψ(λ)(X - c)²) ≤ 1 for laws on three points and any prediction c, as theorem 4 says."""
    values = np.array([0.0, 0.4, 1.0])
    cost = -np.log1p(-RATES) - RATES
    for weights in product((0.0, 0.1, 0.5, 1.0), repeat=3):
        if sum(weights) == 0:
            continue
        law = np.array(weights) / sum(weights)
        mean = law @ values
        for prediction in (0.0, 0.3, 0.5, 1.0):
            for sign in (1, -1):
                grown = (
                    np.exp(RATES[:, None] * sign * (values - mean) - cost[:, None] * (values - prediction) ** 2) @ law
                )
                assert (grown <= 1 + 1e-12).all()


@pytest.mark.slow
def test_confidence_sequences_hold_at_all_times_for_rates_that_change():
    """The running mean of rates that wander lies within all 300 limits in at least 95% of 400 runs."""
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(400):
        rates = 0.5 + 0.4 * np.sin(np.arange(300) / rng.uniform(5, 60))
        shares = rng.binomial(4, rates) / 4
        mean, low, high = running_means(shares, 0.05)
        target = np.cumsum(rates) / np.arange(1, 301)
        held += bool(((low <= target) & (target <= high)).all() and (low <= mean).all())
    assert held >= 0.95 * 400


def test_a_bet_against_a_promise_does_not_grow_while_it_is_kept():
    """E e = 1 at the promised rate itself, and e is never negative: so the bar is reached as late as was asked for."""
    for least in (0.1, 0.7, 0.95):
        for x in (0.0, 0.5, 1.0):
            assert (1 + BETS * (least - x) / (1 - least) >= 0).all()
        law = np.array([1 - least, least])
        grown = np.array([1 + BETS * (least - x) / (1 - least) for x in (0.0, 1.0)])
        np.testing.assert_allclose(law @ grown, 1)


def test_a_loss_is_seen_stands_and_ends():
    """Half of the hits gone: seen within twenty blocks; back again: no longer lost."""
    shares = np.concatenate([np.full(60, 0.8), np.full(40, 0.35), np.full(200, 0.9)])
    evidence, lost = losses(shares, 0.7, 365.0)
    assert not lost[:60].any()
    assert 60 < lost.argmax() < 80
    assert lost[99]
    assert not lost[-1]
    assert (evidence >= 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("together", [False, True])
def test_false_alarms_of_a_loss_are_as_rare_as_asked_for(together):
    """At the promised rate itself, with events that are found or missed together too."""
    rng = np.random.default_rng(2)
    times = []
    for _ in range(100):
        events = rng.integers(1, 7, 1_000)
        shares = (rng.random(1_000) < 0.7) * 1.0 if together else rng.binomial(events, 0.7) / events
        lost = losses(shares, 0.7, 100.0)[1]
        times.append(lost.argmax() if lost.any() else 1_000)
    assert np.mean(times) >= 100


def test_e_bh_is_a_step_up():
    """The second is not found by itself, but with the first; nothing is found where all are small."""
    assert found_by_e_bh({"a": 25.0, "b": 21.0, "c": 0.1}, 0.1) == {"a", "b"}
    assert found_by_e_bh({"a": 12.0, "b": 8.0}, 0.1) == set()
    assert found_by_e_bh({"a": 20.0, "b": 8.0}, 0.1) == {"a"}
    assert found_by_e_bh({}, 0.1) == set()


def test_unused_ranges_are_no_evidence():
    """No events, no alarms, or alarms everywhere: e is 1."""
    nothing = np.array([], dtype=np.int64)
    everywhere = Ranges(starts=np.array([0]), stops=np.array([N]))
    for null in ("permutation", "circular-shift"):
        assert not block_of([]).recall(zone_of([4]), null).any()
        assert not block_of([3]).recall(zone_of(nothing), null).any()
        assert not block_of([3]).recall(everywhere, null).any()
    assert not block_of([]).precision(zone_of([4])).any()
    assert not block_of([3]).precision(zone_of(nothing)).any()
    for events, alarms in (([], [4]), ([3], nothing), ([3, 6], range(12))):
        assert not stretch_of(events, alarms).exchanged(EDGES, 1, STEPS, 0).any()


@given(st.integers(0, 2**32), st.integers(30, 400), st.integers(1, 3))
def test_rotations_counted_at_changes_are_those_counted_one_by_one(seed, n, k):
    """Few ranges on many steps, around the seam too, as all shifts give them."""
    rng = np.random.default_rng(seed)
    first = np.sort(rng.integers(0, n, k))
    fixed = Ranges(starts=first, stops=np.minimum(first + rng.integers(1, 7, k), n))
    moved = runs(np.flatnonzero(np.convolve(rng.random(n) < 0.02, np.ones(5), "same") > 0))
    hits = touched_by_shift(fixed, moved, n)
    own, values, counts = hits_by_rotation(fixed, moved, n)
    assert own == hits[0]
    assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == dict(
        zip(*(one.tolist() for one in np.unique(hits, return_counts=True)), strict=True)
    )
