"""What chance scores: the law of a number under a null model.

Two kinds of tails matter: ``upper(k)`` = P(X ≥ k), which the p-value is, and ``lower(k)`` = P(X ≤ k). Tails carry their
logarithm, which stays right where a double underflows, and how they were come by.

Nothing that is not a number leaves this module: means, variances, tables and tails are checked where they are made.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nofluke.arrays import FloatArray, IntArray, inner
from nofluke.errors import InputError, NumericalError
from nofluke.lazy import lazy
from nofluke.plain import as_rng, as_whole, check_alpha, check_word, whole_or_none
from nofluke.ratios import TIE_SLACK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TailSide = Literal["upper", "lower"]
Kind = Literal["exact", "bound", "approximate", "simulated"]

SMALLEST = math.ulp(0.0)  # what stands for a positive probability that no double can hold
MOST_DRAWN = 10**9  # random numbers at a time: 8 GB
MASS_ERROR = 1e-9  # how far from 1 a table's sum may be: what it lacks are probabilities left out as negligible


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """How a law, or one tail of it, was computed.

    Attributes
    ----------
    kind : {"exact", "bound", "approximate", "simulated"}
        Exact but for rounding (or certified to ``error``); an upper bound; without any bound on the error; by
        resamples.
    name : str
        The engine: "hypergeometric", "dynamic programme", "Fourier", "all rotations", "saddlepoint", "binomial", ...
    error : float
        Certified bound on the relative error, where there is one beyond rounding; 0 for none.
    n_resamples, seed : int or None
        Of a simulation; no seed where the generator was already running.
    with_data : bool
        Whether the data are one of the resamples already, so that a tail is a p-value as it is.

    Examples
    --------
    >>> str(How(kind="exact", name="Fourier", error=1e-12)), str(How(kind="simulated", n_resamples=999, seed=1))
    ('exact (Fourier)', 'montecarlo')
    """

    kind: Kind
    name: str = ""
    error: float = 0.0
    n_resamples: int | None = None
    seed: int | None = None
    with_data: bool = False

    def __str__(self) -> str:
        if self.kind == "simulated":
            return "montecarlo"
        if self.kind == "approximate":  # "binomial" says by itself that it is an approximation
            return self.name if self.name.startswith("binomial") else f"{self.name} (approximate)"
        return f"{'upper bound' if self.kind == 'bound' else 'exact'} ({self.name})"


def lacks_data(how: How) -> int:
    """Of how many resamples a simulation was made that does not count the data as one of them; 0 for anything else."""
    return 0 if how.n_resamples is None or how.with_data else how.n_resamples


def exactly(name: str) -> How:
    """Exact but for rounding, by the engine of that name."""
    return How(kind="exact", name=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """P(X ≥ k) or P(X ≤ k), and how it was come by.

    Attributes
    ----------
    p : float
        The probability; the smallest positive double where it is smaller than that, 0 only if it is 0.
    log_p : float
        Its natural logarithm.
    method : How
        How it was computed.
    """

    p: float
    log_p: float
    method: How

    @classmethod
    def of(cls, p: float, method: How) -> Tail:
        """From a probability that a double holds."""
        return cls(p=p, log_p=math.log(p) if p > 0.0 else -math.inf, method=method)

    @classmethod
    def of_log(cls, log_p: float, method: How) -> Tail:
        """From the logarithm of a probability of any size."""
        return cls(p=max(math.exp(log_p), SMALLEST) if log_p > -math.inf else 0.0, log_p=log_p, method=method)


class Law(ABC):
    """The law of a whole number, such as hits, if the detector knew nothing.

    Laws of independent numbers can be added: ``one + other`` is the law of their sum, ``sum(laws)`` that of many.

    Attributes
    ----------
    size : int
        The number of trials: hits lie in 0..size.
    mean, var : float
        Exact wherever the null model has them in closed form, whatever the method of the rest.
    method : How
        How it was computed.
    """

    def __init__(self, *, size: int, mean: float | None = None, var: float | None = None, method: How) -> None:
        self.size = size
        self.method = method
        if mean is not None and var is not None:
            self.mean, self.var = self._checked(mean, var)
        self._known: dict[tuple[int, TailSide], Tail] = {}

    def _checked(self, mean: float, var: float) -> tuple[float, float]:
        if not (math.isfinite(mean) and math.isfinite(var)):
            raise _not_a_number("mean or variance", self.method)
        return mean, var

    def _moments(self) -> tuple[float, float]:
        """Mean and variance, for a law that was not given them."""
        k = np.arange(self.size + 1, dtype=np.float64)
        mean = inner(self.table, k)
        return mean, inner(self.table, (k - mean) ** 2)

    @lazy
    def _known_moments(self) -> tuple[float, float]:
        return self._checked(*self._moments())

    @lazy
    def mean(self) -> float:
        """The expected number."""
        return self._known_moments[0]

    @lazy
    def var(self) -> float:
        """Its variance."""
        return self._known_moments[1]

    def tail(self, hits: int, side: TailSide = "upper") -> Tail:
        """P(X ≥ hits) or P(X ≤ hits), with its logarithm and how it was computed."""
        whole = hits if type(hits) is int else whole_or_none(hits)
        if whole is None:
            raise InputError(argument="hits", value=hits, problem="must be a whole number")
        if side not in ("upper", "lower"):
            check_word(side, "side", ("upper", "lower"))
        hits = whole
        if (hits, side) not in self._known:
            certain = hits <= 0 if side == "upper" else hits >= self.size
            impossible = hits > self.size if side == "upper" else hits < 0
            found = Tail.of(float(certain), self.method) if certain or impossible else self._tail(hits, side)
            if not 0.0 <= found.p <= 1.0 or math.isnan(found.log_p):
                raise _not_a_number(f"P(X {'≥' if side == 'upper' else '≤'} {hits})", self.method)
            self._known[hits, side] = found
        return self._known[hits, side]

    @abstractmethod
    def _tail(self, hits: int, side: TailSide) -> Tail:
        """The tail, for hits of which it is neither certain nor impossible by their range alone."""

    def upper(self, hits: int) -> float:
        """P(X ≥ hits)."""
        return self.tail(hits, "upper").p

    def lower(self, hits: int) -> float:
        """P(X ≤ hits)."""
        return self.tail(hits, "lower").p

    @lazy
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

    @lazy
    def ends(self) -> tuple[int, int]:
        """The smallest and the largest number that has any probability."""
        some = self.table.nonzero()[0]
        return int(some[0]), int(some[-1])

    @property
    def support(self) -> IntArray:
        """The numbers of hits that have any probability, from the smallest to the largest."""
        return np.arange(self.ends[0], self.ends[1] + 1)

    def bulk(self, deviations: float) -> tuple[int, FloatArray]:
        """Some k, and P(X = k), P(X = k + 1), ..., to at least ``deviations`` SDs on either side of the mean."""
        del deviations  # the whole is at hand
        first, last = self.ends
        return first, self.table[first : last + 1]

    def log_bulk(self) -> tuple[int, FloatArray]:
        """Some k, and log P(X = k), log P(X = k + 1), ...: all that is known of the law, however small."""
        first, table = self.bulk(math.inf)
        with np.errstate(divide="ignore"):
            return first, np.log(table)

    @property
    def left_out(self) -> float:
        """At most this probability lies outside of `log_bulk`; 0 of resamples, which know of nothing else."""
        if self.method.n_resamples is not None:
            return 0.0
        first, logs = self.log_bulk()
        last = first + len(logs) - 1
        if first <= 0 and last >= self.size:
            return 0.0
        return self.tail(last + 1, "upper").p + self.tail(first - 1, "lower").p

    def pmf(self, k: Any) -> Any:
        """P(X = k), for a number or an array of them."""
        values = _numbers(k, "k")
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
        values = _numbers(k, "k")
        whole = np.floor(np.clip(values, -1, self.size))  # beyond either end nothing changes
        results = np.array([math.nan if math.isnan(i) else function(int(i)) for i in whole.ravel()])
        return float(results[0]) if values.ndim == 0 else results.reshape(values.shape)

    def quantile(self, q: Any) -> Any:
        """The smallest k with P(X ≤ k) ≥ q, for a number or an array of them.

        A level that some k attains but for rounding counts as attained; at 0 and 1 the answer is an end of the support.
        """
        levels = _numbers(q, "q")
        if not ((levels >= 0) & (levels <= 1)).all():
            raise InputError(argument="q", value=q, problem="must be between 0 and 1")
        found = [self._quantile(float(level)) for level in levels.ravel()]
        return found[0] if levels.ndim == 0 else np.array(found, dtype=np.int64).reshape(levels.shape)

    def _quantile(self, level: float) -> int:
        if level in (0.0, 1.0):
            return self.ends[0 if level == 0.0 else 1]
        return first_true(lambda k: self._reaches(k, level), self._guess(level), 0, self.size)

    def _reaches(self, k: int, level: float) -> bool:
        """Whether P(X ≤ k) ≥ level but for rounding, told from the smaller tail."""
        if level <= 0.5:
            return self.lower(k) >= level * (1 - TIE_SLACK)
        return self.upper(k + 1) <= (1 - level) * (1 + TIE_SLACK)

    def critical_value(self, alpha: float) -> int | None:
        """The smallest k with P(X ≥ k) ≤ alpha: from there on, hits are significant. None if no number of hits is."""
        alpha = check_alpha(alpha)
        found = first_true(lambda k: self.upper(k) <= alpha * (1 + TIE_SLACK), self._guess(1 - alpha), 0, self.size + 1)
        return found if found <= self.size else None

    def _guess(self, level: float) -> int:
        """Where the quantile of a normal distribution with this mean and deviation lies."""
        level = min(max(level, 1e-300), 1 - 1e-16)
        return round(self.mean + NormalDist().inv_cdf(level) * self.std)

    def rvs(self, size: int | tuple[int, ...] | None = None, rng: Any = None) -> Any:
        """Random numbers of hits; ``rng`` is anything ``numpy.random.default_rng`` takes."""
        generator = np.random.default_rng(as_rng(rng))
        shape = () if size is None else size if isinstance(size, tuple) else (size,)
        shape = tuple(as_whole(length, "size", 0, MOST_DRAWN) for length in shape)
        as_whole(math.prod(shape), "size", 0, MOST_DRAWN)
        drawn = generator.choice(self.size + 1, size=shape, p=self.table / self.table.sum())
        return int(drawn) if size is None else drawn

    def plot(self, ax: Axes | None = None, *, observed: int | None = None) -> Axes:
        """Draw the distribution (matplotlib), with the observed number of hits if given."""
        from nofluke.plot import null as plot_null

        return plot_null(self, ax, observed=observed)

    def __add__(self, other: Law) -> Law:
        """The law of the sum of two independent numbers."""
        if not isinstance(other, Law):
            return NotImplemented
        from nofluke.laws.sums import SumLaw

        return SumLaw((*self.parts, *other.parts))

    def __radd__(self, other: Any) -> Law:
        """``sum(laws)``, which begins with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    @property
    def parts(self) -> tuple[Law, ...]:
        """The independent laws that this one is the sum of: itself, unless it was added up."""
        return (self,)

    def __eq__(self, other: object) -> bool:
        """Whether both say the same: size, moments, method and table."""
        if not isinstance(other, Law):
            return NotImplemented
        own, others = ((law.size, law.mean, law.var, law.method) for law in (self, other))
        return own == others and np.array_equal(self.table, other.table)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.method}: 0..{self.size}, mean {self.mean:.6g}, std {self.std:.6g}>"


def _numbers(value: Any, name: str) -> FloatArray:
    """A number or an array of them, of any shape."""
    try:
        numbers = np.asarray(value)
        if numbers.dtype.kind in "biuf":
            return numbers.astype(np.float64)
        if numbers.dtype.kind == "O":
            return np.array([float(one) for one in numbers.ravel()], dtype=np.float64).reshape(numbers.shape)
    except Exception:  # what an object of the user's raises when it is asked for a number
        pass
    raise InputError(argument=name, value=value, problem="must be a number, or an array of them")


def _not_a_number(what: str, method: How) -> NumericalError:
    return NumericalError(
        f"the {what} of chance's hits could not be computed by the method {method}: this is a bug, please report it; "
        "method='montecarlo' still works."
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
