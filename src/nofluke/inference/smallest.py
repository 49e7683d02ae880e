"""The smallest p-value of many windows against chance's smallest: a familywise test for very different widths.

In a window that is hardly ever hit one hit is many standard deviations above its expectation, and would drown all
others; its p-value is not small. So p-values are compared, each taken from the same placements (Westfall and Young
1993, min P; Ge, Dudoit and Speed 2003).

The section "Many thresholds and tolerances" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray, FloatArray, IntArray
from nofluke.laws.law import How
from nofluke.nulls.base import NullModel, as_seed
from nofluke.nulls.simulation import SIDES, draws
from nofluke.ratios import TIE_SLACK, f_of_hits
from nofluke.series.timed import TimedTrial

MOST_PLACEMENTS = 20_000  # that are enumerated, rather than drawn
MOST_VALUES = 50_000_000  # hits kept: placements times windows


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Both hits of every window on placements, the data's own first: arrays of shape (placements, windows)."""

    precision: IntArray
    recall: IntArray
    how: How


def placed(trial: TimedTrial, model: NullModel, n_resamples: int, rng: Any) -> Placed:
    """All placements where they are few, else random ones."""
    listed = _listed(trial, model)
    if listed is not None:
        return listed
    seed = as_seed(rng)
    hits = {"precision": [trial.precision_hits.T], "recall": [trial.recall_hits.T]}
    for rows in draws(model, trial, n_resamples, rng if seed is None else seed):
        for side, counted in _counted(trial, rows).items():
            hits[side].append(counted)
    both = {side: np.concatenate(blocks) for side, blocks in hits.items()}
    return Placed(**both, how=How(kind="simulated", n_resamples=n_resamples, seed=seed))


def _counted(trial: TimedTrial, rows: AnyArray) -> dict[str, IntArray]:
    """Both hits of placements in all windows: arrays of shape (placements, windows)."""
    from nofluke.laws.montecarlo.kernels import hits_of_windows

    alarms = np.flatnonzero(trial.levels)
    starts, stops = (np.array([getattr(w, end)[alarms] for w in trial.alarm_windows]) for end in ("starts", "stops"))
    hits = {side: np.zeros((len(rows), len(starts)), dtype=np.int64) for side in SIDES}
    hits_of_windows(np.sort(rows.astype(np.int64), axis=1), starts, stops, **hits)
    return hits


def _listed(trial: TimedTrial, model: NullModel) -> Placed | None:
    columns: dict[str, list[IntArray]] = {side: [] for side in SIDES}
    for d in range(len(trial.tolerances)):
        found = model.every_placement(trial.cell(d, 0))
        if found is None or len(found[0]) > MOST_PLACEMENTS:
            return None
        columns["recall"].append(found[0])
        columns["precision"].append(found[1])
        how = found[2]
    return Placed(**{side: np.stack(hits, axis=1) for side, hits in columns.items()}, how=how)


def smallest_p(hits: IntArray) -> tuple[FloatArray, FloatArray]:
    """P-values of all hits within their own column, and the smallest of each row.

    Of equal p-values, the one further above the mean of its column, in standard deviations, is smaller by less than
    half of the step between two p-values: else the largest hits of every window would all be as small as they can be.

    >>> p, smallest = smallest_p(np.array([[2, 0], [1, 1], [0, 0], [1, 0]]))
    >>> p.round(2).tolist(), smallest.round(2).tolist()
    ([[0.18, 1.0], [0.75, 0.17], [1.0, 1.0], [0.75, 1.0]], [0.18, 0.17, 1.0, 0.75])
    """
    p = np.empty(hits.shape)
    for column, values in enumerate(hits.T):
        _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
        above = np.maximum(values - values.mean(), 0.0) / (values.std() or 1.0)
        ties = above / (1 + above) / (2 * len(values))
        p[:, column] = (np.cumsum(counts[::-1])[::-1] / len(values))[inverse.ravel()] - ties
    return p, p.min(axis=1)


def adjusted(p: FloatArray, smallest: FloatArray) -> FloatArray:
    """For each window, the share of placements whose smallest p is as small as its own; row 0 is the data."""
    ordered = np.sort(smallest)
    return np.asarray(np.searchsorted(ordered, p[0] * (1 + TIE_SLACK), side="right") / len(smallest))


def bands(hits: IntArray, p: FloatArray, smallest: FloatArray, alpha: float) -> FloatArray:
    """Hits that a window must exceed for an adjusted p-value of at most alpha; infinite where none do."""
    ordered, allowed = np.sort(smallest), math.floor(alpha * len(smallest) * (1 + TIE_SLACK))
    # as many placements as are allowed may be at least as small: ties beyond them are not significant
    cut = ordered[allowed] if allowed < len(ordered) else math.inf
    return np.array(
        [
            float(values[own >= cut].max()) if (own >= cut).any() else float(values.min()) - 1
            for values, own in zip(hits.T, p.T, strict=True)
        ]
    )


def best_f(found: Placed, trial: TimedTrial, beta: float) -> tuple[float, FloatArray]:
    """How often chance's best F_β reaches the observed best one, and the observed F_β of each window."""
    f = f_of_hits(found.precision, found.recall, trial.n_predictions[0], trial.n_events, beta)
    largest = np.nan_to_num(f, nan=0.0).max(axis=1)
    return float((largest >= largest[0] * (1 - TIE_SLACK)).mean()), f[0]
