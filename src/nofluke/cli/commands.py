"""The commands. Nothing is computed here; everything but click is imported when a command runs."""

from __future__ import annotations

import shlex
from contextlib import suppress
from typing import Any

import click

from nofluke.cli.arguments import chance_arguments, read, read_detector, tolerance_of
from nofluke.cli.metric_options import metric_option
from nofluke.cli.options import (
    Threshold,
    chance_options,
    data_options,
    detector_options,
    directory,
    familywise_option,
    file_or_stream,
    finite,
    format_option,
    gate_options,
    judging_options,
    output_option,
    plain_file,
    unit_option,
    zero_division_option,
)
from nofluke.cli.printing import extras, form_of, gate_code, write, write_result
from nofluke.cli.wording import Command


@click.command(cls=Command)
@detector_options
@zero_division_option
@chance_options
@judging_options
@gate_options
@format_option
@output_option
def evaluate(
    file: str,
    zero_division: str,
    alternative: Any,
    ties: Any,
    alpha: float,
    form: str | None,
    output: str | None,
    **options: Any,
) -> int:
    """Precision and recall of a detector at one threshold, within a tolerance, beside what chance would score.

    FILE is CSV, TSV or Parquet, or - for standard input.
    """
    import nofluke as nf

    data = read_detector(file, output, options)
    result = data.noted(
        nf.evaluate(
            **data.arguments,
            **chance_arguments(options),
            zero_division=float(zero_division),
            alternative=alternative,
            ties=ties,
            alpha=alpha,
        )
    )
    write_result(result, form, output, **extras(options))
    return gate_code(result, options)


@click.command(cls=Command)
@data_options
@click.option("--tolerance", "tolerances", metavar="LENGTH", multiple=True, help="Repeat for several. Default 0.")
@click.option("--threshold", "thresholds", type=Threshold(), multiple=True, callback=finite, help="Repeat for several.")
@click.option("--quantile", "quantiles", type=float, multiple=True, help="Repeat for several.")
@click.option("--budget", "budgets", metavar="SHARE", multiple=True, help="Such as 1% or 0.01. Repeat for several.")
@unit_option
@chance_options
@click.option(
    "--chance", is_flag=True, help="What chance scores in every cell, also without --threshold, --quantile or --budget."
)
@familywise_option
@format_option
@output_option
def sweep(
    file: str,
    tolerances: tuple[str, ...],
    thresholds: tuple[float, ...],
    quantiles: tuple[float, ...],
    budgets: tuple[str, ...],
    unit: str,
    null: str,
    method: Any,
    resamples: int,
    seed: int | None,
    chance: bool,
    familywise: bool,
    form: str | None,
    output: str | None,
    **options: Any,
) -> None:
    """Precision and recall for many thresholds and tolerances.

    Every distinct score is a threshold, unless --threshold, --quantile or --budget is given. FILE is CSV, TSV or
    Parquet, or - for standard input. Text, Markdown and LaTeX show the best F1 of each tolerance; CSV and JSON have
    every cell.
    """
    import nofluke as nf

    data = read(file, output, **options)
    curve = data.noted(
        nf.sweep(
            **data.arguments,
            tolerances=[tolerance_of(t, None, None, unit) for t in tolerances or ("0",)],
            thresholds=list(thresholds) or None,
            quantiles=list(quantiles) or None,
            budgets=list(budgets) or None,
            null=null,
            method=method,
            n_resamples=resamples,
            rng=seed,
        )
    )
    if chance:
        _ = curve.chance  # once computed, it is shown
    family = curve.familywise(n_resamples=resamples, rng=seed) if familywise else None
    write_result(curve, form, output, familywise=family)


@click.command(cls=Command)
@detector_options
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
def diagnose(file: str, period: str | None, alpha: float, form: str | None, output: str | None, **options: Any) -> None:
    """Which null to trust: are events clustered, seasonal, in runs; do alarms have memory or a lag.

    FILE is CSV, TSV or Parquet, or - for standard input. Prints what was looked at and the null to pass as --null. Without
    --threshold, --quantile and --budget the top tenth of the scores are taken as alarms.
    """
    import nofluke as nf

    data = read_detector(file, output, options)
    result = data.noted(nf.diagnose(**data.arguments, period=_period(period), alpha=alpha))
    write_result(result, form or ("json" if form_of(output) == "json" else "text"), output)


