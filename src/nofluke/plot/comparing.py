"""Several detectors compared: their values beside chance, and how much the best exceeds each of the others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from nofluke.inference.comparison import NAMES, Comparison
from nofluke.inference.units import MEASURES
from nofluke.plain import check_word
from nofluke.plot.legends import legend_above
from nofluke.plot.panels import check_kind, make_panels, names_beside, short
from nofluke.plot.study import dots, luck_beside
from nofluke.plot.style import AxesArray, few_ticks, inches, ink, label, tidy
from nofluke.text.numbers import p_is

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def compare(comparison: Comparison, ax: Any = None, *, measure: str = "f1") -> AxesArray:
    """Draw each detector's value with its interval beside chance, and the differences to the best with their p-values.

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
        Values, best F1 first, with what chance would score in place of each detector under the null that its data allow; and the best
        less each of the others, with p-values corrected for all pairs. Nothing is drawn where a value is undefined, and no
        interval where there is none.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import nofluke as nf
    >>> quakes = nf.datasets.simulate_quakes(rng=0)
    >>> scores = {"energy": nf.detectors.energy_transient(quakes.counts), "counts": quakes.counts}
    >>> found = nf.compare(quakes.truth, scores, quantile=0.9, tolerance=2)
    >>> left, right = nf.plot.compare(found, Figure().subplots(1, 2), measure="recall")
    >>> left.get_xlabel(), [text.get_text() for text in right.texts]
    ('recall', ['p = 0.18'])
    """
    check_kind("comparison", comparison, Comparison, "nofluke.compare")
    check_word(measure, "measure", MEASURES)
    panels = make_panels(ax, (2,), width=4.8, height=1.4 + 0.28 * len(comparison.detectors))
    _values(panels[0], comparison, measure)
    _differences(panels[1], comparison, measure)
    return panels


def _values(ax: Axes, comparison: Comparison, measure: str) -> None:
    """A row for each detector, from above."""
    m = MEASURES.index(measure)
    value = comparison.values[:, m]
    ends = [tuple(one)[m] for one in comparison.intervals]
    low, high = (np.array([getattr(one, end) for one in ends], dtype=np.float64) for end in ("low", "high"))
    handles = [dots(ax, value, low, high, name=f"{NAMES[measure]}, {100 * comparison.level:g}% interval")]
    expected, std = np.array(comparison.chance(measure)).T
    if not np.isnan(expected).all():
        handles.append(luck_beside(ax, expected, std))
    seen = np.nan_to_num([value, high, expected + 2 * std]).max(initial=0.0)
    ax.set_xlim(0, min(max(1.05 * float(seen), 0.05), 1.02))
    _rows(ax, list(comparison.detectors), NAMES[measure], handles)


def _differences(ax: Axes, comparison: Comparison, measure: str) -> None:
    """The best less each other, with p at the right."""
    best = comparison.best or comparison.detectors[0]
    others = [name for name in comparison.detectors if name != best]
    found = [comparison.difference(best, name, measure) for name in others]
    value = np.array([one.value for one in found])
    low, high = (np.array([math.nan if end is None else end for end in ends]) for ends in _ends(found))
    corrected = "" if comparison.n_pairs == 1 else f"; p corrected for {comparison.n_pairs} pairs"
    handles = [dots(ax, value, low, high, name=f"difference, {100 * comparison.level:g}% interval{corrected}")]
    ax.axvline(0, color=ink(), linewidth=0.8, zorder=0.5)
    size = 7 if inches(ax)[0] < 3 else 9
    for row, one in enumerate(found):
        told = "not tested" if math.isnan(one.corrected) else p_is(one.corrected)
        ax.text(1.02, row, told, transform=ax.get_yaxis_transform(), va="center", fontsize=size)
    _rows(ax, others, f"{NAMES[measure]} of {short(best, 16)} less the other's", handles)


def _ends(found: list[Any]) -> tuple[list[float | None], list[float | None]]:
    return [one.low for one in found], [one.high for one in found]


def _rows(ax: Axes, names: list[str], title: str, handles: list[Any]) -> None:
    ax.set_ylim(len(names) - 0.5, -0.5)
    tidy(ax)
    few_ticks(ax, which="x")
    ax.grid(visible=False, axis="y")
    names_beside(ax, names)
    label(ax, title)
    legend_above(ax, handles, loc="lower right")
