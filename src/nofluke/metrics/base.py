"""What every metric is: a name, what it needs, its perfect value, and its value on many draws of a series at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

import numpy as np

from nofluke.arrays import AnyArray, FloatArray
from nofluke.compiled import compiled
from nofluke.errors import InputError, arg, joined, say
from nofluke.metrics.draws import Draws
from nofluke.metrics.labelled import Labelled, read_labelled
from nofluke.plain import check_beta
from nofluke.series.reading import clock_of

Needs = Literal["scores", "alarms"]
Better = Literal["higher", "lower"]
kernel = compiled(error_model="numpy")  # a metric's loops over draws


@dataclass(frozen=True, kw_only=True)
class Metric(ABC):
    """A metric of a labelled series; call it for its value.

    Your own metric need not be a subclass: any function of (labels, scores or alarms) will do, see
    :func:`nofluke.metrics.register`.

    Attributes
    ----------
    name : str
        As :func:`nofluke.metrics.get` and ``--metric`` know it, without settings.
    title : str
        In words, with its reference.
    needs : {"scores", "alarms"}
    better : {"higher", "lower"}
        Which values are better.
    perfect : float or None
        The best possible value; None if unknown.
    declared : bool
        Whether it states what it needs; a bare function gets what there is.
    compiled : bool
        Whether `values` runs without the interpreter's lock.
    any_window : bool
        Whether `values` takes any window of a longer detector; else only rotations of one that is laid out twice, whose
        values are the same in every window.

    See Also
    --------
    nofluke.metrics.get : a metric by its name.
    nofluke.metrics.Function : a metric from a plain function.
    nofluke.significance : its value against chance.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    needs: ClassVar[Needs] = "alarms"
    better: ClassVar[Better] = "higher"
    perfect: ClassVar[float | None] = 1.0
    compiled: ClassVar[bool] = True
    declared: ClassVar[bool] = True
    any_window: ClassVar[bool] = True

    def __post_init__(self) -> None:  # noqa: B027 - some have no settings
        """Check the settings."""

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that it was made with, where they are not the defaults."""
        values = {f.name: (getattr(self, f.name), f.default) for f in fields(self) if f.init}
        return {name: value for name, (value, default) in values.items() if value != default}

    @property
    def text(self) -> str:
        """Name and settings as :func:`nofluke.metrics.get` and ``--metric`` read them: "vus-pr:window=50"."""
        settings = ",".join(f"{key}={written(value)}" for key, value in self.settings.items())
        return f"{self.name}:{settings}" if settings else self.name

    def reach(self, series: Labelled) -> int:
        """Steps around a labelled run where the detector still counts for it; chance must move further."""
        del series
        return 0

    def work(self, series: Labelled) -> float:
        """About how many nanoseconds a draw takes: all rotations are enumerated only if that is affordable."""
        return 20.0 * len(series.truth.starts) + 100.0

    @abstractmethod
    def tables(self, detector: AnyArray, series: Labelled) -> Any:
        """What is worked out once for a detector, which may be laid out longer than the series."""

    @abstractmethod
    def values(self, tables: Any, draws: Draws) -> FloatArray:
        """Its value for each draw; NaN where it is undefined. Without the interpreter's lock where it is compiled."""

    def at_once(self, series: Labelled) -> bool:
        """Whether `every_rotation` has a way that is faster than one by one."""
        del series
        return False

    def every_rotation(self, detector: AnyArray, series: Labelled) -> FloatArray:
        """Its value for the detector begun at each of its steps in turn."""
        every = Draws.moving(series.runs, series.n_steps, np.arange(series.n_steps))
        return self.values(self.tables(np.concatenate([detector, detector]), series), every)

    def mean_by_permutation(self, series: Labelled) -> float | None:
        """Its mean over all permutations of the steps, where that is known without any."""
        del series
        return None

    def on_random_scores(self, series: Labelled, n: int, generator: np.random.Generator) -> FloatArray | None:
        """Its value for so many detectors with independent random scores, where they need not be made to know it."""
        del series, n, generator
        return None

    def value(self, series: Labelled) -> float:
        """Its value on the series as it is."""
        detector = series.detector(self.needs, self.text)
        only = Draws.moving(series.runs, series.n_steps, np.zeros(1, dtype=np.int64))
        return float(self.values(self.tables(detector, series), only)[0])

    def __call__(
        self,
        truth: Any = None,
        detector: Any = None,
        X: Any = None,
        *,
        y_true: Any = None,
        y_pred: Any = None,
        y_score: Any = None,
        **given: Any,
    ) -> float:
        """The value of the metric; called as functions of aeon are, and as metrics of sktime.

        Parameters
        ----------
        truth : array-like
            Labels, positions, times or ranges, as :func:`nofluke.evaluate` takes them.
        detector : array-like
            Scores where the metric needs them; where it needs alarms, these as 0/1, or scores with ``threshold``,
            ``quantile`` or ``budget``.
        X : array-like, optional
            The series that was watched, as metrics of sktime take it. It says how many steps there are where truth and
            alarms are both lists of events; an index of dates is the clock.
        y_true, y_pred, y_score : array-like, optional
            The names that sktime, aeon and scikit-learn use: ``y_true`` is ``truth``, ``y_pred`` is ``detector``, and
            ``y_score`` is ``detector`` as scores.
        **given
            ``predictions``, ``threshold``, ``quantile``, ``budget``, ``times``, ``mask``, ``warmup``, ``truth_as``,
            ``higher_is``, ``missing``, ``count_events`` and ``overlaps``, as :func:`nofluke.evaluate` takes them.

        Returns
        -------
        float
            NaN where the metric is undefined.
        """
        truth = _one_of(truth=truth, y_true=y_true)
        detector = _one_of(detector=detector, y_pred=y_pred, y_score=y_score)
        if truth is None:
            raise InputError(problem="a metric needs the truth", remedy=say("pass {}, or y_true=", arg("truth")))
        if X is not None and given.get("times") is None:
            given["times"] = clock_of(X)
        cut = any(given.get(way) is not None for way in ("threshold", "quantile", "budget"))
        as_alarms = self.needs == "alarms" and detector is not None and y_score is None
        if as_alarms and given.get("predictions") is None and not cut:
            return self.value(read_labelled(truth, predictions=detector, **given))
        return self.value(read_labelled(truth, detector, **given))


@dataclass(frozen=True, kw_only=True)
class FBeta(Metric):
    """One that is an F_β."""

    beta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "beta", check_beta(self.beta))


def _one_of(**names: Any) -> Any:
    """The value of an argument that has several names."""
    passed = {name: value for name, value in names.items() if value is not None}
    if len(passed) > 1:
        raise InputError(
            problem=say("pass either {}", joined(" or ", map(arg, passed))), remedy="they are the same argument"
        )
    return next(iter(passed.values()), None)


def written(value: Any) -> Any:
    """A setting as people write it: 1, not 1.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
