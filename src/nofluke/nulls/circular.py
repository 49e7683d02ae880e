"""The null that keeps everything but the alignment: the events as a whole are shifted around the circle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nofluke.arrays import IntArray
from nofluke.laws.counts import CountLaw
from nofluke.laws.law import How, Law, exactly
from nofluke.laws.montecarlo import Draw
from nofluke.nulls.base import EVERYTHING, MOST_STEPS, Joint, Method, NullModel, Trait
from nofluke.plain import as_whole
from nofluke.series.counting import dilate
from nofluke.series.trial import Cell
from nofluke.series.truth import Truth

PAIRS_PER_STEP = 10  # a Fourier transform of T steps costs about as much as this many intervals for each step


@dataclass(frozen=True, kw_only=True)
class CircularShift(NullModel):
    """All events are shifted together around the circle of steps; the predictions are fixed.

    Keeps the clustering of the events and the autocorrelation of the predictions, and destroys only their alignment. Use
    it where either of them clusters. It does not keep a season: a shift by half a year moves winter events into summer.

    All T rotations are counted, by Fourier transforms and exact integers, so nothing is random; the observed labels are
    one of them, so that p ≥ 1/T. Steps are the steps that count: with a mask, labels move over masked steps as if they
    were not there. Windows do not wrap around: a rotated sequence is evaluated like any other, with nothing outside of it.

    Parameters
    ----------
    guard : int, default 0
        Leaves out shifts by fewer steps than this (but not the identity), which are too much like the observed labels.
        The p-value is then (1 + number of the other shifts that do as well)/(1 + number of them): no longer a test by a
        group of rotations, and exact only as far as small shifts are the reason for leaving them out.
    every : int, default 1
        Takes only shifts by multiples of this many steps. With the period of a season (in steps that count) they keep
        the season as well as the clusters, and p ≥ every/T. Where T is no multiple of it, events that go over the end
        change their phase by T modulo ``every``.

    References
    ----------
    Michael (1997), Testing prediction methods: earthquake clustering versus the Poisson model.
    """

    guard: int = 0
    every: int = 1

    name: ClassVar[str] = "circular-shift"
    methods: ClassVar[tuple[Method, ...]] = ("auto", "exact", "montecarlo")

    def __post_init__(self) -> None:
        for name, value, least in (("guard", self.guard, 0), ("every", self.every, 1)):
            object.__setattr__(self, name, as_whole(value, name, least, MOST_STEPS))

    @property
    def assumption(self) -> str:
        if self.every > 1:
            return (
                f"Chance shifts all events together by multiples of {self.every:,} steps around the circle, so that "
                "clusters and a season of that period stay; the predictions stay as they are."
            )
        guard = f" Shifts by fewer than {self.guard:,} steps are left out." if self.guard > 1 else ""
        return (
            "Chance shifts all events together around the circle of steps, so that clusters stay; the predictions stay as "
            f"they are. It does not allow for a season that events and predictions share.{guard}"
        )

    @property
    def keeps(self) -> frozenset[Trait]:
        """Runs and clusters; a season only where shifts are by whole periods."""
        return EVERYTHING if self.every > 1 else frozenset({"runs", "clusters"})

    def draw(self, side: Truth) -> Draw:
        """Random rotations of the events, the guard band left out."""
        events, shifts = side.starts, self._shifts(side.n_steps)

        def rotated(generator: np.random.Generator, size: int) -> npt.NDArray[Any]:
            return np.asarray((events + generator.choice(shifts, size=(size, 1))) % side.n_steps)

        return rotated

    def _shifts(self, n_steps: int) -> IntArray:
        """The rotations that count, the identity first."""
        shifts = np.arange(self.every, n_steps, self.every)
        allowed = shifts[(shifts >= self.guard) & (shifts <= n_steps - self.guard)]
        return np.concatenate([[0], allowed]).astype(np.int64)

    def known_laws(self, cell: Cell, method: Method) -> dict[str, Law]:
        del method  # all rotations, whichever it is
        recall, precision = self.hits_by_shift(cell)
        return {
            "precision": _counted(precision, cell.n_predictions, self.method(len(recall))),
            "recall": _counted(recall, cell.n_events, self.method(len(recall))),
        }

    def exact_sides(self, cell: Cell, times: int = 1) -> tuple[str, ...]:
        del cell, times
        return ("precision", "recall")

    def every_placement(self, cell: Cell) -> tuple[IntArray, IntArray, How]:
        recall, precision = self.hits_by_shift(cell)
        return recall, precision, self.method(len(recall))

    def joint(self, cell: Cell, *, n_resamples: int = 10_000, rng: Any = None) -> Joint:
        """Both hits of every rotation."""
        del n_resamples, rng  # nothing is random
        recall, precision = self.hits_by_shift(cell)
        return Joint(
            recall_hits=recall,
            precision_hits=precision,
            weights=np.full(len(recall), 1 / len(recall)),
            method=self.method(len(recall)),
        )

    def method(self, n_shifts: int) -> How:
        """How it is counted: over all rotations, or over so many of them."""
        return exactly("all rotations" if self.guard <= 1 and self.every == 1 else f"{n_shifts:,} rotations")

    def hits_by_shift(self, cell: Cell) -> tuple[IntArray, IntArray]:
        """Recall's and precision's hits for every rotation that counts, the identity first."""
        shifts = self._shifts(cell.n_steps)
        return recall_by_shift(cell)[shifts], precision_by_shift(cell)[shifts]


def _counted(hits: IntArray, size: int, method: How) -> Law:
    counts = np.bincount(hits, minlength=size + 1)
    return CountLaw(counts, mean=float(hits.mean()), var=float(hits.var()), method=method)


def recall_by_shift(cell: Cell) -> IntArray:
    """Recall's hits for the events shifted by s = 0..T-1: events that land near a prediction."""
    near_alarm = dilate(cell.alarm_flags, cell.cover)
    return _correlation(cell.truth.flags, near_alarm)


