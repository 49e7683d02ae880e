"""Names of metrics and their settings as people write them, and the likely meaning of an unknown name."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from inspect import signature

from nofluke.errors import InputError
from nofluke.metrics.base import Metric
from nofluke.metrics.functions import Function
from nofluke.plain import check_setting, meant, text_with_settings

IN_THE_NAME = ("curve",)  # settings that have a name for each of their values


def known_as(name: str, known: Collection[str]) -> str | None:
    """The name that is meant, whatever the case and the hyphens; None where there is no such name.

    >>> known = ["auc-roc", "f1"]
    >>> known_as("AUC_ROC", known), known_as("aucroc", known), known_as("auc", known)
    ('auc-roc', 'auc-roc', None)
    """
    if name in known:
        return name
    alike = [one for one in known if _letters(one) == _letters(name)]
    return alike[0] if len(alike) == 1 else None


def settings_of(metric: Metric) -> tuple[str, ...]:
    """What can be set behind the name, also where it is kept in another form.

    >>> from nofluke.metrics.tolerant import Recall
    >>> from nofluke.metrics.vus import VUS
    >>> settings_of(VUS()), settings_of(Recall())
    (('window', 'n_thresholds'), ('tolerance', 'early', 'late', 'unit'))
    """
    if isinstance(metric, Function):
        return ()
    return tuple(name for name in signature(type(metric)).parameters if name not in IN_THE_NAME)


def from_text(text: str, makers: Mapping[str, Callable[..., Metric]]) -> Metric:
    """The metric that a name with settings stands for."""
    told, settings = text_with_settings(text, "metric", "vus-pr:window=100")
    name = known_as(told, makers)
    if name is None:
        raise InputError(
            argument="metric",
            value=text,
            problem=f"must be one of {', '.join(map(repr, makers))}",
            remedy=meant(told, makers),
        )
    own = settings_of(makers[name]())
    for key in settings:
        if key in IN_THE_NAME and (named := [name for name, maker in makers.items() if hasattr(maker(), key)]):
            by_name = f"its name says it, {' or '.join(map(repr, named))}"
            raise InputError(argument="metric", value=text, problem=f"has no setting {key!r}", remedy=by_name)
        check_setting(key, own, "metric", text)
    try:
        return makers[name](**settings)
    except InputError as error:
        raise InputError(argument="metric", value=text, remedy=str(error)) from None


def _letters(name: str) -> str:
    return re.sub(r"[-_\s]", "", name.lower())
