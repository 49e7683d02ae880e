"""What holds for every metric by name, whatever it measures; what each one measures is tested in a file of its own."""

import dataclasses
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import nofluke as nf
import nofluke.metrics
from nofluke.metrics.base import Metric
from nofluke.metrics.draws import Draws
from nofluke.metrics.functions import Function
from nofluke.metrics.labelled import read_labelled

BUILT_IN = [name for name in nofluke.metrics.names() if not isinstance(nofluke.metrics.get(name), Function)]
WITH_SETTINGS = [
    "average-precision",
    "best-f1:beta=2",
    "best-pa-f1:beta=0.5",
    "vus-pr:window=3,n_thresholds=7",
    "vus-roc:window=4",
    "f1:beta=2",
    "pa-f1:beta=0.5",
    "pak-f1:k=50",
    "pak-auc:beta=2",
    "delay-pa-f1:delay=1",
    "composite-f1:beta=2",
    "event-f1:beta=0.5",
    "event-far-f1:beta=2",
    "precision:tolerance=2",
    "recall:tolerance=1",
    "f1:tolerance=2,beta=0.5",
    "range-precision:bias=middle,cardinality=reciprocal",
    "range-recall:bias=front,alpha=0.3",
    "range-f1:bias=back,cardinality=reciprocal,alpha=0.3,beta=2",
    "etapr-precision:theta_p=0.3,theta_r=0.5",
    "etapr-recall:theta_p=0.3,theta_r=0.5",
    "etapr-f1:theta_p=0.3,theta_r=0.5,beta=2",
    "affiliation-f1:beta=2",
    "nab:profile=low-fp",
    "nab:profile=low-fn",
]
TEXTS = [*BUILT_IN, *(text for text in WITH_SETTINGS if text not in BUILT_IN)]
of_every_name = pytest.mark.parametrize("name", BUILT_IN)
of_every_metric = pytest.mark.parametrize("text", TEXTS)
quick = hypothesis_settings(max_examples=16)


@st.composite
def labelled(draw, least=1, most=14):
    """Labels, with some and not all of them 1, and tied scores of which the upper ones are alarms."""
    n = draw(st.integers(2, most))
    labels = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    if labels.sum() < least or labels.all():
        labels[:] = 0
        labels[draw(st.integers(0, n - 1))] = 1
    scores = np.array(draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)), dtype=np.float64)
    return labels, scores


def some_series(n=3, seed=5, steps=40):
    """A few longer series, the same at every call."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        labels = (np.convolve(rng.random(steps), [0.5, 0.5], "same") > 0.6).astype(np.int64)
        labels[rng.integers(steps)] ^= 1
        yield labels, np.round(rng.standard_normal(steps) + labels, 1)


def fitting(metric: Metric, scores: np.ndarray) -> np.ndarray:
    """The scores, or alarms where the metric needs them."""
    return scores if metric.needs == "scores" else (scores >= 3 if scores.max() > 3 else scores >= 1).astype(np.int64)


def read(metric: Metric, labels: np.ndarray, detector: np.ndarray):
    """The series as a metric takes it."""
    return read_labelled(labels, **{"scores" if metric.needs == "scores" else "predictions": detector})


def runs_of(labels: np.ndarray) -> list[tuple[int, int]]:
    """First and last step of each run."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], labels, [0]]))).tolist()
    return [(start, stop - 1) for start, stop in zip(edges[::2], edges[1::2], strict=True)]


def same(found, expected) -> None:
    """Equal but for the last digits; NaN where the other is."""
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-11)


# names


def test_names_are_those_of_the_documentation():
    """None is missing, and none has another name."""
    families = {
        "": "auc-roc average-precision best-f1 best-pa-f1 f1 pa-f1 delay-pa-f1 composite-f1 nab",
        "vus-": "roc pr",
        "pak-": "f1 auc",
        "event-": "f1 far-f1",
        "range-": "precision recall f1",
        "etapr-": "precision recall f1",
        "affiliation-": "precision recall f1",
    }
    names = {family + name for family, held in families.items() for name in held.split()}
    assert set(BUILT_IN) == names | {"precision", "recall"}


