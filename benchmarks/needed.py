"""Is the power what was asked for with as many events as `result.needed` answers? By simulation, under three nulls.

``python benchmarks/needed.py [runs]``: a long series says how many events it takes; so many series of that length are
drawn from the same world, evaluated under the same null, and the share of significant ones is printed beside the power
that was promised.
"""

import sys

import numpy as np

import nofluke as nf

ASKED = 0.8


def independent(n, rng):
    """Events on random steps, 45% of them with an alarm; false alarms on random steps."""
    truth = rng.random(n) < 0.02
    alarms = (rng.random(n) < 0.04) | (truth & (rng.random(n) < 0.35))
    return truth, alarms


def clustered(n, rng):
    """Events in bursts of three, of which alarms, in runs of four, find all or none."""
    truth, alarms = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    bursts = np.flatnonzero(rng.random(n) < 0.008)
    truth[np.minimum(bursts[:, None] + rng.integers(0, 6, (len(bursts), 3)), n - 1)] = True
    found = bursts[rng.random(len(bursts)) < 0.3]
    runs = np.concatenate([found, np.flatnonzero(rng.random(n) < 0.012)])
    alarms[np.minimum(runs[:, None] + np.arange(4), n - 1)] = True
    return truth, alarms


def seasonal(n, rng):
    """Events and alarms that both know the hour of the day, and a little more of each other."""
    busy = np.arange(n) % 24 < 8
    truth = rng.random(n) < np.where(busy, 0.05, 0.005)
    alarms = (rng.random(n) < np.where(busy, 0.12, 0.01)) | (truth & (rng.random(n) < 0.25))
    return truth, alarms


WORLDS = {
    "permutation": (independent, 1),
    "circular-shift": (clustered, 2),
    "seasonal:period=24": (seasonal, 0),
}


def shares(draw, null, tolerance, n, runs, rng):
    """Shares of runs with a significant recall, with a verdict of yes or partly, and of yes."""
    found = {"recall": 0, "verdict": 0, "yes": 0}
    for _ in range(runs):
        truth, alarms = draw(n, rng)
        result = nf.evaluate(truth, predictions=alarms, tolerance=tolerance, null=null, n_resamples=999, rng=1)
        found["recall"] += result.recall_test.pvalue <= 0.05
        found["verdict"] += result.verdict in ("yes", "partly")
        found["yes"] += result.verdict == "yes"
    return {target: hits / runs for target, hits in found.items()}


def checked(null, runs, pilot=400_000, seed=1):
    """For each target, events answered, power promised, and the share of runs that reach it."""
    draw, tolerance = WORLDS[null]
    rng = np.random.default_rng(seed)
    truth, alarms = draw(pilot, rng)
    known = nf.evaluate(truth, predictions=alarms, tolerance=tolerance, null=null, n_resamples=2_000, rng=1)
    for one in known.needed(power=ASKED).answers[:3]:
        got = shares(draw, null, tolerance, round(one.duration), runs, rng)[one.target]
        yield one.target, one.n_events, one.power, got


def two(n, rng):
    """Events that one detector finds more often than another, both with false alarms."""
    truth = rng.random(n) < 0.02
    better, worse = ((rng.random(n) < 0.02) | (truth & (rng.random(n) < share)) for share in (0.55, 0.4))
    return truth, {"better": better, "worse": worse}


def compared(measure, runs, pilot=2_000_000, seed=1):
    """The same for the difference of two detectors."""
    rng = np.random.default_rng(seed)
    truth, alarms = two(pilot, rng)
    known = nf.compare(truth, predictions=alarms, tolerance=1, n_resamples=199, rng=1)
    one = known.needed(measure, power=ASKED).answers[0]
    n, hits = round(pilot * one.n_events / truth.sum()), 0
    for _ in range(runs):
        truth, alarms = two(n, rng)
        found = nf.compare(truth, predictions=alarms, tolerance=1, n_resamples=999, rng=1)
        hits += found.difference("better", "worse", measure).pvalue <= 0.05
    return one.n_events, hits / runs


if __name__ == "__main__":
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    for null in WORLDS:
        for target, n_events, promised, got in checked(null, runs):
            error = (got * (1 - got) / runs) ** 0.5
            print(f"{null:20} {target:8} {n_events:4} events: promised {promised:.3f}, found {got:.3f} ± {error:.3f}")
    for measure in ("recall", "f1"):
        n_events, got = compared(measure, runs)
        error = (got * (1 - got) / runs) ** 0.5
        print(f"{'compare':20} {measure:8} {n_events:4} events: promised {ASKED:.3f}, found {got:.3f} ± {error:.3f}")
