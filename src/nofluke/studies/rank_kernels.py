"""Compiled loops of a ranking: exchange methods within every unit, and find the largest statistic of any pair.

Imported late (numba takes a second to load). :mod:`nofluke.studies.rank` prepares units and says what a number means.
Units lie in blocks, methods x units, that stay in the processor's cache while they are shuffled and multiplied.
"""

from typing import Any

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.compiled import compiled

HALF = np.uint64(32)  # mixed signed and unsigned integers become floats in numba: bits stay in uint64
WIDTH = 64  # units of a block
ALIGNED = 4  # a multiple of so many rows of a block, methods and zeros, are multiplied at once
ROUNDING = 1e-13  # of the squares that a sum of squares is the rest of

kernel = compiled(error_model="numpy")
summing = compiled(error_model="numpy", fastmath={"reassoc", "contract"})


@kernel
def next_word(state: Any) -> Any:
    """The next word of xorshift64 (Marsaglia 2003), whose upper half is used."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    return state ^ (state << np.uint64(17))


@kernel
def below(state: Any, n: int) -> Any:
    """A number from 0 up to n, from the upper half of a word."""
    return np.int64(((state >> HALF) * np.uint64(n)) >> HALF)


@summing
def add_products(x: FloatArray, products: FloatArray) -> None:
    """Add x xᵀ, on and above its diagonal."""
    n, width = x.shape
    for i in range(0, n, ALIGNED):
        a, b, c, d = x[i], x[i + 1], x[i + 2], x[i + 3]
        for j in range(i, n, 2):
            y, z = x[j], x[j + 1]
            ay = az = by = bz = cy = cz = dy = dz = 0.0
            for u in range(width):
                ay, az = ay + a[u] * y[u], az + a[u] * z[u]
                by, bz = by + b[u] * y[u], bz + b[u] * z[u]
                cy, cz = cy + c[u] * y[u], cz + c[u] * z[u]
                dy, dz = dy + d[u] * y[u], dz + d[u] * z[u]
            products[i, j] += ay
            products[i, j + 1] += az
            products[i + 1, j] += by
            products[i + 1, j + 1] += bz
            products[i + 2, j] += cy
            products[i + 2, j + 1] += cz
            products[i + 3, j] += dy
            products[i + 3, j + 1] += dz


@summing
def add_where_present(x: FloatArray, there: FloatArray, sums: FloatArray, squares: FloatArray) -> None:
    """Add Σ x_i and Σ x_i² over the units that have j, for all i and j."""
    n, width = x.shape
    for i in range(n):
        for j in range(n):
            s = q = 0.0
            for u in range(width):
                own = x[i, u] * there[j, u]
                s, q = s + own, q + own * x[i, u]
            sums[i, j] += s
            squares[i, j] += q


@kernel
def exchange_complete(blocks: FloatArray, n: int, state: Any, largest: FloatArray) -> None:
    """Largest (Σ d)² / Σ d² of all pairs, one for each exchange, where every unit has all n methods.

    Units are shuffled where they lie: what is shuffled again is as random as the first time.
    """
    x = blocks.copy()
    rows = x.shape[1]
    products, total = np.empty((rows, rows)), np.empty(n)
    for draw in range(len(largest)):
        products[:], total[:] = 0.0, 0.0
        for at in range(len(x)):
            block = x[at]
            for u in range(block.shape[1]):
                for j in range(n - 1, 0, -1):
                    state = next_word(state)
                    i = below(state, j + 1)
                    block[i, u], block[j, u] = block[j, u], block[i, u]
            for i in range(n):
                total[i] += block[i].sum()
            add_products(block, products)
        most = 0.0
        for i in range(n):
            for j in range(i + 1, n):
                both = products[i, i] + products[j, j]
                rest, sums = both - 2 * products[i, j], total[i] - total[j]
                if rest > ROUNDING * both:
                    most = max(most, sums * sums / rest)
        largest[draw] = most


@kernel
def exchange_present(
    blocks: FloatArray, there: FloatArray, present: IntArray, counts: IntArray, n: int, state: Any, largest: FloatArray
) -> None:
    """The same where units lack methods: only those that are present are exchanged.

    ``there`` is 1 where a method is in a unit, and 0 elsewhere, as are its values. ``present`` lists the methods of
    each unit, the first ``counts`` of its row.
    """
    x = blocks.copy()
    rows, width = x.shape[1:]
    products, sums, squares = np.empty((rows, rows)), np.empty((rows, rows)), np.empty((rows, rows))
    for draw in range(len(largest)):
        products[:], sums[:], squares[:] = 0.0, 0.0, 0.0
        for at in range(len(x)):
            block = x[at]
            for u in range(width):
                unit = at * width + u
                for j in range(counts[unit] - 1, 0, -1):
                    state = next_word(state)
                    one, other = present[unit, below(state, j + 1)], present[unit, j]
                    block[one, u], block[other, u] = block[other, u], block[one, u]
            add_products(block, products)
            add_where_present(block, there[at], sums, squares)
        most = 0.0
        for i in range(n):
            for j in range(i + 1, n):
                both = squares[i, j] + squares[j, i]
                rest, d = both - 2 * products[i, j], sums[i, j] - sums[j, i]
                if rest > ROUNDING * both:
                    most = max(most, d * d / rest)
        largest[draw] = most


@kernel
def exchange_partly(between: FloatArray, present: IntArray, counts: IntArray, state: Any, largest: FloatArray) -> None:
    """The same where methods have parts of units: ``between`` has the differences on the series that two have."""
    n_units, n = present.shape
    who = present.copy()
    sums, squares = np.empty((n, n)), np.empty((n, n))
    for draw in range(len(largest)):
        sums[:], squares[:] = 0.0, 0.0
        for u in range(n_units):
            many = counts[u]
            for j in range(many - 1, 0, -1):
                state = next_word(state)
                i = below(state, j + 1)
                who[u, i], who[u, j] = who[u, j], who[u, i]
            for i in range(many):
                for j in range(i + 1, many):
                    d = between[u, who[u, i], who[u, j]]
                    sums[present[u, i], present[u, j]] += d
                    squares[present[u, i], present[u, j]] += d * d
        most = 0.0
        for i in range(n):
            for j in range(i + 1, n):
                if squares[i, j] > 0:
                    most = max(most, sums[i, j] * sums[i, j] / squares[i, j])
        largest[draw] = most
