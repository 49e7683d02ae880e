"""Laws known as a whole: tables of positive numbers, the hypergeometric and the binomial.

Tails are sums from the far end, so that the smallest keeps all its digits; what underflows in a table is asked of the
law behind it.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.laws.exact import binomial as binomial_law
from nofluke.laws.exact.hypergeometric import (
    hypergeometric_log_pmf,
    hypergeometric_log_tail,
    hypergeometric_pmf,
    weighted_cost,
    weighted_log_pmf,
    weighted_moments,
)
from nofluke.laws.exact.moments import Moments, recall_moments
from nofluke.laws.law import How, Law, Tail, TailSide, exactly, lacks_data
from nofluke.lazy import lazy
from nofluke.plain import check_alpha
from nofluke.ratios import TIE_SLACK

TRUSTED = 1e-250  # a table keeps all digits of tails down to here


class TableLaw(Law):
    """A distribution known as a whole, as a table of positive numbers.

    Parameters
    ----------
    table : array
        P(X = k) for k = 0..size. A table without a law of its own is only as good as a double: what underflows in it is
        0.
    """

    def __init__(self, table: FloatArray, *, mean: float, var: float, method: How) -> None:
        super().__init__(size=len(table) - 1, mean=mean, var=var, method=method)
        self._given = table

    def _table(self) -> FloatArray:
        return self._given

    @lazy
    def _upper(self) -> FloatArray:
        return np.cumsum(self.table[::-1])[::-1]

    @lazy
    def _lower(self) -> FloatArray:
        return np.cumsum(self.table)

    def _guess(self, level: float) -> int:
        """The quantile but for rounding."""
        return int(np.searchsorted(self._lower, level))

    def _tail(self, hits: int, side: TailSide) -> Tail:
        first, last = self.ends
        if (hits <= first) if side == "upper" else (hits >= last):
            return Tail.of(1.0, self.method)
        found = min(float((self._upper if side == "upper" else self._lower)[hits]), 1.0)
        return Tail.of(found, self.method) if found >= TRUSTED else self._far(hits, side, found)

    def critical_value(self, alpha: float) -> int | None:
        """The smallest k with P(X ≥ k) ≤ alpha: from there on, hits are significant. None if no number of hits is."""
        alpha = check_alpha(alpha)
        if alpha < TRUSTED:  # smaller than what the table can tell
            return super().critical_value(alpha)
        found = 1 + int(np.count_nonzero(self._upper[1:] > alpha * (1 + TIE_SLACK)))  # tails descend, from 1 at 0
        return found if found <= self.size else None

    def _far(self, hits: int, side: TailSide, found: float) -> Tail:
        """A tail too small for the table, by whatever else is known of the law; here, what the table says."""
        del hits, side
        return Tail.of(found, self.method)


class Hypergeometric(TableLaw):
    """Events that fall on covered steps, when ``n_events`` are placed at random on ``n_steps``, out of ``size``."""

    def __init__(self, n_steps: int, covered: int, n_events: int, size: int, moments: Moments | None = None) -> None:
        moments = recall_moments(n_steps, covered, n_events) if moments is None else moments
        table = np.zeros(size + 1)
        reached = hypergeometric_pmf(n_steps, covered, n_events)
        table[: len(reached)] = reached
        super().__init__(table, mean=moments.mean, var=moments.var, method=exactly("hypergeometric"))
        self._law = n_steps, covered, n_events

    def log_bulk(self) -> tuple[int, FloatArray]:
        n_steps, covered, n_events = self._law
        first, table = self.bulk(math.inf)
        if table.min() > TRUSTED:
            return first, np.log(table)
        lowest, highest = max(0, n_events + covered - n_steps), min(n_events, covered)
        return lowest, hypergeometric_log_pmf(n_steps, covered, n_events, np.arange(lowest, highest + 1))

    def _far(self, hits: int, side: TailSide, found: float) -> Tail:
        del found
        return Tail.of_log(hypergeometric_log_tail(*self._law, hits, side), self.method)


def hypergeometric(n_steps: int, covered: int, n_events: int) -> Hypergeometric:
    """Events that fall on covered steps, when ``n_events`` are placed at random on ``n_steps``.

    >>> null = hypergeometric(10, 4, 3)
    >>> null.mean, round(null.pmf(1), 6)
    (1.2, 0.5)
    """
    return Hypergeometric(n_steps, covered, n_events, n_events)


class LogTable(Law):
    """A distribution known as a whole by the logarithms of its probabilities, which no double is too small for.

    Parameters
    ----------
    first : int
        The smallest number that has any probability.
    logs : array
        log P(X = first), log P(X = first + 1), ...

    Notes
    -----
    Tails of what was simulated are (b + 1)/(n + 1), b of n resamples: the data count as one of them.

    Examples
    --------
    >>> law = LogTable(1, np.log([0.25, 0.75]), size=2, mean=1.75, var=0.1875, method=exactly("example"))
    >>> law.upper(2), law.upper(3)
    (0.75, 0.0)
    """

    def __init__(self, first: int, logs: FloatArray, *, size: int, mean: float, var: float, method: How) -> None:
        super().__init__(size=size, mean=mean, var=var, method=method)
        self._first, self._logs = first, logs

    @lazy
    def ends(self) -> tuple[int, int]:
        return self._first, self._first + len(self._logs) - 1

    def log_bulk(self) -> tuple[int, FloatArray]:
        return self._first, self._logs

    @property
    def left_out(self) -> float:
        if self.method.n_resamples is not None:
            return 0.0
        below, above = self._first > 0, self._first + len(self._logs) <= self.size
        return (self._past("lower") if below else 0.0) + (self._past("upper") if above else 0.0)

    def _table(self) -> FloatArray:
        table = np.zeros(self.size + 1)
        table[self._first : self._first + len(self._logs)] = np.exp(self._logs)
        return table

    def _tail(self, hits: int, side: TailSide) -> Tail:
        first, last = self.ends
        if (hits <= first) if side == "upper" else (hits >= last):
            return Tail.of(1.0, self.method)
        if not first <= hits <= last:
            return self._beyond(side)
        return Tail.of_log(min(self._log_mass(hits, side), 0.0), self.method)

    def tail(self, hits: int, side: TailSide = "upper") -> Tail:
        """P(X ≥ hits) or P(X ≤ hits), with its logarithm and how it was computed."""
        drawn = lacks_data(self.method)
        if not drawn:
            return super().tail(hits, side)
        return Tail.of(min((float(np.exp(self._log_mass(hits, side))) * drawn + 1) / (drawn + 1), 1.0), self.method)

    def _past(self, side: TailSide) -> float:
        """At most so much probability lies outside of the table: here, none."""
        del side
        return 0.0

    def _beyond(self, side: TailSide) -> Tail:
        """The tail that lies outside of the table."""
        return Tail.of(self._past(side), self.method)

    def _log_mass(self, hits: int, side: TailSide) -> float:
        """Logarithm of the sum from the hits outwards: relative to its largest term, so that nothing underflows."""
        at = hits - self._first
        part = self._logs[max(at, 0) :] if side == "upper" else self._logs[: max(at + 1, 0)]
        top = float(part.max(initial=-np.inf))
        return top + float(np.log(np.exp(part - top).sum())) if top > -np.inf else -np.inf


def with_data(law: Law, hits: int) -> Law:
    """A simulated law with the data's own hits as one more draw, (n P(X = k) + [k = hits])/(n + 1); others as they are.

    Under the null the data and the n draws are exchangeable: given these n + 1 numbers, that of the data is any of them
    with the same probability. Added to laws of independent numbers, exact ones or others like it, such a law gives
    P(X ≥ hits), given all draws, exactly: p-values of sums keep their level, and the number of draws is no floor below
    which they cannot fall.

    >>> from nofluke.laws.counts import SimulatedLaw
    >>> drawn = SimulatedLaw(np.array([7, 2, 0]), mean=0.2, var=0.2, n_resamples=9, seed=1)
    >>> law = with_data(drawn, 2)
    >>> law.table, round((law + hypergeometric(100, 1, 1)).upper(3), 12)
    (array([0.7, 0.2, 0.1]), 0.001)
    """
    n = lacks_data(law.method)
    if not n:
        return law
    first, logs = law.log_bulk()
    low, high = min(first, hits), max(first + len(logs), hits + 1)
    counts = np.zeros(high - low)
    counts[first - low : first - low + len(logs)] = np.rint(n * np.exp(logs))
    counts[hits - low] += 1
    with np.errstate(divide="ignore"):
        table = np.log(counts) - np.log(n + 1)
    return LogTable(low, table, size=law.size, mean=law.mean, var=law.var, method=replace(law.method, with_data=True))


MOST_WEIGHED = 1e9  # multiplications: some seconds


def weighted(counts: IntArray, n_events: int) -> Law | None:
    """How much events weigh on distinct steps of which ``counts[k]`` weigh k; None where that takes too long.

    >>> law = weighted(np.array([2, 1, 1]), 2)
    >>> law.mean, round(law.upper(3) * 6, 9)  # one placement of six has both steps that weigh
    (1.5, 1.0)
    """
    if weighted_cost(counts, n_events) > MOST_WEIGHED:
        return None
    first, logs = weighted_log_pmf(counts, n_events)
    mean, var = weighted_moments(counts, n_events)
    size = n_events * (len(counts) - 1)
    return LogTable(first, logs, size=size, mean=mean, var=var, method=exactly("weighted hypergeometric"))


BINOMIAL = How(kind="approximate", name="binomial")


class Binomial(TableLaw):
    """Hits in independent trials, each with the same chance."""

    def __init__(self, size: int, chance: float, method: How = BINOMIAL) -> None:
        if chance <= 0 or chance >= 1:
            table = np.zeros(size + 1)
            table[size if chance >= 1 else 0] = 1.0
        else:
            k = np.arange(size, dtype=np.float64)
            table = _from_ratios((size - k) / (k + 1) * (chance / (1 - chance)))
        super().__init__(table, mean=size * chance, var=size * chance * (1 - chance), method=method)
        self._chance = chance

    def log_bulk(self) -> tuple[int, FloatArray]:
        if not 0 < self._chance < 1:
            return super().log_bulk()
        return 0, binomial_law.log_pmf(np.arange(self.size + 1), self.size, self._chance)

    def _far(self, hits: int, side: TailSide, found: float) -> Tail:
        if not 0 < self._chance < 1:
            return Tail.of(found, self.method)
        return Tail.of_log(binomial_law.log_tail(hits, self.size, self._chance, side), self.method)


def binomial(size: int, chance: float, method: How = BINOMIAL) -> Binomial:
    """Hits in independent trials, each with the same chance.

    >>> round(binomial(4, 0.5).pmf(2), 6)
    0.375
    """
    return Binomial(size, chance, method)


def _from_ratios(ratios: FloatArray) -> FloatArray:
    """A table over 0..n from the n falling ratios P(k+1)/P(k).

    Outwards from the mode every factor is below 1, so nothing overflows and each value keeps its digits; normalising
    by the sum needs no logarithm of a factorial.
    """
    mode = int(np.searchsorted(-ratios, -1.0))  # the mode is where the ratios pass 1
    rising = np.cumprod(1 / ratios[:mode][::-1])[::-1]
    weights = np.concatenate([rising, [1.0], np.cumprod(ratios[mode:])])
    return np.asarray(weights / weights.sum())
