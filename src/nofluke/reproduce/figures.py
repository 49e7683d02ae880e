"""The figures: the paper's four, and four that the exact null distributions add."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from nofluke.reproduce import exact_figures, paper_figures
from nofluke.reproduce.drawing import Drawn, rendered
from nofluke.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


FIGURES: dict[str, tuple[Callable[[Figure, Study], None], float, float]] = {
    "figure-1": (paper_figures.example, 4.2, 4.2),
    "figure-2": (paper_figures.by_threshold, 2.9, 5.2),
    "figure-3": (paper_figures.against_chance, 8.2, 7.4),
    "figure-4": (paper_figures.null_distributions, 3.3, 5.8),
    "figure-5": (exact_figures.dispersion, 3.0, 3.2),
    "figure-6": (exact_figures.pvalues, 3.4, 3.4),
    "figure-7": (exact_figures.explained, 3.2, 5.4),
    "figure-8": (exact_figures.lag, 3.2, 5.2),
}
"""How each figure is drawn, and its height in inches: on paper, and on a telephone."""


def draw(name: str, study: Study) -> Drawn:
    """Draw one figure and render it as SVG, PDF and PNG."""
    make, height, narrow = FIGURES[name]
    note = "simulated data" if study.quakes.simulated else ""
    return rendered(name, lambda figure: make(figure, study), height, note, narrow=narrow)
