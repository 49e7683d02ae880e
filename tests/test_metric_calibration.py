"""Under the null, p-values of metrics are as small as they may be and no smaller; nulls that tear ranges apart fail.

A small one of what `benchmarks/metric_calibration.py` measures.
"""

import numpy as np
import pytest
from scipy.signal import lfilter

import nofluke as nf

pytestmark = pytest.mark.slow

METRICS = ["auc-roc", "pa-f1", "best-pa-f1", "range-f1", "affiliation-f1", "vus-pr:window=10"]
STEPS, PAIRS, LEVEL = 300, 70, 0.1


def pairs(memory):
    """Labelled ranges, and scores with a memory that know nothing of them."""
    for seed in range(PAIRS):
        generator = np.random.default_rng([seed, int(100 * memory)])
        labels = np.zeros(STEPS, dtype=int)
        for start in 50 * generator.permutation(6)[:4] + generator.integers(0, 30, 4):
            labels[start : start + generator.integers(8, 20)] = 1
        yield labels, lfilter([1.0], [1.0, -memory], generator.standard_normal(STEPS + 200))[200:]


def rejected(null, memory, metrics=METRICS):
    """The share of pairs with p at most the level, for each metric and for all of them together."""
    found = []
    for number, (labels, scores) in enumerate(pairs(memory)):
        result = nf.significance(
            metrics, labels, scores, quantile=0.9, null=null, n_resamples=99, rng=number, workers=1
        )
        holds = result[0].choice.holds
        found.append([*(holds and one.pvalue <= LEVEL for one in result), holds and result.pvalue <= LEVEL])
    return dict(zip([*metrics, "all"], np.mean(found, axis=0).tolist(), strict=True))


@pytest.mark.parametrize("memory", [0.0, 0.9])
@pytest.mark.parametrize("null", ["circular-shift", "segments", "auto"])
def test_nulls_that_keep_ranges_hold_their_level(null, memory):
    """Seven of 70 are expected; more than 15 come out once in a thousand."""
    for name, share in rejected(null, memory).items():
        assert share * PAIRS <= 15, name


def test_permuted_steps_are_no_null_for_ranges():
    """One step of a range is found by luck where all of it counts: torn into steps, chance never has that luck."""
    shares = rejected("permutation", 0.9)
    assert shares["best-pa-f1"] > 0.9
    assert shares["affiliation-f1"] > 0.9
    assert shares["auc-roc"] > 0.2


def test_permuted_scores_are_no_null_for_scores_with_a_memory():
    """They have as many tries as there are steps, and the detector far fewer."""
    assert rejected("score-permutation", 0.9, ["auc-roc"])["auc-roc"] > 0.2
    assert rejected("score-permutation", 0.0, ["auc-roc"])["auc-roc"] <= 15 / PAIRS
