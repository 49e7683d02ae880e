"""Precision, recall and F1 of units that are treated as independent, and how much each unit moves them.

A unit is an episode of one series, a series of a study, or a group of series. It counts alarms, hits among them,
events, and found ones among those: four whole numbers, in this order. Sums over units make the measures, so that each
of them is a ratio whose variance follows from its linearisation.

The section "Intervals" of docs/explanation/theory.md has the mathematics.
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
        u_i: (h_i - P a_i) / Σa for precision, (f_i - R e_i) / Σe for recall, and by the chain rule for F1. They sum to
        0.
    left_out : array, ... x K x 3
        How much each measure loses where the unit is left out: u_i / (1 - w_i), with w_i = a_i / Σa or e_i / Σe,
        exactly; for F1 to first order. NaN where nothing would remain.
    """

    values: FloatArray
    moves: FloatArray = field(repr=False)
    left_out: FloatArray = field(repr=False)


def linearise(units: IntArray | FloatArray) -> Linearised:
    """Measures and linear terms of units, an array of ... x K x 4 counts: many samples of K units at once.

    >>> found = linearise(np.array([[4, 2, 1, 1], [1, 1, 2, 1]]))
    >>> found.values.round(3), found.moves[:, 0].round(3)
    (array([0.6  , 0.667, 0.632]), array([-0.08,  0.08]))
    >>> found.left_out[:, 0].round(3)  # without the first unit precision is 1, without the second .5
    array([-0.4,  0.1])
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
        whole = total[..., None, [ALARMS, EVENTS]]
        rest = whole - counts[..., [ALARMS, EVENTS]]
        moves, left_out = (
            np.concatenate([both, (both * slopes[..., None, :]).sum(axis=-1, keepdims=True)], axis=-1)
            for both in (parts / whole, np.where(rest > 0, parts / rest, np.nan))
        )
    return Linearised(values=np.concatenate([shares, f1[..., None]], axis=-1), moves=moves, left_out=left_out)


def weighed(units: IntArray | FloatArray) -> tuple[float, float]:
    """Kish's number of units for precision and recall: (Σa)² / Σa² and (Σe)² / Σe², largest if even; 0 without any.

    >>> weighed(np.array([[4, 2, 1, 1]] * 12)), weighed(np.array([[90, 2, 1, 1], [10, 1, 0, 0]]))
    ((12.0, 12.0), (1.2195121951219512, 1.0))
    """
    sizes = np.asarray(units, dtype=np.float64)[:, [ALARMS, EVENTS]]
    squares = (sizes**2).sum(axis=0)
    alarms, events = np.divide(sizes.sum(axis=0) ** 2, squares, out=np.zeros(2), where=squares > 0).tolist()
    return alarms, events
