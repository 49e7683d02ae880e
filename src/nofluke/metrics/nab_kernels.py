"""The compiled loop of the NAB score; imported late, since numba takes a second to load."""

import math

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.compiled import compiled

kernel = compiled(error_model="numpy")


@kernel
def nab_scores(
    before: IntArray,
    alarms: IntArray,
    starts: IntArray,
    stops: IntArray,
    first: IntArray,
    last: IntArray,
    begins: IntArray,
    n_steps: int,
    missed: float,
    false: float,
    found: FloatArray,
) -> None:
    """NAB score of each draw, from the steps with alarms and their number before each step.

    The scaled sigmoid 2 / (1 + exp(5 y)) - 1 is -tanh(2.5 y); a window found at its first step has tanh(2.5) /
    tanh(2.5) = 1.
    """
    full = math.tanh(2.5)
    for i in range(begins.size):
        begin, n_windows = begins[i], last[i] - first[i]
        if n_windows == 0:
            found[i] = np.nan
            continue
        gained, cost = 0.0, 0.0
        costly = (
            before[begin + starts[first[i]]] - before[begin]
        )  # false alarms at full cost: no window, or far behind it
        for run in range(first[i], last[i]):
            start, stop = begin + starts[run], begin + stops[run]
            until = begin + (starts[run + 1] if run + 1 < last[i] else n_steps)
            within, behind = before[start], before[stop]
            if behind > within:
                gained += math.tanh(2.5 * (stop - alarms[within]) / (stop - start)) / full + missed
            width = stop - start - 1
            far = before[min(until, stop + 3 * width)]
            costly += before[until] - far
            for alarm in range(behind, far):
                cost += 1.0 - 2.0 / (1.0 + math.exp(5.0 * (alarms[alarm] - stop + 1) / width))
        found[i] = 100.0 * (gained - false * (costly + cost)) / (n_windows * (1.0 + missed))
