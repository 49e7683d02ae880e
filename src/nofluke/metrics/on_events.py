"""Metrics that compare two lists of events, such as sktime's: they take frames of positions or of intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray
from nofluke.metrics.functions import Function
from nofluke.series.counting import runs


def is_on_events(metric: Any) -> bool:
    """Whether an object's tags call it a detection metric, as those of sktime do; sktime is not imported for this."""
    tags = getattr(metric, "get_tags", None)
    return callable(metric) and callable(tags) and "metric_detection" in tags().get("object_type", ())


def function_on_events(metric: Any) -> Function:
    """Such a metric as a function of 0/1 labels and alarms; its tags say which values are better."""
    return Function(
        function=OnEvents(metric=metric),
        name=" ".join(repr(metric).split()),
        needs="alarms",
        better="lower" if metric.get_tags().get("lower_is_better", True) else "higher",
    )


@dataclass(frozen=True, kw_only=True)
class OnEvents:
    """Calls a metric with what it expects: each flagged step as a point, or each run as a left-closed segment."""

    metric: Any

    def __call__(self, labels: AnyArray, alarms: AnyArray) -> Any:
        import pandas as pd

        steps = pd.DataFrame({"x": np.zeros(len(labels))})  # some metrics ask how long the series is
        return self.metric(self._events(labels), self._events(alarms), steps)

    def _events(self, flags: AnyArray) -> Any:
        import pandas as pd

        at = np.flatnonzero(flags)
        if self.metric.get_tags().get("scitype:y") != "segments":
            return pd.DataFrame({"ilocs": at})
        found = runs(at)
        return pd.DataFrame({"ilocs": pd.IntervalIndex.from_arrays(found.starts, found.stops, closed="left")})
