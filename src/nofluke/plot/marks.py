"""What a timeline shows of one cell, in a plot or on a page: events found and missed, hits and false alarms."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from nofluke.arrays import AnyArray, BoolArray
from nofluke.errors import THINGS, false_alarms, say
from nofluke.series.timed import TimedCell
from nofluke.series.trial import Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Where the events that count begin and end, and which are found; where the alarms that count are, and the hits."""

    begins: AnyArray = field(repr=False)
    ends: AnyArray = field(repr=False)
    found: BoolArray = field(repr=False)
    alarms: AnyArray = field(repr=False)
    hits: BoolArray = field(repr=False)

    @property
    def lanes(self) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
        """Events found and missed, hits and false alarms."""
        return self.begins[self.found], self.begins[~self.found], self.alarms[self.hits], self.alarms[~self.hits]


def names_of_lanes(noun: str, alarms: str = "alarms") -> tuple[str, str, str, str]:
    """What the lanes are called, of events with this noun."""
    events = THINGS[f"{noun}s"]
    return (
        say("{} found", events),
        say("{} missed", events),
        say("{} that are hits", THINGS[alarms]),
        false_alarms(),
    )


def marks_of(cell: Cell) -> Marks:
    """At steps of the whole sequence or, in time, at ticks; all alarms of an episode that is a hit are.

    >>> from nofluke import evaluate
    >>> result = evaluate([0, 1, 0, 0, 0, 1], predictions=[0, 0, 1, 0, 0, 0], mask=[0, 1, 0, 0, 0, 0], tolerance=3)
    >>> marks = marks_of(result.cell)
    >>> marks.begins, marks.found, marks.alarms, marks.hits
    (array([5]), array([ True]), array([2]), array([ True]))
    """
    return cell.by_axis(steps=_on_steps, ticks=_in_time)


def _on_steps(cell: Cell) -> Marks:
    at, truth = np.flatnonzero(cell.truth.open_steps), cell.truth
    return Marks(
        begins=at[truth.first_steps],
        ends=at[truth.last_steps],
        found=cell.found,
        alarms=at[cell.alarms],
        hits=cell.alarm_hits,
    )


def _in_time(cell: TimedCell) -> Marks:
    events, counted = cell.truth.at[cell.counts], cell.alarms_counted
    return Marks(
        begins=events,
        ends=events,
        found=cell.found[cell.counts],
        alarms=cell.at[counted],
        hits=cell.alarm_hits[counted],
    )
