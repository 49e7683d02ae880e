"""Lengths of time as people say them: days, hours, minutes or seconds, whichever makes small numbers."""

from __future__ import annotations

import numpy as np

from nofluke.arrays import FloatArray

SECOND = 1e9
UNITS = (
    (86_400e9, "days"),
    (3_600e9, "hours"),
    (60e9, "minutes"),
    (SECOND, "seconds"),
    (1e6, "milliseconds"),
    (1e3, "microseconds"),
    (1.0, "nanoseconds"),
)


def people_unit(nanoseconds: FloatArray) -> tuple[float, str]:
    """The unit for some lengths, and its nanoseconds: the longest of which the largest holds two, or one second."""
    largest = float(np.abs(nanoseconds).max(initial=0.0))
    fitting = (unit for unit in UNITS if largest >= (2 if unit[0] > SECOND else 1) * unit[0])
    return next(fitting, UNITS[-1]) if largest else (SECOND, "seconds")


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
