"""Precision's law under permutation: which engine answers which question, and what it says of the answer.

Tables come from a dynamic programme where that is affordable. Elsewhere each tail is inverted by itself
(`exact.fourier`), and is either certified, or made by a programme that has more time, or an upper bound that is called
one.

The section "Which method when" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from nofluke import progress
from nofluke.arrays import FloatArray
from nofluke.errors import InputError, arg, say
from nofluke.laws.approximate import OfWindows, PrecisionSaddlepoint
from nofluke.laws.exact.binomial import log_choose
from nofluke.laws.exact.moments import precision_moments
from nofluke.laws.exact.programme import (
    SECONDS_PER_BLOCK,
    few_cost,
    few_missed_pmf,
    precision_pmf,
    programme_bytes,
    programme_cost,
)
from nofluke.laws.law import MASS_ERROR, How, Law, Tail, TailSide, exactly
from nofluke.laws.tables import TRUSTED, Hypergeometric, TableLaw
from nofluke.lazy import lazy
from nofluke.plain import check_alpha
from nofluke.ratios import TIE_SLACK
from nofluke.series.counting import Windows

PROGRAMME_OPERATIONS = 1e9  # the dynamic programme answers within a second up to here, with nothing to compile
PROGRAMME_PATIENCE = 2e10  # and is given some ten seconds where the Fourier inversion is not certified
PROGRAMME_BYTES = 1e9
FEW_OPERATIONS = 2e7  # the same where events are few, and hits are what is told apart: some ten milliseconds
FEW_PATIENCE = 4e9  # and up to here, seconds, where the Fourier inversion would be slow; large tables leave the cache
FOURIER_SECONDS = 20.0  # above, by estimate, "auto" takes the saddlepoint approximation and says so
SECONDS_PER_PASS = 1e-7  # of an inversion over a block, about: 32 angles at a time
SECONDS_PER_ENTRY = 0.5e-9  # of a table of the programme

SMALLEST_IN_TABLE = 1e-16  # probabilities below this are 0 in a table of the Fourier inversion; tails have no limit
WORST_ERROR = 1e-7  # a Fourier tail whose error bound is larger is not believed
INSISTENT = 50  # how many times the usual effort method="exact" puts into an inversion before it fails
CENTRAL = (8.0, 12.0)  # standard deviations around the mean that one inversion gives: quantiles are read off it
CENTRAL_LEVEL = 1e-6  # but not those of smaller levels, which tails tell better
CENTRAL_TAIL = 0.01  # nor smaller tails
CENTRAL_SLACK = 1e-11  # and how far that one may be off

BOUND = How(kind="bound", name="the Fourier inversion was not certified")


def precision_law(
    windows: Windows, n_events: int, method: Literal["auto", "exact"], programme_operations: float
) -> Law | None:
    """The law by the engine that answers soonest; None where "auto" had better simulate.

    Nothing is computed yet: moments, tails and tables are made when first asked for.
    """
    size, windows = windows.n, windows.hittable
    widths = windows.stops - windows.starts
    if windows.reach <= 1 and (widths == 1).all():  # one event, one hit: as many hits as events on predictions
        return Hypergeometric(windows.n_steps, windows.n, n_events, size, precision_moments(windows, n_events))
    if n_events == 0 or (widths > windows.n_steps - n_events).all():  # nothing can be hit, or nothing can be missed
        hits = windows.n if n_events else 0
        certain = np.zeros(size + 1)
        certain[hits] = 1.0
        return TableLaw(certain, mean=float(hits), var=0.0, method=exactly("constant"))
    if table_fits(windows, n_events, programme_operations, FEW_OPERATIONS):
        return PrecisionTable(windows, n_events, size, insist=method == "exact")
    if method == "auto" and windows.n == windows.n_steps and few_cost(windows, n_events) > FEW_PATIENCE:
        return None  # every step is predicted: nothing can be told from it, and the exact law takes minutes
    announce_compilation()
    from nofluke.laws.exact import fourier

    if fourier.estimate_cost(windows, n_events) > FOURIER_SECONDS:
        if few_cost(windows, n_events) <= FEW_PATIENCE:
            return PrecisionTable(windows, n_events, size, insist=method == "exact")
        if method == "auto":
            var = precision_moments(windows, n_events).var
            return None if var < fourier.CONCENTRATED else PrecisionSaddlepoint(windows, n_events, size)
    return PrecisionFourier(windows, n_events, size, insist=method == "exact")


def table_fits(windows: Windows, n_events: int, programme_operations: float, few_operations: float) -> bool:
    """Whether the dynamic programme is affordable: counting misses, or hits, of which few events make few."""
    if few_cost(windows, n_events) <= few_operations:
        return True
    return (
        programme_cost(windows, n_events) <= programme_operations
        and programme_bytes(windows, n_events) <= PROGRAMME_BYTES
    )


def announce_compilation() -> None:
    """Say that the inversion is about to be compiled, if it is."""
    from nofluke.laws.exact import kernels

    progress.announce_compilation(kernels.invert, seconds=8)


def _not_certified(law: OfWindows, hits: int, side: TailSide) -> InputError:
    return InputError(
        argument="method",
        value="exact",
        problem=f"cannot certify P(X {'≥' if side == 'upper' else '≤'} {hits:,}) of {law.size:,} predictions and "
        f"{law.n_events:,} events",
        remedy=say("use {}, which gives an upper bound, or {}", arg("method", "auto"), arg("method", "montecarlo")),
    )


class PrecisionTable(OfWindows, TableLaw):
    """The whole law by a dynamic programme; what is too small for a table by Fourier inversion."""

    def __init__(self, windows: Windows, n_events: int, size: int | None = None, *, insist: bool = False) -> None:
        super().__init__(windows, n_events, exactly("dynamic programme"), size)
        self.insist = insist

    def _moments(self) -> tuple[float, float]:
        return Law._moments(self)  # of the table, which is at hand

    def _table(self) -> FloatArray:
        return self._filled(0, precision_pmf(self.windows, self.n_events))

    def _far(self, hits: int, side: TailSide, found: float) -> Tail:
        if found == 0.0 and log_choose(self.windows.n_steps, self.n_events) < -math.log(TRUSTED):
            return Tail.of(0.0, self.method)  # one placement alone would weigh more than a table loses
        from nofluke.laws.exact import fourier

        announce_compilation()
        far = fourier.tail(self.windows, self.n_events, hits, side=side, most_blocks=INSISTENT * fourier.MOST_BLOCKS)
        if far.method.error <= WORST_ERROR:
            return Tail.of_log(far.log_p, self.method)
        if self.insist:
            raise _not_certified(self, hits, side)
        return Tail.of_log(min(far.log_p, math.log(max(2 * found, 1e-280))), BOUND)


class PrecisionFourier(OfWindows):
    """Each tail by a certified Fourier inversion of its own, and the whole law only when asked for.

    Parameters
    ----------
    insist : bool
        Whether a tail that cannot be certified is an error; otherwise it is an upper bound, and says so.
    """

    def __init__(self, windows: Windows, n_events: int, size: int | None = None, *, insist: bool) -> None:
        super().__init__(windows, n_events, exactly("Fourier"), size)
        self.insist = insist

    def _tail(self, hits: int, side: TailSide) -> Tail:
        from nofluke.laws.exact import fourier

        near = self._from_centre(hits, side)
        if near is not None:
            return near
        # where nearly everything is hit, a programme that tells only few misses apart is cheap
        ends = (self.windows.n - hits, None) if side == "upper" and hits <= self.windows.n else (None,)
        seconds, most_missed = min(((self._programme_seconds(end), end) for end in ends), key=lambda found: found[0])
        effort = fourier.MOST_BLOCKS * (INSISTENT if self.insist else 1)
        if seconds < math.inf:  # no more is spent on the inversion than on what would replace it
            effort = min(effort, 1_000_000 + round(2 * seconds / SECONDS_PER_PASS))
        found = fourier.tail(self.windows, self.n_events, hits, side=side, most_blocks=effort)
        if found.method.error <= WORST_ERROR:
            return found
        if seconds < math.inf:
            return self._by_programme(hits, side, most_missed)
        if self.insist:
            raise _not_certified(self, hits, side)
        return Tail.of_log(found.log_p, BOUND)

    def _from_centre(self, hits: int, side: TailSide) -> Tail | None:
        """A tail that is no small one, where the bulk of the law is known already: to nine digits at least."""
        if "_centre" not in self.__dict__:
            return None
        first, _, upper = self._centre
        at = hits - first if side == "upper" else hits + 1 - first
        if not 0 <= at < len(upper):
            return None
        p = float(upper[at]) if side == "upper" else 1.0 - float(upper[at])
        if not CENTRAL_TAIL <= p <= 1.0 - CENTRAL_TAIL:
            return None
        return Tail.of(p, How(kind="exact", name="Fourier", error=CENTRAL_SLACK / p))

    def _programme_seconds(self, most_missed: int | None) -> float:
        """What the programme takes where all misses are told apart, or only so many; infinite if not affordable."""
        entries: float = programme_cost(self.windows, self.n_events, most_missed)
        if most_missed is None:
            entries = min(entries, few_cost(self.windows, self.n_events))
        if entries > PROGRAMME_PATIENCE or programme_bytes(self.windows, self.n_events, most_missed) > PROGRAMME_BYTES:
            return math.inf
        return SECONDS_PER_ENTRY * entries + SECONDS_PER_BLOCK * len(self.windows.blocks.length)

    def _by_programme(self, hits: int, side: TailSide, most_missed: int | None) -> Tail:
        """The tail by a dynamic programme, over the whole law or its upper end only."""
        if most_missed is not None:
            p = float(few_missed_pmf(self.windows, self.n_events, most_missed).sum())
        else:
            law = precision_pmf(self.windows, self.n_events)
            p = float(law[hits:].sum() if side == "upper" else law[: hits + 1].sum())
        return Tail.of(min(p, 1.0), exactly("dynamic programme"))

    def _table(self) -> FloatArray:
        from nofluke.laws.exact import fourier

        table = self._filled(*fourier.pmf(self.windows, self.n_events, floor=SMALLEST_IN_TABLE))
        if abs(table.sum() - 1.0) <= MASS_ERROR:
            return table
        if self._programme_seconds(None) < math.inf:
            return self._filled(0, precision_pmf(self.windows, self.n_events))
        raise InputError(
            problem=f"the whole law of {self.size:,} predictions and {self.n_events:,} events cannot be computed "
            "exactly",
            remedy=say("use {}", arg("method", "montecarlo")),
        )

    def bulk(self, deviations: float) -> tuple[int, FloatArray]:
        first, law, _ = self._centre
        if math.isinf(deviations):
            return super().bulk(deviations)
        kept = slice(
            max(math.floor(self.mean - deviations * self.std) - first, 0),
            max(math.ceil(self.mean + deviations * self.std) - first + 1, 1),
        )
        return first + kept.start, law[kept]

    def log_bulk(self) -> tuple[int, FloatArray]:
        """All that a double holds, farther out than a table goes: sums of laws need it."""
        from nofluke.laws.exact import fourier

        first, law = fourier.pmf(self.windows, self.n_events)
        if abs(float(law.sum()) - 1.0) > MASS_ERROR:
            return super().log_bulk()
        with np.errstate(divide="ignore"):
            return first, np.log(law)

    @lazy
    def _centre(self) -> tuple[int, FloatArray, FloatArray]:
        """From one inversion: some k, P(X = k), P(X = k + 1), ... and P(X ≥ k), P(X ≥ k + 1), ..., to about 1e-12."""
        from nofluke.laws.exact import fourier

        for reach in CENTRAL:
            first, law = fourier.bulk(self.windows, self.n_events, reach)
            if abs(float(law.sum()) - 1.0) <= CENTRAL_SLACK:
                break
        else:  # a law with long tails: all of it
            try:
                first, law = super().bulk(math.inf)
            except InputError:
                if self.insist:
                    raise
                # no more than its tails, which say so themselves, is the bulk of the law certain here
                first, law = PrecisionSaddlepoint(self.windows, self.n_events, self.size).bulk(CENTRAL[0])
        return first, law, np.cumsum(law[::-1])[::-1]

    def _quantile(self, level: float) -> int:
        first, _, upper = self._centre
        # P(X > k) ≤ 1 - level; at the ends of what was inverted, the answer may lie beyond
        if not CENTRAL_LEVEL <= level <= 1.0 - CENTRAL_LEVEL:
            return super()._quantile(level)
        reached = np.flatnonzero(upper <= (1.0 - level) * (1.0 + TIE_SLACK) + CENTRAL_SLACK)
        if len(reached) and reached[0] > 0:
            return first + int(reached[0]) - 1
        return super()._quantile(level)

    def critical_value(self, alpha: float) -> int | None:
        """The smallest k with P(X ≥ k) ≤ alpha: from there on, hits are significant. None if no number of hits is."""
        alpha = check_alpha(alpha)
        first, _, upper = self._centre
        if alpha < CENTRAL_LEVEL:
            return super().critical_value(alpha)
        reached = np.flatnonzero(upper <= alpha * (1.0 + TIE_SLACK))
        if len(reached) and reached[0] > 0:
            return first + int(reached[0])
        return super().critical_value(alpha)
