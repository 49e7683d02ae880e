"""From what was typed to the arguments of the library's functions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

from nofluke.cli.values import Span, named_range
from nofluke.data.paths import expanded, is_same_file, name_of_list
from nofluke.errors import InputError, arg, say, shown
from nofluke.series.arguments import DECLARED

if TYPE_CHECKING:
    from nofluke.data.files import Columns
    from nofluke.series.tolerance import Tolerance

_DECLARED = tuple(name for name, one in DECLARED.items() if one.option)
_DATA = (
    *("truth", "truth_file", "truth_start", "truth_end", "truth_time_format", "truth_where"),
    *("predictions_file", "predictions_start", "predictions_end", "predictions_time_format", "where", "detectors_by"),
    *("span", "step", "scores", "time", "time_format", "mask", "predictions", "groups", "strata"),
    *_DECLARED,
)
_ARGUMENTS = {"time": "times", "series": "groups"}  # roles of columns that arguments call otherwise
_OUTPUTS = "--scores COLUMN or --predictions COLUMN, one of them, or --predictions-file FILE"
_NO_SPAN = (
    "say when anybody watched by --span START/END, both included. What chance scores depends on it, and neither list "
    "knows: the first and the last of them would be a guess"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """What was read, as arguments of the library's functions, and what there is to tell about the files."""

    arguments: dict[str, Any]
    notes: tuple[str, ...]

    def noted(self, result: Any) -> Any:
        """A result with these notes before its own; the report takes those of its cells from the sequence."""
        if not self.notes:
            return result
        if several := getattr(result, "results", ()):
            return replace(result, results=tuple(map(self.noted, several)))
        inner = getattr(result, "sequence", None)
        if inner is not None:
            return replace(result, sequence=replace(inner, notes=(*self.notes, *inner.notes)))
        return replace(result, notes=(*self.notes, *result.notes))


def read_detector(
    file: str | None, output: str | None, options: dict[str, Any], outputs: str | None = _OUTPUTS
) -> Data:
    """Data, threshold and, for commands that have one, tolerance, from the options of a command."""
    if file is None:
        _check_lists(options)
    chosen: dict[str, Any] = {name: options[name] for name in ("threshold", "quantile", "budget")}
    if "tolerance" in options:
        sides = (options[name] for name in ("tolerance", "early", "late", "unit"))
        chosen["tolerance"] = tolerance_of(*sides)
    named = {name: options[name] for name in _DATA if name in options}
    data = read(file, output, **named, outputs=outputs, tolerance=chosen.get("tolerance"))
    return replace(data, arguments={**data.arguments, **chosen})


def one_detector(data: Data, command: str) -> Data:
    """The data of a command about one detector, where --by may have found several."""
    found = data.arguments.get("predictions")
    if not isinstance(found, dict):
        return data
    if len(found) > 1:
        some = ", ".join(map(shown, list(found)[:5]))
        raise InputError(
            problem=f"--by found {len(found):,} detectors ({some}{', ...' if len(found) > 5 else ''}), but {command} judges one",
            remedy="keep one by --where, or compare them by nofluke compare or nofluke report",
        )
    return replace(data, arguments={**data.arguments, "predictions": next(iter(found.values()))})


def named_detectors(options: dict[str, Any]) -> tuple[str, ...]:
    """The columns of all detectors, each of which may be named once."""
    alarms = () if options["predictions_file"] is not None else options["predictions"]
    named = Counter((*options["scores"], *alarms))
    twice = [name for name, times in named.items() if times > 1]
    if twice:
        raise InputError(problem=f"column {shown(twice[0])} was named twice", remedy="name each detector once")
    return tuple(named)


