"""One figure: recall and precision of each detector, and what chance gives of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from nofluke.plot.style import PALETTE, tidy
from nofluke.reproduce.drawing import Drawn, rendered
from nofluke.reproduce.nab.study import NULLS, NabStudy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WORDS = {"permutation": "chance by permutation", "auto": "chance by the null that fits the data"}
_MARKERS = {"permutation": "|", "auto": "o"}


def draw(study: NabStudy) -> Drawn:
    """The figure, in every format."""
    height = 1.3 + 0.2 * len(study.detectors)
    return rendered("figure-1", lambda figure: _dots(figure, study), height)


def _dots(figure: Figure, study: NabStudy) -> None:
    axes: Any = figure.subplots(1, 2, sharey=True)
    for ax, measure in zip(axes, ("recall", "precision"), strict=True):
        for i, name in enumerate(study.detectors):
            rows = {null: study.rows[null][name].measure(measure) for null in NULLS}
            value = rows["auto"].value
            if math.isnan(value):
                continue
            chances = [row.expected for row in rows.values() if not math.isnan(row.expected)]
            ax.plot([min([value, *chances]), value], [i, i], color=PALETTE["observed"], linewidth=1, alpha=0.5)
            ax.plot([value], [i], "o", color=PALETTE["observed"], markersize=5, label="detector" if i == 0 else None)
            for null, row in rows.items():
                ax.plot(
                    [row.expected],
                    [i],
                    _MARKERS[null],
                    color=PALETTE["chance"],
                    markerfacecolor="none",
                    markersize=7 if null == "permutation" else 5,
                    markeredgewidth=1.6,
                    label=_WORDS[null] if i == 0 else None,
                )
        ax.set_xlim(-0.02, 1.02)
        ax.set_xlabel(measure)
        tidy(ax)
        ax.grid(False, axis="y")
    axes[0].set_yticks(range(len(study.detectors)), study.detectors)
    axes[0].invert_yaxis()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False, fontsize="small")
