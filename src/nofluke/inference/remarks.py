"""What a result remarks on before chance is asked: that labels in runs could be counted as ranges."""

from __future__ import annotations

import numpy as np

from nofluke.nulls.evidence import adjacency, in_runs
from nofluke.series.reading import Sequence
from nofluke.series.truth import CountEvents, Truth


def offered_ranges(sequence: Sequence, truth: Truth, asked: CountEvents | None) -> tuple[str, ...]:
    """An offer to count ranges, where labels come in runs and nobody said what to count."""
    if asked is not None or sequence.truth_as != "labels" or truth.n < 2 or truth.n == truth.n_steps:
        return ()
    following = int(np.count_nonzero(np.diff(truth.starts) == 1))
    if 2 * following < truth.n:  # runs this short are none: spare the law
        return ()
    runs = adjacency(truth.starts, truth.n_steps)
    if not in_runs(runs):
        return ()
    return (
        f"Labels come in {truth.n - following:,} run(s) of {runs.statistic:.3g} steps on average, and each step counts as an event: "
        'pass count_events="ranges" to count each run once.',
    )
