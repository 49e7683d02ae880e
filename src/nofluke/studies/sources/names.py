"""Names: which column is what, what series, groups and detectors are called, and numbers that are written as text."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray, IntArray
from nofluke.data.columns import UtcTimes, absent, as_column
from nofluke.data.tables import MISSING_WORDS
from nofluke.errors import InputError, Remark, arg, named, passed, say, shown
from nofluke.plain import is_text, one_or_several
from nofluke.series.reading import Align
from nofluke.studies.cases import Fault

# ---- which column of a study's tables is what: by name, score columns also by pattern

FOLDER = "/"
"""As a group: the folder that a file lies in."""
OF_NAMES, OF_ROWS = ("series", "group", "detector"), ("truth", "times", "test_part", "warmup")
_ROLES = ("series", "group", "truth", "times", "detector", "test_part", "warmup")


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """The columns' names as they were asked for; ``scores`` may be patterns such as ``det_*``.

    With ``detector`` the table is long: that column names the detector of a row, and ``scores`` is one column.
    """

    series: str | None = None
    group: str | None = None
    truth: str | None = None
    scores: tuple[str, ...] = ()
    times: str | None = None
    detector: str | None = None
    truth_as: str = "auto"
    time_format: str | None = None
    test_part: str | None = None
    warmup: str | None = None
    align: Align | None = None

    @property
    def others(self) -> dict[str, str]:
        """Role and column of all but the scores."""
        named = {role: column for role in _ROLES if (column := getattr(self, role)) is not None}
        return {role: column for role, column in named.items() if column != FOLDER}

    @property
    def of_rows(self) -> dict[str, str]:
        """Role and column of what has a value of its own in each row, but for the scores."""
        return {role: column for role, column in self.others.items() if role in OF_ROWS}

    @property
    def by_pattern(self) -> bool:
        """Whether some scores are asked for by a pattern, which only all columns can answer."""
        return any(set(name) & set("*?[") for name in self.scores)

    def check_apart(self) -> None:
        """Refuse a column with two roles; a series may be its own group, and the truth a detector to compare with."""
        seen: dict[str, str] = {}
        for role, column in self.others.items():
            if column in seen and (seen[column], role) != ("series", "group"):
                raise InputError(
                    argument=seen[column],
                    value=column,
                    problem=say("and {} are the same column", passed(role, column)),
                    remedy="name two",
                )
            if column in self.scores and role != "truth":
                raise InputError(
                    argument=role,
                    value=column,
                    problem=say("is also one of {}", arg("scores")),
                    remedy="name two columns",
                )
            seen.setdefault(column, role)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        told = {**asdict(self), "scores": list(self.scores)}
        return {role: column for role, column in told.items() if column is not None}


def columns_to_read(roles: Roles, names: Sequence[str], where: str) -> tuple[str, ...]:
    """The score columns among the names that there are; an error where something asked for is in none of them."""
    for role, column in roles.others.items():
        if column not in names:
            raise no_column(where, names, column, role)
    left = [name for name in dict.fromkeys(names) if name not in roles.others.values()]
    found: dict[str, None] = {}
    for asked in roles.scores:
        fitting = matching(names if asked in names else left, asked)
        if not fitting:
            raise no_column(where, left, asked, "scores")
        found.update(dict.fromkeys(fitting))
    if roles.detector is not None and len(found) > 1:
        raise InputError(
            argument="scores",
            value=list(roles.scores),
            problem=say(
                "are {} columns, but {} names the detector of each row", len(found), passed("detector", roles.detector)
            ),
            remedy=say("pass one column of scores, or leave out {}", arg("detector")),
        )
    return tuple(found)


def matching(names: Collection[str], asked: str) -> list[str]:
    """What a name or a pattern asks for; a name before a pattern: score[0] is a column that people have."""
    return [asked] if asked in names else [name for name in names if fnmatchcase(name, asked)]


def no_column(where: str, names: Sequence[str], asked: str, role: str) -> InputError:
    """The error for a column, or a pattern, that nothing fits."""
    listed = ", ".join(shown(name) for name in names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    close = difflib.get_close_matches(asked, names, n=1, cutoff=0.5)
    hint = f"did you mean {shown(close[0])}? The" if close else "the"
    return InputError(
        problem=Remark("no column", "{} has no column {} (for {})", where, shown(asked), named(role)),
        remedy=f"{hint} columns are {listed}",
    )


def as_names(value: Any, name: str) -> tuple[str, ...]:
    """One name or several, as a tuple of text."""
    names: dict[str, None] = {}
    for item in one_or_several(value):
        if not (is_text(item) and item):
            names.clear()
            break
        names[item] = None
    if not names:
        raise InputError(argument=name, value=value, problem="must be names of columns, or patterns such as 'det_*'")
    return tuple(names)


def name_or_none(value: Any, name: str) -> str | None:
    """A column's name, where one is given."""
    if value is not None and not (is_text(value) and value):
        raise InputError(argument=name, value=value, problem="must be the name of a column")
    return value


