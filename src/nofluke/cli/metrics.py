"""The commands for any metric: against chance, chance alone, and which there are. Nothing is computed here."""

from __future__ import annotations

from typing import Any

import click

from nofluke.cli.arguments import asked, one_detector, read_detector, read_truth
from nofluke.cli.command import Command
from nofluke.cli.options import (
    cut_options,
    format_option,
    gate_format_option,
    gate_option,
    level_options,
    metric_option,
    null_options,
    output_option,
    plot_option,
    series_options,
    step_options,
    strata_option,
    truth_options,
)
from nofluke.cli.printing import verdict_code, write_result
from nofluke.errors import InputError


@click.command(
    cls=Command,
    examples=(
        "nofluke significance data.csv --truth label --scores z --metric auc-roc",
        "nofluke significance data.csv --truth label --scores z --metric vus-pr:window=10 --metric best-pa-f1 --seed 1",
        "nofluke significance data.csv --truth label --scores z --budget 5% --metric nab --gate",
    ),
)
@series_options
@cut_options
@metric_option("Such as vus-pr:window=100; nofluke metrics lists them. Repeat for several.")
@null_options
@strata_option
@gate_option
@plot_option()
@gate_format_option
@output_option
def significance(
    file: str | None, metrics: tuple[str, ...], gate: bool, form: str | None, output: str | None, **options: Any
) -> int:
    """Any metric, next to what chance gives on the same labels.

    FILE is CSV, TSV or Parquet, or - for standard input. Several metrics are measured on the same draws, and get a
    p-value corrected for having looked at all of them. Metrics of alarms need --predictions, or --scores with
    --threshold, --quantile or --budget.
    """
    _check(metrics)
    import nofluke as nf

    data = one_detector(read_detector(file, output, options), "significance")
    metric = metrics[0] if len(metrics) == 1 else list(metrics)
    result = asked(nf.significance, data, options, metric=metric)
    write_result(result, form, output)
    return verdict_code(result) if gate else 0


@click.command(
    cls=Command,
    examples=(
        "nofluke chance data.csv --truth label --metric best-pa-f1 --seed 1",
        "nofluke chance ranges.csv --n-steps 2000 --metric auc-roc --metric vus-pr:window=10",
    ),
)
@truth_options
@step_options
@metric_option("Such as best-pa-f1; nofluke metrics lists them. Repeat for several.")
@level_options
@format_option
@output_option
def chance(file: str, metrics: tuple[str, ...], form: str | None, output: str | None, **options: Any) -> None:
    """What chance gives in a metric, from the labels alone.

    This is the level that any detector has to exceed. FILE is CSV, TSV or Parquet, or - for standard input. With
    --n-steps, FILE lists events or ranges by their steps.
    """
    _check(metrics)
    import nofluke as nf
    from nofluke.inference.significance import ChanceLevels

    data = read_truth(file, output, options)
    levels = tuple(asked(nf.chance, data, options, metric=metric) for metric in dict.fromkeys(metrics))
    write_result(levels[0] if len(levels) == 1 else ChanceLevels(results=levels), form, output)


@click.command(cls=Command, examples=("nofluke metrics", "nofluke metrics --format json -o metrics.json"))
@format_option
@output_option
def metrics(form: str | None, output: str | None) -> None:
    """List all metrics, with their settings.

    A line each: what it needs, and its settings with their defaults. A setting goes after the name: --metric
    vus-pr:window=50.
    """
    from nofluke.metrics import Listing

    write_result(Listing.of_all(), form, output)


@click.command(cls=Command, examples=("nofluke presets", "nofluke presets szcore"))
@click.argument("wanted", metavar="[NAME]", required=False)
def presets(wanted: str | None) -> None:
    """Options that fields have agreed on, for --preset.

    A line for each: the argument, its value, and what it is in the field. An option is called as its argument, with
    dashes.
    """
    from nofluke.series import presets as every

    if wanted is not None:
        every.arguments_of(wanted)  # or there is none of that name
    click.echo(str(every.presets if wanted is None else every.presets[wanted.partition(":")[0].strip()]))


def _check(names: tuple[str, ...]) -> None:
    if not names:
        raise InputError(problem="name a metric", remedy="--metric NAME, such as auc-roc. nofluke metrics lists them")
