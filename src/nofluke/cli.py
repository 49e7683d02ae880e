"""The command line: read files, call the library, print what it says. Nothing is computed here."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from nofluke import __version__
from nofluke.errors import InputError

if TYPE_CHECKING:
    from nofluke.evaluation import Evaluation
    from nofluke.tolerance import Tolerance

# everything but click is imported inside the commands: `nofluke --help` should answer at once

FORMATS = ("text", "json", "csv", "markdown", "latex")


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="nofluke")
def cli() -> None:
    """Is an anomaly detector's precision and recall on a sequence skill, or a fluke?

    \b
    Try:  nofluke demo
          nofluke evaluate data.csv --truth label --scores z --quantile 0.9 --tolerance 2
          nofluke sweep data.parquet --truth label --scores z --tolerance 0 --tolerance 2 -o sweep.csv
    """


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command line; bad input is one line on standard error and exit code 2."""
    try:
        code = cli.main(args=args, prog_name="nofluke", standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        click.echo("nofluke: stopped", err=True)
        sys.exit(130)
    except click.ClickException as error:
        _fail(error.format_message())
    except (InputError, OSError) as error:
        _fail(str(error))
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
output_option = click.option(
    "-o", "--output", type=click.Path(dir_okay=False), metavar="FILE", help="Write there instead of printing."
)


@cli.command()
@data_options
@click.option("--predictions", metavar="COLUMN", help="Column of 0/1 alarms, instead of scores.")
@click.option("--threshold", type=float, help="Predict where the score is at least this.")
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
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="How to print.")
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
    form: str,
    output: str | None,
    **data: Any,
) -> None:
    """Precision and recall of a detector at one threshold, within a tolerance.

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
    )
    _write(_rendered(result, form), output, terminal=result if form == "text" else None)


@cli.command()
@data_options
@click.option("--tolerance", "tolerances", metavar="LENGTH", multiple=True, help="Repeat for several. Default 0.")
@click.option("--threshold", "thresholds", type=float, multiple=True, help="Repeat for several.")
@click.option("--quantile", "quantiles", type=float, multiple=True, help="Repeat for several.")
@click.option(
    "--unit",
    type=click.Choice(["steps", "clock"]),
    default="steps",
    show_default=True,
    help="What a tolerance without a unit counts: steps, or units of a clock of plain numbers.",
)
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help="How to print; csv where -o names a .csv file, else text."
)
@output_option
def sweep(
    file: str,
    tolerances: tuple[str, ...],
    thresholds: tuple[float, ...],
    quantiles: tuple[float, ...],
    unit: str,
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
    )
    form = form or ("csv" if output and Path(output).suffix == ".csv" else "text")
    _write(_rendered(curve, form), output, terminal=curve if form == "text" else None)


@cli.command()
@click.option("--seed", type=int, default=0, show_default=True, help="Which simulated series.")
def demo(seed: int) -> None:
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
    _write(str(result), None, terminal=result)


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
    else:
        found["truth_as"] = "labels"
    return found


def _tolerance(both: str | None, early: str | None, late: str | None, unit: str) -> Tolerance:
    """A tolerance from --tolerance, or from --early and --late; plain numbers count what --unit says."""
    from nofluke.tolerance import Tolerance

    if both is not None and (early is not None or late is not None):
        raise InputError("pass either --tolerance, or --early and --late.")
    sides = {"early": both or early or "0", "late": both or late or "0"}
    lengths: dict[str, Any] = {}
    for side, text in sides.items():
        try:
            lengths[side] = float(text) if unit == "clock" else int(text)
        except ValueError:
            lengths[side] = text
    plain = any(not isinstance(length, str) for length in lengths.values())
    return Tolerance(**lengths, unit="clock" if unit == "clock" and plain else None)


def _rendered(result: Any, form: str) -> str:
    if form == "json":
        return json.dumps(result.to_dict(), indent=2, ensure_ascii=False)
    if form == "csv":
        return str(result.to_csv()).rstrip("\n")
    return str(getattr(result.table(), form)())


def _write(text: str, output: str | None, terminal: Evaluation | Any = None) -> None:
    """Print, in colour where a person looks on; or write to a file."""
    if output is not None:
        Path(output).write_text(text + "\n", encoding="utf-8")
    elif terminal is not None and sys.stdout.isatty():
        from nofluke.terminal import show

        show(terminal.table())
    else:
        click.echo(text)
