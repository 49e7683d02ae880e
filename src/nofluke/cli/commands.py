"""The commands about one detector, its page, planning, the demo and reproducing. Nothing is computed here."""

from __future__ import annotations

import shlex
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import click

from nofluke.cli.arguments import (
    Data,
    asked,
    familywise_of,
    named_detectors,
    number_of,
    one_detector,
    read,
    read_detector,
    time_format_of,
    time_of,
    tolerance_of,
)
from nofluke.cli.command import PRESET, Command, advising
from nofluke.cli.options import (
    chance_options,
    data_options,
    detector_options,
    detectors_options,
    directory,
    familywise_option,
    file_or_stream,
    fixed_seed_option,
    format_option,
    gate_format_option,
    gate_options,
    judging_options,
    method_options,
    metric_option,
    null_option,
    output_option,
    plot_option,
    report_option,
    seed_option,
    sides_in,
    strata_option,
    unit_option,
    zero_division_option,
)
from nofluke.cli.printing import extras, gate_code, wrapped, write, write_result
from nofluke.cli.values import DIRECTORY, PAGE, PATH, SHARE, Number, Threshold, Value, Values, list_option
from nofluke.errors import InputError


@click.command(
    cls=Command,
    examples=(
        "nofluke evaluate data.csv --truth label --scores z --quantile 0.9 --tolerance 2",
        "nofluke evaluate data.csv --truth label --scores z --time day --budget 5% --early 0 --late 2d --format json",
        "nofluke evaluate data.csv --truth-file events.csv --scores z --time day --quantile 0.9 --tolerance 1d -o result.csv",
        "nofluke evaluate --predictions-file alerts.csv --truth-file incidents.csv --span 2026-01-01/2026-03-31 "
        "--tolerance 10min --gate --plot hits.png",
    ),
)
@detector_options
@zero_division_option
@chance_options
@strata_option
@judging_options
@gate_options
@plot_option()
@gate_format_option
@output_option
def evaluate(file: str | None, form: str | None, output: str | None, **options: Any) -> int:
    """Precision and recall at one threshold, next to chance.

    FILE is CSV, TSV or Parquet, or - for standard input. A prediction counts within --tolerance of an event.
    """
    import nofluke as nf

    data = one_detector(read_detector(file, output, options), "evaluate")
    result = asked(nf.evaluate, data, options)
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
@plot_option()
@format_option
@output_option
def sweep(
    file: str, tolerances: tuple[str, ...] | None, unit: str, form: str | None, output: str | None, **options: Any
) -> None:
    """Precision and recall at many thresholds and tolerances.

    FILE is CSV, TSV or Parquet, or - for standard input. Every distinct score is a threshold, unless --threshold,
    --quantile or --budget is given. Text, Markdown and LaTeX show the best F1 of each tolerance; CSV and JSON have
    every cell.

    Values come as a list (0,1,2,4), as START:STOP:COUNT, COUNT evenly spaced values with both ends, or one option
    each.
    """
    import nofluke as nf

    data = read(file, output, options, outputs="--scores COLUMN")
    windows = [tolerance_of(t, None, None, unit) for t in tolerances or ("0",)]
    curve = asked(nf.sweep, data, options, tolerances=windows)
    if options["chance"]:
        _ = curve.chance  # once computed, it is shown
    write_result(curve, form, output, familywise=familywise_of(curve, options))


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
@click.option("--alpha", type=SHARE, default=0.05, help="Level of the findings.")
@format_option
@output_option
def diagnose(file: str | None, form: str | None, output: str | None, **options: Any) -> None:
    """Which null model to trust for these data, and why.

    Looks for clusters, seasons and runs of events, and for memory and lag of alarms. Prints what it found and the null
    to pass as --null. FILE is CSV, TSV or Parquet, or - for standard input. Without --threshold, --quantile and
    --budget, the top tenth of the scores are alarms.
    """
    import nofluke as nf

    data = one_detector(read_detector(file, output, options), "diagnose")
    period = options["period"]
    with suppress(TypeError, ValueError):  # steps as a number; anything else is the name of a season
        period = int(period)
    write_result(asked(nf.diagnose, data, options, period=period), form, output)


# ---- `nofluke report`: one detector, or several

ROLES = (
    *("truth", "truth_start", "truth_end", "scores", "time", "mask"),
    *("predictions", "predictions_start", "predictions_end"),
)


