"""Types of options: numbers, lists (0,1,2,4) and ranges (START:STOP:COUNT), and what a shell completes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from fractions import Fraction
from typing import Any

import click
from click.shell_completion import CompletionItem

from nofluke.errors import InputError, joined
from nofluke.plain import MOST_VALUES

_END = re.compile(r"([+-]?(?:\d{1,30}\.?\d{0,30}|\.\d{1,30})(?:e[+-]?\d{1,2})?)\s*(%|[a-zµμ]*)", re.IGNORECASE)
_WHOLE = re.compile(r"(\d{1,9}):(\d{1,9}):\d+")
_DECIMAL_COMMA = re.compile(r"([+-]?\d+),(\d+)(%?)")
# a list and a range of the kind that an option takes
_EXAMPLES = {"--budget": ("1%,5%", "1%:5%:5"), "--quantile": (".5,.9", ".5:.9:5"), "--threshold": ("2,3", "2:5:7")}
_OTHERWISE = ("0,1,2", "0:8:5")


class Number(click.types.FloatParamType):
    """A number; a share may be a percentage."""

    name = "NUMBER"

    def __init__(self, *, share: bool = False) -> None:
        self.share = share

    def convert(self, value: Any, param: click.Parameter | None, _context: click.Context | None) -> float:
        if not isinstance(value, str):
            return float(value)
        text = value.strip()
        with suppress(ArithmeticError, ValueError):
            if self.share and text.endswith("%"):
                return float(Decimal(text.removesuffix("%")).scaleb(-2))  # 0.7% is 0.007, not a little less
            return float(text)
        example = "0.05 or 5%" if self.share else "2.5"
        cure = f"write {comma} if you meant a decimal comma" if (comma := _decimal(text)) else f"write it as {example}"
        raise InputError(problem=f"{_option(param)} {value} is not a number", remedy=cure)


class Threshold(Number):
    """A finite number that stays whole where floats cannot hold it: scores are compared with it exactly."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):  # JSON knows no others
            raise InputError(problem=f"{_option(param)} {number:g} must be finite", remedy="pass a number")
        with suppress(ValueError):  # a fraction, or more digits than Python reads
            whole = int(value) if isinstance(value, str) else number
            return number if whole == number else whole
        return number


SHARE = Number(share=True)


class Part(str):
    """One of the values that a range stands for, with the range."""

    typed: str

    def __new__(cls, text: str, typed: str) -> Part:
        part = super().__new__(cls, text)
        part.typed = typed
        return part


@contextmanager
def named_range(text: str | None, option: str) -> Iterator[None]:
    """Let errors about a value of a range show the range, and one of whole numbers where that is the remedy."""
    try:
        yield
    except InputError as error:
        if not isinstance(text, Part):
            raise
        ends = _WHOLE.fullmatch(text.typed)
        whole = f"write {ends[1]}:{ends[2]}:{int(ends[2]) - int(ends[1]) + 1} for whole numbers" if ends else ""
        if error.argument != option:
            raise
        raise InputError(
            problem=joined(" ", [f"{option} {text.typed} has {float(text):.4g}, which", error.problem]),
            remedy=joined(", and ", filter(None, [error.remedy, whole])),
        ) from None


class Value(click.types.StringParamType):
    """One value: a list or a range is refused, with a remedy."""

    def __init__(self, name: str, kind: Any = click.STRING) -> None:
        self.name, self.kind = name, kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and re.search("[,:]", value):
            option, command = _option(param), "" if ctx is None else ctx.info_name
            cure = f"write {comma} if you meant a decimal comma, or " if (comma := _decimal(value)) else ""
            many = "use nofluke sweep for several" if command in ("evaluate", "report") else "run it once for each"
            raise InputError(
                problem=f"{option} {value} is a list or a range, but {command} takes one value", remedy=f"{cure}{many}"
            )
        return self.kind.convert(value, param, ctx)


class Values(click.types.StringParamType):
    """Several values: a list, a range, or both."""

    def __init__(self, name: str, kind: Any = None, *, shares: bool = False) -> None:
        self.name, self.kind, self.shares = name, kind, shares

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        words = spread(value, _option(param))
        if self.shares:
            _check_shares(words, value, _option(param))
        return words if self.kind is None else tuple(self.kind.convert(word, param, ctx) for word in words)


def list_option(*names: str, kind: Values, **more: Any) -> Callable[[Any], Any]:
    """An option that takes several values: by a list, a range, or by repeating it."""
    return click.option(*names, type=kind, multiple=True, callback=_flat, **more)


def spread(text: str, option: str) -> tuple[str, ...]:
    """The values that a list or a range stands for, as they would be typed one by one.

    START:STOP:COUNT are COUNT values, evenly spaced, with both ends. Fractions keep them exact: .5:.99:50 has 0.51.

    >>> spread("0,1,2:8:4", "--tolerance")
    ('0', '1', '2', '4', '6', '8')
    >>> spread("0:1h:3", "--tolerance"), spread("1%:2%:3", "--budget")
    (('0h', '0.5h', '1h'), ('1%', '1.5%', '2%'))
    """
    if "," not in text and ":" not in text:
        return (text,)
    words: list[str] = []
    for part in text.split(","):
        if not part.strip():
            raise InputError(
                problem=f"{option} {text} has nothing on one side of a comma",
                remedy=f"write a list as {_examples(option)[0]}",
            )
        words += _range(part.strip(), option) if ":" in part else [part.strip()]
    return tuple(words)


