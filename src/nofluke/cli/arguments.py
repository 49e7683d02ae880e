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

from nofluke.cli.values import named_range
from nofluke.data.paths import expanded, is_same_file, name_of_list
from nofluke.errors import InputError, arg, say, shown
from nofluke.series.arguments import DECLARED

if TYPE_CHECKING:
    from nofluke.data.files import Columns
    from nofluke.series.tolerance import Tolerance

_DECLARED = tuple(name for name, one in DECLARED.items() if one.option)
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
    data = read(file, output, options, outputs=outputs, tolerance=chosen.get("tolerance"))
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
    if options["n_steps"] is None:
        if options["truth_file"] is not None and options["time"] is None:
            raise InputError(
                problem="--truth-file needs --time COLUMN, the clock in FILE. Or pass the list itself as FILE, with "
                "--n-steps"
            )
        return read(file, output, options)
    for name in ("truth_file", "time", "mask"):
        if options[name] is not None:
            option = f"--{name.replace('_', '-')}"
            raise InputError(
                problem="--n-steps is for a FILE that lists events by their steps",
                remedy=f"leave out {option}, or --n-steps",
            )
    return read(None, output, {**options, "truth_file": file})


def declared_in(options: Mapping[str, Any]) -> dict[str, Any]:
    """The declared arguments among the options of a command."""
    return {name: number_of(options[name]) for name in _DECLARED if name in options}


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


def familywise_of(swept: Any, options: Mapping[str, Any]) -> Any:
    """The test of the best of all cells, where it was asked for."""
    if not options["familywise"]:
        return None
    return swept.familywise(n_resamples=options["resamples"], rng=options["seed"])


def _within(strata: Any, null: str) -> Any:
    """The null that keeps the strata of events: their labels, or a rule of the calendar."""
    from nofluke.nulls import Seasonal

    if null not in ("auto", Seasonal.name):
        raise InputError(problem="--strata is for --null seasonal", remedy="leave out one of them")
    return Seasonal(strata=strata)


def read(
    file: str | None,
    output: str | None,
    options: Mapping[str, Any],
    *,
    outputs: str | None = None,
    tolerance: Tolerance | None = None,
) -> Data:
    """The arguments of `evaluate` and its like from columns of files, none of which may be the output.

    ``outputs`` says how to name the detector's output, where there has to be one; several columns of scores become a
    dict by their names.
    """
    from nofluke.data.files import read_columns
    from nofluke.nulls.calendars import RULES
    from nofluke.series.reading import test_part_column

    options = {**dict.fromkeys(_NOT_OF_ALL), **options}
    truth, truth_file, time = (options[name] for name in ("truth", "truth_file", "time"))
    scores, predictions, alarms_file = (options[name] for name in ("scores", "predictions", "predictions_file"))
    _check_truth(options)
    if (
        options["time_format"] is not None
        and file is not None
        and all(one is None for one in (time, truth_file, alarms_file))
    ):
        raise InputError(problem="--time-format is for --time", remedy="name the column of times too, or leave it out")
    if _ends(options, "truth") is not None and (truth_file is None or truth is not None):
        raise InputError(
            problem="--truth-start and --truth-end name columns of --truth-file", remedy="pass that, and no --truth"
        )
    _check_ends("truth", options)
    if outputs is not None and (scores is None) is (predictions is None and alarms_file is None):
        raise InputError(problem="name the detector's output", remedy=outputs)
    check_places({"FILE": file, "--truth-file": truth_file, "--predictions-file": alarms_file}, {"--output": output})
    roles = {
        "truth": None if truth_file is not None else truth,
        "scores": scores,
        "predictions": None if alarms_file is not None else predictions,
        "time": time,
        "mask": options["mask"],
        "series": options["groups"],
        "strata": None if options["strata"] in RULES else options["strata"],
    }
    found = declared_in(options)
    if (flagged := test_part_column(found.get("test_part"))) is not None:
        roles["test_part"] = flagged
        del found["test_part"]
    all_count = roles["mask"] is None and "test_part" not in roles and found.get("test_part") is None
    notes: tuple[str, ...] = ()
    span, step = options["span"], options["step"]
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
        table = read_columns(file, columns=columns, time_format=time_format_of(options["time_format"]))
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
    if truth_file is None:
        found["truth_as"] = "labels"
    else:
        events = read_truth_file(options)
        notes = (*notes, *events.notes)
        found |= _listed_events(events, truth_file, file, clock=time is not None or span is not None)
    alarms = read_alarms_file(options)
    if alarms is not None:
        notes = (*notes, *alarms.notes)
        found |= alarms.arguments
        if scores is not None and not isinstance(found["predictions"], dict):  # beside others it needs a name
            found["predictions"] = {name_of_list(alarms_file): found["predictions"]}
        if "count_alarms" in found and found["count_alarms"] is None and _has_ranges(found["predictions"]):
            found["count_alarms"] = "episodes"
    if span is not None:
        from nofluke.series.grid import steps_over

        grid = steps_over(
            [time_of(end, time_format_of(options["time_format"])) for end in span.ends],
            found["truth"],
            found["predictions"],
            tolerances=() if tolerance is None else (tolerance,),
            step=number_of(step),
        )
        found |= {"truth": grid.events, "predictions": grid.alarms, "times": grid.times}
        notes = (*notes, *grid.notes)
    if options["strata"] is not None:
        found["null"] = _within(found.pop("strata", options["strata"]), options["null"])
    return Data(arguments=found, notes=notes)