@click.command(
    cls=Command,
    examples=(
        "nofluke report data.csv --truth label --scores z --quantile 0.9 --tolerance 2 -o report.html",
        "nofluke report detectors.csv --truth label --scores z --scores tweets --budget 5% --tolerance 2",
    ),
)
@detectors_options
@null_option
@strata_option
@method_options
@fixed_seed_option
@metric_option(
    "Another metric beside chance, such as vus-pr:window=100; nofluke metrics lists them. Repeat for several."
)
@click.option("--alpha", type=SHARE, default=0.05, help="Level of the verdict.")
@click.option("--title", help="Heading of the page; by default the name of FILE.")
@click.option(
    "-o",
    "--output",
    callback=file_or_stream,
    default="report.html",
    type=PAGE,
    help="The page to write; - for standard output.",
)
def report(
    file: str | None,
    metrics: tuple[str, ...],
    alpha: float,
    title: str | None,
    output: str | None,
    **options: Any,
) -> None:
    """One HTML page: the verdict, sliders and every figure.

    Repeat --scores or --predictions to put several detectors side by side, each with its own page in the same file.
    FILE is CSV, TSV or Parquet, or - for standard input.
    """
    from nofluke.show.kit import check_kit

    check_kit()  # before the work
    several = len(named_detectors(options)) + (options["predictions_file"] is not None) > 1
    for role in ("scores", "predictions"):
        # one detector is an array, several are a dict by their names
        options[role] = (options[role] if several else options[role][0]) if options[role] else None
    data = read_detector(file, output, options, **({"outputs": None} if several else {}))
    if not several:
        found = data.arguments.get("predictions")
        several = isinstance(found, dict) and len(found) > 1
        data = data if several else one_detector(data, "report")
    null = data.arguments.pop("null", options["null"])
    chance = {"null": null, "method": options["method"], "n_resamples": options["resamples"], "rng": options["seed"]}
    page = {"title": title, "source": _source(file, options), "metrics": metrics}
    about = _several if several else _one
    text, said = about(data, {**chance, "alpha": alpha}, output, page)
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


def _source(file: str | None, options: dict[str, Any]) -> Any:
    from nofluke.series.reading import test_part_column
    from nofluke.show.report import Source

    columns: dict[str, str] = {}
    for role in ROLES:
        named = options[role]
        if named is not None:
            listed = role == "predictions" and options["predictions_file"] is not None
            one = named if isinstance(named, str) else named[0] if listed else None
            columns |= {role: one} if one is not None else {f"{role}:{name}": name for name in named}
    if (flagged := test_part_column(number_of(options["test_part"]))) is not None:
        columns["test_part"] = flagged
    as_typed = ("truth_file", "truth_where", "predictions_file", "where", "missing", "overlaps")
    same = {name: options[name] for name in as_typed}
    for name in ("time_format", "truth_time_format", "predictions_time_format"):
        same[name] = time_format_of(options[name], options["time_format"])
    return Source(
        file=file,
        columns=columns,
        command=_command_line(click.get_current_context()),
        by=options["detectors_by"],
        span=None if options["span"] is None else _as_written(options["span"].ends, options["time_format"]),
        **same,
    )


def _as_written(ends: tuple[str, str], time_format: str | None) -> tuple[Any, Any]:
    """The ends of a span as Python takes them: dates in ISO 8601, numbers as such."""
    begin, end = (time_of(end, time_format_of(time_format)) for end in ends)
    return tuple(str(one) if isinstance(one, date) else one for one in (begin, end))  # type: ignore[return-value]


def _command_line(context: click.Context) -> str:
    """What was typed, with every option in full, ready to be pasted into a shell."""
    words, files = ["nofluke", context.info_name or ""], []
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is click.core.ParameterSource.COMMANDLINE:
            value = context.params.get(parameter.name or "", context.meta.get(PRESET))
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


# ---- `nofluke power`: the power of so many events, or how many a power takes


@click.command(
    cls=Command,
    examples=(
        "nofluke power --recall 0.6 --coverage 20% --power 0.8",
        "nofluke power --recall 0.6 --coverage 20% --events 10 --steps 2000",
        "nofluke power --precision 0.3 --share-alarms 2% --events 30 --steps 3000 --tolerance 2 --resamples 200 --seed 1",
        "nofluke power --like result.json --power 0.9",
    ),
)
@click.option(
    "--like",
    type=click.Path(dir_okay=False, path_type=Path),
    help="JSON of evaluate, coincidence or compare: how many more events, and how much more time, at its rates.",
)
@click.option("--recall", type=SHARE, help="The share of events that the detector truly finds.")
@click.option("--precision", type=SHARE, help="Or the share of its alarms that are right: power by simulation.")
@click.option("--coverage", type=Value("SHARE"), help="The share of steps near an alarm, such as 20% or 0.2.")
@click.option(
    "--share-alarms", type=Value("SHARE"), help="Or the share of predicted steps, if these are single random ones."
)
@click.option("--tolerance", type=Value("LENGTH"), help="In steps, for --share-alarms. Default 0.")
@sides_in("--late -1 --early 3", "between 1 and 3 steps before")
@click.option("--events", "n_events", type=int, help="How many events: prints the power.")
@click.option("--power", type=SHARE, help="Or the power asked for: prints how many events it takes.  [default: 0.8]")
@click.option("--steps", "n_steps", type=int, help="How many steps there are.")
@click.option("--steps-per-event", type=Number(), help="Or how many for each event.  [default: 200]")
@click.option("--alpha", type=SHARE, default=0.05, help="Level of the test.")
@click.option("--resamples", type=int, default=1_000, help="Runs of the simulation, for --precision.")
@seed_option
@format_option
@output_option
def power(
    like: Path | None,
    recall: float | None,
    precision: float | None,
    n_events: int | None,
    power: float | None,
    form: str | None,
    output: str | None,
    **options: Any,
) -> None:
    """How many events it takes to tell skill from chance.

    With --events, how likely that many are to tell it. Needs no data: state the recall, or the precision, that would be
    worth finding. With --like, at the rates of a result, under its null: for recall's p and for the verdict.
    """
    import nofluke as nf

    if like is not None:
        rates = {"--coverage": "coverage", "--share-alarms": "share_alarms", "--steps": "n_steps"}
        rates["--steps-per-event"] = "steps_per_event"
        given = [option for option, name in rates.items() if options[name] is not None]
        given += ["--events"] * (n_events is not None)
        if given:
            raise InputError(problem=f"--like has rates of its own: {given[0]} is one too many", remedy="leave one out")
        from nofluke.inference.needed import needed_like

        found = needed_like(read_json(like), 0.8 if power is None else power, recall, precision)
        write_result(found, form, output)
        return
    if n_events is not None and power is not None:
        raise InputError(
            problem="--events asks for the power, --power for the number of events", remedy="pass one of the two"
        )
    plan = {
        "recall": recall,
        "coverage": number_of(options["coverage"]),
        "share_alarms": number_of(options["share_alarms"]),
        "tolerance": tolerance_of(options["tolerance"], options["early"], options["late"], "steps"),
    }
    data = Data(arguments=plan, notes=())
    if n_events is not None:
        result = asked(nf.power, data, options, precision=precision, n_events=n_events)
    elif precision is not None:
        raise InputError(
            problem="--precision needs --events",
            remedy="the number of events for a power is computed for --recall only",
        )
    elif recall is None:
        raise InputError(problem="name what the detector is supposed to have", remedy="--recall SHARE, such as 0.6")
    else:
        result = asked(nf.sample_size, data, options, power=0.8 if power is None else power)
    write_result(result, form, output)


