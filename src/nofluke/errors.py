"""The one error for bad input: it names the argument, the value and the remedy, in one line of bounded length."""

import math
import reprlib
from collections.abc import Iterator
from contextlib import contextmanager

MOST_IN_MESSAGE = 1_000  # characters; a longer message hides its remedy
MOST_IN_VALUE = 80


class InputError(ValueError):
    """Input that cannot be evaluated, with a message that says what to do about it.

    A ``ValueError``, so code written for other libraries catches it; a separate class, so the command line can print
    its message in one line and let every other error through as the bug it is.

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

    def __init__(self, message: str) -> None:
        # file names, labels and other libraries' words may be long or have line breaks; the remedy comes last
        super().__init__(shortened(" ".join(message.splitlines()), MOST_IN_MESSAGE))


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt on Ctrl-C even inside duckdb, which catches the signal and raises its own error."""
    try:
        yield
    except RuntimeError as error:
        if str(error) != "Query interrupted":
            raise
        raise KeyboardInterrupt from None


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters, its middle left out where it is longer.

    >>> shortened("abcdefghijklmnop", 9)
    'abc...nop'
    """
    if len(text) <= most:
        return text
    end = (most - 3) // 2
    return f"{text[: most - 3 - end]}...{text[-end:]}"


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
    try:
        told = _Values().repr(value)
    except Exception:  # a class that is called as one of Python's own, but has nothing of it
        told = f"a {type(value).__name__}"
    return shortened(" ".join(told.split()), MOST_IN_VALUE)


class NumericalError(ArithmeticError):
    """A number could not be computed: a fault of nofluke, never of the data. NaN is never returned instead."""
