"""Options of commands for two lists of times."""

from __future__ import annotations

import click

from nofluke.cli.options import several, side_options, time_format_option

list_options = several(
    click.argument("events", metavar="EVENTS"),
    click.argument("alarms", metavar="ALARMS"),
    click.option("--event-time", metavar="COLUMN", help="Column of EVENTS with the times, where it has several."),
    click.option("--alarm-time", metavar="COLUMN", help="Column of ALARMS with the times, where it has several."),
    time_format_option,
    click.option(
        "--span",
        nargs=2,
        metavar="START END",
        help="When watching began and ended, both included. Default: the first and the last of all times, a guess.",
    ),
    click.option(
        "--gaps",
        metavar="FILE",
        help="Another file with stretches in which nobody watched: two columns, start and end (begin, stop, from, to).",
    ),
    click.option(
        "--duplicates",
        type=click.Choice(["error", "merge", "count"]),
        default="error",
        show_default=True,
        help="What to do with times that a list has more than once.",
    ),
    click.option(
        "--tick", metavar="LENGTH", help="Resolution of the times, such as 1d or 0.5. Default: their common divisor."
    ),
)
window_options = several(
    click.option(
        "--tolerance",
        "tolerances",
        metavar="LENGTH",
        multiple=True,
        help="A duration (2d) for dates, else a number in the unit of the times. Repeat for several.",
    ),
    side_options,
    click.option(
        "--lag",
        "lags",
        metavar="LENGTH",
        multiple=True,
        help="Move the window: 2d for alarms about two days after events, -2d before. Repeat for several. Default 0.",
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
