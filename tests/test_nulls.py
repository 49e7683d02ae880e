"""Every null model against brute force: what it keeps, what it randomises, and the distributions that follow."""

import functools
import itertools
import math
import os
from collections import Counter
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nofluke as nf
from nofluke.nulls import as_null, seasonal, shifts, stratified
from nofluke.nulls.shuffles import runs_and_gaps
from oracles import sides

MODELS = (
    nf.nulls.Permutation(),
    nf.nulls.CircularShift(),
    nf.nulls.CircularShift(guard=2),
    nf.nulls.CircularShift(every=3),
    nf.nulls.CircularShift(every=2.5),
    nf.nulls.LocalShift(reach=4),
    nf.nulls.LocalShift(reach=8, every=3),
    nf.nulls.LocalPermutation(windows=3),
    nf.nulls.IntervalShuffle(),
    nf.nulls.Segments(),
    nf.nulls.Blocks(length=4),
    nf.nulls.Seasonal(period=5),
    nf.nulls.Bernoulli(),
)
with_data = pytest.mark.skipif(
    not os.environ.get("NOFLUKE_DATA"), reason="NOFLUKE_DATA is unset: it names the directory of the data"
)


def flags(n_steps, *steps):
    """0/1 labels with ones on the given steps."""
    labels = np.zeros(n_steps, dtype=int)
    labels[list(steps)] = 1
    return labels


@st.composite
def cases(draw, most=24):
    """Labels, alarms, tolerance, and sometimes a mask and an irregular clock."""
    n = draw(st.integers(1, most))
    bits = st.lists(st.booleans(), min_size=n, max_size=n)
    data = {"truth": np.array(draw(bits), dtype=int), "predictions": np.array(draw(bits), dtype=int)}
    if draw(st.booleans()):
        mask = np.array(draw(bits))
        if not mask.all():
            data["mask"] = mask
    early, late = draw(sides(6))
    if draw(st.booleans()):
        data["times"] = np.cumsum(draw(st.lists(st.integers(1, 5), min_size=n, max_size=n)))
        data["tolerance"] = nf.Tolerance(early=early, late=late, unit="clock")
    else:
        data["tolerance"] = nf.Tolerance(early=early, late=late)
    return data


def moved(data, events):
    """Both hits with other events, told as open steps: (recall, precision), by a plain evaluation."""
    kept = np.flatnonzero(~data["mask"]) if "mask" in data else np.arange(len(data["truth"]))
    truth = np.zeros(len(data["truth"]), dtype=int)
    truth[kept[list(events)]] = 1
    counted = nf.evaluate(**{**data, "truth": truth, "null": "bernoulli"})
    return counted.recall_hits, counted.precision_hits


def open_events(data):
    """The open steps that hold events, and how many open steps there are."""
    kept = ~data["mask"] if "mask" in data else np.ones(len(data["truth"]), dtype=bool)
    return np.flatnonzero(data["truth"][kept]), int(kept.sum())


class TestCircularShift:
    @pytest.mark.parametrize("pairs_per_step", [-1, 10**9], ids=["transforms", "intervals"])
    @settings(max_examples=40)
    @given(data=cases(), guard=st.integers(0, 4), every=st.integers(1, 4))
    def test_is_brute_force_over_all_rotations(self, pairs_per_step, data, guard, every):
        """Both null distributions count the hits of every allowed rotation of the open steps, counted either way."""
        model = nf.nulls.CircularShift(guard=guard, every=every)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(shifts, "PAIRS_PER_STEP", pairs_per_step)
            result = nf.evaluate(**data, null=model)
        events, n = open_events(data)
        circle = n // every * every or n  # whole periods; what lies behind them stays
        allowed = [s for s in range(circle) if s == 0 or (s % every == 0 and guard <= s <= circle - guard)]
        hits = [moved(data, np.where(events < circle, (events + s) % circle, events)) for s in allowed]
        for test, observed, column in ((result.recall_test, hits[0][0], 0), (result.precision_test, hits[0][1], 1)):
            counts = np.bincount([h[column] for h in hits], minlength=test.of + 1)
            np.testing.assert_array_equal(test.law.counts, counts)
            assert test.hits == observed
            assert test.pvalue == sum(h[column] >= observed for h in hits) / len(allowed)
            assert test.expected == pytest.approx(np.mean([h[column] for h in hits]))
            assert test.std == pytest.approx(np.std([h[column] for h in hits]), abs=1e-7)

    @pytest.mark.parametrize("n", [997, 1024, 1000])
    @pytest.mark.parametrize("pairs_per_step", [-1, 10**9], ids=["transforms", "intervals"])
    def test_prime_and_round_lengths(self, n, pairs_per_step, monkeypatch):
        """T prime, a power of two and neither: the same counts as rolling the labels T times."""
        monkeypatch.setattr(shifts, "PAIRS_PER_STEP", pairs_per_step)
        rng = np.random.default_rng(n)
        truth, alarms = rng.random(n) < 0.05, rng.random(n) < 0.1
        result = nf.evaluate(truth, predictions=alarms, tolerance=3, null="circular-shift")
        ones = np.ones(7, dtype=int)
        near_alarm = np.convolve(alarms, ones, mode="same") > 0
        rolls = [np.roll(truth, s) for s in range(n)]
        recall = [int((near_alarm & rolled).sum()) for rolled in rolls]
        precision = [int((alarms & (np.convolve(rolled, ones, mode="same") > 0)).sum()) for rolled in rolls]
        np.testing.assert_array_equal(result.recall_test.law.counts, np.bincount(recall, minlength=truth.sum() + 1))
        np.testing.assert_array_equal(
            result.precision_test.law.counts, np.bincount(precision, minlength=alarms.sum() + 1)
        )

    def test_joint_hits_are_those_of_single_rotations(self):
        """The test of F1 ranks the observed pair of hits among the pairs of all rotations."""
        rng = np.random.default_rng(3)
        data = {"truth": (rng.random(60) < 0.2).astype(int), "predictions": rng.random(60) < 0.3, "tolerance": 1}
        result = nf.evaluate(**data, null="circular-shift")
        scores = []
        for shift in range(60):
            shifted = nf.evaluate(**{**data, "truth": np.roll(data["truth"], shift)})
            scores.append(0.0 if math.isnan(shifted.f1) else shifted.f1)
        assert result.f_test().pvalue == pytest.approx(np.mean(np.array(scores) >= scores[0] - 1e-12))

    def test_simulated_rotations_agree(self):
        """Random rotations have the distribution of all of them, the guard left out."""
        rng = np.random.default_rng(4)
        data = {"truth": rng.random(90) < 0.2, "predictions": rng.random(90) < 0.3, "tolerance": 1}
        model = nf.nulls.CircularShift(guard=5)
        exact = nf.evaluate(**data, null=model)
        drawn = nf.evaluate(**data, null=model, method="montecarlo", n_resamples=20_000, rng=1)
        for side in ("precision_test", "recall_test"):
            p, q = getattr(exact, side).law.table, getattr(drawn, side).law.table
            assert np.abs(p - q).max() < 5 * math.sqrt(0.25 / 20_000)

    @with_data
    def test_the_papers_data(self):
        """δ = 2, quantile .9: 1 of 2,557 rotations reaches recall's 80 hits, 3 of 2,557 precision's 145."""
        quakes = nf.datasets.load_earthquakes()
        scores = nf.detectors.energy_transient(quakes.counts)
        result = nf.evaluate(quakes.truth, scores, quantile=0.9, tolerance=2, null="circular-shift")
        assert (result.recall_hits, result.precision_hits) == (80, 145)
        assert result.recall_test.law.counts[80:].sum() == 1
        assert result.precision_test.law.counts[145:].sum() == 3
        assert result.recall_test.pvalue == 1 / 2557
        assert result.precision_test.pvalue == 3 / 2557


