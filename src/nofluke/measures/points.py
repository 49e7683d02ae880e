"""Two lists of times, as `synchronisation`, `tiling` and `matching` measure them: read and checked.

Events and alarms are ascending times, int64 ticks or floats, and each measure visits each once: O(n + m). The forms
ending in ``_rows`` take many placements of the events, rows of ascending times, against the same alarms. Ticks
compare exactly; floats compare as they are, so pass ticks where windows end on times.

Windows are closed and measured from the event: an alarm at p and an event at q are near if q - early <= p <= q + late.
A side may be negative, as long as early + late is not.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from nofluke.arrays import AnyArray
from nofluke.errors import InputError, passed, say
from nofluke.plain import as_number, exact_floats, whole_or_none

MOST_TICKS = 2**61  # sums of a time and two sides stay within 64 bits


def as_pair(events: npt.ArrayLike, alarms: npt.ArrayLike, dims: int = 1) -> tuple[AnyArray, AnyArray]:
    """Both lists as ticks, or both as floats where one is."""
    x, y = as_times(events, "events", dims), as_times(alarms, "alarms")
    if x.dtype != y.dtype:
        x, y = exact_floats(x, "events"), exact_floats(y, "alarms")
    if dims == 1:  # a null's own placements are in order
        check_ascending(x, "events")
    check_ascending(y, "alarms")
    return x, y


def as_times(values: npt.ArrayLike, name: str, dims: int = 1) -> AnyArray:
    """Finite times as int64 ticks or as floats, a list or rows of them."""
    array = np.asarray(values)
    if array.size == 0:
        array = array.astype(np.int64)  # nothing has no type of its own
    if array.ndim != dims or array.dtype.kind not in "iuf":
        raise InputError(
            argument=name,
            value=values,
            problem=f"must be {'rows' if dims == 2 else 'a list'} of numbers",
            remedy="pass ticks or floats",
        )
    if array.dtype.kind == "f":
        if not np.isfinite(array).all():
            raise InputError(argument=name, problem="holds NaN or infinity", remedy="drop such times")
        return np.ascontiguousarray(array, dtype=np.float64)
    if array.size and max(abs(int(array.min())), abs(int(array.max()))) > MOST_TICKS:
        raise InputError(
            argument=name, problem="holds ticks beyond 2**61", remedy="subtract the same number from all times"
        )
    return np.ascontiguousarray(array, dtype=np.int64)


def check_ascending(times: AnyArray, name: str) -> None:
    """Refuse times that are not in order."""
    falls = np.flatnonzero(times[1:] < times[:-1])
    if len(falls):
        at = int(falls[0])
        raise InputError(
            argument=name, problem=f"must ascend, but {times[at]} is followed by {times[at + 1]}", remedy="sort them"
        )


def as_sides(early: float, late: float, dtype: Any) -> tuple[Any, Any]:
    """Both sides of a window in the type of the times; refuses a window that ends before it starts."""
    sides = []
    for name, value in (("early", early), ("late", late)):
        side = whole_or_none(value)
        if dtype.kind == "f":
            sides.append(as_number(value, name, "be a finite number", math.isfinite))
        elif side is None or abs(side) > MOST_TICKS:
            raise InputError(
                argument=name,
                value=value,
                problem="must be a whole number of ticks of at most 2**61",
                remedy="round it",
            )
        else:
            sides.append(side)
    if sides[0] + sides[1] < 0:
        raise InputError(
            argument="early",
            value=early,
            problem=say("and {} leave no window", passed("late", late)),
            remedy="their sum must not be negative",
        )
    return dtype.type(sides[0]), dtype.type(sides[1])
