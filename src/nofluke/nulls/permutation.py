"""The null of the paper: events fall on random steps, the predictions stay where they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nofluke.distributions import hypergeometric
from nofluke.nulls.base import METHODS, Joint, Method, NullModel, Nulls, simulated
from nofluke.nulls.bernoulli import donges
from nofluke.nulls.precision import (
    FEW_PATIENCE,
    PROGRAMME_OPERATIONS,
    PrecisionSaddlepoint,
    announce_compilation,
    precision_law,
    table_engine,
)
from nofluke.nulls.setting import Setting


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
            known = {"precision": setting.precision_moments, "recall": setting.recall_moments}
            return simulated(setting, n_resamples, rng, None, known)
        if method == "binomial":
            return donges(setting)
        recall = hypergeometric(setting.n_steps, setting.windows.covered, setting.n_events)
        windows, m, moments = setting.windows, setting.n_events, setting.precision_moments
        if method == "saddlepoint":
            announce_compilation()
            return Nulls(precision=PrecisionSaddlepoint(windows, m, moments), recall=recall)
        precision = precision_law(windows, m, moments, method, self.programme_operations)
        if precision is None:
            precision = self.distributions(setting, "montecarlo", n_resamples=n_resamples, rng=rng).precision
        return Nulls(precision=precision, recall=recall)

    def joint(self, setting: Setting, *, n_resamples: int = 10_000, rng: Any = None) -> Joint:
        """The joint distribution of both hits: exact where the dynamic programme is affordable, else simulated."""
        from nofluke.exact import few, programme

        engine = table_engine(setting.windows, setting.n_events, self.programme_operations, FEW_PATIENCE)
        if engine is None:
            return super().joint(setting, n_resamples=n_resamples, rng=rng)
        table = (few if engine == "few" else programme).joint_pmf(setting.windows, setting.n_events)
        recall_hits, precision_hits = np.nonzero(table)
        return Joint(
            recall_hits=recall_hits,
            precision_hits=precision_hits,
            weights=table[recall_hits, precision_hits],
            method="exact (dynamic programme)",
        )
