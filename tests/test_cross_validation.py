"""nf.cross_val_evaluate: alarms of all folds in order of time, judged once."""

import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from scipy.signal import lfilter
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.cluster import KMeans
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, ShuffleSplit, TimeSeriesSplit, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM
from sklearn.tree import DecisionTreeClassifier

import nofluke as nf
from nofluke.adapters.cross_validation import Part, share_seen
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


class Column(OutlierMixin, BaseEstimator):
    """Scores are the first column of X, low for outliers as scikit-learn has it."""

    def fit(self, *_):
        return self

    def decision_function(self, X):
        return -X[:, 0]


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
    """Steps that nobody tests, training on the future."""
    how = {"budget": "10%", "tolerance": 1}
    ahead = nf.cross_val_evaluate(GaussianNB(), X, Y, cv=TimeSeriesSplit(4), **how)
    assert ahead.notes == ("72 of 360 steps are in no test fold, and are not judged.",)
    (note,) = nf.cross_val_evaluate(GaussianNB(), X, Y, cv=KFold(4), **how).notes
    assert note.startswith("In 3 of 4 folds there is training on steps after the first test step")


def ranges(n, rng):
    """Labels in runs of 10 to 40 steps."""
    y, at = np.zeros(n, dtype=int), 0
    while at < n:
        at += int(rng.exponential(100))
        y[at : (at := at + int(rng.integers(10, 41)))] = 1
    return y


def slow(n, rng):
    """Two features that change slowly and know nothing: AR(1) with a coefficient of .995."""
    return lfilter([1], [1, -0.995], rng.normal(size=(n + 500, 2)), axis=0)[500:]


KNEIGHBOURS = {"estimator": KNeighborsClassifier(1), "tolerance": 3, "n_resamples": 199, "rng": 0}


@pytest.mark.parametrize("null", ["auto", "circular-shift"])
def test_shuffled_splits_tell_nothing(null):
    """Nearest neighbours find ranges by features that know nothing: p is tiny, and the verdict says why it is void."""
    rng = np.random.default_rng(2)
    y, x = ranges(1500, rng), slow(1500, rng)
    shuffled = KFold(5, shuffle=True, random_state=0)
    result = nf.cross_val_evaluate(X=x, y=y, cv=shuffled, null=null, **KNEIGHBOURS)
    assert result.recall_test.pvalue < 0.01
    assert result.verdict == result.pooled.verdict == "cannot tell"
    assert result.reason.startswith(
        "In 5 of 5 folds, steps right next to test steps were trained on (a shuffled split)"
    )
    assert "pass cv=TimeSeriesSplit(...), with gap=" in result.reason
    assert result.reason in str(result)
    ahead = nf.cross_val_evaluate(X=x, y=y, cv=TimeSeriesSplit(5), null=null, **KNEIGHBOURS)
    assert ahead.verdict == "no"


def test_detectors_that_use_no_labels_cannot_give_them_away():
    """scikit-learn's outlier detectors, also behind a scaler; not behind a choice of features by their labels."""
    rng = np.random.default_rng(2)
    y, x = ranges(600, rng), slow(600, rng)
    shuffled = KFold(5, shuffle=True, random_state=0)
    for detector in (OneClassSVM(), make_pipeline(StandardScaler(), OneClassSVM())):
        assert nf.cross_val_evaluate(detector, x, y, cv=shuffled, null="circular-shift").verdict == "no"
    chosen = make_pipeline(SelectKBest(k=1), OneClassSVM())
    assert nf.cross_val_evaluate(chosen, x, y, cv=shuffled, null="circular-shift").verdict == "cannot tell"


def test_short_folds_next_to_training_tell_nothing():
    """Runs of labels reach from training into test folds of 10 steps; a gap keeps them apart."""
    rng = np.random.default_rng(4)
    y, x = ranges(1500, rng), slow(1500, rng)
    short = nf.cross_val_evaluate(X=x, y=y, cv=TimeSeriesSplit(60, test_size=10), **KNEIGHBOURS)
    assert short.verdict == "cannot tell"
    assert "the training part of the fold holds the same run of labels" in short.reason
    apart = nf.cross_val_evaluate(X=x, y=y, cv=TimeSeriesSplit(60, test_size=10, gap=80), **KNEIGHBOURS)
    assert apart.verdict == "no"
    assert not any("gap=" in note for note in apart.notes)


def test_what_training_has_seen_is_counted_step_by_step():
    """Test steps within the tolerance of a run that has a labelled training step, by going through all of them."""
    rng = np.random.default_rng(8)
    for tolerance in (nf.Tolerance(early=2, late=2), nf.Tolerance(early=5, late=-2), nf.Tolerance(early=-2, late=5)):
        y = np.repeat(rng.random(60) < 0.3, rng.integers(1, 5, 60))
        n = len(y)
        cv = [(train, test) for train, test in TimeSeriesSplit(6).split(y)]
        cv.append((np.arange(9, n), np.arange(9)))
        hits = seen = 0
        run_of = np.cumsum(np.diff(y, prepend=0) == 1)
        for train, test in cv:
            for t in test:
                zones = set()
                for run in set(run_of[y]):
                    steps = [e for e in np.flatnonzero(y) if run_of[e] == run]
                    first = min(min(e, e - tolerance.early) for e in steps)
                    last = max(max(e, e + tolerance.late) for e in steps)
                    zones |= {run} if first <= t <= last else set()
                hits += bool(zones)
                seen += any(y[s] and run_of[s] in zones for s in train)
        parts = [Part(train=train, test=test, alarms=y[test]) for train, test in cv]
        assert share_seen(parts, y, tolerance, None) == seen / hits > 0