def read_truth(file: str, output: str | None, options: dict[str, Any]) -> Data:
    """Read the truth alone: labels, a list with a clock beside it, or, given the number of steps, just a list."""
    named = {name: options[name] for name in _DATA if name in options}
    if options["n_steps"] is None:
        if named["truth_file"] is not None and named["time"] is None:
            raise InputError(
                problem="--truth-file needs --time COLUMN, the clock in FILE. Or pass the list itself as FILE, with "
                "--n-steps"
            )
        return read(file, output, **named, outputs=None)
    for name in ("truth_file", "time", "mask"):
        if named[name] is not None:
            option = f"--{name.replace('_', '-')}"
            raise InputError(
                problem="--n-steps is for a FILE that lists events by their steps",
                remedy=f"leave out {option}, or --n-steps",
            )
    return read(None, output, **named | {"truth_file": file}, outputs=None)


def declared_in(options: dict[str, Any]) -> dict[str, Any]:
    """The declared arguments among the options of a command, taken out of them."""
    return {name: number_of(options.pop(name)) for name in _DECLARED if name in options}


def chance_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """Null, method and randomness."""
    return {
        "null": options["null"],
        "method": options["method"],
        "n_resamples": options["resamples"],
        "rng": options["seed"],
    }


RENAMED = {"resamples": "n_resamples", "seed": "rng", "time": "times"}
"""Options that arguments of the library call otherwise."""


def asked(verb: Callable[..., Any], data: Data, options: Mapping[str, Any], **more: Any) -> Any:
    """What a verb of the library answers, with the notes of the files.

    It gets what was read, ``more``, and of all other options those that are arguments of its own.
    """
    own = signature(verb).parameters
    named = {RENAMED.get(name, name): value for name, value in options.items()}
    settings = {name: value for name, value in named.items() if name in own}
    return data.noted(verb(**settings | data.arguments | more))


def within_strata(null: str, strata: str | None, data: Data) -> tuple[Data, Any]:
    """The data without their strata, and the null that keeps these."""
    from nofluke.nulls import Seasonal

    if strata is None:
        return data, null
    if null not in ("auto", Seasonal.name):
        raise InputError(problem="--strata is for --null seasonal", remedy="leave out one of them")
    labels = data.arguments.get("strata", strata)
    rest = {name: value for name, value in data.arguments.items() if name != "strata"}
    return replace(data, arguments=rest), Seasonal(strata=labels)


