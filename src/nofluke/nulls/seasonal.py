"""The null that keeps a season: events are permuted only among steps of the same phase."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nofluke.arrays import IntArray
from nofluke.data.columns import absent, as_column, without_masked
from nofluke.errors import InputError, arg, say
from nofluke.nulls.base import Kept
from nofluke.nulls.calendars import A_DAY, RULES, calendar_phase, check_bins, phase_bounds
from nofluke.nulls.stratified import MOST_STRETCHES, Strata, Stratified, at_ticks, cut_every, in_windows, window_of
from nofluke.plain import MOST_STEPS, as_whole, check_length
from nofluke.series.timed import Length, TimedTruth, as_period, in_places, in_words
from nofluke.series.truth import Truth

CALENDAR = tuple(RULES)


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
        regular clock ("1d", "36h"); or a rule of the calendar on a clock of dates, in the time zone of the dates: "hour
        of day", "hour of week", "minute of hour", "minute of quarter hour", "day of week", "day of month", "day of
        month from its end" or "month", where every hour, minute, day or month is a phase.
    bins : int, optional
        Number of phases of a period in steps; by default 12, or the period if that is shorter. An hour, a day or a week
        of the calendar can be cut into other phases too: 288 for five minutes of the day.
    strata : array, function, list of dates or str, optional
        What events stay within instead of a period. One label for each step, numbers or text; give one for every step,
        masked ones too, where it may be missing. Or a function that makes labels from the times of the steps, as
        datetime64 in local time. Or dates, such as those of deployments: steps of these days are one stratum, all
        others another. Or a rule of the calendar, as for ``period``. Labels are stored as numbers in their order; -1
        means missing.
    windows : int, default 1
        Events keep their phase within each of these windows of time: for a season whose strength changes, or changing
        rates.
    second, second_bins : optional
        Another season, as ``period`` and ``bins`` say one: events keep their phase of both. For two that have no short
        multiple in common, such as a day and a tide; else the multiple is the better period.

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
    second: Length | None = None
    second_bins: int | None = None
    _days: Any = field(init=False, repr=False, default=None)  # strata as dates, where they are some

    name: ClassVar[str] = "seasonal"

    def __post_init__(self) -> None:
        if isinstance(self.strata, str) and self.period is None:
            if self.strata not in CALENDAR:
                rules = ", ".join(map(repr, CALENDAR))
                raise InputError(
                    argument="strata",
                    value=self.strata,
                    problem=f"must be labels, dates, a function of times, or one of {rules}",
                )
            object.__setattr__(self, "period", self.strata)
            object.__setattr__(self, "strata", None)
        if (self.period is None) is (self.strata is None):
            raise InputError(
                problem=say(
                    "Seasonal needs exactly one of {} (steps, or a calendar rule) and {}", arg("period"), arg("strata")
                )
            )
        if self.second is None and self.second_bins is not None:
            raise InputError(
                argument="second_bins",
                value=self.second_bins,
                problem="is a number of phases of a second season, but there is none",
                remedy=say("pass {} too", arg("second")),
            )
        for name, bins in (("period", "bins"), ("second", "second_bins")):
            period, phases = getattr(self, name), getattr(self, bins)
            if period is not None:
                object.__setattr__(self, name, as_period(period, name, 1, CALENDAR))
            if phases is not None:
                object.__setattr__(self, bins, as_whole(phases, bins, 1, MOST_STEPS))
                if period in CALENDAR:
                    check_bins(str(period), getattr(self, bins), bins)
        if self.strata is not None and not callable(self.strata):
            object.__setattr__(self, "_days", as_days(self.strata))
            object.__setattr__(self, "strata", as_labels(self.strata))
        object.__setattr__(self, "windows", as_whole(self.windows, "windows", 1, MOST_STEPS))

    @property
    def assumption(self) -> str:
        return self.assumed(in_time=False)

    def assumed(self, *, in_time: bool) -> str:
        seasons = "season" if self.second is None or self.strata is not None else "seasons"
        season = (
            "" if self.period is None and self.second is None else f"phase of the {seasons} ({self._season(in_time)})"
        )
        season = " and ".join(filter(None, ["stratum" if self.strata is not None else "", season]))
        season += f" and of the same window of time, of {self.windows:,}" if self.windows > 1 else ""
        places = "ticks" if in_time else "steps"
        told = "Chance places the {events} on random {} of the same {}; the {predictions} stay in place."
        return say(told, places, season)

    def _season(self, in_time: bool) -> str:
        seasons = (self.period, self.bins), (self.second, self.second_bins)
        return " and ".join(_worded(period, bins, in_time) for period, bins in seasons if period is not None)

    def strata_of(self, side: Truth) -> IntArray:
        """The stratum of each step that counts, numbered from 0."""
        if self.strata is not None:
            labels = self._labels_of(side)
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
        else:
            labels = _phase_of(side, self.period or 1, self.bins, "period")
        if self.second is not None:
            phase = _phase_of(side, self.second, self.second_bins, "second")
            labels = labels * (int(phase.max(initial=0)) + 1) + phase
        if self.windows > 1:
            labels = labels * self.windows + window_of(side.n_steps, self.windows, self.text)
        return numbered(labels)

    def _labels_of(self, side: Truth) -> IntArray:
        """Labels of all steps as they were given, or made from the clock."""
        every, clock = len(side.open_steps), side.clock
        if not callable(self.strata) and (self._days is None or len(self.strata) == every):
            return np.asarray(self.strata)
        if clock is None or not clock.is_dates:
            raise InputError(
                argument="strata",
                problem="are dates or a function of times, which need a clock of dates",
                remedy=say("pass {}, or one label for each step", arg("times")),
            )
        times = clock.local.astype(f"datetime64[{clock.unit}]")
        made = np.isin(times.astype("datetime64[D]"), self._days) if self._days is not None else self.strata(times)
        labels = np.full(every, -1, dtype=np.int64)
        own = as_labels(made)
        if own.shape != times.shape:
            raise InputError(
                argument="strata",
                problem=f"is a function that made labels of shape {own.shape} from {len(times)} times",
                remedy="return one label for each time",
            )
        labels[side.open_steps] = own
        return labels

    def strata_in_time(self, side: TimedTruth) -> Strata:
        """The phases of the season, of events at their own times."""
        if self._days is not None and side.watch.ticks.unit is not None:
            found = at_ticks(side, *day_ticks(side, self._days))
        elif self.strata is not None:
            raise InputError(
                argument="strata",
                problem="has one label for each step, but these events have their own times",
                remedy=say("pass {}", arg("period")),
            )
        else:
            found = _phases_in_time(side, self.period or 1, self.bins, "period")
        if self.second is not None:
            found = found.crossed(_phases_in_time(side, self.second, self.second_bins, "second"))
        return found if self.windows == 1 else found.crossed(in_windows(side, self.windows))

    @property
    def keeps(self) -> frozenset[Kept]:
        """The season, and slow changes with windows of time; nothing within a phase."""
        return frozenset({"season", "drift"} if self.windows > 1 else {"season"})

    @property
    def code(self) -> str:
        """Strata are arrays of the user's."""
        return super().code if self.strata is None else "nf.nulls.Seasonal(strata=your_strata)"


