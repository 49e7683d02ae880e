"""The paper's figures, and the numbers behind them as CSV."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from nofluke.arrays import AnyArray
from nofluke.inference.chance import ChanceTest
from nofluke.measures.confusion import Confusion
from nofluke.plot.style import PALETTE, SERIES, above_chance, legend, tidy
from nofluke.reproduce.page import Figures, Records, Row, Rows, drawn_on, is_narrow, key_above, pair
from nofluke.reproduce.study import QUANTILES, READINGS, SIDES, THE_QUANTILE, THE_TOLERANCE, TOLERANCES, Study, test_of

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
    key_above(figure, drawn_on(ax), 3)


def pvalues(figure: Figure, study: Study) -> None:
    """Figure 6: the exact p-value of every cell, and what remains after looking at all of them."""
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D
    from matplotlib.patheffects import Normal, Stroke

    axes = figure.subplots(2, 1, sharex=True)
    logs = {side: -np.log10(getattr(study.curve.chance, side).pvalue) for side in SIDES}
    top = max(float(values.max()) for values in logs.values())
    edges = np.append(QUANTILES, 1.0) - 0.01
    # not quite white and black, which a dark page turns into its own ground and ink
    mark: dict[str, Any] = {"marker": "D", "markersize": 6, "linestyle": "none", "mfc": "#fefefe", "mec": "#010101"}
    halo = [Stroke(linewidth=3.2, foreground="#fefefe"), Normal()]
    for ax, side in zip(axes, SIDES, strict=True):
        mesh = ax.pcolormesh(edges, np.arange(5) - 0.5, logs[side], cmap=above_chance(), vmin=0, vmax=top)
        mesh.set_edgecolor("face")  # or some viewers show seams between cells
        chosen = getattr(study.familywise, f"{side}_adjusted") <= study.familywise.alpha
        ax.add_collection(LineCollection(_outlines(chosen, edges), colors="#010101", linewidths=1.6, path_effects=halo))
        ax.plot(QUANTILES[THE_QUANTILE], THE_TOLERANCE, **mark)
        ax.set_yticks(range(4), [f"δ = {tolerance}" for tolerance in TOLERANCES])
        ax.set_title(side, loc="left")
    axes[-1].set_xlabel("threshold (quantile)")
    figure.colorbar(mesh, ax=axes, label="−log₁₀ p, exact", pad=0.02)
    marks = {
        "significant at .05, corrected for all cells": Line2D(
            [], [], color="#010101", linewidth=1.6, path_effects=halo
        ),
        "the paper's cell: δ = 2, .9-quantile": Line2D([], [], **mark),
    }
    key_above(figure, marks, 2, narrow=1)


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
    shifts = list(study.lags)
    for ax, side in zip(pair(figure), SIDES, strict=True):
        tests = [test_of(result, side) for result in study.lags.values()]
        low, high = np.array([test.law.quantile((0.025, 0.975)) for test in tests]).T
        mean, hits = [test.law.mean for test in tests], [test.hits for test in tests]
        ax.fill_between(shifts, low, high, color=PALETTE["chance"], alpha=0.3, linewidth=0, label="chance, 95% (exact)")
        ax.plot(shifts, mean, color=PALETTE["chance"], linestyle="--", linewidth=1, label="chance, mean")
        ax.plot(shifts, hits, color=PALETTE["observed"], marker="o", markersize=4, label="observed")
        ax.axvline(0, color=PALETTE["ink"], linewidth=0.8)
        ax.set_title(f"hits of {side}", loc="left")
        ax.set_ylim(bottom=0)
        ax.set_xticks(shifts[1::2])
        ax.set_xlabel("predictions moved by (days)")
        tidy(ax)
    key_above(figure, drawn_on(figure.axes[0]), 3)  # within a panel it would cross the line at 0


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
    bottom.eventplot([days[study.quakes.truth]], colors=PALETTE["ink"], linewidths=0.7)
    bottom.set_yticks([])
    bottom.set_title(f"ground truth: {study.curve.n_events} severe earthquakes", loc="left")
    bottom.set_xlabel("day" if study.quakes.days is None else "")
    bottom.set_xlim(days[0], days[-1])
    for ax in (top, middle, bottom):
        tidy(ax, grid=False)


def by_threshold(figure: Figure, study: Study) -> None:
    """Figure 2: recall and precision by threshold and tolerance."""
    axes = pair(figure)
    for ax, side, name in zip(axes, SIDES, (r"recall $R_\delta$", r"precision $P_\delta$"), strict=True):
        for (color, style), tolerance, values in zip(SERIES, TOLERANCES, study.measure(side), strict=False):
            ax.plot(QUANTILES, values, color=color, linestyle=style, linewidth=2, label=f"δ = {tolerance}")
        ax.set(ylim=(0, 1.02), xlabel="threshold (quantile)", ylabel=name)
        tidy(ax)
    key_above(figure, drawn_on(axes[0]), 4)


def against_chance(figure: Figure, study: Study) -> None:
    """Figure 3: permuted sequences, the exact band of chance, and the observed curve."""
    axes = figure.subplots(4, 2, sharex=True, sharey=True)
    mean, low, high = ({side: study.chance(side, name) for side in SIDES} for name in ("mean", "low", "high"))
    for d, tolerance in enumerate(TOLERANCES):
        for ax, side in zip(axes[d], SIDES, strict=True):
            drawn = study.permuted[side][:, d]
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
    key = key_above(figure, drawn_on(axes[0, 0]), 4)
    key.get_lines()[0].set_linewidth(1.5)  # or nobody would see it in the key


def null_distributions(figure: Figure, study: Study) -> None:
    """Figure 4: the null distributions of both hits: simulated, exact, and what the literature takes them for."""
    titles = {"recall": "PAδ-AA (unnormalised recall)", "precision": "PA-AAδ (unnormalised precision)"}
    panels = pair(figure, **({} if is_narrow(figure) else {"sharey": True}))
    for ax, side in zip(panels, SIDES, strict=True):
        test = test_of(study.result, side)
        laws: list[tuple[Any, str, Any, float, str]] = [
            (study.simulated[side], PALETTE["simulated"], "-", 3.2, f"simulated ({study.permutations:,})"),
            (test.law, PALETTE["chance"], "-", 1.2, "exact"),
            (study.fitted_binomial(side), PALETTE["binomial"], "--", 1.2, "binomial, fitted"),
            (study.donges[side], *SERIES[3], 1.4, "binomial, Donges et al."),
        ]
        if side == "recall":
            laws.append((study.extreme, *SERIES[2], 1.4, "binomial, extreme values"))
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
    key_above(figure, drawn_on(figure.axes[0]), 3)


# ---- the figures: the paper's four, and four that the exact null distributions add

FIGURES: Figures[Study] = {
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


# ---- numbers as CSV

ENDS = {"mean": "mean", "2.5%": "low", "97.5%": "high"}


def records(study: Study) -> Records:
    """Rows of each file, by its name without ".csv"."""
    curve, chance = study.curve, study.curve.chance
    ends = {f"chance_{name}": partial(study.chance, name=of) for name, of in ENDS.items()}
    permuted = {f"permuted_{i + 1}": partial(_permuted, study, i) for i in range(len(study.permuted["recall"]))}
    return {
        "figure-1": _example(study),
        "figure-2": _by_cell(
            threshold=lambda _: curve.thresholds,
            hits=lambda side: getattr(curve, f"{side}_hits"),
            of=study.trials,
            value=study.measure,
        ),
        "figure-3": _by_cell(observed=study.measure, **ends, **permuted),
        "figure-4": [row for side in SIDES for row in _null_distributions(study, side)],
        "figure-5": _by_cell(
            mean=lambda side: getattr(chance, side).mean,
            variance=lambda side: getattr(chance, side).std ** 2,
            variance_over_binomial=study.dispersion,
        ),
        "figure-6": _by_cell(
            p_exact=lambda side: getattr(chance, side).pvalue,
            p_holm=lambda side: getattr(chance, side).holm,
            p_familywise=lambda side: getattr(study.familywise, f"{side}_adjusted"),
        ),
        "figure-7": [row for side in SIDES for row in _explained(study, side)],
        "figure-8": [_lag(shift, test_of(result, side)) for side in SIDES for shift, result in study.lags.items()],
        "table-1": _matrix(study.matrices[0]),
        "table-2": _matrix(study.matrices[1]),
        "table-3": [
            _noise(tolerance, test_of(result, side))
            for side in SIDES
            for tolerance, result in zip(TOLERANCES, study.noise, strict=True)
        ],
        "section-3.1": [
            {"measure": row["measure"], "reading": reading, **row}
            for reading in READINGS
            for row in _by_cell(gap=partial(study.gap, reading=reading))
        ],
        "section-3.2": [_tested(study, test_of(study.result, side)) for side in SIDES],
    }


def _permuted(study: Study, i: int, side: str) -> AnyArray:
    return np.asarray(study.permuted[side][i])


def _by_cell(**columns: Callable[[str], AnyArray]) -> Rows:
    """A row for each measure, tolerance and threshold: what each column has there, or has for the threshold alone."""
    rows: Rows = []
    for side in SIDES:
        values = {name: np.broadcast_to(of(side), (len(TOLERANCES), len(QUANTILES))) for name, of in columns.items()}
        rows += [
            {"measure": side, "tolerance": tolerance, "quantile": float(quantile)}
            | {name: value[d, k] for name, value in values.items()}
            for d, tolerance in enumerate(TOLERANCES)
            for k, quantile in enumerate(QUANTILES)
        ]
    return rows


def _example(study: Study) -> Rows:
    alarms, days = study.scores >= study.curve.thresholds[THE_QUANTILE], study.quakes.days
    return [
        {
            "day": k if days is None else str(days[k]),
            "tweets": study.quakes.counts[k],
            "score": study.scores[k],
            "event": int(study.quakes.truth[k]),
            "predicted_at_0.9": int(alarms[k]),
        }
        for k in range(len(alarms))
    ]


def _null_distributions(study: Study, side: str) -> Rows:
    exact = test_of(study.result, side).law
    laws: dict[str, Any] = {
        "simulated": study.simulated[side],
        "exact": exact,
        "binomial": study.fitted_binomial(side),
        "donges": study.donges[side],
        "extreme_value": study.extreme if side == "recall" else None,
    }
    below = {name: None if law is None else np.minimum(np.cumsum(law.table), 1) for name, law in laws.items()}
    return [
        {"measure": side, "hits": hits, "exact_probability": exact.table[hits]}
        | {f"{name}_cdf": None if values is None else values[hits] for name, values in below.items()}
        for hits in range(exact.size + 1)
    ]


def _explained(study: Study, side: str) -> Rows:
    share, gap = study.explained(side), study.gap(side)
    return [
        {
            "measure": side,
            "tolerance": tolerance,
            "observed": study.measure(side)[d, THE_QUANTILE],
            "chance": study.chance(side)[d, THE_QUANTILE],
            "share_of_chance": share[d, THE_QUANTILE],
            "mean_share": np.nanmean(share[d]),
            "gap": gap[d, THE_QUANTILE],
            "mean_gap": gap[d].mean(),
        }
        for d, tolerance in enumerate(TOLERANCES)
    ]


def _lag(shift: int, test: ChanceTest) -> Row:
    low, high = test.law.quantile((0.025, 0.975))
    return {
        "measure": test.measure,
        "days_moved": shift,
        "hits": test.hits,
        "of": test.of,
        "chance_mean": test.expected,
        "chance_2.5%": low,
        "chance_97.5%": high,
        "p_exact": test.pvalue,
    }


def _matrix(matrix: Confusion) -> Rows:
    found = {
        "predicted": (matrix.tp, matrix.fp, matrix.predicted),
        "not predicted": (matrix.fn, matrix.tn, matrix.not_predicted),
        "sum": (matrix.actual, matrix.not_actual, matrix.total),
    }
    return [{"": name, "anomaly": a, "no anomaly": b, "sum": c} for name, (a, b, c) in found.items()]


def _noise(tolerance: int, test: ChanceTest) -> Row:
    return {
        "measure": test.measure,
        "tolerance": tolerance,
        "hits": test.hits,
        "of": test.of,
        "value": test.value,
        "chance": test.expected / test.of,
        "p_exact": test.pvalue,
    }


def _tested(study: Study, test: ChanceTest) -> Row:
    side = test.measure
    return {
        "measure": side,
        "hits": test.hits,
        "of": test.of,
        "value": test.value,
        "chance_mean": test.expected,
        "chance_variance": test.law.var,
        "p_exact": test.pvalue,
        "p_simulated": study.simulated[side].upper(test.hits),
        "permutations": study.permutations,
        "p_binomial": study.fitted_binomial(side).upper(test.hits),
        "p_donges": study.donges[side].upper(test.hits),
        "p_extreme_value": study.extreme.upper(test.hits) if side == "recall" else None,
    }
