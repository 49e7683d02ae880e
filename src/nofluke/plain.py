"""Plain values: a word, a whole number, a number, a seed, a column of floats. Checked, and made plain, at the entrance.

NumPy's numbers, fractions and decimals become Python's own, so that whatever is computed, printed or written as JSON
later needs to know only those.
"""

from __future__ import annotations

import itertools
import math
import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from itertools import chain, islice
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from nofluke.arrays import FloatArray
from nofluke.errors import InputError

MOST_VALUES = 10_000  # of an argument that takes many: more are a mistake
# of a column, which may be a range that no memory holds; and of a period or a shift, so that products do not overflow
MOST_STEPS = 2**31 - 1


def check_word(value: object, name: str, allowed: Iterable[str], where: str = "") -> None:
    """Refuse any other word; ``where`` says what the words are for."""
    words = tuple(allowed)
    # only text is compared: an array or a missing value is neither equal to a word nor different from it
    if not (isinstance(value, str) and value in words):
        raise InputError(argument=name, value=value, problem=f"must be one of {', '.join(map(repr, words))}{where}")


def is_text(value: object) -> bool:
    r"""Whether it is text that can be written to a file, which half of a surrogate pair cannot.

    >>> is_text("é"), is_text(b"e"), is_text("\ud800")
    (True, False, False)
    """
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def one_or_several(value: Any) -> Iterator[Any]:
    """The items of whatever has items; what has none, and a word, as the only one.

    >>> list(one_or_several("auc-roc")), list(one_or_several(("a", "b"))), list(one_or_several(3))
    (['auc-roc'], ['a', 'b'], [3])
    """
    try:
        items = iter((value,) if isinstance(value, str) else value)
        first = list(islice(items, 1))
    except Exception:  # a number, an array without dimensions, a lazy frame, an object of the user's that refuses
        return iter((value,))
    return chain(first, items)


def text_with_settings(text: str, name: str, example: str) -> tuple[str, dict[str, int | float | str]]:
    """A name and its settings in one word; programs that write it may end a name without settings in a colon.

    >>> text_with_settings("seasonal:period=24,bins=12", "null", "")
    ('seasonal', {'period': 24, 'bins': 12})
    >>> text_with_settings("auc-roc:", "metric", "")
    ('auc-roc', {})
    """
    word, _, rest = (piece.strip() for piece in text.partition(":"))
    settings: dict[str, int | float | str] = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise InputError(argument=name, value=text, remedy=f"write settings as name:key=value, such as {example!r}")
        if key in settings:
            raise InputError(argument=name, value=text, problem=f"has the setting {key!r} twice", remedy="pass it once")
        settings[key] = _number_or_text(value)
    return word, settings


def meant(word: str, known: Iterable[str]) -> str:
    """What an unknown word may stand for, as a remedy: one that it begins, else the one most like it.

    >>> meant("auc", ["pak-auc", "auc-roc"]), meant("rech", ["reach", "every"]), meant("x", ["reach"])
    ("did you mean 'auc-roc'?", "did you mean 'reach'?", '')
    """
    words, typed = list(known), word.strip().lower().replace("_", "-")
    begun = [one for one in words if typed and one.startswith(typed)]
    found = begun or get_close_matches(typed, words, n=1) or get_close_matches(word, words, n=1)
    return f"did you mean {found[0]!r}?" if found else ""


def check_setting(key: str, own: Sequence[str], argument: str, text: str) -> None:
    """Refuse a setting that there is none of; the text that was passed as an argument has those of ``own``.

    >>> check_setting("phy", ["phi"], "null", "random-scores:phy=1")
    Traceback (most recent call last):
    nofluke.errors.InputError: null='random-scores:phy=1' has no setting 'phy', but phi: did you mean 'phi'?
    """
    if key not in own:
        listed = f", but {', '.join(own[:-1])}{' and ' if len(own) > 1 else ''}{own[-1]}" if own else ", nor any other"
        raise InputError(
            argument=argument, value=text, problem=f"has no setting {key!r}{listed}", remedy=meant(key, own)
        )


