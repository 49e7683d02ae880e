"""The exact joint law of both kinds of hits by a dynamic programme that only ever adds positive numbers.

The blocks are walked through in time order. A table indexed by (r events so far on covered steps, u predictions
missed so far) holds the weight of all placements in the same state:

- *settled*: no prediction whose window is still open is hit;
- *open to i*: the last event hits the open predictions before index i.

A window that ends moves the table "open to i" into the settled one, where one more prediction is missed; an event moves
any state into "open to h", h being the number of windows begun. Nothing is ever subtracted, so that every entry,
however small, is accurate to a few units of its own last place per step.

Events have odds m/(T - m) on each step, which keeps the numbers near their own law; dividing each row by its sum
(the law of C given R = r) and multiplying by the hypergeometric P(R = r) takes the odds out again.

The section "Dynamic programme" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from math import log
from typing import Any, cast

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.errors import InputError
from nofluke.laws.exact.hypergeometric import hypergeometric_pmf
from nofluke.series.counting import Windows

# Tables start with this mass and are brought back to it: half of the range of a double lies on either side
MASS = 2.0**500
LOG_GROWTH_ALLOWED = 200.0
_ENTRIES_AT_ONCE = 10_000
_SPARE_COLUMNS = 16  # how many more missed predictions a table has room for when it is laid out again


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
    rows = min(n_events, windows.covered) + 1
    if n_events in (0, windows.n_steps):
        certain = np.zeros((rows, windows.n + 1))
        certain[-1, windows.n if n_events else 0] = 1.0
        return certain
    table = _walk(windows, n_events, 0, windows.n)
    recall = hypergeometric_pmf(windows.n_steps, windows.covered, n_events)
    joint = np.ascontiguousarray(table[:, ::-1])
    # one factor after the other: their product could underflow where the entry does not
    joint *= ratio(np.ones(rows), table.sum(axis=1))[:, np.newaxis]
    joint *= recall[:, np.newaxis]
    return joint


def precision_pmf(windows: Windows, n_events: int) -> FloatArray:
    """P(C = c) for c = 0 .. n: the number of predictions hit when m events fall at random.

    The same as ``joint_pmf(windows, n_events).sum(axis=0)`` at about half the cost: the predictions before and after
    a step that no window spans are walked through apart, and put together by two matrix products. Where all windows
    hang together it costs the same.

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
    middle = _middle(windows)
    if n_events in (0, windows.n_steps) or middle == 0:
        law: FloatArray = joint_pmf(windows, n_events).sum(axis=0)
        return law
    left = _walk(windows, n_events, 0, middle)
    right = _walk(windows, n_events, middle, windows.n)
    for table in (left, right):
        table *= 2.0**300 / table.sum()  # room for their product, whose mass of 2^600 is taken out at the end
    recall = hypergeometric_pmf(windows.n_steps, windows.covered, n_events)
    reached = np.convolve(left.sum(axis=1), right.sum(axis=1))[: len(recall)]
    weight = np.zeros(len(left) + len(right) - 1)
    weight[: len(recall)] = ratio(recall, reached * 2.0**-600)
    by_sum = np.lib.stride_tricks.sliding_window_view(weight, len(right))  # row r, column r': weight[r + r']
    missed = left.T @ (by_sum @ right)
    law = np.zeros(windows.n + 1)
    for u, row in enumerate(missed):
        law[u : u + len(row)] += row
    return law[::-1] * 2.0**-600


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
    table = _walk(windows, n_events, 0, windows.n, most)
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
    return int(np.dot(rows * (columns + 1.0), passes))


def programme_bytes(windows: Windows, n_events: int, most_missed: int | None = None) -> int:
    """About the most memory that `joint_pmf` needs: two tables for every block still open, and some more."""
    _check_events(windows, n_events)
    columns = windows.n if most_missed is None else min(windows.n, most_missed + 1)
    table = 8 * (min(n_events, windows.covered) + 1) * (columns + 1)
    blocks = windows.blocks
    open_blocks = np.arange(1, len(blocks.h) + 1) - np.searchsorted(blocks.h, blocks.g, side="right")
    return table * (2 * int(open_blocks.max(initial=0)) + 5)


