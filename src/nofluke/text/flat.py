"""Nested results in one level, as loggers of experiments take them: "precision/value"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

Scalar = bool | int | float | str
LONGEST = 100  # characters of a name; MLflow takes keys of up to 250


def flattened(plain: Mapping[str, Any]) -> dict[str, Scalar]:
    """Plain values in one level: keys of letters, digits and underscores, joined by slashes.

    None is left out, and so are lists of values. Records in a list are named by the text that they begin with, or by
    their numbers where that is not unique, or longer than 100 characters.

    >>> detectors = [{"name": "my lof", "f1": 0.4}]
    >>> flattened({"n": 9, "notes": ["Few."], "recall": {"value": 0.5, "low": None}, "detectors": detectors})
    {'n': 9, 'recall/value': 0.5, 'detectors/my_lof/name': 'my lof', 'detectors/my_lof/f1': 0.4}
    """
    return dict(_leaves(plain, ()))


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Scalar]]:
    if isinstance(value, Mapping):
        names = _unique([(str(key),) for key in value])
        inner: Sequence[Any] = list(value.values())
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


def _unique(names: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Names that can stand in a key, or numbers where these would not tell them apart."""
    found = [tuple(re.sub(r"\W+", "_", text) for text in name) for name in names]
    sound = all(all(name) and 0 < sum(map(len, name)) <= LONGEST and len(name) == len(found[0]) for name in found)
    return found if sound and len(set(found)) == len(found) else [(str(i),) for i in range(len(found))]
