"""What an argument holds: one value for each step, or a list of events: positions, times, or ranges of either."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray, BoolArray
from nofluke.data.columns import Column, as_column
from nofluke.data.frames import ilocs_of
from nofluke.data.pairs import Pairs, as_pairs, no_pairs
from nofluke.errors import InputError, arg, named, passed, say
from nofluke.series.clock import Clock
from nofluke.series.labels import TruthKind
from nofluke.series.ranges import read_ranges


def read_scores(scores: Any) -> Column:
    """Scores; a list of events in their place is refused."""
    if ilocs_of(scores) is not None:
        raise InputError(
            argument="scores",
            problem="has a column 'ilocs', which lists events",
            remedy=say("pass it as {}, or one score for each step", arg("predictions")),
        )
    return as_column(scores, "scores")


def read_given(value: Any, name: str, asked: TruthKind = "auto") -> tuple[Column, Pairs | None]:
    """Events or alarms as one column, or as pairs of a start and an end, and then an empty column."""
    ilocs = ilocs_of(value)
    listed = value if ilocs is None else ilocs
    pairs = as_pairs(listed, name)
    column = Column(values=np.zeros(0)) if pairs is not None else as_column(listed, name)
    if ilocs is not None:
        _check_ilocs(column.values if pairs is None else pairs.starts, name, asked)
        column = replace(column, index=None, ilocs=pairs is None)
    if asked == "ranges" and pairs is None:
        if len(column):
            raise InputError(
                argument=name,
                problem=say("is one column, but {}", passed(f"{name}_as", "ranges")),
                remedy="pass pairs of a start and an end",
            )
        pairs = no_pairs()
    if asked == "labels" and pairs is not None:
        raise InputError(
            argument=name,
            problem=say("holds pairs, but {}", passed(f"{name}_as", "labels")),
            remedy=say("pass one label for each step, or {}", arg(f"{name}_as", "ranges")),
        )
    return column, None if pairs is None else replace(pairs, name=name, ilocs=ilocs is not None)


def _check_ilocs(values: AnyArray, name: str, asked: TruthKind) -> None:
    if values.dtype.kind == "M":
        raise InputError(
            argument=name,
            problem="has dates in a column 'ilocs', where positions belong",
            remedy="pass the column by itself",
        )
    if asked in ("labels", "times"):
        raise InputError(
            argument=name,
            problem=say("has a column 'ilocs', which holds positions, but {}", passed(f"{name}_as", asked)),
            remedy=say("leave {} out", named(f"{name}_as")),
        )


def as_labels(events: Column, asked: TruthKind) -> Column:
    """Events if they may be a label for each step, by which steps are counted; else an empty column."""
    labels = asked in ("auto", "labels") and not events.ilocs
    return events if labels else Column(values=events.values[:0])


def alarms_in_ranges(pairs: Pairs, n_steps: int, clock: Clock | None, notes: list[str]) -> BoolArray:
    """One flag for each step that lies in a range of alarms; ranges may overlap."""
    spans, _ = read_ranges(pairs, "positions" if pairs.ilocs else "auto", n_steps, clock, "merge", notes)
    if spans.between.any():
        notes.append(f"{int(spans.between.sum())} range(s) of alarms between two steps were left out.")
    flags = spans.flags(n_steps)
    refuse_segmentation(pairs, flags)
    return flags


def refuse_segmentation(pairs: Pairs, flags: BoolArray) -> None:
    """Refuse segments that cover every step: such a list divides the series, and says nothing about anomalies."""
    if pairs.ilocs and len(pairs) > 1 and flags.all():
        raise InputError(
            argument=pairs.name,
            problem=f"has {len(pairs)} segments that cover all {len(flags)} steps, so every step is an event",
            remedy="pass the change points between them (predict_points), or only the segments that are anomalies",
        )
