"""Times of events and alarms on a clock that need not be those of its steps, and how long each step lasts."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from nofluke.arrays import BoolArray, IntArray
from nofluke.dates import NANOSECONDS, UNITS, converted, in_unit
from nofluke.series.clock import LAST_TICK, Clock


def step_ends(clock: Clock, *, over_gaps: bool = False) -> npt.NDArray[Any]:
    """Where each step ends (exclusive): at the next one, or, before a gap and at the end, after a median step."""
    ends = np.append(clock.ticks[1:], clock.ticks[-1:])
    lasting = np.append(clock.gaps[:0] if over_gaps else clock.gaps, len(clock.ticks) - 1)
    if clock.ticks.dtype.kind == "i":
        ends[lasting] = np.minimum(clock.ticks[lasting], LAST_TICK - math.ceil(clock.step)) + math.ceil(clock.step)
    else:
        ends[lasting] = clock.ticks[lasting] + clock.step
    return ends


def in_gaps(clock: Clock, ticks: npt.NDArray[Any], steps: IntArray) -> BoolArray:
    """Which of these ticks lie in a gap of the clock, after the step at or before them has ended."""
    return np.asarray(np.isin(steps, clock.gaps) & (ticks >= step_ends(clock)[steps]))


def refined(clock: Clock, *times: npt.NDArray[Any]) -> Clock:
    """The clock in a unit that holds these times too, so that nothing is rounded."""
    for values in times:
        if clock.unit is None:
            # floats hold all steps of a clock this short
            if clock.ticks.dtype.kind == "i" and values.dtype.kind == "f" and (values % 1 != 0).any():
                short = max(abs(int(clock.ticks[0])), abs(int(clock.ticks[-1]))) < 2**53
                clock = replace(clock, ticks=clock.ticks.astype(np.float64)) if short else clock
            continue
        own = np.datetime_data(values.dtype)[0]
        finer = own if own in NANOSECONDS else "ns" if UNITS.index(own) > UNITS.index("ns") else clock.unit
        if UNITS.index(finer) > UNITS.index(clock.unit) and (converted(values, clock.unit)[0] != values).any():
            dates = clock.ticks.astype(f"datetime64[{clock.unit}]")
            clock = replace(clock, ticks=in_unit(dates, finer, "times").astype(np.int64), unit=finer)
    return clock


def own_ticks(clock: Clock, times: npt.NDArray[Any], *, up: bool = False) -> npt.NDArray[Any]:
    """Times as ticks of the clock, rounded down (or up); those that its ticks cannot tell become the last ones."""
    if clock.unit is not None:
        dates, fits = converted(times, clock.unit)
        far = np.where(times.astype(np.int64) > 0, LAST_TICK - 1, 1 - LAST_TICK)
        return np.where(fits, dates.astype(np.int64), far)
    if clock.ticks.dtype.kind == "f":
        return times.astype(np.float64)
    if times.dtype.kind == "i":
        return times.astype(np.int64)
    if times.dtype.kind == "u":
        return np.asarray(np.minimum(times, np.uint64(LAST_TICK - 1)).astype(np.int64))
    inner = np.ceil(times) if up else np.floor(times)
    near = np.abs(inner) < 2.0**63
    far = np.where(inner > 0, LAST_TICK - 1, 1 - LAST_TICK)
    return np.where(near, np.where(near, inner, 0).astype(np.int64), far)
