"""Long columns of numbers as short text: the smallest type, deflated, in base64, for a page to unpack."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray

TYPES = {"u8": "|u1", "i8": "|i1", "u16": "<u2", "i16": "<i2", "u32": "<u4", "i32": "<i4", "f64": "<f8"}


def packed(values: AnyArray) -> dict[str, Any]:
    """Numbers of any type: whole ones lose nothing unless they are beyond 2**53.

    >>> packed(np.array([1, 2, 300]))["kind"], packed(np.array([1, -2]))["kind"], packed(np.array([True]))["kind"]
    ('u16', 'i8', 'u8')
    """
    kind = "f64" if values.dtype.kind == "f" else _smallest(values)
    data = np.ascontiguousarray(values, dtype=TYPES[kind])
    # all first bytes, then all second ones: the higher bytes of neighbours are alike
    planes = data.view(np.uint8).reshape(len(data), data.itemsize).T.tobytes()
    return {"kind": kind, "z": base64.b64encode(zlib.compress(planes, 9)).decode("ascii")}


def packed_ascending(values: AnyArray) -> dict[str, Any]:
    """Ascending whole numbers by their differences, which are small and alike; floats as they are."""
    if values.dtype.kind == "f" or len(values) == 0:
        return packed(values)
    return {**packed(np.diff(values, prepend=values[:1])), "from": int(values[0])}


def _smallest(values: AnyArray) -> str:
    """The first of the types that holds all values."""
    if len(values) == 0 or values.dtype.kind == "b":
        return "u8"
    low, high = int(values.min()), int(values.max())
    limits = {kind: np.iinfo(dtype) for kind, dtype in TYPES.items() if kind != "f64"}
    return next((kind for kind, limit in limits.items() if limit.min <= low and high <= limit.max), "f64")
