"""Precision's law under permutation: which engine answers which question, and what it says of the answer.

Tables come from a dynamic programme where that is affordable. Elsewhere each tail is inverted by itself (`exact.fourier`),
and is either certified, or made by a programme that has more time, or an upper bound that is called one.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Literal

import numpy as np

from nofluke.confusion import TIE_SLACK
from nofluke.distributions import (
    MASS_ERROR,
    FloatArray,
    Hypergeometric,
    NullDistribution,
    Side,
    TableNull,
    Tail,
)
from nofluke.errors import InputError
from nofluke.exact.few import few_cost
from nofluke.exact.geometry import Windows
from nofluke.exact.moments import Moments
from nofluke.exact.programme import programme_bytes, programme_cost

Engine = Literal["programme", "few"]

PROGRAMME_OPERATIONS = 1e9  # the dynamic programme answers within a second up to here, with nothing to compile
PROGRAMME_PATIENCE = 2e10  # and is given some ten seconds where the Fourier inversion is not certified
PROGRAMME_BYTES = 1e9
FEW_OPERATIONS = 2e7  # up to here, some ten milliseconds, few events are walked through block by block
FEW_PATIENCE = 2e10  # and up to here, some ten seconds, where the Fourier inversion would be slow
CONCENTRATED = 25.0  # it is slow where hits have a smaller variance: their characteristic function hardly decays
SMALLEST_IN_TABLE = 1e-16  # probabilities below this are 0 in a table of the Fourier inversion; tails have no limit
WORST_ERROR = 1e-7  # a Fourier tail whose error bound is larger is not believed
FOURIER_SECONDS = 20.0  # above, by estimate, "auto" takes the saddlepoint approximation and says so
INSISTENT = 50  # how many times the usual effort method="exact" puts into an inversion before it fails
SECONDS_PER_BLOCK = 1e-7  # of an inversion, about: 32 angles at a time
CENTRAL = 2.9  # standard deviations around the mean within which quantiles are read off one inversion
CENTRAL_SLACK = 1e-11  # and how far that one may be off

BOUND = "upper bound (the Fourier inversion was not certified)"


def precision_law(
    windows: Windows, n_events: int, moments: Moments, method: Literal["auto", "exact"], programme_operations: float
) -> NullDistribution | None:
    """The law by the engine that answers soonest; None where "auto" had better simulate.

    Nothing is computed yet but mean and variance: tails and tables are made when first asked for.
    """
    if (windows.stops - windows.starts == 1).all():  # one event, one hit: as many hits as events on predictions
        return Hypergeometric(windows.n_steps, windows.n, n_events, windows.n, moments)
    if moments.var == 0.0:
        certain = np.zeros(windows.n + 1)
        certain[round(moments.mean)] = 1.0
        return TableNull(certain, mean=moments.mean, var=0.0, method="exact (constant)")
    engine = table_engine(windows, n_events, programme_operations, FEW_OPERATIONS)
    if engine is not None:
        return PrecisionTable(windows, n_events, moments, engine)
    announce_compilation()
    from nofluke.exact import fourier

    if fourier.estimate_cost(windows, n_events) > FOURIER_SECONDS:
        if few_cost(windows, n_events) <= FEW_PATIENCE:
            return PrecisionTable(windows, n_events, moments, "few")
        if method == "auto":
            return None if moments.var < CONCENTRATED else PrecisionSaddlepoint(windows, n_events, moments)
    return PrecisionFourier(windows, n_events, moments, insist=method == "exact")


def table_engine(windows: Windows, n_events: int, programme_operations: float, few_operations: float) -> Engine | None:
    """The dynamic programme that makes the whole law soonest, or None where neither is affordable."""
    few = few_cost(windows, n_events)
    fits = programme_fits(windows, n_events, programme_operations)
    if not fits:
        return "few" if few <= few_operations else None
    return "few" if 0.5e-9 * few < programme_seconds(windows, n_events) else "programme"


def programme_seconds(windows: Windows, n_events: int, most_missed: int | None = None) -> float:
    """What the dynamic programme takes, by measurement: so much for each table entry, and for each block whatever its size."""
    return 0.5e-9 * programme_cost(windows, n_events, most_missed) + 30e-6 * len(windows.blocks.length)


def programme_fits(windows: Windows, n_events: int, operations: float, most_missed: int | None = None) -> bool:
    """Whether the dynamic programme stays within so many table entries, and within memory."""
    return (
        programme_cost(windows, n_events, most_missed) <= operations
        and programme_bytes(windows, n_events, most_missed) <= PROGRAMME_BYTES
    )


def announce_compilation() -> None:
    """Say that the inversion is about to be compiled, if it is."""
    from nofluke import progress
    from nofluke.exact import kernels

    progress.announce_compilation(kernels.invert, seconds=8)


class _OfWindows(NullDistribution):
    """What all laws of precision's hits have: the windows, the number of events, exact moments."""

    def __init__(self, windows: Windows, n_events: int, moments: Moments, method: str) -> None:
        NullDistribution.__init__(self, size=windows.n, mean=moments.mean, var=moments.var, method=method)
        self.windows = windows
        self.n_events = n_events


