"""If two lists of times are independent, p-values of every null that claims it keep their 5%: a small benchmark.

benchmarks/coincidence_calibration.py has the situations; its table has more pairs.
"""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

import nofluke as nf

_spec = importlib.util.spec_from_file_location(
    "coincidence_calibration", Path(__file__).parent.parent / "benchmarks" / "coincidence_calibration.py"
)

pytestmark = pytest.mark.slow
made = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(made)

PAIRS, LEVEL = 150, 0.05
SLACK = 3 * math.sqrt(LEVEL * (1 - LEVEL) / PAIRS)


def rejected(make, null, pairs=PAIRS):
    """Share of independent pairs with p ≤ 5%, for recall and precision."""
    found = []
    for number in range(pairs):
        events, alarms, more = make(np.random.default_rng([31, number]))
        cell = made.cell_of(events, alarms, more)
        laws = nf.nulls.as_null(null).distributions(cell, n_resamples=199, rng=number)
        found.append((laws.recall.upper(cell.recall_hits), laws.precision.upper(cell.precision_hits)))
    return (np.array(found) <= LEVEL).mean(axis=0)


CLAIMS = [
    ("60 against 60 days, δ = 1", "permutation"),
    ("60 against 60 days, δ = 1", "circular-shift"),
    ("60 against 60 days, δ = 2", "permutation"),
    ("60 against 60 days, δ = 5", "permutation"),
    ("60 against 60 days, δ = 5", "interval-shuffle"),
    ("any time, unrounded", "permutation"),
    ("any time, unrounded", "circular-shift"),
    ("any time, unrounded", "jitter:window=100"),
    ("any time, unrounded", "local-permutation:windows=20"),
    ("events in bursts", "circular-shift"),
    ("events in bursts", "segments"),
    ("alarms in bursts", "permutation"),
    ("alarms in bursts", "circular-shift"),
    ("both in bursts", "circular-shift"),
    ("both in bursts", "segments"),
    ("bursts of both, unrounded", "circular-shift"),
    ("daily cycle in both", "seasonal:period=hour of day"),
    ("daily cycle in both", "circular-shift:every=1d"),
    ("slow trend in both", "local-permutation"),
    ("slow trend in both", "jitter:window=4d"),
    ("gaps", "permutation"),
    ("gaps", "circular-shift"),
    ("edges interior", "permutation"),
    ("edges interior", "circular-shift"),
]


@pytest.mark.parametrize(("situation", "null"), CLAIMS)
def test_nulls_hold_where_they_claim_to(situation, null):
    """Neither measure is found significant in much more than 5% of independent pairs."""
    assert (rejected(made.SITUATIONS[situation][0], null) <= LEVEL + SLACK).all()


@pytest.mark.parametrize(
    ("situation", "null"),
    [
        ("60 days as if they had seconds, δ = 2", "permutation"),
        ("60 days as if they had seconds, δ = 2", "circular-shift"),
        ("both in bursts", "permutation"),
        ("slow trend in both", "permutation"),
    ],
)
def test_nulls_that_do_not_fit_are_fooled(situation, null):
    """Ticks finer than the rounding, clusters and trends: each tells a null that fits from one that does not."""
    assert rejected(made.SITUATIONS[situation][0], null).max() > 0.08


@pytest.mark.parametrize(("events", "alarms"), [(5, 500), (500, 5), (20, 20), (200, 300), (1_000, 1_000)])
def test_the_uniform_null_holds_at_any_rates(events, alarms):
    """Few against many, dense and sparse, in 2,557 ticks."""

    def make(rng):
        lists = (made.sampled(rng, made.DAYS, many) for many in (events, alarms))
        return *lists, {"tolerance": 1, "span": (0, made.DAYS - 1), "tick": 1}

    assert (rejected(make, "permutation", 60) <= LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / 60)).all()


@pytest.mark.parametrize("situation", ["60 against 60 days, δ = 2", "both in bursts", "daily cycle in both", "gaps"])
def test_verdicts_of_auto_hold(situation):
    """ "Yes" and "partly" are rare where there is nothing, whatever null auto takes."""
    called = 0
    for number in range(80):
        events, alarms, more = made.SITUATIONS[situation][0](np.random.default_rng([32, number]))
        found = nf.coincidence(events, alarms, n_resamples=199, rng=number, **more)
        called += found.verdict in ("yes", "partly")
    assert called / 80 <= LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / 80)


@pytest.mark.parametrize("situation", ["60 against 60 days, δ = 2", "both in bursts", "gaps"])
def test_what_does_coincide_is_found(situation):
    """Alarms right behind a third of the events: auto has the power to say so."""
    called = 0
    for number in range(20):
        rng = np.random.default_rng([33, number])
        events, alarms, more = made.SITUATIONS[situation][0](rng)
        step = np.timedelta64(1, "D") if events.dtype.kind == "M" else 1
        follow = rng.permutation(events[:-1])[: len(events) // 2] + step
        both = np.unique(np.concatenate([alarms, follow]))
        if "gaps" in more:
            both = both[[not any(begin <= at <= end for begin, end in more["gaps"]) for at in both]]
        last = more["span"][1]
        found = nf.coincidence(events, both[both <= last], n_resamples=199, rng=number, **more)
        called += found.verdict in ("yes", "partly")
    assert called >= 16
