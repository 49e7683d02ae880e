"""Advice: from what is seen in events and alarms to the null model that keeps it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.errors import InputError, arg, say
from nofluke.nulls.base import NullModel
from nofluke.nulls.circular import CircularShift
from nofluke.nulls.evidence import (
    CALENDAR_PERIODS,
    Evidence,
    cluster_scales,
    dispersion_of,
    pairs_in_blocks,
    season_of_calendar,
    season_of_steps,
)
from nofluke.nulls.permutation import Permutation
from nofluke.nulls.seasonal import Seasonal
from nofluke.nulls.shifts import around
from nofluke.nulls.stratified import Stratified
from nofluke.series.counting import window_maxima
from nofluke.series.tolerance import Ranges
from nofluke.series.trial import Cell
from nofluke.series.truth import Truth

Period = int | float | str
RESAMPLES = 199
FEWEST = 49  # resamples where there are very many events
SEED = 2020
LAGS = 20
LAG_SHARE = 100  # lags reach no further than this part of the sequence: else its rotations are too few to compare with
CHUNK = 2_000_000  # events drawn at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class SeasonSeen:
    """A season that was looked for, in events and in alarms."""

    period: Period
    events: Evidence
    alarms: Evidence
    events_found: bool
    alarms_found: bool

    @property
    def label(self) -> str:
        """The season in words."""
        return self.period if isinstance(self.period, str) else f"period {self.period:,} steps"

    @property
    def pvalue(self) -> float:
        """Of the side that shows it best."""
        return min(self.events.pvalue, self.alarms.pvalue)

    @property
    def found(self) -> bool:
        """Whether events or alarms follow it; one of them is enough to make a null that keeps it the safe choice."""
        return self.events_found or self.alarms_found


def look_for_seasons(cell: Cell, period: Period | None, alpha: float) -> tuple[SeasonSeen, ...]:
    """The season of the given period, or those of the calendar; corrected (Bonferroni) for how many were looked at."""
    if period is not None:
        period = Seasonal(period=period).period  # refuses what is no period, and makes it plain
        if not isinstance(period, str) and period < 2:  # type: ignore[operator]  # a period is no None
            raise InputError(argument="period", value=period, problem="must be a number of at least 2 steps")
    looked: list[tuple[Period, Evidence, Evidence]] = []
    for one in CALENDAR_PERIODS if period is None else (period,):
        pair = [_season(flags, cell, one) for flags in (cell.truth.flags, cell.alarm_flags)]
        if pair[0] is not None and pair[1] is not None:
            looked.append((one, pair[0], pair[1]))
    if isinstance(period, str) and (cell.clock is None or not cell.clock.is_dates):
        raise InputError(
            argument="period",
            value=period,
            problem="needs a clock of dates",
            remedy=say("pass {}, or a period in steps", arg("times")),
        )
    level = alpha / max(len(looked), 1)
    return tuple(
        SeasonSeen(
            period=one,
            events=events,
            alarms=alarms,
            events_found=events.pvalue <= level,
            alarms_found=alarms.pvalue <= level,
        )
        for one, events, alarms in looked
    )


def _season(flags: Any, cell: Cell, period: Period) -> Evidence | None:
    if isinstance(period, str):
        return season_of_calendar(flags, cell.clock, period)
    return season_of_steps(flags, cell.truth, period)


def strongest(seasons: tuple[SeasonSeen, ...]) -> SeasonSeen | None:
    """The season with the smallest p-value among those found."""
    found = [season for season in seasons if season.found]
    return min(found, key=lambda season: season.pvalue, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """Clusters of events: dispersion of counts over several scales, and evenness of gaps."""

    counts: Evidence
    gaps: Evidence


def clusters_against(side: Truth, null: Stratified) -> Clusters:
    """Both statistics of events at points against placements within strata; p = (b + 1)/(n + 1)."""
    events, n_steps = side.starts, side.n_steps
    scales, nothing = cluster_scales(n_steps), Evidence(statistic=1.0, pvalue=1.0)
    if len(events) < 3 or len(events) == n_steps or len(scales) == 0:
        return Clusters(counts=nothing, gaps=nothing)
    draw, generator = null.draw(side), np.random.default_rng(SEED)
    pairs, unevenness = [_pairs(events[None], scales)], [_unevenness(events[None], n_steps)]
    rows, left = max(CHUNK // len(events), 1), min(max(CHUNK // len(events), FEWEST), RESAMPLES)
    while left > 0:
        drawn = np.sort(draw(generator, min(rows, left)), axis=1).astype(np.int64)
        pairs.append(_pairs(drawn, scales))
        unevenness.append(_unevenness(drawn, n_steps))
        left -= len(drawn)
    # standardised by all placements, the observed one too, so that it is one among equals
    every = np.concatenate(pairs).astype(np.float64)
    spread = every.std(axis=0)
    largest = ((every - every.mean(axis=0)) / np.where(spread > 0, spread, 1.0)).max(axis=1)
    dispersion = max(
        dispersion_of(int(p), n_steps, len(events), w) for p, w in zip(pairs[0][0], scales.tolist(), strict=True)
    )
    gaps = np.concatenate(unevenness)
    return Clusters(
        counts=Evidence(statistic=dispersion, pvalue=_rank(largest)),
        gaps=Evidence(statistic=float(gaps[0]), pvalue=_rank(gaps)),
    )


def _pairs(rows: IntArray, scales: IntArray) -> IntArray:
    return np.array([pairs_in_blocks(row, scales) for row in rows])


def _unevenness(rows: IntArray, n_steps: int) -> FloatArray:
    """Coefficient of variation of the gaps, around the circle."""
    gaps = np.diff(rows, axis=1, append=rows[:, :1] + n_steps)
    return np.asarray(gaps.std(axis=1) / gaps.mean(axis=1))


def _rank(values: FloatArray) -> float:
    """Share of all values, the first included, that reach the first one."""
    return float((values >= values[0] - 1e-9).mean())


@dataclass(frozen=True, slots=True, kw_only=True)
class LagProfile:
    """Hits of the events shifted by small lags, and whether the best lag means anything."""

    lags: IntArray = field(repr=False)
    precision_hits: IntArray = field(repr=False)
    recall_hits: IntArray = field(repr=False)
    best: int
    pvalue: float
    clearly_elsewhere: bool


def lag_profile(cell: Cell) -> LagProfile:
    """Hits by lag. The p-value compares the best lag with that of every rotation: exact under circular shifts."""
    n = cell.n_steps
    reach = max(min(LAGS, n // LAG_SHARE), min(1, (n - 1) // 2))
    recall, precision = around(cell, n)
    lags = np.arange(-reach, reach + 1)
    both = _standardised(precision) + _standardised(recall)
    around_it, steps = np.concatenate([both[n - reach :], both, both[:reach]]), np.arange(n)
    largest = window_maxima(around_it, Ranges(starts=steps, stops=steps + 2 * reach + 1))
    near = both[lags]
    # the tolerance makes a plateau of equally good lags: its middle, or none where it reaches 0
    tied = lags[near >= near.max() - 1e-9]
    best = 0 if 0 in tied else int(tied[len(tied) // 2])
    return LagProfile(
        lags=lags,
        precision_hits=precision[lags],
        recall_hits=recall[lags],
        best=best,
        pvalue=float((largest >= largest[0] - 1e-9).mean()),
        clearly_elsewhere=bool(both[best] - both[0] >= 2 * both.std() > 0),
    )


def _standardised(hits: IntArray) -> FloatArray:
    spread = float(hits.std())
    return (hits - hits.mean()) / spread if spread > 0 else np.zeros(len(hits))


def smallest_pvalues(cell: Cell, recommended: NullModel) -> dict[str, dict[str, float | None]]:
    """Both measures' smallest p-values under the permutation, the circular shift and, last, the recommended null."""
    models: dict[str, NullModel] = {"permutation": Permutation(), "circular-shift": CircularShift()}
    if not cell.truth.points:
        models.pop("permutation")
    models.pop(recommended.name, None)
    models[recommended.name] = recommended
    return {name: model.smallest_pvalues(cell) for name, model in models.items()}
