"""How often intervals hold the long-run precision, recall and F1, beside those of Clopper and Pearson: five series,
four studies.

Run it as ``python benchmarks/interval_coverage.py``. What runs are held against is the ratio of sums over one run that
is as long as thousands of them. Runs without an interval are left out, and their share is printed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

import numpy as np

import nofluke as nf
from nofluke.inference.interval import intervals_of
from nofluke.measures.episodes import units_of
from nofluke.series.reading import prepare
from nofluke.series.trial import Trial

LEVEL, TOLERANCE, LONG = 0.95, 3, 4_000_000
MEASURES = ("P", "R", "F1")
Flags = np.ndarray
Situation = Callable[[np.random.Generator, int], tuple[Flags, Flags]]


def flagged(at: np.ndarray, steps: int) -> Flags:
    flags = np.zeros(steps, dtype=bool)
    flags[at[(at >= 0) & (at < steps)].astype(int)] = True
    return flags


def spread(rng: np.random.Generator, at: np.ndarray, mean: float, around: float) -> np.ndarray:
    """A Poisson number of moments around each of these."""
    many = np.repeat(at, rng.poisson(mean, len(at)))
    return np.rint(many + rng.normal(0, around, len(many)))


def iid(rng: np.random.Generator, steps: int, rate: float = 0.02) -> tuple[Flags, Flags]:
    """Events anywhere, each found with probability .6 within two steps; false alarms anywhere."""
    truth, false = rng.random((2, steps)) < np.array([[rate], [0.01]])
    found = np.flatnonzero(truth & (rng.random(steps) < 0.6))
    return truth, false | flagged(found + rng.integers(-2, 3, len(found)), steps)


def clustered(rng: np.random.Generator, steps: int) -> tuple[Flags, Flags]:
    """Bursts of five events or so, found together or not at all, by several alarms each; false alarms in bursts too."""
    bursts = np.flatnonzero(rng.random(steps) < 0.008)
    events = spread(rng, bursts, 5, 4)
    seen = bursts[rng.random(len(bursts)) < 0.6]
    alarms = np.concatenate([spread(rng, seen, 6, 4), spread(rng, np.flatnonzero(rng.random(steps) < 0.004), 6, 4)])
    return flagged(events, steps), flagged(alarms, steps)


def ranges(rng: np.random.Generator, steps: int) -> tuple[Flags, Flags]:
    """Every step of ranges of 5 to 60 steps is an event; alarms on a stretch of some of them, and on stretches
    elsewhere."""
    starts = np.flatnonzero(rng.random(steps) < 0.01)
    lengths = rng.integers(5, 61, len(starts))
    truth = flagged(
        np.concatenate([np.arange(s, s + n) for s, n in zip(starts, lengths, strict=True)] or [starts]), steps
    )
    seen = rng.random(len(starts)) < 0.6
    false = np.flatnonzero(rng.random(steps) < 0.006)
    begins = np.concatenate([starts[seen] + rng.integers(0, 5, seen.sum()), false])
    lasting = np.concatenate([np.rint(lengths[seen] * rng.random(seen.sum())), rng.integers(1, 30, len(false))]).astype(
        int
    )
    alarms = np.concatenate([np.arange(s, s + n) for s, n in zip(begins, lasting, strict=True)] or [starts])
    return truth, flagged(alarms, steps)


def study(rng: np.random.Generator, sizes: np.ndarray) -> np.ndarray:
    """Counts of series of such sizes, each with a precision and a recall of its own around .5."""
    alarms, events = rng.poisson(5 * sizes), rng.poisson(4 * sizes) + 1
    own = [rng.beta(2, 2, len(sizes)) for _ in range(2)]
    return np.stack([alarms, rng.binomial(alarms, own[0]), events, rng.binomial(events, own[1])], axis=1)


def lognormal(rng: np.random.Generator, n: int) -> np.ndarray:
    """Counts of series of which the largest tenth hold more than half of all events."""
    return study(rng, np.exp(rng.normal(0, 1.5, n)))


def few_large(rng: np.random.Generator, n: int) -> np.ndarray:
    """Counts of series of which one in ten is twenty times as large."""
    return study(rng, np.where(rng.random(n) < 0.1, 20, 1))


STUDIES: dict[str, tuple[Callable[[np.random.Generator, int], np.ndarray], int]] = {
    "12 series, lognormal sizes": (lognormal, 12),
    "30 series, lognormal sizes": (lognormal, 30),
    "100 series, lognormal sizes": (lognormal, 100),
    "28 series, few large": (few_large, 28),
}

SITUATIONS: dict[str, tuple[Situation, int]] = {
    "iid": (iid, 2_000),
    "about 8 events": (partial(iid, rate=0.004), 2_000),
    "clustered": (clustered, 4_000),
    "ranges": (ranges, 2_000),
    "ranges, T = 10⁴": (ranges, 10_000),
}


def cell_of(truth: Flags, alarms: Flags):
    """The cell of one run."""
    tolerances = (nf.Tolerance(early=TOLERANCE, late=TOLERANCE),)
    return Trial.of(prepare(truth, predictions=alarms, truth_as="labels"), tolerances, None).cell(0, 0)


def shares(alarms: float, hits: float, events: float, found: float) -> np.ndarray:
    p, r = hits / alarms, found / events
    return np.array([p, r, 2 * p * r / (p + r)])


def independent(counts: np.ndarray) -> np.ndarray:
    """Intervals that take every alarm and every event for independent (Clopper and Pearson); none for F1."""
    from scipy.stats import binomtest

    made = [binomtest(int(k), int(n)).proportion_ci(LEVEL, "exact") for n, k in (counts[:2], counts[2:]) if n]
    return np.array([*((ci.low, ci.high) for ci in made), *[(np.nan, np.nan)] * (3 - len(made))])


def run(situation: Situation, steps: int, runs: int, seed: int, long: int = LONG) -> dict[str, np.ndarray]:
    """Coverage by each method, mean width, and the share of runs with an interval."""
    return counted(lambda rng, n: units_of((cell_of(*situation(rng, n)),))[0], steps, runs, seed, long, "episodes")


def counted(units_in: Callable[[np.random.Generator, int], np.ndarray], size, runs, seed, long, kind):
    """The same, of units in so many steps or of so many series."""
    rng = np.random.default_rng(seed)
    truth = shares(*units_in(rng, long).sum(axis=0))
    ours, theirs = np.empty((2, runs, 3, 2))
    for own, other in zip(ours, theirs, strict=True):
        units = units_in(rng, size)
        own[:] = [(interval.low, interval.high) for interval in intervals_of(units, LEVEL, kind=kind)]
        other[:] = independent(units.sum(axis=0))

    def covered(intervals: np.ndarray) -> np.ndarray:
        told = ~np.isnan(intervals[:, :, 0])
        return ((intervals[:, :, 0] <= truth) & (truth <= intervals[:, :, 1])).sum(axis=0) / told.sum(axis=0)

    with np.errstate(invalid="ignore"):
        return {
            "truth": truth,
            "with": (~np.isnan(ours[:, :, 0])).mean(axis=0),
            "covered": covered(ours),
            "width": np.nanmean(ours[:, :, 1] - ours[:, :, 0], axis=0),
            "clopper-pearson": covered(theirs),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print("| situation | long run | runs with an interval | coverage | mean width | Clopper–Pearson |")
    print("| --- | --- | --- | --- | --- | --- |")
    series = {name: (run, *how, asked.runs, asked.seed) for name, how in SITUATIONS.items()}
    studies = {name: (counted, *how, asked.runs, asked.seed, LONG, "series") for name, how in STUDIES.items()}
    for name, (simulate, *how) in (series | studies).items():
        found = simulate(*how)
        cells = [
            " / ".join(f"{x:.3f}".removeprefix("0") for x in values if not np.isnan(x)) for values in found.values()
        ]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
