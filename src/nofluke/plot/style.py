"""What all figures share: one palette, and the Axes they are drawn into. Matplotlib is imported only inside.

The colours are Okabe and Ito's, which readers with any common colour blindness can tell apart; what matters also differs
by line style or marker.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nofluke.arrays import IntArray
from nofluke.errors import InputError
from nofluke.laws.law import How
from nofluke.series.ticks import Ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AxesArray = npt.NDArray[Any]

PALETTE = {
    "ink": "#222222",
    "observed": "#D55E00",
    "chance": "#0072B2",
    "simulated": "#999999",
    "binomial": "#000000",
    "good": "#0072B2",
    "bad": "#D55E00",
}
"""What each colour means, in every figure."""

SERIES: tuple[tuple[str, Any], ...] = (
    ("#E69F00", "-"),
    ("#56B4E9", (0, (6, 1.2))),
    ("#009E73", (0, (3, 1))),
    ("#CC79A7", (0, (6, 1, 1, 1))),
    ("#0072B2", (0, (1, 0.8))),
    ("#D55E00", (0, (3, 1, 1, 1, 1, 1))),
)
"""Colour and line style of the first, second, ... of several curves."""


MOST_DRAWN = 1e300
"""Scores beyond this are drawn there: an axis from the smallest to the largest float has no length."""


def in_words(methods: Iterable[How]) -> str:
    """How chance was computed, for a legend: the kinds of the methods, each once.

    >>> in_words([How(kind="exact", name="Fourier"), How(kind="approximate", name="saddlepoint"), How(kind="exact")])
    'exact and approximate'
    """
    return " and ".join(dict.fromkeys("binomial" if how.name.startswith("binomial") else how.kind for how in methods))


def check_kind(name: str, value: object, kind: type, origin: str) -> None:
    """Refuse to draw what is something else."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise InputError(f"{name} must be {article} {kind.__name__}, from {origin}, got {type(value).__name__}.")


def tidy(ax: Axes, *, grid: bool = True) -> None:
    """No box, a light grid."""
    ax.spines[["top", "right"]].set_visible(False)
    if grid:
        ax.grid(True, color=PALETTE["ink"], alpha=0.12, linewidth=0.6)
        ax.set_axisbelow(True)


def shade(
    ax: Axes,
    starts: IntArray,
    stops: IntArray,
    ticks: Ticks,
    color: str,
    alpha: float,
    name: str,
) -> Any:
    """Stretches of ticks over the whole height, as one shape."""
    edges = np.stack([starts, stops, stops], axis=1).ravel()
    height = np.tile([1.0, 1.0, np.nan], len(starts))
    how: dict[str, Any] = {"color": color, "alpha": alpha, "linewidth": 0, "zorder": 0, "label": name}
    return ax.fill_between(ticks.times(edges), 0, height, transform=ax.get_xaxis_transform(), **how)


def legend(ax: Axes, loc: Any = "best") -> None:
    """A legend without a frame."""
    ax.legend(loc=loc, frameon=False, fontsize="small")


def make_axes(ax: Axes | None, size: tuple[float, float] = (6, 3.6)) -> Axes:
    """The Axes given, or those of a new figure."""
    if ax is not None:
        return ax
    made: Axes = pyplot().subplots(figsize=size, layout="constrained")[1]
    return made


def make_panels(axes: Any, shape: tuple[int, ...], *, width: float, height: float) -> AxesArray:
    """The Axes given, in the shape needed; or those of a new figure."""
    if axes is None:
        rows, columns = (1, *shape)[-2:]
        size = (width * columns, height * rows)
        axes = pyplot().subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)[1]
    panels: AxesArray = np.asarray(axes, dtype=object)
    if panels.size != np.prod(shape):
        raise InputError(f"axes must be {' × '.join(map(str, shape))} Axes, got {panels.size}.")
    return panels.reshape(shape)


def pyplot() -> Any:
    """matplotlib.pyplot."""
    check_matplotlib()
    import matplotlib.pyplot as plt

    return plt


def check_matplotlib() -> None:
    """Say what to do where matplotlib is missing."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise InputError("figures need matplotlib, which is not installed: pip install 'nofluke[plot]'") from None
