"""What estimators and y say about each step, read as alarms and events.

Outlier detectors of scikit-learn predict -1 for outliers and score them low, and densities are low there. Detectors of
pyod carry the same tag, but predict 1 for outliers and score them high. Classifiers predict the classes of y and score
the positive one high; regressors predict its numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from nofluke.arrays import AnyArray, BoolArray
from nofluke.errors import InputError, arg, say, shown
from nofluke.plain import check_length, check_word
from nofluke.series.detector import WAYS, check_cut
from nofluke.series.reading import HigherIs, has_dates

Direction = Literal["auto", "anomalous", "normal"]
ResponseMethod = Literal["auto", "predict", "decision_function", "predict_proba", "score_samples"]
SCORES: tuple[ResponseMethod, ...] = ("decision_function", "predict_proba", "score_samples", "predict")
DENSITIES = ("density_estimator", "DensityEstimator")  # the latter before scikit-learn 1.6
DENSITY: ResponseMethod = "score_samples"
AUTO = "auto"
MOST_LABELS = 6  # in a message
BLIND = ("sklearn.preprocessing._data", "sklearn.decomposition", "sklearn.impute")  # transformers that do not use y


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """How the answers of estimators, and y, are read.

    Attributes
    ----------
    higher_is : {"auto", "anomalous", "normal"}
        What high scores are; "auto" goes by the estimator.
    response_method : str
        Which method of the estimator is asked; "auto" is the first that there is.
    pos_label : object
        The label of an event in y; "auto" is 1, or for outlier detectors -1 where y holds -1 and 1.
    threshold, quantile, budget : optional
        Which scores are alarms; without any of them the estimator's own predictions are.
    """

    higher_is: Direction = "auto"
    response_method: ResponseMethod = "auto"
    pos_label: Any = AUTO
    threshold: float | None = None
    quantile: float | None = None
    budget: float | str | None = None

    def __post_init__(self) -> None:
        check_word(self.higher_is, "higher_is", ("auto", "anomalous", "normal"))
        check_word(self.response_method, "response_method", ("auto", *SCORES))
        if not _is_label(self.pos_label):
            raise InputError(
                argument="pos_label", value=self.pos_label, problem="must be one label of y, such as 1 or 'anomaly'"
            )
        if len(self.cut) > 1:
            raise InputError(problem=f"pass one of threshold, quantile and budget, got {' and '.join(self.cut)}")
        for way, value in self.cut.items():
            check_cut(way, value)

    @property
    def cut(self) -> dict[str, Any]:
        """Which scores are alarms, as `nofluke.evaluate` takes it; empty where the estimator's own predictions are."""
        return {name: value for name in WAYS if (value := getattr(self, name)) is not None}

    def positive(self, y: AnyArray, estimator: Any) -> Any:
        """The label of an event; None where every label is 1, which may mean an outlier or an inlier."""
        if not (isinstance(self.pos_label, str) and self.pos_label == AUTO):
            self._check_label(y, estimator)
            return self.pos_label
        found = set(np.unique(y).tolist()) if y.dtype.kind in "biuf" else {None}
        if found == {1} and y.dtype.kind != "b":
            return None
        if found <= {0, 1}:
            return 1
        kind = estimator_type(estimator)
        if found <= {-1, 1} and kind in ("classifier", "regressor"):
            raise InputError(
                argument="y",
                problem=f"holds -1 and 1, and for a {kind} either may be the event",
                remedy=say("pass {}, or {}", arg("pos_label", 1), arg("pos_label", -1)),
            )
        if found <= {-1, 1}:
            return -1
        raise InputError(
            argument="y",
            problem="must hold 0 and 1, or -1 (an event) and 1 as scikit-learn's outlier detectors do",
            remedy=say("pass such labels, or {}, the label of an event", arg("pos_label")),
        )

    def _check_label(self, y: AnyArray, estimator: Any) -> None:
        """Refuse a label that is not among two or more others; a single one may be that of a fold without events."""
        labels = y if y.dtype.kind == "O" else np.unique(y)
        try:
            known = sorted({*labels.tolist(), *np.asarray(getattr(estimator, "classes_", ())).tolist()}, key=repr)
        except TypeError:
            raise InputError(
                argument="y", problem="must hold labels, numbers or text", remedy="pass one for each step"
            ) from None
        if len(known) > 1 and not _among(self.pos_label, known):
            raise InputError(
                argument="pos_label",
                value=self.pos_label,
                problem=f"is no label of y, which has {_listed(known)}",
                remedy="pass one",
            )

    def read(self, estimator: Any, X: Any, y: AnyArray, positive: Any, *, as_scores: bool) -> Answer:
        """Alarms as the estimator itself predicts them, or the scores of all steps."""
        name = "predict" if not as_scores else self.response_method
        if name == "auto":
            name = _first(estimator)
        if name == "predict" and estimator_type(estimator) == "clusterer":
            raise InputError(
                argument="estimator",
                value=estimator,
                problem="predicts the numbers of clusters, which are no alarms",
                remedy="pass an outlier detector or a classifier",
            )
        said = np.asarray(self._method(estimator, name)(X))
        if not as_scores:
            return Answer(alarms=_alarms(estimator, said.ravel(), positive))
        if is_classifier(estimator):
            said = said == positive if name == "predict" else _of_class(estimator, said, positive)
        higher_is = self.higher_is if self.higher_is != "auto" else _direction(estimator, y, positive)
        return Answer(scores=said.ravel(), higher_is=higher_is)

    def _method(self, estimator: Any, name: str) -> Any:
        method = getattr(estimator, name, None)
        if method is None:
            advice = "LocalOutlierFactor needs novelty=True" if hasattr(estimator, "novelty") else "pass another one"
            raise InputError(argument="estimator", value=estimator, problem=f"has no method {name}", remedy=advice)
        return method


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One value for each step: alarms, or scores and what high ones are."""

    alarms: BoolArray | None = field(default=None, repr=False)
    scores: AnyArray | None = field(default=None, repr=False)
    higher_is: HigherIs = "anomalous"


def labels_of(y: Any) -> AnyArray:
    """The labels of all steps, whatever they are."""
    check_length(y, "y")
    try:
        return np.asarray(y).ravel()
    except Exception:  # nested sequences of unequal length, or what refuses to be an array
        raise InputError(
            argument="y", value=y, problem="must be one label for each step", remedy="pass an array, a Series or a list"
        ) from None


def clock_of(*candidates: Any) -> Any:
    """The first index of dates among pandas objects, which scikit-learn keeps in folds; None without any."""
    return next((one.index for one in candidates if has_dates(one)), None)


def estimator_type(estimator: Any) -> str | None:
    """What scikit-learn takes an estimator for, by its tags (1.6 and later) or by the attribute before them."""
    tags = getattr(estimator, "__sklearn_tags__", None)
    kind = tags().estimator_type if callable(tags) else None
    found: str | None = kind or getattr(estimator, "_estimator_type", None)
    return found


def is_classifier(estimator: Any) -> bool:
    """Whether it predicts the classes of y."""
    return estimator_type(estimator) == "classifier"


def _direction(estimator: Any, y: AnyArray, positive: Any) -> HigherIs:
    """What high scores are, by the convention of the library that the estimator is from."""
    kind = estimator_type(estimator)
    if kind == "regressor":
        return "normal" if y.dtype.kind in "biuf" and (y > positive).any() else "anomalous"
    if kind == "classifier" or hasattr(_innermost(estimator), "decision_scores_"):
        return "anomalous"
    if kind == "outlier_detector" or is_density(estimator):
        return "normal"
    raise InputError(
        argument="estimator",
        value=estimator,
        problem="is of no kind whose scores are known to be high or low for events",
        remedy=say("pass {}, or {}", arg("higher_is", "anomalous"), arg("higher_is", "normal")),
    )


def is_density(estimator: Any) -> bool:
    """Whether it models the usual: by its tag, or since it has nothing but ``score_samples``."""
    if estimator_type(estimator) in DENSITIES:  # others of its methods are about components
        return True
    return estimator_type(estimator) is None and [name for name in SCORES if hasattr(estimator, name)] == [DENSITY]


def ignores_labels(estimator: Any) -> bool:
    """Whether no label reaches its alarms: scikit-learn's outlier detectors and densities, also in a plain pipeline."""
    steps = getattr(estimator, "steps", None)
    *before, last = [step for _, step in steps] if isinstance(steps, list) and steps else [estimator]
    unsupervised = estimator_type(last) == "outlier_detector" or is_density(last)
    return unsupervised and _is_from(last, "sklearn.") and all(_is_from(step, *BLIND) for step in before)


