"""Evidence about the data that decides which null to trust: runs, clusters and memory; `seasons` has the spectra.

Small tests, in closed form or by some hundred placements, without anything to compile: a few milliseconds for 100,000
steps, so that every evaluation can afford them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from nofluke.arrays import FloatArray, IntArray, inner, product
from nofluke.laws.exact.hypergeometric import hypergeometric_pmf
from nofluke.laws.montecarlo import Draw
from nofluke.levels import RUN, RUN_LENGTH
from nofluke.series.truth import Truth

PAIRS_AT_ONCE = 1_000_000  # events times scales looked at together
RESAMPLES = 199
FEWEST = 49  # resamples where there are very many events
SEED = 2020
CHUNK = 2_000_000  # events drawn at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A statistic, and how often it is that large (or larger) where there is nothing to find."""

    statistic: float
    pvalue: float


def adjacency(steps: IntArray, n_steps: int) -> Evidence:
    """Ascending steps in runs: the mean length of a run, against random steps. Exact.

    Of m flags on T random steps, those that directly follow another one are as many as there are marked balls among m
    drawn from T with m - 1 marked: P(r runs) = C(m - 1, r - 1) C(T - m + 1, r)/C(T, m).

    >>> adjacency(np.array([1, 2, 3]), 10)  # 8 of the 120 placements are one run
    Evidence(statistic=3.0, pvalue=0.0666...)
    """
    m = len(steps)
    if m < 2:
        return Evidence(statistic=float(m), pvalue=1.0)
    following = int(np.count_nonzero(np.diff(steps) == 1))
    if following == 0:  # as few as there can be
        return Evidence(statistic=1.0, pvalue=1.0)
    pmf = hypergeometric_pmf(n_steps, m - 1, m)
    return Evidence(statistic=m / (m - following), pvalue=min(float(pmf[following:].sum()), 1.0))


def in_runs(runs: Evidence, level: float = RUN) -> bool:
    """Whether flags come as ranges, from their :func:`adjacency`."""
    return runs.statistic >= RUN_LENGTH and runs.pvalue <= level


def evenness(steps: IntArray, n_steps: int) -> Evidence:
    """Ascending steps that keep a distance: the smallest gap between two of them, against random steps. Exact.

    Of C(T, m) placements, C(T - (m - 1)(g - 1), m) have no two events closer than g steps.

    >>> evenness(np.array([1, 5, 9]), 12)  # 20 of the 220 placements keep them four steps apart
    Evidence(statistic=4.0, pvalue=0.0909...)
    """
    m = len(steps)
    if m < 2:
        return Evidence(statistic=float(n_steps), pvalue=1.0)
    least = int(np.diff(steps).min())
    # C(T - d, m)/C(T, m) is the product of 1 - d/(T - i)
    shrink = (m - 1) * (least - 1) / (n_steps - np.arange(m))
    return Evidence(statistic=float(least), pvalue=float(np.exp(np.log1p(-np.minimum(shrink, 1 - 1e-16)).sum())))


def cluster_scales(n_steps: int) -> IntArray:
    """Lengths of blocks to look for clusters at: 2, 4, 8, ... up to an eighth of the sequence."""
    return np.asarray(2 ** np.arange(1, max(int(math.log2(max(n_steps, 1))) - 2, 1)), dtype=np.int64)


def pairs_in_blocks(events: IntArray, width: int | IntArray) -> Any:
    """How many pairs of events share a block of ``width`` steps: Σ n(n - 1)/2 over the blocks. Events ascend.

    >>> pairs_in_blocks(np.array([0, 1, 3, 6]), 4), pairs_in_blocks(np.array([0, 1, 3, 6]), np.array([2, 4]))
    (3, array([1, 3]))
    """
    widths = np.atleast_1d(width)
    if len(events) * len(widths) > PAIRS_AT_ONCE and len(widths) > 1:
        return np.array([pairs_in_blocks(events, int(one)) for one in widths])
    block = events // widths[:, None]
    at = np.arange(len(events))
    first = np.zeros(block.shape, dtype=np.int64)  # of each event, the first event of its block
    np.multiply(block[:, 1:] != block[:, :-1], at[1:], out=first[:, 1:])
    pairs = (at - np.maximum.accumulate(first, axis=1)).sum(axis=1)
    return int(pairs[0]) if np.ndim(width) == 0 else pairs


