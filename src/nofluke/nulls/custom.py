"""Your own null: any function that draws labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nofluke.data.columns import as_column
from nofluke.errors import InputError, say
from nofluke.laws.montecarlo import Draw
from nofluke.nulls.base import NullModel
from nofluke.series.clock import listing
from nofluke.series.truth import Truth


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
