"""The compiled loop of :mod:`nofluke.laws.exact.few`; imported late, since numba takes a while to load."""

from __future__ import annotations

import math

import numpy as np

from nofluke.compiled import compiled


@compiled()
def walk(length, g, h, n_events, reach, n_hit, odds, mass, growth_allowed):  # type: ignore[no-untyped-def]
    """Weights of (events on covered steps, predictions hit), block by block; only additions of positive numbers.

    They start with ``mass`` and are brought back to it before they have grown by exp(growth_allowed). ``n_hit`` is how
    many predictions there are; only what events so far can have hit is gone through.
    """
    most = min(n_events * reach, n_hit)
    ring = reach + 1
    settled = np.zeros((n_events + 1, most + 1))
    struck = np.zeros((ring, n_events + 1, most + 1))  # by the index up to which the last event reaches, modulo ring
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
        # what an event here makes of each state: from `first` on, predictions are hit that were not
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
