"""Two ways to make units of the same series, by group and by truth: what either of them leaves uncertain stays so.

The section "Pooling over series" of docs/explanation/theory.md says why, and how well that holds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any, TypeVar

from nofluke.inference.compare import Comparison, Difference, compared
from nofluke.inference.interval import Interval, Intervals, intervals_of
from nofluke.studies.counts import Counts

Ends = TypeVar("Ends", Interval, Difference)


def intervals_by(counts: Counts, detector: str, level: float) -> Intervals:
    """For each measure the widest interval, or none if it has none by some units."""
    return reduce(
        _wider_of_each,
        (intervals_of(counts.by_unit(detector, kind), level, kind=kind) for kind in counts.units),
    )


def compare_counts(counts: Counts, detectors: Sequence[str], **asked: Any) -> Comparison:
    """Detectors compared over all series: for each pair the largest p-value and the widest interval.

    ``asked`` are the arguments of `nofluke.inference.compare.compared` that do not depend on units.
    """
    found = (
        compared(
            {name: counts.by_unit(name, kind) for name in detectors},
            partial(counts.of_both, kind),
            noun=kind,
            notes=counts.notes_on(detectors),
            **asked,
        )
        for kind in counts.units
    )
    return reduce(_more_careful, found)


def _more_careful(one: Comparison, other: Comparison) -> Comparison:
    return replace(
        one,
        differences=tuple(map(claims_less, one.differences, other.differences)),
        intervals=tuple(map(_wider_of_each, one.intervals, other.intervals)),
        most_resamples=max(one.most_resamples, other.most_resamples),
        notes=(*one.notes, *(note for note in other.notes if note not in one.notes)),
    )


def claims_less(one: Difference, other: Difference) -> Difference:
    """The larger p-value of the two, and the wider interval."""
    tested = other if other.pvalue > one.pvalue else one
    wide = wider(one, other)
    return replace(
        tested,
        corrected=max(one.corrected, other.corrected),  # NaN in both or in none
        low=wide.low,
        high=wide.high,
        why_no_interval=wide.why_no_interval,
    )


def _wider_of_each(one: Intervals, other: Intervals) -> Intervals:
    precision, recall, f1 = map(wider, one, other)
    return replace(one, precision=precision, recall=recall, f1=f1)


def wider(one: Ends, other: Ends) -> Ends:
    """The wider of two intervals."""
    return other if _width(other) > _width(one) else one


def _width(one: Interval | Difference) -> float:
    """How wide an interval is; what has none is as wide as can be."""
    if one.low is None or one.high is None or math.isnan(one.low):
        return math.inf
    return one.high - one.low
