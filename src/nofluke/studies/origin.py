"""What a study was made of (study.json): settings, fingerprint of the inputs, versions; and what changed since."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from nofluke.errors import InputError, shown

FORMAT = "nofluke study 1"
_PACKAGES = ("nofluke", "numpy", "scipy", "numba", "duckdb")
_MOST = 5  # changes that are told


def origin(settings: Mapping[str, Any], inputs: Mapping[str, Any], parts: int) -> dict[str, Any]:
    """All that study.json says, as it reads back: plain values, tuples as lists."""
    versions = {"python": platform.python_version(), **{name: _version(name) for name in _PACKAGES}}
    told = {"format": FORMAT, "settings": settings, "inputs": inputs, "parts": parts, "versions": versions}
    plain: dict[str, Any] = json.loads(json.dumps(told, allow_nan=False))
    return plain


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # run from a source tree
        return "unknown"


def as_text(told: Mapping[str, Any]) -> str:
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def read_origin(path: Path) -> dict[str, Any] | None:
    """What a study.json says; None where there is none."""
    try:
        told = json.loads(path.read_bytes())
        if isinstance(told, dict) and told["format"] == FORMAT and {"settings", "inputs", "versions"} <= set(told):
            return told
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError):
        pass
    raise InputError(
        problem=f"{path} is not a study's, or is damaged", remedy="choose another folder for out, or remove that file"
    )


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """What is not the same in two of them, one line each.

    >>> changes({"budget": "1%", "files": {"a.csv": {"size": 10}}}, {"budget": "2%", "files": {"b.csv": {"size": 10}}})
    ["budget was '1%' and is now '2%'", 'files a.csv size is gone (was 10)', 'files b.csv size is new (10)']
    """
    before, after = dict(_leaves(old)), dict(_leaves(new))
    told = []
    for name in [*before, *(name for name in after if name not in before)]:
        if name not in after:
            told.append(f"{name} is gone (was {shown(before[name])})")
        elif name not in before:
            told.append(f"{name} is new ({shown(after[name])})")
        elif before[name] != after[name]:
            told.append(f"{name} was {shown(before[name])} and is now {shown(after[name])}")
    return told


def in_short(told: list[str]) -> str:
    """The first few of many, in one line.

    >>> in_short(["a", "b"]), in_short(list("abcdefgh"))
    ('a; b', 'a; b; c; d; e; and 3 more')
    """
    return "; ".join([*told[:_MOST], *([f"and {len(told) - _MOST} more"] if len(told) > _MOST else [])])


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every plain value, by the way that leads to it; things in a list that have a path go by that."""
    if isinstance(value, list) and value and all(isinstance(each, dict) and "path" in each for each in value):
        value = {str(each["path"]): {key: what for key, what in each.items() if key != "path"} for each in value}
    if isinstance(value, Mapping) and value:
        for key, below in value.items():
            yield from _leaves(below, f"{name} {key}".strip())
    else:
        yield name, value
