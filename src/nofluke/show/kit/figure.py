"""Figures of pages: described once, drawn by matplotlib for readers without scripts, and by kit.js for the others.

A description is plain data, as scripts read it. It has an axis ``x``, and ``panels`` above each other, or else the
axis ``y`` and the ``layers`` of a single one. An axis may have a ``title``, a ``range``, ``ticks`` (places and texts),
``whole`` for whole numbers, ``kind`` "dates" for milliseconds since 1970, told in a ``zone``; y may have texts
``beside`` its right end (places, texts, inks). A layer has a ``kind``:

- line: ``x``, ``y``, with ``dots`` on its points; interrupted where either is None
- area: ``x``, between ``low`` and ``high``
- bars: ``x``, ``y``, ``width``
- rule: across the panel at ``x`` or at ``y``
- ring: around a point
- boxes: ``spans`` along x, between ``low`` and ``high``
- cells: ``values`` from 0 to 1 on whole numbers, None where undefined; outlined where ``remains``

and a ``name``, which is its colour. Values are numbers, or references into the payload of a report: "@thresholds.place"
is of each threshold ("@thresholds.place#k" of the one at the slider, whose number is "#k"), "precision.p" of each cell
along the figure's direction (``along``: "k" the cells of a row, "d" of a column, "all" of the grid, "at" a list in the
cell itself), "=precision.p" of the cell at the sliders.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from nofluke.extras import needed
from nofluke.plot.heat import borders_of
from nofluke.plot.panels import any_glyph
from nofluke.plot.style import PALETTE, SERIES, LocalTime
from nofluke.show.kit import shortened
from nofluke.text.signs import VERDICTS

Description = dict[str, Any]
WIDE, TALL = 5.4, 3.2  # inches: drawn about as large as shown, so that letters are as large as those of the page
INCH = 72
# matplotlib draws in these, and the page gives them their meaning, on light and on dark screens
PLAIN = ("ink", "soft", "line", "chance", "observed", "found", "missed", "paper", "best")
OWN = tuple(f"s{i}" for i in range(len(SERIES)))  # of the first of several lines, the second, ...
INKS = {
    name: f"#a1b2{i:02x}" for i, name in enumerate((*PLAIN, *(f"v-{verdict.split()[0]}" for verdict in VERDICTS), *OWN))
}
LOOKS: dict[str, dict[str, Any]] = {
    "observed": {"color": INKS["observed"], "linewidth": 2.2},
    "chance": {"color": INKS["chance"], "linewidth": 1.8, "linestyle": "--"},
    "second": {"color": INKS["ink"], "linewidth": 1.8, "linestyle": "--"},
    "simultaneous": {"color": INKS["ink"], "linewidth": 1.2, "linestyle": ":"},
    "binomial": {"color": INKS["ink"], "linewidth": 1.2, "linestyle": "--"},
    "cut": {"color": INKS["ink"], "linewidth": 1.2, "linestyle": "--"},
    "zero": {"color": INKS["soft"], "linewidth": 0.8, "linestyle": ":"},
    "score": {"color": INKS["soft"], "linewidth": 0.8},
    "band": {"color": INKS["chance"], "alpha": 0.25, "linewidth": 0},
    "part": {"color": INKS["chance"], "alpha": 0.45},
    "found": {"color": INKS["found"]},
    "missed": {"color": INKS["missed"]},
    "away": {"color": INKS["line"], "alpha": 0.6, "linewidth": 0},
    "best": {"color": INKS["best"], "linewidth": 0},
    "tick": {"color": INKS["chance"]},
    "points": {"color": INKS["observed"], "linewidth": 0},
}
SETTINGS: dict[str, Any] = {
    "font.size": 9,
    "svg.hashsalt": "nofluke",  # or the ids inside would differ from run to run
    "svg.fonttype": "none",  # text is text
    "axes.unicode_minus": True,
    "path.simplify": True,
    "lines.solid_capstyle": "round",
}


def drawn(
    figures: Mapping[str, Description], payload: dict[str, Any], sizes: Mapping[str, tuple[float, float]] | None = None
) -> dict[str, str]:
    """Each figure as SVG by its name, at the evaluated position; ``sizes`` in inches, where they differ."""
    matplotlib = needed("matplotlib", "a report needs")
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # a user's own settings must not change the page
        matplotlib.rcParams.update(SETTINGS)
        return {
            name: _svg(name, _resolved(one, payload), (sizes or {}).get(name, (WIDE, TALL)))
            for name, one in figures.items()
        }


def _resolved(one: Description, payload: dict[str, Any]) -> Description:
    """The description with values in the place of references."""

    def value(ref: Any) -> Any:
        if isinstance(ref, dict):
            return {name: part if name in ("kind", "name", "title") else value(part) for name, part in ref.items()}
        if isinstance(ref, list):
            return [value(part) for part in ref] if ref and isinstance(ref[0], dict) else ref
        return looked_up(ref, one.get("along", "at"), payload) if isinstance(ref, str) else ref

    return {name: value(part) for name, part in one.items() if name not in ("tell", "pick", "along")}


def looked_up(ref: str, along: str, payload: dict[str, Any]) -> Any:
    """What a reference stands for at the evaluated position."""
    d, k = payload["chosen"]
    if ref in ("#d", "#k"):
        return {"#d": d, "#k": k}[ref]
    if ref.startswith("@"):
        whole, _, at = ref[1:].partition("#")
        name, _, path = whole.partition(".")
        found = [_part(one, path) for one in payload[name]] if path else payload[name]
        return found[{"d": d, "k": k}[at]] if at else found
    cells, here = payload["cells"], ref.startswith("=")
    path = ref.removeprefix("=")  # of the evaluated cell alone
    if here or along == "at":
        return _part(cells[d][k], path)
    if along == "all":
        return [[_part(cell, path) for cell in row] for row in cells]
    return [_part(cell, path) for cell in (cells[d] if along == "k" else [row[k] for row in cells])]


def _part(of: Any, path: str) -> Any:
    for name in path.split("."):
        of = of[name]
    return of


def plotted(name: str, draw: Callable[[Any], Any], size: tuple[float, float], panels: int = 1) -> str:
    """A figure of `nofluke.plot` as SVG of a page: ``draw`` gets its axes, or panels; ``size`` is in inches."""
    matplotlib = needed("matplotlib", "a page needs")
    from matplotlib.figure import Figure

    inked = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS | dict.fromkeys(inked, INKS["ink"]))
        figure = Figure(figsize=size, layout="constrained")
        figure.patch.set_visible(False)
        axes = figure.subplots(panels, 1, sharex=True)
        for ax in figure.axes:
            ax.patch.set_visible(False)
        with any_glyph():
            draw(axes)
            return _saved(figure, name)


def _saved(figure: Any, name: str) -> str:
    """A figure as SVG in the page's own colours and letters."""
    out = io.StringIO()
    with any_glyph():
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    svg = inlined(out.getvalue(), name, 'class="static" aria-hidden="true"')
    svg = re.sub(r"font(-family)?: [^;\"]*?(\d+(\.\d+)?)px[^;\"]*", r"font-size: \2px", svg)
    names = {colour: ink for ink, colour in INKS.items()} | {
        PALETTE[name].lower(): name for name in ("observed", "chance")
    }
    return re.sub("#[0-9a-f]{6}", lambda found: f"var(--{names[found[0]]})" if found[0] in names else found[0], svg)


