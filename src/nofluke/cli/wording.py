"""Errors and advice in the words of the command line: options in place of the library's arguments."""

from __future__ import annotations

import re
import shlex
from typing import Any

import click

# arguments that the command line calls otherwise: by the first of these options that the command has
_OTHER_NAMES = {
    "times": ("time",),
    "rng": ("seed",),
    "n_resamples": ("resamples", "permutations"),
    "path": ("output", "report"),
    "source": ("nab",),
}
# where ranges have no options that name their columns
_RENAMED = {"name them by start= and end=": "call two of them start and end"}
# where a command has no sides
_ONE_SIDE = {
    "for two different sides pass Tolerance(early=..., late=...), on a clock of plain numbers with unit='clock'": "on a "
    "clock of plain numbers pass --unit clock"
}
_SERIES = {"(for series)": "(for --groups)"}  # where no option names them
_OUTLIERS = "write 1 for an outlier and 0 for the rest into the file"
# what is more than one argument, or has no option of its own
_PHRASES = {
    "truth_as='times'": "--time COLUMN",
    "pass predictions, or scores with a threshold, a quantile or a budget": "pass --predictions COLUMN, or --scores with "
    "--threshold, --quantile or --budget",
    "and predictions were passed: pass scores instead": "and --predictions were passed: pass --scores COLUMN instead",
    "or leave groups out": "or leave --groups out",
    "choose another out, or pass resume=False to start over": "choose another -o, or pass --restart to start over",
    "the same call resumes from there": "the same command resumes from there",
    "call nf.significance": "call nofluke significance",
    "labels to nf.evaluate": "labels to nofluke evaluate",
    "by start= and end=": "by --truth-start and --truth-end",
    'Tolerance(early=..., late=..., unit="clock")': "--unit clock",
    "Tolerance(early=..., late=...)": "--early and --late",
    "pass predictions=(y == -1), or predictions=(y == 1) if yours is the other way round": _OUTLIERS,
    "pass truth=(y == -1), or truth=(y == 1) if yours is the other way round": _OUTLIERS,
    "pass predictions=(y == -1)": "write 1 for an alarm and 0 for the rest, and pass it as --predictions COLUMN",
}
# name=value, name='word' and a bare name=; what was typed is left alone, since a file may be called seed=1
_ASSIGNED = (
    r"(?P<typed>{typed})|(?<![\w'\"/.:,-])(?P<name>{names})="
    r"(?:(?P<quote>['\"])(?P<word>[a-z-]+(?::[\w=.,%+-]+)?)(?P=quote)|(?P<bare>(?=[.,;:)]?(?:\s|$))))?"
)
# a name that something is said of, or that is to be passed; elsewhere scores and predictions are plain English
_SUBJECT = r"(?:^|(?<=\bbut )|(?<=\bpass either ))(?P<name>{names})(?= (?:has|have|needs|come back|are rotated|holds|must|is|lists|mixes|goes|ends|leave|and|or)\b)"
# more words that may stand behind an option, as they are typed
_MORE = r"(?P<first>--[\w-]+ [a-z-]+)(?P<more>(?:(?:,| or|, or) '[a-z-]+')+)"
_JOINED = r"(?P<before>(?:--[\w-]+|\b[A-Z]{{4,}}) (?:and|or) )(?P<name>{names})\b"

# advice in results that is put otherwise in a shell
_ADVICE = {
    "pass quantiles, thresholds or budgets, or ask for curve.chance": "pass --quantile, --threshold, --budget or --chance",
    "ask for curve.chance": "pass --chance",
    "call familywise()": "pass --familywise",
    "nf.diagnose": "nofluke diagnose",
}
# keys of JSON that hold sentences
_PROSE = ("notes", "doubts", "reason", "why", "sentence", "assumption", "why_no_interval", "why_no_pvalue")
# name="any words", name=number and a bare name=
_TYPED = r"(?<![\w'\"/.:,-])(?P<name>{names})=(?:(?P<quote>['\"])(?P<words>.*?)(?P=quote)|(?P<plain>[\w%-]*(?:\.\d+)?))"


