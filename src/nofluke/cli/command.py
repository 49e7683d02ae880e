"""Commands as this program has them: loaded when asked for, help by topic, errors and notes in options."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from nofluke.errors import Argument, InputError, Spoken, either, joined, shown, worded

_LISTED = ("--tolerance", "--threshold", "--quantile", "--budget")


class Command(click.Command):
    """A command whose errors name its options, and that takes an option twice only where several are meant."""

    def __init__(self, *args: Any, examples: tuple[str, ...] = (), **settings: Any) -> None:
        super().__init__(*args, **{"context_settings": {"show_default": True}, **settings})
        self.examples = examples

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_topics(self.get_params(ctx), ctx, formatter)

    def format_epilog(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(self.examples, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if any(option.name == "span" for option in self.params):
            from nofluke.cli.values import joined_spans

            args = joined_spans(args)
        if not ctx.resilient_parsing:
            _, _, order = self.make_parser(ctx).parse_args(args=list(args))
            _refuse_repeated(order, ctx.info_name or "")
        with in_options(ctx):
            left = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:
            check_ending(ctx)
            with in_options(ctx):
                _take_preset(ctx)
        return left

    def invoke(self, ctx: click.Context) -> Any:
        with in_options(ctx):
            return super().invoke(ctx)


class Commands(click.Group):
    """Commands by topic, each with its first sentence; a command is loaded when it is asked for.

    Parameters
    ----------
    topics : mapping of str to mapping of str to tuple
        Under each heading, the commands by name: the module of this package that has it, and its first sentence.
    """

    def __init__(
        self,
        *args: Any,
        topics: Mapping[str, Mapping[str, tuple[str, str]]],
        examples: tuple[str, ...] = (),
        **settings: Any,
    ) -> None:
        self.topics, self.examples = topics, examples
        self._modules = {name: module for commands in topics.values() for name, (module, _) in commands.items()}
        super().__init__(*args, **settings)

    @property
    def commands(self) -> dict[str, click.Command]:
        """All of them, in the order of the topics."""
        return {name: self._loaded(name) for name in self._modules}

    @commands.setter
    def commands(self, _none: Mapping[str, click.Command]) -> None:
        """Click begins with none."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(self._modules)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        return self._loaded(name) if name in self._modules else None

    def _loaded(self, name: str) -> click.Command:
        command: click.Command = getattr(import_module(f"nofluke.cli.{self._modules[name]}"), name)
        return command

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, self._modules))
        for topic, commands in self.topics.items():
            with formatter.section(topic):
                formatter.write_dl([(name.ljust(widest), first) for name, (_, first) in commands.items()])

    def format_epilog(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(self.examples, formatter)


PRESET = "nofluke.preset"  # where a context keeps what was typed


def _take_preset(context: click.Context) -> None:
    """The arguments of a preset in place of options that were not typed; a tolerance only if no side of it was."""
    if not context.meta.get(PRESET):
        return
    from nofluke.series.presets import arguments_of

    typed = {
        name for name in context.params if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    }
    for name, value in arguments_of(context.meta[PRESET]).items():
        own = next((one for one in (name, f"{name}s") if one in context.params), None)
        if own is None or own in typed or (name == "tolerance" and typed & {"early", "late"}):
            continue
        plain = value if name == "tolerance" else str(value)
        context.params[own] = (plain,) if own != name else plain


def _refuse_repeated(order: list[click.Parameter], command: str) -> None:
    """Refuse an option that was typed more than once: the last would count, and the others be dropped in silence."""
    for option in dict.fromkeys(order):
        single = isinstance(option, click.Option) and not (option.multiple or option.is_flag or option.count)
        if single and order.count(option) > 1:
            name, times = option.opts[-1], f"was passed {order.count(option)} times"
            if name in ("--scores", "--predictions"):
                raise InputError(
                    argument=name,
                    problem=f"{times}, but {command} judges one detector",
                    remedy="pass it once, or compare detectors by nofluke compare",
                )
            many = ", or use nofluke sweep for several" if name in _LISTED and command == "evaluate" else ""
            raise InputError(argument=name, problem=times, remedy=f"pass it once{many}")


# ---- help by topic: which section an option stands in, and examples at the end

TOPICS = {
    "Data": "series source group groups layout pattern labels data truth truth-file truth-start truth-end truth-where ranges "
    "truth-as "
    "overlaps merge-gap split-longer n-steps "
    "event-time event-end event-where alarm-time alarm-end alarm-where "
    "time time-format truth-time-format event-time-format alarm-time-format ranges-time-format "
    "span step gaps in-gaps gaps-time-format duplicates tick mask missing warmup test-part since until start timezone",
    "Detector": "scores predictions predictions-file predictions-start predictions-end predictions-time-format where by "
    "detector score-column method-column value methods better weigh higher-is align "
    "threshold quantile budget cut-ties",
    "Plan": "like recall precision coverage share-alarms events power steps steps-per-event",
    "Tolerance and counting": "tolerance early late unit lag edges leads block labels-final mute-after count-events "
    "count-alarms refractory "
    "zero-division",
    "Metrics": "metric rank-by statistic test-f1",
    "Pages": "simulated point-adjustment nab",
    "Chance": "null strata period method resamples permutations seed stop-after alternative ties chance familywise",
    "Verdict and gate": "speaks-for alpha lost-below false-alarm-every level classical gate gate-on min-precision min-recall min-f1",
    "Computing": "workers dask restart",
    "Names": "preset event-name alarm-name delay-name reset-name time-unit",
    "Output": "rows format output plot report title help",
}
"""Options in the order in which the help of every command shows those that it has."""


def write_topics(options: list[click.Parameter], context: click.Context, formatter: click.HelpFormatter) -> None:
    """The options of a command by topic; one that has no topic comes last, so that nothing is hidden."""
    named = [option for option in options if isinstance(option, click.Option)]
    left = {option: record for option in named if (record := option.get_help_record(context)) is not None}
    for topic, names in {**TOPICS, "Options": ""}.items():
        own = [option for name in names.split() for option in left if f"--{name}" in option.opts]
        own = own if names else list(left)
        if own:
            with formatter.section(topic):
                formatter.write_dl([left.pop(option) for option in own])


def write_examples(examples: tuple[str, ...], formatter: click.HelpFormatter) -> None:
    """Commands to copy; one that is too long goes on in the next line, as shells take it."""
    if examples:
        with formatter.section("Examples"):
            for example in examples:
                formatter.write(broken(example, formatter.width, " " * formatter.current_indent) + "\n")


def broken(command: str, width: int, indent: str = "") -> str:
    """A command in lines that end in a backslash, broken between words.

    >>> print(broken("nofluke evaluate data.csv --truth label", 30))
    nofluke evaluate data.csv \\
        --truth label
    """
    lines = [indent]
    words = shlex.split(command)
    # an option stays with its first value
    groups: list[str] = []
    for i, word in enumerate(words):
        if i and words[i - 1].startswith("-") and not word.startswith("-"):
            groups[-1] += f" {shlex.quote(word)}"
        else:
            groups.append(shlex.quote(word))
    for group in groups:
        if lines[-1].strip() and len(lines[-1]) + len(group) + 3 > width:
            lines[-1] += " \\"
            lines.append(f"{indent}    {group}")
        else:
            lines[-1] += f" {group}" if lines[-1].strip() else group
    return "\n".join(lines)


# ---- endings of files to write: they say the format, and an unknown one is refused before any work

FORMATS = ("text", "json", "csv", "markdown", "latex")
ENDINGS = {".txt": "text", ".json": "json", ".csv": "csv", ".md": "markdown", ".tex": "latex", ".xml": "junit"}
FILES = (*ENDINGS, ".html", ".htm", ".tsv", ".parquet", ".xlsx", ".pdf", ".zip", ".gz", ".jsonl")
"""Endings of files, which no folder for results is likely to have."""
_PAGE = (".html", ".htm")


def form_of(output: str | None) -> str:
    """The format that the ending of a file asks for; text where it has none."""
    return ENDINGS.get(Path(output).suffix.lower(), "text") if output else "text"


def check_ending(context: click.Context) -> None:
    """Refuse an ending that stands for no format of the command, unless --format says what to write."""
    from nofluke.cli.values import PAGE

    options = {option.name: option for option in context.command.params}
    forms = getattr(options["form"].type, "choices", ()) if "form" in options else ()
    for name in ("output", "report"):
        place = context.params.get(name)
        page = name in options and options[name].type is PAGE
        known = _PAGE if page else tuple(ending for ending, form in ENDINGS.items() if form in forms)
        if known and isinstance(place, str) and (page or not context.params["form"]):
            ending = Path(place).suffix
            if ending and ending.lower() not in known:
                who = context.info_name if name == "output" else options[name].opts[-1]
                more = "" if page else ", or pass --format"
                raise InputError(
                    problem=f"{options[name].opts[-1]} {place}: {who} cannot write {ending}",
                    remedy=f"use {', '.join(known[:-1])} or {known[-1]}{more}",
                )


# ---- errors and advice in the words of the command line: options in place of the library's arguments

# arguments that the command line calls otherwise: by the first of these options that the command has
_OTHER_NAMES = {
    "times": ("time",),
    "rng": ("seed",),
    "n_resamples": ("resamples", "permutations"),
    "path": ("state", "report", "output"),
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
        for side in ("truth", "predictions"):
            if context.params.get(f"{side}_file") is not None:
                self.options[side] = self.options[f"{side}_file"]

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
        name = option.opts[-1] if isinstance(option, click.Option) else str(option.metavar).removesuffix("...")
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
