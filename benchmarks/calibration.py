"""How often each null calls a worthless detector significant, and how often it finds one with skill.

Five situations in which events and scores are independent of each other (T = 2,000 steps, about 100 events, 200 alarms, tolerance
2): nothing special; alarms, events or both in clusters; a season that both share. For each null and measure, the share
of independent pairs with p ≤ 0.05; then the same for a detector that really finds a part of the events. Prints Markdown:

    python benchmarks/calibration.py [--pairs 1000] [--seed 5] [--workers 2]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np

import nofluke as nf
from nofluke import nulls

STEPS, EVENTS, ALARMS, DELTA, PERIOD, LEVEL, RESAMPLES = 2_000, 100, 200, 2, 100, 0.05, 499
CLUSTER = 5  # events around each of EVENTS / CLUSTER steps; some fall on the same step
NULLS: dict[str, nulls.NullModel] = {
    "permutation": nulls.Permutation(),
    "circular-shift": nulls.CircularShift(),
    "interval-shuffle": nulls.IntervalShuffle(),
    "segments": nulls.Segments(),
    "blocks:length=50": nulls.Blocks(length=50),
    f"seasonal:period={PERIOD}": nulls.Seasonal(period=PERIOD),
    f"seasonal:period={PERIOD},bins=24": nulls.Seasonal(period=PERIOD, bins=24),
    f"circular-shift:every={PERIOD}": nulls.CircularShift(every=PERIOD),
    "bernoulli": nulls.Bernoulli(),
    "stationary": nulls.Stationary(),
}
SLOW = {"stationary": 10}  # every how many pairs: its fit takes as long as all other nulls together
Pair = tuple[np.ndarray, np.ndarray]


def gumbel(rng: np.random.Generator) -> np.ndarray:
    return rng.gumbel(size=STEPS)


def single_events(rng: np.random.Generator, weight: np.ndarray | float = 0.0) -> np.ndarray:
    """Events on random steps; the largest of weights plus Gumbel noise are a sample with chances e^weight."""
    truth = np.zeros(STEPS, dtype=bool)
    truth[np.argsort(gumbel(rng) + weight)[-EVENTS:]] = True
    return truth


def clustered_events(rng: np.random.Generator) -> np.ndarray:
    """Five events around each of twenty random steps."""
    centres = np.repeat(rng.integers(STEPS, size=EVENTS // CLUSTER), CLUSTER)
    truth = np.zeros(STEPS, dtype=bool)
    truth[(centres + np.rint(rng.normal(0, 3, EVENTS)).astype(int)) % STEPS] = True
    return truth


def smooth(rng: np.random.Generator) -> np.ndarray:
    """A moving average of noise: its alarms come in runs."""
    return np.convolve(rng.normal(size=STEPS + 9), np.ones(10), mode="valid") / np.sqrt(10)


def season(rng: np.random.Generator) -> np.ndarray:
    return 2 * np.cos(2 * np.pi * (np.arange(STEPS) / PERIOD + rng.random()))


def shared_season(rng: np.random.Generator) -> Pair:
    weight = season(rng)
    return single_events(rng, weight), gumbel(rng) + weight


SITUATIONS: dict[str, Callable[[np.random.Generator], Pair]] = {
    "iid": lambda rng: (single_events(rng), gumbel(rng)),
    "alarms clustered": lambda rng: (single_events(rng), smooth(rng)),
    "events clustered": lambda rng: (clustered_events(rng), gumbel(rng)),
    "both clustered": lambda rng: (clustered_events(rng), smooth(rng)),
    "shared season": shared_season,
}


def with_skill(pair: Pair, rng: np.random.Generator, share: float = 0.2) -> Pair:
    """The same pair, but a share of the events is followed or preceded closely by the highest scores."""
    truth, scores = pair[0], pair[1].copy()
    found = np.flatnonzero(truth)
    found = found[rng.random(len(found)) < share]
    near = np.clip(found + rng.integers(-DELTA, DELTA + 1, size=len(found)), 0, STEPS - 1)
    scores[near] = scores.max() + 1
    return truth, scores


def pvalues(name: str, skill: bool, seed: int, number: int) -> dict[str, tuple[float, float]]:
    """P-values of precision and recall of one pair under each null, and under the recommended one."""
    rng = np.random.default_rng([seed, list(SITUATIONS).index(name), number])
    pair = SITUATIONS[name](rng)
    truth, scores = with_skill(pair, rng) if skill else pair
    threshold = float(np.sort(scores)[-ALARMS])
    known = PERIOD if name == "shared season" else None
    advised = nf.diagnose(truth, scores, threshold=threshold, tolerance=DELTA, period=known)
    found: dict[str, tuple[float, float]] = {}
    for label, model in {**NULLS, "recommended": advised.recommended}.items():
        if label == "recommended" and model.text in found:
            found[label] = found[model.text]
            continue
        if number % SLOW.get(label, 1) == 0:
            result = nf.evaluate(
                truth, scores, threshold=threshold, tolerance=DELTA, null=model, n_resamples=RESAMPLES, rng=number
            )
            found[label] = (result.precision_test.pvalue, result.recall_test.pvalue)
    found["=" + advised.recommended.text] = (0.0, 0.0)
    return found


def rates(skill: bool, pairs: int, seed: int, workers: int) -> dict[str, dict[str, tuple[float, float]]]:
    """Share of pairs with p ≤ 0.05, by null and situation, for precision and recall; and how often each was recommended."""
    table: dict[str, dict[str, tuple[float, float]]] = {}
    with ProcessPoolExecutor(workers) as pool:
        for name in SITUATIONS:
            one = partial(pvalues, name, skill, seed)
            results = list(pool.map(one, range(pairs), chunksize=10))
            for label in {key: None for result in results for key in result}:
                p = np.array([result[label] for result in results if label in result])
                table.setdefault(label, {})[name] = (
                    (len(p) / pairs,) * 2 if label.startswith("=") else tuple((p <= LEVEL).mean(axis=0))
                )
    return table


def markdown(table: dict[str, Any], first: str) -> str:
    """Recall/precision by null (rows) and situation (columns)."""
    lines = [f"| {first} | " + " | ".join(SITUATIONS) + " |", "| --- |" + " ---: |" * len(SITUATIONS)]
    for label, row in table.items():
        cells = []
        for name in SITUATIONS:
            precision, recall = row.get(name, (0.0, 0.0))
            cells.append(f"{100 * recall:.0f}%" if label.startswith("=") else f"{short(recall)}/{short(precision)}")
        lines.append(
            f"| {'`' + label.lstrip('=') + '`' if label != 'recommended' else '**recommended**'} | "
            + " | ".join(cells)
            + " |"
        )
    return "\n".join(lines)


def short(share: float) -> str:
    return f"{share:.3f}".lstrip("0") if share < 1 else "1"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1_000)
    parser.add_argument("--power-pairs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    for skill, pairs in ((False, asked.pairs), (True, asked.power_pairs)):
        begin = time.perf_counter()
        table = rates(skill, pairs, asked.seed, asked.workers)
        advised = {label: row for label, row in table.items() if label.startswith("=")}
        tested = {label: row for label, row in table.items() if not label.startswith("=")}
        tested["recommended"] = tested.pop("recommended")
        what = "Share of detectors with skill found" if skill else "False positives"
        print(f"{what} at p ≤ {LEVEL} (recall/precision), {pairs:,} pairs, seed {asked.seed}\n")
        print(markdown(tested, "null"), "\n")
        print(markdown(advised, "recommended by diagnose"))
        print(f"\n{time.perf_counter() - begin:.0f} s\n")


if __name__ == "__main__":
    main()
