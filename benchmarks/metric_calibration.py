"""How often each null calls the metrics of a worthless detector significant: which nulls are fair to labels in ranges.

First table: ten labelled ranges in 2,000 steps and scores of an autoregression that know nothing of them; the share of
pairs with p ≤ 0.05, in per cent, for a memory φ of 0, 0.9 and 0.99. Second: what `auto` makes of the situations of
situations.py, trends, seasons and bursts that labels and scores share; for each metric the share with p ≤ 0.05 where
auto found a null that holds, and how often it found none. Prints Markdown:

    python benchmarks/metric_calibration.py [--pairs 400] [--situation-pairs 200] [--seed 5] [--workers 2] [--only
    trend] [--beyond | --seasons]
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from scipy.signal import lfilter
from seasons import EVERY_ONE as SEASONS
from situations import BEYOND, SITUATIONS

import nofluke as nf

LEVEL, RESAMPLES, QUANTILE = 0.05, 199, 0.95
STEPS, RANGES, SHORTEST, LONGEST = 2_000, 10, 20, 80
METRICS = ("auc-roc", "pa-f1", "best-pa-f1", "range-f1", "affiliation-f1", "vus-pr")
SHARED = ("auc-roc", "average-precision", "best-pa-f1", "range-f1", "affiliation-f1", "vus-pr:window=20")
NULLS = ("permutation", "score-permutation", "blocks:length=100", "segments", "circular-shift", "local-shift", "auto")
MEMORIES = (0.0, 0.9, 0.99)
Shares = dict[str, list[bool]]
WITH_SEASONS = (
    "archive layout, 3 late ranges",
    "the tutorial's latency",
    "28 days, 24 ranges, daily, nothing else",
    "28 days, 24 ranges, daily, a shared weekday",
    "detector that runs at night only, 24 ranges",
)


def series(rng: np.random.Generator, memory: float) -> tuple[np.ndarray, np.ndarray]:
    """Ranges on random steps, of which some may touch, and scores that know nothing of them."""
    lengths = rng.integers(SHORTEST, LONGEST + 1, RANGES)
    free = np.sort(rng.integers(0, STEPS - lengths.sum() + 1, RANGES))
    labels = np.zeros(STEPS, dtype=int)
    for start, length in zip(free + np.cumsum(lengths) - lengths, lengths, strict=True):
        labels[start : start + length] = 1
    noise = rng.standard_normal(STEPS)
    noise[1:] *= np.sqrt(1 - memory**2)
    return labels, lfilter([1.0], [1.0, -memory], noise)


def judged(metrics: tuple[str, ...], labels: Any, scores: np.ndarray, null: str, seed: int, **more: Any) -> Any:
    return nf.significance(
        list(metrics), labels, scores, quantile=QUANTILE, null=null, n_resamples=RESAMPLES, rng=seed, workers=1, **more
    )


def tried(memory: float, seed: int, number: int) -> dict[tuple[str, str], bool]:
    """Whether p is at most the level, for each null and metric and for all metrics together."""
    labels, scores = series(np.random.default_rng([seed, int(100 * memory), number]), memory)
    found = {}
    for null in NULLS:
        result = judged(METRICS, labels, scores, null, number)
        holds = result[0].choice.holds
        found |= {(null, one.name): holds and one.pvalue <= LEVEL for one in result}
        found[null, "all"] = holds and result.pvalue <= LEVEL
    return found


def shared(name: str, seed: int, number: int) -> dict[str, Any]:
    """What auto says of a pair in one of the situations."""
    every = {**SITUATIONS, **BEYOND, **SEASONS}
    truth, scores, more = every[name](np.random.default_rng([seed, list(every).index(name), number]))
    more = {key: value for key, value in more.items() if key == "times"}
    result = judged(SHARED, truth, scores, "auto", number, **more)
    holds = result[0].choice.holds
    row: dict[str, Any] = {one.name: holds and one.pvalue <= LEVEL for one in result}
    return row | {"all": holds and result.pvalue <= LEVEL, "untold": not holds, "null": result[0].choice.model.name}


def short(number: float) -> str:
    return f"{number:.3f}".lstrip("0") if number < 1 else "1"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--situation-pairs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="situations whose name has this in it")
    parser.add_argument("--beyond", action="store_true", help="situations that the rule of auto was not made for")
    parser.add_argument("--seasons", action="store_true", help="some of those with seasons and calendars")
    asked = parser.parse_args()
    began = time.perf_counter()
    with ProcessPoolExecutor(asked.workers) as pool:
        if asked.pairs:
            by_memory = [
                list(pool.map(partial(tried, memory, asked.seed), range(asked.pairs), chunksize=4))
                for memory in MEMORIES
            ]
            columns = (*METRICS, "all")
            print(f"| null, {asked.pairs} pairs | " + " | ".join(columns) + " |")
            print("|---|" + "---|" * len(columns))
            for null in NULLS:
                cells = [
                    "/".join(f"{100 * np.mean([row[null, metric] for row in rows]):.0f}" for rows in by_memory)
                    for metric in columns
                ]
                print(f"| {null} | " + " | ".join(cells) + " |", flush=True)
            print()
        if asked.situation_pairs:
            columns = (*SHARED, "all", "untold")
            print(f"| situation, {asked.situation_pairs} pairs | " + " | ".join(columns) + " | nulls |")
            print("|---|" + "---|" * (len(columns) + 1))
            chosen = WITH_SEASONS if asked.seasons else BEYOND if asked.beyond else SITUATIONS
            for name in [name for name in chosen if asked.only in name]:
                rows = list(pool.map(partial(shared, name, asked.seed), range(asked.situation_pairs), chunksize=4))
                nulls = sorted(
                    {row["null"] for row in rows}, key=lambda null: -sum(row["null"] == null for row in rows)
                )
                cells = [short(float(np.mean([row[column] for row in rows]))) for column in columns]
                print(f"| {name} | " + " | ".join(cells) + f" | {', '.join(nulls[:3])} |", flush=True)
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
