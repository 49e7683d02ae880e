"""Options that commands share: about data and detectors, about chance, about metrics."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from nofluke.cli.command import ENDINGS, FILES, FORMATS, PRESET, form_of
from nofluke.cli.values import COLUMN, CONDITION, FILE, METRIC, NULL, PAGE, PART, SHARE, SPAN, Threshold, Value
from nofluke.data.paths import check_place, expanded
from nofluke.errors import InputError, joined
from nofluke.series.arguments import CHOICES, DECLARED, AboutAlarms, AboutNames, AboutSeries, names_of


def several(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def share(_context: click.Context, option: click.Parameter, value: float | None) -> float | None:
    """Let only shares through, before anything is computed."""
    if value is not None and not 0 <= value <= 1:
        raise InputError(problem=f"{option.opts[0]} {value:g} must be between 0 and 1")
    return value


def file_or_stream(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """Where to write, found fit before anything is computed; None for standard output."""
    return None if value in (None, "-") else plain_file(context, option, value)


def plain_file(_context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """A file to write, found fit before anything is computed."""
    if value is not None:
        check_place(_no_stream(option, value, "file"), f"{option.opts[-1]} {value}")
    return value


def page(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """A page to write, with all that it takes to make one."""
    if plain_file(context, option, value) is not None:
        from nofluke.show.kit import check_kit

        check_kit()
    return value


report_option = click.option("--report", type=PAGE, callback=page, help="Write an HTML page about it, too.")
PLOT = "nofluke.plot"  # where the context keeps the file to draw into
DRAWN = (".png", ".pdf", ".svg")


def picture(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """A figure to write, found fit before anything is computed; `write_result` draws it."""
    if plain_file(context, option, value) is not None:
        from nofluke.plot.style import check_matplotlib

        ending = Path(str(value)).suffix.lower()
        if ending not in DRAWN:
            raise InputError(
                problem=f"{option.opts[-1]} {value} must end in {', '.join(DRAWN[:-1])} or {DRAWN[-1]}",
                remedy="name it so",
            )
        check_matplotlib()
        context.meta[PLOT] = value
    return value


def plot_option(*names: str) -> Callable[[Any], Any]:
    """--plot, and other names that a command has for it."""
    return click.option(
        *names,
        "--plot",
        type=FILE,
        callback=picture,
        expose_value=False,
        help="Draw its figure there, too, as .png, .pdf or .svg; needs matplotlib.",
    )


def directory(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """A directory, which need not be there yet; a name that looks like a file's is refused."""
    if value is not None:
        path = _no_stream(option, value, "directory")
        if path.suffix.lower() in FILES and not path.is_dir():
            prints = any(one.name == "form" for one in context.command.params) and path.suffix.lower() in ENDINGS
            form = f"; --format {form_of(value)} prints such a file" if prints else ""
            raise InputError(
                problem=f"{option.opts[-1]} {value} looks like a file, but results go into a folder",
                remedy=f"name one, such as {path.stem}/{form}",
            )
    return value


def _no_stream(option: click.Parameter, value: str, kind: str) -> Path:
    if value == "-":
        raise InputError(
            problem=f"{option.opts[-1]} - would be standard output", remedy=f"name a {kind} (./- if it is called that)"
        )
    return expanded(value, option.opts[-1])


def format_of(name: str, files: str) -> Callable[[Any], Any]:
    """An option for the format of the times in some files."""
    return click.option(name, metavar="FORMAT", help=f"Format of the times in {files}.")


time_format_option = click.option(
    "--time-format", metavar="FORMAT", help='Format of dates that are not ISO 8601, such as "%d/%m/%Y %H:%M".'
)


_TYPES = {"test_part": PART} | {name: Value("NAME") for name in names_of(AboutNames) if name not in CHOICES}


