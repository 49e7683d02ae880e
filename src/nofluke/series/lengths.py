"""Lengths that nulls use: steps on a grid, or a time, converted to the places where events can fall."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from nofluke.dates import as_duration, format_duration
from nofluke.errors import InputError, arg, say
from nofluke.plain import as_number, as_whole, whole_or_none
from nofluke.series.timed_truth import TimedTruth
from nofluke.series.truth import Truth

Length = int | float | str
MOST_STEPS = 2**31 - 1  # of a length on a grid: products of two such numbers do not overflow
MOST_LONG = 2**60  # of one in the unit of the times
UNEVEN = 0.01  # by how much of itself a step of a regular clock may vary


def as_length(value: object, name: str, least: int, *, whole: bool = False, most: int = MOST_LONG) -> Length:
    """A number of steps (or of the times' own unit), or a duration as it is written.

    Whole numbers are at least ``least``; others may be as short as times are, and on a grid are looked at when used.
    """
    if isinstance(value, str):
        if not as_duration(value, name):
            raise InputError(argument=name, value=value, problem="must be longer than 0")
        return value.strip()
    if whole or whole_or_none(value) is not None:
        return as_whole(value, name, least, most)
    return as_number(value, name, f"be a number of at least {least} steps", lambda x: 0 < x <= MOST_LONG)


def in_places(value: Length, side: Truth, name: str, least: int = 1) -> float:
    """A length in places of events: steps on a grid; whole or not."""
    if not isinstance(side, TimedTruth):
        steps = _in_steps(value, side, name)
        if steps < least:
            raise InputError(argument=name, value=value, problem=f"must be a number of at least {least} steps")
        if steps > MOST_STEPS:
            told = f"must be a whole number of at least {least} and at most {MOST_STEPS:,} on a grid of steps"
            raise InputError(argument=name, value=value, problem=told)
        return steps
    ticks = side.watch.ticks
    if isinstance(value, str) is not ticks.is_dates:
        remedy = "a number, in the unit of the times"
        if not isinstance(value, str):
            unit = format_duration(int(ticks.size)).lstrip("0123456789.")  # that of the times' resolution
            remedy = f"a duration such as '{value:g}{unit}'"
        raise InputError(argument=name, value=value, problem="does not fit the times", remedy=f"pass {remedy}")
    length = as_duration(value, name) if isinstance(value, str) else Fraction(repr(value))
    places = Fraction(length or 0) / ticks.size / side.watch.stride
    if places < least:
        raise InputError(
            argument=name,
            value=value,
            problem=f"must be at least {least} of the times' resolution, {ticks.length(side.watch.stride)}",
        )
    return int(places) if places.denominator == 1 else float(places)


def whole_places(value: Length, side: Truth, name: str) -> int:
    """A length in whole places, at least one."""
    return max(round(in_places(value, side, name)), 1)


def _in_steps(value: Length, side: Truth, name: str) -> float:
    if not isinstance(value, str):
        return value
    clock = side.clock
    if clock is None or not clock.is_dates or len(clock) < 2:
        raise InputError(
            argument=name,
            value=value,
            problem="is a length of time, but the data has no clock of dates",
            remedy=say("pass {}, or a number of steps", arg("times")),
        )
    step = clock.step
    if np.ptp(np.diff(clock.ticks)) > UNEVEN * step:
        raise InputError(
            argument=name, value=value, problem="is a length of time, but the clock is not regular", remedy="pass steps"
        )
    steps = Fraction(as_duration(value, name) or 0) / Fraction(step * clock.tick_size)
    return int(steps) if steps.denominator == 1 else float(steps)


def in_words(value: Length, in_time: bool = False) -> str:
    """A length for sentences: "3d" as it is, a number with its unit, which is a step unless times are numbers.

    >>> in_words(3), in_words(1, in_time=True), in_words("3d", in_time=True)
    ('3 steps', '1 time unit', '3d')
    """
    if isinstance(value, str):
        return value
    return f"{value:,} {'steps' if not in_time else 'time unit' if value == 1 else 'time units'}"