def read_json(path: Path) -> Any:
    """What a JSON file holds."""
    import json

    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(argument="like", value=str(path), problem=f"cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise InputError(argument="like", value=str(path), problem=f"is not JSON: {error}") from None


# ---- `nofluke demo`, and `nofluke reproduce`: the paper's study, or the pages about point adjustment and about NAB


@click.command(cls=Command, examples=("nofluke demo", "nofluke demo --seed 1 --report demo.html"))
@click.option("--seed", type=int, default=0, help="Which simulated series.")
@report_option
def demo(seed: int, report: str | None) -> None:
    """Judge a detector on simulated tweets about earthquakes."""
    import nofluke as nf

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


_ONE_PAGE = {
    "--simulated": "--simulated goes with the paper's study: published values are about public labels. Leave it out.",
    "--point-adjustment": "--point-adjustment and --nab are two pages: ask for one at a time.",
}


@click.command(
    cls=Command,
    examples=(
        "nofluke reproduce -o out/",
        "nofluke reproduce --simulated -o out/",
        "nofluke reproduce --point-adjustment -o point-adjustment/",
        "nofluke reproduce --nab NAB/ -o nab/",
    ),
)
@click.option(
    "-o",
    "--output",
    callback=directory,
    required=True,
    type=DIRECTORY,
    help="Where to write index.html, figures, numbers and claims.json.",
)
@click.option("--simulated", is_flag=True, help="Simulated data in place of the paper's: needs no network.")
@fixed_seed_option
@click.option(
    "--permutations",
    type=int,
    default=10_000,
    help="Random placements, where the paper simulates; random scores with --point-adjustment; draws with --nab.",
)
@click.option(
    "--point-adjustment",
    is_flag=True,
    help="Another page: published point-adjusted F1 beside that of random scores, on MSL, SMAP, SMD and PSM.",
)
@click.option(
    "--nab",
    type=PATH,
    help="Another page: NAB's published detectors beside chance, from a clone of numenta/NAB or a table of its scores.",
)
def reproduce(
    output: str, simulated: bool, seed: int, permutations: int, point_adjustment: bool, nab: str | None
) -> None:
    """Rerun the paper: every figure, table, number and claim.

    Says for each claim whether it holds. Takes data and labels from the directory named by NOFLUKE_DATA, or downloads
    them once and checks them.
    """
    from nofluke import reproduce as pages

    if (simulated and (point_adjustment or nab)) or (point_adjustment and nab):
        one = "--simulated" if simulated else "--point-adjustment"
        raise click.UsageError(_ONE_PAGE[one])
    done: pages.Reproduction | pages.PointAdjustment | pages.NabTable
    if nab is not None:
        done = pages.reproduce_nab(nab, output, seed=seed, n_resamples=permutations)
        write_result(done, "text", None)
        click.echo()
    elif point_adjustment:
        done = pages.reproduce_point_adjustment(output, seed=seed, n_resamples=permutations)
    else:
        done = pages.reproduce(output, simulated=simulated, seed=seed, permutations=permutations)
    for claim in done.claims:
        click.echo(wrapped(f"{claim.outcome + ':':<19}{claim.statement}", hanging=19))
    click.echo(f"\n{wrapped(done.in_words())}\nOpen {done.directory / 'index.html'}")
