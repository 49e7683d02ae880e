"""`nofluke power`: the power of so many events, or how many a power takes. Nothing is computed here."""

from __future__ import annotations

from typing import Any

import click

from nofluke.cli.arguments import number_of, tolerance_of
from nofluke.cli.chance_options import seed_option
from nofluke.cli.command import Command
from nofluke.cli.options import format_option, output_option, sides_in
from nofluke.cli.printing import write_result
from nofluke.cli.values import SHARE, Number, Value
from nofluke.errors import InputError


@click.command(
    cls=Command,
    examples=(
        "nofluke power --recall 0.6 --coverage 20% --power 0.8",
        "nofluke power --recall 0.6 --coverage 20% --events 10 --steps 2000",
        "nofluke power --precision 0.3 --share-alarms 2% --events 30 --steps 3000 --tolerance 2 --resamples 200 --seed 1",
    ),
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
@click.option("--alpha", type=SHARE, default=0.05, show_default=True, help="Level of the test.")
@click.option(
    "--resamples", type=int, default=1_000, show_default=True, help="Runs of the simulation, for --precision."
)
@seed_option
@format_option
@output_option
def power(
    recall: float | None,
    precision: float | None,
    coverage: str | None,
    share_alarms: str | None,
    tolerance: str | None,
    early: str | None,
    late: str | None,
    n_events: int | None,
    power: float | None,
    n_steps: int | None,
    steps_per_event: float | None,
    alpha: float,
    resamples: int,
    seed: int | None,
    form: str | None,
    output: str | None,
) -> None:
    """How many events it takes to tell skill from chance.

    With --events, how likely that many are to tell it. Needs no data: state the recall, or the precision, that would be
    worth finding.
    """
    import nofluke as nf

    if n_events is not None and power is not None:
        raise InputError(
            problem="--events asks for the power, --power for the number of events", remedy="pass one of the two"
        )
    plan: dict[str, Any] = {
        "recall": recall,
        "coverage": number_of(coverage),
        "share_alarms": number_of(share_alarms),
        "tolerance": tolerance_of(tolerance, early, late, "steps"),
        "n_steps": n_steps,
        "steps_per_event": steps_per_event,
        "alpha": alpha,
    }
    result: Any
    if n_events is not None:
        result = nf.power(**plan, precision=precision, n_events=n_events, n_resamples=resamples, rng=seed)
    elif precision is not None:
        raise InputError(
            problem="--precision needs --events",
            remedy="the number of events for a power is computed for --recall only",
        )
    elif recall is None:
        raise InputError(problem="name what the detector is supposed to have", remedy="--recall SHARE, such as 0.6")
    else:
        result = nf.sample_size(**plan, power=0.8 if power is None else power)
    write_result(result, form, output)
