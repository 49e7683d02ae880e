"""What is said about input, as data: sentences that name arguments, and the one error for input that is bad.

A sentence is plain text in Python's words. Where it names an argument it keeps that as a part, so that the command line
can say it in options instead; where it names an event or an alarm, likewise, so that these may be called floods and
storms. Nothing ever looks for names in a text.
"""

from __future__ import annotations

import json
import math
import os
import reprlib
import string
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from typing import Any, Literal, Protocol, Self

MOST_IN_MESSAGE = 1_000  # characters; a longer message hides its remedy
MOST_IN_VALUE = 80
WIDTH = 100  # of a line of prose, on a terminal and off it


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument in a sentence: its name, its name with any of some values to pass, or with the value that it has."""

    name: str
    values: tuple[Any, ...] = ()
    way: Literal["named", "to pass", "passed"] = "to pass"

    def __str__(self) -> str:
        if self.way == "named":
            return self.name
        told = [shown(value) if self.way == "passed" else typed(value) for value in self.values]
        return f"{self.name}={either(told)}"


@dataclass(frozen=True, slots=True)
class Spoken:
    """What is said in Python in one way, and in a shell in another: by a command without some option in a third."""

    python: str
    shell: str
    needs: str = ""
    otherwise: str = ""

    def __str__(self) -> str:
        return self.python


class Nameable(ABC):
    """A part of a sentence that whoever reads it may have names of their own for."""

    __slots__ = ()

    @abstractmethod
    def called(self, names: Naming) -> str:
        """The part in such names."""


class Naming(Protocol):
    """What events and alarms are called, and the unit that lengths of time are told in; empty where that is open."""

    @property
    def time_unit(self) -> str: ...

    def forms(self, role: Role) -> tuple[str, str]:
        """The name of one and that of several; empty where there is none."""
        ...


Role = Literal["event", "alarm"]
Form = Literal["one", "several", "any", "an"]


@dataclass(frozen=True, slots=True)
class Thing(Nameable):
    """An event or an alarm in a sentence, by the word for it where it has no name.

    >>> sentence = say("{Events} without {an_alarm}: {}.", 3)
    >>> sentence
    'Events without an alarm: 3.'
    """

    role: Role
    word: str
    form: Form = "one"
    capital: bool = False

    def __str__(self) -> str:
        return self._formed(self.word, f"{self.word}s")

    def called(self, names: Naming) -> str:
        """In its form, by its name where it has one."""
        one, several = names.forms(self.role)
        return self._formed(one, several) if one else str(self)

    def of(self, count: int) -> Thing:
        """As it stands behind a count."""
        return replace(self, form="one" if count == 1 else "several")

    def _formed(self, one: str, several: str) -> str:
        text = one if self.form == "one" else several
        if self.form == "any":
            text = f"{one}(s)" if several == f"{one}s" else several
        elif self.form == "an":
            text = f"{article(one)} {one}"
        return text[0].upper() + text[1:] if self.capital else text


@dataclass(frozen=True, slots=True)
class Unlike(Nameable):
    """What is said where alarms are called alarms, and what where they have another name."""

    usual: str
    named: str

    def __str__(self) -> str:
        return self.usual

    def called(self, names: Naming) -> str:
        """By the usual words, or those that hold for any name."""
        return called(self.usual if names.forms("alarm")[0] in ("", "alarm") else self.named, names)


def false_alarms(*, capital: bool = False) -> Words:
    """False alarms, which alarms by another name may not be called: storms without a flood are not false.

    >>> from nofluke.series.names import Names
    >>> false_alarms(), called(false_alarms(), Names.of("flood", "storm"))
    ('false alarms', 'storms without a flood')
    """
    usual, other = ("False alarms", "{Alarms}") if capital else ("false alarms", "{alarms}")
    return Words((Unlike(usual, say(other + " without {an_event}")),))


def article(noun: str) -> str:
    """The indefinite article, by the sound that a noun begins with.

    >>> [article(noun) for noun in ("flood", "incident", "unit", "hour", "SLO breach", "US holiday", "one-off")]
    ['a', 'an', 'a', 'an', 'an', 'a', 'a']
    """
    first = noun.split()[0] if noun.split() else noun
    spelled = first.isupper() and len(first) > 1  # letter by letter
    if spelled:
        return "an" if first[0] in "AEFHILMNORSX" else "a"
    word = first.lower()
    if word.startswith(("uni", "use", "usa", "uti", "eu", "one", "once", "ufo")):
        return "a"
    return "an" if word.startswith(("a", "e", "i", "o", "u", "hour", "hono", "heir", "honest")) else "a"


class Speaker(Protocol):
    """Who words a sentence anew, such as a command with its options."""

    def say(self, part: Argument | Spoken) -> str:
        """A part of a sentence in the speaker's words."""
        ...


