"""The law of a sum: of independent numbers, such as the hits of many series, with full accuracy in both tails.

All parts are tilted by one θ, P(X = k) ∝ P(X = k) e^{θk}, chosen so that the mean of the sum lies where the tail
begins: there the sum's probabilities are of ordinary size, and products of Fourier transforms give them to a few units
in the last place. Taking the tilt out again is a multiplication, so that a tail of 10⁻²⁰⁰ has as many digits as one of
0.1. Where the law has peaks far apart, a tail can lie far below what one tilt resolves; then the parts are convolved
term by term, which loses no digits.

Where numbers are dependent, and nobody knows how, `comonotone` has the law of those that rise and fall together.

The section "Sums over series" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nofluke.arrays import FloatArray, IntArray, inner
from nofluke.errors import InputError
from nofluke.laws.law import How, Law, Tail, TailSide, exactly, lacks_data
from nofluke.laws.tables import LogTable
from nofluke.lazy import lazy
from nofluke.plain import check_alpha
from nofluke.ratios import TIE_SLACK

INDEPENDENT, TOGETHER = "sum of independent laws", "as if all rose and fell together"

_MANY = 64  # tables of one length from which on they are added together
_DIRECT = 20_000  # multiplications up to which a convolution term by term is as fast as one by Fourier transforms
_IN_CACHE = 4_096  # numbers that are multiplied at a time: with their products they stay in the processor's cache
_PATIENCE = 2e10  # and up to which it is made where a transform loses the digits: some ten seconds
_ROUNDING = 1e-15  # of a transform, relative to the largest probability
_WORST_ERROR = 1e-7  # a tail whose relative error may be larger is not called exact
_WHOLE = 1e-5  # levels from which on the untilted law tells where tails reach them
_NEAR = 1e-5  # of a level: tails as near to it are worked out with all their digits


class SumLaw(Law):
    """The law of the sum of independent numbers.

    Parameters
    ----------
    parts : tuple of Law
        The laws of the terms. Exact if they all are; otherwise as good as the least of them.

    Examples
    --------
    >>> from nofluke.laws.tables import binomial
    >>> total = binomial(3, 0.5) + binomial(4, 0.5)
    >>> total.size, total.mean, round(total.upper(7) * 128, 9)
    (7, 3.5, 1.0)
    """

    def __init__(self, parts: tuple[Law, ...]) -> None:
        if not parts:
            raise InputError(argument="parts", problem="is empty", remedy="pass at least one law")
        super().__init__(
            size=sum(law.size for law in parts),
            mean=math.fsum(law.mean for law in parts),
            var=math.fsum(law.var for law in parts),
            method=_method_of(parts),
        )
        self._parts = parts

    @property
    def parts(self) -> tuple[Law, ...]:
        return self._parts

    @lazy
    def _tables(self) -> list[tuple[int, FloatArray]]:
        """Where each part's probabilities begin, and their logarithms."""
        return [law.log_bulk() for law in self._parts]

    @lazy
    def _flat(self) -> tuple[FloatArray, FloatArray, IntArray, IntArray]:
        """All parts in one row: numbers from each part's first on, log-probabilities, where parts begin, lengths."""
        lengths = np.array([len(table) for _, table in self._tables])
        begin = np.cumsum(lengths) - lengths
        numbers = (np.arange(lengths.sum()) - np.repeat(begin, lengths)).astype(np.float64)
        return numbers, np.concatenate([table for _, table in self._tables]), begin, lengths

    @lazy
    def ends(self) -> tuple[int, int]:
        return (
            sum(first for first, _ in self._tables),
            sum(first + len(table) - 1 for first, table in self._tables),
        )

    @lazy
    def _left_out(self) -> float:
        """At most this probability has a sum of which some part's table knows nothing."""
        return math.fsum(law.left_out for law in self._parts)

    def _tilted(self, theta: float) -> tuple[FloatArray, FloatArray]:
        """The tilted probabilities of all parts, and log E e^{θX} of each, counted from its first number."""
        numbers, logs, begin, lengths = self._flat
        heights = logs + theta * numbers
        tops = np.maximum.reduceat(heights, begin)
        weights = np.exp(heights - np.repeat(tops, lengths))
        masses = np.add.reduceat(weights, begin)
        return weights / np.repeat(masses, lengths), tops + np.log(masses)

    def _moments_at(self, theta: float) -> tuple[float, float]:
        """Mean and variance of the tilted sum."""
        numbers, _, begin, lengths = self._flat
        weights, _ = self._tilted(theta)
        means = np.add.reduceat(weights * numbers, begin)
        spread = inner(weights, (numbers - np.repeat(means, lengths)) ** 2)
        return self.ends[0] + math.fsum(means), spread

    def _tilt_to(self, target: int) -> float:
        """The θ under which the mean of the sum is a number inside its range: Newton's method, kept in bounds."""
        theta, below, above = 0.0, -math.inf, math.inf
        reach = 1.0
        for _ in range(200):
            mean, var = self._moments_at(theta)
            if abs(mean - target) < 1e-3 * math.sqrt(var) + 1e-9:
                break
            below, above = (theta, above) if mean < target else (below, theta)
            step = theta + (target - mean) / var if var > 0 else math.inf
            if not max(below, theta - reach) < step < min(above, theta + reach):  # too far: halfway, or twice as far
                inside = math.isfinite(below) and math.isfinite(above)
                step = (below + above) / 2 if inside else theta + math.copysign(reach, target - mean)
                reach = reach if inside else 2 * reach
            theta = step
        return theta

    def _law_at(self, theta: float, *, direct: bool = False) -> FloatArray:
        """The tilted law of the sum from its low end on: the two shortest parts are added until one is left."""
        _, _, begin, lengths = self._flat
        weights, _ = self._tilted(theta)
        parts = _by_length(weights, begin, lengths) if len(begin) >= _MANY else np.split(weights, begin[1:])
        heap = [(len(part), i, part) for i, part in enumerate(parts)]
        heapq.heapify(heap)
        named = len(heap)
        while len(heap) > 1:
            (_, _, one), (_, _, other) = heapq.heappop(heap), heapq.heappop(heap)
            both = np.convolve(one, other) if direct or len(one) * len(other) <= _DIRECT else _by_fourier(one, other)
            heapq.heappush(heap, (len(both), named, both))
            named += 1
        return np.asarray(heap[0][2])

    def _direct_cost(self) -> float:
        """Multiplications of the convolution term by term, at most."""
        _, _, _, lengths = self._flat
        return float(lengths.sum()) ** 2 / 2

    def _tail(self, hits: int, side: TailSide) -> Tail:
        low, high = self.ends
        if (hits <= low) if side == "upper" else (hits >= high):
            return Tail.of(1.0, self.method)
        if (hits > high) if side == "upper" else (hits < low):
            found = Tail.of(0.0, self.method)
        elif hits in (low, high):  # one way only: all parts are at their ends
            at = -1 if side == "upper" else 0
            found = Tail.of_log(min(math.fsum(table[at] for _, table in self._tables), 0.0), self.method)
        else:
            found = self._inverted(hits, side)
        if self._left_out > _WORST_ERROR * found.p:
            p, exact = min(found.p + self._left_out, 1.0), self.method.kind == "exact"
            found = Tail.of(p, How(kind="bound", name="the parts' tables end above this") if exact else self.method)
        drawn = lacks_data(self.method)
        # the data count as one of the resamples, so that no simulated p-value is below 1/(n + 1)
        return found if not drawn else Tail.of((found.p * drawn + 1) / (drawn + 1), self.method)

    def _inverted(self, hits: int, side: TailSide) -> Tail:
        """A tail that begins inside the range, from a tilted law."""
        low, _ = self.ends
        theta = self._tilt_to(hits)
        theta = max(theta, 0.0) if side == "upper" else min(theta, 0.0)
        logs = math.fsum(self._tilted(theta)[1]) - theta * (hits - low)

        def beyond(law: FloatArray) -> tuple[float, float]:
            part = law[hits - low :] if side == "upper" else law[: hits - low + 1][::-1]
            # outwards from the hits: the tilt is taken out by factors of at most 1
            factors = np.exp(-abs(theta) * np.arange(len(part), dtype=np.float64))
            return inner(part, factors), _ROUNDING * float(law.max() * factors.sum())

        mass, rounding = beyond(self._law_at(theta))
        method = self.method
        if rounding > _WORST_ERROR * mass:  # peaks far apart: what lies between them is lost in rounding
            if self._direct_cost() <= _PATIENCE:
                mass, _ = beyond(self._law_at(theta, direct=True))
            else:
                mass += rounding
                method = replace(method, kind="bound") if method.kind == "exact" else method
        return Tail.of_log(min(math.log(mass) + logs, 0.0) if mass > 0.0 else -math.inf, method)

    def critical_value(self, alpha: float) -> int | None:
        """As of every law; told from the whole law, once, for levels that are far above what rounding does to it."""
        if check_alpha(alpha) < _WHOLE or self._left_out or lacks_data(self.method):
            return super().critical_value(alpha)
        tails = np.cumsum(self.table[::-1])[::-1]
        found = int(np.count_nonzero(tails > alpha * (1 + TIE_SLACK)))
        if np.isclose(tails[max(found - 1, 0) : found + 1], alpha, rtol=_NEAR, atol=0).any():  # too near to be told so
            return super().critical_value(alpha)
        return found if found <= self.size else None

    def _table(self) -> FloatArray:
        low, high = self.ends
        table = np.zeros(self.size + 1)
        law = self._law_at(0.0)
        table[low : high + 1] = law / law.sum()
        return table


