"""Options that commands share: about data and detectors, about chance, about metrics."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import click

from nofluke.cli.command import ENDINGS, FILES, FORMATS, PRESET, form_of
from nofluke.cli.values import FILE, KINDS, PAGE, PART, SHARE, Share, Threshold, Value, Values, flat
from nofluke.data.paths import check_place, expanded
from nofluke.errors import InputError
from nofluke.series.arguments import CHOICES, DECLARED, AboutAlarms, AboutNames, AboutSeries, names_of

Option = Callable[[Any], Any]

# ---- how options are declared: as help shows them

_HEAD = re.compile(r"(-[\w-]+(?:, -[\w-]+)*)(?: ([^\s:.]+)(\.\.\.)?)?(?: = (\S+))?(?: as (\w+))?: ")


def several(*options: Option) -> Option:
    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def options(text: str, **kinds: Any) -> Option:
    """Options from their help, each from ``--`` on: ``--name KIND: what it is``.

    Without a kind it is a flag, ``--name one|other`` takes one of some words, ``--name KIND...`` may be repeated. Then
    follow its default, as ``= one``, and the argument that it becomes where that has another name, as ``as argument``.
    A word that is none of `KINDS` stands for text, unless ``kinds`` has the type by argument.
    """
    entries = re.split(r"\n(?=-)", dedent(text).strip())  # the other lines of an entry are indented
    return several(*(_option(" ".join(map(str.strip, entry.splitlines())), kinds) for entry in entries))


def _option(entry: str, kinds: dict[str, Any]) -> Option:
    head = _HEAD.match(entry)
    assert head is not None, entry
    names, word, repeated, default, own = head.groups()
    named = [*names.split(", "), *([own] if own else [])]
    how: dict[str, Any] = {"help": entry[head.end() :]}
    if word is None:
        return click.option(*named, is_flag=True, **how)
    kind = kinds.get(own or named[-1].lstrip("-").replace("-", "_")) or KINDS.get(word, click.STRING)
    if "|" in word:
        kind = click.Choice(word.split("|"))
    elif kind.name.upper() != word:
        how["metavar"] = word
    if default is not None:
        how["default"] = kind.convert(default, None, None)
    if isinstance(kind, Values):
        how["callback"] = flat
    return click.option(*named, type=kind, multiple=bool(repeated) or isinstance(kind, Values), **how)


def declared(*names: str) -> Option:
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


_TYPES = {"test_part": PART} | {name: Value("NAME") for name in names_of(AboutNames) if name not in CHOICES}


def format_of(name: str, files: str) -> Option:
    """An option for the format of the times in some files."""
    return options(f"{name} FORMAT: Format of the times in {files}.")


# ---- where to write: checked before anything is computed


def file_or_stream(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """Where to write; None for standard output."""
    return None if value in (None, "-") else plain_file(context, option, value)


def plain_file(_context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """A file to write."""
    if value is not None:
        check_place(_no_stream(option, value, "file"), f"{option.opts[-1]} {value}")
    return value


def page(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """A page to write, with all that it takes to make one."""
    if plain_file(context, option, value) is not None:
        from nofluke.show.kit import check_kit

        check_kit()
    return value


PLOT = "nofluke.plot"  # where the context keeps the file to draw into
DRAWN = (".png", ".pdf", ".svg")


def picture(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """A figure to write; `write_result` draws it."""
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


def plot_option(*names: str) -> Option:
    """--plot, and other names that a command has for it."""
    about = "Draw its figure there, too, as .png, .pdf or .svg; needs matplotlib."
    return click.option(*names, "--plot", type=FILE, callback=picture, expose_value=False, help=about)


report_option = click.option("--report", type=PAGE, callback=page, help="Write an HTML page about it, too.")
output_option = click.option(
    "-o",
    "--output",
    callback=file_or_stream,
    type=FILE,
    help="Write there instead of printing; - for standard output.",
)
format_option = options(f"""
    --format {"|".join(FORMATS)} as form: How to print. By default what the ending of -o says (.txt, .json, .csv, .md,
        .tex), else text.
""")
gate_format_option = options(f"""
    --format {"|".join(FORMATS)}|junit as form: How to print. By default what the ending of -o says (.txt, .json, .csv,
        .md, .tex, .xml), else text. junit is XML for build servers: what the gate looks at, as tests.
