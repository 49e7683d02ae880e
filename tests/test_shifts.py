"""Shifts of events against alarms, around a circle and nearby, by points and by ranges, against brute force."""

import itertools
import math
import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import nofluke as nf
from nofluke.nulls import CircularShift, LocalPermutation, LocalShift, Seasonal, Segments, as_null, shifts
from nofluke.nulls.base import Nulls
from nofluke.nulls.placements import hits_of_ranges
from nofluke.series.detector import AlarmRule
from nofluke.series.reading import prepare
from nofluke.series.tolerance import Ranges
from nofluke.series.trial import Trial
from nofluke.series.truth import Truth
from oracles import sides

BRANCHES = pytest.mark.parametrize("pairs_per_step", [-1, 10**9], ids=["transforms", "intervals"])


@st.composite
def pieces(draw, n, most=4):
    """Ranges that do not overlap among n positions, first and last of each; some touch, some are one position long."""
    k = draw(st.integers(0, min(most, n // 2)))
    edges = sorted(draw(st.lists(st.integers(0, n - 1), min_size=2 * k, max_size=2 * k, unique=True)))
    short = draw(st.lists(st.booleans(), min_size=k, max_size=k))
    return [(a, a if one else b) for a, b, one in zip(edges[::2], edges[1::2], short, strict=True)]


@st.composite
def cells(draw, most=24):
    """One cell with points or ranges, steps or episodes, and sometimes a mask or an irregular clock."""
    n = draw(st.integers(2, most))
    bits = st.lists(st.booleans(), min_size=n, max_size=n)
    rule = AlarmRule(count=draw(st.sampled_from(["steps", "episodes"])))
    (early, late), more = draw(sides(5)), {}
    if draw(st.booleans()):
        mask = np.array(draw(bits))
        if not mask.all():
            more["mask"] = mask
    tolerance = nf.Tolerance(early=early, late=late)
    times = np.cumsum(draw(st.lists(st.integers(1, 5), min_size=n, max_size=n)))
    if draw(st.booleans()):
        more["times"], tolerance = times, nf.Tolerance(early=early, late=late, unit="clock")
    if draw(st.booleans()):
        truth = np.array(draw(bits), dtype=int)
    elif "times" in more:  # ends of ranges lie on steps and between them
        found = draw(pieces(int(times[-1] - times[0]) + 1))
        truth = np.array(found, dtype=np.int64).reshape(-1, 2) + times[0]
    else:
        truth = np.array(draw(pieces(n)), dtype=np.int64).reshape(-1, 2)
    sequence = prepare(truth, predictions=np.array(draw(bits), dtype=int), **more)
    return Trial.of(sequence, (tolerance,), None, rule).cell(0, 0)


def rolled(values, shift, circle):
    """The first so many values rolled, the others where they are."""
    return np.concatenate([np.roll(values[:circle], shift), values[circle:]])


def numbered(flags):
    """The runs of flags numbered from 1, 0 elsewhere."""
    begins = flags & ~np.concatenate([[False], flags[:-1]])
    return np.where(flags, np.cumsum(begins), 0)


def hits_around(cell, shift, circle):
    """Both hits of one rotation: points are rolled themselves, of ranges the alarms are rolled the other way."""
    trial = cell.trial
    if cell.truth.points:
        moved = trial.with_truth(cell.truth.moved(np.flatnonzero(rolled(cell.truth.flags, shift, circle))))
        return int(moved.recall_hits[0, 0]), int(moved.precision_hits[0, 0])
    moved = trial.with_detector(rolled(cell.alarm_flags, -shift, circle))
    if trial.count_alarms == "steps":
        return int(moved.recall_hits[0, 0]), int(moved.precision_hits[0, 0])
    # an episode is one wherever its steps come to lie; one that reaches over the end of the circle stays
    blocks = numbered(cell.alarm_flags)
    stays = np.isin(blocks, np.unique(blocks[circle:]))
    turned = np.where(stays, blocks, 0), rolled(np.where(stays, 0, blocks), -shift, circle)
    near = trial.near_flags(0)
    return int(moved.recall_hits[0, 0]), len({int(b) for part in turned for b in part[near]} - {0})


class TestAround:
    @BRANCHES
    @settings(max_examples=120)
    @given(cell=cells(), data=st.data())
    def test_every_rotation_is_counted_as_if_it_were_rolled(self, pairs_per_step, cell, data):
        """Both hits of all rotations of a circle, or of its first part, by either way of counting."""
        circle = data.draw(st.integers(1, cell.n_steps))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(shifts, "PAIRS_PER_STEP", pairs_per_step)
            recall, precision = shifts.around(cell, circle)
        assert list(zip(recall.tolist(), precision.tolist(), strict=True)) == [
            hits_around(cell, s, circle) for s in range(circle)
        ]
        assert (recall[0], precision[0]) == (cell.recall_hits, cell.precision_hits)

    def test_short_ranges_with_ends_between_steps_are_no_points(self):
        """One step each, but a tolerance that begins half-way to the next: the hits observed are those of no shift."""
        alarms, times = np.zeros(20, dtype=int), np.arange(0, 200, 10)
        alarms[[5, 12]] = 1
        result = nf.evaluate(
            [(36, 44)],
            predictions=alarms,
            times=times,
            tolerance=nf.Tolerance(early=6, late=6, unit="clock"),
            null="circular-shift",
        )
        recall, precision = shifts.around(result.cell, 20)
        assert (result.recall_hits, result.precision_hits) == (recall[0], precision[0]) == (1, 1)
        assert result.recall_test.pvalue == 6 / 20  # two alarms, each of which three rotations bring near

    def test_an_episode_that_is_cut_at_the_seam_counts_once(self):
        """Three alarms in a row, one range at either end: the rotation that cuts them touches both and is one hit."""
        alarms = np.zeros(12, dtype=int)
        alarms[5:8] = 1
        trial = Trial.of(
            prepare([(0, 1), (10, 11)], predictions=alarms),
            (nf.Tolerance(early=0, late=0),),
            None,
            AlarmRule(count="episodes"),
        )
        recall, precision = shifts.around(trial.cell(0, 0), 12)
        assert recall[6] == 2  # alarms on 11, 0 and 1
        assert precision.max() == 1

    def test_episodes_that_come_to_touch_stay_two(self):
        """Alarms on the first and on the last step lie side by side after a rotation, and are two hits."""
        alarms = np.zeros(12, dtype=int)
        alarms[[0, 11]] = 1
        trial = Trial.of(
            prepare([(4, 7)], predictions=alarms),
            (nf.Tolerance(early=0, late=0),),
            None,
            AlarmRule(count="episodes"),
        )
        _, precision = shifts.around(trial.cell(0, 0), 12)
        # a shift by s moves the alarms s steps back: 11 - s and 12 - s
        assert precision.tolist() == [0, 0, 0, 0, 1, 2, 2, 2, 1, 0, 0, 0]

    @BRANCHES
    @settings(max_examples=150)
    @given(n=st.integers(1, 20), data=st.data())
    def test_touched_is_brute_force(self, pairs_per_step, n, data):
        """Fixed ranges, which may overlap, that meet a moved one, for every shift around the circle."""
        moved = [(a, b + 1) for a, b in data.draw(pieces(n))]
        moved = [(a, b) for i, (a, b) in enumerate(moved) if i == 0 or a > moved[i - 1][1]]  # apart
        ends = st.tuples(st.integers(0, n - 1), st.integers(1, n)).map(lambda ab: (ab[0], max(ab[0] + 1, ab[1])))
        fixed = data.draw(st.lists(ends, max_size=5))
        as_ranges = [
            Ranges(starts=pairs[:, 0], stops=pairs[:, 1])
            for pairs in (np.array(one, dtype=np.int64).reshape(-1, 2) for one in (fixed, moved))
        ]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(shifts, "PAIRS_PER_STEP", pairs_per_step)
            hits = shifts.touched_by_shift(*as_ranges, n)
        flags = np.zeros(n, dtype=bool)
        for start, stop in moved:
            flags[start:stop] = True
        assert hits.tolist() == [sum(np.roll(flags, s)[a:b].any() for a, b in fixed) for s in range(n)]

    @given(st.integers(4, 60), st.integers(0, 2**32))
    def test_compiled_loops_count_as_numpy_does(self, n, seed):
        """Pairs of ranges around the circle: which meet, and how many steps they share."""
        from nofluke.nulls import shifts_kernels

        rng = np.random.default_rng(seed)

        def some():
            ends = np.sort(rng.choice(n, 2 * int(rng.integers(1, n // 4 + 1)), replace=False))
            return Ranges(starts=ends[::2], stops=ends[1::2])

        fixed, moved = some(), some()
        first = int(rng.integers(-n, n))
        some_shifts = range(first, first + int(rng.integers(1, n + 1)))
        found = {}
        for name, loops in (("compiled", shifts_kernels), ("numpy", None)):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(shifts.LOOPS, "loops", lambda *_, loops=loops: loops)
                patch.setattr(shifts, "FEW_PAIRS", np.inf)
                found[name] = [
                    np.stack(
                        [
                            shifts._by_intervals(fixed.starts, fixed.stops, moved, n, by),
                            shifts._overlap(fixed, moved, n, by),
                        ]
                    )
                    for by in (range(n), some_shifts)
                ]
        every, some_of_them = found["numpy"]
        np.testing.assert_array_equal(found["compiled"][0], every)
        np.testing.assert_array_equal(some_of_them, every[:, [i % n for i in some_shifts]])
        np.testing.assert_array_equal(found["compiled"][1], some_of_them)

    def test_both_ways_of_counting_agree_on_long_series(self, monkeypatch):
        """20,000 steps of ranges and episodes of many lengths: transforms and intervals give the same whole numbers."""
        rng = np.random.default_rng(3)
        alarms = np.convolve(rng.normal(size=20_000), np.ones(9), mode="same") > 4
        edges = np.sort(rng.choice(20_000, 120, replace=False)).reshape(-1, 2)
        sequence = prepare(edges, predictions=alarms)
        trial = Trial.of(sequence, (nf.Tolerance(early=3, late=9),), None, AlarmRule(count="episodes"))
        found = []
        for pairs_per_step in (-1, 10, 10**9):
            monkeypatch.setattr(shifts, "PAIRS_PER_STEP", pairs_per_step)
            found.append(np.stack(shifts.around(trial.cell(0, 0), 20_000)))
        np.testing.assert_array_equal(found[0], found[1])
        np.testing.assert_array_equal(found[0], found[2])


def mirrored(flags, at):
    """Flags looked up beyond the borders in their mirror image."""
    n = len(flags)
    return flags[-1 - at if at < 0 else 2 * n - 1 - at if at >= n else at]


def hits_nearby(cell, shift):
    """Both hits of a small shift: events over the steps near alarms, alarms over the steps near events."""
    trial, alarms, near = cell.trial, cell.alarm_flags, cell.trial.near_flags(0)
    windows = list(zip(trial.event_windows[0].starts, trial.event_windows[0].stops, strict=True))
    if cell.truth.points:
        covers = zip(cell.cover.starts, cell.cover.stops, strict=True)
        near_alarm = np.array([alarms[a:b].any() for a, b in covers])
        recall = sum(mirrored(near_alarm, e + shift) for e in cell.truth.starts)
    else:
        recall = sum(any(mirrored(alarms, t + shift) for t in range(a, b)) for a, b in windows)
    blocks = numbered(alarms) if trial.count_alarms == "episodes" else np.cumsum(alarms)
    hit = {int(blocks[t]) for t in np.flatnonzero(alarms) if mirrored(near, t - shift)}
    return int(recall), len(hit)


class TestNearby:
    @settings(max_examples=200)
    @given(cell=cells(), data=st.data())
    def test_every_shift_is_counted_over_the_mirror_image(self, cell, data):
        """Both hits of small shifts to either side; no shift gives the hits that are observed."""
        reach = data.draw(st.integers(1, cell.n_steps - 1)) if cell.n_steps > 1 else 0
        asked = np.array([0, *range(1, reach + 1), *range(-1, -reach - 1, -1)])
        recall, precision = shifts.nearby(cell, asked)
        assert list(zip(recall.tolist(), precision.tolist(), strict=True)) == [hits_nearby(cell, s) for s in asked]
        assert (recall[0], precision[0]) == (cell.recall_hits, cell.precision_hits)

    def test_few_shifts_at_a_time_are_the_same(self, monkeypatch):
        """Shifts are looked at in chunks where there are many events."""
        rng = np.random.default_rng(0)
        cell = nf.evaluate(rng.random(500) < 0.2, predictions=rng.random(500) < 0.2, tolerance=1).cell
        asked = np.arange(-40, 41)
        whole = np.stack(shifts.nearby(cell, asked))
        monkeypatch.setattr(shifts, "AT_ONCE", 700)
        np.testing.assert_array_equal(np.stack(shifts.nearby(cell, asked)), whole)


class TestCircularShift:
    @settings(max_examples=80)
    @given(cell=cells(), every=st.one_of(st.integers(1, 6), st.floats(1, 8).map(lambda x: round(x, 2))))
    def test_shifts_by_whole_periods_are_rotations_of_one_circle(self, cell, every):
        """Whole periods only; both laws count each of them, what is observed among them: p is at least 1/number."""
        n = cell.n_steps
        periods = max(int(n / every), 1)
        circle = n if periods == 1 else min(round(periods * every), n)
        model = CircularShift(every=every)
        wanted = [round(k * every) for k in range(periods)]
        hits = [hits_around(cell, s, circle) for s in wanted]
        laws = model.distributions(cell)
        for column, (law, size) in enumerate(((laws.recall, cell.n_events), (laws.precision, cell.n_predictions))):
            np.testing.assert_array_equal(law.counts, np.bincount([h[column] for h in hits], minlength=size + 1))
            assert law.upper(hits[0][column]) >= 1 / periods
        assert hits[0] == (cell.recall_hits, cell.precision_hits)

    @settings(max_examples=200)
    @given(n=st.integers(2, 500), every=st.one_of(st.integers(1, 60), st.floats(1, 60)))
    @example(n=32, every=3.5)
    def test_shifts_form_a_group(self, n, every):
        """Two shifts one after the other are a third, exactly for whole periods.

        For others three shifts are rounded, each by half a step at most, and so is the circle.
        """
        truth = Truth.of_flags(np.zeros(n, dtype=bool))
        (circle, periods, _), found = (
            CircularShift(every=every)._circle(truth),
            CircularShift(every=every).shifts(truth),
        )
        assert found[0] == 0
        assert len(set(found.tolist())) == len(found)
        assert found.min() >= 0
        assert found.max() < circle <= n
        sums = (found[:, None] + found) % circle
        away = np.abs(sums[..., None] - found) if len(found) <= 40 else np.abs(sums[:9, :9, None] - found)
        nearest = np.minimum(away, circle - away).min(axis=-1)
        off = 0.0 if len(found) == 1 else abs(circle - periods * every)
        assert nearest.max() <= (0 if isinstance(every, int) else int(1.5 + off))

    def test_random_rotations_of_a_part_leave_the_rest(self):
        """Draws rotate the events of the whole periods by multiples of them, and no other."""
        truth = np.zeros(23, dtype=int)
        truth[[1, 4, 21]] = 1
        cell = nf.evaluate(truth, predictions=truth, null="permutation").cell
        rows = CircularShift(every=5).draw(cell.truth)(np.random.default_rng(1), 200)
        assert {tuple(row) for row in rows.tolist()} == {((1 + s) % 20, (4 + s) % 20, 21) for s in range(0, 20, 5)}

    def test_a_wrong_stride_is_refused(self):
        """No less than a step, and a number."""
        for every in (0, 0.5, -3, math.nan, "week"):
            with pytest.raises(nf.InputError, match="every="):
                nf.evaluate([0, 1, 0, 0] * 9, predictions=[0, 1, 1, 0] * 9, null=CircularShift(every=every))

    def test_ranges_are_counted_and_not_drawn(self):
        """All rotations of ranges are known: nothing is drawn, and the message says what to use."""
        alarms = np.arange(40) % 7 == 0
        with pytest.raises(
            nf.InputError, match='counts all rotations of ranges and draws none at random: use method="auto"'
        ):
            nf.evaluate([(3, 8), (20, 30)], predictions=alarms, null="circular-shift", method="montecarlo")


def example(ranges=False, n=400):
    """Scores with memory, and events that know nothing of them."""
    rng = np.random.default_rng(7)
    scores = np.convolve(rng.normal(size=n + 4), np.ones(5), mode="valid")
    truth = [(20, 31), (90, 95), (96, 110), (200, 240), (390, 399)] if ranges else rng.random(n) < 0.05
    return truth, scores


class TestLocalShift:
    @pytest.mark.parametrize("every", [1, 7, 3.5])
    @pytest.mark.parametrize("ranges", [False, True])
    @pytest.mark.parametrize("count", ["steps", "episodes"])
    def test_p_is_the_share_of_shifts_that_do_as_well(self, every, ranges, count):
        """#{h(s) ≥ h(0)} over all shifts counted, the identity among them."""
        truth, scores = example(ranges)
        model = LocalShift(reach=30, every=every)
        result = nf.evaluate(truth, scores, quantile=0.9, tolerance=2, null=model, count_alarms=count)
        away = [round(k * every) for k in range(1, int(30 / every) + 1)]
        hits = [hits_nearby(result.cell, s) for s in (0, *away, *(-s for s in away))]
        assert len(hits) == 2 * int(30 / every) + 1
        for column, test in enumerate((result.recall_test, result.precision_test)):
            assert test.hits == hits[0][column]
            assert test.pvalue == sum(h[column] >= hits[0][column] for h in hits) / len(hits)

    def test_it_says_that_it_is_approximate(self):
        """By its method, and by a note that promises no bound: mirrored borders have none."""
        truth, scores = example()
        result = nf.evaluate(truth, scores, quantile=0.9, null="local-shift:reach=50,every=7")
        assert result.recall_test.method == "15 local shifts (approximate)"
        assert any("no bound on their error is known" in note for note in result.notes)
        assert "Harris" not in LocalShift().caveat

    def test_text_and_object_are_the_same(self):
        """Name and settings go to text and back; defaults are left out; it is pickled."""
        for model, text in (
            (LocalShift(reach=50, every=7), "local-shift:reach=50,every=7"),
            (LocalShift(reach=50, every=7.5), "local-shift:reach=50,every=7.5"),
            (LocalShift(), "local-shift"),
            (LocalPermutation(windows=12), "local-permutation:windows=12"),
        ):
            assert model.text == text
            assert as_null(text) == model
            assert pickle.loads(pickle.dumps(model)) == model

    def test_what_it_keeps(self):
        """Everything but a season, and that too where shifts are by whole periods."""
        assert LocalShift().keeps == {"runs", "clusters", "drift"}
        assert LocalShift(every=7).keeps == {"runs", "clusters", "drift", "season"}
        assert "multiples of 7 steps" in LocalShift(every=7).assumption

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"reach": 0}, "reach=0"),
            ({"reach": 2.5}, "reach=2.5"),
            ({"every": 0}, "every=0"),
            ({"reach": 5, "every": 6}, "every=6 must be at most reach=5"),
        ],
    )
    def test_wrong_settings_are_refused(self, settings, message):
        """With the argument and its value."""
        with pytest.raises(nf.InputError, match=message):
            nf.evaluate([0, 1, 0, 0] * 99, [0, 1, 2, 3] * 99, quantile=0.9, null=LocalShift(**settings))

    def test_a_sequence_must_be_longer_than_the_reach(self):
        """One that is not is refused with its length, in evaluate and in a sweep."""
        truth, scores = example()
        message = "shifts by up to 400 steps, but the sequence has 400: pass a shorter reach"
        with pytest.raises(nf.InputError, match=message):
            nf.evaluate(truth, scores, quantile=0.9, null="local-shift:reach=400")
        with pytest.raises(nf.InputError, match=message):
            nf.sweep(truth, scores, quantiles=[0.9], null="local-shift:reach=400")
        assert nf.evaluate(truth, scores, quantile=0.9, null="local-shift:reach=399").recall_test.pvalue > 0

    @pytest.mark.parametrize("ranges", [False, True])
    def test_sweeps_and_their_familywise_test_count_the_same_shifts(self, ranges):
        """Each cell is an evaluation; adjusted p-values rank the best cell of each shift."""
        truth, scores = example(ranges)
        quantiles, tolerances = [0.7, 0.9], (0, 3)
        curve = nf.sweep(truth, scores, quantiles=quantiles, tolerances=tolerances, null="local-shift:reach=40")
        family = curve.familywise()
        asked = LocalShift(reach=40).shifts(curve.trial.truth)
        hits = np.empty((2, len(asked), 2, 2))
        for (d, delta), (k, quantile) in itertools.product(enumerate(tolerances), enumerate(quantiles)):
            one = nf.evaluate(truth, scores, quantile=quantile, tolerance=delta, null="local-shift:reach=40")
            assert curve.chance.recall.pvalue[d, k] == one.recall_test.pvalue
            assert curve.chance.precision.pvalue[d, k] == one.precision_test.pvalue
            hits[:, :, d, k] = np.array([hits_nearby(one.cell, s) for s in asked]).T
        for side, values in zip(("recall", "precision"), hits, strict=True):
            standard = (values - values.mean(axis=0)) / values.std(axis=0)
            best = standard.max(axis=(1, 2))
            expected = (best[:, None, None] >= standard[0] - 1e-9).mean(axis=0)
            np.testing.assert_allclose(getattr(family, f"{side}_adjusted"), expected)

    def test_draws_stay_on_the_steps(self):
        """Events that would leave are folded back; ranges are not drawn."""
        truth, scores = example()
        cell = nf.evaluate(truth, scores, quantile=0.9).cell
        rows = LocalShift(reach=60).draw(cell.truth)(np.random.default_rng(0), 500)
        assert rows.min() == 0
        assert rows.max() == 399
        with pytest.raises(nf.InputError, match="counts all shifts of ranges and draws none"):
            LocalShift().draw(nf.evaluate(example(True)[0], scores, quantile=0.9).cell.truth)

    def test_a_trend_that_both_share_fools_the_circle_and_not_small_shifts(self):
        """Events and alarms in the second half only: all rotations call it skill, small shifts do not."""
        rng = np.random.default_rng(8)
        late = np.arange(1_000) >= 500
        truth, alarms = late & (rng.random(1_000) < 0.1), late & (rng.random(1_000) < 0.2)
        by = {
            null: nf.evaluate(truth, predictions=alarms, tolerance=2, null=null).recall_test.pvalue
            for null in ("circular-shift", "local-shift:reach=50")
        }
        assert by["circular-shift"] < 0.05 < by["local-shift:reach=50"]


class TestLocalPermutation:
    @settings(max_examples=60)
    @given(data=st.data(), n=st.integers(2, 12), windows=st.integers(1, 4), delta=st.integers(0, 3))
    def test_both_laws_are_enumerated(self, data, n, windows, delta):
        """Every choice of as many steps of each window as it has events, each equally likely."""
        windows = min(windows, n)
        bits = st.lists(st.booleans(), min_size=n, max_size=n).map(lambda b: np.array(b, dtype=int))
        truth, alarms = data.draw(bits), data.draw(bits)
        cell = nf.evaluate(truth, predictions=alarms, tolerance=delta, null="permutation").cell
        laws = LocalPermutation(windows=windows).distributions(cell)
        of = [t * windows // n for t in range(n)]
        choices = [
            itertools.combinations([t for t in range(n) if of[t] == w], sum(truth[t] for t in range(n) if of[t] == w))
            for w in range(windows)
        ]
        recall, precision = Counter(), Counter()
        for chosen in itertools.product(*choices):
            events = set(itertools.chain(*chosen))
            recall[sum(any(alarms[p] for p in range(max(e - delta, 0), min(e + delta + 1, n))) for e in events)] += 1
            precision[sum(any(abs(p - e) <= delta for e in events) for p in np.flatnonzero(alarms))] += 1
        for law, counts in ((laws.recall, recall), (laws.precision, precision)):
            table = np.array([counts[h] for h in range(len(law.table))]) / sum(counts.values())
            np.testing.assert_allclose(law.table, table, atol=1e-12)

    def test_it_is_the_seasonal_null_with_windows_for_strata(self):
        """The same laws, and with a seed the same draws."""
        truth, scores = example()
        settings = {"quantile": 0.9, "tolerance": 2, "n_resamples": 500, "rng": 3}
        own = nf.evaluate(truth, scores, null="local-permutation:windows=8", **settings)
        other = nf.evaluate(truth, scores, null=Seasonal(strata=np.arange(400) // 50), **settings)
        np.testing.assert_array_equal(own.recall_test.law.table, other.recall_test.law.table)
        np.testing.assert_array_equal(own.precision_test.law.counts, other.precision_test.law.counts)

    def test_one_window_is_the_permutation(self):
        """Nothing is kept then: recall's law is the hypergeometric one."""
        truth, scores = example()
        one, other = (
            nf.evaluate(truth, scores, quantile=0.9, tolerance=2, null=null, n_resamples=20)
            for null in ("local-permutation:windows=1", "permutation")
        )
        np.testing.assert_allclose(one.recall_test.law.table, other.recall_test.law.table, atol=1e-12)

    def test_more_windows_than_steps_are_refused(self):
        """With both numbers; and so are ranges, which have no steps of their own."""
        with pytest.raises(nf.InputError, match="into 5 windows, but it has only 4 steps: pass fewer"):
            nf.evaluate([0, 1, 0, 0], predictions=[0, 1, 0, 0], null="local-permutation:windows=5")
        with pytest.raises(nf.InputError, match="places events of one step each, but these are ranges"):
            nf.evaluate(example(True)[0], example()[1], quantile=0.9, null="local-permutation")


def circular_gaps(starts, stops, n):
    """Gaps between neighbouring ranges, around the circle, sorted."""
    order = np.lexsort((stops, starts))
    starts, stops = starts[order], stops[order]
    return sorted((np.append(starts[1:], starts[0] + n) - stops).tolist())


class TestSegmentsOfRanges:
    def truth(self, pairs, n):
        alarms = np.zeros(n, dtype=int)
        alarms[::3] = 1
        return Trial.of(prepare(pairs, predictions=alarms), (nf.Tolerance(early=1, late=1),), None).truth

    @settings(max_examples=80)
    @given(data=st.data(), n=st.integers(4, 40), seed=st.integers(0, 2**32))
    def test_whole_ranges_and_their_gaps_are_kept(self, data, n, seed):
        """Draws lie within the series, never overlap, and have the same lengths and gaps around the circle."""
        pairs = data.draw(pieces(n).filter(len))
        truth = self.truth(pairs, n)
        lengths = truth.stops - truth.starts
        gaps = circular_gaps(truth.starts, truth.stops, n)
        for row in np.asarray(Segments().draw(truth)(np.random.default_rng(seed), 30), dtype=np.int64):
            stops = row + lengths  # each range is as long as it was, so none was cut
            assert row.min() >= 0
            assert stops.max() <= n
            steps = np.concatenate([np.arange(a, b) for a, b in zip(row, stops, strict=True)])
            assert len(set(steps.tolist())) == len(steps)
            assert circular_gaps(row, stops, n) == gaps

    def test_every_order_and_every_seam_is_equally_likely(self):
        """Two and three steps with gaps of one and three: all circles cut at all places outside of ranges."""
        n, lengths, gaps = 9, (2, 3), (1, 3)
        expected = Counter()
        for order, free in itertools.product(itertools.permutations(range(2)), itertools.permutations(gaps)):
            circle = [
                i for which, gap in zip(order, free, strict=True) for i in [which] * lengths[which] + [None] * gap
            ]
            for seam in range(n):
                line = circle[seam:] + circle[:seam]
                if line[0] is None or line[-1] != line[0]:  # else a range is cut
                    expected[tuple(line.index(which) for which in range(2))] += 1
        truth = self.truth([(0, 1), (3, 5)], n)
        size = 20_000
        drawn = Counter(map(tuple, Segments().draw(truth)(np.random.default_rng(2), size).tolist()))
        assert set(drawn) == set(expected)
        total = sum(expected.values())
        for placement, weight in expected.items():
            chance = weight / total
            assert abs(drawn[placement] - size * chance) <= 5 * math.sqrt(size * chance * (1 - chance))

    @settings(max_examples=120)
    @given(cell=cells().filter(lambda c: c.n_events > 0 and not c.truth.points), seed=st.integers(0, 2**32))
    def test_hits_of_placements_are_those_of_the_moved_events(self, cell, seed):
        """Both hits of each placement, by a trial with the ranges moved there; in place, those that are observed."""
        kept = hits_of_ranges(cell, cell.truth.starts[None])
        assert (kept["recall"][0], kept["precision"][0]) == (cell.recall_hits, cell.precision_hits)
        plain = cell.trial.with_truth(cell.truth.moved(cell.truth.starts)).cell(0, 0)  # without ends of their own
        rows = Segments().draw(cell.truth)(np.random.default_rng(seed), 10)
        hits = hits_of_ranges(plain, rows)
        for at, row in enumerate(np.asarray(rows, dtype=np.int64)):
            moved = cell.trial.with_truth(cell.truth.moved(row))
            assert hits["recall"][at] == moved.recall_hits[0, 0]
            assert hits["precision"][at] == moved.precision_hits[0, 0]

    def test_an_episode_around_an_event_that_reaches_no_step_is_no_hit(self):
        """An incident between two steps, with no tolerance, touches nothing, also where an alarm goes on over it."""
        sequence = prepare([(13, 14), (30, 40)], predictions=[0, 1, 1, 1, 0, 0], times=[0, 10, 20, 30, 40, 50])
        within = nf.Tolerance(early=0, late=0, unit="clock")
        cell = Trial.of(sequence, (within,), None, AlarmRule.of("episodes", None)).cell(0, 0)
        kept = hits_of_ranges(cell, cell.truth.starts[None])
        assert (kept["recall"][0], kept["precision"][0]) == (cell.recall_hits, cell.precision_hits)
        lone = Trial.of(prepare([(13, 14)], predictions=[0, 1, 1, 1, 0, 0], times=[0, 10, 20, 30, 40, 50]), (within,), None,
                        AlarmRule.of("episodes", None)).cell(0, 0)  # fmt: skip
        assert hits_of_ranges(lone, lone.truth.starts[None])["precision"][0] == lone.precision_hits == 0

    def test_ends_between_steps_go_along(self):
        """A range that reaches half-way to its neighbours is as easy to hit wherever it is placed."""
        alarms, times = np.zeros(60, dtype=int), np.arange(0, 600, 10)
        alarms[[5, 30, 44]] = 1
        within = nf.Tolerance(early=6, late=6, unit="clock")
        sequence = prepare([(36, 64), (236, 244)], predictions=alarms, times=times)
        cell = Trial.of(sequence, (within,), None).cell(0, 0)
        first = np.arange(10, 40)
        hits = hits_of_ranges(cell, np.stack([np.full(30, 50), first], axis=1))["recall"]
        assert hits.tolist() == [int(any(alarms[t - 1 : t + 2])) for t in first]

    def test_p_of_evaluate_is_that_of_the_placements(self):
        """(b + 1)/(n + 1), by either measure, and the same for the same seed."""
        truth, scores = example(True)
        result = nf.evaluate(truth, scores, quantile=0.9, tolerance=2, null="segments", n_resamples=300, rng=5)
        laws: Nulls = Segments().distributions(result.cell, n_resamples=300, rng=5)
        for test, law in ((result.recall_test, laws.recall), (result.precision_test, laws.precision)):
            assert test.pvalue == (law.counts[test.hits :].sum() + 1) / 301

    def test_a_sweep_is_tested_over_the_same_placements(self):
        """Each cell has the p-value of an evaluation with that seed; the best of all gains nothing from being best."""
        truth, scores = [(10, 20), (100, 130), (300, 310)], np.random.default_rng(5).random(400)
        asked = {"null": "segments", "n_resamples": 199, "rng": 3}
        curve = nf.sweep(truth, scores, quantiles=[0.8, 0.9], tolerances=(0, 2), **asked)
        for d, delta in enumerate((0, 2)):
            for k, quantile in enumerate((0.8, 0.9)):
                alone = nf.evaluate(truth, scores, quantile=quantile, tolerance=delta, **asked)
                assert curve.chance.recall.pvalue[d, k] == alone.recall_test.pvalue
                assert curve.chance.precision.pvalue[d, k] == alone.precision_test.pvalue
        family = curve.familywise()
        assert (family.n_resamples, family.seed) == (199, 3)
        assert (family.recall_adjusted >= curve.chance.recall.pvalue - 1e-12).all()
        assert family.best_f >= 1 / 200
