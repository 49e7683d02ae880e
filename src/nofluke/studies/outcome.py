"""What became of a task: its result, or why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nofluke.errors import InputError, Remark, Words, in_one_line, interruptible, packed, unpacked


class NoRoom(InputError):
    """Nothing can be written any more: no fault of a task's, so that the others need not be tried."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a task, or, if there is a reason, none; some reasons end everything."""

    index: int
    result: Any = None
    reason: Words | None = None
    ends_all: bool = False


def attempt(index: int, function: Callable[[Any], Any], task: Any) -> Outcome:
    """Do a task; whatever it raises becomes a reason, which can be sent anywhere.

    >>> attempt(3, int, "7").result, attempt(4, int, "x").reason
    (7, "ValueError: invalid literal for int() with base 10: 'x' (outcome.py, line ...)")
    """
    try:
        with interruptible():  # Ctrl-C is no fault of the task's
            return Outcome(index, function(task))
    except Exception as error:
        return Outcome(index, reason=reason_of(error), ends_all=isinstance(error, NoRoom))


def reason_of(error: BaseException, *, where: bool = True) -> Words:
    """An error in one line, which can be sent anywhere; unless told otherwise, one that is not about the input also
    says where it arose.

    Its kind is where that was, and what is wrong there: the sentence is the same for all cells but for its values.

    >>> reason_of(InputError(argument="scores", problem="has 3 NaN"))
    'scores has 3 NaN.'
    """
    name, told, trace = type(error).__name__, str(error), error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if isinstance(error, InputError):
        told = error.words
    elif where:
        told = f"{name}: {told}" if told.strip() else name
        told += "" if trace is None else f" ({Path(trace.tb_frame.f_code.co_filename).name}, line {trace.tb_lineno})"
    if isinstance(error, InputError) and isinstance(error.problem, Remark):
        kind = error.problem.kind
    else:  # without a trace it was raised in another process
        at = told if trace is None else f"{trace.tb_frame.f_globals.get('__name__')}, line {trace.tb_lineno}"
        kind = f"{name} {getattr(error, 'argument', None) or ''}: {at}"
    return sent(Remark(kind, "{}", told))


def sent(text: str) -> Words:
    """A sentence in one line, as it comes out of files and other processes: without values that cannot be sent."""
    return unpacked(packed(in_one_line(text)))
