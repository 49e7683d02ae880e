"""The binomial probability without the digits that differences of log-gamma lose (8 of 16 at n = 10 million).

Loader's decomposition writes the log-probability as a sum of terms none of which is larger than the answer needs:
Stirling's error of the factorials, and the deviance of k from its mean in either direction.

References
----------
C. Loader (2000), "Fast and Accurate Computation of Binomial Probabilities".
"""

from __future__ import annotations

import math
from typing import Literal, overload

import numpy as np
import numpy.typing as npt

from nofluke.arrays import FloatArray
from nofluke.errors import InputError

_STIRLING_TABLE = np.array(
    [0.0] + [math.lgamma(k + 1.0) - (k + 0.5) * math.log(k) + k - 0.5 * math.log(2.0 * math.pi) for k in range(1, 16)]
)


@overload
def log_pmf(k: int, n: int, p: float, q: float | None = None) -> float: ...
@overload
def log_pmf(k: npt.NDArray[np.int64], n: int, p: float, q: float | None = None) -> FloatArray: ...
def log_pmf(k: int | npt.NDArray[np.int64], n: int, p: float, q: float | None = None) -> float | FloatArray:
    """Log of the binomial probability, ``log( n! / (k! (n-k)!) p^k q^(n-k) )``.

    Parameters
    ----------
    k : int or array of int
        Number of successes; minus infinity outside 0..n.
    n : int
        Number of trials.
    p, q : float
        Chance of success and of failure. Pass q where p is so close to 1 that 1 - p has lost its digits.

    References
    ----------
    C. Loader (2000), "Fast and Accurate Computation of Binomial Probabilities".

    Examples
    --------
    >>> log_pmf(5_000, 10_000_000, 5e-4)
    -5.1773017330...
    >>> log_pmf(11, 10, 0.5)
    -inf
    """
    if n < 0:
        raise InputError(argument="n", problem=f"must be at least 0, got {n}", remedy="pass the number of trials")
    if not 0.0 <= p <= 1.0:
        raise InputError(argument="p", problem=f"must be between 0 and 1, got {p}", remedy="pass a probability")
    q = 1.0 - p if q is None else q
    values = np.asarray(k, dtype=np.int64)
    out = np.full(values.shape, -np.inf)
    inside = (values >= 0) & (values <= n)
    out[inside] = _log_pmf(values[inside], n, p, q)
    return out if isinstance(k, np.ndarray) else float(out)


def log_tail(k: int, n: int, p: float, side: Literal["upper", "lower"]) -> float:
    """log P(X >= k) or log P(X <= k), however small, for 0 < p < 1: from the first term and the ratios to it.

    Examples
    --------
    >>> round(math.exp(log_tail(3, 4, 0.5, "upper")), 12)
    0.3125
    """
    if k > n if side == "upper" else k < 0:
        return -math.inf
    at = np.arange(k, n, dtype=np.float64) if side == "upper" else np.arange(k, 0, -1, dtype=np.float64)
    odds = p / (1.0 - p)
    ratios = (n - at) / (at + 1) * odds if side == "upper" else at / (n - at + 1) / odds
    return min(log_pmf(k, n, p) + math.log1p(float(np.cumprod(ratios).sum())), 0.0)


def log_choose(n: int, k: int) -> float:
    """Log of ``binom(n, k)``; of two large ones, differences lose digits that `log_choose_ratio` keeps.

    >>> round(math.exp(log_choose(5, 2)), 9)
    10.0
    """
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def log_choose_ratio(free: int, total: int, n: int) -> float:
    """Log of ``binom(free, n) / binom(total, n)``: the chance that n drawn without replacement are all among the free.

    A sum of min(n, total - free) logarithms, each to full accuracy; minus infinity where n > free.

    Examples
    --------
    >>> round(math.exp(log_choose_ratio(3, 5, 2)), 12)
    0.3
    """
    if n > free:
        return -math.inf
    taken = total - free
    # the product over the n draws and the one over the steps to be avoided are equal: take the shorter
    steps, other = (n, taken) if n <= taken else (taken, n)
    left = total - np.arange(steps)  # whole numbers: their differences are exact, however large they are
    # near 0 the ratio of whole numbers is exact, near 1 its distance from 1 is
    return math.fsum(np.where(other > 0.5 * left, np.log((left - other) / left), np.log1p(-other / left)))


def _log_pmf(k: npt.NDArray[np.int64], n: int, p: float, q: float) -> FloatArray:
    out = np.empty(k.shape)
    with np.errstate(divide="ignore"):
        log_p, log_q = np.log(p), np.log(q)
    none, every = k == 0, k == n
    out[none] = n * (np.log1p(-p) if p < 0.5 else log_q) if n > 0 else 0.0
    if n > 0:
        out[every] = n * (np.log1p(-q) if q < 0.5 else log_p)
    middle = ~(none | every)
    if p == 0.0 or q == 0.0:
        out[middle] = -np.inf
        return out
    x = k[middle].astype(np.float64)
    y = (n - k[middle]).astype(np.float64)
    errors = _stirling_error(np.asarray([float(n)])) - _stirling_error(x) - _stirling_error(y)
    # both outcomes lie equally far from their means: the rarer one tells how far, where n has more digits than a double
    apart = x - n * p if p < 0.5 else n * q - y
    deviances = deviance(x, n * p, apart) + deviance(y, n * q, -apart)
    out[middle] = errors - deviances + 0.5 * np.log(n / (2.0 * np.pi * x * y))
    return out


def _stirling_error(k: FloatArray) -> FloatArray:
    """log k! minus Stirling's formula, for whole k >= 0."""
    small = k < 16
    inverse = 1.0 / np.where(small, 16.0, k)
    square = inverse * inverse
    series = inverse * (
        1 / 12
        - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square * (1 / 1188 - square * 691 / 360360))))
    )
    return np.where(small, _STIRLING_TABLE[np.where(small, k, 0.0).astype(np.int64)], series)


def deviance(x: FloatArray | float, mean: FloatArray | float, apart: FloatArray) -> FloatArray:
    """x log(x / mean) + mean - x, accurate where x is near its mean, from which it is ``apart`` = x - mean."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        v = apart / (x + mean)
        near = np.abs(v) < 0.1
        w = np.where(near, v, 0.0)
        total = apart * w
        term = 2.0 * x * w
        square = w * w
        # a series in w²: as many terms as the largest needs
        for j in range(1, 1 + _terms(float(square.max(initial=0.0)))):
            term = term * square
            total = total + term / (2 * j + 1)
        if near.all():
            return np.asarray(total)
        plain = np.where(np.equal(x, 0.0), mean, x * np.log(x / mean) - apart)
    return np.where(near, total, plain)


def _terms(square: float) -> int:
    """How many powers of it a double can tell from 0, beside 1."""
    return 1 if square < 1e-17 else min(math.ceil(-39.2 / math.log(square)), 11)
