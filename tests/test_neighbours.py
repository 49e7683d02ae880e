"""Outputs of sktime's, aeon's and pyod's detectors go in as they are, and their metrics stand beside chance.

Recorded outputs are tested everywhere. Where the packages are installed, the slow tests ask them again.
"""

import json
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import neighbours
import nofluke as nf
from neighbours import DATES, FRAME, PACKAGES
from nofluke import InputError
from nofluke.series.reading import prepare

LABELS = np.zeros(60, dtype=int)
LABELS[[20, *range(40, 44)]] = 1
DATED = pd.Series(LABELS, index=DATES)

ALARMS = {
    "sktime": (
        *("ThresholdDetector.predict", "CAPA.predict", "PELT.predict", "PELT.transform"),
        *("HampelDetector.predict", "HampelDetector.transform", "HampelDetector.predict_points"),
        *("ZeroAnomalies.predict", "ZeroAnomalies.transform"),
    ),
    "aeon": ("STRAY.fit_predict", "RandomSegmenter.fit_predict"),
    "pyod": ("ECOD.labels_", "ECOD.predict", "SpectralResidual.labels_", "SpectralResidual.predict"),
}
SCORES = {
    "sktime": ("HampelDetector.transform_scores",),
    "aeon": ("KMeansAD.fit_predict",),
    "pyod": ("ECOD.decision_scores_", "ECOD.decision_function", "MatrixProfile.decision_scores_"),
}
REFUSED = {
    "sktime": {
        "ThresholdDetector.transform": r"got -1 .* number segments .* as in sktime, pass predictions=\(y >= 0\)",
        "CAPA.transform": r"number segments and -1 lies outside",
        "PELT.predict_segments": r"predictions has 5 segments that cover all 60 steps.* pass the change points",
    },
    "aeon": {"EAggloSegmenter.fit_predict": r"must be 0 or 1 \(or bool\), got 2"},
    "pyod": {
        "ECOD.predict_with_rejection": r"-2 stands for a prediction that was withheld, as in pyod, pass mask=\(y == -2\)",
    },
}


def steps_written(text):
    """The steps of alarms, enumerated from what was recorded: left-closed intervals, positions or 0/1."""
    columns = text.get("columns", {"": text})
    held = columns.get("ilocs") or next(iter(columns.values()))
    if held["type"] == "intervals":
        assert held["closed"] == "left"
        return sorted(step for left, right in held["values"] for step in range(left, right))
    if "ilocs" in columns or len(held["values"]) < 60:
        return sorted(held["values"])
    return [step for step, alarm in enumerate(held["values"]) if alarm]


def check_package(package, outputs):
    """Each output is read as what it is, to the step, or refused with a remedy; none is left untried."""
    assert {*ALARMS[package], *SCORES[package], *REFUSED[package]} == set(outputs) - {"ECOD.predict_proba"}
    for name in ALARMS[package]:
        for truth in (LABELS, DATED):
            found = prepare(truth, predictions=outputs[name])
            steps = steps_written(neighbours.written(outputs[name]))
            assert np.flatnonzero(found.predictions).tolist() == steps, name
            assert nf.evaluate(truth, predictions=outputs[name]).n_predictions == len(steps)
    for name in SCORES[package]:
        found = prepare(DATED, outputs[name])
        assert np.array_equal(found.scores, np.asarray(outputs[name]).ravel()), name
        assert found.clock is not None
    for name, message in REFUSED[package].items():
        with pytest.raises(InputError, match=message):
            prepare(DATED, predictions=outputs[name])


@pytest.mark.parametrize("package", PACKAGES)
def test_recorded_outputs_go_in_as_they_are(package):
    """Labels with and without dates beside them."""
    check_package(package, neighbours.recorded(package))


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_live_outputs_go_in_as_they_are(package):
    """The installed package returns the same types as were recorded, and they are read."""
    pytest.importorskip(package, reason=f"{package} is not installed: pip install -e '.[neighbours]'")
    outputs, recorded = neighbours.live(package), neighbours.recorded(package)
    check_package(package, outputs)
    for name, text in ((name, neighbours.written(value)) for name, value in outputs.items()):
        old = neighbours.written(recorded[name])
        assert [text.get(key) for key in ("type", "dtype", "dates")] == [
            old.get(key) for key in ("type", "dtype", "dates")
        ], name


