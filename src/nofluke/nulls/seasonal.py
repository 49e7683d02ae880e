"""The null that keeps a season: events are permuted only among steps of the same phase."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nofluke.arrays import IntArray
from nofluke.data.columns import absent, without_masked
from nofluke.errors import InputError, shown
from nofluke.laws.counts import CountLaw
from nofluke.laws.exact.hypergeometric import hypergeometric_pmf
from nofluke.laws.exact.moments import recall_moments
from nofluke.laws.law import Law, exactly
from nofluke.laws.montecarlo import Draw
from nofluke.laws.tables import TableLaw
from nofluke.nulls.base import MOST_STEPS, SIMULATED_FLOOR, Method, NullModel, Trait, floor_of
from nofluke.nulls.lengths import Length, as_length, in_places
from nofluke.nulls.strata import MOST_STRETCHES, Strata, at_ticks, cut_every, in_windows
from nofluke.plain import as_whole
from nofluke.series.clock import Clock
from nofluke.series.counting import dilate
from nofluke.series.timed import TimedCell, TimedTruth
from nofluke.series.trial import Cell
from nofluke.series.truth import Truth
from nofluke.series.windows import newly_hit

CALENDAR = ("hour of day", "day of week", "month")
MOST_PLACEMENTS = 200_000  # up to here precision's null is enumerated
MOST_STEPS_LISTED = 10_000_000  # and up to so many steps, which have to be looked at one by one
ROWS = 10_000  # placements at a time


class Stratified(NullModel):
    """What nulls that permute events within strata have in common.

    Recall's hits are exact: a sum of independent hypergeometric numbers, one for each stratum. Precision's hits are exact
    where there are at most 200,000 placements, else simulated.
    """

    methods: ClassVar[tuple[Method, ...]] = ("auto", "exact", "montecarlo")

    takes_times: ClassVar[bool] = True

    @abstractmethod
    def strata_of(self, side: Truth) -> IntArray:
        """The stratum of each step that counts, numbered from 0."""

    @abstractmethod
    def strata_in_time(self, side: TimedTruth) -> Strata:
        """The same where events are at their own times."""

    def fits(self, side: Truth) -> None:
        """Refuse a series that has no such strata."""
        if isinstance(side, TimedTruth):
            self.strata_in_time(side)
        else:
            self.strata_of(side)

    def _labels(self, side: Truth) -> IntArray:
        """The stratum of each step, where there are few enough of them to go through."""
        return self.strata_in_time(side).dense() if isinstance(side, TimedTruth) else self.strata_of(side)

    def _counts(self, cell: Cell) -> list[tuple[int, int, int]]:
        """Of each stratum, the steps, those on which an event is found, and the events."""
        if isinstance(cell, TimedCell):
            timed = self.strata_in_time(cell.truth)
            counts = (timed.sizes, timed.covered(cell.zone), timed.count(cell.truth.starts))
        else:
            strata = self.strata_of(cell.truth)
            near_alarm = dilate(cell.alarm_flags, cell.cover)
            sizes = np.bincount(strata)
            counts = (
                sizes,
                np.bincount(strata[near_alarm], minlength=len(sizes)),
                np.bincount(strata[cell.truth.flags], minlength=len(sizes)),
            )
        return list(zip(*(values.tolist() for values in counts), strict=True))

    def enumerable(self, cell: Cell, times: int = 1) -> bool:
        """Whether there are few enough placements to go through them all, so many times, for precision's null."""
        if cell.n_steps > MOST_STEPS_LISTED:
            return False
        return _placements(self._counts(cell)) * times <= MOST_PLACEMENTS

    def recall(self, cell: Cell) -> Law:
        """Recall's null, exactly: a sum of one hypergeometric number for each stratum."""
        return _recall(cell.n_events, self._counts(cell))

    def draw(self, side: Truth) -> Draw:
        from nofluke.laws.montecarlo import kernels

        if isinstance(side, TimedTruth):
            return self.strata_in_time(side).draw(side.starts)
        strata = self.strata_of(side)
        members = [np.flatnonzero(strata == s) for s in range(strata.max() + 1)]
        wanted = [int(side.flags[steps].sum()) for steps in members]

        def within(generator: np.random.Generator, size: int) -> npt.NDArray[Any]:
            parts = []
            for steps, count in zip(members, wanted, strict=True):
                chosen = np.empty((size, count), dtype=np.uint32)
                if count:
                    kernels.draw_placements(generator.integers(2**64, dtype=np.uint64), len(steps), chosen)
                parts.append(steps[chosen])
            return np.concatenate(parts, axis=1)

        return within

    def known_laws(self, cell: Cell, method: Method) -> dict[str, Law]:
        recall = self.recall(cell)
        if self.enumerable(cell):
            return {"precision": self._enumerated(cell), "recall": recall}
        if method == "exact":
            raise InputError(
                f"method='exact' is affordable for precision only up to {MOST_PLACEMENTS:,} placements: use method='auto', "
                "which simulates it."
            )
        return {"recall": recall}

    def exact_sides(self, cell: Cell, times: int = 1) -> tuple[str, ...]:
        return ("precision", "recall") if self.enumerable(cell, times) else ("recall",)

    def law_of(self, cell: Cell, side: str) -> Law:
        return self.recall(cell) if side == "recall" else self._enumerated(cell)

    def _enumerated(self, cell: Cell) -> Law:
        return _enumerated(cell, self._labels(cell.truth), int(_placements(self._counts(cell))))

    def smallest_pvalues(self, cell: Cell) -> dict[str, float | None]:
        exact = self.exact_sides(cell)
        return {
            side: floor_of(self.law_of(cell, side)) if side in exact else SIMULATED_FLOOR
            for side in ("precision", "recall")
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class Seasonal(Stratified):
    """Events are placed at random among the steps of their own phase of the season; the predictions are fixed.

    Keeps how many events fall into each phase, and so a season that events and predictions share; destroys everything
    else about when they come. Use it where both follow the same season.

    Recall's hits are exact: a sum of independent hypergeometric numbers, one for each phase. Precision's hits are exact
    where there are at most 200,000 placements, else simulated.

    Parameters
    ----------
    period : int, float or str, optional
        Steps of the season, whole or not, cut into ``bins`` phases of nearly equal length; or a length of time on a regular clock
        ("1d", "36h"); or a rule on the clock: "hour of day", "day of week" or "month", where every hour, day or month is a phase.
    bins : int, optional
        Number of phases of a period in steps; by default 12, or the period if that is shorter.
    strata : array, optional
        One label for each step instead of a period, numbers or text: events stay within their stratum. For all steps,
        masked ones too, whose labels may be missing. Kept as numbers, by the order of the labels; -1 is a missing one.
    windows : int, default 1
        Windows of time within each of which events keep their phase: for a season whose strength changes, or rates that do.
    """

    period: Length | None = None
    bins: int | None = None
    strata: Any = None
    windows: int = 1

    name: ClassVar[str] = "seasonal"

    def __post_init__(self) -> None:
        if (self.period is None) is (self.strata is None):
            raise InputError("Seasonal needs either period= (steps, or a calendar rule) or strata=, one of them.")
        if self.period is not None and self.period not in CALENDAR:
            object.__setattr__(self, "period", as_period(self.period))
        if self.bins is not None:
            object.__setattr__(self, "bins", as_whole(self.bins, "bins", 1, MOST_STEPS))
        if self.strata is not None:
            object.__setattr__(self, "strata", as_labels(self.strata))
        object.__setattr__(self, "windows", as_whole(self.windows, "windows", 1, MOST_STEPS))

    @property
    def assumption(self) -> str:
        season = "stratum" if self.strata is not None else f"phase of the season ({self._season()})"
        season += f" and of the same window of time, of {self.windows:,}" if self.windows > 1 else ""
        return f"Chance places the events on random steps of the same {season}; the predictions stay as they are."

    def _season(self) -> str:
        if self.period in CALENDAR:
            return str(self.period)
        long = f"{self.period:,} steps" if isinstance(self.period, int | float) else self.period
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
                    f"strata has shape {labels.shape}, but the sequence has {len(side.open_steps)} steps: pass one label for "
                    "each step."
                )
            labels = labels[side.open_steps]
            if (labels < 0).any():
                raise InputError(
                    f"strata has {int((labels < 0).sum())} missing label(s) on steps that count: label them, or mask them."
                )
        elif self.period in CALENDAR:
            labels = calendar_phase(side.clock, str(self.period))
        else:
            period = in_places(self.period or 1, side, "period", 2)
            labels = ((np.flatnonzero(side.open_steps) % period) * self.phases(period) // period).astype(np.int64)
        if self.windows > 1:
            labels = labels * self.windows + window_of(side.n_steps, self.windows, self.text)
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)

    def strata_in_time(self, side: TimedTruth) -> Strata:
        """The phases of the season, of events at their own times."""
        if self.strata is not None:
            raise InputError(
                "strata has one label for each step, and these events have times of their own: pass period=."
            )
        if self.period in CALENDAR:
            found = at_ticks(side, *calendar_ticks(side, str(self.period)))
        else:
            period = in_places(self.period or 1, side, "period", 2)
            found = at_ticks(side, *cut_every(side, period, self.phases(period), f"period={self.period}"))
        return found if self.windows == 1 else found.split(in_windows(side, self.windows))

    @property
    def keeps(self) -> frozenset[Trait]:
        """The season, and slow changes with windows of time; nothing within a phase."""
        return frozenset({"season", "drift"} if self.windows > 1 else {"season"})

    @property
    def code(self) -> str:
        """Strata are arrays of the user's."""
        return super().code if self.strata is None else "nf.nulls.Seasonal(strata=your_strata)"


