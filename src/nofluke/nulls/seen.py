"""What is seen in the events alone, worked out once for a truth; and a season that a null has to keep."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nofluke.arrays import IntArray
from nofluke.lazy import lazy
from nofluke.nulls import spectrum
from nofluke.nulls.advice import Period
from nofluke.nulls.evidence import Evidence, adjacency, clustering, evenness, in_runs
from nofluke.nulls.seasonal import Seasonal
from nofluke.series.counting import runs
from nofluke.series.timed import TimedTruth
from nofluke.series.truth import Truth
from nofluke.text.numbers import p_is

IN_PHASE = 12  # steps of each phase of a season, in each window of time
FEWEST_PHASES = 12
_SEEN = "seen in the events"  # under which a truth keeps it


@dataclass(frozen=True, slots=True, kw_only=True)
class Season:
    """A season that a null has to keep: a rule of the calendar or a number of steps, and the steps if known.

    ``cycles`` is how often it comes back among ``n_steps``, ``pvalue`` how often chance shows as much of one.
    """

    period: Period
    steps: float | None
    label: str
    cycles: float
    n_steps: int
    pvalue: float

    @property
    def seen(self) -> str:
        """That it is there, as the beginning of a sentence: evidence, no fact."""
        return f"It looks like a season ({self.label}, {p_is(self.pvalue)})"

    def null(self, windows: int = 1) -> Seasonal:
        """The null that keeps it, in so many windows: as many phases as leave each some steps to choose from."""
        if isinstance(self.period, str):
            return Seasonal(period=self.period, windows=windows)
        phases = max(self.n_steps // (IN_PHASE * windows), FEWEST_PHASES)
        return Seasonal(period=self.period, bins=min(phases, int(self.period)), windows=windows)


@dataclass(frozen=True, kw_only=True, eq=False)
class Events:
    """What is seen in the events alone, worked out once for a truth, however many detectors are judged on it."""

    truth: Truth
    own: TimedTruth | None = None  # events at their own times, where the steps of the truth are coarser than these

    @classmethod
    def of(cls, truth: Truth, own: TimedTruth | None = None) -> Events:
        """What is known of this truth already, or will be."""
        if _SEEN not in truth.__dict__:
            truth.__dict__[_SEEN] = cls(truth=truth, own=own)
        seen: Events = truth.__dict__[_SEEN]
        return seen

    @property
    def n(self) -> int:
        """How many there are."""
        return self.truth.n if self.own is None else self.own.n

    @lazy
    def labelled(self) -> IntArray:
        """The steps of events, ascending."""
        return self.truth.starts if self.truth.points else np.flatnonzero(self.truth.flags)

    @lazy
    def runs(self) -> Evidence:
        """Labelled steps in runs."""
        if self.own is not None:
            return adjacency(self.own.starts, self.own.n_steps)
        return adjacency(self.labelled, self.truth.n_steps)

    @lazy
    def in_runs(self) -> bool:
        """Whether labelled steps come as runs."""
        return in_runs(self.runs)

    @lazy
    def ranges(self) -> bool:
        """Whether events are whole ranges, or steps that come as such."""
        return not self.truth.points or self.in_runs

    @lazy
    def starts(self) -> IntArray:
        """Where events begin: the first step of each, or of each run of them."""
        if not self.truth.points:
            return np.unique(self.truth.first_steps)
        return runs(self.labelled).starts if self.in_runs else self.labelled

    @lazy
    def longest(self) -> int:
        """Steps of the longest range."""
        found = runs(self.labelled) if self.truth.points and self.in_runs else self.truth
        return int((found.stops - found.starts).max(initial=1))

    @lazy
    def clusters(self) -> Evidence:
        """Events in clusters of any length, against random steps."""
        if self.own is not None:
            return clustering(self.own.starts, self.own.n_steps)
        return clustering(self.starts, self.truth.n_steps)

    @lazy
    def evenness(self) -> Evidence:
        """Events that keep a distance from each other."""
        if self.own is not None:
            return evenness(self.own.starts, self.own.n_steps)
        return evenness(self.starts, self.truth.n_steps)

    @lazy
    def side(self) -> spectrum.Side:
        """Their spectrum."""
        return spectrum.Side.of_steps(self.starts, self.truth.open_steps)
