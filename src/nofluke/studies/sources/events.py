"""Events that are given apart from the scores: ranges by series in a file, a frame or a dict, and NAB's JSON."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nofluke.data.columns import (
    Pairs,
    UtcTimes,
    as_column,
    as_pairs,
    end_column,
    frame_columns,
    has_ends,
    no_pairs,
    pairs_of_columns,
    start_column,
)
from nofluke.data.files import labels_of, times_of
from nofluke.data.paths import expanded
from nofluke.data.tables import open_table
from nofluke.errors import InputError, Remark, arg, say, shortened, shown
from nofluke.studies.cases import Fault
from nofluke.studies.sources.chunks import Events, sum_of_values
from nofluke.studies.sources.names import keep_apart, names_in, text_of, without_ending

_SERIES_NAMES = ("series", "name", "file")


class Listed:
    """Events by series, as they were listed; called with the name of a series, it gives its events.

    A series that a table does not name has no events, and a note says so; a dict, or JSON, must name it, if only with
    none.
    """

    def __init__(
        self, truths: Mapping[str, Any], where: str, truth_as: str, *, complete: bool, points: str = ""
    ) -> None:
        self.truths, self.where, self.truth_as, self.complete = truths, where, truth_as, complete
        self.points = points  # what single numbers are
        self.beside: tuple[str, ...] = ()  # names that are no series, once `check` has seen these
        # NAB names realTweets/x.csv what others call realTweets/x, or x
        shorter: dict[str, list[str]] = {}
        for name in truths:
            for alias in {without_ending(name), Path(without_ending(name)).name}:
                shorter.setdefault(alias, []).append(name)
        self.aliases = {alias: names[0] for alias, names in shorter.items() if len(names) == 1}

    @property
    def fingerprint(self) -> str:
        """A sum of all that is listed."""
        return sum_of_values(
            {name: truth.reason if isinstance(truth, Fault) else truth for name, truth in self.truths.items()}
        )

    def find(self, series: str) -> str | None:
        """The name under which a series is listed."""
        return series if series in self.truths else self.aliases.get(series)

    def __call__(self, series: str) -> Events:
        """The events of a series."""
        name = self.find(series)
        if name is not None:
            truth = self.truths[name]
            numbers = isinstance(truth, np.ndarray) and truth.dtype.kind != "M" and self.truth_as == "auto"
            told = "{} also names {}, not in the study."
            notes = (Remark("others named", told, self.where, _some(self.beside)),) if self.beside else ()
            return Events(truth=truth, truth_as=self.points if numbers else self.truth_as, notes=notes)
        if self.complete:
            others = (
                f", but names {_some(self.beside)}, not in the study: use the same names in both" if self.beside else ""
            )
            fault = Fault(reason=Remark("no entry", "{} has no entry for this series{}.", self.where, others))
            return Events(truth=fault, truth_as=self.truth_as)
        told = "{} has no range of this series: it was read as having no events."
        note = Remark("no range", told, self.where)
        return Events(truth=no_pairs(), truth_as=self.truth_as, notes=(note,))

    def check(self, series: Iterable[str], *, all_known: bool = True) -> None:
        """Refuse a list that names no series, or a table that names others: a typo would leave a series without events.

        What a dict, or JSON, misnames is a fault of its series already, and NAB's names those without results: this is
        a note.
        """
        names = list(series)
        if names and self.truths and not any(self.find(name) for name in names):
            raise InputError(
                problem=f"{self.where} names none of the series: it has {shown(next(iter(self.truths)))}, they are "
                f"{shown(names[0])} and so on",
                remedy="use the same names in both",
            )
        known = {self.find(name) for name in names}
        self.beside = tuple(name for name in self.truths if name not in known) if all_known else ()
        if self.beside and not self.complete:
            lowered = {name.lower(): name for name in names}
            first = self.beside[0]
            close = (
                [lowered[first.lower()]] if first.lower() in lowered else difflib.get_close_matches(first, names, n=1)
            )
            hint = f"did you mean {shown(close[0])}?" if close else "correct the names, or leave out their rows."
            raise InputError(problem=f"{self.where} names {_some(self.beside)}, not in the study", remedy=hint)


def listed_events(
    ranges: Any, truth_as: str, series: str | None, *, clock: bool, time_format: str | None = None
) -> Listed:
    """The events listed in ``ranges=``; with a clock, single numbers are times, as both ends of ranges are."""
    points = "times" if clock else "positions"
    if truth_as == "labels":
        raise InputError(
            argument="truth_as",
            value="labels",
            problem=say("is for a column of labels, but {} are ranges", arg("ranges")),
            remedy="leave it out",
        )
    if isinstance(ranges, Mapping) and not has_ends([text_of(name, "ranges") for name in ranges]):
        return Listed(_of_mapping(ranges, "ranges"), "ranges", truth_as, complete=True, points=points)
    columns = None if isinstance(ranges, str | Path) else frame_columns(ranges)
    if isinstance(ranges, Mapping):
        columns = [(str(name), column) for name, column in ranges.items()]
    if columns is not None:
        names = [name for name, _ in columns]
        at = _series_column(names, series, "ranges")
        starts, ends = (columns[find(names, "ranges", "call them so")][1] for find in (start_column, end_column))
        pairs = pairs_of_columns(as_column(starts, "ranges"), as_column(ends, "ranges"), "ranges")
        return Listed(_by_series(names_in(columns[at][1], "ranges"), pairs), "ranges", truth_as, complete=False)
    path = expanded(ranges, "ranges")
    where = shortened(path.name, 200)
    if path.name.lower().endswith(".json"):
        return Listed(_of_mapping(_json(path), where), where, truth_as, complete=True, points=points)
    with open_table(path, [] if series is None else [series], time_format) as table:
        at = _series_column(table.names, series, where)
        ends_at = [find(table.names, where, "call them so") for find in (start_column, end_column)]
        table.load(sorted({at, *ends_at}), empty=True)
        if not table.n_rows:
            return Listed({}, where, truth_as, complete=False)
        first, last = (as_column(times_of(table, end, time_format), where) for end in ends_at)
        named = [str(name) for name in labels_of(table, at)]
        return Listed(_by_series(named, pairs_of_columns(first, last, where)), where, truth_as, complete=False)


def _some(names: Sequence[str]) -> str:
    """The first names of several, and how many more there are."""
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return ", ".join(map(shown, names[:3])) + more


def _series_column(names: list[str], asked: str | None, where: str) -> int:
    for name in (asked, *_SERIES_NAMES):
        if name in names:
            return names.index(name)
    listed = ", ".join(map(shown, names[:20]))
    raise InputError(
        problem=f"{where} has the columns {listed}, none of which names the series", remedy="call one of them series"
    )


def _by_series(names: Sequence[str | None], pairs: Pairs) -> dict[str, Pairs]:
    rows: dict[str, list[int]] = {}
    for at, name in enumerate(names):
        if name is None:
            raise InputError(
                argument="ranges", problem=f"has no series in row {at}", remedy="name the series of every row"
            )
        rows.setdefault(name, []).append(at)
    return {
        name: Pairs(starts=pairs.starts[at], ends=pairs.ends[at], closed=pairs.closed, aware=pairs.aware)
        for name, at in rows.items()
    }


def _json(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_once)
    except OSError as error:
        raise InputError(
            argument="ranges", value=str(path), problem=f"cannot be read ({error.strerror})", remedy="check the path"
        ) from None
    except InputError:
        raise
    except ValueError as error:
        raise InputError(
            argument="ranges", value=str(path), problem=f"is not JSON ({error})", remedy="check the file"
        ) from None
    if not isinstance(found, dict):
        raise InputError(
            argument="ranges",
            value=str(path),
            problem="must be an object of series and their ranges, as NAB's windows are",
        )
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; of two entries for one name the first would be lost without a word."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(argument="ranges", problem=f"has {shown(twice)} twice", remedy="name each series once")
    return found


def _of_mapping(ranges: Mapping[Any, Any], where: str) -> dict[str, Any]:
    """Ranges or single times by series; what cannot be read is a fault of its series."""
    truths: dict[str, Any] = {}
    taken: dict[str, Any] = {}
    for item, value in ranges.items():
        name = keep_apart(item, taken, where)
        try:
            pairs = no_pairs() if isinstance(value, list | tuple) and not value else as_pairs(value, where)
            if pairs is None:
                column = as_column(value, where)
                truths[name] = UtcTimes.of(column.values, column.east) if column.aware else column.values
            else:
                truths[name] = pairs
        except InputError as error:
            truths[name] = Fault.of(error)
    return truths
