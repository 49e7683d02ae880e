"""Monte Carlo under the permutation null, against literal counting of the very same placements."""

import threading
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from nofluke.errors import InputError
from nofluke.laws.montecarlo import (
    Hits,
    MaximumTest,
    Problem,
    Standardisation,
    hits_of,
    kernels,
    placements,
    simulate,
)
from nofluke.laws.montecarlo import run as montecarlo_run


def literal_hits(problem, events):
    """The definition, step by step: a prediction is hit by an event whose range holds it, and finds that event."""
    n_tolerances, n_thresholds = problem.shape
    precision = np.zeros(problem.shape, dtype=int)
    recall = np.zeros(problem.shape, dtype=int)
    for d in range(n_tolerances):
        for k in range(n_thresholds):
            predicted = {s for s, level in enumerate(problem.level) if level > k}
            hit = set()
            for t in events:
                near = predicted & set(range(problem.cover_start[d][t], problem.cover_stop[d][t]))
                hit |= near
                recall[d, k] += bool(near)
            precision[d, k] = len(hit)
    return precision, recall


def replayed_hits(problem, n_resamples, rng):
    """Literal hits of every placement that `simulate` counts: (placement, tolerance, threshold), twice."""
    blocks = placements(len(problem.level), problem.n_events, n_resamples=n_resamples, rng=rng)
    pairs = [literal_hits(problem, events) for block in blocks for events in block.tolist()]
    return np.array([p for p, _ in pairs]), np.array([r for _, r in pairs])


def random_problem(rng, n_steps, n_events, n_thresholds, widths, in_time="regular"):
    """Random levels; ranges of steps within a distance on a regular or an irregular clock."""
    level = rng.integers(0, n_thresholds + 1, n_steps) * (rng.random(n_steps) < 0.7)
    gaps = np.ones(n_steps) if in_time == "regular" else rng.exponential(1, n_steps)
    clock = np.cumsum(gaps)
    starts = [np.searchsorted(clock, clock - width, side="left") for width in widths]
    stops = [np.searchsorted(clock, clock + 0.6 * width, side="right") for width in widths]
    return Problem(
        level=level,
        n_thresholds=n_thresholds,
        n_events=n_events,
        cover_start=np.array(starts),
        cover_stop=np.array(stops),
    )


def hits_at(problem, events):
    """Hits of the data: of one placement."""
    found = hits_of(problem, np.array([list(events)], dtype=np.int64))
    return Hits(precision=found.precision[0], recall=found.recall[0])


def zeros(problem):
    return Hits(precision=np.zeros(problem.shape, dtype=int), recall=np.zeros(problem.shape, dtype=int))


@st.composite
def problems(draw):
    """Small problems of every kind: any ranges that are nondecreasing and contain their step."""
    n_steps = draw(st.integers(1, 90))
    n_thresholds = draw(st.integers(1, 4))
    level = draw(st.lists(st.integers(0, n_thresholds), min_size=n_steps, max_size=n_steps))
    starts, stops = [], []
    for _ in range(draw(st.integers(1, 3))):
        reach = draw(st.integers(0, n_steps))
        back = np.array(draw(st.lists(st.integers(0, reach), min_size=n_steps, max_size=n_steps)))
        ahead = np.array(draw(st.lists(st.integers(0, reach), min_size=n_steps, max_size=n_steps)))
        steps = np.arange(n_steps)
        starts.append(np.minimum(np.maximum.accumulate(np.maximum(steps - back, 0)), steps))
        stops.append(np.maximum.accumulate(np.minimum(steps + 1 + ahead, n_steps)))
    return Problem(
        level=np.array(level),
        n_thresholds=n_thresholds,
        n_events=draw(st.integers(0, n_steps)),
        cover_start=np.array(starts),
        cover_stop=np.array(stops),
    )


def run_kernel(problem, seed, n_placements, *, in_order):
    """Hits straight from the kernel, and the placements of the same seed."""
    run = montecarlo_run.Run(problem, 1, zeros(problem), montecarlo_run.Streams(0), "none", (), None)
    hits = [np.empty((n_placements, *problem.shape), dtype=np.int32) for _ in range(2)]
    n_steps, n_events = problem.level.size, problem.n_events
    kernels.draw_hits(np.uint64(seed), np.uint64(0), n_steps, n_events, in_order, *run.tables, *hits)
    events = np.empty((n_placements, n_events), dtype=np.uint32)
    kernels.draw_placements(np.uint64(seed), n_steps, events)
    return *hits, events


