"""Figures 5 to 8: what the exact null distributions add."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nofluke.plot.style import PALETTE, SERIES, legend, tidy
from nofluke.reproduce.drawing import key_above, pair
from nofluke.reproduce.study import QUANTILES, SIDES, THE_QUANTILE, THE_TOLERANCE, TOLERANCES, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def dispersion(figure: Figure, study: Study) -> None:
    """Figure 5: variance over the binomial's, exact, for all cells."""
    ax = figure.subplots()
    for (color, style), tolerance, values in zip(SERIES, TOLERANCES, study.dispersion("precision"), strict=False):
        ax.plot(QUANTILES, values, color=color, linestyle=style, linewidth=2, label=f"precision, δ = {tolerance}")
    recall = np.nanmedian(study.dispersion("recall"))
    ax.axhline(recall, color=PALETTE["ink"], linestyle=":", linewidth=1.4, label="recall, every δ and threshold")
    ax.axhline(1, color=PALETTE["ink"], linewidth=0.8)
    ax.text(0.985, 1, "binomial", ha="right", va="bottom", fontsize=8)
    ax.set_xlim(0, 0.985)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("threshold (quantile)")
    ax.set_ylabel("variance of chance's hits\nover the binomial's")
    tidy(ax)
    key_above(figure, *ax.get_legend_handles_labels(), 3)


def pvalues(figure: Figure, study: Study) -> None:
    """Figure 6: the exact p-value of every cell, and what remains after looking at all of them."""
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    axes = figure.subplots(2, 1, sharex=True)
    logs = {side: -np.log10(getattr(study.curve.chance, side).pvalue) for side in SIDES}
    top = max(float(values.max()) for values in logs.values())
    edges = np.append(QUANTILES, 1.0) - 0.01
    # not quite white and black, which a dark page turns into its own ground and ink
    mark: dict[str, Any] = {"marker": "D", "markersize": 6, "linestyle": "none", "mfc": "#fefefe", "mec": "#010101"}
    for ax, side in zip(axes, SIDES, strict=True):
        mesh = ax.pcolormesh(edges, np.arange(5) - 0.5, logs[side], cmap="cividis", vmin=0, vmax=top)
        mesh.set_edgecolor("face")  # or some viewers show seams between cells
        chosen = getattr(study.familywise, f"{side}_adjusted") <= study.familywise.alpha
        ax.add_collection(LineCollection(_outlines(chosen, edges), colors=PALETTE["observed"], linewidths=1.6))
        ax.plot(QUANTILES[THE_QUANTILE], THE_TOLERANCE, **mark)
        ax.set_yticks(range(4), [f"δ = {tolerance}" for tolerance in TOLERANCES])
        ax.set_title(side, loc="left")
    axes[-1].set_xlabel("threshold (quantile)")
    figure.colorbar(mesh, ax=axes, label="−log₁₀ p, exact", pad=0.02)
    outline = Line2D([], [], color=PALETTE["observed"], linewidth=1.6)
    labels = ["significant at .05, corrected for all cells", "the paper's cell: δ = 2, .9-quantile"]
    key_above(figure, [outline, Line2D([], [], **mark)], labels, 2, narrow=1)


def _outlines(chosen: Any, edges: Any) -> list[list[tuple[float, float]]]:
    """Segments around the chosen cells."""
    padded = np.pad(chosen, 1)
    segments: list[list[tuple[float, float]]] = [
        [(edges[k], d - 0.5), (edges[k], d + 0.5)]
        for d in range(chosen.shape[0])
        for k in np.flatnonzero(padded[d + 1, 1:] != padded[d + 1, :-1])
    ]
    segments += [
        [(edges[k], d - 0.5), (edges[k + 1], d - 0.5)]
        for k in range(chosen.shape[1])
        for d in np.flatnonzero(padded[1:, k + 1] != padded[:-1, k + 1])
    ]
    return segments


def explained(figure: Figure, study: Study) -> None:
    """Figure 7: how much of each measure chance alone explains."""
    places = np.arange(len(TOLERANCES))
    for ax, side in zip(pair(figure, sharey=True), SIDES, strict=True):
        observed, chance = (values[:, THE_QUANTILE] for values in (study.measure(side), study.chance(side)))
        ax.bar(places, chance, 0.62, color=PALETTE["chance"], label="expected by chance")
        ax.bar(
            places,
            observed - chance,
            0.62,
            bottom=chance,
            facecolor="none",
            edgecolor=PALETTE["observed"],
            hatch="////",
            linewidth=1.2,
            label="above chance",
        )
        for place, share, top in zip(places, chance / observed, observed, strict=True):
            ax.text(place, top + 0.015, f"{top:.2f}\n{share:.0%} chance", ha="center", va="bottom", fontsize=8)
        ax.set_xticks(places, [f"δ = {tolerance}" for tolerance in TOLERANCES])
        ax.set_xlim(-0.65, len(places) - 0.35)
        ax.set_title(side, loc="left")
        ax.set_ylim(0, 1)
        tidy(ax)
    figure.axes[0].set_ylabel("measure at the .9-quantile")
    legend(figure.axes[0], "upper left")


def lag(figure: Figure, study: Study) -> None:
    """Figure 8: hits after moving the predictions in time."""
    shifts = [lag.shift for lag in study.lags]
    for ax, side in zip(pair(figure), SIDES, strict=True):
        nulls = [getattr(lag.result, f"{side}_test").law for lag in study.lags]
        low, high = np.array([null.quantile((0.025, 0.975)) for null in nulls]).T
        ax.fill_between(shifts, low, high, color=PALETTE["chance"], alpha=0.3, linewidth=0, label="chance, 95% (exact)")
        ax.plot(
            shifts,
            [null.mean for null in nulls],
            color=PALETTE["chance"],
            linestyle="--",
            linewidth=1,
            label="chance, mean",
        )
        ax.plot(
            shifts,
            [lag.hits(side) for lag in study.lags],
            color=PALETTE["observed"],
            marker="o",
            markersize=4,
            label="observed",
        )
        ax.axvline(0, color=PALETTE["ink"], linewidth=0.8)
        ax.set_title(f"hits of {side}", loc="left")
        ax.set_ylim(bottom=0)
        ax.set_xticks(shifts[1::2])
        ax.set_xlabel("predictions moved by (days)")
        tidy(ax)
    key_above(
        figure, *figure.axes[0].get_legend_handles_labels(), 3
    )  # above: within a panel it would cross the line at 0
