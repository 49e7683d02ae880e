"""How often metrics pooled over series call a worthless detector skilled, and how often a skilled one, beside hits.

Run it with the number of studies: ``python benchmarks/study_metrics.py 200``. Each study has 30 series of 600 steps with
three labelled ranges of 5 to 30 steps each, one detector with the memory of an AR(1) process (φ = .9), alarms on 5% of
the steps, and VUS-PR, PA-F1 and AUC-ROC under ``null="auto"`` with 499 draws.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from scipy.signal import lfilter

import nofluke as nf

SERIES, STEPS, RANGES, DRAWS = 30, 600, 3, 499
METRICS = ("vus-pr:window=20", "pa-f1", "auc-roc")
TREND = np.linspace(-1, 1, STEPS)


def labels(rng: np.random.Generator, rate: Any = None) -> Any:
    """Three ranges of 5 to 30 steps, anywhere or by a rate."""
    found = np.zeros(STEPS, dtype=np.int64)
    for length in rng.integers(5, 31, RANGES).tolist():
        own = None if rate is None else rate[: STEPS - length] / rate[: STEPS - length].sum()
        start = int(rng.choice(STEPS - length, p=own))
        found[start : start + length] = 1
    return found


def noise(rng: np.random.Generator, rows: int, memory: float = 0.9) -> Any:
    """Scores without any knowledge, each row with its own memory."""
    return lfilter([np.sqrt(1 - memory**2)], [1, -memory], rng.normal(size=(rows, STEPS + 100)))[:, 100:]


def truths(rng: np.random.Generator, rate: Any = None) -> Any:
    return np.stack([labels(rng, rate) for _ in range(SERIES)])


def independent(rng: np.random.Generator) -> tuple[Any, Any]:
    return truths(rng), noise(rng, SERIES)


def sensors(rng: np.random.Generator) -> tuple[Any, Any]:
    """Three machines with ten sensors each, labelled once; scores of a machine are alike."""
    truth = np.repeat(truths(rng)[:3], SERIES // 3, axis=0)
    return truth, 0.8 * np.repeat(noise(rng, 3), SERIES // 3, axis=0) + 0.6 * noise(rng, SERIES)


def trend(rng: np.random.Generator) -> tuple[Any, Any]:
    """Labels become more frequent, and scores higher, from the first step to the last of every series."""
    return truths(rng, 1 + 0.5 * TREND), noise(rng, SERIES) + 0.5 * TREND


def places(rng: np.random.Generator) -> tuple[Any, Any]:
    """All labels lie in the second half, where scores are higher."""
    return truths(rng, (TREND > 0) + 1e-9), noise(rng, SERIES) + (TREND > 0)


def skilled(rng: np.random.Generator, share: float, size: float) -> tuple[Any, Any]:
    truth, z = independent(rng)
    knows = np.arange(SERIES) < share * SERIES
    return truth, z + size * truth * knows[:, None]


WORLDS = {
    "no skill": independent,
    "no skill, 3 truths for 30 series": sensors,
    "no skill, a trend in all": trend,
    "no skill, labels in the second half": places,
    "a little skill everywhere": lambda rng: skilled(rng, 1, 0.35),
    "strong skill in a tenth": lambda rng: skilled(rng, 0.1, 2.0),
}


def main(runs: int, which: str = "", seed: int = 0) -> None:
    """A line for each world: share of p ≤ .05, and of verdicts yes, by metric; and pooled hits."""
    for name, world in WORLDS.items():
        if which not in name:
            continue
        small, yes = [], []
        for run in range(runs):
            truth, z = world(np.random.default_rng([seed, run]))
            series = np.repeat([f"s{i:02}" for i in range(SERIES)], STEPS)
            study = nf.study(
                {"name": series, "label": truth.ravel(), "z": z.ravel()},
                **{"series": "name", "truth": "label", "scores": "z", "count_events": "ranges", "budget": "5%"},
                **{"metrics": METRICS, "n_resamples": DRAWS, "rng": run, "workers": 1},
            )
            row = study.pooled()[0]
            every = [*row.metrics, row.precision, row.recall]
            small.append([one.pvalue <= 0.05 for one in every])
            yes.append([*(one.verdict == "yes" for one in row.metrics), row.verdict in ("yes", "partly")])
        told = " ".join(f"{share:.3f}" for share in np.mean(small, axis=0))
        some = np.array(yes)
        print(
            f"{name:38} p ≤ .05: {told}; yes: {' '.join(f'{s:.3f}' for s in some.mean(axis=0))}; "
            f"any metric {some[:, :-1].any(axis=1).mean():.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100, *sys.argv[2:3])
