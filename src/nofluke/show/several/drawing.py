"""Figures of several detectors as SVG that needs no script: dots beside chance, and all curves in one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from nofluke.plot.style import SERIES
from nofluke.show.dots import BELOW, DOT_ROW, dot_marks, end_of, extent, shortened
from nofluke.show.several.rows import Row
from nofluke.show.svg import Axis, Chart, Number
from nofluke.show.ticks import Tick, number_ticks
from nofluke.studies.pooled_row import MEASURES, NAMES

WIDE, RIGHT = 440, 12
NAMED = 132  # of the width, for the names beside dots
LETTERS = 17  # of a name that fit there
QUANTILES = (0.0, 0.5, 0.9, 0.99, 0.999, 0.9999)
FINEST = 10**6  # steps, of which one is the last that a tick tells from none
Line = tuple[Sequence[Number], Sequence[Number]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One detector at all its thresholds: positions, both measures, what chance gives there, and the evaluated one."""

    detector: str
    at: tuple[float, ...]
    precision: tuple[Number, ...]
    recall: tuple[Number, ...]
    chance_precision: tuple[Number, ...]
    chance_recall: tuple[Number, ...]
    chosen: int


def curve_of(row: Row, payload: dict[str, Any]) -> Curve:
    """A detector's curve at the evaluated tolerance; given alarms stand at the share of steps without one."""
    d, k = payload["chosen"]
    cells = payload["cells"][d]
    at = [one["position"] for one in payload["thresholds"]]
    if row.result.sequence.scores is None:
        at = [1 - row.result.n_predictions / row.result.n] if row.result.n else [0.0]
    return Curve(
        detector=row.detector,
        at=tuple(_stretched(position, row.result.n) for position in at),
        precision=tuple(cell["precision"]["value"] for cell in cells),
        recall=tuple(cell["recall"]["value"] for cell in cells),
        chance_precision=tuple(_share(cell["precision"]) for cell in cells),
        chance_recall=tuple(_share(cell["recall"]) for cell in cells),
        chosen=k,
    )


def _share(side: dict[str, Any]) -> Number:
    return side["mean"] / side["of"] if side["of"] else None


def _stretched(quantile: float, n: int) -> float:
    """Each tenth of the share of steps above takes as much room: 0, 0.9 and 0.99 are equally far apart."""
    return -math.log10(max(1 - quantile, 1 / max(n, 1)))


def dot_plots(rows: tuple[Row, ...]) -> str:
    """Three figures, a line for each detector in each."""
    end, step = end_of(x for row in rows for m in MEASURES for x in extent(row.measures[m]))
    height = DOT_ROW * len(rows)
    names = "".join(
        f'<text class="who{" chosen" if row.best else ""}" x="{NAMED - 10}" y="{DOT_ROW * (i + 0.5) + 4}">'
        f"{escape(shortened(' '.join(row.detector.split()), LETTERS))}<title>{escape(row.detector)}</title></text>"
        for i, row in enumerate(rows)
    )

    def figure(measure: str) -> str:
        marks = dot_marks([(row.detector, row.measures[measure], row.best) for row in rows], NAMES[measure], end, step)
        title = NAMES[measure][:1].upper() + NAMES[measure][1:]
        return (
            f'<figure><h3>{title}</h3><svg class="dots" viewBox="0 0 {WIDE} {height + BELOW}" role="img" '
            f'aria-labelledby="about-dots">{names}<svg x="{NAMED}" width="{WIDE - NAMED - RIGHT}" height="{height + BELOW}" '
            f'overflow="visible">{marks}</svg></svg></figure>'
        )

    return "".join(map(figure, MEASURES))


def curves_of(curves: Sequence[Curve]) -> dict[str, str]:
    """Three figures of all detectors: both measures by threshold, and precision against recall."""
    farthest = max((x for curve in curves for x in curve.at), default=1.0) or 1.0
    ticks = [Tick(_stretched(q, FINEST), f"{q:g}") for q in QUANTILES]
    across = Axis(low=0.0, high=farthest, ticks=ticks, title="threshold, as a quantile of the detector’s scores")
    ends = {measure: _values(curves, measure) for measure in ("precision", "recall")}
    charts = {measure: Chart(x=across, y=axis) for measure, axis in ends.items()}
    recall = Axis(low=0.0, high=1.0, ticks=number_ticks(0.0, 1.0), title="recall")
    charts["against"] = Chart(x=recall, y=replace(ends["precision"], title="precision"))
    for i, curve in enumerate(curves):
        _draw(charts["precision"], i, curve, (curve.at, curve.precision), (curve.at, curve.chance_precision))
        _draw(charts["recall"], i, curve, (curve.at, curve.recall), (curve.at, curve.chance_recall))
        chance = (curve.chance_recall, curve.chance_precision)
        _draw(charts["against"], i, curve, (curve.recall, curve.precision), chance)
    return {name: chart.svg("static lines") for name, chart in charts.items()}


def key_of(curves: Sequence[Curve]) -> str:
    """Which line is which detector."""
    return "".join(f'<li class="{_style(i)}">{escape(curve.detector)}</li>' for i, curve in enumerate(curves))


def colours() -> str:
    """The colours of lines as the style sheet takes them, those of all of nofluke's figures."""
    own = (
        f".s{i} {{ --own: color-mix(in srgb, {one[0].lower()} 85%, var(--ink)); }}\n" for i, one in enumerate(SERIES)
    )
    return "".join(own)


def _values(curves: Sequence[Curve], measure: str) -> Axis:
    """An axis for one measure of all curves and of chance."""
    top, step = end_of(
        x for curve in curves for x in (*getattr(curve, measure), *getattr(curve, f"chance_{measure}")) if x is not None
    )
    return Axis(low=0.0, high=top, ticks=number_ticks(0.0, top, most=round(top / step) + 1))


def _draw(chart: Chart, i: int, curve: Curve, own: Line, chance: Line) -> None:
    """Chance, the line with its points, and a ring where the detector was evaluated."""
    name, style = curve.detector, _style(i)
    chart.line(*chance, f"of-chance {style}", f"chance for {name}")
    chart.line(*own, f"line {style}", name)
    xs, ys = ([value for point in points for value in (point, None)] for points in own)
    chart.line(xs, ys, f"points {style}", name)
    chart.ring(own[0][curve.chosen], own[1][curve.chosen], f"ring {style}")


def _style(i: int) -> str:
    """Colours come again after some; then lines are dashed, then dotted."""
    return f"s{i % len(SERIES)} {('solid', 'dashed', 'dotted')[i // len(SERIES) % 3]}"