# ---- names of series and groups: what has none, or two, is said in the case

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
    items = items_of(column)
    names: dict[Any, str | None] = {}
    taken: dict[str, Any] = {}

    def named(item: Any) -> str | None:
        try:
            key = (item,) if isinstance(item, bool | np.bool_) else item  # True equals 1, and has another name
            if key not in names:
                missing = absent(np.array([item], dtype=object))[0] or not str(item).strip()
                names[key] = None if missing else keep_apart(item, taken, role)
            return names[key]
        except InputError:
            raise
        except Exception:  # whatever an object of the user's raises when it is compared or written
            raise InputError(
                argument=role,
                problem=f"must be a column of names, got {shown(item)}",
                remedy="pass text or whole numbers",
            ) from None

    begins = _begins(items)
    found = np.array([named(items[at]) for at in begins.tolist()], dtype=object)
    return found.repeat(np.diff(begins, append=len(items))).tolist()


def _begins(items: list[Any]) -> IntArray:
    """Where items begin that are other than those before: rows of a series mostly lie together."""
    if not set(map(type, items)) <= {str, int}:  # of others some equal what has another name, or are no plain values
        return np.arange(len(items))
    values = np.empty(len(items), dtype=object)
    values[:] = items
    return np.flatnonzero(np.append(values[:1] == values[:1], values[1:] != values[:-1]))


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


# ---- columns of frames that hold numbers as text: read as those of files are

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?")
_LOGICAL = {"true": True, "false": False}


def numbers_of_text(items: Sequence[Any]) -> list[Any] | None:
    """Numbers, or true and false, from text, None where it is empty or says so; None for all where it is anything else.

    >>> numbers_of_text(["0", " 1"]), numbers_of_text(["True", "false"]), numbers_of_text(["0.5", None, "NA"])
    ([0, 1], [True, False], [0.5, None, None])
    >>> numbers_of_text(["one"])
    """
    missing = absent(np.array([*items, None], dtype=object))[:-1]
    if not all(gap or isinstance(item, str) for item, gap in zip(items, missing, strict=True)):
        return None
    texts = ["" if gap else item.strip().lower() for item, gap in zip(items, missing, strict=True)]
    filled = {text for text in texts if text not in MISSING_WORDS}
    read: dict[str, Any] = {}
    if filled <= set(_LOGICAL):
        read = _LOGICAL
    elif all(map(_NUMBER.fullmatch, filled)):
        read = {text: int(text) if text.lstrip("+-").isdecimal() else float(text) for text in filled}
    return [read.get(text) for text in texts] if filled <= set(read) else None


def numbers_in(column: Any, name: str, is_clock: bool = False) -> AnyArray:
    """A column as an array; numbers that are text are read as those of files are, unless they are times."""
    try:
        found = as_column(column, name)
    except InputError:
        numbers = None if is_clock else numbers_of_text(items_of(column))
        if numbers is None:
            raise
        found = as_column(numbers, name)
    return UtcTimes.of(found.values, found.east) if found.aware else found.values
