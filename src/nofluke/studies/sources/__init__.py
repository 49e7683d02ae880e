"""Where the series of a study come from: frames, tables in files, and folders of files in one of the layouts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray
from nofluke.data.columns import as_column, frame_columns
from nofluke.errors import InputError, arg, passed, say, shown
from nofluke.plain import check_word, is_text
from nofluke.studies.sources.chunks import (
    Block,
    CasesChunk,
    Chunks,
    Read,
    Slices,
    cut,
    sum_of_array,
    typed,
    unused_columns,
)
from nofluke.studies.sources.events import Listed, listed_events
from nofluke.studies.sources.folders import (
    Places,
    Unused,
    archive_source,
    check_apart,
    files_source,
    found_files,
    nab_windows,
)
from nofluke.studies.sources.names import (
    FOLDER,
    OF_NAMES,
    Roles,
    as_names,
    check_name,
    columns_to_read,
    items_of,
    name_or_none,
    nameless,
    names_in,
    numbers_in,
    text_of,
)
from nofluke.studies.sources.tables import (
    Index,
    Piece,
    TableFile,
    block_of,
    case_of,
    detectors_of,
    entries_of,
    scores_in,
    table_source,
)

__all__ = ["LAYOUTS", "check_apart", "read_source"]

LAYOUTS = ("auto", "wide", "long", "folders", "nab", "tsb-ad", "timeeval")
_NO_PLACE = {
    "wide": ("pattern", "labels", "score_column", "data"),
    "nab": ("pattern", "labels", "score_column", "data", "series", "group", "times", "detector", "test_part", "warmup"),
    "tsb-ad": ("pattern", "labels", "score_column", "series", "group", "times", "detector", "test_part", "warmup"),
    "timeeval": ("pattern", "labels", "score_column", "series", "group", "detector", "test_part", "warmup"),
    "folders": ("data", "group", "detector"),
}
_NO_PLACE |= {"auto": _NO_PLACE["wide"], "long": _NO_PLACE["wide"]}
"""What means nothing in a layout."""


def read_source(
    source: Any,
    *,
    series: str | None = None,
    group: str | None = None,
    truth: str | None = None,
    scores: Any = None,
    times: str | None = None,
    time_format: str | None = None,
    ranges_time_format: str | None = None,
    detector: str | None = None,
    layout: str = "auto",
    truth_as: str = "auto",
    test_part: str | None = None,
    warmup: str | None = None,
    align: Any = None,
    ranges: Any = None,
    data: Any = None,
    pattern: str | None = None,
    labels: Any = None,
    score_column: str | None = None,
) -> Chunks:
    """The series of a study, with the scores of each detector, cut into chunks that read themselves.

    Parameters
    ----------
    source : data frame, mapping of columns, path, or list of paths
        A frame of pandas, polars or pyarrow; a Parquet or text file, a folder or a glob of them; or a folder in one of
        the layouts.
    series, group, truth, times, test_part, warmup : str, optional
        Names of columns. Files without ``series`` hold a series each, named after the file. Without ``group`` each
        series is its own; ``"/"`` is the folder of a file.
    time_format, ranges_time_format : str, optional
        How to read times that are not ISO 8601, in files and in the file of ``ranges``, as in `nofluke.study`.
    scores : str or list of str
        Score columns, one a detector, by name or by pattern (``"det_*"``); in the layouts, which detectors, all if left
        out.
    detector : str, optional
        For long tables, the column that names the detector; ``scores`` is then one column.
    layout : {"auto", "wide", "long", "folders", "nab", "tsb-ad", "timeeval"}
        "auto" is "long" with ``detector``, else "wide".
    truth_as, align : str
        As in `nofluke.evaluate`.
    ranges : path, frame or mapping, optional
        Events apart from the scores: a table with columns series, start and end, or a mapping (JSON) of series to
        ranges or times.
    data : path, optional
        The folder that holds the labels of "tsb-ad" and "timeeval".
    pattern, labels, score_column : str, optional
        For "folders", as in `nofluke.study`.

    Raises
    ------
    InputError
        Where nothing can be read, or an argument fits nothing. What is wrong with one series, or one detector on it, is
        a `Fault` in its case.

    Examples
    --------
    >>> table = {"sensor": ["a", "a", "b", "b"], "label": [0, 1, 0, 1], "det_x": [0.1, 0.9, 0.3, 0.2]}
    >>> source = read_source(table, series="sensor", truth="label", scores="det_*")
    >>> source.detectors, [case.series for chunk in source.parts for case in chunk.read()]
    (('det_x',), ['a', 'b'])
    """
    check_word(layout, "layout", LAYOUTS)
    check_word(truth_as, "truth_as", ("auto", "labels", "positions", "times", "ranges"))
    given = {"series": series, "group": group, "truth": truth, "times": times, "detector": detector}
    given |= {"test_part": test_part, "warmup": warmup}
    named = {role: name_or_none(column, role) for role, column in given.items()}
    formats = _formats(time_format, ranges_time_format, times, ranges)
    names = () if scores is None else as_names(scores, "scores")
    roles = Roles(**named, scores=names, truth_as=truth_as, time_format=formats[0], align=align)
    places = Places(pattern=pattern, labels=labels, score_column=name_or_none(score_column, "score_column"), data=data)
    _refuse(layout, {**named, "pattern": pattern, "labels": labels, "score_column": score_column, "data": data})
    roles.check_apart()
    if truth is not None and ranges is not None:
        raise InputError(
            problem=say(
                "pass either {}, a column, or {}, a separate list of events, not both",
                passed("truth", truth),
                arg("ranges"),
            )
        )
    events = None
    if layout == "nab" and ranges is None and truth is None:
        ranges = nab_windows(source)
    if ranges is not None:
        clock = times is not None or layout == "nab"
        events = listed_events(ranges, truth_as, series, clock=clock, time_format=formats[1])
    if layout in ("auto", "wide", "long"):
        _check_columns(roles, layout, events)
        found = _tables(source, roles, ranges, events)
    else:
        found = archive_source(layout, source, roles, places, ranges, events)
    return found if events is None else replace(found, fingerprint={**found.fingerprint, "ranges": events.fingerprint})


def _tables(source: Any, roles: Roles, ranges: Any, events: Listed | None) -> Chunks:
    if not isinstance(source, str | Path | list | tuple):
        if roles.time_format is not None:
            raise InputError(
                argument="time_format",
                value=roles.time_format,
                problem="is for files",
                remedy=f"make dates of the frame's column {shown(roles.times)}",
            )
        return _frame(source, roles, events)
    unused = Unused()
    files, root = found_files(source, ranges, unused)
    if roles.series is None:
        return files_source(files, root, roles, events, unused)
    found = table_source(files, root, roles, events)
    return replace(found, unused=(*unused, *found.unused))


def _check_columns(roles: Roles, layout: str, events: Listed | None) -> None:
    if roles.truth is None and events is None:
        raise InputError(
            argument="truth",
            problem="is missing",
            remedy=say("name the column of labels, or pass {} with the events of each series", arg("ranges")),
        )
    if not roles.scores:
        raise InputError(
            argument="scores", problem="is missing", remedy="name the columns of scores, or a pattern such as 'det_*'"
        )
    if (layout == "long") > (roles.detector is not None):
        raise InputError(
            argument="layout",
            value="long",
            problem=say("needs {}", arg("detector")),
            remedy="name the column with the detector of each row",
        )
    if layout == "wide" and roles.detector is not None:
        raise InputError(
            argument="layout",
            value="wide",
            problem="has a column for each detector",
            remedy=say("leave out {}", passed("detector", roles.detector)),
        )


def _formats(own: str | None, of_ranges: str | None, times: str | None, ranges: Any) -> tuple[str | None, str | None]:
    """The formats of the sources and of the ranges, which is the same unless given; "iso" is ISO 8601."""
    in_file = isinstance(ranges, str | Path) and not str(ranges).lower().endswith(".json")
    if own is not None and times is None:
        raise InputError(
            argument="time_format",
            value=own,
            problem=say("needs {}, the column that it is for", arg("times")),
            remedy="name it, or leave it out",
        )
    if of_ranges is not None and not in_file:
        raise InputError(
            argument="ranges_time_format",
            value=of_ranges,
            problem="is for a table of ranges in a file",
            remedy="leave it out",
        )
    chosen = (own, own if of_ranges is None else of_ranges)
    for name, value in zip(("time_format", "ranges_time_format"), chosen, strict=True):
        if value is not None and not is_text(value):
            raise InputError(argument=name, value=value, problem="must be a format such as '%d/%m/%Y %H:%M', or 'iso'")
    first, last = (None if value == "iso" else value for value in chosen)
    return first, last


def _refuse(layout: str, given: dict[str, Any]) -> None:
    for name in _NO_PLACE[layout]:
        if given.get(name) is not None:
            raise InputError(
                argument=name,
                value=given[name],
                problem=say("has no place in {}", passed("layout", layout)),
                remedy="leave it out",
            )


# ---- a study in memory: pandas, polars and pyarrow tables, or a dict of arrays, cut into its series

FRAME = TableFile(path=Path(), label="the frame", folder="")


def _frame(value: Any, roles: Roles, events: Listed | None) -> Chunks:
    """The series of a frame, as a source whose chunks carry their values."""
    columns = _columns_of(value)
    if roles.series is None or roles.group == FOLDER:
        remedy = "name the column of the frame that tells {} apart"
        if roles.series is None:
            raise InputError(argument="series", problem="is missing", remedy=remedy.format("series"))
        raise InputError(argument="group", value=FOLDER, problem="is for files", remedy=remedy.format("groups"))
    scores = columns_to_read(roles, list(columns), "the frame")
    for name in scores:
        check_name(name, "scores")
    texts = {
        role: _objects(names_in(columns[column], role)) for role, column in roles.others.items() if role in OF_NAMES
    }
    used = {name: _plain(columns[name]) for name in (*scores, *roles.of_rows.values())} | {
        roles.others[role]: texts[role] for role in texts
    }
    order, slices = _runs([texts[role] for role in ("series", "detector") if role in texts])
    # with a clock, rows are put in its order
    places = {} if roles.times is not None or order is None else _places(texts["series"], order, slices)
    texts = {role: values if order is None else values[order] for role, values in texts.items()}
    read = {
        name: _column(columns[name], name, order, slices, is_clock=name == roles.times)
        for name in (*scores, *roles.of_rows.values())
    }
    found: Index = {}
    blocks: dict[Piece, Block] = {}
    for at, (start, stop) in enumerate(slices):
        series, detector = (texts[role][start] if role in texts else None for role in ("series", "detector"))
        groups = tuple(set(texts["group"][start:stop])) if "group" in texts else ()
        piece = Piece(file=FRAME, start=start, stop=stop, count=stop - start, detector=detector, groups=groups)
        found.setdefault(series, []).append(piece)
        blocks[piece] = block_of(piece, {name: parts[at] for name, parts in read.items()}, scores, roles)
    detectors = detectors_of(found, scores, roles)
    if not detectors:
        raise InputError(problem=nameless(len(texts["detector"]), roles.detector, "detector"))
    entries = entries_of(found, roles, places, events)
    cases = [case_of(entry, blocks, detectors, roles) for entry in entries]
    told = {
        "kind": "frame",
        "roles": roles.to_dict(),
        "columns": {name: sum_of_array(values) for name, values in used.items()},
    }
    parts = tuple(CasesChunk(cases=tuple(cases[part])) for part in cut(scores_in(entries, scores)))
    unused = unused_columns([columns], [*used])
    return Chunks(detectors=detectors, fingerprint=told, parts=parts, unused=unused)


def _columns_of(value: Any) -> dict[str, Any]:
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
    found: dict[Any, dict[tuple[str | None, ...], list[tuple[int, int]]]] = {}
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


def _places(series: AnyArray, order: AnyArray, slices: Slices) -> dict[str, int]:
    """In how many places the rows of each series, and detector, lay; rows of its other detectors may lie among them."""
    run = np.append(0, np.cumsum(np.not_equal(series[1:], series[:-1]).astype(np.bool_)))
    places: Counter[str] = Counter()
    for rows in (order[start:stop] for start, stop in slices):
        if (name := series[rows[0]]) is not None:
            places[name] = max(places[name], len(np.unique(run[rows])))
    return places


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
        return _objects(items_of(column))


def _objects(items: Sequence[Any]) -> AnyArray:
    """One entry for each, whatever they are."""
    values = np.empty(len(items), dtype=object)
    values[:] = items
    return values
