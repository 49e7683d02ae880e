"""Seasons of short whole periods, by all of their harmonics at once.

A narrow season, such as one busy day of the week, spreads its power evenly over the harmonics of its period, and each
alone may be too weak to show.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from nofluke.arrays import FloatArray, IntArray

PERIODS = np.arange(3, 32)  # steps: up to the days of a month
MOST = (int(PERIODS[-1]) - 1) // 2  # harmonics
PER_HARMONIC = 5  # flags for each harmonic: with fewer, two that share a phase count in all harmonics at once


def comb_tails(tails: FloatArray, n_steps: int, n_flags: int) -> FloatArray:
    """-log P of each of `PERIODS`, from the -log P of all powers of a series with so many flags.

    The harmonics of a period P are the frequencies h T/P, h < P/2; each is read at the nearest one of the series, since
    only there rotations change nothing. Fisher's method combines them.
    """
    used = harmonics_used(n_flags)[:, None] > np.arange(MOST)
    total = (tails[harmonics(n_steps, len(tails))] * used).sum(axis=1)
    # P(χ² with 2h degrees ≥ 2x) = e^-x Σ_{i<h} x^i/i!
    terms = np.ones(used.shape)
    np.cumprod(total[:, None] / np.arange(1, MOST), axis=1, out=terms[:, 1:])
    return np.asarray(np.maximum(total - np.log((terms * used).sum(axis=1)), 0.0))


@lru_cache(maxsize=8)
def harmonics(n_steps: int, n_powers: int) -> IntArray:
    """Where the harmonics of each period are among the powers: a row a period."""
    nearest = np.rint(np.arange(1, MOST + 1) * n_steps / PERIODS[:, None]).astype(np.int64)
    return np.clip(nearest, 1, n_powers) - 1


def harmonics_used(n_flags: int) -> IntArray:
    """How many harmonics of each period are looked at."""
    return np.minimum((PERIODS - 1) // 2, max(n_flags // PER_HARMONIC, 1))
