"""Where events and scores are independent, the recommended null keeps its 5% whatever clusters or seasons they have.

A small version of benchmarks/calibration.py, whose table is in docs/nulls.md.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import nofluke as nf

STEPS, EVENTS, ALARMS, PERIOD, PAIRS, LEVEL = 1_000, 60, 80, 50, 120, 0.05
SLACK = 3 * math.sqrt(LEVEL * (1 - LEVEL) / PAIRS)


def single(rng, weight=0.0):
    """Events on random steps, each with chance e^weight."""
    truth = np.zeros(STEPS, dtype=bool)
    truth[np.argsort(rng.gumbel(size=STEPS) + weight)[-EVENTS:]] = True
    return truth


def clusters(rng):
    """Five events around each of twelve random steps."""
    truth = np.zeros(STEPS, dtype=bool)
    centres = np.repeat(rng.integers(STEPS, size=EVENTS // 5), 5)
    truth[(centres + np.rint(rng.normal(0, 2, EVENTS)).astype(int)) % STEPS] = True
    return truth


def smooth(rng):
    """A score whose alarms come in runs."""
    return np.convolve(rng.normal(size=STEPS + 9), np.ones(10), mode="valid")


def seasonal(rng):
    weight = 2 * np.cos(2 * np.pi * (np.arange(STEPS) / PERIOD + rng.random()))
    return single(rng, weight), rng.gumbel(size=STEPS) + weight


SITUATIONS = {
    "iid": lambda rng: (single(rng), rng.random(STEPS)),
    "alarms clustered": lambda rng: (single(rng), smooth(rng)),
    "events clustered": lambda rng: (clusters(rng), rng.random(STEPS)),
    "both clustered": lambda rng: (clusters(rng), smooth(rng)),
    "shared season": seasonal,
}


def false_positives(name, null):
    """Share of independent pairs with p ≤ 5%, for precision and recall."""
    rng = np.random.default_rng([20, list(SITUATIONS).index(name)])
    found = []
    for number in range(PAIRS):
        truth, scores = SITUATIONS[name](rng)
        data = {"threshold": float(np.sort(scores)[-ALARMS]), "tolerance": 2}
        model = null
        if null == "recommended":
            known = PERIOD if name == "shared season" else None
            model = nf.diagnose(truth, scores, **data, period=known).recommended
        result = nf.evaluate(truth, scores, **data, null=model, n_resamples=199, rng=number)
        found.append((result.precision_test.pvalue, result.recall_test.pvalue))
    return (np.array(found) <= LEVEL).mean(axis=0)


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_recommended_null_holds_its_level(name):
    """In all five situations, for both measures, within three standard errors."""
    assert (false_positives(name, "recommended") <= LEVEL + SLACK).all()


@pytest.mark.parametrize("name", [name for name in SITUATIONS if name != "shared season"])
@pytest.mark.parametrize("null", ["circular-shift", "segments"])
def test_nulls_that_keep_clusters_hold_without_a_season(name, null):
    """Circular shifts and shuffled segments are right for clustered events and alarms."""
    assert (false_positives(name, null) <= LEVEL + SLACK).all()


def test_the_permutation_does_not_hold():
    """With clustered events and alarms recall, and with a shared season both measures, are called significant too often."""
    assert false_positives("both clustered", "permutation")[1] > LEVEL + SLACK
    assert (false_positives("shared season", "permutation") > 0.5).all()