class PrecisionTable(_OfWindows, TableNull):
    """The whole law by a dynamic programme; what is too small for a table by Fourier inversion."""

    def __init__(self, windows: Windows, n_events: int, moments: Moments, engine: Engine) -> None:
        super().__init__(windows, n_events, moments, "exact (dynamic programme)")
        self.engine = engine

    def _table(self) -> FloatArray:
        if self.engine == "programme":
            from nofluke.exact.programme import precision_pmf

            return precision_pmf(self.windows, self.n_events)
        from nofluke.exact.few import joint_pmf

        law = joint_pmf(self.windows, self.n_events).sum(axis=0)
        return np.pad(law, (0, self.size + 1 - len(law)))

    def _far(self, hits: int, side: Side, found: float) -> Tail:
        from nofluke.exact import fourier

        announce_compilation()
        far = fourier.tail(self.windows, self.n_events, hits, side=side, most_blocks=INSISTENT * fourier.MOST_BLOCKS)
        if far.relative_error_bound <= WORST_ERROR:
            return Tail.of_log(far.log_p, self.method)
        return Tail.of_log(min(far.log_p, math.log(max(2 * found, 1e-280))), BOUND)


class PrecisionFourier(_OfWindows):
    """Each tail by a certified Fourier inversion of its own, and the whole law only when asked for.

    Parameters
    ----------
    insist : bool
        Whether a tail that cannot be certified is an error; otherwise it is an upper bound, and says so.
    """

    def __init__(self, windows: Windows, n_events: int, moments: Moments, *, insist: bool) -> None:
        super().__init__(windows, n_events, moments, "exact (Fourier)")
        self.insist = insist

    def _tail(self, hits: int, side: Side) -> Tail:
        from nofluke.exact import fourier

        # where nearly everything is hit, a programme that tells only few misses apart is cheap
        ends = (self.size - hits, None) if side == "upper" else (None,)
        affordable = [end for end in ends if programme_fits(self.windows, self.n_events, PROGRAMME_PATIENCE, end)]
        effort = fourier.MOST_BLOCKS * (INSISTENT if self.insist else 1)
        if affordable:  # no more is spent on the inversion than on what would replace it
            seconds = programme_seconds(self.windows, self.n_events, affordable[0])
            effort = min(effort, 1_000_000 + round(2 * seconds / SECONDS_PER_BLOCK))
        found = fourier.tail(self.windows, self.n_events, hits, side=side, most_blocks=effort)
        if found.relative_error_bound <= WORST_ERROR:
            return Tail.of_log(found.log_p, self.method)
        if affordable:
            return self._by_programme(hits, side, affordable[0])
        if self.insist:
            raise InputError(
                f"method='exact' cannot certify P(X {'≥' if side == 'upper' else '≤'} {hits:,}) of {self.size:,} predictions "
                f"and {self.n_events:,} events: use method='auto', which gives an upper bound, or method='montecarlo'."
            )
        return Tail.of_log(found.log_p, BOUND)

    def _by_programme(self, hits: int, side: Side, most_missed: int | None) -> Tail:
        """The tail by a dynamic programme, over the whole law or its upper end only."""
        from nofluke.exact.programme import few_missed_pmf, precision_pmf

        if most_missed is not None:
            p = float(few_missed_pmf(self.windows, self.n_events, most_missed).sum())
        else:
            law = precision_pmf(self.windows, self.n_events)
            p = float(law[hits:].sum() if side == "upper" else law[: hits + 1].sum())
        return Tail.of(min(p, 1.0), "exact (dynamic programme)")

    def _table(self) -> FloatArray:
        from nofluke.exact import fourier

        low, values = fourier.pmf(self.windows, self.n_events, floor=SMALLEST_IN_TABLE)
        table = np.zeros(self.size + 1)
        table[low : low + len(values)] = values
        if abs(table.sum() - 1.0) <= MASS_ERROR:
            return table
        if programme_fits(self.windows, self.n_events, PROGRAMME_PATIENCE):
            from nofluke.exact.programme import precision_pmf

            return precision_pmf(self.windows, self.n_events)
        raise InputError(
            f"the whole law of {self.size:,} predictions and {self.n_events:,} events cannot be computed exactly: use "
            "method='montecarlo'."
        )

    def bulk(self, deviations: float) -> tuple[int, FloatArray]:
        from nofluke.exact import fourier

        low = max(math.ceil(self.mean - deviations * self.std), 0)
        high = min(max(math.floor(self.mean + deviations * self.std), low), self.size)
        law = fourier.pmf(self.windows, self.n_events, lo=low, hi=high)[1]
        beside = self.lower(low - 1) + self.upper(high + 1)
        return (low, law) if abs(beside + float(law.sum()) - 1.0) <= CENTRAL_SLACK else super().bulk(deviations)

    @cached_property
    def _centre(self) -> tuple[int, FloatArray]:
        """From one inversion: some k, and P(X ≥ k), P(X ≥ k + 1), ... to about 1e-12, as far as the bulk of the law goes."""
        first, law = self.bulk(CENTRAL)
        return first, self.upper(first + len(law)) + np.cumsum(law[::-1])[::-1]

    def _quantile(self, level: float) -> int:
        first, upper = self._centre
        # P(X > k) ≤ 1 - level; at the ends of what was inverted, the answer may lie beyond
        reached = np.flatnonzero(upper <= (1.0 - level) * (1.0 + TIE_SLACK) + CENTRAL_SLACK)
        if len(reached) and reached[0] > 0:
            return first + int(reached[0]) - 1
        return super()._quantile(level)

    def critical_value(self, alpha: float) -> int | None:
        """The smallest k with P(X ≥ k) ≤ alpha: from there on, hits are significant. None if no number of hits is."""
        first, upper = self._centre
        reached = np.flatnonzero(upper <= alpha * (1.0 + TIE_SLACK))
        if len(reached) and reached[0] > 0:
            return first + int(reached[0])
        return super().critical_value(alpha)


class PrecisionSaddlepoint(_OfWindows):
    """Tails by Skovgaard's approximation, which has no error bound."""

    def __init__(self, windows: Windows, n_events: int, moments: Moments) -> None:
        super().__init__(windows, n_events, moments, "saddlepoint (approximate)")

    def _tail(self, hits: int, side: Side) -> Tail:
        from nofluke.exact import saddlepoint

        return Tail.of_log(saddlepoint.tail(self.windows, self.n_events, hits, side=side).log_p, self.method)

    def _table(self) -> FloatArray:
        """From differences of tails, as far as eight standard deviations from the mean."""
        low = max(0, math.floor(self.mean - 8 * self.std))
        high = min(self.size, math.ceil(self.mean + 8 * self.std))
        tails = [1.0, *(self.upper(k) for k in range(low + 1, high + 1)), 0.0]
        table = np.zeros(self.size + 1)
        table[low : high + 1] = np.maximum(-np.diff(np.minimum.accumulate(tails)), 0.0)
        return table
