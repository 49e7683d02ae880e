"""Figures as SVG that needs no script: as wide and as high as their place, in the colours of the style sheet.

Everything stands at percentages of the room between the axes, so that letters keep their shape; lines and areas lie in
a nested drawing of 1,000 × 1,000 that is stretched to that room. Labels stand in the padding around it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from nofluke.show.ticks import Tick

SIZE = 1000
LETTER = 6.4  # pixels that a letter of a label takes
Number = float | None  # None, NaN and infinity are not drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """What an axis shows, from its lower to its upper end, and which share of the room it has."""

    low: float
    high: float
    ticks: Sequence[Tick] = ()
    title: str = ""
    room: tuple[float, float] = (0.0, 1.0)
    grid: bool = True

    def share(self, value: float) -> float:
        """Where a value stands in the room, from 0 to 1; what is far out stands just outside."""
        # halves, or the length of an axis from the smallest to the largest float would be infinite
        at = (value / 2 - self.low / 2) / (self.high / 2 - self.low / 2 or 1.0)
        start, end = self.room
        return start + min(max(at, -1.0), 2.0) * (end - start)

    def shown(self) -> list[tuple[float, str]]:
        """Its ticks: where each stands in the room, and what is written there."""
        return [(self.share(tick.at), tick.text) for tick in self.ticks if self.low <= tick.at <= self.high]


@dataclass(slots=True, kw_only=True)
class Chart:
    """Lines, areas and marks between two axes; what is drawn later lies on top."""

    x: Axis
    y: Axis
    lanes: Axis | None = None  # a second one above the same x
    _drawn: list[str] = field(default_factory=list)
    _marks: list[str] = field(default_factory=list)

    def line(self, xs: Iterable[Number], ys: Iterable[Number], name: str, title: str = "") -> None:
        """Through all points in their order, interrupted where one is undefined; a point on its own has a mark."""
        runs: list[list[str]] = [[]]
        for x, y in zip(xs, ys, strict=True):
            if defined(x, y):
                runs[-1].append(self._point(x, y))  # type: ignore[arg-type]  # both are numbers
            elif runs[-1]:
                runs.append([])
        # a line of no length has round ends, and is a dot
        self.path("".join("M" + "L".join(run if len(run) > 1 else run * 2) for run in runs if run), name, title=title)

    def area(self, xs: Sequence[Number], lows: Sequence[Number], highs: Sequence[Number], name: str) -> None:
        """Between two lines; points that are undefined are left out."""
        there = [
            (x, low, high) for x, low, high in zip(xs, lows, highs, strict=True) if defined(x) and defined(low, high)
        ]
        forth = [self._point(x, high) for x, _, high in there]  # type: ignore[arg-type]
        back = [self._point(x, low) for x, low, _ in reversed(there)]  # type: ignore[arg-type]
        self.path(f"M{'L'.join(forth + back)}z" if there else "", name)

    def bars(self, spans: Iterable[tuple[float, float, Number]], name: str) -> None:
        """From the lower end of the axis up to a height, between two places."""
        self.path("".join(self._box(a, b, self.y.low, top) for a, b, top in spans if top and defined(top)), name)

    def boxes(self, spans: Iterable[tuple[float, float]], low: float, high: float, name: str) -> None:
        """Between two places each, all of one height: on the lanes, where there are some."""
        self.path("".join(self._box(a, b, low, high, self.lanes or self.y) for a, b in spans), name)

    def columns(self, spans: Iterable[tuple[float, float]], name: str) -> None:
        """From top to bottom, between two places each."""
        sides = ((_at(self.x.share(a)), _at(self.x.share(b))) for a, b in spans)
        self.path("".join(f"M{left} 0H{right}V{SIZE}H{left}z" for left, right in sides), name)

    def path(self, data: str, name: str, style: str = "", title: str = "") -> None:
        """Any path in the stretched drawing; pointing at it shows its title."""
        told = f"><title>{escape(title)}</title></path>" if title else "/>"
        if data:
            self._drawn.append(f'<path class="{name}"{style} d="{data}"{told}')

    def ring(self, x: Number, y: Number, name: str = "ring") -> None:
        """Around a point."""
        if defined(x, y):
            across, up = self.x.share(x), self.y.share(y)  # type: ignore[arg-type]
            self._marks.append(f'<circle class="{name}" cx="{percent(across)}" cy="{percent(1 - up)}" r="7"/>')

    def mark(self, markup: str) -> None:
        """Anything that must keep its shape."""
        self._marks.append(markup)

    def svg(self, name: str = "static") -> str:
        """The whole figure; screen readers get its caption."""
        rules, labels, lines = [], [], [""]
        for at, text in self.x.shown():
            rules.append(f"M{_at(at)} {_up(self._top)}V{_up(self._bottom)}" if self.x.grid else "")
            parts = text.split("\n")
            lines = max(lines, parts, key=len)
            labels += [
                f'<text class="x" x="{percent(at)}" y="100%" dy="{16 + 11 * i}">{escape(part)}</text>'
                for i, part in enumerate(parts)
            ]
        longest = 0
        for axis in filter(None, (self.y, self.lanes)):
            for at, text in axis.shown():
                longest = max(longest, len(text))
                rules.append(f"M0 {_up(at)}H{SIZE}" if axis.grid else "")
                labels.append(f'<text class="y" x="-6" y="{percent(1 - at)}" dy="4">{escape(text)}</text>')
        if self.x.title:
            labels.append(f'<text class="x" x="50%" y="100%" dy="{21 + 11 * len(lines)}">{escape(self.x.title)}</text>')
        left = round(LETTER * longest) + (32 if self.y.title else 12)
        if self.y.title:  # upright, beside the middle of its part of the room
            start, end = self.y.room
            labels.append(
                f'<svg y="{percent(1 - (start + end) / 2)}" overflow="visible"><text class="x" x="0" y="{12 - left}" '
                f'transform="rotate(-90)">{escape(self.y.title)}</text></svg>'
            )
        return (
            f'<svg class="{name}" style="padding-left:{left}px" aria-hidden="true"><svg viewBox="0 0 {SIZE} {SIZE}" preserveAspectRatio="none">'
            f'<path class="grid" d="{"".join(rules)}"/>{"".join(self._drawn)}</svg>{"".join(self._marks)}{"".join(labels)}</svg>'
        )

    @property
    def _bottom(self) -> float:
        return min(axis.room[0] for axis in (self.y, self.lanes) if axis)

    @property
    def _top(self) -> float:
        return max(axis.room[1] for axis in (self.y, self.lanes) if axis)

    def _point(self, x: float, y: float) -> str:
        return f"{_at(self.x.share(x))} {_up(self.y.share(y))}"

    def _box(self, a: float, b: float, low: float, high: float | None, axis: Axis | None = None) -> str:
        axis = axis or self.y
        left, right = _at(self.x.share(a)), _at(self.x.share(b))
        top, bottom = _up(axis.share(high or 0.0)), _up(axis.share(low))
        return f"M{left} {bottom}V{top}H{right}V{bottom}z"


def defined(*values: Number) -> bool:
    """Whether all of them are finite numbers."""
    return all(value is not None and math.isfinite(value) for value in values)


def percent(share: float) -> str:
    """A place in a figure that is as wide as its place.

    >>> percent(0.25), percent(1 / 3)
    ('25%', '33.33%')
    """
    return f"{100 * share:.4g}%"


def _at(share: float) -> str:
    return f"{round(share * SIZE)}"


def _up(share: float) -> str:
    return f"{round((1 - share) * SIZE)}"
