"""Lists of events and alarms without a clock, on a grid of steps over the time that was watched.

Ranges need steps. Two lists and a span have none, so that steps are laid over the span: as long as the times allow, so
that nothing is rounded, or as short as is affordable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from nofluke.arrays import AnyArray, BoolArray, not_finite
from nofluke.data.columns import Column, Pairs, UtcTimes, as_column, as_pairs
from nofluke.dates import format_duration
from nofluke.errors import InputError, arg, named, say
from nofluke.series.occurrences import DAY, as_gaps, as_span, as_tick, one_kind
from nofluke.series.ticks import raw_numbers
from nofluke.series.tolerance import Tolerance

MOST_BY_DEFAULT = 1_000_000
"""Steps that are laid without being asked for: evaluate takes about a second for so many."""
_SECOND = 10**9
EXACT = (DAY, 3600 * _SECOND, 60 * _SECOND, _SECOND, _SECOND // 1000, _SECOND // 10**6, 1)
ROUNDED = tuple(_SECOND * s for s in (1, 10, 60, 600, 3600, 86_400))
"""Lengths of steps in nanoseconds: those that times may be multiples of, and those that they are rounded to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Steps over a span, and both lists as they lie in it; ``alarms`` by name, where they are of several detectors."""

    times: npt.NDArray[Any] = field(repr=False)
    events: Any = field(repr=False)
    alarms: Any = field(repr=False)
    notes: tuple[str, ...] = ()


def steps_over(
    span: Any,
    events: Any,
    alarms: Any,
    *,
    tolerances: tuple[Tolerance, ...] = (),
    step: Any = None,
    gaps: Any = None,
    outside: str = "drop",
) -> Grid:
    """A clock for two lists, and the lists within it.

    Parameters
    ----------
    span : pair of times
        When watching began and ended, both included; a date without a time of day is all of that day. In UTC, where the
        lists have a time zone and the span has none.
    events, alarms : times, or pairs of a start and an end; or, of alarms, a dict of them by detector
        The end of a range of alarms may be missing.
    tolerances : tuple of Tolerance
        They are to be whole steps too.
    step : duration or number, optional
        How long a step is. By default the longest of a day, an hour, a minute, a second and so on of which all times
        are multiples; where these were more than a million steps, 10 s, 1 min, 10 min, 1 h or 1 d, and a note says so.
    gaps : pairs of times, optional
        Stretches without steps.
    outside : {"drop", "error"}
        Whether what lies outside the span is left out here, which a note counts, or refused by whoever reads it.

    Examples
    --------
    >>> incidents, alerts = [("2026-03-02 10:00", "2026-03-02 10:20")], ["2026-03-02 10:05"]
    >>> grid = steps_over(("2026-03-01", "2026-03-07"), incidents, alerts)
    >>> len(grid.times), grid.times[1] - grid.times[0]
    (10080, np.timedelta64(60,'s'))
    """
    several = alarms if isinstance(alarms, Mapping) else {"": alarms}
    lists = {"truth": _listed(events, "truth")} | {
        f"predictions {name}": _listed(one, "predictions") for name, one in several.items()
    }
    border, whole_day = as_span(span)
    known = {name.partition(" ")[0]: _column(one) for name, one in lists.items() if len(_column(one))}
    if not border.aware and any(one.aware for one in known.values()) and all(one.aware for one in known.values()):
        border = replace(border, aware=True)
    dates, aware = one_kind({**known, "span": border})
    unit = "ns" if dates else None
    raw = {
        name: raw_numbers(_column(one).values, unit, name.partition(" ")[0])
        for name, one in lists.items()
        if len(_column(one))
    }
    first, last = raw_numbers(border.values, unit, "span").tolist()
    last += DAY - 1 if dates and whole_day else 0
    if first >= last:
        raise InputError(argument="span", value=span, problem="ends before it starts", remedy="swap its ends")
    notes: list[str] = []
    kept = lists
    if outside == "drop":
        kept = {name: _within(one, name.partition(" ")[0], first, last, unit, notes) for name, one in lists.items()}
        raw = {name: raw_numbers(_column(one).values, unit, "span") for name, one in kept.items() if len(_column(one))}
    every = np.concatenate([*raw.values(), [first]])
    size = as_tick(step, dates) if step is not None else _size(every, first, last, tolerances, dates, notes)
    if size.denominator != 1 and dates:
        raise InputError(argument="step", value=step, problem="must be a whole number of nanoseconds")
    size = int(size) if size.denominator == 1 else float(size)
    n = int((last - first) // size) + 1
    if n > 100 * MOST_BY_DEFAULT:
        raise InputError(
            argument="step",
            value=step,
            problem=f"makes {n:,} steps of the span",
            remedy=f"pass a longer one: {100 * MOST_BY_DEFAULT:,} steps are possible",
        )
    at = first + np.arange(n, dtype=np.int64) * size
    at = at[_watched(at, gaps, unit, aware)]
    times: AnyArray = at
    if dates:
        times = (at // _SECOND).astype("datetime64[s]") if not (at % _SECOND).any() else at.astype("datetime64[ns]")
        times = UtcTimes.of(times) if aware else times
    own = {name.partition(" ")[2]: _plain(one) for name, one in kept.items() if name != "truth"}
    return Grid(
        times=times,
        events=_plain(kept["truth"]),
        alarms=own if isinstance(alarms, Mapping) else own[""],
        notes=tuple(notes),
    )


def _listed(value: Any, name: str) -> Any:
    """Pairs, or a column of times."""
    pairs = as_pairs(value, name)
    return as_column(value, name) if pairs is None else pairs


def _plain(one: Column | Pairs) -> Any:
    """A list as functions take it."""
    if isinstance(one, Pairs):
        return one
    return UtcTimes.of(one.values, one.east) if one.aware else one.values


def _column(one: Column | Pairs) -> Column:
    """All times of a list; ends that are missing are none."""
    if isinstance(one, Column):
        return one
    return Column(values=np.concatenate([one.starts, one.ends[~not_finite(one.ends)]]), aware=one.aware)


def _within(one: Any, name: str, first: int, last: int, unit: str | None, notes: list[str]) -> Any:
    """A list without what lies outside the span; ranges that reach into it stay."""
    if not len(one):
        return one
    pairs = isinstance(one, Pairs)
    begin = raw_numbers(one.starts if pairs else one.values, unit, name)
    end = begin
    if pairs:
        is_open = not_finite(one.ends)
        ends = one.ends.copy()
        ends[is_open] = one.starts[is_open]
        end = np.where(is_open, last, raw_numbers(ends, unit, name))
    inside: BoolArray = (begin <= last) & (end >= first)
    lost = int(np.count_nonzero(~inside))
    if not lost:
        return one
    what = "event" if name == "truth" else "alarm"
    if lost == len(inside):
        raise InputError(
            argument="span",
            problem=say("holds none of the {:,} {}s in {}", lost, what, named(name)),
            remedy="check its ends",
        )
    notes.append(f"{lost:,} of the {len(inside):,} {what}s lie outside the span and were left out.")
    if pairs:
        return replace(one, starts=one.starts[inside], ends=one.ends[inside])
    east = None if one.east is None else one.east[inside]
    return replace(one, values=one.values[inside], index=None, east=east)


def _size(
    every: AnyArray, first: int, last: int, tolerances: tuple[Tolerance, ...], dates: bool, notes: list[str]
) -> Any:
    """How long a step is, where nobody says so."""
    if not dates:
        if (every % 1 != 0).any():
            raise InputError(problem="the times are not whole numbers", remedy=say("pass {}", arg("step")))
        return Fraction(1)
    both: list[Any] = [side for one in tolerances if one.unit == "ns" for side in (one.early, one.late)]
    sides = [abs(int(side)) for side in both]
    offsets = np.concatenate([every - first, np.array([side for side in sides if side < 2**62], dtype=np.int64)])
    exact = next(size for size in EXACT if not (offsets % size).any())
    if (last - first) // exact < MOST_BY_DEFAULT:
        return Fraction(exact)
    size = next((size for size in ROUNDED if size > exact and (last - first) // size < MOST_BY_DEFAULT), ROUNDED[-1])
    notes.append(
        say(
            "Steps are {} long, so that alarms belong to the last of them that has begun; pass {} for others.",
            format_duration(size),
            arg("step"),
        )
    )
    return Fraction(size)


def _watched(at: AnyArray, gaps: Any, unit: str | None, aware: bool) -> BoolArray:
    """Which steps lie in no gap."""
    watched = np.ones(len(at), dtype=np.bool_)
    if gaps is not None and len(pairs := as_gaps(gaps)):
        if pairs.aware is not aware:
            raise InputError(
                argument="gaps", problem="and the lists do not both have a time zone", remedy="give both one"
            )
        begins, ends = raw_numbers(pairs.starts, unit, "gaps"), raw_numbers(pairs.ends, unit, "gaps")
        for begin, end in zip(begins, ends, strict=True):
            watched[np.searchsorted(at, begin, side="left") : np.searchsorted(at, end, side="right")] = False
    if not watched.any():
        raise InputError(argument="gaps", problem="cover the whole span", remedy="pass shorter ones, or a longer span")
    return watched
