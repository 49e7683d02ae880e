"""Lengths of time as people say them: days, hours, minutes or seconds, whichever makes small numbers."""

from __future__ import annotations

import math

import numpy as np

from nofluke.arrays import FloatArray

SECOND = 1e9
SHORT = {
    "days": "d",
    "hours": "h",
    "minutes": "min",
    "seconds": "s",
    "milliseconds": "ms",
    "microseconds": "us",
    "nanoseconds": "ns",
}
UNITS = (
    (86_400e9, "days"),
    (3_600e9, "hours"),
    (60e9, "minutes"),
    (SECOND, "seconds"),
    (1e6, "milliseconds"),
    (1e3, "microseconds"),
    (1.0, "nanoseconds"),
)


def people_unit(nanoseconds: FloatArray, step: float = 0.0) -> tuple[float, str]:
    """The unit for some lengths, and its nanoseconds: the longest of which the largest holds two, or one second.

    Where data come in steps of so many nanoseconds, never one that is too short for them: days for daily data.

    >>> people_unit(np.array([0.0, 86_400e9]))[1], people_unit(np.array([0.0, 86_400e9]), 86_400e9)[1]
    ('hours', 'days')
    """
    largest = float(np.abs(nanoseconds).max(initial=0.0))
    fitting = (unit for unit in UNITS if largest >= (2 if unit[0] > SECOND else 1) * unit[0])
    found = next(fitting, UNITS[-1]) if largest else (SECOND, "seconds")
    own = next((unit for unit in UNITS if unit[0] <= step), UNITS[-1])
    return max(found, own) if largest or not step else own


def show_length(nanoseconds: float, step: float = 0.0) -> str:
    """A length of time in three digits, or in one decimal where that is exact; zero in the unit of a step.

    >>> [show_length(s * 1e9) for s in (5400, -97, 93_600, 324_000, 86_400, 31_622_400, 0.0125)]
    ['1.5h', '-97s', '26h', '3.75d', '1d', '366d', '12.5ms']
    >>> show_length(0), show_length(0, 86_400e9)
    ('0s', '0d')
    """
    if nanoseconds == 0:
        return f"0{SHORT[people_unit(np.zeros(1), step)[1]]}"
    longest, name = next((unit for unit in UNITS if abs(nanoseconds) >= unit[0]), UNITS[-1])
    if not math.isclose(round(nanoseconds / longest, 1) * longest, nanoseconds, rel_tol=1e-12):
        longest, name = people_unit(np.array([nanoseconds]))
    value = nanoseconds / longest
    return f"{value:.0f}{SHORT[name]}" if abs(value) >= 100 else f"{value:.3g}{SHORT[name]}"


def as_people_say(lengths: FloatArray, dates: bool) -> tuple[FloatArray, str]:
    """Lengths in such a unit and the words for an axis; plain numbers have no unit.

    >>> as_people_say(np.array([-172_800e9, 0.0, 172_800e9]), dates=True)
    (array([-2.,  0.,  2.]), ', days')
    >>> as_people_say(np.array([0.5, 1.0]), dates=False)
    (array([0.5, 1. ]), '')
    """
    if not dates:
        return lengths, ""
    size, name = people_unit(lengths)
    return lengths / size, f", {name}"
