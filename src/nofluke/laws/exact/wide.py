"""The parts of precision's mean and variance where windows are too wide, or their pairs too many, for tables of π.

Cost depends on the number of windows and of overlapping pairs, not on steps. Few pairs are added up one by one, at
about half a microsecond each. Many are summed by interpolation (`smooth`), in time and memory linear in the number of
windows; only where π has a corner that interpolation sees (windows nearly half as wide as the span, and few events) is
there no way around them.

The section "Precision: mean and variance" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.laws.exact.missing import log_missed, log_together, lost
from nofluke.laws.exact.pairs import index_pairs
from nofluke.laws.exact.smooth import compress, sum_over_ranges, sum_over_sums

_WIDTHS_ONE_BY_ONE = 300  # up to so many distinct widths, a sum over all pairs of widths is cheap
_PAIRS_PER_WINDOW = 16  # above so many pairs a window, interpolation is faster than looking at each pair


def as_if_disjoint(n_steps: int, n_events: int, values: IntArray, counts: IntArray) -> float:
    """Σ over all ordered pairs, each with itself too, of π(w + w') - π(w) π(w'); widths ascend, each so many times."""

    def per_step(x: Any, y: Any) -> FloatArray:
        """π(x + y) / (π(x) π(y)) - 1, over x y: hardly depends on either, so that short windows keep their digits."""
        return np.asarray(np.expm1(log_together(n_steps, n_events, x, y)) / x / y)

    weights = np.asarray(np.exp(log_missed(n_steps, n_events, values)) * counts * values, dtype=np.float64)
    nodes: IntArray | FloatArray = values
    if len(values) > _WIDTHS_ONE_BY_ONE and 2 * int(values[-1]) <= n_steps - n_events:  # no corner at T - m
        some = np.linspace(values[0], values[-1], 3)[:, None]
        nodes, weights = compress(values, weights, lambda x: per_step(some, x))
    return float(sum(weight * np.dot(weights, per_step(x, nodes)) for x, weight in zip(nodes, weights, strict=True)))


def overlap_excess(n_steps: int, n_events: int, starts: IntArray, stops: IntArray) -> float:
    """Σ over ordered pairs of overlapping windows, each with itself too, of π(|union|) - π(w + w')."""
    widths = stops - starts
    own = float(np.sum(lost(n_steps, n_events, widths, widths)))
    index = np.arange(len(starts))
    reach = np.searchsorted(starts, stops, side="left")  # first prediction whose window starts after this one ends
    first = np.searchsorted(stops, starts, side="right")  # first prediction whose window ends after this one starts
    allowed = _PAIRS_PER_WINDOW * len(starts)

    def one_by_one(rows: IntArray, begin: IntArray, end: IntArray) -> float:
        return sum(_excess(n_steps, n_events, starts, stops, i, j) for i, j in index_pairs(rows, begin, end))

    if int(np.sum(reach - index - 1)) <= allowed:
        return own + 2 * one_by_one(index, index + 1, reach)
    kinds, counts = np.unique(widths, return_counts=True)
    usual = int(kinds[counts.argmax()])
    odd = np.flatnonzero(widths != usual)
    if int(np.sum(reach[odd] - first[odd])) <= allowed:
        among_usual = _equally_wide(n_steps, n_events, starts[widths == usual], usual)
        if among_usual is not None:
            is_odd = widths != usual
            # pairs of two odd windows are seen from both: count them once, from the first
            later = one_by_one(odd, odd + 1, reach[odd])
            earlier = 0.0
            for i, j in index_pairs(odd, first[odd], odd):
                kept = ~is_odd[j]
                earlier += _excess(n_steps, n_events, starts, stops, j[kept], i[kept])
            return own + 2 * (among_usual + later + earlier)
    found = _any_widths(n_steps, n_events, starts, stops, index + 1, reach)
    return own + 2 * (one_by_one(index, index + 1, reach) if found is None else found)


def _excess(n_steps: int, n_events: int, starts: IntArray, stops: IntArray, i: IntArray, j: IntArray) -> float:
    """Σ of π(|union|) - π(w + w') over overlapping windows i[k] <= j[k]."""
    return float(np.sum(lost(n_steps, n_events, stops[j] - starts[i], stops[i] - starts[j])))


def _equally_wide(n_steps: int, n_events: int, starts: IntArray, width: int) -> float | None:
    """The same over all overlapping pairs of equally wide windows: a function of their distance."""
    return sum_over_ranges(
        starts,
        starts,
        np.arange(1, len(starts) + 1),
        np.searchsorted(starts, starts + width, side="left"),
        lambda lag: lost(n_steps, n_events, width + lag, width - lag),
    )


def _any_widths(
    n_steps: int, n_events: int, starts: IntArray, stops: IntArray, first: IntArray, end: IntArray
) -> float | None:
    """The same over windows of many widths, by two sums: one of a function of |union|, one of a function of w + w'."""
    widths = stops - starts
    # differences keep their digits if they are of π where it is small, of -(1 - π) where π is close to 1
    likely_missed = float(log_missed(n_steps, n_events, widths.min())) > -0.5

    def term(x: FloatArray) -> FloatArray:
        log = log_missed(n_steps, n_events, x)
        return np.asarray(np.expm1(log) if likely_missed else np.exp(log))

    unions = sum_over_ranges(starts, stops, first, end, term)
    sums = None if unions is None else sum_over_sums(widths, first, end, term)
    return None if unions is None or sums is None else unions - sums
