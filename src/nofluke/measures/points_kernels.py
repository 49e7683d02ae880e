"""The compiled loops of event synchronisation, tiling and matching; imported late, since numba takes a while to load.

Times are int64 ticks or float64, ascending. Every loop is one sweep over both lists, for each of many rows of events.
"""

from __future__ import annotations

import numpy as np

from nofluke.compiled import compiled

kernel = compiled(error_model="numpy")


@kernel
def nearest_gaps(times, cap, dropped, out):  # type: ignore[no-untyped-def]
    """The shorter gap beside each event, at most ``cap``; -1 for the first and the last one where ends are dropped."""
    last = times.size - 1
    for i in range(times.size):
        gap = cap
        if i > 0:
            gap = min(gap, times[i] - times[i - 1])
        if i < last:
            gap = min(gap, times[i + 1] - times[i])
        if dropped and (i == 0 or i == last):
            gap = -1
        out[i] = gap


@kernel
def within_half(distance, gap, other):  # type: ignore[no-untyped-def]
    """Whether twice a distance is at most both gaps: by subtraction, which never overflows."""
    return distance <= gap - distance and distance <= other - distance


@kernel
def synchronised(x, x_gaps, y, y_gaps, halved):  # type: ignore[no-untyped-def]
    """Twice c(y|x) and twice c(x|y), that is, whole numbers.

    A pair x_i < y_j within half of all four gaps has no event between its two, and x_(i+1) lies behind y_j, y_(j-1)
    before x_i: merging the lists meets every such pair once, as the two heads. An event shares two pairs only where
    it lies exactly in the middle; the other pair is then its other neighbour's.
    """
    i = j = 0
    y_late = x_late = 0
    while i < x.size and j < y.size:
        if x[i] == y[j]:
            here = x[i]
            in_x = in_y = 0
            while i < x.size and x[i] == here:
                in_x += x_gaps[i] >= 0
                i += 1
            while j < y.size and y[j] == here:
                in_y += y_gaps[j] >= 0
                j += 1
            y_late += in_x * in_y
            x_late += in_x * in_y
        elif x[i] < y[j]:
            if within_half(y[j] - x[i], x_gaps[i], y_gaps[j]):
                shared = halved and (
                    (j > 0 and within_half(x[i] - y[j - 1], x_gaps[i], y_gaps[j - 1]))
                    or (i + 1 < x.size and within_half(x[i + 1] - y[j], x_gaps[i + 1], y_gaps[j]))
                )
                y_late += 1 if shared else 2
            i += 1
        else:
            if within_half(x[i] - y[j], x_gaps[i], y_gaps[j]):
                shared = halved and (
                    (i > 0 and within_half(y[j] - x[i - 1], x_gaps[i - 1], y_gaps[j]))
                    or (j + 1 < y.size and within_half(y[j + 1] - x[i], x_gaps[i], y_gaps[j + 1]))
                )
                x_late += 1 if shared else 2
            j += 1
    return y_late, x_late


@kernel
def synchronised_rows(rows, alarms, cap, dropped, halved):  # type: ignore[no-untyped-def]
    """`synchronised` for each row of events x against the alarms y: (R, 2)."""
    out = np.empty((rows.shape[0], 2), dtype=np.int64)
    alarm_gaps = np.empty_like(alarms)
    nearest_gaps(alarms, cap, dropped, alarm_gaps)
    gaps = np.empty(rows.shape[1], dtype=rows.dtype)
    for r in range(rows.shape[0]):
        nearest_gaps(rows[r], cap, dropped, gaps)
        out[r, 0], out[r, 1] = synchronised(rows[r], gaps, alarms, alarm_gaps, halved)
    return out


@kernel
def covered(times, early, late, unit, begins, ends):  # type: ignore[no-untyped-def]
    """How much of the watched pieces lies in the union of all windows from t - early up to t + late + unit."""
    total = ends[0] - ends[0]  # zero, of the type of the times
    piece = 0
    for i in range(times.size):
        start = times[i] - early
        stop = times[i] + late + unit
        if i > 0:
            start = max(start, times[i - 1] + late + unit)  # up to there it has been counted
        while piece < ends.size and ends[piece] <= start:
            piece += 1
        k = piece
        while k < begins.size and begins[k] < stop:
            total += max(min(stop, ends[k]) - max(start, begins[k]), 0)
            k += 1
    return total


@kernel
def near_rows(rows, alarms, early, late, unit, begins, ends):  # type: ignore[no-untyped-def]
    """Alarms near an event, events near an alarm: (R, 2); and watched time near an event, for each row."""
    hits = np.zeros((rows.shape[0], 2), dtype=np.int64)
    near = np.empty(rows.shape[0], dtype=rows.dtype)
    for r in range(rows.shape[0]):
        first = behind = 0  # the alarms of the event's window
        for i in range(rows.shape[1]):
            counted = behind
            while first < alarms.size and alarms[first] < rows[r, i] - early:
                first += 1
            behind = max(behind, first)
            while behind < alarms.size and alarms[behind] <= rows[r, i] + late:
                behind += 1
            hits[r, 0] += behind - max(first, counted)
            hits[r, 1] += behind > first
        near[r] = covered(rows[r], early, late, unit, begins, ends)
    return hits, near


@kernel
def matched_rows(rows, alarms, early, late):  # type: ignore[no-untyped-def]
    """Size of a maximum one-to-one matching for each row of events.

    Events in time order, each takes the first alarm in its window that is left. No matching is larger, since both
    ends of the windows ascend. Take a maximum matching M that agrees with the sweep before event i. Where the sweep
    finds no alarm left for i, neither does M. Else it finds a. If M uses neither i nor a, adding the pair would make
    it larger; if it uses one of them only, the pair (i, a) can take that pair's place. If M has (i, b) and (k, a),
    then k is later than i, and b lies behind a, hence behind the start of k's window, and before the stop of i's,
    hence of k's: (i, a) and (k, b) are pairs too. So a maximum matching agrees with the sweep up to i, and in the end
    everywhere.
    """
    out = np.zeros(rows.shape[0], dtype=np.int64)
    for r in range(rows.shape[0]):
        j = 0
        for i in range(rows.shape[1]):
            while j < alarms.size and alarms[j] < rows[r, i] - early:
                j += 1
            if j == alarms.size:
                break
            if alarms[j] <= rows[r, i] + late:
                out[r] += 1
                j += 1
    return out


@kernel
def matched_on_steps(rows, starts, stops):  # type: ignore[no-untyped-def]
    """The same where an event on step t can take the alarms number ``starts[t]`` up to before ``stops[t]``."""
    out = np.zeros(rows.shape[0], dtype=np.int64)
    for r in range(rows.shape[0]):
        j = 0
        for i in range(rows.shape[1]):
            j = max(j, starts[rows[r, i]])
            if j < stops[rows[r, i]]:
                out[r] += 1
                j += 1
    return out
