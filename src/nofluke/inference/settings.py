"""The arguments of a result, kept with it so that it can be repeated."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from nofluke.inference.chance import Alternative, Ties
from nofluke.nulls.base import Method, NullModel
from nofluke.nulls.choice import Choice
from nofluke.series.detector import STEPS, AlarmRule


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a result was asked for: the arguments of the call besides the data, the threshold and the tolerance.

    ``choice`` is the null and why it is the one; ``rng`` is what was passed, if it can be passed again: a seed, or
    None.
    """

    choice: Choice
    method: Method = "auto"
    alternative: Alternative = "greater"
    ties: Ties = "full"
    n_resamples: int = 10_000
    rng: Any = field(default=None, compare=False)
    alpha: float = 0.05
    zero_division: float = math.nan
    alarms: AlarmRule = STEPS

    @property
    def null(self) -> NullModel:
        """What chance is taken to do."""
        return self.choice.model
