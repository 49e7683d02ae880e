"""Laws that section 2.3 takes from the literature, at the paper's tolerance and threshold, beside the exact ones."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from nofluke.arrays import BoolArray, IntArray
from nofluke.laws.law import Law
from nofluke.laws.tables import TableLaw, binomial
from nofluke.nulls.permutation import donges
from nofluke.nulls.stationary import GevFit, Stationary
from nofluke.series.trial import Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Literature:
    """Binomial laws of both hits, and what they take for granted.

    Attributes
    ----------
    donges : dict
        By measure, the binomial of Donges et al. (2016), for events and predictions that fall independently.
    extreme : TableLaw
        The binomial of Scharwächter and Müller (2020a) for recall: a stationary score. There is none for precision.
    fit : GevFit
        The extreme value distribution behind it.
    scattered : dict
        By measure, how often each number of hits came where events and predictions were both placed at random.
    """

    donges: dict[str, Law] = field(repr=False)
    extreme: TableLaw = field(repr=False)
    fit: GevFit
    scattered: dict[str, IntArray] = field(repr=False)


def look_up(cell: Cell, delta: int, *, permutations: int, seed: int) -> Literature:
    """The laws of a cell within ±δ steps; placements of both sides come from the seed."""
    fit = Stationary().fit(cell)
    return Literature(
        donges=donges(cell),
        extreme=binomial(cell.n_events, fit.success),
        fit=fit,
        scattered=_scattered(cell, delta, permutations, seed),
    )


def _scattered(cell: Cell, delta: int, permutations: int, seed: int) -> dict[str, IntArray]:
    """Hits where both sides fall on random steps, as two independent Bernoulli processes do, given their numbers."""
    from nofluke.laws.montecarlo import placements

    n, events, alarms = cell.n_steps, cell.n_events, cell.n_predictions
    counts = {"precision": np.zeros(alarms + 1, dtype=np.int64), "recall": np.zeros(events + 1, dtype=np.int64)}
    # two streams of their own: those of the seed itself place the events of the other figures
    sides = [
        placements(n, size, n_resamples=permutations, rng=np.random.default_rng([seed, i]))
        for i, size in enumerate((events, alarms), 1)
    ]
    for events_at, alarms_at in zip(*sides, strict=True):
        for measure, at, others in (("precision", alarms_at, events_at), ("recall", events_at, alarms_at)):
            hits = np.take_along_axis(_near(others, n, delta), at.astype(np.int64), axis=1).sum(axis=1)
            counts[measure] += np.bincount(hits, minlength=len(counts[measure]))
    return counts


def _near(at: IntArray, n: int, delta: int) -> BoolArray:
    """For each row of positions, which of n steps are within δ of one."""
    near = np.zeros((len(at), n + 2 * delta), dtype=bool)
    for shift in range(2 * delta + 1):
        np.put_along_axis(near, at.astype(np.int64) + shift, True, axis=1)
    return near[:, delta : delta + n]
