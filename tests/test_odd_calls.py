"""Whatever is passed to whatever is public: a result or an InputError of one line, and the process lives on."""

import inspect
import itertools
import json
import random

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.naive_bayes import GaussianNB

import nofluke as nf
from exported import GOOD, TRUTH, results
from fuzzing import LONG, NoAnswer, NoArray, NoItems, NoWords, holds_itself, objects, stops_halfway
from odd_calls import DRAWS, LISTS, MODULES, NOT_CALLED, SERIES, callables, make, watched

SHORT = 3  # calls of each of some two hundred


def test_everything_public_is_called():
    """Whoever adds a name makes it callable here, or says why it is not."""
    public = {prefix + name: getattr(module, name) for prefix, module in MODULES.items() for name in module.__all__}
    taking = {name for name, thing in public.items() if callable(thing) and name not in NOT_CALLED}
    assert {name for name in taking if inspect.signature(public[name]).parameters} <= callables().keys()


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored", "ignore:The score is NaN")
def test_odd_arguments_are_answered_or_refused_in_one_line(tmp_path, monkeypatch):
    """A few calls of every public function and method, the same in every run."""
    monkeypatch.chdir(tmp_path)  # some of them write files
    monkeypatch.setenv("NOFLUKE_DATA", str(tmp_path))
    monkeypatch.setitem(mpl.rcParams, "figure.max_open_warning", 0)
    for name in callables():
        for seed in range(SHORT):
            try:
                make(name, seed)
            except Exception as error:
                error.add_note(f"again: python tests/odd_calls.py 1 {name} --first {seed}")
                raise


@pytest.mark.fuzz_long
def test_many_odd_calls_are_answered_or_refused_in_one_line():
    """20,000 new calls of each in processes of their own: none ends, takes 20 s, or fills the memory."""
    first = random.SystemRandom().randrange(10**9)
    assert list(watched(list(callables()), first, LONG)) == []


# What fell, each once: what was passed, and what is said now

