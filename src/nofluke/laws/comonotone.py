"""The law of a sum whose parts rise and fall together: for parts of which we only know that they are dependent."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nofluke.arrays import FloatArray, inner
from nofluke.errors import InputError
from nofluke.laws.law import How, Law
from nofluke.laws.tables import LogTable

TOGETHER = "as if all rose and fell together"


def comonotone(parts: Sequence[Law]) -> LogTable:
    """The law of Σ Q_i(U), with Q_i the quantile functions of the parts and one U for all of them.

    Of all ways in which parts with these laws can depend on one another this one has the largest variance, and the
    largest expected excess over any bar. No bound on each single tail, so that it is called approximate: careful, not
    exact.

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
    drawn = [law.method for law in parts if law.method.n_resamples is not None]
    numbers, chances = np.arange(len(logs)), np.exp(logs)
    mean = inner(chances, numbers) / float(chances.sum())
    return LogTable(
        first,
        logs,
        size=sum(law.size for law in parts),
        mean=math.fsum(law.mean for law in parts),
        var=inner(chances, (numbers - mean) ** 2) / float(chances.sum()),
        method=How(
            kind="simulated" if drawn else "approximate",
            name=TOGETHER,
            n_resamples=min((how.n_resamples or 0 for how in drawn), default=None),
            with_data=bool(drawn) and all(how.with_data for how in drawn),
        ),
    )


def _descending(tails: list[FloatArray]) -> FloatArray:
    return np.minimum(np.sort(np.concatenate(tails))[::-1], 0.0)


def _less(log_more: FloatArray, log_less: FloatArray) -> FloatArray:
    """log(e^a - e^b) for a ≥ b."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(log_more > log_less, log_more + np.log(-np.expm1(log_less - log_more)), -np.inf)
