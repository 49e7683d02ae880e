"""Hits of a study at other shifts: a needle if a detector has skill, a hill or waves if a season or drift is shared.

What a single series hides, since it has few events, adds up over many: each cell's null may be off by a little, and the
sum of many by a lot. So the events of all series are shifted together by some steps, and the hits at these shifts are
looked at: without anything shared they scatter around what the nulls expect, as much as these say.

The section "Pooling over series" of docs/explanation/theory.md has the rule.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.errors import InputError
from nofluke.nulls.circular import CircularShift
from nofluke.series.trial import Cell

FARTHEST = 500  # steps by which events are shifted, at most
NEAR = 10  # windows on either side that count as near
FEWEST = 20  # independent shifts below which nothing is said
LENIENT = 1.28  # standard deviations from which on hits at other shifts are a doubt: one in ten without reason

Shape = Literal["needle", "hill", "unclear", "unseen"]


def farthest(n_steps: IntArray) -> int:
    """By how many steps all series can be shifted either way, each less than half of its length."""
    return max(min(FARTHEST, (int(np.min(n_steps)) - 1) // 2), 0) if len(n_steps) else 0


def hits_at_shifts(cell: Cell, reach: int) -> IntArray | None:
    """Hits of precision and recall (columns) with events rotated by -reach..reach steps; None if not available."""
    if cell.in_time or cell.n_steps <= 2 * reach:
        return None
    if 0 in (cell.n_counted, cell.n_predictions):
        return np.zeros((2 * reach + 1, 2), dtype=np.int64)
    try:
        found = CircularShift().every_placement(cell)
    except InputError:
        return None
    if found is None:
        return None
    recall, precision, _ = found
    at = np.arange(-reach, reach + 1) % len(recall)
    return np.stack([precision[at], recall[at]], axis=1).astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Needle:
    """What hits at other shifts say about the hits of the data.

    Attributes
    ----------
    shape : {"needle", "hill", "unclear", "unseen"}
        Other shifts are as chance has them ("needle"); they are not, and some of them have as many hits as the data
        ("hill"), or none has, so that the data stand out all the same ("unclear"); or there are too few shifts to see
        ("unseen").
    guard : int
        Steps around 0 that were left out, since skill itself reaches so far.
    excess : float
        Mean of the hits at other shifts less what the nulls expect, in its standard errors.
    pvalue : float
        How far the hits of the data are above the mean of those at near shifts, as a normal tail: a slow change raises
        both.
    """

    shape: Shape
    guard: int = 0
    excess: float = 0.0
    pvalue: float = 0.0

    def stands_out(self, alpha: float) -> bool:
        """Whether the hits of the data are more than those at other shifts; also where that cannot be seen."""
        return self.shape != "hill" and self.pvalue <= alpha


def look(hits: FloatArray, expected: float, std: float, window: int) -> Needle:
    """What the hits at shifts -W..W, the data's own in the middle, say beside the nulls' mean and standard deviation.

    >>> rng = np.random.default_rng(0)
    >>> noise = rng.poisson(20, 801).astype(float)
    >>> noise[400] = 60
    >>> look(noise, 20, 20**0.5, 1).shape
    'needle'
    >>> waves = 20 + 10 * np.cos(np.arange(-400, 401) / 4) + rng.normal(size=801)
    >>> look(waves, 20, 20**0.5, 1).shape
    'hill'
    """
    middle = len(hits) // 2
    own = float(hits[middle])
    guard = _guard(hits, expected, window)
    others = np.concatenate([hits[: middle - guard], hits[middle + guard + 1 :]])
    many = len(others) / _memory(others, window) if len(others) > 1 else 0.0
    if many < FEWEST or std == 0:
        return Needle(shape="unseen", guard=guard)
    excess = (float(others.mean()) - expected) / (std / math.sqrt(many))
    spread = float(others.var()) / std**2
    # Wilson and Hilferty's cube root of a chi-squared over its degrees of freedom
    scattered = (spread ** (1 / 3) - (1 - 2 / (9 * many))) / math.sqrt(2 / (9 * many))
    level, error = _beside(hits, guard, max(NEAR * window, (middle - guard) // 2), std**2 * _memory(others, window))
    tail = 0.5 * math.erfc((own - level) / math.hypot(std, error) / math.sqrt(2))
    shape: Shape = "needle"
    if max(excess, scattered) > LENIENT:
        shape = "hill" if float(others.max()) >= own else "unclear"
    return Needle(shape=shape, guard=guard, excess=excess, pvalue=tail)


def _beside(hits: FloatArray, guard: int, near: int, variance: float) -> tuple[float, float]:
    """Hits expected at shift 0 from those nearby, and the standard error: the mean, or a line if they fall off."""
    middle = len(hits) // 2
    both = (hits[middle:] + hits[middle::-1])[guard + 1 : guard + 1 + near] / 2
    away = np.arange(guard + 1, guard + 1 + len(both), dtype=np.float64)
    centred = away - away.mean()
    slope = float(centred @ both) / float(centred @ centred)
    of_mean, of_slope = variance / (2 * len(both)), variance / (2 * float(centred @ centred))
    if slope > -LENIENT * math.sqrt(of_slope):
        return float(both.mean()), math.sqrt(of_mean)
    back = float(away.mean())
    return float(both.mean()) - slope * back, math.sqrt(of_mean + of_slope * back**2)


def _guard(hits: FloatArray, expected: float, window: int) -> int:
    """Twice the steps in which hits fall half-way to chance, plus a window; at most a quarter of the shifts."""
    middle = len(hits) // 2
    half = (float(hits[middle]) + expected) / 2
    below = np.flatnonzero(np.minimum(hits[middle:], hits[middle::-1]) < half)
    fallen = int(below[0]) if len(below) else middle
    return min(2 * fallen + window, middle // 4)


def _memory(values: FloatArray, window: int) -> float:
    """Shifts that count as one: 1 + 2 Σ of the autocorrelations, up to the first that is not positive.

    Of what is left beside a running mean over some windows: a hill is no memory of chance's.
    """
    width = min(8 * window + 1, len(values))
    sums = np.concatenate([[0.0], np.cumsum(values)])
    at = np.arange(len(values))
    begin, end = np.maximum(at - width // 2, 0), np.minimum(at + width // 2 + 1, len(values))
    centred = values - (sums[end] - sums[begin]) / (end - begin)
    power = float(centred @ centred)
    if power == 0:
        return 1.0
    size = 1 << (2 * len(values) - 1).bit_length()
    correlation = np.fft.irfft(np.abs(np.fft.rfft(centred, size)) ** 2, size)[: len(values)] / power
    last = int(np.argmax(correlation <= 0)) if (correlation <= 0).any() else len(values)
    return max(1.0, 1.0 + 2.0 * float(correlation[1:last].sum()))
