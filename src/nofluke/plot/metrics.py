"""Metrics and chance: what the draws of a null give, the observed value, and what it takes to be better."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nofluke.inference.significance import BesideChance, ChanceLevel, Significance, Significances
from nofluke.plot.panels import check_kind, legend_above, make_axes, make_panels, one_legend
from nofluke.plot.style import (
    COLUMN,
    NARROW,
    SMALL,
    AxesArray,
    band,
    colour,
    few_ticks,
    fitted,
    inches,
    ink,
    label,
    points_of,
    tidy,
)
from nofluke.text.numbers import p_is, show_p

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def chance_level(level: ChanceLevel, ax: Axes | None = None) -> Axes:
    """Draw what chance gives in a metric, what a detector must exceed, and the perfect value if it is near.

    Parameters
    ----------
    level : ChanceLevel
        From :func:`nofluke.chance`.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes

    See Also
    --------
    nofluke.chance : makes the level.
    nofluke.plot.significance : with the value of a detector.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import nofluke as nf
    >>> level = nf.chance("auc-roc", [0, 0, 1, 1, 0, 0, 0, 0] * 5, n_resamples=200, rng=1)
    >>> nf.plot.chance_level(level, Figure().subplots()).get_xlabel()
    'auc-roc'
    """
    check_kind("level", level, ChanceLevel, "nf.chance")
    ax = _draw(level, make_axes(ax), None, level.critical_value)
    return _with_legend(ax)


def significance(result: Significance, ax: Axes | None = None) -> Axes:
    """Draw what chance gives in a metric, the observed value, and the perfect one if it is near.

    Parameters
    ----------
    result : Significance
        From :func:`nofluke.significance`.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes

    See Also
    --------
    nofluke.significance : makes the result.
    nofluke.plot.significances : several metrics.
    nofluke.plot.chance_level : without a detector.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import nofluke as nf
    >>> truth, scores = [0] * 10 + [1] * 4 + [0] * 6, [0.1] * 9 + [0.9] * 3 + [0.1] * 8
    >>> result = nf.significance("auc-roc", truth, scores, null="circular-shift")
    >>> ax = nf.plot.significance(result, Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['chance, circular-shift', 'perfect 1', 'observed 0.719, p = 0.2']
    """
    check_kind("result", result, Significance, "nf.significance")
    return _with_legend(_draw_observed(result, make_axes(ax), f"observed {_told(result)}"))


def _draw_observed(result: Significance, ax: Axes, name: str) -> Axes:
    """What chance gives, and the value that was observed, by this name."""
    _draw(result, ax, result.value)
    if np.isfinite(result.value):
        ax.axvline(result.value, color=colour("observed"), linewidth=2, label=name)
    return ax


def _told(result: Significance) -> str:
    return f"{result.shown(result.value)}, {p_is(result.pvalue)}"


def significances(results: Significances, ax: Any = None) -> AxesArray:
    """Draw a panel for each of several metrics.

    Parameters
    ----------
    results : Significances
        From :func:`nofluke.significance` with a list of metrics.
    ax : array of matplotlib Axes, optional
        As many as there are metrics; by default a new figure.

    Returns
    -------
    array of matplotlib Axes

    See Also
    --------
    nofluke.significance : makes the results.
    nofluke.plot.significance : one metric.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import nofluke as nf
    >>> truth, scores = [0] * 10 + [1] * 4 + [0] * 6, [0.1] * 9 + [0.9] * 3 + [0.1] * 8
    >>> found = nf.significance(["auc-roc", "average-precision"], truth, scores, null="circular-shift")
    >>> axes = nf.plot.significances(found)
    >>> len(axes)
    2
    >>> plt.close("all")
    """
    check_kind("results", results, Significances, "nf.significance with a list of metrics")
    n = len(results)
    columns = 1 if n == 1 else 2 if n <= 4 else 3
    rows = -(-n // columns)
    if ax is None:
        every = make_panels(None, (rows, columns), width=4.2, height=2.8).ravel()
        for spare in every[n:]:
            spare.remove()
        ax = every[:n]
    panels = make_panels(ax, (n,), width=4.2, height=2.8)
    for panel, result, corrected in zip(panels, results, results.corrected.tolist(), strict=True):
        # what differs between panels stands in their titles, not in the legend of all
        _or_undefined(_draw_observed(result, panel, "observed"))
        size = points_of("medium", panel, SMALL, COLUMN)
        told = f"{_told(result)}, corrected {show_p(corrected)}"
        panel.set_title(fitted(told, 1.1 * inches(panel)[0], size), fontsize=size)
    one_legend(panels)
    return panels


def _with_legend(ax: Axes) -> Axes:
    """A legend, or a word where there is nothing to draw."""
    legend_above(_or_undefined(ax))
    return ax


def _or_undefined(ax: Axes) -> Axes:
    if not ax.get_legend_handles_labels()[0]:
        ax.text(0.5, 0.5, "undefined", transform=ax.transAxes, ha="center", va="center")
    return ax


def _draw(level: BesideChance, ax: Axes, value: float | None, bar: float | None = None) -> Axes:
    """What chance gives as bars, the level that has to be exceeded, and the perfect value if it is near."""
    heights, edges = level.chance.bars()
    ends = [] if value is None or not np.isfinite(value) else [value]
    if len(heights):
        ax.stairs(
            heights,
            edges,
            fill=True,
            **band(0.35),
            label=f"chance, {level.choice.model.text}",
        )
        ax.set_ylim(0, 1.05 * heights.max())
        ends += [float(edges[0]), float(edges[-1])]
    if bar is not None:
        name = f"to exceed at the {level.alpha:g} level: {level.shown(bar)}"
        ax.axvline(bar, color=ink(), linestyle="--", linewidth=1.2, label=name)
        ends.append(bar)
    perfect = level.metric.perfect
    if perfect is not None and ends and is_near(max(ends), perfect):
        ends.append(perfect)
        name = f"perfect {level.shown(perfect)}"
        ax.axvline(perfect, color=ink(), linestyle=":", linewidth=0.8, label=name)
    if ends:
        pad = 0.04 * (max(ends) - min(ends)) or 0.05 * max(abs(ends[0]), 1.0)
        ax.set_xlim(min(ends) - pad, max(ends) + pad)
    tidy(ax)
    few_ticks(ax, most=2 if inches(ax)[0] < 0.6 * NARROW else 7)
    label(ax, level.name, level.chance.height)
    return ax


def is_near(value: float, perfect: float) -> bool:
    """Whether a value is near the perfect one, or beyond: the axis then has both, so that one sees how near."""
    return value > perfect - 0.15 * max(abs(perfect), 1.0)