def read(
    file: str | None,
    output: str | None,
    *,
    truth: str | None,
    truth_file: str | None,
    truth_start: str | None,
    truth_end: str | None,
    truth_time_format: str | None,
    time: str | None,
    time_format: str | None,
    mask: str | None,
    truth_where: str | None = None,
    scores: str | tuple[str, ...] | None = None,
    predictions: str | tuple[str, ...] | None = None,
    groups: str | None = None,
    strata: str | None = None,
    outputs: str | None = "--scores COLUMN",
    span: Span | None = None,
    step: str | None = None,
    tolerance: Tolerance | None = None,
    **settings: Any,
) -> Data:
    """The arguments of `evaluate` and its like from columns of files, none of which may be the output.

    ``outputs`` says how to name the detector's output, where there has to be one; several columns of scores become a
    dict by their names; ``settings`` are the options of a file of alarms, and those of declared arguments.
    """
    from nofluke.data.files import pairs_of, read_columns
    from nofluke.nulls.calendars import RULES
    from nofluke.series.reading import are_labels, test_part_column

    listed = {name: settings.pop(name, None) for name in _ALARMS}
    alarms_file = listed["predictions_file"]
    if truth is None and truth_file is None:
        raise InputError(problem="name the labels", remedy="--truth COLUMN, or --truth-file FILE with event times")
    ends = (truth_start, truth_end)
    if truth_time_format is not None and truth_file is None:
        raise InputError(
            problem="--truth-time-format is for --truth-file", remedy="pass that, or --time-format for FILE"
        )
    if truth_where is not None and truth_file is None:
        raise InputError(problem="--truth-where is for --truth-file", remedy="pass that, or leave it out")
    if time_format is not None and file is not None and time is None and truth_file is None and alarms_file is None:
        raise InputError(problem="--time-format is for --time", remedy="name the column of times too, or leave it out")
    if ends != (None, None) and (truth_file is None or truth is not None):
        raise InputError(
            problem="--truth-start and --truth-end name columns of --truth-file", remedy="pass that, and no --truth"
        )
    _check_ends("truth", ends)
    if outputs is not None and (scores is None) is (predictions is None and alarms_file is None):
        raise InputError(problem="name the detector's output", remedy=outputs)
    check_places({"FILE": file, "--truth-file": truth_file, "--predictions-file": alarms_file}, {"--output": output})
    roles = {
        "truth": None if truth_file is not None else truth,
        "scores": scores,
        "predictions": None if alarms_file is not None else predictions,
        "time": time,
        "mask": mask,
        "series": groups,
        "strata": None if strata in RULES else strata,
    }
    found = declared_in(settings)
    if (flagged := test_part_column(found.get("test_part"))) is not None:
        roles["test_part"] = flagged
        del found["test_part"]
    all_count = roles["mask"] is None and "test_part" not in roles and found.get("test_part") is None
    notes: tuple[str, ...] = ()
    if file is not None:
        columns: dict[str, str] = {}
        for role, named in roles.items():
            if named is not None:
                columns |= {role: named} if isinstance(named, str) else {f"{role}:{name}": name for name in named}
        if span is not None or step is not None:
            raise InputError(
                problem=f"{'--step' if span is None else '--span'} is for lists without FILE",
                remedy="leave it out: --time is the clock, and --test-part the part of it that counts",
            )
        table = read_columns(file, columns=columns, time_format=time_format_of(time_format))
        for role, values in table.values.items():
            kind, several, name = role.partition(":")
            argument = _ARGUMENTS.get(kind, kind)
            if argument in ("scores", "predictions") and "align" in found:
                rows, there = len(values), without_empty_end(values)
                if len(there) < rows and found["align"] is not None:
                    found["n_steps"], values = rows, there
                elif len(there) < rows and found["missing"] == "error" and all_count:
                    raise InputError(
                        argument=argument,
                        problem=f"has {rows - len(there):,} empty cells at the end of column {shown(name or roles[kind])}",
                        remedy=say(
                            "if windows made them fewer than the steps, pass {}, else {}",
                            arg("align", "end"),
                            arg("missing", "mask"),
                        ),
                    )
            found[argument] = {**found.get(argument, {}), name: values} if several else values
        notes = table.notes
    if truth_file is not None:
        events = read_truth_file(truth_file, truth, ends, truth_time_format, time_format, truth_where)
        notes = (*notes, *events.notes)
        times = events.values.get("time")
        if times is not None and len(times) > 2 and are_labels(times):
            raise InputError(
                problem=f"{truth_file} has 0/1 labels where --truth-file lists events",
                remedy="make them a column of FILE, named by --truth; if windows made the scores fewer, pass --align end",
            )
        found["truth"] = pairs_of(events) if times is None else times
        found["truth_as"] = "positions" if time is None and span is None else "times"
        if not any(map(len, events.values.values())):
            found["truth_as"] = "ranges"  # none of them: neither positions nor times
        if time is None and span is None and any(values.dtype.kind == "M" for values in events.values.values()):
            if file is None:
                raise InputError(
                    problem=f"{truth_file} holds dates",
                    remedy="with --n-steps, list the steps of events, counted from 0",
                )
            raise InputError(
                problem=f"{truth_file} holds dates, but {file} has no clock",
                remedy="name its column of times by --time",
            )
    else:
        found["truth_as"] = "labels"
    alarms = read_alarms_file(listed, predictions, time_format)
    if alarms is not None:
        notes = (*notes, *alarms.notes)
        found |= alarms.arguments
        if scores is not None and not isinstance(found["predictions"], dict):  # beside others it needs a name
            found["predictions"] = {name_of_list(alarms_file): found["predictions"]}
        ranges = _has_ranges(found["predictions"])
        if "count_alarms" in found and found["count_alarms"] is None and ranges:
            found["count_alarms"] = "episodes"
    if span is not None:
        from nofluke.series.grid import steps_over

        grid = steps_over(
            [time_of(end, time_format_of(time_format)) for end in span.ends],
            found["truth"],
            found["predictions"],
            tolerances=() if tolerance is None else (tolerance,),
            step=number_of(step),
        )
        found |= {"truth": grid.events, "predictions": grid.alarms, "times": grid.times}
        notes = (*notes, *grid.notes)
    return Data(arguments=found, notes=notes)


