"""From pairs of a start and an end to ranges of steps: checked, in order, apart, and within the data.

Both ends belong to a range, unless an interval says otherwise. On a clock a range is one of time: it covers the steps
whose times lie in it, keeps its own ends, and stays an event where it covers no step. Else its ends are steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, IntArray
from nofluke.data.pairs import OPEN, Pairs
from nofluke.errors import InputError, arg, passed, say
from nofluke.series.clock import Clock, listing
from nofluke.series.labels import TruthKind, fitting_clock
from nofluke.series.own_times import own_ticks, refined
from nofluke.series.spans import Spans

Overlaps = Literal["error", "merge"]
_DAY = 86_400 * 10**9


@dataclass(slots=True, kw_only=True)
class _Bounds:
    """Ends of ranges as comparable numbers, steps or ticks of a clock; and the pairs as given, for messages."""

    begins: AnyArray
    ends: AnyArray
    given: Pairs
    show: Callable[[Any], str]
    slack: float = 0.0

    def __getitem__(self, which: Any) -> _Bounds:
        given = replace(self.given, starts=self.given.starts[which], ends=self.given.ends[which])
        return replace(self, begins=self.begins[which], ends=self.ends[which], given=given)

    def words(self) -> str:
        """The ranges as they were given, the first few."""
        pairs = zip(self.given.starts, self.given.ends, strict=True)
        return listing(np.array([f"{self.show(start)} to {self.show(end)}" for start, end in pairs]))


def read_ranges(
    pairs: Pairs, asked: TruthKind, n_steps: int, clock: Clock | None, overlaps: Overlaps, notes: list[str]
) -> tuple[Spans, Clock | None]:
    """Ranges over all steps, and the clock, in a finer unit where the ends of the ranges need one."""
    if len(pairs) == 0:
        none = np.zeros(0, dtype=np.int64)
        return Spans.of_steps(none, none, clock), clock
    for side, values in (("start", pairs.starts), ("end", pairs.ends)):
        _check_present(values, side, pairs.name)
    dates = pairs.starts.dtype.kind == "M"
    if dates and asked == "positions":
        raise InputError(
            argument="truth",
            problem=say("holds dates, but {}", passed("truth_as", "positions")),
            remedy=say("pass {}", arg("truth_as", "times")),
        )
    if dates or asked == "times" or (asked != "positions" and clock is not None and not clock.is_dates):
        clock = fitting_clock(clock, dates, pairs.aware, pairs.name)
        return _on_clock(pairs, clock, overlaps, notes)
    return _on_steps(pairs, n_steps, clock, overlaps, notes), clock


def _check_present(values: AnyArray, side: str, name: str) -> None:
    if values.dtype.kind == "b":
        raise InputError(
            argument=name,
            problem="holds pairs of booleans",
            remedy="pass one label for each step, or pairs of a start and an end",
        )
    missing = np.isnat(values) if values.dtype.kind == "M" else ~np.isfinite(values.astype(np.float64))
    if missing.any():
        where = np.flatnonzero(missing)
        raise InputError(
            argument=name,
            problem=f"has {len(where)} range(s) without a finite {side}, at position(s) {listing(where)}",
            remedy=OPEN[side],
        )


def _on_steps(pairs: Pairs, n_steps: int, clock: Clock | None, overlaps: Overlaps, notes: list[str]) -> Spans:
    for values in (pairs.starts, pairs.ends):
        wrong = values[values % 1 != 0]
        if len(wrong):
            raise InputError(
                argument=pairs.name,
                problem=f"has ranges that end at {listing(wrong)}, which are not whole steps",
                remedy=say("pass whole positions, or {} for a clock", arg("times")),
            )

    def whole(values: AnyArray) -> IntArray:
        far = 2**62  # beyond all steps, and in reach of 64 bits
        return np.clip(values, 0 if values.dtype.kind == "u" else -far, far).astype(np.int64)

    bounds = _Bounds(begins=whole(pairs.starts), ends=whole(pairs.ends), given=pairs, show=_show_step)
    bounds = _apart(_in_order(bounds, 1), overlaps, notes, shared=False)
    last = n_steps - 1
    _within(bounds, (bounds.ends < 0) | (bounds.begins > last), f"the steps 0 to {last}", "pass more steps")
    _note_cut(bounds[(bounds.begins < 0) | (bounds.ends > last)], f"the steps 0 to {last}", notes)
    return Spans.of_steps(np.maximum(bounds.begins, 0), np.minimum(bounds.ends, last) + 1, clock)


def _on_clock(pairs: Pairs, clock: Clock, overlaps: Overlaps, notes: list[str]) -> tuple[Spans, Clock]:
    clock = refined(clock, pairs.starts, pairs.ends)
    begins, ends = own_ticks(clock, pairs.starts, up=True), own_ticks(clock, pairs.ends)
    bounds = _Bounds(begins=begins, ends=np.maximum(begins, ends), given=pairs, show=clock.show_time, slack=clock.slack)
    bounds = _apart(_in_order(bounds, 0), overlaps, notes, shared=True)
    first, last = clock.ticks[0], clock.ticks[-1]
    span = f"the clock ({clock.show(first)} to {clock.show(last)})"
    # times of floats are compared with room for rounding; ticks stay whole, since floats would merge them
    low, high = (first - clock.slack, last + clock.slack) if clock.slack else (first, last)
    early = bounds.ends < low if pairs.closed in ("both", "right") else bounds.ends <= first
    late = (bounds.begins > high) & (bounds.begins >= clock.end)
    _within(bounds, early | late, span, "pass the steps of that time too")
    _note_midnights(pairs, clock, notes)
    _note_cut(bounds[(bounds.begins < low) | ((bounds.ends > high) & (bounds.ends >= clock.end))], span, notes)
    ends = np.maximum.accumulate(bounds.ends)  # they ascend but for rounding
    opens = np.repeat(
        [[pairs.closed in ("right", "neither")], [pairs.closed in ("left", "neither")]], len(ends), axis=1
    )
    starts, stops = clock.windows_around(bounds.begins, ends, 0, 0, opens)
    # a step at the instant in which two ranges touch belongs to the earlier one
    before = np.concatenate([[0], np.maximum.accumulate(stops)[:-1]])
    taken = starts < before
    if taken.any():
        notes.append(
            f"{int(taken.sum())} range(s) begin on the step on which the previous one ends; that step counts for the "
            f"earlier range: {bounds[taken].words()}."
        )
    starts = np.maximum(starts, before)
    spans = Spans(
        starts=starts,
        stops=np.maximum(stops, starts),
        begins=bounds.begins,
        ends=ends,
        opens=opens if opens.any() else None,
    )
    return spans, clock


def _in_order(bounds: _Bounds, least: int) -> _Bounds:
    """Ascending ranges, those of steps without the ends that are open; reversed and empty ones are refused."""
    # as they were given: rounded to ticks, those between two of them may cross
    back = bounds.given.starts > bounds.given.ends
    if back.any():
        raise InputError(
            argument=bounds.given.name,
            problem=f"has {int(back.sum())} range(s) that end before they start: {bounds[back].words()}",
            remedy="swap their ends",
        )
    closed = bounds.given.closed
    begins = bounds.begins if closed in ("both", "left") else bounds.begins + least
    ends = bounds.ends if closed in ("both", "right") else bounds.ends - least
    empty = (begins > ends) | ((begins == ends) & (closed != "both") & (least == 0))
    if empty.any():
        raise InputError(
            argument=bounds.given.name,
            problem=f"has {int(empty.sum())} empty interval(s), closed={closed!r}: {bounds[empty].words()}",
            remedy="remove them",
        )
    order = np.lexsort((ends, begins))
    return replace(bounds, begins=begins, ends=ends)[order]


def _apart(bounds: _Bounds, overlaps: Overlaps, notes: list[str], *, shared: bool) -> _Bounds:
    """Ranges that do not overlap: refused or merged. On a clock two may share an instant, if they are not the same."""
    begins, ends = bounds.begins, bounds.ends
    top = np.maximum.accumulate(ends)[:-1]
    same = (begins[1:] == begins[:-1]) & (ends[1:] == ends[:-1])
    over = (begins[1:] + bounds.slack < top) | same if bounds.slack else (begins[1:] < top) | same
    if not shared:
        over |= begins[1:] == top
    if not over.any():
        return bounds
    if overlaps == "error":
        at = int(np.flatnonzero(over)[0]) + 1
        reaching = int(np.argmax(ends[:at]))
        raise InputError(
            argument=bounds.given.name,
            problem=f"has {int(over.sum())} range(s) that overlap another, first "
            f"{bounds[[reaching]].words()} and {bounds[[at]].words()}",
            remedy=say("fix them, or pass {}", arg("overlaps", "merge")),
        )
    kept = np.flatnonzero(np.concatenate([[True], ~over]))
    merged = np.maximum.reduceat(ends, kept)
    last = np.array([lo + int(np.argmax(ends[lo:hi])) for lo, hi in zip(kept, [*kept[1:], len(ends)], strict=True)])
    notes.append(f"Overlapping ranges were merged: {len(ends):,} became {len(kept):,}.")
    given = replace(bounds.given, starts=bounds.given.starts[kept], ends=bounds.given.ends[last])
    return replace(bounds, begins=begins[kept], ends=merged, given=given)


def _within(bounds: _Bounds, outside: BoolArray, span: str, remedy: str) -> None:
    if outside.any():
        raise InputError(
            argument=bounds.given.name,
            problem=f"has {int(outside.sum())} range(s) outside {span}: {bounds[outside].words()}",
            remedy=f"remove them, or {remedy}",
        )


def _note_cut(bounds: _Bounds, span: str, notes: list[str]) -> None:
    if len(bounds.begins):
        notes.append(f"{len(bounds.begins)} range(s) reach beyond {span} and are cut there: {bounds.words()}.")


def _note_midnights(pairs: Pairs, clock: Clock, notes: list[str]) -> None:
    """A note where lists of days meet a clock of hours: the last day of a range is its midnight, and not all of it."""
    if clock.unit is None or pairs.closed in ("left", "neither") or clock.step * clock.tick_size >= _DAY:
        return
    if all((values == values.astype("datetime64[D]")).all() for values in (pairs.starts, pairs.ends)):
        notes.append(
            "Ranges end on dates without a time of day, which means midnight: if the last day belongs to the range, "
            "write its last time, such as 2024-01-31T23:59:59."
        )


def _show_step(value: Any) -> str:
    return str(value).removesuffix(".0")
