"""The compiled loops of :mod:`nofluke.studies.quick`; imported late, since numba takes a while to load."""

from __future__ import annotations

import math

import numpy as np

from nofluke.compiled import compiled


@compiled()
def count(alarms, events, n_steps, early, late):  # type: ignore[no-untyped-def]
    """Hits of alarms, hits of events, steps on which an event would be found, and the median delay of found events.

    An alarm at p counts for an event at q if q - early <= p <= q + late. Of two alarms equally near an event the earlier is taken.
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
def blocks_of(alarms, n_steps, early, late):  # type: ignore[no-untyped-def]
    """Stretches of steps on which an event hits the same alarms g..h-1: their lengths, g, h, and the most alarms of one."""
    n = alarms.size
    length, low, high = (np.empty(2 * n, dtype=np.int64) for _ in range(3))
    g = h = made = reach = 0
    at = max(alarms[0] - late, 0)
    while g < n:
        while h < n and max(alarms[h] - late, 0) <= at:
            h += 1
        ends = min(alarms[g] + early + 1, n_steps)
        begins = max(alarms[h] - late, 0) if h < n else ends
        until = min(ends, begins)
        if h > g and until > at:
            length[made], low[made], high[made] = until - at, g, h
            made += 1
            reach = max(reach, h - g)
        at = until if h > g else begins
        while g < n and min(alarms[g] + early + 1, n_steps) <= at:
            g += 1
        if g == h and h < n:
            at = max(alarms[h] - late, 0)
    return length[:made], low[:made], high[:made], reach


@compiled()
def hits_law(length, g, h, n_events, reach, n_hit, odds, mass, growth_allowed):  # type: ignore[no-untyped-def]
    """Weights of (events on covered steps, alarms hit), block by block: `few_kernels.walk`, within what can have been hit so far."""
    most = min(n_events * reach, n_hit)
    ring = reach + 1
    settled = np.zeros((n_events + 1, most + 1))
    struck = np.zeros((ring, n_events + 1, most + 1))
    used = np.zeros(ring, dtype=np.int64)  # rows of each that hold anything
    ways = np.zeros(n_events + 1)
    total = np.zeros((n_events + 1, most + 1))
    settled[0, 0] = mass
    rows = 1  # of settled that hold anything
    log_growth = math.log1p(odds)
    grown = 0.0
    passed = reached = steps = 0
    for block in range(length.size):
        while passed < g[block]:
            passed += 1
            if passed <= reached and used[passed % ring]:
                row = struck[passed % ring]
                top = used[passed % ring]
                for r in range(top):
                    for c in range(min(r * reach, passed, most) + 1):
                        settled[r, c] += row[r, c]
                        row[r, c] = 0.0
                rows = max(rows, top)
                used[passed % ring] = 0
        reached = max(reached, h[block])
        if grown + length[block] * log_growth > growth_allowed:
            factor = 2.0 ** -round(grown / math.log(2.0))
            settled *= factor
            struck *= factor
            grown = 0.0
        grown += length[block] * log_growth
        steps += length[block]
        last = min(n_events, steps)  # no more events than covered steps so far
        width = min(h[block], most)
        sources = rows
        for first in range(passed + 1, h[block] + 1):
            sources = max(sources, used[first % ring])
        sources = min(sources, n_events)
        for r in range(sources):
            for c in range(min((r + 1) * reach, width) + 1):
                total[r, c] = 0.0
        for first in range(passed, h[block] + 1):
            top = rows if first == passed else used[first % ring]
            source = settled if first == passed else struck[first % ring]
            new = h[block] - first
            for r in range(min(top, n_events)):
                for c in range(min(r * reach, width - new, first) + 1):
                    total[r, c + new] += source[r, c]
        ways[0] = 1.0
        most_here = min(length[block], n_events)
        for k in range(1, most_here + 1):
            ways[k] = ways[k - 1] * (length[block] - k + 1) / k * odds
        target = struck[h[block] % ring]
        for r in range(sources):
            for k in range(1, min(most_here, n_events - r) + 1):
                for c in range(min((r + 1) * reach, width) + 1):
                    target[r + k, c] += ways[k] * total[r, c]
        used[h[block] % ring] = max(used[h[block] % ring], min(sources + most_here, last + 1))
    for first in range(ring):
        settled += struck[first]
    return settled


@compiled()
def against_neighbours(power, gap, neighbours):  # type: ignore[no-untyped-def]
    """-log P of each power from its ratio to the mean of its neighbours: `nulls.spectrum` in one loop."""
    n = power.size
    sums = np.empty(n + 1)
    sums[0] = 0.0
    for i in range(n):
        sums[i + 1] = sums[i] + power[i]
    tails = np.empty(n)
    for i in range(n):
        below, left = max(i - gap - neighbours, 0), max(i - gap, 0)
        right, above = min(i + gap + 1, n), min(i + gap + 1 + neighbours, n)
        many = max(left - below + above - right, 1)
        background = (sums[left] - sums[below] + (sums[above] - sums[right])) / many
        tails[i] = many * math.log1p(power[i] / background / many) if background > 0 else 0.0
    return tails


@compiled()
def season_possible(events, alarms, first, last, level, jointly, other_side):  # type: ignore[no-untyped-def]
    """Whether two spectra may show a common period, by -log P of their powers: never False where `common_period` finds one."""
    searched = last - first + 1
    enough = -math.log(other_side / 2)
    joint, best = 0.0, np.zeros(2)
    at = np.zeros(2, dtype=np.int64)
    for i in range(first - 1, last):
        if min(events[i], alarms[i]) >= enough:
            joint = max(joint, events[i] + alarms[i])
        if events[i] > best[0]:
            best[0], at[0] = events[i], i
        if alarms[i] > best[1]:
            best[1], at[1] = alarms[i], i
    if (
        joint > 0.0 and math.exp(-joint) * (1 + joint) * searched / jointly <= level
    ):  # spectra alike would only raise it
        return True
    for side in range(2):
        if math.exp(-best[side]) * searched <= level:
            theirs = alarms if side == 0 else events
            around = theirs[max(at[side] - 1, 0) : at[side] + 2].max()
            if 3 * math.exp(-around) <= other_side:
                return True
    return False


@compiled()
def slow_tail(power, last, background):  # type: ignore[no-untyped-def]
    """P-value of the mean of the lowest powers beside the mean of those behind: `nulls.spectrum` in one loop."""
    low = behind = 0.0
    m = 0
    for i in range(min(power.size, (1 + background) * last)):
        if i < last:
            low += power[i]
        else:
            behind += power[i]
            m += 1
    if behind <= 0:
        return 1.0
    y = m / (m + low * m / behind)
    term, tail = y**m, 0.0
    for j in range(last):
        tail += term
        term *= (1 - y) * (m + j) / (j + 1)
    return min(tail, 1.0)
