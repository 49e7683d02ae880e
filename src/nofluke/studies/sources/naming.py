"""Names of series and groups: what has none, or two, is said in the case."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nofluke.data.columns import absent
from nofluke.errors import InputError, Remark, shown
from nofluke.plain import is_text
from nofluke.studies.cases import Fault

NAMELESS = "(no name)"
_ENDINGS = (".gz", ".csv", ".tsv", ".txt", ".dat", ".parquet", ".pq", ".json")


def items_of(column: Any) -> list[Any]:
    """A column's items as Python's own."""
    for method in ("to_list", "to_pylist", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def names_in(column: Any, role: str) -> list[str | None]:
    """Names as text, None where there is none; whole numbers and text as they are."""
    found: list[str | None] = []
    names: dict[Any, str | None] = {}
    taken: dict[str, Any] = {}
    for item in items_of(column):
        try:
            key = (item,) if isinstance(item, bool | np.bool_) else item  # True equals 1, and has another name
            if key not in names:
                missing = absent(np.array([item], dtype=object))[0] or not str(item).strip()
                names[key] = None if missing else keep_apart(item, taken, role)
            found.append(names[key])
        except InputError:
            raise
        except Exception:  # whatever an object of the user's raises when it is compared or written
            raise InputError(
                argument=role,
                problem=f"must be a column of names, got {shown(item)}",
                remedy="pass text or whole numbers",
            ) from None
    return found


def keep_apart(item: Any, taken: dict[str, Any], role: str) -> str:
    """The text of a name that no other value has: 1 and "1" would become one series without a word."""
    name = text_of(item, role)
    check_name(name, role)
    if name in taken:
        raise InputError(
            argument=role,
            problem=f"has {shown(taken[name])} and {shown(item)}, two values with one name",
            remedy="make both text, or rename one",
        )
    taken[name] = item
    return name


def text_of(item: Any, role: str) -> str:
    """What a value is called."""
    try:
        return str(item)
    except Exception:  # an object of the user's may raise anything
        raise InputError(
            argument=role, problem=f"has {shown(item)} for a name", remedy="pass text or whole numbers"
        ) from None


def check_name(name: str, role: str) -> None:
    """Refuse a name that no file can hold: halves of surrogate pairs, as of bytes in file names that are no text."""
    if not is_text(name):
        raise InputError(
            argument=role, value=name, problem="is a name that cannot be written as UTF-8", remedy="rename it"
        )


def nameless(rows: int, column: str | None, role: str = "series") -> Remark:
    """Why rows without a name are not judged."""
    told = "{:,} row(s) have no value in column {}: name the {} of every row."
    return Remark("nameless rows", told, rows, shown(column), role)


def in_places(places: int) -> tuple[Remark, ...]:
    """A note on rows of a series that lie apart, with no clock to say in which order they belong."""
    told = "Its rows lie in {:,} places of the table: they were read in table order."
    return (Remark("rows apart", told, places),) if places > 1 else ()


def group_of(values: Collection[str | None], column: str) -> str | Fault:
    """The one group that the rows of a series name."""
    if len(values) == 1 and (only := next(iter(values))) is not None:
        return only
    if None in values:
        told = "column {} has no value in some of its rows: name the group of every row."
        return Fault(reason=Remark("rows without a group", told, shown(column)))
    listed = ", ".join(shown(value) for value in sorted(map(str, values))[:3])
    told = "its rows are in {} groups by column {} ({}): a series belongs to one."
    return Fault(reason=Remark("several groups", told, len(values), shown(column), listed))


_TRAINED = (r"_tr_(\d+)_1st_\d+", r"^\d+_UCR_Anomaly_.+?_(\d+)_\d+_\d+$")


def training_end(series: str) -> int | None:
    """Where training ends, and so the first step of the test part, by the names of TSB-AD and of UCR's archive.

    >>> training_end("001_NAB_id_1_Facility_tr_1007_1st_2014"), training_end("004_UCR_Anomaly_ECG_35000_52000_52620")
    (1007, 35000)
    """
    name = without_ending(series.rsplit("/", 1)[-1])
    found = next((match for rule in _TRAINED if (match := re.search(rule, name))), None)
    return None if found is None else int(found[1])


def without_ending(name: str) -> str:
    """A file's name without what says how it is written.

    >>> without_ending("a/cpu.v2.csv.gz")
    'a/cpu.v2'
    """
    while (
        found := next((end for end in _ENDINGS if name.lower().endswith(end) and len(name) > len(end)), None)
    ) is not None:
        name = name[: -len(found)]
    return name


def names_of_files(paths: Sequence[str]) -> list[str]:
    """Series' names of files: without folders and endings where that tells all apart, else with as much as it takes.

    >>> names_of_files(["a/x.csv", "b/x.csv", "b/y.csv", "b/y.parquet"])
    ['a/x', 'b/x', 'b/y.csv', 'b/y.parquet']
    """
    stems, bare = [without_ending(Path(path).name) for path in paths], [without_ending(path) for path in paths]
    by_stem, by_path = Counter(stems), Counter(bare)
    return [
        stem if by_stem[stem] == 1 else name if by_path[name] == 1 else path
        for stem, name, path in zip(stems, bare, paths, strict=True)
    ]
