"""The timeline of the evaluated position as a drawing: what shares a pixel is one mark, and nothing that is flagged disappears."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nofluke.arrays import BoolArray, FloatArray, IntArray
from nofluke.show.report.in_time import NO_EVENT, unpacked
from nofluke.show.svg import Axis, Chart
from nofluke.show.ticks import Tick, date_ticks, number_ticks

LANES = ("hit", "false", "found", "missed")
PIXELS = 500  # of the whole width
SCORES, BELOW = (0.4, 1.0), (0.0, 0.34)  # rooms for the scores and the lanes below them


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where columns begin and end on the axis: stretches of steps side by side, or instants."""

    starts: FloatArray
    ends: FloatArray

    @classmethod
    def of(cls, x: dict[str, Any], columns: int, *, per: int, points: bool) -> Places:
        """As the payload of the page tells them."""
        if x.get("each") is None:
            starts, gap = x["first"] + np.arange(columns) * float(x["step"]), float(x["step"])
        else:
            starts = unpacked(x["each"], np.float64)
            gap = (starts[-1] - starts[0]) / max(len(starts) - 1, 1) or 1.0 if len(starts) else 1.0
        if points:
            return cls(starts=starts, ends=starts)
        if per == 1:  # a step is drawn around its time
            return cls(starts=starts - gap / 2, ends=starts + gap / 2)
        return cls(starts=starts, ends=np.append(starts[1:], starts[-1] + gap))


def timeline_figure(payload: dict[str, Any]) -> str:
    """Scores and threshold above, lanes of hits, false alarms and events below."""
    line, (d, k) = payload["timeline"], payload["chosen"]
    # where lags are on a slider every cell has a row of marks; else every tolerance has one, with levels for thresholds
    by_lag = payload["column"] == "lag"
    row, level = (d * len(payload["thresholds"]) + k, 0) if by_lag else (d, k)
    steps = Places.of(line["x"], line["columns"], per=line["per"], points=line["points"])
    events = (
        Places.of(line["events"]["x"], line["events"]["columns"], per=1, points=True) if line.get("events") else steps
    )
    ends = line.get("span") or _ends(steps)
    chart = _chart(payload, (float(ends[0]), float(ends[1])), None if line["scores"] is None else _scores(line))
    chart.columns([*line.get("away", ()), *_closed(line, steps)], "away")
    if line["scores"] is not None:
        _draw_scores(chart, line, steps, payload["thresholds"][k]["value"])
    for i, name in enumerate(LANES):
        where = events if name in ("found", "missed") else steps
        marked = _flags(line, name, row, len(where.starts), level)
        chart.boxes(_merged(where, marked, ends), 3.12 - i, 3.88 - i, "good" if name in ("hit", "found") else "bad")
    return chart.svg()


def _ends(steps: Places) -> tuple[float, float]:
    return (float(steps.starts[0]), float(steps.ends[-1])) if len(steps.starts) else (0.0, 1.0)


def _scores(line: dict[str, Any]) -> tuple[FloatArray, FloatArray]:
    high = unpacked(line["scores"]["high"], np.float64)
    return (unpacked(line["scores"]["low"], np.float64) if line["scores"]["low"] else high), high


