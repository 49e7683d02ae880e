"""The null of the paper: events fall on random steps, the predictions stay where they are."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nofluke.distributions import FloatArray, NullDistribution, Side, TableNull, TailNull, hypergeometric
from nofluke.exact.few import few_cost
from nofluke.exact.hypergeometric import hypergeometric_pmf
from nofluke.nulls.base import METHODS, Joint, Method, NullModel, Nulls, simulated
from nofluke.nulls.bernoulli import donges
from nofluke.nulls.setting import Setting

PROGRAMME_OPERATIONS = 1e9  # the dynamic programme answers within a second up to here, with nothing to compile
PROGRAMME_BYTES = 1e9
FEW_OPERATIONS = 2e7  # up to here, some ten milliseconds, few events are walked through block by block
FEW_PATIENCE = 2e10  # and up to here, some ten seconds, where the Fourier inversion would be slow
CONCENTRATED = (
    25.0  # it is slow where the hits have a smaller variance: then their characteristic function hardly decays
)
SMALLEST_IN_TABLE = (
    1e-16  # probabilities below this are 0 in a table of the Fourier inversion; single tails have no limit
)
WORST_ERROR = 1e-7  # a Fourier tail whose error bound is larger is not believed
PROGRAMME_PATIENCE = 2e10  # and is left to the dynamic programme up to here, some ten seconds
FOURIER_SECONDS = 20.0  # above, "auto" takes the saddlepoint approximation and says so


@dataclass(frozen=True, kw_only=True)
class Permutation(NullModel):
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
    methods: ClassVar[tuple[Method, ...]] = METHODS

    @property
    def assumption(self) -> str:
        return (
            "Chance places the events on random steps, independently of one another; the predictions stay as they are."
        )

    @property
    def settings(self) -> dict[str, Any]:
        """None: how much work is spent on it is no part of what chance does."""
        return {}

    def draw(self, setting: Setting) -> None:
        """Uniformly: the compiled generator of the Monte Carlo engine does it."""

    def distributions(
        self, setting: Setting, method: Method = "auto", *, n_resamples: int = 10_000, rng: Any = None
    ) -> Nulls:
        self.check(method)
        if method == "montecarlo":
            moments = {"precision": setting.precision_moments, "recall": setting.recall_moments}
            return simulated(setting, n_resamples, rng, None, moments)
        if method == "binomial":
            return donges(setting)
        recall = hypergeometric(setting.n_steps, setting.windows.covered, setting.n_events)
        precision = _precision(setting, method, self.programme_operations)
        if precision is None:
            precision = self.distributions(setting, "montecarlo", n_resamples=n_resamples, rng=rng).precision
        return Nulls(precision=precision, recall=recall)

    def joint(self, setting: Setting, *, n_resamples: int = 10_000, rng: Any = None) -> Joint:
        """The joint distribution of both hits: exact where the dynamic programme is affordable, else simulated."""
        from nofluke.exact import few, programme

        if _programme_fits(setting, self.programme_operations):
            table = programme.joint_pmf(setting.windows, setting.n_events)
        elif few.few_cost(setting.windows, setting.n_events) <= FEW_PATIENCE:
            table = few.joint_pmf(setting.windows, setting.n_events)
        else:
            return super().joint(setting, n_resamples=n_resamples, rng=rng)
        recall_hits, precision_hits = np.nonzero(table)
        return Joint(
            recall_hits=recall_hits,
            precision_hits=precision_hits,
            weights=table[recall_hits, precision_hits],
            method="exact (dynamic programme)",
        )


def _programme_fits(setting: Setting, operations: float) -> bool:
    from nofluke.exact.programme import programme_bytes, programme_cost

    return (
        programme_cost(setting.windows, setting.n_events) <= operations
        and programme_bytes(setting.windows, setting.n_events) <= PROGRAMME_BYTES
    )


def _precision(setting: Setting, method: Method, programme_operations: float) -> NullDistribution | None:
    """Precision's null: by a dynamic programme if small or with few events, else by tilted Fourier inversion.

    Where that would take long, "auto" takes the saddlepoint approximation, or None, for Monte Carlo, where the hits are too
    concentrated for it. Nothing is computed yet but mean and variance: tails and tables are made when first asked for.
    """
    if method == "saddlepoint":
        return _by_saddlepoint(setting)
    windows, m = setting.windows, setting.n_events
    mean, var = setting.precision_moments.mean, setting.precision_moments.var
    if (windows.stops - windows.starts == 1).all():  # one event, one hit: as many hits as events on predictions
        return _by(lambda: hypergeometric_pmf(setting.n_steps, windows.n, m), setting, "exact (hypergeometric)")
    if var == 0.0:
        return _by(lambda: np.eye(1, round(mean) + 1, round(mean))[0], setting, "exact (constant)")
    if _programme_fits(setting, programme_operations):
        return _by_programme(setting)
    few = few_cost(windows, m)
    if few <= FEW_OPERATIONS:
        return _by_few(setting)
    _announce()
    from nofluke.exact import fourier

    if fourier.estimate_cost(windows, m) > FOURIER_SECONDS:
        if few <= FEW_PATIENCE:
            return _by_few(setting)
        if method == "auto":
            return None if var < CONCENTRATED else _by_saddlepoint(setting)

    def whole() -> FloatArray:
        low, values = fourier.pmf(windows, m, floor=SMALLEST_IN_TABLE)
        table = np.zeros(windows.n + 1)
        table[low : low + len(values)] = values
        return table

    def tail(hits: int, side: Side) -> float:
        found = fourier.tail(windows, m, hits, side=side)
        if found.relative_error_bound > WORST_ERROR:
            if _programme_fits(setting, PROGRAMME_PATIENCE):
                programme = _by_programme(setting)
                return programme.upper(hits) if side == "upper" else programme.lower(hits)
            null.method = "upper bound (the Fourier inversion was not certified)"
        return found.p

    null = TailNull(size=windows.n, mean=mean, var=var, method="exact (Fourier)", tail=tail, table=whole)
    return null


def _by(table: Callable[[], FloatArray], setting: Setting, method: str) -> TableNull:
    """Precision's null from a table of its first probabilities, made when asked for."""

    def whole() -> FloatArray:
        values = table()
        return np.pad(values, (0, setting.n_predictions + 1 - len(values)))

    moments = setting.precision_moments
    return TableNull(whole, size=setting.n_predictions, mean=moments.mean, var=moments.var, method=method)


