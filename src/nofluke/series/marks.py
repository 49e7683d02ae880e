"""What a timeline shows of events and alarms at their own times: which were hit, and which count at all."""

from __future__ import annotations

import numpy as np

from nofluke.arrays import BoolArray, IntArray
from nofluke.series.counting import in_ranges, within
from nofluke.series.timed import TimedCell
from nofluke.series.tolerance import Ranges


def alarm_hits(cell: TimedCell) -> BoolArray:
    """Whether each alarm has an event near it, or any alarm of its episode has.

    >>> import nofluke as nf
    >>> alarm_hits(nf.coincidence([10, 40], [11, 12, 70], tolerance=2, span=(0, 99)).cell)
    array([ True,  True, False])
    """
    every, chosen = cell.trial.alarm_windows[cell.d], cell.trial.chosen(cell.k)
    windows = Ranges(starts=every.starts[chosen], stops=every.stops[chosen])
    near = np.asarray(within(cell.truth.starts, windows) > 0)
    if cell.trial.count_alarms == "episodes" and len(chosen):
        of_episode = np.cumsum(np.diff(chosen, prepend=chosen[0]) > 1)
        near = np.isin(of_episode, of_episode[near])
    return near & alarms_counted(cell)


def alarms_counted(cell: TimedCell) -> BoolArray:
    """Whether each alarm counts: all of them, or those whose whole window was watched."""
    if cell.trial.edges == "zero":
        return np.ones(len(cell.at), dtype=np.bool_)
    return cell.trial.watch.holds_all(cell.at - cell.reach.late, cell.at + cell.reach.early)


def events_counted(cell: TimedCell) -> BoolArray:
    """Whether each event counts."""
    if cell.counted is None:
        return np.ones(cell.truth.n, dtype=np.bool_)
    return in_ranges(cell.truth.starts, cell.counted)


def event_reaches(cell: TimedCell) -> tuple[IntArray, IntArray]:
    """The first and the last tick of the time in which an alarm finds each event; windows that overlap are one."""
    starts, ends = cell.truth.at - cell.reach.early, cell.truth.at + cell.reach.late
    new = np.ones(len(starts), dtype=np.bool_)
    new[1:] = starts[1:] > np.maximum.accumulate(ends)[:-1]
    return starts[new], ends[np.append(np.flatnonzero(new)[1:] - 1, len(ends) - 1)] if len(ends) else ends
