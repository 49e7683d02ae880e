"""Sums of smooth functions over very many pairs in linear time: by interpolation, which is checked, to about 13 digits.

A function that is analytic on a piece is there a short series of Chebyshev polynomials, and these separate what belongs to one
member of a pair from what belongs to the other: a sum over pairs becomes a few products of sums over members. Whether a
series is short enough is seen in its last coefficients; where none is, the answer is None and pairs must be added one by one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial.chebyshev import chebval, chebvander

from nofluke.arrays import FloatArray, IntArray

_DEGREES = 28  # coefficients of a series
_LAST = 3  # so many at its end must be negligible
_NEGLIGIBLE = 4e-15
_STEEPEST = 100.0  # how many times its usual size a function may have on a piece: digits are lost by more than that
_MOST_BOXES = 1024  # the finest division of the range that is tried
_VANISHED = 1e-26  # what is left of a function where it does not matter any more

_ANGLES = (np.arange(_DEGREES) + 0.5) * np.pi / _DEGREES
_NODES = np.cos(_ANGLES)
#: Coefficients of a series from its values at the nodes.
_TO_SERIES = (
    np.cos(np.outer(np.arange(_DEGREES), _ANGLES)) * np.where(np.arange(_DEGREES) == 0, 1, 2)[:, None] / _DEGREES
)


def sum_over_ranges(
    x: IntArray, y: IntArray, first: IntArray, end: IntArray, function: Callable[[FloatArray], FloatArray]
) -> float | None:
    """Σ_i Σ_{first[i] <= j < end[i]} function(y[j] - x[i]), for ascending y and differences that are not negative.

    Time is divided into equal boxes, so that the function of a difference depends on two places within boxes and on how many
    boxes they are apart. None if no division makes it smooth enough.

    Examples
    --------
    >>> x, index = np.array([0, 3, 7]), np.arange(3)
    >>> round(sum_over_ranges(x, x, index + 1, np.full(3, 3), lambda lag: np.exp(-lag / 4)), 12)
    1.014018461645
    >>> round(float(np.exp(-3 / 4) + np.exp(-7 / 4) + np.exp(-4 / 4)), 12)
    1.014018461645
    """
    some = first < end
    x, first, end = x[some], first[some], end[some]
    if len(x) == 0:
        return 0.0
    nearest, reach = int((y[first] - x).min()), int((y[end - 1] - x).max()) + 1
    boxes = 1
    while boxes <= _MOST_BOXES:
        size = -(-reach // boxes)
        series = _series_of_boxes(function, size, boxes, nearest)
        if series is not None:
            return _in_boxes(x, y, first, end, size, series)
        boxes *= 2
    return None


def sum_over_sums(
    x: IntArray, first: IntArray, end: IntArray, function: Callable[[FloatArray], FloatArray]
) -> float | None:
    """Σ_i Σ_{first[i] <= j < end[i]} function(x[i] + x[j]), x in any order; None if the function is not smooth enough."""
    low, high = int(x.min()), int(x.max())
    half = max((high - low) / 2, 0.5)
    series = _short_series(function, 2 * low + half * (_NODES[:, None] + _NODES + 2.0))
    if series is None:
        return None
    place = (x - low) / half - 1.0
    return _of_places(place, place, first, end, series)


def compress(
    values: IntArray, weights: FloatArray, function: Callable[[FloatArray], FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Fewer values and weights of theirs that give the same sums of smooth functions, as smooth as the given ones.

    ``function`` takes an array of k values and returns k columns: one row for each function to be resolved. ``values`` ascend.
    """
    if len(values) <= _DEGREES:
        return values.astype(np.float64), weights
    low, high = int(values[0]), int(values[-1])
    half = (high - low) / 2
    nodes = low + half * (_NODES + 1.0)
    size = np.abs(_TO_SERIES @ function(nodes).T)
    if (size[-_LAST:].max(axis=0) <= _NEGLIGIBLE * size.max(axis=0)).all():
        moments = chebvander((values - low) / half - 1.0, _DEGREES - 1).T @ weights
        return nodes, moments @ _TO_SERIES
    middle = int(np.searchsorted(values, low + (high - low) // 2, side="right"))
    parts = [compress(values[part], weights[part], function) for part in (slice(middle), slice(middle, None))]
    return np.concatenate([nodes for nodes, _ in parts]), np.concatenate([weights for _, weights in parts])


def _series_of_boxes(
    function: Callable[[FloatArray], FloatArray], size: int, boxes: int, nearest: int
) -> dict[int, FloatArray] | None:
    """For places so many boxes apart, the function's double series; None if one of them is too long."""
    largest = abs(float(function(np.array([float(nearest)]))[0]))
    all_series = {}
    for apart in range(nearest // size, boxes + 1):
        series = _short_series(function, size * (apart + 0.5 * (_NODES - _NODES[:, None])))
        if series is None:
            return None
        all_series[apart] = series
        if np.abs(series).max() < _VANISHED * largest:
            break
    return all_series


def _short_series(function: Callable[[FloatArray], FloatArray], at: FloatArray) -> FloatArray | None:
    """The double series of a function, from its arguments where both places (row, column) are nodes; None if it is long."""
    with np.errstate(over="ignore", invalid="ignore"):  # outside of where it is asked for, it may be anything
        values = function(at)
    if not np.isfinite(values).all():
        return None
    series: FloatArray = _TO_SERIES @ values @ _TO_SERIES.T
    size = np.abs(series)
    last = max(size[-_LAST:].max(), size[:, -_LAST:].max())
    usual = np.median(np.abs(values))
    return series if last <= _NEGLIGIBLE * size.max() and np.abs(values).max() <= _STEEPEST * usual else None


def _in_boxes(
    x: IntArray, y: IntArray, first: IntArray, end: IntArray, size: int, series: dict[int, FloatArray]
) -> float:
    origin = min(int(x.min()), int(y[0]))
    box_x, box_y = (x - origin) // size, (y - origin) // size
    place_x, place_y = ((2.0 * ((at - origin) % size)) / size - 1.0 for at in (x, y))
    total = 0.0
    for apart, one in series.items():
        begin = np.maximum(first, np.searchsorted(box_y, box_x + apart, side="left"))
        stop = np.minimum(end, np.searchsorted(box_y, box_x + apart, side="right"))
        some = begin < stop
        total += _of_places(place_x[some], place_y, begin[some], stop[some], one)
    return total


def _of_places(x: FloatArray, y: FloatArray, first: IntArray, end: IntArray, series: FloatArray) -> float:
    """Σ_i Σ_{first[i] <= j < end[i]} of the double series at (x[i], y[j])."""
    total = 0.0
    before = np.zeros(len(y) + 1)
    polynomial, last = np.ones(len(y)), y
    for degree in range(len(series)):
        np.cumsum(polynomial, out=before[1:])
        total += float(np.dot(chebval(x, series[:, degree]), before[end] - before[first]))
        polynomial, last = (last, 2.0 * y * last - polynomial) if degree else (y, 2.0 * y * y - 1.0)
    return total