def _number_or_text(value: str) -> int | float | str:
    for number in (int, float):
        with suppress(ValueError):
            return number(value)
    return value


def as_whole(value: object, name: str, least: int, most: int | None = None) -> int:
    """A whole number from ``least`` to ``most``, as a plain int."""
    number = whole_or_none(value)
    if number is None or number < least or (most is not None and number > most):
        limit = "" if most is None else f" and at most {most:,}"
        raise InputError(argument=name, value=value, problem=f"must be a whole number of at least {least}{limit}")
    return number


def whole_or_none(value: Any) -> int | None:
    """A plain int of anything that counts; None for the rest, booleans among it."""
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return operator.index(value)
    except Exception:  # whatever a class of the user's raises, it is no whole number
        return None


def several(value: Any, name: str) -> list[Any]:
    """The items of an argument that takes one or many: text is one, and so is what has no items.

    >>> several("2h", "lags"), several(range(3), "lags")
    (['2h'], [0, 1, 2])
    """
    if isinstance(value, Set | Mapping):
        raise InputError(argument=name, value=value, problem="is unordered", remedy="pass a list, such as [0, 1, 2]")
    if isinstance(value, str | bytes | bytearray) or not isinstance(value, Iterable):
        return [value]
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return [value[()]]
    try:
        found = list(itertools.islice(value, MOST_VALUES + 1))
    except Exception as error:  # of the user's own class or generator
        raise InputError(
            argument=name, value=value, problem=f"cannot be read ({error})", remedy="pass a list"
        ) from None
    if len(found) > MOST_VALUES:
        raise InputError(
            argument=name, problem=f"has more than {MOST_VALUES:,} values", remedy="pass fewer of them, further apart"
        )
    return found


def check_length(value: Any, name: str) -> None:
    """Refuse a column that no memory holds, before any of it is copied."""
    try:
        size = len(value)
    except OverflowError:  # a range beyond what Python counts
        size = sys.maxsize
    except Exception:  # what has no length is refused for what it is
        return
    if size > MOST_STEPS:
        raise InputError(argument=name, problem=f"has more than {MOST_STEPS:,} values", remedy="pass a shorter series")


