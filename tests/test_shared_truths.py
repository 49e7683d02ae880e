"""Series that share a truth: found by themselves, and judged by one placement for all of them."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nofluke as nf
from exact_oracles import weighted_by_counts, weighted_placements
from nofluke.errors import InputError
from nofluke.laws.exact.hypergeometric import weighted_log_pmf, weighted_moments
from nofluke.laws.sums import SumLaw
from nofluke.laws.tables import hypergeometric, weighted
from nofluke.nulls import as_null
from nofluke.nulls.random_scores import RandomScores
from nofluke.studies import shared
from nofluke.studies.cases import Case
from nofluke.studies.draws import Joint, Placements, cluster_seed, event_groups, found_on, law_of_weights
from nofluke.studies.rows import truth_row
from nofluke.studies.shared import Shared, shared_truths


def log_of(fraction):
    return math.log(fraction.numerator) - math.log(fraction.denominator)


# events on weighted steps


@settings(max_examples=80)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=9), st.data())
def test_weights_of_random_placements_have_the_law_of_all_placements(weights, data):
    """Every tail to ten digits, and both moments, against going through all placements."""
    n_events = data.draw(st.integers(0, len(weights)))
    law, exact = weighted(np.bincount(weights), n_events), weighted_placements(weights, n_events)
    for s in range(-1, law.size + 2):
        assert law.upper(s) == pytest.approx(float(sum(p for k, p in exact.items() if k >= s)), rel=1e-10, abs=0)
        assert law.lower(s) == pytest.approx(float(sum(p for k, p in exact.items() if k <= s)), rel=1e-10, abs=0)
    mean = sum(k * p for k, p in exact.items())
    assert law.mean == pytest.approx(float(mean), abs=1e-12)
    assert law.var == pytest.approx(float(sum((k - mean) ** 2 * p for k, p in exact.items())), abs=1e-12)


@pytest.mark.parametrize(
    ("counts", "n_events"),
    [
        ([100_000, 40, 30, 20, 10, 5, 3, 20], 60),
        ([0, 0, 30, 2], 10),
        ([50_000, 0, 0, 100], 90),
        ([5, 0, 0, 4_000], 80),
        ([2_000, 1], 30),
    ],
)
def test_far_tails_of_weights_keep_their_digits(counts, n_events):
    """Down to the last weight there is, however rare: logarithms of probabilities that no double holds."""
    exact = weighted_by_counts(counts, n_events)
    first, logs = weighted_log_pmf(np.array(counts), n_events)
    assert (first, first + len(logs) - 1) == (min(exact), max(exact))
    for s, log in enumerate(logs, first):
        if s in exact:
            assert log == pytest.approx(log_of(exact[s]), rel=1e-12, abs=1e-11), s
        else:
            assert log == -math.inf


def test_steps_of_weight_one_make_it_hypergeometric():
    """One series is no cluster: recall's own law."""
    law, own = weighted(np.array([940, 60]), 12), hypergeometric(1_000, 60, 12)
    for hits in range(13):
        assert law.upper(hits) == pytest.approx(own.upper(hits), rel=1e-11)
    assert weighted_moments(np.array([940, 60]), 12) == pytest.approx((own.mean, own.var))


def test_too_many_weights_are_left_to_simulation():
    """What would take long has no law here; more events than steps are an error."""
    assert weighted(np.full(200, 1_000), 2_000) is None
    with pytest.raises(InputError, match=r"n_events=5 must lie in 0\.\.4"):
        weighted_log_pmf(np.array([2, 2]), 5)


# who shares a truth


def table(events, n=1_000, reach=3, axes=None, lengths=1, grids=None):
    """Truths as a study keeps them; moments are their steps."""
    starts = [np.sort(np.asarray(row, dtype=np.int64)) for row in events]
    return {
        "series": [f"s{i}" for i in range(len(events))],
        "axis": ["x"] * len(events) if axes is None else axes,
        "grid": ["numbers 1"] * len(events) if grids is None else grids,
        "n": [n] * len(events),
        "reach": [reach] * len(events),
        "starts": starts,
        "stops": [row + lengths for row in starts],
        "moments": starts,
    }


def found(*args, **kwargs):
    return [(one.series, one.identical) for one in shared_truths(table(*args, **kwargs)).clusters]


