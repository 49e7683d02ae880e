"""Columns of frames that hold numbers as text: read as those of files are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from nofluke.data.columns import absent
from nofluke.data.tables import MISSING_WORDS

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?")
_LOGICAL = {"true": True, "false": False}


def numbers_of_text(items: Sequence[Any]) -> list[Any] | None:
    """Numbers, or true and false, from text, None where it is empty or says so; None for all where it is anything else.

    >>> numbers_of_text(["0", " 1"]), numbers_of_text(["True", "false"]), numbers_of_text(["0.5", None, "NA"])
    ([0, 1], [True, False], [0.5, None, None])
    >>> numbers_of_text(["one"])
    """
    missing = absent(np.array([*items, None], dtype=object))[:-1]
    if not all(gap or isinstance(item, str) for item, gap in zip(items, missing, strict=True)):
        return None
    texts = ["" if gap else item.strip().lower() for item, gap in zip(items, missing, strict=True)]
    filled = {text for text in texts if text not in MISSING_WORDS}
    read: dict[str, Any] = {}
    if filled <= set(_LOGICAL):
        read = _LOGICAL
    elif all(map(_NUMBER.fullmatch, filled)):
        read = {text: int(text) if text.lstrip("+-").isdecimal() else float(text) for text in filled}
    return [read.get(text) for text in texts] if filled <= set(read) else None
