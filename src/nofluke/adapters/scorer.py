"""A scorer for scikit-learn's model selection: any measure of nofluke, called as ``scorer(estimator, X, y)``."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from nofluke.adapters.responses import Direction, Reader, ResponseMethod, clock_of, labels_of
from nofluke.arrays import ByValue
from nofluke.errors import InputError, arg, passed, say
from nofluke.inference.significance import as_metrics, significance
from nofluke.measures.confusion import check_zero_division
from nofluke.metrics.base import Metric, Needs
from nofluke.metrics.labelled import read_labelled
from nofluke.metrics.spelling import known_as
from nofluke.metrics.tolerant import F1, Precision, Recall, Tolerant
from nofluke.nulls import Null
from nofluke.nulls.base import check_resamples
from nofluke.plain import as_flag, check_word
from nofluke.series.tolerance import Length, Tolerance, as_tolerance
from nofluke.series.truth import CountEvents

# ---- the measure of a scorer: precision, recall and F1 within a tolerance, and every other metric without


TOLERANT: dict[str, type[Tolerant]] = {"precision": Precision, "recall": Recall, "f1": F1}

Measure = str | Metric | Callable[..., Any]


def metric_of(measure: Measure, tolerance: Length | Tolerance, given: Needs) -> Metric:
    """The metric that is meant; a function is given scores or alarms, whichever there are."""
    window = as_tolerance(tolerance)
    name = known_as(measure, TOLERANT) if isinstance(measure, str) else None
    if name is not None:
        return TOLERANT[name](tolerance=tolerance)
    try:
        (metric,) = as_metrics([measure], given)
    except InputError as error:  # there the argument has another name
        raise error.renamed("metric", "measure") from None
    if not window.zero:
        raise InputError(
            argument="tolerance",
            value=tolerance,
            problem=say("is for {}", arg("measure", "precision", "recall", "f1")),
            remedy="leave it out, or write the setting of the metric behind its name, such as 'vus-pr:window=100'",
        )
    return metric


# ---- the scorer itself: ``scorer(estimator, X, y)``

SEED = 0  # of what is simulated: a scorer gives the same number twice


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Scorer(ByValue):
    """What `make_scorer` returns: ``scorer(estimator, X, y)`` gives one number, and higher is better.

    It can be pickled, copied and compared; the arguments of `make_scorer` are its attributes.
    """

    measure: Measure = "f1"
    tolerance: Length | Tolerance = 0
    chance_corrected: bool = False
    threshold: float | None = None
    quantile: float | None = None
    budget: float | str | None = None
    higher_is: Direction = "auto"
    response_method: ResponseMethod = "auto"
    pos_label: Any = "auto"
    count_events: CountEvents | None = None
    zero_division: float = math.nan
    null: Null = "auto"
    n_resamples: int = 1_000

    def __post_init__(self) -> None:
        check_zero_division(self.zero_division)
        check_resamples(self.n_resamples)
        as_flag(self.chance_corrected, "chance_corrected")
        if self.count_events is not None:
            check_word(self.count_events, "count_events", ("steps", "ranges"))
        metric = self._metric  # what is wrong is said here, not once for each fold
        if self.chance_corrected and metric.perfect is None:
            raise InputError(
                argument="chance_corrected",
                value=True,
                problem=say("needs the perfect value of {}, which is unknown", passed("measure", metric.text)),
                remedy=say(
                    "pass nf.metrics.Function(function=..., perfect=...), or {}", arg("chance_corrected", False)
                ),
            )

    @property
    def _reader(self) -> Reader:
        return Reader(**{f.name: getattr(self, f.name) for f in fields(Reader)})

    @property
    def _metric(self) -> Metric:
        alarms = self._reader.cut or self.response_method == "predict"
        return metric_of(self.measure, self.tolerance, "alarms" if alarms else "scores")

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """The score of a fitted estimator on the steps of X; y says where the events are."""
        metric, reader, labels = self._metric, self._reader, labels_of(y)
        positive = reader.positive(labels, estimator)
        if positive is None:
            return self._undefined("every label of this fold is 1: pass pos_label=1, or pos_label=-1")
        events = np.asarray(labels == positive)
        if not events.any():
            return self._undefined("this fold has no events")
        by_scores = metric.needs == "scores" or bool(reader.cut)
        answer = reader.read(estimator, X, labels, positive, as_scores=by_scores)
        given: dict[str, Any] = {"times": self._clock(y, X), "count_events": self.count_events}
        if answer.alarms is not None:
            given["predictions"] = answer.alarms
        else:
            given |= {"scores": answer.scores, "higher_is": answer.higher_is}
            given |= reader.cut if metric.needs == "alarms" else {}
        value = metric.value(read_labelled(events, **given))
        if self.chance_corrected and not math.isnan(value):
            chance: dict[str, Any] = {"null": self.null, "n_resamples": self.n_resamples, "rng": SEED}
            value = float(significance(metric, events, **given, **chance).chance_corrected)
        elif metric.better == "lower":
            value = -value
        if not math.isnan(value):
            return value
        # due to this candidate, not to the fold: no number may make it better than others
        known_range = metric.better == "higher" and metric.perfect is not None
        return 0.0 if known_range else _warned(f"{metric.text} is undefined for this estimator")

    def _clock(self, y: Any, X: Any) -> Any:
        clock = clock_of(y, X)
        if clock is None and as_tolerance(self.tolerance).unit != "steps":
            raise InputError(
                argument="tolerance",
                value=self.tolerance,
                problem="is a length of time",
                remedy="pass y or X of pandas with an index of dates, or a number of steps",
            )
        return clock

    def _undefined(self, why: str) -> float:
        return _warned(why) if math.isnan(self.zero_division) else float(self.zero_division)

    def __repr__(self) -> str:
        told = ((f.name, getattr(self, f.name), f.default) for f in fields(self))
        words = (f"{name}={value!r}" for name, value, usual in told if name == "measure" or repr(value) != repr(usual))
        return f"make_scorer({', '.join(words)})"


def _warned(why: str) -> float:
    warnings.warn(f"The score is NaN: {why}.", UserWarning, stacklevel=4)
    return math.nan


def make_scorer(
    measure: Measure = "f1",
    *,
    tolerance: Length | Tolerance = 0,
    chance_corrected: bool = False,
    threshold: float | None = None,
    quantile: float | None = None,
    budget: float | str | None = None,
    higher_is: Direction = "auto",
    response_method: ResponseMethod = "auto",
    pos_label: Any = "auto",
    count_events: CountEvents | None = None,
    zero_division: float = math.nan,
    null: Null = "auto",
    n_resamples: int = 1_000,
) -> Scorer:
    r"""A scorer for scikit-learn: precision, recall or F1 within a tolerance, or any other metric.

    .. math:: f \qquad\text{or, corrected for chance,}\qquad \frac{f - E[f]}{1 - E[f]}

    where E is the mean under the null. It goes wherever scikit-learn takes ``scoring=``: ``cross_val_score``,
    ``cross_validate`` (also in a dict of scorers) and ``GridSearchCV``. Steps must be in order of time: pass
    ``cv=TimeSeriesSplit()``, and do not shuffle.

    Parameters
    ----------
    measure : str, Metric or callable
        "precision", "recall" or "f1", within the tolerance; or a metric as :func:`nofluke.significance` takes it
        ("vus-pr:window=100", a function of labels and scores). Where lower values are better, the sign is turned.
    tolerance : int, str, timedelta or Tolerance
        As in :func:`nofluke.evaluate`. A duration such as "2h" needs a pandas y or X with an index of dates.
    chance_corrected : bool
        Whether 0 is to be what chance scores, and 1 perfect. Exact for precision and recall, and for F1 where that is
        affordable. To choose between estimators, use "f1": a recall of 1 stays 1 after the correction, however close
        to 1 chance is, so a search on recall alone picks the estimator with the most alarms.
    threshold, quantile, budget : optional
        Which scores are alarms, as in :func:`nofluke.evaluate`. A quantile or a budget is one of the scores of the
        fold that is scored: no label is used, but its steps are ranked among each other. By default the alarms are
        what ``estimator.predict`` says, with the threshold that it has learned in training.
    higher_is : {"auto", "anomalous", "normal"}
        What high scores are. "auto" knows that scikit-learn's outlier detectors and densities score outliers low, that
        pyod's score them high, and takes a classifier's scores of the positive class. A regressor's are high for
        events if their label is the largest. For other estimators, say it.
    response_method : {"auto", "predict", "decision_function", "predict_proba", "score_samples"}
        The method that is asked for scores; "auto" is the first that the estimator has of ``decision_function``,
        ``predict_proba``, ``score_samples`` and ``predict``.
    pos_label : optional
        The label of an event in y. By default 1 in labels of 0 and 1, and -1 in labels of -1 and 1, as scikit-learn's
        outlier detectors have it. For a classifier or a regressor with labels of -1 and 1, say which.
    count_events : {"steps", "ranges"}, optional
        As in :func:`nofluke.evaluate`; with "ranges" each run of labelled steps is one event.
    zero_division : {nan, 0, 1}
        The score of a fold without events; NaN comes with a warning. ``GridSearchCV`` ranks means, and such a fold
        makes all of them NaN: pass 0, which is the same for all candidates. A measure that is undefined because of
        the estimator, such as the precision of one without alarms, is 0 whatever this says; NaN if lower is better,
        or if the best value is unknown. So no search picks it.
    null : str, NullModel or callable
        What chance does, for ``chance_corrected``.
    n_resamples : int
        Draws for what has no exact mean under the null. The seed is fixed.

    Returns
    -------
    Scorer
        A callable ``scorer(estimator, X, y) -> float`` that can be pickled, for ``n_jobs``.

    See Also
    --------
    nofluke.cross_val_evaluate : one p-value over all folds, which no mean of scores has.
    nofluke.significance : any metric against chance.
    nofluke.evaluate : precision and recall against chance.

    References
    ----------
    Scharwächter and Müller (2020), Statistical Evaluation of Anomaly Detectors for Sequences.

    Examples
    --------
    >>> import nofluke as nf, numpy as np
    >>> from sklearn.ensemble import IsolationForest
    >>> from sklearn.model_selection import TimeSeriesSplit, cross_val_score
    >>> rng = np.random.default_rng(0)
    >>> y = (rng.random(1200) < 0.03).astype(int)
    >>> X = rng.normal(size=(1200, 1)) + 4 * y[:, None]
    >>> scorer = nf.make_scorer("f1", tolerance=2, budget="3%")
    >>> forest = IsolationForest(n_estimators=20, random_state=0)
    >>> cross_val_score(forest, X, y, cv=TimeSeriesSplit(3), scoring=scorer).round(2)
    array([0.5 , 0.82, 0.85])
    >>> scorer
    make_scorer(measure='f1', tolerance=2, budget='3%')
    """
    return Scorer(
        measure=measure,
        tolerance=tolerance,
        chance_corrected=chance_corrected,
        threshold=threshold,
        quantile=quantile,
        budget=budget,
        higher_is=higher_is,
        response_method=response_method,
        pos_label=pos_label,
        count_events=count_events,
        zero_division=zero_division,
        null=null,
        n_resamples=n_resamples,
    )
