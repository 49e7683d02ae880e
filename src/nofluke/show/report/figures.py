"""The figures of a report, described once for all positions of its sliders (`nofluke.show.kit.figure`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from nofluke.arrays import BoolArray, FloatArray
from nofluke.errors import THINGS, say
from nofluke.inference.coincidence import Coincidence
from nofluke.inference.evaluate import Evaluation
from nofluke.plot.curves import SIDES
from nofluke.plot.marks import Marks, marks_of
from nofluke.plot.metrics import is_near
from nofluke.plot.style import MOST_DRAWN
from nofluke.series.timed import TimedCell
from nofluke.series.trial import Cell
from nofluke.show.kit import FALSE
from nofluke.show.kit.figure import Description
from nofluke.show.report.timeline import on_axis, on_page

QUANTILES = (0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999)
MOST_NINES = 16.0  # p below 1e-16 have one colour


def stretched(quantile: float, n: int) -> float:
    """Each tenth of the share of steps above takes as much room: 0, 0.9 and 0.99 are equally far apart."""
    return -math.log10(max(1 - quantile, 1 / max(n, 1)))


def stretched_axis(places: list[float], title: str) -> Description:
    """The axis of thresholds that are placed so, from the lowest to the highest."""
    low, high = min(places), max(places)
    pad = 0.03 * (high - low) or 0.2
    ticks = [(-math.log10(1 - q), f"{q:g}") for q in QUANTILES]
    shown = [tick for tick in ticks if low - pad <= tick[0] <= high + pad]
    if len(shown) < 2:  # all thresholds within one power of ten
        return {"title": title, "range": [low - pad, high + pad], "ticks": _between(low, high)}
    return {"title": title, "range": [low - pad, high + pad], "ticks": [[at for at, _ in shown], [t for _, t in shown]]}


def _between(low: float, high: float) -> list[Any]:
    ends = sorted({low, (low + high) / 2, high})
    return [ends, [f"{1 - 10**-at:.4g}" for at in ends]]


def figures_of(payload: dict[str, Any]) -> dict[str, Description]:
    """Each figure by the name of its place, save the timeline and those that such data do not have."""
    made: dict[str, Description] = {"delay": _delay(payload)}
    if payload["lags"]:
        made["lag"] = _lag(payload)
    if payload["movable"] and payload["column"] != "lag":
        made["curve"] = _curve(payload)
    for side in SIDES:
        if payload["movable"]:
            made[f"threshold-{side}"] = _by_threshold(payload, side)
        made[f"tolerance-{side}"] = _by_tolerance(payload, side)
        made[f"null-{side}"] = _null(side)
        made[f"heat-{side}"] = _heat(payload, side)
    return made | {f"metric-{i}": _metric(one) for i, one in enumerate(payload["metrics"])}


def _values(payload: dict[str, Any], side: str) -> list[float]:
    """The range of a measure: long enough for all positions, so that heights can be compared."""
    sides = [cell[side] for row in payload["cells"] for cell in row]
    seen = [value or 0.0 for one in sides for value in (one["value"], one["share"]["high"], one["share"]["mean"])]
    return [0.0, min(1.12 * max(*seen, 0.01), 1.04) if any(seen) else 1.04]


def _by_threshold(payload: dict[str, Any], side: str) -> Description:
    places = [one["place"] for one in payload["thresholds"]]
    title, pad = payload["axis"]["curve"], 0.03 * (max(places) - min(places)) or 0.5
    axis = {"title": title, "range": [min(places) - pad, max(places) + pad]}
    at = "@thresholds.place"
    return {
        "along": "k",
        "pick": "k",
        "x": axis if payload["column"] == "lag" else stretched_axis(places, title),
        "y": {"range": _values(payload, side)},
        "layers": [
            {"kind": "area", "name": "band", "x": at, "low": f"{side}.share.low", "high": f"{side}.share.high"},
            {"kind": "line", "name": "chance", "x": at, "y": f"{side}.share.mean"},
            {"kind": "line", "name": "simultaneous", "x": at, "y": f"{side}.share.band"},
            {"kind": "line", "name": "observed", "x": at, "y": f"{side}.value", "dots": True},
            {"kind": "ring", "x": "@thresholds.place#k", "y": f"={side}.value"},
        ],
        "tell": {
            "x": at,
            "text": f"{{@thresholds.label}}\n{side} {{{side}.text.value}}, chance {{{side}.text.chance_share}}, "
            f"p {{{side}.text.p}}",
        },
    }


def _curve(payload: dict[str, Any]) -> Description:
    return {
        "along": "k",
        "pick": "k",
        "x": {"title": "recall", "range": [-0.03, 1.04]},
        "y": {"title": "precision", "range": _values(payload, "precision")},
        "layers": [
            {"kind": "line", "name": "chance", "x": "recall.share.mean", "y": "precision.share.mean", "dots": True},
            {"kind": "line", "name": "observed", "x": "recall.value", "y": "precision.value", "dots": True},
            {"kind": "ring", "x": "=recall.value", "y": "=precision.value"},
        ],
        "tell": {
            "x": "recall.value",
            "y": "precision.value",
            "text": "{@thresholds.label}\nprecision {precision.text.value}, recall {recall.text.value}",
        },
    }


def _by_tolerance(payload: dict[str, Any], side: str) -> Description:
    names = [one["short"].replace(" / ", "\n") for one in payload["tolerances"]]
    at = list(range(len(names)))
    return {
        "along": "d",
        "pick": "d",
        "x": {
            "title": payload["axis"]["tolerance"],
            "range": [-0.6, len(at) - 0.4],
            "ticks": [at, names],
            "grid": False,
            "keep": payload["chosen"][0],
        },
        "y": {"range": _values(payload, side)},
        "layers": [
            {"kind": "bars", "name": "part", "x": at, "y": f"{side}.share.mean", "width": 0.7},
            {"kind": "line", "name": "observed", "x": at, "y": f"{side}.value", "dots": True},
            {"kind": "ring", "x": "#d", "y": f"={side}.value"},
        ],
        "tell": {
            "x": at,
            "text": f"tolerance {{@tolerances.label}}\n{side} {{{side}.text.value}}, chance "
            f"{{{side}.text.chance_share}}, p {{{side}.text.p}}",
        },
    }


def _null(side: str) -> Description:
    at = f"{side}.law.at"
    return {
        "along": "at",
        "x": {"title": "hits", "whole": True},
        "y": {"title": "probability", "zero": True},
        "layers": [
            {"kind": "bars", "name": "part", "x": at, "y": f"{side}.law.chance", "width": f"{side}.law.step"},
            {"kind": "line", "name": "binomial", "x": at, "y": f"{side}.law.binomial"},
            {"kind": "rule", "name": "observed", "x": f"{side}.hits"},
        ],
        "tell": {"x": at, "text": f"P({{{at}}} hits) = {{{side}.law.chance}} by chance"},
    }


def _heat(payload: dict[str, Any], side: str) -> Description:
    rows, columns = len(payload["tolerances"]), len(payload["thresholds"])
    return {
        "along": "all",
        "pick": "dk",
        "x": {
            "title": payload["axis"]["map"],
            "range": [-0.5, columns - 0.5],
            "ticks": _some(payload, columns),
            "grid": False,
            "keep": payload["chosen"][1],
        },
        "y": {
            "title": payload["axis"]["tolerance"],
            "range": [-0.5, rows - 0.5],
            "ticks": [list(range(rows)), [one["short"] for one in payload["tolerances"]]],
            "grid": False,
        },
        "layers": [
            {"kind": "cells", "values": f"{side}.dark", "remains": f"{side}.remains"},
            {"kind": "ring", "name": "here", "x": "#k", "y": "#d"},
            {"kind": "ring", "x": "#k", "y": "#d"},
        ],
        "tell": {
            "text": f"tolerance {{@tolerances.label}}\n{{@thresholds.label}}\n{side}: p {{{side}.text.p}}, corrected "
            f"{{{side}.text.corrected}}"
        },
    }


def _some(payload: dict[str, Any], columns: int) -> list[Any]:
    """Ticks of a map: the evaluated column has one, and about six others."""
    every, chosen = -(-columns // 7), payload["chosen"][1]
    at = [k for k in range(columns) if (k - chosen) % every == 0]
    return [at, [payload["thresholds"][k]["short"] for k in at]]


def darkness(cells: list[list[Any]]) -> None:
    """Give both measures of each cell their darkness on a map: by p, on one scale for both, so that maps compare."""
    flat = [cell[side] for row in cells for cell in row for side in SIDES]
    most = max((_nines(one["p"]) for one in flat if one["of"]), default=0.0)
    for one in flat:
        one["dark"] = round(_nines(one["p"]) / max(most, _nines(0.05)), 3) if one["of"] else None


def _nines(p: float) -> float:
    return min(-math.log10(max(p, 1e-300)), MOST_NINES)


def _lag(payload: dict[str, Any]) -> Description:
    at = payload["lags"]
    lines = (("observed", "lag.precision"), ("second", "lag.recall"))
    return {
        "along": "at",
        "x": {"title": payload["lag_title"], "whole": all(float(x).is_integer() for x in at)},
        "y": {"title": "hits", "zero": True, "whole": True},
        "layers": [
            {"kind": "rule", "name": "zero", "x": 0},
            *({"kind": "line", "name": name, "x": at, "y": ref, "dots": True} for name, ref in lines),
        ],
        "tell": {"x": at, "text": "shift {@lags}: precision {lag.precision} hits, recall {lag.recall} hits"},
    }


def _delay(payload: dict[str, Any]) -> Description:
    d, k = payload["chosen"]
    unit, several = payload["cells"][d][k]["delay"]["unit"], payload["nouns"]["event"][1]
    return {
        "along": "at",
        "x": {"title": f"delay in {unit}; negative is early", "whole": unit == "steps"},
        "y": {"title": several, "zero": True, "whole": True},
        "layers": [
            {"kind": "bars", "name": "found", "x": "delay.at", "y": "delay.counts", "width": "delay.width"},
            {"kind": "rule", "name": "zero", "x": 0},
        ],
        "tell": {"x": "delay.at", "text": f"{{delay.at}} {unit}: {{delay.counts}} {several}"},
    }


def bar_width(at: list[float], step: float) -> float:
    """As wide as a step where that can be seen, and never into the next bar."""
    span = at[-1] - at[0] if at else 0.0
    return 0.85 * min([max(step, span / 50), *(b - a for a, b in pairwise(at))])


def _metric(one: dict[str, Any]) -> Description:
    edges, heights, value, perfect = one["edges"], one["heights"], one["value"], one["perfect"]
    at = [(a + b) / 2 for a, b in pairwise(edges)]
    ends = [*edges, *([] if value is None else [value])] or [0.0, 1.0]
    low, high = min(ends), max(ends)
    if perfect is not None and is_near(high, perfect):
        high = max(high, perfect)
    pad = 0.04 * (high - low) or 0.05
    rule = [] if value is None else [{"kind": "rule", "name": "observed", "x": value}]
    width = [b - a for a, b in pairwise(edges)]
    return {
        "along": "at",
        "x": {"range": [low - pad, high + pad]},
        "y": {"title": one["height"], "zero": True},
        "layers": [{"kind": "bars", "name": "part", "x": at, "y": heights, "width": width}, *rule],
        "tell": {
            "x": at,
            "texts": [
                f"{a:.3g} to {b:.3g}: {100 * h:.3g}% of chance"
                for (a, b), h in zip(pairwise(edges), heights, strict=True)
            ],
        },
    }


# ---- the timeline of the evaluated position as a drawing: marks that share a pixel merge


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


def timeline_figure(result: Evaluation) -> Description:
    """Scores and threshold above, lanes of hits, false alarms and events below."""
    steps, noun = _steps(result), result.cell.truth.noun
    low, high = float(steps.starts[0]), float(steps.ends[-1])
    pixel = (high - low) / PIXELS
    scores = None if isinstance(result, Coincidence) else result.sequence.scores
    marks = marks_of(result.cell)
    alarms, events = _stretches(result, marks, steps)
    shown = ((events, ~marks.found), (events, marks.found), (alarms, ~marks.hits), (alarms, marks.hits))
    events_of = THINGS[f"{noun}s"]
    told = (say("{} missed", events_of), say("{} found", events_of), say("{}", FALSE["false_alarms"]), "hits")
    names = list(result.names.all_said(told))
    lanes: Description = {
        "y": {"range": [0, 4], "ticks": [[0.5, 1.5, 2.5, 3.5], names], "grid": False},
        "room": (0.0, 1.0) if scores is None else BELOW,
        "layers": [
            {
                "kind": "boxes",
                "name": "found" if i % 2 else "missed",
                "spans": where.where(chosen).drawn(pixel),
                "low": i + 0.12,
                "high": i + 0.88,
            }
            for i, (where, chosen) in enumerate(shown)
        ],
    }
    panels = [lanes]
    if scores is not None:
        drawn = np.clip(np.where(result.sequence.open_steps, scores, np.nan), -MOST_DRAWN, MOST_DRAWN)
        cut = None if result.threshold is None else float(np.clip(result.threshold, -MOST_DRAWN, MOST_DRAWN))
        at = (steps.starts + steps.ends) / 2
        rule = [] if cut is None else [{"kind": "rule", "name": "cut", "y": cut}]
        xs, ys = _score_line(drawn, at, (low, high), result.sequence.clock)
        line = {"kind": "line", "name": "score", "x": xs, "y": ys}
        panels.insert(0, {"y": _scores_axis(drawn, cut), "room": SCORES, "layers": [line, *rule]})
    return {"x": _axis(result, low, high), "panels": panels, "bands": [{"name": "away", "spans": _away(result, steps)}]}


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


def _axis(result: Evaluation, low: float, high: float) -> Description:
    clock: Any = result.sequence.ticks if isinstance(result, Coincidence) else result.sequence.clock
    if clock is not None and clock.is_dates:
        zone = {"zone": on_page(clock.zone), "title": clock.zone.name} if clock.zone is not None else {}
        return {"kind": "dates", "range": [low, high], **zone}
    return {"title": "step" if clock is None else "time", "range": [low, high], "whole": clock is None}


def _scores_axis(scores: FloatArray, cut: float | None) -> Description:
    seen = np.append(scores[~np.isnan(scores)], [] if cut is None else cut)
    low, high = (float(seen.min()), float(seen.max())) if len(seen) else (0.0, 1.0)
    # an axis must be long enough for numbers of its size to differ, or nothing is drawn at all
    least = max(1e-9 * max(abs(low), abs(high)), 1e-290)
    pad = max(0.06 * (high - low), least) if high > low else 0.06 * abs(high) or 1.0
    return {"title": "score", "range": [low - pad, high + pad]}


def _away(result: Evaluation, steps: Stretches) -> list[tuple[float, float]]:
    """Steps that are left out, or stretches of time that were not watched."""
    if isinstance(result, Coincidence):
        gaps, ticks = result.sequence.gaps, result.sequence.ticks
        away = Stretches(starts=on_axis(gaps.starts, ticks), ends=on_axis(gaps.stops, ticks))
        return away.drawn(0.0)
    closed = np.flatnonzero(~result.sequence.open_steps)
    return Stretches(starts=steps.starts[closed], ends=steps.ends[closed]).joined(np.diff(closed) > 1)


def _score_line(
    scores: FloatArray, at: FloatArray, ends: tuple[float, float], clock: Any
) -> tuple[list[float | None], list[float | None]]:
    """The smallest and the largest score of each pixel; no line where there is no score, or across a gap."""
    pixel = ((at - ends[0]) / (ends[1] - ends[0]) * PIXELS).astype(np.int64)
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
        points = [low] if low == high or math.isnan(low) else [low, high]
        xs += [None] * after_gap + [x] * len(points)
        ys += [None] * after_gap + [None if math.isnan(point) else point for point in points]
    return xs, ys


def _stretches(result: Evaluation, marks: Marks, steps: Stretches) -> tuple[Stretches, Stretches]:
    """Alarms and events on the axis."""

    def on_steps(_: Cell) -> tuple[Stretches, Stretches]:
        alarms = Stretches(starts=steps.starts[marks.alarms], ends=steps.ends[marks.alarms])
        return alarms, Stretches(starts=steps.starts[marks.begins], ends=steps.ends[marks.ends])

    def in_time(cell: TimedCell) -> tuple[Stretches, Stretches]:
        alarms, events = (on_axis(at, cell.trial.watch.ticks) for at in (marks.alarms, marks.begins))
        return Stretches(starts=alarms, ends=alarms), Stretches(starts=events, ends=events)

    return result.cell.by_axis(steps=on_steps, ticks=in_time)
