"""Small labelled series from recipes, the same on every machine and with every version of NumPy.

A recipe is a dict of plain values, so that problems can be written down; numbers come from a generator of our own
(SplitMix64) and are rounded, so that nothing depends on how a library draws or on the last bit of a sum.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

STEPS = {"5min": 300, "10min": 600, "1h": 3_600, "6h": 21_600, "1d": 86_400}


class Drawn:
    """Random numbers of a seed."""

    def __init__(self, seed: int) -> None:
        self.seed, self.used = np.uint64(seed * 1_000_003 + 12_345), 0

    def uniform(self, n: int) -> np.ndarray:
        """Between 0 and 1."""
        at = np.arange(self.used + 1, self.used + n + 1, dtype=np.uint64)
        self.used += n
        with np.errstate(over="ignore"):
            z = self.seed + at * np.uint64(0x9E3779B97F4A7C15)
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            z ^= z >> np.uint64(31)
        return (z >> np.uint64(11)).astype(np.float64) / 2.0**53

    def normal(self, n: int) -> np.ndarray:
        """Nearly normal: twelve uniform numbers each."""
        return np.asarray(self.uniform(12 * n).reshape(n, 12).sum(axis=1) - 6.0)

    def below(self, limit: int) -> int:
        """A whole number from 0 to below the limit."""
        return int(self.uniform(1)[0] * limit)

    def chosen(self, weights: np.ndarray, k: int) -> np.ndarray:
        """k places, ascending; the larger the weight, the likelier."""
        keys = self.uniform(len(weights)) / np.maximum(weights, 1e-9)
        return np.sort(np.argsort(keys, kind="stable")[:k])


@dataclass(frozen=True)
class Series:
    """Labels, two detectors, and what else people have."""

    labels: np.ndarray
    ranges: np.ndarray
    """First and last step of each event; both belong to it."""
    scores: np.ndarray
    rival: np.ndarray
    mask: np.ndarray
    seconds: np.ndarray
    """Since the first step: the clock."""
    between: np.ndarray
    """Seconds at which events happen, most of them between two steps."""
    late: np.ndarray
    """Seconds at which another list of times has its own, some of them shortly after events."""


def _wave(n: int, period: float) -> np.ndarray:
    """A triangle between 0 and 1: no function whose last bit depends on a library."""
    phase = (np.arange(n) % period) / period
    return np.abs(2 * phase - 1)


def made(recipe: dict[str, Any]) -> Series:
    """The series of a recipe."""
    n, drawn = recipe["n"], Drawn(recipe["seed"])
    weights = _weights(recipe.get("pattern", "even"), n, recipe.get("period", 12), drawn)
    count = min(recipe["count"], n)
    if recipe.get("shape", "points") == "ranges":
        ranges = _ranges(weights, count, recipe.get("longest", 9), drawn)
    else:
        places = drawn.chosen(weights, count)
        ranges = np.stack([places, places], axis=1)
    labels = np.zeros(n, dtype=np.int64)
    for first, last in ranges:
        labels[first : last + 1] = 1
    scores, rival = (
        _scores(recipe, labels, noise, skill, drawn)
        for noise, skill in (
            (recipe.get("noise", "plain"), recipe.get("skill", 0.0)),
            ("plain", recipe.get("skill", 0.0) / 2),
        )
    )
    mask = drawn.uniform(n) < recipe.get("masked", 0.0)
    step = STEPS.get(recipe.get("step", ""), 1)
    seconds = np.arange(n) * step
    if recipe.get("clock") == "uneven":
        seconds = np.cumsum(step * (1 + np.floor(3 * drawn.uniform(n))).astype(np.int64))
    elif recipe.get("clock") == "gaps":
        seconds = np.cumsum(np.where(drawn.uniform(n) < 0.05, 17 * step, step))
    offsets = np.floor(drawn.uniform(len(ranges)) * step).astype(np.int64)
    between = seconds[ranges[:, 0]] + np.where(ranges[:, 0] < n - 1, offsets, 0)
    return Series(labels, ranges, scores, rival, mask, seconds, between, _list(recipe, seconds, between, step, drawn))


def _weights(pattern: str, n: int, period: int, drawn: Drawn) -> np.ndarray:
    if pattern == "season":
        return 0.05 + _wave(n, period) ** 3
    if pattern == "trend":
        return 0.05 + np.arange(n) / n
    if pattern == "bursts":
        weights = np.full(n, 0.02)
        for _ in range(max(n // 60, 1)):
            first = drawn.below(n)
            weights[first : first + 8] = 1.0
        return weights
    if pattern == "apart":  # no two close to each other
        weights = np.full(n, 1e-6)
        weights[:: max(n // 15, 3)] = 1.0
        return weights
    return np.ones(n)


def _ranges(weights: np.ndarray, count: int, longest: int, drawn: Drawn) -> np.ndarray:
    n, taken = len(weights), np.zeros(len(weights), dtype=bool)
    found = []
    for first in drawn.chosen(weights, min(4 * count, n)).tolist():
        last = min(first + drawn.below(longest), n - 1)
        if len(found) < count and not taken[max(first - 1, 0) : last + 2].any():
            taken[first : last + 1] = True
            found.append((first, last))
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 2)


def _scores(recipe: dict[str, Any], labels: np.ndarray, noise: str, skill: float, drawn: Drawn) -> np.ndarray:
    n = len(labels)
    plain = drawn.normal(n)
    if noise == "memory":
        value, own = 0.0, []
        for shock in plain.tolist():
            value = 0.9 * value + 0.4375 * shock
            own.append(value)
        plain = np.array(own)
    elif noise == "season":
        plain = 0.5 * plain + 2.0 * _wave(n, recipe.get("period", 12))
    elif noise == "trend":
        plain = 0.5 * plain + 3.0 * np.arange(n) / n
    elif noise == "constant":
        return np.zeros(n)
    lag = recipe.get("lag", 0)
    raised = np.zeros(n)
    raised[lag:] = labels[: n - lag]
    return np.round(plain + skill * raised, recipe.get("digits", 3)) + 0.0


def _list(recipe: dict[str, Any], seconds: np.ndarray, between: np.ndarray, step: int, drawn: Drawn) -> np.ndarray:
    """Alarms as times: a share of the events, somewhat later, and as many at random."""
    found = between[drawn.uniform(len(between)) < min(recipe.get("skill", 0.0) / 3, 0.9)]
    span = int(seconds[-1]) + 1
    later = found + np.floor(2 * step * drawn.uniform(len(found))).astype(np.int64)
    others = np.floor(span * drawn.uniform(max(len(between), 3))).astype(np.int64)
    return np.unique(np.concatenate([later[later < span], others]))
