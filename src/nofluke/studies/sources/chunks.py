"""From the columns that were read of one series to its case, from cases to chunks, and what tells inputs apart."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray, same
from nofluke.data.columns import Pairs, UtcTimes, absent
from nofluke.errors import InputError, Remark, Words, arg, say, shown
from nofluke.series.clock import Clock, as_ticks
from nofluke.series.reading import first_step
from nofluke.studies.cases import Case, Chunk, Fault
from nofluke.studies.sources.names import OF_ROWS, Roles, check_name

# ---- the case of a series: what is missing, out of order or unequal is said in it

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

    What has no column is None: ``truth`` where it comes from elsewhere, ``times`` where there is no clock.
    """

    scores: Mapping[str, Read] = field(repr=False)
    truth: Read | None = field(repr=False, default=None)
    times: Read | None = field(repr=False, default=None)
    test_part: Read | None = field(repr=False, default=None)
    warmup: Read | None = field(repr=False, default=None)


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
    roles: Roles,
    events: Events | None = None,
    notes: tuple[Remark, ...] = (),
) -> Case:
    """The case of a series whose detectors share their rows."""
    block, sorting = _in_time(block)
    truth = block.truth if events is None else events.truth
    warmup = _only(block.warmup, str(roles.warmup))
    truth = next((one for one in (block.times, block.test_part, warmup) if isinstance(one, Fault)), truth)
    missing = Fault(reason=NO_SCORES)
    return Case(
        series=series,
        group=group,
        truth=truth,
        detectors={name: _present(block.scores.get(name, missing)) for name in detectors},
        times=None if isinstance(block.times, Fault) else block.times,
        truth_as=roles.truth_as if events is None else events.truth_as,
        test_part=block.test_part,
        warmup=warmup,
        notes=(*notes, *sorting, *(() if events is None else events.notes)),
    )


def _only(warmup: Read | None, column: str) -> Any:
    """The one warm-up that all rows of a series tell, as a number of steps or a share."""
    if warmup is None or isinstance(warmup, Fault):
        return warmup
    values = np.unique(warmup[~absent(warmup)])
    if not len(values):
        return None
    if len(values) > 1:
        told = "column {} has {:,} values in this series: it has one warm-up."
        return Fault(reason=Remark("several warm-ups", told, shown(column), len(values)))
    value = values[0].item()
    return int(value) if float(value).is_integer() else value


def long_case(
    series: str,
    group: str,
    blocks: Mapping[str, Block],
    detectors: Sequence[str],
    roles: Roles,
    events: Events | None = None,
    notes: tuple[Remark, ...] = (),
) -> Case:
    """The case of a series whose detectors have their own rows: truth and times are the first's; all must agree.

    Where scores may be shorter than the series, they are those of the first of the longest.
    """
    ordered = {name: _in_time(blocks[name]) for name in detectors if name in blocks}
    sound = [name for name, (block, _) in ordered.items() if not _broken(block)]
    if roles.align is not None:
        sound.sort(key=lambda name: -len(ordered[name][0].scores[name]))  # type: ignore[arg-type]
    first = sound[0] if sound else next(iter(ordered))
    lead, sorting = ordered[first]
    scores: dict[str, Read] = {}
    for name, (block, _) in ordered.items():
        scores[name] = block.scores[name]
        if name != first and (reason := _unlike(block, lead, name, first, roles)):
            scores[name] = Fault(reason=reason)
    return wide_case(series, group, replace(lead, scores=scores), detectors, roles, events, (*notes, *sorting))


def _broken(block: Block) -> bool:
    return any(isinstance(part, Fault) for part in (block.truth, block.times, *block.scores.values()))


def _unlike(block: Block, lead: Block, name: str, first: str, roles: Roles) -> Words | None:
    """What keeps a detector's rows from being those of the first."""
    score, other = block.scores[name], lead.scores[first]
    if isinstance(score, Fault):
        return score.reason
    if isinstance(block.times, Fault):
        return block.times.reason
    part = slice(None)
    if not isinstance(other, Fault) and len(score) != len(other):
        if roles.align is None or len(score) > len(other):
            told = "it has {:,} rows where detector {} has {:,}: give both the same steps{}."
            offer = say(", or pass {}", arg("align", "end")) if len(score) < len(other) else ""
            return Remark("other rows", told, len(score), shown(first), len(other), offer)
        at = first_step(roles.align, len(score), len(other))
        part = slice(at, at + len(score))
    words = {"times": "times", "truth": "labels", "test_part": "test parts", "warmup": "warm-ups"}
    for role, what in words.items():
        own, leads = getattr(block, role), getattr(lead, role)
        if isinstance(own, Fault):
            return own.reason
        if own is not None and not isinstance(leads, Fault) and leads is not None and not same(own, leads[part]):
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

    others = {role: turned(part) for role in OF_ROWS if (part := getattr(block, role)) is not None}
    scores = {name: turned(part) for name, part in block.scores.items()}
    return Block(scores=scores, **others), (Remark("sorted", "Rows were not in time order, and were sorted by time."),)


def _repeated(times: AnyArray) -> Fault:
    """Why a clock cannot be used, from the times that it has already had."""
    ticks, unit = as_ticks(np.asarray(times), "times")
    first = Clock(ticks=ticks, unit=unit, aware=isinstance(times, UtcTimes)).show(ticks[0])
    n = len(np.unique(ticks))
    occur = "1 time occurs" if n == 1 else f"{n:,} times occur"
    told = "{} more than once, first {}: keep one row for each time."
    return Fault(reason=Remark("repeated times", told, occur, first))