_ALARMS = (
    "predictions_file",
    "predictions_start",
    "predictions_end",
    "predictions_time_format",
    "where",
    "detectors_by",
)


def read_truth_file(
    file: str,
    column: str | None,
    ends: tuple[str | None, str | None],
    own_format: str | None,
    time_format: str | None,
    where: str | None,
    *,
    empty: bool = False,
) -> Columns:
    """The events of --truth-file: times, or starts and ends of ranges; ``empty`` lets times be none."""
    from nofluke.data.files import read_events

    with named_format("truth_time_format"):
        return read_events(
            file,
            column,
            time_format_of(own_format, time_format),
            None if ends == (None, None) else ends,
            where=None if where is None else (where, "truth_where"),
            empty=empty,
        )


def read_alarms_file(
    listed: dict[str, Any], predictions: str | tuple[str, ...] | None, time_format: str | None, *, empty: bool = False
) -> Data | None:
    """The alarms of --predictions-file, where there is one; ``empty`` lets it hold none."""
    from nofluke.data.files import alarms_of, read_events

    file, start, end, own, where, by = (listed[name] for name in _ALARMS)
    if file is None:
        for name in _ALARMS[1:]:
            if listed[name] is not None:
                option = "--by" if name == "detectors_by" else f"--{name.replace('_', '-')}"
                raise InputError(problem=f"{option} is for --predictions-file", remedy="pass that, or leave it out")
        return None
    columns = (predictions,) if isinstance(predictions, str) else predictions or ()
    if len(columns) > 1:
        raise InputError(
            problem="--predictions was passed more than once, but names the one column of times in --predictions-file",
            remedy="tell detectors apart by --by COLUMN",
        )
    if columns and (start, end) != (None, None):
        raise InputError(
            problem="--predictions names a column of times, --predictions-start and --predictions-end those of ranges",
            remedy="pass either",
        )
    _check_ends("predictions", (start, end))
    with named_format("predictions_time_format"):
        events = read_events(
            file,
            columns[0] if columns else None,
            time_format_of(own, time_format),
            None if (start, end) == (None, None) else (start, end),
            options=("--predictions-start", "--predictions-end"),
            where=None if where is None else (where, "where"),
            by=by,
            open_ends=True,
            empty=empty,
        )
    alarms, notes = alarms_of(events)
    if isinstance(alarms, dict) and not alarms and not empty:
        raise InputError(problem=f"{file} has no alarms, so that --by finds no detector", remedy="leave --by out")
    return Data(arguments={"predictions": alarms}, notes=(*events.notes, *notes))


def _check_ends(side: str, ends: tuple[str | None, str | None]) -> None:
    if ends[0] is not None and ends[0] == ends[1]:
        raise InputError(
            problem=f"--{side}-start and --{side}-end are both {shown(ends[0])}", remedy="name two columns"
        )


def _check_lists(options: dict[str, Any]) -> None:
    """Without FILE, two lists and a span are needed, and no column of FILE can be named."""
    if options["predictions_file"] is None:
        raise InputError(
            problem="Missing argument 'FILE'",
            remedy="name it, or two lists by --predictions-file and --truth-file, with --span START/END",
        )
    if options["truth_file"] is None:
        raise InputError(problem="there is no FILE with labels", remedy="name it, or the events by --truth-file FILE")
    for name in ("scores", "time", "mask"):
        if options[name]:
            raise InputError(problem=f"--{name} names a column of FILE, which is missing", remedy="name FILE too")
    if options["span"] is None:
        raise InputError(problem="there is no FILE with a clock", remedy=_NO_SPAN)


