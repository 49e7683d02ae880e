"""Compiled loops of volumes under surfaces; imported late, since numba takes a second to load."""

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.compiled import compiled

kernel = compiled(error_model="numpy")


@kernel
def volumes(
    levels: IntArray,
    alarms: IntArray,
    starts: IntArray,
    stops: IntArray,
    first: IntArray,
    last: IntArray,
    begins: IntArray,
    n_steps: int,
    roots: FloatArray,
    roc: bool,
    found: FloatArray,
) -> None:
    """Volume of each draw, from the first threshold that each step reaches and the steps that reach each threshold."""
    n_levels, n_halves = alarms.size, (roots.size + 1) // 2
    inside, groups = np.zeros(n_levels, dtype=np.int64), np.zeros(n_halves, dtype=np.int64)
    alone = np.zeros((n_levels, n_halves), dtype=np.int64)
    shared = np.zeros((n_levels, n_halves), dtype=np.int64)
    lowest = np.zeros((n_levels, n_halves), dtype=np.int64)
    slopes = np.zeros((n_levels, roots.size))
    for i in range(begins.size):
        labelled = 0
        for run in range(first[i], last[i]):
            labelled += stops[run] - starts[run]
        if labelled == 0 or (roc and labelled == n_steps):
            found[i] = np.nan
            continue
        seen = levels[begins[i] : begins[i] + n_steps]
        runs = (starts[first[i] : last[i]], stops[first[i] : last[i]])
        overlaps = sort_steps(seen, *runs, roots, inside, alone, shared, slopes, lowest, groups)
        found[i] = volume(
            alarms, labelled, n_steps, roc, overlaps, roots, inside, alone, shared, slopes, lowest, groups
        )


@kernel
def sort_steps(
    levels: IntArray,
    starts: IntArray,
    stops: IntArray,
    roots: FloatArray,
    inside: IntArray,
    alone: IntArray,
    shared: IntArray,
    slopes: FloatArray,
    lowest: IntArray,
    groups: IntArray,
) -> bool:
    """Count steps of runs and buffers by level, and groups of runs by their lowest level; whether any buffers overlap.

    A step in the buffers of two runs weighs 1, since what each of them gives is at least √½. So all that counts is how
    far the nearest run is, and at which distance a second one reaches the step. ``alone`` has the nearest, where no
    second one is within half a window; ``shared`` the second, and ``slopes`` the weights of such steps up to there,
    times the root of the window. ``groups`` are runs whose buffers share a step, for each half window.
    """
    half, n_runs, n_steps = groups.size - 1, starts.size, levels.size
    far = n_steps + 2 * half  # a run that is not there is nowhere near
    carried, nearby = np.zeros(half + 1, dtype=np.int64), np.empty(half + 1, dtype=np.int64)
    overlaps = False
    for run in range(n_runs):
        start, stop = starts[run], stops[run]
        before = stops[run - 1] if run > 0 else start - far
        behind = starts[run + 1] if run < n_runs - 1 else stop + far
        nearby.fill(inside.size)
        for step in range(start, stop):
            inside[levels[step]] += 1
            nearby[0] = min(nearby[0], levels[step])
        for side in range(2):
            # steps on this side to which the run is the nearest; halfway between two runs, that is the one before
            if side == 0:
                gap, passed, edge, way = start - before, behind - start, start, -1
                steps = min(half, gap // 2, start)
            else:
                gap, passed, edge, way = behind - stop, stop - before, stop - 1, 1
                steps = min(half, (gap + 1) // 2, n_steps - stop)
            for d in range(1, steps + 1):
                level = levels[edge + way * d]
                nearby[d] = min(nearby[d], level)
                second = min(gap + 1 - d, d + passed)
                if second > half:
                    alone[level, d] += 1
                else:
                    overlaps = True
                    shared[level, second] += 1
                    for w in range(2 * d, 2 * second):
                        slopes[level, w] += roots[w - d]
        low = nearby[0]
        meets = (start - before) // 2 + 1  # the half window from which on buffers of this run and the one before meet
        for h in range(half + 1):
            low = min(low, nearby[h])
            if h >= meets:
                carried[h] = min(carried[h], low)
            else:
                if run > 0:
                    lowest[carried[h], h] += 1
                groups[h] += 1
                carried[h] = low
    for h in range(half + 1):
        lowest[carried[h], h] += 1
    return overlaps


@kernel
def volume(
    alarms: IntArray,
    labelled: int,
    n_steps: int,
    roc: bool,
    overlaps: bool,
    roots: FloatArray,
    inside: IntArray,
    alone: IntArray,
    shared: IntArray,
    slopes: FloatArray,
    lowest: IntArray,
    groups: IntArray,
) -> float:
    """Mean area over all windows, by one pass over the thresholds; counts are zero again behind it."""
    half, window = groups.size - 1, roots.size - 1
    sloped, whole = np.zeros(window + 1), np.zeros(2 * half + 2)
    found, share = np.zeros(half + 1), np.zeros(2 * half + 2)
    x, y, area = np.zeros(window + 1), np.zeros(window + 1), np.zeros(window + 1)
    hits = 0.0
    for k in range(alarms.size):
        hits += inside[k]
        inside[k] = 0
        for d in range(1, half + 1):
            count = alone[k, d]
            if count > 0:
                alone[k, d] = 0
                part, roots_part = sloped[2 * d :], roots[d:]
                for w in range(part.size):
                    part[w] += count * roots_part[w]
        if overlaps:
            reached = 0.0
            for h in range(half + 1):
                reached += shared[k, h]
                shared[k, h] = 0
                whole[2 * h] += reached
                whole[2 * h + 1] += reached
            for w in range(window + 1):
                sloped[w] += slopes[k, w]
                slopes[k, w] = 0.0
        for h in range(half + 1):
            found[h] += lowest[k, h]
            lowest[k, h] = 0
            share[2 * h] = share[2 * h + 1] = found[h] / groups[h]
        for w in range(window + 1):
            buffer = sloped[w] / max(roots[w], 1.0) + whole[w]
            positives = labelled + 0.5 * buffer
            true = hits + buffer
            recall = min(true / positives, 1.0) * share[w]
            if roc:
                false = (alarms[k] - true) / (n_steps - positives)
                area[w] += 0.5 * (false - x[w]) * (recall + y[w])
                x[w] = false
            else:
                area[w] += (recall - y[w]) * (true / alarms[k])
            y[w] = recall
    total = 0.0
    for w in range(window + 1):
        groups[w // 2] = 0
        total += area[w]
        if roc:
            total += 0.5 * (1.0 - x[w]) * (1.0 + y[w])
    return float(total / (window + 1))
