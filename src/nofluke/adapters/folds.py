"""Fit an estimator on the training part of each fold, and read its alarms on the test part."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nofluke.adapters.responses import Reader, is_classifier
from nofluke.arrays import AnyArray, BoolArray, IntArray
from nofluke.errors import InputError, shortened
from nofluke.metrics.labelled import Labelled, read_labelled
from nofluke.plain import as_whole, whole_or_none
from nofluke.text.tables import ALL_EQUAL

FOLDS = 5  # as in scikit-learn
MOST_OF_REASON = 200  # characters of another library's error
UNTAUGHT = "its training part has no events."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """A fold: the steps that it trains and tests on, and the alarms on the latter; or why there are none.

    ``ties`` says what equal scores do to the threshold.
    """

    train: IntArray = field(repr=False)
    test: IntArray = field(repr=False)
    alarms: BoolArray = field(repr=False)
    failed: str = ""
    ties: tuple[str, ...] = ()


def splits_of(cv: Any, X: Any, y: Any, groups: Any, n: int) -> list[tuple[IntArray, IntArray]]:
    """Steps to train on and to test on; a number is that of the folds of `TimeSeriesSplit`."""
    from sklearn.model_selection import TimeSeriesSplit

    if cv is None or whole_or_none(cv) is not None:
        cv = TimeSeriesSplit(n_splits=FOLDS if cv is None else as_whole(cv, "cv", 2))
    try:
        found = cv.split(X, y, groups) if hasattr(cv, "split") else cv
        # each fold tests a step of its own: beyond n there is one that tests a step again
        pairs = [(_steps(train, n), _steps(test, n)) for train, test in itertools.islice(found, n + 1)]
    except Exception as error:  # whatever a splitter raises
        raise InputError(
            argument="cv",
            value=cv,
            problem=f"does not split {n:,} steps ({error})",
            remedy="pass a number of folds, a splitter or pairs of positions",
        ) from None
    if not pairs or not all(len(test) for _, test in pairs):
        what = "a fold without test steps" if pairs else "no fold"
        raise InputError(
            argument="cv",
            value=cv,
            problem=f"has {what}",
            remedy="pass a number of folds, a splitter or pairs of positions",
        )
    twice = np.bincount(np.concatenate([test for _, test in pairs]), minlength=n) > 1
    if twice.any():
        raise InputError(
            argument="cv",
            value=cv,
            problem=f"tests {int(twice.sum()):,} step(s) more than once, first {int(np.argmax(twice))}",
            remedy="pass one that tests each step at most once, such as TimeSeriesSplit",
        )
    return pairs


def _steps(chosen: Any, n: int) -> IntArray:
    steps = np.asarray(chosen)
    if steps.dtype.kind == "b":
        if len(steps) != n:
            raise ValueError(f"a mask has {len(steps):,} steps")
        return np.flatnonzero(steps)
    if steps.size and (steps.dtype.kind not in "iu" or steps.min() < 0 or steps.max() >= n):
        raise ValueError("steps must be whole numbers from 0 on")
    return np.sort(steps.astype(np.int64).ravel())


def fitted_parts(
    estimator: Any,
    X: Any,
    labels: AnyArray,
    splits: list[tuple[IntArray, IntArray]],
    reader: Reader,
    positive: Any,
    n_jobs: Any = None,
) -> list[Part]:
    """Each fold with its alarms. If an estimator fails, its fold alone is lost, as with scikit-learn's error score."""
    from sklearn.utils.parallel import Parallel, delayed

    if n_jobs is not None:
        wanted = whole_or_none(n_jobs)
        if not wanted:
            raise InputError(
                argument="n_jobs",
                value=n_jobs,
                problem="must be a whole number other than 0, such as 2, or -1 for all cores",
            )
        n_jobs = min(wanted, len(splits))
    given = (reader, estimator, X, labels, positive)
    try:
        return list(Parallel(n_jobs=n_jobs)(delayed(_fitted)(*given, train, test) for train, test in splits))
    except InputError:
        raise
    except Exception as error:  # an estimator that cannot be pickled
        why = shortened(" ".join(f"{type(error).__name__}: {error}".split()), MOST_OF_REASON)
        raise InputError(
            argument="n_jobs",
            value=n_jobs,
            problem=f"cannot be used, since other processes cannot fit this estimator ({why})",
            remedy="leave n_jobs out",
        ) from None


def _fitted(
    reader: Reader, estimator: Any, X: Any, labels: AnyArray, positive: Any, train: IntArray, test: IntArray
) -> Part:
    from sklearn.base import clone
    from sklearn.utils import _safe_indexing

    def lost(why: str) -> Part:
        return Part(train=train, test=test, alarms=np.zeros(len(test), dtype=np.bool_), failed=why)

    if is_classifier(estimator) and not (labels[train] == positive).any():
        return lost(UNTAUGHT)  # some classifiers raise, others never alarm: all are treated alike
    ties: tuple[str, ...] = ()
    try:
        fitted = clone(estimator).fit(_safe_indexing(X, train), labels[train])
        answer = reader.read(fitted, _safe_indexing(X, test), labels, positive, as_scores=bool(reader.cut))
        alarms = answer.alarms
        if answer.scores is not None:
            read = read_labelled(labels[test] == positive, answer.scores, higher_is=answer.higher_is, **reader.cut)
            alarms, ties = read.alarms, _ties(read)
        if alarms is None or len(alarms) != len(test):
            raise InputError(
                argument="estimator", value=estimator, problem=f"did not answer for each of {len(test):,} steps"
            )
    except InputError:  # of the arguments, and so of all folds
        raise
    except Exception as error:  # whatever an estimator raises
        return lost(shortened(" ".join(f"{type(error).__name__}: {error}".split()), MOST_OF_REASON))
    return Part(train=train, test=test, alarms=alarms, ties=ties)


def _ties(read: Labelled) -> tuple[str, ...]:
    """What ties do to the threshold of a fold, as `nofluke.evaluate` says it."""
    scores = read.scores
    if scores is not None and len(scores) > 1 and scores.min() == scores.max():
        return (ALL_EQUAL,)
    return () if read.cuts is None else read.cuts.notes
