"""Null models: what chance does. Each is one small class that says what it keeps fixed and what it randomises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from inspect import signature
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nofluke.data.columns import as_column
from nofluke.errors import InputError, Shown, say
from nofluke.laws.montecarlo import Draw
from nofluke.nulls.base import NullModel
from nofluke.nulls.circular import CircularShift
from nofluke.nulls.local import Jitter, LocalPermutation, LocalShift
from nofluke.nulls.periods import PeriodShuffle
from nofluke.nulls.permutation import Bernoulli, Permutation
from nofluke.nulls.random_scores import RandomScores, ScorePermutation
from nofluke.nulls.seasonal import Seasonal
from nofluke.nulls.shuffles import Blocks, IntervalShuffle, Segments
from nofluke.nulls.stationary import Stationary
from nofluke.plain import check_setting, meant, text_with_settings
from nofluke.series.clock import listing
from nofluke.series.truth import Truth

__all__ = [
    "Bernoulli",
    "Blocks",
    "CircularShift",
    "Custom",
    "IntervalShuffle",
    "Jitter",
    "LocalPermutation",
    "LocalShift",
    "NullModel",
    "PeriodShuffle",
    "Permutation",
    "RandomScores",
    "ScorePermutation",
    "Seasonal",
    "Segments",
    "Stationary",
    "as_null",
]

# ---- your own null: any function that draws labels


@dataclass(frozen=True)
class Custom(NullModel):
    """A function draws the labels with a NumPy generator; the predictions are fixed.

    Parameters
    ----------
    function : callable
        Takes a ``numpy.random.Generator`` and returns 0/1 labels for all steps. Steps that are left out do not matter;
        on the others there must be as many events as observed, since hits are compared as counts.

    See Also
    --------
    nofluke.nulls.as_null : accepts a function directly.
    nofluke.nulls.NullModel : the base class of all nulls.
    """

    function: Callable[[np.random.Generator], Any]

    name: ClassVar[str] = "custom"

    @property
    def assumption(self) -> str:
        return say("Chance draws the {events} with a user-supplied function; the {predictions} stay in place.")

    @property
    def code(self) -> str:
        """A function of the user's."""
        return "your_function"

    def draw(self, side: Truth) -> Draw:
        def drawn(generator: np.random.Generator, size: int) -> npt.NDArray[Any]:
            return np.array([self._events(generator, side) for _ in range(size)]).reshape(size, side.n)

        return drawn

    def _events(self, generator: np.random.Generator, side: Truth) -> npt.NDArray[Any]:
        try:
            drawn = self.function(generator)
        except Exception as error:
            raise InputError(
                problem=f"null's function failed with {type(error).__name__} ({error})",
                remedy="it gets a NumPy generator and must return labels",
            ) from error
        labels, n = as_column(drawn, "what null draws").values, len(side.open_steps)
        if len(labels) != n:
            raise InputError(argument="null", problem=f"must draw {n} labels of 0 and 1, got shape {labels.shape}")
        labels = labels[side.open_steps]
        wrong = labels[~np.isin(labels, (0, 1))]
        if len(wrong):
            raise InputError(argument="null", problem=f"must draw {n} labels of 0 and 1, got {listing(wrong)}")
        events = np.flatnonzero(labels)
        if len(events) != side.n:
            raise InputError(
                argument="null",
                problem=f"drew {len(events)} events where the data have {side.n}",
                remedy="draw the same number",
            )
        return events


# ---- nulls by their names

Null = str | NullModel | Callable[..., Any]

MODELS: dict[str, type[NullModel]] = {
    model.name: model
    for model in (
        Permutation,
        CircularShift,
        LocalShift,
        LocalPermutation,
        Jitter,
        Seasonal,
        PeriodShuffle,
        IntervalShuffle,
        Segments,
        Blocks,
        Bernoulli,
        Stationary,
    )
}
SERIES_EXCHANGE = "series-exchange"  # of labels between the series of a study: no model of one series
NAMES = tuple(MODELS)  # of the nulls that place events; those of scores are for metrics alone

_EXAMPLES = {
    "blocks": "blocks:length=48",
    "seasonal": "seasonal:period=24",
    "jitter": "jitter:window=1h",
    "period-shuffle": "period-shuffle:period=day",
}

# how much work is spent is no part of what chance does, and labels of strata are too many for a word
_NOT_IN_WORDS = ("programme_operations", "strata")


def as_null(null: Null) -> NullModel:
    """A null model from a model, a function that draws labels, or a name such as "seasonal:period=24,bins=12".

    >>> as_null("circular-shift")
    CircularShift(guard=0, every=None)
    >>> as_null("blocks:length=48")
    Blocks(length=48)

    See Also
    --------
    nofluke.nulls.NullModel : the base class of all nulls.
    nofluke.diagnose : which null fits the data.
    """
    if isinstance(null, NullModel):
        return null
    if isinstance(null, str):
        return _named(null)
    if isinstance(null, type):
        raise InputError(
            argument="null",
            value=Shown(null.__name__),
            problem="is a class",
            remedy=f"pass an instance, {null.__name__}(...)",
        )
    if callable(null):
        return Custom(null)
    raise InputError(
        argument="null", value=null, problem="must be a name, a null model or a function that draws labels"
    )


@lru_cache(maxsize=256)
def _named(text: str) -> NullModel:
    if text.strip() == "auto":
        raise InputError(
            argument="null",
            value="auto",
            problem="needs data to look at",
            remedy="pass it to evaluate or sweep, or name a null model",
        )
    if text.strip() == SERIES_EXCHANGE:
        raise InputError(
            argument="null",
            value=SERIES_EXCHANGE,
            problem="exchanges labels between the series of a study",
            remedy="pass it to study, or name a null model of one series",
        )
    return from_text(text, MODELS)


def from_text(text: str, models: Mapping[str, type[NullModel]]) -> NullModel:
    """The one of some models that a name with settings stands for."""
    name, settings = text_with_settings(text, "null", "seasonal:period=24")
    if name not in models:
        raise InputError(
            argument="null",
            value=text,
            problem=f"must be one of {', '.join(map(repr, ('auto', *models)))}",
            remedy=meant(name, models),
        )
    own = [key for key in signature(models[name]).parameters if key not in _NOT_IN_WORDS]
    for key in settings:
        check_setting(key, own, "null", text)
    example = _EXAMPLES.get(name)
    if example and (needed := next(iter(text_with_settings(example, "null", "")[1]))) not in settings:
        raise InputError(
            argument="null", value=text, problem=f"needs the setting {needed}", remedy=f"write it as {example!r}"
        )
    try:
        return models[name](**settings)
    except InputError as error:
        raise InputError(argument="null", value=text, remedy=str(error)) from None
