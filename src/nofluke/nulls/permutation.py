"""The null of the paper: events fall on random steps, the predictions stay where they are.

The section "The null model" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from nofluke.laws.approximate import PrecisionSaddlepoint
from nofluke.laws.costs import FEW_PATIENCE, PROGRAMME_OPERATIONS, announce_compilation, table_engine
from nofluke.laws.exact.moments import Moments, precision_moments, recall_moments
from nofluke.laws.law import Law, exactly
from nofluke.laws.montecarlo import Draw, Uniform
from nofluke.laws.montecarlo.in_time import uniform
from nofluke.laws.precision import precision_law
from nofluke.laws.tables import hypergeometric
from nofluke.nulls import timed_shifts
from nofluke.nulls.base import METHODS, Joint, Method, NullModel, Trait, floor_of
from nofluke.nulls.bernoulli import donges
from nofluke.series.timed import TimedCell, TimedTruth
from nofluke.series.trial import Cell
from nofluke.series.truth import Truth

CELL_OPERATIONS = 5e7  # in a sweep of many cells the dynamic programme must be faster than in a single test
SMALL_PROGRAMME = 5e6  # operations: the smallest p of precision is asked for only where it is cheap, and of interest
TAILS_A_CELL = 4.0  # p-value, band and picture of a cell cost as much as this many tails


@dataclass(frozen=True, kw_only=True)
class Permutation(NullModel):
    """Events are placed uniformly at random on the steps that count; the predictions are fixed.

    Recall's hits are then hypergeometric. Precision's hits are overdispersed, since one event makes hits of all
    predictions around it; their exact distribution follows from the windows of the predictions.

    Use it where events come one at a time and do not cluster. It keeps the number of events and everything about the
    predictions, and tears apart whatever clustering or season the events have.

    Parameters
    ----------
    programme_operations : float
        Up to how many operations the dynamic programme is preferred to the compiled Fourier inversion.

    See Also
    --------
    nofluke.nulls.CircularShift : for clusters and ranges.
    nofluke.nulls.LocalPermutation : where rates change slowly.
    nofluke.nulls.Seasonal : where there is a season.

    References
    ----------
    Scharwächter and Müller (2020), section 3.
    """

    programme_operations: float = PROGRAMME_OPERATIONS

    name: ClassVar[str] = "permutation"
    methods: ClassVar[tuple[Method, ...]] = METHODS
    takes_times: ClassVar[bool] = True

    @property
    def permutes(self) -> bool:
        return True

    @property
    def assumption(self) -> str:
        return self.assumed(in_time=False)

    def assumed(self, *, in_time: bool) -> str:
        places = "ticks" if in_time else "steps"
        return (
            f"Chance places the events on random {places}, independently of one another; the predictions stay in place."
        )

    @property
    def settings(self) -> dict[str, Any]:
        """None: how much work is spent on it is no part of what chance does."""
        return {}

    @property
    def keeps(self) -> frozenset[Trait]:
        """Nothing but the number of events."""
        return frozenset()

    def draw(self, side: Truth) -> Draw:
        """Uniformly, on distinct steps."""
        return uniform(side.n_steps, side.n) if isinstance(side, TimedTruth) else Uniform(side.n_steps, side.n)

    def known_laws(self, cell: Cell, method: Method) -> dict[str, Law]:
        if method == "binomial":
            return donges(cell)
        windows, m = cell.windows, cell.n_events
        recall = recall_law(cell)
        if method == "saddlepoint":
            announce_compilation()
            return {"precision": PrecisionSaddlepoint(windows, m), "recall": recall}
        precision = precision_law(windows, m, "exact" if method == "exact" else "auto", self.programme_operations)
        return {"recall": recall} if precision is None else {"precision": precision, "recall": recall}

    def joint(self, cell: Cell, *, n_resamples: int = 10_000, rng: Any = None) -> Joint:
        """The joint law of both hits: exact where the dynamic programme is affordable, else simulated."""
        from nofluke.laws.exact import few, programme

        windows = cell.windows.hittable
        if windows.covered != cell.covered or (isinstance(cell, TimedCell) and cell.counted is not None):
            return super().joint(cell, n_resamples=n_resamples, rng=rng)  # recall does not go by these windows
        patience = min(FEW_PATIENCE, 4 * self.programme_operations)  # less in a hurry
        engine = table_engine(windows, cell.n_events, self.programme_operations, patience)
        if engine is None:
            return super().joint(cell, n_resamples=n_resamples, rng=rng)
        table = (few if engine == "few" else programme).joint_pmf(windows, cell.n_events)
        recall_hits, precision_hits = np.nonzero(table)
        return Joint(
            recall_hits=recall_hits,
            precision_hits=precision_hits,
            weights=table[recall_hits, precision_hits],
            method=exactly("dynamic programme"),
        )

    def exact_sides(self, cell: Cell, times: int = 1) -> tuple[str, ...]:
        del cell, times
        return ("precision", "recall")

    def moments(self, cell: Cell) -> dict[str, Moments]:
        return {
            "precision": precision_moments(cell.windows.hittable, cell.n_events),
            "recall": recall_moments(cell.n_steps, cell.covered, cell.n_events),
        }

    def hurried(self) -> Permutation:
        return replace(self, programme_operations=min(self.programme_operations, CELL_OPERATIONS))

    def exact_seconds(self, cell: Cell) -> float:
        from nofluke.laws.exact.fourier import estimate_cost
        from nofluke.laws.exact.programme import programme_cost

        windows = cell.windows.hittable
        programme = 1e-9 * programme_cost(windows, cell.n_events) + 1e-5 * cell.n_predictions
        return programme if programme < 0.05 else TAILS_A_CELL * estimate_cost(windows, cell.n_events)

    def smallest_pvalues(self, cell: Cell) -> dict[str, float | None]:
        from nofluke.laws.exact.programme import precision_pmf, programme_cost

        recall = floor_of(recall_law(cell))
        windows = cell.windows.hittable
        if programme_cost(windows, cell.n_events) > SMALL_PROGRAMME:
            return {"precision": None, "recall": recall}
        table = precision_pmf(windows, cell.n_events)
        return {"precision": float(table[np.flatnonzero(table)[-1]]), "recall": recall}


def recall_law(cell: Cell) -> Law:
    """Recall's hits: hypergeometric, out of the events that count."""
    if isinstance(cell, TimedCell) and cell.counted is not None:
        return timed_shifts.permuted(cell, cell.counted)
    return hypergeometric(cell.n_steps, cell.covered, cell.n_events)
