"""The null that keeps everything but the alignment: the events as a whole are shifted around the circle."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nofluke.arrays import IntArray
from nofluke.errors import InputError, arg, say
from nofluke.laws.counts import CountLaw
from nofluke.laws.law import How, Law, exactly
from nofluke.laws.montecarlo import Draw
from nofluke.metrics.draws import Circle, Periods
from nofluke.nulls import timed_shifts
from nofluke.nulls.base import Joint, Kept, Method, NullModel, Placed, Shifting
from nofluke.nulls.shifts import around
from nofluke.nulls.timed_shifts import MOST_LISTED, MOST_PAIRS, ByShift
from nofluke.series.timed import Length, TimedTruth, as_length, in_places, in_words, whole_places
from nofluke.series.trial import Cell
from nofluke.series.truth import Truth

GUARDED = "With a guard, the remaining rotations do not form a group: p-values come out too small where scores have a long memory."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Listed:
    """Both hits of every shift on steps, the identity first: what `ByShift` is in time."""

    recall: IntArray
    precision: IntArray
    listable: ClassVar[bool] = True

    @property
    def n_shifts(self) -> int:
        """How many shifts count, the identity among them."""
        return len(self.recall)

    def laws(self, cell: Cell, how: How) -> dict[str, Law]:
        """The laws of both hits."""
        sides = (("precision", self.precision, cell.n_predictions), ("recall", self.recall, cell.n_events))
        return {side: CountLaw(np.bincount(hits, minlength=size + 1), how) for side, hits, size in sides}

    def every_shift(self, cell: Cell) -> tuple[IntArray, IntArray]:
        """Recall's and precision's hits."""
        del cell
        return self.recall, self.precision

    def joint(self, cell: Cell, how: How) -> Joint:
        """Pairs of both hits, each with the same weight."""
        del cell
        weights = np.full(len(self.recall), 1 / len(self.recall))
        return Joint(recall_hits=self.recall, precision_hits=self.precision, weights=weights, method=how)


class ShiftNull(NullModel):
    """What nulls that count out a list of shifts have in common: both hits of each, the data's own first."""

    methods: ClassVar[tuple[Method, ...]] = ("auto", "exact")
    takes_ranges: ClassVar[bool] = True
    takes_times: ClassVar[bool] = True
    shifts_all: ClassVar[bool] = True

    @abstractmethod
    def hits_by_shift(self, cell: Cell) -> ByShift | Listed | None:
        """Both hits for every shift that counts, the identity first; None where they are too many to be counted out."""

    @abstractmethod
    def method(self, n_shifts: int, every: float) -> How:
        """How so many shifts, so many places apart, are counted."""

    @property
    def on_steps(self) -> NullModel:
        """Whole steps are all shifts there are, and a guard of one step leaves out none."""
        idle = {name: unset for name, unset in (("every", None), ("guard", 0)) if getattr(self, name, None) == 1}
        return replace(self, **idle) if idle else self  # type: ignore[type-var]  # all of them are dataclasses

    def doubt(self, cell: Cell) -> str:
        """Shifts by whole periods do not keep the phase where time passes in gaps: they do not see it."""
        every: Length | None = getattr(self, "every", None)
        if every is None:
            return ""

        def in_phase(truth: TimedTruth) -> bool:
            period = in_places(every, truth, "every") * truth.watch.stride
            gaps = truth.watch.starts[1:] - truth.watch.stops[:-1]
            return bool((np.abs(gaps - np.rint(gaps / period) * period) <= truth.watch.stride / 2).all())

        if cell.truth.by_axis(steps=lambda _: True, ticks=in_phase):
            return ""
        return say(
            "Shifts by multiples of {} of watched time do not keep a season of that length where gaps are not multiples of "
            "it: its p-values cannot be trusted. Use {}.",
            every,
            arg("null", f"seasonal:period={every}"),
        )

    @abstractmethod
    def stride(self, side: Truth) -> float:
        """How many places apart shifts are."""

    def known_laws(self, cell: Cell, method: Method) -> dict[str, Law]:
        found = self.hits_by_shift(cell)
        if found is None and method == "exact":
            raise InputError(
                argument="method",
                value="exact",
                problem=f"counts at most {MOST_PAIRS:,} pairs of an alarm and an event, but there are "
                f"{cell.n_predictions * cell.n_events:,}",
                remedy=say("use {}, which draws shifts at random", arg("method", "auto")),
            )
        return {} if found is None else found.laws(cell, self.method(found.n_shifts, self.stride(cell.truth)))

    def perfect_alarms(self, cell: Cell) -> Iterable[Cell]:
        """Shifted by less than events, alarms and tolerance are long, perfect alarms still find every event."""
        return cell.with_perfect_alarms()

    def exact_sides(self, cell: Cell, times: int = 1) -> tuple[str, ...]:
        del times
        # on steps all shifts are counted together
        affordable = not cell.in_time or self.hits_by_shift(cell) is not None
        return ("precision", "recall") if affordable else ()

    def every_placement(self, cell: Cell) -> Placed | None:
        found = self.hits_by_shift(cell)
        if found is None or not found.listable:
            return None
        return Placed(*found.every_shift(cell), self.method(found.n_shifts, self.stride(cell.truth)))

    def joint(self, cell: Cell, *, n_resamples: int = 10_000, rng: Any = None) -> Joint:
        """Both hits of every shift."""
        found = self.hits_by_shift(cell)
        if found is None:
            return super().joint(cell, n_resamples=n_resamples, rng=rng)
        return found.joint(cell, self.method(found.n_shifts, self.stride(cell.truth)))


