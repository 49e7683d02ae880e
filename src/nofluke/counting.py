"""Counting: which steps are near an event or a prediction, for one threshold or for all of them at once.

Every count of a sweep is the number of values that reach a threshold, in one of four sets of values: all scores, the
scores of steps near an event, the best score near each event, the best score near each step. Four sorts give every
threshold; nothing depends on how long the tolerance is but a logarithm.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from nofluke.tolerance import Ranges

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Number = TypeVar("Number", np.float64, np.int64)


def dilate(flags: BoolArray, ranges: Ranges) -> BoolArray:
    """Whether any step of each window is flagged: O(T), whatever the windows' widths."""
    before = np.concatenate([[0], np.cumsum(flags)])
    return before[ranges.stops] > before[ranges.starts]


def window_maxima(values: npt.NDArray[Number], ranges: Ranges) -> npt.NDArray[Number]:
    """The largest value in each window, by doubling: O(T log(width)), memory O(T)."""
    width = ranges.stops - ranges.starts
    level = np.frexp(width.astype(np.float64))[1] - 1  # exact floor(log2) for widths below 2**53
    result = np.empty(len(width), dtype=values.dtype)
    table = values  # table[i] is the maximum of values[i : i + 2**k]
    for k in range(int(level.max(initial=-1)) + 1):
        if k > 0:
            table = np.maximum(table[: -(2 ** (k - 1))], table[2 ** (k - 1) :])
        here = np.flatnonzero(level == k)
        result[here] = np.maximum(table[ranges.starts[here]], table[ranges.stops[here] - 2**k])
    return result


def reaching(values: FloatArray, thresholds: FloatArray) -> IntArray:
    """How many values are at least each threshold."""
    return len(values) - np.searchsorted(np.sort(values), thresholds, side="left").astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepCounts:
    """Counts for ascending thresholds, at one tolerance.

    ``precision_hits`` are PA-AAδ, ``recall_hits`` are PAδ-AA; ``near_events`` (AAδ, one number) and
    ``near_predictions`` (PAδ, by threshold) are the dilated marginals that complete the two matrices.
    """

    precision_hits: IntArray = field(repr=False)
    recall_hits: IntArray = field(repr=False)
    near_predictions: IntArray = field(repr=False)
    near_events: int


def sweep_counts(
    *,
    truth: BoolArray,
    scores: FloatArray,
    open_steps: BoolArray,
    thresholds: FloatArray,
    event_ranges: Ranges,
    prediction_ranges: Ranges,
) -> SweepCounts:
    """Both hits and both dilated marginals for every threshold; closed steps hold no event and no prediction."""
    near_event = dilate(truth, event_ranges) & open_steps
    best = window_maxima(np.where(open_steps, scores, -np.inf), prediction_ranges)
    return SweepCounts(
        precision_hits=reaching(scores[near_event], thresholds),
        recall_hits=reaching(best[truth], thresholds),
        near_predictions=reaching(best[open_steps], thresholds),
        near_events=int(near_event.sum()),
    )


def nearest_predictions(truth: BoolArray, predictions: BoolArray, when: npt.NDArray[Any], ranges: Ranges) -> FloatArray:
    """Signed distance from each event to its nearest prediction, prediction minus event, in the unit of ``when``.

    A prediction that counts for the event goes before one that does not (they differ only when the tolerance is
    asymmetric); of two equally near ones the earlier is taken. NaN where there is no prediction at all.
    """
    events, alarms = np.flatnonzero(truth), np.flatnonzero(predictions)
    if len(alarms) == 0:
        return np.full(len(events), np.nan)
    after = np.searchsorted(alarms, events, side="left")
    earlier = alarms[np.maximum(after - 1, 0)]
    later = alarms[np.minimum(after, len(alarms) - 1)]
    has_earlier, has_later = after > 0, after < len(alarms)
    if when.dtype.kind == "i":
        when = when.view(
            np.uint64
        )  # differences modulo 2**64 are right even where int64 overflows, beyond 292 years of ns
    lead = np.where(has_earlier, (when[events] - when[earlier]).astype(np.float64), np.inf)
    lag = np.where(has_later, (when[later] - when[events]).astype(np.float64), np.inf)
    lead_counts = has_earlier & (earlier >= ranges.starts[events])
    lag_counts = has_later & (later < ranges.stops[events])
    take_earlier = np.where(lead_counts == lag_counts, lead <= lag, lead_counts)
    return np.where(take_earlier, -lead, lag) + 0.0  # no negative zero
