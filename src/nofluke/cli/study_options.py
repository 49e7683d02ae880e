"""Options of the command for studies."""

from __future__ import annotations

import click

from nofluke.cli.chance_options import null_option
from nofluke.cli.completion import COLUMN, DIRECTORY, FILE
from nofluke.cli.endings import FORMATS
from nofluke.cli.metric_options import metric_option
from nofluke.cli.options import (
    directory,
    format_of,
    of_alarms_options,
    of_scores_options,
    of_series_options,
    rule_options,
    several,
    side_options,
    time_format_option,
    unit_option,
)
from nofluke.cli.values import SHARE, Value
from nofluke.errors import InputError
from nofluke.series.arguments import CHOICES, DECLARED
from nofluke.studies.sources import LAYOUTS


def _no_stream(_context: click.Context, _option: click.Parameter, sources: tuple[str, ...]) -> tuple[str, ...]:
    if "-" in sources:
        raise InputError(
            problem="SOURCE - would be standard input, which several processes cannot read",
            remedy="name a file or a folder (./- if it is called that)",
        )
    return sources


source_options = several(
    click.argument("source", metavar="SOURCE...", type=FILE, nargs=-1, required=True, callback=_no_stream),
    click.option(
        "--series",
        type=COLUMN,
        help="Column that names the series. Without it each file is one, named after the file.",
    ),
    click.option(
        "--group",
        type=COLUMN,
        help="Column of groups that are independent of each other, such as data sets; / is the folder of a file. Default: the "
        "series.",
    ),
    click.option("--truth", type=COLUMN, help="Column of 0/1 labels."),
    click.option(
        "--scores",
        metavar="PATTERN",
        multiple=True,
        help="Columns of scores, one a detector, by name or pattern ('det_*'). Repeat for several. In layouts: which detectors.",
    ),
    click.option("--detector", type=COLUMN, help="For long tables: the column that names the detector."),
    click.option("--time", type=COLUMN, help="Column of times: the clock."),
    time_format_option,
    format_of("--ranges-time-format", "--ranges, if not that of --time-format; iso for ISO 8601"),
    click.option(
        "--layout",
        type=click.Choice(LAYOUTS),
        default="auto",
        show_default=True,
        help="How files are arranged; auto is long with --detector, else wide.",
    ),
    click.option(
        "--ranges",
        type=FILE,
        help="Events in a separate file: a table with the columns series, start and end, or JSON by series.",
    ),
    click.option("--data", type=DIRECTORY, help="The folder with the labels of the layouts tsb-ad and timeeval."),
    click.option(
        "--truth-as",
        type=click.Choice(CHOICES["truth_as"]),
        default=DECLARED["truth_as"].default,
        show_default=True,
        help="How to read the truth when it cannot be inferred.",
    ),
    of_series_options,
    of_scores_options,
    of_alarms_options,
)
cell_options = several(
    rule_options,
    click.option(
        "--tolerance",
        type=Value("LENGTH"),
        help="A share of each series' length (1%), steps (2), or a duration (2h) where there is a clock. Default 0.",
    ),
    side_options,
    unit_option,
    null_option,
    metric_option(
        "Another metric to test in each cell, such as auc-roc; nofluke metrics lists them. Repeat for several."
    ),
    click.option(
        "--resamples", type=int, default=10_000, show_default=True, help="Random draws, where chance is simulated."
    ),
    click.option(
        "--seed", type=int, default=0, show_default=True, help="Random seed; the same seed gives identical output."
    ),
    click.option("--alpha", type=SHARE, default=0.05, show_default=True, help="Level of all verdicts."),
)
run_options = several(
    click.option("--title", default="", metavar="TEXT", help="What the leaderboard is called."),
    click.option(
        "-o",
        "--output",
        "--out",
        "out",
        type=DIRECTORY,
        callback=directory,
        help="Keep all results there, and resume from what is there already. Without it, the leaderboard is only printed.",
    ),
    click.option("--restart", is_flag=True, help="Start over: remove what an earlier study left in -o."),
    click.option("--workers", type=int, help="Processes; by default as many as there are cores. Changes no number."),
    click.option(
        "--dask",
        metavar="ADDRESS",
        help="Compute on a Dask cluster: the address of its scheduler (tcp://10.0.0.5:8786), or local to start one here.",
    ),
    click.option(
        "--format",
        "form",
        type=click.Choice((*FORMATS, "junit")),
        default="text",
        show_default=True,
        help="How to print the leaderboard; junit is XML for build servers, with the verdict on each detector as a test.",
    ),
    click.option(
        "--gate",
        is_flag=True,
        help="Exit with 1 unless the verdict on every detector is yes; 3 if it is 'cannot tell' for one.",
    ),
)
