"""The resolution of lists of times: the ticks that they have in common."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from nofluke.arrays import FloatArray
from nofluke.dates import NANOSECONDS
from nofluke.errors import InputError
from nofluke.plain import exact_fraction
from nofluke.series.ticks import Number, Ticks

MOST_SCALE = 10**7  # of fractions that floats are seen to be: 17/44100
SAMPLED = 1_000  # lengths from which the divisor of floats is worked out; all of them are held against it
ENOUGH_TIMES = 20  # fewer may have a common divisor by accident: tolerances and the span then have a say in it
ACCIDENT = 1e6  # how unlikely it must be that floats are multiples of something by accident
OWN_ACCIDENT = 1e3  # the same for a coarser resolution of the events, where an accident costs power but no level
FEWEST_OWN = 4  # events that can have one: the gaps of fewer have a common divisor more often than not
DECIMALS = 15  # of floats, looked at
SMALLEST, LARGEST = (
    1e-100,
    1e100,
)  # of the farthest of all times from 0, if they are floats: products of two stay floats
PLAINLY = 1e4  # ticks of floats are at least this many times as long as what rounding does to them


def resolution(
    events: npt.NDArray[Any],
    alarms: npt.NDArray[Any],
    lengths: Sequence[Number],
    span: npt.NDArray[Any],
    unit: str | None = None,
    aware: bool = False,
) -> tuple[Ticks, int]:
    """The ticks that two lists of times have in common, and how many of them lie between two places of events.

    The tick is the common divisor of the times. Where there are few of them, their divisor may be an accident, and the
    lengths (of tolerances and lags: nanoseconds or numbers) and the ends of the span and of gaps have to be whole ticks
    too. Events of a coarser resolution, such as days beside alarms in seconds, stay on it.

    >>> ticks, stride = resolution(np.arange(0, 600, 60), np.array([5, 13, 27]), [10], np.array([0, 600]))
    >>> ticks.size, stride
    (Fraction(1, 1), 60)
    """
    every = np.concatenate([events, alarms]) if len(events) or len(alarms) else span
    scale = NANOSECONDS[unit] if unit is not None else 1
    few = len(every) < ENOUGH_TIMES
    if every.dtype.kind == "f":
        return _of_floats(events, every, [*lengths] if few else [], span if few else span[:0])
    origin = int(events[0] if len(events) else every[0])
    tick = Fraction(scale * _divisor(every, origin))
    for length in lengths if few or not tick else ():
        tick = _common(tick, exact_fraction(length))
    if few or not tick:
        tick = _common(tick, Fraction(scale * _divisor(span, origin)))
    tick = tick or Fraction(scale)
    stride = _stride(_divisor(events, origin) * scale / tick, len(events))
    return Ticks(origin=origin, size=tick, unit=unit, aware=aware), stride


def _divisor(times: npt.NDArray[Any], origin: int) -> int:
    # differences modulo 2**64 are right even where int64 overflows: spans that long are refused later
    return int(np.gcd.reduce(np.abs(times - np.int64(origin)))) if len(times) else 0


def _common(one: Fraction, other: Fraction) -> Fraction:
    """The greatest common divisor of two lengths; 0 has them all."""
    below = math.lcm(one.denominator, other.denominator)
    return Fraction(math.gcd(int(one * below), int(other * below)), below)


def _stride(own: Fraction, n_events: int) -> int:
    """Ticks between two places of events, where events have a coarser resolution that is hardly an accident."""
    stride = int(own)
    # k random numbers have a common divisor of at least d with a chance of about d^(1 - k); n events have n - 1
    # differences. An accident makes no test wrong: given the common remainder, all its places are equally likely
    if stride <= 1 or n_events < FEWEST_OWN or (n_events - 2) * math.log(stride) < math.log(OWN_ACCIDENT):
        return 1
    return stride


def _of_floats(events: FloatArray, every: FloatArray, lengths: list[Number], span: FloatArray) -> tuple[Ticks, int]:
    """The same for floats: decimals, else fractions, else multiples of some unit, else the resolution of floats."""
    among = np.concatenate([every, span])
    most = float(np.abs(among).max())
    if not (most == 0 or SMALLEST <= most <= LARGEST):
        raise InputError(
            problem=f"times reach {most:.3g}, which is out of range",
            remedy=f"change their unit so that they lie between {SMALLEST:g} and {LARGEST:g}",
        )
    slack = 4 * float(np.spacing(most))
    origin, sides = float(every[0]), [exact_fraction(length) for length in lengths]
    for digits in range(DECIMALS + 1):
        if slack * 10**digits > (0.05 if len(among) < ENOUGH_TIMES else 0.2):  # many are not as near to it by accident
            break
        if _are_whole(among, 10**digits, slack):
            return _of_fractions(among - origin, 10**digits, len(events), sides, origin)
    since = among - origin
    for scale in (_scale(np.concatenate([since, np.array(lengths, dtype=np.float64)]), slack), _scale(since, slack)):
        if scale is not None:
            near = [Fraction(round(side * scale), scale) for side in sides]
            near = [one if abs(float(one - side)) <= slack else side for one, side in zip(near, sides, strict=True)]
            return _of_fractions(since, scale, len(events), near, origin)
    # short lengths know best what they are multiples of, and are there between neighbours
    measured = np.concatenate([since, np.diff(np.sort(since)), np.array(lengths, dtype=np.float64)])
    common = _float_divisor(np.abs(measured), 2 * slack)
    if common is None:
        return Ticks(origin=origin, size=Fraction(slack / 4), rounded=False), 1
    own = _float_divisor(np.abs(np.concatenate([events - origin, np.diff(events)])), 2 * slack) if len(events) else None
    stride = 1 if own is None else _stride(Fraction(round(own / common)), len(events))
    return Ticks(origin=origin, size=Fraction(common)), stride


def _are_whole(values: FloatArray, scale: int, slack: float) -> bool:
    scaled = values * float(scale)
    return bool((np.abs(scaled - np.rint(scaled)) <= slack * scale).all())


def _of_fractions(
    since: FloatArray, scale: int, n_events: int, sides: list[Fraction], origin: float
) -> tuple[Ticks, int]:
    """Ticks of times that are multiples of 1/scale from the origin, and how many lie between places of events."""
    whole = np.rint(since * float(scale)).astype(np.int64)
    tick = Fraction(_divisor(whole, 0), scale)
    for side in sides:
        tick = _common(tick, side)
    tick = tick or Fraction(1, scale)
    return Ticks(origin=origin, size=tick), _stride(Fraction(_divisor(whole[:n_events], 0), scale) / tick, n_events)


def _scale(values: FloatArray, slack: float) -> int | None:
    """The common denominator of values such as 17/44100, up to rounding; None if it could be an accident."""
    most = min(math.isqrt(int(0.5 / slack)), MOST_SCALE) if slack < 0.5 else 1  # such fractions are 2 slack apart
    scale, left = 1, values
    while len(left):
        # one of those that do not fit yet: it makes the scale a multiple of what it was
        scale = math.lcm(scale, Fraction(float(left[0])).limit_denominator(most).denominator)
        if scale > most:
            return None
        scaled = values * float(scale)
        wrong = np.abs(scaled - np.rint(scaled)) > slack * scale
        if wrong[values == left[0]].any():
            return None
        left = values[wrong]
    # n numbers anywhere are as near as that to multiples of 1/scale with a chance of (2 slack scale)^n
    chance = len(np.unique(values)) * math.log(2 * slack * scale) + math.log(scale)
    return scale if chance < -math.log(ACCIDENT) else None


def _float_divisor(lengths: FloatArray, slack: float) -> float | None:
    """What all lengths are multiples of but for rounding; None where there is nothing of the kind.

    From the shortest to the longest: each multiple makes the divisor better known, and anything else makes it a part of
    itself.
    """
    lengths = np.unique(lengths[lengths > slack])
    if len(lengths) == 0 or lengths[0] < PLAINLY * slack:
        return None
    some = lengths[np.unique(np.geomspace(1, len(lengths), SAMPLED, dtype=np.int64)) - 1]
    found, error = float(some[0]), slack
    for length in some[1:].tolist():
        times = length / found
        off = (slack + error * times) / found  # of times
        if off > 0.01:
            return None
        near = Fraction(times).limit_denominator(max(math.isqrt(int(0.02 / off)), 1))
        if abs(times - near) > off:
            return None
        found = length / near.numerator
        error = slack / near.numerator
        if found < PLAINLY * slack:
            return None
    wrong = np.abs(lengths - np.rint(lengths / found) * found) > slack + error * lengths / found
    return None if wrong.any() else found
