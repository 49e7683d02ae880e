"""What became of a task: its result, or why there is none."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nofluke.errors import MOST_IN_MESSAGE, InputError, interruptible, shortened


class NoRoom(InputError):
    """Nothing can be written any more: no fault of a task's, so that the others need not be tried."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a task, or (if there is a reason) none; some reasons end everything."""

    index: int
    result: Any = None
    reason: str = ""
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


def reason_of(error: BaseException) -> str:
    """An error in one line; one that is not about the input also says where it arose."""
    text = " ".join(str(error).split())
    if not isinstance(error, InputError):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
        if frames := traceback.extract_tb(error.__traceback__):
            text += f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"
    return shortened(text, MOST_IN_MESSAGE)
