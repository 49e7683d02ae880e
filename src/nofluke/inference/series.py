"""One labelled series, for people who ask many questions of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np

from nofluke.dates import rounded_duration
from nofluke.errors import InputError, arg, joined, named, say
from nofluke.inference.coincidence import Coincidence, CoincidenceSweep, coincidence, sweep_tolerances
from nofluke.inference.compare import Comparison, compare
from nofluke.inference.evaluate import Evaluation, evaluate
from nofluke.inference.report import report
from nofluke.inference.significance import chance, significance
from nofluke.inference.sweep import Sweep, sweep
from nofluke.nulls.diagnosis import Diagnosis, diagnose
from nofluke.series.arguments import (
    DECLARED,
    AboutEither,
    AboutNames,
    AboutSeries,
    AboutTimes,
    Held,
    names_of,
    takes,
    with_defaults,
)
from nofluke.series.occurrences import Occurrences, read_times
from nofluke.series.reading import Known, Sequence, length_of, prepare
from nofluke.text.tables import noted, plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Series(Held):
    """One labelled series: its events, its clock, and what of it counts. Ask it as many questions as you like.

    Every function that takes a truth takes a Series in its place, and every question is also a method:
    ``series.evaluate(scores, ...)`` is ``nf.evaluate(series, scores, ...)``. With a ``span``, events are times without
    a grid of steps, and ``series.evaluate(alarms, ...)`` is what :func:`nofluke.coincidence` does.

    Parameters
    ----------
    truth : array-like
        Events, as :func:`nofluke.evaluate` takes them; with a ``span``, a list of times.
    times, mask, warmup, test_part, truth_as, n_steps, count_events, overlaps, merge_gap, split_longer, missing
        As in :func:`nofluke.evaluate`.
    event_name, alarm_name, time_unit, delay_name, reset_name, preset
        Likewise, for series of either kind.
    span, gaps, in_gaps, tick, duplicates
        As in :func:`nofluke.coincidence`.

    Attributes
    ----------
    n_events : int
        Events that count.
    notes : tuple of str
        What was left out or merged.

    See Also
    --------
    nofluke.evaluate : one question, without a Series.
    nofluke.coincidence : two lists of times.

    Examples
    --------
    >>> import nofluke as nf
    >>> quakes = nf.datasets.simulate_quakes(rng=0)
    >>> series = nf.Series(quakes.truth, warmup="10%")
    >>> print(series)
    2,302 steps, 142 events
    Note: The first 255 steps (warm-up) were left out.
    Note: 20 event(s) on those steps were left out.
    >>> scores = nf.detectors.energy_transient(quakes.counts)
    >>> [series.evaluate(scores, quantile=0.95, tolerance=delta).recall_hits for delta in (0, 1, 2)]
    [16, 38, 47]

    From two lists of times:

    >>> series = nf.Series([3, 9, 20], span=(0, 30))
    >>> print(series)
    3 events from 0 to 30
    >>> series.evaluate([4, 21], tolerance=1).recall_hits
    2
    """

    @takes(AboutEither)
    def __init__(self, truth: Any, **about: Unpack[AboutEither]) -> None:
        on_steps, in_time = (with_defaults(group, about) for group in (AboutSeries, AboutTimes))
        self.truth = truth
        self.span = in_time["span"]
        if self.span is None:
            _refuse(in_time, "is for two lists of times: pass {} too, or leave it out", arg("span"))
            self.about = cast(AboutSeries, on_steps)
            n = length_of(truth, *(on_steps[name] for name in ("truth_as", "n_steps", "times")))
            read = prepare(truth, np.zeros(n), **on_steps)
            self.read: Sequence | Occurrences = read
            self._known = Known.of(truth, read, **on_steps)
        else:
            _refuse(on_steps, "is for series of steps: leave it, or {}, out", named("span"))
            self.about = cast(AboutTimes, in_time)
            self.read = read_times(truth, [], tolerances=(), **in_time)
            self._known = truth

    @property
    def n_events(self) -> int:
        """Events that count."""
        return self.read.n_events if isinstance(self.read, Sequence) else len(self.read.events)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out or merged."""
        return self.read.notes

    def evaluate(self, scores: Any = None, **asked: Any) -> Evaluation | Coincidence:
        """What a detector finds, beside chance: :func:`nofluke.evaluate`, or :func:`nofluke.coincidence` of alarms."""
        if self.span is None:
            return evaluate(self, scores, **asked)
        return coincidence(self, scores, **asked)

    def sweep(self, scores: Any, **asked: Any) -> Sweep | CoincidenceSweep:
        """Many tolerances and thresholds: as :func:`nofluke.sweep`, or :func:`nofluke.sweep_tolerances` of alarms."""
        if self.span is None:
            return sweep(self, scores, **asked)
        return sweep_tolerances(self, scores, **asked)

    def compare(self, scores: Any = None, **asked: Any) -> Comparison:
        """Which of several detectors is better: as :func:`nofluke.compare`."""
        return compare(self, scores, **asked)

    def significance(self, metric: Any, scores: Any = None, **asked: Any) -> Any:
        """Any metric against chance: as :func:`nofluke.significance`."""
        return significance(metric, self, scores, **asked)

    def chance(self, metric: Any, **asked: Any) -> Any:
        """What chance gives in a metric on these labels: as :func:`nofluke.chance`."""
        return chance(metric, self, **asked)

    def diagnose(self, scores: Any = None, **asked: Any) -> Diagnosis:
        """Which null to trust: as :func:`nofluke.diagnose`."""
        return diagnose(self, scores, **asked)

    def report(self, scores: Any = None, path: str | Path = "report.html", **asked: Any) -> Path:
        """A page: as :func:`nofluke.report`, or that of :func:`nofluke.coincidence`."""
        if self.span is None:
            return report(self, scores, path=path, **asked)
        title = asked.pop("title", None)
        return self.evaluate(scores, **asked).report(path, title=title)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the events over time, and what was not watched."""
        from nofluke.plot.series import labelled

        return labelled(self.read, ax)

    def __str__(self) -> str:
        names = self.read.names
        return "\n".join(names.all_said([self._title(), *noted(self.notes)]))

    def __repr__(self) -> str:
        return f"<nofluke.Series: {self.read.names.said(self._title())}>"

    def _title(self) -> str:
        read = self.read
        if isinstance(read, Occurrences):
            first, last = read.ends
            return say("{} from {} to {}", plural(self.n_events, "event"), first, last)
        noun = "event" if read.spans is None else "range"
        said = [plural(read.n, "step"), plural(read.n_events, noun)]
        if read.clock is not None:
            step = read.clock.step * read.clock.tick_size
            every = rounded_duration(step) if read.clock.is_dates else f"{step:g}"
            ends = " to ".join(read.clock.told(read.clock.ticks[at]) for at in (0, -1))
            zone = "" if read.clock.zone is None else f" ({read.clock.zone.name})"
            said.append(f"{ends}{zone}, a step every {every}")
        return joined(", ", said)


def _refuse(given: Mapping[str, Any], problem: str, span: str) -> None:
    """Refuse arguments of the other kind of series."""
    for name, value in given.items():
        if name not in names_of(AboutNames) and not _is_usual(value, DECLARED[name].default):
            raise InputError(argument=name, problem=say(problem, span))


def _is_usual(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, str) and isinstance(default, str) and value == default)