class TestPlacements:
    @pytest.mark.parametrize(
        ("n_steps", "n_events"), [(1, 0), (1, 1), (5, 5), (64, 40), (65, 64), (200, 3), (128, 127)]
    )
    def test_events_are_distinct_sorted_and_within_the_steps(self, n_steps, n_events):
        """Whatever the share of events, a placement is a set of steps of the right size."""
        for block in placements(n_steps, n_events, n_resamples=300, rng=3):
            events = block.astype(int)
            assert events.shape[1] == n_events
            assert (np.diff(events, axis=1) > 0).all()
            assert n_events == 0 or (events.min() >= 0 and events.max() < n_steps)

    @pytest.mark.parametrize(("n_steps", "n_events"), [(150, 20), (150, 120), (97, 49)])
    def test_every_step_is_equally_likely(self, n_steps, n_events):
        """Chi-square over the steps; without replacement its scale shrinks by (T - m) / (T - 1)."""
        n = 20_000
        counts = np.zeros(n_steps)
        for block in placements(n_steps, n_events, n_resamples=n, rng=11):
            counts += np.bincount(block.ravel(), minlength=n_steps)
        expected = n * n_events / n_steps
        chi_square = ((counts - expected) ** 2 / expected).sum() * (n_steps - 1) / (n_steps - n_events)
        assert 0.001 < stats.chi2.sf(chi_square, n_steps - 1) < 0.999

    @pytest.mark.parametrize(("n_steps", "n_events"), [(9, 2), (7, 3), (7, 5), (6, 3)])
    def test_every_set_of_steps_is_equally_likely(self, n_steps, n_events):
        """Chi-square over all sets, for few and for many events."""
        index = {events: i for i, events in enumerate(combinations(range(n_steps), n_events))}
        counts = np.zeros(len(index))
        for block in placements(n_steps, n_events, n_resamples=20_000, rng=5):
            for events in block.tolist():
                counts[index[tuple(events)]] += 1
        assert 0.001 < stats.chisquare(counts).pvalue < 0.999

    def test_successive_placements_are_independent(self):
        """Pairs of placements in a row meet in as many steps as chance says, also across chunks."""
        n_steps, n_events = 40, 10
        all_events = np.concatenate(list(placements(n_steps, n_events, n_resamples=20_000, rng=8)))
        rows = np.zeros((len(all_events), n_steps), dtype=bool)
        np.put_along_axis(rows, all_events.astype(int), True, axis=1)
        for lag in (1, 2, montecarlo_run.CHUNK):
            common = (rows[lag:] & rows[:-lag]).sum(axis=1)
            law = stats.hypergeom(n_steps, n_events, n_events)
            assert abs(common.mean() - law.mean()) < 4 * law.std() / np.sqrt(len(common))

    def test_the_random_words_are_splitmix64(self):
        """The words published for seed 1234567."""
        words = [int(kernels.random_word(np.uint64(1234567), np.uint64(i))) for i in (1, 2, 3)]
        assert words == [6457827717110365317, 3203168211198807973, 9817491932198370423]

    @pytest.mark.parametrize(("n_steps", "n_events"), [(100_000_007, 1000), (50, 20), (50, 31)])
    def test_bounded_integers_are_drawn_without_bias(self, n_steps, n_events):
        """The same draws in Python integers, redrawing the surplus of 2**32 over a multiple of T, and taken steps."""
        counter, drawn, redrawn = 0, set(), 0
        while len(drawn) < min(n_events, n_steps - n_events):
            counter += 1
            product = (int(kernels.random_word(np.uint64(99), np.uint64(counter))) >> 32) * n_steps
            if product % 2**32 < 2**32 % n_steps or product >> 32 in drawn:
                redrawn += 1
            else:
                drawn.add(product >> 32)
        placed = np.empty((1, n_events), dtype=np.uint32)
        kernels.draw_placements(np.uint64(99), n_steps, placed)
        expected = drawn if len(drawn) == n_events else set(range(n_steps)) - drawn
        assert placed[0].tolist() == sorted(expected)
        assert redrawn > 0

    def test_a_generator_passed_twice_goes_on(self):
        """The same int repeats a simulation, the same Generator does not."""
        rng = np.random.default_rng(1)
        first, second, again = (next(placements(50, 5, n_resamples=9, rng=r)) for r in (rng, rng, 1))
        assert not np.array_equal(first, second)
        assert np.array_equal(first, again)


