"""The compiled loop of :mod:`nofluke.exact.few`; imported late, since numba takes a while to load."""

from __future__ import annotations

import math

import numpy as np

from nofluke.compiled import compiled


@compiled()
def walk(length, g, h, n_events, reach, odds, mass, growth_allowed):  # type: ignore[no-untyped-def]
    """Weights of (events on covered steps, predictions hit), block by block; only additions of positive numbers.

    They start with ``mass`` and are brought back to it before they have grown by exp(growth_allowed).
    """
    most = n_events * reach
    ring = reach + 1
    settled = np.zeros((n_events + 1, most + 1))
    struck = np.zeros((ring, n_events + 1, most + 1))  # by the index up to which the last event reaches, modulo ring
    ways = np.zeros(n_events + 1)
    total = np.zeros((n_events + 1, most + 1))
    settled[0, 0] = mass
    log_growth = math.log1p(odds)
    grown = 0.0
    passed = 0
    reached = 0
    for block in range(length.size):
        while passed < g[block]:
            passed += 1
            if passed <= reached:
                settled += struck[passed % ring]
                struck[passed % ring] = 0.0
        reached = max(reached, h[block])
        if grown + length[block] * log_growth > growth_allowed:
            factor = 2.0 ** -round(grown / math.log(2.0))
            settled *= factor
            struck *= factor
            grown = 0.0
        grown += length[block] * log_growth
        # what an event here makes of each state: from `first` on, predictions are hit that were not
        total[:] = 0.0
        for first in range(passed, h[block] + 1):
            source = settled if first == passed else struck[first % ring]
            new = h[block] - first
            for r in range(n_events):
                for c in range(r * reach + 1):
                    total[r, c + new] += source[r, c]
        ways[0] = 1.0
        most_here = min(length[block], n_events)
        for k in range(1, most_here + 1):
            ways[k] = ways[k - 1] * (length[block] - k + 1) / k * odds
        target = struck[h[block] % ring]
        for r in range(n_events):
            for k in range(1, min(most_here, n_events - r) + 1):
                for c in range((r + 1) * reach + 1):
                    target[r + k, c] += ways[k] * total[r, c]
    for first in range(ring):
        settled += struck[first]
    return settled
