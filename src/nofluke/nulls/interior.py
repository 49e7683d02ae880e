"""Recall over the events that count, where their number is up to chance too: those whose whole window was watched.

What is tested is the ratio of hits to events that count. It is told in hits out of the observed number of events,
rounded down: R/M reaches k/m exactly where ⌊R m/M⌋ reaches k.

The section "The interior ratio" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nofluke.arrays import AnyArray, FloatArray, IntArray
from nofluke.laws.exact.hypergeometric import hypergeometric_pmf
from nofluke.laws.law import exactly
from nofluke.laws.tables import TableLaw
from nofluke.series.counting import in_ranges, newly_hit, total, union
from nofluke.series.timed import TimedCell
from nofluke.series.tolerance import Ranges

NEGLIGIBLE = 1e-18  # numbers of events that count with a smaller probability are left out


def out_of(hits: AnyArray, counted: AnyArray, observed: int) -> IntArray:
    """Hits out of the observed number of events, where chance has so many of another number; 0 where no event counts.

    >>> out_of(np.array([2, 0, 3]), np.array([4, 0, 3]), 6)
    array([3, 0, 6])
    """
    there = np.maximum(counted, 1)
    return np.where(counted > 0, hits * observed // there, 0).astype(np.int64)


def share_of(hits: AnyArray, counted: AnyArray, observed: int) -> FloatArray:
    """The same, not rounded down: for what is made of the ratio, such as F_β.

    >>> share_of(np.array([1, 0]), np.array([4, 0]), 6)
    array([1.5, 0. ])
    """
    return np.asarray(hits * observed / np.maximum(counted, 1), dtype=np.float64)  # without events that count, no hits


def common(one: Ranges, other: Ranges) -> Ranges:
    """What two sets of ranges have in common, each of them ascending and apart.

    >>> one = Ranges(starts=np.array([0, 8]), stops=np.array([5, 9]))
    >>> both = common(one, Ranges(starts=np.array([3]), stops=np.array([20])))
    >>> both.starts, both.stops
    (array([3, 8]), array([5, 9]))
    """
    edges = np.unique(np.concatenate([one.starts, one.stops, other.starts, other.stops]))
    left = edges[:-1]
    inside = [
        np.searchsorted(r.starts, left, side="right") > np.searchsorted(r.stops, left, side="right")
        for r in (one, other)
    ]
    kept = inside[0] & inside[1]
    return union(Ranges(starts=left[kept], stops=edges[1:][kept]))


def permuted(cell: TimedCell, counted: Ranges) -> TableLaw:
    """The ratio's law where events are permuted: hypergeometric hits among a hypergeometric number that count."""
    inner, found = total(counted), total(common(counted, cell.zone))
    n_events, observed = cell.n_events, cell.n_counted
    number = hypergeometric_pmf(cell.n_steps, inner, n_events)
    table, mean, square = np.zeros(observed + 1), 0.0, 0.0
    for many in np.flatnonzero(number > NEGLIGIBLE):
        weight = float(number[many])
        if many == 0:
            table[0] += weight
            continue
        pmf: FloatArray = weight * hypergeometric_pmf(inner, found, int(many))
        hits = np.arange(len(pmf))
        table += np.bincount(hits * observed // int(many), weights=pmf, minlength=observed + 1)[: observed + 1]
        mean += float(pmf @ hits) / int(many) * observed
        square += float(pmf @ (hits / int(many) * observed) ** 2)
    return TableLaw(
        table / table.sum(), mean=mean, var=max(square - mean**2, 0.0), method=exactly("hypergeometric ratio")
    )


def hits_of_counted(
    cell: TimedCell, placements: AnyArray, out_of: Callable[[AnyArray, AnyArray, int], AnyArray] = out_of
) -> dict[str, AnyArray]:
    """Both hits for each placement of the events, recall's out of the observed number of events that count."""
    rows = np.sort(np.asarray(placements, dtype=np.int64), axis=1)
    precision = newly_hit(*cell.stretches.hit_from(rows))
    counts = in_ranges(rows, cell.counted) if cell.counted is not None else np.ones(rows.shape, dtype=np.bool_)
    hits = np.count_nonzero(counts & in_ranges(rows, cell.zone), axis=1)
    return {"precision": precision, "recall": out_of(hits, np.count_nonzero(counts, axis=1), cell.n_counted)}