class TestHits:
    @settings(max_examples=120)
    @given(problem=problems(), seed=st.integers(0, 2**64 - 1), prefer_order=st.booleans())
    def test_hits_of_every_placement_are_the_literal_ones(self, problem, seed, prefer_order):
        """Any ranges, any number of events: kernel and NumPy counting agree with the definition, one by one."""
        in_order = prefer_order or 2 * problem.n_events > problem.level.size
        precision, recall, placed = run_kernel(problem, seed, 3, in_order=in_order)
        for i, events in enumerate(placed.tolist()):
            expected = literal_hits(problem, events)
            counted = hits_at(problem, events)
            assert np.array_equal(precision[i], expected[0])
            assert np.array_equal(recall[i], expected[1])
            assert np.array_equal(counted.precision, expected[0])
            assert np.array_equal(counted.recall, expected[1])

    @pytest.mark.slow
    @pytest.mark.parametrize("in_time", ["regular", "irregular"])
    @pytest.mark.parametrize("in_order", [False, True])
    @pytest.mark.parametrize("n_thresholds", [3, 40, montecarlo_run.MOST_TABLE_THRESHOLDS + 1])
    def test_windows_over_many_words_of_bits(self, in_time, in_order, n_thresholds):
        """Long windows, which fill whole words, and short ones, which fill few bits of one; with tables and without."""
        problem = random_problem(np.random.default_rng(4), 1500, 9, n_thresholds, [0, 3, 250, 5000], in_time)
        precision, recall, placed = run_kernel(problem, 77, 12, in_order=in_order)
        for i, events in enumerate(placed.tolist()):
            expected = literal_hits(problem, events)
            assert np.array_equal(precision[i], expected[0])
            assert np.array_equal(recall[i], expected[1])

    @pytest.mark.parametrize("n_steps", [63, 64, 65, 128])
    def test_windows_that_cover_everything(self, n_steps):
        """With full words up to the very end, every prediction is a hit and every event is found."""
        problem = Problem(
            level=np.ones(n_steps, dtype=int),
            n_thresholds=1,
            n_events=2,
            cover_start=np.zeros(n_steps, dtype=int),
            cover_stop=np.full(n_steps, n_steps),
        )
        result = simulate(problem, n_resamples=20, observed=zeros(problem), rng=0)
        assert result.precision.total.tolist() == [[20 * n_steps]]
        assert result.recall.total.tolist() == [[40]]


