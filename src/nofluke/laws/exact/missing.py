"""The chance π that given steps hold no event, for spans and windows of any size: no tables, no lost digits.

With m events on T steps, ``π(x) = binom(T-x, m) / binom(T, m)``. Loader's form of the binomial (see `binomial`) splits
its logarithm into ``x log(1 - m/T)``, as if steps were independent, and a rest H(x) in which the deviances of both
outcomes are known to all digits, because both lie m x / T from their means:

    H(x) = S(x) - dev(m; (T-x) m/T) - dev(T-x-m; (T-x)(T-m)/T) + log(1 + m x / (T (T-x-m))) / 2,

S being a second difference of Stirling's error. x may be any real number, which sums by interpolation need (`smooth`).

The section "Precision: mean and variance" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.laws.exact.binomial import deviance

_SERIES_FROM = 16.0  # from here on Stirling's error is a series in 1/z


def log_missed(n_steps: Any, n_events: int, x: Any) -> FloatArray:
    """log π(x): minus infinity where x > T - m. ``n_steps`` and ``x`` are numbers or arrays, best of integers.

    Examples
    --------
    >>> float(np.exp(log_missed(5, 2, 2)).round(12)), float(log_missed(10**18, 10**5, 10**9))
    (0.3, -0.0001000000000500...)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        linear = x * _log_rest(n_events, n_steps, n_steps - n_events)
        return np.where(n_steps - n_events - x >= 0, linear + _rest(n_steps, n_events, x), -np.inf)


def log_together(n_steps: int, n_events: int, x: Any, y: Any) -> FloatArray:
    """log [π(x + y) / (π(x) π(y))], which is never positive, without the digits that the difference would lose.

    It is what y steps without events do to log π(x): the steps left are fewer, the events are not.

    Examples
    --------
    >>> float(np.exp(log_together(5, 2, 1, 1)).round(12))  # 0.3 / 0.6 / 0.6
    0.833333333333
    """
    small, large = np.minimum(x, y), np.maximum(x, y)
    left = n_steps - large
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (large * float(n_events)) / (left * float(n_steps - n_events))
        kept = (left - n_events) / left * (n_steps / float(n_steps - n_events))
        linear = small * np.where(share > 0.5, np.log(kept), np.log1p(-np.minimum(share, 1.0)))
        found = linear + _rest(left, n_events, small) - _rest(n_steps, n_events, small)
        return np.where(left - n_events - small >= 0, found, -np.inf)


def lost(n_steps: int, n_events: int, x: Any, y: Any) -> FloatArray:
    """π(x) - π(x + y): the chance that x steps hold no event, and y further ones do."""
    return np.asarray(-np.exp(log_missed(n_steps, n_events, x)) * np.expm1(log_missed(n_steps - x, n_events, y)))


def _log_rest(part: Any, whole: Any, rest: Any) -> FloatArray:
    """log(1 - part/whole), where rest = whole - part."""
    share = part / whole
    return np.asarray(np.where(share > 0.5, np.log(rest / whole), np.log1p(-share)))


def _rest(n_steps: Any, n_events: int, x: Any) -> FloatArray:
    """H(x), for x up to T - m; of any value beyond."""
    m, left, others, z = float(n_events), n_steps - x, n_steps - n_events, np.maximum(n_steps - n_events - x, 0)
    # whole numbers are subtracted before they are rounded: all that follows is relative
    n_steps, x, left, others, z = (np.asarray(value, dtype=np.float64) for value in (n_steps, x, left, others, z))
    apart = m * x / n_steps
    deviances = deviance(m, left * m / n_steps, apart) + deviance(z, left / n_steps * others, -apart)
    stirling = -(x * m / 12.0) * (n_steps + (left - m)) / (n_steps * left * others * np.maximum(z, 1.0))
    higher = _higher(left) - _higher(n_steps) + _higher(others) - _higher(z)
    found = stirling + higher - deviances + 0.5 * np.log1p(apart / np.maximum(z, 1.0))
    if z.min(initial=np.inf) >= _SERIES_FROM:
        return np.asarray(found)
    # next to none left: log z! itself, where Stirling's formula has nothing to offer
    from scipy.special import gammaln, xlogy

    factorial = gammaln(z + 1.0) - xlogy(z, z) + z - 0.5 * np.log(2.0 * np.pi)
    errors = _error(left) - _error(n_steps) + _error(others) - factorial
    plain = errors - deviances + 0.5 * np.log(left / n_steps * others)
    return np.asarray(np.where(z >= _SERIES_FROM, found, plain))


def _error(z: FloatArray) -> FloatArray:
    """Stirling's error: log z! - (z + 1/2) log z + z - log(2π)/2."""
    from scipy.special import gammaln

    return np.where(
        z < _SERIES_FROM,
        gammaln(z + 1.0) - (z + 0.5) * np.log(z) + z - 0.5 * np.log(2.0 * np.pi),
        1.0 / (12.0 * np.maximum(z, 1.0)) + _higher(z),
    )


def _higher(z: FloatArray) -> FloatArray:
    """Stirling's error but for its first term, 1/(12 z), for z from 16."""
    inverse = 1.0 / np.maximum(z, _SERIES_FROM)
    square = inverse * inverse
    return np.asarray(-inverse * square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square * (1 / 1188)))))
