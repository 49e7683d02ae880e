"""Nulls that only look nearby, for rates that change slowly: small shifts, and placements within windows of time.

Skill is a narrow peak of the hits near 0; a trend or a drift that events and alarms share is a broad hill around it.
A null that moves events only a little way sees the first and not the second.

The section "Local shifts" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nofluke.arrays import AnyArray, IntArray
from nofluke.dates import as_duration
from nofluke.errors import InputError, arg, passed, say
from nofluke.laws.law import How
from nofluke.laws.montecarlo import Draw
from nofluke.metrics.draws import Mirrored
from nofluke.nulls import timed_shifts
from nofluke.nulls.base import Kept, Shifting
from nofluke.nulls.circular import Listed, ShiftNull
from nofluke.nulls.shifts import nearby
from nofluke.nulls.stratified import Strata, Stratified, at_ticks, cut_every, in_windows, refuse_windows, window_of
from nofluke.nulls.timed_shifts import ByShift
from nofluke.plain import MOST_STEPS, as_whole
from nofluke.series.timed import Length, TimedTruth, as_length, in_places, in_words, whole_places
from nofluke.series.trial import Cell
from nofluke.series.truth import Truth


@dataclass(frozen=True, kw_only=True)
class LocalShift(ShiftNull):
    r"""All events are shifted together by at most a few steps; the predictions are fixed.

    Keeps clusters, ranges, and every change of the rates that is slow compared with the reach; destroys only the
    alignment. Use it where events and alarms both follow a trend or a drift.

    Every shift by :math:`|s| \le W` is counted: :math:`p = \#\{s : h(s) \ge h(0)\} / (2W + 1)`. Nothing wraps: what
    leaves at a border meets the mirror image of what is there. These shifts do not form a group, so p is approximate,
    and there is no bound on how far it is off. Measured, it is near the level where rates change slowly. The bound of
    Harris (2020) is for shifts without borders.

    Parameters
    ----------
    reach : int or str, default 100
        W, the longest shift: steps that count, or a length of time ("3d"), or a number in the unit of the times. It
        should be long compared with the tolerance, clusters and ranges (or there is little power), and short compared
        with the time in which the rates change (or they fool it).
    every : int, float or str, optional
        Takes only shifts by multiples of this length (rounded to steps or ticks), by default all of them; with the
        period of a season they also keep the season.

    See Also
    --------
    nofluke.nulls.CircularShift : shifts of any length.
    nofluke.nulls.LocalPermutation : moves each event independently.

    References
    ----------
    Harris (2020), A shift test for independence in generic time series, arXiv:2012.06862. Amarasingham, Harrison,
    Hatsopoulos and Geman (2012), Conditional modeling and the jitter method of spike resampling.
    """

    reach: Length = 100
    every: Length | None = None

    name: ClassVar[str] = "local-shift"

    def __post_init__(self) -> None:
        object.__setattr__(self, "reach", as_length(self.reach, "reach", 1))
        if self.every is None:
            return
        object.__setattr__(self, "every", as_length(self.every, "every", 1))
        alike = isinstance(self.every, str) is isinstance(self.reach, str)
        if self.every != 1 and alike and self._shorter(self.reach, self.every):  # 1 stands for every tick
            raise InputError(
                argument="every",
                value=self.every,
                problem=say("must be at most {}, or there is nothing to shift by", passed("reach", self.reach)),
            )

    @staticmethod
    def _shorter(one: Length, other: Length) -> bool:
        lengths = [as_duration(value, "reach") if isinstance(value, str) else value for value in (one, other)]
        return (lengths[0] or 0) < (lengths[1] or 0)

    @property
    def assumption(self) -> str:
        return self.assumed(in_time=False)

    def assumed(self, *, in_time: bool) -> str:
        by = "" if self.every is None else f" by multiples of {in_words(self.every, in_time)},"
        season = "" if self.every is None else ", a season of that period"
        return say(
            "Chance shifts all {events} together,{} by at most {} to either side, which keeps clusters, ranges{} and slow "
            "changes of the rates; the {predictions} stay in place.",
            by,
            in_words(self.reach, in_time),
            season,
        )

    @property
    def assumption_of_series(self) -> str:
        by = "" if self.every is None else f" by multiples of {in_words(self.every)},"
        season = "" if self.every is None else ", a season of that period"
        return (
            f"Chance shifts the detector,{by} by at most {in_words(self.reach)} to either side, which keeps labelled "
            f"ranges whole and keeps slow changes of the rates{season}."
        )

    @property
    def keeps(self) -> frozenset[Kept]:
        """Everything but a season, unless shifts are by whole periods."""
        kept: set[Kept] = {"runs", "clusters", "drift"}
        return frozenset(kept if self.every is None else kept | {"season"})

    @property
    def caveat(self) -> str:
        """What is known about the level."""
        return (
            "Local shifts are approximate: they hold where both rates stay about the same within the reach, and no bound on "
            "their error is known."
        )

    def places(self, side: Truth) -> tuple[int, float]:
        """Reach and stride in places."""
        if isinstance(self.reach, float) and not side.in_time:
            raise InputError(argument="reach", value=self.reach, problem="must be a whole number of steps")
        reach = whole_places(self.reach, side, "reach")
        every = 1.0 if self.every is None else in_places(self.every, side, "every")
        if reach >= side.n_places:
            raise InputError(
                argument="null",
                value=self.text,
                problem=f"shifts by up to {reach:,} {side.place}s, but the sequence has {side.n_places:,}",
                remedy="pass a shorter reach",
            )
        return reach, every

    def shifts(self, side: Truth) -> IntArray:
        """The shifts that count, the identity first."""
        reach, every = self.places(side)
        away = np.rint(np.arange(1, int(reach / every) + 1) * every).astype(np.int64)
        return np.concatenate([[0], away, -away])

    def fits(self, side: Truth) -> None:
        """Refuse a sequence that is shorter than the shifts."""
        self.places(side)

    def draw(self, side: Truth) -> Draw:
        """Random shifts of the events, folded back at the borders; two that meet there are counted as one step."""
        if not side.points:
            raise InputError(
                argument="null",
                value=self.text,
                problem="counts all shifts of ranges and draws none at random",
                remedy=say("use {}", arg("method", "auto")),
            )
        (reach, every), last = self.places(side), side.n_places - 1
        one_sided = int(reach / every)

        def shifted(generator: np.random.Generator, size: int) -> npt.NDArray[Any]:
            by = np.rint(generator.integers(-one_sided, one_sided + 1, size=(size, 1)) * every).astype(np.int64)
            return np.asarray(side.steps_of(folded(side.places + by, last)))

        return shifted

    def stride(self, side: Truth) -> float:
        return self.places(side)[1]

    def method(self, n_shifts: int, every: float) -> How:
        """Counted, but no group."""
        del every
        return How(kind="approximate", name=f"{n_shifts:,} local shifts")

    def shifting(self, side: Truth) -> Shifting:
        """Shifts of the detector, continued by its mirror image at the borders."""
        (reach, every), shifts = self.places(side), self.shifts(side)
        return Shifting(layout=Mirrored(reach), begins=reach + shifts, method=self.method(len(shifts), every))

    def hits_by_shift(self, cell: Cell) -> ByShift | Listed | None:
        """Both hits for every shift, the identity first."""
        places = self.places(cell.truth)

        def on_steps(cell: Cell) -> Listed:
            recall, precision = nearby(cell, self.shifts(cell.truth))
            return Listed(recall=recall, precision=precision)

        # the law, F1 and pooling ask for them one after another
        return cell.by_axis(
            steps=lambda cell: cell.once(("local shifts", places), lambda: on_steps(cell)),
            ticks=lambda cell: timed_shifts.nearby(cell, *places),
        )


def folded(places: AnyArray, last: int) -> AnyArray:
    """Places mirrored at the borders."""
    return np.where(places < 0, -1 - places, np.where(places > last, 2 * last + 1 - places, places))


@dataclass(frozen=True, kw_only=True)
class LocalPermutation(Stratified):
    """Time is cut into windows, and events are placed at random within their own; the predictions are fixed.

    Keeps how many events fall into each window, and so every slow change of the rates; destroys everything within a
    window. Use it where events without clusters follow a trend or a drift: exact where their rate is constant within a
    window.

    Parameters
    ----------
    windows : int, default 40
        Number of windows, of nearly equal numbers of steps that count.

    See Also
    --------
    nofluke.nulls.Permutation : over the whole series.
    nofluke.nulls.LocalShift : for clusters and ranges.
    nofluke.nulls.Seasonal : within phases of a season.

    References
    ----------
    Amarasingham, Harrison, Hatsopoulos and Geman (2012), Conditional modeling and the jitter method of spike
    resampling.
    """

    windows: int = 40

    name: ClassVar[str] = "local-permutation"

    def __post_init__(self) -> None:
        object.__setattr__(self, "windows", as_whole(self.windows, "windows", 1, MOST_STEPS))

    @property
    def assumption(self) -> str:
        return self.assumed(in_time=False)

    def assumed(self, *, in_time: bool) -> str:
        place = "tick" if in_time else "step"
        return say(
            "Chance places each {event} on a random {} of its own window of time, of {:,}, which keeps slow changes of the "
            "rate; the {predictions} stay in place.",
            place,
            self.windows,
        )

    @property
    def keeps(self) -> frozenset[Kept]:
        """Slow changes, and nothing within a window."""
        return frozenset({"drift"})

    def strata_of(self, side: Truth) -> IntArray:
        """The window of each step that counts."""
        return window_of(side.n_steps, self.windows, self.text)

    def strata_in_time(self, side: TimedTruth) -> Strata:
        """The windows, of as many ticks each."""
        refuse_windows(self.windows, side.n_places, self.text)
        return in_windows(side, self.windows)


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