_ALARMS = (
    "predictions_file",
    "predictions_start",
    "predictions_end",
    "predictions_time_format",
    "where",
    "detectors_by",
)
_NOT_OF_ALL = (
    "scores",
    "predictions",
    *_ALARMS,
    "span",
    "step",
    "groups",
    "strata",
)  # commands that read have the rest


def _check_truth(options: Mapping[str, Any]) -> None:
    """Refuse no truth at all, and what is said of a file of events that was not passed."""
    if options["truth_file"] is not None:
        return
    if options["truth"] is None:
        raise InputError(problem="name the labels", remedy="--truth COLUMN, or --truth-file FILE with event times")
    for name, otherwise in (("truth_time_format", "--time-format for FILE"), ("truth_where", "leave it out")):
        if options[name] is not None:
            raise InputError(
                problem=f"--{name.replace('_', '-')} is for --truth-file", remedy=f"pass that, or {otherwise}"
            )


def _listed_events(events: Columns, truth_file: str, file: str | None, *, clock: bool) -> dict[str, Any]:
    """The events of --truth-file as the truth: ranges, times, or positions where there is no clock."""
    from nofluke.series.reading import are_labels

    times = events.values.get("time")
    if times is not None and len(times) > 2 and are_labels(times):
        raise InputError(
            problem=f"{truth_file} has 0/1 labels where --truth-file lists events",
            remedy="make them a column of FILE, named by --truth; if windows made the scores fewer, pass --align end",
        )
    if not clock and any(values.dtype.kind == "M" for values in events.values.values()):
        if file is None:
            raise InputError(
                problem=f"{truth_file} holds dates", remedy="with --n-steps, list the steps of events, counted from 0"
            )
        raise InputError(
            problem=f"{truth_file} holds dates, but {file} has no clock", remedy="name its column of times by --time"
        )
    empty = not any(map(len, events.values.values()))  # neither positions nor times
    return {"truth": listed_in(events), "truth_as": "ranges" if empty else "times" if clock else "positions"}


def listed_in(columns: Columns) -> Any:
    """What a file of events, alarms or gaps lists: times, or pairs of a start and an end."""
    from nofluke.data.files import pairs_of

    return columns.values["time"] if "time" in columns.values else pairs_of(columns)


def read_truth_file(options: Mapping[str, Any], *, empty: bool = False) -> Columns:
    """The events of --truth-file: times, or starts and ends of ranges; ``empty`` lets times be none."""
    from nofluke.data.files import read_events

    where = options["truth_where"]
    with named_format("truth_time_format"):
        return read_events(
            options["truth_file"],
            options["truth"],
            time_format_of(options["truth_time_format"], options["time_format"]),
            _ends(options, "truth"),
            where=None if where is None else (where, "truth_where"),
            empty=empty,
        )


def read_alarms_file(options: Mapping[str, Any], *, empty: bool = False) -> Data | None:
    """The alarms of --predictions-file, where there is one; ``empty`` lets it hold none."""
    from nofluke.data.files import alarms_of, read_events

    file, predictions, where = (options[name] for name in ("predictions_file", "predictions", "where"))
    if file is None:
        for name in _ALARMS[1:]:
            if options[name] is not None:
                option = "--by" if name == "detectors_by" else f"--{name.replace('_', '-')}"
                raise InputError(problem=f"{option} is for --predictions-file", remedy="pass that, or leave it out")
        return None
    columns = (predictions,) if isinstance(predictions, str) else predictions or ()
    if len(columns) > 1:
        raise InputError(
            problem="--predictions was passed more than once, but names the one column of times in --predictions-file",
            remedy="tell detectors apart by --by COLUMN",
        )
    ends = _ends(options, "predictions")
    if columns and ends is not None:
        raise InputError(
            problem="--predictions names a column of times, --predictions-start and --predictions-end those of ranges",
            remedy="pass either",
        )
    _check_ends("predictions", options)
    with named_format("predictions_time_format"):
        events = read_events(
            file,
            columns[0] if columns else None,
            time_format_of(options["predictions_time_format"], options["time_format"]),
            ends,
            options=("--predictions-start", "--predictions-end"),
            where=None if where is None else (where, "where"),
            by=options["detectors_by"],
            open_ends=True,
            empty=empty,
        )
    alarms, notes = alarms_of(events)
    if isinstance(alarms, dict) and not alarms and not empty:
        raise InputError(problem=f"{file} has no alarms, so that --by finds no detector", remedy="leave --by out")
    return Data(arguments={"predictions": alarms}, notes=(*events.notes, *notes))


def read_gaps(file: str, options: Mapping[str, Any]) -> Columns:
    """The stretches of --gaps, in which nobody watched."""
    from nofluke.data.files import read_events

    with named_format("gaps_time_format"):
        form = time_format_of(options["gaps_time_format"], options["time_format"])
        return read_events(file, None, form, (None, None))


def _ends(options: Mapping[str, Any], side: str) -> tuple[str | None, str | None] | None:
    """The columns of starts and of ends that were named; None where neither was."""
    ends = options[f"{side}_start"], options[f"{side}_end"]
    return None if ends == (None, None) else ends


def _check_ends(side: str, options: Mapping[str, Any]) -> None:
    start, end = options[f"{side}_start"], options[f"{side}_end"]
    if start is not None and start == end:
        raise InputError(problem=f"--{side}-start and --{side}-end are both {shown(start)}", remedy="name two columns")


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
