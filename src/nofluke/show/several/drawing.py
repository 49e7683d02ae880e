"""Figures of several detectors as SVG that needs no script: dots beside chance, and all curves in one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any

from nofluke.plot.style import SERIES
from nofluke.show.dots import BELOW, DOT_ROW, dot_marks, end_of, extent, shortened
from nofluke.show.several.rows import Row
from nofluke.studies.pooled_row import MEASURES, NAMES

WIDE, HIGH = 440, 300
LEFT, RIGHT, TOP, BOTTOM = 40, 18, 10, 46
NAMED = 132  # of the width, for the names beside dots
LETTERS = 17  # of a name that fit there
QUANTILES = (0.0, 0.5, 0.9, 0.99, 0.999, 0.9999)
Number = float | None
Place = Callable[[float], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One detector at all its thresholds: where each stands, both measures, what chance gives there, and the evaluated one."""

    detector: str
    at: tuple[float, ...]
    precision: tuple[Number, ...]
    recall: tuple[Number, ...]
    chance_precision: tuple[Number, ...]
    chance_recall: tuple[Number, ...]
    chosen: int


def curve_of(row: Row, payload: dict[str, Any]) -> Curve:
    """The curve of a detector at the evaluated tolerance; alarms that were given stand at the share of steps without one."""
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


def by_threshold(curves: Sequence[Curve], measure: str, top: float, step: float) -> str:
    """One measure of all detectors by their thresholds."""
    farthest = max((x for curve in curves for x in curve.at), default=1.0) or 1.0
    across, up = _axis(0.0, farthest, LEFT, WIDE - RIGHT), _axis(0.0, top, HIGH - BOTTOM, TOP)
    ticks = [(across(_stretched(q, 10**6)), f"{q:g}") for q in QUANTILES if _stretched(q, 10**6) <= farthest + 1e-9]
    drawn = (
        _drawn(i, curve, curve.at, getattr(curve, measure), curve.at, getattr(curve, f"chance_{measure}"), across, up)
        for i, curve in enumerate(curves)
    )
    return _figure(
        drawn, ticks, up, top, step, "threshold, as a quantile of the detector’s scores", f"about-{measure}-by"
    )


def against(curves: Sequence[Curve], top: float, step: float) -> str:
    """Precision against recall."""
    across, up = _axis(0.0, 1.0, LEFT, WIDE - RIGHT), _axis(0.0, top, HIGH - BOTTOM, TOP)
    drawn = (
        _drawn(i, curve, curve.recall, curve.precision, curve.chance_recall, curve.chance_precision, across, up)
        for i, curve in enumerate(curves)
    )
    ticks = [(across(k / 5), f"{k / 5:g}") for k in range(6)]
    return _figure(drawn, ticks, up, top, step, "recall", "about-against")


def end_of_curves(curves: Iterable[Curve], measure: str) -> tuple[float, float]:
    """The upper end of an axis for one measure of all curves and of chance, and its step."""
    values = (x for c in curves for x in (*getattr(c, measure), *getattr(c, f"chance_{measure}")) if x is not None)
    return end_of(values)


def key_of(curves: Sequence[Curve]) -> str:
    """Which line is which detector."""
    return "".join(
        f'<li><svg class="lines sample" width="30" height="12" aria-hidden="true"><g class="{_style(i)}"><path class="line" d="M2 6h26"/>'
        f"{_points('M15 6h0', i)}</g></svg>{escape(curve.detector)}</li>"
        for i, curve in enumerate(curves)
    )


def colours() -> str:
    """The colours of lines as the style sheet takes them, those of all of nofluke's figures."""
    return (
        ":root { "
        + " ".join(f"--series-{i}: {one[0].lower()};" for i, one in enumerate(SERIES))
        + " }\n"
        + "".join(
            f".s{i} {{ --own: color-mix(in srgb, var(--series-{i}) 85%, var(--ink)); }}\n" for i in range(len(SERIES))
        )
    )


def _style(i: int) -> str:
    """Colours come again after some; then marks are hollow, then square."""
    return f"s{i % len(SERIES)} {('round', 'hollow', 'square')[i // len(SERIES) % 3]}"


def _points(path: str, i: int) -> str:
    hollow = f'<path class="holes" d="{path}"/>' if "hollow" in _style(i) else ""
    return f'<path class="points" d="{path}"/>{hollow}'


def _axis(low: float, high: float, start: float, end: float) -> Place:
    return lambda value: start + (value - low) / (high - low) * (end - start)


def _drawn(
    i: int,
    curve: Curve,
    xs: Sequence[Number],
    ys: Sequence[Number],
    chance_xs: Sequence[Number],
    chance_ys: Sequence[Number],
    across: Place,
    up: Place,
) -> str:
    """Chance, the line with its points, and a ring where the detector was evaluated."""
    line, points = _path(xs, ys, across, up)
    chance, _ = _path(chance_xs, chance_ys, across, up)
    x, y = xs[curve.chosen], ys[curve.chosen]
    ring = "" if x is None or y is None else f'<circle class="ring" cx="{across(x):.1f}" cy="{up(y):.1f}" r="7"/>'
    return (
        f'<g class="{_style(i)}"><title>{escape(curve.detector)}</title><path class="chance" d="{chance}"/>'
        f'<path class="line" d="{line}"/>{_points(points, i)}{ring}</g>'
    )


def _path(xs: Sequence[Number], ys: Sequence[Number], across: Place, up: Place) -> tuple[str, str]:
    """A line through what is defined, interrupted where a point is not; and its points, as strokes of no length."""
    places = [None if x is None or y is None else f"{across(x):.1f} {up(y):.1f}" for x, y in zip(xs, ys, strict=True)]
    line = "".join(f"{'L' if before else 'M'}{here}" for before, here in pairwise([None, *places]) if here is not None)
    return line, "".join(f"M{place}h0" for place in places if place is not None)


def _figure(
    drawn: Iterable[str], ticks: list[tuple[float, str]], up: Place, top: float, step: float, title: str, about: str
) -> str:
    floor = HIGH - BOTTOM
    rules = "".join(
        f'<path class="rule" d="M{x:.1f} {TOP}V{floor}"/><text class="tick" x="{x:.1f}" y="{floor + 16}">{text}</text>'
        for x, text in ticks
    )
    rules += "".join(
        f'<path class="rule" d="M{LEFT} {up(y):.1f}H{WIDE - RIGHT}"/><text class="level" x="{LEFT - 6}" y="{up(y) + 4:.1f}">{y:.2g}</text>'
        for y in (k * step for k in range(round(top / step) + 1))
    )
    middle = (LEFT + WIDE - RIGHT) / 2
    return (
        f'<svg class="lines" viewBox="0 0 {WIDE} {HIGH}" role="img" aria-labelledby="{about}">{rules}{"".join(drawn)}'
        f'<text class="tick" x="{middle:g}" y="{HIGH - 8}">{title}</text></svg>'
    )
