"""Dot plots as SVG that needs no script: a measure of each detector with its interval, beside chance.

Places along the x axis are percentages, so that a plot is as wide as its place and letters keep their shape.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

from nofluke.studies.pooled_row import PooledMeasure

DOT_ROW = 26  # pixels a detector
BELOW = 22  # pixels for the ticks


def end_of(values: Iterable[float]) -> tuple[float, float]:
    """Where an axis from 0 ends that shares fit on, and how far its ticks are apart; undefined ones have no place.

    >>> end_of([0.13, 0.31, math.nan])
    (0.4, 0.1)
    """
    farthest = max((value for value in values if math.isfinite(value)), default=1.0)
    step = 0.2 if farthest > 0.5 else 0.1 if farthest > 0.2 else 0.05
    return min(math.ceil(farthest / step + 1e-9) * step, 1.0), step


def extent(one: PooledMeasure) -> tuple[float, ...]:
    """All that is drawn of a measure, but the band of chance."""
    return one.value, one.high, one.told, one.expected


def dot_marks(rows: Sequence[tuple[str, PooledMeasure, bool]], name: str, end: float, step: float) -> str:
    """What lies between the axes. A row: detector, measure, and whether the best is not significantly better."""
    height = DOT_ROW * len(rows)
    lines = "".join(
        f'<line class="rule" x1="{_percent(x, end)}" x2="{_percent(x, end)}" y2="{height}"/>'
        f'<text class="tick" x="{_percent(x, end)}" y="{height + 16}">{x:.2g}</text>'
        for x in (i * step for i in range(round(end / step) + 1))
    )
    bands = "".join(
        f'<rect class="best" width="100%" y="{DOT_ROW * i}" height="{DOT_ROW}"/>'
        for i, (_, _, best) in enumerate(rows)
        if best
    )
    marks = "".join(_marks(detector, one, name, DOT_ROW * (i + 0.5), end) for i, (detector, one, _) in enumerate(rows))
    return f"{bands}{lines}{marks}"


def _marks(detector: str, one: PooledMeasure, name: str, y: float, end: float) -> str:
    """Chance with two standard deviations, the interval, and the value."""
    marks = []
    if math.isfinite(one.expected):
        if one.std > 0:
            low, high = max(one.expected - 2 * one.std, 0.0), min(one.expected + 2 * one.std, end)
            marks.append(
                f'<rect class="band" x="{_percent(low, end)}" width="{_percent(high - low, end)}" y="{y - 7}" height="14"/>'
            )
        at = _percent(one.expected, end)
        marks.append(f'<line class="chance" x1="{at}" x2="{at}" y1="{y - 8}" y2="{y + 8}"/>')
    if math.isfinite(one.low) and math.isfinite(one.high):
        marks.append(
            f'<line class="interval" x1="{_percent(one.low, end)}" x2="{_percent(min(one.high, end), end)}" y1="{y}" y2="{y}"/>'
        )
    if one.told_apart:
        marks.append(f'<circle class="told" cx="{_percent(one.told, end)}" cy="{y}" r="4.5"/>')
    if math.isfinite(one.value):
        marks.append(
            f'<circle class="dot" cx="{_percent(one.value, end)}" cy="{y}" r="5"><title>{escape(detector)}: {name} '
            f"{one.in_words()}, chance {one.chance_in_words()}</title></circle>"
        )
    return "".join(marks)


def shortened(name: str, letters: int) -> str:
    """Both ends of a long name: what tells names apart is often the last of it.

    >>> shortened("isolation forest, window 24", 18)
    'isolation…indow 24'
    """
    if len(name) <= letters:
        return name
    tail = (letters - 1) // 2
    return f"{name[: letters - 1 - tail]}…{name[-tail:]}"


def _percent(value: float, end: float) -> str:
    return f"{100 * value / end:.4g}%"