def _examples(option: str) -> tuple[str, str]:
    return _EXAMPLES.get(option, _OTHERWISE)


def _range(text: str, option: str) -> list[Part]:
    ends = text.split(":")
    if len(ends) != 3:
        raise InputError(
            problem=f"{option} {text} is not a range", remedy=f"write START:STOP:COUNT, such as {_examples(option)[1]}"
        )
    first, last = (_END.fullmatch(end.strip()) for end in ends[:2])
    if first is None or last is None:
        wrong = ends[0] if first is None else ends[1]
        example = f"{_examples(option)[1]}{'' if option in _EXAMPLES else ' or 0:2h:5'}"
        raise InputError(
            problem=f"{option} {text}: {wrong!r} is not a number, with or without a unit", remedy=f"write {example}"
        )
    start, stop, count = Fraction(first[1]), Fraction(last[1]), ends[2].strip()
    units = {end[2] for end, value in ((first, start), (last, stop)) if value} or {first[2]}
    if len(units) > 1:
        example = "1%:10%:4" if "%" in units else "30min:120min:4"
        raise InputError(
            problem=f"{option} {text} has ends in two units", remedy=f"write both in one, such as {example}"
        )
    if not re.fullmatch("[0-9]{1,9}", count) or not 2 <= int(count) <= MOST_VALUES:
        raise InputError(
            problem=f"{option} {text}",
            remedy=f"COUNT is how many values there are, both ends included, from 2 to {MOST_VALUES:,}, got {count!r}",
        )
    (unit,) = units
    last_at = int(count) - 1
    return [Part(_written(start + (stop - start) * i / last_at) + unit, text) for i in range(last_at + 1)]


def _written(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else repr(float(value))


def _check_shares(words: tuple[str, ...], text: str, option: str) -> None:
    """Refuse what is no list of shares; a decimal comma makes one of 0,9."""
    cure = (
        f"write {comma} if you meant a decimal comma" if (comma := _decimal(text)) else f"write {_examples(option)[0]}"
    )
    told = f"{option} {text} is the list of {' and '.join(words)}"
    if len({word.endswith("%") for word in words}) > 1:
        raise InputError(problem=f"{told}, with and without %", remedy=cure)
    for word in words if len(words) > 1 else ():
        match = _END.fullmatch(word)
        if match is not None and not 0 <= float(match[1]) <= (100 if match[2] == "%" else 1):
            raise InputError(problem=f"{told}, but {word} is not a share between 0 and 1", remedy=cure)


def _decimal(text: str) -> str:
    """A number with a decimal comma as it is to be written; empty for anything else."""
    match = _DECIMAL_COMMA.fullmatch(text.strip())
    return "" if match is None else f"{match[1]}.{match[2]}{match[3]}"


def _flat(_context: click.Context, _option: click.Parameter, values: tuple[tuple[Any, ...], ...]) -> Any:
    return tuple(one for several in values for one in several) or None


def _option(param: click.Parameter | None) -> str:
    return "" if param is None else param.opts[-1]


# ---- what a shell completes behind an option: files, columns of the file, nulls and metrics

# columns of another file than FILE
_FILES = {
    "event_time": "events",
    "alarm_time": "alarms",
    "truth_start": "truth_file",
    "truth_end": "truth_file",
    **dict.fromkeys(("predictions_start", "predictions_end", "detectors_by"), "predictions_file"),
    "event_end": "events",
    "alarm_end": "alarms",
}
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
    own = f"{option}_file" if option in ("truth", "predictions") else ""
    at = own if own in typed else _FILES.get(option, files[0] if files else "")
    with suppress(InputError, OSError):
        path = expanded(str(typed.get(at, "-")), "FILE")
        if path.is_file() and path.stat().st_size < _MOST_BYTES:
            with open_table(path, [], None, alerts=at.endswith("_file")) as table:
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


class Span(str):
    """Two ends of a stretch of time, and both in one word."""

    ends: tuple[str, str]

    def __new__(cls, begin: str, end: str) -> Span:
        span = super().__new__(cls, f"{begin}{' to ' if '/' in begin + end else '/'}{end}")
        span.ends = begin, end
        return span


class _SpanType(click.types.StringParamType):
    """START/END in one word, START to END, or two words, which `joined_spans` has made one."""

    name = "START/END"

    def convert(self, value: Any, param: click.Parameter | None, _context: click.Context | None) -> Any:
        if isinstance(value, Span):
            return value
        for between in (_BETWEEN, " to ", "/"):
            ends = [end.strip() for end in value.split(between)]
            if len(ends) == 2 and all(ends):
                return Span(*ends)
        raise InputError(
            problem=f"{_option(param)} {value} must be two times, START/END", remedy="as in 2026-01-01/2026-03-31"
        )


_BETWEEN = "\x1f"


def joined_spans(words: list[str]) -> list[str]:
    """What was typed, with a span of two words made one."""
    made, left = [], list(words)
    while left:
        word = left.pop(0)
        made.append(word)
        if word == "--":
            return made + left
        whole = left and (left[0].count("/") == 1 or " to " in left[0])
        if word == "--span" and len(left) > 1 and not whole and not left[1].startswith("--"):
            made.append(_BETWEEN.join([left.pop(0), left.pop(0)]))
    return made


SPAN = _SpanType()
CONDITION = Word("CONDITION", _nothing)
PART = Word("PART", _nothing)
"""A part of a series: one value, two with a comma between them, or a column."""