Part = str | Argument | Spoken | Nameable


class Words(str):
    """Text that knows which of its parts are arguments.

    >>> words = say("this needs a clock: pass {}.", arg("times"))
    >>> words
    'this needs a clock: pass times=.'
    >>> words.parts
    ('this needs a clock: pass ', Argument(name='times', values=(), way='to pass'), '.')
    """

    parts: tuple[Part, ...]

    def __new__(cls, parts: Iterable[Part]) -> Self:
        parts = tuple(parts)
        words = super().__new__(cls, "".join(map(str, parts)))
        words.parts = parts
        return words

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (self.parts,)


class Remark(Words):
    """A note of a kind, for those who look for it among others.

    >>> Remark("grid", "Times were analysed on a grid of {}.", "1h").kind
    'grid'
    """

    kind: str

    def __new__(cls, kind: str, template: str, /, *values: Any) -> Self:
        remark = super().__new__(cls, say(template, *values).parts)
        remark.kind = kind
        return remark

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (self.kind, "{}", Words(self.parts))


def parts_of(text: str) -> tuple[Part, ...]:
    """The parts of a sentence; plain text is one."""
    return text.parts if isinstance(text, Words) else (text,)


def kind_of(text: str) -> str:
    """What a sentence has in common with those that say the same of other values: its kind, or else all of it."""
    return text.kind if isinstance(text, Remark) else str(text)


def worded(text: str, speaker: Speaker) -> str:
    """A sentence in the words of a speaker."""
    return "".join(speaker.say(part) if isinstance(part, Argument | Spoken) else str(part) for part in parts_of(text))


def called(text: str, names: Naming) -> str:
    """A sentence in the names that events and alarms have; all else in it stays as it is, arguments and kind too.

    >>> from nofluke.series.names import Names
    >>> called(say("{Events} without {an_alarm}: {}.", 3), Names.of("seizure", "alert"))
    'Seizures without an alert: 3.'
    """
    if not any(isinstance(part, Nameable) for part in parts_of(text)):
        return text
    words = Words(part.called(names) if isinstance(part, Nameable) else part for part in parts_of(text))
    return Remark(text.kind, "{}", words) if isinstance(text, Remark) else words


def arg(name: str, *values: Any) -> Words:
    """An argument to pass, with a value, with one of several, or with any.

    >>> arg("times"), arg("null", "auto", "segments")
    ('times=', 'null="auto" or "segments"')
    """
    return Words((Argument(name, values),))


def passed(name: str, value: Any) -> Words:
    """An argument with the value that it has.

    >>> passed("early", "3h")
    "early='3h'"
    """
    return Words((Argument(name, (value,), "passed"),))


def named(name: str) -> Words:
    """An argument by its name alone."""
    return Words((Argument(name, way="named"),))


def spoken(python: str, *, shell: str, needs: str = "", otherwise: str = "") -> Words:
    """What a shell calls otherwise and is more than an argument.

    >>> spoken("call familywise()", shell="pass --familywise")
    'call familywise()'
    """
    return Words((Spoken(python, shell, needs, otherwise),))


def verb(name: str) -> Words:
    """A function of the package, which is a command of the same name.

    >>> verb("diagnose")
    'nf.diagnose'
    """
    return spoken(f"nf.{name}", shell=f"nofluke {name}")


def say(template: str, /, *values: Any, **named_values: Any) -> Words:
    """A sentence from its template, as `str.format` makes it; what is put in may be sentences, too.

    ``{events}``, ``{an_alarm}`` and the other words of `THINGS` stand for what may have a name of its own.
    """
    parts: list[Part] = []
    numbers = iter(range(len(values)))
    for text, field, form, conversion in _parsed(template):
        parts.append(text)
        if field is None:
            continue
        if field == "":
            value = values[next(numbers)]
        elif field in THINGS and field not in named_values:
            value = THINGS[field]
        else:
            value = _FORMATTER.get_field(field, values, named_values)[0]
        if isinstance(value, Words):
            parts += value.parts
        elif isinstance(value, Nameable):
            parts.append(value)
        else:
            parts.append(format(_FORMATTER.convert_field(value, conversion) if conversion else value, form or ""))
    return Words(part for part in parts if part != "")


@lru_cache(maxsize=4096)
def _parsed(template: str) -> list[tuple[str, str | None, str | None, str | None]]:
    """The pieces of a template, as `string.Formatter` has them."""
    return list(_FORMATTER.parse(template))


