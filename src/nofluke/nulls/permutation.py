"""The paper's null: events on random steps, with its exact laws.

The section "The null model" of docs/explanation/theory.md has the mathematics.
The section "Why the binomial is off" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from nofluke.errors import InputError, arg, passed, say
from nofluke.laws.approximate import PrecisionSaddlepoint
from nofluke.laws.exact.moments import Moments, precision_moments, recall_moments
from nofluke.laws.law import Law, exactly
from nofluke.laws.montecarlo import Draw, Uniform
from nofluke.laws.montecarlo.in_time import uniform
from nofluke.laws.precision import FEW_PATIENCE, PROGRAMME_OPERATIONS, announce_compilation, precision_law, table_fits
from nofluke.laws.tables import binomial, hypergeometric
from nofluke.nulls import timed_shifts
from nofluke.nulls.base import METHODS, Joint, Kept, Method, NullModel, as_operations, floor_of
from nofluke.series.trial import Cell
from nofluke.series.truth import Truth

CELL_OPERATIONS = 5e7  # in a sweep of many cells the dynamic programme must be faster than in a single test
SMALL_PROGRAMME = 5e6  # operations: the smallest p of precision is asked for only where it is cheap, and of interest
FEW_EVENTS = 1_000  # up to which laws of recall are kept: 8 MB in all
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "programme_operations", as_operations(self.programme_operations))

    @property
    def permutes(self) -> bool:
        return True

    @property
    def assumption(self) -> str:
        return self.assumed(in_time=False)

    def assumed(self, *, in_time: bool) -> str:
        places = "ticks" if in_time else "steps"
        return say(
            "Chance places the {events} on random {}, independently of one another; the {predictions} stay in place.",
            places,
        )

    @property
    def settings(self) -> dict[str, Any]:
        """None: how much work is spent on it is no part of what chance does."""
        return {}

    @property
    def keeps(self) -> frozenset[Kept]:
        """Nothing but the number of events."""
        return frozenset()

    def draw(self, side: Truth) -> Draw:
        """Uniformly, on distinct steps."""
        return (uniform if side.in_time else Uniform)(side.n_steps, side.n)

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
        from nofluke.laws.exact.programme import joint_pmf

        windows = cell.windows.hittable
        if windows.covered != cell.covered or cell.counted is not None:
            return super().joint(cell, n_resamples=n_resamples, rng=rng)  # recall does not go by these windows
        patience = min(FEW_PATIENCE, 4 * self.programme_operations)  # less in a hurry
        if not table_fits(windows, cell.n_events, self.programme_operations, patience):
            return super().joint(cell, n_resamples=n_resamples, rng=rng)
        table = joint_pmf(windows, cell.n_events)
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

    def hurried(self, operations: float = math.inf) -> Permutation:
        return _with_operations(self, min(self.programme_operations, CELL_OPERATIONS, operations))

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


@lru_cache(maxsize=64)  # a study asks for each of its cells
def _with_operations(null: Permutation, operations: float) -> Permutation:
    return replace(null, programme_operations=operations)


def recall_law(cell: Cell) -> Law:
    """Recall's hits: hypergeometric, out of the events that count."""
    if cell.counted is not None:
        return timed_shifts.permuted(cell, cell.counted)
    law = _of_few if cell.n_events <= FEW_EVENTS else hypergeometric
    return law(cell.n_steps, cell.covered, cell.n_events)


_of_few = lru_cache(maxsize=256)(hypergeometric)  # many detectors and series have the same, and what is known of it


# ---- the null of event coincidence analysis: independent trials, for comparison with the literature


def donges(cell: Cell) -> dict[str, Law]:
    """Binomial hits, with the chance 1 - (1 - w/T)^k that a window of mean width w holds one of k random points."""
    if cell.trial.count_alarms == "episodes":
        raise InputError(
            problem=say(
                "the binomial treats every alarm as one step and has no law for {}", passed("count_alarms", "episodes")
            ),
            remedy=say(
                "use {} with {}, or {}", arg("method", "auto"), arg("null", "permutation"), arg("count_alarms", "steps")
            ),
        )
    wide, alarms, events = cell.mean_share, len(cell.chosen), cell.n_counted
    missed = math.log1p(-wide) if wide < 1 else -math.inf
    return {
        "precision": binomial(cell.n_predictions, -math.expm1(cell.n_events * missed) if cell.n_events else 0.0),
        "recall": binomial(events, -math.expm1(alarms * missed) if alarms else 0.0),
    }


@dataclass(frozen=True, kw_only=True)
class Bernoulli(NullModel):
    """Events and predictions are both independent Bernoulli processes; hits are then treated as binomial.

    Keeps the numbers of events and predictions, and nothing else: it forgets that predictions come in runs, whose
    windows overlap, which overstates chance's recall and understates the spread of its precision. Use it to compare
    with event coincidence analysis, not to draw conclusions.

    See Also
    --------
    nofluke.nulls.Permutation : exact, given the alarms.
    nofluke.nulls.Stationary : another binomial from the literature.

    References
    ----------
    Donges, Schleusner, Siegmund and Donner (2016), Event coincidence analysis for quantifying statistical
    interrelationships between event time series.
    """

    name: ClassVar[str] = "bernoulli"
    methods: ClassVar[tuple[Method, ...]] = ("auto", "binomial")

    @property
    def assumption(self) -> str:
        return say(
            "{Events} and {predictions} each fall on random steps, and every window is treated as an independent trial."
        )

    @property
    def caveat(self) -> str:
        return (
            "The null bernoulli treats every window as an independent trial: use it to compare with the literature, "
            "not to draw conclusions."
        )

    def draw(self, side: Truth) -> Uniform:
        """Uniformly."""
        return Uniform(side.n_steps, side.n)

    def known_laws(self, cell: Cell, method: Method) -> dict[str, Law]:
        del method  # there is one only
        return donges(cell)
