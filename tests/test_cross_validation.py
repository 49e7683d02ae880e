"""nf.cross_val_evaluate: alarms of all folds in order of time, judged once."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold, ShuffleSplit, TimeSeriesSplit, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import OneClassSVM
from sklearn.tree import DecisionTreeClassifier

import nofluke as nf
from oracles import paper_precision, paper_recall

RNG = np.random.default_rng(3)
Y = (RNG.random(360) < 0.08).astype(int)
X = RNG.normal(size=(360, 2)) + 1.5 * Y[:, None]


class Copy(BaseEstimator):
    """It predicts the first column of X, and fails where the training set has fewer events than asked for."""

    def __init__(self, least=0):
        self.least = least

    def fit(self, _, y):
        if y.sum() < self.least:
            raise RuntimeError("too few\nevents")
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0].astype(int)


class Column(BaseEstimator):
    """Scores are the first column of X."""

    def fit(self, *_):
        return self

    def decision_function(self, X):
        return X[:, 0]


def alarming(*steps, n=60):
    """X whose first column has an alarm on each of the steps."""
    return np.isin(np.arange(n), steps).astype(float)[:, None]


def test_it_judges_the_alarms_that_no_estimator_was_trained_on():
    """Folds fitted by hand, joined and evaluated: the same counts, by the paper's formulas, and the same p-values."""
    cv, alarms = TimeSeriesSplit(4), np.zeros(360, dtype=int)
    for train, test in cv.split(X):
        scores = clone(OneClassSVM()).fit(X[train]).decision_function(X[test])
        alarms[test] = scores <= np.sort(scores)[6]  # a tenth of 72 steps
    first = 360 - 4 * 72
    result = nf.cross_val_evaluate(OneClassSVM(), X, Y, cv=4, budget="10%", tolerance=2)
    e, y = Y[first:].tolist(), alarms[first:].tolist()
    assert (result.precision_test.hits, result.precision_test.of) == paper_precision(e, y, 2)
    assert (result.recall_test.hits, result.recall_test.of) == paper_recall(e, y, 2)
    alone = nf.evaluate(e, predictions=y, tolerance=2)
    assert result.precision_test.pvalue == alone.precision_test.pvalue
    assert (result.verdict, result.reason, result.f1) == (alone.verdict, alone.reason, alone.f1)


def test_folds_have_what_a_scorer_sees():
    """The F1 of each is that of cross_val_score."""
    result = nf.cross_val_evaluate(OneClassSVM(), X, Y, cv=4, budget="10%", tolerance=2)
    scorer = nf.make_scorer("f1", budget="10%", tolerance=2)
    expected = cross_val_score(OneClassSVM(), X, Y, cv=TimeSeriesSplit(4), scoring=scorer)
    assert [fold.f1 for fold in result.folds] == pytest.approx(expected.tolist())
    assert [(fold.n_train, fold.n_test) for fold in result.folds] == [(72 * (k + 1), 72) for k in range(4)]


def test_windows_reach_across_the_borders_of_folds():
    """An alarm just after a border hits an event just before it; the folds by themselves do not know."""
    y = np.isin(np.arange(60), [19, 50]).astype(int)
    result = nf.cross_val_evaluate(Copy(), alarming(20, 50), y, cv=5, tolerance=1)
    assert result.recall_test.hits == 2
    assert sum(fold.recall_hits for fold in result.folds) == 1


def test_steps_that_are_not_tested_still_take_up_time():
    """An alarm and an event next to each other in the list of test steps are eleven steps apart, also in one fold."""
    y = np.isin(np.arange(60), [29, 55]).astype(int)
    two = [(np.arange(10), np.arange(20, 30)), (np.arange(10), np.arange(40, 60))]
    one = [(np.arange(10), np.r_[20:30, 40:60])]
    for cv in (two, one):
        result = nf.cross_val_evaluate(Copy(), alarming(40, 55), y, cv=cv, tolerance=9)
        assert (result.recall_test.hits, result.precision_test.hits, result.pooled.n) == (1, 1, 30)
        assert nf.cross_val_evaluate(Copy(), alarming(40, 55), y, cv=cv, tolerance=11).recall_test.hits == 2


