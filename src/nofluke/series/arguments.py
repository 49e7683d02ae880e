"""The arguments about a series and its detector: declared and documented once, for every function that takes them.

A function names the group that it takes, ``**about: Unpack[AboutDetector]``, and is decorated by `takes`. Its signature
and its docstring then have every argument of the group, and a `Series` may be passed in place of the truth.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypedDict, TypeVar, get_type_hints

from nofluke.errors import InputError, joined, named, say
from nofluke.series.detector import CountAlarms
from nofluke.series.occurrences import Duplicates, InGaps
from nofluke.series.reading import HigherIs, Missing, Overlaps, TruthKind
from nofluke.series.tolerance import Length
from nofluke.series.truth import CountEvents

Function = TypeVar("Function", bound=Callable[..., Any])


class AboutSeries(TypedDict, total=False):
    """What is said of a labelled series beside its truth."""

    times: Any
    mask: Any
    warmup: Length | None
    truth_as: TruthKind
    n_steps: int | None
    count_events: CountEvents | None
    overlaps: Overlaps
    missing: Missing


class AboutTimes(TypedDict, total=False):
    """What is said of a list of times without a grid of steps."""

    span: Any
    gaps: Any
    in_gaps: InGaps
    tick: Length | None
    duplicates: Duplicates


class AboutScores(AboutSeries, total=False):
    """And of a detector with scores, at any threshold."""

    higher_is: HigherIs
    count_alarms: CountAlarms | None
    refractory: Length | None


class AboutMetric(AboutSeries, total=False):
    """And of a detector with scores or alarms, of which a metric counts the steps."""

    predictions: Any
    threshold: float | None
    quantile: float | None
    budget: float | str | None
    higher_is: HigherIs


class AboutDetector(AboutMetric, total=False):
    """And of a detector with scores or alarms, which may be counted by episode."""

    count_alarms: CountAlarms | None
    refractory: Length | None


@dataclass(frozen=True, slots=True)
class Declared:
    """An argument as docstrings have it."""

    kind: str
    text: str
    default: Any = None

    def entry(self, name: str, indent: str) -> str:
        """Its lines in a section of parameters."""
        return "\n".join([f"{indent}{name} : {self.kind}", *(f"{indent}    {line}" for line in self.text.splitlines())])


DECLARED = {
    "times": Declared(
        "array-like, optional",
        "The clock: one increasing date or number for each step. A pandas or xarray index of dates is used automatically.",
    ),
    "mask": Declared(
        "array-like of bool, optional",
        "True for steps to ignore, such as unlabelled stretches. They still take up time.",
    ),
    "warmup": Declared(
        "int, float, str or timedelta, optional",
        "The first part of the series, left out as if it were masked: a number of steps, a share of all of them (0.15 or\n"
        '"15%", rounded down), or a duration ("2d") on a clock of dates.',
    ),
    "truth_as": Declared(
        '{"auto", "labels", "positions", "times", "ranges"}',
        "How to read ``truth`` if type and length are ambiguous. Numeric ends of ranges are times if there is a clock of\n"
        'numbers, else positions, unless "positions" or "times" is passed.',
        "auto",
    ),
    "n_steps": Declared(
        "int, optional",
        "How many steps there are, if events and alarms are both lists and there is no clock.",
    ),
    "count_events": Declared(
        '{"steps", "ranges"}, optional',
        'What an event is. "steps" counts every step of an event, as in the paper, and is the default for labels,\n'
        'positions and times; "ranges" counts each range once, found if there is a prediction from its start - early to\n'
        "its end + late, and is the default for ranges. With labels, each run of ones is a range.",
    ),
    "overlaps": Declared(
        '{"error", "merge"}', "What to do with ranges that overlap. Ranges that only touch stay two.", "error"
    ),
    "missing": Declared('{"error", "mask"}', "What to do with NaN in scores, alarms or labels.", "error"),
    "span": Declared(
        "pair of times, optional",
        "When watching began and ended, both included; a date without a time of day is all of that day. By default from\n"
        "the first to the last of both lists, with a note that this is a guess.",
    ),
    "gaps": Declared(
        "pairs of times, optional",
        "Unwatched stretches within the span, both ends included: pairs, an array of two columns, a data frame with\n"
        "columns start and end, or a pandas IntervalIndex.",
    ),
    "in_gaps": Declared(
        '{"error", "drop"}',
        "What to do with times inside gaps: refuse them, or leave them out, which a note counts for each list.",
        "error",
    ),
    "tick": Declared(
        "number or duration, optional",
        "The resolution of the times, to which they are rounded down. By default their common divisor: days for dates\n"
        "without a time of day, the last digit for rounded numbers. Chance places events on whole ticks.",
    ),
    "duplicates": Declared(
        '{"error", "merge", "count"}',
        "What to do with times that occur more than once in a list: refuse them, count each time once, or count all.",
        "error",
    ),
    "predictions": Declared(
        "array-like, optional",
        "Alarms instead of scores: 0/1 or bool for each step; or their positions, times or ranges, as for the truth. If\n"
        "both are lists of events, ``times`` says how many steps there are.",
    ),
    "threshold": Declared(
        "float, optional",
        "τ itself. It is compared in the scores' own precision, as NumPy compares: in 32 bits with 32-bit scores.",
    ),
    "quantile": Declared(
        "float, optional",
        "τ as a quantile of the scores of the steps that count (linear interpolation, as ``numpy.quantile``).",
    ),
    "budget": Declared(
        "float or str, optional",
        'At most this share of the steps that count is predicted, 0.01 or "1%": τ is the lowest score that no more of\n'
        "them reach, so scores tied at the cut are left out.",
    ),
    "higher_is": Declared(
        '{"anomalous", "normal"}',
        'What high scores mean. With "normal" a step is predicted if z ≤ τ; ``threshold``, here and in the result, stays\n'
        "in the units of the scores, and ``quantile=0.9`` and ``budget=0.1`` take the lowest tenth.",
        "anomalous",
    ),
    "count_alarms": Declared(
        '{"steps", "episodes"}, optional',
        "What a prediction is: a predicted step (the default), or an episode, a run of consecutive predicted steps among\n"
        "those that count. An episode is a hit if any of its steps is. Recall is the same either way.",
    ),
    "refractory": Declared(
        "int, str or timedelta, optional",
        "Alarms closer together than this, in steps or in time, form one episode from the first to the last: the steps in\n"
        'between are predicted too. The threshold is chosen first. Implies ``count_alarms="episodes"``.',
    ),
}
OF_SERIES = (*AboutSeries.__annotations__, *AboutTimes.__annotations__)
CUT = ("threshold", "quantile", "budget")
ALARMS = ("count_alarms", "refractory")


@dataclass(frozen=True, slots=True)
class About:
    """What was passed about a series and its detector, by what needs it."""

    reading: dict[str, Any]
    cut: dict[str, Any]
    alarms: dict[str, Any]

    @classmethod
    def of(cls, about: Mapping[str, Any]) -> About:
        """The arguments of a group, apart."""
        rest = {name: value for name, value in about.items() if name not in (*CUT, *ALARMS)}
        cut, alarms = ({name: about[name] for name in some if name in about} for some in (CUT, ALARMS))
        return cls(reading=rest, cut=cut, alarms=alarms)


class Held:
    """A truth with what is said of it: what `Series` is to functions that take a truth, or a list of events."""

    truth: Any
    about: AboutSeries | AboutTimes


def takes(group: type, *, like: str = "", own: tuple[str, ...] = ()) -> Callable[[Function], Function]:
    """Give a function the arguments of a group: in its signature, after those that go by position, and its docstring.

    There they stand in place of ``<about>``, in full, or ``like`` those of another function; its ``own`` words on some
    of them stay.
    """

    def declare(function: Function) -> Function:
        kinds = get_type_hints(group)
        names = [name for name in DECLARED if name in kinds]
        taken = [one for one in inspect.signature(function).parameters.values() if one.name != "about"]
        by_position = [one for one in taken if one.kind is not one.KEYWORD_ONLY]
        added = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=DECLARED[name].default, annotation=kinds[name]
            )
            for name in names
        ]
        first = "truth" if any(one.name == "truth" for one in taken) else "events"
        place = [one.name for one in taken].index(first)
        allowed = {*names, *(one.name for one in taken)}

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            unknown = kwargs.keys() - allowed
            if unknown:
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument {min(unknown)!r}")
            truth = args[place] if len(args) > place else kwargs.get(first)
            if isinstance(truth, Held):
                kwargs = _opened(truth, kwargs, first, allowed)
                if len(args) > place:
                    args = (*args[:place], truth.truth, *args[place + 1 :])
                else:
                    kwargs[first] = truth.truth
            return function(*args, **kwargs)

        signature = inspect.signature(function)
        call.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*by_position, *added, *(one for one in taken if one not in by_position)]
        )
        described = [name for name in names if name not in own]
        call.__doc__ = _documented(function.__doc__ or "", described, like)
        return call  # type: ignore[return-value]

    return declare


def _opened(series: Held, kwargs: dict[str, Any], first: str, allowed: set[str]) -> dict[str, Any]:
    """The arguments of a call with those of its series, which must be of the kind that the function takes."""
    if not series.about.keys() <= allowed:
        raise InputError(
            argument=first,
            problem=f"is a Series {'of times without steps' if first == 'truth' else 'of steps'}",
            remedy=say("pass one {} a {}", "without" if first == "truth" else "with", named("span")),
        )
    twice = [name for name in OF_SERIES if name in kwargs]
    if twice:
        raise InputError(
            argument=first,
            problem="is a Series, which has its own arguments",
            remedy=joined("", ["leave out ", joined(" and ", map(named, twice)), ", or pass them to the Series"]),
        )
    return {**series.about, **kwargs}


def _documented(text: str, names: list[str], like: str) -> str:
    """A docstring with the entries of these arguments in place of its mark."""
    before, mark, after = text.partition("<about>")
    if not mark:
        return text
    indent = before[before.rindex("\n") + 1 :]
    if like:
        entries = f"{indent}{', '.join(names)}\n{indent}    As in :func:`nofluke.{like}`."
    else:
        entries = "\n".join(DECLARED[name].entry(name, indent) for name in names)
    return f"{before[: len(before) - len(indent)]}{entries}{after}"
