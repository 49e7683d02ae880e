"""The timeline of two lists of times: both lists, what counts at each slider position, and the format of dates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray, FloatArray
from nofluke.dates import NANOSECONDS
from nofluke.inference.coincidence import Coincidence
from nofluke.inference.evaluate import Evaluation
from nofluke.series.clock import Clock, Zone
from nofluke.series.ticks import Ticks
from nofluke.series.timed import TimedTrial
from nofluke.series.tolerance import Ranges, Tolerance
from nofluke.series.trial import Trial
from nofluke.show.report.packing import packed, packed_ascending

MOST_GAPS = 1_000
LEAST_VIEW = 8  # ticks
DIGITS = {
    "day": 86_400 * 10**9,
    "minute": 60 * 10**9,
    "second": 10**9,
    "millisecond": 10**6,
    "microsecond": 10**3,
    "nanosecond": 1,
}


def at_own_times(result: Evaluation, trial: Trial) -> bool:
    """Whether alarms are at times of their own, and not on steps."""
    return trial.in_time and getattr(result.sequence, "alarm_instants", ()) is not None


def first_tick(trial: TimedTrial) -> int:
    """The first tick of both lists and of the watched time."""
    return min(int(ticks.min()) for ticks in (trial.at, trial.truth.at, trial.watch.starts) if len(ticks))


def axis_of_times(result: Evaluation, trial: TimedTrial) -> dict[str, Any]:
    """The alarms; the span, and when nobody watched."""
    ticks, watch, first = trial.watch.ticks, trial.watch, first_tick(trial)
    if isinstance(result, Coincidence):
        ends, gaps = (result.sequence.first, result.sequence.last), result.sequence.gaps
    else:
        ends, gaps = (watch.starts[0], watch.stops[-1] - 1), Ranges(starts=watch.stops[:-1], stops=watch.starts[1:])
    return {
        "n": len(trial.at),
        "points": True,
        "x": {
            "kind": "dates" if ticks.is_dates else "clock",
            "first": float(on_axis(np.array([first]), ticks)[0]),
            "scale": float(ticks.raw) * _axis_scale(ticks),
            "step": 1,
            "each": packed_ascending(trial.at - first),
            "per_unit": float((10**9 if ticks.is_dates else 1) / ticks.size),
            "slack": 0,
            **writing_of(trial, None),
        },
        "span": on_axis(np.array(ends), ticks).tolist(),
        "least": LEAST_VIEW * float(ticks.raw) * _axis_scale(ticks),
        "away": _away(gaps, ticks),
        "gaps": [],
        "sign": 1,
        "scores": None,
        "levels": packed(np.ones(len(trial.at), dtype=np.uint8)),
        "closed": None,
    }


def counted_in_time(trial: TimedTrial) -> dict[str, Any] | None:
    """Where not all count: whether each event and each time of the detector does, by tolerance."""
    if trial.edges == "zero":
        return None
    cells = [trial.cell(d, 0) for d in range(len(trial.tolerances))]
    return {
        "events": packed(np.concatenate([cell.counts for cell in cells])),
        "alarms": packed(np.concatenate([cell.alarms_counted for cell in cells])),
    }


def writing_of(trial: Trial, clock: Clock | None) -> dict[str, Any]:
    """How finely to write the dates of steps and of events, and in which zone; empty without dates."""

    def of_steps(trial: Trial) -> list[Clock]:
        ends = [own for own in (trial.truth.begins, trial.truth.ends) if own is not None]
        return [] if clock is None else [replace(clock, ticks=own) for own in ends]

    def of_ticks(trial: TimedTrial) -> list[Clock]:
        ticks, at = trial.watch.ticks, np.concatenate([trial.truth.at, trial.at])
        dates = ticks.times(at).astype(np.int64) if ticks.is_dates else None
        return [] if dates is None else [Clock(ticks=dates, unit=ticks.unit, aware=ticks.aware, zone=ticks.zone)]

    clocks = [] if clock is None else [clock]
    clocks += trial.by_axis(steps=of_steps, ticks=of_ticks)
    if not clocks or not clocks[0].is_dates:
        return {}
    zone = clocks[0].zone
    local = {} if zone is None else {"zone": on_page(zone), "zone_name": zone.name}
    return {"digits": max(map(_digits, clocks), key=[*DIGITS].index), "aware": clocks[0].aware, **local}


def _digits(clock: Clock) -> str:
    """The coarsest unit that all its times are whole numbers of."""
    fine = (name for name, size in DIGITS.items() if not (clock.local % max(size // clock.tick_size, 1)).any())
    return next(fine, "nanosecond")


def on_page(zone: Zone) -> list[list[int]]:
    """From when on local time is ahead of UTC, and by how much, in milliseconds."""
    return (1000 * np.stack([zone.since, zone.east], axis=1)).tolist()


def _away(gaps: Ranges, ticks: Ticks) -> list[list[float]]:
    """The longest gaps, that were not watched, as stretches of the axis."""
    longest = np.sort(np.argsort(gaps.starts - gaps.stops, kind="stable")[:MOST_GAPS])
    starts, stops = (on_axis(ends[longest], ticks).tolist() for ends in (gaps.starts, gaps.stops))
    return [[start, stop] for start, stop in zip(starts, stops, strict=True)]


def on_axis(at: AnyArray, ticks: Ticks) -> FloatArray:
    """Ticks on the axis of the page: milliseconds since 1970, or the times' own numbers."""
    times = ticks.times(at)
    return (times.astype(np.int64) if ticks.is_dates else times).astype("<f8") * _axis_scale(ticks)


def _axis_scale(ticks: Ticks) -> float:
    return NANOSECONDS[ticks.unit] / 1e6 if ticks.unit is not None else 1.0


def reach_of(tolerance: Tolerance) -> dict[str, Any]:
    """How far a tolerance reaches to both sides of an event, in steps or in the unit of the axis."""
    in_steps = tolerance.unit == "steps"
    scale = 1e-6 if tolerance.unit == "ns" else 1.0
    early, late = (float(side) * scale for side in (tolerance.early, tolerance.late))  # type: ignore[arg-type]
    return {"in": "steps" if in_steps else "axis", "early": early, "late": late}