def test_splits_come_in_many_forms():
    """A number, a splitter, pairs of positions or of masks: TimeSeriesSplit by default."""
    pairs = list(TimeSeriesSplit(5).split(X))
    masks = [tuple(np.isin(np.arange(360), part) for part in pair) for pair in pairs]
    found = [
        nf.cross_val_evaluate(GaussianNB(), X, Y, cv=cv, tolerance=1)
        for cv in (None, 5, TimeSeriesSplit(5), pairs, masks)
    ]
    assert len({(one.recall_test.pvalue, one.precision_test.pvalue, one.folds) for one in found}) == 1


def test_containers_labels_and_clocks_do_not_matter():
    """pandas, polars, -1 for events, dates in y's index, in X's or apart."""
    times = pd.date_range("2024-01-01", periods=360, freq="h")
    frame = pd.DataFrame(X, index=times, columns=["a", "b"])
    how = {"cv": 4, "budget": "10%"}
    expected = nf.cross_val_evaluate(OneClassSVM(), X, Y, tolerance=2, **how)
    for x, y, more in (
        (frame, Y, {}),
        (X, pd.Series(Y, index=times), {}),
        (X, np.where(Y, -1, 1), {"times": times}),
        (pl.DataFrame({"a": X[:, 0], "b": X[:, 1]}), pl.Series(Y), {"times": times}),
    ):
        found = nf.cross_val_evaluate(OneClassSVM(), x, y, tolerance="2h", **more, **how)
        assert found.folds == expected.folds
        assert found.recall_test.hits == expected.recall_test.hits


def test_notes_say_what_a_split_does_to_time():
    """Steps that nobody tests, training on the future, training between test steps."""
    how = {"budget": "10%", "tolerance": 1}
    ahead = nf.cross_val_evaluate(GaussianNB(), X, Y, cv=TimeSeriesSplit(4), **how)
    assert ahead.notes == ("72 of 360 steps are in no test fold, and are not judged.",)
    (note,) = nf.cross_val_evaluate(GaussianNB(), X, Y, cv=KFold(4), **how).notes
    assert note.startswith("In 3 of 4 folds there is training on steps after the test fold")
    (note,) = nf.cross_val_evaluate(GaussianNB(), X, Y, cv=KFold(4, shuffle=True, random_state=0), **how).notes
    assert note.startswith("In 4 of 4 folds there are training steps between test steps (a shuffled split)")


def test_folds_without_events_and_folds_that_fail_are_told():
    """Neither ends the evaluation: a mean over folds would be NaN."""
    y = np.isin(np.arange(60), [4, 25, 45, 48]).astype(int)
    result = nf.cross_val_evaluate(Copy(least=2), alarming(4, 25, 45, 48), y, cv=5)
    assert result.notes == (
        "10 of 60 steps are in no test fold, and are not judged.",
        "2 of 3 folds have no events.",
        "2 of 3 folds have no alarms.",
        "Fold 1 was left out, since the estimator failed with RuntimeError: too few events",
        "Fold 2 was left out, since the estimator failed with RuntimeError: too few events",
    )
    assert (result.pooled.n, result.recall_test.hits, result.recall_test.of) == (30, 2, 2)


def test_skill_is_found_where_no_fold_shows_it():
    """Five folds with few events: none is significant by itself, all of them together are."""
    rng = np.random.default_rng(20)
    y = (rng.random(1200) < 0.02).astype(int)
    x = rng.normal(size=(1200, 1)) + 1.2 * y[:, None]
    how = {"budget": "5%", "tolerance": 2}
    result = nf.cross_val_evaluate(Column(), x, y, **how)
    assert result.verdict == "yes"
    assert max(result.precision_test.pvalue, result.recall_test.pvalue) < 0.01
    for _, test in TimeSeriesSplit(5).split(x):
        alone = nf.evaluate(y[test], x[test, 0], **how)
        assert min(alone.precision_test.pvalue, alone.recall_test.pvalue) > 0.05