def test_the_remedies_work():
    """What the messages advise gives the alarms that were meant."""
    sktime, pyod = neighbours.recorded("sktime"), neighbours.recorded("pyod")
    dense = sktime["ThresholdDetector.transform"]["labels"]
    found = prepare(LABELS, predictions=dense >= 0)
    assert np.array_equal(
        found.predictions, prepare(LABELS, predictions=sktime["ThresholdDetector.predict"]).predictions
    )
    withheld = pyod["ECOD.predict_with_rejection"]
    found = prepare(LABELS, predictions=withheld, mask=withheld == -2)
    assert np.array_equal(np.flatnonzero(found.predictions), np.flatnonzero(withheld == 1))
    with pytest.raises(
        InputError, match=r"scores must have one dimension, got shape \(60, 2\): .*\[:, 1\] of predict_proba"
    ):
        prepare(LABELS, pyod["ECOD.predict_proba"])
    assert prepare(LABELS, pyod["ECOD.predict_proba"][:, 1]).scores.max() == 1


CLOSED = {"left": [2, 3], "right": [3, 4], "both": [2, 3, 4], "neither": [3]}


@pytest.mark.parametrize("closed", CLOSED)
def test_ends_of_intervals_are_right_to_the_step(closed):
    """Intervals from 2 to 4 of each kind, as truth and as alarms, in each clothing, enumerated."""
    held = pd.IntervalIndex.from_tuples([(2, 4)], closed=closed)
    dated = pd.IntervalIndex.from_arrays(DATES[[2]], DATES[[4]], closed=closed)
    frame = pd.DataFrame({"ilocs": held, "labels": [7]})
    objects = pd.DataFrame({"ilocs": pd.Series(list(held), dtype=object)})
    for ranges in (held, list(held), frame, frame["ilocs"], objects, dated):
        alarms = prepare(DATED, predictions=ranges)
        events = prepare(ranges, predictions=DATED)
        assert np.flatnonzero(alarms.predictions).tolist() == CLOSED[closed]
        assert np.flatnonzero(events.truth).tolist() == CLOSED[closed]


def test_ilocs_are_positions_whatever_they_look_like():
    """Nothing but 0 and 1, one for each step, on a clock of other numbers, or none at all."""
    for ilocs, steps in (([0, 1], [0, 1]), ([3, 1, 2, 0], [0, 1, 2, 3]), ([], [])):
        frame = pd.DataFrame({"ilocs": ilocs}, dtype="int64")
        found = prepare(frame, predictions=frame, times=[10, 20, 30, 40])
        assert np.flatnonzero(found.truth).tolist() == np.flatnonzero(found.predictions).tolist() == steps
        assert np.flatnonzero(prepare([0, 1, 0, 1], predictions=frame).predictions).tolist() == steps


def test_positions_of_alarms_beside_labels():
    """A list that is shorter than the labels and not 0/1; ranges and times that overlap count each step once."""
    assert np.flatnonzero(prepare(LABELS, predictions=[41, 7]).predictions).tolist() == [7, 41]
    found = prepare(LABELS, predictions=[(3, 6), (5, 9)])
    assert np.flatnonzero(found.predictions).tolist() == list(range(3, 10))
    assert found.notes == ("Overlapping ranges were merged: 2 became 1.",)
    between = prepare(DATED, predictions=[("2024-01-01T00:10", "2024-01-01T00:20")])
    assert (np.flatnonzero(between.predictions).tolist(), between.notes) == ([0], ())  # on the step before it


ILOCS = pd.DataFrame({"ilocs": [3, 5]})
SEGMENTS = pd.DataFrame({"ilocs": pd.IntervalIndex.from_breaks([0, 20, 60], closed="left")})


