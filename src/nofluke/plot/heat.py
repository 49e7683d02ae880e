"""Maps of every tolerance and threshold: p-values or measures, and which cells exceed chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nofluke.arrays import BoolArray, FloatArray, IntArray
from nofluke.inference.coincidence import CoincidenceSweep
from nofluke.inference.sweep import FamilywiseTest, Sweep
from nofluke.plain import check_alpha, check_word
from nofluke.plot.curves import SIDES, chance_shares, sweep_axis
from nofluke.plot.panels import check_kind, legend_over, make_panels, stacked
from nofluke.plot.style import LETTER, NARROW, AxesArray, above_chance, fitted, inches, label, some_of
from nofluke.plot.times import groups_of
from nofluke.text.numbers import tick_texts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TEXT = 8.0  # points of the names of rows and columns
DIGITS = 5  # that a threshold may need


def heatmap(
    curve: Sweep,
    ax: Any = None,
    *,
    show: Literal["p", "value"] = "p",
    familywise: FamilywiseTest | None = None,
    alpha: float = 0.05,
) -> AxesArray:
    """Draw every cell of a sweep as a map, tolerances by thresholds or lags: p-values or measures.

    Parameters
    ----------
    curve : Sweep
        From :func:`nofluke.sweep`, or :func:`nofluke.sweep_tolerances` (tolerances by lags).
    ax : two matplotlib Axes, optional
        Where to draw; by default a new figure.
    show : {"p", "value"}
        What the colours are: -log10 of the p-value of each cell, or precision and recall.
    familywise : FamilywiseTest, optional
        ``curve.familywise()``, whose adjusted p-values decide what is outlined; by default Holm's.
    alpha : float
        The level of the outline.

    Returns
    -------
    array of two matplotlib Axes
        Precision, recall. A solid line is around the cells that are significant after correction for all of them, a
        dashed one around those above the central 95% of chance. Undefined cells are blank.

    See Also
    --------
    nofluke.sweep : makes the sweep.
    nofluke.plot.sweep : the same as curves.

    Notes
    -----
    Computes chance in every cell, if that was not done before.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import nofluke as nf
    >>> quakes = nf.datasets.simulate_quakes(rng=0)
    >>> z = nf.detectors.energy_transient(quakes.counts)
    >>> curve = nf.sweep(quakes.truth, z, quantiles=[0.5, 0.8, 0.9], tolerances=(0, 1, 2))
    >>> left, right = nf.plot.heatmap(curve, Figure().subplots(1, 2))
    >>> left.get_title(), left.get_ylabel(), [tick.get_text() for tick in left.get_yticklabels()]
    ('precision', 'tolerance, steps', ['0', '1', '2'])
    """
    from matplotlib.ticker import MaxNLocator

    check_kind("curve", curve, Sweep, "nofluke.sweep")
    check_word(show, "show", ("p", "value"))
    if familywise is not None:
        check_kind("familywise", familywise, FamilywiseTest, "curve.familywise()")
    alpha = check_alpha(alpha)
    rows, columns, place, titles = _grid(curve)
    panels = make_panels(ax, (2,), width=4.6, height=3.6)
    beside = not stacked(panels)
    values = {side: _values(curve, side, show)[place] for side in SIDES}
    top = max(float(np.nanmax(one, initial=0.0)) for one in values.values()) or 1.0
    for panel, side in zip(panels, SIDES, strict=True):
        mesh = _mesh(panel, values[side], top, root=show == "p")
        adjusted = curve.corrected(side) if familywise is None else getattr(familywise, f"{side}_adjusted")
        defined = ~np.isnan(values[side])
        measure, high = getattr(curve, side), chance_shares(curve, side)[2]
        with np.errstate(invalid="ignore"):
            above = (measure > high)[place] & defined
        corrected = "Holm" if familywise is None else "familywise"
        handles = [
            _outline(panel, (adjusted <= alpha)[place] & defined, "-", f"p ≤ {alpha:g}, corrected ({corrected})"),
            _outline(panel, above, (0, (2, 1.5)), "above 95% of chance"),
        ]
        _name(panel, rows, columns, titles, side, room=0.5 if beside and inches(panel)[0] < NARROW else 1.0)
    if beside:
        panels[1].set(yticklabels=[], ylabel="")  # the same as those of the first
    legend_over(panels, handles)
    title = "−log₁₀ p" if show == "p" else "measure"
    how: Any = {"location": "top", "aspect": 60} if beside else {"location": "right", "aspect": 30}
    bar = panels[0].figure.colorbar(mesh, ax=list(panels), **how)
    bar.set_label(title, fontsize=TEXT)
    bar.ax.tick_params(labelsize=TEXT)
    bar.locator = MaxNLocator(4)
    bar.update_ticks()
    return panels


def _grid(curve: Sweep) -> tuple[list[str], list[Any], tuple[IntArray, IntArray], tuple[str, str]]:
    """Names of rows and columns, where in the sweep each cell is, and the titles of columns and rows."""
    if isinstance(curve, CoincidenceSweep):
        groups = groups_of(curve)
        lags = list(dict.fromkeys(curve.lags))
        where = np.array([[rows[[curve.lags[d] for d in rows].index(lag)] for lag in lags] for _, rows in groups])
        return [name for name, _ in groups], lags, (where, np.zeros_like(where)), ("lag", "tolerance")
    d, k = np.indices(curve.shape)
    title = "threshold" if curve.quantiles is None else "threshold (quantile)"
    steps = all(t.unit == "steps" and t.early == t.late for t in curve.tolerances)
    rows = [f"{t.early}" if steps else str(t) for t in curve.tolerances]
    titles = (title, "tolerance, steps" if steps else "tolerance")
    return rows, sweep_axis(curve).tolist(), (d, k), titles


def _values(curve: Sweep, side: str, show: str) -> FloatArray:
    measure: FloatArray = getattr(curve, side)
    if show == "value":
        return measure
    return np.where(np.isnan(measure), np.nan, -getattr(curve.chance, side).log10_pvalue + 0.0)


def _mesh(ax: Axes, values: FloatArray, top: float, *, root: bool) -> Any:
    """Cells as coloured squares over the range that occurs; p-values by root, so that small ones do not dominate."""
    from matplotlib.colors import PowerNorm

    edges = (np.arange(n + 1) - 0.5 for n in values.shape[::-1])
    norm = PowerNorm(0.5 if root else 1.0, vmin=0, vmax=top)
    mesh = ax.pcolormesh(*edges, values, cmap=above_chance(), norm=norm)
    mesh.set_edgecolor("face")  # or some viewers show seams between cells
    return mesh


def _outline(ax: Axes, chosen: BoolArray, style: Any, name: str) -> Any:
    """A line around the chosen cells, light on dark cells and dark on light ones; and its key."""
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D
    from matplotlib.patheffects import Normal, Stroke

    rows, columns = chosen.shape
    solid = style == "-"
    how: dict[str, Any] = {"colors": "black" if solid else "white", "linestyles": [style], "label": name}
    lines = LineCollection(borders_of(chosen), linewidths=2.2 if solid else 1.2, zorder=3 if solid else 3.1, **how)
    other: Any = {"linewidth": 4.2, "foreground": "white"} if solid else {"linewidth": 2.2, "foreground": "black"}
    effects: Any = [Stroke(**other), Normal()]  # seen on dark cells and on light ones
    lines.set_path_effects(effects)
    ax.add_collection(lines, autolim=False)
    lines.set_clip_on(False)
    ax.set_xlim(-0.5, columns - 0.5)
    ax.set_ylim(-0.5, rows - 0.5)
    key = Line2D([], [], color=how["colors"], linestyle=style, linewidth=2.2 if solid else 1.2, label=name)
    key.set_path_effects(effects)
    return key


def borders_of(chosen: BoolArray) -> list[list[tuple[float, float]]]:
    """The sides between cells that are chosen and their neighbours that are not; cells lie around whole numbers."""
    padded = np.pad(chosen, 1)
    level = np.argwhere(padded[1:, 1:-1] != padded[:-1, 1:-1])
    upright = np.argwhere(padded[1:-1, 1:] != padded[1:-1, :-1])
    sides = [[(k - 0.5, d - 0.5), (k + 0.5, d - 0.5)] for d, k in level.tolist()]
    return sides + [[(k - 0.5, d - 0.5), (k - 0.5, d + 0.5)] for d, k in upright.tolist()]


def _name(ax: Axes, rows: list[str], columns: list[Any], titles: tuple[str, str], title: str, *, room: float) -> None:
    """Name as many rows and columns as there is room for, where a panel keeps so much of its height."""
    width, height = inches(ax)
    at, told = some_of(rows, room * height, 1.3 * TEXT / 72)
    ax.set_yticks(at, [fitted(name, 0.9, TEXT) if len(rows) < 6 else name for name in told], fontsize=TEXT)
    named = isinstance(columns[0], str)
    longest = max(map(len, columns if named else tick_texts(columns)))
    longest = longest if named else min(longest, DIGITS)  # of a few thresholds, fewer digits tell them apart
    at, told = some_of(columns, width, (longest + 1.5) * LETTER * TEXT / 72)
    ax.set_xticks(at, told if named else tick_texts(told), fontsize=TEXT)
    ax.tick_params(length=2)
    ax.spines[:].set_visible(False)
    label(ax, *titles, title=title)
