"""One step for each value: how many there are, what aligns the arguments, and the clock they share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nofluke.data.columns import Column, as_column
from nofluke.errors import InputError, arg, named, say
from nofluke.series.clock import Clock, make_clock
from nofluke.series.labels import is_binary


def length(given: Column, name: str, stamps: Column | None, labels: Column, *, ranges: bool) -> int:
    """T: one step for each score or 0/1 alarm; for a list of alarms, one for each time of the clock or 0/1 label.

    ``ranges`` says that alarms are ranges; ``labels`` is empty where events are listed too.
    """
    dates = given.values.dtype.kind == "M"
    if dates and name == "scores":
        raise InputError(
            argument="scores", problem="must be numbers, got dates", remedy=say("pass the dates as {}", arg("times"))
        )
    if name == "predictions" and stamps is not None:
        n = len(stamps)
    elif dates or (name == "predictions" and len(given) == 0 and has_dates(labels)):
        n = len(labels)  # its index is the clock, or there is none and that is said later
    elif name == "predictions" and (ranges or given.ilocs or _lists_positions(given.values, labels.values)):
        n = len(labels)
        if n == 0 or not _are_labels(labels.values):
            raise InputError(
                problem="truth and predictions are both lists of events, which do not say how many steps there are",
                remedy=say("pass {}, or {}, one for each step", arg("n_steps"), arg("times")),
            )
    else:
        n = len(given)
    if n == 0 and dates:
        raise InputError(
            argument=name,
            problem="holds times, but the data has no clock",
            remedy=say("pass {}, one for each step", arg("times")),
        )
    if n == 0:
        raise InputError(
            argument=name, problem="is empty, so there is nothing to evaluate", remedy="pass one value for each step"
        )
    return n


def _are_labels(values: npt.NDArray[Any]) -> bool:
    return values.dtype.kind != "M" and is_binary(values)


def _lists_positions(values: npt.NDArray[Any], truth: npt.NDArray[Any]) -> bool:
    """Whether alarms are positions: fewer than the 0/1 labels, or distinct whole numbers if there are no labels."""
    if is_binary(values):
        return False
    if len(truth) and _are_labels(truth):
        return len(values) < len(truth)
    return not (values % 1).any() and len(np.unique(values)) == len(values)


def has_dates(thing: Any) -> bool:
    """Whether the index of a column, or of anything of pandas, shows dates: then it is a clock."""
    return _are_dates(getattr(thing, "index", None))


def _are_dates(index: Any) -> bool:
    return getattr(getattr(index, "dtype", None), "kind", "") == "M"


def clock_of(series: Any) -> Any:
    """The times of a series: its index of dates, else 0, 1, 2, ..."""
    return series.index if has_dates(series) else range(len(series))


def reference_of(
    given: Column, given_kind: str, name: str, events: Column, truth_kind: str, n: int
) -> tuple[Column, str]:
    """What everything is aligned with, and whose it is: scores or 0/1 alarms, else 0/1 labels, else nothing."""
    if given_kind == "labels":
        return given, name
    if truth_kind != "labels":
        return Column(values=np.zeros(n, dtype=np.bool_)), name
    if len(events) != n:
        raise InputError(
            argument="truth",
            problem=f"has {len(events)} values but times has {n}",
            remedy="pass one label for each step",
        )
    return events, "truth"


def aligned(column: Column, reference: Column, name: str, other: str) -> Column:
    """The column in the order of the reference: by index where both have one, else by position."""
    n = len(reference)
    mine, theirs = column.index, reference.index
    if mine is None or theirs is None or (_default(mine) and _default(theirs)):
        if len(column) != n:
            positions = arg("truth_as", "positions")
            remedy = {
                ("truth", "scores"): say("pass one label for each score, or event positions ({})", positions),
                ("truth", "predictions"): say(
                    "pass one label and one alarm for each step, or {} with a list of alarm times", arg("times")
                ),
            }.get((name, other), "pass one for each step")
            raise InputError(
                argument=name, problem=say("has {} values but {} has {}", len(column), named(other), n), remedy=remedy
            )
        return column
    if len(mine) == n and (mine.equals(theirs) or nothing_shared(mine, theirs)):
        return column
    if mine.nlevels != theirs.nlevels:  # pandas compares no tuples with single labels
        raise InputError(
            problem=f"the index of {name} has {mine.nlevels} level(s) but that of {other} has {theirs.nlevels}",
            remedy="give both the same, or pass .to_numpy() to align by position",
        )
    for index, whose in ((mine, name), (theirs, other)):
        if index.has_duplicates:
            twice = index[index.duplicated()]
            raise InputError(
                problem=f"the index of {whose} has {len(twice)} duplicate(s), first {twice[0]}: {name} and {other} cannot "
                "be aligned by it",
                remedy="keep one row for each, or pass .to_numpy() to align by position",
            )
    lacking, extra = theirs[~theirs.isin(mine)], mine[~mine.isin(theirs)]
    if len(lacking) or len(extra):
        parts = [
            f"{len(labels)} label(s) only in {whose}, first {labels[0]}"
            for labels, whose in ((lacking, other), (extra, name))
            if len(labels)
        ]
        raise InputError(
            argument=name,
            problem=f"and {other} do not share their index: {'; '.join(parts)}",
            remedy="reindex one to the other, or pass .to_numpy() to align by position",
        )
    order = mine.get_indexer(theirs)
    return Column(values=column.values[order], index=theirs, aware=column.aware)


def nothing_shared(mine: Any, theirs: Any) -> bool:
    """Whether one index has dates and the other is pandas' own 0, 1, 2, ..., as sktime's ``transform`` returns it."""
    return (_are_dates(mine) and _default(theirs)) or (_are_dates(theirs) and _default(mine))


def _default(index: Any) -> bool:
    """Whether an index is the 0, 1, 2, ... that pandas makes by itself."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def find_clock(stamps: Column | None, reference: Column, labels: Column | None, name: str) -> Clock | None:
    if stamps is not None:
        return make_clock(stamps.values, "times", stamps.aware)
    for column, whose in ((reference, name), (labels, "truth")):
        if column is not None and has_dates(column):
            own = as_column(column.index, f"the index of {whose}")
            return make_clock(own.values, f"the index of {whose}", own.aware)
    return None
