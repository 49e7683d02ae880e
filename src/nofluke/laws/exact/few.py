"""The exact joint law of both kinds of hits where events are few, however many predictions there are.

A few events can hit only a few predictions, so the dynamic programme counts hits instead of misses: a table indexed by
(events so far on covered steps, predictions hit so far) has few entries, and walking it through all blocks is cheap
where counting misses, or inverting a characteristic function that hardly decays, is not.

The section "Dynamic programme" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.laws.exact.hypergeometric import hypergeometric_pmf
from nofluke.laws.exact.programme import LOG_GROWTH_ALLOWED, MASS, ratio
from nofluke.series.counting import Windows, cut


def few_cost(windows: Windows, n_events: int) -> float:
    """Number of table entries that `joint_pmf` passes over: about a nanosecond each."""
    reach = float(windows.reach)
    return len(windows.blocks.length) * (reach + 2) * (n_events + 1) * (n_events * reach + 1) / 2


def joint_pmf(windows: Windows, n_events: int) -> FloatArray:
    """P(R = r, C = c) when m events fall at random: row r, column c, as far as m events can reach.

    Parameters
    ----------
    windows : Windows
        The windows of the n predictions.
    n_events : int
        m, from 0 to ``windows.n_steps``.

    Returns
    -------
    float64 array
        Row r for r events inside any window (0..min(m, D)), column c for c predictions hit. Each entry above 1e-290 is
        accurate to about 1e-13 of itself: nothing is ever subtracted. Smaller ones may be 0.

    Examples
    --------
    >>> windows = Windows(starts=np.array([0, 1, 2]), stops=np.array([3, 4, 5]), n_steps=5)
    >>> joint_pmf(windows, 1)[1].round(3)  # one event in five steps hits 1, 2, 3, 2 or 1 of three predictions
    array([0. , 0.4, 0.4, 0.2])
    """
    rows = min(n_events, windows.covered) + 1
    if n_events == 0 or windows.n == 0:
        return np.ones((1, 1))
    from nofluke.laws.exact.few_kernels import walk

    blocks = windows.blocks
    odds = n_events / max(windows.n_steps - n_events, 1)
    log_growth = float(np.log1p(odds))
    longest = min(max(int(LOG_GROWTH_ALLOWED / log_growth), 1), windows.n_steps)
    of, length = cut(blocks.length, longest)  # a long block is several short ones with the same predictions
    weights = walk(
        length, blocks.g[of], blocks.h[of], rows - 1, windows.reach, windows.n, odds, MASS, LOG_GROWTH_ALLOWED
    )
    # one factor after the other: their product could underflow where the entry does not
    weights *= ratio(np.ones(rows), weights.sum(axis=1))[:, None]
    weights *= hypergeometric_pmf(windows.n_steps, windows.covered, n_events)[:, None]
    return np.asarray(weights)