def in_options(message: str, context: click.Context) -> str:
    """A message of the library with the options of the command at work in place of arguments."""
    options = _options(context)
    message = _with_null(message, context, options)
    typed = [re.escape(value) for value in context.params.values() if isinstance(value, str) and "=" in value]
    words = {"names": "|".join(options), "typed": "|".join(typed) or "(?!)"}
    absent = {"truth_start": _RENAMED, "series": _SERIES, "early": _ONE_SIDE}
    phrases = {old: new for name, own in absent.items() if name not in options for old, new in own.items()} | _PHRASES
    for phrase, instead in phrases.items():
        message = message.replace(phrase, instead)

    def assigned(match: re.Match[str]) -> str:
        if match["typed"] is not None:
            return match["typed"]
        option = options[match["name"]]
        after = option.metavar or option.type.name.upper() if match["bare"] is not None else match["word"]
        return f"{_name(option)}=" if after is None else f"{_name(option)} {after}"

    message = re.sub(_ASSIGNED.format(**words), assigned, message)
    message = re.sub(_MORE, lambda match: match["first"] + match["more"].replace("'", ""), message)
    message = re.sub(_SUBJECT.format(**words), lambda match: _name(options[match["name"]]), message)
    for _ in range(2):  # of three names, the last follows one that became an option just before
        message = re.sub(
            _JOINED.format(**words), lambda match: match["before"] + _name(options[match["name"]]), message
        )
    return message


def _with_null(message: str, context: click.Context, options: dict[str, click.Parameter]) -> str:
    """A message about a setting of the null, with the option that has it before it."""
    null = context.params.get("null") or ""
    keys = {setting.partition("=")[0].strip() for setting in null.partition(":")[2].split(",")}
    about = re.match(r"(\w+)=", message)
    return f"--null {null}: {message}" if about and about[1] in keys - set(options) else message


def advice(note: str, context: click.Context) -> str:
    """A note of a result with options in place of the library's arguments, ready to be typed.

    A note may advise on another command, so that the options of all are known.
    """
    for phrase, instead in (_PHRASES | _ADVICE).items():
        note = note.replace(phrase, instead)
    group = context.find_root().command
    others = group.commands.values() if isinstance(group, click.Group) else ()
    options = {name: option for command in others for name, option in _named(command).items()} | _options(context)

    def typed(match: re.Match[str]) -> str:
        value = match["words"] or match["plain"]
        return _name(options[match["name"]]) + (f" {shlex.quote(value)}" if value else "")

    return re.sub(_TYPED.format(names="|".join(options)), typed, note)


def in_shell(told: Any, context: click.Context, prose: bool = False) -> Any:
    """What JSON tells, with the words of the command line in its sentences."""
    if isinstance(told, dict):
        return {key: in_shell(value, context, key in _PROSE) for key, value in told.items()}
    if isinstance(told, list):
        return [in_shell(item, context, prose) for item in told]
    return advice(told, context) if prose and isinstance(told, str) else told


def _name(parameter: click.Parameter) -> str:
    """An option as it is typed; a file as the help calls it."""
    return parameter.opts[-1] if isinstance(parameter, click.Option) else str(parameter.metavar)


def _options(context: click.Context) -> dict[str, click.Parameter]:
    """The options and files of a command by every name that the library's arguments have for them."""
    options = _named(context.command)
    if context.params.get("truth_file") is not None:
        options["truth"] = options["truth_file"]
    return options


def _named(command: click.Command) -> dict[str, click.Parameter]:
    options: dict[str, click.Parameter] = {}
    for option in command.params:
        if option.name is not None:
            options[option.name] = options[option.opts[-1].lstrip("-").replace("-", "_")] = option
    for argument, names in _OTHER_NAMES.items():
        if own := [options[name] for name in names if name in options]:
            options[argument] = own[0]
    return options