FIVE = np.array([50, 200, 420, 700, 900])


def test_equal_truths_on_the_same_steps_are_shared():
    """Not those on another grid, nor series without events."""
    assert found([FIVE, FIVE, FIVE, [], []], grids=["a", "a", "b", "a", "a"]) == [(("s0", "s1"), True)]


def test_nearly_equal_truths_are_shared():
    """Moved within three times the tolerance and three steps, or a third of them; not beyond, and not fewer."""
    assert found([FIVE, FIVE + 12]) == [(("s0", "s1"), False)]
    assert found([FIVE, FIVE + 13]) == found([FIVE, FIVE - 13]) == []
    assert found([FIVE, [50, 200, 300, 555, 600]]) == [(("s0", "s1"), False)]
    assert found([FIVE, [50, 230, 300, 555, 600]]) == []
    more = [10, 100, 300, 460, 500, 550, 600, 650, 750, 800]
    assert found([FIVE, [*FIVE, *more]], reach=0, n=9_000) == [(("s0", "s1"), False)]
    assert found([FIVE, [*FIVE, *more, 950]], reach=0, n=9_000) == []  # of these, less than a third


def test_what_chance_brings_together_is_not_shared():
    """One event of each, close within a wide tolerance, is an accident; equal ones are not examined so closely."""
    assert found([[500], [508]]) == []
    assert found([[500], [500]]) == [(("s0", "s1"), True)]
    assert found([[500, 800], [503, 801]]) == [(("s0", "s1"), False)]
    assert found([[500, 800], [503, 801]], reach=100) == []


def test_copies_are_found_whatever_the_tolerance():
    """Where everything is near everything, only a look at the same moments tells copies from accidents."""
    many = np.arange(0, 1_000, 40)
    assert found([many, np.append(many[:-1], 999)], reach=30) == [(("s0", "s1"), False)]
    assert found([many, many + 20], reach=30) == []


def test_sharing_goes_on_from_one_to_the_next():
    """The first and the third are apart, and both share with the second."""
    assert found([FIVE, FIVE + 12, FIVE + 24, FIVE]) == [(("s0", "s1", "s2", "s3"), False)]


def test_ranges_are_near_where_they_meet():
    """From the last step of one to the first of the other, without a tolerance three steps."""
    assert found([FIVE, FIVE + 12], lengths=10, reach=0, n=9_000) == [(("s0", "s1"), False)]
    assert found([FIVE, FIVE + 13], lengths=10, reach=0, n=9_000) == []
    # so long that chance brings two of two together in .02
    assert found([FIVE[:2], FIVE[:2] + 20], lengths=30, reach=0) == []


def test_series_that_are_not_on_the_same_steps_share_without_alignment():
    """The same moments, whoever began earlier; without clocks, where lengths differ, only beyond accident."""
    shared_by = shared_truths(table([FIVE, FIVE, FIVE], axes=["x", "y", "x"])).clusters
    assert shared_by == (Shared(series=("s0", "s1", "s2"), identical=False, aligned=False),)
    one, unlike = [[50], [50]], {"axes": ["90 steps", "91 steps"], "grids": ["steps"] * 2}
    assert len(found(one, n=90, axes=["x", "y"])) == 1
    assert found(one, n=90, **unlike) == []
    assert len(found([FIVE, FIVE], **unlike)) == 1
    assert len(found(one, n=90, axes=["90 steps"] * 2, grids=["steps"] * 2)) == 1


def test_moments_may_be_years_apart():
    """Far from zero and from one another, before and after it."""
    far = 2**61
    events = [FIVE - far, FIVE - far, FIVE + far - 1_000, FIVE + far - 1_000, FIVE]
    assert found(events) == [(("s0", "s1"), True), (("s2", "s3"), True)]
    assert found([*events, FIVE - far + 2]) == [(("s0", "s1", "s5"), False), (("s2", "s3"), True)]


def row_of(truth, times=None, tolerance=2):
    truth = np.asarray(truth, dtype=int)
    cell = nf.evaluate(truth, predictions=truth, times=times, tolerance=tolerance, null="permutation").cell
    return truth_row(Case(series="s", group="g", truth=truth, detectors={}), cell)


