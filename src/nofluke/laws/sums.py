"""The law of a sum of independent numbers, such as the hits of many series, with full accuracy in both tails.

All parts are tilted by one θ, P(X = k) ∝ P(X = k) e^{θk}, chosen so that the mean of the sum lies where the tail begins:
there the sum's probabilities are of ordinary size, and a product of Fourier transforms gives them to a few units in the
last place. Taking the tilt out again is a multiplication, so that a tail of 10⁻²⁰⁰ has as many digits as one of 0.1.

The section "Sums over series" of docs/theory.md has the mathematics.
"""

from __future__ import annotations

import math

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.errors import InputError
from nofluke.laws.law import How, Law, Side, Tail, exactly
from nofluke.lazy import lazy

_NEAR_END = 1e-12  # a sum this close to an end of its range needs no finite tilt: all parts are at their ends
_STEEPEST = 600.0  # of θ times the width of the widest part: beyond it, tilted tables would underflow


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
            raise InputError("parts is empty: pass at least one law.")
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
        """Where each part's probabilities begin, and they themselves."""
        return [law.bulk(math.inf) for law in self._parts]

    @lazy
    def ends(self) -> tuple[int, int]:
        return (
            sum(first for first, _ in self._tables),
            sum(first + len(table) - 1 for first, table in self._tables),
        )

    def _cumulants(self, theta: float) -> tuple[float, float, float]:
        """log E e^{θX}, its slope and its curvature, summed over the parts."""
        total = mean = var = 0.0
        for first, table in self._tables:
            k = np.arange(len(table), dtype=np.float64)
            top = float((theta * k)[[0, -1]].max())
            weights = table * np.exp(theta * k - top)
            mass = float(weights.sum())
            own = float(weights @ k) / mass
            total += math.log(mass) + top + theta * first
            mean += first + own
            var += float(weights @ (k - own) ** 2) / mass
        return total, mean, var

    def _tilt_to(self, target: float) -> float:
        """The θ under which the mean of the sum is the target: Newton's method on a convex function, kept in bounds."""
        low, high = self.ends
        bound = _STEEPEST / max(max(len(table) for _, table in self._tables), 1)
        target = min(max(target, low + _NEAR_END), high - _NEAR_END)
        theta, below, above = 0.0, -bound, bound
        for _ in range(60):
            _, mean, var = self._cumulants(theta)
            if abs(mean - target) < 1e-3 * math.sqrt(var) + 1e-9:
                break
            below, above = (theta, above) if mean < target else (below, theta)
            step = theta + (target - mean) / var if var > 0 else math.inf
            theta = step if below < step < above else (below + above) / 2
        return theta

    def _law_at(self, theta: float) -> tuple[FloatArray, float]:
        """The tilted law of the sum from its low end on, and log E e^{θX}."""
        low, high = self.ends
        size = 1 << (high - low).bit_length()
        product = np.ones(size // 2 + 1, dtype=np.complex128)
        for _, table in self._tables:
            k = np.arange(len(table), dtype=np.float64)
            weights = table * np.exp(theta * k - float((theta * k)[[0, -1]].max()))
            product *= np.fft.rfft(weights / weights.sum(), size)
        law = np.fft.irfft(product, size)[: high - low + 1]
        return np.maximum(law, 0.0), self._cumulants(theta)[0]

    def _tail(self, hits: int, side: Side) -> Tail:
        low, high = self.ends
        if (hits <= low) if side == "upper" else (hits >= high):
            return Tail.of(1.0, self.method)
        if (hits > high) if side == "upper" else (hits < low):
            return Tail.of(0.0, self.method)
        theta = self._tilt_to(hits)
        theta = max(theta, 0.0) if side == "upper" else min(theta, 0.0)
        law, log_mean = self._law_at(theta)
        part = law[hits - low :] if side == "upper" else law[: hits - low + 1][::-1]
        # outwards from the hits: the tilt is taken out by factors of at most 1
        factors = np.exp(-abs(theta) * np.arange(len(part), dtype=np.float64))
        log_p = min(math.log(float(part @ factors)) + log_mean - theta * hits, 0.0)
        found = Tail.of_log(log_p, self.method)
        drawn = self.method.n_resamples
        # the data count as one of the resamples, so that no simulated p-value is below 1/(n + 1)
        return found if drawn is None else Tail.of((found.p * drawn + 1) / (drawn + 1), self.method)

    def _table(self) -> FloatArray:
        low, high = self.ends
        table = np.zeros(self.size + 1)
        law, _ = self._law_at(0.0)
        table[low : high + 1] = law / law.sum()
        return table


def _method_of(parts: tuple[Law, ...]) -> How:
    """As good as the least of the parts."""
    worst = max(parts, key=lambda law: ("exact", "bound", "approximate", "simulated").index(law.method.kind)).method
    if worst.kind == "exact":
        return exactly("sum of independent laws")
    if worst.kind == "simulated":
        drawn = [law.method.n_resamples for law in parts if law.method.n_resamples is not None]
        return How(kind="simulated", name="sum of independent laws", n_resamples=min(drawn))
    return How(kind=worst.kind, name=worst.name)
