"""What is said of a detector's pooled row, in plain words, and how its numbers are told."""

from __future__ import annotations

import math
from collections.abc import Sequence

from nofluke.inference.chance import ChanceTest
from nofluke.inference.interval import Intervals
from nofluke.text.tables import plural


def remarks(*, told: int, untold: int, shared: int, mixed: int, doubted: int, without_f1: bool) -> tuple[str, ...]:
    """Series with no null that holds, with shared events, or contradicting the null; and F1 without a law."""
    said = []
    if untold:
        said.append(
            f"No null holds on {plural(untold, 'series', 'series')}: chance and p-values are those of the other {told:,}."
        )
    if shared:
        said.append(
            f"Events of {plural(shared, 'series', 'series')} coincide with those of others, so all series that share "
            "events share one placement of them."
        )
    if mixed:
        said.append(
            f"For {mixed:,} of these there is no such placement, since their nulls or clocks differ: their hits are "
            "assumed to rise and fall together, which is approximate."
        )
    if doubted:
        said.append(
            f"The data of {plural(doubted, 'series', 'series')} contradict the requested null: p-values, and the "
            "number of groups with skill, assume it."
        )
    if without_f1:
        said.append("F1 has no chance level: a null of some series has no joint law of both hits.")
    return tuple(said)


def hill(measures: Sequence[str], shifts: int, auto: bool) -> str:
    """What is said where hits are as many at other shifts."""
    rest = "p-values that ignore it say nothing." if auto else "the requested null does not keep that."
    return (
        f"Hits by {' and '.join(measures)} are about as many when all events are shifted by a few steps (up to "
        f"{shifts:,}): events and alarms may share a season or a slow change, and {rest}"
    )


def ends_of(intervals: Intervals | None, i: int) -> dict[str, float]:
    """The ends of the interval of a measure; NaN without any."""
    if intervals is None:
        return {"low": math.nan, "high": math.nan}
    one = tuple(intervals)[i]
    return {"low": one.low, "high": one.high}


def method_of(test: ChanceTest) -> str:
    """How chance was computed."""
    how = test.how
    return f"simulated ({how.n_resamples:,} draws)" if how.n_resamples else str(how)
