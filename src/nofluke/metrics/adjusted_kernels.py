"""Compiled loops over labelled runs and the alarms in them; imported late, since numba takes a second to load."""

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.compiled import compiled

kernel = compiled(error_model="numpy")
BLOCK = 1024  # windows that are counted together


@kernel
def adjusted_counts(
    sums: IntArray,
    starts: IntArray,
    stops: IntArray,
    first: IntArray,
    last: IntArray,
    begins: IntArray,
    n_steps: int,
    delay: int,
    above: int,
    below: int,
    keeps: int,
    counts: IntArray,
) -> None:
    """For each draw: alarms, labelled steps, runs, labelled steps with an alarm, runs found, adjusted labelled steps.

    A run is found if it has an alarm in its first ``delay`` + 1 steps and alarms on at least ``above`` / ``below`` of
    its steps; one that is not keeps the alarms that it has, or loses them where ``keeps`` is 0. ``sums`` are alarms
    before each step.
    """
    for i in range(begins.size):
        labelled, hit, found, adjusted = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        begin = begins[i]
        for run in range(first[i], last[i]):
            start, stop = begin + starts[run], begin + stops[run]
            length, before = stop - start, sums[start]
            inside = sums[stop] - before
            in_time = inside if delay >= length else sums[start + delay + 1] - before
            labelled += length
            hit += inside
            if in_time > 0 and inside * below >= length * above:
                found += 1
                adjusted += length
            else:
                adjusted += keeps * inside
        counts[i, 0] = sums[begin + n_steps] - sums[begin]
        counts[i, 1] = labelled
        counts[i, 2] = last[i] - first[i]
        counts[i, 3] = hit
        counts[i, 4] = found
        counts[i, 5] = adjusted


@kernel
def consecutive_counts(
    sums: IntArray,
    starts: IntArray,
    stops: IntArray,
    begin: int,
    n_steps: int,
    delay: int,
    above: int,
    below: int,
    keeps: int,
    counts: IntArray,
) -> None:
    """The same for the same runs in windows that begin on consecutive steps: several times as fast for all rotations.

    In blocks that stay in the fastest memory, and without branches, so that several windows are counted at once.
    """
    labelled = np.int64(0)
    for run in range(starts.size):
        labelled += stops[run] - starts[run]
    hit, found, adjusted = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    for low in range(0, len(counts), BLOCK):
        size = min(BLOCK, len(counts) - low)
        hit[:], found[:], adjusted[:] = 0, 0, 0
        for run in range(starts.size):
            length = stops[run] - starts[run]
            least = max((length * above + below - 1) // below, 1)
            first = begin + low + starts[run]
            before, behind = sums[first : first + size], sums[first + length : first + length + size]
            in_time = sums[first + min(delay + 1, length) : first + min(delay + 1, length) + size]
            for i in range(size):
                inside = behind[i] - before[i]
                is_found = np.int64((inside >= least) & (in_time[i] > before[i]))
                hit[i] += inside
                found[i] += is_found
                adjusted[i] += length * is_found + (1 - is_found) * keeps * inside
        for i in range(size):
            at = begin + low + i
            counts[low + i, 0] = sums[at + n_steps] - sums[at]
            counts[low + i, 1] = labelled
            counts[low + i, 2] = starts.size
            counts[low + i, 3] = hit[i]
            counts[low + i, 4] = found[i]
            counts[low + i, 5] = adjusted[i]


@kernel
def event_counts(
    sums: IntArray,
    starts: IntArray,
    stops: IntArray,
    first: IntArray,
    last: IntArray,
    begins: IntArray,
    n_steps: int,
    counts: IntArray,
) -> None:
    """For each draw: alarms, labelled steps, runs, labelled steps with an alarm, runs found, false runs, other steps.

    False are those that touch no label; other steps are those without one.

    ``sums`` are alarms, and runs of them that have begun, before each step: side by side, since both are looked up
    together.
    """
    for i in range(begins.size):
        labelled, hit, found = np.int64(0), np.int64(0), np.int64(0)
        begin = begins[i]
        end = begin + n_steps
        # a run of alarms that begins before the window counts from the window's first step
        false = sums[end, 1] - sums[begin + 1, 1] + sums[begin + 1, 0] - sums[begin, 0]
        before = begin
        for run in range(first[i], last[i]):
            start, stop = begin + starts[run], begin + stops[run]
            inside = sums[stop, 0] - sums[start, 0]
            labelled += stop - start
            hit += inside
            if inside > 0:
                found += 1
                false -= sums[stop, 1] - sums[start + 1, 1] + sums[start + 1, 0] - sums[start, 0]
                # one that reaches from the last step of the labelled run before into this one was taken off already
                if before > begin and sums[start + 1, 0] - sums[before - 1, 0] == start + 2 - before:
                    false += 1
            before = stop
        counts[i, 0] = sums[end, 0] - sums[begin, 0]
        counts[i, 1] = labelled
        counts[i, 2] = last[i] - first[i]
        counts[i, 3] = hit
        counts[i, 4] = found
        counts[i, 5] = false
        counts[i, 6] = n_steps - labelled


@kernel
def areas_over_shares(
    sums: IntArray,
    starts: IntArray,
    stops: IntArray,
    first: IntArray,
    last: IntArray,
    begins: IntArray,
    n_steps: int,
    of_recall: float,
    of_precision: float,
    areas: FloatArray,
) -> None:
    """For each draw, the area of F over the share of its steps that a run must have alarms on to be adjusted.

    F only falls where that share passes the share of some run, whose steps without an alarm are then lost.
    """
    most = np.int64(1)
    for i in range(begins.size):
        most = max(most, last[i] - first[i])
    shares, losses = np.empty(most), np.empty(most, np.int64)
    for i in range(begins.size):
        labelled, hit, adjusted, n = np.int64(0), np.int64(0), np.int64(0), 0
        begin = begins[i]
        for run in range(first[i], last[i]):
            start, stop = begin + starts[run], begin + stops[run]
            length, inside = stop - start, sums[stop] - sums[start]
            labelled += length
            hit += inside
            if inside > 0:
                adjusted += length
                if inside < length:
                    shares[n], losses[n] = inside / length, length - inside
                    n += 1
        if labelled == 0:
            areas[i] = np.nan
            continue
        false = sums[begin + n_steps] - sums[begin] - hit
        area, share = 0.0, 0.0
        if adjusted > 0:
            for run in np.argsort(shares[:n]):
                if shares[run] > share:
                    f = (
                        (of_recall + of_precision)
                        * adjusted
                        / (of_recall * labelled + of_precision * (adjusted + false))
                    )
                    area += (shares[run] - share) * f
                    share = shares[run]
                adjusted -= losses[run]
            f = (of_recall + of_precision) * adjusted / (of_recall * labelled + of_precision * (adjusted + false))
            area += (1.0 - share) * f
        areas[i] = area
