"""Archives whose labels share their places: how often a pooled study is fooled, and what skill it still finds.

Each run is a study of 30 series with one detector. Events are ranges of ten steps; an alarm budget of 2%, tolerance 2.
Run in a clone of the repository:

    .venv/bin/python benchmarks/archives.py --runs 200
"""

import argparse
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import partial

import numpy as np

import nofluke as nf
from nofluke.studies.sources import chunks

chunks.LEAST_CHUNKS = 1  # one part: to write many takes most of the time, and changes no number
SERIES, STEPS, LONG = 30, 400, 10
Archive = Callable[[np.random.Generator], list[np.ndarray]]
Detector = Callable[[np.random.Generator, np.ndarray], np.ndarray]


def labelled(n: int, starts: np.ndarray) -> np.ndarray:
    """Labels with a range at each start."""
    labels = np.zeros(n, dtype=np.int64)
    for start in np.atleast_1d(starts):
        labels[start : start + LONG] = 1
    return labels


def late(rng: np.random.Generator, n: int, many: int = 1) -> np.ndarray:
    """Starts in the second half, apart from each other."""
    return n // 2 + rng.choice((n // 2 - LONG) // (LONG + 2), many, replace=False) * (LONG + 2) + rng.integers(3)


def lengths(rng: np.random.Generator) -> np.ndarray:
    """Of archives with series of three lengths."""
    return rng.choice([300, 400, 500], SERIES)


ARCHIVES: dict[str, Archive] = {
    "anywhere": lambda rng: [labelled(STEPS, rng.integers(0, STEPS - LONG)) for _ in range(SERIES)],
    "anywhere in the second half": lambda rng: [labelled(STEPS, late(rng, STEPS)) for _ in range(SERIES)],
    "three in the second half": lambda rng: [labelled(STEPS, late(rng, STEPS, 3)) for _ in range(SERIES)],
    "27% at step 200, others behind": lambda rng: [
        labelled(STEPS, 200 if i < 0.27 * SERIES else late(rng, STEPS)) for i in range(SERIES)
    ],
    "spread over 2% of the length": lambda rng: [
        labelled(STEPS, 200 + rng.integers(0, STEPS // 50 + 1)) for _ in range(SERIES)
    ],
    "three lengths, 27% at half of them, others behind": lambda rng: [
        labelled(n, n // 2 if i < 0.27 * SERIES else late(rng, n)) for i, n in enumerate(lengths(rng).tolist())
    ],
    "all at step 200": lambda _: [labelled(STEPS, 200) for _ in range(SERIES)],
}


def noise(rng: np.random.Generator, labels: np.ndarray) -> np.ndarray:
    """Scores that know nothing."""
    return rng.normal(size=len(labels))


def rising(rng: np.random.Generator, labels: np.ndarray) -> np.ndarray:
    """Scores that are higher by 1 in the second half."""
    return noise(rng, labels) + (np.arange(len(labels)) >= len(labels) // 2)


def at_a_step(rng: np.random.Generator, labels: np.ndarray) -> np.ndarray:
    """Scores that are highest around step 200, whatever the series."""
    return noise(rng, labels) + 6 * (np.abs(np.arange(len(labels)) - 202) <= 2)


def at_a_share(rng: np.random.Generator, labels: np.ndarray) -> np.ndarray:
    """Scores that are highest around half of the length."""
    return noise(rng, labels) + 6 * (np.abs(np.arange(len(labels)) - len(labels) // 2 - 2) <= 2)


def skilled(share: float) -> Detector:
    """Scores that know this share of the events, and are highest on the first two steps of these."""

    def scores(rng: np.random.Generator, labels: np.ndarray) -> np.ndarray:
        starts = np.flatnonzero(np.diff(labels, prepend=0) == 1)
        known, found = starts[rng.random(len(starts)) < share], noise(rng, labels)
        found[known] += 6
        found[known + 1] += 6
        return found

    return scores


WORTHLESS = {"noise": noise, "rising": rising, "at one step": at_a_step, "at one share": at_a_share}
SKILLED = {"a tenth of the events": skilled(0.1), "a fifth": skilled(0.2)}
POWER = tuple(ARCHIVES)[1:-1]  # those whose events lie in the test part, at more than one place
WAYS: tuple[dict[str, object], ...] = ({}, {"null": "circular-shift", "test_part": 0.5})


def judged(place: str, detector: str, seed: int, **how: object) -> tuple[str, bool]:
    """The pooled verdict, and whether places were said to coincide."""
    rng = np.random.default_rng(seed)
    labels = ARCHIVES[place](rng)
    scores = [(WORTHLESS | SKILLED)[detector](rng, one) for one in labels]
    table = {
        "name": np.repeat([f"s{i:02}" for i in range(len(labels))], [len(one) for one in labels]),
        "label": np.concatenate(labels),
        "z": np.concatenate(scores),
    }
    asked = {"series": "name", "truth": "label", "scores": "z", "budget": 0.02, "tolerance": 2, "workers": 1}
    study = nf.study(table, **asked, count_events="ranges", n_resamples=999, rng=seed, **how)
    return study.pooled()[0].verdict, study.places.coincide


def rates(pool: Executor, place: str, detector: str, runs: int, **how: object) -> tuple[float, float, float]:
    """Shares of runs: better than chance, cannot tell, and places that coincide."""
    found = list(pool.map(partial(judged, place, detector, **how), range(runs), chunksize=5))
    told = Counter(verdict for verdict, _ in found)
    return (told["yes"] + told["partly"]) / runs, told["cannot tell"] / runs, sum(said for _, said in found) / runs


def without_skill(pool: Executor, runs: int) -> None:
    """Print how often each archive fools a pooled study."""
    print(f"Without skill, {runs} runs:\n")
    print("| events | detector | yes or partly | cannot tell | places coincide |\n| --- | --- | ---: | ---: | ---: |")
    for place in ARCHIVES:
        odd = "at one step" if place.startswith("three lengths") else "at one share"
        for name in WORTHLESS:
            if name != odd:
                told = " | ".join(f"{one:.3f}" for one in rates(pool, place, name, runs))
                print(f"| {place} | {name} | {told} |", flush=True)


def with_skill(pool: Executor, runs: int) -> None:
    """Print what is found of skill, beside a null that knows the test part."""
    print(f"\nWith skill, yes or partly, {runs} runs:\n")
    print("| events | known | labels exchanged | test part rotated |\n| --- | --- | ---: | ---: |")
    for place in POWER:
        for name in SKILLED:
            power = [rates(pool, place, name, runs, **how)[0] for how in WAYS]
            print(f"| {place} | {name} | {power[0]:.3f} | {power[1]:.3f} |", flush=True)


def main() -> None:
    """Print both tables, or one."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", choices=("level", "power"))
    asked = parser.parse_args()
    with ProcessPoolExecutor(asked.processes) as pool:
        if asked.only != "power":
            without_skill(pool, asked.runs)
        if asked.only != "level":
            with_skill(pool, asked.runs)


if __name__ == "__main__":
    main()
