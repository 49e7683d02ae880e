"""The command for two lists of times: files in, one window or many, results out. Nothing is computed here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from nofluke.cli.arguments import (
    Data,
    asked,
    check_places,
    declared_in,
    familywise_of,
    listed_in,
    named_format,
    number_of,
    read_gaps,
    time_format_of,
    time_of,
    tolerance_of,
)
from nofluke.cli.command import Command, form_of
from nofluke.cli.options import (
    declared,
    familywise_option,
    format_of,
    gate_format_option,
    gate_options,
    judging_options,
    method_options,
    null_of,
    output_option,
    plot_option,
    preset_option,
    report_option,
    seed_option,
    several,
    side_options,
    time_format_option,
    zero_division_option,
)
from nofluke.cli.printing import extras, gate_code, write_result
from nofluke.cli.values import COLUMN, CONDITION, FILE, SPAN, Values, list_option
from nofluke.errors import InputError
from nofluke.series.arguments import AboutTimes, names_of

if TYPE_CHECKING:
    from nofluke.data.files import Columns

list_options = several(
    click.argument("events", metavar="EVENTS", type=FILE),
    click.argument("alarms", metavar="ALARMS", type=FILE),
    click.option("--event-time", type=COLUMN, help="Column of EVENTS with the times, or with the starts of ranges."),
    click.option("--event-end", type=COLUMN, help="Column of EVENTS with the ends, if these are ranges."),
    click.option("--event-where", type=CONDITION, help='Rows of EVENTS to keep: a condition such as "severity <= 2".'),
    click.option("--alarm-time", type=COLUMN, help="Column of ALARMS with the times, or with the starts of ranges."),
    click.option("--alarm-end", type=COLUMN, help="Column of ALARMS with the ends, if these are ranges."),
    click.option("--alarm-where", type=CONDITION, help="Rows of ALARMS to keep."),
    time_format_option,
    format_of("--event-time-format", "EVENTS, if not that of --time-format; iso for ISO 8601"),
    format_of("--alarm-time-format", "ALARMS, likewise"),
    format_of("--gaps-time-format", "--gaps, likewise"),
    click.option(
        "--span",
        type=SPAN,
        help="When watching began and ended, both included. Default: the first and the last of all times, a guess.",
    ),
    click.option(
        "--gaps",
        type=FILE,
        help="Another file with stretches in which nobody watched: two columns, start and end (begin, stop, from, to).",
    ),
    declared(*names_of(AboutTimes)),
    preset_option,
)
window_options = several(
    list_option(
        "--tolerance",
        "tolerances",
        kind=Values("LENGTHS"),
        help="A duration (2d) for dates, else a number in the unit of the times. Several: 1d,3d or 0:6d:7.",
    ),
    side_options,
    list_option(
        "--lag",
        "lags",
        kind=Values("LENGTHS"),
        help="Move the window: 2d for alarms about two days after events, -2d before. Several: -7d,0,7d. Default 0.",
    ),
    click.option(
        "--edges",
        type=click.Choice(["zero", "interior"]),
        default="zero",
        help="Count everything, or only events and alarms whose whole window was watched.",
    ),
    click.option(
        "--leads",
        type=click.Choice(["alarms", "events"]),
        help="What comes first, which decides what tables call precursor and trigger rate. Default: alarms.",
    ),
)


# ---- the command for two lists of times: files in, one window or many, results out. Nothing is computed here

_OF_ONE_WINDOW = (
    *("edges", "leads", "zero_division", "alternative", "ties", "alpha", "test_f1", "statistics", "report"),
    *("gate", "gate_on", "min_precision", "min_recall", "min_f1"),
)

_NULLS = (
    "permutation, circular-shift, local-shift:reach=30d, local-permutation, jitter:window=7d, "
    "seasonal:period=7d, interval-shuffle, segments; lengths in the unit of the times"
)


@click.command(
    cls=Command,
    examples=(
        "nofluke coincidence quakes.csv tweets.csv --tolerance 2d --span 2010-01-01 2016-12-31",
        "nofluke coincidence quakes.csv tweets.csv --early 3d --late -1d --span 2010-01-01 2016-12-31 --gaps outages.csv",
        "nofluke coincidence quakes.csv tweets.csv --tolerance 1d,3d --lag -7d:7d:3 --familywise --seed 1",
    ),
)
@list_options
@window_options
@zero_division_option
@null_of(_NULLS)
@method_options
@seed_option
@judging_options
@familywise_option
@gate_options
@report_option
@plot_option()
@gate_format_option
@output_option
def coincidence(
    events: str,
    alarms: str,
    gaps: str | None,
    tolerances: tuple[str, ...] | None,
    lags: tuple[str, ...] | None,
    report: str | None,
    form: str | None,
    output: str | None,
    **options: Any,
) -> int:
    """Do two lists of times coincide more often than by chance?

    EVENTS and ALARMS are CSV, TSV or Parquet with one time a row, or - for standard input. Times are dates or numbers,
    in any order, and need no grid. Several tolerances or lags (1d,3d or 0:6d:7) give one row each; --familywise tests
    the best of them.
    """
    check_places({"EVENTS": events, "ALARMS": alarms, "--gaps": gaps}, {"--output": output, "--report": report})
    windows = _tolerances(tolerances, options["early"], options["late"])
    moves = [number_of(lag) for lag in lags or ("0",)]
    many = options["familywise"] or len(windows) * len(moves) > 1
    if many:
        _refuse(click.get_current_context())
    import nofluke as nf

    if options["gaps_time_format"] is not None and gaps is None:
        raise InputError(problem="--gaps-time-format is for --gaps", remedy="pass that too, or leave it out")
    data = _read({"events": events, "alarms": alarms}, gaps, options)
    span, form_of_times = options["span"], time_format_of(options["time_format"])
    watched = {
        "span": None if span is None else [time_of(end, form_of_times) for end in span.ends],
        **declared_in(options),
    }
    if many:
        swept = asked(nf.sweep_tolerances, data, options, **watched, tolerances=windows, lags=moves)
        write_result(swept, form, output, familywise=familywise_of(swept, options))
        return 0
    result = asked(nf.coincidence, data, options, **watched, tolerance=windows[0], lag=moves[0])
    page = None if report is None else result.report(report)
    write_result(result, form, output, **extras(options))
    if page is not None:
        click.echo(f"Open {page}", err=True)  # standard output has the result alone
    return gate_code(result, options)


def _read(lists: dict[str, str], gaps: str | None, options: dict[str, Any]) -> Data:
    """Both lists and the gaps, as arguments of the library's functions; each file may have a format of its own."""
    from nofluke.data.files import read_events, read_list

    found: dict[str, Columns] = {}
    for name, file in lists.items():
        side = name[:-1]
        column, end, own, kept = (options[f"{side}_{what}"] for what in ("time", "end", "time_format", "where"))
        where = None if kept is None else (kept, f"{side}_where")
        with named_format(f"{side}_time_format"):
            form = time_format_of(own, options["time_format"])
            if end is None:
                found[name] = read_list(file, column, form, by=f"--{side}-time", where=where)
            else:
                found[name] = read_events(
                    file,
                    None,
                    form,
                    (column, end),
                    options=(f"--{side}-time", f"--{side}-end"),
                    where=where,
                    open_ends=side == "alarm",
                )
    if gaps is not None:
        found["gaps"] = read_gaps(gaps, options)
    notes = dict.fromkeys(note for columns in found.values() for note in columns.notes)
    return Data(arguments={name: listed_in(columns) for name, columns in found.items()}, notes=tuple(notes))


def _tolerances(both: tuple[str, ...] | None, early: str | None, late: str | None) -> list[Any]:
    """Tolerances from --tolerance, or one from --early and --late; plain numbers are in the unit of the times."""
    if not both and early is None and late is None:
        raise InputError(problem="name the tolerance", remedy="--tolerance LENGTH, such as 2d, or --early and --late")
    return [tolerance_of(one, early, late, "clock") for one in both or (None,)]


def _refuse(context: click.Context) -> None:
    """Options that belong to one window are refused where there are many, rather than passed over in silence."""
    if (context.params["form"] or form_of(context.params["output"])) == "junit":
        raise InputError(
            problem="--format junit is for one tolerance and one lag, without --familywise", remedy="pass one of each"
        )
    for option in context.command.params:
        typed = context.get_parameter_source(option.name or "") is click.core.ParameterSource.COMMANDLINE
        if typed and option.name in _OF_ONE_WINDOW:
            raise InputError(
                problem=f"{option.opts[-1]} is for one tolerance and one lag, without --familywise",
                remedy="pass one of each, or leave it out",
            )
