"""Volumes under surfaces: against a transcription of the authors' definition, and against values of their packages."""

from datetime import datetime, timedelta

import numpy as np
import pytest

import nofluke as nf
from nofluke.metrics import VUS, get
from nofluke.metrics.draws import Draws
from nofluke.metrics.labelled import read_labelled
from nofluke.series.tolerance import Ranges
from oracles import slow_vus

CLOSE = 1e-12


def some_runs(rng, n):
    """Runs of a series, often at its borders, close together or touching; sometimes none, or all of it."""
    kind = rng.integers(12)
    if kind < 2:
        return [(0, n)] if kind else []
    cuts = np.unique(rng.integers(0, n + 1, 2 * rng.integers(1, 5)))
    if kind < 4:
        cuts = np.unique([0, *cuts, n])
    pieces = list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))
    # every second piece, or most of them: those that follow one another touch
    return pieces[::2] if kind < 9 else [piece for piece in pieces if rng.random() < 0.7]


def some_scores(rng, n):
    """Scores with many ties, none, or nothing but ties."""
    return rng.integers(0, rng.choice([1, 2, 5, 1000]), n).astype(float) / 8


def both(runs, detector, n, begins, **settings):
    """VUS-ROC and VUS-PR of a detector laid out long, begun at these steps."""
    series = read_labelled(np.zeros(n, dtype=int), detector[:n])
    starts, stops = np.array(runs, dtype=np.int64).reshape(-1, 2).T
    draws = Draws.moving(Ranges(starts=starts, stops=stops), n, np.array(begins))
    metrics = [VUS(curve=curve, **settings) for curve in ("roc", "pr")]
    return np.array([metric.values(metric.tables(detector, series), draws) for metric in metrics])


@pytest.mark.parametrize("seed", range(4))
def test_volumes_are_those_of_the_definition(seed):
    """On 1,200 small series with ties, runs at borders, touching runs, a single step, no or nothing but labels."""
    rng = np.random.default_rng(seed)
    for _ in range(300):
        n = int(rng.integers(1, 25))
        runs, scores = some_runs(rng, n), some_scores(rng, n)
        settings = {"window": int(rng.integers(0, 14)), "n_thresholds": int(rng.integers(2, 12))}
        expected = slow_vus(runs, n, scores.tolist(), **settings)
        found = both(runs, scores, n, [0], **settings)[:, 0]
        assert found == pytest.approx(expected, abs=CLOSE, nan_ok=True), (runs, scores, settings)


def crowded():
    """Runs at both borders, and buffers that reach over the next run to the one behind it."""
    labels = np.zeros(400, dtype=int)
    for start, stop in ((0, 3), (50, 70), (78, 80), (150, 151), (155, 190), (396, 400)):
        labels[start:stop] = 1
    steps = np.arange(400)
    return labels, (37 * steps**2 + 11 * steps) % 101 + 30.0 * labels[np.maximum(steps - 4, 0)]


@pytest.mark.parametrize(
    ("window", "n_thresholds", "roc", "pr"),
    [
        (0, 250, 0.6916035208572522, 0.4011336517905638),  # ROC: so has aeon 1.6, the only one where it is the same
        (20, 250, 0.8065111575321877, 0.5566560333915088),
        (33, 40, 0.8369559473969298, 0.59558314181892),
        (100, 250, 0.913028300035037, 0.742229970991165),
    ],
)
def test_volumes_are_those_of_the_authors_packages(window, n_thresholds, roc, pr):
    """vus 0.0.6 (opt, opt_mem) and TSB-AD 1.5 give these; aeon 1.6 has .814 and .665 in the last case, see VUS."""
    settings = {"window": window, "n_thresholds": n_thresholds}
    assert VUS(curve="roc", **settings)(*crowded()) == pytest.approx(roc, abs=CLOSE)
    assert VUS(curve="pr", **settings)(*crowded()) == pytest.approx(pr, abs=CLOSE)