def window_of(n_steps: int, windows: int, null: str) -> IntArray:
    """The window of each step, of so many of nearly equal length."""
    refuse_windows(windows, n_steps, null)
    return np.arange(n_steps, dtype=np.int64) * windows // n_steps


def refuse_windows(windows: int, n_steps: int, null: str) -> None:
    """Refuse more windows than steps."""
    if windows > n_steps:
        raise InputError(
            f"null={null!r} cuts the sequence into {windows:,} windows, but it has {n_steps:,} steps: pass fewer."
        )


def as_period(value: object) -> Length:
    """The length of a season: a whole number of steps, one between two, or a duration."""
    try:
        return as_length(value, "period", 2)
    except InputError:
        if not isinstance(value, str):
            raise
        rules = ", ".join(map(repr, CALENDAR))
        raise InputError(
            f"period={shown(value)} must be a number of steps, a duration such as '1d', or one of {rules}."
        ) from None


def as_labels(strata: Any) -> IntArray:
    """Labels of any one kind as numbers from 0, in their order; -1 for a missing one."""
    try:
        labels = np.ma.asarray(without_masked(strata))
        if labels.dtype.kind in "US" and not isinstance(strata, np.ndarray):
            labels = np.ma.asarray(np.array(strata, dtype=object))  # NumPy writes NaN next to text as text
        missing = np.ma.getmaskarray(labels) | absent(labels.data)
        numbers = np.full(labels.shape, -1, dtype=np.int64)
        numbers[~missing] = np.unique(labels.data[~missing], return_inverse=True)[1]
    except (TypeError, ValueError):
        raise InputError(
            f"strata={shown(strata)} must be labels of one kind, numbers or text, one for each step."
        ) from None
    return numbers