def test_moments_are_absolute_steps_of_the_clock():
    """In dates of any unit, in numbers, and alone; a sensor that began later or missed steps is on the same grid."""
    truth = np.zeros(100, dtype=int)
    truth[[10, 60]] = 1
    seconds = 60 * np.arange(100) + 6_000
    dates = np.datetime64("1970-01-01") + seconds.astype("timedelta64[s]")
    grid, moments = "dates 6e+10", [110, 160]
    for unit in ("s", "ns"):
        row = row_of(truth, dates.astype(f"datetime64[{unit}]"))
        assert (row["grid"], row["moments"].tolist()) == (grid, moments)
    kept = np.delete(np.arange(7, 100), [5, 50])
    later = row_of(truth[kept], dates[kept])
    assert (later["grid"], later["moments"].tolist()) == (grid, moments)
    assert later["axis"] != row["axis"]
    trembling = row_of(truth, seconds + np.random.default_rng(1).uniform(-5, 5, 100))
    assert (trembling["grid"], trembling["moments"].tolist()) == ("numbers 60", moments)
    assert row_of(truth)["moments"].tolist() == [10, 60]
    assert row_of(truth)["grid"] == row_of(truth[:80])["grid"] == "steps"
    odd = row_of(truth, np.append(np.arange(99) * 1e-300, 1e10))
    assert np.all(np.diff(odd["moments"]) > 0)


def in_runs(steps):
    """First step and length of each run of steps."""
    runs = []
    for t in sorted(set(map(int, steps))):
        if runs and t == runs[-1][0] + runs[-1][1]:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((t, 1))
    return tuple(runs)


def oracle(events, n, reach):
    """Links by going through all pairs of truths and events, with the same rule in fractions."""
    rows = [in_runs(row) for row in events]
    lengths = [length for row in dict.fromkeys(rows) for _, length in row]
    same = sum(Fraction(lengths.count(length), len(lengths)) ** 2 for length in set(lengths))
    linked = set()
    truths, members = [], []
    for row in dict.fromkeys(rows):
        own = [i for i, other in enumerate(rows) if other == row]
        once = same ** len(row) / math.comb(n, len(row))
        accident = math.comb(len(rows), len(own)) * once ** (len(own) - 1)
        together = [own] if len(own) == 1 or accident <= Fraction(1, 20) else [[i] for i in own]
        for some in together:
            truths.append(row)
            members.append(some)
            linked |= {(some[0], i) for i in some[1:]}
    rare = min(Fraction(1, 100), Fraction(1, 10 * max(len(truths) - 1, 1)))

    def meets(start, length, other, reach):
        return any(t < start + length + reach and t + k > start - reach for t, k in other)

    def pvalue(one, other, reach):
        hits = sum(meets(*event, other, reach) for event in one)
        typical = math.ceil(sum(length for _, length in one) / len(one))
        around = range(-3 * (reach + typical), n + 3 * (reach + typical))
        zone = min(sum(meets(t, typical, other, reach) for t in around), n)
        ways = sum(math.comb(zone, k) * math.comb(n - zone, len(one) - k) for k in range(hits, len(one) + 1))
        return Fraction(ways, math.comb(n, len(one))) if 3 * hits >= len(one) else 1

    looks = {0, reach, 3 * reach + 3}
    found = []
    for i, one in enumerate(truths):
        for j, other in enumerate(truths[:i]):
            p = min(max(pvalue(one, other, far), pvalue(other, one, far)) for far in looks)
            if p <= rare:
                found.append((p, members[i][0], members[j][0]))
    found.sort()
    tests = len(looks) * len(truths) * (len(truths) - 1) // 2
    last = max((r for r, (p, *_) in enumerate(found, 1) if p <= Fraction(r, 20 * tests)), default=0)
    label = list(range(len(rows)))
    for i, j in linked | {(i, j) for _, i, j in found[:last]}:
        label = [label[j] if at == label[i] else at for at in label]
    sets = [tuple(f"s{i}" for i, at in enumerate(label) if at == one) for one in sorted(set(label))]
    return sorted(one for one in sets if len(one) > 1)


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(20, 300), st.integers(0, 6))
def test_clusters_are_those_of_all_pairs(seed, n, reach):
    """Copies, moved copies and truths of their own, against a loop over all pairs."""
    rng = np.random.default_rng(seed)
    events = []
    for _ in range(12):
        if events and rng.random() < 0.6:
            row = events[rng.integers(len(events))]
            row = row[rng.random(len(row)) < rng.choice([0.6, 1.0])] + rng.integers(-reach, reach + 1) * rng.integers(2)
        else:
            row = rng.choice(n, rng.integers(1, 7), replace=False)
        if len(row):
            events.append(np.unique(np.clip(row, 0, n - 1)))
    assert sorted(names for names, _ in found(events, n=n, reach=reach)) == oracle(events, n, reach)


