"""Compiled loops of range-based precision and recall; imported late, since numba takes a second to load."""

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.compiled import compiled

kernel = compiled(error_model="numpy")

PRECISION, RECALL = 0, 1  # anything else is F
FLAT = 0  # then front, middle, back: half as many lengths of the run before the step that weighs most


@kernel
def weight_between(low: int, high: int, start: int, stop: int, bias: int) -> int:
    """Weight of the steps from start to stop in a run from low to high: whole numbers, so that nothing is rounded."""
    if bias == FLAT:
        return stop - start
    peak = low + (high - low) * (bias - 1) // 2
    rising, falling = min(stop, peak) - low, high - max(start, peak)
    total = 0
    if start < peak:
        total += rising * (rising + 1) // 2 - (start - low) * (start - low + 1) // 2
    if stop > peak:
        total += falling * (falling + 1) // 2 - (high - stop) * (high - stop + 1) // 2
    return total


@kernel
def ranged(
    opens: IntArray,
    closes: IntArray,
    at: IntArray,
    steps: IntArray,
    places: IntArray,
    starts: IntArray,
    stops: IntArray,
    first: IntArray,
    last: IntArray,
    begins: IntArray,
    n_steps: int,
    measure: int,
    bias: int,
    reciprocal: int,
    existence: float,
    of_recall: float,
    of_precision: float,
    found: FloatArray,
) -> None:
    """Range-based precision, recall or F of each draw.

    A run of alarms within one labelled run is worth 1. Only those that reach over a border of one, or of the draw,
    are looked at: each labelled run has at most two of them, and passes the last one on to the next labelled run.
    """
    for i in range(begins.size):
        begin = begins[i]
        end = begin + n_steps
        labelled = last[i] - first[i]
        runs = (at[end] >> 1) + (at[end] & 1) - (at[begin] >> 1)
        if labelled == 0 or runs == 0:
            found[i] = np.nan if labelled == 0 or measure == PRECISION else 0.0
            continue
        whole, part, met, share = np.int64(0), 0.0, np.int64(0), 0.0
        held, cover, size, times = np.int64(-1), np.int64(0), np.int64(1), np.int64(0)
        for label in range(first[i], last[i]):
            start, stop = begin + starts[label], begin + stops[label]
            before, behind = at[start] >> 1, at[stop] >> 1
            after = behind + (at[stop] & 1)
            if before == after:
                continue
            met += 1
            if measure != PRECISION:
                count = steps[behind] - steps[before]
                count -= start - opens[before] if at[start] & 1 else 0
                count += stop - opens[behind] if at[stop] & 1 else 0
                length = stop - start
                if bias != FLAT:
                    peak = start + length * (bias - 1) // 2
                    count = np.int64(0)
                    k, u = before, start
                    for side in range(2):
                        v = peak if side == 0 else stop
                        m = at[v] >> 1
                        n, place = steps[m] - steps[k], places[m] - places[k]
                        if at[u] & 1:
                            n -= u - opens[k]
                            place -= (u - opens[k]) * (u + opens[k] - 1) // 2
                        if at[v] & 1:
                            n += v - opens[m]
                            place += (v - opens[m]) * (v + opens[m] - 1) // 2
                        count += place - (start - 1) * n if side == 0 else stop * n - place
                        k, u = m, v
                    length = weight_between(start, stop, start, stop, bias)
                share += count / (length * (after - before if reciprocal else 1))
            if measure != RECALL:
                left, right = opens[before] < start, closes[after - 1] > stop
                if left and right and after - before == 1:
                    right = False
                whole += after - before - left - right
                for side in range(2):
                    if not (left if side == 0 else right):
                        continue
                    run = before if side == 0 else after - 1
                    low, high = max(opens[run], begin), min(closes[run], end)
                    if run != held:
                        part += cover / (size * (times if reciprocal and times else 1))
                        held, cover, times = run, np.int64(0), np.int64(0)
                        size = weight_between(low, high, low, high, bias)
                    cover += weight_between(low, high, max(start, low), min(stop, high), bias)
                    times += 1
        part += cover / (size * (times if reciprocal and times else 1))
        precision = (whole + part) / runs
        recall = (existence * met + (1.0 - existence) * share) / labelled
        if measure == PRECISION:
            found[i] = precision
        elif measure == RECALL:
            found[i] = recall
        else:
            below = of_recall * precision + of_precision * recall
            found[i] = (of_recall + of_precision) * precision * recall / below if below > 0 else 0.0
