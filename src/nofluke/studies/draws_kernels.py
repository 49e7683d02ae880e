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
def meeting(first, last, begins, blocks, many, near_begins, near, least, row, column, counts, one, other):  # type: ignore[no-untyped-def]
    """Pairs of a truth from ``first`` to ``last`` and a later one with enough events in the same blocks, or beside.

    Truth t has ``many`` events in each of the ``blocks`` from ``begins[t]`` to ``begins[t + 1]``; ``near`` has the
    truths in or beside each block, ascending, from ``near_begins[block]`` on. Enough are ``least[row, column]``.
    ``counts`` are zeros, and are left so; the pairs are written to ``one`` and ``other``, and their number is returned.
    """
    found = 0
    for i in range(first, last):
        own = least[row[i]]
        few = own.min()
        begin = found
        for b in range(begins[i], begins[i + 1]):
            for k in range(near_begins[blocks[b]], near_begins[blocks[b] + 1]):
                j = near[k]
                before = counts[j]
                counts[j] = before + many[b]
                if j > i and before < few <= before + many[b]:
                    other[found] = j
                    found += 1
        some = begin
        for k in range(begin, found):
            if counts[other[k]] >= own[column[other[k]]]:
                one[some], other[some] = i, other[k]
                some += 1
        found = some
        for b in range(begins[i], begins[i + 1]):
            for k in range(near_begins[blocks[b]], near_begins[blocks[b] + 1]):
                counts[near[k]] = 0
    return found


@compiled()
def add_draws(seeds, begins, precision, recall, counts, data, total, without):  # type: ignore[no-untyped-def]
    """Add a draw of each cell to each row of both totals: one of its pairs, by their counts, or the data's own.

    Cell c has the pairs from ``begins[c]`` to ``begins[c + 1]``. Where ``data[c, 2]`` is 1, its own pair
    ``data[c, :2]`` is one more draw, which only the first total counts.
    """
    # both hits in one number: their sums stay below 2^31
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    most = 0
    for c in range(seeds.size):
        most = max(most, counts[begins[c] : begins[c + 1]].sum())
    pairs = np.empty(most + 1, np.int64)
    picked = np.empty(total.shape[0], np.uint32)
    sums, others = np.zeros((2, total.shape[0]), np.int64)
    for c in range(seeds.size):
        many = 0
        for j in range(begins[c], begins[c + 1]):
            for _ in range(counts[j]):
                pairs[many] = (precision[j] << 32) + recall[j]
                many += 1
        pairs[many] = (data[c, 0] << 32) + data[c, 1]
        seed, size = seeds[c], np.uint64(many + data[c, 2])
        for i in range(picked.size):  # alone in its loop, which the compiler makes one of vectors
            picked[i] = ((random_word(seed, np.uint64(i)) >> half) * size) >> half
        for i in range(picked.size):
            sums[i] += pairs[picked[i]]
        if data[c, 2]:
            for i in range(picked.size):
                if picked[i] == many:
                    again = ((random_word(seed, np.uint64(i)) & low) * np.uint64(many)) >> half
                    others[i] += pairs[np.int64(again)] - pairs[many]
    for i in range(picked.size):
        both = sums[i] + others[i]
        total[i, 0] += sums[i] >> 32
        total[i, 1] += sums[i] & 0xFFFFFFFF
        without[i, 0] += both >> 32
        without[i, 1] += both & 0xFFFFFFFF
