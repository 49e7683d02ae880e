"""What a leaderboard remarks on: what was not searched for, and how many cells are better than chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.studies.shared import SharedTruths
from nofluke.text.tables import plural


def remarks(sharing: SharedTruths, corrected: Mapping[str, FloatArray], alpha: float) -> Iterator[str]:
    """Sentences, from p-values of all cells that are corrected for false discoveries, by measure."""
    if sharing.unsearched:
        yield "There are too many events to look for all series with nearly the same truth: some may be taken for independent."
    found = " and ".join(
        f"{int(np.count_nonzero(pvalues <= alpha)):,} by {measure}" for measure, pvalues in corrected.items()
    )
    n_cells = len(next(iter(corrected.values())))
    yield (
        f"Of {plural(n_cells, 'cell')}, {found} are better than chance at a false discovery rate of {alpha:.3g} "
        "(Benjamini and Hochberg)."
    )
