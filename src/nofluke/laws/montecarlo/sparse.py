"""Few events on very many steps: placements at random whose cost depends on the events alone."""

from __future__ import annotations

import numpy as np

from nofluke.arrays import IntArray


def sparse_placements(generator: np.random.Generator, n_steps: int, n_events: int, size: int) -> IntArray:
    """So many placements as rows of distinct ascending steps, every set of steps equally likely.

    Steps are drawn independently, and those that were drawn before are drawn again until all differ. Nothing here looks
    at steps other than to tell whether two are the same: no set can be likelier than another. Rows are drawn one after
    the other, so that the first ones do not depend on how many there are.

    Examples
    --------
    >>> sparse_placements(np.random.default_rng(0), 10**18, 3, 2)
    array([[ 40973523936194698, 269786713763870410, 636961687321454339],
           [ 16527635528529095, 813270239200272432, 912755577277721778]])
    """
    rows = np.empty((size, n_events), dtype=np.int64)
    for row in rows:
        if 2 * n_events <= n_steps:
            _fill(generator, n_steps, row)
        else:  # the empty steps are the fewer
            gaps = np.empty(n_steps - n_events, dtype=np.int64)
            _fill(generator, n_steps, gaps)
            row[:] = np.delete(np.arange(n_steps), gaps)
    return rows


def _fill(generator: np.random.Generator, n_steps: int, row: IntArray) -> None:
    row[:] = generator.integers(n_steps, size=len(row))
    row.sort()
    make_distinct(generator, n_steps, row)


def make_distinct(generator: np.random.Generator, n_steps: int, row: IntArray) -> None:
    """Draw those of ascending steps again that come more than once, until none does, and leave the row ascending."""
    again = np.flatnonzero(row[1:] == row[:-1])
    while len(again):
        row[again] = generator.integers(n_steps, size=len(again))
        row.sort()
        again = np.flatnonzero(row[1:] == row[:-1])
