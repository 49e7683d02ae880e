"""Where events and scores are independent, auto keeps its 5% whatever clusters, seasons and trends they have.

A small version of benchmarks/calibration.py, whose table is in docs/explanation/nulls.md.
"""

import importlib.util
import math
import os
from pathlib import Path

import numpy as np
import pytest

import nofluke as nf

_spec = importlib.util.spec_from_file_location(
    "situations", Path(__file__).parent.parent / "benchmarks" / "situations.py"
)

pytestmark = pytest.mark.slow
made = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(made)

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
        result = nf.evaluate(truth, scores, **data, null=null, n_resamples=199, rng=number)
        found.append((result.precision_test.pvalue, result.recall_test.pvalue))
    return (np.array(found) <= LEVEL).mean(axis=0)


@pytest.mark.parametrize("name", [name for name in SITUATIONS if name != "shared season"])
@pytest.mark.parametrize("null", ["circular-shift", "segments"])
def test_nulls_that_keep_clusters_hold_without_a_season_or_trend(name, null):
    """Circular shifts and shuffled segments are right for clustered events and alarms."""
    assert (false_positives(name, null) <= LEVEL + SLACK).all()


def test_the_permutation_does_not_hold():
    """Recall with clustered events and alarms, and both measures with a shared season, are significant too often."""
    assert false_positives("both clustered", "permutation")[1] > LEVEL + SLACK
    assert (false_positives("shared season", "permutation") > 0.5).all()


class TestAuto:
    """The default null, in every situation of the benchmark; a verdict that cannot be told is no rejection."""

    PAIRS = 60

    def results(self, name):
        make = {**made.SITUATIONS, **made.NARROW}[name]
        for number in range(self.PAIRS):
            truth, scores, more = make(np.random.default_rng([11, number]))
            given = {"quantile": 0.9, "tolerance": 2, "n_resamples": 199, "rng": number, **more}
            yield nf.evaluate(truth, scores, **given)

    @pytest.mark.parametrize("name", [*made.SITUATIONS, *made.NARROW])
    def test_it_holds_its_level(self, name):
        """Precision, recall, and verdicts of yes or partly: each in 5% of the pairs, within three standard errors."""
        found = np.zeros(3)
        for result in self.results(name):
            told = result.verdict != "cannot tell"
            found += (
                told and result.precision_test.pvalue <= LEVEL,
                told and result.recall_test.pvalue <= LEVEL,
                result.verdict in ("yes", "partly"),
            )
        assert (found / self.PAIRS <= LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / self.PAIRS)).all()

    @pytest.mark.parametrize(("name", "period"), [("one busy step of 7, δ = 0", 7), ("one busy step of 24, δ = 0", 24)])
    def test_it_keeps_a_narrow_season(self, name, period):
        """Nine times of ten the null keeps whole periods, and not a part of one such as 3.5 steps for 7."""
        kept = []
        for result in self.results(name):
            long = getattr(result.null, "period", None) or getattr(result.null, "every", None) or 1
            kept.append(long % period == 0)
        assert np.mean(kept) >= 0.9 - 2 * math.sqrt(0.09 / self.PAIRS)

    @pytest.mark.parametrize(
        "name", ["iid", "both clustered", "trend, 4", "season of 100 steps, 2", "ranges, trend, 4"]
    )
    def test_it_finds_skill(self, name):
        """A detector that plainly sees the events is told from chance in most samples."""
        found = 0
        for number in range(20):
            pair = made.with_skill(made.SITUATIONS[name](np.random.default_rng([12, number])), 3.0)
            truth, scores, more = pair
            result = nf.evaluate(truth, scores, quantile=0.9, tolerance=2, n_resamples=199, rng=number, **more)
            found += result.verdict in ("yes", "partly")
        assert found >= 14


@pytest.mark.skipif(
    not os.environ.get("NOFLUKE_DATA"), reason="NOFLUKE_DATA is unset: it names the directory of the data"
)
def test_random_detectors_on_nabs_windows():
    """200 of them, half smoothed: P(p ≤ u) ≤ u for both measures, and verdicts of yes in at most 5% (three errors)."""
    import duckdb

    path = os.path.join(os.environ["NOFLUKE_DATA"], "nab", "nab.parquet")
    columns = duckdb.sql(f"""SELECT series, "window" FROM '{path}'""").fetchnumpy()
    names, windows = np.asarray(columns["series"]), np.asarray(columns["window"])
    series = [labels for labels in (windows[names == name] for name in np.unique(names)) if labels.any()]
    n, rng, pvalues, verdicts = 200, np.random.default_rng(13), [], []
    for number in range(n):
        labels = series[number % len(series)]
        width = int(rng.choice([1, 1, 10, 50]))
        scores = np.convolve(rng.normal(size=len(labels) + width - 1), np.ones(width), mode="valid")
        result = nf.evaluate(
            labels, scores, quantile=float(rng.choice([0.9, 0.95, 0.99])), count_events="ranges", tolerance=2
        )
        told = result.verdict != "cannot tell"
        pvalues.append((result.precision_test.pvalue, result.recall_test.pvalue) if told else (1.0, 1.0))
        verdicts.append(result.verdict)
    for level in (0.01, 0.05, 0.1):
        share = (np.array(pvalues) <= level).mean(axis=0)
        assert (share <= level + 3 * math.sqrt(level * (1 - level) / n)).all()
    assert verdicts.count("yes") / n <= LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / n)
