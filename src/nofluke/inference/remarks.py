"""What a result remarks on before chance is asked: labels in runs that could be ranges, events that nothing can find."""

from __future__ import annotations

import numpy as np

from nofluke.nulls.evidence import adjacency, in_runs
from nofluke.series.reading import Sequence
from nofluke.series.trial import Cell
from nofluke.series.truth import CountEvents, Truth
from nofluke.text.tables import plural


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


def out_of_reach(cell: Cell) -> tuple[str, ...]:
    """Events whose window holds no step: past a border, or between two steps. Only a window that lies aside has such."""
    tolerance, windows = cell.trial.tolerances[cell.d], cell.trial.event_windows[cell.d]
    lost = int(np.count_nonzero(windows.stops == windows.starts))
    if not tolerance.aside or lost == 0:
        return ()
    return (
        f"{lost:,} of {plural(cell.n_events, cell.truth.noun)} cannot be found: no step that counts lies in "
        f"{'its' if lost == 1 else 'their'} window ({tolerance}).",
    )