def drawn_by(model, truth, size=4_000, **more):
    """Placements that a null draws, as tuples of steps."""
    result = nf.evaluate(truth, predictions=np.zeros(len(truth), dtype=int), null="permutation", **more)
    rows = model.draw(result.cell.truth)(np.random.default_rng(5), size)
    assert rows.shape == (size, result.n_events)
    return [tuple(row) for row in np.sort(rows, axis=1).tolist()]


def assert_uniform(drawn, expected):
    """The placements drawn are exactly the expected ones, each as often as its weight says (5 standard errors)."""
    counts, total = Counter(drawn), sum(expected.values())
    assert set(counts) <= set(expected)
    for placement, weight in expected.items():
        chance = weight / total
        error = math.sqrt(len(drawn) * chance * (1 - chance))
        assert abs(counts[placement] - len(drawn) * chance) <= 5 * error + 1e-9


def circular_gaps(events, n):
    return sorted(np.diff([*events, events[0] + n]).tolist())


class TestShuffles:
    def test_interval_shuffle_is_uniform_over_orders_of_gaps(self):
        """All orders of the gaps, set down at all steps, are equally likely; no other placement comes out."""
        n, events = 11, (0, 1, 5)
        expected = Counter()
        for order in itertools.permutations(np.diff([*events, events[0] + n]).tolist()):
            for start in range(n):
                expected[tuple(sorted((start + np.cumsum(order)) % n))] += 1
        assert_uniform(drawn_by(nf.nulls.IntervalShuffle(), flags(n, *events)), expected)

    @settings(max_examples=30)
    @given(data=cases())
    def test_interval_shuffle_keeps_the_gaps(self, data):
        """The multiset of gaps around the circle stays, whatever the labels and the mask."""
        events, n = open_events(data)
        cell = nf.evaluate(**data).cell
        rows = nf.nulls.IntervalShuffle().draw(cell.truth)(np.random.default_rng(1), 5)
        assert rows.shape == (5, len(events))
        for row in np.sort(rows, axis=1).tolist() if len(events) else ():
            assert circular_gaps(row, n) == circular_gaps(events.tolist(), n)

    def test_segments_are_uniform_over_orders_of_runs_and_gaps(self):
        """All pairs of an order of the runs and an order of the gaps, set down at all steps, are equally likely."""
        n, truth = 12, flags(12, 11, 0, 3, 4, 5, 7)  # one run goes over the end
        runs, gaps = (part.tolist() for part in runs_and_gaps(np.flatnonzero(truth), len(truth)))
        assert (sorted(runs), sorted(gaps)) == ([1, 2, 3], [1, 2, 3])
        expected = Counter()
        for lengths, free in itertools.product(itertools.permutations(runs), itertools.permutations(gaps)):
            for start in range(n):
                steps, at = [], start
                for length, gap in zip(lengths, free, strict=True):
                    steps += [(at + i) % n for i in range(length)]
                    at += length + gap
                expected[tuple(sorted(steps))] += 1
        assert_uniform(drawn_by(nf.nulls.Segments(), truth), expected)

    @settings(max_examples=30)
    @given(data=cases())
    def test_segments_keep_runs_and_gaps(self, data):
        """The multisets of run lengths and of gap lengths around the circle stay."""
        events, n = open_events(data)
        cell = nf.evaluate(**data).cell
        before = [sorted(part.tolist()) for part in runs_and_gaps(cell.truth.starts, cell.n_steps)]
        rows = nf.nulls.Segments().draw(cell.truth)(np.random.default_rng(1), 5)
        for row in rows:
            labels = flags(n, *row.tolist()).astype(bool)
            assert labels.sum() == len(events)
            assert [sorted(part.tolist()) for part in runs_and_gaps(np.flatnonzero(labels), len(labels))] == before

    @pytest.mark.parametrize("n", [8, 7])
    def test_blocks_are_uniform_over_rotations_and_orders(self, n):
        """Each rotation is cut into blocks of 3 (the last one shorter) and each order of them is equally likely."""
        events = (0, 1, 5)
        expected = Counter()
        for start in range(n):
            rolled = np.roll(flags(n, *events), start)
            blocks = [rolled[i : i + 3] for i in range(0, n, 3)]
            for order in itertools.permutations(blocks):
                expected[tuple(np.flatnonzero(np.concatenate(order)).tolist())] += 1
        assert_uniform(drawn_by(nf.nulls.Blocks(length=3), flags(n, *events)), expected)

    def test_blocks_longer_than_the_sequence_rotate_it(self):
        """One block is no shuffle, only a rotation."""
        drawn = drawn_by(nf.nulls.Blocks(length=99), flags(9, 0, 1, 4))
        assert {tuple(circular_gaps(list(p), 9)) for p in drawn} == {(1, 3, 5)}

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["interval-shuffle", "segments", "blocks:length=3"])
    def test_hits_are_those_of_the_placements(self, name):
        """The null distributions are what one counts over placements drawn by hand."""
        rng = np.random.default_rng(6)
        data = {"truth": rng.random(40) < 0.25, "predictions": rng.random(40) < 0.3, "tolerance": 1}
        result = nf.evaluate(**data, null=name, n_resamples=4_000, rng=1)
        by_hand = np.array([moved(data, row) for row in drawn_by(as_null(name), data["truth"], size=1_000)])
        for test, hits in ((result.recall_test, by_hand[:, 0]), (result.precision_test, by_hand[:, 1])):
            assert abs(test.expected - hits.mean()) < 5 * hits.std() / math.sqrt(800)
            assert test.pvalue >= 1 / 4_001

    @pytest.mark.slow
    @pytest.mark.parametrize("null", ["segments", "blocks:length=1", "interval-shuffle"])
    def test_long_sequences_take_little_memory(self, null, monkeypatch):
        """At 10^5 steps, half of them events, a worker needs less than 150 MB."""
        import tracemalloc

        monkeypatch.setattr("os.cpu_count", lambda: 1)
        truth = np.random.default_rng(0).random(100_000) < 0.5
        how = {"predictions": np.roll(truth, 1), "null": null, "n_resamples": 256, "rng": 1}
        tracemalloc.start()
        try:
            nf.evaluate(truth, **how)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 150e6

    @pytest.mark.parametrize(
        ("null", "expected"),
        [
            ("segments", [9374, 8824]),
            ("blocks:length=10", [9376, 8805]),
            ("interval-shuffle", [9350, 8795]),
        ],
    )
    def test_seeds_keep_their_meaning(self, null, expected):
        """Hits of precision and recall, summed over the placements of a seed: another sum means other placements."""
        rng = np.random.default_rng(5)
        truth, alarms = rng.random(500) < 0.1, rng.random(500) < 0.2
        one = nf.evaluate(truth, predictions=alarms, tolerance=1, null=null, n_resamples=300, rng=2)
        nulls = one.precision_test.law, one.recall_test.law
        assert [int(np.arange(n.size + 1) @ n.counts) for n in nulls] == expected


