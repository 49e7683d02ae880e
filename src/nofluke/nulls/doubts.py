"""Doubts about a null that was asked for: what it does not keep, where the data plainly have it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nofluke.lazy import lazy
from nofluke.nulls.base import NullModel
from nofluke.nulls.evidence import (
    CALENDAR_PERIODS,
    RUN_LENGTH,
    Evidence,
    adjacency,
    clustering,
    in_runs,
    season_of_calendar,
)
from nofluke.series.trial import Cell
from nofluke.series.truth import Truth

LEVEL = 0.01  # a note on one in a hundred results without reason is little enough
ENOUGH_EVENTS = 8  # fewer make a cluster by accident
_SEEN = "seen in the events"  # under which a truth keeps it


def doubts(model: NullModel, cell: Cell) -> tuple[str, ...]:
    """What a reader of p-values under this null should know about events and alarms; nothing if all is well."""
    found = [*_doubts_about_events(model, cell.truth)]
    season = _forgotten_season(model, cell)
    if season is not None:
        found.append(
            f"Events and alarms both follow a season ({season}), which the null {model.name} does not keep: it calls that skill. Use "
            f'null="seasonal:period={season}".'
        )
    return tuple(found)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Seen:
    """What is seen in the events alone, worked out once for a truth, however many cells are judged on it."""

    truth: Truth

    @lazy
    def in_long_runs(self) -> bool:
        """Whether runs are long enough in the mean to be looked at."""
        following = int(np.count_nonzero(np.diff(self.truth.starts) == 1))
        return self.truth.n >= RUN_LENGTH * (self.truth.n - following)

    @lazy
    def runs(self) -> Evidence:
        return adjacency(self.truth.starts, self.truth.n_steps)

    @lazy
    def clusters(self) -> Evidence:
        return clustering(self.truth.starts, self.truth.n_steps)

    @lazy
    def seasons(self) -> dict[str, Evidence | None]:
        return {rule: season_of_calendar(self.truth.flags, self.truth.clock, rule) for rule in CALENDAR_PERIODS}


def _seen(truth: Truth) -> _Seen:
    if _SEEN not in truth.__dict__:
        truth.__dict__[_SEEN] = _Seen(truth=truth)
    seen: _Seen = truth.__dict__[_SEEN]
    return seen


def _doubts_about_events(model: NullModel, truth: Truth) -> tuple[str, ...]:
    """Doubts that need no alarms: events in runs or clusters under a null that places them one by one."""
    if "runs" in model.keeps or truth.n < 2:
        return ()
    seen = _seen(truth)
    runs = seen.runs if seen.in_long_runs else None
    if runs is not None and in_runs(runs, LEVEL):
        return (
            f"Events come as runs of {runs.statistic:.3g} steps in the mean, which the null {model.name} tears apart: its p-values "
            'are not to be trusted. Use null="circular-shift" or null="segments".',
        )
    # a season makes clusters too, so that they are no reproach to the null that keeps it
    if not model.keeps & {"clusters", "season"} and truth.n >= ENOUGH_EVENTS:
        clusters = _seen(truth).clusters
        if clusters.pvalue <= LEVEL:
            return (
                f"Events come in clusters (variance over mean of counts up to {clusters.statistic:.3g}), which the null "
                f'{model.name} tears apart: p-values of recall come out too small. Use null="circular-shift", or see nf.diagnose.',
            )
    return ()


def _forgotten_season(model: NullModel, cell: Cell) -> str | None:
    """The rule of the calendar that events and alarms both follow and the null does not keep."""
    if "season" in model.keeps or cell.clock is None or cell.n_events < ENOUGH_EVENTS:
        return None
    level = LEVEL / len(CALENDAR_PERIODS)
    for rule, events in _seen(cell.truth).seasons.items():
        if events is not None and events.pvalue <= level:
            alarms = season_of_calendar(cell.alarm_flags, cell.clock, rule)
            if alarms is not None and alarms.pvalue <= level:
                return rule
    return None
