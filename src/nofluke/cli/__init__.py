"""The command line: read files, call the library, print what it says. Nothing is computed here."""

from __future__ import annotations

import io
import os
import sys
import traceback
from contextlib import suppress
from typing import Any, NoReturn

import click

from nofluke import __version__
from nofluke.cli.command import FORMATS, Commands
from nofluke.errors import MOST_IN_MESSAGE, WIDTH, InputError, interruptible, shortened
from nofluke.progress import log_progress

__all__ = ["FORMATS", "cli", "main"]

BUG = 70  # the exit code of an error in nofluke itself: not to be taken for the gate's 1
BROKEN_PIPE = 141  # what shells report of a program whose reader has gone: 128 + SIGPIPE

TOPICS = {
    "Judge one detector": {
        "evaluate": ("commands", "Precision and recall at one threshold, next to chance."),
        "sweep": ("commands", "Precision and recall at many thresholds and tolerances."),
        "diagnose": ("commands", "Which null model to trust for these data, and why."),
        "report": ("commands", "One HTML page: the verdict, sliders and every figure."),
    },
    "Compare and study": {
        "compare": ("compare", "Which of several detectors is better, and could it be luck?"),
        "study": ("study", "Many detectors on many series: judged, pooled and ranked."),
        "rank": ("compare", "Which methods differ, by a table of values?"),
    },
    "Lists of times": {
        "coincidence": ("coincidence", "Do two lists of times coincide more often than by chance?"),
        "watch": ("watch", "Is it still better than chance today? Look as often as you like."),
    },
    "Metrics": {
        "significance": ("metrics", "Any metric, next to what chance gives on the same labels."),
        "chance": ("metrics", "What chance gives in a metric, from the labels alone."),
        "metrics": ("metrics", "List all metrics, with their settings."),
    },
    "Fields": {"presets": ("metrics", "Options that fields have agreed on, for --preset.")},
    "Plan": {"power": ("commands", "How many events it takes to tell skill from chance.")},
    "Try and reproduce": {
        "demo": ("commands", "Judge a detector on simulated tweets about earthquakes."),
        "reproduce": ("commands", "Rerun the paper: every figure, table, number and claim."),
    },
}
"""Commands by topic: the module of each, and its first sentence, so that help need not load them."""


@click.group(
    cls=Commands,
    topics=TOPICS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDTH},
    invoke_without_command=True,
    examples=(
        "nofluke demo",
        "nofluke evaluate data.csv --truth label --scores z --quantile 0.9 --tolerance 2",
        "nofluke report data.csv --truth label --scores z --quantile 0.9 --tolerance 2 -o report.html",
    ),
)
@click.version_option(__version__, prog_name="nofluke")
@click.pass_context
def cli(context: click.Context) -> None:
    """Is a detector's precision and recall skill, or a fluke?

    nofluke COMMAND --help explains a command. For tab completion in bash (zsh: zsh_source):

    \b
    eval "$(_NOFLUKE_COMPLETE=bash_source nofluke)"
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command line; bad input is one line on standard error and exit code 2."""
    _open_descriptors()
    log_progress()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.closed:
            stream.reconfigure(errors="replace")  # a pipe that knows no ≥ gets a ?, not a crash
    try:
        with interruptible():
            code = cli.main(args=args, prog_name="nofluke", standalone_mode=False)
    except SystemExit as stopped:
        if stopped.code != 1:
            raise
        # click's own way to end where the reader of a pipe has gone; but 1 is the gate's code, which commands return
        _abandon(sys.__stdout__, sys.__stderr__)
        sys.exit(BROKEN_PIPE)
    except (click.Abort, KeyboardInterrupt):
        _say("nofluke: stopped")
        sys.exit(130)
    except click.ClickException as error:
        _fail(error.format_message())
    except InputError as error:
        _fail(str(error))
    except OSError as error:
        if error.filename is None:
            _abandon(sys.__stdout__)
            _fail(f"the result cannot be printed ({error.strerror or error}): pass -o FILE.")
        _fail(f"{error.filename}: {error.strerror}.")
    except MemoryError as error:
        how = f" ({error})" if str(error) else ""
        _fail(f"this takes more memory than there is{how}: pass fewer --resamples, or less data.")
    except Exception:
        _say(traceback.format_exc().rstrip("\n"))
        sys.exit(BUG)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str) -> NoReturn:
    # names of files may hold line breaks, and codes that a terminal would obey
    line = "".join(c if c.isprintable() else "?" for c in " ".join(message.split()))
    _say(shortened(f"nofluke: {line}", MOST_IN_MESSAGE))
    sys.exit(2)


def _say(text: str) -> None:
    """Print to standard error, if there is one and it takes anything: the exit code says the rest."""
    try:
        click.echo(text, err=True)
    except (OSError, ValueError):
        _abandon(sys.__stderr__)


def _open_descriptors() -> None:
    """Give closed descriptors (>&-) to the null device, or the next file to be opened would take what is printed."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one


def _abandon(*streams: Any) -> None:
    """Send the rest of what a stream holds nowhere: Python would complain about it at the end."""
    for stream in streams:
        with suppress(OSError, ValueError, AttributeError):  # no stream, a closed one, or one without a descriptor
            descriptor = stream.fileno()
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, descriptor)
            os.close(null)
