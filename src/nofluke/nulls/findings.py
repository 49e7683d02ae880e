"""Findings: what was looked at in events and alarms, measured and put into plain words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from nofluke.nulls import advice
from nofluke.nulls.evidence import adjacency, cluster_scales, memory
from nofluke.nulls.look import LENIENT, SEASON, WITHIN, Look
from nofluke.series.trial import Cell
from nofluke.text.numbers import p_is, show_p
from nofluke.text.tables import plural, show_share

MUCH_COVERED = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at.

    Attributes
    ----------
    name : str
        Such as "clusters of events".
    found : bool
        Whether it is there, at the level of the diagnosis.
    statistic : float
        What was measured; ``looked_at`` says what it is.
    pvalue : float or None
        How often the statistic is that extreme where there is nothing to find; None where that was not tested.
    looked_at : str
        What the statistic is and where it was looked for.
    sentence : str
        What it means, in plain words.
    """

    name: str
    found: bool
    statistic: float
    pvalue: float | None
    looked_at: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallestP:
    """The smallest p-values a null can give with these events and alarms; None where far below any level."""

    null: str
    precision: float | None
    recall: float | None


def event_findings(look: Look) -> tuple[Finding, ...]:
    """Clusters, even spacing and runs."""
    events, cell = look.events, look.cell
    inner = not (events.ranges or look.few) and (look.season is not None or look.drifts)
    within = "" if not inner else ", within phases" if look.season is not None else ", within windows of time"
    clusters = look.within.counts if inner else events.clusters
    clustered = not look.few and clusters.pvalue <= (WITHIN if inner else LENIENT) / 2
    scales = cluster_scales(cell.n_steps)
    looked = f"{look.told(int(scales[0]))} to {look.told(int(scales[-1]))}" if len(scales) else "no scale"
    if look.sketch is None and len(scales):
        looked = f"{scales[0]} to {scales[-1]:,} steps"
    # gaps are between places, of which a step of the sketch may hold many
    gap, unit = look.measured(events.evenness.statistic / (1 if look.sketch is None else look.sketch.width))
    on = "Labelled steps" if look.sketch is None else "Events on neighbouring ticks"
    even = not look.few and events.evenness.pvalue <= LENIENT / 2
    return (
        Finding(
            name="clusters of events",
            found=clustered,
            statistic=clusters.statistic,
            pvalue=clusters.pvalue,
            looked_at=f"largest variance over mean of counts in {looked}{within}",
            sentence="Events may come in clusters: placing them independently would understate what chance does."
            if clustered
            else f"{plural(cell.n_events, 'event')} {'are' if cell.n_events != 1 else 'is'} too few to show clusters."
            if look.few
            else "No clusters of events were found.",
        ),
        Finding(
            name="evenly spaced events",
            found=even,
            statistic=gap,
            pvalue=events.evenness.pvalue,
            looked_at=f"smallest gap between two events, in {unit}",
            sentence="Events seem to keep a distance from each other: placing them independently would understate what they cover."
            if even
            else "Events keep no more distance from each other than random ones.",
        ),
        Finding(
            name="runs of events",
            found=events.in_runs,
            statistic=events.runs.statistic,
            pvalue=events.runs.pvalue,
            looked_at=f"mean length of runs of {on[0].lower()}{on[1:]}",
            sentence=f"{on} come in runs (ranges): a permutation would tear them apart."
            if events.in_runs
            else f"{on} do not come in runs."
            if look.sketch is None
            else "Events do not come in runs.",
        ),
        Finding(
            name="slow change",
            found=look.drifts,
            statistic=look.drift.ratio,
            pvalue=look.drift.pvalue,
            looked_at="spectra of events and alarms below 8 cycles, over the rest (largest ratio)",
            sentence=f"{look.changes}: only local nulls keep that."
            if look.drifts
            else "No slow change that events and alarms share was found.",
        ),
    )


