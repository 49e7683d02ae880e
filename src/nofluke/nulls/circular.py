"""The null that keeps everything but the alignment: the events as a whole are shifted around the circle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nofluke.counting import dilate
from nofluke.distributions import CountNull, IntArray, NullDistribution
from nofluke.nulls.base import MOST_STEPS, Draw, Joint, Method, NullModel, Nulls, simulated
from nofluke.nulls.setting import Setting
from nofluke.plain import as_whole

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

    def draw(self, setting: Setting) -> Draw:
        """Random rotations of the events, the guard band left out."""
        events, shifts = np.flatnonzero(setting.truth), self._shifts(setting.n_steps)

        def rotated(generator: np.random.Generator, size: int) -> npt.NDArray[Any]:
            return np.asarray((events + generator.choice(shifts, size=(size, 1))) % setting.n_steps)

        return rotated

    def _shifts(self, n_steps: int) -> IntArray:
        """The rotations that count, the identity first."""
        shifts = np.arange(self.every, n_steps, self.every)
        allowed = shifts[(shifts >= self.guard) & (shifts <= n_steps - self.guard)]
        return np.concatenate([[0], allowed]).astype(np.int64)

    def distributions(
        self, setting: Setting, method: Method = "auto", *, n_resamples: int = 10_000, rng: Any = None
    ) -> Nulls:
        self.check(method)
        if method == "montecarlo":
            return simulated(setting, n_resamples, rng, self.draw(setting))
        recall, precision = self.hits_by_shift(setting)
        return Nulls(
            precision=_counted(precision, setting.n_predictions, self.method(len(recall))),
            recall=_counted(recall, setting.n_events, self.method(len(recall))),
        )

    def joint(self, setting: Setting, *, n_resamples: int = 10_000, rng: Any = None) -> Joint:
        """Both hits of every rotation."""
        del n_resamples, rng  # nothing is random
        recall, precision = self.hits_by_shift(setting)
        return Joint(
            recall_hits=recall,
            precision_hits=precision,
            weights=np.full(len(recall), 1 / len(recall)),
            method=self.method(len(recall)),
        )

    def method(self, n_shifts: int) -> str:
        """How it is counted: over all rotations, or over so many of them."""
        return "exact (all rotations)" if self.guard <= 1 and self.every == 1 else f"exact ({n_shifts:,} rotations)"

    def hits_by_shift(self, setting: Setting) -> tuple[IntArray, IntArray]:
        """Recall's and precision's hits for every rotation that counts, the identity first."""
        shifts = self._shifts(setting.n_steps)
        return recall_by_shift(setting)[shifts], precision_by_shift(setting)[shifts]


def _counted(hits: IntArray, size: int, method: str) -> NullDistribution:
    counts = np.bincount(hits, minlength=size + 1)
    return CountNull(counts, mean=float(hits.mean()), var=float(hits.var()), method=method)


def recall_by_shift(setting: Setting) -> IntArray:
    """Recall's hits for the events shifted by s = 0..T-1: events that land near a prediction."""
    near_alarm = dilate(setting.alarms, setting.cover)
    return _correlation(setting.truth, near_alarm)


def precision_by_shift(setting: Setting) -> IntArray:
    """Precision's hits for the events shifted by s = 0..T-1: predictions that an event lands near.

    Predictions with windows of the same shape share one transform. Shapes that few predictions have (at the borders, or
    all of them on an irregular clock) are counted as intervals of shifts instead, one for each event.
    """
    n_steps, events = setting.n_steps, np.flatnonzero(setting.truth)
    alarms = np.flatnonzero(setting.alarms)
    hits = np.zeros(n_steps, dtype=np.int64)
    if len(events) == 0 or len(alarms) == 0:
        return hits
    shapes = np.stack([alarms - setting.windows.starts, setting.windows.stops - alarms])
    kinds, which = np.unique(shapes, axis=1, return_inverse=True)
    sizes = np.bincount(which.ravel(), minlength=kinds.shape[1])
    many = sizes * len(events) > PAIRS_PER_STEP * n_steps
    for kind in np.flatnonzero(many):
        before, after = (int(reach) for reach in kinds[:, kind])
        members = np.zeros(n_steps, dtype=np.bool_)
        members[alarms[which.ravel() == kind]] = True
        hits += _correlation(_circular_dilation(setting.truth, before, after), members)
    few = ~many[which.ravel()]
    return np.asarray(hits + _by_intervals(events, setting.windows.starts[few], setting.windows.stops[few], n_steps))


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
