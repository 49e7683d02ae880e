"""How often cross-validation without skill looks better than chance: folds as independent series, or joined.

Features and labels may share a season or a trend, and are otherwise independent of each other. The alarms of five
folds in order of time are judged by `nf.study`, which takes each fold for a series of its own and pools them, and by
`nf.cross_val_evaluate`, which joins them and chooses one null. Prints Markdown:

    python benchmarks/folds.py [--runs 200] [--seed 1]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import TimeSeriesSplit

import nofluke as nf

STEPS, RATE, FOLDS, ASKED = 1_500, 0.03, 5, {"budget": "5%", "tolerance": 2, "n_resamples": 999}
T = np.arange(STEPS)


class Column(BaseEstimator):
    """Scores are the first feature: nothing to learn, so that all time goes into the tests."""

    def fit(self, *_):
        return self

    def decision_function(self, X):
        return X[:, 0]


def wave(period, rng):
    return np.cos(2 * np.pi * (T / period + rng.random()))


def bursts(rng):
    """Labels in groups of three, scores with a memory of .9: both cluster, each by itself."""
    y = np.zeros(STEPS, dtype=int)
    centres = rng.choice(STEPS - 9, round(STEPS * RATE / 3), replace=False)
    y[centres[:, None] + rng.integers(0, 9, size=(len(centres), 3))] = 1
    noise, x = rng.normal(size=STEPS), np.zeros(STEPS)
    for t in T[1:]:
        x[t] = 0.9 * x[t - 1] + noise[t]
    return y, x


def sharing(shape):
    """Labels and scores whose rate and mean follow one shape between −1 and 1."""

    def drawn(rng):
        s = shape(rng)
        return (rng.random(STEPS) < RATE * (1 + s)).astype(int), rng.normal(size=STEPS) + s

    return drawn


SITUATIONS = {
    "independent": sharing(lambda _: np.zeros(STEPS)),
    "bursts in both, each at its own times": bursts,
    "trend": sharing(lambda _: 2 * T / STEPS - 1),
    "season of 24 steps": sharing(lambda rng: wave(24, rng)),
    "season of 100 steps": sharing(lambda rng: wave(100, rng)),
}


def positive(y, x, seed):
    """Whether each way says "yes" or "partly"."""
    cv = TimeSeriesSplit(FOLDS)
    fold = np.repeat(np.arange(FOLDS), [len(test) for _, test in cv.split(x)])
    tested = slice(STEPS - len(fold), None)
    table = {"fold": fold, "y": y[tested], "x": x[tested]}
    apart = nf.study(table, series="fold", truth="y", scores="x", workers=1, rng=seed, **ASKED)
    joined = nf.cross_val_evaluate(Column(), x[:, None], y, cv=cv, rng=seed, higher_is="anomalous", **ASKED)
    verdicts = apart.leaderboard().rows[0].verdict, joined.verdict
    return [verdict in ("yes", "partly") for verdict in verdicts]


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("--runs", type=int, default=200)
    asked.add_argument("--seed", type=int, default=1)
    given = asked.parse_args()
    began = time.perf_counter()
    print("| situation | folds as series | joined |\n| --- | ---: | ---: |")
    for number, (name, drawn) in enumerate(SITUATIONS.items()):
        found = np.array(
            [positive(*drawn(np.random.default_rng([given.seed, number, run])), run) for run in range(given.runs)]
        )
        shares = found.mean(axis=0)
        errors = np.sqrt(shares * (1 - shares) / given.runs)
        told = " | ".join(f"{share:.1%} ± {error:.1%}" for share, error in zip(shares, errors, strict=True))
        print(f"| {name} | {told} |", flush=True)
    print(f"\n{given.runs} runs each, {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
