"""Findings: what was looked at in events and alarms, measured and put into plain words."""

from __future__ import annotations

from dataclasses import dataclass

from nofluke.nulls import advice
from nofluke.nulls.advice import SeasonSeen
from nofluke.nulls.evidence import Evidence, adjacency, in_runs, memory
from nofluke.series.trial import Cell
from nofluke.text.numbers import show_p
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
        How often the statistic is that extreme where there is nothing to find; None where it is no test.
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
    """The smallest p-values that a null can give with these events and alarms; None where they are far below any level."""

    null: str
    precision: float | None
    recall: float | None


def event_findings(
    cell: Cell, clusters: advice.Clusters, runs: Evidence, within_season: bool, alpha: float
) -> tuple[Finding, ...]:
    scales = f"{clusters.scales[0]} to {clusters.scales[-1]:,} steps" if len(clusters.scales) else "no scale"
    within = ", within the phases of the season" if within_season else ""
    clustered = clusters.counts.pvalue <= alpha
    uneven = clusters.gaps.pvalue <= alpha
    ranges = in_runs(runs)
    few = cell.n_events < advice.FEW_EVENTS
    return (
        Finding(
            name="clusters of events",
            found=clustered,
            statistic=clusters.counts.statistic,
            pvalue=clusters.counts.pvalue,
            looked_at=f"largest variance over mean of counts in {scales}{within}",
            sentence="Events come in clusters: placing them one by one understates what chance does."
            if clustered
            else f"{plural(cell.n_events, 'event')} {'are' if cell.n_events != 1 else 'is'} too few to show clusters."
            if few
            else "No clusters of events were found.",
        ),
        Finding(
            name="uneven gaps",
            found=uneven,
            statistic=clusters.gaps.statistic,
            pvalue=clusters.gaps.pvalue,
            looked_at=f"coefficient of variation of the gaps between events, 1 for random ones{within}",
            sentence="The gaps between events are more uneven than random ones."
            if uneven
            else "The gaps between events are no more uneven than random ones.",
        ),
        Finding(
            name="runs of events",
            found=ranges,
            statistic=runs.statistic,
            pvalue=runs.pvalue,
            looked_at="mean length of runs of events",
            sentence="Events come as runs (ranges): a permutation tears them apart, circular shifts and segments keep them."
            if ranges
            else "Events do not come as runs.",
        ),
    )


def season_findings(seasons: tuple[SeasonSeen, ...]) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            name=f"season of {side}: {season.label}",
            found=found,
            statistic=evidence.statistic,
            pvalue=evidence.pvalue,
            looked_at="spectrum at the period and its harmonics, over its neighbours (largest)",
            sentence=f"{side.capitalize()} follow a season ({season.label}): a null must keep it."
            if found
            else f"{side.capitalize()} show no season ({season.label}).",
        )
        for season in seasons
        for side, evidence, found in (
            ("events", season.events, season.events_found),
            ("alarms", season.alarms, season.alarms_found),
        )
    )


def alarm_findings(cell: Cell, alpha: float) -> tuple[Finding, Finding]:
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
            sentence="Alarms come together, so that one event makes several hits: exact nulls allow for it, a binomial does not."
            if evidence.pvalue <= alpha
            else "Alarms come one by one.",
        ),
        Finding(
            name="much is covered",
            found=covered > MUCH_COVERED,
            statistic=covered,
            pvalue=None,
            looked_at="share of the steps within the tolerance of an alarm",
            sentence=f"An event on a random step is found with chance {show_share(covered)}: "
            + ("recall says little." if covered > MUCH_COVERED else "recall has room to tell."),
        ),
    )


def lag_finding(profile: advice.LagProfile, alpha: float) -> Finding:
    steps = plural(abs(profile.best), "step")
    found = profile.pvalue <= alpha and profile.clearly_elsewhere
    side = "late" if profile.best > 0 else "early"
    return Finding(
        name="lag",
        found=found,
        statistic=float(profile.best),
        pvalue=profile.pvalue,
        looked_at=f"shift of the events with the most hits, -{profile.lags[-1]} to {profile.lags[-1]}; p of any association there",
        sentence=f"Alarms are steadily about {steps} {side}: more tolerance on that side, or a shifted score, would hit more."
        if found
        else "No steady lag between events and alarms was found.",
    )


def few_events(cell: Cell, smallest: SmallestP, alpha: float) -> Finding:
    """Whether the recommended null could call these many events significant at all."""
    floors = [p for p in (smallest.precision, smallest.recall) if p is not None]
    least = max(floors, default=0.0)
    return Finding(
        name="too few events",
        found=least > alpha,
        statistic=float(cell.n_events),
        pvalue=None,
        looked_at=f"number of events; whether p can reach {alpha:g} with them",
        sentence=f"Not both measures can reach p = {alpha:g} with these events and alarms, whatever the detector does "
        f"(smallest p: {show_p(least)})."
        if least > alpha
        else f"Both measures could reach p = {alpha:g}.",
    )
