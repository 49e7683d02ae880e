"""What all figures share: colours, sizes of letters, ticks. Matplotlib is imported only inside.

What a colour means is said once, in `nofluke.text.signs`, for pages as well: chance is grey, the observed value purple,
found blue and missed orange, and nothing else is blue or orange. Readers with any common colour blindness can tell
them apart; what matters also differs by line style or marker. Ink and paper are the reader's own, from matplotlib's
settings: dark backgrounds work.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nofluke.arrays import AnyArray, IntArray
from nofluke.extras import needed
from nofluke.laws.law import How
from nofluke.series.clock import Clock, Zone
from nofluke.series.ticks import Ticks
from nofluke.text.signs import COLOURS, DETECTORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AxesArray = npt.NDArray[Any]

MEANINGS = {"observed": "observed", "chance": "chance", "good": "found", "bad": "missed"}
PALETTE = {
    "ink": "#222222",
    **{name: COLOURS[meaning][0] for name, meaning in MEANINGS.items()},
    "simulated": "#B5B5B5",
    "binomial": "#000000",
}
"""What each colour means in every figure on light paper; figures draw ink and binomial in matplotlib's text colour."""

DASHES: tuple[Any, ...] = ("-", (0, (6, 1.2)), (0, (3, 1)), (0, (6, 1, 1, 1)), (0, (1, 0.8)), (0, (3, 1, 1, 1, 1, 1)))
SERIES: tuple[tuple[str, Any], ...] = tuple(
    (light, dashes) for (light, _), dashes in zip(DETECTORS, DASHES, strict=True)
)
"""Colour on light paper and line style of the first, second, ... of several curves."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")
"""Of the first six detectors, the next six, ...: with the colour, each has its own."""

GREY = "#999999"  # what was left out, and what is near an event
ORDERED = (("#2D0F45", "#7B2D8B", "#B5358C", "#D9568A"), ("#9A68C8", "#C77BD0", "#F0A0C8", "#FFE0EC"))
"""From the first to the last of many curves in order, on light and on dark paper."""
MOST_DRAWN = 1e300
"""Scores beyond this are drawn there: an axis from the smallest to the largest float has no length."""

NARROW, COLUMN = 2.2, 3.33  # inches of a panel below which its letters, or those of its legend, are small
SMALL, SMALLER = 8.0, 7.0  # points at most of its labels and of its legend
LETTER = 0.58  # of a letter's size is its width, on average


def ink() -> Any:
    """The colour of lines and letters: that of text in matplotlib's settings, light on dark backgrounds."""
    return _setting("text.color")


def colour(name: str) -> str:
    """What a name in `PALETTE` is drawn in on the paper that there is: "observed", "chance", "good" or "bad"."""
    return COLOURS[MEANINGS[name]][on_dark()]


def luck() -> str:
    """The colour of lines that stand for chance: lighter on dark paper, or they would drown in their own band."""
    return "#D6D6D6" if on_dark() else colour("chance")


def paper() -> Any:
    """The colour behind the data."""
    return _setting("axes.facecolor")


def _setting(name: str) -> Any:
    check_matplotlib()
    import matplotlib

    settings: Any = matplotlib.rcParams
    return settings[name]


