"""The arguments about a series and its detector: declared and documented once, for every function that takes them.

A function names the group that it takes, ``**about: Unpack[AboutDetector]``, and is decorated by `takes`. Its signature
and its docstring then have every argument of the group, and a `Series` may be passed in place of the truth.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any, Literal, TypedDict, TypeVar, get_args, get_origin, get_type_hints

from nofluke.errors import InputError, joined, named, say
from nofluke.plain import check_word
from nofluke.series.detector import CountAlarms
from nofluke.series.names import LengthUnit
from nofluke.series.occurrences import Duplicates, InGaps
from nofluke.series.presets import arguments_of
from nofluke.series.reading import Align, HigherIs, Missing, Overlaps, TruthKind
from nofluke.series.tolerance import Length
from nofluke.series.truth import CountEvents

Function = TypeVar("Function", bound=Callable[..., Any])


class AboutEvents(TypedDict, total=False):
    """What is said of the events of a series, be it one or each of many."""

    warmup: Length | None
    test_part: Any
    truth_as: TruthKind
    count_events: CountEvents | None
    overlaps: Overlaps
    merge_gap: Length | None
    split_longer: Length | None
    missing: Missing


class AboutNames(TypedDict, total=False):
    """What events and alarms are called, and the unit of lengths of time, in all that is said of them."""

    event_name: str | None
    alarm_name: str | None
    time_unit: LengthUnit | None
    delay_name: str | None
    reset_name: str | None


class AboutSeries(AboutEvents, AboutNames, total=False):
    """What is said of a labelled series beside its truth."""

    times: Any
    mask: Any
    n_steps: int | None


class AboutTimes(AboutNames, total=False):
    """What is said of a list of times without a grid of steps."""

    span: Any
    gaps: Any
    in_gaps: InGaps
    tick: Length | None
    duplicates: Duplicates


class AboutEither(AboutSeries, AboutTimes, total=False):
    """What is said of a series of either kind."""


class AboutCut(TypedDict, total=False):
    """Which scores are alarms."""

    threshold: float | None
    quantile: float | None
    budget: float | str | None


class AboutAlarms(TypedDict, total=False):
    """What counts as an alarm."""

    count_alarms: CountAlarms | None
    refractory: Length | None


class AboutScores(AboutSeries, AboutAlarms, total=False):
    """Of a series, and of a detector with scores, at any threshold."""

    higher_is: HigherIs
    align: Align | None


class AboutMetric(AboutSeries, AboutCut, total=False):
    """Of a series, and of a detector with scores or alarms, of which a metric counts the steps."""

    predictions: Any
    higher_is: HigherIs
    align: Align | None


class AboutDetector(AboutMetric, AboutAlarms, total=False):
    """Of a series, and of a detector with scores or alarms, which may be counted by episode."""


class AboutCells(AboutEvents, AboutCut, AboutAlarms, total=False):
    """Of all series of a study, and of all detectors; clocks are columns there."""

    higher_is: HigherIs
    align: Align | None


class AboutFolds(AboutCut, AboutAlarms, total=False):
    """Of a series that is cross-validated, whose truth is given as scikit-learn takes it."""

    times: Any
    count_events: CountEvents | None


@dataclass(frozen=True, slots=True)
class Declared:
    """An argument as docstrings have it, its default, and the help of its option, where commands take it as it is."""

    kind: str
    text: str
    default: Any = None
    option: str = ""

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
        option="Leave out the first part: steps (150), a share (15%), or a duration (2d) where there is a clock of dates.",
    ),
    "test_part": Declared(
        "int, float, str, date, pair or array-like of bool, optional",
        'The part that counts: where it begins, as a step (1000), a share of all steps (0.5 or "50%", rounded down) or a\n'
        "time on a clock of dates; a pair of begin and end, which belongs to it; or True for each step of it. All else is\n"
        "left out as if it were masked, so that chance moves nothing into or out of it. With a warm-up, the later begin\n"
        "counts.",
        option="The part that counts: where it begins, as a step (1000), a share (50%) or a date; BEGIN,END; or a column "
        "of 0/1.",
    ),
    "truth_as": Declared(
        '{"auto", "labels", "positions", "times", "ranges"}',
        "How to read ``truth`` if type and length are ambiguous. Numeric ends of ranges are times if there is a clock of\n"
        'numbers, else positions, unless "positions" or "times" is passed.',
        "auto",
    ),
    "n_steps": Declared(
        "int, optional",
        "How many steps there are, if there is no clock and events are a list, and alarms are another or ``align`` places\n"
        "fewer scores.",
    ),
    "count_events": Declared(
        '{"steps", "ranges"}, optional',
        'What an event is. "steps" counts every step of an event, as in the paper, and is the default for labels,\n'
        'positions and times; "ranges" counts each range once, found if there is a prediction from its start - early to\n'
        "its end + late, and is the default for ranges. With labels, each run of ones is a range.",
        option="What an event is: a step (default for labels), or a range or run of labels (default for ranges).",
    ),
    "overlaps": Declared(
        '{"error", "merge"}',
        "What to do with ranges that overlap. Ranges that only touch stay two.",
        "error",
        option="What to do with ranges that overlap.",
    ),
    "merge_gap": Declared(
        "int, str or timedelta, optional",
        "Ranges, or runs of labels, less than this apart, in steps or in time, are one. Implies\n"
        '``count_events="ranges"``.',
        option="Ranges less than this apart, steps (3) or a duration (90s), are one.",
    ),
    "split_longer": Declared(
        "int, str or timedelta, optional",
        "Ranges, or runs of labels, longer than this are split into pieces of this length and a rest, each an event. Chance\n"
        'moves the pieces of a range together. Implies ``count_events="ranges"``.',
        option="Ranges longer than this, steps (3) or a duration (5min), are split into pieces, which chance moves together.",
    ),
    "missing": Declared(
        '{"error", "mask"}',
        "What to do with NaN in scores, alarms or labels.",
        "error",
        option="What to do with missing scores and labels.",
    ),
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
        option="What to do with times inside --gaps: refuse them, or leave them out.",
    ),
    "tick": Declared(
        "number or duration, optional",
        "The resolution of the times, to which they are rounded down. By default their common divisor: days for dates\n"
        "without a time of day, the last digit for rounded numbers. Chance places events on whole ticks.",
        option="Resolution of the times, such as 1d or 0.5. Default: their common divisor.",
    ),
    "duplicates": Declared(
        '{"error", "merge", "count"}',
        "What to do with times that occur more than once in a list: refuse them, count each time once, or count all.",
        "error",
        option="What to do with times that a list has more than once.",
    ),
    "event_name": Declared(
        "str, optional",
        'What an event is called in sentences, tables and figures: "flood", or "person/people" with a plural of its own.\n'
        "Names change no number, no key of JSON and no column of CSV.",
        option="What an event is called in text and figures: flood, or person/people with a plural of its own.",
    ),
    "alarm_name": Declared(
        "str, optional",
        'What an alarm, or a prediction, is called there: "heat wave".',
        option="What an alarm, or a prediction, is called there: alert.",
    ),
    "time_unit": Declared(
        '{"ns", "us", "ms", "s", "min", "h", "d"}, optional',
        "The unit in which delays and tolerances are told there; by default whichever makes small numbers.",
        option="The unit in which delays and tolerances are told there: ns, us, ms, s, min, h or d.",
    ),
    "delay_name": Declared(
        "str, optional",
        'What the delay from an event to its alarm is called there: "detection time".',
        option="What the delay from an event to its alarm is called there: detection time.",
    ),
    "reset_name": Declared(
        "str, optional",
        'What the time from the end of an event to the end of the last alarm that finds it is called there: "reset time".\n'
        "It is told only if it has a name.",
        option="What the time from the end of an event to that of its last alarm is called, which is told only then.",
    ),
    "preset": Declared(
        "str or mapping, optional",
        'Arguments that a field has agreed on: "eca", "szcore", "sre" or "earthquakes", which ``print(nf.presets)`` shows, or\n'
        "a mapping of your own. What is passed beside it wins.",
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
        option="What a high score means; with normal, low scores are predictions.",
    ),
    "align": Declared(
        '{"start", "end", "center"}, optional',
        "Where k scores, or 0/1 alarms, belong that are fewer than the n steps, as windows make them: the first of them to\n"
        'step 0 ("start"), the last to the last step ("end"), or the first to step (n - k) // 2 ("center"). Steps without\n'
        "a score do not count, as if they were masked. More scores than steps are an error. If the truth is a list of events,\n"
        "``times`` or ``n_steps`` says how many steps there are.",
        option="Where scores belong that windows made fewer than the steps; steps without one do not count.",
    ),
    "count_alarms": Declared(
        '{"steps", "episodes"}, optional',
        "What a prediction is: a predicted step (the default), or an episode, a run of consecutive predicted steps among\n"
        "those that count. An episode is a hit if any of its steps is. Recall is the same either way.",
        option="What a prediction is: a predicted step (the default), or a run of them.",
    ),
    "refractory": Declared(
        "int, str or timedelta, optional",
        "Alarms closer together than this, in steps or in time, form one episode from the first to the last: the steps in\n"
        'between are predicted too. The threshold is chosen first. Implies ``count_alarms="episodes"``.',
        option="Alarms closer to each other than this, steps (3) or a duration (2h), are one episode.",
    ),
}


@cache
def names_of(group: type) -> tuple[str, ...]:
    """The arguments of a group, in the order in which they are declared."""
    return tuple(name for name in DECLARED if name in group.__annotations__)


OF_SERIES = names_of(AboutEither)
CUT, ALARMS = names_of(AboutCut), names_of(AboutAlarms)


def _choices() -> dict[str, tuple[str, ...]]:
    kinds = get_type_hints(AboutEither) | get_type_hints(AboutDetector)
    parts = ((name, one) for name, kind in kinds.items() for one in (kind, *get_args(kind)))
    return {name: get_args(one) for name, one in parts if get_origin(one) is Literal}


CHOICES = _choices()
"""The words that an argument may be, of those that are one of some."""


def with_defaults(group: type, about: Mapping[str, Any]) -> dict[str, Any]:
    """All arguments of a group: as they were passed, or else their defaults."""
    return {name: about[name] if name in about else DECLARED[name].default for name in names_of(group)}


def check_words(about: Mapping[str, Any]) -> None:
    """Refuse a word that an argument cannot be."""
    for name, words in CHOICES.items():
        if name in about and (about[name] is not None or DECLARED[name].default is not None):
            check_word(about[name], name, words)


@dataclass(frozen=True, slots=True)
class About:
    """What was passed about a series and its detector, by what needs it."""

    reading: dict[str, Any]
    cut: dict[str, Any]
    alarms: dict[str, Any]

    @classmethod
    def of(cls, about: Mapping[str, Any]) -> About:
        """The arguments of a group, apart."""
        reading, cut, alarms = dict[str, Any](), dict[str, Any](), dict[str, Any]()
        for name, value in about.items():
            (cut if name in CUT else alarms if name in ALARMS else reading)[name] = value
        return cls(reading=reading, cut=cut, alarms=alarms)


class Held:
    """A truth with what is said of it: what `Series` is to functions that take a truth, or a list of events.

    ``_known`` is the truth as functions take it without a `Held`.
    """

    about: AboutSeries | AboutTimes
    _known: Any


def takes(
    group: type, *, like: str = "", own: tuple[str, ...] = (), after: tuple[str, str] | None = None
) -> Callable[[Function], Function]:
    """Give a function the arguments of a group: in its signature, after those that go by position, and its docstring.

    There they stand in place of ``<about>``, in full, or ``like`` those of another function; its ``own`` words on some
    of them stay. Those about the series and those about the detector may come ``after`` two of the function's own.
    """

    def declare(function: Function) -> Function:
        kinds = get_type_hints(group)
        names = names_of(group)
        taken = [one for one in inspect.signature(function).parameters.values() if one.name != "about"]
        by_position = [one for one in taken if one.kind is not one.KEYWORD_ONLY]
        added = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=DECLARED[name].default, annotation=kinds[name]
            )
            for name in names
        ]
        added.append(inspect.Parameter("preset", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Any))
        first = next((one.name for one in by_position if one.name in ("truth", "events")), "")
        place = [one.name for one in taken].index(first) if first else len(taken)
        allowed = {*names, *(one.name for one in taken), "preset"}

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not kwargs.keys() <= allowed:
                unknown = min(kwargs.keys() - allowed)
                raise TypeError(f"{function.__qualname__}() got an unexpected keyword argument {unknown!r}")
            truth = args[place] if len(args) > place else kwargs.get(first)
            if isinstance(truth, Held) and first:
                kwargs = _opened(truth, kwargs, first, allowed)
                if len(args) > place:
                    args = (*args[:place], truth._known, *args[place + 1 :])
                else:
                    kwargs[first] = truth._known
            preset = kwargs.pop("preset", None)
            if preset is not None:
                filled = [one.name for one in by_position[: len(args)]]
                given = arguments_of(preset)
                if "tolerance" in given and "tolerances" in allowed:
                    given["tolerances"] = given["tolerance"]
                own = {name: value for name, value in given.items() if name in allowed - {*filled, "preset"}}
                kwargs = own | kwargs
            return function(*args, **kwargs)

        ordered = [*by_position, *(one for one in taken if one not in by_position)]
        places = [one.name for one in ordered]
        ends = [len(by_position)] * 2 if after is None else [places.index(name) + 1 for name in after]
        ordered[ends[1] : ends[1]] = [one for one in added if one.name not in OF_SERIES]
        ordered[ends[0] : ends[0]] = [one for one in added if one.name in OF_SERIES]
        call.__signature__ = inspect.signature(function).replace(parameters=ordered)  # type: ignore[attr-defined]
        described = [*(name for name in names if name not in own), "preset"]
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
    if not kwargs.keys().isdisjoint(OF_SERIES):
        twice = [name for name in OF_SERIES if name in kwargs]
        raise InputError(
            argument=first,
            problem="is a Series, which has its own arguments",
            remedy=joined("", ["leave out ", joined(" and ", map(named, twice)), ", or pass them to the Series"]),
        )
    return {**series.about, **kwargs}


def _documented(text: str, names: Sequence[str], like: str) -> str:
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
