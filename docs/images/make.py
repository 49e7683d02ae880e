"""Make the pictures of the first page: `python docs/images/make.py`. Same versions, same bytes."""

from __future__ import annotations

from pathlib import Path

import nofluke as nf
import nofluke.plot

DARK = "#14181e"  # the background of the documentation's dark pages


def draw_null(path: Path, *, dark: bool = False) -> None:
    """What chance scores on the simulated example, the binomial for comparison, and what the detector scored."""
    from matplotlib import rc_context, rcdefaults, style
    from matplotlib.figure import Figure

    quakes = nf.datasets.simulate_quakes(rng=0)
    scores = nf.detectors.energy_transient(quakes.counts)
    result = nf.evaluate(quakes.truth, scores, quantile=0.9, tolerance=2)
    with rc_context():
        rcdefaults()
        if dark:
            style.use(["dark_background", {"axes.facecolor": DARK}])
        figure = Figure(figsize=(6, 3.2), dpi=150, layout="constrained", facecolor=DARK if dark else "white")
        ax = nf.plot.null(result.precision_test.law, figure.subplots(), observed=result.precision_hits)
        ax.set_title(
            f"{result.precision_hits} of {result.n_predictions} predictions are near an event: skill, or a fluke?"
        )
        ax.set_xlabel(
            f"hits of {result.n_predictions} predictions (simulated earthquakes, tolerance {result.tolerance})"
        )
        figure.savefig(path, metadata={"Software": "nofluke"})


if __name__ == "__main__":
    draw_null(Path(__file__).with_name("null.png"))
    draw_null(Path(__file__).with_name("null-dark.png"), dark=True)
