"""Metrics of anomaly detectors on sequences, each a small object that is also a plain function.

``nf.metrics.VUS(curve="pr", window=100)(truth, scores)``, or by name: ``nf.metrics.get("vus-pr:window=100")``.
:func:`nofluke.significance` says what chance gives on the same labels, and :func:`nofluke.chance` does so without a
detector.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from nofluke.errors import InputError, Shown, say, verb
from nofluke.metrics.adjusted import PAF1, PAKAUC, PAKF1, DelayPAF1
from nofluke.metrics.affiliation import AffiliationF1, AffiliationPrecision, AffiliationRecall
from nofluke.metrics.base import Better, Metric, Needs, written
from nofluke.metrics.best import BestF1, BestPAF1
from nofluke.metrics.etapr import ETaPRF1, ETaPRPrecision, ETaPRRecall
from nofluke.metrics.events import CompositeF1, EventF1, EventFARF1
from nofluke.metrics.functions import Function, function_on_events, is_on_events
from nofluke.metrics.nab import NAB
from nofluke.metrics.ranged import RangeF1, RangePrecision, RangeRecall
from nofluke.metrics.ranking import AUCROC, AveragePrecision
from nofluke.metrics.spelling import from_text, known_as, settings_of
from nofluke.metrics.tolerant import F1, Precision, Recall
from nofluke.metrics.vus import VUS, Curve
from nofluke.text.exports import Exports
from nofluke.text.tables import SCHEMA, Table, by_column, plural

__all__ = [
    "AUCROC",
    "F1",
    "NAB",
    "PAF1",
    "PAKAUC",
    "PAKF1",
    "VUS",
    "AffiliationF1",
    "AffiliationPrecision",
    "AffiliationRecall",
    "AveragePrecision",
    "BestF1",
    "BestPAF1",
    "CompositeF1",
    "DelayPAF1",
    "ETaPRF1",
    "ETaPRPrecision",
    "ETaPRRecall",
    "EventF1",
    "EventFARF1",
    "Function",
    "Metric",
    "Precision",
    "RangeF1",
    "RangePrecision",
    "RangeRecall",
    "Recall",
    "get",
    "names",
    "register",
]


def _vus(curve: Curve, **settings: Any) -> Metric:
    # not a partial of the class, which would take another curve as a setting
    return VUS(curve=curve, **settings)


_BUILT_IN: dict[str, Callable[..., Metric]] = {
    "auc-roc": AUCROC,
    "average-precision": AveragePrecision,
    "best-f1": BestF1,
    "best-pa-f1": BestPAF1,
    "vus-roc": partial(_vus, "roc"),
    "vus-pr": partial(_vus, "pr"),
    "pa-f1": PAF1,
    "pak-f1": PAKF1,
    "pak-auc": PAKAUC,
    "delay-pa-f1": DelayPAF1,
    "composite-f1": CompositeF1,
    "event-f1": EventF1,
    "event-far-f1": EventFARF1,
    "range-precision": RangePrecision,
    "range-recall": RangeRecall,
    "range-f1": RangeF1,
    "etapr-precision": ETaPRPrecision,
    "etapr-recall": ETaPRRecall,
    "etapr-f1": ETaPRF1,
    "affiliation-precision": AffiliationPrecision,
    "affiliation-recall": AffiliationRecall,
    "affiliation-f1": AffiliationF1,
    "nab": NAB,
    "precision": Precision,
    "recall": Recall,
    "f1": F1,
}
_ADDED: dict[str, Callable[[], Function]] = {}


def names() -> tuple[str, ...]:
    """Names of all metrics; registered ones come last.

    >>> "auc-roc" in names()
    True

    See Also
    --------
    nofluke.metrics.get : the metric of a name.
    nofluke.metrics.register : adds a name.
    """
    return (*_BUILT_IN, *_ADDED)


def get(metric: object) -> Metric:
    """A metric from its name with settings, from itself, or from a function of labels and scores.

    Parameters
    ----------
    metric : str, Metric or callable
        Such as "vus-pr:window=100", in any case, with hyphens, underscores or neither. A function, or an object with a
        method ``compute``, keeps its own name; it gets scores unless registered otherwise. A detection metric of sktime
        gets events: positions, or intervals if it asks for segments.

    Returns
    -------
    Metric

    See Also
    --------
    nofluke.metrics.names : all names.
    nofluke.metrics.register : adds a name.

    Examples
    --------
    >>> get("auc-roc")
    AUCROC()
    """
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, str):
        return from_text(metric, {**_BUILT_IN, **_ADDED})
    if isinstance(metric, type):
        raise InputError(
            argument="metric",
            value=Shown(metric.__name__),
            problem="is a class",
            remedy=f"pass an instance, {metric.__name__}(...)",
        )
    if is_on_events(metric):
        return function_on_events(metric)
    if callable(metric):
        return Function(function=metric, name=_name_of(metric))
    compute = getattr(metric, "compute", None)
    if callable(compute):
        return Function(function=compute, name=str(getattr(metric, "name", type(metric).__name__)))
    several = say("pass several to {} as a list", verb("significance")) if isinstance(metric, Iterable) else ""
    raise InputError(
        argument="metric",
        value=metric,
        problem="must be a name, a metric, or a function of labels and scores or alarms",
        remedy=several,
    )


def register(
    name: str,
    function: Callable[..., Any],
    *,
    needs: Needs = "scores",
    better: Better = "higher",
    perfect: float | None = None,
) -> Metric:
    """Give a function of labels and scores (or alarms) a name that works everywhere in nofluke.

    Names last as long as this Python process; the command line, another process, does not know them.

    Parameters
    ----------
    name : str
        Lower-case letters (a to z), digits and single hyphens between them, starting with a letter; not a built-in
        name, and not the name of another function.
    function : callable
        ``f(labels, x) -> float``: labels as 0 and 1, x the scores or alarms of the steps that count.
    needs : {"scores", "alarms"}
        What x is.
    better : {"higher", "lower"}
        Which values are better.
    perfect : float, optional
        The best value there is; without it, values are not corrected for chance.

    Returns
    -------
    Metric

    See Also
    --------
    nofluke.metrics.get : a metric by its name.
    nofluke.metrics.names : all names.
    nofluke.metrics.Function : a metric without a name.

    Examples
    --------
    >>> added = register("labelled-alarms", lambda labels, alarms: (labels * alarms).sum(), needs="alarms")
    >>> get("labelled-alarms")([0, 1, 1], [1, 1, 0])
    1.0
    """
    if not isinstance(name, str) or not re.fullmatch("[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise InputError(
            argument="name",
            value=name,
            problem="must consist of lower-case letters, digits and hyphens and start with a letter, such as "
            "'my-metric'",
        )
    if known_as(name, _BUILT_IN):
        raise InputError(argument="name", value=name, problem="is a built-in metric", remedy="choose another name")
    if isinstance(function, Metric):
        raise InputError(
            argument="function",
            value=function,
            problem="is already a metric with a name",
            remedy="use it directly, or pass another function",
        )
    if isinstance(function, type):
        raise InputError(
            argument="function",
            value=Shown(function.__name__),
            problem="is a class",
            remedy="pass a function, or a callable object",
        )
    metric = Function(function=function, name=name, needs=needs, better=better, perfect=perfect)
    if name in _ADDED and not _is(_ADDED[name]().function, function):
        raise InputError(
            argument="name",
            value=name,
            problem="is already registered for another function",
            remedy="choose another name",
        )
    _ADDED[name] = partial(_the, metric)
    return metric


def _the(metric: Function) -> Function:
    return metric


def _is(one: Any, other: Any) -> bool:
    """Whether two functions are the same: a method is a new object each time it is looked up."""
    try:
        return one is other or bool(one == other)
    except Exception:  # of a callable object that compares as it likes
        return False


def _name_of(function: Any) -> str:
    name = getattr(function, "__name__", None) or getattr(getattr(function, "func", None), "__name__", None)
    return str(name or type(function).__name__)


# ---- a list of the metrics: what each needs, its settings with their defaults, and a line about it

NOTE = "Settings follow the name, as in vus-pr:window=50. Metrics of scores need no threshold; for metrics of alarms pass one, or the alarms."


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Exports):
    """Metrics as they are by default.

    >>> print(Listing(metrics=(get("auc-roc"),)).table().text().splitlines()[3])
    auc-roc  scores            area under the ROC curve
    """

    metrics: tuple[Metric, ...]

    @classmethod
    def of_all(cls) -> Listing:
        """All that have a name."""
        return cls(metrics=tuple(map(get, names())))

    def table(self) -> Table:
        """One line for each; renders as text, Markdown, LaTeX or HTML."""
        rows = tuple((metric.name, metric.needs, _written(metric, ", "), metric.title) for metric in self.metrics)
        columns = ("name", "needs", "settings", "what it is")
        return Table(title=plural(len(rows), "metric"), columns=columns, rows=rows, notes=(NOTE,), left=len(columns))

    def _record(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "metrics": [
                {
                    "name": metric.name,
                    "needs": metric.needs,
                    "better": metric.better,
                    "perfect": metric.perfect,
                    "settings": _settings(metric),
                    "title": metric.title,
                }
                for metric in self.metrics
            ],
        }

    def columns(self) -> dict[str, list[Any]]:
        """A row for each, by column name; settings as they are written behind the name."""
        rows = [
            (metric.name, metric.needs, metric.better, metric.perfect, _written(metric, ","), metric.title)
            for metric in self.metrics
        ]
        return by_column(("name", "needs", "better", "perfect", "settings", "title"), rows)


def _settings(metric: Metric) -> dict[str, Any]:
    """What can be set, as it is."""
    own = settings_of(metric)
    return {f.name: getattr(metric, f.name) for f in fields(metric) if f.name in own}


def _written(metric: Metric, between: str) -> str:
    """The settings as they are written behind the name."""
    return between.join(f"{key}={written(value)}" for key, value in _settings(metric).items())
