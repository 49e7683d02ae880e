"""Columns of frames that hold numbers as text: read as those of files are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray
from nofluke.data.columns import absent
from nofluke.data.delimited import MISSING_WORDS

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?")
_LOGICAL = {"true": True, "false": False}


def numbers_of_text(items: Sequence[Any]) -> AnyArray | None:
    """Numbers, or true and false, from text, NaN where it is empty or says so; None where it is anything else.

    >>> numbers_of_text(["0", " 1"]), numbers_of_text(["True", "false"]), numbers_of_text(["0.5", None, "NA"])
    (array([0, 1]), array([ True, False]), array([0.5, nan, nan]))
    >>> numbers_of_text(["one"])
    """
    missing = absent(np.array([*items, None], dtype=object))[:-1]
    if not all(gap or isinstance(item, str) for item, gap in zip(items, missing, strict=True)):
        return None
    texts = ["" if gap else item.strip().lower() for item, gap in zip(items, missing, strict=True)]
    filled = [text for text in texts if text not in MISSING_WORDS]
    read: dict[str, Any] = {text: _LOGICAL[text] for text in filled if text in _LOGICAL}
    if not read:
        if not all(map(_NUMBER.fullmatch, filled)):
            return None
        whole = all(text.lstrip("+-").isdecimal() for text in filled)
        read = {text: int(text) if whole else float(text) for text in filled}
    if not all(text in read for text in filled):
        return None
    if len(filled) < len(texts):
        return np.array([float(read.get(text, "nan")) for text in texts])
    found = np.array([read[text] for text in texts])
    return found if found.dtype.kind in "biuf" else None  # whole numbers beyond 64 bits
