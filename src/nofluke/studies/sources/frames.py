"""A study in memory: pandas, polars and pyarrow tables, or a dict of arrays, cut into its series."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray
from nofluke.data.columns import as_column, frame_columns
from nofluke.errors import InputError, shown
from nofluke.studies.cases import Case, Fault
from nofluke.studies.sources.chunks import (
    Block,
    CasesChunk,
    Chunks,
    Read,
    Slices,
    cut,
    faulty,
    long_case,
    sum_of_arrays,
    typed,
    unused_columns,
    wide_case,
)
from nofluke.studies.sources.events import Listed
from nofluke.studies.sources.names import (
    FOLDER,
    NAMELESS,
    OF_NAMES,
    Roles,
    check_name,
    columns_to_read,
    group_of,
    in_places,
    items_of,
    nameless,
    names_in,
    numbers_in,
    text_of,
)

Key = tuple[str | None, ...]


def frame_source(value: Any, roles: Roles, events: Listed | None) -> Chunks:
    """The series of a frame, as a source whose chunks carry their values."""
    columns = _columns(value)
    if roles.series is None or roles.group == FOLDER:
        remedy = "name the column of the frame that tells {} apart"
        if roles.series is None:
            raise InputError(argument="series", problem="is missing", remedy=remedy.format("series"))
        raise InputError(argument="group", value=FOLDER, problem="is for files", remedy=remedy.format("groups"))
    scores = columns_to_read(roles, list(columns), "the frame")
    for name in scores:
        check_name(name, "scores")
    texts = {role: _names(columns[column], role) for role, column in roles.others.items() if role in OF_NAMES}
    used = {name: _plain(columns[name]) for name in (*scores, *roles.of_rows.values())} | {
        roles.others[role]: texts[role] for role in texts
    }
    order, slices = _runs([texts[role] for role in ("series", "detector") if role in texts])
    # with a clock, rows are put in its order
    spread = {} if roles.times is not None or order is None else _places(texts["series"], order, slices)
    texts = {role: values if order is None else values[order] for role, values in texts.items()}
    keys: list[Key] = [
        tuple(texts[role][start] for role in ("series", "detector") if role in texts) for start, _ in slices
    ]
    read = {
        name: _column(columns[name], name, order, slices, is_clock=name == roles.times)
        for name in (*scores, *roles.of_rows.values())
    }
    detectors = scores if roles.detector is None else tuple(dict.fromkeys(key[1] for key in keys if key[1] is not None))
    if not detectors:
        raise InputError(problem=nameless(len(texts["detector"]), roles.detector, "detector"))
    blocks = {
        key: Block(
            scores={name if roles.detector is None else str(key[1]): read[name][at] for name in scores},
            **{role: read[column][at] for role, column in roles.of_rows.items()},
        )
        for at, key in enumerate(keys)
    }
    if events is not None:
        events.check(key[0] for key in keys if key[0] is not None)
    groups = texts.get("group")
    places = {key: spread[rows] for key, rows in zip(keys, slices, strict=True) if rows in spread}
    cases = list(_cases(blocks, dict(zip(keys, slices, strict=True)), places, groups, detectors, roles, events))
    sizes = [(stop - start) * len(scores) for start, stop in _spans(keys, slices)]
    told = {"kind": "frame", "roles": roles.to_dict(), **sum_of_arrays(used)}
    parts = tuple(CasesChunk(cases=tuple(cases[part])) for part in cut(sizes))
    unused = unused_columns([columns], [*used])
    return Chunks(detectors=detectors, fingerprint=told, parts=parts, unused=unused)


def _names(column: Any, role: str) -> AnyArray:
    values = np.empty(len(column), dtype=object)
    values[:] = names_in(column, role)
    return values


def _spans(keys: Sequence[Key], slices: Slices) -> Iterator[tuple[int, int]]:
    """First row and the one past the last of each series."""
    for _, found in groupby(zip(keys, slices, strict=True), key=lambda item: item[0][0]):
        rows = [rows for _, rows in found]
        yield rows[0][0], rows[-1][1]


def _cases(
    blocks: Mapping[Key, Block],
    rows: Mapping[Key, tuple[int, int]],
    places: Mapping[Key, int],
    groups: AnyArray | None,
    detectors: Sequence[str],
    roles: Roles,
    events: Listed | None,
) -> Iterator[Case]:
    for name, found in groupby(blocks, key=lambda key: key[0]):
        keys = list(found)
        start, stop = rows[keys[0]][0], rows[keys[-1]][1]
        if name is None:
            yield faulty(NAMELESS, NAMELESS, detectors, nameless(stop - start, roles.series))
            continue
        group = name if groups is None else group_of(set(groups[start:stop]), str(roles.group))
        if isinstance(group, Fault):
            yield faulty(name, name, detectors, group.reason)
            continue
        truth = None if events is None else events(name)
        notes = in_places(max(places.get(key, 1) for key in keys))
        if roles.detector is None:
            yield wide_case(name, group, blocks[keys[0]], detectors, roles, truth, notes)
        else:
            if lost := sum(rows[key][1] - rows[key][0] for key in keys if key[1] is None):
                yield faulty(name, group, detectors, nameless(lost, roles.detector, "detector"))
                continue
            named = {str(key[1]): blocks[key] for key in keys}
            yield long_case(name, group, named, detectors, roles, truth, notes)


def _columns(value: Any) -> dict[str, Any]:
    """The columns by name."""
    pairs = list(value.items()) if isinstance(value, Mapping) else frame_columns(value)
    if pairs is None:
        raise InputError(
            argument="source",
            problem=f"must be a path, a data frame or a dict of columns, got a {type(value).__name__}",
            remedy="collect lazy frames first",
        )
    names = [text_of(name, "source") for name, _ in pairs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(
            problem=f"the frame has {len(twice)} columns named {shown(twice[0])}", remedy="rename all but one"
        )
    lengths = {name: len(column) for name, (_, column) in zip(names, pairs, strict=True) if hasattr(column, "__len__")}
    if len(lengths) < len(pairs) or len(set(lengths.values())) > 1:
        raise InputError(
            argument="source",
            problem=f"has columns of unequal length ({shown(lengths)})",
            remedy="give every row all of them",
        )
    if not lengths or not any(lengths.values()):
        raise InputError(argument="source", problem="has no rows", remedy="there is nothing to evaluate")
    return dict(zip(names, (column for _, column in pairs), strict=True))


def _runs(keys: Sequence[AnyArray]) -> tuple[AnyArray | None, list[tuple[int, int]]]:
    """How to reorder rows so that each key's lie together, in order of first appearance, and where each key lies."""
    n = len(keys[0])
    new = np.ones(n, dtype=np.bool_)
    new[1:] = np.logical_or.reduce([np.not_equal(key[1:], key[:-1]).astype(np.bool_) for key in keys])
    starts = np.flatnonzero(new)
    stops = np.append(starts[1:], n)
    # by series first, so that the detectors of one lie together
    found: dict[Any, dict[Key, list[tuple[int, int]]]] = {}
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        key = tuple(names[start] for names in keys)
        found.setdefault(key[0], {}).setdefault(key, []).append((start, stop))
    pieces = [runs for of_series in found.values() for runs in of_series.values()]
    ends = np.cumsum([sum(stop - start for start, stop in runs) for runs in pieces]).tolist()
    slices = list(zip([0, *ends[:-1]], ends, strict=True))
    flat = [run for runs in pieces for run in runs]
    if all(first[1] == second[0] for first, second in pairwise(flat)):
        return None, slices
    return np.concatenate([np.arange(start, stop) for start, stop in flat]), slices