def test_many_truths_of_their_own_are_not_lumped_by_accident():
    """Two thousand series of independent events on one axis: none meet by chance, and a copy is still found."""
    rng = np.random.default_rng(1)
    events = [rng.choice(5_000, 4, replace=False) for _ in range(2_000)]
    events[7] = events[1_000] + 1
    clusters = shared_truths(table(events, n=5_000, reach=5)).clusters
    assert clusters == (Shared(series=("s7", "s1000"), identical=False, aligned=True),)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_independent_series_share_nothing_however_many(seed):
    """1,200 series of 12 events in 2,000 steps; and as many of one event in 200, of which most meet another's."""
    rng = np.random.default_rng(seed)
    assert found([rng.choice(2_000, 12, replace=False) for _ in range(1_200)], n=2_000, reach=5) == []
    assert found(rng.choice(200, (1_200, 1)), n=200, reach=2, grids=["steps"] * 1_200) == []


@pytest.mark.parametrize("offset", [0, 1, 5, 15])
def test_copies_are_found_among_many_series(offset):
    """A pair that was moved by a few steps, one with a third of its events lost, and sensors with one event in common,
    among hundreds of independent series."""
    rng = np.random.default_rng(offset)
    events = [rng.choice(1_900, 12, replace=False) for _ in range(400)]
    events[3] = events[300] + offset
    events[4] = np.append(events[301][:8] + min(offset, 5), rng.choice(1_900, 4))
    events[5:25] = [np.array([777])] * 20
    names = [set(one) for one, _ in found(events, n=2_000, reach=5)]
    assert {"s3", "s300"} in names
    assert {"s4", "s301"} in names
    assert {f"s{i}" for i in range(5, 25)} in names
    assert len(names) == 3


def test_steps_of_labelled_ranges_do_not_make_series_share():
    """Two hundred independent series of a few ranges, every step an event; two with the same one are found."""
    rng = np.random.default_rng(4)

    def some_ranges():
        begins, many = rng.choice(np.arange(0, 2_900, 60), rng.integers(1, 5), replace=False), rng.integers(5, 50, 5)
        return np.concatenate([np.arange(a, a + k) for a, k in zip(begins, many, strict=False)])

    events = [some_ranges() for _ in range(200)]
    assert found(events, n=3_000, reach=5) == []
    events[9] = events[150] = np.concatenate([np.arange(700, 733), np.arange(2_000, 2_018)])
    assert found(events, n=3_000, reach=5) == [(("s9", "s150"), True)]


def test_short_series_that_cannot_be_told_from_accidents_are_not_called_unsearched(monkeypatch):
    """Where all events of a pair may meet by accident in so many series, there is nothing that a search could find."""
    monkeypatch.setattr(shared, "MOST_LOOKS", 1)
    rng = np.random.default_rng(2)
    few = shared_truths(table([rng.choice(40, 2, replace=False) for _ in range(600)], n=40, reach=1))
    assert (few.clusters, few.unsearched) == ((), ())


def test_grids_that_are_too_dense_are_named(monkeypatch):
    """There only equal truths are found, or those that a narrow look finds, and that is said."""
    monkeypatch.setattr(shared, "MOST_LOOKS", 1)
    result = shared_truths(table([FIVE, FIVE + 1, FIVE]))
    assert result.unsearched == ("numbers 1",)
    assert result.clusters == (Shared(series=("s0", "s2"), identical=True, aligned=True),)
    monkeypatch.setattr(shared, "MOST_LOOKS", 60)
    assert found([FIVE, FIVE + 1, [*FIVE[:4], 950]]) == [(("s0", "s2"), False)]


# one placement for all


def cell_of(events, alarms, n=60, tolerance=2, **how):
    truth, flags = np.zeros((2, n), dtype=bool)
    truth[np.asarray(events)] = True
    flags[np.asarray(alarms)] = True
    return nf.evaluate(truth, predictions=flags, tolerance=tolerance, null="permutation", **how).cell