def declared(*names: str) -> Callable[[Any], Any]:
    """The options of declared arguments that commands take as they are: one of some words, or a length."""
    return several(
        *(
            click.option(
                f"--{name.replace('_', '-')}",
                type=click.Choice(CHOICES[name]) if name in CHOICES else _TYPES.get(name, Value("LENGTH")),
                default=DECLARED[name].default,
                help=DECLARED[name].option,
            )
            for name in names
            if DECLARED[name].option
        )
    )


preset_option = click.option(
    "--preset",
    expose_value=False,
    metavar="NAME",
    callback=lambda context, _, name: context.meta.__setitem__(PRESET, name),
    help="Options that a field has agreed on: eca, szcore, sre or earthquakes. nofluke presets shows them; what is typed "
    "beside it wins.",
)
of_series_options = several(declared(*names_of(AboutSeries)), preset_option)
of_scores_options = declared("higher_is", "align")
of_alarms_options = declared(*names_of(AboutAlarms))
truth_file_options = several(
    click.option(
        "--truth-file",
        type=FILE,
        help="File of events instead of labels: one time (or step) a row in the column --truth, or ranges in two columns, "
        "start and end (begin, stop, from, to).",
    ),
    click.option("--truth-start", type=COLUMN, help="Column of --truth-file with the starts of ranges."),
    click.option("--truth-end", type=COLUMN, help="Column of --truth-file with their ends, which are included."),
    format_of("--truth-time-format", "--truth-file, if not that of --time-format; iso for ISO 8601"),
    click.option("--truth-where", type=CONDITION, help="Rows of --truth-file to keep, as with --where."),
)
of_truth = several(
    click.option("--truth", type=COLUMN, help="Column of 0/1 labels: name, or position counted from 0."),
    truth_file_options,
    of_series_options,
)
truth_options = several(click.argument("file", metavar="FILE", type=FILE), of_truth)
alarms_file_options = several(
    click.option(
        "--predictions-file",
        type=FILE,
        help="File of alarms: one time (or step) a row in the column --predictions, or ranges as in --truth-file; one "
        "without an end still lasts. CSV, TSV, Parquet, or what Prometheus, Alertmanager or PagerDuty export.",
    ),
    click.option("--predictions-start", type=COLUMN, help="Column of --predictions-file with the starts of ranges."),
    click.option("--predictions-end", type=COLUMN, help="Column of --predictions-file with their ends."),
    format_of("--predictions-time-format", "--predictions-file, if not that of --time-format; iso for ISO 8601"),
    click.option(
        "--where",
        type=CONDITION,
        help='Rows of --predictions-file to keep: one condition over its columns, such as "severity <= 2".',
    ),
    click.option(
        "--by", "detectors_by", type=COLUMN, help="Column of --predictions-file: each of its values is a detector."
    ),
)
lists_options = several(
    click.argument("file", metavar="[FILE]", type=FILE, required=False),
    of_truth,
    alarms_file_options,
    click.option(
        "--span",
        type=SPAN,
        help="Without FILE: when anybody watched, both ends included; a date without a time of day is all of that day.",
    ),
    click.option("--step", type=Value("LENGTH"), help="With --span: how long a step is. Default: as the times allow."),
)
scores_option = click.option("--scores", type=COLUMN, help="Column of anomaly scores.")
several_scores_option = click.option(
    "--scores", type=COLUMN, multiple=True, help="Column of a detector's anomaly scores. Repeat for each detector."
)
several_predictions_option = click.option(
    "--predictions",
    type=COLUMN,
    multiple=True,
    help="Column of a detector's 0/1 alarms. Repeat for each detector.",
)
step_options = several(
    click.option("--time", type=COLUMN, help="Column of times: the clock. Must increase."),
    time_format_option,
    click.option("--mask", type=COLUMN, help="Column with 1 for steps to leave out of everything."),
)
of_one_series = several(scores_option, step_options, of_scores_options)
series_options = several(lists_options, of_one_series)
data_options = several(truth_options, of_one_series, of_alarms_options)
unit_option = click.option(
    "--unit",
    type=click.Choice(["steps", "clock"]),
    default="steps",
    help="What a tolerance without a unit counts: steps, or units of a clock of plain numbers.",
)


