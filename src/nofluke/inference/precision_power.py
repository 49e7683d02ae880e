"""The power of precision, by simulation: detectors whose alarms lie near events as often as is stated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from nofluke.arrays import BoolArray, IntArray
from nofluke.errors import InputError
from nofluke.inference.chance import significant
from nofluke.laws.approximate import PrecisionSaddlepoint
from nofluke.laws.law import How, Law
from nofluke.laws.precision import precision_law
from nofluke.nulls.base import as_seed
from nofluke.nulls.permutation import CELL_OPERATIONS
from nofluke.series.counting import Windows

MOST_STEPS = 1_000_000  # that are drawn in each run


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """The share of runs that came out significant, its standard error, and how it was come by."""

    power: float
    error: float
    how: How
    notes: tuple[str, ...]


def simulate(
    precision: float, sizes: tuple[int, int, int], within: tuple[int, int], alpha: float, n_resamples: int, rng: Any
) -> Simulated:
    """Draw events and alarms, test each run exactly, and count; ``sizes`` are those of steps, events and alarms."""
    n_steps, n_events, _ = sizes
    if n_steps > MOST_STEPS:
        raise InputError(
            argument="n_steps",
            value=n_steps,
            problem="are too many to simulate precision",
            remedy=f"pass at most {MOST_STEPS:,}",
        )
    seed = as_seed(rng)
    generator = np.random.default_rng(rng if seed is None else seed)
    found, moved = 0, 0
    for _ in range(n_resamples):
        wanted, hits, alarms = _drawn(precision, sizes, within, generator)
        moved += hits != wanted
        found += significant(_law(alarms, n_steps, n_events, within).upper(hits), alpha)
    share = found / n_resamples
    # one run more on either side: no run significant, or all, is no certainty
    about = (found + 1) / (n_resamples + 2)
    notes: tuple[str, ...] = ()
    if moved:
        notes = (f"In {moved:,} runs there was not enough room for that many alarms near events, or away from them.",)
    return Simulated(
        power=share,
        error=math.sqrt(about * (1 - about) / n_resamples),
        how=How(kind="simulated", n_resamples=n_resamples, seed=seed),
        notes=notes,
    )


def _drawn(
    precision: float, sizes: tuple[int, int, int], within: tuple[int, int], generator: np.random.Generator
) -> tuple[int, int, IntArray]:
    """Hits that were drawn, those that there was room for, and the alarms in order."""
    n_steps, n_events, n_alarms = sizes
    events = generator.choice(n_steps, n_events, replace=False, shuffle=False)
    is_near = near_events(events, n_steps, within)
    near, far = np.flatnonzero(is_near), np.flatnonzero(~is_near)
    wanted = int(generator.binomial(n_alarms, precision))
    hits = min(max(wanted, n_alarms - len(far)), len(near))
    chosen = [generator.choice(near, hits, replace=False), generator.choice(far, n_alarms - hits, replace=False)]
    return wanted, hits, np.sort(np.concatenate(chosen))


def near_events(events: IntArray, n_steps: int, within: tuple[int, int]) -> BoolArray:
    """Whether an alarm on each step would be a hit.

    >>> near_events(np.array([2]), 6, (0, 1)).astype(int)
    array([0, 0, 1, 1, 0, 0])
    """
    early, late = within
    edges = np.zeros(n_steps + 1, dtype=np.int64)
    np.add.at(edges, np.clip(events - early, 0, n_steps), 1)
    np.add.at(edges, np.clip(events + late + 1, 0, n_steps), -1)
    return np.asarray(np.cumsum(edges[:-1]) > 0)


def _law(alarms: IntArray, n_steps: int, n_events: int, within: tuple[int, int]) -> Law:
    early, late = within
    windows = Windows(
        starts=np.clip(alarms - late, 0, n_steps), stops=np.clip(alarms + early + 1, 0, n_steps), n_steps=n_steps
    )
    # where even the Fourier inversion costs too much, an approximation will do: the simulation does not suffer
    return precision_law(windows, n_events, "auto", CELL_OPERATIONS) or PrecisionSaddlepoint(windows, n_events)
