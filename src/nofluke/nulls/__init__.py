"""Null models: what chance does. Each is one small class that says what it keeps fixed and what it randomises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nofluke.errors import InputError, shown
from nofluke.nulls.base import NullModel
from nofluke.nulls.bernoulli import Bernoulli
from nofluke.nulls.circular import CircularShift
from nofluke.nulls.custom import Custom
from nofluke.nulls.jitter import Dither, Jitter
from nofluke.nulls.local import LocalPermutation, LocalShift
from nofluke.nulls.permutation import Permutation
from nofluke.nulls.random_scores import RandomScores, ScorePermutation
from nofluke.nulls.seasonal import Seasonal
from nofluke.nulls.shuffles import Blocks, IntervalShuffle, Segments
from nofluke.nulls.stationary import Stationary
from nofluke.plain import text_with_settings

__all__ = [
    "Bernoulli",
    "Blocks",
    "CircularShift",
    "Custom",
    "Dither",
    "IntervalShuffle",
    "Jitter",
    "LocalPermutation",
    "LocalShift",
    "NullModel",
    "Permutation",
    "RandomScores",
    "ScorePermutation",
    "Seasonal",
    "Segments",
    "Stationary",
    "as_null",
]

Null = str | NullModel | Callable[..., Any]

_MODELS: dict[str, type[NullModel]] = {
    model.name: model
    for model in (
        Permutation,
        CircularShift,
        LocalShift,
        LocalPermutation,
        Jitter,
        Dither,
        Seasonal,
        IntervalShuffle,
        Segments,
        Blocks,
        Bernoulli,
        Stationary,
    )
}
NAMES = tuple(_MODELS)  # of the nulls that place events; those of scores are for metrics alone

_EXAMPLES = {
    "blocks": "blocks:length=48",
    "seasonal": "seasonal:period=24",
    "jitter": "jitter:window=1h",
    "dither": "dither:reach=1h",
}

# how much work is spent is no part of what chance does: nothing to be asked for in words
_EFFORT = ("programme_operations",)


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
        raise InputError(f"null={null.__name__} is a class: pass an instance, {null.__name__}(...).")
    if callable(null):
        return Custom(null)
    raise InputError(f"null={shown(null)} must be a name, a null model or a function that draws labels.")


def _named(text: str) -> NullModel:
    if text.strip() == "auto":
        raise InputError("null='auto' needs data to look at: pass it to evaluate or sweep, or name a null model.")
    name, settings = text_with_settings(text, "null", "seasonal:period=24")
    if name not in NAMES:
        raise InputError(f"null={shown(text)} must be one of {', '.join(map(repr, ('auto', *NAMES)))}.")
    try:
        if hidden := [key for key in settings if key in _EFFORT]:
            raise TypeError(f"() got an unexpected keyword argument {hidden[0]!r}")
        return _MODELS[name](**settings)
    except TypeError as error:
        needed = _EXAMPLES.get(name, name)
        raise InputError(f"null={shown(text)}: {str(error).rpartition('() ')[2]}: write it as {needed!r}.") from None
