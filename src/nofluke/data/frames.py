"""A data frame's columns by name, whichever library made it. None is imported unless the user brought it."""

from __future__ import annotations

import sys
from typing import Any


def is_a(package: str, kind: str, value: Any) -> bool:
    """Whether a value is of a class of a package, or of one derived from it; the package is not imported for this."""
    return isinstance(value, getattr(sys.modules.get(package), kind, ()))


def ilocs_of(value: Any) -> Any:
    """The column ``ilocs`` of a frame of events, as sktime's detectors return it; None for anything else.

    It holds positions, or left-closed intervals of them, even if it happens to have one row for each step.
    """
    if is_a("pandas", "DataFrame", value) and list(value.columns).count("ilocs") == 1:
        return value["ilocs"]
    return value if is_a("pandas", "Series", value) and value.name == "ilocs" else None


def frame_columns(value: Any) -> list[tuple[str, Any]] | None:
    """Name and series of each column of a data frame; None for anything else, and for a frame that is not read yet."""
    if is_a("pandas", "DataFrame", value):  # by position: narwhals refuses names that occur twice
        return [(str(name), value.iloc[:, at]) for at, name in enumerate(value.columns)]
    if isinstance(value, str | bytes | int | float | dict | set):  # what is plainly none needs no library
        return None
    import narwhals as nw

    try:
        frame = nw.from_native(value, eager_only=True)
    except Exception:  # a TypeError, or whatever the value itself raises when it is looked at
        return None
    return [(name, frame.get_column(name).to_native()) for name in frame.columns]
