"""In how many of K independent groups a detector has skill: partial conjunctions of p-values.

The section "Pooling over series" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.errors import InputError
from nofluke.plain import as_whole, check_alpha
from nofluke.ratios import TIE_SLACK


def partial_conjunction(pvalues: Any, k: int) -> float:
    """The p-value of "skill in at least k of K": min_{i ≥ k} (K - k + 1) p_(i) / (i - k + 1), Simes on the largest.

    If fewer than k groups have skill, at least K - k + 1 have none; whichever they are, the largest p-values are no
    smaller than theirs. NaN are no tests.

    Parameters
    ----------
    pvalues : array
        Of K independent groups.
    k : int
        From 1 to K.

    References
    ----------
    Benjamini and Heller (2008), Screening for partial conjunction hypotheses.

    Examples
    --------
    >>> partial_conjunction([0.001, 0.02, 0.9], 2)
    0.04
    """
    p = _sorted(pvalues)
    if len(p) == 0:
        raise InputError(argument="pvalues", value=pvalues, problem="has no test", remedy="pass at least one p-value")
    return _simes(p[as_whole(k, "k", 1, len(p)) - 1 :])


def skill_in(pvalues: Any, alpha: float = 0.05) -> int:
    """The largest k with "skill in at least 1, 2, ..., k" all significant: a lower bound with probability 1 - α.

    Tested upwards until the first that is not. Since a true hypothesis of some k makes those of all larger k true, the
    bound is too large only if the first true one is rejected, so that nothing has to be corrected for.

    References
    ----------
    Benjamini and Heller (2008), Screening for partial conjunction hypotheses.

    Examples
    --------
    >>> skill_in([0.001, 0.002, 0.01, 0.6])
    3
    """
    p, alpha = _sorted(pvalues), check_alpha(alpha)
    told = (_simes(p[k:]) <= alpha * (1 + TIE_SLACK) for k in range(len(p)))
    return next((k for k, significant in enumerate(told) if not significant), len(p))


def _simes(ascending: FloatArray) -> float:
    n = len(ascending)
    return min(float((ascending * n / np.arange(1, n + 1)).min()), 1.0) if n else 1.0


def _sorted(pvalues: Any) -> FloatArray:
    try:
        p = np.asarray(pvalues, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise InputError(
            argument="pvalues",
            value=pvalues,
            problem="must be numbers between 0 and 1, with NaN where there is no test",
        ) from None
    p = np.sort(p[~np.isnan(p)])
    if len(p) and not (p[0] >= 0 and p[-1] <= 1):
        raise InputError(argument="pvalues", problem="must lie between 0 and 1")
    return p
