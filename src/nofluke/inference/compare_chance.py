"""What chance scores instead of each of several detectors: mean and standard deviation of a measure."""

from __future__ import annotations

import math
from contextlib import suppress

from nofluke.errors import InputError
from nofluke.inference.chance import f_test
from nofluke.nulls.choice import choose
from nofluke.series.trial import Cell

N_RESAMPLES = 2_000  # where chance is simulated: for a picture


def chance_of(cell: Cell, measure: str, alpha: float, seed: int) -> tuple[float, float]:
    """Under the null that the data allow; NaN where the measure is undefined, or has no law under that null.

    >>> import nofluke as nf
    >>> result = nf.evaluate([0, 1, 0, 0] * 25, predictions=[0, 1, 0, 0] * 10 + [0] * 60, null="permutation")
    >>> mean, std = chance_of(result.cell, "recall", 0.05, 0)
    >>> round(mean, 3)
    0.1
    """
    of = {"precision": cell.n_predictions, "recall": cell.n_counted}
    needed = of.values() if measure == "f1" else [of[measure]]
    if 0 in needed:
        return math.nan, math.nan
    model = choose("auto", cell, alpha).model.hurried()
    with suppress(InputError):
        if measure == "f1":
            joint = model.joint(cell, n_resamples=N_RESAMPLES, rng=seed)
            test = f_test(math.nan, joint, *of.values())
            return test.expected, test.std
        law = getattr(model.distributions(cell, n_resamples=N_RESAMPLES, rng=seed), measure)
        return law.mean / of[measure], law.std / of[measure]
    return math.nan, math.nan
