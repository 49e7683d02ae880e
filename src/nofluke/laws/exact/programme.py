"""The exact joint law of both kinds of hits by a dynamic programme that only ever adds positive numbers.

Blocks are walked through in time order (`walk`). A table indexed by (r events so far on covered steps, u predictions
missed so far) holds the weight of all placements in the same state:

- *settled*: no prediction whose window is still open is hit;
- *open to i*: the last event hits the open predictions before index i.

A window that ends moves the table "open to i" into the settled one, where one more prediction is missed; an event moves
any state into "open to h", h being the number of windows begun. Nothing is ever subtracted, so that every entry,
however small, is accurate to a few units of its own last place per step.

Clusters of windows that share no step are independent: the table of all is the product of theirs. A cluster that is
small, or comes often, is walked through by itself, and multiplied in as often as it comes.

Events have odds m/(T - m) on each step, which keeps the numbers near their own law; dividing each row by its sum
(the law of C given R = r) and multiplying by the hypergeometric P(R = r) takes the odds out again.

The section "Dynamic programme" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

from math import log1p, log2
from typing import NamedTuple

import numpy as np

from nofluke.arrays import FloatArray, IntArray, product
from nofluke.errors import InputError
from nofluke.laws.exact.generating import distinct_clusters
from nofluke.laws.exact.hypergeometric import hypergeometric_pmf
from nofluke.laws.exact.walk import LOG_GROWTH_ALLOWED, MASS, SECONDS_PER_BLOCK, engine
from nofluke.series.counting import Windows, cut

_SMALL_TABLE = 2_500  # entries: up to here, a table is walked through all blocks sooner than clusters are told apart


def joint_pmf(windows: Windows, n_events: int) -> FloatArray:
    """P(R = r, C = c) when m events fall at random: row r, column c.

    R is the number of events inside any window, C the number of predictions hit.

    Parameters
    ----------
    windows : Windows
        The windows of the n predictions; D steps lie in at least one of them.
    n_events : int
        m, from 0 to ``windows.n_steps``.

    Returns
    -------
    float64 array of shape (min(m, D) + 1, n + 1)
        Without predictions or without events, all of the mass is in entry (0, 0).

    Notes
    -----
    The relative error is below 1e-11 (4e-15 on the paper's data) for each entry above 1e-290, not just for their
    sum. See `programme_cost` for what it takes.

    Examples
    --------
    One window over two of three steps, one event:

    >>> windows = Windows(starts=np.array([0]), stops=np.array([2]), n_steps=3)
    >>> joint_pmf(windows, 1).round(3)
    array([[0.333, 0.   ],
           [0.   , 0.667]])
    """
    _check_events(windows, n_events)
    if _is_small_table(windows, n_events):  # asked for by both hits' laws, and by pairs of them
        return windows.once(("joint law", n_events), lambda: _joint_pmf(windows, n_events))
    return _joint_pmf(windows, n_events)


def _joint_pmf(windows: Windows, n_events: int) -> FloatArray:
    rows = min(n_events, windows.covered) + 1
    if n_events in (0, windows.n_steps):
        certain = np.zeros((rows, windows.n + 1))
        certain[-1, windows.n if n_events else 0] = 1.0
        return certain
    table = _table(windows, n_events)
    recall = hypergeometric_pmf(windows.n_steps, windows.covered, n_events)
    joint = np.zeros((rows, windows.n + 1))
    reached = joint[:, : table.shape[1]]
    # one factor after the other: their product could underflow where the entry does not
    np.multiply(table[:, ::-1], _one_over(table.sum(axis=1))[:, np.newaxis], out=reached)
    reached *= recall[:, np.newaxis]
    return joint


def _table(windows: Windows, n_events: int, most_missed: int | None = None) -> FloatArray:
    """The table of all windows, but for a factor."""
    if not _is_small_table(windows, n_events):
        programme = _Programme(windows, n_events, most_missed)
        return programme.table([kind.copies for kind in programme.kinds])
    blocks, n, odds = windows.blocks, windows.n, _odds(windows, n_events)
    length, g, h = blocks.length, blocks.g, blocks.h
    if int(length.max(initial=0)) > (longest := _longest_block(odds)):
        of, length = cut(length, longest)
        g, h = g[of], h[of]
    most = n if most_missed is None else most_missed
    with engine(SECONDS_PER_BLOCK * len(length)) as (walk, _):
        table: FloatArray = walk(length, g, h, np.array([[MASS]]), 0, n, n_events, odds, most, windows.reach)
    return table if most < n else np.ascontiguousarray(table[:, -(n_events * windows.reach + 1) :])


def precision_pmf(windows: Windows, n_events: int) -> FloatArray:
    """P(C = c) for c = 0 .. n: the number of predictions hit when m events fall at random.

    The same as ``joint_pmf(windows, n_events).sum(axis=0)`` at a quarter of the cost, or less: clusters of windows are
    dealt out into two halves, whose tables are put together by two matrix products. Where all windows hang together it
    costs the same.

    Parameters
    ----------
    windows : Windows
        The windows of the n predictions.
    n_events : int
        m, from 0 to ``windows.n_steps``.

    Examples
    --------
    >>> windows = Windows(starts=np.array([0, 1]), stops=np.array([2, 3]), n_steps=4)
    >>> precision_pmf(windows, 1)
    array([0.25, 0.5 , 0.25])
    """
    _check_events(windows, n_events)
    if n_events in (0, windows.n_steps) or _is_small_table(windows, n_events):
        law: FloatArray = joint_pmf(windows, n_events).sum(axis=0)
        return law
    programme = _Programme(windows, n_events)
    # room for their product, whose mass of 2^600 is taken out at the end
    left, right = (table * (2.0**300 / table.sum()) for table in programme.halves())
    recall = hypergeometric_pmf(windows.n_steps, windows.covered, n_events)
    reached = np.convolve(left.sum(axis=1), right.sum(axis=1))[: len(recall)]
    weight = np.zeros(len(left) + len(right) - 1)
    weight[: len(recall)] = ratio(recall, reached * 2.0**-600)
    by_sum = np.lib.stride_tricks.sliding_window_view(weight, len(right))  # row r, column r': weight[r + r']
    missed = product(left.T, product(by_sum, right))
    law = np.zeros(windows.n + 1)
    hits = law[: missed.shape[0] + missed.shape[1] - 1][::-1]  # the last columns are those of no hit
    for u, row in enumerate(missed):
        hits[u : u + len(row)] += row
    return law * 2.0**-600


def few_missed_pmf(windows: Windows, n_events: int, most: int) -> FloatArray:
    """P(C = n - u) for u = 0 .. most: the chance that at most so many predictions are missed, one by one.

    States that have missed more are lumped together in one column, so that the end of the law where nearly everything
    is hit costs little, also where the whole of it would cost much.

    Parameters
    ----------
    windows : Windows
        The windows of the n predictions.
    n_events : int
        m, from 1 to ``windows.n_steps - 1``.
    most : int
        The largest number of misses that is distinguished from more, below n.

    Examples
    --------
    >>> windows = Windows(starts=np.array([0, 1]), stops=np.array([2, 3]), n_steps=4)
    >>> few_missed_pmf(windows, 1, 1)  # one step of four hits both, two hit one
    array([0.25, 0.5 ])
    """
    table = _table(windows, n_events, most)
    recall = hypergeometric_pmf(windows.n_steps, windows.covered, n_events)
    weights = ratio(recall, table.sum(axis=1))
    return np.asarray(weights @ table[:, : most + 1])


def programme_cost(windows: Windows, n_events: int, most_missed: int | None = None) -> int:
    """Number of table entries that `joint_pmf` passes over: 0.2 to 0.9 ns each, plus some 10 µs per prediction.

    It grows like min(D, n min(m, D)) min(m, D) n: long blocks are done by matrix products, whatever their length. With
    ``most_missed``, the cost of `few_missed_pmf`.
    """
    _check_events(windows, n_events)
    if n_events in (0, windows.n_steps):
        return 0
    blocks = windows.blocks
    rows = np.minimum(np.cumsum(blocks.length), n_events) + 1
    passes = np.minimum(blocks.length, rows // 2) + 6
    columns = blocks.g if most_missed is None else np.minimum(blocks.g, most_missed + 1)
    return int((rows * (columns + 1.0) * passes).sum())  # no product of BLAS, which would wake its threads for this


def few_cost(windows: Windows, n_events: int) -> float:
    """Number of table entries that are passed over where events are few, and so are hits."""
    reach = float(windows.reach)
    return len(windows.blocks.length) * (reach + 2) * (n_events + 1) * (n_events * reach + 1) / 2


def programme_bytes(windows: Windows, n_events: int, most_missed: int | None = None) -> int:
    """About the most memory that `joint_pmf` needs: two tables for every block still open, and some more."""
    _check_events(windows, n_events)
    columns = windows.n if most_missed is None else min(windows.n, most_missed + 1)
    table = 8 * (min(n_events, windows.covered) + 1) * (columns + 1)
    blocks = windows.blocks
    open_blocks = np.arange(1, len(blocks.h) + 1) - np.searchsorted(blocks.h, blocks.g, side="right")
    return table * (2 * int(open_blocks.max(initial=0)) + 5)


class _Kind(NamedTuple):
    """Equal clusters of windows that hang together: blocks and predictions of each, and how many there are."""

    length: IntArray
    g: IntArray
    h: IntArray
    size: int
    copies: int


class _Programme:
    """Tables of weights of clusters of windows, for so many events."""

    def __init__(self, windows: Windows, n_events: int, most_missed: int | None = None) -> None:
        self.odds = _odds(windows, n_events)
        self.limits = n_events, windows.n if most_missed is None else most_missed, windows.reach
        longest = _longest_block(self.odds)
        self.kinds: list[_Kind] = []
        self.own: dict[int, FloatArray] = {}  # tables of small kinds
        clusters = distinct_clusters(windows)
        for member, count in zip(clusters.member.tolist(), clusters.copies.tolist(), strict=True):
            part = slice(clusters.first[member], clusters.first[member + 1])
            of, length = cut(windows.blocks.length[part], longest)
            g, h = clusters.g[part][of], clusters.h[part][of]
            self.kinds.append(_Kind(length, g, h, int(clusters.size[member]), count))
        self.kinds.sort(key=lambda kind: -kind.size)

    def halves(self) -> tuple[FloatArray, FloatArray]:
        """Tables of two halves of the clusters."""
        sides: tuple[list[int], list[int]] = ([], [])
        sizes = [0, 0]
        for kind in self.kinds:
            more = kind.copies % 2 * int(sizes[0] <= sizes[1])  # the odd one goes to the smaller side
            for side, copies in enumerate((kind.copies // 2 + more, (kind.copies + 1) // 2 - more)):
                sides[side].append(copies)
                sizes[side] += copies * kind.size
        return self.table(sides[0]), self.table(sides[1])

    def table(self, counts: list[int]) -> FloatArray:
        """The table of so many clusters of each kind: large ones first, as long as it is small."""
        table, before = np.array([[MASS]]), 0
        n_events, most_missed, reach = self.limits
        with engine(SECONDS_PER_BLOCK * sum(len(kind.length) for kind in self.kinds)) as (walk, times):
            for i, (kind, count) in enumerate(zip(self.kinds, counts, strict=True)):
                if count and _is_small(kind, n_events):  # once by itself, and a product for each
                    if i not in self.own:
                        rest = 0, kind.size, n_events, self.odds, most_missed, reach
                        self.own[i] = walk(kind.length, kind.g, kind.h, np.ones((1, 1)), *rest)
                    table = times(table, before, self.own[i], kind.size, count, n_events, most_missed, reach)
                    before += count * kind.size
                    continue
                for _ in range(count):
                    g, h, n = kind.g + before, kind.h + before, before + kind.size
                    table = walk(kind.length, g, h, table, before, n, n_events, self.odds, most_missed, reach)
                    table *= 2.0 ** -round(log2(table.sum() / MASS))  # as a product leaves it
                    before = n
        return np.asarray(table)


def _odds(windows: Windows, n_events: int) -> float:
    """Of an event on a step, which keep the numbers near their own law."""
    return n_events / (windows.n_steps - n_events)


def _longest_block(odds: float) -> int:
    """Steps of a block in which tables grow no more than is allowed."""
    return max(int(min(LOG_GROWTH_ALLOWED / log1p(odds), 2.0**62)), 1)


def _is_small_table(windows: Windows, n_events: int) -> bool:
    return (n_events + 1) * (min(windows.n, n_events * windows.reach) + 1) <= _SMALL_TABLE


def _is_small(kind: _Kind, n_events: int) -> bool:
    """Whether to multiply by all entries of a cluster's own table is faster than to walk through its blocks."""
    entries = (min(int(kind.length.sum()), n_events) + 1) * (kind.size + 1)
    passes = int(np.minimum(kind.length, n_events).sum()) + 4 * len(kind.length) + 2 * kind.size
    return entries <= 2 * passes


def ratio(upper: FloatArray, lower: FloatArray) -> FloatArray:
    """upper / lower, and 0 in rows so improbable that they underflow."""
    return np.divide(upper, lower, out=np.zeros_like(upper), where=lower > 1e-300)


def _one_over(lower: FloatArray) -> FloatArray:
    """1 / lower, with the same exception."""
    return 1.0 / lower if lower.min() > 1e-300 else ratio(np.ones(len(lower)), lower)


def _check_events(windows: Windows, n_events: int) -> None:
    if not 0 <= n_events <= windows.n_steps:
        raise InputError(
            argument="n_events",
            problem=f"must be from 0 to the {windows.n_steps} steps, got {n_events}",
            remedy="count events on the same steps",
        )