class TestSimulation:
    @pytest.mark.parametrize("histograms", ["all", "none", [(1, 2), (0, 0)]])
    def test_all_counts_follow_from_the_hits_of_the_placements(self, histograms):
        """Tails, sums, squares, histograms and joint counts against the replayed placements, over three chunks."""
        problem = random_problem(np.random.default_rng(1), 60, 7, 4, [1, 4])
        n = 600
        both = dict(zip(("precision", "recall"), replayed_hits(problem, n, rng=9), strict=True))
        observed = Hits(precision=both["precision"][5], recall=both["recall"][5])
        cells = [(1, 2), (0, 3)]
        result = simulate(problem, n_resamples=n, observed=observed, rng=9, histograms=histograms, joint=cells)
        for side, hits in both.items():
            tally = getattr(result, side)
            at_least = (hits >= getattr(observed, side)).sum(axis=0)
            at_most = (hits <= getattr(observed, side)).sum(axis=0)
            assert np.array_equal(tally.at_least, at_least)
            assert np.array_equal(tally.at_most, at_most)
            assert np.array_equal(tally.p_upper, (at_least + 1) / (n + 1))
            assert np.array_equal(tally.total, hits.sum(axis=0))
            assert np.array_equal(tally.total_squares, (hits**2).sum(axis=0))
            np.testing.assert_allclose(tally.mean, hits.mean(axis=0))
            np.testing.assert_allclose(tally.variance, hits.var(axis=0, ddof=1))
            kept = {"all": set(np.ndindex(problem.shape)), "none": set()}
            assert set(tally.histograms) == (kept[histograms] if isinstance(histograms, str) else set(histograms))
            for (d, k), histogram in tally.histograms.items():
                assert np.array_equal(histogram, np.bincount(hits[:, d, k], minlength=len(histogram)))
        for d, k in cells:
            pairs = np.stack([both["recall"][:, d, k], both["precision"][:, d, k]], axis=1)
            expected, counts = np.unique(pairs, axis=0, return_counts=True)
            found = result.joint[d, k]
            assert np.array_equal(np.stack([found.recall_hits, found.precision_hits], axis=1), expected)
            assert np.array_equal(found.counts, counts)

    def test_mean_and_variance_agree_with_enumeration(self):
        """All placements of a tiny problem give the moments; the simulated ones lie within their error."""
        problem = random_problem(np.random.default_rng(2), 12, 4, 3, [1, 2], "irregular")
        every = [literal_hits(problem, events) for events in combinations(range(12), 4)]
        assert len(every) == comb(12, 4)
        n = 50_000
        result = simulate(problem, n_resamples=n, observed=zeros(problem), rng=6)
        for i, tally in enumerate((result.precision, result.recall)):
            hits = np.array([pair[i] for pair in every], dtype=float)
            mean, variance = hits.mean(axis=0), hits.var(axis=0)
            fourth = ((hits - mean) ** 4).mean(axis=0)
            slack = 1e-12
            assert (abs(tally.mean - mean) <= 4.5 * np.sqrt(variance / n) + slack).all()
            assert (abs(tally.variance - variance) <= 4.5 * np.sqrt((fourth - variance**2) / n) + slack).all()

    def test_moments_agree_with_the_closed_forms(self):
        """E[C] = n - sum of the chances that a window stays empty; R is hypergeometric."""
        n_steps, n_events, n = 2557, 162, 20_000
        problem = random_problem(np.random.default_rng(10), n_steps, n_events, 8, [2, 30])
        result = simulate(problem, n_resamples=n, observed=zeros(problem), rng=2)
        for d, (start, stop) in enumerate(zip(problem.cover_start, problem.cover_stop, strict=True)):
            steps = np.arange(n_steps)
            seen_from = np.searchsorted(stop, steps, side="right")  # the events whose range holds the step
            seen_to = np.searchsorted(start, steps, side="right")
            empty = stats.hypergeom(n_steps, n_events, seen_to - seen_from).pmf(0)
            for k in range(8):
                predicted = problem.level > k
                before = np.concatenate([[0], np.cumsum(predicted)])
                share = (before[stop] > before[start]).mean()
                variance = n_events * share * (1 - share) * (n_steps - n_events) / (n_steps - 1)
                c_error = np.sqrt(result.precision.variance[d, k] / n)
                assert abs(result.precision.mean[d, k] - (1 - empty)[predicted].sum()) <= 4.5 * c_error
                assert abs(result.recall.mean[d, k] - n_events * share) <= 4.5 * np.sqrt(variance / n)
                assert result.recall.variance[d, k] == pytest.approx(variance, rel=0.06)

    @pytest.mark.parametrize("workers", [2, 3, 7])
    def test_the_result_does_not_depend_on_workers_or_progress(self, workers):
        """Chunks own the random streams, and sums of integers have no order."""
        problem = random_problem(np.random.default_rng(3), 80, 9, 5, [2])
        kwargs = {
            "n_resamples": 1500,
            "observed": hits_at(problem, range(9)),
            "rng": np.random.SeedSequence(4),
            "joint": [(0, 1)],
            "standardisation": Standardisation(
                precision_mean=np.full((1, 5), 3.0),
                precision_std=np.ones((1, 5)),
                recall_mean=np.full((1, 5), 3.0),
                recall_std=np.ones((1, 5)),
            ),
        }
        alone = simulate(problem, **kwargs)
        calls = []
        together = simulate(problem, workers=workers, progress=calls.append, **kwargs)
        assert calls == sorted(set(calls))
        assert calls[-1] == 1500
        for side in ("precision", "recall"):
            for name in ("at_least", "at_most", "total", "total_squares"):
                assert np.array_equal(getattr(getattr(alone, side), name), getattr(getattr(together, side), name))
            one, other = getattr(alone, side).histograms, getattr(together, side).histograms
            assert all(np.array_equal(one[cell], other[cell]) for cell in one | other)
            assert np.array_equal(getattr(alone.family_wise, side).maxima, getattr(together.family_wise, side).maxima)
            assert np.array_equal(
                getattr(alone.family_wise, side).at_least, getattr(together.family_wise, side).at_least
            )
        assert np.array_equal(alone.joint[0, 1].counts, together.joint[0, 1].counts)

    def test_blocks_and_drained_sums_change_nothing(self, monkeypatch):
        """However few hits are held at a time, and however often the sums are emptied, the counts stay."""
        problem = random_problem(np.random.default_rng(5), 70, 11, 3, [1, 3])
        kwargs = {"n_resamples": 700, "observed": hits_at(problem, range(11)), "rng": 2}
        before = simulate(problem, **kwargs)
        monkeypatch.setattr(montecarlo_run, "BLOCK_HITS", 31)
        monkeypatch.setattr(montecarlo_run, "MOST_SQUARES", 0)
        drained = []
        original = montecarlo_run.Counts.drain
        monkeypatch.setattr(
            montecarlo_run.Counts, "drain", lambda self: (drained.append(self.undrained), original(self))
        )
        after = simulate(problem, **kwargs)
        assert np.array_equal(before.precision.total_squares, after.precision.total_squares)
        assert np.array_equal(before.recall.at_least, after.recall.at_least)
        assert drained == [256, 256, 188, 0]

    @pytest.mark.parametrize(("n_steps", "rows"), [(2**13, 256), (2**13 + 1, 255), (200_000, 10), (2**22, 1)])
    def test_rows_drawn_at_a_time_are_bounded_by_steps(self, n_steps, rows):
        """A row may need as much as its steps: long sequences draw few at a time, whatever the cells and workers."""
        asked = []

        def draw(generator, size):
            asked.append(size)
            return generator.integers(n_steps, size=(size, 1))

        step = np.arange(n_steps)
        problem = Problem(
            level=np.minimum(step, 3), n_thresholds=3, n_events=1, cover_start=step[None], cover_stop=step[None] + 1
        )
        simulate(problem, n_resamples=300, observed=hits_at(problem, [5]), rng=1, draw=draw)
        assert max(asked) == rows
        assert sum(asked) == 300

    @pytest.mark.parametrize("drawn_steps", [1, 500, 2**21])
    def test_drawn_placements_do_not_depend_on_workers_or_on_what_is_counted(self, monkeypatch, drawn_steps):
        """One cell alone and among many, by one worker and by three: the same draws and the same counts."""
        monkeypatch.setattr(montecarlo_run, "DRAWN_STEPS", drawn_steps)
        problem = random_problem(np.random.default_rng(7), 90, 12, 6, [1, 5])

        def draw(generator, size):
            rows = np.array([generator.permutation(80)[:12] for _ in range(size)])
            return rows + generator.integers(10, size=(size, 1))  # drawn after all rows: how many there are matters

        def found(**how):
            result = simulate(problem, n_resamples=600, observed=hits_at(problem, range(12)), rng=3, draw=draw, **how)
            return result.precision.total_squares.tolist(), result.recall.at_least.tolist()

        alone = found()
        assert found(workers=3) == alone
        monkeypatch.setattr(montecarlo_run, "BLOCK_HITS", 31)  # as if there were very many cells
        assert found(workers=2) == alone

    def test_the_placements_do_not_depend_on_thresholds_or_tolerances(self):
        """One threshold out of many, simulated alone with the same seed, gives the same counts."""
        problem = random_problem(np.random.default_rng(7), 90, 12, 6, [1, 5])
        alone = Problem(
            level=(problem.level > 4).astype(int),
            n_thresholds=1,
            n_events=12,
            cover_start=problem.cover_start[1],
            cover_stop=problem.cover_stop[1],
        )
        whole = simulate(problem, n_resamples=400, observed=zeros(problem), rng=1)
        single = simulate(alone, n_resamples=400, observed=zeros(alone), rng=1)
        assert whole.precision.histograms[1, 4].tolist() == single.precision.histograms[0, 0].tolist()
        assert whole.recall.histograms[1, 4].tolist() == single.recall.histograms[0, 0].tolist()

    def test_p_is_never_zero(self):
        """Even hits that no placement reaches have p = 1 / (n + 1)."""
        problem = random_problem(np.random.default_rng(8), 40, 3, 2, [1])
        observed = Hits(precision=np.full((1, 2), 40), recall=np.full((1, 2), 3))
        result = simulate(problem, n_resamples=99, observed=observed, rng=1)
        assert (result.precision.at_least == 0).all()
        assert (result.precision.p_upper == 0.01).all()

    @pytest.mark.parametrize(
        ("level", "n_events", "precision", "recall"),
        [
            ([0], 0, 0, 0),
            ([0], 1, 0, 0),
            ([1], 0, 0, 0),
            ([1], 1, 1, 1),
            ([0, 0, 0], 2, 0, 0),
            ([0, 1, 0], 0, 0, 0),
            ([0, 1, 1], 3, 2, 2),
        ],
    )
    def test_degenerate_cases_are_certain(self, level, n_events, precision, recall):
        """No events, only events, no predictions, one step: hits without variance and p-values of 1."""
        steps = np.arange(len(level))
        problem = Problem(level=level, n_thresholds=1, n_events=n_events, cover_start=steps, cover_stop=steps + 1)
        observed = hits_at(problem, steps[:n_events])
        zero, one = np.zeros((1, 1)), np.array([[float(precision)]])
        moments = Standardisation(precision_mean=one, precision_std=zero, recall_mean=one, recall_std=zero)
        result = simulate(problem, n_resamples=10, observed=observed, rng=1, standardisation=moments, joint=[(0, 0)])
        assert result.precision.mean.tolist() == [[precision]]
        assert result.recall.mean.tolist() == [[recall]]
        assert result.precision.variance.tolist() == [[0]]
        assert result.precision.p_upper.tolist() == [[1]]
        assert result.joint[0, 0].counts.tolist() == [10]
        assert result.family_wise.both.p_values.tolist() == [[[1]], [[1]]]
        assert result.family_wise.precision.critical_value(0.5) == float("inf")

    def test_one_placement_has_no_variance(self):
        """The unbiased variance of a single value is undefined, not 0."""
        problem = Problem(level=[1, 0], n_thresholds=1, n_events=1, cover_start=[0, 1], cover_stop=[1, 2])
        assert np.isnan(simulate(problem, n_resamples=1, observed=zeros(problem), rng=1).recall.variance).all()

    @pytest.mark.parametrize("workers", [1, 2])
    def test_an_error_in_progress_ends_the_run(self, workers):
        """What the callback raises comes out, and the other workers stop."""
        problem = random_problem(np.random.default_rng(3), 80, 9, 5, [2])
        running = threading.active_count()

        def interrupt(finished):
            if not threading.current_thread().name.endswith("_0"):  # the first thread of a pool works on
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            simulate(problem, n_resamples=10**9, observed=zeros(problem), rng=1, workers=workers, progress=interrupt)
        assert threading.active_count() == running