@pytest.mark.parametrize("curve", ["roc", "pr"])
def test_labels_as_scores_are_perfect(curve):
    """Exactly 1, whatever the window."""
    labels, _ = crowded()
    for window in (0, 1, 30, 301):
        assert VUS(curve=curve, window=window)(labels, labels.astype(float)) == 1.0


@pytest.mark.parametrize("curve", ["roc", "pr"])
def test_only_the_order_of_scores_counts(curve):
    """Any increasing function of the scores leaves the volume as it is."""
    labels, scores = crowded()
    assert VUS(curve=curve)(labels, np.exp(scores / 10)) == VUS(curve=curve)(labels, scores)


def test_volumes_are_undefined_without_labels_or_without_anything_else():
    """NaN without labels; where every step is labelled, NaN for ROC, and 1 for precision, which cannot be less."""
    scores = [0.1, 0.5, 0.2]
    assert np.isnan(VUS(curve="roc")([0, 0, 0], scores))
    assert np.isnan(VUS(curve="pr")([0, 0, 0], scores))
    assert np.isnan(VUS(curve="roc")([1, 1, 1], scores))
    assert VUS(curve="pr")([1, 1, 1], scores) == 1.0
    assert VUS(curve="pr")([1], [3.0]) == 1.0


def test_touching_ranges_are_two_runs():
    """Without buffers, each of two ranges that touch has to be found; as labels they are one run."""
    scores = [0.1, 0.9, 0.2, 0.3, 0.4]
    as_ranges = VUS(window=0)([(1, 1), (2, 3)], scores, truth_as="ranges")
    assert as_ranges == pytest.approx(slow_vus([(1, 2), (2, 4)], 5, scores, window=0)[1], abs=CLOSE)
    assert as_ranges < VUS(window=0)([0, 1, 1, 1, 0], scores)


def test_window_may_be_a_duration():
    """On a regular clock it is rounded to steps, and chance has to move by more than half of it."""
    labels, scores = crowded()
    times = [datetime(2024, 1, 1) + timedelta(minutes=30 * i) for i in range(400)]
    hours = VUS(window="10h")
    assert hours(labels, scores, times=times) == VUS(window=20)(labels, scores)
    assert hours.reach(read_labelled(labels, scores, times=times)) == 10
    assert hours.work(read_labelled(labels, scores, times=times)) > 0
    with pytest.raises(nf.InputError, match="window='10h' is a length of time, but the data has no clock"):
        hours(labels, scores)
    with pytest.raises(nf.InputError, match=r"window='900d' is 43,200 steps: pass a window of at most 10,000 steps"):
        VUS(window="900d")(labels, scores, times=times)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"curve": "det"}, "curve='det' must be one of 'roc', 'pr'"),
        ({"window": -1}, "window=-1 must be a whole number of at least 0"),
        ({"window": 2.5}, "window=2.5 must be a whole number of at least 0"),
        ({"window": 10_001}, "window=10001 must be a whole number of at least 0 and at most 10,000"),
        ({"window": "0s"}, "window='0s' must be longer than 0"),
        ({"n_thresholds": 1}, "n_thresholds=1 must be a whole number of at least 2"),
        ({"n_thresholds": 1e3}, "n_thresholds=1000.0 must be a whole number"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    """The message names setting, value and what it must be."""
    with pytest.raises(nf.InputError, match=message):
        VUS(**settings)


def test_curve_is_part_of_the_name():
    """Names make what they say, and what is made says its name."""
    assert get("vus-pr:window=50") == VUS(curve="pr", window=50)
    assert get("vus-roc:window=2h,n_thresholds=9").text == "vus-roc:window=2h,n_thresholds=9"
    assert VUS(curve="roc").text == "vus-roc"
    assert "ROC" in VUS(curve="roc").title
    with pytest.raises(nf.InputError, match=r"metric='vus-pr:curve=roc' has no setting 'curve'"):
        get("vus-pr:curve=roc")


def test_alarms_are_no_scores():
    """Predictions have no thresholds to go through."""
    with pytest.raises(nf.InputError, match="metric='vus-pr' needs scores"):
        VUS()([0, 1, 0], predictions=[0, 1, 0])
