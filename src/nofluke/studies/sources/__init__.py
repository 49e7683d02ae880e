"""Where the series of a study come from: frames, tables in files, and folders of files in one of the layouts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from nofluke.errors import InputError, arg, passed, say, shown
from nofluke.plain import check_word, is_text
from nofluke.studies.sources.chunks import Chunks
from nofluke.studies.sources.events import Listed, listed_events
from nofluke.studies.sources.folders import Places, Unused, archive_source, check_apart, files_source, found_files
from nofluke.studies.sources.frames import frame_source
from nofluke.studies.sources.names import Roles, as_names, name_or_none
from nofluke.studies.sources.tables import table_source

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
    if ranges is not None and layout != "nab":
        events = listed_events(ranges, truth_as, series, clock=times is not None, time_format=formats[1])
    if layout in ("auto", "wide", "long"):
        _check_columns(roles, layout, events)
        found = _tables(source, roles, events)
    else:
        found = archive_source(layout, source, roles, places, ranges, events)
    return found if events is None else replace(found, fingerprint={**found.fingerprint, "ranges": events.fingerprint})


def _tables(source: Any, roles: Roles, events: Listed | None) -> Chunks:
    if not isinstance(source, str | Path | list | tuple):
        if roles.time_format is not None:
            raise InputError(
                argument="time_format",
                value=roles.time_format,
                problem="is for files",
                remedy=f"make dates of the frame's column {shown(roles.times)}",
            )
        return frame_source(source, roles, events)
    unused = Unused()
    paths, root = found_files(source, unused)
    if roles.series is None:
        return files_source(paths, root, roles, events, unused)
    found = table_source(paths, root, roles, events)
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
