"""The measure of a scorer: precision, recall and F1 within a tolerance, and every other metric without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nofluke.errors import InputError, arg, say
from nofluke.inference.significance import as_metrics
from nofluke.metrics.base import Metric, Needs
from nofluke.metrics.near import Tolerant
from nofluke.metrics.spelling import known_as
from nofluke.metrics.tolerant import Precision, Recall, TolerantF1
from nofluke.series.tolerance import Length, Tolerance, as_tolerance

TOLERANT: dict[str, type[Tolerant]] = {"precision": Precision, "recall": Recall, "f1": TolerantF1}

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
