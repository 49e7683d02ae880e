"""Pairs of events and scores that know nothing of each other, in situations that fool nulls. Each takes a generator.

T = 2,000 steps and 100 events, or 8 ranges of 20 to 80 steps. A strength says how much of what fools a null there is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

STEPS, EVENTS, RANGES, SHORTEST, LONGEST = 2_000, 100, 8, 20, 80
TIME = np.arange(STEPS)
HOURS = np.datetime64("2021-03-01T00", "h") + TIME
Pair = tuple[Any, np.ndarray, dict[str, Any]]
"""Truth, scores, and what else to pass to nf.evaluate."""


def gumbel(rng: np.random.Generator, n_steps: int = STEPS) -> np.ndarray:
    return rng.gumbel(size=n_steps)


def points(
    rng: np.random.Generator, weight: np.ndarray | float = 0.0, n_steps: int = STEPS, events: int = EVENTS
) -> np.ndarray:
    """Events on random steps; the largest of weights plus Gumbel noise are a sample with chances e^weight."""
    truth = np.zeros(n_steps, dtype=bool)
    truth[np.argsort(gumbel(rng, n_steps) + weight)[-events:]] = True
    return truth


def clusters(
    rng: np.random.Generator, weight: np.ndarray | float = 0.0, size: int = 5, spread: float = 3
) -> np.ndarray:
    """So many events around each of some random steps; some fall on the same step."""
    centres = np.repeat(np.argsort(gumbel(rng) + weight)[-EVENTS // size :], size)
    truth = np.zeros(STEPS, dtype=bool)
    truth[(centres + np.rint(rng.normal(0, spread, len(centres))).astype(int)) % STEPS] = True
    return truth


def hawkes(rng: np.random.Generator, branching: float = 0.6, delay: float = 5.0) -> np.ndarray:
    """Events that set off others: each has a Poisson number of them, some steps later."""
    truth = np.zeros(STEPS, dtype=bool)
    born = rng.uniform(0, STEPS, rng.poisson(EVENTS * (1 - branching)))
    while len(born):
        truth[born.astype(int)] = True
        born = np.repeat(born, rng.poisson(branching, len(born)))
        born = born + rng.exponential(delay, len(born))
        born = born[born < STEPS]
    return truth


def ranges(
    rng: np.random.Generator,
    weight: np.ndarray | None = None,
    n_steps: int = STEPS,
    count: int = RANGES,
    lengths: tuple[int, int] = (SHORTEST, LONGEST),
) -> list[tuple[int, int]]:
    """Ranges on random steps that neither overlap nor touch, first and last step of each."""
    chance = None if weight is None else np.exp(weight) / np.exp(weight).sum()
    while True:
        starts = np.sort(rng.choice(n_steps, count, p=chance))
        stops = starts + rng.integers(lengths[0], lengths[1] + 1, count) - 1
        if stops[-1] < n_steps and (starts[1:] > stops[:-1] + 2).all():
            return list(zip(starts.tolist(), stops.tolist(), strict=True))


def smooth(rng: np.random.Generator, steps: int = 10) -> np.ndarray:
    """A moving average of noise: its alarms come in runs."""
    return np.convolve(rng.normal(size=STEPS + steps - 1), np.ones(steps), mode="valid") / np.sqrt(steps)


def autoregressive(rng: np.random.Generator, memory: float) -> np.ndarray:
    noise, value, out = rng.normal(size=STEPS) * np.sqrt(1 - memory**2), float(rng.normal()), np.empty(STEPS)
    for t in range(STEPS):
        out[t] = value = memory * value + noise[t]
    return out


def wave(rng: np.random.Generator, period: float, strength: float) -> np.ndarray:
    return strength * np.cos(2 * np.pi * (TIME / period + rng.random()))


def trend(strength: float) -> np.ndarray:
    """e^strength times as much at the end as at the start."""
    return strength * (TIME / STEPS - 0.5)


def walk(rng: np.random.Generator, strength: float) -> np.ndarray:
    """A random walk of this standard deviation."""
    path = np.cumsum(rng.normal(size=STEPS))
    return strength * (path - path.mean()) / path.std()


def shared(rng: np.random.Generator, weight: np.ndarray, **more: Any) -> Pair:
    """Events and scores that both follow the same weight, and are independent of each other given it."""
    return points(rng, weight), gumbel(rng) + weight, more


def weekday(rng: np.random.Generator, strength: float) -> Pair:
    weight = wave(rng, 7, strength)
    return (
        points(rng, weight + 1.5 * autoregressive(rng, 0.9)),
        gumbel(rng) + weight + 1.5 * autoregressive(rng, 0.9),
        {},
    )


SITUATIONS: dict[str, Callable[[np.random.Generator], Pair]] = {
    "iid": lambda rng: (points(rng), gumbel(rng), {}),
    "alarms clustered": lambda rng: (points(rng), smooth(rng), {}),
    "events clustered": lambda rng: (clusters(rng), gumbel(rng), {}),
    "both clustered": lambda rng: (clusters(rng), smooth(rng), {}),
    "pairs of events, alarms clustered": lambda rng: (clusters(rng, size=2, spread=2), smooth(rng), {}),
    "events keep a distance": lambda rng: (
        np.isin(TIME, 20 * np.arange(100) + rng.integers(0, 12, 100)),
        smooth(rng),
        {},
    ),
    "daily season on a clock, 0.5": lambda rng: shared(rng, wave(rng, 24, 0.5), times=HOURS),
    "daily season on a clock, 2": lambda rng: shared(rng, wave(rng, 24, 2.0), times=HOURS),
    "season of 100 steps, 0.3": lambda rng: shared(rng, wave(rng, 100, 0.3)),
    "season of 100 steps, 0.5": lambda rng: shared(rng, wave(rng, 100, 0.5)),
    "season of 100 steps, 2": lambda rng: shared(rng, wave(rng, 100, 2.0)),
    "season of 365 steps, 0.3": lambda rng: shared(rng, wave(rng, 365, 0.3)),
    "season of 365 steps, 0.5": lambda rng: shared(rng, wave(rng, 365, 0.5)),
    "season of 365 steps, 2": lambda rng: shared(rng, wave(rng, 365, 2.0)),
    "weekday and clusters, 0.5": lambda rng: weekday(rng, 0.5),
    "weekday and clusters, 1": lambda rng: weekday(rng, 1.0),
    "trend, 0.5": lambda rng: shared(rng, trend(0.5)),
    "trend, 1": lambda rng: shared(rng, trend(1.0)),
    "trend, 4": lambda rng: shared(rng, trend(4.0)),
    "trend and clusters, 1": lambda rng: (clusters(rng, trend(1.0)), smooth(rng) + trend(1.0), {}),
    "trend and clusters, 4": lambda rng: (clusters(rng, trend(4.0)), smooth(rng) + trend(4.0), {}),
    "random walk, 0.3": lambda rng: shared(rng, walk(rng, 0.3)),
    "random walk, 1": lambda rng: shared(rng, walk(rng, 1.0)),
    "Hawkes bursts, AR(1) of 0.9": lambda rng: (hawkes(rng), autoregressive(rng, 0.9), {}),
    "Hawkes bursts, AR(1) of 0.97": lambda rng: (hawkes(rng), autoregressive(rng, 0.97), {}),
    "ranges, smooth scores": lambda rng: (ranges(rng), smooth(rng, 30), {}),
    "ranges, AR(1) of 0.97": lambda rng: (ranges(rng), autoregressive(rng, 0.97), {}),
    "ranges, trend, 1": lambda rng: (ranges(rng, trend(1.0)), autoregressive(rng, 0.9) + trend(1.0), {}),
    "ranges, trend, 4": lambda rng: (ranges(rng, trend(4.0)), autoregressive(rng, 0.9) + trend(4.0), {}),
}


def regimes(rng: np.random.Generator, steps: float, strength: float) -> np.ndarray:
    """Two levels that take turns, each for so many steps on average."""
    lengths = rng.exponential(steps, STEPS).astype(int) + 1
    return strength * np.repeat(np.arange(STEPS) % 2, lengths)[:STEPS]


def two_seasons(rng: np.random.Generator) -> np.ndarray:
    return wave(rng, 24, 1.0) + wave(rng, 168, 1.0)


BEYOND: dict[str, Callable[[np.random.Generator], Pair]] = {
    "a day and a week, on a clock": lambda rng: shared(rng, two_seasons(rng), times=HOURS),
    "a day and a week, no clock": lambda rng: shared(rng, two_seasons(rng)),
    "season of 60 steps that fades in": lambda rng: shared(rng, wave(rng, 60, 2.0) * TIME / STEPS),
    "square wave of 70 steps": lambda rng: shared(rng, 2.0 * ((TIME + rng.integers(70)) % 70 < 10)),
    "trend and season": lambda rng: shared(rng, trend(2.0) + wave(rng, 50, 1.0)),
    "a step up": lambda rng: shared(rng, 2.0 * (rng.uniform(0.2, 0.8) * STEPS < TIME)),
    "regimes of 400 steps": lambda rng: shared(rng, regimes(rng, 400, 1.0)),
    "regimes of 150 steps": lambda rng: shared(rng, regimes(rng, 150, 1.0)),
    "regimes of 50 steps": lambda rng: shared(rng, regimes(rng, 50, 1.0)),
    "a common AR(1) cause of 0.98": lambda rng: shared(rng, autoregressive(rng, 0.98)),
    "ranges, random walk, 1": lambda rng: _ranges_and_scores(rng, walk(rng, 1.0)),
    "ranges, regimes of 150 steps": lambda rng: _ranges_and_scores(rng, regimes(rng, 150, 1.5)),
}
"""Situations that nobody had in mind when the rule of auto was made; some of them it cannot see."""


def _ranges_and_scores(rng: np.random.Generator, weight: np.ndarray) -> Pair:
    return ranges(rng, weight), autoregressive(rng, 0.9) + weight, {}


def busy(rng: np.random.Generator, period: int, times: float, tolerance: int, events: int = 60) -> Pair:
    """One step of each period has so many times the events of the others, and scores one standard deviation higher."""
    often = (TIME + rng.integers(period)) % period == 0
    rate = np.where(often, times, 1.0)
    truth = rng.random(STEPS) < rate * (events / rate.sum())
    return truth, often + rng.normal(size=STEPS), {"tolerance": tolerance}


NARROW: dict[str, Callable[[np.random.Generator], Pair]] = {
    "one busy step of 7, δ = 0": lambda rng: busy(rng, 7, 3.3, 0),
    "one busy step of 7, δ = 1": lambda rng: busy(rng, 7, 3.3, 1),
    "one busy step of 24, δ = 0": lambda rng: busy(rng, 24, 8.0, 0),
    "one busy step of 24, δ = 1": lambda rng: busy(rng, 24, 8.0, 1),
}
"""Narrow seasons without a clock: their power is spread over many harmonics."""


def labels(truth: Any, n_steps: int = STEPS) -> np.ndarray:
    """0/1 for each step, also of ranges."""
    if isinstance(truth, np.ndarray):
        return truth
    flags = np.zeros(n_steps, dtype=bool)
    for first, last in truth:
        flags[first : last + 1] = True
    return flags


def with_skill(pair: Pair, amount: float = 0.6) -> Pair:
    """The same pair, but scores are higher by a part of their standard deviation where an event is."""
    truth, scores, more = pair
    return truth, scores + amount * scores.std() * labels(truth, len(scores)), more
