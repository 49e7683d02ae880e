"""`nofluke study`: many detectors on many series. Nothing is computed here."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Literal

import click

from nofluke.cli.arguments import RENAMED, declared_in, number_of, tolerance_of
from nofluke.cli.command import FORMATS, Command, advising
from nofluke.cli.options import (
    PLOT,
    declared,
    directory,
    fixed_seed_option,
    format_of,
    metric_option,
    null_of_study_option,
    of_alarms_options,
    of_scores_options,
    plot_option,
    preset_option,
    rule_options,
    several,
    side_options,
    time_format_option,
    unit_option,
)
from nofluke.cli.printing import verdict_code, wrapped, write, write_result
from nofluke.cli.values import COLUMN, DIRECTORY, FILE, PART, SHARE, Value
from nofluke.errors import InputError, interruptible
from nofluke.series.arguments import CHOICES, DECLARED, AboutEvents, names_of
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
        help="How files are arranged; auto is long with --detector, else wide.",
    ),
    click.option(
        "--ranges",
        type=FILE,
        help="Events in a separate file: a table with the columns series, start and end, or JSON by series.",
    ),
    click.option(
        "--pattern",
        metavar="PATH",
        help="For --layout folders: how the paths of scores in SOURCE are made, such as '{group}/{detector}/{series}.csv'; "
        "* is anything.",
    ),
    click.option(
        "--labels",
        metavar="PATH",
        help="For --layout folders: the path of labels, such as 'labels/{group}/{series}.csv', or of one table for all.",
    ),
    click.option(
        "--score-column",
        type=COLUMN,
        help="For --layout folders: the column of scores, where files have several; --truth is that of labels.",
    ),
    click.option("--data", type=DIRECTORY, help="The folder with the labels of the layouts tsb-ad and timeeval."),
    click.option(
        "--truth-as",
        type=click.Choice(CHOICES["truth_as"]),
        default=DECLARED["truth_as"].default,
        help="How to read the truth when it cannot be inferred.",
    ),
    click.option(
        "--warmup",
        default=None,
        type=PART,
        metavar="LENGTH",
        help=f"{DECLARED['warmup'].option.removesuffix('.')}; or a column with the steps, or the share, of each series "
        "(column:150 where 150 would be steps).",
    ),
    declared(*(name for name in names_of(AboutEvents) if name != "warmup")),
    of_scores_options,
    of_alarms_options,
    preset_option,
)
cell_options = several(
    rule_options,
    click.option(
        "--cut-ties",
        type=click.Choice(("drop", "random")),
        default="drop",
        help="Scores tied at the cut of a --budget: no alarms, or as many of them as the budget allows, at random.",
    ),
    click.option(
        "--tolerance",
        type=Value("LENGTH"),
        help="A share of each series' length (1%), steps (2), or a duration (2h) where there is a clock. Default 0.",
    ),
    side_options,
    unit_option,
    null_of_study_option,
    metric_option(
        "Another metric of each cell, with its mean over series in the leaderboard, such as auc-roc; nofluke metrics lists "
        "them. Repeat for several."
    ),
    click.option(
        "--rank-by",
        metavar="MEASURE",
        default="f1",
        help="What the leaderboard is ranked by: f1, precision, recall, or a metric as --metric names it.",
    ),
    click.option("--resamples", type=int, default=10_000, help="Random draws, where chance is simulated."),
    fixed_seed_option,
    click.option("--alpha", type=SHARE, default=0.05, help="Level of all verdicts."),
)
run_options = several(
    click.option("--title", default="", show_default=False, metavar="TEXT", help="What the leaderboard is called."),
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
        help="How to print the leaderboard; junit is XML for build servers, with the verdict on each detector as a test.",
    ),
    click.option(
        "--by",
        type=click.Choice(("detector", "group")),
        default="detector",
        help="What to print: the leaderboard, or which detectors are better than chance in which --group.",
    ),
    plot_option(),
    click.option(
        "--gate",
        is_flag=True,
        help="Exit with 1 unless the verdict on every detector is yes; 3 if it is 'cannot tell' for one.",
    ),
)


# ---- `nofluke study`: many detectors on many series. Nothing is computed here

SOME_MISSING = 4  # the exit code where cells have no result
STOPPED = 130


@click.command(
    cls=Command,
    examples=(
        "nofluke study sensors.csv --series name --truth label --scores 'det_*' --budget 1% --tolerance 1% -o out/",
        "nofluke study 'sensors/*.csv' --truth label --scores lof --scores iforest --quantile 0.99 --tolerance 5",
        "nofluke study NAB/ --layout nab --budget 1% --tolerance 1%",
        "nofluke study scores/ --layout folders --pattern '{detector}/{series}.csv' --labels 'labels/{series}.csv' "
        "--budget 1%",
    ),
)
@source_options
@cell_options
@run_options
def study(
    source: tuple[str, ...],
    out: str | None,
    restart: bool,
    workers: int | None,
    dask: str | None,
    form: str,
    by: Literal["detector", "group"],
    gate: bool,
    **options: Any,
) -> int:
    """Many detectors on many series: judged, pooled and ranked.

    SOURCE is a Parquet or text file, a folder, or a pattern in quotes; several of them; or a folder in a layout, such
    as those of NAB, TSB-AD and TimeEval. Prints the leaderboard, and with -o keeps every cell. Exits with 4 where cells
    are missing, unless --gate has found worse.
    """
    import nofluke as nf
    from nofluke.studies.run import Stopped, dask_executor

    if by == "group" and form == "junit":
        raise InputError(problem="--format junit has a test for each detector", remedy="leave out --by group")
    if by == "group" and options["group"] is None and options["layout"] in ("auto", "wide", "long"):
        raise InputError(problem="--by group needs groups of series", remedy="name them by --group COLUMN")
    if by == "group" and PLOT in click.get_current_context().meta:
        raise InputError(problem="--plot draws the leaderboard", remedy="leave out --by group")
    engine = nullcontext() if dask is None else dask_executor(dask, workers=workers, say=_say)
    try:
        with interruptible(), engine as executor:
            done = nf.study(
                source[0] if len(source) == 1 else list(source),
                **_arguments(options),
                out=out,
                workers=workers,
                executor=executor,
                resume=not restart,
            )
            board = done.leaderboard()
            told = board if by == "detector" else done.pooled(by="group")
    except KeyboardInterrupt as error:
        after = f" after {error.done:,} of {error.total:,} chunks" if isinstance(error, Stopped) else ""
        rest = "run the same command again to resume" if out else "nothing was kept, pass -o DIR to be able to resume"
        _say(f"nofluke: stopped{after}: {rest}.")
        return STOPPED
    _show(told, form)
    if form in ("csv", "junit"):  # others have them among the notes
        said = advising(click.get_current_context())
        for note in done.unused:
            _say(f"Note: {said(note)}")
    if done.path is not None:
        page = (done.path / "leaderboard.html").exists()
        first, others = ("html", ".csv, .md, .tex") if page else ("csv", ".md, .tex")
        _say(f"Wrote {done.path / f'leaderboard.{first}'} ({others}), results.parquet, failed.jsonl, timings.parquet")
        if not page:
            _say(
                "Note: leaderboard.html needs jinja2 and matplotlib: pip install 'nofluke[report]', and run this again."
            )
    code = verdict_code(board) if gate else 0
    return code or (SOME_MISSING if done.n_missing else 0)


def _arguments(options: dict[str, Any]) -> dict[str, Any]:
    """The options as arguments of the library."""
    both, early, late, unit = (options[name] for name in ("tolerance", "early", "late", "unit"))
    tolerance: Any
    if isinstance(both, str) and early is None and late is None and unit == "steps":
        tolerance = number_of(both)  # may be a share of each series' length
    else:
        tolerance = tolerance_of(both, early, late, unit)
    named = {RENAMED.get(name, name): value for name, value in options.items() if name not in ("early", "late", "unit")}
    return named | declared_in(options) | {"tolerance": tolerance, "scores": list(options["scores"]) or None}


def _show(board: Any, form: str) -> None:
    """The leaderboard, or what is told by group; of the first as text, what is missing comes first."""
    from nofluke.studies.leaderboard import Leaderboard

    if form == "text" and isinstance(board, Leaderboard) and (missing := board.missing_in_words()):
        said = advising(click.get_current_context())
        write("\n".join([*(wrapped(said(line), hanging=2) for line in missing), ""]), None)
        board = replace(board, about=replace(board.about, missing=()))
    write_result(board, form, None)


def _say(text: str) -> None:
    click.echo(text, err=True)
