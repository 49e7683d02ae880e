"""Compiled loops over pairs of truths, and over draws of many cells that are added up."""

import numpy as np

from nofluke.compiled import compiled
from nofluke.laws.montecarlo.kernels import random_word


@compiled()
def met(one, other, reach, begins, starts, stops, found):  # type: ignore[no-untyped-def]
    """Of pairs of truths: how many events of the one lie within so many steps of an event of the other.

    Truth t has the events from ``begins[t]`` to ``begins[t + 1]``, whose first steps ascend, as do their ends.
    """
    for i in range(one.size):
        at, last = begins[other[i]], begins[other[i] + 1]
        hits = 0
        for k in range(begins[one[i]], begins[one[i] + 1]):
            while at < last and stops[at] <= starts[k] - reach[i]:
                at += 1
            hits += at < last and starts[at] < stops[k] + reach[i]
        found[i] = hits


@compiled()
def add_draws(seeds, begins, precision, recall, counts, data, total, without):  # type: ignore[no-untyped-def]
    """Add a draw of each cell to each row of both totals: one of its pairs, by their counts, or the data's own.

    Cell c has the pairs from ``begins[c]`` to ``begins[c + 1]``. Where ``data[c, 2]`` is 1, its own pair
    ``data[c, :2]`` is one more draw, which only the first total counts.
    """
    most = 0
    for c in range(seeds.size):
        many = 0
        for j in range(begins[c], begins[c + 1]):
            many += counts[j]
        most = max(most, many)
    pairs = np.empty((most, 2), np.int64)
    low = np.uint64(0xFFFFFFFF)
    for c in range(seeds.size):
        many = 0
        for j in range(begins[c], begins[c + 1]):
            for _ in range(counts[j]):
                pairs[many, 0], pairs[many, 1] = precision[j], recall[j]
                many += 1
        size = np.uint64(many + data[c, 2])
        for i in range(total.shape[0]):
            word = random_word(seeds[c], np.uint64(i))
            at = np.int64(((word >> np.uint64(32)) * size) >> np.uint64(32))
            if at < many:
                total[i, 0] += pairs[at, 0]
                total[i, 1] += pairs[at, 1]
            else:
                total[i, 0] += data[c, 0]
                total[i, 1] += data[c, 1]
                at = np.int64(((word & low) * np.uint64(many)) >> np.uint64(32))
            without[i, 0] += pairs[at, 0]
            without[i, 1] += pairs[at, 1]
