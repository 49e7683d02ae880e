"""Precision, recall and F1 of units that are taken for independent, and how much each unit moves them.

A unit is an episode of one series, a series of a study, or a group of series. It counts alarms, hits among them, events, and
found ones among those: four whole numbers, in this order. Sums over units make the measures, so that each of them is a ratio whose
variance follows from its linearisation.

The section "Intervals" of docs/theory.md has the mathematics.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from nofluke.arrays import FloatArray, IntArray

MEASURES = ("precision", "recall", "f1")
ALARMS, HITS, EVENTS, FOUND = range(4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Linearised:
    """Three measures of summed units, and what each unit adds to them, to first order.

    Attributes
    ----------
    values : array, ... x 3
        Precision, recall and F1; NaN where there are no alarms, no events, or either.
    moves : array, ... x K x 3
        u_i: (h_i - P a_i) / Σa for precision, (f_i - R e_i) / Σe for recall, and by the chain rule for F1. They sum to 0.
    """

    values: FloatArray
    moves: FloatArray = field(repr=False)

    @property
    def variance(self) -> FloatArray:
        """K/(K - 1) Σ u_i², of each measure; NaN with fewer than two units."""
        n = self.moves.shape[-2]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.float64(n) / np.float64(n - 1) * (self.moves**2).sum(axis=-2))


def linearise(units: IntArray | FloatArray) -> Linearised:
    """Measures and linear terms of units, an array of ... x K x 4 counts: many samples of K units at once.

    >>> found = linearise(np.array([[4, 2, 1, 1], [1, 1, 2, 1]]))
    >>> found.values.round(3), found.moves[:, 0].round(3)
    (array([0.6  , 0.667, 0.632]), array([-0.08,  0.08]))
    """
    counts = np.asarray(units, dtype=np.float64)
    total = counts.sum(axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = total[..., [HITS, FOUND]] / total[..., [ALARMS, EVENTS]]
        p, r = shares[..., 0], shares[..., 1]
        f1 = np.where(p + r == 0, 0.0, 2 * p * r / (p + r))
        # at P = R = 0 F1 has no slope; nothing moves it there
        slopes = np.stack([np.where(p + r == 0, 0.0, 2 * (x / (p + r)) ** 2) for x in (r, p)], axis=-1)
        parts = counts[..., [HITS, FOUND]] - shares[..., None, :] * counts[..., [ALARMS, EVENTS]]
        both = parts / total[..., None, [ALARMS, EVENTS]]
    moved = (both * slopes[..., None, :]).sum(axis=-1, keepdims=True)
    return Linearised(
        values=np.concatenate([shares, f1[..., None]], axis=-1), moves=np.concatenate([both, moved], axis=-1)
    )
