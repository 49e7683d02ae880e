"""Shared by the benchmarks: the least time of some repeats, since the machine may be busy but the work is the same."""

import time


def seconds(function, repeats=3):
    """Least time of a function over some repeats."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)
