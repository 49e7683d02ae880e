"""Options of commands for two lists of times."""

from __future__ import annotations

import click

from nofluke.cli.completion import COLUMN, FILE
from nofluke.cli.options import declared, format_of, several, side_options, time_format_option
from nofluke.cli.values import Values, list_option
from nofluke.series.arguments import AboutTimes, names_of

list_options = several(
    click.argument("events", metavar="EVENTS", type=FILE),
    click.argument("alarms", metavar="ALARMS", type=FILE),
    click.option("--event-time", type=COLUMN, help="Column of EVENTS with the times, where it has several."),
    click.option("--alarm-time", type=COLUMN, help="Column of ALARMS with the times, where it has several."),
    time_format_option,
    format_of("--event-time-format", "EVENTS, if not that of --time-format; iso for ISO 8601"),
    format_of("--alarm-time-format", "ALARMS, likewise"),
    format_of("--gaps-time-format", "--gaps, likewise"),
    click.option(
        "--span",
        nargs=2,
        metavar="START END",
        help="When watching began and ended, both included. Default: the first and the last of all times, a guess.",
    ),
    click.option(
        "--gaps",
        type=FILE,
        help="Another file with stretches in which nobody watched: two columns, start and end (begin, stop, from, to).",
    ),
    declared(*names_of(AboutTimes)),
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
        show_default=True,
        help="Count everything, or only events and alarms whose whole window was watched.",
    ),
    click.option(
        "--leads",
        type=click.Choice(["alarms", "events"]),
        default="alarms",
        show_default=True,
        help="What comes first, which decides what is called precursor and trigger rate.",
    ),
)
