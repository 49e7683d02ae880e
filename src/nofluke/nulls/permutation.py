"""The null of the paper: events fall on random steps, the predictions stay where they are."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from nofluke.distributions import (
    EmpiricalNull,
    FloatArray,
    IntArray,
    NullDistribution,
    TableNull,
    TailNull,
    binomial,
    hypergeometric,
)
from nofluke.errors import InputError
from nofluke.nulls.setting import Setting

Method = Literal["auto", "exact", "montecarlo", "saddlepoint", "binomial"]
METHODS: tuple[Method, ...] = ("auto", "exact", "montecarlo", "saddlepoint", "binomial")

PROGRAMME_OPERATIONS = 1e9  # the dynamic programme answers within a second up to here, with nothing to compile
PROGRAMME_BYTES = 1e9
FOURIER_SECONDS = 60.0  # above, "auto" takes the saddlepoint approximation and says so


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """Weights of pairs (recall's hits, precision's hits), from all placements or from random ones."""

    recall_hits: IntArray
    precision_hits: IntArray
    weights: FloatArray
    method: str
    n_resamples: int | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Nulls:
    """The null distributions of both hits."""

    precision: NullDistribution
    recall: NullDistribution


@dataclass(frozen=True, slots=True, kw_only=True)
class Permutation:
    """Events are placed uniformly at random on the steps that count; the predictions are fixed.

    Recall's hits are then hypergeometric. Precision's hits are overdispersed, since one event makes hits of all
    predictions around it; their exact distribution follows from the windows of the predictions.

    Use it where events come one at a time and do not cluster. It keeps the number of events and everything about the
    predictions, and tears apart whatever clustering or season the events have.

    Parameters
    ----------
    programme_operations : float
        Up to how many operations the dynamic programme is taken before the compiled Fourier inversion.

    References
    ----------
    Scharwächter and Müller (2020), section 3.
    """

    programme_operations: float = PROGRAMME_OPERATIONS

    name: ClassVar[str] = "permutation"
    assumption: ClassVar[str] = (
        "Chance places the events on random steps, independently of one another; the predictions stay as they are."
    )

    def distributions(
        self, setting: Setting, method: Method = "auto", *, n_resamples: int = 10_000, rng: Any = None
    ) -> Nulls:
        """Both null distributions, by the method asked for."""
        check_method(method)
        if method == "montecarlo":
            return _simulated(setting, n_resamples, rng)
        if method == "binomial":
            return _donges(setting)
        recall = hypergeometric(setting.n_steps, setting.windows.covered, setting.n_events)
        return Nulls(precision=_precision(setting, method, self.programme_operations), recall=recall)

    def joint(self, setting: Setting, *, n_resamples: int = 10_000, rng: Any = None) -> Joint:
        """The joint distribution of both hits: exact where the dynamic programme is affordable, else simulated."""
        from nofluke.exact.programme import joint_pmf

        if _programme_fits(setting, self.programme_operations):
            table = joint_pmf(setting.windows, setting.n_events)
            recall_hits, precision_hits = np.nonzero(table)
            return Joint(
                recall_hits=recall_hits,
                precision_hits=precision_hits,
                weights=table[recall_hits, precision_hits],
                method="exact (dynamic programme)",
            )
        from nofluke.montecarlo import Hits

        seed = as_seed(rng)
        nothing = Hits(precision=np.zeros((1, 1), dtype=np.int64), recall=np.zeros((1, 1), dtype=np.int64))
        found = _simulate(setting, n_resamples, rng if seed is None else seed, nothing, joint=[(0, 0)]).joint[0, 0]
        return Joint(
            recall_hits=found.recall_hits,
            precision_hits=found.precision_hits,
            weights=found.counts.astype(np.float64),
            method="montecarlo",
            n_resamples=n_resamples,
            seed=seed,
        )


def check_method(method: object) -> None:
    """Refuse what is no method."""
    if method not in METHODS:
        raise InputError(f"method={method!r} must be one of {', '.join(map(repr, METHODS))}.")


def as_seed(rng: Any) -> int | None:
    """The seed to report: the one given, a fresh one for None, none for a generator that is already running."""
    if rng is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))
    return int(rng) if isinstance(rng, int | np.integer) else None


def _programme_fits(setting: Setting, operations: float) -> bool:
    from nofluke.exact.programme import programme_bytes, programme_cost

    return (
        programme_cost(setting.windows, setting.n_events) <= operations
        and programme_bytes(setting.windows, setting.n_events) <= PROGRAMME_BYTES
    )


def _precision(setting: Setting, method: Method, programme_operations: float) -> NullDistribution:
    """Precision's null: by the dynamic programme if small, else by tilted Fourier inversion, else approximately.

    Nothing is computed yet but mean and variance: tails and tables are made when they are first asked for.
    """
    windows, m = setting.windows, setting.n_events
    mean, var = setting.precision_moments.mean, setting.precision_moments.var
    if method != "saddlepoint" and _programme_fits(setting, programme_operations):
        from nofluke.exact.programme import precision_pmf

        return TableNull(
            lambda: precision_pmf(windows, m), size=windows.n, mean=mean, var=var, method="exact (dynamic programme)"
        )
    from nofluke.exact import fourier, saddlepoint

    if method == "saddlepoint" or (method == "auto" and fourier.estimate_cost(windows, m) > FOURIER_SECONDS):
        engine: Any = saddlepoint
        name = "saddlepoint (approximate)"
    else:
        engine = fourier
        name = "exact (Fourier)"

    def whole() -> FloatArray:
        low, values = engine.pmf(windows, m)
        table = np.zeros(windows.n + 1)
        table[low : low + len(values)] = values
        return table

    def tail(hits: int, side: str) -> float:
        return float(engine.tail(windows, m, hits, side=side).p)

    return TailNull(size=windows.n, mean=mean, var=var, method=name, tail=tail, table=whole)


def _donges(setting: Setting) -> Nulls:
    """Donges et al. (2016): independent trials, each hit with the chance that a window of average width is not empty."""
    windows, m, n = setting.windows, setting.n_events, setting.n_predictions
    widths = setting.cover.stops - setting.cover.starts
    missed = 1 - float(widths.mean()) / setting.n_steps
    return Nulls(precision=binomial(windows.n, 1 - missed**m), recall=binomial(m, 1 - missed**n))


def _simulated(setting: Setting, n_resamples: int, rng: Any) -> Nulls:
    """Both nulls as histograms of random placements; their means and variances are exact all the same."""
    from nofluke.montecarlo import Hits

    seed = as_seed(rng)
    nothing = Hits(precision=np.zeros((1, 1), dtype=np.int64), recall=np.zeros((1, 1), dtype=np.int64))
    found = _simulate(setting, n_resamples, rng if seed is None else seed, nothing, histograms="all")
    nulls = {}
    for side, size, moments in (
        ("precision", setting.n_predictions, setting.precision_moments),
        ("recall", setting.n_events, setting.recall_moments),
    ):
        counts = np.zeros(size + 1, dtype=np.int64)
        histogram = getattr(found, side).histograms[0, 0]
        counts[: len(histogram)] = histogram
        nulls[side] = EmpiricalNull(counts, mean=moments.mean, var=moments.var, n_resamples=n_resamples, seed=seed)
    return Nulls(**nulls)


def _simulate(setting: Setting, n_resamples: int, rng: Any, observed: Any, **kept: Any) -> Any:
    from nofluke import montecarlo
    from nofluke.progress import progress_bar

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
            observed=observed,
            rng=rng,
            workers=os.cpu_count() or 1,
            progress=advance,
            **kept,
        )
