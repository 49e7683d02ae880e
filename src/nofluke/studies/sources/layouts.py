"""What the readers of NAB's, TSB-AD's and TimeEval's folders share."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from nofluke.arrays import AnyArray
from nofluke.data.tables import open_table
from nofluke.errors import InputError, Remark, arg, say, shown
from nofluke.studies.cases import Fault
from nofluke.studies.sources.assembling import Read
from nofluke.studies.sources.one_file import found_at
from nofluke.studies.sources.tables import column_at

NO_FILE = Remark("no file", "there is no file of this detector.")


def chosen(detectors: Iterable[str], asked: Sequence[str], where: str) -> tuple[str, ...]:
    """The detectors that names and patterns ask for, in their order; all where nothing is asked."""
    every = list(dict.fromkeys(detectors))
    if not every:
        raise InputError(
            argument="source",
            value=where,
            problem="has no scores of a detector in it",
            remedy=say("check the folder and {}", arg("layout")),
        )
    found: dict[str, None] = {}
    for name in asked or ("*",):
        matching = [name] if name in every else [one for one in every if fnmatchcase(one, name)]
        if not matching:
            close = difflib.get_close_matches(name, every, n=1, cutoff=0.5)
            hint = f"did you mean {shown(close[0])}" if close else "use one of them"
            raise InputError(
                argument="scores", value=name, problem=f"is not one of the detectors {shown(every)[1:-1]}", remedy=hint
            )
        found.update(dict.fromkeys(matching))
    return tuple(found)


def columns_in(
    path: Path, label: str, names: Sequence[str], times: str | None, connection: Any, time_format: str | None = None
) -> list[AnyArray]:
    """Columns of one file, all of which must be there."""
    with open_table(path, list(names), time_format, connection, label) as table:
        there = [found_at(table, name) for name in names]
        if None in there:
            raise InputError(
                problem=f"{label} has no column {shown(names[there.index(None)])}", remedy=f"it has {table.listing()}"
            )
        positions = [at for at in there if at is not None]
        table.load(sorted(set(positions)))
        return [column_at(table, at, name == times, time_format) for name, at in zip(names, positions, strict=True)]


def fitting(scores: Read, n: int, label: str) -> Read:
    """Scores of a detector, unless they are of another number of steps."""
    if isinstance(scores, Fault) or len(scores) == n:
        return scores
    told = "{} has {:,} scores for {:,} steps: give each step one."
    return Fault(reason=Remark("other steps", told, label, len(scores), n))
