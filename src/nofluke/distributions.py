"""What chance scores: the distribution of a number of hits under a null model.

Two kinds of tails matter: ``upper(k)`` = P(X ≥ k), which the p-value is, and ``lower(k)`` = P(X ≤ k). Where the whole
distribution is at hand as a table of positive numbers, both are sums from the far end, so that the smallest tail keeps
all its digits. Tails carry their logarithm, which stays right where a double underflows.

Nothing that is not a number leaves this module: means, variances, tables and tails are checked where they are made.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from nofluke.confusion import TIE_SLACK
from nofluke.errors import InputError, NumericalError
from nofluke.exact import binomial as binomial_law
from nofluke.exact.hypergeometric import hypergeometric_log_tail, hypergeometric_pmf
from nofluke.exact.moments import Moments, recall_moments

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Side = Literal["upper", "lower"]

SMALLEST = math.ulp(0.0)  # what stands for a positive probability that no double can hold
TRUSTED = 1e-250  # a table keeps all digits of tails down to here
MASS_ERROR = 1e-9  # how far from 1 a table's sum may be: what it lacks are probabilities left out as negligible


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """P(X ≥ k) or P(X ≤ k), and how it was come by.

    Attributes
    ----------
    p : float
        The probability; the smallest positive double where it is smaller than that, 0 only if it is 0.
    log_p : float
        Its natural logarithm.
    method : str
        How it was computed; "upper bound ..." where the true probability may be smaller.
    """

    p: float
    log_p: float
    method: str

    @classmethod
    def of(cls, p: float, method: str) -> Tail:
        """From a probability that a double holds."""
        return cls(p=p, log_p=math.log(p) if p > 0.0 else -math.inf, method=method)

    @classmethod
    def of_log(cls, log_p: float, method: str) -> Tail:
        """From the logarithm of a probability of any size."""
        return cls(p=max(math.exp(log_p), SMALLEST) if log_p > -math.inf else 0.0, log_p=log_p, method=method)


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
        if not (math.isfinite(mean) and math.isfinite(var)):
            raise _not_a_number("mean or variance", method)
        self.size = size
        self.mean = mean
        self.var = var
        self.method = method
        self._known: dict[tuple[int, Side], Tail] = {}

    def tail(self, hits: int, side: Side = "upper") -> Tail:
        """P(X ≥ hits) or P(X ≤ hits), with its logarithm and how it was computed."""
        if (hits, side) not in self._known:
            certain = hits <= 0 if side == "upper" else hits >= self.size
            impossible = hits > self.size if side == "upper" else hits < 0
            found = Tail.of(float(certain), self.method) if certain or impossible else self._tail(hits, side)
            if not 0.0 <= found.p <= 1.0 or math.isnan(found.log_p):
                raise _not_a_number(f"P(X {'≥' if side == 'upper' else '≤'} {hits})", self.method)
            self._known[hits, side] = found
        return self._known[hits, side]

    @abstractmethod
    def _tail(self, hits: int, side: Side) -> Tail:
        """The tail, for hits of which it is neither certain nor impossible by their range alone."""

    def upper(self, hits: int) -> float:
        """P(X ≥ hits)."""
        return self.tail(hits, "upper").p

    def lower(self, hits: int) -> float:
        """P(X ≤ hits)."""
        return self.tail(hits, "lower").p

    @cached_property
    def table(self) -> FloatArray:
        """P(X = k) for k = 0..size."""
        table = self._table()
        if not abs(float(table.sum()) - 1.0) <= MASS_ERROR or table.min() < 0.0:
            raise _not_a_number("whole distribution", self.method)
        return table

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

    def bulk(self, deviations: float) -> tuple[int, FloatArray]:
        """Some k, and P(X = k), P(X = k + 1), ... at least as far as so many standard deviations on either side of the mean."""
        del deviations  # the whole is at hand
        kept = self.support
        return int(kept[0]), self.table[kept[0] : kept[-1] + 1]

    def pmf(self, k: Any) -> Any:
        """P(X = k), for a number or an array of them."""
        values = np.asarray(k, dtype=np.float64)
        with np.errstate(invalid="ignore"):
            possible = (values >= 0) & (values <= self.size) & (values % 1 == 0)
        found = np.where(possible, self.table[np.where(possible, values, 0).astype(np.int64)], 0.0)
        return float(found) if values.ndim == 0 else found

    def cdf(self, k: Any) -> Any:
        """P(X ≤ k), for a number or an array of them."""
        return self._each(k, self.lower)

    def sf(self, k: Any) -> Any:
        """P(X > k), as in ``scipy.stats``, for a number or an array of them. P(X ≥ k) is :meth:`upper`."""
        return self._each(k, lambda i: self.upper(i + 1))

    def _each(self, k: Any, function: Callable[[int], float]) -> Any:
        """A function of whole numbers at each value rounded down; NaN has none."""
        values = np.asarray(k, dtype=np.float64)
        whole = np.floor(np.clip(values, -1, self.size))  # beyond either end nothing changes
        results = np.array([math.nan if math.isnan(i) else function(int(i)) for i in whole.ravel()])
        return float(results[0]) if values.ndim == 0 else results.reshape(values.shape)

    def quantile(self, q: Any) -> Any:
        """The smallest k with P(X ≤ k) ≥ q, for a number or an array of them.

        A level that some k attains but for rounding counts as attained; at 0 and 1 the answer is an end of the support.
        """
        levels = np.asarray(q, dtype=np.float64)
        if not ((levels >= 0) & (levels <= 1)).all():
            raise InputError(f"q={q!r} must be between 0 and 1.")
        found = [self._quantile(float(level)) for level in levels.ravel()]
        return found[0] if levels.ndim == 0 else np.array(found, dtype=np.int64).reshape(levels.shape)

    def _quantile(self, level: float) -> int:
        if level in (0.0, 1.0):
            return int(self.support[0 if level == 0.0 else -1])
        return first_true(lambda k: self._reaches(k, level), self._guess(level), 0, self.size)

    def _reaches(self, k: int, level: float) -> bool:
        """Whether P(X ≤ k) ≥ level but for rounding, told from the smaller tail."""
        if level <= 0.5:
            return self.lower(k) >= level * (1 - TIE_SLACK)
        return self.upper(k + 1) <= (1 - level) * (1 + TIE_SLACK)

    def critical_value(self, alpha: float) -> int | None:
        """The smallest k with P(X ≥ k) ≤ alpha: from there on, hits are significant. None if no number of hits is."""
        if not 0 < alpha < 1:
            raise InputError(f"alpha={alpha!r} must be between 0 and 1.")
        found = first_true(lambda k: self.upper(k) <= alpha * (1 + TIE_SLACK), self._guess(1 - alpha), 0, self.size + 1)
        return found if found <= self.size else None

    def _guess(self, level: float) -> int:
        """Where the quantile of a normal distribution with this mean and deviation lies."""
        level = min(max(level, 1e-300), 1 - 1e-16)
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


def _not_a_number(what: str, method: str) -> NumericalError:
    return NumericalError(
        f"the {what} of chance's hits could not be computed by the method {method}: this should not happen, please report "
        "it; method='montecarlo' still answers."
    )


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


class TableNull(NullDistribution):
    """A distribution known as a whole, as a table of positive numbers.

    Parameters
    ----------
    table : array
        P(X = k) for k = 0..size. A table without a law of its own is only as good as a double: what underflows in it is 0.
    """

    def __init__(self, table: FloatArray, *, mean: float, var: float, method: str) -> None:
        super().__init__(size=len(table) - 1, mean=mean, var=var, method=method)
        self._given = table

    def _table(self) -> FloatArray:
        return self._given

    @cached_property
    def _sums(self) -> dict[Side, FloatArray]:
        return {"upper": np.cumsum(self.table[::-1])[::-1], "lower": np.cumsum(self.table)}

    def _tail(self, hits: int, side: Side) -> Tail:
        ends = self.support
        if (hits <= ends[0]) if side == "upper" else (hits >= ends[-1]):
            return Tail.of(1.0, self.method)
        found = min(float(self._sums[side][hits]), 1.0)
        return Tail.of(found, self.method) if found >= TRUSTED else self._far(hits, side, found)

    def _far(self, hits: int, side: Side, found: float) -> Tail:
        """A tail too small for the table, by whatever else is known of the law; here, what the table says."""
        del hits, side
        return Tail.of(found, self.method)


class CountNull(NullDistribution):
    """Hits counted over all possibilities, such as all rotations: integers, so that ties stay exact."""

    def __init__(self, counts: IntArray, *, mean: float, var: float, method: str) -> None:
        super().__init__(size=len(counts) - 1, mean=mean, var=var, method=method)
        self.counts = counts
        self.total = int(counts.sum())

    def _table(self) -> FloatArray:
        return self.counts / self.total

    def _count(self, hits: int, side: Side) -> int:
        return int(self.counts[max(hits, 0) :].sum() if side == "upper" else self.counts[: max(hits + 1, 0)].sum())

    def _tail(self, hits: int, side: Side) -> Tail:
        return Tail.of(self._count(hits, side) / self.total, self.method)

    def _reaches(self, k: int, level: float) -> bool:
        return self._count(k, "lower") >= level * self.total * (1 - TIE_SLACK)


class EmpiricalNull(CountNull):
    """Hits counted in random resamples. Tails count the observed sequence as one of them, so none is ever 0."""

    def __init__(self, counts: IntArray, *, mean: float, var: float, n_resamples: int, seed: int | None) -> None:
        super().__init__(counts, mean=mean, var=var, method="montecarlo")
        self.n_resamples = n_resamples
        self.seed = seed

    def tail(self, hits: int, side: Side = "upper") -> Tail:
        """(b + 1)/(n + 1), with b the resamples that have at least (at most) as many hits."""
        return Tail.of((self._count(hits, side) + 1) / (self.n_resamples + 1), self.method)


class Hypergeometric(TableNull):
    """Events that fall on covered steps, when ``n_events`` are placed at random on ``n_steps``, out of ``size``."""

    def __init__(self, n_steps: int, covered: int, n_events: int, size: int, moments: Moments | None = None) -> None:
        moments = recall_moments(n_steps, covered, n_events) if moments is None else moments
        table = np.zeros(size + 1)
        reached = hypergeometric_pmf(n_steps, covered, n_events)
        table[: len(reached)] = reached
        super().__init__(table, mean=moments.mean, var=moments.var, method="exact (hypergeometric)")
        self._law = n_steps, covered, n_events

    def _far(self, hits: int, side: Side, found: float) -> Tail:
        del found
        return Tail.of_log(hypergeometric_log_tail(*self._law, hits, side), self.method)


def hypergeometric(n_steps: int, covered: int, n_events: int) -> Hypergeometric:
    """Events that fall on covered steps, when ``n_events`` are placed at random on ``n_steps``.

    >>> null = hypergeometric(10, 4, 3)
    >>> null.mean, round(null.pmf(1), 6)
    (1.2, 0.5)
    """
    return Hypergeometric(n_steps, covered, n_events, n_events)


class Binomial(TableNull):
    """Hits in independent trials, each with the same chance."""

    def __init__(self, size: int, chance: float, method: str = "binomial") -> None:
        if chance <= 0 or chance >= 1:
            table = np.zeros(size + 1)
            table[size if chance >= 1 else 0] = 1.0
        else:
            k = np.arange(size, dtype=np.float64)
            table = _from_ratios((size - k) / (k + 1) * (chance / (1 - chance)))
        super().__init__(table, mean=size * chance, var=size * chance * (1 - chance), method=method)
        self._chance = chance

    def _far(self, hits: int, side: Side, found: float) -> Tail:
        del found
        return Tail.of_log(binomial_law.log_tail(hits, self.size, self._chance, side), self.method)


def binomial(size: int, chance: float, method: str = "binomial") -> Binomial:
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
