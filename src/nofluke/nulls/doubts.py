"""Doubts about a null that was insisted on: what it does not keep, where the data plainly have it."""

from __future__ import annotations

import numpy as np

from nofluke.errors import arg, say, verb
from nofluke.nulls.auto import pick
from nofluke.nulls.base import NullModel
from nofluke.nulls.evidence import CALENDAR_PERIODS, in_runs
from nofluke.nulls.look import Look
from nofluke.series.timed import Length, TimedTruth, in_places
from nofluke.series.trial import Cell
from nofluke.text.numbers import p_is

LEVEL = 0.01  # a doubt about one in a hundred results without reason is little enough
ENOUGH_EVENTS = 8  # fewer make a cluster by accident
MOST_STEPS = 100_000  # up to here any period is searched for unasked; auto and diagnose always do


def doubts(model: NullModel, *cells: Cell) -> tuple[str, ...]:
    """What the data say against this null, each in a sentence with the remedy; nothing if all is well.

    Of several cells, such as those of a detector at several thresholds, each kind of doubt is said of the first.
    """
    found: dict[str, str] = {}
    for cell in cells:
        look = Look.of(cell, 0.05)
        here = {
            "events": about_events(model, look),
            "season": _about_season(model, look),
            "drift": _about_drift(model, look),
            "gaps": _about_gaps(model, cell),
        }
        if not any(here.values()):
            here = {"auto": _about_auto(model, look)}
        found = {kind: said for kind, said in here.items() if said} | found
    return tuple(found[kind] for kind in ("events", "season", "drift", "gaps", "auto") if kind in found)


def _about_auto(model: NullModel, look: Look) -> str:
    """What a null that moves events together does not keep, where auto says that none holds."""
    if "runs" not in model.keeps or look.cell.n_steps > MOST_STEPS:
        return ""
    found = pick(look)
    seen = {"season": look.season is not None, "drift": bool(look.drifts)}
    if found.holds or all(what in model.keeps for what, there in seen.items() if there):
        return ""
    return say('With {} the answer is "cannot tell". {}', arg("null", "auto"), found.why)


def about_events(model: NullModel, look: Look) -> str:
    """Events in runs or clusters under a null that places them one by one."""
    n = look.cell.n_events
    if "runs" in model.keeps or n < 2 or not look.cell.truth.points:
        return ""
    runs = look.events.runs
    if in_runs(runs, LEVEL):
        return say(
            "Events come as runs of {:.3g} steps on average, which the null {} tears apart: its p-values cannot be trusted. "
            "Use {} or {}.",
            runs.statistic,
            model.name,
            arg("null", "circular-shift"),
            arg("null", "segments"),
        )
    # a season makes clusters too, and so does a slow change: no reproach to the null that keeps it
    if not model.keeps & {"clusters", "season", "drift"} and n >= ENOUGH_EVENTS:
        clusters = look.events.clusters
        if clusters.pvalue <= LEVEL:
            return say(
                "Events come in clusters (variance over mean of counts up to {:.3g}), which the null {} tears apart: p-values "
                "of recall come out too small. Use {}, or see {}.",
                clusters.statistic,
                model.name,
                arg("null", "circular-shift"),
                verb("diagnose"),
            )
    return ""


def _about_season(model: NullModel, look: Look) -> str:
    """A season that events and alarms both follow and the null does not keep."""
    if "season" in model.keeps or look.cell.n_events < ENOUGH_EVENTS or len(look.cell.alarms) == 0:
        return ""
    season, pvalue = _calendar(look)
    if season:
        remedy = arg("null", f"seasonal:period={season}")
    elif look.cell.n_steps > MOST_STEPS:
        return ""
    elif look.search is not None and look.search.found and look.search.pvalue <= LEVEL and look.season is not None:
        return say(
            "{} that events and alarms may share, which the null {} does not keep: it would call that skill. Use {}.",
            look.season.seen,
            model.name,
            arg("null", "auto"),
        )
    else:
        return ""
    return say(
        "Events and alarms both seem to follow a season ({}, {}), which the null {} does not keep: it calls that skill. "
        "Use {}.",
        season,
        p_is(pvalue),
        model.name,
        remedy,
    )


def _calendar(look: Look) -> tuple[str, float]:
    """The rule of the calendar that events and alarms both follow, if there is one, and its p-value, corrected."""
    tried = len(CALENDAR_PERIODS)
    for season in look.calendar:
        pvalue = tried * max(season.events.pvalue, season.alarms.pvalue)
        if pvalue <= LEVEL:
            return str(season.period), pvalue
    return "", 1.0


def _about_drift(model: NullModel, look: Look) -> str:
    """A slow change of both rates that the null does not keep."""
    if "drift" in model.keeps or look.cell.n_events < ENOUGH_EVENTS or len(look.cell.alarms) == 0:
        return ""
    if look.drift.pvalue > LEVEL:
        return ""
    return say(
        "{}, which the null {} does not keep: it may call that skill. Use {}, or {}.",
        look.changes,
        model.name,
        arg("null", "local-shift"),
        arg("null", "auto"),
    )


def _about_gaps(model: NullModel, cell: Cell) -> str:
    """Shifts by whole periods that do not keep the phase, since time passes in gaps and shifts do not see it."""
    every: Length | None = getattr(model, "every", None)
    if every is None:
        return ""

    def in_phase(truth: TimedTruth) -> bool:
        period = in_places(every, truth, "every") * truth.watch.stride
        gaps = truth.watch.starts[1:] - truth.watch.stops[:-1]
        return bool((np.abs(gaps - np.rint(gaps / period) * period) <= truth.watch.stride / 2).all())

    if cell.truth.by_axis(steps=lambda _: True, ticks=in_phase):
        return ""
    return say(
        "Shifts by multiples of {} of watched time do not keep a season of that length where gaps are not multiples of it: "
        "its p-values cannot be trusted. Use {}.",
        every,
        arg("null", f"seasonal:period={every}"),
    )
