"""`nofluke study`: many detectors on many series. Nothing is computed here."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import click

from nofluke.cli.arguments import declared_in, number_of, tolerance_of
from nofluke.cli.command import Command
from nofluke.cli.printing import verdict_code, wrapped, write, write_result
from nofluke.cli.study_options import cell_options, run_options, source_options
from nofluke.cli.wording import advising
from nofluke.errors import interruptible

SOME_MISSING = 4  # the exit code where cells have no result
STOPPED = 130


@click.command(
    cls=Command,
    examples=(
        "nofluke study sensors.csv --series name --truth label --scores 'det_*' --budget 1% --tolerance 1% -o out/",
        "nofluke study 'sensors/*.csv' --truth label --scores lof --scores iforest --quantile 0.99 --tolerance 5",
        "nofluke study long.csv --series name --truth label --detector detector --scores score --budget 1%",
        "nofluke study NAB/ --layout nab --budget 1% --tolerance 1%",
    ),
)
@source_options
@cell_options
@run_options
def study(
    source: tuple[str, ...],
    out: str | None,
    restart: bool,
    workers: int | None,
    dask: str | None,
    form: str,
    gate: bool,
    **options: Any,
) -> int:
    """Many detectors on many series: judged, pooled and ranked.

    SOURCE is a Parquet or text file, a folder, or a pattern in quotes; several of them; or a folder as NAB, TSB-AD or
    TimeEval arrange it. Prints the leaderboard, and with -o keeps every cell. Exits with 4 where cells are
    missing, unless --gate has found worse.
    """
    import nofluke as nf
    from nofluke.studies.cluster import dask_executor
    from nofluke.studies.runner import Stopped

    engine = nullcontext() if dask is None else dask_executor(dask, workers=workers, say=_say)
    try:
        with interruptible(), engine as executor:
            done = nf.study(
                source[0] if len(source) == 1 else list(source),
                **_arguments(options),
                out=out,
                workers=workers,
                executor=executor,
                resume=not restart,
            )
            board = done.leaderboard()
    except KeyboardInterrupt as error:
        after = f" after {error.done:,} of {error.total:,} chunks" if isinstance(error, Stopped) else ""
        rest = "run the same command again to resume" if out else "nothing was kept, pass -o DIR to be able to resume"
        _say(f"nofluke: stopped{after}: {rest}.")
        return STOPPED
    _show(board, form)
    if out is not None:
        _say(
            f"Wrote {done.path / 'leaderboard.html'} (.csv, .md, .tex), results.parquet, failed.jsonl, timings.parquet"
        )
    code = verdict_code(board) if gate else 0
    return code or (SOME_MISSING if done.n_missing else 0)


def _arguments(options: dict[str, Any]) -> dict[str, Any]:
    """The options as arguments of the library."""
    both, early, late, unit = (options.pop(name) for name in ("tolerance", "early", "late", "unit"))
    tolerance: Any
    if both is not None and early is None and late is None and unit == "steps":
        tolerance = number_of(both)  # may be a share of each series' length
    else:
        tolerance = tolerance_of(both, early, late, unit)
    renamed = {"times": "time", "n_resamples": "resamples", "rng": "seed"}
    found = {argument: options.pop(name) for argument, name in renamed.items()}
    found |= declared_in(options)
    return {**options, **found, "tolerance": tolerance, "scores": list(options["scores"]) or None}


def _show(board: Any, form: str) -> None:
    """The leaderboard; as text, what is missing comes first."""
    if form == "text" and (missing := board.missing_in_words()):
        said = advising(click.get_current_context())
        write("\n".join([*(wrapped(said(line), hanging=2) for line in missing), ""]), None)
        board = replace(board, about=replace(board.about, missing=()))
    write_result(board, form, None)


def _say(text: str) -> None:
    click.echo(text, err=True)
