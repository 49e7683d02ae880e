"""Affiliation precision, recall and F against the definition, the authors' values, and windows of a longer detector."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from nofluke import InputError
from nofluke.metrics import AffiliationF1, AffiliationPrecision, AffiliationRecall
from nofluke.metrics.affiliation import in_half_steps
from nofluke.metrics.draws import Draws
from nofluke.metrics.labelled import read_labelled
from nofluke.series.tolerance import Ranges
from oracles import random_runs, slow_affiliation

PRECISION, RECALL, F1 = AffiliationPrecision(), AffiliationRecall(), AffiliationF1()


def random_alarms(rng, n):
    """Alarms in runs or alone; sometimes none, sometimes all."""
    share = rng.choice([0.0, 0.15, 0.4, 0.8, 1.0], p=[0.1, 0.3, 0.3, 0.2, 0.1])
    return np.repeat(rng.random(n), rng.integers(1, 4, n))[:n] < share


def draws_of(runs, n, begins=(0,)):
    """The same labels before each of these windows."""
    starts, stops = np.array(runs, dtype=np.int64).reshape(-1, 2).T
    return Draws.moving(Ranges(starts=starts, stops=stops), n, np.array(begins))


def fast(runs, n, detector, begins=(0,)):
    """Precision, recall and F1 of all windows."""
    tables, draws = in_half_steps(np.asarray(detector, dtype=bool)), draws_of(runs, n, begins)
    return [metric.values(tables, draws) for metric in (PRECISION, RECALL, F1)]


def slow(runs, n, detector):
    """The same from the definition, NaN for None."""
    precision, recall = slow_affiliation(runs, n, detector)
    if recall is None:
        return [math.nan] * 3
    if precision is None:
        return [math.nan, float(recall), 0.0]
    both = precision + recall
    return [float(precision), float(recall), float(2 * precision * recall / both) if both else 0.0]


def test_they_are_what_the_definition_says():
    """1,200 small series: runs that touch or reach the borders, one step, none or all labelled, no or all alarms."""
    rng = np.random.default_rng(1)
    seen = set()
    for case in range(1_200):
        n = int(rng.integers(1, 15)) if case % 10 else 1
        runs, alarms = random_runs(rng, n), random_alarms(rng, n)
        got = np.ravel(fast(runs, n, alarms))
        np.testing.assert_allclose(got, slow(runs, n, alarms.tolist()), rtol=1e-13, err_msg=f"{runs} {n} {alarms}")
        labelled = sum(stop - start for start, stop in runs)
        seen |= {("labels", labelled == n, labelled == 0), ("alarms", bool(alarms.all()), bool(alarms.any()))}
        seen |= {("touch", any(a[1] == b[0] for a, b in pairwise(runs)))}
    assert len(seen) == 8


LABELS = [0] * 10 + [1] * 5 + [0] * 8 + [1] + [0] * 3 + [1] * 6 + [0] * 7
ALARMS = [0] * 4 + [1] * 2 + [0] * 6 + [1, 0, 1] + [0] * 5 + [1] * 4 + [0] * 2 + [1] + [0] * 10 + [1] * 3


def test_the_authors_package_gives_the_same():
    """Values of affiliation-metrics-py (precision, recall; same code as TSB-AD 1.5) and tsadmetrics 1.0.16 (F)."""
    assert PRECISION(LABELS, ALARMS) == pytest.approx(0.47340208944110934, rel=1e-14)
    assert RECALL(LABELS, ALARMS) == pytest.approx(0.8539423270820731, rel=1e-14)
    assert F1(LABELS, ALARMS) == pytest.approx(0.6091231135951309, rel=1e-14)
    assert AffiliationF1(beta=2)(LABELS, ALARMS) == pytest.approx(0.7356699261863482, rel=1e-14)


def test_long_series_lose_no_digit():
    """Sums of squares of millions of steps are whole numbers: an event and one alarm far out, against the formula."""
    n, start, stop, alarm = 2_000_000, 1_500_000, 1_500_003, 1_200_001
    labels, alarms = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    labels[start:stop] = alarms[alarm] = True
    # all of the alarm is within the nearer border's distance: 1 - (2 d + |J|) / |E| with d on average from its middle
    distance = start - alarm - Fraction(1, 2)
    assert PRECISION(labels, alarms) == float(1 - (2 * distance + 3) / n)
    # the alarm's end, 299,998 steps before the event, is nearer than either border
    distance = start - (alarm + 1) + Fraction(3, 2)
    assert RECALL(labels, alarms) == float(1 - 2 * distance / n)


def test_what_is_undefined():
    """No label: NaN. No alarm: no precision, recall and F 0. A zone without alarm counts in the recall only."""
    assert all(math.isnan(metric([0, 0, 0], [0, 1, 0], truth_as="labels")) for metric in (PRECISION, RECALL, F1))
    assert math.isnan(AffiliationF1(beta=0)([0, 0, 0], [0, 1, 0], truth_as="labels"))
    assert math.isnan(PRECISION([0, 1, 0], [0, 0, 0]))
    assert RECALL([0, 1, 0], [0, 0, 0]) == F1([0, 1, 0], [0, 0, 0]) == AffiliationF1(beta=0)([0, 1, 0], [0, 0, 0]) == 0
    one_of_two = ([0, 1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 0, 0, 0])
    assert (PRECISION(*one_of_two), RECALL(*one_of_two)) == (1, 0.5)


def test_what_is_perfect():
    """Alarms on all labelled steps and no others; a step alone; everything labelled."""
    for labels in ([0, 1, 1, 0, 1], [1], [1, 1, 1], [0, 0, 0, 1]):
        assert PRECISION(labels, labels) == RECALL(labels, labels) == F1(labels, labels) == PRECISION.perfect == 1


def test_ranges_that_touch_are_two_events():
    """Their zones end where they touch: an alarm in the first is none of the second's."""
    alarms = [0, 1, 1, 0, 0, 0]
    assert RECALL([(1, 2), (3, 4)], alarms, truth_as="ranges") == 0.5
    assert RECALL([0, 1, 1, 1, 1, 0], alarms) > 0.5


def test_beta_weighs_recall():
    """β = 0 is the precision, a large one the recall; and it is checked."""
    assert AffiliationF1(beta=0)(LABELS, ALARMS) == PRECISION(LABELS, ALARMS)
    assert AffiliationF1(beta=1e200)(LABELS, ALARMS) == pytest.approx(RECALL(LABELS, ALARMS))
    for beta in (-1, math.nan, math.inf, "1", None):
        with pytest.raises(InputError, match="beta="):
            AffiliationF1(beta=beta)


def test_reach_is_as_far_as_the_zones():
    """To the border of the series, or the middle between two events, rounded up; no label, no reach."""
    for labels, reach in (([0, 0, 0, 1, 0], 3), ([1, 0, 0, 0, 0, 0, 1], 3), ([1, 1], 0), ([0, 0], 0)):
        assert F1.reach(read_labelled(labels, predictions=labels, truth_as="labels")) == reach


def test_they_need_alarms():
    """Scores alone will not do, scores with a threshold will."""
    with pytest.raises(InputError, match=r"affiliation-f1.*needs alarms"):
        F1.value(read_labelled([0, 1, 0], [0.1, 0.9, 0.2]))
    assert F1([0, 1, 0], [0.1, 0.9, 0.2], threshold=0.5) == 1
