"""The null of event coincidence analysis: independent trials, for comparison with the literature.

The section "Why the binomial is off" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from nofluke.errors import InputError, arg, passed, say
from nofluke.laws.law import Law
from nofluke.laws.montecarlo import Uniform
from nofluke.laws.tables import binomial
from nofluke.nulls.base import Method, NullModel
from nofluke.series.timed import TimedCell
from nofluke.series.trial import Cell
from nofluke.series.truth import Truth


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
    if isinstance(cell, TimedCell):
        wide, alarms, events = cell.mean_width / cell.trial.watch.watched, len(cell.at), cell.n_counted
    else:
        wide = float((cell.cover.stops - cell.cover.starts).mean()) / cell.n_steps
        alarms, events = cell.n_predictions, cell.n_events
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
        return "Events and predictions each fall on random steps, and every window is treated as an independent trial."

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
