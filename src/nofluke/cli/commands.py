"""The commands. Nothing is computed here; everything but click is imported when a command runs."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import click

from nofluke.cli.arguments import chance_arguments, read, read_detector, tolerance_of
from nofluke.cli.options import (
    Threshold,
    chance_options,
    data_options,
    detector_options,
    familywise_option,
    finite,
    format_option,
    gate_format_option,
    gate_options,
    judging_options,
    output_option,
    plain_file,
    unit_option,
    zero_division_option,
)
from nofluke.cli.printing import extras, gate_code, write_result
from nofluke.cli.wording import Command


@click.command(cls=Command)
@detector_options
@zero_division_option
@chance_options
@judging_options
@gate_options
@gate_format_option
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
@format_option
@output_option
def diagnose(file: str, period: str | None, alpha: float, form: str | None, output: str | None, **options: Any) -> None:
    """Which null to trust: are events clustered, seasonal, in runs; do alarms have memory or a lag.

    FILE is CSV, TSV or Parquet, or - for standard input. Prints what was looked at and the null to pass as --null.
    Without --threshold, --quantile and --budget the top tenth of the scores are taken as alarms.
    """
    import nofluke as nf

    data = read_detector(file, output, options)
    result = data.noted(nf.diagnose(**data.arguments, period=_period(period), alpha=alpha))
    write_result(result, form, output)


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


def _period(text: str | None) -> int | str | None:
    """Steps as a number; anything else is left as it is, the name of a season."""
    if text is not None:
        with suppress(ValueError):
            return int(text)
    return text
