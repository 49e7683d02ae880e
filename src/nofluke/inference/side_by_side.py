"""Several detectors of one series, each against chance and each against the others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nofluke.errors import InputError
from nofluke.inference.compare import Comparison, compare_read, error_of, read_several
from nofluke.inference.evaluate import Evaluation, evaluate_trial
from nofluke.nulls.base import check_resamples
from nofluke.plain import check_alpha
from nofluke.progress import progress_bar

SWAPS = 9_999  # as compare's, whatever the resamples of chance: they cost next to nothing
LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """Detectors compared, and the evaluation of each by its name, best F1 first."""

    comparison: Comparison
    results: Mapping[str, Evaluation] = field(repr=False)
    seed: int


def evaluate_several(truth: Any, scores: Any, *, chance: Mapping[str, Any], **asked: Any) -> SideBySide:
    """Detectors from the arguments of `compare`, on their common steps; ``chance`` holds arguments of `evaluate`."""
    settings = {"alternative": "greater", "ties": "full", "zero_division": math.nan, "method": chance["method"]}
    settings |= {"alpha": check_alpha(chance["alpha"]), "n_resamples": check_resamples(chance["n_resamples"])}
    detectors, notes = read_several(truth, scores, **asked)
    how = {"alpha": settings["alpha"], "level": LEVEL, "n_resamples": SWAPS, "rng": chance["rng"]}
    comparison = compare_read(detectors, notes, **how)
    results: dict[str, Evaluation] = {}
    with progress_bar("detectors", len(detectors)) as advance:
        for done, name in enumerate(comparison.detectors, start=1):
            one = detectors[name]
            rest = {**settings, "alarms": one.alarms, "rng": chance["rng"]}
            try:
                results[name] = evaluate_trial(
                    one.made, one.sequence, one.cuts, chance["null"], asked.get("count_events"), rest
                )
            except InputError as error:
                raise error_of(name, error) from None
            advance(done)
    return SideBySide(comparison=comparison, results=results, seed=chance["rng"])
