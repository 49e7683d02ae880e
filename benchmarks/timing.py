"""Shared by the benchmarks: the least time of some repeats, since the machine may be busy but the work is the same."""

import time


def seconds(function, repeats=3, clock=time.perf_counter):
    """Least time of a function over some repeats; ``clock=time.process_time`` for a machine that others use too."""
    times = []
    for _ in range(repeats):
        start = clock()
        function()
        times.append(clock() - start)
    return min(times)