def _places(series: AnyArray, order: AnyArray, slices: Slices) -> dict[tuple[int, int], int]:
    """In how many places rows lay that are together now; rows of the same series may have lain among them."""
    run = np.append(0, np.cumsum(np.not_equal(series[1:], series[:-1]).astype(np.bool_)))
    return {(start, stop): len(np.unique(run[order[start:stop]])) for start, stop in slices}


def _column(column: Any, name: str, order: AnyArray | None, slices: Slices, *, is_clock: bool) -> list[Read]:
    """One column of all series; where it cannot be read as a whole, series by series."""
    try:
        whole = numbers_in(column, name, is_clock)
    except InputError:
        items = _plain(column) if order is None else _plain(column)[order]
        return typed(_reading(items, name, is_clock), slices)
    whole = whole if order is None else whole[order]
    return [whole[start:stop] for start, stop in slices]


def _reading(items: AnyArray, name: str, is_clock: bool) -> Callable[[int, int], AnyArray]:
    return lambda start, stop: numbers_in(items[start:stop].tolist(), name, is_clock)


def _plain(column: Any) -> AnyArray:
    """A column's values as they are, for a sum of them, or to be read one by one."""
    try:
        return as_column(column, "").values
    except InputError:
        items = items_of(column)
        values = np.empty(len(items), dtype=object)
        values[:] = items
        return values
