"""A p-value is a promise: where events are independent of the predictions, P(p ≤ α) ≤ α."""

import numpy as np
import pytest

import nofluke as nf

pytestmark = pytest.mark.slow

N_STEPS, N_PAIRS = 300, 400
LEVELS = (0.01, 0.05, 0.1)


def iid(rng):
    return rng.random(N_STEPS) < 0.1


def clustered(rng):
    """Alarms in runs: a moving average of noise above a threshold."""
    smooth = np.convolve(rng.normal(size=N_STEPS + 9), np.ones(10), mode="valid")
    return smooth > np.quantile(smooth, 0.9)


def pvalues(alarms, method):
    """P-values of independent pairs: events uniformly at random, whatever the alarms are."""
    rng = np.random.default_rng(20)
    rows = []
    for seed in range(N_PAIRS):
        truth = np.zeros(N_STEPS, dtype=bool)
        truth[rng.choice(N_STEPS, 12, replace=False)] = True
        settings = {"null": "permutation", "method": method, "n_resamples": 199, "rng": seed}
        result = nf.evaluate(truth, predictions=alarms(rng), tolerance=2, **settings)
        f_test = result.f_test(n_resamples=199, rng=seed)
        rows.append((result.precision_test.pvalue, result.recall_test.pvalue, f_test.pvalue))
    return np.array(rows)


@pytest.mark.parametrize("alarms", [iid, clustered])
@pytest.mark.parametrize("method", ["exact", "montecarlo"])
def test_false_positive_rate_is_at_most_alpha(alarms, method):
    """For precision, recall and F1 the share of p ≤ α exceeds α by no more than three standard errors."""
    p = pvalues(alarms, method)
    for alpha in LEVELS:
        share = (p <= alpha).mean(axis=0)
        assert (share <= alpha + 3 * np.sqrt(alpha * (1 - alpha) / N_PAIRS)).all()
    # and the promise is kept tightly enough to be useful: chance is not called impossible either
    assert (np.median(p, axis=0) < 0.75).all()


def test_familywise_rate_is_at_most_alpha():
    """The best F1 and the best cell of a sweep over noise are significant at 10% no more often than that."""
    rng = np.random.default_rng(7)
    found = []
    for seed in range(200):
        truth = np.zeros(N_STEPS, dtype=bool)
        truth[rng.choice(N_STEPS, 12, replace=False)] = True
        curve = nf.sweep(truth, rng.random(N_STEPS), quantiles=np.arange(0.5, 1, 0.05), tolerances=(0, 2))
        family = curve.familywise(n_resamples=199, rng=seed)
        found.append((family.precision, family.recall, family.both, family.best_f))
    share = (np.array(found) <= 0.1).mean(axis=0)
    assert (share <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 200)).all()
    assert (share >= 0.02).all()
