"""The paper's figures, and the numbers behind them as CSV."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from nofluke.arrays import AnyArray
from nofluke.measures.confusion import Confusion
from nofluke.plot.style import PALETTE, SERIES, above_chance, legend, tidy
from nofluke.reproduce.page import Figures, Records, is_narrow, key_above, pair
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
    key_above(figure, *ax.get_legend_handles_labels(), 3)


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
    outline = Line2D([], [], color="#010101", linewidth=1.6, path_effects=halo)
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
        nulls = [test_of(lag.result, side).law for lag in study.lags]
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
    handles, labels = axes[0].get_legend_handles_labels()
    key_above(figure, handles, labels, 4)


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
        test = test_of(study.result, side)
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

Rows = list[tuple[Any, ...]]
Recorded = tuple[tuple[str, ...], Rows]


ENDS = {"mean": "mean", "2.5%": "low", "97.5%": "high"}


def records(study: Study) -> Records:
    """Columns and rows of each file, by its name without ".csv"."""
    curve, chance = study.curve, study.curve.chance
    ends = {f"chance_{name}": partial(study.chance, name=of) for name, of in ENDS.items()}
    permuted = {f"permuted_{i + 1}": partial(_permuted, study, i) for i in range(len(study.permuted_recall))}
    return {
        "figure-1": _example(study),
        "figure-2": _by_cell(
            threshold=lambda _: curve.thresholds,
            hits=lambda side: getattr(curve, f"{side}_hits"),
            of=study.trials,
            value=study.measure,
        ),
        "figure-3": _by_cell(observed=study.measure, **ends, **permuted),
        "figure-4": _null_distributions(study),
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
        "figure-7": _explained(study),
        "figure-8": _lag(study),
        "table-1": _matrix(study.matrices[0]),
        "table-2": _matrix(study.matrices[1]),
        "table-3": _noise(study),
        "section-3.1": _gaps(study),
        "section-3.2": _tests(study),
    }


def _permuted(study: Study, i: int, side: str) -> AnyArray:
    return np.asarray(study.permuted(side)[i])


def _by_cell(**columns: Callable[[str], AnyArray]) -> Recorded:
    """A row for each measure, tolerance and threshold: what each column has there, or has for the threshold alone."""
    shape = len(TOLERANCES), len(QUANTILES)
    rows: Rows = []
    for side in SIDES:
        values = [np.broadcast_to(of(side), shape) for of in columns.values()]
        rows += [
            (side, tolerance, float(quantile), *(value[d, k] for value in values))
            for d, tolerance in enumerate(TOLERANCES)
            for k, quantile in enumerate(QUANTILES)
        ]
    return ("measure", "tolerance", "quantile", *columns), rows


def _example(study: Study) -> Recorded:
    alarms = study.scores >= study.curve.thresholds[THE_QUANTILE]
    days = study.quakes.days
    rows = zip(
        range(len(alarms)) if days is None else map(str, days),
        study.quakes.counts,
        study.scores,
        study.quakes.truth.astype(np.int64),
        alarms.astype(np.int64),
        strict=True,
    )
    return ("day", "tweets", "score", "event", "predicted_at_0.9"), list(rows)


def _null_distributions(study: Study) -> Recorded:
    rows: Rows = []
    for side in SIDES:
        exact = test_of(study.result, side).law
        laws = [study.simulated(side), exact, study.fitted_binomial(side), study.literature.donges[side]]
        laws += [study.literature.extreme] * (side == "recall")  # there is none for precision
        below = [np.minimum(np.cumsum(law.table), 1) for law in laws]
        nothing = (None,) * (5 - len(laws))
        rows += [(side, hits, exact.table[hits], *(b[hits] for b in below), *nothing) for hits in range(exact.size + 1)]
    names = ("simulated_cdf", "exact_cdf", "binomial_cdf", "donges_cdf", "extreme_value_cdf")
    return ("measure", "hits", "exact_probability", *names), rows


def _explained(study: Study) -> Recorded:
    rows: Rows = []
    for side in SIDES:
        share, gap = study.explained(side), study.gap(side)
        for d, tolerance in enumerate(TOLERANCES):
            here = (study.measure(side)[d, THE_QUANTILE], study.chance(side)[d, THE_QUANTILE], share[d, THE_QUANTILE])
            rows.append((side, tolerance, *here, np.nanmean(share[d]), gap[d, THE_QUANTILE], gap[d].mean()))
    names = ("measure", "tolerance", "observed", "chance", "share_of_chance", "mean_share", "gap", "mean_gap")
    return names, rows


def _lag(study: Study) -> Recorded:
    rows: Rows = []
    for side in SIDES:
        for lag in study.lags:
            test = test_of(lag.result, side)
            low, high = test.law.quantile((0.025, 0.975))
            rows.append((side, lag.shift, test.hits, test.of, test.expected, low, high, test.pvalue))
    return ("measure", "days_moved", "hits", "of", "chance_mean", "chance_2.5%", "chance_97.5%", "p_exact"), rows


def _matrix(matrix: Confusion) -> Recorded:
    rows: Rows = [
        ("predicted", matrix.tp, matrix.fp, matrix.predicted),
        ("not predicted", matrix.fn, matrix.tn, matrix.not_predicted),
        ("sum", matrix.actual, matrix.not_actual, matrix.total),
    ]
    return ("", "anomaly", "no anomaly", "sum"), rows


def _noise(study: Study) -> Recorded:
    rows: Rows = [
        (side, tolerance, test.hits, test.of, test.value, test.expected / test.of, test.pvalue)
        for side in SIDES
        for tolerance, result in zip(TOLERANCES, study.noise, strict=True)
        for test in [test_of(result, side)]
    ]
    return ("measure", "tolerance", "hits", "of", "value", "chance", "p_exact"), rows


def _gaps(study: Study) -> Recorded:
    rows: Rows = []
    for reading in READINGS:
        _, cells = _by_cell(gap=partial(study.gap, reading=reading))
        rows += [(side, reading, *rest) for side, *rest in cells]
    return ("measure", "reading", "tolerance", "quantile", "gap"), rows


def _tests(study: Study) -> Recorded:
    rows: Rows = []
    for side in SIDES:
        test = test_of(study.result, side)
        rows.append(
            (
                side,
                test.hits,
                test.of,
                test.value,
                test.expected,
                test.law.var,
                test.pvalue,
                study.simulated(side).upper(test.hits),
                study.permutations,
                study.fitted_binomial(side).upper(test.hits),
                study.literature.donges[side].upper(test.hits),
                study.literature.extreme.upper(test.hits) if side == "recall" else None,
            )
        )
    names = (
        "measure",
        "hits",
        "of",
        "value",
        "chance_mean",
        "chance_variance",
        "p_exact",
        "p_simulated",
        "permutations",
        "p_binomial",
        "p_donges",
        "p_extreme_value",
    )
    return names, rows