FRAME = pd.DataFrame({"a": [0, 1]})
MATRIX = np.array([[1, 2]]).view(np.matrix)
ENDLESS = np.broadcast_to(np.float64(1), 10**12)
METRIC = {"metric": "f1", "truth": TRUTH, "scores": GOOD, "threshold": 5, **DRAWS}
FOLDS = {"estimator": GaussianNB(), "X": GOOD[:, None], "y": TRUTH, "cv": 2, **DRAWS}
EVALUATE, COINCIDENCE = SERIES | DRAWS, LISTS | DRAWS | {"tolerance": 2}
WINDOWS = LISTS | DRAWS | {"tolerances": [1, 2]}
FELL = {
    "a matrix as a seed": (nf.evaluate, EVALUATE | {"rng": MATRIX}, r"rng=matrix.* must be a whole number of 0 or more"),
    "a list in itself as a seed": (nf.evaluate, EVALUATE | {"rng": holds_itself()}, r"rng=\[1, \[1, .* must be a whole"),
    "nested seeds": (nf.evaluate, EVALUATE | {"rng": [[1, 2], [3]]}, r"rng=\[\[1, 2\], \[3\]\] must be a whole"),
    "endless seeds": (nf.evaluate, EVALUATE | {"rng": np.broadcast_to(1, 10**12)}, "rng=.* must be a whole number"),
    "a seed for a comparison": (nf.compare, {"truth": TRUTH, "scores": {"a": GOOD, "b": TRUTH}, "threshold": 5, "rng": MATRIX}, "rng="),
    "endless scores": (nf.evaluate, EVALUATE | {"scores": range(10**12)}, "scores has more than 2,147,483,647 values"),
    "pairs without end": (nf.evaluate, EVALUATE | {"truth": np.broadcast_to(1, (10**12, 2))}, "truth has more than"),
    "what is no array": (nf.evaluate, EVALUATE | {"scores": NoArray()}, "scores must be one column of values, got a NoArray"),
    "objects that are no numbers": (nf.evaluate, EVALUATE | {"scores": objects(NoAnswer())}, "scores must hold numbers, "),
    "an endless refractory time": (nf.evaluate, EVALUATE | {"refractory": np.inf}, "refractory=inf must be a whole number"),
    "a clock of one number": (nf.chance, {"metric": "auc-roc", "truth": TRUTH, "times": 1}, "times must be one column"),
    "a frame as a kind": (nf.chance, {"metric": "auc-roc", "truth": TRUTH, "truth_as": FRAME}, "truth_as=.* must be one of"),
    "labels that do not count": (nf.chance, {"metric": "auc-roc", "truth": NoArray()}, "truth must be one column"),
    "too many steps": (nf.chance, {"metric": "auc-roc", "truth": [1], "n_steps": 10**12}, "n_steps=.* and at most"),
    "what has no words": (nf.report, SERIES | {"path": "x.html", "title": NoWords()}, "title=a NoWords must be text"),
    "an array as a flag": (nf.make_scorer, {"chance_corrected": np.array([1, 2])}, r"chance_corrected=.* must be True or False"),
    "a word as a flag": (nf.make_scorer, {"chance_corrected": "no"}, "chance_corrected='no' must be True or False"),
    "no lag": (nf.sweep_tolerances, WINDOWS | {"lags": np.array(None)}, "lag=None must be"),
    "lags that stop": (nf.sweep_tolerances, WINDOWS | {"lags": stops_halfway()}, "lags=.* cannot be read .stopped halfway.: pass a list"),
    "lags without end": (nf.sweep_tolerances, WINDOWS | {"lags": itertools.count()}, "lags has more than 10,000 values"),
    "too many lags": (nf.sweep_tolerances, WINDOWS | {"lags": range(100_000)}, "lags has more than 10,000 values: pass fewer of them, further"),
    "a seed beside too many lags": (nf.sweep_tolerances, WINDOWS | {"lags": range(100_000), "rng": -1}, "rng=-1 must be"),
    "too many windows": (nf.sweep_tolerances, WINDOWS | {"lags": range(5_001)}, "2 tolerances at 5,001 lags are 10,002 windows, and 10,000 are the most"),
    "tolerances without end": (nf.sweep, {"truth": TRUTH, "scores": GOOD, "tolerances": itertools.count()}, "tolerances has more than 10,000"),
    "gaps of one end": (nf.coincidence, COINCIDENCE | {"gaps": [(0, 1), [2]]}, "gaps=.* must be .start, end. pairs"),
    "a span without end": (nf.coincidence, COINCIDENCE | {"span": range(10**12)}, "span=range.* must be two times"),
    "a span without items": (nf.coincidence, COINCIDENCE | {"span": NoItems()}, "span=.* must be two times"),
    "a tick beyond 64 bits": (nf.coincidence, COINCIDENCE | {"tick": 2**63}, "tick=.* is longer than any span"),
    "a long tick of dates": (nf.coincidence, {"events": ["2020-01-01"], "alarms": ["2020-02-01"], "tolerance": "1d", "tick": "300000000d"}, "tick=300000000d is longer"),
    "groups that are not read": (nf.significance, METRIC | {"groups": pl.LazyFrame({"a": [1]})}, r"groups has shape \(\)"),
    "groups of unequal length": (nf.significance, METRIC | {"groups": [[1], [1, 2]]}, "groups=.* must be one column"),
    "groups that are missing": (nf.significance, METRIC | {"groups": [pd.NA] * len(TRUTH)}, "groups has missing entries"),
    "groups without a name": (nf.significance, METRIC | {"groups": objects(*([NoAnswer()] * len(TRUTH)))}, "groups=.* must hold numbers or text"),
    "features without rows": (nf.cross_val_evaluate, FOLDS | {"X": 5}, "X=5 has no rows"),
    "features of no dimension": (nf.cross_val_evaluate, FOLDS | {"X": np.array(5)}, "X=.* has no rows"),
    "labels of unequal length": (nf.cross_val_evaluate, FOLDS | {"y": [[0], [0, 1]]}, "y=.* must be one label for each step"),
    "folds without end": (nf.cross_val_evaluate, FOLDS | {"cv": itertools.repeat(([0], [1]))}, "cv=.* tests 1 step"),
    "jobs in words": (nf.cross_val_evaluate, FOLDS | {"n_jobs": "all"}, "n_jobs='all' must be a whole number other than 0"),
    "what other processes cannot have": (nf.cross_val_evaluate, FOLDS | {"estimator": (i for i in "a"), "n_jobs": 2}, "n_jobs=2 cannot be used, since other processes cannot fit"),
    "labels that are none": (nf.cross_val_evaluate, FOLDS | {"y": {"a": [0, 1]}, "pos_label": "a"}, "y must hold labels, numbers or text"),
    "a frame as a label": (nf.cross_val_evaluate, FOLDS | {"pos_label": FRAME}, "pos_label=.* must be one label of y"),
    "a missing label": (nf.cross_val_evaluate, FOLDS | {"pos_label": pd.NA}, "pos_label=<NA> is no label of y"),
    "two labels": (nf.make_scorer, {"pos_label": (1, 2)}, r"pos_label=\(1, 2\) must be one label of y"),
    "a split without end": (nf.split, {"series": range(10**12)}, "series has more than 2,147,483,647 values"),
    "a metric without a name": (nf.metrics.Function, {"function": len, "name": 1}, "name=1 must be text"),
    "a perfect word": (nf.metrics.Function, {"function": len, "perfect": "1"}, "perfect='1' must be a finite number"),
    "units in an array": (nf.metrics.Precision, {"unit": np.array(["steps", "ns"])}, "unit=.* must be one of"),
    "endless strata": (nf.nulls.Seasonal, {"strata": np.broadcast_to(1, 10**12)}, "strata has more than"),
    "a sum of nothing": (nf.Confusion.from_marginals, {"tp": "1", "predicted": 2, "actual": 3, "total": 9, "tolerance_in": "truth"}, "tp='1' must be a whole number"),
}  # fmt: skip