@pytest.mark.parametrize(
    ("truth", "given", "message"),
    [
        (
            ILOCS,
            {"predictions": ILOCS},
            r"both lists of events, .* pass n_steps=, or times=, one for each step",
        ),
        ([3, 5], {"predictions": [4, 7]}, r"both lists of events"),
        ([(3, 5)], {"predictions": [(4, 7)]}, r"both lists of events"),
        (LABELS, {"scores": ILOCS}, r"scores has a column 'ilocs', which lists events: pass it as predictions="),
        (LABELS, {"predictions": [0.2, 0.7]}, r"or whole positions, got 0.2: pass scores as scores="),
        (LABELS, {"predictions": [3, 60]}, r"as positions 60 lie outside 0\.\.59"),
        (
            LABELS,
            {"predictions": pd.DataFrame({"ilocs": [1, 1]})},
            r"more than once: 1: .* or pass one 0/1 label for each",
        ),
        (LABELS, {"predictions": [(5, 3)]}, r"predictions has 1 range\(s\) that end before they start: 5 to 3"),
        (LABELS, {"predictions": [(50, 55), (70, 80)]}, r"predictions has 1 range\(s\) outside the steps 0 to 59"),
        (LABELS, {"predictions": pd.DataFrame({"ilocs": DATES[:2]})}, r"predictions has dates in a column 'ilocs'"),
        (
            ILOCS,
            {"scores": LABELS, "truth_as": "times"},
            r"'ilocs', which holds positions, but truth_as='times': leave",
        ),
        (SEGMENTS, {"scores": LABELS}, r"truth has 2 segments that cover all 60 steps"),
    ],
)
def test_what_is_ambiguous_is_refused_with_a_remedy(truth, given, message):
    """Which argument, and what to pass instead."""
    with pytest.raises(InputError, match=message):
        prepare(truth, **given)


def test_detectors_of_all_kinds_side_by_side(tmp_path):
    """`compare`, `report`, `significance` and metrics read alarms as `evaluate` does."""
    outputs = neighbours.recorded("sktime")
    points, segments = outputs["HampelDetector.predict"], outputs["ThresholdDetector.predict"]
    dense = {"points": np.zeros(60, dtype=int), "segments": LABELS}
    dense["points"][points["ilocs"]] = 1
    listed = {"points": points, "segments": segments}
    as_listed, as_dense = (nf.compare(DATED, predictions=alarms, rng=1).to_dict() for alarms in (listed, dense))
    assert as_listed["detectors"] == as_dense["detectors"]
    value = nf.metrics.get("range-f1")(DATED, dense["points"])
    assert nf.significance("range-f1", DATED, predictions=points, rng=1).value == value
    page = tmp_path / "page.html"
    for frame in (segments.assign(labels=1), pd.DataFrame({"start": [20, 40], "end": [20, 43]})):
        nf.report(DATED, predictions=frame, path=page)
        assert "5 of 5 predictions" in page.read_text(encoding="utf-8")
        page.unlink()


def test_metrics_are_called_as_those_of_sktime_and_aeon():
    """`metric(y_true, y_pred, X)` on two lists of events, and `metric(y_true, y_score)` on arrays."""
    outputs = neighbours.recorded("sktime")
    truth, points = outputs["ThresholdDetector.predict"], outputs["HampelDetector.predict"]
    alarms = np.zeros(60, dtype=int)
    alarms[points["ilocs"]] = 1
    metric = nf.metrics.get("f1")
    assert metric(truth, points, FRAME) == metric(truth, points, FRAME["x"].to_numpy()) == metric(LABELS, alarms)
    expected = nf.evaluate(LABELS, predictions=alarms).f1
    assert expected == pytest.approx(2 * 5 / (5 + 7), rel=1e-15)
    assert metric(LABELS, alarms) == expected
    assert metric(y_true=truth, y_pred=points, X=FRAME) == metric(y_true=LABELS, y_pred=alarms) == expected
    scores = outputs["HampelDetector.transform_scores"]
    area = nf.metrics.get("auc-roc")
    assert area(DATED, scores) == area(truth, scores["scores"].to_numpy()) == area(y_true=DATED, y_score=scores)
    for wrong, message in (
        ({"y_pred": alarms}, "a metric needs the truth: pass truth=, or y_true="),
        ({"y_true": LABELS, "y_pred": alarms, "X": 60}, "X=60 must be the series that was watched"),
        ({"y_true": LABELS, "y_pred": alarms, "y_score": alarms}, "pass either y_pred= or y_score=: they are the same"),
        ({"y_true": LABELS, "y_score": alarms}, "pass predictions, or scores with a threshold"),
    ):
        with pytest.raises(nf.InputError, match=message):
            metric(**wrong)


