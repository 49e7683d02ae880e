"""Options for what chance does, and for how a result is compared with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from nofluke.cli.completion import COLUMN, NULL
from nofluke.cli.options import several
from nofluke.cli.values import SHARE

STATISTICS = ("sttc", "event-synchronisation", "matching")

seed_option = click.option("--seed", type=int, help="Seed of Monte Carlo; without it a fresh one is drawn and named.")


def null_of(names: str) -> Callable[[Any], Any]:
    """--null, with the names that the command takes."""
    return click.option(
        "--null",
        default="auto",
        show_default=True,
        type=NULL,
        help="What chance does. auto picks the null that suits the data, and says why. Or, with settings after a colon: "
        f"{names}.",
    )


_NULLS = (
    "permutation, circular-shift, local-shift:reach=50, local-permutation, jitter:window=1h, "
    "seasonal:period=24,bins=12, period-shuffle:period=day, interval-shuffle, segments, blocks:length=48, bernoulli, stationary"
)
strata_option = click.option(
    "--strata",
    type=COLUMN,
    help="Events stay within their stratum: a column of labels, or a rule of the calendar such as 'hour of week'. "
    "With --null seasonal, or without --null.",
)
null_option = null_of(_NULLS)
null_of_study_option = null_of(f"{_NULLS}, series-exchange")
method_options = several(
    click.option(
        "--method",
        type=click.Choice(["auto", "exact", "montecarlo", "saddlepoint", "binomial"]),
        default="auto",
        show_default=True,
        help="How chance is computed; auto is exact wherever that takes seconds.",
    ),
    click.option(
        "--resamples", type=int, default=10_000, show_default=True, help="Number of Monte Carlo permutations."
    ),
)
chance_options = several(null_option, method_options, seed_option)
judging_options = several(
    click.option(
        "--alternative",
        type=click.Choice(["greater", "less", "two-sided"]),
        default="greater",
        show_default=True,
        help="Which hits count as extreme.",
    ),
    click.option(
        "--ties", type=click.Choice(["full", "mid"]), default="full", show_default=True, help="mid gives mid-p-values."
    ),
    click.option("--alpha", type=SHARE, default=0.05, show_default=True, help="Level of the verdict and the gate."),
    click.option("--test-f1", is_flag=True, help="Test F1 even for series over 100,000 steps, and in JSON and CSV."),
    click.option(
        "--statistic",
        "statistics",
        type=click.Choice(STATISTICS),
        multiple=True,
        help="Another statistic to test, by simulation: spike time tiling coefficient, event synchronisation or one-to-one "
        "matching. Repeat for several.",
    ),
)
familywise_option = click.option(
    "--familywise",
    is_flag=True,
    help="Test the best of all cells against chance's best: by all rotations where they can be gone through, else by Monte Carlo.",
)
