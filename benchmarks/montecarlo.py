"""How much faster the permutation Monte Carlo is than two usual ways, measured in one run on one core.

Run it as ``python benchmarks/montecarlo.py``. The data are simulated in the shape of the paper's example: 2,557 daily
counts (Poisson), 162 events with a surge of counts after them, energy transient score 3/14, 50 thresholds, tolerance 2.
All three ways count both hits at all thresholds; their counts are compared before they are timed.

(a) The loops of the authors' notebook, written anew from the paper's two equations: for every permutation and every
    threshold, over all steps and over the window of each. Compiled, as theirs.
(b) ``scipy.stats.permutation_test`` with a vectorised statistic (both hits, all thresholds, by cumulative sums).

(a) and (b) run fewer permutations and are scaled up to 10,000; their cost per permutation is constant.
"""

import time

import numba
import numpy as np
from scipy import stats
from timing import seconds

from nofluke.laws.montecarlo import Hits, Problem, hits_of, placements, simulate

N_STEPS, N_EVENTS, N_THRESHOLDS, DELTA = 2557, 162, 50, 2
N_RESAMPLES, N_LOOPS, N_SCIPY = 10_000, 200, 500


def simulated_data():
    """Event flags and energy transient scores: short-term over long-term average plus one."""
    rng = np.random.default_rng(20100101)
    event = np.zeros(N_STEPS, dtype=bool)
    event[rng.choice(N_STEPS, N_EVENTS, replace=False)] = True
    surge = np.convolve(event, [2.0, 1.0, 0.5])[:N_STEPS]
    counts = rng.poisson(20 * (1 + surge)).astype(float)
    sums = np.concatenate([[0.0], np.cumsum(counts)])
    stop = np.arange(1, N_STEPS + 1)
    short, long = ((sums[stop] - sums[np.maximum(stop - w, 0)]) / np.minimum(stop, w) for w in (3, 14))
    return event, short / (long + 1)


@numba.njit
def notebook_loops(events, scores, thresholds, delta, precision_hits, recall_hits):
    """The numerators of the paper's P_delta and R_delta, literally."""
    n_steps = scores.size
    for i in range(events.shape[0]):
        for k in range(thresholds.size):
            for t in range(n_steps):
                near_event = False
                near_prediction = False
                for u in range(max(t - delta, 0), min(t + delta + 1, n_steps)):
                    if events[i, u]:
                        near_event = True
                    if scores[u] >= thresholds[k]:
                        near_prediction = True
                if near_event and scores[t] >= thresholds[k]:
                    precision_hits[i, k] += 1
                if events[i, t] and near_prediction:
                    recall_hits[i, k] += 1


def vectorised_statistic(predicted, near_prediction):
    """Both hits at all thresholds of a stack of event rows, by matrix products."""

    def statistic(events, axis):
        rows = np.moveaxis(events, axis, -1).astype(np.float32)
        padded = np.concatenate([np.zeros((*rows.shape[:-1], 1)), np.cumsum(rows, axis=-1)], axis=-1)
        steps = np.arange(N_STEPS)
        stops, starts = np.minimum(steps + DELTA + 1, N_STEPS), np.maximum(steps - DELTA, 0)
        near_event = (padded[..., stops] > padded[..., starts]).astype(np.float32)
        return np.concatenate([near_event @ predicted.T, rows @ near_prediction.T], axis=-1)

    return statistic


def main():
    event, scores = simulated_data()
    thresholds = np.quantile(scores, np.linspace(0.5, 0.99, N_THRESHOLDS))
    steps = np.arange(N_STEPS)
    starts, stops = np.maximum(steps - DELTA, 0), np.minimum(steps + DELTA + 1, N_STEPS)
    problem = Problem(
        level=np.searchsorted(thresholds, scores, side="right"),
        n_thresholds=N_THRESHOLDS,
        n_events=N_EVENTS,
        cover_start=starts,
        cover_stop=stops,
    )
    own = hits_of(problem, np.flatnonzero(event)[np.newaxis])
    observed = Hits(precision=own.precision[0], recall=own.recall[0])

    def ours(n_resamples=N_RESAMPLES):
        return simulate(problem, n_resamples=n_resamples, observed=observed, rng=1)

    start = time.perf_counter()
    ours(1)
    compiling = time.perf_counter() - start

    placed = np.concatenate(list(placements(N_STEPS, N_EVENTS, n_resamples=N_LOOPS, rng=1)))
    rows = np.zeros((N_LOOPS, N_STEPS), dtype=bool)
    np.put_along_axis(rows, placed.astype(int), True, axis=1)
    loops = np.zeros((2, N_LOOPS, N_THRESHOLDS), dtype=np.int64)
    notebook_loops(rows, scores, thresholds, DELTA, *loops)

    predicted = scores >= thresholds[:, None]
    near_prediction = np.stack([[row[a:b].any() for a, b in zip(starts, stops, strict=True)] for row in predicted])
    statistic = vectorised_statistic(predicted.astype(np.float32), near_prediction.astype(np.float32))

    mine = ours(N_LOOPS)
    totals = np.concatenate([mine.precision.total[0], mine.recall.total[0]])
    if not (
        np.array_equal(loops.sum(axis=1).ravel(), totals) and np.array_equal(statistic(rows, -1).sum(axis=0), totals)
    ):
        raise SystemExit("The three ways disagree on the same placements: the times below would mean nothing.")

    def scipy_way():
        stats.permutation_test(
            (event,), statistic, permutation_type="pairings", vectorized=True,
            n_resamples=N_SCIPY, batch=100, rng=np.random.default_rng(1), axis=-1,
        )  # fmt: skip

    fast = seconds(ours, 7)
    notebook = seconds(lambda: notebook_loops(rows, scores, thresholds, DELTA, *loops), 3) * N_RESAMPLES / N_LOOPS
    scipys = seconds(scipy_way, 3) * N_RESAMPLES / N_SCIPY
    print(
        f"{N_RESAMPLES:,} permutations x {N_THRESHOLDS} thresholds, both hits, T={N_STEPS}, m={N_EVENTS}, delta={DELTA}"
    )
    print(
        f"nofluke.laws.montecarlo, one core            {1e3 * fast:9.1f} ms   (first call {compiling:.1f} s, compiled or cached)"
    )
    print(
        f"(a) notebook loops, compiled            {1e3 * notebook:9.0f} ms   {notebook / fast:7.0f} x  (from {N_LOOPS})"
    )
    print(f"(b) scipy.stats.permutation_test        {1e3 * scipys:9.0f} ms   {scipys / fast:7.0f} x  (from {N_SCIPY})")


if __name__ == "__main__":
    main()