""")

# ---- events, alarms and scores: columns of a file, or lists

time_format_option = options("""
    --time-format FORMAT: Format of dates that are not ISO 8601, such as "%d/%m/%Y %H:%M".
""")
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
truth_file_options = options("""
    --truth-file FILE: File of events instead of labels: one time (or step) a row in the column --truth, or ranges in
        two columns, start and end (begin, stop, from, to).
    --truth-start COLUMN: Column of --truth-file with the starts of ranges.
    --truth-end COLUMN: Column of --truth-file with their ends, which are included.
    --truth-time-format FORMAT: Format of the times in --truth-file, if not that of --time-format; iso for ISO 8601.
    --truth-where CONDITION: Rows of --truth-file to keep, as with --where.
""")
of_truth = several(
    options("--truth COLUMN: Column of 0/1 labels: name, or position counted from 0."),
    truth_file_options,
    of_series_options,
)
truth_options = several(click.argument("file", metavar="FILE", type=FILE), of_truth)
alarms_file_options = options("""
    --predictions-file FILE: File of alarms: one time (or step) a row in the column --predictions, or ranges as in
        --truth-file; one without an end still lasts. CSV, TSV, Parquet, or what Prometheus, Alertmanager or PagerDuty
        export.
    --predictions-start COLUMN: Column of --predictions-file with the starts of ranges.
    --predictions-end COLUMN: Column of --predictions-file with their ends.
    --predictions-time-format FORMAT: Format of the times in --predictions-file, if not that of --time-format; iso for
        ISO 8601.
    --where CONDITION: Rows of --predictions-file to keep: one condition over its columns, such as "severity <= 2".
    --by COLUMN as detectors_by: Column of --predictions-file: each of its values is a detector.
""")
lists_options = several(
    click.argument("file", metavar="[FILE]", type=FILE, required=False),
    of_truth,
    alarms_file_options,
    options("""
        --span START/END: Without FILE: when anybody watched, both ends included; a date without a time of day is all
            of that day.
        --step LENGTH: With --span: how long a step is. Default: as the times allow.
    """),
)
step_options = several(
    options("--time COLUMN: Column of times: the clock. Must increase."),
    time_format_option,
    options("--mask COLUMN: Column with 1 for steps to leave out of everything."),
)
of_one_series = several(options("--scores COLUMN: Column of anomaly scores."), step_options, of_scores_options)
series_options = several(lists_options, of_one_series)
data_options = several(truth_options, of_one_series, of_alarms_options)

# ---- which scores are alarms, and how near an event an alarm must be

unit_option = options("""
    --unit steps|clock = steps: What a tolerance without a unit counts: steps, or units of a clock of plain numbers.