def sides_in(example: str, before: str) -> Callable[[Any], Any]:
    """--early and --late, with an example in the unit that the command takes."""
    return several(
        click.option(
            "--early",
            type=Value("LENGTH"),
            help=f"How early a prediction may be, if not as much as late; {example}: {before}.",
        ),
        click.option("--late", type=Value("LENGTH"), help="How late a prediction may be, if not as much as early."),
    )


side_options = sides_in("--late -1h --early 3h", "between 1 and 3 hours before")
rule_options = several(
    click.option("--threshold", type=Value("NUMBER", Threshold()), help="Predict where the score is at least this."),
    click.option(
        "--quantile", type=Value("NUMBER", SHARE), help="The threshold as a quantile of the scores, such as 0.9."
    ),
    click.option("--budget", type=Value("SHARE"), help="Predict at most this share of the steps, such as 1% or 0.01."),
)
cut_options = several(
    click.option(
        "--predictions", type=COLUMN, help="Column of 0/1 alarms, instead of scores; of times in --predictions-file."
    ),
    rule_options,
)
tolerance_options = several(
    click.option(
        "--tolerance", type=Value("LENGTH"), help="Steps (2), or a duration (2h) where there is a clock. Default 0."
    ),
    side_options,
    unit_option,
)
detector_options = several(series_options, of_alarms_options, cut_options, tolerance_options)
detectors_options = several(
    lists_options,
    several_scores_option,
    several_predictions_option,
    step_options,
    of_scores_options,
    of_alarms_options,
    rule_options,
    tolerance_options,
)
format_option = click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="How to print. By default what the ending of -o says (.txt, .json, .csv, .md, .tex), else text.",
)
gate_format_option = click.option(
    "--format",
    "form",
    type=click.Choice((*FORMATS, "junit")),
    help="How to print. By default what the ending of -o says (.txt, .json, .csv, .md, .tex, .xml), else text. junit is XML for "
    "build servers: what the gate looks at, as tests.",
)
output_option = click.option(
    "-o",
    "--output",
    callback=file_or_stream,
    type=FILE,
    help="Write there instead of printing; - for standard output.",
)
zero_division_option = click.option(
    "--zero-division",
    type=click.Choice(["nan", "0", "1"]),
    default="nan",
    callback=lambda _context, _option, value: float(value),
    help="Value of undefined measures.",
)
gate_option: Callable[[Any], Any] = click.option(
    "--gate", is_flag=True, help="Exit with 1 unless the verdict is yes; 3 if the verdict is 'cannot tell'."
)
gate_options = several(
    gate_option,
    click.option(
        "--gate-on",
        type=click.Choice(["precision", "recall", "f1", "both"]),
        help="What the gate looks at: the p of one measure, or both (the verdict, the default). Implies --gate.",
    ),
    *(
        click.option(f"--min-{name}", type=SHARE, callback=share, help=f"The least {what} that passes. Implies --gate.")
        for name, what in (("precision", "precision"), ("recall", "recall"), ("f1", "F1"))
    ),
)


# ---- what chance does, and how a result is compared with it

STATISTICS = ("sttc", "event-synchronisation", "matching")

seed_option = click.option("--seed", type=int, help="Seed of Monte Carlo; without it a fresh one is drawn and named.")


fixed_seed_option = click.option(
    "--seed", type=int, default=0, help="Random seed; the same seed gives identical output."
)


def null_of(names: str) -> Callable[[Any], Any]:
    """--null, with the names that the command takes."""
    return click.option(
        "--null",
        default="auto",
        type=NULL,
        help="What chance does. auto picks the null that suits the data, and says why. Or, with settings after a colon: "
        f"{names}.",
    )


