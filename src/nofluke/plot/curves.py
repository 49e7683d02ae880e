"""Precision and recall by threshold, with what chance scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.inference.sweep import Sweep
from nofluke.plain import check_word
from nofluke.plot.panels import check_kind, key_of_order, make_panels, one_legend
from nofluke.plot.style import (
    SERIES,
    AxesArray,
    band,
    colour,
    few_ticks,
    in_order,
    in_words,
    label,
    luck,
    one_of,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIDES = ("precision", "recall")
Chance = Literal["auto", "band", "none"]


def sweep(curve: Sweep, ax: Any = None, *, chance: Chance = "auto") -> AxesArray:
    """Draw precision and recall by threshold, with what chance scores.

    Parameters
    ----------
    curve : Sweep
        From :func:`nofluke.sweep`. The axis shows quantiles where thresholds came from quantiles.
    ax : array of matplotlib Axes, optional
        Where to draw; by default a new figure.
    chance : {"auto", "band", "none"}
        "band": a row of two panels for each tolerance, with the mean and the central 95% of chance. "none": one
        row, all tolerances together, without chance. "auto": "band" wherever tables would show chance.

    Returns
    -------
    array of matplotlib Axes, of shape (rows, 2)
        Precision to the left, recall to the right. Nothing is drawn where a measure is undefined. All panels have one
        legend; more than six tolerances in one panel have a colour bar.

    See Also
    --------
    nofluke.sweep : makes the sweep.
    nofluke.plot.precision_recall : one against the other.
    nofluke.plot.heatmap : every cell.

    References
    ----------
    Scharwächter and Müller (2020), Figures 2 and 3.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import nofluke as nf
    >>> curve = nf.sweep([0, 1, 0, 0], [0.1, 0.4, 0.9, 0.4], tolerances=(0, 1))
    >>> axes = nf.plot.sweep(curve, Figure().subplots(2, 2), chance="band")
    >>> axes.shape, axes[1, 0].get_title()
    ((2, 2), 'tolerance 1 step')
    """
    check_word(chance, "chance", ("auto", "band", "none"))
    check_kind("curve", curve, Sweep, "nofluke.sweep")
    banded = shows(curve, chance)
    panels = make_panels(ax, (len(curve.tolerances) if banded else 1, 2), width=4.2, height=2.6)
    styles = styles_of(len(curve.tolerances))
    for d, tolerance in enumerate(curve.tolerances):
        for panel, side in zip(panels[d if banded else 0], SIDES, strict=True):
            values, name = getattr(curve, side)[d], f"tolerance {tolerance}"
            if banded:
                ends = (share[d] for share in chance_shares(curve, side))
                draw_band(panel, sweep_axis(curve), *ends, how=how_computed(curve))
                panel.plot(sweep_axis(curve), values, color=colour("observed"), linewidth=2, label="observed")
            else:
                panel.plot(sweep_axis(curve), values, **styles[d], label=name)
            panel.set_ylim(0, 1.02)
            tidy(panel)
            few_ticks(panel)
            told = "threshold" if curve.quantiles is None else "threshold (quantile)"
            label(panel, told, side, title=name if banded else "")
    if banded or len(curve.tolerances) <= len(SERIES):
        one_legend(panels)
    else:
        key_of_order(panels, [style["color"] for style in styles], [str(t) for t in curve.tolerances], "tolerance")
    return panels


def shows(curve: Sweep, chance: Chance) -> bool:
    """Whether chance is drawn: if it was asked for, else wherever tables would show it."""
    return chance == "band" or (chance == "auto" and curve.shows_chance)


def styles_of(n: int) -> list[dict[str, Any]]:
    """Styles for the curves of n tolerances: colours and dashes, or, if many, an ordered range of colours."""
    if n <= len(SERIES):
        return [one_of(i, n) | {"linewidth": 2} for i in range(n)]
    return [{"color": color, "linewidth": 1.6} for color in in_order(n)]


def sweep_axis(curve: Sweep) -> FloatArray:
    """What the curves of a sweep are drawn over: quantiles where there are any, else thresholds."""
    return curve.thresholds if curve.quantiles is None else curve.quantiles


def chance_shares(curve: Sweep, side: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Chance's 2.5% quantile, mean and 97.5% quantile of a measure in every cell; NaN where it is undefined."""
    cells = getattr(curve.chance, side)
    of = curve.n_predictions if side == "precision" else np.full(len(curve.thresholds), curve.n_events)
    with np.errstate(invalid="ignore", divide="ignore"):
        low, mean, high = (np.where(of > 0, hits / of, np.nan) for hits in (cells.low, cells.mean, cells.high))
    return low, mean, high


def how_computed(curve: Sweep) -> str:
    """How chance was computed, of both measures in one legend."""
    return in_words((*curve.chance.precision.methods, *curve.chance.recall.methods))


def draw_band(ax: Axes, at: FloatArray, low: FloatArray, mean: FloatArray, high: FloatArray, *, how: str) -> None:
    """Mean and central 95% of chance over anything."""
    ax.fill_between(at, low, high, label=f"chance, 95% ({how})", **band())
    ax.plot(at, mean, color=luck(), linestyle="--", linewidth=1.2, label="chance, mean")
