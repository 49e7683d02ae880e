"""Scores by their order: sorted once for a detector, so that no draw has to compare two scores."""

from __future__ import annotations

import numpy as np

from nofluke.arrays import AnyArray, FloatArray, IntArray


def ascending(scores: FloatArray) -> IntArray:
    """Steps in the order of their scores, which are finite, tied ones in the order of time.

    >>> ascending(np.array([0.5, -1.0, 0.0, -0.0]))
    array([1, 2, 3, 0])
    """
    from nofluke.metrics.ranking_kernels import sort_from_bit

    n = len(scores)
    scores = scores + 0.0  # -0.0 becomes 0.0, which has other bits
    keys = scores.view(np.int64)
    keys = keys ^ ((keys >> 63) & np.int64(2**63 - 1))  # the bits of negative numbers ascend the other way
    # the leading bits of a score and its step in one word; differences are modulo 2**64, so that none overflows
    keys = (keys - keys.min(initial=2**63 - 1)).view(np.uint64)
    low = (n - 1).bit_length() if n else 0
    lost = max(0, int(keys.max(initial=0)).bit_length() + low - 64)
    words = (keys >> np.uint64(lost) << np.uint64(low)) | np.arange(n, dtype=np.uint64)
    words = sort_from_bit(words, low)
    order: IntArray = (words & np.uint64(2**low - 1)).astype(np.int64)
    ordered = scores[order]
    if lost and (ordered[1:] < ordered[:-1]).any():  # some scores differ in the bits that were left out only
        same = np.diff(words >> np.uint64(low)) == 0
        at = np.flatnonzero(np.append(same, False) | np.append(False, same))
        unsure = order[at]
        order[at] = unsure[np.argsort(scores[unsure], kind="stable")]
    return order


def tie_edges(scores: AnyArray, order: IntArray) -> IntArray:
    """Where in the order each group of tied scores begins, and at last where all end."""
    ordered = scores[order]
    return np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1, [len(order)]])


def twice_midranks(scores: AnyArray) -> IntArray:
    """Twice the rank of each score from below, from 1; tied scores share the mean of their ranks.

    >>> twice_midranks(np.array([3.0, 1.0, 3.0]))
    array([5, 2, 5])
    """
    order = ascending(scores)
    edges = tie_edges(scores, order)
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[order] = np.repeat(edges[1:] + edges[:-1] + 1, np.diff(edges))
    return ranks


def places_from_above(scores: AnyArray) -> tuple[IntArray, IntArray]:
    """Place of each step from the highest score down, from 0; and for each place, how many scores are at least as high.

    >>> places_from_above(np.array([3.0, 1.0, 3.0]))
    (array([1, 2, 0]), array([2, 2, 3]))
    """
    order = ascending(scores)
    edges = tie_edges(scores, order)
    places = np.empty(len(scores), dtype=np.int64)
    places[order[::-1]] = np.arange(len(scores))
    return places, np.repeat(len(scores) - edges[:-1], np.diff(edges))[::-1].copy()
