"""A detector cross-validated on a sequence, with one verdict over all folds; and its result."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np

from nofluke.adapters.responses import (
    Direction,
    Reader,
    ResponseMethod,
    clock_of,
    ignores_labels,
    is_classifier,
    labels_of,
)
from nofluke.arrays import AnyArray, BoolArray, IntArray
from nofluke.errors import InputError, arg, say, shortened, shown
from nofluke.inference.chance import ChanceTest, FTest
from nofluke.inference.evaluate import Evaluation, evaluate
from nofluke.inference.verdict import Verdict
from nofluke.metrics.labelled import Labelled, read_labelled
from nofluke.nulls import Null
from nofluke.plain import as_whole, finite_or_none, plain_number, whole_or_none
from nofluke.ratios import divide, f_of_shares
from nofluke.series.arguments import CUT, About, AboutFolds, takes, with_defaults
from nofluke.series.between import trial_of
from nofluke.series.clock import Clock
from nofluke.series.detector import AlarmRule
from nofluke.series.reading import prepare
from nofluke.series.tolerance import Length, Tolerance, as_tolerance
from nofluke.series.truth import CountEvents
from nofluke.text.exports import Exports
from nofluke.text.numbers import p_is, show_p
from nofluke.text.tables import ALL_EQUAL, SCHEMA, Table, noted, plural, show_share

# ---- fit an estimator on the training part of each fold, and read its alarms on the test part


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

    remedy = "pass a number of folds, a splitter or pairs of positions"
    if cv is None or whole_or_none(cv) is not None:
        cv = TimeSeriesSplit(n_splits=FOLDS if cv is None else as_whole(cv, "cv", 2))
    try:
        found = cv.split(X, y, groups) if hasattr(cv, "split") else cv
        # each fold tests a step of its own: beyond n there is one that tests a step again
        pairs = [(_steps(train, n), _steps(test, n)) for train, test in itertools.islice(found, n + 1)]
    except Exception as error:  # whatever a splitter raises
        problem = f"does not split {n:,} steps ({error})"
        raise InputError(argument="cv", value=cv, problem=problem, remedy=remedy) from None
    if not pairs or not all(len(test) for _, test in pairs):
        problem = "has a fold without test steps" if pairs else "has no fold"
        raise InputError(argument="cv", value=cv, problem=problem, remedy=remedy)
    twice = np.bincount(np.concatenate([test for _, test in pairs]), minlength=n) > 1
    if twice.any():
        problem = f"tests {int(twice.sum()):,} step(s) more than once, first {int(np.argmax(twice))}"
        remedy = "pass one that tests each step at most once, such as TimeSeriesSplit"
        raise InputError(argument="cv", value=cv, problem=problem, remedy=remedy)
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
    n_jobs: Any,
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
    given = (estimator, X, labels, reader, positive)
    try:
        return list(Parallel(n_jobs=n_jobs)(delayed(_fitted)(*given, *split) for split in splits))
    except InputError:
        raise
    except Exception as error:  # an estimator that cannot be pickled
        why = _reason(error)
        raise InputError(
            argument="n_jobs",
            value=n_jobs,
            problem=f"cannot be used, since other processes cannot fit this estimator ({why})",
            remedy="leave n_jobs out",
        ) from None


def _fitted(
    estimator: Any, X: Any, labels: AnyArray, reader: Reader, positive: Any, train: IntArray, test: IntArray
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
        return lost(_reason(error))
    return Part(train=train, test=test, alarms=alarms, ties=ties)


def _reason(error: Exception) -> str:
    return shortened(" ".join(f"{type(error).__name__}: {error}".split()), MOST_OF_REASON)


def _ties(read: Labelled) -> tuple[str, ...]:
    """What ties do to the threshold of a fold, as `nofluke.evaluate` says it."""
    scores = read.scores
    if scores is not None and len(scores) > 1 and scores.min() == scores.max():
        return (ALL_EQUAL,)
    return () if read.cuts is None else read.cuts.notes


# ---- what folds do to time: events that training has seen before the test, steps that no fold tests

MOST_SEEN = 0.3  # simulated detectors without skill: 6% of positive verdicts up to here, 12 to 33% from .5 on
FEW_SEEN = 0.05  # worth a note


def leak_of(
    parts: Sequence[Part], events: BoolArray, tolerance: Tolerance, clock: Clock | None
) -> tuple[str, tuple[str, ...]]:
    """Why nothing can be told, if training gives the answers away; and notes if it gives away a few.

    Alarms may then know the events without any skill, from the labels that their fold was trained on.
    Labels in runs and features that change slowly are enough: the label of a step gives away those of its neighbours.
    """
    shuffled = sum(map(_shuffled, parts))
    if shuffled:
        return (
            f"In {shuffled:,} of {len(parts):,} folds, steps right next to test steps were trained on (a shuffled "
            "split). Neighbours give the answer away where labels come in runs and features change slowly, so p-values "
            "may be too small: pass cv=TimeSeriesSplit(...), with gap= for a distance."
        ), ()
    share = share_seen(parts, events, tolerance, clock)
    seen = (
        f"For {share:.0%} of the test steps on which an alarm is a hit, the training part of the fold holds the same "
        "run of labels"
    )
    if share > MOST_SEEN:
        return (
            f"{seen}: test folds are short and border on training, so p-values may be too small. Pass "
            "cv=TimeSeriesSplit(...) with fewer folds or a gap=."
        ), ()
    return "", (f"{seen}: TimeSeriesSplit(..., gap=...) keeps a distance.",) if share > FEW_SEEN else ()


def remarks(parts: Sequence[Part], n: int, obstacle: str) -> tuple[str, ...]:
    """Steps that no fold tests, and training on the future."""
    said = []
    untested = n - sum(len(part.test) for part in parts)
    if untested:
        said.append(f"{untested:,} of {n:,} steps are in no test fold, and are not judged.")
    later = sum(len(part.train) > 0 and part.train[-1] > part.test[0] for part in parts)
    if later and not obstacle:
        said.append(
            f"In {later:,} of {len(parts):,} folds there is training on steps after the first test step, which no "
            "detector has in operation: pass cv=TimeSeriesSplit(...)."
        )
    return tuple(said)


def share_seen(parts: Sequence[Part], events: BoolArray, tolerance: Tolerance, clock: Clock | None) -> float:
    """Of the test steps on which an alarm is a hit, the share near an event whose run of labels the fold trained on."""
    n, at = len(events), np.flatnonzero(events)
    if not len(at):
        return 0.0
    first = np.flatnonzero(np.diff(at, prepend=-2) > 1)  # of each run
    windows = tolerance.prediction_ranges(n, clock)
    # a window off to one side reaches to its event
    begins = np.minimum.reduceat(np.minimum(windows.starts[at], at), first)
    ends = np.maximum.reduceat(np.maximum(windows.stops[at], at + 1), first)
    run_of = np.cumsum(events & ~np.concatenate([[False], events[:-1]])) - 1

    def covered(runs: IntArray) -> BoolArray:
        change = np.bincount(begins[runs], minlength=n + 1) - np.bincount(ends[runs], minlength=n + 1)
        return np.asarray(np.cumsum(change[:-1]) > 0)

    near = covered(np.arange(len(first)))
    hits = seen = 0
    for part in parts:
        known = np.unique(run_of[part.train[events[part.train]]])
        hits += int(near[part.test].sum())
        seen += int(covered(known)[part.test].sum())
    return seen / hits if hits else 0.0


def _shuffled(part: Part) -> bool:
    """Whether most test steps have a training step right next to them, and there is training between them."""
    first, last = part.test[[0, -1]]
    if not ((part.train > first) & (part.train < last)).any():
        return False
    return bool((np.isin(part.test - 1, part.train) | np.isin(part.test + 1, part.train)).mean() > 0.5)


# ---- a detector cross-validated on a sequence, with one verdict over all folds


@takes(AboutFolds, like="evaluate", own=("times", *CUT), after=("groups", "pos_label"))
def cross_val_evaluate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    groups: Any = None,
    higher_is: Direction = "auto",
    response_method: ResponseMethod = "auto",
    pos_label: Any = "auto",
    tolerance: Length | Tolerance = 0,
    null: Null = "auto",
    n_resamples: int = 10_000,
    rng: Any = None,
    alpha: float = 0.05,
    n_jobs: int | None = None,
    **about: Unpack[AboutFolds],
) -> CrossValidation:
    r"""Cross-validate a detector of scikit-learn on one sequence: precision and recall over all folds, against chance.

    .. math:: P = \frac{h}{a} \qquad R = \frac{f}{e}

    with h of a alarms near an event and f of e events near an alarm, on the test steps of all folds. Each fold's
    estimator is fitted on its training part and raises its alarms on its test part. Put together in order of time,
    these make one series of alarms that no estimator was trained on. That series is counted and evaluated once; there
    are no sums over folds. A mean over folds has no such p-value, and is undefined as soon as one fold has no events.

    Parameters
    ----------
    estimator : estimator
        Of scikit-learn, or with its interface, such as pyod's. It is cloned for each fold and fitted with X and y.
    X : array-like or data frame
        A row for each step, in order of time: of NumPy, pandas, polars, or sparse.
    y : array-like
        Labels of all steps, see ``pos_label``. The index of a pandas series of dates is the clock.
    cv : int, splitter or iterable of (train, test), optional
        A number n is ``TimeSeriesSplit(n)``, by default 5: training sets lie before test sets. Others may be used as
        long as no step is tested twice; the notes say where they train on the future. The verdict is "cannot tell"
        where they train on neighbours of the steps that they test, see Notes.
    groups : array-like, optional
        For splitters that ask for it.
    times : array-like, optional
        The clock, where neither y nor X has an index of dates.
    <about>
    tolerance, null, n_resamples, rng, alpha
        As in :func:`nofluke.evaluate`.
    threshold, quantile, budget, higher_is, response_method, pos_label
        As in :func:`nofluke.make_scorer`; a quantile or a budget is taken in each fold by itself.
    n_jobs : int, optional
        Folds that are fitted at the same time, as in scikit-learn: None is one, -1 as many as there are cores. The
        result does not depend on it.

    Returns
    -------
    CrossValidation
        ``pooled`` is the `Evaluation` over all folds, ``folds`` has the counts of each.

    Notes
    -----
    The null is chosen on all folds together. Folds are stretches of one series: events and alarms may share a season
    or a slow change which no single fold has enough events to show, and p-values of folds, each under its own null,
    would add it up. Without skill (``benchmarks/folds.py``: 1,500 steps, 45 events, 5 folds, 200 runs each), verdicts
    of "yes" or "partly" came out in 2.5 to 4.5% of runs with seasons, trends and bursts. With folds taken for
    independent series it was 18.5% in a season of 24 steps and 10% in one of 100.

    Windows of the tolerance reach across the borders of folds: an alarm just after a border may hit an event just
    before it. Counts of single folds stop at the borders, as a scorer's do, so they need not add up to those of all
    folds: hits across a border are missing, and a range cut by a border counts in both folds. Steps that are in no
    test fold, or in a fold that was left out, are not judged and still take up time.

    A fold whose training part has no events is left out for classifiers, and so is one whose estimator fails.

    The verdict is "cannot tell", and p-values are still shown, where training gives the answers away. Labels in runs
    and features that change slowly are enough: with features that know nothing of the events, nearest neighbours came
    out better than chance in 98% of runs with a shuffled split, and in 30% with test folds of 10 steps and labels in
    runs of 10 to 40 (``benchmarks/leaks.py``). There are two signs. The split is shuffled: in a fold, there are
    training steps between test steps and right next to most of them. Or runs of labels reach into the test: of the
    test steps within the tolerance of an event, more than 30% are near a run that the training part of their fold
    also holds. Above 5% a note asks for ``gap=``. Outlier detectors and densities of scikit-learn are exempt, also
    behind scalers and decompositions: they do not use labels.

    For an estimator that learns from y, alarms of a fold depend on the events of others. The null takes them as given.

    See Also
    --------
    nofluke.make_scorer : one number a fold, to choose between estimators.
    nofluke.evaluate : the same for alarms or scores that you have.
    nofluke.study : many detectors on many independent series.

    References
    ----------
    Scharwächter and Müller (2020), Statistical Evaluation of Anomaly Detectors for Sequences. Ojala and Garriga
    (2010), Permutation tests for studying classifier performance.

    Examples
    --------
    >>> import nofluke as nf, numpy as np
    >>> from sklearn.ensemble import IsolationForest
    >>> rng = np.random.default_rng(0)
    >>> y = (rng.random(1200) < 0.03).astype(int)
    >>> X = rng.normal(size=(1200, 1)) + 4 * y[:, None]
    >>> forest = IsolationForest(n_estimators=20, random_state=0)
    >>> result = nf.cross_val_evaluate(forest, X, y, cv=3, budget="3%", tolerance=2)
    >>> result.verdict, len(result.folds)
    ('yes', 3)
    """
    given = About.of(with_defaults(AboutFolds, about))
    times, count_events = (given.reading[name] for name in ("times", "count_events"))
    reader = Reader(higher_is=higher_is, response_method=response_method, pos_label=pos_label, **given.cut)
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise InputError(problem="cross_val_evaluate needs scikit-learn", remedy="pip install scikit-learn") from None
    labels = labels_of(y)
    positive = reader.positive(labels, estimator)
    if positive is None:
        raise InputError(
            argument="y",
            problem="is 1 on every step, which may mean an outlier or an inlier",
            remedy=say("pass {}, or {}", arg("pos_label", 1), arg("pos_label", -1)),
        )
    n, clock = len(labels), clock_of(y, X) if times is None else times
    n_rows = _rows(X)
    if n_rows != n:
        raise InputError(
            argument="X",
            problem=f"has {plural(n_rows, 'row')} but y has {plural(n, 'label')}",
            remedy="pass one of each for every step",
        )
    parts = fitted_parts(estimator, X, labels, splits_of(cv, X, y, groups, n), reader, positive, n_jobs)
    judged = [part for part in parts if not part.failed]
    if not judged:
        why = parts[0].failed.removesuffix(".")
        raise InputError(
            problem=f"estimator can be judged in none of {plural(len(parts), 'fold')} (fold 1: {why})",
            remedy=say("change it, or pass another {}", arg("cv")),
        )
    events, alarms = np.asarray(labels == positive), np.zeros(n, dtype=np.bool_)
    for part in judged:
        alarms[part.test] = part.alarms
    # the whole series is read for its clock, and since stretches of it would hide times of another length
    window, whole = as_tolerance(tolerance), prepare(events, predictions=alarms, times=clock)
    tested = np.concatenate([part.test for part in judged])
    pooled = evaluate(
        **_stretch(events, alarms, clock, tested, count_events),
        tolerance=tolerance,
        **given.alarms,
        null=null,
        n_resamples=n_resamples,
        rng=rng,
        alpha=alpha,
    )
    ignorant = ignores_labels(estimator)
    obstacle, seen = ("", ()) if ignorant else leak_of(judged, events, window, whole.clock)
    if obstacle:  # every null takes alarms without skill to know no event
        choice = replace(pooled.settings.choice, holds=False, why=obstacle)
        pooled = replace(pooled, settings=replace(pooled.settings, choice=choice))
    rule = AlarmRule.of(**given.alarms)
    folds = tuple(
        _fold(i + 1, part, _stretch(events, alarms, clock, part.test, count_events), window, rule)
        for i, part in enumerate(parts)
    )
    return CrossValidation(
        estimator=shown(estimator),
        cut={name: value if isinstance(value, str) else plain_number(value) for name, value in reader.cut.items()},
        pooled=pooled,
        folds=folds,
        notes=(*remarks(parts, n, obstacle), *seen, *of_folds(folds)),
    )


def _rows(X: Any) -> int:
    try:
        return int(X.shape[0]) if hasattr(X, "shape") else len(X)
    except Exception:  # an object of the user's raises what it likes
        raise InputError(
            argument="X", value=X, problem="has no rows", remedy="pass an array or a frame, with one row for each step"
        ) from None


def _stretch(
    events: BoolArray, alarms: BoolArray, clock: Any, tested: IntArray, count_events: CountEvents | None
) -> dict[str, Any]:
    """From the first to the last step that is tested; those between that are not are masked."""
    first, last = int(tested.min()), int(tested.max()) + 1
    mask = np.ones(last - first, dtype=np.bool_)
    mask[tested - first] = False
    return {
        "truth": events[first:last],
        "predictions": alarms[first:last] & ~mask,
        "times": None if clock is None else clock[first:last],
        "mask": mask if mask.any() else None,
        "count_events": count_events,
    }


def _fold(number: int, part: Part, stretch: dict[str, Any], tolerance: Tolerance, rule: AlarmRule) -> Fold:
    """The counts of a fold by itself: what lies beyond its borders is not there."""
    cell = trial_of(prepare(**stretch), (tolerance,), None, rule).trial.cell(0, 0)
    return Fold(
        number=number,
        n_train=len(part.train),
        n_test=len(part.test),
        n_events=cell.n_counted,
        n_predictions=cell.n_predictions,
        precision_hits=cell.precision_hits,
        recall_hits=cell.recall_hits,
        failed=part.failed,
        ties=part.ties,
    )


# ---- the result: counts of each fold, and all folds together against chance

COUNTS = ("n_train", "n_test", "n_events", "n_predictions", "precision_hits", "recall_hits")
MEASURES = ("precision", "recall", "f1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """One fold by itself: what a scorer would see of it.

    Attributes
    ----------
    number : int
        From 1 on.
    n_train, n_test : int
        Steps.
    n_events, n_predictions, precision_hits, recall_hits : int
        On the test steps.
    failed : str
        Why the fold does not count: what the estimator raised, or that there was nothing to learn from.
    ties : tuple of str
        What equal scores do to the threshold, as `nofluke.evaluate` says it.
    """

    number: int
    n_train: int
    n_test: int
    n_events: int
    n_predictions: int
    precision_hits: int
    recall_hits: int
    failed: str = ""
    ties: tuple[str, ...] = ()

    @property
    def precision(self) -> float:
        """The share of alarms with an event within the tolerance; NaN without alarms."""
        return divide(self.precision_hits, self.n_predictions)

    @property
    def recall(self) -> float:
        """The share of events with an alarm within the tolerance; NaN without events."""
        return divide(self.recall_hits, self.n_events)

    @property
    def f1(self) -> float:
        """Their harmonic mean; 0 without hits, also where there are no alarms, and NaN without events."""
        return _f1(self.precision, self.recall)

    def to_dict(self) -> dict[str, Any]:
        """The fold as plain values; None for what is undefined."""
        numbers = {name: finite_or_none(getattr(self, name)) for name in (*COUNTS, *MEASURES)}
        return {"fold": self.number, **numbers, "failed": self.failed, "ties": list(self.ties)}


@dataclass(frozen=True, kw_only=True, repr=False)
class CrossValidation(Exports):
    """A detector on the test parts of all folds: precision, recall and F1 of all of them together, against chance.

    Attributes
    ----------
    pooled : Evaluation
        Of the alarms of all folds in order of time: tests, intervals, plots and pages as `nofluke.evaluate` gives them.
    folds : tuple of Fold
        The counts of each, without p-values: single folds have few events.
    estimator : str
    cut : mapping
        Which scores are alarms, as {"budget": "3%"}; empty where the estimator's own predictions are.
    notes : tuple of str
        On the folds; those on the data are in ``pooled.notes``.

    See Also
    --------
    nofluke.cross_val_evaluate : the function that makes it.
    nofluke.Evaluation : what ``pooled`` is.
    nofluke.make_scorer : one number a fold, for model selection.

    Examples
    --------
    >>> import nofluke as nf, numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(1)
    >>> y = (rng.random(600) < 0.1).astype(int)
    >>> X = y[:, None] + rng.normal(size=(600, 2))
    >>> result = nf.cross_val_evaluate(LogisticRegression(), X, y, cv=4, budget="10%", tolerance=1)
    >>> result.verdict, result.pooled.n, [fold.n_events for fold in result.folds]
    ('yes', 480, [8, 23, 6, 11])
    """

    pooled: Evaluation
    folds: tuple[Fold, ...]
    estimator: str
    cut: Mapping[str, Any]
    notes: tuple[str, ...]

    @property
    def precision(self) -> float:
        """Of all folds together."""
        return self.pooled.precision

    @property
    def recall(self) -> float:
        """Of all folds together."""
        return self.pooled.recall

    @property
    def f1(self) -> float:
        """Of all folds together; 0 without alarms, as in a fold."""
        return _f1(self.precision, self.recall)

    @property
    def precision_test(self) -> ChanceTest:
        """The hits of all alarms against chance."""
        return self.pooled.precision_test

    @property
    def recall_test(self) -> ChanceTest:
        """The events found in all folds against chance."""
        return self.pooled.recall_test

    @property
    def verdict(self) -> Verdict:
        """ "yes", "partly", "no" or "cannot tell", as of `nofluke.Evaluation`."""
        return self.pooled.verdict

    @property
    def reason(self) -> str:
        """Why the verdict is what it is."""
        return self.pooled.reason

    def table(self) -> Table:
        """Each fold, all of them together, and what chance gives; renders as text, Markdown, LaTeX or HTML."""
        pooled, f1 = self.pooled, self.pooled._f1_test("auto")
        tests: tuple[ChanceTest | FTest | None, ...] = (pooled.precision_test, pooled.recall_test, f1)
        rows = [
            (str(fold.number), *(f"{getattr(fold, name):,}" for name in COUNTS[:4]), *_shares(fold))
            for fold in self.folds
            if not fold.failed
        ]
        total = (f"{pooled.n:,}", f"{pooled.n_events:,}", f"{pooled.n_predictions:,}")
        rows.append(("all", "", *total, *_shares(self)))
        rows.append(("chance", *[""] * 4, *(_expected(test) for test in tests)))
        rows.append(("p", *[""] * 4, *("" if test is None else show_p(test.pvalue) for test in tests)))
        return Table(
            title=f"{self._who}; {self._alarms()}; tolerance {pooled.tolerance}",
            columns=("fold", "training steps", "test steps", "events", "alarms", "precision", "recall", "F1"),
            rows=tuple(rows),
            verdict=self.verdict,
            notes=(
                pooled.verdict_in_words(),
                *filter(None, [pooled.advice]),
                *pooled.sentences(),
                pooled._how(f1),
                *noted((*self.notes, *pooled.notes)),
            ),
        )

    @property
    def _who(self) -> str:
        return f"{self.estimator}, {plural(len(self.folds), 'fold')}"

    def _alarms(self) -> str:
        if not self.cut:
            return "alarms as predicted"
        ((name, value),) = self.cut.items()
        aside = ", ties aside" if any(fold.ties for fold in self.folds) else ""
        return f"alarms by {name} {value} in each fold{aside}"

    def columns(self) -> dict[str, list[Any]]:
        """A row for each fold and one for all of them, by column name; p-values and chance are those of all."""
        pooled = self.pooled
        rows: list[dict[str, Any]] = [
            {name: getattr(fold, name) for name in (*COUNTS, *MEASURES)} | {"fold": str(fold.number)}
            for fold in self.folds
        ]
        whole: dict[str, Any] = {"fold": "all", "n_test": pooled.n}
        whole |= {name: getattr(pooled, name) for name in COUNTS[2:]} | {name: getattr(self, name) for name in MEASURES}
        for test in (pooled.precision_test, pooled.recall_test):
            whole |= {f"{test.measure}_expected": divide(test.expected, test.of), f"{test.measure}_pvalue": test.pvalue}
        names = ("fold", *COUNTS, *MEASURES, *(name for name in whole if name.endswith(("_expected", "_pvalue"))))
        return {name: [row.get(name) for row in (*rows, whole)] for name in names}

    def _record(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "estimator": self.estimator,
            "cut": {
                name: value if isinstance(value, str) else finite_or_none(value) for name, value in self.cut.items()
            },
            "verdict": self.verdict,
            "reason": self.reason,
            "pooled": self.pooled.to_dict(),
            "folds": [fold.to_dict() for fold in self.folds],
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        told = "; ".join(
            f"{test.measure} {show_share(test.value)} ({test.hits:,} of {test.of:,}), "
            + p_is(test.pvalue, test.log10_pvalue)
            for test in (self.precision_test, self.recall_test)
        )
        return f"<CrossValidation of {self._who}: {told};\n null {self.pooled.null.text}>"


def of_folds(folds: Sequence[Fold]) -> tuple[str, ...]:
    """What a mean over folds would hide: folds without events or alarms, with tied scores, and those left out."""
    said = []
    judged = [fold for fold in folds if not fold.failed]
    for name, what in (("n_events", "events"), ("n_predictions", "alarms")):
        without = sum(getattr(fold, name) == 0 for fold in judged)
        if without:
            said.append(f"{without:,} of {plural(len(judged), 'fold')} {'has' if without == 1 else 'have'} no {what}.")
    tied = [fold for fold in judged if fold.ties]
    if tied:
        others = f" There are ties in {plural(len(tied) - 1, 'other fold')} too." if len(tied) > 1 else ""
        said.append(f"Fold {tied[0].number}: {' '.join(tied[0].ties)}{others}")
    said.extend(f"Fold {fold.number} was left out: {fold.failed}" for fold in folds if fold.failed)
    return tuple(said)


def _f1(precision: float, recall: float) -> float:
    """As `nofluke.make_scorer` has it: without alarms there are no hits, and F1 is 0."""
    return float(f_of_shares(np.array([precision]), np.array([recall]), 1.0)[0])


def _shares(one: Fold | CrossValidation) -> tuple[str, ...]:
    return tuple(show_share(getattr(one, name)) for name in MEASURES)


def _expected(test: ChanceTest | FTest | None) -> str:
    if test is None or math.isnan(test.value):
        return ""
    return show_share(test.expected if isinstance(test, FTest) else divide(test.expected, test.of))