@of_every_metric
def test_text_makes_the_metric_again(text):
    """So does pickle; and the object is what its name says."""
    metric = nofluke.metrics.get(text)
    assert nofluke.metrics.get(metric.text) == metric
    assert metric.text == text
    assert nofluke.metrics.get(metric) is metric
    assert pickle.loads(pickle.dumps(metric)) == metric
    assert metric.name == text.partition(":")[0]
    assert metric.title
    assert set(metric.settings) <= {field.name for field in dataclasses.fields(metric)}
    with pytest.raises(dataclasses.FrozenInstanceError):
        metric.beta = 3


@of_every_name
def test_default_settings_are_not_written(name):
    """The text of a metric with default settings is its name."""
    assert nofluke.metrics.get(name).text == name
    assert nofluke.metrics.get(name).settings == {}


def test_every_class_of_a_metric_is_public():
    """``nf.metrics.VUS`` beside ``"vus-pr"``."""
    for name in BUILT_IN:
        assert type(nofluke.metrics.get(name)).__name__ in nofluke.metrics.__all__


# values


@of_every_metric
@quick
@given(data=labelled())
def test_a_perfect_detector_reaches_the_perfect_value_and_no_other_exceeds_it(text, data):
    """Scores or alarms that are the labels themselves."""
    metric = nofluke.metrics.get(text)
    labels, scores = data
    same(metric(labels, labels), metric.perfect)
    found = metric(labels, fitting(metric, scores))
    assert np.isnan(found) or found <= metric.perfect + 1e-12


@of_every_metric
@quick
@given(data=labelled())
def test_windows_of_a_detector_laid_out_twice_are_its_rotations(text, data):
    """Tables are made once, and each window has the value of the rotated detector; so has every rotation at once."""
    metric = nofluke.metrics.get(text)
    labels, scores = data
    detector, n = fitting(metric, scores), len(labels)
    series = read(metric, labels, detector)
    own = series.detector(metric.needs, text)
    rotations = [metric(labels, np.roll(detector, -begin)) for begin in range(n)]
    tables, begins = metric.tables(np.tile(own, 2), series), np.arange(n)
    found = metric.values(tables, Draws.moving(series.runs, n, begins))
    same(found, rotations)
    # windows that follow one another may be counted by a loop of their own
    np.testing.assert_array_equal(metric.values(tables, Draws.moving(series.runs, n, begins[::-1])), found[::-1])
    at_once = metric.every_rotation(own, series)
    if at_once is not None:
        same(at_once, rotations)


@pytest.mark.parametrize("text", [text for text in TEXTS if nofluke.metrics.get(text).any_window])
@quick
@given(data=labelled())
def test_windows_of_a_mirrored_detector_are_slices_of_it(text, data):
    """Runs of alarms that a window cuts count by what is within."""
    metric = nofluke.metrics.get(text)
    labels, scores = data
    detector, n = fitting(metric, scores), len(labels)
    series = read(metric, labels, detector)
    long = np.concatenate([detector[::-1], detector, detector[::-1]])
    tables = metric.tables(long.astype(series.detector(metric.needs, text).dtype), series)
    begins = np.arange(2 * n + 1)
    slices = [metric(labels, long[begin : begin + n]) for begin in begins]
    same(metric.values(tables, Draws.moving(series.runs, n, begins)), slices)


