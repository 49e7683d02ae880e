"""Compiled looks at spectra for :mod:`nofluke.studies.study`: they miss nothing that `nofluke.nulls.seasons` sees."""

from __future__ import annotations

import math

import numpy as np

from nofluke.compiled import compiled


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
    """Whether two spectra, as -log P of powers, may share a period: never False where `common_period` finds one."""
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
def whole_period_possible(events, tails, harmonics, used, share, level, jointly, other_side):  # type: ignore[no-untyped-def]
    """The same for short whole periods: from the -log P of these for the events, and of powers for the alarms."""
    enough = -math.log(other_side / 2)
    for row in range(events.size):
        if events[row] < enough:  # both sides must show it
            continue
        x = 0.0
        for h in range(used[row]):
            x += tails[harmonics[row, h]]
        term = total = 1.0
        for i in range(1, used[row]):
            term *= x / i
            total += term
        alarms = x - math.log(total)
        both = events[row] + alarms
        best = math.exp(-max(events[row], alarms))
        if alarms >= enough and min(math.exp(-both) * (1 + both) / jointly, best) * events.size / share <= level:
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


@compiled()
def slow_possible(events, alarms, lowest, background, level):  # type: ignore[no-untyped-def]
    """Whether low powers of both sides may show a slow change at the level; similar spectra only raise the p-value."""
    for k in lowest:
        x = -math.log(max(slow_tail(events, k, background), 1e-300))
        x -= math.log(max(slow_tail(alarms, k, background), 1e-300))
        if math.exp(-x) * (1 + x) * lowest.size <= level:
            return True
    return False


@compiled()
def centred(alarms, row, long_runs):  # type: ignore[no-untyped-def]
    """Mark each alarm, or each run of them where they come in long ones, less their mean; how many marks there are."""
    n_runs = 0
    for i in range(alarms.size):
        n_runs += i == 0 or alarms[i] > alarms[i - 1] + 1
    together = alarms.size >= long_runs * n_runs
    mean = (n_runs if together else alarms.size) / row.size
    row[:] = -mean
    for i in range(alarms.size):
        if not together or i == 0 or alarms[i] > alarms[i - 1] + 1:
            row[alarms[i]] = 1.0 - mean
    return n_runs if together else alarms.size
