"""Hits of one detector pooled over series, against what chance scores on all of them together.

Sums of hits of independent series have the convolution of their laws; series that share a truth enter with one law for
all of them. A series whose null does not hold counts in the value, but neither in the chance level nor in the p-value.

The section "Pooling over series" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nofluke.arrays import IntArray
from nofluke.inference.chance import ChanceTest, FTest, f_test
from nofluke.laws.law import How, Law, exactly
from nofluke.laws.sums import SumLaw
from nofluke.laws.tables import LogTable
from nofluke.nulls.base import Joint
from nofluke.ratios import f_of_hits


def pool(parts: Sequence[Law], hits: int, *, measure: str, of: int | None = None, model: str = "") -> ChanceTest:
    """The test of a sum of hits: P(Σ X_i ≥ hits) with independent parts, exact if they all are.

    Parameters
    ----------
    parts : sequence of Law
        What chance scores in each series, or each cluster of series that share a truth. Without any there is nothing to
        test: p = 1.
    hits : int
        Observed in all of them.
    measure : str
        "precision" or "recall".
    of : int, optional
        Predictions or events in all of them; by default what the laws say.
    model : str
        The null model's name.

    References
    ----------
    Cochran (1954); Mantel and Haenszel (1959): for recall under the permutation this is their exact test for 2 x 2
    tables.

    Examples
    --------
    >>> from nofluke.laws.tables import hypergeometric
    >>> test = pool([hypergeometric(10, 2, 1), hypergeometric(10, 3, 1)], 2, measure="recall")
    >>> round(test.pvalue, 12), test.expected, test.method
    (0.06, 0.5, 'exact (sum of independent laws)')
    """
    law: Law
    if not parts:
        law = LogTable(0, np.zeros(1), size=0, mean=0.0, var=0.0, method=exactly("nothing to test"))
    else:
        law = parts[0] if len(parts) == 1 else SumLaw(tuple(parts))
    return ChanceTest(measure=measure, hits=hits, of=law.size if of is None else of, law=law, model=model)


def pooled_f1(draws: IntArray, *, hits: tuple[int, int], of: tuple[int, int], seed: int | None = None) -> FTest:
    """The pooled F1 of one detector against simulated hits: F1 is no sum, so it needs both hits of each placement.

    Parameters
    ----------
    draws : int array of two columns
        Precision's and recall's hits of each resample, added up over the series.
    hits, of : pairs of int
        Those observed, and the predictions and events that they are counted from.
    seed : int, optional

    Examples
    --------
    >>> pooled_f1(np.array([[0, 0], [1, 1], [2, 1]]), hits=(2, 2), of=(4, 2)).pvalue  # none of three reaches it
    0.25
    """
    how = How(kind="simulated", n_resamples=len(draws), seed=seed)
    joint = Joint(precision_hits=draws[:, 0], recall_hits=draws[:, 1], weights=np.ones(len(draws)), method=how)
    value = math.nan if 0 in of else float(f_of_hits(*hits, *of, 1.0))
    return f_test(value, joint, *of)
