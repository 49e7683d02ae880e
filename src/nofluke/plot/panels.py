"""The Axes that figures are drawn into, and the kinds of results that they draw: one, or several by name."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from nofluke.errors import InputError, shown
from nofluke.plot.legends import make_room
from nofluke.plot.style import LETTER, NARROW, AxesArray, check_matplotlib, inches

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