class TestMaxima:
    @pytest.mark.parametrize("beta", [1.0, 0.5])
    def test_maximum_tests_against_brute_force(self, beta):
        """Maxima over cells of every replayed placement, compared with the statistic of every cell."""
        problem = random_problem(np.random.default_rng(12), 50, 6, 4, [1, 3])
        n = 520
        c, r = replayed_hits(problem, n, rng=3)
        observed = Hits(precision=c[7], recall=r[7])
        moments = {"precision": (c.mean(axis=0), c.std(axis=0)), "recall": (r.mean(axis=0), r.std(axis=0))}
        moments["precision"][1][0, 1] = 0  # left out
        result = simulate(
            problem,
            n_resamples=n,
            observed=observed,
            rng=3,
            standardisation=Standardisation(
                precision_mean=moments["precision"][0],
                precision_std=moments["precision"][1],
                recall_mean=moments["recall"][0],
                recall_std=moments["recall"][1],
                beta=beta,
            ),
        ).family_wise

        def score(side, hits):
            mean, std = moments[side]
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.where(std > 0, (hits - mean) / std, np.nan)

        def f_beta(c, r):
            p, q = c / np.maximum(problem.n_predictions, 1), r / problem.n_events
            with np.errstate(invalid="ignore"):
                return np.nan_to_num((1 + beta**2) * p * q / (beta**2 * p + q))

        statistics = {
            "precision": (score("precision", c), score("precision", c[7])),
            "recall": (score("recall", r), score("recall", r[7])),
            "both": (
                np.stack([score("precision", c), score("recall", r)], axis=1),
                np.stack([score("precision", c[7]), score("recall", r[7])]),
            ),
            "f_beta": (f_beta(c, r), f_beta(c[7], r[7])),
        }
        for name, (simulated, seen) in statistics.items():
            test = getattr(result, name)
            maxima = np.nanmax(simulated.reshape(n, -1), axis=1)
            np.testing.assert_allclose(test.maxima, maxima)
            np.testing.assert_allclose(test.observed, seen)
            for cell in np.ndindex(seen.shape):
                expected = n if np.isnan(seen[cell]) else (maxima >= seen[cell] - 1e-10).sum()
                assert test.at_least[cell] == expected, (name, cell)
            assert test.p_best == ((maxima >= np.nanmax(seen) - 1e-10).sum() + 1) / (n + 1)

    @given(
        maxima=st.lists(st.integers(-5, 5), min_size=1, max_size=60),
        alpha=st.floats(0.001, 0.999),
        value=st.integers(-6, 6),
    )
    def test_exceeding_the_critical_value_is_a_small_p(self, maxima, alpha, value):
        """A statistic exceeds the critical value exactly if its adjusted p-value is at most alpha."""
        n = len(maxima)
        test = MaximumTest(
            n_resamples=n, observed=np.zeros(1), at_least=np.zeros(1, int), maxima=np.array(maxima, dtype=float)
        )
        p = (sum(m >= value for m in maxima) + 1) / (n + 1)
        assert (value > test.critical_value(alpha)) == (p <= alpha)

    def test_equal_f_in_different_cells_counts_as_a_tie(self):
        """F equal in exact arithmetic ties, although floating point may differ in the last digit."""
        level = np.repeat([0, 1, 2, 3], [40, 20, 20, 10])
        steps = np.arange(90)
        problem = Problem(level=level, n_thresholds=3, n_events=7, cover_start=steps, cover_stop=steps + 1)
        ones = np.ones(problem.shape)
        c, r = replayed_hits(problem, 300, rng=1)

        def best_f(hits):
            sizes = problem.n_predictions.tolist()
            return max(Fraction(2 * c, 7 + n) for c, n in zip(hits[0].tolist(), sizes, strict=True))

        best = sum(best_f(hits) >= best_f(c[0]) for hits in c)
        result = simulate(
            problem,
            n_resamples=300,
            observed=Hits(precision=c[0], recall=r[0]),
            rng=1,
            standardisation=Standardisation(precision_mean=ones, precision_std=ones, recall_mean=ones, recall_std=ones),
        )
        assert result.family_wise.f_beta.at_least.min() == best