class TestSeasonal:
    @settings(max_examples=40)
    @given(data=cases(most=10), period=st.integers(2, 6), bins=st.integers(1, 4))
    def test_is_enumeration_within_phases(self, data, period, bins):
        """Recall and precision count every placement that leaves each phase its number of events."""
        model = nf.nulls.Seasonal(period=period, bins=bins)
        result = nf.evaluate(**data, null=model, method="exact")
        kept = np.flatnonzero(~data["mask"]) if "mask" in data else np.arange(len(data["truth"]))
        phase = kept % period * min(bins, period) // period
        events, n = open_events(data)
        wanted = Counter(phase[events].tolist())
        hits = [
            moved(data, chosen)
            for chosen in itertools.combinations(range(n), len(events))
            if Counter(phase[list(chosen)].tolist()) == wanted
        ]
        for test, column in ((result.recall_test, 0), (result.precision_test, 1)):
            counts = np.bincount([h[column] for h in hits], minlength=test.of + 1)
            np.testing.assert_allclose(test.law.table, counts / len(hits), atol=1e-12)
            assert test.expected == pytest.approx(np.mean([h[column] for h in hits]))
            assert test.std == pytest.approx(np.std([h[column] for h in hits]), abs=1e-7)

    def test_one_phase_is_the_permutation(self):
        """With a single stratum recall is hypergeometric, and precision agrees with the exact permutation null."""
        rng = np.random.default_rng(2)
        data = {"truth": flags(30, 3, 20), "predictions": rng.random(30) < 0.3, "tolerance": 2}
        one = nf.evaluate(**data, null=nf.nulls.Seasonal(strata=np.zeros(30)))
        plain = nf.evaluate(**data, null="permutation")
        for side in ("precision_test", "recall_test"):
            np.testing.assert_allclose(getattr(one, side).law.table, getattr(plain, side).law.table, atol=1e-12)
        assert one.precision_test.method == "exact (all placements)"

    def test_simulated_precision_agrees_with_enumeration(self, monkeypatch):
        """Where there are too many placements precision is simulated, to the same distribution."""
        rng = np.random.default_rng(3)
        data = {"truth": flags(24, 2, 9, 13, 22), "predictions": rng.random(24) < 0.4, "tolerance": 1}
        exact = nf.evaluate(**data, null="seasonal:period=6,bins=2").precision_test
        monkeypatch.setattr(stratified, "MOST_PLACEMENTS", 10)
        drawn = nf.evaluate(**data, null="seasonal:period=6,bins=2", n_resamples=20_000, rng=1).precision_test
        assert (exact.method, drawn.method) == ("exact (all placements)", "montecarlo")
        assert np.abs(exact.law.table - drawn.law.table).max() < 5 * math.sqrt(0.25 / 20_000)
        with pytest.raises(nf.InputError, match="affordable for precision only up to 10 placements"):
            nf.evaluate(**data, null="seasonal:period=6,bins=2", method="exact")

    def test_draws_are_uniform_within_strata(self):
        """Strata given by name: events stay in theirs, and every such placement is equally likely."""
        strata = np.array(list("aabbbaab"))
        expected = dict.fromkeys(
            (
                tuple(sorted((*a, b)))
                for a in itertools.combinations(np.flatnonzero(strata == "a").tolist(), 2)
                for b in np.flatnonzero(strata == "b").tolist()
            ),
            1,
        )
        assert_uniform(drawn_by(nf.nulls.Seasonal(strata=strata), flags(8, 0, 1, 4)), expected)

    @pytest.mark.parametrize("unit", ["s", "ms", "ns"])
    @pytest.mark.parametrize(
        ("rule", "of"),
        [
            ("hour of day", lambda date: date.hour),
            ("day of week", lambda date: date.weekday()),
            ("month", lambda date: date.month - 1),
        ],
    )
    def test_phases_of_the_calendar_are_those_of_datetime(self, rule, of, unit):
        """Also before 1970, in a leap year, and for any unit of the clock."""
        dates = [datetime(1967, 12, 30) + timedelta(hours=31 * i, minutes=7) for i in range(600)]
        times = np.array(dates, dtype=f"datetime64[{unit}]")
        cell = nf.evaluate(flags(600, 3), predictions=flags(600, 4), times=times).cell
        np.testing.assert_array_equal(seasonal.calendar_phase(cell.clock, rule), [of(date) for date in dates])

    def test_calendar_needs_dates(self):
        """Hours mean nothing on a clock of plain numbers."""
        for times in (None, np.arange(9)):
            with pytest.raises(nf.InputError, match="needs a clock of dates"):
                nf.evaluate(flags(9, 3), predictions=flags(9, 4), times=times, null="seasonal:period=hour of day")

    def test_period_counts_masked_steps(self):
        """A mask does not shift the season."""
        mask = np.zeros(12, dtype=bool)
        mask[1] = True
        cell = nf.evaluate(flags(12, 3), predictions=flags(12, 4), mask=mask).cell
        np.testing.assert_array_equal(
            nf.nulls.Seasonal(period=4).strata_of(cell.truth), [0, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]
        )