def ranges_cell(ranges, alarms, n=60):
    flags = np.zeros(n, dtype=bool)
    flags[np.asarray(alarms)] = True
    return nf.evaluate(ranges, predictions=flags, tolerance=1, null="circular-shift").cell


def counted(events, alarms, reach):
    """Both hits, pair by pair."""
    near = np.abs(np.asarray(events)[:, None] - np.asarray(alarms)) <= reach
    return near.any(axis=0).sum(), near.any(axis=1).sum()


EVENTS = [5, 20, 41]
ALARMS = [[4, 10, 22, 50], [3, 21, 40, 41], [30, 31, 59]]


def test_one_rotation_serves_all_series():
    """Hits of all rotations, added up over series, against rotating all of them together; exact."""
    one = Placements.of(as_null("circular-shift"), [EVENTS] * 3, 2, seed=1)
    pairs = [one.hits(cell_of(EVENTS, alarms)) for alarms in ALARMS]
    total = sum(hits for hits, _ in pairs)
    by_hand = [
        np.sum([counted([(t + s) % 60 for t in EVENTS], alarms, 2) for alarms in ALARMS], axis=0) for s in range(60)
    ]
    np.testing.assert_array_equal(total, by_hand)
    laws = Joint.of(*total.T, listed=True).laws((11, 9), pairs[0][1])
    assert laws["recall"].method.kind == "exact"
    assert laws["precision"].upper(int(total[0, 0])) == np.mean(total[:, 0] >= total[0, 0])


def test_ranges_rotate_together():
    """Whole ranges, nearly the same in both series: the same shift for both."""
    cells = [ranges_cell([(5, 9), (30, 33)], ALARMS[0]), ranges_cell([(6, 9), (30, 32)], ALARMS[1])]
    one = Placements.of(as_null("circular-shift"), [[5, 30], [6, 30]], 1, seed=1)
    assert one.groups is None
    for cell in cells:
        found = as_null("circular-shift").hits_by_shift(cell)
        recall, precision = found.recall, found.precision
        np.testing.assert_array_equal(one.hits(cell)[0], np.stack([precision, recall], axis=1))


@pytest.mark.parametrize("null", ["permutation", "interval-shuffle"])
def test_equal_events_are_placed_by_the_same_draws(null):
    """The same detector on two series has the same hits in every draw; another seed has others."""
    one = Placements.of(as_null(null), [EVENTS] * 2, 2, seed=3, n_draws=300)
    hits, how = one.hits(cell_of(EVENTS, ALARMS[0]))
    again, _ = one.hits(cell_of(EVENTS, ALARMS[0]))
    other, _ = Placements(null=as_null(null), seed=4, n_draws=300).hits(cell_of(EVENTS, ALARMS[0]))
    np.testing.assert_array_equal(hits, again)
    assert not np.array_equal(hits, other)
    assert (how.kind, how.n_resamples, how.seed) == ("simulated", 300, 3)


def test_drawn_hits_have_the_exact_laws():
    """Of recall that of the weights, of precision in one series that of the programme; within four standard errors."""
    one = Placements.of(as_null("permutation"), [EVENTS] * 3, 2, seed=5)
    cells = [cell_of(EVENTS, alarms) for alarms in ALARMS]
    total = sum(one.hits(cell)[0] for cell in cells)
    law = law_of_weights(np.bincount(sum(found_on(cell) for cell in cells)), 3, 3)
    drawn = Joint.of(*total.T, listed=False).laws((11, 9), one.hits(cells[0])[1])["recall"]
    assert law.size == drawn.size == 9
    for k in range(1, 10):
        p = law.upper(k)
        assert np.mean(total[:, 1] >= k) == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / 10_000) + 1e-12)
        assert drawn.upper(k) == (np.count_nonzero(total[:, 1] >= k) + 1) / 10_001
    own = as_null("permutation").distributions(cells[0]).precision
    for k in range(1, 5):
        p = own.upper(k)
        assert np.mean(one.hits(cells[0])[0][:, 0] >= k) == pytest.approx(p, abs=4 * math.sqrt(p / 10_000))