@lru_cache(maxsize=1024)
def pair_moments(n_steps: int, n_events: int, width: int) -> tuple[float, float]:
    """Mean and variance of :func:`pairs_in_blocks` for events on random steps. Exact.

    With falling factorials x₍ₖ₎, block sizes w and p_k = Σ w₍ₖ₎/T₍ₖ₎, the mean is m₍₂₎p₂/2, and the mean of the square
    adds pairs with both, one and no event in common: m₍₂₎p₂/2 + m₍₃₎p₃ + m₍₄₎p₂₂/4.
    """
    full, rest = divmod(n_steps, width)

    def falling(x: int) -> tuple[float, float, float]:
        """x₍₂₎, x₍₃₎ and x₍₄₎: whole numbers below k have a factor of 0."""
        two = float(x * (x - 1))
        three = two * (x - 2)
        return two, three, three * (x - 3)

    (whole, part), (steps, events) = map(falling, (width, rest)), map(falling, (n_steps, n_events))
    total, three, four = (full * one + other for one, other in zip(whole, part, strict=True))
    p2, p3 = total / max(steps[0], 1.0), three / max(steps[1], 1.0)
    apart = total**2 - (full * whole[0] ** 2 + part[0] ** 2)  # pairs in two different blocks
    p22 = (four + apart) / max(steps[2], 1.0)
    mean = events[0] * p2 / 2
    square = mean + events[1] * p3 + events[2] * p22 / 4
    return mean, max(square - mean**2, 0.0)


def clustering(events: IntArray, n_steps: int) -> Evidence:
    """Ascending steps in clusters of any length: the largest variance of counts over their mean, against random steps.

    For blocks of 2, 4, 8, ... steps the number of pairs that share a block is compared with its exact mean and variance
    through a gamma distribution; the smallest p-value is multiplied by the number of scales (Bonferroni).
    """
    scales = cluster_scales(n_steps)
    if len(events) < 3 or len(scales) == 0:
        return Evidence(statistic=1.0, pvalue=1.0)
    best, dispersion = 1.0, 0.0
    for width, pairs in zip(scales.tolist(), pairs_in_blocks(events, scales).tolist(), strict=True):
        if pairs:  # none are never more than chance has
            mean, var = pair_moments(n_steps, len(events), width)
            best = min(best, _gamma_tail(pairs, mean, var))
        dispersion = max(dispersion, dispersion_of(pairs, n_steps, len(events), width))
    return Evidence(statistic=dispersion, pvalue=min(best * len(scales), 1.0))


def dispersion_of(pairs: int, n_steps: int, n_events: int, width: int) -> float:
    """Variance of the counts in blocks over their mean, from the pairs that share a block; 1 for a Poisson process."""
    mean = n_events * width / n_steps
    return (2 * pairs + n_events) * width / n_steps / mean - mean