def one_of(i: int, n: int) -> dict[str, Any]:
    """Style of the i-th of n unordered curves, such as detectors; beyond six, markers tell them apart too."""
    color, style = DETECTORS[i % len(SERIES)][on_dark()], DASHES[i % len(SERIES)]
    marker = MARKERS[i // len(SERIES) % len(MARKERS)] if n > len(SERIES) else None
    return {"color": color, "linestyle": style, "linewidth": 1.8, "marker": marker, "markersize": 4}


def of_detector(i: int, n: int) -> dict[str, Any]:
    """Style of the i-th of n detectors; one that is alone is what was observed."""
    return {"color": colour("observed"), "linewidth": 2} if n == 1 else one_of(i, n)


def chance_of(style: dict[str, Any]) -> dict[str, Any]:
    """The style of chance's mean beside one of several curves: grey, with the dashes of the curve."""
    return {"color": luck(), "linestyle": style.get("linestyle", "--"), "linewidth": 1.2}


def in_order(n: int) -> list[Any]:
    """Colours of n ordered curves, such as tolerances: dark to light, while they still stand out from the paper."""
    from matplotlib.colors import LinearSegmentedColormap

    return list(LinearSegmentedColormap.from_list("in order", ORDERED[on_dark()])(np.linspace(0, 1, n)))


def above_chance(middle: bool = False) -> Any:
    """Colours from nothing to far above chance; with ``middle``, from below chance, grey, over that."""
    from matplotlib.colors import LinearSegmentedColormap

    pale, dark = ("#2B2833", "#F5F4F7")[not on_dark()], colour("observed")
    return LinearSegmentedColormap.from_list("above chance", [colour("chance"), pale, dark] if middle else [pale, dark])


def on_dark() -> bool:
    """Whether data are drawn on dark paper."""
    from matplotlib.colors import to_rgb

    return max(to_rgb(paper())) < 0.5


def faint(alpha: float = 0.3) -> float:
    """How opaque bands are: on dark paper the same colour needs more of itself to be seen, 3:1 against black."""
    return min(1.9 * alpha, 1.0) if on_dark() else alpha


def band(alpha: float = 0.3) -> dict[str, Any]:
    """How an area of chance is filled; its thin edge is seen where the area is pale."""
    from matplotlib.colors import to_rgba

    grey = colour("chance")
    return {"facecolor": to_rgba(grey, faint(alpha)), "edgecolor": to_rgba(grey, 0.9), "linewidth": 0.6}


def in_words(methods: Iterable[How]) -> str:
    """How chance was computed, for a legend: the kinds of the methods, each once.

    >>> in_words([How(kind="exact", name="Fourier"), How(kind="approximate", name="saddlepoint"), How(kind="exact")])
    'exact and approximate'
    """
    return " and ".join(dict.fromkeys("binomial" if how.name.startswith("binomial") else how.kind for how in methods))


def inches(ax: Axes) -> tuple[float, float]:
    """Width and height of a panel, as far as they are known before its figure is laid out."""
    dpi = float(ax.figure.dpi)
    return float(ax.bbox.width) / dpi, float(ax.bbox.height) / dpi


def points_of(size: Any, ax: Axes, most: float, narrow: float = NARROW) -> float:
    """A size of letters in points; at most so many where the panel is narrow."""
    from matplotlib.font_manager import FontProperties

    points = float(FontProperties(size=size).get_size_in_points())
    return min(points, most) if inches(ax)[0] < narrow else points


def fitted(text: str, length: float, points: float) -> str:
    """A text broken into lines of about so many inches.

    >>> fitted("predictions that are hits, of 256", 1.2, 10)
    'predictions\\nthat are hits,\\nof 256'
    """
    letters = max(int(72 * length / (LETTER * points)), 8)
    for sign in ("=", "±", "≤"):  # what belongs together stays in one line
        text = text.replace(f" {sign} ", f"\xa0{sign}\xa0")
    return "\n".join(textwrap.wrap(text, letters, break_long_words=False, break_on_hyphens=False)).replace("\xa0", " ")


def label(ax: Axes, x: str = "", y: str = "", *, title: str = "") -> None:
    """Name the axes, and the panel if it has a title, in lines that fit into it."""
    width, height = inches(ax)
    size = points_of(_setting("axes.labelsize"), ax, SMALL)
    for text, length, put in ((x, width, ax.set_xlabel), (y, height, ax.set_ylabel)):
        if text:
            put(fitted(text, length, size), fontsize=size)
    if title:
        heading = points_of("medium", ax, SMALL + 1)
        ax.set_title(fitted(title, width * 1.1, heading), fontsize=heading)


def unit_square(ax: Axes, x: str, y: str) -> None:
    """Name and tidy the axes of one share against another."""
    ax.set_xlim(0, 1.02)
    ax.set_ylim(0, 1.02)
    tidy(ax)
    few_ticks(ax)
    label(ax, x, y)


def tidy(ax: Axes, *, grid: bool = True) -> None:
    """No box, a light grid, small numbers in a narrow panel."""
    ax.spines[["top", "right"]].set_visible(False)
    if grid:
        ax.grid(True, color=ink(), alpha=0.12, linewidth=0.6)
        ax.set_axisbelow(True)
    if inches(ax)[0] < NARROW:
        ax.tick_params(labelsize=points_of(_setting("xtick.labelsize"), ax, SMALL))


def few_ticks(ax: Axes, *, which: str = "xy", whole: str = "", most: int = 7, zone: Zone | None = None) -> None:
    """Set as many ticks as fit: dates in few words, whole numbers on the axes named in ``whole``."""
    from matplotlib import dates
    from matplotlib.ticker import MaxNLocator

    width, height = inches(ax)
    for name, axis, room in (("x", ax.xaxis, width / 0.45), ("y", ax.yaxis, height / 0.3)):
        if name not in which:
            continue
        least = 1 if name in whole else min(most, 3)  # of whole numbers there may be no more
        many = min(int(np.clip(room, 3 if name == "x" else 2, 7)), most)
        locator: Any = MaxNLocator(many, integer=name in whole, steps=[1, 2, 2.5, 5, 10], min_n_ticks=least)
        if isinstance(axis.get_major_locator(), dates.AutoDateLocator):
            make: Any = dates
            tz = None if zone is None else LocalTime(lambda at: float(zone.ahead(np.array([int(at)]), "s")[0]))
            locator = make.AutoDateLocator(minticks=2, maxticks=max(many, 4), tz=tz)  # fewer is not always to be had
            axis.set_major_formatter(make.ConciseDateFormatter(locator, tz=tz))
        axis.set_major_locator(locator)


class LocalTime(tzinfo):
    """The zone of a clock, for an axis of dates; ``ahead`` gives the seconds at a time in seconds since 1970."""

    def __init__(self, ahead: Callable[[float], float]) -> None:
        self.ahead = ahead

    def fromutc(self, dt: datetime) -> datetime:
        """A time of UTC in this zone."""
        return dt + timedelta(seconds=self.ahead(dt.replace(tzinfo=UTC).timestamp()))

    def utcoffset(self, dt: datetime | None) -> timedelta:
        """What is ahead at a local time."""
        local = 0.0 if dt is None else dt.replace(tzinfo=UTC).timestamp()
        return timedelta(seconds=self.ahead(local - self.ahead(local)))

    def dst(self, dt: datetime | None) -> timedelta:  # noqa: ARG002
        """Not told apart."""
        return timedelta(0)

    def tzname(self, dt: datetime | None) -> None:
        """It has none."""


def time_axis(ax: Axes, times: AnyArray, clock: Clock | Ticks | None) -> None:
    """An axis over times, which are steps, numbers, or dates in their own zone: few ticks, a label and no grid."""
    if len(times) and times.min() < times.max():
        ax.set_xlim(times.min(), times.max())
    tidy(ax, grid=False)
    zone = None if clock is None else clock.zone
    few_ticks(ax, which="x", whole="x" if clock is None else "", zone=zone)
    label(ax, "step" if clock is None else "time" if zone is None else f"time ({zone.name})")


def some_of(names: Sequence[Any], room: float, each: float) -> tuple[list[int], list[Any]]:
    """Evenly chosen positions of names, and the names, where each takes so many inches of the room."""
    apart = max(-(-len(names) // max(int(room / each), 1)), 1)
    at = list(range(0, len(names), apart))
    return at, [names[i] for i in at]


def shade(
    ax: Axes,
    starts: IntArray,
    stops: IntArray,
    ticks: Ticks,
    color: str,
    alpha: float,
    name: str,
    hatch: str = "",
) -> Any:
    """Stretches of ticks over the whole height, as one shape."""
    edges = np.stack([starts, stops, stops], axis=1).ravel()
    height = np.tile([1.0, 1.0, np.nan], len(starts))
    how: dict[str, Any] = {"facecolor": color, "edgecolor": ink(), "alpha": faint(alpha), "linewidth": 0, "zorder": 0}
    how |= {"hatch": hatch or None, "label": name}
    return ax.fill_between(ticks.times(edges), 0, height, transform=ax.get_xaxis_transform(), **how)


def legend(ax: Axes, loc: Any = "best") -> None:
    """A legend without a frame, inside."""
    ax.legend(loc=loc, frameon=False, fontsize="small")


def check_matplotlib() -> None:
    """Say what to do where matplotlib is missing."""
    needed("matplotlib.figure", "figures need")