def inlined(svg: str, name: str, more: str = "") -> str:
    """Matplotlib's SVG as part of a page: as large as its place, its ids its own, its colours the page's."""
    svg = with_own_ids(svg, name).strip()
    svg = re.sub(r"<!--.*?-->|<defs>\s*<style.*?</style>\s*</defs>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"\s*\n\s*", " ", svg)
    svg = re.sub(r"(\d\.\d\d)\d+", r"\1", svg)  # hundredths of a point are finer than any screen
    box = re.search(r'viewBox="[^"]*"', svg[: svg.index(">")])
    return f"<svg {box[0] if box else ''} {more}{svg[svg.index('>') :]}"


def with_own_ids(svg: str, name: str) -> str:
    """Matplotlib's SVG as one of many on a page: without what comes before its tag, and without its metadata."""
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", svg)


def _svg(name: str, one: Description, size: tuple[float, float]) -> str:
    from matplotlib.figure import Figure

    figure = Figure(figsize=size)
    figure.patch.set_visible(False)
    panels = one.get("panels") or [{"y": one["y"], "layers": one["layers"], "room": (0.0, 1.0)}]
    wide, tall = size[0] * INCH, size[1] * INCH
    longest = max((len(text) for panel in panels for text in panel["y"].get("ticks", ((), ()))[1]), default=4)
    titled = any(panel["y"].get("title") for panel in panels)
    left = (5.2 * min(max(longest, 4), 18) + (18 if titled else 6)) / wide
    dates = one["x"].get("kind") == "dates"
    texts = one["x"].get("ticks", ((), ()))[1]
    lines = max((text.count("\n") for text in texts), default=1 if dates else 0)
    bottom = (20 + 11 * lines + (14 if one["x"].get("title") else 0)) / tall
    beside = max((len(text) for panel in panels for text in panel["y"].get("beside", ((), ()))[1]), default=0)
    width, height = 1 - left - (8 + 5.6 * beside) / wide, 1 - bottom - 6 / tall
    ranges = _range(one["x"], [layer for panel in panels for layer in panel["layers"]], "x")
    for i, panel in enumerate(panels):
        low, high = panel["room"]
        ax = figure.add_axes((left, bottom + low * height, width, (high - low) * height))
        _axes(ax, one["x"], panel["y"], below=i == len(panels) - 1)
        for band in one.get("bands", ()):
            _spans(ax, band["spans"], (0, 1), band["name"], ax.get_xaxis_transform())
        ax.set_xlim(*_days(ranges, dates))
        ax.set_ylim(*_range(panel["y"], panel["layers"], "y"))
        for layer in panel["layers"]:
            _draw(ax, layer, dates)
        _ticks(ax.yaxis, panel["y"], width=tall * (high - low))
        for at, text, colour in zip(*panel["y"].get("beside", ((), (), ())), strict=True):
            place: dict[str, Any] = {"xy": (1, at), "xycoords": ax.get_yaxis_transform(), "xytext": (6, 0)}
            ax.annotate(_plain(text), **place, textcoords="offset points", va="center", color=INKS[colour])
        if i == len(panels) - 1:
            _ticks(ax.xaxis, one["x"], width=wide)
        else:
            ax.tick_params(labelbottom=False)
    return _saved(figure, name)


def _axes(ax: Any, x: Description, y: Description, *, below: bool) -> None:
    """An empty panel in the page's own inks."""
    ax.patch.set_visible(False)
    for side, spine in ax.spines.items():
        spine.set_visible(side == "bottom" and below)
        spine.set_color(INKS["line"])
    ax.tick_params(length=0, colors=INKS["soft"], labelsize=9)
    for axis, one in ((ax.xaxis, x), (ax.yaxis, y)):
        if one.get("grid", True):
            axis.grid(True, color=INKS["line"], linewidth=0.7)
        axis.label.set_color(INKS["soft"])
        axis.label.set_size(9)
    ax.set_axisbelow(True)
    if below:
        ax.set_xlabel(_plain(x.get("title", "")), labelpad=3)
    ax.set_ylabel(_plain(y.get("title", "")), labelpad=3)


def _plain(text: str) -> str:
    """Text that is not taken for mathematics."""
    return text.replace("$", r"\$")


def _ticks(axis: Any, one: Description, width: float) -> None:
    mdates: Any = needed("matplotlib.dates", "a report needs")
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

    most = max(int(width / 55), 3)
    if "ticks" in one:
        at, texts = one["ticks"]
        axis.set_ticks(list(at), [_plain(text) for text in texts])
        return
    low, high = sorted(axis.get_view_interval())
    if one.get("kind") == "dates":
        if not -700_000 < low <= high < 2_900_000:  # years that calendars do not have
            axis.set_major_locator(FixedLocator([]))
            return
        zone = one.get("zone")
        tz = None if zone is None else LocalTime(lambda seconds: ahead_in(zone, 1e3 * seconds) / 1e3)
        locator = mdates.AutoDateLocator(minticks=2, maxticks=min(most, 8), tz=tz)
        axis.set_major_locator(locator)
        formats = ["%Y", "%b\n%Y", "%d %b", "%H:%M", "%H:%M", "%H:%M:%S"]
        axis.set_major_formatter(
            mdates.ConciseDateFormatter(locator, tz=tz, formats=formats, zero_formats=formats, show_offset=False)
        )
        return
    axis.set_major_locator(MaxNLocator(min(most, 7), integer=bool(one.get("whole")), steps=[1, 2, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))


def ahead_in(zone: list[list[int]], at: float) -> int:
    """By how many milliseconds local time is ahead of UTC, as `LocalTime` on pages."""
    return next((ahead for since, ahead in reversed(zone) if since <= at), zone[0][1])


def number(value: float) -> str:
    """A number of an axis, such as 12,000 or 1e−7."""
    if value == 0 or 1e-4 <= abs(value) < 1e7:
        text = f"{value + 0.0:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
    else:
        text = re.sub(r"e([+-])0?(\d)", lambda e: f"e{'-' if e[1] == '-' else ''}{e[2]}", f"{value:.6g}")
    return text.replace("-", "−")


def _range(axis: Description, layers: Iterable[Description], name: str) -> tuple[float, float]:
    """What an axis shows: as said, or all that is drawn and some room around it."""
    if "range" in axis:
        low, high = axis["range"]
        return float(low), float(high)
    seen: list[float] = []
    for layer in layers:
        half = np.max(layer.get("width", 0), initial=0) / 2 if name == "x" else 0
        parts = [layer[one] for one in ((name,) if name == "x" else ("y", "low", "high")) if one in layer]
        for part in parts:
            values = part if isinstance(part, list) else [part]
            seen += [v + shift for v in values if v is not None and math.isfinite(v) for shift in (-half, half)]
    low, high = (min(seen), max(seen)) if seen else (0.0, 1.0)
    if axis.get("zero"):
        return 0.0, 1.12 * high if high > 0 else 1.0
    pad = max(0.04 * (high - low), 0.8 if axis.get("whole") else 0.0) or 0.06 * abs(high) or 0.5
    return low - pad, high + pad


def _days(values: Any, dates: bool) -> Any:
    """Milliseconds as matplotlib counts them."""
    return np.asarray(values, dtype=np.float64) / 86_400_000 if dates else values


def _draw(ax: Any, layer: Description, dates: bool) -> None:
    look, kind = _look(layer.get("name", "")), layer["kind"]
    if kind == "line":
        x, y = _floats(layer["x"]), _floats(layer["y"])
        # a line of no length has round ends, and is a dot
        alone = np.isfinite(y) & ~np.isfinite(np.append(np.nan, y[:-1])) & ~np.isfinite(np.append(y[1:], np.nan))
        dots = {"marker": "o", "markersize": 3.2} if layer.get("dots") else {}
        ax.plot(_days(x, dates), y, **look, **dots)
        if alone.any() and not dots:
            ax.plot(_days(x[alone], dates), y[alone], "o", markersize=3.2, color=look["color"])
    elif kind == "area":
        x, low, high = (_floats(layer[name]) for name in ("x", "low", "high"))
        ax.fill_between(x, low, high, where=np.isfinite(low) & np.isfinite(high), **look)
    elif kind == "bars":
        y, width = np.nan_to_num(_floats(layer["y"])), layer["width"]
        edges = INKS["chance"] if layer["name"] == "part" and len(y) <= 80 else "none"
        color = (look["color"], look.get("alpha", 1.0))
        ax.bar(_floats(layer["x"]), y, width, color=color, edgecolor=edges, linewidth=0.8)
    elif kind == "rule":
        if "x" in layer:
            ax.axvline(_days(layer["x"], dates), **look)
        else:
            ax.axhline(layer["y"], **look)
    elif kind == "ring" and layer["x"] is not None and layer["y"] is not None:
        edge = look.get("color", INKS["paper" if layer.get("name") == "here" else "ink"])
        ax.plot([layer["x"]], [layer["y"]], "o", markersize=10, fillstyle="none", color=edge, clip_on=False)
    elif kind == "boxes":
        _spans(ax, _days(layer["spans"], dates), (layer["low"], layer["high"]), layer["name"], ax.transData)
    elif kind == "cells":
        _cells(ax, layer)


def _look(name: str) -> dict[str, Any]:
    """How a layer looks: one of several lines has its own colour, and dashes where colours come again."""
    first, _, rest = name.partition(" ")
    if first not in OWN:
        return LOOKS.get(name, {})
    dashes = {"of-chance": (0, (1.5, 2)), "dashed": (0, (4, 2)), "dotted": (0, (1, 1.5))}
    style = next((dash for word, dash in dashes.items() if word in rest), "-")
    return {"color": INKS[first], "linewidth": 1.0 if "of-chance" in rest else 1.8, "linestyle": style}


def _floats(values: Any) -> Any:
    return np.array([math.nan if value is None else value for value in values], dtype=np.float64)


def _spans(ax: Any, spans: Any, ends: tuple[float, float], name: str, transform: Any) -> None:
    from matplotlib.collections import PolyCollection

    low, high = ends
    least = 0.004 * abs(np.diff(ax.get_xlim())[0]) if name == "tick" else 0.0  # a tick has no length, but is seen
    boxes = [[(a - least, low), (b + least, low), (b + least, high), (a - least, high)] for a, b in spans]
    look = LOOKS[name]
    faces = {"facecolor": look["color"], "alpha": look.get("alpha"), "linewidth": 0}
    ax.add_collection(PolyCollection(boxes, transform=transform, **faces), autolim=False)


def _cells(ax: Any, layer: Description) -> None:
    """A map: the darker, the less likely by chance; crosses where it is undefined."""
    from matplotlib.collections import LineCollection, PolyCollection

    level: dict[int, list[Any]] = {}
    for i, row in enumerate(layer["values"]):
        for j, value in enumerate(row):
            if value is None:
                ax.plot([j], [i], "x", color=INKS["soft"], markersize=3)
                continue
            box = [(j - 0.5, i - 0.5), (j + 0.5, i - 0.5), (j + 0.5, i + 0.5), (j - 0.5, i + 0.5)]
            level.setdefault(round(16 * value), []).append(box)
    for strength, boxes in sorted(level.items()):
        alpha = 0.06 + 0.94 * strength / 16
        ax.add_collection(PolyCollection(boxes, facecolor=(INKS["observed"], alpha), linewidth=0), autolim=False)
    sides = borders_of(np.array(layer["remains"], dtype=np.bool_))
    ax.add_collection(LineCollection(sides, color=INKS["ink"], linewidth=1.4), autolim=False)


def rows_of_dots(
    rows: Sequence[Any], measures: Sequence[Any], *, verdicts: bool = True, letters: int = 26
) -> Description:
    """A measure of each detector with its interval, beside chance; rows have a detector, its verdict, and ``best``."""
    seen = [x for one in measures for x in (one.value, one.high, one.told, one.expected)]
    end = min(1.08 * max((x for x in seen if math.isfinite(x)), default=1.0), 1.0) or 1.0
    layers: list[Description] = []
    for y, row, one in zip(reversed(range(len(rows))), rows, measures, strict=True):
        if row.best:
            layers.append({"kind": "boxes", "name": "best", "spans": [[0, 1]], "low": y - 0.5, "high": y + 0.5})
        if math.isfinite(one.expected):
            if one.std > 0:
                ends = [max(one.expected - 2 * one.std, 0.0), min(one.expected + 2 * one.std, 1.0)]
                layers.append({"kind": "boxes", "name": "band", "spans": [ends], "low": y - 0.27, "high": y + 0.27})
            at = [[one.expected, one.expected]]
            layers.append({"kind": "boxes", "name": "tick", "spans": at, "low": y - 0.3, "high": y + 0.3, "least": 3})
        if math.isfinite(one.low) and math.isfinite(one.high):
            layers.append({"kind": "line", "name": "observed", "x": [one.low, one.high], "y": [y, y]})
        if one.told_apart:
            layers.append({"kind": "ring", "name": "told", "x": one.told, "y": y})
        if math.isfinite(one.value):
            layers.append({"kind": "line", "name": "observed", "x": [one.value], "y": [y], "dots": True})
    signs = [VERDICTS[row.verdict] for row in rows]
    inks = [f"v-{row.verdict.split()[0]}" for row in rows]
    beside = ([f"{sign.symbol} {sign.words}" for sign in signs], inks)
    names = [("★ " if row.best else "") + shortened(" ".join(row.detector.split()), letters) for row in rows]
    texts = [
        f"{row.detector}: {one.in_words()}, chance {one.chance_in_words()}"
        for row, one in zip(rows, measures, strict=True)
    ]
    return by_row(names, (0, end), layers, texts, beside if verdicts else None)


def by_row(
    names: list[str],
    ends: tuple[float, float],
    layers: list[Description],
    texts: list[str],
    beside: tuple[list[str], list[str]] | None,
) -> Description:
    """A figure with a row for each name, the first on top, and a hint on each; texts and inks may stand beside them."""
    n = len(names)
    up = list(range(n))[::-1]
    y: Description = {"range": [-0.5, n - 0.5], "ticks": [up, names], "grid": False}
    return {
        "x": {"range": list(ends)},
        "y": y if beside is None else y | {"beside": [up, *beside]},
        "layers": layers,
        "tell": {"rows": True, "x": [0] * n, "y": up, "texts": texts},
    }


def row_height(n: int) -> int:
    """Pixels of a figure with so many rows."""
    return 26 * n + 34