_NULLS = (
    "permutation, circular-shift, local-shift:reach=50, local-permutation, jitter:window=1h, "
    "seasonal:period=24,bins=12, period-shuffle:period=day, interval-shuffle, segments, blocks:length=48, bernoulli, stationary"
)
strata_option = click.option(
    "--strata",
    type=COLUMN,
    help="Events stay within their stratum: a column of labels, or a rule of the calendar such as 'hour of week'. "
    "With --null seasonal, or without --null.",
)
null_option = null_of(_NULLS)
null_of_study_option = null_of(f"{_NULLS}, series-exchange")
method_options = several(
    click.option(
        "--method",
        type=click.Choice(["auto", "exact", "montecarlo", "saddlepoint", "binomial"]),
        default="auto",
        help="How chance is computed; auto is exact wherever that takes seconds.",
    ),
    click.option("--resamples", type=int, default=10_000, help="Number of Monte Carlo permutations."),
)
chance_options = several(null_option, method_options, seed_option)
judging_options = several(
    click.option(
        "--alternative",
        type=click.Choice(["greater", "less", "two-sided"]),
        default="greater",
        help="Which hits count as extreme.",
    ),
    click.option("--ties", type=click.Choice(["full", "mid"]), default="full", help="mid gives mid-p-values."),
    click.option("--alpha", type=SHARE, default=0.05, help="Level of the verdict and the gate."),
    click.option("--test-f1", is_flag=True, help="Test F1 even for series over 100,000 steps, and in JSON and CSV."),
    click.option(
        "--statistic",
        "statistics",
        type=click.Choice(STATISTICS),
        multiple=True,
        help="Another statistic to test, by simulation: spike time tiling coefficient, event synchronisation or one-to-one "
        "matching. Repeat for several.",
    ),
)
familywise_option = click.option(
    "--familywise",
    is_flag=True,
    help="Test the best of all cells against chance's best: by all rotations where they can be gone through, else by Monte Carlo.",
)


# ---- metrics by name


def _known(_context: click.Context, option: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    """Let only metrics through, before any file is read; their settings are none of the command's options."""
    if names:
        from nofluke.metrics import get

        for name in names:
            try:
                get(name)
            except InputError as error:
                about = error if error.argument == "metric" else InputError(value=name, remedy=str(error))
                told = InputError(
                    argument=option.opts[0], value=about.value, problem=about.problem, remedy=about.remedy
                )
                raise InputError(problem=joined(" ", [told.words, "See nofluke metrics."])) from None
    return names


def metric_option(about: str) -> Callable[[Any], Any]:
    """--metric, which may be repeated."""
    return click.option("--metric", "metrics", type=METRIC, multiple=True, callback=_known, help=about)


def _drawing(default: int) -> tuple[Any, ...]:
    return (
        click.option("--resamples", type=int, default=default, help="Random draws of the null."),
        seed_option,
        click.option("--workers", type=int, help="Threads; by default as many as there are cores. Changes no number."),
        click.option("--alpha", type=SHARE, default=0.05, help="Significance level."),
    )


null_options = several(
    click.option(
        "--null",
        default="auto",
        type=NULL,
        help="What chance does: auto takes the null that the data allow and says why. Or, with settings after a colon: "
        "circular-shift, local-shift:reach=50, segments, random-scores:phi=0.9, score-permutation, and those of evaluate.",
    ),
    click.option(
        "--stop-after",
        type=int,
        metavar="NUMBER",
        help="Stop at the draw at which so many have reached the value. For one metric.",
    ),
    click.option(
        "--alternative",
        type=click.Choice(["greater", "less", "two-sided"]),
        help="Which values count as extreme; by default the better ones.",
    ),
    *_drawing(10_000),
    click.option(
        "--groups",
        type=COLUMN,
        help="Column that tells several series apart, which stand one after the other: each is rotated within itself.",
    ),
)
level_options = several(
    click.option(
        "--null",
        default="random-scores",
        type=NULL,
        help="random-scores, or with a memory random-scores:phi=0.9.",
    ),
    click.option(
        "--budget", type=Value("SHARE"), help="For metrics of alarms: the share of steps with one, 1% or 0.01."
    ),
    click.option(
        "--n-steps", type=int, metavar="NUMBER", help="Length of the series, where FILE lists events or ranges by step."
    ),
    *_drawing(1_000),
)
