"""The command line: read files, call the library, print what it says. Nothing is computed here."""

from __future__ import annotations

import io
import sys
import traceback
from typing import NoReturn

import click

from nofluke import __version__
from nofluke.cli import commands
from nofluke.cli.options import FORMATS
from nofluke.errors import InputError

__all__ = ["FORMATS", "cli", "main"]

BUG = 70  # the exit code of an error in nofluke itself: not to be taken for the gate's 1

# what the library calls by its argument, the command line calls by its option
_OPTIONS = {
    'missing="mask"': "--missing mask",
    "times=": "--time COLUMN",
    "truth_as='times'": "--time COLUMN",
    'Tolerance(early=..., late=..., unit="clock")': "--unit clock",
    "Tolerance(early=..., late=...)": "--early and --late",
    "unit='clock'": "--unit clock",
}


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}, invoke_without_command=True
)
@click.version_option(__version__, prog_name="nofluke")
@click.pass_context
def cli(context: click.Context) -> None:
    """Is an anomaly detector's precision and recall on a sequence skill, or a fluke?

    \b
    Try:  nofluke demo
          nofluke evaluate data.csv --truth label --scores z --quantile 0.9 --tolerance 2
          nofluke sweep data.parquet --truth label --scores z --tolerance 0 --tolerance 2 -o sweep.csv
          nofluke diagnose data.csv --truth label --scores z --quantile 0.9 --tolerance 2
          nofluke report data.csv --truth label --scores z --quantile 0.9 --tolerance 2 -o report.html
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for _command in (
    commands.evaluate,
    commands.sweep,
    commands.diagnose,
    commands.report,
    commands.demo,
    commands.reproduce,
):
    cli.add_command(_command)


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command line; bad input is one line on standard error and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a pipe that knows no ≥ gets a ?, not a crash
    try:
        code = cli.main(args=args, prog_name="nofluke", standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        click.echo("nofluke: stopped", err=True)
        sys.exit(130)
    except click.ClickException as error:
        _fail(error.format_message())
    except InputError as error:
        message = str(error)
        for argument, option in _OPTIONS.items():
            message = message.replace(argument, option)
        _fail(message)
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}." if error.filename and error.strerror else str(error))
    except Exception:
        traceback.print_exc()
        sys.exit(BUG)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str) -> NoReturn:
    click.echo("nofluke: " + " ".join(message.split()), err=True)
    sys.exit(2)