def _by_programme(setting: Setting) -> TableNull:
    from nofluke.exact.programme import precision_pmf

    return _by(lambda: precision_pmf(setting.windows, setting.n_events), setting, "exact (dynamic programme)")


def _by_few(setting: Setting) -> TableNull:
    from nofluke.exact.few import joint_pmf

    return _by(lambda: joint_pmf(setting.windows, setting.n_events).sum(axis=0), setting, "exact (dynamic programme)")


def _by_saddlepoint(setting: Setting) -> TailNull:
    _announce()
    from nofluke.exact import saddlepoint

    windows, m, moments = setting.windows, setting.n_events, setting.precision_moments

    def tail(hits: int, side: Side) -> float:
        return saddlepoint.tail(windows, m, hits, side=side).p

    return TailNull(
        size=windows.n,
        mean=moments.mean,
        var=moments.var,
        method="saddlepoint (approximate)",
        tail=tail,
        table=lambda: _from_tails(tail, moments.mean, math.sqrt(moments.var), windows.n),
    )


def _announce() -> None:
    """Say that the inversion is about to be compiled, if it is."""
    from nofluke.exact import kernels
    from nofluke.progress import announce_compilation

    announce_compilation(kernels.invert, seconds=8)


def _from_tails(upper: Callable[[int, Side], float], mean: float, std: float, size: int) -> FloatArray:
    """A table from differences of approximate tails, as far as eight standard deviations from the mean."""
    low, high = max(0, math.floor(mean - 8 * std)), min(size, math.ceil(mean + 8 * std))
    tails = [1.0, *(upper(k, "upper") for k in range(low + 1, high + 1)), 0.0]
    table = np.zeros(size + 1)
    table[low : high + 1] = np.maximum(-np.diff(np.minimum.accumulate(tails)), 0.0)
    return table
