"""From the columns that were read of one series to its case: what is missing, out of order or unequal is said in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray, same
from nofluke.data.columns import UtcTimes, absent
from nofluke.errors import InputError, Remark, Words, shown
from nofluke.series.clock import Clock, as_ticks
from nofluke.studies.cases import Case, Fault

Read = AnyArray | Fault
Slices = Sequence[tuple[int, int]]
NO_SCORES = Remark("no scores", "there are no scores of this detector.")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Events:
    """The truth of one series from a file of its own."""

    truth: Any | Fault = field(repr=False)
    truth_as: str
    notes: tuple[Remark, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Block:
    """Rows of one series, in wide tables of all its detectors, in long ones of one: columns, or why there are none.

    ``truth`` is None where it comes from elsewhere, ``times`` where there is no clock, ``test_part`` where no column
    flags it.
    """

    scores: Mapping[str, Read] = field(repr=False)
    truth: Read | None = field(repr=False, default=None)
    times: Read | None = field(repr=False, default=None)
    test_part: Read | None = field(repr=False, default=None)


def typed(read: Callable[[int, int], AnyArray], slices: Slices) -> list[Read]:
    """One column of several adjacent series: read at once, or by halves where something is wrong with it."""
    start, stop = slices[0][0], slices[-1][1]
    try:
        values = read(start, stop)
    except InputError as error:
        if len(slices) == 1:
            return [Fault.of(error)]
        half = len(slices) // 2
        return [*typed(read, slices[:half]), *typed(read, slices[half:])]
    return [values[a - start : b - start] for a, b in slices]


def joined(parts: Sequence[Read | None]) -> Read | None:
    """Pieces of one column, in order; the first fault stands for the whole."""
    for part in parts:
        if part is None or isinstance(part, Fault):
            return part
    arrays = [part for part in parts if isinstance(part, np.ndarray)]
    if len(arrays) == 1:
        return arrays[0]
    if len({part.dtype.kind == "M" for part in arrays}) + len({isinstance(part, UtcTimes) for part in arrays}) > 2:
        told = "its rows have times of different kinds, dates and numbers, or with a time zone and without."
        return Fault(reason=Remark("kinds of times", told))
    zoned = [part for part in arrays if isinstance(part, UtcTimes)]
    return UtcTimes.joined(zoned) if zoned else np.concatenate(arrays)


def faulty(series: str, group: str, detectors: Sequence[str], reason: Words) -> Case:
    """The case of a series of which nothing can be judged."""
    fault = Fault(reason=reason)
    return Case(series=series, group=group, truth=fault, detectors=dict.fromkeys(detectors, fault))


def wide_case(
    series: str,
    group: str,
    block: Block,
    detectors: Sequence[str],
    truth_as: str,
    events: Events | None = None,
    notes: tuple[Remark, ...] = (),
) -> Case:
    """The case of a series whose detectors share their rows."""
    block, sorting = _in_time(block)
    truth = block.truth if events is None else events.truth
    truth = next((one for one in (block.times, block.test_part) if isinstance(one, Fault)), truth)
    missing = Fault(reason=NO_SCORES)
    return Case(
        series=series,
        group=group,
        truth=truth,
        detectors={name: _present(block.scores.get(name, missing), block.truth) for name in detectors},
        times=None if isinstance(block.times, Fault) else block.times,
        truth_as=truth_as if events is None else events.truth_as,
        test_part=block.test_part,
        notes=(*notes, *sorting, *(() if events is None else events.notes)),
    )


def long_case(
    series: str,
    group: str,
    blocks: Mapping[str, Block],
    detectors: Sequence[str],
    truth_as: str,
    events: Events | None = None,
    notes: tuple[Remark, ...] = (),
) -> Case:
    """The case of a series whose detectors have their own rows: truth and times are the first's; all must agree."""
    ordered = {name: _in_time(blocks[name]) for name in detectors if name in blocks}
    sound = [name for name, (block, _) in ordered.items() if not _broken(block)]
    first = sound[0] if sound else next(iter(ordered))
    lead, sorting = ordered[first]
    scores: dict[str, Read] = {}
    for name, (block, _) in ordered.items():
        scores[name] = block.scores[name]
        if name != first and (reason := _unlike(block, lead, name, first)):
            scores[name] = Fault(reason=reason)
    whole = Block(scores=scores, truth=lead.truth, times=lead.times, test_part=lead.test_part)
    return wide_case(series, group, whole, detectors, truth_as, events, (*notes, *sorting))


def _broken(block: Block) -> bool:
    return any(isinstance(part, Fault) for part in (block.truth, block.times, *block.scores.values()))


def _unlike(block: Block, lead: Block, name: str, first: str) -> Words | None:
    """What keeps a detector's rows from being those of the first."""
    score, other = block.scores[name], lead.scores[first]
    if isinstance(score, Fault):
        return score.reason
    if isinstance(block.times, Fault):
        return block.times.reason
    if not isinstance(other, Fault) and len(score) != len(other):
        told = "it has {:,} rows where detector {} has {:,}: give both the same steps."
        return Remark("other rows", told, len(score), shown(first), len(other))
    alike = ("times", block.times, lead.times), ("labels", block.truth, lead.truth)
    for what, own, leads in (*alike, ("test parts", block.test_part, lead.test_part)):
        if isinstance(own, Fault):
            return own.reason
        if own is not None and not isinstance(leads, Fault) and not same(own, leads):
            told = "its {} differ from those of detector {}: give both the same."
            return Remark(f"other {what}", told, what, shown(first))
    return None


def _in_time(block: Block) -> tuple[Block, tuple[Remark, ...]]:
    """The rows in the order of their times; where two have the same, the clock is a fault."""
    times = block.times
    if times is None or isinstance(times, Fault) or absent(times).any() or (times[1:] > times[:-1]).all():
        return block, ()
    order = np.argsort(times, kind="stable")
    ordered = times[order]
    if len(again := ordered[1:][ordered[1:] == ordered[:-1]]):
        return replace(block, times=_repeated(again)), ()

    def turned(part: Read) -> Read:
        return part if isinstance(part, Fault) or len(part) != len(order) else part[order]

    moved = Block(
        scores={name: turned(part) for name, part in block.scores.items()},
        truth=None if block.truth is None else turned(block.truth),
        times=turned(times),
        test_part=None if block.test_part is None else turned(block.test_part),
    )
    return moved, (Remark("sorted", "Rows were not in time order, and were sorted by time."),)


def _repeated(times: AnyArray) -> Fault:
    """Why a clock cannot be used, from the times that it has already had."""
    ticks, unit = as_ticks(np.asarray(times), "times")
    first = Clock(ticks=ticks, unit=unit, aware=isinstance(times, UtcTimes)).show(ticks[0])
    n = len(np.unique(ticks))
    occur = "1 time occurs" if n == 1 else f"{n:,} times occur"
    told = "{} more than once, first {}: keep one row for each time."
    return Fault(reason=Remark("repeated times", told, occur, first))


def _present(scores: Read, truth: Read | None) -> Read:
    """Scores, unless there are none at all, or another number than labels."""
    if isinstance(scores, Fault):
        return scores
    if isinstance(truth, np.ndarray) and len(truth) != len(scores):
        told = "there are {:,} scores for {:,} labels: give each step both."
        return Fault(reason=Remark("scores and labels", told, len(scores), len(truth)))
    if not len(scores) or absent(scores).all():
        return Fault(reason=Remark("all missing", "all of its {:,} scores are missing.", len(scores)))
    return scores