def _by_length(weights: FloatArray, begin: IntArray, lengths: IntArray) -> list[FloatArray]:
    """Fewer tables with the same sum: those of one length are added two by two, all pairs of them at once.

    The tables stand one behind another in ``weights``.
    """
    waiting = {
        length: weights[begin[lengths == length][:, None] + np.arange(length)] for length in np.unique(lengths).tolist()
    }
    left: list[FloatArray] = []
    while waiting:
        length = min(waiting)
        same = waiting.pop(length)
        if len(same) < _MANY or length * length > _DIRECT:
            left += list(same)
            continue
        if len(same) % 2:
            left.append(same[-1])
            same = same[:-1]
        one, other = same[::2], same[1::2]
        both = np.zeros((len(one), 2 * length - 1))
        rows = max(_IN_CACHE // length, 1)
        for first in range(0, len(one), rows):
            some = slice(first, first + rows)
            for k in range(length):
                both[some, k : k + length] += one[some, k : k + 1] * other[some]
        if length == 1:
            left.append(np.atleast_1d(both.prod()))
        else:
            more = waiting.get(2 * length - 1)
            waiting[2 * length - 1] = both if more is None else np.concatenate([more, both])
    return left


def _by_fourier(one: FloatArray, other: FloatArray) -> FloatArray:
    """The convolution of two tables, to a few units in the last place of its largest value."""
    length = len(one) + len(other) - 1
    size = 1 << (length - 1).bit_length()
    both = np.fft.irfft(np.fft.rfft(one, size) * np.fft.rfft(other, size), size)[:length]
    return np.maximum(both, 0.0)


def _method_of(parts: tuple[Law, ...]) -> How:
    """As good as the least of the parts."""
    simulated = _simulated(parts, INDEPENDENT)
    if simulated is not None:
        return simulated
    worst = max(parts, key=lambda law: ("exact", "bound", "approximate").index(law.method.kind)).method
    if worst.kind == "exact":
        return exactly(INDEPENDENT)
    return How(kind=worst.kind, name=INDEPENDENT if worst.kind == "approximate" else worst.name)


def _simulated(parts: Sequence[Law], name: str) -> How | None:
    """As good as the fewest resamples of any part; None where no part was simulated."""
    drawn = [law.method for law in parts if law.method.n_resamples is not None]
    if not drawn:
        return None
    return How(
        kind="simulated",
        name=name,
        n_resamples=min(how.n_resamples or 0 for how in drawn),
        with_data=all(how.with_data for how in drawn),
    )


# ---- the law of a sum whose parts rise and fall together: for parts of which we only know that they are dependent


def comonotone(parts: Sequence[Law]) -> LogTable:
    """The law of Σ Q_i(U), with Q_i the quantile functions of the parts and one U for all of them.

    Of all ways in which parts with these laws can depend on one another this one has the largest variance, and the
    largest expected excess over any bar. No bound on each single tail, so that it is called approximate: careful, not
    exact. Only where no more than one part can vary is there but one way.

    Parameters
    ----------
    parts : sequence of Law

    References
    ----------
    Dhaene, Denuit, Goovaerts, Kaas and Vyncke (2002), The concept of comonotonicity in actuarial science and finance:
    theory.

    Examples
    --------
    >>> from nofluke.laws.tables import binomial
    >>> law = comonotone([binomial(1, 0.5), binomial(1, 0.25)])
    >>> law.table.round(2), law.mean  # both at once with probability .25, where independent parts have .125
    (array([0.5 , 0.25, 0.25]), 0.75)
    """
    if not parts:
        raise InputError(argument="parts", problem="is empty", remedy="pass at least one law")
    tables = [law.log_bulk() for law in parts]
    first = sum(begin for begin, _ in tables)
    # the sum is at least first + r where r of all "part i is at least k" hold: the r-th most likely is the rarest
    above = _descending([np.logaddexp.accumulate(logs[::-1])[::-1][1:] for _, logs in tables])
    below = _descending([np.logaddexp.accumulate(logs)[:-1] for _, logs in tables])[::-1]
    upper = np.concatenate([[0.0], above, [-np.inf]])  # log P(S ≥ first + r)
    lower = np.concatenate([[-np.inf], below, [0.0]])  # log P(S < first + r)
    logs = np.where(upper[:-1] < math.log(0.5), _less(upper[:-1], upper[1:]), _less(lower[1:], lower[:-1]))
    numbers, chances = np.arange(len(logs)), np.exp(logs)
    vary = sum(len(table) > 1 for _, table in tables)
    how = How(kind="approximate", name=TOGETHER) if vary > 1 else _method_of(tuple(parts))
    mean = inner(chances, numbers) / float(chances.sum())
    return LogTable(
        first,
        logs,
        size=sum(law.size for law in parts),
        mean=math.fsum(law.mean for law in parts),
        var=inner(chances, (numbers - mean) ** 2) / float(chances.sum()),
        method=_simulated(parts, TOGETHER) or how,
    )


def _descending(tails: list[FloatArray]) -> FloatArray:
    return np.minimum(np.sort(np.concatenate(tails))[::-1], 0.0)


def _less(log_more: FloatArray, log_less: FloatArray) -> FloatArray:
    """log(e^a - e^b) for a ≥ b."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(log_more > log_less, log_more + np.log(-np.expm1(log_less - log_more)), -np.inf)
