"""The timeline of the evaluated position as a drawing: marks that share a pixel merge, but no flag disappears."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nofluke.arrays import BoolArray, FloatArray
from nofluke.inference.coincidences import Coincidence
from nofluke.inference.evaluation import Evaluation
from nofluke.plot.style import MOST_DRAWN
from nofluke.series.timed import TimedCell, alarm_hits, alarms_counted, events_counted
from nofluke.show.report.in_time import on_axis
from nofluke.show.svg import Axis, Chart
from nofluke.show.ticks import Tick, date_ticks, number_ticks

PIXELS = 500  # of the whole width
SCORES, BELOW = (0.4, 1.0), (0.0, 0.34)  # rooms for the scores and the lanes below them


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretches:
    """Where marks begin and end on the axis, ascending."""

    starts: FloatArray
    ends: FloatArray

    def where(self, chosen: BoolArray) -> Stretches:
        """Those chosen."""
        return Stretches(starts=self.starts[chosen], ends=self.ends[chosen])

    def drawn(self, least: float) -> list[tuple[float, float]]:
        """None shorter than this; those less than half of it apart are one."""
        ends = np.maximum.accumulate(np.maximum(self.ends, self.starts + least)) if len(self.ends) else self.ends
        return self.joined(self.starts[1:] - ends[:-1] > least / 2, ends)

    def joined(self, apart: BoolArray, ends: FloatArray | None = None) -> list[tuple[float, float]]:
        """Neighbours that are not apart as one."""
        if not len(self.starts):
            return []
        ends = self.ends if ends is None else ends
        first, last = np.append(True, apart), np.append(apart, True)
        return list(zip(self.starts[first].tolist(), ends[last].tolist(), strict=True))


def timeline_figure(result: Evaluation) -> str:
    """Scores and threshold above, lanes of hits, false alarms and events below."""
    steps, noun = _steps(result), result.cell.truth.noun
    low, high = float(steps.starts[0]), float(steps.ends[-1])
    pixel = (high - low) / PIXELS
    scores = None if isinstance(result, Coincidence) else result.sequence.scores
    lanes = Axis(
        low=0.0,
        high=4.0,
        ticks=[
            Tick(i + 0.5, name) for i, name in enumerate((f"{noun}s missed", f"{noun}s found", "false alarms", "hits"))
        ],
        room=(0.0, 1.0) if scores is None else BELOW,
        grid=False,
    )
    x = _axis(result, low, high)
    if scores is None:
        chart = Chart(x=x, y=lanes)
        chart.columns(_away(result, steps), "away")
    else:
        drawn = np.clip(np.where(result.sequence.open_steps, scores, np.nan), -MOST_DRAWN, MOST_DRAWN)
        cut = None if result.threshold is None else float(np.clip(result.threshold, -MOST_DRAWN, MOST_DRAWN))
        chart = Chart(x=x, y=_scores_axis(drawn, cut), lanes=lanes)
        chart.columns(_away(result, steps), "away")
        _draw_scores(chart, drawn, (steps.starts + steps.ends) / 2, result.sequence.clock)
        chart.line([low, high], [cut, cut], "cut")
    alarms, hits, events, found = (
        _timed_marks(result.cell) if isinstance(result.cell, TimedCell) else _step_marks(result, steps)
    )
    shown = ((events, ~found), (events, found), (alarms, ~hits), (alarms, hits))
    for i, (where, chosen) in enumerate(shown):
        chart.boxes(where.where(chosen).drawn(pixel), i + 0.12, i + 0.88, "good" if i % 2 else "bad")
    return chart.svg()


def _steps(result: Evaluation) -> Stretches:
    """Each step, drawn around its time; where there are only times, the whole span."""
    if isinstance(result, Coincidence):
        ends = on_axis(np.array([result.sequence.first, result.sequence.last]), result.sequence.ticks)
        return Stretches(starts=ends[:1], ends=ends[1:])
    clock = result.sequence.clock
    at = np.arange(len(result.sequence.truth), dtype=np.float64)
    if clock is not None:
        at = clock.ticks.astype(np.float64) * (clock.tick_size / 1e6 if clock.is_dates else 1.0)
    half = (at[-1] - at[0]) / max(len(at) - 1, 1) / 2 or 0.5
    if clock is not None and len(clock.gaps):
        half = float(np.median(np.diff(at))) / 2 or half  # longer gaps would make every step longer
    return Stretches(starts=at - half, ends=at + half)


def _axis(result: Evaluation, low: float, high: float) -> Axis:
    clock: Any = result.sequence.ticks if isinstance(result, Coincidence) else result.sequence.clock
    if clock is not None and clock.is_dates:
        return Axis(low=low, high=high, ticks=date_ticks(low, high))
    ticks = number_ticks(low, high, most=8, whole=clock is None)
    return Axis(low=low, high=high, ticks=ticks, title="step" if clock is None else "time")


def _scores_axis(scores: FloatArray, cut: float | None) -> Axis:
    seen = np.append(scores[~np.isnan(scores)], [] if cut is None else cut)
    low, high = (float(seen.min()), float(seen.max())) if len(seen) else (0.0, 1.0)
    pad = 0.06 * (high - low) if high > low else 0.06 * abs(high) or 1.0
    ticks = number_ticks(low - pad, high + pad, most=5)
    return Axis(low=low - pad, high=high + pad, ticks=ticks, title="score", room=SCORES)


def _away(result: Evaluation, steps: Stretches) -> list[tuple[float, float]]:
    """Steps that are left out, or stretches of time that were not watched."""
    if isinstance(result, Coincidence):
        gaps, ticks = result.sequence.gaps, result.sequence.ticks
        away = Stretches(starts=on_axis(gaps.starts, ticks), ends=on_axis(gaps.stops, ticks))
        return away.drawn(0.0)
    closed = np.flatnonzero(~result.sequence.open_steps)
    return Stretches(starts=steps.starts[closed], ends=steps.ends[closed]).joined(np.diff(closed) > 1)


def _draw_scores(chart: Chart, scores: FloatArray, at: FloatArray, clock: Any) -> None:
    """The smallest and the largest score of each pixel; no line where there is no score, or across a gap."""
    pixel = ((at - chart.x.low) / (chart.x.high - chart.x.low) * PIXELS).astype(np.int64)
    broken = np.zeros(len(at), dtype=np.bool_)
    if clock is not None:
        broken[np.asarray(clock.gaps) + 1] = True
    new = np.append(True, (np.diff(pixel) != 0) | broken[1:])
    starts = np.flatnonzero(new)
    least, most = np.fmin.reduceat(scores, starts), np.fmax.reduceat(scores, starts)
    xs: list[float | None] = []
    ys: list[float | None] = []
    for x, low, high, after_gap in zip(
        at[starts].tolist(), least.tolist(), most.tolist(), broken[starts].tolist(), strict=True
    ):
        points = [low] if low == high else [low, high]
        xs += [None] * after_gap + [x] * len(points)
        ys += [None] * after_gap + points
    chart.line(xs, ys, "score")


def _timed_marks(cell: TimedCell) -> tuple[Stretches, BoolArray, Stretches, BoolArray]:
    """Alarms that count and which of them are hits; events that count and which of them are found."""
    ticks = cell.trial.watch.ticks
    counted, hits, which = alarms_counted(cell), alarm_hits(cell), events_counted(cell)
    alarms, events = on_axis(cell.at[counted], ticks), on_axis(cell.truth.at[which], ticks)
    return (
        Stretches(starts=alarms, ends=alarms),
        hits[counted],
        Stretches(starts=events, ends=events),
        np.asarray(cell.found, dtype=np.bool_)[which],
    )


def _step_marks(result: Evaluation, steps: Stretches) -> tuple[Stretches, BoolArray, Stretches, BoolArray]:
    """The same on steps; where alarms count as episodes, all steps of one that is a hit are."""
    cell = result.cell
    at = np.flatnonzero(result.sequence.open_steps)
    alarms = np.flatnonzero(cell.alarm_flags)
    hits = cell.trial.near_flags(cell.d)[alarms]
    if cell.trial.count_alarms == "episodes" and len(alarms):
        of_episode = np.cumsum(np.diff(alarms, prepend=-2) > 1)
        hits = np.isin(of_episode, of_episode[hits])
    first, last = cell.truth.first_steps, cell.truth.last_steps
    return (
        Stretches(starts=steps.starts[at[alarms]], ends=steps.ends[at[alarms]]),
        hits,
        Stretches(starts=steps.starts[at[first]], ends=steps.ends[at[last]]),
        np.asarray(cell.found, dtype=np.bool_),
    )
