"""Make the pictures of the README: `python docs/images/make.py`. Same versions, same bytes."""

from __future__ import annotations

from pathlib import Path

import nofluke as nf
import nofluke.plot


def draw_null(path: Path) -> None:
    """What chance scores on the simulated example, the binomial for comparison, and what the detector scored."""
    from matplotlib import rc_context, rcdefaults
    from matplotlib.figure import Figure

    quakes = nf.datasets.simulate_quakes(rng=0)
    scores = nf.detectors.energy_transient(quakes.counts)
    result = nf.evaluate(quakes.truth, scores, quantile=0.9, tolerance=2)
    with rc_context():
        rcdefaults()
        figure = Figure(figsize=(6, 3.2), dpi=150, layout="constrained", facecolor="white")
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