def _has_ranges(predictions: Any) -> bool:
    from nofluke.data.columns import Pairs

    return any(
        isinstance(one, Pairs) for one in (predictions.values() if isinstance(predictions, dict) else [predictions])
    )


def without_empty_end(values: Any) -> Any:
    """A column without the empty cells at its end: in a table, that is how one with fewer values looks."""
    if values.dtype.kind != "f":
        return values
    return values[: len(values) - int((values[::-1] == values[::-1]).argmax())]


def check_places(sources: dict[str, str | None], outputs: dict[str, str | None]) -> None:
    """Refuse to read standard input twice, and to write onto an input or twice to one place."""
    streams = [name for name, source in sources.items() if source == "-"]
    if len(streams) > 1:
        raise InputError(
            problem=f"{' and '.join(streams[:2])} are both standard input, which can be read once",
            remedy="pass a file for one",
        )
    read_from = {
        source: 0 if source == "-" else expanded(source, name) for name, source in sources.items() if source is not None
    }
    written = {option: expanded(place, option) for option, place in outputs.items() if place is not None}
    for option, path in written.items():
        for source, other in read_from.items():
            if is_same_file(path, other):
                raise InputError(
                    problem=f"{option} {outputs[option]} is the input {source}, which it would destroy",
                    remedy="choose another place",
                )
    if len({path.resolve() for path in written.values()}) < len(written):
        raise InputError(problem=f"{' and '.join(written)} are the same file", remedy="choose another place for one")


def time_format_of(own: str | None, common: str | None = None) -> str | None:
    """The format of one file: its own, else the common one; None, and the word iso, are ISO 8601."""
    chosen = common if own is None else own
    return None if chosen == "iso" else chosen


@contextmanager
def named_format(option: str) -> Iterator[None]:
    """Let errors about times in another file than FILE name the option for its format."""
    try:
        yield
    except InputError as error:
        raise error.renamed("time_format", option) from None


def number_of(text: str | None) -> Any:
    """A whole number, else a decimal one, else the text: a share, a duration or a date."""
    return None if text is None else _length(text, "steps")[0]


_CLOCK = re.compile("%[HIMSfgnpcXT]")  # what in a format tells the time of day


def time_of(text: str, time_format: str | None) -> Any:
    """An end of the span: in the format of the files, else ISO 8601 or a number, which are the library's to read."""
    if time_format is not None:
        with suppress(ValueError):
            time = datetime.strptime(text, time_format)
            return time if _CLOCK.search(time_format) else time.date()
    return number_of(text)


def tolerance_of(both: str | Tolerance | None, early: str | None, late: str | None, unit: str) -> Tolerance:
    """A tolerance from --tolerance, or from --early and --late; plain numbers count what --unit says."""
    from nofluke.series.tolerance import Tolerance, as_side, as_tolerance

    if isinstance(both, Tolerance):
        return both  # of a preset
    if both is not None and (early is not None or late is not None):
        raise InputError(problem="pass either --tolerance, or --early and --late")
    if both is not None:
        length, counted = _length(both, unit)
        with named_range(both, "--tolerance"):
            return as_tolerance(length, "--tolerance", counted)
    # each side is read alone first, so that an error names its option
    sides = {"--early": _length(early or "0", unit), "--late": _length(late or "0", unit)}
    units = {as_side(length, option, counted)[1] for option, (length, counted) in sides.items()}
    lengths = {"early": sides["--early"][0], "late": sides["--late"][0]}
    return Tolerance(**lengths, unit="clock" if units == {"clock"} else None)


def _length(text: str, unit: str) -> tuple[Any, Literal["clock"] | None]:
    """A number, and what it counts; text that is no number is left as it is, a duration."""
    for number in (int, float):  # in this order, so that an error shows 2 and not 2.0
        with suppress(ValueError):
            return number(text), "clock" if unit == "clock" else None
    return text, None
