"""`nofluke reproduce`: the paper's study, or the pages about point adjustment and about NAB."""

from __future__ import annotations

import click

from nofluke.cli.command import Command
from nofluke.cli.completion import DIRECTORY, PATH
from nofluke.cli.options import directory
from nofluke.cli.printing import wrapped, write_result

_ALONE = {
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
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Random seed; the same seed gives identical output."
)
@click.option(
    "--permutations",
    type=int,
    default=10_000,
    show_default=True,
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
        raise click.UsageError(_ALONE[one])
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
