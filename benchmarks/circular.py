"""What the exact null of circular shifts costs: both hits for every rotation of a million steps.

Run it as ``python benchmarks/circular.py``. One event in a thousand, one prediction in a hundred, tolerance 10; a round
length, a power of two and a prime, for the Fourier transforms.
"""

import numpy as np
from timing import seconds

import nofluke as nf


def main():
    rng = np.random.default_rng(1)
    for n_steps in (1_000_000, 2**20, 1_000_003):
        truth, alarms = rng.random(n_steps) < 0.001, rng.random(n_steps) < 0.01

        def evaluate(truth=truth, alarms=alarms):
            return nf.evaluate(truth, predictions=alarms, tolerance=10, null="circular-shift").precision_test.pvalue

        print(f"{n_steps:>9,} steps, all rotations, both hits: {seconds(evaluate):.2f} s")


if __name__ == "__main__":
    main()
