"""What part of a series is watched: not its warm-up, not the gaps in its times; and how to split it in two."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np

from nofluke.arrays import BoolArray
from nofluke.dates import as_duration, rounded_duration
from nofluke.errors import InputError, arg, say
from nofluke.plain import MOST_STEPS, as_share, as_whole, check_length, number_or_none, whole_or_none
from nofluke.series.clock import Clock


def warmup_steps(warmup: Any, n: int, clock: Clock | None) -> int:
    """How many of the first steps a warm-up is: given as steps, as a share of all, or as a duration on a clock."""
    if warmup is None:
        return 0
    steps = _part(warmup, "warmup", n, clock)
    if steps >= n:
        raise InputError(
            argument="warmup",
            value=warmup,
            problem=f"leaves none of the {n:,} steps",
            remedy="pass fewer, or a share such as '15%'",
        )
    return steps


def as_part(value: Any, name: str) -> tuple[Literal["steps", "share", "time"], int | Fraction]:
    """The first part of a series: whole numbers are steps; fractions and what has a % are shares; else nanoseconds."""
    whole, number = whole_or_none(value), number_or_none(value)
    if whole is not None and whole >= 0:
        return "steps", whole
    if whole is None and (number is not None or (isinstance(value, str) and value.strip().endswith("%"))):
        return "share", as_share(value, name)
    duration = None if whole is not None else as_duration(value, name)
    if duration is None or duration < 0:
        raise InputError(
            argument=name,
            value=value,
            problem="must be a number of steps, a share such as '15%', or a duration such as '2d' on a clock of dates",
        )
    return "time", duration


def _part(value: Any, name: str, n: int, clock: Clock | None) -> int:
    """How many steps the first part has."""
    unit, size = as_part(value, name)
    if unit != "time":
        return math.floor(size * n) if unit == "share" else int(size)
    if clock is None or not clock.is_dates:
        raise InputError(
            argument=name,
            value=value,
            problem="is a length of time, but the data has no clock of dates",
            remedy=say("pass {}, or a number of steps", arg("times")),
        )
    # the times are whole ticks: those before the end of the part are those up to a nanosecond before it
    return int(clock.windows(0, int(size) - 1)[1][0]) if size > 0 else 0


def gap_notes(clock: Clock | None, open_steps: BoolArray) -> tuple[str, ...]:
    """A note on gaps in the times behind steps that count."""
    if clock is None:
        return ()
    count = int(np.count_nonzero(open_steps[clock.gaps]))
    if not count:
        return ()
    length = clock.not_watched(open_steps)
    told = rounded_duration(length) if clock.is_dates else f"{length:g} time unit(s)"
    gaps = "1 gap in the times, {}, does" if count == 1 else f"{count:,} gaps in the times, {{}} in all, do"
    return (f"{gaps.format(told)} not count as watched.",)


class Split(NamedTuple):
    """Two masks, each True where its part leaves a step out."""

    calibration: BoolArray
    evaluation: BoolArray


def split(series: Any, *, at: float | str | Fraction = 0.5) -> Split:
    """Two masks that cut a series in time: choose the threshold on the first part, test it on the second.

    A threshold tuned on the labels it is tested on makes p-values too small. This is the simple remedy; the other is
    ``sweep(...).familywise()``, which corrects for all thresholds that were tried.

    Parameters
    ----------
    series : int or sized
        The number of steps, or anything of that length: labels or scores.
    at : int, float or str, default 0.5
        Where the second part begins: a number of steps, or a share of them (0.3 or "30%", rounded down).

    Returns
    -------
    Split
        ``calibration`` and ``evaluation``, to be passed as ``mask=``: True is left out.

    See Also
    --------
    nofluke.evaluate : takes a mask as ``mask=``.
    nofluke.sweep : find a threshold on the first part.

    Examples
    --------
    >>> import nofluke as nf
    >>> quakes = nf.datasets.simulate_quakes(rng=0)
    >>> scores = nf.detectors.energy_transient(quakes.counts)
    >>> calibration, evaluation = nf.split(scores, at=0.3)
    >>> curve = nf.sweep(quakes.truth, scores, tolerances=2, mask=calibration)
    >>> (_, best), *_ = curve.best()
    >>> result = nf.evaluate(quakes.truth, scores, threshold=curve.thresholds[best], tolerance=2, mask=evaluation)
    >>> result.n, result.left_out.masked
    (1790, 767)
    """
    n = whole_or_none(series)
    if n is None:
        check_length(series, "series")
        try:
            n = len(series)
        except Exception:  # a TypeError, or what a class of the user's raises
            raise InputError(
                argument="series",
                value=series,
                problem="must be a number of steps, or have as many items",
                remedy="pass the scores",
            ) from None
    else:
        n = as_whole(n, "series", 2, MOST_STEPS)
    if isinstance(at, str) and not at.strip().endswith("%"):
        raise InputError(argument="at", value=at, problem="must be a number of steps, or a share such as 0.3 or '30%'")
    first = _part(at, "at", n, None)
    if not 0 < first < n:
        raise InputError(
            argument="at",
            value=at,
            problem=f"leaves one part of the {n:,} steps empty",
            remedy="each part needs at least one",
        )
    later = np.arange(n) >= first
    return Split(calibration=later, evaluation=~later)