@click.command(cls=Command)
@click.option("--seed", type=int, default=0, show_default=True, help="Which simulated series.")
@click.option("--report", metavar="FILE", callback=plain_file, help="Write a page about it, too.")
def demo(seed: int, report: str | None) -> None:
    """The main job on built-in data: simulated tweets about earthquakes."""
    import nofluke as nf

    if report is not None:
        from nofluke.show.report.page import check_plotly

        check_plotly()  # before the work
    quakes = nf.datasets.simulate_quakes(rng=seed)
    scores = nf.detectors.energy_transient(quakes.counts)
    result = nf.evaluate(quakes.truth, scores, quantile=0.9, tolerance=2)
    click.echo(
        "Simulated data, shaped like the earthquake example of Scharwächter and Müller (2020):\n"
        "daily tweets about earthquakes, scored by the energy transient (3 days over 14),\n"
        "against the days on which an earthquake struck. A hit may be two days early or late.\n"
    )
    write_result(result, "text", None)
    if report is not None:
        dated = nf.evaluate(quakes.truth, scores, quantile=0.9, tolerance=2, times=quakes.days)
        click.echo(f"\nOpen {dated.report(report, title='Simulated tweets about earthquakes')}")


@click.command(cls=Command)
@click.option(
    "-o",
    "--output",
    callback=directory,
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
    click.echo(f"\n{done.in_words()}\nOpen {done.directory / 'index.html'}")


@click.command(cls=Command)
@detector_options
@chance_options
@metric_option(
    "Another metric beside chance, such as vus-pr:window=100; nofluke metrics lists them. Repeat for several."
)
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
    callback=file_or_stream,
    default="report.html",
    show_default=True,
    metavar="FILE",
    help="The page to write; - for standard output.",
)
def report(
    file: str,
    metrics: tuple[str, ...],
    alpha: float,
    title: str | None,
    scripts: Any,
    output: str | None,
    **options: Any,
) -> None:
    """One page to open, send or print: the verdict, two sliders for threshold and tolerance, and every figure.

    FILE is CSV, TSV or Parquet, or - for standard input. Without --seed the seed is 0: the same input gives the same page.
    """
    import nofluke as nf
    from nofluke.show.report import Source, make_page, write_report
    from nofluke.show.report.page import check_plotly

    check_plotly()  # before the work
    if options["seed"] is None:
        options["seed"] = 0
    data = read_detector(file, output, options)
    result = data.noted(nf.evaluate(**data.arguments, **chance_arguments(options), alpha=alpha))
    roles = {
        role: options[role] for role in ("truth", "truth_start", "truth_end", "scores", "time", "mask", "predictions")
    }
    source = Source(
        file=file,
        columns={role: name for role, name in roles.items() if name is not None},
        command=_command_line(click.get_current_context()),
        time_format=options["time_format"],
        truth_file=options["truth_file"],
        missing=options["missing"],
        overlaps=options["overlaps"],
    )
    page = {"title": title, "scripts": scripts, "source": source, "metrics": metrics}
    if output is None:
        write(make_page(result, **page).rstrip("\n"), None)
    else:
        path = write_report(result, output, **page)
        click.echo(f"{result.verdict_in_words()}\nOpen {path}")


def _command_line(context: click.Context) -> str:
    """What was typed, with every option in full, ready to be pasted into a shell."""
    words, files = ["nofluke", context.info_name or ""], []
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is click.core.ParameterSource.COMMANDLINE:
            value = context.params[parameter.name or ""]
            if isinstance(value, tuple):
                words += [word for one in value for word in (parameter.opts[-1], str(one))]
                continue
            value = "-" if value is None else str(value)  # standard output: what was not typed is left out
            if isinstance(parameter, click.Argument):
                files.append(value)
            else:
                words += [parameter.opts[-1], value]
    # a name that begins with - is no option where -- stands before it; - alone is standard input
    dashed = any(name.startswith("-") and name != "-" for name in files)
    return shlex.join([*words, "--", *files] if dashed else [*words[:2], *files, *words[2:]])


def _period(text: str | None) -> int | str | None:
    """Steps as a number; anything else is left as it is, the name of a season."""
    if text is not None:
        with suppress(ValueError):
            return int(text)
    return text
