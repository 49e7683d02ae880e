"""Where figures are drawn, axes of their own or a caller's, and their legends."""

from __future__ import annotations

import functools
import io
import itertools
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from nofluke.errors import InputError, shown
from nofluke.plot.style import (
    COLUMN,
    LETTER,
    NARROW,
    SMALL,
    SMALLER,
    AxesArray,
    check_matplotlib,
    fitted,
    inches,
    luck,
    points_of,
    some_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Kind = TypeVar("Kind")
LONGEST = 28  # letters of a name beside a row


def check_kind(name: str, value: object, kind: type | tuple[type, ...], origin: str) -> None:
    """Refuse to draw what is something else."""
    if not isinstance(value, kind):
        told = _called(kind)
        article = "an" if told[0] in "AEIOU" else "a"
        raise InputError(argument=name, problem=f"must be {article} {told}, from {origin}, got {type(value).__name__}")


def _called(kind: type | tuple[type, ...]) -> str:
    return " or ".join(one.__name__ for one in (kind if isinstance(kind, tuple) else (kind,)))


def by_name(argument: str, value: Any, kind: type[Kind] | tuple[type[Kind], ...], origin: str) -> dict[str, Kind]:
    """One result, under an empty name, or several by their names."""
    if not isinstance(value, Mapping):
        check_kind(argument, value, kind, origin)
        return {"": value}
    if not value:
        raise InputError(
            argument=argument, problem="is an empty dict", remedy=f"pass at least one {_called(kind)}, by its name"
        )
    for name, one in value.items():
        check_kind(f"{argument}[{shown(name)}]", one, kind, origin)
    return {str(name): one for name, one in value.items()}


def make_axes(ax: Axes | None, size: tuple[float, float] = (6, 3.6)) -> Axes:
    """The Axes given, or those of a new figure."""
    if ax is None:
        return cast("Axes", _new(1, 1, size)[0, 0])
    if not isinstance(ax, _axes()):
        raise InputError(
            argument="ax",
            value=ax,
            problem="must be Axes of matplotlib",
            remedy="pass one, or leave ax out for a new figure",
        )
    return ax


def make_panels(ax: Any, shape: tuple[int, ...], *, width: float, height: float) -> AxesArray:
    """The Axes given, in the shape needed; or those of a new figure."""
    if ax is None:
        rows, columns = (1, *shape)[-2:]
        ax = _new(rows, columns, (width * columns, height * rows))
    given = [one for row in _items(ax) for one in _items(row)]
    needed, others = " × ".join(map(str, shape)), [one for one in given if not isinstance(one, _axes())]
    if others:
        raise InputError(
            argument="ax", value=ax, problem=f"must be {needed} Axes of matplotlib, got a {type(others[0]).__name__}"
        )
    if len(given) != np.prod(shape):
        raise InputError(argument="ax", problem=f"must be {needed} Axes, got {len(given)}")
    return np.array(given, dtype=object).reshape(shape)


_apart: ContextVar[bool] = ContextVar("figures apart from pyplot", default=False)


def _new(rows: int, columns: int, size: tuple[float, float]) -> AxesArray:
    """Axes of a new figure: of the reader's size, where one was set, its height for each row of panels."""
    plt = pyplot()
    own = plt.rcParams["figure.figsize"]
    if list(own) != list(plt.rcParamsDefault["figure.figsize"]):
        size = (own[0], own[1] * rows)
    make = _figure_apart if _apart.get() else plt.figure
    found: AxesArray = make(figsize=size, layout="constrained").subplots(rows, columns, squeeze=False)
    return found


def _figure_apart(**how: Any) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(**how)
    FigureCanvasAgg(figure)
    return figure


def figure_of(draw: Callable[[], Any]) -> Any:
    """The figure that something draws, which pyplot does not know: nothing is shown, and nothing is left open."""
    before = _apart.set(True)
    try:
        return np.ravel(draw())[0].figure
    finally:
        _apart.reset(before)


@contextmanager
def any_glyph() -> Iterator[None]:
    """No warning about letters that matplotlib's font lacks: in SVG they are text, and the reader's fonts draw them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        yield


def svg_of(draw: Callable[[], Any]) -> str:
    """The figure that something draws, as an element of a page."""
    import matplotlib

    out = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "nofluke"}), any_glyph():  # the same figure is the same text
        figure_of(draw).savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]


def _items(ax: Any) -> list[Any]:
    """What a list, or an array as matplotlib makes it, holds; anything else is one."""
    if isinstance(ax, np.ndarray):
        return ax.ravel().tolist() if ax.dtype == object else [ax]
    return list(ax) if isinstance(ax, list | tuple) else [ax]


def names_beside(ax: Axes, names: list[str]) -> None:
    """Put a name beside each row, in letters as small as rows are close."""
    width, height = inches(ax)
    size = float(np.clip(72 * height / max(len(names), 1) / 1.25, 5, 8 if width < 1.4 * NARROW else 10))
    # names may take the room that labels have anyway, and a third of the panel's width
    most = max(int(72 * (0.33 * width + 0.35) / (LETTER * size)), 6)
    shown_as = [short(name, min(most, LONGEST)) for name in names]
    ax.set_yticks(range(len(names)), shown_as, fontsize=size)
    make_room(ax, left=max(map(len, shown_as), default=0) * LETTER * size / 72 + 0.1)


def short(name: str, longest: int = LONGEST) -> str:
    """A name that leaves room for the figure, with its end, by which names often differ; a dollar sign is no formula.

    >>> short("isolation forest, window 10", 16)
    'isolatio…ndow 10'
    """
    line = "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in " ".join(name.split()))
    line = f" {line}" if line.startswith("_") else line  # such labels matplotlib keeps to itself
    if len(line) > longest:
        line = line[: longest // 2] + "…" + line[len(line) - (longest - 1 - longest // 2) :]
    return line.replace("$", r"\$")


def _axes() -> type:
    check_matplotlib()
    from matplotlib.axes import Axes

    return Axes


def pyplot() -> Any:
    """matplotlib.pyplot."""
    check_matplotlib()
    import matplotlib.pyplot as plt

    return plt


# ---- Legends of all figures: above the panels, where they cover nothing, and below their titles

BESIDE = 0.3  # inches to the left of a panel that labels have in any case
MOST = 0.6  # share of a panel that may be given up to what stands around it
TITLE = 0.28  # inches of a title
SPACES = {"handlelength": 1.5, "handletextpad": 0.5, "columnspacing": 1.0, "borderaxespad": 0.2, "labelspacing": 0.35}
BREAK = 0.04  # inches of height that a narrow legend may gain rather than break a line; others have room enough


def legend_above(ax: Axes, handles: Sequence[Any] | None = None, *, loc: str = "lower left") -> None:
    """A legend between the panel and its title, where it covers nothing: in as many columns as make it lowest.

    With ``loc="lower right"`` it may reach to the left over names that stand beside the panel.
    """
    found = ax.get_legend_handles_labels()[0] if handles is None else list(handles)
    if not found:
        return
    left, dpi = loc == "lower left", float(ax.figure.dpi)
    width = inches(ax)[0] * (0.95 if left else 1) + (0 if left else BESIDE)
    size = points_of("small", ax, SMALLER, COLUMN)
    how: dict[str, Any] = {"loc": loc, "bbox_to_anchor": (0 if left else 1, 1.0), "frameon": False, "fontsize": size}
    how |= SPACES
    columns, names = _lowest(found, width, size)
    box = ax.legend(found, names, ncols=columns, **how).get_window_extent()
    make_room(ax, above=box.height / dpi + TITLE)
    _strut(ax, box.height / dpi)


def stacked(panels: AxesArray) -> bool:
    """Whether panels stand below one another."""
    return len(_row_of(panels)) == 1


def one_legend(panels: AxesArray) -> None:
    """One legend of everything that any of the panels shows, above the first row of them."""
    every = {str(one.get_label()): one for panel in panels.flat for one in keys_of(panel)}
    legend_over(panels, list(every.values()))


def legend_over(panels: AxesArray, handles: Sequence[Any]) -> None:
    """One legend for all panels, above the first row of them and its titles, which are set before."""
    from matplotlib.patches import Rectangle

    if not handles:
        return
    row = _row_of(panels)
    first, dpi = row[0], float(row[0].figure.dpi)
    width = 0.95 * float(row[-1].bbox.x1 - first.bbox.x0) / dpi
    size = points_of("small", first, SMALLER if width < 1.5 * COLUMN else math.inf, COLUMN)
    columns, names = _lowest(handles, width, size)
    titled = any(ax.get_title() for ax in row)
    title = max(max(ax.title.get_window_extent().height for ax in row) / dpi + 0.1, TITLE - 0.05) if titled else 0.0
    how: dict[str, Any] = {"bbox_to_anchor": (0, title), "bbox_transform": _above(first), "loc": "lower left"}
    legend = first.legend(handles, names, ncols=columns, frameon=False, fontsize=size, **how, **SPACES)
    legend.set_in_layout(False)  # it is wider than its panel; what keeps its place free is as high, and has no width
    height = title + legend.get_window_extent().height / dpi + SPACES["borderaxespad"] * size / 72
    for ax in row:
        make_room(ax, above=height)
        if not titled:
            _strut(ax, height)
        ax.add_artist(Rectangle((0, 0), 0, height, transform=_above(ax), linewidth=0, clip_on=False))


def _row_of(panels: AxesArray) -> list[Any]:
    """The panels that stand beside the first one, and it."""
    every = list(panels.flat)
    return [ax for ax in every if abs(ax.bbox.y0 - every[0].bbox.y0) < 1]


def _lowest(found: Sequence[Any], width: float, size: float) -> tuple[int, list[str]]:
    """How many columns make a legend of so many inches lowest, and its names in lines."""
    made: dict[tuple[float, int], list[str]] = {}  # by height and columns
    for columns, tight in itertools.product(range(1, min(len(found), 4) + 1), (99.0, 1.2, 1.0, 0.85)):
        room = tight * (width / columns - 3 * size / 72)
        names = [fitted(str(one.get_label()), room, size) for one in found]
        wide, high = _extent(names, columns, size)
        too_wide = max(wide - width, 0.0)
        breaks = sum(name.count("\n") for name in names) * (BREAK if width < COLUMN else 1.0)
        made.setdefault((high + breaks + 100 * too_wide, columns), names)
    (_, columns), names = min(made.items())
    return columns, names


def _extent(names: Sequence[str], columns: int, size: float) -> tuple[float, float]:
    """Width and height of a legend in inches, as matplotlib will lay it out: column by column."""
    parts = np.array_split(np.arange(len(names)), columns)
    wide = [max(max(_width(line, size) for line in names[i].split("\n")) for i in part) for part in parts]
    high = [sum(1.2 * names[i].count("\n") + 1.2 + SPACES["labelspacing"] for i in part) for part in parts]
    keys = columns * (SPACES["handlelength"] + SPACES["handletextpad"]) + (columns - 1) * SPACES["columnspacing"] + 0.8
    return sum(wide) + keys * size / 72, (max(high) + 0.8) * size / 72


@functools.lru_cache(maxsize=10_000)
def _width(text: str, size: float) -> float:
    """Inches that a line of text takes."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    measure: Any = text_to_path.get_text_width_height_descent
    return float(measure(text, FontProperties(size=size), False)[0]) / 72


def make_room(ax: Axes, *, above: float = 0.0, left: float = 0.0) -> None:
    """Make a panel smaller where so many inches above or beside it are not free and nothing lays out its figure."""
    figure, spec = ax.figure, ax.get_subplotspec()
    if figure.get_layout_engine() is not None:
        return
    box, width, height = ax.get_position(), *(float(side) / float(figure.dpi) for side in figure.bbox.size)
    alone = spec is None or spec.is_first_row(), spec is None or spec.is_first_col()
    down = max(above / height - (1 - box.y1 if alone[0] else 0), 0.0)
    right = max(left / width - box.x0, 0.0) if alone[1] else 0.0
    down, right = min(down, MOST * box.height), min(right, MOST * box.width)
    ax.set_position((box.x0 + right, box.y0, box.width - right, box.height - down))


def _strut(ax: Axes, height: float) -> None:
    """An empty panel of so many inches above another: titles stand above it, also those that are set later."""
    strut = ax.inset_axes((0, 0, inches(ax)[0], height), transform=_above(ax))
    strut.set_axis_off()
    strut.set_in_layout(False)


def _above(ax: Axes) -> Any:
    """Inches to the right of, and above, the upper left corner of a panel."""
    from matplotlib.transforms import ScaledTranslation

    corner: Any = ax.transAxes
    return ax.figure.dpi_scale_trans + ScaledTranslation(0, 1, corner)


CHANCE = "_chance"
"""The label of each mean of chance where several curves have one: all together have one entry in the legend."""


def keys_of(ax: Axes) -> list[Any]:
    """What a legend shows: everything with a label, and one dashed line for all means of chance."""
    from matplotlib.lines import Line2D

    drawn = ax.get_legend_handles_labels()[0]
    if any(line.get_label() == CHANCE for line in ax.get_lines()):
        drawn.append(Line2D([], [], color=luck(), linestyle="--", linewidth=1.2, label="chance, mean"))
    return list(drawn)


def key_of_order(panels: AxesArray, colours: Sequence[Any], names: Sequence[str], title: str) -> None:
    """A bar of colours above the panels, for more curves than a legend can tell apart."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import BoundaryNorm, ListedColormap

    every = list(panels.flat)
    scale = ScalarMappable(BoundaryNorm(np.arange(len(names) + 1) - 0.5, len(names)), ListedColormap(list(colours)))
    width, size = (
        sum(inches(ax)[0] for ax in panels.reshape(-1, panels.shape[-1])[0]),
        points_of("small", every[0], SMALL),
    )
    bar = every[0].figure.colorbar(scale, ax=every, location="top", aspect=40, label=title, pad=0.02)
    longest = max(map(len, names))
    at, shown = some_of(names, width, (longest + 1) * LETTER * size / 72)
    bar.set_ticks(at, labels=shown, fontsize=size)
    bar.ax.minorticks_off()
    bar.set_label(title, fontsize=size)
