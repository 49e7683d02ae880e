"""The commands that compare: detectors on one series, methods by a table of values. Nothing is computed here."""

from __future__ import annotations

from typing import Any

import click

from nofluke.cli.arguments import asked, named_detectors, read_detector
from nofluke.cli.command import Command
from nofluke.cli.options import detectors_options, format_option, output_option, plot_option, report_option
from nofluke.cli.printing import write_result
from nofluke.cli.values import COLUMN, FILE, SHARE
from nofluke.errors import InputError, shown


@click.command(
    cls=Command,
    examples=(
        "nofluke compare detectors.csv --truth label --scores z --scores tweets --budget 5% --tolerance 2",
        "nofluke compare detectors.csv --truth label --scores z --predictions alarm --quantile 0.9 --tolerance 2 -o comparison.md",
        "nofluke compare --predictions-file alerts.csv --by rule --truth-file incidents.csv --span 2026-01-01/2026-03-31 "
        "--tolerance 10min",
    ),
)
@detectors_options
@click.option("--alpha", type=SHARE, default=0.05, help="Level of the tests, over all pairs.")
@click.option("--level", type=SHARE, default=0.95, help="Level of the intervals.")
@click.option("--resamples", type=int, default=9_999, help="Random swaps, where all are too many.")
@click.option("--seed", type=int, default=0, help="Seed of the swaps.")
@plot_option()
@format_option
@output_option
def compare(file: str | None, form: str | None, output: str | None, **options: Any) -> None:
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
    listed = options["predictions_file"] is not None
    if len(named) + listed < 2 and not (listed and options["detectors_by"] is not None):
        raise InputError(
            problem="name two detectors or more",
            remedy="repeat --scores COLUMN, or --predictions COLUMN for alarms, or tell those of --predictions-file apart by --by COLUMN",
        )
    options |= {role: options[role] or None for role in ("scores", "predictions")}
    data = read_detector(file, output, options, outputs=None)
    found = data.arguments.get("predictions")
    if isinstance(found, dict) and len(found) + len(options["scores"] or ()) < 2:
        raise InputError(
            problem=f"--by found one detector, {shown(next(iter(found)))}", remedy="judge it by nofluke evaluate"
        )
    write_result(asked(nf.compare, data, options), form, output)


# ---- `nofluke rank`

KINDS = click.Choice(["sources", "series"])


@click.command(
    cls=Command,
    examples=(
        "nofluke rank table.csv --series file --source dataset",
        "nofluke rank uni.csv --series file --source '_([^_]+)_' --methods '!ts_len' --plot ranking.pdf",
        "nofluke rank values.csv --series file --method-column detector --value VUS-PR -o ranking.tex",
        "nofluke rank 'results/*.csv' --series file --value VUS-PR --report ranking.html",
    ),
)
@click.argument("table", metavar="FILE...", type=FILE, nargs=-1, required=True)
@click.option("--series", type=COLUMN, help="Column that names the series.")
@click.option(
    "--method-column", "method", type=COLUMN, help="For tables with a row for each series and method: who it is about."
)
@click.option(
    "--value",
    type=COLUMN,
    help="With --method-column, of several files, or of a study: the column of values. Default f1 of a study.",
)
@click.option(
    "--source",
    type=COLUMN,
    help="Where a series comes from: a column, or a pattern whose group is in its name, as '_([^_]+)_' in 001_NAB_id_1.",
)
@click.option(
    "--methods",
    metavar="PATTERN",
    multiple=True,
    help="Which columns are methods, by name or pattern; those after ! are left out. Repeat for several.",
)
@click.option("--weigh", type=KINDS, default="series", help="What has the same weight in means.")
@click.option(
    "--better",
    type=click.Choice(["higher", "lower"]),
    default="higher",
    help="Which values are better.",
)
@click.option(
    "--speaks-for",
    type=KINDS,
    help="New sources, or more series of the same sources. Default: sources, where they are known.",
)
@click.option("--alpha", type=SHARE, default=0.05, help="Level of the tests, over all pairs.")
@click.option("--resamples", type=int, default=9_999, help="Random exchanges, where all are too many.")
@click.option("--seed", type=int, default=0, help="Seed of the exchanges.")
@click.option(
    "--classical",
    is_flag=True,
    help="Add mean ranks, and what Friedman, Nemenyi and Wilcoxon say, which take series for independent.",
)
@click.option(
    "--rows",
    type=click.Choice(["methods", "pairs"]),
    default="methods",
    help="What a row of the table is.",
)
@plot_option("--diagram")
@report_option
@format_option
@output_option
def rank(
    table: tuple[str, ...],
    methods: tuple[str, ...],
    resamples: int,
    seed: int,
    classical: bool,
    rows: str,
    report: str | None,
    form: str | None,
    output: str | None,
    **options: Any,
) -> None:
    """Which methods differ, by a table of values?

    FILE is CSV, TSV or Parquet: a row for each series and a column for each method, or a row for each of both. Several
    files have a method each. The folder of a study is ranked by its cells. All pairs are compared by exchanging values
    between methods within sources, so that the answer holds for new ones; without --source, within series.
    """
    import nofluke as nf

    found = nf.rank(
        table[0] if len(table) == 1 else list(table),
        methods=list(methods) or None,
        n_resamples=resamples,
        rng=seed,
        **options,
    )
    if report is not None:
        found.report(report)
    write_result(found, form, output, rows=rows, classical=found.classical() if classical else None)
    if report is not None:
        click.echo(f"Wrote {report}", err=True)