PHASES = 12  # of a period in steps


def phases_of(period: float, bins: int | None) -> int:
    """Number of phases of a period of so many steps."""
    return min(bins or PHASES, int(period))


def _worded(period: Length, bins: int | None, in_time: bool) -> str:
    """A season in words."""
    if period in CALENDAR:
        return f"{period}{'' if bins is None else f', {bins:,} phases'}"
    long = in_words(period, in_time)
    if in_time:  # how many phases a period has depends on the ticks in it
        return f"period {long}"
    return f"period {long}, {phases_of(MOST_STEPS if isinstance(period, str) else period, bins)} phases"


def _phase_of(side: Truth, period: Length, bins: int | None, name: str) -> IntArray:
    """The phase of each step that counts."""
    if period in CALENDAR:
        return calendar_phase(side.clock, str(period), bins)
    steps = in_places(period, side, name, 2)
    places = np.flatnonzero(side.open_steps) % steps
    return np.asarray(places * phases_of(steps, bins) // steps, dtype=np.int64)


def _phases_in_time(side: TimedTruth, period: Length, bins: int | None, name: str) -> Strata:
    """The phases of events at their own times."""
    if period in CALENDAR:
        return at_ticks(side, *calendar_ticks(side, str(period), bins))
    places = in_places(period, side, name, 2)
    return at_ticks(side, *cut_every(side, places, phases_of(places, bins), f"{name}={period}"))


def numbered(labels: IntArray) -> IntArray:
    """Whole numbers from 0 on as labels without gaps, in the same order.

    >>> numbered(np.array([4, 0, 4, 9]))
    array([1, 0, 1, 2])
    """
    if labels.max(initial=0) > 2 * len(labels):
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)
    there = np.bincount(labels) > 0  # counting takes no sorting
    return labels if there.all() else (np.cumsum(there) - 1)[labels]


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


def as_days(strata: Any) -> npt.NDArray[np.datetime64] | None:
    """Dates as days, if that is what they are; None for labels of another kind."""
    try:
        column = as_column(strata, "strata")
    except InputError:
        return None
    if column.values.dtype.kind != "M":
        return None
    local = column.values if column.east is None else column.values + column.east.astype("timedelta64[s]")
    return np.unique(local[~np.isnat(local)].astype("datetime64[D]"))


def day_ticks(side: TimedTruth, days: npt.NDArray[np.datetime64]) -> tuple[IntArray, IntArray]:
    """Ticks at which local days begin, and whether each is one of these."""
    ticks, zone = side.watch.ticks, side.watch.ticks.zone
    begins, labels = calendar_ticks(side, "day of month", None)
    del labels
    moments = ticks.times(begins).astype("datetime64[s]").astype(np.int64)
    local = moments if zone is None else moments + zone.ahead(moments, "s")
    return begins, np.isin(local // A_DAY, days.astype(np.int64)).astype(np.int64)


def calendar_ticks(side: TimedTruth, rule: str, bins: int | None) -> tuple[IntArray, IntArray]:
    """Ticks at which phases begin, from before the watched time to its end, and the phase of each."""
    ticks, watch = side.watch.ticks, side.watch
    if ticks.unit is None:
        raise InputError(
            argument="period", value=rule, problem="needs dates", remedy="pass a period in the unit of the times"
        )
    ends = ticks.times(np.array([watch.starts[0], watch.stops[-1]])).astype("datetime64[s]").astype(np.int64).tolist()
    pieces = (ends[1] - ends[0]) / RULES[rule].seconds * (bins or RULES[rule].phases)
    if pieces > MOST_STRETCHES:
        raise InputError(
            argument="period",
            value=rule,
            problem=f"cuts the time that was watched into {round(pieces):,} pieces",
            remedy="pass a shorter span",
        )
    begins, phases = phase_bounds(rule, ends[0], ends[1], ticks.zone, bins)
    moments = begins.astype("datetime64[s]").astype(f"datetime64[{ticks.unit}]").astype(np.int64)
    # between two ticks it is the later one that begins a phase
    return ticks.at_or_after(moments), phases