def _is_from(estimator: Any, *modules: str) -> bool:
    return type(estimator).__module__.startswith(modules)


def _innermost(estimator: Any) -> Any:
    """The last step of a pipeline, the winner of a search."""
    while True:
        steps = getattr(estimator, "steps", None)
        inner = steps[-1][1] if isinstance(steps, list) and steps else getattr(estimator, "best_estimator_", None)
        if inner is None:
            return estimator
        estimator = inner


def _among(label: Any, known: list[Any]) -> bool:
    """Whether a label is one of these; one that cannot be compared, such as pandas' NA, is none."""
    try:
        return label in known
    except (TypeError, ValueError):
        return False


def _first(estimator: Any) -> ResponseMethod:
    if is_density(estimator):
        return DENSITY
    return next((name for name in SCORES if hasattr(estimator, name)), SCORES[0])


def _alarms(estimator: Any, said: AnyArray, positive: Any) -> BoolArray:
    if is_classifier(estimator):
        return np.asarray(said == positive)
    kind = estimator_type(estimator)
    if kind == "outlier_detector" and not hasattr(_innermost(estimator), "decision_scores_"):
        return np.asarray(said == -1)
    if kind in DENSITIES or not np.isin(said, (0, 1)).all():
        raise InputError(
            argument="estimator",
            value=estimator,
            problem="predicts no alarms",
            remedy=say("pass {}, {} or {}", arg("threshold"), arg("quantile"), arg("budget")),
        )
    return np.asarray(said == 1)


def _of_class(estimator: Any, said: AnyArray, positive: Any) -> AnyArray:
    """The scores of one class; those of a class that the training data did not hold are all 0."""
    at = np.flatnonzero(np.asarray(estimator.classes_) == positive)
    if len(at) == 0:
        return np.zeros(len(said))
    if said.ndim == 2:
        return said[:, at[0]]
    return said if at[0] == 1 else -said  # one column is that of the second class


def _is_label(value: Any) -> bool:
    """Whether a value is a single one, and not a column or a container of them."""
    try:
        hash(value)
        return np.ndim(value) == 0
    except Exception:  # arrays and frames have no hash, and objects of the user's raise what they like
        return False


def _listed(labels: list[Any]) -> str:
    told = ", ".join(map(shown, labels[:MOST_LABELS]))
    return told if len(labels) <= MOST_LABELS else f"{told} and {len(labels) - MOST_LABELS:,} more"
