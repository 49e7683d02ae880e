"""Compiled first looks at two spectra: p-values that no season and no slow change in them can be below.

What :mod:`nofluke.nulls.seasons` finds has no smaller p-value but for rounding.
"""

from __future__ import annotations

import math

import numpy as np

from nofluke.compiled import compiled


@compiled()
def least_of_seasons(events, every, first, last, jointly, other_side):  # type: ignore[no-untyped-def]
    """The least p-value of a period that two spectra share, as -log P of powers, and of one that alarms show alone.

    Alarms of each of several detectors, a row each.
    """
    searched = last - first + 1
    enough = -math.log(other_side / 2)
    both, alone = np.ones(every.shape[0]), np.ones(every.shape[0])
    for row in range(every.shape[0]):
        alarms = every[row]
        joint, best = 0.0, np.zeros(2)
        at = np.zeros(2, dtype=np.int64)
        for i in range(first - 1, last):
            if min(events[i], alarms[i]) >= enough:
                joint = max(joint, events[i] + alarms[i])
            if events[i] > best[0]:
                best[0], at[0] = events[i], i
            if alarms[i] > best[1]:
                best[1], at[1] = alarms[i], i
        # spectra that are alike would only raise this
        least = math.exp(-joint) * (1 + joint) * searched / jointly if joint > 0.0 else 1.0
        for side in range(2):
            theirs = alarms if side == 0 else events
            around = theirs[max(at[side] - 1, 0) : at[side] + 2].max()
            if 3 * math.exp(-around) <= other_side:
                least = min(least, math.exp(-best[side]) * searched)
        both[row], alone[row] = least, min(math.exp(-best[1]) * searched, 1.0)
    return both, alone


@compiled()
def comb_tail(tails, places, used, cap):  # type: ignore[no-untyped-def]
    """-log P of a whole period, from those of its first so many harmonics, of which each counts at most the cap."""
    x = 0.0
    for h in range(used):
        x += min(tails[places[h]], cap)
    term = total = 1.0
    for i in range(1, used):
        term *= x / i
        total += term
    return x - math.log(total)


@compiled()
def whole_periods(tails, harmonics, heard, most, cap):  # type: ignore[no-untyped-def]
    """The same of each whole period.

    A row of ``harmonics`` says where those of a period are among the powers, ``heard`` how many there are, of which at
    ``most`` so many can be shown.
    """
    found = np.empty(heard.size)
    for row in range(heard.size):
        found[row] = comb_tail(tails, harmonics[row], min(heard[row], most), cap)
    return found


@compiled()
def least_of_whole_periods(  # type: ignore[no-untyped-def]
    events, every, harmonics, heard, most, cap, begin, end, share, jointly, other_side, least
):
    """Lower ``least`` to the p-value of a whole period that both show, of rows ``begin`` to ``end``.

    ``events`` is from `whole_periods`; ``most`` says how many harmonics each of several detectors can show.
    """
    enough = -math.log(other_side / 2)
    for row in range(begin, end):
        mine = events[row]
        if mine < enough:  # both sides must show it
            continue
        for one in range(every.shape[0]):
            theirs = comb_tail(every[one], harmonics[row], min(heard[row], most[one]), cap)
            if theirs >= enough:
                both = mine + theirs
                best = math.exp(-max(mine, theirs))
                found = min(math.exp(-both) * (1 + both) / jointly, best) * (end - begin) / share
                least[one] = min(least[one], found)


@compiled()
def slow_tail(power, last, background):  # type: ignore[no-untyped-def]
    """P-value of the mean of the lowest powers beside the mean of those behind."""
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


@compiled()
def least_of_slow_changes(events, every, lowest, background):  # type: ignore[no-untyped-def]
    """The least p-value of a slow change in the low powers of both sides, for each row of alarms.

    Spectra that are alike would only raise it.
    """
    found = np.ones(every.shape[0])
    for k in lowest:
        mine = -math.log(max(slow_tail(events, k, background), 1e-300))
        for row in range(every.shape[0]):
            x = mine - math.log(max(slow_tail(every[row], k, background), 1e-300))
            found[row] = min(found[row], math.exp(-x) * (1 + x) * len(lowest))
    return found