class TestStationary:
    @with_data
    def test_recall_is_close_to_the_permutation_on_the_papers_data(self):
        """The fitted chance of a window to reach the threshold is near the share of covered steps, D/T = 630/2557."""
        quakes = nf.datasets.load_earthquakes()
        scores = nf.detectors.energy_transient(quakes.counts)
        result = nf.evaluate(quakes.truth, scores, quantile=0.9, tolerance=2, null="stationary")
        fit = result.null.fit(result.cell)
        assert fit.n_blocks == 511
        assert fit.success == pytest.approx(630 / 2557, rel=0.1)
        assert fit.observed == pytest.approx(630 / 2557, rel=0.1)
        assert result.recall_test.expected == pytest.approx(162 * fit.success)
        assert "extreme value fit" in result.recall_test.method
        plain = nf.evaluate(quakes.truth, scores, quantile=0.9, tolerance=2)
        assert result.precision_test.pvalue == plain.precision_test.pvalue

    def test_finds_the_distribution_it_assumes(self):
        """Maxima of five exponential scores: the fit is not rejected and gives 1 - (1 - e^-τ)^5."""
        rng = np.random.default_rng(1)
        scores = rng.exponential(size=5_000)
        result = nf.evaluate(rng.random(5_000) < 0.02, scores, threshold=3.0, tolerance=2, null="stationary")
        fit = result.null.fit(result.cell)
        assert fit.success == pytest.approx(1 - (1 - math.exp(-3)) ** 5, rel=0.1)
        assert fit.pvalue > 0.01

    def test_needs_scores_that_differ(self):
        """Alarms alone and constant scores have no maxima to fit."""
        with pytest.raises(nf.InputError, match="needs scores and a threshold"):
            nf.evaluate(flags(9, 3), predictions=flags(9, 4), null="stationary")
        with pytest.raises(nf.InputError, match="cannot be fitted to 9 block maxima with 1 distinct"):
            nf.evaluate(flags(9, 3), np.ones(9), threshold=1, null="stationary")


class TestCustom:
    def test_a_function_that_draws_permutations_is_the_permutation(self):
        """One's own null by ``rng.permutation`` agrees with the exact one."""
        rng = np.random.default_rng(8)
        data = {"truth": (rng.random(50) < 0.2).astype(int), "predictions": rng.random(50) < 0.3, "tolerance": 1}
        own = nf.evaluate(**data, null=lambda generator: generator.permutation(data["truth"]), n_resamples=4_000, rng=2)
        exact = nf.evaluate(**data)
        assert own.null.name == "custom"
        for side in ("precision_test", "recall_test"):
            p, q = getattr(exact, side), getattr(own, side)
            assert abs(p.expected - q.expected) < 5 * p.std / math.sqrt(4_000)
            assert abs(p.pvalue - q.pvalue) < 5 * math.sqrt(0.25 / 4_000)

    def test_labels_under_the_mask_do_not_count(self):
        """Steps that are left out may hold anything."""
        mask = np.arange(10) < 2
        result = nf.evaluate(
            flags(10, 5), predictions=flags(10, 6), mask=mask, null=lambda rng: flags(10, 0, 1, rng.integers(2, 10)),
            n_resamples=2_000, rng=1,
        )  # fmt: skip
        assert result.recall_test.expected == pytest.approx(1 / 8, abs=0.05)

    @pytest.mark.parametrize(
        ("function", "message"),
        [
            (lambda _: np.zeros(5), "must draw 10 labels"),
            (lambda _: np.full(10, 2), "must draw 10 labels"),
            (lambda _: np.zeros(10), "drew 0 events where the data have 1"),
        ],
    )
    def test_wrong_labels_are_refused(self, function, message):
        """Wrong length, wrong values, wrong number of events."""
        with pytest.raises(nf.InputError, match=message):
            nf.evaluate(flags(10, 5), predictions=flags(10, 6), null=function)


