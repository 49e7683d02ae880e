"""nf.make_scorer in scikit-learn's model selection: the signs, the labels and the folds of every kind of estimator."""

import itertools
import pickle
import sys
import warnings
from copy import deepcopy
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.cluster import KMeans
from sklearn.covariance import EllipticEnvelope
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit, cross_validate
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

import nofluke as nf

RNG = np.random.default_rng(5)
Y = (RNG.random(400) < 0.05).astype(int)
X = RNG.normal(size=(400, 2)) + 3 * Y[:, None]
CV = TimeSeriesSplit(3)
DETECTORS = [
    IsolationForest(n_estimators=10, random_state=0, contamination=0.05),
    LocalOutlierFactor(novelty=True, contamination=0.05),
    OneClassSVM(nu=0.1),
    EllipticEnvelope(contamination=0.05, random_state=0),
    make_pipeline(StandardScaler(), EllipticEnvelope(contamination=0.05, random_state=0)),
]


def named(estimator):
    return type(estimator).__name__


class Column(OutlierMixin, BaseEstimator):
    """Scores are the first column of X, low for outliers as scikit-learn has it."""

    def __init__(self, which=0):
        self.which = which

    def fit(self, *_):
        return self

    def decision_function(self, X):
        return -X[:, 0]


class Threshold(OutlierMixin, BaseEstimator):
    """An alarm from c on in the first column of X: never for a large c, always for a small one."""

    def __init__(self, c=0):
        self.c = c

    def fit(self, *_):
        return self

    def predict(self, X):
        return np.where(X[:, 0] >= self.c, -1, 1)


class Fixed:
    """An estimator that says what it was given: scores that some convention calls high or low."""

    def __init__(self, scores, alarms=None, **attributes):
        self.decision_function = lambda _: np.asarray(scores)
        if alarms is not None:
            self.predict = lambda _: np.asarray(alarms)
        self.__dict__.update(attributes)


@pytest.mark.parametrize("detector", DETECTORS, ids=named)
def test_without_tolerance_a_detectors_own_alarms_score_as_in_scikit_learn(detector):
    """precision_score, recall_score and f1_score of predict's -1, fold by fold."""
    known = {"f1": metrics.f1_score, "precision": metrics.precision_score, "recall": metrics.recall_score}
    found = cross_validate(
        detector, X, Y, cv=CV, scoring={name: nf.make_scorer(name) for name in known}, return_estimator=True
    )
    for i, (_, test) in enumerate(CV.split(X)):
        alarms = found["estimator"][i].predict(X[test]) == -1
        for name, score in known.items():
            assert found[f"test_{name}"][i] == pytest.approx(score(Y[test], alarms))


@pytest.mark.parametrize("detector", [*DETECTORS, GaussianMixture(random_state=0)], ids=named)
def test_scores_of_outlier_detectors_are_turned(detector):
    """They are low for outliers: AUC is that of the negative score_samples, and a budget takes the lowest."""
    fitted = clone(detector).fit(X[:200])
    odd = -fitted.score_samples(X)
    assert nf.make_scorer("auc-roc")(fitted, X, Y) == pytest.approx(metrics.roc_auc_score(Y, odd))
    alarms = odd >= np.sort(odd)[-20]
    found = nf.make_scorer("f1", budget="5%")(fitted, X, Y)
    assert found == pytest.approx(metrics.f1_score(Y, alarms))


def test_a_search_is_read_as_what_it_has_found():
    """GridSearchCV passes on that it holds an outlier detector."""
    search = GridSearchCV(OneClassSVM(), {"nu": [0.05, 0.1]}, scoring=nf.make_scorer("auc-roc"), cv=CV).fit(X, Y)
    expected = metrics.roc_auc_score(Y, -search.decision_function(X))
    assert nf.make_scorer("auc-roc")(search, X, Y) == pytest.approx(expected)


