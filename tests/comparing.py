"""Comparisons of counts that a test has made up."""

import numpy as np

from nofluke.inference.compare import compared


def linear_terms(units):
    """What each of K units adds to precision, recall and F1, to first order: K x 3; F1 by the chain rule."""
    alarms, hits, events, found = np.asarray(units, dtype=float).T
    with np.errstate(invalid="ignore", divide="ignore"):
        p, r = hits.sum() / alarms.sum(), found.sum() / events.sum()
        of_p, of_r = (hits - p * alarms) / alarms.sum(), (found - r * events) / events.sum()
        of_f1 = 2 * (r**2 * of_p + p**2 * of_r) / (p + r) ** 2 if p + r else 0 * of_p
    return np.stack([of_p, of_r, of_f1], axis=1)


def compare_units(units, *, noun="series", alpha=0.05, n_resamples=9_999, rng=0):
    """Detectors compared on the same units: arrays of K x 4 counts (alarms, hits, events, found) by name."""
    return compared(
        units,
        lambda pair: (units[pair[0]], units[pair[1]]),
        noun=noun,
        alpha=alpha,
        level=0.95,
        n_resamples=n_resamples,
        rng=rng,
        title="",
        notes=(),
    )
