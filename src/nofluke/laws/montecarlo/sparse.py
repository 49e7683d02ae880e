"""Random steps of a great many: nothing here is as long as the steps are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nofluke.laws.montecarlo.run import Draw, Uniform

MOST_FLAGGED = 2**20  # steps up to which each has a bit of its own


@dataclass(frozen=True, slots=True)
class Sparse:
    """Events on random steps, every set of them equally likely, of up to 2**63 steps.

    Examples
    --------
    >>> rows = Sparse(10**18, 3)(np.random.default_rng(1), 4)
    >>> rows.shape, bool((np.diff(rows, axis=1) > 0).all())
    ((4, 3), True)
    """

    n_steps: int
    n_events: int

    def __call__(self, generator: np.random.Generator, size: int) -> NDArray[Any]:
        """So many placements, as rows of ascending steps."""
        rows = np.sort(generator.integers(self.n_steps, size=(size, self.n_events)), axis=1)
        for row in np.flatnonzero((np.diff(rows, axis=1) == 0).any(axis=1)):
            # the first so many different ones of a sequence of random steps
            once = np.unique(rows[row])
            while len(once) < self.n_events:
                more = generator.integers(self.n_steps, size=self.n_events - len(once))
                once = np.unique(np.concatenate([once, more]))
            rows[row] = once
        return rows


def uniform(n_steps: int, n_events: int) -> Draw:
    """Events on random steps, however many of these there are."""
    return Uniform(n_steps, n_events) if n_steps <= MOST_FLAGGED else Sparse(n_steps, n_events)
