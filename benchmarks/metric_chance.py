"""What chance gives in each metric on typical labels: the tables on the pages of the metrics.

Three series of 10,000 steps, each with 5% of the steps labelled: one run of 20 to 80 steps in each 1,000, single steps
at random, and one long run. Scores are random numbers, independent ones or with a memory (AR(1), φ = 0.9); alarms are
the highest 1% or 5% of them. Prints, in Markdown, the mean over the draws and in brackets what has to be exceeded for p
≤ 0.05:

    python benchmarks/metric_chance.py [--draws 1000] [--seed 1] [--only vus]
"""

from __future__ import annotations

import argparse

import numpy as np

import nofluke as nf

STEPS, SPACING, LABELLED = 10_000, 1_000, 500
FAMILIES = {
    "ranking": ("auc-roc", "average-precision", "best-f1", "best-pa-f1"),
    "vus": ("vus-roc:window=20", "vus-roc", "vus-roc:window=400", "vus-pr:window=20", "vus-pr", "vus-pr:window=400"),
    "adjusted": (
        *("f1", "pa-f1", "pak-f1", "pak-f1:k=50", "pak-auc", "delay-pa-f1"),
        *("composite-f1", "event-f1", "event-far-f1"),
    ),
    "ranges": (
        *("range-precision", "range-recall", "range-recall:alpha=1", "range-f1", "range-f1:alpha=1"),
        *("range-f1:cardinality=reciprocal", "etapr-precision", "etapr-recall", "etapr-f1"),
    ),
    "affiliation": ("affiliation-precision", "affiliation-recall", "affiliation-f1"),
    "nab": ("nab", "nab:profile=low-fp", "nab:profile=low-fn"),
    "tolerant": (
        *("precision", "precision:tolerance=5", "recall", "recall:tolerance=5"),
        *("f1", "f1:tolerance=5"),
    ),
}
DETECTORS = {"independent": "random-scores", "AR(1)": "random-scores:phi=0.9"}
BUDGETS = (0.01, 0.05)


def labels(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """The three series, by what the tables call them."""
    runs, single, long = np.zeros((3, STEPS), dtype=bool)
    lengths = np.rint(np.linspace(20, 80, STEPS // SPACING)).astype(int)  # 5% to the step
    for i, length in enumerate(rng.permutation(lengths)):
        start = SPACING * i + rng.integers(SPACING - length)
        runs[start : start + length] = True
    single[rng.choice(STEPS, LABELLED, replace=False)] = True
    start = rng.integers(STEPS - LABELLED)
    long[start : start + LABELLED] = True
    return {"runs": runs, "single": single, "long": long}


def shown(value: float, perfect: float) -> str:
    """Three digits of what is at most 1; whole numbers of what is at most 100, unless they are small."""
    if perfect == 1:
        return f"{value:.3f}".removeprefix("0")
    return (f"{value:.0f}" if abs(value) >= 10 else f"{value:.1f}").replace("-", "−")


def cell(metric: str, truth: np.ndarray, null: str, budget: float | None, draws: int) -> str:
    """Mean and critical value, as the pages show them."""
    level = nf.chance(metric, truth, null=null, budget=budget, n_resamples=draws, rng=1)
    mean, bar = (shown(value, level.metric.perfect) for value in (level.expected, level.critical_value))
    return f"{mean} ({bar})"


def table(metrics: tuple[str, ...], series: dict[str, np.ndarray], draws: int) -> None:
    """One family."""
    alarms = nf.metrics.get(metrics[0]).needs == "alarms"
    heads = [f"{kind}, {detector}" for kind in series for detector in DETECTORS]
    print("| metric |" + " alarms |" * alarms + "".join(f" {head} |" for head in heads))
    print("| --- |" + " ---: |" * (len(heads) + alarms))
    for metric in metrics:
        for budget in BUDGETS if alarms else (None,):
            found = [
                cell(metric, truth, null, budget, draws) for truth in series.values() for null in DETECTORS.values()
            ]
            share = f" {budget:.0%} |" if budget else ""
            print(f"| `{metric}` |{share}" + "".join(f" {one} |" for one in found), flush=True)
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=FAMILIES)
    asked = parser.parse_args()
    series = labels(np.random.default_rng(asked.seed))
    for family, metrics in FAMILIES.items():
        if asked.only in (None, family):
            print(f"{family}, {asked.draws:,} draws, seed {asked.seed}:\n")
            table(metrics, series, asked.draws)


if __name__ == "__main__":
    main()