def test_few_runs_across_borders_get_a_note():
    """A verdict stands, and the note asks for a gap."""
    y = np.zeros(600, dtype=int)
    y[[150, 151, 250, 251, 252, 320, 321, 322, 420, 421, 422, 430, 431, 520, 521, 522]] = 1
    result = nf.cross_val_evaluate(Copy(), y[:, None], y, cv=5)
    assert result.verdict == "yes"
    assert not any("gap=" in note for note in result.notes)
    y[[299, 300, 301]] = 1
    (_, note) = nf.cross_val_evaluate(Copy(), y[:, None], y, cv=5).notes
    assert note.startswith("For 11% of the test steps on which an alarm is a hit, the training part")
    assert "gap=" in note


def test_classifiers_without_events_in_training_are_left_out_alike():
    """Whether they would raise or never alarm; a detector that learns without labels stays."""
    y = np.isin(np.arange(360), [100, 130, 200, 250, 300, 350]).astype(int)
    for learner in (LogisticRegression(), GaussianNB(), DecisionTreeClassifier()):
        result = nf.cross_val_evaluate(learner, X, y, cv=5)
        assert result.folds[0].failed == "its training part has no events."
        assert "Fold 1 was left out: its training part has no events." in result.notes
        assert result.pooled.n == 240
    assert nf.cross_val_evaluate(OneClassSVM(), X, y, cv=5).pooled.n == 300


def test_ties_within_folds_are_told():
    """Scores that are all equal, and a quantile that ties overrun."""
    x = np.r_[RNG.normal(size=120), np.zeros(60), np.arange(180) // 40]
    result = nf.cross_val_evaluate(Column(), x[:, None], Y, cv=5, quantile=0.9)
    assert "Fold 2: All scores are equal: no threshold can separate the steps. There are ties in 3 other" in str(result)
    assert "Ties make" in result.folds[2].ties[0]
    assert "alarms by quantile 0.9 in each fold, ties aside;" in str(result)


def test_a_fold_without_alarms_has_the_f1_of_a_scorer():
    """0, since there are no hits; undefined only without events."""
    y = np.isin(np.arange(60), [4, 25, 45, 48]).astype(int)
    result = nf.cross_val_evaluate(Copy(), alarming(45), y, cv=5)
    scorer = nf.make_scorer("f1", zero_division=np.nan)
    with pytest.warns(UserWarning, match="no events"):
        expected = cross_val_score(Copy(), alarming(45), y, cv=TimeSeriesSplit(5), scoring=scorer)
    np.testing.assert_array_equal([fold.f1 for fold in result.folds], expected)
    assert nf.cross_val_evaluate(Copy(), alarming(), y, cv=5).f1 == 0


def test_the_number_of_jobs_does_not_matter():
    """As in scikit-learn: folds at the same time, in their order; errors come through."""
    with parallel_config(backend="threading"):
        results = [nf.cross_val_evaluate(GaussianNB(), X, Y, cv=4, tolerance=1, rng=0, n_jobs=k) for k in (None, 2)]
        assert results[0].to_dict() == results[1].to_dict()
        with pytest.raises(nf.InputError, match="predicts the numbers of clusters"):
            nf.cross_val_evaluate(KMeans(2), X, Y, n_jobs=2)


def test_folds_without_events_and_folds_that_fail_are_told():
    """Neither ends the evaluation: a mean over folds would be NaN."""
    y = np.isin(np.arange(60), [4, 25, 45, 48]).astype(int)
    result = nf.cross_val_evaluate(Copy(least=2), alarming(4, 25, 45, 48), y, cv=5)
    assert result.notes == (
        "10 of 60 steps are in no test fold, and are not judged.",
        "2 of 3 folds have no events.",
        "2 of 3 folds have no alarms.",
        "Fold 1 was left out: RuntimeError: too few events",
        "Fold 2 was left out: RuntimeError: too few events",
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
        ({"estimator": Copy(least=99)}, r"judged in none of 5 folds \(fold 1: RuntimeError: too few events\)"),
        ({"pos_label": 2}, "pos_label=2 is no label of y, which has 0, 1: pass one"),
        ({"y": np.where(Y, 1, -1)}, "y holds -1 and 1, and for a classifier either may be the event: pass pos_label=1"),
        (
            {"estimator": KMeans(2)},
            r"KMeans\(.*\) predicts the numbers of clusters, which are no alarms: pass an outlier",
        ),
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
