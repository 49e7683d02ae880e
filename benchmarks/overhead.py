"""What one evaluation costs beside its arithmetic: short series with few events, where everything but the mathematics
shows.

Run it as ``python benchmarks/overhead.py``. Every time is divided by that of a fixed NumPy workload in the same run, so
that machines can be compared; beside it stands the same ratio of commit e4a83e0, the first storey, measured by this
script on one idle machine. ``nf.evaluate`` is called with both p-values, ``null="permutation"`` and without F's
p-value. Then: a million steps with given alarms beside five lines of NumPy that count the same two numbers, and peak
memory above the inputs.
"""

import sys
import threading
import time

import numpy as np
from timing import seconds

import nofluke as nf

SIZES = ((1_000, 10, 50, 2), (4_000, 2, 200, 5), (10_000, 20, 500, 5), (1_000_000, 1_000, 10_000, 10))
BEFORE = (0.222, 0.443, 1.825, 6.587)  # ratios of commit e4a83e0, the least of three runs
MEMORY_STEPS = 10**7


def flags(n_steps, count, rng):
    chosen = np.zeros(n_steps, dtype=bool)
    chosen[rng.choice(n_steps, count, replace=False)] = True
    return chosen


def five_lines(truth, alarms, delta):
    steps = np.arange(len(truth))
    low, high = np.maximum(steps - delta, 0), np.minimum(steps + delta + 1, len(truth))
    events, predictions = (np.concatenate([[0], np.cumsum(one)]) for one in (truth, alarms))
    near_event, near_alarm = events[high] > events[low], predictions[high] > predictions[low]
    return (near_event & alarms).sum() / alarms.sum(), (near_alarm & truth).sum() / truth.sum()


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6


def peak_above(function):
    """Megabytes of resident memory that a call needs on top, looked at every few milliseconds."""
    before, peak, stop = resident(), [0.0], threading.Event()

    def watch():
        while not stop.is_set():
            peak[0] = max(peak[0], resident())
            time.sleep(0.003)

    watcher = threading.Thread(target=watch)
    watcher.start()
    function()
    stop.set()
    watcher.join()
    return peak[0] - before


def main():
    rng = np.random.default_rng(0)
    values = rng.random(200_000)
    unit = seconds(lambda: np.cumsum(np.sort(values)), 20)
    print(f"fixed workload, sorting and summing 200,000 numbers: {1e3 * unit:.1f} ms")
    print("steps      events  alarms  δ    ms      ratio   before  times faster")
    for (n_steps, m, n, delta), before in zip(SIZES, BEFORE, strict=True):
        rng = np.random.default_rng(1)
        truth, alarms = flags(n_steps, m, rng), flags(n_steps, n, rng)

        def evaluated(truth=truth, alarms=alarms, delta=delta):
            result = nf.evaluate(truth, predictions=alarms, tolerance=delta, null="permutation")
            return result.precision_test.pvalue, result.recall_test.pvalue

        taken = seconds(evaluated, 40 if n_steps < 10**6 else 8)
        ratio = taken / unit
        print(
            f"{n_steps:<10,} {m:<7,} {n:<7,} {delta:<4} {1e3 * taken:<7.2f} {ratio:<7.3f} {before:<7.3f} {before / ratio:.1f}"
        )
    plain = seconds(lambda: five_lines(truth, alarms, delta), 8)
    print(f"five lines of NumPy for the last row: {1e3 * plain:.1f} ms; evaluate takes {taken / plain:.2f} times that")
    if sys.platform == "linux":
        truth = np.zeros(MEMORY_STEPS, dtype=np.int8)
        truth[rng.integers(0, MEMORY_STEPS, 1_000)] = 1
        scores = rng.random(MEMORY_STEPS, dtype=np.float32)
        above = peak_above(lambda: nf.evaluate(truth, scores, quantile=0.99, tolerance=10))
        print(f"{MEMORY_STEPS:,} steps (int8 labels, float32 scores): {above:.0f} MB above the inputs")


if __name__ == "__main__":
    main()