def test_classifiers_score_the_positive_class_high():
    """decision_function and predict_proba, labels of 0 and 1, and any label that is named."""
    for labels, event in ((Y, "auto"), (np.where(Y, -1, 1), -1), (np.where(Y, "bad", "good"), "bad")):
        fitted = LogisticRegression().fit(X, labels)
        for method in ("auto", "decision_function", "predict_proba"):
            scorer = nf.make_scorer("auc-roc", response_method=method, pos_label=event)
            proba = LogisticRegression().fit(X, Y).predict_proba(X)[:, 1]
            assert scorer(fitted, X, labels) == pytest.approx(metrics.roc_auc_score(Y, proba))
        assert nf.make_scorer("f1", pos_label=event)(fitted, X, labels) == pytest.approx(
            metrics.f1_score(Y, fitted.predict(X) == fitted.classes_[np.argmax(fitted.classes_ == labels[Y == 1][0])])
        )


def test_a_class_that_training_did_not_hold_has_no_alarms():
    """As in the first folds of rare events."""
    lacking = SimpleNamespace(
        _estimator_type="classifier", classes_=np.array([0]), predict_proba=lambda X: np.ones((len(X), 1))
    )
    assert nf.make_scorer("recall", threshold=0.5)(lacking, X, Y) == 0


def test_pyod_is_told_from_scikit_learn_though_it_looks_alike():
    """pyod's detectors have the tag of outlier detectors, and score outliers high, also at the end of a pipeline."""
    like_pyod = Fixed(Y, Y, _estimator_type="outlier_detector", decision_scores_=Y)
    like_sklearn = Fixed(-Y, np.where(Y, -1, 1), _estimator_type="outlier_detector")
    piped = Fixed(Y, Y, _estimator_type="outlier_detector", steps=[("scale", None), ("last", like_pyod)])
    for estimator in (like_pyod, like_sklearn, piped):
        assert nf.make_scorer("auc-roc")(estimator, X, Y) == 1
        assert nf.make_scorer("f1", budget=Y.mean())(estimator, X, Y) == 1
        assert nf.make_scorer("f1")(estimator, X, Y) == 1


