"""The command that writes a report, about one detector or several. Nothing is computed here."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

import click

from nofluke.cli.arguments import (
    Data,
    chance_arguments,
    named_detectors,
    number_of,
    read_detector,
    time_format_of,
    within_strata,
)
from nofluke.cli.chance_options import method_options, null_option, strata_option
from nofluke.cli.command import Command
from nofluke.cli.completion import PAGE
from nofluke.cli.metric_options import metric_option
from nofluke.cli.options import detectors_options, file_or_stream
from nofluke.cli.printing import wrapped, write
from nofluke.cli.values import SHARE
from nofluke.cli.wording import advising

ROLES = ("truth", "truth_start", "truth_end", "scores", "time", "mask", "predictions")


@click.command(
    cls=Command,
    examples=(
        "nofluke report data.csv --truth label --scores z --quantile 0.9 --tolerance 2 -o report.html",
        "nofluke report detectors.csv --truth label --scores z --scores tweets --budget 5% --tolerance 2 --scripts cdn",
    ),
)
@detectors_options
@null_option
@strata_option
@method_options
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Random seed; the same seed gives identical output."
)
@metric_option(
    "Another metric beside chance, such as vus-pr:window=100; nofluke metrics lists them. Repeat for several."
)
@click.option("--alpha", type=SHARE, default=0.05, show_default=True, help="Level of the verdict.")
@click.option("--title", help="Heading of the page; by default the name of FILE.")
@click.option(
    "--scripts",
    type=click.Choice(["inline", "cdn"]),
    default="inline",
    show_default=True,
    help="Embed plotly's script (5 MB), so that the page needs no network; or let the page fetch it.",
)
@click.option(
    "-o",
    "--output",
    callback=file_or_stream,
    default="report.html",
    show_default=True,
    type=PAGE,
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
    """One HTML page: the verdict, sliders and every figure.

    Repeat --scores or --predictions to put several detectors side by side, each with its own page in the same file.
    FILE is CSV, TSV or Parquet, or - for standard input.
    """
    from nofluke.show.report.page import check_plotly

    check_plotly()  # before the work
    several = len(named_detectors(options)) > 1
    for role in ("scores", "predictions"):
        # one detector is an array, several are a dict by their names
        options[role] = (options[role] if several else options[role][0]) if options[role] else None
    data = read_detector(file, output, options, **({"outputs": None} if several else {}))
    data, null = within_strata(options["null"], options["strata"], data)
    page = {"title": title, "scripts": scripts, "source": _source(file, options), "metrics": metrics}
    about = _several if several else _one
    text, said = about(data, {**chance_arguments(options), "null": null, "alpha": alpha}, output, page)
    if output is None:
        write(text.rstrip("\n"), None)
    else:
        click.echo(f"{wrapped(advising(click.get_current_context())(said))}\nOpen {text}")


def _one(data: Data, chance: dict[str, Any], output: str | None, page: dict[str, Any]) -> tuple[str, str]:
    """The page itself, or where it was written; and the verdict in words."""
    import nofluke as nf
    from nofluke.show.report import make_page, write_report

    result = data.noted(nf.evaluate(**data.arguments, **chance))
    made = make_page(result, **page) if output is None else str(write_report(result, output, **page))
    return made, result.verdict_in_words()


def _several(data: Data, chance: dict[str, Any], output: str | None, page: dict[str, Any]) -> tuple[str, str]:
    """The same for several detectors."""
    from nofluke.inference.report import evaluate_several
    from nofluke.show.several import make_several_page, verdict_in_words, write_several

    arguments = {"scores": None, **data.arguments}
    found = evaluate_several(**arguments, chance=chance)
    results = {name: data.noted(result) for name, result in found.results.items()}
    found = replace(found, comparison=data.noted(found.comparison), results=results)
    made = make_several_page(found, **page) if output is None else str(write_several(found, output, **page))
    return made, verdict_in_words(found)


def _source(file: str, options: dict[str, Any]) -> Any:
    from nofluke.series.reading import is_column
    from nofluke.show.report import Source

    columns: dict[str, str] = {}
    for role in ROLES:
        named = options[role]
        if named is not None:
            columns |= {role: named} if isinstance(named, str) else {f"{role}:{name}": name for name in named}
    if is_column(number_of(options["test_part"])):
        columns["test_part"] = options["test_part"]
    return Source(
        file=file,
        columns=columns,
        command=_command_line(click.get_current_context()),
        time_format=time_format_of(options["time_format"]),
        truth_time_format=time_format_of(options["truth_time_format"], options["time_format"]),
        truth_file=options["truth_file"],
        missing=options["missing"],
        overlaps=options["overlaps"],
    )


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