class TestAsNull:
    @pytest.mark.parametrize("model", [*MODELS, nf.nulls.Seasonal(period="hour of day"), nf.nulls.Stationary()])
    def test_reads_what_a_null_calls_itself(self, model):
        """A null's own text makes it again, and an object is left as it is."""
        again = as_null(model.text)
        assert (type(again), again.settings) == (type(model), model.settings)
        assert as_null(model) is model
        assert model.assumption.endswith(".")

    def test_settings_may_have_blanks(self):
        """As people type them."""
        model = as_null("seasonal: period = 24, bins=6")
        assert (model.period, model.bins) == (24, 6)

    @pytest.mark.parametrize(
        ("null", "message"),
        [
            ("perm", "must be one of 'auto', 'permutation', 'circular-shift'"),
            ("blocks", "null='blocks' needs the setting length: write it as 'blocks:length=48'"),
            ("blocks:length=0", "length=0 must be a whole number"),
            ("blocks:length=2.5", "length=2.5 must be a whole number"),
            ("blocks:48", "write settings as name:key=value"),
            ("permutation:programme_operations=abc", "has no setting 'programme_operations', nor any other"),
            ("permutation:programme_operations=nan", "has no setting 'programme_operations', nor any other"),
            ("permutation:programme_operations=5", "has no setting 'programme_operations', nor any other"),
            ("seasonal:strata=5", "has no setting 'strata', but period, bins, windows, second and second_bins"),
            ("local-shift:rech=3", "^null='local-shift:rech=3' has no setting 'rech', .*: did you mean 'reach'[?]$"),
            ("circular", ": did you mean 'circular-shift'[?]$"),
            ("local-shift:reach=abc", "^null='local-shift:reach=abc': reach='abc' is not a duration"),
            ("circular-shift:gap=2", "has no setting 'gap', but guard and every"),
            ("circular-shift:guard=-1", "guard=-1 must be"),
            ("circular-shift:every=0", "every=0 must be"),
            ("seasonal", "null='seasonal' needs the setting period: write it as 'seasonal:period=24'"),
            ("seasonal:period=hour", "must be a number of steps, a duration such as '1d', or one of 'hour of day'"),
            ("seasonal:period=1", "period=1 must be a number of at least 2 steps"),
            ("seasonal:period=7,bins=0", "bins=0 must be a whole number of at least 1"),
            (
                "circular-shift:every=9999999999",
                "every=9999999999 must be a whole number of at least 1 and at most 2,147",
            ),
            ("seasonal:period=9999999999", "period=9999999999 must be a whole number of at least 2 and at most 2,147"),
            ("blocks:length=1e999", "length=inf must be a whole number"),
            ("x" * 5000, r"^null='x+\.\.\.x+' must be one of"),
            (7, "must be a name, a null model or a function"),
            (nf.nulls.CircularShift, r"null=CircularShift is a class: pass an instance, CircularShift\(...\)"),
            (nf.nulls.Seasonal, r"null=Seasonal is a class: pass an instance, Seasonal\(...\)"),
            (dict, "null=dict is a class"),
        ],
    )
    def test_errors_say_what_to_write(self, null, message):
        """The value and the remedy."""
        with pytest.raises(nf.InputError, match=message):
            nf.evaluate(flags(9, 3), predictions=flags(9, 4), null=null)

    def test_methods_a_null_does_not_have_are_refused(self):
        """Each null says which methods it has."""
        with pytest.raises(
            nf.InputError, match="method='exact' must be one of 'auto', 'montecarlo' for the null segments"
        ):
            nf.evaluate(flags(9, 3), predictions=flags(9, 4), null="segments", method="exact")

    @pytest.mark.parametrize("odd", ["5", (), math.nan, -1, [1]])
    def test_operations_that_are_no_number_are_refused(self, odd):
        """As other settings are, before any cell is judged."""
        for null in (nf.nulls.Permutation, functools.partial(nf.nulls.PeriodShuffle, period=3)):
            with pytest.raises(nf.InputError, match=r"^programme_operations=.* must be a number of operations"):
                null(programme_operations=odd)
            assert hash(null(programme_operations=np.array(5)))  # cells keep what nulls make of them by the null

    def test_strata_of_the_wrong_length_are_refused(self):
        """One stratum for each step."""
        with pytest.raises(nf.InputError, match=r"strata has shape \(3,\), but the sequence has 9 steps"):
            nf.evaluate(flags(9, 3), predictions=flags(9, 4), null=nf.nulls.Seasonal(strata=[0, 1, 0]))
        with pytest.raises(nf.InputError, match=r"strata has shape \(\), but the sequence has 9 steps"):
            nf.evaluate(flags(9, 3), predictions=flags(9, 4), null=nf.nulls.Seasonal(strata=5))

    @pytest.mark.parametrize(
        ("strata", "message"),
        [
            (
                [0, 1, 0, None, 0, 1, 0, 1, 0],
                r"strata has 1 missing label\(s\) on steps that count: label them, or mask",
            ),
            (["a", "b", None] * 3, r"strata has 3 missing label\(s\)"),
            (["a", "b", math.nan] * 3, r"strata has 3 missing label\(s\)"),
            ([0, 1, math.nan] * 3, r"strata has 3 missing label\(s\)"),
            (np.ma.array([0] * 9, mask=[1] + [0] * 8), r"strata has 1 missing label\(s\)"),
            ([0, 1, np.ma.masked] * 3, r"strata has 3 missing label\(s\)"),
            ([0, "a", None] * 3, "must be labels of one kind, numbers or text"),
            ([[0], [0, 1]], "must be labels of one kind, numbers or text"),
            ("abc", "strata='abc' must be labels, dates, a function of times, or one of 'hour of day'"),
        ],
    )
    def test_strata_that_leave_a_step_without_a_label_are_refused(self, strata, message):
        """Missing labels are not a stratum of their own."""
        with pytest.raises(nf.InputError, match=message):
            nf.evaluate(flags(9, 3), predictions=flags(9, 4), null=nf.nulls.Seasonal(strata=strata))

    def test_strata_may_be_missing_under_the_mask(self):
        """Steps that are left out need no label; text and numbers make the same strata."""
        results = [
            nf.evaluate(
                flags(9, 3, 7),
                predictions=flags(9, 4, 7),
                mask=flags(9, 0),
                null=nf.nulls.Seasonal(strata=[gap, *labels]),
            )
            for gap, labels in ((None, "aabbaabb"), (9, [0, 0, 1, 1, 0, 0, 1, 1]), (math.nan, [0, 0, 1, 1, 0, 0, 1, 1]))
        ]
        assert len({str(result) for result in results}) == 1


