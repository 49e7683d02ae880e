"""The command that compares detectors. Nothing is computed here."""

from __future__ import annotations

from typing import Any

import click

from nofluke.cli.arguments import named_detectors, read_detector
from nofluke.cli.command import Command
from nofluke.cli.options import detectors_options, format_option, output_option
from nofluke.cli.printing import write_result
from nofluke.cli.values import SHARE
from nofluke.errors import InputError


@click.command(
    cls=Command,
    examples=(
        "nofluke compare detectors.csv --truth label --scores z --scores tweets --budget 5% --tolerance 2",
        "nofluke compare detectors.csv --truth label --scores z --predictions alarm --quantile 0.9 --tolerance 2 -o comparison.md",
    ),
)
@detectors_options
@click.option("--alpha", type=SHARE, default=0.05, show_default=True, help="Level of the tests, over all pairs.")
@click.option("--level", type=SHARE, default=0.95, show_default=True, help="Level of the intervals.")
@click.option("--resamples", type=int, default=9_999, show_default=True, help="Random swaps, where all are too many.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the swaps.")
@format_option
@output_option
def compare(
    file: str,
    alpha: float,
    level: float,
    resamples: int,
    seed: int,
    form: str | None,
    output: str | None,
    **options: Any,
) -> None:
    """Which of several detectors is better, and could it be luck?

    All pairs, with intervals and p-values corrected by Holm. FILE is CSV, TSV or Parquet, or - for standard input. One
    of --threshold, --quantile and --budget serves all scores; with the latter two, each detector has its own
    threshold.
    """
    import nofluke as nf

    named = named_detectors(options)
    if len(named) == 1 and "," in named[0]:
        option = "--scores" if options["scores"] else "--predictions"
        each = " ".join(f"{option} {column.strip()}" for column in named[0].split(","))
        raise InputError(
            problem=f"{option} {named[0]} names one column", remedy=f"repeat the option for each detector, {each}"
        )
    if len(named) < 2:
        raise InputError(
            problem="name two detectors or more", remedy="repeat --scores COLUMN, or --predictions COLUMN for alarms"
        )
    options |= {role: options[role] or None for role in ("scores", "predictions")}
    data = read_detector(file, output, options, outputs=None)
    result = nf.compare(**data.arguments, alpha=alpha, level=level, n_resamples=resamples, rng=seed)
    write_result(data.noted(result), form, output)
