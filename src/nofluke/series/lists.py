"""Lists of times, spans and gaps as users bring them, each checked by itself and against the others."""

from __future__ import annotations

import itertools
import math
import re
from datetime import date, datetime
from typing import Any

import numpy as np

from nofluke.data.columns import Column, as_column
from nofluke.data.pairs import Pairs, as_pairs
from nofluke.dates import as_duration
from nofluke.errors import InputError, named, say, verb
from nofluke.plain import as_number, exact_fraction, number_or_none
from nofluke.series.clock import listing
from nofluke.series.ticks import Number
from nofluke.series.tolerance import Length, Tolerance, as_tolerance

DATE_ONLY = re.compile(r"\s*\d{4}-\d\d-\d\d\s*")


def tolerance_of_times(value: Length | Tolerance, name: str = "tolerance") -> Tolerance:
    """A tolerance in time: plain numbers count the unit of the times, whatever that is; durations are for dates."""
    found = as_tolerance(value, name, None if isinstance(value, Tolerance) or not _is_plain(value) else "clock")
    if found.unit != "steps":
        return found
    return Tolerance(early=found.early, late=found.late, unit="clock")


def in_kind(tolerance: Tolerance, dates: bool) -> Tolerance:
    """A tolerance of 0 in the unit of the times, whatever it was given in: "0s" for dates."""
    return Tolerance(early=0, late=0, unit="ns" if dates else "clock") if tolerance.zero else tolerance


def _is_plain(value: object) -> bool:
    return number_or_none(value) is not None


def as_list(value: Any, name: str) -> Column:
    if as_pairs(value, name) is not None:
        raise InputError(
            argument=name,
            problem="holds pairs, which are ranges",
            remedy="pass one time for each range, such as its start",
        )
    column = as_column(value, name)
    values = column.values
    labels = name in ("events", "alarms") and len(values) > 2 and values.dtype.kind in "iuf"
    if values.dtype.kind == "b" or (labels and np.isin(values, (0, 1)).all()):
        raise InputError(
            argument=name,
            problem="holds zeros and ones, not times",
            remedy=say("pass times, or labels to {}", verb("evaluate")),
        )
    missing = np.isnat(values) if values.dtype.kind == "M" else ~np.isfinite(values.astype(np.float64))
    if missing.any():
        where = np.flatnonzero(missing)
        raise InputError(
            argument=name,
            problem=f"has {len(where)} missing or infinite time(s) at position(s) {listing(where)}",
            remedy="remove them",
        )
    return column


def as_span(span: Any) -> tuple[Column, bool]:
    """Both ends of the span, and whether its last one is a date without a time of day, which means all of that day."""
    try:
        both = hasattr(span, "left") and hasattr(span, "right")
        items = [span.left, span.right] if both else list(itertools.islice(span, 3))
    except Exception:  # what has no items, or raises what it likes when it is asked for them
        items = []
    if len(items) != 2:
        raise InputError(
            argument="span", value=span, problem="must be two times, the start and the end of the watched time"
        )
    end = items[1].as_py() if hasattr(items[1], "as_py") else items[1]
    return as_list(span if hasattr(span, "__array__") else items, "span"), _is_day(end)


def as_gaps(gaps: Any) -> Pairs:
    pairs = as_pairs(gaps, "gaps")
    if pairs is None:
        if gaps.size == 0 if isinstance(gaps, np.ndarray) else isinstance(gaps, list | tuple) and not gaps:
            return Pairs(starts=np.zeros(0), ends=np.zeros(0))
        raise InputError(argument="gaps", value=gaps, problem="must be (start, end) pairs of time that was not watched")
    for side in (pairs.starts, pairs.ends):
        as_list(side, "gaps")
    back = pairs.starts > pairs.ends
    if back.any():
        at = int(np.flatnonzero(back)[0])
        raise InputError(
            argument="gaps",
            problem=f"has {int(back.sum())} gap(s) that end before they start, first {pairs.starts[at]} to "
            f"{pairs.ends[at]}",
            remedy="swap their ends",
        )
    return pairs


def one_kind(columns: dict[str, Column]) -> tuple[bool, bool]:
    """Whether all are dates, and whether they have a time zone; a mixture is refused."""
    kinds = {name: column.values.dtype.kind == "M" for name, column in columns.items()}
    if len(set(kinds.values())) > 1:
        dates, numbers = (next(name for name, is_dates in kinds.items() if is_dates is kind) for kind in (True, False))
        raise InputError(
            problem=say("{} holds dates but {} holds numbers", named(dates), named(numbers)),
            remedy="give both as the same kind",
        )
    zones = {name: column.aware for name, column in columns.items()}
    if len(set(zones.values())) > 1:
        aware, naive = (next(name for name, has in zones.items() if has is kind) for kind in (True, False))
        raise InputError(
            problem=say("{} has a time zone but {} has none", named(aware), named(naive)),
            remedy="give both a time zone, or neither",
        )
    return next(iter(kinds.values())), next(iter(zones.values()))


def lengths_of(tolerances: tuple[Tolerance, ...], dates: bool) -> list[Number]:
    found: list[Number] = []
    for tolerance in tolerances:
        sides: tuple[Any, Any] = (tolerance.early, tolerance.late)
        if any(sides) and (tolerance.unit == "ns") is not dates:
            remedy = 'a duration such as "2h"' if dates else "a plain number, in the unit of the times"
            kind = "dates" if dates else "plain numbers"
            raise InputError(
                argument="tolerance",
                problem=f"of {tolerance} does not fit times that are {kind}",
                remedy=f"pass {remedy}",
            )
        found.extend(sides)
    return found


def as_tick(value: Any, dates: bool) -> Any:
    duration = as_duration(value, "tick")
    if (duration is not None) is not dates:
        remedy = 'a duration such as "1d"' if dates else "a plain number"
        raise InputError(argument="tick", value=value, problem="does not fit the times", remedy=f"pass {remedy}")
    size = exact_fraction(
        duration if duration is not None else as_number(value, "tick", "be positive", lambda x: 0 < x < math.inf)
    )
    if not 0 < size < 10**30:
        raise InputError(argument="tick", value=value, problem="must be positive and finite")
    return size


def _is_day(end: Any) -> bool:
    """Whether the end of a span is a date without a time of day, and so means all of that day."""
    if isinstance(end, str):
        return DATE_ONLY.fullmatch(end) is not None
    if isinstance(end, np.datetime64):
        return np.datetime_data(end.dtype)[0] == "D"
    return isinstance(end, date) and not isinstance(end, datetime)