def _chart(payload: dict[str, Any], ends: tuple[float, float], scores: tuple[FloatArray, FloatArray] | None) -> Chart:
    kind, noun = payload["timeline"]["x"]["kind"], payload["noun"]
    if kind == "dates":
        x = Axis(low=ends[0], high=ends[1], ticks=date_ticks(*ends))
    else:
        ticks = number_ticks(*ends, most=8, whole=kind == "steps")
        x = Axis(low=ends[0], high=ends[1], ticks=ticks, title="step" if kind == "steps" else "time")
    names = (f"{noun}s missed", f"{noun}s found", "false alarms", "hits")
    lanes = Axis(
        low=0.0,
        high=4.0,
        ticks=[Tick(i + 0.5, name) for i, name in enumerate(names)],
        room=(0.0, 1.0) if scores is None else BELOW,
        grid=False,
    )
    if scores is None:
        return Chart(x=x, y=lanes)
    cut = payload["thresholds"][payload["chosen"][1]]["value"]
    seen = np.concatenate([*scores, [] if cut is None else [np.clip(cut, -1e300, 1e300)]])
    seen = seen[np.isfinite(seen)]
    low, high = (float(seen.min()), float(seen.max())) if len(seen) else (0.0, 1.0)
    pad = 0.06 * (high - low) if high > low else 0.06 * abs(high) or 1.0
    low, high = low - pad, high + pad
    return Chart(
        x=x, y=Axis(low=low, high=high, ticks=number_ticks(low, high, most=5), title="score", room=SCORES), lanes=lanes
    )


def _draw_scores(chart: Chart, line: dict[str, Any], steps: Places, threshold: float | None) -> None:
    """The smallest and the largest score of each pixel; no line where there is no score, or across a gap."""
    low, high = _scores(line)
    middle = (steps.starts + steps.ends) / 2 if line["per"] == 1 else steps.starts
    pixel = _pixels(middle, chart.x.low, chart.x.high)
    broken = np.zeros(len(pixel), dtype=np.bool_)
    broken[[gap for gap in line["gaps"] if 0 < gap < len(pixel)]] = True
    starts = np.flatnonzero(np.append(True, np.diff(pixel) != 0)) if len(pixel) else np.zeros(0, dtype=np.int64)
    least, most = np.fmin.reduceat(low, starts), np.fmax.reduceat(high, starts)
    gap = np.logical_or.reduceat(broken, starts)
    xs: list[float | None] = []
    ys: list[float | None] = []
    for at, a, b, after_gap in zip(middle[starts].tolist(), least.tolist(), most.tolist(), gap.tolist(), strict=True):
        if after_gap:
            xs.append(None)
            ys.append(None)
        xs += [at] if a == b else [at, at]
        ys += [a] if a == b else [a, b]
    chart.line(xs, ys, "score")
    if threshold is not None:
        chart.line([chart.x.low, chart.x.high], [threshold, threshold], "cut")


def _flags(line: dict[str, Any], name: str, row: int, columns: int, level: int) -> BoolArray:
    marked = unpacked(line[name], np.uint8)[row * columns : (row + 1) * columns]
    chosen = marked <= level if name == "missed" else marked > level
    return np.asarray(chosen & (marked != NO_EVENT), dtype=np.bool_)


def _closed(line: dict[str, Any], steps: Places) -> list[tuple[float, float]]:
    """Stretches of steps that are left out."""
    if line["closed"] is None:
        return []
    at = np.flatnonzero(unpacked(line["closed"], np.uint8))
    return _joined(steps.starts[at], steps.ends[at], np.diff(at) > 1)


def _merged(where: Places, marked: BoolArray, ends: Any) -> list[tuple[float, float]]:
    """Stretches of marked columns; those less than a pixel apart are one."""
    pixel = (ends[1] - ends[0]) / PIXELS
    starts, stops = where.starts[marked], np.maximum(where.ends, where.starts + pixel)[marked]
    return _joined(starts, stops, starts[1:] - stops[:-1] > pixel / 2)


def _joined(starts: FloatArray, stops: FloatArray, apart: BoolArray) -> list[tuple[float, float]]:
    """Neighbours that are not apart as one stretch."""
    if not len(starts):
        return []
    first, last = np.append(True, apart), np.append(apart, True)
    return list(zip(starts[first].tolist(), stops[last].tolist(), strict=True))


def _pixels(at: npt.NDArray[Any], low: float, high: float) -> IntArray:
    return np.asarray((at - low) / ((high - low) or 1.0) * PIXELS, dtype=np.int64)
