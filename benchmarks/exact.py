"""What an exact p-value of precision costs, in time and memory, at the sizes of the design goals.

Run it as ``python benchmarks/exact.py``. Predictions and events are placed at random; the hits tested lie 10 standard
deviations above chance's mean, and at the mean. For the first row, the paper's size, the cost of 10,000 resamples by
the package's own Monte Carlo stands beside it. The first call of each compiled function is not counted, but printed.
"""

import time
import tracemalloc

import numpy as np
from timing import seconds

from nofluke.laws.approximate import saddlepoint_tail
from nofluke.laws.exact import fourier
from nofluke.laws.exact.moments import precision_moments
from nofluke.laws.exact.programme import precision_pmf, programme_cost
from nofluke.nulls.permutation import PROGRAMME_OPERATIONS, Permutation
from nofluke.series.reading import prepare
from nofluke.series.tolerance import as_tolerance
from nofluke.series.trial import Trial

SIZES = (
    (2_557, 162, 256, 2),
    (10**5, 500, 2_000, 5),
    (10**6, 1_000, 10_000, 10),
    (10**6, 10_000, 50_000, 50),
    (10**7, 10_000, 100_000, 5),
    (10**6, 1_000, 10_000, 500),
)


def cell_of(n_steps, n_events, n_predictions, delta):
    rng = np.random.default_rng(1)
    alarms, truth = np.zeros(n_steps, dtype=bool), np.zeros(n_steps, dtype=bool)
    alarms[rng.choice(n_steps, n_predictions, replace=False)] = True
    truth[rng.choice(n_steps, n_events, replace=False)] = True
    sequence = prepare(truth, predictions=alarms)
    return Trial.of(sequence, (as_tolerance(delta),), None).cell(0, 0)


def peak_megabytes(function):
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def row(size):
    cell = cell_of(*size)
    windows, m = cell.windows, cell.n_events
    moments = precision_moments(windows, m)
    far = min(round(moments.mean + 10 * np.sqrt(moments.var)), windows.n)
    near = round(moments.mean)
    tail = fourier.tail(windows, m, far)
    times = {
        "moments": seconds(lambda: precision_moments(windows, m)),
        "far": seconds(lambda: fourier.tail(windows, m, far)),
        "near": seconds(lambda: fourier.tail(windows, m, near)),
        "saddle": seconds(lambda: saddlepoint_tail(windows, m, far)),
        "whole": seconds(lambda: fourier.pmf(windows, m, floor=1e-16), 1),
    }
    fits = programme_cost(windows, m) <= PROGRAMME_OPERATIONS
    programme = f"{1000 * seconds(lambda: precision_pmf(windows, m)):6.0f} ms" if fits else "   —     "
    memory = peak_megabytes(lambda: fourier.tail(windows, m, far))
    ms = {name: 1000 * value for name, value in times.items()}
    return (
        f"{', '.join(f'{s:,}' for s in size):32}  {ms['moments']:5.0f} ms  {programme}  {ms['far']:4.0f} ms "
        f"{ms['near']:4.0f} ms {ms['saddle']:5.0f} ms {ms['whole']:6.0f} ms {memory:7.1f}  {tail.p:.2e}  {tail.method.error:.0e}"
    )


def main():
    small = cell_of(2_000, 100, 200, 2)
    start = time.perf_counter()
    fourier.tail(small.windows, small.n_events, 100)
    print(f"first call of the Fourier inversion, compiled or cached: {time.perf_counter() - start:.1f} s")
    start = time.perf_counter()
    Permutation().distributions(small, "montecarlo", n_resamples=100, rng=1)
    print(f"first call of Monte Carlo: {time.perf_counter() - start:.1f} s\n")
    print(f"{'T, m, n, δ':32}  moments  programme  z=10    mean    saddle  whole pmf   MB   p at z=10  error bound")
    for size in SIZES:
        print(row(size))
    paper = cell_of(*SIZES[0])
    exact = seconds(lambda: precision_pmf(paper.windows, paper.n_events))
    drawn = seconds(lambda: Permutation().distributions(paper, "montecarlo", n_resamples=10_000, rng=1))
    print(
        f"\nat the paper's size: exact {1000 * exact:.0f} ms (dynamic programme), 10,000 resamples {1000 * drawn:.0f} ms"
    )


if __name__ == "__main__":
    main()
