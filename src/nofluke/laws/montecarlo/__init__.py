"""Monte Carlo under the permutation null: the hits of events placed at random, for all thresholds at once.

For what has no exact null (the maximum over thresholds and tolerances, F_beta, other people's metrics), and as a
check on what has one. Steps are the open ones, 0..T-1: masks are taken out and clocks and tolerances are turned
into index ranges before this module is called.

The section "Monte Carlo" of docs/explanation/theory.md has the mathematics.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nofluke.errors import InputError
from nofluke.laws.montecarlo.problem import MOST_DRAWN_STEPS, At, Hits, Problem, positive
from nofluke.laws.montecarlo.results import FamilyWise, JointCounts, MaximumTest, Simulation, Tally, p_value
from nofluke.laws.montecarlo.run import (
    CHUNK,
    Counts,
    Draw,
    Run,
    Standardisation,
    Streams,
    Uniform,
    collect,
    rows_at_a_time,
)

__all__ = [
    "Draw",
    "FamilyWise",
    "Hits",
    "JointCounts",
    "MaximumTest",
    "Problem",
    "Simulation",
    "Standardisation",
    "Streams",
    "Tally",
    "Uniform",
    "drawn",
    "drawn_chunk",
    "hits_of",
    "p_value",
    "placements",
    "simulate",
]


def drawn(draw: Draw, n_steps: int, *, n_resamples: int, rng: Any = None) -> Iterator[NDArray[Any]]:
    """The rows that :func:`simulate` counts for the same `draw` and `rng`, in blocks: for your own statistics.

    Examples
    --------
    >>> [block.shape for block in drawn(Uniform(10, 3), 10, n_resamples=300, rng=1)]
    [(256, 3), (44, 3)]
    """
    streams = Streams(rng)
    for first in range(0, positive("n_resamples", n_resamples), CHUNK):
        yield from drawn_chunk(draw, n_steps, streams, first // CHUNK, min(CHUNK, n_resamples - first))


def drawn_chunk(draw: Draw, n_steps: int, streams: Streams, chunk: int, size: int) -> Iterator[NDArray[Any]]:
    """The rows of one chunk, in blocks that fit into memory."""
    if isinstance(draw, Uniform):
        yield from draw.blocks(streams.seed(chunk), size)
        return
    generator, rows = streams.generator(chunk), rows_at_a_time(n_steps)
    for start in range(0, size, rows):
        yield draw(generator, min(rows, size - start))


def placements(n_steps: int, n_events: int, *, n_resamples: int, rng: Any = None) -> Iterator[NDArray[Any]]:
    """Uniform placements in blocks (placement, sorted events), those that :func:`simulate` counts for the same `rng`.

    Examples
    --------
    >>> [block.shape for block in placements(10, 3, n_resamples=300, rng=1)]
    [(256, 3), (44, 3)]
    """
    if not 0 <= n_events <= n_steps or not 1 <= n_steps <= MOST_DRAWN_STEPS:
        raise InputError(
            argument="n_events", problem=f"must lie in 0..n_steps, got {n_events} events and {n_steps} steps"
        )
    return drawn(Uniform(n_steps, n_events), n_steps, n_resamples=n_resamples, rng=rng)


def hits_of(problem: Problem, placements: NDArray[Any]) -> Hits:
    """Both hits of each of many placements, in every cell: arrays of shape (placement, tolerance, threshold).

    Examples
    --------
    >>> problem = Problem(level=[0, 1, 0, 0], n_thresholds=1, n_events=1,
    ...                   cover_start=[0, 1, 2, 3], cover_stop=[1, 2, 3, 4])
    >>> hits_of(problem, np.array([[0], [1], [2]])).recall.ravel()
    array([0, 1, 0])
    """
    nothing = np.zeros(problem.shape, dtype=np.int64)
    run = Run(problem, len(placements), Hits(precision=nothing, recall=nothing), Streams(0), "none", (), None)
    return run.hits(run.checked(placements, len(placements)))


def simulate(
    problem: Problem,
    *,
    n_resamples: int,
    observed: Hits,
    rng: Any = None,
    workers: int = 1,
    progress: Callable[[int], object] | None = None,
    histograms: Literal["auto", "all", "none"] | Sequence[At] = "auto",
    joint: Sequence[At] = (),
    standardisation: Standardisation | None = None,
    draw: Draw | None = None,
) -> Simulation:
    """Place the events at random, `n_resamples` times, and compare the hits with the observed ones.

    Per placement and (tolerance, threshold) cell: precision hits ``C = #{covered s: level[s] > k}`` and recall
    hits ``R = #{events t: max(level[cover(t)]) > k}``. P-values are ``(b + 1) / (n + 1)``. Work per placement
    grows with the events, the steps they cover and the number of cells; memory does not grow with `n_resamples`
    (but for the maxima of the first million placements).

    Parameters
    ----------
    observed : Hits
        Hits of the data.
    rng : int, SeedSequence, Generator or None
        Whatever ``np.random.default_rng`` takes. The result depends on it, never on `workers`.
    workers : int
        Threads; the compiled loops run side by side.
    progress : callable, optional
        Called with the number of placements finished so far, one call at a time, from the working threads.
    histograms : "auto", "all", "none" or cells
        Which (tolerance, threshold) cells keep the full histograms of both hits. "auto": all, if they are small.
    joint : cells
        Which cells keep the joint histogram of both hits.
    standardisation : Standardisation, optional
        Asks for the maximum tests. Cells with a standard deviation of 0 are left out. F_beta is
        ``(1+β²) C R / (β² C m + R n_k)``, and 0 without hits. Statistics equal but for rounding count as ties.
    draw : callable, optional
        How chance places the events, if not uniformly: ``draw(generator, size)`` returns ``size`` rows of `n_events`
        steps.

    References
    ----------
    Phipson and Smyth, "Permutation P-values should never be zero", Stat. Appl. Genet. Mol. Biol. 9 (2010).
    Westfall and Young, "Resampling-based multiple testing", Wiley (1993).

    Examples
    --------
    One event on four steps, a prediction on the second, no tolerance: found once in four.

    >>> problem = Problem(level=[0, 1, 0, 0], n_thresholds=1, n_events=1,
    ...                   cover_start=[0, 1, 2, 3], cover_stop=[1, 2, 3, 4])
    >>> observed = Hits(precision=np.array([[1]]), recall=np.array([[1]]))
    >>> result = simulate(problem, n_resamples=100_000, observed=observed, rng=1)
    >>> result.recall.p_upper.round(2)
    array([[0.25]])
    """
    n_resamples = positive("n_resamples", n_resamples)
    workers = positive("workers", workers)
    run = Run(problem, n_resamples, observed, Streams(rng), histograms, joint, standardisation, draw)
    chunks = iter(range(-(-n_resamples // CHUNK)))
    lock, stop = threading.Lock(), threading.Event()
    finished = 0

    def work() -> Counts:
        nonlocal finished
        counts = Counts(run)
        try:
            while not stop.is_set():
                with lock:
                    chunk = next(chunks, None)
                if chunk is None:
                    break
                size = counts.add_chunk(chunk)
                with lock:
                    finished += size
                    if progress is not None:
                        progress(finished)
        except BaseException:
            stop.set()
            raise
        return counts

    if workers == 1:
        return collect(run, [work()])
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(work) for _ in range(workers)]
        try:
            parts = [future.result() for future in futures]
        finally:
            stop.set()  # an interrupt here must not wait for the remaining chunks
    return collect(run, parts)
