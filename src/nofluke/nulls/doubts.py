"""Doubts about a chosen null: what it does not keep, where the data plainly have it. Part of every result's notes."""

from __future__ import annotations

from nofluke.nulls.base import NullModel
from nofluke.nulls.bernoulli import Bernoulli
from nofluke.nulls.circular import CircularShift
from nofluke.nulls.evidence import CALENDAR_PERIODS, BoolArray, adjacency, clustering, in_runs, season_of_calendar
from nofluke.nulls.permutation import Permutation
from nofluke.nulls.seasonal import Seasonal
from nofluke.nulls.setting import Setting
from nofluke.nulls.shuffles import Blocks, IntervalShuffle, Segments
from nofluke.nulls.stationary import Stationary

LEVEL = 0.01  # a note on one in a hundred results without reason is little enough
ENOUGH_EVENTS = 8  # fewer make a cluster by accident


def doubts(model: NullModel, setting: Setting) -> tuple[str, ...]:
    """What a reader of p-values under this null should know about events and alarms; nothing if all is well."""
    found = list(_doubts_about_events(model, setting.truth))
    if isinstance(model, Bernoulli):
        found.append(
            "The null bernoulli takes every window for an independent trial; it is for comparison with the literature, not for "
            "conclusions."
        )
    if isinstance(model, Stationary):
        found.append(
            "The null stationary rests on a fit to window maxima (the method names the p-value of the fit) and on events that fall one by "
            "one; it is for comparison with the literature, not for conclusions."
        )
    season = _forgotten_season(model, setting)
    if season is not None:
        found.append(
            f"Events and alarms both follow a season ({season}), which the null {model.name} does not keep: it calls that skill. Use "
            f'null="seasonal:period={season}".'
        )
    return tuple(found)


def _doubts_about_events(model: NullModel, truth: BoolArray) -> tuple[str, ...]:
    """Doubts that need no alarms: events in runs or clusters under a null that places them one by one."""
    if not isinstance(model, Permutation | Seasonal) or truth.sum() < 2:
        return ()
    runs = adjacency(truth)
    if in_runs(runs, LEVEL):
        return (
            f"Events come as runs of {runs.statistic:.3g} steps in the mean, which the null {model.name} tears apart: its p-values "
            'are not to be trusted. Use null="circular-shift" or null="segments".',
        )
    # a season makes clusters too, so that they are no reproach to the null that keeps it
    if isinstance(model, Permutation) and truth.sum() >= ENOUGH_EVENTS:
        clusters = clustering(truth)
        if clusters.pvalue <= LEVEL:
            return (
                f"Events come in clusters (variance over mean of counts up to {clusters.statistic:.3g}), which the null "
                f'{model.name} tears apart: p-values of recall come out too small. Use null="circular-shift", or see nf.diagnose.',
            )
    return ()


def _forgotten_season(model: NullModel, setting: Setting) -> str | None:
    """The rule of the calendar that events and alarms both follow and the null does not keep."""
    forgets = isinstance(model, Permutation | IntervalShuffle | Segments | Blocks | Stationary) or (
        isinstance(model, CircularShift) and model.every == 1
    )
    if not forgets or setting.clock is None or setting.n_events < ENOUGH_EVENTS:
        return None
    level = LEVEL / len(CALENDAR_PERIODS)
    for rule in CALENDAR_PERIODS:
        events = season_of_calendar(setting.truth, setting.clock, rule)
        if events is not None and events.pvalue <= level:
            alarms = season_of_calendar(setting.alarms, setting.clock, rule)
            if alarms is not None and alarms.pvalue <= level:
                return rule
    return None
