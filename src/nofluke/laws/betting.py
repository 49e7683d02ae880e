r"""Evidence that may be looked at as often as one likes: e-values of hits, and what bounded shares allow to conclude.

An e-value is a number that is at least 0 and has an expectation of at most 1 if chance is all there is. Products of
e-values, each of them fixed in its making before its data are seen, form a test martingale: the probability that it
*ever* reaches 1/α is at most α (Ville 1939), whenever one looks and whenever one stops.

The page docs/explanation/watching.md has the mathematics.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, FloatArray, IntArray

TILTS: FloatArray = np.array([0.1, 0.2, 0.35, 0.6, 1.0, 1.6, 2.5])
"""Each is a bet on how much better than chance a detector is; the mean over all of them needs no tuning."""
MOST_ORDERS = 10  # items of which all orders are counted; of more, those that a rotation gives
RATES: FloatArray = np.geomspace(0.004, 0.9, 16)  # of the mixture behind a confidence sequence
BETS: FloatArray = np.array([0.1, 0.25, 0.5, 0.9])  # shares of what may be bet on a loss


# ---- e-values of hits whose law is known


def log_evalues(hits: int, values: AnyArray, log_weights: FloatArray) -> FloatArray:
    r"""Logarithms of :math:`e_\theta = e^{\theta h} / E_0[e^{\theta H}]`, one for each of `TILTS`.

    Parameters
    ----------
    hits : int
        h, those that were seen.
    values, log_weights : arrays
        What H may be, and the logarithms of how likely that is; these need not add up to 1.

    References
    ----------
    Grünwald, de Heide and Koolen (2024), Safe testing. Journal of the Royal Statistical Society B.

    Examples
    --------
    >>> fair = np.log([0.5, 0.5])
    >>> e = [np.exp(log_evalues(hits, np.array([0, 1]), fair)) for hits in (0, 1)]
    >>> np.round((e[0] + e[1]) / 2, 12)
    array([1., 1., 1., 1., 1., 1., 1.])
    """
    centred = np.asarray(values, dtype=np.float64) - hits  # relative to what was seen: nothing overflows
    return log_sum(log_weights) - log_sum(log_weights + TILTS[:, None] * centred)


def log_evalues_of_placements(hits: IntArray) -> FloatArray:
    """The same where placements are equally likely: the hits of each, those that were seen first."""
    counts = np.bincount(hits)
    some = np.flatnonzero(counts)
    return log_evalues(int(hits[0]), some, np.log(counts[some]))


def log_evalues_of_orders(hits: IntArray) -> FloatArray:
    r"""The same where K items may stand in any order: ``hits[i, v]`` is what item i scores in place v.

    :math:`E_0[e^{\theta H}]` is the permanent of :math:`e^{\theta h_{iv}}` over K!, counted by subsets of places. Of
    more than ten items only the orders that a rotation gives are counted.

    >>> hits = np.array([[1, 0], [0, 1]])
    >>> np.allclose(np.exp(log_evalues_of_orders(hits)), 2 / (1 + np.exp(-2 * TILTS)))
    True
    """
    k = len(hits)
    if k > MOST_ORDERS:
        turned = (np.arange(k)[:, None] + np.arange(k)) % k
        return log_evalues_of_placements(hits[np.arange(k), turned].sum(axis=1).astype(np.int64))
    own = np.diagonal(hits).astype(np.float64)
    weights = np.exp(TILTS[:, None, None] * (hits - hits.max(axis=1, keepdims=True)))
    sums = np.zeros((1 << k, len(TILTS)))
    sums[0] = 1.0
    for row, (without, taken) in zip(weights.transpose(1, 2, 0), _subsets(k), strict=True):
        for place in range(k):
            sums[taken[place]] += sums[without[place]] * row[place]
    away = float((hits.max(axis=1) - own).sum())
    return np.asarray(math.lgamma(k + 1) - np.log(sums[-1]) - TILTS * away)


@lru_cache(maxsize=MOST_ORDERS + 1)
def _subsets(k: int) -> tuple[tuple[tuple[IntArray, ...], tuple[IntArray, ...]], ...]:
    """For each row, and each place: the sets of as many places that lack it, and the same sets with it."""
    sets = np.arange(1 << k)
    size = np.array([one.bit_count() for one in range(1 << k)])
    found = []
    for row in range(k):
        without = tuple(sets[(size == row) & (sets >> place & 1 == 0)] for place in range(k))
        found.append((without, tuple(some | 1 << place for place, some in enumerate(without))))
    return tuple(found)


def log_sum(logs: AnyArray) -> AnyArray:
    """The logarithm of the sum of exponentials along the last axis.

    >>> round(float(log_sum(np.array([0.0, 0.0]))), 6)
    0.693147
    """
    top = logs.max(axis=-1, keepdims=True)
    return np.asarray(top[..., 0] + np.log(np.exp(logs - top).sum(axis=-1)))


def log_mean(logs: AnyArray) -> AnyArray:
    """The logarithm of the mean of exponentials along the last axis: of products by tilt, a test martingale again."""
    return np.asarray(log_sum(logs) - math.log(logs.shape[-1]))


# ---- several at once


def found_by_e_bh(evalues: Mapping[str, float], alpha: float) -> frozenset[str]:
    r"""Names whose e-values are found by e-BH: the k largest, if the k-th is at least :math:`K / (k \alpha)`.

    The share of false ones among them is at most α on average, whatever the dependence, if all e-values are taken at
    one common time. The highest value that each has ever had is no e-value.

    References
    ----------
    Wang and Ramdas (2022), False discovery rate control with e-values. Journal of the Royal Statistical Society B 84.

    Examples
    --------
    >>> sorted(found_by_e_bh({"a": 50.0, "b": 21.0, "c": 1.0}, 0.1))
    ['a', 'b']
    """
    ordered = sorted(evalues, key=lambda name: -evalues[name])
    reached = [i for i, name in enumerate(ordered, start=1) if evalues[name] >= len(ordered) / (i * alpha)]
    return frozenset(ordered[: max(reached, default=0)])


# ---- shares between 0 and 1, one after the other


def running_means(shares: FloatArray, alpha: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    r"""The running mean of shares in [0, 1], and a confidence sequence for that of their conditional expectations.

    With :math:`S_t = \sum_i (X_i - \mu_i)`, where :math:`\mu_i` is the expectation of :math:`X_i` given all before it,
    and :math:`V_t = \sum_i (X_i - \hat X_i)^2` around predictions :math:`\hat X_i` from what came before,
    :math:`\exp(\lambda S_t - \psi(\lambda) V_t)`, :math:`\psi(\lambda) = -\log(1 - \lambda) - \lambda`, is a
    supermartingale for each λ in [0, 1), and so is the mean over some. The limits are where it reaches 2/α on either
    side: with probability 1 - α, *all* of them hold.

    Returns
    -------
    mean, low, high : float arrays
        After each share.

    References
    ----------
    Howard, Ramdas, McAuliffe and Sekhon (2021), Time-uniform, nonparametric, nonasymptotic confidence sequences. Annals
    of Statistics 49, theorem 4.

    Examples
    --------
    >>> mean, low, high = running_means(np.array([1.0, 0.0] * 200), 0.05)
    >>> round(float(mean[-1]), 2), round(float(low[-1]), 2), round(float(high[-1]), 2)
    (0.5, 0.41, 0.59)
    """
    n = np.arange(1, len(shares) + 1)
    total = np.cumsum(shares)
    before = np.concatenate([[0.0], total[:-1]]) if len(shares) else total
    spread = np.cumsum((shares - (0.5 + before) / n) ** 2)
    reach = _deviation(spread, math.log(2 / alpha)) / n
    mean = total / n
    return mean, np.clip(mean - reach, 0.0, 1.0), np.clip(mean + reach, 0.0, 1.0)


def _deviation(spread: FloatArray, log_bar: float) -> FloatArray:
    """The sum at which the mixture over `RATES` reaches the bar, by bisection: rounded up."""
    cost = -np.log1p(-RATES) - RATES
    low = np.zeros(len(spread))
    # a single rate reaches the bar later than all of them do
    high = ((log_bar + math.log(len(RATES)) + spread[:, None] * cost) / RATES).min(axis=1) if len(spread) else low
    for _ in range(50):
        middle = (low + high) / 2
        above = log_mean(RATES * middle[:, None] - cost * spread[:, None]) >= log_bar
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.asarray(high)


def losses(shares: FloatArray, least: float, bar: float) -> tuple[FloatArray, BoolArray]:
    r"""Whether shares have fallen below what was promised, after each: evidence, and whether it stands.

    Against "each share's expectation, given all before it, is at least r₀", :math:`e = 1 + \lambda (r_0 - x)` is an
    e-value for each bet λ in [0, 1/(1 - r₀)]. The sum over all starting points of the products since then, :math:`M_t =
    e_t (M_{t-1} + 1)`, reaches a bar c after at least c shares on average, if nothing is lost. It is cut off
    above c, and the verdict stands until it has come down to c/4; then all begins anew.

    Parameters
    ----------
    shares : float array
        Between 0 and 1.
    least : float
        r₀, above 0 and below 1.
    bar : float
        Shares between two false alarms, on average, at least.

    References
    ----------
    Shin, Ramdas and Rinaldo (2023), E-detectors: a nonparametric framework for sequential change detection. New England
    Journal of Statistics in Data Science. Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables
    by betting. Journal of the Royal Statistical Society B 86.

    Examples
    --------
    >>> evidence, lost = losses(np.array([0.9] * 30 + [0.2] * 10), least=0.7, bar=100)
    >>> int(lost.argmax())
    35
    """
    sums, stands = np.zeros(len(BETS)), False
    evidence, lost = np.zeros(len(shares)), np.zeros(len(shares), dtype=np.bool_)
    for i, share in enumerate(shares.tolist()):
        sums = (1 + BETS * (least - share) / (1 - least)) * (sums + 1)
        now = float(sums.mean())
        if now >= bar:  # less evidence is always allowed, and with it a return is seen sooner
            stands, sums = True, np.minimum(sums, len(BETS) * bar)
        elif stands and now < bar / 4:
            stands, sums = False, np.zeros(len(BETS))
        evidence[i], lost[i] = now, stands
    return evidence, lost


def product_of(logs: Sequence[FloatArray]) -> FloatArray:
    """Logarithms of the products by tilt of e-values that are independent given the past."""
    return np.sum(logs, axis=0) if len(logs) else np.zeros(len(TILTS))
