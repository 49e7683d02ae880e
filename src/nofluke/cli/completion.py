"""What a shell completes behind an option: files, columns of the file, nulls and metrics. Click does the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

import click
from click.shell_completion import CompletionItem

from nofluke.errors import InputError

# columns of another file than FILE
_FILES = {"event_time": "events", "alarm_time": "alarms", "truth_start": "truth_file", "truth_end": "truth_file"}
_MOST_BYTES = 1 << 30  # of a file whose columns are looked up: nobody waits long for a tab


class Word(click.types.StringParamType):
    """Text that is taken as it is; ``offer`` lists what may be meant."""

    def __init__(self, name: str, offer: Callable[[click.Context, str], Iterable[str]], kind: str = "plain") -> None:
        self.name, self.offer, self.kind = name, offer, kind

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        if self.kind != "plain":  # files and folders, which the shell lists itself
            return [CompletionItem(incomplete, type=self.kind)]
        offered = self.offer(ctx, param.name or "")
        return [CompletionItem(word) for word in offered if word.startswith(incomplete)]


def _nothing(_context: click.Context, _option: str) -> Iterable[str]:
    return ()


def _columns(context: click.Context, option: str) -> list[str]:
    """The columns of the file that was typed before, of which only the first lines are read."""
    from nofluke.data.paths import expanded
    from nofluke.data.tables import open_table

    # behind an option that waits for its value, click leaves the files that came before in args
    files = [argument.name for argument in context.command.params if isinstance(argument, click.Argument)]
    typed = {**dict(zip(files, context.args, strict=False)), **{k: v for k, v in context.params.items() if v}}
    at = "truth_file" if option == "truth" and "truth_file" in typed else _FILES.get(option, files[0] if files else "")
    with suppress(InputError, OSError):
        path = expanded(str(typed.get(at, "-")), "FILE")
        if path.is_file() and path.stat().st_size < _MOST_BYTES:
            with open_table(path, [], None) as table:
                return list(table.names)
    return []


def _metrics(_context: click.Context, _option: str) -> Iterable[str]:
    from nofluke.metrics import names

    return names()


def _nulls(_context: click.Context, _option: str) -> Iterable[str]:
    from nofluke.nulls import NAMES

    return ("auto", *NAMES)


COLUMN = Word("COLUMN", _columns)
METRIC = Word("METRIC", _metrics)
NULL = Word("NULL", _nulls)
FILE, PATH = Word("FILE", _nothing, "file"), Word("PATH", _nothing, "file")
DIRECTORY = Word("DIR", _nothing, "dir")
PAGE = Word("FILE", _nothing, "file")
"""A page to write, which ends in .html."""
