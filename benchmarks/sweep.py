"""What a sweep over every threshold costs, beside scikit-learn's precision-recall curve on the same scores.

Run it as ``python benchmarks/sweep.py``. A million steps, all scores distinct, one event in a hundred. scikit-learn
counts without tolerance and gives one curve; nofluke gives precision and recall within the tolerance.
"""

import numpy as np
from sklearn.metrics import precision_recall_curve
from timing import seconds

import nofluke as nf

N_STEPS = 1_000_000


def counted(truth, scores, tolerance):
    curve = nf.sweep(truth, scores, tolerances=tolerance)
    return curve.precision, curve.recall


def main():
    rng = np.random.default_rng(1)
    truth, scores = rng.random(N_STEPS) < 0.01, rng.random(N_STEPS)
    base = seconds(lambda: precision_recall_curve(truth, scores), 5)
    print(f"{N_STEPS:,} steps, every threshold")
    print(f"scikit-learn precision_recall_curve   {1000 * base:6.0f} ms")
    for tolerance in (0, 5, 500):
        ours = seconds(lambda tolerance=tolerance: counted(truth, scores, tolerance), 5)
        print(f"nofluke.sweep, tolerance {tolerance:<4}         {1000 * ours:6.0f} ms   {ours / base:4.1f} x")
    one = seconds(lambda: nf.evaluate(truth, scores, threshold=0.99, tolerance=5), 5)
    print(f"nofluke.evaluate, tolerance 5         {1000 * one:6.0f} ms   {one / base:4.1f} x")


if __name__ == "__main__":
    main()