def test_the_result_is_told_in_every_form():
    """Text with all folds, plain values, CSV, a frame, and what Evaluation has."""
    result = nf.cross_val_evaluate(GaussianNB(), X, Y, cv=4, quantile=0.9, tolerance=1)
    text = str(result)
    assert text.startswith("GaussianNB(), 4 folds; alarms by quantile 0.9 in each fold; tolerance 1 step\n")
    assert [line.split()[0] for line in text.split("\n")[3:10]] == ["1", "2", "3", "4", "all", "chance", "p"]
    assert "<table>" in result._repr_html_()
    told = result.to_dict()
    assert told["pooled"]["recall"]["pvalue"] == result.recall_test.pvalue
    assert [fold["n_events"] for fold in told["folds"]] == [fold.n_events for fold in result.folds]
    frame = result.to_frame("pandas")
    assert frame["fold"].tolist() == ["1", "2", "3", "4", "all"]
    assert frame["n_events"].iloc[:4].sum() == frame["n_events"].iloc[4] == result.pooled.n_events
    assert len(result.to_csv().splitlines()) == 6
    assert repr(result).startswith("<CrossValidation of GaussianNB(), 4 folds: precision ")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"cv": ShuffleSplit(3, random_state=0)},
            r"tests \d+ step\(s\) more than once, first \d+: pass one that tests",
        ),
        ({"cv": 1}, "cv=1 must be a whole number of at least 2"),
        ({"cv": []}, "has no fold"),
        ({"cv": [([0], [])]}, "has a fold without test steps"),
        ({"X": X[:300]}, "X has 300 rows but y has 360 labels: pass one of each for every step"),
        ({"cv": "kfold"}, "cv='kfold' does not split 360 steps"),
        ({"cv": [([0], [400])]}, "does not split 360 steps"),
        ({"y": np.ones(360)}, "y is 1 on every step, which may mean an outlier or an inlier: pass pos_label=1"),
        ({"estimator": Copy(least=99)}, "estimator failed in all of 5 folds, first with RuntimeError: too few events"),
        ({"tolerance": -1}, "tolerance"),
        ({"threshold": 1, "budget": 0.1}, "got threshold and budget"),
    ],
)
def test_what_is_wrong_is_named(given, words):
    """In one line, with a remedy."""
    with pytest.raises(nf.InputError, match=words):
        nf.cross_val_evaluate(**{"estimator": GaussianNB(), "X": X, "y": Y, **given})


def test_without_scikit_learn_it_says_how_to_install_it(monkeypatch):
    """It is no dependency of nofluke."""
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(nf.InputError, match="cross_val_evaluate needs scikit-learn: pip install scikit-learn"):
        nf.cross_val_evaluate(Copy(), X, Y)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["alone", "season", "trend"])
def test_without_skill_verdicts_are_rarely_positive(kind):
    """Features that know only the season or the trend of the events: at most 5%, plus the scatter of 200 runs."""
    t, positive, small = np.arange(1000), 0, 0
    for run in range(200):
        rng = np.random.default_rng([16, run])
        shape = {"alone": 0 * t, "season": np.cos(2 * np.pi * t / 25), "trend": 2 * t / 1000 - 1}[kind]
        y = (rng.random(1000) < 0.04 * (1 + shape)).astype(int)
        x = rng.normal(size=(1000, 2)) + shape[:, None]
        learner = GaussianNB() if run % 2 else DecisionTreeClassifier(max_depth=5, random_state=0)
        how = {"budget": "5%"} if run % 2 else {"threshold": 0.2, "response_method": "predict_proba"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = nf.cross_val_evaluate(learner, x, y, tolerance=2, n_resamples=1_000, rng=run, **how)
        positive += result.verdict in ("yes", "partly")
        small += result.recall_test.pvalue <= 0.05 and result.verdict != "cannot tell"
    assert max(positive, small) <= 20  # a binomial of 200 and 5% exceeds it once in a thousand
