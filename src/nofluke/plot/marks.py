"""Where events and alarms stand on the axis of a timeline, and which of them were hit."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from nofluke.arrays import AnyArray, BoolArray
from nofluke.inference.coincidences import Coincidence
from nofluke.inference.evaluation import Evaluation
from nofluke.series.counting import within
from nofluke.series.reading import Sequence
from nofluke.series.timed import TimedCell, alarm_hits, alarms_counted, events_counted
from nofluke.series.trial import Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Positions on the axis: where events begin and end, which were found, and which alarms are hits or false."""

    when: AnyArray = field(repr=False)
    near: BoolArray = field(repr=False)
    begins: AnyArray = field(repr=False)
    ends: AnyArray = field(repr=False)
    found: BoolArray = field(repr=False)
    hits: AnyArray = field(repr=False)
    false: AnyArray = field(repr=False)


def marks_of_result(result: Evaluation) -> Marks:
    """Those of a result, on steps or in time; what does not count is left out."""
    if not isinstance(result, Coincidence):
        return marks_of(result.sequence, result.cell)
    read, cell = result.sequence, result._cell
    hit, heard, counted = alarm_hits(cell), alarms_counted(cell), events_counted(cell)
    times = read.ticks.times
    at = times(cell.truth.at[counted])
    return Marks(
        when=times(np.array([read.first, read.last])),
        near=np.zeros(0, dtype=np.bool_),
        begins=at,
        ends=at,
        found=cell.found[counted],
        hits=times(cell.at[hit]),
        false=times(cell.at[heard & ~hit]),
    )


def marks_of(sequence: Sequence, cell: Cell) -> Marks:
    """Those of one cell of a sequence; where alarms count as episodes, all steps of one that is a hit are."""
    alarms, near = (np.zeros(len(sequence.truth), dtype=np.bool_) for _ in range(2))
    alarms[sequence.open_steps], near[sequence.open_steps] = _alarms_and_near(cell)
    hits = alarms & near
    if cell.trial.count_alarms == "episodes":
        of_episode = np.cumsum(np.diff(np.flatnonzero(alarms[sequence.open_steps]), prepend=-2) > 1)
        hits[alarms] = np.isin(of_episode, of_episode[hits[alarms]])
    when = when_of(sequence)
    begins, ends = _extents(cell, sequence, when)
    return Marks(
        when=when, near=near, begins=begins, ends=ends, found=cell.found, hits=when[hits], false=when[alarms & ~hits]
    )


def when_of(sequence: Sequence) -> AnyArray:
    """What the timeline's axis shows: dates, the clock's numbers, or steps."""
    clock = sequence.clock
    if clock is None:
        return np.arange(len(sequence.truth))
    return clock.ticks.astype(f"datetime64[{clock.unit}]") if clock.is_dates else clock.ticks


def _alarms_and_near(cell: Cell) -> tuple[BoolArray, BoolArray]:
    """Of the steps that count, which are predicted, and on which a prediction would be a hit."""
    if not isinstance(cell, TimedCell):
        return cell.alarm_flags, cell.trial.near_flags(cell.d)
    alarms = np.zeros(len(cell.trial.at), dtype=np.bool_)
    alarms[cell.trial.chosen(cell.k)] = True
    return alarms, within(cell.truth.starts, cell.trial.alarm_windows[cell.d]) > 0


def _extents(cell: Cell, sequence: Sequence, when: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Where each event begins and ends on the timeline's axis: its own times on a clock, else first and last step."""
    truth, clock = cell.truth, sequence.clock
    if isinstance(cell, TimedCell):
        own = cell.trial.watch.ticks.times(cell.truth.at)
        return own, own
    if truth.begins is not None and truth.ends is not None and clock is not None:
        unit = f"datetime64[{clock.unit}]" if clock.is_dates else clock.ticks.dtype
        return np.maximum(truth.begins, clock.ticks[0]).astype(unit), np.minimum(truth.ends, clock.end).astype(unit)
    at = when[sequence.open_steps]
    return at[truth.starts], at[truth.stops - 1]
