"""A scorer for scikit-learn's model selection: any measure of nofluke, called as ``scorer(estimator, X, y)``."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from nofluke.adapters.responses import Direction, Reader, ResponseMethod, clock_of
from nofluke.arrays import BoolArray, ByValue
from nofluke.errors import InputError, shown
from nofluke.inference.evaluate import evaluate
from nofluke.inference.significance import as_metrics, significance
from nofluke.measures.confusion import check_zero_division
from nofluke.metrics.base import Metric
from nofluke.metrics.labelled import read_labelled
from nofluke.metrics.near import Tolerant
from nofluke.metrics.tolerant import Precision, Recall, TolerantF1
from nofluke.nulls import Null
from nofluke.nulls.base import check_resamples
from nofluke.plain import check_word
from nofluke.ratios import divide
from nofluke.series.tolerance import Length, Tolerance, as_tolerance
from nofluke.series.truth import CountEvents

TOLERANT: dict[str, type[Tolerant]] = {"precision": Precision, "recall": Recall, "f1": TolerantF1}
SEED = 0  # of what is simulated: a scorer gives the same number twice

Measure = str | Metric | Callable[..., Any]


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
        if self.count_events is not None:
            check_word(self.count_events, "count_events", ("steps", "ranges"))
        _ = self._metric  # what is wrong is said here, not once for each fold

    @property
    def _reader(self) -> Reader:
        shared = {f.name: getattr(self, f.name) for f in fields(Reader)}
        return Reader(**shared)

    @property
    def _metric(self) -> Metric:
        reader, window = self._reader, as_tolerance(self.tolerance)
        if isinstance(self.measure, str) and self.measure in TOLERANT:
            return TOLERANT[self.measure](tolerance=self.tolerance)
        if not window.zero:
            raise InputError(
                f"tolerance={shown(self.tolerance)} is for measure='precision', 'recall' and 'f1': leave it out, or "
                "write the setting of the metric behind its name, such as 'vus-pr:window=100'."
            )
        alarms = reader.cut or self.response_method == "predict"
        return as_metrics(self.measure, "alarms" if alarms else "scores")[0]

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """The score of a fitted estimator on the steps of X; y says where the events are."""
        metric, reader, labels = self._metric, self._reader, np.asarray(y).ravel()
        positive = reader.positive(labels)
        if positive is None:
            return self._undefined("every label of this fold is 1: pass pos_label=1, or pos_label=-1")
        events = np.asarray(labels == positive)
        if not events.any():
            return self._undefined("this fold has no events")
        answer = reader.read(estimator, X, positive, as_scores=metric.needs == "scores" or bool(reader.cut))
        given: dict[str, Any] = {"times": clock_of(y, X), "count_events": self.count_events}
        if answer.alarms is not None:
            given["predictions"] = answer.alarms
        else:
            given |= {"scores": answer.scores, "higher_is": answer.higher_is}
            given |= reader.cut if metric.needs == "alarms" else {}
        value = metric.value(read_labelled(events, **given))
        if self.chance_corrected and not math.isnan(value):
            value = self._corrected(metric, value, events, given)
        elif metric.better == "lower":
            value = -value
        return self._undefined(f"{metric.text} is undefined on this fold") if math.isnan(value) else value

    def _corrected(self, metric: Metric, value: float, events: BoolArray, given: dict[str, Any]) -> float:
        """(value - chance)/(perfect - chance), with the mean of chance under the null."""
        given = {**given, "null": self.null, "n_resamples": self.n_resamples, "rng": SEED}
        if not isinstance(metric, Tolerant):
            return float(significance(metric, events, **given).chance_corrected)
        found = evaluate(events, tolerance=metric.window, **given)
        if isinstance(metric, TolerantF1):
            chance = found.f_test(metric.beta, n_resamples=self.n_resamples, rng=SEED).expected
        else:
            test = found.precision_test if isinstance(metric, Precision) else found.recall_test
            chance = divide(test.expected, test.of)
        return divide(value - chance, 1 - chance)

    def _undefined(self, why: str) -> float:
        if math.isnan(self.zero_division):
            warnings.warn(f"The score is NaN: {why}.", UserWarning, stacklevel=3)
        return float(self.zero_division)

    def __repr__(self) -> str:
        told = ((f.name, getattr(self, f.name), f.default) for f in fields(self))
        words = (f"{name}={value!r}" for name, value, usual in told if name == "measure" or repr(value) != repr(usual))
        return f"make_scorer({', '.join(words)})"


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
        affordable.
    threshold, quantile, budget : optional
        Which scores are alarms, as in :func:`nofluke.evaluate`. A quantile or a budget is one of the scores of the
        fold that is scored: no label is used, but its steps are ranked among each other. By default the alarms are
        what ``estimator.predict`` says, with the threshold that it has learned in training.
    higher_is : {"auto", "anomalous", "normal"}
        What high scores are. "auto" knows that scikit-learn's outlier detectors score outliers low, that pyod's score
        them high, and takes a classifier's scores of the positive class.
    response_method : {"auto", "predict", "decision_function", "predict_proba", "score_samples"}
        The method that is asked for scores; "auto" is the first that the estimator has of ``decision_function``,
        ``predict_proba``, ``score_samples`` and ``predict``.
    pos_label : optional
        The label of an event in y. By default 1 in labels of 0 and 1, and -1 in labels of -1 and 1, as scikit-learn's
        outlier detectors have it.
    count_events : {"steps", "ranges"}, optional
        As in :func:`nofluke.evaluate`; with "ranges" each run of labelled steps is one event.
    zero_division : {nan, 0, 1}
        The score of a fold without events, or where the measure is undefined; NaN comes with a warning.
        ``GridSearchCV`` ranks means, and a fold without events makes all of them NaN: pass 0, which is the same for
        all candidates.
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