class Mine(nf.nulls.NullModel):
    """A class as a user writes it: no dataclass, no name."""

    def __init__(self, events=None):
        self.events = events

    @property
    def assumption(self):
        return "Chance does as I say."

    def draw(self, truth):
        def drawn(generator, size):
            if self.events is not None:
                return self.events
            rows = [generator.choice(truth.n_steps, truth.n, replace=False) for _ in range(size)]
            return np.array(rows).reshape(size, truth.n)

        return drawn


class TestOwnClass:
    def test_needs_to_be_no_dataclass(self):
        """It is evaluated, swept, printed and written like any other, under its own name."""
        truth, scores = flags(30, 3, 11, 20), np.arange(30) % 7
        result = nf.evaluate(truth, scores, threshold=6, tolerance=1, null=Mine(), n_resamples=99, rng=1)
        assert result.null.text == "Mine"
        assert result.null.settings == {}
        assert "Chance does as I say." in str(result)
        assert result.to_dict()["precision"]["null"] == "Mine"
        assert 0 < result.f_test(n_resamples=99, rng=1).pvalue <= 1
        curve = nf.sweep(truth, scores, thresholds=[5, 6], null=Mine(), n_resamples=99, rng=1)
        assert curve.to_dict()["null"]["text"] == "Mine"
        assert 0 < curve.familywise(n_resamples=99, rng=1).best_f <= 1

    @pytest.mark.parametrize("events", [[[0.5]], None, [["a"]], [[0], [1]], 3, [[-1]], [[9]]])
    def test_what_it_draws_is_checked(self, events):
        """Whole numbers of steps that exist, one row for each resample."""
        own = Mine(events=[] if events is None else events)
        with pytest.raises(nf.InputError, match="draw must "):
            nf.evaluate(flags(9, 3), predictions=flags(9, 4), null=own, n_resamples=1)

    @pytest.mark.parametrize(
        ("function", "message"),
        [
            (lambda _: np.ma.array([0] * 8 + [1], mask=[0] * 8 + [1]), "labels of 0 and 1, got nan"),
            (lambda _: [2] * 9, "null must draw 9 labels of 0 and 1, got 2, 2, 2, 2, 2 and 4 more"),
            (lambda _: [0] * 8, r"null must draw 9 labels of 0 and 1, got shape \(8,\)"),
            (lambda _: None, "what null draws is None"),
            (len, r"null's function failed with TypeError \(object of type"),
        ],
    )
    def test_what_a_function_draws_is_checked(self, function, message):
        """Masked labels are none."""
        with pytest.raises(nf.InputError, match=message):
            nf.evaluate(flags(9, 3), predictions=flags(9, 4), null=function, n_resamples=1)


def test_a_null_that_does_not_fit_is_refused_at_once():
    """Also where chance would be computed only later."""
    with pytest.raises(nf.InputError, match=r"strata has shape \(3,\), but the sequence has 2 steps"):
        nf.sweep([0, 1], [0, 1], null=nf.nulls.Seasonal(strata=[0, 1, 2]))


class TestBernoulli:
    def test_is_the_binomial_of_donges(self):
        """1 - (1 - w/T)^k with the mean width w of the clipped windows."""
        result = nf.evaluate(flags(20, 3, 9), predictions=flags(20, 4, 5, 15), tolerance=1, null="bernoulli")
        missed = 1 - (18 * 3 + 2 * 2) / 20 / 20
        assert result.recall_test.expected == pytest.approx(2 * (1 - missed**3))
        assert result.precision_test.expected == pytest.approx(3 * (1 - missed**2))


