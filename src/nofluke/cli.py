"""The command line: read files, call the library, print what it says. Nothing is computed here."""

from __future__ import annotations

import io
import json
import math
import shlex
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import click

from nofluke import __version__
from nofluke.errors import InputError

if TYPE_CHECKING:
    from nofluke.tables import Table
    from nofluke.tolerance import Tolerance

# everything but click is imported inside the commands: `nofluke --help` should answer at once

BUG = 70  # the exit code of an error in nofluke itself: not to be taken for the gate's 1
FORMATS = ("text", "json", "csv", "markdown", "latex")
_ENDINGS = {".json": "json", ".csv": "csv", ".md": "markdown", ".tex": "latex"}


# what the library calls by its argument, the command line calls by its option
_OPTIONS = {
    'missing="mask"': "--missing mask",
    "times=": "--time COLUMN",
    "truth_as='times'": "--time COLUMN",
    'Tolerance(early=..., late=..., unit="clock")': "--unit clock",
    "Tolerance(early=..., late=...)": "--early and --late",
    "unit='clock'": "--unit clock",
}


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}, invoke_without_command=True
)
@click.version_option(__version__, prog_name="nofluke")
@click.pass_context
def cli(context: click.Context) -> None:
    """Is an anomaly detector's precision and recall on a sequence skill, or a fluke?

    \b
    Try:  nofluke demo
          nofluke evaluate data.csv --truth label --scores z --quantile 0.9 --tolerance 2
          nofluke sweep data.parquet --truth label --scores z --tolerance 0 --tolerance 2 -o sweep.csv
          nofluke diagnose data.csv --truth label --scores z --quantile 0.9 --tolerance 2
          nofluke report data.csv --truth label --scores z --quantile 0.9 --tolerance 2 -o report.html
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command line; bad input is one line on standard error and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a pipe that knows no ≥ gets a ?, not a crash
    try:
        code = cli.main(args=args, prog_name="nofluke", standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        click.echo("nofluke: stopped", err=True)
        sys.exit(130)
    except click.ClickException as error:
        _fail(error.format_message())
    except InputError as error:
        message = str(error)
        for argument, option in _OPTIONS.items():
            message = message.replace(argument, option)
        _fail(message)
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}." if error.filename and error.strerror else str(error))
    except Exception:
        traceback.print_exc()
        sys.exit(BUG)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str) -> NoReturn:
    click.echo("nofluke: " + " ".join(message.split()), err=True)
    sys.exit(2)


def _several(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def _finite(_context: click.Context, option: click.Parameter, value: Any) -> Any:
    """Let only finite numbers through: JSON knows no others."""
    for number in value if isinstance(value, tuple) else (value,):
        if number is not None and not math.isfinite(number):
            raise InputError(f"{option.opts[0]} {number:g} must be finite: pass a number.")
    return value


data_options = _several(
    click.argument("file", metavar="FILE"),
    click.option("--truth", metavar="COLUMN", help="Column of 0/1 labels: name, or position counted from 0."),
    click.option(
        "--truth-file",
        metavar="FILE",
        help="Another file with one event time (or step number) a row; --truth then names its column.",
    ),
    click.option("--scores", metavar="COLUMN", help="Column of anomaly scores."),
    click.option("--time", metavar="COLUMN", help="Column of times: the clock. Must increase."),
    click.option("--time-format", metavar="FORMAT", help='How to read dates, such as "%d/%m/%Y %H:%M".'),
    click.option("--mask", metavar="COLUMN", help="Column with 1 for steps to leave out of everything."),
    click.option(
        "--missing",
        type=click.Choice(["error", "mask"]),
        default="error",
        show_default=True,
        help="What to do with missing scores and labels.",
    ),
)
format_option = click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="How to print; by default what the ending of -o says (.json, .csv, .md, .tex), else text.",
)
output_option = click.option(
    "-o", "--output", type=click.Path(dir_okay=False), metavar="FILE", help="Write there instead of printing."
)


chance_options = _several(
    click.option(
        "--null",
        default="permutation",
        show_default=True,
        metavar="NULL",
        help="What chance does, with settings after a colon: permutation, circular-shift, seasonal:period=24,bins=12, "
        "interval-shuffle, segments, blocks:length=48, bernoulli, stationary. `nofluke diagnose` says which to trust.",
    ),
    click.option(
        "--method",
        type=click.Choice(["auto", "exact", "montecarlo", "saddlepoint", "binomial"]),
        default="auto",
        show_default=True,
        help="How chance is computed; auto is exact wherever that takes seconds.",
    ),
    click.option("--resamples", type=int, default=10_000, show_default=True, help="Permutations of Monte Carlo."),
    click.option("--seed", type=int, help="Seed of Monte Carlo; without it a fresh one is drawn and named."),
)


@cli.command()
@data_options
@click.option("--predictions", metavar="COLUMN", help="Column of 0/1 alarms, instead of scores.")
@click.option("--threshold", type=float, callback=_finite, help="Predict where the score is at least this.")
@click.option("--quantile", type=float, help="The threshold as a quantile of the scores, such as 0.9.")
@click.option("--tolerance", metavar="LENGTH", help="Steps (2), or a duration (2h) where there is a clock. Default 0.")
@click.option("--early", metavar="LENGTH", help="How early a prediction may be, if not as much as late.")
@click.option("--late", metavar="LENGTH", help="How late a prediction may be, if not as much as early.")
@click.option(
    "--unit",
    type=click.Choice(["steps", "clock"]),
    default="steps",
    show_default=True,
    help="What a tolerance without a unit counts: steps, or units of a clock of plain numbers.",
)
@click.option(
    "--zero-division",
    type=click.Choice(["nan", "0", "1"]),
    default="nan",
    show_default=True,
    help="Value of undefined measures.",
)
@chance_options
@click.option(
    "--alternative",
    type=click.Choice(["greater", "less", "two-sided"]),
    default="greater",
    show_default=True,
    help="Which hits count as extreme.",
)
@click.option(
    "--ties", type=click.Choice(["full", "mid"]), default="full", show_default=True, help="mid gives mid-p-values."
)
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of the verdict and the gate.")
@click.option("--gate", is_flag=True, help="Exit with 1 unless precision and recall are both better than chance.")
@format_option
@output_option
def evaluate(
    file: str,
    predictions: str | None,
    threshold: float | None,
    quantile: float | None,
    tolerance: str | None,
    early: str | None,
    late: str | None,
    unit: str,
    zero_division: str,
    null: str,
    method: Any,
    resamples: int,
    seed: int | None,
    alternative: Any,
    ties: Any,
    alpha: float,
    gate: bool,
    form: str | None,
    output: str | None,
    **data: Any,
) -> int:
    """Precision and recall of a detector at one threshold, within a tolerance, beside what chance would score.

    FILE is CSV, TSV or Parquet, or - for standard input.
    """
    import nofluke as nf

    columns = _read(file, predictions=predictions, **data)
    result = nf.evaluate(
        **columns,
        threshold=threshold,
        quantile=quantile,
        tolerance=_tolerance(tolerance, early, late, unit),
        zero_division=float(zero_division),
        null=null,
        method=method,
        n_resamples=resamples,
        rng=seed,
        alternative=alternative,
        ties=ties,
        alpha=alpha,
    )
    form = form or _form_of(output)
    _write(_rendered(result, form), output, terminal=result.table() if form == "text" else None)
    return 1 if gate and result.verdict != "yes" else 0


@cli.command()
@data_options
@click.option("--tolerance", "tolerances", metavar="LENGTH", multiple=True, help="Repeat for several. Default 0.")
@click.option("--threshold", "thresholds", type=float, multiple=True, callback=_finite, help="Repeat for several.")
@click.option("--quantile", "quantiles", type=float, multiple=True, help="Repeat for several.")
@click.option(
    "--unit",
    type=click.Choice(["steps", "clock"]),
    default="steps",
    show_default=True,
    help="What a tolerance without a unit counts: steps, or units of a clock of plain numbers.",
)
@chance_options
@click.option(
    "--chance", is_flag=True, help="What chance scores in every cell, also without --threshold or --quantile."
)
@click.option("--familywise", is_flag=True, help="Test the best of all cells against chance's best (Monte Carlo).")
@format_option
@output_option
def sweep(
    file: str,
    tolerances: tuple[str, ...],
    thresholds: tuple[float, ...],
    quantiles: tuple[float, ...],
    unit: str,
    null: str,
    method: Any,
    resamples: int,
    seed: int | None,
    chance: bool,
    familywise: bool,
    form: str | None,
    output: str | None,
    **data: Any,
) -> None:
    """Precision and recall for many thresholds and tolerances.

    Every distinct score is a threshold, unless --threshold or --quantile is given. FILE is CSV, TSV or Parquet, or - for
    standard input. Text, Markdown and LaTeX show the best F1 of each tolerance; CSV and JSON have every cell.
    """
    import nofluke as nf

    columns = _read(file, predictions=None, **data)
    curve = nf.sweep(
        **columns,
        tolerances=[_tolerance(t, None, None, unit) for t in tolerances or ("0",)],
        thresholds=list(thresholds) or None,
        quantiles=list(quantiles) or None,
        null=null,
        method=method,
        n_resamples=resamples,
        rng=seed,
    )
    if chance:
        _ = curve.chance
    family = curve.familywise(n_resamples=resamples, rng=seed) if familywise else None
    form = form or _form_of(output)
    _write(_rendered(curve, form, familywise=family), output, terminal=curve.table(family) if form == "text" else None)


@cli.command()
@data_options
@click.option("--predictions", metavar="COLUMN", help="Column of 0/1 alarms, instead of scores.")
@click.option("--threshold", type=float, callback=_finite, help="Alarms are where the score is at least this.")
@click.option("--quantile", type=float, help="The threshold as a quantile of the scores. Default 0.9.")
@click.option("--tolerance", metavar="LENGTH", help="Steps (2), or a duration (2h) where there is a clock. Default 0.")
@click.option("--early", metavar="LENGTH", help="How early a prediction may be, if not as much as late.")
@click.option("--late", metavar="LENGTH", help="How late a prediction may be, if not as much as early.")
@click.option(
    "--unit",
    type=click.Choice(["steps", "clock"]),
    default="steps",
    show_default=True,
    help="What a tolerance without a unit counts: steps, or units of a clock of plain numbers.",
)
@click.option(
    "--period",
    metavar="PERIOD",
    help='The season to look for: steps (24), or "hour of day", "day of week", "month". Default: these three, with dates.',
)
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of the findings.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), help="How to print; by default what the ending of -o says."
)
@output_option
def diagnose(
    file: str,
    predictions: str | None,
    threshold: float | None,
    quantile: float | None,
    tolerance: str | None,
    early: str | None,
    late: str | None,
    unit: str,
    period: str | None,
    alpha: float,
    form: str | None,
    output: str | None,
    **data: Any,
) -> None:
    """Which null to trust: are events clustered, seasonal, in runs; do alarms have memory or a lag.

    FILE is CSV, TSV or Parquet, or - for standard input. Prints what was looked at and the null to pass as --null.
    """
    import nofluke as nf

    result = nf.diagnose(
        **_read(file, predictions=predictions, **data),
        threshold=threshold,
        quantile=quantile,
        tolerance=_tolerance(tolerance, early, late, unit),
        period=int(period) if period is not None and period.strip().isdigit() else period,
        alpha=alpha,
    )
    form = form or ("json" if _form_of(output) == "json" else "text")
    _write(_rendered(result, form), output, terminal=result.table() if form == "text" else None)


@cli.command()
@click.option("--seed", type=int, default=0, show_default=True, help="Which simulated series.")
@click.option("--report", metavar="FILE", type=click.Path(dir_okay=False), help="Write a page about it, too.")
def demo(seed: int, report: str | None) -> None:
    """The main job on built-in data: simulated tweets about earthquakes."""
    import nofluke as nf

    quakes = nf.datasets.simulate_quakes(rng=seed)
    scores = nf.detectors.energy_transient(quakes.counts)
    result = nf.evaluate(quakes.truth, scores, quantile=0.9, tolerance=2)
    click.echo(
        "Simulated data, shaped like the earthquake example of Scharwächter and Müller (2020):\n"
        "daily tweets about earthquakes, scored by the energy transient (3 days over 14),\n"
        "against the days on which an earthquake struck. A hit may be two days early or late.\n"
    )
    _write(str(result), None, terminal=result.table())
    if report is not None:
        dated = nf.evaluate(quakes.truth, scores, quantile=0.9, tolerance=2, times=quakes.days)
        click.echo(f"\nOpen {dated.report(report, title='Simulated tweets about earthquakes')}")


def _read(
    file: str,
    *,
    truth: str | None,
    truth_file: str | None,
    scores: str | None,
    time: str | None,
    time_format: str | None,
    mask: str | None,
    missing: str,
    predictions: str | None,
) -> dict[str, Any]:
    """The arguments of `evaluate` and `sweep` from columns of files."""
    from nofluke.files import read_columns, read_times

    if truth is None and truth_file is None:
        raise InputError("name the labels: --truth COLUMN, or --truth-file FILE with event times.")
    if (scores is None) is (predictions is None):
        raise InputError("name the detector's output: --scores COLUMN or --predictions COLUMN, one of them.")
    roles = {
        "truth": None if truth_file else truth,
        "scores": scores,
        "predictions": predictions,
        "time": time,
        "mask": mask,
    }
    table = read_columns(
        file, columns={role: name for role, name in roles.items() if name is not None}, time_format=time_format
    )
    found: dict[str, Any] = {("times" if role == "time" else role): values for role, values in table.values.items()}
    found["missing"] = missing
    if truth_file:
        found["truth"] = read_times(truth_file, column=truth, time_format=time_format)
        found["truth_as"] = "positions" if time is None else "times"
        if time is None and found["truth"].dtype.kind == "M":
            raise InputError(f"{truth_file} holds dates, but {file} has no clock: name its column of times by --time.")
    else:
        found["truth_as"] = "labels"
    return found


def _tolerance(both: str | None, early: str | None, late: str | None, unit: str) -> Tolerance:
    """A tolerance from --tolerance, or from --early and --late; plain numbers count what --unit says."""
    from nofluke.tolerance import Tolerance, as_tolerance

    if both is not None and (early is not None or late is not None):
        raise InputError("pass either --tolerance, or --early and --late.")
    if both is not None:
        length, counted = _length(both, unit)
        return as_tolerance(length, "--tolerance", counted)
    # each side is read alone first, so that an error names its option
    sides = {"--early": _length(early or "0", unit), "--late": _length(late or "0", unit)}
    read = [as_tolerance(length, option, counted) for option, (length, counted) in sides.items()]
    lengths = {"early": sides["--early"][0], "late": sides["--late"][0]}
    return Tolerance(**lengths, unit="clock" if all(side.unit == "clock" for side in read) else None)


def _length(text: str, unit: str) -> tuple[Any, Literal["clock"] | None]:
    """A number, and what it counts; text that is no number is left as it is, a duration."""
    for number in (int, float):  # in this order, so that an error shows 2 and not 2.0
        with suppress(ValueError):
            return number(text), "clock" if unit == "clock" else None
    return text, None


def _form_of(output: str | None) -> str:
    """The format that the ending of a file asks for; text where it asks for none."""
    return _ENDINGS.get(Path(output).suffix.lower(), "text") if output else "text"


def _rendered(result: Any, form: str, **more: Any) -> str:
    if form == "json":
        return json.dumps(result.to_dict(**more), indent=2, ensure_ascii=False)
    if form == "csv":
        return str(result.to_csv(**more)).rstrip("\n")
    return str(getattr(result.table(**more), form)())


def _write(text: str, output: str | None, terminal: Table | None = None) -> None:
    """Print, in colour where a person looks on; or write to a file."""
    if output is not None:
        try:
            Path(output).write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise InputError(f"--output {output} cannot be written ({error.strerror}): choose another place.") from None
    elif terminal is not None and sys.stdout.isatty():
        from nofluke.terminal import show

        show(terminal)
    else:
        click.echo(text)


@cli.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False),
    required=True,
    metavar="DIR",
    help="Where to write index.html, figures, numbers and claims.json.",
)
@click.option("--simulated", is_flag=True, help="Simulated data in place of the paper's: needs no network.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of everything simulated: same seed, same bytes.")
@click.option(
    "--permutations", type=int, default=10_000, show_default=True, help="Random placements, where the paper simulates."
)
def reproduce(output: str, simulated: bool, seed: int, permutations: int) -> None:
    """The paper, reproduced: every figure, table and number, and whether each of its statements holds.

    Takes the paper's data from the directory named by NOFLUKE_DATA, or downloads them once and checks them.
    """
    from nofluke.reproduce import reproduce as run

    done = run(output, simulated=simulated, seed=seed, permutations=permutations)
    for claim in done.claims:
        click.echo(f"{claim.outcome + ':':<19}{claim.statement}")
    click.echo(f"\n{done.in_words()}\nOpen {Path(output) / 'index.html'}")


@cli.command()
@data_options
@click.option("--predictions", metavar="COLUMN", help="Column of 0/1 alarms, instead of scores.")
@click.option("--threshold", type=float, callback=_finite, help="Predict where the score is at least this.")
@click.option("--quantile", type=float, help="The threshold as a quantile of the scores, such as 0.9.")
@click.option("--tolerance", metavar="LENGTH", help="Steps (2), or a duration (2h) where there is a clock. Default 0.")
@click.option("--early", metavar="LENGTH", help="How early a prediction may be, if not as much as late.")
@click.option("--late", metavar="LENGTH", help="How late a prediction may be, if not as much as early.")
@click.option(
    "--unit",
    type=click.Choice(["steps", "clock"]),
    default="steps",
    show_default=True,
    help="What a tolerance without a unit counts: steps, or units of a clock of plain numbers.",
)
@chance_options
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of the verdict.")
@click.option("--title", help="Heading of the page; by default the name of FILE.")
@click.option(
    "--scripts",
    type=click.Choice(["inline", "cdn"]),
    default="inline",
    show_default=True,
    help="Have plotly's script (5 MB) in the page, which then needs no network; or let the page fetch it.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    default="report.html",
    show_default=True,
    metavar="FILE",
    help="The page to write.",
)
def report(
    file: str,
    predictions: str | None,
    threshold: float | None,
    quantile: float | None,
    tolerance: str | None,
    early: str | None,
    late: str | None,
    unit: str,
    null: str,
    method: Any,
    resamples: int,
    seed: int | None,
    alpha: float,
    title: str | None,
    scripts: Any,
    output: str,
    **data: Any,
) -> None:
    """One page to open, send or print: the verdict, two sliders for threshold and tolerance, and every figure.

    FILE is CSV, TSV or Parquet, or - for standard input. Without --seed the seed is 0: the same input gives the same page.
    """
    import nofluke as nf
    from nofluke.report import Source, write_report

    result = nf.evaluate(
        **_read(file, predictions=predictions, **data),
        threshold=threshold,
        quantile=quantile,
        tolerance=_tolerance(tolerance, early, late, unit),
        null=null,
        method=method,
        n_resamples=resamples,
        rng=0 if seed is None else seed,
        alpha=alpha,
    )
    roles = {**{role: data[role] for role in ("truth", "scores", "time", "mask")}, "predictions": predictions}
    source = Source(
        file=file,
        columns={role: name for role, name in roles.items() if name is not None},
        command=_command_line(click.get_current_context()),
        time_format=data["time_format"],
        truth_file=data["truth_file"],
        missing=data["missing"],
    )
    path = write_report(result, output, title=title, scripts=scripts, source=source)
    click.echo(f"{result.verdict_in_words()}\nOpen {path}")


def _command_line(context: click.Context) -> str:
    """What was typed, with every option in full, ready to be pasted into a shell."""
    words = ["nofluke", context.info_name or ""]
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is click.core.ParameterSource.COMMANDLINE:
            value = str(context.params[parameter.name or ""])
            words += [value] if isinstance(parameter, click.Argument) else [parameter.opts[-1], value]
    return shlex.join(words)
