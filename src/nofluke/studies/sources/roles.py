"""Which column of a study's tables is what: by name, score columns also by pattern."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Any

from nofluke.errors import InputError, arg, named, passed, say, shown
from nofluke.plain import is_text, one_or_several

FOLDER = "/"
"""As a group: the folder that a file lies in."""


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

    @property
    def others(self) -> dict[str, str]:
        """Role and column of all but the scores."""
        roles = ("series", "group", "truth", "times", "detector", "test_part")
        named = {role: column for role in roles if (column := getattr(self, role)) is not None}
        return {role: column for role, column in named.items() if column != FOLDER}

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
        for late in ("time_format", "test_part"):
            if told[late] is None:
                del told[late]  # a study from before there was one goes on
        return told


def columns_to_read(roles: Roles, names: Sequence[str], where: str) -> tuple[str, ...]:
    """The score columns among the names that there are; an error where something asked for is in none of them."""
    for role, column in roles.others.items():
        if column not in names:
            raise no_column(where, names, column, role)
    left = [name for name in dict.fromkeys(names) if name not in roles.others.values()]
    found: dict[str, None] = {}
    for asked in roles.scores:
        # a name before a pattern: score[0] is a column that people have
        matching = [asked] if asked in names else [name for name in left if fnmatchcase(name, asked)]
        if not matching:
            raise no_column(where, left, asked, "scores")
        found.update(dict.fromkeys(matching))
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


def no_column(where: str, names: Sequence[str], asked: str, role: str) -> InputError:
    """The error for a column, or a pattern, that nothing fits."""
    listed = ", ".join(shown(name) for name in names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    close = difflib.get_close_matches(asked, names, n=1, cutoff=0.5)
    hint = f"did you mean {shown(close[0])}? The" if close else "the"
    return InputError(
        problem=say("{} has no column {} (for {})", where, shown(asked), named(role)),
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
