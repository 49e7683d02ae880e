"""How often splits that train next to the test steps make features without skill look better than chance.

Labels come in runs of 10 to 40 steps; two features change slowly (AR(1) with .995) and know nothing of the labels. Five
nearest neighbours are cross-validated. Prints how often the p-values alone would give "yes" or "partly", and the
verdicts of `nf.cross_val_evaluate`, as Markdown:

    python benchmarks/leaks.py [--runs 100] [--seed 9]
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from scipy.signal import lfilter
from sklearn.model_selection import KFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier

import nofluke as nf

STEPS = 1_500
SPLITS = {
    "`KFold(5, shuffle=True)`": KFold(5, shuffle=True, random_state=0),
    "`TimeSeriesSplit(60, test_size=10)`": TimeSeriesSplit(60, test_size=10),
    "`TimeSeriesSplit(60, test_size=10, gap=80)`": TimeSeriesSplit(60, test_size=10, gap=80),
    "`TimeSeriesSplit(30, test_size=25)`": TimeSeriesSplit(30, test_size=25),
    "`KFold(30)`": KFold(30),
    "`KFold(5)`": KFold(5),
    "`TimeSeriesSplit(5)`": TimeSeriesSplit(5),
}


def labels(rng):
    y, at = np.zeros(STEPS, dtype=int), int(rng.integers(0, 120))
    while at < STEPS:
        length = int(rng.integers(10, 41))
        y[at : at + length] = 1
        at += length + 1 + int(rng.exponential(120))
    return y


def features(rng):
    return lfilter([1], [1, -0.995], rng.normal(size=(STEPS + 500, 2)), axis=0)[500:]


def main(runs: int, seed: int) -> None:
    warnings.simplefilter("ignore")
    print("| split | by p-values alone | yes or partly | cannot tell |\n| --- | ---: | ---: | ---: |")
    for name, cv in SPLITS.items():
        by_p = positive = untold = 0
        for run in range(runs):
            rng = np.random.default_rng([seed, run])
            y, x = labels(rng), features(rng)
            found = nf.cross_val_evaluate(KNeighborsClassifier(5), x, y, cv=cv, tolerance=3, n_resamples=500, rng=run)
            small, large = sorted([found.precision_test.pvalue, found.recall_test.pvalue])
            by_p += small <= 0.025 or large <= 0.05
            positive += found.verdict in ("yes", "partly")
            untold += found.verdict == "cannot tell"
        print(f"| {name} | {by_p / runs:.0%} | {positive / runs:.0%} | {untold / runs:.0%} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=9)
    main(**vars(parser.parse_args()))
