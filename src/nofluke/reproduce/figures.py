"""The figures: the paper's four, and four that the exact null distributions add."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from nofluke.plot.curves import sweep
from nofluke.plot.style import PALETTE, SERIES, legend, tidy
from nofluke.reproduce.drawing import Drawn, is_narrow, key_above, pair, rendered
from nofluke.reproduce.study import QUANTILES, SIDES, THE_QUANTILE, THE_TOLERANCE, TOLERANCES, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# ---- figures 5 to 8: what the exact null distributions add


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


# ---- figures 1 to 4: the paper's, with the exact laws in them


def example(figure: Figure, study: Study) -> None:
    """Figure 1: input, score and ground truth over one axis."""
    top, middle, bottom = figure.subplots(3, 1, sharex=True, height_ratios=(3, 3, 1))
    days = np.arange(len(study.scores)) if study.quakes.days is None else study.quakes.days
    top.plot(days, study.quakes.counts, color=PALETTE["ink"], linewidth=0.6)
    top.set_ylabel("tweets a day")
    top.set_title("input sequence", loc="left")
    top.set_ylim(0, 1000)  # as in the paper: the few larger days would flatten all others
    above = int((study.quakes.counts > 1000).sum())
    if above:
        top.text(
            1, 1.02, f"{above} days above 1,000 are cut", transform=top.transAxes, ha="right", va="bottom", fontsize=8
        )
    middle.plot(days, study.scores, color=PALETTE["ink"], linewidth=0.6)
    threshold = float(study.curve.thresholds[THE_QUANTILE])
    middle.axhline(threshold, color=PALETTE["observed"], linestyle="--", linewidth=1)
    middle.set_ylabel("score")
    score = "anomaly score: energy transient, 3 days over 14"
    between = "\n" if is_narrow(figure) else " "
    middle.set_title(f"{score}{between}(dashed: .9-quantile, {threshold:.3f})", loc="left")
    bottom.eventplot([days[study.quakes.truth]], colors=PALETTE["chance"], linewidths=0.7)
    bottom.set_yticks([])
    bottom.set_title(f"ground truth: {study.curve.n_events} severe earthquakes", loc="left")
    bottom.set_xlabel("day" if study.quakes.days is None else "")
    bottom.set_xlim(days[0], days[-1])
    for ax in (top, middle, bottom):
        tidy(ax, grid=False)


def by_threshold(figure: Figure, study: Study) -> None:
    """Figure 2: recall and precision by threshold and tolerance."""
    axes = sweep(study.curve, pair(figure), chance="none")[0]
    for ax in axes:
        for line, tolerance in zip(ax.get_lines(), TOLERANCES, strict=True):
            line.set_label(f"δ = {tolerance}")
    axes[0].set_ylabel(r"recall $R_\delta$")
    axes[1].set_ylabel(r"precision $P_\delta$")
    legend(axes[0], "lower left")
    legend(axes[1], "upper left")


def against_chance(figure: Figure, study: Study) -> None:
    """Figure 3: permuted sequences, the exact band of chance, and the observed curve."""
    axes = figure.subplots(4, 2, sharex=True, sharey=True)
    mean, low, high = ({side: study.chance(side, name) for side in SIDES} for name in ("mean", "low", "high"))
    for d, tolerance in enumerate(TOLERANCES):
        for ax, side in zip(axes[d], SIDES, strict=True):
            drawn = study.permuted(side)[:, d]
            # one line with breaks: hairs that cross do not darken into a blot
            at, hairs = (
                np.pad(a, ((0, 0), (0, 1)), constant_values=np.nan)
                for a in (np.tile(QUANTILES, (len(drawn), 1)), drawn)
            )
            ax.plot(
                at.ravel(),
                hairs.ravel(),
                color=PALETTE["simulated"],
                linewidth=0.3,
                label=f"{len(drawn)} permuted sequences",
            )
            for ends in (low, high):  # outlined, not filled: a filled band would drown the hairs
                ax.plot(QUANTILES, ends[side][d], color=PALETTE["chance"], linewidth=1, label="chance, 95% (exact)")
            ax.plot(
                QUANTILES, mean[side][d], color=PALETTE["chance"], linestyle="--", linewidth=1, label="chance, mean"
            )
            ax.plot(QUANTILES, study.measure(side)[d], color=PALETTE["observed"], linewidth=1.8, label="observed")
            ax.set_ylabel(rf"{side} ${'R' if side == 'recall' else 'P'}_{{{tolerance}}}$")
            ax.set_ylim(0, 1.02)
            ax.set_xlim(0, QUANTILES[-1])
            tidy(ax)
    for ax in axes[-1]:
        ax.set_xlabel("threshold (quantile)")
    by_label = dict(zip(*reversed(axes[0, 0].get_legend_handles_labels()), strict=True))  # the band has two lines
    key = key_above(figure, list(by_label.values()), list(by_label), 4)
    key.get_lines()[0].set_linewidth(1.5)  # or nobody would see it in the key


def null_distributions(figure: Figure, study: Study) -> None:
    """Figure 4: the null distributions of both hits: simulated, exact, and what the literature takes them for."""
    titles = {"recall": "PAδ-AA (unnormalised recall)", "precision": "PA-AAδ (unnormalised precision)"}
    panels = pair(figure, **({} if is_narrow(figure) else {"sharey": True}))
    for ax, side in zip(panels, SIDES, strict=True):
        test = getattr(study.result, f"{side}_test")
        laws: list[tuple[Any, str, Any, float, str]] = [
            (study.simulated(side), PALETTE["simulated"], "-", 3.2, f"simulated ({study.permutations:,})"),
            (test.law, PALETTE["chance"], "-", 1.2, "exact"),
            (study.fitted_binomial(side), PALETTE["binomial"], "--", 1.2, "binomial, fitted"),
            (study.literature.donges[side], *SERIES[3], 1.4, "binomial, Donges et al."),
        ]
        if side == "recall":
            laws.append((study.literature.extreme, *SERIES[2], 1.4, "binomial, extreme values"))
        likely = np.flatnonzero(np.any([law.table > 1e-5 for law, *_ in laws], axis=0))
        hits = np.arange(likely[0], max(likely[-1], test.hits) + 2)
        for law, color, style, width, label in laws:
            below = np.minimum(np.cumsum(law.table), 1)[np.minimum(hits, law.size)]
            ax.step(hits, below, where="post", color=color, linestyle=style, linewidth=width, label=label)
        ax.axvline(test.hits, color=PALETTE["observed"], linewidth=1.8, label="observed")
        ax.annotate(
            f"{test.hits} ", (test.hits, 0.5), color=PALETTE["observed"], ha="right", va="center", fontweight="bold"
        )
        ax.set_xlabel(titles[side])
        ax.set_ylim(0, 1.02)
        tidy(ax)
        if side == "recall" or is_narrow(figure):
            ax.set_ylabel("cumulative probability")
    key_above(figure, *figure.axes[0].get_legend_handles_labels(), 3)


# ---- the figures: the paper's four, and four that the exact null distributions add

FIGURES: dict[str, tuple[Callable[[Figure, Study], None], float, float]] = {
    "figure-1": (example, 4.2, 4.2),
    "figure-2": (by_threshold, 2.9, 5.2),
    "figure-3": (against_chance, 8.2, 7.4),
    "figure-4": (null_distributions, 3.3, 5.8),
    "figure-5": (dispersion, 3.0, 3.2),
    "figure-6": (pvalues, 3.4, 3.4),
    "figure-7": (explained, 3.2, 5.4),
    "figure-8": (lag, 3.2, 5.2),
}
"""How each figure is drawn, and its height in inches: on paper, and on a telephone."""


def draw(name: str, study: Study) -> Drawn:
    """Draw one figure and render it as SVG, PDF and PNG."""
    make, height, narrow = FIGURES[name]
    note = "simulated data" if study.quakes.simulated else ""
    return rendered(name, lambda figure: make(figure, study), height, note, narrow=narrow)
