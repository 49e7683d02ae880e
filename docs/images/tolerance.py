"""Make the picture of docs/explanation/tolerance.md: `python docs/images/tolerance.py`. Same versions, same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import nofluke as nf
from nofluke.plot.style import PALETTE, SERIES


def random_alarms(ax: Any) -> None:
    """Precision and recall of the highest 5% of random scores: one draw, and what chance gives."""
    rng = np.random.default_rng(0)
    truth = np.isin(np.arange(1000), rng.choice(1000, 20, replace=False))
    scores, tolerances = rng.random(1000), np.arange(0, 41, 2)
    rows = [nf.evaluate(truth, scores, quantile=0.95, tolerance=int(t)) for t in tolerances]
    for name, (colour, dashes), marker in (("precision", SERIES[0], "o"), ("recall", SERIES[1], "s")):
        tests = [getattr(row, f"{name}_test") for row in rows]
        ax.plot(tolerances, [test.expected / test.of for test in tests], color=PALETTE["chance"], linestyle=dashes)
        ax.plot(tolerances, [test.value for test in tests], marker, color=colour, markersize=4, label=name)
    ax.plot([], [], color=PALETTE["chance"], label="chance, mean")
    ax.set(xlabel="tolerance δ, steps", ylabel="share", title="random alarms")


def with_skill(ax: Any) -> None:
    """Precision of the simulated example beside chance's."""
    quakes = nf.datasets.simulate_quakes(rng=0)
    scores, tolerances = nf.detectors.energy_transient(quakes.counts), [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32]
    tests = [nf.evaluate(quakes.truth, scores, quantile=0.9, tolerance=t).precision_test for t in tolerances]
    low, high = np.array([test.law.quantile([0.025, 0.975]) / test.of for test in tests]).T
    ax.fill_between(tolerances, low, high, color=PALETTE["chance"], alpha=0.3, linewidth=0, label="chance, 95%")
    ax.plot(
        tolerances, [test.value for test in tests], "o-", color=PALETTE["observed"], markersize=4, label="precision"
    )
    ax.set(xlabel="tolerance δ, days", title="a detector with skill")


def adjusted(ax: Any) -> None:
    """F1 of random alarms on 1% of the steps, 500 of 10,000 of which are labelled, by the length of labelled runs."""
    lengths = [1, 2, 5, 10, 20, 50, 100, 250, 500]
    for metric, name, (colour, dashes), marker in (("pa-f1", "PA-F1", SERIES[0], "o"), ("f1", "F1", SERIES[1], "s")):
        levels = [
            nf.chance(metric, ([0] * (19 * n) + [1] * n) * (500 // n), budget="1%", n_resamples=200, rng=1).expected
            for n in lengths
        ]
        ax.plot(lengths, levels, marker=marker, color=colour, linestyle=dashes, markersize=4, label=name)
    ax.set(xscale="log", xlabel="length of labelled runs, steps", title="random alarms, point-adjusted")
    ax.set_xticks([1, 10, 100, 500], ["1", "10", "100", "500"], minor=False)


def main() -> None:
    from matplotlib import rc_context, rcdefaults, rcParams
    from matplotlib.figure import Figure

    with rc_context():
        rcdefaults()
        rcParams.update({"svg.hashsalt": "nofluke", "font.size": 10, "axes.titlesize": "medium"})
        figure = Figure(figsize=(10, 3.2), layout="constrained", facecolor="white")
        for ax, draw in zip(figure.subplots(1, 3, sharey=True), (random_alarms, with_skill, adjusted), strict=True):
            draw(ax)
            ax.set_ylim(0, 1.03)
            ax.spines[["top", "right"]].set_visible(False)
            ax.legend(fontsize="small", loc="lower right" if draw is not adjusted else "upper left")
        figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None, "Creator": "nofluke"})


if __name__ == "__main__":
    main()
