"""The null that keeps a season: events are permuted only among steps of the same phase."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nofluke.arrays import IntArray
from nofluke.data.columns import absent, without_masked
from nofluke.errors import InputError, arg, say
from nofluke.nulls.base import MOST_STEPS, Kept
from nofluke.nulls.stratified import MOST_STRETCHES, Strata, Stratified, at_ticks, cut_every, in_windows, window_of
from nofluke.plain import as_whole, check_length
from nofluke.series.clock import Clock
from nofluke.series.timed import Length, TimedTruth, as_length, in_places, in_words
from nofluke.series.truth import Truth

CALENDAR = ("hour of day", "day of week", "month")


@dataclass(frozen=True, kw_only=True, eq=False)
class Seasonal(Stratified):
    """Events are placed at random among the steps of their own phase of the season; the predictions are fixed.

    Keeps how many events fall into each phase, and so a season that events and predictions share; destroys everything
    else about their timing. Use it where both follow the same season.

    Recall's hits are exact: a sum of independent hypergeometric numbers, one for each phase. Precision's hits are exact
    where there are at most 200,000 placements, else simulated.

    Parameters
    ----------
    period : int, float or str, optional
        Steps of the season, whole or not, cut into ``bins`` phases of nearly equal length; or a length of time on a
        regular clock ("1d", "36h"); or a rule on the clock: "hour of day", "day of week" or "month", where every hour,
        day or month is a phase.
    bins : int, optional
        Number of phases of a period in steps; by default 12, or the period if that is shorter.
    strata : array, optional
        One label for each step instead of a period, numbers or text: events stay within their stratum. Give one for
        every step, masked ones too, where it may be missing. Stored as numbers in the order of the labels; -1 means
        missing.
    windows : int, default 1
        Events keep their phase within each of these windows of time: for a season whose strength changes, or changing
        rates.

    See Also
    --------
    nofluke.nulls.Permutation : without a season.
    nofluke.nulls.CircularShift : ``every=`` keeps a season and clusters.
    nofluke.nulls.LocalPermutation : within windows of time.
    """

    period: Length | None = None
    bins: int | None = None
    strata: Any = None
    windows: int = 1

    name: ClassVar[str] = "seasonal"

    def __post_init__(self) -> None:
        if (self.period is None) is (self.strata is None):
            raise InputError(
                problem=say(
                    "Seasonal needs exactly one of {} (steps, or a calendar rule) and {}", arg("period"), arg("strata")
                )
            )
        if self.period is not None and not (isinstance(self.period, str) and self.period in CALENDAR):
            object.__setattr__(self, "period", as_period(self.period))
        if self.bins is not None:
            object.__setattr__(self, "bins", as_whole(self.bins, "bins", 1, MOST_STEPS))
        if self.strata is not None:
            object.__setattr__(self, "strata", as_labels(self.strata))
        object.__setattr__(self, "windows", as_whole(self.windows, "windows", 1, MOST_STEPS))

    @property
    def assumption(self) -> str:
        return self.assumed(in_time=False)

    def assumed(self, *, in_time: bool) -> str:
        season = "stratum" if self.strata is not None else f"phase of the season ({self._season(in_time)})"
        season += f" and of the same window of time, of {self.windows:,}" if self.windows > 1 else ""
        places = "ticks" if in_time else "steps"
        return f"Chance places the events on random {places} of the same {season}; the predictions stay in place."

    def _season(self, in_time: bool) -> str:
        if self.period in CALENDAR:
            return str(self.period)
        long = in_words(self.period or 1, in_time)
        if in_time:  # how many phases a period has depends on the ticks in it
            return f"period {long}"
        return f"period {long}, {self.phases(MOST_STEPS if isinstance(self.period, str) else self.period or 1)} phases"

    def phases(self, period: float) -> int:
        """Number of phases of a period of so many steps."""
        return min(self.bins or 12, int(period))

    def strata_of(self, side: Truth) -> IntArray:
        """The stratum of each step that counts, numbered from 0."""
        if self.strata is not None:
            labels = self.strata
            if labels.shape != side.open_steps.shape:
                raise InputError(
                    argument="strata",
                    problem=f"has shape {labels.shape}, but the sequence has {len(side.open_steps)} steps",
                    remedy="pass one label for each step",
                )
            labels = labels[side.open_steps]
            if (labels < 0).any():
                raise InputError(
                    argument="strata",
                    problem=f"has {int((labels < 0).sum())} missing label(s) on steps that count",
                    remedy="label them, or mask them",
                )
        elif self.period in CALENDAR:
            labels = calendar_phase(side.clock, str(self.period))
        else:
            period = in_places(self.period or 1, side, "period", 2)
            labels = np.flatnonzero(side.open_steps) % period
            labels *= self.phases(period)
            labels = np.asarray(labels // period, dtype=np.int64)
        if self.windows > 1:
            labels = labels * self.windows + window_of(side.n_steps, self.windows, self.text)
        return numbered(labels)

    def strata_in_time(self, side: TimedTruth) -> Strata:
        """The phases of the season, of events at their own times."""
        if self.strata is not None:
            raise InputError(
                argument="strata",
                problem="has one label for each step, but these events have their own times",
                remedy=say("pass {}", arg("period")),
            )
        if self.period in CALENDAR:
            found = at_ticks(side, *calendar_ticks(side, str(self.period)))
        else:
            period = in_places(self.period or 1, side, "period", 2)
            found = at_ticks(side, *cut_every(side, period, self.phases(period), f"period={self.period}"))
        return found if self.windows == 1 else found.split(in_windows(side, self.windows))

    @property
    def keeps(self) -> frozenset[Kept]:
        """The season, and slow changes with windows of time; nothing within a phase."""
        return frozenset({"season", "drift"} if self.windows > 1 else {"season"})

    @property
    def code(self) -> str:
        """Strata are arrays of the user's."""
        return super().code if self.strata is None else "nf.nulls.Seasonal(strata=your_strata)"