class _Pool:
    """Memory for tables, used again and again: fresh memory costs more than the additions done in it."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.free: list[FloatArray] = []

    def take(self, size: int) -> FloatArray:
        buffer = self.free.pop() if self.free else np.empty(self.capacity)
        return buffer[:size]

    def give(self, table: FloatArray) -> None:
        self.free.append(cast("FloatArray", table.base))

    def plus(self, one: FloatArray, other: FloatArray) -> FloatArray:
        """The sum of two tables of which one may have fewer rows, as a new one."""
        short, long = (one, other) if len(one) <= len(other) else (other, one)
        total = self.take(len(long))
        np.add(short, long[: len(short)], out=total[: len(short)])
        total[len(short) :] = long[len(short) :]
        return total

    def relaid(self, table: FloatArray, old_width: int, width: int, factor: float) -> FloatArray:
        """The same table with `width` columns, multiplied by `factor`; the old one is given back."""
        rows = len(table) // old_width
        flat = self.take(rows * width)
        wide = flat.reshape(rows, width)
        np.multiply(table.reshape(rows, old_width), factor, out=wide[:, :old_width])
        wide[:, old_width:] = 0.0
        self.give(table)
        return flat


class _Open:
    """The tables "open to i", oldest first, with their sum at hand: a queue of two stacks.

    The sum is needed at every block, and may not be kept by subtracting what leaves. So newcomers are added to one
    running sum; when the oldest are asked for, newcomers are stacked, each with the sum of it and all younger ones.
    """

    def __init__(self, pool: _Pool) -> None:
        self.pool = pool
        self.old: list[tuple[int, FloatArray, FloatArray]] = []  # (i, table, sum with all younger ones in `old`)
        self.new: list[tuple[int, FloatArray]] = []
        self.new_sum: FloatArray | None = None

    def push(self, i: int, table: FloatArray) -> None:
        if self.new_sum is None:
            self.new_sum = table
        elif len(self.new_sum) == len(table) and self.new_sum is not self.new[0][1]:
            _add(table, self.new_sum)
        else:
            before, self.new_sum = self.new_sum, self.pool.plus(self.new_sum, table)
            if before is not self.new[0][1]:
                self.pool.give(before)
        self.new.append((i, table))

    def pop(self, i: int) -> Iterator[FloatArray]:
        """Take out the tables open to i, which are the oldest, if there are any."""
        while self.old or self.new:
            if not self.old:
                self._restack()
            if self.old[-1][0] != i:
                return
            _, table, total = self.old.pop()
            if total is not table:
                self.pool.give(total)
            yield table

    def _restack(self) -> None:
        if self.new_sum is not None and self.new_sum is not self.new[0][1]:
            self.pool.give(self.new_sum)
        for i, table in reversed(self.new):
            total = self.pool.plus(table, self.old[-1][2]) if self.old else table
            self.old.append((i, table, total))
        self.new, self.new_sum = [], None

    def sums(self) -> list[FloatArray]:
        """At most two tables, shorter first, whose sum is that of all open ones."""
        return ([self.old[-1][2]] if self.old else []) + ([] if self.new_sum is None else [self.new_sum])

    def relaid(self, old_width: int, width: int, factor: float) -> _Open:
        """The same tables with `width` columns, multiplied by `factor`; the old ones are given back."""
        other = _Open(self.pool)
        while self.old or self.new:
            if not self.old:
                self._restack()
            i = self.old[-1][0]
            for table in self.pop(i):
                other.push(i, self.pool.relaid(table, old_width, width, factor))
        return other


def _walk(windows: Windows, n_events: int, first: int, last: int, most_missed: int | None = None) -> FloatArray:
    """The table of predictions first .. last-1, which share no step with others: row r events, column u missed.

    With ``most_missed`` there is one column beyond it, for all states that have missed more.

    Tables are flat, row after row: shifting by one event is an offset of a row, by one miss an offset of one, and
    tables with fewer rows (fewer events so far) are just shorter.
    """
    odds = n_events / (windows.n_steps - n_events)
    log_growth = float(np.log1p(odds))
    longest = max(int(LOG_GROWTH_ALLOWED / log_growth), 1)
    blocks = windows.blocks
    mine = slice(*np.searchsorted(blocks.g, [first, last]))
    lengths, ended, begun = (part[mine].tolist() for part in (blocks.length, blocks.g, blocks.h))
    widest = (last - first if most_missed is None else min(last - first, most_missed + 1)) + 1
    pool = _Pool((min(n_events, sum(lengths)) + 1) * widest)
    width = min(_SPARE_COLUMNS + 1, widest)
    settled, opened = pool.take(width), _Open(pool)
    settled[:] = 0.0
    settled[0] = MASS
    g, steps, steps_when_scaled = first, 0, 0
    for length, until, h in zip(lengths, ended, begun, strict=True):
        while g < until:
            g += 1
            settled = _settle(pool, settled, opened.pop(g), width)
        for done in range(0, length, longest):
            piece = min(longest, length - done)
            too_narrow = width < widest and h - first >= width
            if too_narrow or (steps + piece - steps_when_scaled) * log_growth > LOG_GROWTH_ALLOWED:
                factor = 2.0 ** -round((steps - steps_when_scaled) * log_growth / log(2))
                new_width = min(h - first + _SPARE_COLUMNS + 1, widest) if too_narrow else width
                settled = pool.relaid(settled, width, new_width, factor)
                opened = opened.relaid(width, new_width, factor)
                width, steps_when_scaled = new_width, steps
            steps += piece
            tables = [settled, *opened.sums()]
            opened.push(h, _with_events(pool, tables, width, piece, odds, min(n_events, steps) + 1))
    while g < last:
        g += 1
        settled = _settle(pool, settled, opened.pop(g), width)
    return settled.reshape(-1, width)


def _with_events(
    pool: _Pool, tables: list[FloatArray], width: int, length: int, odds: float, rows_after: int
) -> FloatArray:
    """((1 + odds x)^length - 1) times the sum of tables, x standing for one more event, up to `rows_after` rows."""
    made: list[FloatArray] = []
    if length > 2:  # below that it is cheaper to shift each table than to add them first
        for table in tables[1:]:
            made.append(pool.plus(made[-1] if made else tables[0], table))
        tables = [made[-1]] if made else tables
    rows = len(tables[-1]) // width
    k = np.arange(1, min(length, rows_after - 1) + 1, dtype=np.float64)
    coefficients = np.cumprod((length - k + 1) / k * odds)
    after = pool.take(rows_after * width)
    if length > 2 and 2 * len(k) > rows + 8:  # a matrix product does many shifts at once
        column = np.zeros(rows_after + rows - 1)
        column[rows : rows + len(k)] = coefficients
        toeplitz = np.lib.stride_tricks.sliding_window_view(column, rows)[:, ::-1]
        np.matmul(toeplitz, tables[0].reshape(rows, width), out=after.reshape(rows_after, width))
    else:
        after[:] = 0.0
        for shift, coefficient in enumerate(coefficients.tolist(), start=1):
            for table in tables:
                target = after[shift * width : shift * width + len(table)]
                _add(table[: len(target)], target, coefficient)
    for table in made:
        pool.give(table)
    return after


def _settle(pool: _Pool, settled: FloatArray, leaving: Iterator[FloatArray], width: int) -> FloatArray:
    """A window ends: settled states have missed it; states open to it alone have hit it and are settled now."""
    # who is in the last column has missed too many to count, and stays there: elsewhere that column is still empty
    beyond = settled[width - 1 :: width].copy()
    settled[width - 1 :: width] = 0.0
    total = next(leaving, None)
    if total is None:  # no event could have hit it alone: it began with the next one
        total = pool.take(len(settled))
        total[:] = 0.0
    for table in leaving:  # of later blocks: they have no fewer rows
        short, total = total, table
        _add(short, total[: len(short)])
        pool.give(short)
    _add(settled[:-1], total[1 : len(settled)])
    total[width - 1 : len(settled) : width] += beyond
    pool.give(settled)
    return total


def _add(table: FloatArray, target: FloatArray, factor: float = 1.0) -> None:
    """target += factor · table, in one pass and in pieces: they stay in cache, and below what BLAS uses threads for."""
    daxpy = _daxpy()
    for begin in range(0, len(table), _ENTRIES_AT_ONCE):
        piece = slice(begin, begin + _ENTRIES_AT_ONCE)
        daxpy(table[piece], target[piece], a=factor)


@cache
def _daxpy() -> Callable[..., Any]:
    """BLAS, when first needed: scipy.linalg takes as long to import as all the rest of nofluke."""
    from scipy.linalg.blas import daxpy

    return cast(Callable[..., Any], daxpy)


def _middle(windows: Windows) -> int:
    """The cluster's first prediction nearest to half of them; 0 if all windows hang together."""
    candidates = windows.cluster_starts
    if len(candidates) == 0:
        return 0
    return int(candidates[np.argmin(np.abs(2 * candidates - windows.n))])


def ratio(upper: FloatArray, lower: FloatArray) -> FloatArray:
    """upper / lower, and 0 in rows so improbable that they underflow."""
    return np.divide(upper, lower, out=np.zeros_like(upper), where=lower > 1e-300)


def _check_events(windows: Windows, n_events: int) -> None:
    if not 0 <= n_events <= windows.n_steps:
        raise InputError(
            argument="n_events",
            problem=f"must be from 0 to the {windows.n_steps} steps, got {n_events}",
            remedy="count events on the same steps",
        )