class TestDegenerate:
    @pytest.mark.parametrize("model", MODELS, ids=lambda model: model.text)
    @pytest.mark.parametrize("n", [1, 2, 9])
    @pytest.mark.parametrize("events", ["none", "all", "one"])
    @pytest.mark.parametrize("alarms", ["none", "all", "one"])
    def test_every_null_survives(self, model, n, events, alarms):
        """No or all events, no or all alarms, one step: p is in (0, 1], and 1 where chance cannot do otherwise."""
        kinds = {"none": flags(n), "all": np.ones(n, dtype=int), "one": flags(n, n // 2)}
        if n <= {"local-shift": 8, "local-permutation": 2}.get(model.name, 0):
            with pytest.raises(nf.InputError, match=r"but (it|the sequence) has"):
                model.fits(nf.evaluate(kinds[events], predictions=kinds[alarms], null="permutation").cell.truth)
            return
        result = nf.evaluate(kinds[events], predictions=kinds[alarms], tolerance=1, null=model, n_resamples=50, rng=1)
        for test in (result.precision_test, result.recall_test):
            assert 0 < test.pvalue <= 1
        # where every step has an alarm, or none has, all placements find the same (a binomial does not know that)
        if (alarms != "one" or events != "one") and model.name != "bernoulli":
            assert result.recall_test.pvalue == 1
        assert 0 < result.f_test(n_resamples=50, rng=1).pvalue <= 1


class TestSweeps:
    @pytest.mark.parametrize("model", MODELS, ids=lambda model: model.text)
    def test_cells_are_what_evaluate_gives(self, model):
        """Mean and p-value of each cell equal those of single evaluations (simulated ones: nearly)."""
        rng = np.random.default_rng(9)
        truth, z = rng.random(60) < 0.15, rng.random(60)
        curve = nf.sweep(truth, z, thresholds=[0.3, 0.7], tolerances=(0, 2), null=model, n_resamples=2_000, rng=1)
        for (d, delta), (k, cut) in itertools.product(enumerate((0, 2)), enumerate((0.3, 0.7))):
            one = nf.evaluate(truth, z, threshold=cut, tolerance=delta, null=model, n_resamples=2_000, rng=2)
            for side, test in (("precision", one.precision_test), ("recall", one.recall_test)):
                cell = getattr(curve.chance, side)
                slack = 0 if test.method.startswith(("exact", "binomial")) else 1
                assert abs(cell.pvalue[d, k] - test.pvalue) <= slack * 7 * math.sqrt(0.25 / 2_000) + 1e-12
                assert abs(cell.mean[d, k] - test.expected) <= slack * 7 * test.std / math.sqrt(2_000) + 1e-9
        assert curve.chance.model == model.text

    def test_seasonal_sweeps_name_their_seed(self):
        """Precision is simulated once for all cells, recall is exact, and the seed is told."""
        quakes = nf.datasets.simulate_quakes(rng=0)
        scores = nf.detectors.energy_transient(quakes.counts)
        chance = nf.sweep(
            quakes.truth, scores, quantiles=[0.8, 0.9], tolerances=2, null="seasonal:period=365", n_resamples=99, rng=4
        ).chance
        assert (chance.seed, chance.n_resamples) == (4, 99)
        assert chance.methods == ("precision montecarlo", "recall exact (hypergeometric in each phase)")

    @pytest.mark.parametrize("null", ["circular-shift", "segments", "seasonal:period=30"])
    def test_results_do_not_depend_on_the_number_of_workers(self, null, monkeypatch):
        """One evaluation, the cells of a sweep and the familywise test: the seed decides, not the machine."""
        quakes = nf.datasets.simulate_quakes(rng=0)
        scores = nf.detectors.energy_transient(quakes.counts)
        found = []
        for workers in (1, 3):
            monkeypatch.setattr("os.cpu_count", lambda workers=workers: workers)
            one = nf.evaluate(
                quakes.truth, scores, quantile=0.9, tolerance=2, null=null, method="montecarlo", n_resamples=700, rng=3
            )
            curve = nf.sweep(quakes.truth, scores, quantiles=[0.8, 0.9], null=null, n_resamples=700, rng=3)
            family = curve.familywise(n_resamples=700, rng=3)
            found.append(
                (
                    one.precision_test.law.counts.tolist(),
                    curve.chance.precision.pvalue.tolist(),
                    family.precision_adjusted.tolist(),
                    family.best_f,
                )
            )
        assert found[0] == found[1]

    def test_familywise_under_circular_shifts_against_all_rotations(self):
        """The familywise p of the best F1 converges to the share of rotations that reach it."""
        rng = np.random.default_rng(10)
        truth, z = rng.random(80) < 0.15, rng.random(80)
        thresholds = {"thresholds": [0.4, 0.6, 0.8], "tolerances": (0, 2)}
        best = [
            np.nanmax(nf.sweep(np.roll(truth, shift), z, **thresholds, null="circular-shift").f1) for shift in range(80)
        ]
        family = nf.sweep(truth, z, **thresholds, null="circular-shift").familywise(n_resamples=10_000, rng=1)
        exact = np.mean(np.array(best) >= best[0] - 1e-12)
        assert abs(family.best_f - exact) < 5 * math.sqrt(0.25 / 10_000)

    def test_a_generator_makes_familywise_tests_reproducible(self):
        """Two equal generators give equal results, also for the resamples that only standardise."""
        rng = np.random.default_rng(11)
        truth, z = rng.random(80) < 0.15, rng.random(80)
        curve = nf.sweep(truth, z, thresholds=[0.4, 0.8], tolerances=2, null="segments")
        twice = [curve.familywise(n_resamples=200, rng=np.random.default_rng(7)) for _ in range(2)]
        np.testing.assert_array_equal(twice[0].precision_band, twice[1].precision_band)


@pytest.fixture(scope="module")
def nab():
    """The series of the NAB table, by name: events, windows and the two detectors that know nothing."""
    import duckdb

    path = os.path.join(os.environ["NOFLUKE_DATA"], "nab", "nab.parquet")
    columns = duckdb.sql(f"""SELECT series, event, "window", random, "null" AS constant FROM '{path}'""").fetchnumpy()
    series = np.asarray(columns.pop("series"))
    return {
        name: {key: np.asarray(values)[series == name] for key, values in columns.items()} for name in np.unique(series)
    }


@with_data
class TestNab:
    @pytest.mark.slow
    @pytest.mark.parametrize("null", ["permutation", "circular-shift", "segments", "interval-shuffle"])
    def test_the_random_detector_looks_like_chance(self, nab, null):
        """Uniform noise: P(p ≤ a) is at most a, within three standard errors; and mid-p-values are not all large."""
        pooled, middle = [], []
        for data in nab.values():
            label = "event" if null == "permutation" else "window"  # windows are runs, which a permutation tears apart
            if data[label].any():
                for quantile, delta in ((0.99, 0), (0.95, 2)):
                    result = nf.evaluate(
                        data[label],
                        data["random"],
                        quantile=quantile,
                        tolerance=delta,
                        null=null,
                        n_resamples=199,
                        rng=1,
                    )
                    for test in (result.precision_test, result.recall_test):
                        pooled.append(test.pvalue)
                        middle.append(test.pvalue_for("greater", "mid"))
        p = np.array(pooled)
        # both measures of a series, and both thresholds, go together: count a quarter of them as independent
        for level in (0.05, 0.1, 0.25, 0.5):
            assert (p <= level).mean() <= level + 3 * math.sqrt(level * (1 - level) / (len(p) / 4))
        assert 0.3 < np.mean(middle) < 0.7

    @pytest.mark.parametrize(
        "null", ["permutation", "circular-shift", "segments", "blocks:length=100", "seasonal:period=288"]
    )
    @pytest.mark.slow
    def test_the_constant_detector_never_beats_chance(self, nab, null):
        """A constant score predicts every step: p is never small, for any series, and nothing crashes."""
        method = "auto"
        for data in nab.values():
            for label in ("event", "window"):
                result = nf.evaluate(
                    data[label], data["constant"], quantile=0.9, tolerance=2,
                    null=null, method=method, n_resamples=50, rng=1,
                )  # fmt: skip
                assert result.n_predictions == result.n
                assert result.recall_test.pvalue == 1
                assert result.precision_test.pvalue > 0.05
                assert result.verdict == "cannot tell"


class TestAllRotations:
    @pytest.mark.parametrize("n_steps", [250_000, 2**18, 250_007])
    def test_long_series_equal_brute_force_at_some_shifts(self, n_steps):
        """Transforms of round, binary and prime length count the very hits of the rotated labels."""

        def near(flags, windows):
            before = np.concatenate([[0], np.cumsum(flags)])
            return before[windows.stops] > before[windows.starts]

        rng = np.random.default_rng(n_steps)
        truth, alarms = rng.random(n_steps) < 0.002, rng.random(n_steps) < 0.02
        cell = nf.evaluate(truth, predictions=alarms, tolerance=nf.Tolerance(early=3, late=7), null="bernoulli").cell
        recall, precision = shifts.around(cell, n_steps)
        tolerance = nf.Tolerance(early=3, late=7)
        around_alarms = tolerance.event_ranges(n_steps, None)
        near_alarm = near(alarms, tolerance.prediction_ranges(n_steps, None))
        for shift in (0, 1, n_steps - 1, *rng.integers(n_steps, size=5).tolist()):
            moved = np.roll(truth, shift)
            assert recall[shift] == (moved & near_alarm).sum()
            assert precision[shift] == (near(moved, around_alarms) & alarms).sum()

    @pytest.mark.parametrize(
        "null", ["circular-shift", "circular-shift:guard=9", "segments", "seasonal:period=30", "permutation"]
    )
    @pytest.mark.slow
    def test_correcting_for_all_cells_never_lowers_a_p_value(self, null):
        """Adjusted p-values are at least their own, exactly for rotations and within error where they are drawn."""
        quakes = nf.datasets.simulate_quakes(rng=0)
        z = nf.detectors.energy_transient(quakes.counts)
        curve = nf.sweep(
            quakes.truth, z, quantiles=[0.8, 0.9, 0.94], tolerances=(2, 4), null=null, rng=1, n_resamples=2_000
        )
        family = curve.familywise(n_resamples=2_000, rng=2)
        for side in ("precision", "recall"):
            own, adjusted = getattr(curve.chance, side).pvalue, getattr(family, f"{side}_adjusted")
            slack = 0 if null.startswith("circular") else 4 * np.sqrt(own * (1 - own) / 2_000) + 2e-3
            assert (adjusted >= own - slack).all()
            assert adjusted.min() == getattr(family, side)

    def test_familywise_over_rotations_equals_brute_force(self):
        """Maximum statistics of every rotation, cell by cell, by evaluating the rotated labels."""
        rng = np.random.default_rng(4)
        truth, z = rng.random(60) < 0.15, rng.random(60)
        settings = {"quantiles": [0.6, 0.8, 0.9], "tolerances": (0, 2)}
        curve = nf.sweep(truth, z, **settings, null="circular-shift")
        rotated = [nf.sweep(np.roll(truth, s), z, **settings, null="circular-shift") for s in range(60)]
        family = curve.familywise()
        best = {}
        for side in ("precision", "recall"):
            hits = np.array([getattr(r, f"{side}_hits") for r in rotated])
            standard = (hits - hits.mean(axis=0)) / hits.std(axis=0)
            best[side] = standard.max(axis=(1, 2))
            expected = (best[side][:, None, None] >= standard[0] - 1e-9).mean(axis=0)
            np.testing.assert_allclose(getattr(family, f"{side}_adjusted"), expected)
            significant = getattr(curve, f"{side}_hits") > getattr(family, f"{side}_band") + 1e-9
            np.testing.assert_array_equal(significant, expected <= 0.05)
        both = np.maximum(best["precision"], best["recall"])
        assert family.both == pytest.approx((both >= max(best["precision"][0], best["recall"][0]) - 1e-9).mean())
        f = np.array([np.nanmax(r.f1) for r in rotated])
        assert family.best_f == pytest.approx((f >= f[0] - 1e-12).mean())
        assert "60 rotations" in family.in_words()


class TestNotes:
    def test_a_sweep_warns_of_a_shared_season(self):
        """Events and scores that share an hour of the day: the sweep says so, as the evaluation does."""
        rng = np.random.default_rng(0)
        times = np.datetime64("2020-01-01T00") + np.arange(24 * 200)
        busy = 1 + np.cos(2 * np.pi * np.arange(24 * 200) / 24)
        truth, z = rng.random(4800) < 0.04 * busy, busy + 0.3 * rng.random(4800)
        curve = nf.sweep(truth, z, quantiles=[0.5, 0.9], tolerances=2, times=times, null="permutation")
        assert any("hour of day" in note for note in curve.notes)

    def test_nulls_for_comparison_say_so(self):
        """Bernoulli and stationary carry a note in evaluations and in sweeps."""
        quakes = nf.datasets.simulate_quakes(rng=0)
        z = nf.detectors.energy_transient(quakes.counts)
        for null in ("bernoulli", "stationary"):
            assert any(
                "to compare with the literature" in n
                for n in nf.evaluate(quakes.truth, z, quantile=0.9, tolerance=2, null=null).notes
            )
            assert any(
                "to compare with the literature" in n
                for n in nf.sweep(quakes.truth, z, quantiles=[0.9], tolerances=2, null=null).notes
            )

    def test_a_result_names_the_settings_of_its_null(self):
        """Guard and period are part of the name that results print, and of what was counted."""
        quakes = nf.datasets.simulate_quakes(rng=0)
        result = nf.evaluate(quakes.truth, predictions=quakes.counts > 60, tolerance=2, null="circular-shift:guard=50")
        assert result.to_dict()["precision"]["null"] == "circular-shift:guard=50"
        assert result.precision_test.method == "2,459 rotations (approximate)"
        assert "fewer than 50 steps" in str(result)

    def test_where_every_step_is_an_event_no_null_finds_anything(self):
        """Also the stationary one, whose binomial would."""
        result = nf.evaluate(np.ones(20, int), np.arange(20.0), quantile=0.9, tolerance=1, null="stationary")
        assert result.verdict == "cannot tell"