@pytest.mark.parametrize("name", FELL)
def test_what_fell_is_refused_in_words(name, tmp_path, monkeypatch):
    """Each of these ended the process or in a traceback, took all memory, or was taken for what it is not."""
    monkeypatch.chdir(tmp_path)
    function, arguments, words = FELL[name]
    with pytest.raises(nf.InputError, match=words):
        function(**arguments)


OF_RESULTS = {
    "a word for a test": ("sweep", lambda curve: curve.to_csv(familywise="x"), "familywise='x' must be the test of this sweep"),
    "a test of windows": ("windows", lambda curve: curve.to_latex(familywise=1), "familywise=1 must be the test of this sweep"),
    "another sweep's test": ("windows", lambda curve: curve.table(results()["familywise"]), "familywise=.* must be the test"),
    "a place of a cell": ("sweep", lambda curve: curve.matrices("a", 0), "tolerance='a' must be a whole number"),
    "a cell beyond the last": ("sweep", lambda curve: curve.matrices(0, 2), "threshold=2 must be .* at most 1"),
    "statistics of a number": ("evaluation", lambda one: one.to_dict(statistics=1), "statistic=1 must be one of"),
    "one Axes in words": ("significance", lambda one: one.plot(ax="here"), "ax='here' must be Axes of matplotlib"),
    "panels in words": ("evaluation", lambda one: one.plot(ax=["left", "right"]), "ax=.* must be 2 Axes of matplotlib, got a str"),
    "panels without end": ("evaluation", lambda one: one.plot(ax=ENDLESS), "ax=.* must be 2 Axes of matplotlib, got a ndarray"),
    "a frame as a flag": ("evaluation", lambda one: one.plot(compare_binomial=FRAME), "compare_binomial=.* must be True or False"),
    "no threshold of the sweep": ("sweep", lambda curve: nf.plot.tolerance(curve, threshold="2"), "threshold='2' must be one of"),
    "hits of a list": ("evaluation", lambda one: one.recall_test.law.tail([1]), r"hits=\[1\] must be a whole number"),
    "a tail in words": ("evaluation", lambda one: one.recall_test.law.tail(1, "both"), "side='both' must be one of"),
    "numbers that are none": ("evaluation", lambda one: one.recall_test.law.cdf(NoAnswer()), "k=.* must be a number"),
    "a path that refuses": ("evaluation", lambda one: one.to_json(NoAnswer()), "path must be a path, got NoAnswer"),
    "a place in an array": ("familywise", lambda one: one.in_words(np.array([1, 2])), "where=.* must be text"),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_RESULTS)
def test_what_fell_at_a_result_is_refused_in_words(name):
    """The same of what results can be asked."""
    kind, question, words = OF_RESULTS[name]
    with pytest.raises(nf.InputError, match=words):
        question(results()[kind])


CLOCKED = SERIES | DRAWS | {"times": np.arange(len(TRUTH))}
FARTHEST = nf.Tolerance(early=1e308, late=1e308, unit="clock")
ANSWERED = {
    "a level below all p-values": lambda: nf.compare(TRUTH, {"a": GOOD, "b": TRUTH}, threshold=5, alpha=5e-324),
    "a title that no encoding has": lambda: nf.report(**SERIES, path="x.html", title="\ud800"),
    "a tolerance of all steps": lambda: nf.report(**SERIES | {"tolerance": 1e308}, path="x.html"),
    "a tolerance beyond all floats": lambda: nf.evaluate(**CLOCKED | {"tolerance": FARTHEST}).interval(),
    "seeds of NumPy's": lambda: nf.report(**SERIES, path="x.html", rng=[np.array(0)]),
}


@pytest.mark.parametrize("name", ANSWERED)
def test_what_fell_and_is_no_mistake_is_answered(name, tmp_path, monkeypatch):
    """Large or small as they are, these can be computed."""
    monkeypatch.chdir(tmp_path)
    assert ANSWERED[name]() is not None


def test_seeds_are_taken_as_numpy_takes_them():
    """A number, a list of them, and every kind of generator: the same draws as from ``default_rng``."""
    for seed in (7, np.int64(7), [1, 2], (1, 2), np.array([1, 2]), np.random.SeedSequence(3)):
        found = nf.datasets.simulate_quakes(rng=seed, n_steps=99, n_events=9)
        same = nf.datasets.simulate_quakes(rng=np.random.default_rng(seed), n_steps=99, n_events=9)
        np.testing.assert_array_equal(found.counts, same.counts)
    for made in (np.random.default_rng, np.random.PCG64, np.random.RandomState):
        one, other = (nf.datasets.simulate_quakes(rng=made(5), n_steps=99, n_events=9) for _ in range(2))
        np.testing.assert_array_equal(one.counts, other.counts)


def test_a_cross_validation_with_a_number_of_numpy_is_json():
    """A threshold of any type is written as Python's own, an infinite one as none at all."""
    for value, told in ((np.uint64(1), 1), (np.array(0.5), 0.5), (np.inf, None)):
        found = nf.cross_val_evaluate(**FOLDS | {"threshold": value})
        assert json.loads(found.to_json(), parse_constant=pytest.fail)["cut"] == {"threshold": told}