def numbered(labels: IntArray) -> IntArray:
    """Whole numbers from 0 on as labels without gaps, in the same order.

    >>> numbered(np.array([4, 0, 4, 9]))
    array([1, 0, 1, 2])
    """
    if labels.max(initial=0) > 2 * len(labels):
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)
    there = np.bincount(labels) > 0  # counting takes no sorting
    return labels if there.all() else (np.cumsum(there) - 1)[labels]


def as_period(value: object) -> Length:
    """The length of a season: a whole number of steps, one between two, or a duration."""
    try:
        return as_length(value, "period", 1)
    except InputError:
        if not isinstance(value, str):
            raise
        rules = ", ".join(map(repr, CALENDAR))
        raise InputError(
            argument="period",
            value=value,
            problem=f"must be a number of steps, a duration such as '1d', or one of {rules}",
        ) from None


def as_labels(strata: Any) -> IntArray:
    """Labels of any one kind as numbers from 0, in their order; -1 for a missing one."""
    check_length(strata, "strata")
    try:
        labels = np.ma.asarray(without_masked(strata))
        if labels.dtype.kind in "US" and not isinstance(strata, np.ndarray):
            labels = np.ma.asarray(np.array(strata, dtype=object))  # NumPy writes NaN next to text as text
        missing = np.ma.getmaskarray(labels) | absent(labels.data)
        numbers = np.full(labels.shape, -1, dtype=np.int64)
        numbers[~missing] = np.unique(labels.data[~missing], return_inverse=True)[1]
    except Exception:  # what cannot be an array, or be put in order
        raise InputError(
            argument="strata", value=strata, problem="must be labels of one kind, numbers or text, one for each step"
        ) from None
    return numbers


def calendar_phase(clock: Clock | None, rule: str) -> IntArray:
    """Hour of the day, day of the week (Monday is 0) or month of the year of each time of a clock of dates."""
    if clock is None or not clock.is_dates:
        raise InputError(
            argument="period",
            value=rule,
            problem="needs a clock of dates",
            remedy=say("pass {}, or a period in steps", arg("times")),
        )
    dates = clock.ticks.astype(f"datetime64[{clock.unit}]")
    if rule == "hour of day":
        return np.asarray(dates.astype("datetime64[h]").astype(np.int64) % 24)
    if rule == "day of week":
        return np.asarray((dates.astype("datetime64[D]").astype(np.int64) + 3) % 7)  # day 0, 1970-01-01, was a Thursday
    return np.asarray(dates.astype("datetime64[M]").astype(np.int64) % 12)


def calendar_ticks(side: TimedTruth, rule: str) -> tuple[IntArray, IntArray]:
    """Ticks at which hours, days or months begin, from before the watched time to its end, and the phase of each."""
    ticks, watch = side.watch.ticks, side.watch
    if ticks.unit is None:
        raise InputError(
            argument="period", value=rule, problem="needs dates", remedy="pass a period in the unit of the times"
        )
    unit = {"hour of day": "h", "day of week": "D", "month": "M"}[rule]
    first, last = ticks.times(np.array([watch.starts[0], watch.stops[-1]])).astype(f"datetime64[{unit}]")
    begins = np.arange(first, last + np.array(1, dtype=f"timedelta64[{unit}]"))
    if len(begins) > MOST_STRETCHES:
        raise InputError(
            argument="period",
            value=rule,
            problem=f"cuts the time that was watched into {len(begins):,} pieces",
            remedy="pass a shorter span",
        )
    clock = Clock(ticks=begins.astype(f"datetime64[{ticks.unit}]").astype(np.int64), unit=ticks.unit)
    # between two ticks it is the later one that begins a phase
    return ticks.at_or_after(clock.ticks), calendar_phase(clock, rule)
