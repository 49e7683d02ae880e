"""The exact joint law of both kinds of hits by a dynamic programme that only ever adds positive numbers.

Blocks are walked through in time order. A table indexed by (r events so far on covered steps, u predictions
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

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from nofluke.arrays import FloatArray, IntArray, product, weighted_sum
from nofluke.compiled import Patience, compiled, compiler
from nofluke.laws.exact.generating import distinct_clusters
from nofluke.laws.exact.hypergeometric import hypergeometric_pmf
from nofluke.laws.exact.moments import check_count
from nofluke.series.counting import Windows, cut

_SMALL_TABLE = 2_500  # entries: up to here, a table is walked through all blocks sooner than clusters are told apart
# Tables start with this mass and are brought back to it: half of the range of a double lies on either side
MASS = 2.0**500
LOG_GROWTH_ALLOWED = 200.0
SECONDS_PER_BLOCK = 30e-6  # that NumPy takes for each block: 15 µs of a small table, 50 of those of the paper's size
_SPARE_COLUMNS = 16  # how many more missed predictions a table has room for when it is laid out again
_AT_ONCE = 1024  # entries that stay in the fastest cache while all shifts are added to them


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
    check_count("n_events", n_events, windows.n_steps)
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
    np.multiply(table[:, ::-1], ratio(np.ones(rows), table.sum(axis=1))[:, np.newaxis], out=reached)
    reached *= recall[:, np.newaxis]
    return joint


def _table(windows: Windows, n_events: int, most_missed: int | None = None) -> FloatArray:
    """The table of all windows, but for a factor."""
    if not _is_small_table(windows, n_events):
        programme = _Programme(windows, n_events, most_missed)
        return programme.table([kind.copies for kind in programme.kinds])
    blocks, n, odds = windows.blocks, windows.n, _odds(windows, n_events)
    length, g, h = _in_pieces(odds, blocks.length, blocks.g, blocks.h)
    most = n if most_missed is None else most_missed
    most_hit = most_hits(windows, n_events)
    with engine(SECONDS_PER_BLOCK * len(length)) as (walk, _):
        table: FloatArray = walk(length, g, h, np.array([[MASS]]), 0, n, n_events, odds, most, most_hit, windows.reach)
    if most < n:
        return table
    # as wide whatever is known of the hits, with which a sum over a row changes its last digit
    laid = np.zeros((len(table), min(n, n_events * windows.reach) + 1))
    kept = min(table.shape[1], laid.shape[1])
    laid[:, -kept:] = table[:, -kept:]
    return laid


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
    check_count("n_events", n_events, windows.n_steps)
    if n_events in (0, windows.n_steps) or _is_small_table(windows, n_events):
        law: FloatArray = joint_pmf(windows, n_events).sum(axis=0)
        return law
    programme = _Programme(windows, n_events)
    # room for their product, whose mass of 2^600 is taken out at the end
    left, right = (table * (2.0**300 / table.sum()) for table in programme.halves())
    recall = hypergeometric_pmf(windows.n_steps, windows.covered, n_events)
    both = np.convolve(left.sum(axis=1), right.sum(axis=1))[: len(recall)]
    weight = np.zeros(len(left) + len(right) - 1)
    weight[: len(recall)] = ratio(recall, both * 2.0**-600)
    by_sum = np.lib.stride_tricks.sliding_window_view(weight, len(right))  # row r, column r': weight[r + r']
    missed = product(left.T, product(by_sum, right))
    law = np.zeros(windows.n + 1)
    reached = _diagonal_sums(missed)[::-1]  # the last columns are those of no hit
    law[: len(reached)] = reached
    return law * 2.0**-600


def _diagonal_sums(table: FloatArray) -> FloatArray:
    """The sum over all entries (i, j) with the same i + j: each row is moved on by one more than that before.

    >>> _diagonal_sums(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([1., 5., 4.])
    """
    rows, columns = table.shape
    moved = np.zeros((rows, columns + rows))
    moved[:, :columns] = table
    return np.asarray(moved.reshape(-1)[: rows * (columns + rows - 1)].reshape(rows, -1).sum(axis=0))


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
    return weighted_sum(weights, table[:, : most + 1])


def programme_cost(windows: Windows, n_events: int, most_missed: int | None = None) -> int:
    """Number of table entries that `joint_pmf` passes over: 0.2 to 0.9 ns each, plus some 10 µs per prediction.

    It grows like min(D, n min(m, D)) min(m, D) n: long blocks are done by matrix products, whatever their length. With
    ``most_missed``, the cost of `few_missed_pmf`.
    """
    check_count("n_events", n_events, windows.n_steps)
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
    check_count("n_events", n_events, windows.n_steps)
    columns = windows.n if most_missed is None else min(windows.n, most_missed + 1)
    table = 8 * (min(n_events, windows.covered) + 1) * (columns + 1)
    blocks = windows.blocks
    open_blocks = np.arange(1, len(blocks.h) + 1) - np.searchsorted(blocks.h, blocks.g, side="right")
    return table * (2 * int(open_blocks.max(initial=0)) + 5)


class _Kind(NamedTuple):
    """Equal clusters of windows that hang together: blocks and predictions of each, and how many there are.

    Where its table is ``small``, to multiply by all of its entries is faster than to walk through the blocks.
    """

    length: IntArray
    g: IntArray
    h: IntArray
    size: int
    copies: int
    small: bool


class _Programme:
    """Tables of weights of clusters of windows, for so many events."""

    def __init__(self, windows: Windows, n_events: int, most_missed: int | None = None) -> None:
        self.odds = _odds(windows, n_events)
        self.n_events, self.reach = n_events, windows.reach
        self.most_missed = windows.n if most_missed is None else most_missed
        self.most_hit = n_events * windows.reach
        self.kinds: list[_Kind] = []
        self.own: dict[int, FloatArray] = {}  # tables of small kinds
        clusters = distinct_clusters(windows)
        for member, count in zip(clusters.member.tolist(), clusters.copies.tolist(), strict=True):
            part = slice(clusters.first[member], clusters.first[member + 1])
            length, g, h = _in_pieces(self.odds, windows.blocks.length[part], clusters.g[part], clusters.h[part])
            size = int(clusters.size[member])
            steps = length.tolist()
            entries = (min(sum(steps), n_events) + 1) * (size + 1)
            passes = sum(min(some, n_events) for some in steps) + 4 * len(steps) + 2 * size
            self.kinds.append(_Kind(length, g, h, size, count, small=entries <= 2 * passes))
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
        limits = self.most_missed, self.most_hit
        with engine(SECONDS_PER_BLOCK * sum(len(kind.length) for kind in self.kinds)) as (walk, times):
            for i, (kind, count) in enumerate(zip(self.kinds, counts, strict=True)):
                if count and kind.small:  # once by itself, and a product for each
                    if i not in self.own:
                        rest = 0, kind.size, self.n_events, self.odds, *limits, self.reach
                        self.own[i] = walk(kind.length, kind.g, kind.h, np.ones((1, 1)), *rest)
                    table = times(table, before, self.own[i], kind.size, count, self.n_events, *limits)
                    before += count * kind.size
                    continue
                for _ in range(count):
                    g, h, n = kind.g + before, kind.h + before, before + kind.size
                    rest = before, n, self.n_events, self.odds, *limits, self.reach
                    table = walk(kind.length, g, h, table, *rest)
                    table *= 2.0 ** -round(math.log2(table.sum() / MASS))  # as a product leaves it
                    before = n
        return np.asarray(table)


def _odds(windows: Windows, n_events: int) -> float:
    """Of an event on a step, which keep the numbers near their own law."""
    return n_events / (windows.n_steps - n_events)


def _in_pieces(odds: float, length: IntArray, g: IntArray, h: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Blocks cut where tables would grow more in one of them than is allowed."""
    longest = max(int(min(LOG_GROWTH_ALLOWED / math.log1p(odds), 2.0**62)), 1)
    if length.max(initial=0) <= longest:
        return length, g, h
    of, length = cut(length, longest)
    return length, g[of], h[of]


def most_hits(windows: Windows, n_events: int) -> int:
    """At most so many predictions are hit: each event has the best block to itself, of those that no other one holds.

    >>> windows = Windows(starts=np.array([0, 1, 6]), stops=np.array([3, 4, 9]), n_steps=10)
    >>> most_hits(windows, 1), most_hits(windows, 2)
    (2, 3)
    """
    g, h = windows.blocks.g, windows.blocks.h
    best = np.ones(len(g), dtype=np.bool_)
    best[1:] &= h[1:] > h[:-1]
    best[:-1] &= g[1:] > g[:-1]
    return int(np.sort((h - g)[best])[-n_events:].sum())


def _is_small_table(windows: Windows, n_events: int) -> bool:
    return (n_events + 1) * (min(windows.n, n_events * windows.reach) + 1) <= _SMALL_TABLE


def ratio(upper: FloatArray, lower: FloatArray) -> FloatArray:
    """upper / lower, and 0 in rows so improbable that they underflow."""
    return np.divide(upper, lower, out=np.zeros_like(upper), where=lower > 1e-300)


# ---- the recurrence over blocks on tables of weights: one source, run by Python or, where that pays, compiled
#
# numba compiles `walk` and `times` as they stand. The four functions that work on whole tables have two bodies: a few
# calls of NumPy for Python, and loops for the compiler (`compile_walk`). Both make the same additions in the same
# order, so that no bit of a result tells which of them ran.


def walk(
    length: IntArray,
    g: IntArray,
    h: IntArray,
    start: FloatArray,
    before: int,
    n: int,
    n_events: int,
    odds: float,
    most_missed: int,
    most_hit: int,
    reach: int,
) -> FloatArray:
    """Put the predictions of some blocks into a table of weights: row r events so far, column u predictions missed.

    Parameters
    ----------
    length, g, h : int64 arrays
        The blocks in time order: so many steps on which an event hits predictions g .. h-1.
    start : float64 array of shape (rows, columns)
        The table of the ``before`` predictions before, which share no step with these. Its last column stands for all
        of these being missed, or more than ``most_missed``.
    n : int
        Predictions after these.
    n_events : int
        The most events.
    odds : float
        Of an event on a step.
    most_missed : int
        States that have missed more share the column beyond it.
    most_hit : int
        At least as many predictions as the events can hit: what they cannot have hit is missed, and needs no column.
    reach : int
        The most predictions that one event hits.

    Returns
    -------
    float64 array of shape (rows, columns)
        The table of n predictions: its last column stands for n missed, or for more than ``most_missed``.
    """
    log_growth = math.log1p(odds)
    widest = min(n, most_missed + 1) + 1
    slides = most_hit < n and most_missed >= n  # columns of fewer misses than there can be are dropped on the way
    if slides:
        widest = min(widest, most_hit + 2 * (reach + _SPARE_COLUMNS))
    width = start.shape[1]
    widest = max(widest, width)
    # All tables, row after row, and how many entries each has. The states whose last event hit the open predictions
    # before `until` are a queue of two stacks, whose sums are never made by subtracting: from `new` on are the newest,
    # their sum in `newer`; from `old + head` to `old + n_old` the oldest, each with all younger ones of these in a sum.
    most_open = reach + 2
    tables = np.empty((4 + 3 * most_open, (min(n_events, start.shape[0] - 1 + length.sum()) + 1) * widest))
    filled = np.zeros(len(tables), dtype=np.int64)
    until = np.zeros(len(tables), dtype=np.int64)
    settled, spare, total, newer, new, old, sums = 0, 1, 2, 3, 4, 4 + most_open, 4 + 2 * most_open
    head = n_old = n_new = 0
    filled[settled] = start.size
    tables[settled, : start.size] = start.copy().reshape(-1)
    ways = np.empty(n_events)
    shifts = width * np.arange(1, n_events + 1)  # so many events are so many rows further on
    passed, steps, grown = before, start.shape[0] - 1, 0.0
    base = min(before, most_missed + 1) + 1 - width  # misses that the first column stands for
    for block in range(len(length) + 1):
        last = block == len(length)
        while passed < (n if last else g[block]):
            passed += 1
            # a window ends: settled states have missed it, and those struck up to it alone are settled now
            miss(tables, filled, settled, spare, width)
            settled, spare = spare, settled
            while True:
                if head == n_old and n_new > 0 and until[new] == passed:
                    new, old, head, n_old, n_new = old, new, 0, n_new, 0
                    for i in range(n_old - 1, -1, -1):  # the youngest with nothing: a table without entries
                        filled[total] = 0
                        plus(tables, filled, old + i, total if i == n_old - 1 else sums + i + 1, sums + i)
                if head == n_old or until[old + head] != passed:
                    break
                plus(tables, filled, settled, old + head, settled)
                head += 1
        if last:
            break
        growth = length[block] * log_growth
        narrow = h[block] - base >= width and (width < widest or slides)
        if narrow or grown + growth > LOG_GROWTH_ALLOWED:
            factor = 2.0 ** -round(grown / math.log(2.0))
            drop = max(passed - most_hit - base, 0) if narrow and slides else 0
            wide = min(h[block] - base - drop + _SPARE_COLUMNS + 1, widest) if narrow else width
            for table in range(len(tables)):
                held = old + head <= table < old + n_old or new <= table < new + n_new
                if held or sums + head <= table < sums + n_old or table == settled or (table == newer and n_new > 1):
                    relay(tables[table], tables[total], filled[table] // width, width, wide, drop, factor)
                    filled[table] = filled[table] // width * wide
            width, base, grown = wide, base + drop, 0.0
            shifts = width * np.arange(1, n_events + 1)
        grown += growth
        steps += length[block]
        # an event in the block strikes any state up to h: the sum of all, times (1 + odds x)^length - 1
        summed = settled
        for part in (sums + head if head < n_old else 0, (new if n_new == 1 else newer) if n_new > 0 else 0):
            if part > 0:
                plus(tables, filled, summed, part, total)
                summed = total
        most = min(length[block], n_events)
        for k in range(most):
            ways[k] = (ways[k - 1] if k > 0 else 1.0) * (length[block] - k) / (k + 1) * odds
        made = new + n_new
        filled[made] = (min(n_events, steps) + 1) * width
        shifted(tables[summed, : filled[summed]], ways[:most], shifts[:most], tables[made, : filled[made]])
        joins = n_new > 0 and until[made - 1] == h[block]
        if n_new > (1 if joins else 0):  # into the sum, which is begun with the second
            plus(tables, filled, new if n_new == 1 else newer, made, newer)
        if joins:
            plus(tables, filled, made - 1, made, made - 1)
        else:
            until[made] = h[block]
            n_new += 1
    end = min(n, most_missed + 1) + 1 - base  # columns beyond it are spare
    return tables[settled, : filled[settled]].reshape(-1, width)[:, :end].copy()


def times(
    table: FloatArray,
    before: int,
    factor: FloatArray,
    size: int,
    count: int,
    n_events: int,
    most_missed: int,
    most_hit: int,
) -> FloatArray:
    """Put ``count`` equal clusters of ``size`` predictions into a table: each multiplies it by the cluster's own.

    Both are laid out as in `walk`. Some are done at a time, with room for the columns of all of them; what is too wide
    then is folded or dropped as it is there.
    """
    rows, columns, misses = len(factor), factor.shape[1] - 1, min(size, most_missed + 1)
    at = np.flatnonzero(factor)
    ways = factor.reshape(-1)[at]
    at_once = min(max(int(LOG_GROWTH_ALLOWED / max(math.log(factor.sum()), 1.0)), 1), _SPARE_COLUMNS)
    done = 0
    while done < count:
        some = min(count - done, at_once)
        base = min(before, most_missed + 1) + 1 - table.shape[1] + some * (misses - columns)
        width = table.shape[1] + some * columns
        shifts = at // (columns + 1) * width + at % (columns + 1)
        laid = np.zeros((min(len(table) + some * (rows - 1), n_events + 1), width))
        laid[: len(table), : table.shape[1]] = table
        one, other = laid.reshape(-1), np.empty(laid.size)
        filled = len(table)
        for _ in range(some):
            grown = min(filled + rows - 1, n_events + 1)
            shifted(one[: filled * width], ways, shifts, other[: grown * width])
            one, other, filled = other, one, grown
        done += some
        before += some * size
        last = min(before, most_missed + 1)
        first = max(base, before - most_hit) if most_missed >= before else base
        made = one[: filled * width].reshape(filled, width)
        made *= 2.0 ** -round(math.log2(made.sum() / MASS))
        table = made[:, first - base : last + 1 - base].copy()
        for beyond in range(last + 1 - base, width):
            table[:, -1] += made[:, beyond]
    return table


def plus(tables: FloatArray, filled: IntArray, one: int, other: int, out: int) -> None:
    """Table out = table one + table other, of which one may have fewer rows."""
    short, long = (one, other) if filled[one] < filled[other] else (other, one)
    both, end = filled[short], filled[long]
    np.add(tables[one, :both], tables[other, :both], tables[out, :both])
    if out != long:
        tables[out, both:end] = tables[long, both:end]
    filled[out] = end


def miss(tables: FloatArray, filled: IntArray, table: int, out: int, width: int) -> None:
    """One more is missed: each row one column on. Who is in the last column has missed too many to count, and stays."""
    end = filled[out] = filled[table]
    tables[out, 1:end] = tables[table, : end - 1]
    tables[out, 0:end:width] = 0.0
    tables[out, width - 1 : end : width] += tables[table, width - 1 : end : width]


def shifted(table: FloatArray, ways: FloatArray, shifts: IntArray, out: FloatArray) -> None:
    """``out`` is the sum of the table times each of the ways, moved on by its shift; shifts ascend."""
    out[:] = 0.0
    for way, shift in zip(ways.tolist(), shifts.tolist(), strict=True):
        end = min(len(out), len(table) + shift)
        out[shift:end] += way * table[: end - shift]


def relay(table: FloatArray, scratch: FloatArray, rows: int, width: int, wide: int, drop: int, factor: float) -> None:
    """Lay out the rows of a table with ``wide`` columns in place of ``width``, without the first ``drop``."""
    kept = min(width - drop, wide)
    scratch[: rows * width] = table[: rows * width] * factor
    old, new = scratch[: rows * width].reshape(rows, width), table[: rows * wide].reshape(rows, wide)
    new[:, :kept] = old[:, drop : drop + kept]
    new[:, kept:] = 0.0


# ---- run by Python, or compiled


@contextmanager
def engine(seconds: float) -> Iterator[tuple[Any, Any]]:
    """`walk` and `times` for a problem that takes Python so many seconds, about: compiled once that pays."""
    walks, products = WALKS.loops(seconds, "walk"), WALKS.loops(0.0, "times")
    begun = time.perf_counter()
    yield walk if walks is None else walks.walk, times if products is None else products.times
    if walks is None or products is None:
        WALKS.spend(time.perf_counter() - begun - seconds)


@cache
def compile_walk() -> SimpleNamespace:
    """`walk` and `times`, compiled when first called."""
    overload = compiler().extending.overload

    def plus_loop(tables, filled, one, other, out):  # type: ignore[no-untyped-def]
        short, long = (one, other) if filled[one] < filled[other] else (other, one)
        few, many, target = tables[short], tables[long], tables[out]
        both, end = filled[short], filled[long]
        if out == long:  # by themselves: arrays that are the same one are added number by number
            for i in range(both):
                many[i] += few[i]
        elif out == short:
            for i in range(both):
                few[i] += many[i]
        else:
            for i in range(both):
                target[i] = few[i] + many[i]
        if out != long:
            for i in range(both, end):
                target[i] = many[i]
        filled[out] = end

    def miss_loop(tables, filled, table, out, width):  # type: ignore[no-untyped-def]
        source, target, end = tables[table], tables[out, 1:], filled[table]
        for i in range(end - 1):
            target[i] = source[i]
        for begin in range(0, end, width):
            tables[out, begin] = 0.0
            tables[out, begin + width - 1] += source[begin + width - 1]
        filled[out] = end

    def relay_loop(table, scratch, rows, width, wide, drop, factor):  # type: ignore[no-untyped-def]
        for i in range(rows * width):
            scratch[i] = table[i] * factor
        kept = min(width - drop, wide)
        for row in range(rows):
            old, new = scratch[row * width + drop :], table[row * wide :]
            for column in range(kept):
                new[column] = old[column]
            for column in range(kept, wide):
                new[column] = 0.0

    def shifted_loop(table, ways, shifts, out):  # type: ignore[no-untyped-def]
        for begin in range(0, len(out), _AT_ONCE):
            stop = min(begin + _AT_ONCE, len(out))
            here = out[begin:stop]
            here[:] = 0.0
            i = 0
            while i < len(ways):
                if i + 4 <= len(ways) and shifts[i + 3] <= begin and stop <= len(table) + shifts[i]:
                    a, b, c, d = ways[i], ways[i + 1], ways[i + 2], ways[i + 3]
                    of_a, of_b = table[begin - shifts[i] :], table[begin - shifts[i + 1] :]
                    of_c, of_d = table[begin - shifts[i + 2] :], table[begin - shifts[i + 3] :]
                    for j in range(len(here)):  # added one after the other, as Python does
                        here[j] = here[j] + a * of_a[j] + b * of_b[j] + c * of_c[j] + d * of_d[j]
                    i += 4
                else:
                    first, end = max(begin, shifts[i]), min(stop, len(table) + shifts[i])
                    if first < end:
                        way, source, target = ways[i], table[first - shifts[i] :], out[first:end]
                        for j in range(len(target)):
                            target[j] += way * source[j]
                    i += 1

    for function, loop in ((plus, plus_loop), (miss, miss_loop), (relay, relay_loop), (shifted, shifted_loop)):
        overload(function, strict=False)(lambda *_types, loop=loop: loop)
    return SimpleNamespace(walk=compiled()(walk), times=compiled()(times))


WALKS = Patience(compile_walk)
