"""Values of other packages on thirteen small series, recorded by benchmarks/peers.py; versions in peer_values.json.

Where a package follows the definition, nofluke's value is its value; where it does not, DIFFER says what it does
instead.
"""

import json
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import pytest

import nofluke.metrics

RECORDED = json.loads((Path(__file__).parent / "peer_values.json").read_text(encoding="utf-8"))
SERIES = [
    (np.array([*labels], dtype=np.int64), np.array(scores, dtype=np.float64), np.array([*alarms], dtype=np.int64))
    for labels, scores, alarms in RECORDED["series"]
]
VALUES = {
    (package, metric): values
    for package, held in RECORDED["peers"].items()
    for metric, values in held["values"].items()
}

TRAPEZOID = "joins the points of the curve by straight lines"
WHOLE_BUFFERS = (
    "counts the whole buffers as labelled, alarms or not, and joins the points of the curve by straight lines"
)
LINEAR = "weights fall linearly in the buffers, and every run counts by itself"

# A pattern matches the recorded name; what stands in brackets in it is how the package was called
DIFFER = {
    ("aeon", "average-precision"): TRAPEZOID,
    ("TimeEval", "average-precision"): TRAPEZOID,
    ("dtaianomaly", "average-precision"): TRAPEZOID,
    ("aeon", "vus-*"): f"{WHOLE_BUFFERS}; buffers behind a run are a step shorter than those before it",
    ("TimeEval", "vus-* (compatibility_mode)"): f"as aeon: {WHOLE_BUFFERS}",
    ("TimeEval", "vus-*"): LINEAR,
    ("dtaianomaly", "vus-* (compatibility_mode)"): f"as aeon: {WHOLE_BUFFERS}",
    ("dtaianomaly", "vus-*"): LINEAR,
    ("vus", "vus-* (time)"): f"version='opt_time' {WHOLE_BUFFERS}, and every run as found at every threshold",
    ("aeon", "range-f1:beta=2.0"): "divides by β² (P + R), not by β² P + R",
    ("TSB-AD", "best-f1"): "adds 0.00001 to P + R",
    ("TSB-AD", "best-pa-f1"): "tries 100 thresholds at equal distances, and its point adjustment misses step 0",
    ("TSB-AD", "pa-f1"): "its point adjustment misses step 0",
    (
        "TSB-AD",
        "composite-f1",
    ): "its 'Event-based-F1' ends a run at the last step one step early, and so loses one-step runs there",
    ("TSB-AD", "event-f1"): "its 'Event-based-F1' is the composite F1: precision of steps, recall of runs",
    ("telemeval", "event-f1"): "precision is the share of alarm runs that touch a label, not found runs among all",
    ("tsadmetrics", "delay-pa-f1:delay=2 (k=2)"): "k counts steps from 1: k steps of a run are in time, not k + 1",
    ("tsadmetrics", "nab"): "behind a window of one step, false alarms are placed as behind one of two",
    ("tadpak", "pak-f1:k=50"): "a run is adjusted if more than k percent of its steps have an alarm, not k percent",
}

# It raises, and agrees on the series on which it does not
RAISE = {("NAB", "nab*"): "divides by zero behind a window of one step"}


def listed(table: dict[tuple[str, str], str], package: str, metric: str) -> bool:
    """Whether a package's metric is in a table."""
    return any(package == owner and fnmatchcase(metric, pattern) for owner, pattern in table)


def our_values(recorded: str) -> list[float]:
    """nofluke's values on all series, for a metric as it is recorded."""
    metric = nofluke.metrics.get(recorded.partition(" (")[0])
    return [metric(labels, scores if metric.needs == "scores" else alarms) for labels, scores, alarms in SERIES]


FOLLOW = sorted(key for key in VALUES if not listed(DIFFER, *key))
DO_NOT = sorted(key for key in VALUES if listed(DIFFER, *key))


@pytest.mark.parametrize(("package", "metric"), FOLLOW)
def test_values_are_those_of_packages_that_follow_the_definition(package, metric):
    """On every series on which the package has a value."""
    given = VALUES[package, metric]
    held = [
        (ours, theirs) for ours, theirs in zip(our_values(metric), given, strict=True) if not isinstance(theirs, str)
    ]
    assert len(held) >= 8
    np.testing.assert_allclose(*zip(*held, strict=True), rtol=0, atol=1e-9 * (100 if metric.startswith("nab") else 1))


@pytest.mark.parametrize(("package", "metric"), DO_NOT)
def test_disagreements_are_real(package, metric):
    """A package that is said to differ does, on one series at least: a later version may not."""
    gaps = [abs(ours - theirs) for ours, theirs in zip(our_values(metric), VALUES[package, metric], strict=True)]
    assert max(gaps) > 1e-6


def test_packages_raise_only_where_it_is_said():
    """nofluke has a value there."""
    raising = {key for key, values in VALUES.items() if any(isinstance(value, str) for value in values)}
    assert raising
    for package, metric in raising:
        assert listed(RAISE, package, metric)
        assert np.isfinite(our_values(metric)).all()


def test_no_disagreement_is_listed_twice_or_in_vain():
    """Every row of the table is about something recorded."""
    for table in (DIFFER, RAISE):
        for owner, pattern in table:
            assert any(package == owner and fnmatchcase(metric, pattern) for package, metric in VALUES), pattern


def test_every_metric_has_a_peer():
    """All but the area over K, which no package has."""
    recorded = {metric.partition(" (")[0].partition(":")[0] for _, metric in FOLLOW}
    native = (name for name in nofluke.metrics.names() if nofluke.metrics.get(name).compiled)
    assert {name for name in native if name not in recorded} <= {"pak-auc"}


def test_series_have_what_metrics_stumble_over():
    """Runs at both borders and of one step, tied scores, no series without labels or alarms."""
    assert any(labels[0] for labels, _, _ in SERIES)
    assert any(labels[-1] for labels, _, _ in SERIES)
    assert any("010" in text for text, _, _ in RECORDED["series"])
    assert any(len(np.unique(scores)) < len(scores) / 2 for _, scores, _ in SERIES)
    assert all(0 < labels.sum() < len(labels) and alarms.any() for labels, _, alarms in SERIES)
