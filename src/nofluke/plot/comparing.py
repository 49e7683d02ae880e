"""Several detectors compared: their values beside chance, and how much the best exceeds each of the others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.inference.compare import NAMES, Comparison, Difference
from nofluke.inference.interval import MEASURES
from nofluke.plain import check_word
from nofluke.plot.legends import legend_over, stacked
from nofluke.plot.panels import check_kind, make_panels, names_beside, short
from nofluke.plot.study import dots, luck_beside
from nofluke.plot.style import NARROW, SMALLER, AxesArray, few_ticks, fitted, inches, ink, label, tidy
from nofluke.text.numbers import p_is

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def compare(comparison: Comparison, ax: Any = None, *, measure: str = "f1") -> AxesArray:
    """Draw each detector's value with its interval and chance, and the differences from the best with p-values.

    Parameters
    ----------
    comparison : Comparison
        From :func:`nofluke.compare`; ``comparison.plot()`` is the same.
    ax : two matplotlib Axes, optional
        Where to draw; by default a new figure.
    measure : {"f1", "precision", "recall"}
        What is compared.

    Returns
    -------
    array of two matplotlib Axes
        Values, best F1 first, with what chance would score instead of each detector under the null that fits its data;
        and the best minus each of the others, with p-values corrected for all pairs. Nothing is drawn where a value is
        undefined, and no interval where there is none. Panels side by side share the names; the row of the best has no
        difference.

    See Also
    --------
    nofluke.compare : makes the comparison.
    nofluke.plot.leaderboard : pooled over many series.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import nofluke as nf
    >>> quakes = nf.datasets.simulate_quakes(rng=0)
    >>> scores = {"energy": nf.detectors.energy_transient(quakes.counts), "counts": quakes.counts}
    >>> found = nf.compare(quakes.truth, scores, quantile=0.9, tolerance=2)
    >>> left, right = nf.plot.compare(found, Figure().subplots(1, 2), measure="recall")
    >>> left.get_xlabel(), [text.get_text() for text in right.texts]
    ('recall', ['p = 0.11'])
    """
    check_kind("comparison", comparison, Comparison, "nofluke.compare")
    check_word(measure, "measure", MEASURES)
    panels = make_panels(ax, (2,), width=4.8, height=1.4 + 0.28 * len(comparison.detectors))
    beside = not stacked(panels)
    handles = _values(panels[0], comparison, measure)
    _differences(panels[1], comparison, measure, beside)
    if beside:
        panels[1].set_yticklabels([])  # the same as those of the first
    legend_over(panels, handles)
    return panels


def _values(ax: Axes, comparison: Comparison, measure: str) -> list[Any]:
    """A row for each detector, from above; and what a legend shows."""
    m = MEASURES.index(measure)
    value = comparison.values[:, m]
    ends = [tuple(one)[m] for one in comparison.intervals]
    low, high = (np.array([getattr(one, end) for one in ends], dtype=np.float64) for end in ("low", "high"))
    handles = [
        dots(ax, value, low, high, name=f"{NAMES[measure]} or its difference, {100 * comparison.level:g}% interval")
    ]
    expected, std = np.array(comparison.chance(measure)).T
    if not np.isnan(expected).all():
        handles.append(luck_beside(ax, expected, std))
    seen = np.nan_to_num([value, high, expected + 2 * std]).max(initial=0.0)
    ax.set_xlim(0, min(max(1.05 * float(seen), 0.05), 1.02))
    _rows(ax, list(comparison.detectors), NAMES[measure])
    return handles


def _differences(ax: Axes, comparison: Comparison, measure: str, aligned: bool) -> None:
    """The best less each other, with p at the right, in rows of their own or in those of the values."""
    best = comparison.best or comparison.detectors[0]
    names = [name for name in comparison.detectors if aligned or name != best]
    found = [None if name == best else comparison.difference(best, name, measure) for name in names]
    value, low, high = (_each(found, end) for end in ("value", "low", "high"))
    corrected = "" if comparison.n_pairs == 1 else f"p corrected for {comparison.n_pairs} pairs"
    dots(ax, value, low, high)
    ax.axvline(0, color=ink(), linewidth=0.8, zorder=0.5)
    size = 7 if inches(ax)[0] < 3 else 9
    for row, one in enumerate(found):
        if one is not None:
            told = "not tested" if math.isnan(one.corrected) else p_is(one.corrected)
            ax.text(1.02, row, told, transform=ax.get_yaxis_transform(), va="center", fontsize=size)
    _rows(ax, names, f"{NAMES[measure]} of {short(best, 16)} minus the other's")
    if corrected:
        ax.set_title(fitted(corrected, inches(ax)[0], SMALLER), fontsize=SMALLER)


def _each(found: list[Difference | None], name: str) -> FloatArray:
    """An attribute of each difference; NaN where there is none."""
    return np.array([math.nan if (value := getattr(one, name, None)) is None else value for one in found])


def _rows(ax: Axes, names: list[str], title: str) -> None:
    ax.set_ylim(len(names) - 0.5, -0.5)
    tidy(ax)
    few_ticks(ax, which="x", most=2 if inches(ax)[0] < 0.6 * NARROW else 7)
    ax.grid(visible=False, axis="y")
    names_beside(ax, names)
    label(ax, title)
