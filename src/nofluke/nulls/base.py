"""What every null model is: a name, an assumption in one sentence, and the null distributions of both hits."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from nofluke.distributions import EmpiricalNull, FloatArray, IntArray, NullDistribution
from nofluke.nulls.setting import Setting
from nofluke.plain import as_rng, as_whole, check_word

Method = Literal["auto", "exact", "montecarlo", "saddlepoint", "binomial"]
METHODS: tuple[Method, ...] = ("auto", "exact", "montecarlo", "saddlepoint", "binomial")
Draw = Callable[[np.random.Generator, int], npt.NDArray[Any]]
MOST_STEPS = 2**31 - 1  # of a period or a shift: products of two such numbers do not overflow
MOST_RESAMPLES = 10**10  # days of work even for a handful of steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Nulls:
    """The null distributions of both hits."""

    precision: NullDistribution
    recall: NullDistribution


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """Weights of pairs (recall's hits, precision's hits), from all placements or from random ones."""

    recall_hits: IntArray
    precision_hits: IntArray
    weights: FloatArray
    method: str
    n_resamples: int | None = None
    seed: int | None = None


class NullModel(ABC):
    """A null model: what chance does with the events while the predictions stay where they are."""

    name: ClassVar[str]
    methods: ClassVar[tuple[Method, ...]] = ("auto", "montecarlo")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not hasattr(cls, "name"):
            cls.name = cls.__name__

    @property
    @abstractmethod
    def assumption(self) -> str:
        """What the null takes for granted, in one plain sentence."""

    @property
    def settings(self) -> dict[str, Any]:
        """The numbers and names that it was made with, where they are not the defaults."""
        if not is_dataclass(self):  # a class of the user's need not be one
            return {}
        values = {f.name: (getattr(self, f.name), f.default) for f in fields(self) if f.init}
        return {
            name: value
            for name, (value, default) in values.items()
            if isinstance(value, int | float | str) and value != default
        }

    @property
    def text(self) -> str:
        """Name and settings as :func:`nofluke.nulls.as_null` and ``--null`` read them: "seasonal:period=24"."""
        settings = ",".join(f"{key}={value}" for key, value in self.settings.items())
        return f"{self.name}:{settings}" if settings else self.name

    @abstractmethod
    def draw(self, setting: Setting) -> Draw | None:
        """How chance places the events, as a function of a generator and a number of rows; None for uniformly."""

    def distributions(
        self, setting: Setting, method: Method = "auto", *, n_resamples: int = 10_000, rng: Any = None
    ) -> Nulls:
        """Both null distributions, by the method asked for."""
        self.check(method)
        return simulated(setting, n_resamples, rng, self.draw(setting))

    def joint(self, setting: Setting, *, n_resamples: int = 10_000, rng: Any = None) -> Joint:
        """The joint distribution of both hits, by simulation unless the model knows better."""
        seed = as_seed(rng)
        found = _simulate(setting, n_resamples, rng if seed is None else seed, self.draw(setting), joint=[(0, 0)])
        pairs = found.joint[0, 0]
        return Joint(
            recall_hits=pairs.recall_hits,
            precision_hits=pairs.precision_hits,
            weights=pairs.counts.astype(np.float64),
            method="montecarlo",
            n_resamples=n_resamples,
            seed=seed,
        )

    def check(self, method: object) -> None:
        """Refuse a method that this null does not have."""
        check_word(method, "method", self.methods, f" for the null {self.name}")


def check_resamples(n_resamples: object) -> int:
    """The number of resamples as a plain int; refuses what is none, or more than anyone can wait for."""
    return as_whole(n_resamples, "n_resamples", 1, MOST_RESAMPLES)


def as_seed(rng: Any) -> int | None:
    """The seed to report: the one given, a fresh one for None, none for a generator that is already running."""
    rng = as_rng(rng)
    if rng is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))
    return rng if isinstance(rng, int) else None


def simulated(
    setting: Setting, n_resamples: int, rng: Any, draw: Draw | None, moments: dict[str, Any] | None = None
) -> Nulls:
    """Both nulls as histograms of random placements; with exact means and variances where they are known."""
    seed = as_seed(rng)
    found = _simulate(setting, n_resamples, rng if seed is None else seed, draw, histograms="all")
    nulls = {}
    for side, size in (("precision", setting.n_predictions), ("recall", setting.n_events)):
        counts = np.zeros(size + 1, dtype=np.int64)
        tally = getattr(found, side)
        histogram = tally.histograms[0, 0]
        counts[: len(histogram)] = histogram
        mean, var = float(tally.mean[0, 0]), float(np.nan_to_num(tally.variance[0, 0]))
        if moments is not None:
            mean, var = moments[side].mean, moments[side].var
        nulls[side] = EmpiricalNull(counts, mean=mean, var=var, n_resamples=n_resamples, seed=seed)
    return Nulls(**nulls)


def _simulate(setting: Setting, n_resamples: int, rng: Any, draw: Draw | None, **kept: Any) -> Any:
    from nofluke import montecarlo
    from nofluke.montecarlo import kernels
    from nofluke.progress import announce_compilation, progress_bar

    announce_compilation(kernels.draw_hits, seconds=3)
    nothing = np.zeros((1, 1), dtype=np.int64)
    problem = montecarlo.Problem(
        level=setting.alarms.astype(np.int64),
        n_thresholds=1,
        n_events=setting.n_events,
        cover_start=setting.cover.starts,
        cover_stop=setting.cover.stops,
    )
    with progress_bar("permutations", n_resamples) as advance:
        return montecarlo.simulate(
            problem,
            n_resamples=n_resamples,
            observed=montecarlo.Hits(precision=nothing, recall=nothing),
            rng=rng,
            workers=os.cpu_count() or 1,
            progress=advance,
            draw=draw,
            **kept,
        )