GOOD = {"level": [0, 1, 2], "n_thresholds": 2, "n_events": 1, "cover_start": [0, 0, 1], "cover_stop": [2, 3, 3]}


class TestErrors:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"level": [0, 1, 3]}, r"level must lie in 0\.\.2"),
            ({"level": [0.0, 1.0, 2.0]}, "level must be integers, got float64"),
            ({"level": []}, "level must be one row"),
            ({"n_events": 4}, r"n_events must be a whole number in 0\.\.3"),
            ({"n_events": 1.5}, "got 1.5"),
            ({"n_thresholds": 0}, "n_thresholds must be a whole number"),
            ({"cover_start": [0, 0]}, "must both have shape"),
            ({"cover_start": [0, 0, 4]}, r"cover_start\[0, 2\] is 4: the range must lie within 0\.\.3"),
            ({"cover_start": [0, 3, 3], "cover_stop": [2, 2, 3]}, r"cover_stop\[0, 1\] is 2"),
            ({"cover_stop": [3, 2, 3]}, "cover_stop must be nondecreasing"),
        ],
    )
    def test_bad_problems_name_argument_and_value(self, change, message):
        """Each field is checked before anything is computed."""
        with pytest.raises(InputError, match=message):
            Problem(**{**GOOD, **change})

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"n_resamples": 0}, "n_resamples must be a whole number"),
            ({"n_resamples": 1e4}, "got 10000.0"),
            ({"workers": 0}, "workers must be a whole number"),
            ({"histograms": "some"}, "histograms must be"),
            ({"joint": [(0, 2)]}, r"joint has cell \(0, 2\)"),
            ({"observed": Hits(precision=np.zeros((1, 3), int), recall=np.zeros((1, 2), int))}, "precision must have"),
            ({"observed": Hits(precision=np.zeros((1, 2), int), recall=np.full((1, 2), -1))}, "recall must lie"),
            (
                {
                    "standardisation": Standardisation(
                        precision_mean=np.zeros(2), precision_std=0, recall_mean=0, recall_std=0
                    )
                },
                "precision_mean must be finite",
            ),
        ],
    )
    def test_bad_arguments_of_simulate(self, change, message):
        """Each argument is checked before anything is drawn."""
        problem = Problem(**GOOD)
        with pytest.raises(InputError, match=message):
            simulate(problem, **{"n_resamples": 5, "observed": zeros(problem), **change})
