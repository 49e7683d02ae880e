"""The command that watches a detector: two lists of times and a file of state in, one line out."""

from __future__ import annotations

from typing import Any

import click

from nofluke.cli.arguments import (
    check_places,
    listed_in,
    number_of,
    read_alarms_file,
    read_gaps,
    read_truth_file,
    tolerance_of,
)
from nofluke.cli.command import Command, advising
from nofluke.cli.options import (
    alarms_file_options,
    format_of,
    output_option,
    report_option,
    several,
    sides_in,
    time_format_option,
    truth_file_options,
)
from nofluke.cli.printing import write
from nofluke.cli.values import COLUMN, FILE, NULL, SHARE, Value
from nofluke.errors import InputError

GATE = {"lost": 1, "cannot tell": 3}
_LENGTH = Value("LENGTH")

list_options = several(
    click.option("--predictions", type=COLUMN, help="Column of --predictions-file with the times of alarms."),
    alarms_file_options,
    click.option("--truth", type=COLUMN, help="Column of --truth-file with the times of events."),
    truth_file_options,
    click.option("--gaps", type=FILE, help="File of stretches in which nobody watched: two columns, start and end."),
    format_of("--gaps-time-format", "--gaps, likewise"),
    time_format_option,
    click.option(
        "--since", metavar="TIME", help="From when on the lists are complete. Default: where both have begun."
    ),
    click.option(
        "--until",
        metavar="TIME",
        default="now",
        help="Up to when they are complete: nothing after it is used.",
    ),
)
setting_options = several(
    click.option("--tolerance", type=_LENGTH, help="How early or late an alarm may be, such as 10min."),
    sides_in("--early 1h --late 0s", "up to an hour before"),
    click.option("--block", type=_LENGTH, help="How long a block is. Default: 1d, or longer if the tolerance is long."),
    click.option(
        "--labels-final", type=_LENGTH, help="How long after a block its labels are final, such as 2d. Default 0."
    ),
    click.option("--null", type=NULL, help="auto (default), permutation, circular-shift or period-shuffle:period=1d."),
    click.option("--alpha", type=SHARE, help="Level of the verdict. Default 0.05."),
    click.option(
        "--mute-after", type=_LENGTH, help="Alarms are held back for so long after each event: mask that time."
    ),
    click.option(
        "--lost-below", metavar="SHARE", help="Recall below which skill is lost: 0.6, or 90d to learn it from."
    ),
    click.option(
        "--false-alarm-every", metavar="LENGTH", help="Mean time between false verdicts of a loss. Default 1y."
    ),
    click.option(
        "--start", metavar="TIME", help="Where the first block begins. Default: midnight before the first data."
    ),
    click.option("--step", type=_LENGTH, help="Resolution of the times. Default: about a fiftieth of the tolerance."),
    click.option("--timezone", metavar="NAME", help="Whole days are those there, such as Europe/Berlin."),
    click.option(
        "--count-events",
        type=click.Choice(["steps", "ranges"]),
        help="What an event is; ranges by default, where there are some.",
    ),
    click.option("--restart", is_flag=True, help="Begin a new run with these settings; runs share alpha."),
)
_SETTINGS = (
    *("block", "labels_final", "null", "alpha", "mute_after", "lost_below", "false_alarm_every", "start", "step"),
    *("timezone", "count_events"),
)


@click.command(
    cls=Command,
    examples=(
        "nofluke watch state.json --predictions-file alerts.csv --truth-file incidents.csv --tolerance 10min --labels-final 2d",
        "nofluke watch state.json --predictions-file alerts.csv --truth-file incidents.csv --tolerance 10min --gate",
        "nofluke watch state.json --predictions-file alerts.csv --by rule --truth-file incidents.csv --tolerance 10min "
        "--format prometheus -o nofluke.prom",
    ),
)
@click.argument("state", metavar="STATE", type=FILE)
@list_options
@setting_options
@click.option("--gate", is_flag=True, help="Exit with 1 if skill is lost, and 3 if the verdict is 'cannot tell'.")
@report_option
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json", "prometheus")),
    default="text",
    help="How to print; prometheus is for the textfile collector of its node exporter.",
)
@output_option
def watch(state: str, form: str, output: str | None, report: str | None, gate: bool, **options: Any) -> int:
    """Is it still better than chance today? Look as often as you like.

    STATE is the file of the watch, a new one at the first call, which brings the settings; later calls need none. Pass
    the lists whole, or from the first block on that is not settled.
    """
    files = {"--predictions-file": options["predictions_file"], "--truth-file": options["truth_file"]}
    missing = [name for name, file in files.items() if file is None]
    if missing:
        raise InputError(
            problem=f"name the {'alarms' if 'pred' in missing[0] else 'events'}", remedy=f"{missing[0]} FILE"
        )
    check_places({**files, "--gaps": options["gaps"], "STATE": state}, {"--output": output, "--report": report})
    import nofluke as nf

    settings = {
        name: number_of(options[name]) if isinstance(options[name], str) else options[name] for name in _SETTINGS
    }
    both, early, late = (options[name] for name in ("tolerance", "early", "late"))
    if any(side is not None for side in (both, early, late)):
        settings["tolerance"] = tolerance_of(both, early, late, "steps")
    watched = nf.watch(state, restart=options["restart"], **settings)
    read = read_alarms_file(options, empty=True)
    assert read is not None  # its file was asked for above
    alarms = read.arguments["predictions"]
    if isinstance(alarms, dict):  # a rule that is watched and has no row was silent
        alarms = {name: [] for name in watched.detectors} | alarms
        if not alarms:
            raise InputError(
                problem=f"{options['predictions_file']} has no alarms, so that --by finds no detector",
                remedy="wait for one",
            )
    result = watched.update(
        listed_in(read_truth_file(options, empty=True)),
        predictions=alarms,
        gaps=None if options["gaps"] is None else listed_in(read_gaps(options["gaps"], options)),
        since=options["since"],
        until=options["until"],
    )
    if report is not None:
        result.report(report)
        click.echo(f"Open {report}", err=True)
    said = advising(click.get_current_context())
    if form == "json":
        from nofluke.text.exports import json_text, with_text

        write(json_text(with_text(result._record(), said)), output)
    elif form == "prometheus":
        write(result.to_prometheus().rstrip("\n"), output)
    else:
        lines = [said(line) for line in (*result.sentences(), *result.notes)]
        write(" ".join(lines) if len(result.detectors) == 1 else "\n".join(lines), output)
    code = GATE.get(result.verdict, 0) if gate else 0
    if code:
        click.echo(f"nofluke: gate: {result.verdict}. {said(result.reason)}", err=True)
    return code