@dataclass(frozen=True, kw_only=True)
class CircularShift(ShiftNull):
    """All events are shifted together around the circle of steps; the predictions are fixed.

    Keeps the clustering of the events and the autocorrelation of the predictions, and destroys only their alignment.
    Use it where either of them clusters, and for ranges. It keeps neither a season nor a trend: a shift by half a year
    moves winter events into summer, and one by half the series moves the end of a trend to its start.

    All T rotations are counted, by Fourier transforms and exact integers, so nothing is random; the observed labels are
    one of them, so p ≥ 1/T. Steps are the steps that count: with a mask, labels move over masked steps as if they were
    not there. Windows do not wrap around: a rotated sequence is evaluated like any other, with nothing outside it.

    Events that are ranges stay in place, so none is cut in two, and the predictions rotate the other way; an episode of
    alarms that is cut at the seam counts once.

    Parameters
    ----------
    guard : int or str, default 0
        Leaves out shifts by less than this, in steps or in time (except the identity), because they are too similar to
        the observed labels. The p-value is then (1 + number of the other shifts that do as well)/(1 + number of them):
        this is no longer a test over a group of rotations, and not exact.
    every : int, float or str, optional
        Takes only shifts by multiples of this length (rounded to steps or ticks), by default all of them. With the
        period of a season (in steps that count, or in time) they keep the season as well as the clusters, and p ≥
        every/T. The circle then consists of whole periods; what lies after the last whole period stays in place.

    See Also
    --------
    nofluke.nulls.LocalShift : small shifts, where rates change slowly.
    nofluke.nulls.Permutation : moves each event independently.
    nofluke.nulls.Segments : shuffles runs and gaps.

    References
    ----------
    Michael (1997), Testing prediction methods: earthquake clustering versus the Poisson model.
    """

    guard: Length = 0
    every: Length | None = None

    name: ClassVar[str] = "circular-shift"
    methods: ClassVar[tuple[Method, ...]] = ("auto", "exact", "montecarlo")

    def __post_init__(self) -> None:
        object.__setattr__(self, "guard", as_length(self.guard, "guard", 0))
        if self.every is not None:
            object.__setattr__(self, "every", as_length(self.every, "every", 1))

    @property
    def assumption(self) -> str:
        return self.assumed(in_time=False)

    def assumed(self, *, in_time: bool) -> str:
        if self.every is not None:
            return say(
                "Chance shifts all {events} together by multiples of {} around the circle, which keeps clusters and a season "
                "of that period; the {predictions} stay in place.",
                in_words(self.every, in_time),
            )
        fewer = "less" if isinstance(self.guard, str) else "fewer"
        guard = f" Shifts by {fewer} than {in_words(self.guard, in_time)} are left out." if self.guard else ""
        return say(
            "Chance shifts all {events} together around the circle of {}, which keeps clusters and ranges; the {predictions} "
            "stay in place. It does not account for a season or a trend that both share.{}",
            "ticks" if in_time else "steps",
            guard,
        )

    @property
    def assumption_of_series(self) -> str:
        if self.every is not None:
            return (
                f"Chance rotates the detector by multiples of {in_words(self.every)}, which keeps labelled ranges "
                "whole and keeps a season of that period."
            )
        return (
            "Chance rotates the detector around the circle of steps, so labelled ranges stay whole and scores keep "
            "their memory. It does not account for a season or a trend that both share."
        )

    @property
    def caveat(self) -> str:
        """What leaving out shifts costs."""
        return GUARDED if self.guard else ""

    @property
    def keeps(self) -> frozenset[Kept]:
        """Runs and clusters; a season only where shifts are by whole periods."""
        return frozenset({"runs", "clusters"} if self.every is None else {"runs", "clusters", "season"})

    def draw(self, side: Truth) -> Draw:
        """Random rotations of the events, the guard band left out."""
        if not side.points:
            raise InputError(
                argument="null",
                value=self.text,
                problem="counts all rotations of ranges and draws none at random",
                remedy=say("use {}", arg("method", "auto", "exact")),
            )
        circle, periods, every = self._circle(side)
        guard = self._guard(side)
        few = self.shifts(side) if periods <= MOST_LISTED else None
        events = side.places

        def rotated(generator: np.random.Generator, size: int) -> npt.NDArray[Any]:
            if few is not None:
                by = generator.choice(few, size=(size, 1))
            elif every == 1:
                # the identity, or any shift outside of the guard band
                by = generator.integers(circle - max(2 * guard - 1, 0), size=(size, 1))
                by = np.where(by > 0, by + max(guard - 1, 0), 0)
            else:
                by = np.rint(generator.integers(periods, size=(size, 1)) * every).astype(np.int64)
            moved = (events + by) % circle
            return np.asarray(side.steps_of(np.where(events < circle, moved, events)))

        return rotated

    def stride(self, side: Truth) -> float:
        return self._circle(side)[2]

    def _guard(self, side: Truth) -> int:
        if isinstance(self.guard, float) and not side.in_time:
            raise InputError(argument="guard", value=self.guard, problem="must be a whole number of steps")
        return 0 if not self.guard else whole_places(self.guard, side, "guard")

    def _circle(self, side: Truth) -> tuple[int, int, float]:
        """The circle in places, the rotations of it, and how far apart they are."""
        n, every = side.n_places, 1 if self.every is None else in_places(self.every, side, "every")
        periods = max(int(n / every) if every != 1 else n, 1)
        return min(round(periods * every), n) if periods > 1 else n, periods, every

    def shifts(self, side: Truth) -> IntArray:
        """The rotations that count, the identity first."""
        (circle, periods, every), guard = self._circle(side), self._guard(side)
        shifts = np.rint(np.arange(1, periods) * every).astype(np.int64)
        return np.concatenate([[0], shifts[(shifts >= guard) & (shifts <= circle - guard)]])

    def method(self, n_shifts: int, every: float) -> How:
        """All rotations or some; approximate if rounded (a group only within two steps) or guarded (no group)."""
        if every != int(every) or self.guard:
            return How(kind="approximate", name=f"{n_shifts:,} rotations")
        return exactly("all rotations" if every == 1 else f"{n_shifts:,} rotations")

    def shifting(self, side: Truth) -> Shifting:
        """Rotations of the detector, around the whole circle or as many whole periods as there are."""
        (circle, _, every), begins = self._circle(side), self.shifts(side)
        layout = Circle() if circle == side.n_places else Periods(circle)
        return Shifting(layout=layout, begins=begins, method=self.method(len(begins), every))

    def hits_by_shift(self, cell: Cell) -> ByShift | Listed | None:
        """Both hits for every rotation that counts, the identity first."""
        circle, guard = self._circle(cell.truth), self._guard(cell.truth)

        def on_steps(cell: Cell) -> Listed:
            recall, precision = _around(cell, circle[0])
            if self.every is None and not guard:  # all of them
                return Listed(recall=recall, precision=precision)
            shifts = self.shifts(cell.truth)
            return Listed(recall=recall[shifts], precision=precision[shifts])

        return cell.by_axis(steps=on_steps, ticks=lambda cell: timed_shifts.around(cell, *circle, guard))


KEPT_STEPS = 2**17  # up to so many, hits of all rotations are kept with their cell: 2 MB at the most


def _around(cell: Cell, circle: int) -> tuple[IntArray, IntArray]:
    """Both hits of all rotations, which the law, F1 and pooling ask for one after another."""
    if cell.n_steps > KEPT_STEPS:
        return around(cell, circle)
    found = cell.once(("rotations", circle), lambda: around(cell, circle))
    for hits in found:
        hits.setflags(write=False)
    return found


def around_by(cell: Cell, shifts: range) -> tuple[IntArray, IntArray]:
    """Both hits of some rotations of all steps, which follow one another: out of all of them, where these are known."""
    known = cell.known(("rotations", cell.n_steps))
    if known is None:
        return around(cell, cell.n_steps, shifts)
    recall, precision = (np.take(hits, np.arange(shifts.start, shifts.stop), mode="wrap") for hits in known)
    return recall, precision
