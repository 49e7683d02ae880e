"""The result of a coincidence of two lists of times, and how it prints itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from nofluke.dates import format_duration
from nofluke.inference.beside import F1
from nofluke.inference.evaluation import Evaluation
from nofluke.plain import finite_or_none
from nofluke.series.occurrences import Occurrences
from nofluke.series.timed import Edges, TimedCell
from nofluke.series.tolerance import Tolerance
from nofluke.text.numbers import SECOND, span_in_words
from nofluke.text.tables import plural

Leads = Literal["alarms", "events"]
NOT_OF_LISTS = (
    "count_events",
    "threshold",
    "quantile",
    "budget",
    "higher_is",
    "count_alarms",
    "refractory",
    "tolerant_truth",
    "tolerant_predictions",
    "left_out",
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Coincidence(Evaluation):
    """How two lists of times coincide: an `Evaluation`, plus what only lists have.

    Attributes
    ----------
    n : int
        Ticks that were watched and on which an event could have fallen.
    n_events, n_predictions : int
        Events and alarms that count.
    sequence : Occurrences
        The lists as they were read: ticks, span and gaps.
    leads : {"alarms", "events"}
        What comes first.
    lag : number
        How far the window was moved: nanoseconds for dates, else the unit of the times. ``tolerance`` is the window as
        it was moved, ``width`` as it was given.

    See Also
    --------
    nofluke.coincidence : makes it.
    nofluke.Evaluation : the same for labels on steps.
    nofluke.CoincidenceSweep : many tolerances and lags.
    nofluke.plot.coincidence : draws it.

    Examples
    --------
    >>> import nofluke as nf
    >>> found = nf.coincidence([10, 40, 70], [11, 41, 90], tolerance=2, span=(0, 99))
    >>> found.recall_hits, found.precision_hits, found.watched, found.verdict
    (2, 2, 100.0, 'cannot tell')
    """

    sequence: Occurrences = field(repr=False)  # type: ignore[assignment]
    leads: Leads = "alarms"
    lag: int | float = 0

    @property
    def width(self) -> Tolerance:
        """The tolerance before the lag moved it."""
        return self.tolerance.by(-self.lag) if self.lag else self.tolerance

    @property
    def precursor_rate(self) -> float:
        """The share of what follows that has something leading before it: recall if alarms lead, else precision."""
        return self.recall if self.leads == "alarms" else self.precision

    @property
    def trigger_rate(self) -> float:
        """The share of what leads that has something following it: precision if alarms lead, else recall."""
        return self.precision if self.leads == "alarms" else self.recall

    @property
    def edges(self) -> Edges:
        """Whether everything counts, or only what has its whole window in the watched time."""
        return self._cell.trial.edges

    @property
    def _cell(self) -> TimedCell:
        cell: Any = self.cell
        return cell  # type: ignore[no-any-return]

    @property
    def tick(self) -> str:
        """The resolution on which chance places events: "1d", or a number in the unit of the times."""
        return self.sequence.ticks.length(self.sequence.watch.stride)

    @property
    def fine(self) -> bool:
        """Whether ticks are fractions of a second, or as fine as floats: no unit to state a duration in."""
        ticks = self.sequence.ticks
        return not ticks.rounded or (ticks.is_dates and ticks.size * self.sequence.watch.stride < SECOND)

    @property
    def span(self) -> tuple[Any, Any]:
        """The first and the last time of the span, as dates or numbers."""
        first, last = self.sequence.ticks.times(np.array([self.sequence.first, self.sequence.last]))
        return first, last

    @property
    def watched(self) -> float:
        """Time that was watched, gaps left out: seconds for dates, else the unit of the times."""
        return self.false_alarms.duration

    @property
    def alarm_noun(self) -> str:
        """What a prediction is called."""
        return "alarm"

    def _title(self) -> str:
        read = self.sequence
        gaps = len(read.gaps.starts)
        less = f" less {plural(gaps, 'gap')}" if gaps else ""
        long = f"{plural(self.n, 'tick')} of {self.tick}"
        if self.fine:
            long = f"{span_in_words(self.watched, self.false_alarms.unit)} watched"
        return (
            f"{plural(self.n_events, 'event')}, {plural(self.n_predictions, 'alarm')}; {' to '.join(read.ends)}{less}, "
            f"{long}; tolerance {self.tolerance}"
        )

    def sentences(self) -> tuple[str, ...]:
        """The result in plain words, with the names of event coincidence analysis."""
        recall, precision = ("precursor", "trigger") if self.leads == "alarms" else ("trigger", "precursor")
        names = f"Recall is the {recall} coincidence rate and precision the {precision} coincidence rate, if {self.leads} lead."
        return *super().sentences(), names

    def _record(self, *, f1: F1 = "value", statistics: Iterable[str] = ()) -> dict[str, Any]:
        every = super()._record(f1=f1, statistics=statistics)
        plain = {key: value for key, value in every.items() if key not in NOT_OF_LISTS}
        read = self.sequence
        gaps = [
            [read.ticks.show(int(start)), read.ticks.show(int(stop) - 1)]
            for start, stop in zip(read.gaps.starts, read.gaps.stops, strict=True)
        ]
        return plain | {
            "width": self.width.plain(),
            "lag": format_duration(self.lag) if read.ticks.is_dates else self.lag,
            "span": [read.ticks.show(read.first), read.ticks.show(read.last)],
            "span_guessed": read.guessed,
            "gaps": gaps,
            "watched": {"value": self.watched, "unit": self.false_alarms.unit},
            "tick": self.tick,
            "edges": self.edges,
            "leads": self.leads,
            "precursor_rate": finite_or_none(self.precursor_rate),
            "trigger_rate": finite_or_none(self.trigger_rate),
        }