def as_flag(value: object, name: str) -> bool:
    """True or False, NumPy's too, as a plain bool: an array or a frame is neither."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(argument=name, value=value, problem="must be True or False")
    return bool(value)


def as_number(value: object, name: str, must: str, holds: Callable[[float], bool]) -> float:
    """A real number as a plain float; ``must`` says in words what ``holds`` asks of it."""
    number = number_or_none(value)
    if number is None or not holds(number):
        raise InputError(argument=name, value=value, problem=f"must {must}")
    return number


def number_or_none(value: Any) -> float | None:
    """A plain float of any real number, NaN among them; None for the rest: text, columns, what floats cannot hold."""
    if type(value) is float:
        return value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.timedelta64) or not isinstance(value, Real | Decimal | np.bool_):
        return None
    try:
        number = float(value)
    except Exception:  # too large for a float, or a class of the user's that raises what it likes
        return None
    # a long double may overflow too, in silence
    return None if math.isinf(number) and value not in (math.inf, -math.inf) else number


def plain_number(value: Any) -> int | float | None:
    """Python's own number of any that was checked, whole ones as int.

    >>> plain_number(np.uint64(5)), plain_number(Fraction(1, 2))
    (5, 0.5)
    """
    whole = whole_or_none(value)
    return number_or_none(value) if whole is None else whole


def as_share(value: object, name: str) -> Fraction:
    """A share above 0 and below 1, as a number or as text, exactly as it is written: 29% of 100 are 29.

    >>> as_share("1%", "budget"), as_share(0.29, "budget") * 100
    (Fraction(1, 100), Fraction(29, 1))
    """
    if type(value) is Fraction and 0 < value < 1:
        return value
    text = value.strip() if isinstance(value, str) else ""
    percent = text.endswith("%")
    try:
        number = float(text.removesuffix("%")) if isinstance(value, str) else number_or_none(value)
    except ValueError:
        number = None
    if number is not None and 0 < number < (100 if percent else 1):
        share = Fraction(repr(number))  # by its digits: the float 0.29 is a little less than 29 of 100
        return Fraction(share.numerator, share.denominator * 100) if percent else share
    raise InputError(argument=name, value=value, problem="must be a share above 0 and below 1, such as 0.01 or '1%'")


def exact_fraction(number: float | Fraction) -> Fraction:
    """A finite number as a fraction; floats are read by their digits: 0.3 is three times 0.1."""
    return Fraction(repr(float(number))) if isinstance(number, float) else Fraction(number)


def plain_fraction(number: Fraction) -> int | float:
    """A fraction as Python's own number: in twelve digits where it is not whole.

    >>> plain_fraction(Fraction(4, 2)), plain_fraction(Fraction(1, 3))
    (2, 0.333333333333)
    """
    return int(number) if number.denominator == 1 else float(f"{float(number):.12g}")


def finite_or_none(value: float | None) -> float | None:
    """None instead of NaN and infinity, which JSON does not have."""
    return value if value is not None and math.isfinite(value) else None


def as_rng(rng: Any) -> Any:
    """What ``numpy.random.default_rng`` takes: a seed becomes a plain int, a list of seeds a SeedSequence.

    NumPy itself is given nothing else: a matrix or a list that holds itself would end the process.
    """
    if isinstance(rng, np.random.RandomState):
        return np.random.Generator(rng._bit_generator)  # the same stream; NumPy before 2.2 does not take it as it is
    if rng is None or isinstance(rng, np.random.Generator | np.random.BitGenerator | np.random.SeedSequence):
        return rng
    listed = isinstance(rng, list | tuple) or (type(rng) is np.ndarray and rng.ndim == 1)
    seeds = [whole_or_none(seed) for seed in rng[: MOST_VALUES + 1]] if listed else [whole_or_none(rng)]
    if len(seeds) > MOST_VALUES or any(seed is None or not 0 <= seed < 2**256 for seed in seeds):
        raise InputError(
            argument="rng",
            value=rng,
            problem="must be a whole number of 0 or more (below 2**256), a NumPy Generator or None",
        )
    return np.random.SeedSequence(seeds) if listed else seeds[0]  # type: ignore[arg-type]  # whole numbers, all


def exact_floats(values: npt.NDArray[Any], name: str, counted: npt.NDArray[np.bool_] | None = None) -> FloatArray:
    """Numbers as 64-bit floats. Whole numbers that those cannot hold are refused: different ones would become equal.

    Only those that count are looked at, if it is said which.
    """
    if values.dtype.itemsize <= 8:
        floats = values.astype(np.float64)
    else:
        with np.errstate(over="ignore"):  # a long double beyond them is infinite, and treated as such
            floats = values.astype(np.float64)
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        with np.errstate(invalid="ignore"):
            lost = floats.astype(values.dtype) != values
        lost |= floats >= float(np.iinfo(values.dtype).max)  # one too many for the way back, which is then anything
        refuse_lost(np.flatnonzero(lost if counted is None else lost & counted), values, name)
    return floats


def refuse_lost(where: Any, values: Any, name: str) -> None:
    """Refuse whole numbers at the given positions, if there are any, as none that floats can hold."""
    if len(where):
        raise InputError(
            argument=name,
            problem=f"has {len(where)} whole number(s) that 64-bit floats cannot hold, first {values[where[0]]} at "
            f"position {where[0]}",
            remedy="subtract the same number from all of them so that they are below 2**53",
        )


def check_beta(beta: object) -> float:
    """The β of F_β as a plain float; refuses anything else."""
    return as_number(beta, "beta", "be finite and not negative", lambda number: 0 <= number < math.inf)


def check_alpha(alpha: object) -> float:
    """The level as a plain float; refuses anything else."""
    return as_number(alpha, "alpha", "be between 0 and 1", lambda number: 0 < number < 1)
