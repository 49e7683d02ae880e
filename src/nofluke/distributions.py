"""What chance scores: the distribution of a number of hits under a null model.

Two kinds of tails matter: ``upper(k)`` = P(X ≥ k), which the p-value is, and ``lower(k)`` = P(X ≤ k). Where the whole
distribution is at hand as a table of positive numbers, both are sums from the far end, so that the smallest tail keeps
all its digits.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from nofluke.confusion import TIE_SLACK
from nofluke.errors import InputError
from nofluke.exact.hypergeometric import hypergeometric_pmf

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Side = Literal["upper", "lower"]


class NullDistribution(ABC):
    """The distribution of a number of hits if the detector knew nothing.

    Attributes
    ----------
    size : int
        The number of trials: hits lie in 0..size.
    mean, var : float
        Exact wherever the null model has them in closed form, whatever the method of the rest.
    method : str
        How it was computed: "exact (hypergeometric)", "exact (dynamic programme)", "montecarlo", ...
    """

    def __init__(self, *, size: int, mean: float, var: float, method: str) -> None:
        self.size = size
        self.mean = mean
        self.var = var
        self.method = method

    @abstractmethod
    def upper(self, hits: int) -> float:
        """P(X ≥ hits)."""

    @abstractmethod
    def lower(self, hits: int) -> float:
        """P(X ≤ hits)."""

    @cached_property
    def table(self) -> FloatArray:
        """P(X = k) for k = 0..size."""
        return self._table()

    @abstractmethod
    def _table(self) -> FloatArray: ...

    @property
    def std(self) -> float:
        """Standard deviation."""
        return math.sqrt(self.var)

    @property
    def support(self) -> IntArray:
        """The numbers of hits that have any probability, from the smallest to the largest."""
        some = np.flatnonzero(self.table)
        return np.arange(some[0], some[-1] + 1)

    def pmf(self, k: Any) -> Any:
        """P(X = k), for a number or an array of them."""
        values = np.asarray(k, dtype=np.float64)
        possible = (values >= 0) & (values <= self.size) & (values % 1 == 0)
        found = np.where(possible, self.table[np.where(possible, values, 0).astype(np.int64)], 0.0)
        return float(found) if values.ndim == 0 else found

    def cdf(self, k: Any) -> Any:
        """P(X ≤ k), for a number or an array of them."""
        return _each(k, self.lower)

    def sf(self, k: Any) -> Any:
        """P(X > k), as in ``scipy.stats``, for a number or an array of them. P(X ≥ k) is :meth:`upper`."""
        return _each(k, lambda i: self.upper(i + 1))

    def quantile(self, q: Any) -> Any:
        """The smallest k with P(X ≤ k) ≥ q, for a number or an array of them."""
        levels = np.asarray(q, dtype=np.float64)
        if not ((levels >= 0) & (levels <= 1)).all():
            raise InputError(f"q={q!r} must be between 0 and 1.")
        found = np.searchsorted(np.cumsum(self.table), levels, side="left")
        # at q = 1, where rounding decides, and at q = 0 the answer is an end of the support
        found = np.clip(np.where(levels == 1, self.size, found), self.support[0], self.support[-1])
        return int(found) if levels.ndim == 0 else found.astype(np.int64)

    def critical_value(self, alpha: float) -> int | None:
        """The smallest k with P(X ≥ k) ≤ alpha: from there on, hits are significant. None if no number of hits is."""
        if not 0 < alpha < 1:
            raise InputError(f"alpha={alpha!r} must be between 0 and 1.")
        found = first_true(lambda k: self.upper(k) <= alpha * (1 + TIE_SLACK), self._guess(1 - alpha), 0, self.size + 1)
        return found if found <= self.size else None

    def _guess(self, level: float) -> int:
        """Where the quantile of a normal distribution with this mean and deviation lies."""
        return round(self.mean + NormalDist().inv_cdf(level) * self.std)

    def rvs(self, size: int | tuple[int, ...] | None = None, rng: Any = None) -> Any:
        """Random numbers of hits; ``rng`` is anything ``numpy.random.default_rng`` takes."""
        weights = self.table / self.table.sum()
        drawn = np.random.default_rng(rng).choice(self.size + 1, size=size, p=weights)
        return int(drawn) if size is None else drawn

    def plot(self, ax: Axes | None = None, *, observed: int | None = None) -> Axes:
        """Draw the distribution (matplotlib), with the observed number of hits if given."""
        from nofluke.plot import null as plot_null

        return plot_null(self, ax, observed=observed)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.method}: 0..{self.size}, mean {self.mean:.6g}, std {self.std:.6g}>"


def first_true(holds: Callable[[int], bool], guess: int, low: int, high: int) -> int:
    """The smallest k in low..high from which on a monotone condition holds (it does at high), asked near a guess first.

    >>> first_true(lambda k: k * k >= 200, guess=10, low=0, high=1000)
    15
    """
    guess = min(max(guess, low), high)
    step = 1
    if guess == high or holds(guess):
        while guess > low and holds(max(guess - step, low)):
            guess, step = max(guess - step, low), 2 * step
        low, high = max(guess - step + 1, low), guess
    else:
        while guess + step < high and not holds(guess + step):
            guess, step = guess + step, 2 * step
        low, high = guess + 1, min(guess + step, high)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _each(k: Any, function: Callable[[int], float]) -> Any:
    values = np.asarray(k)
    whole = np.floor(values).astype(np.int64)
    results = np.array([function(int(i)) for i in whole.ravel()]).reshape(values.shape)
    return float(results) if values.ndim == 0 else results


class TableNull(NullDistribution):
    """A distribution known as a whole, as a table of positive numbers, made when it is first asked for."""

    def __init__(self, make: Callable[[], FloatArray], *, size: int, mean: float, var: float, method: str) -> None:
        super().__init__(size=size, mean=mean, var=var, method=method)
        self._make = make

    def _table(self) -> FloatArray:
        return self._make()

    @cached_property
    def _upper(self) -> FloatArray:
        return np.cumsum(self.table[::-1])[::-1]

    @cached_property
    def _lower(self) -> FloatArray:
        return np.cumsum(self.table)

    def upper(self, hits: int) -> float:
        if hits <= self.support[0]:
            return 1.0
        return min(float(self._upper[hits]), 1.0) if hits <= self.size else 0.0

    def lower(self, hits: int) -> float:
        if hits >= self.support[-1]:
            return 1.0
        return min(float(self._lower[hits]), 1.0) if hits >= 0 else 0.0


class TailNull(NullDistribution):
    """A distribution of which tails are computed one at a time, and the whole only when asked for."""

    def __init__(
        self,
        *,
        size: int,
        mean: float,
        var: float,
        method: str,
        tail: Callable[[int, Side], float],
        table: Callable[[], FloatArray],
    ) -> None:
        super().__init__(size=size, mean=mean, var=var, method=method)
        self._tail, self._whole = tail, table
        self._known: dict[tuple[int, Side], float] = {}

    def _table(self) -> FloatArray:
        return self._whole()

    def upper(self, hits: int) -> float:
        return self._at(hits, "upper") if 0 < hits <= self.size else float(hits <= 0)

    def lower(self, hits: int) -> float:
        return self._at(hits, "lower") if 0 <= hits < self.size else float(hits >= self.size)

    def quantile(self, q: Any) -> Any:
        """The smallest k with P(X ≤ k) ≥ q, for a number or an array of them: from a few tails near it."""
        levels = np.asarray(q, dtype=np.float64)
        if not ((levels > 0) & (levels < 1)).all():
            return super().quantile(q)
        found = [self._quantile(float(level)) for level in levels.ravel()]
        return found[0] if levels.ndim == 0 else np.array(found, dtype=np.int64).reshape(levels.shape)

    def _quantile(self, level: float) -> int:
        return first_true(lambda k: self.lower(k) >= level, self._guess(level), 0, self.size)

    def _at(self, hits: int, side: Side) -> float:
        if (hits, side) not in self._known:
            self._known[hits, side] = self._tail(hits, side)
        return self._known[hits, side]


class CountNull(NullDistribution):
    """Hits counted over all possibilities, such as all rotations: integers, so that ties stay exact."""

    def __init__(self, counts: IntArray, *, mean: float, var: float, method: str) -> None:
        super().__init__(size=len(counts) - 1, mean=mean, var=var, method=method)
        self.counts = counts
        self.total = int(counts.sum())

    def _table(self) -> FloatArray:
        return self.counts / self.total

    def upper(self, hits: int) -> float:
        return int(self.counts[max(hits, 0) :].sum()) / self.total

    def lower(self, hits: int) -> float:
        return int(self.counts[: max(hits + 1, 0)].sum()) / self.total


class EmpiricalNull(CountNull):
    """Hits counted in random resamples. Tails count the observed sequence as one of them, so none is ever 0."""

    def __init__(self, counts: IntArray, *, mean: float, var: float, n_resamples: int, seed: int | None) -> None:
        super().__init__(counts, mean=mean, var=var, method="montecarlo")
        self.n_resamples = n_resamples
        self.seed = seed

    def upper(self, hits: int) -> float:
        """(b + 1)/(n + 1), with b the resamples that have at least as many hits."""
        return (int(self.counts[max(hits, 0) :].sum()) + 1) / (self.n_resamples + 1)

    def lower(self, hits: int) -> float:
        """(b + 1)/(n + 1), with b the resamples that have at most as many hits."""
        return (int(self.counts[: max(hits + 1, 0)].sum()) + 1) / (self.n_resamples + 1)


def hypergeometric(n_steps: int, covered: int, n_events: int) -> TableNull:
    """Events that fall on covered steps, when ``n_events`` are placed at random on ``n_steps``.

    >>> null = hypergeometric(10, 4, 3)
    >>> null.mean, round(null.pmf(1), 6)
    (1.2, 0.5)
    """
    mean = n_events * covered / n_steps
    spread = (n_steps - covered) / n_steps * (n_steps - n_events) / (n_steps - 1) if n_steps > 1 else 0.0
    table = np.zeros(n_events + 1)
    reached = hypergeometric_pmf(n_steps, covered, n_events)
    table[: len(reached)] = reached
    return TableNull(lambda: table, size=n_events, mean=mean, var=mean * spread, method="exact (hypergeometric)")


def binomial(size: int, chance: float) -> TableNull:
    """Hits in independent trials, each with the same chance.

    >>> round(binomial(4, 0.5).pmf(2), 6)
    0.375
    """
    if chance <= 0 or chance >= 1:
        table = np.zeros(size + 1)
        table[size if chance >= 1 else 0] = 1.0
    else:
        k = np.arange(size, dtype=np.float64)
        table = _from_ratios((size - k) / (k + 1) * (chance / (1 - chance)))
    var = size * chance * (1 - chance)
    return TableNull(lambda: table, size=size, mean=size * chance, var=var, method="binomial")


def _from_ratios(ratios: FloatArray) -> FloatArray:
    """A table over 0..n from the n falling ratios P(k+1)/P(k).

    Outwards from the mode every factor is below 1, so nothing overflows and each value keeps its digits; normalising
    by the sum needs no logarithm of a factorial.
    """
    mode = int(np.searchsorted(-ratios, -1.0))  # the mode is where the ratios pass 1
    rising = np.cumprod(1 / ratios[:mode][::-1])[::-1]
    weights = np.concatenate([rising, [1.0], np.cumprod(ratios[mode:])])
    return np.asarray(weights / weights.sum())