@of_every_metric
def test_draws_have_the_values_of_their_labels(text):
    """Labels that change before a detector at rest: of any number of runs, none too, beyond a word of 64 steps."""
    metric = nofluke.metrics.get(text)
    rng = np.random.default_rng(3)
    for n in (12, 40, 150):
        scores = np.round(3 + rng.standard_normal(n), 1)
        detector = fitting(metric, scores)
        series = read(metric, np.arange(n) % 5 == 0, detector)
        tables = metric.tables(series.detector(metric.needs, text), series)
        rows = np.array([rng.random(n) < share for share in (0.1, 0.5, 0, 0.9, 0.02, 1, 0.3, 0.5)])
        runs = [runs_of(row) for row in rows]
        starts, lasts = np.array([run for row in runs for run in row]).T
        last = np.cumsum([len(row) for row in runs])
        first = last - [len(row) for row in runs]
        places = {"starts": starts.copy(), "stops": lasts + 1, "begins": np.zeros(len(rows), dtype=np.int64)}
        found = metric.values(tables, Draws(n_steps=n, first=first, last=last, **places))
        same(found, [metric(row.astype(np.int64), detector) for row in rows])
        steps = np.array([rng.choice(n, n // 3, replace=False) for _ in range(7)])
        found = metric.values(tables, Draws.of_steps(steps, n))
        same(found, [metric(np.isin(np.arange(n), row).astype(np.int64), detector) for row in steps])


@of_every_metric
def test_draws_leave_tables_as_they_are(text):
    """The same draws again have the same values."""
    metric = nofluke.metrics.get(text)
    labels, scores = next(some_series())
    series = read(metric, labels, fitting(metric, scores))
    tables = metric.tables(np.tile(series.detector(metric.needs, text), 2), series)
    draws = Draws.moving(series.runs, len(labels), np.arange(len(labels)))
    np.testing.assert_array_equal(metric.values(tables, draws), metric.values(tables, draws))
    assert len(metric.values(tables, Draws.moving(series.runs, len(labels), np.zeros(0)))) == 0


# what can be passed


@of_every_metric
def test_all_forms_of_truth_and_detector_have_one_value(text):
    """Labels, truth values, positions, ranges; lists, arrays, columns of pandas and polars."""
    metric = nofluke.metrics.get(text)
    for labels, scores in some_series():
        x = fitting(metric, scores)
        expected = metric(labels, x)
        times = pd.date_range("2024-01-01", periods=len(labels), freq="h")
        truths = [labels.tolist(), labels.astype(bool), pd.Series(labels), pl.Series(labels), labels.astype(float)]
        truths += [pd.Series(labels, index=times)]
        for truth in truths:
            same(metric(truth, x), expected)
        for detector in (x.tolist(), pd.Series(x), pl.Series(x), x.astype(float), x.astype(np.float32).astype(float)):
            same(metric(labels, detector), expected)
        same(metric(np.flatnonzero(labels), x, truth_as="positions"), expected)
        same(metric(runs_of(labels), x, count_events="steps"), expected)
        same(metric(pd.Series(labels, index=times), pd.Series(x, index=times)), expected)


@of_every_metric
def test_alarms_come_from_scores_by_a_threshold(text):
    """Where a metric needs alarms, a threshold, a quantile or a budget makes them; scores are scores nevertheless."""
    metric = nofluke.metrics.get(text)
    for labels, scores in some_series():
        cut = float(np.quantile(scores, 0.8))
        expected = metric(labels, scores if metric.needs == "scores" else scores >= cut)
        same(metric(labels, scores, threshold=cut), expected)
        by_name = {"scores": "detector"}.get(metric.needs, "predictions")
        same(metric(labels, **{by_name: scores if metric.needs == "scores" else scores >= cut}), expected)
        if metric.needs == "alarms":
            chosen = nf.evaluate(labels, scores, quantile=0.8).threshold
            same(metric(labels, scores, quantile=0.8), metric(labels, scores >= chosen))


@of_every_name
@quick
@given(data=labelled(), hidden=st.integers(0, 2**14 - 1))
def test_masked_steps_are_as_if_they_were_not_there(name, data, hidden):
    """Runs between which all steps are masked stay two, a run whose middle is masked stays one."""
    metric = nofluke.metrics.get(name)
    labels, scores = data
    detector = fitting(metric, scores)
    mask = (hidden >> np.arange(len(labels)) & 1).astype(bool)
    mask[0] &= not mask.all()
    places = np.cumsum(~mask) - 1
    left = [places[first : last + 1][~mask[first : last + 1]] for first, last in runs_of(labels)]
    ranges = [(int(run[0]), int(run[-1])) for run in left if len(run)]
    expected = metric(ranges, detector[~mask], truth_as="ranges", count_events="steps")
    same(metric(labels, detector, mask=mask), expected)
    if metric.needs == "scores":
        unknown = np.where(mask, np.nan, scores)
        same(metric(labels, unknown, missing="mask"), expected)
        if mask.any():
            with pytest.raises(nf.InputError, match=r"missing=.mask."):
                metric(labels, unknown)


@of_every_name
def test_a_warmup_is_left_out(name):
    """As if the series began behind it."""
    metric = nofluke.metrics.get(name)
    for labels, scores in some_series():
        detector = fitting(metric, scores)
        same(metric(labels, detector, warmup=10), metric(labels[10:], detector[10:]))


@of_every_name
def test_low_scores_can_be_the_anomalous_ones(name):
    """``higher_is="normal"`` turns the scores."""
    metric = nofluke.metrics.get(name)
    for labels, scores in some_series():
        cut = {} if metric.needs == "scores" else {"quantile": 0.8}
        same(metric(labels, -scores, higher_is="normal", **cut), metric(labels, scores, **cut))


@pytest.mark.parametrize("text", [text for text in TEXTS if nofluke.metrics.get(text).needs == "scores"])
@quick
@given(data=labelled())
def test_only_the_order_of_scores_matters(text, data):
    """A strictly increasing transformation changes no digit."""
    metric = nofluke.metrics.get(text)
    labels, scores = data
    assert metric(labels, np.exp2(scores) - 7) == metric(labels, scores)


# undefined cases


@of_every_metric
def test_without_labels_no_metric_has_a_value(text):
    """NaN, for one draw and for many."""
    metric = nofluke.metrics.get(text)
    detector = fitting(metric, np.arange(6.0))
    nothing = np.zeros(6, dtype=np.int64)
    assert np.isnan(metric(nothing, detector))
    assert np.isnan(metric(nothing, np.zeros(6)))
    series = read(metric, nothing, detector)
    tables = metric.tables(np.tile(series.detector(metric.needs, text), 2), series)
    assert np.isnan(metric.values(tables, Draws.moving(series.runs, 6, np.arange(4)))).all()


@pytest.mark.parametrize("text", [text for text in TEXTS if nofluke.metrics.get(text).needs == "alarms"])
def test_without_alarms_precision_is_undefined_and_all_else_is_0(text):
    """Recalls, F and the NAB score."""
    found = nofluke.metrics.get(text)([0, 1, 1, 0], [0, 0, 0, 0])
    assert np.isnan(found) if "precision" in text else found == 0


@of_every_metric
@pytest.mark.parametrize("labels", [[1], [1, 1, 1]])
def test_series_of_labels_only_are_no_failure(text, labels):
    """One step, or all of them labelled: a number no better than perfect, or NaN."""
    metric = nofluke.metrics.get(text)
    found = metric(labels, np.ones(len(labels)))
    assert np.isnan(found) or 0 <= found <= metric.perfect


# errors


@of_every_name
def test_errors_say_what_a_metric_needs(name):
    """Scores where it needs alarms, alarms where it needs scores, nothing at all."""
    metric = nofluke.metrics.get(name)
    labels, scores = np.array([0, 1, 1, 0]), np.array([0.2, 1.5, 0.3, 0.1])
    if metric.needs == "scores":
        with pytest.raises(nf.InputError, match=f"metric='{name}' needs scores.*pass scores"):
            metric(labels, predictions=labels)
    else:
        with pytest.raises(nf.InputError, match=r"predictions.*threshold|needs alarms.*threshold"):
            metric(labels, scores)
    with pytest.raises(nf.InputError, match=r"scores|predictions"):
        metric(labels)
    with pytest.raises(nf.InputError, match=r"3|4"):
        metric(labels, [0, 1, 0])


@of_every_name
def test_unknown_settings_name_the_metric_and_the_setting(name):
    """By name; objects say so as every class does."""
    with pytest.raises(nf.InputError, match=f"{name}:colour=red.*colour"):
        nofluke.metrics.get(f"{name}:colour=red")


@pytest.mark.parametrize(
    "text", [name for name in BUILT_IN if "beta" in nofluke.metrics.get(name).__dataclass_fields__]
)
def test_beta_must_not_be_negative(text):
    """Named, with its value."""
    with pytest.raises(nf.InputError, match=r"beta=-1"):
        nofluke.metrics.get(f"{text}:beta=-1")


def test_every_f_takes_beta():
    """All whose name ends in f1."""
    for name in BUILT_IN:
        if name.endswith("f1"):
            assert "beta" in nofluke.metrics.get(name).__dataclass_fields__, name


@pytest.mark.parametrize("what", ["vus", "", None, 3, Metric])
def test_what_is_no_metric_is_refused(what):
    """With the names that there are, or what else it may be."""
    with pytest.raises(nf.InputError, match="metric="):
        nofluke.metrics.get(what)


def test_an_unknown_name_is_answered_with_the_known_ones():
    """All of them."""
    with pytest.raises(nf.InputError) as raised:
        nofluke.metrics.get("auc-rok")
    assert all(repr(name) in str(raised.value) for name in BUILT_IN)


# one's own


def share(labels, alarms):
    """Share of labelled steps with an alarm."""
    return (labels & alarms).sum() / labels.sum()


def test_a_metric_of_ones_own_has_a_name(added):
    """It is listed behind the others, got by its name, pickled and called as they are."""
    metric = nofluke.metrics.register("share", share, needs="alarms", perfect=1.0)
    assert nofluke.metrics.names()[-1] == "share"
    assert nofluke.metrics.get("share") == metric == nofluke.metrics.get(metric.text)
    assert pickle.loads(pickle.dumps(metric)) == metric
    assert metric([(1, 2)], [0, 1, 0, 0]) == metric([0, 1, 1, 0], pd.Series([0, 1, 0, 0])) == 0.5
    assert (metric.needs, metric.perfect, metric.better, metric.compiled) == ("alarms", 1.0, "higher", False)


def test_a_function_is_a_metric(added):
    """So is an object with ``compute``; both are given 0 and 1, or scores, of the steps that count."""

    class Counting:
        name = "counting"

        def compute(self, labels, scores):
            return float((labels * scores).sum())

    assert nofluke.metrics.get(Counting()).name == "counting"
    assert nofluke.metrics.get(Counting())([0, 1, 1], [0.5, 1.5, 7.0], mask=[0, 0, 1]) == 1.5
    assert nofluke.metrics.get(share).name == "share"
    assert "share" not in nofluke.metrics.names()


def test_functions_see_windows_and_labels_of_each_draw():
    """A function has the values of the metric that it is."""
    slow = Function(function=lambda labels, alarms: float(nofluke.metrics.get("pa-f1")(labels, alarms)), needs="alarms")
    labels, scores = next(some_series())
    series = read(slow, labels, fitting(slow, scores))
    quick_one = nofluke.metrics.get("pa-f1")
    long = np.tile(series.alarms, 2)
    draws = Draws.moving(series.runs, len(labels), np.arange(9))
    same(slow.values(slow.tables(long, series), draws), quick_one.values(quick_one.tables(long, series), draws))


@pytest.mark.parametrize(
    ("name", "options", "match"),
    [
        ("auc-roc", {}, "name='auc-roc' is a built-in metric"),
        ("My Metric", {}, "name='My Metric' must consist of"),
        (3, {}, "name=3 must consist of"),
        ("mine", {"needs": "labels"}, "needs='labels'"),
        ("mine", {"better": "up"}, "better='up'"),
    ],
)
def test_wrong_registrations_are_refused(added, name, options, match):
    """Nothing is registered then."""
    before = nofluke.metrics.names()
    with pytest.raises(nf.InputError, match=match):
        nofluke.metrics.register(name, share, **options)
    assert nofluke.metrics.names() == before


def test_what_is_no_function_is_not_registered(added):
    """Nor something whose answer is no number called a value."""
    with pytest.raises(nf.InputError, match="function=3"):
        nofluke.metrics.register("mine", 3)
    with pytest.raises(nf.InputError, match="metric='words' must return a number, got 'many'"):
        nofluke.metrics.register("words", lambda *_: "many")([0, 1], [1, 2])