def precision_by_shift(cell: Cell) -> IntArray:
    """Precision's hits for the events shifted by s = 0..T-1: predictions that an event lands near.

    Predictions with windows of the same shape share one transform. Shapes that few predictions have (at the borders, or
    all of them on an irregular clock) are counted as intervals of shifts instead, one for each event.
    """
    n_steps, events = cell.n_steps, cell.truth.starts
    alarms = cell.alarms
    hits = np.zeros(n_steps, dtype=np.int64)
    if len(events) == 0 or len(alarms) == 0:
        return hits
    shapes = np.stack([alarms - cell.windows.starts, cell.windows.stops - alarms])
    kinds, which = np.unique(shapes, axis=1, return_inverse=True)
    sizes = np.bincount(which.ravel(), minlength=kinds.shape[1])
    many = sizes * len(events) > PAIRS_PER_STEP * n_steps
    for kind in np.flatnonzero(many):
        before, after = (int(reach) for reach in kinds[:, kind])
        members = np.zeros(n_steps, dtype=np.bool_)
        members[alarms[which.ravel() == kind]] = True
        hits += _correlation(_circular_dilation(cell.truth.flags, before, after), members)
    few = ~many[which.ravel()]
    return np.asarray(hits + _by_intervals(events, cell.windows.starts[few], cell.windows.stops[few], n_steps))


def _correlation(moved: npt.NDArray[np.bool_], fixed: npt.NDArray[np.bool_]) -> IntArray:
    """For each shift s, at how many steps the moved flags meet the fixed ones: sum over t of moved[t - s] fixed[t]."""
    from scipy import fft

    spectrum = np.conj(fft.rfft(moved.astype(np.float64))) * fft.rfft(fixed.astype(np.float64))
    counts = fft.irfft(spectrum, n=len(moved))
    return np.asarray(np.rint(counts), dtype=np.int64)


def _circular_dilation(flags: npt.NDArray[np.bool_], before: int, after: int) -> npt.NDArray[np.bool_]:
    """Whether any flag lies in [t - before, t + after) around the circle."""
    n = len(flags)
    total = np.concatenate([[0], np.cumsum(np.concatenate([flags, flags, flags]))])
    t = np.arange(n, 2 * n)
    return np.asarray(total[t + after] > total[t - before])


def _by_intervals(events: IntArray, starts: IntArray, stops: IntArray, n_steps: int) -> IntArray:
    """How many of the windows [start, stop) hold an event, for each shift of the events: O(windows x events + T).

    Shifts that bring event q into a window are the interval from start - q on, as long as the window is wide; where
    the next one begins sooner, because the previous event is closer than that, it ends there.
    """
    gaps = np.diff(events, prepend=events[-1] - n_steps)
    change = np.zeros(2 * n_steps + 1, dtype=np.int64)  # intervals may run over the end once: folded below
    rows = max(1, n_steps // len(events))
    for first in range(0, len(starts), rows):
        start, stop = starts[first : first + rows, None], stops[first : first + rows, None]
        begins = (start - events) % n_steps
        ends = begins + np.minimum(stop - start, gaps)
        change += np.bincount(begins.ravel(), minlength=len(change)) - np.bincount(ends.ravel(), minlength=len(change))
    hits = np.cumsum(change[:-1])
    return np.asarray(hits[:n_steps] + hits[n_steps:])
