"""The compiled loops of :mod:`nofluke.studies.study`; imported late, since numba takes a while to load."""

from __future__ import annotations

import math

import numpy as np

from nofluke.compiled import compiled
from nofluke.laws.exact.walk import MASS, compile_walk

walk, _ = compile_walk()


@compiled()
def count(alarms, events, n_steps, early, late):  # type: ignore[no-untyped-def]
    """Hits of alarms, hits of events, steps on which an event would be found, and the median delay of found events.

    An alarm at p counts for an event at q if q - early <= p <= q + late. Of two alarms equally near an event the
    earlier is taken.
    """
    hits, first = 0, 0
    for p in alarms:
        while first < events.size and events[first] < p - late:
            first += 1
        hits += first < events.size and events[first] <= p + early
    delays = np.empty(events.size)
    found, first = 0, 0
    for q in events:
        while first < alarms.size and alarms[first] < q - early:
            first += 1
        at, before, after = first, -1, -1
        while at < alarms.size and alarms[at] <= q + late and after < 0:
            if alarms[at] <= q:
                before = at
            else:
                after = at
            at += 1
        if before >= 0 and (after < 0 or q - alarms[before] <= alarms[after] - q):
            delays[found] = alarms[before] - q
            found += 1
        elif after >= 0:
            delays[found] = alarms[after] - q
            found += 1
    covered, reached = 0, 0
    for p in alarms:
        start, stop = max(p - late, reached), min(p + early + 1, n_steps)
        if stop > start:
            covered += stop - start
            reached = stop
    if found == 0:
        return hits, found, covered, math.nan
    ordered = np.sort(delays[:found])
    middle = found // 2
    median = ordered[middle] if found % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    return hits, found, covered, median


@compiled()
def windows_of(alarms, n_steps, early, late):  # type: ignore[no-untyped-def]
    """First step of each alarm's window, the step behind its last, and whether each step lies on one of them."""
    starts, stops = np.maximum(alarms - late, 0), np.minimum(alarms + early + 1, n_steps)
    near = np.zeros(n_steps, dtype=np.bool_)
    reached = 0
    for i in range(alarms.size):
        near[max(starts[i], reached) : stops[i]] = True
        reached = stops[i]
    return starts, stops, near


@compiled()
def blocks_of(alarms, n_steps, early, late):  # type: ignore[no-untyped-def]
    """Stretches of steps where an event hits the same alarms g..h-1: lengths, g, h, and the most alarms of one."""
    n = alarms.size
    length = np.empty(2 * n, dtype=np.int64)
    low = np.empty(2 * n, dtype=np.int64)
    high = np.empty(2 * n, dtype=np.int64)
    g = h = made = reach = 0
    at = max(alarms[0] - late, 0)
    while True:
        while h < n and max(alarms[h] - late, 0) <= at:
            h += 1
        while g < h and min(alarms[g] + early + 1, n_steps) <= at:
            g += 1
        if g == n:
            break
        if g == h:  # no window lies here: on to the next
            at = max(alarms[h] - late, 0)
            continue
        until = min(alarms[g] + early + 1, n_steps)
        if h < n:
            until = min(until, max(alarms[h] - late, 0))
        length[made], low[made], high[made] = until - at, g, h
        made += 1
        reach = max(reach, h - g)
        at = until
    return length[:made], low[:made], high[:made], reach


@compiled()
def hypergeometric(n_steps, covered, n_events):  # type: ignore[no-untyped-def]
    """P(R = r) for r = 0..min(events, covered), from the mode outwards: `laws.exact.hypergeometric` in one loop."""
    free = n_steps - covered
    lowest, highest = max(0, n_events - free), min(n_events, covered)
    mode = (n_events + 1) * (covered + 1) // (n_steps + 2)
    pmf = np.zeros(highest + 1)
    pmf[mode] = 1.0
    for r in range(mode, highest):
        pmf[r + 1] = pmf[r] * ((covered - r) / (r + 1)) * ((n_events - r) / (free - n_events + r + 1))
    for r in range(mode, lowest, -1):
        pmf[r - 1] = pmf[r] * (r / (covered - r + 1)) * ((free - n_events + r) / (n_events - r + 1))
    return pmf / pmf.sum()


@compiled()
def precision_table(length, g, h, reach, n_alarms, recall, odds):  # type: ignore[no-untyped-def]
    """P(C = c), c alarms hit, from the blocks and the law of events on covered steps."""
    start = np.full((1, 1), MASS)
    # the last column is that of all missed, and none hit
    weights = walk(length, g, h, start, 0, n_alarms, recall.size - 1, odds, n_alarms, reach)[:, ::-1]
    table = np.zeros(weights.shape[1])
    for r in range(recall.size):
        total = weights[r].sum()
        if total > 1e-300:
            table += weights[r] / total * recall[r]
    return table


@compiled()
def summed(table, hits, size, level, slack, nothing):  # type: ignore[no-untyped-def]
    """Both tails at some hits, mean and variance, the smallest p that can come out where it is above the level (else
    -1), and the table's logarithms from the first number that has any probability.

    ``size`` is the largest number of hits; the table may end before.
    """
    first, last = 0, table.size - 1
    while first < last and table[first] == 0.0:
        first += 1
    while last > first and table[last] == 0.0:
        last -= 1
    mean = upper = lower = 0.0
    for k in range(table.size - 1, -1, -1):
        mean += k * table[k]
        if k >= hits:
            upper += table[k]
    for k in range(min(hits, table.size - 1) + 1):
        lower += table[k]
    var = 0.0
    for k in range(table.size):
        var += table[k] * (k - mean) ** 2
    upper = 1.0 if hits <= first else min(upper, 1.0)
    lower = 1.0 if hits >= last else min(lower, 1.0)
    floor, tail, at = -1.0, 0.0, size + 1
    while at > 0:  # the smallest number of hits whose upper tail reaches the level
        more = tail + (table[at - 1] if at - 1 < table.size else 0.0)
        if (1.0 if at - 1 <= first else more) > level * (1 + slack):
            break
        at -= 1
        tail = more
    if at > size:
        floor = 1.0 if size <= first else table[size] if size < table.size else 0.0
    elif tail < nothing * level:
        floor = 1.0 if at - 1 <= first else tail + (table[at - 1] if at - 1 < table.size else 0.0)
    return upper, lower, mean, var, floor, first, np.log(table[first : last + 1])
