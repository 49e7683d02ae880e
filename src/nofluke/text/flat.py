"""Nested results in one level, as loggers of experiments take them: "precision/value"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, takewhile
from typing import Any

Scalar = bool | int | float | str
LONGEST = 100  # characters of a name; MLflow takes keys of up to 250


def flattened(plain: Mapping[str, Any]) -> dict[str, Scalar]:
    """Plain values in one level: keys of letters, digits and underscores, joined by slashes.

    None is left out, and so are lists of values, except for a band, which has a low and a high end. Records in a list
    are named by the text that they begin with, or by their numbers where that is not unique, or longer than 100
    characters. Names that would become the same key are numbered from the second on, in alphabetical order.

    >>> detectors = [{"name": "my lof", "f1": 0.4}]
    >>> flattened({"n": 9, "notes": ["Few."], "recall": {"value": 0.5, "low": None}, "detectors": detectors})
    {'n': 9, 'recall/value': 0.5, 'detectors/my_lof/name': 'my lof', 'detectors/my_lof/f1': 0.4}
    >>> flattened({"a b": 1, "a/b": 2, "a_b": 3, "band": [0.1, 0.2]})
    {'a_b_2': 1, 'a_b_3': 2, 'a_b': 3, 'band/low': 0.1, 'band/high': 0.2}
    """
    return dict(_leaves(plain, ()))


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Scalar]]:
    if isinstance(value, Mapping):
        names = _unique([(str(key),) for key in value])
        inner: Sequence[Any] = [_with_ends(one) if key == "band" else one for key, one in value.items()]
    elif isinstance(value, list | tuple):
        inner = value if all(isinstance(one, Mapping) for one in value) else ()
        names = _unique([_beginning(one) for one in inner])
    else:
        if value is not None:
            yield "/".join(path), value
        return
    for name, one in zip(names, inner, strict=True):
        yield from _leaves(one, (*path, *name))


def _beginning(record: Mapping[str, Any]) -> tuple[str, ...]:
    """The text that a record begins with: of a detector its name, of a difference both names and the measure."""
    values = [value for key, value in record.items() if key != "schema"]
    first = takewhile(lambda value: isinstance(value, str | list), values)
    return tuple(text for value in first for text in ([value] if isinstance(value, str) else map(str, value)))


def _with_ends(band: Any) -> Any:
    return dict(zip(("low", "high"), band, strict=True)) if isinstance(band, list | tuple) and len(band) == 2 else band


def _unique(names: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Names that can stand in a key, or numbers where these would not tell them apart."""
    keys = _keys({text for name in names for text in name})
    found = [tuple(keys[text] for text in name) for name in names]
    sound = all(all(name) and 0 < sum(map(len, name)) <= LONGEST and len(name) == len(found[0]) for name in found)
    return found if sound and len(set(found)) == len(found) else [(str(i),) for i in range(len(found))]


def _keys(texts: set[str]) -> dict[str, str]:
    """Each text as it can stand in a key. Who is numbered depends on the names alone, not on their order or rank."""
    plain = {text: re.sub(r"\W+", "_", text) for text in texts}
    found: dict[str, str] = {}
    taken: set[str] = set()
    for text in sorted(texts, key=lambda text: (plain[text] != text, text)):  # what needs no change keeps its name
        numbered = (f"{plain[text]}_{i}" for i in count(2))
        key = plain[text]
        while key in taken:
            key = next(numbered)
        taken.add(key)
        found[text] = key
    return found
