"""A null that moves each event a little by itself, within fixed windows of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nofluke.arrays import IntArray
from nofluke.errors import say
from nofluke.nulls.base import Kept
from nofluke.nulls.stratified import Strata, Stratified, at_ticks, cut_every
from nofluke.series.timed import Length, TimedTruth, as_length, in_places, in_words
from nofluke.series.truth import Truth


@dataclass(frozen=True, kw_only=True)
class Jitter(Stratified):
    """Time is cut into windows of a given length, and each event is placed at random in its own; predictions stay.

    Interval jitter: exact given the number of events in each window, whatever changes from window to window. Use it to
    ask whether events and alarms are linked on a scale shorter than the windows.

    Parameters
    ----------
    window : int, float or str
        The length of a window: steps on a grid, else a duration ("10min") or a number in the unit of the times. The
        first window begins with the span.

    See Also
    --------
    nofluke.nulls.LocalPermutation : a number of windows instead of their length.
    nofluke.nulls.LocalShift : all events together, by a short shift.

    References
    ----------
    Amarasingham, Harrison, Hatsopoulos and Geman (2012), Conditional modeling and the jitter method of spike
    resampling.
    """

    window: Length

    name: ClassVar[str] = "jitter"

    def __post_init__(self) -> None:
        object.__setattr__(self, "window", as_length(self.window, "window", 1))

    @property
    def assumption(self) -> str:
        return self.assumed(in_time=False)

    def assumed(self, *, in_time: bool) -> str:
        return say(
            "Chance places each {event} at random within its own window of {}, which keeps whatever changes from window to "
            "window; the {predictions} stay in place.",
            in_words(self.window, in_time),
        )

    @property
    def keeps(self) -> frozenset[Kept]:
        """Slow changes and seasons that are long against the window, and nothing within it."""
        return frozenset({"drift", "season"})

    def strata_of(self, side: Truth) -> IntArray:
        """The window of each step that counts, masked ones counted."""
        labels = np.flatnonzero(side.open_steps) // in_places(self.window, side, "window")
        return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.int64)

    def strata_in_time(self, side: TimedTruth) -> Strata:
        """The windows, from the beginning of the span."""
        starts, _ = cut_every(side, in_places(self.window, side, "window"), 1, f"window={self.window}")
        return at_ticks(side, starts, np.arange(len(starts)))
