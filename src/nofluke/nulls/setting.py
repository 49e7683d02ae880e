"""The setting of a null: what is fixed while chance places the events.

Everything is told in open steps, the steps an event could fall on, numbered from 0: masked steps take up time but
are not numbered, and clocks and tolerances have become index ranges.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from nofluke.clock import Clock
from nofluke.exact.geometry import Windows
from nofluke.exact.moments import Moments, precision_moments, recall_moments
from nofluke.inputs import Sequence
from nofluke.tolerance import Ranges, Tolerance

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Fixed predictions, their windows, and how many events chance places on how many steps.

    Attributes
    ----------
    truth : bool array of length T
        Which open steps are events.
    alarms : bool array of length T
        Which open steps are predicted.
    windows : Windows
        For each prediction, the steps on which an event makes it a hit; ``windows.n_steps`` is T.
    cover : Ranges
        For each step seen as an event, the steps whose predictions it makes hits (and that find it).
    open_steps : bool array of the length of the whole sequence
        Which of all steps are open.
    clock : Clock or None
        Times of the open steps.
    scores, threshold
        Of the open steps, where the predictions come from scores.
    """

    truth: BoolArray = field(repr=False)
    alarms: BoolArray = field(repr=False)
    windows: Windows = field(repr=False)
    cover: Ranges = field(repr=False)
    open_steps: BoolArray = field(repr=False)
    clock: Clock | None = field(repr=False, default=None)
    scores: FloatArray | None = field(repr=False, default=None)
    threshold: float | None = None

    @cached_property
    def n_events(self) -> int:
        """m, the events."""
        return int(self.truth.sum())

    @property
    def n_steps(self) -> int:
        """T, the open steps."""
        return self.windows.n_steps

    @property
    def n_predictions(self) -> int:
        """n, the predictions."""
        return self.windows.n

    @cached_property
    def precision_moments(self) -> Moments:
        """Exact mean and variance of precision's hits under permutation."""
        return precision_moments(self.windows, self.n_events)

    @cached_property
    def recall_moments(self) -> Moments:
        """Exact mean and variance of recall's hits under permutation."""
        return recall_moments(self.n_steps, self.windows.covered, self.n_events)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRanges:
    """Both ranges of a tolerance, between open steps: around predictions (events) and around events (predictions)."""

    events: Ranges
    predictions: Ranges


def open_ranges(tolerance: Tolerance, open_steps: BoolArray, clock: Clock | None) -> OpenRanges:
    """The tolerance's ranges, told in open steps only."""
    rank = np.concatenate([[0], np.cumsum(open_steps)]).astype(np.int64)

    def among_open(ranges: Ranges) -> Ranges:
        return Ranges(starts=rank[ranges.starts[open_steps]], stops=rank[ranges.stops[open_steps]])

    steps = len(open_steps)
    return OpenRanges(
        events=among_open(tolerance.event_ranges(steps, clock)),
        predictions=among_open(tolerance.prediction_ranges(steps, clock)),
    )


def make_setting(sequence: Sequence, alarms: BoolArray, ranges: OpenRanges, threshold: float | None = None) -> Setting:
    """The setting of a sequence with given alarms on its open steps, within the ranges of a tolerance."""
    kept = sequence.open_steps
    return Setting(
        truth=sequence.truth[kept],
        alarms=alarms,
        windows=Windows(starts=ranges.events.starts[alarms], stops=ranges.events.stops[alarms], n_steps=len(alarms)),
        cover=ranges.predictions,
        open_steps=kept,
        clock=None if sequence.clock is None else replace(sequence.clock, ticks=sequence.clock.ticks[kept]),
        scores=None if sequence.scores is None else sequence.scores[kept],
        threshold=threshold,
    )
