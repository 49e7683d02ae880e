"""Names for the arrays that everything is made of, equality of what holds them, and products without threads."""

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

AnyArray = npt.NDArray[Any]
BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def same(one: object, other: object) -> bool:
    """Whether two values are equal, arrays inside of them too; NaN equals NaN.

    >>> same({"a": np.array([1.0, np.nan])}, {"a": np.array([1.0, np.nan])}), same([1, 2], [1, 3])
    (True, False)
    """
    if one is other:
        return True
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        if not (isinstance(one, np.ndarray) and isinstance(other, np.ndarray)):
            return False
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")
    if isinstance(one, str) and isinstance(other, str):  # a sentence is its text, whether it knows its parts or not
        return one == other
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if is_dataclass(one) and not isinstance(one, type):
        return all(same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one) if f.compare)
    return bool(one == other) or (one != one and other != other)


def not_finite(values: AnyArray) -> BoolArray:
    """Which dates are missing, or which numbers are missing or infinite.

    >>> not_finite(np.array(["2020-01-01", "NaT"], dtype="datetime64[D]")), not_finite(np.array([1.0, np.inf]))
    (array([False,  True]), array([False,  True]))
    """
    return np.isnat(values) if values.dtype.kind == "M" else ~np.isfinite(values.astype(np.float64))


class ByValue:
    """Equality field by field, for records that hold arrays: it never raises, and they cannot be hashed."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return same(self, other) if type(other) is type(self) else NotImplemented

    __hash__ = None  # type: ignore[assignment]


UNTHREADED = 2**18  # multiplications of a product of matrices
VECTOR = 2**13  # elements of a product of two vectors, or of a vector and a matrix


def product(one: AnyArray, other: AnyArray) -> AnyArray:
    """one @ other, in pieces below what BLAS uses threads for: on a busy machine they wait for each other.

    >>> product(np.ones((2, 9_000)), np.ones((9_000, 3)))
    array([[9000., 9000., 9000.],
           [9000., 9000., 9000.]])
    """
    length, width = other.shape
    step = max(VECTOR // max(width, 1), 1)
    rows = max(UNTHREADED // max(min(step, length) * width, 1), 1)
    found = np.zeros((len(one), width), dtype=np.result_type(one, other))
    for left in range(0, length, step):
        for begin in range(0, len(one), rows):
            found[begin : begin + rows] += one[begin : begin + rows, left : left + step] @ other[left : left + step]
    return found


def inner(one: AnyArray, other: AnyArray) -> float:
    """Σ one[i] other[i], likewise: with threads, its last digits would depend on their number.

    >>> inner(np.arange(20_000), np.ones(20_000))
    199990000.0
    """
    if len(one) <= VECTOR:
        return float(one @ other)
    return float(
        sum(one[begin : begin + VECTOR] @ other[begin : begin + VECTOR] for begin in range(0, len(one), VECTOR))
    )


def weighted_sum(weights: AnyArray, rows: AnyArray) -> FloatArray:
    """Σ weights[i] rows[i], likewise.

    >>> weighted_sum(np.ones(3), np.arange(30_000.0).reshape(3, -1))[[0, -1]]
    array([30000., 59997.])
    """
    found = np.zeros(rows.shape[1])
    for left in range(0, rows.shape[1], VECTOR):
        part = rows[:, left : left + VECTOR]
        step = VECTOR // part.shape[1]
        for begin in range(0, len(rows), step):
            found[left : left + VECTOR] += weights[begin : begin + step] @ part[begin : begin + step]
    return found