def _gamma_tail(value: float, mean: float, var: float) -> float:
    """P(X ≥ value) of a whole number with this mean and variance, as a gamma (Wilson and Hilferty's cube root)."""
    if value <= mean or var <= 0:
        return 1.0
    shape, scaled = mean**2 / var, (value - 0.5) / mean
    z = (max(scaled, 0.0) ** (1 / 3) - (1 - 1 / (9 * shape))) * 3 * math.sqrt(shape)
    return 0.5 * math.erfc(z / math.sqrt(2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """Clusters of events: dispersion of counts over several scales, and evenness of gaps."""

    counts: Evidence
    gaps: Evidence


def clusters_against(side: Truth, draws: Callable[[Truth], Draw]) -> Clusters:
    """Both statistics of events at points against random placements of them; p = (b + 1)/(n + 1)."""
    events, n_steps = side.starts, side.n_steps
    scales, nothing = cluster_scales(n_steps), Evidence(statistic=1.0, pvalue=1.0)
    if len(events) < 3 or len(events) == n_steps or len(scales) == 0:
        return Clusters(counts=nothing, gaps=nothing)
    draw, generator = draws(side), np.random.default_rng(SEED)
    pairs, unevenness = [_pairs(events[None], scales)], [_unevenness(events[None], n_steps)]
    rows, left = max(CHUNK // len(events), 1), min(max(CHUNK // len(events), FEWEST), RESAMPLES)
    while left > 0:
        drawn = np.sort(draw(generator, min(rows, left)), axis=1).astype(np.int64)
        pairs.append(_pairs(drawn, scales))
        unevenness.append(_unevenness(drawn, n_steps))
        left -= len(drawn)
    # standardised by all placements, the observed one too, so that it is one among equals
    every = np.concatenate(pairs).astype(np.float64)
    spread = every.std(axis=0)
    largest = ((every - every.mean(axis=0)) / np.where(spread > 0, spread, 1.0)).max(axis=1)
    dispersion = max(
        dispersion_of(int(p), n_steps, len(events), w) for p, w in zip(pairs[0][0], scales.tolist(), strict=True)
    )
    gaps = np.concatenate(unevenness)
    return Clusters(
        counts=Evidence(statistic=dispersion, pvalue=_rank(largest)),
        gaps=Evidence(statistic=float(gaps[0]), pvalue=_rank(gaps)),
    )


def _pairs(rows: IntArray, scales: IntArray) -> IntArray:
    return np.array([pairs_in_blocks(row, scales) for row in rows])


def _unevenness(rows: IntArray, n_steps: int) -> FloatArray:
    """Coefficient of variation of the gaps, around the circle."""
    gaps = np.diff(rows, axis=1, append=rows[:, :1] + n_steps)
    return np.asarray(gaps.std(axis=1) / gaps.mean(axis=1))


def _rank(values: FloatArray) -> float:
    """Share of all values, the first included, that reach the first one."""
    return float((values >= values[0] - 1e-9).mean())


def memory(scores: FloatArray) -> Evidence:
    """Autocorrelation of the ranks of the scores at lag 1, against scores in random order (normal approximation).

    In random order it has mean -1/(T - 1) and a variance of nearly 1/T.
    """
    n = len(scores)
    if n < 4 or scores.min() == scores.max():
        return Evidence(statistic=0.0, pvalue=1.0)
    # ranks: a few large scores must not decide
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts + 1) / 2)[inverse.ravel()]
    ranks = ranks - ranks.mean()
    correlation = inner(ranks[1:], ranks[:-1]) / inner(ranks, ranks)
    z = (correlation + 1 / (n - 1)) * math.sqrt(n)
    return Evidence(statistic=correlation, pvalue=0.5 * math.erfc(z / math.sqrt(2)))


# ---- whether periods are alike: what each of them has, against the same in random order

ORDERS = 399
FIRST_ORDERS = 99  # of these, which show soonest that a p-value is large: it is not below what they give


def in_order(counts: IntArray) -> float:
    """How often neighbouring periods have as similar counts, where their order is random. Ascending numbers never."""
    return _among_orders(counts, lambda rows: (rows[:, 1:] * rows[:, :-1]).sum(axis=1))


def in_cycle(counts: IntArray, number: IntArray, cycle: int, within: int = 1, *, orders: int = ORDERS) -> float:
    """How often counts differ as much between the places of a cycle, such as weekdays, where their order is random.

    With ``within``, as much beyond what the places of that shorter cycle explain.
    """
    place, shorter = (np.unique(number % many, return_inverse=True)[1] for many in (cycle, within))
    share = (place[:, None] == np.arange(place.max(initial=0) + 1)) / np.sqrt(np.maximum(np.bincount(place), 1))
    return _among_orders(counts, lambda rows: (product(rows, share) ** 2).sum(axis=1), shorter, orders)


def _among_orders(
    counts: IntArray,
    statistic: Callable[[FloatArray], FloatArray],
    kinds: IntArray | None = None,
    orders: int = ORDERS,
) -> float:
    """Share of random orders whose statistic is as large, the given one among them; less the mean of each kind.

    Only the first ``orders`` of them are looked at: the share is at least that.
    """
    values = np.sqrt(counts)  # of Poisson numbers, as variable whatever their mean
    if len(values):
        kinds = np.zeros(len(values), dtype=np.int64) if kinds is None else kinds
        values = values - (np.bincount(kinds, weights=values) / np.bincount(kinds))[kinds]
    if len(values) < 3 or not values.any():
        return 1.0
    found = statistic(np.concatenate([values[None], values[_orders(len(values), orders)]]))
    return np.count_nonzero(found >= found[0] - 1e-9) / (1 + ORDERS)


@lru_cache(maxsize=8)
def _orders(n: int, orders: int) -> IntArray:
    """Random orders of n values: the same for all of them, and fewer are the first of more."""
    return np.random.default_rng(SEED).permuted(np.tile(np.arange(n), (orders, 1)), axis=1)
