"""Compiled first looks at two spectra: p-values that no season and no slow change in them can be below.

What :mod:`nofluke.nulls.seasons` finds has no smaller p-value but for rounding.
"""

from __future__ import annotations

import math

import numpy as np

from nofluke.compiled import compiled


@compiled()
def to_neighbours(power, count, gap, beside):  # type: ignore[no-untyped-def]
    """The ratio of each power to the mean of its ``count`` neighbours, a row a detector: as `_against_neighbours`."""
    found = np.empty(power.shape)
    n, far = power.shape[1], gap + beside + 1
    total = np.zeros(n + 1 + 2 * far)  # of all up to each one, from so far before the first to so far behind the last
    for row in range(power.shape[0]):
        so_far = 0.0
        for i in range(n):
            so_far += power[row, i]
            total[far + 1 + i] = so_far
        total[far + 1 + n :] = so_far
        below, left = total[far - gap - beside :], total[far - gap :]
        right, above = total[far + gap + 1 :], total[far + gap + 1 + beside :]
        for i in range(n):
            around = left[i] - below[i] + above[i] - right[i]
            found[row, i] = power[row, i] * count[i] / around if around > 0 else 0.0
    return found


@compiled()
def tail(ratio, count):  # type: ignore[no-untyped-def]
    """-log P of a power from its ratio to the mean of so many neighbours: never above the ratio."""
    return count * math.log1p(ratio / count)


@compiled()
def least_of_seasons(events, ratios, count, first, last, jointly, other_side):  # type: ignore[no-untyped-def]
    """The least p-value of a period that two spectra share, and of one that alarms show alone, a row a detector.

    Of events -log P of all powers, of alarms ratios: logarithms are taken of the few that matter.
    """
    searched = last - first + 1
    enough = -math.log(other_side / 2)
    both, alone = np.ones(ratios.shape[0]), np.ones(ratios.shape[0])
    shown = 0  # where events show a period best
    for i in range(first - 1, last):
        if events[i] > events[shown] or shown < first - 1:
            shown = i
    for row in range(ratios.shape[0]):
        alarms = ratios[row]
        joint = best = 0.0
        at = 0
        for i in range(first - 1, last):
            if events[i] >= enough and alarms[i] >= enough:
                theirs = tail(alarms[i], count[i])
                if theirs >= enough:
                    joint = max(joint, events[i] + theirs)
            if alarms[i] > best:
                theirs = tail(alarms[i], count[i])
                if theirs > best:
                    best, at = theirs, i
        # spectra that are alike would only raise this
        least = math.exp(-joint) * (1 + joint) * searched / jointly if joint > 0.0 else 1.0
        around = 0.0
        for i in range(max(shown - 1, 0), min(shown + 2, alarms.size)):
            around = max(around, tail(alarms[i], count[i]))
        if 3 * math.exp(-around) <= other_side:
            least = min(least, math.exp(-events[shown]) * searched)
        if 3 * math.exp(-events[max(at - 1, 0) : at + 2].max()) <= other_side:
            least = min(least, math.exp(-best) * searched)
        both[row], alone[row] = least, min(math.exp(-best) * searched, 1.0)
    return both, alone


@compiled()
def comb_tail(x, used):  # type: ignore[no-untyped-def]
    """-log P of a whole period, from the sum of those of its first so many harmonics."""
    term = total = 1.0
    for i in range(1, used):
        term *= x / i
        total += term
    return x - math.log(total)


@compiled()
def whole_periods(tails, harmonics, heard, most, cap):  # type: ignore[no-untyped-def]
    """The same of each whole period, of whose harmonics each counts at most the cap.

    A row of ``harmonics`` says where those of a period are among the powers, ``heard`` how many there are, of which at
    ``most`` so many can be shown.
    """
    found = np.empty(heard.size)
    for row in range(heard.size):
        used, x = min(heard[row], most), 0.0
        for h in range(used):
            x += min(tails[harmonics[row, h]], cap)
        found[row] = comb_tail(x, used)
    return found


@compiled()
def least_of_whole_periods(  # type: ignore[no-untyped-def]
    events, ratios, count, harmonics, heard, most, cap, begin, end, share, jointly, other_side, least
):
    """Lower ``least`` to the p-value of a whole period that both show, of rows ``begin`` to ``end``.

    ``events`` is from `whole_periods`; ``most`` says how many harmonics each of several detectors can show.
    """
    enough = -math.log(other_side / 2)
    for row in range(begin, end):
        mine = events[row]
        if mine < enough:  # both sides must show it
            continue
        for one in range(ratios.shape[0]):
            used, x = min(heard[row], most[one]), 0.0
            for h in range(used):
                x += min(ratios[one, harmonics[row, h]], cap)
            if comb_tail(x, used) < enough:  # with their logarithms it would be less
                continue
            x = 0.0
            for h in range(used):
                at = harmonics[row, h]
                x += min(tail(ratios[one, at], count[at]), cap)
            theirs = comb_tail(x, used)
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
