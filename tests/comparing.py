"""Comparisons of counts that a test has made up."""

from nofluke.inference.compare import compared


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