def test_weights_of_shared_recall_are_those_of_all_placements():
    """Three series, the hits of all placements of the events counted pair by pair."""
    cells = [cell_of(EVENTS, alarms, n=60) for alarms in ALARMS]
    weights = sum(found_on(cell) for cell in cells)
    expected = [sum(counted([t], alarms, 2)[1] for alarms in ALARMS) for t in range(60)]
    assert weights.tolist() == expected
    exact, law = weighted_placements(expected, 2), law_of_weights(np.bincount(weights), 2, 3)
    for k in range(7):
        assert law.upper(k) == pytest.approx(float(sum(p for s, p in exact.items() if s >= k)), rel=1e-10)


def test_nearly_equal_events_keep_their_distances():
    """Those that belong together are placed together, each truth's own law stays uniform."""
    near = np.array([6, 20, 43, 55])
    one = Placements.of(as_null("permutation"), [EVENTS, near], 2, seed=2, n_draws=4_000)
    (first,), (second,) = (one._rows(cell_of(events, ALARMS[0])) for events in (EVENTS, near))
    np.testing.assert_array_equal((second[:, :3] - first) % 60, np.tile([1, 0, 2], (4_000, 1)))
    for rows in (first, second):
        counts = np.bincount(rows.ravel(), minlength=60)
        expected = rows.size / 60
        assert ((counts - expected) ** 2 / expected).sum() < 59 + 5 * math.sqrt(2 * 59)
    with pytest.raises(InputError, match="other events than its placements"):
        one.hits(cell_of([1, 2], ALARMS[0]))


def test_a_group_has_one_event_of_each_truth():
    """Neighbours in one series stay apart: the permutation scatters them."""
    groups = event_groups([np.array([10, 11, 12]), np.array([11, 12])], 5)
    of = {len(group): group.tolist() for group, _ in groups.values()}
    assert sorted(of[3]) == sorted(set(of[3]))
    assert len(set(of[2])) == 2
    assert set(of[2]) < set(of[3])


def test_events_are_placed_together_along_a_chain():
    """Three truths, each within reach of the next; and a fourth that is not."""
    rows = [np.array([10]), np.array([12]), np.array([14]), np.array([17])]
    groups = event_groups(rows, 2)
    assert [groups[row.tobytes()][0].tolist() for row in rows] == [[0], [0], [0], [1]]
    assert [groups[row.tobytes()][1].tolist() for row in rows] == [[0], [2], [4], [0]]


def test_nulls_without_a_common_placement_are_told():
    """One that moves the detector, or redraws unlike events by other means."""
    assert Placements.of(RandomScores(), [EVENTS] * 2, 2, seed=1) is None
    assert Placements.of(as_null("interval-shuffle"), [EVENTS, [5, 20, 42]], 2, seed=1) is None
    assert Placements.of(as_null("local-shift:reach=5"), [EVENTS, [5, 20, 42]], 2, seed=1) is not None


def test_series_without_alarms_add_nothing():
    """A detector that is silent on one of the series."""
    one = Placements.of(as_null("permutation"), [EVENTS] * 2, 2, seed=1, n_draws=50)
    hits, _ = one.hits(cell_of(EVENTS, np.array([], dtype=int)))
    assert hits.shape == (50, 2)
    assert not hits.any()


def test_seeds_of_clusters_are_their_own():
    """Of the study's seed and the name of the first series."""
    assert len({cluster_seed(seed, name) for seed in (1, 2) for name in ("a", "b")}) == 4
    assert 0 <= cluster_seed(1, "a") < 2**63


def test_treated_as_independent_a_shared_truth_is_found_far_too_often():
    """Ten sensors, much the same alarms: the level of both tests by the exact law of the weights."""
    rng = np.random.default_rng(3)
    base = rng.choice(1_000, 40, replace=False)
    cells = [
        cell_of([100, 300, 500, 700, 900], np.unique(np.clip(base + rng.integers(-2, 3, 40), 0, 999)), n=1_000)
        for _ in range(10)
    ]
    right = law_of_weights(np.bincount(sum(found_on(cell) for cell in cells)), 5, 10)
    wrong = SumLaw(tuple(hypergeometric(1_000, cell.covered, 5) for cell in cells))
    assert right.mean == pytest.approx(wrong.mean)
    assert right.upper(right.critical_value(0.05)) <= 0.05
    assert right.upper(wrong.critical_value(0.05)) > 0.15