def _present(scores: Read) -> Read:
    """Scores, unless there are none at all."""
    if isinstance(scores, Fault):
        return scores
    if not len(scores) or absent(scores).all():
        return Fault(reason=Remark("all missing", "all of its {:,} scores are missing.", len(scores)))
    return scores


# ---- chunks of cases, and how many series go into one

MOST_SCORES = 2_000_000
MOST_SERIES = 1_000
MOST_NAMED = 5  # columns that are not used
LEAST_CHUNKS = 32  # where there are as many series: enough for the workers of a large machine


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chunks:
    """Where the series of a study come from.

    Attributes
    ----------
    detectors : tuple of str
        Names of all detectors, in the order of the study.
    fingerprint : dict
        Plain values (JSON) that change whenever the inputs do: paths, sizes, times of change, or array hashes.
    parts : tuple of Chunk
        In order: the same for the same inputs, whatever the number of workers.
    unused : tuple of Remark
        What of the inputs is not used, and why: files and columns, a sentence for each reason.
    keeps : Any
        What must outlive the chunks.
    """

    detectors: tuple[str, ...]
    fingerprint: dict[str, Any] = field(repr=False)
    parts: tuple[Chunk, ...] = field(repr=False)
    unused: tuple[Remark, ...] = ()
    keeps: Any = field(repr=False, default=None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CasesChunk:
    """Cases that were read already: they travel with the chunk."""

    cases: tuple[Case, ...] = field(repr=False)

    @property
    def series(self) -> tuple[str, ...]:
        """Names of the series in it."""
        return tuple(case.series for case in self.cases)

    def read(self, some: Container[str] | None = None) -> Iterator[Case]:
        """The cases."""
        return (case for case in self.cases if some is None or case.series in some)


def unused_columns(tables: Iterable[Iterable[str]], used: Collection[str]) -> tuple[Remark, ...]:
    """What is said of columns that nothing asks for, those of most tables first.

    >>> unused_columns([["y", "a", "value"], ["y", "b", "value"]], ["y", "a"])
    ("2 columns are not used, since no argument names them: 'value' (in 2 tables), 'b'.",)
    """
    counts = Counter(name for names in tables for name in dict.fromkeys(names) if name not in used)
    if not counts:
        return ()
    listed = [f"{shown(name)}{f' (in {n:,} tables)' if n > 1 else ''}" for name, n in counts.most_common(MOST_NAMED)]
    more = f" and {len(counts) - MOST_NAMED:,} more" if len(counts) > MOST_NAMED else ""
    told = "{} not used, since no argument names {}: {}{}."
    one = len(counts) == 1
    them = (f"{len(counts):,} column{' is' if one else 's are'}", "it" if one else "them", ", ".join(listed), more)
    return (Remark("unused columns", told, *them),)


def cut(sizes: Sequence[int]) -> list[slice]:
    """Which series go into one chunk, by their numbers of scores: about two million.

    Small studies make at least 32 chunks where they have as many series, so that many workers have something to do.

    >>> cut([10] * 65)[:2], len(cut([10] * 65))
    ([slice(0, 2, None), slice(2, 4, None)], 33)
    """
    most = min(max(len(sizes) // LEAST_CHUNKS, 1), MOST_SERIES)
    parts, start, held = [], 0, 0
    for at, size in enumerate(sizes):
        if at > start and (at - start >= most or held + size > MOST_SCORES):
            parts.append(slice(start, at))
            start, held = at, 0
        held += size
    return [*parts, slice(start, len(sizes))] if len(sizes) else []


# ---- what changes whenever the inputs do: sums of small files and of arrays, sizes and times of large files

HASHED = 512 << 20
"""Up to this many bytes in all, files are compared by content: touching or copying them is not a change."""
LISTED = 1_000
_PIECE = 1 << 18


def sizes_of(files: Iterable[str], root: Path) -> dict[str, int]:
    """The size of each file by its path below a folder.

    It is 0 of one that is out of reach, such as behind a link that leads nowhere.
    """
    folder = os.fspath(root)
    return {name: _size(os.path.join(folder, name)) for name in files}


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def sum_of_files(sizes: Mapping[str, int], root: Path) -> dict[str, Any]:
    """Files by their paths below a folder; one sum for all of them where there are many."""
    told, folder = _by_content if sum(sizes.values()) <= HASHED else _by_time, os.fspath(root)
    each = {name: _told(os.path.join(folder, name), told) for name in sizes}
    for name in each:
        check_name(name, "source")
    listed: dict[str, Any] = each if len(each) <= LISTED else {"sum": _sum(repr(sorted(each.items())).encode())}
    return {"count": len(sizes), "bytes": sum(sizes.values()), "files": listed}


def sum_of_values(values: Mapping[str, Any]) -> str:
    """A sum of arrays and ranges by name."""
    told = [
        (name, value.starts.tolist(), value.ends.tolist(), value.aware)
        if isinstance(value, Pairs)
        else (name, np.asarray(value).tolist())
        for name, value in values.items()
    ]
    return _sum(repr(told).encode("utf-8", "replace"))


def _told(path: str, how: Callable[[str], str]) -> str:
    try:
        return how(path)
    except OSError as error:
        return f"cannot be read ({error.strerror})"


def _by_content(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:  # many are small: `hashlib.file_digest` takes half as long again
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()


def _by_time(path: str) -> str:
    found = os.stat(path)
    return f"{found.st_size} bytes, changed at {found.st_mtime_ns}"


def sum_of_array(values: AnyArray) -> str:
    """A sum of a column, and of what kind it is."""
    if values.dtype.kind == "O":
        return _sum("\0".join(map(repr, values.tolist())).encode("utf-8", "replace"))
    return _sum(f"{values.dtype} {len(values)} ".encode(), np.ascontiguousarray(values).view(np.uint8))


def _sum(*parts: Any) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()
