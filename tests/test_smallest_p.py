"""The familywise test of windows on two lists of times: the smallest p-value against chance's smallest."""

import numpy as np
import pytest

import nofluke as nf
from nofluke.inference.corrections import smallest_p

WINDOWS = {"tolerances": [0, 1, 5], "lags": [0, 2]}


def lists(seed, n=120, m=12, skill=0):
    rng = np.random.default_rng(seed)
    events = np.sort(rng.choice(n - 3, m, replace=False))
    alarms = np.unique(np.concatenate([events[:skill] + 2, rng.choice(n, m, replace=False)]))
    return events, alarms


def by_hand(hits):
    """Ranks of p-values within columns, by counting; of equal ones, those that stand out further come first."""
    p = np.array([[np.mean(hits[:, c] >= value) for c, value in enumerate(row)] for row in hits])
    spread = hits.std(axis=0)
    z = np.maximum(hits - hits.mean(axis=0), 0) / np.where(spread > 0, spread, 1)
    keys = [(round(float(a), 9), -round(float(b), 9)) for a, b in zip(p.ravel(), z.ravel(), strict=True)]
    order = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return np.array([order[key] for key in keys]).reshape(hits.shape)


@pytest.mark.parametrize("skill", [0, 8])
def test_all_rotations_by_hand(skill):
    """Under rotations nothing is drawn: adjusted p-values are the share of shifts whose smallest p is as small."""
    n = 120
    events, alarms = lists(1, n, skill=skill)
    swept = nf.sweep_tolerances(events, alarms, span=(0, n - 1), tick=1, null="circular-shift", **WINDOWS)
    family = swept.familywise()
    hits = {"precision": np.zeros((n, 6), int), "recall": np.zeros((n, 6), int)}
    for s in range(n):
        moved = (events + s) % n
        for d, (delta, lag) in enumerate((t, g) for t in (0, 1, 5) for g in (0, 2)):
            near = np.abs(alarms[:, None] - moved[None] - lag) <= delta
            hits["precision"][s, d], hits["recall"][s, d] = near.any(axis=1).sum(), near.any(axis=0).sum()
    p = {side: by_hand(values) for side, values in hits.items()}
    for side, told, whole in (
        ("precision", family.precision_adjusted, family.precision),
        ("recall", family.recall_adjusted, family.recall),
    ):
        lowest = p[side].min(axis=1)
        want = [(lowest <= value).mean() for value in p[side][0]]
        np.testing.assert_allclose(told.ravel(), np.maximum(want, getattr(swept.chance, side).pvalue.ravel()))
        assert whole == pytest.approx(min(want))
    assert family.n_resamples == n


def test_a_narrow_window_does_not_drown_a_wide_one():
    """A window that is hardly ever hit leaves the others their significance."""
    rng = np.random.default_rng(3)
    span = 30 * 86_400
    events = np.sort(rng.choice(span, 40, replace=False))
    alarms = np.unique(np.concatenate([events[:12] + rng.integers(-500, 500, 12), rng.choice(span, 60)]))
    alone = nf.sweep_tolerances(events, alarms, tolerances=[600], span=(0, span), null="permutation", rng=1)
    beside = nf.sweep_tolerances(events, alarms, tolerances=[0, 600], span=(0, span), null="permutation", rng=1)
    assert alone.familywise(n_resamples=1_999).recall == 1 / 2_000
    assert beside.familywise(n_resamples=1_999).recall <= 0.002


@pytest.mark.parametrize("null", ["permutation", "circular-shift", "interval-shuffle"])
def test_a_window_is_significant_exactly_above_its_band(null):
    """Adjusted p-values reach the level exactly where hits exceed the band."""
    events, alarms = lists(5, skill=6)
    swept = nf.sweep_tolerances(events, alarms, span=(0, 119), tick=1, null=null, rng=2, **WINDOWS)
    family = swept.familywise(n_resamples=499, alpha=0.05)
    for side in ("precision", "recall"):
        above = getattr(swept, f"{side}_hits") > getattr(family, f"{side}_band")
        np.testing.assert_array_equal(above, getattr(family, f"{side}_adjusted") <= 0.05)
    assert family.recall_adjusted.min() <= 0.05


@pytest.mark.slow
def test_it_holds_its_level():
    """Of 150 pairs of lists without skill about one in twenty is significant anywhere, and no more."""
    reached = []
    for seed in range(150):
        events, alarms = lists(1_000 + seed)
        swept = nf.sweep_tolerances(events, alarms, span=(0, 119), tick=1, null="permutation", rng=seed, **WINDOWS)
        family = swept.familywise(n_resamples=199)
        reached.append((family.precision, family.recall, family.both, family.best_f))
    # 3 standard errors above .05 and .2
    assert (np.mean(np.array(reached) <= 0.05, axis=0) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 150)).all()
    assert (np.mean(np.array(reached) <= 0.2, axis=0) <= 0.2 + 3 * np.sqrt(0.2 * 0.8 / 150)).all()


def test_p_values_are_ranked_as_by_hand():
    """Each value against all of its column, itself included; ties go by how far a value stands out."""
    rng = np.random.default_rng(0)
    hits = rng.integers(0, 5, (40, 3))
    p, lowest = smallest_p(hits)
    ranks = by_hand(hits).ravel()
    for one, other in zip(p.ravel(), ranks, strict=True):
        np.testing.assert_array_equal(p.ravel() < one - 1e-12, ranks < other)
    np.testing.assert_allclose(lowest, p.min(axis=1))


def test_many_windows_cost_no_digits():
    """Hits far beyond chance's in one of many windows are as significant as the resamples can tell."""
    events = np.sort(np.random.default_rng(4).choice(10_000, 30, replace=False))
    lags = list(range(-40, 45, 5))
    swept = nf.sweep_tolerances(
        events, events + 5, tolerances=[1, 2], lags=lags, span=(0, 10_100), null="permutation", rng=1
    )
    assert swept.familywise(n_resamples=999).both == 1 / 1_000