def _forms(role: Role, word: str) -> Iterator[tuple[str, Thing]]:
    for form, key in {"one": word, "several": f"{word}s", "any": f"{word}_s", "an": f"{article(word)}_{word}"}.items():
        thing = Thing(role, word, form)  # type: ignore[arg-type]  # the keys are forms
        yield key, thing
        yield key.capitalize(), replace(thing, capital=True)


WORDS: dict[str, Role] = {
    "event": "event",
    "range": "event",
    "alarm": "alarm",
    "prediction": "alarm",
    "alarm episode": "alarm",
}
"""What events and alarms are called where they have no names, by how they are counted."""

THINGS = {key: thing for word, role in WORDS.items() for key, thing in _forms(role, word)}
"""What templates of sentences may hold: event, events, event_s for event(s), an_event; with a capital letter, too."""

_FORMATTER = string.Formatter()


def joined(between: str, texts: Iterable[str]) -> Words:
    """Sentences one after the other, as `str.join` joins text."""
    parts: list[Part] = []
    for text in texts:
        parts += [between, *parts_of(text)] if parts else parts_of(text)
    return Words(parts)


def capitalised(text: str) -> str:
    """The beginning of a sentence.

    >>> capitalised(say("{events} come in runs"))
    'Events come in runs'
    """
    first, *rest = parts_of(text) if text else ("",)
    if isinstance(first, Thing):
        return Words((replace(first, capital=True), *rest))
    return Words((f"{str(first)[:1].upper()}{str(first)[1:]}", *rest))


def in_one_line(text: str) -> str:
    """A sentence without line breaks, and not too long; one that has to be changed for that keeps its kind alone.

    File names, labels and other libraries' words may be long or have line breaks; the remedy comes last.
    """
    line = shortened(" ".join(text.split()), MOST_IN_MESSAGE)
    if line == text:
        return text
    return Remark(text.kind, "{}", line) if isinstance(text, Remark) else line


def packed(text: str) -> str:
    """A sentence with its kind and its parts as ASCII, for files and other processes; a value that is none is shown.

    >>> packed(Remark("no clock", "pass {}.", arg("times")))
    '["no clock", "pass ", {"argument": ["times", [], "to pass"]}, "."]'
    """
    return json.dumps([text.kind if isinstance(text, Remark) else None, *map(_packed_part, parts_of(text))])


def _packed_part(part: Part) -> Any:
    if isinstance(part, Thing):
        return {"thing": [part.role, part.word, part.form, part.capital]}
    if isinstance(part, Argument):
        return {"argument": [part.name, [_packed_value(value) for value in part.values], part.way]}
    if isinstance(part, Spoken):
        return {"spoken": [part.python, part.shell, part.needs, part.otherwise]}
    return str(part)


def _packed_value(value: Any) -> Any:
    plain = value is None or (isinstance(value, str | float) and not isinstance(value, Shown))
    return value if plain or (isinstance(value, int) and value.bit_length() < 64) else {"shown": shown(value)}


def unpacked(text: str) -> Words:
    """The sentence that was packed.

    >>> unpacked(packed(say("drop {} of them, or pass {}.", 3, arg("missing", "mask"))))
    'drop 3 of them, or pass missing="mask".'
    """
    kind, *parts = json.loads(text)
    words = Words(map(_unpacked_part, parts))
    return words if kind is None else Remark(kind, "{}", words)


def _unpacked_part(part: Any) -> Part:
    if isinstance(part, str):
        return part
    if "thing" in part:
        return Thing(*part["thing"])
    if "spoken" in part:
        return Spoken(*part["spoken"])
    name, values, way = part["argument"]
    return Argument(name, tuple(Shown(one["shown"]) if isinstance(one, dict) else one for one in values), way)


def either(texts: list[str]) -> str:
    """One of several: a, b or c."""
    return " or ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


def typed(value: Any) -> str:
    """A value as one types it in Python."""
    plain = isinstance(value, str) and not isinstance(value, Shown) and '"' not in value
    return f'"{value}"' if plain else shown(value)


class NoValue(Enum):
    """The value of an argument where it says nothing, such as that of a long array."""

    NO_VALUE = "no value"


