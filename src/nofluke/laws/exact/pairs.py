"""Pairs of overlapping windows, laid out in memory some at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nofluke.arrays import IntArray

PAIRS_AT_ONCE = 1 << 19  # pairs laid out in memory together


def index_pairs(rows: IntArray, first: IntArray, end: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """All pairs (rows[k], j) with first[k] <= j < end[k], some at a time.

    >>> [(i.tolist(), j.tolist()) for i, j in index_pairs(np.array([4, 7]), np.array([5, 8]), np.array([7, 9]))]
    [([4, 4, 7], [5, 6, 8])]
    """
    length = end - first
    before = np.concatenate([[0], np.cumsum(length)])
    k = 0
    while k < len(rows):
        upto = max(int(np.searchsorted(before, before[k] + PAIRS_AT_ONCE, side="right")) - 1, k + 1)
        part = slice(k, upto)
        shift = np.repeat(first[part] - before[part], length[part])
        yield np.repeat(rows[part], length[part]), shift + np.arange(before[k], before[upto])
        k = upto
