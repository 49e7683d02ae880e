"""Errors and advice in the words of the command line: options in place of the library's arguments."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import click

from nofluke.errors import Argument, InputError, Spoken, either, joined, shown, worded

# arguments that the command line calls otherwise: by the first of these options that the command has
_OTHER_NAMES = {
    "times": ("time",),
    "rng": ("seed",),
    "n_resamples": ("resamples", "permutations"),
    "path": ("output", "report"),
    "source": ("nab",),
    "start": ("truth_start",),
    "end": ("truth_end",),
    "series": ("series", "groups"),
}
_TIMES = Argument("truth_as", ("times",))  # with a clock, a list of events is one of times


class Options:
    """Words sentences anew for a command: in its own options, and in those of other commands that advice may be on."""

    def __init__(self, context: click.Context, *, others: bool = False) -> None:
        group = context.find_root().command
        commands = group.commands.values() if others and isinstance(group, click.Group) else ()
        self.others = others
        self.null = str(context.params.get("null") or "")
        self.options = {name: option for command in commands for name, option in _named(command).items()}
        self.options |= _named(context.command)
        if context.params.get("truth_file") is not None:
            self.options["truth"] = self.options["truth_file"]

    def say(self, part: Argument | Spoken) -> str:
        """An argument as an option, ready to be typed; what is no option stays as it is in Python."""
        if isinstance(part, Spoken):
            return part.otherwise if part.needs and part.needs not in self.options else part.shell
        option = self.options.get(part.name.lstrip("-").replace("-", "_"))
        if part == _TIMES and "times" in self.options:
            option, values = self.options["times"], ["COLUMN"]
        elif option is None:
            return str(part)
        else:
            values = [shlex.quote(value) if isinstance(value, str) else shown(value) for value in part.values]
        name = option.opts[-1] if isinstance(option, click.Option) else str(option.metavar)
        if part.way == "to pass" and not values and not self.others:
            values = [option.metavar or option.type.name.upper()]
        if part.way == "passed" and not _is_word(part.values[0]):
            return f"{name}={shown(part.values[0])}"  # -2d would be an option of its own
        return f"{name} {either(values)}" if values else name

    def error(self, error: InputError) -> InputError:
        """An error about the options of the command; one about a setting of the null says which null has it."""
        settings = {setting.partition("=")[0].strip() for setting in self.null.partition(":")[2].split(",")}
        about = error.argument in settings - set(self.options)
        words = joined("", [f"--null {self.null}: ", error.words]) if about else error.words
        return InputError(problem=worded(words, self))


@contextmanager
def in_options(context: click.Context) -> Iterator[None]:
    """Let errors of the library name the options of the command at work."""
    try:
        yield
    except InputError as error:
        raise Options(context).error(error) from None


def advising(context: click.Context) -> Callable[[str], str]:
    """What words notes of results, which may advise on another command; the options of all are looked up once."""
    return partial(worded, speaker=Options(context, others=True))


def _is_word(value: Any) -> bool:
    """Whether a value can be typed as it is, behind an option."""
    return isinstance(value, str) and value[:1].isalpha() and shlex.quote(value) == value


def _named(command: click.Command) -> dict[str, click.Parameter]:
    """The options and files of a command by every name that the library's arguments have for them."""
    options: dict[str, click.Parameter] = {}
    for option in command.params:
        if option.name is not None:
            options[option.name] = options[option.opts[-1].lstrip("-").replace("-", "_")] = option
    for argument, names in _OTHER_NAMES.items():
        if own := [options[name] for name in names if name in options]:
            options[argument] = own[0]
    return options