def calendar_phase(clock: Clock | None, rule: str) -> IntArray:
    """Hour of the day, day of the week (Monday is 0) or month of the year of each time of a clock of dates."""
    if clock is None or not clock.is_dates:
        raise InputError(f"period={rule!r} needs a clock of dates: pass times=, or a period in steps.")
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
        raise InputError(f"period={rule!r} needs dates: pass a period in the unit of the times.")
    unit = {"hour of day": "h", "day of week": "D", "month": "M"}[rule]
    first, last = ticks.times(np.array([watch.starts[0], watch.stops[-1]])).astype(f"datetime64[{unit}]")
    begins = np.arange(first, last + 1)
    if len(begins) > MOST_STRETCHES:
        raise InputError(
            f"period={rule!r} cuts the time that was watched into {len(begins):,} pieces: watch less of it."
        )
    clock = Clock(ticks=begins.astype(f"datetime64[{ticks.unit}]").astype(np.int64), unit=ticks.unit)
    # between two ticks it is the later one that begins a phase
    return ticks.at_or_after(clock.ticks), calendar_phase(clock, rule)


def _recall(n_events: int, counts: list[tuple[int, int, int]]) -> Law:
    """Sum of one hypergeometric number for each stratum: their tables are convolved, all terms positive."""
    moments = [recall_moments(*row) for row in counts]
    parts = [hypergeometric_pmf(*row) for row in counts]
    table = np.zeros(n_events + 1)
    summed = reduce(np.convolve, parts)
    table[: len(summed)] = summed
    return TableLaw(
        table,
        mean=sum(m.mean for m in moments),
        var=sum(m.var for m in moments),
        method=exactly("hypergeometric in each phase"),
    )


def _placements(counts: list[tuple[int, int, int]]) -> float:
    """How many ways there are to place the events within their strata."""
    total = 1
    for size, _, events in counts:
        total *= math.comb(size, events)
        if total > MOST_PLACEMENTS:
            return math.inf
    return total


def _enumerated(cell: Cell, strata: IntArray, total: int) -> Law:
    """Precision's null from all placements.

    An event covers a range of predictions, from ``first`` to ``last``, and later events cover later ranges: a placement's
    hits are what each of its events adds to those before it.
    """
    first, last = cell.stretches.hit_from(np.arange(cell.n_steps))
    choices = [
        itertools.combinations(np.flatnonzero(strata == s).tolist(), int(cell.truth.flags[strata == s].sum()))
        for s in range(strata.max() + 1)
    ]
    placements = itertools.chain.from_iterable(map(itertools.chain.from_iterable, itertools.product(*choices)))
    size = cell.n_events
    counts = np.zeros(cell.n_predictions + 1, dtype=np.int64)
    for begin in range(0, total, ROWS):
        rows = min(ROWS, total - begin)
        events = np.fromiter(itertools.islice(placements, rows * size), dtype=np.int64, count=rows * size)
        events = np.sort(events.reshape(rows, size), axis=1)
        counts += np.bincount(newly_hit(first[events], last[events]), minlength=len(counts))
    hits = np.arange(len(counts))
    mean = float(hits @ counts) / total
    var = float((hits - mean) ** 2 @ counts) / total
    return CountLaw(counts, mean=mean, var=var, method=exactly("all placements"))
