"""Options of commands that take metrics by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from nofluke.cli.chance_options import seed_option
from nofluke.cli.completion import COLUMN, METRIC, NULL
from nofluke.cli.options import several
from nofluke.cli.values import SHARE, Value
from nofluke.errors import InputError, joined


def _known(_context: click.Context, option: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    """Let only metrics through, before any file is read; their settings are none of the command's options."""
    if names:
        from nofluke.metrics import get

        for name in names:
            try:
                get(name)
            except InputError as error:
                about = error if error.argument == "metric" else InputError(value=name, remedy=str(error))
                told = InputError(
                    argument=option.opts[0], value=about.value, problem=about.problem, remedy=about.remedy
                )
                raise InputError(problem=joined(" ", [told.words, "See nofluke metrics."])) from None
    return names


def metric_option(about: str) -> Callable[[Any], Any]:
    """--metric, which may be repeated."""
    return click.option("--metric", "metrics", type=METRIC, multiple=True, callback=_known, help=about)


def _drawing(default: int) -> tuple[Any, ...]:
    return (
        click.option("--resamples", type=int, default=default, show_default=True, help="Random draws of the null."),
        seed_option,
        click.option("--workers", type=int, help="Threads; by default as many as there are cores. Changes no number."),
        click.option("--alpha", type=SHARE, default=0.05, show_default=True, help="Significance level."),
    )


null_options = several(
    click.option(
        "--null",
        default="auto",
        show_default=True,
        type=NULL,
        help="What chance does: auto takes the null that the data allow and says why. Or, with settings after a colon: "
        "circular-shift, local-shift:reach=50, segments, random-scores:phi=0.9, score-permutation, and those of evaluate.",
    ),
    click.option(
        "--stop-after",
        type=int,
        metavar="NUMBER",
        help="Stop at the draw at which so many have reached the value. For one metric.",
    ),
    click.option(
        "--alternative",
        type=click.Choice(["greater", "less", "two-sided"]),
        help="Which values count as extreme; by default the better ones.",
    ),
    *_drawing(10_000),
    click.option(
        "--groups",
        type=COLUMN,
        help="Column that tells several series apart, which stand one after the other: each is rotated within itself.",
    ),
)
level_options = several(
    click.option(
        "--null",
        default="random-scores",
        show_default=True,
        type=NULL,
        help="random-scores, or with a memory random-scores:phi=0.9.",
    ),
    click.option(
        "--budget", type=Value("SHARE"), help="For metrics of alarms: the share of steps with one, 1% or 0.01."
    ),
    click.option(
        "--n-steps", type=int, metavar="NUMBER", help="Length of the series, where FILE lists events or ranges by step."
    ),
    *_drawing(1_000),
)
