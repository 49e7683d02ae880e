"""Any function of labels and scores (or alarms) as a metric: another library's, or one's own."""

from __future__ import annotations

import math
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from nofluke.arrays import AnyArray, FloatArray
from nofluke.errors import InputError, shown
from nofluke.metrics.base import Better, Metric, Needs
from nofluke.metrics.draws import Draws
from nofluke.metrics.labelled import Labelled
from nofluke.plain import as_flag, as_number, check_word, number_or_none
from nofluke.series.counting import runs


@dataclass(frozen=True, kw_only=True)
class Function(Metric):
    """A function ``f(labels, x)`` that returns a number; x holds the scores or the alarms of the steps that count.

    Labels and alarms are given as 0 and 1 (int64), scores as float64, flipped if needed so that higher ones are
    anomalous.

    Parameters
    ----------
    function : callable
    name : str
    needs : {"scores", "alarms"}
    better : {"higher", "lower"}
    perfect : float, optional
        The best possible value; without it, values are not corrected for chance.
    declared : bool
        Whether ``needs`` was stated; False for a bare function, which gets alarms if there are any.

    See Also
    --------
    nofluke.metrics.register : gives a function a name.
    nofluke.metrics.Metric : a class for faster metrics.

    Examples
    --------
    >>> overlap = Function(function=lambda labels, alarms: (labels & alarms).sum(), name="overlap", needs="alarms")
    >>> overlap([0, 1, 1, 0], [0, 0, 1, 1])
    1.0
    """

    function: Callable[[AnyArray, AnyArray], Any] = field(repr=False)
    name: str = "function"  # type: ignore[misc]
    needs: Needs = "scores"  # type: ignore[misc]
    better: Better = "higher"  # type: ignore[misc]
    perfect: float | None = None  # type: ignore[misc]
    declared: bool = True  # type: ignore[misc]

    title: ClassVar[str] = "a function of labels and scores or alarms"
    compiled: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(
                argument="function", value=self.function, problem="must be a function of labels and scores or alarms"
            )
        if not isinstance(self.name, str) or not self.name.strip():
            raise InputError(argument="name", value=self.name, problem="must be text, such as 'my-metric'")
        check_word(self.needs, "needs", ("scores", "alarms"))
        check_word(self.better, "better", ("higher", "lower"))
        as_flag(self.declared, "declared")
        if self.perfect is not None:
            perfect = as_number(self.perfect, "perfect", "be a finite number, or None if unknown", math.isfinite)
            object.__setattr__(self, "perfect", perfect)

    def __getstate__(self) -> dict[str, Any]:
        """Results can be pickled whatever they measured: a function that cannot be is left behind."""
        state = dict(self.__dict__)
        if not can_pickle(self.function):
            state["function"] = _left_behind
        return state

    @property
    def text(self) -> str:
        """Its name."""
        return self.name

    def work(self, series: Labelled) -> float:
        """Nobody knows: it is called as often as it was asked to be, and no more."""
        del series
        return math.inf

    def tables(self, detector: AnyArray, series: Labelled) -> AnyArray:
        del series
        return np.array(detector, dtype=np.int64 if detector.dtype.kind == "b" else np.float64)

    def values(self, tables: AnyArray, draws: Draws) -> FloatArray:
        found = np.empty(len(draws))
        for i, begin in enumerate(draws.begins.tolist()):
            labels = draws.flags(i).astype(np.int64)
            # a copy: what a function does to its arguments is its own affair
            found[i] = self._number(self.function(labels, tables[begin : begin + draws.n_steps].copy()))
        return found

    def _number(self, value: Any) -> float:
        number = number_or_none(value)
        if number is None and np.ndim(value) == 0 and hasattr(value, "item"):  # a tensor of one number
            number = number_or_none(value.item())
        if number is None:
            raise InputError(argument="metric", value=self.name, problem=f"must return a number, got {shown(value)}")
        return number


def can_pickle(function: Any) -> bool:
    """Whether another process could be given it: it is not local, and its module can be imported."""
    function = function.function if isinstance(function, Function) else function
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    if module is not None and module.__name__ == "__main__" and not hasattr(module, "__file__"):
        return False  # an interactive session: pickled by name, which no other process can find
    try:
        pickle.dumps(function)
    except Exception:  # lambdas, closures, locks: each fails in its own way
        return False
    return True


def _left_behind(*_: Any) -> float:
    raise InputError(
        problem="the function of this metric could not be pickled, and stayed in the process that made the result"
    )


# ---- metrics that compare two lists of events, such as sktime's: they take frames of positions or of intervals


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