""")


def sides_in(example: str, before: str) -> Option:
    """--early and --late, with an example in the unit that the command takes."""
    return options(f"""
        --early LENGTH: How early a prediction may be, if not as much as late; {example}: {before}.
        --late LENGTH: How late a prediction may be, if not as much as early.
    """)


side_options = sides_in("--late -1h --early 3h", "between 1 and 3 hours before")
rule_options = options(
    """
    --threshold NUMBER: Predict where the score is at least this.
    --quantile NUMBER: The threshold as a quantile of the scores, such as 0.9.
    --budget SHARE: Predict at most this share of the steps, such as 1% or 0.01.
    """,
    threshold=Value("NUMBER", Threshold()),
    quantile=Value("NUMBER", SHARE),
)
cut_options = several(
    options("--predictions COLUMN: Column of 0/1 alarms, instead of scores; of times in --predictions-file."),
    rule_options,
)
tolerance_options = several(
    options("--tolerance LENGTH: Steps (2), or a duration (2h) where there is a clock. Default 0."),
    side_options,
    unit_option,
)
detector_options = several(series_options, of_alarms_options, cut_options, tolerance_options)
detectors_options = several(
    lists_options,
    options("""
        --scores COLUMN...: Column of a detector's anomaly scores. Repeat for each detector.
        --predictions COLUMN...: Column of a detector's 0/1 alarms. Repeat for each detector.
    """),
    step_options,
    of_scores_options,
    of_alarms_options,
    rule_options,
    tolerance_options,
)
zero_division_option = click.option(
    "--zero-division",
    type=click.Choice(["nan", "0", "1"]),
    default="nan",
    callback=lambda _context, _option, value: float(value),
    help="Value of undefined measures.",
)
gate_option = options("--gate: Exit with 1 unless the verdict is yes; 3 if the verdict is 'cannot tell'.")
gate_options = several(
    gate_option,
    options(
        """
        --gate-on precision|recall|f1|both: What the gate looks at: the p of one measure, or both (the verdict, the
            default). Implies --gate.
        --min-precision NUMBER: The least precision that passes. Implies --gate.
        --min-recall NUMBER: The least recall that passes. Implies --gate.
        --min-f1 NUMBER: The least F1 that passes. Implies --gate.
        """,
        **{f"min_{name}": Share() for name in ("precision", "recall", "f1")},
    ),
)


# ---- what chance does, and how a result is compared with it

seed_option = options("--seed INTEGER: Seed of Monte Carlo; without it a fresh one is drawn and named.")
fixed_seed_option = options("--seed INTEGER = 0: Random seed; the same seed gives identical output.")


def null_of(names: str) -> Option:
    """--null, with the names that the command takes."""
    return options(f"""
        --null NULL = auto: What chance does. auto picks the null that suits the data, and says why. Or, with settings
            after a colon: {names}.
    """)


_NULLS = (
    "permutation, circular-shift, local-shift:reach=50, local-permutation, jitter:window=1h, "
    "seasonal:period=24,bins=12, period-shuffle:period=day, interval-shuffle, segments, blocks:length=48, bernoulli, stationary"
)
strata_option = options("""
    --strata COLUMN: Events stay within their stratum: a column of labels, or a rule of the calendar such as 'hour of
        week'. With --null seasonal, or without --null.
""")
null_option = null_of(_NULLS)
null_of_study_option = null_of(f"{_NULLS}, series-exchange")
method_options = options("""
    --method auto|exact|montecarlo|saddlepoint|binomial = auto: How chance is computed; auto is exact wherever that
        takes seconds.
    --resamples INTEGER = 10000: Number of Monte Carlo permutations.
""")
chance_options = several(null_option, method_options, seed_option)
STATISTICS = ("sttc", "event-synchronisation", "matching")
judging_options = options(f"""
    --alternative greater|less|two-sided = greater: Which hits count as extreme.
    --ties full|mid = full: mid gives mid-p-values.
    --alpha NUMBER = 0.05: Level of the verdict and the gate.
    --test-f1: Test F1 even for series over 100,000 steps, and in JSON and CSV.
    --statistic {"|".join(STATISTICS)}... as statistics: Another statistic to test, by simulation: spike time tiling
        coefficient, event synchronisation or one-to-one matching. Repeat for several.
""")
familywise_option = options("""
    --familywise: Test the best of all cells against chance's best: by all rotations where they can be gone through,
        else by Monte Carlo.
""")


# ---- metrics by name


def metric_option(about: str) -> Option:
    """--metric, which may be repeated."""
    return options(f"--metric METRIC... as metrics: {about}")


def _drawing(default: int) -> Option:
    return several(
        options(f"--resamples INTEGER = {default}: Random draws of the null."),
        seed_option,
        options("""
            --workers INTEGER: Threads; by default as many as there are cores. Changes no number.
            --alpha NUMBER = 0.05: Significance level.
        """),
    )


null_options = several(
    options(
        """
        --null NULL = auto: What chance does: auto takes the null that the data allow and says why. Or, with settings
            after a colon: circular-shift, local-shift:reach=50, segments, random-scores:phi=0.9, score-permutation,
            and those of evaluate.
        --stop-after NUMBER: Stop at the draw at which so many have reached the value. For one metric.
        --alternative greater|less|two-sided: Which values count as extreme; by default the better ones.
        """,
        stop_after=click.INT,
    ),
    _drawing(10_000),
    options("""
        --groups COLUMN: Column that tells several series apart, which stand one after the other: each is rotated
            within itself.
    """),
)
level_options = several(
    options(
        """
        --null NULL = random-scores: random-scores, or with a memory random-scores:phi=0.9.
        --budget SHARE: For metrics of alarms: the share of steps with one, 1% or 0.01.
        --n-steps NUMBER: Length of the series, where FILE lists events or ranges by step.
        """,
        n_steps=click.INT,
    ),
    _drawing(1_000),
)