def test_pyod_itself():
    """Where it is installed."""
    ecod = pytest.importorskip("pyod.models.ecod", reason="pyod is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = ecod.ECOD(contamination=0.05).fit(X)
        assert nf.make_scorer("auc-roc")(fitted, X, Y) > 0.9
        assert nf.make_scorer("f1")(fitted, X, Y) == pytest.approx(metrics.f1_score(Y, fitted.predict(X)))


def test_tags_come_before_the_older_attribute():
    """scikit-learn 1.6 and later have tags, 1.4 and 1.5 an attribute; either is enough."""
    tagged = Fixed(-Y, __sklearn_tags__=lambda: SimpleNamespace(estimator_type="outlier_detector"))
    assert nf.make_scorer("auc-roc")(tagged, X, Y) == 1
    assert nf.make_scorer("auc-roc")(Fixed(-Y, _estimator_type="outlier_detector"), X, Y) == 1


def test_the_direction_of_scores_can_be_said():
    """higher_is overrules what the estimator looks like, and must be there where nothing is known."""
    upside_down = Fixed(Y, _estimator_type="outlier_detector")
    assert nf.make_scorer("auc-roc")(upside_down, X, Y) == 0
    assert nf.make_scorer("auc-roc", higher_is="anomalous")(upside_down, X, Y) == 1
    with pytest.raises(nf.InputError, match='known to be high or low for events: pass higher_is="anomalous"'):
        nf.make_scorer("auc-roc")(Fixed(Y), X, Y)
    assert nf.make_scorer("auc-roc", higher_is="anomalous")(Fixed(Y), X, Y) == 1


@pytest.mark.parametrize(
    "density", [KernelDensity(), PCA(1), make_pipeline(StandardScaler(), KernelDensity())], ids=named
)
def test_what_has_only_score_samples_is_a_density(density):
    """Low where data are rare, without any tag that says so."""
    fitted = density.fit(X)
    expected = metrics.roc_auc_score(Y, -fitted.score_samples(X))
    assert nf.make_scorer("auc-roc")(fitted, X, Y) == pytest.approx(expected)
    with pytest.raises(nf.InputError, match="has no method predict"):
        nf.make_scorer("f1")(fitted, X, Y)


def test_numbers_of_clusters_are_not_alarms():
    """Also not as scores, nor at the end of a pipeline."""
    for estimator in (KMeans(2, n_init=1), make_pipeline(StandardScaler(), KMeans(2, n_init=1))):
        for measure in ("f1", "auc-roc"):
            with pytest.raises(
                nf.InputError, match="numbers of clusters, which are no alarms: pass an outlier detector"
            ):
                nf.make_scorer(measure)(estimator.fit(X), X, Y)


def test_predictions_as_scores_have_a_direction_too():
    """Outlier detectors predict -1 for outliers, classifiers a label, regressors numbers of y."""
    signed, named_ = np.where(Y, -1, 1), np.where(Y, "bad", "good")
    scorer = nf.make_scorer("auc-roc", response_method="predict")
    assert scorer(Fixed(Y, signed, _estimator_type="outlier_detector"), X, Y) == 1
    says = Fixed(Y, named_, _estimator_type="classifier", classes_=np.array(["bad", "good"]))
    assert nf.make_scorer("auc-roc", response_method="predict", pos_label="bad")(says, X, named_) == 1
    for y, event in ((Y, "auto"), (signed, -1), (-signed, 1), (1 - Y, 0)):
        fitted = LinearRegression().fit(X, y)
        found = nf.make_scorer("auc-roc", pos_label=event)(fitted, X, y)
        assert found == pytest.approx(metrics.roc_auc_score(Y, LinearRegression().fit(X, Y).predict(X)))


@pytest.mark.parametrize("estimator", [LogisticRegression(), LinearRegression()], ids=named)
def test_minus_one_and_one_need_a_positive_label_unless_outliers_are_sought(estimator):
    """scikit-learn's classifiers take 1 for positive, its outlier detectors have -1 for outliers."""
    y = np.where(Y, 1, -1)
    fitted = estimator.fit(X, y)
    with pytest.raises(
        nf.InputError, match=r"y holds -1 and 1, and for a \w+ either may be the event: pass pos_label=1"
    ):
        nf.make_scorer("auc-roc")(fitted, X, y)
    assert nf.make_scorer("auc-roc", pos_label=1)(fitted, X, y) > 0.9


def test_a_positive_label_that_is_not_in_y_is_named():
    """A fold may have no events; two other labels are too many."""
    y = np.where(Y, "bad", "good")
    scorer = nf.make_scorer("f1", pos_label="bda", zero_division=0)
    fitted = LogisticRegression().fit(X, y)
    with pytest.raises(nf.InputError, match="pos_label='bda' is no label of y, which has 'bad', 'good': pass one"):
        scorer(fitted, X, y)
    with pytest.raises(nf.InputError, match="which has 'bad', 'good'"):
        scorer(fitted, X[Y == 0], y[Y == 0])  # the other label is known from training
    assert nf.make_scorer("f1", pos_label="bad", zero_division=0)(fitted, X[Y == 0], y[Y == 0]) == 0


def test_it_goes_where_scikit_learn_takes_scorers():
    """Several at once by their names, GridSearchCV with TimeSeriesSplit, copies and pickles."""
    scorers = {
        "f1": nf.make_scorer("f1", tolerance=2),
        "vus": nf.make_scorer("vus-pr:window=5"),
        "hits": nf.make_scorer(lambda labels, scores: float((labels * scores).sum())),
    }
    found = cross_validate(DETECTORS[0], X, Y, cv=CV, scoring=scorers)
    assert all(np.isfinite(found[f"test_{name}"]).all() for name in scorers)
    search = GridSearchCV(OneClassSVM(), {"nu": [0.01, 0.05, 0.4]}, cv=CV, scoring=scorers["f1"], error_score="raise")
    assert clone(search).fit(X, Y).best_params_["nu"] < 0.4
    assert pickle.loads(pickle.dumps(scorers["f1"])) == deepcopy(scorers["f1"]) == scorers["f1"]
    assert repr(scorers["f1"]) == "make_scorer(measure='f1', tolerance=2)"


def test_a_tolerance_in_time_goes_by_the_index():
    """scikit-learn keeps the index of pandas objects in folds: of y, else of X."""
    times = pd.date_range("2024-01-01", periods=6, freq="h")
    events = pd.Series([0, 1, 0, 0, 0, 0], index=times)
    late = Fixed([0, 0, 0, 1, 0, 0], [0, 0, 0, 1, 0, 0])
    assert nf.make_scorer("recall", tolerance="2h")(late, np.zeros((6, 1)), events) == 1
    assert nf.make_scorer("recall", tolerance="1h")(late, pd.DataFrame(index=times), events.to_numpy()) == 0


def test_corrected_for_chance_recall_and_precision_are_kappa():
    """Without tolerance chance finds m of T events, and hits n of T alarms."""
    alarms = np.roll(Y, 1) | (Y & (np.arange(400) % 2))
    fixed, m, n = Fixed(alarms, alarms), alarms.mean(), Y.mean()
    recall, precision = metrics.recall_score(Y, alarms), metrics.precision_score(Y, alarms)
    how = {"chance_corrected": True, "null": "permutation"}
    assert nf.make_scorer("recall", **how)(fixed, X, Y) == pytest.approx((recall - m) / (1 - m))
    assert nf.make_scorer("precision", **how)(fixed, X, Y) == pytest.approx((precision - n) / (1 - n))


def test_corrected_for_chance_f1_has_the_mean_of_all_placements():
    """Two events on nine steps, within one step: all 36 placements gone through."""
    truth, alarms = np.array([0, 0, 1, 0, 0, 0, 1, 0, 0]), np.array([0, 1, 0, 0, 1, 0, 0, 0, 1])

    def f1(events):
        near = [any(abs(a - e) <= 1 for e in events) for a in np.flatnonzero(alarms)]
        found = [any(abs(a - e) <= 1 for a in np.flatnonzero(alarms)) for e in events]
        p, r = np.mean(near), np.mean(found)
        return 2 * p * r / (p + r) if p + r else 0.0

    chance = np.mean([f1(events) for events in itertools.combinations(range(9), 2)])
    scorer = nf.make_scorer("f1", tolerance=1, chance_corrected=True, null="permutation")
    found = scorer(Fixed(alarms, alarms), np.zeros((9, 1)), truth)
    assert found == pytest.approx((f1(np.flatnonzero(truth)) - chance) / (1 - chance))


def test_corrected_for_chance_other_metrics_are_as_significance_has_them():
    """With the same seed and draws, and threshold-free."""
    scorer = nf.make_scorer("auc-roc", chance_corrected=True, n_resamples=99, higher_is="anomalous")
    found = nf.significance("auc-roc", Y == 1, X[:, 0], n_resamples=99, rng=0).chance_corrected
    assert scorer(Fixed(X[:, 0]), X, Y) == found


def test_where_lower_is_better_the_sign_is_turned():
    """Scorers are maximised."""
    missed = nf.metrics.Function(
        function=lambda labels, alarms: float((labels > alarms).sum()), name="missed", needs="alarms", better="lower"
    )
    assert nf.make_scorer(missed)(Fixed(Y, 0 * Y), X, Y) == -Y.sum()


def test_a_fold_without_events_is_undefined_and_says_so():
    """NaN with a warning, or the number that was asked for; ones alone may be outliers or inliers."""
    fixed = Fixed(Y, Y)
    with pytest.warns(UserWarning, match="NaN: this fold has no events"):
        assert np.isnan(nf.make_scorer("f1")(fixed, X, 0 * Y))
    with pytest.warns(UserWarning, match="every label of this fold is 1: pass pos_label=1, or pos_label=-1"):
        assert np.isnan(nf.make_scorer("f1")(fixed, X, 0 * Y + 1))
    assert nf.make_scorer("f1", zero_division=0)(fixed, X, 0 * Y) == 0
    assert nf.make_scorer("f1", zero_division=1)(fixed, X, 0 * Y) == 1


MISS = nf.metrics.Function(
    function=lambda labels, alarms: 1 - labels[alarms == 1].mean() if 0 < alarms.sum() < len(alarms) else np.nan,
    name="miss",
    needs="alarms",
    better="lower",
    perfect=0.0,
)


@pytest.mark.filterwarnings("ignore:.*(NaN|non-finite):UserWarning")
@pytest.mark.parametrize("zero_division", [0, 1])
@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize("measure", ["precision", "f1", MISS], ids=["precision", "f1", "lower is better"])
def test_a_search_picks_neither_never_nor_always(measure, corrected, zero_division):
    """What is undefined because of a candidate is its worst; a fold without events costs all of them alike."""
    early = np.where(np.arange(400) < 300, Y, 0)  # the last fold has no events
    scorer = nf.make_scorer(measure, chance_corrected=corrected, zero_division=zero_division, n_resamples=20)
    for candidates in ([99, 3, 1, -99], [-99, 1, 3, 99]):
        search = GridSearchCV(Threshold(), {"c": candidates}, cv=CV, scoring=scorer).fit(X, early)
        assert search.best_params_["c"] in (1, 3)


def test_undefined_because_of_the_estimator_is_the_worst():
    """Precision without alarms; recall of an alarm on every step, corrected for chance; NaN where lower is better."""
    never, always = Fixed(Y, 0 * Y), Fixed(Y, 0 * Y + 1)
    for zero_division in (0, 1, np.nan):
        assert nf.make_scorer("precision", zero_division=zero_division)(never, X, Y) == 0
        corrected = nf.make_scorer("recall", chance_corrected=True, zero_division=zero_division)
        assert corrected(always, X, Y) == 0
        assert corrected(Fixed(Y, np.arange(400) != np.argmin(Y)), X, Y) == 0  # all steps but one
        with pytest.warns(UserWarning, match="NaN: miss is undefined for this estimator"):
            assert np.isnan(nf.make_scorer(MISS, zero_division=zero_division)(never, X, Y))


def test_make_scorer_does_not_need_scikit_learn(monkeypatch):
    """Any object with its methods will do."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "sklearn"]:
        monkeypatch.setitem(sys.modules, name, None)
    assert nf.make_scorer("f1", budget=Y.mean(), higher_is="anomalous")(Fixed(Y), X, Y) == 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"measure": "vus-pr", "tolerance": 3}, 'tolerance=3 is for measure="precision", "recall" or "f1"'),
        ({"measure": "nonsense"}, "measure='nonsense' must be one of .*'f1'"),
        ({"measure": "accuracy", "tolerance": 3}, "measure='accuracy' must be one of .*'precision', 'recall'"),
        (
            {"measure": len, "chance_corrected": True},
            "needs the perfect value of measure='len', which is unknown: pass",
        ),
        ({"quantile": 0.9, "budget": 0.1}, "pass one of threshold, quantile and budget, got quantile and budget"),
        ({"budget": 2}, "budget=2 must be a share"),
        ({"higher_is": "up"}, "higher_is='up' must be one of 'auto', 'anomalous', 'normal'"),
        ({"response_method": "guess"}, "response_method='guess' must be one of"),
        ({"zero_division": 3}, "zero_division=3 must be 0, 1 or nan"),
        ({"count_events": "days"}, "count_events='days' must be one of"),
    ],
)
def test_what_is_wrong_is_said_when_the_scorer_is_made(given, words):
    """Not once for each fold, where scikit-learn makes NaN of it."""
    with pytest.raises(nf.InputError, match=words):
        nf.make_scorer(**given)


def test_what_is_wrong_with_an_estimator_or_y_names_a_remedy():
    """Labels of three kinds, numbers that are no alarms, a detector that cannot predict."""
    scorer = nf.make_scorer("f1")
    with pytest.raises(nf.InputError, match=r"y must hold 0 and 1, or -1 .*: pass such labels, or pos_label="):
        scorer(Fixed(Y, Y), X, np.arange(400) % 3)
    with pytest.raises(nf.InputError, match="predicts no alarms: pass threshold=, quantile= or budget="):
        scorer(LinearRegression().fit(X, Y), X, Y)
    with pytest.raises(nf.InputError, match="predicts no alarms"):
        scorer(GaussianMixture(2, random_state=0).fit(X), X, Y)
    with pytest.raises(nf.InputError, match="has no method predict: LocalOutlierFactor needs novelty=True"):
        scorer(LocalOutlierFactor().fit(X), X, Y)
    with pytest.raises(nf.InputError, match="tolerance='2h' is a length of time: pass y or X of pandas with an index"):
        nf.make_scorer("f1", tolerance="2h")(Fixed(Y, Y), X, Y)


def test_measures_are_spelt_in_any_case():
    """With a tolerance as without."""
    late = Fixed(Y, np.roll(Y, 1))
    assert nf.make_scorer("F1", tolerance=1)(late, X, Y) == nf.make_scorer("f1", tolerance=1)(late, X, Y) == 1
