"""How often metrics pooled over series call a worthless detector skilled, and how often a skilled one, beside hits.

Run it with the number of studies: ``python benchmarks/study_metrics.py 200``. Each has 30 series of 400 steps with
three labelled ranges of 5 to 20 steps each, two detectors with the memory of an AR(1) process (φ = .9), alarms on 5% of
the steps, and VUS-PR and PA-F1 under ``null="auto"`` with 299 draws.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from scipy.signal import lfilter
from scipy.stats import combine_pvalues

import nofluke as nf

SERIES, STEPS, RANGES, DRAWS = 30, 400, 3, 299
METRICS = ("vus-pr:window=10", "pa-f1")
TREND = np.linspace(-1, 1, STEPS)


def labels(rng: np.random.Generator, rate: Any = None) -> Any:
    """Three ranges of 5 to 20 steps, anywhere or by a rate."""
    found = np.zeros(STEPS, dtype=np.int64)
    for length in rng.integers(5, 21, RANGES).tolist():
        own = None if rate is None else rate[: STEPS - length] / rate[: STEPS - length].sum()
        start = int(rng.choice(STEPS - length, p=own))
        found[start : start + length] = 1
    return found


def noise(rng: np.random.Generator, rows: int, memory: float = 0.9) -> Any:
    """Scores without any knowledge, each row with its own memory."""
    return lfilter([np.sqrt(1 - memory**2)], [1, -memory], rng.normal(size=(rows, STEPS + 100)))[:, 100:]


def truths(rng: np.random.Generator, rate: Any = None) -> Any:
    return np.stack([labels(rng, rate) for _ in range(SERIES)])


def independent(rng: np.random.Generator) -> tuple[Any, ...]:
    return truths(rng), noise(rng, SERIES), noise(rng, SERIES)


def sensors(rng: np.random.Generator) -> tuple[Any, ...]:
    """Three machines with ten sensors each, labelled once; scores of a machine are alike."""
    truth = np.repeat(truths(rng)[:3], SERIES // 3, axis=0)
    both = (0.8 * np.repeat(noise(rng, 3), SERIES // 3, axis=0) + 0.6 * noise(rng, SERIES) for _ in range(2))
    return truth, *both


def trend(rng: np.random.Generator) -> tuple[Any, ...]:
    """Labels become more frequent, and scores higher, from the first step to the last of every series."""
    return truths(rng, 1 + 0.5 * TREND), *(noise(rng, SERIES) + 0.5 * TREND for _ in range(2))


def places(rng: np.random.Generator) -> tuple[Any, ...]:
    """All labels lie in the second half, where scores are higher."""
    return truths(rng, (TREND > 0) + 1e-9), *(noise(rng, SERIES) + (TREND > 0) for _ in range(2))


def skilled(rng: np.random.Generator, share: float, size: float) -> tuple[Any, ...]:
    truth, *both = independent(rng)
    knows = np.arange(SERIES) < share * SERIES
    return truth, *(z + size * truth * knows[:, None] for z in both)


WORLDS = {
    "no skill": independent,
    "no skill, 3 truths for 30 series": sensors,
    "no skill, a trend in all": trend,
    "no skill, labels in the second half": places,
    "a little skill everywhere": lambda rng: skilled(rng, 1, 0.35),
    "strong skill in a tenth": lambda rng: skilled(rng, 0.1, 2.0),
}


def fisher(pvalues: Any) -> float:
    return float(combine_pvalues(pvalues, "fisher").pvalue)


def simes(pvalues: Any) -> float:
    n = len(pvalues)
    return float((np.sort(pvalues) * n / np.arange(1, n + 1)).min())


def main(runs: int, which: str = "", seed: int = 0) -> None:
    """A line for each world: share of p ≤ .05, and of verdicts yes, by metric; and pooled hits."""
    for name, world in WORLDS.items():
        if which not in name:
            continue
        small, yes, others = [], [], []
        for run in range(runs):
            truth, one, other = world(np.random.default_rng([seed, run]))
            series = np.repeat([f"s{i:02}" for i in range(SERIES)], STEPS)
            study = nf.study(
                {"name": series, "label": truth.ravel(), "a": one.ravel(), "b": other.ravel()},
                **{"series": "name", "truth": "label", "scores": ["a", "b"], "count_events": "ranges", "budget": "5%"},
                **{"metrics": METRICS, "n_resamples": DRAWS, "rng": run, "workers": 1},
            )
            for row in study.pooled():
                small.append([one.pvalue <= 0.05 for one in (*row.metrics, row.precision, row.recall)])
                yes.append([*(one.verdict == "yes" for one in row.metrics), row.verdict in ("yes", "partly")])
                own = study.cells["detector"] == row.detector
                pvalues = [study.cells[f"{metric}_pvalue"][own] for metric in METRICS]
                others.append([combined(p) <= 0.05 for combined in (fisher, simes) for p in pvalues])
        told = " ".join(f"{share:.3f}" for share in np.mean(small, axis=0))
        some = np.array(yes)
        any_yes = some[:, :-1].reshape(runs, -1).any(axis=1).mean()
        print(
            f"{name:38} p ≤ .05: {told}; yes: {' '.join(f'{s:.3f}' for s in some.mean(axis=0))}; "
            f"any yes by metrics in a study {any_yes:.3f}; Fisher and Simes of single series: "
            f"{' '.join(f'{s:.3f}' for s in np.mean(others, axis=0))}",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100, *sys.argv[2:3])