class InputError(ValueError):
    """Input that cannot be evaluated: which argument has which value, what is wrong with it, and what to do.

    As text it is "argument=value problem: remedy.", in one line of bounded length. A ``ValueError``, so code written
    for other libraries catches it; a separate class, so the command line can print its message in one line, in the
    words of its options, and let every other error through as the bug it is.

    Parameters
    ----------
    argument : str, optional
        The name of the argument; without one, ``problem`` says what it is about.
    value : object, optional
        What was passed, where that is worth showing.
    problem : str
        What is wrong with it; empty where ``remedy`` says that.
    remedy : str
        What to do about it.

    See Also
    --------
    nofluke.evaluate : raises it for bad input, as all functions here do.
    nofluke.diagnose : shows what is in data that can be read.

    Examples
    --------
    >>> import nofluke as nf
    >>> nf.evaluate([0, 1], [0.2, float("nan")], threshold=0.5)
    Traceback (most recent call last):
    nofluke.errors.InputError: scores has 1 NaN at position(s) 1: drop them, or pass missing="mask".
    """

    def __init__(
        self, *, argument: str | None = None, value: Any = NoValue.NO_VALUE, problem: str = "", remedy: str = ""
    ) -> None:
        self.argument, self.value, self.problem, self.remedy = argument, value, problem, remedy
        super().__init__(shortened(" ".join(self.words.splitlines()), MOST_IN_MESSAGE))

    @property
    def words(self) -> Words:
        """The whole sentence, with arguments as parts."""
        said = [text for text in (self.problem, self.remedy) if text]
        if self.argument is not None:
            known = self.value is not NoValue.NO_VALUE
            subject = passed(self.argument, self.value) if known else named(self.argument)
            said = [joined(" ", [subject, self.problem]) if self.problem else subject, *said[bool(self.problem) :]]
        sentence = joined(": ", said)
        return sentence if sentence.endswith((".", "?")) else joined("", [sentence, "."])

    def renamed(self, old: str, new: str) -> InputError:
        """The same where the caller knows an argument by another name."""
        return InputError(
            argument=new if self.argument == old else self.argument,
            value=self.value,
            problem=_renamed(self.problem, old, new),
            remedy=_renamed(self.remedy, old, new),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # what was passed may not be picklable, and other processes only show it
        value = self.value if self.value is NoValue.NO_VALUE else Shown(shown(self.value))
        return _input_error, (self.argument, value, self.problem, self.remedy)


def _renamed(text: str, old: str, new: str) -> Words:
    ours = (
        replace(part, name=new) if isinstance(part, Argument) and part.name == old else part for part in parts_of(text)
    )
    return Words(ours)


def _input_error(argument: str | None, value: Any, problem: str, remedy: str) -> InputError:
    return InputError(argument=argument, value=value, problem=problem, remedy=remedy)


class Shown(str):
    """A value as messages show it, without quotes; what has been sent by another process is no more than that."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt on Ctrl-C even inside duckdb, which catches the signal and raises its own error."""
    try:
        yield
    except RuntimeError as error:
        if str(error) != "Query interrupted":
            raise
        raise KeyboardInterrupt from None


def shortened(text: str, most: int, left_out: str = "...") -> str:
    """A text of at most so many characters, its middle left out where it is longer.

    >>> shortened("abcdefghijklmnop", 9)
    'abc...nop'
    """
    if len(text) <= most:
        return text
    kept = most - len(left_out)
    end = kept // 2
    return f"{text[: kept - end]}{left_out}{text[-end:]}"


class _Values(reprlib.Repr):
    """Stops early at long collections and strings, and survives what has no repr."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdict = self.maxdeque = 20
        # the reprs of these are cut by `shown`
        self.maxstring = 2 * MOST_IN_VALUE
        self.maxother = 10 * MOST_IN_MESSAGE

    def repr_int(self, value: int, _level: int) -> str:
        try:
            return repr(value)
        except ValueError:  # Python writes no more than 4,300 digits
            return f"a whole number of about {math.floor(abs(value).bit_length() * math.log10(2)) + 1:,} digits"

    def repr_instance(self, value: object, _level: int) -> str:
        try:
            kind, shape = getattr(getattr(value, "dtype", None), "kind", ""), getattr(value, "shape", None)
            number = kind in ("i", "u", "f") and shape == ()
            return repr(value.item() if number else value)  # type: ignore[attr-defined]  # 1.5, not np.float64(1.5)
        except Exception:
            return f"a {type(value).__name__}"


def shown(value: object) -> str:
    r"""A value as messages show it: its repr in one line, the middle left out where it is long.

    >>> shown("2h"), shown([0.5]), shown("a\nb")
    ("'2h'", '[0.5]', "'a\\nb'")
    >>> shown(list(range(10**6)))
    '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, ...]'
    >>> shown(10**5000)
    'a whole number of about 5,001 digits'
    """
    if isinstance(value, Shown):
        return str(value)
    try:
        if isinstance(value, os.PathLike):
            return repr(os.fspath(value))  # whole, so that it can be found
        told = _Values().repr(value)
    except Exception:  # a class that is called as one of Python's own, but has nothing of it
        told = f"a {type(value).__name__}"
    return shortened(" ".join(told.split()), MOST_IN_VALUE)


class NumericalError(ArithmeticError):
    """A number could not be computed: a fault of nofluke, never of the data. NaN is never returned instead."""