def season_findings(look: Look) -> tuple[Finding, ...]:
    """Seasons of the calendar or of a known period, and the search for any other."""
    found = [
        Finding(
            name=f"season of {side}: {season.label}",
            found=seen,
            statistic=evidence.statistic,
            pvalue=evidence.pvalue,
            looked_at="spectrum at the period and its harmonics, over its neighbours (largest)",
            sentence=f"{side.capitalize()} seem to follow a season ({season.label}, {p_is(evidence.pvalue)}): a null must keep it."
            if seen
            else f"{side.capitalize()} show no season ({season.label}).",
        )
        for season in look.calendar
        for side, evidence, seen in (
            ("events", season.events, season.events_found),
            ("alarms", season.alarms, season.alarms_found),
        )
    ]
    searched = look.search
    if searched is not None:
        period, unit = look.measured(searched.steps)
        short, long = (
            look.told(int(length)).removesuffix(f" {unit}") for length in (searched.shortest, searched.longest)
        )
        # a small p of something else beside a "no" would read as a contradiction
        other = not searched.found and searched.pvalue <= 2 * SEASON
        found.append(
            Finding(
                name="season of any period",
                found=searched.found,
                statistic=period if searched.found else math.nan,
                pvalue=None if other else searched.pvalue,
                looked_at=f"period in {unit}, of {short} to {long}, that both spectra show"
                + ("; one side alone, or a slow change, has one" if other else ""),
                sentence=f"Events and alarms seem to share a period of about {period:,.4g} {unit}: a null must keep it."
                if searched.found
                else "Events or alarms have a period of their own or change slowly, but share no period."
                if other
                else "No period that events and alarms share was found.",
            )
        )
    return tuple(found)


def alarm_findings(look: Look, alpha: float) -> tuple[Finding, Finding]:
    cell, in_time = look.cell, look.sketch is not None
    if cell.scores is not None:
        evidence, measured = memory(cell.scores), "rank autocorrelation of the score at lag 1"
    else:
        evidence, measured = adjacency(cell.alarms, cell.n_steps), "mean length of runs of alarms"
    covered = cell.windows.covered / cell.n_steps
    return (
        Finding(
            name="memory of the score" if cell.scores is not None else "runs of alarms",
            found=evidence.pvalue <= alpha,
            statistic=evidence.statistic,
            pvalue=evidence.pvalue,
            looked_at=measured,
            sentence="Alarms come in runs, so one event makes several hits: exact nulls account for it, a binomial does not."
            if evidence.pvalue <= alpha
            else "Alarms do not come in runs.",
        ),
        Finding(
            name="much is covered",
            found=covered > MUCH_COVERED,
            statistic=covered,
            pvalue=None,
            looked_at=f"share of the {'time' if in_time else 'steps'} within the tolerance of an alarm",
            sentence=f"An event {'at a random time' if in_time else 'on a random step'} is found with probability {show_share(covered)}: "
            + ("recall says little." if covered > MUCH_COVERED else "recall can be informative."),
        ),
    )


def lag_finding(look: Look, profile: advice.LagProfile, alpha: float) -> Finding:
    late, unit = look.measured(float(profile.best))
    most = f"{profile.lags[-1]}" if look.sketch is None else look.told(int(profile.lags[-1]))
    much = plural(abs(profile.best), "step") if look.sketch is None else look.told(abs(profile.best))
    found = profile.pvalue <= alpha and profile.clearly_elsewhere
    side = "late" if profile.best > 0 else "early"
    return Finding(
        name="lag",
        found=found,
        statistic=late,
        pvalue=profile.pvalue,
        looked_at=f"shift of the events with the most hits, in {unit}, of -{most} to {most}; p of any association there",
        sentence=f"Alarms are steadily about {much} {side}: more tolerance on that side, or a shifted score, would hit more."
        if found
        else "No shift of the events would give clearly more hits.",
    )


def few_events(cell: Cell, smallest: SmallestP, alpha: float) -> Finding:
    """Whether the recommended null could call these many events significant at all."""
    floors = {"precision": smallest.precision, "recall": smallest.recall}
    above = {measure: p for measure, p in floors.items() if p is not None and p > alpha}
    who = "Neither precision nor recall can" if len(above) == 2 else f"{''.join(above).capitalize()} cannot"
    least = " and ".join(f"{show_p(p)} for {measure}" for measure, p in above.items())
    return Finding(
        name="too few events",
        found=bool(above),
        statistic=float(cell.n_events),
        pvalue=None,
        looked_at=f"number of events, and whether p can reach {alpha:g} with them under the recommended null",
        sentence=f"{who} reach p = {alpha:g} with these events and alarms: under the null {smallest.null}, the smallest possible p is {least}."
        if above
        else f"Under the null {smallest.null}, both measures could reach p = {alpha:g}.",
    )
