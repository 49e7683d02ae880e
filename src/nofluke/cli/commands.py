"""The commands. Nothing is computed here; everything but click is imported when a command runs."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import click

from nofluke.cli.arguments import chance_arguments, read, read_detector, tolerance_of, within_strata
from nofluke.cli.chance_options import chance_options, familywise_option, judging_options, strata_option
from nofluke.cli.command import Command
from nofluke.cli.completion import PAGE
from nofluke.cli.options import (
    data_options,
    detector_options,
    format_option,
    gate_format_option,
    gate_options,
    output_option,
    plain_file,
    unit_option,
    zero_division_option,
)
from nofluke.cli.printing import extras, gate_code, write_result
from nofluke.cli.values import SHARE, Threshold, Values, list_option


@click.command(
    cls=Command,
    examples=(
        "nofluke evaluate data.csv --truth label --scores z --quantile 0.9 --tolerance 2",
        "nofluke evaluate data.csv --truth label --scores z --time day --budget 5% --early 0 --late 2d --format json",
        "nofluke evaluate data.csv --truth-file events.csv --scores z --time day --quantile 0.9 --tolerance 1d -o result.csv",
        "nofluke evaluate data.csv --truth label --predictions alarm --tolerance 2 --gate",
    ),
)
@detector_options
@zero_division_option
@chance_options
@strata_option
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
    """Precision and recall at one threshold, next to chance.

    FILE is CSV, TSV or Parquet, or - for standard input. A prediction counts within --tolerance of an event.
    """
    import nofluke as nf

    data = read_detector(file, output, options)
    data, null = within_strata(options["null"], options["strata"], data)
    result = data.noted(
        nf.evaluate(
            **data.arguments,
            **chance_arguments(options) | {"null": null},
            zero_division=float(zero_division),
            alternative=alternative,
            ties=ties,
            alpha=alpha,
        )
    )
    write_result(result, form, output, **extras(options))
    return gate_code(result, options)


@click.command(
    cls=Command,
    examples=(
        "nofluke sweep data.csv --truth label --scores z --tolerance 0,1,2,4",
        "nofluke sweep data.csv --truth label --scores z --quantile .5:.99:50 --tolerance 0,2 -o sweep.csv",
        "nofluke sweep data.csv --truth label --scores z --time day --budget 1%,5% --tolerance 1d,2d --familywise --seed 1",
    ),
)
@data_options
@list_option("--threshold", "thresholds", kind=Values("NUMBERS", Threshold()), help="Thresholds: 2,3,5 or 2:5:7.")
@list_option(
    "--quantile",
    "quantiles",
    kind=Values("NUMBERS", SHARE, shares=True),
    help="Thresholds as quantiles of the scores: .9,.99 or .5:.99:50.",
)
@list_option(
    "--budget",
    "budgets",
    kind=Values("SHARES", shares=True),
    help="Thresholds by the share of steps to predict at most: 1%,5% or .01,.05.",
)
@list_option(
    "--tolerance",
    "tolerances",
    kind=Values("LENGTHS"),
    help="Tolerances in steps (0,1,2,4) or, on a clock, in time (30min,1h). 0:8:5 is 0, 2, 4, 6 and 8. Default 0.",
)
@unit_option
@chance_options
@strata_option
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
    """Precision and recall at many thresholds and tolerances.

    FILE is CSV, TSV or Parquet, or - for standard input. Every distinct score is a threshold, unless --threshold,
    --quantile or --budget is given. Text, Markdown and LaTeX show the best F1 of each tolerance; CSV and JSON have
    every cell.

    Values come as a list (0,1,2,4), as START:STOP:COUNT, COUNT evenly spaced values with both ends, or one option
    each.
    """
    import nofluke as nf

    data, within = within_strata(null, options["strata"], read(file, output, **options))
    curve = data.noted(
        nf.sweep(
            **data.arguments,
            tolerances=[tolerance_of(t, None, None, unit) for t in tolerances or ("0",)],
            thresholds=list(thresholds) or None,
            quantiles=list(quantiles) or None,
            budgets=list(budgets) or None,
            null=within,
            method=method,
            n_resamples=resamples,
            rng=seed,
        )
    )
    if chance:
        _ = curve.chance  # once computed, it is shown
    family = curve.familywise(n_resamples=resamples, rng=seed) if familywise else None
    write_result(curve, form, output, familywise=family)


@click.command(
    cls=Command,
    examples=(
        "nofluke diagnose data.csv --truth label --scores z --quantile 0.9 --tolerance 2",
        "nofluke diagnose data.csv --truth label --scores z --time day --period 'day of week' --format json",
    ),
)
@detector_options
@click.option(
    "--period",
    metavar="PERIOD",
    help='The season to look for: steps (24), or a rule of the calendar such as "hour of week". Default: all rules, with dates.',
)
@click.option("--alpha", type=SHARE, default=0.05, show_default=True, help="Level of the findings.")
@format_option
@output_option
def diagnose(file: str, period: str | None, alpha: float, form: str | None, output: str | None, **options: Any) -> None:
    """Which null model to trust for these data, and why.

    Looks for clusters, seasons and runs of events, and for memory and lag of alarms. Prints what it found and the null
    to pass as --null. FILE is CSV, TSV or Parquet, or - for standard input. Without --threshold, --quantile and
    --budget, the top tenth of the scores are alarms.
    """
    import nofluke as nf

    data = read_detector(file, output, options)
    result = data.noted(nf.diagnose(**data.arguments, period=_period(period), alpha=alpha))
    write_result(result, form, output)


@click.command(cls=Command, examples=("nofluke demo", "nofluke demo --seed 1 --report demo.html"))
@click.option("--seed", type=int, default=0, show_default=True, help="Which simulated series.")
@click.option("--report", type=PAGE, callback=plain_file, help="Write an HTML page about it, too.")
def demo(seed: int, report: str | None) -> None:
    """Judge a detector on simulated tweets about earthquakes."""
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