class Margin:
    """A metric as sktime's are: tags, and frames of events in; it notes what it was given."""

    def __init__(self, kind="points", lower=False):
        self.kind, self.lower, self.seen = kind, lower, None

    def __repr__(self):
        return f"Margin(kind={self.kind!r})"

    def get_tags(self):
        return {"object_type": ["metric_detection", "metric"], "scitype:y": self.kind, "lower_is_better": self.lower}

    def __call__(self, y_true, y_pred, X=None):
        self.seen = (y_true["ilocs"].tolist(), y_pred["ilocs"].tolist(), len(X))
        return float(len(y_pred))


def test_metrics_on_events_are_given_events():
    """Points or left-closed segments, by the tags, which say which values are better, too."""
    points, segments = Margin(), Margin("segments", lower=True)
    alarms = [1, 1, 0, 0, 1, 0]
    assert nf.metrics.get(points)([0, 1, 1, 0, 0, 0], alarms) == 3
    assert points.seen == ([1, 2], [0, 1, 4], 6)
    assert nf.metrics.get(segments)([0, 1, 1, 0, 0, 0], alarms) == 2
    assert segments.seen == ([pd.Interval(1, 3, "left")], [pd.Interval(0, 2, "left"), pd.Interval(4, 5, "left")], 6)
    assert (nf.metrics.get(points).better, nf.metrics.get(segments).better) == ("higher", "lower")
    result = nf.significance(segments, [0, 1, 1, 0, 0, 0] * 5, predictions=alarms * 5, null="circular-shift")
    assert (result.metric.name, result.metric.needs) == ("Margin(kind='segments')", "alarms")
    assert pickle.loads(pickle.dumps(result)).value == result.value


@pytest.mark.slow
def test_metrics_of_sktime_stand_beside_chance():
    """The real ones, and their own value on the same events."""
    detection = pytest.importorskip("sktime.performance_metrics.detection", reason="sktime is not installed")
    alarms = neighbours.recorded("sktime")["HampelDetector.predict"]
    events, steps = pd.DataFrame({"ilocs": np.flatnonzero(LABELS)}), FRAME.reset_index(drop=True)
    for metric in (detection.WindowedF1Score(margin=2), detection.EventTPR(max_offset=1), detection.DirectedChamfer()):
        shifted = [pd.DataFrame({"ilocs": np.sort((alarms["ilocs"] + shift) % 60)}) for shift in range(60)]
        values = np.array([metric(events, other, steps) for other in shifted])
        reached = values <= values[0] if metric.get_tag("lower_is_better") else values >= values[0]
        result = nf.significance(metric, LABELS, predictions=alarms, null="circular-shift")
        assert (result.value, result.pvalue) == (values[0], pytest.approx(reached.mean()))


@pytest.mark.slow
def test_metrics_of_aeon_stand_beside_chance():
    """The real ones, and their own value on the same arrays."""
    metrics = pytest.importorskip("aeon.benchmarking.metrics.anomaly_detection", reason="aeon is not installed")
    scores = neighbours.recorded("aeon")["KMeansAD.fit_predict"]
    for metric in (metrics.roc_auc_score, metrics.pr_auc_score, metrics.f_score_at_k_points):
        result = nf.significance(metric, LABELS, scores, null="circular-shift", n_resamples=59)
        assert result.value == metric(LABELS, scores)
    assert nf.metrics.get("auc-roc")(LABELS, scores) == pytest.approx(metrics.roc_auc_score(LABELS, scores))


@pytest.mark.slow
def test_the_snippets_of_the_page_work(capsys):
    """Those that need the packages; the others are run as examples."""
    for package in PACKAGES:
        pytest.importorskip(package, reason=f"{package} is not installed: pip install -e '.[neighbours]'")
    page = Path(__file__).parent.parent / "docs" / "howto" / "sktime-aeon-pyod.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs, not ours
        for block in blocks:
            if ">>>" not in block:
                exec(block, names)
    printed = capsys.readouterr().out
    # four evaluations, one of them "partly", behind windows; and two metrics
    assert (printed.count("Verdict: no fluke"), printed.count("chance gives")) == (3, 4 * 2 + 2)
    assert 0.45 < names["result"].precision < 0.55
    assert 0.28 < names["result"].precision_test.expected / names["result"].n_predictions < 0.32


def test_versions_are_recorded():
    """Whoever reads the recordings knows what made them."""
    assert set(json.loads(neighbours.FILE.read_text(encoding="utf-8"))["versions"]) == set(PACKAGES)
