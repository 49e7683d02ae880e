"""Nulls that move each event a little by itself: within fixed windows of time, or around its own time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nofluke.arrays import IntArray
from nofluke.laws.montecarlo import Draw
from nofluke.nulls.base import NullModel, Trait
from nofluke.nulls.local import folded
from nofluke.nulls.strata import Strata, at_ticks, cut_every
from nofluke.nulls.stratified import Stratified
from nofluke.series.lengths import Length, as_length, in_places, in_words, whole_places
from nofluke.series.timed_truth import TimedTruth
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
    nofluke.nulls.Dither : windows around each event; approximate.
    nofluke.nulls.LocalPermutation : a number of windows instead of their length.

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
        return (
            f"Chance places each event at random within its own window of {in_words(self.window, in_time)}, which keeps "
            "whatever changes from window to window; the predictions stay in place."
        )

    @property
    def keeps(self) -> frozenset[Trait]:
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


@dataclass(frozen=True, kw_only=True)
class Dither(NullModel):
    """Each event is moved at random by at most a given time from its own; the predictions are fixed. Approximate.

    Common for spike trains. Observed events sit in the middle of their windows and surrogates do not, so the two are
    not exchangeable and p-values have no guarantee; `Jitter`, with fixed windows, has one.

    Parameters
    ----------
    reach : int, float or str
        How far an event is moved at most: steps on a grid, else a duration or a number in the unit of the times.

    See Also
    --------
    nofluke.nulls.Jitter : exact, with fixed windows.
    nofluke.nulls.LocalShift : moves all events together.

    References
    ----------
    Amarasingham, Harrison, Hatsopoulos and Geman (2012), Conditional modeling and the jitter method of spike
    resampling.
    """

    reach: Length

    name: ClassVar[str] = "dither"
    takes_times: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "reach", as_length(self.reach, "reach", 1))

    @property
    def assumption(self) -> str:
        return (
            f"Chance moves each event by at most {in_words(self.reach)} to either side, which keeps slow changes of "
            "the rates; the predictions stay in place."
        )

    @property
    def caveat(self) -> str:
        """That it is no exact test."""
        return (
            "Dithering is approximate: data and surrogates are not exchangeable, because each event moves around its "
            "own place. The null jitter, with fixed windows, is exact."
        )

    @property
    def keeps(self) -> frozenset[Trait]:
        """Slow changes, and seasons that are long against the reach."""
        return frozenset({"drift", "season"})

    def draw(self, side: Truth) -> Draw:
        """Folded back at the borders; two that meet are counted as one step."""
        reach, last = whole_places(self.reach, side, "reach"), side.n_places - 1
        reach = min(reach, last)

        def dithered(generator: np.random.Generator, size: int) -> npt.NDArray[Any]:
            by = generator.integers(-reach, reach + 1, size=(size, side.n))
            return np.asarray(side.steps_of(folded(side.places + by, last)))

        return dithered
