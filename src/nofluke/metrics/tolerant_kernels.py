"""Compiled loops over events and the windows around them; imported late, since numba takes a second to load."""

import numpy as np

from nofluke.arrays import IntArray
from nofluke.compiled import compiled

kernel = compiled(error_model="numpy")


@kernel
def near_ranges(
    sums: IntArray,
    opens: IntArray,
    closes: IntArray,
    first: IntArray,
    last: IntArray,
    begins: IntArray,
    counts: IntArray,
) -> None:
    """For each draw: alarms near an event, events found, events; each has one window, from ``opens`` up to ``closes``.

    Both ends of the windows of a draw ascend. ``sums`` are alarms before each step.
    """
    for i in range(begins.size):
        hits, found, covered = np.int64(0), np.int64(0), np.int64(0)
        begin = begins[i]
        for event in range(first[i], last[i]):
            inside = sums[begin + closes[event]] - sums[begin + opens[event]]
            if inside > 0:
                found += 1
                # windows may overlap: an alarm counts once
                shared = max(opens[event], covered)
                if closes[event] > shared:
                    hits += sums[begin + closes[event]] - sums[begin + shared]
            covered = max(covered, closes[event])
        counts[i, 0] = hits
        counts[i, 1] = found
        counts[i, 2] = last[i] - first[i]


@kernel
def near_steps(
    sums: IntArray,
    near: IntArray,
    opens: IntArray,
    closes: IntArray,
    inner: int,
    outer: int,
    starts: IntArray,
    stops: IntArray,
    first: IntArray,
    last: IntArray,
    begins: IntArray,
    counts: IntArray,
) -> None:
    """The same where each labelled step is an event; ``opens`` and ``closes`` are the windows of all steps.

    The steps from ``inner`` up to ``outer`` have windows that no border cuts, alike for all of them: how many of a run
    are found is looked up in ``near``, steps found before each step. All others are looked at one by one.
    """
    for i in range(begins.size):
        hits, found, labelled, covered = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        begin = begins[i]
        for run in range(first[i], last[i]):
            start, stop = starts[run], stops[run]
            labelled += stop - start
            low, high = max(start, inner), min(stop, outer)
            step = start
            while step < stop:
                if step == low and high > low:
                    till, more = high, near[begin + high] - near[begin + low]
                else:
                    till = step + 1
                    more = np.int64(sums[begin + closes[step]] > sums[begin + opens[step]])
                if more > 0:
                    found += more
                    shared = max(opens[step], covered)
                    if closes[till - 1] > shared:
                        hits += sums[begin + closes[till - 1]] - sums[begin + shared]
                covered = max(covered, closes[till - 1])
                step = till
        counts[i, 0] = hits
        counts[i, 1] = found
        counts[i, 2] = labelled
