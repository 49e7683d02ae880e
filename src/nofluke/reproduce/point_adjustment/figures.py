"""Two figures: published values beside random ones, and what else chance may do."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.plot.style import PALETTE, SERIES, tidy
from nofluke.reproduce.drawing import Drawn, rendered
from nofluke.reproduce.point_adjustment.study import AdjustmentStudy, Case

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BIN = 0.0025
LEFT = 0.7  # of the first figure, unless random scores reach less
MARKERS = {"random": "o", "memory-0.9": "s", "memory-0.99": "D", "fixed-share": "^", "left-out": "v"}


def draw(study: AdjustmentStudy) -> dict[str, Drawn]:
    """Both figures, in every format."""
    return {
        "figure-1": rendered("figure-1", lambda figure: _against_random(figure, study), 5.6),
        "figure-2": rendered("figure-2", lambda figure: _otherwise(figure, study), 4.6),
    }


def histogram(case: Case, left: float) -> tuple[FloatArray, IntArray]:
    """Edges and counts of the random values."""
    edges = np.linspace(left, 1, round((1 - left) / BIN) + 1)
    return edges, np.histogram(case.random.values, edges)[0]


def left_edge(study: AdjustmentStudy) -> float:
    """Where the axis begins."""
    least = min(float(case.random.values.min()) for case in study.cases)
    return min(LEFT, math.floor(least * 10) / 10)


def _against_random(figure: Figure, study: AdjustmentStudy) -> None:
    """Figure 1: the distribution of random scores' best values, and the published one as a line."""
    left = left_edge(study)
    axes = np.atleast_1d(figure.subplots(len(study.cases), 1, sharex=True))
    for ax, case in zip(axes, study.cases, strict=True):
        edges, counts = histogram(case, left)
        ax.stairs(counts / counts.max(), edges, fill=True, color=PALETTE["chance"], alpha=0.75, label="random scores")
        ax.axvline(case.published, color=PALETTE["observed"], linewidth=2, label="published value")
        ax.set_ylim(0, 1.12)
        ax.set_xlim(left, 1)
        ax.set_yticks([])
        ax.set_title(f"{case.name}: published {case.published}, {reached_in_words(case)}", loc="left")
        tidy(ax)
        ax.spines["left"].set_visible(False)
    axes[-1].set_xlabel("best point-adjusted F1")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False, fontsize="small")


def reached_in_words(case: Case) -> str:
    """Which share of the random scores reach the published value."""
    reached, n = case.reached(), case.random.n_resamples
    if reached == 0:
        return f"reached by none of {n:,} random scores"
    return f"reached by {100 * reached / n:.2g}% of random scores"


def _otherwise(figure: Figure, study: AdjustmentStudy) -> None:
    """Figure 2: mean and band of chance by what is assumed, and the published value as a line over all."""
    ax: Any = figure.subplots()
    ticks, place, colours = [], 0.0, dict(zip(MARKERS, (PALETTE["chance"], *(c for c, _ in SERIES)), strict=False))
    for case in study.cases:
        top = place
        for key, words, level in rows_of(case):
            low, high = level.band or (math.nan, math.nan)
            how = {"color": colours[key], "marker": MARKERS[key], "markersize": 5, "linestyle": "none"}
            ax.plot([low, high], [place, place], color=colours[key], linewidth=2)
            ax.plot(
                [level.expected],
                [place],
                **how,
                label=words if words not in ax.get_legend_handles_labels()[1] else None,
            )
            place += 1
        ax.plot([case.published] * 2, [top - 0.45, place - 0.55], color=PALETTE["observed"], linewidth=2.2)
        ticks.append((top + place - 1) / 2)
        place += 0.8
    ax.plot([], [], color=PALETTE["observed"], linewidth=2.2, label="published value")
    ax.set_yticks(ticks, [case.name for case in study.cases])
    ax.tick_params(axis="y", length=0)
    ax.invert_yaxis()
    ax.set_xlim(right=1)
    ax.set_xlabel("point-adjusted F1: mean and 95% of the draws")
    tidy(ax)
    ax.grid(False, axis="y")
    figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize="small")


def rows_of(case: Case) -> list[tuple[str, str, Any]]:
    """Key, words and chance level: random scores, then the variants."""
    return [("random", "independent", case.random)] + [
        (variant.key, variant.words, variant.level) for variant in case.variants
    ]
